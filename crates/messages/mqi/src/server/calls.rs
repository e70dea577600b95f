//! What a session calls: a connection to a queue manager, whatever it keeps its messages in.

use queue_manager::branch::{BranchAnswer, BranchCall, BranchError};
use queue_manager::options::{
    ConnectOptions, GetOptions, Got, Handle, Inquired, MessageHandle, ObjectDescriptor, PutOptions,
    Status, SubscriptionDescriptor,
};
use queue_manager::properties::{InquireOptions, Property, PropertyValue};
use queue_manager::reason::{Answer, Outcome};
use queue_manager::{Connection, MessageDescriptor, QueueManager};
use store::Store;

use super::welcome::About;

/// A queue manager that programs connect to.
pub trait Manager: Send + Sync {
    /// Its name.
    fn name(&self) -> String;
    /// What it says of itself.
    fn about(&self) -> About {
        About { name: self.name(), ..About::default() }
    }
    /// Connects a program.
    ///
    /// # Errors
    /// With the reason.
    fn connect(&self, who: ConnectOptions) -> Answer<Box<dyn Calls>>;
}

impl<S: Store + Send + Sync + 'static> Manager for QueueManager<S>
where
    Connection<S>: Send,
{
    fn name(&self) -> String {
        QueueManager::name(self).to_owned()
    }

    fn about(&self) -> About {
        About::of(self)
    }

    fn connect(&self, who: ConnectOptions) -> Answer<Box<dyn Calls>> {
        Ok(Box::new(QueueManager::connect(self, who)?))
    }
}

/// The calls of one connection; see [`Connection`]. Dropped, it is backed out.
#[allow(missing_docs, clippy::missing_errors_doc)] // as they are there
pub trait Calls: Send {
    fn number(&self) -> u64;
    fn disconnect(self: Box<Self>) -> Answer<Outcome>;
    fn open(&mut self, what: &mut ObjectDescriptor, options: i32) -> Answer<(Handle, Outcome)>;
    fn close(&mut self, handle: Handle, options: i32) -> Answer<Outcome>;
    fn put(
        &mut self,
        handle: Handle,
        descriptor: &mut MessageDescriptor,
        options: &mut PutOptions,
        data: &[u8],
    ) -> Answer<Outcome>;
    fn put1(
        &mut self,
        what: &mut ObjectDescriptor,
        descriptor: &mut MessageDescriptor,
        options: &mut PutOptions,
        data: &[u8],
    ) -> Answer<Outcome>;
    fn get(
        &mut self,
        handle: Handle,
        descriptor: &mut MessageDescriptor,
        options: &mut GetOptions,
        room: usize,
        buffer: &mut Vec<u8>,
    ) -> Answer<Got>;
    fn inquire(&mut self, handle: Handle, selectors: &[i32]) -> Answer<Inquired>;
    fn set(
        &mut self,
        handle: Handle,
        selectors: &[i32],
        numbers: &[i32],
        characters: &[u8],
    ) -> Answer<Outcome>;
    fn begin(&mut self) -> Answer<Outcome>;
    fn commit(&mut self) -> Answer<Outcome>;
    fn branch(&mut self, call: &BranchCall) -> Result<BranchAnswer, BranchError>;
    fn back(&mut self) -> Answer<Outcome>;
    fn subscribe(
        &mut self,
        what: &mut SubscriptionDescriptor,
        destination: Option<Handle>,
    ) -> Answer<(Option<Handle>, Handle, Outcome)>;
    fn subscription_request(&mut self, subscription: Handle, action: i32) -> Answer<i32>;
    fn status(&mut self, kind: i32) -> Answer<Status>;
    fn create_message_handle(&mut self) -> Answer<MessageHandle>;
    fn delete_message_handle(&mut self, handle: MessageHandle) -> Answer<()>;
    fn set_property(
        &mut self,
        handle: MessageHandle,
        name: &str,
        value: PropertyValue,
    ) -> Answer<Outcome>;
    fn inquire_property(
        &mut self,
        handle: MessageHandle,
        name: &str,
        options: InquireOptions,
    ) -> Answer<Property>;
    fn delete_property(&mut self, handle: MessageHandle, name: &str) -> Answer<Outcome>;
    fn buffer_to_handle(
        &mut self,
        handle: MessageHandle,
        descriptor: &mut MessageDescriptor,
        buffer: &[u8],
        delete: bool,
    ) -> Answer<Vec<u8>>;
    fn handle_to_buffer(
        &mut self,
        handle: MessageHandle,
        name: &str,
        descriptor: &mut MessageDescriptor,
        delete: bool,
    ) -> Answer<Vec<u8>>;
}

