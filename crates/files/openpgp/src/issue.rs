//! Certificates of X.509 made for keys of OpenPGP.
//!
//! ```text
//! | certificate of  | signed by       | may                                             |
//! |-----------------|-----------------|-------------------------------------------------|
//! | the primary key | itself          | sign, issue those of its parts; of RSA that is  |
//! |                 |                 | encrypted to, encipher keys, too                |
//! | a part that is  | the primary key | encipher keys (RSA), or agree on them           |
//! | encrypted to    |                 |                                                 |
//! ```
//!
//! 1. "Not before" is the time of the key, so who makes a key of OpenPGP from the certificate
//!    gets the same fingerprint. What is made is read again, and compared.
//! 2. The key itself signs, wherever it is; what it signed is verified before it is given out.
//! 3. Keys of version 6, and those whose packets say what certificates cannot, have none.

use aws_lc_rs::signature::{self, Ed25519KeyPair, UnparsedPublicKey, VerificationAlgorithm};
use pgp::composed::{SignedPublicKey, SignedPublicSubKey};
use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{Signature, SignatureType};
use pgp::ser::Serialize as _;
use pgp::types::{KeyDetails, KeyVersion, Password, SignatureBytes, SigningKey, Timestamp};
use rand::RngCore as _;
use rpgpie::certificate::Certificate;
use rpgpie::tsk::Tsk;
use sha1::{Digest as _, Sha1};
use x509_parser::time::ASN1Time;
use zeroize::Zeroizing;

use crate::der::{BITS, BOOLEAN, INTEGER, NAME, NULL, OCTETS, SEQUENCE, put, put_number};
use crate::entropy::Random;
use crate::error::{Error, Result};
use crate::keys::{certificate_of, fitting};
use crate::material::{Curve, ED25519_NAME, Public, Secret};
use crate::pkcs8::padded;
use crate::subject::Subject;
use crate::token_keys::TokenKey;
use crate::validity::{Checked, end_by};
use crate::x509::X509;

/// What certificates of X.509 are to say.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewX509<'a> {
    /// Whom they name: `CN=Ada, O=Bank, C=DE`. Without, the one whom the primary user id names.
    pub subject: Option<&'a str>,
    /// When they end, in seconds since 1970; without, when the key does. Those of parts end no
    /// later than the parts.
    pub until: Option<u32>,
}

/// Tags, and the bits of a key's usage.
const VERSION: u8 = 0xA0;
const EXTENSIONS: u8 = 0xA3;
const TIME: u8 = 0x17;
const LONG_TIME: u8 = 0x18;
const KEY_ID: u8 = 0x80;
const SIGNS: u8 = 0x80;
const ENCIPHERS: u8 = 0x20;
const AGREES: u8 = 0x08;
const ISSUES: u8 = 0x04;
/// Names of signatures: RSA, and ECDSA without its last number, which says the hash.
const RSA_SHA256: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B];
const ECDSA: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03];

