//! Sync points: CHKP, SYNC, ROLB, ROLL; and XRST, which goes back to one (DLI-12.51 to DLI-12.56
//! and DLI-12.63).
//!
//! | call | files | databases | positions in databases |
//! |---|---|---|---|
//! | CHKP, SYNC; in mode SNGL GU of the I/O PCB | synced, stay where they are | committed | lost |
//! | ROLB | stay as they are | backed out to the last sync point | lost |
//! | ROLL | stay as they are | backed out, the program ends with U0778 | - |
//! | XRST with an id | go back to where they were | - | sought again, by key |
//! | normal end | closed | committed, with a record that ends the step's checkpoints | - |
//!
//! A checkpoint is symbolic if the program has issued XRST; a symbolic one needs that (DLI-12.51).
//!
//! Invariants:
//! 1. A checkpoint's record is in the unit of work that it ends, and files are durable before it.
//! 2. The record of a normal end is in the unit of work that the end commits.
//! 3. A restart that cannot find everything the checkpoint kept ends the program, U0102. So does
//!    one from where the databases do not stand.

use region::{Abend, Reply, Request};
use store::Store;

use crate::checkpoint::{AREAS_MAX, Checkpoint, Event, Spot, Stood};
use crate::error::{abend, because, ended};
use crate::options::Mode;
use crate::pcbs::Pcb;
use crate::restart::{NO_RESTART, give_back};
use crate::schedule::Schedule;

/// How much of XRST's work area is written: programs pass 12 bytes or 14.
const WORK_BYTES: usize = 12;

impl<S: Store> Schedule<S> {
    /// CHKP; a program whose input comes as messages gets the next one with it.
    pub(crate) fn checkpoint(
        &mut self,
        request: Request<'_>,
        reply: &mut Reply,
    ) -> Result<[u8; 2], Abend> {
        self.restart.need()?;
        let Request { area, more, aib, .. } = request;
        let Some(id) = area.as_deref().and_then(|area| area.first_chunk::<8>()).copied() else {
            return Ok(*b"AB");
        };
        if more.len() > AREAS_MAX {
            return Ok(*b"AP");
        }
        let is_symbolic = !more.is_empty();
        if is_symbolic && (!self.restart.is_issued() || self.program.options.kind.is_for_messages())
        {
            return Ok(*b"AD");
        }
        self.sync_files()?;
        if self.restart.is_issued() {
            let areas = more.iter().map(|area| area.to_vec()).collect();
            self.put_record(id, areas)?;
        }
        self.commit()?;
        if self.is_message_driven() {
            return self.next_message(area, false, aib.is_some(), reply);
        }
        Ok(*b"  ")
    }

    /// SYNC.
    pub(crate) fn sync(&mut self) -> Result<[u8; 2], Abend> {
        self.restart.need()?;
        self.sync_files()?;
        self.commit()?;
        Ok(*b"  ")
    }

    /// ROLB.
    pub(crate) fn roll_back(
        &mut self,
        request: Request<'_>,
        reply: &mut Reply,
    ) -> Result<[u8; 2], Abend> {
        self.back_out()?;
        let Request { area, aib, .. } = request;
        let again = area.and_then(|area| self.unit.terminals.again(area, aib.is_some(), reply));
        Ok(again.unwrap_or(*b"  "))
    }

    /// The next message: after a sync point, if this call is one.
    pub(crate) fn next_message(
        &mut self,
        area: Option<&mut [u8]>,
        syncs: bool,
        with_aib: bool,
        reply: &mut Reply,
    ) -> Result<[u8; 2], Abend> {
        let Some(area) = area else { return Ok(*b"AB") };
        let is_single = self.program.options.mode == Mode::Single;
        if syncs && is_single && !self.unit.is_untouched() {
            self.sync_files()?;
            self.commit()?;
        }
        self.look_at_closed();
        self.unit.next_message(area, with_aib, reply)
    }

    fn sync_files(&mut self) -> Result<(), Abend> {
        self.pcbs.files().try_for_each(|file| file.sync()).map_err(|error| because("U0844", &error))
    }

    fn put_record(&mut self, id: [u8; 8], areas: Vec<Vec<u8>>) -> Result<(), Abend> {
        let checkpoint = Checkpoint { id, stamp: self.stamp(), areas, spots: self.spots() };
        let event = Event::Checkpoint(Box::new(checkpoint));
        self.restart.put((&self.store, &mut self.unit.session), event)
    }

    /// Where all PCBs stand.
    fn spots(&self) -> Vec<Spot> {
        let mut spots = Vec::new();
        for (slot, pcb) in self.pcbs.of_psb() {
            let (stood, dbd) = match pcb {
                Pcb::File(file) => (Stood::File(file.gsam().place()), self.pcbs.dbd_of(slot)),
                Pcb::Database(_) => match self.unit.session.place(slot) {
                    Some(place) => (Stood::Database(place), self.pcbs.dbd_of(slot)),
                    None => continue,
                },
                Pcb::Io | Pcb::Alternate => continue,
            };
            spots.push(Spot { slot: slot as u16, dbd, stood });
        }
        spots
    }

    /// XRST.
    pub(crate) fn extended_restart(
        &mut self,
        request: Request<'_>,
        reply: &mut Reply,
    ) -> Result<(), Abend> {
        if self.restart.is_too_late() {
            self.show(0, *b"AD", reply);
            return Ok(());
        }
        let Request { area: Some(area), more, .. } = request else {
            self.show(0, *b"AB", reply);
            return Ok(());
        };
        if more.len() > AREAS_MAX {
            self.show(0, *b"AP", reply);
            return Ok(());
        }
        let Some(wanted) = self.restart.issue(area) else {
            self.show(0, *b"  ", reply);
            return Ok(());
        };
        let checkpoint = self.restart.sought(&self.store, &wanted)?;
        give_back(&checkpoint, &wanted, more)?;
        self.go_back(&checkpoint, reply)?;
        let shown = WORK_BYTES.min(area.len());
        area[..shown].fill(b' ');
        let id = shown.min(checkpoint.id.len());
        area[..id].copy_from_slice(&checkpoint.id[..id]);
        reply.fill(shown);
        self.show(0, *b"  ", reply);
        Ok(())
    }

    /// Brings all PCBs back to where they stood.
    fn go_back(&mut self, checkpoint: &Checkpoint, reply: &mut Reply) -> Result<(), Abend> {
        for spot in &checkpoint.spots {
            let slot = usize::from(spot.slot);
            let number = slot + 1;
            let is_same = self.pcbs.dbd_of(slot) == spot.dbd;
            match (&spot.stood, self.pcbs.get_mut(number)) {
                (Stood::File(place), Some(Pcb::File(file))) if is_same => {
                    let back = file.gsam_mut().reposition(place);
                    back.map_err(|error| because(NO_RESTART, &error))?;
                }
                (Stood::Database(place), Some(Pcb::Database(_))) if is_same => {
                    let status = self.unit.session.find_place(slot, place).map_err(ended)?;
                    self.show(number, status.0, reply);
                }
                _ => {
                    let dbd = region::layout::text(&spot.dbd);
                    let text = format!(
                        "PCB {number} of PSB {} was for {dbd} at the checkpoint and is not now. \
                         Restart with the PSB that the checkpoint was taken with",
                        self.program.psb,
                    );
                    return Err(abend(NO_RESTART, text));
                }
            }
        }
        Ok(())
    }
}
