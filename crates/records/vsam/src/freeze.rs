//! The records of clusters as they were at one moment, while programs go on changing them.
//!
//! | pass | reads | who waits |
//! |---|---|---|
//! | first | everything that is committed, a few records at a time, into sets of its own | who changes one of those few |
//! | second | what was changed since, with locks, into memory | who changes that again, until the pass is over |
//!
//! 1. Whoever changes a record notes its key ([`Sphere::note`]) while it is locked for the change.
//!    A record that was not noted is as the first pass has read it.
//! 2. The moment is when everything that was noted is locked, and nothing else was noted: what was
//!    committed before is there, what was not is not.
//! 3. The sets go with the value, or by the next [`Catalog::open`] if it is not dropped.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use store::{
    Entry as StoreEntry, LoadSource, Read, SetId, Store, StoreError, Unit as _, UnitOptions,
};

use crate::attributes::{BLOCK_BYTES, Organization};
use crate::catalog::Catalog;
use crate::change::Claimed;
use crate::entry::Entry;
use crate::error::CatalogError;
use crate::feedback::{Feedback, Rba, RecordNumber};
use crate::layout::{Shape, u64_of};
use crate::name::DataSetName;
use crate::rows::unit_options;
use crate::share::{Sphere, Ticket};
use crate::snap::{Pair, Synonyms};

/// Records that the first pass has locked at once.
const RECORDS_AT_ONCE: u32 = 256;
/// How often what was changed meanwhile is looked for.
const ROUNDS_MAX: u32 = 1000;
/// How often the second pass is begun before a deadlock, or a wait that is too long, is the answer.
const TRIES_MAX: u32 = 5;

/// What was changed: keys with their new values, none for those that are gone.
type Changes = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

/// Clusters at one moment.
pub struct Frozen<S: Store> {
    catalog: Catalog<S>,
    pairs: Vec<Pair>,
    changes: Vec<Changes>,
    _tickets: Vec<Ticket>,
}

/// The keys that are noted of a sphere, until this goes.
struct Notes {
    sphere: Arc<Sphere>,
    number: u64,
}

impl Notes {
    fn of(sphere: &Arc<Sphere>) -> Notes {
        Notes { number: sphere.begin_notes(), sphere: Arc::clone(sphere) }
    }

    fn take(&self) -> BTreeSet<Vec<u8>> {
        self.sphere.take_notes(self.number)
    }
}

impl Drop for Notes {
    fn drop(&mut self) {
        self.sphere.end_notes(self.number);
    }
}

impl<S: Store> Catalog<S> {
    /// The records of clusters at one moment. They may be in use.
    ///
    /// # Errors
    /// If a name is no cluster's; if somebody keeps a record for longer than requests wait, or
    /// changes go on too fast.
    pub fn freeze(&self, clusters: &[DataSetName]) -> Result<Frozen<S>, CatalogError> {
        let (sources, tickets) = self.bases(clusters)?;
        let mut pairs = Vec::new();
        for source in sources {
            let name = self.frozen_name(pairs.len())?;
            let synonyms = Synonyms(vec![(source.name.clone(), name)]);
            let mut pair = self.copy_of(source, &synonyms)?;
            pair.copy.related.clear();
            pairs.push(pair);
        }
        let notes: Vec<Notes> = tickets.iter().map(|ticket| Notes::of(ticket.sphere())).collect();
        // From here on there is something to take back, which the value does.
        let catalog = self.clone();
        let mut frozen = Frozen { catalog, pairs, changes: Vec::new(), _tickets: tickets };
        self.make(&mut frozen.pairs)?;
        for pair in &frozen.pairs {
            let (from, to) = (self.data_of(&pair.source)?, self.data_of(&pair.copy)?);
            self.store().load_sorted(to, &mut Committed::of(self.store(), from)?)?;
        }
        frozen.changes = self.changed(&frozen.pairs, &notes)?;
        Ok(frozen)
    }

    /// A name that nobody has, of one of several copies.
    fn frozen_name(&self, at: usize) -> Result<DataSetName, CatalogError> {
        loop {
            let number = self.store().draw(self.shared.set, 1)? % 10_000_000;
            let name = DataSetName::parse(&format!("HOLDFAST.FROZEN.F{number}.C{at}"))?;
            if self.get(&name)?.is_none() {
                return Ok(name);
            }
        }
    }

