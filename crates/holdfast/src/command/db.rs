//! `holdfast db`: how databases are, whether they are sound, and emptying them.

use std::collections::BTreeSet;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use definitions::DbdName;
use hierarchy::count::{Count, IndexCount};
use hierarchy::state::{self, State};
use hierarchy::verify::{Finding, Report};
use hierarchy::{Database, HierarchyError};
use serde::Serialize;
use serde_json::json;
use store::Store;
use system::System;

use super::partition::{self, PartitionArgs, PartitionStatus};
use super::{Context, DONE};
use crate::databases::{Databases, SystemArgs, with};
use crate::failure::{Failure, Result};
use crate::output::{Output, bytes, count, warn};
use crate::progress::Progress;

/// Show, verify and empty databases
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast db status -s /srv/bank CUSTDB")]
pub(crate) struct DbArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Show how a database is: its segments by type, its indexes, its space
    #[command(after_help = "Example: holdfast db status -s /srv/bank CUSTDB --json")]
    Status(NameArgs),
    /// Verify a database: hierarchy, indexes and logical relationships against each other
    ///
    /// Changes nothing. Each finding is named with its segment, its key, and the command that
    /// repairs it. The exit code is 1 if there is any.
    #[command(after_help = "Example: holdfast db verify -s /srv/bank CUSTDB --json")]
    Verify(NameArgs),
    Empty(EmptyArgs),
    Partition(PartitionArgs),
}

/// Which database is meant.
#[derive(Args, Debug)]
struct NameArgs {
    #[command(flatten)]
    system: SystemArgs,
    /// The database
    #[arg(value_name = "DB")]
    database: String,
}

/// Empty a database, its indexes, and the relations of its logical children
///
/// What deleting and redefining the data sets does on the host. Nothing brings the data back.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast db empty -s /srv/bank CUSTDB --yes")]
struct EmptyArgs {
    #[command(flatten)]
    name: NameArgs,
    /// Yes, all of its data is to go
    #[arg(long)]
    yes: bool,
}

/// How a database is.
#[derive(Serialize)]
struct Status {
    database: String,
    organization: String,
    state: &'static str,
    segments: Vec<SegmentStatus>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    partitions: Vec<PartitionStatus>,
    indexes: Vec<IndexStatus>,
    data_sets: Vec<Space>,
}

#[derive(Serialize)]
struct SegmentStatus {
    segment: String,
    level: u8,
    segments: u64,
    bytes: u64,
    key_bytes: u64,
}

#[derive(Serialize)]
struct IndexStatus {
    index: String,
    entries: u64,
    state: &'static str,
}

#[derive(Serialize)]
struct Space {
    data_set: String,
    format: String,
    interval_bytes: u32,
    intervals: u32,
    bytes: u64,
}

pub(super) fn run(context: &mut Context, args: &DbArgs) -> Result<ExitCode> {
    match &args.what {
        What::Status(args) => show(context, args),
        What::Verify(args) => verify(context, args),
        What::Empty(args) => empty(context, args),
        What::Partition(args) => partition::run(context, args),
    }
}

fn show(context: &mut Context, args: &NameArgs) -> Result<ExitCode> {
    with(context, &args.system, |context, system, databases| {
        let database = databases.open(databases.named(&args.database)?)?;
        let (store, name) = (&databases.store, database.name());
        let mut progress = Progress::new(&context.seam);
        let segments = database.count(store, |seen| {
            if seen.is_multiple_of(4096) {
                progress.show(name.text(), seen, 0, "segments");
            }
        })?;
        drop(progress);
        let is_empty = segments.iter().all(|count| count.segments == 0);
        let state = match state::state_of(store, name)?.map(|record| record.state) {
            Some(State::Loading) => "loading",
            _ if database.waits_for(store)?.is_some() => "waiting",
            _ if is_empty => "empty",
            _ => "ready",
        };
        let indexes = database.count_indexes(store)?.into_iter();
        let indexes = indexes.map(|one| {
            let due = state::state_of(store, one.index)?;
            Ok(index_status(&one, due.is_some_and(|record| record.state == State::Due)))
        });
        let status = Status {
            database: name.text().into(),
            organization: database.schema.organization().to_string(),
            state,
            segments: segments.iter().map(segment_status).collect(),
            partitions: partition::status(store, &database)?,
            indexes: indexes.collect::<std::result::Result<_, HierarchyError>>()?,
            data_sets: space(system, store, &database)?,
        };
        tell_status(&mut context.output, &status)
    })
}

fn segment_status(count: &Count) -> SegmentStatus {
    SegmentStatus {
        segment: count.segment.text().into(),
        level: count.level,
        segments: count.segments,
        bytes: count.bytes,
        key_bytes: count.key_bytes,
    }
}

fn index_status(count: &IndexCount, is_due: bool) -> IndexStatus {
    IndexStatus {
        index: count.index.text().into(),
        entries: count.entries,
        state: if is_due { "to be built" } else { "ready" },
    }
}

/// The data sets of a database with their space.
fn space(system: &System, store: &impl Store, database: &Database) -> Result<Vec<Space>> {
    let indexes = database.indexes.iter().map(|tree| tree.set);
    let relations = database.as_child.iter().map(|relation| relation.set);
    let own: Vec<_> = database.sets.iter().copied().chain(indexes).chain(relations).collect();
    let sets = store.sets()?;
    let names: Vec<_> =
        sets.iter().filter(|set| own.contains(&set.id)).map(|set| &set.name).collect();
    let known = system.status().data_sets.into_iter();
    let own = known.filter(|set| names.contains(&&set.name));
    Ok(own
        .map(|set| Space {
            bytes: u64::from(set.intervals) * u64::from(set.interval_bytes),
            data_set: set.name,
            format: set.format,
            interval_bytes: set.interval_bytes,
            intervals: set.intervals,
        })
        .collect())
}

