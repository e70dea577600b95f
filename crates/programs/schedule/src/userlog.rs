//! LOG: records that a program leaves for those who come after it.
//!
//! Owns the set [`SET`].
//!
//! | key | bytes | value | bytes |
//! |---|---|---|---|
//! | number, drawn from the set's sequence, big-endian | 8 | PSB | 8 |
//! | | | microseconds since 1970-01-01 UTC, little-endian | 8 |
//! | | | the record as the program gave it: LL, ZZ, code, text | LL |
//!
//! Invariants:
//! 1. A record belongs to the unit of work that wrote it: it is there if and only if the changes
//!    are that it speaks of.
//! 2. Records are never changed, and nothing but a person removes them.

use definitions::PsbName;
use dli::Session;
use region::{Abend, Request, is_counted};
use seam::clock::Clock;
use store::{SetId, Store, Unit};

use crate::error::{ended, refused};
use crate::step_records::named_set;

/// The set that holds the records.
pub const SET: &str = "HOLDFAST.USERLOG";

/// LL, ZZ and the code.
const PREFIX: usize = 5;
/// The lowest code of a user's record.
const LOWEST_CODE: u8 = 0xA0;

/// The log of a program.
pub(crate) struct UserLog {
    psb: PsbName,
    set: Option<SetId>,
}

impl UserLog {
    pub(crate) fn new(psb: PsbName) -> UserLog {
        UserLog { psb, set: None }
    }

    /// LOG.
    pub(crate) fn write<S: Store>(
        &mut self,
        session: &mut Session<S>,
        (store, clock): (&S, &dyn Clock),
        request: &Request<'_>,
    ) -> Result<[u8; 2], Abend> {
        let Some(area) = request.area.as_deref() else { return Ok(*b"AB") };
        if area.len() < PREFIX || !is_counted(area) {
            return Ok(*b"QF");
        }
        if area[PREFIX - 1] < LOWEST_CODE {
            return Ok(*b"GL");
        }
        let set = match self.set {
            Some(set) => set,
            None => {
                let set = named_set(store, SET).map_err(|error| refused(&error))?;
                *self.set.insert(set)
            }
        };
        let number = store.draw(set, 1).map_err(|error| refused(&error))?;
        let mut value = self.psb.bytes().to_vec();
        value.extend_from_slice(&clock.utc_us().to_le_bytes());
        value.extend_from_slice(area);
        let unit = session.unit().map_err(ended)?;
        unit.put(set, &number.to_be_bytes(), &value).map_err(|error| refused(&error))?;
        Ok(*b"  ")
    }
}
