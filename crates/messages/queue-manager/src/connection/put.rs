//! Putting.
//!
//! 1. The descriptor is checked whole before anything is done.
//! 2. A put outside of the unit of work is one of its own, durable when the call returns.
//! 3. A put that fails leaves its group where it was.

use std::sync::Arc;

use store::Store;

use super::open::{open_queue, summary};
use super::session::{Course, Logical, Open, OpenQueue, Opened, Session};
use crate::core::{Core, Publication, Resolved, Target, Work};
use crate::descriptor::value::{self as of, msg_flags, msg_type, persistence, priority, report};
use crate::descriptor::{MessageDescriptor, NO_IDENTIFIER};
use crate::extension::{self, EXTENSION_BYTES};
use crate::message::{Message, date_and_time};
use crate::name::{ObjectName, padded};
use crate::options::value::{action, object_type, open as opening, put as putting, put_record};
use crate::options::{Handle, ObjectDescriptor, PutOptions, PutRecord};
use crate::properties::{self, Properties};
use crate::queue::Settings;
use crate::reason::{Answer, Completion, Failed, Outcome, Reason, fail, require};

const PRIORITY_MAX: i32 = 9;
const SEQUENCE_MAX: i32 = 999_999_999;
const OFFSET_MAX: i32 = 999_999_999;

/// Puts a message on what is open.
pub(super) fn put<S: Store>(
    session: &mut Session<S>,
    handle: Handle,
    descriptor: &mut MessageDescriptor,
    options: &mut PutOptions,
    data: &[u8],
) -> Answer<Outcome> {
    session.goes_on(options.options & putting::FAIL_IF_QUIESCING != 0)?;
    let open = session.open(handle)?;
    open.may(opening::OUTPUT, Reason::NOT_OPEN_FOR_OUTPUT)?;
    // What is wrong with the call itself is told at once, however the put is to be answered.
    check_options(open, options)?;
    check_descriptor(descriptor)?;
    let passed = passed_context(session, options);
    // The open object is lent to the call and comes back whatever happens.
    let Some(mut open) = session.handles.remove(&handle.0) else {
        return fail(Reason::HOBJ_ERROR);
    };
    let done =
        passed.and_then(|passed| put_open(session, &mut open, (descriptor, passed), options, data));
    let waits = options.options & putting::ASYNC_RESPONSE == 0;
    if !waits {
        note(session, handle, &open, done.unwrap_or_else(Outcome::from));
    }
    session.handles.insert(handle.0, open);
    session.note_unit();
    if waits { done } else { Ok(Outcome::OK) }
}

/// Notes how a put ended that no call waits for. The status names what was put to where the outcome
/// that it tells.
fn note<S: Store>(session: &mut Session<S>, handle: Handle, open: &Open, outcome: Outcome) {
    if !session.status.count(outcome) {
        return;
    }
    let own = session.core.name;
    let (kind, asked, resolved) = match &open.object {
        Opened::Queue(queue) => {
            let resolved = queue.resolved.names(own);
            let via = queue.resolved.via.as_ref().map(|via| (via.name.as_str().into(), own));
            (object_type::Q, via.unwrap_or(resolved), resolved)
        }
        other => {
            let is_topic = matches!(other, Opened::Topic(_));
            let kind = if is_topic { object_type::TOPIC } else { object_type::Q };
            let shown = session.client.handles.lock().get(&handle.0).map(|shown| shown.object);
            let nothing = (ObjectName::BLANK, ObjectName::BLANK);
            (kind, (shown.unwrap_or(ObjectName::BLANK), own), nothing)
        }
    };
    let status = &mut session.status;
    status.object_type = kind;
    (status.object_name, status.object_q_mgr_name) = asked;
    (status.resolved_object_name, status.resolved_q_mgr_name) = resolved;
}

