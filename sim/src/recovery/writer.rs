//! Who changes both sets in units of work, some long, and knows what they hold after each commit.

use base::{Coded, Lsn};
use seam::sim::Rng;
use store::{CommitOrder, Committed, Store, StoreError, Unit, UnitOptions};
use store_kernel::KernelUnit;

use super::{Model, Site, coded};

/// Changes both sets, step by step.
pub(crate) struct Writer<'w> {
    pub(crate) site: &'w Site,
    pub(crate) rng: Rng,
    pub(crate) model: Model,
    pub(crate) long: Option<(KernelUnit, Model)>,
    /// What was there after each commit.
    pub(crate) states: Vec<(Lsn, Model)>,
}

impl<'w> Writer<'w> {
    pub(crate) fn new(site: &'w Site, rng: Rng, model: Model) -> Writer<'w> {
        Writer { site, rng, model, long: None, states: Vec::new() }
    }

    /// Something was committed. Its place is where its record ends: by now others may have logged
    /// more.
    fn note(&mut self, committed: Committed) -> Result<(), String> {
        let CommitOrder(end) = committed.order.ok_or("a commit without a place")?;
        self.states.push((Lsn(end), self.model.clone()));
        Ok(())
    }

    /// Nothing is in flight any more.
    pub(crate) fn end(&mut self) -> Result<(), String> {
        self.long.take().map_or(Ok(()), |(unit, _)| unit.backout().map_err(coded))
    }

    fn change(
        &mut self,
        unit: &mut KernelUnit,
        model: &mut Model,
        who: &str,
    ) -> Result<(), StoreError> {
        for _ in 0..1 + self.rng.index(5) {
            let number = self.rng.index(2);
            let set = self.site.sets[number];
            let key = format!("{who}{:03}", self.rng.below(60)).into_bytes();
            if self.rng.index(4) == 0 {
                let _ = unit.delete(set, &key)?;
                model.remove(&(number, key));
                continue;
            }
            let len = if self.rng.one_in(12) { 5_000 } else { self.rng.index(300) };
            let value = vec![self.rng.below(256) as u8; len];
            unit.put(set, &key, &value)?;
            model.insert((number, key), value);
        }
        Ok(())
    }

    pub(crate) fn step(&mut self) -> Result<(), String> {
        let mut unit = self.site.store.begin(UnitOptions::default()).map_err(coded)?;
        let mut model = self.model.clone();
        if let Err(error) = self.change(&mut unit, &mut model, "s") {
            // Perhaps the long one keeps the log full.
            unit.backout().map_err(coded)?;
            let (long, _) = self.long.take().filter(|_| is_full(&error)).ok_or(coded(error))?;
            return long.backout().map_err(coded);
        }
        if self.rng.one_in(6) {
            unit.backout().map_err(coded)?;
        } else {
            let committed = unit.commit().map_err(coded)?;
            self.model = model;
            self.note(committed)?;
        }
        self.step_long()
    }

    /// As little as can be committed.
    pub(crate) fn small_step(&mut self) -> Result<(), String> {
        let mut unit = self.site.store.begin(UnitOptions::default()).map_err(coded)?;
        let key = b"s999".to_vec();
        unit.put(self.site.sets[0], &key, b"late").map_err(coded)?;
        let committed = unit.commit().map_err(coded)?;
        self.model.insert((0, key), b"late".to_vec());
        self.note(committed)
    }

    /// A unit of work that goes on over several others. It has keys of its own.
    fn step_long(&mut self) -> Result<(), String> {
        let Some((mut unit, mut model)) = self.long.take() else {
            if self.rng.one_in(4) {
                let unit = self.site.store.begin(UnitOptions::default()).map_err(coded)?;
                self.long = Some((unit, Model::new()));
            }
            return Ok(());
        };
        if !self.rng.one_in(6) {
            if model.is_empty() {
                let own = self.model.iter().filter(|((_, key), _)| key[0] == b'l');
                model = own.map(|(place, value)| (place.clone(), value.clone())).collect();
            }
            match self.change(&mut unit, &mut model, "l") {
                Ok(()) => self.long = Some((unit, model)),
                Err(error) if is_full(&error) => unit.backout().map_err(coded)?,
                Err(error) => return Err(coded(error)),
            }
        } else if self.rng.one_in(2) || model.is_empty() {
            unit.backout().map_err(coded)?;
        } else {
            let committed = unit.commit().map_err(coded)?;
            self.model.retain(|(_, key), _| key[0] != b'l');
            self.model.append(&mut model);
            self.note(committed)?;
        }
        Ok(())
    }
}

/// Whether the log is full, or its unit of work has kept too much of it.
fn is_full(error: &StoreError) -> bool {
    matches!(error, StoreError::LogFull(_)) || error.code().0 == "HFU001"
}
