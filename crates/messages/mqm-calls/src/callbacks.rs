//! Asynchronous consumption: MQCB registers programs, MQCTL has them called with messages.
//!
//! ```text
//!  stopped --START--> started --SUSPEND--> suspended
//!     ^------STOP-------|  <----RESUME-------|
//! ```
//!
//! A thread of this library gets messages for all consumers of a connection, one after another, and
//! calls each with its message. While it does, the connection is its own. Each has its turn: a look
//! for messages begins behind the consumer that was served last.
//!
//! Invariants:
//! 1. A program is called by one thread at a time, and never again once STOP, SUSPEND or a
//!    deregistration has returned to another thread.
//! 2. No lock is held while a program is called: it makes calls of its own.
//! 3. A connection has one such thread at most. Whoever starts again waits for the end of the last;
//!    a program that is called and does so goes on in the same thread.
//! 4. A program that was deregistered or suspended, or whose consumption was stopped, by a program
//!    that was called is not called any more, but for a message that was got for it.
//! 5. A consumer whose get fails, or whose next message is too long for it, is told so once, and is
//!    left alone until it is resumed.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mqi::structures::{Cbc, Cbd, Ctlo, Gmo, Md};
use mqi::table::Structure;
use mqi::wire::Wanted;
use mqi::wire::frame::DATA_BYTES_MAX;
use queue_manager::options::value;
use queue_manager::{Completion, Outcome, Reason};
use seam::sync::MutexGuard;
use seam::thread;

use crate::consumers::{Consumer, Consumers, Phase, Program};
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
    let mut consumers = connection.consumers.lock();
    let idle_since = Some(consumers.now());
    let consumer = Consumer { program, hobj, wanted, suspended, idle_since };
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
    let now = consumers.now();
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
        one.idle_since = one.idle_since.map(|_| now);
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
    // What consumes is in no region.
    let runs = connection.consumers.lock().running.is_some();
    if !runs && connection.client()?.is_carried() {
        // A region makes one call after the other, in one unit of work.
        return Err(Reason::ENVIRONMENT_ERROR);
    }
    let is_own = connection.consuming.load(Ordering::SeqCst) == this_thread();
    let mut consumers = connection.consumers.lock();
    loop {
        match consumers.phase {
            Phase::Started => return Err(HCONN_ASYNC_ACTIVE),
            Phase::Suspended => {
                drop(consumers);
                return resume(connection);
            }
            Phase::Stopped => {}
        }
        if consumers.running.is_none() {
            let Some(last) = consumers.thread.take() else { break };
            drop(consumers);
            last.join();
            consumers = connection.consumers.lock();
        } else if is_own && consumers.stoppers > 0 {
            // Somebody waits for its end.
            return Err(Reason::OPERATION_NOT_ALLOWED);
        } else if is_own {
            break;
        } else {
            connection.changed.wait(&mut consumers);
        }
    }
    if consumers.list.is_empty() && consumers.event.is_none() {
        return Err(Reason::NO_CALLBACKS_ACTIVE);
    }
    (consumers.phase, consumers.rests, consumers.area) = (Phase::Started, false, area);
    let now = consumers.now();
    consumers.list.iter_mut().for_each(|one| one.idle_since = Some(now));
    if is_own {
        consumers.again = true;
        return Ok(Outcome::OK);
    }
    begin(connection, consumers, waits)
}

/// Begins to consume: in a thread of its own, or in this one, which waits for the end.
fn begin(
    connection: &Arc<Connection>,
    mut consumers: MutexGuard<'_, Consumers>,
    waits: bool,
) -> Result<Outcome, Reason> {
    consumers.runs += 1;
    let number = consumers.runs;
    consumers.running = Some(number);
    if waits {
        drop(consumers);
        run(connection, number);
        return Ok(Outcome::OK);
    }
    consumers.is_starting = true;
    let own = Arc::clone(connection);
    let thread = thread::spawn("mqi-consume", move || {
        // A program's panic that came through here ends the run, and nothing else.
        let _ = thread::catch(|| run(&own, number));
    });
    match thread {
        Ok(thread) => {
            consumers.thread = Some(thread);
            // A thread that returns from START finds the connection in the consuming thread's
            // hands.
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
            consumers.running = None;
            connection.changed.notify_all();
            Err(Reason::RESOURCE_PROBLEM)
        }
    }
}

