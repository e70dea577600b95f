//! Keys whose private halves are in tokens (PKCS#11): what they sign and open is signed and opened
//! there.
//!
//! 1. A certificate and the places of its private halves are all that is here; no private number
//!    ever is.
//! 2. A PIN is asked for when it is first needed, and tried once: tokens count wrong ones. It is
//!    wiped with the [`Tokens`].
//! 3. Only pairs whose token lets them do so sign, or are encrypted to.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use pgp::composed::{SignedPublicKey, SignedPublicSubKey};
use pgp::crypto::ecdh::derive_session_key;
use pgp::crypto::hash::HashAlgorithm;
use pgp::crypto::public_key::PublicKeyAlgorithm;
use pgp::packet::{PublicKeyEncryptedSessionKey, RevocationCode};
use pgp::types::{
    EcdhPublicParams, Fingerprint, KeyDetails, KeyId, KeyVersion, Mpi, Password, PkeskBytes,
    PkeskVersion, PublicParams, SignatureBytes, SigningKey, Timestamp,
};
use rpgpie::certificate::Certificate;
use rpgpie::key::ComponentKeyPub;
use seal::{Passphrase, TokenFault, TokenPlace};
use seam::sync::Mutex;
use token::{Pair, PairKind, Pkcs11, PublicHalf};
use zeroize::Zeroizing;

use crate::adopt::{Identity, bind};
use crate::error::{Error, Result};
use crate::expiry::{NewEnd, from_now, wait_for_a_later_second};
use crate::keys::{Algorithm, certified, revocation, with_revocation};
use crate::material::{Curve, Public, Use};
use crate::session_key::SessionKey;
use crate::sign::Signer;
use crate::validity::Checked;

/// Asks for the PIN of the token of that label.
pub type AskPin = Box<dyn Fn(&str) -> Result<Passphrase> + Send + Sync>;

/// The way to tokens: their library, and their PINs as far as they have been asked for (2).
pub struct Tokens {
    driver: Option<Pkcs11>,
    ask: AskPin,
    pins: Mutex<Vec<(String, Passphrase)>>,
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tokens")
    }
}

impl Tokens {
    /// The tokens behind a library, if one is named; it is loaded when one is first needed.
    #[must_use]
    pub fn new(module: Option<&Path>, ask: AskPin) -> Tokens {
        let driver = module.map(Pkcs11::new);
        Tokens { driver, ask, pins: Mutex::default() }
    }

    fn pin(&self, token: &str) -> Result<Passphrase> {
        let mut pins = self.pins.lock();
        if let Some((_, pin)) = pins.iter().find(|(known, _)| known == token) {
            return Ok(pin.clone());
        }
        let pin = (self.ask)(token)?;
        pins.push((token.to_owned(), pin.clone()));
        Ok(pin)
    }

    /// Asks something of the token.
    fn request<T>(
        &self,
        place: &TokenPlace,
        work: impl FnOnce(&Pkcs11, &Passphrase) -> std::result::Result<T, TokenFault>,
    ) -> Result<T> {
        let failed = |fault| Error::Token { place: place.clone(), fault };
        if !place.is_valid() {
            let what = "labels in tokens have 1 to 64 bytes, and no control characters";
            return Err(Error::Usage(what.to_owned()));
        }
        let driver = self.driver.as_ref().ok_or(TokenFault::NoDriver).map_err(failed)?;
        work(driver, &self.pin(&place.token)?).map_err(failed)
    }
}

/// How a key is to be put into a token, or found there.
pub struct NewTokenKey<'a> {
    /// The token and the label of its key there.
    pub place: TokenPlace,
    /// What it is made of; without, the key of that label is used, which is there already.
    pub make: Option<Algorithm>,
    /// Who it belongs to.
    pub user: &'a str,
    /// After how many seconds it expires.
    pub lifetime_s: Option<u32>,
}

/// What stands behind a key's label for the pair that opens what is encrypted to it.
pub(crate) const DECRYPTING: &str = ".decrypt";

