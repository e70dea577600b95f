//! Where records are copied to: a cluster, through a path, or a file.
//!
//! | the cluster | records are |
//! |---|---|
//! | is empty, or REUSE empties it | loaded: keys ascend, arrivals stay in their order |
//! | has keys | inserted by them |
//! | has numbers | inserted by the number that they had in a relative input; otherwise behind the highest |
//! | has addresses | appended |
//!
//! Invariants:
//! 1. A record that is refused leaves everything as it was.
//! 2. Nothing is written behind a part of a record: a file is read before it is extended.

use std::io;

use store::Store;
use vsam::{
    BLOCK_BYTES, Component, Failure, Feedback, File, Intent, LogicalReason, OpenMode, OpenOptions,
    Organization, Position, Rba,
};

use crate::form::Form;
use crate::locate::Located;
use crate::records::{RecordWriter, prove};
use crate::refusal::{Refusal, of_record};
use crate::session::Session;
use crate::source::position_of;

enum Kind<S: Store> {
    Cluster {
        file: File<S>,
        position: Box<Position<S>>,
        organization: Organization,
    },
    /// A linear cluster, and its next block, once that is known.
    Blocks {
        file: File<S>,
        position: Box<Position<S>>,
        next: Option<Rba>,
    },
    File(Box<RecordWriter>),
}

/// A place for records.
pub(crate) struct Target<S: Store> {
    pub(crate) name: String,
    kind: Kind<S>,
    /// REPLACE: a record takes the place of the one with its key or number.
    replaces: bool,
    /// Records keep the numbers that they have.
    keeps_numbers: bool,
    /// Records are there when it is closed, outside of units of work.
    pub(crate) is_bulk: bool,
}

/// How it is opened.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct How {
    pub(crate) replaces: bool,
    /// REUSE: what is in it goes.
    pub(crate) reuse: bool,
    /// NOREUSE of a file: records are appended.
    pub(crate) appends: bool,
    pub(crate) keeps_numbers: bool,
    /// A load takes effect as a whole; it is faster then. SPEED says the same of a cluster.
    pub(crate) bulk: bool,
}

/// What became of a record.
pub(crate) enum Put {
    Done,
    /// It was refused, and others may follow: message id and text.
    Refused(&'static str, String),
}

impl<S: Store> Target<S> {
    /// Opens it. `form` is that of a file for which none was said.
    pub(crate) fn open(
        session: &mut Session<'_, S>,
        located: &Located,
        form: Form,
        how: How,
    ) -> Result<Target<S>, Refusal> {
        let name = located.name();
        let mut is_bulk = false;
        let kind = match located {
            Located::Entry(entry) => {
                let attributes = located.cluster(&session.catalog)?;
                let reusable = attributes.as_ref().is_some_and(|attributes| attributes.reuse);
                let speed = attributes.as_ref().is_some_and(|attributes| attributes.speed);
                let organization =
                    attributes.map_or(Organization::Keyed, |attributes| attributes.organization);
                let is_base = entry.cluster().is_some();
                let loads = how.reuse || is_base && is_empty(session, located)?;
                let mode = match organization {
                    _ if loads => OpenMode::Output,
                    Organization::EntrySequenced | Organization::Linear => OpenMode::Extend,
                    relative if relative.is_relative() && !how.keeps_numbers => OpenMode::Extend,
                    _ => OpenMode::InputOutput,
                };
                is_bulk = (how.bulk || speed)
                    && mode == OpenMode::Output
                    && organization != Organization::Linear;
                let reset = how.reuse && reusable;
                let options = OpenOptions { reset, bulk: is_bulk, ..OpenOptions::default() };
                let file = session.catalog.open_file(&entry.name, mode, &options)?;
                let position = Box::new(position_of(&file, &name)?);
                match organization {
                    Organization::Linear => Kind::Blocks { file, position, next: None },
                    _ => Kind::Cluster { file, position, organization },
                }
            }
            Located::File { path, form: stated } => {
                let (failed, form) =
                    (|error: io::Error| Refusal::of_file(&name, &error), stated.unwrap_or(form));
                let is_ended = match how.appends && session.machine.exists(path) {
                    true => session.machine.read(path).and_then(|input| prove(input, form)),
                    false => Ok(true),
                };
                let is_ended = is_ended.map_err(failed)?;
                let output = session.machine.write(path, how.appends).map_err(failed)?;
                let mut writer = RecordWriter::new(output, form);
                if !is_ended {
                    writer.end_line().map_err(failed)?;
                }
                Kind::File(Box::new(writer))
            }
        };
        let How { replaces, keeps_numbers, .. } = how;
        Ok(Target { name, kind, replaces, keeps_numbers, is_bulk })
    }

