//! `holdfast log`: the log of a system, record by record or segment by segment; its lost copies
//! and its stripes.

use std::path::PathBuf;
use std::process::ExitCode;

use base::{DataSetId, Lsn};
use clap::{Args, Subcommand};
use serde::Serialize;
use system::operator::{ChangedStripes, CopyBack, LogCopy, Stripes, SystemOperation};
use system::status::SegmentStatus;
use system::{Bytes, Stopped, SystemStatus};
use uow::record::{KernelRecord, RESOURCE_KINDS, name_of};
use wal::Scanned;

use super::{DONE, status};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operate::{Where, absolute, operate};
use crate::output::{Output, warn};
use crate::passphrase::PassphraseArgs;
use crate::text::{bytes, count};

/// Print the log, bring a lost copy of it back, or change its stripes
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast log print /srv/bank --type commit --json")]
pub(crate) struct LogArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    Print(PrintArgs),
    Segments(SegmentsArgs),
    Resync(ResyncArgs),
    Stripes(StripesArgs),
}

/// Bring a lost copy of the log back, while the system is in use
///
/// Repair or replace its device first, or name a folder on another one. The folder is made if it is
/// missing, all files of the log in it are made anew, and what the other copy holds is copied
/// there. Programs go on meanwhile. A stopped system needs no more than a start, which does the
/// same where holdfast.toml says; --to changes that before anything is copied.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: holdfast log resync -s /srv/bank --copy 2 --rate \"50 MiB\"; holdfast log resync -s \
/srv/bank --copy 2 --to /mnt/new/log")]
struct ResyncArgs {
    #[command(flatten)]
    place: Where,
    /// The copy: 1 or 2, in the order of log.copies; every lost one if it is left out
    #[arg(long, value_name = "NUMBER")]
    copy: Option<u8>,
    /// Make it in this folder from now on, which holds no log; holdfast.toml says so then, too. Of
    /// a system in use this wants the passphrase
    #[arg(long, value_name = "FOLDER", requires = "copy")]
    to: Option<PathBuf>,
    /// Bytes a second at most, such as "50 MiB"; more than the log itself writes, or it never ends
    #[arg(long)]
    rate: Option<Bytes>,
}

/// Write the log over more or fewer files side by side, while the system is in use
///
/// The files of new stripes are made first, as long as all segments together; then the next write
/// begins a segment over that many. Older segments stay as they are and are read as they are until
/// they are used again. More stripes help on more devices: give each its folder. The settings
/// log.stripes and log.stripe_folders are changed with them. With fewer stripes, files that no
/// segment needs go at the next start after their segments are archived.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast log stripes 2 -s /srv/bank --folder /mnt/b/log \
                        --folder /mnt/b2/log-copy")]
struct StripesArgs {
    /// How many files side by side, 1 to 8
    stripes: u8,
    #[command(flatten)]
    place: Where,
    /// A folder of a new stripe, made if it is missing: one for each copy, stripe by stripe; whole,
    /// or within the system's folder. Left out: the folders of the copies
    #[arg(long = "folder", value_name = "FOLDER")]
    folders: Vec<PathBuf>,
}

/// Print the records that a restart would read, of a stopped system
///
/// One line a record: where it stands, its type, its unit of work, its data set, its length. Never
/// what a user stored. With --json one object a line.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast log print /srv/bank --from 0x4000 --set ACCOUNTS")]
struct PrintArgs {
    /// The system's folder
    dir: PathBuf,
    #[command(flatten)]
    passphrase: PassphraseArgs,
    /// Only records at this position or behind, such as 0x1f40
    #[arg(long, value_name = "LSN", value_parser = lsn)]
    from: Option<Lsn>,
    /// Only records before this position
    #[arg(long, value_name = "LSN", value_parser = lsn)]
    to: Option<Lsn>,
    /// Only records of this type
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Only records of this unit of work
    #[arg(long, value_name = "NUMBER")]
    unit: Option<u64>,
    /// Only records of this data set
    #[arg(long, value_name = "NAME")]
    set: Option<String>,
    /// Print the groups that hold the records, too
    #[arg(long)]
    groups: bool,
}

