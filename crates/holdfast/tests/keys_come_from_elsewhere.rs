//! `holdfast pgp` with keys that were made by other programs: X.509 certificates, keystores and key
//! files. What is encrypted to a certificate is opened by the secret key from the keystore. Without
//! OpenSSL it says so and proves nothing.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at files from outside

#[path = "common/place.rs"]
mod place;

use std::fs;
use std::process::Command;

use place::{Place, put};

/// Runs another program in the folder of the test; whether it is there and did its work.
fn other(place: &Place, words: &[&str]) -> bool {
    let mut command = Command::new(words[0]);
    let done = command.current_dir(place.path("")).args(&words[1..]).output();
    let done = done.is_ok_and(|output| output.status.success());
    if !done {
        eprintln!("SKIPPED: {} is not there, or too old", words[0]);
    }
    done
}

fn make(place: &Place, algorithm: &[&str], usage: &str) -> bool {
    let new = ["openssl", "req", "-x509", "-newkey"];
    let rest = ["-nodes", "-days", "30", "-subj", "/O=Bank/CN=Ada/emailAddress=ada@example.org"];
    let files = ["-keyout", "own.key", "-out", "own.pem", "-addext", usage];
    let store = ["openssl", "pkcs12", "-export", "-inkey", "own.key", "-in", "own.pem"];
    let kept = ["-name", "payroll", "-out", "own.p12", "-passout", "pass:the secret of a store"];
    other(place, &[&new[..], algorithm, &rest, &files].concat())
        && other(place, &[&store[..], &kept].concat())
}

#[test]
fn what_is_encrypted_to_a_certificate_is_opened_by_the_keystores_key() {
    let both = "keyUsage=digitalSignature,keyEncipherment,keyAgreement";
    let p256 = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"];
    let p521 = ["ec", "-pkeyopt", "ec_paramgen_curve:P-521"];
    for (name, algorithm) in [("rsa", &["rsa:2048"][..]), ("p256", &p256), ("p521", &p521)] {
        let (ours, theirs) = (Place::new(&format!("x-{name}-o")), Place::new(name));
        if !make(&theirs, algorithm, both) {
            return;
        }
        put(&theirs.path("word"), b"the secret of a store");
        theirs.works(&["import", "--keystore", "own.p12", "--keystore-passphrase-file", "word"]);
        let listed = theirs.works(&["list"]);
        for told in ["Ada <ada@example.org>", "alias payroll", "by X.509", "with its secret key"] {
            assert!(listed.contains(told), "{told}: {listed}");
        }
        put(&ours.path("own.pem"), &fs::read(theirs.path("own.pem")).unwrap());
        ours.works(&["-a", "-key-alias", "partner", "own.pem"]);
        assert!(ours.works(&["check"]).contains("sound"));
        put(&ours.path("pay"), b"pay of May");
        ours.works(&["-e", "-rA", "partner", "pay"]);
        ours.works(&["encrypt", "-r", "user:ada@", "-o", "again.pgp", "pay"]);
        ours.fails(&["certify", "--with", "partner", "partner", "Ada"], 1);
        for message in ["pay.pgp", "again.pgp"] {
            fs::copy(ours.path(message), theirs.path(message)).unwrap();
            let open = ["decrypt", "--key-passphrase-file", "word", "--yes", "-o", "out", message];
            theirs.works(&open);
            assert_eq!(fs::read(theirs.path("out")).unwrap(), b"pay of May");
        }
        // The key signs, too, and others verify it by its OpenPGP certificate.
        let sign = ["sign", "--with", "payroll", "--key-passphrase-file", "word", "out"];
        theirs.works(&sign);
        theirs.works(&["export", "payroll", "-o", "payroll.pgp"]);
        for file in ["payroll.pgp", "out.pgp"] {
            fs::copy(theirs.path(file), ours.path(file)).unwrap();
        }
        ours.works(&["import", "payroll.pgp"]);
        assert!(ours.works(&["verify", "out.pgp"]).contains("Ada"));
        ours.works(&["export", "--x509", "--armor", "partner", "-o", "back.pem"]);
        assert!(fs::read_to_string(ours.path("back.pem")).unwrap().contains("BEGIN CERTIFICATE"));
        ours.works(&["delete", "partner", "--yes"]);
        ours.fails(&["encrypt", "-r", "partner", "-o", "x", "pay"], 1);
    }
}

#[test]
fn key_files_and_usages_are_heeded() {
    let place = Place::new("key-file");
    if !make(&place, &["rsa:2048"], "keyUsage=digitalSignature") {
        return;
    }
    put(&place.path("pay"), b"pay of May");
    place.works(&["import", "own.pem", "--alias", "signs"]);
    place.fails(&["encrypt", "-r", "signs", "pay"], 1);
    place.works(&["delete", "signs", "--yes"]);
    let both = [fs::read(place.path("own.pem")).unwrap(), fs::read(place.path("own.key")).unwrap()];
    put(&place.path("both.pem"), &both.concat());
    place.works(&["import", "both.pem", "--alias", "me"]);
    place.works(&["sign", "--detached", "--with", "me", "pay"]);
    place.works(&["verify", "--signature", "pay.sig", "pay"]);
    put(&place.path("word"), b"the secret of another store");
    let wrong = ["import", "--keystore", "own.p12", "--keystore-passphrase-file", "word"];
    place.fails(&wrong, 4);
    place.fails(&["-i", "-keystore", "own.p12", "-keystore-type", "JKS"], 2);
    place.works(&["-i", "-keystore", "own.p12", "-keystore-password", "the secret of a store"]);
    // A secret key of somebody else beside the certificate is found out.
    assert!(other(&place, &["openssl", "genpkey", "-algorithm", "RSA", "-out", "else.key"]));
    let mixed =
        [fs::read(place.path("own.pem")).unwrap(), fs::read(place.path("else.key")).unwrap()];
    put(&place.path("mixed.pem"), &mixed.concat());
    place.fails(&["import", "mixed.pem"], 6);
}

#[test]
fn a_java_keystore_is_read() {
    let place = Place::new("java");
    let made =
        ["keytool", "-genkeypair", "-alias", "payroll", "-keyalg", "RSA", "-keysize", "2048"];
    let kept = ["-dname", "CN=Ada", "-keystore", "java.p12", "-storetype", "PKCS12"];
    let word = ["-storepass", "the secret of a store", "-validity", "30"];
    if !other(&place, &[&made[..], &kept, &word].concat()) {
        return;
    }
    put(&place.path("pay"), b"pay of May");
    place.works(&["-i", "-keystore", "java.p12", "-keystore-password", "the secret of a store"]);
    place.works(&["-e", "-rA", "payroll", "pay"]);
    place.works(&["-d", "-key-password", "the secret of a store", "-o", "out", "pay.pgp"]);
    assert_eq!(fs::read(place.path("out")).unwrap(), b"pay of May");
}

#[test]
fn a_keystore_that_only_java_reads_is_refused_with_the_way_out() {
    let place = Place::new("jks");
    for (begin, kind) in [([0xFE, 0xED, 0xFE, 0xED], "JKS"), ([0xCE, 0xCE, 0xCE, 0xCE], "JCEKS")] {
        put(&place.path("old"), &[&begin[..], &[0, 0, 0, 2, 0, 0, 0, 0]].concat());
        for words in
            [&["-i", "-keystore", "old", "-keystore-password", "x"][..], &["import", "old"]]
        {
            let said = place.fails(words, 6);
            assert!(said.contains(&format!("type {kind};")), "{said}");
            assert!(said.contains("keytool -importkeystore"), "{said}");
        }
    }
}
