//! AES-GCM by whichever of two libraries is faster on this processor.
//!
//! aws-lc has its fastest code for processors with AVX-512, ring also for those that have the wide
//! AES instructions (VAES) without it: there it makes about twice as much. Everywhere else, and
//! for keys of 192 bits, it is aws-lc.
//!
//! 1. Both make the same bytes; a test compares them.
//! 2. A key that is dropped is wiped, with what the cipher made of it.
//! 3. Nothing here allocates or locks once a key is made.

use std::hint::black_box;
use std::sync::LazyLock;

use ::ring::aead as wide;
use aws_lc_rs::aead as aws;

use crate::TAG_BYTES;

/// Bytes of a nonce.
pub const NONCE_BYTES: usize = 12;

/// A key for AES-GCM with 128, 192 or 256 bits, made ready for use.
pub struct Gcm(Library);

enum Library {
    Aws(aws::LessSafeKey),
    Wide(Box<WideKey>),
}

/// A key of ring's, which does not wipe it by itself.
struct WideKey(wide::LessSafeKey);

impl WideKey {
    fn new(algorithm: &'static wide::Algorithm, key: &[u8]) -> Option<Box<WideKey>> {
        let unbound = wide::UnboundKey::new(algorithm, key).ok()?;
        Some(Box::new(WideKey(wide::LessSafeKey::new(unbound))))
    }
}

impl Drop for WideKey {
    fn drop(&mut self) {
        const BLANK: [u8; 32] = [0; 32];
        if let Ok(blank) = wide::UnboundKey::new(&wide::AES_256_GCM, &BLANK) {
            self.0 = wide::LessSafeKey::new(blank);
            // What stands there now may be looked at: so it is really written.
            black_box(&mut self.0);
        }
    }
}

/// Whether ring is the faster one here. A library that was told to do without some of the
/// processor's instructions is taken at its word.
static IS_WIDE: LazyLock<bool> = LazyLock::new(|| {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        let wide = has!("vaes") && has!("vpclmulqdq") && has!("avx2") && !has!("avx512bw");
        wide && std::env::var_os("OPENSSL_ia32cap").is_none()
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
});

impl Gcm {
    /// A key of 16, 24 or 32 bytes; `None` for any other length.
    #[must_use]
    pub fn new(key: &[u8]) -> Option<Gcm> {
        let library = match *IS_WIDE && key.len() != 24 {
            true => Library::Wide(Gcm::wide(key)?),
            false => Library::Aws(Gcm::aws(key)?),
        };
        Some(Gcm(library))
    }

    fn aws(key: &[u8]) -> Option<aws::LessSafeKey> {
        let algorithm = match key.len() {
            16 => &aws::AES_128_GCM,
            24 => &aws::AES_192_GCM,
            _ => &aws::AES_256_GCM,
        };
        aws::UnboundKey::new(algorithm, key).ok().map(aws::LessSafeKey::new)
    }

    fn wide(key: &[u8]) -> Option<Box<WideKey>> {
        let algorithm = if key.len() == 16 { &wide::AES_128_GCM } else { &wide::AES_256_GCM };
        WideKey::new(algorithm, key)
    }

    /// Seals in place and returns the tag. The nonce must never have been used with this key;
    /// `associated` is authenticated but not sealed.
    ///
    /// # Panics
    /// If there is more than GCM allows (64 GiB).
    #[inline]
    #[must_use]
    pub fn seal(
        &self,
        nonce: [u8; NONCE_BYTES],
        associated: &[u8],
        bytes: &mut [u8],
    ) -> [u8; TAG_BYTES] {
        let mut tag = [0; TAG_BYTES];
        match &self.0 {
            Library::Aws(key) => {
                let nonce = aws::Nonce::assume_unique_for_key(nonce);
                let associated = aws::Aad::from(associated);
                key.seal_in_place_scatter(nonce, associated, bytes, &[], &mut tag)
                    .expect("a block is far shorter than the cipher's limit");
            }
            Library::Wide(key) => {
                let nonce = wide::Nonce::assume_unique_for_key(nonce);
                let made = key
                    .0
                    .seal_in_place_separate_tag(nonce, wide::Aad::from(associated), bytes)
                    .expect("a block is far shorter than the cipher's limit");
                tag.copy_from_slice(made.as_ref());
            }
        }
        tag
    }

