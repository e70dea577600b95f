//! `holdfast recon`: what RECON knows, whether that is so, and making it anew.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use base::Lsn;
use clap::{Args, Subcommand};
use operations::dry_run::recon_of;
use operations::recon_report::{ChangeRequest, change_recon, document};
use operations::verbs::Operation;
use recon::{Recon, Record, State};
use recovery::CopyFiles;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use serde_json::{Value, json};
use system::{Stopped, SystemConfig, operator};

use super::DONE;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operate::{Where, absolute};
use crate::output::{Output, utc, warn};
use crate::progress::Progress;
use crate::text::{bytes, count};

/// RECON: what a recovery needs to know
///
/// It names data sets, databases, archives of the log, image copies, recoveries, and who has what
/// open. It can be read while the system is damaged.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast recon list -s /srv/bank")]
pub(crate) struct ReconArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Show what RECON knows
    #[command(after_help = "Example: holdfast recon list -s /srv/bank --json")]
    List(Where),
    /// See whether both copies of RECON agree and every file that it names is there
    ///
    /// With --prove, image copies are read and proven from front to back. The exit code is 1 if
    /// anything is wrong.
    #[command(after_help = "Example: holdfast recon check -s /srv/bank --prove")]
    Check(CheckArgs),
    /// Make RECON anew from image copies in some folders, the archives and the log
    ///
    /// For a stopped system whose RECON is lost. What RECON still says is kept.
    #[command(after_help = "Example: holdfast recon rebuild -s /srv/bank --from /backup")]
    Rebuild(RebuildArgs),
    /// Change what RECON says of an image copy, or of who has what open
    #[command(after_help = "Example: holdfast recon change -s /srv/bank --copy 7 --moved-to /b")]
    Change(ChangeArgs),
}

#[derive(Args, Debug)]
struct CheckArgs {
    #[command(flatten)]
    place: Where,
    /// Read and prove image copies
    #[arg(long)]
    prove: bool,
}

#[derive(Args, Debug)]
struct RebuildArgs {
    #[command(flatten)]
    place: Where,
    /// A folder with image copies
    #[arg(long, value_name = "FOLDER")]
    from: Vec<PathBuf>,
}

#[derive(Args, Debug)]
struct ChangeArgs {
    #[command(flatten)]
    place: Where,
    /// The number of an image copy
    #[arg(long, value_name = "NUMBER", required_unless_present = "ended")]
    copy: Option<u32>,
    /// This process has nothing open any more, whatever RECON says: the next start says so by
    /// itself, so this is for a system that does not start
    #[arg(long, value_name = "PROCESS", conflicts_with_all = ["copy", "moved_to", "file", "gone"])]
    ended: Option<u32>,
    /// One of its files stands in this folder now, where it is proven first; another one that is
    /// still in its place stays known
    #[arg(long, value_name = "FOLDER", conflicts_with = "gone")]
    moved_to: Option<PathBuf>,
    /// It stands in this file, which is proven first: what went to standard output, for example
    #[arg(long, value_name = "FILE", conflicts_with_all = ["gone", "moved_to"])]
    file: Option<PathBuf>,
    /// Its files are gone for good
    #[arg(long)]
    gone: bool,
}

pub(super) fn run(context: &mut Context, args: &ReconArgs) -> Result<ExitCode> {
    match &args.what {
        What::List(place) => list(context, place),
        What::Check(args) => check(context, args),
        What::Rebuild(args) => rebuild(context, args),
        What::Change(args) => change(context, args),
    }
}

/// What RECON says: from the process that has the system open, or from its files.
fn recon_says(context: &Context, place: &Where) -> Result<Value> {
    SystemConfig::read(&*context.seam.disk, &place.system)?;
    let request = Operation::ReconList {}.request()?;
    if let Ok(Some(answer)) = operator::call(
        &context.seam,
        &place.system,
        &request,
        &mut || place.passphrase.get(),
        &mut |_| {},
    ) {
        return Ok(answer);
    }
    Ok(document(&recon_of(&context.seam, &place.system, &place.passphrase.get()?)?.state))
}

