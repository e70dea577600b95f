//! Databases and a program to run calls against, made from macro source.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use base::{Code, Coded};
use definitions::resolve::{Nothing, Overlay, ResolvedPsb};
use definitions::{Dbd, Severity, compile};

/// What a subject is made from.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The DBDs, indexes and logical databases among them.
    pub dbds: Vec<Arc<Dbd>>,
    /// The program.
    pub psb: ResolvedPsb,
    /// Whether it runs online: a path insert needs P then (DLI-12.28).
    pub online: bool,
}

/// Why sources make no setup.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SetupError {
    /// A card is wrong.
    #[error("the sources do not compile:\n{0}")]
    Source(String),
    /// The members do not fit together.
    #[error("the members do not fit together:\n{0}")]
    Fit(String),
    /// There is no PSB, or there are several.
    #[error("the sources hold {0} PSBs, and one is needed")]
    Programs(usize),
}

impl Coded for SetupError {
    fn code(&self) -> Code {
        match self {
            SetupError::Source(_) => Code("HFI901"),
            SetupError::Fit(_) => Code("HFI902"),
            SetupError::Programs(_) => Code("HFI903"),
        }
    }

    fn remedy(&self) -> String {
        "correct the sources at the cards shown".to_owned()
    }
}

impl Setup {
    /// Compiles DBDs and one PSB; a line that ends with a comma is continued by the next.
    ///
    /// # Errors
    /// If a source has an error, or its members do not fit together.
    pub fn from_source(text: &str) -> Result<Setup, SetupError> {
        let mut sources = macros::Sources::new();
        let cards = cards(text);
        let path = Path::new("SOURCE");
        let program = macros::read(&mut sources, path, cards.as_bytes(), &macros::NoMembers);
        let compiled = compile(&program);
        let mut wrong = String::new();
        for one in program.diagnostics.iter().chain(&compiled.diagnostics) {
            if one.severity == Severity::Error {
                wrong.push_str(&sources.show(one));
            }
        }
        if !wrong.is_empty() {
            return Err(SetupError::Source(wrong));
        }
        let mut overlay = Overlay::new(&Nothing);
        for member in compiled.members.into_iter().filter_map(|one| one.member) {
            overlay.add(member);
        }
        let mut outcome = overlay.resolve();
        for finding in outcome.findings.iter().filter(|one| one.severity == Severity::Error) {
            // Writing to a string cannot fail.
            let _ = writeln!(wrong, "{}: {}", finding.member, finding.message);
        }
        if !wrong.is_empty() {
            return Err(SetupError::Fit(wrong));
        }
        match (outcome.psbs.pop(), outcome.psbs.len()) {
            (Some(psb), 0) => {
                Ok(Setup { dbds: overlay.dbds().cloned().collect(), psb, online: false })
            }
            (last, more) => Err(SetupError::Programs(more + usize::from(last.is_some()))),
        }
    }
}

/// Lines as cards: one that ends with a comma is continued, the next begins in column 16.
fn cards(text: &str) -> String {
    let mut out = String::new();
    let mut continued = false;
    for line in text.lines() {
        let line = match continued {
            true => format!("{:15}{}", "", line.trim_start()),
            false => line.to_owned(),
        };
        continued = line.ends_with(',');
        let mark = if continued { "X" } else { "" };
        // Writing to a string cannot fail.
        let _ = match continued {
            true => writeln!(out, "{line:<71}{mark}"),
            false => writeln!(out, "{line}"),
        };
    }
    out
}
