//! How the transaction manager is to behave, and what it asks of the rest of the system.

use std::time::Duration;

use otma::Name;
use queues::Limits;

use crate::dispatch::RegionId;

/// What becomes of an input whose program fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// It goes to the dead letters with the reason.
    #[default]
    Discard,
    /// It waits again, in its place, until its transaction is stopped.
    Requeue,
}

/// How the transaction manager is to behave.
#[derive(Clone, Debug)]
pub struct Options {
    /// The names under which clients find this system.
    pub data_stores: Vec<Name>,
    /// How much may wait.
    pub limits: Limits,
    /// What becomes of an input whose program fails.
    pub on_failure: OnFailure,
    /// After so many failures in a row a program and its transaction are stopped.
    pub failures_max: u32,
    /// How often an input is given out again after a deadlock before that counts as a failure.
    pub retries_max: u32,
    /// How long a sync point waits for a client's answer.
    pub answer_wait: Duration,
    /// Whether a client who names no user is let in.
    pub anonymous: Anonymous,
    /// A name that is no transaction is a terminal, even if nobody has seen it.
    pub any_terminal: bool,
    /// Everything that waits is forgotten at the start. Only if a person has asked for it.
    pub cold_start: bool,
}

/// When a client who names no user is let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anonymous {
    /// Not at all.
    Never,
    /// As long as the system has had no users since it was started.
    WithoutUsers,
    /// Always.
    Always,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            data_stores: vec![Name(*b"IMS1    ")],
            limits: Limits::default(),
            on_failure: OnFailure::Discard,
            failures_max: 3,
            retries_max: 50,
            answer_wait: Duration::from_secs(120),
            anonymous: Anonymous::Never,
            any_terminal: false,
            cold_start: false,
        }
    }
}

/// What a database may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseUse {
    /// It is read and changed.
    Updates,
    /// It is read.
    Reads,
    /// Nothing.
    Nothing,
}

/// A database as the commands show it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatabaseState {
    /// Its name.
    pub name: String,
    /// Such as `DL/I` or `DEDB`.
    pub kind: String,
    /// Such as `UP`, `RD`.
    pub access: String,
    /// Such as `STOPPED`, `NOTOPEN`.
    pub conditions: Vec<String>,
}

/// A buffer pool as the commands show it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolState {
    /// Its name.
    pub name: String,
    /// Bytes of a buffer.
    pub buffer_bytes: u64,
    /// Its buffers.
    pub buffers: u64,
    /// Those that hold nothing.
    pub free: u64,
    /// Intervals that were found in it.
    pub found: u64,
    /// Intervals that were read.
    pub read: u64,
    /// Intervals that were written.
    pub written: u64,
}

/// The forms of `/CHECKPOINT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checkpoint {
    /// A checkpoint, and the system goes on.
    Simple,
    /// The system ends: programs end after their present message, what waits stays.
    Freeze,
    /// As freeze.
    DumpQueues,
    /// The system ends when its inputs are processed and its outputs are delivered.
    Purge,
}

/// What commands ask of the rest of the system.
pub trait System: Send + Sync {
    /// The databases, by name.
    fn databases(&self) -> Vec<DatabaseState>;

    /// The buffer pools.
    fn pools(&self) -> Vec<PoolState> {
        Vec::new()
    }

    /// Says what a database may be used for from now on.
    ///
    /// # Errors
    /// Why it cannot be, for people.
    fn set_database(&self, name: &str, may: DatabaseUse) -> Result<(), String>;

    /// The database that keeps a program from being scheduled, because it is stopped. It is called
    /// while the transaction manager schedules, and asks it nothing.
    fn missing_database(&self, program: Name) -> Option<String> {
        let _ = program;
        None
    }

    /// Starts one more region as the configuration has it under a name; of the first kind if the
    /// name is empty. Answers the region's job name.
    ///
    /// # Errors
    /// Why it cannot be, for people.
    fn start_region(&self, name: &str) -> Result<String, String> {
        let _ = name;
        Err("REGIONS CANNOT BE STARTED HERE".to_owned())
    }

    /// Ends the program that runs in a region now, by an abend.
    ///
    /// # Errors
    /// Why it cannot be, for people.
    fn end_program(&self, region: RegionId) -> Result<(), String> {
        let _ = region;
        Err("PROGRAMS CANNOT BE ENDED HERE".to_owned())
    }

    /// Takes a checkpoint or begins to end.
    ///
    /// # Errors
    /// Why it cannot be, for people.
    fn checkpoint(&self, form: Checkpoint, quiesce: bool) -> Result<(), String>;
}

/// A system without databases.
pub struct NoSystem;

impl System for NoSystem {
    fn databases(&self) -> Vec<DatabaseState> {
        Vec::new()
    }

    fn set_database(&self, name: &str, _: DatabaseUse) -> Result<(), String> {
        Err(format!("DATABASE {name} NOT FOUND"))
    }

    fn checkpoint(&self, _form: Checkpoint, _quiesce: bool) -> Result<(), String> {
        Err("CHECKPOINT IS NOT POSSIBLE HERE".to_owned())
    }
}
