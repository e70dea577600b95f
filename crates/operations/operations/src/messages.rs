//! The queue manager of a system: opened when it is needed first, and what operators say to
//! it.
//!
//! A started system has it attached ([`attach`]); of a stopped one it is opened for the time of one
//! request.
//!
//! Invariants:
//! 1. A system has one queue manager at a time: the attached one, if there is one.
//! 2. A system whose programs send no messages pays nothing for it: no set is made before the
//!    first connection or command.

use std::path::Path;
use std::sync::Arc;

use mqi::server::{Calls, Managed, Manager};
use mqsc::Console;
use mqsc::session::Answer;
use queue_manager::channel::{ChannelState, ChannelStatus};
use queue_manager::event::{Commander, Origin};
use queue_manager::objects::Kind;
use queue_manager::options::ConnectOptions;
use queue_manager::status::QueueStatus;
use queue_manager::{Failed, Options, QueueManager, Reason};
use seam::Seam;
use seam::sync::Mutex;
use serde::{Deserialize, Serialize};
use store::Store as _;
use store_any::AnyStore;
use system::System;

use crate::Result;
use crate::message_storage::MessageStorage;
use crate::message_users::MachineUsers;

/// Connections that programs may have at a time.
const CONNECTIONS_MAX: usize = 10_000;

/// A command of the queue manager (MQSC).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MqscRequest {
    /// The command.
    pub text: String,
    /// Only say what is wrong with it.
    pub check: bool,
}

/// The queue manager of a system that is open.
pub struct Messages {
    name: String,
    store: AnyStore,
    seam: Seam,
    storage: Arc<MessageStorage>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    manager: Option<QueueManager<AnyStore>>,
    is_stopping: bool,
    when_opened: Vec<WhenOpened>,
}

/// What is done when the queue manager is opened.
pub type WhenOpened = Box<dyn FnOnce(&QueueManager<AnyStore>) + Send>;

/// The name of a system's queue manager: that of its folder, in upper case, without letters that no
/// queue manager's name may have.
#[must_use]
pub fn manager_name(dir: &Path) -> String {
    let folder = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let name = folder.file_name().map(|name| name.to_string_lossy().to_ascii_uppercase());
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || "._%".contains(letter);
    let name = name.unwrap_or_default();
    let fits: String =
        name.chars().map(|letter| if allowed(letter) { letter } else { '_' }).take(48).collect();
    if fits.is_empty() { "HOLDFAST".into() } else { fits }
}

/// How the queue manager of that name is opened.
#[must_use]
pub fn options(name: &str, seam: &Seam) -> Options {
    Options {
        name: name.to_owned(),
        clock: Arc::clone(&seam.clock),
        entropy: Arc::clone(&seam.entropy),
        authority: None,
        users: Some(Arc::new(MachineUsers::of_process())),
        storage: None,
        connections_max: CONNECTIONS_MAX,
        memory_bytes_max: queue_manager::MEMORY_BYTES_MAX,
    }
}

impl Messages {
    /// That of a system, not opened yet.
    #[must_use]
    pub fn new(system: &System) -> Messages {
        Messages {
            name: manager_name(system.dir()),
            store: AnyStore::Kernel(system.store().clone()),
            seam: system.kernel().seam().clone(),
            storage: Arc::new(MessageStorage::of(system)),
            state: Mutex::default(),
        }
    }

    /// Its name.
    #[must_use]
    pub fn manager_name(&self) -> &str {
        &self.name
    }

    /// Whether the system has a queue manager already.
    #[must_use]
    pub fn is_there(&self) -> bool {
        let known = self.store.set("HOLDFAST.MQ.OBJECTS");
        known.is_ok_and(|set| set.is_some())
    }

    /// Has something done when the queue manager is opened; at once, if it is open.
    pub fn when_opened(&self, then: WhenOpened) {
        let manager = self.state.lock().manager.clone();
        match manager {
            Some(manager) => then(&manager),
            None => self.state.lock().when_opened.push(then),
        }
    }

    /// What is known of each local queue, if the queue manager is open.
    #[must_use]
    pub fn queues(&self) -> Vec<QueueStatus> {
        let manager = self.state.lock().manager.clone();
        let Some(manager) = manager else { return Vec::new() };
        let queues = manager.list(Kind::QueueLocal, "*");
        queues.iter().filter_map(|queue| manager.queue_status(&queue.name)).collect()
    }

