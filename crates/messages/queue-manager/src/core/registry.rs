//! Definitions: in the store and, ready for use, in memory.
//!
//! | set | key | value |
//! |---|---|---|
//! | `HOLDFAST.MQ.OBJECTS` | kind (1), name | the definition, see `objects` |
//!
//! 1. What is in memory is in the store, except temporary dynamic queues.
//! 2. Names of queues are unique over all kinds of queues.
//! 3. Who changes definitions holds [`Definitions::change`], taken in front of the registry.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use seam::sync::{Mutex, MutexGuard};
use store::{Cursor, KeyRange, Read, SetId, Store, Unit, UnitOptions};

use super::branches::Branches;
use super::event::{Accounting, Counting, Switches};
use super::running::Running;
use super::{Core, Options};
use crate::branch::BRANCHES;
use crate::channel_state::{CHANNELS, Table};
use crate::error::AdminError;
use crate::message::display_date_and_time;
use crate::name::ObjectName;
use crate::objects::{Kind, Object, Value};
use crate::queue::{Bodies, Entry, Origin, PageSet, Queue, Settings, Stored, set_of};
use crate::topic::Topics;

const DEFINITIONS: &str = "HOLDFAST.MQ.OBJECTS";

/// What the queue manager's own attributes say, ready for use.
#[derive(Clone, Debug)]
pub(crate) struct ManagerSettings {
    pub(crate) dead_letter_queue: ObjectName,
    pub(crate) default_transmission_queue: ObjectName,
    pub(crate) length_max: usize,
    pub(crate) handles_max: usize,
    pub(crate) uncommitted_max: usize,
    pub(crate) syncpoint_is_default: bool,
    pub(crate) moves_backed_out: bool,
    pub(crate) trigger_interval_ms: u64,
    pub(crate) mark_interval_ms: u64,
    pub(crate) ccsid: i32,
    pub(crate) properties_max: usize,
    /// Milliseconds between scans for expired messages; none: no scans.
    pub(crate) expiry_interval_ms: Option<u64>,
    pub(crate) events: Switches,
    pub(crate) accounting: Accounting,
}

impl ManagerSettings {
    fn of(object: &Object) -> ManagerSettings {
        let number = |name| u64::try_from(object.number_of(name));
        let size = |name| usize::try_from(object.number_of(name)).unwrap_or(usize::MAX);
        let seconds: Option<u64> = object.text_of("EXPRYINT").parse().ok();
        ManagerSettings {
            dead_letter_queue: object.text_of("DEADQ").into(),
            default_transmission_queue: object.text_of("DEFXMITQ").into(),
            length_max: size("MAXMSGL"),
            handles_max: size("MAXHANDS"),
            uncommitted_max: size("MAXUMSGS"),
            syncpoint_is_default: object.is("DEFSYNCP", "YES"),
            moves_backed_out: object.is("BOMOVE", "YES"),
            trigger_interval_ms: number("TRIGINT").unwrap_or(u64::MAX),
            mark_interval_ms: number("MARKINT").unwrap_or(u64::MAX / 2),
            ccsid: object.number_of("CCSID") as i32,
            properties_max: size("MAXPROPL"),
            expiry_interval_ms: seconds.filter(|seconds| *seconds > 0).map(|s| s * 1_000),
            events: Switches::of(object),
            accounting: Accounting::of(object),
        }
    }
}

/// The definitions in memory.
pub(crate) struct Registry {
    objects: BTreeMap<(Kind, String), Arc<Object>>,
    queues: BTreeMap<String, Arc<Queue>>,
    manager: Arc<ManagerSettings>,
    /// Names that queues give, or gave, as those of their initiation queues.
    initiation: BTreeSet<ObjectName>,
    /// Bytes of messages that are in memory alone, of all queues.
    in_memory: Arc<AtomicU64>,
}

impl Registry {
    pub(crate) fn object(&self, kind: Kind, name: &str) -> Option<&Arc<Object>> {
        self.objects.get(&(kind.space(), name.to_owned()))
    }

