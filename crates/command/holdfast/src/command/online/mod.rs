//! The online side of a started system: its transaction manager, message regions and doors.
//!
//! ```text
//!  clients --> IMS Connect --> transaction manager --> regions --> programs' processes
//!                                     \---- one unit of work ----/
//! ```
//!
//! | question | where |
//! |---|---|
//! | what runs in a region, and how is it scheduled? | [`regions`] |
//! | what do metrics say? | [`pages`] |
//!
//! Invariants:
//! 1. Doors open last and close first: nobody is served by half a system.
//! 2. A program that runs when the system stops has so long for its message, and is backed out
//!    then; its input waits for the next start.

mod pages;
mod queue_metrics;
mod regions;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use codec::CodePage;
use control::{Checkpoint, DatabaseState, DatabaseUse, PoolState, RegionId};
use definitions::DbdName;
use http_door::{Listening, Site};
use ims_connect::server::{MessageMap, MessageMaps, Options as DoorOptions, Server as ImsConnect};
use ims_connect::wire::Rule;
use ims_connect::{Exit, LibraryExit};
use operations::Databases;
use operations::messages::Messages;
use operations::transactions::{self, TransactionManager};
use otma::{Encoding, Name};
use pool::PoolStatistics;
use rustix::process::{Signal, getpid, kill_process};
use schedule::{Closed, Intents};
use seam::Seam;
use seam::sync::Mutex;
use store_any::AnyStore;
use system::{Guests, MapSettings, OnlineSettings, ProgramMessages, System};
use uow::Kernel;

use self::pages::{Counted, StatusPages};
use self::regions::{Hall, Regions};
use super::listen;
use super::web;
use crate::failure::{Failure, Result};
use crate::job::{self, Terms};
use crate::output::warn;
use crate::ticker::Ticker;

/// The names of the doors, as `start` tells them.
const IMS_CONNECT: &str = "ims_connect";
const METRICS: &str = "metrics";

/// What the online side is made of.
pub(crate) struct Parts<'a> {
    pub(crate) seam: &'a Seam,
    pub(crate) system: &'a System,
    pub(crate) databases: Databases<AnyStore>,
    pub(crate) terms: Terms,
}

