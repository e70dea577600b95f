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

use control::{Checkpoint, DatabaseState, PoolState, RegionId};
use operations::Databases;
use operations::transactions::{self, TransactionManager};
use pool::PoolStatistics;
use region::MakeCommand;
use rustix::process::{Signal, getpid, kill_process};
use seam::Seam;
use seam::sync::Mutex;
use store_any::AnyStore;
use system::System;
use uow::Kernel;

use crate::error::Result;
use crate::message_regions::{RegionContext, Regions};
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
    databases: Vec<DatabaseState>,
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
        self.databases.clone()
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

    fn set_database(&self, name: &str, _started: bool) -> std::result::Result<(), String> {
        match self.databases.iter().any(|one| one.name == name) {
            true => Err(format!("DATABASE {name} IS ALWAYS STARTED HERE")),
            false => Err(format!("DATABASE {name} NOT FOUND")),
        }
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
        let machine = Arc::new(Machine {
            kernel: Arc::clone(system.kernel()),
            databases: transactions::database_states(&databases),
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
