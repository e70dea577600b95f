//! What programs observe of the queue manager, rule by rule.

mod administration;
mod browsing;
mod claims;
mod common;
mod getting;
mod groups;
mod kernel;
mod model;
mod opening;
mod properties;
mod publishing;
mod putting;
mod reports;
mod restarts;
mod triggers;
mod units;
mod waiting;
