//! An open data set: what stands between a pool's frames and the files.

use std::io::{ErrorKind::UnexpectedEof, IoSliceMut};
use std::path::PathBuf;
use std::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{Acquire, Release},
};
use std::sync::{Arc, Weak};

use base::hash::avalanche;
use base::stats::Counter;
use base::{CiNumber, DataSetId, Lsn, SystemId};
use pool::sequential::{Detector, ReadAhead, WINDOW_BYTES_MAX};
use pool::{Backing, ExclusiveCi, FrameHint, Home, Pinned, Pool, PoolError, SharedCi};
use seal::{Format, KeyProvider, PageSealer, SealError};
use seam::Seam;
use seam::failpoint::{Failpoint, armed};
use seam::stop::StopSwitch;
use seam::sync::Mutex;

use crate::extent::Extent;
use crate::files::Files;
use crate::freshness::Freshness;
use crate::layout::Guardian;
use crate::{Definition, MapLayout, Overlay, SpaceError, map};

/// What the layer above says is wrong with the contents of an interval, if anything.
pub type Contents = Arc<dyn Fn(CiNumber, &[u8]) -> Option<String> + Send + Sync>;

/// What every data set of a system shares.
#[derive(Clone)]
pub struct Environment {
    /// Disk, clock, entropy.
    pub seam: Seam,
    /// Where keys come from.
    pub keys: Arc<dyn KeyProvider>,
    /// The system.
    pub system: SystemId,
    /// The system's folder.
    pub home: PathBuf,
    /// Set when the kernel may not go on.
    pub stop: Arc<StopSwitch>,
    /// The threads that read windows ahead of scans.
    pub read_ahead: Arc<ReadAhead>,
    /// Proves the contents of plain intervals that were read: their checksum finds accidents, but
    /// anybody can make it. What is sealed was written here and is not looked at again.
    pub contents: Option<Contents>,
}

/// What a data set has done since it was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataSetStatistics {
    /// Input operations.
    pub reads: u64,
    /// Intervals they brought.
    pub intervals_read: u64,
    /// Input operations of several intervals.
    pub multi_block_reads: u64,
    /// Intervals written.
    pub intervals_written: u64,
    /// Intervals on disk, in use or not.
    pub intervals: u32,
}

#[derive(Default)]
struct Counters {
    reads: Counter,
    intervals_read: Counter,
    multi_reads: Counter,
    intervals_written: Counter,
}

/// An open data set.
pub struct DataSet {
    id: DataSetId,
    name: String,
    definition: Mutex<Arc<Definition>>,
    /// Whether an interval may be plain: its contents are then proven when it is read.
    may_be_plain: AtomicBool,
    environment: Environment,
    pub(crate) files: Files,
    sealer: PageSealer,
    home: Home,
    pub(crate) layout: MapLayout,
    freshness: Freshness,
    pub(crate) extent: Extent,
    /// How many leading bytes of a key say what it belongs to; 0: nobody knows.
    prefix_bytes: AtomicU32,
    /// It is being built, and a crash takes it away.
    provisional: AtomicBool,
    counters: Counters,
    me: Weak<DataSet>,
}

/// What the lookup hint of keys with a common prefix is noted under.
#[derive(Clone, Copy, Debug)]
pub struct LookupKey {
    hash: u64,
    /// The key is the prefix itself, below which no other key with it stands.
    is_first: bool,
}

impl DataSet {
    /// Opens a data set as it is on disk. `top` is the tag prefix of its topmost map.
    ///
    /// # Errors
    /// Missing files, or no key.
    pub fn open(
        environment: &Environment,
        definition: Definition,
        pool: Arc<Pool>,
        top: u64,
    ) -> Result<Arc<DataSet>, SpaceError> {
        let disk = (Arc::clone(&environment.seam.disk), environment.system);
        let files = Files::open(disk, environment.home.clone(), definition.clone(), false)?;
        let intervals = files.intervals()?;
        Ok(DataSet::around(environment, definition, pool, files, intervals, top))
    }

