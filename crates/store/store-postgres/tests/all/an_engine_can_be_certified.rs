//! The suite as operators run it: yes for PostgreSQL, with one system and with two, and nothing is
//! left behind; an engine that gives up what it promises is found.

use crate::common::Server;
use holdfast_store_postgres::certify::{Effort, Verdict, certify};
use seam::Seam;

#[test]
fn postgresql_passes_with_two_systems_and_nothing_is_left() {
    // A server of its own: other tests make schemas in the shared one meanwhile.
    let server = Server::start();
    let before = server.psql("SELECT nspname FROM pg_namespace ORDER BY 1");
    let effort = Effort { seed: 3, rounds: 12, threads: 4 };
    let mut answer = 0;
    let verdicts = certify(&server.url(), effort, &Seam::real(), |_| answer += 1).expect("it runs");
    let failed: Vec<&Verdict> =
        verdicts.iter().filter(|verdict| verdict.failure.is_some()).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(answer, verdicts.len());
    assert!(verdicts.iter().any(|verdict| verdict.systems == 2));
    assert_eq!(server.psql("SELECT nspname FROM pg_namespace ORDER BY 1"), before);
}

#[test]
fn a_schema_that_holds_something_else_is_left_alone() {
    use holdfast_store_postgres::{EngineOptions, EngineStore};
    let server = Server::shared();
    server.psql("CREATE SCHEMA foreign_one; CREATE TABLE foreign_one.meta (version text)");
    let options = EngineOptions { schema: "foreign_one".into(), ..EngineOptions::default() };
    let (url, seam) = (server.url(), Seam::real());
    assert!(EngineStore::create(&url, &options, &seam).is_err());
    assert!(EngineStore::open(&url, options.clone(), &seam).is_err());
    assert!(EngineStore::destroy(&url, &options, &seam).is_err());
    // A store's own schema in which somebody keeps more is not dropped either.
    let own = server.new_schema(|_| ());
    server.psql(&format!("CREATE TABLE {}.of_somebody_else (a int)", own.schema));
    assert!(EngineStore::destroy(&url, &own, &seam).is_err());
    server.psql(&format!("DROP TABLE {}.of_somebody_else", own.schema));
    EngineStore::destroy(&url, &own, &seam).expect("now it holds only what is a store's");
    server.psql("SELECT version FROM foreign_one.meta");
}

#[test]
fn an_engine_that_does_not_keep_units_apart_is_found() {
    use store_suite::conformance::{Subject, checks};
    let server = Server::shared();
    let options = server.new_schema(|_| ());
    // As if the engine's commits were not in one order: nothing is proven any more.
    server.psql(&format!(
        "SET search_path TO {}; CREATE OR REPLACE FUNCTION hf_check(p_from bytea[], p_to bytea[], \
         p_count int8[], p_sum text[]) RETURNS void LANGUAGE sql AS ''",
        options.schema
    ));
    let store = holdfast_store_postgres::EngineStore::open(&server.url(), options, &Seam::real());
    let subject = Subject::new(store.expect("it opens"));
    let found = |name: &str| {
        let checks = checks();
        let check = checks.iter().find(|check| check.name == name).expect("a check");
        (check.run)(&subject).is_err()
    };
    assert!(found("increments_are_not_lost"));
    assert!(found("crosswise_writes_do_not_both_commit"));
    assert!(found("histories_of_values_are_serializable"));
}
