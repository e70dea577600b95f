//! Which connection is which client.

use std::collections::BTreeMap;
use std::sync::Arc;

use otma::Name;
use parking_lot::Mutex;
use seam::entropy::{Entropy as _, OsEntropy};

use super::mailbox::Mailbox;
use crate::conversation::Event;

/// How many ids are made before they repeat: five digits of 36.
const IDS: u32 = 36_u32.pow(5);

#[derive(Default)]
struct State {
    next: u64,
    made: u32,
    shut: bool,
    connections: BTreeMap<u64, Arc<Mailbox>>,
    /// The connection of a client id, and whose it is.
    names: BTreeMap<Name, (u64, Name)>,
}

/// The connections of a server.
pub(super) struct Clients {
    state: Mutex<State>,
}

/// How a claim of a client id went.
pub(super) enum Claim {
    /// The id is the connection's.
    Ours,
    /// Another connection has it.
    Taken,
}

impl Clients {
    pub(super) fn new() -> Clients {
        // Ids are not those of the last run: outputs may wait for those.
        let mut bytes = [0; 4];
        let made = OsEntropy.fill(&mut bytes).map_or(0, |()| u32::from_le_bytes(bytes) % IDS);
        Clients { state: Mutex::new(State { made, ..State::default() }) }
    }

    /// Counts a connection in; `None` if the server goes down or there are too many.
    pub(super) fn enter(&self, mailbox: &Arc<Mailbox>, most: usize) -> Option<u64> {
        let mut state = self.state.lock();
        if state.shut || state.connections.len() >= most {
            return None;
        }
        state.next += 1;
        let id = state.next;
        state.connections.insert(id, Arc::clone(mailbox));
        Some(id)
    }

    pub(super) fn leave(&self, id: u64, client: Name) {
        let mut state = self.state.lock();
        state.connections.remove(&id);
        if state.names.get(&client).is_some_and(|(owner, _)| *owner == id) {
            state.names.remove(&client);
        }
    }

    /// Makes a client id the connection's instead of the one that it has. Another connection of
    /// the same user gives way if `cancel` is set.
    pub(super) fn claim(
        &self,
        id: u64,
        (old, new): (Name, Name),
        user: Name,
        cancel: bool,
    ) -> Claim {
        let mut state = self.state.lock();
        if let Some((owner, whose)) = state.names.get(&new).copied()
            && owner != id
        {
            if !cancel || whose != user {
                return Claim::Taken;
            }
            if let Some(other) = state.connections.get(&owner) {
                other.put(Event::Superseded);
            }
        }
        if old != new && state.names.get(&old).is_some_and(|(owner, _)| *owner == id) {
            state.names.remove(&old);
        }
        state.names.insert(new, (id, user));
        Claim::Ours
    }

    /// A client id that nobody has, and that `is_used` does not know.
    pub(super) fn make(&self, is_used: impl Fn(Name) -> bool) -> Name {
        let mut state = self.state.lock();
        loop {
            state.made = (state.made + 1) % IDS;
            let mut name = *b"HWS00000";
            let mut rest = state.made;
            for digit in name[3..].iter_mut().rev() {
                *digit = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(rest % 36) as usize];
                rest /= 36;
            }
            if !state.names.contains_key(&Name(name)) && !is_used(Name(name)) {
                return Name(name);
            }
        }
    }

    /// Ends the wait of a user's client; whether it is here.
    pub(super) fn cancel(&self, client: Name, user: Name) -> bool {
        let state = self.state.lock();
        let found = state.names.get(&client).filter(|(_, whose)| *whose == user);
        let other = found.and_then(|(owner, _)| state.connections.get(owner));
        if let Some(other) = other {
            other.put(Event::Cancel);
        }
        other.is_some()
    }

    /// Lets nobody in any more.
    pub(super) fn shut(&self) {
        self.state.lock().shut = true;
    }

    pub(super) fn tell_all(&self, event: &Event) {
        for mailbox in self.state.lock().connections.values() {
            mailbox.put(event.clone());
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.state.lock().connections.is_empty()
    }
}
