//! All ways into a started system: they are opened together or not at all, and closed in order.
//!
//! 1. A door that cannot be opened closes those that were opened before it.
//! 2. Clients are sent away first; regions end next; what regions work with ends last.

use std::net::SocketAddr;
use std::sync::Arc;

use jobs::batch_regions;
use jobs::terms::Shared;
use operations::Databases;
use region::bmp::Door;
use system::AnySystem;

use super::ims_bridge::ImsBridge;
use super::messages::MessagePrograms;
use super::online::{self, Online};
use super::records::RecordPrograms;
use crate::context::Context;
use crate::failure::Result;

/// The doors that are open.
#[derive(Default)]
pub(super) struct Doors {
    door: Option<Door>,
    online: Option<Online>,
    messages: Option<MessagePrograms>,
    bridge: Option<ImsBridge>,
    records: Option<RecordPrograms>,
}

impl Doors {
    /// Opens them all, or none.
    pub(super) fn open(context: &Context, system: &AnySystem, shared: &Shared) -> Result<Doors> {
        let mut doors = Doors::default();
        match doors.open_each(context, system, shared) {
            Ok(()) => Ok(doors),
            Err(failure) => {
                doors.close(system, shared);
                Err(failure)
            }
        }
    }

    fn open_each(&mut self, context: &Context, system: &AnySystem, shared: &Shared) -> Result<()> {
        self.door = Some(batch_regions::open_door(&context.seam, system, shared)?);
        // Transactions, messages and files are where the kernel keeps the databases.
        let AnySystem::Kernel(kernel) = system else { return Ok(()) };
        let databases = Databases::for_programs(kernel)?;
        let terms = shared.terms(system);
        let parts = online::Parts { seam: &context.seam, system: kernel, databases, terms };
        self.online = Online::open(parts)?;
        let manager = self.online.as_ref().map(Online::manager);
        shared.manager.lock().clone_from(&manager);
        let queues = shared.queues();
        self.messages = queues.map(|queues| MessagePrograms::open(kernel, queues)).transpose()?;
        if let (Some(online), Some(messages)) = (&self.online, queues) {
            online.count_messages(Arc::clone(messages));
            self.bridge = Some(ImsBridge::open(kernel, messages, online.manager()));
        }
        self.records = Some(RecordPrograms::open(kernel, manager, shared.catalogs())?);
        // What is open now is bound: a change of holdfast.toml opens no more.
        Ok(kernel.bind_openings()?)
    }

    /// Where clients of other machines come in.
    pub(super) fn addresses(&self) -> Vec<(&'static str, SocketAddr)> {
        let online = self.online.as_ref().map(Online::addresses).unwrap_or_default();
        let records = self.records.as_ref().map(RecordPrograms::addresses).unwrap_or_default();
        let messages = self.messages.as_ref().map(MessagePrograms::addresses).unwrap_or_default();
        online.into_iter().chain(messages).chain(records).collect()
    }

    /// Closes them (2); answers how many programs were running.
    pub(super) fn close(mut self, system: &AnySystem, shared: &Shared) -> usize {
        *shared.manager.lock() = None;
        if let Some(records) = self.records {
            records.close();
        }
        if let Some(messages) = &mut self.messages {
            messages.send_away();
        }
        if let Some(bridge) = self.bridge {
            bridge.close();
        }
        if let (Some(online), AnySystem::Kernel(system)) = (self.online, system) {
            online.close(system);
        }
        let programs = self.door.map(Door::close).unwrap_or_default();
        if let Some(messages) = self.messages {
            messages.close();
        }
        if let AnySystem::Kernel(system) = system {
            system.doors().clear();
            system.detach();
        }
        programs
    }
}
