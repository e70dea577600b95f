//! C programs reach a queue manager over the network as if it were theirs.

#![allow(clippy::unwrap_used)] // a test that fails says where

use std::io::BufRead as _;
use std::process::Stdio;

use queue_manager::objects::Kind;

use crate::common::{Anna, Place, certificates, define, ended, run};

/// Puts, gets, backs out, inquires, waits.
const WHOLE: &str = r#"
  MQHCONN h = connect_to("QM1");
  IS(0, 0);
  HOLDS(connect_to("QM1") == h);
  IS(MQCC_WARNING, MQRC_ALREADY_CONNECTED);
  MQHOBJ o = open_queue(h, "APP.Q", MQOO_OUTPUT | MQOO_INPUT_SHARED | MQOO_INQUIRE);
  IS(0, 0);
  char b[16];
  put(h, o, "hello", 5, MQPMO_SYNCPOINT);
  IS(0, 0);
  HOLDS(get(h, o, b, 16, MQGMO_SYNCPOINT, 0) == 5);
  IS(0, 0);
  MQBACK(h, &cc, &rc);
  IS(0, 0);
  get(h, o, b, 16, MQGMO_SYNCPOINT, 0);
  IS(MQCC_FAILED, MQRC_NO_MSG_AVAILABLE);
  put(h, o, "again", 5, MQPMO_SYNCPOINT);
  MQCMIT(h, &cc, &rc);
  IS(0, 0);
  MQLONG selector = MQIA_CURRENT_Q_DEPTH, depth = -1;
  MQINQ(h, o, 1, &selector, 1, &depth, 0, NULL, &cc, &rc);
  IS(0, 0);
  HOLDS(depth == 1);
  HOLDS(get(h, o, b, 16, MQGMO_NO_SYNCPOINT | MQGMO_WAIT, 1000) == 5 && memcmp(b, "again", 5) == 0);
  IS(0, 0);
  get(h, o, b, 16, MQGMO_WAIT, 300);
  IS(MQCC_FAILED, MQRC_NO_MSG_AVAILABLE);
  char *out = malloc(3000000), *in = malloc(3000000);
  for (int i = 0; i < 3000000; i++) out[i] = (char)(i * 7 + i / 251);
  put(h, o, out, 3000000, MQPMO_NO_SYNCPOINT);
  IS(0, 0);
  HOLDS(get(h, o, in, 3000000, MQGMO_NO_SYNCPOINT, 0) == 3000000 && !memcmp(in, out, 3000000));
  MQCLOSE(h, &o, 0, &cc, &rc);
  IS(0, 0);
  MQDISC(&h, &cc, &rc);
  IS(0, 0);
"#;

#[test]
fn a_program_puts_gets_commits_and_backs_out() {
    let place = Place::open();
    for library in ["mqic_r", "mqic"] {
        run(&mut place.command(&place.c(library, library, WHOLE)));
    }
    assert_eq!(place.depth("APP.Q"), 0);
    assert_eq!((place.server.counted().accepted, place.server.counted().refused), (2, 0));
}

