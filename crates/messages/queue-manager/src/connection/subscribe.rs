//! Subscribing.
//!
//! 1. A subscription that is not durable ends when its handle is closed or its connection ends.
//! 2. A managed subscription has a queue of its own, which goes with it.
//! 3. One handle at a time has a durable subscription.
//! 4. What may be refused is looked at before anything is done; what was done is undone when the
//!    call fails after all.
//! 5. Where publications go, the subscribing user has to be allowed to put.
//! 6. Who has a managed subscription has its queue by that; by its name only who may use queues of
//!    that name.

use std::sync::Arc;

use store::Store;

use super::open::{leave, open_managed, open_queue, read_selector};
use super::session::{Open, OpenQueue, Opened, Session};
use crate::core::{Core, Permission, Subscribed, Work, to_hex};
use crate::descriptor::NO_IDENTIFIER;
use crate::error::AdminError;
use crate::name::{ObjectName, unpadded};
use crate::objects::{Kind, Object, Value};
use crate::options::value::{object_type, open as opening, subscribe as so};
use crate::options::{Handle, ObjectDescriptor, SubscriptionDescriptor};
use crate::reason::{Answer, Failed, Outcome, Reason, fail, require};

/// How the queue of a managed subscription is opened.
const DESTINATION: i32 = opening::INPUT_SHARED | opening::BROWSE | opening::INQUIRE;

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
    let (one, queue) = match there {
        Some(one) if options & (so::RESUME | so::ALTER) != 0 => {
            take_up(session, &one, what, (&user, destination))?
        }
        Some(_) => return fail(Reason::SUB_ALREADY_EXISTS),
        None if options & so::CREATE != 0 => begin(session, what, (&user, destination))?,
        None => return fail(Reason::NO_SUBSCRIPTION),
    };
    // From here on nothing fails.
    one.holder.set_connection(session.client.number);
    what.resolved_object_string.clone_from(&one.topic);
    what.sub_correl_id = one.delivery.correl_id;
    let queue = queue.map(|queue| {
        let serial = session.core.serial();
        let object = Opened::Queue(Box::new(queue));
        let open = Open { serial, options: DESTINATION, user: user.clone(), object };
        session.add(open, one.delivery.queue, object_type::Q)
    });
    let serial = session.core.serial();
    let open = Open { serial, options: 0, user, object: Opened::Subscription(one) };
    let handle = session.add(open, ObjectName::BLANK, object_type::TOPIC);
    Ok((queue, handle, Outcome::OK))
}

/// A subscription that this call has: given back when it fails.
struct Taken<'s>(Option<&'s Subscribed>);

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if let Some(one) = self.0 {
            one.holder.give_back();
        }
    }
}

/// Takes up a subscription that is there, and changes it if that is asked for.
fn take_up<S: Store>(
    session: &Session<S>,
    one: &Subscribed,
    what: &SubscriptionDescriptor,
    (user, destination): (&str, Option<Handle>),
) -> Answer<(Subscribed, Option<OpenQueue>)> {
    let core = &session.core;
    let alters = what.options & so::ALTER != 0;
    session.may(user, Kind::Topic, &one.topic, Permission::Resume)?;
    if alters {
        session.may(user, Kind::Topic, &one.topic, Permission::Subscribe)?;
        may_set_identity(session, what, (user, &one.topic))?;
    }
    let own = !one.holder.fixed_user || one.holder.user == user || core.administers(user);
    require(own, Reason::IDENTITY_MISMATCH)?;
    require(one.holder.take(), Reason::SUBSCRIPTION_IN_USE)?;
    let mut taken = Taken(Some(one));
    // It may have gone since it was found.
    let there = core.topics.lock().named(&one.name).cloned();
    let Some(one) = there.filter(|there| there.id == one.id) else {
        return fail(Reason::NO_SUBSCRIPTION);
    };
    let queue = match destination {
        Some(_) => None,
        None => Some(open_destination(session, &one, user)?),
    };
    let changed = if alters { alter(session, &one, what) } else { Ok(one) };
    match changed {
        Ok(one) => {
            taken.0 = None;
            Ok((one, queue))
        }
        Err(failed) => {
            if let Some(queue) = queue {
                leave(core, &queue, DESTINATION);
            }
            Err(failed)
        }
    }
}

