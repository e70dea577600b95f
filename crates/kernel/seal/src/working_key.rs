//! Working keys: what actually seals a block, one for each (data key generation, salt, identity).
//!
//! 1. The sealed form is AES-256-GCM. Its key is HKDF-SHA256(data key, salt, identity). Its nonce
//!    is 32 zero bits and the 64-bit counter, little-endian. No counter is used twice under one
//!    key: that is the caller's duty ([`crate::PageSealer`], the log's group numbers).
//! 2. The plain form finds accidents, not forgers. Its tag is
//!    XXH3-128(identity digest | counter | associated digest | payload digest), where each digest
//!    is the XXH3-128 of that part and every number is little-endian.
//! 3. Nothing here allocates, locks or copies once the key is made; a key is shared freely.
//!
//! Limits of one sealed working key: 2^40 blocks of 4 KiB leave an attacker an advantage of less
//! than 2^-30 (2^48 cipher blocks against 2^128); at 100,000 pages a second that is four months
//! without a new open. [`crate::PageSealer`] therefore starts a new salt after 2^40 writes.

use std::fmt;

use aws_lc_rs::hkdf;
use twox_hash::XxHash3_128;

use crate::gcm::{Gcm, NONCE_BYTES};
use crate::secret::KEY_BYTES;
use crate::{DataKey, Format, Salt, TAG_BYTES};

/// What proves that a block is what was sealed, where it was sealed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tag(pub [u8; TAG_BYTES]);

/// The first eight bytes of a tag, little-endian: the freshness map's entry (K5).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TagPrefix(pub u64);

/// The tag does not fit: the block is not what was sealed under this key, counter and place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the tag does not fit the block")]
pub struct BadTag;

/// A key that seals and opens blocks; immutable, shared by all threads.
pub struct WorkingKey(Kind);

enum Kind {
    Plain { identity_digest: [u8; TAG_BYTES] },
    Sealed(Gcm),
}

impl Tag {
    /// What the freshness map keeps of it.
    #[inline]
    #[must_use]
    pub fn prefix(&self) -> TagPrefix {
        TagPrefix(base::bytes::get_u64(&self.0, 0))
    }
}

impl TagPrefix {
    /// Never written. No written block has it (see [`crate::PageSealer::seal`]).
    pub const NONE: TagPrefix = TagPrefix(0);
}

impl WorkingKey {
    /// The sealed form's key for one salt and one identity. The identity names what the key is
    /// for (system, data set, log) and begins with a word of its own for each purpose.
    #[must_use]
    pub fn derive(key: &DataKey, salt: &Salt, identity: &[u8]) -> WorkingKey {
        let derived = derive_key(key, salt, identity);
        let gcm = Gcm::new(derived.bytes()).expect("the derived key has the cipher's length");
        WorkingKey(Kind::Sealed(gcm))
    }

    /// The plain form's "key": the checksum, bound to an identity.
    #[must_use]
    pub fn plain(identity: &[u8]) -> WorkingKey {
        WorkingKey(Kind::Plain { identity_digest: digest(identity) })
    }

    /// Which form this key writes.
    #[must_use]
    pub fn format(&self) -> Format {
        match self.0 {
            Kind::Plain { .. } => Format::Plain,
            Kind::Sealed(_) => Format::Sealed,
        }
    }

    /// Seals `payload` in place and returns its tag. `counter` must never have been used with
    /// this key; `associated` is authenticated but stays in clear.
    ///
    /// # Panics
    /// If the payload is longer than GCM allows (64 GiB).
    #[inline]
    pub fn seal(&self, counter: u64, associated: &[u8], payload: &mut [u8]) -> Tag {
        match &self.0 {
            Kind::Plain { identity_digest } => {
                checksum(identity_digest, counter, associated, payload)
            }
            Kind::Sealed(key) => Tag(key.seal(nonce(counter), associated, payload)),
        }
    }

    /// Gathers `parts` into `out` and seals them there: the caller's parts stay in clear. One
    /// part is sealed on the way without a copy of its own.
    ///
    /// # Panics
    /// If `out` is not exactly as long as the parts together.
    pub fn seal_into(
        &self,
        counter: u64,
        associated: &[u8],
        parts: &[&[u8]],
        out: &mut [u8],
    ) -> Tag {
        let total: usize = parts.iter().map(|part| part.len()).sum();
        assert_eq!(total, out.len(), "the output holds exactly the parts");
        if let (Kind::Sealed(key), [part]) = (&self.0, parts) {
            return Tag(key.seal_into(nonce(counter), associated, part, out));
        }
        let mut rest = &mut *out;
        for part in parts {
            let (head, tail) = rest.split_at_mut(part.len());
            head.copy_from_slice(part);
            rest = tail;
        }
        self.seal(counter, associated, out)
    }

    /// Opens `payload` in place.
    ///
    /// # Errors
    /// [`BadTag`] if the payload, the counter, the associated data or the key is not what was
    /// sealed; what then stands in `payload` is unspecified and must not be used.
    #[inline]
    pub fn open(
        &self,
        counter: u64,
        associated: &[u8],
        payload: &mut [u8],
        tag: &Tag,
    ) -> Result<(), BadTag> {
        match &self.0 {
            Kind::Plain { identity_digest } => {
                let expected = checksum(identity_digest, counter, associated, payload);
                if expected == *tag { Ok(()) } else { Err(BadTag) }
            }
            Kind::Sealed(key) => {
                let is_good = key.open(nonce(counter), associated, payload, &tag.0);
                is_good.then_some(()).ok_or(BadTag)
            }
        }
    }
}

