//! From which image copy and which piece of the log a recovery brings data sets to a point.
//!
//! A data set that was recovered before has another number since: what came before stands in the
//! log, and in copies, under the old one, up to the point of that recovery. The data set with those
//! it took the place of is its *lineage*.
//!
//! Invariants:
//! 1. A copy is used only if it was complete at the point (K17), and if of it and of all that it
//!    goes on from a file is known: what went to standard output counts only once RECON is told of
//!    one.
//! 2. A point that a recovery has made void, or a restore has lost, is refused.
//! 3. A data set without a copy is built from its first record on, if it is known where that is.
//! 4. What is void for all of the data sets is not read: it may be gone.
//! 5. A copy of what a recovery has built needs nothing of what came before, and nothing that is
//!    known of it stands in its way.

use std::collections::BTreeMap;

use base::{DataSetId, Lsn};
use recon::{CopyKind, ImageCopy, Span, State};
use space::Definition;
use uow::{Kernel, Source};

use crate::RecoveryError;

/// Where data sets are to be brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The end of the log.
    Now,
    /// A position in it: what was committed before counts.
    Lsn(Lsn),
}

/// How one data set is brought there.
#[derive(Clone, Debug)]
pub struct SetPlan {
    /// What it is now.
    pub definition: Definition,
    /// The copies it is restored from: a full one, then those that go on from it. None if all of
    /// its life is in the log.
    pub copies: Vec<ImageCopy>,
    /// Whose records of the log go into it.
    pub sources: Vec<Source>,
    /// Where reading the log begins: at the copy, or where the data set was made.
    pub from: Lsn,
    /// The pieces of the log from there on that go into it.
    pub spans: Vec<Span>,
}

/// Where data sets came to be, as far as that is known; see [`crate::SetHistory::births`].
pub type Births = BTreeMap<DataSetId, Lsn>;

/// What a recovery will read.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Each data set.
    pub sets: Vec<SetPlan>,
    /// Where to.
    pub to: Target,
    /// Where reading the log begins.
    pub log_from: Lsn,
    /// Where it ends.
    pub log_to: Lsn,
    /// Bytes of image copies.
    pub copy_bytes: u64,
}

impl Plan {
    /// What goes into the data sets of the log.
    #[must_use]
    pub fn spans(&self) -> Vec<Span> {
        self.sets.iter().flat_map(|set| set.spans.iter().copied()).collect()
    }

    /// Data sets with the same copies, which are read once for them.
    pub(crate) fn groups(&self) -> Vec<Vec<&SetPlan>> {
        let mut groups: Vec<Vec<&SetPlan>> = Vec::new();
        for set in &self.sets {
            let same = |group: &&mut Vec<&SetPlan>| group[0].copies == set.copies;
            match groups.iter_mut().find(same) {
                Some(group) if !set.copies.is_empty() => group.push(set),
                _ => groups.push(vec![set]),
            }
        }
        groups
    }

    /// The pieces of the log that are read.
    #[must_use]
    pub fn pieces(&self) -> Vec<(Lsn, Lsn)> {
        recon::pieces(&self.spans(), self.log_from, self.log_to)
    }
}

/// Plans the recovery of data sets to one point.
///
/// # Errors
/// A data set that is not there, or has no copy that can be used; a point that is void.
pub fn plan(
    kernel: &Kernel,
    state: &State,
    names: &[String],
    to: Target,
    births: &Births,
) -> Result<Plan, RecoveryError> {
    let end = kernel.log().next_lsn();
    let log_to = match to {
        Target::Now => end,
        Target::Lsn(lsn) => lsn,
    };
    let mut sets = Vec::new();
    for name in names {
        let definition = definition_of(kernel, name)?;
        if log_to > end {
            let why = format!("the log ends at {end}");
            return Err(RecoveryError::BadPoint { name: name.clone(), lsn: log_to, why });
        }
        if let Some(restored) = state.lost_at(log_to).filter(|_| to != Target::Now) {
            let why = format!(
                "the system was restored from archives that ended at {}; what came behind is lost",
                restored.end
            );
            return Err(RecoveryError::BadPoint { name: name.clone(), lsn: log_to, why });
        }
        sets.push(plan_set(state, definition, (to, log_to), births)?);
    }
    let spans = sets.iter().flat_map(|set| &set.spans);
    let log_from = spans.map(|span| span.from).min().unwrap_or(log_to).min(log_to);
    // A copy that several data sets are restored from is read for each chain once.
    let mut copies: Vec<&ImageCopy> = sets.iter().flat_map(|set| &set.copies).collect();
    copies.sort_by_key(|copy| copy.number);
    copies.dedup_by_key(|copy| copy.number);
    let copy_bytes = copies.iter().map(|copy| copy.bytes).sum();
    Ok(Plan { sets, to, log_from, log_to, copy_bytes })
}

