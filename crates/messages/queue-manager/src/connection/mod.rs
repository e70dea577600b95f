//! A connection of a program: what it has open, its unit of work, its calls.
//!
//! | call | look at |
//! |---|---|
//! | open, close | `open` |
//! | put, put to one | `put` |
//! | get, browse | `get`; what comes of it, `delivery` |
//! | claim what was browsed, and get it elsewhere | `claim` |
//! | work in a branch of a global transaction | `branch` |
//! | inquire, set | `attributes` |
//! | subscribe, ask for retained publications | `subscribe` |
//! | handles and what they stand for | `session` |
//!
//! 1. A connection makes one call at a time; who wants more connects more often.
//! 2. Dropping a connection backs its unit of work out; disconnecting commits it.
//! 3. A unit of work that is lent for a call is its owner's between calls, and its end is the
//!    owner's affair: calls that would end it are refused.

mod attributes;
mod branch;
mod claim;
mod delivery;
mod get;
mod open;
mod put;
mod session;
mod subscribe;

use std::sync::Arc;

use store::Store;

use crate::core::event::{self, Did, Disconnected, Event};
use crate::core::{Client, Core, Point};
use crate::descriptor::MessageDescriptor;
use crate::message::Message;
use crate::name::ObjectName;
use crate::options::{
    GetOptions, Got, Handle, Inquired, MessageHandle, ObjectDescriptor, PutOptions, Status,
    SubscriptionDescriptor,
};
use crate::properties::{self, InquireOptions, Properties, Property, PropertyValue};
use crate::reason::{Answer, Outcome, Reason, fail, require};
use session::{Course, Session};

pub use claim::{Claim, Claimed};

/// A connection. It makes one call at a time; dropped, its unit of work is backed out.
///
/// Every call may fail with `CONNECTION_BROKEN` or `Q_MGR_STOPPING`.
pub struct Connection<S: Store> {
    session: Session<S>,
}

#[allow(clippy::missing_errors_doc)] // the reasons are those of the interface
impl<S: Store> Connection<S> {
    pub(crate) fn new(core: Arc<Core<S>>, client: Arc<Client>) -> Connection<S> {
        Connection { session: Session::new(core, client) }
    }

