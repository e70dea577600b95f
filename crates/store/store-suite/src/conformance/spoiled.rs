//! The model with one flaw each: what the suite must find.

use std::sync::Arc;

use crate::model::{ModelCursor, ModelStore, ModelUnit};
use store::Capabilities;
use store::LoadSource;
use store::error::Result;
use store::traits::{Cursor, Outcome, Savepoint, Store, Unit, UnitOptions};
use store::{CommitOrder, CommitSink, Committed};
use store::{Entry, KeyRange, Position};
use store::{Grant, LockMode, LockName, Read, Wait};
use store::{Locking, SetAttributes, SetId, SetInfo};

/// What is wrong with a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    ReadsDoNotLock,
    IntentionIsForgotten,
    GapsAreNotLocked,
    AbsenceIsNotLocked,
    DeletedRangesAreNotLocked,
    BackoutKeepsInserts,
    RollbackKeepsRemovals,
    SavepointsAreNotChecked,
    UnlockDoesNothing,
    ClaimsWait,
    TheEndMovesTheCursor,
    SettledTwice,
    OrderIsMadeUp,
    NumbersRepeat,
    CallersAreNotTrusted,
    ReadOnlyMayWrite,
    ValuesAreCut,
    LoadsAreNotChecked,
    NothingIsEverInUse,
    LockedNamesAreAlwaysBusy,
}

#[derive(Clone)]
pub(super) struct SpoiledStore {
    pub(super) inner: ModelStore,
    pub(super) flaw: Flaw,
}

pub(super) struct SpoiledUnit {
    inner: ModelUnit,
    flaw: Flaw,
    inserted: Vec<(SetId, Vec<u8>, Vec<u8>)>,
    store: ModelStore,
}

impl Store for SpoiledStore {
    type Unit = SpoiledUnit;
    type Cursor = ModelCursor;

    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    fn begin(&self, mut options: UnitOptions) -> Result<SpoiledUnit> {
        options.read_only &= self.flaw != Flaw::ReadOnlyMayWrite;
        let (store, inserted) = (self.inner.clone(), Vec::new());
        Ok(SpoiledUnit { inner: self.inner.begin(options)?, flaw: self.flaw, inserted, store })
    }

    fn cursor(&self, set: SetId) -> Result<ModelCursor> {
        self.inner.cursor(set)
    }

    fn create_set(&self, name: &str, attributes: &SetAttributes) -> Result<SetId> {
        let mut attributes = attributes.clone();
        if self.flaw == Flaw::CallersAreNotTrusted {
            attributes.locking = Locking::Keys;
        }
        self.inner.create_set(name, &attributes)
    }

    fn drop_set(&self, set: SetId) -> Result<()> {
        match self.inner.drop_set(set) {
            Err(store::StoreError::SetInUse(_)) if self.flaw == Flaw::NothingIsEverInUse => Ok(()),
            other => other,
        }
    }

    fn empty_set(&self, set: SetId) -> Result<()> {
        self.inner.empty_set(set)
    }

    fn set(&self, name: &str) -> Result<Option<SetId>> {
        self.inner.set(name)
    }

    fn sets(&self) -> Result<Vec<SetInfo>> {
        self.inner.sets()
    }

    fn load_sorted(&self, set: SetId, source: &mut impl LoadSource) -> Result<u64> {
        if self.flaw != Flaw::LoadsAreNotChecked {
            return self.inner.load_sorted(set, source);
        }
        store::run(&self.inner, UnitOptions::default(), |unit| {
            let mut count = 0;
            while let Some(entry) = source.next_entry()? {
                unit.put(set, entry.key, entry.value)?;
                count += 1;
            }
            Ok(count)
        })
    }

    fn draw(&self, set: SetId, count: u32) -> Result<u64> {
        self.inner.draw(set, if self.flaw == Flaw::NumbersRepeat { 1 } else { count })
    }

    fn wait_durable(&self) -> Result<()> {
        self.inner.wait_durable()
    }
}

impl SpoiledUnit {
    fn read(&self, read: Read) -> Read {
        match (self.flaw, read) {
            (Flaw::ReadsDoNotLock, _) => Read::Unlocked,
            (Flaw::IntentionIsForgotten, Read::Update) => Read::Shared,
            _ => read,
        }
    }

    fn cut<'v>(&self, value: &'v [u8]) -> &'v [u8] {
        let most = if self.flaw == Flaw::ValuesAreCut { 4_095 } else { usize::MAX };
        &value[..value.len().min(most)]
    }
}

impl Unit for SpoiledUnit {
    type Cursor = ModelCursor;

    fn get(&mut self, set: SetId, key: &[u8], read: Read, value: &mut Vec<u8>) -> Result<bool> {
        if self.flaw == Flaw::AbsenceIsNotLocked
            && !self.inner.get(set, key, Read::Unlocked, value)?
        {
            return Ok(false);
        }
        self.inner.get(set, key, self.read(read), value)
    }

    fn insert(&mut self, set: SetId, key: &[u8], value: &[u8]) -> Result<Outcome> {
        self.inserted.push((set, key.to_vec(), value.to_vec()));
        self.inner.insert(set, key, self.cut(value))
    }

