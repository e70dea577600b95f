//! Names of data sets as the host has them, and the files that they lead to here.
//!
//! ```text
//! | name              | leads to                                                             |
//! |-------------------|----------------------------------------------------------------------|
//! | //DD:NAME         | what --dd NAME=PATH says, else the variable DD_NAME or dd_NAME       |
//! | //DD:NAME(MEMBER) | MEMBER in the folder that //DD:NAME leads to                         |
//! | //'A.B.C'         | A.B.C in the folder of data sets                                     |
//! | //'A.B.C(MEMBER)' | MEMBER in the folder A.B.C there                                     |
//! | anything else     | itself; but //A.B, to which the host would add a user's name, is     |
//! |                   | refused, for nobody here knows that name                             |
//! ```
//!
//! 1. Letters count as capitals, as on the host; files and folders have the names in capitals.
//! 2. A name has letters, digits, `@#$-` and dots only, so it never leads out of its folder.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::configuration::shown;
use crate::error::{Error, Result};

/// Looks for a variable of the environment.
pub type Variable<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// No name of a data set is longer, and none of its parts.
const NAME_MAX: usize = 44;
const PART_MAX: usize = 8;

/// Where names lead to.
pub(crate) struct DataSets<'a> {
    /// What `--dd` says, by names in capitals.
    pub(crate) dds: &'a [(String, PathBuf)],
    /// The folder of data sets.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) variable: Variable<'a>,
}

impl DataSets<'_> {
    /// The file that a word of a command line, or of a configuration, stands for.
    ///
    /// # Errors
    /// If it is the name of a data set that leads nowhere; the error says how to give it.
    pub(crate) fn path(&self, word: &OsStr) -> Result<OsString> {
        let Some(rest) = word.to_str().and_then(|text| text.strip_prefix("//")) else {
            return Ok(word.to_owned());
        };
        let name = rest.to_ascii_uppercase();
        let quoted = name.strip_prefix('\'');
        let given = || shown(&word.to_string_lossy());
        let path = if let Some(dd) = name.strip_prefix("DD:") {
            let (dd, member) =
                parts(dd).filter(|(dd, _)| is_part(dd)).ok_or_else(|| no_dd(&given()))?;
            self.dd(dd)?.join(member.unwrap_or_default())
        } else if let Some(quoted) = quoted {
            let whole = quoted.strip_suffix('\'').and_then(parts);
            let (name, member) =
                whole.filter(|(name, _)| is_name(name)).ok_or_else(|| no_name(&given()))?;
            let file = self.folder(&given())?.join(name);
            member.map_or_else(|| with_its_ending(&file), |member| file.join(member))
        } else if parts(&name).is_some_and(|(name, _)| is_name(name)) {
            let what = format!("{} does not say whose data set it is", given());
            let remedy = format!("Write it whole, as in //'HLQ.{name}'; a file has one slash.");
            return Err(Error::value(what, remedy));
        } else {
            return Ok(word.to_owned());
        };
        Ok(without_end(&path))
    }

    fn dd(&self, name: &str) -> Result<PathBuf> {
        if let Some((_, path)) = self.dds.iter().find(|(known, _)| known == name) {
            return Ok(path.clone());
        }
        let variables = ["DD_", "dd_"].map(|front| format!("{front}{name}"));
        let found = variables.iter().find_map(|one| (self.variable)(one));
        found.filter(|path| !path.is_empty()).map(PathBuf::from).ok_or_else(|| {
            let remedy = format!("Add --dd {name}=PATH, or set the variable DD_{name}.");
            Error::value(format!("nothing says which file DD {name} is"), remedy)
        })
    }

    fn folder(&self, given: &str) -> Result<&PathBuf> {
        self.folder.as_ref().ok_or_else(|| {
            let remedy = "Give -dataset-folder FOLDER, or DATASET_FOLDER in ibmef.config.";
            Error::value(format!("nothing says where the data set {given} is"), remedy)
        })
    }
}

/// Takes `NAME=PATH` apart.
///
/// # Errors
/// If it is something else.
pub(crate) fn dd(word: &OsStr) -> Result<(String, PathBuf)> {
    let text = word.to_string_lossy();
    let found = word.to_str().and_then(|text| text.split_once('='));
    let found = found.map(|(name, path)| (name.to_ascii_uppercase(), path));
    let found = found.filter(|(name, path)| is_part(name) && !path.is_empty());
    let (name, path) = found.ok_or_else(|| {
        let what = format!("--dd {} is not NAME=PATH", shown(&text));
        Error::value(what, "Write it as in --dd PAY=pay.dat; a name has up to 8 characters.")
    })?;
    Ok((name, PathBuf::from(path)))
}

