//! The executor: statements in their order, and their condition codes.
//!
//! | condition code | means |
//! |---|---|
//! | 0, 4 | done; done, with something to look at |
//! | 8 | a part of it was not done |
//! | 12 | it was not done |
//! | 16 | nothing behind it is done either |
//!
//! Invariants:
//! 1. Every statement up to the end is echoed before its messages, and every command ends with
//!    `IDC0001I` or `IDC3003I` and its condition code.
//! 2. A condition code of 16 ends the statements; so does CANCEL.

use std::io::Write;

use store::Store;
use vsam::Catalog;

use crate::keywords::Verb;
use crate::machine::{Dd, Machine};
use crate::modal::{CODE_MAX, Statement, Step, Which, statements_of};
use crate::names::catalog_of;
use crate::refusal::{IdcamsError, Refusal, SEVERE, TERMINATE};
use crate::session::{Done, Session};
use crate::syntax::Command;
use crate::sysprint::{Message, Sysprint};
use crate::{
    alter, backup, build, catalogs, define, delete, export, import, listcat, print, repro, snap,
};

/// A command that was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executed {
    /// Its first line.
    pub line: u32,
    /// Which it is: `REPRO`. A statement that cannot be read has none.
    pub command: String,
    /// Its condition code.
    pub code: u32,
    /// Its messages.
    pub messages: Vec<Message>,
}

/// What became of control statements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The greatest condition code, as SET left it.
    pub code: u32,
    /// Each command.
    pub commands: Vec<Executed>,
}

/// Whether something that looks like a part of a statement stands where nothing is read: a word
/// crosses column 72, or stands behind the numbers of cards.
fn is_cut(line: &str) -> bool {
    let is_there = |letter: Option<char>| letter.is_some_and(|letter| letter != ' ');
    let mut margin = line.chars().skip(71);
    is_there(margin.next()) && is_there(margin.next())
        || line.chars().skip(80).any(|letter| letter != ' ')
}

/// How many commands a summary keeps.
const COMMANDS_MAX: usize = 10_000;

/// Statements that are being executed.
struct Executor<'a, S: Store> {
    session: Session<'a, S>,
    lines: Vec<&'a str>,
    last: u32,
    max: u32,
    ended: bool,
    commands: Vec<Executed>,
}

/// Executes control statements; SYSPRINT is written to `sysprint`.
///
/// # Errors
/// If SYSPRINT cannot be written. What is wrong with statements, or fails in them, is said there,
/// and by condition codes.
pub fn execute<S: Store>(
    catalog: &Catalog<S>,
    statements: &str,
    dds: &[Dd],
    machine: &mut dyn Machine,
    sysprint: &mut dyn Write,
) -> Result<Summary, IdcamsError> {
    let steps = statements_of(statements);
    let print = Sysprint::new(sysprint);
    let mut executor = Executor {
        session: Session { catalog: catalog.clone(), dds, machine, print },
        lines: statements.lines().collect(),
        last: 0,
        max: 0,
        ended: false,
        commands: Vec::new(),
    };
    executor.session.print.line("IDCAMS  SYSTEM SERVICES");
    executor.session.print.line("");
    for step in &steps {
        executor.echo(step);
        executor.step(step);
        if executor.ended || executor.session.print.has_failed() {
            break;
        }
    }
    executor.end();
    executor.session.print.flush().map_err(IdcamsError::Sysprint)?;
    Ok(Summary { code: executor.max, commands: executor.commands })
}

