//! The Encryption Facility's command line: put into words of the clear command before anything
//! else is read.
//!
//! 1. Only words that follow `pgp` are looked at; everything else stays as it is.
//! 2. What a file is, its beginning tells: there, nothing says that it is text that stays readable.
//! 3. What is said of options names them as they are called there.
//! 4. Passphrases of the line or of its configuration never become words again.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use facility::{Configuration, Line, Secrets};
use openpgp::Error;
use seam::Seam;
use seam::disk::read_small;
use zeroize::Zeroizing;

use super::files::shown;
use super::{HOME_VARIABLE, usual_home};
use crate::failure::{Failure, Result};
use crate::output::warn;

/// No configuration is longer.
const FILE_MAX: usize = 1 << 20;

/// What a command line comes to.
pub(crate) enum Rewritten {
    /// Words for the clear command, and the secrets that were among them.
    Words(Vec<OsString>, Secrets),
    /// A text to show.
    Help(String),
}

/// The command line in clear words.
pub(crate) fn clear(words: Vec<OsString>) -> Result<Rewritten> {
    let is_pgp = |word: &OsString| word == "pgp";
    // Only what is global may stand before the name of a command.
    let before = words.iter().skip(1).take_while(|word| *word == "--json").count() + 1;
    let Some((head, rest)) = words.split_at_checked(before + 1) else {
        return Ok(Rewritten::Words(words, Secrets::default()));
    };
    if !head.last().is_some_and(is_pgp) || !Line::is_one(rest) {
        return Ok(Rewritten::Words(words, Secrets::default()));
    }
    crate::advice::remember_facility();
    let line = Line::parse(rest)?;
    if line.wants_help() {
        return Ok(Rewritten::Help(facility::help()));
    }
    let home = line.home().or_else(|| std::env::var_os(HOME_VARIABLE).map(PathBuf::from));
    let configuration = match home.or_else(usual_home) {
        Some(home) => configuration(&home.join(Configuration::FILE))?,
        None => Configuration::default(),
    };
    let call = line.call(&configuration, &|name| std::env::var_os(name))?;
    for note in &call.notes {
        warn(note);
    }
    let mut words: Vec<OsString> = head.iter().cloned().chain(call.words).collect();
    if words.get(head.len()).is_some_and(|word| word == "verify") {
        words.insert(head.len() + 1, "--plain".into());
    }
    Ok(Rewritten::Words(words, call.secrets))
}

/// The configuration; one that is not there says nothing.
fn configuration(path: &Path) -> Result<Configuration> {
    let disk = Seam::real().disk;
    let failed = |source| Error::Io { what: shown(path), source };
    if !disk.exists(path).map_err(failed)? {
        return Ok(Configuration::default());
    }
    let text = Zeroizing::new(read_small(&*disk, path, FILE_MAX).map_err(failed)?);
    let read = Configuration::parse(&text);
    let configuration = read.map_err(|error| Failure::from(error).about(shown(path)))?;
    if configuration.holds_a_secret() && crate::passphrase::others_read(path) {
        warn(format!("{} holds a passphrase, and others can read it", shown(path)));
    }
    Ok(configuration)
}
