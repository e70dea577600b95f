//! Data that is offline, or that operators have closed: what programs get that meet it, and those
//! that ask (DLI-12.55 and DLI-12.75).
//!
//! | INIT was issued with | a call that meets an offline partition, or a database that is closed |
//! |---|---|
//! | nothing of the kind | ends the program, U3303 |
//! | STATUS GROUPA | BA: the call is undone, the PCB stands where it stood |
//! | STATUS GROUPB | BB: everything since the last commit is undone, positions are lost |
//!
//! | DBQUERY shows | in a database PCB | in the I/O PCB, of INIT |
//! |---|---|---|
//! | all of it is there | blank | blank, if that is so of all |
//! | some partition that the PCB can reach is offline | NA | BK |
//! | every one is, or the database is closed | NA | BJ, if that is so of all |
//! | a database that the PCB changes is closed for updates | NU | BK |

use dli::{Availability, Status};
use region::Abend;

use crate::error::abend;

/// Which status group the program has asked for (INIT).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StatusGroup {
    None,
    A,
    B,
}

/// What a program has asked for, and which of its PCBs have met data that is offline.
pub(crate) struct Offline {
    pub(crate) group: StatusGroup,
    /// Which database PCBs had BA or BB: ROLS on them ends the program (DLI-12.55).
    had_none: Vec<bool>,
}

impl Offline {
    /// Of a program with so many PCBs.
    pub(crate) fn new(pcbs: usize) -> Offline {
        Offline { group: StatusGroup::None, had_none: vec![false; pcbs] }
    }

    /// The status of a call that meets data which is offline; none if that ends the program.
    pub(crate) fn status(&self) -> Option<Status> {
        match self.group {
            StatusGroup::None => None,
            StatusGroup::A => Some(Status::BA),
            StatusGroup::B => Some(Status::BB),
        }
    }

    /// A PCB has shown that status.
    pub(crate) fn met(&mut self, number: usize) {
        self.had_none[number] = true;
    }

    /// Whether a PCB ever has.
    pub(crate) fn has_met(&self, number: usize) -> bool {
        self.had_none[number]
    }
}

/// What the I/O PCB shows of all databases.
pub(crate) fn status_of(all: &[Availability]) -> Status {
    match (all.iter().min(), all.iter().max()) {
        (Some(Availability::Nothing), _) => Status::BJ,
        (_, Some(Availability::Part | Availability::Nothing)) => Status::BK,
        _ => Status::OK,
    }
}

/// The end of a program that issues ROLS on a PCB that had BA or BB.
pub(crate) fn rolled_back() -> Abend {
    abend("U3303", "the program rolled back, for data that it needs is offline (ROLS)")
}
