//! Calls of macros: arguments to parameters.
//!
//! Invariants:
//!
//! 1. Calls nest at most [`DEPTH_MAX`] deep, which ends a macro that calls itself.
//! 2. Every parameter has a value: the argument, the default, or nothing.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Expander;
use super::definition::Macro;
use super::expression::VALUE_MAX;
use super::failure::{EXPANDED, Failure};
use super::variables::{Call, Scope};
use crate::diagnostic::code;
use crate::lines::Line;
use crate::operands::split;
use crate::text::string;

const DEPTH_MAX: usize = 30;

impl Expander<'_> {
    /// Expands a macro for the call in `line`.
    pub(super) fn call(
        &mut self,
        definition: &Rc<Macro>,
        line: &Line,
        scope: &Scope,
    ) -> Result<(), Failure> {
        let depth = scope.call.as_ref().map_or(0, |call| call.depth) + 1;
        if depth > DEPTH_MAX {
            return Err(Failure {
                place: line.place(),
                code: code::CALL_DEPTH,
                message: format!("calls of macros nest deeper than {DEPTH_MAX}"),
                help: EXPANDED,
            });
        }
        self.calls = self.calls.saturating_add(1);
        self.work.spend(32 * (definition.keywords.len() + definition.positional.len()));
        let call = self.arguments(definition, line, scope, depth)?;
        let mut inner = Scope::new(Some(call));
        self.run(definition, &mut inner);
        Ok(())
    }

    fn arguments(
        &mut self,
        definition: &Rc<Macro>,
        line: &Line,
        scope: &Scope,
        depth: usize,
    ) -> Result<Call, Failure> {
        let label = string(&self.substituted(line, &line.label, scope)?);
        let label = if label.starts_with('.') { String::new() } else { label };
        let mut parameters: BTreeMap<String, String> = definition.keywords.clone();
        let mut positional = Vec::new();
        let cells = &line.operands;
        for part in split(cells) {
            let place = line.origin().place(cells, part.start, part.value.end);
            let text = string(&self.substituted(line, &cells[part.value.clone()], scope)?);
            if text.len() > VALUE_MAX {
                return Err(Failure {
                    place,
                    code: code::VALUE_SIZE,
                    message: format!("this argument has more than {VALUE_MAX} characters"),
                    help: EXPANDED,
                });
            }
            match part.keyword_of(cells) {
                None => positional.push(text),
                Some(name) if definition.keywords.contains_key(&name) => {
                    parameters.insert(name, text);
                }
                Some(name) => {
                    return Err(Failure {
                        place,
                        code: code::PARAMETER,
                        message: format!("{} has no parameter {name}=", definition.name),
                        help: "Correct the keyword, or add it to the macro's prototype.",
                    });
                }
            }
        }
        for (index, name) in definition.positional.iter().enumerate() {
            if let Some(name) = name {
                let value = positional.get(index).cloned().unwrap_or_default();
                parameters.insert(name.clone(), value);
            }
        }
        if let Some(name) = &definition.label {
            parameters.insert(name.clone(), label.clone());
        }
        Ok(Call {
            place: scope.call.as_ref().map_or_else(|| line.place(), |call| call.place),
            definition: Rc::clone(definition),
            parameters,
            label,
            positional,
            number: self.calls,
            depth,
        })
    }
}
