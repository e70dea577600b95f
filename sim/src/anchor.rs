//! The anchor through crashes, and against systems that were put back (K6).
//!
//! A system lives some lives; at the end of each its folder is copied. The last life is crashed at
//! every write: an honest system is never refused. Then each older copy is put in the place of the
//! system, with the anchor that the last life left: each is refused, however well log, control file
//! and data sets of the copy fit together.

use std::path::{Path, PathBuf};

use seam::Seam;
use seam::disk::make_dir;
use seam::sim::{self, CrashStyle, End, Rng, SimConfig, SimDisk};
use uow::{AnchorPlan, Kernel, KernelConfig, UowError};

use crate::machine::Make;
use crate::media;

const ELSEWHERE: &str = "/elsewhere";
const LIVES: usize = 3;
/// Checkpoints of a life besides those of its start and its end.
const CHECKPOINTS: usize = 2;
const STYLES: [CrashStyle; 4] =
    [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::Random, CrashStyle::TearAll];

fn config(replaces: bool) -> KernelConfig {
    let path = Path::new(ELSEWHERE).join("anchor");
    KernelConfig { anchor: Some(AnchorPlan { path, replaces }), ..Make::small().config() }
}

/// One life, to its end or to a crash.
fn live(disk: &SimDisk, seed: u64, replaces: bool) -> Result<bool, UowError> {
    let mut lived = Ok(());
    let outcome = sim::run(SimConfig::new(seed), disk.clone(), |seam| {
        lived = open(&seam, replaces).and_then(|kernel| {
            for _ in 0..CHECKPOINTS {
                kernel.checkpoint_now(false)?;
            }
            kernel.close()
        });
    });
    match outcome.end {
        End::Crashed => Ok(true),
        End::Completed => lived.map(|()| false),
        _ => panic!("{outcome}"),
    }
}

fn open(seam: &Seam, replaces: bool) -> Result<std::sync::Arc<Kernel>, UowError> {
    Kernel::open(Make::small().parts(seam.clone()), config(replaces))
}

/// The system after each of its lives.
fn lives() -> Result<Vec<SimDisk>, String> {
    let disk = SimDisk::new();
    sim::run(SimConfig::new(1), disk.clone(), |seam| {
        make_dir(seam.disk.as_ref(), Path::new(ELSEWHERE)).expect("an empty disk takes it");
        Make::small().create(&seam).expect("an empty disk takes it");
    })
    .expect_completed();
    disk.settle();
    match live(&disk, 2, false) {
        Err(UowError::Anchor { .. }) => {}
        other => return Err(format!("a system without its anchor: {other:?}")),
    }
    let mut states = Vec::new();
    for life in 0..LIVES {
        live(&disk, 3 + life as u64, life == 0).map_err(|error| format!("life {life}: {error}"))?;
        disk.settle();
        states.push(disk.snapshot());
    }
    Ok(states)
}

/// Crashes at every write of a life; see the head of this file.
///
/// # Errors
/// An honest system that is refused.
pub fn every_crash() -> Result<(), String> {
    let states = lives()?;
    let base = states.last().ok_or("it has lived")?;
    for n in 1.. {
        let disk = base.snapshot();
        disk.crash_after(n);
        let refused = |error: UowError| format!("crash at write {n}: {error}");
        if !live(&disk, n, false).map_err(refused)? {
            return Ok(());
        }
        for (turn, style) in STYLES.into_iter().enumerate() {
            let seed = n * 8 + turn as u64;
            let image = disk.crash_image(&mut Rng::new(seed), style);
            live(&image, seed, false).map_err(refused)?;
        }
    }
    Ok(())
}

/// Puts older states back; see the head of this file.
///
/// # Errors
/// One that was opened.
pub fn what_was_put_back_is_refused() -> Result<(), String> {
    let states = lives()?;
    let (last, older) = states.split_last().ok_or("it has lived")?;
    for (life, old) in older.iter().enumerate() {
        let disk = last.snapshot();
        for path in files_of_system(&disk) {
            disk.lose(&path);
        }
        for path in files_of_system(old) {
            disk.take_from(old, &path);
        }
        match live(&disk, 50, false) {
            Err(UowError::Anchor { .. }) => {}
            Err(error) => return Err(format!("the state after life {life}: {error}")),
            Ok(_) => return Err(format!("the state after life {life} was opened")),
        }
        live(&disk, 51, true).map_err(|error| format!("beginning anew: {error}"))?;
        live(&disk, 52, false).map_err(|error| format!("after beginning anew: {error}"))?;
    }
    gone_on_from_an_older_state(last)
}

/// A copy that has gone on by itself has the anchor's number, and another block under it.
fn gone_on_from_an_older_state(last: &SimDisk) -> Result<(), String> {
    let (one, other) = (last.snapshot(), last.snapshot());
    for (disk, seed) in [(&one, 60), (&other, 61)] {
        live(disk, seed, false).map_err(|error| error.to_string())?;
        disk.settle();
    }
    other.take_from(&one, Path::new(ELSEWHERE).join("anchor"));
    match live(&other, 62, false) {
        Err(UowError::Anchor { .. }) => Ok(()),
        other => Err(format!("a copy that went on by itself: {other:?}")),
    }
}

fn files_of_system(disk: &SimDisk) -> Vec<PathBuf> {
    let mut files = media::files(disk);
    files.retain(|path| !path.starts_with(ELSEWHERE));
    files
}