    pub(crate) fn queue(&self, name: &str) -> Option<&Arc<Queue>> {
        self.queues.get(name)
    }

    pub(crate) fn queues(&self) -> impl Iterator<Item = &Arc<Queue>> {
        self.queues.values()
    }

    /// Whether a queue of that name is an initiation queue, or was one.
    pub(crate) fn initiates(&self, name: ObjectName) -> bool {
        self.initiation.contains(&name)
    }

    pub(crate) fn manager(&self) -> &Arc<ManagerSettings> {
        &self.manager
    }

    /// The objects of a kind; of `QueueLocal`'s space all kinds of queues.
    pub(crate) fn of_space(&self, kind: Kind) -> impl Iterator<Item = &Arc<Object>> {
        let from = (kind.space(), String::new());
        let range = self.objects.range(from..);
        range.take_while(move |((space, _), _)| *space == kind.space()).map(|(_, object)| object)
    }

    fn insert(&mut self, object: Object, now_ms: u64) {
        if object.kind == Kind::QueueManager {
            self.manager = Arc::new(ManagerSettings::of(&object));
        }
        let initiation = object.text_of("INITQ");
        if object.kind.is_queue() && !initiation.is_empty() {
            self.initiation.insert(initiation.into());
        }
        if object.kind == Kind::QueueLocal {
            let mut settings = Settings::of(&object);
            settings.page_set = self.page_set_of(&settings.storage_class);
            match self.queues.get(&object.name) {
                Some(queue) => {
                    let mut state = queue.state.lock();
                    if state.settings.watch != settings.watch {
                        state.watch = settings.watch;
                    }
                    if state.settings.service != settings.service {
                        state.service = settings.service;
                    }
                    state.settings = Arc::new(settings);
                    // Getters may find it inhibited now, or no longer so.
                    queue.alarm_all(&mut state);
                }
                None => {
                    let name = ObjectName::from(object.name.as_str());
                    let counted = (now_ms, &self.in_memory);
                    let queue = Arc::new(Queue::new(name, object.number, settings, counted));
                    self.queues.insert(object.name.clone(), queue);
                }
            }
        }
        let class = (object.kind == Kind::StorageClass).then(|| object.name.clone());
        self.objects.insert((object.kind.space(), object.name.clone()), Arc::new(object));
        if let Some(class) = class {
            self.class_changed(&class);
        }
    }

    /// The page set that a storage class names; one that is not defined names the usual one.
    fn page_set_of(&self, class: &str) -> PageSet {
        let class = self.object(Kind::StorageClass, class);
        class.and_then(|class| PageSet::of(class.number_of("PSID"))).unwrap_or(PageSet::ZERO)
    }

    /// Queues of a storage class go to another page set with the next message that finds them
    /// empty.
    fn class_changed(&self, class: &str) {
        let page_set = self.page_set_of(class);
        for queue in self.queues.values() {
            let mut state = queue.state.lock();
            if state.settings.storage_class == class && state.settings.page_set != page_set {
                let settings = Settings { page_set, ..(*state.settings).clone() };
                state.settings = Arc::new(settings);
            }
        }
    }

    fn remove(&mut self, kind: Kind, name: &str) -> Option<Arc<Queue>> {
        self.objects.remove(&(kind.space(), name.to_owned()));
        if kind == Kind::StorageClass {
            self.class_changed(name);
        }
        if kind.is_queue() { self.queues.remove(name) } else { None }
    }
}

/// The definitions, as they are kept and in memory.
pub(crate) struct Definitions {
    set: SetId,
    /// Held while definitions change, in front of the registry.
    administration: Mutex<()>,
    registry: Mutex<Registry>,
    /// Of the settings; asked for under latches of queues.
    trigger_interval_ms: AtomicU64,
}

