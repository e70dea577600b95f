//! Programs that use message queues beside their databases: one unit of work.

use std::sync::Arc;

use definitions::Function;
use holdfast_schedule::{Options, RegionKind, Schedule};
use mqi::client::Client as Queues;
use mqi::server::Managed;
use mqi::stream::Carrier;
use mqi::structures::{Gmo, Md, Od, Pmo};
use mqi::table::{Structure as _, text};
use mqi::wire::{Connecting, Object, Posting, Request, Wanted};
use queue_manager::objects::Kind;
use queue_manager::options::value::{get, open, put};
use queue_manager::{ObjectName, Outcome, QueueManager, Reason};
use region::layout::PcbLayout;
use region::{Abend, Client, DirectCall, Embedded, Ending, Failure, Reply, Server};
use seam::sync::Mutex;
use store_suite::model::ModelStore;

use crate::support::memory_messages::{MemoryMessages, MessageQueues, message};
use crate::support::{ALONE, Caller, Shop};

type Shared = Arc<Mutex<Schedule<ModelStore>>>;

/// A schedule that is called in two ways.
struct Both(Shared, Vec<PcbLayout>);

impl Server for Both {
    fn pcbs(&self) -> &[PcbLayout] {
        &self.1
    }

    fn call(&mut self, request: region::Request<'_>, reply: &mut Reply) {
        self.0.lock().call(request, reply);
    }

    fn end(&mut self, ending: Ending) -> Result<(), Failure> {
        self.0.lock().end(ending)
    }
}

/// The way of calls of the message queue interface; counts them.
struct Way(Shared, Arc<Mutex<usize>>);

impl Carrier for Way {
    fn carry(&mut self, request: &[u8], answer: &mut Vec<u8>) -> bool {
        *self.1.lock() += 1;
        self.0.lock().messages(request, answer).is_ok()
    }
}

/// A program with databases and queues.
struct Program {
    caller: Caller,
    schedule: Shared,
    asked: Arc<Mutex<usize>>,
}

fn manager(shop: &Shop, queues: &[&str]) -> QueueManager<ModelStore> {
    let manager = QueueManager::open(&shop.store, queue_manager::Options::new("QM1"));
    let manager = manager.expect("a queue manager");
    for name in queues {
        manager.define(Kind::QueueLocal, name, &[], false, None).expect("a queue");
    }
    manager
}

fn bmp() -> Options {
    Options { kind: RegionKind::Bmp, owner: 1, program: "TELLER".into(), ..Options::default() }
}

impl Program {
    fn new(shop: &Shop, manager: &QueueManager<ModelStore>, options: Options) -> Program {
        Program::with(shop, manager, options, |schedule| schedule)
    }

    fn with(
        shop: &Shop,
        manager: &QueueManager<ModelStore>,
        options: Options,
        more: impl FnOnce(Schedule<ModelStore>) -> Schedule<ModelStore>,
    ) -> Program {
        let manager: Arc<dyn Managed<ModelStore>> = Arc::new(manager.clone());
        let schedule = shop.schedule(ALONE, options).expect("a schedule");
        let schedule = more(schedule.with_queues(manager, "anna"));
        let layouts = schedule.pcbs().to_vec();
        let schedule = Arc::new(Mutex::new(schedule));
        let server = Both(Arc::clone(&schedule), layouts);
        let caller = Caller(Client::new(Box::new(Embedded::new(Box::new(server)))));
        Program { caller, schedule, asked: Arc::default() }
    }

    fn connect(&self) -> Queues {
        let way = Way(Arc::clone(&self.schedule), Arc::clone(&self.asked));
        Queues::carried(Box::new(way), Connecting::new(ObjectName::default(), [b' '; 28]))
            .expect("a connection")
    }

    /// A connection with a queue open.
    fn queue(&self, name: &str) -> (Queues, i32) {
        let mut queues = self.connect();
        let handle = opened(&mut queues, name);
        (queues, handle)
    }

    fn checkpoint(&mut self) {
        assert_eq!(self.caller.service(b"CHKP", b"CKPT0001", &[]), "  ");
    }
}

