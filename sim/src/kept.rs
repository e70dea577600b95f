//! Log that a recovery or a backout under way reads: it stays until that is done, although a newer
//! copy ends meanwhile and policy deletes what only older ones need. And log that a recovery to a
//! point has made void: nobody needs it any more.

use archive::{Cure, Keep, LogBegins, audit};
use base::Lsn;
use recon::{DataSetEntry, Protection, Record};
use recovery::{Target, log_filter};
use seam::sim::{Rng, SimDisk};
use store::{Store, Unit, UnitOptions};

use crate::backout::{Interrupted, back_out_reading};
use crate::recovery::{Ground, Model, NAMES, Site, Writer, coded, compare, run};

/// RECON knows the data sets as they are now.
fn tell_recon(site: &Site) -> Result<(), String> {
    let recorded = site.recon.change(|state| {
        let mut news: Vec<Record> = state.sets.keys().copied().map(Record::SetGone).collect();
        news.extend(site.store.kernel().all_sets().iter().map(|set| {
            Record::Set(DataSetEntry {
                set: set.id(),
                name: set.name().to_owned(),
                protection: Protection::Sealed,
                label: set.definition().label.clone(),
                generations: Vec::new(),
                made: Lsn::NONE,
            })
        }));
        (news, ())
    });
    recorded.map_err(coded)
}

/// Policy deletes whatever it may. Returns how many archives went.
fn expire(site: &Site) -> Result<usize, String> {
    tell_recon(site)?;
    let archiver = site.archiver.as_ref().ok_or("there is no archiver")?;
    archiver.archive_now().map_err(coded)?;
    let keep = Keep { files: Some(1), time: None };
    let expired = archiver.catalog().expired(&keep, site.recon.log_needed_from());
    for copy in &expired {
        archiver.catalog().delete(copy.info.from, &**archiver.registry()).map_err(coded)?;
    }
    Ok(expired.len())
}

/// Whether archives were deleted that had been held before.
fn some_expired(lived: Option<usize>) -> Result<(), String> {
    match lived {
        Some(0) => Err("nothing expires afterwards either".into()),
        Some(_) => Ok(()),
        None => Err("the machine crashed by itself".into()),
    }
}

/// Policy deletes archives, and a newer copy ends, while data sets are recovered from an older one.
///
/// # Errors
/// If the recovery lacks log, something is not as it was, or the archives stay afterwards, too.
pub fn archives_expire_meanwhile(seed: u64) -> Result<(), String> {
    let ground = Ground { archived: true };
    let lived = run(seed, &SimDisk::new(), |seam| {
        let site = Site::open(&seam, ground, true, &[])?;
        let mut writer = Writer::new(&site, Rng::stream(seed, "kept"), Model::new());
        (0..4).try_for_each(|_| writer.step())?;
        site.copy("/copy", None)?;
        (0..50).try_for_each(|_| writer.step())?;
        writer.end()?;
        let mut meanwhile = None;
        let done = site.recover_while(&NAMES, Target::Now, &mut |_| {
            if meanwhile.is_none() {
                let copied = site.copy("/late", None);
                meanwhile = Some(copied.and_then(|_| expire(&site)));
            }
        });
        meanwhile.ok_or("nobody came in between")??;
        done.map_err(coded)?;
        compare(&site.contents()?, &writer.model)?;
        drop(writer);
        let expired = expire(&site)?;
        site.close().map(|()| expired)
    })?;
    some_expired(lived)
}

/// Policy deletes archives while a unit of work is backed out that stands in them alone.
///
/// # Errors
/// If the backout lacks log, something is not as it was, or the archives stay afterwards, too.
pub fn archives_expire_while_work_is_taken_back(seed: u64) -> Result<(), String> {
    let ground = Ground { archived: true };
    let lived = run(seed, &SimDisk::new(), |seam| {
        let site = Site::open(&seam, ground, true, &[])?;
        let mut writer = Writer::new(&site, Rng::stream(seed, "taken back"), Model::new());
        (0..4).try_for_each(|_| writer.step())?;
        let mut unit = site.store.begin(UnitOptions::default()).map_err(coded)?;
        unit.put(site.sets[0], b"wrong", b"taken back").map_err(coded)?;
        let (wrong, at) = (unit.uow().id(), site.store.kernel().log().next_lsn());
        unit.commit().map_err(coded)?;
        until_used_again(&mut writer, at)?;
        writer.end()?;
        site.copy("/late", None)?;
        let mut meanwhile = Ok(0);
        let history = Interrupted::at(1, site.history(), || meanwhile = expire(&site));
        let done = back_out_reading(&site, &history, &[wrong], false);
        drop(history);
        meanwhile?;
        done?;
        compare(&site.contents()?, &writer.model)?;
        drop(writer);
        let expired = expire(&site)?;
        site.close().map(|()| expired)
    })?;
    some_expired(lived)
}

