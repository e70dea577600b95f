//! The proof of the proof: for each deliberate bug, the part of the suite that must find it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use base::{CiNumber, DataSetId, KeyGeneration};
use seal::{Format, KeyProvider, PageSealer, TestKeys};
use seam::failpoint::{Failpoint, arm};
use seam::sim::{CrashStyle, Fault, FaultKind, Rng, SimDisk};

use crate::archive;
use crate::dli::{numbered, tellers};
use crate::forms;
use crate::machine::Make;
use crate::media::{self, Met, Rested};
use crate::online;
use crate::phantoms;
use crate::replaced;
use crate::scenario::{self, Scenario, key, value};
use crate::swarm::{Plan, Trouble, swarm};
use crate::sweep::{self, Thoroughness, sweep};
use crate::verify::{self, Claim, Wrong};
use crate::world::World;

/// A deliberate bug, and how it is hunted.
#[derive(Clone, Copy)]
pub struct Hunt {
    /// The bug.
    pub fault: Failpoint,
    /// Which part of the suite finds it: one name, one part.
    pub by: &'static str,
    /// Runs that part.
    pub run: fn() -> Result<(), String>,
}

/// Every deliberate bug.
pub const ALL: &[Hunt] = &[
    Hunt { fault: Failpoint::PageBeforeLog, by: "sweep of pages", run: || swept(&scenario::PAGES) },
    Hunt { fault: Failpoint::ReplyBeforeDurable, by: "swarm with crashes", run: swarmed },
    Hunt {
        fault: Failpoint::ReadBeforeWriterDurable,
        by: "sweep of readers",
        run: || swept(&scenario::READERS),
    },
    Hunt { fault: Failpoint::NoDoubleWrite, by: "sweep of pages", run: || swept(&scenario::PAGES) },
    Hunt { fault: Failpoint::NonceReused, by: "no nonce twice on a disk", run: no_nonce_twice },
    Hunt {
        fault: Failpoint::UndoSkipped,
        by: "sweep of backout",
        run: || swept(&scenario::BACKOUT),
    },
    Hunt { fault: Failpoint::HalfSplit, by: "sweep of split", run: || swept(&scenario::SPLIT) },
    Hunt {
        fault: Failpoint::ChainNotChecked,
        by: "the tail of another log",
        run: a_foreign_tail_is_refused,
    },
    Hunt {
        fault: Failpoint::StaleCopyPreferred,
        by: "sweep of lost-first-copy",
        run: || swept(&scenario::LOST_FIRST),
    },
    Hunt { fault: Failpoint::EndTooEarly, by: "damage within a log", run: damage_is_no_end },
    Hunt {
        fault: Failpoint::FreshnessNotChecked,
        by: "media faults of data",
        run: data_is_put_back,
    },
    Hunt {
        fault: Failpoint::PlainAccepted,
        by: "plain pages in a sealed set",
        run: plain_is_refused,
    },
    Hunt { fault: Failpoint::LocksDroppedEarly, by: "swarm over few keys", run: crowded },
    Hunt {
        fault: Failpoint::CheckpointTooNew,
        by: "sweep of checkpoint",
        run: || swept(&scenario::CHECKPOINT),
    },
    Hunt {
        fault: Failpoint::CarriedUnannounced,
        by: "sweep of resize",
        run: || swept(&scenario::RESIZE),
    },
    Hunt {
        fault: Failpoint::OldPoolNotAsked,
        by: "sweep of assign",
        run: || swept(&scenario::ASSIGN),
    },
    Hunt {
        fault: Failpoint::CarriedTooLate,
        by: "a data set between two pools",
        run: || crate::homes::everybody_finds_what_they_wrote(40),
    },
    Hunt {
        fault: Failpoint::NoCompensation,
        by: "sweep of backout",
        run: || swept(&scenario::BACKOUT),
    },
    Hunt {
        fault: Failpoint::SpaceReusedEarly,
        by: "sweep of overflow",
        run: || swept(&scenario::OVERFLOW),
    },
    Hunt {
        fault: Failpoint::LostCopyUnrecorded,
        by: "only the stale copy is left",
        run: only_the_stale_copy_is_left,
    },
    Hunt {
        fault: Failpoint::ProtectionNotCompared,
        by: "a forged tail of the log",
        run: crate::protection::a_forged_tail_is_refused,
    },
    Hunt {
        fault: Failpoint::PermitNotChecked,
        by: "a forged definition",
        run: crate::protection::nobody_without_the_key_has_a_data_set_written_in_clear,
    },
    Hunt {
        fault: Failpoint::SealedUnderPlainLog,
        by: "a forged checkpoint",
        run: crate::protection::what_is_sealed_gets_into_no_plain_log,
    },
    Hunt {
        fault: Failpoint::AnchorNotCompared,
        by: "older states put back",
        run: crate::anchor::what_was_put_back_is_refused,
    },
    Hunt {
        fault: Failpoint::OlderVersionPutBack,
        by: "what repairs",
        run: crate::care::only_what_is_good_repairs,
    },
    Hunt {
        fault: Failpoint::DamageOverlooked,
        by: "what is spoilt in use",
        run: || crate::care::what_is_spoilt_is_named_and_repaired(1),
    },
    Hunt { fault: Failpoint::NextKeyNotLocked, by: "phantoms", run: phantoms::nothing_appears },
    Hunt { fault: Failpoint::RecordGivenBack, by: "tellers at once", run: tellers_at_once },
    Hunt { fault: Failpoint::IndexEntryKept, by: "tellers at once", run: tellers_at_once },
    Hunt {
        fault: Failpoint::NumberingForgotten,
        by: "sweep of a numbering",
        run: || numbered::every_crash(1).map(drop),
    },
    Hunt { fault: Failpoint::ReconUnsynced, by: "sweep of RECON", run: crate::recon::every_crash },
    Hunt {
        fault: Failpoint::DeletedUnrecorded,
        by: "archives that policy deletes",
        run: || (1..=4).try_for_each(|seed| archive::deletions(seed).map(drop)),
    },
    Hunt {
        fault: Failpoint::CopyUnsynced,
        by: "sweep of image copies",
        run: || crate::copied::every_crash(1, 1).map(drop),
    },
    Hunt { fault: Failpoint::CopyEndTooEarly, by: "every point", run: recovered_to_points },
    Hunt {
        fault: Failpoint::CopyOfReplaced,
        by: "a recovery within a copy",
        run: || (1..=2).try_for_each(replaced::a_copy_of_it_does_not_count),
    },
    Hunt {
        fault: Failpoint::RecoveredTwice,
        by: "a recovery within a recovery",
        run: || (1..=2).try_for_each(replaced::it_is_not_replaced_again),
    },
    Hunt {
        fault: Failpoint::LostIntervalForgiven,
        by: "damaged files of image copies",
        run: || (1..=16).try_for_each(|seed| crate::joined::what_is_lost(seed).map(drop)),
    },
    Hunt { fault: Failpoint::CopyRedoTooNew, by: "every point", run: recovered_to_points },
    Hunt {
        fault: Failpoint::BetweenAccumulationsSkipped,
        by: "every point",
        run: recovered_to_points,
    },
    Hunt { fault: Failpoint::FreesNotAccumulated, by: "every point", run: recovered_to_points },
    Hunt {
        fault: Failpoint::RestoredWithoutLeap,
        by: "a bare machine",
        run: || (1..=8).try_for_each(crate::restored::a_bare_machine),
    },
    Hunt { fault: Failpoint::LaterChangesUnseen, by: "every unit backed out", run: backed_out },
    Hunt { fault: Failpoint::BackoutForwards, by: "every unit backed out", run: backed_out },
    Hunt {
        fault: Failpoint::BackoutInPieces,
        by: "sweep of a backout",
        run: || crate::backout::every_crash(1, 1).map(drop),
    },
    Hunt { fault: Failpoint::RecoveryUndoSkipped, by: "every point", run: recovered_to_points },
    Hunt {
        fault: Failpoint::SuccessorNotWritten,
        by: "sweep of a recovery",
        run: || crate::recovery::every_crash(1, 1).map(drop),
    },
    Hunt {
        fault: Failpoint::SuccessorNotSynced,
        by: "sweep of a recovery",
        run: || crate::recovery::every_crash(1, 1).map(drop),
    },
    Hunt { fault: Failpoint::SweepBackwards, by: "every point", run: recovered_to_points },
    Hunt {
        fault: Failpoint::RecoveryUnrecorded,
        by: "sweep of a recovery",
        run: || crate::recovery::every_crash(1, 1).map(drop),
    },
    Hunt {
        fault: Failpoint::LostReconCopyUnrecorded,
        by: "sweep of RECON",
        run: crate::recon::every_crash,
    },
    Hunt {
        fault: Failpoint::ConversionUnlogged,
        by: "sweep of convert",
        run: || swept(&forms::CONVERT),
    },
    Hunt {
        fault: Failpoint::CursorTooEarly,
        by: "sweep of convert",
        run: || swept(&forms::CONVERT),
    },
    Hunt {
        fault: Failpoint::FreeNotConverted,
        by: "sweep of convert",
        run: || swept(&forms::CONVERT),
    },
    Hunt {
        fault: Failpoint::SlotsNotCleared,
        by: "sweep of convert",
        run: || swept(&forms::CONVERT),
    },
    Hunt {
        fault: Failpoint::OldFormAccepted,
        by: "the form before in a converted set",
        run: forms::old_form_is_refused,
    },
    Hunt { fault: Failpoint::ReusedUnarchived, by: "sweeps of the archive", run: archived },
    Hunt {
        fault: Failpoint::ArchivedUndurable,
        by: "an archive that is faster than the log",
        run: || archive::a_slow_log(0, 3).map(drop),
    },
    Hunt {
        fault: Failpoint::CopyBackTooEarly,
        by: "a log copy that comes back",
        run: copies_come_back,
    },
    Hunt {
        fault: Failpoint::CopyBackWithGap,
        by: "a log copy that comes back",
        run: copies_come_back,
    },
    Hunt {
        fault: Failpoint::CopyMovedUnrecorded,
        by: "a log copy that comes back in another folder",
        run: || archive::resyncs(0, 4, true).map(drop),
    },
    Hunt {
        fault: Failpoint::RepairedUnproven,
        by: "a group of the log that is nowhere",
        run: || (1..=6).try_for_each(archive::what_is_nowhere_is_named),
    },
    Hunt {
        fault: Failpoint::RepairedUnheld,
        by: "a log that is spoilt and repaired in use",
        run: || archive::repairing(0, None).map(drop),
    },
    Hunt {
        fault: Failpoint::WadsRenewedEarly,
        by: "a write-ahead data set that begins anew in use",
        run: || (0..60).try_for_each(|round| archive::wads_recreated(round, Some(1)).map(drop)),
    },
    Hunt { fault: Failpoint::StripesUnrecorded, by: "stripes that change", run: striped },
    Hunt { fault: Failpoint::StripesUnsynced, by: "stripes that change", run: striped },
    Hunt { fault: Failpoint::StripesOfNow, by: "stripes that change", run: striped },
    Hunt {
        fault: Failpoint::WadsNotRead,
        by: "sweep of ahead",
        run: || swept(&crate::ahead::COMMITS),
    },
    Hunt {
        fault: Failpoint::WadsReusedEarly,
        by: "sweep of ahead-segments",
        run: || swept(&crate::ahead::SEGMENTS),
    },
    Hunt {
        fault: Failpoint::WadsUnrecorded,
        by: "sweep of ahead",
        run: || swept(&crate::ahead::COMMITS),
    },
    Hunt {
        fault: Failpoint::WadsOverLate,
        by: "sweep of ahead-restart",
        run: || swept(&crate::ahead::RESTART),
    },
    Hunt {
        fault: Failpoint::WadsOverwritten,
        by: "a write-ahead data set that was overwritten",
        run: || (1..=3).try_for_each(crate::ahead::overwritten_is_named),
    },
    Hunt { fault: Failpoint::ArchiveUnsynced, by: "sweeps of the archive", run: archived },
    Hunt { fault: Failpoint::AccumulatedTooLittle, by: "sweeps of the archive", run: archived },
    Hunt { fault: Failpoint::NeededArchiveDeleted, by: "sweeps of the archive", run: archived },
    Hunt {
        fault: Failpoint::ArchivedUnproven,
        by: "a log copy that stores groups wrong",
        run: || (1..=6).try_for_each(archive::damage_is_not_archived),
    },
    Hunt { fault: Failpoint::MessageUnwritten, by: "lives of queues", run: messages_lived },
    Hunt { fault: Failpoint::MessageKept, by: "lives of queues", run: messages_lived },
    Hunt { fault: Failpoint::QueueBackwards, by: "lives of queues", run: messages_lived },
    Hunt { fault: Failpoint::ExpiryIgnored, by: "lives of queues", run: messages_lived },
    Hunt { fault: Failpoint::ReplyForgotten, by: "lives of queues", run: messages_lived },
    Hunt { fault: Failpoint::OutputForgotten, by: "lives of queues", run: messages_lived },
    Hunt { fault: Failpoint::ScratchPadUnwritten, by: "lives of queues", run: messages_lived },
    Hunt { fault: Failpoint::StopForgotten, by: "lives of queues", run: messages_lived },
];

