//! Limits with which a system would start and could then do nothing, or nothing else.
//!
//! Invariants:
//! 1. A limit is refused at the start, with what is possible, rather than at every call.

use super::{Bytes, SystemConfig};

/// What definitions and calls of one program need, with some room.
const LOCKS_MIN: usize = 1_000;
/// Places of locks are numbered.
const LOCKS_MAX: usize = 1 << 30;
/// One call may span so much: a split of large intervals, with all that is kept to undo it.
const SPAN_MIN: Bytes = Bytes(1 << 20);
/// Less would be written for every change.
const LOG_MIN: Bytes = Bytes(4 << 10);

impl SystemConfig {
    pub(super) fn check_limits(&self) -> Result<(), (&'static str, String)> {
        let (locks, checkpoint) = (&self.locks, &self.checkpoint);
        for (setting, given) in
            [("locks_max", locks.locks_max), ("locks_per_unit_max", locks.locks_per_unit_max)]
        {
            if !(LOCKS_MIN..=LOCKS_MAX).contains(&given) {
                let why = format!("{given} locks are not possible; {LOCKS_MIN} to {LOCKS_MAX}");
                return Err((setting, why));
            }
        }
        for (setting, given, least) in [
            ("log_bytes_max", self.units.log_bytes_max, SPAN_MIN),
            ("log_bytes", checkpoint.log_bytes, LOG_MIN),
            ("redo_bytes_max", checkpoint.redo_bytes_max, LOG_MIN),
        ] {
            if given.0 < least.0 {
                return Err((setting, format!("{given} is too little; {least} or more")));
            }
        }
        match checkpoint.interval_seconds {
            0 => Err(("interval_seconds", "it is 1 second or more".into())),
            _ => Ok(()),
        }
    }
}