/// Opens, puts and closes.
pub(super) fn put1<S: Store>(
    session: &mut Session<S>,
    what: &mut ObjectDescriptor,
    descriptor: &mut MessageDescriptor,
    options: &mut PutOptions,
    data: &[u8],
) -> Answer<Outcome> {
    session.goes_on(options.options & putting::FAIL_IF_QUIESCING != 0)?;
    require(options.options & putting::LOGICAL_ORDER == 0, Reason::OPTIONS_ERROR)?;
    let contexts = [
        (putting::PASS_IDENTITY_CONTEXT, opening::PASS_IDENTITY_CONTEXT),
        (putting::PASS_ALL_CONTEXT, opening::PASS_ALL_CONTEXT),
        (putting::SET_IDENTITY_CONTEXT, opening::SET_IDENTITY_CONTEXT),
        (putting::SET_ALL_CONTEXT, opening::SET_ALL_CONTEXT),
        (putting::ALTERNATE_USER_AUTHORITY, opening::ALTERNATE_USER_AUTHORITY),
        (putting::NOT_CARRIED_OUT, opening::NOT_CARRIED_OUT),
    ];
    let asked = contexts.into_iter().filter(|(put, _)| options.options & put != 0);
    let open_options = asked.fold(opening::OUTPUT, |all, (_, open)| all | open);
    let simple = what.object_type == object_type::Q && what.records.is_empty();
    if !simple {
        let (handle, _) = super::open::open(session, what, open_options)?;
        let done = put(session, handle, descriptor, options, data);
        super::open::close(session, handle, 0)?;
        return done;
    }
    let alternate = options.options & putting::ALTERNATE_USER_AUTHORITY != 0;
    let user = session.user(&what.alternate_user_id, alternate)?;
    let opened = open_queue(session, what, open_options, &user)?;
    let object = match &opened.resolved.target {
        Target::Topic(object) => Opened::Topic(session.core.topic_string(object, "")?),
        _ => Opened::Queue(Box::new(opened)),
    };
    let mut open = Open { serial: 0, options: open_options, user, object };
    let done = passed_context(session, options)
        .and_then(|passed| put_open(session, &mut open, (descriptor, passed), options, data));
    super::open::release(session, open, 0)?;
    session.note_unit();
    done
}

/// The context of the message that an input handle last got, if it is to be passed on.
fn passed_context<S: Store>(
    session: &mut Session<S>,
    options: &PutOptions,
) -> Answer<Option<Box<MessageDescriptor>>> {
    let passes = putting::PASS_IDENTITY_CONTEXT | putting::PASS_ALL_CONTEXT;
    if options.options & passes == 0 {
        return Ok(None);
    }
    let none = Failed(Reason::CONTEXT_HANDLE_ERROR);
    let handle = options.context.ok_or(none)?;
    let saves = |open: &mut Open| open.options & opening::SAVE_ALL_CONTEXT != 0;
    require(session.open(handle).is_ok_and(saves), Reason::CONTEXT_HANDLE_ERROR)?;
    let from = session.queue(handle).map_err(|_| none)?;
    from.context.clone().map_or(fail(Reason::CONTEXT_NOT_AVAILABLE), |saved| Ok(Some(saved)))
}

fn put_open<S: Store>(
    session: &mut Session<S>,
    open: &mut Open,
    (descriptor, passed): (&mut MessageDescriptor, Option<Box<MessageDescriptor>>),
    options: &mut PutOptions,
    data: &[u8],
) -> Answer<Outcome> {
    // What stands in front of the data is the program's, whatever becomes of the put.
    let outer = (descriptor.format, descriptor.ccsid, descriptor.encoding);
    let course = course_of(open).copied();
    let done = extend(descriptor, options, data)
        .and_then(|data| put_extended(session, open, (&mut *descriptor, passed), options, data));
    (descriptor.format, descriptor.ccsid, descriptor.encoding) = outer;
    // What was not put has no place in its group: the same put may come again.
    if let (Err(_), Some(before), Some(now)) = (&done, course, course_of(open)) {
        *now = before;
    }
    done
}

/// Where the group stands that is put by a handle.
fn course_of(open: &mut Open) -> Option<&mut Course> {
    match &mut open.object {
        Opened::Queue(queue) => Some(&mut queue.putting),
        _ => None,
    }
}

