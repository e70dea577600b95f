//! The pools of a system, which come and go while it is in use.
//!
//! Invariants:
//! 1. A pool has a number that no other one ever has; dirty frames are known by it.
//! 2. A pool that is gone holds nothing. Whoever still has a reference to it may look, and finds
//!    nothing.

use std::sync::Arc;

use seam::clock::Clock;
use seam::stop::StopSwitch;
use seam::sync::Mutex;

use crate::dirty::DirtyQueue;
use crate::{Pool, PoolConfig, PoolError};

/// The pools of a system, and what they share.
pub struct Pools {
    list: Mutex<Vec<Option<Arc<Pool>>>>,
    dirty: Arc<DirtyQueue>,
    stop: Arc<StopSwitch>,
    clock: Arc<dyn Clock>,
}

impl Pools {
    /// No pools yet.
    #[must_use]
    pub fn new(dirty: Arc<DirtyQueue>, stop: Arc<StopSwitch>, clock: Arc<dyn Clock>) -> Pools {
        Pools { list: Mutex::default(), dirty, stop, clock }
    }

    /// Adds a pool.
    ///
    /// # Errors
    /// [`PoolError::Exists`].
    pub fn add(&self, config: PoolConfig) -> Result<Arc<Pool>, PoolError> {
        let mut list = self.list.lock();
        if list.iter().flatten().any(|pool| pool.name() == config.name) {
            return Err(PoolError::Exists { pool: config.name });
        }
        let (dirty, stop) = (Arc::clone(&self.dirty), Arc::clone(&self.stop));
        let pool = Pool::new(config, list.len() as u32, dirty, stop, Arc::clone(&self.clock));
        let pool = Arc::new(pool);
        list.push(Some(Arc::clone(&pool)));
        Ok(pool)
    }

    /// Takes a pool away that no data set is assigned to, and nobody assigns one to meanwhile. Its
    /// memory goes back at once.
    ///
    /// # Errors
    /// [`PoolError::Busy`], [`PoolError::Stopped`]: it stays.
    pub fn delete(&self, pool: &Arc<Pool>) -> Result<(), PoolError> {
        pool.empty()?;
        if let Some(place) = self.list.lock().get_mut(pool.index as usize) {
            *place = None;
        }
        Ok(())
    }

    /// Every pool, oldest first.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Pool>> {
        self.list.lock().iter().flatten().cloned().collect()
    }

    /// The pool of that name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<Arc<Pool>> {
        self.list.lock().iter().flatten().find(|pool| pool.name() == name).cloned()
    }

    /// The pool of that number, unless it is gone.
    pub(crate) fn numbered(&self, number: u32) -> Option<Arc<Pool>> {
        self.list.lock().get(number as usize).cloned().flatten()
    }
}
