//! The story: the page writer stopped the kernel while a unit of work waited for the log. Nobody
//! wrote any more, so nobody came to tell the one who waited, and it waited for ever.

use std::sync::Arc;

use crate::machine::{Machine, small};
use base::{Lsn, UowId};
use holdfast_wal::{Log, LogError};
use seam::sim::{self, SimConfig};

#[test]
fn a_stop_for_another_reason_ends_every_wait() {
    for seed in 0..600 {
        let machine = Machine::new(small(1, 1 + (seed % 2) as u8));
        let outcome = sim::run(SimConfig::new(seed), machine.disk.clone(), |seam| {
            let env = machine.env(&seam);
            let stop = Arc::clone(&env.stop);
            let (log, _) = Log::open(env, machine.config.clone(), machine.start()).unwrap();
            let waiting: Vec<_> = (0..3)
                .map(|number| {
                    let log = Arc::clone(&log);
                    let wait = move || {
                        let place = log.append(1, 0, UowId::NONE, Lsn::NONE, &[&[number; 900]]);
                        let waited = place.and_then(|place| log.wait_durable(place.end));
                        assert!(matches!(waited, Ok(()) | Err(LogError::Stopped(_))));
                    };
                    seam::thread::spawn("waiting", wait).unwrap()
                })
                .collect();
            (0..seed % 60).for_each(|_| seam::thread::yield_now());
            stop.stop("the page writer cannot go on");
            waiting.into_iter().for_each(seam::thread::JoinHandle::join);
        });
        outcome.expect_completed();
    }
}