/// Ends consumption, and waits until nothing is called any more, unless a program that is called
/// says so itself.
pub(crate) fn stop(connection: &Arc<Connection>) {
    // The thread that consumes may wait for the wire, which this one has while it reconnects.
    let is_own = connection.consuming.load(Ordering::SeqCst) == this_thread()
        || connection.reconnecting.load(Ordering::SeqCst) == this_thread();
    let mut consumers = connection.consumers.lock();
    (consumers.phase, consumers.again) = (Phase::Stopped, false);
    connection.changed.notify_all();
    if is_own {
        return;
    }
    let (run, thread) = (consumers.running, consumers.thread.take());
    consumers.stoppers += 1;
    while run.is_some() && consumers.running == run {
        connection.changed.wait(&mut consumers);
    }
    consumers.stoppers -= 1;
    drop(consumers);
    if let Some(thread) = thread {
        thread.join();
    }
}

fn suspend(connection: &Arc<Connection>) {
    let mut consumers = connection.consumers.lock();
    if consumers.phase == Phase::Started {
        consumers.phase = Phase::Suspended;
        connection.changed.notify_all();
    }
    // A program that is called may have said so, and is called still.
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
    consumers.wait_from_now();
    consumers.list.iter_mut().for_each(|one| one.suspended = false);
    connection.changed.notify_all();
    while consumers.rests && consumers.phase == Phase::Started {
        connection.changed.wait(&mut consumers);
    }
    Ok(Outcome::OK)
}

/// Consumption from its start to its end: whatever ends it, others hear of it.
struct Run<'c> {
    connection: &'c Connection,
    number: u64,
}

impl Run<'_> {
    fn end(&self, consumers: &mut Consumers) {
        if consumers.running == Some(self.number) {
            (consumers.phase, consumers.running) = (Phase::Stopped, None);
            (consumers.rests, consumers.again) = (false, false);
            self.connection.consuming.store(0, Ordering::SeqCst);
            self.connection.changed.notify_all();
        }
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        self.end(&mut self.connection.consumers.lock());
    }
}

/// Gets messages and calls programs until consumption is stopped.
fn run(connection: &Arc<Connection>, number: u64) {
    let run = Run { connection, number };
    {
        // Under the lock: whoever waits for it would miss it otherwise.
        let _consumers = connection.consumers.lock();
        connection.consuming.store(this_thread(), Ordering::SeqCst);
        connection.changed.notify_all();
    }
    await_start(connection);
    let mut data = Vec::new();
    loop {
        call_all(connection, register_option::START, call_type::START);
        while let Some(active) = next_round(connection) {
            look(connection, &active, &mut data);
        }
        call_all(connection, register_option::STOP, call_type::STOP);
        let mut consumers = connection.consumers.lock();
        consumers.again = false;
        if consumers.phase == Phase::Stopped {
            run.end(&mut consumers);
            return;
        }
    }
}

/// Waits until START is about to return. Clients note what they have started when it has: a
/// message that came before would find them unprepared.
fn await_start(connection: &Connection) {
    let mut consumers = connection.consumers.lock();
    while consumers.is_starting && consumers.phase != Phase::Stopped {
        connection.changed.wait(&mut consumers);
    }
}

