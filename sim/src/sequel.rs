//! Recoveries in any order: to the end, to points behind other recoveries and in front of them,
//! with work and copies in between. What was taken back never returns by itself.

use recovery::Target;
use seam::sim::Rng;

use crate::recovery::{NAMES, Site, Writer, chronicle, compare, run};

const DEEDS: u64 = 10;

/// Recoveries, work and copies in a random order; after each recovery both data sets hold what
/// they should, and so they do at the end after a restart.
///
/// # Errors
/// The first broken promise.
pub fn any_order(seed: u64) -> Result<(), String> {
    let chronicle = chronicle(seed)?;
    let (ground, disk) = (chronicle.ground, chronicle.disk.snapshot());
    let mut now = chronicle.states.last().ok_or("nothing was done")?.1.clone();
    // The points that count, and what is there.
    let mut line = chronicle.states;
    line.retain(|(lsn, _)| *lsn >= chronicle.copied);
    let mut rng = Rng::stream(seed, "sequel");
    let done = run(seed, &disk, |seam| {
        let site = Site::open(&seam, ground, false, &[])?;
        for deed in 0..DEEDS {
            let described = |why: String| format!("deed {deed}: {why}");
            match rng.index(4) {
                0 => {
                    site.recover(&NAMES, Target::Now).map_err(described)?;
                    compare(&site.contents()?, &now).map_err(described)?;
                }
                1 => {
                    line.truncate(1 + rng.index(line.len()));
                    let (lsn, model) = line.last().ok_or("no point is left")?;
                    site.recover(&NAMES, Target::Lsn(*lsn)).map_err(described)?;
                    compare(&site.contents()?, model).map_err(described)?;
                    now = model.clone();
                }
                2 if deed > 0 => drop(site.copy(&format!("/sequel-{deed}"), None)?),
                _ => {
                    let stream = Rng::stream(seed + deed, "work");
                    let mut writer = Writer::new(&site, stream, now.clone());
                    (0..4).try_for_each(|_| writer.step())?;
                    writer.end()?;
                    now = writer.model.clone();
                    line.append(&mut writer.states);
                }
            }
        }
        site.recover(&NAMES, Target::Now)?;
        compare(&site.contents()?, &now).map_err(|why| format!("at the end: {why}"))?;
        site.close()?;
        Ok(now)
    })?;
    let expected = done.ok_or("the machine crashed by itself")?;
    let again = run(seed + 1, &disk, |seam| {
        compare(&Site::open(&seam, ground, false, &[])?.contents()?, &expected)
    });
    again.map(|_| ())
}
