//! Contents, enciphered: jobs of equal size that threads take in turn.
//!
//! 1. A job is whole chunks, all but the last one. What a block has over goes before the next one,
//!    which has room for that; so what was read is sealed where it lies, and never copied.
//! 2. Tags stand apart from their chunks until they are written. The last job closes the message.
//! 3. Version 1 is a chain through everything, sum and cipher in one ([`crate::cfb`]), that may
//!    have a thread.

use std::sync::Arc;
use std::thread::Scope;

use crate::aead::{ChunkCipher, HEADER, TAG};
use crate::buffers::{Block, Buffers};
use crate::cfb::{BLOCK, Encipher};
use crate::entropy::Random;
use crate::error::Result;
use crate::stage::{Feed, ahead, ordered};
use crate::stats::Stats;

/// Plaintext bytes of a job, at least, of all but the last.
pub(crate) const JOB: usize = 1 << 20;
/// What jobs of version 1 have whole: many blocks of the sum, so that pieces are large.
const UNIT: usize = 256 << 10;

/// Contents that are sealed at once.
pub(crate) struct Job {
    /// The bytes, and whether nothing follows.
    pub(crate) block: Block,
    /// Plaintext bytes before this job.
    before: u64,
    /// Bytes of a chunk.
    chunk: usize,
    /// The tags of the chunks, and that of the message behind the last one; none in version 1.
    tags: Vec<[u8; TAG]>,
}

impl Job {
    /// What is written: the chunks, each with its tag behind it (2).
    pub(crate) fn parts(&self) -> Vec<&[u8]> {
        let mut tags = self.tags.iter().map(|tag| &tag[..]);
        let mut parts = Vec::with_capacity(2 * self.tags.len() + JOB / UNIT + 1);
        for chunk in self.block.bytes().chunks(self.chunk) {
            parts.push(chunk);
            parts.extend(tags.next());
        }
        parts.extend(tags);
        parts
    }
}

/// Blocks of any size as jobs of whole chunks (1). The contents begin with `lead`.
struct Jobs<'s> {
    contents: Feed<'s, Block>,
    chunk: usize,
    /// What has no job yet.
    over: Block,
    buffers: Buffers,
    done: u64,
}

impl<'s> Jobs<'s> {
    fn feed(
        contents: Feed<'s, Block>,
        chunk: usize,
        lead: Vec<u8>,
        buffers: &Buffers,
    ) -> Feed<'s, Job> {
        let over = Block { data: lead, start: 0, last: false };
        Box::new(Jobs { contents, chunk, over, buffers: buffers.clone(), done: 0 })
    }

    /// What is over and what comes next, as one.
    fn joined(&mut self, mut next: Block) -> Block {
        let mut over = std::mem::take(&mut self.over);
        let length = over.bytes().len();
        if let Some(start) = next.start.checked_sub(length) {
            next.data[start..next.start].copy_from_slice(over.bytes());
            next.start = start;
            self.buffers.give(over.data);
            return next;
        }
        over.data.extend_from_slice(next.bytes());
        over.last = next.last;
        self.buffers.give(next.data);
        over
    }

    /// Takes what is no whole chunk off a block that is not the last.
    fn cut(&mut self, block: &mut Block) {
        let length = block.bytes().len();
        let end = block.data.len() - length % self.chunk;
        let mut data = self.buffers.take();
        data.extend_from_slice(&block.data[end..]);
        block.data.truncate(end);
        self.over = Block { data, start: 0, last: false };
    }

    fn job(&mut self) -> Result<Job> {
        loop {
            let end = || Ok(Block { last: true, ..Block::default() });
            let next = self.contents.next().unwrap_or_else(end)?;
            let mut block = self.joined(next);
            let length = block.bytes().len();
            if !block.last && length < JOB.max(self.chunk) {
                self.over = block;
                continue;
            }
            if !block.last {
                self.cut(&mut block);
            }
            let before = self.done;
            self.done += block.bytes().len() as u64;
            return Ok(Job { block, before, chunk: self.chunk, tags: Vec::new() });
        }
    }
}

impl Iterator for Jobs<'_> {
    type Item = Result<Job>;

    fn next(&mut self) -> Option<Result<Job>> {
        // The last job leaves the mark of its end.
        if self.over.last {
            return None;
        }
        let job = self.job();
        self.over.last = job.as_ref().map_or(true, |job| job.block.last);
        Some(job)
    }
}