impl NewTokenKey<'_> {
    /// Makes the pairs in the token, or finds the one that is there, and a certificate of it.
    ///
    /// # Errors
    /// If the token refuses, or its key is of a kind that OpenPGP has not.
    pub fn obtain(&self, tokens: &Arc<Tokens>) -> Result<TokenKey> {
        let place = &self.place;
        let Some(algorithm) = self.make else {
            let pair = tokens.request(place, |driver, pin| driver.pair(pin, place))?;
            return self.adopt(tokens, &pair, None);
        };
        let kind = pair_kind(algorithm)?;
        let other = TokenPlace { key: format!("{}{DECRYPTING}", place.key), ..place.clone() };
        for (place, to_sign) in [(&other, false), (place, true)] {
            tokens.request(place, |driver, pin| driver.make_pair(pin, place, &kind, to_sign))?;
        }
        let of = |place| tokens.request(place, |driver, pin| driver.pair(pin, place));
        self.adopt(tokens, &of(place)?, Some((&other, &of(&other)?)))
    }

    /// A certificate for a pair, and for the one beside it that decrypts (3).
    fn adopt(
        &self,
        tokens: &Arc<Tokens>,
        pair: &Pair,
        other: Option<(&TokenPlace, &Pair)>,
    ) -> Result<TokenKey> {
        let (place, now) = (&self.place, Timestamp::now().as_secs());
        if !pair.signs {
            let what = format!("{place} may not sign, which a key of OpenPGP has to");
            return Err(Error::UnfitKey(what));
        }
        let numbers = public_of(&pair.public)?;
        let primary = numbers.packet(now, Use::Sign)?;
        // A pair on a curve that signs and agrees has a packet for each.
        let part = match (other, &numbers) {
            (Some((place, pair)), _) => Some((place, public_of(&pair.public)?.part(now)?)),
            (None, Public::Nist { .. }) if pair.decrypts => Some((place, numbers.part(now)?)),
            (None, _) => None,
        };
        let signer = TokenKeyPart {
            tokens: Arc::clone(tokens),
            place: place.clone(),
            public: ComponentKeyPub::Primary(primary.clone()),
        };
        let identity = Identity {
            user: self.user,
            until: self.lifetime_s.map(|lifetime| now.saturating_add(lifetime)),
            signs: true,
            encrypts: pair.decrypts || part.is_some(),
        };
        let public_part = part.as_ref().map(|(_, part)| part);
        let (details, of_part) = bind(&signer, &primary, public_part, &identity)?;
        let mut places = vec![(primary.fingerprint().to_string(), place.clone())];
        let mut parts = Vec::new();
        if let Some((place, part)) = part {
            places.push((part.fingerprint().to_string(), place.clone()));
            parts.push(SignedPublicSubKey::new(part, of_part));
        }
        let certificate = Certificate::from(SignedPublicKey::new(primary, details, parts));
        Ok(TokenKey { certificate, places: Places(places), tokens: Arc::clone(tokens) })
    }
}

fn pair_kind(algorithm: Algorithm) -> Result<PairKind> {
    let curve = |curve: Curve| Ok(PairKind::Curve(curve.name().to_vec()));
    match algorithm {
        Algorithm::Rsa(bits @ 2048..=8192) => Ok(PairKind::Rsa(bits)),
        Algorithm::Nist(256) => curve(Curve::P256),
        Algorithm::Nist(384) => curve(Curve::P384),
        Algorithm::Nist(521) => curve(Curve::P521),
        _ => {
            let what = "keys in tokens are of RSA, or on a curve of NIST's; say which";
            Err(Error::Usage(what.to_owned()))
        }
    }
}

fn public_of(public: &PublicHalf) -> Result<Public> {
    match public {
        PublicHalf::Rsa { n, e } => Ok(Public::Rsa { n: n.clone(), e: e.clone() }),
        PublicHalf::Curve { curve, point } => {
            let unknown = || Error::UnfitKey("its curve is none of P-256, P-384, P-521".to_owned());
            let curve = Curve::named(curve).ok_or_else(unknown)?;
            Ok(Public::Nist { curve, point: point.clone() })
        }
    }
}

/// Where the private halves of a certificate's keys are: by fingerprint.
///
/// As text a line for each: fingerprint, label of the token, label of the key, tabs between.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places(Vec<(String, TokenPlace)>);

