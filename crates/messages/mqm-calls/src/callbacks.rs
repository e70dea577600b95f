//! Asynchronous consumption: MQCB registers programs, MQCTL has them called with messages.
//!
//! ```text
//!  stopped --START--> started --SUSPEND--> suspended
//!     ^------STOP-------|  <----RESUME-------|
//! ```
//!
//! A thread of this library gets messages for all consumers of a connection, one after another, and
//! calls each with its message. While it does, the connection is its own.
//!
//! Invariants:
//! 1. A program is called by one thread at a time, and never again once STOP, SUSPEND or a
//!    deregistration has returned to another thread.
//! 2. No lock is held while a program is called: it makes calls of its own.
//! 3. A consumer whose get fails, or whose next message is too long for it, is told so once, and is
//!    left alone until it is resumed.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mqi::structures::{Cbc, Cbd, Ctlo, Gmo, Md};
use mqi::table::Structure;
use mqi::wire::Wanted;
use mqi::wire::frame::DATA_BYTES_MAX;
use queue_manager::options::value;
use queue_manager::{Completion, Outcome, Reason};
use seam::thread;

use crate::consumers::{Consumer, Phase, Program};
use crate::finish::finish;
use crate::memory::{Lent, optional};
use crate::state::{self, Connection, this_thread};

/// How long one look for messages takes at most: what STOP may have to wait for.
const LOOK_MS: i32 = 100;
/// A callback routine is not named, or is of no kind that there is.
const CALLBACK_ROUTINE_ERROR: Reason = Reason(2486);
const OPERATION_ERROR: Reason = Reason(2488);
const HCONN_ASYNC_ACTIVE: Reason = Reason(2500);

/// Operations.
mod operation {
    pub(super) const START: i32 = 1;
    pub(super) const START_WAIT: i32 = 2;
    pub(super) const STOP: i32 = 4;
    pub(super) const REGISTER: i32 = 0x100;
    pub(super) const DEREGISTER: i32 = 0x200;
    pub(super) const SUSPEND: i32 = 0x1_0000;
    pub(super) const RESUME: i32 = 0x2_0000;
}

/// What MQCB is to do: one of each pair, or both one and another.
#[derive(Clone, Copy)]
struct Operation {
    registers: Option<bool>,
    suspends: Option<bool>,
}

impl Operation {
    fn of(bits: i32) -> Option<Operation> {
        use operation::{DEREGISTER, REGISTER, RESUME, SUSPEND};
        let either = |yes: i32, no: i32| match (bits & yes != 0, bits & no != 0) {
            (true, true) => None,
            (false, false) => Some(None),
            (yes, _) => Some(Some(yes)),
        };
        let known = bits != 0 && bits & !(REGISTER | DEREGISTER | SUSPEND | RESUME) == 0;
        let (registers, suspends) = (either(REGISTER, DEREGISTER)?, either(SUSPEND, RESUME)?);
        known.then_some(Operation { registers, suspends })
    }
}

/// Why a program is called.
mod call_type {
    pub(super) const START: i32 = 1;
    pub(super) const STOP: i32 = 2;
    pub(super) const REGISTER: i32 = 3;
    pub(super) const DEREGISTER: i32 = 4;
    pub(super) const EVENT: i32 = 5;
    pub(super) const MSG_REMOVED: i32 = 6;
    pub(super) const MSG_NOT_REMOVED: i32 = 7;
}

/// Which calls beside those with messages a program wants; the bits of its options.
mod register_option {
    pub(super) const START: i32 = 1;
    pub(super) const STOP: i32 = 4;
    pub(super) const REGISTER: i32 = 0x100;
    pub(super) const DEREGISTER: i32 = 0x200;
}

const MESSAGE_CONSUMER: i32 = 1;
const EVENT_HANDLER: i32 = 2;