impl NewX509<'_> {
    /// Makes the certificates of a key: its own, then those of the parts that are encrypted to.
    ///
    /// # Errors
    /// If no passphrase unlocks the key, it is not valid now, or is of a kind without certificates.
    pub fn of(&self, key: &Tsk, passphrases: &[Password]) -> Result<Vec<X509>> {
        let none = Password::empty();
        let passphrase = fitting(key.key(), &none, passphrases)?;
        let primary = &key.key().primary_key;
        let seed = match Public::of(&primary.public_key().to_bytes()?) {
            Some((_, public @ Public::Ed25519 { .. }, _)) => {
                let mut open = primary.clone();
                open.remove_password(passphrase)?;
                secret_of(&public, &Zeroizing::new(open.to_bytes()?))
            }
            _ => None,
        };
        let sign = |public: &Public, what: &[u8]| match &seed {
            Some(Secret::Curve { scalar }) => sign_whole(scalar, what),
            _ => sign_digest(primary, passphrase, public, what),
        };
        self.make(&certificate_of(key), &sign)
    }

    /// The same of a key in a token, which signs there.
    ///
    /// # Errors
    /// If the token refuses, the key is not valid now, or is of a kind without certificates.
    pub fn of_token_key(&self, key: &TokenKey) -> Result<Vec<X509>> {
        let primary = key.primary()?;
        let sign =
            |public: &Public, what: &[u8]| sign_digest(&primary, &Password::empty(), public, what);
        self.make(key.certificate(), &sign)
    }

    fn make(&self, certificate: &Certificate, sign: &Sign<'_>) -> Result<Vec<X509>> {
        let now = Timestamp::now();
        let checked = Checked::new(certificate.clone());
        let name = certificate.fingerprint().to_string().to_uppercase();
        if !checked.is_valid_at(now) {
            return Err(Error::UnfitKey(format!("key {name} is not valid now")));
        }
        let subject = match (self.subject, checked.primary_user_id()) {
            (Some(text), _) => Subject::parse(text)?,
            (None, Some(user)) => Subject::of_user(&String::from_utf8_lossy(user.id.id()))?,
            (None, None) => {
                let what = format!("key {name} names nobody; say whom its certificate names");
                return Err(Error::Usage(what));
            }
        };
        let inner = SignedPublicKey::from(certificate.clone());
        let numbers = numbers_of(&inner.primary_key, &inner.primary_key.to_bytes()?)?;
        let end = checked.end_at(now);
        let issuer = Issuer { numbers, subject, sign };
        let until = self.until.map(u64::from).or(end);
        let signs = checked.signing_keys_at(now);
        let opens = checked.keys_to_encrypt_to();
        let opens: Vec<_> = opens.iter().map(KeyDetails::fingerprint).collect();
        let own = inner.primary_key.fingerprint();
        let signs = if signs.iter().any(|key| key.fingerprint() == own) { SIGNS } else { 0 };
        let enciphers = if opens.contains(&own) { ENCIPHERS } else { 0 };
        let mut all = vec![issuer.own(&inner.primary_key, ISSUES | signs | enciphers, until)?];
        for part in &inner.public_subkeys {
            if opens.contains(&part.key.fingerprint()) {
                all.push(issuer.part(part, until)?);
            }
        }
        Ok(all)
    }
}

/// Signs something as certificates want it.
type Sign<'a> = dyn Fn(&Public, &[u8]) -> Result<Vec<u8>> + 'a;

/// A key that issues certificates, its own first.
struct Issuer<'a> {
    numbers: (u32, Public),
    subject: Subject,
    sign: &'a Sign<'a>,
}

/// What one certificate says.
struct Statement<'a> {
    subject: &'a Subject,
    numbers: &'a (u32, Public),
    usage: u8,
    until: Option<u64>,
    is_own: bool,
}