impl Definitions {
    /// None are read yet; the queue manager's own are `own`.
    fn new(set: SetId, own: &Object, in_memory: &Arc<AtomicU64>) -> Definitions {
        let registry = Registry {
            objects: BTreeMap::new(),
            queues: BTreeMap::new(),
            manager: Arc::new(ManagerSettings::of(own)),
            initiation: BTreeSet::new(),
            in_memory: Arc::clone(in_memory),
        };
        Definitions {
            set,
            administration: Mutex::new(()),
            registry: Mutex::new(registry),
            trigger_interval_ms: AtomicU64::new(u64::MAX),
        }
    }

    /// No other command changes definitions.
    pub(crate) fn change(&self) -> MutexGuard<'_, ()> {
        self.administration.lock()
    }

    /// Those in memory.
    pub(crate) fn registry(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock()
    }

    /// How long no other trigger message follows for a first message.
    pub(crate) fn trigger_interval_ms(&self) -> u64 {
        self.trigger_interval_ms.load(Ordering::Relaxed)
    }

    /// The settings may say another interval.
    fn refresh_interval(&self) {
        let interval = self.registry().manager().trigger_interval_ms;
        self.trigger_interval_ms.store(interval, Ordering::Relaxed);
    }
}

fn key(kind: Kind, name: &str) -> Vec<u8> {
    let mut key = vec![kind.space() as u8];
    key.extend_from_slice(name.as_bytes());
    key
}

/// Whether a definition is kept over a restart.
fn is_kept(object: &Object) -> bool {
    !(object.kind == Kind::QueueLocal && object.is("DEFTYPE", "TEMPDYN"))
}

impl<S: Store> Core<S> {
    /// Reads definitions and messages. Makes the queue manager's own definition the first time.
    pub(crate) fn open(store: &S, options: Options) -> Result<Core<S>, AdminError> {
        let bodies = Bodies::open(store)?;
        let set = set_of(store, DEFINITIONS)?;
        let channels = set_of(store, CHANNELS)?;
        let branches = set_of(store, BRANCHES)?;
        let now_ms = options.clock.utc_us() / 1_000;
        let own = Object::new(Kind::QueueManager, &options.name);
        let in_memory = Arc::new(AtomicU64::new(0));
        let core = Core {
            store: store.clone(),
            name: ObjectName::from(options.name.as_str()),
            options,
            bodies,
            definitions: Definitions::new(set, &own, &in_memory),
            in_memory,
            topics: Mutex::new(Topics::default()),
            clients: Mutex::new(BTreeMap::new()),
            channels: Arc::new(Table::new(channels)),
            branches: Branches::new(branches),
            counting: Counting::new(now_ms),
            running: Running::new(now_ms),
        };
        core.read_definitions(now_ms)?;
        core.open_page_sets()?;
        core.read_messages()?;
        super::channel_doubts::recover(&core)?;
        core.recover_branches()?;
        core.definitions.refresh_interval();
        if core.definitions.registry().object(Kind::QueueManager, &core.options.name).is_none() {
            core.make_own(own, now_ms)?;
        }
        Ok(core)
    }

    fn make_own(&self, mut own: Object, now_ms: u64) -> Result<(), AdminError> {
        let identity = format!("{}_{}", self.options.name, display_date_and_time(now_ms).0);
        let refused = |reason| AdminError::BadAttribute {
            kind: Kind::QueueManager,
            name: self.options.name.clone(),
            reason,
        };
        own.set("QMID", &identity.as_str().into()).map_err(refused)?;
        own.set("DEADQ", &"SYSTEM.DEAD.LETTER.QUEUE".into()).map_err(refused)?;
        self.keep(own)
    }

