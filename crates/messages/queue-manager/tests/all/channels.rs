//! Two queue managers and what a channel carries between them: the batch protocol without its
//! network, with either end gone before every step of it.

use std::time::Duration;

use queue_manager::channel::{
    ChannelError, Decision, Receiver, ReceiverOptions, Sender, SenderOptions,
};
use queue_manager::objects::{Kind, Value};
use queue_manager::options::value::{get, open, put};
use queue_manager::options::{ConnectOptions, GetOptions, ObjectDescriptor};
use queue_manager::{MessageDescriptor, Options, QueueManager, Reason};
use store::Store;
use store_suite::model::ModelStore;

use crate::common::{ALL, Calls, persistent};

pub(crate) fn open_on<S: Store>(store: &S, name: &str) -> QueueManager<S> {
    QueueManager::open(store, Options::new(name)).expect("it opens")
}

fn define<S: Store>(manager: &QueueManager<S>, kind: Kind, name: &str, values: &[(&str, &str)]) {
    let values: Vec<_> = values.iter().map(|(k, v)| (*k, Value::from(*v))).collect();
    manager.define(kind, name, &values, true, None).expect("it is defined");
}

/// The sending side: a remote queue, its transmission queue, its channel.
pub(crate) fn define_sender<S: Store>(manager: &QueueManager<S>) {
    define(manager, Kind::QueueLocal, "QM2", &[("USAGE", "XMITQ")]);
    let remote = [("RNAME", "IN"), ("RQMNAME", "QM2")];
    define(manager, Kind::QueueRemote, "OUT", &remote);
    let channel = [("CHLTYPE", "SDR"), ("XMITQ", "QM2"), ("CONNAME", "x(1)")];
    define(manager, Kind::Channel, "TO.QM2", &channel);
}

pub(crate) fn define_receiver<S: Store>(manager: &QueueManager<S>) {
    define(manager, Kind::QueueLocal, "IN", &[]);
    define(manager, Kind::Channel, "TO.QM2", &[("CHLTYPE", "RCVR")]);
}

fn receiver_options() -> ReceiverOptions {
    ReceiverOptions {
        user: "channels".into(),
        checks_context: false,
        connection_name: "here".into(),
        uses_dead_letters: true,
        sequence_max: 999,
        retries: 0,
        retry_wait: Duration::ZERO,
    }
}

const BATCH: SenderOptions = SenderOptions {
    batch_messages: 3,
    batch_bytes: 0,
    sequence_max: 999,
    length_max: 1 << 20,
    fast: false,
};

/// Two ends that have met.
pub(crate) struct Link<S: Store> {
    pub(crate) sender: Sender<S>,
    pub(crate) receiver: Receiver<S>,
}

impl<S: Store> Link<S> {
    pub(crate) fn meet(
        from: &QueueManager<S>,
        to: &QueueManager<S>,
    ) -> Result<(Link<S>, Decision), ChannelError> {
        let mut sender = from.channels().sender("TO.QM2")?;
        sender.agree(BATCH);
        let mut receiver = to.channels().receiver("TO.QM2", "QM1", receiver_options())?;
        let decision = sender.meet(&receiver.state())?;
        if decision == Decision::Reset {
            receiver.take_over(sender.state().last, sender.state().sequence)?;
            sender.reset_done()?;
        }
        Ok((Link { sender, receiver }, decision))
    }

    /// Does what there is to do, step by step, until nothing is left or `goes_on` says no.
    pub(crate) fn run(&mut self, mut goes_on: impl FnMut() -> bool) -> Result<bool, ChannelError> {
        loop {
            if !goes_on() {
                return Ok(false);
            }
            let next = self.sender.next(Duration::ZERO, &|| false)?;
            let ends = next.is_none() || self.sender.is_full();
            let idle = next.is_none() && self.sender.batch_messages() == 0;
            if idle {
                return Ok(true);
            }
            if let Some(message) = next {
                if !goes_on() {
                    return Ok(false);
                }
                self.receiver.put(message.sequence, &message.data, &mut |_| false)?;
            }
            if ends {
                if !goes_on() {
                    return Ok(false);
                }
                let ended = self.sender.end_batch()?;
                if !goes_on() {
                    return Ok(false);
                }
                self.receiver.commit(ended.batch, ended.sequence)?;
                if !goes_on() {
                    return Ok(false);
                }
                self.sender.confirmed()?;
            }
        }
    }
}

