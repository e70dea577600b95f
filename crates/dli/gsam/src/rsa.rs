//! Record search arguments: where a record begins, as a program keeps it between a GN or ISRT and
//! a GU. To a program it is opaque.
//!
//! | form | offset | bytes | field |
//! |---|---|---|---|
//! | basic | 0 | 4 | 1 + the record's offset in the file divided by 4 GiB, big-endian |
//! | | 4 | 4 | the rest of that division, big-endian |
//! | large | 0 | 8 | as the first field of the basic form |
//! | | 8 | 4 | the rest |
//!
//! Invariants:
//! 1. The first record's is X'00000001' X'00000000', which programs may give for "the front".
//! 2. Zeros and blanks, what a program has that never got one, are none of a file that fits on a
//!    disk.

/// Where a record begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rsa(u64);

impl Rsa {
    /// The first record's.
    pub const FRONT: Rsa = Rsa(0);

    pub(crate) fn new(offset: u64) -> Rsa {
        Rsa(offset)
    }

    /// The offset of the record in the file.
    #[must_use]
    pub fn offset(self) -> u64 {
        self.0
    }

    /// The eight bytes of the basic form.
    #[must_use]
    pub fn basic(self) -> [u8; 8] {
        self.0.wrapping_add(1 << 32).to_be_bytes()
    }

    /// The twelve bytes of the large form (after INIT RSA12, DLI-12.60).
    #[must_use]
    pub fn large(self) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&(1 + (self.0 >> 32)).to_be_bytes());
        bytes[8..].copy_from_slice(&(self.0 as u32).to_be_bytes());
        bytes
    }

    /// What a program gave, in either form; `None` if that is none.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Rsa> {
        let (block, rest) = if let Ok(basic) = <[u8; 8]>::try_from(bytes) {
            let whole = u64::from_be_bytes(basic);
            (whole >> 32, whole as u32)
        } else {
            let (block, rest) = bytes.split_first_chunk::<8>()?;
            (u64::from_be_bytes(*block), u32::from_be_bytes(rest.try_into().ok()?))
        };
        let high = block.checked_sub(1).filter(|high| *high < 1 << 31)?;
        Some(Rsa((high << 32) | u64::from(rest)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_come_back() {
        for offset in [0, 1, 79, u64::from(u32::MAX), 1 << 32, (1 << 62) + 12_345] {
            let rsa = Rsa::new(offset);
            assert_eq!(Rsa::read(&rsa.basic()), Some(rsa), "{offset}");
            assert_eq!(Rsa::read(&rsa.large()), Some(rsa), "{offset}");
        }
        assert_eq!(Rsa::new(0).basic(), [0, 0, 0, 1, 0, 0, 0, 0]);
        assert_eq!(Rsa::new(5).large(), [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5]);
    }

    #[test]
    fn what_is_none_is_told() {
        for bytes in [&[0; 8][..], &[0; 12], &[0xff; 8], &[0xff; 12], b"", &[1; 7], &[0; 11]] {
            assert_eq!(Rsa::read(bytes), None, "{bytes:?}");
        }
        assert!(Rsa::read(b"        ").is_some_and(|rsa| rsa.offset() > 1 << 60));
    }
}
