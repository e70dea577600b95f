//! What a source needs or has besides its own text: COPY members, and commands of other systems.

/// Where the text of COPY members comes from.
pub trait Members {
    /// The member of that name, as it is written behind COPY; nothing if there is none.
    fn member(&self, name: &str) -> Option<Vec<u8>>;
}

/// For sources that copy nothing that matters here.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMembers;

impl Members for NoMembers {
    fn member(&self, _name: &str) -> Option<Vec<u8>> {
        None
    }
}

/// Commands of another system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// Which system, as it stands behind EXEC.
    pub system: String,
    /// The line of the first command in its file.
    pub line: usize,
    /// How many there are.
    pub count: usize,
}
