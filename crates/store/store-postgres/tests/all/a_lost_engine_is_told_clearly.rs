//! Connections killed, the server crashed, full or slow: units of work are doomed with a clear
//! error within a bounded time, locks of the dead are free, nothing acknowledged is lost, and the
//! store goes on when the engine is back.

#![allow(clippy::disallowed_methods)] // looks at the store from outside, with clocks of its own

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use crate::common::Server;
use holdfast_store_postgres::{EngineOptions, EngineStore};
use seam::Seam;
use store::{
    Grant, LockMode, LockName, Read, SetAttributes, SetId, Store, StoreError, Unit, UnitOptions,
    Wait,
};

const NAME: LockName<'static> = LockName { space: 1, name: b"NAME" };

fn open(server: &Server, options: &EngineOptions) -> EngineStore {
    EngineStore::open(&server.url(), options.clone(), &Seam::real()).unwrap()
}

fn set_of(store: &EngineStore) -> SetId {
    store.create_set("S", &SetAttributes::default()).unwrap()
}

fn is_unavailable<T: std::fmt::Debug>(result: Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Unavailable(_)))
}

/// Kills sessions of this test's server, all or those that hold a sign of life.
fn kill(server: &Server, which: &str) {
    server.psql(&format!(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity a \
         WHERE pid <> pg_backend_pid() AND application_name = 'holdfast' {which}"
    ));
    std::thread::sleep(Duration::from_millis(100));
}

const SIGNS: &str = "AND EXISTS (SELECT 1 FROM pg_locks l WHERE l.pid = a.pid \
                     AND l.locktype = 'advisory' AND l.mode = 'ShareLock' AND l.objsubid = 2)";

#[test]
fn a_killed_connection_dooms_the_unit_and_no_other() {
    let server = Server::start();
    let options = server.new_schema(|_| ());
    let store = open(&server, &options);
    let set = set_of(&store);
    let mut unit = store.begin(UnitOptions::default()).unwrap();
    unit.put(set, b"a", b"1").unwrap();
    assert!(!unit.get(set, b"b", Read::Shared, &mut Vec::new()).unwrap());
    kill(&server, &format!("AND NOT (true {SIGNS})"));
    assert!(is_unavailable(unit.get(set, b"c", Read::Shared, &mut Vec::new())));
    assert!(is_unavailable(unit.put(set, b"c", b"")), "it repeats its error");
    assert!(matches!(unit.failure(), Some(StoreError::Unavailable(_))));
    assert!(is_unavailable(unit.commit().map(drop)));
    // What stood idle in the pool is gone as well; the next ones connect again.
    let mut done = 0;
    for _ in 0..20 {
        let mut unit = store.begin(UnitOptions::default()).unwrap();
        unit.put(set, b"a", b"2").unwrap();
        done += u32::from(unit.commit().is_ok());
    }
    assert!(done >= 18, "{done} of 20 units of work were committed");
}

#[test]
fn a_system_without_its_sign_of_life_is_ended_and_cannot_come_back() {
    let server = Server::start();
    let options = server.new_schema(|_| ());
    let (one, other) = (open(&server, &options), open(&server, &options));
    let set = set_of(&one);
    let mut unit = one.begin(UnitOptions::default()).unwrap();
    assert_eq!(unit.lock(NAME, LockMode::Exclusive, Wait::No).unwrap(), Grant::New);
    unit.put(set, b"k", b"by the dead").unwrap();
    let mut waiting = other.begin(UnitOptions::default()).unwrap();
    assert_eq!(waiting.lock(NAME, LockMode::Shared, Wait::No).unwrap(), Grant::Busy);
    // Both lose it; the other one enters again and finds the name free.
    kill(&server, SIGNS);
    drop(waiting);
    std::thread::sleep(Duration::from_millis(1_500));
    let mut waiting = other.begin(UnitOptions::default()).unwrap();
    let grant = waiting.lock(NAME, LockMode::Shared, Wait::AtMost(Duration::from_secs(10)));
    assert_eq!(grant.unwrap(), Grant::New);
    assert!(is_unavailable(unit.commit().map(drop)), "its locks were another's already");
    assert!(!waiting.get(set, b"k", Read::Shared, &mut Vec::new()).unwrap());
    waiting.commit().unwrap();
    // The store itself goes on, as a new member.
    let mut unit = one.begin(UnitOptions::default()).unwrap();
    unit.put(set, b"k", b"again").unwrap();
    unit.commit().unwrap();
}

