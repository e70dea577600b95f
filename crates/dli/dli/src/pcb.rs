//! A database PCB: what a program sees through it, and where it stands.
//!
//! Each part is a struct of its own, in the file of its name, with what changes it.

use std::sync::Arc;

use hierarchy::{Levels, Work};
use store::{LockMode, Store};

use crate::context::CallContext;
use crate::feedback::Feedback;
use crate::hold_state::Hold;
use crate::loading::Loading;
use crate::marks::Marks;
use crate::parentage::Parentage;
use crate::position::Position;
use crate::search_state::SearchState;
use crate::view::CompiledView;

/// What other PCBs of the program may take away from under this one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sharing {
    /// Whether another one may delete what this one stands on.
    pub(crate) deletes: bool,
    /// How often the program had changed anything when path and parentage were read.
    pub(crate) read_at: u64,
}

/// A database PCB.
pub(crate) struct DbPcb<S: Store> {
    /// Its number among the program's database PCBs.
    pub(crate) number: usize,
    pub(crate) view: Arc<CompiledView>,
    pub(crate) feedback: Feedback,
    pub(crate) position: Position,
    pub(crate) parentage: Parentage,
    /// With multiple positioning: where the chain of each node goes on.
    pub(crate) marks: Marks,
    pub(crate) hold: Hold,
    pub(crate) search: SearchState<S>,
    pub(crate) loading: Loading,
    pub(crate) sharing: Sharing,
    /// What a change works in.
    pub(crate) work: Work,
}

impl<S: Store> DbPcb<S> {
    pub(crate) fn new(number: usize, view: Arc<CompiledView>, shared: bool) -> DbPcb<S> {
        let depth = view.nodes.iter().map(|node| node.level).max().unwrap_or(0);
        DbPcb {
            number,
            feedback: Feedback::new(&view, depth),
            position: Position::new(),
            parentage: Parentage::none(),
            marks: Marks::new(&view),
            hold: Hold::default(),
            search: SearchState::new(depth),
            loading: Loading::new(),
            sharing: Sharing { deletes: true, read_at: 0 },
            work: Work::new(shared),
            view,
        }
    }

    /// How a record is locked that the position moves to; `None` for PROCOPT=GO.
    pub(crate) fn lock_mode(&self) -> Option<LockMode> {
        self.view.lock_mode()
    }

    /// Whether what the path stands on may have been deleted through another PCB since.
    pub(crate) fn may_be_gone(&self, context: &CallContext<'_, S>) -> bool {
        self.sharing.deletes && self.sharing.read_at != context.changes
    }

    /// Forgets position, parentage and hold: a sync point.
    pub(crate) fn forget(&mut self) {
        self.position.reset();
        self.parentage.cancel();
        self.hold.found = false;
        self.feedback.forget();
        self.marks.forget();
    }

    /// A sync point in a load: a backout comes back to here.
    pub(crate) fn keep_load(&mut self) {
        self.loading.keep(&self.position);
    }

    /// A backout of a load: goes back to what was loaded last at the last sync point.
    pub(crate) fn return_load(&mut self) {
        let (path, levels) = self.loading.go_back();
        self.show(&path, &levels);
        self.position.path = path;
        self.position.levels = levels;
        self.position.settle();
    }

    /// The node of a level of a path.
    pub(crate) fn node_at(&self, levels: &Levels, level: usize) -> u16 {
        self.view.node_at(levels, level)
    }

    /// Shows a path in the PCB: level, segment name and concatenated key.
    pub(crate) fn show(&mut self, path: &[u8], levels: &Levels) {
        self.feedback.show(&self.view, &self.search.stack, path, levels, levels.len());
    }

    /// Shows the path of the position down to a level.
    pub(crate) fn show_path(&mut self, depth: usize) {
        let (path, levels) = (&self.position.path[..], &self.position.levels);
        self.feedback.show(&self.view, &self.search.stack, path, levels, depth);
    }

    /// Takes the search stack as the new path.
    pub(crate) fn take_stack(&mut self) {
        std::mem::swap(&mut self.position.path, &mut self.search.stack.key);
        self.position.levels = self.search.stack.levels.0;
    }
}
