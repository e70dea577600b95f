//! Getting and browsing.
//!
//! 1. A getter that finds nothing and waits holds no latch; it looks again whenever the queue's
//!    arrivals change.
//! 2. A message that does not fit the buffer stays where it is, unless the caller takes it so; a
//!    cursor stays where it was, too.
//! 3. What the caller is told of the message is complete before it is taken for good.

use std::sync::Arc;
use std::time::Duration;

use store::Store;

use super::delivery::{Delivery, Receiving};
use super::session::{Logical, Open, OpenQueue, Opened, Session};
use crate::convert::Form;
use crate::core::{Core, Found, From, Report, Request, Work};
use crate::descriptor::{MessageDescriptor, NO_IDENTIFIER};
use crate::options::value::{get as getting, matching, open as opening};
use crate::options::{GetOptions, Got, Handle};
use crate::queue::{Place, Queue};
use crate::reason::{Answer, Outcome, Reason, fail, require};

/// Gets or browses a message.
pub(super) fn get<S: Store>(
    session: &mut Session<S>,
    handle: Handle,
    descriptor: &mut MessageDescriptor,
    options: &mut GetOptions,
    room: usize,
    buffer: &mut Vec<u8>,
) -> Answer<Got> {
    session.goes_on(options.options & getting::FAIL_IF_QUIESCING != 0)?;
    let open = session.open(handle)?;
    require(matches!(open.object, Opened::Queue(_)), Reason::NOT_OPEN_FOR_INPUT)?;
    check_options(open.options, options)?;
    if let Some(handle) = options.msg_handle {
        session.replace_properties(handle)?;
    }
    let in_unit = in_unit(session, options.options)?;
    if in_unit.certainly {
        session.work.has_room(session.core.manager_settings().uncommitted_max)?;
    }
    // The open object is lent to the call and comes back whatever happens.
    let Some(mut open) = session.handles.remove(&handle.0) else {
        return fail(Reason::HOBJ_ERROR);
    };
    let done = match &mut open.object {
        Opened::Queue(_) => {
            get_open(session, &mut open, descriptor, options, (room, in_unit), buffer)
        }
        _ => fail(Reason::NOT_OPEN_FOR_INPUT),
    };
    session.handles.insert(handle.0, open);
    session.note_unit();
    done
}

/// Whether a get is part of the unit of work; for persistent messages, and for others.
#[derive(Clone, Copy)]
struct InUnit {
    certainly: bool,
    if_persistent: bool,
}

fn in_unit<S: Store>(session: &Session<S>, options: i32) -> Answer<InUnit> {
    let asked = [getting::SYNCPOINT, getting::NO_SYNCPOINT, getting::SYNCPOINT_IF_PERSISTENT];
    let count = asked.iter().filter(|option| options & **option != 0).count();
    require(count <= 1, Reason::OPTIONS_ERROR)?;
    let if_persistent = options & getting::SYNCPOINT_IF_PERSISTENT != 0;
    let certainly = !if_persistent
        && options & getting::ANY_BROWSE == 0
        && session.in_unit(options & (getting::SYNCPOINT | getting::NO_SYNCPOINT))?;
    Ok(InUnit { certainly, if_persistent })
}

