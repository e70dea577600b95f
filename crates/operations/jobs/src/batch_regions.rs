//! The door of a started system for programs in processes of their own: BMPs, and what else is
//! scheduled for a job step.
//!
//! Invariants:
//! 1. Programs of a started system start no others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use control::{BatchProgram, BatchStart};
use operations::Databases;
use otma::Name;
use region::bmp::{self, Door};
use region::{Failure as Refusal, Server};
use schedule::{NoPools, claims_of};
use seam::Seam;
use seam::socket::Peer;
use store_any::AnyStore;
use system::{AnySystem, EngineSystem, Guests, Home as _};
use uow::Kernel;

use crate::error::{JobsError, Result};
use crate::job::{Job, Kind, SOCKET};
use crate::scheduling::{KernelPools, Step, psb_of, schedule};
use crate::terms::{Manager, Shared, Terms};

/// What programs work on.
enum Ground {
    /// Databases that no other program has: they are opened once.
    Kernel(Arc<Kernel>, Box<Databases<AnyStore>>),
    /// Databases that others share, and whose definitions they may change between programs.
    Engine(EngineSystem),
}

/// Schedules PSBs for programs that come.
struct Regions {
    seam: Seam,
    ground: Ground,
    terms: Terms,
    guests: Arc<Guests>,
    /// The number of the last program.
    last: AtomicU64,
    manager: Arc<Manager>,
}

impl bmp::Schedule for Regions {
    fn schedule(&self, job: &[u8]) -> std::result::Result<Box<dyn Server>, Refusal> {
        self.serve(job).map_err(|failure| {
            let (code, remedy) = (failure.code(), failure.remedy());
            Refusal { code, text: failure.to_string(), remedy }
        })
    }

    fn step(&self, job: &[u8]) -> Vec<u8> {
        Job::from_text(job).map(|job| job.step().into_bytes()).unwrap_or_default()
    }

    fn admit(&self, peer: &Peer) -> std::result::Result<Box<dyn Send>, Refusal> {
        if let Some(other) = self.guests.above(peer) {
            let text = format!(
                "programs of a started system start no others: process {other} is one, or was \
                 started by one, or has ended"
            );
            let remedy = "Start it from a shell, or from a job that no program starts.".to_owned();
            return Err(Refusal { code: "HFR015".to_owned(), text, remedy });
        }
        Ok(Box::new(self.guests.enter(peer.process)))
    }
}

impl Regions {
    fn serve(&self, job: &[u8]) -> Result<Box<dyn Server>> {
        let mut job = Job::from_text(job)?;
        job.kind = Kind::Bmp;
        let owner = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let terms = Terms { owner, ..self.terms.clone() };
        let scheduled = match &self.ground {
            Ground::Kernel(kernel, databases) => {
                let pools = Arc::new(KernelPools(Arc::clone(kernel)));
                let batch = self.batch_program(&job)?;
                let step = Step { job: &job, batch };
                schedule(&self.seam, pools, databases, step, &terms)?
            }
            Ground::Engine(system) => {
                let mut beside = system.beside()?;
                // The definitions may have changed since the last program.
                let databases = Databases::for_programs(system)?;
                for (dbd, access) in claims_of(&psb_of(&databases, &job.psb)?) {
                    beside.claim(dbd.text(), access)?;
                }
                let pools = Arc::new(NoPools);
                let batch = self.batch_program(&job)?;
                let step = Step { job: &job, batch };
                let scheduled = schedule(&self.seam, pools, &databases, step, &terms)?;
                scheduled.by_right_of(Some(beside))
            }
        };
        Ok(Box::new(scheduled))
    }
}

impl Regions {
    /// Has the transaction manager know a program, if there is one.
    fn batch_program(&self, job: &Job) -> Result<Option<BatchProgram<AnyStore>>> {
        let manager = self.manager.lock().clone();
        let Some(manager) = manager else {
            return match (&job.input, &job.output) {
                (None, None) => Ok(None),
                _ => Err(JobsError::NoTransactions),
            };
        };
        let name = |text: &str| Name::new(&text.to_ascii_uppercase());
        let of = |text: &Option<String>| text.as_deref().map_or(Some(Name::BLANK), name);
        let (Some(input), Some(output)) = (of(&job.input), of(&job.output)) else {
            return Err(JobsError::NoName);
        };
        let program = name(&job.psb).unwrap_or_default();
        let step: String = job.step_name().chars().take(8).collect();
        let begun = manager.batch_program(program, &step, BatchStart { input, output });
        begun.map(Some).map_err(|refusal| JobsError::NoMessages { why: refusal.to_string() })
    }
}

/// Programs come in from processes of their own.
///
/// # Errors
/// If the socket cannot be made.
pub fn open_door(seam: &Seam, system: &AnySystem, shared: &Shared) -> Result<Door> {
    let ground = match system {
        AnySystem::Kernel(system) => {
            let databases = Box::new(Databases::for_programs(system)?);
            Ground::Kernel(Arc::clone(system.kernel()), databases)
        }
        AnySystem::Engine(system) => Ground::Engine(system.share()),
    };
    let regions = Regions {
        seam: seam.clone(),
        ground,
        terms: shared.terms(system),
        guests: Arc::clone(system.guests()),
        last: AtomicU64::new(0),
        manager: Arc::clone(&shared.manager),
    };
    Ok(Door::open(&system.dir().join(SOCKET), Arc::new(regions))?)
}
