//! Lines to statements: COPY, macros and conditional assembly are carried out.
//!
//! Invariants:
//!
//! 1. Every source comes to an end: branches of a macro and of open code are counted (ACTR), calls
//!    and copies nest at most so deep, and one budget pays for every line, value and copy.
//! 2. What is not supported is refused at its card with the advice to supply expanded source; it
//!    is never skipped in silence.
//! 3. A statement that a macro made has the place of the call in open code, in a source that
//!    knows the macro's card.
//! 4. A member is never copied into itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;

use crate::cards;
use crate::copy::CopyMembers;
use crate::diagnostic::{Diagnostic, Log, Severity, code};
use crate::lines::{self, Line};
use crate::operands::{operand, split};
use crate::sources::Sources;
use crate::statement::{Operand, Place, Statement, Word};
use crate::text::{Cell, Text, is_letter, is_symbol, string};

mod arithmetic;
mod branch;
mod call;
mod characters;
mod definition;
mod expression;
mod failure;
mod logical;
mod members;
mod set;
#[cfg(test)]
mod tests;
mod variables;

use definition::Macro;
use expression::{Env, Work};
use failure::Failure;
use variables::{Globals, Scope};

/// What a run may cost besides what its sources are long: about a second.
const WORK: u64 = 20_000_000;
/// What a line costs besides its length.
const LINE: usize = 64;

/// What follows a line.
pub(crate) enum Flow {
    /// The next one.
    Next,
    /// The line with a sequence symbol.
    Jump(Target),
    /// Nothing: the macro is left.
    Leave,
}

/// Where a branch leads.
pub(crate) struct Target {
    /// With its dot.
    name: String,
    place: Place,
}

/// A reading on its way.
pub(crate) struct Expander<'x> {
    sources: &'x mut Sources,
    copies: &'x dyn CopyMembers,
    log: Log,
    macros: BTreeMap<String, Rc<Macro>>,
    /// Operations that no folder has a macro for.
    without_macro: BTreeSet<String>,
    globals: Globals,
    statements: Vec<Statement>,
    work: Work,
    is_halted: bool,
    calls: u32,
    copied: usize,
}

impl<'x> Expander<'x> {
    /// One that has read nothing yet.
    pub(crate) fn new(sources: &'x mut Sources, copies: &'x dyn CopyMembers) -> Self {
        Self {
            sources,
            copies,
            log: Log::default(),
            macros: BTreeMap::new(),
            without_macro: BTreeSet::new(),
            globals: Globals::new(),
            statements: Vec::new(),
            work: Work::new(WORK),
            is_halted: false,
            calls: 0,
            copied: 0,
        }
    }

    /// Reads a file to its end.
    pub(crate) fn read(mut self, path: &Path, bytes: &[u8]) -> (Vec<Statement>, Vec<Diagnostic>) {
        let lines = self.load(path, bytes, None);
        self.open_code(lines);
        let mut diagnostics = self.log.into_diagnostics();
        let kept = diagnostics.iter().take_while(|reported| reported.code != code::MORE).count();
        let sources = &*self.sources;
        diagnostics[..kept].sort_by_key(|reported| {
            let place = sources.outermost(reported.place);
            (place.source, place.card, place.column)
        });
        (self.statements, diagnostics)
    }

    /// The lines of a file.
    fn load(
        &mut self,
        path: &Path,
        bytes: &[u8],
        copied: Option<(String, Place)>,
    ) -> Vec<Rc<Line>> {
        let (cards, remarks) = cards::read(bytes);
        let source = self.sources.add(path, cards, copied);
        for remark in remarks {
            let place = Place { source, card: remark.card, column: remark.column.max(1), len: 1 };
            let severity = if remark.is_error { Severity::Error } else { Severity::Warning };
            self.log.say(severity, remark.code, place, remark.message.to_owned(), remark.help);
        }
        let cards = self.sources.cards(source);
        let lines = lines::read(source, &cards, &mut self.log);
        lines.iter().for_each(|line| self.work.grant(LINE + line.size()));
        lines.into_iter().map(Rc::new).collect()
    }

    /// Carries out the lines outside of macros. COPY puts lines in, definitions take them out.
    fn open_code(&mut self, mut lines: Vec<Rc<Line>>) {
        let mut scope = Scope::new(None);
        let mut at = 0;
        while !self.is_halted {
            let Some(line) = lines.get(at).cloned() else { return };
            if is_operation(&line, "COPY") {
                self.copy(&mut lines, at);
                continue;
            }
            if is_operation(&line, "MACRO") {
                self.define(&mut lines, at);
                continue;
            }
            at = match self.step(&line, &mut scope) {
                Flow::Jump(target) => match self.find(&mut lines, at, &target) {
                    Some(found) => found,
                    None => {
                        self.no_target(&target, &scope);
                        at + 1
                    }
                },
                Flow::Next | Flow::Leave => at + 1,
            };
        }
    }

    /// Carries out the body of a macro.
    fn run(&mut self, definition: &Macro, scope: &mut Scope) {
        let mut at = 0;
        while let Some(line) = definition.body.get(at).filter(|_| !self.is_halted) {
            at = match self.step(line, scope) {
                Flow::Next => at + 1,
                Flow::Leave => return,
                Flow::Jump(target) => match definition.sequence.get(&target.name) {
                    Some(found) => *found,
                    None => {
                        self.no_target(&target, scope);
                        return;
                    }
                },
            };
        }
    }

