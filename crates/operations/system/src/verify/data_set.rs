//! The proof of one data set, interval by interval and then as a tree.

use std::sync::Arc;

use base::{CiNumber, Coded};
use btree::{Tree, TreeError, TreeReport, node_damage};
use pool::{Backing, PoolError};
use seal::PageSealer;
use seam::failpoint::{Failpoint, armed};
use seam::mem::AlignedBuf;
use serde::{Deserialize, Serialize};
use space::header::{self, LAYOUT_VERSION};
use space::{DataSet, Header, Settled};
use uow::Kernel;

use super::{Finding, Phase, Verifier, Watch};

/// What the proof of a data set went through.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetReport {
    /// Its name.
    pub name: String,
    /// Intervals on disk.
    pub intervals: u64,
    /// Those that were proven: in use and written.
    pub proven: u64,
    /// Whether freshness was compared, or only tags and places (after a crash that no restart
    /// survives).
    pub exact: bool,
    /// Records in its tree, if the tree could be proven.
    pub records: Option<u64>,
    /// Levels of its tree.
    pub levels: Option<u32>,
    /// Intervals given out that nothing refers to; they do no harm.
    pub unreachable: Option<u64>,
}

/// How many bytes are read at once.
const WINDOW_BYTES: usize = 1 << 20;
/// A page may be written between looking at the map and at the disk.
const TRIES: u32 = 3;
/// The same in a system in use, where each try waits for the batch in flight.
const TRIES_IN_USE: u32 = 64;
/// More damaged intervals of one data set are not named one by one.
const NAMED_MAX: usize = 100;

/// How closely a data set is looked at.
struct Look<'a> {
    set: &'a Arc<DataSet>,
    /// The maps are up to date: use and freshness are compared.
    exact: bool,
    proven: u64,
}

impl Verifier {
    /// Proves a data set; its tree, too, if there is a kernel that nobody else uses. `orderly`: its
    /// maps say what is on disk.
    pub(super) fn data_set(
        &mut self,
        set: &Arc<DataSet>,
        restarted: Option<&Arc<Kernel>>,
        orderly: bool,
        watch: &mut Watch<'_>,
    ) {
        let exact = orderly || restarted.is_some();
        let mut look = Look { set, exact, proven: 0 };
        self.intervals(&mut look, watch);
        let mut report = SetReport {
            name: set.name().to_owned(),
            intervals: u64::from(set.intervals()),
            proven: look.proven,
            exact,
            ..SetReport::default()
        };
        if exact {
            self.missing(&look);
        }
        if let Some(kernel) = restarted {
            let object = format!("{} (tree)", set.name());
            watch.step(Phase { object: &object, done: 0, total: 1, unit: "trees" }, 0);
            if let Some(tree) = self.tree(set, kernel) {
                report.records = Some(tree.records);
                report.levels = Some(tree.levels);
                report.unreachable = Some(tree.unreachable);
            }
        }
        self.report.data_sets.push(report);
    }

    fn intervals(&mut self, look: &mut Look<'_>, watch: &mut Watch<'_>) {
        let set = look.set;
        let unit = set.unit_bytes();
        let per_window = (WINDOW_BYTES / unit) as u32;
        let mut window = AlignedBuf::zeroed(per_window as usize * unit);
        let total = set.intervals();
        let before = self.report.findings.len();
        let mut first = 0;
        while first < total {
            let object = format!("data set {}", set.name());
            let (done, total) = (u64::from(first), u64::from(total));
            let count = per_window.min(set.intervals().saturating_sub(first));
            let bytes = u64::from(count) * unit as u64;
            let phase = Phase { object: &object, done, total, unit: "intervals" };
            if !watch.step(phase, bytes) || count == 0 {
                return;
            }
            let units = &mut window[..count as usize * unit];
            let read = set.read_raw(CiNumber(first), units).is_ok();
            for (number, unit) in (first..).zip(units.chunks_exact_mut(unit)) {
                let ci = CiNumber(number);
                let read = if read { Ok(()) } else { set.read_raw(ci, unit) };
                self.one(look, ci, unit, read);
            }
            first += count;
            if self.report.findings.len() - before > NAMED_MAX {
                self.note(format!("more of data set {} is damaged: all of it is lost", set.name()));
                return;
            }
        }
    }