/// Goes on until the log does not have a position any more.
fn until_used_again(writer: &mut Writer<'_>, lsn: Lsn) -> Result<(), String> {
    for _ in 0..1_000 {
        if writer.site.store.kernel().log().oldest() > lsn {
            return Ok(());
        }
        writer.step()?;
    }
    Err("the log is not used again".into())
}

/// Merges what was archived from a position on. Returns where that ends.
fn merge(site: &Site, from: Lsn) -> Result<Lsn, String> {
    let archiver = site.archiver.as_ref().ok_or("there is no archiver")?;
    archiver.archive_now().map_err(coded)?;
    let (catalog, registry) = (archiver.catalog(), &**archiver.registry());
    let to = catalog.newest().ok_or("nothing is archived")?.info.whole;
    let ids: Vec<_> = site.store.kernel().all_sets().iter().map(|set| set.id()).collect();
    catalog.accumulate(&ids, from..to, log_filter, registry, &mut |_| Ok(())).map_err(coded)?;
    Ok(to)
}

/// What archives lack that recoveries need.
fn lacking(site: &Site) -> Result<Vec<String>, String> {
    let archiver = site.archiver.as_ref().ok_or("there is no archiver")?;
    let segments = site.store.kernel().log().segments();
    let begins =
        |oldest: &wal::SegmentInfo| LogBegins { group: oldest.first_group, lsn: oldest.first };
    let found = audit(archiver.catalog(), &site.recon.state(), segments.first().map(begins));
    let lacking = found.into_iter().filter(|one| one.cure == Cure::Copies);
    Ok(lacking.map(|one| one.why).collect())
}

/// Data sets go back to a point that an accumulation leads to, in front of a newer copy; and policy
/// has deleted the archives behind the point. What they held is void then.
///
/// # Errors
/// If a recovery to now, or the audit of the archives, misses what is void, or something is not as
/// it was.
pub fn void_log_may_be_gone(seed: u64) -> Result<(), String> {
    let ground = Ground { archived: true };
    let lived = run(seed, &SimDisk::new(), |seam| {
        let site = Site::open(&seam, ground, true, &[])?;
        let mut writer = Writer::new(&site, Rng::stream(seed, "void"), Model::new());
        (0..4).try_for_each(|_| writer.step())?;
        let early = site.copy("/early", None)?;
        (0..10).try_for_each(|_| writer.step())?;
        let point = merge(&site, early.start)?;
        let before = writer.states.iter().rev().find(|(lsn, _)| *lsn <= point);
        let then = before.ok_or("nothing was committed before")?.1.clone();
        until_used_again(&mut writer, point)?;
        (0..20).try_for_each(|_| writer.step())?;
        writer.end()?;
        site.copy("/late", None)?;
        expire(&site)?;
        let oldest = site.history().oldest();
        if oldest <= point {
            return Err(format!("{oldest} is there yet"));
        }
        site.recover(&NAMES, Target::Lsn(point))?;
        compare(&site.contents()?, &then).map_err(|why| format!("to {point}: {why}"))?;
        writer.model = then;
        (0..4).try_for_each(|_| writer.step())?;
        writer.end()?;
        expire(&site)?;
        let lacking = lacking(&site)?;
        if !lacking.is_empty() {
            return Err(format!("recoveries are said to need what is void: {lacking:?}"));
        }
        for _ in 0..2 {
            site.recover(&NAMES, Target::Now)?;
            compare(&site.contents()?, &writer.model)?;
        }
        drop(writer);
        site.close()
    })?;
    lived.ok_or_else(|| "the machine crashed by itself".into())
}
