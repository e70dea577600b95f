//! COPY members and macro definitions among the lines of open code.
//!
//! Invariants:
//!
//! 1. Whatever happens, the line at hand is taken out, so open code gets on.
//! 2. Members nest at most [`NESTED_MAX`] deep; one run copies at most [`COPIES_MAX`] of them with
//!    [`CARDS_MAX`] lines.
//! 3. What a folder has is taken for a macro only if its first statement is MACRO, and never for
//!    an operation that DBDs and PSBs are made of.

use std::rc::Rc;

use super::definition::Macro;
use super::failure::{EXPANDED, Failure};
use super::variables::Scope;
use super::{Expander, is_operation};
use crate::cards;
use crate::diagnostic::code;
use crate::lines::Line;
use crate::operands::split;
use crate::statement::Place;
use crate::text::{is_letter, is_symbol, string};

const NESTED_MAX: usize = 40;
const COPIES_MAX: usize = 2_000;
const CARDS_MAX: usize = 500_000;
/// For how many operations folders are asked.
const ASKED_MAX: usize = 1_000;

/// What DBDs and PSBs are made of; folders may have macros of these names that are meant for the
/// host's assembler.
const STATEMENTS: &[&str] = &[
    "DBD", "DATASET", "AREA", "SEGM", "FIELD", "LCHILD", "XDFLD", "DFSMARSH", "DFSMAP", "DFSCASE",
    "DBDGEN", "FINISH", "END", "PCB", "SENSEG", "SENFLD", "PSBGEN",
];

impl Expander<'_> {
    /// Puts the lines of a member in the place of the COPY at `at`.
    pub(super) fn copy(&mut self, lines: &mut Vec<Rc<Line>>, at: usize) {
        let Some(line) = lines.get(at).cloned() else { return };
        self.work.spend(lines.len());
        match self.member(&line) {
            Ok(member) => drop(lines.splice(at..=at, member)),
            Err(failure) => {
                lines.remove(at);
                self.report(failure, &Scope::new(None));
            }
        }
    }

    fn member(&mut self, line: &Line) -> Result<Vec<Rc<Line>>, Failure> {
        let parts = split(&line.operands);
        let end = parts.first().map_or(0, |part| part.value.end);
        let place = match end {
            0 => line.place(),
            _ => line.origin().place(&line.operands, 0, end),
        };
        let name = string(&line.operands[..end]);
        let wrong = |code, message: String, help| Failure { place, code, message, help };
        if !is_member_name(&name) || parts.len() > 1 {
            let message = "COPY needs the name of one member".to_owned();
            return Err(wrong(code::COPY_NAME, message, "Write COPY and the member's name."));
        }
        let nested = self.sources.members(line.source).count();
        if self.sources.members(line.source).any(|(known, _)| known == name) {
            let message = format!("the member {name} copies itself");
            return Err(wrong(code::COPY_RECURSION, message, "Remove this COPY."));
        }
        if nested >= NESTED_MAX || self.copied >= COPIES_MAX * LINES_PER_COPY {
            let message = format!("{name} is one copied member too many");
            return Err(wrong(code::COPY_LIMIT, message, EXPANDED));
        }
        let Some((path, bytes)) = self.copies.find(&name) else {
            let message = format!("the member {name} is in none of the folders");
            let help = "Name the folder that has it with -I; case and extension do not matter.";
            return Err(wrong(code::COPY_MISSING, message, help));
        };
        let member = self.load(&path, &bytes, Some((name, place)));
        self.copied += LINES_PER_COPY.max(member.len());
        Ok(member)
    }

    /// Takes the definition out that begins at `at`.
    pub(super) fn define(&mut self, lines: &mut Vec<Rc<Line>>, at: usize) {
        self.work.spend(lines.len() - at.min(lines.len()));
        let Some(end) = self.end_of_definition(lines, at) else {
            let place = lines.get(at).map_or_else(Place::default, |line| line.place());
            lines.truncate(at);
            let message = "this MACRO has no MEND; nothing behind it is read";
            self.log.error(code::MACRO, place, message, "End the definition with MEND.");
            return;
        };
        let taken: Vec<Rc<Line>> = lines.drain(at..=end).collect();
        let inner = taken[1..].iter().find(|line| is_operation(line, "MACRO"));
        let result = match (inner, taken.get(1)) {
            (Some(inner), _) => {
                Err(Failure::unsupported(inner.place(), "a definition inside of a definition"))
            }
            (None, Some(prototype)) if taken.len() > 2 => {
                Macro::new(prototype, taken[2..].to_vec())
            }
            _ => Err(Failure {
                place: taken[0].place(),
                code: code::MACRO,
                message: "this MACRO has no prototype".to_owned(),
                help: "Write the prototype behind MACRO: &LABEL NAME &PARAMETER,&KEYWORD=",
            }),
        };
        match result {
            Ok(definition) => {
                self.without_macro.remove(&definition.name);
                self.macros.insert(definition.name.clone(), Rc::new(definition));
            }
            Err(failure) => self.report(failure, &Scope::new(None)),
        }
    }

    /// The MEND that belongs to the MACRO at `at`; members in between are copied in.
    fn end_of_definition(&mut self, lines: &mut Vec<Rc<Line>>, at: usize) -> Option<usize> {
        let mut depth = 0_usize;
        let mut index = at;
        while let Some(line) = lines.get(index) {
            if is_operation(line, "MACRO") {
                depth += 1;
            } else if is_operation(line, "MEND") {
                depth -= 1;
                if depth == 0 {
                    return Some(index);
                }
            } else if is_operation(line, "COPY") {
                self.copy(lines, index);
                continue;
            }
            index += 1;
        }
        None
    }

    /// The macro of an operation, from the source or from a folder.
    pub(super) fn macro_of(&mut self, op: &str, line: &Line) -> Option<Rc<Macro>> {
        if let Some(known) = self.macros.get(op) {
            return Some(Rc::clone(known));
        }
        if STATEMENTS.contains(&op)
            || !is_member_name(op)
            || self.without_macro.len() >= ASKED_MAX
            || !self.without_macro.insert(op.to_owned())
        {
            return None;
        }
        let (path, bytes) = self.copies.find(op).filter(|(_, bytes)| is_definition(bytes))?;
        let mut lines = self.load(&path, &bytes, Some((op.to_owned(), line.place())));
        let start = lines.iter().position(|line| is_operation(line, "MACRO"))?;
        self.define(&mut lines, start);
        self.macros.get(op).cloned()
    }
}

/// What each copy counts for at least, so that many empty members come to an end too.
const LINES_PER_COPY: usize = CARDS_MAX / COPIES_MAX;

fn is_member_name(name: &str) -> bool {
    name.len() <= 63 && name.starts_with(is_letter) && name.chars().all(is_symbol)
}

/// Whether the first statement is MACRO.
fn is_definition(bytes: &[u8]) -> bool {
    let (cards, _) = cards::read(bytes);
    let mut statements = cards.iter().filter(|card| {
        let is_comment = card.starts_with('*') || card.starts_with(".*");
        !is_comment && !card.trim().is_empty()
    });
    let first = statements.next().and_then(|card| card.split_whitespace().next());
    first.is_some_and(|word| word.eq_ignore_ascii_case("MACRO"))
}
