//! Calls of a program as requests and answers, whatever brings them.
//!
//! Invariants:
//! 1. A wait in a get is cut into pieces; between two of them it is asked whether the program is
//!    still there. If that is not known, the answer says how much of the wait is left.

use queue_manager::branch::BranchCall;
use queue_manager::options::{Handle, MessageHandle, value};
use queue_manager::properties::InquireOptions;
use queue_manager::reason::Answer;
use queue_manager::{Completion, Failed, Outcome, Reason};

use super::calls::Calls;
use crate::convert;
use crate::structures::Sts;
use crate::table::Structure as _;
use crate::wire::branch;
use crate::wire::codec::Writer;
use crate::wire::{Object, Posting, Request, Wanted, property_parts, write_records};

/// The longest piece of a wait, in milliseconds.
const PIECE_MS: i32 = 250;
/// How long one queue of several is waited at, in milliseconds.
const TURN_MS: i32 = 20;
/// After so many looks at queues it is asked whether the program is still there.
const LOOKS: usize = 64;
/// A buffer longer than this is given back after its message.
const BUFFER_KEPT_BYTES: usize = 4 * 1024 * 1024;

/// What one program asks for, and is answered.
pub(super) struct Dialogue {
    /// The message data of the request, and then of the answer.
    pub(super) buffer: Vec<u8>,
}

/// An answer: its fields behind the outcome; its data is in the buffer.
pub(super) struct Reply {
    outcome: Outcome,
    fields: Writer,
    has_data: bool,
    /// Nothing has come yet, and the program would wait so many milliseconds more; -1: for ever.
    pub(super) left_ms: Option<i32>,
}

impl Reply {
    pub(super) fn of(outcome: Outcome, fields: Writer) -> Reply {
        Reply { outcome, fields, has_data: false, left_ms: None }
    }

    pub(super) fn failed(reason: Reason) -> Reply {
        Reply::of(Outcome::failed(reason), Writer::new())
    }

    pub(super) fn plain(answer: Answer<Outcome>) -> Reply {
        Reply::of(outcome_of(answer), Writer::new())
    }
}

fn outcome_of(answer: Answer<Outcome>) -> Outcome {
    answer.unwrap_or_else(Outcome::from)
}

/// Whether a program that waits is still there.
pub(super) type IsThere<'a> = &'a dyn Fn() -> bool;

/// A get, or one turn of a consumer.
struct Piece<'a> {
    handle: i32,
    wanted: &'a Wanted,
    /// How long to wait at most, whatever the caller asks.
    limit_ms: Option<i32>,
    is_there: IsThere<'a>,
}

impl Dialogue {
    pub(super) fn new() -> Dialogue {
        Dialogue { buffer: Vec::new() }
    }

    /// The fields of an answer, its outcome in front, and its data.
    pub(super) fn parts(&self, reply: Reply) -> (Vec<u8>, &[u8]) {
        let mut fields = Writer::new();
        fields.number(reply.outcome.completion as i32).number(reply.outcome.reason.0);
        fields.fixed(&reply.fields.into_bytes());
        let data = if reply.has_data { &self.buffer[..] } else { &[] };
        (fields.into_bytes(), data)
    }

    /// Gives memory back that a long message took.
    pub(super) fn rest(&mut self) {
        if self.buffer.capacity() > BUFFER_KEPT_BYTES {
            self.buffer = Vec::new();
        }
    }