fn check_options(open_options: i32, options: &GetOptions) -> Answer<()> {
    let asked = options.options;
    require(asked & !getting::ALL == 0, Reason::OPTIONS_ERROR)?;
    let browse = asked & getting::ANY_BROWSE;
    require(browse.count_ones() <= 1, Reason::OPTIONS_ERROR)?;
    let under_cursor = asked & getting::MSG_UNDER_CURSOR != 0;
    let unlock = asked & getting::UNLOCK != 0;
    require(browse == 0 || !under_cursor, Reason::OPTIONS_ERROR)?;
    require(asked & getting::LOCK == 0 || browse != 0, Reason::OPTIONS_ERROR)?;
    require(!unlock || (browse == 0 && !under_cursor), Reason::OPTIONS_ERROR)?;
    let in_unit = getting::SYNCPOINT | getting::SYNCPOINT_IF_PERSISTENT;
    require(browse == 0 || asked & in_unit == 0, Reason::OPTIONS_ERROR)?;
    let marking = getting::MARK_BROWSE_HANDLE | getting::MARK_BROWSE_CO_OP;
    require(asked & marking == 0 || browse != 0, Reason::OPTIONS_ERROR)?;
    let skip = asked & getting::MARK_SKIP_BACKOUT == 0 || asked & getting::SYNCPOINT != 0;
    require(skip, Reason::OPTIONS_ERROR)?;
    let properties = getting::PROPERTIES_FORCE_MQRFH2
        | getting::NO_PROPERTIES
        | getting::PROPERTIES_IN_HANDLE
        | getting::PROPERTIES_COMPATIBILITY;
    require((asked & properties).count_ones() <= 1, Reason::OPTIONS_ERROR)?;
    if browse != 0 || unlock {
        let opened = opening::BROWSE;
        require(open_options & opened != 0, Reason::NOT_OPEN_FOR_BROWSE)?;
    } else {
        require(open_options & opening::ANY_INPUT != 0, Reason::NOT_OPEN_FOR_INPUT)?;
        let browses = !under_cursor || open_options & opening::BROWSE != 0;
        require(browses, Reason::NOT_OPEN_FOR_BROWSE)?;
    }
    require(options.match_options & !matching::ALL == 0, Reason::MATCH_OPTIONS_ERROR)?;
    let waits = asked & getting::WAIT != 0;
    require(!waits || options.wait_interval >= -1, Reason::WAIT_INTERVAL_ERROR)?;
    // A signal would come from outside of a call; a program that wants one waits instead.
    require(asked & getting::SET_SIGNAL == 0, Reason::OPTIONS_ERROR)
}

fn get_open<S: Store>(
    session: &mut Session<S>,
    open: &mut Open,
    descriptor: &mut MessageDescriptor,
    options: &mut GetOptions,
    (room, in_unit): (usize, InUnit),
    buffer: &mut Vec<u8>,
) -> Answer<Got> {
    let serial = open.serial;
    let saves_context = open.options & opening::SAVE_ALL_CONTEXT != 0;
    let Opened::Queue(queue) = &mut open.object else { return fail(Reason::NOT_OPEN_FOR_INPUT) };
    let Some(local) = queue.local().cloned() else { return fail(Reason::NOT_OPEN_FOR_INPUT) };
    if let Some(via) = &queue.resolved.via {
        let object = session.core.object(crate::objects::Kind::QueueLocal, &via.name);
        let enabled = object.is_none_or(|object| object.is("GET", "ENABLED"));
        require(enabled, Reason::GET_INHIBITED)?;
    }
    if options.options & getting::UNLOCK != 0 {
        return unlock(queue, &local, serial, buffer);
    }
    unmark(queue, &local, options.options);
    let core = Arc::clone(&session.core);
    let mut own = Work::new(&core);
    let asked = options.options;
    let browses = asked & getting::ANY_BROWSE != 0;
    let call = Call { core: &core, queue: &local, serial, in_unit };
    let searches = in_unit.certainly || in_unit.if_persistent || browses;
    let work = if searches { &mut session.work } else { &mut own };
    work.goes_on()?;
    let found = call.wait(queue, work, descriptor, options, &session.client)?;
    let segments = call.gather(work, &found, options)?;
    let handle = options.msg_handle.and_then(|it| session.message_handles.get_mut(&it.0));
    let form = (asked & getting::CONVERT != 0)
        .then(|| Form::asked(descriptor, core.manager_settings().ccsid));
    let delivery =
        Delivery::of(queue, &Receiving { options, room, form }, (&found, &segments), handle);
    let outcome = delivery.fit(options, room);
    delivery.tell(&core, options, &local, descriptor, room);
    let data_length = delivery.len();
    if outcome.reason == Reason::TRUNCATED_MSG_FAILED {
        for one in segments.iter().chain([&found]).filter(|_| !browses) {
            local.give_back(one.at, one.before);
        }
        if browses && asked & getting::BROWSE_FIRST != 0 {
            // In front of the message that did not fit.
            (queue.cursor, queue.browsing, queue.group_at) = (None, None, None);
        }
        drop((found, segments));
        delivery.hand_over(room, buffer);
        return Ok(Got { outcome, data_length });
    }
    let inside = in_unit.certainly || (in_unit.if_persistent && found.entry.persistent);
    if browses {
        call.browsed(queue, options, &found)?;
    } else {
        queue.cursor = queue.cursor.filter(|at| *at != found.at);
        queue.locked = queue.locked.filter(|at| *at != found.at);
        let stays = asked & getting::MARK_SKIP_BACKOUT != 0;
        let work = if inside { &mut session.work } else { &mut own };
        call.take_all(work, &found, &segments, stays)?;
        own.commit(&core)?;
        if saves_context {
            queue.context = Some(Box::new(found.message.descriptor.clone()));
        }
    }
    follow(queue, asked, (&found, &segments), (in_unit.certainly, inside));
    drop((found, segments));
    delivery.hand_over(room, buffer);
    Ok(Got { outcome, data_length })
}

