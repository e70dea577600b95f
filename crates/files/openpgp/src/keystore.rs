//! Secret keys with their X.509 certificates: Java keystores of type PKCS#12, and key files in PEM.
//!
//! 1. A secret key becomes an OpenPGP key under the name, and for the time, of its certificate.
//! 2. It comes out locked by the passphrase that is given, never unlocked by chance: without one it
//!    has none.
//! 3. Trusted certificates without a secret key come out as they are.
//! 4. A keystore says itself how often its passphrase is to be hashed; one that asks for more than
//!    `HASHES_MAX`, or `PART_MAX` for one part, is refused before any hashing. What only shows
//!    after decryption, its maker has encrypted under the passphrase; there each part is bounded.
//! 5. A keystore that is changed keeps all that it held, or is not changed.

use std::collections::BTreeSet;

use p12_keystore::{Certificate, KeyStore, KeyStoreEntry, Pkcs12Archive, Pkcs12ImportPolicy};
use p12_keystore::{PrivateKey, PrivateKeyChain};
use pgp::composed::{SignedSecretKey, SignedSecretSubKey};
use pgp::ser::Serialize as _;
use pgp::types::{KeyDetails as _, Password};
use rpgpie::tsk::Tsk;
use x509_parser::pem::Pem;
use zeroize::Zeroizing;

use crate::adopt::{Identity, bind};
use crate::der::hashes;
use crate::error::{Error, Result};
use crate::issue::secret_of;
use crate::keys::{change_passphrase, lock};
use crate::material::{Public, Secret};
use crate::pkcs8;
use crate::token_keys::DECRYPTING;
use crate::x509::X509;

/// A key that came from elsewhere.
pub struct Foreign {
    /// What it was called there.
    pub alias: Option<String>,
    /// Its certificate.
    pub certificate: X509,
    /// Those of its parts, which are encrypted to.
    pub parts: Vec<X509>,
    /// The secret key, if it came along.
    pub key: Option<Tsk>,
}

impl Foreign {
    /// Certificates alone: each key's own, with those of its parts.
    pub(crate) fn of(certificates: &[X509]) -> Vec<Foreign> {
        let of_key = |mut group: Vec<X509>| {
            let parts = group.split_off(1);
            Some(Foreign { alias: None, certificate: group.pop()?, parts, key: None })
        };
        X509::gathered(certificates).into_iter().filter_map(of_key).collect()
    }

    /// All its certificates in DER, one behind the other.
    pub(crate) fn der(&self) -> Vec<u8> {
        let all = std::iter::once(&self.certificate).chain(&self.parts);
        all.flat_map(|one| one.der().iter().copied()).collect()
    }
}

/// How often a passphrase is hashed for one keystore: some seconds.
const HASHES_MAX: u64 = 20_000_000;
/// And for one part of it; programs that make keystores take 2,000 to 600,000.
const PART_MAX: u64 = 1_000_000;

/// How often a keystore asks to hash its passphrase, as far as it shows without it.
#[must_use]
pub fn passphrase_hashes(bytes: &[u8]) -> u64 {
    hashes(bytes).0
}

/// Refuses a keystore that costs too much (4).
fn is_affordable(bytes: &[u8]) -> Result<()> {
    let (sum, most) = hashes(bytes);
    let (asked, bound) = if most > PART_MAX { (most, PART_MAX) } else { (sum, HASHES_MAX) };
    let what = || {
        let asked = if asked == u64::MAX { "without end".into() } else { format!("{asked} times") };
        Error::Unsupported(format!(
            "the keystore asks to hash its passphrase {asked}; at most {bound} are done: make it \
             anew with fewer, such as `openssl pkcs12 -export -iter 100000`"
        ))
    };
    (asked <= bound).then_some(()).ok_or_else(what)
}

/// Refuses keystores of the types that only Java has: they protect keys by means of its own.
pub(crate) fn is_of_a_known_type(bytes: &[u8]) -> Result<()> {
    let of_java = [([0xFE, 0xED, 0xFE, 0xED], "JKS"), ([0xCE, 0xCE, 0xCE, 0xCE], "JCEKS")];
    let found = of_java.into_iter().find(|(begin, _)| bytes.starts_with(begin));
    let refused = |(_, kind): ([u8; 4], &str)| {
        Error::Unsupported(format!(
            "this is a keystore of type {kind}; convert it: keytool -importkeystore \
             -srckeystore OLD -destkeystore NEW.p12 -deststoretype PKCS12"
        ))
    };
    found.map_or(Ok(()), |found| Err(refused(found)))
}