    /// Whether an interval is in use and was written, as far as that is known.
    fn is_wanted(&mut self, look: &Look<'_>, ci: CiNumber) -> bool {
        if !look.exact {
            return true;
        }
        let used = look.set.is_used(ci);
        match used.and_then(|used| Ok((used, look.set.expected_prefix(ci)?))) {
            Ok((used, prefix)) => used && prefix != 0,
            Err(error) => {
                // The map's own interval is named, once; what it describes cannot be judged.
                self.pool_error(look, &error);
                false
            }
        }
    }

    /// Proves one interval that was read, or could not be.
    fn one(
        &mut self,
        look: &mut Look<'_>,
        ci: CiNumber,
        unit: &mut [u8],
        mut read: Result<(), PoolError>,
    ) {
        if !self.is_wanted(look, ci) {
            return;
        }
        if !look.exact
            && read.is_ok()
            && PageSealer::trailer(unit) == Err(seal::PageFault::NeverWritten)
        {
            return;
        }
        for attempt in 1.. {
            let found = read.and_then(|()| look.set.prove(ci, unit));
            match (found, look.set.expected_prefix(ci)) {
                (Ok(found), Ok(expected)) if found == expected || !look.exact => {
                    look.proven += 1;
                    return self.contents(look, ci, unit);
                }
                _ if let Some(kernel) = self.kernel.clone() => {
                    return self.in_use(look, &kernel, ci, unit);
                }
                (Ok(found), Ok(expected)) if attempt == TRIES => {
                    return self.outdated(look, ci, found, expected);
                }
                (Err(error), _) | (_, Err(error)) if attempt == TRIES => {
                    return self.pool_error(look, &error);
                }
                _ => {}
            }
            read = look.set.read_raw(ci, unit);
        }
    }

    /// Says what is wrong with an interval of a data set in use that did not prove itself: it was
    /// being written, its file was cut or has grown, or it was freed. It is looked at again under
    /// its map's latch; only what is wrong twice with the same tag, with all batches landed in
    /// between, is damaged.
    fn in_use(&mut self, look: &mut Look<'_>, kernel: &Arc<Kernel>, ci: CiNumber, unit: &mut [u8]) {
        let mut wrong_with = None;
        for _ in 0..TRIES_IN_USE {
            let before = match look.set.expected_prefix(ci) {
                Ok(before) => before,
                Err(error) => return self.pool_error(look, &error),
            };
            kernel.settle_writes();
            let settled = match look.set.settled(ci, before, unit) {
                Ok(settled) => settled,
                Err(error) => return self.pool_error(look, &error),
            };
            let is_again = wrong_with == Some(before);
            match settled {
                Settled::Sound => {
                    look.proven += 1;
                    return self.contents(look, ci, unit);
                }
                Settled::Unused | Settled::Pending => return,
                Settled::Changed => wrong_with = None,
                Settled::Wrong(_) | Settled::Outdated(_) if self.is_excused(look, ci) => return,
                Settled::Wrong(error) if is_again => return self.pool_error(look, &error),
                Settled::Outdated(found) if is_again => {
                    return self.outdated(look, ci, found, before);
                }
                Settled::Wrong(_) | Settled::Outdated(_) => wrong_with = Some(before),
            }
        }
        // It is written so often that nobody sees it at rest: it is not what stood there before.
    }

    fn outdated(&mut self, look: &Look<'_>, ci: CiNumber, found: u64, expected: u64) {
        let what = format!(
            "it is genuine but not its newest version (tag {found:016x}, the map holds \
             {expected:016x})"
        );
        self.interval(&look.set.definition(), ci, what);
    }

