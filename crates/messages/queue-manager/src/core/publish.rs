//! Publications and subscriptions.
//!
//! 1. A publication is one message for each subscription, all in one unit of work.
//! 2. A retained publication waits on a queue of its own, one for each topic string.
//! 3. A durable subscription is a definition; others are in memory only.
//! 4. A publication is never carried out, wherever a subscription has it sent.

use std::sync::Arc;

use store::Store;

use super::work::Retained;
use super::{Core, Work, failed};
use crate::descriptor::{Identifier, NO_IDENTIFIER, value};
use crate::error::AdminError;
use crate::message::Message;
use crate::name::{ObjectName, padded};
use crate::objects::{Kind, Object};
use crate::properties::{self, Properties, PropertyValue};
use crate::queue::{Origin, Place, Queue};
use crate::reason::{Answer, Reason, fail, require};
use crate::selector::Selector;
use crate::topic::{Delivery, Holder, Scheme, Subscription, joined, upward};

/// The queue of retained publications.
pub(crate) const RETAINED: &str = "SYSTEM.RETAINED.PUB.QUEUE";

/// What is to be published.
pub(crate) struct Publication<'p> {
    pub(crate) topic: &'p str,
    pub(crate) message: Message,
    pub(crate) retain: bool,
    pub(crate) level: i32,
    /// The connection whose own subscriptions are left out; 0: none.
    pub(crate) not_own: u64,
}

/// What a subscription is made of.
pub(crate) type Subscribed = Arc<Subscription>;

impl<S: Store> Core<S> {
    /// The value of an attribute of the nearest topic object at or above a topic string that does
    /// not leave it to its parent.
    pub(crate) fn topic_attribute(&self, topic: &str, attribute: &str) -> Option<String> {
        let registry = self.definitions.registry();
        for string in upward(topic) {
            let mut objects = registry.of_space(Kind::Topic);
            let object = objects.find(|object| object.text_of("TOPICSTR") == string);
            let value = object.map(|object| object.text_of(attribute));
            let own = value.filter(|value| !value.is_empty() && *value != "ASPARENT");
            if let Some(value) = own {
                return Some(value.to_owned());
            }
        }
        None
    }

    /// The whole topic string of a topic object and a string behind it.
    pub(crate) fn topic_string(&self, object: &str, string: &str) -> Answer<String> {
        let above = if object.is_empty() {
            String::new()
        } else {
            let Some(object) = self.object(Kind::Topic, object) else {
                return fail(Reason::UNKNOWN_OBJECT_NAME);
            };
            object.text_of("TOPICSTR").to_owned()
        };
        require(!object.is_empty() || !string.is_empty(), Reason::TOPIC_STRING_ERROR)?;
        let whole = joined(&above, string);
        require(whole.len() <= 10_240, Reason::TOPIC_STRING_ERROR)?;
        Ok(whole)
    }

    /// Publishes in a unit of work. Answers how many subscriptions received it.
    pub(crate) fn publish(&self, work: &mut Work<S>, what: &Publication<'_>) -> Answer<usize> {
        let enabled = self.topic_attribute(what.topic, "PUB");
        require(enabled.as_deref() != Some("DISABLED"), Reason::PUT_INHIBITED)?;
        let matching = self.topics.lock().matching(what.topic);
        let own = |one: &Subscription| what.not_own != 0 && one.holder.connection() == what.not_own;
        let persistent = what.message.descriptor.is_persistent();
        let (attribute, usual) =
            if persistent { ("PMSGDLV", "ALLDUR") } else { ("NPMSGDLV", "ALLAVAIL") };
        let delivery = self.topic_attribute(what.topic, attribute);
        let delivery = delivery.as_deref().unwrap_or(usual);
        let mark = work.mark();
        let mut count = 0;
        for one in matching {
            let level = one.level <= what.level;
            let selected = one.selector.as_ref().is_none_or(|it| it.selects(&what.message));
            if one.on_request || own(&one) || !level || !selected {
                continue;
            }
            match self.deliver(work, &one, what, false) {
                Ok(()) => count += 1,
                Err(_) if delivery == "ALLAVAIL" || (delivery == "ALLDUR" && !one.durable) => {}
                Err(_) => {
                    work.undo_to(mark);
                    work.goes_on()?;
                    return fail(Reason::PUBLICATION_FAILURE);
                }
            }
        }
        if what.retain
            && let Err(failed) = self.put_retained(work, what)
        {
            work.undo_to(mark);
            return Err(failed);
        }
        // One that need not be delivered may have cost the unit of work all the same.
        work.goes_on()?;
        Ok(count)
    }

