//! Who is here, by the names that clients give themselves.
//!
//! 1. A client that asks to be alone under its name is; who comes second is told so.

use std::collections::BTreeMap;
use std::sync::Arc;

use seam::sync::Mutex;

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
