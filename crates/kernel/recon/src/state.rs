//! What the records add up to, and questions to it.
//!
//! Invariants:
//! 1. Applying the records of [`State::records`] to nothing gives the state again: that is what a
//!    compacted file holds.
//! 2. `reached` and the series of numbers never go back.

use std::collections::BTreeMap;

use base::{DataSetId, KeyGeneration, Lsn};

use crate::record::{
    Accumulation, Archive, ArchiveFile, Authorisation, Built, CopyKind, DataSetEntry, Database,
    ImageCopy, Protection, Reached, Record, Recovery, Restored,
};
use crate::span::Span;

/// What RECON knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// How far the log has been seen to reach (K6).
    pub reached: Reached,
    /// The log is archived up to here.
    pub archived: Lsn,
    /// Data sets.
    pub sets: BTreeMap<DataSetId, DataSetEntry>,
    /// Databases by name.
    pub databases: BTreeMap<String, Database>,
    /// Archives by number, which is the order of the log.
    pub archives: BTreeMap<u32, Archive>,
    /// Change accumulations by number.
    pub accumulations: BTreeMap<u32, Accumulation>,
    /// Image copies by number, oldest first.
    pub image_copies: BTreeMap<u32, ImageCopy>,
    /// Recoveries by number, oldest first.
    pub recoveries: BTreeMap<u32, Recovery>,
    /// Where the log begins to speak of data sets that recoveries have built, if that is known.
    pub built: BTreeMap<DataSetId, Lsn>,
    /// When the system went on elsewhere from archives alone, oldest first.
    pub restored: Vec<Restored>,
    /// Who has what open.
    pub authorised: Vec<Authorisation>,
    /// The copy of RECON that misses entries: 1 or 2; 0 for none.
    pub stale: u8,
    /// The newest number that was given away.
    pub last_number: u32,
    /// Where the log was when RECON was lost and begun anew, if it was not rebuilt since.
    pub recreated_at: Lsn,
    /// The newest edition that the control file has bound of what the system's bytes must prove.
    pub protected: u32,
}

/// What recoveries have built; see [`State::origins`].
pub type Origins<'s> = BTreeMap<DataSetId, (&'s Recovery, DataSetId)>;

/// Something that can only be read with a key generation (K18).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyUse {
    /// The label of the key.
    pub label: String,
    /// The generation.
    pub generation: KeyGeneration,
    /// What needs it, for people: `image copy 7`.
    pub by: String,
}

impl Default for State {
    fn default() -> State {
        State {
            reached: Reached { lsn: Lsn::NONE, utc_us: 0 },
            archived: Lsn::NONE,
            sets: BTreeMap::new(),
            databases: BTreeMap::new(),
            archives: BTreeMap::new(),
            accumulations: BTreeMap::new(),
            image_copies: BTreeMap::new(),
            recoveries: BTreeMap::new(),
            built: BTreeMap::new(),
            restored: Vec::new(),
            authorised: Vec::new(),
            stale: 0,
            last_number: 0,
            recreated_at: Lsn::NONE,
            protected: 0,
        }
    }
}

impl State {
    /// What these records add up to.
    #[must_use]
    pub fn of(records: &[Record]) -> State {
        let mut state = State::default();
        records.iter().for_each(|record| state.apply(record));
        state
    }

    /// Takes more records in.
    pub fn learn(&mut self, records: impl IntoIterator<Item = Record>) {
        records.into_iter().for_each(|record| self.apply(&record));
    }

    /// The next number for an archive, an accumulation, an image copy or a recovery. Two of them
    /// that go into one change take this one and the one behind it.
    #[must_use]
    pub fn next_number(&self) -> u32 {
        self.last_number + 1
    }

