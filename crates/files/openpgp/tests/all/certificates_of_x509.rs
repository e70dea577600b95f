//! Certificates of X.509 that are made for keys of OpenPGP: OpenSSL accepts them, and a program
//! that makes a key of OpenPGP from one gets the key that it was made for. Without OpenSSL the
//! tests say so, and prove their own half only.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // other programs read files

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use holdfast_openpgp::keys::{Algorithm, NewKey, certificate_of};
use holdfast_openpgp::keystore::{Keystore, read_pkcs12};
use holdfast_openpgp::pgp::types::{KeyDetails as _, Password};
use holdfast_openpgp::{Error, NewX509, Reading, SecretKey, Signer, Stats, Store, Writing, X509};
use seam::Seam;

const KINDS: [Algorithm; 5] = [
    Algorithm::Rsa(2048),
    Algorithm::Nist(256),
    Algorithm::Nist(384),
    Algorithm::Nist(521),
    Algorithm::Curve25519,
];
const WORD: &str = "the secret of a store";

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("hf-x509-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.0.join(name), bytes).unwrap();
    }

    /// What OpenSSL says; nothing if it is not there.
    fn openssl(&self, words: &[&str]) -> Option<String> {
        let mut command = Command::new("openssl");
        let command = command.current_dir(&self.0).args(words);
        let Ok(done) = seam::process::output(command, Duration::from_secs(600)) else {
            eprintln!("SKIPPED: openssl is not there");
            return None;
        };
        let printed = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "openssl {words:?}: {printed}");
        Some(String::from_utf8_lossy(&done.stdout).into_owned())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn key(algorithm: Algorithm, user: Option<&str>, lifetime_s: Option<u32>) -> SecretKey {
    let users = user.into_iter().map(str::to_owned).collect();
    let passphrase = Some(Password::from("locked"));
    let new = NewKey { users, algorithm, v6: false, passphrase, lifetime_s, signing_only: false };
    new.generate().unwrap()
}

fn made(key: &SecretKey, new: NewX509<'_>) -> Result<Vec<X509>, Error> {
    new.of(key, &[Password::from("locked")])
}

fn print_of(key: &SecretKey) -> String {
    certificate_of(key).fingerprint().to_string().to_uppercase()
}

#[test]
fn openssl_verifies_them_and_the_fingerprint_comes_back() {
    for algorithm in KINDS {
        let folder = Folder::new(&format!("{algorithm:?}"));
        let key = key(algorithm, Some("Ada <ada@example.org>"), Some(86_400 * 400));
        let all = made(&key, NewX509::default()).unwrap();
        assert_eq!((all.len(), all[0].fingerprint()), (2, print_of(&key)), "{algorithm:?}");
        assert!(all[1].is_part_of(&all[0]) && !all[0].is_part_of(&all[1]));
        // From when the key was ready on, which takes its time after that of the key.
        let (from, until) = all[0].validity();
        assert!((86_400 * 400..86_400 * 401).contains(&(until - from)), "{algorithm:?}");
        assert_eq!(all[1].validity().1, until);
        let again = X509::read(all.iter().map(X509::pem).collect::<String>().as_bytes()).unwrap();
        assert!(again.iter().all(|one| one.user() == "Ada <ada@example.org>"));
        folder.put("own.pem", all[0].pem());
        folder.put("part.der", all[1].der());
        let to_pem = ["x509", "-inform", "der", "-in", "part.der", "-out", "part.pem"];
        if folder.openssl(&to_pem).is_none() {
            continue;
        }
        folder.openssl(&["verify", "-x509_strict", "-CAfile", "own.pem", "own.pem", "part.pem"]);
        folder.openssl(&["verify", "-purpose", "smimesign", "-CAfile", "own.pem", "own.pem"]);
        let text = folder.openssl(&["x509", "-in", "part.pem", "-noout", "-text"]).unwrap();
        for answer in ["email:ada@example.org", "CA:FALSE", "Version: 3", "CN = Ada, serialNumber"]
        {
            assert!(text.contains(answer), "{answer}: {text}");
        }
    }
}

