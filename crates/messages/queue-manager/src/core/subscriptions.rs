//! Subscriptions that operators define.
//!
//! 1. One with a managed destination (`DESTCLAS(MANAGED)`) has a queue of its own, made from the
//!    model of its topic. It keeps that when it is changed, and the queue goes with it.
//! 2. A queue that is made for a definition that is not kept after all goes again.

use std::sync::Arc;

use store::Store;

use super::{Core, to_hex};
use crate::error::AdminError;
use crate::objects::{Kind, Object, Value};
use crate::queue::Queue;

fn refused(object: &Object, why: &str) -> AdminError {
    let name = object.name.clone();
    AdminError::Refused { kind: Kind::Subscription, name, why: why.into() }
}

fn set(object: &mut Object, attribute: &str, value: &Value) -> Result<(), AdminError> {
    let name = object.name.clone();
    object.set(attribute, value).map_err(|reason| AdminError::BadAttribute {
        kind: Kind::Subscription,
        name,
        reason,
    })
}

impl<S: Store> Core<S> {
    /// Keeps a subscription that an operator defines or changes, while the caller has it that
    /// nobody else changes definitions; `names_queue`: the operator says where publications go.
    /// Sets `over` to a queue that has to go once others may change definitions again.
    pub(crate) fn define_subscription(
        &self,
        mut object: Object,
        names_queue: bool,
        over: &mut Option<Arc<Queue>>,
    ) -> Result<(), AdminError> {
        if object.text_of("SUBID").is_empty() {
            let id = self.new_identifier().map_err(|failed| AdminError::Call {
                kind: Kind::Subscription,
                name: object.name.clone(),
                reason: failed.0,
            })?;
            set(&mut object, "SUBID", &Value::Text(to_hex(&id)))?;
        }
        set(&mut object, "DURABLE", &"YES".into())?;
        let is_managed = object.is("DESTCLAS", "MANAGED");
        if is_managed && names_queue {
            let why = "a managed destination has a queue of its own: leave DEST and DESTQMGR out";
            return Err(refused(&object, why));
        }
        if !is_managed && object.text_of("DEST").is_empty() {
            return Err(refused(&object, "a provided destination needs DEST"));
        }
        let before = self.topics.lock().named(&object.name).cloned();
        let before = before
            .filter(|one| one.durable && to_hex(&one.id) == object.text_of("SUBID"))
            .and_then(|one| self.managed_queue(&one));
        let mut made = None;
        if is_managed {
            let queue = match &before {
                Some(queue) => Arc::clone(queue),
                None => Arc::clone(made.insert(self.queue_for(&object)?)),
            };
            set(&mut object, "DEST", &Value::Text(queue.name.text()))?;
            set(&mut object, "DESTQMGR", &"".into())?;
        }
        let kept = self.keep_subscription(object);
        // Nobody has used it yet, or nobody does any more.
        *over = if kept.is_err() { made } else { before.filter(|_| !is_managed) };
        kept
    }

    fn queue_for(&self, object: &Object) -> Result<Arc<Queue>, AdminError> {
        // What else is wrong with it is said before anything is made.
        let topic = self.subscription_of(object)?.topic;
        self.make_managed_queue(&topic, true)
    }

    fn keep_subscription(&self, object: Object) -> Result<(), AdminError> {
        let one = self.subscription_of(&object)?;
        let to = self.resolve(one.delivery.queue, one.delivery.manager);
        if to.is_ok_and(|to| self.is_carried_out(&to)) {
            return Err(refused(
                &object,
                "what is put on the queue that DEST names is carried out",
            ));
        }
        self.keep(object)?;
        self.topics.lock().insert(Arc::new(one));
        Ok(())
    }
}
