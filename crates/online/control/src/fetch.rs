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
//! Others' outputs in front of his own are no hindrance, nor are those that nobody can read: they
//! stay where they are. Who finds nothing but those is told so.
//!
//! Invariants:
//! 1. Once there are users, nobody fetches what is another user's without a profile. An input's own
//!    answers are no matter: who has sent it is given them.
//! 2. No output is read but the one that he gets, and those of his that nobody can read.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use otma::{Identity, Name, Output, Partner, Reason, Refusal};
use queues::{Held, Looked, QueueError, QueueName};
use store::Store;

use crate::error::{ControlError, refusal};
use crate::inner::Inner;
use crate::profiles::TPIPES;
use crate::text;

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
        let has_all = permitted == Some(true) || !self.has_users.load(SeqCst);
        let owner = self.state.lock().tpipes.owner(tpipe);
        let is_his = |user: Name| match user {
            _ if has_all => true,
            user if user.is_blank() => owner.is_none_or(|owner| owner == who.user),
            user => user == who.user,
        };
        let (mut looked, mut unreadable) = (Looked::default(), None);
        while let Some(held) = self.queues.take_owned(queue, &mut looked, is_his) {
            match self.open(&held) {
                Ok(envelope) => return Ok(Some(self.hand_over(tpipe, held, envelope))),
                Err(error) if is_damage(&error) => {
                    self.queues.put_back(held);
                    unreadable = Some(error);
                }
                Err(error) => {
                    self.wait_again(held);
                    return Err(refusal(&error));
                }
            }
        }
        if let Some(error) = unreadable {
            return Err(refusal(&error));
        }
        match owner {
            Some(owner) if owner == who.user => Ok(None),
            None if !looked.others => Ok(None),
            _ if has_all => Ok(None),
            _ => Err(refused()),
        }
    }
}

/// Whether an error is the one message's, and those behind it may be well.
fn is_damage(error: &ControlError) -> bool {
    matches!(
        error,
        ControlError::Unreadable { .. } | ControlError::Queue(QueueError::Damaged { .. })
    )
}
