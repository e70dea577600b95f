//! COPY members: where the text comes from that a COPY statement names.
//!
//! Invariants:
//!
//! 1. A member is found in any case, with or without an extension; of several, the one without
//!    extension wins, then the first by name. Folders are looked through in their order.
//! 2. Only regular files are members, and what cannot be read is not there.

use std::fs;
use std::path::{Path, PathBuf};

/// Finds the members that COPY names, and macros that are called but not defined.
pub trait CopyMembers {
    /// The path and the bytes of a member. The name is in upper case.
    fn find(&self, name: &str) -> Option<(PathBuf, Vec<u8>)>;
}

/// There are no members.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMembers;

impl CopyMembers for NoMembers {
    fn find(&self, _name: &str) -> Option<(PathBuf, Vec<u8>)> {
        None
    }
}

/// The files of some folders are the members.
#[derive(Clone, Debug, Default)]
pub struct Folders {
    folders: Vec<PathBuf>,
}

impl Folders {
    /// Members from these folders; the first that has one wins.
    #[must_use]
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders }
    }
}

impl CopyMembers for Folders {
    // Sources are people's files, read before any system is opened; they are no part of one.
    #[allow(clippy::disallowed_methods)]
    fn find(&self, name: &str) -> Option<(PathBuf, Vec<u8>)> {
        self.folders.iter().find_map(|folder| {
            let entries = fs::read_dir(folder).ok()?;
            let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
            let mut found: Vec<PathBuf> =
                paths.filter(|path| is_member(path, name) && path.is_file()).collect();
            found.sort_by_key(|path| (path.extension().is_some(), path.clone()));
            found.into_iter().find_map(|path| {
                let bytes = fs::read(&path).ok()?;
                Some((path, bytes))
            })
        })
    }
}

fn is_member(path: &Path, name: &str) -> bool {
    let is = |part: Option<&std::ffi::OsStr>| {
        part.and_then(|part| part.to_str()).is_some_and(|part| part.eq_ignore_ascii_case(name))
    };
    is(path.file_name()) || is(path.file_stem())
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)] // writes sources as people would
mod tests {
    use super::*;

    #[test]
    fn members_are_found_in_any_case_with_or_without_extension() {
        let folder = std::env::temp_dir().join(format!("holdfast-copy-{}", std::process::id()));
        let second = folder.join("second");
        fs::create_dir_all(&second).unwrap();
        for (name, text) in [("custrec.cpy", "1"), ("Acct", "2"), ("acct.mac", "3"), ("X.D", "4")] {
            fs::write(folder.join(name), text).unwrap();
        }
        fs::write(second.join("acct"), "5").unwrap();
        fs::write(second.join("ONLY.TXT"), "6").unwrap();
        let members = Folders::new(vec![folder.join("missing"), folder.clone(), second]);
        let text = |name| members.find(name).map(|(_, bytes)| String::from_utf8(bytes).unwrap());
        assert_eq!(text("CUSTREC").as_deref(), Some("1"));
        assert_eq!(text("ACCT").as_deref(), Some("2"));
        assert_eq!(text("X").as_deref(), Some("4"));
        assert_eq!(text("ONLY").as_deref(), Some("6"));
        assert_eq!(text("SECOND"), None);
        assert_eq!(text("CUST"), None);
        assert!(NoMembers.find("ACCT").is_none());
        fs::remove_dir_all(&folder).unwrap();
    }
}