    /// Puts a publication on the queue of a subscription.
    fn deliver(
        &self,
        work: &mut Work<S>,
        to: &Subscription,
        what: &Publication<'_>,
        retained: bool,
    ) -> Answer<()> {
        let resolved = self.resolve(to.delivery.queue, to.delivery.manager)?;
        let mut message = what.message.clone();
        self.describe(&mut message, &to.delivery, what.topic, retained)?;
        if let super::Target::Local(queue) = &resolved.target {
            // A queue that goes with its reader keeps nothing over a restart.
            if queue.settings().origin == Origin::TemporaryDynamic {
                message.descriptor.persistence = value::persistence::NOT_PERSISTENT;
            }
            if to.delivery.priority == value::priority::AS_Q_DEF {
                message.descriptor.priority = queue.settings().priority;
            }
        }
        let sent = self.send_unasked(work, &resolved, message.clone());
        if let Err(failed) = sent {
            let dead = self.topic_attribute(what.topic, "USEDLQ");
            require(dead.as_deref() != Some("NO"), failed.0)?;
            let at = (to.delivery.queue, to.delivery.manager);
            self.dead_letter(work, message, at, failed.0)?;
        }
        to.holder.count();
        Ok(())
    }

    /// Makes a message out of a publication for one subscription.
    fn describe(
        &self,
        message: &mut Message,
        to: &Delivery,
        topic: &str,
        retained: bool,
    ) -> Answer<()> {
        let split = properties::split(&message.descriptor, &message.data).ok().flatten();
        let mut all = Properties::default();
        if let Some(split) = split {
            all = split.properties;
            message.descriptor.format = split.format;
            message.descriptor.ccsid = split.ccsid;
            message.descriptor.encoding = split.encoding;
            let body = message.data.split_off(split.data_at);
            message.data = split.remainder;
            if !message.data.is_empty() {
                message.descriptor.format = value::format::RF_HEADER_2;
            }
            message.data.extend_from_slice(&body);
        }
        all.set("mqps.Top", PropertyValue::String(topic.to_owned()))?;
        if !to.user_data.is_empty() {
            all.set("mqps.Sud", PropertyValue::String(to.user_data.clone()))?;
        }
        if retained {
            all.set("mqps.Ret", PropertyValue::Boolean(true))?;
        }
        let mut data = properties::write(&all, &mut message.descriptor);
        data.append(&mut message.data);
        message.data = data;
        let descriptor = &mut message.descriptor;
        descriptor.msg_id = self.new_identifier()?;
        descriptor.correl_id = to.correl_id;
        if to.priority >= 0 {
            descriptor.priority = to.priority;
        }
        if to.accounting_token != [0; 32] {
            descriptor.accounting_token = to.accounting_token;
        }
        if to.identity_data != [b' '; 32] {
            descriptor.appl_identity_data = to.identity_data;
        }
        Ok(())
    }

    fn retained_queue(&self) -> Answer<Arc<Queue>> {
        self.queue(&ObjectName::from(RETAINED)).map_or(fail(Reason::UNKNOWN_OBJECT_NAME), Ok)
    }

    fn put_retained(&self, work: &mut Work<S>, what: &Publication<'_>) -> Answer<()> {
        let queue = self.retained_queue()?;
        let before = self.topics.lock().retained(what.topic);
        if let Some(before) = before {
            // If another publisher replaces it at this moment, the last one to commit stays.
            let _ = self.move_in(work, &queue, before, |_, _, _| Ok(()));
        }
        let mut message = what.message.clone();
        let (mut all, mut body) = (Properties::default(), std::mem::take(&mut message.data));
        all.set("mqps.Top", PropertyValue::String(what.topic.to_owned()))?;
        // The publication stands whole behind a header of its own.
        message.data = properties::write(&all, &mut message.descriptor);
        message.data.append(&mut body);
        message.descriptor.msg_id = self.new_identifier()?;
        let at = work.stage(self, &queue, message)?;
        work.retained.push(Retained { topic: what.topic.to_owned(), at });
        Ok(())
    }