fn opened(queues: &mut Queues, name: &str) -> i32 {
    let mut object = Object::new(Od { object_name: text(name), ..Od::initial() });
    let (outcome, handle, ..) = queues.open(&mut object, open::INPUT_SHARED | open::OUTPUT);
    assert_eq!(outcome, Outcome::OK);
    handle
}

/// Puts without saying whether it is part of the unit of work.
fn put_one(queues: &mut Queues, handle: i32, data: &[u8], persistence: i32) {
    let mut posting = Posting {
        md: Md { persistence, ..Md::initial() },
        pmo: Pmo { options: put::NEW_MSG_ID, ..Pmo::initial() },
        records: Vec::new(),
        wants_responses: false,
    };
    assert_eq!(queues.put(handle, &mut posting, data).0, Outcome::OK);
}

/// What a get brings: its data, and how often it was backed out.
fn got(queues: &mut Queues, handle: i32, wait_ms: i32) -> Result<(Vec<u8>, i32), Reason> {
    let options = if wait_ms == 0 { 0 } else { get::WAIT };
    let gmo = Gmo { options, wait_interval: wait_ms, ..Gmo::initial() };
    let mut wanted = Wanted { md: Md::initial(), gmo, room: 8 << 20 };
    let mut room = vec![0; 8 << 20];
    let (outcome, length) = queues.get(handle, &mut wanted, &mut room);
    if outcome != Outcome::OK {
        return Err(outcome.reason);
    }
    room.truncate(usize::try_from(length).expect("a length"));
    Ok((room, wanted.md.backout_count))
}

fn depth(manager: &QueueManager<ModelStore>, queue: &str) -> (u64, u64) {
    let status = manager.queue_status(queue).expect("a queue");
    (status.depth, status.uncommitted)
}

#[test]
fn what_is_put_and_got_is_committed_with_what_calls_change() {
    let shop = Shop::new("queues-commit");
    let manager = manager(&shop, &["ORDERS", "CONFIRM"]);
    let mut program = Program::new(&shop, &manager, bmp());
    let (mut queues, orders) = program.queue("ORDERS");
    let confirm = opened(&mut queues, "CONFIRM");
    put_one(&mut queues, orders, b"first", 1);
    program.caller.customer(2, "0001");
    assert_eq!(depth(&manager, "ORDERS"), (1, 1), "nobody else sees it");
    program.checkpoint();
    assert_eq!(depth(&manager, "ORDERS"), (1, 0));
    // A program that is killed in the middle leaves nothing.
    assert_eq!(got(&mut queues, orders, 0), Ok((b"first".to_vec(), 0)));
    put_one(&mut queues, confirm, b"done", 1);
    program.caller.customer(2, "0002");
    drop(queues);
    program.caller.0.end(Ending::Gone).expect("a backout");
    assert_eq!(shop.customers(), ["0001"]);
    let again = self::manager(&shop, &[]);
    assert_eq!((depth(&again, "ORDERS").0, depth(&again, "CONFIRM").0), (1, 0));
    // A program without sync points commits at its end.
    let mut program = Program::new(&shop, &manager, bmp());
    let (mut queues, orders) = program.queue("ORDERS");
    let confirm = opened(&mut queues, "CONFIRM");
    assert_eq!(got(&mut queues, orders, 0), Ok((b"first".to_vec(), 1)));
    put_one(&mut queues, confirm, b"done", 1);
    program.caller.customer(2, "0002");
    program.caller.end().expect("a commit");
    assert_eq!(shop.customers(), ["0001", "0002"]);
    let again = self::manager(&shop, &[]);
    assert_eq!((depth(&again, "ORDERS").0, depth(&again, "CONFIRM").0), (0, 1));
    assert!(manager.connections().is_empty());
}

