//! What a program has open, so that a connection that broke can be made again beneath it.
//!
//! | the answer of this call was lost | the program is told |
//! |---|---|
//! | a put outside the unit of work | `CALL_INTERRUPTED`: whether it was done is not known |
//! | a commit of work | `CALL_INTERRUPTED` |
//! | a put or get in the unit of work that had work before | `BACKED_OUT` |
//! | anything else | nothing: it is done again; a get outside the unit of work may have lost its message, as it may without all this |
//!
//! Invariants:
//! 1. A program's handles are numbers of this file: what they lead to may change.
//! 2. Once work was backed out by a break, every call within the unit of work says so until the
//!    program has ended it, by MQCMIT (which says so, too) or MQBACK. Consumers are told once.
//! 3. Nothing that puts a message or commits goes out twice.

use std::collections::BTreeMap;
use std::time::Duration;

use queue_manager::options::value;
use queue_manager::{Completion, Outcome, Reason};

use crate::structures::{Gmo, Pmo, Sd};
use crate::wire::{Object, Request, Wanted};

/// Opens and puts in a logical order know where they are on the other side alone.
const INCOMPATIBLE: Reason = Reason::RECONNECT_INCOMPATIBLE;
/// A number that no server gives to a handle.
const NO_HANDLE: i32 = i32::MIN;
/// A handle of an object that is not there any more.
const UNUSABLE: i32 = -1;

/// What a handle was made by.
#[derive(Clone, Debug)]
pub(super) enum Held {
    /// An object.
    Object { object: Object, options: i32, resolved: [u8; 48] },
    /// A subscription: to a queue that is open by that handle, or to a managed one.
    Subscription { sd: Sd, texts: [String; 4], queue: i32 },
    /// The queue of a managed subscription.
    Managed,
}

/// A handle of the program's.
#[derive(Debug)]
pub(super) struct Kept {
    /// Its number on the other side.
    pub(super) there: i32,
    pub(super) held: Held,
}

/// What comes of a call whose answer was lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Then {
    /// It is made once more.
    Again,
    /// It has ended.
    Ends(Outcome),
}

/// What a program has open, and how far its unit of work is.
#[derive(Debug)]
pub(super) struct Keeper {
    last: i32,
    pub(super) handles: BTreeMap<i32, Kept>,
    /// Calls that do not say so are in the unit of work.
    unit_is_default: bool,
    /// A connection is made again to the same queue manager alone.
    same_manager: bool,
    in_unit: bool,
    backed_out: bool,
}

impl Keeper {
    pub(super) fn new(unit_is_default: bool, same_manager: bool) -> Keeper {
        let handles = BTreeMap::new();
        Keeper {
            last: 0,
            handles,
            unit_is_default,
            same_manager,
            in_unit: false,
            backed_out: false,
        }
    }

    /// Whether a call can be made as things are.
    pub(super) fn admits(&mut self, request: &Request) -> Result<(), Outcome> {
        let ordered = match request {
            Request::Put { posting, .. } | Request::Put1 { posting, .. } => {
                posting.pmo.options & value::put::LOGICAL_ORDER != 0
            }
            Request::Get { wanted, .. } => is_ordered(&wanted.gmo),
            Request::Consume { list, .. } => list.iter().any(|(_, one)| is_ordered(&one.gmo)),
            _ => false,
        };
        if ordered {
            return Err(Outcome::failed(INCOMPATIBLE));
        }
        let needs_same = match request {
            Request::Get { wanted, .. } => {
                wanted.gmo.match_options & value::matching::MSG_TOKEN != 0
            }
            Request::Subscribe { sd, .. } => sd.options & value::subscribe::DURABLE != 0,
            _ => false,
        };
        if needs_same && !self.same_manager {
            return Err(Outcome::failed(Reason::RECONNECT_Q_MGR_REQD));
        }
        if !self.backed_out {
            return Ok(());
        }
        match request {
            // The program that is called back is told; it goes on in a unit of work of its own.
            Request::Consume { .. } | Request::Commit => self.backed_out = false,
            Request::Back => {
                self.backed_out = false;
                return Ok(());
            }
            _ if self.may_be_in_unit(request) => {}
            _ => return Ok(()),
        }
        Err(Outcome::failed(Reason::BACKED_OUT))
    }

