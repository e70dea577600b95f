//! Where output goes: under its name only when everything about it is right.
//!
//! 1. A file has no name, or a hidden one, until it is whole and synced ([`Fresh`]); an error, or
//!    dropping the target, removes it. So its name never shows half of it, nor anything unproven.
//! 2. What goes to a stream and must not be seen too early waits in memory, and past
//!    [`MEMORY_MAX`] in a file that has no name any more.
//! 3. What has a hidden name is removed when a signal ends the process in the middle of the work,
//!    if that is asked for ([`Target::leave_nothing_on_signals`]). Signals that whoever started the
//!    process has made it ignore, as `nohup` does, stay ignored.
//! 4. A file that is there already is replaced only if that is allowed; its successor gets its
//!    permissions. Where a link stands, what it leads to is replaced.
//! 5. A file of a system is never replaced, nor is its name given away, whatever is allowed
//!    ([`seam::system_files`]).

use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use seam::Seam;
use seam::disk::{Create, File, Open};
use seam::fresh::Fresh;
use seam::sync::Mutex;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::{Error, Result};

/// What waits in memory before a file is made for it.
const MEMORY_MAX: usize = 8 << 20;
const COPY: usize = 1 << 20;

/// Output that is not to be seen yet.
pub struct Target {
    seam: Seam,
    place: Place,
    file: Option<Arc<dyn File>>,
    /// The file again, if it is to have a name.
    fresh: Option<Fresh>,
    held: Vec<u8>,
    length: u64,
}

enum Place {
    File { path: PathBuf, replace: bool },
    Stream(Box<dyn Write + Send>),
}

fn at(path: &Path, verb: &str) -> impl FnOnce(io::Error) -> Error {
    Error::io(format!("{verb} {}", path.display()))
}

/// The hidden names of files that this process is writing.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Lets a file go, or gives it its name, while no signal ends the process in between.
fn end(fresh: Fresh, how: impl FnOnce(Fresh) -> io::Result<()>) -> io::Result<()> {
    let mut unfinished = UNFINISHED.lock();
    let hidden = fresh.hidden_at().map(Path::to_owned);
    let done = how(fresh);
    unfinished.retain(|one| Some(one) != hidden.as_ref());
    done
}

fn taken(path: &Path) -> Error {
    Error::Name(format!("{} is there already; say --yes to replace it", path.display()))
}

const NEW: Open = Open { create: Create::New, write: true, direct: false, dsync: false };

impl Target {
    /// A file; one that is there already is replaced if `replace`.
    ///
    /// # Errors
    /// If it is there and may not be replaced, if it is a file of a system, or the folder takes no
    /// file.
    pub fn file(seam: &Seam, path: &Path, replace: bool) -> Result<Target> {
        Target::spare(path)?;
        let path = &led_to(path);
        if !replace && seam.disk.exists(path).map_err(at(path, "looking for"))? {
            return Err(taken(path));
        }
        let mut target = Target::new(seam, Place::File { path: path.to_owned(), replace });
        let mut unfinished = UNFINISHED.lock();
        let fresh = Fresh::begin(&seam.disk, path).map_err(at(path, "making"))?;
        unfinished.extend(fresh.hidden_at().map(Path::to_owned));
        target.file = Some(Arc::clone(fresh.file()));
        target.fresh = Some(fresh);
        Ok(target)
    }

    /// Refuses a file of a system (5).
    ///
    /// # Errors
    /// If it is one, or would get the name of one.
    pub fn spare(path: &Path) -> Result<()> {
        match seam::system_files::of_a_system(path) {
            Some(holds) => Err(Error::OfASystem { path: path.display().to_string(), holds }),
            None => Ok(()),
        }
    }

    /// From now on SIGHUP, SIGINT and SIGTERM end the process as ever, but every file that has not
    /// come to its name yet goes with it (3).
    ///
    /// # Errors
    /// If signals cannot be watched.
    pub fn leave_nothing_on_signals(seam: &Seam) -> Result<()> {
        let failed = Error::io("watching for signals");
        let received = seam::process::not_ignored(&[SIGHUP, SIGINT, SIGTERM]);
        let mut signals = Signals::new(received).map_err(failed)?;
        let disk = Arc::clone(&seam.disk);
        let watch = move || {
            if let Some(signal) = signals.forever().next() {
                // No other file can be begun as long as this is held.
                let unfinished = UNFINISHED.lock();
                // There is no reader left to tell.
                unfinished.iter().for_each(|fresh| drop(disk.remove(fresh)));
                std::process::exit(128 + signal);
            }
        };
        let failed = Error::io("watching for signals");
        seam::thread::spawn("signals", watch).map(drop).map_err(failed)
    }

    /// A stream that gets everything at the end.
    #[must_use]
    pub fn stream(seam: &Seam, stream: Box<dyn Write + Send>) -> Target {
        Target::new(seam, Place::Stream(stream))
    }

    fn new(seam: &Seam, place: Place) -> Target {
        let seam = seam.clone();
        Target { seam, place, file: None, fresh: None, held: Vec::new(), length: 0 }
    }

    fn draw(&self) -> Result<u64> {
        let mut bytes = [0; 8];
        self.seam.entropy.fill(&mut bytes).map_err(Error::io("drawing a name"))?;
        Ok(u64::from_ne_bytes(bytes))
    }

