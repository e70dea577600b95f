//! Scanning: a look at the log of a stopped system, for printing it and for checking it.
//!
//! Invariants:
//! 1. Nothing is changed, no file is opened for writing.
//! 2. Every group from the first one asked for to the log's end is read on every copy; each one
//!    that a copy lacks is named with its file and offset; so is every file that was cut short. A
//!    copy that cannot be used is named as a whole.

use std::path::PathBuf;
use std::sync::Arc;

use base::{GroupNumber, KeyGeneration, Lsn};
use seal::Format;

use crate::group::KeyBook;
use crate::record::{self, Record, length_of};
use crate::restore::{Trust, advance, keep_piece, split_at};
use crate::segment::FileAt;
use crate::survey::Survey;
use crate::wads;
use crate::walk::{Step, Walk};
use crate::{LogConfig, LogEnv, LogError, LogStart};

/// A group as it stands in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupInfo {
    /// Its number.
    pub number: GroupNumber,
    /// The position of its first byte.
    pub first: Lsn,
    /// The position behind its last byte.
    pub end: Lsn,
    /// How far the log was durable when it was sealed.
    pub durable: Lsn,
    /// How many stripes its segment has.
    pub stripes: u8,
    /// Whether it is the first one that an open of the log has written.
    pub first_of_salt: bool,
    /// Plain or sealed.
    pub format: Format,
    /// The key that it is sealed with.
    pub generation: KeyGeneration,
    /// The file that it was read from.
    pub path: PathBuf,
    /// Where in the file, in bytes.
    pub offset: u64,
    /// Its length on disk, in bytes.
    pub disk_bytes: u64,
}

