//! The unit of work of a program: its databases, its data sets, its queues and its messages, with
//! one commit.
//!
//! Invariants:
//! 1. There is one commit; each participant hears of it behind it, and of a backout as well.
//! 2. A program that has put or got by the message queue interface waits for its commit: what
//!    others are to see at once has to be durable before.

use dli::{Failure, Session};
use hierarchy::HierarchyError;
use region::{Abend, Reply};
use store::{Store, StoreError};

use crate::error::ended;
use crate::queues::Queues;
use crate::records::Records;
use crate::terminal::{Queued, Terminals};

/// Who takes part in it.
pub(crate) struct UnitOfWork<S: Store> {
    /// Its databases.
    pub(crate) session: Session<S>,
    /// Its clusters and paths.
    pub(crate) data_sets: Records<S>,
    /// Its message queues.
    pub(crate) queues: Queues<S>,
    /// Its messages.
    pub(crate) terminals: Terminals<S>,
}

impl<S: Store> UnitOfWork<S> {
    /// Whether nothing was done since the last sync point.
    pub(crate) fn is_untouched(&self) -> bool {
        self.session.is_idle() && !self.terminals.are_touched() && !self.queues.has_work()
    }

    /// The next message; QC without one.
    pub(crate) fn next_message(
        &mut self,
        area: &mut [u8],
        with_aib: bool,
        reply: &mut Reply,
    ) -> Result<[u8; 2], Abend> {
        if !self.terminals.are_there() {
            return Ok(*b"QC");
        }
        let was_idle = self.session.is_idle();
        let unit = self.session.unit().map_err(ended)?;
        if let Some(status) = self.terminals.next_message(unit, (area, with_aib), reply)? {
            return Ok(status);
        }
        if was_idle {
            // An empty unit of work would be committed at the end, for nothing.
            self.session.backout().map_err(ended)?;
        }
        Ok(*b"QC")
    }

    /// Commits all of it.
    pub(crate) fn commit(&mut self) -> Result<(), Abend> {
        let has_work = !self.is_untouched();
        match self.prepare_messages()? {
            Some((sink, token)) => {
                self.session.commit_queued(&sink, token).map_err(ended)?;
            }
            None => {
                self.commit_at_once()?;
                if has_work {
                    self.terminals.committed();
                }
            }
        }
        self.terminals.sync();
        Ok(())
    }

    /// Backs databases, data sets and queues out.
    pub(crate) fn back_out(&mut self) -> Result<(), Abend> {
        match self.session.backout() {
            Ok(()) => {
                self.queues.settle(&mut self.session, false);
                Ok(())
            }
            Err(failure) => {
                // The store has stopped: its next start backs out.
                self.queues.abandon();
                Err(ended(failure))
            }
        }
    }

    /// Puts what the messages owe into the unit of work; answers who hears of the commit if the
    /// program does not wait for it.
    fn prepare_messages(&mut self) -> Result<Option<Queued>, Abend> {
        if !self.terminals.are_there() || self.is_untouched() {
            return Ok(None);
        }
        let waits = self.queues.has_work();
        self.terminals.prepare(self.session.unit().map_err(ended)?)?;
        Ok(if waits { None } else { self.terminals.queue() })
    }

    /// Commits what the calls have changed and what was put and got; durable on return.
    fn commit_at_once(&mut self) -> Result<(), Abend> {
        match self.session.commit() {
            Ok(()) => {
                self.queues.settle(&mut self.session, true);
                Ok(())
            }
            Err(failure) => {
                if is_unknown(&failure) {
                    self.queues.abandon();
                }
                Err(ended(failure))
            }
        }
    }
}

/// Whether it is not known if the unit of work was committed.
fn is_unknown(failure: &Failure) -> bool {
    let HierarchyError::Store(error) = &failure.error else { return false };
    matches!(error, StoreError::CommitUnknown(_) | StoreError::Stopped(_))
}
