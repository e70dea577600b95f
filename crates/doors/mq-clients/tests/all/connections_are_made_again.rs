//! Programs that want it go on when their connection breaks, and are told what was lost.

#![allow(clippy::unwrap_used)] // a test that fails says where

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use queue_manager::objects::Kind;
use queue_manager::options::{ConnectOptions, ObjectDescriptor, PutOptions, value};

use crate::common::{Anna, LONG, Place, define};
use crate::cutter::Cutter;

/// What the programs begin with: a connection with options, whose events are counted.
const BEGIN: &str = r#"
  static int reconnecting, reconnected, failed, refused;
  void on_event(MQHCONN h, MQMD *md, MQGMO *gmo, void *b, MQCBC *cbc) {
    MQLONG ecc, erc, selector = MQIA_CURRENT_Q_DEPTH, depth;
    if (cbc->Reason == MQRC_RECONNECTING) {
      reconnecting++;
      MQINQ(h, 1, 1, &selector, 1, &depth, 0, NULL, &ecc, &erc);
      if (erc == MQRC_CALL_IN_PROGRESS) refused++;
    }
    if (cbc->Reason == MQRC_RECONNECTED) reconnected++;
    if (cbc->Reason == MQRC_RECONNECT_FAILED || cbc->Reason == MQRC_RECONNECT_QMID_MISMATCH)
      failed++;
  }
  MQHCONN connect_with(const char *name, MQLONG options) {
    MQHCONN h = MQHC_UNUSABLE_HCONN;
    MQCNO cno = {MQCNO_DEFAULT};
    MQCBD cbd = {MQCBD_DEFAULT};
    char field[49] = "";
    strncpy(field, name, 48);
    cno.Options = options;
    MQCONNX(field, &cno, &h, &cc, &rc);
    IS(0, 0);
    cbd.CallbackType = MQCBT_EVENT_HANDLER;
    cbd.CallbackFunction = on_event;
    MQCB(h, MQOP_REGISTER, &cbd, 0, NULL, NULL, &cc, &rc);
    IS(0, 0);
    return h;
  }
  void await_go(void) {
    printf("ready\n");
    fflush(stdout);
    HOLDS(getchar() == '\n');
  }
"#;

/// A program that says when it is ready, and goes on when it is told to.
struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
    into: ChildStdin,
}

impl Running {
    fn start(command: &mut Command) -> Running {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let into = child.stdin.take().unwrap();
        Running { child, out, into }
    }

    #[track_caller]
    fn is_ready(&mut self) {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
    }

    fn go(&mut self) {
        self.into.write_all(b"\n").unwrap();
        self.into.flush().unwrap();
    }

    #[track_caller]
    fn ends_well(mut self) {
        let mut rest = String::new();
        while self.out.read_line(&mut rest).unwrap() > 0 {}
        drop(self.into);
        let done = seam::process::finish(self.child, LONG).unwrap();
        assert!(done.status.success(), "{rest}");
    }
}

impl Place {
    /// One whose queue keeps its messages.
    fn lasting() -> Place {
        let place = Place::open();
        define(&place.manager, Kind::QueueLocal, "APP.Q", &[("DEFPSIST", "YES")]);
        place
    }

    fn start(&self, name: &str, main: &str) -> Running {
        let binary = self.built(name, main);
        Running::start(&mut self.command(&binary))
    }

    fn built(&self, name: &str, main: &str) -> PathBuf {
        self.c_with(name, "mqic_r", BEGIN, main)
    }

    /// Puts a message, as somebody else would.
    fn put(&self, queue: &str, data: &[u8]) {
        let mut own = self.manager.connect(ConnectOptions::default()).unwrap();
        let mut what = ObjectDescriptor::queue(queue);
        let mut options = PutOptions::new(value::put::NO_SYNCPOINT);
        let mut descriptor = queue_manager::MessageDescriptor::default();
        own.put1(&mut what, &mut descriptor, &mut options, data).unwrap();
    }
}

