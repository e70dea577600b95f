//! The proof of a whole tree, for `verify` and for the simulator.
//!
//! It walks every level along its right links and holds it against what the level above says.
//! Nobody may change the tree meanwhile; readers do no harm.

use base::CiNumber;
use space::ROOT;
use uow::Use;

use crate::TreeError;
use crate::node::{Kind, NodeCursor, NodeDamage, NodeView};
use crate::overflow::{self, Reference};
use crate::tree::Tree;

/// What a sound tree consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeReport {
    /// Levels, leaves included.
    pub levels: u32,
    /// Leaves.
    pub leaves: u64,
    /// Inner nodes, the root among them.
    pub inner: u64,
    /// Intervals of long values.
    pub overflow: u64,
    /// Records.
    pub records: u64,
    /// Bytes of their keys and values.
    pub record_bytes: u64,
    /// Bytes of nodes that are in use.
    pub node_bytes: u64,
    /// Bytes of nodes that are free.
    pub node_bytes_free: u64,
    /// Nodes that their parents do not know yet; a search finds them from the left.
    pub unposted: u64,
    /// Intervals that are in use but belong to nothing: they are lost, or a unit of work whose end
    /// is not seen yet will free them. They do no harm.
    pub unreachable: u64,
    /// Intervals in transit, which belong to nothing just now: a conversion has given them out to
    /// wipe them, for one. Whoever has them takes them back, or else the next restart.
    pub in_transit: u64,
}

/// What is wrong with an interval's bytes, if they claim to be a node.
#[must_use]
pub fn node_damage(page: &[u8]) -> Option<NodeDamage> {
    let kind = space::Header::read(page).kind;
    let is_node = kind == space::kind::LEAF || kind == space::kind::INNER;
    if is_node { NodeView::new(page).check().err() } else { None }
}

/// A node as its parent knows it.
struct Child {
    low: Vec<u8>,
    ci: CiNumber,
}

struct Proof<'t> {
    tree: Tree<'t>,
    report: TreeReport,
    /// One bit for each interval that has been reached.
    reached: Vec<u64>,
    /// The node looked at, copied.
    node: NodeCursor,
}

impl Tree<'_> {
    /// Proves the tree: every node, fences, links, levels, order, long values, and that nothing
    /// which is reachable counts as free.
    ///
    /// # Errors
    /// [`TreeError::Damaged`] with the place.
    pub fn check(&self) -> Result<TreeReport, TreeError> {
        let mut proof = Proof {
            tree: *self,
            report: TreeReport::default(),
            reached: vec![0; self.set.intervals() as usize / 64 + 1],
            node: NodeCursor::new(),
        };
        let mut level = proof.copy_root()?;
        let mut children = vec![Child { low: Vec::new(), ci: ROOT }];
        loop {
            proof.report.levels += 1;
            children = proof.level(level, &children)?;
            match level.checked_sub(1) {
                Some(below) => level = below,
                None => break,
            }
        }
        proof.space()?;
        Ok(proof.report)
    }
}