#[test]
fn a_backout_takes_puts_away_and_brings_gets_back_with_a_higher_count() {
    let shop = Shop::new("queues-rolb");
    let manager = manager(&shop, &["ORDERS", "CONFIRM"]);
    let mut program = Program::new(&shop, &manager, bmp());
    let (mut queues, orders) = program.queue("ORDERS");
    let confirm = opened(&mut queues, "CONFIRM");
    put_one(&mut queues, orders, b"first", 1);
    // What is not persistent has no part in the store, and the same fate.
    put_one(&mut queues, orders, b"second", 0);
    program.checkpoint();
    for count in 0..3 {
        assert_eq!(got(&mut queues, orders, 0), Ok((b"first".to_vec(), count)));
        assert_eq!(got(&mut queues, orders, 0), Ok((b"second".to_vec(), count)));
        put_one(&mut queues, confirm, b"done", 1);
        put_one(&mut queues, confirm, b"said", 0);
        program.caller.customer(2, "0001");
        assert_eq!(program.caller.status(0, b"ROLB", None, &[]), "  ");
        assert_eq!((depth(&manager, "ORDERS").0, depth(&manager, "CONFIRM").0), (2, 0));
    }
    // An abend does the same.
    assert_eq!(got(&mut queues, orders, 0), Ok((b"first".to_vec(), 3)));
    program.caller.abend();
    let mut program = Program::new(&shop, &manager, bmp());
    assert!(!queues.is_there());
    let (mut queues, orders) = program.queue("ORDERS");
    assert_eq!(got(&mut queues, orders, 0), Ok((b"first".to_vec(), 4)));
    program.caller.end().expect("a commit");
    assert_eq!(shop.customers(), Vec::<String>::new());
}

#[test]
fn calls_that_would_end_the_unit_of_work_are_refused_and_disconnecting_does_not_end_it() {
    let shop = Shop::new("queues-units");
    let manager = manager(&shop, &["ORDERS"]);
    let mut program = Program::new(&shop, &manager, bmp());
    let (mut queues, orders) = program.queue("ORDERS");
    put_one(&mut queues, orders, b"first", 1);
    for request in [Request::Commit, Request::Back, Request::Begin] {
        let refused = Outcome::failed(Reason::ENVIRONMENT_ERROR);
        assert_eq!(queues.plain(&request), refused);
    }
    assert_eq!(queues.disconnect(), Outcome::OK);
    assert_eq!(depth(&manager, "ORDERS"), (1, 1));
    // The next connection works in the same unit of work.
    let (mut queues, orders) = program.queue("ORDERS");
    assert_eq!(got(&mut queues, orders, 0), Ok((b"first".to_vec(), 0)));
    put_one(&mut queues, orders, b"second", 0);
    assert_eq!(queues.disconnect(), Outcome::OK);
    program.checkpoint();
    assert_eq!(depth(&manager, "ORDERS"), (1, 0));
    let asked = "QM2".into();
    let way = Way(Arc::clone(&program.schedule), Arc::default());
    let refused = Queues::carried(Box::new(way), Connecting::new(asked, [b' '; 28])).map(drop);
    assert_eq!(refused, Err(Outcome::failed(Reason::Q_MGR_NAME_ERROR)));
    program.caller.end().expect("a commit");
    let way = Way(Arc::clone(&program.schedule), Arc::default());
    let late = Queues::carried(Box::new(way), Connecting::new(ObjectName::default(), [b' '; 28]));
    assert_eq!(late.map(drop), Err(Outcome::failed(Reason::Q_MGR_NOT_AVAILABLE)));
}

