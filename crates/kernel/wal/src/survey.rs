//! The survey: which files a log has on its copies, and what their headers say.
//!
//! Invariants:
//! 1. Nothing is changed here. But before anything is read it is synced: what the last process left
//!    in the device's cache would look durable and might still be lost with the power.
//! 2. A file that belongs to another system, another copy or another layout is an error at once:
//!    going on would overwrite it. The number of stripes is each segment's own affair.

use std::collections::BTreeMap;
use std::io::ErrorKind::NotFound;
use std::path::Path;
use std::sync::Arc;

use base::GroupNumber;
use seam::disk::File;
use seam::mem::AlignedBuf;

use crate::config::{SEGMENT_HEADER, window_of};
use crate::group::{Flaw, KeyBook, VERSION};
use crate::segment::{FileAt, SegmentHead, SegmentId, open_file};
use crate::{LogConfig, LogEnv, LogError, STRIPES_MAX};

/// One file of the log.
pub(crate) struct Surveyed {
    pub(crate) file: Arc<dyn File>,
    pub(crate) len: u64,
    pub(crate) id: Result<SegmentId, Flaw>,
}

/// All files of a log.
pub(crate) struct Survey {
    pub(crate) files: BTreeMap<FileAt, Surveyed>,
    /// Why a copy cannot be used: its folder or one of its files cannot be opened or synced.
    pub(crate) dead: Vec<Option<String>>,
    /// How many slots there are.
    pub(crate) slots: u32,
}

impl Survey {
    /// Looks at all files; opens them for durable writes if `write`.
    pub(crate) fn take(
        env: &LogEnv,
        config: &LogConfig,
        book: &mut KeyBook,
        write: bool,
    ) -> Result<Survey, LogError> {
        let copies = config.copies.len();
        let mut survey = Survey { files: BTreeMap::new(), dead: vec![None; copies], slots: 0 };
        for copy in 0..copies as u8 {
            let names = match list(env, config, copy) {
                Ok(names) => names,
                Err(error) => {
                    survey.dead[usize::from(copy)] = Some(error.to_string());
                    continue;
                }
            };
            for at in names {
                match look(env, config, book, at, write)? {
                    Ok(surveyed) => {
                        survey.slots = survey.slots.max(at.slot + 1);
                        survey.files.insert(at, surveyed);
                    }
                    Err(error) => {
                        survey.forget(copy, &error.to_string());
                        break;
                    }
                }
            }
        }
        Ok(survey)
    }

    /// Goes on as if a copy were not there.
    pub(crate) fn forget(&mut self, copy: u8, why: &str) {
        self.files.retain(|at, _| at.copy != copy);
        self.dead[usize::from(copy)] = Some(why.to_owned());
    }

    /// Whether a copy has any files.
    pub(crate) fn has_files(&self, copy: u8) -> bool {
        self.files.keys().any(|at| at.copy == copy)
    }

    /// What a file's header says, if it says something.
    pub(crate) fn id(&self, at: FileAt) -> Option<&SegmentId> {
        self.files.get(&at).and_then(|surveyed| surveyed.id.as_ref().ok())
    }

    /// The newest segment that one of `copies` names for a slot and stripe.
    pub(crate) fn newest(&self, copies: &[u8], slot: u32, stripe: u8) -> Option<SegmentId> {
        let ids = copies.iter().filter_map(|copy| self.id(FileAt { copy: *copy, slot, stripe }));
        ids.max_by_key(|id| id.sequence).copied()
    }

    /// The segments that `copies` name, in order: each slot holds its newest one.
    pub(crate) fn segments(
        &self,
        config: &LogConfig,
        copies: &[u8],
    ) -> Result<BTreeMap<u64, (u32, SegmentId)>, LogError> {
        let mut segments: BTreeMap<u64, (u32, SegmentId)> = BTreeMap::new();
        for slot in 0..self.slots {
            let ids = (0..STRIPES_MAX).filter_map(|stripe| self.newest(copies, slot, stripe));
            let Some(id) = ids.max_by_key(|id| id.sequence) else { continue };
            if id.sequence == 0 {
                continue;
            }
            if let Some((other, _)) = segments.insert(id.sequence, (slot, id)) {
                let at = FileAt { copy: copies[0], slot, stripe: 0 };
                return Err(LogError::Damaged {
                    group: id.first_group,
                    path: at.path(config),
                    offset: 0,
                    why: format!("slots {other} and {slot} both hold segment {}", id.sequence),
                });
            }
        }
        Ok(segments)
    }

    /// Flaws that are more than damage: a newer version that no other copy contradicts, a header
    /// that the disk does not give and no other copy has, a copy that belongs to another system, a
    /// log of which no header at all is legible.
    pub(crate) fn check_legible(&self, config: &LogConfig) -> Result<(), LogError> {
        let mut first = None;
        for (at, surveyed) in &self.files {
            let Err(flaw) = &surveyed.id else { continue };
            let path = at.path(config);
            let twin = |(other, s): (&FileAt, &Surveyed)| {
                (other.slot, other.stripe) == (at.slot, at.stripe) && s.id.is_ok()
            };
            match flaw {
                Flaw::Version(found) if !self.files.iter().any(twin) => {
                    let (offset, found, known) = (0, *found, VERSION);
                    return Err(LogError::FutureVersion { path, offset, found, known });
                }
                // It may be the newest segment's: the log would seem to end before, and the file
                // to be free.
                Flaw::Io(why) if !self.files.iter().any(twin) => {
                    return Err(LogError::io("read", path, std::io::Error::other(why.clone())));
                }
                Flaw::Foreign(system) if !self.has_legible(at.copy) => {
                    return Err(LogError::Foreign {
                        path,
                        why: format!("it is of system {system}"),
                    });
                }
                _ => first.get_or_insert((path, flaw)),
            };
        }
        match first {
            Some((path, flaw)) if !self.files.values().any(|surveyed| surveyed.id.is_ok()) => {
                let why = format!("no segment header of the log can be read; this one: {flaw}");
                Err(LogError::Damaged { group: GroupNumber(0), path, offset: 0, why })
            }
            _ => Ok(()),
        }
    }

