//! A program of type DLI or DBB: it has the databases of a stopped system to itself.
//!
//! Invariants:
//! 1. The process that serves such a program closes the system when the program is over.

use std::sync::Arc;

use base::Coded as _;
use operations::Databases;
use operations::messages::Messages;
use operations::selection::register;
use region::layout::PcbLayout;
use region::{Abend, Ending, Reply, Request, Server};
use schedule::{Catalogs, NoPools};
use seal::Passphrase;
use seam::Seam;
use store_any::AnyStore;
use system::{AnyOptions, AnySystem, Home as _};

use crate::error::{JobsError, Result};
use crate::job::Job;
use crate::scheduling::{KernelPools, Scheduled, Step, schedule};
use crate::terms::{Notices, Terms};

/// Who hears of a program, and how much.
#[derive(Clone, Copy)]
pub struct Reporting {
    /// Who is told what the program is not.
    pub notices: Notices,
    /// Whether it is said at the end what was called.
    pub counts_calls: bool,
}

/// A PSB that is scheduled for the only program that uses the system.
pub struct Alone {
    schedule: Scheduled,
    catalogs: Arc<Catalogs<AnyStore>>,
    system: Option<AnySystem>,
    notices: Notices,
    /// Say what was called.
    counts_calls: bool,
}

impl Alone {
    /// Opens a stopped system and schedules the PSB of a job in this process.
    ///
    /// # Errors
    /// If the system cannot be opened, or the PSB cannot be scheduled.
    pub fn open(
        seam: &Seam,
        job: &Job,
        passphrase: &Passphrase,
        options: AnyOptions,
        reporting: Reporting,
    ) -> Result<Alone> {
        let Reporting { notices, counts_calls } = reporting;
        let system = AnySystem::open(seam, &job.system, passphrase, options)?;
        notices.warn_all(system.notes());
        let compat = system.config().placement_settings().compat;
        let catalogs = Arc::new(Catalogs::with(operations::redirections::handlers()));
        let terms = Terms { compat, catalogs: Arc::clone(&catalogs), notices, ..Terms::default() };
        let scheduled = system.alone().map_err(JobsError::from).and_then(|alone| {
            let databases = Databases::for_programs(&system)?;
            let step = Step { job, batch: None };
            let scheduled = match &system {
                AnySystem::Engine(_) => {
                    schedule(seam, Arc::new(NoPools), &databases, step, &terms)?
                }
                AnySystem::Kernel(system) => {
                    let places = Some(Arc::new(system.places()));
                    operations::clusters::attach(system, &terms.catalogs);
                    let messages = Some(Arc::new(Messages::new(system)));
                    let authoriser = Some(system.authoriser());
                    let terms = Terms { authoriser, places, messages, ..terms };
                    let pools = Arc::new(KernelPools(Arc::clone(system.kernel())));
                    let scheduled = schedule(seam, pools, &databases, step, &terms)?;
                    register(system, &databases);
                    scheduled
                }
            };
            Ok(scheduled.by_right_of(alone))
        });
        match scheduled {
            Ok(schedule) => {
                Ok(Alone { schedule, catalogs, system: Some(system), notices, counts_calls })
            }
            Err(failure) => {
                if let Err(error) = system.close() {
                    (notices.warn)(&error.with_code());
                }
                Err(failure)
            }
        }
    }

    /// Sends on what the program has changed in redirected clusters.
    fn send_on(&self) {
        if let Some(AnySystem::Kernel(system)) = &self.system {
            let store = AnyStore::Kernel(system.store().clone());
            let clock = &system.kernel().seam().clock;
            let catalog = || self.catalogs.get(&store, clock).ok();
            redirector::send_rest(&store, &catalog, self.notices.warn);
        }
    }
}

impl Server for Alone {
    fn pcbs(&self) -> &[PcbLayout] {
        self.schedule.pcbs()
    }

    fn call(&mut self, request: Request<'_>, reply: &mut Reply) {
        self.schedule.call(request, reply);
    }

    fn file(&mut self, request: &[u8], answer: &mut Vec<u8>) -> std::result::Result<(), Abend> {
        self.schedule.file(request, answer)
    }

    fn messages(&mut self, request: &[u8], answer: &mut Vec<u8>) -> std::result::Result<(), Abend> {
        self.schedule.messages(request, answer)
    }

    fn end(&mut self, ending: Ending) -> std::result::Result<(), region::Failure> {
        let ended = self.schedule.end(ending);
        self.send_on();
        if self.counts_calls && self.schedule.tally().all() > 0 {
            (self.notices.say)(&format!("calls: {}", self.schedule.tally()));
        }
        if let Some(system) = self.system.take()
            && let Err(error) = system.close()
        {
            // What was committed is on disk; the next start does what is left.
            let text = format!("the system was not closed in order: {}", error.with_code());
            (self.notices.warn)(&text);
        }
        ended
    }
}
