//! Queue managers of other systems: programs reach them over the network.
//!
//! ```text
//!  program --> library --> client ==TLS==> door of a started system --> queue manager
//! ```
//!
//! | question | where |
//! |---|---|
//! | goes a program to this machine or over the network? | [`Binding`] |
//! | what does the environment say? | [`Settings`] |
//! | where to, by which channel? | [`definition`]; in a table of channels: `table` |
//! | how is a connection made? | `connection`; certificates: `secured` |
//! | is it made again when it breaks? | [`reconnection`] |
//!
//! Invariants:
//! 1. Nothing goes to another machine in the clear. To this one it does if neither the definition
//!    nor the environment speaks of TLS.
//! 2. Who listens there has to prove its name by a certificate of a partner whom this side
//!    believes; without any such belief there is no connection.
//! 3. A program that runs with another user's rights trusts no variables.

mod connection;
pub(crate) mod definition;
pub(crate) mod reconnection;
mod secured;
mod table;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use mqi::client::Client;
use mqi::wire::Connecting;
use queue_manager::{Completion, Reason};

pub(crate) use self::connection::Way;
use self::definition::Definition;

const LOCAL_BINDING: i32 = 0x400;
const CLIENT_BINDING: i32 = 0x800;
/// Certificates and keys cannot be found.
pub(crate) const KEY_REPOSITORY_ERROR: Reason = Reason(2381);
/// The certificate of the other end is not that of whom the program wants.
const SSL_PEER_NAME_MISMATCH: Reason = Reason(2398);

static CLIENT_LIBRARY: AtomicBool = AtomicBool::new(false);

/// Says that this library is one for clients: all its connections go over the network.
pub fn only_client() {
    if !CLIENT_LIBRARY.load(Ordering::Relaxed) {
        CLIENT_LIBRARY.store(true, Ordering::Relaxed);
    }
}

/// What is between a program and its queue manager.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Binding {
    /// This machine.
    Local,
    /// The network.
    Client,
}

impl Binding {
    /// The one that options and environment ask for.
    pub(crate) fn of(options: i32, settings: &Settings) -> Result<Binding, Reason> {
        match options & (LOCAL_BINDING | CLIENT_BINDING) {
            CLIENT_BINDING => Ok(Binding::Client),
            // Its options cannot say anything else.
            0 | LOCAL_BINDING if CLIENT_LIBRARY.load(Ordering::Relaxed) => Ok(Binding::Client),
            0 if settings.connects_as_client => Ok(Binding::Client),
            0 | LOCAL_BINDING => Ok(Binding::Local),
            _ => Err(Reason::OPTIONS_ERROR),
        }
    }
}

/// What the environment of a program says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// `MQSERVER`: channel, transport and connection name.
    pub(crate) server: Option<String>,
    /// `MQCCDTURL`, or `MQCHLLIB` and `MQCHLTAB`: a table of channels.
    pub(crate) table: Option<PathBuf>,
    /// `MQ_CONNECT_TYPE`: a program that does not say goes over the network.
    connects_as_client: bool,
    pub(crate) keys: KeyFiles,
    /// `MQCLNTCF`: the configuration of clients.
    pub(crate) configuration: Option<PathBuf>,
}

/// Files of certificates and keys, as PEM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyFiles {
    /// `HOLDFAST_MQ_CA`: who signs the certificates of systems.
    pub(crate) roots: Option<PathBuf>,
    /// `HOLDFAST_MQ_CERTIFICATE`: the program's own, with those above it.
    pub(crate) certificate: Option<PathBuf>,
    /// `HOLDFAST_MQ_KEY`: its key.
    pub(crate) key: Option<PathBuf>,
    /// `MQSSLKEYR`, or what the program names: all of it in one file.
    pub(crate) repository: Option<PathBuf>,
}

impl KeyFiles {
    pub(crate) fn is_empty(&self) -> bool {
        *self == KeyFiles::default()
    }
}

impl Settings {
    /// Those of this process.
    pub(crate) fn of_process(trusts_environment: bool) -> Settings {
        Settings::of(&|name| {
            let value = std::env::var_os(name).filter(|_| trusts_environment)?;
            value.into_string().ok().filter(|value| !value.is_empty())
        })
    }

