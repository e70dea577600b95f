//! Image copies and recovery of a store as the benchmarks have them: RECON stands in the store's
//! folder and is made when the first copy is.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use recon::{Recon, Setup};
use recovery::{
    Births, CopyFiles, CopyKeys, CopyOptions, CopySink, Progress, RecoverOptions, RecoveryError,
    Target,
};
use store_kernel::KernelStore;

use crate::error::{Result, failed};
use crate::ours::Recovery;

/// What copies of a store need.
pub(crate) struct Copies {
    keys: CopyKeys,
    setup: Setup,
    recon: OnceLock<Recon>,
}

/// Where copies go that nobody wants.
struct Nowhere;

impl CopySink for Nowhere {
    fn write(&mut self, bytes: &[u8]) -> std::result::Result<(), RecoveryError> {
        std::hint::black_box(bytes);
        Ok(())
    }

    fn finish(&mut self) -> std::result::Result<Vec<PathBuf>, RecoveryError> {
        Ok(Vec::new())
    }
}

impl Copies {
    /// The copies of a store over a kernel that is made of `parts`.
    pub(crate) fn new(parts: &uow::Parts) -> Copies {
        let (keys, label) = (Arc::clone(&parts.keys), "system".to_owned());
        let setup = Setup {
            seam: parts.seam.clone(),
            keys: Arc::clone(&keys),
            label: label.clone(),
            system: parts.system,
            folders: [parts.home.clone(), parts.home.clone()],
            compact_bytes: 1 << 20,
        };
        let keys = CopyKeys { keys, label, system: parts.system };
        Copies { keys, setup, recon: OnceLock::new() }
    }

    fn recon(&self) -> Result<&Recon> {
        if let Some(recon) = self.recon.get() {
            return Ok(recon);
        }
        Recon::create(&self.setup, &[]).map_err(failed)?;
        let (recon, _) = Recon::open(self.setup.clone()).map_err(failed)?;
        Ok(self.recon.get_or_init(|| recon))
    }

    /// Copies a data set; its bytes.
    pub(crate) fn make(
        &self,
        store: &KernelStore,
        name: &str,
        to: Option<&Path>,
        rate: u64,
    ) -> Result<u64> {
        let kernel = store.kernel();
        let mut sink: Box<dyn CopySink> = match to {
            None => Box::new(Nowhere),
            Some(path) => {
                Box::new(CopyFiles::begin(kernel.seam(), &[path.to_owned()]).map_err(failed)?)
            }
        };
        let options = CopyOptions { since: None, bytes_per_second: rate };
        let (keys, names) = (&self.keys, [name.to_owned()]);
        let recon = self.recon()?;
        let made =
            recovery::copy_sets(kernel, keys, recon, &names, &mut *sink, &options, &mut |_| true);
        let made = made.map_err(failed)?;
        if to.is_none() {
            // It is of no use, and nobody shall try.
            recon.add(vec![recon::Record::ImageCopyGone(made.copy.number)]).map_err(failed)?;
        }
        Ok(made.copy.bytes)
    }

    /// Recovers a data set to now.
    pub(crate) fn recover(&self, store: &KernelStore, name: &str) -> Result<Recovery> {
        let (kernel, recon) = (store.kernel(), self.recon()?);
        let names = [name.to_owned()];
        let plan = recovery::plan(kernel, &recon.state(), &names, Target::Now, &Births::new());
        let plan = plan.map_err(failed)?;
        let begin = Instant::now();
        let (mut first, mut last) = (None, begin);
        let mut tell = |at: Progress<'_>| {
            if at.what == "the log" {
                last = Instant::now();
                first.get_or_insert(last);
            }
        };
        let options = RecoverOptions::default();
        let log = Arc::clone(kernel.log());
        recovery::recover(store, &self.keys, recon, &*log, &plan, options, &mut tell)
            .map_err(failed)?;
        let first = first.unwrap_or(last);
        Ok(Recovery {
            copy_bytes: plan.copy_bytes,
            copy_seconds: (first - begin).as_secs_f64(),
            log_bytes: plan.log_to.0.saturating_sub(plan.log_from.0),
            log_seconds: (last - first).as_secs_f64(),
            last_seconds: last.elapsed().as_secs_f64(),
        })
    }
}
