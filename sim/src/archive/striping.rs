//! Stripes of the log that change while its segments are archived and used again.

use std::path::PathBuf;
use std::sync::atomic::Ordering::SeqCst;

use seam::sim::Rng;
use wal::{LogConfig, LogError, Moved};

use super::{Machine, Make, Script, Worker, sweep};

/// Stripes, and folders of those that have their own.
pub(super) type Layout = (u8, Vec<Vec<PathBuf>>);

impl Machine {
    /// The log's configuration with the layout that was recorded last.
    pub(super) fn laid_out(&self) -> LogConfig {
        // It is configured anew: where a copy went in another life, only its record says.
        let mut config = LogConfig { moved: Moved::default(), ..self.log.clone() };
        if let Some((stripes, folders)) = &*self.ledger.layout.lock() {
            (config.stripes, config.stripe_folders) = (*stripes, folders.clone());
        }
        config
    }
}

impl Worker {
    /// Goes over to another number of stripes, if this is a machine where somebody does.
    pub(super) fn change_stripes(&self, rng: &mut Rng) {
        if !self.ledger.restripes.load(SeqCst) || !rng.one_in(12) {
            return;
        }
        let (copies, (_, known)) = (self.log.statistics().copies.len(), self.log.stripes());
        let stripes = rng.between(1, 3) as u8;
        let folder = |stripe, copy| PathBuf::from(format!("/stripe{stripe}-of-{copy}"));
        let all = usize::from(stripes).max(known.len() + 1);
        let folders: Vec<Vec<PathBuf>> = (2..=all)
            .map(|stripe| (1..=copies).map(|copy| folder(stripe, copy)).collect())
            .collect();
        let recorded = (stripes, folders.clone());
        let keep = || {
            *self.ledger.layout.lock() = Some(recorded);
            Ok(())
        };
        match self.log.restripe(stripes, folders, keep, &mut |_, _| true) {
            // The log may be too full for it.
            Ok(()) | Err(LogError::Stripes { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// Crashes while stripes change and segments are archived and used again.
///
/// # Errors
/// The first broken promise.
pub fn restripes(round: u64, step: u64) -> Result<u64, String> {
    let mut crashes = 0;
    for log_copies in [1, 2] {
        let make = Make { log_copies, folders: 1, compress: false, recent: true, ahead: 0 };
        let base = Machine::new(make);
        base.ledger.restripes.store(true, SeqCst);
        crashes += sweep(&base, Script { seed: 55 + 1_000 * round, records: 40 }, step)?;
    }
    Ok(crashes)
}
