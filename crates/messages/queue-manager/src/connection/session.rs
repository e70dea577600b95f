//! What a connection has: its handles, its unit of work, its message handles.
//!
//! 1. A handle is valid until it is closed or its connection ends; numbers are not used again
//!    within a connection.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use store::Store;

use crate::branch::BranchId;
use crate::core::event::{self, Account, Did, Disconnected};
use crate::core::{Client, Core, Permission, Resolved, Subscribed, Work};
use crate::descriptor::{Identifier, MessageDescriptor};
use crate::name::ObjectName;
use crate::objects::Kind;
use crate::options::{Handle, MessageHandle, Status, value};
use crate::properties::Properties;
use crate::queue::{Place, Queue};
use crate::reason::{Answer, Reason, fail, require};
use crate::selector::Selector;

/// Bytes of memory that the properties of all message handles of a program may take.
const PROPERTIES_BYTES: usize = 128 << 20;
/// The same, of one that has come by a door.
const DOOR_PROPERTIES_BYTES: usize = 8 << 20;

/// Where a group or a segmented message stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Logical {
    pub(super) group: Identifier,
    pub(super) sequence: i32,
    /// Where the next segment begins.
    pub(super) offset: i32,
    /// The group has a last message still to come.
    pub(super) in_group: bool,
    /// The message has a last segment still to come.
    pub(super) in_message: bool,
    pub(super) persistent: bool,
    pub(super) in_unit: bool,
}

impl Logical {
    /// Where a group stands behind a message with so many bytes; `None`: it is whole.
    pub(super) fn after(md: &MessageDescriptor, bytes: usize, in_unit: bool) -> Option<Logical> {
        let in_message = !md.is_last_segment();
        let in_group = !md.is_last_in_group() || (in_message && md.is_in_group());
        let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
        let (sequence, offset) = match in_message {
            true => (md.msg_seq_number, md.offset.saturating_add(bytes)),
            false => (md.msg_seq_number.saturating_add(1), 0),
        };
        let (group, persistent) = (md.group_id, md.is_persistent());
        let state = Logical { group, sequence, offset, in_group, in_message, persistent, in_unit };
        (in_group || in_message).then_some(state)
    }
}

/// The group that a handle puts or gets in logical order, and how far it is.
#[derive(Clone, Copy, Default)]
pub(super) struct Course {
    now: Option<Logical>,
    /// What it was before the unit of work moved it, if that has.
    before: Option<Option<Logical>>,
}

impl Course {
    /// Where it stands; `None`: in no group.
    pub(super) fn now(&self) -> Option<Logical> {
        self.now
    }

    /// Goes on, in the unit of work or outside. What is done outside is not undone with it.
    pub(super) fn go(&mut self, to: Option<Logical>, in_unit: bool) {
        self.before = in_unit.then(|| self.before.unwrap_or(self.now));
        self.now = to;
    }

    /// The unit of work was committed.
    pub(super) fn committed(&mut self) {
        self.before = None;
    }

    /// The unit of work was backed out: the group goes on where it was before.
    pub(super) fn backed_out(&mut self) {
        if let Some(before) = self.before.take() {
            self.now = before;
        }
    }

    /// The unit of work is somebody else's from now on, and its groups with it.
    pub(super) fn leave(&mut self) {
        *self = Course { now: self.now.filter(|state| !state.in_unit), before: None };
    }
}

/// An open queue.
pub(super) struct OpenQueue {
    pub(super) resolved: Resolved,
    pub(super) selector: Option<Selector>,
    pub(super) input: bool,
    pub(super) cursor: Option<Place>,
    pub(super) locked: Option<Place>,
    /// What the locked message says of itself.
    pub(super) locked_descriptor: Option<Box<MessageDescriptor>>,
    pub(super) marked: BTreeSet<Place>,
    pub(super) putting: Course,
    pub(super) getting: Course,
    pub(super) browsing: Option<Logical>,
    /// Where the group or message begins that was last browsed in logical order.
    pub(super) group_at: Option<Place>,
    /// The context of the message that was last got, for those who pass it on.
    pub(super) context: Option<Box<MessageDescriptor>>,
    /// What is put by this handle may be carried out.
    pub(super) commands: bool,
    /// This handle made the temporary queue.
    pub(super) made_it: bool,
    /// This handle made the queue, temporary or not.
    pub(super) created: bool,
}