    /// Makes a call; its message data is in the buffer.
    pub(super) fn call(
        &mut self,
        calls: &mut dyn Calls,
        request: Request,
        is_there: IsThere<'_>,
    ) -> Reply {
        match request {
            Request::Open { object, options } => open(calls, &object, options),
            Request::Close { handle, options } => {
                Reply::plain(calls.close(Handle(handle), options))
            }
            Request::Put { handle, posting } => put(calls, handle, &posting, &self.buffer),
            Request::Put1 { object, posting } => put1(calls, &object, &posting, &self.buffer),
            Request::Get { handle, wanted } => self.get(calls, handle, &wanted, is_there),
            Request::Consume { wait_ms, list } => self.consume(calls, wait_ms, &list, is_there),
            Request::Inquire { handle, selectors } => {
                let mut fields = Writer::new();
                let outcome = calls.inquire(Handle(handle), &selectors).map(|found| {
                    fields.numbers(&found.numbers).bytes(&found.characters);
                    found.outcome
                });
                Reply::of(outcome_of(outcome), fields)
            }
            Request::Set { handle, selectors, numbers, characters } => {
                Reply::plain(calls.set(Handle(handle), &selectors, &numbers, &characters))
            }
            Request::Branch(call) => decide(calls, &call),
            Request::Commit => Reply::plain(calls.commit()),
            Request::Back => Reply::plain(calls.back()),
            Request::Begin => Reply::plain(calls.begin()),
            Request::Subscribe { sd, texts, handle } => {
                let mut what = convert::subscription(&sd, &texts);
                let destination = (handle > 0).then_some(Handle(handle));
                let answer = calls.subscribe(&mut what, destination);
                let (mut queue, mut subscription) = (-1, -1);
                let outcome = answer.map(|(managed, own, outcome)| {
                    queue = managed.map_or(handle, |managed| managed.0);
                    subscription = own.0;
                    outcome
                });
                let mut after = sd.clone();
                convert::tell_subscription(&mut after, &what);
                let mut fields = Writer::new();
                fields.structure(&after, &sd).bytes(what.resolved_object_string.as_bytes());
                fields.number(queue).number(subscription);
                Reply::of(outcome_of(outcome), fields)
            }
            Request::SubscriptionRequest { handle, action } => {
                let mut fields = Writer::new();
                let outcome = calls.subscription_request(Handle(handle), action).map(|count| {
                    fields.number(count);
                    Outcome::OK
                });
                Reply::of(outcome_of(outcome), fields)
            }
            Request::Status { kind } => {
                let mut fields = Writer::new();
                let outcome = calls.status(kind).map(|status| {
                    let mut sts = Sts::initial();
                    convert::tell_status(&mut sts, &status);
                    fields.structure(&sts, &Sts::initial());
                    Outcome::OK
                });
                Reply::of(outcome_of(outcome), fields)
            }
            other => self.properties(calls, other),
        }
    }

    /// The calls on message handles.
    fn properties(&mut self, calls: &mut dyn Calls, request: Request) -> Reply {
        let mut fields = Writer::new();
        let mut has_data = false;
        let outcome = match request {
            Request::CreateHandle => calls.create_message_handle().map(|handle| {
                fields.long(handle.0);
                Outcome::OK
            }),
            Request::DeleteHandle { handle } => {
                calls.delete_message_handle(MessageHandle(handle)).map(|()| Outcome::OK)
            }
            Request::SetProperty { handle, name, value } => {
                calls.set_property(MessageHandle(handle), &name, value)
            }
            Request::InquireProperty { handle, name, which } => {
                let options = match which {
                    1 => InquireOptions::Next,
                    2 => InquireOptions::UnderCursor,
                    _ => InquireOptions::First,
                };
                calls.inquire_property(MessageHandle(handle), &name, options).map(|property| {
                    let (kind, bytes) = property_parts(&property.value);
                    fields.bytes(property.name.as_bytes()).number(kind).bytes(&bytes);
                    Outcome::OK
                })
            }
            Request::DeleteProperty { handle, name } => {
                calls.delete_property(MessageHandle(handle), &name)
            }
            Request::BufferToHandle { handle, md, delete } => {
                let mut descriptor = convert::descriptor(&md);
                let handle = MessageHandle(handle);
                let rest = calls.buffer_to_handle(handle, &mut descriptor, &self.buffer, delete);
                let mut after = md.clone();
                convert::describe(&mut after, &descriptor);
                fields.structure(&after, &md);
                has_data = rest.is_ok();
                rest.map(|rest| {
                    self.buffer = rest;
                    Outcome::OK
                })
            }
            Request::HandleToBuffer { handle, name, md, delete } => {
                let mut descriptor = convert::descriptor(&md);
                let handle = MessageHandle(handle);
                let made = calls.handle_to_buffer(handle, &name, &mut descriptor, delete);
                let mut after = md.clone();
                convert::describe(&mut after, &descriptor);
                fields.structure(&after, &md);
                has_data = made.is_ok();
                made.map(|made| {
                    self.buffer = made;
                    Outcome::OK
                })
            }
            // A second connect, on a connection that has its queue manager.
            _ => Err(Failed(Reason::ALREADY_CONNECTED)),
        };
        Reply { outcome: outcome_of(outcome), fields, has_data, left_ms: None }
    }

