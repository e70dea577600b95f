//! What programs observe of the queue manager, rule by rule.

mod administration;
mod branches;
mod branches_crash;
mod browsing;
mod channels;
mod claims;
mod common;
mod events;
mod extensions;
mod failing;
mod getting;
mod groups;
mod kernel;
mod lent;
mod model;
mod opening;
mod properties;
mod publishing;
mod putting;
mod reports;
mod restarts;
mod security;
mod storage;
mod triggers;
mod units;
mod waiting;
