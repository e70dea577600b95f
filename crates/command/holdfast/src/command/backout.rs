//! `holdfast backout`: takes units of work back that were committed.

use std::process::ExitCode;

use base::UowId;
use clap::Args;
use operations::Selection;
use operations::backout::{BackedOut, BackoutRequest, ListRequest, UnitRow};
use operations::recover::Point;
use operations::verbs::Operation;

use super::DONE;
use super::recover::point;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operate::{Where, inspect, perform};
use crate::output::utc;
use crate::text::count;

/// Take units of work back that were committed, as if they had never been
///
/// What they changed becomes what it was before, all of it in one unit of work, which can be backed
/// out itself. If others have changed the same records since, nothing is done, and they are named;
/// unless they have only taken it back: then it is done already.
/// In databases it is also in the way if segments were added beneath one that would go. What
/// programs have read is not looked at. --list finds units of work in log and archives.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast backout -s /srv/bank --check uow4711 uow4712\n\
    Example: holdfast backout -s /srv/bank --list --db CUSTDB --since '2026-03-01 12:00:00'")]
pub(crate) struct BackoutArgs {
    #[command(flatten)]
    place: Where,
    /// The units of work: uow4711, or 4711
    #[arg(value_name = "UNIT", value_parser = unit, required_unless_present = "list")]
    units: Vec<UowId>,
    /// Only say what would be done, and whether it can be
    #[arg(long)]
    check: bool,
    /// How many seconds to wait for programs that use the records
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    wait: u64,
    /// List units of work that were committed, instead
    #[arg(long, conflicts_with_all = ["units", "check"])]
    list: bool,
    /// With --list: only those that have changed this data set
    #[arg(long, value_name = "NAME", requires = "list")]
    set: Vec<String>,
    /// With --list: only those that have changed this database, its indexes or relations
    #[arg(long, value_name = "DBD", requires = "list")]
    db: Vec<String>,
    /// With --list: only those committed behind a moment in UTC, or a position in the log
    #[arg(long, value_name = "POINT", requires = "list")]
    since: Option<String>,
    /// With --list: the newest ones, at most so many
    #[arg(long, value_name = "NUMBER", default_value_t = 100, requires = "list")]
    most: usize,
}

fn unit(text: &str) -> std::result::Result<UowId, String> {
    let number = text.trim_start_matches("uow").parse().map(UowId);
    number.map_err(|_| "a unit of work is a number such as 4711 or uow4711".into())
}

pub(super) fn run(context: &mut Context, args: &BackoutArgs) -> Result<ExitCode> {
    if args.list { list(context, args) } else { back_out(context, args) }
}

fn list(context: &mut Context, args: &BackoutArgs) -> Result<ExitCode> {
    let since = args.since.as_deref().map_or(Ok(Point::Now), point)?;
    if args.most == 0 {
        return Err(Failure::usage("--most 0 lists nothing", "Say a number."));
    }
    let which = Selection { sets: args.set.clone(), databases: args.db.clone(), all: false };
    let request = ListRequest { which, since, most: args.most };
    let Where { system, passphrase } = &args.place;
    let rows: Vec<UnitRow> =
        inspect(context, system, passphrase, &Operation::BackoutList(request))?;
    let output = &mut context.output;
    if output.is_json() {
        output.document(&rows)?;
        return DONE;
    }
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let sets: Vec<String> =
                row.sets.iter().map(|(set, changes)| format!("{set} {changes}")).collect();
            let place = format!("{:#x}", row.committed);
            vec![UowId(row.unit).to_string(), utc(row.utc_us), place, sets.join(", ")]
        })
        .collect();
    output.table(&["unit", "committed", "at", "changes"], &rows)?;
    DONE
}

fn back_out(context: &mut Context, args: &BackoutArgs) -> Result<ExitCode> {
    let units = args.units.iter().map(|uow| uow.0).collect();
    let request = BackoutRequest { units, check: args.check, wait_seconds: args.wait };
    let Where { system, passphrase } = &args.place;
    let backed_out: BackedOut = perform(context, system, passphrase, &Operation::Backout(request))?;
    let output = &mut context.output;
    if output.is_json() {
        output.document(&backed_out)?;
        return DONE;
    }
    let rows: Vec<Vec<String>> = backed_out
        .units
        .iter()
        .map(|one| {
            vec![UowId(one.unit).to_string(), utc(one.utc_us), count(one.changes), count(one.void)]
        })
        .collect();
    output.table(&["unit", "committed", "changes", "void already"], &rows)?;
    let verb = if backed_out.done { "changed back" } else { "would be changed back" };
    for (set, keys) in &backed_out.sets {
        output.line(format!("{set}: {} records {verb}", count(*keys)))?;
    }
    match (backed_out.sets.is_empty(), backed_out.by) {
        (true, _) if !backed_out.before.is_empty() => {
            let before = backed_out.before.iter().map(|uow| UowId(*uow).to_string());
            let before = before.collect::<Vec<_>>().join(", ");
            output.line(format!("It is done already, by {before}: nothing is left of it."))?;
        }
        (true, _) => output.line("Nothing of it is left to be changed back.")?,
        (false, 0) => {}
        (false, by) => {
            output.line(format!("{} has done it, and could be backed out itself.", UowId(by)))?;
        }
    }
    DONE
}
