//! Whom a certificate names. It has proved itself in a handshake before anybody reads it here.

use x509_parser::objects::{oid_registry, oid2abbrev};
use x509_parser::x509::AttributeTypeAndValue;

/// The common name of a certificate, in DER.
#[must_use]
pub fn common_name(certificate: &[u8]) -> Option<String> {
    let (_, certificate) = x509_parser::parse_x509_certificate(certificate).ok()?;
    let name = certificate.subject().iter_common_name().next()?.as_str().ok()?;
    Some(name.to_owned())
}

/// The user that a certificate names: its common name, in capital letters. Whether there is such
/// a user is another matter.
#[must_use]
pub fn user(certificate: &[u8]) -> Option<String> {
    common_name(certificate).map(|name| name.to_ascii_uppercase()).filter(|name| !name.is_empty())
}

/// The distinguished name of a certificate: kinds and values of its parts.
#[must_use]
pub fn subject(certificate: &[u8]) -> Option<Vec<(String, String)>> {
    let (_, certificate) = x509_parser::parse_x509_certificate(certificate).ok()?;
    let part = |part: &AttributeTypeAndValue<'_>| {
        let kind = part.attr_type();
        let key = oid2abbrev(kind, oid_registry()).map_or_else(|_| kind.to_string(), str::to_owned);
        let hex = |_| base::hex::upper(part.as_slice());
        (key, part.as_str().map_or_else(hex, str::to_owned))
    };
    Some(certificate.subject().iter_attributes().map(part).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pem::certificates;

    const CLIENT: &[u8] =
        include_bytes!("../../../doors/ims-connect/tests/certificates/client.pem");

    #[test]
    fn a_certificate_names_its_user() {
        let chain = certificates("certificate", CLIENT).unwrap();
        assert_eq!(user(&chain[0]).as_deref(), Some("TELLER"));
        let parts = subject(&chain[0]).unwrap();
        assert!(parts.iter().any(|(key, value)| key == "CN" && value.to_uppercase() == "TELLER"));
        assert_eq!((common_name(b"none"), user(b"none"), subject(b"none")), (None, None, None));
    }
}