/// A name, and the member behind it if there is one.
fn parts(text: &str) -> Option<(&str, Option<&str>)> {
    let Some((name, rest)) = text.split_once('(') else { return Some((text, None)) };
    let member = rest.strip_suffix(')').filter(|member| is_part(member))?;
    Some((name, Some(member)))
}

/// A part between dots; also the name of a DD or a member.
fn is_part(part: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_uppercase() || "@#$".contains(c);
    part.len() <= PART_MAX
        && part.starts_with(is_letter)
        && part.chars().all(|c| is_letter(c) || c.is_ascii_digit() || c == '-')
}

fn is_name(name: &str) -> bool {
    name.len() <= NAME_MAX && name.split('.').all(is_part)
}

/// The file of a data set; one that came about beside another, and got its name by an ending behind
/// it, has that in small letters.
fn with_its_ending(path: &Path) -> PathBuf {
    const ENDINGS: [&str; 3] = ["pgp", "asc", "sig"];
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    let small = ending.filter(|ending| ENDINGS.contains(&ending.as_str()));
    let small = small.map(|ending| path.with_extension(ending));
    small.filter(|small| !path.exists() && small.is_file()).unwrap_or_else(|| path.to_owned())
}

/// Joining nothing leaves a separator behind, which would make a folder of a file.
fn without_end(path: &Path) -> OsString {
    path.components().as_path().as_os_str().to_owned()
}

fn no_dd(given: &str) -> Error {
    let remedy = "Write it as in //DD:PAY or //DD:PAY(MAY); names have up to 8 characters.";
    Error::value(format!("{given} is no name of a DD"), remedy)
}

fn no_name(given: &str) -> Error {
    let remedy = "Write it as in //'HLQ.PAY.DATA' or //'HLQ.PAY(MAY)': parts of up to 8 letters, \
                  digits, @, #, $ or -. Generations have no numbers here: name the file itself.";
    Error::value(format!("{given} is no name of a data set"), remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(word: &str) -> std::result::Result<String, String> {
        let dds = [dd(OsStr::new("pay=in/pay.dat")).unwrap()];
        let variable = |name: &str| (name == "DD_OTHER").then(|| OsString::from("/srv/other"));
        let folder = Some(PathBuf::from("/srv/sets"));
        let sets = DataSets { dds: &dds, folder, variable: &variable };
        let text = |error: Error| format!("{error}. {}", base::Coded::remedy(&error));
        sets.path(OsStr::new(word)).map(|path| path.into_string().unwrap()).map_err(text)
    }

    #[test]
    fn a_name_leads_to_its_file() {
        for (word, file) in [
            ("//DD:PAY", "in/pay.dat"),
            ("//dd:pay", "in/pay.dat"),
            ("//DD:OTHER", "/srv/other"),
            ("//DD:OTHER(MAY)", "/srv/other/MAY"),
            ("//'HLQ.PAY.DATA'", "/srv/sets/HLQ.PAY.DATA"),
            ("//'hlq.pay-1.$@#(may)'", "/srv/sets/HLQ.PAY-1.$@#/MAY"),
            ("pay.dat", "pay.dat"),
            ("/srv/pay.dat", "/srv/pay.dat"),
            ("//srv/pay.dat", "//srv/pay.dat"),
            ("'HLQ.PAY'", "'HLQ.PAY'"),
            ("-", "-"),
            ("", ""),
        ] {
            assert_eq!(path(word).as_deref(), Ok(file), "{word}");
        }
    }

    #[test]
    fn what_leads_nowhere_says_how_to_give_it() {
        for (word, named) in [
            ("//DD:NONE", "--dd NONE=PATH"),
            ("//DD:", "no name of a DD"),
            ("//DD:LONGERTHAN", "no name of a DD"),
            ("//DD:PAY(../X)", "no name of a DD"),
            ("//''", "no name of a data set"),
            ("//'HLQ.PAY", "no name of a data set"),
            ("//'HLQ..PAY'", "no name of a data set"),
            ("//'../../etc'", "no name of a data set"),
            ("//'HLQ.PAY(+1)'", "Generations"),
            ("//'HLQ.PAY(MAY'", "no name of a data set"),
            ("//'A.VERYLONGNAME'", "no name of a data set"),
            ("//PAY.DATA", "//'HLQ.PAY.DATA'"),
        ] {
            let given = path(word).unwrap_err();
            assert!(given.contains(named), "{word}: {given}");
        }
        let nowhere = DataSets { dds: &[], folder: None, variable: &|_| None };
        let error = nowhere.path(OsStr::new("//'HLQ.PAY'")).unwrap_err();
        assert!(base::Coded::remedy(&error).contains("DATASET_FOLDER"));
        for wrong in ["PAY", "=x", "PAY=", "A.B=x"] {
            assert!(dd(OsStr::new(wrong)).is_err(), "{wrong}");
        }
    }
}
