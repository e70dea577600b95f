//! Clusters in a PostgreSQL of the tests' own.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)] // folders of the real machine
#![allow(clippy::unwrap_used)] // a test that fails says where

#[allow(dead_code)] // each test uses a part
#[path = "../../../vsam/tests/all/common.rs"]
mod clusters;
#[allow(dead_code)] // each test uses a part
#[path = "../../../../store/store-postgres/tests/all/common/proxy.rs"]
mod proxy;
#[path = "../../../../store/store-postgres/tests/all/common/server.rs"]
mod server;

mod place;

mod changes_are_sent_on;
mod requests_go_to_a_table;