fn definition_of(kernel: &Kernel, name: &str) -> Result<Definition, RecoveryError> {
    if let Some(set) = kernel.set_named(name) {
        return Ok((*set.definition()).clone());
    }
    let offline = kernel.offline_sets().into_iter().find(|set| set.name == name);
    offline.ok_or_else(|| RecoveryError::NoSuchSet { name: name.to_owned() })
}

/// Plans the recovery of one data set.
pub(crate) fn plan_set(
    state: &State,
    definition: Definition,
    (to, log_to): (Target, Lsn),
    births: &Births,
) -> Result<SetPlan, RecoveryError> {
    let name = definition.name.clone();
    let Lineage { mut sources, beyond } = lineage(state, definition.id, &name, log_to)?;
    if to == Target::Now
        && let Some(youngest) = sources.last_mut()
    {
        // The end moves on until programs have to wait for the last step.
        youngest.until = Lsn(u64::MAX);
    }
    // The newest copy of any of them that was complete at the point, and before what it is of
    // became void.
    let counts = |copy: &ImageCopy| {
        let extent = copy.sets.iter().find(|extent| extent.name == name)?;
        let at = sources.iter().position(|source| source.set == extent.set)?;
        let in_time = copy.end <= log_to && copy.end <= sources[at].until;
        (in_time && state.lost_at(copy.end).is_none()).then_some(at)
    };
    let counting = || {
        let copies = state.image_copies.values().rev();
        copies.filter_map(|copy| Some((copy, counts(copy)?)))
    };
    let at_hand =
        || counting().filter_map(|(copy, at)| Some((copy, at, state.chain_at_hand(copy.number)?)));
    let found = at_hand().find(|(_, _, chain)| is_whole(chain, &name));
    let Some((copy, at, chain)) = found else {
        // The oldest of them whose whole life is known.
        let mut born = sources.iter().enumerate();
        let born = born.find_map(|(at, source)| Some((at, *births.get(&source.set)?)));
        if let Some((at, from)) = born.filter(|(at, from)| *from < sources[*at].until) {
            let sources = sources[at..].to_vec();
            let spans = spans(state, &sources, from);
            return Ok(SetPlan { definition, copies: Vec::new(), sources, from, spans });
        }
        if let Some(void) = beyond {
            return Err(void);
        }
        let in_pieces = at_hand().next().map(|(copy, ..)| copy.number);
        let why = match (in_pieces, counting().find(|(copy, _)| !copy.is_at_hand()), to) {
            (Some(number), ..) => {
                format!("is whole: {number} goes on from one that does not hold it")
            }
            (None, Some((copy, _)), _) => {
                format!("has a file: {} went to a pipe, and none of it is known", copy.number)
            }
            (None, None, Target::Now) => "can be used".to_owned(),
            (None, None, Target::Lsn(lsn)) => format!("was complete at {lsn}"),
        };
        return Err(RecoveryError::NoCopy { name, why });
    };
    let sources = sources[at..].to_vec();
    let (from, spans) = (copy.start, spans(state, &sources, copy.start));
    let copies = chain.into_iter().cloned().collect();
    Ok(SetPlan { definition, copies, sources, from, spans })
}

/// Whether copies, each of which goes on from the one before it, bring a data set back.
fn is_whole(chain: &[&ImageCopy], name: &str) -> bool {
    chain.first().is_some_and(|first| first.kind == CopyKind::Full)
        && chain.iter().all(|one| one.sets.iter().any(|extent| extent.name == name))
}

/// Has later plans do without an image copy for some data sets: it was seen that it cannot be read.
pub fn leave_aside(state: &mut State, number: u32, names: &[String]) {
    if let Some(copy) = state.image_copies.get_mut(&number) {
        copy.sets.retain(|extent| !names.contains(&extent.name));
    }
}

/// The pieces of the log from a position on in which the records of sources count.
fn spans(state: &State, sources: &[Source], from: Lsn) -> Vec<Span> {
    let mut ended = Lsn::NONE;
    let mut spans = Vec::new();
    for Source { set, until } in sources.iter().copied() {
        let from = state.speaks_from(set, ended).max(from);
        spans.push(Span { set, from, until });
        ended = until;
    }
    spans.retain(|span| span.from < span.until);
    spans
}

/// A data set with what came before it.
struct Lineage {
    /// It and those whose place it took, oldest first, as far as they count at a point.
    sources: Vec<Source>,
    /// Why nothing older counts, if something is wrong with it.
    beyond: Option<RecoveryError>,
}