    fn changed(&self, pairs: &[Pair], notes: &[Notes]) -> Result<Vec<Changes>, CatalogError> {
        let mut known: Vec<BTreeSet<Vec<u8>>> = notes.iter().map(Notes::take).collect();
        let mut victim_count = 0;
        loop {
            let options = UnitOptions { read_only: true, victim_count, ..unit_options() };
            match self.changed_now(pairs, notes, &mut known, options) {
                Err(CatalogError::Store(error))
                    if victim_count + 1 < TRIES_MAX
                        && matches!(error, StoreError::Deadlock | StoreError::Timeout(_)) =>
                {
                    victim_count += 1;
                }
                other => return other,
            }
        }
    }

    /// The second pass, in one unit of work that reads.
    fn changed_now(
        &self,
        pairs: &[Pair],
        notes: &[Notes],
        known: &mut [BTreeSet<Vec<u8>>],
        options: UnitOptions,
    ) -> Result<Vec<Changes>, CatalogError> {
        let mut locked = self.store().begin(options)?;
        let mut changes: Vec<Changes> = pairs.iter().map(|_| Changes::new()).collect();
        let mut wanted: Vec<BTreeSet<Vec<u8>>> = known.to_vec();
        for _ in 0..ROUNDS_MAX {
            for ((pair, keys), changes) in pairs.iter().zip(&wanted).zip(&mut changes) {
                let set = self.data_of(&pair.source)?;
                for key in keys
                    .iter()
                    .filter(|key| !changes.contains_key(*key))
                    .cloned()
                    .collect::<Vec<_>>()
                {
                    let mut value = Vec::new();
                    let is_there = locked.get(set, &key, Read::Shared, &mut value)?;
                    changes.insert(key, is_there.then_some(value));
                }
            }
            let mut is_over = true;
            for (at, notes) in notes.iter().enumerate() {
                wanted[at] = notes.take();
                is_over &= wanted[at].iter().all(|key| changes[at].contains_key(key));
                known[at].extend(wanted[at].iter().cloned());
            }
            if is_over {
                locked.backout()?;
                return Ok(changes);
            }
        }
        let what = "records change faster than they are read".into();
        Err(CatalogError::Store(StoreError::Unavailable(what)))
    }
}

impl<S: Store> Frozen<S> {
    /// Gives every record of a cluster in its order; answers how many there were. Nothing of a
    /// cluster that is none of those.
    ///
    /// # Errors
    /// If the store fails; what `take` answers.
    pub fn each<E: From<CatalogError>>(
        &self,
        cluster: &DataSetName,
        take: &mut Take<'_, E>,
    ) -> Result<u64, E> {
        let at = self.pairs.iter().position(|pair| pair.source.name == *cluster);
        let Some((pair, changes)) =
            at.and_then(|at| Some((self.pairs.get(at)?, self.changes.get(at)?)))
        else {
            return Ok(0);
        };
        let failed = |error: StoreError| E::from(CatalogError::Store(error));
        let Some(mut given) = Given::of(&pair.source) else { return Ok(0) };
        let store = self.catalog.store();
        let set = self.catalog.data_of(&pair.copy)?;
        let mut unit = store.begin(UnitOptions::READ_ONLY).map_err(failed)?;
        let mut cursor = store.cursor(set).map_err(failed)?;
        let mut changed = changes.iter().peekable();
        while let Some(entry) = unit.next(&mut cursor, Read::Unlocked).map_err(failed)? {
            while let Some((key, value)) = changed.next_if(|(key, _)| key.as_slice() < entry.key) {
                given.give(key, value.as_deref(), take)?;
            }
            match changed.next_if(|(key, _)| key.as_slice() == entry.key) {
                Some((key, value)) => given.give(key, value.as_deref(), take)?,
                None => given.give(entry.key, Some(entry.value), take)?,
            }
        }
        for (key, value) in changed {
            given.give(key, value.as_deref(), take)?;
        }
        unit.backout().map_err(failed)?;
        Ok(given.count)
    }
}

