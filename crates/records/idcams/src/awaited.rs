//! What was read of a copy while its end is still to come: only that proves indexes and paths, and
//! that there was nothing more.
//!
//! Invariants:
//! 1. Of a copy that is not whole nothing stays: what was made of it is deleted, and what it was to
//!    replace was not touched.
//! 2. What somebody else has made under the name meanwhile is not deleted.
//! 3. A generation joins its group, and others leave it, when the copy is proven.
//! 4. Definitions that are kept until then have at most [`ABOVE_BYTES_MAX`] bytes, whatever a copy
//!    says.

use store::{Store, Unit};
use vsam::{DataSetName, Deferred, DeleteOptions, ObjectNumber};

use crate::define::tell_left;
use crate::load::Filled;
use crate::refusal::{ERROR, Refusal};
use crate::session::Session;

/// Bytes of all definitions of indexes and paths together.
const ABOVE_BYTES_MAX: usize = 256 << 20;

/// A cluster that has all its records.
pub(crate) struct Loaded<S: Store> {
    /// The name that it is to have.
    pub(crate) name: DataSetName,
    /// The one that it has.
    pub(crate) at: DataSetName,
    /// What was defined, if it was not there before.
    pub(crate) new: Option<ObjectNumber>,
    /// A generation that is no member of its group yet.
    pub(crate) deferred: Option<Deferred<S>>,
    /// As long as nobody else is to open it.
    pub(crate) filled: Option<Filled<S>>,
    pub(crate) records: u64,
    /// The statements that make its indexes and paths.
    pub(crate) above: Vec<String>,
}

impl<S: Store> Loaded<S> {
    /// Lets others open it; answers how many records it has. If that fails it is deleted.
    pub(crate) fn finish(&mut self, session: &mut Session<'_, S>) -> Result<u64, Refusal> {
        if let Some(filled) = self.filled.take()
            && let Err(refusal) = filled.finish()
        {
            self.take_back(session);
            return Err(refusal);
        }
        if let Some(deferred) = self.deferred.take()
            && let Err(refusal) = join(session, deferred)
        {
            self.take_back(session);
            return Err(refusal);
        }
        Ok(self.records)
    }

    fn take_back(&mut self, session: &mut Session<'_, S>) {
        self.filled = None;
        self.deferred = None;
        let Some(new) = self.new else { return };
        let there = session.catalog.get(&self.at);
        if there.as_ref().is_ok_and(|there| there.as_ref().is_none_or(|one| one.number != new)) {
            return;
        }
        if let Err(error) = there.and_then(|_| session.catalog.delete(&self.at, purge())) {
            let refusal = Refusal::from(error).with(ERROR);
            let text = format!("{} COULD NOT BE DELETED AGAIN: {}", self.at, refusal.text);
            session.refuse(&Refusal { text, ..refusal });
        }
    }
}

/// Makes a generation a member of its group; those that leave for it go.
fn join<S: Store>(session: &mut Session<'_, S>, deferred: Deferred<S>) -> Result<(), Refusal> {
    let mut unit = session.catalog.store().begin(vsam::unit_options())?;
    let left = deferred.join(&mut unit)?;
    unit.commit()?;
    // It is a member now, whatever becomes of the others.
    match deferred.roll_off(&left) {
        Ok((gone, scratch)) => {
            tell_left(session, &gone, scratch);
        }
        Err(error) => {
            session.refuse(&Refusal::from(error).with(ERROR));
        }
    }
    Ok(())
}

/// Even within its retention period.
pub(crate) fn purge() -> DeleteOptions {
    DeleteOptions { purge: true, ..DeleteOptions::default() }
}

/// Clusters in the order of the copy.
pub(crate) struct Awaited<S: Store> {
    pub(crate) all: Vec<Loaded<S>>,
    above_bytes: usize,
}

impl<S: Store> Awaited<S> {
    pub(crate) fn new() -> Awaited<S> {
        Awaited { all: Vec::new(), above_bytes: 0 }
    }

    /// Keeps the definition of an index or a path of the last cluster.
    pub(crate) fn keep(&mut self, statement: String) -> Result<(), Refusal> {
        self.above_bytes = self.above_bytes.saturating_add(statement.len());
        if self.above_bytes > ABOVE_BYTES_MAX {
            let text = "the copy has more definitions of indexes and paths than can be kept";
            return Err(Refusal::severe("IDC3302I", text));
        }
        if let Some(last) = self.all.last_mut() {
            last.above.push(statement);
        }
        Ok(())
    }

    /// Lets others open all of them; answers how many records they have.
    pub(crate) fn finish(&mut self, session: &mut Session<'_, S>) -> Result<u64, Refusal> {
        let mut count = 0;
        for loaded in &mut self.all {
            count += loaded.finish(session)?;
        }
        Ok(count)
    }

    /// The copy is not whole; answers the names that objects were to have.
    pub(crate) fn take_back(self, session: &mut Session<'_, S>) -> Vec<DataSetName> {
        let mut names = Vec::new();
        for mut loaded in self.all {
            loaded.take_back(session);
            names.push(loaded.name);
        }
        names
    }
}