/// Runs the part that hunts a bug, with the bug planted or without. An error says what was found.
///
/// # Errors
/// What the suite found.
pub fn hunt(hunt: &Hunt, planted: bool) -> Result<(), String> {
    arm(planted.then_some(hunt.fault));
    let found = (hunt.run)();
    arm(None);
    found
}

fn swept(scenario: &Scenario) -> Result<(), String> {
    let thoroughness = Thoroughness { random_images: 2, deep_every: 4 };
    for seed in 1..=3 {
        sweep(scenario, seed, thoroughness).map_err(|failure| failure.to_string())?;
    }
    Ok(())
}

/// Each unit of work backed out alone, or with those who stand in its way.
fn backed_out() -> Result<(), String> {
    (1..=4).try_for_each(|seed| crate::backout::every_unit(seed, 2).map(drop))
}

/// Many programs, crashed again and again: whoever was told of what was lost is soon found.
fn swarmed() -> Result<(), String> {
    for seed in 1..=200 {
        let plan = Plan { tasks: 5, trouble: Trouble::None, ..Plan::drawn(seed) };
        swarm(&plan).map_err(|failure| failure.to_string())?;
    }
    Ok(())
}

/// Stripes of the log that change, and every crash.
fn striped() -> Result<(), String> {
    archive::restripes(0, 3).map(drop)
}

