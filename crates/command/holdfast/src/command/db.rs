//! `holdfast db`: how databases are, whether they are sound, and emptying them.

use std::collections::BTreeSet;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use definitions::DbdName;
use hierarchy::{Database, state};
use operations::Databases;
use operations::database_report::{
    DatabaseRequest, IndexStatus, SegmentStatus, Space, Status, Verified,
};
use operations::reinitialize::{Part, give_up};
use operations::verbs::Operation;
use serde_json::json;
use store::Store;
use system::{AnySystem, SystemError};

use super::DONE;
use super::map::{self, MapArgs};
use super::partition::{self, PartitionArgs};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operate::{SystemArgs, with};
use crate::operate::{Where, inspect};
use crate::output::{Output, warn};
use crate::text::{bytes, count};

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
    /// repairs it. The exit code is 1 if there is any. In a system in use programs read meanwhile,
    /// and wait with what they would change.
    #[command(after_help = "Example: holdfast db verify -s /srv/bank CUSTDB --json")]
    Verify(VerifyArgs),
    Empty(EmptyArgs),
    Partition(PartitionArgs),
    Map(MapArgs),
}

/// Which database is meant.
#[derive(Args, Debug)]
struct NameArgs {
    #[command(flatten)]
    place: Where,
    /// The database
    #[arg(value_name = "DB")]
    database: String,
}

/// Which database is verified.
#[derive(Args, Debug)]
struct VerifyArgs {
    #[command(flatten)]
    name: NameArgs,
    /// How many seconds to wait for programs that change it
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    wait: u64,
}

/// Empty a database, its indexes, and the relations of its logical children
///
/// What deleting and redefining the data sets does on the host. Nothing brings the data back.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast db empty -s /srv/bank CUSTDB --yes")]
struct EmptyArgs {
    #[command(flatten)]
    system: SystemArgs,
    /// The database
    #[arg(value_name = "DB")]
    database: String,
    /// Yes, all of its data is to go
    #[arg(long)]
    yes: bool,
}

pub(super) fn run(context: &mut Context, args: &DbArgs) -> Result<ExitCode> {
    match &args.what {
        What::Status(args) => show(context, args),
        What::Verify(args) => verify(context, args),
        What::Empty(args) => empty(context, args),
        What::Partition(args) => partition::run(context, args),
        What::Map(args) => map::run(context, args),
    }
}

fn show(context: &mut Context, args: &NameArgs) -> Result<ExitCode> {
    let request = DatabaseRequest { database: args.database.clone(), wait_seconds: 0 };
    let Where { system, passphrase } = &args.place;
    let status: Status = inspect(context, system, passphrase, &Operation::DatabaseStatus(request))?;
    tell_status(&mut context.output, &status)
}

fn tell_status(output: &mut Output, status: &Status) -> Result<ExitCode> {
    if output.is_json() {
        output.document(status)?;
        return DONE;
    }
    let Status { database, organization, state, .. } = status;
    let what = match state.as_str() {
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

fn verify(context: &mut Context, args: &VerifyArgs) -> Result<ExitCode> {
    let request = DatabaseRequest { database: args.name.database.clone(), wait_seconds: args.wait };
    let Where { system, passphrase } = &args.name.place;
    let verified: Verified =
        inspect(context, system, passphrase, &Operation::DatabaseVerify(request))?;
    tell_report(&mut context.output, &verified)
}

/// Tells what a verification found, and answers the exit code.
pub(super) fn tell_report(output: &mut Output, verified: &Verified) -> Result<ExitCode> {
    let code = if verified.findings.is_empty() { DONE } else { Ok(ExitCode::FAILURE) };
    if output.is_json() {
        output.document(verified)?;
        return code;
    }
    for one in &verified.findings {
        let segment = one.segment.as_ref().map_or(String::new(), |name| format!(", {name}"));
        output.line(format!("WRONG {}{segment}, key {}: {}", one.database, one.key, one.what))?;
        output.line(format!("      {}", one.remedy))?;
    }
    if verified.unlisted > 0 {
        output.line(format!("and {} more", count(verified.unlisted)))?;
    }
    let verdict = match verified.findings.len() as u64 + verified.unlisted {
        0 => "all of it is sound".to_owned(),
        1 => "1 thing is wrong".to_owned(),
        many => format!("{} things are wrong", count(many)),
    };
    output.line(format!(
        "{}: {} segments, {} index entries, {} logical children: {verdict}",
        verified.database,
        count(verified.segments),
        count(verified.index_entries),
        count(verified.logical_children)
    ))?;
    code
}

/// The other databases that hold logical children of segments of this one.
fn orphaned<S: Store>(databases: &Databases<S>, database: &Database) -> Result<BTreeSet<DbdName>> {
    let others = database.as_parent.iter().map(|relation| relation.child_dbd);
    let others: BTreeSet<DbdName> = others.filter(|name| *name != database.name()).collect();
    let mut orphaned = BTreeSet::new();
    for name in others {
        let other = databases.open_unchecked(name)?;
        // One that cannot be read is not known to be empty.
        if !state::is_empty(&databases.store, &other).unwrap_or(false) {
            orphaned.insert(name);
        }
    }
    Ok(orphaned)
}

fn empty(context: &mut Context, args: &EmptyArgs) -> Result<ExitCode> {
    let text = args.database.to_ascii_uppercase();
    if !args.yes {
        let what = format!("emptying {text} takes all of its data away");
        return Err(Failure::usage(what, "Add --yes if that is meant."));
    }
    with(context, &args.system, |context, system, databases| {
        let name = databases.named(&text)?;
        give_up(system, databases, name, &Part::All)?;
        let database = databases.open_unchecked(name)?;
        database.empty(&databases.store)?;
        database.recreate(&databases.store)?;
        // A program may need the space, and the system is stopped in a moment.
        if let AnySystem::Kernel(system) = system {
            system.kernel().shrink_now().map_err(SystemError::from)?;
        }
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
