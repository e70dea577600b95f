//! Held segments as they are now, and what a REPL makes of them.

use hierarchy::Levels;

/// One segment that is replaced: of the path, or the destination parent of one.
pub(crate) struct Replacement {
    pub(crate) node: u16,
    /// Whether it is the node's own segment.
    pub(crate) is_own: bool,
    /// Its database, among the view's.
    pub(crate) database: usize,
    pub(crate) path: Vec<u8>,
    pub(crate) levels: Levels,
    pub(crate) value: Vec<u8>,
    pub(crate) old: Vec<u8>,
    pub(crate) new: Vec<u8>,
}

/// A held segment as it is now.
pub(crate) struct Current {
    pub(crate) path: Vec<u8>,
    pub(crate) levels: Levels,
    pub(crate) value: Vec<u8>,
    pub(crate) data: Vec<u8>,
    /// As it is seen on the path used, if that is not as it is stored.
    pub(crate) turned: Option<Vec<u8>>,
    /// The data of its destination parent.
    pub(crate) joined: Vec<u8>,
}

impl Current {
    /// As the program sees it.
    pub(crate) fn shown(&self) -> &[u8] {
        self.turned.as_deref().unwrap_or(&self.data)
    }
}
