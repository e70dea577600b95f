//! Calls through database PCBs.
//!
//! Invariants:
//! 1. What the engine answers is what the program sees; here only loads begin, deadlocks become
//!    BC for programs that asked for it, search arguments beyond SSASIZE become AU, and an area
//!    that is too short becomes an AIB error.
//! 2. After that error the PCB stands where it stood, and holds nothing (row 79).
//! 3. A load is committed by itself only while no other PCB of the program has a position, for a
//!    commit would take that away.

use dli::Status;
use region::{Abend, AibReply, Feedback, Reply, Request};
use store::Store;

use crate::error::ended;
use crate::inquiry::{AREA_TOO_SHORT, WRONG_PARAMETER};
use crate::load::Begun;
use crate::schedule::{Group, Pcb, Schedule};

impl<S: Store> Schedule<S> {
    /// A call through PCB `number`, which is a database's.
    pub(crate) fn database(
        &mut self,
        number: usize,
        request: Request<'_>,
        reply: &mut Reply,
    ) -> Result<(), Abend> {
        match &request.function {
            b"STAT" => {
                let status = self.statistics(request, reply);
                self.show(number, status, reply);
                Ok(())
            }
            _ if request.ssas.iter().map(|ssa| ssa.len()).sum::<usize>() > self.ssa_bytes_max => {
                self.show(number, *b"AU", reply);
                Ok(())
            }
            b"ISRT" if self.loads.is_load(number - 1) => self.load(number, request, reply),
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
        let Request { function, area, ssas, aib, .. } = request;
        let slot = number - 1;
        let longest = self.session.area_max(slot);
        let called = match area {
            // An area whose length the program said: what does not fit must not be cut off.
            Some(area) if aib.is_some() && function[0] == b'G' && area.len() < longest => {
                let mut whole = vec![0; longest];
                let before = self.session.place(slot).unwrap_or_default();
                let called = self.session.call(slot, function, Some(&mut whole), ssas);
                if let Ok(answer) = &called {
                    match area.get_mut(..answer.filled) {
                        Some(front) => front.copy_from_slice(&whole[..answer.filled]),
                        None => {
                            reply.aib(too_short(answer.filled));
                            let back = self.session.find_place(slot, &before);
                            return back.map(|_| Status::OK.0).map_err(ended);
                        }
                    }
                }
                called
            }
            area => self.session.call(slot, function, area, ssas),
        };
        match called {
            Ok(answer) => {
                reply.fill(answer.filled);
                Ok(answer.status.0)
            }
            Err(failure) if failure.abend == "U0777" && self.group == Group::B => {
                self.session.backout().map_err(ended)?;
                self.points.clear();
                Ok(*b"BC")
            }
            Err(failure) => Err(ended(failure)),
        }
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
        if self.loads.begin(&self.store, database)? == Begun::NotEmpty {
            self.show(number, Status::AI.0, reply);
            return Ok(());
        }
        let status = self.engine(number, request, reply)?;
        self.show(number, status, reply);
        if status == *b"  "
            && self.loads.inserted(self.options.load_commit)
            && self.points.is_empty()
            && !self.stands_elsewhere()
        {
            self.session.commit().map_err(ended)?;
            self.loads.committed();
        }
        Ok(())
    }

    /// Whether a PCB that loads nothing has a position.
    fn stands_elsewhere(&self) -> bool {
        (0..self.pcbs.len() - 1)
            .filter(|slot| !self.loads.is_load(*slot))
            .any(|slot| self.session.place(slot).is_some_and(|place| !place.nodes.is_empty()))
    }
}

fn too_short(needed: usize) -> AibReply {
    AibReply {
        return_code: WRONG_PARAMETER,
        reason: AREA_TOO_SHORT,
        extension: 0,
        area_used: u32::try_from(needed).unwrap_or(u32::MAX),
    }
}