    /// Retained publications are committed.
    pub(super) fn retain(&self, which: Vec<Retained>) {
        for one in which {
            let replaced = self.topics.lock().retain(one.topic, one.at);
            if let Some(at) = replaced.filter(|at| *at != one.at)
                && let Ok(queue) = self.retained_queue()
            {
                // Two were retained at the same time: the older one goes.
                let mut work = Work::quiet(self);
                let moved = self.move_in(&mut work, &queue, at, |_, _, _| Ok(()));
                if moved.is_ok() {
                    let _ = work.commit(self);
                }
            }
        }
    }

    /// Finds the retained publications after a restart.
    pub(crate) fn find_retained(&self) -> Answer<()> {
        let Ok(queue) = self.retained_queue() else { return Ok(()) };
        // What a branch that is prepared replaces is retained until it has been decided about.
        let places = queue.state.lock().index.committed_places();
        for at in places {
            if let Some((topic, _)) = self.read_retained(&queue, at)? {
                self.topics.lock().retain(topic, at);
            }
        }
        Ok(())
    }

    /// A retained publication and its topic string; `None` if it is none, or is damaged.
    fn read_retained(&self, queue: &Queue, at: Place) -> Answer<Option<(String, Message)>> {
        let volatile = queue.state.lock().index.volatile(at);
        let message = match volatile {
            Some(message) => Some((*message).clone()),
            None => self.read_or_set_aside(queue, at).map_err(failed)?,
        };
        let Some(mut message) = message else { return Ok(None) };
        // Programs may put there what is no publication.
        let split = properties::split(&message.descriptor, &message.data).ok().flatten();
        let Some(split) = split else { return Ok(None) };
        let Some(PropertyValue::String(topic)) = split.properties.get("mqps.Top").cloned() else {
            return Ok(None);
        };
        message.descriptor.format = split.format;
        message.descriptor.ccsid = split.ccsid;
        message.descriptor.encoding = split.encoding;
        message.data.drain(..split.data_at);
        Ok(Some((topic, message)))
    }

    /// Sends a subscription the retained publications it is for. Answers how many.
    pub(crate) fn send_retained(&self, work: &mut Work<S>, to: &Subscription) -> Answer<usize> {
        let Ok(queue) = self.retained_queue() else { return Ok(0) };
        let which = self.topics.lock().retained_for(&to.topic, to.scheme);
        let mut count = 0;
        for (topic, at) in which {
            let Some((_, message)) = self.read_retained(&queue, at)? else { continue };
            let selected = to.selector.as_ref().is_none_or(|it| it.selects(&message));
            if selected {
                let what =
                    Publication { topic: &topic, message, retain: false, level: 9, not_own: 0 };
                self.deliver(work, to, &what, true)?;
                count += 1;
            }
        }
        Ok(count)
    }

    /// Removes the retained publication of a topic string.
    pub(crate) fn clear_retained(&self, topic: &str) -> Answer<bool> {
        let queue = self.retained_queue()?;
        let Some(at) = self.topics.lock().retained(topic) else { return Ok(false) };
        let mut work = Work::quiet(self);
        if let Err(why) = self.move_in(&mut work, &queue, at, |_, _, _| Ok(())) {
            // One that a unit of work has may come back; one that a program got is gone.
            if why.0 != Reason::NO_MSG_AVAILABLE || queue.state.lock().index.has(at) {
                return Err(why);
            }
            self.topics.lock().forget_retained(topic, at);
            return Ok(false);
        }
        work.commit(self)?;
        // While it is there it is known; what has replaced it stays.
        self.topics.lock().forget_retained(topic, at);
        Ok(true)
    }

