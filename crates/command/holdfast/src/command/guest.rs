//! The process of a program: what `holdfast batch` starts. Not for people.

use std::process::ExitCode;
use std::sync::Arc;

use base::Coded as _;
use clap::Args;
use operations::Databases;
use operations::messages::Messages;
use operations::selection::register;
use region::guest;
use region::{Embedded, ExecDli, Link, Order, Trace};
use schedule::{Catalogs, NoPools};
use seal::Passphrase;
use seam::Seam;
use system::{AnySystem, Home as _};

use super::{Context, batch};
use crate::advice;
use crate::failure::{Failure, Result};
use crate::job::{self, Alone, Job, KernelPools, Kind, PcbOrder, Terms, Told};
use crate::operate::any_options;
use crate::output::warn;
use crate::passphrase;

/// What leads to this process.
pub(super) const NAME: &str = "program-process";

/// What leads to the process of a message region, which a started system starts for itself: the
/// system is at the other end of its standard input.
pub(crate) const REGION: &str = "region-process";

/// The process of a program
#[derive(Args, Debug)]
pub(crate) struct GuestArgs {
    /// The job
    job: String,
    /// Where the passphrase is
    #[arg(long, value_name = "NUMBER")]
    handed: Option<i32>,
}

pub(super) fn run(context: &Context, args: &GuestArgs) -> Result<ExitCode> {
    // What a session holds is not for programs. A kernel without keyrings holds nothing.
    let _ = seam::keyring::leave();
    let ready = Job::from_text(args.job.as_bytes()).and_then(|job| {
        advice::remember_folder(&job.system);
        let link = link(context, &job, args.handed)?;
        Ok((link, task(context, &job)?))
    });
    match ready {
        Ok((link, task)) => guest::run(link, task),
        Err(failure) => guest::refuse(&Told::from(failure)),
    }
}

pub(super) fn run_region() -> ! {
    // What a session holds is not for programs. A kernel without keyrings holds nothing.
    let _ = seam::keyring::leave();
    region::worker::run()
}

fn link(context: &Context, job: &Job, handed: Option<i32>) -> Result<Box<dyn Link>> {
    Ok(match job.kind {
        Kind::Bmp => Box::new(batch::connect(job)?),
        Kind::Dli | Kind::Dbb => {
            let handed = handed.ok_or_else(|| {
                let what = "this process was not given the system's passphrase";
                Failure::usage(what, "Run programs with `holdfast batch`.")
            })?;
            let passphrase = passphrase::handed(handed)?;
            let server = serve(&context.seam, job, &passphrase, !context.output.is_json())?;
            Box::new(Embedded::new(Box::new(server)))
        }
    })
}

/// Opens a stopped system and schedules the PSB of a job in this process.
pub(super) fn serve(seam: &Seam, job: &Job, passphrase: &Passphrase, tells: bool) -> Result<Alone> {
    let system = AnySystem::open(seam, &job.system, passphrase, any_options())?;
    system.notes().iter().for_each(warn);
    let compat = system.config().placement_settings().compat;
    let catalogs = Arc::new(Catalogs::with(operations::redirections::handlers()));
    let terms = Terms { compat, catalogs: Arc::clone(&catalogs), ..Terms::default() };
    let scheduled = system.alone().map_err(Failure::from).and_then(|alone| {
        let databases = Databases::for_programs(&system)?;
        let scheduled = match &system {
            AnySystem::Engine(_) => {
                job::schedule(seam, Arc::new(NoPools), &databases, (job, None), &terms)?
            }
            AnySystem::Kernel(system) => {
                let places = Some(Arc::new(system.places()));
                operations::clusters::attach(system, &terms.catalogs);
                let messages = Some(Arc::new(Messages::new(system)));
                let authoriser = Some(system.authoriser());
                let terms = Terms { authoriser, places, messages, ..terms };
                let pools = Arc::new(KernelPools(Arc::clone(system.kernel())));
                let scheduled = job::schedule(seam, pools, &databases, (job, None), &terms)?;
                register(system, &databases);
                scheduled
            }
        };
        Ok(scheduled.by_right_of(alone))
    });
    match scheduled {
        Ok(schedule) => Ok(Alone::new(schedule, system, (catalogs, tells))),
        Err(failure) => {
            if let Err(error) = system.close() {
                warn(format!("{error} ({})", error.code()));
            }
            Err(failure)
        }
    }
}

fn task(context: &Context, job: &Job) -> Result<guest::Job> {
    let disk = &*context.seam.disk;
    let trace = job.trace.as_deref().map(|path| Trace::create(disk, path)).transpose()?;
    Ok(guest::Job {
        program: batch::prepare(disk, job)?,
        entry: job.entry.clone(),
        order: job.pcb_order.map(|order| match order {
            PcbOrder::Big => Order::Big,
            PcbOrder::Native => Order::Native,
        }),
        parm: job.parm.clone(),
        trace,
        commands: Some(Box::new(ExecDli::new(&job.psb))),
    })
}
