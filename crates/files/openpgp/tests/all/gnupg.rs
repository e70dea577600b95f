//! What is written here opens in GnuPG, and what GnuPG writes opens here. Without a `gpg` on the
//! machine there is nothing to test against.

#![allow(clippy::unwrap_used)] // in tests an unwrap is an assertion

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use holdfast_openpgp as openpgp;
use openpgp::keys::{Algorithm, NewKey, certificate_of};
use openpgp::pgp::composed::SignedPublicKey;
use openpgp::pgp::crypto::sym::SymmetricKeyAlgorithm;
use openpgp::pgp::types::{CompressionAlgorithm, Password};
use openpgp::{Certificate, Cleartext, Container, Reading, SecretKey, Signer, Stats, Writing};

/// A home folder of GnuPG's own, gone with the test.
struct Gpg {
    home: PathBuf,
}

/// Longer than GnuPG takes on any machine.
const LONG: Duration = Duration::from_secs(600);

impl Gpg {
    fn new(name: &str) -> Option<Gpg> {
        seam::process::output(Command::new("gpg").arg("--version"), LONG).ok()?;
        let home = std::env::temp_dir().join(format!("hf-{name}-{}", std::process::id()));
        let mut make = Command::new("mkdir");
        let make = make.args(["-m", "700", "-p"]).arg(&home);
        let made = seam::process::output(make, LONG).ok()?.status;
        made.success().then_some(Gpg { home })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.join(name)
    }

