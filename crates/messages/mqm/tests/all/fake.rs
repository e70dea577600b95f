//! A queue manager of a few lines, in memory: what it takes to see that calls arrive as they were
//! made, and that their answers do. It knows local queues, units of work and properties.

#![allow(clippy::unwrap_used)] // a test that fails says where

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use mqi::server::{Calls, Manager};
use queue_manager::branch::{BranchAnswer, BranchCall, BranchError};
use queue_manager::descriptor::NO_IDENTIFIER;
use queue_manager::options::{
    ConnectOptions, GetOptions, Got, Handle, Inquired, MessageHandle, ObjectDescriptor, PutOptions,
    Status, SubscriptionDescriptor, value,
};
use queue_manager::properties::{InquireOptions, Property, PropertyValue};
use queue_manager::reason::Answer;
use queue_manager::{Failed, MessageDescriptor, ObjectName, Outcome, Reason};
use seam::sync::{Condvar, Mutex};

type Message = (MessageDescriptor, Vec<u8>);

#[derive(Default)]
pub(crate) struct Queues {
    named: Mutex<BTreeMap<String, VecDeque<Message>>>,
    news: Condvar,
    serial: Mutex<u64>,
}

/// A queue manager with some empty queues.
#[derive(Clone)]
pub(crate) struct Fake {
    name: String,
    pub(crate) queues: Arc<Queues>,
}

impl Fake {
    pub(crate) fn new(name: &str, queues: &[&str]) -> Fake {
        let all = Queues::default();
        *all.named.lock() =
            queues.iter().map(|name| ((*name).to_owned(), VecDeque::new())).collect();
        Fake { name: name.to_owned(), queues: Arc::new(all) }
    }

    /// How many messages a queue has that are committed.
    pub(crate) fn depth(&self, queue: &str) -> usize {
        self.queues.named.lock().get(queue).map_or(0, VecDeque::len)
    }
}

impl Manager for Fake {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn connect(&self, who: ConnectOptions) -> Answer<Box<dyn Calls>> {
        Ok(Box::new(Session {
            manager: self.clone(),
            user: who.user,
            open: BTreeMap::new(),
            put: Vec::new(),
            got: Vec::new(),
            properties: BTreeMap::new(),
            last: 0,
            cursor: 0,
        }))
    }
}

struct Session {
    manager: Fake,
    user: String,
    open: BTreeMap<i32, (String, i32)>,
    put: Vec<(String, Message)>,
    got: Vec<(String, Message)>,
    properties: BTreeMap<i64, Vec<Property>>,
    last: i32,
    cursor: usize,
}

fn fail<T>(reason: Reason) -> Answer<T> {
    Err(Failed(reason))
}

impl Session {
    fn end(&mut self, commits: bool) {
        let mut named = self.manager.queues.named.lock();
        let (put, got) = (std::mem::take(&mut self.put), std::mem::take(&mut self.got));
        if commits {
            for (queue, message) in put {
                named.entry(queue).or_default().push_back(message);
            }
        } else {
            for (queue, (mut md, data)) in got.into_iter().rev() {
                md.backout_count += 1;
                named.entry(queue).or_default().push_front((md, data));
            }
        }
        self.manager.queues.news.notify_all();
    }

    fn open_for(&self, handle: Handle, option: i32, reason: Reason) -> Answer<String> {
        let (name, options) = self.open.get(&handle.0).ok_or(Failed(Reason::HOBJ_ERROR))?;
        if options & option == 0 { fail(reason) } else { Ok(name.clone()) }
    }

    fn of(&mut self, handle: MessageHandle) -> Answer<&mut Vec<Property>> {
        self.properties.get_mut(&handle.0).ok_or(Failed(Reason::HMSG_ERROR))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end(false);
    }
}

impl Calls for Session {
    fn number(&self) -> u64 {
        1
    }

    fn disconnect(mut self: Box<Self>) -> Answer<Outcome> {
        self.end(true);
        Ok(Outcome::OK)
    }

