//! Contents, enciphered: jobs of equal size that threads take in turn.
//!
//! 1. A job of version 2 is whole chunks, each with room for its tag behind it; so sealing happens
//!    in place. The last job closes the message.
//! 2. Version 1 is a chain through everything, sum and cipher in one ([`crate::cfb`]), that may
//!    have a thread. Its jobs have whole blocks of the sum, all but the last.

use std::sync::Arc;
use std::thread::Scope;

use crate::aead::{ChunkCipher, HEADER, TAG};
use crate::buffers::{Block, Buffers};
use crate::cfb::{BLOCK, Encipher};
use crate::entropy::Random;
use crate::error::Result;
use crate::stage::{Feed, ahead, ordered};
use crate::stats::Stats;

/// Plaintext bytes of a job.
pub(crate) const JOB: usize = 1 << 20;

/// Contents that are sealed at once.
pub(crate) struct Job {
    /// The bytes; of version 2 with room for a tag behind each chunk.
    pub(crate) data: Vec<u8>,
    /// Plaintext bytes before this job.
    pub(crate) before: u64,
    /// Whether nothing follows.
    pub(crate) last: bool,
}

/// Blocks of any size as jobs of the same size; `chunk` asks for room for tags. The contents begin
/// with `lead`.
fn jobs<'s>(
    contents: Feed<'s, Block>,
    chunk: Option<usize>,
    lead: Vec<u8>,
    buffers: Buffers,
) -> Feed<'s, Job> {
    Box::new(Jobs {
        contents,
        chunk: chunk.unwrap_or(JOB),
        gap: if chunk.is_some() { TAG } else { 0 },
        buffers,
        block: Block { data: lead, start: 0, last: false },
        at: 0,
        done: 0,
        ended: false,
    })
}

struct Jobs<'s> {
    contents: Feed<'s, Block>,
    chunk: usize,
    gap: usize,
    buffers: Buffers,
    block: Block,
    at: usize,
    done: u64,
    ended: bool,
}

impl Jobs<'_> {
    /// Makes sure that there are bytes in the block; whether there are.
    fn refill(&mut self) -> Result<bool> {
        while self.at == self.block.data.len() {
            if self.block.last {
                return Ok(false);
            }
            let Some(next) = self.contents.next() else { return Ok(false) };
            let next = next?;
            self.at = next.start;
            self.buffers.give(std::mem::replace(&mut self.block, next).data);
        }
        Ok(true)
    }

    fn job(&mut self) -> Result<Job> {
        let mut data = self.buffers.take();
        data.reserve(JOB + JOB / self.chunk * self.gap + TAG);
        let mut filled = 0;
        while filled < JOB && self.refill()? {
            let in_chunk = filled % self.chunk;
            if in_chunk == 0 && filled > 0 {
                data.resize(data.len() + self.gap, 0);
            }
            let room = (self.chunk - in_chunk).min(JOB - filled);
            let rest = &self.block.data[self.at..];
            let take = room.min(rest.len());
            data.extend_from_slice(&rest[..take]);
            self.at += take;
            filled += take;
        }
        if filled > 0 {
            data.resize(data.len() + self.gap, 0);
        }
        // One job ahead would be needed to know the end; looking for the next bytes is enough.
        let last = !self.refill()?;
        let before = self.done;
        self.done += filled as u64;
        self.ended = last;
        Ok(Job { data, before, last })
    }
}

impl Iterator for Jobs<'_> {
    type Item = Result<Job>;

    fn next(&mut self) -> Option<Result<Job>> {
        if self.ended {
            return None;
        }
        let job = self.job();
        self.ended |= job.is_err();
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
    let jobs = jobs(contents, Some(cipher.chunk), Vec::new(), buffers.clone());
    Ok(ordered(scope, jobs, workers, || {
        let cipher = Arc::clone(&cipher);
        move |job: Job| stats.time_block(job.data.len(), || seal_chunks(&cipher, job))
    }))
}

fn seal_chunks(cipher: &ChunkCipher, mut job: Job) -> Result<Job> {
    let mut number = job.before / cipher.chunk as u64;
    let mut plain = job.before;
    for sealed in job.data.chunks_mut(cipher.chunk + TAG) {
        let (chunk, tag) = sealed.split_at_mut(sealed.len() - TAG);
        tag.copy_from_slice(&cipher.seal(number, chunk)?);
        number += 1;
        plain += chunk.len() as u64;
    }
    if job.last {
        job.data.extend(cipher.final_tag(number, plain)?);
    }
    Ok(job)
}

/// Version 1: the sum and the cipher, in a thread of their own if `apart` (2).
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
    let jobs = jobs(contents, None, begin, buffers.clone());
    let mut stream = Some(Encipher::new(key)?);
    let sealed = jobs.map(move |job| {
        let mut job: Job = job?;
        let bytes = job.data.len();
        stats.time_block(bytes, || match stream.take() {
            Some(stream) if job.last => {
                stream.finish(&mut job.data);
                Ok(())
            }
            Some(mut open) => {
                let done = open.next(&mut job.data);
                stream = Some(open);
                done
            }
            None => Ok(()),
        })?;
        Ok(job)
    });
    Ok(ahead(scope, Box::new(sealed), apart))
}
