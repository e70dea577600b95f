//! Definition files: macros or commands, read into changes.
//!
//! A file holds either; it is one of commands if its first word that is no comment is one of their
//! verbs.

use std::path::Path;

use macros::{Folders, Sources};

use crate::diagnostic::Parsed;

/// Reads the bytes of a definition file; `path` is shown, and COPY members are looked for in
/// `members`.
#[must_use]
pub fn read(path: &Path, bytes: &[u8], members: &Folders) -> Parsed {
    if is_of_commands(bytes) {
        return crate::command::read(path, &String::from_utf8_lossy(bytes));
    }
    let mut sources = Sources::new();
    let program = macros::read(&mut sources, path, bytes, members);
    crate::stage::compile(&sources, &program)
}

fn is_of_commands(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let first = crate::command::words(&text).next();
    first.is_some_and(|word| crate::command::is_verb(&word.to_ascii_uppercase()))
}