fn list(context: &mut Context, place: &Where) -> Result<ExitCode> {
    let all = recon_says(context, place)?;
    if context.output.is_json() {
        context.output.document(&all)?;
        return DONE;
    }
    let output = &mut context.output;
    let at = |value: &Value| format!("{:#x}", value.as_u64().unwrap_or(0));
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let number = |value: &Value| value.as_u64().unwrap_or(0).to_string();
    let joined = |value: &Value| {
        let all = value.as_array().into_iter().flatten();
        all.filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
    };
    output.line(format!("the log was seen to reach {}", at(&all["reached"])))?;
    section(output, &all["data_sets"], "data sets", &["number", "name", "form", "key"], &|set| {
        let form = if set["sealed"].as_bool() == Some(true) { "sealed" } else { "plain" };
        vec![number(&set["number"]), text(&set["name"]), form.into(), text(&set["label"])]
    })?;
    section(output, &all["databases"], "databases", &["name", "data sets"], &|one| {
        vec![text(&one["name"]), joined(&one["sets"])]
    })?;
    let head = ["number", "kind", "complete at", "from", "to", "size", "data sets", "files"];
    section(output, &all["image_copies"], "image copies", &head, &|copy| {
        vec![
            number(&copy["number"]),
            match copy["base"].as_u64() {
                Some(0) | None => "full".into(),
                Some(base) => format!("since {base}"),
            },
            utc(copy["to_us"].as_u64().unwrap_or(0)),
            at(&copy["start"]),
            at(&copy["end"]),
            bytes(copy["bytes"].as_u64().unwrap_or(0)),
            joined(&copy["sets"]),
            files(copy),
        ]
    })?;
    let head = ["number", "from", "to", "size", "files"];
    section(output, &all["archives"], "archives", &head, &|one| {
        let size = bytes(one["bytes"].as_u64().unwrap_or(0));
        vec![number(&one["number"]), at(&one["first"]), at(&one["end"]), size, files(one)]
    })?;
    let head = ["number", "at", "to", "void up to", "data sets"];
    section(output, &all["recoveries"], "recoveries", &head, &|one| {
        let sets = one["sets"].as_array().map_or(0, Vec::len);
        vec![
            number(&one["number"]),
            utc(one["utc_us"].as_u64().unwrap_or(0)),
            at(&one["to"]),
            at(&one["void_to"]),
            sets.to_string(),
        ]
    })?;
    let head = ["process", "psb", "database", "access", "since"];
    section(output, &all["authorisations"], "authorisations", &head, &|one| {
        let named = |value: &Value, none: &str| match value.as_str() {
            None | Some("") => none.to_owned(),
            Some(name) => name.to_owned(),
        };
        vec![
            number(&one["process"]),
            named(&one["psb"], "-"),
            named(&one["database"], "the system"),
            text(&one["access"]),
            utc(one["since_us"].as_u64().unwrap_or(0)),
        ]
    })?;
    DONE
}

fn files(one: &Value) -> String {
    let all = one["files"].as_array().into_iter().flatten();
    all.filter_map(|file| file["path"].as_str()).collect::<Vec<_>>().join(", ")
}

fn section(
    output: &mut Output,
    list: &Value,
    name: &str,
    head: &[&str],
    row: &dyn Fn(&Value) -> Vec<String>,
) -> Result<()> {
    let rows: Vec<Vec<String>> = list.as_array().into_iter().flatten().map(row).collect();
    if rows.is_empty() {
        return Ok(());
    }
    output.line("")?;
    output.line(format!("{name}: {}", count(rows.len() as u64)))?;
    output.table(head, &rows)
}