    pub(crate) fn apply(&mut self, record: &Record) {
        match record {
            Record::Reached(reached) => self.reach(reached.lsn, reached.utc_us),
            Record::Set(set) => drop(self.sets.insert(set.set, set.clone())),
            Record::SetGone(set) => drop(self.sets.remove(set)),
            Record::Database(one) => drop(self.databases.insert(one.name.clone(), one.clone())),
            Record::DatabaseGone(name) => drop(self.databases.remove(name)),
            Record::Archive(archive) => {
                self.number(archive.number);
                self.reach(archive.end, archive.to_us);
                self.archived = self.archived.max(archive.end);
                self.archives.insert(archive.number, archive.clone());
            }
            Record::ArchiveGone(number) => drop(self.archives.remove(number)),
            Record::Accumulation(one) => {
                self.number(one.number);
                self.accumulations.insert(one.number, one.clone());
            }
            Record::AccumulationGone(number) => drop(self.accumulations.remove(number)),
            Record::ImageCopy(copy) => {
                self.number(copy.number);
                self.reach(copy.end, copy.to_us);
                self.image_copies.insert(copy.number, copy.clone());
            }
            Record::ImageCopyGone(number) => drop(self.image_copies.remove(number)),
            Record::Recovery(recovery) => {
                self.number(recovery.number);
                self.reach(recovery.void_to, recovery.utc_us);
                self.recoveries.insert(recovery.number, recovery.clone());
            }
            Record::Authorised(one) => self.authorised.push(one.clone()),
            Record::Released(one) => {
                let at = self.authorised.iter().position(|known| known == one);
                at.map(|at| self.authorised.remove(at));
            }
            Record::Ended(process) => self.authorised.retain(|one| one.process != *process),
            Record::Stale(copy) => self.stale = *copy,
            Record::Recreated(lsn) => self.recreated_at = *lsn,
            Record::Protected(edition) => self.protected = self.protected.max(*edition),
            Record::Numbers(last) => self.number(*last),
            Record::Restored(restored) => {
                self.reach(restored.began, 0);
                if !self.restored.contains(restored) {
                    self.restored.push(restored.clone());
                }
            }
            Record::Built(built) => drop(self.built.insert(built.set, built.from)),
            Record::ArchivedThrough(lsn) => self.archived = self.archived.max(*lsn),
        }
    }

    fn number(&mut self, number: u32) {
        self.last_number = self.last_number.max(number);
    }

    fn reach(&mut self, lsn: Lsn, utc_us: u64) {
        if lsn > self.reached.lsn {
            self.reached = Reached { lsn, utc_us };
        }
    }

