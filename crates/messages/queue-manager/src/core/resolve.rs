//! Where a name leads: over aliases and definitions of remote queues to a queue that is here.
//!
//! 1. An alias leads to a local or remote queue, or to a topic, never to another alias.
//! 2. A message for another queue manager goes to a transmission queue.

use std::sync::Arc;

use store::Store;

use super::Core;
use crate::name::ObjectName;
use crate::objects::{Kind, Object};
use crate::queue::{PropertyControl, Queue};
use crate::reason::{Answer, Reason, fail, require};

/// What a name leads to.
#[derive(Clone)]
pub(crate) enum Target {
    /// A local queue.
    Local(Arc<Queue>),
    /// A queue of another queue manager, over a transmission queue.
    Remote { transmission: Arc<Queue>, queue: ObjectName, manager: ObjectName },
    /// A model: a dynamic queue is to be made.
    Model(Arc<Object>),
    /// A topic, by its object.
    Topic(String),
}

/// A name that was resolved.
#[derive(Clone)]
pub(crate) struct Resolved {
    pub(crate) target: Target,
    /// The definition that the name is of, unless it is that of a local queue.
    pub(crate) via: Option<Arc<Object>>,
}

impl Resolved {
    /// The names of the queue and of its queue manager.
    pub(crate) fn names(&self, own: ObjectName) -> (ObjectName, ObjectName) {
        match &self.target {
            Target::Local(queue) => (queue.name, own),
            Target::Remote { queue, manager, .. } => (*queue, *manager),
            Target::Model(_) | Target::Topic(_) => (ObjectName::BLANK, ObjectName::BLANK),
        }
    }

    /// The name by which it is decided who may use it: a queue elsewhere has no definition here, so
    /// a user who may send there may use the way there.
    pub(crate) fn guarded(&self, asked: ObjectName) -> ObjectName {
        match self {
            Resolved { target: Target::Remote { transmission, .. }, via: None } => {
                transmission.name
            }
            _ => asked,
        }
    }

    /// Priority and persistence that the definition has as defaults, if it is not that of a
    /// local queue.
    pub(crate) fn defaults(&self) -> Option<(i32, bool)> {
        let via = self.via.as_ref()?;
        Some((via.number_of("DEFPRTY") as i32, via.is("DEFPSIST", "YES")))
    }

    /// What the definition says of properties.
    pub(crate) fn property_control(&self) -> Option<PropertyControl> {
        let via = self.via.as_ref().filter(|via| via.kind == Kind::QueueAlias)?;
        Some(PropertyControl::of(via))
    }
}

impl<S: Store> Core<S> {
    /// Where the name of a queue at a queue manager leads; `manager` blank: here.
    pub(crate) fn resolve(&self, queue: ObjectName, manager: ObjectName) -> Answer<Resolved> {
        if manager.is_blank() || manager == self.name {
            return self.resolve_here(queue);
        }
        // The name may be an alias of a queue manager.
        let alias = self.object(Kind::QueueRemote, &manager.text());
        if let Some(alias) = alias.filter(|it| it.kind == Kind::QueueRemote)
            && alias.text_of("RNAME").is_empty()
        {
            let manager = ObjectName::from(alias.text_of("RQMNAME"));
            if manager == self.name {
                return self.resolve_here(queue);
            }
            let transmission = self.transmission(alias.text_of("XMITQ").into(), manager)?;
            let target = Target::Remote { transmission, queue, manager };
            return Ok(Resolved { target, via: None });
        }
        let transmission = self.transmission(ObjectName::BLANK, manager)?;
        Ok(Resolved { target: Target::Remote { transmission, queue, manager }, via: None })
    }

    /// The queue for replies that a name without a queue manager means: the name may be an alias,
    /// a definition of a remote queue.
    pub(crate) fn reply_to(&self, queue: ObjectName) -> (ObjectName, ObjectName) {
        let alias = self.object(Kind::QueueLocal, &queue.text());
        match alias.filter(|alias| alias.kind == Kind::QueueRemote) {
            Some(alias) => {
                let (name, manager) = (alias.text_of("RNAME"), alias.text_of("RQMNAME"));
                let named = |text: &str, own| if text.is_empty() { own } else { text.into() };
                (named(name, queue), named(manager, self.name))
            }
            None => (queue, self.name),
        }
    }

