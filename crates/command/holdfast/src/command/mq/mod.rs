//! `holdfast mq`: programs that work on queues of a started system, and what its storage tells.

mod dead_letters;
mod program;
mod pset;
mod trigger_monitor;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::context::Context;
use crate::failure::Result;

/// Work on the queues of a started system, and see what they cost
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast mq trigger-monitor -s /srv/bank")]
pub(crate) struct MqArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    TriggerMonitor(trigger_monitor::TriggerMonitorArgs),
    Dlq(dead_letters::DlqArgs),
    Pset(pset::PsetArgs),
}

pub(super) fn run(context: &mut Context, args: &MqArgs) -> Result<ExitCode> {
    match &args.what {
        What::TriggerMonitor(args) => trigger_monitor::run(context, args),
        What::Dlq(args) => dead_letters::run(context, args),
        What::Pset(args) => pset::run(context, args),
    }
}