/// Print the segments in use, of a running or a stopped system
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast log segments /srv/bank")]
struct SegmentsArgs {
    /// The system's folder
    dir: PathBuf,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

/// A line of the print.
#[derive(Serialize)]
#[serde(tag = "line", rename_all = "snake_case")]
enum Line {
    Record {
        lsn: u64,
        r#type: &'static str,
        unit: Option<u64>,
        set: Option<u32>,
        set_name: Option<String>,
        bytes: u64,
        body_bytes: usize,
        previous: Option<u64>,
        compensation: bool,
    },
    Group {
        group: u64,
        first_lsn: u64,
        end_lsn: u64,
        file: PathBuf,
        offset: u64,
        disk_bytes: u64,
        format: String,
        generation: u32,
    },
    Damage {
        group: u64,
        file: PathBuf,
        offset: u64,
        what: String,
    },
}

pub(super) fn run(context: &mut Context, args: &LogArgs) -> Result<ExitCode> {
    match &args.what {
        What::Print(args) => print(context, args),
        What::Segments(args) => segments(context, args),
        What::Resync(args) => resync(context, args),
        What::Stripes(args) => stripes(context, args),
    }
}

fn resync(context: &mut Context, args: &ResyncArgs) -> Result<ExitCode> {
    let folder = absolute(args.to.as_slice())?.pop();
    let rate = args.rate.map_or(0, |rate| rate.0);
    let copy = LogCopy { copy: args.copy, folder, bytes_per_second: rate };
    let asked = SystemOperation::LogResync(copy);
    let Where { system, passphrase } = &args.place;
    let back: Vec<CopyBack> = operate(context, system, passphrase, &asked)?;
    let output = &mut context.output;
    if output.is_json() {
        output.document(&back)?;
        return DONE;
    }
    if back.is_empty() {
        output.line("No copy of the log is lost.")?;
    }
    for one in &back {
        let (folder, copied) = (&one.folder, bytes(one.bytes));
        output.line(format!("Log copy {}, {folder}, is back: {copied} copied.", one.copy))?;
    }
    DONE
}

fn stripes(context: &mut Context, args: &StripesArgs) -> Result<ExitCode> {
    let stripes = Stripes { stripes: args.stripes, folders: args.folders.clone() };
    let asked = SystemOperation::LogStripes(stripes);
    let Where { system, passphrase } = &args.place;
    let changed: ChangedStripes = operate(context, system, passphrase, &asked)?;
    for note in &changed.notes {
        warn(note);
    }
    let output = &mut context.output;
    if output.is_json() {
        output.document(&changed)?;
        return DONE;
    }
    let ChangedStripes { before, stripes, folders, .. } = &changed;
    output.line(format!("New segments of the log have {stripes} stripes, before {before}."))?;
    for (number, folders) in (1..).zip(folders) {
        output.line(format!("stripe {number}: {}", folders.join(", ")))?;
    }
    DONE
}

/// A position in the log, as it is printed or as a plain number.
pub(super) fn lsn(text: &str) -> std::result::Result<Lsn, String> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map(Lsn).map_err(|_| "a position is a number such as 8000 or 0x1f40".into())
}

fn print(context: &mut Context, args: &PrintArgs) -> Result<ExitCode> {
    let stopped = Stopped::look(&context.seam, &args.dir, &args.passphrase.get()?)?;
    // Names stand in the log, perhaps behind the records that mention their data sets.
    let survey = stopped.survey(&mut |_| ())?;
    let named = |name: &String| {
        let mut sets = survey.catalog.existing();
        let set = sets.find(|set| set.name == *name).map(|set| set.id);
        set.ok_or_else(|| {
            let what = format!("the log knows no data set {name}");
            Failure::other(what, "`holdfast sets list` names those that there are.")
        })
    };
    let wanted = args.set.as_ref().map(named).transpose()?;
    let name = |id: DataSetId| survey.catalog.get(id).map(|set| set.name.clone());
    let output = &mut context.output;
    let mut outcome = Ok(());
    let mut see = |scanned: &Scanned<'_>| -> Result<()> {
        match line(scanned, args, wanted, &name) {
            Some(line) if output.is_json() => output.value(&line),
            Some(line) => output.line(text(&line)),
            None => Ok(()),
        }
    };
    stopped.survey(&mut |scanned| {
        if outcome.is_ok() {
            outcome = see(scanned);
        }
    })?;
    outcome?;
    DONE
}

