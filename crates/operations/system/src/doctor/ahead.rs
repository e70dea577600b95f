//! What is left of the write-ahead data set of a damaged system.
//!
//! Invariants:
//! 1. Files that the log needs nothing of are called sound, whatever stands in them: the next start
//!    makes them anew.

use wal::Beginning;

use super::{Doctor, Health};
use crate::Stopped;

impl Doctor {
    /// `since`: the control file says that it may hold what the log lacks, since that beginning.
    pub(super) fn ahead(&mut self, stopped: &Stopped, since: Option<Beginning>) {
        let (files, holds) = (stopped.look_ahead(since), since.is_some());
        if files.is_empty() && !holds {
            return;
        }
        let usable = files.iter().filter(|(_, found)| found.is_ok()).count();
        let health = match usable {
            _ if !holds => Health::Sound,
            0 => Health::Lost,
            all if all == files.len() => Health::Sound,
            _ => Health::Impaired,
        };
        let lines = files.iter().map(|(path, found)| match found {
            Ok(entries) => format!("{}: {entries} entries prove themselves", path.display()),
            Err(why) => format!("{}: {why}", path.display()),
        });
        let mut notes: Vec<String> = lines.collect();
        if files.is_empty() {
            notes.push("log.write_ahead in holdfast.toml names no folder".into());
        }
        notes.push(match holds {
            true => "it may hold work that the log lacks: it belongs to the log".into(),
            false => "the log has everything that it held".into(),
        });
        self.part("write-ahead data set", health, notes);
        match health {
            Health::Lost => self.step(
                "See that log.write_ahead in holdfast.toml names the folders that it had, and that \
                 a file of the write-ahead data set is there as it was: the last work that was \
                 acknowledged may only be in it. If all are gone for good, `holdfast restart \
                 --accept-loss-with-stale-log-copy` goes on without that work.",
                None,
            ),
            Health::Impaired => self.step(
                "One file of the write-ahead data set serves; a start takes over what it has, and \
                 makes both anew.",
                None,
            ),
            _ => {}
        }
    }
}