impl Places {
    pub(crate) fn parse(text: &str) -> Result<Places> {
        let line = |line: &str| {
            let mut words = line.split('\t').map(str::to_owned);
            let (print, token, key) = (words.next()?, words.next()?, words.next()?);
            let place = TokenPlace { token, key };
            (words.next().is_none() && place.is_valid()).then_some((print, place))
        };
        let places: Option<Vec<_>> = text.lines().map(line).collect();
        let wrong = || Error::NotOpenPgp("it does not say which keys of which tokens".to_owned());
        Ok(Places(places.filter(|all| !all.is_empty()).ok_or_else(wrong)?))
    }

    pub(crate) fn text(&self) -> String {
        let line = |(print, place): &(String, TokenPlace)| {
            format!("{print}\t{}\t{}\n", place.token, place.key)
        };
        self.0.iter().map(line).collect()
    }

    /// The label of the token.
    pub(crate) fn token(&self) -> &str {
        self.0.first().map_or("", |(_, place)| &place.token)
    }

    fn of(&self, print: &Fingerprint) -> Option<&TokenPlace> {
        let print = print.to_string();
        self.0.iter().find(|(known, _)| *known == print).map(|(_, place)| place)
    }
}

/// A key whose private halves are in a token.
#[derive(Clone, Debug)]
pub struct TokenKey {
    pub(crate) certificate: Certificate,
    pub(crate) places: Places,
    pub(crate) tokens: Arc<Tokens>,
}

impl TokenKey {
    /// The certificate: what others may have.
    #[must_use]
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// The parts that may sign now.
    ///
    /// # Errors
    /// If none may.
    pub fn signers(&self) -> Result<Vec<Signer>> {
        let checked = Checked::new(self.certificate.clone());
        let may = checked.signing_keys_at(Timestamp::now());
        let may: Vec<_> = may.iter().map(KeyDetails::fingerprint).collect();
        let keys = self.keys().filter(|key| may.contains(&key.fingerprint()));
        let signers: Vec<Signer> = keys.map(Signer::from_key).collect();
        let name = self.certificate.fingerprint();
        let none = || Error::UnfitKey(format!("no part of key {name} may sign now"));
        (!signers.is_empty()).then_some(signers).ok_or_else(none)
    }

    /// The key that speaks for the certificate.
    ///
    /// # Errors
    /// If it is not known where it is.
    pub(crate) fn primary(&self) -> Result<TokenKeyPart> {
        let name = self.certificate.fingerprint();
        let gone = || Error::UnfitKey(format!("it is not known which token has key {name}"));
        self.keys().find(|key| key.fingerprint() == name).ok_or_else(gone)
    }

    /// The certificate with its revocation in it, signed in the token.
    ///
    /// # Errors
    /// If the token refuses.
    pub fn revoke(&self, code: RevocationCode, why: &str) -> Result<Certificate> {
        let certificate = self.certificate.clone();
        let public = SignedPublicKey::from(certificate.clone()).primary_key;
        let made = revocation(&self.primary()?, &Password::empty(), &public, code, why)?;
        Ok(with_revocation(certificate, made))
    }

    /// The certificate with another end: so many seconds from now, or never.
    ///
    /// # Errors
    /// If the token refuses.
    pub fn expire(&self, lifetime_s: Option<u32>) -> Result<Certificate> {
        let mut inner = SignedPublicKey::from(self.certificate.clone());
        wait_for_a_later_second(&inner.details);
        let (signer, passphrase) = (&self.primary()?, &Password::empty());
        let (public, until) = (&inner.primary_key.clone(), from_now(lifetime_s));
        let end = NewEnd { signer, passphrase, public, until };
        let before = end.of_key(&mut inner.details)?;
        for part in &mut inner.public_subkeys {
            end.of_part(&part.key, &mut part.signatures, before)?;
        }
        Ok(Certificate::from(inner))
    }

    /// Another certificate, with this key's word that the user id belongs to it.
    ///
    /// # Errors
    /// If the token refuses, or the certificate has no such user id.
    pub fn certify(&self, certificate: Certificate, user: &str) -> Result<Certificate> {
        certified(&self.primary()?, &Password::empty(), certificate, user)
    }