    fn open(&mut self, what: &mut ObjectDescriptor, options: i32) -> Answer<(Handle, Outcome)> {
        let name = what.object_name.text();
        if !self.manager.queues.named.lock().contains_key(&name) {
            return fail(Reason::UNKNOWN_OBJECT_NAME);
        }
        what.resolved_q_name = what.object_name;
        what.resolved_q_mgr_name = ObjectName::from(self.manager.name.as_str());
        self.last += 1;
        self.open.insert(self.last, (name, options));
        Ok((Handle(self.last), Outcome::OK))
    }

    fn close(&mut self, handle: Handle, _options: i32) -> Answer<Outcome> {
        match self.open.remove(&handle.0) {
            Some(_) => Ok(Outcome::OK),
            None => fail(Reason::HOBJ_ERROR),
        }
    }

    fn put(
        &mut self,
        handle: Handle,
        descriptor: &mut MessageDescriptor,
        options: &mut PutOptions,
        data: &[u8],
    ) -> Answer<Outcome> {
        let queue = self.open_for(handle, value::open::OUTPUT, Reason::NOT_OPEN_FOR_OUTPUT)?;
        if descriptor.msg_id == NO_IDENTIFIER {
            let mut serial = self.manager.queues.serial.lock();
            *serial += 1;
            descriptor.msg_id[..4].copy_from_slice(b"AMQ ");
            descriptor.msg_id[16..].copy_from_slice(&serial.to_be_bytes());
        }
        descriptor.user_identifier = queue_manager::name::padded(&self.user);
        options.resolved_q_name = ObjectName::from(queue.as_str());
        let message = (descriptor.clone(), data.to_vec());
        self.put.push((queue, message));
        if options.options & value::put::SYNCPOINT == 0 {
            let got = std::mem::take(&mut self.got);
            self.end(true);
            self.got = got;
        }
        Ok(Outcome::OK)
    }

    fn put1(
        &mut self,
        what: &mut ObjectDescriptor,
        descriptor: &mut MessageDescriptor,
        options: &mut PutOptions,
        data: &[u8],
    ) -> Answer<Outcome> {
        let (handle, _) = self.open(what, value::open::OUTPUT)?;
        let outcome = self.put(handle, descriptor, options, data);
        self.close(handle, 0)?;
        outcome
    }

    fn get(
        &mut self,
        handle: Handle,
        descriptor: &mut MessageDescriptor,
        options: &mut GetOptions,
        room: usize,
        buffer: &mut Vec<u8>,
    ) -> Answer<Got> {
        let queue = self.open_for(handle, value::open::ANY_INPUT, Reason::NOT_OPEN_FOR_INPUT)?;
        let queues = Arc::clone(&self.manager.queues);
        let mut named = queues.named.lock();
        let wanted = descriptor.correl_id;
        let matches = |(md, _): &Message| wanted == NO_IDENTIFIER || md.correl_id == wanted;
        let mut waits = options.options & value::get::WAIT != 0;
        let place = loop {
            match named.get(&queue).and_then(|all| all.iter().position(matches)) {
                Some(place) => break place,
                None if waits => {
                    let time = u64::try_from(options.wait_interval).unwrap_or(60_000);
                    waits = queues.news.wait_for(&mut named, Duration::from_millis(time));
                }
                None => return fail(Reason::NO_MSG_AVAILABLE),
            }
        };
        let all = named.get_mut(&queue).unwrap();
        let message = all.remove(place).unwrap();
        *descriptor = message.0.clone();
        buffer.extend_from_slice(&message.1[..message.1.len().min(room)]);
        let data_length = message.1.len();
        let cut = data_length > room;
        if cut && options.options & value::get::ACCEPT_TRUNCATED_MSG == 0 {
            all.insert(place, message);
            let outcome = Outcome::warning(Reason::TRUNCATED_MSG_FAILED);
            return Ok(Got { outcome, data_length });
        }
        if options.options & value::get::SYNCPOINT != 0 {
            self.got.push((queue.clone(), message));
        }
        options.resolved_q_name = ObjectName::from(queue.as_str());
        options.returned_length = i32::try_from(buffer.len()).unwrap();
        let accepted = Outcome::warning(Reason::TRUNCATED_MSG_ACCEPTED);
        Ok(Got { outcome: if cut { accepted } else { Outcome::OK }, data_length })
    }