/// What a scan meets.
#[derive(Debug)]
pub enum Scanned<'a> {
    /// The oldest segment that the log still has: what comes before is in archives, or nowhere.
    Oldest {
        /// Its first group.
        group: GroupNumber,
        /// Its first position.
        first: Lsn,
    },
    /// A group, before its records.
    Group(&'a GroupInfo),
    /// A record that ends in that group.
    Record(Record<'a>),
    /// A copy that lacks the group, and why.
    Damage {
        /// The group.
        number: GroupNumber,
        /// The file that should hold it.
        path: PathBuf,
        /// Where in the file, in bytes.
        offset: u64,
        /// What is wrong there.
        why: String,
    },
    /// Groups that no copy has, in front of everything that is asked for.
    Passed {
        /// The first of them.
        number: GroupNumber,
        /// The file that should hold it.
        path: PathBuf,
        /// Where in the file, in bytes.
        offset: u64,
        /// What is wrong there.
        why: String,
        /// Where the log goes on.
        end: Lsn,
    },
    /// A file that is shorter than a segment, whether or not the log goes through it.
    Short {
        /// The file.
        path: PathBuf,
        /// Its length, in bytes.
        len: u64,
    },
    /// A copy that cannot be used at all: another one serves.
    Lost {
        /// Which one, from 0.
        copy: u8,
        /// Its folder.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

/// Goes through the log from the segment that holds `start.from` to its end and shows everything
/// to `visit`. Returns where the last whole record ends.
///
/// # Errors
/// As [`crate::Log::open`]: damage that no copy can repair ends the scan.
pub fn scan(
    env: &LogEnv,
    config: &LogConfig,
    start: &LogStart,
    visit: &mut dyn FnMut(Scanned<'_>),
) -> Result<Lsn, LogError> {
    config.check()?;
    let mut book = KeyBook::new(Arc::clone(&env.keys), &config.key_label, env.system);
    let survey = Survey::take(env, config, &mut book, false)?;
    let trust = Trust::decide(config, &survey, start)?;
    survey.check_legible(config)?;
    show_flaws(config, &survey, visit);
    let all = survey.segments(config, &trust.sources)?;
    let (older, chain) = split_at(&all, start).map_err(|gone| survey.explain(config, gone))?;
    if let Some((_, oldest)) = older.first().or(chain.first()) {
        visit(Scanned::Oldest { group: oldest.first_group, first: oldest.first });
    }
    let mut walk = Walk::new(config, &survey, chain).ends_at(start.ended);
    let (mut cutter, mut piece) = (Cutter::default(), Vec::new());
    loop {
        let step = match advance(&mut walk, &mut book, &trust) {
            Ok(Some(step)) => step,
            Ok(None) => break,
            Err(LogError::Damaged { group, path, offset, why })
                if !survey.has_illegible(&trust.sources)
                    && walk.pass_over(&mut book, &trust.sources, start.from).is_some() =>
            {
                let (number, end) = (group, walk.end);
                visit(Scanned::Passed { number, path, offset, why, end });
                cutter = Cutter::default();
                continue;
            }
            Err(error) => return Err(error),
        };
        for (copy, flaw) in &step.lacking {
            let at = FileAt { copy: *copy, slot: step.slot, stripe: step.stripe };
            let (path, offset) = (at.path(config), step.place.offset());
            let number = step.head.number;
            visit(Scanned::Damage { number, path, offset, why: flaw.to_string() });
        }
        let head = &step.head;
        if start.ahead.is_some() {
            keep_piece(&mut piece, head, walk.payload(&step), walk.whole(start.from));
        }
        visit(Scanned::Group(&shown(config, &walk, &step)));
        if head.is_first_of_salt() {
            cutter = Cutter::default();
        }
        cutter.feed(head.first, head.first_record, walk.payload(&step), visit)?;
    }
    let end = walk.whole(start.from);
    let ahead = wads::beyond(env, config, &mut book, start, &walk.edge(end), &piece)?;
    if ahead.begins == 0 {
        cutter = Cutter::default();
    }
    let begins = (ahead.begins < ahead.bytes.len()).then_some(ahead.begins as u32);
    cutter.feed(ahead.first, begins, &ahead.bytes, visit)?;
    let end = ahead.end();
    let proven = start.proven.max(start.from);
    if end < proven { Err(LogError::RolledBack { end, proven }) } else { Ok(end) }
}

/// A group as it is shown.
fn shown(config: &LogConfig, walk: &Walk<'_>, step: &Step) -> GroupInfo {
    let at = FileAt { copy: step.source, slot: step.slot, stripe: step.stripe };
    let head = &step.head;
    GroupInfo {
        number: head.number,
        first: head.first,
        end: head.end(),
        durable: head.durable,
        stripes: walk.chain[step.segment].1.stripes,
        first_of_salt: head.first_of_salt,
        format: head.format,
        generation: head.generation,
        path: at.path(config),
        offset: step.place.offset(),
        disk_bytes: head.disk_len() as u64,
    }
}

/// Shows the copies that cannot be used, and the files that were cut short.
fn show_flaws(config: &LogConfig, survey: &Survey, visit: &mut dyn FnMut(Scanned<'_>)) {
    for (copy, why) in (0_u8..).zip(&survey.dead) {
        if let Some(why) = why {
            visit(Scanned::Lost { copy, path: config.folder(copy), why: why.clone() });
        }
    }
    for (at, file) in survey.files.iter().filter(|(_, file)| file.len < config.segment_bytes) {
        visit(Scanned::Short { path: at.path(config), len: file.len });
    }
}

/// Cuts payloads into records.
#[derive(Default)]
struct Cutter {
    /// The beginning of a record that goes on in the next group, and where it begins.
    piece: Vec<u8>,
    at: u64,
}

impl Cutter {
    fn feed(
        &mut self,
        first: Lsn,
        first_record: Option<u32>,
        payload: &[u8],
        visit: &mut dyn FnMut(Scanned<'_>),
    ) -> Result<(), LogError> {
        let border = first_record.map_or(payload.len(), |at| at as usize);
        let (mut rest, mut at) = (payload, first.0);
        if self.piece.is_empty() {
            // The scan begins within a record, which is not shown.
            rest = &payload[border..];
            at += border as u64;
        } else {
            self.piece.extend_from_slice(&payload[..border]);
            if first_record.is_some() || self.is_whole() {
                let lsn = Lsn(self.at);
                let record = record::decode(lsn, &self.piece);
                visit(Scanned::Record(record.map_err(|_| LogError::NotARecord { lsn })?));
                self.piece.clear();
            }
            rest = &rest[border..];
            at += border as u64;
        }
        while !rest.is_empty() {
            let lsn = Lsn(at);
            let len = match rest.first_chunk::<4>() {
                Some(field) => length_of(u32::from_le_bytes(*field))
                    .map_err(|_| LogError::NotARecord { lsn })?
                    as usize,
                None => usize::MAX,
            };
            let Some((bytes, behind)) = rest.split_at_checked(len) else {
                self.piece.extend_from_slice(rest);
                self.at = at;
                break;
            };
            let record = record::decode(lsn, bytes);
            visit(Scanned::Record(record.map_err(|_| LogError::NotARecord { lsn })?));
            rest = behind;
            at += len as u64;
        }
        Ok(())
    }

    fn is_whole(&self) -> bool {
        let field = self.piece.first_chunk::<4>();
        field.is_some_and(|field| u32::from_le_bytes(*field) as usize == self.piece.len())
    }
}