    /// What restart needs is never freed; so if it is gone, a header that cannot be read is why.
    pub(crate) fn explain(&self, config: &LogConfig, gone: LogError) -> LogError {
        let flawed = self.files.iter().find_map(|(at, s)| Some((at, s.id.as_ref().err()?)));
        match flawed {
            None => gone,
            Some((at, flaw)) => LogError::Damaged {
                group: GroupNumber(0),
                path: at.path(config),
                offset: 0,
                why: format!("{gone}; a segment header cannot be read: {flaw}"),
            },
        }
    }

    /// Whether there is a file whose header none of `copies` can tell.
    pub(crate) fn has_illegible(&self, copies: &[u8]) -> bool {
        let is_legible = |at: &FileAt| {
            copies.iter().any(|copy| self.id(FileAt { copy: *copy, ..*at }).is_some())
        };
        self.files.keys().any(|at| copies.contains(&at.copy) && !is_legible(at))
    }

    fn has_legible(&self, copy: u8) -> bool {
        self.files.iter().any(|(at, surveyed)| at.copy == copy && surveyed.id.is_ok())
    }
}

/// The files of a copy, in the folders of its stripes.
fn list(env: &LogEnv, config: &LogConfig, copy: u8) -> std::io::Result<Vec<FileAt>> {
    let mut files = Vec::new();
    for dir in config.folders(copy) {
        let names = match env.seam.disk.list(&dir) {
            Ok(names) => names,
            // Whether a segment still needs it turns out when that is read.
            Err(error) if error.kind() == NotFound && !is_written(config, copy, &dir) => continue,
            Err(error) => {
                return Err(std::io::Error::new(
                    error.kind(),
                    format!("{}: {error}", dir.display()),
                ));
            }
        };
        let known = names.iter().filter_map(|name| FileAt::parse(name));
        let known = known.filter(|(slot, stripe)| *slot <= 1 << 20 && *stripe < STRIPES_MAX);
        let here = known.filter(|(_, stripe)| config.folder_of(copy, *stripe) == dir);
        files.extend(here.map(|(slot, stripe)| FileAt { copy, slot, stripe }));
    }
    Ok(files)
}

/// Whether a folder is for a stripe that is written.
fn is_written(config: &LogConfig, copy: u8, dir: &Path) -> bool {
    (0..config.stripes).any(|stripe| config.folder_of(copy, stripe) == dir)
}

/// Looks at one file. An inner error costs the copy.
fn look(
    env: &LogEnv,
    config: &LogConfig,
    book: &mut KeyBook,
    at: FileAt,
    write: bool,
) -> Result<Result<Surveyed, LogError>, LogError> {
    let path = at.path(config);
    let opened = open_file(env.seam.disk.as_ref(), &path, write).and_then(|file| {
        if write {
            file.sync()?;
        }
        let len = file.len()?;
        Ok((file, len))
    });
    let (file, len) = match opened {
        Ok(opened) => opened,
        Err(error) => return Ok(Err(LogError::io("open and sync", path, error))),
    };
    let mut block = AlignedBuf::zeroed(SEGMENT_HEADER);
    let read = if len < SEGMENT_HEADER as u64 {
        Err(Flaw::Length)
    } else {
        file.read_at(&mut block, 0).map_err(|error| Flaw::Io(error.to_string()))
    };
    let head = read.and_then(|()| SegmentHead::decode(&block)).and_then(|head| {
        head.prove(book, config, &block)?;
        Ok(head)
    });
    if let Ok(head) = &head {
        check_place(config, at, head)?;
    }
    Ok(Ok(Surveyed { file, len, id: head.map(|head| head.id) }))
}

/// An authentic header must be of this file, and of a log laid out as configured.
fn check_place(config: &LogConfig, at: FileAt, head: &SegmentHead) -> Result<(), LogError> {
    let path = at.path(config);
    if (head.copy, head.slot, head.stripe) != (at.copy, at.slot, at.stripe) {
        let SegmentHead { copy, slot, stripe, .. } = head;
        let why = format!("it is slot {slot}, stripe {stripe} of copy {}", copy + 1);
        return Err(LogError::Foreign { path, why });
    }
    let mismatch = |field, found: u64, configured: u64| LogError::Mismatch {
        path: path.clone(),
        field,
        found: found.to_string(),
        configured: configured.to_string(),
    };
    if head.segment_bytes != config.segment_bytes {
        return Err(mismatch("segment_bytes", head.segment_bytes, config.segment_bytes));
    }
    let window = window_of(head.id.stripes);
    if head.id != SegmentId::FREE && u64::from(head.window) != window {
        return Err(mismatch("groups in flight", head.window.into(), window));
    }
    Ok(())
}
