//! The REST door of a started system: messages and administration of its queue manager over HTTP.
//!
//! Invariants:
//! 1. Where no users are configured, only this machine comes in; the system says so.
//! 2. Administrators are those whom the configuration names, and no others once there are users.

use std::net::SocketAddr;
use std::sync::Arc;

use http_door::{Listening, Site};
use operations::messages::Messages;
use operations::transactions::{self, TransactionManager};
use otma::{Manager as _, Name};
use queue_manager::QueueManager;
use rest::{Authenticator, Door, Managers, Options};
use store_any::AnyStore;
use system::{DoorStatus, System};

use super::listen;
use super::web;
use crate::failure::{Failure, Result};

/// The door, and the section of the configuration that it has.
const NAMES: (&str, &str) = ("REST", "rest");
/// The door's names, without and with TLS, as `start` tells them.
const PLAIN: &str = "rest";
const SECURED: &str = "rests";
/// Who a client without a name is.
const NOBODY: &str = "anonymous";

/// The door, open.
pub(super) struct RestDoor {
    door: Door<AnyStore>,
    sites: Arc<Vec<(&'static str, Listening)>>,
}

/// The queue manager, opened by the first request.
struct Opened(Arc<Messages>);

impl Managers<AnyStore> for Opened {
    fn name(&self) -> String {
        self.0.manager_name().to_owned()
    }

    fn manager(&self) -> std::result::Result<QueueManager<AnyStore>, String> {
        self.0.manager().map_err(|error| error.to_string())
    }
}

/// The users of a system.
struct Users {
    manager: TransactionManager,
    administrators: Vec<String>,
}

impl Authenticator for Users {
    fn password(&self, user: &str, password: &[u8]) -> Option<String> {
        let known = self.manager.authenticate(listen::user_name(user)?, Name::BLANK, password);
        known.ok().map(|known| known.user.text())
    }

    fn mark(&self, user: &str) -> Option<u64> {
        self.manager.user_mark(listen::user_name(user)?)
    }

    fn nobody(&self) -> Option<String> {
        (!self.manager.has_users()).then(|| NOBODY.to_owned())
    }

    fn is_administrator(&self, user: &str) -> bool {
        self.administrators.iter().any(|one| one.eq_ignore_ascii_case(user))
    }
}

impl RestDoor {
    /// Opens the door, if the configuration wants one.
    pub(super) fn open(system: &System, messages: &Arc<Messages>) -> Result<Option<RestDoor>> {
        let settings = &system.config().rest;
        if settings.listen.is_empty() && settings.tls.is_empty() {
            return Ok(None);
        }
        let manager = transactions::users(system)?;
        let has_users = manager.has_users();
        let users = Arc::new(Users { manager, administrators: settings.administrators.clone() });
        let seam = system.kernel().seam();
        let mut options = Options::new(Arc::clone(&seam.clock), Arc::clone(&seam.entropy));
        let longest = usize::try_from(settings.message_bytes_max.0).unwrap_or(usize::MAX);
        options.message_bytes_max = longest;
        options.clear_passwords = settings.clear_passwords;
        let door = Door::new(Arc::new(Opened(Arc::clone(messages))), users, options)?;
        let server = web::server(system)?;
        let certificates = listen::certificates_of(system, &settings.tls, settings.certificates())?;
        let plain = listen::addresses_of(&settings.listen, NAMES, has_users)?
            .into_iter()
            .map(|at| (PLAIN, at, None));
        let secured = listen::addresses_of(&settings.tls, NAMES, has_users)?.into_iter();
        let secured = secured.map(|at| (SECURED, at, certificates.clone()));
        let mut sites = Vec::new();
        for (name, address, tls) in plain.chain(secured) {
            let site = Site {
                address: address.to_string(),
                tls,
                connections_max: usize::try_from(settings.connections_max).unwrap_or(usize::MAX),
                router: door.router(),
            };
            let open = server.listen(site);
            sites.push((name, open.map_err(|error| Failure::Error(Box::new(error)))?));
        }
        let sites = Arc::new(sites);
        let (reported, of) = (Arc::downgrade(&sites), door.clone());
        system.doors().add(Box::new(move || {
            let sites = reported.upgrade().unwrap_or_default();
            status(&sites, of.messages())
        }));
        Ok(Some(RestDoor { door, sites }))
    }

    /// Where clients come in: the door's name, and its address.
    pub(super) fn addresses(&self) -> Vec<(&'static str, SocketAddr)> {
        self.sites.iter().map(|(name, site)| (*name, site.address())).collect()
    }

    /// Ends waits, lets requests that are there be answered, and closes the door.
    pub(super) fn close(self) {
        self.door.stop();
    }
}

fn status(sites: &[(&'static str, Listening)], (received, sent): (u64, u64)) -> DoorStatus {
    let all = || sites.iter().map(|(_, site)| site.connections());
    DoorStatus {
        name: PLAIN.to_owned(),
        addresses: sites.iter().map(|(_, site)| site.address().to_string()).collect(),
        connections: all().map(|one| one.open).sum(),
        accepted: all().map(|one| one.accepted).sum(),
        refused: all().map(|one| one.refused).sum(),
        received,
        sent,
    }
}
