//! SCHD and TERM where the PSB is there already, as in batch.
//!
//! A batch step has its PSB from the start, so commands need no SCHD. Programs that were written
//! to schedule their PSB themselves find what they expect all the same:
//!
//! | | given by the step | scheduled | given up |
//! |---|---|---|---|
//! | SCHD of the step's PSB | blank, scheduled | TC | blank, scheduled |
//! | SCHD of another | TA | TC | TA |
//! | TERM | blank, commit, given up | blank, commit, given up | TG |
//! | other commands | go on | go on | TH |
//!
//! Invariants:
//!
//! 1. Only a TERM that answers blank is a commit.

use crate::plan::Status;

const DONE: Status = *b"  ";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Given,
    Scheduled,
    GivenUp,
}

/// Whether a step's program has its PSB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    psb: [u8; 8],
    state: State,
}

impl Schedule {
    /// That of a step with this PSB, its name blank-padded.
    #[must_use]
    pub fn new(psb: [u8; 8]) -> Schedule {
        Schedule { psb, state: State::Given }
    }

    /// SCHD.
    pub fn schedule(&mut self, psb: &[u8; 8]) -> Status {
        if self.state == State::Scheduled {
            return *b"TC";
        }
        if *psb != self.psb {
            return *b"TA";
        }
        self.state = State::Scheduled;
        DONE
    }

    /// TERM. If it answers blank, the unit of work is to be committed.
    pub fn terminate(&mut self) -> Status {
        if self.state == State::GivenUp {
            return *b"TG";
        }
        self.state = State::GivenUp;
        DONE
    }

    /// What any other command gets before it is looked at: blank to go on.
    #[must_use]
    pub fn check(&self) -> Status {
        if self.state == State::GivenUp { *b"TH" } else { DONE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_may_schedule_its_psb_or_not() {
        let mut schedule = Schedule::new(*b"TELLER  ");
        assert_eq!(schedule.check(), DONE);
        assert_eq!(schedule.schedule(b"OTHER   "), *b"TA");
        assert_eq!(schedule.schedule(b"TELLER  "), DONE);
        assert_eq!(schedule.schedule(b"TELLER  "), *b"TC");
        assert_eq!(schedule.terminate(), DONE);
        assert_eq!(schedule.check(), *b"TH");
        assert_eq!(schedule.terminate(), *b"TG");
        assert_eq!(schedule.schedule(b"TELLER  "), DONE);
        assert_eq!(schedule.check(), DONE);
    }
}