#[test]
fn what_is_encrypted_to_the_certificate_is_opened_by_the_openpgp_key() {
    for algorithm in KINDS {
        let key = key(algorithm, Some("Ada"), None);
        let x509 = vec![made(&key, NewX509::default()).unwrap().remove(1)];
        let writing = Writing { x509, ..Writing::default() };
        let mut message = Vec::new();
        writing.run(&mut &b"to a certificate"[..], &mut message, &Stats::default()).unwrap();
        let key_passphrases = vec![Password::from("locked")];
        let reading = Reading { keys: vec![key], key_passphrases, ..Reading::default() };
        let mut data = Vec::new();
        reading.run(&mut &message[..], &mut data, &Stats::default()).unwrap();
        assert_eq!(data, b"to a certificate", "{algorithm:?}");
    }
}

#[test]
fn a_keystore_takes_keys_along_and_gives_them_back() {
    let mut keystore = Keystore::new();
    let mut known = Vec::new();
    for (place, algorithm) in KINDS.into_iter().enumerate() {
        // All of them have the same name.
        let alias = format!("key {place}");
        let key = key(algorithm, Some("Ada"), None);
        let all = made(&key, NewX509::default()).unwrap();
        keystore.add(&alias, &key, &[Password::from("locked")], &all).unwrap();
        assert!(keystore.add(&alias, &key, &[Password::from("locked")], &all).is_err());
        known.push((alias, key));
    }
    let bytes = keystore.write(WORD).unwrap();
    let found = read_pkcs12(&bytes, WORD, None).unwrap();
    assert_eq!(found.len(), KINDS.len(), "parts are parts again");
    for (alias, key) in &known {
        let one = found.iter().find(|one| one.alias.as_ref() == Some(alias)).unwrap();
        let back = one.key.as_ref().unwrap();
        assert_eq!(print_of(back), print_of(key), "{alias}");
        let parts = |key: &SecretKey| -> Vec<_> {
            key.key().secret_subkeys.iter().map(|part| part.key.fingerprint()).collect()
        };
        assert_eq!(parts(back), parts(key), "{alias}");
        let message = encrypted(key);
        let reading = Reading { keys: vec![back.clone()], ..Reading::default() };
        let reading = Reading { certificates: vec![certificate_of(key)], ..reading };
        let mut data = Vec::new();
        let opened = reading.run(&mut &message[..], &mut data, &Stats::default()).unwrap();
        assert_eq!((&data[..], opened.verified.len()), (&b"kept"[..], 1), "{alias}");
        assert!(!Signer::of(back, &[]).unwrap().is_empty());
    }
    assert!(keystore.remove(&print_of(&known[0].1)) && !keystore.remove("00"));
    let fewer = read_pkcs12(&keystore.write(WORD).unwrap(), WORD, None).unwrap();
    assert_eq!(fewer.len(), KINDS.len() - 1);
    assert!(matches!(Keystore::read(&bytes, "another"), Err(Error::NoKey(_))));
    other_programs_read(&bytes);
}

/// A message of the key to itself.
fn encrypted(key: &SecretKey) -> Vec<u8> {
    let recipients = vec![certificate_of(key)];
    let signers = Signer::of(key, &[Password::from("locked")]).unwrap();
    let writing = Writing { recipients, signers, ..Writing::default() };
    let mut message = Vec::new();
    writing.run(&mut &b"kept"[..], &mut message, &Stats::default()).unwrap();
    message
}

fn other_programs_read(bytes: &[u8]) {
    let folder = Folder::new("store");
    folder.put("keys.p12", bytes);
    let word = format!("pass:{WORD}");
    let read = ["pkcs12", "-in", "keys.p12", "-passin", &word, "-nodes", "-out", "keys.pem"];
    if folder.openssl(&read).is_none() {
        return;
    }
    let text = std::fs::read_to_string(folder.0.join("keys.pem")).unwrap();
    let keys: Vec<&str> = text.split("-----BEGIN PRIVATE KEY-----").skip(1).collect();
    assert_eq!(keys.len(), 2 * KINDS.len());
    for key in keys {
        let end = key.find("-----END").unwrap();
        let pem = format!("-----BEGIN PRIVATE KEY-----{}-----END PRIVATE KEY-----\n", &key[..end]);
        folder.put("one.pem", pem);
        // OpenSSL checks that the numbers of a key fit together.
        folder.openssl(&["pkey", "-in", "one.pem", "-check", "-noout"]);
    }
}

