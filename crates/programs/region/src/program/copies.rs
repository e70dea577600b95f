//! COPY members: which a source takes, and where they are.
//!
//! A member is found in any case, with or without one of the extensions that members have. What is
//! found is laid out for the compiler in a folder of its own, in upper case, both with and without
//! extension; the compiler is told to look for upper case.
//!
//! Invariants:
//! 1. The first folder that has a member wins; members that a translation brought win over all.
//! 2. Words that only look like COPY cost nothing but a look into the folders.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use seam::disk::{Disk, read_small};

use super::SOURCE_BYTES_MAX;
use super::cards::lines_of;
use crate::error::RegionError;

const EXTENSIONS: &[&str] = &["CPY", "CBL", "COB"];

/// A member.
pub(super) struct Copied {
    /// Where it came from.
    pub(super) path: PathBuf,
    pub(super) text: Vec<u8>,
}

/// The members of some folders, by their names in upper case without extension.
pub(super) struct Folders {
    paths: BTreeMap<String, PathBuf>,
}

impl Folders {
    /// Looks through folders. One that is missing is an error, for it was named.
    pub(super) fn open(disk: &dyn Disk, folders: &[PathBuf]) -> Result<Folders, RegionError> {
        let mut paths = BTreeMap::new();
        for folder in folders {
            for path in disk.list(folder).map_err(RegionError::file(folder))? {
                let path = folder.join(path);
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if let Some(member) = member_name(&name) {
                    paths.entry(member).or_insert(path);
                }
            }
        }
        Ok(Folders { paths })
    }

    /// A member by the name that stands behind COPY.
    pub(super) fn member(&self, disk: &dyn Disk, name: &str) -> Option<Copied> {
        let upper = name.to_ascii_uppercase();
        let path = self.paths.get(&member_name(&upper).unwrap_or(upper))?;
        let text = lines_of(read_small(disk, path, SOURCE_BYTES_MAX).ok()?);
        Some(Copied { path: path.clone(), text })
    }

    /// Everything that a text copies, and what that copies.
    pub(super) fn copied_by(&self, disk: &dyn Disk, texts: &[&[u8]]) -> BTreeMap<String, Copied> {
        let mut found: BTreeMap<String, Copied> = BTreeMap::new();
        let mut wanted: Vec<String> = texts.iter().flat_map(|text| names(text)).collect();
        while let Some(name) = wanted.pop() {
            let key = member_name(&name).unwrap_or(name);
            if found.contains_key(&key) {
                continue;
            }
            if let Some(copied) = self.member(disk, &key) {
                wanted.extend(names(&copied.text));
                found.insert(key, copied);
            }
        }
        found
    }
}

/// The files under which a member is laid out.
pub(super) fn file_names(member: &str) -> [String; 2] {
    [member.to_owned(), format!("{member}.CPY")]
}

/// The member that a file is, in upper case; `None` if its extension is another.
fn member_name(file: &str) -> Option<String> {
    let upper = file.to_ascii_uppercase();
    match Path::new(&upper).extension() {
        None => Some(upper),
        Some(extension) => {
            let known = EXTENSIONS.iter().any(|known| *known == extension);
            known.then(|| Path::new(&upper).with_extension("").to_string_lossy().into_owned())
        }
    }
}

/// The names that stand behind COPY and its like, in upper case.
fn names(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text).to_ascii_uppercase();
    let mut words = text.split_whitespace();
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        if matches!(word, "COPY" | "-INC" | "++INCLUDE" | "INCLUDE") {
            let name = words.clone().next().unwrap_or_default();
            let name = name.trim_end_matches('.').trim_matches(['"', '\'']);
            if !name.is_empty() {
                found.push(name.to_owned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_behind_copy_are_found_in_any_spelling() {
        let text = b"       copy  Custrec.\n           COPY 'ORDREC.cpy' REPLACING ==A== BY ==B==.";
        assert_eq!(names(text), ["CUSTREC", "ORDREC.CPY"]);
    }

    #[test]
    fn a_member_has_one_of_the_known_extensions_or_none() {
        let member = |name| member_name(name);
        assert_eq!(member("custrec.cpy"), Some("CUSTREC".to_owned()));
        assert_eq!(member("CUSTREC"), Some("CUSTREC".to_owned()));
        assert_eq!(member("custrec.Cob"), Some("CUSTREC".to_owned()));
        assert_eq!(member("custrec.txt"), None);
    }
}
