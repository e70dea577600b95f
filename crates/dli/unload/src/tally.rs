//! Counts segments as they go by, and holds them to hierarchic order.
//!
//! Invariants:
//!
//! 1. A segment that cannot stand where it came is not counted and changes nothing.
//! 2. Counting costs the same for each segment, however many types there are, but for a walk up
//!    the path from the segment before, of at most 15 levels.

use crate::counts::Counts;
use crate::error::UnloadError;
use crate::hierarchy::Hierarchy;

/// Where counting stands for a type.
#[derive(Clone, Copy, Debug, Default)]
struct Running {
    /// Twins since the parent came.
    twins: u32,
    /// Children since the last segment of this type came.
    children: u32,
    /// How many parents there were when `twins` began; another number is another parent.
    parents: u32,
}

/// Why a segment cannot stand where it came.
pub(crate) enum Refused {
    /// It is out of hierarchic order; this is why.
    Order(String),
    /// There are too many to count.
    TooMany,
}

/// The counts of a file so far.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    counts: Vec<Counts>,
    running: Vec<Running>,
    previous: Option<usize>,
}

impl Tally {
    pub(crate) fn new(types: usize) -> Self {
        let (counts, running) = (vec![Counts::default(); types], vec![Running::default(); types]);
        Tally { counts, running, previous: None }
    }

    pub(crate) fn counts(&self) -> &[Counts] {
        &self.counts
    }

    /// Counts a segment.
    pub(crate) fn add(&mut self, hierarchy: &Hierarchy, at: usize) -> Result<(), Refused> {
        let parent = hierarchy.parent(at);
        if let Some(parent) = parent {
            self.check_place(hierarchy, at, parent).map_err(Refused::Order)?;
        }
        let segments = self.counts[at].segments.checked_add(1).ok_or(Refused::TooMany)?;
        let parents = match parent {
            Some(parent) => {
                let (counts, running) = (&mut self.counts[parent], &mut self.running[parent]);
                counts.children = counts.children.checked_add(1).ok_or(Refused::TooMany)?;
                running.children += 1;
                counts.max_children = counts.max_children.max(running.children);
                counts.segments
            }
            None => segments,
        };
        let (counts, running) = (&mut self.counts[at], &mut self.running[at]);
        let twins = if running.parents == parents { running.twins + 1 } else { 1 };
        *running = Running { twins, children: 0, parents };
        counts.segments = segments;
        counts.twins = segments;
        counts.max_twins = counts.max_twins.max(twins);
        self.previous = Some(at);
        Ok(())
    }

    /// Whether the parent is on the path, with nothing behind the segment under it already.
    fn check_place(&self, types: &Hierarchy, at: usize, parent: usize) -> Result<(), String> {
        let name = |at: usize| types.types()[at].name;
        let mut on_path = self.previous;
        while let Some(level) = on_path {
            let above = types.parent(level);
            if level == parent || (above == Some(parent) && level <= at) {
                return Ok(());
            }
            if above == Some(parent) {
                return Err(format!("a {} came before it under the same parent", name(level)));
            }
            on_path = above;
        }
        Err(format!("no {} came before it that can be its parent", name(parent)))
    }
}

impl Refused {
    /// As an error about the segment at a place.
    pub(crate) fn error(
        self,
        hierarchy: &Hierarchy,
        at: usize,
        place: crate::error::Place,
    ) -> UnloadError {
        let segment = hierarchy.types()[at].name;
        match self {
            Refused::Order(reason) => UnloadError::Order { place, segment, reason },
            Refused::TooMany => UnloadError::TooMany { segment },
        }
    }
}
