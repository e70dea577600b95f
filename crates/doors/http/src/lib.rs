//! The door for HTTP: what a running system says of itself to those who measure it.
//!
//! | request | answer |
//! |---|---|
//! | `GET /metrics` | everything that is counted, as Prometheus reads it |
//! | `GET /status` | the same as `holdfast status --json` says |
//! | `GET /health` | 200 while the system works, 503 when it does not |
//!
//! Invariants:
//! 1. Nothing can be changed through this door: it knows `GET` alone.
//! 2. A client has so long for a request, and there are so many at once; more are sent away. What
//!    is asked for is gathered by one thread at a time, so that nobody can make the system gather
//!    without an end.

mod metrics;
mod server;

pub use metrics::{Kind, Metrics};
pub use server::{CONNECTIONS_MAX, HttpError, HttpServer, Pages, REQUEST_SECONDS_MAX};
