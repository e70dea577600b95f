//! Keys in a token, with SoftHSM in place of a device, and GnuPG at the other end.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // makes a token from outside

#[path = "../../../kernel/token/tests/softhsm/mod.rs"]
mod softhsm;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use base::Coded;
use holdfast_openpgp::keys::{Algorithm, NewKey, certificate_of};
use holdfast_openpgp::pgp::crypto::aead::AeadAlgorithm;
use holdfast_openpgp::pgp::packet::RevocationCode;
use holdfast_openpgp::pgp::types::Timestamp;
use holdfast_openpgp::{
    Certificate, Cleartext, Container, Error, NewTokenKey, NewX509, Reading, Signer, Stats, Store,
    TokenKey, Tokens, Writing,
};
use seal::{Passphrase, TokenPlace};
use seam::Seam;
use softhsm::{PIN, SoftHsm};
use token::{PairKind, Pkcs11};

const DATA: &[u8] = b"what only a token opens\n";

/// A folder with a token, and a key ring in it.
struct Bench<'a>(&'a SoftHsm);

impl Bench<'_> {
    fn store(&self) -> Store {
        Store::open(&Seam::real(), &self.0.folder.join("ring"))
    }

    fn tokens(&self, pin: &'static str) -> Arc<Tokens> {
        let ask = move |_: &str| Ok(Passphrase::from(pin));
        Arc::new(Tokens::new(Some(&self.0.module), Box::new(ask)))
    }

    fn hold(&self, label: &str, make: Option<Algorithm>) -> Result<TokenKey, Error> {
        let place = TokenPlace { token: "BANK".into(), key: label.into() };
        let new = NewTokenKey { place, make, user: "Ada <ada@example.org>", lifetime_s: None };
        new.obtain(&self.tokens(PIN))
    }

    /// The key of that certificate, as a command that begins anew finds it in the ring.
    fn again(&self, key: &TokenKey, pin: &'static str) -> TokenKey {
        let print = self.store().add_token_key(key).unwrap();
        self.store().token_key(&print, &self.tokens(pin)).unwrap().unwrap()
    }
}

#[test]
fn private_operations_happen_in_the_token() {
    SoftHsm::work("private_operations_happen_in_the_token", |token| {
        let bench = Bench(token);
        messages_come_and_go(&bench);
        a_pair_that_is_there_is_taken_as_it_is(&bench);
        a_token_certifies_expires_and_revokes(&bench);
        a_token_signs_certificates_of_x509(&bench);
        what_can_be_wrong_is_named(&bench);
    });
}

