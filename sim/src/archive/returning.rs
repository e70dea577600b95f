//! A lost copy of the log that comes back beneath a machine that logs and archives, in its own
//! folder or in another one (K9).

use seam::sim::{Fault, FaultKind, When};

use super::{Machine, Make, STYLES, Script, crashed};

/// Crashes around a log copy that is lost and brought back while archives are written, segments
/// used again and archives deleted; then the other copy's device is gone, unless the copy that came
/// back is recorded as stale. With `elsewhere` it comes back in another folder, and its old one
/// shows up again.
///
/// # Errors
/// The first broken promise.
pub fn resyncs(round: u64, step: u64, elsewhere: bool) -> Result<u64, String> {
    let base =
        Machine::new(Make { log_copies: 2, folders: 1, compress: false, recent: true, ahead: 0 });
    *base.ledger.spare.lock() = elsewhere.then(|| ("/spare/log".into(), false));
    let script = Script { seed: 77 + 1_000 * round, records: 50 };
    let mut crashes = 0;
    for n in (1..).step_by(step as usize) {
        let mut machine = base.fork();
        let described = |why: String| format!("crash after write {n}: {why}");
        let lost = Fault::new(FaultKind::WriteError, "/log1").when(When::Nth(2 + n % 11));
        machine.disk.inject(lost);
        let first = Script { seed: script.seed + n, ..script };
        if !crashed(&machine.live(first, Some(n))).map_err(described)? {
            break;
        }
        crashes += 1;
        machine.crash(n, STYLES[(n / step) as usize % 4]);
        if machine.ledger.stale.lock().is_none() {
            machine.disk.inject(Fault::new(FaultKind::Dead, "/log2"));
        }
        crashed(&machine.live(Script { seed: n, records: 1 }, None)).map_err(described)?;
    }
    Ok(crashes)
}
