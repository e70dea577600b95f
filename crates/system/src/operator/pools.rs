//! The verbs of buffer pools.

use serde_json::Value;

use super::{Refusal, Request, Talk, done};
use crate::System;

/// How each pool is.
pub(super) fn list(system: &System, _: &Request, _: &mut Talk<'_>) -> Result<Value, Refusal> {
    done(&system.status().pools)
}
