//! X.509 certificates: whom they name can be encrypted to.
//!
//! ```text
//! | of the certificate            | is                                                        |
//! |-------------------------------|-----------------------------------------------------------|
//! | public key (RSA, NIST curves, | a key packet of version 4; of 25519 in the older form     |
//! | curve 25519)                  |                                                           |
//! | not before                    | the packet's time, and so a part of its fingerprint       |
//! | not before, not after         | when it can be encrypted to                               |
//! | key usage                     | encipherment or agreement: encrypt; signature: sign;      |
//! |                               | without, both                                             |
//! | common name, e-mail address   | the user id `name <address>`; without, the whole subject  |
//! ```
//!
//! 1. No chain is followed: a user who puts a certificate into the ring trusts it, as with
//!    OpenPGP's.
//! 2. A user who has the secret key and imports it by the same certificate has the same
//!    fingerprint.
//! 3. A certificate that is for encryption only, beside one of the same user that has issued it, is
//!    of a part of that one's key.

use pgp::packet::PublicKey;
use pgp::types::KeyDetails as _;
use rpgpie::key::ComponentKeyPub;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::pem::Pem;
use x509_parser::prelude::FromDer as _;
use x509_parser::public_key::PublicKey as Numbers;

use crate::der::SEQUENCE;
use crate::error::{Error, Result};
use crate::material::{Curve, ED25519_NAME, Public, Use, X25519_NAME};

/// A certificate by X.509.
#[derive(Clone, Debug)]
pub struct X509 {
    der: Vec<u8>,
    subject: Vec<u8>,
    issuer: Vec<u8>,
    /// How it names its key, and that of its issuer.
    key_ids: (Option<Vec<u8>>, Option<Vec<u8>>),
    user: String,
    from: u32,
    until: u32,
    public: Public,
    primary: PublicKey,
    encrypting: PublicKey,
    signs: bool,
    encrypts: bool,
}

impl X509 {
    /// The certificates that these bytes hold, any number: in DER, one behind the other, or PEM.
    ///
    /// # Errors
    /// If there is none, or one is of a kind that cannot be used.
    pub fn read(bytes: &[u8]) -> Result<Vec<X509>> {
        let mut found = Vec::new();
        if bytes.first() == Some(&SEQUENCE) {
            let mut rest = bytes;
            while !rest.is_empty() {
                let (certificate, behind) = X509::first(rest)?;
                found.push(certificate);
                rest = behind;
            }
            return Ok(found);
        }
        for part in Pem::iter_from_buffer(bytes) {
            let part = part.map_err(|error| Error::NotOpenPgp(format!("PEM: {error}")))?;
            if part.label == "CERTIFICATE" {
                found.push(X509::from_der(&part.contents)?);
            }
        }
        match found.is_empty() {
            true => {
                let what =
                    "there is a secret key without its certificate of X.509 in it, or neither";
                Err(Error::NotOpenPgp(what.to_owned()))
            }
            false => Ok(found),
        }
    }

    /// The certificate in DER.
    ///
    /// # Errors
    /// If it is none, or of a kind that cannot be used.
    pub fn from_der(der: &[u8]) -> Result<X509> {
        match X509::first(der)? {
            (certificate, []) => Ok(certificate),
            _ => Err(wrong("something follows it")),
        }
    }

    /// The first certificate in DER, and what is behind it.
    fn first(bytes: &[u8]) -> Result<(X509, &[u8])> {
        let (rest, certificate) = X509Certificate::from_der(bytes).map_err(wrong)?;
        let der = &bytes[..bytes.len() - rest.len()];
        let validity = certificate.validity();
        let seconds =
            |at: i64| u32::try_from(at).map_err(|_| wrong("its time is not of 1970 to 2106"));
        let from = seconds(validity.not_before.timestamp())?;
        // One that never ends names the year 9999.
        let until = validity.not_after.timestamp();
        let until = u32::try_from(until.clamp(0, i64::from(u32::MAX))).unwrap_or(u32::MAX);
        let public = numbers(&certificate)?;
        let usage = certificate.key_usage().map_err(wrong)?;
        let (signs, encrypts) = usage.map_or((true, true), |usage| {
            let usage = usage.value;
            let encrypts =
                usage.key_encipherment() || usage.data_encipherment() || usage.key_agreement();
            (usage.digital_signature() || usage.non_repudiation(), encrypts)
        });
        let (can_sign, can_encrypt) = public.abilities();
        let read = X509 {
            der: der.to_vec(),
            subject: certificate.subject().as_raw().to_vec(),
            issuer: certificate.issuer().as_raw().to_vec(),
            key_ids: key_ids(&certificate),
            user: user_of(&certificate),
            from,
            until,
            primary: public.packet(from, Use::Sign)?,
            encrypting: public.packet(from, Use::Encrypt)?,
            public,
            signs: signs && can_sign,
            encrypts: encrypts && can_encrypt,
        };
        Ok((read, rest))
    }

    /// Whether it is of a part of the key whose certificate that is (3).
    #[must_use]
    pub fn is_part_of(&self, other: &X509) -> bool {
        let is_for_that = self.encrypts && !self.signs && other.signs;
        // Several keys of one user have the same name.
        let is_by = match (&self.key_ids.1, &other.key_ids.0) {
            (Some(issuer), Some(key)) => issuer == key,
            _ => true,
        };
        is_for_that && is_by && self.issuer == other.subject && self.user == other.user
    }

