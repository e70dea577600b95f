//! `holdfast archive`: the archives of the log.

use std::path::PathBuf;
use std::process::ExitCode;

use base::Lsn;
use clap::{Args, Subcommand};
use operations::verbs::Operation;
use system::operator::{
    ArchiveFault, ArchiveFolder, DeletedArchives, Merge, SystemOperation, VerifiedArchives,
    WhichArchives,
};
use system::{AccumulationStatus, ArchiveDiscord, ArchiveStatus};

use super::DONE;
use super::log::lsn;
use crate::context::Context;
use crate::failure::Result;
use crate::operate::{Where, look, operate, perform};
use crate::output::Output;

/// Archives of the log: list, write, prove, repair and delete them
///
/// The section `[archive]` of holdfast.toml names one folder or two. From then on segments of the
/// log are used again only when they are archived. Works on a system in use and on one that is
/// stopped; the passphrase is needed for the latter.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast archive now -s /srv/bank")]
pub(crate) struct ArchiveArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Archive everything that was logged so far
    #[command(after_help = "Example: holdfast archive now -s /srv/bank")]
    Now(Where),
    /// Show the archives
    #[command(after_help = "Example: holdfast archive list -s /srv/bank --json")]
    List(Where),
    /// Read archives from front to back, on every copy, and hold them against RECON and each other
    ///
    /// Ends with 1 if something is damaged or missing that was not repaired.
    #[command(after_help = "Example: holdfast archive verify -s /srv/bank --repair")]
    Verify(VerifyArgs),
    /// Begin anew in a folder that is not mounted any more: what it held is lost
    ///
    /// The archives of the other folder, if there is one, are copied there.
    #[command(after_help = "Example: holdfast archive begin -s /srv/bank /backup/a/bank")]
    Begin(BeginArgs),
    /// Merge the archived changes of data sets, so that their recovery reads less
    ///
    /// Goes on where the last accumulation of the same data sets ends.
    #[command(after_help = "Example: holdfast archive accumulate -s /srv/bank --set ACCOUNTS")]
    Accumulate(AccumulateArgs),
    /// Delete what keep_days and keep_files let go and no recovery needs
    ///
    /// Archives that cannot be read from any copy go, too, once no recovery needs them.
    #[command(after_help = "Example: holdfast archive delete -s /srv/bank --check")]
    Delete(DeleteArgs),
}

#[derive(Args, Debug)]
struct VerifyArgs {
    #[command(flatten)]
    place: Where,
    /// Only the archive that begins with this group
    #[arg(long, value_name = "GROUP")]
    first_group: Option<u64>,
    /// Make damaged and missing copies anew: from the other one, or from the log if it has them yet
    #[arg(long)]
    repair: bool,
}

