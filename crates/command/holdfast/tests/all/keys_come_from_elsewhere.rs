//! `holdfast pgp` with keys that were made by other programs: X.509 certificates, keystores and key
//! files. What is encrypted to a certificate is opened by the secret key from the keystore. Without
//! OpenSSL it says so and proves nothing.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at files from outside

use std::fs;
use std::process::Command;

use crate::common::in_time::RunInTime as _;
use crate::common::place::{Place, put};

/// Runs another program in the folder of the test; whether it is there and did its work.
fn other(place: &Place, words: &[&str]) -> bool {
    let mut command = Command::new(words[0]);
    let done = command.current_dir(place.path("")).args(&words[1..]).output_in_time();
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
        for answer in ["Ada <ada@example.org>", "alias payroll", "by X.509", "with its secret key"]
        {
            assert!(listed.contains(answer), "{answer}: {listed}");
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
    // A secret key of another user beside the certificate is found out.
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
fn certificates_of_x509_are_made_for_ones_own_keys() {
    let (ours, theirs) = (Place::new("x509-own"), Place::new("x509-partner"));
    put(&ours.path("pay"), b"pay of May");
    put(&ours.path("word"), b"the secret of a store");
    let named = ["--subject", "CN=Ada, O=Bank, emailAddress=ada@example.org"];
    for kind in ["rsa2048", "nistp256", "curve25519"] {
        ours.works(&["generate", "--alias", kind, "--algorithm", kind, "Ada"]);
        ours.fails(&["export", "--x509", kind], 1);
        ours.works(&[&["x509", kind, "--days", "30"][..], &named].concat());
        assert!(ours.works(&["check"]).contains("sound"));
        // Two of them, its own and its part's, make no DER; each has a key id of its own.
        ours.fails(&["export", "--x509", kind, "-o", "both.der"], 2);
        let pem = format!("{kind}.pem");
        ours.works(&["export", "--x509", "--armor", kind, "-o", &pem]);
        let print = ours.works(&["list", kind]).lines().next().unwrap().to_owned();
        ours.works(&["export", "--x509", &print, "-o", "own.der", "--yes"]);
        let to_pem = ["openssl", "x509", "-inform", "der", "-in", "own.der", "-out", "own.pem"];
        if other(&ours, &to_pem) {
            let verify = ["openssl", "verify", "-x509_strict", "-CAfile", "own.pem", &pem];
            assert!(other(&ours, &verify), "{kind}");
        }
        fs::copy(ours.path(&pem), theirs.path(&pem)).unwrap();
        theirs.works(&["import", &pem, "--alias", kind]);
        assert!(theirs.works(&["list", kind]).contains(&print), "{kind}");
        put(&theirs.path("pay"), b"pay of May");
        theirs.works(&["encrypt", "-r", kind, "-o", "pay.pgp", "--yes", "pay"]);
        fs::copy(theirs.path("pay.pgp"), ours.path("pay.pgp")).unwrap();
        ours.works(&["decrypt", "-o", "out", "--yes", "pay.pgp"]);
        assert_eq!(fs::read(ours.path("out")).unwrap(), b"pay of May", "{kind}");
        let keep = ["export", "--pkcs12", kind, "-o", "own.p12", "--yes"];
        ours.works(&[&keep[..], &["--keystore-passphrase-file", "word"]].concat());
        let at = Place::new(&format!("x509-{kind}"));
        fs::copy(ours.path("own.p12"), at.path("own.p12")).unwrap();
        at.works(&["-i", "-keystore", "own.p12", "-keystore-password", "the secret of a store"]);
        let listed = at.works(&["list", kind]);
        assert!(listed.contains(&print) && listed.contains("with its secret key"), "{listed}");
    }
    ours.fails(&["x509", "nistp256", "--subject", "Ada"], 2);
    ours.works(&["generate", "--alias", "new", "--x509-days", "0", "--no-passphrase", "Bob"]);
    ours.works(&["export", "--x509", "--armor", "new", "-o", "new.pem"]);
}

#[test]
fn a_keystore_is_used_before_the_ring() {
    let place = Place::new("keystore");
    put(&place.path("pay"), b"pay of May");
    let with = ["-keystore", "own.p12", "-keystore-password", "the secret of a store"];
    let run = |words: &[&str]| place.works(&[&with[..], words].concat());
    run(&["-g", "-key-alias", "pay", "-userID-name", "Ada", "-x509-days-valid", "30"]);
    run(&["-g", "-key-alias", "rsa", "-userID-name", "Bob", "-key-size", "2048"]);
    place.fails(&[&with[..], &["-g", "-key-alias", "pay", "-userID-name", "Ada"]].concat(), 1);
    assert!(run(&["-iA"]).contains("alias rsa") && !place.path("ring").exists());
    for alias in ["pay", "rsa"] {
        run(&[
            "-e",
            "-rA",
            alias,
            "-s",
            "-signers-key-alias",
            alias,
            "-o",
            "pay.pgp",
            "pay",
            "-yes",
        ]);
        let answer = run(&["-d", "-o", "out", "-yes", "pay.pgp"]);
        assert!(answer.contains("good signature"), "{answer}");
        assert_eq!(fs::read(place.path("out")).unwrap(), b"pay of May");
        run(&["-b", "-signers-key-alias", alias, "-yes", "pay"]);
        assert!(run(&["-v", "pay.sig", "pay"]).contains("good signature"));
    }
    // Others have the OpenPGP certificate, and verify by that.
    run(&["-eA", "-armor", "-o", "rsa.asc", "rsa"]);
    let partner = Place::new("keystore-partner");
    for file in ["rsa.asc", "pay", "pay.sig"] {
        fs::copy(place.path(file), partner.path(file)).unwrap();
    }
    partner.works(&["import", "rsa.asc"]);
    partner.works(&["verify", "--signature", "pay.sig", "pay"]);
    let wrong = ["-keystore", "own.p12", "-keystore-password", "another", "-iA"];
    place.fails(&wrong, 4);
    run(&["-xA", "-yes", "pay"]);
    let left = run(&["-iA"]);
    assert!(left.contains("alias rsa") && !left.contains("alias pay"), "{left}");
    put(&place.path("word"), b"the secret of a store");
    let clear = ["--keystore", "own.p12", "--keystore-passphrase-file", "word"];
    // A secret key does not leave it without a passphrase.
    place.works(&[&["export", "--secret", "rsa", "-o", "rsa.key"][..], &clear].concat());
    partner.works(&["import", &place.path("rsa.key").display().to_string()]);
    put(&partner.path("other"), b"something else");
    let sign = ["sign", "--detached", "--with", "Bob", "--yes", "pay"];
    partner.fails(&[&sign[..], &["--key-passphrase-file", "other"]].concat(), 4);
    partner.works(&sign);
    let refused = place.fails(&[&["revoke", "rsa", "--yes"][..], &clear].concat(), 6);
    assert!(refused.contains("import it"), "{refused}");
    // Java's own tool reads it, and writes what is read here.
    let tool = ["keytool", "-list", "-keystore", "own.p12", "-storepass", "the secret of a store"];
    if other(&place, &tool) {
        let java = ["keytool", "-genkeypair", "-alias", "java", "-keyalg", "EC", "-keysize", "256"];
        let kept = ["-dname", "CN=Eve", "-keystore", "own.p12"];
        let word = ["-storepass", "the secret of a store", "-validity", "30"];
        assert!(other(&place, &[&java[..], &kept, &word].concat()));
        run(&["-xA", "-yes", "rsa"]);
        assert!(run(&["-iA"]).contains("alias java"));
    }
}

#[test]
fn a_keystore_loses_nothing_when_it_is_changed() {
    let place = Place::new("keystore-kept");
    put(&place.path("word"), b"the secret of a store");
    let with = ["--keystore=own.p12", "--keystore-passphrase-file=word"];
    // Of several commands at once none loses what another one did.
    std::thread::scope(|scope| {
        for alias in ["one", "two", "three", "four"] {
            let words = ["generate", "--alias", alias, "Ada"];
            let place = &place;
            scope.spawn(move || place.works(&[&words[..], &with].concat()));
        }
    });
    let listed = place.works(&[&["list"][..], &with].concat());
    for alias in ["one", "two", "three", "four"] {
        assert!(listed.contains(&format!("alias {alias}")), "{alias}: {listed}");
    }
    // A certificate that belongs to nothing would be lost, so nothing is changed.
    let usage = "keyUsage=digitalSignature";
    if !make(&place, &["rsa:2048"], usage) || !other(&place, &["cp", "own.pem", "else.pem"]) {
        return;
    }
    assert!(make(&place, &["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], usage));
    let store = ["openssl", "pkcs12", "-export", "-inkey", "own.key", "-in", "own.pem"];
    let kept = ["-certfile", "else.pem", "-out", "own.p12", "-name", "payroll"];
    let word = ["-passout", "pass:the secret of a store"];
    assert!(other(&place, &[&store[..], &kept, &word].concat()));
    let before = fs::read(place.path("own.p12")).unwrap();
    let printed = place.fails(&[&["delete", "payroll", "--yes"][..], &with].concat(), 6);
    assert!(printed.contains("not changed"), "{printed}");
    assert!(fs::read(place.path("own.p12")).unwrap() == before);
}

#[test]
fn a_keystore_that_only_java_reads_is_refused_with_the_way_out() {
    let place = Place::new("jks");
    for (begin, kind) in [([0xFE, 0xED, 0xFE, 0xED], "JKS"), ([0xCE, 0xCE, 0xCE, 0xCE], "JCEKS")] {
        put(&place.path("old"), &[&begin[..], &[0, 0, 0, 2, 0, 0, 0, 0]].concat());
        for words in
            [&["-i", "-keystore", "old", "-keystore-password", "x"][..], &["import", "old"]]
        {
            let printed = place.fails(words, 6);
            assert!(printed.contains(&format!("type {kind};")), "{printed}");
            assert!(printed.contains("keytool -importkeystore"), "{printed}");
        }
    }
}
