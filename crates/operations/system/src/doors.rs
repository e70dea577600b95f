//! The doors of a started system: who comes in, and how much, as status and metrics tell it.
//!
//! A door adds what it tells when it opens. The crate that has the door is above this one.

use seam::sync::Mutex;
use serde::{Deserialize, Serialize};

/// An open door.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoorStatus {
    /// What is spoken there, such as `amqp`.
    pub name: String,
    /// Where it listens.
    pub addresses: Vec<String>,
    /// Connections that are open.
    pub connections: u64,
    /// Connections that were let in since the start.
    pub accepted: u64,
    /// Connections that were turned away.
    pub refused: u64,
    /// Messages that came in.
    pub received: u64,
    /// Messages that went out.
    pub sent: u64,
}

/// What a door tells of itself.
pub type Reporter = Box<dyn Fn() -> DoorStatus + Send + Sync>;

/// The doors of a system.
#[derive(Default)]
pub struct Doors(Mutex<Vec<Reporter>>);

impl Doors {
    /// A door is open.
    pub fn add(&self, door: Reporter) {
        self.0.lock().push(door);
    }

    /// All doors close.
    pub fn clear(&self) {
        self.0.lock().clear();
    }

    /// How they are.
    #[must_use]
    pub fn status(&self) -> Vec<DoorStatus> {
        self.0.lock().iter().map(|door| door()).collect()
    }
}
