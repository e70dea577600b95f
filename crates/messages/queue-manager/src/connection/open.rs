//! Opening and closing.
//!
//! 1. Who opens is checked once, for each thing that the options ask for. The queue of a managed
//!    subscription is opened for the handle that has that, by no other right.
//! 2. A dynamic queue is made before it is opened; a temporary one goes when the handle that made
//!    it is closed.
//! 3. Who may have nothing carried out makes no dynamic queue from which things are carried out.

use std::collections::BTreeSet;
use std::sync::Arc;

use store::Store;

use super::session::{Course, Open, OpenQueue, Opened, Session};
use crate::core::{Core, Permission, Resolved, Target};
use crate::error::AdminError;
use crate::name::ObjectName;
use crate::objects::{Kind, Object};
use crate::options::value::{close as closing, object_type, open as opening};
use crate::options::{Handle, ObjectDescriptor};
use crate::queue::{Origin, Queue};
use crate::reason::{Answer, Completion, Failed, Outcome, Reason, fail, require};
use crate::selector::Selector;

/// Bytes of the longest selector.
const SELECTOR_BYTES_MAX: usize = 10_240;

/// Opens an object.
pub(super) fn open<S: Store>(
    session: &mut Session<S>,
    what: &mut ObjectDescriptor,
    options: i32,
) -> Answer<(Handle, Outcome)> {
    session.goes_on(options & opening::FAIL_IF_QUIESCING != 0)?;
    check(options)?;
    session.has_room_for_handle()?;
    let alternate = options & opening::ALTERNATE_USER_AUTHORITY != 0;
    let user = session.user(&what.alternate_user_id, alternate)?;
    if !what.records.is_empty() {
        return open_list(session, what, options, &user);
    }
    match what.object_type {
        object_type::Q => {
            let name = what.object_name;
            let opened = open_queue(session, what, options, &user)?;
            let shown = if let Some(queue) = opened.local() { queue.name } else { name };
            let topic = match &opened.resolved.target {
                Target::Topic(object) => Some(object.clone()),
                _ => None,
            };
            let object = match topic {
                Some(object) => Opened::Topic(session.core.topic_string(&object, "")?),
                None => Opened::Queue(Box::new(opened)),
            };
            Ok((add(session, object, options, user, shown, object_type::Q), Outcome::OK))
        }
        object_type::TOPIC => open_topic(session, what, options, user),
        object_type::PROCESS => open_other(session, Kind::Process, what, options, user),
        object_type::NAMELIST => open_other(session, Kind::Namelist, what, options, user),
        object_type::Q_MGR => open_other(session, Kind::QueueManager, what, options, user),
        _ => fail(Reason::OBJECT_TYPE_ERROR),
    }
}

fn add<S: Store>(
    session: &mut Session<S>,
    object: Opened,
    options: i32,
    user: String,
    name: ObjectName,
    kind: i32,
) -> Handle {
    let serial = session.core.serial();
    session.add(Open { serial, options, user, object }, name, kind)
}

fn check(options: i32) -> Answer<()> {
    require(options & !opening::ALL == 0, Reason::OPTIONS_ERROR)?;
    let at_most_one = |of: i32| (options & of).count_ones() <= 1;
    let binding = opening::BIND_ON_OPEN | opening::BIND_NOT_FIXED | opening::BIND_ON_GROUP;
    let ahead = opening::READ_AHEAD | opening::NO_READ_AHEAD;
    let sane = at_most_one(opening::ANY_INPUT) && at_most_one(binding) && at_most_one(ahead);
    let any =
        opening::ANY_INPUT | opening::BROWSE | opening::OUTPUT | opening::INQUIRE | opening::SET;
    // Context can only be set by who puts, and only be saved by who gets.
    let context = options & opening::ANY_CONTEXT == 0 || options & opening::OUTPUT != 0;
    let saved = options & opening::SAVE_ALL_CONTEXT == 0 || options & opening::ANY_INPUT != 0;
    let all = sane && options & any != 0 && context && saved;
    require(all, Reason::OPTIONS_ERROR)
}

