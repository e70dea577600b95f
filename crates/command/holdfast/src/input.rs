//! Files that people name on the command line, or in holdfast.toml, read as a whole.

use std::path::Path;

use crate::failure::{Failure, Result};

/// A file, or why it cannot be read and what to do.
#[allow(clippy::disallowed_methods)] // people's files are no part of a system
pub(crate) fn bytes_of(path: &Path, remedy: impl std::fmt::Display) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| {
        Failure::other(format!("{} cannot be read: {error}", path.display()), remedy)
    })
}

/// A text of so many bytes at most; `unusable` says of which use it is not.
#[allow(clippy::disallowed_methods)] // people's files are no part of a system
pub(crate) fn text_of(
    path: &Path,
    bytes_max: usize,
    unusable: impl Fn(&str) -> Failure,
) -> Result<String> {
    let bytes = std::fs::read(path).map_err(|error| unusable(&error.to_string()))?;
    if bytes.len() > bytes_max {
        return Err(unusable("it is too long"));
    }
    String::from_utf8(bytes).map_err(|_| unusable("it is no text in UTF-8"))
}
