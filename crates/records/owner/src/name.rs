//! Names of files that a system owns: a virtual catalog, and a file in it.
//!
//! | name | is |
//! |---|---|
//! | `#VSAM.#CICS.BANK/ACCOUNT` | the file ACCOUNT of the system BANK |
//! | `#VSAM.#CICS.BANK/BANK.ACCOUNT` | the cluster or path of that name in its catalog |
//!
//! Invariants:
//! 1. A file's own name comes first; what is none is a name of the catalog.

use std::collections::BTreeMap;
use std::fmt;

use vsam::DataSetName;

pub use file_handler::name::VIRTUAL;

/// The name of a system, for the users of its files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Applid(String);

impl Applid {
    /// The most letters.
    pub const LETTERS_MAX: usize = 8;

    /// Reads one: up to 8 letters, digits and `@#$`, in upper case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Applid> {
        let upper = text.to_ascii_uppercase();
        let is_letter = |byte: u8| byte.is_ascii_uppercase() || b"@#$".contains(&byte);
        let fits = upper.len() <= Applid::LETTERS_MAX
            && upper.bytes().next().is_some_and(is_letter)
            && upper.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit());
        fits.then_some(Applid(upper))
    }

    /// The one that a system has by the name of its folder, if it says no other.
    #[must_use]
    pub fn of_folder(folder: &std::path::Path) -> Applid {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let name = folder.file_name().map(|name| name.to_string_lossy().to_ascii_uppercase());
        let allowed = |letter: &char| letter.is_ascii_alphanumeric();
        let letters: String = name.unwrap_or_default().chars().filter(allowed).collect();
        let first = letters.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let short: String = first.chars().take(Applid::LETTERS_MAX).collect();
        Applid(if short.is_empty() { "HOLDFAST".into() } else { short })
    }

    /// As text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Applid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a file that a system owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualName {
    /// The system.
    pub applid: Applid,
    /// The file.
    pub file: String,
}

impl VirtualName {
    /// Reads one; `None` for a name that is of no virtual catalog.
    #[must_use]
    pub fn parse(name: &str) -> Option<VirtualName> {
        let upper = name.to_ascii_uppercase();
        let (applid, file) = upper.strip_prefix(VIRTUAL)?.split_once('/')?;
        DataSetName::parse(file).ok()?;
        Some(VirtualName { applid: Applid::parse(applid)?, file: file.to_owned() })
    }
}

impl fmt::Display for VirtualName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{VIRTUAL}{}/{}", self.applid, self.file)
    }
}

/// The files that a system has under names of their own.
#[derive(Clone, Debug)]
pub struct Files {
    /// The system's own name.
    pub applid: Applid,
    /// The data set of each file.
    pub names: BTreeMap<String, String>,
}

impl Files {
    /// What a name stands for in the catalog; `None` if it is another system's.
    #[must_use]
    pub fn resolve(&self, name: &str) -> Option<String> {
        if !name.to_ascii_uppercase().starts_with(VIRTUAL) {
            return Some(name.to_owned());
        }
        let VirtualName { applid, file } = VirtualName::parse(name)?;
        (applid == self.applid).then(|| self.names.get(&file).cloned().unwrap_or(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_virtual_name_is_a_system_and_a_file() {
        let name = VirtualName::parse("#vsam.#cics.bank/account").expect("a name");
        assert_eq!((name.applid.text(), name.file.as_str()), ("BANK", "ACCOUNT"));
        assert_eq!(name.to_string(), "#VSAM.#CICS.BANK/ACCOUNT");
        for other in ["BANK.ACCOUNT", "#VSAM.#CICS.BANK", "#VSAM.#CICS./A", "#VSAM.#CICS.A B/C"] {
            assert_eq!(VirtualName::parse(other), None, "{other}");
        }
        assert_eq!(VirtualName::parse("#VSAM.#CICS.LONGNAMES/A"), None);
        assert_eq!(VirtualName::parse("#VSAM.#CICS.BANK/NO/MORE"), None);
    }

    #[test]
    fn a_file_has_its_own_name_or_that_of_the_catalog() {
        let applid = Applid::parse("BANK").expect("a name");
        let names = [("ACCOUNT".to_owned(), "BANK.PROD.ACCOUNT".to_owned())].into();
        let files = Files { applid, names };
        let of = |name| files.resolve(name);
        assert_eq!(of("#VSAM.#CICS.BANK/ACCOUNT").as_deref(), Some("BANK.PROD.ACCOUNT"));
        assert_eq!(of("#VSAM.#CICS.BANK/BANK.X").as_deref(), Some("BANK.X"));
        assert_eq!(of("BANK.X").as_deref(), Some("BANK.X"));
        assert_eq!(of("#VSAM.#CICS.SHOP/ACCOUNT"), None);
    }

    #[test]
    fn a_folder_gives_its_system_a_name() {
        for (folder, name) in
            [("/srv/bank", "BANK"), ("/srv/1-test.system", "TESTSYST"), ("/", "HOLDFAST")]
        {
            assert_eq!(Applid::of_folder(Path::new(folder)).text(), name);
        }
    }
}
