//! Giving out intervals and taking them back.
//!
//! The lowest free interval goes first, unless the caller would like one just behind another, so
//! that files can shrink. What is given out is logged by the caller's closure under the map's
//! latch.

use base::CiNumber;
use pool::ExclusiveCi;

use crate::extent::Growing;
use crate::{DataSet, SpaceError, map};

/// Ordinary allocation leaves at least this many intervals on the device to undo (K15).
const INTERVALS_OF_UNDO: u32 = 32;
/// What maps take at the front of a block at most, behind the interval that is before them.
const BLOCK_MAPS: u32 = 4;
/// Files grow by at least this much, and by an eighth of what they have.
const GROW_BYTES_MIN: u32 = 1 << 20;

/// Who allocates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// New work, which may be refused.
    Work,
    /// Backing out, which must not be.
    Undo,
}

impl DataSet {
    /// Gives out an interval: `log` appends the record and sets the map's LSN, under its latch.
    ///
    /// # Errors
    /// [`SpaceError::NoSpace`], or what `log` or the map says.
    pub fn allocate<E: From<SpaceError> + From<pool::PoolError>>(
        &self,
        near: Option<CiNumber>,
        purpose: Purpose,
        log: &mut dyn FnMut(&mut ExclusiveCi<'_>, CiNumber) -> Result<(), E>,
    ) -> Result<CiNumber, E> {
        // Nobody cuts the files between the choice of an interval and its mark in the map.
        let growing = self.extent.growing();
        let per_map = self.layout.per_map();
        let mut block = near.map_or(self.extent.lowest(), |ci| ci.0 / per_map);
        let mut from = near.map_or(0, |ci| ci.0 % per_map + 1);
        let mut wrapped = near.is_none();
        loop {
            let first = u64::from(block) * u64::from(per_map);
            if first >= u64::from(self.layout.intervals_max()) {
                return Err(self.no_space("its map can describe no more").into());
            }
            let map_ci = self.layout.map1_of(CiNumber(first as u32));
            let candidate = self.free_in(map_ci, from)?;
            let Some(candidate) = candidate else {
                if wrapped {
                    self.extent.note_full(block);
                    block += 1;
                } else {
                    wrapped = true;
                    block = self.extent.lowest();
                }
                from = 0;
                continue;
            };
            self.ensure(candidate, purpose, &growing)?;
            let mut page = self.exclusive(map_ci)?;
            if map::is_used(page.bytes(), self.layout, candidate.0 % per_map) {
                continue;
            }
            log(&mut page, candidate)?;
            self.extent.note_used_before(candidate.0 + 1);
            map::set_used(page.bytes_mut(), self.layout, candidate.0 % per_map, true);
            return Ok(candidate);
        }
    }

    /// Gives out this very interval, if it is free; `log` as for [`DataSet::allocate`]. `false`: it
    /// is in use, or lies behind the end by now.
    ///
    /// # Errors
    /// What `log` or the map says.
    pub fn allocate_this<E: From<pool::PoolError>>(
        &self,
        ci: CiNumber,
        log: &mut dyn FnMut(&mut ExclusiveCi<'_>, CiNumber) -> Result<(), E>,
    ) -> Result<bool, E> {
        // Nobody cuts the files off before it.
        let _growing = self.extent.growing();
        if ci.0 >= self.intervals() || self.layout.is_reserved(ci) {
            return Ok(false);
        }
        let mut page = self.exclusive(self.layout.map1_of(ci))?;
        let index = ci.0 % self.layout.per_map();
        if map::is_used(page.bytes(), self.layout, index) {
            return Ok(false);
        }
        log(&mut page, ci)?;
        self.extent.note_used_before(ci.0 + 1);
        map::set_used(page.bytes_mut(), self.layout, index, true);
        Ok(true)
    }

    /// Takes an interval back; `log` as for [`DataSet::allocate`].
    ///
    /// # Errors
    /// What `log` or the map says. Damage, if the interval is not in use: two places led to it.
    pub fn give_back<E: From<pool::PoolError>>(
        &self,
        ci: CiNumber,
        log: &mut dyn FnMut(&mut ExclusiveCi<'_>, CiNumber) -> Result<(), E>,
    ) -> Result<(), E> {
        let never = || self.damaged(ci, "it is given back, but is not in use".into()).into();
        if self.layout.is_reserved(ci) {
            return Err(never());
        }
        let mut page = self.exclusive(self.layout.map1_of(ci))?;
        let index = ci.0 % self.layout.per_map();
        if !map::is_used(page.bytes(), self.layout, index) {
            return Err(never());
        }
        log(&mut page, ci)?;
        map::set_used(page.bytes_mut(), self.layout, index, false);
        drop(page);
        self.extent.note_free(ci.0 / self.layout.per_map());
        Ok(())
    }

    /// The number behind the highest interval in use.
    ///
    /// # Errors
    /// If a map cannot be read.
    pub fn high_water(&self) -> Result<u32, SpaceError> {
        // Nobody cuts off the maps that are looked at.
        let _growing = self.extent.growing();
        self.last_used()
    }

    /// The same for whoever holds `growing`.
    fn last_used(&self) -> Result<u32, SpaceError> {
        let per_map = self.layout.per_map();
        let mut block = (self.intervals().max(1) - 1) / per_map;
        loop {
            let first = block * per_map;
            let page = self.shared(CiNumber(first + 1))?;
            let used = (0..per_map).rev().find(|i| map::is_used(page.bytes(), self.layout, *i));
            match used {
                Some(index) => return Ok((first + index + 1).max(crate::ROOT.0 + 1)),
                None if block == 0 => return Ok(crate::ROOT.0 + 1),
                None => block -= 1,
            }
        }
    }

    /// Looks how far the data set is in use, and watches from now on how far it gets. Log records
    /// behind this call are about intervals before what [`DataSet::cut`] keeps.
    ///
    /// # Errors
    /// If a map cannot be read.
    pub fn watch_peak(&self) -> Result<u32, SpaceError> {
        self.extent.watch_peak();
        let used = self.high_water()?;
        self.extent.note_used_before(used);
        Ok(used)
    }

    /// Cuts the files behind the highest interval that was in use since [`DataSet::watch_peak`] and
    /// the reserve of undo. The caller has made sure that restart needs no log before that call.
    /// Returns how many intervals went.
    ///
    /// # Errors
    /// Whatever the disk says.
    pub fn cut(&self) -> Result<u32, SpaceError> {
        let growing = self.extent.growing();
        let peak = self.extent.peak().max(self.last_used()?);
        let have = self.intervals();
        let keep = self.keep_maps(peak.saturating_add(INTERVALS_OF_UNDO), have)?;
        if keep >= have {
            return Ok(0);
        }
        self.home().forget(self.id(), CiNumber(keep))?;
        self.files.shrink(keep)?;
        growing.set_intervals(keep);
        Ok(have - keep)
    }

    /// Where the files may be cut, at or behind `keep`. A map that was written stays: its own map
    /// says so, and when the files grow again, zeros in its place would be taken for damage.
    fn keep_maps(&self, keep: u32, have: u32) -> Result<u32, SpaceError> {
        let per_map = self.layout.per_map();
        let mut block = (have.max(1) - 1) / per_map;
        while block * per_map + BLOCK_MAPS > keep {
            let first = block * per_map;
            if self.expected_prefix(self.layout.map1_of(CiNumber(first)))? != 0 {
                return Ok(first + BLOCK_MAPS);
            }
            block -= 1;
        }
        Ok(keep)
    }

    fn free_in(&self, map_ci: CiNumber, from: u32) -> Result<Option<CiNumber>, SpaceError> {
        let page = self.shared(map_ci)?;
        let first = map_ci.0 - 1;
        let mut at = from;
        while let Some(index) = map::first_free(page.bytes(), self.layout, at) {
            let ci = CiNumber(first + index);
            if !self.layout.is_reserved(ci) {
                return Ok(Some(ci));
            }
            at = index + 1;
        }
        Ok(None)
    }

    /// Makes sure that the device has room for an interval that is in use, and so for all before.
    ///
    /// # Errors
    /// [`SpaceError::NoSpace`].
    pub fn cover(&self, ci: CiNumber) -> Result<(), SpaceError> {
        let growing = self.extent.growing();
        self.ensure(ci, Purpose::Undo, &growing)
    }

    /// Makes sure that the device has room for an interval.
    fn ensure(
        &self,
        ci: CiNumber,
        purpose: Purpose,
        growing: &Growing<'_>,
    ) -> Result<(), SpaceError> {
        let spare = if purpose == Purpose::Undo { 0 } else { INTERVALS_OF_UNDO };
        let need = ci.0.saturating_add(1 + spare);
        if need <= self.intervals() {
            return Ok(());
        }
        let have = self.intervals();
        let step = (GROW_BYTES_MIN / self.unit_bytes() as u32).max(have / 8);
        let goal = need.max(have.saturating_add(step));
        let grown = match self.files.grow(have, goal) {
            Ok(()) => goal,
            Err(_) => {
                self.files.grow(have, need).map_err(|error| self.no_space(&error.to_string()))?;
                need
            }
        };
        growing.set_intervals(grown);
        Ok(())
    }

    fn no_space(&self, why: &str) -> SpaceError {
        SpaceError::NoSpace {
            name: self.name().to_owned(),
            set: self.id(),
            intervals: self.intervals(),
            why: why.to_owned(),
        }
    }
}