/// Crashes while the log is archived, its segments used again and archives deleted.
fn archived() -> Result<(), String> {
    archive::sweeps(0, 5).map(drop)
}

/// Many programs over few keys: whoever reads what is not committed is soon found.
fn crowded() -> Result<(), String> {
    for seed in 1..=400 {
        let drawn = Plan::drawn(seed);
        let plan = Plan { tasks: 5, sets: 1, keys: 4, trouble: Trouble::None, ..drawn };
        swarm(&plan).map_err(|failure| failure.to_string())?;
    }
    Ok(())
}

/// Inputs, programs and outputs over crashes of the transaction manager.
fn messages_lived() -> Result<(), String> {
    (1..=40).try_for_each(|seed| online::live_through(seed).map(drop))
}

/// Tellers who post to the same accounts.
fn tellers_at_once() -> Result<(), String> {
    (1..=20).try_for_each(|seed| tellers::work_through(seed).map(drop))
}

fn every_file(
    make: &Make,
    of: &str,
    spoil: fn(&SimDisk, &SimDisk, &PathBuf, &mut Rng),
) -> Result<(), String> {
    let rested = media::stopped(make, 1);
    for path in media::files(&rested.disk).iter().filter(|path| path.starts_with(of)) {
        for time in 0..20 {
            let mut rng = Rng::stream(time, "hunt");
            let disk = rested.disk.snapshot();
            spoil(&disk, &rested.earlier, path, &mut rng);
            let _: Met = media::meet(&rested, &disk, time)?;
        }
    }
    Ok(())
}