impl Issuer<'_> {
    fn own(&self, key: &impl KeyDetails, usage: u8, until: Option<u64>) -> Result<X509> {
        let (subject, numbers) = (&self.subject, &self.numbers);
        let made = self.issue(&Statement { subject, numbers, usage, until, is_own: true })?;
        is_of(made, key)
    }

    fn part(&self, part: &SignedPublicSubKey, until: Option<u64>) -> Result<X509> {
        let numbers = numbers_of(&part.key, &part.key.to_bytes()?)?;
        let usage = if matches!(numbers.1, Public::Rsa { .. }) { ENCIPHERS } else { AGREES };
        let of_kind = |one: &&Signature| one.typ() == Some(SignatureType::SubkeyBinding);
        let newest = part.signatures.iter().filter(of_kind).max_by_key(|one| one.created());
        let end = newest.and_then(|newest| end_by(newest, &part.key));
        let until = [until, end].into_iter().flatten().min();
        let subject = self.subject.with_number(&part.key.legacy_key_id().to_string())?;
        let (subject, numbers) = (&subject, &numbers);
        let made = self.issue(&Statement { subject, numbers, usage, until, is_own: false })?;
        is_of(made, &part.key)
    }

    fn issue(&self, what: &Statement<'_>) -> Result<X509> {
        let public = &self.numbers.1;
        let mut serial = [0; 16];
        Random.fill_bytes(&mut serial);
        // Positive, and of the same length always.
        serial[0] = (serial[0] & 0x7F) | 0x40;
        let algorithm = signature_name(public);
        let until = what.until.and_then(|until| i64::try_from(until).ok()).unwrap_or(NEVER);
        let validity = put(SEQUENCE, &[&time(i64::from(what.numbers.0))?, &time(until)?]);
        let body = put(
            SEQUENCE,
            &[
                &put(VERSION, &[&put_number(&[2])]),
                &put(INTEGER, &[&serial]),
                &algorithm,
                &self.subject.der(),
                &validity,
                &what.subject.der(),
                &what.numbers.1.info(),
                &put(EXTENSIONS, &[&self.extensions(what)]),
            ],
        );
        let signed = (self.sign)(public, &body)?;
        let key = UnparsedPublicKey::new(verifier(public), public.bare());
        key.verify(&body, &signed).map_err(|_| {
            Error::UnfitKey("what the key has signed is not right; nothing was made".to_owned())
        })?;
        X509::from_der(&put(SEQUENCE, &[&body, &algorithm, &put(BITS, &[&[0], &signed])]))
    }

    fn extensions(&self, what: &Statement<'_>) -> Vec<u8> {
        let key_id = |public: &Public| Sha1::digest(public.bare());
        let unused = [u8::try_from(what.usage.trailing_zeros()).unwrap_or(0), what.usage];
        let limits = match what.is_own {
            true => put(SEQUENCE, &[&put(BOOLEAN, &[&[0xFF]]), &put_number(&[0])]),
            false => put(SEQUENCE, &[]),
        };
        let of_key = put(OCTETS, &[&key_id(&what.numbers.1)]);
        let of_issuer = put(SEQUENCE, &[&put(KEY_ID, &[&key_id(&self.numbers.1)])]);
        let mut all = vec![
            extension(19, true, &limits),
            extension(15, true, &put(BITS, &[&unused])),
            extension(14, false, &of_key),
            extension(35, false, &of_issuer),
        ];
        all.extend(what.subject.other_names().map(|names| extension(17, false, &names)));
        put(SEQUENCE, &all.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }
}

/// An extension of that number (RFC 5280, 4.2.1).
fn extension(number: u8, is_critical: bool, value: &[u8]) -> Vec<u8> {
    let critical = if is_critical { put(BOOLEAN, &[&[0xFF]]) } else { Vec::new() };
    let name = put(NAME, &[&[0x55, 0x1D, number]]);
    put(SEQUENCE, &[&name, &critical, &put(OCTETS, &[value])])
}

/// The last second that a certificate can name: it does not end (RFC 5280, 4.1.2.5).
const NEVER: i64 = 253_402_300_799;

fn time(second: i64) -> Result<Vec<u8>> {
    let wrong = |_| Error::Usage(format!("{second} is no second that a certificate can name"));
    let at = ASN1Time::from_timestamp(second).map_err(wrong)?.to_datetime();
    let month = u8::from(at.month());
    let rest = [month, at.day(), at.hour(), at.minute(), at.second()];
    let rest: String = rest.iter().map(|number| format!("{number:02}")).collect();
    Ok(match at.year() {
        year @ 1950..2050 => put(TIME, &[format!("{:02}{rest}Z", year % 100).as_bytes()]),
        year => put(LONG_TIME, &[format!("{year:04}{rest}Z").as_bytes()]),
    })
}

/// The time and numbers of a key that certificates have a form for (3).
fn numbers_of(key: &impl KeyDetails, body: &[u8]) -> Result<(u32, Public)> {
    let found = Public::of(body).map(|(made, public, _)| (made, public));
    found.ok_or_else(|| {
        let name = key.fingerprint().to_string().to_uppercase();
        let why = match key.version() {
            KeyVersion::V6 => "is of version 6, and would be another key after that",
            _ => "is neither RSA nor on P-256, P-384, P-521 or curve 25519",
        };
        Error::Unsupported(format!("no certificate of X.509 is made for {name}: it {why}"))
    })
}