    /// A subscription as its definition says.
    pub(crate) fn subscription_of(&self, object: &Object) -> Result<Subscription, AdminError> {
        let refused = |why: String| AdminError::Refused {
            kind: Kind::Subscription,
            name: object.name.clone(),
            why,
        };
        let selector = Selector::read(object.text_of("SELECTOR"))
            .map_err(|bad| refused(format!("SELECTOR: {bad}")))?;
        let topic = self
            .topic_string(object.text_of("TOPICOBJ"), object.text_of("TOPICSTR"))
            .map_err(|_| refused("there is no such topic".into()))?;
        let scheme = if object.is("WSCHEMA", "CHAR") { Scheme::Characters } else { Scheme::Topic };
        let expiry: Option<u64> = object.text_of("EXPIRY").parse().ok();
        let priority = match object.text_of("PUBPRTY") {
            "ASQDEF" => value::priority::AS_Q_DEF,
            number => number.parse().unwrap_or(value::priority::AS_PUBLISHED),
        };
        let id = from_hex(object.text_of("SUBID"));
        let correl_id = from_hex(object.text_of("DESTCORL"));
        let before = self.topics.lock().named(&object.name).cloned();
        Ok(Subscription {
            id,
            name: object.name.clone(),
            topic,
            scheme,
            selector,
            durable: object.is("DURABLE", "YES"),
            managed: object.is("DESTCLAS", "MANAGED"),
            on_request: object.is("REQONLY", "YES"),
            level: object.number_of("SUBLEVEL") as i32,
            expires_ms: expiry.map_or(0, |tenths| self.now_ms() + tenths * 100),
            delivery: Delivery {
                queue: object.text_of("DEST").into(),
                manager: object.text_of("DESTQMGR").into(),
                correl_id: if correl_id == NO_IDENTIFIER { id } else { correl_id },
                user_data: object.text_of("USERDATA").to_owned(),
                priority,
                accounting_token: token_from_hex(object.text_of("PUBACCT")),
                identity_data: padded(object.text_of("PUBAPPID")),
            },
            holder: Holder::new(
                object.text_of("SUBUSER"),
                object.is("VARUSER", "FIXED"),
                before.as_ref().map(|one| &one.holder),
            ),
        })
    }

    /// Reads the durable subscriptions after a restart.
    pub(crate) fn find_subscriptions(&self) -> Result<(), AdminError> {
        let objects: Vec<_> =
            self.definitions.registry().of_space(Kind::Subscription).cloned().collect();
        for object in objects {
            let one = self.subscription_of(&object)?;
            self.topics.lock().insert(Arc::new(one));
        }
        Ok(())
    }

    /// Removes a subscription, with its definition and its queue where they are its own.
    pub(crate) fn unsubscribe(&self, one: &Subscription) -> Result<(), AdminError> {
        self.topics.lock().remove(&one.id);
        if one.durable
            && let Some(object) = self.object(Kind::Subscription, &one.name)
        {
            self.discard(&object)?;
        }
        if let Some(queue) = self.managed_queue(one) {
            self.remove_queue(&queue)?;
        }
        Ok(())
    }

    /// The queue of a managed subscription, made from the model of its topic, while the caller has
    /// it that nobody else changes definitions.
    pub(crate) fn make_managed_queue(
        &self,
        topic: &str,
        durable: bool,
    ) -> Result<Arc<Queue>, AdminError> {
        let (attribute, usual, prefix) = if durable {
            ("MDURMDL", "SYSTEM.DURABLE.MODEL.QUEUE", "SYSTEM.MANAGED.DURABLE.")
        } else {
            ("MNDURMDL", "SYSTEM.NDURABLE.MODEL.QUEUE", "SYSTEM.MANAGED.NDURABLE.")
        };
        let model = self.topic_attribute(topic, attribute).unwrap_or_else(|| usual.to_owned());
        let Some(model) = self.object(Kind::QueueModel, &model) else {
            return Err(AdminError::NotFound { kind: Kind::QueueModel, name: model });
        };
        let number = self.bodies.number()?;
        self.make_dynamic_meanwhile(&model, &format!("{prefix}{number:016X}"))
    }

    /// The queue that was made for a subscription; one that an operator has named is none.
    pub(crate) fn managed_queue(&self, one: &Subscription) -> Option<Arc<Queue>> {
        let queue = self.queue(&one.delivery.queue).filter(|_| one.managed)?;
        (queue.settings().origin != Origin::Defined).then_some(queue)
    }

    /// Removes subscriptions whose time is over.
    pub(crate) fn expire_subscriptions(&self) {
        let now = self.now_ms();
        let over: Vec<_> = {
            let topics = self.topics.lock();
            let over = topics.iter().filter(|one| one.expires_ms != 0 && one.expires_ms <= now);
            over.cloned().collect()
        };
        for one in over {
            // If the store fails, the next scan tries again after a restart.
            let _ = self.unsubscribe(&one);
        }
    }
}

/// An identifier that is written in hexadecimal digits; what is none is no identifier.
pub(crate) fn from_hex(text: &str) -> Identifier {
    base::hex::array(text).unwrap_or(NO_IDENTIFIER)
}

fn token_from_hex(text: &str) -> [u8; 32] {
    base::hex::array(text).unwrap_or([0; 32])
}

/// Bytes in hexadecimal digits.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    base::hex::upper(bytes)
}