fn put_extended<S: Store>(
    session: &mut Session<S>,
    open: &mut Open,
    (descriptor, passed): (&mut MessageDescriptor, Option<Box<MessageDescriptor>>),
    options: &mut PutOptions,
    data: &[u8],
) -> Answer<Outcome> {
    check_options(open, options)?;
    let in_unit = session.in_unit(options.options)?;
    let remark = check_descriptor(descriptor)?;
    let core = Arc::clone(&session.core);
    require(data.len() <= core.manager_settings().length_max, Reason::MSG_TOO_BIG_FOR_Q_MGR)?;
    let mut made = complete(session, open, descriptor, options, passed)?;
    made.data = with_properties(session, &mut made.descriptor, options, data)?;
    if in_unit {
        session.work.has_room(core.manager_settings().uncommitted_max)?;
    }
    let mut own = Work::new(&core);
    let work = if in_unit { &mut session.work } else { &mut own };
    let putting = Putting {
        in_unit,
        keeps_id: has_own_id(descriptor, options),
        connection: session.client.number,
    };
    let done = place(&core, work, open, made, options, putting);
    match done {
        Ok((outcome, sent)) => {
            if !in_unit {
                own.commit(&core)?;
            }
            take_over(descriptor, &sent);
            Ok(if outcome == Outcome::OK { remark } else { outcome })
        }
        Err(failed) => {
            if !in_unit {
                own.back(&core);
            }
            Err(failed)
        }
    }
}

/// Takes over what a descriptor of the first version has in front of the data; answers the data
/// behind it.
fn extend<'d>(
    descriptor: &mut MessageDescriptor,
    options: &PutOptions,
    data: &'d [u8],
) -> Answer<&'d [u8]> {
    if !options.extends || descriptor.format != of::format::MD_EXTENSION {
        return Ok(data);
    }
    extension::read(descriptor, data).ok_or(Failed(Reason::MDE_ERROR))?;
    Ok(data.get(EXTENSION_BYTES..).unwrap_or_default())
}

fn check_options(open: &Open, options: &PutOptions) -> Answer<()> {
    let asked = options.options;
    require(asked & !putting::ALL == 0, Reason::OPTIONS_ERROR)?;
    require((asked & putting::ANY_CONTEXT).count_ones() <= 1, Reason::OPTIONS_ERROR)?;
    let responses = putting::ASYNC_RESPONSE | putting::SYNC_RESPONSE;
    require(asked & responses != responses, Reason::OPTIONS_ERROR)?;
    require(options.record_fields & !put_record::ALL == 0, Reason::PMO_RECORD_FLAGS_ERROR)?;
    let is_topic = matches!(open.object, Opened::Topic(_));
    let of_topics = putting::RETAIN | putting::WARN_IF_NO_SUBS_MATCHED | putting::NOT_OWN_SUBS;
    require(is_topic || asked & of_topics == 0, Reason::OPTION_NOT_VALID_FOR_TYPE)?;
    let contexts = [
        (
            putting::PASS_IDENTITY_CONTEXT,
            opening::PASS_IDENTITY_CONTEXT,
            Reason::NOT_OPEN_FOR_PASS_IDENT,
        ),
        (putting::PASS_ALL_CONTEXT, opening::PASS_ALL_CONTEXT, Reason::NOT_OPEN_FOR_PASS_ALL),
        (
            putting::SET_IDENTITY_CONTEXT,
            opening::SET_IDENTITY_CONTEXT,
            Reason::NOT_OPEN_FOR_SET_IDENT,
        ),
        (putting::SET_ALL_CONTEXT, opening::SET_ALL_CONTEXT, Reason::NOT_OPEN_FOR_SET_ALL),
    ];
    for (put, opened, otherwise) in contexts {
        // Who opened for all of the context opened for its identity part, too.
        let wider = match opened {
            opening::PASS_IDENTITY_CONTEXT => opening::ANY_CONTEXT,
            opening::PASS_ALL_CONTEXT => opening::ANY_CONTEXT & !opening::PASS_IDENTITY_CONTEXT,
            opening::SET_IDENTITY_CONTEXT => opened | opening::SET_ALL_CONTEXT,
            _ => opened,
        };
        require(asked & put == 0 || open.options & wider != 0, otherwise)?;
    }
    Ok(())
}

