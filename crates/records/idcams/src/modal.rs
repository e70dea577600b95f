//! Modal commands: IF, THEN, ELSE, DO, END, SET, CANCEL, PARM; and statements in their order.
//!
//! ```text
//! IF LASTCC|MAXCC compare number THEN [statement] [ELSE [statement]]
//! DO  statements  END
//! SET LASTCC|MAXCC = number
//! ```
//!
//! Invariants:
//! 1. A command that is wrong is a statement that says so, and what follows it is read on. A modal
//!    command that is wrong ends the statements: nothing behind it can be relied on.
//! 2. IF and DO nest at most [`NESTING_MAX`] deep.
//! 3. Every statement knows the lines that it stands on.

use crate::fault::{Fault, Place};
use crate::lexis::{Compare, Lexeme, Line, Token, lines_of};
use crate::syntax::{Command, command_of};

/// How deep IF and DO may nest.
pub(crate) const NESTING_MAX: usize = 32;

/// The greatest condition code.
pub(crate) const CODE_MAX: u32 = 16;

/// Which condition code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// That of the last command.
    Last,
    /// The greatest so far.
    Max,
}

impl Which {
    fn named(word: &str) -> Option<Which> {
        match word {
            "LASTCC" => Some(Which::Last),
            "MAXCC" => Some(Which::Max),
            _ => None,
        }
    }
}

/// One statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it says.
    pub statement: Statement,
    /// Its first line, from 1.
    pub first: u32,
    /// Its last line.
    pub last: u32,
}

/// What a statement says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// A command.
    Command(Command),
    /// IF.
    If {
        /// Which condition code is compared.
        which: Which,
        /// How.
        compare: Compare,
        /// With what.
        number: u32,
        /// What is done if it holds.
        then: Option<Box<Step>>,
        /// What is done if not.
        otherwise: Option<Box<Step>>,
    },
    /// DO, up to END.
    Do(Vec<Step>),
    /// SET.
    Set(Which, u32),
    /// CANCEL: the rest is left out.
    Cancel,
    /// PARM.
    Parm,
    /// A command that is wrong: condition code 12.
    Wrong(Fault),
    /// A modal command that is wrong: condition code 16, the end.
    Broken(Fault),
}

/// Reads statements.
#[must_use]
pub fn statements_of(text: &str) -> Vec<Step> {
    let mut reader = Reader { lines: lines_of(text), line: 0, token: 0 };
    let mut steps = Vec::new();
    while let Some(step) = reader.step(0) {
        let ends = has_broken(&step);
        steps.push(step);
        if ends {
            break;
        }
    }
    steps
}

/// Whether a modal command in it is wrong.
fn has_broken(step: &Step) -> bool {
    match &step.statement {
        Statement::Broken(_) => true,
        Statement::Do(steps) => steps.iter().any(has_broken),
        Statement::If { then, otherwise, .. } => {
            [then, otherwise].into_iter().flatten().any(|step| has_broken(step))
        }
        _ => false,
    }
}

struct Reader {
    lines: Vec<Line>,
    line: usize,
    /// The next word of the line.
    token: usize,
}

impl Reader {
    /// What is left of the line.
    fn rest(&self) -> &[Token] {
        let line = self.lines.get(self.line);
        line.and_then(|line| line.tokens.get(self.token..)).unwrap_or_default()
    }

    fn word(&self) -> Option<String> {
        self.rest().first()?.word()
    }

    fn is(&self, word: &str) -> bool {
        self.word().is_some_and(|next| next == word)
    }

    fn place(&self) -> Place {
        let at = self.rest().first().or_else(|| self.lines.get(self.line)?.tokens.last());
        at.or_else(|| self.lines.last()?.tokens.last()).map_or(Place::default(), |at| at.place)
    }

    /// Goes to the next line if this one is read.
    fn settle(&mut self) {
        while self.line < self.lines.len() && self.rest().is_empty() {
            self.line += 1;
            self.token = 0;
        }
    }

    fn end_line(&mut self) {
        self.line += 1;
        self.token = 0;
    }

