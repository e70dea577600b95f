//! Sealing and opening the control intervals of one data set.
//!
//! 1. A seal uses the newest *epoch*: one form, one salt, one counter. The first write of an epoch
//!    draws its salt (K3); a change of form, and 2^40 writes, start a new one. Epochs are only
//!    ever added, so a seal or an open walks to the newest without a lock.
//! 2. An open first compares what the page says of itself with the policy [`Accept`] (K4), then
//!    verifies the tag; nothing of a page is believed before both.
//! 3. No tag prefix of a written page is [`TagPrefix::NONE`]: a seal that gives it is undone and
//!    made again with the next counter.
//! 4. `seal` and `open` neither allocate nor lock when the working key is the current one or one
//!    of the first few met before (see `cache`).

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use base::stats::Counter;
use base::{CiNumber, DataSetId, KeyGeneration, SystemId};
use seam::entropy::Entropy;
use seam::failpoint::{Failpoint, armed};
use seam::sync::Mutex;

use crate::cache::{KeyCache, OldKey};
use crate::format::Form;
use crate::trailer::{TAG_AT, associated};
use crate::{
    Format, KeyProvider, PageFault, Salt, SealError, TRAILER_BYTES, Tag, TagPrefix, Trailer,
    WorkingKey,
};

/// What the catalog and the logged conversion cursor say about the pages of a data set (K4).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Accept {
    /// The form that every write has and that every page may have.
    pub form: Form,
    /// While the data set is being converted to `form`: what may still stand otherwise.
    pub converting: Option<Converting>,
}

/// A conversion under way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Converting {
    /// The form before the conversion.
    pub from: Form,
    /// The intervals that may still have it. A cursor that runs upward is `cursor..end`.
    pub left: Range<CiNumber>,
}

/// Counts of one sealer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SealStats {
    /// Pages sealed (or given a checksum) since the open.
    pub sealed: u64,
    /// Working keys derived, for writing or for pages of earlier opens.
    pub keys_derived: u64,
    /// Pages refused.
    pub refused: u64,
}

/// Seals and opens the control intervals of one data set, from many threads.
pub struct PageSealer {
    keys: Arc<dyn KeyProvider>,
    entropy: Arc<dyn Entropy>,
    system: SystemId,
    set: DataSetId,
    label: String,
    /// What every key of this data set is derived for.
    identity: [u8; IDENTITY_BYTES],
    /// The checksum of plain pages.
    plain: WorkingKey,
    /// Keys of earlier opens.
    earlier: KeyCache,
    oldest: Epoch,
    /// Held by whoever adds an epoch, draws a salt or moves the conversion on.
    changes: Mutex<()>,
    writes_per_salt_max: u64,
    keys_derived: Counter,
    refused: Counter,
}

/// A time during which all writes have one form and one salt.
struct Epoch {
    accept: AcceptState,
    writer: OnceLock<Writer>,
    /// The last counter given out.
    counter: AtomicU64,
    next: OnceLock<Box<Epoch>>,
}

/// [`Accept`] with a conversion cursor that moves.
struct AcceptState {
    form: Form,
    from: Option<Form>,
    /// First interval left (upper half) and the one after the last (lower half); empty: none.
    left: AtomicU64,
}

struct Writer {
    salt: Salt,
    key: WorkingKey,
}

/// What begins the identity of a page key: no other purpose has it.
const PURPOSE: &[u8; 16] = b"holdfast page 1\0";
const IDENTITY_BYTES: usize = 16 + 16 + 4;
/// See the limits in `working_key`.
const WRITES_PER_SALT_MAX: u64 = 1 << 40;

impl Accept {
    /// No conversion: all pages have this form.
    #[must_use]
    pub fn only(form: Form) -> Accept {
        Accept { form, converting: None }
    }
}

impl PageSealer {
    /// A sealer for a data set all of whose pages have one form. The generation of a plain data
    /// set is not looked at.
    #[must_use]
    #[allow(clippy::too_many_arguments)] // each is a thing of its own; a struct would only rename
    pub fn new(
        keys: Arc<dyn KeyProvider>,
        entropy: Arc<dyn Entropy>,
        system: SystemId,
        set: DataSetId,
        label: &str,
        format: Format,
        generation: KeyGeneration,
    ) -> PageSealer {
        let form = match format {
            Format::Plain => Form::PLAIN,
            Format::Sealed => Form::sealed(generation),
        };
        PageSealer::accepting(keys, entropy, system, set, label, &Accept::only(form))
    }

