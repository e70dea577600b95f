//! Pools that change while the system is in use.
//!
//! Which pools there are, and how large, is a matter of speed alone: no record in the log says it,
//! and a restart takes whatever the configuration says by then.

use std::sync::Arc;

use pool::{Moved, Pool, Resized};
use space::Definition;

use crate::{Kernel, PoolPlan, UowError};

impl Kernel {
    /// The pools.
    #[must_use]
    pub fn pools(&self) -> Vec<Arc<Pool>> {
        self.buffers.pools.all()
    }

    /// The pool of that name.
    ///
    /// # Errors
    /// [`UowError::NoSuchPool`].
    pub fn pool(&self, name: &str) -> Result<Arc<Pool>, UowError> {
        self.buffers.pools.named(name).ok_or_else(|| {
            let known: Vec<String> =
                self.buffers.pools.all().iter().map(|pool| pool.name().to_owned()).collect();
            UowError::NoSuchPool { name: name.to_owned(), known: known.join(", ") }
        })
    }

    /// Gives a pool so many frames, while others go on using it.
    ///
    /// # Errors
    /// No such pool, too many or too few frames, no memory, frames that stay in use.
    pub fn resize_pool(&self, name: &str, frames: usize) -> Result<Resized, UowError> {
        Ok(self.pool(name)?.resize(frames)?)
    }

    /// Makes a pool.
    ///
    /// # Errors
    /// A name that is taken.
    pub fn add_pool(&self, plan: &PoolPlan) -> Result<Arc<Pool>, UowError> {
        let _alone = self.buffers.assigning.lock();
        Ok(self.buffers.pools.add(plan.config())?)
    }

    /// Moves a data set to another pool, while others go on using it.
    ///
    /// # Errors
    /// No such data set or pool, a pool with another unit, intervals that stay in use.
    pub fn assign_set(&self, name: &str, pool: &str) -> Result<Moved, UowError> {
        let _alone = self.buffers.assigning.lock();
        let set = self.set_named(name).ok_or_else(|| UowError::NoSuchSet { name: name.into() })?;
        let to = self.pool(pool)?;
        if to.unit_bytes() != set.unit_bytes() {
            return Err(UowError::OtherUnit {
                name: name.to_owned(),
                unit_bytes: set.unit_bytes(),
                pool: pool.to_owned(),
                pool_unit_bytes: to.unit_bytes(),
            });
        }
        Ok(set.home().move_to(set.id(), &to)?)
    }

    /// The pool of that name, if it could be deleted.
    ///
    /// # Errors
    /// No such pool; one that is used; the last one of its unit size.
    pub fn unused_pool(&self, name: &str) -> Result<Arc<Pool>, UowError> {
        let pool = self.pool(name)?;
        let mut sets = self.all_sets();
        sets.retain(|set| set.home().uses(&pool));
        if !sets.is_empty() {
            let sets = sets.iter().map(|set| set.name().to_owned()).collect();
            return Err(UowError::PoolUsed { name: name.to_owned(), sets });
        }
        let like = |other: &Arc<Pool>| other.unit_bytes() == pool.unit_bytes();
        if self.buffers.pools.all().iter().filter(|other| like(other)).count() == 1 {
            let unit_bytes = pool.unit_bytes();
            return Err(UowError::LastPool { name: name.to_owned(), unit_bytes });
        }
        Ok(pool)
    }

    /// Takes a pool away that no data set is assigned to. Its memory goes back at once.
    ///
    /// # Errors
    /// As for [`Kernel::unused_pool`].
    pub fn delete_pool(&self, name: &str) -> Result<(), UowError> {
        let _alone = self.buffers.assigning.lock();
        Ok(self.buffers.pools.delete(&self.unused_pool(name)?)?)
    }

    /// The pool that a new data set names, or any that fits it.
    pub(crate) fn pool_for(&self, definition: &Definition) -> Result<Arc<Pool>, UowError> {
        let unit_bytes = definition.unit_bytes();
        let named = |pool: &Arc<Pool>| {
            pool.unit_bytes() == unit_bytes
                && (definition.pool.is_empty() || pool.name() == definition.pool)
        };
        self.buffers.pools.all().into_iter().find(named).ok_or_else(|| UowError::NoPool {
            name: definition.name.clone(),
            pool: definition.pool.clone(),
            unit_bytes,
        })
    }
}
