//! The queue manager's side of a started system: programs that call the message queue interface
//! come in by a socket in the system's folder.
//!
//! Invariants:
//! 1. Programs of their own come in last and are sent away first; those of regions use the queue
//!    manager until the regions have ended.
//! 2. A system whose programs send no messages pays a thread that waits.

use std::sync::Arc;

use mqi::place::{Link, Places, SOCKET};
use mqi::server::{LocalUsers, Server};
use operations::messages::{self, Messages};
use system::System;

use crate::failure::{Failure, Result};
use crate::ticker::Ticker;

/// Programs that send and receive messages.
pub(crate) struct MessagePrograms {
    messages: Arc<Messages>,
    server: Option<Server>,
    /// By which programs find the queue manager by its name.
    link: Option<Link>,
    ticker: Option<Ticker>,
}

impl MessagePrograms {
    pub(crate) fn open(system: &System, messages: &Arc<Messages>) -> Result<MessagePrograms> {
        let messages = Arc::clone(messages);
        let own = Arc::clone(&messages);
        let ticker = Some(Ticker::start("messages", move || own.tick())?);
        let socket = std::path::absolute(system.dir().join(SOCKET))?;
        let manager = Arc::clone(&messages);
        let server = Server::start(&socket, manager, Arc::new(LocalUsers)).map_err(|error| {
            let what = format!("{} cannot be listened at: {error}", socket.display());
            Failure::other(what, "Make the system's folder writable, and its path shorter.")
        })?;
        let link = Link::make(&Places::of_process(true), messages.manager_name(), &socket);
        messages::attach(system, &messages);
        Ok(MessagePrograms { messages, server: Some(server), link, ticker })
    }

    /// Sends programs away that are in no region; what they had not committed is backed out.
    pub(crate) fn send_away(&mut self) {
        drop(self.link.take());
        if let Some(server) = self.server.take() {
            server.close();
        }
    }

    /// Ends the queue manager, when there is no region any more.
    pub(crate) fn close(mut self) {
        self.send_away();
        self.messages.stop();
        self.ticker = None;
    }
}
