//! A program's process from the outside: starting it, waiting for its end, and telling what it was.
//!
//! The process is this executable again, with arguments that make it call [`crate::guest::run`].
//! What happened stands in the ledger, and in how the process ended.
//!
//! Invariants:
//! 1. Only a process that said so itself has committed for certain. Whatever else its end looks
//!    like, the unit of work is backed out, if not by the process then by restart or by the running
//!    system; except that it cannot be told of a process that died while it was committing.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use base::Coded as _;
use rustix::fs::{Mode, OFlags};
use serde::Serialize;

use crate::dd::Files;
use crate::error::RegionError;
use crate::ledger::{LEDGER, Ledger, Outcome, STARTER, State};
use crate::record::CallRecord;
use crate::server::Abend;

/// How a program's process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Normally; the unit of work is committed.
    Normal {
        /// RETURN-CODE, or what was given to `exit`.
        return_code: i64,
    },
    /// By an abend; the unit of work is backed out.
    Abend(Abend),
    /// Its process died while the last changes were being committed: only the system's log knows
    /// whether they are.
    InDoubt(Abend),
    /// It was not entered.
    NotStarted(Abend),
}

/// What came of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// How it ended.
    pub ended: Ended,
    /// How many calls it made.
    pub calls: u64,
    /// Its last calls, the oldest first.
    pub last_calls: Vec<CallRecord>,
    /// What there is to say besides.
    pub notes: Vec<String>,
}

/// How the note begins about calls for messages where there are none.
const FOR_TERMINALS: &str = "this is a program for terminals";

/// A report as a program reads it.
#[derive(Serialize)]
struct ReportJson<'a> {
    return_code: Option<i64>,
    abend: Option<&'a str>,
    text: Option<&'a str>,
    calls: u64,
    last_calls: &'a [CallRecord],
    notes: &'a [String],
}

impl Report {
    /// What the command that ran the program ends with: 0 for return code 0, else 1.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        u8::from(self.ended != Ended::Normal { return_code: 0 })
    }

    /// Says of a program that was ended from outside why it was. What it said itself of its end
    /// stands.
    pub fn ended_because(&mut self, error: &RegionError) {
        if let Ended::Abend(abend) = &mut self.ended {
            *abend = Abend { code: error.code().to_string(), text: error.to_string() };
        }
    }

    /// Says that there were message queues: calls for messages need no explanation.
    pub fn has_queues(&mut self) {
        self.notes.retain(|note| !note.starts_with(FOR_TERMINALS));
    }

    /// The report as JSON; the last calls are in it only after an abend.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        let (return_code, abend) = match &self.ended {
            Ended::Normal { return_code } => (Some(*return_code), None),
            Ended::Abend(abend) | Ended::InDoubt(abend) | Ended::NotStarted(abend) => {
                (None, Some(abend))
            }
        };
        let report = ReportJson {
            return_code,
            abend: abend.map(|abend| abend.code.as_str()),
            text: abend.map(|abend| abend.text.as_str()),
            calls: self.calls,
            last_calls: if abend.is_some() { &self.last_calls } else { &[] },
            notes: &self.notes,
        };
        serde_json::to_value(report).unwrap_or_default()
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.ended {
            Ended::Normal { return_code } => {
                write!(f, "the program ended with return code {return_code}, {}", self.calls)?;
                f.write_str(if self.calls == 1 { " call" } else { " calls" })
            }
            Ended::NotStarted(Abend { code, text }) => {
                write!(f, "the program was not started ({code}): {text}")
            }
            Ended::Abend(Abend { code, text }) | Ended::InDoubt(Abend { code, text }) => {
                writeln!(f, "the program ended with abend {code}: {text}")?;
                f.write_str(match self.ended {
                    Ended::InDoubt(_) => "Whether its last changes count, restart decides.",
                    _ => "Its unit of work is backed out to the last commit.",
                })?;
                if !self.last_calls.is_empty() {
                    write!(f, " Its last calls were:")?;
                }
                self.last_calls.iter().try_for_each(|call| write!(f, "\n{call}"))
            }
        }
    }
}