/// Registers, deregisters, suspends or resumes a program.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
#[allow(clippy::too_many_arguments)] // the interface's own
pub unsafe fn cb(
    hconn: i32,
    operation: i32,
    cbd: *mut c_void,
    hobj: i32,
    md: *mut c_void,
    gmo: *mut c_void,
    completion: *mut i32,
    reason: *mut i32,
) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe {
        finish(completion, reason, || {
            let connection = state::find(hconn)?;
            let operation = Operation::of(operation).ok_or(OPERATION_ERROR)?;
            let consuming = connection.consuming.load(Ordering::SeqCst);
            if consuming != 0 && consuming != this_thread() {
                return Err(HCONN_ASYNC_ACTIVE);
            }
            if operation.registers == Some(true) {
                let cbd = Lent::<Cbd>::take(cbd, Reason::CBD_ERROR)?.now;
                let suspended = operation.suspends == Some(true);
                return register(&connection, &cbd, (hobj, suspended), md, gmo);
            }
            let cbd = optional::<Cbd>(cbd, Reason::CBD_ERROR)?;
            let kind = cbd.map_or(MESSAGE_CONSUMER, |cbd| cbd.now.callback_type);
            change(&connection, operation, hobj, kind)
        });
    }
}

/// Registers a program.
///
/// # Safety
/// As for [`Lent::take`].
unsafe fn register(
    connection: &Arc<Connection>,
    cbd: &Cbd,
    (hobj, suspended): (i32, bool),
    md: *mut c_void,
    gmo: *mut c_void,
) -> Result<Outcome, Reason> {
    let function = usize::try_from(cbd.callback_function).unwrap_or_default();
    if function == 0 {
        return Err(CALLBACK_ROUTINE_ERROR);
    }
    let program = Program { function, area: cbd.callback_area, options: cbd.options };
    if cbd.callback_type == EVENT_HANDLER {
        connection.consumers.lock().event = Some(program);
        return Ok(Outcome::OK);
    }
    if cbd.callback_type != MESSAGE_CONSUMER {
        return Err(Reason::CALLBACK_TYPE_ERROR);
    }
    if hobj <= 0 {
        return Err(Reason::HOBJ_ERROR);
    }
    // SAFETY: as promised to this function.
    let (md, gmo) = unsafe {
        (
            Lent::<Md>::take(md, Reason::MD_ERROR)?.now,
            Lent::<Gmo>::take(gmo, Reason::GMO_ERROR)?.now,
        )
    };
    let full = i32::try_from(DATA_BYTES_MAX).unwrap_or(i32::MAX);
    let room = if cbd.max_msg_length < 0 { full } else { cbd.max_msg_length.min(full) };
    let wanted = Wanted { md, gmo, room };
    let consumer = Consumer { program, hobj, wanted, suspended, idle_ms: Some(0) };
    let mut consumers = connection.consumers.lock();
    consumers.forget(hobj);
    consumers.list.push(consumer.clone());
    drop(consumers);
    connection.changed.notify_all();
    if consumer.program.options & register_option::REGISTER != 0 {
        call_plain(connection, &consumer, call_type::REGISTER);
    }
    Ok(Outcome::OK)
}

/// Deregisters, suspends or resumes.
fn change(
    connection: &Arc<Connection>,
    operation: Operation,
    hobj: i32,
    kind: i32,
) -> Result<Outcome, Reason> {
    let mut consumers = connection.consumers.lock();
    let deregisters = operation.registers == Some(false);
    if kind == EVENT_HANDLER && deregisters {
        let known = consumers.event.take().is_some();
        return known.then_some(Outcome::OK).ok_or(Reason::CALLBACK_NOT_REGISTERED);
    }
    let place = consumers.list.iter().position(|one| one.hobj == hobj);
    let place = place.ok_or(Reason::CALLBACK_NOT_REGISTERED)?;
    if deregisters {
        let gone = consumers.list.remove(place);
        drop(consumers);
        if gone.program.options & register_option::DEREGISTER != 0 {
            call_plain(connection, &gone, call_type::DEREGISTER);
        }
        return Ok(Outcome::OK);
    }
    if let (Some(one), Some(suspends)) = (consumers.list.get_mut(place), operation.suspends) {
        one.suspended = suspends;
    }
    drop(consumers);
    connection.changed.notify_all();
    Ok(Outcome::OK)
}