fn line(
    scanned: &Scanned<'_>,
    args: &PrintArgs,
    wanted: Option<DataSetId>,
    name: &dyn Fn(DataSetId) -> Option<String>,
) -> Option<Line> {
    match scanned {
        Scanned::Record(record) => {
            let decoded = KernelRecord::of(record).ok();
            let set = decoded.as_ref().and_then(KernelRecord::set);
            let kind = type_of(record.kind);
            let fits = args.from.is_none_or(|from| record.lsn >= from)
                && args.to.is_none_or(|to| record.lsn < to)
                && args.kind.as_ref().is_none_or(|wanted| wanted == kind)
                && args.unit.is_none_or(|unit| record.uow.0 == unit)
                && wanted.is_none_or(|wanted| set == Some(wanted));
            fits.then(|| Line::Record {
                lsn: record.lsn.0,
                r#type: kind,
                unit: Some(record.uow.0).filter(|unit| *unit != 0),
                set: set.map(|set| set.0),
                set_name: set.and_then(name),
                bytes: record.end.0 - record.lsn.0,
                body_bytes: record.body.len(),
                previous: Some(record.previous.0).filter(|lsn| *lsn != 0),
                compensation: decoded.is_some_and(|record| record.undo_next().is_some()),
            })
        }
        Scanned::Group(group) if args.groups => {
            let fits = args.from.is_none_or(|from| group.end > from)
                && args.to.is_none_or(|to| group.first < to);
            fits.then(|| Line::Group {
                group: group.number.0,
                first_lsn: group.first.0,
                end_lsn: group.end.0,
                file: group.path.clone(),
                offset: group.offset,
                disk_bytes: group.disk_bytes,
                format: group.format.to_string(),
                generation: group.generation.0,
            })
        }
        Scanned::Oldest { .. }
        | Scanned::Group(_)
        | Scanned::Short { .. }
        | Scanned::Lost { .. } => None,
        Scanned::Damage { number, path, offset, why }
        | Scanned::Passed { number, path, offset, why, .. } => Some(Line::Damage {
            group: number.0,
            file: path.clone(),
            offset: *offset,
            what: why.clone(),
        }),
    }
}

/// A record of the tree is called by the tree's name for it.
fn type_of(kind: u8) -> &'static str {
    let of_tree = RESOURCE_KINDS.contains(&kind).then(|| btree::records::name_of(kind)).flatten();
    of_tree.unwrap_or_else(|| name_of(kind))
}

fn text(line: &Line) -> String {
    match line {
        Line::Record {
            lsn, r#type, unit, set, set_name, bytes, previous, compensation, ..
        } => {
            let unit = unit.map_or("-".to_owned(), |unit| format!("uow{unit}"));
            let set = match (set, set_name) {
                (_, Some(name)) => name.clone(),
                (Some(set), None) => format!("ds{set}"),
                (None, None) => "-".to_owned(),
            };
            let previous = previous.map_or(String::new(), |lsn| format!("  after {lsn:#x}"));
            let compensation = if *compensation { "  compensation" } else { "" };
            format!(
                "{lsn:#014x}  {:<16} {unit:<12} {set:<20} {bytes:>7} B{previous}{compensation}",
                r#type
            )
        }
        Line::Group { group, first_lsn, end_lsn, file, offset, disk_bytes, format, generation } => {
            let key = if *generation == 0 { String::new() } else { format!(" gen{generation}") };
            let span = format!("{first_lsn:#x} to {end_lsn:#x}");
            let place = format!("{} at {offset}", file.display());
            format!("group {group}: {span}, {place}, {disk_bytes} B, {format}{key}")
        }
        Line::Damage { group, file, offset, what } => {
            format!("DAMAGED group {group}: {} at {offset}: {what}", file.display())
        }
    }
}

fn segments(context: &mut Context, args: &SegmentsArgs) -> Result<ExitCode> {
    let status = status::of(context, &args.dir, &args.passphrase)?;
    let segments = match &status {
        SystemStatus::Running(running) => &running.log.segments,
        SystemStatus::StoppedInOrder(stopped) | SystemStatus::NeedsRestart(stopped) => {
            &stopped.segments
        }
    };
    match context.output.is_json() {
        true => context.output.document(segments)?,
        false => table(&mut context.output, segments)?,
    }
    DONE
}

fn table(output: &mut Output, segments: &[SegmentStatus]) -> Result<()> {
    if segments.is_empty() {
        return output.line("the log is empty");
    }
    let row = |segment: &SegmentStatus| {
        let length = segment.end_lsn.map(|end| end - segment.first_lsn);
        vec![
            segment.name.clone(),
            format!("{:#x}", segment.first_lsn),
            segment.end_lsn.map_or("-".to_owned(), |end| format!("{end:#x}")),
            length.map_or("-".to_owned(), bytes),
            count(segment.first_group),
            segment.stripes.to_string(),
            if segment.current { "current" } else { "" }.to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = segments.iter().map(row).collect();
    output.table(&["segment", "from", "to", "records", "first group", "stripes", ""], &rows)
}
