//! A write freeze: data sets stay as they are while they are examined as a whole.

use std::time::Duration;

use lock::{LockError, LockName, Mode, Wait};
use uow::{Uow, UowError, UowOptions};

use crate::{System, SystemError};

/// Data sets that no program changes until this is dropped. They are read as ever.
pub struct WriteFreeze {
    _uow: Uow,
}

impl System {
    /// Waits until no change is in flight in these data sets, and keeps new ones away. Names of
    /// none are passed over.
    ///
    /// # Errors
    /// [`SystemError::SetInUse`] if somebody changes one of them for longer than that.
    pub fn freeze_writes(
        &self,
        names: &[String],
        wait: Duration,
    ) -> Result<WriteFreeze, SystemError> {
        let kernel = self.kernel();
        let mut uow = kernel.begin(UowOptions::default())?;
        for set in names.iter().filter_map(|name| kernel.set_named(name)) {
            match uow.lock(LockName::set(set.id()), Mode::Shared, Wait::AtMost(wait)) {
                Ok(_) => {}
                Err(UowError::Lock(LockError::Deadlock { .. } | LockError::Timeout { .. })) => {
                    return Err(SystemError::SetInUse { name: set.name().to_owned() });
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(WriteFreeze { _uow: uow })
    }
}