fn tell_status(output: &mut Output, status: &Status) -> Result<ExitCode> {
    if output.is_json() {
        output.document(status)?;
        return DONE;
    }
    let Status { database, organization, state, .. } = status;
    let what = match *state {
        "loading" => "a load was begun and has not ended",
        "waiting" => "it waits for the other side of its physical pairs to be loaded",
        "empty" => "empty",
        _ => "ready",
    };
    output.line(format!("{database}, {organization}: {what}"))?;
    let row = |one: &SegmentStatus| {
        let indent = " ".repeat(2 * usize::from(one.level.saturating_sub(1)));
        vec![
            format!("{indent}{}", one.segment),
            count(one.segments),
            bytes(one.bytes),
            bytes(one.key_bytes),
        ]
    };
    let rows: Vec<Vec<String>> = status.segments.iter().map(row).collect();
    output.table(&["segment", "segments", "data", "keys"], &rows)?;
    partition::tell(output, &status.partitions)?;
    let row = |one: &IndexStatus| vec![one.index.clone(), count(one.entries), one.state.to_owned()];
    let rows: Vec<Vec<String>> = status.indexes.iter().map(row).collect();
    if !rows.is_empty() {
        output.table(&["index", "entries", "state"], &rows)?;
    }
    let row = |one: &Space| {
        vec![
            one.data_set.clone(),
            one.format.clone(),
            bytes(u64::from(one.interval_bytes)),
            count(u64::from(one.intervals)),
            bytes(one.bytes),
        ]
    };
    let rows: Vec<Vec<String>> = status.data_sets.iter().map(row).collect();
    output.table(&["data set", "format", "interval", "intervals", "space"], &rows)?;
    DONE
}

fn verify(context: &mut Context, args: &NameArgs) -> Result<ExitCode> {
    with(context, &args.system, |context, _, databases| {
        let database = databases.open(databases.named(&args.database)?)?;
        let name = database.name();
        let mut progress = Progress::new(&context.seam);
        let mut others = |name| databases.open(name);
        let report = database.verify(&databases.store, &mut others, |seen| {
            if seen.is_multiple_of(4096) {
                progress.show(name.text(), seen, 0, "segments");
            }
        })?;
        drop(progress);
        tell_report(&mut context.output, name, &report)
    })
}

/// Tells what a verification found, and answers the exit code.
pub(super) fn tell_report(output: &mut Output, name: DbdName, report: &Report) -> Result<ExitCode> {
    let code = if report.findings.is_empty() { DONE } else { Ok(ExitCode::FAILURE) };
    if output.is_json() {
        let finding = |one: &Finding| {
            json!({
                "database": one.database.text(),
                "segment": one.segment.map(|name| name.text().to_owned()),
                "key": one.key,
                "what": one.what,
                "remedy": one.remedy,
            })
        };
        output.document(&json!({
            "database": name.text(),
            "segments": report.segments,
            "index_entries": report.entries,
            "logical_children": report.relations,
            "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
            "unlisted": report.unlisted,
        }))?;
        return code;
    }
    for one in &report.findings {
        let segment = one.segment.map_or(String::new(), |name| format!(", {name}"));
        output.line(format!("WRONG {}{segment}, key {}: {}", one.database, one.key, one.what))?;
        output.line(format!("      {}", one.remedy))?;
    }
    if report.unlisted > 0 {
        output.line(format!("and {} more", count(report.unlisted)))?;
    }
    let verdict = match report.findings.len() as u64 + report.unlisted {
        0 => "all of it is sound".to_owned(),
        1 => "1 thing is wrong".to_owned(),
        many => format!("{} things are wrong", count(many)),
    };
    output.line(format!(
        "{name}: {} segments, {} index entries, {} logical children: {verdict}",
        count(report.segments),
        count(report.entries),
        count(report.relations)
    ))?;
    code
}

/// The other databases that hold logical children of segments of this one.
fn orphaned<S: Store>(databases: &Databases<S>, database: &Database) -> Result<BTreeSet<DbdName>> {
    let others = database.as_parent.iter().map(|relation| relation.child_dbd);
    let others: BTreeSet<DbdName> = others.filter(|name| *name != database.name()).collect();
    let mut orphaned = BTreeSet::new();
    for name in others {
        if !state::is_empty(&databases.store, &*databases.open_unchecked(name)?)? {
            orphaned.insert(name);
        }
    }
    Ok(orphaned)
}

fn empty(context: &mut Context, args: &EmptyArgs) -> Result<ExitCode> {
    let text = args.name.database.to_ascii_uppercase();
    if !args.yes {
        let what = format!("emptying {text} takes all of its data away");
        return Err(Failure::usage(what, "Add --yes if that is meant."));
    }
    with(context, &args.name.system, |context, _, databases| {
        let database = databases.open_unchecked(databases.named(&text)?)?;
        database.empty(&databases.store)?;
        let name = database.name();
        for child in orphaned(databases, &database)? {
            warn(format!(
                "{child} holds logical children whose logical parents were in {name}: load {name} \
                 again, or empty {child}, too"
            ));
        }
        match context.output.is_json() {
            true => {
                context.output.document(&json!({ "database": name.text(), "state": "empty" }))?;
            }
            false => context.output.line(format!("{name} is empty"))?,
        }
        DONE
    })
}
