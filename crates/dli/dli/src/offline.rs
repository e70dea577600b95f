//! Calls beside partitions that are offline (DLI-12.75).
//!
//! Invariants:
//! 1. A call that meets one has changed nothing, and its PCB stands where it stood, without hold.
//! 2. Programs whose data is all online pay nothing for this.

use definitions::Function;
use hierarchy::HierarchyError;
use store::{Store, Unit};

use crate::failure::Failure;
use crate::get::Answer;
use crate::marks::Marks;
use crate::mask::Mask;
use crate::parentage::Parentage;
use crate::pcb::DbPcb;
use crate::position::Position;
use crate::session::{Place, Session, Slot};

/// How much of what a PCB can reach is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Availability {
    /// All of it.
    All,
    /// Some partitions are offline.
    Part,
    /// Every partition is.
    Nothing,
}

/// What a call through a PCB may move: where it stands, what it shows, what GNP stays below.
#[derive(Debug)]
pub struct Stand {
    position: Position,
    parentage: Parentage,
    mask: Mask,
    marks: Marks,
}

impl<S: Store> DbPcb<S> {
    fn stand(&self) -> Stand {
        Stand {
            position: self.position.clone(),
            parentage: self.parentage.clone(),
            mask: self.feedback.mask.clone(),
            marks: self.marks.clone(),
        }
    }

    fn return_to_stand(&mut self, stand: Stand) {
        self.position = stand.position;
        self.parentage = stand.parentage;
        self.feedback.mask = stand.mask;
        self.marks = stand.marks;
        self.hold.release();
    }
}

impl<S: Store> Session<S> {
    /// How much of what a database PCB can reach is there; `None` if it is not one.
    #[must_use]
    pub fn availability(&self, pcb: usize) -> Option<Availability> {
        let Some(Slot::Database(pcb, _)) = self.slots.get(pcb) else { return None };
        let walked = pcb.view.walked();
        let mut seen = Availability::All;
        for (at, database) in pcb.view.databases.iter().enumerate() {
            let is_limited = |number: &u16| at > 0 || walked.contains(number);
            let numbers = (0..).take(database.sets.len()).filter(is_limited);
            let offline = database.offline().iter().filter(|number| is_limited(number)).count();
            let found = match offline {
                0 => Availability::All,
                some if at == 0 && some == numbers.count() => Availability::Nothing,
                _ => Availability::Part,
            };
            seen = seen.max(found);
        }
        Some(seen)
    }

    /// How a database PCB stands; `None` if it is not one.
    #[must_use]
    pub fn stand(&self, pcb: usize) -> Option<Stand> {
        match self.slots.get(pcb) {
            Some(Slot::Database(pcb, _)) => Some(pcb.stand()),
            _ => None,
        }
    }

    /// Takes a call of a PCB back that has changed nothing but how it stands; a hold is gone.
    ///
    /// # Errors
    /// A [`Failure`] ends the program.
    pub fn stand_again(&mut self, pcb: usize, stand: Stand, place: &Place) -> Result<(), Failure> {
        // The record is locked again that the PCB stands in.
        self.find_place(pcb, place)?;
        if let Some(Slot::Database(slot, _)) = self.slots.get_mut(pcb) {
            slot.return_to_stand(stand);
        }
        Ok(())
    }

    /// A call through a PCB of which some data may be offline: undone if it meets that.
    pub(crate) fn answer_or_undo(
        &mut self,
        pcb: usize,
        function: Function,
        area: Option<&mut [u8]>,
        ssas: &[&[u8]],
    ) -> Result<Answer, Failure> {
        let Some(Slot::Database(slot, _)) = self.slots.get(pcb) else {
            return self.answer(pcb, function, area, ssas).map_err(Failure::of);
        };
        let stand = slot.stand();
        let point = if function.is_change() { Some(self.savepoint()?) } else { None };
        match self.answer(pcb, function, area, ssas) {
            Err(error @ HierarchyError::Offline { .. }) => {
                if let Some(point) = point {
                    let unit = self.unit()?;
                    unit.rollback_to(point).map_err(|error| Failure::of(error.into()))?;
                }
                if let Some(Slot::Database(slot, _)) = self.slots.get_mut(pcb) {
                    slot.return_to_stand(stand);
                }
                Err(Failure::of(error))
            }
            done => done.map_err(Failure::of),
        }
    }
}
