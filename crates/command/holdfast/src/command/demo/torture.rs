//! Torture: between two lives of the working process files are spoilt at random, and operators'
//! commands come at random moments. Afterwards the data is exactly right, or what is damaged is
//! named and the named commands make it right.
//!
//! In most rounds data sets are spoilt, in any way, and one copy of whatever has two: log, RECON,
//! archives, image copies, slots of the control file. In others it is both copies of archives and
//! image copies, or of the log at different places. In some it is a `disaster`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use seam::disk::{Create, File, Open};

use crate::command::again;
use crate::context::Context;
use crate::failure::{Failure, Result};

/// Who spoils files, and what he remembers.
pub(super) struct Torture<'a> {
    pub(super) context: &'a Context,
    /// The system's folder, and the one in which it and everything else is.
    pub(super) dir: PathBuf,
    pub(super) base: PathBuf,
    seed: u64,
    /// A data file as it was some rounds ago.
    earlier: Option<(PathBuf, Vec<u8>)>,
}

/// Bytes that are moved at once.
pub(super) const BLOCK: u64 = 4096;
/// Folders of archives, of image copies and of the log, one of each for a side.
const ARCHIVES: [&str; 2] = ["archive-one", "archive-two"];
pub(super) const COPIES: [&str; 2] = ["copies-one", "copies-two"];
pub(super) const LOGS: [&str; 2] = ["log", "log-copy"];
/// A file longer than this is not kept to be put back later.
const KEPT_MAX: u64 = 64 << 20;