fn through(command: &mut Command, ports: &[u16]) {
    let places: Vec<String> = ports.iter().map(|port| format!("127.0.0.1({port})")).collect();
    command.env("MQSERVER", format!("TO.QM1/TCP/{}", places.join(",")));
}

fn impatient(place: &Place, command: &mut Command) {
    let text = "CHANNELS:\n  MQReconnectTimeout=0\n  ReconDelay=(1,0)\n";
    command.env("MQCLNTCF", place.file("mqclient.ini", text));
}

#[test]
fn a_program_goes_on_when_its_queue_manager_was_killed_and_started_again() {
    let mut place = Place::lasting();
    let main = r#"
  MQHCONN h = connect_with("QM1", MQCNO_RECONNECT);
  MQHOBJ spare = open_queue(h, "APP.Q", MQOO_BROWSE);
  MQHOBJ o = open_queue(h, "APP.Q", MQOO_OUTPUT | MQOO_INPUT_SHARED | MQOO_BROWSE);
  MQHOBJ other = open_queue(h, "OTHER.Q", MQOO_INPUT_SHARED);
  char b[16];
  MQCLOSE(h, &spare, 0, &cc, &rc);
  IS(0, 0);
  put(h, o, "one", 3, MQPMO_NO_SYNCPOINT);
  put(h, o, "two", 3, MQPMO_NO_SYNCPOINT);
  put(h, o, "lost", 4, MQPMO_SYNCPOINT);
  IS(0, 0);
  HOLDS(get(h, o, b, 16, MQGMO_NO_SYNCPOINT | MQGMO_BROWSE_FIRST, 0) == 3);
  await_go();
  put(h, o, "more", 4, MQPMO_SYNCPOINT);
  IS(MQCC_FAILED, MQRC_BACKED_OUT);
  HOLDS(reconnecting == 1 && reconnected == 1 && failed == 0 && refused == 1);
  get(h, o, b, 16, MQGMO_SYNCPOINT, 0);
  IS(MQCC_FAILED, MQRC_BACKED_OUT);
  get(h, o, b, 16, MQGMO_NO_SYNCPOINT | MQGMO_MSG_UNDER_CURSOR, 0);
  IS(MQCC_FAILED, MQRC_NO_MSG_UNDER_CURSOR);
  MQCMIT(h, &cc, &rc);
  IS(MQCC_FAILED, MQRC_BACKED_OUT);
  HOLDS(get(h, o, b, 16, MQGMO_NO_SYNCPOINT | MQGMO_BROWSE_NEXT, 0) == 3 && !memcmp(b, "one", 3));
  HOLDS(get(h, o, b, 16, MQGMO_SYNCPOINT, 0) == 3 && !memcmp(b, "one", 3));
  MQCMIT(h, &cc, &rc);
  IS(0, 0);
  HOLDS(get(h, other, b, 16, MQGMO_NO_SYNCPOINT, 0) == -1);
  IS(MQCC_FAILED, MQRC_NO_MSG_AVAILABLE);
  await_go();
  put(h, o, "new", 3, MQPMO_NO_SYNCPOINT);
  IS(0, 0);
  HOLDS(reconnecting == 2 && reconnected == 2);
  MQDISC(&h, &cc, &rc);
  IS(0, 0);
"#;
    define(&place.manager, Kind::QueueLocal, "OTHER.Q", &[]);
    let mut running = place.start("goes_on", main);
    for _ in 0..2 {
        running.is_ready();
        place.start_again();
        running.go();
    }
    running.ends_well();
    assert_eq!(place.depth("APP.Q"), 2);
}

