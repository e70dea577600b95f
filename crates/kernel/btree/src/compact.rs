//! Moving nodes from the end of a data set to free intervals further in front, so that its files
//! can be cut.
//!
//! One node is moved under one record: its image at the new place, the pointer of its parent, the
//! right link of its left sibling, the old place free. Pieces of long values stay: a value moves
//! when it is written again.

use base::CiNumber;
use pool::{ExclusiveCi, PoolError, SharedCi};
use space::{Purpose, ROOT};

use crate::TreeError;
use crate::node::{NodeMut, NodeView, Place};
use crate::records::{Fields, kind};
use crate::structure::node_of;
use crate::tree::Tree;

impl Tree<'_> {
    /// Moves up to `nodes_max` nodes, the last ones first, to lower free intervals; returns how
    /// many have moved. Fewer than asked means that nothing more can be gained now. The files are
    /// cut by [`DataSet::cut`](space::DataSet::cut) once the log no longer needs their end.
    ///
    /// # Errors
    /// See [`TreeError`].
    pub fn compact_tail(&self, nodes_max: usize) -> Result<usize, TreeError> {
        let layout = self.set.layout();
        let high_water = self.set.high_water().map_err(uow::UowError::from)?;
        let mut moved = 0;
        for old in (ROOT.0 + 1..high_water).rev().map(CiNumber) {
            if moved == nodes_max {
                break;
            }
            if layout.is_reserved(old) || !self.set.is_used(old)? {
                continue;
            }
            let Some((level, low)) = self.node_at(old)? else { continue };
            let new = self.allocate(None, Purpose::Work)?;
            let done = new < old && self.relocate(old, new, level, &low)?;
            let free = if done { old } else { new };
            self.kernel.release_interval(self.set, free)?;
            if new > old {
                break;
            }
            moved += usize::from(done);
        }
        Ok(moved)
    }

    /// Level and low fence of the node in an interval, if it holds one.
    fn node_at(&self, ci: CiNumber) -> Result<Option<(u8, Vec<u8>)>, TreeError> {
        let page = match self.set.shared(ci) {
            // It was given out a moment ago, and nothing has been written there yet.
            Err(PoolError::Damaged { .. }) if self.set.expected_prefix(ci)? == 0 => {
                return Ok(None);
            }
            page => page?,
        };
        let node = NodeView::opened(page.bytes()).ok().filter(|node| node.number() == ci);
        Ok(node.map(|node| (node.level(), node.low_fence().to_vec())))
    }

    fn relocate(
        &self,
        old_ci: CiNumber,
        new_ci: CiNumber,
        level: u8,
        low: &[u8],
    ) -> Result<bool, TreeError> {
        self.post(old_ci, level, Purpose::Work)?;
        let Some((parent_ci, slot)) = self.parent_of(old_ci, level, low)? else {
            return Ok(false);
        };
        let left_ci = match low.is_empty() {
            true => None,
            false => Some(self.left_of(level, low)?),
        };
        let (parent, old) = (self.pin_seen(parent_ci)?, self.pin_seen(old_ci)?);
        let (Some(parent), Some(old)) = (parent, old) else { return Ok(false) };
        let left = match left_ci.map(|ci| self.pin_seen(ci)).transpose()? {
            Some(None) => return Ok(false),
            left => left.flatten(),
        };
        let new = self.set.pin_fresh(new_ci)?;
        let mut parent = parent.exclusive();
        let as_seen = node_of(parent.bytes(), level + 1)
            .is_some_and(|node| slot < node.count() && node.child_at(slot) == old_ci);
        if !as_seen {
            return Ok(false);
        }
        let mut left = left.map(pool::Pinned::exclusive);
        let joined = left.as_ref().is_none_or(|left| {
            node_of(left.bytes(), level).is_some_and(|node| node.right() == Some(old_ci))
        });
        if !joined {
            return Ok(false);
        }
        let (mut old, mut new) = (old.exclusive(), new.exclusive());
        let mut copy = old.bytes().to_vec();
        let mut node = NodeMut::new(&mut copy);
        node.set_number(new_ci);
        let mut image = Vec::new();
        node.view().write_image(&mut image);
        let left_number = left_ci.unwrap_or(CiNumber(0));
        let fields = Fields::new().ci(parent_ci).u16(slot).ci(left_number).ci(new_ci).ci(old_ci);
        let mut pages: Vec<&mut ExclusiveCi<'_>> = vec![&mut parent];
        pages.extend(left.as_mut());
        pages.extend([&mut new, &mut old]);
        let body: [&[u8]; 2] = [fields.bytes(), &image];
        self.kernel.change_structure(self.set, kind::RELOCATE, &body, &mut pages)?;
        Ok(true)
    }

    /// The parent of a node and its entry there.
    fn parent_of(
        &self,
        child: CiNumber,
        level: u8,
        low: &[u8],
    ) -> Result<Option<(CiNumber, usize)>, TreeError> {
        let Some(parent) = self.reach_level::<SharedCi<'_>>(low, level + 1)? else {
            return Ok(None);
        };
        let node = NodeView::new(parent.guard.bytes());
        let Place::Found(slot) = parent.place else { return Ok(None) };
        Ok((node.child_at(slot) == child).then(|| (parent.guard.ci(), slot)))
    }

    /// The left sibling of the node that begins at `low`, as far as can be told without latches.
    fn left_of(&self, level: u8, low: &[u8]) -> Result<CiNumber, TreeError> {
        Ok(self.reach_below_level(Some(low), level)?.ci())
    }
}