#[derive(Args, Debug)]
struct BeginArgs {
    #[command(flatten)]
    place: Where,
    /// One of the folders that the section `[archive]` of holdfast.toml names
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

#[derive(Args, Debug)]
struct DeleteArgs {
    #[command(flatten)]
    place: Where,
    /// Only the archive that begins with this group, whatever keep_days and keep_files say
    #[arg(long, value_name = "GROUP")]
    first_group: Option<u64>,
    /// Say what would go, and delete nothing
    #[arg(long)]
    check: bool,
}

#[derive(Args, Debug)]
struct AccumulateArgs {
    #[command(flatten)]
    place: Where,
    /// A data set; may be given several times
    #[arg(long, value_name = "NAME", required_unless_present = "db")]
    set: Vec<String>,
    /// A database: the data sets NAME and NAME.*; its indexes are named by --set
    #[arg(long, value_name = "NAME")]
    db: Option<String>,
    /// Begin at this log position, such as 0x1f40
    #[arg(long, value_name = "LSN", value_parser = lsn)]
    from: Option<Lsn>,
}

pub(super) fn run(context: &mut Context, args: &ArchiveArgs) -> Result<ExitCode> {
    match &args.what {
        What::Now(place) => {
            let made = ask(context, place, &SystemOperation::ArchiveNow {})?;
            show(context, &made, "Everything was archived already.")
        }
        What::List(place) => {
            let (dir, passphrase) = (&place.system, &place.passphrase);
            let list = SystemOperation::ArchiveList {};
            let archives: Vec<_> = look(context, dir, passphrase, &list)?;
            show(context, &archives, "There are no archives yet.")
        }
        What::Verify(args) => verify(context, args),
        What::Begin(args) => {
            let folder = ArchiveFolder { folder: args.folder.clone() };
            let archives = ask(context, &args.place, &SystemOperation::ArchiveBegin(folder))?;
            show(context, &archives, "There are no archives yet.")
        }
        What::Accumulate(args) => accumulate(context, args),
        What::Delete(args) => {
            let (first_group, check) = (args.first_group, args.check);
            let which = WhichArchives { first_group, check, repair: false };
            let Where { system, passphrase } = &args.place;
            let DeletedArchives { deleted, stays } =
                operate(context, system, passphrase, &SystemOperation::ArchiveDelete(which))?;
            if args.check && !deleted.is_empty() && !context.output.is_json() {
                context.output.line("These would be deleted:")?;
            }
            let none = stays.map(|why| format!("There is nothing to delete. {why}"));
            show(context, &deleted, &none.unwrap_or("There is nothing to delete.".into()))
        }
    }
}

fn ask(
    context: &Context,
    place: &Where,
    operation: &SystemOperation,
) -> Result<Vec<ArchiveStatus>> {
    operate(context, &place.system, &place.passphrase, operation)
}

fn show(context: &mut Context, archives: &[ArchiveStatus], none: &str) -> Result<ExitCode> {
    let output = &mut context.output;
    if output.is_json() {
        output.document(&archives)?;
        return DONE;
    }
    if archives.is_empty() {
        output.line(none)?;
        return DONE;
    }
    let head =
        ["FIRST GROUP", "LAST GROUP", "FROM LSN", "TO LSN", "RECORDS KiB", "FILE KiB", "FILES"];
    let row = |one: &ArchiveStatus| {
        vec![
            one.first_group.to_string(),
            one.last_group.to_string(),
            format!("{:#x}", one.first_lsn),
            format!("{:#x}", one.end_lsn),
            one.record_bytes.div_ceil(1024).to_string(),
            one.file_bytes.div_ceil(1024).to_string(),
            one.files.join(" "),
        ]
    };
    output.table(&head, &archives.iter().map(row).collect::<Vec<_>>())?;
    DONE
}

fn accumulate(context: &mut Context, args: &AccumulateArgs) -> Result<ExitCode> {
    let databases = args.db.iter().cloned().collect();
    let merge = Merge { sets: args.set.clone(), databases, from: args.from.map(|lsn| lsn.0) };
    let place = &args.place;
    let made: Vec<AccumulationStatus> =
        perform(context, &place.system, &place.passphrase, &Operation::Accumulate(merge))?;
    let output = &mut context.output;
    if output.is_json() {
        output.document(&made)?;
        return DONE;
    }
    if made.is_empty() {
        output.line("Nothing was archived since.")?;
    }
    for one in &made {
        let (sets, records) = (one.sets.join(", "), one.records);
        let (from, to) = (one.first_lsn, one.end_lsn);
        let (log, file) = ((to - from).div_ceil(1024), one.file_bytes.div_ceil(1024));
        output.line(format!(
            "{sets}: {records} records of {log} KiB of log, {from:#x} to {to:#x}, in {file} KiB"
        ))?;
        one.files.iter().try_for_each(|file| output.line(file))?;
    }
    DONE
}

fn verify(context: &mut Context, args: &VerifyArgs) -> Result<ExitCode> {
    let (first_group, repair) = (args.first_group, args.repair);
    let verify =
        SystemOperation::ArchiveVerify(WhichArchives { first_group, repair, check: false });
    let place = &args.place;
    let (dir, passphrase) = (&place.system, &place.passphrase);
    let found: VerifiedArchives = match args.repair {
        true => operate(context, dir, passphrase, &verify)?,
        false => look(context, dir, passphrase, &verify)?,
    };
    let output = &mut context.output;
    let left = found.faults.iter().filter(|fault| fault.repaired.is_none()).count();
    if output.is_json() {
        output.document(&found)?;
    } else {
        for fault in &found.faults {
            let ArchiveFault { file, why, repaired, .. } = fault;
            match repaired {
                Some(how) => output.line(format!("{file}: {why}: {how}"))?,
                None => output.line(format!("{file}: {why}"))?,
            }
        }
        found.discords.iter().try_for_each(|discord| tell(output, discord))?;
        let archives = found.archives;
        output.line(format!("{archives} archives read, {left} copies damaged or missing"))?;
        if left > 0 && !args.repair {
            let system = place.system.display();
            output.line(format!("Repair them: holdfast archive verify -s {system} --repair"))?;
        }
    }
    let discord = found.discords.iter().any(|one| one.needed && one.repaired.is_none());
    Ok(ExitCode::from(u8::from(left > 0 || discord)))
}

fn tell(output: &mut Output, discord: &ArchiveDiscord) -> Result<()> {
    let ArchiveDiscord { file, why, .. } = discord;
    let outcome = match (&discord.repaired, discord.needed) {
        (Some(how), _) => format!(": {how}"),
        (None, true) => String::new(),
        (None, false) => "; no recovery needs it".into(),
    };
    match file {
        Some(file) => output.line(format!("{file}: {why}{outcome}"))?,
        None => output.line(format!("{why}{outcome}"))?,
    }
    if !discord.needed || discord.repaired.is_some() {
        return Ok(());
    }
    output.line(format!("  {}", discord.remedy))?;
    discord.repair.iter().try_for_each(|command| output.line(format!("  Repair: {command}")))
}
