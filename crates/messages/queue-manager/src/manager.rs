//! The queue manager as operators and doors see it: opening, definitions, displays.
//!
//! 1. Definitions change one at a time; what a call answered is durable.
//! 2. `DEFINE` gives attributes that are not named the values of the object that it is to be like,
//!    or of the default object of its kind; `ALTER` leaves them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use seam::sync::MutexGuard;
use store::Store;

use crate::branch::{BranchError, BranchId, BranchStatus};
use crate::channel::Channels;
use crate::connection::Connection;
use crate::core::event::{Change, Commanded, Commander, Event};
use crate::core::{Core, Options};
use crate::defaults;
use crate::error::AdminError;
use crate::name::{ObjectName, matches_generic};
use crate::objects::{Access, Kind, Object, Value};
use crate::options::ConnectOptions;
use crate::page_sets::PageSets;
use crate::queue::Queue;
use crate::reason::{Answer, Reason};
use crate::status::{ConnectionStatus, HandleStatus, QueueStatus, SubscriptionStatus};
use crate::storage::{Storage, numbered};

/// A queue manager over a store. Clones stand for the same one.
pub struct QueueManager<S: Store> {
    core: Arc<Core<S>>,
    /// Whom events of administration name.
    commander: Option<Arc<Commander>>,
}

impl<S: Store> Clone for QueueManager<S> {
    fn clone(&self) -> Self {
        QueueManager { core: Arc::clone(&self.core), commander: self.commander.clone() }
    }
}

impl<S: Store> QueueManager<S> {
    /// Opens the queue manager of a store; makes its default objects the first time.
    ///
    /// # Errors
    /// If the store fails, or what stands there was not written by this release.
    pub fn open(store: &S, options: Options) -> Result<QueueManager<S>, AdminError> {
        let core = Arc::new(Core::open(store, options)?);
        let manager = QueueManager { core, commander: None };
        manager.make_defaults()?;
        manager.core.find_subscriptions()?;
        manager.core.find_retained().map_err(|failed| AdminError::Call {
            kind: Kind::QueueManager,
            name: manager.name().to_owned(),
            reason: failed.0,
        })?;
        manager.core.event(&Event::Started);
        Ok(manager)
    }

    fn make_defaults(&self) -> Result<(), AdminError> {
        let first = defaults::OBJECTS.first();
        let is_new = first.is_some_and(|(kind, name, _)| self.core.object(*kind, name).is_none());
        let records = defaults::RECORDS.iter().filter(|_| is_new);
        let records = records.map(|(name, values)| (Kind::ChannelAuthority, *name, *values));
        // Records first: after a crash in between the queue manager is still new.
        for (kind, name, attributes) in records.chain(defaults::OBJECTS.iter().copied()) {
            if self.core.object(kind, name).is_none() {
                let attributes: Vec<(&str, Value)> =
                    attributes.iter().map(|(name, value)| (*name, Value::from(*value))).collect();
                self.define(kind, name, &attributes, false, None)?;
            }
        }
        Ok(())
    }

    /// The same one, for an operator who gives commands: events of administration name them. What
    /// is done without is the queue manager's own affair, of which no such event tells.
    #[must_use]
    pub fn commanded_by(&self, who: Commander) -> QueueManager<S> {
        QueueManager { core: Arc::clone(&self.core), commander: Some(Arc::new(who)) }
    }

    /// Whether it is known who gives commands.
    #[must_use]
    pub fn is_commanded(&self) -> bool {
        self.commander.is_some()
    }

    /// A command was carried out: readers of events of commands are told.
    pub fn carried_out(&self, what: &Commanded<'_>) {
        if let Some(who) = &self.commander {
            self.core.commanded(who, what);
        }
    }

    /// Tells of objects as they are, as if they had changed; answers of how many. `None`: of every
    /// kind.
    #[must_use]
    pub fn tell_configuration(&self, kind: Option<Kind>, pattern: &str) -> usize {
        let Some(who) = &self.commander else { return 0 };
        let kinds = Kind::ALL.into_iter().filter(|one| kind.is_none_or(|kind| *one == kind));
        let all: Vec<Object> = kinds.flat_map(|kind| self.list(kind, pattern)).collect();
        for object in &all {
            self.core.changed(who, false, Change::Shown(object));
        }
        all.len()
    }

