//! The AMQP door of a started system.
//!
//! Invariants:
//! 1. Where no users are configured, only this machine comes in, unless the configuration says
//!    otherwise; the system says so.
//! 2. Once there are users, who names none is not let in, unless the configuration says otherwise;
//!    nor is a client with a certificate who is none of them.

use std::net::SocketAddr;
use std::sync::Arc;

use amqp::{Authenticator, Options, Server};
use operations::messages::Messages;
use operations::transactions::{self, TransactionManager};
use otma::{Manager as _, Name};
use system::{DoorStatus, System};

use super::listen;
use crate::failure::{Failure, Result};

/// The door, and the section of the configuration that it has.
const NAMES: (&str, &str) = ("AMQP", "amqp");
/// The door's names, without and with TLS, as `start` tells them.
const PLAIN: &str = "amqp";
const SECURED: &str = "amqps";
/// Who a client without a name is.
const NOBODY: &str = "anonymous";
const THREADS: usize = 2;

/// The door, open.
pub(super) struct AmqpDoor {
    server: Arc<Server>,
    /// How many of its addresses are without TLS.
    plain: usize,
}

/// The users of a system.
struct Users {
    manager: TransactionManager,
    anonymous: bool,
}

impl Authenticator for Users {
    fn plain(&self, user: &str, password: &[u8]) -> Option<String> {
        let user = listen::user_name(user)?;
        let known = self.manager.authenticate(user, Name::BLANK, password);
        known.ok().map(|known| known.user.text())
    }

    fn external(&self, certificate: &[u8]) -> Option<String> {
        let name = listen::user_name(&tls::user(certificate)?)?;
        // A client who was a user, or never was one, is not let in by a certificate alone.
        self.manager.knows(name).then(|| name.text())
    }

    fn anonymous(&self, local: bool) -> Option<String> {
        let allowed = self.anonymous || (local && !self.manager.has_users());
        allowed.then(|| NOBODY.to_owned())
    }

    fn mark(&self, user: &str) -> Option<u64> {
        self.manager.user_mark(listen::user_name(user)?)
    }

    fn has_passwords(&self) -> bool {
        self.manager.has_users()
    }
}

impl AmqpDoor {
    /// Opens the door, if the configuration wants one.
    pub(super) fn open(system: &System, messages: &Messages) -> Result<Option<AmqpDoor>> {
        let settings = &system.config().amqp;
        if settings.listen.is_empty() && settings.tls.is_empty() {
            return Ok(None);
        }
        let users = transactions::users(system)?;
        let open = settings.anonymous || users.has_users();
        let options = Options {
            addresses: listen::addresses_of(&settings.listen, NAMES, open)?,
            tls_addresses: listen::addresses_of(&settings.tls, NAMES, open)?,
            tls: listen::certificates_of(system, &settings.tls, settings.certificates())?,
            passwords_without_tls: false,
            connections_max: usize::try_from(settings.connections_max).unwrap_or(usize::MAX),
            threads: THREADS,
        };
        let plain = options.addresses.len();
        let manager = messages.manager()?;
        let users = Arc::new(Users { manager: users, anonymous: settings.anonymous });
        let server = Server::start(&manager, &options, users);
        let server = Arc::new(server.map_err(|error| Failure::Error(Box::new(error)))?);
        let reported = Arc::clone(&server);
        system.doors().add(Box::new(move || status(&reported)));
        Ok(Some(AmqpDoor { server, plain }))
    }

    /// Where clients come in: the door's name, and its address.
    pub(super) fn addresses(&self) -> Vec<(&'static str, SocketAddr)> {
        let name = |at: usize| if at < self.plain { PLAIN } else { SECURED };
        let all = self.server.addresses().iter().enumerate();
        all.map(|(at, address)| (name(at), *address)).collect()
    }

    /// Tells clients that the system stops, and lets them go.
    pub(super) fn close(self) {
        self.server.close();
    }
}

fn status(server: &Server) -> DoorStatus {
    let counted = server.counted();
    DoorStatus {
        name: PLAIN.to_owned(),
        addresses: server.addresses().iter().map(ToString::to_string).collect(),
        connections: counted.connections,
        accepted: counted.accepted,
        refused: counted.refused,
        received: counted.received,
        sent: counted.sent,
    }
}
