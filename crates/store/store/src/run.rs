//! Running a unit of work until it is committed.

use crate::error::Result;
use crate::error::StoreError;
use crate::traits::{Store, Unit, UnitOptions};

/// How often [`run`] begins a unit of work before it gives up. A deadlock ends after three (K14);
/// a store that does not wait may need more.
pub const RUN_TRIES_MAX: u32 = 100;

/// Runs `body` in a unit of work and commits it, durably. If the unit of work is chosen to end a
/// deadlock or conflicts with another, it is backed out and `body` runs again in a new one, so
/// `body` should touch nothing else. Any other error backs it out and is the answer.
///
/// `body` may fail with an error of its own: whether to run again is asked of the unit of work.
///
/// # Errors
/// What `body` or the commit answers; the last deadlock or conflict after [`RUN_TRIES_MAX`].
pub fn run<S, T, E>(
    store: &S,
    options: UnitOptions,
    mut body: impl FnMut(&mut S::Unit) -> std::result::Result<T, E>,
) -> std::result::Result<T, E>
where
    S: Store,
    E: From<StoreError>,
{
    let mut options = options;
    for last in (0..RUN_TRIES_MAX).map(|attempt| attempt + 1 == RUN_TRIES_MAX) {
        let mut unit = store.begin(options)?;
        let error = match body(&mut unit) {
            Ok(answer) => match commit(unit) {
                Ok(()) => return Ok(answer),
                Err(error) if last || !error.is_retryable() => return Err(error.into()),
                Err(error) => error,
            },
            Err(refusal) => {
                let failure = unit.failure().filter(|error| error.is_retryable()).cloned();
                unit.backout()?;
                match failure {
                    Some(error) if !last => error,
                    _ => return Err(refusal),
                }
            }
        };
        if matches!(error, StoreError::Deadlock) {
            options.victim_count += 1;
        }
        seam::thread::yield_now();
    }
    unreachable!("the last attempt returns");
}

fn commit<U: Unit>(unit: U) -> Result<()> {
    unit.commit().map(drop)
}
