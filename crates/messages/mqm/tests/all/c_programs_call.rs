//! C programs, compiled with our header and linked with our library.

#![allow(clippy::unwrap_used)] // a test that fails says where

use crate::fake::Fake;
use crate::place::{HEAD, Place, program, real_manager, run};

/// The calls that most programs make.
const WHOLE: &str = r#"
  MQHCONN h = connect_to("QM1");
  IS(0, 0);
  HOLDS(connect_to("QM1") == h);
  IS(MQCC_WARNING, MQRC_ALREADY_CONNECTED);
  MQHOBJ o = open_queue(h, "APP.Q", MQOO_OUTPUT | MQOO_INPUT_SHARED | MQOO_INQUIRE);
  IS(0, 0);
  MQMD md = {MQMD_DEFAULT};
  MQPMO pmo = {MQPMO_DEFAULT};
  memcpy(md.Format, MQFMT_STRING, 8);
  pmo.Options = MQPMO_SYNCPOINT;
  MQPUT(h, o, &md, &pmo, 5, "hello", &cc, &rc);
  IS(0, 0);
  HOLDS(memcmp(md.MsgId, "AMQ ", 4) == 0);
  HOLDS(memcmp(pmo.ResolvedQName, "APP.Q  ", 7) == 0);
  MQLONG selectors[2] = {MQIA_CURRENT_Q_DEPTH, MQCA_Q_NAME}, depth = -1;
  char text[48];
  MQINQ(h, o, 2, selectors, 1, &depth, 48, text, &cc, &rc);
  IS(0, 0);
  HOLDS(depth == 0 && memcmp(text, "APP.Q ", 6) == 0);
  MQINQ(h, o, 2, selectors, 1, &depth, 3, text, &cc, &rc);
  IS(MQCC_WARNING, MQRC_CHAR_ATTRS_TOO_SHORT);
  MQCMIT(h, &cc, &rc);
  IS(0, 0);
  MQINQ(h, o, 1, selectors, 1, &depth, 0, NULL, &cc, &rc);
  IS(0, 0);
  HOLDS(depth == 1);
  MQMD md2 = {MQMD2_DEFAULT};
  md2.Version = 2;
  MQGMO gmo = {MQGMO_DEFAULT};
  gmo.Options = MQGMO_SYNCPOINT;
  MQLONG length = -1;
  char buffer[10] = "..........";
  MQGET(h, o, &md2, &gmo, 3, buffer, &length, &cc, &rc);
  IS(MQCC_WARNING, MQRC_TRUNCATED_MSG_FAILED);
  HOLDS(length == 5 && buffer[3] == '.');
  MQGET(h, o, &md2, &gmo, 10, buffer, &length, &cc, &rc);
  IS(0, 0);
  HOLDS(length == 5 && memcmp(buffer, "hello.", 6) == 0);
  HOLDS(memcmp(md2.Format, MQFMT_STRING, 8) == 0 && memcmp(md2.MsgId, md.MsgId, 24) == 0);
  MQBACK(h, &cc, &rc);
  IS(0, 0);
  memset(md2.MsgId, 0, 24);
  MQGET(h, o, &md2, &gmo, 10, buffer, &length, &cc, &rc);
  IS(0, 0);
  HOLDS(md2.BackoutCount == 1);
  MQCMIT(h, &cc, &rc);
  IS(0, 0);
  gmo.Options = MQGMO_WAIT;
  gmo.WaitInterval = 300;
  MQGET(h, o, &md2, &gmo, 10, buffer, &length, &cc, &rc);
  IS(MQCC_FAILED, MQRC_NO_MSG_AVAILABLE);
  MQCLOSE(h, &o, 0, &cc, &rc);
  IS(0, 0);
  HOLDS(o == MQHO_UNUSABLE_HOBJ);
  open_queue(h, "NO.SUCH", MQOO_OUTPUT);
  IS(MQCC_FAILED, MQRC_UNKNOWN_OBJECT_NAME);
  MQDISC(&h, &cc, &rc);
  IS(0, 0);
  HOLDS(h == MQHC_UNUSABLE_HCONN);
  connect_to("QM2");
  IS(MQCC_FAILED, MQRC_Q_MGR_NAME_ERROR);
"#;

#[test]
fn a_program_puts_gets_commits_backs_out_and_inquires() {
    let manager = Fake::new("QM1", &["APP.Q"]);
    let place = Place::new(manager.clone());
    program(&place, "whole", WHOLE);
    assert_eq!(manager.depth("APP.Q"), 0);
}

