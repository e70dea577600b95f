//! The hash of data that passes by, for one signature that is verified.
//!
//! 1. Text is hashed with its lines ended by CR LF, however they are ended in the data. Programs do
//!    not agree on what a CR means that stands before no LF, so each of their readings counts: they
//!    differ in nothing but the ends of lines, of which such a signature says nothing.
//! 2. Hardly any text has such a CR. Until one comes there is one reading, and one hash.
//! 3. Blocks may end anywhere, between CR and LF as well.

use digest::DynDigest;
use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{SignatureConfig, SignatureType};

use crate::error::{Error, Result};

/// What a CR is that stands before no LF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lone {
    /// A letter like others, as RFC 9580 has it.
    Letter,
    /// A letter, unless nothing but such stand before the LF or the end: then it is left out, as
    /// GnuPG and RNP do.
    Blank,
    /// The end of a line, as Sequoia has it.
    End,
}

/// Text on its way into a hash.
#[derive(Clone, Copy)]
pub(crate) struct Canonical {
    lone: Lone,
    /// How many CR stand right before what comes next; they are not hashed yet.
    held: u64,
}

impl Canonical {
    pub(crate) fn new(lone: Lone) -> Canonical {
        Canonical { lone, held: 0 }
    }

    /// Hashes what comes next.
    pub(crate) fn update(&mut self, bytes: &[u8], hash: &mut dyn DynDigest) {
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')) {
            if at > 0 {
                self.give_held(hash);
                hash.update(&rest[..at]);
            }
            match rest[at] {
                b'\r' => self.held += 1,
                _ => self.end_line(hash),
            }
            rest = &rest[at + 1..];
        }
        if !rest.is_empty() {
            self.give_held(hash);
            hash.update(rest);
        }
    }

    /// Hashes what the end of the text makes of what stands right before it.
    pub(crate) fn finish(&mut self, hash: &mut dyn DynDigest) {
        if self.lone == Lone::Blank {
            self.held = 0;
        }
        self.give_held(hash);
    }

    fn give_held(&mut self, hash: &mut dyn DynDigest) {
        let held: &[u8] = if self.lone == Lone::End { b"\r\n" } else { b"\r" };
        (0..std::mem::take(&mut self.held)).for_each(|_| hash.update(held));
    }

    /// There is an LF. The CR before it, if there is one, belongs to it.
    fn end_line(&mut self, hash: &mut dyn DynDigest) {
        self.held = match self.lone {
            Lone::Blank => 0,
            Lone::Letter | Lone::End => self.held.saturating_sub(1),
        };
        self.give_held(hash);
        hash.update(b"\r\n");
    }
}

/// A hash for each reading of the data.
pub(crate) struct Readings {
    /// The first is the one that there is in any case.
    hashes: Vec<(Option<Canonical>, Box<dyn DynDigest>)>,
}

impl Readings {
    pub(crate) fn new(algorithm: HashAlgorithm, kind: SignatureType, salt: &[u8]) -> Result<Self> {
        let hash: Box<dyn DynDigest> = salted(algorithm, salt)?;
        let text = (kind == SignatureType::Text).then(|| Canonical::new(Lone::Letter));
        Ok(Readings { hashes: vec![(text, hash)] })
    }

    /// Whether it is of text, whose line ends are anybody's.
    pub(crate) fn is_text(&self) -> bool {
        self.hashes.iter().all(|(text, _)| text.is_some())
    }

    /// Takes what comes next of the data.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.part(|text| has_lone(text.held, bytes));
        for (text, hash) in &mut self.hashes {
            match text {
                Some(text) => text.update(bytes, &mut **hash),
                None => hash.update(bytes),
            }
        }
    }

    /// Goes on with all readings once it makes a difference (2).
    fn part(&mut self, differs: impl Fn(&Canonical) -> bool) {
        let [(Some(text), hash)] = &self.hashes[..] else { return };
        if differs(text) {
            let other = |lone| (Some(Canonical { lone, ..*text }), hash.box_clone());
            let others = [Lone::Blank, Lone::End].map(other);
            self.hashes.extend(others);
        }
    }

    /// What a signature that says this would have signed, by each reading.
    pub(crate) fn finish(mut self, config: &SignatureConfig) -> Result<Vec<Box<[u8]>>> {
        self.part(|text| text.held > 0);
        let tail = tail_of(config)?;
        let digests = self.hashes.into_iter().map(|(text, mut hash)| {
            if let Some(mut text) = text {
                text.finish(&mut *hash);
            }
            hash.update(&tail);
            hash.finalize()
        });
        Ok(digests.collect())
    }
}