    /// Its keys.
    pub(crate) fn keys(&self) -> impl Iterator<Item = TokenKeyPart> {
        let inner = SignedPublicKey::from(self.certificate.clone());
        let parts = inner.public_subkeys.into_iter().map(|part| ComponentKeyPub::Subkey(part.key));
        let all = std::iter::once(ComponentKeyPub::Primary(inner.primary_key)).chain(parts);
        all.filter_map(|public| {
            let place = self.places.of(&public.fingerprint())?.clone();
            Some(TokenKeyPart { tokens: Arc::clone(&self.tokens), place, public })
        })
    }
}

/// One key whose private half is in a token.
#[derive(Clone, Debug)]
pub(crate) struct TokenKeyPart {
    tokens: Arc<Tokens>,
    place: TokenPlace,
    public: ComponentKeyPub,
}

impl TokenKeyPart {
    /// The session key, if it was made for this key.
    pub(crate) fn open(&self, esk: &PublicKeyEncryptedSessionKey) -> Result<Option<SessionKey>> {
        let Ok(values) = esk.values() else { return Ok(None) };
        let clear = match (values, self.public.public_params()) {
            (PkeskBytes::Rsa { mpi }, PublicParams::RSA(_)) => {
                self.ask(|driver, pin| driver.decrypt(pin, &self.place, mpi.as_ref()))?
            }
            (
                PkeskBytes::Ecdh { public_point, encrypted_session_key },
                PublicParams::ECDH(params),
            ) => self.agreed(params, public_point.as_ref(), encrypted_session_key)?,
            _ => None,
        };
        let is_v6 = esk.version() == PkeskVersion::V6;
        Ok(clear.and_then(|clear| session_key(&clear, is_v6)))
    }