#[test]
fn messages_of_many_lengths_come_back_whole() {
    let place = Place::new(Fake::new("QM1", &["APP.Q"]));
    program(
        &place,
        "lengths",
        r#"
  MQHCONN h = connect_to("");
  IS(0, 0);
  MQHOBJ o = open_queue(h, "APP.Q", MQOO_OUTPUT | MQOO_INPUT_SHARED);
  size_t lengths[] = {0, 1, 65535, 65536, 1000000, 33000000, 104857600};
  char *out = malloc(104857601), *in = malloc(104857601);
  for (size_t i = 0; i < 104857600; i++) out[i] = (char)(i * 7 + i / 251);
  for (int i = 0; i < 7; i++) {
    MQMD md = {MQMD_DEFAULT};
    MQPMO pmo = {MQPMO_DEFAULT};
    MQGMO gmo = {MQGMO_DEFAULT};
    MQLONG length = -1;
    MQPUT(h, o, &md, &pmo, (MQLONG)lengths[i], out, &cc, &rc);
    IS(0, 0);
    memset(md.MsgId, 0, 24);
    MQGET(h, o, &md, &gmo, 104857600, in, &length, &cc, &rc);
    IS(0, 0);
    HOLDS((size_t)length == lengths[i] && memcmp(in, out, lengths[i]) == 0);
  }
  MQMD md = {MQMD_DEFAULT};
  MQPMO pmo = {MQPMO_DEFAULT};
  MQPUT(h, o, &md, &pmo, 104857601, out, &cc, &rc);
  IS(MQCC_FAILED, MQRC_MSG_TOO_BIG_FOR_Q_MGR);
  /* More room than any message takes is no error. */
  MQGMO gmo = {MQGMO_DEFAULT};
  MQLONG length = -1;
  MQPUT(h, o, &md, &pmo, 1, "x", &cc, &rc);
  IS(0, 0);
  memset(md.MsgId, 0, 24);
  MQGET(h, o, &md, &gmo, 104857601, in, &length, &cc, &rc);
  IS(0, 0);
  HOLDS(length == 1 && in[0] == 'x');
  MQDISC(&h, &cc, &rc);
  IS(0, 0);
"#,
    );
}

