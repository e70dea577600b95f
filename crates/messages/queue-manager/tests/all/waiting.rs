//! Getters that wait, on the machine's clock.

#![allow(clippy::unwrap_used)] // a test that fails says where

use queue_manager::options::value::{get, open, put};
use queue_manager::options::{ConnectOptions, GetOptions};
use queue_manager::{Connection, MessageDescriptor, Options, QueueManager, Reason};
use store_suite::model::ModelStore;

use crate::common::{ALL, Calls, persistent};

fn manager() -> QueueManager<ModelStore> {
    let manager = QueueManager::open(&ModelStore::new(), Options::new("QM1")).unwrap();
    manager.define(queue_manager::objects::Kind::QueueLocal, "Q", &[], false, None).unwrap();
    manager
}

fn connect(manager: &QueueManager<ModelStore>) -> Connection<ModelStore> {
    manager.connect(ConnectOptions::default()).unwrap()
}

fn wait(
    client: &mut Connection<ModelStore>,
    q: queue_manager::options::Handle,
    ms: i32,
) -> Result<String, Reason> {
    let options = get::WAIT | get::FAIL_IF_QUIESCING | get::NO_SYNCPOINT;
    let mut options = GetOptions { wait_interval: ms, ..GetOptions::new(options) };
    let mut md = MessageDescriptor::default();
    let got = client.get_with(q, &mut md, &mut options).map_err(|failed| failed.0)?;
    Ok(String::from_utf8(got.1).unwrap())
}

/// Does something while a getter waits; answers what the getter got.
fn meanwhile(
    manager: &QueueManager<ModelStore>,
    deed: impl FnOnce(&mut Connection<ModelStore>),
) -> Result<String, Reason> {
    let theirs = manager.clone();
    let (reported, tell) = std::sync::mpsc::channel();
    let getter = seam::thread::spawn("getter", move || {
        let mut client = connect(&theirs);
        let q = client.open_queue("Q", open::INPUT_SHARED).unwrap();
        let _ = reported.send(wait(&mut client, q, -1));
    })
    .unwrap();
    let mut client = connect(manager);
    while manager.queue_status("Q").is_none_or(|status| status.input_handles == 0) {
        seam::thread::yield_now();
    }
    deed(&mut client);
    let answer = tell.recv().unwrap();
    getter.join();
    answer
}

#[test]
fn a_getter_waits_for_a_commit_and_for_a_backout() {
    let manager = manager();
    let answer = meanwhile(&manager, |client| {
        let q = client.open_queue("Q", ALL).unwrap();
        client.put_in_unit(q, "late");
        client.commit().unwrap();
    });
    assert_eq!(answer.as_deref(), Ok("late"));
    let mut holder = connect(&manager);
    let q = holder.open_queue("Q", open::OUTPUT | open::INPUT_SHARED).unwrap();
    holder.put_text(q, "again");
    holder.get_text(q, get::SYNCPOINT).unwrap();
    holder.close(q, 0).unwrap();
    let answer = meanwhile(&manager, |_| assert!(holder.back().is_ok()));
    assert_eq!(answer.as_deref(), Ok("again"));
}

// It waited for ever for a message that another getter had taken.
#[test]
fn what_is_under_the_cursor_is_not_waited_for() {
    let manager = manager();
    let (mut client, mut other) = (connect(&manager), connect(&manager));
    let q = client.open_queue("Q", ALL).unwrap();
    client.put_text(q, "a");
    client.get_text(q, get::BROWSE_FIRST).unwrap();
    let same = other.open_queue("Q", open::INPUT_SHARED).unwrap();
    other.next(same).unwrap();
    for how in [get::MSG_UNDER_CURSOR, get::BROWSE_MSG_UNDER_CURSOR] {
        let mut options = GetOptions { wait_interval: -1, ..GetOptions::new(how | get::WAIT) };
        let gone = client.get_with(q, &mut MessageDescriptor::default(), &mut options);
        assert_eq!(crate::common::reason(gone), Reason::NO_MSG_UNDER_CURSOR);
    }
}

#[test]
fn a_wait_ends_when_its_time_is_over() {
    let manager = manager();
    let mut client = connect(&manager);
    let q = client.open_queue("Q", ALL).unwrap();
    assert_eq!(wait(&mut client, q, 5), Err(Reason::NO_MSG_AVAILABLE));
}

#[test]
fn a_wait_ends_when_the_queue_or_the_connection_or_the_queue_manager_does() {
    let first = manager();
    let answer = meanwhile(&first, |_| {
        let inhibit = [("GET", "DISABLED".into())];
        first.alter(queue_manager::objects::Kind::QueueLocal, "Q", &inhibit).unwrap();
    });
    assert_eq!(answer, Err(Reason::GET_INHIBITED));
    let second = manager();
    let answer = meanwhile(&second, |client| {
        let own = client.number();
        let others = second.connections().into_iter().map(|one| one.connection);
        assert!(others.filter(|other| *other != own).all(|it| second.break_connection(it)));
        assert!(!second.break_connection(999));
    });
    assert_eq!(answer, Err(Reason::CONNECTION_BROKEN));
    let third = manager();
    assert_eq!(meanwhile(&third, |_| third.quiesce()), Err(Reason::Q_MGR_QUIESCING));
    assert!(third.connect(ConnectOptions::default()).is_err());
    let fourth = manager();
    assert_eq!(meanwhile(&fourth, |_| fourth.stop()), Err(Reason::Q_MGR_STOPPING));
}

#[test]
fn many_getters_and_putters_lose_nothing_and_double_nothing() {
    const EACH: usize = 200;
    let manager = manager();
    let mut threads = Vec::new();
    let (reported, tell) = std::sync::mpsc::channel();
    for number in 0..4 {
        let (manager, reported) = (manager.clone(), reported.clone());
        let body = move || {
            let mut client = connect(&manager);
            let q = client.open_queue("Q", ALL).unwrap();
            for count in 0..EACH {
                if number % 2 == 0 {
                    let text = format!("{number}.{count}");
                    let persistence = (count % 2) as i32;
                    let md = MessageDescriptor { persistence, ..persistent() };
                    client.put_with(q, md, put::NO_SYNCPOINT, text.as_bytes()).unwrap();
                } else {
                    let _ = reported.send(wait(&mut client, q, -1).unwrap());
                }
            }
        };
        threads.push(seam::thread::spawn("client", body).unwrap());
    }
    drop(reported);
    let mut all: Vec<String> = tell.iter().collect();
    threads.into_iter().for_each(seam::thread::JoinHandle::join);
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 2 * EACH);
    assert_eq!(manager.queue_status("Q").unwrap().depth, 0);
}
