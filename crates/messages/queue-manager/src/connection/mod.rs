//! A connection of a program: what it has open, its unit of work, its calls.

use std::marker::PhantomData;

use store::Store;

use crate::descriptor::MessageDescriptor;
use crate::options::{
    GetOptions, Got, Handle, Inquired, MessageHandle, ObjectDescriptor, PutOptions, Status,
    SubscriptionDescriptor,
};
use crate::properties::{InquireOptions, Property, PropertyValue};
use crate::reason::{Answer, Outcome, Reason, fail};

/// A connection. It makes one call at a time; dropped, its unit of work is backed out.
pub struct Connection<S: Store> {
    store: PhantomData<S>,
}

const NOT_YET: Reason = Reason::FUNCTION_NOT_SUPPORTED;

#[allow(missing_docs, clippy::missing_errors_doc)]
impl<S: Store> Connection<S> {
    /// Its number, as displays show it.
    #[must_use]
    pub fn number(&self) -> u64 {
        0
    }

    /// Ends it in order: commits its unit of work and closes what is open.
    pub fn disconnect(self) -> Answer<Outcome> {
        fail(NOT_YET)
    }

    /// Opens an object. The descriptor returns what names led to.
    pub fn open(
        &mut self,
        _what: &mut ObjectDescriptor,
        _options: i32,
    ) -> Answer<(Handle, Outcome)> {
        fail(NOT_YET)
    }

    pub fn close(&mut self, _handle: Handle, _options: i32) -> Answer<Outcome> {
        fail(NOT_YET)
    }

    pub fn put(
        &mut self,
        _handle: Handle,
        _descriptor: &mut MessageDescriptor,
        _options: &mut PutOptions,
        _data: &[u8],
    ) -> Answer<Outcome> {
        fail(NOT_YET)
    }

    pub fn put1(
        &mut self,
        _what: &mut ObjectDescriptor,
        _descriptor: &mut MessageDescriptor,
        _options: &mut PutOptions,
        _data: &[u8],
    ) -> Answer<Outcome> {
        fail(NOT_YET)
    }

    /// Gets a message: at most `room` bytes of its data into `buffer`, whose old contents are
    /// dropped.
    pub fn get(
        &mut self,
        _handle: Handle,
        _descriptor: &mut MessageDescriptor,
        _options: &mut GetOptions,
        _room: usize,
        _buffer: &mut Vec<u8>,
    ) -> Answer<Got> {
        fail(NOT_YET)
    }

    pub fn inquire(&mut self, _handle: Handle, _selectors: &[i32]) -> Answer<Inquired> {
        fail(NOT_YET)
    }

    /// Sets attributes: numbers and characters in the order of their selectors.
    pub fn set(
        &mut self,
        _handle: Handle,
        _selectors: &[i32],
        _numbers: &[i32],
        _characters: &[u8],
    ) -> Answer<Outcome> {
        fail(NOT_YET)
    }

    /// Begins a unit of work that others coordinate with; here it is one like any other.
    pub fn begin(&mut self) -> Answer<Outcome> {
        fail(NOT_YET)
    }

    pub fn commit(&mut self) -> Answer<Outcome> {
        fail(NOT_YET)
    }

    pub fn back(&mut self) -> Answer<Outcome> {
        fail(NOT_YET)
    }

    /// Subscribes. `destination` is an open queue, or `None` for a managed subscription, whose
    /// queue comes back open; the second handle is that of the subscription.
    pub fn subscribe(
        &mut self,
        _what: &mut SubscriptionDescriptor,
        _destination: Option<Handle>,
    ) -> Answer<(Option<Handle>, Handle, Outcome)> {
        fail(NOT_YET)
    }

    /// Asks for the retained publications of a subscription; answers how many come.
    pub fn subscription_request(&mut self, _subscription: Handle, _action: i32) -> Answer<i32> {
        fail(NOT_YET)
    }

    /// What became of puts with asynchronous answers, since this was last asked.
    pub fn status(&mut self, _kind: i32) -> Answer<Status> {
        fail(NOT_YET)
    }

    pub fn create_message_handle(&mut self) -> Answer<MessageHandle> {
        fail(NOT_YET)
    }

    pub fn delete_message_handle(&mut self, _handle: MessageHandle) -> Answer<()> {
        fail(NOT_YET)
    }

    pub fn set_property(
        &mut self,
        _handle: MessageHandle,
        _name: &str,
        _value: PropertyValue,
    ) -> Answer<Outcome> {
        fail(NOT_YET)
    }

    /// The property of that name, or the first or next that a pattern with `%` at its end matches.
    pub fn inquire_property(
        &mut self,
        _handle: MessageHandle,
        _name: &str,
        _options: InquireOptions,
    ) -> Answer<Property> {
        fail(NOT_YET)
    }

    pub fn delete_property(&mut self, _handle: MessageHandle, _name: &str) -> Answer<Outcome> {
        fail(NOT_YET)
    }

    /// Moves the properties in front of a buffer into a message handle; answers what is left.
    pub fn buffer_to_handle(
        &mut self,
        _handle: MessageHandle,
        _descriptor: &mut MessageDescriptor,
        _buffer: &[u8],
        _delete: bool,
    ) -> Answer<Vec<u8>> {
        fail(NOT_YET)
    }

    /// Writes the properties of a message handle whose names match into a buffer.
    pub fn handle_to_buffer(
        &mut self,
        _handle: MessageHandle,
        _name: &str,
        _descriptor: &mut MessageDescriptor,
        _delete: bool,
    ) -> Answer<Vec<u8>> {
        fail(NOT_YET)
    }

    /// Makes a unit of work from outside this connection's own: its puts and gets under
    /// syncpoint become part of it. Who gave it commits or backs it out, and then says so with
    /// [`settle`](Connection::settle). Fails while the connection has a unit of work.
    pub fn join(&mut self, _unit: S::Unit) -> Answer<()> {
        fail(NOT_YET)
    }

    /// The unit of work of the connection, to change other sets in it; begins one if need be.
    pub fn unit(&mut self) -> Answer<&mut S::Unit> {
        fail(NOT_YET)
    }

    /// Gives back the unit of work that was joined, with what was done in it, to be ended.
    pub fn leave(&mut self) -> Option<S::Unit> {
        None
    }

    /// Says how the unit of work that was joined has ended: durably committed, or backed out.
    pub fn settle(&mut self, _committed: bool) {}
}