    fn agreed(
        &self,
        params: &EcdhPublicParams,
        point: &[u8],
        wrapped: &[u8],
    ) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let (field, hash, cipher) = match params {
            EcdhPublicParams::P256 { hash, alg_sym, .. } => (32, *hash, *alg_sym),
            EcdhPublicParams::P384 { hash, alg_sym, .. } => (48, *hash, *alg_sym),
            EcdhPublicParams::P521 { hash, alg_sym, .. } => (66, *hash, *alg_sym),
            _ => return Ok(None),
        };
        // A point of another form or length is of another curve.
        if point.len() != 2 * field + 1 {
            return Ok(None);
        }
        let shared = self.ask(|driver, pin| driver.agree(pin, &self.place, point, field))?;
        let Some(shared) = shared else { return Ok(None) };
        // Some tokens leave leading zeros out.
        let mut whole = Zeroizing::new(vec![0; field.saturating_sub(shared.len())]);
        whole.extend_from_slice(&shared);
        let (curve, print) = (params.curve(), self.fingerprint());
        let length = wrapped.len();
        let print = print.as_bytes();
        Ok(derive_session_key(&whole, wrapped, length, curve, hash, cipher, print).ok())
    }

    /// What the token gives; nothing if what it was given was not for its key.
    fn ask<T>(
        &self,
        work: impl FnOnce(&Pkcs11, &Passphrase) -> std::result::Result<T, TokenFault>,
    ) -> Result<Option<T>> {
        match self.tokens.request(&self.place, work) {
            Ok(found) => Ok(Some(found)),
            Err(Error::Token { fault: TokenFault::Altered, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A session key with what stands around it: its cipher before it, but for version 6, and behind
/// it the sum of its bytes.
fn session_key(clear: &[u8], is_v6: bool) -> Option<SessionKey> {
    let (inside, sum) = clear.split_last_chunk::<2>()?;
    let (cipher, key) = match is_v6 {
        true => (0, inside),
        false => inside.split_first().map(|(cipher, key)| (*cipher, key))?,
    };
    let found = key.iter().fold(0_u16, |sum, byte| sum.wrapping_add(u16::from(*byte)));
    let is_whole = found == u16::from_be_bytes(*sum) && !key.is_empty();
    is_whole.then(|| SessionKey { cipher, key: Zeroizing::new(key.to_vec()) })
}

impl KeyDetails for TokenKeyPart {
    fn version(&self) -> KeyVersion {
        self.public.version()
    }

    fn legacy_key_id(&self) -> KeyId {
        self.public.legacy_key_id()
    }

    fn fingerprint(&self) -> Fingerprint {
        self.public.fingerprint()
    }

    fn algorithm(&self) -> PublicKeyAlgorithm {
        self.public.algorithm()
    }

    fn created_at(&self) -> Timestamp {
        self.public.created_at()
    }

    fn legacy_v3_expiration_days(&self) -> Option<u16> {
        self.public.legacy_v3_expiration_days()
    }

    fn public_params(&self) -> &PublicParams {
        self.public.public_params()
    }
}

impl SigningKey for TokenKeyPart {
    fn sign(
        &self,
        _: &Password,
        hash: HashAlgorithm,
        digest: &[u8],
    ) -> pgp::errors::Result<SignatureBytes> {
        let signed = |what: &[u8]| {
            let made =
                self.tokens.request(&self.place, |driver, pin| driver.sign(pin, &self.place, what));
            made.map_err(std::io::Error::from)
        };
        let numbers = match curve_bytes(self.public_params()) {
            None => {
                let info = [digest_head(hash).map_err(std::io::Error::from)?, digest].concat();
                vec![Mpi::from_slice(&signed(&info)?)]
            }
            Some(bytes) => {
                // Of a digest that is longer than the curve's numbers the front counts.
                let both = signed(&digest[..digest.len().min(bytes)])?;
                let (r, s) = both.split_at(both.len() / 2);
                vec![Mpi::from_slice(r), Mpi::from_slice(s)]
            }
        };
        Ok(SignatureBytes::Mpis(numbers))
    }

    fn hash_alg(&self) -> HashAlgorithm {
        match curve_bytes(self.public_params()) {
            Some(32) => HashAlgorithm::Sha256,
            Some(48) => HashAlgorithm::Sha384,
            _ => HashAlgorithm::Sha512,
        }
    }
}

/// How long the numbers of a curve are, if the key is on one.
fn curve_bytes(params: &PublicParams) -> Option<usize> {
    use pgp::types::EcdsaPublicParams::{P256, P384, P521};
    match params {
        PublicParams::ECDSA(P256 { .. }) => Some(32),
        PublicParams::ECDSA(P384 { .. }) => Some(48),
        PublicParams::ECDSA(P521 { .. }) => Some(66),
        _ => None,
    }
}

/// What stands before a digest in a DigestInfo (RFC 9580, 5.2.2).
fn digest_head(hash: HashAlgorithm) -> Result<&'static [u8]> {
    const SHA256: &[u8] =
        b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\0\x04\x20";
    const SHA384: &[u8] =
        b"\x30\x41\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x02\x05\0\x04\x30";
    const SHA512: &[u8] =
        b"\x30\x51\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03\x05\0\x04\x40";
    match hash {
        HashAlgorithm::Sha256 => Ok(SHA256),
        HashAlgorithm::Sha384 => Ok(SHA384),
        HashAlgorithm::Sha512 => Ok(SHA512),
        other => Err(Error::Unsupported(format!("tokens do not sign digests of {other:?} here"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_come_back_from_their_text_and_nothing_else_is_taken() {
        let place = |token: &str, key: &str| TokenPlace { token: token.into(), key: key.into() };
        let places = Places(vec![
            ("AB12".into(), place("BANK", "payroll key")),
            ("CD34".into(), place("BANK", "payroll key.decrypt")),
        ]);
        assert_eq!(Places::parse(&places.text()).unwrap(), places);
        for wrong in ["", "AB12", "AB12\tBANK", "AB12\tBANK\tkey\tmore", "AB12\t\tkey"] {
            assert!(Places::parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_session_key_is_taken_with_its_right_sum_only() {
        let clear = [9, 1, 2, 3, 0, 6];
        let found = session_key(&clear, false).unwrap();
        assert_eq!((found.cipher, &found.key[..]), (9, &[1, 2, 3][..]));
        assert!(session_key(&clear, true).is_none());
        assert!(session_key(&[9, 1, 2, 3, 0, 7], false).is_none());
        assert!(session_key(&[9, 0, 0], false).is_none());
        assert!(session_key(&[], false).is_none());
    }
}
