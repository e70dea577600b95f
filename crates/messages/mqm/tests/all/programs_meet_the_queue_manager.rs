//! C programs and the queue manager itself: what one puts, another one gets as the rules say.

#![allow(clippy::unwrap_used)] // a test that fails says where

use queue_manager::objects::Kind;

use crate::place::{Place, program, real_manager};

#[test]
fn units_of_work_and_selection_are_the_queue_managers() {
    let manager = real_manager(&["APP.Q"]);
    let place = Place::new(manager.clone());
    program(
        &place,
        "units",
        r#"
  MQHCONN h = connect_to("QM1");
  IS(0, 0);
  MQHOBJ o = open_queue(h, "APP.Q", MQOO_OUTPUT | MQOO_INPUT_SHARED | MQOO_INQUIRE | MQOO_BROWSE);
  IS(0, 0);
  MQPMO pmo = {MQPMO_DEFAULT};
  pmo.Options = MQPMO_SYNCPOINT;
  for (char i = 'a'; i <= 'e'; i++) {
    MQMD md = {MQMD_DEFAULT};
    md.Persistence = MQPER_PERSISTENT;
    memset(md.CorrelId, i, 24);
    MQPUT(h, o, &md, &pmo, 1, &i, &cc, &rc);
    IS(0, 0);
    HOLDS(memcmp(md.MsgId, "AMQ QM1", 7) == 0);
    HOLDS(memcmp(md.PutDate, "20", 2) == 0 && md.PutApplType != 0);
  }
  MQGMO gmo = {MQGMO_DEFAULT};
  MQLONG length;
  char b[4];
  MQCMIT(h, &cc, &rc);
  IS(0, 0);
  MQMD md = {MQMD_DEFAULT};
  memset(md.CorrelId, 'c', 24);
  gmo.Options = MQGMO_SYNCPOINT;
  MQGET(h, o, &md, &gmo, 4, b, &length, &cc, &rc);
  IS(0, 0);
  HOLDS(length == 1 && b[0] == 'c');
  MQBACK(h, &cc, &rc);
  IS(0, 0);
  memset(md.MsgId, 0, 24);
  MQGET(h, o, &md, &gmo, 4, b, &length, &cc, &rc);
  IS(0, 0);
  HOLDS(b[0] == 'c' && md.BackoutCount == 1);
  MQCMIT(h, &cc, &rc);
  IS(0, 0);
  memset(md.MsgId, 0, 24);
  memset(md.CorrelId, 0, 24);
  gmo.Options = MQGMO_BROWSE_FIRST;
  MQGET(h, o, &md, &gmo, 4, b, &length, &cc, &rc);
  IS(0, 0);
  HOLDS(b[0] == 'a');
  memset(md.MsgId, 0, 24);
  memset(md.CorrelId, 0, 24);
  gmo.Options = MQGMO_BROWSE_NEXT;
  MQGET(h, o, &md, &gmo, 4, b, &length, &cc, &rc);
  IS(0, 0);
  HOLDS(b[0] == 'b');
  gmo.Options = MQGMO_MSG_UNDER_CURSOR | MQGMO_NO_SYNCPOINT;
  MQGET(h, o, &md, &gmo, 4, b, &length, &cc, &rc);
  IS(0, 0);
  HOLDS(b[0] == 'b');
  MQLONG selector = MQIA_CURRENT_Q_DEPTH, depth = -1;
  MQINQ(h, o, 1, &selector, 1, &depth, 0, NULL, &cc, &rc);
  IS(0, 0);
  HOLDS(depth == 3);
  MQDISC(&h, &cc, &rc);
  IS(0, 0);
"#,
    );
    assert_eq!(manager.queue_status("APP.Q").unwrap().depth, 3);
}

#[test]
fn a_reply_comes_to_a_dynamic_queue_with_its_properties() {
    let manager = real_manager(&["APP.Q"]);
    manager.define(Kind::QueueModel, "APP.MODEL", &[], false, None).unwrap();
    let place = Place::new(manager);
    program(
        &place,
        "dynamic",
        r#"
  MQHCONN h = connect_to("QM1");
  MQOD od = {MQOD_DEFAULT};
  MQHOBJ reply;
  strncpy(od.ObjectName, "APP.MODEL", 48);
  strncpy(od.DynamicQName, "REPLY.*", 48);
  MQOPEN(h, &od, MQOO_INPUT_EXCLUSIVE, &reply, &cc, &rc);
  IS(0, 0);
  HOLDS(memcmp(od.ObjectName, "REPLY.", 6) == 0 && od.ObjectName[6] != '*');
  MQHMSG out, in;
  MQCRTMH(h, NULL, &out, &cc, &rc);
  IS(0, 0);
  MQCRTMH(h, NULL, &in, &cc, &rc);
  IS(0, 0);
  MQCHARV name = {MQCHARV_DEFAULT};
  name.VSPtr = "colour";
  name.VSLength = 6;
  MQPD pd = {MQPD_DEFAULT};
  MQSETMP(h, out, NULL, &name, &pd, MQTYPE_STRING, 4, "blue", &cc, &rc);
  IS(0, 0);
  MQOD to = {MQOD_DEFAULT};
  memcpy(to.ObjectName, od.ObjectName, 48);
  MQMD md = {MQMD_DEFAULT};
  MQPMO pmo = {MQPMO_DEFAULT};
  pmo.Version = 3;
  pmo.Options = MQPMO_NO_SYNCPOINT;
  pmo.OriginalMsgHandle = out;
  MQPUT1(h, &to, &md, &pmo, 5, "hello", &cc, &rc);
  IS(0, 0);
  MQGMO gmo = {MQGMO_DEFAULT};
  gmo.Version = 4;
  gmo.Options = MQGMO_WAIT | MQGMO_PROPERTIES_IN_HANDLE | MQGMO_NO_SYNCPOINT;
  gmo.WaitInterval = 5000;
  gmo.MsgHandle = in;
  MQLONG length, type = MQTYPE_AS_SET;
  char b[100];
  memset(md.MsgId, 0, 24);
  MQGET(h, reply, &md, &gmo, 100, b, &length, &cc, &rc);
  IS(0, 0);
  HOLDS(length == 5 && memcmp(b, "hello", 5) == 0);
  MQIMPO impo = {MQIMPO_DEFAULT};
  MQINQMP(h, in, &impo, &name, &pd, &type, 100, b, &length, &cc, &rc);
  IS(0, 0);
  HOLDS(type == MQTYPE_STRING && length == 4 && memcmp(b, "blue", 4) == 0);
  MQDISC(&h, &cc, &rc);
  IS(0, 0);
"#,
    );
}

