//! Whom certificates name.
//!
//! 1. What stands within a part of a name cannot be taken for a part of its own: it is written as
//!    [`name_matches`](queue_manager::channel::admission::name_matches) reads it.

use queue_manager::channel::admission::name_part;

/// The distinguished name of a certificate.
#[must_use]
pub fn subject(certificate: &[u8]) -> Option<String> {
    let parts = tls::subject(certificate)?;
    let parts: Vec<_> = parts.iter().map(|(key, value)| name_part(key, value)).collect();
    Some(parts.join(", "))
}
