//! Log that a recovery under way reads: it stays until that is done, although a newer copy ends
//! meanwhile and policy deletes what only older ones need.

use archive::Keep;
use recon::{DataSetEntry, Protection, Record};
use recovery::Target;
use seam::sim::{Rng, SimDisk};

use crate::recovery::{Ground, Model, NAMES, Site, Writer, compare, run, said};

/// RECON knows the data sets as they are now.
fn tell_recon(site: &Site) -> Result<(), String> {
    let told = site.recon.change(|state| {
        let mut news: Vec<Record> = state.sets.keys().copied().map(Record::SetGone).collect();
        news.extend(site.store.kernel().all_sets().iter().map(|set| {
            Record::Set(DataSetEntry {
                set: set.id(),
                name: set.name().to_owned(),
                protection: Protection::Sealed,
                label: set.definition().label.clone(),
                generations: Vec::new(),
                made: base::Lsn::NONE,
            })
        }));
        (news, ())
    });
    told.map_err(said)
}

/// Policy deletes whatever it may. Returns how many archives went.
fn expire(site: &Site) -> Result<usize, String> {
    tell_recon(site)?;
    let archiver = site.archiver.as_ref().ok_or("there is no archiver")?;
    archiver.archive_now().map_err(said)?;
    let keep = Keep { files: Some(1), time: None };
    let expired = archiver.shelf().expired(&keep, site.recon.log_needed_from());
    for copy in &expired {
        archiver.shelf().delete(copy.info.from, &**archiver.registry()).map_err(said)?;
    }
    Ok(expired.len())
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
        done.map_err(said)?;
        compare(&site.contents()?, &writer.model)?;
        let expired = expire(&site)?;
        drop(writer);
        site.close()?;
        Ok(expired)
    })?;
    match lived {
        Some(0) => Err("nothing expires afterwards either".into()),
        Some(_) => Ok(()),
        None => Err("the machine crashed by itself".into()),
    }
}
