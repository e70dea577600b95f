//! What one unit of work may take of a system, as it is at present.

use serde::{Deserialize, Serialize};
use uow::{Kernel, SpanSetting};

use crate::{Bytes, SystemConfig, UnitSettings};

/// What a unit of work may take, and what says so.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UnitLimits {
    /// Bytes of log that it may span.
    pub log_bytes_max: u64,
    /// Bytes of log that it may span while the log is full because of it, and others wait for room.
    pub log_bytes_max_when_full: u64,
    /// What limits them: `units.log_bytes_max` of the configuration, or `log.segments_max`, for
    /// half of the log is the most.
    pub log_set_by: String,
    /// Locks that it may hold before it locks whole data sets in their place
    /// (`locks.locks_per_unit_max`).
    pub locks_max: usize,
    /// Locks that all of them may hold (`locks.locks_max`).
    pub locks_of_all_max: usize,
}

impl UnitLimits {
    pub(crate) fn of(kernel: &Kernel, config: &SystemConfig) -> UnitLimits {
        let (limit, locks) = (kernel.span_limit(), &config.locks);
        let log_set_by = match limit.set_by {
            SpanSetting::Units => "units.log_bytes_max",
            SpanSetting::Log { .. } => "log.segments_max",
        };
        UnitLimits {
            log_bytes_max: limit.bytes_max,
            log_bytes_max_when_full: kernel.span_limit_when_full().bytes_max,
            log_set_by: log_set_by.into(),
            locks_max: locks.locks_per_unit_max,
            locks_of_all_max: locks.locks_max,
        }
    }
}

/// A setting that is never reached: half of the log is the most that a unit of work may span.
pub(crate) fn capped_note(kernel: &Kernel, config: &SystemConfig) -> Option<String> {
    let (wanted, usual) = (config.units.log_bytes_max, UnitSettings::default());
    let limit = kernel.span_limit();
    let is_capped = wanted.0 > limit.bytes_max && wanted != usual.log_bytes_max;
    is_capped.then(|| {
        format!(
            "units.log_bytes_max is {wanted}, but a unit of work may span at most half of the log, \
             {}: raise log.segments_max if more is needed",
            Bytes(limit.bytes_max)
        )
    })
}