    /// Makes a change, and tells of it if such events are asked for, before or behind it.
    fn telling(
        &self,
        (kind, name): (Kind, &str),
        change: impl FnOnce() -> Result<(), AdminError>,
    ) -> Result<(), AdminError> {
        let Some(who) = &self.commander else { return change() };
        let wanted = self.core.tells_changes();
        let before = self.core.object(kind, name);
        change()?;
        let now = self.core.object(kind, name);
        match (before.as_deref(), now.as_deref()) {
            (None, Some(now)) => self.core.changed(who, wanted, Change::Made(now)),
            (Some(before), None) => self.core.changed(who, wanted, Change::Removed(before)),
            (Some(before), Some(now)) => {
                self.core.changed(who, wanted, Change::Changed { before, now });
            }
            (None, None) => {}
        }
        Ok(())
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.core.options.name
    }

    /// Its identifier, which no other queue manager has.
    #[must_use]
    pub fn identifier(&self) -> String {
        let own = self.object(Kind::QueueManager, self.name());
        own.map(|own| own.text_of("QMID").to_owned()).unwrap_or_default()
    }

    /// Whether puts and gets that do not say so are in the unit of work.
    #[must_use]
    pub fn unit_is_default(&self) -> bool {
        self.core.manager_settings().syncpoint_is_default
    }