pub(crate) fn send<S: Store>(manager: &QueueManager<S>, texts: impl Iterator<Item = String>) {
    let mut client = manager.connect(ConnectOptions::default()).expect("it connects");
    let out = client.open_queue("OUT", open::OUTPUT).expect("it opens");
    for text in texts {
        client.put_with(out, persistent(), put::NO_SYNCPOINT, text.as_bytes()).expect("it is put");
    }
}

pub(crate) fn received<S: Store>(manager: &QueueManager<S>, queue: &str) -> Vec<String> {
    let mut client = manager.connect(ConnectOptions::default()).expect("it connects");
    let queue = client.open_queue(queue, ALL).expect("it opens");
    let mut all = Vec::new();
    while let Ok(text) = client.next(queue) {
        all.push(text);
    }
    all
}

fn numbers(count: u32) -> Vec<String> {
    (0..count).map(|number| number.to_string()).collect()
}

/// Which ends are gone.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Gone {
    Connection,
    Sender,
    Receiver,
    Both,
}

/// Seven messages in batches of three; something is gone before step `at`, and again before the
/// step `again` of what follows. Answers whether there were so many steps.
fn lives_through(gone: Gone, at: u32, again: u32) -> bool {
    let (here, there) = (ModelStore::new(), ModelStore::new());
    let (mut from, mut to) = (open_on(&here, "QM1"), open_on(&there, "QM2"));
    define_sender(&from);
    define_receiver(&to);
    send(&from, numbers(7).into_iter());
    let mut reached = true;
    for steps in [at, again, u32::MAX] {
        let (mut link, decision) = Link::meet(&from, &to).expect("they meet");
        assert_ne!(decision, Decision::Mismatch);
        let mut left = steps;
        let done = link.run(|| {
            left = left.saturating_sub(1);
            left > 0
        });
        let done = done.expect("every step works");
        if steps == at {
            reached = !done;
        }
        drop(link);
        if matches!(gone, Gone::Sender | Gone::Both) {
            from = open_on(&here, "QM1");
        }
        if matches!(gone, Gone::Receiver | Gone::Both) {
            to = open_on(&there, "QM2");
        }
    }
    assert_eq!(received(&to, "IN"), numbers(7), "{gone:?} at {at}, then {again}");
    assert_eq!(from.queue_status("QM2").expect("a queue").depth, 0);
    reached
}

#[test]
fn each_message_arrives_once_whichever_end_is_gone_before_whichever_step() {
    for gone in [Gone::Connection, Gone::Sender, Gone::Receiver, Gone::Both] {
        let mut at = 1;
        while lives_through(gone, at, 1) {
            for again in [2, 3, 5, 8, 9, 10, 11] {
                lives_through(gone, at, again);
            }
            at += 1;
        }
        assert!(at > 20, "{gone:?}: there are steps to be gone before");
    }
}

#[test]
fn messages_in_doubt_are_nobodys_until_the_partner_says_what_became_of_them() {
    let (here, there) = (ModelStore::new(), ModelStore::new());
    let (from, to) = (open_on(&here, "QM1"), open_on(&there, "QM2"));
    define_sender(&from);
    define_receiver(&to);
    send(&from, numbers(2).into_iter());
    let (mut link, _) = Link::meet(&from, &to).unwrap();
    for _ in 0..2 {
        let message = link.sender.next(Duration::ZERO, &|| false).unwrap().unwrap();
        link.receiver.put(message.sequence, &message.data, &mut |_| false).unwrap();
    }
    let ended = link.sender.end_batch().unwrap();
    link.receiver.commit(ended.batch, ended.sequence).unwrap();
    drop(link);
    // As it ended, and as it is found by the next start.
    for from in [from, open_on(&here, "QM1")] {
        assert!(received(&from, "QM2").is_empty());
        assert!(matches!(from.channels().reset("TO.QM2", 1), Err(ChannelError::InDoubt(_))));
        assert!(from.clear("QM2").is_err(), "uncommitted");
        let state = from.channels().sender_state("TO.QM2").unwrap();
        assert_eq!(state.in_doubt, ended.batch);
    }
    let from = open_on(&here, "QM1");
    let (link, decision) = Link::meet(&from, &to).unwrap();
    assert_eq!(decision, Decision::Commit);
    drop(link);
    assert_eq!(from.queue_status("QM2").unwrap().depth, 0);
    assert_eq!(received(&to, "IN"), numbers(2));
}

