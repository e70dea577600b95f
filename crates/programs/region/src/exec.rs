//! What EXEC DLI commands need at run time: their descriptor, the program's data items, and calls.
//!
//! A command is translated into one call of `HFEXDLI` with a descriptor that the translator wrote
//! and the data items that the command names. What they mean is the business of the translator;
//! it stands behind [`Commands`].
//!
//! Invariants:
//! 1. Data items are reached by number, copied, and as long as the one who asks says: it knows
//!    their lengths from the descriptor and from items that hold them.

use crate::interface::{DirectAnswer, DirectCall, Interface};
use crate::layout::PcbLayout;
use crate::masks::Order;
use crate::server::Abend;

/// The longest descriptor.
pub const DESCRIPTOR_BYTES_MAX: usize = 16 << 10;

/// Who carries out EXEC DLI commands.
pub trait Commands: Send {
    /// Carries out one command. `descriptor` is everything that can be read from where it begins,
    /// at most [`DESCRIPTOR_BYTES_MAX`] bytes.
    ///
    /// # Errors
    /// The abend that ends the program.
    fn command(&mut self, descriptor: &[u8], program: &mut Program<'_>) -> Result<(), Abend>;
}

/// The program that gives a command.
pub struct Program<'a> {
    pub(crate) interface: &'a mut Interface,
    pub(crate) items: &'a [usize],
}

impl Program<'_> {
    /// How many data items stand behind the descriptor.
    #[must_use]
    pub fn items(&self) -> usize {
        self.items.len()
    }

    /// A data item's bytes; fewer than `len` if not all can be read, none if there is no such item.
    pub fn read(&mut self, item: usize, len: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        if let Some(address) = self.items.get(item) {
            self.interface.program_memory().read(*address, len, &mut bytes);
        }
        bytes
    }

    /// Writes to the front of a data item; `false` if that cannot be.
    pub fn write(&mut self, item: usize, bytes: &[u8]) -> bool {
        let address = self.items.get(item).copied().unwrap_or_default();
        self.interface.program_memory().write(address, bytes)
    }

    /// The PCBs of the program, the I/O PCB first.
    #[must_use]
    pub fn pcbs(&self) -> &[PcbLayout] {
        self.interface.layouts()
    }

    /// The order of bytes in the program's integers.
    #[must_use]
    pub fn order(&self) -> Order {
        self.interface.order()
    }

    /// Makes a call.
    ///
    /// # Errors
    /// The abend that the call ends in; the command ends with it.
    pub fn call(&mut self, call: &DirectCall<'_>) -> Result<DirectAnswer, Abend> {
        self.interface.direct(call)
    }
}