impl<S: Store> Calls for Connection<S>
where
    Connection<S>: Send,
{
    fn number(&self) -> u64 {
        Connection::number(self)
    }

    fn disconnect(self: Box<Self>) -> Answer<Outcome> {
        Connection::disconnect(*self)
    }

    fn open(&mut self, what: &mut ObjectDescriptor, options: i32) -> Answer<(Handle, Outcome)> {
        Connection::open(self, what, options)
    }

    fn close(&mut self, handle: Handle, options: i32) -> Answer<Outcome> {
        Connection::close(self, handle, options)
    }

    fn put(
        &mut self,
        handle: Handle,
        descriptor: &mut MessageDescriptor,
        options: &mut PutOptions,
        data: &[u8],
    ) -> Answer<Outcome> {
        Connection::put(self, handle, descriptor, options, data)
    }

    fn put1(
        &mut self,
        what: &mut ObjectDescriptor,
        descriptor: &mut MessageDescriptor,
        options: &mut PutOptions,
        data: &[u8],
    ) -> Answer<Outcome> {
        Connection::put1(self, what, descriptor, options, data)
    }

    fn get(
        &mut self,
        handle: Handle,
        descriptor: &mut MessageDescriptor,
        options: &mut GetOptions,
        room: usize,
        buffer: &mut Vec<u8>,
    ) -> Answer<Got> {
        Connection::get(self, handle, descriptor, options, room, buffer)
    }

    fn inquire(&mut self, handle: Handle, selectors: &[i32]) -> Answer<Inquired> {
        Connection::inquire(self, handle, selectors)
    }

    fn set(
        &mut self,
        handle: Handle,
        selectors: &[i32],
        numbers: &[i32],
        characters: &[u8],
    ) -> Answer<Outcome> {
        Connection::set(self, handle, selectors, numbers, characters)
    }

    fn begin(&mut self) -> Answer<Outcome> {
        Connection::begin(self)
    }

    fn commit(&mut self) -> Answer<Outcome> {
        Connection::commit(self)
    }

    fn branch(&mut self, call: &BranchCall) -> Result<BranchAnswer, BranchError> {
        Connection::branch(self, call)
    }

    fn back(&mut self) -> Answer<Outcome> {
        Connection::back(self)
    }

    fn subscribe(
        &mut self,
        what: &mut SubscriptionDescriptor,
        destination: Option<Handle>,
    ) -> Answer<(Option<Handle>, Handle, Outcome)> {
        Connection::subscribe(self, what, destination)
    }

    fn subscription_request(&mut self, subscription: Handle, action: i32) -> Answer<i32> {
        Connection::subscription_request(self, subscription, action)
    }

    fn status(&mut self, kind: i32) -> Answer<Status> {
        Connection::status(self, kind)
    }

    fn create_message_handle(&mut self) -> Answer<MessageHandle> {
        Connection::create_message_handle(self)
    }

    fn delete_message_handle(&mut self, handle: MessageHandle) -> Answer<()> {
        Connection::delete_message_handle(self, handle)
    }

    fn set_property(
        &mut self,
        handle: MessageHandle,
        name: &str,
        value: PropertyValue,
    ) -> Answer<Outcome> {
        Connection::set_property(self, handle, name, value)
    }

    fn inquire_property(
        &mut self,
        handle: MessageHandle,
        name: &str,
        options: InquireOptions,
    ) -> Answer<Property> {
        Connection::inquire_property(self, handle, name, options)
    }

    fn delete_property(&mut self, handle: MessageHandle, name: &str) -> Answer<Outcome> {
        Connection::delete_property(self, handle, name)
    }

    fn buffer_to_handle(
        &mut self,
        handle: MessageHandle,
        descriptor: &mut MessageDescriptor,
        buffer: &[u8],
        delete: bool,
    ) -> Answer<Vec<u8>> {
        Connection::buffer_to_handle(self, handle, descriptor, buffer, delete)
    }

    fn handle_to_buffer(
        &mut self,
        handle: MessageHandle,
        name: &str,
        descriptor: &mut MessageDescriptor,
        delete: bool,
    ) -> Answer<Vec<u8>> {
        Connection::handle_to_buffer(self, handle, name, descriptor, delete)
    }
}