/// Calls with arguments that are wrong, one after another.
const HOSTILE: &str = r#"
  MQCONN("QM1", NULL, &cc, &rc);
  IS(2, MQRC_HCONN_ERROR);
  MQHCONN h = connect_to("QM1");
  MQHOBJ o = open_queue(h, "APP.Q", MQOO_OUTPUT | MQOO_INPUT_SHARED | MQOO_INQUIRE);
  MQMD md = {MQMD_DEFAULT};
  MQPMO pmo = {MQPMO_DEFAULT};
  MQGMO gmo = {MQGMO_DEFAULT};
  MQOD od = {MQOD_DEFAULT};
  MQLONG length;
  char b[8];
  MQPUT(12345, o, &md, &pmo, 0, b, &cc, &rc); IS(2, MQRC_HCONN_ERROR);
  MQPUT(0, o, &md, &pmo, 0, b, &cc, &rc); IS(2, MQRC_HCONN_ERROR);
  MQPUT(-1, o, &md, &pmo, 0, b, &cc, &rc); IS(2, MQRC_HCONN_ERROR);
  MQPUT(h, 999, &md, &pmo, 0, b, &cc, &rc); IS(2, MQRC_HOBJ_ERROR);
  MQPUT(h, o, NULL, &pmo, 0, b, &cc, &rc); IS(2, MQRC_MD_ERROR);
  MQPUT(h, o, &md, NULL, 0, b, &cc, &rc); IS(2, MQRC_PMO_ERROR);
  MQPUT(h, o, &md, &gmo, 0, b, &cc, &rc); IS(2, MQRC_PMO_ERROR);
  MQPUT(h, o, &md, &pmo, -1, b, &cc, &rc); IS(2, MQRC_BUFFER_LENGTH_ERROR);
  MQPUT(h, o, &md, &pmo, 5, NULL, &cc, &rc); IS(2, MQRC_BUFFER_ERROR);
  MQPUT(h, o, &md, &pmo, 0, NULL, &cc, &rc); IS(0, 0);
  md.Version = 3;
  MQPUT(h, o, &md, &pmo, 0, b, &cc, &rc); IS(2, MQRC_MD_ERROR);
  md.Version = 1;
  pmo.Version = 4;
  MQPUT(h, o, &md, &pmo, 0, b, &cc, &rc); IS(2, MQRC_PMO_ERROR);
  MQGET(h, o, NULL, &gmo, 8, b, &length, &cc, &rc); IS(2, MQRC_MD_ERROR);
  MQGET(h, o, &md, NULL, 8, b, &length, &cc, &rc); IS(2, MQRC_GMO_ERROR);
  MQGET(h, o, &md, &gmo, -5, b, &length, &cc, &rc); IS(2, MQRC_BUFFER_LENGTH_ERROR);
  MQGET(h, o, &md, &gmo, 8, NULL, &length, &cc, &rc); IS(2, MQRC_BUFFER_ERROR);
  MQGET(h, o, &md, &gmo, 8, b, NULL, &cc, &rc); IS(2, MQRC_DATA_LENGTH_ERROR);
  gmo.Version = 0;
  MQGET(h, o, &md, &gmo, 8, b, &length, &cc, &rc); IS(2, MQRC_GMO_ERROR);
  MQOPEN(h, NULL, MQOO_OUTPUT, &o, &cc, &rc); IS(2, MQRC_OD_ERROR);
  MQOPEN(h, &od, MQOO_OUTPUT, NULL, &cc, &rc); IS(2, MQRC_HOBJ_ERROR);
  od.StrucId[0] = 'X';
  MQOPEN(h, &od, MQOO_OUTPUT, &o, &cc, &rc); IS(2, MQRC_OD_ERROR);
  MQOD od4 = {MQOD_DEFAULT};
  od4.Version = 4;
  od4.RecsPresent = -1;
  MQOPEN(h, &od4, MQOO_OUTPUT, &o, &cc, &rc); IS(2, MQRC_RECS_PRESENT_ERROR);
  od4.RecsPresent = 2;
  MQOPEN(h, &od4, MQOO_OUTPUT, &o, &cc, &rc); IS(2, MQRC_OBJECT_RECORDS_ERROR);
  od4.RecsPresent = 0;
  od4.ObjectString.VSLength = 10;
  MQOPEN(h, &od4, MQOO_OUTPUT, &o, &cc, &rc); IS(2, MQRC_OBJECT_STRING_ERROR);
  od4.ObjectString.VSPtr = "text";
  od4.ObjectString.VSLength = -7;
  MQOPEN(h, &od4, MQOO_OUTPUT, &o, &cc, &rc); IS(2, MQRC_OBJECT_STRING_ERROR);
  MQLONG s = MQIA_CURRENT_Q_DEPTH, v;
  MQINQ(h, o, -1, &s, 1, &v, 0, NULL, &cc, &rc); IS(2, MQRC_SELECTOR_COUNT_ERROR);
  MQINQ(h, o, 257, &s, 1, &v, 0, NULL, &cc, &rc); IS(2, MQRC_SELECTOR_LIMIT_EXCEEDED);
  MQINQ(h, o, 1, NULL, 1, &v, 0, NULL, &cc, &rc); IS(2, MQRC_SELECTOR_ERROR);
  MQINQ(h, o, 1, &s, -1, &v, 0, NULL, &cc, &rc); IS(2, MQRC_INT_ATTR_COUNT_ERROR);
  MQINQ(h, o, 1, &s, 1, NULL, 0, NULL, &cc, &rc); IS(2, MQRC_INT_ATTRS_ARRAY_ERROR);
  MQINQ(h, o, 1, &s, 0, NULL, 0, NULL, &cc, &rc); IS(1, MQRC_INT_ATTR_COUNT_TOO_SMALL);
  MQINQ(h, o, 1, &s, 1, &v, -1, NULL, &cc, &rc); IS(2, MQRC_CHAR_ATTR_LENGTH_ERROR);
  s = MQCA_Q_NAME;
  MQINQ(h, o, 1, &s, 0, NULL, 8, NULL, &cc, &rc); IS(2, MQRC_CHAR_ATTRS_ERROR);
  MQHOBJ none = MQHO_UNUSABLE_HOBJ;
  MQCLOSE(h, NULL, 0, &cc, &rc); IS(2, MQRC_HOBJ_ERROR);
  MQCLOSE(h, &none, 0, &cc, &rc); IS(2, MQRC_HOBJ_ERROR);
  MQSUB(h, NULL, &o, &none, &cc, &rc); IS(2, MQRC_SD_ERROR);
  MQSTAT(h, 0, NULL, &cc, &rc); IS(2, MQRC_STS_ERROR);
  MQHMSG m = MQHM_NONE;
  MQCRTMH(h, NULL, NULL, &cc, &rc); IS(2, MQRC_HMSG_ERROR);
  MQDLTMH(h, &m, NULL, &cc, &rc); IS(2, MQRC_HMSG_ERROR);
  MQSETMP(h, m, NULL, NULL, NULL, MQTYPE_INT32, 4, &v, &cc, &rc); IS(2, MQRC_PROPERTY_NAME_ERROR);
  MQCHARV name = {MQCHARV_DEFAULT};
  name.VSPtr = "a";
  name.VSLength = 1;
  MQSETMP(h, m, NULL, &name, NULL, MQTYPE_STRING, -2, "b", &cc, &rc);
  IS(2, MQRC_BUFFER_LENGTH_ERROR);
  MQSETMP(h, m, NULL, &name, NULL, MQTYPE_STRING, MQVL_NULL_TERMINATED, NULL, &cc, &rc);
  IS(2, MQRC_BUFFER_ERROR);
  MQSETMP(h, m, NULL, &name, NULL, MQTYPE_INT32, MQVL_NULL_TERMINATED, &v, &cc, &rc);
  IS(2, MQRC_BUFFER_LENGTH_ERROR);
  MQCB(h, MQOP_REGISTER, NULL, o, &md, &gmo, &cc, &rc); IS(2, MQRC_CBD_ERROR);
  MQLONG never[] = {0, 77, MQOP_REGISTER | MQOP_DEREGISTER, MQOP_SUSPEND | MQOP_RESUME};
  for (int i = 0; i < 4; i++) {
    MQCB(h, never[i], NULL, o, &md, &gmo, &cc, &rc);
    IS(2, MQRC_OPERATION_ERROR);
  }
  MQCNO cno = {MQCNO_DEFAULT};
  cno.Options = 1 << 30;
  MQHCONN other;
  MQCONNX("QM1", &cno, &other, &cc, &rc); IS(2, MQRC_OPTIONS_ERROR);
  MQCTL(h, MQOP_START, NULL, &cc, &rc); IS(2, MQRC_NO_CALLBACKS_ACTIVE);
  MQCTL(h, 77, NULL, &cc, &rc); IS(2, MQRC_OPERATION_ERROR);
  MQCMIT(h, NULL, NULL);
  MQDISC(NULL, &cc, &rc); IS(2, MQRC_HCONN_ERROR);
  if (fork() == 0) {
    MQCMIT(h, &cc, &rc);
    _exit(cc == 2 && rc == MQRC_HCONN_ERROR ? 0 : 1);
  }
  MQDISC(&h, &cc, &rc);
  IS(0, 0);