impl fmt::Debug for WorkingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkingKey({:?})", self.format())
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for TagPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// HKDF-SHA256: extract with the salt, expand with the identity.
pub(crate) fn derive_key(key: &DataKey, salt: &Salt, identity: &[u8]) -> DataKey {
    struct KeyLength;
    impl hkdf::KeyType for KeyLength {
        fn len(&self) -> usize {
            KEY_BYTES
        }
    }
    let extracted = hkdf::Salt::new(hkdf::HKDF_SHA256, &salt.0).extract(key.bytes());
    let mut derived = DataKey::blank();
    extracted
        .expand(&[identity], KeyLength)
        .and_then(|expanded| expanded.fill(derived.bytes_mut()))
        .expect("32 bytes are within what HKDF can expand to");
    derived
}

#[inline]
fn nonce(counter: u64) -> [u8; NONCE_BYTES] {
    let mut bytes = [0; NONCE_BYTES];
    bytes[4..].copy_from_slice(&counter.to_le_bytes());
    bytes
}

#[inline]
fn digest(bytes: &[u8]) -> [u8; TAG_BYTES] {
    XxHash3_128::oneshot(bytes).to_le_bytes()
}

/// The plain form's tag, as the head of this file defines it.
fn checksum(identity: &[u8; TAG_BYTES], counter: u64, associated: &[u8], payload: &[u8]) -> Tag {
    let mut context = [0; 3 * TAG_BYTES + 8];
    context[..16].copy_from_slice(identity);
    context[16..24].copy_from_slice(&counter.to_le_bytes());
    context[24..40].copy_from_slice(&digest(associated));
    context[40..56].copy_from_slice(&digest(payload));
    Tag(digest(&context))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::unhex;

    fn key() -> DataKey {
        let mut bytes = [0; KEY_BYTES];
        (0..).zip(&mut bytes).for_each(|(number, byte)| *byte = number);
        DataKey::from_bytes(bytes)
    }

    fn salt() -> Salt {
        let mut salt = Salt::default();
        (0xa0..).zip(&mut salt.0).for_each(|(number, byte)| *byte = number);
        salt
    }

    fn both(identity: &[u8]) -> [WorkingKey; 2] {
        [WorkingKey::plain(identity), WorkingKey::derive(&key(), &salt(), identity)]
    }

    /// Computed with another implementation of HKDF-SHA256 and AES-256-GCM (Python's
    /// `cryptography`): the salt a0..af, the key 00..1f, the nonce 00000000 0807060504030201.
    #[test]
    fn the_sealed_form_is_what_others_compute() {
        let sealed = WorkingKey::derive(&key(), &salt(), b"known answer");
        let mut payload = *b"control interval 7 of data set 3";
        let tag = sealed.seal(0x0102_0304_0506_0708, b"associated", &mut payload);
        let expected = unhex(
            "9138821c83788ec718a61a67f581353b7c455d78fbd813514e2390087e16214f
             2e3c5bdae568679a4d6d25c69ddb9242",
        );
        assert_eq!([&payload[..], &tag.0[..]].concat(), expected);
    }

    #[test]
    fn the_prefix_is_the_first_eight_bytes() {
        let mut tag = Tag([0; TAG_BYTES]);
        (1..).zip(&mut tag.0).for_each(|(number, byte)| *byte = number);
        assert_eq!(tag.prefix(), TagPrefix(0x0807_0605_0403_0201));
    }

    #[test]
    fn key_salt_identity_counter_and_associated_data_all_count() {
        for [sealing, other] in [
            both(b"identity"),
            both(b"identitY"),
            [DataKey::from_bytes([9; 32]), key()].map(|key| WorkingKey::derive(&key, &salt(), b"")),
            [Salt([9; 16]), salt()].map(|salt| WorkingKey::derive(&key(), &salt, b"")),
            [&b"a"[..], b"b"].map(WorkingKey::plain),
            [&b"a"[..], b"b"].map(|identity| WorkingKey::derive(&key(), &salt(), identity)),
        ] {
            let mut payload = *b"payload";
            let tag = sealing.seal(5, b"ad", &mut payload);
            let open = |key: &WorkingKey, counter, associated: &[u8]| {
                key.open(counter, associated, &mut payload.clone(), &tag)
            };
            assert_eq!(open(&sealing, 5, b"ad"), Ok(()));
            assert_eq!(open(&sealing, 6, b"ad"), Err(BadTag));
            assert_eq!(open(&sealing, 5 + (1 << 32), b"ad"), Err(BadTag));
            assert_eq!(open(&sealing, 5, b"aD"), Err(BadTag));
            assert_eq!(open(&sealing, 5, b""), Err(BadTag));
            assert_eq!(open(&other, 5, b"ad"), Err(BadTag));
        }
    }

    #[test]
    fn a_key_is_shared_by_threads_and_shows_nothing() {
        fn shared<T: Send + Sync>(_: &T) {}
        let sealed = WorkingKey::derive(&key(), &salt(), b"x");
        shared(&sealed);
        assert_eq!(format!("{sealed:?}"), "WorkingKey(Sealed)");
    }

    proptest! {
        #[test]
        fn gathering_is_sealing_the_concatenation(
            parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..5),
            counter in any::<u64>(),
            associated in prop::collection::vec(any::<u8>(), 0..100),
        ) {
            for working in both(b"identity") {
                let whole = parts.concat();
                let mut in_place = whole.clone();
                let tag = working.seal(counter, &associated, &mut in_place);
                let slices: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
                let mut out = vec![0xee; whole.len()];
                prop_assert_eq!(working.seal_into(counter, &associated, &slices, &mut out), tag);
                prop_assert_eq!(&out, &in_place);
                prop_assert_eq!(working.open(counter, &associated, &mut out, &tag), Ok(()));
                prop_assert_eq!(&out, &whole);
            }
        }
    }
}
