//! Runs scripts: against what they expect, and two subjects against each other.

use std::fmt;

use crate::script::{Call, Case, Expected, Script, Step};
use crate::{Feedback, Subject};

/// Two subjects that do not agree, or one that does not do what is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The calls up to the one that differs, as a script.
    pub calls: Vec<Step>,
    /// What was expected: of the model, or of the script.
    pub expected: Expected,
    /// What the subject gave back.
    pub found: Feedback,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.calls.iter().try_for_each(|step| writeln!(f, "{step}"))?;
        writeln!(f, "* expected = {}", self.expected)?;
        write!(f, "* found    = {}", Expected::of(&self.found))
    }
}

fn make(subject: &mut dyn Subject, step: &Step) -> Option<Feedback> {
    match step {
        Step::Call(Call { pcb, function, area, ssas, .. }) => {
            return Some(subject.call(*pcb, function, area, ssas));
        }
        Step::Checkpoint => subject.checkpoint(),
        Step::Rollback => subject.rollback(),
    }
    None
}

/// Runs all steps of a script through both and returns the first difference.
///
/// # Errors
/// If the subject gives back something else than the model.
pub fn compare(
    model: &mut dyn Subject,
    subject: &mut dyn Subject,
    script: &Script,
) -> Result<(), Box<Difference>> {
    let mut calls = Vec::new();
    let cases = script.cases.iter().flat_map(|case| &case.steps);
    for step in script.given.iter().chain(cases) {
        let (by_model, found) = (make(model, step), make(subject, step));
        let (Some(by_model), Some(found)) = (by_model, found) else {
            calls.push(step.clone());
            continue;
        };
        let expected = Expected::of(&by_model);
        let mut step = step.clone();
        if let Step::Call(call) = &mut step {
            call.expected = Some(expected.clone());
        }
        calls.push(step);
        if !expected.is_met_by(&found) {
            return Err(Box::new(Difference { calls, expected, found }));
        }
    }
    Ok(())
}

/// Runs one case after what is given.
///
/// # Errors
/// If a step does not give back what is expected.
pub fn run(subject: &mut dyn Subject, given: &[Step], case: &Case) -> Result<(), Box<Difference>> {
    let blank = Expected { status: *b"  ", ..Expected::default() };
    let given = given.iter().map(|step| (step, Some(&blank)));
    let steps = case.steps.iter().map(|step| match step {
        Step::Call(call) => (step, call.expected.as_ref()),
        Step::Checkpoint | Step::Rollback => (step, None),
    });
    let mut calls = Vec::new();
    for (step, expected) in given.chain(steps) {
        let found = make(subject, step);
        calls.push(step.clone());
        if let (Some(found), Some(expected)) = (found, expected)
            && !expected.is_met_by(&found)
        {
            let expected = expected.clone();
            return Err(Box::new(Difference { calls, expected, found }));
        }
    }
    Ok(())
}
