//! What is archived comes back as it was logged, from archives and log together.

#![allow(clippy::unwrap_used)] // also in helpers, which are not tests by name

use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use crate::common::{Bench, body, spoil};
use base::{GroupNumber, Lsn, SystemId, UowId};
use holdfast_archive::{
    ArchiveCatalog, ArchiveError, ArchiveFile, ArchiveInfo, CopyFault, Keep, LogSource, NoRegistry,
    Registry,
};
use seam::Seam;
use seam::sim::Rng;
use wal::LogError;

const COMMIT: u8 = 9;

fn log_some(bench: &Bench, from: u64, count: u64) -> Vec<Lsn> {
    let mut places = Vec::new();
    for index in from..from + count {
        let text = body(index, 400 + (index as usize * 37) % 900);
        let kind = if index.is_multiple_of(10) { COMMIT } else { 1 };
        let place = loop {
            match bench.log().append(kind, 0, UowId(index), Lsn::NONE, &[&text]) {
                // On a busy machine the archive may fall behind.
                Err(LogError::ArchiveBehind { .. }) => {
                    Seam::real().clock.sleep(Duration::from_millis(1));
                }
                other => break other.unwrap(),
            }
        };
        bench.log().wait_durable(place.end).unwrap();
        bench.log().truncate(place.lsn);
        places.push(place.lsn);
    }
    places
}

fn read_all(source: &LogSource, from: Lsn) -> Result<Vec<(Lsn, u64)>, ArchiveError> {
    let mut reader = source.read(from, Lsn(u64::MAX))?;
    let mut found = Vec::new();
    while let Some(record) = reader.next()? {
        assert_eq!(record.body, body(record.uow.0, record.body.len()));
        found.push((record.lsn, record.uow.0));
    }
    Ok(found)
}

#[test]
fn records_come_back_from_archives_and_log_in_order_and_each_once() {
    for compress in [None, Some(1)] {
        let mut bench = Bench::new(2, |config| config.compress = compress);
        let mut places = log_some(&bench, 0, 700);
        let archived = bench.archiver().archive_now().unwrap();
        assert!(!archived.is_empty());
        places.extend(log_some(&bench, 700, 300));
        bench.restart();
        places.extend(log_some(&bench, 1_000, 300));
        let oldest = bench.log().segments()[0].first;
        assert!(oldest > Lsn::FIRST, "segments were used again");
        let source = bench.source();
        let all: Vec<_> = places.iter().copied().zip(0..).collect();
        assert_eq!(read_all(&source, Lsn::FIRST).unwrap(), all);
        for start in [1, 333, 700, 999, 1_299] {
            assert_eq!(read_all(&source, places[start]).unwrap(), all[start..], "from {start}");
            let mut out = Vec::new();
            let head = source.read_record(places[start], &mut out).unwrap();
            assert_eq!((head.lsn, head.uow.0), all[start]);
            assert_eq!(out, body(start as u64, out.len()));
        }
        assert!(source.read_record(places[5].plus(1), &mut Vec::new()).is_err());
        let list = bench.archiver().catalog().list();
        assert!(
            list.iter()
                .all(|copy| copy.files.len() == 2 && copy.info.compressed == compress.is_some())
        );
        let dense = list.iter().map(|copy| copy.info.block_bytes).sum::<u64>();
        let plain = list.iter().map(|copy| copy.info.record_bytes).sum::<u64>();
        assert_eq!(dense * 2 < plain, compress.is_some(), "{dense} of {plain}");
        bench.end();
    }
}

#[test]
fn an_archive_says_when_its_first_and_last_commit_were() {
    let bench = Bench::new(1, |_| {});
    log_some(&bench, 0, 600);
    bench.archiver().archive_now().unwrap();
    let list = bench.archiver().catalog().list();
    assert_eq!(list[0].info.first_commit_us, Some(1_000_000));
    let mut before = 0;
    for copy in &list {
        let times = (copy.info.first_commit_us, copy.info.last_commit_us);
        if let (Some(first), Some(last)) = times {
            assert!(before <= first && first <= last, "{times:?} behind {before}");
            before = last;
        }
    }
    assert_eq!(before, 1_000_000 + 590);
    bench.end();
}

