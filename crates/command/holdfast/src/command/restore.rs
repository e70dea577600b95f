//! `holdfast restore`: a system on a bare machine, from key file, archives and image copies.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ::recovery::LeftSet;
use clap::Args;
use operations::Selection;
use operations::recover::{Point, RecoverRequest, Recovered};
use serde::Serialize;
use system::operator;
use system::protection::ProtectionStatus;
use system::{OpenOptions, Repair, RestoreOptions, System};

use super::DONE;
use crate::context::Context;
use crate::failure::Result;
use crate::operate::absolute;
use crate::operate::options;
use crate::output::{utc, warn};
use crate::passphrase::PassphraseArgs;
use crate::progress::Progress;
use crate::text::count;

/// Restore a system from its key file, archives and image copies alone
///
/// Everything comes back that was committed before the archives end. The archives go on in the same
/// folders, so the machine that is lost must never start the system again.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: holdfast restore /srv/bank --keys /backup/holdfast.keys --archives /backup/archive \
--copies /backup/copies")]
pub(crate) struct RestoreArgs {
    /// The folder; it must be empty or not exist
    dir: PathBuf,
    /// The newest copy of the system's key file
    #[arg(long, value_name = "FILE")]
    keys: PathBuf,
    /// A folder with archives of its log; a second one with the same archives, if there is one
    #[arg(long, value_name = "FOLDER", required_unless_present = "config")]
    archives: Vec<PathBuf>,
    /// A copy of its holdfast.toml, whose `[archive]` says where the archives are now
    #[arg(long, value_name = "FILE", conflicts_with = "archives")]
    config: Option<PathBuf>,
    /// A folder with image copies
    #[arg(long, value_name = "FOLDER")]
    copies: Vec<PathBuf>,
    /// Believe archives that are plain, and make new data plain where --config says so: anybody
    /// can have written them
    #[arg(long)]
    accept_plain: bool,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

#[derive(Serialize)]
struct Restored {
    system: String,
    dir: PathBuf,
    /// Where the archives end, and the newest commit in them.
    archived_to: u64,
    committed_us: u64,
    /// Where the log goes on.
    log_from: u64,
    archives: usize,
    copies: usize,
    recovered: Recovered,
    /// What its bytes must prove from now on.
    protection: ProtectionStatus,
    /// Data sets that did not come back, or not to where the archives end.
    left: Vec<Left>,
}

#[derive(Serialize)]
struct Left {
    name: String,
    why: String,
    /// What brings it back as of before what is lost.
    repair: Option<Repair>,
}

pub(super) fn run(context: &mut Context, args: &RestoreArgs) -> Result<ExitCode> {
    let passphrase = args.passphrase.get()?;
    let from = RestoreOptions {
        key_file: absolute(std::slice::from_ref(&args.keys))?.remove(0),
        config: absolute(args.config.as_slice())?.pop(),
        archives: absolute(&args.archives)?,
        copies: absolute(&args.copies)?,
        accept_plain: args.accept_plain,
    };
    let (seam, dir) = (&context.seam, &args.dir);
    let mut progress = Progress::new(seam);
    let mut tell =
        |at: ::recovery::Progress<'_>| progress.show(at.what, at.done, at.total, "bytes");
    let made = System::restore(seam, dir, &passphrase, &from, &mut tell);
    progress.clear();
    let made = made?;
    made.notes.iter().for_each(warn);
    // The anchor has seen the machine that is lost.
    let opening = OpenOptions { begin_anchor: true, ..options() };
    let system = System::open(seam, dir, &passphrase, opening)?;
    system.notes().iter().filter(|note| !note.contains("is offline")).for_each(warn);
    let mut sets = made.sets.clone();
    sets.retain(|name| made.left.iter().all(|left| left.name != *name));
    let is_any = !sets.is_empty();
    let which = Selection { sets, ..Selection::default() };
    let (check, prove, apart, wait_seconds) = (false, false, false, 60);
    let request = RecoverRequest { which, to: Point::Now, check, prove, apart, wait_seconds };
    let mut show = |at: &operator::Progress| {
        progress.show(&at.object, at.done, at.total, &at.unit);
    };
    let recovered = is_any.then(|| {
        system.reporting(&mut show, |talk| operations::recover::recover(&system, &request, talk))
    });
    progress.clear();
    let closed = system.close();
    let recovered = recovered.transpose()?;
    closed?;
    let restored = Restored {
        system: made.system.to_string(),
        dir: args.dir.clone(),
        archived_to: made.end.0,
        committed_us: made.committed_us,
        log_from: made.began.0,
        archives: made.archives,
        copies: made.copies,
        recovered: recovered.unwrap_or_default(),
        protection: made.protection,
        left: made.left.into_iter().map(|left| left_behind(&args.dir, left)).collect(),
    };
    report(context, &restored)?;
    if restored.left.is_empty() { DONE } else { Ok(ExitCode::FAILURE) }
}

/// What is to be said of a data set that did not come back.
fn left_behind(dir: &Path, left: LeftSet) -> Left {
    let LeftSet { name, why, to } = left;
    let point = to.map(|to| format!("{:#x}", to.0));
    let words = point.as_ref().map(|to| ["--set", &name, "--to", to, "--yes"]);
    let repair = words.map(|words| Repair::of("recover", dir, &words));
    match &repair {
        Some(repair) => warn(format!(
            "data set {name} stays offline: {why}; `{repair}` brings it back as of before that. \
             Restored without that archive and those behind it, all data sets are of one moment"
        )),
        None => warn(format!(
            "data set {name} stays offline: {why}; a folder with an image copy of it may not have \
             been named: `holdfast recon rebuild --from FOLDER`, then `holdfast recover --set \
             {name}`"
        )),
    }
    Left { name, why, repair }
}

fn report(context: &mut Context, restored: &Restored) -> Result<ExitCode> {
    if context.output.is_json() {
        context.output.document(restored)?;
        return DONE;
    }
    let output = &mut context.output;
    output.line(format!("restored system {} in {}", restored.system, restored.dir.display()))?;
    output.line(format!(
        "  from {} archives and {} image copies: {} data sets",
        count(restored.archives as u64),
        count(restored.copies as u64),
        count(restored.recovered.sets.len() as u64)
    ))?;
    let newest = match restored.committed_us {
        0 => "no commit".to_owned(),
        utc_us => format!("the newest commit of {}", utc(utc_us)),
    };
    output.line(format!(
        "  up to {newest}, at {:#x}; the log goes on at {:#x}",
        restored.archived_to, restored.log_from
    ))?;
    output.line(format!("  its bytes prove: {}", restored.protection))?;
    output.line("never start the system on the other machine again; make new image copies now")?;
    DONE
}