/// Runs a program's process: `command` is this executable with the arguments that lead it to
/// [`crate::guest::run`]. `begun` is told its process.
///
/// # Errors
/// If the process cannot be started. How it ends is no error here.
pub fn run(
    command: &mut Command,
    files: &Files,
    begun: impl FnOnce(u32),
) -> Result<Report, RegionError> {
    let ledger = Ledger::create()?;
    command.env(LEDGER, ledger.handle()).env(STARTER, std::process::id().to_string());
    without_files(command);
    command.envs(files.environment.iter().map(|(name, value)| (name, value)));
    if let Some(path) = &files.input {
        command.stdin(open(path, OFlags::RDONLY)?);
    }
    // What comes here anyway is not opened again: the place in a file would be another one, and
    // either would write over the other.
    if let Some(path) = files.output.as_ref().filter(|path| !is_own_output(path)) {
        command.stdout(open(path, OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC)?);
    }
    let failed = |error: std::io::Error| RegionError::Process(error.to_string());
    let mut child = command.spawn().map_err(failed)?;
    begun(child.id());
    // A process that has begun is not one that was not started, whichever thread takes its status.
    let mut report = match child.wait() {
        Ok(status) => report(&ledger, Some(status)),
        Err(error) if seam::process::is_taken(&error) => report(&ledger, None),
        Err(error) => return Err(failed(error)),
    };
    report.notes = notes(&ledger);
    Ok(report)
}

/// Takes variables of this process's environment away by which the run time would find files: which
/// files a program has, its DDs alone say.
pub(crate) fn without_files(command: &mut Command) {
    let names_files = |name: &std::ffi::OsStr| {
        let name = name.as_encoded_bytes();
        let ends = |end: &[u8]| name.ends_with(end);
        name.starts_with(b"DD_")
            || name.starts_with(b"dd_")
            || name.starts_with(b"COB_") && (ends(b"_FILE") || ends(b"_PIPE"))
    };
    for (name, _) in std::env::vars_os().filter(|(name, _)| names_files(name)) {
        command.env_remove(name);
    }
}

/// Whether a path leads to this process's standard output.
fn is_own_output(path: &Path) -> bool {
    let (file, own) = (rustix::fs::stat(path), rustix::fs::fstat(std::io::stdout()));
    file.is_ok_and(|file| {
        own.is_ok_and(|own| (own.st_dev, own.st_ino) == (file.st_dev, file.st_ino))
    })
}

fn open(path: &Path, flags: OFlags) -> Result<Stdio, RegionError> {
    let mode = Mode::RUSR | Mode::WUSR;
    let file = rustix::fs::open(path, flags | OFlags::CLOEXEC, mode);
    file.map(Stdio::from).map_err(|errno| RegionError::file(path)(errno.into()))
}

/// What a ledger and the end of a process tell; without notes.
/// Another thread may have taken the status; then what the process said counts alone.
pub(crate) fn report(ledger: &Ledger, status: Option<ExitStatus>) -> Report {
    let ended = match (ledger.outcome(), ledger.state()) {
        (Outcome::Abend { code, text }, State::NotStarted) => {
            Ended::NotStarted(Abend { code, text })
        }
        (Outcome::Abend { code, text }, _) => Ended::Abend(Abend { code, text }),
        (Outcome::ReturnCode(return_code), _) => Ended::Normal { return_code },
        (Outcome::Nothing, State::Starting) if signal_of(status).is_none() => {
            let status = status.map_or("a status that is lost".to_owned(), |one| one.to_string());
            let text =
                format!("its process ended with {status} before it began").replace(": ", " ");
            Ended::NotStarted(Abend { code: "HFR017".to_owned(), text })
        }
        (Outcome::Nothing, State::AtEnd) => Ended::InDoubt(unsaid(status, State::AtEnd)),
        (Outcome::Nothing, state) => Ended::Abend(unsaid(status, state)),
    };
    let (calls, last_calls) = (ledger.calls(), ledger.last_calls());
    Report { ended, calls, last_calls, notes: Vec::new() }
}

fn signal_of(status: Option<ExitStatus>) -> Option<i32> {
    status.and_then(|status| status.signal())
}

/// What a program without messages did that its end does not show.
fn notes(ledger: &Ledger) -> Vec<String> {
    let mut notes = copies(ledger);
    if let messages @ 1.. = ledger.messages() {
        notes.push(format!(
            "{FOR_TERMINALS}: {messages} of its calls were for messages (GU, GN, \
             ISRT of the I/O PCB or of alternate PCBs), and there are no message queues here"
        ));
    }
    notes
}