#[test]
fn a_fenced_system_commits_nothing_even_if_it_has_not_noticed() {
    let server = Server::start();
    let options = server.new_schema(|_| ());
    let (one, other) = (open(&server, &options), open(&server, &options));
    let set = set_of(&one);
    let mut unit = one.begin(UnitOptions::default()).unwrap();
    unit.put(set, b"k", b"late").unwrap();
    let _ = unit.lock(NAME, LockMode::Exclusive, Wait::No).unwrap();
    let schema = &options.schema;
    // As another system does it; the one's own look at its sign of life may come later.
    server.psql(&format!(
        "SET search_path TO {schema}; SELECT hf_purge(system) FROM held WHERE name = '\\x00000000014e414d45'"
    ));
    assert!(is_unavailable(unit.commit().map(drop)));
    let mut unit = other.begin(UnitOptions::default()).unwrap();
    assert!(!unit.get(set, b"k", Read::Shared, &mut Vec::new()).unwrap());
}

fn put_under_a_lock(store: &EngineStore, set: SetId, key: &[u8], who: u8) -> store::Result<()> {
    let mut unit = store.begin(UnitOptions::default())?;
    unit.put(set, key, b"1")?;
    let record = LockName { space: 9, name: &[who] };
    let _ = unit.lock(record, LockMode::Exclusive, Wait::No)?;
    unit.commit().map(drop)
}

