//! How the tests write cards and read them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdfast_definitions as definitions;

use definitions::resolve::{Nothing, Outcome, Overlay};
use definitions::{Compiled, Dbd, Member, Psb, Severity, compile};
use macros::{CopyMembers, Sources};

/// There are no COPY members.
pub(crate) struct NoCopies;

impl CopyMembers for NoCopies {
    fn find(&self, _: &str) -> Option<(PathBuf, Vec<u8>)> {
        None
    }
}

/// Lines as cards: one that ends with a comma is continued, the next begins in column 16.
pub(crate) fn cards(text: &str) -> String {
    let mut out = String::new();
    let mut continued = false;
    for line in text.lines() {
        let line = match continued {
            true => format!("{:15}{}", "", line.trim_start()),
            false => line.to_owned(),
        };
        assert!(line.len() <= 71, "too long for a card: {line}");
        continued = line.ends_with(',');
        if continued {
            out.push_str(&format!("{line:<71}X\n"));
        } else {
            out.push_str(&line);
            out.push('\n');
        }
    }
    out
}

/// Compiles a source that must be readable.
pub(crate) fn source(text: &str) -> Compiled {
    let mut sources = Sources::new();
    let text = cards(text);
    let program = macros::read(&mut sources, Path::new("TEST"), text.as_bytes(), &NoCopies);
    let unread: Vec<_> = program
        .diagnostics
        .iter()
        .filter(|one| one.severity == Severity::Error)
        .map(|one| sources.show(one))
        .collect();
    assert!(unread.is_empty(), "{unread:#?}");
    compile(&program)
}

/// Compiles a source that may have cards that cannot be read.
pub(crate) fn unreadable(text: &str) -> Compiled {
    let mut sources = Sources::new();
    let text = cards(text);
    compile(&macros::read(&mut sources, Path::new("TEST"), text.as_bytes(), &NoCopies))
}

/// The members of a source that must have no errors.
pub(crate) fn members(text: &str) -> Vec<Member> {
    let compiled = source(text);
    let bad: Vec<_> =
        compiled.diagnostics.iter().filter(|one| one.severity == Severity::Error).collect();
    assert!(bad.is_empty(), "{bad:#?}");
    compiled.members.into_iter().filter_map(|one| one.member).collect()
}

/// The only DBD of a source.
pub(crate) fn dbd(text: &str) -> Dbd {
    match members(text).remove(0) {
        Member::Dbd(dbd) => *dbd,
        Member::Psb(psb) => panic!("{} is a PSB", psb.name),
    }
}

/// The only PSB of a source.
pub(crate) fn psb(text: &str) -> Psb {
    match members(text).remove(0) {
        Member::Psb(psb) => *psb,
        Member::Dbd(dbd) => panic!("{} is a DBD", dbd.name),
    }
}

/// All sources fitted together, in an empty repository.
pub(crate) fn resolved(sources: &[&str]) -> Outcome {
    let mut overlay = Overlay::new(&Nothing);
    for text in sources {
        for member in members(text) {
            overlay.add(member);
        }
    }
    overlay.resolve()
}

/// The codes of findings and diagnostics, in their order.
pub(crate) fn codes(outcome: &Outcome) -> Vec<&'static str> {
    outcome.findings.iter().map(|finding| finding.code).collect()
}

/// A DBD that can be shared.
pub(crate) fn shared(text: &str) -> Arc<Dbd> {
    Arc::new(dbd(text))
}
