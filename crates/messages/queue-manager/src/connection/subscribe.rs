//! Subscribing.
//!
//! 1. A subscription that is not durable ends when its handle is closed or its connection ends.
//! 2. A managed subscription has a queue of its own, which goes with it.
//! 3. One handle at a time has a durable subscription.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use store::Store;

use super::open::{open_queue, read_selector};
use super::session::{Open, Opened, Session};
use crate::core::{Subscribed, Wish, Work, to_hex};
use crate::descriptor::NO_IDENTIFIER;
use crate::error::AdminError;
use crate::name::{ObjectName, unpadded};
use crate::objects::{Kind, Object, Value};
use crate::options::value::{object_type, open as opening, subscribe as so};
use crate::options::{Handle, ObjectDescriptor, SubscriptionDescriptor};
use crate::reason::{Answer, Failed, Outcome, Reason, fail, require};

pub(super) fn subscribe<S: Store>(
    session: &mut Session<S>,
    what: &mut SubscriptionDescriptor,
    destination: Option<Handle>,
) -> Answer<(Option<Handle>, Handle, Outcome)> {
    session.goes_on(what.options & so::FAIL_IF_QUIESCING != 0)?;
    check(what, destination)?;
    session.has_room_for_handle()?;
    let alternate = what.options & so::ALTERNATE_USER_AUTHORITY != 0;
    let user = session.user(&what.alternate_user_id, alternate)?;
    let there = if what.sub_name.is_empty() {
        None
    } else {
        session.core.topics.lock().named(&what.sub_name).cloned()
    };
    let options = what.options;
    let (one, new) = match there {
        Some(one) if options & (so::RESUME | so::ALTER) != 0 => {
            if options & so::ALTER != 0 {
                (alter(session, &one, what)?, false)
            } else {
                (one, false)
            }
        }
        Some(_) => return fail(Reason::SUB_ALREADY_EXISTS),
        None if options & so::CREATE != 0 => (create(session, what, destination, &user)?, true),
        None => return fail(Reason::NO_SUBSCRIPTION),
    };
    let free = !one.in_use.swap(true, Ordering::AcqRel);
    require(free, Reason::SUBSCRIPTION_IN_USE)?;
    session.core.may(&user, Kind::Topic, &one.topic, Wish::Resume)?;
    one.connection.store(session.client.number, Ordering::Relaxed);
    what.resolved_object_string.clone_from(&one.topic);
    what.sub_correl_id = one.correl_id;
    let quiet = options & (so::NEW_PUBLICATIONS_ONLY | so::PUBLICATIONS_ON_REQUEST) != 0;
    if new && !quiet {
        send_retained(session, &one)?;
    }
    let queue = match destination {
        Some(_) => None,
        None => Some(open_destination(session, &one, &user)?),
    };
    let object = Opened::Subscription(Arc::clone(&one));
    let serial = session.core.serial();
    let open = Open { serial, options: 0, user, object };
    let handle = session.add(open, ObjectName::BLANK, object_type::TOPIC);
    Ok((queue, handle, Outcome::OK))
}

fn check(what: &SubscriptionDescriptor, destination: Option<Handle>) -> Answer<()> {
    let options = what.options;
    require(options & !so::ALL == 0, Reason::OPTIONS_ERROR)?;
    require(options & (so::CREATE | so::RESUME | so::ALTER) != 0, Reason::OPTIONS_ERROR)?;
    let schemes = so::WILDCARD_CHAR | so::WILDCARD_TOPIC;
    require(options & schemes != schemes, Reason::OPTIONS_ERROR)?;
    let managed = options & so::MANAGED != 0;
    let creates = options & so::CREATE != 0;
    require(!managed || destination.is_none(), Reason::HOBJ_ERROR)?;
    require(!creates || managed || destination.is_some(), Reason::HOBJ_ERROR)?;
    let durable = options & so::DURABLE != 0;
    require(!durable || !what.sub_name.is_empty(), Reason::SUB_NAME_ERROR)?;
    require(what.sub_name.len() <= 10_240, Reason::SUB_NAME_ERROR)?;
    require(what.sub_user_data.len() <= 10_240, Reason::SUB_USER_DATA_ERROR)?;
    require(what.sub_expiry > 0 || what.sub_expiry == -1, Reason::EXPIRY_ERROR)?;
    require((-3..=9).contains(&what.pub_priority), Reason::PRIORITY_ERROR)?;
    require((0..=9).contains(&what.sub_level), Reason::SD_ERROR)
}

