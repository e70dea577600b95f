//! Which files the statements' user has named: no others are touched, whatever a server asks.
//!
//! | named by | how the server may ask for it |
//! |---|---|
//! | `--dd NAME=PATH` | as it is written |
//! | a text with `/` in apostrophes, PATHNAME, RECORDMAP, anywhere in the statements | the same |
//! | an answer to "absolute" of one of these | as it was answered |
//! | RECORDMAP | reads of files in its own folder and in those that the map names: its copybooks |
//!
//! Invariants:
//! 1. What a catalog says of a file names nothing: it is the server that says so.
//! 2. Paths are compared letter for letter: those that are equal by their parts alone may lead
//!    elsewhere.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use copybook::Bundle;
use idcams::{Machine, Parameters, Statement, Step, Text, Value, statements_of};

/// The longest map.
const MAP_BYTES_MAX: u64 = 4 << 20;

/// The files that were named.
pub(super) struct Named {
    files: BTreeSet<OsString>,
    maps: BTreeSet<OsString>,
}

impl Named {
    /// Those of DDs and of statements.
    pub(super) fn of(dds: &[PathBuf], statements: &str) -> Named {
        let files = dds.iter().map(|path| path.as_os_str().to_owned()).collect();
        let mut named = Named { files, maps: BTreeSet::new() };
        statements_of(statements).iter().for_each(|step| named.step(step));
        named
    }

    fn step(&mut self, step: &Step) {
        match &step.statement {
            Statement::Command(command) => self.parameters(&command.parameters),
            Statement::Do(steps) => steps.iter().for_each(|step| self.step(step)),
            Statement::If { then, otherwise, .. } => {
                [then, otherwise].into_iter().flatten().for_each(|step| self.step(step));
            }
            _ => {}
        }
    }

    fn parameters(&mut self, parameters: &Parameters) {
        parameters.positional.iter().for_each(|value| self.value(value));
        for one in parameters.iter() {
            for value in &one.values {
                match one.name {
                    "RECORDMAP" if value.name().eq_ignore_ascii_case("TEXT") => {}
                    "RECORDMAP" => {
                        self.maps.insert(value.literal().into());
                    }
                    "PATHNAME" => {
                        self.files.insert(value.literal().into());
                    }
                    _ => self.value(value),
                }
            }
            one.rows.iter().for_each(|row| self.parameters(row));
        }
    }

    fn value(&mut self, value: &Value) {
        if let Text::Quoted(text) = &value.text
            && text.contains('/')
        {
            self.files.insert(text.into());
        }
    }

    /// Another name of one of them.
    pub(super) fn add(&mut self, path: PathBuf) {
        self.files.insert(path.into());
    }

    /// # Errors
    /// If the file was not named.
    pub(super) fn check(&self, path: &Path) -> io::Result<()> {
        if self.files.contains(path.as_os_str()) { Ok(()) } else { Err(unnamed(path)) }
    }

    /// The same, for a file that is only read.
    ///
    /// # Errors
    /// If it is neither named nor a copybook's.
    pub(super) fn check_read(&self, path: &Path, machine: &mut dyn Machine) -> io::Result<()> {
        let is_named = [&self.files, &self.maps].iter().any(|all| all.contains(path.as_os_str()));
        match is_named || self.maps.iter().any(|map| has_member(Path::new(map), path, machine)) {
            true => Ok(()),
            false => Err(unnamed(path)),
        }
    }
}

/// Whether a file stands where a map's copybooks are looked for.
fn has_member(map: &Path, path: &Path, machine: &mut dyn Machine) -> bool {
    let own = map.parent().unwrap_or(Path::new(""));
    let Some(name) = path.file_name() else { return false };
    let stands_in = |folder: &Path| folder.join(name).as_os_str() == path.as_os_str();
    if stands_in(own) {
        return true;
    }
    let Ok(input) = machine.read(map) else { return false };
    let mut text = String::new();
    if input.take(MAP_BYTES_MAX).read_to_string(&mut text).is_err() {
        return false;
    }
    let folders = Bundle::folders(&text).unwrap_or_default();
    folders.iter().any(|folder| stands_in(&own.join(folder)))
}

fn unnamed(path: &Path) -> io::Error {
    io::Error::other(format!(
        "neither --dd nor the statements name {0}; if it is meant, add --dd FILE={0}",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_dds_and_statements_name_is_named_and_nothing_else() {
        let statements = "
  DEFINE NONVSAM (NAME(BANK.OLD) PATHNAME(old.dat))
  REPRO INFILE(IN) OUTFILE(OUT) TOEBCDIC RECORDMAP(TEXT)
  IF LASTCC = 0 THEN DO
    REPRO INDATASET('/srv/in.dat') OUTFILE(OUT)
    DELETE BANK.OLD
  END
";
        let named = Named::of(&["out.dat".into()], statements);
        for path in ["old.dat", "/srv/in.dat", "out.dat"] {
            assert!(named.check(Path::new(path)).is_ok(), "{path}");
        }
        for path in ["BANK.OLD", "./out.dat", "/srv", "/srv//in.dat", "/etc/shadow", ""] {
            assert!(named.check(Path::new(path)).is_err(), "{path}");
        }
    }
}