#[test]
fn a_roll_to_a_point_undoes_what_was_put_and_got_behind_it() {
    let shop = Shop::new("queues-points");
    let manager = manager(&shop, &["ORDERS"]);
    let mut program = Program::new(&shop, &manager, bmp());
    let (mut queues, orders) = program.queue("ORDERS");
    put_one(&mut queues, orders, b"old", 1);
    program.checkpoint();
    put_one(&mut queues, orders, b"before", 1);
    program.caller.customer(2, "0001");
    assert_eq!(program.caller.status(0, b"SETS", Some(b"data"), &[b"TOK1"]), "  ");
    for persistence in [1, 0] {
        assert_eq!(got(&mut queues, orders, 0), Ok((b"old".to_vec(), 0)));
        put_one(&mut queues, orders, b"behind", persistence);
        let (mut other, same) = program.queue("ORDERS");
        put_one(&mut other, same, b"of another connection", persistence);
        program.caller.customer(2, "0002");
        assert_eq!(program.caller.status(0, b"ROLS", Some(b"data"), &[b"TOK1"]), "  ");
        assert_eq!(depth(&manager, "ORDERS"), (2, 1));
    }
    program.caller.end().expect("a commit");
    assert_eq!(shop.customers(), ["0001"]);
    let again = self::manager(&shop, &[]);
    let mut program = Program::new(&shop, &again, bmp());
    let (mut queues, orders) = program.queue("ORDERS");
    assert_eq!(got(&mut queues, orders, 0), Ok((b"old".to_vec(), 0)));
    assert_eq!(got(&mut queues, orders, 0), Ok((b"before".to_vec(), 0)));
    assert_eq!(got(&mut queues, orders, 0), Err(Reason::NO_MSG_AVAILABLE));
    program.caller.end().expect("a commit");
}

#[test]
fn a_program_whose_input_comes_as_messages_connects_anew_behind_each_sync_point() {
    let shop = Shop::new("queues-mpp");
    let manager = manager(&shop, &["ORDERS"]);
    let inputs = ["one", "two", "three"].iter().map(|input| message(&[input])).collect();
    let message_queues = Arc::new(Mutex::new(MessageQueues { inputs, ..MessageQueues::default() }));
    let options =
        Options { kind: RegionKind::Mpp, transaction: "TELL".to_owned(), ..Options::default() };
    let mut program = Program::with(&shop, &manager, options, |schedule| {
        schedule.with_messages(Box::new(MemoryMessages::new(&message_queues, &[(1, "PRINTER")])))
    });
    assert_eq!(program.caller.get(0, b"GU  ", &[]).status, *b"  ");
    // Without any work in the store the next get of a message is a sync point all the same.
    let (mut queues, orders) = program.queue("ORDERS");
    put_one(&mut queues, orders, b"first", 0);
    assert_eq!(program.caller.get(0, b"GU  ", &[]).status, *b"  ");
    assert_eq!(depth(&manager, "ORDERS"), (1, 0));
    assert!(!queues.is_there());
    let gone = queues.plain(&Request::Close { handle: orders, options: 0 });
    assert_eq!(gone, Outcome::failed(Reason::HCONN_ERROR));
    let (mut queues, orders) = program.queue("ORDERS");
    assert_eq!(got(&mut queues, orders, 0), Ok((b"first".to_vec(), 0)));
    // ROLB goes back, and the connection stays.
    assert_eq!(program.caller.status(0, b"ROLB", None, &[]), "  ");
    assert_eq!(got(&mut queues, orders, 0), Ok((b"first".to_vec(), 1)));
    program.caller.customer(2, "0001");
    assert_eq!(program.caller.get(0, b"GU  ", &[]).status, *b"  ");
    assert_eq!(depth(&manager, "ORDERS"), (0, 0));
    program.caller.end().expect("a commit");
    assert_eq!(shop.customers(), ["0001"]);
}

#[test]
fn a_get_that_waits_asks_again_and_a_long_message_comes_in_pieces() {
    let shop = Shop::new("queues-waits");
    let manager = manager(&shop, &["ORDERS"]);
    let mut program = Program::new(&shop, &manager, bmp());
    let (mut queues, orders) = program.queue("ORDERS");
    let long: Vec<u8> = (0..3_000_001_u32).map(|n| n.to_le_bytes()[0] ^ 0x5a).collect();
    let mut other = Program::new(&shop, &manager, bmp());
    let (mut putter, same) = other.queue("ORDERS");
    put_one(&mut putter, same, &long, 1);
    let before = *program.asked.lock();
    std::thread::scope(|scope| {
        let asked = Arc::clone(&program.asked);
        let waiter = scope.spawn(move || {
            let first = got(&mut queues, orders, -1);
            (first, queues)
        });
        // It has been told to ask again at least once.
        while *asked.lock() < before + 2 {
            seam::thread::yield_now();
        }
        other.checkpoint();
        let (first, mut queues) = waiter.join().expect("no panic");
        assert!(first == Ok((long.clone(), 0)));
        assert_eq!(got(&mut queues, orders, 1), Err(Reason::NO_MSG_AVAILABLE));
    });
    assert!(*program.asked.lock() >= before + 7, "six pieces and more");
    program.caller.end().expect("a commit");
    other.caller.end().expect("a commit");
    assert_eq!(depth(&manager, "ORDERS"), (0, 0));
}