    fn resolve_here(&self, name: ObjectName) -> Answer<Resolved> {
        require(!name.is_blank(), Reason::UNKNOWN_OBJECT_NAME)?;
        let Some(object) = self.object(Kind::QueueLocal, &name.text()) else {
            return fail(Reason::UNKNOWN_OBJECT_NAME);
        };
        match object.kind {
            Kind::QueueAlias => self.follow(object),
            Kind::QueueRemote => self.resolve_remote(object),
            Kind::QueueModel => Ok(Resolved { target: Target::Model(object), via: None }),
            _ => {
                let queue = self.queue(&name);
                let Some(queue) = queue else { return fail(Reason::UNKNOWN_OBJECT_NAME) };
                Ok(Resolved { target: Target::Local(queue), via: None })
            }
        }
    }

    fn follow(&self, alias: Arc<Object>) -> Answer<Resolved> {
        let base = alias.text_of("TARGET");
        if alias.is("TARGTYPE", "TOPIC") {
            let known = self.object(Kind::Topic, base).is_some();
            require(known, Reason::UNKNOWN_ALIAS_BASE_Q)?;
            return Ok(Resolved { target: Target::Topic(base.to_owned()), via: Some(alias) });
        }
        let Some(object) = self.object(Kind::QueueLocal, base) else {
            return fail(Reason::UNKNOWN_ALIAS_BASE_Q);
        };
        let target = match object.kind {
            Kind::QueueLocal => match self.queue(&base.into()) {
                Some(queue) => Target::Local(queue),
                None => return fail(Reason::UNKNOWN_ALIAS_BASE_Q),
            },
            Kind::QueueRemote => self.resolve_remote(object)?.target,
            _ => return fail(Reason::ALIAS_BASE_Q_TYPE_ERROR),
        };
        Ok(Resolved { target, via: Some(alias) })
    }

    fn resolve_remote(&self, object: Arc<Object>) -> Answer<Resolved> {
        let queue = ObjectName::from(object.text_of("RNAME"));
        let manager = ObjectName::from(object.text_of("RQMNAME"));
        // Without a name of a queue it stands for a queue manager or a reply-to queue.
        require(!queue.is_blank(), Reason::UNKNOWN_OBJECT_NAME)?;
        if manager == self.name || manager.is_blank() {
            let mut resolved = self.resolve_here_once(queue)?;
            resolved.via = Some(object);
            return Ok(resolved);
        }
        let transmission = self.transmission(object.text_of("XMITQ").into(), manager)?;
        let target = Target::Remote { transmission, queue, manager };
        Ok(Resolved { target, via: Some(object) })
    }

    /// A local queue by its name; definitions do not lead in circles.
    fn resolve_here_once(&self, name: ObjectName) -> Answer<Resolved> {
        match self.queue(&name) {
            Some(queue) => Ok(Resolved { target: Target::Local(queue), via: None }),
            None => fail(Reason::UNKNOWN_REMOTE_Q_MGR),
        }
    }

    /// The transmission queue to a queue manager: the one that a definition names, the one of
    /// the queue manager's name, or the default.
    fn transmission(&self, named: ObjectName, manager: ObjectName) -> Answer<Arc<Queue>> {
        let usable = |name: ObjectName, unknown, kind, usage| {
            let Some(object) = self.object(Kind::QueueLocal, &name.text()) else {
                return fail(unknown);
            };
            require(object.kind == Kind::QueueLocal, kind)?;
            require(object.is("USAGE", "XMITQ"), usage)?;
            self.queue(&name).map_or(fail(unknown), Ok)
        };
        if !named.is_blank() {
            return usable(
                named,
                Reason::UNKNOWN_XMIT_Q,
                Reason::XMIT_Q_TYPE_ERROR,
                Reason::XMIT_Q_USAGE_ERROR,
            );
        }
        if let Some(queue) = self.queue(&manager).filter(|queue| queue.settings().transmission) {
            return Ok(queue);
        }
        let default = self.manager_settings().default_transmission_queue;
        require(!default.is_blank(), Reason::UNKNOWN_REMOTE_Q_MGR)?;
        usable(
            default,
            Reason::UNKNOWN_DEF_XMIT_Q,
            Reason::DEF_XMIT_Q_TYPE_ERROR,
            Reason::DEF_XMIT_Q_USAGE_ERROR,
        )
    }
}