#[test]
fn an_operator_can_decide_about_a_batch_in_doubt() {
    for commit in [true, false] {
        let (here, there) = (ModelStore::new(), ModelStore::new());
        let (from, to) = (open_on(&here, "QM1"), open_on(&there, "QM2"));
        define_sender(&from);
        define_receiver(&to);
        send(&from, numbers(1).into_iter());
        assert!(matches!(
            from.channels().resolve("TO.QM2", commit),
            Err(ChannelError::NotInDoubt(_))
        ));
        let (mut link, _) = Link::meet(&from, &to).unwrap();
        link.sender.next(Duration::ZERO, &|| false).unwrap().unwrap();
        link.sender.end_batch().unwrap();
        assert!(matches!(from.channels().resolve("TO.QM2", commit), Err(ChannelError::InUse(_))));
        drop(link);
        from.channels().resolve("TO.QM2", commit).unwrap();
        let left = from.queue_status("QM2").unwrap().depth;
        assert_eq!(left, u64::from(!commit));
        // The partner never heard of the batch: only a reset brings the ends together again.
        let met = Link::meet(&from, &to);
        assert_eq!(matches!(met, Err(ChannelError::Sequence { .. })), commit);
        drop(met);
        if commit {
            from.channels().reset("TO.QM2", 1).unwrap();
            let (_, decision) = Link::meet(&from, &to).unwrap();
            assert_eq!(decision, Decision::Reset);
        }
        send(&from, std::iter::once("later".to_owned()));
        let (mut link, decision) = Link::meet(&from, &to).unwrap();
        assert_eq!(decision, Decision::Agree);
        assert!(link.run(|| true).unwrap());
        let expected = if commit { vec!["later"] } else { vec!["0", "later"] };
        assert_eq!(received(&to, "IN"), expected);
    }
}

#[test]
fn a_message_keeps_its_descriptor_and_asks_for_its_reports_across() {
    let (here, there) = (ModelStore::new(), ModelStore::new());
    let (from, to) = (open_on(&here, "QM1"), open_on(&there, "QM2"));
    define_sender(&from);
    define_receiver(&to);
    define(&from, Kind::QueueLocal, "REPLIES", &[]);
    define(&to, Kind::QueueLocal, "QM1", &[("USAGE", "XMITQ")]);
    let mut client = from.connect(ConnectOptions::default()).unwrap();
    let out = client.open_queue("OUT", open::OUTPUT).unwrap();
    let md = MessageDescriptor {
        msg_type: 1,
        report: 0x100 | 0x800,
        format: *b"MQSTR   ",
        correl_id: [7; 24],
        group_id: [9; 24],
        msg_flags: 8,
        msg_seq_number: 3,
        expiry: 6_000,
        reply_to_q: "REPLIES".into(),
        ..persistent()
    };
    let sent = client.put_with(out, md, put::NO_SYNCPOINT, b"question").unwrap();
    let (mut link, _) = Link::meet(&from, &to).unwrap();
    assert!(link.run(|| true).unwrap());
    let mut other = to.connect(ConnectOptions::default()).unwrap();
    let queue = other.open_queue("IN", ALL).unwrap();
    let mut md = MessageDescriptor::default();
    let mut options = GetOptions::new(get::NO_SYNCPOINT);
    let (_, data) = other.get_with(queue, &mut md, &mut options).unwrap();
    assert_eq!(data, b"question");
    assert_eq!((md.msg_id, md.correl_id, md.group_id), (sent.msg_id, [7; 24], [9; 24]));
    assert_eq!((md.msg_seq_number, md.msg_flags, md.format), (3, 8, *b"MQSTR   "));
    assert_eq!((md.put_date, md.put_time), (sent.put_date, sent.put_time));
    assert_eq!((md.reply_to_q, md.reply_to_q_mgr), ("REPLIES".into(), "QM1".into()));
    assert!((1..=6_000).contains(&md.expiry));
    // Its arrival and its delivery wait for a channel back.
    assert_eq!(to.queue_status("QM1").unwrap().depth, 2);
}