#[test]
fn a_get_goes_on_waiting_at_the_queue_manager_that_is_there_again() {
    let mut place = Place::lasting();
    let main = r#"
  MQHCONN h = connect_with("QM1", MQCNO_RECONNECT_Q_MGR);
  MQHOBJ o = open_queue(h, "APP.Q", MQOO_INPUT_SHARED);
  char b[16];
  printf("ready\n");
  fflush(stdout);
  HOLDS(get(h, o, b, 16, MQGMO_SYNCPOINT | MQGMO_WAIT, MQWI_UNLIMITED) == 4);
  IS(0, 0);
  MQCMIT(h, &cc, &rc);
  IS(0, 0);
  MQDISC(&h, &cc, &rc);
  IS(0, 0);
"#;
    let mut running = place.start("waits", main);
    running.is_ready();
    place.start_again();
    place.put("APP.Q", b"late");
    running.ends_well();
    assert_eq!(place.depth("APP.Q"), 0);
}

#[test]
fn a_put_or_commit_whose_answer_is_lost_is_not_made_twice() {
    let place = Place::lasting();
    let cutter = Cutter::new(place.port());
    let main = r#"
  MQHCONN h = connect_with("QM1", MQCNO_RECONNECT);
  MQHOBJ o = open_queue(h, "APP.Q", MQOO_OUTPUT | MQOO_INPUT_SHARED);
  char b[16];
  IS(0, 0);
  await_go();
  put(h, o, "one", 3, MQPMO_NO_SYNCPOINT);
  IS(MQCC_FAILED, MQRC_CALL_INTERRUPTED);
  await_go();
  MQMD md = {MQMD_DEFAULT};
  MQPMO pmo = {MQPMO_DEFAULT};
  MQOD od = {MQOD_DEFAULT};
  strncpy(od.ObjectName, "APP.Q", 48);
  MQPUT1(h, &od, &md, &pmo, 3, "two", &cc, &rc);
  IS(MQCC_FAILED, MQRC_CALL_INTERRUPTED);
  put(h, o, "three", 5, MQPMO_SYNCPOINT);
  IS(0, 0);
  await_go();
  MQCMIT(h, &cc, &rc);
  IS(MQCC_FAILED, MQRC_CALL_INTERRUPTED);
  await_go();
  put(h, o, "four", 4, MQPMO_SYNCPOINT);
  IS(0, 0);
  MQCMIT(h, &cc, &rc);
  IS(0, 0);
  HOLDS(reconnecting == 4 && reconnected == 4);
  await_go();
  MQBACK(h, &cc, &rc);
  IS(0, 0);
  get(h, o, b, 16, MQGMO_SYNCPOINT, 0);
  IS(0, 0);
  await_go();
  get(h, o, b, 16, MQGMO_SYNCPOINT, 0);
  IS(MQCC_FAILED, MQRC_BACKED_OUT);
  MQBACK(h, &cc, &rc);
  IS(0, 0);
"#;
    let binary = place.built("cut", main);
    let mut command = place.command(&binary);
    through(&mut command, &[cutter.port]);
    let mut running = Running::start(&mut command);
    // What is not committed counts: put it is there, got it is not.
    for depth in [0, 1, 3, 3, 4, 3] {
        running.is_ready();
        // The queue manager backs out when it sees that the other end is gone.
        while place.depth("APP.Q") != depth {
            std::thread::yield_now();
        }
        cutter.cut_next_answer();
        running.go();
    }
    running.ends_well();
    while place.depth("APP.Q") != 4 {
        std::thread::yield_now();
    }
    assert_eq!(cutter.made(), 7);
}

