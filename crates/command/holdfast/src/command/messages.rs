//! The queue manager's side of a started system: programs that call the message queue interface
//! come in by a socket in the system's folder, clients of AMQP over the network.
//!
//! Invariants:
//! 1. Programs come in last and are sent away first.
//! 2. A system whose programs send no messages pays a thread that waits.

use std::net::SocketAddr;
use std::sync::Arc;

use mqi::place::{Link, Places, SOCKET};
use mqi::server::{LocalUsers, Server};
use operations::messages::{self, Messages};
use system::System;

use super::amqp::AmqpDoor;
use crate::failure::{Failure, Result};
use crate::ticker::Ticker;

/// Programs that send and receive messages.
pub(crate) struct MessagePrograms {
    messages: Arc<Messages>,
    server: Server,
    /// By which programs find the queue manager by its name.
    link: Option<Link>,
    ticker: Option<Ticker>,
    amqp: Option<AmqpDoor>,
}

impl MessagePrograms {
    pub(crate) fn open(system: &System) -> Result<MessagePrograms> {
        let messages = Arc::new(Messages::new(system));
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
        let mut programs = MessagePrograms { messages, server, link, ticker, amqp: None };
        match AmqpDoor::open(system, &programs.messages) {
            Ok(door) => programs.amqp = door,
            Err(failure) => {
                programs.close();
                return Err(failure);
            }
        }
        Ok(programs)
    }

    /// Where clients come in over the network: each door's name, and its address.
    pub(crate) fn addresses(&self) -> Vec<(&'static str, SocketAddr)> {
        self.amqp.as_ref().map(AmqpDoor::addresses).unwrap_or_default()
    }

    /// Sends programs away; what they had not committed is backed out.
    pub(crate) fn close(mut self) {
        if let Some(door) = self.amqp.take() {
            door.close();
        }
        drop(self.link.take());
        self.messages.stop();
        self.server.close();
        self.ticker = None;
    }
}
