//! What a check of finished definitions found, and how it leads back to a word of the source.
//!
//! A check knows definitions, not cards, for they may come from the repository. So it names the
//! [`Spot`] within the member; [`Places`] of a member that was compiled just now turn that into
//! a place.

use std::collections::BTreeMap;
use std::fmt;

use macros::{Diagnostic, Place, Severity};

use crate::model::{DbdName, PsbName};

/// The name of a member, with its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemberName {
    /// A database definition.
    Dbd(DbdName),
    /// A program specification.
    Psb(PsbName),
}

impl fmt::Display for MemberName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemberName::Dbd(name) => write!(f, "DBD {name}"),
            MemberName::Psb(name) => write!(f, "PSB {name}"),
        }
    }
}

/// A statement of a member, by what it defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Spot {
    /// The DBD or PSBGEN statement.
    Member,
    /// A DATASET or AREA.
    DataSet(u16),
    /// A SEGM.
    Segment(u16),
    /// A FIELD: its segment, its place there.
    Field(u16, u16),
    /// An LCHILD: its segment, its place there.
    Child(u16, u16),
    /// The XDFLD behind that LCHILD.
    Indexed(u16, u16),
    /// A PCB.
    Pcb(u16),
    /// A SENSEG: its PCB, its place there.
    Sensitive(u16, u16),
    /// A SENFLD: its PCB, its SENSEG, its place there.
    SensitiveField(u16, u16, u16),
}

/// The number of something in a spot; a member never has that many of anything.
pub(crate) fn nth(at: usize) -> u16 {
    u16::try_from(at).unwrap_or(u16::MAX)
}

/// Something that a check has to say about a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The stable code.
    pub code: &'static str,
    /// Which member it is about.
    pub member: MemberName,
    /// Which statement of it.
    pub spot: Spot,
    /// Which operand of that; the whole statement if empty.
    pub keyword: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl Finding {
    /// As a diagnostic that points at the word, if the member was compiled with these places.
    #[must_use]
    pub fn diagnostic(&self, places: &Places) -> Diagnostic {
        Diagnostic {
            severity: self.severity,
            code: self.code,
            place: places.find(self.spot, self.keyword),
            message: self.message.clone(),
            help: self.help.clone(),
        }
    }
}

impl fmt::Display for Finding {
    /// For members that come from the repository and have no source at hand.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.code, self.member, self.message)
    }
}

/// Where the words of a member stand.
#[derive(Clone, Debug)]
pub struct Places {
    first: Place,
    words: BTreeMap<(Spot, String), Place>,
}

impl Places {
    /// The places of a member that begins there.
    pub(crate) fn new(first: Place) -> Places {
        Places { first, words: BTreeMap::new() }
    }

    pub(crate) fn note(&mut self, spot: Spot, keyword: &str, place: Place) {
        self.words.insert((spot, keyword.to_owned()), place);
    }

    /// The place of an operand, else of its statement, else of the member.
    #[must_use]
    pub fn find(&self, spot: Spot, keyword: &str) -> Place {
        let word = |spot: Spot, keyword: &str| self.words.get(&(spot, keyword.to_owned()));
        let found = word(spot, keyword)
            .or_else(|| word(spot, ""))
            .or_else(|| word(Spot::Member, keyword))
            .or_else(|| word(Spot::Member, ""));
        *found.unwrap_or(&self.first)
    }
}

/// Gathers findings about one member.
pub(crate) struct Findings {
    pub(crate) member: MemberName,
    pub(crate) list: Vec<Finding>,
}

impl Findings {
    pub(crate) fn new(member: MemberName) -> Findings {
        Findings { member, list: Vec::new() }
    }

    pub(crate) fn error(
        &mut self,
        code: &'static str,
        at: (Spot, &'static str),
        message: impl Into<String>,
    ) -> &mut Finding {
        self.push(Severity::Error, code, at.0, at.1, message.into())
    }

    pub(crate) fn warning(
        &mut self,
        code: &'static str,
        at: (Spot, &'static str),
        message: impl Into<String>,
    ) -> &mut Finding {
        self.push(Severity::Warning, code, at.0, at.1, message.into())
    }

    fn push(
        &mut self,
        severity: Severity,
        code: &'static str,
        spot: Spot,
        keyword: &'static str,
        message: String,
    ) -> &mut Finding {
        let member = self.member;
        self.list.push(Finding { severity, code, member, spot, keyword, message, help: None });
        let last = self.list.len() - 1;
        &mut self.list[last]
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.list.iter().any(|finding| finding.severity == Severity::Error)
    }
}

impl Finding {
    pub(crate) fn help(&mut self, help: impl Into<String>) {
        self.help = Some(help.into());
    }
}
