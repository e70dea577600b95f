//! Passwords, certificates, and the records of channels.

#![allow(clippy::unwrap_used)] // a test that fails says where

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Arc;

use mq_clients::Users;
use mqi::wire::frame::Incoming;
use mqi::wire::{Credentials, Request};
use queue_manager::objects::{Kind, Value};
use seam::sync::Mutex;

use crate::common::{Anna, Place, certificates, define, ended};
use crate::nobody_harms_others::{come, enter_as, frame};

/// Connects as it is told, puts a message, and tells with which reason, as whom.
const WHO: &str = r#"
  MQHCONN h = getenv("USERID") ? connect_as(getenv("USERID"), getenv("PASSWORD"))
                               : connect_to("QM1");
  if (cc == 2) { printf("%d\n", rc); return 0; }
  MQHOBJ o = open_queue(h, "APP.Q", MQOO_OUTPUT | MQOO_INPUT_SHARED);
  MQMD md = {MQMD_DEFAULT};
  MQPMO pmo = {MQPMO_DEFAULT};
  MQPUT(h, o, &md, &pmo, 0, NULL, &cc, &rc);
  IS(0, 0);
  printf("%.12s\n", md.UserIdentifier);
  get(h, o, NULL, 0, MQGMO_NO_SYNCPOINT, 0);
  MQDISC(&h, &cc, &rc);
"#;

struct Asking {
    place: Place,
    binary: std::path::PathBuf,
}

impl Asking {
    fn new(users: Anna, secured: bool) -> Asking {
        let place = Place::new(users, secured);
        let binary = place.c("who", "mqic_r", WHO);
        Asking { place, binary }
    }

    fn answer(&self, settings: &[(&str, &str)]) -> String {
        let mut command = self.place.command(&self.binary);
        command.envs(settings.iter().copied());
        String::from_utf8_lossy(&ended(&mut command).stdout).trim().to_owned()
    }
}

const ANNA: [(&str, &str); 2] = [("USERID", "anna"), ("PASSWORD", "sesame")];

#[test]
fn a_password_says_who_a_program_is() {
    let asking = Asking::new(Anna::default(), false);
    assert_eq!(asking.answer(&ANNA), "ANNA");
    assert_eq!(asking.answer(&[("USERID", "anna"), ("PASSWORD", "wrong")]), "2035");
    assert_eq!(asking.answer(&[("USERID", "otto"), ("PASSWORD", "sesame")]), "2035");
    assert_eq!(asking.answer(&[]), "2035", "somebody without a name");
    let nobody = Asking::new(Anna { nobody: true }, false);
    assert_eq!(nobody.answer(&[]), "anonymous");
}

#[test]
fn a_certificate_says_who_a_program_is() {
    let asking = Asking::new(Anna::default(), true);
    let file = |name: &str| certificates().join(name).display().to_string();
    let (root, two, two_key) = (file("ca.pem"), file("qm2.pem"), file("qm2.key"));
    let (one, one_key) = (file("qm1.pem"), file("qm1.key"));
    let known = [
        ("HOLDFAST_MQ_CA", &*root),
        ("HOLDFAST_MQ_CERTIFICATE", &*two),
        ("HOLDFAST_MQ_KEY", &*two_key),
    ];
    assert_eq!(asking.answer(&known), "QM2");
    let unknown = [
        ("HOLDFAST_MQ_CA", &*root),
        ("HOLDFAST_MQ_CERTIFICATE", &*one),
        ("HOLDFAST_MQ_KEY", &*one_key),
    ];
    assert_eq!(asking.answer(&unknown), "2035", "it names no user");
    let map = [
        ("CHLAUTH", Value::from("TO.*")),
        ("TYPE", Value::from("SSLPEERMAP")),
        ("SSLPEER", Value::from("CN=qm1.*,O=Ours")),
        ("USERSRC", Value::from("MAP")),
        ("MCAUSER", Value::from("mapped")),
    ];
    let manager = &asking.place.manager;
    manager.define(Kind::ChannelAuthority, "1", &map, true, None).unwrap();
    assert_eq!(asking.answer(&unknown), "mapped");
    assert_eq!(asking.answer(&known), "QM2");
    assert_eq!(asking.answer(&[("HOLDFAST_MQ_CA", &*root)]), "2035", "nothing is shown");
}

