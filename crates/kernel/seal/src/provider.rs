//! Where data keys come from.

use base::KeyGeneration;

use crate::{DataKey, SealError};

/// Data keys by label and generation. Called when a data set or a log is opened and when a page
/// of an earlier open is met, not for each block.
///
/// ```
/// use base::KeyGeneration;
/// use holdfast_seal::{DataKey, KeyProvider, SealError};
///
/// /// One key for everything.
/// struct One([u8; 32]);
///
/// impl KeyProvider for One {
///     fn current(&self, _label: &str) -> Result<KeyGeneration, SealError> {
///         Ok(KeyGeneration(1))
///     }
///
///     fn key(&self, label: &str, generation: KeyGeneration) -> Result<DataKey, SealError> {
///         let label = label.to_owned();
///         match generation == KeyGeneration(1) {
///             true => Ok(DataKey::from_bytes(self.0)),
///             false => Err(SealError::UnknownGeneration { label, generation }),
///         }
///     }
/// }
///
/// let keys = One([7; 32]);
/// assert!(keys.key("payroll", keys.current("payroll")?).is_ok());
/// assert!(keys.key("payroll", KeyGeneration(2)).is_err());
/// # Ok::<(), SealError>(())
/// ```
pub trait KeyProvider: Send + Sync {
    /// The generation that new blocks under `label` are to be sealed with.
    ///
    /// # Errors
    /// [`SealError::UnknownLabel`], or that the provider cannot be reached.
    fn current(&self, label: &str) -> Result<KeyGeneration, SealError>;

    /// The data key of that label and generation.
    ///
    /// # Errors
    /// [`SealError::UnknownLabel`], [`SealError::UnknownGeneration`], or that the provider
    /// cannot be reached.
    fn key(&self, label: &str, generation: KeyGeneration) -> Result<DataKey, SealError>;
}
