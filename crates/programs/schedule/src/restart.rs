//! What a program restarts from, and the records of the step that say it (DLI-12.51 to DLI-12.54).
//!
//! Invariants:
//! 1. A program that was given a checkpoint from outside gets nothing done before its XRST.
//! 2. A restart that cannot find the checkpoint ends the program, U0102. So does one from where the
//!    databases do not stand.
//! 3. Only a step that has issued XRST has records.

use definitions::{DbdName, PsbName};
use dli::Session;
use region::Abend;
use store::Store;

use crate::checkpoint::{Checkpoint, Event, STEP_BYTES_MAX};
use crate::error::{ScheduleError, abend, because, ended, refused};
use crate::search::Sought;
use crate::step_records::StepRecords;

/// The abend of a restart that is not possible.
pub(crate) const NO_RESTART: &str = "U0102";
/// How many blanks at the front of XRST's work area mean a normal start.
const BLANK_BYTES: usize = 5;

/// How far the program is with restarting, and the records of its step.
pub(crate) struct Restart {
    psb: PsbName,
    step: String,
    /// The databases that it updates.
    updates: Vec<DbdName>,
    records: StepRecords,
    /// The checkpoint that was given from outside.
    wanted: Option<String>,
    /// XRST was issued.
    issued: bool,
    /// A call was made that XRST has to stand before.
    too_late: bool,
}

impl Restart {
    /// Of a step whose program updates these databases; from a checkpoint, if one is given.
    pub(crate) fn of(
        psb: PsbName,
        (step, checkpoint): (&str, Option<&str>),
        updates: Vec<DbdName>,
    ) -> Result<Restart, ScheduleError> {
        let wanted = checkpoint_name(checkpoint)?;
        let records = StepRecords::new(psb, step_name(step)?);
        let step = step.to_owned();
        Ok(Restart { psb, step, updates, records, wanted, issued: false, too_late: false })
    }

    /// A call that does something: a program that is to be restarted has to issue XRST before.
    pub(crate) fn need(&mut self) -> Result<(), Abend> {
        self.too_late = true;
        match (&self.wanted, self.issued) {
            (Some(wanted), false) => Err(abend(
                NO_RESTART,
                format!(
                    "the program was to be restarted from checkpoint {wanted}, but it does not \
                     begin with XRST. Start it without a checkpoint"
                ),
            )),
            _ => Ok(()),
        }
    }

    /// XRST was issued: the program's checkpoints are symbolic.
    pub(crate) fn is_issued(&self) -> bool {
        self.issued
    }

    /// Whether it is too late for XRST.
    pub(crate) fn is_too_late(&self) -> bool {
        self.issued || self.too_late
    }

    /// XRST with this work area: the checkpoint that is wanted, if any is.
    pub(crate) fn issue(&mut self, area: &[u8]) -> Option<String> {
        self.issued = true;
        let front = &area[..area.len().min(BLANK_BYTES)];
        let is_blank = front.iter().all(|byte| matches!(byte, b' ' | 0));
        match self.wanted.take() {
            None if is_blank => None,
            None => Some(wanted_of(area)),
            wanted => wanted,
        }
    }

    /// Puts a record into the unit of work.
    pub(crate) fn put<S: Store>(
        &mut self,
        (store, session): (&S, &mut Session<S>),
        event: Event,
    ) -> Result<(), Abend> {
        let place = self.records.prepare(store).map_err(|error| refused(&error))?;
        let position = store.position();
        let unit = session.unit().map_err(ended)?;
        self.records.put(unit, place, position, event).map_err(|error| refused(&error))
    }

    /// Puts into the last unit of work that the step has ended: no restart goes back to its
    /// checkpoints by asking for the last one. A program that issues no XRST has none.
    pub(crate) fn put_end<S: Store>(
        &mut self,
        (store, session): (&S, &mut Session<S>),
        stamp: [u8; 14],
    ) -> Result<(), Abend> {
        if !self.issued || !self.records.is_open(store).map_err(|error| refused(&error))? {
            return Ok(());
        }
        self.put((store, session), Event::End(stamp))
    }

    /// The checkpoint that is wanted.
    pub(crate) fn sought<S: Store>(&self, store: &S, wanted: &str) -> Result<Checkpoint, Abend> {
        let mut updated = Vec::new();
        for name in &self.updates {
            let replaced = hierarchy::replacements::all(store, *name);
            updated.push((*name, replaced.map_err(|error| because(NO_RESTART, &error))?));
        }
        let found = self.records.find(store, wanted, &updated);
        let found = found.map_err(|error| refused(&error))?;
        let (psb, step) = (self.psb, &self.step);
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
}

/// Gives the program its areas back; there may be fewer than at the checkpoint (DLI-12.52).
pub(crate) fn give_back(
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

/// The checkpoint that the job asks for.
fn checkpoint_name(name: Option<&str>) -> Result<Option<String>, ScheduleError> {
    let Some(name) = name.map(str::trim).filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    if name.len() > 8 && name.len() != 14 {
        return Err(ScheduleError::CheckpointName(name.to_owned()));
    }
    Ok(Some(name.to_owned()))
}

/// The name of a step, if it can be one.
fn step_name(name: &str) -> Result<&str, ScheduleError> {
    let is_good = name.len() <= STEP_BYTES_MAX && !name.contains([' ', '\0']);
    if is_good { Ok(name) } else { Err(ScheduleError::StepName(name.to_owned())) }
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
        assert!(checkpoint_name(Some("MUCHTOOLONG")).is_err());
        assert_eq!(checkpoint_name(Some(" ")).expect("none"), None);
    }
}