/// The consumers of the next look, once there are some; `None` if consumption was stopped.
fn next_round(connection: &Connection) -> Option<Vec<Consumer>> {
    let mut consumers = connection.consumers.lock();
    loop {
        let active = consumers.active();
        let ends = consumers.phase == Phase::Stopped || consumers.again;
        consumers.rests = consumers.phase == Phase::Suspended && !ends;
        let user = if consumers.rests { 0 } else { this_thread() };
        connection.consuming.store(user, Ordering::SeqCst);
        connection.changed.notify_all();
        if ends {
            return None;
        }
        if consumers.phase == Phase::Started && !active.is_empty() {
            return Some(active);
        }
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
    if let Some((consumer, _)) = found {
        connection.consumers.lock().served = consumer.hobj;
    }
    match found {
        Some((consumer, (_, got))) if outcome.completion != Completion::Failed => {
            let now = connection.consumers.lock().now();
            set_idle(connection, consumer.hobj, Some(now));
            deliver(connection, consumer, got, (outcome, length), data);
            // Those in front of it were looked at before, and had none.
            let in_front = place.and_then(|place| active.get(..place)).unwrap_or_default();
            tell_idle_since(connection, in_front, now);
        }
        Some((consumer, _)) => {
            set_suspended(connection, consumer.hobj);
            let what = CallbackContext::of(call_type::EVENT, outcome, 0);
            call(connection, &consumer.program, consumer.hobj, None, &mut [], what);
        }
        None if outcome.reason == Reason::NO_MSG_AVAILABLE => tell_idle(connection, active),
        // It is to stop or to rest, and does not wait for the connection to be made again.
        None if outcome.reason == Reason::RECONNECTING => {}
        None => {
            let is_tried = [Reason::RECONNECT_FAILED, Reason::RECONNECT_QMID_MISMATCH];
            // Of these the event handler was told when they happened.
            if !is_tried.contains(&outcome.reason) {
                tell_event(connection, outcome, 0);
            }
            let what = CallbackContext::of(call_type::EVENT, outcome, 0);
            for one in active {
                if connection.consumers.lock().may_call(one) {
                    call(connection, &one.program, one.hobj, None, &mut [], what);
                }
            }
            // What was got is backed out, but the connection is there again. Otherwise it is gone,
            // and with it everything that could be consumed.
            if outcome.reason != Reason::BACKED_OUT {
                connection.consumers.lock().phase = Phase::Stopped;
            }
        }
    }
}

/// Tells whoever handles events of a connection.
pub(crate) fn tell_event(connection: &Arc<Connection>, outcome: Outcome, delay_ms: i32) {
    let event = connection.consumers.lock().event.clone();
    if let Some(event) = event {
        let what =
            CallbackContext { delay_ms, ..CallbackContext::of(call_type::EVENT, outcome, 0) };
        call(connection, &event, -1, None, &mut [], what);
    }
}

fn set_idle(connection: &Connection, hobj: i32, since: Option<Duration>) {
    let mut consumers = connection.consumers.lock();
    for one in consumers.list.iter_mut().filter(|one| one.hobj == hobj) {
        one.idle_since = since;
    }
}

fn set_suspended(connection: &Connection, hobj: i32) {
    let mut consumers = connection.consumers.lock();
    consumers.list.iter_mut().filter(|one| one.hobj == hobj).for_each(|one| one.suspended = true);
}

/// Tells those that have waited as long as they wanted that there is no message, once.
fn tell_idle(connection: &Arc<Connection>, looked_at: &[Consumer]) {
    let now = connection.consumers.lock().now();
    tell_idle_since(connection, looked_at, now);
}

/// The same, of a look that ended then.
fn tell_idle_since(connection: &Arc<Connection>, looked_at: &[Consumer], now: Duration) {
    for one in looked_at {
        let gmo = &one.wanted.gmo;
        let waits = gmo.options & value::get::WAIT != 0;
        let limit = if waits { gmo.wait_interval } else { 0 };
        // Those that wait without limit are never told.
        let Ok(limit) = u64::try_from(limit).map(Duration::from_millis) else { continue };
        let over = one.idle_since.is_some_and(|since| now.saturating_sub(since) >= limit);
        // One that was called just now may have seen to it that no other one is.
        if over && connection.consumers.lock().may_call(one) {
            set_idle(connection, one.hobj, None);
            let none = Outcome::failed(Reason::NO_MSG_AVAILABLE);
            let what = CallbackContext::of(call_type::MSG_NOT_REMOVED, none, 0);
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
    let what = CallbackContext::of(kind, outcome, length);
    call(connection, &consumer.program, consumer.hobj, Some(got), data, what);
}

/// Calls every consumer that wants to know of it.
fn call_all(connection: &Arc<Connection>, option: i32, kind: i32) {
    let all = connection.consumers.lock().list.clone();
    for one in all.iter().filter(|one| one.program.options & option != 0) {
        if connection.consumers.lock().has(one) {
            call_plain(connection, one, kind);
        }
    }
}

fn call_plain(connection: &Arc<Connection>, consumer: &Consumer, kind: i32) {
    let what = CallbackContext::of(kind, Outcome::OK, 0);
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

/// Why a program is called back.
#[derive(Clone, Copy)]
struct CallbackContext {
    /// Of [`call_type`].
    kind: i32,
    outcome: Outcome,
    /// Bytes of the message.
    length: i32,
    /// Milliseconds until the connection is tried to be made again.
    delay_ms: i32,
}

impl CallbackContext {
    fn of(kind: i32, outcome: Outcome, length: i32) -> CallbackContext {
        CallbackContext { kind, outcome, length, delay_ms: 0 }
    }
}

fn call(
    connection: &Arc<Connection>,
    program: &Program,
    hobj: i32,
    got: Option<&Wanted>,
    data: &mut [u8],
    CallbackContext { kind, outcome, length, delay_ms }: CallbackContext,
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
        reconnect_delay: delay_ms,
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