#[test]
fn what_one_copy_lost_the_other_gives_and_repair_makes_it_whole() {
    let mut bench = Bench::new(2, |_| {});
    log_some(&bench, 0, 700);
    bench.archiver().archive_now().unwrap();
    let catalog = std::sync::Arc::clone(bench.archiver().catalog());
    let copy = &catalog.list()[0];
    spoil(&copy.files[0], 5_000, &[0xee; 4]);
    let source = LogSource::new(Some(std::sync::Arc::clone(&catalog)), None);
    assert_eq!(read_all(&source, Lsn::FIRST).unwrap().len(), 700);
    let faults = catalog.verify(copy.info.from).unwrap();
    assert_eq!(faults.len(), 1);
    assert!(matches!(faults[0].why, ArchiveError::Damaged { .. }), "{faults:?}");
    catalog.repair(copy.info.from, &faults[0].path).unwrap();
    assert!(catalog.verify(copy.info.from).unwrap().is_empty());
    // A file that is gone is made by the next start.
    bench.remove(&copy.files[1]);
    bench.restart();
    assert!(bench.archiver().catalog().faults().is_empty());
    assert_eq!(bench.archiver().catalog().list()[0].files.len(), 2);
    // With both copies damaged and the segment used again, the group is named.
    let copy = &bench.archiver().catalog().list()[0];
    copy.files.iter().for_each(|path| spoil(path, 5_000, &[0xee; 4]));
    let error = read_all(&bench.source(), Lsn::FIRST).unwrap_err();
    assert!(matches!(error, ArchiveError::Missing { .. }), "{error}");
    assert!(error.to_string().contains("archive-"), "{error}");
    bench.end();
}

struct Needed(Lsn);

impl Registry for Needed {
    fn archived(&self, _: &ArchiveInfo, _: &[PathBuf]) -> Result<(), String> {
        Ok(())
    }
    fn deleting(&self, _: &ArchiveInfo) -> Result<(), String> {
        Ok(())
    }
    fn needed_from(&self) -> Result<Lsn, String> {
        Ok(self.0)
    }
}

#[test]
fn only_what_policy_lets_go_and_no_recovery_needs_is_deleted() {
    let bench = Bench::new(1, |_| {});
    log_some(&bench, 0, 900);
    bench.archiver().archive_now().unwrap();
    let catalog = bench.archiver().catalog();
    let list = catalog.list();
    assert!(list.len() > 4, "{}", list.len());
    let (far, third) = (Lsn(u64::MAX), list[2].info.end);
    let expired = |keep: Keep, needed| catalog.expired(&keep, needed).len();
    let forever = Keep::default();
    let files = |files| Keep { files: Some(files), time: None };
    assert_eq!(expired(forever, far), 0, "without a rule everything stays");
    assert_eq!(expired(files(2), far), list.len() - 2);
    assert_eq!(expired(files(0), far), list.len() - 1, "never the newest");
    assert_eq!(expired(files(1), third), 3, "nothing a recovery needs");
    let young = Keep { files: Some(1), time: Some(Duration::from_secs(3_600)) };
    assert_eq!(expired(young, far), 0, "one rule is enough to stay");
    let from = list[0].info.from;
    assert!(matches!(catalog.delete(from, &NoRegistry), Err(ArchiveError::Needed { .. })));
    let newest = list.last().unwrap().info.from;
    assert!(matches!(catalog.delete(newest, &Needed(far)), Err(ArchiveError::Needed { .. })));
    catalog.delete(from, &Needed(third)).unwrap();
    assert!(!bench.exists(&list[0].files[0]));
    let error = read_all(&bench.source(), Lsn::FIRST).unwrap_err();
    assert!(matches!(error, ArchiveError::Gone { .. }), "{error}");
    bench.end();
}

/// Lets somebody know that it was asked what is needed, before it answers: nothing.
struct Asked {
    known: mpsc::Sender<()>,
}

impl Registry for Asked {
    fn archived(&self, _: &ArchiveInfo, _: &[PathBuf]) -> Result<(), String> {
        Ok(())
    }

    fn deleting(&self, _: &ArchiveInfo) -> Result<(), String> {
        Ok(())
    }

    fn needed_from(&self) -> Result<Lsn, String> {
        self.known.send(()).unwrap();
        Seam::real().clock.sleep(Duration::from_millis(100));
        Ok(Lsn(u64::MAX))
    }
}

