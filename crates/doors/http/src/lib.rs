//! The door for HTTP: one server for everything that is spoken over it, and what a running system
//! says of itself to those who measure it.
//!
//! | to understand | look at |
//! |---|---|
//! | addresses, threads, how the door closes | [`HttpServer`], [`Site`], [`Listening`] |
//! | a connection: its times, its places, TLS | `connection`, [`Tls`] |
//! | the pages for those who measure | [`pages`], [`Pages`] |
//! | metrics as text | [`Metrics`] |
//!
//! | request | answer |
//! |---|---|
//! | `GET /metrics` | everything that is counted, as Prometheus reads it |
//! | `GET /status` | the same as `holdfast status --json` says |
//! | `GET /health` | 200 while the system works, 503 when it does not |
//!
//! Invariants:
//! 1. Nothing can be changed through the pages: they know `GET` alone.
//! 2. A client has so long for a head and for taking an answer, and there are so many at once; more
//!    are sent away. What a page says is gathered by one thread at a time, so that no client can
//!    make the system gather without an end.
//! 3. The handler of a request is told who asked: address, TLS, certificate ([`Peer`]).

mod connection;
mod error;
mod metrics;
mod pages;
mod server;

pub use connection::Peer;
pub use error::HttpError;
pub use metrics::{Kind, Metrics};
pub use pages::{Pages, REQUEST_SECONDS_MAX, pages};
pub use server::{CONNECTIONS_MAX, Connections, HttpServer, Listening, Site};
pub use tls::Tls;
