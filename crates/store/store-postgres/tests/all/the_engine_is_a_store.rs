//! The conformance suite of the store trait, on PostgreSQL.

use crate::common::Server;
use holdfast_store_postgres::EngineStore;
use store_suite::conformance::Subject;

fn subject() -> Subject<EngineStore> {
    Subject::new(Server::shared().store())
}

store_suite::conformance_tests!(conformance, subject());
