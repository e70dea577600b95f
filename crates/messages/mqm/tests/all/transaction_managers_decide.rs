//! C programs as transaction managers: by the switch of a resource manager they have two queue
//! managers commit together.

#![allow(clippy::unwrap_used)] // a test that fails says where

use queue_manager::branch::BranchState;
use queue_manager::objects::Kind;
use queue_manager::{Options, QueueManager};
use store_suite::model::ModelStore;

use crate::place::{HEAD, Place, run};

/// The specification's own declarations.
pub(crate) const XA: &str = include_str!("../xa.h");

/// What the programs have in common.
pub(crate) const COMMON: &str = r#"

#ifndef SWITCH
#define SWITCH MQRMIXASwitch
#endif
static XID xid(int number, const char *branch) {
  XID xid = {7, 4, (long)strlen(branch), ""};
  memcpy(xid.data, &number, 4);
  strcpy(xid.data + 4, branch);
  return xid;
}
#define XA(call, wanted) do { int got = SWITCH.call; if (got != (wanted)) { \
  printf("line %d: " #call " is %d\n", __LINE__, got); exit(1); } } while (0)
static void put_one(MQHCONN h, MQHOBJ o, const char *text) {
  MQMD md = {MQMD_DEFAULT};
  MQPMO pmo = {MQPMO_DEFAULT};
  pmo.Options = MQPMO_SYNCPOINT;
  md.Persistence = MQPER_PERSISTENT;
  MQPUT(h, o, &md, &pmo, (MQLONG)strlen(text), (void *)text, &cc, &rc);
  IS(0, 0);
}
"#;

fn manager(name: &str) -> QueueManager<ModelStore> {
    let manager = QueueManager::open(&ModelStore::new(), Options::new(name)).unwrap();
    manager.define(Kind::QueueLocal, "APP.Q", &[], false, None).unwrap();
    manager
}

/// Two queue managers that a program finds by their names.
struct Two {
    places: [Place; 2],
    managers: [QueueManager<ModelStore>; 2],
}

impl Two {
    fn new() -> Two {
        let managers = [manager("QM1"), manager("QM2")];
        let places = managers.clone().map(Place::new);
        let links = places[0].folder.join("holdfast/queue-managers");
        std::fs::create_dir_all(&links).unwrap();
        for (place, name) in places.iter().zip(["QM1", "QM2"]) {
            let socket = place.folder.join(mqi::place::SOCKET);
            std::os::unix::fs::symlink(socket, links.join(name)).unwrap();
        }
        Two { places, managers }
    }

    fn program(&self, name: &str, main: &str) {
        let source = format!("{HEAD}{XA}{COMMON}\nint main(void) {{\n{main}\n  return 0;\n}}\n");
        let mut command = self.places[0].program(self.places[0].c(name, &source));
        command.env_remove("HOLDFAST_SYSTEM");
        command.env("XDG_RUNTIME_DIR", &self.places[0].folder);
        run(&mut command);
    }

    fn depths(&self) -> [u64; 2] {
        [0, 1].map(|at: usize| self.managers[at].queue_status("APP.Q").unwrap().depth)
    }
}

/// Both are opened, and a program has put on both in transaction 1.
const BEGUN: &str = r#"
  XA(xa_open_entry("QM1", 1, 0), 0);
  XA(xa_open_entry("qmname=QM2,tpm=ours", 2, 0), 0);
  MQHCONN one = connect_to("QM1");
  IS(0, 0);
  MQHCONN two = connect_to("QM2");
  IS(0, 0);
  HOLDS(one != two);
  MQHOBJ q1 = open_queue(one, "APP.Q", MQOO_OUTPUT | MQOO_INPUT_SHARED);
  MQHOBJ q2 = open_queue(two, "APP.Q", MQOO_OUTPUT | MQOO_INPUT_SHARED);
  XID first = xid(1, "one"), second = xid(1, "two");
  XA(xa_start_entry(&first, 1, 0), 0);
  XA(xa_start_entry(&second, 2, 0), 0);
  put_one(one, q1, "left");
  put_one(two, q2, "right");
  MQCMIT(one, &cc, &rc);
  IS(MQCC_FAILED, MQRC_ENVIRONMENT_ERROR);
  XA(xa_end_entry(&first, 1, 0x04000000), 0);
  XA(xa_end_entry(&second, 2, 0x04000000), 0);
  XA(xa_prepare_entry(&first, 1, 0), 0);
"#;

#[test]
fn two_queue_managers_commit_together_or_not_at_all() {
    let two = Two::new();
    let main = format!(
        "{BEGUN}{}",
        r#"
  XA(xa_prepare_entry(&second, 2, 0), 0);
  XA(xa_commit_entry(&first, 1, 0), 0);
  XA(xa_commit_entry(&second, 2, 0), 0);
  XA(xa_commit_entry(&second, 2, 0), -4);
  /* The next one is not prepared everywhere. */
  first = xid(2, "one");
  second = xid(2, "two");
  XA(xa_start_entry(&first, 1, 0), 0);
  XA(xa_start_entry(&first, 1, 0), -6);
  XA(xa_start_entry(&second, 2, 0), 0);
  put_one(one, q1, "left");
  put_one(two, q2, "right");
  XA(xa_end_entry(&first, 1, 0x04000000), 0);
  XA(xa_end_entry(&second, 2, 0x20000000), 0);
  XA(xa_prepare_entry(&first, 1, 0), 0);
  XA(xa_prepare_entry(&second, 2, 0), 100);
  XA(xa_rollback_entry(&first, 1, 0), 0);
  /* In one phase. */
  first = xid(3, "one");
  XA(xa_start_entry(&first, 1, 0), 0);
  put_one(one, q1, "alone");
  XA(xa_end_entry(&first, 1, 0x04000000), 0);
  XA(xa_commit_entry(&first, 1, 0x40000000), 0);
  /* What a program has of its own is not the transaction's. */
  put_one(one, q1, "own");
  XA(xa_start_entry(&first, 1, 0), -9);
  MQCMIT(one, &cc, &rc);
  IS(0, 0);
  MQDISC(&one, &cc, &rc);
  IS(0, 0);
  XA(xa_start_entry(&first, 1, 0), 0);
  XA(xa_end_entry(&first, 1, 0x04000000), 0);
  XA(xa_prepare_entry(&first, 1, 0), 3);
  XA(xa_close_entry("", 1, 0), 0);
  XA(xa_start_entry(&first, 1, 0), -6);
  XA(xa_open_entry("QM3", 3, 0), -5);
  XA(xa_start_entry(NULL, 2, 0), -5);
  XA(xa_close_entry("", 2, 0), 0);
"#
    );
    two.program("together", &main);
    assert_eq!(two.depths(), [3, 1]);
    assert!(two.managers.iter().all(|manager| manager.branches().is_empty()));
}

#[test]
fn a_transaction_manager_that_was_killed_finds_what_it_has_to_decide() {
    let two = Two::new();
    two.program("killed", &format!("{BEGUN}  _exit(0);\n"));
    // One was prepared; the other has ended with the program.
    let left = || {
        let known = two.managers[0].branches();
        known.iter().filter(|one| one.state == BranchState::Prepared).count()
    };
    assert_eq!(left(), 1);
    let clock = seam::clock::RealClock::new();
    while !two.managers[1].branches().is_empty() {
        // Its system sees in a moment that the program has gone.
        seam::clock::Clock::sleep(&clock, std::time::Duration::from_millis(1));
    }
    two.program(
        "recovers",
        r#"
  XID found[3];
  XA(xa_open_entry("QM1", 1, 0), 0);
  XA(xa_open_entry("QM2", 2, 0), 0);
  XA(xa_recover_entry(found, 3, 2, 0x01000000 | 0x00800000), 0);
  XA(xa_recover_entry(found, 3, 1, 0), -6);
  XA(xa_recover_entry(found, 3, 1, 0x01000000), 1);
  XID wanted = xid(1, "one");
  HOLDS(found[0].formatID == 7 && found[0].gtrid_length == 4 && found[0].bqual_length == 3);
  HOLDS(memcmp(found[0].data, wanted.data, 7) == 0);
  XA(xa_recover_entry(found, 3, 1, 0x00800000), 0);
  XA(xa_rollback_entry(&wanted, 1, 0), 0);
  XA(xa_recover_entry(found, 3, 1, 0x01000000 | 0x00800000), 0);
"#,
    );
    assert_eq!(two.depths(), [0, 0]);
    assert_eq!(left(), 0);
}

/// A transaction manager that is told when there is work: which transaction that belongs to, and
/// how often it was told.
const NOTIFIED: &str = r#"
static XID now;
static int told, untold, answer;
int ax_reg(int rmid, XID *to, long flags) {
  told += 1;
  if (answer >= 0) *to = now;
  return rmid == 7 && flags == 0 ? answer : -2;
}
int ax_unreg(int rmid, long flags) {
  untold += 1;
  return rmid == 7 && flags == 0 ? 0 : -2;
}
"#;

/// Builds and runs a program that uses the switch which registers dynamically.
fn dynamic(place: &Place, name: &str, managed: &str, main: &str) {
    let source = format!(
        "{HEAD}#define SWITCH MQRMIXASwitchDynamic\n{XA}{COMMON}{managed}\n\
         int main(void) {{\n{main}\n  return 0;\n}}\n"
    );
    run(&mut place.program(place.c(name, &source)));
}

/// Work in branches, in none, suspended, refused.
const WORKS: &str = r#"
  HOLDS(SWITCH.flags == 1 && MQRMIXASwitch.flags == 0);
  XA(xa_open_entry("QM1", 7, 0), 0);
  MQHCONN h = connect_to("QM1");
  IS(0, 0);
  MQHOBJ q = open_queue(h, "APP.Q", MQOO_OUTPUT | MQOO_INPUT_SHARED | MQOO_BROWSE);
  /* What is in no unit of work is nobody's affair. */
  MQMD md = {MQMD_DEFAULT};
  MQPMO pmo = {MQPMO_DEFAULT};
  pmo.Options = MQPMO_NO_SYNCPOINT;
  MQPUT(h, q, &md, &pmo, 4, "free", &cc, &rc);
  IS(0, 0);
  HOLDS(told == 0);
  /* The first work is told of, and no other of the same branch. */
  now = xid(1, "one");
  put_one(h, q, "first");
  put_one(h, q, "second");
  HOLDS(told == 1);
  MQCMIT(h, &cc, &rc);
  IS(MQCC_FAILED, MQRC_ENVIRONMENT_ERROR);
  XA(xa_end_entry(&now, 7, 0x04000000), 0);
  XA(xa_prepare_entry(&now, 7, 0), 0);
  XA(xa_commit_entry(&now, 7, 0), 0);
  HOLDS(untold == 0);
  /* Work of no branch is the program's own: its end is told. */
  now.formatID = -1;
  put_one(h, q, "own");
  put_one(h, q, "own");
  HOLDS(told == 2 && untold == 0);
  MQCMIT(h, &cc, &rc);
  IS(0, 0);
  HOLDS(untold == 1);
  put_one(h, q, "in vain");
  MQBACK(h, &cc, &rc);
  IS(0, 0);
  HOLDS(told == 3 && untold == 2);
  /* A get is work, too; suspended, and told of again. */
  now = xid(2, "one");
  char text[9];
  MQLONG length;
  MQGMO gmo = {MQGMO_DEFAULT};
  gmo.Options = MQGMO_BROWSE_FIRST;
  MQGET(h, q, &md, &gmo, 8, text, &length, &cc, &rc);
  IS(0, 0);
  HOLDS(told == 3);
  gmo.Options = MQGMO_SYNCPOINT;
  MQMD other = {MQMD_DEFAULT};
  MQGET(h, q, &other, &gmo, 8, text, &length, &cc, &rc);
  IS(0, 0);
  HOLDS(told == 4);
  XA(xa_end_entry(&now, 7, 0x02000000), 0);
  answer = 1;
  put_one(h, q, "in vain");
  HOLDS(told == 5);
  XA(xa_end_entry(&now, 7, 0x04000000), 0);
  XA(xa_rollback_entry(&now, 7, 0), 0);
  /* Who cannot be told has no work done. */
  answer = -1;
  pmo.Options = MQPMO_SYNCPOINT;
  MQPUT(h, q, &md, &pmo, 7, "nothing", &cc, &rc);
  IS(MQCC_FAILED, MQRC_UOW_NOT_AVAILABLE);
  answer = 0;
  now = xid(2, "");
  now.gtrid_length = 0;
  MQPUT(h, q, &md, &pmo, 7, "nothing", &cc, &rc);
  IS(MQCC_FAILED, MQRC_UOW_NOT_AVAILABLE);
  HOLDS(told == 7);
  /* MQDISC commits what is no branch's. */
  now.formatID = -1;
  put_one(h, q, "own");
  MQDISC(&h, &cc, &rc);
  IS(0, 0);
  HOLDS(told == 8 && untold == 3);
  XA(xa_close_entry("", 7, 0), 0);
"#;

#[test]
fn a_transaction_manager_is_told_once_there_is_work() {
    let manager = manager("QM1");
    let place = Place::new(manager.clone());
    dynamic(&place, "told", NOTIFIED, WORKS);
    assert_eq!(manager.queue_status("APP.Q").unwrap().depth, 6);
    assert!(manager.branches().is_empty());
    // There is nobody to be told.
    dynamic(&place, "alone", "", "XA(xa_open_entry(\"QM1\", 7, 0), -3);");
}
