//! Who is here, by the names that clients give themselves.
//!
//! 1. A client that asks to be alone under its name is; who comes second is told so.
//! 2. What a client says of itself when it opens a conversation holds for all of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use seam::sync::Mutex;

use crate::frame::FRAME_BYTES_MAX;
use crate::value::{Value, field};

/// Bytes that a frame may have before its receiver has said how many.
const FRAME_BYTES_MIN: usize = 512;

/// Names of clients that are here.
#[derive(Default)]
pub(crate) struct Clients {
    /// How many have the name, and whether one of them is to be alone.
    here: Mutex<BTreeMap<String, (u32, bool)>>,
}

/// A client that is here until this is dropped.
pub(crate) struct Entered {
    clients: Arc<Clients>,
    name: String,
}

impl Entered {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// The client of a conversation, as it has introduced itself.
#[derive(Default)]
pub(crate) struct Client {
    clients: Arc<Clients>,
    /// What it calls itself, as long as it is here.
    entered: Option<Entered>,
    opened: bool,
    frame_bytes: usize,
    idle_ms: Option<u64>,
}

impl Client {
    pub(crate) fn new(clients: &Arc<Clients>) -> Client {
        let clients = Arc::clone(clients);
        Client { clients, frame_bytes: FRAME_BYTES_MIN, ..Client::default() }
    }

    /// Takes what it says when it opens; `false` if it is not to come in.
    pub(crate) fn open(&mut self, fields: &[Value]) -> bool {
        let limit = field(fields, 2).uint().unwrap_or(u32::MAX).min(FRAME_BYTES_MAX);
        self.frame_bytes = usize::try_from(limit).unwrap_or(0).max(FRAME_BYTES_MIN);
        self.idle_ms = field(fields, 4).number();
        self.opened = true;
        let name = field(fields, 0).text().unwrap_or_default();
        let alone = field(fields, 8).symbols().contains(&"sole-connection-for-container");
        self.entered = self.clients.enter(name, alone);
        self.entered.is_some()
    }

    pub(crate) fn has_opened(&self) -> bool {
        self.opened
    }

    /// What it calls itself.
    pub(crate) fn name(&self) -> &str {
        self.entered.as_ref().map_or("", Entered::name)
    }

    /// How often it wants a sign of life.
    pub(crate) fn idle_ms(&self) -> Option<u64> {
        self.idle_ms
    }

    /// Bytes of a message that a frame for it may have.
    pub(crate) fn frame_room(&self) -> usize {
        self.frame_bytes.saturating_sub(128).max(256)
    }

    /// It is here no longer: another one may have its name.
    pub(crate) fn leave(&mut self) {
        self.entered = None;
    }
}

impl Clients {
    /// Takes a client in; `None` if somebody of its name is, or wants to be, alone.
    pub(crate) fn enter(self: &Arc<Clients>, name: &str, alone: bool) -> Option<Entered> {
        let mut here = self.here.lock();
        let (count, taken) = here.entry(name.to_owned()).or_default();
        if *count > 0 && (*taken || alone) {
            return None;
        }
        *count += 1;
        *taken |= alone;
        drop(here);
        Some(Entered { clients: Arc::clone(self), name: name.to_owned() })
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut here = self.clients.here.lock();
        if let Some((count, _)) = here.get_mut(&self.name) {
            *count -= 1;
            if *count == 0 {
                here.remove(&self.name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_wants_to_be_alone_is() {
        let clients = Arc::new(Clients::default());
        let one = clients.enter("a", false);
        assert!(one.is_some() && clients.enter("a", false).is_some());
        assert!(clients.enter("a", true).is_none());
        drop(one);
        let alone = clients.enter("a", true);
        assert!(alone.is_some());
        assert!(clients.enter("a", false).is_none() && clients.enter("b", true).is_some());
    }
}
