//! The section `[warn]`: when operators are warned.

use serde::Deserialize;

/// The section `[warn]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WarnSettings {
    /// Warn when less than so much of a device is free, in percent; 0: never.
    pub device_free_percent: u8,
    /// Warn when so much of the log is in use, in percent; 0: never.
    pub log_used_percent: u8,
}

impl Default for WarnSettings {
    fn default() -> WarnSettings {
        WarnSettings { device_free_percent: 10, log_used_percent: 75 }
    }
}