    /// Its number, as displays show it.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.session.client.number
    }

    /// Ends it in order: commits its unit of work and closes what is open.
    pub fn disconnect(mut self) -> Answer<Outcome> {
        let committed = if self.session.work.is_joined() || self.session.branch.is_some() {
            // A branch that is not ended is backed out when this is dropped.
            Ok(())
        } else {
            self.session.work.commit(&self.session.core)
        };
        self.session.end_account(Disconnected::Normally);
        self.close_all();
        committed.map(|()| Outcome::OK)
    }

    fn close_all(&mut self) {
        let handles = std::mem::take(&mut self.session.handles);
        for (_, open) in handles {
            // What cannot be removed now stays and can be removed by its name.
            let _ = open::release(&mut self.session, open, 0);
        }
        self.session.client.handles.lock().clear();
    }

    /// Opens an object. The descriptor returns what names led to.
    pub fn open(&mut self, what: &mut ObjectDescriptor, options: i32) -> Answer<(Handle, Outcome)> {
        let opened = open::open(&mut self.session, what, options);
        match &opened {
            Ok((handle, _)) => self.session.note_of(*handle, Did::Opened),
            Err(failed) => self.tell(failed.0, what, options),
        }
        opened
    }

    /// Tells what could not be opened, or put or got, if such events are asked for.
    fn tell(&self, reason: Reason, what: &ObjectDescriptor, options: i32) {
        let client = &self.session.client.options;
        let (user, application) = (&*client.user, &*client.application);
        let (object, manager) = (what.object_name, what.object_q_mgr_name);
        let core = &self.session.core;
        match reason {
            Reason::NOT_AUTHORIZED => {
                core.event(&Event::MayNotOpen { user, application, object, options });
            }
            Reason::GET_INHIBITED | Reason::PUT_INHIBITED => {
                core.event(&Event::Inhibited { reason, queue: object, application });
            }
            _ if event::leads_nowhere(reason) => {
                let queue = object;
                core.event(&Event::LeadsNowhere { reason, queue, manager, application });
            }
            _ => {}
        }
    }

    /// The same, of something that is open.
    fn tell_of_handle(&self, reason: Reason, handle: Handle) {
        if !matches!(reason, Reason::GET_INHIBITED | Reason::PUT_INHIBITED) {
            return;
        }
        let name = self.session.client.handles.lock().get(&handle.0).map(|open| open.object);
        let what = ObjectDescriptor { object_name: name.unwrap_or_default(), ..Default::default() };
        self.tell(reason, &what, 0);
    }

    /// Closes an object.
    pub fn close(&mut self, handle: Handle, options: i32) -> Answer<Outcome> {
        self.session.goes_on(false)?;
        let name = self.session.name_of(handle);
        let closed = open::close(&mut self.session, handle, options);
        if closed.is_ok() {
            self.session.note(name, Did::Closed);
        }
        closed
    }

    /// Puts a message. The descriptor returns what was filled in.
    pub fn put(
        &mut self,
        handle: Handle,
        descriptor: &mut MessageDescriptor,
        options: &mut PutOptions,
        data: &[u8],
    ) -> Answer<Outcome> {
        let done = put::put(&mut self.session, handle, descriptor, options, data);
        match &done {
            Ok(_) => {
                let (persistent, bytes) = (descriptor.is_persistent(), data.len());
                self.session.note_of(handle, Did::Put { persistent, bytes });
            }
            Err(failed) => {
                self.tell_of_handle(failed.0, handle);
                self.session.note_of(handle, Did::PutFailed);
            }
        }
        done
    }

    /// Opens, puts one message, and closes.
    pub fn put1(
        &mut self,
        what: &mut ObjectDescriptor,
        descriptor: &mut MessageDescriptor,
        options: &mut PutOptions,
        data: &[u8],
    ) -> Answer<Outcome> {
        let done = put::put1(&mut self.session, what, descriptor, options, data);
        let name = Some(what.object_name);
        match &done {
            Ok(_) => {
                let (persistent, bytes) = (descriptor.is_persistent(), data.len());
                self.session.note(name, Did::Put1 { persistent, bytes });
            }
            Err(failed) => {
                self.tell(failed.0, what, crate::options::value::open::OUTPUT);
                self.session.note(name, Did::PutFailed);
            }
        }
        done
    }

    /// Gets a message: at most `room` bytes of its data into `buffer`, whose old contents are
    /// dropped.
    pub fn get(
        &mut self,
        handle: Handle,
        descriptor: &mut MessageDescriptor,
        options: &mut GetOptions,
        room: usize,
        buffer: &mut Vec<u8>,
    ) -> Answer<Got> {
        let got = get::get(&mut self.session, handle, descriptor, options, room, buffer);
        let browses = options.options & crate::options::value::get::ANY_BROWSE != 0;
        match &got {
            Ok(_) => {
                let (persistent, bytes) = (descriptor.is_persistent(), buffer.len());
                let did = match browses {
                    true => Did::Browsed { persistent, bytes },
                    false => Did::Got { persistent, bytes },
                };
                self.session.note_of(handle, did);
            }
            Err(failed) => {
                self.tell_of_handle(failed.0, handle);
                self.session.note_of(handle, Did::GetFailed);
            }
        }
        got
    }

    /// Makes a claim of the message that a handle has locked by browsing it: the handle can lock
    /// the next one. Dropped, the claim gives the message back.
    pub fn claim(&mut self, handle: Handle) -> Answer<Claim<S>> {
        claim::claim(&mut self.session, handle)
    }

    /// Gets a claimed message, whichever connection claimed it: in the unit of work, or outside.
    /// Its descriptor and data come back to those who want them.
    #[allow(clippy::needless_pass_by_value)] // a claim is used up
    pub fn take_claimed(
        &mut self,
        claim: Claim<S>,
        in_unit: bool,
        wants_data: bool,
    ) -> Answer<Option<Claimed>> {
        claim::take(&mut self.session, &claim, in_unit, wants_data)
    }

    /// Asks for values of attributes.
    pub fn inquire(&mut self, handle: Handle, selectors: &[i32]) -> Answer<Inquired> {
        attributes::inquire(&mut self.session, handle, selectors)
    }

    /// Sets attributes: numbers and characters in the order of their selectors.
    pub fn set(
        &mut self,
        handle: Handle,
        selectors: &[i32],
        numbers: &[i32],
        characters: &[u8],
    ) -> Answer<Outcome> {
        attributes::set(&mut self.session, handle, selectors, numbers, characters)
    }

    /// Begins a unit of work that others take part in. Everything that is kept here takes part in
    /// any unit of work; that no other manager does is a warning.
    pub fn begin(&mut self) -> Answer<Outcome> {
        self.session.goes_on(false)?;
        self.ends_itself()?;
        require(self.session.work.is_idle(), Reason::UOW_IN_PROGRESS)?;
        Ok(Outcome::warning(Reason::NO_EXTERNAL_PARTICIPANTS))
    }

    /// Commits; answers when that is durable.
    pub fn commit(&mut self) -> Answer<Outcome> {
        self.session.goes_on(false)?;
        self.ends_itself()?;
        let committed = self.session.work.commit(&self.session.core);
        self.end_groups(if committed.is_ok() { Course::committed } else { Course::backed_out });
        self.session.note_unit();
        if committed.is_ok() {
            self.session.note(None, Did::Committed);
        }
        committed.map(|()| Outcome::OK)
    }

    /// Backs out.
    pub fn back(&mut self) -> Answer<Outcome> {
        self.session.goes_on(false)?;
        self.ends_itself()?;
        self.session.work.back(&self.session.core);
        self.end_groups(Course::backed_out);
        self.session.note_unit();
        self.session.note(None, Did::BackedOut);
        Ok(Outcome::OK)
    }

    /// Fails if another ends the unit of work: its owner, or a transaction manager.
    fn ends_itself(&self) -> Answer<()> {
        let session = &self.session;
        require(!session.work.is_joined() && session.branch.is_none(), Reason::ENVIRONMENT_ERROR)
    }

    /// The unit of work has ended: the groups that were got or put in it follow.
    fn end_groups(&mut self, how: fn(&mut Course)) {
        for open in self.session.handles.values_mut() {
            if let session::Opened::Queue(queue) = &mut open.object {
                how(&mut queue.putting);
                how(&mut queue.getting);
            }
        }
    }

    /// Subscribes. `destination` is an open queue, or `None` for a managed subscription, whose
    /// queue comes back open; the second handle is that of the subscription.
    pub fn subscribe(
        &mut self,
        what: &mut SubscriptionDescriptor,
        destination: Option<Handle>,
    ) -> Answer<(Option<Handle>, Handle, Outcome)> {
        subscribe::subscribe(&mut self.session, what, destination)
    }

    /// Opens the queue of a managed subscription of one's own user, for getting or for browsing
    /// alone, beside other getters of it.
    pub fn open_subscription(&mut self, name: &str, browses: bool) -> Answer<Handle> {
        subscribe::open_beside(&mut self.session, name, browses)
    }

    /// Asks for the retained publications of a subscription; answers how many come.
    pub fn subscription_request(&mut self, subscription: Handle, action: i32) -> Answer<i32> {
        subscribe::request(&mut self.session, subscription, action)
    }

    /// What became of puts with asynchronous answers, since this was last asked.
    pub fn status(&mut self, kind: i32) -> Answer<Status> {
        self.session.goes_on(false)?;
        require((0..=2).contains(&kind), Reason::STAT_TYPE_ERROR)?;
        // Nothing here reconnects by itself.
        require(kind == 0, Reason::ENVIRONMENT_ERROR)?;
        Ok(std::mem::take(&mut self.session.status))
    }

    /// Makes a message handle.
    pub fn create_message_handle(&mut self) -> Answer<MessageHandle> {
        self.session.goes_on(false)?;
        self.session.new_message_handle()
    }

    /// Deletes a message handle.
    pub fn delete_message_handle(&mut self, handle: MessageHandle) -> Answer<()> {
        let removed = self.session.message_handles.remove(&handle.0);
        removed.map_or(fail(Reason::HMSG_ERROR), |_| Ok(()))
    }

    /// Sets a property of a message handle.
    pub fn set_property(
        &mut self,
        handle: MessageHandle,
        name: &str,
        value: PropertyValue,
    ) -> Answer<Outcome> {
        let more = properties::bytes_of(name, &value);
        self.session.properties_for(handle, more)?.set(name, value)?;
        Ok(Outcome::OK)
    }

    /// The property of that name, or the first or next that a pattern with `%` at its end matches.
    pub fn inquire_property(
        &mut self,
        handle: MessageHandle,
        name: &str,
        options: InquireOptions,
    ) -> Answer<Property> {
        self.session.properties(handle)?.inquire(name, options)
    }

    /// Deletes a property of a message handle.
    pub fn delete_property(&mut self, handle: MessageHandle, name: &str) -> Answer<Outcome> {
        self.session.properties(handle)?.delete(name)?;
        Ok(Outcome::OK)
    }

    /// Takes the properties in front of a buffer into a message handle; answers the buffer, without
    /// them if `delete`, and the descriptor then says what is left.
    pub fn buffer_to_handle(
        &mut self,
        handle: MessageHandle,
        descriptor: &mut MessageDescriptor,
        buffer: &[u8],
        delete: bool,
    ) -> Answer<Vec<u8>> {
        let split = properties::split(descriptor, buffer)?;
        let all = self.session.replace_properties(handle)?;
        let Some(split) = split else {
            *all = Properties::default();
            return Ok(buffer.to_vec());
        };
        *all = split.properties;
        if !delete {
            return Ok(buffer.to_vec());
        }
        let mut rest = split.remainder;
        if rest.is_empty() {
            descriptor.format = split.format;
            descriptor.ccsid = split.ccsid;
            descriptor.encoding = split.encoding;
        }
        rest.extend_from_slice(&buffer[split.data_at..]);
        Ok(rest)
    }

    /// Writes the properties of a message handle whose names match into a buffer, and takes them
    /// out of the handle if `delete`. The descriptor then says what the buffer is.
    pub fn handle_to_buffer(
        &mut self,
        handle: MessageHandle,
        name: &str,
        descriptor: &mut MessageDescriptor,
        delete: bool,
    ) -> Answer<Vec<u8>> {
        let chosen = self.session.properties(handle)?.matching(name, delete);
        require(!chosen.is_empty(), Reason::PROPERTY_NOT_AVAILABLE)?;
        Ok(properties::write(&chosen, descriptor))
    }

    /// Puts a message on the dead-letter queue with a header that says why, in the unit of work;
    /// the exception report that it asks for, too: for a program that cannot process or deliver it.
    pub fn dead_letter(
        &mut self,
        descriptor: &MessageDescriptor,
        data: &[u8],
        destination: (ObjectName, ObjectName),
        reason: Reason,
    ) -> Answer<Outcome> {
        self.session.goes_on(false)?;
        let core = Arc::clone(&self.session.core);
        let put_ms = core.now_ms();
        let data = data.to_vec();
        let message = Message { descriptor: descriptor.clone(), put_ms, expires_ms: 0, data };
        core.dead_letter(&mut self.session.work, message, destination, reason)?;
        self.session.note_unit();
        Ok(Outcome::OK)
    }

    /// Makes a unit of work from outside this connection's own: its puts and gets under
    /// syncpoint, and those that do not say, become part of it. Who gave it takes it back with
    /// [`leave`](Connection::leave), ends it, and says so with [`settle`](Connection::settle).
    ///
    /// # Errors
    /// `UOW_IN_PROGRESS` while the connection has one; the unit of work comes back then.
    pub fn join(&mut self, unit: S::Unit) -> Result<(), (S::Unit, Reason)> {
        if !self.session.work.is_idle() {
            return Err((unit, Reason::UOW_IN_PROGRESS));
        }
        self.session.work.join(unit);
        Ok(())
    }

    /// The unit of work of the connection, to change other sets in it; begins one if need be.
    pub fn unit(&mut self) -> Answer<&mut S::Unit> {
        let Session { core, work, .. } = &mut self.session;
        work.goes_on()?;
        work.unit(core).map_err(crate::core::failed)
    }

    /// Gives back the unit of work that was joined, with what was done in it.
    pub fn leave(&mut self) -> Option<S::Unit> {
        self.session.work.leave()
    }

    /// Gives a unit of work that was left for a while to the calls again, with what was done in it
    /// so far.
    pub fn rejoin(&mut self, unit: S::Unit) {
        self.session.work.join(unit);
    }

    /// Lends the unit of work of another owner for one call, as [`join`](Connection::join) does;
    /// if there is none yet, the call begins one if it needs it. [`leave`](Connection::leave) gives
    /// it back behind the call.
    pub fn lend(&mut self, unit: Option<S::Unit>) {
        self.session.work.lend(unit);
    }

    /// Whether the unit of work takes another message.
    #[must_use]
    pub fn has_room(&self) -> bool {
        let most = self.session.core.manager_settings().uncommitted_max;
        self.session.work.has_room(most).is_ok()
    }

    /// Whether something was put or got in the unit of work.
    #[must_use]
    pub fn has_work(&self) -> bool {
        self.session.work.messages() > 0
    }

    /// Whether a call has left something in a unit of work that was lent which it could not undo:
    /// its owner has to back it out.
    #[must_use]
    pub fn must_back_out(&self) -> bool {
        self.session.work.must_back_out()
    }

    /// Closes all that is open; what was put and got stays in the unit of work.
    pub fn retire(&mut self) {
        self.close_all();
        self.session.message_handles.clear();
    }

    /// As [`settle`](Connection::settle). What stays got after a backout is got in the unit of work
    /// that follows: `unit`, begun if need be.
    pub fn settle_in(&mut self, committed: bool, unit: &mut Option<S::Unit>) {
        self.session.work.lend(unit.take());
        self.settle(committed);
        *unit = self.session.work.take_unit();
    }

    /// It is not known how the unit of work that was lent has ended: its messages stay held until
    /// the next start, which tells.
    pub fn abandon(&mut self) {
        self.session.work.abandon();
        self.session.note_unit();
    }

    /// The point reached in a unit of work that was lent, for [`return_to`](Connection::return_to).
    #[must_use]
    pub fn point(&self) -> Point {
        self.session.work.point()
    }

    /// The owner of the unit of work has gone back in the store to where it was at a point: what
    /// was put since is gone, what was got is back.
    pub fn return_to(&mut self, point: Point) {
        self.session.work.return_to(point);
        self.session.note_unit();
    }

    /// Says how the unit of work that was joined has ended: durably committed, or backed out.
    pub fn settle(&mut self, committed: bool) {
        self.session.work.settle(&self.session.core, committed);
        self.end_groups(if committed { Course::committed } else { Course::backed_out });
        self.session.note_unit();
    }
}

impl<S: Store> Drop for Connection<S> {
    fn drop(&mut self) {
        // A thread that panics stops the kernel: restart backs out what it had under way.
        if std::thread::panicking() {
            return;
        }
        let core = Arc::clone(&self.session.core);
        self.session.work.back(&core);
        self.session.end_account(Disconnected::Implicitly);
        core.leave_branches(self.session.client.number);
        self.close_all();
        core.clients.lock().remove(&self.session.client.number);
    }
}
