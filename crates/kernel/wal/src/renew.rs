//! A new key for a log in use, and which keys the files of a log need.
//!
//! Invariants:
//! 1. The new key comes with a salt of its own, so no nonce is ever used twice (K3). The first
//!    group under it says so and begins with a record, so readers may begin there.
//! 2. The write-ahead data set begins anew under the new key: its first entry is never written
//!    over.
//! 3. A key is needed as long as any block of the log's files names it, whether or not anybody is
//!    going to read that block: a file that is used again is looked at before it is written over.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use base::KeyGeneration;
use seal::{Format, Salt};
use seam::disk::{BLOCK, Open};
use seam::mem::AlignedBuf;

use crate::group::{GroupHead, KeyBook, Purpose};
use crate::log::Log;
use crate::sealer::Renewal;
use crate::segment::{FileAt, SegmentHead};
use crate::wads::EntryHead;
use crate::{LogError, WadsConfig};

/// How much is read at once.
const WINDOW_BYTES: usize = 1 << 20;

impl Log {
    /// Goes over to the current generation of the log's key, with a new salt, from one of the next
    /// groups on; headers of segments at once. Returns the generation; 0 for a plain log.
    ///
    /// # Errors
    /// If there is no key or no randomness; nothing has changed then. If the log cannot take over
    /// what the write-ahead data set has: it goes over to the key all the same.
    pub fn renew_key(&self) -> Result<KeyGeneration, LogError> {
        let (env, config) = (&self.core.env, &self.core.config);
        if config.format == Format::Plain {
            return Ok(KeyGeneration(0));
        }
        let mut book = KeyBook::new(Arc::clone(&env.keys), &config.key_label, env.system);
        let salt = Salt::draw(env.seam.entropy.as_ref()).map_err(LogError::Entropy)?;
        let generation = book.current(config.format)?;
        let key = book.working(Purpose::Group, config.format, generation, &salt)?;
        let entry_key = book.working(Purpose::Wads, config.format, generation, &salt)?;
        self.core.heads.renew(&mut book, generation, salt)?;
        let renewal = Renewal { generation, salt, key, entry_key };
        let mut sealer = self.core.sealer.lock();
        sealer.renewal = Some(renewal);
        let goes_ahead = sealer.ahead.is_some();
        drop(sealer);
        if goes_ahead {
            self.renew_ahead()?;
        }
        Ok(generation)
    }

    /// Whether groups are sealed, not plain.
    #[must_use]
    pub fn is_sealed(&self) -> bool {
        self.core.config.format == Format::Sealed
    }

    /// The label of the log's key.
    #[must_use]
    pub fn key_label(&self) -> &str {
        &self.core.config.key_label
    }

    /// Every generation of the log's key that some block of its files names (3). Reads all of them.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn generations_on_disk(&self) -> Result<BTreeSet<KeyGeneration>, LogError> {
        let (env, config) = (&self.core.env, &self.core.layout());
        let mut found = BTreeSet::new();
        for dir in (0..config.copies.len() as u8).flat_map(|copy| config.folders(copy)) {
            // A copy that is lost needs no key.
            let names = env.seam.disk.list(&dir).unwrap_or_default();
            for name in names.iter().filter(|name| FileAt::parse(name).is_some()) {
                self.generations_in(&dir.join(name), &mut found)?;
            }
        }
        for path in config.wads.iter().flat_map(WadsConfig::paths) {
            if env.seam.disk.exists(&path).unwrap_or(false) {
                self.generations_in(&path, &mut found)?;
            }
        }
        Ok(found)
    }

    fn generations_in(
        &self,
        path: &Path,
        found: &mut BTreeSet<KeyGeneration>,
    ) -> Result<(), LogError> {
        let failed = |error| LogError::io("read", path, error);
        let file = self.core.env.seam.disk.open(path, Open::READ).map_err(failed)?;
        let len = file.len().map_err(failed)? / BLOCK as u64 * BLOCK as u64;
        let mut window = AlignedBuf::zeroed(WINDOW_BYTES);
        let mut at = 0;
        while at < len {
            let bytes = (len - at).min(WINDOW_BYTES as u64) as usize;
            file.read_at(&mut window[..bytes], at).map_err(failed)?;
            for block in window[..bytes].chunks_exact(BLOCK) {
                if let Ok(head) = GroupHead::decode(block)
                    && head.format == Format::Sealed
                {
                    found.insert(head.generation);
                }
                found.extend(SegmentHead::generation_of(block));
                found.extend(EntryHead::generation_of(block));
            }
            at += bytes as u64;
        }
        Ok(())
    }
}
