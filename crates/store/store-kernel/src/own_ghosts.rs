//! The ghosts that a unit of work has made, and their end with it (invariant 1 of `ghosts`).

use std::sync::Arc;

use base::UowId;
use seam::sync::Mutex;
use uow::AtEnd;

use crate::sets::SetHandle;

/// The ghosts of one unit of work, in whatever set; they go when it ends (invariant 1).
pub(crate) struct OwnGhosts {
    me: UowId,
    keys: Mutex<Vec<OwnGhost>>,
}

/// The set, and the key.
type OwnGhost = (Arc<SetHandle>, Arc<[u8]>);

impl OwnGhosts {
    pub(crate) fn new(me: UowId) -> OwnGhosts {
        OwnGhosts { me, keys: Mutex::default() }
    }

    /// Makes a key a ghost, before its record is taken out of the tree.
    pub(crate) fn add(&self, set: &Arc<SetHandle>, key: &[u8]) {
        if let Some(key) = set.ghosts.add(key, self.me) {
            self.keys.lock().push((Arc::clone(set), key));
        }
    }
}

impl AtEnd for OwnGhosts {
    fn at_end(&self) {
        let keys = std::mem::take(&mut *self.keys.lock());
        keys.iter().for_each(|(set, key)| set.ghosts.remove(key, self.me));
    }
}
