//! What all wrapped keys of a key file have in common.

use crate::secret::{DataKey, KEY_BYTES};
use crate::working_key::{Tag, WorkingKey};

/// What a key file begins with.
pub(crate) const MAGIC: &[u8; 8] = b"HOLDKEYS";
/// The only version so far.
pub(crate) const VERSION: u16 = 1;
/// The only counter of the working keys of a key file: each wraps once.
pub(crate) const ONCE: u64 = 1;

/// Opens a wrapped key.
pub(crate) fn unwrap(
    key: &WorkingKey,
    covered: &[u8],
    wrapped: &[u8; KEY_BYTES],
    tag: &Tag,
) -> Option<DataKey> {
    let mut plain = DataKey::blank();
    plain.bytes_mut().copy_from_slice(wrapped);
    key.open(ONCE, covered, plain.bytes_mut(), tag).ok().map(|()| plain)
}