    fn run(&self, args: &[&str], input: &[u8]) -> Vec<u8> {
        let mut command = Command::new("gpg");
        command.arg("--homedir").arg(&self.home);
        command.args(["--batch", "--yes", "--quiet", "--trust-model", "always"]);
        command.args(["--pinentry-mode", "loopback", "--passphrase", ""]).args(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("gpg starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let input = input.to_vec();
        // gpg may answer before it has read everything.
        let feeder = seam::thread::spawn("feeder", move || drop(stdin.write_all(&input)));
        let output = seam::process::finish(child, LONG).expect("gpg ends");
        feeder.expect("a thread").join();
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "gpg {args:?}: {printed}");
        output.stdout
    }
}

impl Gpg {
    /// The fingerprint of the key that is called so.
    fn fingerprint(&self, name: &str) -> String {
        let colons = self.run(&["--with-colons", "--list-keys", name], b"");
        let colons = String::from_utf8(colons).unwrap();
        let print = colons.lines().find_map(|line| line.strip_prefix("fpr:::::::::")).unwrap();
        print.trim_end_matches(':').to_owned()
    }
}

impl Drop for Gpg {
    fn drop(&mut self) {
        let kill = ["--homedir", &self.home.to_string_lossy(), "--kill", "all"].map(str::to_owned);
        let _ = seam::process::output(Command::new("gpgconf").args(kill), LONG);
        let _ = seam::process::output(Command::new("rm").arg("-rf").arg(&self.home), LONG);
    }
}

fn sample() -> Vec<u8> {
    (0..2_300_000_u32).map(|i| ((i / 11).wrapping_mul(i / 64) % 61 + 32) as u8).collect()
}

fn key(algorithm: Algorithm) -> SecretKey {
    let new = NewKey {
        users: vec!["Ada <ada@example.org>".to_owned()],
        algorithm,
        v6: false,
        passphrase: None,
        lifetime_s: None,
        signing_only: false,
    };
    new.generate().unwrap()
}

const COMPRESSIONS: [(&str, Option<(CompressionAlgorithm, u32)>); 4] = [
    ("none", None),
    ("zip", Some((CompressionAlgorithm::ZIP, 1))),
    ("zlib", Some((CompressionAlgorithm::ZLIB, 6))),
    ("bzip2", Some((CompressionAlgorithm::BZip2, 6))),
];

#[test]
fn messages_go_both_ways() {
    let Some(gpg) = Gpg::new("both") else { return };
    let data = sample();
    for algorithm in [Algorithm::Curve25519, Algorithm::Rsa(2048), Algorithm::Nist(256)] {
        let ada = key(algorithm);
        let mut secret = Vec::new();
        ada.save(true, &mut secret).unwrap();
        gpg.run(&["--import"], &secret);
        let print = certificate_of(&ada).fingerprint().to_string();
        for (name, compression) in COMPRESSIONS {
            let writing = Writing {
                recipients: vec![certificate_of(&ada)],
                signers: Signer::of(&ada, &[]).unwrap(),
                container: Some(Container::V1),
                cipher: Some(SymmetricKeyAlgorithm::AES128),
                compression,
                armor: name == "zlib",
                ..Writing::default()
            };
            let mut message = Vec::new();
            writing.run(&mut &data[..], &mut message, &Stats::default()).unwrap();
            let found = gpg.run(&["--decrypt"], &message);
            assert!(found == data, "{algorithm:?} {name}");

            let compress = if name == "none" { "uncompressed" } else { name };
            let theirs = gpg.run(
                &["--encrypt", "--sign", "-r", &print, "-u", &print, "--compress-algo", compress],
                &data,
            );
            let reading = Reading {
                keys: vec![ada.clone()],
                certificates: vec![certificate_of(&ada)],
                must_be_encrypted: true,
                ..Reading::default()
            };
            let mut found = Vec::new();
            let opened = reading.run(&mut &theirs[..], &mut found, &Stats::default()).expect(name);
            assert!(found == data, "{algorithm:?} {name}");
            assert_eq!(opened.verified.len(), 1, "{algorithm:?} {name}");
        }
    }
}

#[test]
fn passphrases_and_old_ciphers_are_understood() {
    let Some(gpg) = Gpg::new("phrase") else { return };
    let data = sample();
    let read = |message: &[u8], allow_old| {
        let passphrases = vec![Password::from("word")];
        let reading = Reading { passphrases, allow_old, ..Reading::default() };
        let mut found = Vec::new();
        let opened = reading.run(&mut &message[..], &mut found, &Stats::default());
        opened.map(|_| found)
    };
    let writing = Writing {
        passphrases: vec![Password::from("word")],
        container: Some(Container::V1),
        ..Writing::default()
    };
    let mut message = Vec::new();
    writing.run(&mut &data[..], &mut message, &Stats::default()).unwrap();
    assert!(gpg.run(&["--passphrase", "word", "--decrypt"], &message) == data);
    for cipher in ["AES", "AES192", "AES256", "3DES", "CAST5", "TWOFISH"] {
        let message = gpg.run(&["--passphrase", "word", "-c", "--cipher-algo", cipher], &data);
        let is_aes = cipher.starts_with("AES");
        assert!(read(&message, true).unwrap() == data, "{cipher}");
        assert_eq!(read(&message, false).is_ok(), is_aes, "{cipher}");
    }
}

#[test]
fn signatures_apart_go_both_ways() {
    let Some(gpg) = Gpg::new("sign") else { return };
    let text = b"first line\nsecond line\n- dashed\nlast line\n".to_vec();
    gpg.run(&["--quick-gen-key", "Bob <bob@example.org>", "ed25519", "sign", "never"], b"");
    let bob = gpg.run(&["--export-secret-keys", "bob@example.org"], b"");
    let bob = SecretKey::load(&mut &bob[..]).unwrap();
    let certificates: Vec<Certificate> = bob.iter().map(certificate_of).collect();
    let file = gpg.path("file");
    let signature = gpg.path("file.sig");
    let put = |path: &Path, bytes: &[u8]| {
        let mut target = openpgp::Target::file(&seam::Seam::real(), path, true).unwrap();
        target.write_all(bytes).unwrap();
        target.release().unwrap();
    };
    put(&file, &text);

    let stats = Stats::default();
    let theirs = gpg.run(&["--detach-sign"], &text);
    let good = openpgp::verify_detached(&mut &text[..], &theirs, &certificates, false, &stats)
        .unwrap()
        .verified;
    assert_eq!(good.len(), 1);
    let bad = openpgp::verify_detached(&mut &text[1..], &theirs, &certificates, false, &stats)
        .unwrap()
        .verified;
    assert!(bad.is_empty());

    let signers = Signer::of(&bob[0], &[]).unwrap();
    let ours = openpgp::sign_detached(&mut &text[..], &signers, true, None, true, &stats).unwrap();
    put(&signature, &ours);
    gpg.run(&["--verify", &signature.to_string_lossy(), &file.to_string_lossy()], b"");
}

#[test]
fn readable_text_goes_both_ways_in_any_code_page_and_out_of_letters() {
    let Some(gpg) = Gpg::new("readable") else { return };
    let ada = key(Algorithm::Curve25519);
    let mut secret = Vec::new();
    ada.save(true, &mut secret).unwrap();
    gpg.run(&["--import"], &secret);
    let (certificates, signers) = ([certificate_of(&ada)], Signer::of(&ada, &[]).unwrap());
    let read = |bytes: &[u8]| {
        let mut text = Vec::new();
        let message = Cleartext::read(&mut &bytes[..], &mut text).unwrap();
        let good = message.verify(&mut &text[..], &certificates, false).unwrap().verified.len();
        text.extend_from_slice(message.end());
        (text, good, message.stands_in_letter())
    };
    let latin = b"Gr\xFC\xDFe\r\naus K\xF6ln\xA0\n";
    let blanks = b"card one   \nand two\t\r\n   \nthree  ";
    let returns = b"one\rtwo\n\rthree \r\r\nfour\r";
    let dashes = b"- a dash\n-----BEGIN PGP SIGNED MESSAGE-----\nFrom\n\n";
    let ends = b"one\r\ntwo\r\n";
    for text in [&latin[..], blanks, returns, dashes, ends, b"", b"\n", b"\n\n"] {
        let mut ours = Vec::new();
        openpgp::sign_cleartext(&mut &text[..], &signers, None, &mut ours).unwrap();
        let theirs = gpg.run(&["--decrypt"], &ours);
        assert_eq!(read(&ours), (theirs, 1, false), "ours: {}", text.escape_ascii());
        let made = gpg.run(&["--clearsign"], text);
        let theirs = gpg.run(&["--decrypt"], &made);
        assert_eq!(read(&made), (theirs, 1, false), "theirs: {}", text.escape_ascii());
    }
    let message = gpg.run(&["--clearsign"], latin);
    let letter = [&b"Dear Ada,\n\n"[..], &message, b"\nYours\n-- \nBob\n"].concat();
    let (text, good, stands_in_letter) = read(&letter);
    assert_eq!((text, good, stands_in_letter), (gpg.run(&["--decrypt"], &letter), 1, true));
}

#[test]
fn messages_without_protection_are_read_only_if_that_is_asked_for() {
    let Some(gpg) = Gpg::new("bare") else { return };
    let data = sample();
    for cipher in ["AES256", "3DES", "CAST5"] {
        for compress in ["uncompressed", "zip"] {
            let mut words =
                vec!["--rfc2440", "--symmetric", "--passphrase", "word", "--s2k-count", "65536"];
            words.extend(["--cipher-algo", cipher, "--compress-algo", compress]);
            let message = gpg.run(&words, &data);
            let read = |message: &[u8], allow_old| {
                let passphrases = vec![Password::from("word")];
                let reading = Reading { passphrases, allow_old, ..Reading::default() };
                let mut found = Vec::new();
                let opened = reading.run(&mut &message[..], &mut found, &Stats::default());
                opened.map(|opened| (opened, found))
            };
            assert!(matches!(read(&message, false), Err(openpgp::Error::Old(_))), "{cipher}");
            let (opened, found) = read(&message, true).unwrap();
            assert!(found == data && opened.is_unproven, "{cipher} {compress}");
            // What is cut off or put behind it shows even so.
            assert!(read(&message[..message.len() - 1], true).is_err(), "{cipher} {compress}");
            assert!(read(&[&message[..], &[0xCB, 1, 0]].concat(), true).is_err(), "{cipher}");
        }
    }
}

#[test]
fn keys_of_no_use_are_refused_with_their_algorithm() {
    let Some(gpg) = Gpg::new("no-use") else { return };
    let store = openpgp::Store::open(&seam::Seam::real(), &gpg.path("ring"));
    let mut all = Vec::new();
    for (kind, word) in [("brainpoolP256r1", "brainpoolP256r1"), ("dsa2048", "DSA")] {
        let user = format!("{word} <old@example.org>");
        gpg.run(&["--quick-generate-key", &user, kind, "default", "never"], b"");
        let certificate = gpg.run(&["--export", &user], b"");
        let refused = store.import(&certificate, false).unwrap_err();
        assert!(matches!(refused, openpgp::Error::UnfitKey(_)), "{refused}");
        assert!(refused.to_string().contains(word), "{refused}");
        all.extend(certificate);
    }
    assert!(store.certificates().unwrap().is_empty());
    // One of use among them comes in, and what is left out is told.
    let user = "Bea <bea@example.org>";
    gpg.run(&["--quick-generate-key", user, "rsa2048", "sign", "never"], b"");
    let print = &*gpg.fingerprint("bea@example.org");
    gpg.run(&["--quick-add-key", print, "elg1024", "encr", "never"], b"");
    all.extend(gpg.run(&["--export", print], b""));
    let imported = store.import(&all, false).unwrap();
    assert_eq!((imported.prints, imported.left_out.len()), (vec![print.to_owned()], 2));
    let recipients = store.certificates().unwrap();
    let writing = Writing { recipients, ..Writing::default() };
    let refused = writing.run(&mut &b"data"[..], &mut Vec::new(), &Stats::default()).err().unwrap();
    assert!(refused.to_string().contains("Elgamal"), "{refused}");
}

#[test]
fn a_part_of_a_secret_key_takes_no_other_part_away() {
    let Some(gpg) = Gpg::new("parts") else { return };
    let store = openpgp::Store::open(&seam::Seam::real(), &gpg.path("ring"));
    let user = "Bea <bea@example.org>";
    gpg.run(&["--quick-generate-key", user, "ed25519", "sign", "never"], b"");
    let print = &*gpg.fingerprint("bea@example.org");
    let old = gpg.run(&["--export-secret-keys", print], b"");
    gpg.run(&["--quick-add-key", print, "cv25519", "encr", "never"], b"");
    let whole = gpg.run(&["--export-secret-keys", print], b"");
    let message = gpg.run(&["--encrypt", "-r", print], b"pay");
    // GnuPG leaves a stub of the primary key.
    let parts = gpg.run(&["--export-secret-subkeys", print], b"");

    store.import(&parts, false).unwrap();
    let key = store.secret(print).unwrap().unwrap();
    assert!(!openpgp::keys::is_locked(&key), "a stub is not locked");
    let refused = Signer::of(&key, &[]).err().unwrap().to_string();
    assert!(refused.contains("not here"), "{refused}");
    let open = |key: SecretKey| {
        let reading = Reading { keys: vec![key], ..Reading::default() };
        let mut data = Vec::new();
        reading.run(&mut &message[..], &mut data, &Stats::default()).unwrap();
        assert_eq!(data, b"pay");
    };
    open(key);
    for (came, what) in [(&whole, "all"), (&parts, "parts"), (&old, "an older copy")] {
        store.import(came, false).unwrap();
        let key = store.secret(print).unwrap().unwrap();
        assert_eq!(Signer::of(&key, &[]).unwrap().len(), 1, "after {what}");
        open(key);
    }
}

#[test]
fn what_was_changed_after_it_was_signed_is_told_from_a_stranger() {
    let key = key(Algorithm::Curve25519);
    let (signers, stats) = (Signer::of(&key, &[]).unwrap(), Stats::default());
    let made =
        openpgp::sign_detached(&mut &b"pay 100"[..], &signers, false, None, false, &stats).unwrap();
    let judge = |known: &[Certificate]| {
        openpgp::verify_detached(&mut &b"pay 900"[..], &made, known, false, &stats).unwrap()
    };
    let answer = judge(&[certificate_of(&key)]);
    assert!(answer.verified.is_empty() && answer.bad[0].contains("something was changed"));
    let stranger = judge(&[]);
    assert!(stranger.verified.is_empty() && stranger.bad.is_empty(), "{stranger:?}");
    assert!(stranger.unchecked[0].contains("is not here"), "{stranger:?}");
}

#[test]
fn weak_signatures_count_only_if_that_is_asked_for_whatever_time_they_claim() {
    let Some(gpg) = Gpg::new("weak") else { return };
    let store = openpgp::Store::open(&seam::Seam::real(), &gpg.path("ring"));
    let (long_ago, lately) = ("20090301T000000!", "20260301T000000!");
    for (name, kind, time, hash, weak) in [
        ("a", "rsa2048", long_ago, "SHA1", "SHA1"),
        ("b", "rsa2048", lately, "SHA1", "SHA1"),
        ("c", "rsa2048", long_ago, "RIPEMD160", "RIPEMD160"),
        ("d", "rsa1024", long_ago, "SHA256", "1024 bits"),
        ("e", "rsa1024", lately, "SHA256", "1024 bits"),
        ("f", "rsa2048", lately, "SHA224", ""),
        ("g", "rsa2048", long_ago, "SHA256", ""),
    ] {
        let user = &*format!("{name} <{name}@example.org>");
        let then = ["--faked-system-time", time];
        gpg.run(&[&then[..], &["--quick-gen-key", user, kind, "sign", "never"]].concat(), b"");
        let exported = gpg.run(&["--export", user], b"");
        store.import(&exported, true).unwrap();
        let sign = ["--digest-algo", hash, "--local-user", user, "--detach-sign"];
        let made = gpg.run(&[&then[..], &sign].concat(), b"pay 100");
        let certificates = store.certificates().unwrap();
        let judge = |allow_old, data: &[u8]| {
            let stats = Stats::default();
            openpgp::verify_detached(&mut &data[..], &made, &certificates, allow_old, &stats)
                .unwrap()
        };
        let strict = judge(false, b"pay 100");
        assert_eq!(strict.verified.len(), usize::from(weak.is_empty()), "{name} {strict:?}");
        if !weak.is_empty() {
            let why = &strict.bad[0];
            assert!(why.contains(weak) && why.contains("--allow-old"), "{name} {why}");
        }
        let lenient = judge(true, b"pay 100");
        assert_eq!((lenient.verified.len(), lenient.doubts()), (1, Vec::new()), "{name}");
        assert!(judge(true, b"pay 900").verified.is_empty(), "{name}");
    }
}

#[test]
fn what_gnupg_backs_up_comes_back_whole() {
    let Some(gpg) = Gpg::new("backup") else { return };
    let user = "Ada <ada@example.org>";
    gpg.run(&["--quick-generate-key", user, "default", "default", "never"], b"");
    let store = openpgp::Store::open(&seam::Seam::real(), &gpg.path("ring"));
    let secret = gpg.run(&["--export-secret-keys", "--export-options", "backup", user], b"");
    let imported = store.import(&secret, false).unwrap();
    assert!(imported.left_out.is_empty(), "{:?}", imported.left_out);
    let message = gpg.run(&["--encrypt", "--recipient", user], b"at rest");
    let reading = Reading { keys: store.secrets(false).unwrap(), ..Reading::default() };
    let mut found = Vec::new();
    reading.run(&mut &message[..], &mut found, &Stats::default()).unwrap();
    assert_eq!(found, b"at rest");

    let public = gpg.run(&["--export", "--export-options", "backup", user], b"");
    let other = openpgp::Store::open(&seam::Seam::real(), &gpg.path("other"));
    other.import(&public, false).unwrap();
    assert_eq!(other.list().unwrap()[0].users, [user]);
    let writing = Writing { recipients: other.certificates().unwrap(), ..Writing::default() };
    let mut message = Vec::new();
    writing.run(&mut &b"at rest"[..], &mut message, &Stats::default()).unwrap();
    assert_eq!(gpg.run(&["--decrypt"], &message), b"at rest");
}

#[test]
fn the_primary_user_id_comes_first() {
    let Some(gpg) = Gpg::new("primary") else { return };
    let (first, primary) = ("First <first@example.org>", "Primary <primary@example.org>");
    gpg.run(&["--quick-generate-key", first, "default", "default", "never"], b"");
    let print = gpg.fingerprint(first);
    gpg.run(&["--quick-add-uid", &print, primary], b"");
    let store = openpgp::Store::open(&seam::Seam::real(), &gpg.path("ring"));
    for (named, others) in [(primary, first), (first, primary)] {
        gpg.run(&["--quick-set-primary-uid", &print, named], b"");
        store.import(&gpg.run(&["--export", &print], b""), false).unwrap();
        assert_eq!(store.list().unwrap()[0].users, [named, others]);
    }
}

#[test]
fn keys_and_user_ids_that_gnupg_revokes_count_no_more() {
    let Some(gpg) = Gpg::new("revoke") else { return };
    let (old, new) = ("Ada <ada@old.example>", "Ada <ada@new.example>");
    gpg.run(&["--quick-generate-key", old, "default", "default", "never"], b"");
    gpg.run(&["--quick-add-uid", old, new], b"");
    let print = gpg.fingerprint(old);
    let store = openpgp::Store::open(&seam::Seam::real(), &gpg.path("ring"));
    store.import(&gpg.run(&["--export-secret-keys", &print], b""), false).unwrap();
    assert_eq!(store.find("ada@old.example").unwrap(), print);
    gpg.run(&["--quick-revoke-uid", &print, old], b"");
    store.import(&gpg.run(&["--export", &print], b""), false).unwrap();
    assert!(store.find("ada@old.example").is_err());
    assert_eq!(store.find("ada@new.example").unwrap(), print);
    assert_eq!(store.list().unwrap()[0].users, [new]);

    // GnuPG spoils the first line of what it keeps, so that no reader takes it by accident.
    let path = gpg.path("openpgp-revocs.d").join(format!("{print}.rev"));
    let kept = seam::disk::read_small(&*seam::Seam::real().disk, &path, 1 << 20).unwrap();
    let text = String::from_utf8(kept).unwrap().replace("\n:---", "\n---");
    let stranger = openpgp::Store::open(&seam::Seam::real(), &gpg.path("stranger"));
    assert!(stranger.import(text.as_bytes(), false).is_err());
    for _ in 0..2 {
        assert_eq!(store.import(text.as_bytes(), false).unwrap().prints, [print.as_str()]);
    }
    assert!(store.list().unwrap()[0].is_revoked);
    let key = store.secret(&print).unwrap().unwrap();
    assert!(Signer::of(&key, &[]).is_err());
    let recipients = store.certificates().unwrap();
    assert_eq!(SignedPublicKey::from(recipients[0].clone()).details.revocation_signatures.len(), 1);
    let writing = Writing { recipients, ..Writing::default() };
    assert!(writing.run(&mut &b""[..], &mut Vec::new(), &Stats::default()).is_err());
}