"#;

#[test]
fn arguments_that_are_wrong_get_their_reason_and_never_crash() {
    let place = Place::new(Fake::new("QM1", &["APP.Q"]));
    program(&place, "hostile", HOSTILE);
}

#[test]
fn a_program_that_is_killed_is_backed_out() {
    let manager = Fake::new("QM1", &["APP.Q"]);
    let place = Place::new(manager.clone());
    let source = format!(
        r#"{HEAD}
int main(void) {{
  MQHCONN h = connect_to("QM1");
  MQHOBJ o = open_queue(h, "APP.Q", MQOO_OUTPUT | MQOO_INPUT_SHARED);
  MQMD md = {{MQMD_DEFAULT}};
  MQPMO pmo = {{MQPMO_DEFAULT}};
  MQPUT(h, o, &md, &pmo, 1, "a", &cc, &rc);
  MQGMO gmo = {{MQGMO_DEFAULT}};
  MQLONG length;
  char b[4];
  gmo.Options = MQGMO_SYNCPOINT | MQGMO_WAIT;
  memset(md.MsgId, 0, 24);
  MQGET(h, o, &md, &gmo, 4, b, &length, &cc, &rc);
  IS(0, 0);
  puts("got");
  fflush(stdout);
  gmo.WaitInterval = MQWI_UNLIMITED;
  memset(md.MsgId, 7, 24);
  memset(md.CorrelId, 7, 24);
  MQGET(h, o, &md, &gmo, 4, b, &length, &cc, &rc);
  return 1;
}}
"#
    );
    let binary = place.c("killed", &source);
    let mut command = place.program(binary);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let printed = seam::process::line(child.stdout.as_mut().unwrap(), crate::place::LONG).unwrap();
    assert_eq!((printed.as_str(), manager.depth("APP.Q")), ("got", 0));
    child.kill().unwrap();
    seam::process::wait(&mut child, crate::place::LONG).unwrap();
    let tries = (0..200).find(|_| {
        std::thread::sleep(std::time::Duration::from_millis(25));
        manager.depth("APP.Q") == 1
    });
    assert!(tries.is_some(), "the message is back on its queue");
    assert_eq!(place.server.as_ref().unwrap().connections(), 0);
}