impl<'a> Torture<'a> {
    pub(super) fn new(context: &'a Context, dir: &Path, base: &Path) -> Result<Torture<'a>> {
        let mut seed = [0; 8];
        context.seam.entropy.fill(&mut seed)?;
        let seed = u64::from_le_bytes(seed) | 1;
        let (dir, base) = (dir.to_owned(), base.to_owned());
        Ok(Torture { context, dir, base, seed, earlier: None })
    }

    /// Archives and image copies in two folders each, so that everything can come back.
    pub(super) fn prepare(&mut self) -> Result<()> {
        let path = self.dir.join("holdfast.toml");
        let bytes = seam::disk::read_small(&*self.context.seam.disk, &path, 1 << 20)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let folders = ARCHIVES.map(|name| self.base.join(name));
        let [one, two] = folders.map(|folder| format!("{:?}", folder.display().to_string()));
        let text = text.replace("#: folders = []", &format!("folders = [{one}, {two}]"));
        seam::fresh::replace_small(&*self.context.seam.disk, &path, text.as_bytes())?;
        self.copy()
    }

    /// Copies everything anew.
    pub(super) fn copy(&self) -> Result<()> {
        let folders = COPIES.map(|name| self.base.join(name));
        let [one, two] = folders.map(|folder| folder.display().to_string());
        self.command(&["image-copy", "--all", "--to", &one, "--to", &two])
    }

    /// Something that an operator may want of a system in use.
    pub(super) fn operate(&mut self) -> Result<String> {
        let name = ["ACCOUNTS", "JOURNAL"][self.below(2) as usize];
        let words: Vec<&str> = match self.below(8) {
            0 => {
                self.copy()?;
                return Ok("image-copy".into());
            }
            1 => vec!["archive", "now"],
            2 => vec!["recover", "--set", name],
            3 => vec!["pool", "resize", "default", "--bytes", "32 MiB"],
            4 => vec!["rekey", "--set", name],
            5 => vec!["archive", "delete"],
            6 => vec!["archive", "accumulate", "--set", name],
            _ => vec!["repair", "--recon"],
        };
        match self.command(&words) {
            // An archive that no recovery needs may be lost on both sides.
            Err(failure) if words[1] == "accumulate" => {
                let (code, why, _) = failure.parts();
                Ok(format!("accumulate, refused: {why} ({code})"))
            }
            other => other.map(|()| words.join(" ")),
        }
    }

    /// Proves the system and has it repaired.
    pub(super) fn repair(&self) -> Result<()> {
        let dir = self.dir.display().to_string();
        self.run(&["verify", &dir, "--repair"])
    }

    /// Runs a command on the system.
    pub(super) fn command(&self, words: &[&str]) -> Result<()> {
        let dir = self.dir.display().to_string();
        let mut all = words.to_vec();
        all.extend(["-s", &dir]);
        self.run(&all)
    }

    pub(super) fn run(&self, words: &[&str]) -> Result<()> {
        let file = self.base.join("passphrase").display().to_string();
        let mut all = vec!["holdfast".to_owned()];
        all.extend(words.iter().map(|word| (*word).to_owned()));
        all.extend(["--passphrase-file".into(), file]);
        let code = again(self.context, &all)?;
        if code == std::process::ExitCode::SUCCESS {
            return Ok(());
        }
        let remedy = format!("Look at {}.", self.dir.display());
        Err(Failure::other(format!("{} found something that it cannot repair", words[0]), remedy))
    }

    /// Spoils files of the stopped system and has them repaired. Says what was done.
    pub(super) fn round(&mut self) -> Result<String> {
        let done = match self.below(10) {
            0..=5 => self.spoil()?,
            6 => self.spoil_kept()?,
            7 => self.spoil_logs()?,
            _ => return self.disaster(),
        };
        let done = done.join("; ");
        self.repair().map_err(|failure| failure.within(&done))?;
        Ok(done)
    }

    /// Archives and image copies on both sides; the data are whole.
    fn spoil_kept(&mut self) -> Result<Vec<String>> {
        let mut done = Vec::new();
        for _ in 0..=self.below(4) {
            let folder = [ARCHIVES, COPIES][self.below(2) as usize][self.below(2) as usize];
            let folder = self.base.join(folder);
            if let Some(path) = self.some_file(&folder) {
                done.push(self.spoil_file(&path, false)?);
            }
        }
        Ok(done)
    }

    /// Both copies of the log, each in a segment that is whole in the other one.
    fn spoil_logs(&mut self) -> Result<Vec<String>> {
        let mut names = self.context.seam.disk.list(&self.dir.join(LOGS[0]))?;
        names.sort();
        let segments = names.len() as u64;
        if segments < 2 {
            return Ok(Vec::new());
        }
        let one = self.below(segments);
        let other = (one + 1 + self.below(segments - 1)) % segments;
        let mut done = Vec::new();
        for (log, number) in LOGS.into_iter().zip([one, other]) {
            let path = self.dir.join(log).join(&names[number as usize]);
            let len = self.open(&path)?.len()?;
            let at = self.below(len);
            done.push(self.flip(&path, at)?);
        }
        Ok(done)
    }

    /// One of the files in a folder. Its mark holds nothing.
    pub(super) fn some_file(&mut self, folder: &Path) -> Option<PathBuf> {
        let mut names = self.context.seam.disk.list(folder).unwrap_or_default();
        names.retain(|name| {
            !name.starts_with("holdfast.archive") && !name.starts_with("holdfast.copies")
        });
        let name = self.below(names.len() as u64) as usize;
        names.get(name).map(|name| folder.join(name))
    }

    /// Data sets in any way, and of what has two copies one.
    fn spoil(&mut self) -> Result<Vec<String>> {
        let mut done = Vec::new();
        // Of what has two copies, only one is spoilt in a round.
        let side = self.below(2) as usize;
        for _ in 0..=self.below(3) {
            let (folder, data) = match self.below(8) {
                0..=3 => (self.dir.join("data"), true),
                4 => (self.dir.join(LOGS[side]), false),
                5 => (self.base.join(ARCHIVES[side]), false),
                6 => (self.base.join(COPIES[side]), false),
                _ => {
                    done.push(self.spoil_small(side)?);
                    continue;
                }
            };
            if let Some(path) = self.some_file(&folder) {
                done.push(self.spoil_file(&path, data)?);
            }
        }
        Ok(done)
    }

    /// A slot of the control file, a copy of RECON, or the double-write area.
    fn spoil_small(&mut self, side: usize) -> Result<String> {
        let name = match self.below(3) {
            0 => "control",
            1 => ["recon.1", "recon.2"][side],
            _ => "double-write",
        };
        let path = self.dir.join(name);
        let within = self.below(100);
        let at = if name == "control" { BLOCK * side as u64 + within } else { within };
        self.flip(&path, at)
    }

    fn spoil_file(&mut self, path: &Path, data: bool) -> Result<String> {
        let file = self.open(path)?;
        let len = file.len()?;
        let blocks = (len / BLOCK).max(1);
        let (from, to) = (self.below(blocks) * BLOCK, self.below(blocks) * BLOCK);
        let text = path.display();
        match self.below(if data { 6 } else { 3 }) {
            0 => {
                self.context.seam.disk.remove(path)?;
                Ok(format!("{text} removed"))
            }
            1 => {
                file.set_len(from)?;
                Ok(format!("{text} cut to {from} bytes"))
            }
            2 => self.flip(path, from + 50),
            3 if len >= from.max(to) + BLOCK => {
                let (mut one, mut two) = (vec![0; BLOCK as usize], vec![0; BLOCK as usize]);
                file.read_at(&mut one, from)?;
                file.read_at(&mut two, to)?;
                file.write_at(&one, to)?;
                file.write_at(&two, from)?;
                Ok(format!("{text}: {from} and {to} exchanged"))
            }
            _ => self.put_back(path, &*file, len),
        }
    }

    /// Puts an older copy of a data file back, or keeps one for later.
    fn put_back(&mut self, path: &Path, file: &dyn File, len: u64) -> Result<String> {
        match self.earlier.take() {
            Some((of, bytes)) if of == path => {
                file.set_len(bytes.len() as u64)?;
                file.write_at(&bytes, 0)?;
                Ok(format!("{} as it was before", path.display()))
            }
            _ => {
                let mut bytes = vec![0; len.min(KEPT_MAX) as usize];
                file.read_at(&mut bytes, 0)?;
                self.earlier = (len <= KEPT_MAX).then(|| (path.to_owned(), bytes));
                Ok(format!("{} kept", path.display()))
            }
        }
    }

    pub(super) fn flip(&mut self, path: &Path, at: u64) -> Result<String> {
        let file = self.open(path)?;
        if at < file.len()? {
            let mut byte = [0];
            file.read_at(&mut byte, at)?;
            file.write_at(&[byte[0] ^ 1 << self.below(8)], at)?;
        }
        Ok(format!("{}: a bit at {at}", path.display()))
    }

    pub(super) fn open(&self, path: &Path) -> Result<Arc<dyn File>> {
        let how = Open { create: Create::Never, write: true, direct: false, dsync: false };
        Ok(self.context.seam.disk.open(path, how)?)
    }

    /// A number below another one.
    pub(super) fn below(&mut self, most: u64) -> u64 {
        // xorshift: nothing depends on its quality.
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed % most.max(1)
    }
}