fn authorize<S: Store>(
    session: &Session<S>,
    user: &str,
    (kind, name): (Kind, &str),
    options: i32,
) -> Answer<()> {
    let permissions = [
        (opening::ANY_INPUT, Permission::Input),
        (opening::BROWSE, Permission::Browse),
        (opening::OUTPUT, Permission::Output),
        (opening::INQUIRE, Permission::Inquire),
        (opening::SET, Permission::Set),
        (opening::PASS_IDENTITY_CONTEXT, Permission::PassIdentity),
        (opening::PASS_ALL_CONTEXT, Permission::PassAll),
        (opening::SET_IDENTITY_CONTEXT, Permission::SetIdentity),
        (opening::SET_ALL_CONTEXT, Permission::SetAll),
    ];
    let mut asked = permissions.into_iter().filter(|(option, _)| options & option != 0);
    asked.try_for_each(|(_, permission)| match (kind, permission) {
        (Kind::Topic, Permission::Output) => session.may(user, kind, name, Permission::Publish),
        _ => session.may(user, kind, name, permission),
    })
}

/// Opens a queue, without a handle for it yet.
pub(super) fn open_queue<S: Store>(
    session: &Session<S>,
    what: &mut ObjectDescriptor,
    options: i32,
    user: &str,
) -> Answer<OpenQueue> {
    let core = &session.core;
    let resolved = core.resolve(what.object_name, what.object_q_mgr_name)?;
    let name = resolved.guarded(what.object_name);
    authorize(session, user, (Kind::QueueLocal, &name.text()), options)?;
    if let Target::Topic(object) = &resolved.target {
        // Who may use the alias is no publisher by that alone.
        let topic = core.topic_string(object, "")?;
        let puts = opening::OUTPUT | opening::ANY_CONTEXT;
        authorize(session, user, (Kind::Topic, &topic), options & puts)?;
    }
    let commands = session.client.options.may_command && options & opening::NOT_CARRIED_OUT == 0;
    let carried_out = options & opening::OUTPUT != 0 && core.is_carried_out(&resolved);
    require(commands || !carried_out, Reason::NOT_AUTHORIZED)?;
    let selector = read_selector(&what.selection_string)?;
    let (resolved, made_it) = match &resolved.target {
        Target::Model(model) => {
            let queue = make_dynamic(session, model, what, commands)?;
            (Resolved { target: Target::Local(queue), via: None }, true)
        }
        _ => (resolved, false),
    };
    let (queue_name, manager_name) = resolved.names(core.name);
    what.resolved_q_name = queue_name;
    what.resolved_q_mgr_name = manager_name;
    what.resolved_type = match resolved.target {
        Target::Topic(_) => object_type::TOPIC,
        _ => object_type::Q,
    };
    enter(Way { resolved, selector, made_it, commands }, options)
}

/// Opens the queue of a managed subscription for who has that: no right to queues counts there.
pub(super) fn open_managed(queue: &Arc<Queue>, options: i32) -> Answer<OpenQueue> {
    let resolved = Resolved { target: Target::Local(Arc::clone(queue)), via: None };
    enter(Way { resolved, selector: None, made_it: false, commands: false }, options)
}

/// What a name has led to, for a user who may go there.
struct Way {
    resolved: Resolved,
    selector: Option<Selector>,
    /// It is a dynamic queue that was made for this.
    made_it: bool,
    /// What is put there may be carried out.
    commands: bool,
}