fn a_token_signs_certificates_of_x509(bench: &Bench<'_>) {
    for label in ["rsa", "p256", "p384", "p521"] {
        let key = bench.again(&bench.hold(&format!("{label}-x509"), kind(label)).unwrap(), PIN);
        let made = NewX509::default().of_token_key(&key).unwrap();
        assert_eq!(made.len(), 2, "{label}: its own, and its part's");
        let print = key.certificate().fingerprint().to_string().to_uppercase();
        assert_eq!(made[0].fingerprint(), print);
        assert!(made[1].is_part_of(&made[0]) && made[1].encrypts(), "{label}");
        let (own, part) = (bench.0.folder.join("own.pem"), bench.0.folder.join("part.pem"));
        std::fs::write(&own, made[0].pem()).unwrap();
        std::fs::write(&part, made[1].pem()).unwrap();
        let mut openssl = Command::new("openssl");
        let verify = openssl.args(["verify", "-x509_strict", "-CAfile"]).args([&own, &part]);
        let Ok(done) = seam::process::output(verify, LONG) else { return };
        assert!(done.status.success(), "{label}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

/// Longer than any other program takes on any machine.
const LONG: std::time::Duration = std::time::Duration::from_secs(600);

fn kind(label: &str) -> Option<Algorithm> {
    Some(match label {
        "rsa" => Algorithm::Rsa(2048),
        "p256" => Algorithm::Nist(256),
        "p384" => Algorithm::Nist(384),
        _ => Algorithm::Nist(521),
    })
}

fn messages_come_and_go(bench: &Bench<'_>) {
    for label in ["rsa", "p256", "p384", "p521"] {
        let key = bench.again(&bench.hold(label, kind(label)).unwrap(), PIN);
        for container in [Container::V1, Container::V2(AeadAlgorithm::Ocb)] {
            let message = written(&key, container);
            let reading = Reading {
                token_keys: vec![key.clone()],
                certificates: vec![key.certificate().clone()],
                ..Reading::default()
            };
            let mut data = Vec::new();
            let opened = reading.run(&mut &message[..], &mut data, &Stats::default()).unwrap();
            assert_eq!((&data[..], opened.verified.len()), (DATA, 1), "{label}");
        }
        with_gnupg(bench, &key, label);
        let text = b"readable\n";
        let signers = key.signers().unwrap();
        let (mut made, mut signed) = (Vec::new(), Vec::new());
        holdfast_openpgp::sign_cleartext(&mut &text[..], &signers, None, &mut made).unwrap();
        let known = [key.certificate().clone()];
        let message = Cleartext::read(&mut &made[..], &mut signed).unwrap();
        let good = message.verify(&mut &signed[..], &known, false).unwrap().verified;
        assert_eq!(good.len(), 1, "{label}");
    }
}

fn written(key: &TokenKey, container: Container) -> Vec<u8> {
    let writing = Writing {
        recipients: vec![key.certificate().clone()],
        signers: key.signers().unwrap(),
        container: Some(container),
        ..Writing::default()
    };
    let mut message = Vec::new();
    writing.run(&mut &DATA[..], &mut message, &Stats::default()).unwrap();
    message
}

/// GnuPG verifies what the token signed, and the token opens what GnuPG encrypted.
fn with_gnupg(bench: &Bench<'_>, key: &TokenKey, label: &str) {
    let home = bench.0.folder.join(format!("gnupg-{label}"));
    std::fs::create_dir_all(&home).unwrap();
    let put = |name: &str, bytes: &[u8]| {
        let path = home.join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_string_lossy().into_owned()
    };
    let gpg = |words: &[&str]| {
        let always = ["--homedir", &home.to_string_lossy(), "--batch", "--yes", "--quiet"];
        let trust = ["--trust-model", "always"];
        let mut gpg = Command::new("gpg");
        let gpg = gpg.args(always).args(trust).args(words);
        let done = seam::process::output(gpg, LONG).unwrap();
        let answer = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{label} {words:?}: {answer}");
        done.stdout
    };
    let mut certificate = Vec::new();
    key.certificate().save(false, &mut certificate).unwrap();
    gpg(&["--import", &put("ada.cert", &certificate)]);
    let file = put("data", DATA);
    let signers: Vec<Signer> = key.signers().unwrap();
    let stats = Stats::default();
    let made =
        holdfast_openpgp::sign_detached(&mut &DATA[..], &signers, false, None, false, &stats);
    gpg(&["--verify", &put("data.sig", &made.unwrap()), &file]);
    let message = gpg(&["-r", "ada@example.org", "-o", "-", "-e", &file]);
    let reading = Reading { token_keys: vec![key.clone()], ..Reading::default() };
    let mut data = Vec::new();
    reading.run(&mut &message[..], &mut data, &stats).unwrap();
    assert_eq!(data, DATA, "{label}");
}

fn a_pair_that_is_there_is_taken_as_it_is(bench: &Bench<'_>) {
    let place = |key: &str| TokenPlace { token: "BANK".into(), key: key.into() };
    let (driver, pin) = (Pkcs11::new(&bench.0.module), Passphrase::from(PIN));
    driver.make_pair(&pin, &place("old"), &PairKind::Rsa(2048), true).unwrap();
    let key = bench.hold("old", None).unwrap();
    assert_eq!(key.signers().unwrap().len(), 1);
    // Its token lets it sign only, so nothing is encrypted to it.
    let writing = Writing { recipients: vec![key.certificate().clone()], ..Writing::default() };
    let refused = writing.run(&mut &DATA[..], &mut Vec::new(), &Stats::default());
    assert!(matches!(refused, Err(Error::UnfitKey(_))));
    // One that may not sign is no key of OpenPGP.
    driver.make_pair(&pin, &place("mute"), &PairKind::Rsa(2048), false).unwrap();
    assert!(matches!(bench.hold("mute", None), Err(Error::UnfitKey(_))));
}

/// GnuPG takes the word of a key in a token, about itself and about others.
fn a_token_certifies_expires_and_revokes(bench: &Bench<'_>) {
    const DAY_S: u32 = 86_400;
    for (label, algorithm) in [("word-rsa", Algorithm::Rsa(2048)), ("word", Algorithm::Nist(384))] {
        let gpg = Gnupg::new(bench, label);
        let place = TokenPlace { token: "BANK".into(), key: label.into() };
        let (make, lifetime_s) = (Some(algorithm), Some(30 * DAY_S));
        let new = NewTokenKey { place, make, user: "Ada <ada@example.org>", lifetime_s };
        let key = new.obtain(&bench.tokens(PIN)).unwrap();
        let print = key.certificate().fingerprint().to_string().to_uppercase();
        // The end of the key, and of its part.
        for lifetime_s in [Some(10 * DAY_S), Some(40 * DAY_S), None] {
            let known = bench.again(&key, PIN);
            bench.store().add_certificate(known.expire(lifetime_s).unwrap()).unwrap();
            gpg.takes(bench.again(&key, PIN).certificate());
            let listed = gpg.listed(&print);
            let now = Timestamp::now().as_secs();
            for kind in ["pub:", "sub:"] {
                let line = listed.lines().find(|line| line.starts_with(kind)).unwrap();
                let end = line.split(':').nth(6).unwrap();
                match lifetime_s {
                    None => assert_eq!(end, "", "{line}"),
                    Some(lifetime) => {
                        let end: u32 = end.parse().unwrap();
                        assert!(now + lifetime - end < 300, "{line}");
                    }
                }
            }
        }
        let key = bench.again(&key, PIN);
        assert_eq!(key.signers().unwrap().len(), 1);
        written(&key, Container::V1);
        // Another user's id.
        let new = NewKey {
            users: vec!["Bob <bob@example.org>".to_owned()],
            algorithm: Algorithm::Curve25519,
            v6: false,
            passphrase: None,
            lifetime_s: None,
            signing_only: false,
        };
        let bob = certificate_of(&new.generate().unwrap());
        let certified = key.certify(bob, "Bob <bob@example.org>").unwrap();
        gpg.takes(&certified);
        let checked = gpg.run(&["--with-colons", "--check-signatures", "bob@example.org"]);
        let key_id = &print[print.len() - 16..];
        let good = checked.lines().any(|line| line.starts_with("sig:!:") && line.contains(key_id));
        assert!(good, "{checked}");
        // And its own end.
        let revoked = key.revoke(RevocationCode::KeyRetired, "replaced").unwrap();
        bench.store().add_certificate(revoked).unwrap();
        let key = bench.again(&key, PIN);
        gpg.takes(key.certificate());
        assert!(gpg.listed(&print).lines().any(|line| line.starts_with("pub:r:")));
        assert!(key.signers().is_err());
    }
}

/// A home folder of GnuPG's own.
struct Gnupg(PathBuf);

impl Gnupg {
    fn new(bench: &Bench<'_>, name: &str) -> Gnupg {
        let home = bench.0.folder.join(format!("gnupg-{name}"));
        std::fs::create_dir_all(&home).unwrap();
        Gnupg(home)
    }

    fn run(&self, words: &[&str]) -> String {
        let always = ["--homedir", &self.0.to_string_lossy(), "--batch", "--yes", "--quiet"];
        let trust = ["--trust-model", "always"];
        let mut gpg = Command::new("gpg");
        let gpg = gpg.args(always).args(trust).args(words);
        let done = seam::process::output(gpg, LONG).unwrap();
        let answer = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{words:?}: {answer}");
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    fn takes(&self, certificate: &Certificate) {
        let mut bytes = Vec::new();
        certificate.save(false, &mut bytes).unwrap();
        let file = self.0.join("certificate");
        std::fs::write(&file, bytes).unwrap();
        self.run(&["--import", &file.to_string_lossy()]);
    }

    fn listed(&self, print: &str) -> String {
        self.run(&["--with-colons", "--list-keys", print])
    }
}

#[track_caller]
fn code<T>(result: Result<T, Error>) -> &'static str {
    result.err().expect("it is refused").code().0
}

fn what_can_be_wrong_is_named(bench: &Bench<'_>) {
    let key = bench.hold("again", Some(Algorithm::Nist(256))).unwrap();
    assert_eq!(code(bench.hold("again", Some(Algorithm::Nist(256)))), "HFS055");
    assert_eq!(code(bench.hold("nothing", None)), "HFS055");
    assert!(bench.hold("ed", Some(Algorithm::Curve25519)).is_err());
    let message = written(&key, Container::V1);
    let open = |key: &TokenKey| {
        let reading = Reading { token_keys: vec![key.clone()], ..Reading::default() };
        reading.run(&mut &message[..], &mut Vec::new(), &Stats::default()).map(drop)
    };
    let sign = |key: &TokenKey| {
        let signers = key.signers().unwrap();
        let stats = Stats::default();
        holdfast_openpgp::sign_detached(&mut &DATA[..], &signers, false, None, false, &stats)
    };
    let wrong = bench.again(&key, "4711-wrong");
    assert_eq!(code(open(&wrong)), "HFS053");
    assert_eq!(code(sign(&wrong)), "HFS053");
    // No library is named, or one that is none.
    let print = bench.store().add_token_key(&key).unwrap();
    for (module, expected) in [(None, "HFS050"), (Some("/dev/null"), "HFS051")] {
        let ask = Box::new(|_: &str| Ok(Passphrase::from(PIN)));
        let tokens = Arc::new(Tokens::new(module.map(Path::new), ask));
        let lost = bench.store().token_key(&print, &tokens).unwrap().unwrap();
        assert_eq!(code(open(&lost)), expected);
        assert_eq!(code(sign(&lost)), expected);
    }
    let place = TokenPlace { token: "GONE".into(), key: "again".into() };
    let new = NewTokenKey { place, make: None, user: "Ada", lifetime_s: None };
    assert_eq!(code(new.obtain(&bench.tokens(PIN))), "HFS052");
}
