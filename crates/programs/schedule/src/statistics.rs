//! STAT: what the buffer pools have done.
//!
//! | function | tells of |
//! |---|---|
//! | `DBAS` | all pools together |
//! | `DBES`, `VBAS`, `VBES` | one pool a call: the next one each time, GA with the last, then GE once |
//!
//! | fifth letter | form | bytes |
//! |---|---|---|
//! | F | a title, headings, values: lines of 120 | 360; of the enhanced functions 600 |
//! | U | fullwords, big-endian, in the order of the values | 72 |
//! | S | a title and values: lines of 90 | 180 |
//!
//! `DBESO` looks as `DBESF`. Every function, with its form, goes through the pools on its own.
//!
//! Invariants:
//! 1. Every figure is one that was counted; what is not counted here is not shown.
//! 2. A function that is none is AC, and nothing is returned.

use std::collections::BTreeMap;
use std::sync::Arc;

use region::{Reply, Request};

use crate::aib::too_short;

/// What one pool has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolFigures {
    /// Its name.
    pub name: String,
    /// Bytes of a buffer.
    pub buffer_bytes: u64,
    /// Its buffers.
    pub buffers: u64,
    /// Those of them that hold nothing.
    pub free: u64,
    /// Requests that found what they wanted.
    pub found: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Buffers that were taken from other contents.
    pub steals: u64,
    /// Waits for a buffer.
    pub waits: u64,
    /// Reads of several blocks at once.
    pub sequential_reads: u64,
    /// Blocks that came with these.
    pub sequential_blocks: u64,
}

/// Who knows the buffer pools.
pub trait Pools: Send + Sync {
    /// What they have done, in a fixed order.
    fn figures(&self) -> Vec<PoolFigures>;
}

/// A store without pools.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoPools;

impl Pools for NoPools {
    fn figures(&self) -> Vec<PoolFigures> {
        Vec::new()
    }
}

/// How an answer looks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Full,
    Unformatted,
    Summary,
}

const LINE: usize = 120;
const FULL: usize = 360;
const ENHANCED: usize = 600;
const SUMMARY_LINE: usize = 90;
const SUMMARY: usize = 180;
const WORDS: usize = 72;

impl PoolFigures {
    fn add(&mut self, other: &PoolFigures) {
        self.buffer_bytes = self.buffer_bytes.max(other.buffer_bytes);
        self.buffers += other.buffers;
        self.free += other.free;
        self.found += other.found;
        self.reads += other.reads;
        self.writes += other.writes;
        self.steals += other.steals;
        self.waits += other.waits;
        self.sequential_reads += other.sequential_reads;
        self.sequential_blocks += other.sequential_blocks;
    }

    /// Headings with their values.
    fn values(&self) -> [(&'static str, u64); 11] {
        [
            ("BUFSIZE", self.buffer_bytes),
            ("BUFFERS", self.buffers),
            ("FREE", self.free),
            ("REQUESTS", self.found + self.reads),
            ("FOUND", self.found),
            ("READS", self.reads),
            ("WRITES", self.writes),
            ("STEALS", self.steals),
            ("WAITS", self.waits),
            ("SEQREADS", self.sequential_reads),
            ("SEQBLOCKS", self.sequential_blocks),
        ]
    }

    fn show(&self, form: Form, title: &str, out: &mut [u8]) {
        if form == Form::Unformatted {
            out.fill(0);
            for (word, (_, value)) in out.chunks_exact_mut(4).zip(self.values()) {
                let value = u32::try_from(value).unwrap_or(u32::MAX);
                word.copy_from_slice(&value.to_be_bytes());
            }
            return;
        }
        out.fill(b' ');
        let values = self.values();
        let head: String = values.iter().map(|(name, _)| format!("{name:>10}")).collect();
        let line: String = values.iter().map(|(_, value)| format!("{value:>10}")).collect();
        let (lines, width) = match form {
            Form::Summary => (vec![title.to_owned(), summary(&values)], SUMMARY_LINE),
            _ => (vec![title.to_owned(), head, line], LINE),
        };
        for (place, text) in out.chunks_mut(width).zip(lines) {
            for (place, byte) in place.iter_mut().zip(text.bytes()) {
                *place = byte;
            }
        }
    }
}

fn summary(values: &[(&str, u64)]) -> String {
    let shown = ["REQUESTS", "FOUND", "READS", "WRITES"];
    let kept = values.iter().filter(|(name, _)| shown.contains(name));
    kept.map(|(name, value)| format!("{name} {value:<12}")).collect()
}

/// What a program is told of the pools.
pub(crate) struct Statistics {
    pools: Arc<dyn Pools>,
    /// The pool that the next call of a function and form tells of.
    next: BTreeMap<([u8; 4], u8), usize>,
}

impl Statistics {
    pub(crate) fn new(pools: Arc<dyn Pools>) -> Statistics {
        Statistics { pools, next: BTreeMap::new() }
    }

