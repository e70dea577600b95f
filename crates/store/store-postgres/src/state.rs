//! What a unit of work consists of, and what dooms it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use store::{LockMode, Result, SetId, StoreError, UnitOptions};

use crate::member::Member;
use crate::overlay::Overlay;
use crate::pages::Pages;
use crate::pool::Taken;
use crate::read_set::ReadSet;
use crate::shared::Shared;
use crate::spare::Ahead;

/// The state of a unit of work.
pub(crate) struct UnitState {
    pub(crate) shared: Arc<Shared>,
    pub(crate) member: Arc<Member>,
    pub(crate) number: i64,
    pub(crate) options: UnitOptions,
    begun: Duration,
    pub(crate) overlay: Overlay,
    pub(crate) seen: ReadSet,
    /// The sets that were changed.
    pub(crate) written: BTreeSet<SetId>,
    /// Whether one of them is under the store's own discipline.
    pub(crate) guarded: bool,
    pub(crate) pages: Pages,
    /// The connection whose transaction sees the snapshot, and whether a lock on a name has made
    /// that too old.
    pub(crate) snapshot: Option<Taken>,
    pub(crate) outdated: bool,
    pub(crate) held: BTreeMap<Vec<u8>, LockMode>,
    /// Names that were locked on the way of a cursor, as long as they are held in the same mode.
    pub(crate) along: BTreeMap<Vec<u8>, LockMode>,
    pub(crate) ahead: Option<Ahead>,
    /// How many spare names the engine had for it when it came to its end.
    pub(crate) spared: usize,
    pub(crate) claimed: BTreeSet<Vec<u8>>,
    pub(crate) failure: Option<StoreError>,
}

impl UnitState {
    pub(crate) fn new(shared: Arc<Shared>, member: Arc<Member>, options: UnitOptions) -> UnitState {
        let (number, begun) = (member.next_unit(), shared.now());
        UnitState {
            shared,
            member,
            number,
            options,
            begun,
            overlay: Overlay::default(),
            seen: ReadSet::default(),
            written: BTreeSet::new(),
            guarded: false,
            pages: Pages::default(),
            snapshot: None,
            outdated: false,
            held: BTreeMap::new(),
            along: BTreeMap::new(),
            ahead: None,
            spared: 0,
            claimed: BTreeSet::new(),
            failure: None,
        }
    }

    /// Lets a call go on, unless something dooms the unit of work.
    pub(crate) fn check(&mut self) -> Result<()> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        if self.member.is_lost() {
            let why = "the connection that showed that this system lives was lost, and the locks \
                       of its units of work with it";
            return self.doomed(StoreError::Unavailable(why.into()));
        }
        if self.ahead.as_ref().is_some_and(|ahead| ahead.spare.is_spoiled()) {
            let why = "the connection that gave back a lock of this unit of work was lost on the \
                       way, and the lock may go at any time";
            return self.doomed(StoreError::Unavailable(why.into()));
        }
        let most = self.shared.options.unit_age_max;
        if self.shared.now().saturating_sub(self.begun) > most {
            return self.doomed(StoreError::TooOld(most));
        }
        Ok(())
    }

    /// Remembers what dooms the unit of work.
    pub(crate) fn doomed<T>(&mut self, error: StoreError) -> Result<T> {
        if error.dooms_unit() && self.failure.is_none() {
            self.failure = Some(error.clone());
        }
        Err(error)
    }

    /// A name was locked: what was read before may be older than what it shows.
    pub(crate) fn forget_pages(&mut self) {
        self.pages.clear();
        self.outdated = true;
    }
}
