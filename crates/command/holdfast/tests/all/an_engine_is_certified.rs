//! An operator asks whether an engine can be trusted: yes for PostgreSQL, no with the reason, and
//! nothing is left there or touched.
#![allow(clippy::unwrap_used)] // looks from outside

use crate::common::run;
use crate::postgresql::Server;

#[test]
fn an_engine_is_certified() {
    let server = Server::start();
    let schemas = "SELECT nspname FROM pg_namespace ORDER BY 1";
    let before = server.psql(schemas);
    let ended = run(["engine", "certify", &server.url(), "--rounds", "5", "--threads", "3"]);
    assert_eq!(ended.code, 0, "{}{}", ended.out, ended.err);
    assert!(
        ended.out.contains("passed  2 systems  isolation: crosswise writes do not both commit")
    );
    assert!(ended.out.trim_end().lines().last().unwrap().starts_with("yes: "), "{}", ended.out);
    assert_eq!(server.psql(schemas), before);
    let words = ["engine", "certify", &server.url(), "--rounds", "2", "--threads", "2", "--json"];
    let answer = run(words).done().json();
    assert_eq!(answer["certified"], true);
    assert!(answer["checks"].as_array().unwrap().iter().all(|check| check["passed"] == true));
    // A user who may not make a schema is told so, and what cannot be reached is no yes either.
    server.psql("CREATE ROLE guest LOGIN");
    let guest = server.url().replace("holdfast@", "guest@");
    let refused = run(["engine", "certify", &guest]);
    assert_eq!(refused.code, 1, "{}", refused.out);
    assert!(refused.err.contains("42501"), "{}", refused.err);
    server.crash();
    let gone = run(["engine", "certify", &server.url()]);
    assert_eq!(gone.code, 1, "{}", gone.out);
    assert!(gone.err.contains("HFT008"), "{}", gone.err);
    assert_eq!(run(["engine", "certify", "mysql://there"]).code, 1);
}
