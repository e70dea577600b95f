//! A data set whose file is lost, and that nothing brings back, is given up: whatever crashes
//! meanwhile, the others have exactly what was committed, and another one may take its name.

use std::path::Path;

use seam::sim::{CrashStyle, Rng, SimDisk};
use store::{SetAttributes, Store as _, Unit as _, UnitOptions};

use crate::recovery::{Ground, Model, NAMES, Site, coded, compare, one_is_lost, run};

const LOST: &str = NAMES[0];
const NEW: (&[u8], &[u8]) = (b"new", b"in its place");

/// Crashes at each write of a start without the data set, its end, and the making of another one
/// of its name; then does what is left of that.
///
/// # Errors
/// The first broken promise.
pub fn every_crash(seed: u64, stride: u64) -> Result<u64, String> {
    let (lost, ground, expected) = one_is_lost(seed)?;
    let rest: Model = expected.into_iter().filter(|((set, _), _)| *set == 1).collect();
    let (mut n, mut points) = (1 + seed % stride, 0);
    loop {
        let disk = lost.snapshot();
        disk.crash_after(n);
        let whole = run(n, &disk, |seam| {
            let mut site = Site::open(&seam, ground, false, &[LOST])?;
            give_up(&mut site)?;
            site.close()
        })?;
        let style = [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::Random][n as usize % 3];
        let disk = disk.crash_image(&mut Rng::new(n), style);
        finished(n, &disk, ground, &rest).map_err(|why| format!("crash at write {n}: {why}"))?;
        points += 1;
        if whole.is_some() {
            return Ok(points);
        }
        n += stride;
    }
}

/// Gives the data set up, makes another one of its name and puts something into it, as far as that
/// is not done.
fn give_up(site: &mut Site) -> Result<(), String> {
    let store = &site.store;
    let gone = store.kernel().drop_offline_set(LOST).map_err(coded)?;
    let set = match store.set(LOST).map_err(coded)? {
        Some(_) if gone => return Err(format!("{LOST} was offline and in use")),
        Some(set) => set,
        None => store.create_set(LOST, &SetAttributes::default()).map_err(coded)?,
    };
    let mut unit = store.begin(UnitOptions::default()).map_err(coded)?;
    unit.put(set, NEW.0, NEW.1).map_err(coded)?;
    unit.commit().map_err(coded)?;
    site.find_sets()
}

/// Goes on behind a crash, and looks at what there is, before and after a restart.
fn finished(n: u64, disk: &SimDisk, ground: Ground, rest: &Model) -> Result<(), String> {
    let mut expected = rest.clone();
    expected.insert((0, NEW.0.to_vec()), NEW.1.to_vec());
    // As long as the log says nothing of it, the lost file keeps the system from starting.
    let knows =
        run(n + 1, &disk.snapshot(), |seam| Site::open(&seam, ground, false, &[]).map(drop));
    let without: &[&str] = if knows.is_ok() { &[] } else { &[LOST] };
    let done = run(n + 2, disk, |seam| {
        let mut site = Site::open(&seam, ground, false, without)?;
        give_up(&mut site)?;
        compare(&site.contents()?, &expected)?;
        site.close()
    })?;
    done.ok_or("the machine crashed by itself")?;
    // What the crash has torn nobody can tell from another system's: it is set aside.
    let is_aside = |path: &Path| path.to_string_lossy().ends_with(".aside");
    let files = disk.paths().into_iter();
    let files = files.filter(|path| path.to_string_lossy().contains(LOST) && !is_aside(path));
    if files.count() != 1 {
        return Err(format!("a file of {LOST} from before is left"));
    }
    run(n + 3, disk, |seam| compare(&Site::open(&seam, ground, false, &[])?.contents()?, &expected))
        .map(drop)
}
