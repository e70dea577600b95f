//! The load that a PCB does, and where a backout comes back to.

use hierarchy::Levels;

use crate::position::Position;

/// The load that a PCB does.
#[derive(Clone, Debug)]
pub(crate) struct Loading {
    /// Whether the database was found empty and is being loaded.
    pub(crate) begun: bool,
    /// The path that was loaded last when the last sync point came.
    committed: Vec<u8>,
    committed_levels: Levels,
}

impl Loading {
    pub(crate) fn new() -> Loading {
        Loading { begun: false, committed: Vec::new(), committed_levels: Levels::NONE }
    }

    /// A sync point in a load: a backout comes back to here.
    pub(crate) fn keep(&mut self, position: &Position) {
        self.committed.clone_from(&position.path);
        self.committed_levels = position.levels;
    }

    /// A backout of a load: the path that was loaded last at the last sync point.
    pub(crate) fn go_back(&mut self) -> (Vec<u8>, Levels) {
        self.begun = !self.committed_levels.is_empty();
        (self.committed.clone(), self.committed_levels)
    }
}
