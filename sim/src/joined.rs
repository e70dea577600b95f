//! Image copies of which both files are damaged: what one has lost the other one gives, wherever
//! that is; what both have lost is named, and nothing is changed.

use std::path::{Path, PathBuf};

use recovery::Target;
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
}

/// Damages both files of each image copy in random places, and recovers.
///
/// # Errors
/// If something else comes back than was there, or nothing although files have lost nothing in one
/// place, or a recovery that is refused has changed anything.
pub fn files_give_together_what_each_has_lost(seed: u64) -> Result<Joined, String> {
    let chronicle = chronicle(seed)?;
    let (ground, mut joined) = (chronicle.ground, Joined::default());
    let now = &chronicle.states.last().ok_or("nothing was done")?.1;
    for round in 0..ROUNDS {
        let (disk, apart) = (chronicle.disk.snapshot(), round % 2 == 0);
        let mut rng = Rng::stream(seed * ROUNDS + round, "joined");
        ["copy-1", "copy-2"].iter().for_each(|name| damage(&disk, name, apart, &mut rng));
        let recovered = run(seed, &disk, |seam| {
            let site = Site::open(&seam, ground, false, &[])?;
            let recovered = match site.recover(&NAMES, Target::Now) {
                Ok(_) => true,
                Err(why) if !apart && why.starts_with("HFV004") => false,
                Err(why) => return Err(format!("round {round}: {why}")),
            };
            compare(&site.contents()?, now).map_err(|why| format!("round {round}: {why}"))?;
            site.close().map(|()| recovered)
        })?;
        match recovered.ok_or("the machine crashed by itself")? {
            true => joined.recovered += 1,
            false => joined.refused += 1,
        }
    }
    Ok(joined)
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
