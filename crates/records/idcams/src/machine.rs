//! What the executor asks of its surroundings: files of the machine, DD names, time.
//!
//! | DD | means |
//! |---|---|
//! | `NAME=DATA.SET.NAME` | an entry of the catalog, if there is one of that name; else a file that is there |
//! | `NAME=GROUP(-1)` | a generation |
//! | `NAME=path` | a file of the machine; with `/` in it, or a form behind it, always |
//! | `,text` | of lines |
//! | `,fb=80` | of records of 80 bytes, one behind the other |
//! | `,vb` | of records behind record descriptor words |
//! | `,bdw` | of the same, in blocks behind block descriptor words |

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::form::Form;

/// A file that is being written.
pub trait Output: Write {
    /// Ends it: what was written is durable when this returns.
    ///
    /// # Errors
    /// What the disk says.
    fn finish(&mut self) -> io::Result<()>;

    /// The same before what it was copied from is deleted: its name has to be durable, too, or it
    /// fails. [`Output::finish`] may leave that out where the folder of a file does not allow it.
    ///
    /// # Errors
    /// What the disk says.
    fn finish_for_good(&mut self) -> io::Result<()> {
        self.finish()
    }
}

/// The surroundings.
pub trait Machine {
    /// Opens a file to read it.
    ///
    /// # Errors
    /// What the disk says.
    fn read(&mut self, path: &Path) -> io::Result<Box<dyn Read>>;

    /// Opens a file to write it: anew, or at its end.
    ///
    /// # Errors
    /// What the disk says.
    fn write(&mut self, path: &Path, append: bool) -> io::Result<Box<dyn Output>>;

    /// The path from wherever statements are executed later.
    fn absolute(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }

    /// Whether there is such a file.
    fn exists(&mut self, path: &Path) -> bool;

    /// Deletes a file.
    ///
    /// # Errors
    /// What the disk says.
    fn remove(&mut self, path: &Path) -> io::Result<()>;

    /// Microseconds since 1970, UTC.
    fn now_us(&self) -> u64;

    /// Whether nobody else can be at work on the catalog's data sets.
    fn is_alone(&self) -> bool {
        true
    }

    /// Long work goes on: so many records of `what` are done. Nothing has to be done with it.
    ///
    /// # Errors
    /// If nobody wants the work any more: it ends.
    fn progress(&mut self, what: &str, records: u64) -> io::Result<()> {
        let _ = (what, records);
        Ok(())
    }
}

/// A DD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dd {
    /// Its name, in upper case.
    pub name: String,
    /// What it names, as it was written.
    pub target: PathBuf,
    /// How a file's records look, if that was said.
    pub form: Option<Form>,
}

impl Dd {
    /// Reads `NAME=DSN`, `NAME=PATH`, and the forms behind a comma.
    #[must_use]
    pub fn parse(operand: &str) -> Option<Dd> {
        let (name, target) = operand.split_once('=')?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || "@#$-_".contains(c);
        if name.is_empty() || name.len() > 30 || !name.chars().all(is_name) {
            return None;
        }
        let (target, form) = match target.rsplit_once(',') {
            Some((target, last)) => match Form::named(last) {
                Some(form) => (target, Some(form)),
                None => (operand.split_once('=')?.1, None),
            },
            None => (target, None),
        };
        if target.is_empty() {
            return None;
        }
        Some(Dd { name: name.to_ascii_uppercase(), target: PathBuf::from(target), form })
    }

    /// The name of a data set that it may be.
    pub(crate) fn data_set(&self) -> Option<&str> {
        let text = self.target.to_str()?;
        (self.form.is_none() && !text.contains('/')).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dd_names_a_data_set_or_a_file_with_its_form() {
        let dd = |text: &str| Dd::parse(text).expect("a DD");
        assert_eq!(dd("in=BANK.ACCT").data_set(), Some("BANK.ACCT"));
        assert_eq!(dd("IN=./x.dat").data_set(), None);
        assert_eq!(dd("IN=x.dat,fb=80").form, Some(Form::Fixed(80)));
        assert_eq!(dd("IN=x.dat,text").form, Some(Form::Lines));
        assert_eq!(dd("IN=x.dat,vb").form, Some(Form::Variable));
        assert_eq!(dd("IN=x.dat,bdw").form, Some(Form::Blocked));
        assert_eq!(dd("IN=a,b").target, PathBuf::from("a,b"));
        for wrong in ["IN", "=x", "IN=", "A B=x", "IN=,vb"] {
            assert_eq!(Dd::parse(wrong), None, "{wrong}");
        }
    }
}
