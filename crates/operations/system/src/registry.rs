//! What RECON is told of a system, and where it is.
//!
//! Invariants:
//! 1. Whoever opens a system has read from RECON how far the log was seen to reach, before the log
//!    is opened (K6).
//! 2. RECON is changed only by whoever has the system's lock.
//! 3. When a system is open, RECON names its data sets as they are, unless there is no room for
//!    that: a full device keeps no system from being opened, for whoever frees space has to. The
//!    next start makes up for it.
//! 4. RECON knows of each start how far the log reached then, before anybody gets anything from the
//!    system: what was put back of an earlier time is refused (K6).
//! 5. No system is opened without RECON, but to be looked at: an attacker who puts an older control
//!    file back would only have to remove what knows of a newer one. An operator who holds the keys
//!    has it made anew.

use std::path::Path;
use std::sync::Arc;

use base::{Coded as _, Lsn};
use recon::{DataSetEntry, Protection, Reached, Recon, ReconError, Record, Setup, State};
use seal::{Format, KeyProvider};
use seam::Seam;
use space::Definition;
use uow::Kernel;

use crate::{LABELS, SystemConfig, SystemError, authorise};

/// RECON's files are compacted beyond this length.
const COMPACT_BYTES: u64 = 4 << 20;

/// Where the RECON of a system is, and whose it is.
#[must_use]
pub fn recon_setup(
    seam: &Seam,
    dir: &Path,
    config: &SystemConfig,
    keys: Arc<dyn KeyProvider>,
) -> Setup {
    Setup {
        seam: seam.clone(),
        keys,
        label: LABELS[0].into(),
        system: config.system,
        folders: [dir.to_owned(), dir.join(&config.recon.second)],
        compact_bytes: COMPACT_BYTES,
    }
}

/// What RECON knows. For somebody who only looks, nothing if it is gone.
///
/// # Errors
/// [`SystemError::NoRecon`] if it is gone (5); what is wrong with both copies.
pub(crate) fn known_to(setup: &Setup, only_looks: bool) -> Result<State, SystemError> {
    if !recon::exists(setup)? {
        if only_looks {
            return Ok(State::default());
        }
        let (dir, copies) = (setup.folders[0].clone(), setup.paths());
        return Err(SystemError::NoRecon { dir, copies });
    }
    Ok(recon::read(setup)?.state)
}

/// Opens RECON and brings its data sets up to date. Where there is none, somebody only looks at the
/// system: one is made that is forgotten.
pub(crate) fn open(
    setup: &Setup,
    kernel: &Kernel,
    notes: &mut Vec<String>,
) -> Result<Recon, SystemError> {
    if !recon::exists(setup)? {
        Recon::create(setup, &forgotten(setup, kernel.log().next_lsn()))?;
    }
    let (recon, opened) = Recon::open(setup.clone())?;
    for copy in &opened.repaired {
        notes.push(format!("{} was made anew from the other copy of RECON", copy.display()));
    }
    for copy in recon.lost_copies() {
        notes.push(format!("{} cannot be written: RECON has one copy only", copy.display()));
    }
    let mut news = news(&recon.state(), kernel);
    let utc_us = kernel.seam().clock.utc_us();
    let (taken_over, taken_notes) = authorise::take_over(&recon.state(), utc_us);
    news.extend(taken_over);
    // The restart has written a checkpoint: a control file and a log that end before it, put back
    // together, would look like an orderly stop.
    news.push(Record::Reached(Reached { lsn: kernel.proven(), utc_us }));
    notes.extend(taken_notes);
    match recon.add(news) {
        Err(error @ ReconError::Full { .. }) => {
            notes.push(format!("{error} ({}). {}", error.code(), error.remedy()));
        }
        added => added?,
    }
    Ok(recon)
}

/// What a RECON says that knows nothing of image copies that were made before `reached`.
pub(crate) fn forgotten(setup: &Setup, reached: Lsn) -> [Record; 2] {
    // Nobody knows which numbers were given away. Minutes go faster than copies and archives.
    let minutes = setup.seam.clock.utc_us() / 60_000_000;
    [Record::Recreated(reached), Record::Numbers(u32::try_from(minutes).unwrap_or_default())]
}

/// What a stop tells RECON, which goes without saying where there is no room for it (3).
fn unless_full(recorded: Result<(), ReconError>) -> Result<(), SystemError> {
    match recorded {
        Err(ReconError::Full { .. }) => Ok(()),
        recorded => Ok(recorded?),
    }
}

/// Tells RECON what data sets there are by now.
///
/// # Errors
/// If RECON cannot be written.
pub(crate) fn update(recon: &Recon, kernel: &Kernel) -> Result<(), SystemError> {
    Ok(recon.change(|state| (news(state, kernel), ()))?)
}

/// Tells RECON what data sets there are, how far the log reaches, and that nobody has anything
/// open; it is closed then.
pub(crate) fn note_end(recon: &Recon, kernel: &Kernel) -> Result<(), SystemError> {
    unless_full(recon.change(|state| (news(state, kernel), ())))?;
    let reached = Reached { lsn: kernel.log().next_lsn(), utc_us: kernel.seam().clock.utc_us() };
    unless_full(recon.close(vec![Record::Reached(reached), authorise::end()]))
}

/// What RECON does not know yet of data sets.
fn news(state: &State, kernel: &Kernel) -> Vec<Record> {
    let open = kernel.all_sets();
    let mut known: Vec<Definition> =
        open.iter().map(|set| Definition::clone(&set.definition())).collect();
    known.extend(kernel.offline_sets());
    let mut news = Vec::new();
    for definition in &known {
        let before = state.sets.get(&definition.id);
        let entry = entry_of(definition, before, kernel.log().next_lsn());
        if before != Some(&entry) {
            news.push(Record::Set(entry));
        }
    }
    let edition = kernel.protection().edition;
    if edition > state.protected {
        news.push(Record::Protected(edition));
    }
    let gone = state.sets.keys().filter(|id| !known.iter().any(|set| set.id == **id));
    news.extend(gone.map(|id| Record::SetGone(*id)));
    news
}

fn entry_of(definition: &Definition, before: Option<&DataSetEntry>, now: Lsn) -> DataSetEntry {
    let before_us = definition.conversion.map(|conversion| conversion.from);
    let sealed = definition.format == Format::Sealed;
    let mut generations = Vec::new();
    if sealed {
        generations.push(definition.generation);
    }
    generations
        .extend(before_us.filter(|from| from.format == Format::Sealed).map(|from| from.generation));
    DataSetEntry {
        set: definition.id,
        name: definition.name.clone(),
        protection: if sealed { Protection::Sealed } else { Protection::Plain },
        label: definition.label.clone(),
        generations,
        made: before.map_or(now, |entry| entry.made),
    }
}