#[test]
fn two_programs_on_one_queue_get_each_message_once() {
    let shop = Shop::new("queues-two");
    let manager = manager(&shop, &["ORDERS", "CONFIRM"]);
    let mut filler = Program::new(&shop, &manager, bmp());
    let (mut queues, orders) = filler.queue("ORDERS");
    (0..20_u8).for_each(|n| put_one(&mut queues, orders, &[n], i32::from(n % 2)));
    filler.caller.end().expect("a commit");
    let work = |number: u64| {
        let mut program = Program::new(&shop, &manager, Options { owner: number, ..bmp() });
        let (mut queues, orders) = program.queue("ORDERS");
        let confirm = opened(&mut queues, "CONFIRM");
        let mut count = 0;
        while let Ok((order, backouts)) = got(&mut queues, orders, 0) {
            put_one(&mut queues, confirm, &order, 1);
            count += 1;
            // Every third one is tried twice.
            if order[0].is_multiple_of(3) && backouts == 0 {
                assert_eq!(program.caller.status(0, b"ROLB", None, &[]), "  ");
            } else {
                program.checkpoint();
            }
        }
        program.caller.end().expect("a commit");
        count
    };
    let done: usize = std::thread::scope(|scope| {
        let all: Vec<_> = [1, 2].map(|number| scope.spawn(move || work(number))).into();
        all.into_iter().map(|one| one.join().expect("no panic")).sum()
    });
    assert!(done >= 20);
    // One may have looked while the other had the last ones in hand.
    work(3);
    let mut reader = Program::new(&shop, &manager, bmp());
    let (mut queues, confirm) = reader.queue("CONFIRM");
    let mut confirmed: Vec<u8> = Vec::new();
    while let Ok((order, _)) = got(&mut queues, confirm, 0) {
        confirmed.extend(order);
    }
    confirmed.sort_unstable();
    assert_eq!(confirmed, (0..20).collect::<Vec<u8>>());
    reader.caller.end().expect("a commit");
}

#[test]
fn requests_that_are_none_end_their_connection_and_nothing_else() {
    let shop = Shop::new("queues-strange");
    let manager = manager(&shop, &["ORDERS"]);
    let mut program = Program::new(&shop, &manager, bmp());
    let (mut queues, orders) = program.queue("ORDERS");
    put_one(&mut queues, orders, b"first", 1);
    let number = u64::try_from(queues.number()).expect("a number").to_le_bytes();
    let mut answer = Vec::new();
    for what in 0..=255_u8 {
        for connection in [[0; 8], [9; 8], number] {
            for bytes in [&b""[..], b"\0\0\0\0", &[0xff; 40]] {
                // A part alone is nothing yet.
                if what == 1 && connection == number {
                    continue;
                }
                let request = [&[what], &connection[..], bytes].concat();
                let served = program.schedule.lock().messages(&request, &mut answer);
                assert_eq!(served, Ok(()));
                assert!(!answer.is_empty());
            }
        }
    }
    assert!(!queues.is_there());
    // What it has put is still part of the unit of work.
    program.checkpoint();
    assert_eq!(depth(&manager, "ORDERS"), (1, 0));
    let call =
        DirectCall { function: Function::Sync, pcb: 0, ssas: &[], more: &[], area: None, room: 0 };
    let status = program.caller.0.call(&call).map(|answer| answer.status);
    assert_eq!(status, Ok::<_, Abend>(*b"  "));
    program.caller.end().expect("a commit");
}
