//! How calls get from a program to its server: directly, or over memory shared with a system.
//!
//! Invariants:
//! 1. Both ways carry the same messages ([`crate::wire`]); a program cannot tell which it has.

use std::os::fd::OwnedFd;

use crate::error::RegionError;
use crate::layout::PcbLayout;
use crate::server::Server;
use crate::wire::{Work, serve};

/// The way from a program to its server.
pub trait Link: Send {
    /// The PCBs of the scheduled PSB.
    fn layouts(&self) -> &[PcbLayout];

    /// Sends a message and replaces `answer` by what comes back.
    ///
    /// # Errors
    /// If the server is gone, or does not understand.
    fn exchange(&mut self, message: &[u8], answer: &mut Vec<u8>) -> Result<(), RegionError>;

    /// Whether a message costs so much that calls which need no answer had better wait for the
    /// next one.
    fn is_far(&self) -> bool {
        false
    }

    /// What another program of this process needs to go the same way; nothing if the server is in
    /// this process.
    ///
    /// # Errors
    /// If the process may have no more files.
    fn hand_on(&self) -> Result<Option<Handed>, RegionError> {
        Ok(None)
    }
}

/// The way to a server in another process.
pub struct Handed {
    pub(crate) mailbox: OwnedFd,
    /// To the system; there is none where the system has started the process itself.
    pub(crate) connection: Option<OwnedFd>,
}

/// A server in the program's own process: region types DLI and DBB.
pub struct Embedded {
    server: Box<dyn Server>,
    work: Work,
}

impl Embedded {
    /// Calls go to `server`.
    #[must_use]
    pub fn new(server: Box<dyn Server>) -> Embedded {
        Embedded { server, work: Work::default() }
    }
}

impl Link for Embedded {
    fn layouts(&self) -> &[PcbLayout] {
        self.server.pcbs()
    }

    fn exchange(&mut self, message: &[u8], answer: &mut Vec<u8>) -> Result<(), RegionError> {
        match serve(message, &mut self.work, &mut *self.server, answer) {
            Ok(_) => Ok(()),
            Err(_) => Err(RegionError::Protocol("a call that this program made")),
        }
    }
}
