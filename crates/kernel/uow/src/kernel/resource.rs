//! What the kernel asks of a layer that keeps its own structure in intervals (K24).

use base::CiNumber;
use space::DataSet;

use super::Undo;
use crate::{Target, UowError};

/// A log record that does not decode, or does not fit the interval that it is applied to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordDamage(pub String);

/// The layer above: knows what records of kinds 32 to 127 mean. Bodies come from the log and may be
/// anything; wrong ones are errors.
pub trait Resource: Send + Sync {
    /// Which intervals a record touches, in the order in which they are latched.
    ///
    /// # Errors
    /// If the body does not decode.
    fn targets(&self, kind: u8, body: &[u8], out: &mut Vec<Target>) -> Result<(), RecordDamage>;

    /// Applies a record to one of its intervals, exactly as it was applied first. `page` has the
    /// usable bytes; the kernel sets its LSN.
    ///
    /// # Errors
    /// If the record does not fit the interval.
    fn redo(
        &self,
        kind: u8,
        body: &[u8],
        ci: CiNumber,
        page: &mut [u8],
    ) -> Result<(), RecordDamage>;

    /// What is wrong with the contents of an interval that was read, if anything. Asked for plain
    /// data sets, whose checksum anybody can make: what it lets pass makes nobody panic.
    fn damage(&self, ci: CiNumber, page: &[u8]) -> Option<String>;

    /// Undoes a change of a unit of work: finds what it changed, wherever that is by now, and logs
    /// compensation.
    ///
    /// # Errors
    /// Whatever stands in the way; the kernel stops then.
    fn undo(
        &self,
        undo: &mut Undo<'_>,
        set: &DataSet,
        kind: u8,
        body: &[u8],
    ) -> Result<(), UowError>;
}
