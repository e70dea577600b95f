//! Programs that are called back, and start, stop, deregister and end from there what calls them.

#![allow(clippy::unwrap_used)] // a test that fails says where

use crate::fake::Fake;
use crate::place::{HEAD, Place, run};

/// A connection with two queues, whose main thread waits for what programs do.
const COMMON: &str = r#"
#define UNTIL(what) do { for (int i_ = 0; i_ < 6000 && !(what); i_++) usleep(10000); \
  HOLDS(what); } while (0)
static MQHCONN h;
static MQHOBJ a, b;
static MQCTLO ctlo = {MQCTLO_DEFAULT};
volatile int seen, inside, overlapped, did, done_with, wrong;
static void put_to(MQHCONN to, MQHOBJ o) {
  MQLONG c, r;
  MQMD md = {MQMD_DEFAULT};
  MQPMO pmo = {MQPMO_DEFAULT};
  pmo.Options = MQPMO_NO_SYNCPOINT;
  MQPUT(to, o, &md, &pmo, 3, "abc", &c, &r);
  HOLDS(c == 0);
}
static void consumes(MQHOBJ o, void *program, void *area, MQLONG options) {
  MQMD md = {MQMD_DEFAULT};
  MQGMO gmo = {MQGMO_DEFAULT};
  MQCBD cbd = {MQCBD_DEFAULT};
  gmo.Options = MQGMO_NO_SYNCPOINT;
  cbd.CallbackFunction = (MQPTR)program;
  cbd.CallbackArea = area;
  cbd.Options |= options;
  MQCB(h, MQOP_REGISTER, &cbd, o, &md, &gmo, &cc, &rc);
  IS(0, 0);
}
static MQLONG control(MQLONG operation) {
  MQLONG c, r;
  MQCTL(h, operation, &ctlo, &c, &r);
  return r;
}
static void enter(void) {
  if (__sync_fetch_and_add(&inside, 1) != 0) overlapped = 1;
}
static void leave(void) { __sync_fetch_and_sub(&inside, 1); }
static void begin(void) {
  h = connect_to("QM1");
  IS(0, 0);
  a = open_queue(h, "A", MQOO_OUTPUT | MQOO_INPUT_SHARED);
  IS(0, 0);
  b = open_queue(h, "B", MQOO_OUTPUT | MQOO_INPUT_SHARED);
  IS(0, 0);
}
static int end(void) {
  MQDISC(&h, &cc, &rc);
  IS(0, 0);
  return 0;
}
"#;

fn runs(name: &str, source: &str) {
    let place = Place::new(Fake::new("QM1", &["A", "B"]));
    run(&mut place.program(place.c(name, &format!("{HEAD}{COMMON}{source}"))));
}

// A second thread called programs beside the first, which went on.
#[test]
fn a_program_that_stops_and_starts_what_calls_it_is_called_by_the_same_thread() {
    runs(
        "again",
        r#"
static pthread_t thread;
static volatile int starts, stops;
static void consume(MQHCONN own, PMQVOID md, PMQVOID gmo, PMQVOID buffer, PMQCBC context) {
  enter();
  if (context->CallType == MQCBCT_START_CALL) starts++;
  if (context->CallType == MQCBCT_STOP_CALL) stops++;
  if (context->CallType == MQCBCT_MSG_REMOVED) {
    MQLONG c, r;
    if (seen == 0) {
      thread = pthread_self();
      HOLDS(control(MQOP_STOP) == 0);
      HOLDS(control(MQOP_START) == 0);
      HOLDS(control(MQOP_START) == MQRC_HCONN_ASYNC_ACTIVE);
      usleep(200000);
    }
    if (!pthread_equal(thread, pthread_self())) wrong = 1;
    MQCMIT(own, &c, &r);
    if (c != 0) wrong = 1;
    seen++;
  }
  leave();
}
int main(void) {
  begin();
  for (int i = 0; i < 20; i++) put_to(h, a);
  consumes(a, consume, NULL, MQCBDO_START_CALL | MQCBDO_STOP_CALL);
  HOLDS(control(MQOP_START) == 0);
  UNTIL(seen == 20);
  HOLDS(control(MQOP_STOP) == 0);
  HOLDS(!overlapped && !wrong && inside == 0);
  HOLDS(starts == 2 && stops == 2);
  return end();
}
"#,
    );
}

