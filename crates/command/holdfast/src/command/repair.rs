//! `holdfast repair`: has something damaged written again from what is left of it elsewhere.

use std::process::ExitCode;

use clap::Args;
use system::operator::SystemOperation;
use system::{RepairRequest, Repaired};

use super::DONE;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operate::{Where, operate};

/// Write something damaged again, from what is left of it elsewhere
///
/// `holdfast verify` names what is damaged, and this command where it helps. Works on a system in
/// use, which may have a good version in memory, and on a stopped one, which is started for it.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: holdfast repair -s /srv/bank --set ACCOUNTS --interval 17; holdfast repair -s /srv/bank \
--recon")]
pub(crate) struct RepairArgs {
    #[command(flatten)]
    place: Where,
    #[command(flatten)]
    what: What,
    /// The interval of --set
    #[arg(long, value_name = "NUMBER", requires = "set")]
    interval: Option<u32>,
    /// With --log: let restarts and the archive go on behind groups that are nowhere. Recoveries
    /// that need them end before; make image copies of everything at once
    #[arg(long, requires = "log")]
    give_up: bool,
}

#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct What {
    /// An interval of this data set, from memory or from the double-write area
    #[arg(long, value_name = "NAME", requires = "interval")]
    set: Option<String>,
    /// Both slots of the control file
    #[arg(long)]
    control: bool,
    /// The double-write area: it is cleared
    #[arg(long)]
    double_write: bool,
    /// Groups that a copy of the log lacks, from the other copy or from an archive
    #[arg(long)]
    log: bool,
    /// The key file, from the keys of the open system
    #[arg(long)]
    keys: bool,
    /// Both copies of RECON, from what the open system knows
    #[arg(long)]
    recon: bool,
    /// The damaged or missing file of this image copy, from the other one
    #[arg(long, value_name = "NUMBER")]
    copy: Option<u32>,
}

pub(super) fn run(context: &mut Context, args: &RepairArgs) -> Result<ExitCode> {
    let What { set, control, double_write, log, keys, recon, copy } = &args.what;
    let request = match (set, args.interval, copy) {
        (Some(set), Some(interval), _) => RepairRequest::Interval { set: set.clone(), interval },
        (_, _, Some(number)) => RepairRequest::Copy { number: *number },
        _ if *control => RepairRequest::Control,
        _ if *double_write => RepairRequest::DoubleWrite,
        _ if *log => RepairRequest::Log,
        _ if *keys => RepairRequest::Keys,
        _ if *recon => RepairRequest::Recon,
        _ => {
            let remedy = "Say --set with --interval, --control, --double-write, --log, --keys, \
                          --recon or --copy.";
            return Err(Failure::usage("nothing is to be repaired", remedy));
        }
    };
    let Where { system, passphrase } = &args.place;
    let operation = match args.give_up {
        true => SystemOperation::RepairGivingUp {},
        false => SystemOperation::Repair(request),
    };
    let done: Repaired = operate(context, system, passphrase, &operation)?;
    match context.output.is_json() {
        true => context.output.document(&done)?,
        false => context.output.line(&done.what)?,
    }
    DONE
}
