//! `holdfast db partition`: takes partitions of databases offline, and brings them back.
//!
//! Invariants:
//! 1. A partition changes while the system is stopped: no program has its database open then.
//! 2. What is offline is out of reach for programs alone; utilities work on it.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use hierarchy::state;
use operations::database_report::{PartitionStatus, partition_state};
use serde_json::json;

use super::DONE;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operate::{SystemArgs, with};
use crate::output::Output;

/// Take partitions offline, and bring them back
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast db partition offline -s /srv/bank HISTDB HIST01")]
pub(crate) struct PartitionArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Take a partition offline: no program gets to it until it is online again
    ///
    /// A call that needs it ends the program with U3303, or is answered with BA or BB if the
    /// program has issued INIT with STATUS GROUPA or GROUPB. Utilities work on it as before.
    #[command(after_help = "Example: holdfast db partition offline -s /srv/bank HISTDB HIST01")]
    Offline(WhichArgs),
    /// Bring a partition back
    #[command(after_help = "Example: holdfast db partition online -s /srv/bank HISTDB HIST01")]
    Online(WhichArgs),
}

/// Which partition is meant.
#[derive(Args, Debug)]
struct WhichArgs {
    #[command(flatten)]
    system: SystemArgs,
    /// The database
    #[arg(value_name = "DB")]
    database: String,
    /// The partition
    #[arg(value_name = "PARTITION")]
    partition: String,
}

pub(super) fn run(context: &mut Context, args: &PartitionArgs) -> Result<ExitCode> {
    let (args, offline) = match &args.what {
        What::Offline(args) => (args, true),
        What::Online(args) => (args, false),
    };
    with(context, &args.system, |context, _, databases| {
        let database = databases.open_to_read(databases.named(&args.database)?)?;
        let name = database.name();
        if !database.schema.is_partitioned() {
            let organization = database.schema.organization();
            let what = format!("{name} is {organization}, which has no partitions");
            return Err(Failure::other(what, "Name a PHDAM or PHIDAM."));
        }
        let partition = args.partition.to_ascii_uppercase();
        let is_new = state::set_offline(&databases.store, &database, &partition, offline)?;
        let state = partition_state(offline);
        if context.output.is_json() {
            let document =
                json!({ "database": name.text(), "partition": partition, "state": state });
            context.output.document(&document)?;
            return DONE;
        }
        let already = if is_new { "" } else { " already" };
        context.output.line(format!("partition {partition} of {name} is {state}{already}"))?;
        DONE
    })
}

pub(super) fn tell(output: &mut Output, partitions: &[PartitionStatus]) -> Result<()> {
    if partitions.is_empty() {
        return Ok(());
    }
    let row = |one: &PartitionStatus| vec![one.partition.clone(), one.state.to_owned()];
    let rows: Vec<Vec<String>> = partitions.iter().map(row).collect();
    output.table(&["partition", "state"], &rows)
}