/// Every page that was written since goes back to its older version.
fn data_is_put_back() -> Result<(), String> {
    every_file(&Make::small(), "/system/data", |disk, earlier, path, rng| {
        let block = rng.below(disk.len_raw(path) / 4096) * 4096;
        if earlier.len_raw(path) > block {
            disk.write_raw(path, block, &earlier.read_raw(path, block, 4096));
        }
    })
}

/// Whoever has only the copy that misses groups must not start as if nothing had happened (K9).
///
/// # Errors
/// If it does.
pub fn only_the_stale_copy_is_left() -> Result<(), String> {
    for (scenario, survivor) in
        [(&scenario::LOST_FIRST, "/log2"), (&scenario::LOST_SECOND, "/log1")]
    {
        let points = sweep::points(scenario, 1).map_err(|failure| failure.to_string())?;
        let mut rng = Rng::stream(1, "survivor");
        for point in points {
            let disk = point.disk.crash_image(&mut rng, CrashStyle::DropAll);
            disk.inject(Fault::new(FaultKind::Dead, survivor));
            match verify::restart(&point.claim, &disk, rng.word() >> 1) {
                Ok(_) | Err(Wrong::Refused { .. }) => {}
                Err(Wrong::Broken(why)) => return Err(format!("{}: {why}", point.what)),
            }
        }
    }
    Ok(())
}

