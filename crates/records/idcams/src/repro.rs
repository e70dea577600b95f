//! REPRO: copies records.
//!
//! | | |
//! |---|---|
//! | a duplicate, a wrong length, a record that cannot be converted | is told and left out: condition code 8 |
//! | so many of them as ERRORLIMIT says, 4 without it | end the command: condition code 12 |
//! | COMMIT(n) | commits every n records, 1000 without it, and sooner after many bytes |
//! | an empty cluster with SPEED | is loaded as a whole, faster; a kill leaves it empty |
//!
//! Invariants:
//! 1. Records that are counted as processed are in the output and stay there, whatever happens
//!    later; if the command fails between, `IDC0005I` says how many were committed.
//! 2. A record is in the output whole or not at all.

use store::{Store, Unit};
use vsam::Feedback;

use crate::convert::Converter;
use crate::form::Form;
use crate::locate::{Located, usual_form};
use crate::range::Range;
use crate::refusal::{ERROR, Refusal, SEVERE};
use crate::session::{Done, Session};
use crate::source::Source;
use crate::syntax::Command;
use crate::target::{How, Put, Target};

/// How many refused records end a command.
const ERRORS_MAX: u64 = 4;
/// After how many records a unit of work is committed.
const COMMIT_RECORDS: u64 = 1000;
/// After how many bytes at least.
const COMMIT_BYTES: usize = 4 << 20;
/// How often progress is told.
const PROGRESS_RECORDS: u64 = 1000;

pub(crate) fn run<S: Store>(session: &mut Session<'_, S>, command: &Command) -> Done {
    let parameters = &command.parameters;
    let input = session.locate(parameters, "INFILE", "INDATASET")?;
    let output = session.locate(parameters, "OUTFILE", "OUTDATASET")?;
    if input.name() == output.name() {
        let text = format!("{} cannot be copied to itself", input.name());
        return Err(Refusal::severe("IDC3210I", text));
    }
    let from = input.cluster(&session.catalog)?;
    let to = output.cluster(&session.catalog)?;
    let (source_form, target_form) = forms(&input, &output, &from, &to)?;
    let least = match usual_form(to.as_ref()) {
        Some(Form::Fixed(bytes)) => bytes as usize,
        _ => 0,
    };
    let name = input.name();
    let converter = Converter::of(session, parameters, &[from, to], &name)?;
    let mut source = Source::open(session, &input, source_form, least)?;
    let page = converter.as_ref().and_then(Converter::input_page);
    let range = Range::of(parameters, source.ways, page)?;
    let how = How {
        replaces: parameters.has("REPLACE"),
        reuse: parameters.has("REUSE"),
        appends: parameters.has("NOREUSE"),
        keeps_numbers: source.has_numbers(),
        bulk: false,
    };
    let target = Target::open(session, &output, target_form, how)?;
    let mut unit = session.catalog.store().begin(vsam::unit_options())?;
    source.begin(&mut unit, range)?;
    let mut copy = Copy { source, target, unit: Some(unit), converter, tally: Tally::default() };
    copy.tally.limit = parameters.number("ERRORLIMIT")?.unwrap_or(ERRORS_MAX).max(1);
    copy.tally.commit = parameters.number("COMMIT")?.unwrap_or(COMMIT_RECORDS).max(1);
    let done = copy.all(session);
    copy.end(session, done)
}

/// The forms of files for which none was said: what the records of the other side need.
fn forms(
    input: &Located,
    output: &Located,
    from: &Option<vsam::ClusterAttributes>,
    to: &Option<vsam::ClusterAttributes>,
) -> Result<(Form, Form), Refusal> {
    let form_of = |located: &Located| match located {
        Located::File { form, .. } => *form,
        Located::Entry(_) => None,
    };
    // Records of the catalog need no form.
    let needed = |located: &Located, form: Option<Form>| match located {
        Located::File { .. } => form,
        Located::Entry(_) => Some(Form::Variable),
    };
    let source = form_of(input).or(usual_form(to.as_ref())).or(form_of(output));
    let target = form_of(output).or(usual_form(from.as_ref())).or(form_of(input));
    let (source, target) = (needed(input, source), needed(output, target));
    match (source, target) {
        (Some(source), Some(target)) => Ok((source, target)),
        _ => {
            let text = "say how the records of the files look: --dd NAME=PATH,text or ,fb=80 or \
                        ,vb, ,bdw, or ENVIRONMENT(RECORDFORMAT(FB) RECORDSIZE(80))";
            Err(Refusal::severe("IDC3300I", format!("ERROR OPENING {}: {text}", input.name())))
        }
    }
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// Records that were put, and those of them that are committed.
    put: u64,
    committed: u64,
    /// Records that were read.
    read: u64,
    refused: u64,
    limit: u64,
    commit: u64,
    /// Since the last commit.
    bytes: usize,
}