    /// A sealer for a data set that may be in the middle of a conversion.
    #[must_use]
    pub fn accepting(
        keys: Arc<dyn KeyProvider>,
        entropy: Arc<dyn Entropy>,
        system: SystemId,
        set: DataSetId,
        label: &str,
        accept: &Accept,
    ) -> PageSealer {
        let mut identity = [0; IDENTITY_BYTES];
        identity[..16].copy_from_slice(PURPOSE);
        identity[16..32].copy_from_slice(&system.0);
        identity[32..].copy_from_slice(&set.0.to_le_bytes());
        PageSealer {
            keys,
            entropy,
            system,
            set,
            label: label.to_owned(),
            plain: WorkingKey::plain(&identity),
            identity,
            earlier: KeyCache::default(),
            oldest: Epoch::new(accept),
            changes: Mutex::new(()),
            writes_per_salt_max: WRITES_PER_SALT_MAX,
            keys_derived: Counter::default(),
            refused: Counter::default(),
        }
    }

    /// Seals the unit `page` of interval `ci` in place: everything before the trailer is the
    /// payload, the trailer is written. Each call uses a counter of its own.
    ///
    /// # Errors
    /// At the first write after an open: whatever the key provider or the entropy says. The page
    /// is then untouched.
    ///
    /// # Panics
    /// If the unit is not longer than a trailer, or longer than 4 GiB.
    #[inline]
    pub fn seal(&self, ci: CiNumber, page: &mut [u8]) -> Result<TagPrefix, SealError> {
        let seal = WorkingKey::seal;
        self.seal_until(ci, page, seal, |tag| tag.prefix() != TagPrefix::NONE)
    }

    /// Seals the unit `clear` of interval `ci` into `page`, on the way from one to the other: a
    /// copy that is sealed afterwards would go through the memory twice. The trailer of `clear` is
    /// of no interest.
    ///
    /// # Errors
    /// As for [`PageSealer::seal`]; not after [`PageSealer::prepare`].
    ///
    /// # Panics
    /// As for [`PageSealer::seal`], or if the two are not equally long.
    pub fn seal_into(
        &self,
        ci: CiNumber,
        clear: &[u8],
        page: &mut [u8],
    ) -> Result<TagPrefix, SealError> {
        assert_eq!(clear.len(), page.len(), "a unit goes into a unit");
        let body = &clear[..clear.len().saturating_sub(TRAILER_BYTES)];
        let seal = |key: &WorkingKey, counter, associated: &[u8], out: &mut [u8]| {
            key.seal_into(counter, associated, &[body], out)
        };
        self.seal_until(ci, page, seal, |tag| tag.prefix() != TagPrefix::NONE)
    }

    /// Has a key at hand, so that sealing neither waits nor fails until its salt is spent: whoever
    /// seals under a latch asks for it before.
    ///
    /// # Errors
    /// As for [`PageSealer::seal`].
    #[inline]
    pub fn prepare(&self) -> Result<(), SealError> {
        self.writer().map(|_| ())
    }

    /// Opens the unit `page` of interval `ci` in place; the trailer stays.
    ///
    /// # Errors
    /// [`SealError::Page`] with what is wrong; the page's bytes are then unspecified and must not
    /// be used. [`PageFault::NeverWritten`] for a page that is all zero. Otherwise whatever the
    /// key provider says.
    #[inline]
    pub fn open(&self, ci: CiNumber, page: &mut [u8]) -> Result<TagPrefix, SealError> {
        let opened = Trailer::decode(page).map_err(|fault| self.fault(ci, fault));
        let opened = opened.and_then(|trailer| {
            self.check_form(ci, trailer.form)?;
            self.open_as(ci, page, &trailer)?;
            Ok(trailer.tag.prefix())
        });
        if opened.is_err() {
            self.refused.one();
        }
        opened
    }

    /// Reads the trailer without opening the page: for verifying and for restart.
    ///
    /// # Errors
    /// See [`Trailer::decode`].
    pub fn trailer(page: &[u8]) -> Result<Trailer, PageFault> {
        Trailer::decode(page)
    }

