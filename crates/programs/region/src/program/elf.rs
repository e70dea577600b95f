//! Which files are executables of their own, and no shared objects: by their first bytes.
//!
//! | offset | bytes | of an ELF file, as this machine writes it |
//! |---|---|---|
//! | 0 | 4 | X'7F' `ELF` |
//! | 4 | 1 | 2: addresses of 8 bytes |
//! | 16 | 2 | 2: an executable at fixed addresses; 3: one at any address, or a shared object |
//! | 32, 54, 56 | 8, 2, 2 | where program headers begin, how long one is, how many there are |
//!
//! Invariants:
//! 1. Of what may be either, an interpreter makes an executable: shared objects have none.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// How ELF files begin.
pub(super) const MAGIC: &[u8] = b"\x7fELF";
/// How scripts begin.
const SCRIPT: &[u8] = b"#!";
const FIXED: u16 = 2;
const ANYWHERE: u16 = 3;
const INTERPRETER: u32 = 3;

/// Whether a file is one that the system executes.
#[allow(clippy::disallowed_methods)] // people's files are no part of a system
pub(super) fn is_executable(path: &Path, bytes: &[u8]) -> bool {
    let may_be = std::fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o111 != 0);
    may_be && (bytes.starts_with(SCRIPT) || is_program(bytes))
}

/// Whether the bytes of an ELF file are an executable.
fn is_program(bytes: &[u8]) -> bool {
    if !bytes.starts_with(MAGIC) || bytes.get(4) != Some(&2) {
        return false;
    }
    match half(bytes, 16) {
        Some(FIXED) => true,
        Some(ANYWHERE) => has_interpreter(bytes).unwrap_or(false),
        _ => false,
    }
}

fn has_interpreter(bytes: &[u8]) -> Option<bool> {
    let at = u64::from_le_bytes(*bytes.get(32..)?.first_chunk()?);
    let at = usize::try_from(at).ok()?;
    let (length, count) = (usize::from(half(bytes, 54)?), usize::from(half(bytes, 56)?));
    let kinds = (0..count).map_while(|number| {
        let header = bytes.get(at.checked_add(number.checked_mul(length)?)?..)?;
        Some(u32::from_le_bytes(*header.first_chunk()?))
    });
    Some(kinds.into_iter().any(|kind| kind == INTERPRETER))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executables_are_told_from_shared_objects() {
        let own = std::env::current_exe().expect("this test");
        let bytes = seam::disk::read_small(&*seam::Seam::real().disk, &own, 1 << 30);
        let bytes = bytes.expect("it can be read");
        assert!(is_executable(&own, &bytes));
        let mut shared = bytes[..64].to_vec();
        shared[56..58].fill(0);
        assert!(!is_program(&shared), "no headers");
        for length in 0..64 {
            assert!(!is_program(&bytes[..length]), "{length}");
        }
    }
}