    /// STAT; the status.
    pub(crate) fn call(&mut self, request: Request<'_>, reply: &mut Reply) -> [u8; 2] {
        let Request { area, more, aib, .. } = request;
        let function = more.first().map(|function| &**function).unwrap_or_default();
        let Some((kind, letter)) = function.first_chunk::<4>().zip(function.get(4)) else {
            return *b"AC";
        };
        let form = match letter {
            b'F' => Form::Full,
            b'O' if kind == b"DBES" => Form::Full,
            b'U' => Form::Unformatted,
            b'S' => Form::Summary,
            _ => return *b"AC",
        };
        let is_enhanced = kind[2] == b'E';
        let len = match form {
            Form::Full if is_enhanced => ENHANCED,
            Form::Full => FULL,
            Form::Unformatted => WORDS,
            Form::Summary => SUMMARY,
        };
        let is_there = area.is_some() && aib.is_some();
        let Some(out) = area.and_then(|area| area.get_mut(..len)) else {
            // With an AIB its length is known, and said in it (DLI-12.79).
            if is_there {
                reply.aib(too_short(len));
            }
            return if is_there { *b"  " } else { *b"AB" };
        };
        let pools = self.pools.figures();
        let (figures, title, status) = match kind {
            b"DBAS" => {
                let mut all = PoolFigures::default();
                pools.iter().for_each(|pool| all.add(pool));
                (all, "ALL BUFFER POOLS".to_owned(), *b"  ")
            }
            b"DBES" | b"VBAS" | b"VBES" => {
                let next = self.next.entry((*kind, *letter)).or_default();
                let Some(pool) = pools.get(*next) else {
                    *next = 0;
                    return *b"GE";
                };
                *next += 1;
                let is_last = *next == pools.len();
                let title = format!("BUFFER POOL {}", pool.name.to_ascii_uppercase());
                (pool.clone(), title, if is_last { *b"GA" } else { *b"  " })
            }
            _ => return *b"AC",
        };
        if pools.is_empty() {
            return *b"GE";
        }
        figures.show(form, &title, out);
        reply.fill(len);
        status
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stand_below_their_headings() {
        let figures = PoolFigures { buffers: 64, found: 90, reads: 10, ..PoolFigures::default() };
        let mut area = [0; FULL];
        figures.show(Form::Full, "BUFFER POOL X", &mut area);
        let line = |at: usize| String::from_utf8_lossy(&area[at * LINE..(at + 1) * LINE]);
        assert_eq!(line(0).trim_end(), "BUFFER POOL X");
        let at = line(1).find("REQUESTS").expect("a heading") + "REQUESTS".len();
        assert!(line(2)[..at].ends_with(" 100"), "{}", line(2));
        let mut words = [1; WORDS];
        figures.show(Form::Unformatted, "", &mut words);
        assert_eq!(words[4..8], 64_u32.to_be_bytes());
        assert_eq!(words[44..], [0; WORDS - 44]);
    }
}