impl OpenQueue {
    /// The local queue.
    pub(super) fn local(&self) -> Option<&Arc<Queue>> {
        match &self.resolved.target {
            crate::core::Target::Local(queue) => Some(queue),
            _ => None,
        }
    }

    /// The queue whose handles are counted: local, or the transmission queue.
    pub(super) fn counted(&self) -> Option<&Arc<Queue>> {
        match &self.resolved.target {
            crate::core::Target::Local(queue) => Some(queue),
            crate::core::Target::Remote { transmission, .. } => Some(transmission),
            _ => None,
        }
    }
}

/// What a handle stands for.
pub(super) enum Opened {
    Queue(Box<OpenQueue>),
    /// A distribution list: what could be opened of it.
    List(Vec<Answer<OpenQueue>>),
    Topic(String),
    Subscription(Subscribed),
    /// An object to inquire about.
    Other(Kind, String),
}

/// An open object.
pub(super) struct Open {
    /// Unique in the queue manager.
    pub(super) serial: u64,
    pub(super) options: i32,
    pub(super) user: String,
    pub(super) object: Opened,
}

impl Open {
    pub(super) fn may(&self, option: i32, otherwise: Reason) -> Answer<()> {
        require(self.options & option != 0, otherwise)
    }
}

/// A connection from within.
pub(super) struct Session<S: Store> {
    pub(super) core: Arc<Core<S>>,
    pub(super) client: Arc<Client>,
    pub(super) work: Work<S>,
    /// The branch of a global transaction that the unit of work is of.
    pub(super) branch: Option<BranchId>,
    pub(super) handles: BTreeMap<i32, Open>,
    /// Destinations of distribution lists that are open.
    pub(super) listed: usize,
    next_handle: i32,
    pub(super) message_handles: BTreeMap<i64, Properties>,
    next_message_handle: i64,
    pub(super) status: Status,
    account: Account,
}

impl<S: Store> Session<S> {
    pub(super) fn new(core: Arc<Core<S>>, client: Arc<Client>) -> Session<S> {
        let work = Work::new(&core);
        let account = Account::begin(&core);
        Session {
            core,
            client,
            work,
            branch: None,
            handles: BTreeMap::new(),
            listed: 0,
            next_handle: 1,
            message_handles: BTreeMap::new(),
            next_message_handle: 1,
            status: Status::default(),
            account,
        }
    }

    /// Notes a call, if an account is kept.
    pub(super) fn note(&mut self, queue: Option<ObjectName>, did: Did) {
        if self.account.is_kept() {
            self.account.note(&self.core, &self.client, (queue, did));
        }
    }

    /// Notes a call for something that is open.
    pub(super) fn note_of(&mut self, handle: Handle, did: Did) {
        if self.account.is_kept() {
            let name = self.name_of(handle);
            self.note(name, did);
        }
    }

    /// The queue that a handle stands for.
    pub(super) fn name_of(&self, handle: Handle) -> Option<ObjectName> {
        let open = self.handles.get(&handle.0)?;
        match &open.object {
            Opened::Queue(queue) => queue.counted().map(|queue| queue.name),
            _ => None,
        }
    }

    /// The connection ends: its account is told.
    pub(super) fn end_account(&mut self, how: Disconnected) {
        event::end(&self.core, &mut self.account, &self.client, how);
    }

    /// Fails if the connection was broken, or the queue manager stops.
    pub(super) fn goes_on(&self, fail_if_quiescing: bool) -> Answer<()> {
        require(!self.client.broken.load(Ordering::Acquire), Reason::CONNECTION_BROKEN)?;
        self.core.goes_on(fail_if_quiescing)
    }

    pub(super) fn open(&mut self, handle: Handle) -> Answer<&mut Open> {
        self.handles.get_mut(&handle.0).map_or(fail(Reason::HOBJ_ERROR), Ok)
    }

    pub(super) fn queue(&mut self, handle: Handle) -> Answer<&mut OpenQueue> {
        match &mut self.open(handle)?.object {
            Opened::Queue(queue) => Ok(queue),
            _ => fail(Reason::HOBJ_ERROR),
        }
    }

    /// Notes an open object.
    pub(super) fn add(&mut self, open: Open, name: ObjectName, object_type: i32) -> Handle {
        let number = self.next_handle;
        self.next_handle += 1;
        let status = crate::status::HandleStatus {
            connection: self.client.number,
            handle: number,
            object: name,
            object_type,
            options: open.options,
            user: open.user.clone(),
            application: self.client.options.application.clone(),
        };
        self.client.handles.lock().insert(number, status);
        self.handles.insert(number, open);
        Handle(number)
    }

