//! The online side of a started system: its transaction manager, message regions and doors.
//!
//! ```text
//!  clients --> IMS Connect --> transaction manager --> regions --> programs' processes
//!                                     \---- one unit of work ----/
//! ```
//!
//! | question | where |
//! |---|---|
//! | what runs in a region, and how is it scheduled? | `jobs` |
//! | what do metrics say? | [`pages`] |
//!
//! Invariants:
//! 1. Doors open last and close first: no client is served by half a system.

mod pages;
mod queue_metrics;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use codec::CodePage;
use http_door::{Listening, Site};
use ims_connect::server::{MessageMap, MessageMaps, Options as DoorOptions, Server as ImsConnect};
use ims_connect::wire::Rule;
use ims_connect::{Exit, LibraryExit};
use jobs::online::Online as Transactions;
use jobs::terms::Terms;
use operations::Databases;
use operations::messages::Messages;
use operations::transactions::{self, TransactionManager};
use otma::Encoding;
use seam::Seam;
use store_any::AnyStore;
use system::{MapSettings, OnlineSettings, Places, ProgramMessages, System};

use self::pages::{Counted, StatusPages};
use super::{guest, listen, web};
use crate::failure::{Failure, Result};
use crate::output::warn;

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
    transactions: Transactions,
    door: Option<ImsConnect>,
    pages: Option<Listening>,
    counted: Counted,
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
        let own = std::env::current_exe().map_err(|error| {
            Failure::other(format!("this command cannot find itself: {error}"), "Install it again.")
        })?;
        let spared = terms.places.as_deref().map(Places::folders).unwrap_or_default();
        let spared = std::env::join_paths(spared).unwrap_or_default();
        let command = Box::new(move || region_process(&own, &spared));
        let side = jobs::online::Parts { seam, system, databases, terms, command };
        let mut online = Online {
            transactions: Transactions::start(side)?,
            door: None,
            pages: None,
            counted: Counted::default(),
        };
        online.open_doors(system, settings)?;
        Ok(Some(online))
    }

    fn open_doors(&mut self, system: &System, settings: &OnlineSettings) -> Result<()> {
        if !settings.metrics.is_empty() {
            let counted = Arc::clone(&self.counted);
            let pages = StatusPages::new(system, self.manager(), counted);
            let site = Site::of_pages(&settings.metrics, Arc::new(pages));
            let listening = web::server(system)?.listen(site);
            self.pages = Some(listening.map_err(|error| Failure::Error(Box::new(error)))?);
        }
        if settings.ims_connect.is_empty() {
            return Ok(());
        }
        let options = door_options(system.dir(), settings)?;
        let manager: Arc<dyn otma::Manager> = Arc::new(self.manager());
        let server = ImsConnect::start(options, manager);
        let server = server.map_err(|error| Failure::Error(Box::new(error)))?;
        server.notices().iter().for_each(warn);
        self.door = Some(server);
        Ok(())
    }

    /// The transaction manager.
    pub(crate) fn manager(&self) -> TransactionManager {
        self.transactions.manager().clone()
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
        self.transactions.close(system);
    }
}

/// The command that leads to a region's process.
fn region_process(own: &Path, spared: &std::ffi::OsStr) -> std::process::Command {
    let mut command = seam::process::command(own);
    command.arg(guest::REGION).env(seam::system_files::SPARED, spared);
    command
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
