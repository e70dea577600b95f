//! What a request says: the record that is written, the key that is sought; and what it is told.
//!
//! Invariants:
//! 1. Of the program's memory only the record's area is read and written, through its
//!    [`Caller`].

use crate::body::{Done, Which};
use crate::caller::Caller;
use crate::fcd::{Access, Fcd, KeyDefinition, Organization};
use crate::status::FileStatus;

/// Brings a record to the program; answers the status of its READ, of which the body knows all but
/// the lengths that the program's records have.
pub(crate) fn give(
    organization: Organization,
    record: &[u8],
    status: FileStatus,
    fcd: &mut Fcd,
    caller: &mut dyn Caller,
) -> FileStatus {
    // A line is as long as it is.
    let lengths = fcd.record_least() as usize..=fcd.record_most() as usize;
    let fits = organization == Organization::LineSequential || lengths.contains(&record.len());
    let most = fcd.record_most() as usize;
    let record = &record[..record.len().min(most)];
    // What the record is shorter by is blank, so that nothing of an older one stands there.
    let is_filled = organization == Organization::LineSequential || !fcd.is_variable();
    caller.put(fcd, record, if is_filled { most } else { 0 });
    let length = u32::try_from(record.len()).unwrap_or(u32::MAX);
    // A record of fixed length that was cut short by the file's end is one all the same.
    if fcd.is_variable() || length == fcd.record_most() {
        fcd.set_record_bytes(length);
        caller.tell_length(length);
    }
    if status == FileStatus::DONE && !fits { FileStatus::LENGTH } else { status }
}

/// Takes the record that is to be written.
pub(crate) fn taken(
    bytes: u32,
    record: &mut Vec<u8>,
    fcd: &Fcd,
    caller: &mut dyn Caller,
) -> Done<()> {
    if !(fcd.record_least()..=fcd.record_most()).contains(&bytes) {
        return Err(FileStatus::RECORD_LENGTH);
    }
    record.clear();
    caller.get(fcd, 0, bytes as usize, record);
    if record.len() == bytes as usize { Ok(()) } else { Err(FileStatus::RECORD_LENGTH) }
}

/// The record that a READ or START names, of whose key at most so many bytes count.
pub(crate) fn named<'k>(
    organization: Organization,
    keys: &[KeyDefinition],
    bytes: usize,
    key: &'k mut Vec<u8>,
    fcd: &Fcd,
    caller: &mut dyn Caller,
) -> Done<Which<'k>> {
    match organization {
        Organization::Relative => Ok(Which::Number(fcd.relative_key())),
        Organization::Indexed => {
            let number = fcd.key_of_reference();
            let definition = keys.get(number).ok_or(FileStatus::LOGIC)?;
            let bytes = bytes.min(definition.whole());
            if bytes == 0 {
                return Err(FileStatus::NOT_FOUND);
            }
            gather(definition, bytes, key, fcd, caller);
            Ok(Which::Key { number, value: key })
        }
        _ => Err(FileStatus::LOGIC),
    }
}

/// The record that a REWRITE or DELETE is for.
pub(crate) fn changed<'k>(
    organization: Organization,
    access: Access,
    keys: &[KeyDefinition],
    key: &'k mut Vec<u8>,
    fcd: &Fcd,
    caller: &mut dyn Caller,
) -> Done<Which<'k>> {
    match (organization, access) {
        (_, Access::Sequential) | (Organization::Sequential | Organization::LineSequential, _) => {
            Ok(Which::Current)
        }
        (Organization::Relative, _) => Ok(Which::Number(fcd.relative_key())),
        (Organization::Indexed, _) => {
            let prime = keys.first().ok_or(FileStatus::LOGIC)?;
            gather(prime, prime.whole(), key, fcd, caller);
            Ok(Which::Key { number: 0, value: key })
        }
    }
}

/// Takes so many bytes of a key, part by part.
fn gather(
    definition: &KeyDefinition,
    bytes: usize,
    key: &mut Vec<u8>,
    fcd: &Fcd,
    caller: &mut dyn Caller,
) {
    key.clear();
    for (offset, part) in definition.parts() {
        let bytes = (part as usize).min(bytes - key.len().min(bytes));
        caller.get(fcd, offset as usize, bytes, key);
    }
}
