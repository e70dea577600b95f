//! What is to be done once a queued commit is durable.
//!
//! Invariants:
//! 1. What was noted is done once: when the store tells, or when its commit was not queued after
//!    all. It asks nothing of the store.

use std::collections::BTreeMap;
use std::sync::Arc;

use seam::sync::Mutex;
use store::{CommitSink, Committed, StoreError};

/// Does something when it is known what became of a commit.
pub(crate) type Then = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

#[derive(Default)]
struct Noted {
    next: u64,
    by_token: BTreeMap<u64, Then>,
}

/// The sink of all queued commits.
#[derive(Default)]
pub(crate) struct Commits {
    noted: Mutex<Noted>,
}

impl Commits {
    pub(crate) fn note(&self, then: Then) -> u64 {
        let mut noted = self.noted.lock();
        noted.next += 1;
        let token = noted.next;
        noted.by_token.insert(token, then);
        token
    }

    /// The commit was not queued: nobody will tell.
    pub(crate) fn take(&self, token: u64) -> Option<Then> {
        self.noted.lock().by_token.remove(&token)
    }

    /// Queues a commit; what follows is done in any case.
    pub(crate) fn queue<U: store::Unit>(self: &Arc<Commits>, unit: U, then: Then) {
        let token = self.note(then);
        let sink: Arc<dyn CommitSink> = Arc::clone(self) as Arc<dyn CommitSink>;
        if let Err(error) = unit.commit_queued(&sink, token)
            && let Some(then) = self.take(token)
        {
            then(Err(error));
        }
    }
}

impl CommitSink for Commits {
    fn settled(&self, token: u64, outcome: Result<Committed, StoreError>) {
        if let Some(then) = self.take(token) {
            then(outcome.map(drop));
        }
    }
}
