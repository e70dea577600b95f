//! Where the owner of files is found.
//!
//! | asked | looked up |
//! |---|---|
//! | for an applid | `HOLDFAST_OWNER_<APPLID>`: `tls://host:port`, `tcp://host:port`, or a system's folder |
//! | then | `$XDG_RUNTIME_DIR/holdfast/applids/<APPLID>`: a link to a system's socket |
//! | last | `/run/holdfast/applids/<APPLID>`: the same, for the whole machine |
//! | for a name of a catalog | `HOLDFAST_SYSTEM`: a system's folder, or one of the above by its applid |
//!
//! At a port a program says who it is by `HOLDFAST_OWNER_USER` and the first line of the file
//! `HOLDFAST_OWNER_PASSWORD_FILE`; `HOLDFAST_OWNER_ROOTS` is a file in PEM of who signs the
//! certificates of owners.
//!
//! Invariants:
//! 1. Without TLS nothing leaves the machine.
//! 2. A program that runs with another user's rights trusts no variable.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use rustix::process::{geteuid, getuid};
use seam::link::Link;
use zeroize::Zeroizing;

use crate::name::Applid;

/// The socket in a system's folder.
pub const SOCKET: &str = "records.sock";
/// The variable that names a system's folder.
pub const SYSTEM_VARIABLE: &str = "HOLDFAST_SYSTEM";
/// Where links stand, below a folder for what is running.
const LINKS: &str = "holdfast/applids";
/// The longest password or PEM file.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Where an owner listens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// At a socket of this machine.
    Socket(PathBuf),
    /// At a port.
    Port {
        /// Its host and port.
        address: String,
        /// With TLS.
        secured: bool,
    },
}

/// What the environment says of places.
#[derive(Clone, Debug, Default)]
pub struct Places {
    trusts: bool,
    /// In place of the environment.
    given: Option<BTreeMap<String, OsString>>,
    running: Vec<PathBuf>,
}

impl Places {
    /// Those of this process.
    #[must_use]
    pub fn of_process() -> Places {
        let trusts = getuid() == geteuid();
        let own = std::env::var_os("XDG_RUNTIME_DIR").filter(|value| trusts && !value.is_empty());
        let running = own.map(PathBuf::from).into_iter().chain([PathBuf::from("/run")]).collect();
        Places { trusts, given: None, running }
    }

    /// Those that variables say, and no links.
    #[must_use]
    pub fn given(variables: BTreeMap<String, OsString>) -> Places {
        Places { trusts: true, given: Some(variables), running: Vec::new() }
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        let value = match &self.given {
            Some(given) => given.get(name).cloned(),
            None => std::env::var_os(name),
        };
        value.filter(|value| self.trusts && !value.is_empty())
    }

    /// Where a system listens; `None` if that is not known.
    #[must_use]
    pub fn of(&self, applid: &Applid) -> Option<Place> {
        if let Some(value) = self.variable(&format!("HOLDFAST_OWNER_{applid}")) {
            return Some(place_of(&value));
        }
        let links = self.running.iter().map(|folder| folder.join(LINKS).join(applid.text()));
        let mut there = links.filter(|link| link.symlink_metadata().is_ok());
        there.next().map(Place::Socket)
    }

    /// Where the system listens whose catalog plain names are of; `None` if none is named.
    #[must_use]
    pub fn of_system(&self) -> Option<Place> {
        let value = self.variable(SYSTEM_VARIABLE)?;
        let named = value.to_str().and_then(Applid::parse);
        match named.filter(|_| !Path::new(&value).is_dir()) {
            Some(applid) => self.of(&applid),
            None => Some(place_of(&value)),
        }
    }

    /// Who this program is, for an owner at a port.
    ///
    /// # Errors
    /// If the file of the password cannot be read.
    pub fn user(&self) -> std::io::Result<(String, Zeroizing<Vec<u8>>)> {
        let user = self.variable("HOLDFAST_OWNER_USER").unwrap_or_default();
        let mut password = Zeroizing::new(Vec::new());
        if let Some(path) = self.variable("HOLDFAST_OWNER_PASSWORD_FILE") {
            let all = Zeroizing::new(file(Path::new(&path))?);
            let line = all.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
            password.extend_from_slice(line);
        }
        Ok((user.to_string_lossy().into_owned(), password))
    }

    /// Who signs the certificates of owners, in PEM.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn roots(&self) -> std::io::Result<Option<Vec<u8>>> {
        self.variable("HOLDFAST_OWNER_ROOTS").map(|path| file(Path::new(&path))).transpose()
    }
}

#[allow(clippy::disallowed_methods)] // people's files are no part of a system
fn file(path: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn place_of(value: &OsStr) -> Place {
    let text = value.to_string_lossy();
    for (front, secured) in [("tls://", true), ("tcp://", false)] {
        if let Some(address) = text.strip_prefix(front) {
            return Place::Port { address: address.to_owned(), secured };
        }
    }
    Place::Socket(Path::new(value).join(SOCKET))
}

/// Makes the link of a system in the first folder that can be written; `None` if there is none:
/// programs then need the variable of the applid.
#[must_use]
pub fn link(places: &Places, applid: &Applid, socket: &Path) -> Option<Link> {
    Link::make(&places.running, LINKS, applid.text(), socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_port_or_a_folder() {
        let place = |text: &str| place_of(&OsString::from(text));
        let port = |address: &str, secured| Place::Port { address: address.into(), secured };
        assert_eq!(place("tls://bank:7500"), port("bank:7500", true));
        assert_eq!(place("tcp://127.0.0.1:7500"), port("127.0.0.1:7500", false));
        assert_eq!(place("/srv/bank"), Place::Socket("/srv/bank/records.sock".into()));
    }

    #[test]
    #[allow(clippy::disallowed_methods, clippy::unwrap_used)] // a folder of the test's own
    fn a_link_leads_to_its_system_and_goes_with_it_alone() {
        let folder =
            std::env::temp_dir().join(format!("holdfast-owner-links-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let places = Places { running: vec![folder.clone()], ..Places::given(BTreeMap::new()) };
        let applid = Applid::parse("LINKED").unwrap();
        assert_eq!(places.of(&applid), None);
        let first = link(&places, &applid, Path::new("/one/records.sock")).unwrap();
        let path = folder.join(LINKS).join("LINKED");
        assert_eq!(places.of(&applid), Some(Place::Socket(path.clone())));
        let second = link(&places, &applid, Path::new("/two/records.sock")).unwrap();
        drop(first);
        assert_eq!(std::fs::read_link(&path).unwrap(), Path::new("/two/records.sock"));
        drop(second);
        assert_eq!(places.of(&applid), None);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