/// Begins a subscription: all of it is there, or nothing.
fn begin<S: Store>(
    session: &mut Session<S>,
    what: &SubscriptionDescriptor,
    (user, destination): (&str, Option<Handle>),
) -> Answer<(Subscribed, Option<OpenQueue>)> {
    let one = create(session, what, destination, user)?;
    let quiet = so::NEW_PUBLICATIONS_ONLY | so::PUBLICATIONS_ON_REQUEST;
    let sent = match what.options & quiet {
        0 => send_retained(session, &one).map(drop),
        _ => Ok(()),
    };
    let opened = sent.and_then(|()| match destination {
        Some(_) => Ok(None),
        None => open_destination(session, &one, user).map(Some),
    });
    match opened {
        Ok(queue) => Ok((one, queue)),
        Err(failed) => {
            // What cannot be removed now can be by its name.
            let _ = session.core.unsubscribe(&one);
            one.holder.give_back();
            Err(failed)
        }
    }
}

/// Who sets what publications say of identity speaks for others.
fn may_set_identity<S: Store>(
    session: &Session<S>,
    what: &SubscriptionDescriptor,
    (user, topic): (&str, &str),
) -> Answer<()> {
    match what.options & so::SET_IDENTITY_CONTEXT {
        0 => Ok(()),
        _ => session.may(user, Kind::Topic, topic, Permission::SetIdentity),
    }
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
    session.may(user, Kind::Topic, &topic, Permission::Subscribe)?;
    may_set_identity(session, what, (user, &topic))?;
    let durable = options & so::DURABLE != 0;
    let attribute = |name| core.topic_attribute(&topic, name);
    require(attribute("SUB").as_deref() != Some("DISABLED"), Reason::SUB_INHIBITED)?;
    let allowed = attribute("DURSUB").as_deref() != Some("NO");
    require(!durable || allowed, Reason::DURABILITY_NOT_ALLOWED)?;
    read_selector(&what.selection_string)?;
    let (queue, managed) = match destination {
        Some(handle) => (provided_queue(session, handle, user)?, None),
        None => {
            let _one_at_a_time = core.definitions.change();
            let queue = core.make_managed_queue(&topic, durable).map_err(admin)?;
            (queue.name, Some(queue))
        }
    };
    let made = make(&core, what, &topic, (user, queue));
    if let (Err(_), Some(queue)) = (&made, managed) {
        // No other connection knows of it yet; if the store fails again, it can be removed by its
        // name.
        let _ = core.remove_queue(&queue);
    }
    made
}

/// The queue of a handle as the destination of a subscription: its user has to be allowed
/// to put there, and nothing may be carried out from there.
fn provided_queue<S: Store>(
    session: &mut Session<S>,
    handle: Handle,
    user: &str,
) -> Answer<ObjectName> {
    let core = Arc::clone(&session.core);
    let queue = session.queue(handle)?;
    let Some(local) = queue.local() else { return fail(Reason::HOBJ_ERROR) };
    let asked = queue.resolved.via.as_ref().map_or(local.name, |via| via.name.as_str().into());
    core.may(user, Kind::QueueLocal, &asked.text(), Permission::Output)?;
    require(!core.is_carried_out(&queue.resolved), Reason::NOT_AUTHORIZED)?;
    Ok(local.name)
}

