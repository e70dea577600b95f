//! Files of people's that a command has open: none of them is read and written at once.
//!
//! Invariants:
//! 1. A file is known by its device and its number there, whatever names and links lead to it.
//! 2. Devices and pipes are anything twice: only what keeps its bytes counts.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::rc::{Rc, Weak};

/// What a file is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    number: u64,
}

impl Identity {
    fn of(metadata: &Metadata) -> Option<Identity> {
        let identity = Identity { device: metadata.dev(), number: metadata.ino() };
        metadata.is_file().then_some(identity)
    }

    /// That of the file that a path leads to, if there is one.
    pub(crate) fn at(path: &Path) -> Option<Identity> {
        Identity::of(&std::fs::metadata(path).ok()?)
    }
}

/// Says that a file is open, as long as it is there.
pub(crate) struct Mark {
    identity: Option<Identity>,
    writes: bool,
}

/// The files that are open.
#[derive(Default)]
pub(crate) struct OpenFiles {
    marks: Vec<Weak<Mark>>,
}

impl OpenFiles {
    /// Before a file is opened to be written: what is open is not cut.
    ///
    /// # Errors
    /// If it is open.
    pub(crate) fn check_write(&self, path: &Path) -> io::Result<()> {
        self.check(Identity::at(path), path, true)
    }

    /// Before a file is opened to be read.
    ///
    /// # Errors
    /// If it is being written.
    pub(crate) fn check_read(&self, path: &Path) -> io::Result<()> {
        self.check(Identity::at(path), path, false)
    }

    fn check(&self, identity: Option<Identity>, path: &Path, writes: bool) -> io::Result<()> {
        let Some(identity) = identity else { return Ok(()) };
        let known = |mark: Rc<Mark>| mark.identity == Some(identity) && (writes || mark.writes);
        if !self.marks.iter().filter_map(Weak::upgrade).any(known) {
            return Ok(());
        }
        let path = path.display();
        Err(io::Error::other(format!("{path} is open already: it is not read and written at once")))
    }

    /// A file is open now.
    ///
    /// # Errors
    /// What the system says of it.
    pub(crate) fn note(&mut self, file: &File, writes: bool) -> io::Result<Rc<Mark>> {
        self.marks.retain(|mark| mark.strong_count() > 0);
        let mark = Rc::new(Mark { identity: Identity::of(&file.metadata()?), writes });
        self.marks.push(Rc::downgrade(&mark));
        Ok(mark)
    }
}