fn enter(way: Way, options: i32) -> Answer<OpenQueue> {
    let Way { resolved, selector, made_it, commands } = way;
    let local = matches!(resolved.target, Target::Local(_));
    let reads = options & (opening::ANY_INPUT | opening::BROWSE) != 0;
    let remote_definition = resolved.via.as_ref().is_some_and(|via| via.kind == Kind::QueueRemote);
    if (reads && (!local || remote_definition)) || (options & opening::SET != 0 && !local) {
        return fail(Reason::OPTION_NOT_VALID_FOR_TYPE);
    }
    let mut opened = OpenQueue {
        resolved,
        selector,
        input: options & opening::ANY_INPUT != 0,
        cursor: None,
        locked: None,
        locked_descriptor: None,
        marked: BTreeSet::new(),
        putting: Course::default(),
        getting: Course::default(),
        browsing: None,
        group_at: None,
        context: None,
        commands,
        made_it,
        created: made_it,
    };
    if let Some(queue) = opened.counted() {
        let settings = queue.settings();
        let exclusive = options & opening::INPUT_EXCLUSIVE != 0
            || (options & opening::INPUT_AS_Q_DEF != 0 && settings.default_exclusive)
            || !settings.shareable;
        queue.enter(opened.input, options & opening::OUTPUT != 0, exclusive)?;
    }
    opened.made_it = made_it && opened.local().is_some_and(|queue| is_temporary(queue));
    Ok(opened)
}

fn is_temporary(queue: &Queue) -> bool {
    queue.settings().origin == Origin::TemporaryDynamic
}

pub(super) fn read_selector(text: &str) -> Answer<Option<Selector>> {
    require(text.len() <= SELECTOR_BYTES_MAX, Reason::SELECTION_STRING_ERROR)?;
    Selector::read(text).map_err(|_| Failed(Reason::SELECTOR_SYNTAX_ERROR))
}

/// Makes a dynamic queue, under the name that the descriptor asks for.
fn make_dynamic<S: Store>(
    session: &Session<S>,
    model: &Object,
    what: &mut ObjectDescriptor,
    commands: bool,
) -> Answer<Arc<Queue>> {
    let asked = what.dynamic_q_name.text();
    let name = match asked.strip_suffix('*') {
        None => asked,
        Some(prefix) => {
            require(prefix.len() <= 33, Reason::DYNAMIC_Q_NAME_ERROR)?;
            let number = session.core.bodies.number().map_err(crate::core::failed)?;
            format!("{prefix}{number:015X}")
        }
    };
    let Some(valid) = ObjectName::new(&name) else { return fail(Reason::DYNAMIC_Q_NAME_ERROR) };
    require(commands || !session.core.carries_out(valid), Reason::NOT_AUTHORIZED)?;
    let queue = session.core.make_dynamic(model, &name).map_err(|error| match error {
        AdminError::Exists { .. } => Failed(Reason::OBJECT_ALREADY_EXISTS),
        AdminError::Store(error) => crate::core::failed(error),
        _ => Failed(Reason::DYNAMIC_Q_NAME_ERROR),
    })?;
    what.object_name = queue.name;
    Ok(queue)
}

fn open_list<S: Store>(
    session: &mut Session<S>,
    what: &mut ObjectDescriptor,
    options: i32,
    user: &str,
) -> Answer<(Handle, Outcome)> {
    require(what.object_type == object_type::Q, Reason::OBJECT_TYPE_ERROR)?;
    let others = opening::ANY_INPUT | opening::BROWSE | opening::INQUIRE | opening::SET;
    require(options & others == 0, Reason::OPTION_NOT_VALID_FOR_TYPE)?;
    (what.known_dest_count, what.unknown_dest_count, what.invalid_dest_count) = (0, 0, 0);
    what.responses.clear();
    session.has_room_for_handles(1 + what.records.len())?;
    let mut all = Vec::with_capacity(what.records.len());
    for record in what.records.clone() {
        let mut one = ObjectDescriptor {
            object_name: record.object_name,
            object_q_mgr_name: record.object_q_mgr_name,
            ..ObjectDescriptor::default()
        };
        let opened = open_queue(session, &mut one, options, user);
        what.responses.push(opened.as_ref().err().map_or(Outcome::OK, |failed| (*failed).into()));
        match &opened {
            Ok(queue) if queue.local().is_some() => what.known_dest_count += 1,
            Ok(_) => what.unknown_dest_count += 1,
            Err(_) => what.invalid_dest_count += 1,
        }
        all.push(opened);
    }
    let outcome = summary(&what.responses);
    require(outcome.completion != Completion::Failed, outcome.reason)?;
    let name = ObjectName::BLANK;
    session.listed += all.len();
    let object = Opened::List(all);
    Ok((add(session, object, options, user.to_owned(), name, object_type::Q), outcome))
}