/// Keeps a new subscription, in the hands of who makes it.
fn make<S: Store>(
    core: &Core<S>,
    what: &SubscriptionDescriptor,
    topic: &str,
    (user, queue): (&str, ObjectName),
) -> Answer<Subscribed> {
    let id = core.new_identifier()?;
    let object =
        definition(what, topic, user, queue, to_hex(&id)).map_err(|_| Failed(Reason::SD_ERROR))?;
    let _one_at_a_time = core.definitions.change();
    // Another connection may have been faster with the name.
    require(core.topics.lock().named(&what.sub_name).is_none(), Reason::SUB_ALREADY_EXISTS)?;
    let one = Arc::new(core.subscription_of(&object).map_err(|_| Failed(Reason::SD_ERROR))?);
    // No other connection knows it yet.
    let _ = one.holder.take();
    if one.durable {
        core.keep(object).map_err(admin)?;
    }
    core.topics.lock().insert(Arc::clone(&one));
    Ok(one)
}

fn admin(error: AdminError) -> Failed {
    match error {
        AdminError::NotFound { kind: Kind::QueueModel, .. } => Failed(Reason::UNKNOWN_OBJECT_NAME),
        AdminError::Call { reason, .. } => Failed(reason),
        AdminError::Store(error) => crate::core::failed(error),
        _ => Failed(Reason::UNEXPECTED_ERROR),
    }
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

/// Changes a durable subscription that the caller has.
fn alter<S: Store>(
    session: &Session<S>,
    one: &Subscribed,
    what: &SubscriptionDescriptor,
) -> Answer<Subscribed> {
    let core = &session.core;
    // Topic and selector stay what they are.
    let other = !what.object_string.is_empty()
        && core.topic_string(&what.object_name.text(), &what.object_string)? != one.topic;
    require(!other, Reason::ALTER_SUB_ERROR)?;
    let _one_at_a_time = core.definitions.change();
    let Some(object) = core.object(Kind::Subscription, &one.name) else {
        return fail(Reason::ALTER_SUB_ERROR);
    };
    let mut object = (*object).clone();
    changeable(&mut object, what).map_err(|_| Failed(Reason::SD_ERROR))?;
    let changed = Arc::new(core.subscription_of(&object).map_err(|_| Failed(Reason::SD_ERROR))?);
    core.keep(object).map_err(admin)?;
    core.topics.lock().insert(Arc::clone(&changed));
    Ok(changed)
}

/// Opens the queue of a subscription for who has that. One that an operator has named a queue for
/// leads there only by the right to that queue.
fn open_destination<S: Store>(
    session: &Session<S>,
    one: &Subscribed,
    user: &str,
) -> Answer<OpenQueue> {
    if let Some(queue) = session.core.managed_queue(one) {
        return open_managed(&queue, DESTINATION);
    }
    let mut what =
        ObjectDescriptor { object_name: one.delivery.queue, ..ObjectDescriptor::default() };
    open_queue(session, &mut what, DESTINATION, user)
}

/// Opens the queue of a managed subscription of one's own, beside other getters of it.
pub(super) fn open_beside<S: Store>(
    session: &mut Session<S>,
    name: &str,
    browses: bool,
) -> Answer<Handle> {
    session.goes_on(true)?;
    session.has_room_for_handle()?;
    let core = Arc::clone(&session.core);
    let Some(one) = core.topics.lock().named(name).cloned() else {
        return fail(Reason::NO_SUBSCRIPTION);
    };
    let user = session.client.options.user.clone();
    require(one.holder.user == user, Reason::IDENTITY_MISMATCH)?;
    // Who may subscribe could make it anew.
    let may = |permission| session.may(&user, Kind::Topic, &one.topic, permission);
    may(Permission::Resume).or_else(|_| may(Permission::Subscribe))?;
    let input = if browses { 0 } else { opening::INPUT_SHARED };
    let options = opening::BROWSE | input;
    let Some(queue) = core.managed_queue(&one) else {
        return fail(Reason::OPTION_NOT_VALID_FOR_TYPE);
    };
    let object = Opened::Queue(Box::new(open_managed(&queue, options)?));
    let open = Open { serial: core.serial(), options, user, object };
    Ok(session.add(open, one.delivery.queue, object_type::Q))
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