    fn read_definitions(&self, now_ms: u64) -> Result<(), AdminError> {
        let mut unit = self.store.begin(UnitOptions::READ_ONLY)?;
        let mut cursor = self.store.cursor(self.definitions.set)?;
        let mut found = Vec::new();
        cursor.limit(KeyRange::ALL);
        while let Some(entry) = unit.next(&mut cursor, Read::Unlocked)? {
            let name = entry.key.get(1..).and_then(|name| std::str::from_utf8(name).ok());
            let damaged = || AdminError::Damaged {
                object: format!("definition {}", entry.key.escape_ascii()),
                what: "it was not written by this release".into(),
            };
            let name = name.ok_or_else(damaged)?;
            // The kind of a queue stands in front of the definition, as its key says "a queue".
            let (kind, rest) = entry.value.split_first().ok_or_else(damaged)?;
            let kind = Kind::of_byte(*kind).ok_or_else(damaged)?;
            found.push(Object::read(kind, name, rest).ok_or_else(damaged)?);
        }
        unit.backout()?;
        let mut registry = self.definitions.registry();
        for object in found {
            registry.insert(object, now_ms);
        }
        Ok(())
    }

    fn open_page_sets(&self) -> Result<(), AdminError> {
        let defined: Vec<PageSet> = {
            let registry = self.definitions.registry();
            let objects = registry.of_space(Kind::PageSet);
            objects.filter_map(|object| PageSet::of(object.name.parse().ok()?)).collect()
        };
        for page_set in defined.into_iter().filter(|one| *one != PageSet::ZERO) {
            self.bodies.open_page_set(page_set, None)?;
        }
        Ok(())
    }

    fn read_messages(&self) -> Result<(), AdminError> {
        let registry = self.definitions.registry();
        let queues: BTreeMap<u32, Arc<Queue>> =
            registry.queues().map(|queue| (queue.number, Arc::clone(queue))).collect();
        drop(registry);
        self.bodies.scan(|location, at, stored| {
            let Some(queue) = queues.get(&location.queue) else { return };
            let mut state = queue.state.lock();
            match stored {
                // A count may outlive its message, and the queue's change to another page set.
                Stored::Backouts(count) => state.index.set_backout_count(at, count),
                Stored::Message(head) => {
                    queue.found_in(location.page_set);
                    let expires = match head.expires_ms {
                        0 => 0,
                        ms => self.tenths_of(ms),
                    };
                    let put_s = (head.put_ms / 1_000) as u32;
                    let (bytes, large) = (head.bytes, head.in_chunks);
                    state.index.found(at, Entry { bytes, put_s, expires, persistent: true, large });
                }
            }
        })?;
        Ok(())
    }

    pub(crate) fn manager_settings(&self) -> Arc<ManagerSettings> {
        Arc::clone(self.definitions.registry().manager())
    }

    pub(crate) fn object(&self, kind: Kind, name: &str) -> Option<Arc<Object>> {
        self.definitions.registry().object(kind, name).cloned()
    }

    pub(crate) fn queue(&self, name: &ObjectName) -> Option<Arc<Queue>> {
        self.definitions.registry().queue(&name.text()).cloned()
    }

    /// A number for a new queue.
    pub(crate) fn queue_number(&self) -> Result<u32, AdminError> {
        let number = self.store.draw(self.definitions.set, 1)?;
        u32::try_from(number).map_err(|_| AdminError::Damaged {
            object: "the numbers of queues".into(),
            what: "all are given".into(),
        })
    }

    /// Keeps a definition, durably, in place of the one there; then it counts.
    pub(crate) fn keep(&self, mut object: Object) -> Result<(), AdminError> {
        let now_ms = self.now_ms();
        let (date, time) = display_date_and_time(now_ms);
        let new = self.object(object.kind, &object.name).is_none();
        let stamps = if new {
            &["ALTDATE", "CRDATE", "ALTTIME", "CRTIME"][..]
        } else {
            &["ALTDATE", "ALTTIME"]
        };
        for stamp in stamps {
            let value = if stamp.ends_with("DATE") { &date } else { &time };
            // Some kinds do not say when they were made.
            let _ = object.set(stamp, &Value::Text(value.clone()));
        }
        if is_kept(&object) {
            let mut value = vec![object.kind as u8];
            value.extend_from_slice(&object.write());
            let mut unit = self.store.begin(UnitOptions::default())?;
            unit.put(self.definitions.set, &key(object.kind, &object.name), &value)?;
            unit.commit()?;
        }
        self.definitions.registry().insert(object, now_ms);
        self.definitions.refresh_interval();
        Ok(())
    }

