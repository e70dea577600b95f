//! How long keys and values may be.
//!
//! Invariants:
//! 1. A key leaves room for several in a node; a value beside which it would not stands outside of
//!    its leaf.

use super::Tree;
use crate::{TreeError, VALUE_BYTES_MAX, node};

impl Tree<'_> {
    /// The longest key that the data set takes.
    #[must_use]
    pub fn key_bytes_max(&self) -> usize {
        node::key_bytes_max(self.set.usable_bytes())
    }

    /// The longest value.
    #[must_use]
    pub fn value_bytes_max(&self) -> usize {
        VALUE_BYTES_MAX
    }

    /// Whether a value of this length stands in the leaf itself.
    pub(crate) fn is_inline(&self, key_len: usize, value_len: usize) -> bool {
        let usable = self.set.usable_bytes();
        value_len <= node::inline_value_bytes_max(usable)
            && key_len + value_len <= node::record_bytes_max(usable)
    }

    pub(crate) fn check_limits(&self, key: &[u8], value: &[u8]) -> Result<(), TreeError> {
        let name = || self.set.name().to_owned();
        let bytes_max = self.key_bytes_max();
        if key.len() > bytes_max {
            return Err(TreeError::KeyTooLong { name: name(), bytes: key.len(), bytes_max });
        }
        let bytes_max = self.value_bytes_max();
        if value.len() > bytes_max {
            return Err(TreeError::ValueTooLong { name: name(), bytes: value.len(), bytes_max });
        }
        Ok(())
    }
}