struct Copy<S: Store> {
    source: Source<S>,
    target: Target<S>,
    unit: Option<S::Unit>,
    converter: Option<Converter>,
    tally: Tally,
}

impl<S: Store> Copy<S> {
    /// Copies until the end, or until something fails.
    fn all(&mut self, session: &mut Session<'_, S>) -> Result<(), Refusal> {
        let mut record = Vec::new();
        loop {
            let unit = self.unit.as_mut().ok_or_else(no_unit)?;
            let Some(feedback) = self.source.next_record(unit, &mut record)? else {
                return Ok(());
            };
            self.tally.read += 1;
            if self.tally.read.is_multiple_of(PROGRESS_RECORDS) {
                let reported = session.machine.progress(&self.target.name, self.tally.read);
                reported.map_err(|error| Refusal::of_end(&error))?;
            }
            match self.one(&mut record, &feedback)? {
                Put::Done => {
                    self.tally.put += 1;
                    self.tally.bytes += record.len();
                }
                Put::Refused(id, text) => {
                    self.tally.refused += 1;
                    session.say("IDC3302I", format!("ACTION ERROR ON {}", self.target.name));
                    session.say(id, format!("{text}; record {} of the input", self.tally.read));
                    if self.tally.refused >= self.tally.limit {
                        let text = "MAXIMUM ERROR LIMIT REACHED";
                        session.say("IDC31467I", text);
                        return Ok(());
                    }
                }
            }
            if self.tally.put - self.tally.committed >= self.tally.commit
                || self.tally.bytes >= COMMIT_BYTES
            {
                self.commit()?;
                self.unit = Some(session.catalog.store().begin(vsam::unit_options())?);
            }
        }
    }

    fn one(&mut self, record: &mut [u8], feedback: &Feedback) -> Result<Put, Refusal> {
        if let Some(converter) = &self.converter
            && let Err(what) = converter.convert(record, self.tally.read)
        {
            return Ok(Put::Refused("IDC3309I", format!("** RECORD CANNOT BE CONVERTED: {what}")));
        }
        let unit = self.unit.as_mut().ok_or_else(no_unit)?;
        self.target.put(unit, record, feedback)
    }

    fn commit(&mut self) -> Result<(), Refusal> {
        if let Some(unit) = self.unit.take() {
            unit.commit()?;
        }
        (self.tally.committed, self.tally.bytes) = (self.tally.put, 0);
        Ok(())
    }

    /// Commits, or backs out what a failure left; closes, and says how many records there were.
    fn end(mut self, session: &mut Session<'_, S>, done: Result<(), Refusal>) -> Done {
        let done = done.and_then(|()| self.commit());
        if let Some(unit) = self.unit.take() {
            // What is backed out was never told as processed.
            let _ = unit.backout();
        }
        let Copy { source, target, tally, .. } = self;
        let is_bulk = target.is_bulk;
        let closed = target.close();
        let count = if is_bulk && closed.is_ok() { tally.put } else { tally.committed };
        let done = done.and(closed).and(source.close());
        session.say("IDC0005I", format!("NUMBER OF RECORDS PROCESSED WAS {count}"));
        done?;
        Ok(match tally.refused {
            0 => 0,
            refused if refused < tally.limit => ERROR,
            _ => SEVERE,
        })
    }
}

fn no_unit() -> Refusal {
    Refusal::severe("IDC3302I", "ACTION ERROR: the unit of work has ended")
}