    fn get(
        &mut self,
        calls: &mut dyn Calls,
        handle: i32,
        wanted: &Wanted,
        is_there: IsThere<'_>,
    ) -> Reply {
        let mut fields = Writer::new();
        let piece = Piece { handle, wanted, limit_ms: None, is_there };
        let (outcome, left_ms) = self.get_in_pieces(calls, &piece, &mut fields);
        let has_data = outcome.completion != Completion::Failed;
        Reply { outcome, fields, has_data, left_ms }
    }

    /// Gets, waiting as long as the caller asks, or so long at most. Answers also what is left of
    /// the wait if nobody is known to be there.
    fn get_in_pieces(
        &mut self,
        calls: &mut dyn Calls,
        piece: &Piece<'_>,
        fields: &mut Writer,
    ) -> (Outcome, Option<i32>) {
        let Piece { handle, wanted, limit_ms, is_there } = *piece;
        let room = usize::try_from(wanted.room).unwrap_or_default();
        let waits = wanted.gmo.options & value::get::WAIT != 0;
        let mut left = limit_ms.unwrap_or(wanted.gmo.wait_interval);
        loop {
            let mut descriptor = convert::descriptor(&wanted.md);
            let mut options = convert::get_options(&wanted.gmo);
            options.extends = convert::is_first_version(&wanted.md);
            // A wait that is none, such as -2, is for the queue manager to refuse.
            let is_cut = waits && (left > PIECE_MS || left == value::WAIT_UNLIMITED);
            if limit_ms.is_some() || is_cut {
                options.options |= value::get::WAIT;
                options.wait_interval = if is_cut { PIECE_MS } else { left };
            }
            self.buffer.clear();
            let answer =
                calls.get(Handle(handle), &mut descriptor, &mut options, room, &mut self.buffer);
            let nothing = matches!(answer, Err(Failed(Reason::NO_MSG_AVAILABLE)));
            let mut left_ms = None;
            if nothing && is_cut {
                left = if left == value::WAIT_UNLIMITED { left } else { left - PIECE_MS };
                if is_there() {
                    continue;
                }
                left_ms = Some(left);
            }
            let (mut md, mut gmo) = (wanted.md.clone(), wanted.gmo.clone());
            let mut data_length = 0;
            let outcome = outcome_of(answer.map(|got| {
                data_length = got.data_length;
                convert::describe(&mut md, &descriptor);
                convert::tell_get(&mut gmo, &options);
                got.outcome
            }));
            self.buffer.truncate(room);
            fields.structure(&md, &wanted.md).structure(&gmo, &wanted.gmo);
            fields.count(data_length);
            return (outcome, left_ms);
        }
    }

