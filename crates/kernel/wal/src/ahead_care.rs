//! Care for the write-ahead data set: whether its files have what only they have, and a new
//! beginning where they do not.
//!
//! Invariants:
//! 1. A look changes nothing, and nobody waits for it. What changes while it is looked at is looked
//!    at again; only what is wrong and stands still is called damaged.
//! 2. Before the files begin anew the log holds everything that they held, and nobody writes to
//!    them: an entry that came late would spoil a new one, or be taken for it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::Lsn;
use seal::Tag;

use crate::beginning::Beginning;
use crate::group::KeyBook;
use crate::log::Log;
use crate::wads::{self, Edge, Entries};
use crate::{LogConfig, LogEnv, LogError};

/// How often entries are looked at that change all the time.
const LOOKS: u32 = 5;

/// A file of the write-ahead data set that cannot be relied on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AheadDamage {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: String,
}

/// What the files must have now.
#[derive(PartialEq, Eq)]
struct Now {
    beginning: Beginning,
    next: u64,
    previous: Tag,
    entries: u32,
}

impl Log {
    /// What is wrong with the write-ahead data set (1); nothing if there is none.
    #[must_use]
    pub fn prove_ahead(&self) -> Vec<AheadDamage> {
        let core = &*self.core;
        let Some(config) = &core.config.wads else { return Vec::new() };
        let damage = |(path, why)| AheadDamage { path, why };
        if let Some(why) = core.wads.trouble.lock().clone() {
            return config.paths().map(|path| damage((path, why.clone()))).collect();
        }
        let flaws = |now: &Now| -> Vec<AheadDamage> {
            let flaw = |path: PathBuf| self.ahead_flaw(&path, now).map(|why| damage((path, why)));
            config.paths().filter_map(flaw).collect()
        };
        for _ in 0..LOOKS {
            let Some(now) = self.ahead_now() else { return Vec::new() };
            let found = flaws(&now);
            if found.is_empty() || self.ahead_now().as_ref() == Some(&now) {
                return found;
            }
        }
        // The files themselves can be judged, whatever goes on in them.
        let beginning = self.ahead_now().map_or(Beginning::UNNAMED, |now| now.beginning);
        flaws(&Now { beginning, next: u64::MAX / 4, previous: Tag([0; 16]), entries: 0 })
    }

    /// Begins the write-ahead data set anew, after the log has everything that it had (2). Returns
    /// what an operator should know if it cannot be used.
    ///
    /// # Errors
    /// If the log cannot take it over, or that it has cannot be recorded.
    pub fn renew_ahead(&self) -> Result<Option<String>, LogError> {
        let core = &*self.core;
        let _alone = self.repairing.lock();
        core.stop_ahead()?;
        let held = *core.wads.recorded.lock();
        *core.wads.trouble.lock() = None;
        core.go_ahead(held)
    }

    /// Writes nothing ahead any more; the log gets what the files had. Nobody repairs meanwhile.
    pub(crate) fn leave_ahead(&self, error: &LogError) -> Result<(), LogError> {
        *self.core.wads.trouble.lock() = Some(error.to_string());
        self.core.stop_ahead()?;
        self.core.end_ahead()
    }

    /// What the files have by now; `None` if nothing is written ahead.
    fn ahead_now(&self) -> Option<Now> {
        let sealer = self.core.sealer.lock();
        let ahead = sealer.ahead.as_ref()?;
        let (beginning, (group, written)) = (ahead.beginning(), ahead.written());
        let under_way = u32::from(self.core.flush_state.lock().writes_ahead());
        let entries = if group == sealer.next { written.saturating_sub(under_way) } else { 0 };
        Some(Now { beginning, next: sealer.next, previous: sealer.previous, entries })
    }

    fn ahead_flaw(&self, path: &Path, now: &Now) -> Option<String> {
        let next = base::GroupNumber(now.next);
        let edge = Edge { next, previous: now.previous, end: Lsn::NONE, whole: Lsn::NONE };
        let mut entries = Entries::new();
        let read = wads::read(
            &self.core.env,
            &self.core.config,
            &mut self.core.book(),
            &edge,
            now.beginning,
            path,
            &mut entries,
        );
        match read {
            Err(error) => return Some(error.to_string()),
            Ok(file) if !file.begun => {
                return Some("it has not even its first entry: it was overwritten".into());
            }
            Ok(_) => {}
        }
        let missing = (0..now.entries).find(|index| !entries.contains_key(index))?;
        Some(format!("entry {missing} of {} for {next} is not whole", now.entries))
    }
}

/// Looks at the files of a write-ahead data set of a stopped system, which `holds` what the log
/// lacks since that beginning: how many entries prove themselves in each, or why it cannot be
/// used. Changes nothing.
#[must_use]
pub fn look_ahead(
    env: &LogEnv,
    config: &LogConfig,
    holds: Option<Beginning>,
) -> Vec<(PathBuf, Result<u64, String>)> {
    let beginning = holds.unwrap_or(Beginning::UNNAMED);
    let mut book = KeyBook::new(Arc::clone(&env.keys), &config.key_label, env.system);
    let files = config.wads.iter().flat_map(crate::WadsConfig::paths);
    files
        .map(|path| {
            let counted = wads::count(env, config, &mut book, beginning, &path);
            (path, counted.map_err(|error| error.to_string()))
        })
        .collect()
}