/// Checks what a program says about its message. Answers a remark.
fn check_descriptor(md: &MessageDescriptor) -> Answer<Outcome> {
    require(md.report & !report::ALL == 0, Reason::REPORT_OPTIONS_ERROR)?;
    let system = (1..=msg_type::SYSTEM_LAST).contains(&md.msg_type);
    let application = (msg_type::APPL_FIRST..=msg_type::APPL_LAST).contains(&md.msg_type);
    require(system || application, Reason::MSG_TYPE_ERROR)?;
    require(md.expiry > 0 || md.expiry == of::EXPIRY_UNLIMITED, Reason::EXPIRY_ERROR)?;
    require((0..=msg_type::APPL_LAST).contains(&md.feedback), Reason::FEEDBACK_ERROR)?;
    require(md.priority >= priority::AS_Q_DEF, Reason::PRIORITY_ERROR)?;
    let persistences = persistence::NOT_PERSISTENT..=persistence::AS_Q_DEF;
    require(persistences.contains(&md.persistence), Reason::PERSISTENCE_ERROR)?;
    let answers = report::COA
        | report::COD
        | report::EXPIRATION
        | report::EXCEPTION
        | report::PAN
        | report::NAN;
    let wants_answer = md.msg_type == msg_type::REQUEST || md.report & answers != 0;
    require(!wants_answer || !md.reply_to_q.is_blank(), Reason::MISSING_REPLY_TO_Q)?;
    require(md.msg_flags & !msg_flags::ALL == 0, Reason::MSG_FLAGS_ERROR)?;
    require((1..=SEQUENCE_MAX).contains(&md.msg_seq_number), Reason::MSG_SEQ_NUMBER_ERROR)?;
    require((0..=OFFSET_MAX).contains(&md.offset), Reason::OFFSET_ERROR)?;
    if md.priority > PRIORITY_MAX {
        return Ok(Outcome::warning(Reason::PRIORITY_EXCEEDS_MAXIMUM));
    }
    Ok(Outcome::OK)
}

/// Whether a message keeps the identifier that its descriptor has.
fn has_own_id(given: &MessageDescriptor, options: &PutOptions) -> bool {
    options.options & putting::NEW_MSG_ID == 0 && given.msg_id != NO_IDENTIFIER
}

/// The message with all that the queue manager fills in, without its data.
fn complete<S: Store>(
    session: &mut Session<S>,
    open: &Open,
    given: &MessageDescriptor,
    options: &PutOptions,
    passed: Option<Box<MessageDescriptor>>,
) -> Answer<Message> {
    let core = Arc::clone(&session.core);
    let asked = options.options;
    let mut md = given.clone();
    if !has_own_id(given, options) {
        md.msg_id = core.new_identifier()?;
    }
    if asked & putting::NEW_CORREL_ID != 0 {
        md.correl_id = core.new_identifier()?;
    }
    if md.ccsid == of::ccsid::Q_MGR {
        md.ccsid = core.manager_settings().ccsid;
    }
    if md.reply_to_q_mgr.is_blank() && !md.reply_to_q.is_blank() {
        (md.reply_to_q, md.reply_to_q_mgr) = core.reply_to(md.reply_to_q);
    }
    md.priority = md.priority.min(PRIORITY_MAX);
    md.backout_count = 0;
    let now = core.now_ms();
    context(session, open, &mut md, (options.options, passed), now);
    let expires_ms = match md.expiry {
        of::EXPIRY_UNLIMITED => 0,
        tenths => now + u64::try_from(tenths).unwrap_or(0) * 100,
    };
    Ok(Message { descriptor: md, put_ms: now, expires_ms, data: Vec::new() })
}

/// Fills in who put the message, as the options say.
fn context<S: Store>(
    session: &Session<S>,
    open: &Open,
    md: &mut MessageDescriptor,
    (asked, source): (i32, Option<Box<MessageDescriptor>>),
    now_ms: u64,
) {
    if asked & putting::SET_ALL_CONTEXT != 0 {
        return;
    }
    let blank = asked & putting::NO_CONTEXT != 0;
    let client = &session.client.options;
    if let Some(source) = &source {
        md.user_identifier = source.user_identifier;
        md.accounting_token = source.accounting_token;
        md.appl_identity_data = source.appl_identity_data;
    } else if asked & putting::SET_IDENTITY_CONTEXT == 0 {
        md.user_identifier = if blank { [b' '; 12] } else { padded(&open.user) };
        md.accounting_token = [0; 32];
        md.appl_identity_data = [b' '; 32];
    }
    if let Some(source) = source.filter(|_| asked & putting::PASS_ALL_CONTEXT != 0) {
        md.put_appl_type = source.put_appl_type;
        md.put_appl_name = source.put_appl_name;
        md.put_date = source.put_date;
        md.put_time = source.put_time;
        md.appl_origin_data = source.appl_origin_data;
        return;
    }
    md.put_appl_type = if blank { of::appl_type::NO_CONTEXT } else { client.application_type };
    md.put_appl_name = if blank { [b' '; 28] } else { padded(&client.application) };
    (md.put_date, md.put_time) = if blank { ([b' '; 8], [b' '; 8]) } else { date_and_time(now_ms) };
    md.appl_origin_data = [b' '; 4];
}

