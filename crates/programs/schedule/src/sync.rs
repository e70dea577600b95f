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

use crate::checkpoint::{AREAS_MAX, Checkpoint, Event, STEP_BYTES_MAX, Spot, Stood};
use crate::error::{ScheduleError, abend, because, ended, refused};
use crate::moment::Moment;
use crate::schedule::{Pcb, Schedule};
use crate::search::Sought;

/// The abend of a restart that is not possible.
const NO_RESTART: &str = "U0102";
/// How much of XRST's work area is written: programs pass 12 bytes or 14.
const WORK_BYTES: usize = 12;
/// How many blanks at the front of XRST's work area mean a normal start.
const BLANK_BYTES: usize = 5;

/// How far the program is with restarting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Restart {
    /// The checkpoint that was given from outside.
    wanted: Option<String>,
    /// XRST was issued.
    issued: bool,
    /// A call was made that XRST has to stand before.
    too_late: bool,
}

/// The restart that somebody outside asks for.
pub(crate) fn wanted_checkpoint(name: Option<&str>) -> Result<Restart, ScheduleError> {
    let Some(name) = name.map(str::trim).filter(|name| !name.is_empty()) else {
        return Ok(Restart::default());
    };
    if name.len() > 8 && name.len() != 14 {
        return Err(ScheduleError::CheckpointName(name.to_owned()));
    }
    Ok(Restart { wanted: Some(name.to_owned()), ..Restart::default() })
}

/// The name of a step, if it can be one.
pub(crate) fn step_name(name: &str) -> Result<&str, ScheduleError> {
    let is_good = name.len() <= STEP_BYTES_MAX && !name.contains([' ', '\0']);
    if is_good { Ok(name) } else { Err(ScheduleError::StepName(name.to_owned())) }
}

impl<S: Store> Schedule<S> {
    /// A call that does something: a program that is to be restarted has to issue XRST before.
    pub(crate) fn need_restart(&mut self) -> Result<(), Abend> {
        self.restart.too_late = true;
        match &self.restart {
            Restart { wanted: Some(wanted), issued: false, .. } => Err(abend(
                NO_RESTART,
                format!(
                    "the program was to be restarted from checkpoint {wanted}, but it does not \
                     begin with XRST. Start it without a checkpoint"
                ),
            )),
            _ => Ok(()),
        }
    }

