//! One scheduling of a program: the inputs in its hands.
//!
//! Invariants:
//! 1. An input in hand is given back, processed, or its fate is decided: a run that is dropped
//!    gives everything back.

use queues::Held;
use seam::sync::Mutex;
use store::Store;

use crate::envelope::Envelope;
use crate::inner::{InHand, Inner};

/// The inputs in a program's hands.
#[derive(Default)]
pub(crate) struct Run {
    /// The first input, which it has not asked for yet.
    pub(crate) first: Option<Held>,
    /// Those of the present unit of work.
    pub(crate) inputs: Vec<InHand>,
    /// Inputs that were given since it was scheduled, or since its limit was waived.
    pub(crate) given: u32,
    /// The program's generation when it was scheduled; none for one that nobody schedules.
    pub(crate) generation: Option<u64>,
    /// It waits for input although its transaction does not say so.
    pub(crate) pseudo_wait: bool,
}

/// The next input.
pub(crate) struct Next {
    pub(crate) envelope: Envelope,
    pub(crate) arrival: u64,
    pub(crate) put_at_ms: u64,
    pub(crate) is_old: bool,
}

/// Gives everything back that is in a program's hands, unseen.
pub(crate) fn give_all_back<S: Store>(inner: &Inner<S>, run: &Mutex<Run>) {
    let (first, inputs) = take_all(run);
    let held = first.into_iter().chain(inputs.into_iter().map(|input| input.held));
    inner.give_back(held.collect());
}

/// Everything that is in a program's hands.
pub(crate) fn take_all(run: &Mutex<Run>) -> (Option<Held>, Vec<InHand>) {
    let mut run = run.lock();
    (run.first.take(), std::mem::take(&mut run.inputs))
}