#[test]
fn records_and_the_channel_say_as_whom_a_program_works() {
    let asking = Asking::new(Anna::default(), false);
    let manager = &asking.place.manager;
    define(manager, Kind::Channel, "TO.QM1", &[("CHLTYPE", "SVRCONN"), ("MCAUSER", "worker")]);
    assert_eq!(asking.answer(&ANNA), "worker");
    assert_eq!(asking.answer(&[]), "2035", "a user of the channel is no proof");
    let record = |values: &[(&str, &str)]| {
        let mut all = vec![("CHLAUTH", Value::from("TO.*"))];
        all.extend(values.iter().map(|(name, value)| (*name, Value::from(*value))));
        manager.define(Kind::ChannelAuthority, "1", &all, true, None).unwrap();
    };
    record(&[("TYPE", "USERMAP"), ("CLNTUSER", "anna"), ("USERSRC", "CHANNEL")]);
    assert_eq!(asking.answer(&ANNA), "ANNA");
    record(&[("TYPE", "ADDRESSMAP"), ("ADDRESS", "127.*"), ("USERSRC", "NOACCESS")]);
    assert_eq!(asking.answer(&ANNA), "2035");
}

#[test]
fn a_blocked_user_and_a_stopped_channel_let_nobody_in() {
    let asking = Asking::new(Anna::default(), false);
    let manager = &asking.place.manager;
    let blocked = [
        ("CHLAUTH", Value::from("*")),
        ("TYPE", Value::from("BLOCKUSER")),
        ("USERLIST", Value::List(vec!["ANNA".into()])),
    ];
    manager.define(Kind::ChannelAuthority, "1", &blocked, true, None).unwrap();
    assert_eq!(asking.answer(&ANNA), "2035");
    manager.delete(Kind::ChannelAuthority, "1", false).unwrap();
    assert_eq!(asking.answer(&ANNA), "ANNA");
    manager.channels().set_stopped("TO.QM1", true).unwrap();
    assert_eq!(asking.answer(&ANNA), "2537");
}

/// Whether there is Anna, and which password she has: the mark of a user changes with it.
struct Leaving(Mutex<Option<u64>>);

impl Users for Leaving {
    fn password(&self, _: &str, _: &[u8]) -> Option<String> {
        self.0.lock().map(|_| "ANNA".to_owned())
    }

    fn certificate(&self, _: &str) -> Option<String> {
        None
    }

    fn nobody(&self) -> Option<String> {
        self.0.lock().is_none().then(|| "anonymous".to_owned())
    }

    fn mark(&self, _: &str) -> Option<u64> {
        *self.0.lock()
    }
}

/// Sends a frame; whether it is answered.
fn answered(stream: &mut TcpStream, bytes: &[u8]) -> bool {
    // A program that was ended may be told so by the write already.
    if stream.write_all(bytes).is_err() {
        return false;
    }
    matches!(Incoming::new(stream).begin(), Ok(Some(_)))
}

// The programs of a user who was removed went on as before, for as long as they liked.
#[test]
fn a_program_works_no_longer_than_its_user_may_come_in() {
    let proof = Credentials { user: "anna".into(), password: b"sesame".to_vec() };
    let commit = frame(Request::Commit.kind(), &Request::Commit.fields(), 0);
    let cases = [(Some(1), None), (Some(1), Some(2)), (None, Some(1))];
    for (before, after) in cases {
        let users = Arc::new(Leaving(Mutex::new(before)));
        let place = Place::of(Arc::clone(&users) as Arc<dyn Users>, false);
        let mut stream = come(&place);
        let proof = before.map(|_| proof.clone());
        assert!(answered(&mut stream, &enter_as(proof)), "{before:?}");
        // The connection is known as that of a program when it is answered the next time.
        assert!(answered(&mut stream, &commit));
        place.server.look_at_users();
        assert!(answered(&mut stream, &commit), "nothing has changed");
        *users.0.lock() = after;
        place.server.look_at_users();
        assert!(!answered(&mut stream, &commit), "{before:?} {after:?}");
    }
}
