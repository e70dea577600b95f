//! What is spoilt so that no command repairs it: what is named then is put back, or the system is
//! restored from key file, archives and image copies.
//!
//! Everything is archived before, and a copy of key file and configuration kept, as operators are
//! asked to: so nothing may be missing afterwards.

use std::path::{Path, PathBuf};

use seal::Passphrase;
use seam::disk::read_small;
use seam::fresh::replace_small;

use super::torture::{BLOCK, COPIES, LOGS, Torture};
use super::{PASSPHRASE, remove_folder};
use crate::failure::{Failure, Result};

/// What is spoilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Disaster {
    /// Both copies of the log at one place.
    LogAtOnePlace,
    /// Both folders of the log are empty.
    LogGone,
    /// Both slots of the control file.
    Control,
    /// The key file.
    Keys,
    /// Both copies of RECON.
    Recon,
    /// The system's folder is gone.
    Folder,
}

const ALL: [Disaster; 6] = [
    Disaster::LogAtOnePlace,
    Disaster::LogGone,
    Disaster::Control,
    Disaster::Keys,
    Disaster::Recon,
    Disaster::Folder,
];

/// No small file is longer.
const SMALL_MAX: usize = 1 << 20;
const SMALL: [&str; 2] = ["holdfast.keys", "holdfast.toml"];

impl Torture<'_> {
    /// Spoils what there is no other copy of, and does what is advised. Says what was done.
    pub(super) fn disaster(&mut self) -> Result<String> {
        let what = ALL[self.below(ALL.len() as u64) as usize];
        let reported = |failure: Failure| failure.within(&format!("{what:?}"));
        // This starts the system and stops it in order: nothing is in flight.
        self.command(&["archive", "now"]).map_err(reported)?;
        for name in SMALL {
            let bytes = self.small(&self.dir.join(name))?;
            replace_small(&*self.context.seam.disk, &self.kept(name), &bytes)?;
        }
        let done = self.strike(what)?;
        self.is_named(what, &done)?;
        let helped = match what {
            Disaster::Keys => self.put_keys_back(),
            Disaster::Recon => self.rebuild_recon(),
            Disaster::Folder => self.restore(),
            Disaster::LogAtOnePlace | Disaster::LogGone | Disaster::Control => {
                self.repair().or_else(|_| self.restore())
            }
        };
        helped.and_then(|()| self.repair()).map_err(|failure| failure.within(&done))?;
        Ok(done)
    }

    fn small(&self, path: &Path) -> Result<Vec<u8>> {
        Ok(read_small(&*self.context.seam.disk, path, SMALL_MAX)?)
    }

    /// Where a copy of a small file is kept.
    fn kept(&self, name: &str) -> PathBuf {
        self.base.join(format!("kept-{name}"))
    }

    fn strike(&mut self, what: Disaster) -> Result<String> {
        let dir = self.dir.clone();
        let within = self.below(100);
        Ok(match what {
            Disaster::LogAtOnePlace => {
                let file = self.some_file(&dir.join(LOGS[0]));
                let Some(name) = file.as_deref().and_then(|path| path.file_name()) else {
                    return Ok("the log has no file".into());
                };
                let [one, other] = LOGS.map(|log| dir.join(log).join(name));
                let blocks = self.open(&one)?.len()? / BLOCK;
                let at = self.below(blocks) * BLOCK + within;
                format!("{}; {}", self.flip(&one, at)?, self.flip(&other, at)?)
            }
            Disaster::LogGone => {
                for folder in LOGS.map(|log| dir.join(log)) {
                    for name in self.context.seam.disk.list(&folder)? {
                        self.context.seam.disk.remove(&folder.join(name))?;
                    }
                }
                "both folders of the log empty".into()
            }
            Disaster::Control => {
                let path = dir.join("control");
                let first = self.flip(&path, within)?;
                format!("{first}; {}", self.flip(&path, BLOCK + within)?)
            }
            Disaster::Keys => self.flip(&dir.join(SMALL[0]), within)?,
            Disaster::Recon => {
                let [one, other] = ["recon.1", "recon.2"].map(|name| dir.join(name));
                format!("{}; {}", self.flip(&one, within)?, self.flip(&other, within)?)
            }
            Disaster::Folder => {
                remove_folder(&dir);
                "the system's folder removed".into()
            }
        })
    }

    /// The doctor says what is lost, and what to do.
    fn is_named(&self, what: Disaster, done: &str) -> Result<()> {
        let passphrase = Passphrase::from(PASSPHRASE);
        let diagnosis = system::diagnose(&self.context.seam, &self.dir, Some(&passphrase));
        let named = !diagnosis.is_sound() && !diagnosis.steps.is_empty();
        // At a place that is needed no more the log may be damaged.
        if named || what == Disaster::LogAtOnePlace {
            return Ok(());
        }
        let parts = diagnosis.parts;
        Err(Failure::other(format!("{done}: the doctor finds nothing: {parts:?}"), ""))
    }

    fn put_keys_back(&self) -> Result<()> {
        let bytes = self.small(&self.kept(SMALL[0]))?;
        Ok(replace_small(&*self.context.seam.disk, &self.dir.join(SMALL[0]), &bytes)?)
    }

    fn rebuild_recon(&self) -> Result<()> {
        let [one, two] = COPIES.map(|name| self.base.join(name).display().to_string());
        self.command(&["recon", "rebuild", "--from", &one, "--from", &two])
    }

    /// The system as on a bare machine, and new image copies.
    fn restore(&self) -> Result<()> {
        remove_folder(&self.dir);
        let text = |path: PathBuf| path.display().to_string();
        let [keys, config] = SMALL.map(|name| text(self.kept(name)));
        let [one, two] = COPIES.map(|name| text(self.base.join(name)));
        let dir = text(self.dir.clone());
        let (keys, config) = (["--keys", &keys], ["--config", &config]);
        let copies = ["--copies", &one, "--copies", &two];
        self.run(&[&["restore", &dir][..], &keys, &config, &copies].concat())?;
        self.copy()
    }
}
