//! All records of a cluster, sent anew: the handler is emptied, and gets them as they are.
//!
//! Invariants:
//! 1. It may be in use meanwhile: a record is kept to be sent while it is locked, so that a change
//!    of it comes behind, and what was changed before is what is sent.
//! 2. What is not sent is bounded: records are kept in parts, and each is sent before the next.

use store::{Store, Unit as _};
use vsam::handler::{Change, Row};
use vsam::{
    Catalog, CatalogError, Entry, Feedback, File, Intent, LogicalReason, OpenError, OpenMode,
    OpenOptions, Position, RecordOwner,
};

use crate::sender::{SendError, Sent, send};

/// Records of a part.
const PART_RECORDS: u64 = 2000;

fn of_open(error: OpenError) -> SendError {
    match error {
        OpenError::Catalog(error) => SendError::Catalog(error),
        // Another program loads it, or has it alone.
        OpenError::Shared(name) => SendError::Catalog(CatalogError::InUse(name)),
        other => SendError::NotRedirected(other.to_string()),
    }
}

fn of_store(error: store::StoreError) -> SendError {
    SendError::Catalog(CatalogError::Store(error))
}

/// Sends all records of a cluster that VSAM owns; answers how many there were. `goes_on` hears how
/// many were sent so far, and says whether more are to be.
///
/// # Errors
/// Why they were not sent. What was kept until then is sent later.
pub fn send_all<S: Store>(
    catalog: &Catalog<S>,
    entry: &Entry,
    goes_on: &mut dyn FnMut(u64) -> bool,
) -> Result<u64, SendError> {
    let owner = entry.redirection.as_ref().map(|redirection| redirection.owner);
    if owner != Some(RecordOwner::Vsam) {
        return Err(SendError::NotRedirected(entry.name.to_string()));
    }
    let unsent = catalog.unsent()?;
    let options = OpenOptions { record_level: true, ..OpenOptions::default() };
    let file = catalog.open_file(&entry.name, OpenMode::Input, &options).map_err(of_open)?;
    let mut unit = catalog.store().begin(vsam::unit_options()).map_err(of_store)?;
    unsent.keep(&mut unit, entry.number, &Change::Clear).map_err(of_store)?;
    unit.commit().map_err(of_store)?;
    let failed = |_| SendError::NotRedirected(entry.name.to_string());
    let mut position = file.position().map_err(failed)?;
    let mut all = 0;
    loop {
        let kept = part(catalog, entry, &file, &mut position)?;
        all += kept;
        send(catalog, entry, &mut |_: Sent| true)?;
        if kept < PART_RECORDS || !goes_on(all) {
            return Ok(all);
        }
    }
}

/// Keeps the next records.
fn part<S: Store>(
    catalog: &Catalog<S>,
    entry: &Entry,
    file: &File<S>,
    position: &mut Position<S>,
) -> Result<u64, SendError> {
    let unsent = catalog.unsent()?;
    let mut unit = catalog.store().begin(vsam::unit_options()).map_err(of_store)?;
    let (mut kept, mut record) = (0, Vec::new());
    while kept < PART_RECORDS {
        let feedback = match file.get_next(&mut unit, position, Intent::Keep, &mut record) {
            Ok(feedback) => feedback,
            Err(failure) if failure.reason() == Some(LogicalReason::EndOfData) => break,
            Err(vsam::Failure::Store(error)) => return Err(of_store(error)),
            Err(failure) => {
                let what = CatalogError::Damaged {
                    name: entry.name.to_string(),
                    what: failure.to_string(),
                };
                return Err(SendError::Catalog(what));
            }
        };
        let key = key_of(file, &feedback, &record);
        let change = Change::Put(Row { key, record: record.clone() });
        unsent.keep(&mut unit, entry.number, &change).map_err(of_store)?;
        kept += 1;
    }
    unit.commit().map_err(of_store)?;
    Ok(kept)
}

fn key_of<S: Store>(file: &File<S>, feedback: &Feedback, record: &[u8]) -> Vec<u8> {
    match (file.attributes().key, feedback.number, feedback.rba) {
        (Some(key), ..) => key.of(record).unwrap_or_default().to_vec(),
        (None, Some(number), _) => number.0.to_be_bytes().to_vec(),
        (None, None, rba) => rba.unwrap_or_default().0.to_be_bytes().to_vec(),
    }
}
