//! What all programs of a system share: their claims, the catalogs, the managers.

use std::sync::Arc;

use operations::clusters;
use operations::messages::Messages;
use operations::transactions::TransactionManager;
use placement::Compat;
use schedule::{Catalogs, Intents};
use seam::sync::Mutex;
use store_any::AnyStore;
use system::{AnySystem, Authoriser, Home as _, Places};

/// Who is told what programs are not.
#[derive(Clone, Copy)]
pub struct Notices {
    /// Takes warnings.
    pub warn: fn(&str),
    /// Takes lines of another kind.
    pub say: fn(&str),
}

impl Default for Notices {
    fn default() -> Notices {
        Notices { warn: |_| (), say: |_| () }
    }
}

impl Notices {
    /// Warns of each.
    pub fn warn_all(&self, notes: impl IntoIterator<Item = impl AsRef<str>>) {
        notes.into_iter().for_each(|note| (self.warn)(note.as_ref()));
    }
}

/// The terms on which a program runs in a system.
#[derive(Clone, Default)]
pub struct Terms {
    /// Its number, 0 for one that is alone.
    pub owner: u64,
    /// How the system follows programs' expectations.
    pub compat: Compat,
    /// What the programs of the system have claimed.
    pub intents: Arc<Intents>,
    /// The catalog of their clusters.
    pub catalogs: Arc<Catalogs<AnyStore>>,
    /// Their queue manager, if the system has one.
    pub messages: Option<Arc<Messages>>,
    /// Who tells RECON what they have open.
    pub authoriser: Option<Authoriser>,
    /// Where no program may write: the system's own files.
    pub places: Option<Arc<Places>>,
    /// Who is told what programs are not.
    pub notices: Notices,
}

/// The transaction manager, as long as it is open.
pub type Manager = Mutex<Option<TransactionManager>>;

/// What all programs of a started system share.
pub struct Shared {
    intents: Arc<Intents>,
    catalogs: Arc<Catalogs<AnyStore>>,
    /// The queue manager, which is opened when it is needed first.
    queues: Option<Arc<Messages>>,
    /// The transaction manager.
    pub manager: Arc<Manager>,
    notices: Notices,
}

impl Shared {
    /// For a system that is being started.
    #[must_use]
    pub fn of(system: &AnySystem, notices: Notices) -> Shared {
        let catalogs = Arc::new(Catalogs::with(operations::redirections::handlers()));
        let queues = match system {
            AnySystem::Kernel(system) => {
                clusters::attach(system, &catalogs);
                Some(Arc::new(Messages::new(system)))
            }
            AnySystem::Engine(_) => None,
        };
        let (intents, manager) = (Arc::default(), Arc::default());
        Shared { intents, catalogs, queues, manager, notices }
    }

    /// The catalogs of the programs' clusters.
    #[must_use]
    pub fn catalogs(&self) -> &Arc<Catalogs<AnyStore>> {
        &self.catalogs
    }

    /// The queue manager, if the system has one.
    #[must_use]
    pub fn queues(&self) -> Option<&Arc<Messages>> {
        self.queues.as_ref()
    }

    /// The terms on which all programs of a started system run.
    #[must_use]
    pub fn terms(&self, system: &AnySystem) -> Terms {
        let compat = system.config().placement_settings().compat;
        let (intents, catalogs) = (Arc::clone(&self.intents), Arc::clone(&self.catalogs));
        let (authoriser, places) = match system {
            AnySystem::Kernel(system) => {
                (Some(system.authoriser()), Some(Arc::new(system.places())))
            }
            AnySystem::Engine(_) => (None, None),
        };
        let messages = self.queues.clone();
        let notices = self.notices;
        Terms { compat, authoriser, intents, catalogs, messages, places, notices, owner: 0 }
    }
}
