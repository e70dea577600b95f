//! Image copies of which both files are damaged: what one has lost the other one gives, wherever
//! that is; what both have lost a newer copy of the chain may have, and nobody else needs it;
//! otherwise it is named, and nothing is changed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use base::CiNumber;
use recon::ImageCopy;
use recovery::{CopyInfo, CopyReader, CopyVisitor, RecoveryError, Target};
use seam::Seam;
use seam::sim::{Rng, SimDisk};

use crate::recovery::{NAMES, Site, chronicle, compare, run};

/// Between places that are hit in different files, if no piece and no interval shall be in both.
const APART: u64 = 16 << 10;
/// A chronicle is damaged so often.
const ROUNDS: u64 = 12;

/// How recoveries from damaged files ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct Joined {
    /// Recoveries that brought everything back although both files were damaged.
    pub recovered: u32,
    /// Those that were refused.
    pub refused: u32,
    /// Recoveries from chains whose older copy had lost intervals that the newer one held.
    pub forgiven: u32,
}

/// Where files are damaged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    /// Both files of each copy, nowhere in the same piece or interval.
    Apart,
    /// Both files of each copy, anywhere.
    Anywhere,
    /// Both files of one copy, mostly the older one, in the same places.
    Together,
}

/// Damages both files of each image copy in random places, and recovers.
///
/// # Errors
/// If something else comes back than was there, or nothing although files have lost nothing in one
/// place, or a recovery that is refused has changed anything.
pub fn files_give_together_what_each_has_lost(seed: u64) -> Result<Joined, String> {
    rounds(seed, &[Where::Apart, Where::Anywhere])
}

/// Damages one of two copies of a chain, mostly the older one, in both files, and recovers.
///
/// # Errors
/// If something else comes back than was there, or nothing although the newer copy holds what the
/// older one has lost, or a recovery that is refused has changed anything.
pub fn what_is_lost(seed: u64) -> Result<Joined, String> {
    rounds(seed, &[Where::Together])
}

fn rounds(seed: u64, places: &[Where]) -> Result<Joined, String> {
    let chronicle = chronicle(seed)?;
    let (ground, mut joined) = (chronicle.ground, Joined::default());
    let now = &chronicle.states.last().ok_or("nothing was done")?.1;
    for round in 0..ROUNDS {
        let (disk, at) = (chronicle.disk.snapshot(), places[round as usize % places.len()]);
        let mut rng = Rng::stream(seed * ROUNDS + round, "joined");
        if at == Where::Together {
            let name = if round % 3 == 2 { "copy-2" } else { "copy-1" };
            damage_together(&disk, name, &mut rng);
        } else {
            let apart = at == Where::Apart;
            ["copy-1", "copy-2"].iter().for_each(|name| damage(&disk, name, apart, &mut rng));
        }
        let recovered = run(seed, &disk, |seam| {
            let site = Site::open(&seam, ground, false, &[])?;
            let (must, forgiven) = judged(&seam, &site)?;
            let must = must || at == Where::Apart;
            let recovered = match site.recover(&NAMES, Target::Now) {
                Ok(_) => true,
                // A name of the system that is hit in both files looks like another's.
                Err(why)
                    if !must && ["HFV004", "HFV006"].iter().any(|code| why.starts_with(code)) =>
                {
                    false
                }
                Err(why) => return Err(format!("round {round}: {why}")),
            };
            compare(&site.contents()?, now).map_err(|why| format!("round {round}: {why}"))?;
            site.close().map(|()| (recovered, forgiven))
        })?;
        let (recovered, forgiven) = recovered.ok_or("the machine crashed by itself")?;
        joined.recovered += u32::from(recovered);
        joined.refused += u32::from(!recovered);
        joined.forgiven += u32::from(recovered && forgiven);
    }
    Ok(joined)
}

/// What a copy holds, and what it has lost.
#[derive(Default)]
struct Held {
    used: BTreeSet<(usize, CiNumber)>,
    held: BTreeSet<(usize, CiNumber)>,
    lost: BTreeSet<(usize, CiNumber)>,
}

impl CopyVisitor for Held {
    fn begin(&mut self, _: &CopyInfo) -> Result<(), RecoveryError> {
        *self = Held::default();
        Ok(())
    }
    fn wants(&self, _: usize) -> bool {
        true
    }
    fn used(&mut self, set: usize, ci: CiNumber, used: bool) -> Result<(), RecoveryError> {
        if used {
            self.used.insert((set, ci));
        }
        Ok(())
    }
    fn interval(&mut self, set: usize, ci: CiNumber, _: &[u8]) -> Result<(), RecoveryError> {
        self.held.insert((set, ci));
        Ok(())
    }
    fn lost(&mut self, set: usize, ci: CiNumber, _: RecoveryError) -> Result<(), RecoveryError> {
        self.lost.insert((set, ci));
        Ok(())
    }
    fn progress(&mut self, _: u64, _: u64) {}
}

/// Whether the chain has every interval that a recovery needs, and whether the older copy has lost
/// some of those that the newer one holds or does not call used.
fn judged(seam: &Seam, site: &Site) -> Result<(bool, bool), String> {
    let state = site.recon.state();
    let read = |copy: &ImageCopy| {
        let mut held = Held::default();
        let reader = CopyReader::open_joined(seam, &copy.files[0].path, copy, &site.keys);
        reader.and_then(|reader| reader.read(&mut held)).ok().map(|_| held)
    };
    let mut copies = state.image_copies.values().map(read);
    let (Some(Some(old)), Some(Some(new))) = (copies.next(), copies.next()) else {
        return Ok((false, false));
    };
    let is_needed = |at: &&(usize, CiNumber)| new.used.contains(at) && !new.held.contains(at);
    let owed = old.lost.iter().filter(is_needed).count() + new.lost.len();
    Ok((owed == 0, owed == 0 && !old.lost.is_empty()))
}

/// Damages both files of a copy in the same places.
fn damage_together(disk: &SimDisk, name: &str, rng: &mut Rng) {
    let files = ["/", "/second/"].map(|folder| PathBuf::from(format!("{folder}{name}")));
    let bytes = disk.len_raw(&files[0]);
    for _ in 0..=rng.below(2) {
        let at = rng.below(bytes);
        files.iter().for_each(|path| flip(disk, path, at, rng));
    }
}

/// Damages both files of a copy.
fn damage(disk: &SimDisk, name: &str, apart: bool, rng: &mut Rng) {
    let files = ["/", "/second/"].map(|folder| PathBuf::from(format!("{folder}{name}")));
    let bytes = disk.len_raw(&files[0]);
    for (file, path) in (0..).zip(&files) {
        for _ in 0..=rng.below(3) {
            let at = match apart {
                true => {
                    let slot = 2 * rng.below((bytes / (2 * APART)).max(1)) + file;
                    slot * APART + rng.below(64)
                }
                false => rng.below(bytes),
            };
            flip(disk, path, at.min(bytes - 1), rng);
        }
    }
}

fn flip(disk: &SimDisk, path: &Path, at: u64, rng: &mut Rng) {
    let was = disk.read_raw(path, at, 1)[0];
    disk.write_raw(path, at, &[was ^ (1 << rng.below(8))]);
}
