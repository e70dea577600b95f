//! Programs that are called back: what a message that is too long for them comes to.

#![allow(clippy::unwrap_used)] // a test that fails says where

use crate::fake::Fake;
use crate::place::{HEAD, Place, run};

const SHORT: &str = r#"
static int cut, whole;
static void consume(MQHCONN h, PMQVOID md, PMQVOID gmo, PMQVOID buffer, PMQCBC context) {
  if (context->Reason == MQRC_NO_MSG_AVAILABLE) return;
  if (context->Reason == MQRC_TRUNCATED_MSG_FAILED) {
    HOLDS(context->CallType == MQCBCT_MSG_NOT_REMOVED && context->CompCode == MQCC_WARNING);
    HOLDS(context->DataLength == 5 && memcmp(buffer, "abc", 3) == 0);
    cut++;
    return;
  }
  HOLDS(context->CallType == MQCBCT_MSG_REMOVED && context->DataLength == 5);
  whole++;
}
static void consume_for(MQHCONN h, const int *count, int most) {
  MQCTLO ctlo = {MQCTLO_DEFAULT};
  MQCTL(h, MQOP_START, &ctlo, &cc, &rc);
  IS(0, 0);
  for (int i = 0; i < 500 && *count < most; i++) usleep(10000);
  usleep(300000);
  MQCTL(h, MQOP_STOP, &ctlo, &cc, &rc);
  IS(0, 0);
}
int main(void) {
  MQHCONN h = connect_to("QM1");
  MQHOBJ a = open_queue(h, "A", MQOO_OUTPUT | MQOO_INPUT_SHARED);
  MQMD md = {MQMD_DEFAULT};
  MQGMO gmo = {MQGMO_DEFAULT};
  MQPMO pmo = {MQPMO_DEFAULT};
  MQPUT(h, a, &md, &pmo, 5, "abcde", &cc, &rc);
  IS(0, 0);
  memset(md.MsgId, 0, 24);
  MQCBD cbd = {MQCBD_DEFAULT};
  cbd.CallbackFunction = (MQPTR)consume;
  cbd.MaxMsgLength = 3;
  MQCB(h, MQOP_REGISTER | MQOP_SUSPEND, &cbd, a, &md, &gmo, &cc, &rc);
  IS(0, 0);
  /* It was registered to be left alone. */
  consume_for(h, &cut, 0);
  HOLDS(cut == 0 && whole == 0);
  MQCB(h, MQOP_RESUME, NULL, a, NULL, NULL, &cc, &rc);
  IS(0, 0);
  /* The message stays; the program is told once, until it is resumed. */
  consume_for(h, &cut, 1);
  HOLDS(cut == 1 && whole == 0);
  MQCB(h, MQOP_RESUME, NULL, a, NULL, NULL, &cc, &rc);
  IS(0, 0);
  consume_for(h, &cut, 2);
  HOLDS(cut == 2 && whole == 0);
  cbd.MaxMsgLength = MQCBD_FULL_MSG_LENGTH;
  MQCB(h, MQOP_REGISTER | MQOP_RESUME, &cbd, a, &md, &gmo, &cc, &rc);
  IS(0, 0);
  consume_for(h, &whole, 1);
  HOLDS(cut == 2 && whole == 1);
  MQCB(h, MQOP_DEREGISTER | MQOP_SUSPEND, NULL, a, NULL, NULL, &cc, &rc);
  IS(0, 0);
  MQDISC(&h, &cc, &rc);
  IS(0, 0);
  return 0;
}
"#;

// It was told that the message was removed, again and again.
#[test]
fn a_message_that_is_too_long_stays_and_its_consumer_is_told_once() {
    let manager = Fake::new("QM1", &["A"]);
    let place = Place::new(manager.clone());
    run(&mut place.program(place.c("short", &format!("{HEAD}{SHORT}"))));
    assert_eq!(manager.depth("A"), 0);
}