fn check(context: &mut Context, args: &CheckArgs) -> Result<ExitCode> {
    let passphrase = args.place.passphrase.get()?;
    let dir = &args.place.system;
    let reading = recon_of(&context.seam, dir, &passphrase)?;
    let mut wrong: Vec<String> =
        reading.copies.iter().filter_map(|copy| copy.wrong.clone()).collect();
    let state = &reading.state;
    for (what, file) in state.files() {
        let path = &file.path;
        match context.seam.disk.exists(path) {
            Ok(true) => {}
            Ok(false) => wrong.push(format!("{what}: {} is missing", path.display())),
            Err(error) => wrong.push(format!("{what}: {}: {error}", path.display())),
        }
    }
    wrong.extend(left_open(dir, state));
    let mut bare: Vec<&str> = state.sets.values().map(|set| &*set.name).collect();
    bare.retain(|name| state.copies_of(name).is_empty());
    if !bare.is_empty() {
        let log = logged_from(context, dir, &passphrase);
        bare.retain(|name| !system::is_all_in_log(state, log, name));
    }
    let bare = bare.into_iter();
    wrong.extend(bare.map(|name| format!("data set {name} has no image copy that can be used")));
    let baseless = state.image_copies.values().filter(|copy| state.chain_of(copy.number).is_none());
    wrong.extend(baseless.map(|copy| {
        let (number, base) = (copy.number, copy.base);
        format!(
            "image copy {number} goes on from image copy {base}, which RECON does not know: it is \
             of no use; `holdfast recon change --copy {number} --gone` has it forgotten"
        )
    }));
    if args.prove {
        wrong.extend(prove(context, dir, &passphrase, state)?);
    }
    match context.output.is_json() {
        true => context.output.document(&json!({ "findings": wrong }))?,
        false if wrong.is_empty() => context.output.line("all of it is as RECON says")?,
        false => wrong.iter().try_for_each(|finding| context.output.line(finding))?,
    }
    if wrong.is_empty() { DONE } else { Ok(ExitCode::FAILURE) }
}

/// Where the log begins that the system still has.
fn logged_from(context: &Context, dir: &Path, passphrase: &seal::Passphrase) -> Option<Lsn> {
    if let Ok(Some(status)) = system::ask(dir) {
        return status.log.segments.first().map(|segment| Lsn(segment.first_lsn));
    }
    let stopped = Stopped::look(&context.seam, dir, passphrase).ok()?;
    stopped.survey(&mut |_| ()).ok()?.oldest.map(|oldest| oldest.lsn)
}

/// What processes have open that do not run any more.
fn left_open(dir: &Path, state: &State) -> Vec<String> {
    let running = system::ask(dir).map(|status| status.map(|status| status.process.pid));
    let is_gone = |process: u32| match &running {
        Ok(running) => Some(process) != *running,
        // A user who may not ask may see all the same whether there is a process of that number.
        Err(_) => !is_there(process),
    };
    let left = state.authorised.iter().filter(|one| is_gone(one.process));
    let lines = left.map(|one| {
        let what = match (&*one.psb, &*one.database) {
            (_, "") => "the system".to_owned(),
            (psb, database) => format!("{database} for {psb}"),
        };
        let (process, access) = (one.process, &one.access);
        format!(
            "process {process} is gone and had {what} open ({access}): the next start backs out \
             what it had in flight"
        )
    });
    lines.collect()
}

/// Whether there is a process of that number, whichever user's it is.
fn is_there(process: u32) -> bool {
    let number = i32::try_from(process).ok().and_then(Pid::from_raw);
    let asked = number.map(test_kill_process);
    asked.is_some_and(|asked| asked != Err(Errno::SRCH))
}

/// What is wrong with image copies, each read from front to back.
fn prove(
    context: &Context,
    dir: &Path,
    passphrase: &seal::Passphrase,
    state: &State,
) -> Result<Vec<String>> {
    let keys = copy_keys(context, dir, passphrase)?;
    let mut wrong = Vec::new();
    let mut progress = Progress::new(&context.seam);
    for copy in state.image_copies.values() {
        for file in &copy.files {
            let name = file.path.display().to_string();
            let show = &mut |done, total| progress.show(&name, done, total, "bytes");
            match CopyFiles::verify(&context.seam, &file.path, &keys, show) {
                Ok(info) if info.tag == copy.tag => {}
                Ok(_) => wrong.push(format!("{name} is not image copy {}", copy.number)),
                Err(error) => wrong.push(error.to_string()),
            }
        }
    }
    Ok(wrong)
}

fn copy_keys(
    context: &Context,
    dir: &Path,
    passphrase: &seal::Passphrase,
) -> Result<recovery::CopyKeys> {
    let keys = system::read_keyset(&context.seam, dir, passphrase)?;
    let system = keys.system();
    Ok(recovery::CopyKeys { keys: Arc::new(keys), label: system::LABELS[0].into(), system })
}