// START was refused, or began beside the program that was called still.
#[test]
fn who_starts_again_waits_for_the_program_that_stopped_it() {
    runs(
        "waits",
        r#"
static void consume(MQHCONN own, PMQVOID md, PMQVOID gmo, PMQVOID buffer, PMQCBC context) {
  if (context->CallType != MQCBCT_MSG_REMOVED) return;
  enter();
  MQLONG c, r;
  if (seen == 0) {
    HOLDS(control(MQOP_STOP) == 0);
    did = 1;
    usleep(200000);
    MQCMIT(own, &c, &r);
    if (c != 0) wrong = 1;
    done_with = 1;
  }
  seen++;
  leave();
}
int main(void) {
  begin();
  for (int i = 0; i < 20; i++) put_to(h, a);
  consumes(a, consume, NULL, 0);
  HOLDS(control(MQOP_START) == 0);
  UNTIL(did);
  HOLDS(control(MQOP_START) == 0);
  HOLDS(done_with);
  UNTIL(seen == 20);
  for (int i = 0; i < 10; i++) {
    HOLDS(control(MQOP_STOP) == 0);
    put_to(h, a);
    HOLDS(control(MQOP_START) == 0);
    UNTIL(seen == 21 + i);
  }
  HOLDS(control(MQOP_STOP) == 0);
  HOLDS(!overlapped && !wrong && inside == 0);
  return end();
}
"#,
    );
}

// SUSPEND came back while the program was called that had suspended consumption itself, and STOP
// had no end when the program it waited for started again.
#[test]
fn who_suspends_or_stops_waits_for_a_program_that_did_so_itself() {
    runs(
        "suspends",
        r#"
static volatile int refused;
static void consume(MQHCONN own, PMQVOID md, PMQVOID gmo, PMQVOID buffer, PMQCBC context) {
  if (context->CallType != MQCBCT_MSG_REMOVED) return;
  seen++;
  if (seen == 1) {
    HOLDS(control(MQOP_SUSPEND) == 0);
    did = 1;
    usleep(200000);
    done_with = 1;
  } else {
    did = 2;
    for (int i = 0; i < 6000 && !refused; i++) {
      refused = control(MQOP_START) == MQRC_OPERATION_NOT_ALLOWED;
      usleep(10000);
    }
  }
}
int main(void) {
  begin();
  put_to(h, a);
  consumes(a, consume, NULL, 0);
  HOLDS(control(MQOP_START) == 0);
  UNTIL(did == 1);
  HOLDS(control(MQOP_SUSPEND) == 0);
  HOLDS(done_with);
  put_to(h, a);
  HOLDS(seen == 1);
  HOLDS(control(MQOP_RESUME) == 0);
  UNTIL(did == 2);
  HOLDS(control(MQOP_STOP) == 0);
  HOLDS(refused);
  MQCMIT(h, &cc, &rc);
  IS(0, 0);
  return end();
}
"#,
    );
}

// Each look began with the first of them.
#[test]
fn a_queue_that_never_runs_empty_keeps_no_message_from_other_consumers() {
    runs(
        "turns",
        r#"
static volatile int other;
static void busy(MQHCONN own, PMQVOID md, PMQVOID gmo, PMQVOID buffer, PMQCBC context) {
  if (context->CallType != MQCBCT_MSG_REMOVED) return;
  seen++;
  put_to(own, a);
}
static void rare(MQHCONN own, PMQVOID md, PMQVOID gmo, PMQVOID buffer, PMQCBC context) {
  if (context->CallType == MQCBCT_MSG_REMOVED) other++;
}
int main(void) {
  begin();
  put_to(h, a);
  for (int i = 0; i < 3; i++) put_to(h, b);
  consumes(a, busy, NULL, 0);
  consumes(b, rare, NULL, 0);
  HOLDS(control(MQOP_START) == 0);
  UNTIL(seen > 20);
  HOLDS(control(MQOP_STOP) == 0);
  HOLDS(other == 3);
  return end();
}
"#,
    );
}