/// Makes a subscription.
fn create<S: Store>(
    session: &mut Session<S>,
    what: &SubscriptionDescriptor,
    destination: Option<Handle>,
    user: &str,
) -> Answer<Subscribed> {
    let options = what.options;
    let core = Arc::clone(&session.core);
    let topic = core.topic_string(&what.object_name.text(), &what.object_string)?;
    core.may(user, Kind::Topic, &topic, Wish::Subscribe)?;
    let durable = options & so::DURABLE != 0;
    let attribute = |name| core.topic_attribute(&topic, name);
    require(attribute("SUB").as_deref() != Some("DISABLED"), Reason::SUB_INHIBITED)?;
    let allowed = attribute("DURSUB").as_deref() != Some("NO");
    require(!durable || allowed, Reason::DURABILITY_NOT_ALLOWED)?;
    read_selector(&what.selection_string)?;
    let queue = match destination {
        Some(handle) => {
            let open = session.open(handle)?;
            let Opened::Queue(queue) = &open.object else { return fail(Reason::HOBJ_ERROR) };
            let Some(local) = queue.local() else { return fail(Reason::HOBJ_ERROR) };
            local.name
        }
        None => managed_queue(session, &topic, durable)?,
    };
    let id = core.new_identifier()?;
    let object =
        definition(what, &topic, user, queue, to_hex(&id)).map_err(|_| Failed(Reason::SD_ERROR))?;
    let one = Arc::new(core.subscription_of(&object).map_err(|_| Failed(Reason::SD_ERROR))?);
    if durable {
        let _one_at_a_time = core.administration.lock();
        core.keep(object).map_err(admin)?;
    }
    core.topics.lock().insert(Arc::clone(&one));
    Ok(one)
}

fn admin(error: AdminError) -> Failed {
    match error {
        AdminError::Store(error) => crate::core::failed(error),
        _ => Failed(Reason::UNEXPECTED_ERROR),
    }
}

/// The queue of a managed subscription, made from the model of its topic.
fn managed_queue<S: Store>(session: &Session<S>, topic: &str, durable: bool) -> Answer<ObjectName> {
    let core = &session.core;
    let (attribute, usual, prefix) = if durable {
        ("MDURMDL", "SYSTEM.DURABLE.MODEL.QUEUE", "SYSTEM.MANAGED.DURABLE.")
    } else {
        ("MNDURMDL", "SYSTEM.NDURABLE.MODEL.QUEUE", "SYSTEM.MANAGED.NDURABLE.")
    };
    let model = core.topic_attribute(topic, attribute).unwrap_or_else(|| usual.to_owned());
    let Some(model) = core.object(Kind::QueueModel, &model) else {
        return fail(Reason::UNKNOWN_OBJECT_NAME);
    };
    let number = core.bodies.number().map_err(crate::core::failed)?;
    let name = format!("{prefix}{number:016X}");
    Ok(core.make_dynamic(&model, &name).map_err(admin)?.name)
}

/// The subscription as a definition.
fn definition(
    what: &SubscriptionDescriptor,
    topic: &str,
    user: &str,
    queue: ObjectName,
    id: String,
) -> Result<Object, crate::objects::BadValue> {
    let options = what.options;
    let word = |option: i32, yes: &str, no: &str| {
        Value::Text(if options & option != 0 { yes } else { no }.to_owned())
    };
    let mut object = Object::new(Kind::Subscription, &what.sub_name);
    object.set("TOPICSTR", &Value::Text(topic.to_owned()))?;
    object.set("DEST", &Value::Text(queue.text()))?;
    object.set("DESTCLAS", &word(so::MANAGED, "MANAGED", "PROVIDED"))?;
    object.set("WSCHEMA", &word(so::WILDCARD_CHAR, "CHAR", "TOPIC"))?;
    object.set("DURABLE", &word(so::DURABLE, "YES", "NO"))?;
    object.set("REQONLY", &word(so::PUBLICATIONS_ON_REQUEST, "YES", "NO"))?;
    object.set("VARUSER", &word(so::FIXED_USERID, "FIXED", "ANY"))?;
    object.set("SUBTYPE", &"API".into())?;
    object.set("SUBID", &Value::Text(id))?;
    object.set("SUBUSER", &Value::Text(user.to_owned()))?;
    changeable(&mut object, what)?;
    object.set("SELECTOR", &Value::Text(what.selection_string.clone()))?;
    Ok(object)
}

