//! The program behind a request: its memory, and what else of it a request needs.
//!
//! Invariants:
//! 1. Whoever implements it answers for the addresses of a control block; all others see bytes.

use crate::fcd::Fcd;
use crate::opcode::Relation;
use crate::status::FileStatus;

/// The program that makes a request, as far as its memory is concerned.
pub trait Caller {
    /// What the file of a block that was not seen before is known by, over all its blocks.
    fn identity(&mut self, fcd: &mut Fcd) -> u64;

    /// The file is the one that was known by this.
    fn recall(&mut self, identity: u64);

    /// The name that the file is assigned to.
    fn name(&mut self, fcd: &Fcd) -> Vec<u8>;

    /// The key definitions.
    fn keys(&mut self, fcd: &Fcd) -> Vec<u8>;

    /// Puts `len` bytes of the record's area behind what `out` has; fewer if it has not as many.
    fn get(&mut self, fcd: &Fcd, offset: usize, len: usize, out: &mut Vec<u8>);

    /// Brings a record into its area, and blanks behind it up to `fill` bytes.
    fn put(&mut self, fcd: &Fcd, record: &[u8], fill: usize);

    /// The length that the program's own item says (DEPENDING ON).
    fn depending(&mut self) -> Option<u32>;

    /// Tells the program how long the record is that was read.
    fn tell_length(&mut self, length: u32);

    /// The greatest number that the program's item of RELATIVE KEY has room for.
    fn number_most(&mut self) -> u64;

    /// Tells the program a record's number; `false` if its item has no room for it.
    fn tell_number(&mut self, number: u64) -> bool;

    /// Whether the file is one that the run time alone can handle: the terminal.
    fn is_run_times(&mut self) -> bool {
        false
    }

    /// The file is closed: whoever else keeps that in mind is to know it.
    fn closed(&mut self);

    /// Hands a request to the run time's own files; `None` if there is no run time.
    fn native(&mut self, request: Native, fcd: &mut Fcd) -> Option<FileStatus>;
}

/// What is handed to the run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Native {
    /// A request as it came.
    Request([u8; 2]),
    /// START, of which the run time's own handler forgets how many bytes of the key count.
    Start(Relation),
}
