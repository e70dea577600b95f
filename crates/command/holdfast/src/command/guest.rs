//! The process of a program: what `holdfast batch` starts. Not for people.

use std::process::ExitCode;

use base::{Code, Coded};
use clap::Args;
use jobs::alone::{Alone, Reporting};
use jobs::job::{Job, Kind, PcbOrder};
use jobs::programs;
use region::guest;
use region::{Embedded, ExecDli, Link, Order, Trace};

use crate::advice;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operate::any_options;
use crate::output::NOTICES;
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
    let ready = Job::from_text(args.job.as_bytes()).map_err(Failure::from).and_then(|job| {
        advice::remember_folder(&job.system);
        let link = link(context, &job, args.handed)?;
        Ok((link, task(context, &job)?))
    });
    match ready {
        Ok((link, task)) => guest::run(link, task),
        Err(failure) => guest::refuse(&Refused::from(failure)),
    }
}

pub(super) fn run_region() -> ! {
    // What a session holds is not for programs. A kernel without keyrings holds nothing.
    let _ = seam::keyring::leave();
    region::worker::run()
}

fn link(context: &Context, job: &Job, handed: Option<i32>) -> Result<Box<dyn Link>> {
    Ok(match job.kind {
        Kind::Bmp => Box::new(programs::connect(job)?),
        Kind::Dli | Kind::Dbb => {
            let handed = handed.ok_or_else(|| {
                let what = "this process was not given the system's passphrase";
                Failure::usage(what, "Run programs with `holdfast batch`.")
            })?;
            let passphrase = passphrase::handed(handed)?;
            let reporting = Reporting { notices: NOTICES, counts_calls: !context.output.is_json() };
            let server = Alone::open(&context.seam, job, &passphrase, any_options(), reporting)?;
            Box::new(Embedded::new(Box::new(server)))
        }
    })
}

fn task(context: &Context, job: &Job) -> Result<guest::Job> {
    let disk = &*context.seam.disk;
    let trace = job.trace.as_deref().map(|path| Trace::create(disk, path)).transpose()?;
    Ok(guest::Job {
        program: programs::prepare(disk, job)?,
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

/// A failure as an error of the layers below, as the process of a program tells it.
#[derive(Debug)]
struct Refused {
    code: Code,
    what: String,
    remedy: String,
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Refused {
        let (_, _, remedy) = failure.parts();
        Refused { code: failure.code(), what: failure.shown(), remedy }
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Refused {}

impl Coded for Refused {
    fn code(&self) -> Code {
        self.code
    }

    fn remedy(&self) -> String {
        self.remedy.clone()
    }
}