/// A keystore of type PKCS#12.
#[derive(Clone, Default)]
pub struct Keystore {
    entries: KeyStore,
    /// Whether something in it would be lost if it was written again.
    is_partial: bool,
}

/// How often the passphrase of a keystore is hashed for each part of one that is written.
const HASHES: u32 = 50_000;

impl Keystore {
    /// An empty one.
    #[must_use]
    pub fn new() -> Keystore {
        Keystore::default()
    }

    /// The keystore that these bytes are.
    ///
    /// # Errors
    /// If the passphrase is wrong, or it is none.
    pub fn read(bytes: &[u8], passphrase: &str) -> Result<Keystore> {
        is_of_a_known_type(bytes)?;
        is_affordable(bytes)?;
        let unreadable = |error: p12_keystore::error::Error| match error {
            p12_keystore::error::Error::MacError(_) => {
                Error::NoKey("the keystore's passphrase is another one".to_owned())
            }
            error => Error::NotOpenPgp(format!("a PKCS#12 keystore: {error}")),
        };
        let entries = KeyStore::from_pkcs12(bytes, passphrase, Pkcs12ImportPolicy::Relaxed);
        Ok(Keystore { entries: entries.map_err(unreadable)?, is_partial: false })
    }

    /// The same, to be changed and written again.
    ///
    /// # Errors
    /// If the passphrase is wrong, or it is none.
    pub fn read_to_change(bytes: &[u8], passphrase: &str) -> Result<Keystore> {
        let read = Keystore::read(bytes, passphrase)?;
        let all = Pkcs12Archive::from_pkcs12(bytes, passphrase).map_err(unwritable)?;
        Ok(Keystore { is_partial: loses_something(&read.entries, &all), ..read })
    }

    /// What it holds; `lock_with` locks the secret keys.
    ///
    /// # Errors
    /// If there is nothing, or something that cannot be used.
    pub fn foreign(&self, lock_with: Option<&Password>) -> Result<Vec<Foreign>> {
        let mut found = Vec::new();
        let mut own = Vec::new();
        for (alias, entry) in self.entries.entries() {
            match entry {
                KeyStoreEntry::Certificate(one) => found.push(X509::from_der(one.as_der())?),
                // The first one is the key's own; the others are of those who issued it.
                KeyStoreEntry::PrivateKeyChain(chain) => {
                    let Some(one) = chain.certs().first() else { continue };
                    own.push((alias, X509::from_der(one.as_der())?, chain.key().as_der()));
                }
                KeyStoreEntry::Secret(_) => {}
            }
        }
        let certificates: Vec<X509> = own.iter().map(|(_, one, _)| one.clone()).collect();
        let mut all = Foreign::of(&found);
        for one in &mut all {
            one.alias = self.alias_of(&one.certificate).map(str::to_owned);
        }
        for mut group in X509::gathered(&certificates) {
            let parts = group.split_off(1);
            let Some(certificate) = group.pop() else { continue };
            let entry = |one: &X509| own.iter().find(|(_, other, _)| other.der() == one.der());
            let Some((alias, _, pkcs8)) = entry(&certificate) else { continue };
            let part = parts.first().and_then(|part| Some((part, entry(part)?.2)));
            let key = Some(secret_key(&certificate, pkcs8, part, lock_with)?);
            all.push(Foreign { alias: Some((*alias).clone()), certificate, parts, key });
        }
        match all.is_empty() {
            true => Err(Error::NotOpenPgp("the keystore holds no certificate".to_owned())),
            false => Ok(all),
        }
    }

    fn alias_of(&self, certificate: &X509) -> Option<&str> {
        let mut named = self.entries.entries().filter(|(_, entry)| match entry {
            KeyStoreEntry::Certificate(one) => one.as_der() == certificate.der(),
            _ => false,
        });
        named.next().map(|(alias, _)| alias.as_str())
    }

