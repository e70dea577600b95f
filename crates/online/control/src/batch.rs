//! Batch message programs: whoever starts one has it known here, and gets its messages.
//!
//! | it was started with | GU of the I/O PCB | ISRT of the I/O PCB |
//! |---|---|---|
//! | a transaction (IN=) | gives that one's next input; QC when there is none | answers the input |
//! | a destination (OUT=) | QC | sends to the destination |
//! | neither | QC | QH |
//!
//! Invariants:
//! 1. What it has in its hands when it ends without having committed waits again, in its place.
//! 2. It waits for each of its commits: what it has said at its end is durable.
//! 3. An end by an abend is a failure of it and of its transaction, as that of a message program
//!    is: after so many in a row both are stopped.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use otma::{Name, Reason, Refusal};
use resources::Mode;
use seam::sync::Mutex;
use store::Store;

use crate::dispatch::{RegionId, Takes};
use crate::failed_input::Ending;
use crate::inner::Inner;
use crate::outputs::AlternatePcb;
use crate::program::{Inputs, ProgramMessages};
use crate::run::{Run, give_all_back};
use crate::text;

/// What a batch message program is started with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchStart {
    /// The transaction whose inputs it gets; blank is none.
    pub input: Name,
    /// Where the messages of its I/O PCB go, if it gets no inputs; blank is nowhere.
    pub output: Name,
}

/// A batch message program that runs, as the transaction manager knows it.
pub struct BatchProgram<S: Store> {
    inner: Arc<Inner<S>>,
    region: RegionId,
    run: Arc<Mutex<Run>>,
    program: Name,
    start: BatchStart,
    is_ended: Arc<AtomicBool>,
}

impl<S: Store> BatchProgram<S> {
    pub(crate) fn begin(
        inner: &Arc<Inner<S>>,
        program: Name,
        job: &str,
        start: BatchStart,
    ) -> Result<BatchProgram<S>, Refusal> {
        let now = inner.now_us();
        let mut state = inner.state.lock();
        if state.shutting_down {
            return Err(Refusal::new(Reason::ShuttingDown, "THE SYSTEM IS SHUTTING DOWN"));
        }
        if state.dispatch.programs.get(&program).is_some_and(|one| one.stopped) {
            let stopped = format!("PROGRAM {program} IS STOPPED");
            return Err(Refusal::new(Reason::TransactionStopped, stopped));
        }
        if !start.input.is_blank() {
            let of = state.dispatch.transactions.get(&start.input);
            let of = of.ok_or_else(|| {
                Refusal::new(Reason::UnknownTransaction, text::no_destination(start.input))
            })?;
            if of.no_scheduling {
                let stopped = text::stopped(start.input);
                return Err(Refusal::new(Reason::TransactionStopped, stopped));
            }
        }
        let takes = (Takes::Batch, Vec::new());
        let region = state.dispatch.add_region(takes, job.to_owned(), now);
        state.dispatch.begin_program(region, (start.input, program), now);
        let is_ended = state.dispatch.regions.get(&region).map(|one| Arc::clone(&one.is_ended));
        let is_ended = is_ended.unwrap_or_default();
        drop(state);
        let (inner, run) = (Arc::clone(inner), Arc::new(Mutex::new(Run::default())));
        Ok(BatchProgram { inner, region, run, program, start, is_ended })
    }

    /// Whether an operator has ended it.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.is_ended.load(Relaxed)
    }

    /// It has ended, and its last unit of work is committed or backed out.
    pub fn ended(&self, ending: &Ending) {
        self.inner.batch_ended(self.start.input, self.program, ending);
    }

    /// When the units of work of its inputs end; none if it gets no inputs.
    #[must_use]
    pub fn mode(&self) -> Option<Mode> {
        let state = self.inner.state.lock();
        let transaction = state.dispatch.transactions.get(&self.start.input);
        transaction.map(|one| one.definition.mode)
    }

    /// Its messages, with the alternate PCBs of its PSB.
    #[must_use]
    pub fn messages(&self, alternates: &[AlternatePcb]) -> ProgramMessages<S> {
        let state = self.inner.state.lock();
        let transaction = state.dispatch.transactions.get(&self.start.input);
        let transaction = transaction.map(|one| one.definition.clone());
        drop(state);
        let inputs = Inputs { region: Some(self.region), transaction, waits_for_commits: true };
        let run = Arc::clone(&self.run);
        let messages = ProgramMessages::new(&self.inner, run, inputs, self.program, alternates);
        messages.sending_to(self.start.output)
    }
}

impl<S: Store> Drop for BatchProgram<S> {
    fn drop(&mut self) {
        give_all_back(&self.inner, &self.run);
        let now = self.inner.now_us();
        let mut state = self.inner.state.lock();
        state.dispatch.end(self.region, now);
        state.dispatch.regions.remove(&self.region);
        if !self.start.input.is_blank() {
            self.inner.touch(&mut state, self.start.input);
        }
        drop(state);
        // Only now regions may take what it has left: they have looked too early before.
        self.inner.work.notify_all();
    }
}
