//! Parentage: what GNP stays below.

use hierarchy::Levels;

use crate::position::Position;

/// The parent that GNP stays below.
#[derive(Clone, Debug)]
pub(crate) struct Parentage {
    /// Its path; empty if there is none.
    pub(crate) path: Vec<u8>,
    pub(crate) levels: Levels,
}

impl Parentage {
    /// There is none.
    pub(crate) fn none() -> Parentage {
        Parentage { path: Vec::new(), levels: Levels::NONE }
    }

    pub(crate) fn cancel(&mut self) {
        self.path.clear();
        self.levels = Levels::NONE;
    }

    /// Makes a level of the path the parent.
    pub(crate) fn set(&mut self, position: &Position, level: usize) {
        let end = position.levels.end(level);
        self.path.clear();
        self.path.extend_from_slice(&position.path[..end]);
        self.levels = position.levels.down_to(level);
    }
}