fn lineage(state: &State, set: DataSetId, name: &str, to: Lsn) -> Result<Lineage, RecoveryError> {
    let (origins, mut younger) = (state.origins(), Vec::new());
    let mut youngest = Source { set, until: to };
    while let Some((recovery, old)) = origins.get(&youngest.set) {
        let until = youngest.until;
        if until > recovery.to && until < recovery.void_to {
            let why = format!("recovery {} has made it void", recovery.number);
            let void = RecoveryError::BadPoint { name: name.to_owned(), lsn: until, why };
            if younger.is_empty() {
                return Err(void);
            }
            younger.reverse();
            return Ok(Lineage { sources: younger, beyond: Some(void) });
        }
        if until > recovery.to {
            younger.push(youngest);
        }
        // Otherwise it counts up to a point before that recovery only: what took the place then
        // does not count at all. A later recovery may have gone back there, or this one does.
        youngest = Source { set: *old, until: recovery.to.min(until) };
    }
    younger.push(youngest);
    younger.reverse();
    Ok(Lineage { sources: younger, beyond: None })
}

#[cfg(test)]
mod tests {
    use base::KeyGeneration;
    use recon::{ArchiveFile, Record, Recovery, SetExtent};
    use seal::Format;

    use super::*;

    const NAME: &str = "ACCOUNTS";

    fn definition(id: u32) -> Definition {
        Definition {
            id: DataSetId(id),
            name: NAME.into(),
            ci_bytes: 4096,
            format: Format::Sealed,
            label: "data".into(),
            generation: KeyGeneration(1),
            pool: "main".into(),
            file_intervals: 0,
            folders: vec!["data".into()],
            attributes: Vec::new(),
            conversion: None,
            permit: None,
        }
    }

    fn copy(number: u32, set: u32, end: u64) -> Record {
        let file = ArchiveFile { path: format!("/copies/{number}").into(), lost: false };
        let extent = SetExtent {
            set: DataSetId(set),
            name: NAME.into(),
            intervals: 1,
            label: "data".into(),
            generations: vec![KeyGeneration(1)],
        };
        Record::ImageCopy(ImageCopy {
            number,
            kind: CopyKind::Full,
            base: 0,
            files: vec![file],
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

    fn recovery(number: u32, (old, new): (u32, u32), (to, void_to): (u64, u64)) -> Record {
        Record::Recovery(Recovery {
            number,
            sets: vec![DataSetId(old)],
            became: vec![DataSetId(new)],
            copies: vec![0],
            to: Lsn(to),
            void_to: Lsn(void_to),
            utc_us: 1,
            to_point: true,
        })
    }

    fn planned(records: &[Record], to: Target) -> Result<SetPlan, RecoveryError> {
        let log_to = match to {
            Target::Now => Lsn(9_000),
            Target::Lsn(lsn) => lsn,
        };
        plan_set(&State::of(records), definition(3), (to, log_to), &Births::new())
    }

    fn is_void(planned: &Result<SetPlan, RecoveryError>, point: u64) -> bool {
        matches!(planned, Err(RecoveryError::BadPoint { lsn, .. }) if *lsn == Lsn(point))
    }

    #[test]
    fn a_copy_that_is_newer_than_a_recovery_does_not_need_its_point() {
        // The second recovery went to a point that the first one has made void, as far as is known.
        let first = recovery(11, (1, 2), (1_000, 5_000));
        let second = recovery(12, (2, 3), (2_000, 6_000));
        let mut records = vec![copy(10, 1, 900), first, second];
        assert!(is_void(&planned(&records, Target::Now), 2_000));
        records.push(copy(13, 3, 7_000));
        let plan = planned(&records, Target::Now).unwrap();
        let copies: Vec<u32> = plan.copies.iter().map(|copy| copy.number).collect();
        assert_eq!((copies, plan.from), (vec![13], Lsn(6_990)));
        assert!(plan.spans.iter().all(|span| span.set == DataSetId(3)), "{:?}", plan.spans);
        // A point that is void itself is refused as ever, and so is one in front of the copy.
        assert!(is_void(&planned(&records, Target::Lsn(Lsn(3_000))), 3_000));
        assert!(is_void(&planned(&records, Target::Lsn(Lsn(6_500))), 2_000));
    }

    #[test]
    fn a_recovery_to_the_end_of_another_one_comes_by_what_that_has_built() {
        let first = recovery(11, (1, 2), (1_000, 2_000));
        let second = recovery(12, (2, 3), (2_000, 6_000));
        let plan = planned(&[copy(10, 1, 900), first, second], Target::Now).unwrap();
        let sources: Vec<u32> = plan.sources.iter().map(|source| source.set.0).collect();
        assert_eq!(sources, [1, 2, 3]);
    }
}