    /// Gets from whichever of several has a message first.
    fn consume(
        &mut self,
        calls: &mut dyn Calls,
        wait_ms: i32,
        list: &[(i32, Wanted)],
        is_there: IsThere<'_>,
    ) -> Reply {
        let mut left = wait_ms.clamp(0, 10 * PIECE_MS);
        let turn = if list.len() == 1 { PIECE_MS } else { TURN_MS };
        let mut limit = 0;
        loop {
            for (place, (handle, wanted)) in list.iter().enumerate() {
                // A long list takes long to go through, too.
                if place % LOOKS == LOOKS - 1 && !is_there() {
                    return Reply::failed(Reason::CONNECTION_BROKEN);
                }
                limit = limit.min(left.max(0));
                let mut fields = Writer::new();
                fields.count(place);
                let piece = Piece { handle: *handle, wanted, limit_ms: Some(limit), is_there };
                let (outcome, _) = self.get_in_pieces(calls, &piece, &mut fields);
                if outcome.reason != Reason::NO_MSG_AVAILABLE {
                    let has_data = outcome.completion != Completion::Failed;
                    return Reply { outcome, fields, has_data, left_ms: None };
                }
                // The first of several is waited at longer, the others are looked at.
                left -= limit;
            }
            if left <= 0 || list.is_empty() || !is_there() {
                let mut fields = Writer::new();
                fields.number(-1);
                return Reply::of(Outcome::failed(Reason::NO_MSG_AVAILABLE), fields);
            }
            let each = i32::try_from(list.len()).unwrap_or(i32::MAX);
            limit = turn.min((left / each).max(1));
        }
    }
}

fn decide(calls: &mut dyn Calls, call: &BranchCall) -> Reply {
    let mut fields = Writer::new();
    branch::write_answer(&calls.branch(call), &mut fields);
    Reply::of(Outcome::OK, fields)
}

fn open(calls: &mut dyn Calls, object: &Object, options: i32) -> Reply {
    let mut what = convert::object(object);
    let mut handle = -1;
    let answer = calls.open(&mut what, options).map(|(opened, outcome)| {
        handle = opened.0;
        outcome
    });
    let mut fields = Writer::new();
    object_fields(&mut fields, object, &what);
    fields.number(handle);
    Reply::of(outcome_of(answer), fields)
}

fn put(calls: &mut dyn Calls, handle: i32, posting: &Posting, data: &[u8]) -> Reply {
    let mut descriptor = convert::descriptor(&posting.md);
    let mut options = convert::put_options(posting);
    let answer = calls.put(Handle(handle), &mut descriptor, &mut options, data);
    let mut fields = Writer::new();
    posting_fields(&mut fields, posting, &descriptor, &options);
    Reply::of(outcome_of(answer), fields)
}

fn put1(calls: &mut dyn Calls, object: &Object, posting: &Posting, data: &[u8]) -> Reply {
    let mut what = convert::object(object);
    let mut descriptor = convert::descriptor(&posting.md);
    let mut options = convert::put_options(posting);
    let answer = calls.put1(&mut what, &mut descriptor, &mut options, data);
    let mut fields = Writer::new();
    object_fields(&mut fields, object, &what);
    posting_fields(&mut fields, posting, &descriptor, &options);
    Reply::of(outcome_of(answer), fields)
}

fn object_fields(
    fields: &mut Writer,
    object: &Object,
    what: &queue_manager::options::ObjectDescriptor,
) {
    let mut od = object.od.clone();
    convert::resolve(&mut od, what);
    fields.structure(&od, &object.od).bytes(what.resolved_object_string.as_bytes());
    outcomes(fields, &what.responses);
}

fn posting_fields(
    fields: &mut Writer,
    posting: &Posting,
    descriptor: &queue_manager::MessageDescriptor,
    options: &queue_manager::options::PutOptions,
) {
    let (mut md, mut pmo) = (posting.md.clone(), posting.pmo.clone());
    convert::describe(&mut md, descriptor);
    convert::tell_put(&mut pmo, options);
    fields.structure(&md, &posting.md).structure(&pmo, &posting.pmo);
    write_records(fields, &options.records);
    outcomes(fields, &options.responses);
}

fn outcomes(fields: &mut Writer, all: &[Outcome]) {
    fields.count(all.len());
    for one in all {
        fields.number(one.completion as i32).number(one.reason.0);
    }
}