    fn inquire(&mut self, handle: Handle, selectors: &[i32]) -> Answer<Inquired> {
        let queue = self.open_for(handle, value::open::INQUIRE, Reason::NOT_OPEN_FOR_INQUIRE)?;
        let mut found = Inquired::default();
        for selector in selectors {
            match selector {
                3 => found.numbers.push(i32::try_from(self.manager.depth(&queue)).unwrap()),
                2016 => found.characters.extend(ObjectName::from(queue.as_str()).0),
                _ => return fail(Reason::SELECTOR_ERROR),
            }
        }
        Ok(found)
    }

    fn set(&mut self, handle: Handle, _: &[i32], _: &[i32], _: &[u8]) -> Answer<Outcome> {
        self.open_for(handle, value::open::SET, Reason::NOT_OPEN_FOR_SET)?;
        Ok(Outcome::OK)
    }

    fn begin(&mut self) -> Answer<Outcome> {
        Ok(Outcome::warning(Reason::NO_EXTERNAL_PARTICIPANTS))
    }

    fn commit(&mut self) -> Answer<Outcome> {
        self.end(true);
        Ok(Outcome::OK)
    }

    fn branch(&mut self, _: &BranchCall) -> Result<BranchAnswer, BranchError> {
        Err(BranchError::Failed)
    }

    fn back(&mut self) -> Answer<Outcome> {
        self.end(false);
        Ok(Outcome::OK)
    }

    fn subscribe(
        &mut self,
        what: &mut SubscriptionDescriptor,
        destination: Option<Handle>,
    ) -> Answer<(Option<Handle>, Handle, Outcome)> {
        what.resolved_object_string = what.object_string.clone();
        self.last += 1;
        Ok((
            destination.is_none().then_some(Handle(self.last + 100)),
            Handle(self.last),
            Outcome::OK,
        ))
    }

    fn subscription_request(&mut self, _: Handle, _: i32) -> Answer<i32> {
        Ok(2)
    }

    fn status(&mut self, _: i32) -> Answer<Status> {
        Ok(Status { put_success_count: 3, ..Status::default() })
    }

    fn create_message_handle(&mut self) -> Answer<MessageHandle> {
        self.last += 1;
        self.properties.insert(self.last.into(), Vec::new());
        Ok(MessageHandle(self.last.into()))
    }

    fn delete_message_handle(&mut self, handle: MessageHandle) -> Answer<()> {
        self.properties.remove(&handle.0).map(drop).ok_or(Failed(Reason::HMSG_ERROR))
    }

    fn set_property(
        &mut self,
        handle: MessageHandle,
        name: &str,
        value: PropertyValue,
    ) -> Answer<Outcome> {
        let all = self.of(handle)?;
        all.retain(|one| one.name != name);
        all.push(Property { name: name.to_owned(), value });
        Ok(Outcome::OK)
    }

    fn inquire_property(
        &mut self,
        handle: MessageHandle,
        name: &str,
        options: InquireOptions,
    ) -> Answer<Property> {
        let from = match options {
            InquireOptions::First => 0,
            InquireOptions::Next => self.cursor + 1,
            InquireOptions::UnderCursor => self.cursor,
        };
        let all = self.of(handle)?.clone();
        let prefix = name.strip_suffix('%');
        let matches = |one: &Property| match prefix {
            Some(prefix) => one.name.starts_with(prefix),
            None => one.name == name,
        };
        let none = Failed(Reason::PROPERTY_NOT_AVAILABLE);
        let place = all.iter().skip(from).position(matches).ok_or(none)?;
        self.cursor = from + place;
        Ok(all[self.cursor].clone())
    }

    fn delete_property(&mut self, handle: MessageHandle, name: &str) -> Answer<Outcome> {
        self.of(handle)?.retain(|one| one.name != name);
        Ok(Outcome::OK)
    }

    fn buffer_to_handle(
        &mut self,
        _: MessageHandle,
        _: &mut MessageDescriptor,
        buffer: &[u8],
        _: bool,
    ) -> Answer<Vec<u8>> {
        Ok(buffer[buffer.len() / 2..].to_vec())
    }

    fn handle_to_buffer(
        &mut self,
        _: MessageHandle,
        _: &str,
        descriptor: &mut MessageDescriptor,
        _: bool,
    ) -> Answer<Vec<u8>> {
        descriptor.format = *b"MQHRF2  ";
        Ok(b"RFH buffer".to_vec())
    }
}
