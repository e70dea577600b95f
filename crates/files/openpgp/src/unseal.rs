//! Encrypted contents, opened: version 2 in chunks, version 1 in pieces, both by many threads.
//!
//! 1. Version 2 hands on only chunks whose tags were right, in their order, and its end only if
//!    the final tag was right.
//! 2. Version 1 cannot know before its end whether anything was changed. What it hands on before
//!    is provisional; the caller must not release it before the last block.
//! 3. What the first bytes of version 1 repeat is not looked at: an answer would tell an attacker
//!    about the plaintext.

use std::io::BufRead;
use std::sync::Arc;
use std::thread::Scope;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};
use pgp::crypto::sym::SymmetricKeyAlgorithm;

use crate::aead::{ChunkCipher, HEADER, TAG};
use crate::buffers::{Block, Buffers};
use crate::cfb::{BLOCK, SUM, SUM_HEADER, decipher};
use crate::error::{Error, Result};
use crate::ledger::Ledger;
use crate::legacy::{self, is_aes};
use crate::ocb::Aes;
use crate::packet::{Body, expect_end, read_full};
use crate::seal::JOB;
use crate::session_key::SessionKey;
use crate::stage::{Feed, ahead, ordered};
use crate::stats::{Stage, Stats};

/// Ciphertext that is opened at once.
struct Sealed {
    data: Vec<u8>,
    /// Plaintext bytes before it (version 2), or any bytes before it (version 1).
    before: u64,
    /// The block of ciphertext before it (version 1).
    previous: [u8; BLOCK],
    /// Whether nothing follows; the data then ends with the final tag or the sum.
    last: bool,
}

/// Ciphertext as jobs of `size` bytes; at least `tail` bytes stay for the last one.
struct Cut<S> {
    body: Option<Body<S>>,
    size: usize,
    tail: usize,
    carried: Vec<u8>,
    done: u64,
    previous: [u8; BLOCK],
    buffers: Buffers,
    ledger: Ledger,
}

impl<S: BufRead> Cut<S> {
    fn job(&mut self, body: &mut Body<S>) -> Result<Sealed> {
        let want = self.size + self.tail;
        let mut data = self.buffers.take_full(want);
        let begin = self.carried.len();
        data[..begin].copy_from_slice(&self.carried);
        self.carried.clear();
        let read = read_full(body, &mut data[begin..]);
        let filled = begin + read.map_err(Error::io("reading the message"))?;
        data.truncate(filled);
        let last = filled < want;
        if last && filled < self.tail {
            return Err(Error::damaged("it ends too early"));
        }
        if !last {
            self.carried.extend_from_slice(&data[self.size..]);
            data.truncate(self.size);
        }
        let (before, previous) = (self.done, self.previous);
        self.done += data.len() as u64;
        if let Some(end) = data.last_chunk::<BLOCK>() {
            self.previous = *end;
        }
        Ok(Sealed { data, before, previous, last })
    }
}

impl<S: BufRead> Iterator for Cut<S> {
    type Item = Result<Sealed>;

    fn next(&mut self) -> Option<Result<Sealed>> {
        let mut body = self.body.take()?;
        let job = self.job(&mut body);
        if job.as_ref().is_ok_and(|job| !job.last) {
            self.body = Some(body);
            return Some(job);
        }
        // What follows the container must mean nothing; otherwise it was added to.
        Some(job.and_then(|job| {
            expect_end(&mut body.into_source()?, &self.ledger)?;
            Ok(job)
        }))
    }
}

/// Whether a session key is that of a container of version 2 which begins like this.
pub(crate) fn opens(session: &SessionKey, header: &[u8; HEADER], begin: &[u8]) -> bool {
    let Ok(cipher) = ChunkCipher::new(header, &session.key) else { return false };
    let Some(chunks) = begin.len().checked_sub(TAG) else { return false };
    if chunks == 0 {
        return cipher.check_end(0, 0, begin).is_ok();
    }
    let Some(length) = chunks.min(cipher.chunk + TAG).checked_sub(TAG) else { return false };
    let (chunk, rest) = begin.split_at(length);
    cipher.open(0, &mut chunk.to_vec(), &rest[..TAG]).is_ok()
}

/// What the opening of a container shares with the rest of its message.
#[derive(Clone, Copy)]
pub(crate) struct Opening<'a> {
    pub(crate) buffers: &'a Buffers,
    pub(crate) ledger: &'a Ledger,
    /// Whether reading has a thread of its own where no worker does it.
    pub(crate) reads_ahead: bool,
    /// How many threads decipher; with none, it is done by the reader's.
    pub(crate) workers: usize,
}

