//! Levels without an SSA: what the present position says for them (DLI-12.2).
//!
//! Where a GU, or the search for an ISRT's parent, has no SSA for a level at which there is
//! position, the occurrence there is meant, as if its key had been given. The search then begins
//! beneath it and does not leave it.
//!
//! Invariants:
//! 1. An implied occurrence is there, and so are all above it: in use beside other programs each
//!    is read again under the lock of its record (H5).

use hierarchy::Result;
use store::Store;

use crate::context::CallContext;
use crate::pcb::DbPcb;
use crate::plan::{Need, Plan};

impl<S: Store> DbPcb<S> {
    /// Makes the lowest level that is implied, and all above it, the base of the search.
    ///
    /// A level above it keeps its occurrence if the call asks something of it and it satisfies
    /// that. `lost` tells that an occurrence was there and was deleted.
    pub(crate) fn imply(
        &mut self,
        context: &mut CallContext<'_, S>,
        plan: &mut Plan<'_, '_>,
    ) -> Result<()> {
        let view = context.view;
        let lowest = plan.lowest_unnamed();
        if plan.afresh || lowest == 0 || self.position.levels.is_empty() {
            return Ok(());
        }
        self.search.stack.limit(view, plan);
        let mut implied = 0;
        for level in 1..=lowest {
            let step = plan.level(level);
            if !step.keeps_its_occurrence() {
                break;
            }
            let above = self.search.stack.end(level - 1) + usize::from(level > 1);
            let Some(part) = self.present_of(step.node, level).map(|key| key[above..].to_vec())
            else {
                break;
            };
            let asks = !matches!(step.need, Need::Any);
            let sure = view.is_plain && !self.may_be_gone(context) && !context.locks.are_shared();
            if sure && !asks && !step.wanted {
                self.search.stack.push(view.node(step.node), &part);
            } else {
                self.search.stack.limits[level - 1].test = asks;
                if !self.present(context, step, level, &part)? {
                    self.search.lost |= !step.named;
                    break;
                }
            }
            if !step.named {
                implied = level;
            }
        }
        self.search.stack.truncate(implied);
        self.search.stack.forget_best();
        self.search.stack.note_best();
        plan.base = implied;
        Ok(())
    }
}