/// The data with the properties of message handles in front.
fn with_properties<S: Store>(
    session: &mut Session<S>,
    md: &mut MessageDescriptor,
    options: &PutOptions,
    data: &[u8],
) -> Answer<Vec<u8>> {
    require((action::NEW..=action::REPORT).contains(&options.action), Reason::PMO_ERROR)?;
    let mut all = Properties::default();
    for handle in [options.original_msg_handle, options.new_msg_handle].into_iter().flatten() {
        for one in session.properties(handle)?.iter() {
            all.set(&one.name, one.value.clone())?;
        }
    }
    // Those that the program has written in front of its data itself count, too.
    let own = properties::header_bytes(md, data);
    let mut whole = properties::write(&all, md);
    let most = session.core.manager_settings().properties_max;
    require(whole.len() + own <= most, Reason::PROPERTIES_TOO_BIG)?;
    whole.extend_from_slice(data);
    Ok(whole)
}

/// What a put is besides its options.
#[derive(Clone, Copy)]
struct Putting {
    in_unit: bool,
    /// The program has identified the message itself.
    keeps_id: bool,
    connection: u64,
}

/// Brings a message to what is open. Answers what the program is told.
fn place<S: Store>(
    core: &Core<S>,
    work: &mut Work<S>,
    open: &mut Open,
    message: Message,
    options: &mut PutOptions,
    Putting { in_unit, keeps_id, connection }: Putting,
) -> Answer<(Outcome, MessageDescriptor)> {
    match &mut open.object {
        Opened::Queue(queue) => {
            let (resolved_q_name, resolved_q_mgr_name) = queue.resolved.names(core.name);
            options.resolved_q_name = resolved_q_name;
            options.resolved_q_mgr_name = resolved_q_mgr_name;
            let logical = options.options & putting::LOGICAL_ORDER != 0;
            let sent = to_queue(core, work, queue, message, (logical, in_unit))?;
            Ok((Outcome::OK, sent))
        }
        Opened::List(all) => to_list(core, work, all, (&message, keeps_id), options),
        Opened::Topic(topic) => {
            let mut message = message;
            fill_topic_defaults(core, topic, &mut message.descriptor);
            let sent = message.descriptor.clone();
            let asked = options.options;
            let retain = asked & putting::RETAIN != 0;
            let not_own = if asked & putting::NOT_OWN_SUBS != 0 { connection } else { 0 };
            let level = options.pub_level;
            let what = Publication { topic: topic.as_str(), message, retain, level, not_own };
            let count = core.publish(work, &what)?;
            let warn = asked & putting::WARN_IF_NO_SUBS_MATCHED != 0 && count == 0;
            let outcome =
                if warn { Outcome::warning(Reason::NO_SUBS_MATCHED) } else { Outcome::OK };
            Ok((outcome, sent))
        }
        Opened::Subscription(_) | Opened::Other(..) => fail(Reason::NOT_OPEN_FOR_OUTPUT),
    }
}

fn fill_topic_defaults<S: Store>(core: &Core<S>, topic: &str, md: &mut MessageDescriptor) {
    if md.priority < 0 {
        let priority = core.topic_attribute(topic, "DEFPRTY");
        md.priority = priority.and_then(|text| text.parse().ok()).unwrap_or(0);
    }
    if md.persistence == persistence::AS_Q_DEF {
        let persistent = core.topic_attribute(topic, "DEFPSIST").as_deref() == Some("YES");
        md.persistence = i32::from(persistent);
    }
}

