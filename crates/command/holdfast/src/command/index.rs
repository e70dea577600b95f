//! `holdfast index`: builds and verifies secondary indexes.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use definitions::DbdName;
use operations::database_report::Verified;
use operations::reinitialize::{Part, give_up};
use serde_json::{Value, json};

use super::DONE;
use super::db::tell_report;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operate::{SystemArgs, with};
use crate::output::warn;
use crate::progress::Progress;
use crate::text::count;

/// Build and verify secondary indexes
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast index build -s /srv/bank CUSTDB")]
pub(crate) struct IndexArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Build one or all secondary indexes of a database anew, from its segments
    ///
    /// Entries that programs deleted, using the index as a database, are there again; user data
    /// that they stored in entries is lost, and a warning says in how many. Where an index is the
    /// first one of its segments with keys that are not unique, the segments get a number each
    /// before, which tells equal keys apart. A build that was broken off is run again; it goes on
    /// where it was.
    #[command(after_help = "Example: holdfast index build -s /srv/bank CUSTDB CUSTNAME")]
    Build(WhichArgs),
    /// Verify one or all secondary indexes of a database against its segments
    ///
    /// Changes nothing. The exit code is 1 if anything is wrong. An entry that a program deleted,
    /// using the index as a database, is told like one that was lost: nobody can tell them apart.
    #[command(after_help = "Example: holdfast index verify -s /srv/bank CUSTDB --json")]
    Verify(WhichArgs),
}

/// Which indexes are meant.
#[derive(Args, Debug)]
struct WhichArgs {
    #[command(flatten)]
    system: SystemArgs,
    /// The database
    #[arg(value_name = "DB")]
    database: String,
    /// The index; all of the database if left out
    index: Option<String>,
}

impl WhichArgs {
    fn index(&self) -> Result<Option<DbdName>> {
        let Some(text) = &self.index else { return Ok(None) };
        match DbdName::new(&text.to_ascii_uppercase()) {
            Some(name) => Ok(Some(name)),
            None => Err(Failure::usage(
                format!("{text} is no name of an index"),
                "Give the name of its DBD: up to eight letters and digits.",
            )),
        }
    }
}

pub(super) fn run(context: &mut Context, args: &IndexArgs) -> Result<ExitCode> {
    match &args.what {
        What::Build(args) => build(context, args),
        What::Verify(args) => verify(context, args),
    }
}

fn build(context: &mut Context, args: &WhichArgs) -> Result<ExitCode> {
    let only = args.index()?;
    with(context, &args.system, |context, system, databases| {
        let name = databases.named(&args.database)?;
        give_up(system, databases, name, &Part::Indexes(only))?;
        // The build itself admits the database: it may be in a numbering that this one ends.
        let database = databases.open_placed(name)?;
        let mut progress = Progress::new(&context.seam);
        let all = database.build_indexes(&databases.store, only, |seen| {
            if seen.is_multiple_of(4096) {
                progress.show(name.text(), seen, 0, "segments");
            }
        })?;
        drop(progress);
        for one in all.iter().filter(|one| one.user_data_lost != Some(0)) {
            let entries = match one.user_data_lost {
                Some(lost) => format!("{} entries", count(lost)),
                None => "entries, which were damaged,".to_owned(),
            };
            let index = one.index;
            warn(format!("{index}: user data that programs stored in {entries} is lost"));
        }
        let entries: Vec<_> = all.iter().map(|one| (one.index, one.entries)).collect();
        if context.output.is_json() {
            let indexes = built(&entries);
            context.output.document(&json!({ "database": name.text(), "indexes": indexes }))?;
            return DONE;
        }
        if entries.is_empty() {
            context.output.line(format!("{name} has no secondary index"))?;
        }
        for (index, entries) in &entries {
            context.output.line(format!("{index}: built, {} entries", count(*entries)))?;
        }
        DONE
    })
}

/// Indexes with their entries, as a program reads them.
pub(super) fn built(indexes: &[(DbdName, u64)]) -> Vec<Value> {
    let one = |(index, entries): &(DbdName, u64)| {
        let index = index.text();
        json!({ "index": index, "entries": entries })
    };
    indexes.iter().map(one).collect()
}

fn verify(context: &mut Context, args: &WhichArgs) -> Result<ExitCode> {
    let only = args.index()?;
    with(context, &args.system, |context, _, databases| {
        let database = databases.open_to_read(databases.named(&args.database)?)?;
        let name = database.name();
        let mut progress = Progress::new(&context.seam);
        let report = database.verify_indexes(&databases.store, only, |seen| {
            if seen.is_multiple_of(4096) {
                progress.show(name.text(), seen, 0, "segments");
            }
        })?;
        drop(progress);
        tell_report(&mut context.output, &Verified::of(name, report))
    })
}