    pub(crate) fn around(
        environment: &Environment,
        definition: Definition,
        pool: Arc<Pool>,
        files: Files,
        intervals: u32,
        top: u64,
    ) -> Arc<DataSet> {
        let sealer = sealer(environment, &definition);
        let layout = MapLayout::new(pool.usable_bytes());
        Arc::new_cyclic(|me| DataSet {
            id: definition.id,
            name: definition.name.clone(),
            may_be_plain: AtomicBool::new(may_be_plain(&definition)),
            definition: Mutex::new(Arc::new(definition)),
            environment: environment.clone(),
            files,
            sealer,
            home: Home::new(pool),
            layout,
            freshness: Freshness::new(top),
            extent: Extent::new(intervals),
            prefix_bytes: AtomicU32::new(0),
            provisional: AtomicBool::new(false),
            counters: Counters::default(),
            me: Weak::clone(me),
        })
    }

    /// What it is now.
    #[must_use]
    pub fn definition(&self) -> Arc<Definition> {
        Arc::clone(&self.definition.lock())
    }

    /// It is something else from now on: the log says so already. Number, name, files and interval
    /// size stay.
    ///
    /// # Errors
    /// If there is no key for the form that is new; nothing has changed then.
    pub fn redefine(&self, definition: Definition) -> Result<(), SealError> {
        assert!(definition.id == self.id && definition.name == self.name, "it stays what it is");
        let plain = may_be_plain(&definition);
        if plain {
            self.may_be_plain.store(true, Release);
        }
        let mut current = self.definition.lock();
        self.sealer.set_accept(&definition.accept())?;
        self.may_be_plain.store(plain, Release);
        *current = Arc::new(definition);
        Ok(())
    }

    /// It is being built from now on: a crash takes it away, so nothing of it has to be durable.
    pub fn begin_building(&self) {
        self.provisional.store(true, Release);
    }

    /// It is built: what was written is durable when this returns, and what will be is, too. What
    /// is dirty was written before.
    ///
    /// # Errors
    /// Whatever the disk says; final, the kernel stops.
    pub fn end_building(&self) -> Result<(), PoolError> {
        self.provisional.store(false, Release);
        if armed(Failpoint::SuccessorNotSynced) {
            return Ok(());
        }
        self.files.sync().map_err(|error| {
            let why = format!("data set {} ({}) cannot be synced: {error}", self.name, self.id);
            PoolError::Stopped(self.environment.stop.stop(why))
        })
    }

    /// Its number.
    #[must_use]
    pub fn id(&self) -> DataSetId {
        self.id
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The unit of sealing, input and output.
    #[must_use]
    pub fn unit_bytes(&self) -> usize {
        self.pool().unit_bytes()
    }

    /// What of an interval its user can fill.
    #[must_use]
    pub fn usable_bytes(&self) -> usize {
        self.pool().usable_bytes()
    }

    /// Where its maps lie.
    #[must_use]
    pub fn layout(&self) -> MapLayout {
        self.layout
    }

    /// The pool that holds its intervals.
    #[inline]
    #[must_use]
    pub fn pool(&self) -> &Pool {
        self.home.pool()
    }

    /// The same, to be changed for another.
    #[must_use]
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Whether an interval is in memory. A guess by the time it returns.
    #[must_use]
    pub fn is_resident(&self, ci: CiNumber) -> bool {
        self.home.is_resident(self.id(), ci)
    }

    /// How many intervals lie on disk, in use or not.
    #[must_use]
    pub fn intervals(&self) -> u32 {
        self.extent.intervals()
    }

    /// An interval to read.
    ///
    /// # Errors
    /// See [`PoolError`].
    #[inline]
    pub fn shared(&self, ci: CiNumber) -> Result<SharedCi<'_>, PoolError> {
        self.pool().shared(self, ci)
    }