/// Starts, stops, suspends or resumes consumption.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
pub unsafe fn ctl(
    hconn: i32,
    operation: i32,
    options: *mut c_void,
    completion: *mut i32,
    reason: *mut i32,
) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe {
        finish(completion, reason, || {
            let connection = state::find(hconn)?;
            let ctlo = optional::<Ctlo>(options, Reason::CTLO_ERROR)?;
            let area = ctlo.map_or(0, |ctlo| ctlo.now.connection_area);
            match operation {
                operation::START => start(&connection, area, false),
                operation::START_WAIT => start(&connection, area, true),
                operation::STOP => {
                    stop(&connection);
                    Ok(Outcome::OK)
                }
                operation::SUSPEND => {
                    suspend(&connection);
                    Ok(Outcome::OK)
                }
                operation::RESUME => resume(&connection),
                _ => Err(OPERATION_ERROR),
            }
        });
    }
}

fn start(connection: &Arc<Connection>, area: u64, waits: bool) -> Result<Outcome, Reason> {
    if connection.client()?.is_carried() {
        // A region makes one call after the other, in one unit of work.
        return Err(Reason::ENVIRONMENT_ERROR);
    }
    let mut consumers = connection.consumers.lock();
    match consumers.phase {
        Phase::Started => return Err(HCONN_ASYNC_ACTIVE),
        Phase::Suspended => {
            drop(consumers);
            return resume(connection);
        }
        Phase::Stopped => {}
    }
    if consumers.list.is_empty() && consumers.event.is_none() {
        return Err(Reason::NO_CALLBACKS_ACTIVE);
    }
    (consumers.phase, consumers.rests, consumers.area) = (Phase::Started, false, area);
    consumers.list.iter_mut().for_each(|one| one.idle_ms = Some(0));
    if waits {
        drop(consumers);
        run(connection);
        return Ok(Outcome::OK);
    }
    consumers.is_starting = true;
    let own = Arc::clone(connection);
    let thread = thread::spawn("mqi-consume", move || {
        // A program's panic that came through here must not stop at a half-consumed message.
        if thread::catch(|| run(&own)).is_err() {
            own.consuming.store(0, Ordering::SeqCst);
            own.consumers.lock().phase = Phase::Stopped;
        }
    });
    match thread {
        Ok(thread) => {
            consumers.thread = Some(thread);
            // Whoever returns from START finds the connection in the consuming thread's hands.
            while consumers.phase == Phase::Started
                && connection.consuming.load(Ordering::SeqCst) == 0
            {
                connection.changed.wait(&mut consumers);
            }
            consumers.is_starting = false;
            connection.changed.notify_all();
            Ok(Outcome::OK)
        }
        Err(_) => {
            (consumers.phase, consumers.is_starting) = (Phase::Stopped, false);
            Err(Reason::RESOURCE_PROBLEM)
        }
    }
}

/// Ends consumption, and waits until nothing is called any more, unless a program that is called
/// says so itself.
pub(crate) fn stop(connection: &Arc<Connection>) {
    let is_own = connection.consuming.load(Ordering::SeqCst) == this_thread();
    let thread = {
        let mut consumers = connection.consumers.lock();
        if consumers.phase == Phase::Stopped && consumers.thread.is_none() {
            return;
        }
        consumers.phase = Phase::Stopped;
        connection.changed.notify_all();
        if is_own { None } else { consumers.thread.take() }
    };
    if let Some(thread) = thread {
        thread.join();
    } else if !is_own {
        let mut consumers = connection.consumers.lock();
        while connection.consuming.load(Ordering::SeqCst) != 0 {
            connection.changed.wait(&mut consumers);
        }
    }
}

fn suspend(connection: &Arc<Connection>) {
    let mut consumers = connection.consumers.lock();
    if consumers.phase != Phase::Started {
        return;
    }
    consumers.phase = Phase::Suspended;
    connection.changed.notify_all();
    let is_own = connection.consuming.load(Ordering::SeqCst) == this_thread();
    while !is_own && consumers.phase == Phase::Suspended && !consumers.rests {
        connection.changed.wait(&mut consumers);
    }
}

fn resume(connection: &Arc<Connection>) -> Result<Outcome, Reason> {
    let mut consumers = connection.consumers.lock();
    if consumers.phase == Phase::Stopped {
        return Err(Reason::OPERATION_NOT_ALLOWED);
    }
    consumers.phase = Phase::Started;
    consumers.list.iter_mut().for_each(|one| one.suspended = false);
    connection.changed.notify_all();
    while consumers.rests && consumers.phase == Phase::Started {
        connection.changed.wait(&mut consumers);
    }
    Ok(Outcome::OK)
}