    pub(crate) fn of(variable: &dyn Fn(&str) -> Option<String>) -> Settings {
        let path = |name: &str| variable(name).map(PathBuf::from);
        let by_url = || Some(PathBuf::from(definition::path_of(&variable("MQCCDTURL")?)?));
        let by_folder = || {
            let (folder, file) = (path("MQCHLLIB"), path("MQCHLTAB"));
            let file = file.or_else(|| folder.is_some().then(|| "AMQCLCHL.TAB".into()))?;
            Some(folder.unwrap_or_default().join(file))
        };
        Settings {
            server: variable("MQSERVER"),
            table: by_url().or_else(by_folder),
            connects_as_client: variable("MQ_CONNECT_TYPE").as_deref() == Some("CLIENT"),
            keys: KeyFiles {
                roots: path("HOLDFAST_MQ_CA"),
                certificate: path("HOLDFAST_MQ_CERTIFICATE"),
                key: path("HOLDFAST_MQ_KEY"),
                repository: path("MQSSLKEYR"),
            },
            configuration: path("MQCLNTCF"),
        }
    }
}

/// Connects to the first queue manager that answers, of the places of the definitions; answers
/// also by which of these.
pub(crate) fn connect<'d>(
    definitions: &'d [Definition],
    keys: &KeyFiles,
    connecting: &Connecting,
) -> Result<(Client, &'d Definition), Reason> {
    let mut why = Reason::Q_MGR_NAME_ERROR;
    for definition in definitions {
        for place in &definition.places {
            match enter(&Way { definition, place, keys }, connecting) {
                Ok(client) => return Ok((client, definition)),
                // Another place may have one.
                Err(reason) if passes(reason) => why = reason,
                Err(reason) => return Err(reason),
            }
        }
    }
    Err(why)
}

/// Whether a reason is about a place, not about the program.
pub(crate) fn passes(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::HOST_NOT_AVAILABLE
            | Reason::Q_MGR_NOT_AVAILABLE
            | Reason::Q_MGR_QUIESCING
            | Reason::Q_MGR_STOPPING
            | Reason::MAX_CONNS_LIMIT_REACHED
            | Reason::CHANNEL_NOT_AVAILABLE
    )
}

pub(crate) fn enter(way: &Way<'_>, connecting: &Connecting) -> Result<Client, Reason> {
    let (network, greeted) = way.open()?;
    let entry = way.entry();
    let mut connecting = connecting.clone();
    if way.definition.any_manager {
        connecting.manager = queue_manager::ObjectName::BLANK;
    }
    let entered = Client::enter(network, entry, connecting);
    greeted.store(true, Ordering::Release);
    entered.map_err(|outcome| match (outcome.completion, outcome.reason) {
        // It was never made.
        (Completion::Failed, Reason::CONNECTION_BROKEN) => Reason::Q_MGR_NOT_AVAILABLE,
        (_, reason) => reason,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(all: &[(&str, &str)]) -> Settings {
        let all: Vec<(String, String)> =
            all.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        Settings::of(&|name| {
            all.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        })
    }

    #[test]
    fn options_and_environment_say_which_way_a_program_goes() {
        let none = settings(&[]);
        let client = settings(&[("MQ_CONNECT_TYPE", "CLIENT")]);
        assert_eq!(Binding::of(0, &none), Ok(Binding::Local));
        assert_eq!(Binding::of(0, &client), Ok(Binding::Client));
        assert_eq!(Binding::of(LOCAL_BINDING, &client), Ok(Binding::Local));
        assert_eq!(Binding::of(CLIENT_BINDING, &none), Ok(Binding::Client));
        let both = LOCAL_BINDING | CLIENT_BINDING;
        assert_eq!(Binding::of(both, &none), Err(Reason::OPTIONS_ERROR));
    }

    #[test]
    fn a_table_of_channels_is_found_by_its_address_or_by_its_folder() {
        let table = |all: &[(&str, &str)]| settings(all).table;
        assert_eq!(table(&[("MQCCDTURL", "file:///etc/c.json")]), Some("/etc/c.json".into()));
        assert_eq!(table(&[("MQCHLLIB", "/etc/mq")]), Some("/etc/mq/AMQCLCHL.TAB".into()));
        let both = [("MQCHLLIB", "/etc/mq"), ("MQCHLTAB", "c.json")];
        assert_eq!(table(&both), Some("/etc/mq/c.json".into()));
        assert_eq!(table(&[("MQCCDTURL", "http://host/c.json")]), None);
    }
}
