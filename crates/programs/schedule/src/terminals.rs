//! What a schedule knows of its program's messages between calls.
//!
//! Invariants:
//! 1. There is an entry for each PCB of the program, the I/O PCB first, as number 0.

use definitions::resolve::{ResolvedKind, ResolvedPsb};
use region::{Feedback, IoFeedback};

/// What a schedule knows of its program's messages.
#[derive(Default)]
pub(crate) struct Terminals {
    /// What the I/O PCB shows since the last message.
    pub(crate) io: Option<IoFeedback>,
    /// By PCB: whether its message has begun.
    pub(crate) building: Vec<bool>,
    /// By PCB: whether CHNG may give it a destination.
    pub(crate) modifiable: Vec<bool>,
    /// A message was got since the last sync point, or one was made.
    pub(crate) touched: bool,
}

impl Terminals {
    pub(crate) fn of(psb: &ResolvedPsb) -> Terminals {
        let is_modifiable =
            |kind: &ResolvedKind| matches!(kind, ResolvedKind::Terminal(pcb) if pcb.modifiable);
        let alternates = psb.pcbs.iter().map(|pcb| is_modifiable(&pcb.kind));
        let modifiable: Vec<bool> = std::iter::once(false).chain(alternates).collect();
        Terminals { building: vec![false; modifiable.len()], modifiable, ..Terminals::default() }
    }

    pub(crate) fn is_building(&self, number: usize) -> bool {
        self.building.get(number).copied().unwrap_or_default()
    }

    pub(crate) fn build(&mut self, number: usize, is_begun: bool) {
        if let Some(building) = self.building.get_mut(number) {
            *building = is_begun;
        }
    }

    pub(crate) fn forget_outputs(&mut self) {
        self.building.fill(false);
    }
}

/// What the I/O PCB shows with a status.
pub(crate) fn io_of<'a>(status: [u8; 2], io: Option<&'a IoFeedback>) -> Feedback<'a> {
    Feedback { io, ..Feedback::status(status) }
}