fn to_list<S: Store>(
    core: &Core<S>,
    work: &mut Work<S>,
    all: &mut [Answer<OpenQueue>],
    (message, keeps_id): (&Message, bool),
    options: &mut PutOptions,
) -> Answer<(Outcome, MessageDescriptor)> {
    (options.known_dest_count, options.unknown_dest_count, options.invalid_dest_count) = (0, 0, 0);
    options.responses.clear();
    let mut sent = message.descriptor.clone();
    for (number, queue) in all.iter_mut().enumerate() {
        let done = match queue {
            Err(failed) => Err(*failed),
            Ok(queue) => {
                let one = for_record(core, (message, keeps_id), options, number);
                let local = queue.local().is_some();
                let done = one.and_then(|one| to_queue(core, work, queue, one, (false, false)));
                if done.is_ok() && local {
                    options.known_dest_count += 1;
                } else if done.is_ok() {
                    options.unknown_dest_count += 1;
                }
                done
            }
        };
        options.invalid_dest_count += i32::from(done.is_err());
        match done {
            Ok(md) => {
                if let Some(record) = options.records.get_mut(number) {
                    tell_record(record, &md);
                }
                sent = md;
                options.responses.push(Outcome::OK);
            }
            Err(failed) => options.responses.push(failed.into()),
        }
    }
    let outcome = summary(&options.responses);
    require(outcome.completion != Completion::Failed, outcome.reason)?;
    Ok((outcome, sent))
}

/// The message as it is for one destination of a list.
fn for_record<S: Store>(
    core: &Core<S>,
    (message, keeps_id): (&Message, bool),
    options: &PutOptions,
    number: usize,
) -> Answer<Message> {
    let mut one = message.clone();
    let md = &mut one.descriptor;
    let record = options.records.get(number);
    let has = |field: i32| record.filter(|_| options.record_fields & field != 0);
    let is_asked = |option: i32| options.options & option != 0;
    // Each destination gets a message of its own, unless the program has identified them all.
    let given = match has(put_record::MSG_ID) {
        Some(record) => Some(record.msg_id),
        None => keeps_id.then_some(md.msg_id),
    };
    let given = given.filter(|id| *id != NO_IDENTIFIER && !is_asked(putting::NEW_MSG_ID));
    md.msg_id = given.map_or_else(|| core.new_identifier(), Ok)?;
    if is_asked(putting::NEW_CORREL_ID) {
        md.correl_id = core.new_identifier()?;
    } else if let Some(record) = has(put_record::CORREL_ID) {
        md.correl_id = record.correl_id;
    }
    if let Some(record) = has(put_record::GROUP_ID) {
        md.group_id = record.group_id;
    }
    if let Some(record) = has(put_record::FEEDBACK) {
        md.feedback = record.feedback;
    }
    // It is part of the context that only some may set.
    let sets = is_asked(putting::SET_IDENTITY_CONTEXT | putting::SET_ALL_CONTEXT);
    if let Some(record) = has(put_record::ACCOUNTING_TOKEN).filter(|_| sets) {
        md.accounting_token = record.accounting_token;
    }
    Ok(one)
}

/// What a record says after the put.
fn tell_record(record: &mut PutRecord, sent: &MessageDescriptor) {
    record.msg_id = sent.msg_id;
    record.correl_id = sent.correl_id;
    record.group_id = sent.group_id;
}

/// Puts a message on a queue, in segments if it is too long and may be.
fn to_queue<S: Store>(
    core: &Core<S>,
    work: &mut Work<S>,
    queue: &mut OpenQueue,
    mut message: Message,
    (logical, in_unit): (bool, bool),
) -> Answer<MessageDescriptor> {
    let enabled = |name: &ObjectName| {
        let object = core.object(crate::objects::Kind::QueueLocal, &name.text());
        object.is_none_or(|object| object.is("PUT", "ENABLED"))
    };
    if let Some(via) = &queue.resolved.via {
        require(enabled(&via.name.as_str().into()), Reason::PUT_INHIBITED)?;
    }
    // It may have become an initiation queue since it was opened.
    let carried_out = !queue.commands && core.is_carried_out(&queue.resolved);
    require(!carried_out, Reason::NOT_AUTHORIZED)?;
    let Some(counted) = queue.counted() else { return fail(Reason::Q_TYPE_ERROR) };
    let settings = counted.settings();
    fill_defaults(&queue.resolved, &settings, &mut message);
    order(core, queue, &mut message, (logical, in_unit))?;
    let md = &message.descriptor;
    let most = settings.length_max;
    let splits = md.msg_flags & msg_flags::SEGMENTATION_ALLOWED != 0;
    if message.data.len() <= most || !splits {
        let sent = message.descriptor.clone();
        core.send(work, &queue.resolved, message)?;
        return Ok(sent);
    }
    // Segments are multiples of 16 bytes, but for the last.
    let size = (most / 16 * 16).max(16);
    let (start, total) = (md.offset, message.data.len());
    let ends_message = !md.is_segment() || md.is_last_segment();
    if message.descriptor.group_id == NO_IDENTIFIER {
        message.descriptor.group_id = core.new_identifier()?;
    }
    let sent = message.descriptor.clone();
    let mark = work.mark();
    for at in (0..total).step_by(size) {
        let mut part = message.clone();
        part.data = message.data[at..total.min(at + size)].to_vec();
        part.descriptor.offset = start + at as i32;
        part.descriptor.original_length = -1;
        part.descriptor.msg_flags |= msg_flags::SEGMENT;
        part.descriptor.msg_flags &= !msg_flags::LAST_SEGMENT;
        if at + size >= total && ends_message {
            part.descriptor.msg_flags |= msg_flags::LAST_SEGMENT;
        }
        if at > 0 {
            part.descriptor.msg_id = core.new_identifier()?;
        }
        if let Err(failed) = core.send(work, &queue.resolved, part) {
            work.undo_to(mark);
            return Err(failed);
        }
    }
    Ok(sent)
}

