//! AIF, AGO, ACTR, and where in open code a sequence symbol stands.
//!
//! Invariants:
//!
//! 1. Only branches that are taken count. When none is left, branches fail and open code goes on
//!    with the next line, so every line is come to at most as often as branches were allowed.
//! 2. A symbol inside of a macro definition is none of open code's.

use std::rc::Rc;

use super::expression::Expression;
use super::failure::Failure;
use super::variables::Scope;
use super::{Expander, Flow, Target, is_operation};
use crate::diagnostic::code;
use crate::lines::Line;
use crate::text::closing;

/// The most branches that ACTR may allow.
const BRANCHES_MAX: i32 = 1_000_000;

impl Expander<'_> {
    /// `AIF (condition).SYMBOL`, perhaps several of them.
    pub(super) fn aif(&self, line: &Line, scope: &mut Scope) -> Result<Flow, Failure> {
        let target = {
            let mut at = self.env(line, scope).expression(&line.operands);
            loop {
                if at.peek() != Some('(') {
                    return Err(at.expected("a condition in parentheses"));
                }
                let close = close(&at)?;
                at.at += 1;
                let is_true = at.inner(close).logical_all()?;
                at.at = close + 1;
                let target = target(&mut at)?;
                if is_true {
                    break Some(target);
                }
                if !at.take(',') {
                    at.end()?;
                    break None;
                }
            }
        };
        target.map_or(Ok(Flow::Next), |target| branch(target, scope))
    }

    /// `AGO .SYMBOL`, or `AGO (number).FIRST,.SECOND`.
    pub(super) fn ago(&self, line: &Line, scope: &mut Scope) -> Result<Flow, Failure> {
        let target = {
            let mut at = self.env(line, scope).expression(&line.operands);
            let mut number = 1;
            if at.peek() == Some('(') {
                let close = close(&at)?;
                at.at += 1;
                let mut inner = at.inner(close);
                number = inner.arithmetic()?;
                inner.end()?;
                at.at = close + 1;
            }
            let mut chosen = None;
            loop {
                let target = target(&mut at)?;
                if number == 1 {
                    chosen = Some(target);
                }
                number = number.saturating_sub(1);
                if !at.take(',') {
                    at.end()?;
                    break chosen;
                }
            }
        };
        target.map_or(Ok(Flow::Next), |target| branch(target, scope))
    }

    /// `ACTR n`: how many branches this macro, or open code, may take from now on.
    pub(super) fn actr(&self, line: &Line, scope: &mut Scope) -> Result<(), Failure> {
        let mut at = self.env(line, scope).expression(&line.operands);
        let branches = at.arithmetic()?;
        at.end()?;
        scope.branches = branches.clamp(0, BRANCHES_MAX).cast_unsigned();
        Ok(())
    }

    /// The line with a sequence symbol, behind `at` or else before it. Members that the search
    /// comes to are copied in.
    pub(super) fn find(
        &mut self,
        lines: &mut Vec<Rc<Line>>,
        at: usize,
        target: &Target,
    ) -> Option<usize> {
        let mut index = at;
        let mut search = Search::new(target);
        while let Some(line) = lines.get(index).cloned() {
            if self.is_halted || !self.work.spend(1) {
                return None;
            }
            if is_operation(&line, "COPY") {
                self.copy(lines, index);
                continue;
            }
            if search.is_found(&line) {
                return Some(index);
            }
            index += 1;
        }
        self.work.spend(at);
        let mut search = Search::new(target);
        lines[..at].iter().position(|line| search.is_found(line))
    }
}

/// Goes through open code and leaves out what is inside of definitions.
struct Search<'s> {
    target: &'s Target,
    depth: usize,
}

impl<'s> Search<'s> {
    fn new(target: &'s Target) -> Self {
        Self { target, depth: 0 }
    }

    fn is_found(&mut self, line: &Line) -> bool {
        if is_operation(line, "MACRO") {
            self.depth += 1;
        } else if is_operation(line, "MEND") {
            self.depth = self.depth.saturating_sub(1);
        }
        self.depth == 0 && has_label(line, self.target)
    }
}

fn has_label(line: &Line, target: &Target) -> bool {
    let label = &line.label;
    label.len() == target.name.len()
        && label.iter().zip(target.name.chars()).all(|(cell, ch)| cell.ch == ch)
}

/// Where the parenthesis closes that opens here.
fn close(at: &Expression<'_>) -> Result<usize, Failure> {
    closing(at.cells, at.at)
        .ok_or_else(|| at.wrong(at.at, at.at + 1, "this parenthesis is not closed"))
}

/// A sequence symbol.
fn target(at: &mut Expression<'_>) -> Result<Target, Failure> {
    at.skip_blanks();
    let start = at.at;
    let name = if at.take('.') { at.symbol() } else { String::new() };
    if name.is_empty() {
        at.at = start;
        let mut failure = at.expected("a sequence symbol");
        failure.help = "Write a dot and a name, such as .END, without a blank before it.";
        return Err(failure);
    }
    Ok(Target { name: format!(".{name}"), place: at.env.origin.place(at.cells, start, at.at) })
}

fn branch(target: Target, scope: &mut Scope) -> Result<Flow, Failure> {
    match scope.branches.checked_sub(1) {
        Some(left) => {
            scope.branches = left;
            Ok(Flow::Jump(target))
        }
        None => Err(Failure {
            place: target.place,
            code: code::LOOP,
            message: "too many branches were taken; this one is not".to_owned(),
            help: "Check the loop, or allow more branches with ACTR.",
        }),
    }
}