#[test]
fn publications_reach_a_managed_subscription() {
    let place = Place::new(real_manager(&[]));
    program(
        &place,
        "subscriber",
        r#"
  MQHCONN h = connect_to("QM1");
  MQSD sd = {MQSD_DEFAULT};
  MQHOBJ queue = MQHO_NONE, sub;
  sd.Options = MQSO_CREATE | MQSO_MANAGED | MQSO_NON_DURABLE;
  sd.ObjectString.VSPtr = "price/#";
  sd.ObjectString.VSLength = 7;
  MQSUB(h, &sd, &queue, &sub, &cc, &rc);
  IS(0, 0);
  MQOD od = {MQOD_DEFAULT};
  MQHOBJ topic;
  od.Version = 4;
  od.ObjectType = MQOT_TOPIC;
  od.ObjectString.VSPtr = "price/fruit/apple";
  od.ObjectString.VSLength = MQVS_NULL_TERMINATED;
  MQOPEN(h, &od, MQOO_OUTPUT, &topic, &cc, &rc);
  IS(0, 0);
  MQMD md = {MQMD_DEFAULT};
  MQPMO pmo = {MQPMO_DEFAULT};
  MQPUT(h, topic, &md, &pmo, 4, "0.99", &cc, &rc);
  IS(0, 0);
  MQGMO gmo = {MQGMO_DEFAULT};
  MQMD got = {MQMD_DEFAULT};
  char b[200];
  MQLONG length;
  gmo.Options = MQGMO_WAIT | MQGMO_NO_SYNCPOINT;
  gmo.WaitInterval = 5000;
  MQGET(h, queue, &got, &gmo, 200, b, &length, &cc, &rc);
  IS(0, 0);
  HOLDS(length >= 4 && memcmp(b + length - 4, "0.99", 4) == 0);
  MQCLOSE(h, &sub, MQCO_REMOVE_SUB, &cc, &rc);
  IS(0, 0);
  MQDISC(&h, &cc, &rc);
  IS(0, 0);
"#,
    );
}

// What differs for each destination did not come back.
#[test]
fn a_list_tells_what_each_of_its_destinations_was_put_with() {
    let manager = real_manager(&["A", "B"]);
    let place = Place::new(manager.clone());
    program(
        &place,
        "list",
        r#"
  MQHCONN h = connect_to("QM1");
  MQOD od = {MQOD_DEFAULT};
  struct { MQCHAR48 name, manager; } records[2] = {{"A", ""}, {"B", ""}};
  MQHOBJ list, a;
  od.Version = MQOD_VERSION_2;
  od.RecsPresent = 2;
  od.ObjectRecPtr = records;
  MQOPEN(h, &od, MQOO_OUTPUT, &list, &cc, &rc);
  IS(0, 0);
  struct { MQBYTE24 id, correlation; } each[2];
  memset(each, 0, sizeof each);
  memset(each[1].id, 7, 24);
  memset(each[1].correlation, 8, 24);
  MQMD md = {MQMD_DEFAULT};
  MQPMO pmo = {MQPMO_DEFAULT};
  pmo.Version = MQPMO_VERSION_2;
  pmo.RecsPresent = 2;
  pmo.PutMsgRecFields = MQPMRF_MSG_ID | MQPMRF_CORREL_ID;
  pmo.PutMsgRecPtr = each;
  MQPUT(h, list, &md, &pmo, 1, "x", &cc, &rc);
  IS(0, 0);
  HOLDS(memcmp(each[0].id, "AMQ QM1", 7) == 0 && each[0].correlation[0] == 0);
  HOLDS(each[1].id[0] == 7 && each[1].id[23] == 7 && each[1].correlation[23] == 8);
  a = open_queue(h, "A", MQOO_INPUT_SHARED);
  MQMD got = {MQMD_DEFAULT};
  MQGMO gmo = {MQGMO_DEFAULT};
  MQLONG length;
  char b[4];
  MQGET(h, a, &got, &gmo, 4, b, &length, &cc, &rc);
  IS(0, 0);
  HOLDS(memcmp(got.MsgId, each[0].id, 24) == 0);
  MQDISC(&h, &cc, &rc);
  IS(0, 0);
"#,
    );
    let depth = |queue: &str| manager.queue_status(queue).unwrap().depth;
    assert_eq!((depth("A"), depth("B")), (0, 1));
}
