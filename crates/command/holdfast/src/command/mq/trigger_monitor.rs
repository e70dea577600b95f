//! `holdfast mq trigger-monitor`: starts the programs that trigger messages ask for.
//!
//! 1. A trigger message is taken for good before its program is started: a program that fails is
//!    told, and not started again for the same message.
//! 2. The program is given the trigger message in characters as its one argument, before what the
//!    process definition adds.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use mqi::structures::{Tm, Tmc2};
use mqi::table::{Structure as _, text};
use queue_manager::name::unpadded;
use queue_manager::options::value::{get, open};

use super::program::Program;
use crate::command::{Context, DONE};
use crate::failure::Result;
use crate::output::warn;

/// How long one wait for a trigger message takes.
const WAIT_MS: i32 = 60_000;

/// Start programs as trigger messages on an initiation queue ask for
///
/// Runs the program that a process definition names (APPLICID) by the shell, with the trigger
/// message in characters (MQTMC2) as its argument and ENVRDATA behind it; ENVRDATA that ends with
/// & lets it run beside the next. Goes on until it is killed.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast mq trigger-monitor -s /srv/bank -q APP.INITQ")]
pub(crate) struct TriggerMonitorArgs {
    /// The system's folder
    #[arg(short, long, value_name = "DIR")]
    system: PathBuf,
    /// The initiation queue
    #[arg(short, long, value_name = "QUEUE", default_value = "SYSTEM.DEFAULT.INITIATION.QUEUE")]
    queue: String,
    /// Do what the queue asks for at this moment, and end
    #[arg(long)]
    once: bool,
}

pub(super) fn run(context: &mut Context, args: &TriggerMonitorArgs) -> Result<ExitCode> {
    let mut program = Program::connect(&args.system, "trigger monitor")?;
    let queue = program.open(&args.queue, open::INPUT_SHARED | open::FAIL_IF_QUIESCING)?;
    let wait = if args.once { 0 } else { WAIT_MS };
    let options = get::WAIT | get::NO_SYNCPOINT | get::FAIL_IF_QUIESCING;
    loop {
        let Some(message) = program.get(queue, options, wait)? else {
            if args.once {
                return DONE;
            }
            continue;
        };
        let mut trigger = Tm::initial();
        if trigger.take(&message.data).is_err() || message.data.len() < 684 {
            warn(format!("a message on {} is no trigger message", args.queue));
            continue;
        }
        start(context, &trigger, program.manager())?;
    }
}

fn start(context: &mut Context, trigger: &Tm, manager: &str) -> Result<()> {
    let (name, process) = (unpadded(&trigger.q_name), unpadded(&trigger.process_name));
    let (program, environment) = (unpadded(&trigger.appl_id), unpadded(&trigger.env_data));
    if program.is_empty() {
        warn(format!("queue {name}: process {process} names no program"));
        return Ok(());
    }
    let characters = Tmc2 {
        q_name: trigger.q_name,
        process_name: trigger.process_name,
        trigger_data: trigger.trigger_data,
        appl_id: trigger.appl_id,
        env_data: trigger.env_data,
        user_data: trigger.user_data,
        q_mgr_name: text(manager),
        ..Tmc2::initial()
    };
    let mut bytes = vec![b' '; 732];
    characters.put_all(&mut bytes);
    let argument = String::from_utf8_lossy(&bytes).into_owned();
    context.output.line(format_args!("queue {name}: {program}"))?;
    context.output.flush()?;
    let line = format!("{program} \"$1\" {environment}");
    match seam::process::command("sh").args(["-c", &line, "sh", &argument]).status() {
        Ok(status) if status.success() => {}
        Ok(status) => warn(format!("queue {name}: {program} ended with {status}")),
        Err(error) => warn(format!("queue {name}: {program} cannot be started: {error}")),
    }
    Ok(())
}