    /// What operators should know of queues and channels.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let (queues, channels) = (self.queues(), self.channels());
        let mut notes = Vec::new();
        let messages: u64 = queues.iter().map(|queue| queue.depth).sum();
        let filled = queues.iter().filter(|queue| queue.depth > 0).count();
        let oldest = queues.iter().filter(|queue| queue.depth > 0);
        if let Some(oldest) = oldest.max_by_key(|queue| queue.message_age_s) {
            notes.push(format!(
                "{messages} messages wait on {filled} queues, the oldest for {} s on {}",
                oldest.message_age_s.unwrap_or(0),
                oldest.name
            ));
        }
        let damaged = queues.iter().filter(|queue| queue.damaged > 0);
        notes.extend(damaged.map(|queue| {
            format!(
                "{} messages on queue {} are damaged and passed over",
                queue.damaged, queue.name
            )
        }));
        let idle = channels.iter().filter(|one| {
            matches!(one.state, ChannelState::Stopped | ChannelState::Retrying)
                || one.progress.in_doubt
        });
        notes.extend(idle.map(|one| {
            let doubt = if one.progress.in_doubt { ", with a batch in doubt" } else { "" };
            let why = if one.trouble.is_empty() { "" } else { ": " };
            format!("channel {} is {}{doubt}{why}{}", one.channel, one.state.word(), one.trouble)
        }));
        notes
    }

    /// The channels that run or are stopped, if the queue manager is open.
    #[must_use]
    pub fn channels(&self) -> Vec<ChannelStatus> {
        let manager = self.state.lock().manager.clone();
        manager.map(|manager| manager.channels().statuses()).unwrap_or_default()
    }

    /// The queue manager; opened now if it was not.
    ///
    /// # Errors
    /// If what it keeps cannot be read.
    pub fn manager(&self) -> Result<QueueManager<AnyStore>> {
        let mut state = self.state.lock();
        if let Some(manager) = &state.manager {
            return Ok(manager.clone());
        }
        let storage = Arc::clone(&self.storage);
        let options = Options { storage: Some(storage as _), ..options(&self.name, &self.seam) };
        let manager = QueueManager::open(&self.store, options)?;
        if state.is_stopping {
            manager.stop();
        }
        state.manager = Some(manager.clone());
        let then = std::mem::take(&mut state.when_opened);
        drop(state);
        then.into_iter().for_each(|then| then(&manager));
        Ok(manager)
    }

    /// Removes what has expired. To be called every second or so.
    pub fn tick(&self) {
        let manager = self.state.lock().manager.clone();
        if let Some(manager) = manager {
            manager.tick();
        }
    }

    /// Ends every call: the system stops.
    pub fn stop(&self) {
        let mut state = self.state.lock();
        state.is_stopping = true;
        if let Some(manager) = &state.manager {
            manager.stop();
        }
    }
}

impl Manager for Messages {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn connect(&self, who: ConnectOptions) -> queue_manager::reason::Answer<Box<dyn Calls>> {
        Manager::connect(&Managed::manager(self)?, who)
    }
}

/// Programs of regions use it in the unit of work of their calls.
impl Managed<AnyStore> for Messages {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn manager(&self) -> queue_manager::reason::Answer<QueueManager<AnyStore>> {
        if self.state.lock().is_stopping {
            return Err(Failed(Reason::Q_MGR_STOPPING));
        }
        // Operators are told why, by any command.
        Messages::manager(self).map_err(|_| Failed(Reason::Q_MGR_NOT_AVAILABLE))
    }
}

/// Has operators' commands find the queue manager of a system that starts.
pub fn attach(system: &System, messages: &Arc<Messages>) {
    system.attach(Arc::clone(messages) as _);
    let own = Arc::clone(messages);
    system.tell(Box::new(move || own.notes()));
}

/// Who types commands for a queue manager: the owner of its system.
#[must_use]
pub fn operator() -> Commander {
    let (user, application) = (seam::user::own().name, "holdfast mqsc".into());
    Commander { user, origin: Origin::Console, application }
}

/// Carries out a command.
///
/// # Errors
/// If the queue manager cannot be opened.
pub fn mqsc(system: &System, asked: &MqscRequest) -> Result<Answer> {
    let attached = system.attached::<Messages>();
    let manager = match attached {
        Some(messages) => messages.manager()?,
        None => Messages::new(system).manager()?,
    };
    let console = Console::new(&manager.commanded_by(operator()));
    Ok(match asked.check {
        true => console.verify(&asked.text),
        false => console.execute(&asked.text),
    })
}
