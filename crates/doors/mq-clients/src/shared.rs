//! What a door has for those who come: the queue manager, the users, places.

use std::sync::Arc;

use queue_manager::QueueManager;
use store::Store;

use crate::places::Places;

/// The users of a system.
pub trait Users: Send + Sync {
    /// The user of that name, if the password is right.
    fn password(&self, user: &str, password: &[u8]) -> Option<String>;
    /// The user whom the common name of a certificate names.
    fn certificate(&self, name: &str) -> Option<String>;
    /// Who somebody without a name is; `None` once there are users.
    fn nobody(&self) -> Option<String>;
    /// What changes with a user's password, and with nothing else; `None`: there is no such user.
    fn mark(&self, user: &str) -> Option<u64>;
}

/// Whom a program was let in as.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    /// Users, and their marks when it came.
    pub(crate) marks: Vec<(String, u64)>,
    /// Nobody, as there were no users.
    pub(crate) nobody: bool,
}

/// What a door has.
pub(crate) struct Shared<S: Store> {
    pub(crate) manager: QueueManager<S>,
    pub(crate) users: Arc<dyn Users>,
    pub(crate) places: Arc<Places>,
    pub(crate) connections_max: usize,
}