    /// The call as the other side understands it: with its own handles, and with what is said
    /// elsewhere said here.
    pub(super) fn translated(&self, request: &Request) -> Request {
        let mut request = request.clone();
        match &mut request {
            Request::Close { handle, .. }
            | Request::Inquire { handle, .. }
            | Request::Set { handle, .. }
            | Request::SubscriptionRequest { handle, .. } => *handle = self.there(*handle),
            Request::Subscribe { handle, .. } if *handle > 0 => *handle = self.there(*handle),
            Request::Put { handle, posting } => {
                *handle = self.there(*handle);
                self.say_put(&mut posting.pmo);
            }
            Request::Put1 { posting, .. } => self.say_put(&mut posting.pmo),
            Request::Get { handle, wanted } => {
                *handle = self.there(*handle);
                self.say_get(&mut wanted.gmo);
            }
            Request::Consume { list, .. } => {
                for (handle, wanted) in list {
                    *handle = self.there(*handle);
                    self.say_get(&mut wanted.gmo);
                }
            }
            _ => {}
        }
        request
    }

    pub(super) fn there(&self, handle: i32) -> i32 {
        self.handles.get(&handle).map_or(NO_HANDLE, |kept| kept.there)
    }

    fn say_put(&self, pmo: &mut Pmo) {
        if pmo.context > 0 {
            pmo.context = self.there(pmo.context);
        }
        if pmo.options & (value::put::SYNCPOINT | value::put::NO_SYNCPOINT) == 0 {
            pmo.options |= match self.unit_is_default {
                true => value::put::SYNCPOINT,
                false => value::put::NO_SYNCPOINT,
            };
        }
    }

    fn say_get(&self, gmo: &mut Gmo) {
        let said = value::get::SYNCPOINT
            | value::get::NO_SYNCPOINT
            | value::get::SYNCPOINT_IF_PERSISTENT
            | value::get::ANY_BROWSE;
        if gmo.options & said == 0 && self.unit_is_default {
            gmo.options |= value::get::SYNCPOINT;
        }
    }

    fn puts_in_unit(&self, pmo: &Pmo) -> bool {
        let said = pmo.options & (value::put::SYNCPOINT | value::put::NO_SYNCPOINT);
        if said == 0 { self.unit_is_default } else { said & value::put::SYNCPOINT != 0 }
    }

    /// Whether a get is in the unit of work, of a message that is persistent or not.
    fn gets_in_unit(&self, gmo: &Gmo, persistent: bool) -> bool {
        use value::get::{ANY_BROWSE, NO_SYNCPOINT, SYNCPOINT, SYNCPOINT_IF_PERSISTENT};
        let options = gmo.options;
        if options & (ANY_BROWSE | NO_SYNCPOINT) != 0 {
            return false;
        }
        match options & (SYNCPOINT | SYNCPOINT_IF_PERSISTENT) {
            0 => self.unit_is_default,
            SYNCPOINT => true,
            _ => persistent,
        }
    }

    fn may_be_in_unit(&self, request: &Request) -> bool {
        match request {
            Request::Put { posting, .. } | Request::Put1 { posting, .. } => {
                self.puts_in_unit(&posting.pmo)
            }
            Request::Get { wanted, .. } => self.gets_in_unit(&wanted.gmo, true),
            Request::Consume { list, .. } => {
                list.iter().any(|(_, wanted)| self.gets_in_unit(&wanted.gmo, true))
            }
            _ => false,
        }
    }

    /// A call has been answered.
    pub(super) fn done(&mut self, request: &Request, outcome: Outcome) {
        let is_done = outcome.completion != Completion::Failed;
        match request {
            Request::Put { posting, .. } | Request::Put1 { posting, .. } => {
                self.in_unit |= is_done && self.puts_in_unit(&posting.pmo);
            }
            Request::Commit | Request::Back => self.in_unit = false,
            Request::Close { handle, .. } if is_done => {
                let _ = self.handles.remove(handle);
            }
            _ => {}
        }
    }

    /// A message has been got.
    pub(super) fn got(&mut self, before: &Wanted, after: &Wanted, outcome: Outcome) {
        let persistent = after.md.persistence == 1;
        let is_done = outcome.completion != Completion::Failed;
        self.in_unit |= is_done && self.gets_in_unit(&before.gmo, persistent);
    }