    /// The next statement, wherever it begins.
    fn step(&mut self, depth: usize) -> Option<Step> {
        self.settle();
        let first = self.lines.get(self.line)?.first;
        let statement = self.statement(depth);
        // The line that was read last: this one if something is left of it.
        let read = if self.token > 0 { self.line } else { self.line.saturating_sub(1) };
        let last = self.lines.get(read).map_or(first, |line| line.last).max(first);
        Some(Step { statement, first, last })
    }

    fn statement(&mut self, depth: usize) -> Statement {
        if depth > NESTING_MAX {
            let text = format!("IF and DO nest deeper than {NESTING_MAX}");
            return Statement::Broken(Fault::new("IDC3228I", self.place(), text));
        }
        let place = self.place();
        let Some(word) = self.word() else { return self.command() };
        let made = match word.as_str() {
            "IF" => self.condition(depth),
            "DO" => {
                self.token += 1;
                self.block(depth, place)
            }
            "SET" => self.set(),
            "CANCEL" => {
                self.end_line();
                Ok(Statement::Cancel)
            }
            "PARM" => {
                self.end_line();
                Ok(Statement::Parm)
            }
            "THEN" | "ELSE" => Err(Fault::new("IDC3225I", place, format!("{word} has no IF"))),
            "END" => Err(Fault::new("IDC3225I", place, "END has no DO")),
            _ => Ok(self.command()),
        };
        made.unwrap_or_else(Statement::Broken)
    }

    fn command(&mut self) -> Statement {
        let command = command_of(self.rest());
        self.end_line();
        command.map_or_else(Statement::Wrong, Statement::Command)
    }

    fn condition(&mut self, depth: usize) -> Result<Statement, Fault> {
        let place = self.place();
        self.token += 1;
        let (which, compare, number) = self.comparison(true)?;
        if !self.is("THEN") {
            let text = "THEN is missing: IF LASTCC|MAXCC compare number THEN";
            return Err(Fault::new("IDC3226I", place, text));
        }
        self.token += 1;
        let then = self.clause(depth);
        let broken = then.as_deref().is_some_and(has_broken);
        // ELSE may stand on a line of its own.
        let mark = (self.line, self.token);
        self.settle();
        let mut otherwise = None;
        if self.is("ELSE") && !broken {
            self.token += 1;
            otherwise = self.clause(depth);
        } else {
            (self.line, self.token) = mark;
        }
        Ok(Statement::If { which, compare, number, then, otherwise })
    }

    /// What stands behind THEN or ELSE, if anything does.
    fn clause(&mut self, depth: usize) -> Option<Box<Step>> {
        if self.rest().is_empty() || self.is("ELSE") {
            if self.rest().is_empty() {
                self.end_line();
            }
            return None;
        }
        self.step(depth + 1).map(Box::new)
    }

    fn block(&mut self, depth: usize, begun: Place) -> Result<Statement, Fault> {
        let mut steps = Vec::new();
        loop {
            self.settle();
            if self.is("END") {
                self.token += 1;
                if self.rest().is_empty() {
                    self.end_line();
                }
                return Ok(Statement::Do(steps));
            }
            let Some(step) = self.step(depth + 1) else {
                return Err(Fault::new("IDC3227I", begun, "DO has no END"));
            };
            let broken = has_broken(&step);
            steps.push(step);
            if broken {
                return Ok(Statement::Do(steps));
            }
        }
    }

    fn set(&mut self) -> Result<Statement, Fault> {
        self.token += 1;
        let (which, _, number) = self.comparison(false)?;
        if !self.rest().is_empty() && !self.is("ELSE") {
            let text = "SET takes one condition code: SET LASTCC|MAXCC = number";
            return Err(Fault::new("IDC3224I", self.place(), text));
        }
        if self.rest().is_empty() {
            self.end_line();
        }
        Ok(Statement::Set(which, number.min(CODE_MAX)))
    }

