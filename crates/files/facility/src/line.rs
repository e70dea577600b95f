//! The command line: commands, options and files, in any order, and the call that they make.
//!
//! 1. What stands behind an option that takes a word is that word, whatever it looks like.
//! 2. `--` ends the options. A word that begins with `--` goes on to the clear command as it is,
//!    but `--dd NAME=PATH`, which says what a name of a data set leads to.
//! 3. Commands go together only where that has a meaning: `-e -c -s`, `-s -b`.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use zeroize::Zeroizing;

use crate::configuration::shown;
use crate::data_sets::dd;
use crate::error::{Error, Result};
use crate::nearest::nearest;
use crate::settings::{Setting, Settings, Value};
use crate::table::{COMMANDS, Command, Means, OPTIONS, Row, Takes, option};

/// A command line, taken apart.
#[derive(Clone)]
pub struct Line {
    pub(crate) commands: Vec<Command>,
    pub(crate) settings: Settings,
    /// Words for the clear command (2).
    pub(crate) further: Vec<OsString>,
    pub(crate) arguments: Vec<OsString>,
    /// Files by their DD names.
    pub(crate) dds: Vec<(String, PathBuf)>,
    /// Whether it has a secret that everybody on the machine can see.
    pub(crate) shows_a_secret: bool,
}

/// Secrets that a line or a configuration holds.
#[derive(Default)]
pub struct Secrets {
    /// The passphrase of files.
    pub file: Option<Zeroizing<Vec<u8>>>,
    /// The passphrase of secret keys.
    pub key: Option<Zeroizing<Vec<u8>>>,
    /// The passphrase of a keystore.
    pub keystore: Option<Zeroizing<Vec<u8>>>,
}

/// What the clear command is to do.
pub struct Call {
    /// Its words, from the subcommand on; none if only help is wanted.
    pub words: Vec<OsString>,
    /// What it would otherwise ask for.
    pub secrets: Secrets,
    /// What to tell the user.
    pub notes: Vec<String>,
}

impl Line {
    /// Whether these words, which follow `holdfast pgp`, are of this language: a command or an
    /// option of one dash comes first. `-h` alone is the clear command's.
    #[must_use]
    pub fn is_one(words: &[OsString]) -> bool {
        let own = |word: &OsString| {
            let word = word.as_encoded_bytes();
            word.first() == Some(&b'-') && word.len() > 1 && word.get(1) != Some(&b'-')
        };
        words.iter().find(|word| !word.as_encoded_bytes().starts_with(b"--")).is_some_and(own)
            && words != [OsString::from("-h")]
    }

    /// Takes the words behind `holdfast pgp` apart.
    ///
    /// # Errors
    /// If an option is not known, or has no value.
    pub fn parse(words: &[OsString]) -> Result<Line> {
        let mut line = Line {
            commands: Vec::new(),
            settings: Settings::default(),
            further: Vec::new(),
            arguments: Vec::new(),
            dds: Vec::new(),
            shows_a_secret: false,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let bytes = word.as_encoded_bytes();
            if bytes == b"--" {
                line.arguments.extend(words.by_ref().cloned());
            } else if bytes == b"--dd" {
                line.put_dd(words.next().map_or(OsStr::new(""), OsString::as_os_str))?;
            } else if let Some(operand) = word.to_str().and_then(|word| word.strip_prefix("--dd="))
            {
                line.put_dd(OsStr::new(operand))?;
            } else if bytes.starts_with(b"--") {
                line.further.push(word.clone());
            } else if bytes.starts_with(b"-") && bytes.len() > 1 {
                line.named(word, &mut words)?;
            } else {
                line.arguments.push(word.clone());
            }
        }
        Ok(line)
    }

    /// A word that begins with a dash, and what belongs to it (1).
    fn named<'a>(
        &mut self,
        word: &OsStr,
        rest: &mut impl Iterator<Item = &'a OsString>,
    ) -> Result<()> {
        let name = word.to_string_lossy();
        if let Some((_, command, _)) = COMMANDS.iter().find(|(known, _, _)| *known == name) {
            self.commands.push(*command);
            return Ok(());
        }
        let row = option(&name).ok_or_else(|| unknown(&name))?;
        let value = value(row, rest)?;
        self.shows_a_secret |= row.takes == Takes::Secret;
        self.settings.put(Setting { row, value });
        Ok(())
    }

    /// What stands behind `--dd`.
    fn put_dd(&mut self, operand: &OsStr) -> Result<()> {
        let (name, path) = dd(operand)?;
        if self.dds.iter().any(|(known, _)| *known == name) {
            let what = format!("there are two files for DD {name}");
            return Err(Error::value(what, "Give each DD once."));
        }
        self.dds.push((name, path));
        Ok(())
    }

    /// The folder of the key ring, if the line names one.
    #[must_use]
    pub fn home(&self) -> Option<PathBuf> {
        self.settings.find(Means::Home).map(|setting| PathBuf::from(setting.word()))
    }

    /// Whether help is asked for.
    #[must_use]
    pub fn wants_help(&self) -> bool {
        self.commands.contains(&Command::Help)
    }
}

fn value<'a>(row: &Row, rest: &mut impl Iterator<Item = &'a OsString>) -> Result<Value> {
    if row.takes == Takes::Switch {
        return Ok(Value::Switch(true));
    }
    let missing = || {
        let what = format!("{} has no value", row.name);
        Error::value(what, "Put one behind it.")
    };
    let word = rest.next().filter(|word| !word.is_empty()).ok_or_else(missing)?;
    Ok(match row.takes {
        Takes::Secret => Value::Secret(Zeroizing::new(word.as_encoded_bytes().to_vec())),
        _ => Value::Word(word.clone()),
    })
}

fn unknown(name: &str) -> Error {
    // What is glued to the name of a secret is one.
    let is_secret = |row: &&Row| {
        row.takes == Takes::Secret && !row.name.is_empty() && name.starts_with(row.name)
    };
    if let Some(row) = OPTIONS.iter().find(is_secret) {
        let what = format!("what belongs to {} stands in one word with it", row.name);
        return Error::value(what, "Put a blank between them.");
    }
    let known = COMMANDS.iter().map(|(name, _, _)| *name);
    let known = known.chain(OPTIONS.iter().map(|row| row.name).filter(|name| !name.is_empty()));
    let near = nearest(name, known);
    Error::unknown("option", &shown(name), near, "`holdfast pgp -e -h` shows all of them.")
}