#[test]
fn a_program_of_the_other_library_goes_over_the_network_if_it_says_so() {
    let place = Place::open();
    let main = r#"
  MQHCONN h = MQHC_UNUSABLE_HCONN;
  MQCNO cno = {MQCNO_DEFAULT};
  MQCD cd = {MQCD_CLIENT_CONN_DEFAULT};
  char name[49] = "QM1";
  if (getenv("DESCRIBED")) {
    cno.Version = MQCNO_VERSION_2;
    cno.ClientConnPtr = &cd;
    strncpy(cd.ChannelName, "TO.QM1", 20);
    snprintf(cd.ConnectionName, 264, "127.0.0.1(%s)", getenv("PORT"));
  }
  if (getenv("OPTION")) cno.Options = MQCNO_CLIENT_BINDING;
  MQCONNX(name, &cno, &h, &cc, &rc);
  if (rc == 0) { MQDISC(&h, &cc, &rc); }
  printf("%d\n", rc);
"#;
    let binary = place.c("bindings", "mqm_r", main);
    let answer = |settings: &[(&str, &str)], without: &str| {
        let mut command = place.command(&binary);
        // No system of this machine is found by accident.
        command.env("HOLDFAST_SYSTEM", "/nowhere").env("XDG_RUNTIME_DIR", "/nowhere");
        command.envs(settings.iter().copied()).env_remove(without);
        String::from_utf8_lossy(&ended(&mut command).stdout).trim().to_owned()
    };
    assert_ne!(answer(&[], ""), "0", "it is not asked to");
    assert_eq!(answer(&[("OPTION", "1")], ""), "0");
    assert_eq!(answer(&[("MQ_CONNECT_TYPE", "CLIENT")], ""), "0");
    assert_eq!(answer(&[("OPTION", "1"), ("DESCRIBED", "1")], "MQSERVER"), "0");
    assert_eq!(answer(&[("OPTION", "1")], "MQSERVER"), "2059");
}

#[test]
fn a_table_of_channels_leads_to_the_queue_manager() {
    let place = Place::open();
    let binary = place.c(
        "table",
        "mqic_r",
        r#"
  MQHCONN h = connect_to(getenv("NAME"));
  if (rc == 0) MQDISC(&h, &cc, &rc);
  printf("%d\n", rc);
"#,
    );
    let table = format!(
        r#"{{ "channel": [ {{ "name": "TO.QM1", "type": "clientConnection", "clientConnection": {{
        "queueManager": "GROUP", "connection": [ {{ "host": "127.0.0.1", "port": 1 }},
        {{ "host": "localhost", "port": {} }} ] }} }} ] }}"#,
        place.port()
    );
    let file = place.file("ccdt.json", &table);
    let answer = |name: &str| {
        let mut command = place.command(&binary);
        command.env_remove("MQSERVER").env("NAME", name);
        command.env("MQCCDTURL", format!("file://{}", file.display()));
        String::from_utf8_lossy(&ended(&mut command).stdout).trim().to_owned()
    };
    assert_eq!(answer("*GROUP"), "0", "whichever is there, at the second place");
    assert_eq!(answer("GROUP"), "2058", "the one that is there has another name");
    assert_eq!(answer("OTHER"), "2058", "the table has none");
}