#[test]
fn whoever_holds_the_log_waits_for_a_deletion_that_has_asked_before() {
    let bench = Bench::new(1, |_| {});
    log_some(&bench, 0, 500);
    bench.archiver().archive_now().unwrap();
    let catalog = bench.archiver().catalog();
    let oldest = catalog.list()[0].clone();
    let (known, asked) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| catalog.delete(oldest.info.from, &Asked { known }).unwrap());
        asked.recv().unwrap();
        catalog.settle();
        assert!(catalog.list()[0].info.from > oldest.info.from, "it is not there to be read");
        assert!(!bench.exists(&oldest.files[0]));
    });
    bench.end();
}

fn all_bytes(files: &[PathBuf]) -> Vec<Vec<u8>> {
    files.iter().map(|path| crate::common::bytes(path)).collect()
}

/// What stands in front of the blocks of an archive.
const HEADER_BYTES: u64 = 4096;

/// Damages an archive of so many bytes: which copy, and where. With `apart` no group is hit in both
/// copies: none is longer than a quarter of what lies between two places.
fn damage(rng: &mut Rng, bytes: u64, apart: bool) -> Vec<(usize, u64)> {
    const APART: u64 = 8 << 10;
    // What seems to be another release's, or another system's, is not written over.
    const WHOSE_END: u64 = 24;
    let slots = (bytes / APART).max(1);
    let places = (0..=rng.below(5)).map(|_| {
        let (slot, inside) = (rng.below(slots), rng.below(if apart { 64 } else { APART - 8 }));
        let copy = if apart { slot % 2 } else { rng.below(2) };
        (copy as usize, (slot * APART + inside).clamp(WHOSE_END, bytes - 8))
    });
    places.collect()
}

#[test]
fn what_copies_lost_in_different_places_they_give_together() {
    let (mut joined, mut lost) = (0, 0);
    for seed in 0..100 {
        let bench = Bench::new(2, |config| config.compress = (seed % 3 == 0).then_some(1));
        let mut rng = Rng::stream(seed, "damage");
        log_some(&bench, 0, 150 + rng.below(100));
        bench.archiver().archive_now().unwrap();
        let catalog = std::sync::Arc::clone(bench.archiver().catalog());
        let source = || LogSource::new(Some(std::sync::Arc::clone(&catalog)), None);
        let logged = read_all(&source(), Lsn::FIRST).unwrap();
        let list = catalog.list();
        let copy = &list[rng.below(list.len() as u64) as usize];
        let whole = crate::common::bytes(&copy.files[0]);
        let apart = seed % 2 == 0;
        for (file, at) in damage(&mut rng, HEADER_BYTES + copy.info.block_bytes, apart) {
            spoil(&copy.files[file], at, &rng.word().to_le_bytes());
        }
        let from = copy.info.from;
        let bad = |faults: &[CopyFault]| faults.iter().map(|one| one.path.clone()).collect();
        let faults: Vec<PathBuf> = bad(&catalog.verify(from).unwrap());
        match read_all(&source(), Lsn::FIRST) {
            Ok(found) => {
                assert_eq!(found, logged, "seed {seed}");
                joined += u32::from(faults.len() == 2);
                assert!(faults.len() < 2 || catalog.is_whole_together(from), "seed {seed}");
                for path in &faults {
                    catalog.repair(from, path).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
                }
                assert!(
                    copy.files.iter().all(|file| crate::common::bytes(file) == whole),
                    "seed {seed}"
                );
            }
            Err(ArchiveError::Missing { why, .. }) => {
                assert!(!apart, "seed {seed}: {why}");
                lost += 1;
                assert!(!catalog.is_whole_together(from), "seed {seed}");
                let left = all_bytes(&copy.files);
                assert!(catalog.repair(from, &copy.files[0]).is_err(), "seed {seed}");
                assert_eq!(all_bytes(&copy.files), left, "seed {seed}");
            }
            Err(error) => panic!("seed {seed}: {error}"),
        }
        bench.end();
    }
    assert!(joined > 10 && lost > 0, "{joined} joined, {lost} lost");
}