/// The online side, open.
pub(crate) struct Online {
    manager: TransactionManager,
    door: Option<ImsConnect>,
    pages: Option<Listening>,
    counted: Counted,
    regions: Option<Arc<Regions>>,
    ticker: Option<Ticker>,
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
        let psb = job::psb_of(&self.databases, &program.text()).ok()?;
        self.intents.keeps_away(&psb).map(|dbd| dbd.text().to_owned())
    }

    fn start_region(&self, name: &str) -> std::result::Result<String, String> {
        self.regions()?.add_named(name).map_err(|failure| failure.parts().1)
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
    /// Opens the online side of a system, if there is one: transactions are defined, or a door is
    /// asked for.
    pub(crate) fn open(parts: Parts<'_>) -> Result<Option<Online>> {
        let Parts { seam, system, databases, terms } = parts;
        let settings = &system.config().online;
        let wanted = !settings.ims_connect.is_empty() || !settings.metrics.is_empty();
        if !wanted && !transactions::are_there(system)? {
            return Ok(None);
        }
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
        let hall = Hall::new(seam, system, databases, terms, manager.clone());
        let regions = Regions::start(Arc::new(hall), &settings.regions)?;
        *machine.regions.lock() = Arc::downgrade(&regions);
        let (ticking, looking) = (manager.clone(), Arc::clone(&regions));
        let ticker = Ticker::start("ticker", move || {
            ticking.tick();
            looking.renew();
            ticking.take_notices().iter().for_each(warn);
        })?;
        let mut online = Online {
            manager,
            door: None,
            pages: None,
            counted: Counted::default(),
            regions: Some(regions),
            ticker: Some(ticker),
        };
        online.open_doors(system, settings)?;
        Ok(Some(online))
    }

    fn open_doors(&mut self, system: &System, settings: &OnlineSettings) -> Result<()> {
        if !settings.metrics.is_empty() {
            let counted = Arc::clone(&self.counted);
            let pages = StatusPages::new(system, self.manager.clone(), counted);
            let site = Site::of_pages(&settings.metrics, Arc::new(pages));
            let listening = web::server(system)?.listen(site);
            self.pages = Some(listening.map_err(|error| Failure::Error(Box::new(error)))?);
        }
        if settings.ims_connect.is_empty() {
            return Ok(());
        }
        let options = door_options(system.dir(), settings)?;
        let manager: Arc<dyn otma::Manager> = Arc::new(self.manager.clone());
        let server = ImsConnect::start(options, manager);
        let server = server.map_err(|error| Failure::Error(Box::new(error)))?;
        server.notices().iter().for_each(warn);
        self.door = Some(server);
        Ok(())
    }

    /// The transaction manager.
    pub(crate) fn manager(&self) -> TransactionManager {
        self.manager.clone()
    }

    /// Has metrics tell of the queue manager's queues.
    pub(crate) fn count_messages(&self, messages: Arc<Messages>) {
        *self.counted.lock() = Some(messages);
    }

    /// Where clients come in: each door's name, and its address.
    pub(crate) fn addresses(&self) -> Vec<(&'static str, SocketAddr)> {
        let door = self.door.iter().flat_map(ImsConnect::addresses);
        let pages = self.pages.iter().map(Listening::address);
        door.map(|address| (IMS_CONNECT, *address)).chain(pages.map(|at| (METRICS, at))).collect()
    }

    /// Closes the doors, lets programs end their messages, and ends them.
    pub(crate) fn close(mut self, system: &System) {
        if let Some(door) = self.door.take() {
            door.close();
        }
        self.pages = None;
        self.manager.shut_down();
        self.ticker = None;
        if let Some(regions) = self.regions.take() {
            let ended = regions.close();
            if ended > 0 {
                warn(format!("message programs that were running are backed out: {ended}"));
            }
        }
        self.manager.take_notices().iter().for_each(warn);
        transactions::stop(system);
    }
}

fn door_options(dir: &Path, settings: &OnlineSettings) -> Result<DoorOptions> {
    let place = "ims_connect in the section [online]";
    let addresses = listen::addresses(&settings.ims_connect, place)?;
    let tls = listen::online_certificates(dir, settings)?;
    let page = CodePage::named(&settings.client_page).filter(|page| page.is_ebcdic());
    let page = page.ok_or_else(|| {
        let what = format!("{} is no EBCDIC code page", settings.client_page);
        Failure::other(what, "Correct client_page in the section [online] of holdfast.toml.")
    })?;
    let exit = |path: &PathBuf| {
        let exit = LibraryExit::load(&dir.join(path), page);
        exit.map(|exit| Arc::new(exit) as Arc<dyn Exit>)
            .map_err(|error| Failure::Error(Box::new(error)))
    };
    Ok(DoorOptions {
        addresses,
        public_without_users: settings.anonymous,
        tls,
        page,
        programs: match settings.program_messages {
            ProgramMessages::Client => None,
            ProgramMessages::Ascii => Some(Encoding::Ascii),
            ProgramMessages::Ebcdic => Some(Encoding::Ebcdic),
        },
        translation: (!settings.maps.is_empty()).then(|| Arc::new(maps_of(&settings.maps)) as _),
        exits: settings.exits.iter().map(exit).collect::<Result<_>>()?,
        ..DoorOptions::default()
    })
}

/// Which bytes of messages are characters.
fn maps_of(settings: &[MapSettings]) -> MessageMaps {
    let rule = |places: &Option<Vec<String>>| match places.as_deref() {
        None => Rule::Text,
        Some([]) => Rule::Nothing,
        // The configuration was checked when it was read.
        Some(places) => Rule::Fields(MapSettings::ranges(places).unwrap_or_default()),
    };
    let map = |one: &MapSettings| MessageMap {
        transaction: one.transaction.to_ascii_uppercase(),
        input: rule(&one.input),
        output: rule(&one.output),
    };
    MessageMaps(settings.iter().map(map).collect())
}

/// The programs that a system serves.
pub(crate) type Served = Arc<Guests>;
