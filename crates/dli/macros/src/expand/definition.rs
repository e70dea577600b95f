//! Macro definitions: the prototype and the body.
//!
//! Invariants:
//!
//! 1. A definition's parameters have different names.
//! 2. Each sequence symbol of the body leads to one line; if it is there twice, to the first.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::failure::Failure;
use crate::diagnostic::code;
use crate::lines::Line;
use crate::operands::split;
use crate::text::{Cell, is_letter, is_symbol, shown, string};

/// A macro.
#[derive(Debug)]
pub(crate) struct Macro {
    pub(crate) name: String,
    /// The parameter for the label of the call.
    pub(crate) label: Option<String>,
    /// The positional parameters; one may be without a name.
    pub(crate) positional: Vec<Option<String>>,
    /// The keyword parameters and their defaults.
    pub(crate) keywords: BTreeMap<String, String>,
    pub(crate) body: Vec<Rc<Line>>,
    /// Where the sequence symbols stand.
    pub(crate) sequence: BTreeMap<String, usize>,
}

impl Macro {
    /// The macro of a prototype statement and the lines up to MEND, which may have a label.
    pub(crate) fn new(prototype: &Line, body: Vec<Rc<Line>>) -> Result<Self, Failure> {
        let name = string(&prototype.op);
        if !(name.starts_with(is_letter) && name.chars().all(is_symbol)) {
            return Err(Failure {
                place: prototype.place(),
                code: code::MACRO,
                message: format!("{name} is no name for a macro"),
                help: "Write the prototype behind MACRO: &LABEL NAME &PARAMETER,&KEYWORD=",
            });
        }
        let mut definition = Self {
            name,
            label: None,
            positional: Vec::new(),
            keywords: BTreeMap::new(),
            body,
            sequence: BTreeMap::new(),
        };
        definition.take_parameters(prototype)?;
        for (index, line) in definition.body.iter().enumerate() {
            if line.label.first().is_some_and(|cell| cell.ch == '.') {
                definition.sequence.entry(string(&line.label)).or_insert(index);
            }
        }
        Ok(definition)
    }

    fn take_parameters(&mut self, prototype: &Line) -> Result<(), Failure> {
        let origin = prototype.origin();
        let wrong = |cells: &[Cell], start: usize, end: usize, message: String| Failure {
            place: origin.place(cells, start, end),
            code: code::MACRO,
            message,
            help: "Write parameters as &NAME, or &NAME=default, each once.",
        };
        let label = &prototype.label;
        if !label.is_empty() {
            let known = parameter(label).filter(|(_, end)| *end == label.len());
            let (name, _) = known.ok_or_else(|| {
                let message = format!("{} is no parameter for the label", shown(label));
                wrong(label, 0, label.len(), message)
            })?;
            self.label = Some(name);
        }
        let cells = &prototype.operands;
        for part in split(cells) {
            let (start, end) = (part.start, part.value.end);
            let text = &cells[start..end];
            if text.is_empty() {
                self.positional.push(None);
                continue;
            }
            let no_parameter =
                || wrong(cells, start, end, format!("{} is no parameter", shown(text)));
            let (name, behind) = parameter(text).ok_or_else(no_parameter)?;
            if self.has(&name) {
                return Err(wrong(cells, start, end, format!("&{name} is a parameter already")));
            }
            match text.get(behind).map(|cell| cell.ch) {
                None => self.positional.push(Some(name)),
                Some('=') => {
                    self.keywords.insert(name, string(&text[behind + 1..]));
                }
                Some(_) => return Err(no_parameter()),
            }
        }
        Ok(())
    }

    fn has(&self, name: &str) -> bool {
        self.label.as_deref() == Some(name)
            || self.keywords.contains_key(name)
            || self.positional.iter().any(|known| known.as_deref() == Some(name))
    }
}

/// The name of the parameter at the front of a text, without its ampersand, and where it ends.
fn parameter(text: &[Cell]) -> Option<(String, usize)> {
    let rest = text.split_first().filter(|(first, _)| first.ch == '&')?.1;
    let len = rest.iter().take_while(|cell| is_symbol(cell.ch)).count();
    let begins = rest.first().is_some_and(|cell| is_letter(cell.ch));
    begins.then(|| (string(&rest[..len]), len + 1))
}
