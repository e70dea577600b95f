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

use definitions::Function;
use dli::{Availability, Failure, Status};
use region::{Abend, Reply};
use store::Store;

use crate::error::{abend, ended};
use crate::schedule::{Group, Schedule};

impl<S: Store> Schedule<S> {
    /// The status of a call that met data which is offline; or the end of the program.
    pub(crate) fn unavailable(
        &mut self,
        number: usize,
        failure: Failure,
    ) -> Result<[u8; 2], Abend> {
        self.without(number, || ended(failure))
    }

    /// The status of a call through a PCB whose database operators have closed, if they have; or
    /// the end of the program.
    pub(crate) fn if_closed(
        &mut self,
        number: usize,
        function: Function,
    ) -> Result<Option<[u8; 2]>, Abend> {
        if self.session.is_idle() {
            self.claimed.look();
        }
        let updates = function.is_change();
        if !updates && !function.is_get() {
            return Ok(None);
        }
        let Some(dbd) = self.claimed.closed(number - 1, updates) else { return Ok(None) };
        let text = format!("database {dbd} is stopped, or closed for updates; /START DB {dbd}");
        self.without(number, || abend("U3303", text)).map(Some)
    }

    /// The status of a call without data; or the end of the program.
    fn without(&mut self, number: usize, end: impl FnOnce() -> Abend) -> Result<[u8; 2], Abend> {
        let status = match self.group {
            Group::None => return Err(end()),
            Group::A => Status::BA,
            Group::B => {
                self.back_out()?;
                Status::BB
            }
        };
        self.had_none[number] = true;
        Ok(status.0)
    }

    /// Shows in each database PCB whether its data is there. Answers the status of the I/O PCB.
    pub(crate) fn show_availability(&self, reply: &mut Reply) -> [u8; 2] {
        let (mut least, mut most) = (None, None);
        for number in 1..self.pcbs.len() {
            let Some(mut found) = self.session.availability(number - 1) else { continue };
            let mut status = if found == Availability::All { *b"  " } else { *b"NA" };
            if self.claimed.closed(number - 1, false).is_some() {
                (found, status) = (Availability::Nothing, *b"NA");
            } else if self.claimed.closed(number - 1, true).is_some() && status == *b"  " {
                (found, status) = (Availability::Part, *b"NU");
            }
            self.show(number, status, reply);
            least = Some(least.map_or(found, |least: Availability| least.min(found)));
            most = most.max(Some(found));
        }
        let status = match (least, most) {
            (Some(Availability::Nothing), _) => Status::BJ,
            (_, Some(Availability::Part | Availability::Nothing)) => Status::BK,
            _ => Status::OK,
        };
        status.0
    }
}

/// The end of a program that issues ROLS on a PCB that had BA or BB.
pub(crate) fn rolled_back() -> Abend {
    abend("U3303", "the program rolled back, for data that it needs is offline (ROLS)")
}