/// No two pages that were ever on a disk have one salt and one counter (K3).
///
/// # Errors
/// If two have.
pub fn no_nonce_twice() -> Result<(), String> {
    let points = sweep::points(&scenario::PAGES, 1).map_err(|failure| failure.to_string())?;
    let mut seen = BTreeMap::new();
    for point in points {
        let disk = point.disk.crash_image(&mut Rng::new(1), CrashStyle::KeepAll);
        for path in media::files(&disk).iter().filter(|path| path.starts_with("/system/data")) {
            for block in 0..disk.len_raw(path) / 4096 {
                let page = disk.read_raw(path, block * 4096, 4096);
                let Ok(trailer) = PageSealer::trailer(&page) else { continue };
                let nonce = (path.clone(), trailer.salt.0, trailer.counter);
                let content = (block, base::hash::bytes(&page));
                if *seen.entry(nonce).or_insert(content) != content {
                    let name = path.display();
                    let counter = trailer.counter;
                    return Err(format!("{name}: counter {counter} sealed two pages"));
                }
            }
        }
    }
    Ok(())
}

/// A page that says that it is plain, with the right checksum, is none in a sealed data set (K4).
///
/// # Errors
/// If it is accepted.
pub fn plain_is_refused() -> Result<(), String> {
    let make = Make::small();
    let rested = media::stopped(&make, 1);
    let (claim, disk) = (rested.claim, rested.disk);
    let medium = disk.clone();
    let accepted = verify::run(1, &disk, move |seam| {
        let parts = claim.make.parts(seam.clone());
        let keys: Arc<dyn KeyProvider> = Arc::new(TestKeys::new(7));
        let set = DataSetId(2);
        let generation = KeyGeneration(0);
        let entropy = Arc::clone(&seam.entropy);
        let forger =
            PageSealer::new(keys, entropy, parts.system, set, "data", Format::Plain, generation);
        let kernel = claim.make.open(seam)?;
        let one = kernel.set(set).ok_or_else(|| "there is no second data set".to_owned())?;
        let ci = CiNumber(5);
        let mut page = seam::mem::AlignedBuf::zeroed(one.unit_bytes());
        forger.seal(ci, &mut page).map_err(|error| error.to_string())?;
        let path = format!("/system/{}", one.definition().file_name(0));
        medium.write_raw(path, u64::from(ci.0) * page.len() as u64, &page);
        Ok(one.read_past_pool(ci, &mut page).is_ok())
    });
    match accepted {
        Ok(false) => Ok(()),
        Ok(true) => Err("a plain page was accepted in a sealed data set".into()),
        Err(why) => Err(why.to_string()),
    }
}

/// Copies of the log come back; the places of crashes differ.
fn copies_come_back() -> Result<(), String> {
    (0..3).try_for_each(|round| archive::resyncs(round, 4, false).map(drop))
}