#[test]
fn a_ring_keeps_them_beside_the_key_and_a_keystore_before_it() {
    let folder = Folder::new("ring");
    let store = Store::open(&Seam::real(), Path::new(&folder.0.join("ring")));
    let (own, other) = (key(KINDS[1], Some("Ada"), None), key(KINDS[4], Some("Bob"), None));
    let print = store.add_secret(&own).unwrap();
    store.set_alias("me", &print).unwrap();
    let all = made(&own, NewX509::default()).unwrap();
    store.set_x509(&print, &all).unwrap();
    assert_eq!(store.x509_named("me").unwrap().len(), 2);
    let part = own.key().secret_subkeys[0].key.legacy_key_id().to_string();
    let named = store.x509_named(&format!("id:{part}")).unwrap();
    assert_eq!((named.len(), named[0].der()), (1, all[1].der()));
    assert!(store.check().unwrap().wrong.is_empty());

    let mut keystore = Keystore::new();
    let x509 = made(&other, NewX509::default()).unwrap();
    keystore.add("me", &other, &[Password::from("locked")], &x509).unwrap();
    let both = store.with_keystore(&keystore.foreign(None).unwrap()).unwrap();
    assert_eq!(both.find("alias:me").unwrap(), print_of(&other), "the keystore comes first");
    assert_eq!(both.find("user:Ada").unwrap(), print, "the ring is still there");
    assert_eq!(both.list().unwrap().len(), 1);
    assert_eq!((both.secrets(false).unwrap().len(), both.certificates().unwrap().len()), (1, 2));
    let refused = both.set_alias("you", &print).err().unwrap().to_string();
    assert!(refused.contains("import it"), "{refused}");
    assert!(both.add_secret(&own).is_err() && both.delete(&print).is_err());
}

#[test]
fn others_import_them_as_one_key() {
    let folder = Folder::new("import");
    let store = Store::open(&Seam::real(), Path::new(&folder.0.join("ring")));
    let key = key(KINDS[4], Some("Ada <ada@example.org>"), None);
    let all = made(&key, NewX509::default()).unwrap();
    let pem: String = all.iter().rev().map(X509::pem).collect();
    let imported = store.import(pem.as_bytes(), false).unwrap();
    assert_eq!(imported.prints, [print_of(&key)]);
    assert!(store.x509(&imported.prints[0]).unwrap()[1].encrypts());
    assert_eq!(store.list().unwrap().len(), 1);
    store.import(all[0].der(), false).unwrap();
    assert_eq!(store.x509(&imported.prints[0]).unwrap().len(), 2, "what was known stays");
    let der: Vec<u8> = all.iter().flat_map(|one| one.der().to_vec()).collect();
    assert_eq!(store.import(&der, false).unwrap().prints, imported.prints);
}

#[test]
fn what_has_no_certificate_is_told() {
    let new = NewKey {
        users: vec!["Ada".to_owned()],
        algorithm: Algorithm::Curve25519,
        v6: true,
        passphrase: None,
        lifetime_s: None,
        signing_only: false,
    };
    let v6 = NewX509::default().of(&new.generate().unwrap(), &[]).err().unwrap();
    assert!(v6.to_string().contains("version 6"), "{v6}");
    let nobody = key(KINDS[1], None, None);
    let unnamed = made(&nobody, NewX509::default()).err().unwrap();
    assert!(unnamed.to_string().contains("names nobody"), "{unnamed}");
    let subject = Some("CN=Ada, O=Bank, C=DE");
    let named = made(&nobody, NewX509 { subject, until: None }).unwrap();
    assert_eq!(named[0].user(), "Ada");
    assert!(named[0].validity().1 == u32::MAX, "it does not end");
    let locked = NewX509::default().of(&key(KINDS[0], Some("Ada"), None), &[]);
    assert!(matches!(locked, Err(Error::Locked(_))));
}
