//! Image copies on a machine that crashes: a copy that RECON knows is whole, in each of its files,
//! and brings back what was committed.

use recovery::{CopyFiles, Target};
use seam::Seam;
use seam::sim::{CrashStyle, Rng, SimDisk};

use crate::recovery::{Ground, Model, NAMES, Site, Writer, coded, compare, keys_of, run};

const STYLES: [CrashStyle; 3] = [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::Random];

/// A system at rest, and what it holds.
fn at_rest(seed: u64, ground: Ground) -> Result<(SimDisk, Model), String> {
    let disk = SimDisk::new();
    let lived = run(seed, &disk, |seam| {
        let site = Site::open(&seam, ground, true, &[])?;
        let mut writer = Writer::new(&site, Rng::stream(seed, "copied"), Model::new());
        (0..8).try_for_each(|_| writer.step())?;
        writer.end()?;
        let model = writer.model.clone();
        drop(writer);
        site.close()?;
        Ok(model)
    })?;
    disk.settle();
    Ok((disk, lived.ok_or("the machine crashed by itself")?))
}

/// Makes a copy, and one that goes on from it, with a change in between.
fn copy_twice(seam: &Seam, ground: Ground) -> Result<(), String> {
    let site = Site::open(seam, ground, false, &[])?;
    let full = site.copy("/copies/1", None)?;
    let mut writer = Writer::new(&site, Rng::new(1), Model::new());
    writer.small_step()?;
    site.copy("/copies/2", Some(full.number))?;
    Ok(())
}

/// Proves every file of each copy that counts, and recovers from them. Returns how many count.
fn prove(seam: &Seam, ground: Ground, before: &Model) -> Result<usize, String> {
    let site = Site::open(seam, ground, false, &[])?;
    let keys = keys_of(&ground.make().parts(seam.clone()));
    let state = site.recon.state();
    for copy in state.image_copies.values() {
        for file in &copy.files {
            let described = |why: String| format!("image copy {} counts: {why}", copy.number);
            let info = CopyFiles::verify(seam, &file.path, &keys, &mut |_, _| ());
            if info.map_err(|error| described(coded(error)))?.tag != copy.tag {
                return Err(described(format!("{} is another one", file.path.display())));
            }
        }
    }
    let found = site.contents()?;
    let unchanged: Model = found
        .iter()
        .filter(|((_, key), _)| key != b"s999")
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    compare(&unchanged, before)?;
    if !state.image_copies.is_empty() {
        site.recover(&NAMES, Target::Now)?;
        compare(&site.contents()?, &found)?;
    }
    site.close()?;
    Ok(state.image_copies.len())
}

/// Crashes at every `stride`th write of two copies. Returns how many crashes there were, and how
/// often a copy counted after one.
///
/// # Errors
/// The first broken promise.
pub fn every_crash(seed: u64, stride: u64) -> Result<(u64, usize), String> {
    let ground = Ground::of(seed);
    let (base, before) = at_rest(seed, ground)?;
    let (mut crashes, mut counted) = (0, 0);
    for n in (1 + seed % stride..).step_by(stride as usize) {
        let disk = base.snapshot();
        disk.crash_after(n);
        if run(n, &disk, |seam| copy_twice(&seam, ground))?.is_some() {
            break;
        }
        crashes += 1;
        for style in STYLES {
            let disk = disk.crash_image(&mut Rng::new(n), style);
            let proven = run(n + 1, &disk, |seam| prove(&seam, ground, &before));
            let proven = proven.map_err(|why| format!("crash at write {n}, {style:?}: {why}"))?;
            counted += proven.ok_or("the machine crashed by itself")?;
        }
    }
    Ok((crashes, counted))
}
