//! Message queues of a program: the message queue interface, in the unit of work of its calls.
//!
//! | in the region | the program's puts and gets |
//! |---|---|
//! | CHKP, SYNC, in mode SNGL GU of the I/O PCB, normal end | are committed with what its calls change |
//! | ROLB, ROLL, abend | are backed out: what was got is there again, its backout count one higher |
//! | SETS and ROLS | are undone as far as they came behind SETS; the count stays |
//! | MQDISC | stay in the unit of work |
//! | MQCMIT, MQBACK, MQBEGIN, MQCTL to start | are refused, `ENVIRONMENT_ERROR` (2012) |
//!
//! Invariants:
//! 1. There is one commit: one record in the log ends both. What was put is seen by others, and
//!    triggers fire, when that is durable; a program that has put or got waits for it.
//! 2. A program whose input comes as messages has no connection behind a sync point: the next
//!    message may be another user's. \[K\]

use std::sync::Arc;

use hierarchy::HierarchyError;
use mqi::server::{Carried, Managed, Points};
use queue_manager::options::ConnectOptions;
use region::Abend;
use store::{Store, StoreError};

use crate::error::{abend, ended};
use crate::schedule::{RegionKind, Schedule};

/// What kind of program messages say that they come from: one of IMS.
const APPLICATION_TYPE: i32 = 3;

impl<S: Store> Schedule<S> {
    /// Has a program use the queues of a queue manager in the store of its databases; it works as
    /// that user.
    #[must_use]
    pub fn with_queues(mut self, manager: Arc<dyn Managed<S>>, user: &str) -> Schedule<S> {
        let mut who = ConnectOptions {
            user: user.to_owned(),
            application: region::shape::text(&self.program),
            ..ConnectOptions::default()
        };
        if self.options.kind != RegionKind::Batch {
            who.application_type = APPLICATION_TYPE;
        }
        self.queues = Some(Carried::new(manager, who));
        self
    }

    /// A call of the message queue interface.
    pub(crate) fn queue_call(&mut self, request: &[u8], answer: &mut Vec<u8>) -> Result<(), Abend> {
        let Some(queues) = self.queues.as_mut().filter(|_| !self.is_over) else {
            mqi::server::nowhere(answer);
            return Ok(());
        };
        self.session.lend_unit(|unit| queues.serve(unit, request, answer));
        if queues.must_back_out() {
            let text = "a call of the message queue interface was done in part, and could not be \
                        undone";
            return Err(abend("U0844", text));
        }
        Ok(())
    }

    /// Whether messages were put or got since the last sync point.
    pub(crate) fn has_queue_work(&self) -> bool {
        self.queues.as_ref().is_some_and(Carried::has_work)
    }

    /// Commits what the calls have changed and what was put and got; durable on return.
    pub(crate) fn commit_with_queues(&mut self) -> Result<(), Abend> {
        match self.session.commit() {
            Ok(()) => {
                self.settle_queues(true);
                Ok(())
            }
            Err(failure) => {
                if is_unknown(&failure.error)
                    && let Some(queues) = &mut self.queues
                {
                    queues.abandon();
                }
                Err(ended(failure))
            }
        }
    }

    /// Backs all of it out.
    pub(crate) fn back_out_with_queues(&mut self) -> Result<(), Abend> {
        match self.session.backout() {
            Ok(()) => {
                self.settle_queues(false);
                Ok(())
            }
            Err(failure) => {
                // The store has stopped: its next start backs out.
                if let Some(queues) = &mut self.queues {
                    queues.abandon();
                }
                Err(ended(failure))
            }
        }
    }

    fn settle_queues(&mut self, committed: bool) {
        let Some(queues) = &mut self.queues else { return };
        self.session.lend_unit(|unit| queues.settle(committed, unit));
    }

    /// Ends the connections of the program.
    pub(crate) fn disconnect_queues(&mut self) {
        if let Some(queues) = &mut self.queues {
            queues.disconnect_all();
        }
    }

    /// Where puts and gets stand.
    pub(crate) fn queue_points(&mut self) -> Points {
        self.queues.as_mut().map(Carried::points).unwrap_or_default()
    }

    /// The store is back at a point.
    pub(crate) fn return_queues_to(&mut self, points: &Points) {
        if let Some(queues) = &mut self.queues {
            queues.return_to(points);
        }
    }
}

/// Whether nobody knows if the unit of work was committed.
fn is_unknown(error: &HierarchyError) -> bool {
    let HierarchyError::Store(error) = error else { return false };
    matches!(error, StoreError::CommitUnknown(_) | StoreError::Stopped(_))
}