#[test]
fn nothing_acknowledged_is_lost_when_the_server_crashes_under_load() {
    let server = Arc::new(Server::start());
    let options = server.new_schema(|options| {
        options.answer_within = Duration::from_secs(5);
        options.resolve_within = Duration::from_secs(20);
    });
    let store = open(&server, &options);
    let set = set_of(&store);
    let (stop, acknowledged) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let worker = |who: u8| {
        let (store, stop) = (store.clone(), Arc::clone(&stop));
        let acknowledged = Arc::clone(&acknowledged);
        std::thread::spawn(move || {
            let (mut mine, mut unknown) = (Vec::new(), Vec::new());
            let mut number = 0_u32;
            while !stop.load(SeqCst) {
                number += 1;
                let key = [&[who][..], &number.to_be_bytes()].concat();
                match put_under_a_lock(&store, set, &key, who) {
                    Ok(_) => {
                        acknowledged.fetch_add(1, SeqCst);
                        mine.push(key);
                    }
                    Err(StoreError::CommitUnknown(token)) => unknown.push((key, token)),
                    Err(_) => std::thread::sleep(Duration::from_millis(20)),
                }
            }
            (mine, unknown)
        })
    };
    let workers: Vec<_> = (0..3).map(worker).collect();
    let more = |count: u64| {
        let (from, start) = (acknowledged.load(SeqCst), Instant::now());
        while acknowledged.load(SeqCst) < from + count {
            assert!(start.elapsed() < Duration::from_secs(60), "no commit comes through");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    for _ in 0..2 {
        more(100);
        server.crash();
        std::thread::sleep(Duration::from_millis(300));
        server.restart();
    }
    more(100);
    stop.store(true, SeqCst);
    let mut expected = Vec::new();
    for worker in workers {
        let (mine, unknown) = worker.join().unwrap();
        expected.extend(mine);
        for (key, token) in unknown {
            if store.resolve(token).unwrap() == store::Resolution::Committed {
                expected.push(key);
            }
        }
    }
    expected.sort();
    let mut unit = store.begin(UnitOptions::READ_ONLY).unwrap();
    let mut cursor = store.cursor(set).unwrap();
    let mut there = Vec::new();
    while let Some(entry) = unit.next(&mut cursor, Read::Shared).unwrap() {
        there.push(entry.key.to_vec());
    }
    assert_eq!(there, expected, "what was acknowledged is there, and nothing else");
}

#[test]
fn a_slow_engine_and_a_full_pool_answer_within_their_time() {
    let server = Server::start();
    // To make a schema takes longer than that on a busy machine.
    let made = server.new_schema(|_| ());
    let set = set_of(&open(&server, &made));
    let options = EngineOptions {
        answer_within: Duration::from_millis(1_500),
        connection_within: Duration::from_millis(300),
        connections_max: 2,
        ..made
    };
    let store = open(&server, &options);
    let mut unit = store.begin(UnitOptions::default()).unwrap();
    unit.put(set, b"k", b"v").unwrap();
    // Somebody holds the whole table.
    let schema = options.schema.clone();
    let server = Arc::new(server);
    let holder = {
        let server = Arc::clone(&server);
        std::thread::spawn(move || {
            server.psql(&format!(
                "SET search_path TO {schema}; BEGIN; LOCK TABLE entries; SELECT pg_sleep(8)"
            ));
        })
    };
    std::thread::sleep(Duration::from_millis(300));
    let start = Instant::now();
    assert!(is_unavailable(unit.commit().map(drop)));
    assert!(start.elapsed() < Duration::from_secs(7), "{:?}", start.elapsed());
    holder.join().unwrap();
    // Two units of work hold a snapshot each; a third one is told so.
    let mut readers: Vec<_> =
        (0..3).map(|_| store.begin(UnitOptions::READ_ONLY).unwrap()).collect();
    let mut value = Vec::new();
    let reads: Vec<bool> = readers
        .iter_mut()
        .map(|unit| unit.get(set, b"k", Read::Shared, &mut value).is_ok())
        .collect();
    assert_eq!(reads, [true, true, false]);
    assert!(matches!(readers[2].failure(), Some(StoreError::Unavailable(_))));
    readers.clear();
    let mut unit = store.begin(UnitOptions::READ_ONLY).unwrap();
    assert!(!unit.get(set, b"k", Read::Shared, &mut value).unwrap());
}

#[test]
fn an_engine_that_lacks_what_it_has_confirmed_is_used_no_further() {
    let server = Server::start();
    let options = server.new_schema(|_| ());
    let store = open(&server, &options);
    let set = set_of(&store);
    let commit = |store: &EngineStore, key: &[u8]| {
        let mut unit = store.begin(UnitOptions::default())?;
        unit.put(set, key, b"1")?;
        unit.commit().map(drop)
    };
    for key in [b"a", b"b", b"c"] {
        commit(&store, key).unwrap();
    }
    // A standby takes over that has all but the last commit of a connection.
    let schema = &options.schema;
    server.psql(&format!("UPDATE {schema}.lanes SET number = number - 1 WHERE number > 1"));
    kill(&server, "");
    let errors: Vec<StoreError> = (0..40).filter_map(|_| commit(&store, b"d").err()).collect();
    let last = errors.last().expect("an error");
    assert!(matches!(last, StoreError::Beneath(_)), "{last}");
    assert!(last.to_string().contains("had confirmed"), "{last}");
    // It stays so, whatever comes; a store that is opened anew takes what is there.
    assert!(matches!(commit(&store, b"d"), Err(StoreError::Beneath(_))));
    drop(store);
    let store = open(&server, &options);
    commit(&store, b"d").unwrap();
    // All of it is there again.
    kill(&server, "");
    let _ = commit(&store, b"e");
    commit(&store, b"f").unwrap();
}

#[test]
fn what_rests_on_a_right_does_not_go_on_once_it_is_lost() {
    let server = Server::start();
    let options = server.new_schema(|_| ());
    let (one, other) = (open(&server, &options), open(&server, &options));
    let set = set_of(&one);
    let full = one.create_set("FULL", &SetAttributes::default()).unwrap();
    let mut fill = one.begin(UnitOptions::default()).unwrap();
    fill.put(full, b"k", b"v").unwrap();
    fill.commit().unwrap();
    let mut right = one.begin(UnitOptions::default()).unwrap();
    assert_eq!(right.lock(NAME, LockMode::Exclusive, Wait::No).unwrap(), Grant::New);
    let carried = right.carry_all().unwrap();
    kill(&server, SIGNS);
    // Another system has the databases now.
    let mut theirs = loop {
        if let Ok(mut unit) = other.begin(UnitOptions::default())
            && unit.lock(NAME, LockMode::Exclusive, Wait::Forever).is_ok()
        {
            break unit;
        }
    };
    theirs.put(set, b"k", b"theirs").unwrap();
    // This one does nothing, however it is asked, until it gives up what it was about.
    let refused = |refusal| assert!(is_unavailable(refusal));
    let noticed = std::iter::repeat_with(|| one.begin(UnitOptions::default()));
    noticed.take_while(Result::is_ok).for_each(|unit| {
        let mut unit = unit.unwrap();
        let _ = unit.put(set, b"mine", b"");
        assert!(unit.commit().is_err(), "its system was ended");
    });
    refused(one.begin(UnitOptions::default()).map(drop));
    refused(one.load_sorted(set, &mut store::Pairs::new([(b"a", b"b")])).map(drop));
    refused(one.empty_set(full));
    refused(one.drop_set(full));
    refused(one.create_set("T", &SetAttributes::default()).map(drop));
    assert!(!right.lasts() && is_unavailable(right.carry_all().map(drop)));
    theirs.commit().unwrap();
    drop((carried, right));
    let mut again = one.begin(UnitOptions::default()).unwrap();
    assert!(again.get(full, b"k", Read::Shared, &mut Vec::new()).unwrap(), "nothing was done");
    assert!(!again.get(set, b"mine", Read::Shared, &mut Vec::new()).unwrap());
    again.commit().unwrap();
}