/// What a program's copies did.
pub(crate) fn copies(ledger: &Ledger) -> Vec<String> {
    let mut notes = Vec::new();
    if let copies @ 1.. = ledger.copies() {
        notes.push(format!(
            "{copies} of the copies that the program has made of its process by fork made calls: \
             they were ended, and changed nothing (HFR024)"
        ));
    }
    notes
}

/// The abend of a process that could not say it itself.
fn unsaid(status: Option<ExitStatus>, state: State) -> Abend {
    let place = match state {
        State::InCall => "in a DL/I call",
        State::AtEnd => "while its last changes were being committed",
        _ => "outside of a DL/I call",
    };
    let (code, what) = match signal_of(status) {
        Some(1) => ("S222", "a terminal that was closed (SIGHUP)".to_owned()),
        Some(2) => ("S222", "somebody who interrupted it (SIGINT)".to_owned()),
        Some(4) => ("S0C1", "an instruction that there is not (SIGILL)".to_owned()),
        Some(6) => ("SIGABRT", "its own wish (SIGABRT)".to_owned()),
        Some(7) => ("S0C5", "an address that leads nowhere (SIGBUS)".to_owned()),
        Some(8) => ("S0CB", "a division by zero (SIGFPE)".to_owned()),
        Some(9) => ("S222", "somebody who stopped it (SIGKILL)".to_owned()),
        Some(11) => ("S0C4", "an address that is not its own (SIGSEGV)".to_owned()),
        Some(15) => ("S222", "somebody who asked it to stop (SIGTERM)".to_owned()),
        Some(24) => ("S322", "its limit of CPU time (SIGXCPU)".to_owned()),
        Some(signal) => ("SIGNAL", format!("signal {signal}")),
        None => {
            let how = if state == State::InCall { "called exit" } else { "left without a word" };
            let text = format!("the program {how} {place}");
            return Abend { code: "HFR019".to_owned(), text };
        }
    };
    Abend { code: code.to_owned(), text: format!("the program was ended by {what} {place}") }
}

#[cfg(test)]
mod tests {
    use definitions::Function;

    use super::*;

    fn ended(raw: i32, prepare: impl FnOnce(&mut Ledger)) -> Ended {
        let mut ledger = Ledger::create().expect("memory");
        prepare(&mut ledger);
        report(&ledger, Some(ExitStatus::from_raw(raw))).ended
    }

    #[test]
    fn only_what_the_process_said_is_a_normal_end() {
        assert_eq!(ended(0, |ledger| ledger.return_code(0)), Ended::Normal { return_code: 0 });
        let Ended::NotStarted(_) = ended(0, |_| ()) else { panic!("it never began") };
        let Ended::Abend(abend) = ended(0, |ledger| ledger.set_state(State::InCall)) else {
            panic!("it stopped inside a call");
        };
        assert_eq!(abend.code, "HFR019");
        let Ended::Abend(abend) = ended(11, |ledger| ledger.set_state(State::Running)) else {
            panic!("it died");
        };
        assert_eq!(abend.code, "S0C4");
        let doubt = ended(9, |ledger| ledger.set_state(State::AtEnd));
        assert!(matches!(doubt, Ended::InDoubt(_)), "{doubt:?}");
        assert!(abend.text.contains("outside of a DL/I call"), "{}", abend.text);
    }

    #[test]
    fn a_report_reads_as_text_and_as_json() {
        let mut ledger = Ledger::create().expect("memory");
        ledger.begin(1, Function::Gu, *b"SHOP    ", [&b"CUSTOMER"[..]].into_iter());
        let report = report(&ledger, Some(ExitStatus::from_raw(9)));
        let text = report.to_string();
        assert!(text.starts_with("the program ended with abend S222: "), "{text}");
        assert!(text.contains("       1 GU   SHOP     did not return"), "{text}");
        assert_eq!(report.exit_code(), 1);
        let json = report.json();
        assert_eq!(json["abend"], "S222");
        assert_eq!(json["last_calls"][0]["call"], "GU");
    }
}
