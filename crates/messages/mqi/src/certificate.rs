//! Whom certificates name.
//!
//! 1. What stands within a part of a name cannot be taken for a part of its own: it is written as
//!    [`name_matches`](queue_manager::channel::admission::name_matches) reads it.

use queue_manager::channel::admission::name_part;
use x509_parser::objects::{oid_registry, oid2abbrev};
use x509_parser::x509::AttributeTypeAndValue;

/// The distinguished name of a certificate.
#[must_use]
pub fn subject(certificate: &[u8]) -> Option<String> {
    let (_, certificate) = x509_parser::parse_x509_certificate(certificate).ok()?;
    let part = |part: &AttributeTypeAndValue<'_>| {
        let kind = part.attr_type();
        let key = oid2abbrev(kind, oid_registry()).map_or_else(|_| kind.to_string(), str::to_owned);
        let hex = |_| part.as_slice().iter().map(|byte| format!("{byte:02X}")).collect();
        name_part(&key, &part.as_str().map_or_else(hex, str::to_owned))
    };
    let parts: Vec<_> = certificate.subject().iter_attributes().map(part).collect();
    Some(parts.join(", "))
}

/// The common name of a certificate.
#[must_use]
pub fn common_name(certificate: &[u8]) -> Option<String> {
    let (_, certificate) = x509_parser::parse_x509_certificate(certificate).ok()?;
    let name = certificate.subject().iter_common_name().next()?.as_str().ok()?;
    Some(name.to_owned())
}