/// What a signature says of itself, which goes into its hash behind the data.
pub(crate) fn tail_of(config: &SignatureConfig) -> Result<Box<[u8]>> {
    let mut tail = Recorder::boxed();
    let length = config.hash_signature_data(&mut tail)?;
    tail.update(&config.trailer(length)?);
    Ok(tail.finalize())
}

/// A hash that has taken the salt of a signature.
pub(crate) fn salted(algorithm: HashAlgorithm, salt: &[u8]) -> Result<Box<dyn DynDigest + Send>> {
    let unknown = || Error::Unsupported(format!("the hash {algorithm:?} is not known"));
    let mut hash = algorithm.new_hasher().map_err(|_| unknown())?;
    if !salt.is_empty() && algorithm.salt_len() != Some(salt.len()) {
        return Err(Error::damaged("a signature's salt has the wrong length"));
    }
    hash.update(salt);
    Ok(hash)
}

/// Whether there is a CR that stands before something else than an LF; the last one may.
fn has_lone(held: u64, bytes: &[u8]) -> bool {
    let is_lone = |next: Option<&u8>| next.is_some_and(|next| *next != b'\n');
    let mut rest = bytes;
    if held > 0 && is_lone(rest.first()) {
        return true;
    }
    while let Some(at) = rest.iter().position(|byte| *byte == b'\r') {
        rest = &rest[at + 1..];
        if is_lone(rest.first()) {
            return true;
        }
    }
    false
}

/// Keeps what it is given: what a signature says of itself goes into several hashes.
#[derive(Clone, Default)]
struct Recorder(Vec<u8>);

impl Recorder {
    fn boxed() -> Box<dyn DynDigest + Send> {
        Box::<Recorder>::default()
    }
}

impl DynDigest for Recorder {
    fn update(&mut self, data: &[u8]) {
        self.0.extend_from_slice(data);
    }

    fn finalize_into(self, buf: &mut [u8]) -> std::result::Result<(), digest::InvalidBufferSize> {
        if buf.len() != self.0.len() {
            return Err(digest::InvalidBufferSize);
        }
        buf.copy_from_slice(&self.0);
        Ok(())
    }

    fn finalize_into_reset(
        &mut self,
        out: &mut [u8],
    ) -> std::result::Result<(), digest::InvalidBufferSize> {
        std::mem::take(self).finalize_into(out)
    }

    fn finalize_reset(&mut self) -> Box<[u8]> {
        std::mem::take(&mut self.0).into_boxed_slice()
    }

    fn finalize(mut self: Box<Self>) -> Box<[u8]> {
        self.finalize_reset()
    }

    fn reset(&mut self) {
        self.0.clear();
    }

    fn output_size(&self) -> usize {
        self.0.len()
    }

    fn box_clone(&self) -> Box<dyn DynDigest> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(lone: Lone, text: &[u8], size: usize) -> Vec<u8> {
        let (mut reading, mut kept) = (Canonical::new(lone), Recorder::default());
        text.chunks(size).for_each(|block| reading.update(block, &mut kept));
        reading.finish(&mut kept);
        kept.0
    }

    #[test]
    fn each_reading_ends_lines_in_its_way_wherever_blocks_end() {
        let text = b"one\rtwo\r\nthree\n\r\r\nfour\n\nfive\r\r";
        let letter: &[u8] = b"one\rtwo\r\nthree\r\n\r\r\nfour\r\n\r\nfive\r\r";
        let blank: &[u8] = b"one\rtwo\r\nthree\r\n\r\nfour\r\n\r\nfive";
        let end: &[u8] = b"one\r\ntwo\r\nthree\r\n\r\n\r\nfour\r\n\r\nfive\r\n\r\n";
        for (lone, shown) in [(Lone::Letter, letter), (Lone::Blank, blank), (Lone::End, end)] {
            for size in 1..text.len() {
                assert_eq!(canonical(lone, text, size), shown, "{lone:?}, blocks of {size}");
            }
        }
    }

    #[test]
    fn there_are_several_readings_only_where_they_differ() {
        for (text, count) in [
            (&b"one\r\ntwo\nthree"[..], 1),
            (b"one\r\n\r\n", 1),
            (b"one\rtwo", 3),
            (b"one\r\r\ntwo", 3),
            (b"one\r", 3),
        ] {
            for size in 1..=text.len() {
                let kind = SignatureType::Text;
                let mut readings = Readings::new(HashAlgorithm::Sha256, kind, &[]).unwrap();
                text.chunks(size).for_each(|block| readings.update(block));
                readings.part(|text| text.held > 0);
                assert_eq!(readings.hashes.len(), count, "{text:?}, blocks of {size}");
            }
        }
    }
}