    /// Whether what stands in the place of an interval of a system in use need not make sense: it
    /// is in transit, or its data set is gone.
    fn is_excused(&self, look: &Look<'_>, ci: CiNumber) -> bool {
        if armed(Failpoint::DamageOverlooked) {
            return true;
        }
        let Some(kernel) = &self.kernel else { return false };
        kernel.set(look.set.id()).is_none() || kernel.is_in_transit(look.set, ci)
    }

    /// What a genuine interval says about itself, and whether it makes sense.
    fn contents(&mut self, look: &Look<'_>, ci: CiNumber, unit: &[u8]) {
        let definition = look.set.definition();
        let page = &unit[..look.set.usable_bytes()];
        let header = Header::read(page);
        let fault = if header.version > LAYOUT_VERSION {
            Some(format!("it has layout version {}, of a later Holdfast", header.version))
        } else if header.ci != ci {
            Some(format!("it says that it is interval {}", header.ci))
        } else if ci.0 == 0 {
            match header::read_header_interval(page) {
                Ok((_, found)) if found.id == definition.id && found.name == definition.name => {
                    None
                }
                Ok((_, found)) => Some(format!("it is the header of data set {}", found.name)),
                Err(error) => Some(error.to_string()),
            }
        } else {
            node_damage(page).map(|damage| damage.to_string())
        };
        if let Some(what) = fault {
            self.interval(&definition, ci, what);
        }
    }

    /// Intervals that the map knows and the files do not have.
    fn missing(&mut self, look: &Look<'_>) {
        let (set, layout) = (look.set, look.set.layout());
        let per_map = layout.per_map();
        let held = set.intervals();
        let mut lost: Vec<CiNumber> = Vec::new();
        for block in held / per_map..held.div_ceil(per_map).max(per_map) {
            let first = block * per_map;
            let map = layout.map1_of(CiNumber(first));
            let written = set.expected_prefix(map).is_ok_and(|prefix| prefix != 0);
            if map.0 >= held {
                lost.extend(written.then_some(map));
                continue;
            }
            for ci in (first.max(held)..first + per_map).map(CiNumber) {
                let used = !layout.is_reserved(ci) && set.is_used(ci).unwrap_or(false);
                lost.extend(used.then_some(ci));
            }
        }
        // Of a system in use the files may have grown since, or been cut off.
        if self.kernel.is_some() {
            lost.retain(|ci| set.is_missing(*ci).unwrap_or(true));
        }
        if let Some(first) = lost.first() {
            let what = format!(
                "its files end after interval {}, but {} intervals behind that are in use",
                held.saturating_sub(1),
                lost.len()
            );
            self.interval(&set.definition(), *first, what);
        }
    }

    fn tree(&mut self, set: &Arc<DataSet>, kernel: &Arc<Kernel>) -> Option<TreeReport> {
        match Tree::new(kernel, set).check() {
            Ok(report) => Some(report),
            Err(
                TreeError::Damaged { ci, why, .. }
                | TreeError::Pool(
                    PoolError::Damaged { ci, why, .. } | PoolError::Read { ci, why, .. },
                ),
            ) => {
                self.interval(&set.definition(), ci, why);
                None
            }
            Err(error) => {
                let (object, code) = (format!("data set {}", set.name()), error.code());
                let what = format!("its tree cannot be walked: {error} ({code})");
                let (file, offset, interval) = (None, None, None);
                let (remedy, repair) = (error.remedy(), Vec::new());
                self.find(Finding { object, file, offset, interval, what, remedy, repair });
                None
            }
        }
    }

    fn pool_error(&mut self, look: &Look<'_>, error: &PoolError) {
        match error {
            PoolError::Damaged { ci, why, .. } | PoolError::Read { ci, why, .. } => {
                let hint = match look.exact {
                    true => "",
                    false => "; if a crash tore it, the double-write area has it",
                };
                self.interval(&look.set.definition(), *ci, format!("{why}{hint}"));
            }
            other => {
                let object = format!("data set {}", look.set.name());
                self.find(super::plain_finding(&object, other.to_string(), &other.remedy()));
            }
        }
    }
}
