//! Calls through database PCBs.
//!
//! Invariants:
//! 1. What the engine answers is what the program sees; here only loads begin, deadlocks become
//!    BC for programs that asked for it, what goes beyond the PSB's limits becomes AU and AT, and
//!    an area that is too short becomes an AIB error.
//! 2. After that error, and after AT of a get, the PCB stands where it stood, and holds nothing
//!    (DLI-12.79).
//! 3. A load is committed by itself only while no other PCB of the program has a position, for a
//!    commit would take that away.

use definitions::Function;
use dli::{Failure, Reply as Answer, Status};
use region::{Abend, Feedback, Reply, Request};
use store::Store;

use crate::aib::too_short;
use crate::error::{abend, ended};
use crate::load::Begun;
use crate::offline::{self, StatusGroup};
use crate::pcbs::Pcb;
use crate::schedule::Schedule;

/// The call's data are longer than the PSB's IOASIZE.
const TOO_LONG: Status = Status(*b"AT");

impl<S: Store> Schedule<S> {
    /// A call through PCB `number`, which is a database's.
    pub(crate) fn database(
        &mut self,
        number: usize,
        request: Request<'_>,
        reply: &mut Reply,
    ) -> Result<(), Abend> {
        if let Some(status) = self.if_closed(number, request.function)? {
            self.show(number, status, reply);
            return Ok(());
        }
        match request.function {
            Function::Rols if self.offline.has_met(number) => Err(offline::rolled_back()),
            Function::Stat => {
                let status = self.statistics.call(request, reply);
                self.show(number, status, reply);
                Ok(())
            }
            _ if request.ssas.iter().map(|ssa| ssa.len()).sum::<usize>()
                > self.limits.ssa_bytes =>
            {
                self.show(number, *b"AU", reply);
                Ok(())
            }
            Function::Isrt if self.loads.is_load(number - 1) => self.load(number, request, reply),
            _ => {
                let done = self.engine(number, request, reply)?;
                self.show(number, done, reply);
                Ok(())
            }
        }
    }

    /// The engine's answer to a call.
    fn engine(
        &mut self,
        number: usize,
        request: Request<'_>,
        reply: &mut Reply,
    ) -> Result<[u8; 2], Abend> {
        let Request { function, of_command, area, ssas, aib, .. } = request;
        self.limits.count(ssas)?;
        let slot = number - 1;
        let longest = self.unit.session.area_max(slot);
        let most = self.limits.area_bytes;
        let given = aib.and(area.as_ref().map(|area| area.len()));
        let called = match area {
            // What does not fit must not be cut off.
            Some(area)
                if function.is_get()
                    && (most < longest || aib.is_some() && area.len() < longest) =>
            {
                let room = if aib.is_some() { area.len() } else { longest };
                self.get_if_it_fits((slot, function), ssas, (area, room), reply)
            }
            Some(area) if area.len() > most => {
                let area = Some(&mut area[..most]);
                let called = self.unit.session.call_of(slot, function, of_command, area, ssas);
                // The area was there; it is the PSB that does not let the call see all of it.
                called.map(|answer| match answer.status {
                    Status::AB => Answer { status: TOO_LONG, filled: 0 },
                    _ => answer,
                })
            }
            area => self.unit.session.call_of(slot, function, of_command, area, ssas),
        };
        match called {
            // The area was there: it is only too short (DLI-12.79).
            Ok(answer) if answer.status == Status::AB && given.is_some() => {
                reply.aib(too_short(longest));
                Ok(*b"  ")
            }
            Ok(answer) => {
                reply.fill(answer.filled);
                Ok(answer.status.0)
            }
            Err(failure) if failure.is_unavailable() => self.unavailable(number, failure),
            Err(failure) if failure.abend == "U0777" && self.may_go_on_after_deadlock() => {
                self.back_out()?;
                Ok(*b"BC")
            }
            Err(failure) => Err(ended(failure)),
        }
    }

    /// The status of a call that met data which is offline; or the end of the program.
    fn unavailable(&mut self, number: usize, failure: Failure) -> Result<[u8; 2], Abend> {
        self.without(number, || ended(failure))
    }

    /// A unit of work that begins sees what operators have closed by then.
    pub(crate) fn look_at_closed(&mut self) {
        if self.unit.session.is_idle() {
            self.claimed.look();
        }
    }

    /// The status of a call through a PCB whose database operators have closed, if they have; or
    /// the end of the program.
    fn if_closed(&mut self, number: usize, function: Function) -> Result<Option<[u8; 2]>, Abend> {
        self.look_at_closed();
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
        let Some(status) = self.offline.status() else { return Err(end()) };
        if status == Status::BB {
            self.back_out()?;
        }
        self.offline.met(number);
        Ok(status.0)
    }

    /// Whether a deadlock is a status for the program: it has asked for that, and nothing of it
    /// stays behind when databases are rolled back, or its PSB says that this may be.
    fn may_go_on_after_deadlock(&self) -> bool {
        self.offline.group == StatusGroup::B && self.limits.may_roll_back
    }

    /// A get for which the area, whose length its AIB says, or the PSB's may be too short: then the
    /// area is not written.
    fn get_if_it_fits(
        &mut self,
        (slot, function): (usize, Function),
        ssas: &[&[u8]],
        (area, room): (&mut [u8], usize),
        reply: &mut Reply,
    ) -> Result<Answer, Failure> {
        let mut whole = vec![0; self.unit.session.area_max(slot)];
        let before = self.unit.session.place(slot).unwrap_or_default();
        let stand = self.unit.session.stand(slot);
        let answer = self.unit.session.call(slot, function, Some(&mut whole), ssas)?;
        if answer.filled <= room.min(self.limits.area_bytes) {
            let front = answer.filled.min(area.len());
            area[..front].copy_from_slice(&whole[..front]);
            return Ok(answer);
        }
        if let Some(stand) = stand {
            self.unit.session.stand_again(slot, stand, &before)?;
        }
        if answer.filled <= room {
            return Ok(Answer { status: TOO_LONG, filled: 0 });
        }
        reply.aib(too_short(answer.filled));
        Ok(Answer { status: Status::OK, filled: 0 })
    }

    /// ISRT of a load.
    fn load(
        &mut self,
        number: usize,
        request: Request<'_>,
        reply: &mut Reply,
    ) -> Result<(), Abend> {
        let Some(Pcb::Database(Some(database))) = self.pcbs.get(number) else {
            reply.pcb(number, Feedback::status(Status::AD.0));
            return Ok(());
        };
        if self.loads.begin(&self.store, database, self.program.options.tell)? == Begun::NotEmpty {
            self.show(number, Status::AI.0, reply);
            return Ok(());
        }
        let status = self.engine(number, request, reply)?;
        self.show(number, status, reply);
        if status == *b"  "
            && self.loads.inserted(self.program.options.load_commit)
            && self.points.is_empty()
            && !self.stands_elsewhere()
        {
            self.unit.session.commit().map_err(ended)?;
            self.loads.committed();
        }
        Ok(())
    }

    /// Whether a PCB that loads nothing has a position.
    fn stands_elsewhere(&self) -> bool {
        (0..self.pcbs.len() - 1)
            .filter(|slot| !self.loads.is_load(*slot))
            .any(|slot| self.unit.session.place(slot).is_some_and(|place| !place.nodes.is_empty()))
    }
}