impl<S: Store> Executor<'_, S> {
    fn echo(&mut self, step: &Step) {
        let from = step.first.saturating_sub(1) as usize;
        let to = (step.last as usize).min(self.lines.len());
        let lines: Vec<&str> = self.lines.get(from..to).unwrap_or_default().to_vec();
        for line in lines {
            let line: String =
                line.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
            self.session.print.line(&line);
            if is_cut(&line) {
                self.session.print.line("*** the line above: columns behind 72 are not read");
            }
        }
        self.session.print.line("");
    }

    fn step(&mut self, step: &Step) {
        if self.ended {
            return;
        }
        match &step.statement {
            Statement::Command(command) => self.command(command, step.first),
            Statement::If { which, compare, number, then, otherwise } => {
                let clause = match compare.holds(self.code(*which), *number) {
                    true => then,
                    false => otherwise,
                };
                if let Some(step) = clause {
                    self.step(step);
                }
            }
            Statement::Do(steps) => steps.iter().for_each(|step| self.step(step)),
            Statement::Set(Which::Last, number) => {
                self.last = *number;
                self.max = self.max.max(*number);
                self.ended = *number >= TERMINATE;
            }
            Statement::Set(Which::Max, number) => {
                self.max = *number;
                self.ended = *number >= TERMINATE;
            }
            Statement::Cancel => self.ended = true,
            Statement::Parm => {}
            Statement::Wrong(fault) => {
                self.session.say(fault.id, fault.to_string());
                self.session.say("IDC3202I", "ABOVE TEXT BYPASSED UNTIL NEXT COMMAND");
                self.finish(step.first, "", SEVERE);
            }
            Statement::Broken(fault) => {
                self.session.say(fault.id, fault.to_string());
                self.finish(step.first, "", TERMINATE);
            }
        }
    }

    fn code(&self, which: Which) -> u32 {
        match which {
            Which::Last => self.last,
            Which::Max => self.max,
        }
    }

    fn command(&mut self, command: &Command, line: u32) {
        let all = self.session.catalog.clone();
        let done = self.scoped(command).and_then(|()| self.dispatch(command));
        self.session.catalog = all;
        let code = done.unwrap_or_else(|refusal| self.session.refuse(&refusal));
        self.finish(line, command.verb.name(), code);
    }

    /// Confines a command to the catalog that it names.
    fn scoped(&mut self, command: &Command) -> Result<(), Refusal> {
        if let Some(catalog) = catalog_of(&command.parameters)? {
            self.session.catalog = self.session.catalog.within(Some(&catalog))?;
        }
        Ok(())
    }

    fn dispatch(&mut self, command: &Command) -> Done {
        match command.verb {
            Verb::Define => define::run(&mut self.session, command),
            Verb::Alter => alter::run(&mut self.session, command),
            Verb::Delete => delete::run(&mut self.session, command),
            Verb::BuildIndex => build::run(&mut self.session, command),
            Verb::Repro => repro::run(&mut self.session, command),
            Verb::Print => print::run(&mut self.session, command),
            Verb::ListCatalog => listcat::run(&mut self.session, command),
            Verb::Verify => build::verify(&mut self.session, command),
            Verb::Export if command.parameters.has("DISCONNECT") => {
                catalogs::disconnect(&mut self.session, command)
            }
            Verb::Export => export::run(&mut self.session, command),
            Verb::Import if command.parameters.has("CONNECT") => {
                catalogs::connect(&mut self.session, command)
            }
            Verb::Import => import::run(&mut self.session, command),
            Verb::Backup => backup::run(&mut self.session, command),
            Verb::Restore => backup::restore(&mut self.session, command),
            Verb::Snap => snap::run(&mut self.session, command),
        }
    }

    /// Ends a command.
    fn finish(&mut self, line: u32, command: &str, code: u32) {
        let code = code.min(CODE_MAX);
        match code >= SEVERE {
            true => self
                .session
                .say("IDC3003I", format!("FUNCTION TERMINATED. CONDITION CODE IS {code}")),
            false => {
                let text = format!("FUNCTION COMPLETED, HIGHEST CONDITION CODE WAS {code}");
                self.session.say("IDC0001I", text);
            }
        }
        self.session.print.line("");
        self.last = code;
        self.max = self.max.max(code);
        self.ended |= code >= TERMINATE;
        let messages = self.session.print.take_messages();
        if self.commands.len() < COMMANDS_MAX {
            self.commands.push(Executed { line, command: command.to_owned(), code, messages });
        }
    }

    fn end(&mut self) {
        if self.ended && self.max < TERMINATE {
            self.session
                .say("IDC0002I", "PROCESSING WAS CANCELLED: statements behind CANCEL are left out");
        }
        let max = self.max;
        self.session.say(
            "IDC0002I",
            format!("IDCAMS PROCESSING COMPLETE. MAXIMUM CONDITION CODE WAS {max}"),
        );
    }
}