#[test]
fn what_cannot_be_put_there_becomes_a_dead_letter_there() {
    let (here, there) = (ModelStore::new(), ModelStore::new());
    let (from, to) = (open_on(&here, "QM1"), open_on(&there, "QM2"));
    define_sender(&from);
    define_receiver(&to);
    define(&from, Kind::QueueRemote, "NOWHERE", &[("RNAME", "NONE"), ("RQMNAME", "QM2")]);
    let mut client = from.connect(ConnectOptions::default()).unwrap();
    let nowhere = client.open_queue("NOWHERE", open::OUTPUT).unwrap();
    client.put_text(nowhere, "lost?");
    send(&from, std::iter::once("found".to_owned()));
    let (mut link, _) = Link::meet(&from, &to).unwrap();
    assert!(link.run(|| true).unwrap());
    assert_eq!(received(&to, "IN"), ["found"]);
    let mut other = to.connect(ConnectOptions::default()).unwrap();
    let dead = other.open_queue("SYSTEM.DEAD.LETTER.QUEUE", ALL).unwrap();
    let mut md = MessageDescriptor::default();
    let (_, data) = other.get_with(dead, &mut md, &mut GetOptions::new(4)).unwrap();
    assert_eq!(&data[..4], b"DLH ");
    assert_eq!(data[8..12], Reason::UNKNOWN_OBJECT_NAME.0.to_le_bytes());
    assert!(data[12..60].starts_with(b"NONE ") && data[60..108].starts_with(b"QM2 "));
    assert_eq!(&data[172..], b"lost?");
}

#[test]
fn a_message_that_is_no_transmission_stays_here_as_a_dead_letter() {
    let (here, there) = (ModelStore::new(), ModelStore::new());
    let (from, to) = (open_on(&here, "QM1"), open_on(&there, "QM2"));
    define_sender(&from);
    define_receiver(&to);
    let mut client = from.connect(ConnectOptions::default()).unwrap();
    let transmission = client.open_queue("QM2", open::OUTPUT).unwrap();
    client.put_text(transmission, "no header");
    let (mut link, _) = Link::meet(&from, &to).unwrap();
    assert!(link.run(|| true).unwrap());
    assert_eq!(from.queue_status("SYSTEM.DEAD.LETTER.QUEUE").unwrap().depth, 1);
    assert_eq!(from.queue_status("QM2").unwrap().depth, 0);
    assert_eq!(to.queue_status("IN").unwrap().depth, 0);
}

#[test]
fn a_full_queue_there_without_dead_letters_ends_the_channel_and_loses_nothing() {
    let (here, there) = (ModelStore::new(), ModelStore::new());
    let (from, to) = (open_on(&here, "QM1"), open_on(&there, "QM2"));
    define_sender(&from);
    define_receiver(&to);
    to.alter(Kind::QueueLocal, "IN", &[("MAXDEPTH", Value::Number(1))]).unwrap();
    to.alter(Kind::QueueManager, "QM2", &[("DEADQ", "".into())]).unwrap();
    send(&from, numbers(2).into_iter());
    let (mut link, _) = Link::meet(&from, &to).unwrap();
    let ended = link.run(|| true);
    assert!(matches!(ended, Err(ChannelError::Undeliverable { reason: Reason::Q_FULL, .. })));
    drop(link);
    assert_eq!(to.queue_status("IN").unwrap().depth, 0);
    to.alter(Kind::QueueLocal, "IN", &[("MAXDEPTH", Value::Number(9))]).unwrap();
    let (mut link, _) = Link::meet(&from, &to).unwrap();
    assert!(link.run(|| true).unwrap());
    assert_eq!(received(&to, "IN"), numbers(2));
}

