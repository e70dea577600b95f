//! A log that is slower than its archive.

use std::time::Duration;

use seam::sim::{Fault, FaultKind};

use super::{Machine, Make, STYLES, Script, crashed};

/// Crashes of a machine whose log takes its time to become durable, while the archive does not.
///
/// # Errors
/// The first broken promise.
pub fn a_slow_log(round: u64, step: u64) -> Result<u64, String> {
    let base =
        Machine::new(Make { log_copies: 1, folders: 1, compress: false, recent: true, ahead: 0 });
    let mut crashes = 0;
    for seed in (33..41).map(|seed| seed + 1_000 * round) {
        for n in (1..).step_by(step as usize) {
            let mut machine = base.fork();
            let described = |why: String| format!("seed {seed}, crash after write {n}: {why}");
            let slow = FaultKind::SlowSync(Duration::from_secs(2));
            machine.disk.inject(Fault::new(slow, "/log1"));
            if !crashed(&machine.live(Script { seed, records: 40 }, Some(n))).map_err(described)? {
                break;
            }
            crashes += 1;
            machine.crash(n, STYLES[(n / step) as usize % 4]);
            crashed(&machine.live(Script { seed: n, records: 2 }, None)).map_err(described)?;
        }
    }
    Ok(crashes)
}
