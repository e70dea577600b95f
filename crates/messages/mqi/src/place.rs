//! Where a program finds its queue manager.
//!
//! | asked | looked up |
//! |---|---|
//! | first | `HOLDFAST_SYSTEM`: the folder of a system; its socket is [`SOCKET`] |
//! | then | `$XDG_RUNTIME_DIR/holdfast/queue-managers/NAME`: a link to a system's socket |
//! | last | `/run/holdfast/queue-managers/NAME`: the same, for the whole machine |
//!
//! A blank name stands for the queue manager of `HOLDFAST_SYSTEM`, or for the only one that a
//! folder of links has. A system that starts makes its link in the first folder that it can write,
//! and removes it when it stops; a link that a crash left is replaced.
//!
//! Invariants:
//! 1. What is found is only where to knock: the queue manager says its name itself, and refuses
//!    a program that asked for another one.
//! 2. No name leads out of the folder of links.

use std::path::{Path, PathBuf};

use seam::link::Link;

/// The name of the socket in a system's folder.
pub const SOCKET: &str = "messages.sock";
/// The variable that names a system's folder.
pub const SYSTEM_VARIABLE: &str = "HOLDFAST_SYSTEM";
/// Where links stand, below a folder for what is running.
const LINKS: &str = "holdfast/queue-managers";

/// What the environment says of places.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// A system's folder.
    pub system: Option<PathBuf>,
    /// Folders for what is running, in the order in which they are asked.
    pub running: Vec<PathBuf>,
}

impl Places {
    /// Those of this process. A program that runs with another user's rights trusts no variables.
    #[must_use]
    pub fn of_process(trusts_environment: bool) -> Places {
        let variable = |name: &str| {
            let value = std::env::var_os(name).filter(|value| !value.is_empty());
            value.filter(|_| trusts_environment).map(PathBuf::from)
        };
        let own = variable("XDG_RUNTIME_DIR");
        let running = own.into_iter().chain([PathBuf::from("/run")]).collect();
        Places { system: variable(SYSTEM_VARIABLE), running }
    }

    /// The sockets where a queue manager of that name may listen, in the order to try; empty if
    /// there is no such name.
    #[must_use]
    #[allow(clippy::disallowed_methods)] // links are no part of a system
    pub fn sockets(&self, name: &str) -> Vec<PathBuf> {
        let mut sockets: Vec<PathBuf> = Vec::new();
        if let Some(system) = &self.system {
            sockets.push(system.join(SOCKET));
        }
        let wanted = name.trim_start_matches('*');
        for folder in self.running.iter().map(|running| running.join(LINKS)) {
            if wanted.is_empty() {
                let Ok(entries) = std::fs::read_dir(&folder) else { continue };
                let mut links = entries.filter_map(|entry| Some(entry.ok()?.path()));
                if let (Some(only), None) = (links.next(), links.next()) {
                    sockets.push(only);
                }
            } else if let Some(file) = file_name(wanted) {
                let link = folder.join(file);
                if link.symlink_metadata().is_ok() {
                    sockets.push(link);
                }
            }
        }
        sockets
    }
}

/// The file that stands for a queue manager: its name, with `/` as `%2F` and `%` as `%25`.
#[must_use]
pub fn file_name(name: &str) -> Option<String> {
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic());
    let file = name.replace('%', "%25").replace('/', "%2F");
    (is_name && file != "." && file != "..").then_some(file)
}

/// Makes the link of a queue manager in the first folder that can be written; `None` if there is
/// none: programs then need [`SYSTEM_VARIABLE`].
#[must_use]
pub fn link(places: &Places, name: &str, socket: &Path) -> Option<Link> {
    Link::make(&places.running, LINKS, &file_name(name)?, socket)
}
