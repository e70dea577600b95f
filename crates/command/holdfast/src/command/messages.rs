//! The queue manager's side of a started system: programs that call the message queue interface
//! come in by a socket in the system's folder or over the network, clients of AMQP and of REST over
//! the network.
//!
//! Invariants:
//! 1. Programs of their own come in last and are sent away first; those of regions use the queue
//!    manager until the regions have ended.
//! 2. A system whose programs send no messages pays a thread that waits.

use std::net::SocketAddr;
use std::sync::Arc;

use jobs::ticker::Ticker;
use mqi::place::{self, Places, SOCKET};
use mqi::server::{LocalUsers, Server};
use operations::messages::{self, Messages};
use seam::link::Link;
use system::System;

use super::amqp::AmqpDoor;
use super::message_channels::Beside;
use super::mq_clients::ClientsDoor;
use super::rest::RestDoor;
use crate::failure::{Failure, Result};
use crate::output::warn;

/// The name of the door for partners, as `start` tells it.
const CHANNELS: &str = "channels";

/// Programs that send and receive messages.
pub(crate) struct MessagePrograms {
    messages: Arc<Messages>,
    server: Option<Server>,
    /// By which programs find the queue manager by its name.
    link: Option<Link>,
    ticker: Option<Ticker>,
    beside: Arc<Beside>,
    amqp: Option<AmqpDoor>,
    clients: Option<ClientsDoor>,
    rest: Option<RestDoor>,
}

impl MessagePrograms {
    pub(crate) fn open(system: &System, messages: &Arc<Messages>) -> Result<MessagePrograms> {
        let messages = Arc::clone(messages);
        let beside = Arc::new(Beside::new(system)?);
        let (own, also) = (Arc::clone(&messages), Arc::clone(&beside));
        let ticker = Ticker::start("messages", move || {
            own.tick();
            also.tick();
        });
        let ticker = Some(ticker?);
        let socket = std::path::absolute(system.dir().join(SOCKET))?;
        let manager = Arc::clone(&messages);
        let server = Server::start(&socket, manager, Arc::new(LocalUsers)).map_err(|error| {
            let what = format!("{} cannot be listened at: {error}", socket.display());
            Failure::other(what, "Make the system's folder writable, and its path shorter.")
        })?;
        let link = place::link(&Places::of_process(true), messages.manager_name(), &socket);
        messages::attach(system, &messages);
        let server = Some(server);
        let mut programs = MessagePrograms {
            messages,
            server,
            link,
            ticker,
            beside,
            amqp: None,
            clients: None,
            rest: None,
        };
        match programs.begin(system) {
            Ok(()) => Ok(programs),
            Err(failure) => {
                programs.close();
                Err(failure)
            }
        }
    }

    /// Opens a queue manager that is there, or is asked for; one that comes later is looked after
    /// then. Clients come in last.
    fn begin(&mut self, system: &System) -> Result<()> {
        self.begin_beside()?;
        self.amqp = AmqpDoor::open(system, &self.messages)?;
        self.clients = ClientsDoor::open(system, &self.messages)?;
        self.rest = RestDoor::open(system, &self.messages)?;
        Ok(())
    }

    fn begin_beside(&self) -> Result<()> {
        if self.messages.is_there() || self.beside.is_asked_for() {
            return self.beside.begin(&self.messages.manager()?);
        }
        let beside = Arc::clone(&self.beside);
        self.messages.when_opened(Box::new(move |manager| {
            if let Err(failure) = beside.begin(manager) {
                let (code, text, remedy) = failure.parts();
                warn(format!("{text} {remedy} ({code})"));
            }
        }));
        Ok(())
    }

    /// Where clients, and partners of channels, come in: each door's name, and its address.
    pub(crate) fn addresses(&self) -> Vec<(&'static str, SocketAddr)> {
        let amqp = self.amqp.as_ref().map(AmqpDoor::addresses).unwrap_or_default();
        let clients = self.clients.as_ref().map(ClientsDoor::addresses).unwrap_or_default();
        let rest = self.rest.as_ref().map(RestDoor::addresses).unwrap_or_default();
        let partners = self.beside.addresses().into_iter().map(|address| (CHANNELS, address));
        amqp.into_iter().chain(clients).chain(rest).chain(partners).collect()
    }

    /// Sends programs away that are in no region; what they had not committed is backed out.
    pub(crate) fn send_away(&mut self) {
        if let Some(door) = self.rest.take() {
            door.close();
        }
        if let Some(door) = self.amqp.take() {
            door.close();
        }
        if let Some(door) = self.clients.take() {
            door.close();
        }
        drop(self.link.take());
        if let Some(server) = self.server.take() {
            server.close();
        }
        self.beside.end();
    }

    /// Ends the queue manager, when there is no region any more.
    pub(crate) fn close(mut self) {
        self.send_away();
        self.messages.stop();
        self.ticker = None;
    }
}