    /// Removes a definition, durably. The messages of a queue are gone already.
    pub(crate) fn discard(&self, object: &Object) -> Result<(), AdminError> {
        if is_kept(object) {
            let mut unit = self.store.begin(UnitOptions::default())?;
            let _ = unit.delete(self.definitions.set, &key(object.kind, &object.name))?;
            unit.commit()?;
        }
        let queue = self.definitions.registry().remove(object.kind, &object.name);
        if let Some(queue) = queue {
            queue.state.lock().deleted = true;
            queue.alarm();
        }
        Ok(())
    }

    /// Changes attributes of an object as the queue manager, whatever their access is.
    pub(crate) fn adjust(
        &self,
        kind: Kind,
        name: &str,
        values: &[(&str, Value)],
    ) -> Result<(), AdminError> {
        let _one_at_a_time = self.definitions.change();
        let Some(object) = self.object(kind, name) else {
            return Err(AdminError::NotFound { kind, name: name.to_owned() });
        };
        let mut object = (*object).clone();
        for (attribute, value) in values {
            object.set(attribute, value).map_err(|reason| AdminError::BadAttribute {
                kind,
                name: name.to_owned(),
                reason,
            })?;
        }
        self.keep(object)
    }

    /// Makes a dynamic queue from a model.
    pub(crate) fn make_dynamic(
        &self,
        model: &Object,
        name: &str,
    ) -> Result<Arc<Queue>, AdminError> {
        let _one_at_a_time = self.definitions.change();
        self.make_dynamic_meanwhile(model, name)
    }

    /// The same, while the caller has it that nobody else changes definitions.
    pub(crate) fn make_dynamic_meanwhile(
        &self,
        model: &Object,
        name: &str,
    ) -> Result<Arc<Queue>, AdminError> {
        if let Some(there) = self.object(Kind::QueueLocal, name) {
            return Err(AdminError::Exists { kind: there.kind, name: name.to_owned() });
        }
        let mut object = Object::new(Kind::QueueLocal, name);
        for (attribute, value) in model.attributes() {
            // The tables differ in what a model has no use for.
            let _ = object.set(attribute.name, value);
        }
        object.number = self.queue_number()?;
        self.keep(object)?;
        let queue = self.queue(&ObjectName::from(name));
        queue.ok_or_else(|| AdminError::NotFound { kind: Kind::QueueLocal, name: name.into() })
    }

    /// A definition with what is known of the object at this moment.
    pub(crate) fn shown(&self, kind: Kind, name: &str) -> Option<Object> {
        let mut object = (*self.object(kind, name)?).clone();
        if let Some(queue) = self.queue(&ObjectName::from(name)).filter(|_| kind.is_queue()) {
            let state = queue.state.lock();
            let figures = [
                ("CURDEPTH", state.index.depth()),
                ("IPPROCS", u64::from(state.openings.inputs())),
                ("OPPROCS", u64::from(state.openings.outputs())),
            ];
            drop(state);
            for (attribute, figure) in figures {
                let _ = object.set(attribute, &Value::Number(figure as i64));
            }
        }
        if let Some(Value::List(names)) = object.get("NAMES") {
            let count = names.len() as i64;
            let _ = object.set("NAMCOUNT", &Value::Number(count));
        }
        Some(object)
    }

    /// Whether a queue goes with its last handle.
    pub(crate) fn is_temporary(queue: &Queue) -> bool {
        queue.settings().origin == Origin::TemporaryDynamic
    }
}

impl<S: Store> Core<S> {
    /// Whether scans for expired messages are due; notes the moment if so.
    pub(crate) fn scan_is_due(&self) -> bool {
        let Some(interval) = self.manager_settings().expiry_interval_ms else { return false };
        self.running.scan_is_due(self.now_ms(), interval)
    }
}