// Only a look that found nothing at all counted, and there was none.
#[test]
fn a_consumer_without_messages_is_told_so_while_another_one_has_some() {
    runs(
        "idle",
        r#"
static volatile int told;
static void busy(MQHCONN own, PMQVOID md, PMQVOID gmo, PMQVOID buffer, PMQCBC context) {
  if (context->CallType != MQCBCT_MSG_REMOVED) return;
  seen++;
  put_to(own, a);
}
static void idle(MQHCONN own, PMQVOID md, PMQVOID gmo, PMQVOID buffer, PMQCBC context) {
  HOLDS(context->Reason == MQRC_NO_MSG_AVAILABLE);
  HOLDS(context->CallType == MQCBCT_MSG_NOT_REMOVED);
  told++;
}
int main(void) {
  begin();
  put_to(h, a);
  consumes(a, busy, NULL, 0);
  consumes(b, idle, NULL, 0);
  HOLDS(control(MQOP_START) == 0);
  UNTIL(told == 1);
  int then = seen;
  UNTIL(seen > then + 20);
  HOLDS(control(MQOP_STOP) == 0);
  /* Once, and not at each look. */
  HOLDS(told == 1);
  return end();
}
"#,
    );
}

// They were called from a list that was copied before.
#[test]
fn nobody_is_called_whom_a_program_has_deregistered_suspended_or_stopped_just_before() {
    runs(
        "gone",
        r#"
static int area = 1;
static volatile MQLONG how;
static void first(MQHCONN own, PMQVOID md, PMQVOID gmo, PMQVOID buffer, PMQCBC context) {
  if (context->Reason != MQRC_NO_MSG_AVAILABLE || did) return;
  MQLONG c, r;
  if (how == MQOP_STOP) {
    HOLDS(control(MQOP_STOP) == 0);
  } else {
    MQCB(own, how, NULL, b, NULL, NULL, &c, &r);
    HOLDS(c == 0);
  }
  done_with = 1;
  did = 1;
}
static void second(MQHCONN own, PMQVOID md, PMQVOID gmo, PMQVOID buffer, PMQCBC context) {
  if (done_with) wrong++;
}
int main(void) {
  begin();
  MQLONG all[] = {MQOP_DEREGISTER, MQOP_SUSPEND, MQOP_STOP};
  for (int i = 0; i < 3; i++) {
    how = all[i];
    did = done_with = 0;
    consumes(a, first, NULL, 0);
    consumes(b, second, &area, 0);
    HOLDS(control(MQOP_START) == 0);
    UNTIL(did);
    HOLDS(control(MQOP_STOP) == 0);
    HOLDS(!wrong);
  }
  return end();
}
"#,
    );
}

// It was refused, but nothing was consumed any more.
#[test]
fn a_program_that_may_not_end_its_connection_stops_nothing_by_that() {
    runs(
        "ends",
        r#"
static void consume(MQHCONN own, PMQVOID md, PMQVOID gmo, PMQVOID buffer, PMQCBC context) {
  if (context->CallType != MQCBCT_MSG_REMOVED) return;
  MQLONG c, r;
  MQHCONN same = own;
  MQDISC(&same, &c, &r);
  HOLDS(c == 2 && r == MQRC_OPERATION_NOT_ALLOWED && same == own);
  seen++;
}
int main(void) {
  begin();
  for (int i = 0; i < 3; i++) put_to(h, a);
  consumes(a, consume, NULL, 0);
  HOLDS(control(MQOP_START) == 0);
  UNTIL(seen == 3);
  return end();
}
"#,
    );
}