/// Gives back the message that the handle has locked.
fn unlock(
    queue: &mut OpenQueue,
    local: &Arc<Queue>,
    serial: u64,
    buffer: &mut Vec<u8>,
) -> Answer<Got> {
    let Some(at) = queue.locked.take() else { return fail(Reason::NO_MSG_LOCKED) };
    let mut state = local.state.lock();
    require(state.index.unlock(at, serial), Reason::NO_MSG_LOCKED)?;
    local.notify(&mut state, 1);
    buffer.clear();
    Ok(Got { outcome: Outcome::OK, data_length: 0 })
}

fn unmark(queue: &mut OpenQueue, local: &Arc<Queue>, options: i32) {
    let Some(cursor) = queue.cursor else { return };
    if options & getting::UNMARK_BROWSE_HANDLE != 0 {
        queue.marked.remove(&cursor);
    }
    if options & getting::UNMARK_BROWSE_CO_OP != 0 {
        local.state.lock().marks.remove(&cursor);
    }
}

/// Notes where a group that is got or browsed in its logical order stands. It was asked for in the
/// unit of work or not; whether it was got inside is for the message to say, too.
fn follow(
    queue: &mut OpenQueue,
    options: i32,
    (found, segments): (&Found, &[Found]),
    (in_unit, inside): (bool, bool),
) {
    let browses = options & getting::ANY_BROWSE != 0;
    if browses && options & getting::BROWSE_FIRST != 0 {
        queue.browsing = None;
    }
    if options & getting::LOGICAL_ORDER == 0 {
        queue.group_at = queue.group_at.filter(|_| !browses);
        return;
    }
    let last = &segments.last().unwrap_or(found).message;
    let state = Logical::after(&last.descriptor, last.data.len(), in_unit);
    if browses {
        if queue.browsing.is_none() {
            queue.group_at = Some(found.at);
        }
        queue.browsing = state;
    } else {
        queue.getting.go(state, inside);
    }
}

/// What the steps of one call share.
struct Call<'c, S: Store> {
    core: &'c Arc<Core<S>>,
    queue: &'c Arc<Queue>,
    serial: u64,
    in_unit: InUnit,
}