    /// What has been written, to be read again before it appears.
    ///
    /// # Errors
    /// If what is in memory cannot be written to the file.
    pub fn again(&mut self) -> Result<impl Read + '_> {
        self.drain().map_err(self.failed())?;
        Ok(Again { target: self, at: 0 })
    }

    /// Everything about the output is right: it appears.
    ///
    /// # Errors
    /// If the file cannot be synced or renamed, or the stream takes no more.
    pub fn release(mut self) -> Result<()> {
        self.drain().map_err(self.failed())?;
        if let (Place::File { path, .. }, Some(fresh)) = (&self.place, &self.fresh) {
            fresh.file().sync().map_err(at(path, "syncing"))?;
        }
        if let (Place::File { path, replace }, Some(fresh)) = (&self.place, self.fresh.take()) {
            let old = path.metadata().ok().map(|about| about.permissions());
            end(fresh, |fresh| fresh.keep(*replace)).map_err(|error| match error.kind() {
                // Another process was faster.
                ErrorKind::AlreadyExists => taken(path),
                _ => at(path, "naming")(error),
            })?;
            return old
                .map_or(Ok(()), |old| std::fs::set_permissions(path, old))
                .map_err(at(path, "giving the permissions of its predecessor to"));
        }
        let file = self.file.take();
        let length = self.length;
        let Place::Stream(stream) = &mut self.place else { return Ok(()) };
        match file {
            None => stream.write_all(&self.held),
            Some(file) => copy(&*file, length, stream),
        }
        .and_then(|()| stream.flush())
        .map_err(Error::io("writing the output"))
    }

    /// What an error of the device is about.
    fn failed(&self) -> impl FnOnce(io::Error) -> Error + use<> {
        Error::io(match (&self.place, &self.file) {
            (Place::File { path, .. }, _) => format!("writing {}", path.display()),
            (Place::Stream(_), Some(_)) => {
                let folder = std::env::temp_dir();
                format!("keeping the output in {} (TMPDIR) until it is proven", folder.display())
            }
            (Place::Stream(_), None) => "writing the output".to_owned(),
        })
    }

    /// Writes what is held in memory to the file, if there is one.
    fn drain(&mut self) -> io::Result<()> {
        if let Some(file) = &self.file {
            file.write_at(&self.held, self.length)?;
            self.length += self.held.len() as u64;
            self.held.clear();
        }
        Ok(())
    }

    /// A file without a name, for what does not fit in memory (2).
    fn spill(&mut self) -> io::Result<()> {
        let folder = std::env::temp_dir();
        self.file = Some(match self.seam.disk.open_unnamed(&folder) {
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                let path = folder.join(format!(".holdfast-{:016x}", self.draw()?));
                let file = self.seam.disk.open(&path, NEW)?;
                self.seam.disk.remove(&path)?;
                file
            }
            opened => opened?.0,
        });
        self.drain()
    }
}

fn copy(file: &dyn File, length: u64, stream: &mut dyn Write) -> io::Result<()> {
    let mut buffer = vec![0; COPY];
    let mut done = 0;
    while done < length {
        let bytes = usize::try_from(length - done).map_or(COPY, |left| left.min(COPY));
        file.read_at(&mut buffer[..bytes], done)?;
        stream.write_all(&buffer[..bytes])?;
        done += bytes as u64;
    }
    Ok(())
}

/// Links that lead to each other are no more than this.
const LINKS_MAX: usize = 40;

/// What a path leads to, be it there or not, if it is a link.
fn led_to(path: &Path) -> PathBuf {
    let mut at = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(next) = at.read_link() else { break };
        at = at.parent().map_or_else(|| next.clone(), |folder| folder.join(&next));
    }
    at
}

impl Target {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &self.file {
            Some(file) if bytes.len() >= COPY / 16 => {
                let file = Arc::clone(file);
                self.drain()?;
                file.write_at(bytes, self.length)?;
                self.length += bytes.len() as u64;
            }
            Some(_) => {
                self.held.extend_from_slice(bytes);
                if self.held.len() >= COPY {
                    self.drain()?;
                }
            }
            None => {
                self.held.extend_from_slice(bytes);
                if self.held.len() > MEMORY_MAX {
                    self.spill()?;
                }
            }
        }
        Ok(())
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes).map_err(|error| self.failed()(error))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.drain().map_err(|error| self.failed()(error))?;
        Ok(())
    }
}

/// What a target has.
struct Again<'a> {
    target: &'a Target,
    at: u64,
}

impl Read for Again<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = match &self.target.file {
            Some(_) => self.target.length,
            None => self.target.held.len() as u64,
        };
        let left = length - self.at;
        let bytes = usize::try_from(left).map_or(out.len(), |left| left.min(out.len()));
        match &self.target.file {
            Some(file) => file.read_at(&mut out[..bytes], self.at)?,
            None => {
                let begin = self.at as usize;
                out[..bytes].copy_from_slice(&self.target.held[begin..begin + bytes]);
            }
        }
        self.at += bytes as u64;
        Ok(bytes)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some(fresh) = self.fresh.take() {
            // Letting a file go does not fail.
            let _ = end(fresh, |fresh| {
                drop(fresh);
                Ok(())
            });
        }
    }
}
