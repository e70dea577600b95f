//! Damage in a living copy of the log, beneath a machine that logs, archives and uses its segments
//! again: an operator has it repaired meanwhile.
//!
//! What must hold, whatever crashes:
//! 1. What one copy has lost comes back from the other one, what both have lost from an archive, in
//!    use and at a start. When it is repaired nothing is damaged any more.
//! 2. What is nowhere is named, and its place is left as it is.
//! 3. A write-ahead data set that begins anew in use has everything that it acknowledges.
//! 4. Archives that are deleted while they are looked at are not called damaged.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use archive::{ArchiveCatalog, ArchiveError, Archiver, LogSource};
use base::{GroupNumber, Lsn, UowId};
use seam::Seam;
use seam::sim::{self, Fault, FaultKind, Rng, SimConfig, SimDisk, When};
use wal::{GroupHead, Log, Scanned};

use super::{Machine, Make, STYLES, Script, crashed};

const MAKE: Make = Make { log_copies: 2, folders: 1, compress: false, recent: true, ahead: 0 };
const BLOCK: u64 = 4096;
/// Where a segment's header names its first group.
const FIRST_GROUP_AT: u64 = 48;

/// Who spoils the log and has it repaired, or has its write-ahead data set begin anew.
#[derive(Clone)]
pub(super) struct Operator {
    disk: SimDisk,
    seed: u64,
    renews: bool,
}

impl Operator {
    /// Does one thing after another, until the others are done.
    pub(super) fn work(&self, seam: &Seam, log: &Log, archiver: &Archiver, over: &AtomicBool) {
        let mut rng = Rng::stream(self.seed, "operator");
        while !over.load(SeqCst) {
            if self.renews {
                seam.clock.sleep(Duration::from_micros(rng.below(600)));
                assert_eq!(log.prove_ahead(), []);
                let trouble = log.renew_ahead().unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(trouble, None);
                continue;
            }
            let archived = archiver.catalog().archived_to().unwrap_or_default();
            let undurable = log.sealed(GroupNumber(0), GroupNumber(u64::MAX)).end();
            if self.spoil(&mut rng, archived, undurable) {
                repair(log);
            }
            if rng.one_in(4) {
                verify(archiver.catalog());
            }
            seam.clock.sleep(Duration::from_micros(200));
        }
    }

    /// Spoils a group, on both copies if an archive has it. Nothing is scheduled meanwhile.
    fn spoil(&self, rng: &mut Rng, archived: GroupNumber, undurable: GroupNumber) -> bool {
        let mut paths = self.disk.paths();
        paths.retain(|path| path.starts_with("/log2"));
        let path = &paths[rng.index(paths.len())];
        let twin = PathBuf::from("/log1").join(path.file_name().unwrap_or_default());
        let blocks = self.disk.len_raw(path) / BLOCK;
        if blocks < 2 {
            return false;
        }
        let block = (1 + rng.below(blocks - 1)) * BLOCK;
        let head = |path| GroupHead::decode(&self.disk.read_raw(path, block, 128)).ok();
        let (Some(mine), other) = (head(path), head(&twin)) else { return false };
        if mine.number >= undurable {
            return false;
        }
        self.disk.corrupt(path, block + rng.below(BLOCK), &[0x10]);
        if rng.one_in(3) && other == Some(mine) && mine.number < archived {
            self.disk.corrupt(&twin, block + rng.below(128), &[0x10]);
        }
        if rng.one_in(4) && self.first_group(path) < undurable {
            self.disk.corrupt(path, rng.below(128), &[0x10]);
        }
        true
    }

    /// The first group of the segment in a file, as its header says. Before that one is durable
    /// nobody looks at the header again.
    fn first_group(&self, path: &PathBuf) -> GroupNumber {
        let number = self.disk.read_raw(path, FIRST_GROUP_AT, 8);
        GroupNumber(number.try_into().map_or(0, u64::from_le_bytes))
    }
}

