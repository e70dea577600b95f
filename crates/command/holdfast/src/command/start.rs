//! `holdfast start`: a system that many programs use at once.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::Coded as _;
use clap::Args;
use operations::Databases;
use operations::selection::register_databases;
use region::bmp::{self, Door};
use region::{Failure as Refusal, Server};
use schedule::{Catalogs, Intents, NoPools, claims_of};
use seam::Seam;
use seam::socket::Peer;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use store_any::AnyStore;
use system::{AnySystem, EngineSystem, Guests, Home as _};
use uow::Kernel;

use super::messages::MessagePrograms;
use super::online::{self, Online};
use super::{Context, DONE};
use crate::failure::{Failure, Result};
use crate::job::{self, Job, KernelPools, Kind, SOCKET, Terms};
use crate::left::{self, Tells};
use crate::operate::any_options;
use crate::output::warn;
use crate::passphrase::PassphraseArgs;

/// Start a system, for programs that use it at the same time (--type bmp)
///
/// Runs in the foreground until it is stopped, by `holdfast stop`, SIGTERM or Ctrl-C: programs
/// that are running then are backed out, and everything is written to disk. Killed, it loses
/// nothing: the next start backs out what was in flight.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast start -s /srv/bank & holdfast batch -s /srv/bank \
--type bmp --psb TELLER --program teller.cbl; holdfast stop -s /srv/bank")]
pub(crate) struct StartArgs {
    /// The system's folder
    #[arg(short, long, value_name = "DIR")]
    system: PathBuf,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

/// What programs work on.
enum Ground {
    /// Databases that nobody else has: they are opened once.
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
}

impl bmp::Schedule for Regions {
    fn schedule(&self, job: &[u8]) -> std::result::Result<Box<dyn Server>, Refusal> {
        self.serve(job).map_err(|failure| {
            let (code, text, remedy) = failure.parts();
            Refusal { code, text, remedy }
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
                job::schedule(&self.seam, pools, databases, &job, &terms)?
            }
            Ground::Engine(system) => {
                let mut beside = system.beside()?;
                // Somebody may have changed the definitions since the last program.
                let databases = Databases::for_programs(system)?;
                for (dbd, access) in claims_of(&job::psb_of(&databases, &job.psb)?) {
                    beside.claim(dbd.text(), access)?;
                }
                let pools = Arc::new(NoPools);
                let scheduled = job::schedule(&self.seam, pools, &databases, &job, &terms)?;
                scheduled.by_right_of(Some(beside))
            }
        };
        Ok(Box::new(scheduled))
    }
}

pub(super) fn run(context: &mut Context, args: &StartArgs) -> Result<ExitCode> {
    let passphrase = args.passphrase.get()?;
    // Taken before the system is open: no signal may end it out of order.
    // A job in the background of a shell does not hear its Ctrl-C; `stop` must be heard.
    let heeded = [&[SIGTERM][..], &seam::process::not_ignored(&[SIGINT])].concat();
    let mut signals = Signals::new(heeded).map_err(|error| {
        Failure::other(format!("signals cannot be received: {error}"), "Try again.")
    })?;
    let system = AnySystem::open(&context.seam, &args.system, &passphrase, any_options())?;
    system.notes().iter().for_each(warn);
    left::clear(&*context.seam.disk, &args.system, Tells::OfAll);
    if let AnySystem::Kernel(system) = &system {
        register_databases(system);
    }
    let intents = Arc::default();
    let catalogs = Arc::default();
    let door = match open_door(context, &system, (&intents, &catalogs)) {
        Ok(door) => door,
        Err(failure) => {
            if let Err(error) = system.close() {
                warn(format!("{error} ({})", error.code()));
            }
            return Err(failure);
        }
    };
    let online = match open_online(context, &system, (&intents, &catalogs)) {
        Ok(online) => online,
        Err(failure) => {
            door.close();
            if let Err(error) = system.close() {
                warn(format!("{error} ({})", error.code()));
            }
            return Err(failure);
        }
    };
    let messages = match open_messages(&system) {
        Ok(messages) => messages,
        Err(failure) => {
            door.close();
            if let Err(error) = system.close() {
                warn(format!("{error} ({})", error.code()));
            }
            return Err(failure);
        }
    };
    let mut addresses = online.as_ref().map(Online::addresses).unwrap_or_default();
    addresses.extend(messages.as_ref().map(MessagePrograms::addresses).unwrap_or_default());
    say(context, &args.system, "started", &addresses)?;
    let _ = signals.forever().next();
    if let Some(messages) = messages {
        messages.close();
    }
    if let (Some(online), AnySystem::Kernel(system)) = (online, &system) {
        online.close(system);
    }
    if let AnySystem::Kernel(system) = &system {
        system.doors().clear();
        system.detach();
    }
    let programs = door.close();
    if programs > 0 {
        warn(format!("programs that were running are backed out: {programs}"));
    }
    system.close()?;
    say(context, &args.system, "stopped", &[])?;
    DONE
}

/// What all programs of a started system share: their claims, and the catalog.
type Shared<'a> = (&'a Arc<Intents>, &'a Arc<Catalogs<AnyStore>>);

/// The terms on which all programs of a started system run.
fn terms(system: &AnySystem, (intents, catalogs): Shared<'_>) -> Terms {
    let compat = system.config().placement_settings().compat;
    let (intents, catalogs) = (Arc::clone(intents), Arc::clone(catalogs));
    let (authoriser, places) = match system {
        AnySystem::Kernel(system) => (Some(system.authoriser()), Some(Arc::new(system.places()))),
        AnySystem::Engine(_) => (None, None),
    };
    Terms { compat, authoriser, intents, catalogs, places, owner: 0 }
}

/// Transactions are processed where the kernel keeps the databases.
fn open_online(
    context: &Context,
    system: &AnySystem,
    shared: Shared<'_>,
) -> Result<Option<Online>> {
    let terms = terms(system, shared);
    let AnySystem::Kernel(system) = system else { return Ok(None) };
    let databases = Databases::for_programs(system)?;
    Online::open(online::Parts { seam: &context.seam, system, databases, terms })
}

/// Messages are kept where the kernel keeps the databases.
fn open_messages(system: &AnySystem) -> Result<Option<MessagePrograms>> {
    let AnySystem::Kernel(system) = system else { return Ok(None) };
    MessagePrograms::open(system).map(Some)
}

fn open_door(context: &Context, system: &AnySystem, shared: Shared<'_>) -> Result<Door> {
    let ground = match system {
        AnySystem::Kernel(system) => {
            let databases = Box::new(Databases::for_programs(system)?);
            Ground::Kernel(Arc::clone(system.kernel()), databases)
        }
        AnySystem::Engine(system) => Ground::Engine(system.share()),
    };
    let regions = Regions {
        seam: context.seam.clone(),
        ground,
        terms: terms(system, shared),
        guests: Arc::clone(system.guests()),
        last: AtomicU64::new(0),
    };
    Ok(Door::open(&system.dir().join(SOCKET), Arc::new(regions))?)
}

/// Says what the system does now, at once: somebody may wait for it.
fn say(
    context: &mut Context,
    dir: &std::path::Path,
    what: &str,
    addresses: &[(&str, SocketAddr)],
) -> Result<()> {
    let process = std::process::id();
    let dir = dir.display().to_string();
    match context.output.is_json() {
        true => {
            let mut said = serde_json::json!({ "system": dir, "state": what, "process": process });
            for (door, address) in addresses {
                said[*door] = address.to_string().into();
            }
            context.output.value(&said)?;
        }
        false => {
            context.output.line(format_args!("system {dir} {what}, process {process}"))?;
            for (door, address) in addresses {
                context.output.line(format_args!("{door} at {address}"))?;
            }
        }
    }
    context.output.flush()
}