    /// Puts a secret key in, with its certificates: its own first, then those of its parts, which
    /// get entries of their own.
    ///
    /// # Errors
    /// If the alias is taken, no passphrase unlocks the key, or a certificate is of another key.
    pub fn add(
        &mut self,
        alias: &str,
        key: &Tsk,
        passphrases: &[Password],
        certificates: &[X509],
    ) -> Result<()> {
        let open = change_passphrase(key, passphrases, None)?;
        let key = open.key();
        let mut bodies = vec![Zeroizing::new(key.primary_key.to_bytes()?)];
        for part in &key.secret_subkeys {
            bodies.push(Zeroizing::new(part.key.to_bytes()?));
        }
        let foreign = |one: &X509| {
            let what = format!("the certificate {} is of another key", one.fingerprint());
            Error::UnfitKey(what)
        };
        let own = certificates.first().map(X509::der);
        for (place, certificate) in certificates.iter().enumerate() {
            let ending = if place == 0 { "" } else { DECRYPTING };
            let alias = format!("{alias}{ending}");
            if self.entries.entry(&alias).is_some() {
                let what = format!("the keystore has an entry {alias} already; delete it first");
                return Err(Error::Name(what));
            }
            let public = certificate.public();
            let secret = bodies.iter().find_map(|body| secret_of(public, body));
            let pkcs8 = secret.and_then(|secret| pkcs8::write(public, &secret));
            let pkcs8 = pkcs8.ok_or_else(|| foreign(certificate))?;
            let issuer = own.filter(|_| place > 0);
            let chain = std::iter::once(certificate.der()).chain(issuer);
            let chain: std::result::Result<Vec<_>, _> = chain.map(Certificate::from_der).collect();
            let chain = chain.map_err(unwritable)?;
            let key = PrivateKey::from_der(&pkcs8).map_err(unwritable)?;
            let id = certificate.packets()[1].fingerprint().as_bytes().to_vec();
            let chain = PrivateKeyChain::new(id, key, chain);
            self.entries.add_entry(&alias, KeyStoreEntry::PrivateKeyChain(chain));
        }
        Ok(())
    }

    /// Removes a key with its parts, or a certificate, by the fingerprint; whether it was there.
    pub fn remove(&mut self, fingerprint: &str) -> bool {
        let own = |entry: &KeyStoreEntry| {
            let der = match entry {
                KeyStoreEntry::Certificate(one) => one.as_der(),
                KeyStoreEntry::PrivateKeyChain(chain) => chain.certs().first()?.as_der(),
                KeyStoreEntry::Secret(_) => return None,
            };
            X509::from_der(der).ok()
        };
        let all =
            self.entries.entries().filter_map(|(alias, one)| Some((alias.clone(), own(one)?)));
        let all: Vec<(String, X509)> = all.collect();
        let is_gone = |one: &X509| one.fingerprint() == fingerprint;
        let gone: Vec<&X509> = all.iter().map(|(_, one)| one).filter(|one| is_gone(one)).collect();
        for (alias, one) in &all {
            if is_gone(one) || gone.iter().any(|other| one.is_part_of(other)) {
                self.entries.delete_entry(alias);
            }
        }
        !gone.is_empty()
    }

    /// The keystore, sealed by the passphrase.
    ///
    /// # Errors
    /// If it held something that would be lost (5).
    pub fn write(&self, passphrase: &str) -> Result<Zeroizing<Vec<u8>>> {
        if self.is_partial {
            let what = "the keystore holds keys or certificates that stand for themselves, and \
                        that would be lost; it is not changed";
            return Err(Error::Unsupported(what.to_owned()));
        }
        let writer = self.entries.writer(passphrase);
        let writer = writer.encryption_iterations(HASHES).mac_iterations(HASHES);
        writer.write().map(Zeroizing::new).map_err(unwritable)
    }
}

fn unwritable(error: impl std::fmt::Display) -> Error {
    Error::Unsupported(format!("a PKCS#12 keystore cannot hold that: {error}"))
}

/// Whether something of an archive is in none of the entries (5).
fn loses_something(entries: &KeyStore, all: &Pkcs12Archive) -> bool {
    let mut keys = 0;
    let mut certificates = BTreeSet::new();
    for (_, entry) in entries.entries() {
        match entry {
            KeyStoreEntry::Certificate(one) => {
                certificates.insert(one.as_der());
            }
            KeyStoreEntry::PrivateKeyChain(chain) => {
                keys += 1;
                certificates.extend(chain.certs().iter().map(Certificate::as_der));
            }
            KeyStoreEntry::Secret(_) => {}
        }
    }
    keys < all.keys.len() || all.certs.iter().any(|one| !certificates.contains(one.cert.as_der()))
}

/// What a keystore of type PKCS#12 holds; `lock_with` locks the secret keys.
///
/// # Errors
/// If the passphrase is wrong, or something in it cannot be used.
pub fn read_pkcs12(
    bytes: &[u8],
    passphrase: &str,
    lock_with: Option<&Password>,
) -> Result<Vec<Foreign>> {
    Keystore::read(bytes, passphrase)?.foreign(lock_with)
}

