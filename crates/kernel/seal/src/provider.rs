//! Where data keys come from.

use base::KeyGeneration;

use crate::{DataKey, SealError};

/// Data keys by label and generation. Called when a data set or a log is opened and when a page
/// of an earlier open is met, not for each block.
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
