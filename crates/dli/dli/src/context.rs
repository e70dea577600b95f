//! The call context: what a call works with besides its PCB.

use store::Store;

use crate::locks::Locks;

/// What a call works with: the store, the unit of work, and the program's locks.
pub(crate) struct CallContext<'r, S: Store> {
    pub(crate) store: &'r S,
    pub(crate) unit: &'r mut S::Unit,
    pub(crate) locks: &'r mut Locks,
    /// How often the program has changed what positions may stand on.
    pub(crate) changes: u64,
    /// Whether the call carries out an EXEC DLI command.
    pub(crate) of_command: bool,
}
