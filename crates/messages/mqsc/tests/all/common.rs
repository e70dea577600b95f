//! A queue manager over the model of the store, with a console.

use std::sync::Arc;

use mqsc::{Answer, Console, Frame, session};
use queue_manager::options::value::{open, put};
use queue_manager::options::{ConnectOptions, ObjectDescriptor, PutOptions};
use queue_manager::{Connection, MessageDescriptor, Options, QueueManager};
use seam::clock::RealClock;
use seam::entropy::OsEntropy;
use store_suite::model::ModelStore;

pub(crate) type Manager = QueueManager<ModelStore>;

pub(crate) fn manager() -> Manager {
    named("QM1")
}

pub(crate) fn named(name: &str) -> Manager {
    let options = Options {
        name: name.into(),
        clock: Arc::new(RealClock::new()),
        entropy: Arc::new(OsEntropy),
        authority: None,
        users: None,
        storage: None,
        connections_max: 100,
        memory_bytes_max: queue_manager::MEMORY_BYTES_MAX,
    };
    QueueManager::open(&ModelStore::new(), options).expect("an empty store takes a queue manager")
}

/// Executes a command that has to be processed; its answers as text.
pub(crate) fn done(console: &Console<ModelStore>, command: &str) -> String {
    let answer = console.execute(command);
    let text = text_of(&answer);
    assert!(!answer.failed && !answer.syntax_error, "{command}: {text}");
    text
}

/// Executes a command that must not be processed; its answers as text.
pub(crate) fn refused(console: &Console<ModelStore>, command: &str) -> String {
    let answer = console.execute(command);
    let text = text_of(&answer);
    assert!(answer.failed || answer.syntax_error, "{command}: {text}");
    text
}

pub(crate) fn text_of(answer: &Answer) -> String {
    answer.replies.iter().map(ToString::to_string).collect()
}

/// Runs a script as a session.
pub(crate) fn session(manager: &Manager, script: &str) -> (String, session::Summary) {
    let console = Console::new(manager);
    let frame = Frame { banner: "Holdfast".into(), manager: manager.name().into(), echo: true };
    let mut output = Vec::new();
    let summary =
        session::run(&frame, script.as_bytes(), &mut output, |command| console.execute(command));
    (String::from_utf8(output).expect("it is text"), summary.expect("memory takes it"))
}

pub(crate) fn connected(manager: &Manager) -> Connection<ModelStore> {
    manager.connect(ConnectOptions::default()).expect("the queue manager takes a connection")
}

/// Puts messages on a queue.
pub(crate) fn put_messages(manager: &Manager, queue: &str, count: usize) {
    let mut connection = connected(manager);
    let mut what = ObjectDescriptor::queue(queue);
    let (handle, _) = connection.open(&mut what, open::OUTPUT).expect("the queue is there");
    for number in 0..count {
        let mut options = PutOptions { options: put::NO_SYNCPOINT, ..PutOptions::default() };
        let text = format!("message {number}");
        connection
            .put(handle, &mut MessageDescriptor::default(), &mut options, text.as_bytes())
            .expect("the queue takes it");
    }
    connection.disconnect().expect("it ends in order");
}