/// What a key file in PEM holds: certificates, and the secret key of the first one.
///
/// # Errors
/// If there is no certificate, or something in it cannot be used.
pub fn read_pem(bytes: &[u8], lock_with: Option<&Password>) -> Result<Vec<Foreign>> {
    let mut found = Foreign::of(&X509::read(bytes)?);
    for part in Pem::iter_from_buffer(bytes).flatten() {
        let (label, contents) = (part.label, Zeroizing::new(part.contents));
        match (label.as_str(), found.first_mut()) {
            ("PRIVATE KEY", Some(first)) => {
                first.key = Some(secret_key(&first.certificate, &contents, None, lock_with)?);
            }
            ("ENCRYPTED PRIVATE KEY" | "RSA PRIVATE KEY" | "EC PRIVATE KEY", _) => {
                let what = format!(
                    "a key file with \"{label}\" is not read; put it into a keystore: \
                     openssl pkcs12 -export -in FILE -out KEYS.p12"
                );
                return Err(Error::Unsupported(what));
            }
            _ => {}
        }
    }
    Ok(found)
}

/// Whether these bytes hold a certificate in PEM.
pub(crate) fn is_pem(bytes: &[u8]) -> bool {
    holds(bytes, b"-----BEGIN CERTIFICATE-----")
}

/// Whether these bytes are a key file in PEM with a secret key in it. Such of OpenPGP say "BLOCK".
#[must_use]
pub fn has_secret_key(bytes: &[u8]) -> bool {
    holds(bytes, b"PRIVATE KEY-----\n") || holds(bytes, b"PRIVATE KEY-----\r")
}

fn holds(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).take(1 << 20).any(|window| window == text)
}

/// The key of PKCS#8 as a key of OpenPGP, with its part if it has one of its own (1, 2).
fn secret_key(
    certificate: &X509,
    pkcs8: &[u8],
    part: Option<(&X509, &[u8])>,
    lock_with: Option<&Password>,
) -> Result<Tsk> {
    let public = certificate.public();
    if !public.abilities().0 {
        let what = "signs nothing, and stands alone; a key of OpenPGP has to sign";
        return Err(Error::UnfitKey(format!("the key of {} {what}", certificate.user())));
    }
    let secret = numbers(certificate, pkcs8)?;
    let (from, until) = certificate.validity();
    let primary = public.secret_packet(from, &secret)?;
    // A key on a curve of NIST's that does both has a packet for each.
    let is_both = matches!(public, Public::Nist { .. }) && certificate.encrypts();
    let part = match part {
        Some((of_part, pkcs8)) => {
            let secret = numbers(of_part, pkcs8)?;
            Some(of_part.public().secret_part(of_part.validity().0, &secret)?)
        }
        None if is_both => Some(public.secret_part(from, &secret)?),
        None => None,
    };
    let identity = Identity {
        user: certificate.user(),
        until: Some(until).filter(|until| *until < u32::MAX),
        signs: certificate.signs(),
        encrypts: certificate.encrypts(),
    };
    let public_part = part.as_ref().map(|part| part.public_key());
    let (details, of_part) = bind(&primary, certificate.primary(), public_part, &identity)?;
    let parts = part.map(|part| SignedSecretSubKey::new(part, of_part)).into_iter().collect();
    let mut key = SignedSecretKey::new(primary, details, Vec::new(), parts);
    if let Some(passphrase) = lock_with {
        lock(&mut key, passphrase)?;
    }
    Ok(Tsk::from(key))
}

fn numbers(certificate: &X509, pkcs8: &[u8]) -> Result<Secret> {
    pkcs8::read(certificate.public(), pkcs8).ok_or_else(|| {
        let what = "its secret key is not of the form that PKCS#8 gives keys of its kind";
        Error::NotOpenPgp(format!("{}: {what}", certificate.user()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::der::{INTEGER, OCTETS, SEQUENCE};

    #[test]
    fn a_keystore_that_asks_for_too_much_hashing_is_refused_before_any() {
        // What a sum over a keystore says: a salt, and how often.
        let asks = |times: [u8; 4]| {
            let [a, b, c, d] = times;
            [SEQUENCE, 9, OCTETS, 1, 7, INTEGER, 4, a, b, c, d]
        };
        let error_of =
            |bytes: &[u8]| read_pkcs12(bytes, "x", None).err().map(|error| error.to_string());
        let often = error_of(&asks([0, 0x0f, 0x42, 0x41])).unwrap_or_default();
        assert!(often.contains("1000001 times; at most 1000000 are done"), "{often}");
        let endless = error_of(&asks([0xff, 0, 0, 0])).unwrap_or_default();
        assert!(endless.contains("without end"), "{endless}");
        let many = asks([0, 0x0f, 0x42, 0x40]).repeat(21);
        let many = error_of(&many).unwrap_or_default();
        assert!(many.contains("21000000 times; at most 20000000 are done"), "{many}");
        let few = error_of(&asks([0, 0, 7, 0xd0])).unwrap_or_default();
        assert!(few.contains("a PKCS#12 keystore: "), "{few}");
    }
}