    /// The same of what stands elsewhere and stays as it is.
    ///
    /// # Panics
    /// If both are not equally long.
    #[must_use]
    pub fn seal_into(
        &self,
        nonce: [u8; NONCE_BYTES],
        associated: &[u8],
        from: &[u8],
        out: &mut [u8],
    ) -> [u8; TAG_BYTES] {
        let Library::Aws(key) = &self.0 else {
            out.copy_from_slice(from);
            return self.seal(nonce, associated, out);
        };
        let mut tag = [0; TAG_BYTES];
        let nonce = aws::Nonce::assume_unique_for_key(nonce);
        let associated = aws::Aad::from(associated);
        key.seal_out_of_place_scatter(nonce, associated, from, out, &[], &mut tag)
            .expect("a block is far shorter than the cipher's limit");
        tag
    }

    /// Opens in place. Answers whether that is what was sealed; if it is not, what then stands in
    /// `bytes` is unspecified and must not be used.
    #[inline]
    #[must_use]
    pub fn open(
        &self,
        nonce: [u8; NONCE_BYTES],
        associated: &[u8],
        bytes: &mut [u8],
        tag: &[u8; TAG_BYTES],
    ) -> bool {
        match &self.0 {
            Library::Aws(key) => {
                let nonce = aws::Nonce::assume_unique_for_key(nonce);
                let associated = aws::Aad::from(associated);
                key.open_in_place_separate_tag(nonce, associated, tag, bytes).is_ok()
            }
            Library::Wide(key) => {
                let nonce = wide::Nonce::assume_unique_for_key(nonce);
                let associated = wide::Aad::from(associated);
                let tag = wide::Tag::from(*tag);
                key.0.open_in_place_separate_tag(nonce, associated, tag, bytes, 0..).is_ok()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn both(key: &[u8]) -> [Gcm; 2] {
        let wide = Gcm::wide(key).unwrap();
        [Gcm(Library::Aws(Gcm::aws(key).unwrap())), Gcm(Library::Wide(wide))]
    }

    proptest! {
        #[test]
        fn both_libraries_make_and_open_the_same(
            key in any::<[u8; 32]>(),
            short in any::<bool>(),
            nonce in any::<[u8; NONCE_BYTES]>(),
            associated in prop::collection::vec(any::<u8>(), 0..70),
            clear in prop::collection::vec(any::<u8>(), 0..9_000),
            at in any::<prop::sample::Index>(),
        ) {
            let key = if short { &key[..16] } else { &key[..] };
            let [one, other] = both(key);
            let mut sealed = clear.clone();
            let tag = one.seal(nonce, &associated, &mut sealed);
            let mut again = vec![0; clear.len()];
            for gcm in [&one, &other] {
                prop_assert_eq!(gcm.seal_into(nonce, &associated, &clear, &mut again), tag);
                prop_assert_eq!(&again, &sealed);
                prop_assert!(gcm.open(nonce, &associated, &mut again, &tag));
                prop_assert_eq!(&again, &clear);
                // One bit of anything.
                let mut bad = (sealed.clone(), tag);
                match at.index(sealed.len() + TAG_BYTES).checked_sub(sealed.len()) {
                    Some(at) => bad.1[at] ^= 1,
                    None => bad.0[at.index(sealed.len() + TAG_BYTES)] ^= 1,
                }
                prop_assert!(!gcm.open(nonce, &associated, &mut bad.0, &bad.1));
            }
        }
    }

    #[test]
    fn keys_have_one_of_three_lengths() {
        for length in 0..40 {
            assert_eq!(Gcm::new(&vec![1; length]).is_some(), [16, 24, 32].contains(&length));
        }
    }
}