/// A program that has messages of two queues brought to it.
const CONSUMERS: &str = r#"
static int seen_a, seen_b, empty;
static void consume(MQHCONN h, PMQVOID md, PMQVOID gmo, PMQVOID buffer, PMQCBC context) {
  MQLONG c, r;
  int *count = context->CallbackArea;
  HOLDS(context->ConnectionArea == (MQPTR)&cc);
  if (context->CallType == MQCBCT_MSG_NOT_REMOVED) {
    HOLDS(context->Reason == MQRC_NO_MSG_AVAILABLE);
    empty++;
    return;
  }
  HOLDS(context->CallType == MQCBCT_MSG_REMOVED && context->CompCode == 0);
  HOLDS(context->DataLength == 3 && memcmp(buffer, "abc", 3) == 0);
  HOLDS(memcmp(((PMQMD)md)->StrucId, "MD  ", 4) == 0 && ((PMQGMO)gmo)->Version == 1);
  (*count)++;
  MQCMIT(h, &c, &r);
  HOLDS(c == 0);
}
int main(void) {
  MQHCONN h = MQHC_UNUSABLE_HCONN;
  MQCNO cno = {MQCNO_DEFAULT};
  cno.Options = MQCNO_HANDLE_SHARE_BLOCK;
  cno.Version = 5;
  MQCONNX("QM1", &cno, &h, &cc, &rc);
  IS(0, 0);
  HOLDS(memcmp(cno.ConnectionId, "AMQCQM1 ", 8) == 0);
  MQHOBJ a = open_queue(h, "A", MQOO_OUTPUT | MQOO_INPUT_SHARED);
  MQHOBJ b = open_queue(h, "B", MQOO_OUTPUT | MQOO_INPUT_SHARED);
  MQMD md = {MQMD_DEFAULT};
  MQGMO gmo = {MQGMO_DEFAULT};
  gmo.Options = MQGMO_SYNCPOINT;
  MQCBD cbd = {MQCBD_DEFAULT};
  cbd.CallbackFunction = (MQPTR)consume;
  cbd.CallbackArea = &seen_a;
  MQCB(h, MQOP_REGISTER, &cbd, a, &md, &gmo, &cc, &rc);
  IS(0, 0);
  cbd.CallbackArea = &seen_b;
  MQCB(h, MQOP_REGISTER, &cbd, b, &md, &gmo, &cc, &rc);
  IS(0, 0);
  MQCTLO ctlo = {MQCTLO_DEFAULT};
  ctlo.ConnectionArea = &cc;
  MQCTL(h, MQOP_START, &ctlo, &cc, &rc);
  IS(0, 0);
  MQLONG c2, r2;
  MQCMIT(h, &c2, &r2);
  HOLDS(c2 == 2 && r2 == MQRC_HCONN_ASYNC_ACTIVE);
  MQHCONN other = MQHC_UNUSABLE_HCONN;
  MQCONNX("QM1", &cno, &other, &cc, &rc);
  MQHOBJ oa = open_queue(other, "A", MQOO_OUTPUT), ob = open_queue(other, "B", MQOO_OUTPUT);
  for (int i = 0; i < 50; i++) {
    MQPMO pmo = {MQPMO_DEFAULT};
    MQMD one = {MQMD_DEFAULT};
    MQPUT(other, i % 2 ? oa : ob, &one, &pmo, 3, "abc", &cc, &rc);
    IS(0, 0);
  }
  for (int i = 0; i < 500 && seen_a + seen_b < 50; i++) usleep(10000);
  HOLDS(seen_a == 25 && seen_b == 25);
  MQCTL(h, MQOP_SUSPEND, &ctlo, &cc, &rc);
  IS(0, 0);
  MQCMIT(h, &cc, &rc);
  IS(0, 0);
  MQPMO pmo = {MQPMO_DEFAULT};
  MQPUT(h, a, &md, &pmo, 3, "abc", &cc, &rc);
  IS(0, 0);
  usleep(300000);
  HOLDS(seen_a == 25);
  MQCTL(h, MQOP_RESUME, &ctlo, &cc, &rc);
  IS(0, 0);
  for (int i = 0; i < 500 && seen_a < 26; i++) usleep(10000);
  HOLDS(seen_a == 26);
  /* Each of the two is told that there is no message, however long a look takes. */
  for (int i = 0; i < 6000 && empty < 2; i++) usleep(10000);
  HOLDS(empty >= 2);
  MQCTL(h, MQOP_STOP, &ctlo, &cc, &rc);
  IS(0, 0);
  MQCB(h, MQOP_DEREGISTER, &cbd, a, NULL, NULL, &cc, &rc);
  IS(0, 0);
  MQDISC(&h, &cc, &rc);
  IS(0, 0);
  return 0;
}
"#;

#[test]
fn messages_are_consumed_by_programs_that_are_called_back() {
    let place = Place::new(Fake::new("QM1", &["A", "B"]));
    let source = format!("{HEAD}{CONSUMERS}");
    run(&mut place.program(place.c("consumers", &source)));
}