    fn no_target(&mut self, target: &Target, scope: &Scope) {
        let failure = Failure {
            place: target.place,
            code: code::SEQUENCE_SYMBOL,
            message: format!("no statement has the label {}", target.name),
            help: "Write the sequence symbol into column 1 of the statement to go on with.",
        };
        self.report(failure, scope);
    }

    /// Carries out a line.
    fn step(&mut self, line: &Line, scope: &mut Scope) -> Flow {
        if !self.work.spend(LINE + line.size()) {
            self.is_halted = true;
            let failure = Failure {
                place: line.place(),
                code: code::LOOP,
                message: "expanding the source takes too long; it was stopped here".to_owned(),
                help: "Check the loops, or supply the expanded source.",
            };
            self.report(failure, scope);
            return Flow::Leave;
        }
        match self.perform(line, scope) {
            Ok(flow) => flow,
            Err(failure) => {
                self.report(failure, scope);
                Flow::Next
            }
        }
    }

    fn perform(&mut self, line: &Line, scope: &mut Scope) -> Result<Flow, Failure> {
        let op = string(&self.substituted(line, &line.op, scope)?).to_ascii_uppercase();
        match op.as_str() {
            "GBLA" | "GBLB" | "GBLC" | "LCLA" | "LCLB" | "LCLC" => {
                self.declare(&op, line, scope)?;
            }
            "SETA" | "SETB" | "SETC" => self.set(&op, line, scope)?,
            "AIF" => return self.aif(line, scope),
            "AGO" => return self.ago(line, scope),
            "ACTR" => self.actr(line, scope)?,
            "ANOP" => {}
            "MNOTE" => self.mnote(line, scope)?,
            "MEND" | "MEXIT" if scope.call.is_some() => return Ok(Flow::Leave),
            "MEND" | "MEXIT" => {
                return Err(Failure {
                    place: line.place(),
                    code: code::MACRO,
                    message: format!("{op} stands outside of a macro"),
                    help: "Remove it, or write MACRO and a prototype before the definition.",
                });
            }
            "MACRO" | "COPY" | "AREAD" | "AINSERT" | "OPSYN" | "ICTL" | "SETAF" | "SETCF"
            | "AIFB" | "AGOB" | "PUNCH" | "REPRO" | "EXITCTL" => {
                return Err(Failure::unsupported(line.place(), format!("{op} here")));
            }
            _ if lines::is_listing_control(&op) => {}
            _ if !(op.starts_with(is_letter) && op.chars().all(is_symbol)) => {
                return Err(Failure {
                    place: line.place(),
                    code: code::OPERATION,
                    message: format!("'{op}' is no operation"),
                    help: "Begin with a letter and use letters, digits, @, # and $.",
                });
            }
            _ => match self.macro_of(&op, line) {
                Some(definition) => self.call(&definition, line, scope)?,
                None => self.emit(op, line, scope)?,
            },
        }
        Ok(Flow::Next)
    }

    /// Adds a statement.
    fn emit(&mut self, op: String, line: &Line, scope: &Scope) -> Result<(), Failure> {
        let label = self.substituted(line, &line.label, scope)?;
        let operands = self.operands(&op, line, scope)?;
        let mut origin = line.origin();
        origin.anchor = self.anchor(line.place(), scope);
        let place = origin.place(&line.op, 0, line.op.len());
        let is_label = label.first().is_some_and(|cell| cell.ch != '.');
        let label = is_label.then(|| Word {
            text: string(&label).to_ascii_uppercase(),
            place: origin.place(&label, 0, label.len()),
        });
        let op = Word { text: op, place };
        self.statements.push(Statement { label, op, operands, place });
        Ok(())
    }

    /// The operands of a line with variables replaced.
    fn operands(&mut self, op: &str, line: &Line, scope: &Scope) -> Result<Vec<Operand>, Failure> {
        let mut origin = line.origin();
        origin.anchor = self.anchor(line.place(), scope);
        let mut operands = Vec::new();
        for part in split(&line.operands) {
            let value = &line.operands[part.value.clone()];
            let value = self.substituted(line, value, scope)?;
            operands.push(operand(op, &line.operands, &part, &value, &origin, &mut self.log));
        }
        Ok(operands)
    }

    /// Cells of a line with variables replaced.
    fn substituted<'c>(
        &self,
        line: &Line,
        cells: &'c [Cell],
        scope: &Scope,
    ) -> Result<std::borrow::Cow<'c, [Cell]>, Failure> {
        if cells.iter().all(|cell| cell.ch != '&') {
            return Ok(cells.into());
        }
        let text: Text = self.env(line, scope).substitute(cells)?;
        Ok(text.into())
    }

    fn env<'e>(&'e self, line: &Line, scope: &'e Scope) -> Env<'e> {
        Env { scope, globals: &self.globals, work: &self.work, origin: line.origin() }
    }

    /// Where a statement stands that the card at `place` makes, if a macro makes it.
    fn anchor(&mut self, place: Place, scope: &Scope) -> Option<Place> {
        let call = scope.call.as_ref()?;
        let source = self.sources.made_by(call.place, place, &call.definition.name);
        Some(Place { source, ..call.place })
    }

    fn report(&mut self, failure: Failure, scope: &Scope) {
        let place = self.anchor(failure.place, scope).unwrap_or(failure.place);
        self.is_halted |= failure.code == code::LOOP && !self.work.spend(1);
        self.log.error(failure.code, place, failure.message, failure.help);
    }
}

fn is_operation(line: &Line, op: &str) -> bool {
    line.op.len() == op.len() && line.op.iter().zip(op.chars()).all(|(cell, ch)| cell.ch == ch)
}