    /// Certificates of one key each, followed by those of its parts.
    pub(crate) fn gathered(all: &[X509]) -> Vec<Vec<X509>> {
        let is_part = |one: &X509| all.iter().any(|other| one.is_part_of(other));
        let (parts, own): (Vec<_>, Vec<_>) = all.iter().cloned().partition(is_part);
        let mut groups: Vec<Vec<X509>> = own.into_iter().map(|one| vec![one]).collect();
        for part in parts {
            if let Some(group) = groups.iter_mut().find(|group| part.is_part_of(&group[0])) {
                group.push(part);
            }
        }
        groups
    }

    /// The certificate in DER, as it came.
    #[must_use]
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// The certificate in PEM.
    #[must_use]
    pub fn pem(&self) -> String {
        use base64::Engine as _;
        let text = base64::engine::general_purpose::STANDARD.encode(&self.der);
        let mut pem = "-----BEGIN CERTIFICATE-----\n".to_owned();
        for line in text.as_bytes().chunks(64) {
            pem += &String::from_utf8_lossy(line);
            pem.push('\n');
        }
        pem + "-----END CERTIFICATE-----\n"
    }

    /// The fingerprint of its key as a key of OpenPGP, in hexadecimal.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        self.primary.fingerprint().to_string().to_uppercase()
    }

    /// Whom it names, as a user id.
    #[must_use]
    pub fn user(&self) -> &str {
        &self.user
    }

    /// From when to when it is valid, in seconds since 1970.
    #[must_use]
    pub fn validity(&self) -> (u32, u32) {
        (self.from, self.until)
    }

    pub(crate) fn public(&self) -> &Public {
        &self.public
    }

    pub(crate) fn primary(&self) -> &PublicKey {
        &self.primary
    }

    /// The key packets that stand for it.
    pub(crate) fn packets(&self) -> [&PublicKey; 2] {
        [&self.primary, &self.encrypting]
    }

    pub(crate) fn signs(&self) -> bool {
        self.signs
    }

    /// Whether it is meant for encryption.
    #[must_use]
    pub fn encrypts(&self) -> bool {
        self.encrypts
    }

    fn is_valid_at(&self, second: u32) -> bool {
        (self.from..=self.until).contains(&second)
    }

    /// What can be encrypted to now.
    pub(crate) fn recipient(&self, now: u32) -> Result<ComponentKeyPub> {
        let name = &self.user;
        if !self.encrypts {
            let what = format!("the X.509 certificate of {name} is not meant for encryption");
            return Err(Error::UnfitKey(what));
        }
        if !self.is_valid_at(now) {
            let what = format!("the X.509 certificate of {name} is not valid now");
            return Err(Error::UnfitKey(what));
        }
        Ok(ComponentKeyPub::Primary(self.encrypting.clone()))
    }
}

fn wrong(what: impl std::fmt::Display) -> Error {
    Error::NotOpenPgp(format!("an X.509 certificate: {what}"))
}

fn numbers(certificate: &X509Certificate<'_>) -> Result<Public> {
    let key = certificate.public_key();
    let foreign = || {
        let what = "its key is neither RSA nor on P-256, P-384, P-521 or curve 25519";
        Error::Unsupported(format!("an X.509 certificate: {what}"))
    };
    let native = || Some(key.subject_public_key.data.to_vec()).filter(|point| point.len() == 32);
    match key.algorithm.algorithm.as_bytes() {
        ED25519_NAME => return Ok(Public::Ed25519 { point: native().ok_or_else(foreign)? }),
        X25519_NAME => return Ok(Public::X25519 { point: native().ok_or_else(foreign)? }),
        _ => {}
    }
    match key.parsed().map_err(|_| foreign())? {
        Numbers::RSA(rsa) => {
            // Packets have no zeros before numbers.
            let bare = |number: &[u8]| {
                number.iter().copied().skip_while(|byte| *byte == 0).collect::<Vec<u8>>()
            };
            Ok(Public::Rsa { n: bare(rsa.modulus), e: bare(rsa.exponent) })
        }
        Numbers::EC(point) => {
            let named = key.algorithm.parameters.as_ref().and_then(|any| any.as_oid().ok());
            let curve = named.and_then(|name| Curve::named(name.as_bytes())).ok_or_else(foreign)?;
            Ok(Public::Nist { curve, point: point.data().to_vec() })
        }
        _ => Err(foreign()),
    }
}

/// How a certificate names its key, and that of its issuer.
fn key_ids(certificate: &X509Certificate<'_>) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
    let (mut own, mut issuer) = (None, None);
    for extension in certificate.extensions() {
        match extension.parsed_extension() {
            ParsedExtension::SubjectKeyIdentifier(id) => own = Some(id.0.to_vec()),
            ParsedExtension::AuthorityKeyIdentifier(named) => {
                issuer = named.key_identifier.as_ref().map(|id| id.0.to_vec());
            }
            _ => {}
        }
    }
    (own, issuer)
}

fn user_of(certificate: &X509Certificate<'_>) -> String {
    let subject = certificate.subject();
    let name = subject.iter_common_name().next().and_then(|name| name.as_str().ok());
    let inside = subject.iter_email().next().and_then(|name| name.as_str().ok());
    let beside = certificate.subject_alternative_name().ok().flatten();
    let beside = beside.and_then(|names| {
        names.value.general_names.iter().find_map(|name| match name {
            GeneralName::RFC822Name(address) => Some(*address),
            _ => None,
        })
    });
    let user = match (name, inside.or(beside)) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (Some(name), None) => name.to_owned(),
        (None, Some(address)) => format!("<{address}>"),
        (None, None) => subject.to_string(),
    };
    user.chars().filter(|c| !c.is_control()).collect()
}
