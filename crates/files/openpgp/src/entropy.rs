//! Randomness for the key operations, from the house's one source of it.

use rand::{CryptoRng, Error, RngCore};
use seam::entropy::{Entropy as _, OsEntropy};

/// The operating system's generator, as the key operations want to see one.
pub(crate) struct Random;

impl RngCore for Random {
    fn next_u32(&mut self) -> u32 {
        self.next_u64() as u32
    }

    fn next_u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.fill_bytes(&mut bytes);
        u64::from_ne_bytes(bytes)
    }

    /// A machine without randomness can protect nothing; the interface knows no error.
    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        if let Err(error) = OsEntropy.fill(bytes) {
            panic!("the operating system gives no random bytes: {error}");
        }
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        OsEntropy.fill(bytes).map_err(Error::new)
    }
}

impl CryptoRng for Random {}