#[test]
fn the_next_place_is_taken_unless_the_same_queue_manager_is_wanted() {
    let main = r#"
  MQHCONN h = connect_with(getenv("NAME"), atoi(getenv("OPTIONS")));
  MQHOBJ o = open_queue(h, "APP.Q", MQOO_OUTPUT);
  IS(0, 0);
  await_go();
  put(h, o, "x", 1, MQPMO_NO_SYNCPOINT);
  HOLDS(rc == atoi(getenv("WANTED")));
  put(h, o, "x", 1, MQPMO_NO_SYNCPOINT);
  HOLDS(rc == atoi(getenv("WANTED")));
  HOLDS(failed == (rc == MQRC_RECONNECT_FAILED || rc == MQRC_RECONNECT_QMID_MISMATCH));
"#;
    let anna = || Arc::new(Anna { nobody: true });
    // Option, name, and what comes of it: with another queue manager there, and with none.
    for (option, name, other, alone) in [
        ("16777216", "", "0", "2548"),
        ("16777216", "QM1", "2548", "2548"),
        ("67108864", "", "2546", "2548"),
        ("33554432", "", "2009", "2009"),
        ("0", "", "2009", "2009"),
    ] {
        for (with_other, wanted) in [(true, other), (false, alone)] {
            let (first, second) = (Place::open(), Place::named("QM2", anna(), false));
            let binary = first.built("next", main);
            let mut command = first.command(&binary);
            let both = [first.port(), second.port()];
            through(&mut command, if with_other { &both } else { &both[..1] });
            impatient(&first, &mut command);
            command.env("OPTIONS", option).env("NAME", name).env("WANTED", wanted);
            let mut running = Running::start(&mut command);
            running.is_ready();
            first.server.close();
            running.go();
            running.ends_well();
            assert_eq!(second.depth("APP.Q"), if wanted == "0" { 2 } else { 0 });
        }
    }
}

#[test]
fn configuration_and_table_say_whether_connections_are_made_again() {
    let place = Place::lasting();
    let main = r#"
  MQHCONN h = connect_with("QM1", atoi(getenv("OPTIONS")));
  MQHOBJ o = open_queue(h, "APP.Q", MQOO_OUTPUT | MQOO_INPUT_SHARED);
  await_go();
  put(h, o, "x", 1, MQPMO_NO_SYNCPOINT);
  HOLDS(rc == atoi(getenv("WANTED")));
"#;
    let binary = place.built("configured", main);
    let cutter = Cutter::new(place.port());
    let table = |word: &str| {
        format!(
            r#"{{ "channel": [ {{ "name": "TO.QM1", "clientConnection": {{
            "queueManager": "QM1", "connection": [ {{ "host": "127.0.0.1", "port": {} }} ] }},
            "connectionManagement": {{ "defaultReconnect": "{word}" }} }} ] }}"#,
            cutter.port
        )
    };
    for (options, configured, in_table, wanted) in [
        ("0", "DefRecon=YES", "no", "2549"),
        ("0", "DefRecon=NO", "yes", "2009"),
        ("0", "", "yes", "2549"),
        ("16777216", "", "disabled", "2009"),
        ("33554432", "", "yes", "2009"),
    ] {
        let text = format!("CHANNELS:\n{configured}\n");
        let mut command = place.command(&binary);
        command.env_remove("MQSERVER").env("OPTIONS", options).env("WANTED", wanted);
        command.env("MQCCDTURL", place.file("ccdt.json", &table(in_table)));
        command.env("MQCLNTCF", place.file("mqclient.ini", &text));
        let mut running = Running::start(&mut command);
        running.is_ready();
        cutter.cut_next_answer();
        running.go();
        running.ends_well();
    }
}

