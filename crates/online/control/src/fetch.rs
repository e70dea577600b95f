//! What a client fetches from a tpipe: whose the outputs are that wait there.
//!
//! | an output | is |
//! |---|---|
//! | that answers an input, or goes to the input's own terminal or tpipe | of the user who sent the input |
//! | for another tpipe | of the user who has that: who has waited there first |
//! | for a tpipe that nobody has | whoever's who fetches it |
//!
//! A profile of class `TPIPE` comes before all that: those whom it permits fetch everything, others
//! nothing.
//!
//! Others' outputs in front of his own are no hindrance: they stay where they are.
//!
//! Invariants:
//! 1. Once there are users, nobody fetches what is another user's without a profile. An input's own
//!    answers are no matter: who has sent it is given them.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use otma::{Identity, Name, Output, Partner, Reason, Refusal};
use queues::{Held, QueueName};
use store::Store;

use crate::envelope::Envelope;
use crate::error::{ControlError, refusal};
use crate::inner::Inner;
use crate::profiles::TPIPES;
use crate::text;

/// How many outputs of a tpipe are looked at for one that is his who asks.
const LOOKED_AT_MOST: usize = 1_000;

impl<S: Store> Inner<S> {
    pub(crate) fn watch(&self, tpipe: Name, user: Name, partner: &Arc<dyn Partner>) {
        self.state.lock().tpipes.watch(tpipe, user, partner);
        if self.queues.figures(QueueName::output(tpipe)).waiting > 0 {
            partner.arrived(tpipe);
        }
    }

    pub(crate) fn unwatch(&self, tpipe: Name, partner: &Arc<dyn Partner>) {
        self.state.lock().tpipes.unwatch(tpipe, partner);
    }

    /// An output that was taken waits again, in its place. Who has found nothing meanwhile is told.
    pub(crate) fn wait_again(&self, held: Held) {
        let tpipe = held.queue().name;
        self.queues.put_back(held);
        let partners: Vec<_> = self.state.lock().tpipes.partners(tpipe).collect();
        partners.into_iter().for_each(|partner| partner.arrived(tpipe));
    }

    /// Whether a name is a tpipe that another user has, and no profile lets this one have, too.
    pub(crate) fn is_anothers(&self, tpipe: Name, owner: Option<Name>, who: Identity) -> bool {
        let has_users = self.has_users.load(SeqCst);
        let other = owner.is_some_and(|owner| has_users && owner != who.user);
        other && self.profiles.may_use(who, TPIPES, tpipe) != Some(true)
    }

    /// The first output of a tpipe that is his, for a client who asks for what waits there.
    pub(crate) fn fetch(&self, tpipe: Name, who: Identity) -> Result<Option<Output>, Refusal> {
        let queue = QueueName::output(tpipe);
        let permitted = self.profiles.may_use(who, TPIPES, tpipe);
        let refused = || Refusal::new(Reason::NotAuthorized, text::tpipe_not_authorized(tpipe));
        if permitted == Some(false) {
            return Err(refused());
        }
        if permitted == Some(true) || !self.has_users.load(SeqCst) {
            let first = self.queues.take(queue);
            return first.map(|held| self.hand_out(tpipe, held)).transpose();
        }
        let owner = self.state.lock().tpipes.owner(tpipe);
        let is_his = |envelope: &Envelope| match envelope.identity.user {
            user if user.is_blank() => owner.is_none_or(|owner| owner == who.user),
            user => user == who.user,
        };
        let mut others = false;
        // Most often the first is his.
        for most in [1, LOOKED_AT_MOST] {
            let waiting = self.queues.browse(queue, most);
            for (arrival, _, bytes) in waiting.map_err(|e| refusal(&ControlError::from(e)))? {
                let envelope = Envelope::decode(&bytes);
                if envelope.as_ref().is_some_and(|envelope| !is_his(envelope)) {
                    others = true;
                } else if let Some(held) = self.queues.take_arrival(queue, arrival) {
                    return match envelope {
                        Some(envelope) => Ok(Some(self.hand_over(tpipe, held, envelope))),
                        // What nobody can read is for whoever has the tpipe, who is told so.
                        None => self.hand_out(tpipe, held).map(Some),
                    };
                }
            }
        }
        match owner {
            Some(owner) if owner == who.user => Ok(None),
            None if !others => Ok(None),
            _ => Err(refused()),
        }
    }
}