/// Gets messages and calls programs until consumption is stopped.
fn run(connection: &Arc<Connection>) {
    connection.consuming.store(this_thread(), Ordering::SeqCst);
    connection.changed.notify_all();
    await_start(connection);
    call_all(connection, register_option::START, call_type::START);
    let mut data = Vec::new();
    while let Some(active) = next_round(connection) {
        look(connection, &active, &mut data);
    }
    call_all(connection, register_option::STOP, call_type::STOP);
    let mut consumers = connection.consumers.lock();
    connection.consuming.store(0, Ordering::SeqCst);
    consumers.rests = false;
    connection.changed.notify_all();
}

/// Waits until START is about to return. Clients note what they have started when it has: a
/// message that came before would find them unprepared.
fn await_start(connection: &Connection) {
    let mut consumers = connection.consumers.lock();
    while consumers.is_starting && consumers.phase != Phase::Stopped {
        connection.changed.wait(&mut consumers);
    }
}

/// The consumers of the next look, once there are some; `None` if consumption is stopped.
fn next_round(connection: &Connection) -> Option<Vec<Consumer>> {
    let mut consumers = connection.consumers.lock();
    loop {
        let active: Vec<Consumer> =
            consumers.list.iter().filter(|one| !one.suspended).cloned().collect();
        match consumers.phase {
            Phase::Stopped => return None,
            Phase::Started if !active.is_empty() => {
                connection.consuming.store(this_thread(), Ordering::SeqCst);
                if std::mem::take(&mut consumers.rests) {
                    connection.changed.notify_all();
                }
                return Some(active);
            }
            Phase::Suspended => {
                connection.consuming.store(0, Ordering::SeqCst);
                consumers.rests = true;
            }
            Phase::Started => {
                connection.consuming.store(this_thread(), Ordering::SeqCst);
                consumers.rests = false;
            }
        }
        connection.changed.notify_all();
        connection.changed.wait(&mut consumers);
    }
}

/// Looks for a message for any of them, and calls the one that has it.
fn look(connection: &Arc<Connection>, active: &[Consumer], data: &mut Vec<u8>) {
    let mut list: Vec<(i32, Wanted)> =
        active.iter().map(|one| (one.hobj, one.wanted.clone())).collect();
    let (outcome, place, length) =
        connection.client_of_consumer().consume(LOOK_MS, &mut list, data);
    let found = place.and_then(|place| Some((active.get(place)?, list.get(place)?)));
    match found {
        Some((consumer, (_, got))) if outcome.completion != Completion::Failed => {
            set_idle(connection, consumer.hobj, |_| Some(0));
            deliver(connection, consumer, got, (outcome, length), data);
        }
        Some((consumer, _)) => {
            set_suspended(connection, consumer.hobj);
            let what = (call_type::EVENT, outcome, 0);
            call(connection, &consumer.program, consumer.hobj, None, &mut [], what);
        }
        None if outcome.reason == Reason::NO_MSG_AVAILABLE => tell_idle(connection, active),
        None => {
            // The connection is gone, and with it everything that could be consumed.
            let event = connection.consumers.lock().event.clone();
            let what = (call_type::EVENT, outcome, 0);
            if let Some(event) = event {
                call(connection, &event, -1, None, &mut [], what);
            }
            for one in active {
                call(connection, &one.program, one.hobj, None, &mut [], what);
            }
            connection.consumers.lock().phase = Phase::Stopped;
        }
    }
}

fn set_idle(connection: &Connection, hobj: i32, to: impl Fn(Option<i32>) -> Option<i32>) {
    let mut consumers = connection.consumers.lock();
    for one in consumers.list.iter_mut().filter(|one| one.hobj == hobj) {
        one.idle_ms = to(one.idle_ms);
    }
}

fn set_suspended(connection: &Connection, hobj: i32) {
    let mut consumers = connection.consumers.lock();
    consumers.list.iter_mut().filter(|one| one.hobj == hobj).for_each(|one| one.suspended = true);
}

