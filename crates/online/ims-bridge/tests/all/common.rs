//! A system without processes: a queue manager, a transaction manager, the bridge between them,
//! and a region whose programs are closures.

use std::sync::Arc;

use control::{Control, Ending, NoSystem, ProgramMessages};
use ims_bridge::iih::{IMS, IMS_VAR_STRING, Iih, Reading};
use ims_bridge::{Bridge, Options as BridgeOptions};
use otma::Name;
use queue_manager::descriptor::value::msg_type;
use queue_manager::objects::{Kind, Value};
use queue_manager::options::value::{get, open, put};
use queue_manager::options::{ConnectOptions, GetOptions, ObjectDescriptor, PutOptions};
use queue_manager::{
    Connection, Failed, MessageDescriptor, ObjectName, Options, QueueManager, Reason,
};
use region::Abend;
use resources::{Change, Definition, Kind as ResourceKind};
use schedule::messages::{Messages as _, TerminalPcb};
use seam::Seam;
use seam::clock::RealClock;
use seam::thread::{JoinHandle, spawn};
use store::{Store, Unit, UnitOptions};
pub(crate) use test_store::Machine;

/// How long something is waited for that has to come.
const PATIENCE_MS: i32 = 10_000;
/// The queue that the bridge serves.
pub(crate) const BRIDGE: &str = "TO.IMS";
pub(crate) const REPLIES: &str = "REPLIES";
pub(crate) const DEAD: &str = "SYSTEM.DEAD.LETTER.QUEUE";

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

pub(crate) fn segment(text: &str) -> Vec<u8> {
    [&(text.len() as u16 + 4).to_be_bytes()[..], &[0, 0], text.as_bytes()].concat()
}

/// What a program does with a message: its first segment, in the unit of work.
pub(crate) trait Body<S: Store>:
    FnMut(&mut ProgramMessages<S>, &mut S::Unit, &str) -> Result<(), Abend> + Send + 'static
{
}

impl<S: Store, F> Body<S> for F where
    F: FnMut(&mut ProgramMessages<S>, &mut S::Unit, &str) -> Result<(), Abend> + Send + 'static
{
}

/// Answers with what came, and OK behind it.
pub(crate) fn echo<S: Store>(
    program: &mut ProgramMessages<S>,
    _unit: &mut S::Unit,
    text: &str,
) -> Result<(), Abend> {
    reply(program, &format!("{text} OK"));
    Ok(())
}

pub(crate) fn reply<S: Store>(program: &mut ProgramMessages<S>, text: &str) {
    assert_eq!(program.insert(TerminalPcb::Io, &segment(text), None), *b"  ");
}

/// Both managers of a store.
pub(crate) struct World<S: Store> {
    pub(crate) store: S,
    pub(crate) manager: QueueManager<S>,
    pub(crate) control: Control<S>,
    bridge: Option<Bridge<S>>,
    region: Option<JoinHandle>,
}

impl<S: Store> World<S> {
    /// Both, and a bridge queue; `transactions` are codes with attributes. Nothing is at work yet.
    pub(crate) fn new(store: &S, transactions: &[&str]) -> World<S> {
        World::with_room(store, transactions, 1_000)
    }

    /// The same, with room for so many inputs of a transaction.
    pub(crate) fn with_room(store: &S, transactions: &[&str], room: u64) -> World<S> {
        let world = World::opened(store, room);
        let class = [("XCFGNAME", "GROUP"), ("XCFMNAME", "IMS1")];
        world.define(Kind::StorageClass, "IMS", &class);
        world.define(Kind::QueueLocal, BRIDGE, &[("STGCLASS", "IMS"), ("DEFPSIST", "YES")]);
        world.define(Kind::QueueLocal, REPLIES, &[]);
        world.alter(Kind::QueueManager, "QM1", "DEADQ", DEAD);
        world.transactions(transactions);
        world
    }

    /// Both, with what is there already.
    pub(crate) fn on(store: &S) -> World<S> {
        World::opened(store, 1_000)
    }

    fn opened(store: &S, room: u64) -> World<S> {
        let manager = QueueManager::open(store, Options::new("QM1")).unwrap();
        let options = control::Options {
            data_stores: vec![name("IMS1")],
            any_terminal: true,
            anonymous: control::Anonymous::WithoutUsers,
            limits: queues::Limits { queue_messages_max: room, ..queues::Limits::default() },
            ..control::Options::default()
        };
        let control = Control::open(store, &Seam::real(), Arc::new(NoSystem), options).unwrap();
        World { store: store.clone(), manager, control, bridge: None, region: None }
    }

    pub(crate) fn define(&self, kind: Kind, name: &str, attributes: &[(&str, &str)]) {
        let values: Vec<_> = attributes.iter().map(|(k, v)| (*k, Value::from(*v))).collect();
        self.manager.define(kind, name, &values, false, None).unwrap();
    }

    pub(crate) fn alter(&self, kind: Kind, name: &str, attribute: &str, value: &str) {
        self.manager.alter(kind, name, &[(attribute, Value::from(value))]).unwrap();
    }