#[test]
fn what_is_cut_short_serves_up_to_its_end() {
    let (mut whole, mut lost) = (0, 0);
    for seed in 0..16 {
        let bench = Bench::new(2, |config| config.compress = (seed % 5 == 0).then_some(1));
        let mut rng = Rng::stream(seed, "cut");
        log_some(&bench, 0, 100);
        bench.archiver().archive_now().unwrap();
        let catalog = std::sync::Arc::clone(bench.archiver().catalog());
        let logged = read_all(&LogSource::new(Some(catalog.clone()), None), Lsn::FIRST).unwrap();
        let copy = &catalog.list()[0];
        let bytes = crate::common::bytes(&copy.files[0]);
        // One is cut, and the other one damaged where that is left, its header among it, or behind.
        let blocks = HEADER_BYTES + copy.info.block_bytes;
        let cut = rng.between(blocks * 3 / 4, blocks - 1);
        let (from, to, bears) = match seed % 4 {
            0 => (24, 4000, true),
            3 => (cut, blocks - 1, false),
            _ => (HEADER_BYTES, (cut / 2).max(HEADER_BYTES), cut > 4 * HEADER_BYTES),
        };
        let (one, other) = ((seed / 2 % 2) as usize, (1 - seed / 2 % 2) as usize);
        crate::common::put(&copy.files[one], &bytes[..cut as usize]);
        let at = rng.between(from, to);
        spoil(&copy.files[other], at, &[!bytes[at as usize]]);
        let catalog =
            ArchiveCatalog::open(catalog.env().clone(), catalog.config().clone()).unwrap();
        let catalog = std::sync::Arc::new(catalog);
        match read_all(&LogSource::new(Some(catalog.clone()), None), Lsn::FIRST) {
            Ok(found) => {
                assert_eq!(found, logged, "seed {seed}");
                let faults = catalog.verify(copy.info.from).unwrap();
                assert_eq!(faults.len(), 2, "seed {seed}");
                for fault in &faults {
                    catalog.repair(copy.info.from, &fault.path).unwrap();
                }
                assert!(all_bytes(&copy.files).iter().all(|one| *one == bytes), "seed {seed}");
                whole += 1;
            }
            Err(error) => {
                assert!(!bears, "seed {seed}: {error}");
                lost += 1;
            }
        }
        bench.end();
    }
    assert!(whole > 6 && lost > 3, "{whole} whole, {lost} lost");
}

#[test]
fn a_file_that_is_not_what_it_says_is_named_and_not_counted() {
    let mut bench = Bench::new(1, |_| {});
    log_some(&bench, 0, 500);
    bench.archiver().archive_now().unwrap();
    let list = bench.archiver().catalog().list();
    let (first, second) = (&list[0].files[0], &list[1].files[0]);
    let bytes = crate::common::bytes(first);
    // A version from the future, another archive's name, and a cut file.
    spoil(first, 4, &[3]);
    assert!(matches!(
        ArchiveFile::open(&bench.env(), first),
        Err(ArchiveError::FutureVersion { found: 3, known: 2, .. })
    ));
    crate::common::put(first, &bytes[..bytes.len() - 4096]);
    assert!(ArchiveFile::open(&bench.env(), first).is_err());
    crate::common::put(first, &bytes);
    crate::common::put(second, &bytes);
    let catalog = ArchiveCatalog::open(bench.env(), bench.config.clone()).unwrap();
    assert_eq!(catalog.list().len(), list.len() - 1);
    assert!(catalog.faults().iter().any(|fault| fault.path == *second), "{:?}", catalog.faults());
    assert_eq!(catalog.gaps(), [(list[1].info.from, list[1].info.to)]);
    let error = read_all(&LogSource::new(Some(std::sync::Arc::new(catalog)), None), Lsn::FIRST);
    assert!(matches!(error, Err(ArchiveError::Missing { .. })));
    bench.end();
    bench.system.0[0] ^= 1;
    assert!(ArchiveFile::open(&bench.env(), first).is_err(), "another system's");
}

#[test]
fn archives_that_prove_more_than_the_log_has_stop_the_start() {
    let mut bench = Bench::new(1, |_| {});
    log_some(&bench, 0, 200);
    bench.stop();
    let old = bench.copy_of_log();
    bench.start().unwrap();
    log_some(&bench, 200, 100);
    bench.archiver().archive_now().unwrap();
    bench.stop();
    bench.put_back(&old);
    let error = bench.start().unwrap_err();
    assert!(error.contains("put back to an older state"), "{error}");
}

