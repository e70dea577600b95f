//! The door to randomness.

use std::io;

/// A source of unpredictable bytes.
///
/// ```
/// use holdfast_seam::Seam;
///
/// let entropy = Seam::real().entropy;
/// let (mut one, mut other) = ([0; 16], [0; 16]);
/// entropy.fill(&mut one)?; // nothing is sealed after an error
/// entropy.fill(&mut other)?;
/// assert_ne!(one, other);
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait Entropy: Send + Sync {
    /// Fills `bytes`.
    ///
    /// # Errors
    /// If the operating system has none to give; nothing may be sealed then.
    fn fill(&self, bytes: &mut [u8]) -> io::Result<()>;
}

/// The operating system's generator.
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn fill(&self, bytes: &mut [u8]) -> io::Result<()> {
        let mut filled = 0;
        while filled < bytes.len() {
            let flags = rustix::rand::GetRandomFlags::empty();
            filled += rustix::rand::getrandom(&mut bytes[filled..], flags)?;
        }
        Ok(())
    }
}