    /// `T CLASS 4`: a transaction with its attributes; its program is defined with it.
    fn transactions(&self, lines: &[&str]) {
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            let program = format!("P{}", words[0]);
            let mut one = Definition::new(ResourceKind::Transaction, name(words[0]));
            one.set("PGM", &program).unwrap();
            for pair in words[1..].chunks(2) {
                one.set(pair[0], pair[1]).unwrap();
            }
            let program = Definition::new(ResourceKind::Program, name(&program));
            self.control.apply(&[Change::Put(program), Change::Put(one)]).unwrap();
        }
    }

    pub(crate) fn bridged(mut self) -> World<S> {
        let options = BridgeOptions { user: "holdfast".into(), clock: Arc::new(RealClock::new()) };
        let bridge = Bridge::start(self.manager.clone(), self.control.clone(), options);
        self.bridge = Some(bridge.unwrap());
        self
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        self.bridge.as_ref().unwrap().notes()
    }

    pub(crate) fn without_bridge(&mut self) {
        self.bridge = None;
    }

    /// Has a region process what comes, by `body`.
    pub(crate) fn with_programs(mut self, mut body: impl Body<S>) -> World<S> {
        let (control, store) = (self.control.clone(), self.store.clone());
        let region = spawn("region", move || {
            let region = control.region(&[1, 2, 3], "MPP1", false);
            while let Some(scheduled) = region.next() {
                let mut program = region.messages(&scheduled, &[]);
                let ending = loop {
                    match turn(&store, &mut program, &mut body) {
                        Ok(true) => {}
                        Ok(false) => break Ending::Normal,
                        Err(Abend { code, text }) => break Ending::Abend { code, text },
                    }
                };
                drop(program);
                region.ended(scheduled, &ending);
            }
        });
        self.region = Some(region.unwrap());
        self
    }

    pub(crate) fn connect(&self) -> Connection<S> {
        self.manager.connect(ConnectOptions { user: "ann".into(), ..Default::default() }).unwrap()
    }

    /// Puts a message on the bridge queue; answers its descriptor as it is there.
    pub(crate) fn send(&self, md: MessageDescriptor, data: &[u8]) -> MessageDescriptor {
        let mut md = md;
        let mut what = ObjectDescriptor::queue(BRIDGE);
        let mut options = PutOptions::new(put::NO_SYNCPOINT);
        self.connect().put1(&mut what, &mut md, &mut options, data).unwrap();
        md
    }

    /// The next message of a queue, for which it waits.
    pub(crate) fn receive(&self, queue: &str) -> (MessageDescriptor, Vec<u8>) {
        self.next(queue, PATIENCE_MS).unwrap()
    }

    /// The next message of a queue, if it is there.
    pub(crate) fn next(&self, queue: &str, wait: i32) -> Option<(MessageDescriptor, Vec<u8>)> {
        let mut connection = self.connect();
        let mut what = ObjectDescriptor::queue(queue);
        let (handle, _) = connection.open(&mut what, open::INPUT_SHARED).unwrap();
        let how = GetOptions::new(get::NO_SYNCPOINT | get::WAIT);
        let mut options = GetOptions { wait_interval: wait, ..how };
        let (mut md, mut data) = (MessageDescriptor::default(), Vec::new());
        match connection.get(handle, &mut md, &mut options, 1 << 20, &mut data) {
            Ok(_) => Some((md, data)),
            Err(Failed(Reason::NO_MSG_AVAILABLE)) => None,
            Err(failed) => panic!("{failed:?}"),
        }
    }

    pub(crate) fn depth(&self, queue: &str) -> u64 {
        self.manager.queue_status(queue).unwrap().depth
    }

    /// Ends it in order.
    pub(crate) fn end(self) {
        drop(self);
    }
}

impl<S: Store> Drop for World<S> {
    fn drop(&mut self) {
        self.bridge = None;
        self.control.shut_down();
        if let Some(region) = self.region.take() {
            region.join();
        }
    }
}

/// One unit of work; `false` if there was no message.
fn turn<S: Store>(
    store: &S,
    program: &mut ProgramMessages<S>,
    body: &mut impl Body<S>,
) -> Result<bool, Abend> {
    let lost = |error: store::StoreError| Abend { code: "U0844".into(), text: error.to_string() };
    let mut unit = store.begin(UnitOptions::default()).map_err(lost)?;
    let first = match program.next_message(&mut unit)? {
        Some(segment) => segment.bytes[4..].to_vec(),
        None => return Ok(false),
    };
    let text = String::from_utf8_lossy(&first).into_owned();
    let done = body(program, &mut unit, &text).and_then(|()| program.prepare(&mut unit));
    if let Err(abend) = done {
        let _ = unit.backout();
        program.backed_out(false);
        return Err(abend);
    }
    match program.queue() {
        Some((sink, token)) => unit.commit_queued(&sink, token).map_err(lost)?,
        None => {
            unit.commit().map_err(lost)?;
            program.committed();
        }
    }
    Ok(true)
}

/// A request for a reply on the queue of replies.
pub(crate) fn request() -> MessageDescriptor {
    MessageDescriptor {
        msg_type: msg_type::REQUEST,
        encoding: 785,
        ccsid: 1_208,
        format: IMS_VAR_STRING,
        persistence: 1,
        reply_to_q: ObjectName::from(REPLIES),
        ..MessageDescriptor::default()
    }
}

/// The same with a header in front of its segments.
pub(crate) fn with_header(header: &Iih, segments: &[u8]) -> (MessageDescriptor, Vec<u8>) {
    let how = Reading::of(785, 1_208).unwrap();
    let md = MessageDescriptor { format: IMS, ..request() };
    (md, [&header.write(how)[..], segments].concat())
}

/// The header of a reply, and what follows it.
pub(crate) fn header_of(data: &[u8]) -> (Iih, &[u8]) {
    let how = Reading::of(785, 1_208).unwrap();
    (Iih::read(data, how).unwrap(), &data[84..])
}
