//! The queue manager of a started system: programs of the message queue interface connect to it.
//!
//! ```text
//!  programs --> libmqm_r.so ==socket==> server --> queue manager --> the system's store
//! ```
//!
//! Invariants:
//! 1. Programs are let in last and sent away first.
//! 2. What a program has not committed when the system stops is backed out.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mqi::place::{Link, Places, SOCKET};
use mqi::server::{LocalUsers, Server};
use queue_manager::{Options, QueueManager};
use seam::sync::{Condvar, Mutex};
use seam::thread::JoinHandle;
use store_any::AnyStore;
use system::{AnySystem, Home as _};

use super::Context;
use crate::failure::{Failure, Result};
use crate::output::warn;

/// How often what has expired is looked for.
const TICK: Duration = Duration::from_secs(1);
/// Characters of the longest name of a queue manager.
const NAME_MAX: usize = 48;
/// Programs that are connected at once, at most.
const CONNECTIONS_MAX: usize = 4096;

/// A queue manager that programs connect to.
pub(super) struct Messages {
    manager: QueueManager<AnyStore>,
    server: Option<Server>,
    link: Option<Link>,
    over: Arc<(Mutex<bool>, Condvar)>,
    ticker: Option<JoinHandle>,
}

impl Messages {
    /// Opens the queue manager of a system, if its configuration asks for one.
    pub(super) fn open(context: &Context, system: &AnySystem) -> Result<Option<Messages>> {
        // An engine may serve several systems, and a queue manager is one system's alone.
        let AnySystem::Kernel(kernel) = system else { return Ok(None) };
        if !kernel.config().messages.start {
            return Ok(None);
        }
        let options = Options {
            name: manager_name(kernel.dir()),
            clock: Arc::clone(&context.seam.clock),
            entropy: Arc::clone(&context.seam.entropy),
            authority: None,
            connections_max: CONNECTIONS_MAX,
        };
        let manager: QueueManager<AnyStore> = QueueManager::open(&system.databases(), options)
            .map_err(|error| Failure::Error(Box::new(error)))?;
        let socket = kernel.dir().join(SOCKET);
        let socket = std::path::absolute(&socket).unwrap_or(socket);
        let served = Arc::new(manager.clone());
        let server = Server::start(&socket, served, Arc::new(LocalUsers)).map_err(Failure::from)?;
        let link = Link::make(&Places::of_process(true), manager.name(), &socket);
        if link.is_none() {
            let name = manager.name();
            warn(format!("programs find queue manager {name} only by HOLDFAST_SYSTEM"));
        }
        let over = Arc::new((Mutex::new(false), Condvar::new()));
        let mut messages = Messages { manager, server: Some(server), link, over, ticker: None };
        messages.ticker = Some(messages.tick()?);
        Ok(Some(messages))
    }

    /// Looks for what has expired, until the system stops.
    fn tick(&self) -> Result<JoinHandle> {
        let (own, manager) = (Arc::clone(&self.over), self.manager.clone());
        let thread = seam::thread::spawn("messages", move || {
            let (over, changed) = &*own;
            let mut is_over = over.lock();
            while !*is_over {
                changed.wait_for(&mut is_over, TICK);
                drop(is_over);
                manager.tick();
                is_over = over.lock();
            }
        });
        thread.map_err(Failure::from)
    }

    /// Sends programs away.
    pub(super) fn close(self) {
        drop(self);
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        self.link = None;
        // Whoever waits for a message is told, and lets its session end.
        self.manager.stop();
        if let Some(server) = self.server.take() {
            server.close();
        }
        let (over, changed) = &*self.over;
        *over.lock() = true;
        changed.notify_all();
        if let Some(ticker) = self.ticker.take() {
            ticker.join();
        }
    }
}

/// The name of a system's queue manager: that of its folder, in upper case.
fn manager_name(dir: &Path) -> String {
    let folder = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let name = folder.file_name().map(|name| name.to_string_lossy().to_ascii_uppercase());
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || "._%".contains(letter);
    let name = name.unwrap_or_default();
    let letters = name.chars().map(|letter| if allowed(letter) { letter } else { '_' });
    let fits: String = letters.take(NAME_MAX).collect();
    if fits.is_empty() { "HOLDFAST".into() } else { fits }
}