/// The certificate, if it is of that key (1).
fn is_of(made: X509, key: &impl KeyDetails) -> Result<X509> {
    let print = key.fingerprint();
    if made.packets().iter().any(|packet| packet.fingerprint() == print) {
        return Ok(made);
    }
    let what = format!("a certificate of X.509 cannot say all that key {print} says of itself");
    Err(Error::Unsupported(what))
}

pub(crate) fn secret_of(public: &Public, body: &[u8]) -> Option<Secret> {
    let (_, found, behind) = Public::of(body)?;
    (found == *public).then(|| Secret::of(public, behind)).flatten()
}

/// Ed25519 signs what it is given, not a digest of it.
fn sign_whole(seed: &[u8], what: &[u8]) -> Result<Vec<u8>> {
    let unfit = || Error::UnfitKey("the secret key is not one of Ed25519".to_owned());
    let seed = padded(seed, 32).ok_or_else(unfit)?;
    let pair = Ed25519KeyPair::from_seed_unchecked(&seed).map_err(|_| unfit())?;
    Ok(pair.sign(what).as_ref().to_vec())
}

fn sign_digest(
    key: &impl SigningKey,
    passphrase: &Password,
    public: &Public,
    what: &[u8],
) -> Result<Vec<u8>> {
    let hash = hash_for(public);
    let digest = hash.digest(what).map_err(pgp::errors::Error::from)?;
    let SignatureBytes::Mpis(numbers) = key.sign(passphrase, hash, &digest)? else {
        return Err(Error::Unsupported("its signatures have no form in X.509".to_owned()));
    };
    match (public, &numbers[..]) {
        // A signature of RSA is as long as its key.
        (Public::Rsa { n, .. }, [one]) => {
            let length = n.len() - n.iter().take_while(|byte| **byte == 0).count();
            let whole = padded(one.as_ref(), length);
            Ok(whole
                .ok_or_else(|| Error::UnfitKey("its signature is too long".to_owned()))?
                .to_vec())
        }
        (_, [r, s]) => Ok(put(SEQUENCE, &[&put_number(r.as_ref()), &put_number(s.as_ref())])),
        _ => Err(Error::Unsupported("its signatures have no form in X.509".to_owned())),
    }
}

fn hash_for(public: &Public) -> HashAlgorithm {
    match public {
        Public::Nist { curve: Curve::P384, .. } => HashAlgorithm::Sha384,
        Public::Nist { curve: Curve::P521, .. } => HashAlgorithm::Sha512,
        _ => HashAlgorithm::Sha256,
    }
}

/// The name of the signatures of such a key, as certificates have it.
fn signature_name(public: &Public) -> Vec<u8> {
    match public {
        Public::Rsa { .. } => put(SEQUENCE, &[&put(NAME, &[RSA_SHA256]), &put(NULL, &[])]),
        Public::Nist { curve, .. } => {
            let number = match curve {
                Curve::P256 => 2,
                Curve::P384 => 3,
                Curve::P521 => 4,
            };
            put(SEQUENCE, &[&put(NAME, &[ECDSA, &[number]])])
        }
        _ => put(SEQUENCE, &[&put(NAME, &[ED25519_NAME])]),
    }
}

fn verifier(public: &Public) -> &'static dyn VerificationAlgorithm {
    match public {
        Public::Rsa { .. } => &signature::RSA_PKCS1_2048_8192_SHA256,
        Public::Nist { curve: Curve::P256, .. } => &signature::ECDSA_P256_SHA256_ASN1,
        Public::Nist { curve: Curve::P384, .. } => &signature::ECDSA_P384_SHA384_ASN1,
        Public::Nist { curve: Curve::P521, .. } => &signature::ECDSA_P521_SHA512_ASN1,
        _ => &signature::ED25519,
    }
}