    pub(super) fn has_room_for_handle(&self) -> Answer<()> {
        self.has_room_for_handles(1)
    }

    /// Each destination of a distribution list counts as one.
    pub(super) fn has_room_for_handles(&self, count: usize) -> Answer<()> {
        let most = self.core.manager_settings().handles_max;
        let taken = self.handles.len() + self.listed;
        require(taken.saturating_add(count) <= most, Reason::HANDLE_NOT_AVAILABLE)
    }

    /// The user whose authority counts.
    pub(super) fn user(&self, alternate: &[u8; 12], uses_alternate: bool) -> Answer<String> {
        let own = &self.client.options.user;
        if !uses_alternate {
            return Ok(own.clone());
        }
        let name = crate::name::unpadded(alternate);
        self.may(own, Kind::QueueManager, &name, Permission::AlternateUser)?;
        Ok(name)
    }

    /// Whether the user of a call may do that. Who comes by a door speaks for others only if a
    /// record lets him.
    pub(super) fn may(
        &self,
        user: &str,
        kind: Kind,
        name: &str,
        permission: Permission,
    ) -> Answer<()> {
        self.core.may(user, kind, name, permission)?;
        let doubted = self.client.options.by_door && permission.is_for_others();
        require(
            !doubted || self.core.is_given(user, kind, name, permission),
            Reason::NOT_AUTHORIZED,
        )
    }

    /// Brings what displays show of the unit of work up to date.
    pub(super) fn note_unit(&self) {
        let messages = self.work.messages() as u64;
        self.client.unit_messages.store(messages, Ordering::Relaxed);
        let began = &self.client.unit_began_ms;
        if self.work.is_idle() {
            began.store(0, Ordering::Relaxed);
        } else if began.load(Ordering::Relaxed) == 0 {
            began.store(self.core.now_ms(), Ordering::Relaxed);
        }
    }

    /// Whether a call is part of the unit of work.
    pub(super) fn in_unit(&self, options: i32) -> Answer<bool> {
        let (with, without) = (value::put::SYNCPOINT, value::put::NO_SYNCPOINT);
        match (options & with != 0, options & without != 0) {
            (true, true) => fail(Reason::OPTIONS_ERROR),
            (true, false) => Ok(true),
            (false, true) => Ok(false),
            (false, false) => {
                Ok(self.work.is_joined() || self.core.manager_settings().syncpoint_is_default)
            }
        }
    }

    pub(super) fn new_message_handle(&mut self) -> Answer<MessageHandle> {
        let most = self.core.manager_settings().handles_max;
        require(self.message_handles.len() < most, Reason::HANDLE_NOT_AVAILABLE)?;
        let number = self.next_message_handle;
        self.next_message_handle += 1;
        self.message_handles.insert(number, Properties::default());
        Ok(MessageHandle(number))
    }

    /// The properties of a handle that are to take so many bytes more: those of all handles of a
    /// connection have a limit together.
    pub(super) fn properties_for(
        &mut self,
        handle: MessageHandle,
        more: usize,
    ) -> Answer<&mut Properties> {
        let taken: usize = self.message_handles.values().map(Properties::bytes).sum();
        let fits = taken.saturating_add(more) <= self.properties_bytes_max();
        let all = self.properties(handle)?;
        require(fits, Reason::PROPERTIES_TOO_BIG)?;
        Ok(all)
    }

    /// The properties of a handle that are to be those of a message: whatever a message has fits if
    /// the other handles keep to the limit.
    pub(super) fn replace_properties(&mut self, handle: MessageHandle) -> Answer<&mut Properties> {
        let others = self.message_handles.iter().filter(|(number, _)| **number != handle.0);
        let taken: usize = others.map(|(_, all)| all.bytes()).sum();
        let fits = taken <= self.properties_bytes_max();
        let all = self.properties(handle)?;
        require(fits, Reason::PROPERTIES_TOO_BIG)?;
        Ok(all)
    }

    fn properties_bytes_max(&self) -> usize {
        if self.client.options.by_door { DOOR_PROPERTIES_BYTES } else { PROPERTIES_BYTES }
    }

    pub(super) fn properties(&mut self, handle: MessageHandle) -> Answer<&mut Properties> {
        self.message_handles.get_mut(&handle.0).map_or(fail(Reason::HMSG_ERROR), Ok)
    }
}