/// Calls on message handles and subscriptions.
const PROPERTIES: &str = r#"
  MQHCONN h = connect_to("QM1");
  MQHMSG m = MQHM_UNUSABLE_HMSG;
  MQCMHO cmho = {MQCMHO_DEFAULT};
  MQCRTMH(h, &cmho, &m, &cc, &rc);
  IS(0, 0);
  MQSMPO smpo = {MQSMPO_DEFAULT};
  MQPD pd = {MQPD_DEFAULT};
  MQCHARV name = {MQCHARV_DEFAULT};
  name.VSPtr = "colour";
  name.VSLength = MQVS_NULL_TERMINATED;
  MQSETMP(h, m, &smpo, &name, &pd, MQTYPE_STRING, MQVL_NULL_TERMINATED, "blue", &cc, &rc);
  IS(0, 0);
  MQLONG number = 42, type = MQTYPE_AS_SET, length = 0;
  name.VSPtr = "count";
  MQSETMP(h, m, &smpo, &name, &pd, MQTYPE_INT32, 3, &number, &cc, &rc);
  IS(2, MQRC_PROPERTY_TYPE_ERROR);
  MQSETMP(h, m, &smpo, &name, &pd, MQTYPE_INT32, 4, &number, &cc, &rc);
  IS(0, 0);
  MQIMPO impo = {MQIMPO_DEFAULT};
  char found[32], value[32];
  impo.ReturnedName.VSPtr = found;
  impo.ReturnedName.VSBufSize = 32;
  name.VSPtr = "%";
  MQINQMP(h, m, &impo, &name, &pd, &type, 2, value, &length, &cc, &rc);
  IS(2, MQRC_PROPERTY_VALUE_TOO_BIG);
  HOLDS(length == 4 && type == MQTYPE_STRING);
  impo.Options = MQIMPO_INQ_PROP_UNDER_CURSOR;
  MQINQMP(h, m, &impo, &name, &pd, &type, 32, value, &length, &cc, &rc);
  IS(0, 0);
  HOLDS(memcmp(value, "blue", 4) == 0 && impo.ReturnedName.VSLength == 6);
  HOLDS(memcmp(found, "colour", 6) == 0);
  impo.Options = MQIMPO_INQ_NEXT | MQIMPO_CONVERT_TYPE;
  type = MQTYPE_STRING;
  MQINQMP(h, m, &impo, &name, &pd, &type, 32, value, &length, &cc, &rc);
  IS(0, 0);
  HOLDS(length == 2 && memcmp(value, "42", 2) == 0);
  impo.Options = MQIMPO_INQ_NEXT;
  MQINQMP(h, m, &impo, &name, &pd, &type, 32, value, &length, &cc, &rc);
  IS(2, MQRC_PROPERTY_NOT_AVAILABLE);
  MQMHBO mhbo = {MQMHBO_DEFAULT};
  MQMD md = {MQMD_DEFAULT};
  MQMHBUF(h, m, &mhbo, &name, &md, 4, value, &length, &cc, &rc);
  IS(2, MQRC_PROPERTY_VALUE_TOO_BIG);
  MQMHBUF(h, m, &mhbo, &name, &md, 32, value, &length, &cc, &rc);
  IS(0, 0);
  HOLDS(length == 10 && memcmp(value, "RFH buffer", 10) == 0);
  HOLDS(memcmp(md.Format, MQFMT_RF_HEADER_2, 8) == 0);
  MQBMHO bmho = {MQBMHO_DEFAULT};
  MQBUFMH(h, m, &bmho, &md, 10, value, &length, &cc, &rc);
  IS(0, 0);
  HOLDS(length == 5 && memcmp(value, "uffer", 5) == 0);
  MQDLTMH(h, &m, NULL, &cc, &rc);
  IS(0, 0);
  MQSD sd = {MQSD_DEFAULT};
  MQHOBJ o = MQHO_NONE, s = MQHO_UNUSABLE_HOBJ;
  char topic[8];
  sd.Options = MQSO_CREATE | MQSO_MANAGED;
  sd.ObjectString.VSPtr = "price/fruit";
  sd.ObjectString.VSLength = 11;
  sd.ResObjectString.VSPtr = topic;
  sd.ResObjectString.VSBufSize = 8;
  MQSUB(h, &sd, &o, &s, &cc, &rc);
  IS(0, 0);
  HOLDS(o > 100 && s > 0 && sd.ResObjectString.VSLength == 11);
  HOLDS(memcmp(topic, "price/fr", 8) == 0);
  MQSRO sro = {MQSRO_DEFAULT};
  MQSUBRQ(h, s, MQSR_ACTION_PUBLICATION, &sro, &cc, &rc);
  IS(0, 0);
  HOLDS(sro.NumPubs == 2);
  MQSTS sts = {MQSTS_DEFAULT};
  MQSTAT(h, MQSTAT_TYPE_ASYNC_ERROR, &sts, &cc, &rc);
  IS(0, 0);
  HOLDS(sts.PutSuccessCount == 3);
  char ebcdic[8], ascii[8];
  MQXCNVC(h, 0, 1208, 5, "HELLO", 37, 8, ebcdic, &length, &cc, &rc);
  IS(0, 0);
  HOLDS(length == 5 && (unsigned char)ebcdic[0] == 0xC8);
  MQXCNVC(h, 0, 37, 5, ebcdic, 819, 4, ascii, &length, &cc, &rc);
  IS(1, MQRC_CONVERTED_MSG_TOO_BIG);
  MQXCNVC(h, 0, 37, 5, ebcdic, 12345, 8, ascii, &length, &cc, &rc);
  IS(2, MQRC_TARGET_CCSID_ERROR);
  MQDISC(&h, &cc, &rc);
  IS(0, 0);