impl<S: Store> Call<'_, S> {
    /// Finds a message, waiting for it if the options say so.
    fn wait(
        &self,
        open: &OpenQueue,
        work: &mut Work<S>,
        descriptor: &MessageDescriptor,
        options: &GetOptions,
        client: &crate::core::Client,
    ) -> Answer<Found> {
        let clock = &self.core.options.clock;
        // What is at the cursor is there, or never will be.
        let waits =
            options.options & getting::WAIT != 0 && options.options & getting::AT_CURSOR == 0;
        let deadline = match (waits, options.wait_interval) {
            (true, -1) => None,
            (true, ms) => {
                Some(clock.monotonic() + Duration::from_millis(u64::try_from(ms).unwrap_or(0)))
            }
            (false, _) => Some(Duration::ZERO),
        };
        let quiesces = options.options & getting::FAIL_IF_QUIESCING != 0;
        let goes_on = || {
            let broken = client.broken.load(std::sync::atomic::Ordering::Acquire);
            require(!broken, Reason::CONNECTION_BROKEN)?;
            self.core.goes_on(quiesces)
        };
        loop {
            // Counted first: what ends the call from here on is an arrival, too.
            let arrivals = self.queue.state.lock().getters.arrivals();
            if let Err(failed) = goes_on() {
                // It may have been woken for a message.
                self.queue.notify(&mut self.queue.state.lock(), 1);
                return Err(failed);
            }
            let request = self.request(open, work, descriptor, options)?;
            let choosy = request.selector.is_some() || request.ids.iter().any(Option::is_some);
            if let Some(found) = self.core.find(self.queue, &request, work.open_unit())? {
                return Ok(found);
            }
            let mut state = self.queue.state.lock();
            while state.getters.arrivals() == arrivals {
                let left = deadline.map(|at| at.saturating_sub(clock.monotonic()));
                if left.is_some_and(|left| left.is_zero()) {
                    state.statistics.failed_gets += 1;
                    return fail(nothing(options));
                }
                self.queue.wait(&mut state, left, choosy);
                if let Err(failed) = goes_on() {
                    // Who was woken for a message and goes leaves it to the next.
                    self.queue.notify(&mut state, 1);
                    return Err(failed);
                }
            }
        }
    }

    fn request<'r>(
        &self,
        open: &'r OpenQueue,
        work: &Work<S>,
        descriptor: &MessageDescriptor,
        options: &GetOptions,
    ) -> Answer<Request<'r>> {
        let asked = options.options;
        let from = begin(open, asked)?;
        let browses = asked & getting::ANY_BROWSE != 0;
        let mut seeker = work.seeker(self.serial, self.core.now_tenths());
        if !browses && !self.in_unit.certainly {
            // What this unit of work has put can be got in it alone.
            let own = self.in_unit.if_persistent;
            seeker.unit = if own { work.number() } else { u64::MAX };
        }
        let mut request = Request {
            seeker,
            from,
            ids: [None; 3],
            sequence: None,
            offset: None,
            selector: open.selector.as_ref(),
            unmarked: asked & getting::UNMARKED_BROWSE_MSG != 0,
            marked_by_handle: &open.marked,
            begins: false,
            all_messages: false,
            all_segments: false,
            take: !browses,
        };
        if asked & getting::AT_CURSOR != 0 {
            return Ok(request);
        }
        let wants = |option: i32| options.match_options & option != 0;
        if wants(matching::MSG_TOKEN) && options.msg_token != [0; 16] {
            let mut place = [0; 8];
            place.copy_from_slice(&options.msg_token[..8]);
            request.from = From::At(Place::from_be_bytes(place));
            return Ok(request);
        }
        let identified = [
            (matching::MSG_ID, descriptor.msg_id),
            (matching::CORREL_ID, descriptor.correl_id),
            (matching::GROUP_ID, descriptor.group_id),
        ];
        for (slot, (option, id)) in request.ids.iter_mut().zip(identified) {
            *slot = (wants(option) && id != NO_IDENTIFIER).then_some(id);
        }
        request.sequence = wants(matching::MSG_SEQ_NUMBER).then_some(descriptor.msg_seq_number);
        request.offset = wants(matching::OFFSET).then_some(descriptor.offset);
        request.all_messages = asked & getting::ALL_MSGS_AVAILABLE != 0;
        let complete = asked & getting::COMPLETE_MSG != 0;
        request.all_segments = complete || asked & getting::ALL_SEGMENTS_AVAILABLE != 0;
        if complete {
            request.offset = Some(0);
        }
        if asked & getting::LOGICAL_ORDER != 0 {
            let begun = match browses {
                true => open.browsing.filter(|_| asked & getting::BROWSE_FIRST == 0),
                false => open.getting.now(),
            };
            self.logical(begun, &mut request)?;
        }
        Ok(request)
    }

    /// Asks for what comes next in logical order.
    fn logical(&self, begun: Option<Logical>, request: &mut Request<'_>) -> Answer<()> {
        match begun {
            None => request.begins = true,
            Some(state) => {
                let same = !request.take || state.in_unit == self.in_unit.certainly;
                require(same, Reason::INCONSISTENT_UOW)?;
                request.ids = [None, None, Some(state.group)];
                request.sequence = Some(state.sequence);
                request.offset = Some(state.offset);
                // The completeness was seen when the group was begun.
                request.all_messages = false;
                request.from = From::First;
            }
        }
        Ok(())
    }

    /// The further segments of a message that is asked for whole.
    fn gather(
        &self,
        work: &mut Work<S>,
        first: &Found,
        options: &GetOptions,
    ) -> Answer<Vec<Found>> {
        let mut segments: Vec<Found> = Vec::new();
        if options.options & getting::COMPLETE_MSG == 0 {
            return Ok(segments);
        }
        let nothing = std::collections::BTreeSet::new();
        let mut offset = first.message.data.len();
        let mut last = first.message.descriptor.is_last_segment();
        while !last {
            let request = Request {
                seeker: work.seeker(self.serial, self.core.now_tenths()),
                from: From::First,
                ids: [None, None, Some(first.message.descriptor.group_id)],
                sequence: Some(first.message.descriptor.msg_seq_number),
                offset: Some(i32::try_from(offset).unwrap_or(i32::MAX)),
                selector: None,
                unmarked: false,
                marked_by_handle: &nothing,
                begins: false,
                all_messages: false,
                all_segments: false,
                take: options.options & getting::ANY_BROWSE == 0,
            };
            let found = self.core.find(self.queue, &request, work.open_unit());
            let Ok(Some(next)) = found else {
                // Another getter was faster with one of them.
                for one in segments.iter().chain([first]).filter(|_| request.take) {
                    self.queue.give_back(one.at, one.before);
                }
                return found.and(fail(Reason::NO_MSG_AVAILABLE));
            };
            offset += next.message.data.len();
            last = next.message.descriptor.is_last_segment();
            segments.push(next);
        }
        Ok(segments)
    }

    /// A browse found a message: the cursor follows.
    fn browsed(&self, open: &mut OpenQueue, options: &GetOptions, found: &Found) -> Answer<()> {
        let mut state = self.queue.state.lock();
        let before = open.locked.take();
        if let Some(at) = before.filter(|at| *at != found.at)
            && state.index.unlock(at, self.serial)
        {
            self.queue.notify(&mut state, 1);
        }
        open.cursor = Some(found.at);
        state.statistics.browses += 1;
        if options.options & getting::LOCK != 0 {
            require(state.index.lock(found.at, self.serial), Reason::NO_MSG_AVAILABLE)?;
            open.locked = Some(found.at);
            open.locked_descriptor = Some(Box::new(found.message.descriptor.clone()));
        } else if let Some(at) = before.filter(|at| *at == found.at)
            && state.index.unlock(at, self.serial)
        {
            self.queue.notify(&mut state, 1);
        }
        if options.options & getting::MARK_BROWSE_HANDLE != 0 {
            open.marked.insert(found.at);
        }
        drop(state);
        if options.options & getting::MARK_BROWSE_CO_OP != 0 {
            let interval = self.core.manager_settings().mark_interval_ms;
            let until = self.core.now_ms().saturating_add(interval);
            self.queue.state.lock().marks.insert(found.at, until);
        }
        Ok(())
    }

    /// The segments of a message are got in the unit of work: all of them or none.
    fn take_all(
        &self,
        work: &mut Work<S>,
        first: &Found,
        segments: &[Found],
        stays: bool,
    ) -> Answer<()> {
        if segments.is_empty() {
            return self.take(work, first, stays);
        }
        let mark = work.mark();
        for (number, one) in std::iter::once(first).chain(segments).enumerate() {
            if let Err(failed) = self.take(work, one, stays) {
                // The failed one is given back already.
                for one in &segments[number..] {
                    self.queue.give_back(one.at, one.before);
                }
                work.undo_to(mark);
                return Err(failed);
            }
        }
        Ok(())
    }

    /// The message is got in the unit of work, and the report that it asks for is put there.
    fn take(&self, work: &mut Work<S>, found: &Found, stays: bool) -> Answer<()> {
        work.take(self.core, self.queue, found.taken(), &found.message.descriptor, stays)?;
        let now = self.core.now_ms();
        {
            let mut state = self.queue.state.lock();
            state.statistics.got(&found.message, now);
            state.marks.remove(&found.at);
        }
        self.core.report(work, &found.message, Report::Delivery);
        Ok(())
    }
}

/// Where to look for the message that is asked for.
fn begin(open: &OpenQueue, asked: i32) -> Answer<From> {
    if asked & getting::AT_CURSOR != 0 {
        return open.cursor.map_or(fail(Reason::NO_MSG_UNDER_CURSOR), |at| Ok(From::At(at)));
    }
    let Some(cursor) = open.cursor.filter(|_| asked & getting::BROWSE_NEXT != 0) else {
        return Ok(From::First);
    };
    // Groups follow each other as their first messages do.
    let group = open.group_at.filter(|_| asked & getting::LOGICAL_ORDER != 0);
    Ok(From::After(group.unwrap_or(cursor)))
}

/// Why nothing was found.
fn nothing(options: &GetOptions) -> Reason {
    if options.options & getting::AT_CURSOR != 0 {
        Reason::NO_MSG_UNDER_CURSOR
    } else {
        Reason::NO_MSG_AVAILABLE
    }
}
