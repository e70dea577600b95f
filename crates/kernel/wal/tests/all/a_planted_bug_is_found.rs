//! Proof of the proof: with each deliberate bug the checks that the other tests rely on must fail.

#![allow(clippy::unwrap_used)] // also in helpers, which are not tests by name

use crate::machine::{Machine, Script, small, sweep};
use seam::failpoint::{Failpoint, arm};

struct Armed;

impl Armed {
    fn new(bug: Failpoint) -> Armed {
        arm(Some(bug));
        Armed
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        arm(None);
    }
}

/// Whether some sweep over this log breaks a promise.
fn found(copies: usize, stripes: u8, body_max: u64) -> bool {
    let base = Machine::new(small(copies, stripes));
    (0..20).any(|seed| {
        let script = Script { seed: 100 * seed, records: 25, body_max };
        sweep(&base, script).is_err()
    })
}

#[test]
fn a_reply_before_the_record_is_durable() {
    let _armed = Armed::new(Failpoint::ReplyBeforeDurable);
    assert!(found(1, 1, 6_000));
}

#[test]
fn a_chain_that_is_not_checked() {
    let _armed = Armed::new(Failpoint::ChainNotChecked);
    assert!(found(1, 3, 100));
}