/// One answer for all destinations: their common reason, or that there are several. It is a failure
/// if nothing was done for any of them.
pub(super) fn summary(responses: &[Outcome]) -> Outcome {
    let Some(first) = responses.first() else { return Outcome::OK };
    if responses.iter().all(|one| one == first) {
        return *first;
    }
    match responses.iter().all(|one| one.completion == Completion::Failed) {
        true => Outcome::failed(Reason::MULTIPLE_REASONS),
        false => Outcome::warning(Reason::MULTIPLE_REASONS),
    }
}

fn open_topic<S: Store>(
    session: &mut Session<S>,
    what: &mut ObjectDescriptor,
    options: i32,
    user: String,
) -> Answer<(Handle, Outcome)> {
    let others = opening::ANY_INPUT | opening::BROWSE | opening::SET;
    require(options & others == 0, Reason::OPTION_NOT_VALID_FOR_TYPE)?;
    let topic = session.core.topic_string(&what.object_name.text(), &what.object_string)?;
    authorize(session, &user, (Kind::Topic, &topic), options)?;
    what.resolved_object_string.clone_from(&topic);
    what.resolved_type = object_type::TOPIC;
    let name = what.object_name;
    let object = Opened::Topic(topic);
    Ok((add(session, object, options, user, name, object_type::TOPIC), Outcome::OK))
}

fn open_other<S: Store>(
    session: &mut Session<S>,
    kind: Kind,
    what: &mut ObjectDescriptor,
    options: i32,
    user: String,
) -> Answer<(Handle, Outcome)> {
    let allowed = opening::INQUIRE | opening::ALTERNATE_USER_AUTHORITY | opening::FAIL_IF_QUIESCING;
    require(options & !allowed == 0, Reason::OPTION_NOT_VALID_FOR_TYPE)?;
    let core = &session.core;
    let name = match kind {
        Kind::QueueManager => {
            let own = what.object_name.is_blank() || what.object_name == core.name;
            require(own, Reason::UNKNOWN_OBJECT_NAME)?;
            core.options.name.clone()
        }
        _ => what.object_name.text(),
    };
    require(core.object(kind, &name).is_some(), Reason::UNKNOWN_OBJECT_NAME)?;
    authorize(session, &user, (kind, &name), options)?;
    what.resolved_type = what.object_type;
    let (shown, number) = (ObjectName::from(name.as_str()), what.object_type);
    Ok((add(session, Opened::Other(kind, name), options, user, shown, number), Outcome::OK))
}

/// Closes an object.
pub(super) fn close<S: Store>(
    session: &mut Session<S>,
    handle: Handle,
    options: i32,
) -> Answer<Outcome> {
    require(options & !closing::ALL == 0, Reason::OPTIONS_ERROR)?;
    let deletes = options & (closing::DELETE | closing::DELETE_PURGE);
    let subscription = options & (closing::KEEP_SUB | closing::REMOVE_SUB);
    require(deletes.count_ones() <= 1 && subscription.count_ones() <= 1, Reason::OPTIONS_ERROR)?;
    let core = Arc::clone(&session.core);
    let open = session.open(handle)?;
    let mut outcome = Outcome::OK;
    match &open.object {
        Opened::Queue(queue) => {
            require(subscription == 0, Reason::OPTION_NOT_VALID_FOR_TYPE)?;
            if deletes != 0 {
                // As the queue counts it.
                let output = open.options & opening::OUTPUT != 0;
                let own = (u32::from(queue.input) + u32::from(output)).max(1);
                may_delete(&core, queue, (&open.user, own), deletes)?;
            }
            if let Some(logical) = queue.putting.now() {
                let reason = match (logical.in_message, logical.in_group) {
                    (true, _) => Reason::INCOMPLETE_MSG,
                    _ => Reason::INCOMPLETE_GROUP,
                };
                outcome = Outcome::warning(reason);
            }
        }
        Opened::Subscription(one) => {
            require(deletes == 0, Reason::OPTION_NOT_VALID_FOR_TYPE)?;
            let keeps = options & closing::KEEP_SUB != 0;
            require(!keeps || one.durable, Reason::OPTION_NOT_VALID_FOR_TYPE)?;
        }
        _ => require(deletes | subscription == 0, Reason::OPTION_NOT_VALID_FOR_TYPE)?,
    }
    if let Some(open) = session.handles.remove(&handle.0) {
        session.client.handles.lock().remove(&handle.0);
        release(session, open, options)?;
    }
    Ok(outcome)
}