    /// Puts a record. `from` is what its source said of it.
    pub(crate) fn put(
        &mut self,
        unit: &mut S::Unit,
        record: &[u8],
        from: &Feedback,
    ) -> Result<Put, Refusal> {
        let (file, position, organization) = match &mut self.kind {
            Kind::File(writer) => return written(&self.name, writer.put(record)),
            Kind::Blocks { file, position, next } => {
                let failed = |failure: Failure| Refusal::of_request(&self.name, &failure);
                let rba = match *next {
                    Some(rba) => rba,
                    None => Rba(file.end_of_blocks(unit).map_err(failed)?),
                };
                let done = file.put_block(unit, position, rba, record);
                if done.is_ok() {
                    *next = Some(Rba(rba.0.saturating_add(BLOCK_BYTES as u64)));
                }
                return answer(&self.name, done);
            }
            Kind::Cluster { file, position, organization } => (file, position, *organization),
        };
        let number = from.number.filter(|_| self.keeps_numbers && organization.is_relative());
        let mut done = match number {
            Some(number) => file.put_number(unit, position, number, record),
            None => file.put(unit, position, record),
        };
        let duplicate =
            matches!(&done, Err(failure) if failure.reason() == Some(LogicalReason::Duplicate));
        if duplicate && self.replaces {
            done = match (number, organization) {
                (Some(number), _) => file.rewrite_number(unit, position, number, record),
                (None, Organization::Keyed) => file.rewrite_keyed(unit, position, record),
                _ => done,
            };
        }
        answer(&self.name, done)
    }

    /// Ends it: a file of the machine is durable then.
    pub(crate) fn close(self) -> Result<(), Refusal> {
        match self.kind {
            // What was counted is known when the position is gone.
            Kind::Cluster { file, position, .. } | Kind::Blocks { file, position, .. } => {
                drop(position);
                Ok(file.close()?)
            }
            Kind::File(mut writer) => {
                writer.finish().map_err(|error| unwritable(&self.name, &error))
            }
        }
    }
}

/// What a request answered.
fn answer(name: &str, done: Result<Feedback, Failure>) -> Result<Put, Refusal> {
    match done {
        Ok(_) => Ok(Put::Done),
        Err(Failure::Logical { reason: LogicalReason::NoSpace, .. }) => {
            let (id, text) = of_record(LogicalReason::NoSpace);
            Err(Refusal::severe(id, text))
        }
        Err(Failure::Logical { reason, component, .. }) => {
            let (id, text) = of_record(reason);
            let number = reason.number();
            let component = match component {
                Component::UpgradeSet => ", in an alternate index of the upgrade set",
                _ => "",
            };
            Ok(Put::Refused(id, format!("{text}: {reason} (feedback {number}{component})")))
        }
        Err(failure) => Err(Refusal::of_request(name, &failure)),
    }
}

fn unwritable(name: &str, error: &io::Error) -> Refusal {
    Refusal::severe("IDC3302I", format!("ACTION ERROR ON {name}: {error}"))
}

/// What became of a record in a file of the machine.
fn written(name: &str, done: io::Result<()>) -> Result<Put, Refusal> {
    match done {
        Ok(()) => Ok(Put::Done),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            Ok(Put::Refused("IDC3309I", format!("** RECORD IS INVALID: {error}")))
        }
        Err(error) => Err(unwritable(name, &error)),
    }
}

/// Whether a cluster has no record.
pub(crate) fn is_empty<S: Store>(
    session: &mut Session<'_, S>,
    located: &Located,
) -> Result<bool, Refusal> {
    let Located::Entry(entry) = located else { return Ok(false) };
    let file = session.catalog.open_file(&entry.name, OpenMode::Input, &OpenOptions::default())?;
    let mut position = position_of(&file, &located.name())?;
    let mut unit = session.catalog.store().begin(store::UnitOptions::READ_ONLY)?;
    let mut record = Vec::new();
    let first = match file.organization() {
        Organization::Linear => match file.end_of_blocks(&mut unit) {
            Ok(0) => Err(Failure::logical(LogicalReason::EndOfData)),
            Ok(_) => Ok(Feedback::default()),
            Err(failure) => Err(failure),
        },
        _ => file.get_next(&mut unit, &mut position, Intent::Look, &mut record),
    };
    store::Unit::backout(unit)?;
    drop(position);
    file.close()?;
    match first {
        Ok(_) => Ok(false),
        Err(failure) if failure.reason() == Some(LogicalReason::EndOfData) => Ok(true),
        Err(failure) => Err(Refusal::of_request(located.name(), &failure)),
    }
}
