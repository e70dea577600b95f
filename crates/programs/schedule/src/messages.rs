//! What a schedule asks of the keeper of messages: a message program's input, its outputs, and
//! their part in its unit of work.
//!
//! The schedule decides when a unit of work ends; who implements [`Messages`] puts what it owes
//! into that unit of work before, and acts on it after. Order of calls at a sync point:
//!
//! | step | call |
//! |---|---|
//! | the program's outputs go to their queues, its input leaves its queue | [`Messages::prepare`] |
//! | the unit of work is committed | (the schedule) |
//! | outputs are handed out, once what was committed is durable | [`Messages::committed`], or |
//! | | the sink of [`Messages::queue`], while the program goes on |
//! | or everything was backed out | [`Messages::backed_out`] |
//!
//! Invariants:
//! 1. Between two sync points a program of mode SNGL has at most one input. One of mode MULT may
//!    have several: they share the unit of work, and what becomes of it.
//! 2. After `prepare` has answered with an error the unit of work is backed out.

use std::sync::Arc;

use region::layout::Name;
use region::{Abend, IoFeedback};
use store::{CommitSink, Store};

/// A segment for the program.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// LL, ZZ and data; or a conversation's scratch pad area.
    pub bytes: &'a [u8],
    /// What the I/O PCB shows with it, if it is the first of its message.
    pub io: Option<&'a IoFeedback>,
    /// Blank, or `CF`: the message is older than this start of the system.
    pub status: [u8; 2],
}

/// Which message PCB a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalPcb {
    /// The I/O PCB.
    Io,
    /// An alternate PCB, by its number among all PCBs of the PSB; the I/O PCB is number 0.
    Alternate(usize),
}

/// Messages of one scheduled program.
pub trait Messages<S: Store>: Send {
    /// Reads the next message, in the unit of work that begins: its first segment, or `None` (QC);
    /// then nothing may have been changed in the unit.
    ///
    /// # Errors
    /// What ends the program.
    fn next_message(&mut self, unit: &mut S::Unit) -> Result<Option<Segment<'_>>, Abend>;

    /// The next segment of the present message; `Err(QD)` behind the last, `Err(QE)` without one.
    ///
    /// # Errors
    /// The status code.
    fn next_segment(&mut self) -> Result<Segment<'_>, [u8; 2]>;

    /// ISRT: adds a segment (LL, ZZ, data) to the PCB's message. Answers the status code.
    fn insert(&mut self, pcb: TerminalPcb, segment: &[u8], mod_name: Option<Name>) -> [u8; 2];

    /// PURG: ends the PCB's message, and begins the next with a segment if one is given.
    fn purge(
        &mut self,
        pcb: TerminalPcb,
        segment: Option<&[u8]>,
        mod_name: Option<Name>,
    ) -> [u8; 2];

    /// CHNG: gives a modifiable alternate PCB its destination. The number is as in
    /// [`TerminalPcb::Alternate`].
    fn change(&mut self, pcb: usize, destination: Name) -> [u8; 2];

    /// Where a PCB's messages go now.
    fn destination(&self, pcb: TerminalPcb) -> Name;

    /// The sync point is reached: puts all that it owes into the unit of work. In commit mode 1
    /// with confirm it sends the outputs first and waits for the client's answer.
    ///
    /// # Errors
    /// What ends the program; the unit of work is backed out then.
    fn prepare(&mut self, unit: &mut S::Unit) -> Result<(), Abend>;

    /// The unit of work was committed and is durable.
    fn committed(&mut self);

    /// The unit of work was backed out: by ROLB the input stays the program's (`again`), otherwise
    /// it goes back or is discarded, as the transaction's definition says.
    fn backed_out(&mut self, again: bool);

    /// The first segment of the present message once more, after ROLB with an area.
    ///
    /// # Errors
    /// The status code if there is no message.
    fn first_segment(&mut self) -> Result<Segment<'_>, [u8; 2]>;

    /// Whether a segment that the program inserts is its conversation's scratch pad area, which is
    /// part of no message.
    fn is_scratch_pad(&self, segment: &[u8]) -> bool {
        let _ = segment;
        false
    }

    /// Who hears that the unit of work which was just prepared is durable, and by which token:
    /// its commit is queued then, and the program goes on. [`Messages::committed`] is not called
    /// for it. With `None` the program waits.
    fn queue(&mut self) -> Option<(Arc<dyn CommitSink>, u64)> {
        None
    }

    /// The schedule is about to end the program with this abend; [`Messages::backed_out`] follows.
    /// An abend that the program's process brings on itself is in the region's report.
    fn abends(&mut self, abend: &Abend) {
        let _ = abend;
    }

    /// SETS: where the outputs stand, for [`Messages::return_to`]. With `None` a program with
    /// messages has no points to return to (SC).
    fn mark(&mut self) -> Option<u64> {
        None
    }

    /// ROLS: forgets the outputs behind a mark, other than those of express PCBs.
    fn return_to(&mut self, mark: u64) {
        let _ = mark;
    }

    /// AUTH: whether the input's user may use a resource of a class; `None` if nobody has
    /// protected it.
    fn may_use(&self, class: Name, resource: Name) -> Option<bool> {
        let _ = (class, resource);
        None
    }
}