/// Has the log repaired; nothing is damaged afterwards.
fn repair(log: &Log) {
    let repaired = log.repair(&mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    assert!(repaired.lost.is_empty(), "an archive has it: {:?}", repaired.lost);
    let mut left = Vec::new();
    let mut note = |scanned: Scanned<'_>| left.push(format!("{scanned:?}"));
    let proven = log.prove(&mut note, &mut |_| true);
    proven.map(drop).unwrap_or_else(|error| panic!("{error}"));
    assert!(left.is_empty(), "repaired, and still damaged: {left:?}");
}

/// Looks at each archive while others come and go.
fn verify(catalog: &ArchiveCatalog) {
    for copy in catalog.list() {
        match catalog.verify(copy.info.from) {
            Ok(faults) => assert!(faults.is_empty(), "{faults:?}"),
            Err(ArchiveError::NoSuch { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// Crashes after every `step`th write while the log is spoilt and repaired; without a `step`, lives
/// that end by themselves.
///
/// # Errors
/// The first broken promise.
pub fn repairing(round: u64, step: Option<u64>) -> Result<u64, String> {
    lives(MAKE, round, step, false)
}

/// The same while the write-ahead data set begins anew time and again.
///
/// # Errors
/// The first broken promise.
pub fn wads_recreated(round: u64, step: Option<u64>) -> Result<u64, String> {
    lives(Make { ahead: 1, ..MAKE }, round, step, true)
}

fn lives(make: Make, round: u64, step: Option<u64>, renews: bool) -> Result<u64, String> {
    let base = Machine::new(make);
    let mut crashes = 0;
    for n in (1..).step_by(step.unwrap_or(1) as usize) {
        let mut machine = base.fork();
        let described = |why: String| format!("life {n}: {why}");
        // Now and then a call takes so long that others get far meanwhile.
        let (device, slow, chance) = match renews {
            true => ("/ahead1", Duration::from_millis(1), 100),
            false => ("/log2", Duration::from_millis(10), 20),
        };
        let slow = Fault::new(FaultKind::SlowIo(slow), device);
        machine.disk.inject(slow.when(When::Chance(chance * (n % 4) as u32)));
        let operator = Operator { disk: machine.disk.clone(), seed: 1_000 * round + n, renews };
        let script = Script { seed: 1_000 * round + 500 + n, records: 44 };
        let ended = machine.live_beside(script, step.map(|_| n), Some(operator));
        if !crashed(&ended).map_err(described)? {
            machine.disk = machine.disk.snapshot();
            crashed(&machine.live(Script { seed: n, records: 3 }, None)).map_err(described)?;
            if step.is_some() || n >= 60 {
                break;
            }
            continue;
        }
        crashes += 1;
        machine.crash(n, STYLES[n as usize % 4]);
        crashed(&machine.live(Script { seed: n, records: 3 }, None)).map_err(described)?;
    }
    Ok(crashes)
}

/// Nothing is archived past a group that is nowhere until it is given up; nobody reads across.
fn gone_for_good(log: &Arc<Log>, archiver: &Archiver, lost: GroupNumber) {
    assert!(archiver.archive_now().is_err(), "it is not passed over by itself");
    archiver.give_up(lost);
    let archived = archiver.archive_now();
    archived.map(drop).unwrap_or_else(|error| panic!("{error}"));
    let spans: Vec<_> =
        archiver.catalog().list().iter().map(|copy| (copy.info.from, copy.info.to)).collect();
    assert!(spans.iter().any(|(from, _)| from.0 == lost.0 + 1), "{spans:?}");
    assert!(!spans.iter().any(|(from, to)| *from <= lost && lost < *to), "{spans:?}");
    let source = LogSource::new(Some(Arc::clone(archiver.catalog())), Some(Arc::clone(log)));
    let read = source.read(Lsn::FIRST, source.end()).and_then(|mut reader| {
        while reader.next()?.is_some() {}
        Ok(())
    });
    assert!(read.is_err(), "nobody reads across it");
}

/// A group that both copies have lost before it was archived is named and left alone; the archive
/// goes on behind it when it is given up.
///
/// # Errors
/// If it is called repaired, or was written to.
pub fn what_is_nowhere_is_named(seed: u64) -> Result<(), String> {
    let machine = Machine::new(Make { recent: false, ..MAKE });
    let disk = machine.disk.clone();
    let outcome = sim::run(SimConfig::new(seed), machine.disk.clone(), |seam| {
        let (log, archiver) = machine.open(&seam).unwrap_or_else(|error| panic!("{error}"));
        for index in 0..4 {
            let body = super::body(1, 0, index, 900);
            let place = log.append(1, 0, UowId(index), Lsn::NONE, &[&body]);
            let place = place.unwrap_or_else(|error| panic!("{error}"));
            log.wait_durable(place.end).unwrap_or_else(|error| panic!("{error}"));
        }
        let at = BLOCK * (1 + seed % 3);
        let paths = ["/log1", "/log2"].map(|dir| PathBuf::from(dir).join("segment-000.stripe-0"));
        let all = |path: &PathBuf| disk.read_raw(path, 0, disk.len_raw(path) as usize);
        let whole = paths.each_ref().map(all);
        paths.iter().for_each(|path| disk.corrupt(path, at + 100 + seed, &[0x10]));
        let spoilt = paths.each_ref().map(all);
        let repaired_groups = log.repair(&mut |_| true).unwrap_or_else(|error| panic!("{error}"));
        let lost: Vec<_> =
            repaired_groups.lost.iter().map(|lost| (lost.offset, lost.first)).collect();
        assert!(lost.len() == 1 && lost[0].0 == at, "{repaired_groups:?}");
        assert!(paths.each_ref().map(all) == spoilt, "its place is left as it is");
        if seed.is_multiple_of(2) {
            gone_for_good(&log, &archiver, repaired_groups.lost[0].number);
        } else {
            disk.write_raw(&paths[0], 0, &whole[0]);
            repair(&log);
            assert!(paths.each_ref().map(all) == whole, "byte for byte");
        }
        archiver.end();
        log.close().unwrap_or_else(|error| panic!("{error}"));
    });
    crashed(&outcome)?;
    Ok(())
}

/// Groups that both copies have lost, and an archive has, come back at a start, too.
///
/// # Errors
/// If they do not.
pub fn a_start_takes_them_from_an_archive(seed: u64) -> Result<(), String> {
    let mut machine = Machine::new(Make { compress: seed.is_multiple_of(2), ..MAKE });
    machine.archive_all(Script { seed, records: 6 })?;
    let disk = machine.disk.snapshot();
    let path = |dir: &str| PathBuf::from(dir).join("segment-000.stripe-0");
    for block in [1 + seed % 2, 4].map(|block| block * BLOCK) {
        ["/log1", "/log2"].iter().for_each(|dir| disk.corrupt(path(dir), block + 40, &[1]));
    }
    machine.disk = disk;
    crashed(&machine.live(Script { seed, records: 2 }, None))
        .map_err(|why| format!("seed {seed}: {why}"))?;
    Ok(())
}

impl Machine {
    /// A life that archives everything, while a restart still needs it.
    fn archive_all(&mut self, script: Script) -> Result<(), String> {
        self.life += 1;
        let outcome = sim::run(SimConfig::new(script.seed), self.disk.clone(), |seam| {
            let (log, archiver) = self.open(&seam).unwrap_or_else(|error| panic!("{error}"));
            for index in 0..script.records {
                let text = super::body(self.life, 0, index, 700);
                let place = log.append(self.life as u8, 0, UowId(index), Lsn::NONE, &[&text]);
                let place = place.unwrap_or_else(|error| panic!("{error}"));
                log.wait_durable(place.end).unwrap_or_else(|error| panic!("{error}"));
                self.ledger.acked.lock().insert((self.life, 0), index + 1);
            }
            let archived = archiver.archive_now();
            archived.map(drop).unwrap_or_else(|error| panic!("{error}"));
            archiver.end();
            log.close().unwrap_or_else(|error| panic!("{error}"));
        });
        crashed(&outcome).map(drop)
    }
}
