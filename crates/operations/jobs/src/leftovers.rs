//! What killed programs have left in a system's folder: records of `,text` files lie there in
//! clear.

use std::path::Path;

use base::Coded as _;
use region::program::{Cleared, clear as clear_programs};
use seam::disk::Disk;

use crate::job::PROGRAMS;

/// What is to be known of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// What was removed.
    Removed,
    /// And what is still there, in clear, for its owner.
    All,
}

/// Removes records of programs that were killed, and answers what is to be known of that. That it
/// cannot is no reason not to go on: a command that only reads a system may do that where nothing
/// can be written.
#[must_use]
pub fn clear(disk: &dyn Disk, system: &Path, detail: Detail) -> Vec<String> {
    let Cleared { records, kept } = match clear_programs(disk, &system.join(PROGRAMS)) {
        Ok(cleared) => cleared,
        Err(error) => {
            let what = "records that a killed program has left in clear cannot be removed";
            return vec![format!("{what}: {}", error.with_code())];
        }
    };
    let mut notes = Vec::new();
    for path in &records {
        let path = path.display();
        notes.push(format!("{path} is removed: a killed program had left it in clear"));
    }
    for path in kept.iter().filter(|_| detail == Detail::All) {
        let path = path.display();
        notes.push(format!(
            "{path} lies there in clear: it could not become lines, and is kept; remove it when \
             it is of no more use"
        ));
    }
    notes
}