"#;

#[test]
fn properties_and_subscriptions_come_and_go() {
    let place = Place::new(Fake::new("QM1", &["APP.Q"]));
    program(&place, "properties", PROPERTIES);
}

#[test]
fn without_a_system_the_reason_says_so() {
    let place = Place::new(Fake::new("QM1", &[]));
    let binary = place.c(
        "nobody",
        &format!(
            r#"{HEAD}
int main(void) {{
  connect_to("QM1");
  IS(MQCC_FAILED, MQRC_Q_MGR_NOT_AVAILABLE);
  unsetenv("HOLDFAST_SYSTEM");
  setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
  connect_to("NOBODY.IS.CALLED.SO");
  IS(MQCC_FAILED, MQRC_Q_MGR_NAME_ERROR);
  return 0;
}}
"#
        ),
    );
    run(place.program(binary).env("HOLDFAST_SYSTEM", place.folder.join("elsewhere")));
}

#[test]
fn a_descriptor_of_the_first_version_has_its_rest_in_front_of_the_data() {
    let place = Place::new(real_manager(&["APP.Q"]));
    program(
        &place,
        "extension",
        r#"
  MQHCONN h = connect_to("QM1");
  MQHOBJ q = open_queue(h, "APP.Q", MQOO_OUTPUT | MQOO_INPUT_SHARED);
  IS(0, 0);
  MQMD whole = {MQMD_DEFAULT}, old = {MQMD_DEFAULT};
  MQPMO pmo = {MQPMO_DEFAULT};
  MQGMO gmo = {MQGMO_DEFAULT};
  whole.Version = MQMD_VERSION_2;
  whole.MsgFlags = MQMF_MSG_IN_GROUP;
  memset(whole.GroupId, 7, sizeof whole.GroupId);
  memcpy(whole.Format, MQFMT_STRING, sizeof whole.Format);
  pmo.Options = MQPMO_NO_SYNCPOINT;
  MQPUT(h, q, &whole, &pmo, 4, "text", &cc, &rc);
  IS(0, 0);
  /* What is behind the first version is none of the call's affair. */
  memset(old.GroupId, 9, sizeof old.GroupId);
  _Alignas(8) char data[80];
  MQLONG length;
  gmo.Options = MQGMO_NO_SYNCPOINT | MQGMO_CONVERT;
  MQGET(h, q, &old, &gmo, sizeof data, data, &length, &cc, &rc);
  IS(0, 0);
  HOLDS(length == 76 && memcmp(data, "MDE ", 4) == 0 && memcmp(data + 72, "text", 4) == 0);
  HOLDS(memcmp(old.Format, MQFMT_MD_EXTENSION, 8) == 0 && old.GroupId[0] == 9);
  MQMDE *rest = (MQMDE *)data;
  HOLDS(rest->MsgFlags == MQMF_MSG_IN_GROUP && rest->GroupId[23] == 7);
  HOLDS(memcmp(rest->Format, MQFMT_STRING, 8) == 0);
  /* It goes back as it came. */
  pmo.Options |= MQPMO_NEW_MSG_ID;
  MQPUT(h, q, &old, &pmo, length, data, &cc, &rc);
  IS(0, 0);
  MQMD after = {MQMD_DEFAULT};
  after.Version = MQMD_VERSION_2;
  MQGET(h, q, &after, &gmo, sizeof data, data, &length, &cc, &rc);
  IS(0, 0);
  HOLDS(length == 4 && after.MsgFlags == MQMF_MSG_IN_GROUP && after.GroupId[0] == 7);
  HOLDS(memcmp(after.Format, MQFMT_STRING, 8) == 0);
  old.Encoding = 0;
  MQPUT(h, q, &old, &pmo, 10, "MDE cut   ", &cc, &rc);
  IS(MQCC_FAILED, MQRC_MDE_ERROR);
"#,
    );
}