/// The contents of a container of version 2 (1).
pub(crate) fn v2<'s, S: BufRead + Send + 's>(
    scope: &'s Scope<'s, '_>,
    body: Body<S>,
    cipher: ChunkCipher,
    opening: Opening<'_>,
    stats: &'s Stats,
) -> Feed<'s, Block> {
    let sealed_chunk = cipher.chunk + TAG;
    let size = (JOB / cipher.chunk).max(1) * sealed_chunk;
    let cut = cut(body, size, TAG, opening);
    let cipher = Arc::new(cipher);
    let jobs = ahead(scope, Box::new(cut), opening.reads_ahead && opening.workers == 0);
    ordered(scope, jobs, opening.workers, || {
        let cipher = Arc::clone(&cipher);
        move |job| stats.time_block(job.data.len(), || open_chunks(&cipher, job))
    })
}

fn cut<S: BufRead>(body: Body<S>, size: usize, tail: usize, opening: Opening<'_>) -> Cut<S> {
    Cut {
        body: Some(body),
        size,
        tail,
        carried: Vec::new(),
        done: 0,
        previous: [0; BLOCK],
        buffers: opening.buffers.clone(),
        ledger: opening.ledger.clone(),
    }
}

fn open_chunks(cipher: &ChunkCipher, mut job: Sealed) -> Result<Block> {
    let sealed_chunk = cipher.chunk + TAG;
    let mut number = job.before / sealed_chunk as u64;
    let mut plain = number * cipher.chunk as u64;
    let end = job.data.len() - if job.last { TAG } else { 0 };
    let (mut from, mut to) = (0, 0);
    while from < end {
        let length = sealed_chunk.min(end - from);
        if length < TAG {
            return Err(Error::damaged("its last part is cut"));
        }
        let (chunk, tag) = job.data[from..from + length].split_at_mut(length - TAG);
        cipher.open(number, chunk, tag)?;
        let bytes = chunk.len();
        job.data.copy_within(from..from + bytes, to);
        from += length;
        to += bytes;
        number += 1;
        plain += bytes as u64;
    }
    if job.last {
        cipher.check_end(number, plain, &job.data[end..])?;
    }
    job.data.truncate(to);
    Ok(Block { data: job.data, start: 0, last: job.last })
}

/// Whether a key that a passphrase gave by chance or rightly may be that of a version 1 container
/// which begins like this: the end of its first block comes twice.
pub(crate) fn may_fit(session: &SessionKey, begin: &[u8]) -> bool {
    let algorithm = SymmetricKeyAlgorithm::from(session.cipher);
    if !is_aes(algorithm) {
        return legacy::may_fit(session, begin);
    }
    if session.key.len() != algorithm.key_size() {
        return false;
    }
    let (Some(cipher), Some(begin)) = (Aes::new(&session.key), begin.first_chunk::<18>()) else {
        return true;
    };
    let mut plain = *begin;
    decipher(&cipher, [0; BLOCK], &mut plain);
    plain[14..16] == plain[16..]
}

/// The contents of a container of version 1, under AES (2).
pub(crate) fn v1<'s, S: BufRead + Send + 's>(
    scope: &'s Scope<'s, '_>,
    body: Body<S>,
    key: &[u8],
    opening: Opening<'_>,
    stats: &'s Stats,
) -> Result<Feed<'s, Block>> {
    let unfit = || Error::damaged("its key has no length of AES");
    let cipher = Arc::new(Aes::new(key).ok_or_else(unfit)?);
    let tail = SUM_HEADER.len() + SUM;
    let cut = cut(body, JOB, tail, opening);
    let jobs = ahead(scope, Box::new(cut), opening.reads_ahead && opening.workers == 0);
    let pieces = ordered(scope, jobs, opening.workers, || {
        let cipher = Arc::clone(&cipher);
        move |mut job: Sealed| {
            let bytes = job.data.len();
            stats.time_block(bytes, || decipher(&cipher, job.previous, &mut job.data));
            Ok(job)
        }
    });
    let mut sum = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    let checked = pieces.map(move |job| {
        let job = job?;
        stats.time(Stage::Sum, || check_sum(&mut sum, job))
    });
    Ok(ahead(scope, Box::new(checked), opening.workers > 0))
}

/// Adds a piece to the sum, and checks the sum at the end.
fn check_sum(sum: &mut Context, job: Sealed) -> Result<Block> {
    let start = if job.before == 0 { BLOCK + 2 } else { 0 };
    let changed = || Error::damaged("its contents are not what was encrypted");
    let mut data = job.data;
    if job.last {
        let (contents, end) = data.split_at(data.len() - SUM_HEADER.len() - SUM);
        sum.update(contents);
        sum.update(&SUM_HEADER);
        let (header, found) = end.split_at(SUM_HEADER.len());
        let right = sum.clone().finish();
        let header_is_right = verify_slices_are_equal(header, &SUM_HEADER).is_ok();
        let sum_is_right = verify_slices_are_equal(found, right.as_ref()).is_ok();
        if !(header_is_right && sum_is_right) {
            return Err(changed());
        }
        data.truncate(data.len() - SUM_HEADER.len() - SUM);
    } else {
        sum.update(&data);
    }
    if data.len() < start {
        return Err(changed());
    }
    Ok(Block { data, start, last: job.last })
}
