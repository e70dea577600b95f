//! Loading a cluster that was just defined, and reading all of one: what copies of whole objects
//! are made with.
//!
//! Invariants:
//! 1. A load that fails leaves a cluster that its caller deletes: no copy counts in part.

use store::{Store, Unit, UnitOptions};
use vsam::{DataSetName, Feedback, RecordNumber};

use crate::form::Form;
use crate::locate::Located;
use crate::names::entry_in;
use crate::refusal::Refusal;
use crate::session::Session;
use crate::source::Source;
use crate::target::{How, Put, Target};

const COMMIT_RECORDS: u64 = 1000;
const COMMIT_BYTES: usize = 4 << 20;

/// The next record, with its number if it has one; `None` behind the last.
pub(crate) type Next<'n> =
    &'n mut dyn FnMut(&mut Vec<u8>) -> Result<Option<Option<RecordNumber>>, Refusal>;

fn located<S: Store>(session: &Session<'_, S>, name: &DataSetName) -> Result<Located, Refusal> {
    Ok(Located::Entry(Box::new(entry_in(&session.catalog, None, name)?)))
}

/// A cluster that has all its records, once that is said: until then nobody else opens it.
pub(crate) struct Filled<S: Store> {
    target: Target<S>,
    unit: S::Unit,
    /// How many records there are.
    pub(crate) count: u64,
}

impl<S: Store> Filled<S> {
    /// What was loaded is there; answers how many records there are.
    pub(crate) fn finish(self) -> Result<u64, Refusal> {
        self.unit.commit()?;
        self.target.close()?;
        Ok(self.count)
    }
}

/// Fills the empty cluster `name`.
pub(crate) fn fill<S: Store>(
    session: &mut Session<'_, S>,
    name: &DataSetName,
    next: Next<'_>,
) -> Result<Filled<S>, Refusal> {
    let located = located(session, name)?;
    let how = How { keeps_numbers: true, bulk: true, ..How::default() };
    let mut target = Target::open(session, &located, Form::Variable, how)?;
    let mut committed = 0;
    match put_all(session, name, (&mut target, next), &mut committed) {
        Ok((unit, count)) => Ok(Filled { target, unit, count }),
        Err(refusal) if committed > 0 && !target.is_bulk => {
            let text = format!("{}; {committed} records are in {name}", refusal.text);
            Err(Refusal { text, ..refusal })
        }
        Err(refusal) => Err(refusal),
    }
}

/// Puts all records into a cluster; answers the unit of work of the last ones. Counts those that
/// are there whatever fails later, unless they take effect as a whole.
fn put_all<S: Store>(
    session: &mut Session<'_, S>,
    name: &DataSetName,
    (target, next): (&mut Target<S>, Next<'_>),
    committed: &mut u64,
) -> Result<(S::Unit, u64), Refusal> {
    let mut unit = session.catalog.store().begin(vsam::unit_options())?;
    let (mut count, mut bytes, mut record) = (0_u64, 0, Vec::new());
    while let Some(number) = next(&mut record)? {
        let feedback = Feedback { number, ..Feedback::default() };
        if let Put::Refused(id, text) = target.put(&mut unit, &record, &feedback)? {
            let text = format!("ACTION ERROR ON {name}, record {}: {text}", count + 1);
            return Err(Refusal::severe(id, text));
        }
        count += 1;
        bytes += record.len();
        if count.is_multiple_of(COMMIT_RECORDS) || bytes >= COMMIT_BYTES {
            let reported = session.machine.progress(name.as_str(), count);
            reported.map_err(|error| Refusal::of_end(&error))?;
            unit.commit()?;
            *committed = count;
            unit = session.catalog.store().begin(vsam::unit_options())?;
            bytes = 0;
        }
    }
    Ok((unit, count))
}

/// What is done with each record.
pub(crate) type Each<'e> = &'e mut dyn FnMut(&[u8], &Feedback) -> Result<(), Refusal>;

/// Reads all records of the cluster `name` in their order; answers how many there were.
pub(crate) fn each<S: Store>(
    session: &mut Session<'_, S>,
    name: &DataSetName,
    take: Each<'_>,
) -> Result<u64, Refusal> {
    let located = located(session, name)?;
    let mut source = Source::open(session, &located, Form::Variable, 0)?;
    let mut unit = session.catalog.store().begin(UnitOptions::READ_ONLY)?;
    let (mut count, mut record) = (0_u64, Vec::new());
    while let Some(feedback) = source.next_record(&mut unit, &mut record)? {
        take(&record, &feedback)?;
        count += 1;
        if count.is_multiple_of(COMMIT_RECORDS) {
            let reported = session.machine.progress(name.as_str(), count);
            reported.map_err(|error| Refusal::of_end(&error))?;
        }
    }
    unit.backout()?;
    source.close()?;
    Ok(count)
}