/// Properties set here go with messages of two connections, and come back by a third one.
const LOOSE: &str = r#"
  MQHMSG m = MQHM_UNUSABLE_HMSG, bad = 5;
  MQCMHO cmho = {MQCMHO_DEFAULT};
  MQSMPO smpo = {MQSMPO_DEFAULT};
  MQIMPO impo = {MQIMPO_DEFAULT};
  MQDMPO dmpo = {MQDMPO_DEFAULT};
  MQDMHO dmho = {MQDMHO_DEFAULT};
  MQPD pd = {MQPD_DEFAULT};
  MQHCONN none = MQHC_UNASSOCIATED_HCONN;
  MQCRTMH(none, &cmho, &m, &cc, &rc);
  IS(0, 0);
  MQCHARV name = {MQCHARV_DEFAULT};
  name.VSPtr = "colour";
  name.VSLength = MQVS_NULL_TERMINATED;
  MQSETMP(none, m, &smpo, &name, &pd, MQTYPE_STRING, 3, "red", &cc, &rc);
  IS(0, 0);
  MQSETMP(none, bad, &smpo, &name, &pd, MQTYPE_STRING, 3, "red", &cc, &rc);
  IS(MQCC_FAILED, MQRC_HMSG_ERROR);
  MQLONG weight = 7;
  name.VSPtr = "weight";
  MQSETMP(none, m, &smpo, &name, &pd, MQTYPE_INT32, 4, &weight, &cc, &rc);
  IS(0, 0);
  /* Two connections put with it, and it stays as it is. */
  for (int round = 0; round < 2; round++) {
    MQHCONN h = connect_to("QM1");
    MQHOBJ q = open_queue(h, "APP.Q", MQOO_OUTPUT);
    MQMD md = {MQMD_DEFAULT};
    MQPMO pmo = {MQPMO_DEFAULT};
    pmo.Version = MQPMO_VERSION_3;
    pmo.Options = MQPMO_NO_SYNCPOINT;
    if (round == 0) pmo.OriginalMsgHandle = m; else pmo.NewMsgHandle = m;
    MQPUT(h, q, &md, &pmo, 4, "text", &cc, &rc);
    IS(0, 0);
    HOLDS((round == 0 ? pmo.OriginalMsgHandle : pmo.NewMsgHandle) == m);
    MQDISC(&h, &cc, &rc);
    IS(0, 0);
  }
  MQHCONN h = connect_to("QM1");
  MQHOBJ q = open_queue(h, "APP.Q", MQOO_INPUT_SHARED);
  MQHMSG got;
  MQCRTMH(none, &cmho, &got, &cc, &rc);
  IS(0, 0);
  HOLDS(got != m);
  MQMD md = {MQMD_DEFAULT};
  MQGMO gmo = {MQGMO_DEFAULT};
  gmo.Version = MQGMO_VERSION_4;
  gmo.Options = MQGMO_NO_SYNCPOINT | MQGMO_PROPERTIES_IN_HANDLE;
  gmo.MsgHandle = got;
  char data[20];
  MQLONG length, type = MQTYPE_AS_SET;
  for (int round = 0; round < 2; round++) {
    memset(md.MsgId, 0, sizeof md.MsgId);
    MQGET(h, q, &md, &gmo, sizeof data, data, &length, &cc, &rc);
    IS(0, 0);
    HOLDS(length == 4 && gmo.MsgHandle == got);
  }
  MQGET(h, q, &md, &gmo, sizeof data, data, &length, &cc, &rc);
  IS(MQCC_FAILED, MQRC_NO_MSG_AVAILABLE);
  MQDISC(&h, &cc, &rc);
  IS(0, 0);
  impo.Options = MQIMPO_INQ_FIRST;
  name.VSPtr = "%";
  MQINQMP(none, got, &impo, &name, &pd, &type, sizeof data, data, &length, &cc, &rc);
  IS(0, 0);
  HOLDS(type == MQTYPE_STRING && length == 3 && memcmp(data, "red", 3) == 0);
  impo.Options = MQIMPO_INQ_NEXT;
  MQINQMP(none, got, &impo, &name, &pd, &type, sizeof data, data, &length, &cc, &rc);
  IS(0, 0);
  HOLDS(type == MQTYPE_INT32 && length == 4 && memcmp(data, &weight, 4) == 0);
  MQINQMP(none, got, &impo, &name, &pd, &type, sizeof data, data, &length, &cc, &rc);
  IS(MQCC_FAILED, MQRC_PROPERTY_NOT_AVAILABLE);
  name.VSPtr = "colour";
  MQDLTMP(none, got, &dmpo, &name, &cc, &rc);
  IS(0, 0);
  MQDLTMP(none, got, &dmpo, &name, &cc, &rc);
  IS(MQCC_FAILED, MQRC_PROPERTY_NOT_AVAILABLE);
  MQDLTMH(none, &got, &dmho, &cc, &rc);
  IS(0, 0);
  HOLDS(got == MQHM_UNUSABLE_HMSG);
  got = m;
  MQDLTMH(none, &m, &dmho, &cc, &rc);
  IS(0, 0);
  MQDLTMH(none, &got, &dmho, &cc, &rc);
  IS(MQCC_FAILED, MQRC_HMSG_ERROR);
"#;

#[test]
fn a_message_handle_of_no_connection_goes_with_any() {
    let place = Place::new(real_manager(&["APP.Q"]));
    program(&place, "loose", LOOSE);
}