#[test]
fn subscriptions_and_dynamic_queues_are_there_again() {
    let mut place = Place::lasting();
    define(&place.manager, Kind::Topic, "NEWS", &[("TOPICSTR", "news")]);
    let main = r#"
  MQHCONN h = connect_with("QM1", MQCNO_RECONNECT_Q_MGR);
  MQSD sd = {MQSD_DEFAULT};
  MQHOBJ managed = MQHO_NONE, kept = MQHO_NONE;
  MQHOBJ s1, s2;
  char b[16], name[48];
  sd.Options = MQSO_CREATE | MQSO_MANAGED | MQSO_NON_DURABLE;
  sd.ObjectString.VSPtr = "news";
  sd.ObjectString.VSLength = MQVS_NULL_TERMINATED;
  MQSUB(h, &sd, &managed, &s1, &cc, &rc);
  IS(0, 0);
  sd.Options = MQSO_CREATE | MQSO_MANAGED | MQSO_DURABLE;
  sd.SubName.VSPtr = "kept";
  sd.SubName.VSLength = MQVS_NULL_TERMINATED;
  MQSUB(h, &sd, &kept, &s2, &cc, &rc);
  IS(0, 0);
  MQOD od = {MQOD_DEFAULT};
  MQHOBJ dynamic;
  strncpy(od.ObjectName, "SYSTEM.DEFAULT.MODEL.QUEUE", 48);
  MQOPEN(h, &od, MQOO_INPUT_SHARED | MQOO_OUTPUT, &dynamic, &cc, &rc);
  IS(0, 0);
  memcpy(name, od.ObjectName, 48);
  await_go();
  put(h, dynamic, "here", 4, MQPMO_NO_SYNCPOINT);
  IS(0, 0);
  HOLDS(get(h, dynamic, b, 16, MQGMO_NO_SYNCPOINT, 0) == 4);
  memcpy(od.ObjectName, name, 48);
  MQHOBJ same;
  MQOPEN(h, &od, MQOO_OUTPUT, &same, &cc, &rc);
  IS(0, 0);
  memset(&od, 0, sizeof od);
  MQOD topic = {MQOD_DEFAULT};
  MQMD md = {MQMD_DEFAULT};
  MQPMO pmo = {MQPMO_DEFAULT};
  topic.Version = MQOD_VERSION_4;
  topic.ObjectType = MQOT_TOPIC;
  topic.ObjectString.VSPtr = "news";
  topic.ObjectString.VSLength = MQVS_NULL_TERMINATED;
  MQPUT1(h, &topic, &md, &pmo, 3, "new", &cc, &rc);
  IS(0, 0);
  HOLDS(get(h, managed, b, 16, MQGMO_NO_SYNCPOINT, 0) == 3);
  HOLDS(get(h, kept, b, 16, MQGMO_NO_SYNCPOINT, 0) == 3);
  MQCLOSE(h, &s2, MQCO_REMOVE_SUB, &cc, &rc);
  IS(0, 0);
  MQDISC(&h, &cc, &rc);
  IS(0, 0);
"#;
    let mut running = place.start("subscribes", main);
    running.is_ready();
    place.start_again();
    running.go();
    running.ends_well();
}

/// A consumer that commits but for its first message.
const CONSUMER: &str = r#"
  static int told, consumed;
  void on_message(MQHCONN h, MQMD *md, MQGMO *gmo, void *b, MQCBC *cbc) {
    MQLONG ecc, erc;
    if (cbc->CallType == MQCBCT_EVENT_CALL && cbc->Reason == MQRC_BACKED_OUT) told++;
    if (cbc->CallType != MQCBCT_MSG_REMOVED) return;
    consumed++;
    if (consumed > 1) MQCMIT(h, &ecc, &erc);
    printf("ready\n");
    fflush(stdout);
  }
"#;

