//! Page sets: which there are, what is in them, when one may go.
//!
//! 1. A queue's messages are in one page set. One with messages keeps it; one without takes the
//!    page set of its storage class with its next message.

use std::sync::Arc;

use store::Store;

use crate::core::Core;
use crate::error::AdminError;
use crate::name::ObjectName;
use crate::objects::{Kind, Object};
use crate::queue::PageSet;
use crate::storage::pool_name;

/// A page set with what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageSetStatus {
    /// Its number.
    pub number: u8,
    /// Its buffer pool.
    pub pool: i64,
    /// Its data sets.
    pub data_sets: [String; 2],
    /// Queues that have messages there.
    pub queues: u64,
    /// Messages of these queues; those that are not persistent are in memory.
    pub messages: u64,
}

/// The page sets of a queue manager.
pub struct PageSets<S: Store> {
    core: Arc<Core<S>>,
}

fn number_of(object: &Object) -> Option<PageSet> {
    PageSet::of(object.name.parse().ok()?)
}

impl<S: Store> PageSets<S> {
    pub(crate) fn new(core: &Arc<Core<S>>) -> PageSets<S> {
        PageSets { core: Arc::clone(core) }
    }

    /// What is known of each.
    #[must_use]
    pub fn all(&self) -> Vec<PageSetStatus> {
        let registry = self.core.definitions.registry();
        let objects: Vec<Arc<Object>> = registry.of_space(Kind::PageSet).cloned().collect();
        let queues: Vec<_> = registry.queues().cloned().collect();
        drop(registry);
        let mut all: Vec<PageSetStatus> = objects
            .iter()
            .filter_map(|object| {
                let number = number_of(object)?;
                Some(PageSetStatus {
                    number: number.0,
                    pool: object.number_of("BUFFPOOL"),
                    data_sets: number.data_sets(),
                    queues: 0,
                    messages: 0,
                })
            })
            .collect();
        for queue in queues {
            let depth = queue.state.lock().index.depth();
            let at = queue.location().page_set.0;
            if depth > 0
                && let Some(one) = all.iter_mut().find(|one| one.number == at)
            {
                one.queues += 1;
                one.messages += depth;
            }
        }
        all
    }

    /// Opens the data sets of a page set; they are made if it is new.
    pub(crate) fn open(&self, object: &Object) -> Result<(), AdminError> {
        let Some(page_set) = number_of(object).filter(|one| *one != PageSet::ZERO) else {
            return Ok(());
        };
        let number = object.number_of("BUFFPOOL");
        let name = pool_name(number);
        let storage = self.core.options.storage.as_ref();
        let pools = storage.map(|storage| storage.pools()).unwrap_or_default();
        let pool = pools.iter().any(|pool| pool.name == name).then_some(name.as_str());
        Ok(self.core.bodies.open_page_set(page_set, pool)?)
    }

    /// Fails if a page set is in a buffer pool, or if it is the one that there always is.
    pub(crate) fn check_unused(&self, object: &Object) -> Result<(), AdminError> {
        let number = object.name.parse::<i64>().unwrap_or(0);
        let user = self.all().into_iter().find(|one| one.pool == number);
        let why = match user {
            _ if number == 0 => "buffer pool 00 goes with its system".into(),
            Some(user) => format!("page set {:02} is in it", user.number),
            None => return Ok(()),
        };
        Err(AdminError::Refused { kind: object.kind, name: object.name.clone(), why })
    }

    /// Removes the data sets of a page set that is not in use.
    pub(crate) fn remove(&self, object: &Object) -> Result<(), AdminError> {
        let refused = |why: String| {
            Err(AdminError::Refused { kind: object.kind, name: object.name.clone(), why })
        };
        let Some(page_set) = number_of(object) else { return Ok(()) };
        if page_set == PageSet::ZERO {
            return refused("page set 00 goes with its system".into());
        }
        let (class, filled) = self.users_of(page_set);
        if let Some(class) = class {
            return refused(format!("storage class {class} names it"));
        }
        if let Some(queue) = filled {
            return refused(format!("queue {queue} has messages there"));
        }
        Ok(self.core.bodies.drop_page_set(page_set)?)
    }

    /// A storage class that names a page set, and a queue that has messages there.
    fn users_of(&self, page_set: PageSet) -> (Option<String>, Option<ObjectName>) {
        let number = i64::from(page_set.0);
        let registry = self.core.definitions.registry();
        let class = registry
            .of_space(Kind::StorageClass)
            .find(|class| class.number_of("PSID") == number)
            .map(|class| class.name.clone());
        let filled = registry
            .queues()
            .find(|queue| {
                queue.location().page_set == page_set && !queue.state.lock().index.is_empty()
            })
            .map(|queue| queue.name);
        (class, filled)
    }
}
