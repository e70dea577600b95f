//! The call context: what a call works with besides its PCB.

use hierarchy::Target;
use store::Store;

use crate::locks::Locks;
use crate::view::CompiledView;

/// What a call works with: the store, the unit of work, the program's
/// locks, and the PCB's compiled view.
pub(crate) struct CallContext<'r, S: Store> {
    pub(crate) store: &'r S,
    pub(crate) unit: &'r mut S::Unit,
    pub(crate) locks: &'r mut Locks,
    /// The view of the call's PCB, lent beside it.
    pub(crate) view: &'r CompiledView,
    /// How often the program has changed what positions may stand on.
    pub(crate) changes: u64,
    /// Whether the call carries out an EXEC DLI command.
    pub(crate) of_command: bool,
}

impl<S: Store> CallContext<'_, S> {
    /// What changes of databases work with.
    pub(crate) fn target(&mut self) -> Target<'_, S> {
        Target { store: self.store, unit: &mut *self.unit }
    }
}