fn rebuild(context: &mut Context, args: &RebuildArgs) -> Result<ExitCode> {
    let passphrase = args.place.passphrase.get()?;
    let folders = absolute(&args.from)?;
    let (mut notes, mut progress) = (Vec::new(), Progress::new(&context.seam));
    let mut tell =
        |at: ::recovery::Progress<'_>| progress.show(at.what, at.done, at.total, "bytes");
    let dir = &args.place.system;
    let found =
        system::rebuild_recon(&context.seam, dir, &passphrase, &folders, (&mut notes, &mut tell))?;
    progress.clear();
    notes.iter().for_each(warn);
    match context.output.is_json() {
        true => context.output.document(&json!({
            "image_copies": found.copies, "archives": found.archives,
            "recoveries": found.recoveries,
        }))?,
        false => context.output.line(format!(
            "RECON was made anew; found: {} image copies; not known before: {} archives, {} \
             recoveries",
            count(found.copies as u64),
            count(found.archives as u64),
            count(found.recoveries as u64)
        ))?,
    }
    DONE
}

/// Ends what a process has open in RECON, by hand.
fn end(context: &mut Context, place: &Where, process: u32) -> Result<ExitCode> {
    let dir = &place.system;
    let config = SystemConfig::read(&*context.seam.disk, dir)?;
    // The process that has the system open holds its lock, and is named in the refusal.
    let (keyset, _lock) = system::open_keyset(&context.seam, dir, &place.passphrase.get()?)?;
    let setup = system::recon_setup(&context.seam, dir, &config, Arc::new(keyset));
    let (recon, _) = Recon::open(setup)?;
    let had = recon.state().authorised.iter().filter(|one| one.process == process).count();
    if had > 0 {
        recon.add(vec![Record::Ended(process)])?;
        warn(format!(
            "what process {process} had in flight is in the data sets until the system is started"
        ));
    }
    match context.output.is_json() {
        true => context.output.document(&json!({ "process": process, "ended": had }))?,
        false => context.output.line(format!("authorisations that were ended: {had}"))?,
    }
    DONE
}

fn change(context: &mut Context, args: &ChangeArgs) -> Result<ExitCode> {
    if let Some(process) = args.ended {
        return end(context, &args.place, process);
    }
    let copy = args.copy.unwrap_or_default();
    if args.moved_to.is_none() && args.file.is_none() && !args.gone {
        let remedy = "Say --moved-to FOLDER, --file FILE or --gone.";
        return Err(Failure::usage("nothing is to be changed", remedy));
    }
    let moved_to = match &args.moved_to {
        Some(folder) => absolute(std::slice::from_ref(folder))?.pop(),
        None => None,
    };
    let file = match &args.file {
        Some(file) => absolute(std::slice::from_ref(file))?.pop(),
        None => None,
    };
    let asked_for = ChangeRequest { copy, moved_to, file };
    let request = Operation::ReconChange(asked_for.clone()).request()?;
    let dir = &args.place.system;
    SystemConfig::read(&*context.seam.disk, dir)?;
    let mut progress = Progress::new(&context.seam);
    let asked = operator::call(
        &context.seam,
        dir,
        &request,
        &mut || args.place.passphrase.get(),
        &mut |at| {
            progress.show(&at.object, at.done, at.total, &at.unit);
        },
    )?;
    let answer = if let Some(answer) = asked {
        answer
    } else {
        // The system may be damaged so that it does not start: RECON is changed by itself.
        let passphrase = args.place.passphrase.get()?;
        let config = SystemConfig::read(&*context.seam.disk, dir)?;
        let keys = copy_keys(context, dir, &passphrase)?;
        let (keyset, _lock) = system::open_keyset(&context.seam, dir, &passphrase)?;
        let setup = system::recon_setup(&context.seam, dir, &config, Arc::new(keyset));
        let (recon, _) = Recon::open(setup)?;
        let show = &mut |at: recovery::Progress<'_>| {
            progress.show(at.what, at.done, at.total, "bytes");
        };
        let changed = change_recon(&context.seam, &keys, &recon, &asked_for, show)?;
        serde_json::to_value(changed).unwrap_or_default()
    };
    progress.clear();
    if context.output.is_json() {
        context.output.document(&answer)?;
        return DONE;
    }
    context.output.line(match args.gone {
        true => format!("image copy {copy}: forgotten"),
        false => format!("image copy {copy}: changed; it stands in"),
    })?;
    let warnings = answer["warnings"].as_array().into_iter().flatten();
    warnings.filter_map(Value::as_str).for_each(warn);
    let files = answer["files"].as_array().into_iter().flatten().filter_map(Value::as_str);
    files.into_iter().try_for_each(|file| context.output.line(format!("  {file}")))?;
    DONE
}