    /// An interval to change.
    ///
    /// # Errors
    /// See [`PoolError`].
    #[inline]
    pub fn exclusive(&self, ci: CiNumber) -> Result<ExclusiveCi<'_>, PoolError> {
        self.pool().exclusive(self, ci)
    }

    /// An interval that stays in memory and is latched later.
    ///
    /// # Errors
    /// See [`PoolError`].
    #[inline]
    pub fn pin(&self, ci: CiNumber) -> Result<Pinned<'_>, PoolError> {
        self.pool().pin(self, ci)
    }

    /// An interval that is about to be formatted.
    ///
    /// # Errors
    /// See [`PoolError`].
    #[inline]
    pub fn pin_fresh(&self, ci: CiNumber) -> Result<Pinned<'_>, PoolError> {
        self.pool().pin_fresh(self, ci)
    }

    /// The interval, if it is where it was and unchanged.
    #[inline]
    #[must_use]
    pub fn by_hint(&self, hint: FrameHint, ci: CiNumber) -> Option<SharedCi<'_>> {
        self.pool().by_hint(hint, self.id(), ci)
    }

    /// The interval to change, if it is where it was.
    #[inline]
    #[must_use]
    pub fn exclusive_at(&self, hint: FrameHint, ci: CiNumber) -> Option<ExclusiveCi<'_>> {
        self.pool().exclusive_at(hint, self.id(), ci)
    }

    /// Whether the interval behind the hint is unchanged.
    #[inline]
    #[must_use]
    pub fn is_unchanged(&self, hint: FrameHint) -> bool {
        self.pool().is_unchanged(hint)
    }

    /// Says that keys which share so many leading bytes are used together: where one of them was
    /// found the others are sought first. 0 ends that.
    pub fn set_prefix_bytes(&self, bytes: u16) {
        self.prefix_bytes.store(u32::from(bytes), Release);
    }

    /// What the lookup hint of a key is noted under, if the key is long enough to have one.
    #[inline]
    #[must_use]
    pub fn lookup_key(&self, key: &[u8]) -> Option<LookupKey> {
        let bytes = self.prefix_bytes.load(Acquire) as usize;
        if bytes == 0 {
            return None;
        }
        let hash = avalanche(base::hash::bytes(key.get(..bytes)?) ^ u64::from(self.id().0));
        Some(LookupKey { hash, is_first: key.len() == bytes })
    }

    /// Prefetches what the next search for a key will look at first.
    #[inline]
    pub fn prefetch(&self, key: &[u8]) {
        if let Some(at) = self.lookup_key(key) {
            self.pool().prefetch_lookup_hint(at.hash);
        }
    }

    /// The interval where a key with that prefix was found the last time, and about where in it the
    /// first such key stood.
    #[inline]
    #[must_use]
    pub fn at_lookup_hint(&self, at: LookupKey) -> Option<(Pinned<'_>, usize)> {
        self.pool().at_lookup_hint(self.id(), at.hash)
    }

    /// Notes where a key was found, or would be.
    #[inline]
    pub fn note_lookup_hint(&self, at: LookupKey, hint: FrameHint, offset: usize) {
        self.pool().note_lookup_hint(at.hash, hint, offset);
    }

    /// Whether a lookup hint that led to `near` need not be noted anew for what stands at `offset`.
    #[inline]
    #[must_use]
    pub fn is_noted(&self, at: LookupKey, near: usize, offset: usize) -> bool {
        !at.is_first || self.pool().is_near(near, offset)
    }

    /// A cursor moved onto `ci`: if it is scanning, what lies ahead is read meanwhile.
    #[inline]
    pub fn ahead(&self, detector: &mut Detector, ci: CiNumber) {
        let window_max = self.pool().window_max(WINDOW_BYTES_MAX);
        let asked = detector.step(ci, self.unit_bytes(), window_max);
        let Some((first, count)) = asked else { return };
        let count = count.min(self.intervals().saturating_sub(first.0));
        if count > 0
            && !self.pool().is_resident(self.id(), CiNumber(first.0 + count - 1))
            && let Some(me) = self.me.upgrade()
        {
            self.environment.read_ahead.request(&self.home.shared(), me, first, count);
        }
    }

    /// Loads the upper maps, which stay in memory from now on.
    ///
    /// # Errors
    /// If one of them is damaged.
    pub fn load_maps(&self) -> Result<(), PoolError> {
        self.shared(CiNumber(3))?.keep();
        let span = u64::from(self.layout.per_map()).pow(2);
        for number in 0..u64::from(self.intervals()).div_ceil(span) {
            self.shared(CiNumber((number * span + 2) as u32))?.keep();
        }
        Ok(())
    }

    /// The map interval that holds an interval's freshness, latched, and the entry in it; for the
    /// page writer. `None` for the topmost map: see [`DataSet::set_top`].
    ///
    /// # Errors
    /// See [`PoolError`].
    pub fn guardian_for_writer(
        &self,
        ci: CiNumber,
    ) -> Result<Option<(ExclusiveCi<'_>, u32)>, PoolError> {
        let Some(Guardian { map, index }) = self.layout.guardian(ci) else { return Ok(None) };
        Ok(Some((self.pool().exclusive_for_writer(self, map)?, index)))
    }

    /// Tag prefix of the topmost map, for the checkpoint record.
    #[must_use]
    pub fn top(&self) -> u64 {
        self.freshness.top()
    }

    /// The topmost map is about to have this tag prefix on disk. Returns the one before.
    pub fn set_top(&self, prefix: u64) -> u64 {
        self.freshness.set_top(prefix)
    }

    /// Restart: what the log says beyond the map.
    pub fn set_overlay(&self, overlay: Overlay) {
        self.freshness.set_overlay(overlay);
    }

    /// Restart: the map is up to date; the overlay is no longer asked.
    pub fn drop_overlay(&self) {
        self.freshness.drop_overlay();
    }

    /// Restart: looks at the overlay.
    pub fn with_overlay<T>(&self, look: impl FnOnce(&Overlay) -> T) -> T {
        self.freshness.with_overlay(look)
    }

    /// Restart: an interval was written while the overlay is in force.
    pub fn note_written(&self, ci: CiNumber, prefix: u64, page_lsn: Lsn) {
        self.freshness.note_written(ci, prefix, page_lsn);
    }

    /// Restart: the page LSN that an interval has on disk, if the log says so.
    #[must_use]
    pub fn page_lsn_on_disk(&self, ci: CiNumber) -> Option<Lsn> {
        self.with_overlay(|overlay| overlay.page_lsn(ci))
    }

    /// The tag prefix that the map holds for an interval; 0 if it was never written.
    ///
    /// # Errors
    /// If the map cannot be read.
    pub fn expected_prefix(&self, ci: CiNumber) -> Result<u64, PoolError> {
        if let Some(prefix) = self.freshness.overlaid(ci) {
            return Ok(prefix);
        }
        let Some(Guardian { map, index }) = self.layout.guardian(ci) else { return Ok(self.top()) };
        let page = self.pool().shared(self, map)?;
        if self.layout.map_level(map) != Some(1) {
            page.keep();
        }
        Ok(map::tag_prefix(page.bytes(), index))
    }

    /// Whether an interval is in use by the data set's user or by itself.
    ///
    /// # Errors
    /// If the map cannot be read.
    pub fn is_used(&self, ci: CiNumber) -> Result<bool, PoolError> {
        self.while_used(ci, |used| used)
    }

    /// Looks at something while nobody gives the interval out or takes it back; `look` is told
    /// whether it is in use. It runs under the map's latch.
    ///
    /// # Errors
    /// If the map cannot be read.
    pub fn while_used<R>(
        &self,
        ci: CiNumber,
        look: impl FnOnce(bool) -> R,
    ) -> Result<R, PoolError> {
        if self.layout.is_reserved(ci) {
            return Ok(look(true));
        }
        let page = self.shared(self.layout.map1_of(ci))?;
        Ok(look(map::is_used(page.bytes(), self.layout, ci.0 % self.layout.per_map())))
    }

    /// Reads one interval as it lies on disk and proves it, past the pool. Returns its tag prefix;
    /// the plaintext is in `unit`.
    ///
    /// # Errors
    /// What does not fit. Freshness is the caller's to compare.
    pub fn read_past_pool(&self, ci: CiNumber, unit: &mut [u8]) -> Result<u64, PoolError> {
        self.read_raw(ci, unit)?;
        let opened = self.sealer.open(ci, unit);
        opened.map(|prefix| prefix.0).map_err(|error| self.damaged(ci, error.to_string()))
    }

    /// Puts sealed units in place past the pool: restart, from the double-write area.
    ///
    /// # Errors
    /// Whatever the disk says.
    pub fn restore_raw(&self, units: &[(CiNumber, &[u8])]) -> std::io::Result<()> {
        self.files.write(units)
    }

    /// Proves a sealed unit that stands elsewhere (the double-write area). Returns its tag prefix.
    ///
    /// # Errors
    /// What does not fit.
    pub fn prove(&self, ci: CiNumber, unit: &mut [u8]) -> Result<u64, PoolError> {
        let opened = self.sealer.open(ci, unit);
        opened.map(|prefix| prefix.0).map_err(|error| self.damaged(ci, error.to_string()))
    }

    /// Removes the files. The caller has made sure that nobody needs them again.
    ///
    /// # Errors
    /// Whatever the disk says.
    pub fn remove_files(&self) -> Result<(), SpaceError> {
        self.files.remove()
    }

    /// Its files that were removed or replaced, or whose folder was unmounted, since they were
    /// opened: what is written to them nobody finds again.
    #[must_use]
    pub fn misplaced_files(&self) -> Vec<PathBuf> {
        self.files.misplaced()
    }

    /// What it has done since it was opened.
    #[must_use]
    pub fn statistics(&self) -> DataSetStatistics {
        DataSetStatistics {
            reads: self.counters.reads.get(),
            intervals_read: self.counters.intervals_read.get(),
            multi_block_reads: self.counters.multi_reads.get(),
            intervals_written: self.counters.intervals_written.get(),
            intervals: self.intervals(),
        }
    }

    /// Whether the contents of a plain interval make sense.
    fn prove_contents(&self, ci: CiNumber, unit: &[u8]) -> Result<(), PoolError> {
        let is_plain = || PageSealer::trailer(unit).is_ok_and(|t| t.form.format == Format::Plain);
        if !self.may_be_plain.load(Acquire) || !is_plain() {
            return Ok(());
        }
        let contents = self.environment.contents.as_ref();
        match contents.and_then(|damage| damage(ci, &unit[..self.usable_bytes()])) {
            Some(why) => Err(self.damaged(ci, format!("its checksum is right, but {why}"))),
            None => Ok(()),
        }
    }

    /// Stops the kernel: what is changed cannot be written.
    fn not_sealed(&self, error: &SealError) -> PoolError {
        let reason = format!("data set {} cannot be sealed: {error}", self.name());
        PoolError::Stopped(self.environment.stop.stop(reason))
    }

    pub(crate) fn damaged(&self, ci: CiNumber, why: String) -> PoolError {
        PoolError::Damaged { name: self.name().to_owned(), set: self.id(), ci, why }
    }
}

