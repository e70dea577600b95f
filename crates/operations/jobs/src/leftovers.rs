//! What killed programs have left in a system's folder: records of `,text` files lie there in
//! clear.

use std::path::Path;

use base::Coded as _;
use region::program::{Cleared, clear as clear_programs};
use seam::disk::Disk;

use crate::job::PROGRAMS;
use crate::output::warn;

/// What is said of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tells {
    /// What was removed.
    OfRemoved,
    /// And what is still there, in clear, for its owner.
    OfAll,
}

/// Removes records of programs that were killed, and says so. That it cannot is no reason not to
/// go on: whoever only reads a system may do that where nothing can be written.
pub(crate) fn clear(disk: &dyn Disk, system: &Path, tells: Tells) {
    let Cleared { records, kept } = match clear_programs(disk, &system.join(PROGRAMS)) {
        Ok(cleared) => cleared,
        Err(error) => {
            let what = "records that a killed program has left in clear cannot be removed";
            return warn(format!("{what}: {error} ({})", error.code()));
        }
    };
    for path in &records {
        warn(format!("{} is removed: a killed program had left it in clear", path.display()));
    }
    for path in kept.iter().filter(|_| tells == Tells::OfAll) {
        let path = path.display();
        warn(format!(
            "{path} lies there in clear: it could not become lines, and is kept; remove it when \
             it is of no more use"
        ));
    }
}