fn fill_defaults(resolved: &Resolved, settings: &Settings, message: &mut Message) {
    let own = (settings.priority, settings.persistent);
    let (priority, persistent) = resolved.defaults().unwrap_or(own);
    let md = &mut message.descriptor;
    if md.priority < 0 {
        md.priority = priority;
    }
    if md.persistence == persistence::AS_Q_DEF {
        md.persistence = i32::from(persistent);
    }
    if let Some(most) = settings.expiry_max {
        let capped = message.put_ms + u64::try_from(most).unwrap_or(0) * 100;
        if message.expires_ms == 0 || message.expires_ms > capped {
            message.expires_ms = capped;
            md.expiry = most;
        }
    }
}

/// Gives a message its place in its group.
fn order<S: Store>(
    core: &Core<S>,
    queue: &mut OpenQueue,
    message: &mut Message,
    (logical, in_unit): (bool, bool),
) -> Answer<()> {
    let bytes = message.data.len();
    let md = &mut message.descriptor;
    let belongs = md.is_in_group() || md.is_segment();
    if md.is_segment() {
        require(bytes > 0, Reason::SEGMENT_LENGTH_ZERO)?;
    }
    match queue.putting.now().filter(|_| logical) {
        Some(state) => {
            require(!state.in_group || md.is_in_group(), Reason::INCOMPLETE_GROUP)?;
            require(!state.in_message || md.is_segment(), Reason::INCOMPLETE_MSG)?;
            require(state.persistent == md.is_persistent(), Reason::INCONSISTENT_PERSISTENCE)?;
            require(state.in_unit == in_unit, Reason::INCONSISTENT_UOW)?;
            md.group_id = state.group;
            md.msg_seq_number = state.sequence;
            md.offset = state.offset;
        }
        None if !belongs => {
            md.group_id = NO_IDENTIFIER;
            (md.msg_seq_number, md.offset) = (1, 0);
        }
        None => {
            if logical || md.group_id == NO_IDENTIFIER {
                md.group_id = core.new_identifier()?;
            }
            if logical {
                (md.msg_seq_number, md.offset) = (1, 0);
            }
        }
    }
    // What is behind it has to have a place, too.
    let end = i32::try_from(bytes).ok().and_then(|bytes| md.offset.checked_add(bytes));
    require(!belongs || end.is_some_and(|end| end <= OFFSET_MAX), Reason::OFFSET_ERROR)?;
    if logical && belongs {
        queue.putting.go(Logical::after(md, bytes, in_unit), in_unit);
    }
    Ok(())
}

/// What a program's descriptor says after the put.
fn take_over(descriptor: &mut MessageDescriptor, sent: &MessageDescriptor) {
    // Format, code page and encoding stay as the program has them: properties change them.
    let (format, ccsid, encoding) = (descriptor.format, descriptor.ccsid, descriptor.encoding);
    *descriptor = sent.clone();
    (descriptor.format, descriptor.ccsid, descriptor.encoding) = (format, ccsid, encoding);
}
