//! From a passphrase to a key: Argon2id, with bounds on what a file may make us spend.

use argon2::{Algorithm, Argon2, Block, Params, Version};
use zeroize::Zeroize;

use crate::secret::KEY_BYTES;
use crate::{DataKey, Salt, SealError};

/// What one guess at a passphrase costs (Argon2id).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KdfCost {
    /// Memory in KiB.
    pub memory_kib: u32,
    /// How often the memory is passed over.
    pub passes: u32,
    /// Independent lanes of the memory.
    pub lanes: u32,
}

/// The most memory: 1 GiB.
const MEMORY_KIB_MAX: u32 = 1 << 20;
/// The most passes.
const PASSES_MAX: u32 = 32;
/// The most lanes.
const LANES_MAX: u32 = 16;
/// The most memory times passes: a few seconds.
const WORK_KIB_MAX: u32 = 4 << 20;

impl Default for KdfCost {
    /// 64 MiB, three passes, one lane: about a tenth of a second.
    fn default() -> KdfCost {
        KdfCost { memory_kib: 64 << 10, passes: 3, lanes: 1 }
    }
}

impl KdfCost {
    /// Nearly nothing, for tests.
    pub const TEST: KdfCost = KdfCost { memory_kib: 8, passes: 1, lanes: 1 };

    /// Whether the cost is within the limits.
    ///
    /// # Errors
    /// [`SealError::CostRefused`] that says what is not.
    pub fn check(self) -> Result<(), SealError> {
        let refused = |what| Err(SealError::CostRefused { what });
        if self.lanes == 0 || self.lanes > LANES_MAX {
            return refused("the lanes are not 1 to 16");
        }
        if self.passes == 0 || self.passes > PASSES_MAX {
            return refused("the passes are not 1 to 32");
        }
        if self.memory_kib < 8 * self.lanes || self.memory_kib > MEMORY_KIB_MAX {
            return refused("the memory is not 8 KiB for each lane to 1 GiB");
        }
        if self.memory_kib * self.passes > WORK_KIB_MAX {
            return refused("memory times passes is over 4 GiB");
        }
        Ok(())
    }

    /// The key that this passphrase, in bytes, and the salt give.
    pub(crate) fn stretch(self, phrase: &[u8], salt: &Salt) -> Result<DataKey, SealError> {
        self.check()?;
        let refused = |_| SealError::CostRefused { what: "Argon2id does not take these values" };
        let params = Params::new(self.memory_kib, self.passes, self.lanes, Some(KEY_BYTES));
        let params = params.map_err(refused)?;
        let mut memory: Vec<Block> = Vec::new();
        let blocks = params.block_count();
        let reserved = memory.try_reserve_exact(blocks);
        reserved.map_err(|_| SealError::NoMemory { memory_kib: self.memory_kib })?;
        memory.resize(blocks, Block::new());
        let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let mut key = DataKey::blank();
        let done =
            argon.hash_password_into_with_memory(phrase, &salt.0, key.bytes_mut(), &mut memory);
        memory.iter_mut().for_each(Zeroize::zeroize);
        done.map_err(refused)?;
        Ok(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passphrase_salt_and_cost_all_count() {
        let key = |phrase: &str, salt: u8, cost: KdfCost| {
            *cost.stretch(phrase.as_bytes(), &Salt([salt; 16])).unwrap().bytes()
        };
        let first = key("a", 1, KdfCost::TEST);
        assert_eq!(first, key("a", 1, KdfCost::TEST));
        assert_ne!(first, key("b", 1, KdfCost::TEST));
        assert_ne!(first, key("a", 2, KdfCost::TEST));
        assert_ne!(first, key("a", 1, KdfCost { passes: 2, ..KdfCost::TEST }));
        assert_ne!(first, key("a", 1, KdfCost { memory_kib: 16, ..KdfCost::TEST }));
    }

    #[test]
    fn costs_out_of_bounds_are_refused_before_anything_is_spent() {
        let good = KdfCost::default();
        good.check().unwrap();
        for bad in [
            KdfCost { memory_kib: MEMORY_KIB_MAX + 1, passes: 1, lanes: 1 },
            KdfCost { memory_kib: u32::MAX, passes: u32::MAX, lanes: u32::MAX },
            KdfCost { memory_kib: 7, ..good },
            KdfCost { memory_kib: 8, lanes: 2, passes: 1 },
            KdfCost { passes: 0, ..good },
            KdfCost { passes: 33, ..good },
            KdfCost { lanes: 0, ..good },
            KdfCost { lanes: 17, ..good },
            KdfCost { memory_kib: MEMORY_KIB_MAX, passes: 5, lanes: 1 },
        ] {
            let answer = bad.stretch(b"x", &Salt::default());
            assert!(matches!(answer, Err(SealError::CostRefused { .. })), "{bad:?}");
        }
    }
}