    /// CHKP; a program whose input comes as messages gets the next one with it.
    pub(crate) fn checkpoint(
        &mut self,
        request: Request<'_>,
        reply: &mut Reply,
    ) -> Result<[u8; 2], Abend> {
        self.need_restart()?;
        let Request { area, more, aib, .. } = request;
        let Some(id) = area.as_deref().and_then(|area| area.first_chunk::<8>()).copied() else {
            return Ok(*b"AB");
        };
        if more.len() > AREAS_MAX {
            return Ok(*b"AP");
        }
        let is_symbolic = !more.is_empty();
        if is_symbolic && (!self.restart.issued || self.options.kind.is_for_messages()) {
            return Ok(*b"AD");
        }
        self.sync_files()?;
        if self.restart.issued {
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
        self.need_restart()?;
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
        if self.is_without_log() {
            return Ok(*b"AL");
        }
        self.back_out()?;
        let Request { area, aib, .. } = request;
        let again = area.and_then(|area| self.again(area, aib.is_some(), reply));
        Ok(again.unwrap_or(*b"  "))
    }

    /// Goes back to the last sync point; files stay as they are.
    pub(crate) fn back_out(&mut self) -> Result<(), Abend> {
        self.back_out_with_queues()?;
        self.messages_backed_out(true);
        self.points.clear();
        self.limits.sync();
        Ok(())
    }

    pub(crate) fn sync_files(&mut self) -> Result<(), Abend> {
        self.files().try_for_each(|file| file.sync()).map_err(|error| because("U0844", &error))
    }

    pub(crate) fn commit(&mut self) -> Result<(), Abend> {
        self.commit_all()?;
        if self.is_message_driven() {
            self.disconnect_queues();
        }
        self.points.clear();
        self.limits.sync();
        self.loads.committed();
        Ok(())
    }

    fn put_record(&mut self, id: [u8; 8], areas: Vec<Vec<u8>>) -> Result<(), Abend> {
        let stamp = Moment::new(self.clock.utc_us(), 0).checkpoint();
        let checkpoint = Checkpoint { id, stamp, areas, spots: self.spots() };
        self.put_event(Event::Checkpoint(Box::new(checkpoint)))
    }

    fn put_event(&mut self, event: Event) -> Result<(), Abend> {
        let place = self.records.prepare(&self.store).map_err(|error| refused(&error))?;
        let position = self.store.position();
        let unit = self.session.unit().map_err(ended)?;
        self.records.put(unit, place, position, event).map_err(|error| refused(&error))
    }

    /// Puts into the last unit of work that the step has ended: nobody goes back to its
    /// checkpoints by asking for the last one. A program that issues no XRST has none.
    pub(crate) fn put_end(&mut self) -> Result<(), Abend> {
        if !self.restart.issued || !self.records.is_open(&self.store).map_err(|e| refused(&e))? {
            return Ok(());
        }
        let stamp = Moment::new(self.clock.utc_us(), 0).checkpoint();
        self.put_event(Event::End(stamp))
    }

    /// Where all PCBs stand.
    fn spots(&self) -> Vec<Spot> {
        let mut spots = Vec::new();
        for (slot, pcb) in self.pcbs.iter().skip(1).enumerate() {
            let (stood, dbd) = match pcb {
                Pcb::File(file) => (Stood::File(file.gsam().place()), self.dbd_of(slot)),
                Pcb::Database(_) => match self.session.place(slot) {
                    Some(place) => (Stood::Database(place), self.dbd_of(slot)),
                    None => continue,
                },
                Pcb::Io | Pcb::Alternate => continue,
            };
            spots.push(Spot { slot: slot as u16, dbd, stood });
        }
        spots
    }

    fn dbd_of(&self, slot: usize) -> [u8; 8] {
        use region::shape::{NO_NAME, PcbKind};
        match self.shapes.get(slot + 1).map(|shape| &shape.kind) {
            Some(PcbKind::Database(database)) => database.dbd,
            Some(PcbKind::Gsam(gsam)) => gsam.dbd,
            _ => NO_NAME,
        }
    }

    /// XRST.
    pub(crate) fn extended_restart(
        &mut self,
        request: Request<'_>,
        reply: &mut Reply,
    ) -> Result<(), Abend> {
        if self.restart.issued || self.restart.too_late {
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
        self.restart.issued = true;
        let front = &area[..area.len().min(BLANK_BYTES)];
        let is_blank = front.iter().all(|byte| matches!(byte, b' ' | 0));
        let wanted = match self.restart.wanted.take() {
            Some(wanted) => wanted,
            None if is_blank => {
                self.show(0, *b"  ", reply);
                return Ok(());
            }
            None => wanted_of(area),
        };
        let checkpoint = self.sought(&wanted)?;
        self.give_back(&checkpoint, &wanted, more)?;
        self.go_back(&checkpoint, reply)?;
        let shown = WORK_BYTES.min(area.len());
        area[..shown].fill(b' ');
        let id = shown.min(checkpoint.id.len());
        area[..id].copy_from_slice(&checkpoint.id[..id]);
        reply.fill(shown);
        self.show(0, *b"  ", reply);
        Ok(())
    }

    fn sought(&self, wanted: &str) -> Result<Checkpoint, Abend> {
        let mut updated = Vec::new();
        for name in &self.updates {
            let replaced = hierarchy::replaced::all(&self.store, *name);
            updated.push((*name, replaced.map_err(|error| because(NO_RESTART, &error))?));
        }
        let found = self.records.find(&self.store, wanted, &updated);
        let found = found.map_err(|error| refused(&error))?;
        let (psb, step) = (self.psb, &self.options.step);
        let text = match found {
            Sought::Found(checkpoint) => return Ok(*checkpoint),
            Sought::Absent(known) => {
                let known = match known.is_empty() {
                    true => "There is none at all: start it without --ckptid".to_owned(),
                    false => format!("The newest under the PSB are {}", known.join(", ")),
                };
                format!("there is no checkpoint {wanted} of step {step} of PSB {psb}. {known}")
            }
            Sought::Ended(last) => {
                let last = last.map_or(String::new(), |last| format!(" behind checkpoint {last}"));
                format!(
                    "step {step} of PSB {psb} has ended normally{last}: there is nothing to \
                     restart. Start it without --ckptid"
                )
            }
            Sought::Older { newest } => {
                let since = match newest {
                    Some(newest) => format!(
                        "has gone on to checkpoint {newest}, where the databases stand. Restart \
                         it with LAST"
                    ),
                    None => "has ended normally since, and the databases stand there. Start it \
                             without --ckptid"
                        .to_owned(),
                };
                let dbd = self.updates.first().map_or("DB", |dbd| dbd.text());
                format!(
                    "step {step} of PSB {psb} {since}. To go back to checkpoint {wanted}, first \
                     take back what it committed behind it: `holdfast backout --list --db {dbd}` \
                     shows the units of work, `holdfast backout UOW...` takes them back"
                )
            }
            Sought::Replaced { database, fits } => {
                let what = match fits {
                    Some(fits) => format!("The newest checkpoint that fits is {fits}"),
                    None => "No checkpoint fits: start it without --ckptid".to_owned(),
                };
                format!(
                    "database {database} has no more what it had at checkpoint {wanted} of step \
                     {step} of PSB {psb}: it was recovered to a point before that, or emptied or \
                     loaded since. {what}"
                )
            }
            Sought::Damaged => {
                format!(
                    "the last checkpoint of PSB {psb} cannot be read: where the databases stand \
                     is not known. Recover HOLDFAST.CHECKPOINTS, or name a checkpoint by its id"
                )
            }
        };
        Err(abend(NO_RESTART, text))
    }

    /// Gives the program its areas back; there may be fewer than at the checkpoint (DLI-12.52).
    fn give_back(
        &self,
        checkpoint: &Checkpoint,
        wanted: &str,
        more: &mut [&mut [u8]],
    ) -> Result<(), Abend> {
        if more.len() > checkpoint.areas.len() {
            let (asked, saved) = (more.len(), checkpoint.areas.len());
            let text = format!("XRST has {asked} areas, and checkpoint {wanted} saved {saved}");
            return Err(abend(NO_RESTART, text));
        }
        for (area, saved) in more.iter_mut().zip(&checkpoint.areas) {
            let len = area.len().min(saved.len());
            area[..len].copy_from_slice(&saved[..len]);
        }
        Ok(())
    }

    /// Brings all PCBs back to where they stood.
    fn go_back(&mut self, checkpoint: &Checkpoint, reply: &mut Reply) -> Result<(), Abend> {
        for spot in &checkpoint.spots {
            let slot = usize::from(spot.slot);
            let number = slot + 1;
            let is_same = self.dbd_of(slot) == spot.dbd;
            match (&spot.stood, self.pcbs.get_mut(number)) {
                (Stood::File(place), Some(Pcb::File(file))) if is_same => {
                    let back = file.gsam_mut().reposition(place);
                    back.map_err(|error| because(NO_RESTART, &error))?;
                }
                (Stood::Database(place), Some(Pcb::Database(_))) if is_same => {
                    let status = self.session.find_place(slot, place).map_err(ended)?;
                    self.show(number, status.0, reply);
                }
                _ => {
                    let dbd = region::shape::text(&spot.dbd);
                    let text = format!(
                        "PCB {number} of PSB {} was for {dbd} at the checkpoint and is not now. \
                         Restart with the PSB that the checkpoint was taken with",
                        self.psb,
                    );
                    return Err(abend(NO_RESTART, text));
                }
            }
        }
        Ok(())
    }
}

/// What a program's work area asks for.
fn wanted_of(area: &[u8]) -> String {
    let text = String::from_utf8_lossy(area);
    let text = text.trim_end_matches([' ', '\0']);
    // A time stamp has 14 bytes; an id is 8, and what stands behind it is none of it.
    let is_stamp = text.len() == 14 && text.bytes().all(|byte| byte.is_ascii_digit());
    match is_stamp {
        true => text.to_owned(),
        false => text.get(..8).unwrap_or(text).trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_work_area_names_a_checkpoint_or_a_moment() {
        assert_eq!(wanted_of(b"CKPT0001      "), "CKPT0001");
        assert_eq!(wanted_of(b"LAST\0\0\0\0\0\0\0\0\0\0"), "LAST");
        assert_eq!(wanted_of(b"CKPT0001REST  "), "CKPT0001");
        assert_eq!(wanted_of(b"00000601234567"), "00000601234567");
        assert!(wanted_checkpoint(Some("MUCHTOOLONG")).is_err());
        assert_eq!(wanted_checkpoint(Some(" ")).expect("none").wanted, None);
    }
}
