//! Results on standard output: text for people or JSON for programs.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write as _};
use std::sync::LazyLock;

use jobs::terms::Notices;
use seam::sync::Mutex;
use serde::Serialize;

use crate::advice::{typed, typed_json};
use crate::failure::Result;
use crate::text::harmless;

pub(crate) use operations::moment::{moment_of, utc};

/// Standard output.
pub(crate) struct Output {
    json: bool,
    /// Nothing, if no reader shall hear.
    stdout: Option<BufWriter<Stdout>>,
}

impl Output {
    pub(crate) fn new(json: bool) -> Output {
        Output { json, stdout: Some(BufWriter::new(io::stdout())) }
    }

    /// For a command that is run by another one.
    pub(crate) fn silent() -> Output {
        Output { json: false, stdout: None }
    }

    /// Whether a program reads it.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// A line of text; commands in it can be typed as they stand.
    pub(crate) fn line(&mut self, text: impl Display) -> Result<()> {
        self.raw(&harmless(&typed(&text.to_string())))
    }

    /// Text of this program's own, as it is.
    pub(crate) fn raw(&mut self, text: &str) -> Result<()> {
        match &mut self.stdout {
            Some(stdout) => Ok(writeln!(stdout, "{text}")?),
            None => Ok(()),
        }
    }

    /// A value as one line of JSON.
    pub(crate) fn value(&mut self, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string(value).map_err(io::Error::from)?;
        self.raw(&typed_json(text))
    }

    /// A value as JSON that people can read, too.
    pub(crate) fn document(&mut self, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
        self.raw(&typed_json(text))
    }

    /// A table: columns as wide as their widest cell, numbers to the right.
    pub(crate) fn table(&mut self, head: &[&str], rows: &[Vec<String>]) -> Result<()> {
        let cells = |column: usize| rows.iter().map(move |row| row[column].as_str());
        let widths: Vec<usize> = (0..head.len())
            .map(|column| {
                let widest = cells(column).map(|cell| cell.chars().count()).max().unwrap_or(0);
                widest.max(head[column].len())
            })
            .collect();
        let is_number = |cell: &str| cell.starts_with(|c: char| c.is_ascii_digit());
        let right: Vec<bool> = (0..head.len())
            .map(|column| !rows.is_empty() && cells(column).all(|c| c == "-" || is_number(c)))
            .collect();
        let line = |row: &mut dyn Iterator<Item = &str>| {
            let mut text = String::new();
            for (column, cell) in row.enumerate() {
                let width = widths[column];
                match right[column] {
                    true => text += &format!("  {cell:>width$}"),
                    false => text += &format!("  {cell:<width$}"),
                }
            }
            text.trim_end().to_owned()
        };
        self.line(line(&mut head.iter().copied()))?;
        for row in rows {
            self.line(line(&mut row.iter().map(String::as_str)))?;
        }
        Ok(())
    }

    /// Writes what has gathered.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.stdout.as_mut().map_or(Ok(()), |stdout| Ok(stdout.flush()?))
    }
}

/// Whether a person sees standard error.
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// A warning on standard error.
pub(crate) fn warn(text: impl Display) {
    say(format_args!("warning: {text}"));
}

/// What warnings of operations were said: some come up whenever a database is opened.
static WARNED: LazyLock<Mutex<BTreeSet<String>>> = LazyLock::new(Mutex::default);

/// A warning of an operation, once in the life of the process.
pub(crate) fn warn_once(text: &str) {
    if WARNED.lock().insert(text.to_owned()) {
        warn(text);
    }
}

/// Who hears what programs are not told.
pub(crate) const NOTICES: Notices = Notices { warn: |text| warn(text), say: |text| say(text) };

/// A line on standard error; one that takes nothing is nobody's fault.
pub(crate) fn say(text: impl Display) {
    let _ = writeln!(io::stderr(), "{}", harmless(&typed(&text.to_string())));
}