    /// The connection is gone between two calls.
    pub(super) fn lost(&mut self) {
        self.backed_out |= std::mem::take(&mut self.in_unit);
    }

    /// The connection is gone, and with it the answer of a call.
    pub(super) fn interrupted(&mut self, request: &Request) -> Then {
        let had_work = std::mem::take(&mut self.in_unit);
        match request {
            Request::Commit if had_work => Then::Ends(Outcome::failed(Reason::CALL_INTERRUPTED)),
            Request::Back => Then::Ends(Outcome::OK),
            Request::Consume { .. } if had_work && self.may_be_in_unit(request) => {
                Then::Ends(Outcome::failed(Reason::BACKED_OUT))
            }
            _ => {
                self.backed_out |= had_work;
                self.unknown_or_backed_out(request, had_work)
            }
        }
    }

    fn unknown_or_backed_out(&self, request: &Request, had_work: bool) -> Then {
        let in_unit = self.may_be_in_unit(request);
        match request {
            Request::Put { .. } | Request::Put1 { .. } if !in_unit => {
                Then::Ends(Outcome::failed(Reason::CALL_INTERRUPTED))
            }
            _ if in_unit && had_work => Then::Ends(Outcome::failed(Reason::BACKED_OUT)),
            _ => Then::Again,
        }
    }

    /// Keeps a handle; returns the program's number of it.
    pub(super) fn keep(&mut self, there: i32, held: Held) -> i32 {
        self.last += 1;
        self.handles.insert(self.last, Kept { there, held });
        self.last
    }

    /// The program's number of a handle.
    pub(super) fn here(&self, there: i32) -> i32 {
        let found = self.handles.iter().find(|(_, kept)| kept.there == there);
        found.map_or(UNUSABLE, |(here, _)| *here)
    }

    /// A handle has another number on the other side.
    pub(super) fn move_to(&mut self, handle: i32, there: i32) {
        if let Some(kept) = self.handles.get_mut(&handle) {
            kept.there = there;
        }
    }
}

/// What is left of the time that a get waits.
pub(super) fn shorten(request: &mut Request, passed: impl FnOnce() -> Duration) {
    if let Request::Get { wanted, .. } = request
        && wanted.gmo.wait_interval > 0
    {
        let passed = i32::try_from(passed().as_millis()).unwrap_or(i32::MAX);
        wanted.gmo.wait_interval = wanted.gmo.wait_interval.saturating_sub(passed).max(0);
    }
}

