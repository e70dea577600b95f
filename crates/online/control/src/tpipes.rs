//! Tpipes where somebody waits: who has them, and who is told of what arrives.
//!
//! Invariants:
//! 1. A tpipe is the user's who was the first to wait there, until nobody waits there any more.
//!    What has been put for him by then has his name.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use otma::{Name, Partner};

/// Who waits at a tpipe.
#[derive(Default)]
struct Tpipe {
    /// The user who has it; blank if who waited first named none.
    owner: Name,
    partners: Vec<Weak<dyn Partner>>,
}

/// The tpipes where somebody waits.
#[derive(Default)]
pub(crate) struct Tpipes(BTreeMap<Name, Tpipe>);

impl Tpipes {
    pub(crate) fn watch(&mut self, name: Name, user: Name, partner: &Arc<dyn Partner>) {
        self.tidy(name);
        let new = || Tpipe { owner: user, partners: Vec::new() };
        let tpipe = self.0.entry(name).or_insert_with(new);
        let partner = Arc::downgrade(partner);
        if !tpipe.partners.iter().any(|known| known.ptr_eq(&partner)) {
            tpipe.partners.push(partner);
        }
    }

    /// A partner waits there no more.
    pub(crate) fn unwatch(&mut self, name: Name, partner: &Arc<dyn Partner>) {
        let gone = Arc::downgrade(partner);
        if let Some(tpipe) = self.0.get_mut(&name) {
            tpipe.partners.retain(|known| !known.ptr_eq(&gone));
        }
        self.tidy(name);
    }

    /// Forgets a tpipe that nobody waits at.
    fn tidy(&mut self, name: Name) {
        let Some(tpipe) = self.0.get_mut(&name) else { return };
        tpipe.partners.retain(|partner| partner.strong_count() > 0);
        if tpipe.partners.is_empty() {
            self.0.remove(&name);
        }
    }

    /// Those who are told of an output.
    pub(crate) fn partners(&self, name: Name) -> impl Iterator<Item = Arc<dyn Partner>> {
        let partners = self.0.get(&name).map(|tpipe| tpipe.partners.iter());
        partners.into_iter().flatten().filter_map(Weak::upgrade)
    }

    /// The user who has a tpipe, if anybody has.
    pub(crate) fn owner(&self, name: Name) -> Option<Name> {
        let tpipe = self.0.get(&name)?;
        let waits = tpipe.partners.iter().any(|partner| partner.strong_count() > 0);
        Some(tpipe.owner).filter(|owner| waits && !owner.is_blank())
    }
}