/// Version 2: chunks, sealed by several threads.
pub(crate) fn v2<'s>(
    scope: &'s Scope<'s, '_>,
    contents: Feed<'s, Block>,
    header: &[u8; HEADER],
    key: &[u8],
    workers: usize,
    buffers: &Buffers,
    stats: &'s Stats,
) -> Result<Feed<'s, Job>> {
    let cipher = Arc::new(ChunkCipher::new(header, key)?);
    let jobs = Jobs::feed(contents, cipher.chunk, Vec::new(), buffers);
    Ok(ordered(scope, jobs, workers, || {
        let cipher = Arc::clone(&cipher);
        move |job: Job| stats.time_block(job.block.bytes().len(), || seal_chunks(&cipher, job))
    }))
}

fn seal_chunks(cipher: &ChunkCipher, mut job: Job) -> Result<Job> {
    let mut number = job.before / job.chunk as u64;
    let mut plain = job.before;
    for chunk in job.block.bytes_mut().chunks_mut(job.chunk) {
        job.tags.push(cipher.seal(number, chunk)?);
        number += 1;
        plain += chunk.len() as u64;
    }
    if job.block.last {
        job.tags.push(cipher.final_tag(number, plain)?);
    }
    Ok(job)
}

/// Version 1: the sum and the cipher, in a thread of their own if `apart` (3).
pub(crate) fn v1<'s>(
    scope: &'s Scope<'s, '_>,
    contents: Feed<'s, Block>,
    key: &[u8],
    apart: bool,
    buffers: &Buffers,
    stats: &'s Stats,
) -> Result<Feed<'s, Job>> {
    let mut begin = vec![0; BLOCK + 2];
    rand::RngCore::fill_bytes(&mut Random, &mut begin[..BLOCK]);
    begin.copy_within(BLOCK - 2..BLOCK, BLOCK);
    let jobs = Jobs::feed(contents, UNIT, begin, buffers);
    let mut stream = Some(Encipher::new(key)?);
    let sealed = jobs.map(move |job| {
        let mut job: Job = job?;
        let bytes = job.block.bytes().len();
        stats.time_block(bytes, || match stream.take() {
            Some(stream) if job.block.last => {
                stream.finish(&mut job.block.data, job.block.start);
                Ok(())
            }
            Some(mut open) => {
                let done = open.next(job.block.bytes_mut());
                stream = Some(open);
                done
            }
            None => Ok(()),
        })?;
        Ok(job)
    });
    Ok(ahead(scope, Box::new(sealed), apart))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNK: usize = 256 << 10;

    /// Blocks of these lengths with this room before each, their bytes counted on.
    fn blocks(lengths: &[usize], room: usize) -> (Vec<Block>, Vec<u8>) {
        let all: Vec<u8> = (0..lengths.iter().sum()).map(|at: usize| (at % 251) as u8).collect();
        let mut rest = &all[..];
        let mut blocks: Vec<Block> = Vec::new();
        for length in lengths {
            let (now, later) = rest.split_at(*length);
            rest = later;
            let data = [&vec![0; room][..], now].concat();
            blocks.push(Block { data, start: room, last: rest.is_empty() });
        }
        (blocks, all)
    }

    fn jobs_of(blocks: Vec<Block>, lead: &[u8]) -> Vec<Job> {
        let feed: Feed<Block> = Box::new(blocks.into_iter().map(Ok));
        let jobs = Jobs::feed(feed, CHUNK, lead.to_vec(), &Buffers::default());
        jobs.collect::<Result<_>>().unwrap()
    }

    #[test]
    fn jobs_are_whole_chunks_whatever_blocks_come() {
        let shapes: [&[usize]; 5] = [
            &[1],
            &[JOB + 9, JOB + 1, JOB + 1, 7],
            &[100_000; 30],
            &[5 * JOB + 3, 2, CHUNK],
            &[JOB, JOB],
        ];
        for lengths in shapes {
            for room in [0, 16, 64 << 10] {
                let (blocks, all) = blocks(lengths, room);
                let jobs = jobs_of(blocks, b"lead");
                let mut found = Vec::new();
                for (at, job) in jobs.iter().enumerate() {
                    assert_eq!(job.before, found.len() as u64);
                    assert_eq!(job.block.last, at + 1 == jobs.len());
                    assert!(job.block.last || job.block.bytes().len().is_multiple_of(CHUNK));
                    found.extend_from_slice(&job.parts().concat());
                }
                assert_eq!(found, [b"lead", &all[..]].concat(), "{lengths:?}, {room}");
            }
        }
    }

    #[test]
    fn what_has_room_before_it_is_sealed_where_it_was_read() {
        let (blocks, _) = blocks(&[JOB + 30, JOB + 1, JOB + 1, 100], 64 << 10);
        let read: Vec<_> = blocks.iter().map(|block| block.data.as_ptr()).collect();
        let sealed = jobs_of(blocks, &[]);
        assert_eq!(sealed.iter().map(|job| job.block.data.as_ptr()).collect::<Vec<_>>(), read);
    }
}
