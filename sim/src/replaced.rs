//! A data set whose place another one takes: a copy that was begun before does not count, it is not
//! replaced a second time, and what takes its place is on disk by then. Nor does a copy count whose
//! base is forgotten meanwhile.
//!
//! The order is forced: something is done whole in the middle of a recovery, or of a copy.

use recon::Record;
use recovery::{RecoveryError, Target};
use seam::sim::{CrashStyle, Fault, FaultKind, Rng, SimDisk};

use crate::recovery::{Ground, Model, NAMES, Site, Writer, coded, compare, run};

/// Gives `body` a system with a copy and work behind it. Afterwards, and after a restart, what was
/// committed is there.
fn with_work(
    seed: u64,
    body: impl FnOnce(&Site, &mut Writer<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let (disk, ground) = (SimDisk::new(), Ground::of(seed));
    let lived = run(seed, &disk, |seam| {
        let site = Site::open(&seam, ground, true, &[])?;
        let mut writer = Writer::new(&site, Rng::stream(seed, "replaced"), Model::new());
        (0..4).try_for_each(|_| writer.step())?;
        site.copy("/copy", None)?;
        (0..4).try_for_each(|_| writer.step())?;
        writer.end()?;
        body(&site, &mut writer)?;
        let model = writer.model.clone();
        compare(&site.contents()?, &model)?;
        site.recover(&NAMES, Target::Now)?;
        compare(&site.contents()?, &model)?;
        site.close()?;
        Ok(model)
    })?;
    let model = lived.ok_or("the machine crashed by itself")?;
    run(seed + 1, &disk, |seam| {
        compare(&Site::open(&seam, ground, false, &[])?.contents()?, &model)
    })
    .map(drop)
}

/// A data set is recovered when its copy has it already, and is not at its end yet.
///
/// # Errors
/// If the copy counts, or something is not as it was.
pub fn a_copy_of_it_does_not_count(seed: u64) -> Result<(), String> {
    with_work(seed, |site, _| {
        let mut recovered = None;
        let copied = site.copy_while("/late", None, &mut |progress| {
            if progress.what == NAMES[1] && recovered.is_none() {
                recovered = Some(site.recover(&NAMES[..1], Target::Now));
            }
        });
        recovered.ok_or("nobody came in between")??;
        match copied {
            Err(RecoveryError::Replaced { .. }) => Ok(()),
            other => Err(format!("a copy of what was replaced: {other:?}")),
        }
    })
}

/// What a copy goes on from is forgotten before the copy is at its end.
///
/// # Errors
/// If the copy counts, or something is not as it was.
pub fn a_copy_that_goes_on_from_nothing_does_not_count(seed: u64) -> Result<(), String> {
    with_work(seed, |site, writer| {
        let base = site.copy("/base", None)?;
        writer.small_step()?;
        let mut forgotten = None;
        let copied = site.copy_while("/more", Some(base.number), &mut |_| {
            if forgotten.is_none() {
                forgotten = Some(site.recon.add(vec![Record::ImageCopyGone(base.number)]));
            }
        });
        forgotten.ok_or("nobody came in between")?.map_err(coded)?;
        match copied {
            Err(RecoveryError::NoCopy { .. }) => Ok(()),
            other => Err(format!("a copy that serves nothing: {other:?}")),
        }
    })
}

/// Data sets are recovered, and used, while another recovery of them is under way.
///
/// # Errors
/// If both take effect, or something is not as it was.
pub fn it_is_not_replaced_again(seed: u64) -> Result<(), String> {
    with_work(seed, |site, writer| {
        let mut faster = None;
        let done = site.recover_while(&NAMES, Target::Now, &mut |_| {
            if faster.is_none() {
                let first = site.recover(&NAMES, Target::Now);
                faster = Some(first.and_then(|_| writer.small_step()));
            }
        });
        faster.ok_or("nobody came in between")??;
        match done {
            Ok(_) => compare(&site.contents()?, &writer.model),
            Err(RecoveryError::Replaced { .. }) => Ok(()),
            Err(other) => Err(format!("a recovery of what was replaced: {other}")),
        }
    })
}

/// RECON has no room for a recovery that is about to count.
///
/// # Errors
/// If more is left than there was, or something is not as it was.
pub fn nothing_is_left_of_one_that_fails(seed: u64) -> Result<(), String> {
    let (disk, ground) = (SimDisk::new(), Ground::of(seed));
    let medium = disk.clone();
    let lived = run(seed, &disk, |seam| {
        let site = Site::open(&seam, ground, true, &[])?;
        let mut writer = Writer::new(&site, Rng::stream(seed, "replaced"), Model::new());
        (0..4).try_for_each(|_| writer.step())?;
        site.copy("/copy", None)?;
        writer.end()?;
        let files = || {
            let mut paths = medium.paths();
            paths.retain(|path| NAMES.iter().any(|name| path.to_string_lossy().contains(name)));
            paths
        };
        let before = files();
        let full = ["/system/recon*", "/second/recon*"]
            .map(|paths| medium.inject(Fault::new(FaultKind::NoSpace, paths)));
        match site.recover(&NAMES, Target::Now) {
            Err(why) if why.contains("HFN011") => {}
            other => return Err(format!("a recovery that RECON cannot note: {other:?}")),
        }
        full.iter().for_each(|fault| medium.heal(*fault));
        if files() != before {
            return Err(format!("there were {before:?}, and are {:?}", files()));
        }
        compare(&site.contents()?, &writer.model)?;
        site.recover(&NAMES, Target::Now)?;
        compare(&site.contents()?, &writer.model)?;
        site.close()
    })?;
    lived.ok_or_else(|| "the machine crashed by itself".to_owned())
}

/// The page writer has written what it can when the last of a successor is made, and nothing else
/// is logged until it counts. Then the machine crashes.
///
/// # Errors
/// If something is not as it was.
pub fn it_is_on_disk_before_it_counts(seed: u64) -> Result<(), String> {
    let (disk, ground) = (SimDisk::new(), Ground::of(seed));
    let lived = run(seed, &disk, |seam| {
        let site = Site::open(&seam, ground, true, &[])?;
        let mut writer = Writer::new(&site, Rng::stream(seed, "replaced"), Model::new());
        (0..4).try_for_each(|_| writer.step())?;
        writer.end()?;
        site.contents()?;
        site.copy("/copy", None)?;
        let mut written = Ok(());
        let done = site.recover_while(&NAMES[..1], Target::Now, &mut |_| {
            written = site.store.kernel().write_out();
        });
        written.map_err(coded)?;
        done.map_err(coded)?;
        Ok(writer.model)
    })?;
    let model = lived.ok_or("the machine crashed by itself")?;
    let after = disk.crash_image(&mut Rng::stream(seed, "crash"), CrashStyle::DropAll);
    run(seed + 1, &after, |seam| {
        compare(&Site::open(&seam, ground, false, &[])?.contents()?, &model)
    })
    .map(drop)
}