/// Puts and gets with message handles, then consumes.
const CONSUMES: &str = r#"
  MQHCONN h = connect_with("QM1", MQCNO_RECONNECT | MQCNO_HANDLE_SHARE_BLOCK);
  MQHOBJ o = open_queue(h, "APP.Q", MQOO_OUTPUT | MQOO_INPUT_SHARED);
  MQHOBJ again = open_queue(h, "APP.Q", MQOO_INPUT_SHARED);
  MQHMSG m;
  MQCMHO cmho = {MQCMHO_DEFAULT};
  MQSMPO smpo = {MQSMPO_DEFAULT};
  MQPD pd = {MQPD_DEFAULT};
  MQCHARV name = {MQCHARV_DEFAULT};
  MQMD md = {MQMD_DEFAULT};
  MQPMO pmo = {MQPMO_DEFAULT};
  MQGMO gmo = {MQGMO_DEFAULT};
  char b[16];
  MQLONG length;
  MQCRTMH(h, &cmho, &m, &cc, &rc);
  IS(0, 0);
  name.VSPtr = "colour";
  name.VSLength = MQVS_NULL_TERMINATED;
  MQSETMP(h, m, &smpo, &name, &pd, MQTYPE_STRING, 3, "red", &cc, &rc);
  IS(0, 0);
  await_go();
  pmo.Version = MQPMO_VERSION_3;
  pmo.OriginalMsgHandle = m;
  pmo.Options = MQPMO_NO_SYNCPOINT;
  MQPUT(h, o, &md, &pmo, 1, "x", &cc, &rc);
  IS(0, 0);
  MQHMSG got;
  MQCRTMH(h, &cmho, &got, &cc, &rc);
  gmo.Version = MQGMO_VERSION_4;
  gmo.MsgHandle = got;
  gmo.Options = MQGMO_NO_SYNCPOINT | MQGMO_PROPERTIES_IN_HANDLE;
  MQGET(h, o, &md, &gmo, 16, b, &length, &cc, &rc);
  IS(0, 0);
  MQIMPO impo = {MQIMPO_DEFAULT};
  MQLONG type = MQTYPE_STRING;
  MQINQMP(h, got, &impo, &name, &pd, &type, 16, b, &length, &cc, &rc);
  IS(0, 0);
  HOLDS(length == 3 && !memcmp(b, "red", 3));
  MQCBD cbd = {MQCBD_DEFAULT};
  MQMD empty = {MQMD_DEFAULT};
  MQGMO wants = {MQGMO_DEFAULT};
  wants.Options = MQGMO_SYNCPOINT;
  cbd.CallbackFunction = on_message;
  MQCB(h, MQOP_REGISTER, &cbd, again, &empty, &wants, &cc, &rc);
  IS(0, 0);
  MQCTLO ctlo = {MQCTLO_DEFAULT};
  MQCTL(h, MQOP_START, &ctlo, &cc, &rc);
  IS(0, 0);
  char go[2];
  HOLDS(read(0, go, 1) == 1);
  MQCTL(h, MQOP_STOP, &ctlo, &cc, &rc);
  IS(0, 0);
  HOLDS(told == 1 && consumed == 3);
  HOLDS(reconnecting == 2 && reconnected == 2);
"#;

#[test]
fn consumers_and_message_handles_go_on() {
    let mut place = Place::lasting();
    let binary = place.c_with("consumes", "mqic_r", &format!("{BEGIN}{CONSUMER}"), CONSUMES);
    let mut running = Running::start(&mut place.command(&binary));
    running.is_ready();
    place.start_again();
    running.go();
    // The first is got, and not committed.
    place.put("APP.Q", b"first");
    running.is_ready();
    place.start_again();
    // It comes again, and another one behind it.
    running.is_ready();
    place.put("APP.Q", b"second");
    running.is_ready();
    assert_eq!(place.depth("APP.Q"), 0);
    running.go();
    running.ends_well();
}

#[test]
fn a_program_is_not_kept_waiting_longer_than_it_has_patience() {
    let place = Place::open();
    let main = r#"
  MQHCONN h = connect_with("QM1", MQCNO_RECONNECT);
  MQHOBJ o = open_queue(h, "APP.Q", MQOO_INPUT_SHARED);
  char b[16];
  printf("ready\n");
  fflush(stdout);
  get(h, o, b, 16, MQGMO_NO_SYNCPOINT | MQGMO_WAIT, MQWI_UNLIMITED);
  IS(MQCC_FAILED, MQRC_RECONNECT_FAILED);
  MQDISC(&h, &cc, &rc);
  IS(MQCC_FAILED, MQRC_RECONNECT_FAILED);
"#;
    let binary = place.built("impatient", main);
    let mut command = place.command(&binary);
    impatient(&place, &mut command);
    let mut running = Running::start(&mut command);
    running.is_ready();
    place.server.close();
    running.ends_well();
}