    /// Changes what is written and accepted from now on: a conversion begins, moves on or ends.
    /// The caller has logged it, and reads no page concurrently that the new policy excludes.
    /// The key of a new form is at hand before anybody seals with it, so that
    /// [`PageSealer::prepare`] keeps its promise.
    ///
    /// # Errors
    /// As for [`PageSealer::seal`]; nothing has changed then.
    pub fn set_accept(&self, accept: &Accept) -> Result<(), SealError> {
        let _changes = self.changes.lock();
        let newest = self.newest();
        let from = accept.converting.as_ref().map(|converting| converting.from);
        let same = newest.accept.form == accept.form;
        if same && (from.is_none() || from == newest.accept.from) {
            newest.accept.left.store(pack(accept), Ordering::Release);
            return Ok(());
        }
        let epoch = Epoch::new(accept);
        if newest.writer.get().is_some() {
            self.draw_writer(&epoch)?;
        }
        newest.add(epoch);
        Ok(())
    }

    /// What is written and accepted now.
    #[must_use]
    pub fn accept(&self) -> Accept {
        let state = &self.newest().accept;
        let left = unpack(state.left.load(Ordering::Acquire));
        let converting = state.from.filter(|_| !left.is_empty());
        Accept { form: state.form, converting: converting.map(|from| Converting { from, left }) }
    }

    /// The data set whose intervals these are.
    #[must_use]
    pub fn set(&self) -> DataSetId {
        self.set
    }

    /// The label of the data set's keys.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The counts so far.
    #[must_use]
    pub fn stats(&self) -> SealStats {
        let epochs = std::iter::successors(Some(&self.oldest), |epoch| epoch.next());
        // Those who found the salt spent have counted past its end.
        let counts = epochs.map(|epoch| epoch.counter.load(Ordering::Relaxed));
        SealStats {
            sealed: counts.map(|count| count.min(self.writes_per_salt_max)).sum(),
            keys_derived: self.keys_derived.get(),
            refused: self.refused.get(),
        }
    }

    /// Seals with one counter after the other until the tag is acceptable (3).
    #[inline]
    fn seal_until(
        &self,
        ci: CiNumber,
        page: &mut [u8],
        seal: impl Fn(&WorkingKey, u64, &[u8], &mut [u8]) -> Tag,
        acceptable: impl Fn(&Tag) -> bool,
    ) -> Result<TagPrefix, SealError> {
        assert!(page.len() > TRAILER_BYTES, "a unit is longer than its trailer");
        loop {
            let (epoch, writer) = self.writer()?;
            let counter = epoch.next_counter();
            if counter > self.writes_per_salt_max {
                self.renew(epoch);
                continue;
            }
            let unit_bytes = page.len();
            let (body, trailer) = page.split_at_mut(unit_bytes - TRAILER_BYTES);
            let head = Trailer::encode_head(epoch.accept.form, &writer.salt, counter);
            let associated = associated(&self.system, self.set, ci, unit_bytes, &head);
            let tag = seal(&writer.key, counter, &associated, body);
            trailer[..TAG_AT].copy_from_slice(&head);
            trailer[TAG_AT..].copy_from_slice(&tag.0);
            if acceptable(&tag) {
                return Ok(tag.prefix());
            }
            let undone = writer.key.open(counter, &associated, body, &tag);
            assert!(undone.is_ok(), "what was just sealed opens again");
        }
    }

    /// The newest epoch with its key, made at its first write.
    #[inline]
    fn writer(&self) -> Result<(&Epoch, &Writer), SealError> {
        let epoch = self.newest();
        match epoch.writer.get() {
            Some(writer) => Ok((epoch, writer)),
            None => self.start_writing(),
        }
    }

    #[cold]
    fn start_writing(&self) -> Result<(&Epoch, &Writer), SealError> {
        let _changes = self.changes.lock();
        let epoch = self.newest();
        if epoch.writer.get().is_none() {
            self.draw_writer(epoch)?;
        }
        let writer = epoch.writer.get().expect("just set");
        Ok((epoch, writer))
    }

    /// Draws an epoch's salt, under `changes`.
    fn draw_writer(&self, epoch: &Epoch) -> Result<(), SealError> {
        let salt = Salt::draw(self.entropy.as_ref()).map_err(SealError::Entropy)?;
        let key = match epoch.accept.form.format {
            Format::Plain => WorkingKey::plain(&self.identity),
            Format::Sealed => self.derive(epoch.accept.form.generation, &salt)?,
        };
        // Nobody else can have set it: all who do hold `changes`.
        let _ = epoch.writer.set(Writer { salt, key });
        Ok(())
    }

    /// Starts a new salt because the old one has sealed enough.
    #[cold]
    fn renew(&self, spent: &Epoch) {
        let _changes = self.changes.lock();
        if spent.next().is_none() {
            spent.add(Epoch::new(&self.accept()));
        }
    }