/// Tells those that have waited as long as they wanted that there is no message, once.
fn tell_idle(connection: &Arc<Connection>, active: &[Consumer]) {
    for one in active {
        let gmo = &one.wanted.gmo;
        let waits = gmo.options & value::get::WAIT != 0;
        let limit = if waits { gmo.wait_interval } else { 0 };
        set_idle(connection, one.hobj, |idle| idle.map(|ms| ms.saturating_add(LOOK_MS)));
        let over = one.idle_ms.is_some_and(|ms| ms.saturating_add(LOOK_MS) >= limit);
        if over && limit != value::WAIT_UNLIMITED {
            set_idle(connection, one.hobj, |_| None);
            let none = Outcome::failed(Reason::NO_MSG_AVAILABLE);
            let what = (call_type::MSG_NOT_REMOVED, none, 0);
            let got = Some(&one.wanted);
            call(connection, &one.program, one.hobj, got, &mut [], what);
        }
    }
}

fn deliver(
    connection: &Arc<Connection>,
    consumer: &Consumer,
    got: &Wanted,
    (outcome, length): (Outcome, i32),
    data: &mut [u8],
) {
    let stays = outcome.reason == Reason::TRUNCATED_MSG_FAILED;
    if stays {
        // It would be brought again at once, for ever.
        set_suspended(connection, consumer.hobj);
    }
    let browses = consumer.wanted.gmo.options & value::get::ANY_BROWSE != 0;
    let kind = if browses || stays { call_type::MSG_NOT_REMOVED } else { call_type::MSG_REMOVED };
    let what = (kind, outcome, length);
    call(connection, &consumer.program, consumer.hobj, Some(got), data, what);
}

/// Calls every consumer that wants to know of it.
fn call_all(connection: &Arc<Connection>, option: i32, kind: i32) {
    let all = connection.consumers.lock().list.clone();
    for one in all.iter().filter(|one| one.program.options & option != 0) {
        call_plain(connection, one, kind);
    }
}

fn call_plain(connection: &Arc<Connection>, consumer: &Consumer, kind: i32) {
    let what = (kind, Outcome::OK, 0);
    call(connection, &consumer.program, consumer.hobj, None, &mut [], what);
}

/// A program that is called back: the connection, descriptor, options, buffer and context.
type Routine = unsafe extern "C" fn(i32, *mut c_void, *mut c_void, *mut c_void, *mut c_void);

/// Memory for a structure, where structures may stand.
struct Room(Vec<u64>);

impl Room {
    fn of(structure: &impl Structure) -> Room {
        let bytes = structure.bytes();
        let eight = |eight: &[u8]| {
            let mut whole = [0; 8];
            whole.iter_mut().zip(eight).for_each(|(to, from)| *to = *from);
            u64::from_ne_bytes(whole)
        };
        Room(bytes.chunks(8).map(eight).collect())
    }

    fn pointer(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }
}

fn call(
    connection: &Arc<Connection>,
    program: &Program,
    hobj: i32,
    got: Option<&Wanted>,
    data: &mut [u8],
    (kind, outcome, length): (i32, Outcome, i32),
) {
    let area = connection.consumers.lock().area;
    let cbc = Cbc {
        version: 2,
        call_type: kind,
        hobj,
        callback_area: program.area,
        connection_area: area,
        comp_code: outcome.completion as i32,
        reason: outcome.reason.0,
        data_length: length,
        buffer_length: i32::try_from(data.len()).unwrap_or(i32::MAX),
        ..Cbc::initial()
    };
    let mut cbc = Room::of(&cbc);
    let (mut md, mut gmo) = match got {
        Some(got) => (Some(Room::of(&got.md)), Some(Room::of(&got.gmo))),
        None => (None, None),
    };
    let pointer =
        |room: &mut Option<Room>| room.as_mut().map_or(std::ptr::null_mut(), Room::pointer);
    let buffer = match data.is_empty() {
        true => std::ptr::null_mut(),
        false => data.as_mut_ptr().cast(),
    };
    // SAFETY: the program has registered this address as that of such a routine.
    let routine = unsafe { std::mem::transmute::<usize, Routine>(program.function) };
    // SAFETY: what the pointers lead to is there until the routine returns.
    unsafe {
        routine(connection.handle, pointer(&mut md), pointer(&mut gmo), buffer, cbc.pointer());
    }
}
