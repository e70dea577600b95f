//! A system: the folder that holds one, opening it, looking at it, proving it.
//!
//! ```text
//!   DIR/holdfast.toml    configuration, edited by people      config/
//!   DIR/holdfast.keys    key file, under a passphrase         (crate seal)
//!   DIR/control          where restart begins                 (crate uow)
//!   DIR/log/             the log, or DIR/log and another      (crate log)
//!   DIR/double-write     against torn writes                  (crate pool)
//!   DIR/data/            the data sets' files                 (crate space)
//!   DIR/recon.1, .2      what a recovery needs to know        (crate recon)
//!   DIR/lock             held by the process that has it open
//!   DIR/operator.sock    where it takes operators' commands    protocol/, operator/
//! ```
//!
//! Invariants:
//! 1. A folder is a system once it has its `holdfast.toml`, which `init` writes last.
//! 2. Looking at a system, `verify` included, changes no byte of it: everything goes through a
//!    disk that keeps writes in memory (`shadow`).
//! 3. A process that has opened a keyset leaves no core dumps (K22).
//! 4. The key file is changed only under the system's lock, by whoever has it.
//! 5. Paths that are recorded, or told to others, are absolute, however the folder was named.
//!
//! A system whose databases are on an engine has only the first two of these, and lock and socket
//! (`engine`). Whoever works on databases alone takes either ([`AnySystem`]).
//!
//! It is not the catalog of databases and programs.

mod any;
mod archives;
mod authorise;
mod bound;
mod config;
mod create;
mod doctor;
mod doors;
mod engine;
mod error;
mod guests;
pub mod hygiene;
mod inner;
mod inspect;
mod key_file_care;
mod keyset;
mod limits;
mod lock;
mod openings;
pub mod operator;
mod places;
pub mod protection;
mod protocol;
mod registry;
mod remedy;
mod restore;
mod room;
mod shadow;
pub mod status;
mod survey;
mod system;
mod verify;
mod write_freeze;

pub use any::{AnyOptions, AnySystem, Home, run};
pub use archives::{AccumulationStatus, ArchiveStatus, ArchivesStatus};
pub use authorise::{Authorised, Authoriser};
pub use config::{
    AmqpSettings, AnchorSettings, ArchiveSettings, Bytes, CONFIG_FILE, ChannelSettings,
    CheckpointSettings, DataSettings, DoorCertificates, EngineSettings, KeySettings, LockSettings,
    LogSettings, MapSettings, MqiSettings, OnlineSettings, PoolSettings, ProgramMessages,
    ReconSettings, RegionSettings, RestSettings, SystemConfig, UnitSettings, WarnSettings,
    read_root_list,
};
pub use create::InitOptions;
pub use doctor::{Diagnosis, FoundFile, Health, Part, Step, diagnose};
pub use doors::{DoorStatus, Doors, Reporter};
pub use engine::status::{EngineFigures, EngineStatus, LivingStatus, ask_engine};
pub use engine::{EngineRun, EngineSystem, EngineVerb, EngineVerified, InUse, VerifiedSet};
pub use error::{SystemError, explain};
pub use guests::{Guest, Guests};
pub use inner::{ArchiveHandle, StatusLines};
pub use inspect::status;
pub use keyset::{LABELS, read_keyset, session_name, stretch_passphrase};
pub use lock::open_keyset;
pub use places::Places;
pub use protocol::ask;
pub use registry::recon_setup;
pub use remedy::{Repair, is_all_in_log};
pub use restore::{RebuiltRecon, RestoreOptions, RestoredSystem, rebuild_recon};
pub use room::is_full;
pub use status::SystemStatus;
pub use survey::{LogDamage, LogSurvey, LostLogCopy, Stopped, SurveyedSegment};
pub use system::{OpenOptions, System};
pub use verify::{
    ArchiveDiscord, Finding, Phase, RepairRequest, Repaired, SetReport, VerifyReport,
    VerifyRequest, verify,
};
pub use write_freeze::WriteFreeze;
