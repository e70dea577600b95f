//! Who has what open, as RECON says it.
//!
//! Invariants:
//! 1. RECON knows durably of a program before that gets to a database, and of a process before
//!    anybody gets anything from it.
//! 2. What a process that died had open stays so until the next restart has backed out what it
//!    had in flight; then it ends in RECON, too.
//! 3. A RECON that cannot be written keeps no program from its work: who has what open is for
//!    operators, and the system's lock is what keeps two processes apart.

use std::sync::Arc;

use recon::{Authorisation, Recon, Record, State};
use seam::Seam;

use crate::SystemError;

/// What RECON calls the way in which a system is open.
const UPDATE: &str = "update";

/// Tells RECON who gets to databases.
#[derive(Clone)]
pub struct Authoriser {
    recon: Arc<Recon>,
    seam: Seam,
}

/// A program that has databases open; they are no longer when this goes.
pub struct Authorised {
    recon: Arc<Recon>,
    held: Vec<Authorisation>,
}

impl Authoriser {
    pub(crate) fn new(recon: &Arc<Recon>, seam: &Seam) -> Authoriser {
        Authoriser { recon: Arc::clone(recon), seam: seam.clone() }
    }

    /// Says that a PSB has databases open, each in a way such as `update`.
    ///
    /// # Errors
    /// If RECON cannot be written; the program may go on (3).
    pub fn authorise<'d>(
        &self,
        psb: &str,
        databases: impl IntoIterator<Item = (&'d str, &'d str)>,
    ) -> Result<Authorised, SystemError> {
        let since_us = self.seam.clock.utc_us();
        let one = |(database, access): (&str, &str)| Authorisation {
            process: process(),
            psb: psb.to_owned(),
            database: database.to_owned(),
            access: access.to_owned(),
            since_us,
        };
        let held: Vec<Authorisation> = databases.into_iter().map(one).collect();
        self.recon.add(held.iter().cloned().map(Record::Authorised).collect())?;
        Ok(Authorised { recon: Arc::clone(&self.recon), held })
    }
}

impl Drop for Authorised {
    fn drop(&mut self) {
        let released = std::mem::take(&mut self.held).into_iter().map(Record::Released);
        // Where it cannot be written, or is closed, the end of the process says the same, or the
        // next restart.
        let _ = self.recon.add(released.collect());
    }
}

/// This process has the system open, restart is done, and whoever had it before has it no more:
/// what RECON is told of that, and what people are told.
pub(crate) fn take_over(state: &State, utc_us: u64) -> (Vec<Record>, Vec<String>) {
    let mut processes: Vec<u32> = state.authorised.iter().map(|one| one.process).collect();
    processes.sort_unstable();
    processes.dedup();
    let mut records: Vec<Record> = processes.into_iter().map(Record::Ended).collect();
    let system = Authorisation {
        process: process(),
        psb: String::new(),
        database: String::new(),
        access: UPDATE.into(),
        since_us: utc_us,
    };
    records.push(Record::Authorised(system));
    let programs = state.authorised.iter().filter(|one| !one.database.is_empty());
    let notes = programs.map(|one| {
        let Authorisation { process, psb, database, access, .. } = one;
        format!(
            "{psb} had {database} open ({access}) when process {process} ended; what was not \
             committed is backed out"
        )
    });
    (records, notes.collect())
}

/// This process has nothing open any more.
pub(crate) fn end() -> Record {
    Record::Ended(process())
}

fn process() -> u32 {
    std::process::id()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_restarts_takes_over_and_says_from_whom() {
        let had = |process, database: &str| Authorisation {
            process,
            psb: "TELLER".into(),
            database: database.into(),
            access: UPDATE.into(),
            since_us: 1,
        };
        let mut state = State::default();
        state.learn([had(7, ""), had(7, "CUSTDB"), had(7, "ACCTDB")].map(Record::Authorised));
        let (records, notes) = take_over(&state, 9);
        assert!(notes.len() == 2 && notes[0].contains("CUSTDB"), "{notes:?}");
        state.learn(records);
        let left: Vec<(u32, &str)> =
            state.authorised.iter().map(|one| (one.process, one.database.as_str())).collect();
        assert_eq!(left, [(process(), "")]);
        state.learn([end()]);
        assert_eq!(state.authorised, []);
    }
}