#[test]
fn reasons_say_what_keeps_a_program_away() {
    let place = Place::open();
    define(
        &place.manager,
        Kind::Channel,
        "SMALL",
        &[("CHLTYPE", "SVRCONN"), ("MAXMSGL", "1000"), ("MAXINST", "1")],
    );
    define(&place.manager, Kind::Channel, "SECRET", &[("CHLTYPE", "SVRCONN"), ("SSLCIPH", "ANY")]);
    place.program(
        "reasons",
        r#"
  char server[100], b[2000] = "";
  #define BY(channel, port) snprintf(server, 100, channel "/TCP/127.0.0.1(%s)", port); \
    setenv("MQSERVER", server, 1)
  BY("NO.SUCH", getenv("PORT"));
  connect_to("QM1");
  IS(2, MQRC_UNKNOWN_CHANNEL_NAME);
  BY("SYSTEM.DEF.SVRCONN", getenv("PORT"));
  connect_to("QM1");
  IS(2, MQRC_NOT_AUTHORIZED);
  BY("SECRET", getenv("PORT"));
  connect_to("QM1");
  IS(2, MQRC_SSL_INITIALIZATION_ERROR);
  BY("TO.QM1", "1");
  connect_to("QM1");
  IS(2, MQRC_HOST_NOT_AVAILABLE);
  BY("TO.QM1", "x");
  connect_to("QM1");
  IS(2, MQRC_CHANNEL_CONFIG_ERROR);
  BY("TO.QM1", getenv("PORT"));
  connect_to("QM2");
  IS(2, MQRC_Q_MGR_NAME_ERROR);
  connect_as("anna", "sesame");
  IS(2, MQRC_NOT_AUTHORIZED);
  BY("SMALL", getenv("PORT"));
  MQHCONN h = connect_to("QM1");
  IS(0, 0);
  MQHOBJ o = open_queue(h, "APP.Q", MQOO_OUTPUT | MQOO_INPUT_SHARED);
  put(h, o, b, 1001, MQPMO_NO_SYNCPOINT);
  IS(2, MQRC_DATA_LENGTH_ERROR);
  get(h, o, b, 1001, MQGMO_NO_SYNCPOINT, 0);
  IS(2, MQRC_DATA_LENGTH_ERROR);
  put(h, o, b, 1000, MQPMO_NO_SYNCPOINT);
  IS(0, 0);
  HOLDS(get(h, o, b, 1000, MQGMO_NO_SYNCPOINT, 0) == 1000);
  MQCNO cno = {MQCNO_DEFAULT};
  MQHCONN second = MQHC_UNUSABLE_HCONN;
  cno.Options = MQCNO_HANDLE_SHARE_BLOCK;
  MQCONNX("", &cno, &second, &cc, &rc);
  IS(2, MQRC_MAX_CONNS_LIMIT_REACHED);
  MQDISC(&h, &cc, &rc);
  IS(0, 0);
"#,
    );
}

#[test]
fn a_program_that_is_killed_or_cut_off_is_backed_out() {
    let place = Place::open();
    let main = r#"
  MQHCONN h = connect_to("QM1");
  MQHOBJ o = open_queue(h, "APP.Q", MQOO_OUTPUT | MQOO_INPUT_SHARED);
  char b[16];
  put(h, o, "kept", 4, MQPMO_NO_SYNCPOINT);
  put(h, o, "lost", 4, MQPMO_SYNCPOINT);
  get(h, o, b, 16, MQGMO_SYNCPOINT, 0);
  IS(0, 0);
  printf("ready\n");
  fflush(stdout);
  get(h, o, b, 16, MQGMO_SYNCPOINT | MQGMO_WAIT, MQWI_UNLIMITED);
  HOLDS(get(h, o, b, 16, MQGMO_SYNCPOINT | MQGMO_WAIT, MQWI_UNLIMITED) == -1 || rc != 0);
  IS(MQCC_FAILED, MQRC_CONNECTION_BROKEN);
  MQCMIT(h, &cc, &rc);
  IS(MQCC_FAILED, MQRC_CONNECTION_BROKEN);
  MQDISC(&h, &cc, &rc);
  HOLDS(rc == MQRC_CONNECTION_BROKEN);
  HOLDS(h == MQHC_UNUSABLE_HCONN);
"#;
    let binary = place.c("killed", "mqic_r", main);
    let begun = || {
        let mut child = place.command(&binary).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let output = std::io::BufReader::new(child.stdout.take().unwrap());
        let output = &mut { output };
        output.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        child
    };
    let mut killed = begun();
    killed.kill().unwrap();
    killed.wait().unwrap();
    let mut checks =
        place.manager.connect(queue_manager::options::ConnectOptions::default()).unwrap();
    let mut what = queue_manager::options::ObjectDescriptor::queue("APP.Q");
    let (queue, _) = checks.open(&mut what, 2).unwrap();
    let mut next = || {
        let mut options = queue_manager::options::GetOptions::new(1 | 4 | 0x40);
        options.wait_interval = 30_000;
        let mut data = Vec::new();
        let mut descriptor = queue_manager::MessageDescriptor::default();
        checks.get(queue, &mut descriptor, &mut options, 100, &mut data).unwrap();
        data
    };
    assert_eq!(next(), b"kept");
    let cut = begun();
    place.server.close();
    let done = seam::process::finish(cut, crate::common::LONG).unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    assert_eq!(next(), b"kept");
    assert_eq!(place.depth("APP.Q"), 0);
}