    fn replace(&mut self, set: SetId, key: &[u8], value: &[u8]) -> Result<Outcome> {
        self.inner.replace(set, key, self.cut(value))
    }

    fn put(&mut self, set: SetId, key: &[u8], value: &[u8]) -> Result<()> {
        self.inserted.push((set, key.to_vec(), value.to_vec()));
        self.inner.put(set, key, self.cut(value))
    }

    fn delete(&mut self, set: SetId, key: &[u8]) -> Result<Outcome> {
        self.inner.delete(set, key)
    }

    fn delete_range(&mut self, set: SetId, range: KeyRange<'_>) -> Result<u64> {
        if self.flaw != Flaw::DeletedRangesAreNotLocked {
            return self.inner.delete_range(set, range);
        }
        let mut cursor = self.store.cursor(set)?;
        cursor.limit(range);
        let mut count = 0;
        while self.inner.next(&mut cursor, Read::Unlocked)?.is_some() {
            count += u64::from(self.inner.delete_at(&mut cursor)?.is_done());
        }
        Ok(count)
    }

    fn next<'c>(&mut self, cursor: &'c mut ModelCursor, read: Read) -> Result<Option<Entry<'c>>> {
        if self.flaw == Flaw::GapsAreNotLocked {
            return match self.inner.next(cursor, Read::Unlocked)? {
                Some(_) => self.inner.current(cursor, read),
                None => Ok(None),
            };
        }
        let before = cursor.clone();
        let there = self.inner.next(cursor, self.read(read))?.is_some();
        if !there {
            if self.flaw == Flaw::TheEndMovesTheCursor {
                cursor.seek(Position::Back);
            }
            return Ok(None);
        }
        *cursor = before;
        self.inner.next(cursor, self.read(read))
    }

    fn previous<'c>(
        &mut self,
        cursor: &'c mut ModelCursor,
        read: Read,
    ) -> Result<Option<Entry<'c>>> {
        self.inner.previous(cursor, self.read(read))
    }

    fn current<'c>(
        &mut self,
        cursor: &'c mut ModelCursor,
        read: Read,
    ) -> Result<Option<Entry<'c>>> {
        self.inner.current(cursor, self.read(read))
    }

    fn claim_next<'c>(&mut self, cursor: &'c mut ModelCursor) -> Result<Option<Entry<'c>>> {
        match self.flaw {
            Flaw::ClaimsWait => self.inner.next(cursor, Read::Exclusive),
            _ => self.inner.claim_next(cursor),
        }
    }

    fn lock(&mut self, name: LockName<'_>, mode: LockMode, wait: Wait) -> Result<Grant> {
        let mode = match self.flaw {
            Flaw::LockedNamesAreAlwaysBusy => LockMode::Exclusive,
            _ => mode,
        };
        self.inner.lock(name, mode, wait)
    }

    fn uses_alone(&mut self, set: SetId) -> Result<bool> {
        match self.flaw {
            Flaw::NothingIsEverInUse => Ok(true),
            _ => self.inner.uses_alone(set),
        }
    }

    fn unlock(&mut self, name: LockName<'_>) -> Result<bool> {
        match self.flaw {
            Flaw::UnlockDoesNothing => Ok(self.held(name).is_some()),
            _ => self.inner.unlock(name),
        }
    }

    fn held(&self, name: LockName<'_>) -> Option<LockMode> {
        self.inner.held(name)
    }

    fn savepoint(&mut self) -> Result<Savepoint> {
        self.inner.savepoint()
    }

    fn rollback_to(&mut self, savepoint: Savepoint) -> Result<()> {
        match self.flaw {
            Flaw::RollbackKeepsRemovals => Ok(()),
            Flaw::SavepointsAreNotChecked => {
                let _ = self.inner.rollback_to(savepoint);
                Ok(())
            }
            _ => self.inner.rollback_to(savepoint),
        }
    }

    fn failure(&self) -> Option<&store::StoreError> {
        self.inner.failure()
    }

    fn commit(self) -> Result<Committed> {
        let committed = self.inner.commit()?;
        let order = match self.flaw {
            Flaw::OrderIsMadeUp => committed.order.map(|CommitOrder(order)| CommitOrder(order % 7)),
            _ => committed.order,
        };
        Ok(Committed { order })
    }

    fn commit_queued(self, sink: &Arc<dyn CommitSink>, token: u64) -> Result<()> {
        self.inner.commit_queued(sink, token)?;
        if self.flaw == Flaw::SettledTwice {
            sink.settled(token, Ok(Committed { order: Some(CommitOrder(u64::MAX)) }));
            sink.batch_settled();
        }
        Ok(())
    }

    fn backout(self) -> Result<()> {
        self.inner.backout()?;
        if self.flaw == Flaw::BackoutKeepsInserts {
            store::run(&self.store, UnitOptions::default(), |unit| {
                let mut kept = self.inserted.iter();
                kept.try_for_each(|(set, key, value)| unit.put(*set, key, value))
            })?;
        }
        Ok(())
    }
}