#[test]
fn a_channel_has_one_sender_and_a_partner_one_receiver() {
    let (here, there) = (ModelStore::new(), ModelStore::new());
    let (from, to) = (open_on(&here, "QM1"), open_on(&there, "QM2"));
    define_sender(&from);
    define_receiver(&to);
    let link = Link::meet(&from, &to).unwrap();
    assert!(matches!(from.channels().sender("TO.QM2"), Err(ChannelError::InUse(_))));
    let again = to.channels().receiver("TO.QM2", "QM1", receiver_options());
    assert!(matches!(again, Err(ChannelError::InUse(_))));
    assert!(to.channels().receiver("TO.QM2", "QM3", receiver_options()).is_ok());
    drop(link);
    assert!(Link::meet(&from, &to).is_ok());
    assert!(matches!(from.channels().sender("NONE"), Err(ChannelError::NotFound(_))));
    assert!(matches!(to.channels().sender("TO.QM2"), Err(ChannelError::WrongType { .. })));
}

#[test]
fn messages_that_are_not_kept_may_travel_outside_of_batches() {
    let (here, there) = (ModelStore::new(), ModelStore::new());
    let (from, to) = (open_on(&here, "QM1"), open_on(&there, "QM2"));
    define_sender(&from);
    define_receiver(&to);
    let mut client = from.connect(ConnectOptions::default()).unwrap();
    let out = client.open_queue("OUT", open::OUTPUT).unwrap();
    let fast = MessageDescriptor { persistence: 0, ..persistent() };
    client.put_with(out, fast, put::NO_SYNCPOINT, b"fast").unwrap();
    let (mut link, _) = Link::meet(&from, &to).unwrap();
    link.sender.agree(SenderOptions { fast: true, ..BATCH });
    let message = link.sender.next(Duration::ZERO, &|| false).unwrap().unwrap();
    assert_eq!((message.sequence, link.sender.batch_messages()), (None, 0));
    link.receiver.put(message.sequence, &message.data, &mut |_| false).unwrap();
    assert_eq!(received(&to, "IN"), ["fast"]);
}

#[test]
fn names_of_queue_managers_can_be_aliases_and_lead_on() {
    let (here, there) = (ModelStore::new(), ModelStore::new());
    let (from, to) = (open_on(&here, "QM1"), open_on(&there, "QM2"));
    define_sender(&from);
    define_receiver(&to);
    // There, the name stands for the queue manager itself; and another one for a third.
    define(&from, Kind::QueueRemote, "ALIAS", &[("RQMNAME", "OTHER"), ("XMITQ", "QM2")]);
    define(&to, Kind::QueueRemote, "OTHER", &[("RQMNAME", "QM2")]);
    define(&to, Kind::QueueLocal, "QM3", &[("USAGE", "XMITQ")]);
    define(
        &from,
        Kind::QueueRemote,
        "FAR",
        &[("RNAME", "X"), ("RQMNAME", "QM3"), ("XMITQ", "QM2")],
    );
    let mut client = from.connect(ConnectOptions::default()).unwrap();
    let mut what = ObjectDescriptor {
        object_name: "IN".into(),
        object_q_mgr_name: "ALIAS".into(),
        ..ObjectDescriptor::default()
    };
    let (handle, _) = client.open(&mut what, open::OUTPUT).unwrap();
    client.put_text(handle, "by alias");
    let far = client.open_queue("FAR", open::OUTPUT).unwrap();
    client.put_text(far, "further");
    let (mut link, _) = Link::meet(&from, &to).unwrap();
    assert!(link.run(|| true).unwrap());
    assert_eq!(received(&to, "IN"), ["by alias"]);
    assert_eq!(to.queue_status("QM3").unwrap().depth, 1);
}

#[test]
fn a_partner_keeps_the_certificate_with_which_it_came_first() {
    let store = ModelStore::new();
    let to = open_on(&store, "QM2");
    define_receiver(&to);
    let known = |to: &QueueManager<ModelStore>, subject| {
        to.channels().is_known_as("TO.QM2", "QM1", subject).expect("it is read")
    };
    assert!(known(&to, None), "nobody is known yet");
    assert!(known(&to, Some("CN=one")) && known(&to, Some("CN=one")));
    assert!(!known(&to, Some("CN=two")) && !known(&to, None));
    assert!(to.channels().is_known_as("TO.QM2", "QM3", Some("CN=two")).expect("it is read"));
    drop(to);
    let to = open_on(&store, "QM2");
    assert!(!known(&to, Some("CN=two")), "over restarts, too");
    to.channels().reset("TO.QM2", 1).expect("it is reset");
    assert!(known(&to, Some("CN=two")) && !known(&to, Some("CN=one")));
}
