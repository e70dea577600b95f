//! The transaction manager of a started system, and its message regions.
//!
//! ```text
//!  clients --> IMS Connect --> transaction manager --> regions --> programs' processes
//!                                     \---- one unit of work ----/
//! ```
//!
//! Invariants:
//! 1. A program that runs when the system stops has so long for its message, and is backed out
//!    then; its input waits for the next start.

use std::sync::{Arc, Weak};

use control::{Checkpoint, DatabaseState, DatabaseUse, PoolState, RegionId};
use definitions::DbdName;
use operations::Databases;
use operations::transactions::{self, TransactionManager};
use otma::Name;
use pool::PoolStatistics;
use region::MakeCommand;
use rustix::process::{Signal, getpid, kill_process};
use schedule::{Closed, Intents};
use seam::Seam;
use seam::sync::Mutex;
use store_any::AnyStore;
use system::System;
use uow::Kernel;

use crate::error::Result;
use crate::message_regions::{RegionContext, Regions};
use crate::scheduling::psb_of;
use crate::terms::{Notices, Terms};
use crate::ticker::Ticker;

/// What the online side is made of.
pub struct Parts<'a> {
    /// Disk, clock.
    pub seam: &'a Seam,
    /// The system.
    pub system: &'a System,
    /// Its databases.
    pub databases: Databases<AnyStore>,
    /// The terms on which its programs run.
    pub terms: Terms,
    /// What leads to the process of a region.
    pub command: Box<MakeCommand>,
}

/// The transaction manager and its regions, at work.
pub struct Online {
    manager: TransactionManager,
    regions: Arc<Regions>,
    ticker: Ticker,
    notices: Notices,
}

/// What operators' commands reach of the system.
struct Machine {
    kernel: Arc<Kernel>,
    databases: Arc<Databases<AnyStore>>,
    states: Vec<DatabaseState>,
    /// What is closed, for all programs.
    intents: Arc<Intents>,
    /// They know the transaction manager, which knows this.
    regions: Mutex<Weak<Regions>>,
}

impl Machine {
    fn regions(&self) -> std::result::Result<Arc<Regions>, String> {
        let regions = self.regions.lock().upgrade();
        regions.ok_or_else(|| "THE SYSTEM IS STARTING, OR SHUTTING DOWN".to_owned())
    }
}

impl control::System for Machine {
    fn databases(&self) -> Vec<DatabaseState> {
        let mut states = self.states.clone();
        for state in &mut states {
            let closed = DbdName::new(&state.name).and_then(|name| self.intents.closed(name));
            let (access, condition) = match closed {
                None => continue,
                Some(Closed::Updates) => ("RD", "NO UPDATES"),
                Some(Closed::Everything) => ("UP", "STOPPED"),
            };
            access.clone_into(&mut state.access);
            state.conditions.push(condition.to_owned());
        }
        states
    }

    fn pools(&self) -> Vec<PoolState> {
        let of = |pool: &PoolStatistics| PoolState {
            name: pool.name.clone(),
            buffer_bytes: pool.unit_bytes as u64,
            buffers: pool.frames as u64,
            free: pool.free as u64,
            found: pool.hits,
            read: pool.reads,
            written: pool.writes,
        };
        self.kernel.statistics().pools.iter().map(of).collect()
    }

    fn set_database(&self, name: &str, may: DatabaseUse) -> std::result::Result<(), String> {
        let is_known = self.states.iter().any(|one| one.name == name);
        let dbd = DbdName::new(name).filter(|_| is_known);
        let dbd = dbd.ok_or_else(|| format!("DATABASE {name} NOT FOUND"))?;
        let closed = match may {
            DatabaseUse::Updates => None,
            DatabaseUse::Reads => Some(Closed::Updates),
            DatabaseUse::Nothing => Some(Closed::Everything),
        };
        self.intents.set_closed(dbd, closed);
        Ok(())
    }

    fn missing_database(&self, program: Name) -> Option<String> {
        if !self.intents.has_closed() {
            return None;
        }
        // A program without a PSB that fits is refused when it is made ready.
        let psb = psb_of(&self.databases, &program.text()).ok()?;
        self.intents.keeps_away(&psb).map(|dbd| dbd.text().to_owned())
    }

    fn start_region(&self, name: &str) -> std::result::Result<String, String> {
        self.regions()?.add_named(name).map_err(|failure| failure.to_string())
    }

    fn end_program(&self, region: RegionId) -> std::result::Result<(), String> {
        match self.regions()?.end_program(region) {
            true => Ok(()),
            false => Err("NO PROGRAM RUNS THERE".to_owned()),
        }
    }

    fn checkpoint(&self, form: Checkpoint, _quiesce: bool) -> std::result::Result<(), String> {
        self.kernel.checkpoint_now(false).map_err(|error| error.to_string())?;
        if form != Checkpoint::Simple {
            // As `holdfast stop` does: the system ends in order.
            kill_process(getpid(), Signal::TERM).map_err(|errno| errno.to_string())?;
        }
        Ok(())
    }
}

impl Online {
    /// Starts the transaction manager of a system and its regions.
    ///
    /// # Errors
    /// If the queues cannot be read, or a process or thread cannot be started.
    pub fn start(parts: Parts<'_>) -> Result<Online> {
        let Parts { seam, system, databases, terms, command } = parts;
        let (settings, notices) = (&system.config().online, terms.notices);
        let databases = Arc::new(databases);
        let machine = Arc::new(Machine {
            kernel: Arc::clone(system.kernel()),
            states: transactions::database_states(&databases),
            databases: Arc::clone(&databases),
            intents: Arc::clone(&terms.intents),
            regions: Mutex::default(),
        });
        let options = transactions::options(settings);
        let manager = transactions::start(system, Arc::clone(&machine) as _, options)?;
        let shared = RegionContext::new(seam, system, databases, terms, manager.clone());
        let regions = Regions::start(Arc::new(shared), &settings.regions, command)?;
        *machine.regions.lock() = Arc::downgrade(&regions);
        let (ticking, looking) = (manager.clone(), Arc::clone(&regions));
        let ticker = Ticker::start("ticker", move || {
            ticking.tick();
            looking.renew();
            notices.warn_all(ticking.take_notices());
        })?;
        Ok(Online { manager, regions, ticker, notices })
    }

    /// The transaction manager.
    #[must_use]
    pub fn manager(&self) -> &TransactionManager {
        &self.manager
    }

    /// Lets programs end their messages, and ends them.
    pub fn close(self, system: &System) {
        self.manager.shut_down();
        drop(self.ticker);
        let ended = self.regions.close();
        if ended > 0 {
            let note = format!("message programs that were running are backed out: {ended}");
            (self.notices.warn)(&note);
        }
        self.notices.warn_all(self.manager.take_notices());
        transactions::stop(system);
    }
}