pub(crate) fn sealer(environment: &Environment, definition: &Definition) -> PageSealer {
    PageSealer::accepting(
        Arc::clone(&environment.keys),
        Arc::clone(&environment.seam.entropy),
        environment.system,
        definition.id,
        &definition.label,
        &definition.accept(),
    )
}

fn may_be_plain(definition: &Definition) -> bool {
    let from = definition.conversion.map(|conversion| conversion.from.format);
    definition.format == Format::Plain || from == Some(Format::Plain)
}

impl Backing for DataSet {
    fn id(&self) -> DataSetId {
        self.id
    }

    fn home(&self) -> Option<&Home> {
        Some(&self.home)
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn read_into(&self, first: CiNumber, bufs: &mut [IoSliceMut<'_>]) -> Result<(), PoolError> {
        let bytes: usize = bufs.iter().map(|buf| buf.len()).sum();
        let count = (bytes / self.unit_bytes()) as u64;
        self.counters.reads.one();
        self.counters.intervals_read.add(count);
        if count > 1 {
            self.counters.multi_reads.one();
        }
        let read = self.files.read(first, bufs);
        if count == 1 && matches!(&read, Err(error) if error.kind() == UnexpectedEof) {
            // Where the file does not reach nothing was written yet: a map may lie there before any
            // interval of its block is in use. Everything else is found out when it is opened.
            bufs.iter_mut().for_each(|buf| buf.fill(0));
            return Ok(());
        }
        read.map_err(|error| PoolError::Read {
            name: self.name().to_owned(),
            set: self.id(),
            ci: first,
            why: error.to_string(),
        })
    }

    fn open(&self, ci: CiNumber, unit: &mut [u8]) -> Result<(), PoolError> {
        // Maps are made when they are asked for. A pointer may come from a forged interval.
        let behind = ci.0 >= self.intervals() && !self.is_map(ci);
        if behind || ci.0 >= self.layout.intervals_max() {
            return Err(self.damaged(ci, "it lies behind the end of the data set".into()));
        }
        let expected = self.expected_prefix(ci)?;
        if expected == 0
            && let Some(level) = self.layout.map_level(ci)
        {
            let usable = self.usable_bytes();
            unit.fill(0);
            map::format(&mut unit[..usable], ci, level);
            return Ok(());
        }
        let prefix =
            self.sealer.open(ci, unit).map_err(|error| self.damaged(ci, error.to_string()))?;
        if prefix.0 == expected || armed(Failpoint::FreshnessNotChecked) {
            return self.prove_contents(ci, unit);
        }
        let why = match expected {
            0 => "it was never written, yet something stands there".to_owned(),
            _ => format!(
                "it is genuine but not its newest version (tag {:016x}, the map holds {expected:016x})",
                prefix.0
            ),
        };
        Err(self.damaged(ci, why))
    }

    fn is_map(&self, ci: CiNumber) -> bool {
        self.layout.map_level(ci).is_some()
    }

    fn seal(&self, ci: CiNumber, clear: &[u8], copy: &mut [u8]) -> Result<u64, PoolError> {
        let sealed = self.sealer.seal_into(ci, clear, copy);
        sealed.map(|prefix| prefix.0).map_err(|error| self.not_sealed(&error))
    }

    fn is_provisional(&self) -> bool {
        self.provisional.load(Acquire)
    }

    fn write_raw(&self, runs: &[(CiNumber, &[u8])]) -> std::io::Result<()> {
        let bytes: usize = runs.iter().map(|(_, units)| units.len()).sum();
        self.counters.intervals_written.add((bytes / self.unit_bytes()) as u64);
        self.files.write(runs)
    }

    fn sync(&self) -> std::io::Result<()> {
        self.files.sync()
    }

    fn prepare_write(&self, ci: CiNumber) -> bool {
        if let Err(error) = self.sealer.prepare() {
            // Nobody asks why a page has to wait: the kernel stops here.
            let _ = self.not_sealed(&error);
            return false;
        }
        match self.layout.guardian(ci) {
            None => true,
            Some(guardian) => self.pool().hold_for_writer(self, guardian.map).is_ok(),
        }
    }

    fn finish_write(&self, ci: CiNumber) {
        if let Some(guardian) = self.layout.guardian(ci) {
            self.home.unhold(self.id(), guardian.map);
        }
    }
}
