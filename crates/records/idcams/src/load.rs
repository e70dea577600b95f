//! Loading a cluster that was just defined, and reading all of one: what copies of whole objects
//! are made with.
//!
//! Invariants:
//! 1. A load that fails leaves a cluster that its caller deletes: no copy counts in part.

use store::{Store, Unit, UnitOptions};
use vsam::{
    DataSetName, Feedback, Intent, LogicalReason, OpenMode, OpenOptions, RecordNumber,
};

use crate::refusal::Refusal;
use crate::session::Session;
use crate::source::position_of;

const COMMIT_RECORDS: u64 = 1000;
const COMMIT_BYTES: usize = 4 << 20;

/// The next record, with its number if it has one; `None` behind the last.
pub(crate) type Next<'n> =
    &'n mut dyn FnMut(&mut Vec<u8>) -> Result<Option<Option<RecordNumber>>, Refusal>;

/// Loads the empty cluster `name`; answers how many records there were.
pub(crate) fn load<S: Store>(
    session: &mut Session<'_, S>,
    name: &DataSetName,
    next: Next<'_>,
) -> Result<u64, Refusal> {
    let file = session.catalog.open_file(name, OpenMode::Output, &OpenOptions::default())?;
    let mut position = position_of(&file, name.as_str())?;
    let mut unit = session.catalog.store().begin(UnitOptions::default())?;
    let (mut count, mut bytes, mut record) = (0_u64, 0, Vec::new());
    while let Some(number) = next(&mut record)? {
        let done = match number {
            Some(number) => file.put_number(&mut unit, &mut position, number, &record),
            None => file.put(&mut unit, &mut position, &record),
        };
        done.map_err(|failure| Refusal::of_request(name, &failure))?;
        count += 1;
        bytes += record.len();
        if count.is_multiple_of(COMMIT_RECORDS) || bytes >= COMMIT_BYTES {
            session.machine.progress(name.as_str(), count);
            unit.commit()?;
            unit = session.catalog.store().begin(UnitOptions::default())?;
            bytes = 0;
        }
    }
    unit.commit()?;
    drop(position);
    file.close()?;
    Ok(count)
}

/// What is done with each record.
pub(crate) type Each<'e> = &'e mut dyn FnMut(&[u8], &Feedback) -> Result<(), Refusal>;

/// Reads all records of the cluster `name` in their order; answers how many there were.
pub(crate) fn each<S: Store>(
    session: &mut Session<'_, S>,
    name: &DataSetName,
    take: Each<'_>,
) -> Result<u64, Refusal> {
    let file = session.catalog.open_file(name, OpenMode::Input, &OpenOptions::default())?;
    let mut position = position_of(&file, name.as_str())?;
    let mut unit = session.catalog.store().begin(UnitOptions::READ_ONLY)?;
    let (mut count, mut record) = (0_u64, Vec::new());
    loop {
        match file.get_next(&mut unit, &mut position, Intent::Look, &mut record) {
            Ok(feedback) => take(&record, &feedback)?,
            Err(failure) if failure.reason() == Some(LogicalReason::EndOfData) => break,
            Err(failure) => return Err(Refusal::of_request(name, &failure)),
        }
        count += 1;
        if count.is_multiple_of(COMMIT_RECORDS) {
            session.machine.progress(name.as_str(), count);
        }
    }
    unit.backout()?;
    drop(position);
    file.close()?;
    Ok(count)
}
