//! Secret keys with their X.509 certificates: Java keystores of type PKCS#12, and key files in PEM.
//!
//! 1. A secret key becomes an OpenPGP key under the name, and for the time, of its certificate.
//! 2. It comes out locked by the passphrase that is given, never unlocked by chance: without one it
//!    has none.
//! 3. Trusted certificates without a secret key come out as they are.
//! 4. A keystore says itself how often its passphrase is to be hashed; one that asks for more than
//!    `HASHES_MAX`, or `PART_MAX` for one part, is refused before any hashing. What only shows
//!    after decryption, its maker has encrypted under the passphrase; there each part is bounded.

use p12_keystore::{KeyStore, KeyStoreEntry, Pkcs12ImportPolicy};
use pgp::composed::{SignedSecretKey, SignedSecretSubKey};
use pgp::types::Password;
use rpgpie::tsk::Tsk;
use x509_parser::pem::Pem;
use zeroize::Zeroizing;

use crate::adopt::{Identity, bind};
use crate::der::{INTEGER, OCTETS, SEQUENCE, field, hashes};
use crate::error::{Error, Result};
use crate::keys::lock;
use crate::material::{Public, Secret};
use crate::x509::X509;

/// A key that came from elsewhere.
pub struct Foreign {
    /// What it was called there.
    pub alias: Option<String>,
    /// Its certificate.
    pub certificate: X509,
    /// The secret key, if it came along.
    pub key: Option<Tsk>,
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

/// What a keystore of type PKCS#12 holds; `lock_with` locks the secret keys.
///
/// # Errors
/// If the passphrase is wrong, or something in it cannot be used.
pub fn read_pkcs12(
    bytes: &[u8],
    passphrase: &str,
    lock_with: Option<&Password>,
) -> Result<Vec<Foreign>> {
    is_of_a_known_type(bytes)?;
    is_affordable(bytes)?;
    let unreadable = |error: p12_keystore::error::Error| match error {
        p12_keystore::error::Error::MacError(_) => {
            Error::NoKey("the keystore's passphrase is another one".to_owned())
        }
        error => Error::NotOpenPgp(format!("a PKCS#12 keystore: {error}")),
    };
    let store = KeyStore::from_pkcs12(bytes, passphrase, Pkcs12ImportPolicy::Relaxed);
    let store = store.map_err(unreadable)?;
    let mut found = Vec::new();
    for (alias, entry) in store.entries() {
        let alias = Some(alias.clone());
        match entry {
            KeyStoreEntry::Certificate(one) => {
                let certificate = X509::from_der(one.as_der())?;
                found.push(Foreign { alias, certificate, key: None });
            }
            KeyStoreEntry::PrivateKeyChain(chain) => {
                // The first one is the key's own; the others are of those who issued it.
                let Some(own) = chain.certs().first() else { continue };
                let certificate = X509::from_der(own.as_der())?;
                let key = Some(secret_key(&certificate, chain.key().as_der(), lock_with)?);
                found.push(Foreign { alias, certificate, key });
            }
            KeyStoreEntry::Secret(_) => {}
        }
    }
    match found.is_empty() {
        true => Err(Error::NotOpenPgp("the keystore holds no certificate".to_owned())),
        false => Ok(found),
    }
}

/// What a key file in PEM holds: certificates, and the secret key of the first one.
///
/// # Errors
/// If there is no certificate, or something in it cannot be used.
pub fn read_pem(bytes: &[u8], lock_with: Option<&Password>) -> Result<Vec<Foreign>> {
    let mut found: Vec<Foreign> = X509::read(bytes)?
        .into_iter()
        .map(|certificate| Foreign { alias: None, certificate, key: None })
        .collect();
    for part in Pem::iter_from_buffer(bytes).flatten() {
        let (label, contents) = (part.label, Zeroizing::new(part.contents));
        match (label.as_str(), found.first_mut()) {
            ("PRIVATE KEY", Some(first)) => {
                first.key = Some(secret_key(&first.certificate, &contents, lock_with)?);
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

/// Whether these bytes are a key file in PEM with a secret key in it.
#[must_use]
pub fn has_secret_key(bytes: &[u8]) -> bool {
    is_pem(bytes) && holds(bytes, b"PRIVATE KEY-----")
}

fn holds(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).take(1 << 20).any(|window| window == text)
}

/// The key of PKCS#8 as a key of OpenPGP (1, 2).
fn secret_key(certificate: &X509, pkcs8: &[u8], lock_with: Option<&Password>) -> Result<Tsk> {
    let secret = numbers(certificate.public(), pkcs8).ok_or_else(|| {
        let what = "its secret key is not of the form that PKCS#8 gives keys of its kind";
        Error::NotOpenPgp(format!("{}: {what}", certificate.user()))
    })?;
    let (from, until) = certificate.validity();
    let public = certificate.public();
    let primary = public.secret_packet(from, &secret)?;
    let is_rsa = matches!(public, Public::Rsa { .. });
    let part = (!is_rsa && certificate.encrypts()).then(|| public.secret_part(from, &secret));
    let part = part.transpose()?;
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

/// The secret numbers in a PrivateKeyInfo.
fn numbers(public: &Public, pkcs8: &[u8]) -> Option<Secret> {
    let (info, _) = field(pkcs8, SEQUENCE)?;
    let (_version, rest) = field(info, INTEGER)?;
    let (_algorithm, rest) = field(rest, SEQUENCE)?;
    let (inner, _) = field(rest, OCTETS)?;
    let (inner, _) = field(inner, SEQUENCE)?;
    let owned = |bytes: &[u8]| Zeroizing::new(bytes.to_vec());
    let (_version, mut rest) = field(inner, INTEGER)?;
    match public {
        Public::Rsa { .. } => {
            let mut next = || {
                let (number, behind) = field(rest, INTEGER)?;
                rest = behind;
                Some(number)
            };
            let (_n, _e) = (next()?, next()?);
            let (d, p, q) = (owned(next()?), owned(next()?), owned(next()?));
            let (_dp, _dq) = (next()?, next()?);
            Some(Secret::Rsa { d, p, q, coefficient: owned(next()?) })
        }
        Public::Nist { .. } => Some(Secret::Nist { scalar: owned(field(rest, OCTETS)?.0) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keystore_that_asks_for_too_much_hashing_is_refused_before_any() {
        // What a sum over a keystore says: a salt, and how often.
        let asks = |times: [u8; 4]| {
            let [a, b, c, d] = times;
            [SEQUENCE, 9, OCTETS, 1, 7, INTEGER, 4, a, b, c, d]
        };
        let told =
            |bytes: &[u8]| read_pkcs12(bytes, "x", None).err().map(|error| error.to_string());
        let often = told(&asks([0, 0x0f, 0x42, 0x41])).unwrap_or_default();
        assert!(often.contains("1000001 times; at most 1000000 are done"), "{often}");
        let endless = told(&asks([0xff, 0, 0, 0])).unwrap_or_default();
        assert!(endless.contains("without end"), "{endless}");
        let many = asks([0, 0x0f, 0x42, 0x40]).repeat(21);
        let many = told(&many).unwrap_or_default();
        assert!(many.contains("21000000 times; at most 20000000 are done"), "{many}");
        let few = told(&asks([0, 0, 7, 0xd0])).unwrap_or_default();
        assert!(few.contains("a PKCS#12 keystore: "), "{few}");
    }
}