impl Proof<'_> {
    fn copy_root(&mut self) -> Result<u8, TreeError> {
        self.copy(ROOT)?;
        let root = self.current();
        if root.right().is_some() || !root.low_fence().is_empty() {
            return Err(self.tree.damaged(ROOT, "the root has siblings"));
        }
        Ok(root.level())
    }

    /// Walks a level, which must have exactly the nodes that the parents know, and perhaps some
    /// that they do not know yet. Returns what the level says about the one below.
    fn level(&mut self, level: u8, parents: &[Child]) -> Result<Vec<Child>, TreeError> {
        let mut known = parents.iter().peekable();
        let mut low = Vec::new();
        let mut below = Vec::new();
        let mut unposted = 0;
        let mut next = parents.first().map(|child| child.ci);
        while let Some(ci) = next {
            self.reach(ci)?;
            self.copy(ci)?;
            let node = self.current();
            let damaged = |why: &str| Err(self.tree.damaged(ci, why));
            if node.level() != level || node.number() != ci {
                return damaged("it is not the node that its neighbours take it for");
            }
            if node.low_fence() != low {
                return damaged("its low fence is not the high fence of its left sibling");
            }
            match known.next_if(|child| child.ci == ci) {
                Some(child) if child.low != low => {
                    return damaged("its parent has another low fence for it");
                }
                Some(_) => {}
                None if known.peek().is_some_and(|child| child.low <= low) => {
                    return damaged("its parent has another node in its place");
                }
                None => unposted += 1,
            }
            next = node.right();
            if node.high_fence(&mut low) != next.is_some() {
                return damaged("it has a right sibling or a high fence, but not both");
            }
            self.count(ci, &mut below)?;
        }
        self.report.unposted += unposted;
        match known.next() {
            Some(child) => Err(self.tree.damaged(child.ci, "its left siblings do not lead to it")),
            None => Ok(below),
        }
    }

    /// Counts the copied node and what it holds.
    fn count(&mut self, ci: CiNumber, below: &mut Vec<Child>) -> Result<(), TreeError> {
        let node = self.current();
        let (kind, live, free) = (node.kind(), node.live_bytes(), node.free_bytes());
        self.report.node_bytes += live as u64;
        self.report.node_bytes_free += free as u64;
        match kind {
            Kind::Inner => self.report.inner += 1,
            Kind::Leaf => self.report.leaves += 1,
        }
        let mut long = Vec::new();
        while self.node.next_entry() {
            let value = self.node.value();
            let (key, bytes) = (self.node.key(), value.bytes);
            if kind == Kind::Inner {
                let child = CiNumber(base::bytes::get_u32(bytes, 0));
                below.push(Child { low: key.to_vec(), ci: child });
                continue;
            }
            let reference = value.overflow.then(|| Reference::decode(bytes));
            let len = reference.map_or(bytes.len(), |reference| reference.len as usize);
            self.report.records += 1;
            self.report.record_bytes += (key.len() + len) as u64;
            long.extend(reference);
        }
        for reference in long {
            let intervals = overflow::intervals(self.tree.set, reference)?;
            let broken = || self.tree.damaged(ci, "the chain of a long value is broken");
            for piece in intervals.ok_or_else(broken)? {
                self.reach(piece)?;
                self.report.overflow += 1;
            }
        }
        Ok(())
    }

    /// Whatever was reached must be in use; what is in use and was not reached is counted.
    fn space(&mut self) -> Result<(), TreeError> {
        let layout = self.tree.set.layout();
        for ci in (0..self.tree.set.intervals()).map(CiNumber) {
            if layout.is_reserved(ci) {
                continue;
            }
            match (self.tree.kernel.use_of(self.tree.set, ci)?, self.is_reached(ci)) {
                (Use::Free, true) => {
                    let why = "it is part of the tree but counts as free";
                    return Err(self.tree.damaged(ci, why));
                }
                (Use::Held, false) => self.report.unreachable += 1,
                (Use::InTransit, false) => self.report.in_transit += 1,
                _ => {}
            }
        }
        Ok(())
    }

    fn is_reached(&self, ci: CiNumber) -> bool {
        let word = self.reached.get(ci.0 as usize / 64);
        word.is_some_and(|word| word & (1 << (ci.0 % 64)) != 0)
    }

    fn reach(&mut self, ci: CiNumber) -> Result<(), TreeError> {
        let Some(word) = self.reached.get_mut(ci.0 as usize / 64) else {
            return Err(self.tree.damaged(ci, "it lies behind the end of the data set"));
        };
        let bit = 1 << (ci.0 % 64);
        if *word & bit != 0 || self.tree.set.layout().is_reserved(ci) && ci != ROOT {
            return Err(self.tree.damaged(ci, "two places lead to it"));
        }
        *word |= bit;
        Ok(())
    }

    fn copy(&mut self, ci: CiNumber) -> Result<(), TreeError> {
        let page = self.tree.set.shared(ci)?;
        let node = NodeView::checked(page.bytes());
        let node = node.map_err(|damage| self.tree.damaged(ci, damage.to_string()))?;
        self.node.load(node);
        Ok(())
    }

    fn current(&self) -> NodeView<'_> {
        self.node.node().expect("a node has been copied")
    }
}
