//! The files of a started system for everybody else: programs of this machine come in by a socket
//! in the system's folder, those of others by a port.
//!
//! Invariants:
//! 1. Programs come in last and are sent away first.
//! 2. A system whose files no process uses from outside pays two threads that wait.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use operations::transactions::{self, TransactionManager};
use owner::place::{self, SOCKET};
use owner::tls::Acceptor;
use owner::{Admission, Applid, Files, Options, Places, Server, Service, Who};
use redirector::Sender;
use schedule::Catalogs;
use seam::link::Link;
use store_any::AnyStore;
use system::{OnlineSettings, System};

use super::listen;
use crate::failure::{Failure, Result};
use crate::output::warn;

/// The name of the port, as `start` tells it.
const RECORDS: &str = "records";

/// Programs that use files from outside.
pub(crate) struct RecordPrograms {
    server: Server<AnyStore>,
    /// By which programs find the system by its name.
    link: Option<Link>,
    /// Who sends on what is changed in redirected clusters.
    sender: Sender,
}

/// Who may use the files of a system.
struct Users {
    dir: PathBuf,
    manager: Option<TransactionManager>,
    anonymous: bool,
}

impl Admission for Users {
    fn admits(&self, who: &Who<'_>) -> bool {
        match who {
            Who::Local(peer) => peer.owns(&self.dir),
            Who::Remote { user: "", .. } => self.anonymous,
            Who::Remote { user, password } => {
                let manager = self.manager.as_ref();
                manager.is_some_and(|manager| transactions::knows_user(manager, user, password))
            }
        }
    }
}

impl RecordPrograms {
    pub(crate) fn open(
        system: &System,
        manager: Option<TransactionManager>,
        catalogs: &Arc<Catalogs<AnyStore>>,
    ) -> Result<RecordPrograms> {
        let settings = &system.config().online;
        let dir = std::path::absolute(system.dir())?;
        let applid = match settings.applid.as_str() {
            "" => Applid::of_folder(&dir),
            name => Applid::parse(name).unwrap_or_else(|| Applid::of_folder(&dir)),
        };
        let (store, clock) =
            (AnyStore::Kernel(system.store().clone()), Arc::clone(&system.kernel().seam().clock));
        let catalogs = Arc::clone(catalogs);
        let sender = {
            let (catalogs, store, clock) = (Arc::clone(&catalogs), store.clone(), clock.clone());
            let (own, catalog) = (store.clone(), move || catalogs.get(&store, &clock).ok());
            Sender::start(own, Box::new(catalog), |what| warn(what))?
        };
        let names = settings.files.clone();
        let service = Service {
            files: Arc::new(Files { applid: applid.clone(), names }),
            catalog: Box::new(move || match catalogs.get(&store, &clock) {
                Ok(catalog) => Some(catalog),
                Err(error) => {
                    warn(format!("the catalog cannot be opened for programs: {error}"));
                    None
                }
            }),
            admission: Box::new(Users { dir: dir.clone(), manager, anonymous: settings.anonymous }),
            clock: Arc::clone(&system.kernel().seam().clock),
        };
        let socket = dir.join(SOCKET);
        let setting = "records in the section [online]";
        let addresses = listen::addresses(&settings.records, setting)?;
        let tls = if addresses.is_empty() { None } else { acceptor(&dir, settings)? };
        let options = Options { socket: socket.clone(), addresses, tls, ..Options::default() };
        let server = Server::start(options, service);
        let server = server.map_err(|error| Failure::Error(Box::new(error)))?;
        let link = place::link(&Places::of_process(), &applid, &socket);
        Ok(RecordPrograms { server, link, sender })
    }

    /// Where programs of other machines come in.
    pub(crate) fn addresses(&self) -> Vec<(&'static str, SocketAddr)> {
        self.server.addresses().iter().map(|address| (RECORDS, *address)).collect()
    }

    /// Sends programs away; what they had begun is backed out.
    pub(crate) fn close(mut self) {
        drop(self.link.take());
        self.server.close();
        self.sender.close();
    }
}

fn acceptor(dir: &Path, settings: &OnlineSettings) -> Result<Option<Acceptor>> {
    let tls = listen::online_certificates(dir, settings)?;
    tls.map(|tls| Acceptor::new(&tls)).transpose().map_err(|why| {
        let what = format!("the certificates of the port for files cannot be used: {why}");
        Failure::other(what, "Give a chain of certificates and its key as PEM.")
    })
}