/// Deletes a permanent dynamic queue that no other handle has open; a temporary one goes when its
/// handle does.
fn may_delete<S: Store>(
    core: &Core<S>,
    queue: &OpenQueue,
    (user, own): (&str, u32),
    deletes: i32,
) -> Answer<()> {
    let Some(local) = queue.local() else { return fail(Reason::OPTION_NOT_VALID_FOR_TYPE) };
    let purge = deletes == closing::DELETE_PURGE;
    match local.settings().origin {
        Origin::Defined => fail(Reason::OPTION_NOT_VALID_FOR_TYPE),
        // Only who made it may delete it; for others it is like an ordinary close.
        Origin::TemporaryDynamic => {
            require(queue.made_it, Reason::OPTION_NOT_VALID_FOR_TYPE)?;
            let state = local.state.lock();
            require(state.index.uncommitted() == 0, Reason::OBJECT_IN_USE)?;
            require(purge || state.index.depth() == 0, Reason::Q_NOT_EMPTY)
        }
        Origin::PermanentDynamic => {
            if !queue.created {
                core.may(user, Kind::QueueLocal, &local.name.text(), Permission::Delete)?;
            }
            core.delete_queue(local, own, purge).map_err(|error| match error {
                AdminError::NotEmpty { .. } => Failed(Reason::Q_NOT_EMPTY),
                AdminError::Store(error) => crate::core::failed(error),
                AdminError::Call { reason, .. } => Failed(reason),
                AdminError::NotFound { .. } => Failed(Reason::Q_DELETED),
                _ => Failed(Reason::OBJECT_IN_USE),
            })
        }
    }
}

/// Lets go of what a handle held.
pub(super) fn release<S: Store>(session: &mut Session<S>, open: Open, options: i32) -> Answer<()> {
    let core = Arc::clone(&session.core);
    match open.object {
        Opened::Queue(queue) => {
            if let (Some(local), Some(at)) = (queue.local(), queue.locked) {
                let mut state = local.state.lock();
                if state.index.unlock(at, open.serial) {
                    local.notify(&mut state, 1);
                }
            }
            leave(&core, &queue, open.options);
        }
        Opened::List(all) => {
            session.listed = session.listed.saturating_sub(all.len());
            for queue in all.into_iter().flatten() {
                leave(&core, &queue, open.options);
            }
        }
        Opened::Subscription(one) => {
            let goes = !one.durable || options & closing::REMOVE_SUB != 0;
            let gone = if goes { core.unsubscribe(&one) } else { Ok(()) };
            // No handle takes up what is going.
            one.holder.give_back();
            gone.map_err(|error| match error {
                AdminError::Store(error) => crate::core::failed(error),
                _ => Failed(Reason::OBJECT_IN_USE),
            })?;
        }
        Opened::Topic(_) | Opened::Other(..) => {}
    }
    Ok(())
}

/// Lets go of an open queue.
pub(super) fn leave<S: Store>(core: &Core<S>, queue: &OpenQueue, options: i32) {
    let Some(counted) = queue.counted() else { return };
    let last = counted.leave(queue.input, options & opening::OUTPUT != 0);
    if queue.input && counted.state.lock().openings.inputs() == 0 {
        core.reconsider(counted);
    }
    let managed = counted.state.lock().delete_at_last_close;
    let goes = (queue.made_it || managed) && queue.local().is_some();
    // A temporary queue goes with the handle that made it, whatever else has it open. What uses it
    // may still have messages of it in a unit of work; then it goes with the last.
    if goes && (!(last || queue.made_it) || core.remove_queue(counted).is_err()) {
        counted.state.lock().delete_at_last_close = true;
    }
}
