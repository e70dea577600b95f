//! The door of a started system for programs of the message queue interface on other machines.
//!
//! Invariants:
//! 1. Where no users are configured, only this machine comes in; the system says so. So it does
//!    where there is no certificate.
//! 2. A certificate stands for the user that its common name names, as long as there is one.

use std::net::SocketAddr;
use std::sync::Arc;

use mq_clients::{Options, Server, Users};
use operations::messages::Messages;
use operations::transactions::{self, TransactionManager};
use otma::{Manager as _, Name};
use store_any::AnyStore;
use system::{DoorStatus, System};

use super::listen;
use crate::failure::{Failure, Result};

/// The door's name, as `start` tells it.
const NAME: &str = "mqi";
/// Who a program without a name is.
const NOBODY: &str = "anonymous";

/// The door, open.
pub(super) struct ClientsDoor {
    server: Arc<Server<AnyStore>>,
}

/// The users of a system.
struct Known(TransactionManager);

impl Users for Known {
    fn password(&self, user: &str, password: &[u8]) -> Option<String> {
        let known = self.0.authenticate(listen::user_name(user)?, Name::BLANK, password);
        known.ok().map(|known| known.user.text())
    }

    fn certificate(&self, name: &str) -> Option<String> {
        let name = listen::user_name(name)?;
        self.0.user_mark(name).map(|_| name.text())
    }

    fn nobody(&self) -> Option<String> {
        (!self.0.has_users()).then(|| NOBODY.to_owned())
    }

    fn mark(&self, user: &str) -> Option<u64> {
        self.0.user_mark(listen::user_name(user)?)
    }
}

impl ClientsDoor {
    /// Opens the door, if the configuration wants one.
    pub(super) fn open(system: &System, messages: &Messages) -> Result<Option<ClientsDoor>> {
        let settings = &system.config().mqi;
        if settings.listen.is_empty() {
            return Ok(None);
        }
        let users = transactions::users(system)?;
        let tls = listen::certificates(system, settings.certificates())?;
        let mut addresses = listen::addresses(&settings.listen, "the section [mqi]")?;
        if tls.is_none() {
            let why = "the section [mqi] has no certificate";
            listen::only_here(&mut addresses, "MQI", why, "give it one, and its key");
        } else if !users.has_users() {
            listen::on_this_machine(&mut addresses, "MQI");
        }
        let options = Options {
            addresses,
            tls,
            connections_max: usize::try_from(settings.connections_max).unwrap_or(usize::MAX),
            clock: Arc::clone(&system.kernel().seam().clock),
        };
        let server = Server::start(&messages.manager()?, &options, Arc::new(Known(users)));
        let server = Arc::new(server.map_err(|error| Failure::Error(Box::new(error)))?);
        let reported = Arc::clone(&server);
        system.doors().add(Box::new(move || status(&reported)));
        Ok(Some(ClientsDoor { server }))
    }

    /// Where programs come in: the door's name, and its address.
    pub(super) fn addresses(&self) -> Vec<(&'static str, SocketAddr)> {
        self.server.addresses().iter().map(|address| (NAME, *address)).collect()
    }

    /// Sends programs away; what they had not committed is backed out.
    pub(super) fn close(self) {
        self.server.close();
    }
}

fn status(server: &Server<AnyStore>) -> DoorStatus {
    let counted = server.counted();
    DoorStatus {
        name: NAME.to_owned(),
        addresses: server.addresses().iter().map(ToString::to_string).collect(),
        connections: counted.connections,
        accepted: counted.accepted,
        refused: counted.refused,
        received: counted.calls,
        sent: counted.calls,
    }
}
