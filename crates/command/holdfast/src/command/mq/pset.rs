//! `holdfast mq pset`: what operators ask of the queue manager's storage.

use std::process::ExitCode;

use clap::Args;
use operations::pset::{PageSet, Pset, PsetRequest};
use operations::verbs::Operation;

use super::super::DONE;
use crate::context::Context;
use crate::failure::Result;
use crate::operate::{Where, perform};
use crate::text::{bytes, count};

/// Show what page sets have had read and written, and what sealing them costs
///
/// Counts since the system was started. What sealing adds to a page is measured now, on this
/// machine; times the pages that were counted it is what sealing has added, or would have added
/// where a page set is in clear.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast mq pset -s /srv/bank --json")]
pub(crate) struct PsetArgs {
    #[command(flatten)]
    place: Where,
}

pub(super) fn run(context: &mut Context, args: &PsetArgs) -> Result<ExitCode> {
    let place = &args.place;
    let asked = Operation::Pset(PsetRequest {});
    let report: Pset = perform(context, &place.system, &place.passphrase, &asked)?;
    if context.output.is_json() {
        context.output.value(&report)?;
        return DONE;
    }
    let output = &mut context.output;
    if report.page_sets.is_empty() {
        output.line("no page sets: the queue manager has not been used yet")?;
        return DONE;
    }
    let rows: Vec<Vec<String>> = report.page_sets.iter().map(row).collect();
    let head =
        ["page set", "pool", "pages", "size", "form", "written", "GET requests", "got", "sealing"];
    output.table(&head, &rows)?;
    for pool in &report.pools {
        output.line(format_args!(
            "pool {}: {} written in checkpoints, {} not in checkpoints, {} immediately",
            pool.name,
            count(pool.written_in_checkpoint),
            count(pool.written_not_in_checkpoint),
            count(pool.written_immediately),
        ))?;
        output.line(format_args!(
            "  sealing adds {:.2} us to a page of {} that is read, {:.2} us to one that is written",
            pool.get_us,
            bytes(pool.page_bytes),
            pool.write_us,
        ))?;
    }
    let of = |sealed: bool| {
        let those = report.page_sets.iter().filter(|set| set.sealed == sealed);
        those.map(|set| set.sealing_us).sum::<f64>() / 1e6
    };
    output.line(format_args!("sealing has added {:.3} s of CPU time", of(true)))?;
    output.line(format_args!("sealing what is in clear would add {:.3} s", of(false)))?;
    DONE
}

fn row(set: &PageSet) -> Vec<String> {
    vec![
        set.name.clone(),
        set.pool.clone(),
        count(set.pages),
        bytes(set.bytes),
        if set.sealed { "sealed".into() } else { "in clear".into() },
        count(set.pages_written),
        count(set.get_requests),
        count(set.pages_got),
        format!("{:.3} s", set.sealing_us / 1e6),
    ]
}
