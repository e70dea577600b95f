//! Recovery to random points of random histories (see `recovery`): what comes back equals what was
//! committed there.

use base::Lsn;
use recovery::Target;
use seam::sim::Rng;

use crate::recovery::{Chronicle, Model, NAMES, Site, chronicle, compare, run};

/// Recovers both sets to random points of random histories, and compares with what was committed
/// there: so many points at least. Returns the seed behind the last one.
///
/// # Errors
/// The first point at which something else came back, and the seed.
pub fn random_points(from: u64, points: u64) -> Result<u64, String> {
    let (mut seed, mut done) = (from, 0);
    while done < points {
        let chronicle = chronicle(seed).map_err(|why| format!("seed {seed}: {why}"))?;
        let mut rng = Rng::stream(seed, "points");
        let last = chronicle.states.last().map_or(chronicle.copied, |(lsn, _)| *lsn);
        for _ in 0..POINTS_EACH.min(points - done) {
            let span = last.0.saturating_sub(chronicle.copied.0).max(1);
            let point = chronicle.copied.plus(rng.below(span));
            let at = format!("seed {seed}, to {point}");
            let found = recovered(&chronicle, seed, point).map_err(|why| format!("{at}: {why}"))?;
            let matched = matches(&chronicle.states, point, &found);
            matched.map_err(|why| format!("{at}: {why}"))?;
            done += 1;
        }
        seed += 1;
    }
    Ok(seed)
}

/// Points in one history.
const POINTS_EACH: u64 = 20;

/// What is there after a recovery to a point.
fn recovered(chronicle: &Chronicle, seed: u64, to: Lsn) -> Result<Model, String> {
    let disk = chronicle.disk.snapshot();
    let done = run(seed, &disk, |seam| {
        let site = Site::open(&seam, chronicle.ground, false, &[])?;
        site.recover(&NAMES, Target::Lsn(to))?;
        let found = site.contents()?;
        site.close()?;
        Ok(found)
    })?;
    done.ok_or_else(|| "the machine crashed by itself".into())
}

/// Whether this was there at a position: after the newest commit that was noted by then, or after
/// the next one, whose record may be before the position although it was noted behind it.
pub(crate) fn matches(states: &[(Lsn, Model)], lsn: Lsn, found: &Model) -> Result<(), String> {
    let behind = states.iter().find(|(at, _)| *at > lsn);
    if behind.is_some_and(|(_, model)| model == found) {
        return Ok(());
    }
    let before = states.iter().rev().find(|(at, _)| *at <= lsn);
    before.map_or(Ok(()), |(_, model)| compare(found, model))
}