/// A machine that only logs: it writes no page and takes no checkpoint while it works.
fn logger() -> Make {
    Make {
        frames: 512,
        segment_bytes: 1 << 20,
        segments_max: 4,
        redo_bytes_max: 1 << 30,
        checkpoint_bytes: 1 << 30,
        ..Make::small()
    }
}

const LOG_FILE: &str = "/log1/segment-000.stripe-0";

/// A damaged group that others follow is not the end of the log (K7).
///
/// # Errors
/// If it is taken for it.
pub fn damage_is_no_end() -> Result<(), String> {
    let rested = media::crashed(&logger(), 1);
    let groups = groups_of(&rested.disk);
    let inner = &groups[2..groups.len() - 8];
    for (number, group) in inner.iter().enumerate().step_by(3) {
        let disk = rested.disk.snapshot();
        disk.corrupt(LOG_FILE, group.offset + 130, &[0x10]);
        media::meet(&rested, &disk, number as u64)?;
    }
    Ok(())
}

/// A group in a log file, as its header says.
struct Group {
    offset: u64,
    number: u64,
    begins_salt: bool,
}

fn groups_of(disk: &SimDisk) -> Vec<Group> {
    let blocks = 1..disk.len_raw(LOG_FILE) / 4096;
    let headers = blocks.map(|block| (block * 4096, disk.read_raw(LOG_FILE, block * 4096, 128)));
    headers
        .filter(|(_, header)| header.starts_with(b"HFLG"))
        .map(|(offset, header)| Group {
            offset,
            number: base::bytes::get_u64(&header, 48),
            begins_salt: header[7] & 1 != 0,
        })
        .collect()
}

fn recovered_to_points() -> Result<(), String> {
    (1..=8).try_for_each(|seed| crate::recovery::every_point(seed, 1).map(drop))
}

/// Two systems go on from one disk; the tail of the second one's log is put behind the first one's.
/// Each group of that tail is genuine and stands where it could stand; only the chain tells.
///
/// # Errors
/// If it is taken for the first one's.
pub fn a_foreign_tail_is_refused() -> Result<(), String> {
    for seed in 1..=8 {
        let rested = media::stopped(&logger(), seed);
        let claim = |history| Claim { history, ..rested.claim.clone() };
        let (one, other) = (claim(rested.claim.history.fork()), claim(rested.claim.history.fork()));
        let first = go_on(&one, &rested.disk, seed * 10, 0..12)?;
        let second = go_on(&other, &rested.disk, seed * 10 + 1, 0..1)?;
        let second = go_on(&other, &second, seed * 10 + 2, 1..12)?;
        let tail = groups_of(&second).into_iter().rfind(|group| group.begins_salt);
        let tail = tail.ok_or_else(|| "there is no tail".to_owned())?;
        let meets = |group: &Group| (group.offset, group.number) == (tail.offset, tail.number);
        if !groups_of(&first).iter().any(meets) {
            continue;
        }
        let len = second.len_raw(LOG_FILE) - tail.offset;
        let bytes = second.read_raw(LOG_FILE, tail.offset, len as usize);
        first.write_raw(LOG_FILE, tail.offset, &bytes);
        let moment = one.history.moment();
        let spliced = Rested {
            claim: Claim { moment, ..one },
            disk: first.snapshot(),
            earlier: first.snapshot(),
        };
        media::meet(&spliced, &first, seed)?;
    }
    Ok(())
}

/// One more life: some records get new values, then the machine crashes.
fn go_on(
    claim: &Claim,
    disk: &SimDisk,
    seed: u64,
    numbers: std::ops::Range<u64>,
) -> Result<SimDisk, String> {
    let disk = disk.snapshot();
    let claim = claim.clone();
    let done = verify::run(seed, &disk, move |seam| {
        let kernel = claim.make.open(seam)?;
        let world = World::new(kernel, claim.history, claim.make);
        let one = world.set("one");
        for n in numbers {
            world.commit(|work| work.put(&one, &key(n), &value(n, seed, 100)))?;
        }
        Ok(())
    });
    done.map_err(|why| why.to_string())?;
    Ok(disk.crash_image(&mut Rng::new(seed), CrashStyle::DropAll))
}