    /// What its clock says: milliseconds since 1970 UTC.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        self.core.now_ms()
    }

    /// Its channels.
    #[must_use]
    pub fn channels(&self) -> Channels<S> {
        Channels::new(&self.core)
    }

    /// Its page sets.
    #[must_use]
    pub fn page_sets(&self) -> PageSets<S> {
        PageSets::new(&self.core)
    }

    /// The storage beneath it, if anything is known of it.
    #[must_use]
    pub fn storage(&self) -> Option<&dyn Storage> {
        self.core.options.storage.as_deref()
    }

    /// Connects a program.
    ///
    /// # Errors
    /// `Q_MGR_QUIESCING`, `Q_MGR_STOPPING`, `MAX_CONNS_LIMIT_REACHED`, `NOT_AUTHORIZED`.
    pub fn connect(&self, options: ConnectOptions) -> Answer<Connection<S>> {
        let client = self.core.enter(options)?;
        Ok(Connection::new(Arc::clone(&self.core), client))
    }

    /// Defines an object. `like` is an object of the same kind to take values from; otherwise the
    /// default object of the kind is. With `replace`, one that is there becomes what this says;
    /// its messages stay.
    ///
    /// # Errors
    /// [`AdminError::Exists`], [`AdminError::BadName`], [`AdminError::BadAttribute`],
    /// [`AdminError::NotSettable`], [`AdminError::Refused`]; if the store fails.
    pub fn define(
        &self,
        kind: Kind,
        name: &str,
        attributes: &[(&str, Value)],
        replace: bool,
        like: Option<&str>,
    ) -> Result<(), AdminError> {
        self.telling((kind, name), || self.define_now(kind, name, attributes, (replace, like)))
    }

    fn define_now(
        &self,
        kind: Kind,
        name: &str,
        attributes: &[(&str, Value)],
        (replace, like): (bool, Option<&str>),
    ) -> Result<(), AdminError> {
        check_name(kind, name)?;
        let core = &self.core;
        let one_at_a_time = core.definitions.change();
        let there = core.object(kind, name);
        if let Some(there) = &there
            && (!replace || there.kind != kind)
        {
            return Err(AdminError::Exists { kind: there.kind, name: name.to_owned() });
        }
        if there.is_none() && kind == Kind::Subscription && core.topics.lock().named(name).is_some()
        {
            // A program has it for as long as it is connected.
            return Err(AdminError::Exists { kind, name: name.to_owned() });
        }
        let mut object = self.template(kind, name, like)?;
        apply(&mut object, attributes, true)?;
        match there {
            Some(there) => keep_shown(&mut object, &there),
            None if kind == Kind::QueueLocal => object.number = core.queue_number()?,
            None if kind == Kind::PageSet => self.page_sets().open(&object)?,
            None => {}
        }
        if kind == Kind::Subscription {
            return self.define_subscription(one_at_a_time, object, attributes);
        }
        core.keep(object)
    }

    fn define_subscription(
        &self,
        one_at_a_time: MutexGuard<'_, ()>,
        object: Object,
        attributes: &[(&str, Value)],
    ) -> Result<(), AdminError> {
        let mut over = None;
        let names_queue = names_destination(attributes);
        let kept = self.core.define_subscription(object, names_queue, &mut over);
        drop(one_at_a_time);
        if let Some(queue) = over {
            self.core.remove_queue(&queue)?;
        }
        kept
    }

    /// An object with the values that a definition begins with.
    fn template(&self, kind: Kind, name: &str, like: Option<&str>) -> Result<Object, AdminError> {
        let mut object = Object::new(kind, name);
        let from = like.or_else(|| defaults::object_of(kind));
        let Some(from) = from.filter(|from| *from != name) else { return Ok(object) };
        let found = self.core.object(kind, from).filter(|found| found.kind == kind);
        let Some(found) = found else {
            if like.is_none() {
                return Ok(object);
            }
            return Err(AdminError::NotFound { kind, name: from.to_owned() });
        };
        for (attribute, value) in found.attributes() {
            // A channel's values are those of another one only if it is of the same type.
            let own = attribute.access == Access::Shown || attribute.name == "TOPICSTR";
            if !own {
                let _ = object.set(attribute.name, value);
            }
        }
        Ok(object)
    }

    /// Changes attributes of an object.
    ///
    /// # Errors
    /// [`AdminError::NotFound`], [`AdminError::BadAttribute`], [`AdminError::NotSettable`]; if the
    /// store fails.
    pub fn alter(
        &self,
        kind: Kind,
        name: &str,
        attributes: &[(&str, Value)],
    ) -> Result<(), AdminError> {
        self.telling((kind, name), || self.alter_now(kind, name, attributes))
    }

    fn alter_now(
        &self,
        kind: Kind,
        name: &str,
        attributes: &[(&str, Value)],
    ) -> Result<(), AdminError> {
        let core = &self.core;
        let one_at_a_time = core.definitions.change();
        let mut object = (*self.existing(kind, name)?).clone();
        apply(&mut object, attributes, false)?;
        if kind == Kind::Subscription {
            return self.define_subscription(one_at_a_time, object, attributes);
        }
        core.keep(object)
    }

    fn existing(&self, kind: Kind, name: &str) -> Result<Arc<Object>, AdminError> {
        let found = self.core.object(kind, name).filter(|object| object.kind == kind);
        found.ok_or_else(|| AdminError::NotFound { kind, name: name.to_owned() })
    }

    fn local(&self, name: &str) -> Result<Arc<Queue>, AdminError> {
        let queue = self.core.queue(&ObjectName::from(name));
        let kind = Kind::QueueLocal;
        queue.ok_or_else(|| AdminError::NotFound { kind, name: name.to_owned() })
    }

    /// Deletes an object; a queue with messages only with `purge`.
    ///
    /// # Errors
    /// [`AdminError::NotFound`], [`AdminError::InUse`], [`AdminError::NotEmpty`],
    /// [`AdminError::Uncommitted`]; if the store fails.
    pub fn delete(&self, kind: Kind, name: &str, purge: bool) -> Result<(), AdminError> {
        self.telling((kind, name), || self.delete_now(kind, name, purge))
    }

    fn delete_now(&self, kind: Kind, name: &str, purge: bool) -> Result<(), AdminError> {
        let object = self.existing(kind, name)?;
        if kind == Kind::QueueManager {
            let why = "a queue manager goes with its system".into();
            return Err(AdminError::Refused { kind, name: name.to_owned(), why });
        }
        if kind == Kind::Subscription {
            let one = self.core.topics.lock().named(name).cloned();
            if let Some(one) = one {
                // No connection takes it up from here on.
                if !one.holder.take() {
                    let name = name.to_owned();
                    return Err(AdminError::InUse { kind, name, handles: 1 });
                }
                let removed = self.core.unsubscribe(&one);
                if removed.is_err() {
                    one.holder.give_back();
                }
                return removed;
            }
        }
        if kind == Kind::QueueLocal {
            return self.core.delete_queue(&self.local(name)?, 0, purge);
        }
        let _one_at_a_time = self.core.definitions.change();
        if kind == Kind::PageSet {
            self.page_sets().remove(&object)?;
        }
        if kind == Kind::BufferPool {
            self.page_sets().check_unused(&object)?;
        }
        self.core.discard(&object)
    }

    /// Deletes the authority records of an object that is gone, those of its name alone. The last
    /// records stay: without any, everybody may do everything.
    ///
    /// # Errors
    /// If the store fails.
    pub fn delete_authority_of(&self, kind: Kind, name: &str) -> Result<(), AdminError> {
        let core = &self.core;
        let _one_at_a_time = core.definitions.change();
        for record in core.records_of(kind, name) {
            self.telling((Kind::AuthorityRecord, &record.name), || core.discard(&record))?;
        }
        Ok(())
    }

    /// An object with its attributes as they are now (`CURDEPTH` and the like among them). For
    /// queues, the kind matters not: a name is a name.
    #[must_use]
    pub fn object(&self, kind: Kind, name: &str) -> Option<Object> {
        self.core.shown(kind, name)
    }

    /// The objects of a kind whose names match a generic name, in their order.
    #[must_use]
    pub fn list(&self, kind: Kind, pattern: &str) -> Vec<Object> {
        let names: Vec<String> = {
            let registry = self.core.definitions.registry();
            let all = registry.of_space(kind);
            let matching = all.filter(|it| it.kind == kind && matches_generic(&it.name, pattern));
            matching.map(|object| object.name.clone()).collect()
        };
        names.iter().filter_map(|name| self.core.shown(kind, name)).collect()
    }

    /// Removes the messages of a queue and answers how many there were.
    ///
    /// # Errors
    /// [`AdminError::NotFound`], [`AdminError::InUse`], [`AdminError::Uncommitted`]; if the store
    /// fails.
    pub fn clear(&self, name: &str) -> Result<u64, AdminError> {
        let queue = self.local(name)?;
        {
            let state = queue.state.lock();
            let (kind, name) = (Kind::QueueLocal, name.to_owned());
            if state.index.uncommitted() > 0 {
                return Err(AdminError::Uncommitted { name });
            }
            let handles = u64::from(state.openings.handles());
            if handles > 0 {
                return Err(AdminError::InUse { kind, name, handles });
            }
        }
        self.core.clear(&queue)
    }

    /// Moves the messages of a queue to another one: behind its own with `add`, otherwise only if
    /// it is empty.
    ///
    /// # Errors
    /// [`AdminError::NotFound`], [`AdminError::NotEmpty`], [`AdminError::Call`] for a message that
    /// the other queue does not take; if the store fails.
    pub fn move_messages(&self, from: &str, to: &str, add: bool) -> Result<u64, AdminError> {
        let (source, target) = (self.local(from)?, self.local(to)?);
        let messages = target.state.lock().index.depth();
        if messages > 0 && !add {
            let kind = Kind::QueueLocal;
            return Err(AdminError::NotEmpty { kind, name: to.to_owned(), messages });
        }
        if Arc::ptr_eq(&source, &target) {
            return Ok(0);
        }
        self.core.move_all(&source, &target)
    }

    /// What is known of a local queue.
    #[must_use]
    pub fn queue_status(&self, name: &str) -> Option<QueueStatus> {
        let queue = self.core.queue(&ObjectName::from(name))?;
        Some(self.status_of(&queue, false))
    }

    /// The same, and the counters since the last reset begin again.
    #[must_use]
    pub fn reset_statistics(&self, name: &str) -> Option<QueueStatus> {
        let queue = self.core.queue(&ObjectName::from(name))?;
        Some(self.status_of(&queue, true))
    }

    fn status_of(&self, queue: &Queue, reset: bool) -> QueueStatus {
        let now = self.core.now_ms();
        let mut state = queue.state.lock();
        let uncommitted_ms = state.uncommitted_ms(now);
        let oldest_put_ms = state.index.oldest_put_s().map(|s| u64::from(s) * 1_000);
        let status = QueueStatus {
            name: queue.name.text(),
            depth: state.index.depth(),
            uncommitted: state.index.uncommitted(),
            uncommitted_ms,
            input_handles: u64::from(state.openings.inputs()),
            output_handles: u64::from(state.openings.outputs()),
            bytes: state.index.bytes(),
            damaged: state.damaged.len() as u64,
            oldest_put_ms,
            message_age_s: oldest_put_ms.map(|at| now.saturating_sub(at) / 1_000),
            statistics: state.statistics.clone(),
        };
        if reset {
            let depth = state.index.depth();
            state.statistics.reset(now, depth);
        }
        status
    }

    /// What is open of an object; of all objects of the kind if the name is generic.
    #[must_use]
    pub fn handles(&self, kind: Kind, name: &str) -> Vec<HandleStatus> {
        let number = match kind {
            Kind::Namelist => 2,
            Kind::Process => 3,
            Kind::QueueManager => 5,
            Kind::Topic => 8,
            _ => 1,
        };
        let connections = self.connections();
        let all = connections.into_iter().flat_map(|one| one.handles);
        all.filter(|one| one.object_type == number && one.object.matches(name)).collect()
    }

    /// Every connection.
    #[must_use]
    pub fn connections(&self) -> Vec<ConnectionStatus> {
        let clients: Vec<_> = self.core.clients.lock().values().cloned().collect();
        let shown = clients.iter().map(|client| {
            let began = client.unit_began_ms.load(Ordering::Relaxed);
            ConnectionStatus {
                connection: client.number,
                options: client.options.clone(),
                connected_ms: client.connected_ms,
                unit_began_ms: (began != 0).then_some(began),
                unit_messages: client.unit_messages.load(Ordering::Relaxed),
                handles: client.handles.lock().values().cloned().collect(),
            }
        });
        shown.collect()
    }

    /// Every subscription whose name matches a generic name.
    #[must_use]
    pub fn subscriptions(&self, pattern: &str) -> Vec<SubscriptionStatus> {
        let topics = self.core.topics.lock();
        let matching = topics.iter().filter(|one| matches_generic(&one.name, pattern));
        let shown = matching.map(|one| SubscriptionStatus {
            name: one.name.clone(),
            id: one.id,
            topic: one.topic.clone(),
            destination: one.delivery.queue,
            durable: one.durable,
            user: one.holder.user.clone(),
            messages: one.holder.messages(),
        });
        shown.collect()
    }

    /// The branches of global transactions.
    #[must_use]
    pub fn branches(&self) -> Vec<BranchStatus> {
        self.core.branch_statuses()
    }

    /// Decides about a branch that is prepared, in place of its transaction manager, which is told
    /// when it asks.
    ///
    /// # Errors
    /// [`BranchError::Unknown`]; [`BranchError::Protocol`] for one that is not prepared;
    /// [`BranchError::Failed`] if the store fails: the branch is as it was.
    pub fn decide_branch(&self, branch: &BranchId, commits: bool) -> Result<(), BranchError> {
        self.core.decide_as_operator(branch, commits)
    }

    /// Removes the retained publication of a topic string; `false` if there is none.
    ///
    /// # Errors
    /// If the store fails.
    pub fn clear_retained(&self, topic: &str) -> Answer<bool> {
        self.core.clear_retained(topic)
    }

    /// Breaks a connection: its calls fail, waits end, and its unit of work is backed out when it
    /// is dropped. `false` if there is no such connection.
    #[must_use]
    pub fn break_connection(&self, connection: u64) -> bool {
        let client = self.core.clients.lock().get(&connection).cloned();
        let Some(client) = client else { return false };
        client.broken.store(true, Ordering::Release);
        self.core.alarm();
        true
    }

    /// Lets no program connect any more, and ends waits of those who asked for that.
    pub fn quiesce(&self) {
        self.core.event(&Event::Stopping { quiesces: true });
        self.core.quiesce();
    }

    /// Ends every call: for a stop of the system.
    pub fn stop(&self) {
        if !self.is_stopping() {
            self.core.event(&Event::Stopping { quiesces: false });
        }
        self.core.stop();
    }

    /// Removes messages that have expired, and answers how many: what the scan does every
    /// `EXPRYINT` seconds.
    pub fn expire(&self) -> u64 {
        self.core.expire_all()
    }

    /// Does what housekeeping is due: messages and subscriptions whose time is over. To be called
    /// every second or so.
    pub fn tick(&self) {
        if self.core.scan_is_due() {
            self.core.expire_all();
        }
        self.core.expire_subscriptions();
        self.core.statistics_if_due();
        let (now, queues) = (
            self.core.now_ms(),
            self.core.definitions.registry().queues().cloned().collect::<Vec<_>>(),
        );
        for queue in queues {
            let _ = queue.state.lock().uncommitted_ms(now);
        }
    }

    /// Whether a user may administer: everybody may while no authority record is kept.
    #[must_use]
    pub fn may_administer(&self, user: &str) -> bool {
        self.core.may_administer(user)
    }

    /// Whether calls are still answered.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        matches!(self.core.goes_on(true), Err(failed) if failed.0 == Reason::Q_MGR_STOPPING)
    }
}