    /// The records that add up to this state.
    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        let mut all = vec![
            Record::Reached(self.reached.clone()),
            Record::Numbers(self.last_number),
            Record::ArchivedThrough(self.archived),
            Record::Stale(self.stale),
        ];
        if self.recreated_at > Lsn::NONE {
            all.push(Record::Recreated(self.recreated_at));
        }
        if self.protected > 0 {
            all.push(Record::Protected(self.protected));
        }
        all.extend(self.sets.values().cloned().map(Record::Set));
        all.extend(self.databases.values().cloned().map(Record::Database));
        all.extend(self.archives.values().cloned().map(Record::Archive));
        all.extend(self.accumulations.values().cloned().map(Record::Accumulation));
        all.extend(self.image_copies.values().cloned().map(Record::ImageCopy));
        all.extend(self.recoveries.values().cloned().map(Record::Recovery));
        let built = self.built.iter().map(|(&set, &from)| Record::Built(Built { set, from }));
        all.extend(built);
        all.extend(self.restored.iter().cloned().map(Record::Restored));
        all.extend(self.authorised.iter().cloned().map(Record::Authorised));
        all
    }

    /// What there is to say as long as RECON was begun anew and not rebuilt.
    #[must_use]
    pub fn forgotten(&self) -> Option<String> {
        (self.recreated_at > Lsn::NONE).then(|| {
            let lsn = self.recreated_at;
            format!(
                "RECON was lost, begun anew at {lsn}, and knows of no image copy and no recovery of \
                 before: stop the system, and `holdfast recon rebuild --from FOLDER` with each \
                 FOLDER of image copies finds them"
            )
        })
    }

    /// The restore that has lost what the log held at a position, if one has.
    #[must_use]
    pub fn lost_at(&self, lsn: Lsn) -> Option<&Restored> {
        self.restored.iter().find(|restored| restored.end < lsn && lsn <= restored.began)
    }

    /// Whether all of the log between two positions is what a restore has lost.
    #[must_use]
    pub fn is_lost(&self, from: Lsn, to: Lsn) -> bool {
        self.restored.iter().any(|one| one.end <= from && from < to && to <= one.began)
    }

    /// Bytes of log from one position to another, without what restores have left out.
    #[must_use]
    pub fn log_bytes(&self, from: Lsn, to: Lsn) -> u64 {
        let out = |one: &Restored| one.began.0.min(to.0).saturating_sub(one.end.0.max(from.0));
        to.0.saturating_sub(from.0).saturating_sub(self.restored.iter().map(out).sum())
    }

    /// The image copies that a data set can be brought to a point from, newest first. An
    /// incremental copy is usable if all that it goes on from is at hand.
    #[must_use]
    pub fn copies_of(&self, name: &str) -> Vec<&ImageCopy> {
        let holds = |copy: &&ImageCopy| {
            copy.sets.iter().any(|set| set.name == name)
                && self.lost_at(copy.end).is_none()
                && self.chain_at_hand(copy.number).is_some()
        };
        self.image_copies.values().rev().filter(holds).collect()
    }

    /// An image copy with all those that it goes on from, the full one first; `None` if one of
    /// them is not there.
    #[must_use]
    pub fn chain_of(&self, number: u32) -> Option<Vec<&ImageCopy>> {
        let mut chain = vec![self.image_copies.get(&number)?];
        while let Some(last) = chain.last()
            && last.kind == CopyKind::Incremental
        {
            let before = self.image_copies.get(&last.base)?;
            // Numbers go up, so a chain ends, whatever a file says.
            if before.number >= last.number {
                return None;
            }
            chain.push(before);
        }
        chain.reverse();
        Some(chain)
    }

    /// The chain of an image copy, if of each of its copies a file is known: one that went to
    /// standard output serves nothing until RECON is told where it stands.
    #[must_use]
    pub fn chain_at_hand(&self, number: u32) -> Option<Vec<&ImageCopy>> {
        self.chain_of(number).filter(|chain| chain.iter().all(|copy| copy.is_at_hand()))
    }

    /// A data set with those whose place it took in recoveries, the youngest first, each where it
    /// counts.
    #[must_use]
    pub fn lineage(&self, set: DataSetId) -> Vec<Span> {
        self.lineage_by(&self.origins(), set)
    }

    fn lineage_by(&self, origins: &Origins<'_>, set: DataSetId) -> Vec<Span> {
        let mut youngest = Span::whole(set);
        let mut lineage = Vec::new();
        while let Some((recovery, old)) = origins.get(&youngest.set) {
            youngest.from = self.speaks_from(youngest.set, recovery.to);
            let until = recovery.to.min(youngest.until);
            lineage.push(youngest);
            youngest = Span { until, ..Span::whole(*old) };
        }
        lineage.push(youngest);
        lineage
    }

    /// What recoveries have built, each with its recovery and the data set whose place it took.
    /// Numbers of recoveries tell no order: those that were found in the log have higher ones than
    /// any that was still known.
    #[must_use]
    pub fn origins(&self) -> Origins<'_> {
        let mut origins = Origins::new();
        for recovery in self.recoveries.values() {
            let places = recovery.became.iter().zip(&recovery.sets);
            // Numbers of data sets go up, so a lineage ends, whatever a file says.
            let places = places.filter(|(new, old)| old < new);
            origins.extend(places.map(|(new, old)| (*new, (recovery, *old))));
        }
        origins
    }

    /// From where on the log has something of a data set that took a place at a point: what lies
    /// between the two is void for both.
    #[must_use]
    pub fn speaks_from(&self, set: DataSetId, point: Lsn) -> Lsn {
        self.built.get(&set).copied().unwrap_or(point).max(point)
    }

    /// From where on the log must be kept so that every data set can be recovered from its newest
    /// usable full image copy; `None` if a data set has none, so that all of it must be kept.
    #[must_use]
    pub fn log_needed_from(&self) -> Option<Lsn> {
        let needed = self.log_needed()?;
        Some(needed.iter().map(|span| span.from).min().unwrap_or(Lsn(u64::MAX)))
    }

    /// The same, piece by piece: what lies between them is void.
    #[must_use]
    pub fn log_needed(&self) -> Option<Vec<Span>> {
        let (origins, mut needed) = (self.origins(), Vec::new());
        for set in self.sets.keys() {
            let lineage = self.lineage_by(&origins, *set);
            let start = self.copies_need(&lineage)?;
            let end = Lsn(u64::MAX);
            let counting = lineage.into_iter().filter(|span| span.meets(start, end));
            needed.extend(counting.map(|span| Span { from: span.from.max(start), ..span }));
        }
        Some(needed)
    }

    /// Where the newest usable full image copy of a lineage, and those behind it, begin to need the
    /// log.
    fn copies_need(&self, lineage: &[Span]) -> Option<Lsn> {
        let of = |copy: &ImageCopy, id| copy.sets.iter().any(|extent| extent.set == id);
        // A copy that holds something that a recovery has made void is of no use any more, and one
        // without a file of none yet.
        let counts = |copy: &&ImageCopy| {
            copy.kind == CopyKind::Full
                && copy.is_at_hand()
                && self.lost_at(copy.end).is_none()
                && lineage.iter().any(|span| of(copy, span.set) && copy.end <= span.until)
        };
        let newest = self.image_copies.values().rev().find(counts)?;
        // A copy that goes on from it may begin in front of it: where a unit of work began.
        let later = self.image_copies.range(newest.number..).map(|(_, copy)| copy);
        let later = later.filter(|copy| lineage.iter().any(|span| of(copy, span.set)));
        later.map(|copy| copy.start).min()
    }

    /// Everything that can only be read with some key, key by key (K18).
    #[must_use]
    pub fn key_uses(&self) -> Vec<KeyUse> {
        let mut uses = Vec::new();
        let mut add = |label: &str, generations: &[KeyGeneration], by: String| {
            uses.extend(generations.iter().map(|&generation| KeyUse {
                label: label.to_owned(),
                generation,
                by: by.clone(),
            }));
        };
        for set in self.sets.values().filter(|set| set.protection == Protection::Sealed) {
            add(&set.label, &set.generations, format!("data set {}", set.name));
        }
        for archive in self.archives.values() {
            add(&archive.label, &archive.generations, format!("archive {}", archive.number));
        }
        for one in self.accumulations.values() {
            add(&one.label, &[one.generation], format!("accumulation {}", one.number));
        }
        for copy in self.image_copies.values() {
            let by = format!("image copy {}", copy.number);
            add(&copy.label, &[copy.generation], by.clone());
            for set in &copy.sets {
                add(&set.label, &set.generations, by.clone());
            }
        }
        uses
    }

    /// Why a key generation cannot be deleted: what still needs it (K18).
    #[must_use]
    pub fn users_of(&self, label: &str, generation: KeyGeneration) -> Vec<String> {
        let uses = self.key_uses().into_iter();
        let mut by: Vec<String> = uses
            .filter(|one| one.label == label && one.generation == generation)
            .map(|one| one.by)
            .collect();
        by.dedup();
        by
    }

    /// Every file that an archive, an accumulation or an image copy has, with what it is of.
    #[must_use]
    pub fn files(&self) -> Vec<(String, &ArchiveFile)> {
        let mut all = Vec::new();
        for one in self.archives.values() {
            all.extend(one.files.iter().map(|file| (format!("archive {}", one.number), file)));
        }
        for one in self.accumulations.values() {
            all.extend(one.files.iter().map(|file| (format!("accumulation {}", one.number), file)));
        }
        for one in self.image_copies.values() {
            all.extend(one.files.iter().map(|file| (format!("image copy {}", one.number), file)));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ArchiveFile, DataSetEntry, SetExtent};

    fn copy(number: u32, base: u32, end: u64, in_a_file: bool) -> Record {
        let file = ArchiveFile { path: format!("/copies/{number}").into(), lost: false };
        let extent = SetExtent {
            set: DataSetId(1),
            name: "ACCOUNTS".into(),
            intervals: 1,
            label: "data".into(),
            generations: vec![KeyGeneration(1)],
        };
        Record::ImageCopy(ImageCopy {
            number,
            kind: if base == 0 { CopyKind::Full } else { CopyKind::Incremental },
            base,
            files: if in_a_file { vec![file] } else { Vec::new() },
            sets: vec![extent],
            start: Lsn(end - 10),
            end: Lsn(end),
            from_us: end,
            to_us: end,
            label: "system".into(),
            generation: KeyGeneration(1),
            bytes: 1,
            tag: [0; 16],
        })
    }

    #[test]
    fn a_copy_without_a_file_serves_nothing_and_lets_no_log_go() {
        let set = Record::Set(DataSetEntry {
            set: DataSetId(1),
            name: "ACCOUNTS".into(),
            protection: Protection::Sealed,
            label: "data".into(),
            generations: vec![KeyGeneration(1)],
            made: Lsn(1),
        });
        let mut records = vec![set, copy(1, 0, 100, true), copy(2, 0, 200, false)];
        records.extend([copy(3, 2, 300, true), copy(4, 1, 400, true)]);
        let numbers = |state: &State| -> Vec<u32> {
            state.copies_of("ACCOUNTS").iter().map(|copy| copy.number).collect()
        };
        let state = State::of(&records);
        assert_eq!((numbers(&state), state.log_needed_from()), (vec![4, 1], Some(Lsn(90))));
        // Once it is known where it stands, it counts, and so does what goes on from it.
        records.push(copy(2, 0, 200, true));
        let state = State::of(&records);
        assert_eq!((numbers(&state), state.log_needed_from()), (vec![4, 3, 2, 1], Some(Lsn(190))));
    }

    fn recovery(number: u32, (old, new): (u32, u32), to: u64) -> Record {
        Record::Recovery(Recovery {
            number,
            sets: vec![DataSetId(old)],
            became: vec![DataSetId(new)],
            copies: vec![1],
            to: Lsn(to),
            void_to: Lsn(1_000 * u64::from(number)),
            utc_us: 1,
            to_point: true,
        })
    }

    #[test]
    fn log_between_a_point_and_what_was_built_for_it_is_not_needed() {
        let set = Record::Set(DataSetEntry {
            set: DataSetId(3),
            name: "ACCOUNTS".into(),
            protection: Protection::Sealed,
            label: "data".into(),
            generations: vec![KeyGeneration(1)],
            made: Lsn(1),
        });
        let mut records = vec![set, copy(10, 0, 100, true)];
        records.extend([recovery(11, (1, 2), 150), recovery(12, (2, 3), 11_500)]);
        let needed = |records: &[Record]| -> Vec<(u32, u64, u64)> {
            let needed = State::of(records).log_needed().unwrap();
            needed.iter().map(|span| (span.set.0, span.from.0, span.until.0)).collect()
        };
        // Of an older RECON nothing better is known than that they begin behind the points.
        let newest = (3, 11_500, u64::MAX);
        assert_eq!(needed(&records), [newest, (2, 150, 11_500), (1, 90, 150)]);
        let built = |set, from| Record::Built(Built { set: DataSetId(set), from: Lsn(from) });
        records.extend([built(2, 10_900), built(3, 11_900)]);
        let newest = (3, 11_900, u64::MAX);
        assert_eq!(needed(&records), [newest, (2, 10_900, 11_500), (1, 90, 150)]);
        assert_eq!(State::of(&records).log_needed_from(), Some(Lsn(90)));
        // A second recovery in front of the first one's point leaves nothing of what that built.
        records.push(recovery(13, (3, 4), 140));
        let lineage = State::of(&records).lineage(DataSetId(4));
        let counting = lineage.iter().filter(|span| span.meets(Lsn(0), Lsn(u64::MAX)));
        let counting: Vec<u32> = counting.map(|span| span.set.0).collect();
        assert_eq!(counting, [4, 1]);
        assert_eq!(State::of(&State::of(&records).records()), State::of(&records));
    }

    #[test]
    fn a_lineage_is_whole_whatever_numbers_its_recoveries_have() {
        // RECON was lost and begun anew; what it has forgotten was found in the log later.
        let records = [recovery(11, (2, 3), 11_500), recovery(12, (1, 2), 150)];
        let of_set = |set| -> Vec<u32> {
            let lineage = State::of(&records).lineage(DataSetId(set));
            lineage.iter().map(|span| span.set.0).collect()
        };
        assert_eq!((of_set(3), of_set(2), of_set(1)), (vec![3, 2, 1], vec![2, 1], vec![1]));
    }
}