#[test]
fn messages_are_consumed_by_programs_that_are_called_back() {
    let place = Place::open();
    place.program(
        "consumes",
        r#"
  MQHCONN h = connect_to("QM1");
  MQHOBJ o = open_queue(h, "APP.Q", MQOO_OUTPUT | MQOO_INPUT_SHARED);
  MQCBD cbd = {MQCBD_DEFAULT};
  MQMD md = {MQMD_DEFAULT};
  MQGMO gmo = {MQGMO_DEFAULT};
  MQCTLO ctlo = {MQCTLO_DEFAULT};
  extern MQLONG seen;
  extern void taken(MQHCONN, MQMD *, MQGMO *, void *, MQCBC *);
  gmo.Options = MQGMO_NO_SYNCPOINT;
  cbd.CallbackFunction = (MQPTR)taken;
  MQCB(h, MQOP_REGISTER, &cbd, o, &md, &gmo, &cc, &rc);
  IS(0, 0);
  for (int i = 0; i < 20; i++) put(h, o, "x", 1, MQPMO_NO_SYNCPOINT);
  MQCTL(h, MQOP_START, &ctlo, &cc, &rc);
  IS(0, 0);
  for (int i = 0; i < 3000 && seen < 20; i++) usleep(10000);
  HOLDS(seen == 20);
  MQCTL(h, MQOP_STOP, &ctlo, &cc, &rc);
  IS(0, 0);
  MQDISC(&h, &cc, &rc);
  IS(0, 0);
  return 0;
}
MQLONG seen;
void taken(MQHCONN h, MQMD *md, MQGMO *gmo, void *data, MQCBC *context) {
  if (context->CallType == MQCBCT_MSG_REMOVED) __atomic_add_fetch(&seen, 1, __ATOMIC_SEQ_CST);
}
int unused(void) {
"#,
    );
}

#[test]
fn calls_travel_over_tls_to_whom_the_program_believes() {
    let place = Place::new(Anna::default(), true);
    let main = r#"
  MQHCONN h = connect_as("anna", "sesame");
  IS(0, 0);
  MQHOBJ o = open_queue(h, "APP.Q", MQOO_OUTPUT | MQOO_INPUT_SHARED);
  char *out = calloc(1, 3000000);
  put(h, o, out, 3000000, MQPMO_SYNCPOINT);
  IS(0, 0);
  HOLDS(get(h, o, out, 3000000, MQGMO_SYNCPOINT | MQGMO_WAIT, 100) == 3000000);
  get(h, o, out, 3000000, MQGMO_SYNCPOINT | MQGMO_WAIT, 700);
  IS(MQCC_FAILED, MQRC_NO_MSG_AVAILABLE);
  MQDISC(&h, &cc, &rc);
  IS(0, 0);
"#;
    let binary = place.c("tls", "mqic_r", main);
    let with = |settings: &[(&str, &str)]| {
        let mut command = place.command(&binary);
        command.envs(settings.iter().copied());
        ended(&mut command)
    };
    let file = |name: &str| certificates().join(name).display().to_string();
    let (root, other) = (file("ca.pem"), file("qm2.pem"));
    let done = with(&[("HOLDFAST_MQ_CA", &root)]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    let done = with(&[("MQSSLKEYR", root.trim_end_matches(".pem"))]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    let refused = |settings: &[(&str, &str)]| {
        String::from_utf8_lossy(&with(settings).stdout).trim().to_owned()
    };
    assert!(refused(&[("HOLDFAST_MQ_CA", &other)]).ends_with(" 2393"), "somebody else");
    assert!(refused(&[("HOLDFAST_MQ_CA", "/nowhere")]).ends_with(" 2381"), "no such file");
}