impl<S: Store> Claimed<S> {
    /// Gives every record of the cluster in its order; answers how many there were. They are the
    /// last that it has had: whoever has changed some and not ended his unit of work is waited for.
    ///
    /// # Errors
    /// If the store fails; what `take` answers.
    pub fn each<E: From<CatalogError>>(&self, take: &mut Take<'_, E>) -> Result<u64, E> {
        let failed = |error: StoreError| E::from(CatalogError::Store(error));
        let Some(cluster) = self.all.first() else { return Ok(0) };
        let Some(mut given) = Given::of(cluster) else { return Ok(0) };
        let set = self.catalog.data_of(cluster)?;
        let mut committed = Committed::of(self.catalog.store(), set).map_err(failed)?;
        while let Some(entry) = committed.next_entry().map_err(failed)? {
            given.give(entry.key, Some(entry.value), take)?;
        }
        Ok(given.count)
    }
}

impl<S: Store> Drop for Frozen<S> {
    fn drop(&mut self) {
        // What cannot be taken back now is by the next start.
        let _ = self.catalog.take_back(&self.pairs);
    }
}

/// Gets a record, and where it stands.
pub type Take<'t, E> = dyn FnMut(&[u8], &Feedback) -> Result<(), E> + 't;

/// Records on their way out.
struct Given {
    organization: Organization,
    shape: Shape,
    count: u64,
    record: Vec<u8>,
}

impl Given {
    /// Of a cluster.
    fn of(entry: &Entry) -> Option<Given> {
        let attributes = entry.cluster()?;
        let (organization, shape) = (attributes.organization, Shape::of(attributes));
        Some(Given { organization, shape, count: 0, record: Vec::new() })
    }

    fn give<E: From<CatalogError>>(
        &mut self,
        key: &[u8],
        value: Option<&[u8]>,
        take: &mut Take<'_, E>,
    ) -> Result<(), E> {
        let Some(value) = value else { return Ok(()) };
        if self.organization == Organization::Linear {
            // Blocks that were never written are zeros.
            while self.count < u64_of(key) / BLOCK_BYTES as u64 {
                self.record.clear();
                self.record.resize(BLOCK_BYTES, 0);
                let at = (self.count * BLOCK_BYTES as u64).to_be_bytes();
                self.tell(&at, take)?;
            }
        }
        let copied = self.shape.copy(key, value, &mut self.record);
        copied.map_err(|error| E::from(CatalogError::Store(error)))?;
        self.tell(key, take)
    }

    fn tell<E>(&mut self, key: &[u8], take: &mut Take<'_, E>) -> Result<(), E> {
        let bytes = u32::try_from(self.record.len()).unwrap_or(u32::MAX);
        let mut feedback = Feedback { bytes, ..Feedback::default() };
        match self.organization {
            Organization::Keyed => {}
            Organization::EntrySequenced | Organization::Linear => {
                feedback.rba = Some(Rba(u64_of(key)));
            }
            Organization::Relative | Organization::VariableRelative => {
                let number = key.try_into().map_or(0, u32::from_be_bytes);
                feedback.number = Some(RecordNumber(number));
            }
        }
        self.count += 1;
        take(&self.record, &feedback)
    }
}

/// What is committed of a set, as the source of a load: few entries are locked at a time.
struct Committed<'s, S: Store> {
    store: &'s S,
    unit: Option<S::Unit>,
    cursor: S::Cursor,
    taken: u32,
}

impl<'s, S: Store> Committed<'s, S> {
    fn of(store: &'s S, set: SetId) -> Result<Committed<'s, S>, StoreError> {
        Ok(Committed { store, unit: None, cursor: store.cursor(set)?, taken: 0 })
    }
}

impl<S: Store> LoadSource for Committed<'_, S> {
    fn next_entry(&mut self) -> store::Result<Option<StoreEntry<'_>>> {
        if self.taken.is_multiple_of(RECORDS_AT_ONCE)
            && let Some(unit) = self.unit.take()
        {
            unit.backout()?;
        }
        self.taken = self.taken.wrapping_add(1);
        if self.unit.is_none() {
            self.unit = Some(self.store.begin(UnitOptions { read_only: true, ..unit_options() })?);
        }
        let Some(unit) = &mut self.unit else { return Ok(None) };
        unit.next(&mut self.cursor, Read::Shared)
    }
}