fn check_name(kind: Kind, name: &str) -> Result<(), AdminError> {
    let fits = !name.is_empty() && name.len() <= kind.name_bytes_max();
    let free = matches!(kind, Kind::Subscription | Kind::ChannelAuthority | Kind::AuthorityRecord);
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"./_%".contains(&byte);
    let is_number = matches!(kind, Kind::PageSet | Kind::BufferPool);
    if is_number && numbered(name).as_deref() != Some(name) {
        return Err(AdminError::BadName { kind, name: name.to_owned() });
    }
    if fits && (free || name.bytes().all(allowed)) {
        return Ok(());
    }
    Err(AdminError::BadName { kind, name: name.to_owned() })
}

/// Sets attributes as a command says.
fn apply(
    object: &mut Object,
    attributes: &[(&str, Value)],
    defines: bool,
) -> Result<(), AdminError> {
    let (kind, name) = (object.kind, object.name.clone());
    for (attribute, value) in attributes {
        let known = kind.attributes().iter().find(|known| known.name == *attribute);
        let settable = known.is_none_or(|known| match known.access {
            Access::Settable => true,
            Access::Fixed => defines || object.get(known.name) == known.check(value).ok().as_ref(),
            Access::Shown => false,
        });
        if !settable {
            let attribute = (*attribute).to_owned();
            return Err(AdminError::NotSettable { kind, name, attribute });
        }
        object.set(attribute, value).map_err(|reason| AdminError::BadAttribute {
            kind,
            name: name.clone(),
            reason,
        })?;
    }
    Ok(())
}

/// Whether attributes of a subscription name a queue.
fn names_destination(attributes: &[(&str, Value)]) -> bool {
    let names = |name: &str| ["DEST", "DESTQMGR"].contains(&name);
    attributes.iter().any(|(name, value)| names(name) && !value.to_string().trim().is_empty())
}

/// What only the queue manager sets stays as it was.
fn keep_shown(object: &mut Object, there: &Object) {
    object.number = there.number;
    for (attribute, value) in there.attributes() {
        if attribute.access == Access::Shown {
            let _ = object.set(attribute.name, value);
        }
    }
}