/// What may differ when a subscription is altered.
fn changeable(
    object: &mut Object,
    what: &SubscriptionDescriptor,
) -> Result<(), crate::objects::BadValue> {
    if what.options & so::SET_CORREL_ID != 0 && what.sub_correl_id != NO_IDENTIFIER {
        object.set("DESTCORL", &Value::Text(to_hex(&what.sub_correl_id)))?;
    }
    let expiry = match what.sub_expiry {
        -1 => "UNLIMITED".to_owned(),
        tenths => tenths.to_string(),
    };
    object.set("EXPIRY", &Value::Text(expiry))?;
    object.set("SUBLEVEL", &Value::Number(i64::from(what.sub_level)))?;
    object.set("USERDATA", &Value::Text(what.sub_user_data.clone()))?;
    let priority = match what.pub_priority {
        -1 => "ASQDEF".to_owned(),
        priority if priority < 0 => "ASPUB".to_owned(),
        priority => priority.to_string(),
    };
    object.set("PUBPRTY", &Value::Text(priority))?;
    if what.options & so::SET_IDENTITY_CONTEXT != 0 {
        object.set("PUBACCT", &Value::Text(to_hex(&what.pub_accounting_token)))?;
        object.set("PUBAPPID", &Value::Text(unpadded(&what.pub_appl_identity_data)))?;
    }
    Ok(())
}

/// Changes a durable subscription.
fn alter<S: Store>(
    session: &Session<S>,
    one: &Subscribed,
    what: &SubscriptionDescriptor,
) -> Answer<Subscribed> {
    let core = &session.core;
    require(!one.in_use.load(Ordering::Acquire), Reason::SUBSCRIPTION_IN_USE)?;
    let Some(object) = core.object(Kind::Subscription, &one.name) else {
        return fail(Reason::ALTER_SUB_ERROR);
    };
    // Topic and selector stay what they are.
    let other = !what.object_string.is_empty()
        && core.topic_string(&what.object_name.text(), &what.object_string)? != one.topic;
    require(!other, Reason::ALTER_SUB_ERROR)?;
    let mut object = (*object).clone();
    changeable(&mut object, what).map_err(|_| Failed(Reason::SD_ERROR))?;
    let changed = Arc::new(core.subscription_of(&object).map_err(|_| Failed(Reason::SD_ERROR))?);
    let _one_at_a_time = core.administration.lock();
    core.keep(object).map_err(admin)?;
    core.topics.lock().insert(Arc::clone(&changed));
    Ok(changed)
}

fn open_destination<S: Store>(
    session: &mut Session<S>,
    one: &Subscribed,
    user: &str,
) -> Answer<Handle> {
    let mut what = ObjectDescriptor { object_name: one.queue, ..ObjectDescriptor::default() };
    let options = opening::INPUT_SHARED | opening::BROWSE | opening::INQUIRE;
    let queue = open_queue(session, &mut what, options, user)?;
    let serial = session.core.serial();
    let object = Opened::Queue(Box::new(queue));
    let open = Open { serial, options, user: user.to_owned(), object };
    Ok(session.add(open, one.queue, object_type::Q))
}

fn send_retained<S: Store>(session: &Session<S>, one: &Subscribed) -> Answer<usize> {
    let core = &session.core;
    let mut work = Work::new(core);
    match core.send_retained(&mut work, one) {
        Ok(count) => {
            work.commit(core)?;
            Ok(count)
        }
        Err(failed) => {
            work.back(core);
            Err(failed)
        }
    }
}

/// Sends a subscription its retained publications.
pub(super) fn request<S: Store>(
    session: &mut Session<S>,
    handle: Handle,
    action: i32,
) -> Answer<i32> {
    session.goes_on(false)?;
    require(action == 1, Reason::SRO_ERROR)?;
    let one = match &session.open(handle)?.object {
        Opened::Subscription(one) => Arc::clone(one),
        _ => return fail(Reason::HOBJ_ERROR),
    };
    let count = send_retained(session, &one)?;
    require(count > 0, Reason::NO_RETAINED_MSG)?;
    Ok(i32::try_from(count).unwrap_or(i32::MAX))
}