    /// `LASTCC = 4`.
    fn comparison(&mut self, any: bool) -> Result<(Which, Compare, u32), Fault> {
        let place = self.place();
        let wrong = |text: &str| Err(Fault::new("IDC3224I", place, text));
        let Some(which) = self.word().as_deref().and_then(Which::named) else {
            return wrong("LASTCC or MAXCC is missing");
        };
        self.token += 1;
        let compare = match self.rest().first().map(|token| &token.lexeme) {
            Some(Lexeme::Compare(compare)) => Some(*compare),
            Some(Lexeme::Word(word)) => Compare::named(word),
            _ => None,
        };
        let Some(compare) = compare.filter(|compare| any || *compare == Compare::Equal) else {
            return wrong(match any {
                true => "the comparison is none of =, <>, <, <=, >, >=, EQ, NE, LT, LE, GT, GE",
                false => "SET assigns with =",
            });
        };
        self.token += 1;
        let Some(number) = self.word().and_then(|word| word.parse::<u32>().ok()) else {
            return wrong("the condition code is no number");
        };
        self.token += 1;
        Ok((which, compare, number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shape of statements, in few letters.
    fn shape(steps: &[Step]) -> String {
        steps.iter().map(|step| of(&step.statement)).collect::<Vec<_>>().join(" ")
    }

    fn of(statement: &Statement) -> String {
        let clause =
            |step: &Option<Box<Step>>| step.as_ref().map_or("-".into(), |step| of(&step.statement));
        match statement {
            Statement::Command(command) => command.verb.name().to_ascii_lowercase(),
            Statement::If { compare, number, then, otherwise, .. } => {
                format!("if[{compare:?} {number} {} {}]", clause(then), clause(otherwise))
            }
            Statement::Do(steps) => format!("do[{}]", shape(steps)),
            Statement::Set(which, number) => format!("set[{which:?} {number}]"),
            Statement::Cancel => "cancel".into(),
            Statement::Parm => "parm".into(),
            Statement::Wrong(fault) => format!("wrong {}", fault.id),
            Statement::Broken(fault) => format!("broken {}", fault.id),
        }
    }

    #[test]
    fn if_and_else_take_a_command_a_block_or_nothing() {
        let text = " IF LASTCC = 0 THEN -\n VERIFY DATASET(A)\n ELSE DO\n  SET MAXCC=4\n  \
                    VERIFY DATASET(B)\n END\n IF MAXCC GT 8 THEN\n CANCEL\n";
        assert_eq!(
            shape(&statements_of(text)),
            "if[Equal 0 verify do[set[Max 4] verify]] if[Greater 8 - -] cancel"
        );
    }

    #[test]
    fn an_else_belongs_to_the_nearest_if() {
        let text = " IF LASTCC=0 THEN IF MAXCC=0 THEN SET MAXCC=1\n ELSE SET MAXCC=2\n";
        assert_eq!(shape(&statements_of(text)), "if[Equal 0 if[Equal 0 set[Max 1] set[Max 2]] -]");
    }

    #[test]
    fn a_wrong_command_leaves_the_others_and_a_wrong_modal_command_ends_them() {
        assert_eq!(shape(&statements_of(" FROB\n CANCEL\n")), "wrong IDC3217I cancel");
        assert_eq!(shape(&statements_of(" ELSE\n CANCEL\n")), "broken IDC3225I");
        assert_eq!(shape(&statements_of(" DO\n FROB\n")), "broken IDC3227I");
        assert_eq!(shape(&statements_of(" IF LASTCC=0\n CANCEL\n")), "broken IDC3226I");
        assert_eq!(shape(&statements_of(" SET LASTCC>0\n CANCEL\n")), "broken IDC3224I");
    }

    #[test]
    fn nesting_has_a_limit() {
        let deep = " DO\n".repeat(100_000);
        assert!(shape(&statements_of(&deep)).contains("broken IDC3228I"));
        let deep = " IF LASTCC=0 THEN -\n".repeat(100_000);
        assert!(shape(&statements_of(&deep)).contains("broken IDC3228I"));
    }

    #[test]
    fn statements_know_their_lines() {
        let text = " VERIFY -\n DATASET(A)\n\n DO\n CANCEL\n END\n SET MAXCC=0\n";
        let lines: Vec<(u32, u32)> =
            statements_of(text).iter().map(|step| (step.first, step.last)).collect();
        assert_eq!(lines, vec![(1, 2), (4, 6), (7, 7)]);
    }
}
