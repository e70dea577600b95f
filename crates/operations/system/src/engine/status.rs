//! How a system on an engine is, with all systems that share its databases.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use store::Store as _;

use super::EngineSystem;
use super::sharing::NAME;
use crate::status::ProcessStatus;
use crate::{SystemError, hygiene, protocol};

/// A system on an engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EngineStatus {
    /// Always `on_engine`: tells it from the status of a system with a kernel.
    pub state: String,
    /// Its identity.
    pub system: String,
    /// Its folder.
    pub dir: String,
    /// Where the engine is.
    pub engine: String,
    /// The schema in it.
    pub schema: String,
    /// Whether a process serves programs with it, and has answered.
    pub started: bool,
    /// How long it has been open.
    pub uptime_seconds: f64,
    /// The process that has answered.
    pub process: ProcessStatus,
    /// What it has asked of the engine.
    pub figures: EngineFigures,
    /// Every system that lives on the engine.
    pub systems: Vec<LivingStatus>,
    /// The data sets.
    pub data_sets: Vec<String>,
    /// What an operator should know, a sentence each.
    pub notes: Vec<String>,
}

/// What a system has asked of its engine since it was opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EngineFigures {
    /// Exchanges, each of which waited once for the network and the engine.
    pub round_trips: u64,
    /// Units of work committed that had changed something.
    pub commits: u64,
    /// Commits that were repeated because the engine could not place them in its order.
    pub commit_retries: u64,
    /// Connections made.
    pub connections: u64,
    /// Requests for names that had to wait.
    pub lock_waits: u64,
}

/// A system that lives on an engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LivingStatus {
    /// Its number there, which no other system ever has.
    pub number: i32,
    /// What it is called: its machine and its folder.
    pub name: String,
    /// Since when, in microseconds since 1970-01-01 UTC.
    pub since_utc_us: u64,
    /// Programs, or commands that have the databases to themselves.
    pub at_work: u64,
    /// Names that it has locked.
    pub held: u64,
    /// Its units of work that wait for one.
    pub waiting: u64,
}

impl EngineSystem {
    /// How it is now.
    ///
    /// # Errors
    /// If the engine cannot be asked.
    pub fn status(&self, started: bool) -> Result<EngineStatus, SystemError> {
        let inner = &self.inner;
        let systems = inner.store.systems(NAME)?.into_iter();
        let data_sets = inner.store.sets()?.into_iter().map(|set| set.name).collect();
        // What was asked for this answer is part of it.
        let figures = inner.store.figures();
        Ok(EngineStatus {
            state: "on_engine".into(),
            system: inner.config.system.to_string(),
            dir: inner.dir.display().to_string(),
            engine: inner.settings.url.clone(),
            schema: inner.settings.schema.clone(),
            started,
            uptime_seconds: inner.seam.clock.monotonic().saturating_sub(inner.opened).as_secs_f64(),
            process: ProcessStatus {
                pid: std::process::id(),
                cpu_us: seam::clock::process_cpu_us().saturating_sub(inner.opened_cpu_us),
                resident_bytes: hygiene::resident_bytes(),
            },
            figures: EngineFigures {
                round_trips: figures.round_trips,
                commits: figures.commits,
                commit_retries: figures.commit_retries,
                connections: figures.connections,
                lock_waits: figures.lock_waits,
            },
            systems: systems
                .map(|one| LivingStatus {
                    number: one.number,
                    name: one.name,
                    since_utc_us: one.since_utc_us,
                    at_work: one.holding,
                    held: one.held,
                    waiting: one.waiting,
                })
                .collect(),
            data_sets,
            notes: self.notes(),
        })
    }
}

/// Asks the process that has the system on an engine in `dir` open how it is. `None` if nobody
/// listens.
///
/// # Errors
/// As [`protocol::ask`].
pub fn ask_engine(dir: &Path) -> io::Result<Option<Box<EngineStatus>>> {
    protocol::asked(dir)?.map(protocol::understood).transpose()
}