fn is_ordered(gmo: &Gmo) -> bool {
    gmo.options & value::get::LOGICAL_ORDER != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structures::{Md, Od};
    use crate::table::Structure as _;
    use crate::wire::Posting;

    fn put(options: i32) -> Request {
        let pmo = Pmo { options, ..Pmo::initial() };
        let (records, wants_responses) = (Vec::new(), false);
        let posting = Posting { md: Md::initial(), pmo, records, wants_responses };
        Request::Put { handle: 1, posting }
    }

    fn get(options: i32) -> Request {
        let gmo = Gmo { options, ..Gmo::initial() };
        Request::Get { handle: 1, wanted: Wanted { md: Md::initial(), gmo, room: 0 } }
    }

    const BACKED_OUT: Outcome = Outcome::failed(Reason::BACKED_OUT);
    const UNKNOWN: Outcome = Outcome::failed(Reason::CALL_INTERRUPTED);

    #[test]
    fn a_put_outside_the_unit_of_work_is_never_made_again() {
        let mut keeper = Keeper::new(false, false);
        for options in [0, value::put::NO_SYNCPOINT] {
            assert_eq!(keeper.interrupted(&put(options)), Then::Ends(UNKNOWN));
        }
        assert_eq!(Keeper::new(true, false).interrupted(&put(0)), Then::Again);
    }

    #[test]
    fn work_that_was_backed_out_is_told_until_the_program_has_ended_it() {
        let mut keeper = Keeper::new(false, false);
        let inside = put(value::put::SYNCPOINT);
        assert_eq!(keeper.interrupted(&inside), Then::Again, "there was none before");
        keeper.done(&inside, Outcome::OK);
        assert_eq!(keeper.interrupted(&get(value::get::SYNCPOINT)), Then::Ends(BACKED_OUT));
        for _ in 0..2 {
            assert_eq!(keeper.admits(&inside), Err(BACKED_OUT));
            assert_eq!(keeper.admits(&get(value::get::NO_SYNCPOINT)), Ok(()));
        }
        assert_eq!(keeper.admits(&Request::Commit), Err(BACKED_OUT));
        assert_eq!(keeper.admits(&inside), Ok(()));
    }

    #[test]
    fn a_commit_without_an_answer_is_not_known_unless_there_was_nothing() {
        let mut keeper = Keeper::new(false, false);
        assert_eq!(keeper.interrupted(&Request::Commit), Then::Again);
        keeper.done(&put(value::put::SYNCPOINT), Outcome::OK);
        assert_eq!(keeper.interrupted(&Request::Commit), Then::Ends(UNKNOWN));
        assert_eq!(keeper.admits(&Request::Commit), Ok(()), "it is over either way");
        keeper.done(&put(value::put::SYNCPOINT), Outcome::OK);
        assert_eq!(keeper.interrupted(&Request::Back), Then::Ends(Outcome::OK));
    }

    #[test]
    fn a_break_between_two_calls_backs_out_what_was_done() {
        let mut keeper = Keeper::new(false, false);
        keeper.done(&put(value::put::NO_SYNCPOINT), Outcome::OK);
        keeper.lost();
        assert_eq!(keeper.admits(&Request::Commit), Ok(()));
        keeper.done(&put(value::put::SYNCPOINT), Outcome::OK);
        keeper.lost();
        assert_eq!(keeper.admits(&Request::Back), Ok(()));
        assert_eq!(keeper.admits(&Request::Commit), Ok(()));
    }

    #[test]
    fn a_get_of_persistent_messages_alone_is_work_if_the_message_is_one() {
        let mut keeper = Keeper::new(false, false);
        let wanted = |persistence| {
            let gmo = Gmo { options: value::get::SYNCPOINT_IF_PERSISTENT, ..Gmo::initial() };
            Wanted { md: Md { persistence, ..Md::initial() }, gmo, room: 0 }
        };
        keeper.got(&wanted(2), &wanted(0), Outcome::OK);
        keeper.lost();
        assert_eq!(keeper.admits(&Request::Commit), Ok(()));
        keeper.got(&wanted(2), &wanted(1), Outcome::OK);
        keeper.lost();
        assert_eq!(keeper.admits(&Request::Commit), Err(BACKED_OUT));
    }

    #[test]
    fn what_needs_the_same_queue_manager_or_an_order_is_refused() {
        let (mut any, mut same) = (Keeper::new(false, false), Keeper::new(false, true));
        let required = Err(Outcome::failed(Reason::RECONNECT_Q_MGR_REQD));
        let sd = Sd { options: value::subscribe::DURABLE, ..Sd::initial() };
        let durable = Request::Subscribe { sd, texts: Default::default(), handle: -1 };
        assert_eq!((any.admits(&durable), same.admits(&durable)), (required, Ok(())));
        let ordered = put(value::put::LOGICAL_ORDER);
        assert_eq!(same.admits(&ordered), Err(Outcome::failed(INCOMPATIBLE)));
    }

    #[test]
    fn handles_stay_what_they_are_while_what_they_lead_to_changes() {
        let mut keeper = Keeper::new(false, false);
        let object = Object::new(Od::initial());
        let held = Held::Object { object, options: 0, resolved: [b' '; 48] };
        let (first, second) = (keeper.keep(7, held.clone()), keeper.keep(8, held));
        keeper.move_to(first, 8);
        keeper.move_to(second, 7);
        let there = |keeper: &Keeper, handle| match keeper
            .translated(&Request::Close { handle, options: 0 })
        {
            Request::Close { handle, .. } => handle,
            other => panic!("{other:?}"),
        };
        assert_eq!((there(&keeper, first), there(&keeper, second)), (8, 7));
        assert_eq!(there(&keeper, 9), NO_HANDLE);
        keeper.done(&Request::Close { handle: first, options: 0 }, Outcome::OK);
        assert_eq!((there(&keeper, first), keeper.here(7)), (NO_HANDLE, second));
    }
}