    #[inline]
    fn newest(&self) -> &Epoch {
        let mut epoch = &self.oldest;
        while let Some(next) = epoch.next() {
            epoch = next;
        }
        epoch
    }

    fn derive(&self, generation: KeyGeneration, salt: &Salt) -> Result<WorkingKey, SealError> {
        let key = self.keys.key(&self.label, generation)?;
        self.keys_derived.one();
        Ok(WorkingKey::derive(&key, salt, &self.identity))
    }

    /// Whether the policy admits a page of this form here (2).
    #[inline]
    fn check_form(&self, ci: CiNumber, found: Form) -> Result<(), SealError> {
        let state = &self.newest().accept;
        if found == state.form || state.may_still_be(ci, found) {
            return Ok(());
        }
        if found.format == Format::Plain && armed(Failpoint::PlainAccepted) {
            return Ok(());
        }
        let expected = state.form;
        Err(self.fault(
            ci,
            if found.format == expected.format {
                let (found, expected) = (found.generation, expected.generation);
                PageFault::WrongGeneration { found, expected }
            } else {
                PageFault::WrongFormat { found: found.format, expected: expected.format }
            },
        ))
    }

    /// Verifies and decrypts with the key that the (admitted) trailer names.
    #[inline]
    fn open_as(&self, ci: CiNumber, page: &mut [u8], trailer: &Trailer) -> Result<(), SealError> {
        let unit_bytes = page.len();
        let (body, tail) = page.split_at_mut(unit_bytes - TRAILER_BYTES);
        let associated = associated(&self.system, self.set, ci, unit_bytes, &tail[..TAG_AT]);
        let mut open = |key: &WorkingKey| {
            let opened = key.open(trailer.counter, &associated, body, &trailer.tag);
            opened.map_err(|_| self.fault(ci, PageFault::BadTag))
        };
        let Form { format, generation } = trailer.form;
        if format == Format::Plain {
            return open(&self.plain);
        }
        let newest = self.newest();
        if let Some(writer) = newest.writer.get()
            && writer.salt == trailer.salt
            && newest.accept.form == trailer.form
        {
            return open(&writer.key);
        }
        if let Some(key) = self.earlier.find(generation, &trailer.salt) {
            return open(&key);
        }
        let key = self.derive(generation, &trailer.salt).map_err(|error| match error {
            SealError::UnknownGeneration { generation, .. } => {
                self.fault(ci, PageFault::UnknownGeneration { generation })
            }
            other => other,
        })?;
        open(&key)?;
        self.earlier.keep(OldKey { generation, salt: trailer.salt, key });
        Ok(())
    }

    fn fault(&self, ci: CiNumber, fault: PageFault) -> SealError {
        SealError::Page { set: self.set, ci, fault }
    }
}

impl Epoch {
    fn new(accept: &Accept) -> Epoch {
        let from = accept.converting.as_ref().map(|converting| converting.from);
        let left = AtomicU64::new(pack(accept));
        Epoch {
            accept: AcceptState { form: accept.form, from, left },
            writer: OnceLock::new(),
            counter: AtomicU64::new(0),
            next: OnceLock::new(),
        }
    }

    #[inline]
    fn next(&self) -> Option<&Epoch> {
        self.next.get().map(Box::as_ref)
    }

    /// Adds the epoch after this one, under `changes`.
    fn add(&self, epoch: Epoch) {
        let added = self.next.set(Box::new(epoch));
        assert!(added.is_ok(), "an epoch is added behind the newest");
    }

    /// A counter that nobody else has under this epoch's salt.
    #[inline]
    fn next_counter(&self) -> u64 {
        if armed(Failpoint::NonceReused) {
            return self.counter.load(Ordering::Relaxed).max(1);
        }
        self.counter.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl AcceptState {
    #[inline]
    fn may_still_be(&self, ci: CiNumber, found: Form) -> bool {
        let left = unpack(self.left.load(Ordering::Acquire));
        self.from == Some(found) && (left.contains(&ci) || armed(Failpoint::OldFormAccepted))
    }
}

impl fmt::Debug for PageSealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PageSealer({}, {}, {:?})", self.set, self.label, self.accept())
    }
}

fn pack(accept: &Accept) -> u64 {
    accept.converting.as_ref().map_or(0, |converting| {
        let Range { start, end } = &converting.left;
        u64::from(start.0) << 32 | u64::from(end.0)
    })
}

fn unpack(left: u64) -> Range<CiNumber> {
    CiNumber((left >> 32) as u32)..CiNumber(left as u32)
}

#[cfg(test)]
mod tests;
