//! GBLx, LCLx, SETx and MNOTE.
//!
//! Invariant: a variable is set only by the SETx of its kind, and a parameter never.

use super::Expander;
use super::failure::Failure;
use super::variables::{Datum, Kind, Scope};
use crate::diagnostic::{Severity, code};
use crate::lines::Line;
use crate::operands::split;
use crate::statement::{Operand, Value};
use crate::text::{is_letter, is_symbol, shown, string};

impl Expander<'_> {
    /// `GBLA &A,&B(10)` and its like.
    pub(super) fn declare(
        &mut self,
        op: &str,
        line: &Line,
        scope: &mut Scope,
    ) -> Result<(), Failure> {
        let kind = Kind::of(op);
        let cells = &line.operands;
        for part in split(cells) {
            let (start, end) = (part.start, part.value.end);
            let text = string(&cells[start..end]);
            // The dimension is only a promise: elements come into being when they are set.
            let name = text.split('(').next().unwrap_or_default();
            let name = name.strip_prefix('&').unwrap_or(name);
            let is_name = name.starts_with(is_letter) && name.chars().all(is_symbol);
            let wrong = |message: String| Failure {
                place: line.origin().place(cells, start, end),
                code: code::VARIABLE,
                message,
                help: "Give each variable one kind, and a name that is no parameter's.",
            };
            if !is_name {
                return Err(wrong(format!("{} is no variable", shown(&cells[start..end]))));
            }
            if scope.is_parameter(name) {
                return Err(wrong(format!("&{name} is a parameter of the macro")));
            }
            let is_global = op.starts_with('G');
            scope.declare(&mut self.globals, name, kind, is_global).map_err(|known| {
                wrong(format!("&{name} is a variable for {} already", known.setter()))
            })?;
        }
        Ok(())
    }

    /// `&A SETA expression` and its like; several values go to elements one behind the other.
    pub(super) fn set(&mut self, op: &str, line: &Line, scope: &mut Scope) -> Result<(), Failure> {
        let kind = Kind::of(op);
        let (name, first, values) = {
            let env = self.env(line, scope);
            let mut left = env.expression(&line.label);
            let reference = left.reference()?;
            left.end()?;
            let first = left.index(&reference)?;
            let wrong = |message: String| Failure {
                place: line.origin().place(&line.label, 0, line.label.len()),
                code: code::VARIABLE,
                message,
                help: "Set a variable with the SETx of the kind that it was declared with.",
            };
            let name = reference.name;
            if scope.is_parameter(&name) {
                return Err(wrong(format!("&{name} is a parameter of the macro")));
            }
            let known = scope.variable(&self.globals, &name).map_or(kind, |known| known.kind);
            if known != kind {
                return Err(wrong(format!("&{name} is a variable for {}", known.setter())));
            }
            let mut values = Vec::new();
            let parts = split(&line.operands);
            for part in &parts {
                let cells = &line.operands[part.start..part.value.end];
                let mut right = env.expression(cells);
                if cells.is_empty() && parts.len() > 1 {
                    values.push(None);
                    continue;
                }
                let datum = match kind {
                    Kind::Number => Datum::Number(right.arithmetic()?),
                    Kind::Truth => Datum::Truth(right.logical_all()?),
                    Kind::Text => Datum::Text(right.characters()?),
                };
                right.end()?;
                values.push(Some(datum));
            }
            if values.is_empty() {
                return Err(env.expression(&line.operands).expected("a value"));
            }
            (name, first, values)
        };
        let variable = scope.variable_mut(&mut self.globals, &name, kind);
        for (index, datum) in (first..).zip(values) {
            if let Some(datum) = datum {
                variable.set(index, datum);
            }
        }
        Ok(())
    }

    /// `MNOTE severity,'text'`.
    pub(super) fn mnote(&mut self, line: &Line, scope: &Scope) -> Result<(), Failure> {
        let operands = self.operands("MNOTE", line, scope)?;
        let (severity, text) = match operands.as_slice() {
            [] => (0, String::new()),
            [text] => (0, words(text)),
            [severity, text, ..] => (severity_of(severity), words(text)),
        };
        let how = match severity {
            0 => Severity::Note,
            1..8 => Severity::Warning,
            _ => Severity::Error,
        };
        let place = self.anchor(line.place(), scope).unwrap_or(line.place());
        self.log.say(how, code::MNOTE, place, text, "");
        Ok(())
    }
}

fn words(operand: &Operand) -> String {
    match &operand.value {
        Value::Word(word) | Value::Quoted(word) => word.text.clone(),
        Value::Empty(_) | Value::List(..) => String::new(),
    }
}

/// A number; `*` marks a remark.
fn severity_of(operand: &Operand) -> u32 {
    words(operand).parse().unwrap_or(0)
}