#[test]
fn a_file_that_has_the_name_of_a_new_archive_is_set_aside() {
    let mut bench = Bench::new(1, |_| {});
    log_some(&bench, 0, 500);
    bench.archiver().archive_now().unwrap();
    let newest = bench.archiver().catalog().newest().unwrap();
    bench.stop();
    let path = &newest.files[0];
    spoil(path, 60, &[0xee; 4]);
    let damaged = crate::common::bytes(path);
    bench.start().unwrap();
    assert_eq!(bench.archiver().catalog().unread().len(), 1);
    bench.archiver().archive_now().unwrap();
    assert_eq!(read_all(&bench.source(), Lsn::FIRST).unwrap().len(), 500);
    assert!(bench.archiver().catalog().verify(newest.info.from).unwrap().is_empty());
    assert_eq!(crate::common::bytes(&path.with_extension("hfa.aside")), damaged);
    bench.end();
}

#[test]
fn a_folder_with_archives_of_another_system_is_left_alone() {
    let bench = Bench::new(1, |_| {});
    log_some(&bench, 0, 200);
    bench.archiver().archive_now().unwrap();
    let mine = bench.archiver().catalog().newest().unwrap().files[0].clone();
    let before = crate::common::bytes(&mine);
    let mut other = bench.env();
    other.system.0[0] ^= 1;
    let catalog = ArchiveCatalog::open(other, bench.config.clone()).unwrap();
    assert!(catalog.unread().is_empty(), "what is another's is no archive that was lost");
    let refused = catalog.prepare().unwrap_err();
    assert!(matches!(refused, ArchiveError::Foreign { .. }), "{refused}");
    assert_eq!(crate::common::bytes(&mine), before);
    bench.end();
}

#[test]
fn systems_that_begin_in_one_folder_do_not_take_each_others_names() {
    let first = Bench::new(1, |_| {});
    // Both find the folder empty.
    let folders = first.config.folders.clone();
    let second = Bench::of(SystemId([5; 16]), 1, |config| config.folders = folders);
    log_some(&first, 0, 200);
    first.archiver().archive_now().unwrap();
    let mine = first.archiver().catalog().newest().unwrap().files[0].clone();
    let before = crate::common::bytes(&mine);
    log_some(&second, 0, 30);
    let refused = second.archiver().archive_now().unwrap_err();
    assert!(matches!(refused, ArchiveError::Foreign { .. }), "{refused}");
    assert_eq!(crate::common::bytes(&mine), before);
    assert_eq!(read_all(&second.source(), Lsn::FIRST).unwrap().len(), 30, "the log has it still");
    first.end();
    second.end();
}

#[test]
fn an_archive_that_is_lost_is_written_again_while_the_log_has_its_groups() {
    for folders in [1, 2] {
        let bench = Bench::new(folders, |config| config.compress = Some(1));
        let mut places = Vec::new();
        for round in 0..3 {
            places.extend(log_some(&bench, round * 5, 5));
            bench.archiver().archive_now().unwrap();
        }
        let (archiver, catalog) = (bench.archiver(), bench.archiver().catalog());
        let lost = catalog.list()[1].clone();
        // One copy is gone; the other one, if there is one, is damaged.
        bench.remove(&lost.files[0]);
        lost.files[1..].iter().for_each(|file| spoil(file, 4_200, &[0xee; 4]));
        assert_eq!(catalog.verify(lost.info.from).unwrap().len(), folders);
        assert!(catalog.repair(lost.info.from, &lost.files[0]).is_err(), "no copy is whole");
        // What the log does not have, and what does not lead to the next one, is not written.
        let (from, to) = (lost.info.from, lost.info.to);
        assert!(archiver.write_again(from, GroupNumber(to.0 + 1_000)).is_err());
        let again = archiver.write_again(from, to).unwrap();
        assert_eq!(again.files, lost.files);
        assert_eq!((again.info.to, again.info.last), (to, lost.info.last));
        assert!(catalog.verify(from).unwrap().is_empty() && catalog.faults().is_empty());
        let archives = LogSource::new(Some(std::sync::Arc::clone(catalog)), None);
        let all: Vec<_> = places.iter().copied().zip(0..).collect();
        assert_eq!(read_all(&archives, Lsn::FIRST).unwrap(), all);
        // The archiver goes on behind the newest one as before.
        places.extend(log_some(&bench, 15, 700));
        archiver.archive_now().unwrap();
        let all: Vec<_> = places.iter().copied().zip(0..).collect();
        assert_eq!(read_all(&archives, Lsn::FIRST).unwrap(), all);
        // By now the log was used again.
        let refused = archiver.write_again(from, to).unwrap_err();
        assert!(refused.to_string().contains("no longer in the log"), "{refused}");
        bench.end();
    }
}
