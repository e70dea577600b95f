//! Text that stays readable with its signature below it (RFC 9580, 7).
//!
//! 1. Text is bytes, in whatever code page: only ends of lines, blanks before these and dashes at
//!    beginnings of lines mean something. It has no zero bytes.
//! 2. What is signed are the lines without blanks at their ends, and without the end of the last
//!    one; only that is given back. What stands around the message, as a letter may, is not.
//! 3. Cleartext messages are for people and are bounded ([`BYTES_MAX`]).

use std::io::{Read, Write as _};

use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::Signature;
use rpgpie::certificate::Certificate;

use crate::armor::{Armorer, Label};
use crate::detached::signatures;
use crate::error::{Error, Result};
use crate::packet::to_bytes;
use crate::sign::{Signer, Signing, Verified, Verifying};

/// No cleartext message is longer.
const BYTES_MAX: u64 = 64 << 20;

const BEGIN: &[u8] = b"-----BEGIN PGP SIGNED MESSAGE-----";
const SIGNATURE: &[u8] = b"-----BEGIN PGP SIGNATURE-----";
const END: &[u8] = b"-----END PGP SIGNATURE-----";

/// A cleartext message: the text, and its signatures. Blanks and tabs at the ends of lines are
/// left out, because no signature of this kind covers them, nor the end of the last line, which
/// stands before the signature in any case.
///
/// # Errors
/// If the input is no text, or a key cannot sign.
pub fn sign_cleartext(
    input: &mut dyn Read,
    signers: &[Signer],
    hash: Option<HashAlgorithm>,
) -> Result<Vec<u8>> {
    let text = bounded(input)?;
    if text.contains(&0) {
        let what = "it has zero bytes, and only text stays readable with its signature; sign the \
                    file apart";
        return Err(Error::NotOpenPgp(what.to_owned()));
    }
    let mut signing = Signing::begin(signers, true, hash)?;
    let mut body = Vec::with_capacity(text.len() + text.len() / 16);
    let mut lines = Signed::default();
    for line in text.split_inclusive(is_end) {
        let (content, end) = parted(line);
        lines.next(content, |bytes| signing.update(bytes));
        if content.starts_with(b"-") {
            body.extend_from_slice(b"- ");
        }
        body.extend_from_slice(content);
        body.extend_from_slice(if end.is_empty() { b"\n" } else { end });
    }
    if body.is_empty() {
        body.push(b'\n');
    }
    assembled(&body, &signing.finish()?)
}

/// The parts of a message, one behind the other.
fn assembled(body: &[u8], made: &[Signature]) -> Result<Vec<u8>> {
    let mut hashes: Vec<String> = Vec::new();
    let mut packets = Vec::new();
    for signature in made {
        let hash = signature.hash_alg().map(|hash| hash.to_string());
        hashes.extend(hash.filter(|hash| !hashes.contains(hash)));
        packets.extend(to_bytes(signature)?);
    }
    let mut message = [BEGIN, b"\n"].concat();
    for hash in hashes {
        message.extend_from_slice(format!("Hash: {hash}\n").as_bytes());
    }
    message.push(b'\n');
    message.extend_from_slice(body);
    let mut armorer = Armorer::new(message, Label::Signature);
    let done = armorer.write_all(&packets).and_then(|()| armorer.finish());
    done.map_err(Error::io("writing the signature"))
}

/// Whether these bytes, of which there may be more, begin text with its signature, or a letter with
/// such text in it.
#[must_use]
pub fn is_cleartext(bytes: &[u8]) -> bool {
    let armor = |line: &&[u8]| line.starts_with(b"-----BEGIN PGP ");
    bytes.split(is_end).find(armor).is_some_and(|line| is(line, BEGIN))
}

/// A cleartext message that was read.
pub struct Cleartext {
    text: Vec<u8>,
    /// How much of the text is signed: all but the end of its last line.
    signed_bytes: usize,
    signatures: Vec<Signature>,
    stands_in_letter: bool,
}

impl Cleartext {
    /// Reads a message; other text may stand around it.
    ///
    /// # Errors
    /// If there is no such message in it, or more than one, or it is not complete.
    pub fn read(input: &mut dyn Read) -> Result<Cleartext> {
        let bytes = bounded(input)?;
        let mut rest = &bytes[..];
        let mut stands_in_letter = false;
        loop {
            let line = next_line(&mut rest).ok_or_else(none)?;
            if is(line, BEGIN) {
                break;
            }
            stands_in_letter |= !line.trim_ascii().is_empty();
        }
        header(&mut rest)?;
        let (text, signed_bytes) = body(&mut rest)?;
        let armor = rest;
        while !is(next_line(&mut rest).ok_or_else(cut)?, END) {}
        let signatures = signatures(&armor[..armor.len() - rest.len()])?;
        if rest.split(is_end).any(|line| is(line, BEGIN)) {
            let what = "there are several texts with signatures in it; put each into its own file";
            return Err(Error::Unsupported(what.to_owned()));
        }
        stands_in_letter |= !rest.trim_ascii().is_empty();
        Ok(Cleartext { text, signed_bytes, signatures, stands_in_letter })
    }

    /// The text. All of its lines have ends, as they do in the message.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Exactly what was signed: the text without the end of its last line.
    #[must_use]
    pub fn signed(&self) -> &[u8] {
        &self.text[..self.signed_bytes]
    }

    /// The signatures, good or not.
    #[must_use]
    pub fn signatures(&self) -> &[Signature] {
        &self.signatures
    }

    /// Whether there was other text around the message, which nobody signed.
    #[must_use]
    pub fn stands_in_letter(&self) -> bool {
        self.stands_in_letter
    }

    /// Those signatures that are good.
    ///
    /// # Errors
    /// If there are too many signatures.
    pub fn verify(&self, certificates: &[Certificate]) -> Result<Vec<Verified>> {
        let mut verifying = Verifying::default();
        for signature in &self.signatures {
            verifying.know(signature.clone())?;
        }
        let mut lines = Signed::default();
        for line in self.text.split_inclusive(is_end) {
            lines.next(parted(line).0, |bytes| verifying.update(bytes));
        }
        Ok(verifying.finish(certificates))
    }
}

/// What signatures cover: lines with CR LF between them.
#[derive(Default)]
struct Signed {
    begun: bool,
}

impl Signed {
    fn next(&mut self, content: &[u8], mut take: impl FnMut(&[u8])) {
        if std::mem::replace(&mut self.begun, true) {
            take(b"\r\n");
        }
        take(content);
    }
}

fn none() -> Error {
    Error::NotOpenPgp("there is no text with its signature in it".to_owned())
}

fn cut() -> Error {
    Error::damaged("it ends before its signature does")
}

fn is_end(byte: &u8) -> bool {
    *byte == b'\n'
}

/// Whether this is that line of armor; blanks may stand behind it.
fn is(line: &[u8], mark: &[u8]) -> bool {
    line.trim_ascii_end() == mark
}

fn next_line<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let line = rest.split_inclusive(is_end).next()?;
    *rest = &rest[line.len()..];
    Some(line)
}

/// A line without what stands at its end unsigned, and its end: LF, CR LF or nothing.
fn parted(line: &[u8]) -> (&[u8], &[u8]) {
    let end = match line {
        [.., b'\r', b'\n'] => 2,
        [.., b'\n'] => 1,
        _ => 0,
    };
    let (content, end) = line.split_at(line.len() - end);
    let last = content.iter().rposition(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
    (&content[..last.map_or(0, |at| at + 1)], end)
}

/// Passes over the lines between the first one and the text, which may name hashes and nothing
/// else: people would take it for signed.
fn header(rest: &mut &[u8]) -> Result<()> {
    loop {
        let line = next_line(rest).ok_or_else(cut)?.trim_ascii();
        if line.is_empty() {
            return Ok(());
        }
        let names = line.strip_prefix(b"Hash:").and_then(|names| std::str::from_utf8(names).ok());
        let is_hash = |name: &str| name.trim().parse::<HashAlgorithm>().is_ok();
        if !names.is_some_and(|names| names.split(',').all(is_hash)) {
            let what = "above the text stand other lines than such that name known hashes";
            return Err(Error::damaged(what));
        }
    }
}

/// The text, and how much of it is signed; what is left begins with the signatures' armor.
fn body(rest: &mut &[u8]) -> Result<(Vec<u8>, usize)> {
    let (mut text, mut signed_bytes) = (Vec::new(), 0);
    loop {
        let before = *rest;
        let line = next_line(rest).ok_or_else(cut)?;
        if is(line, SIGNATURE) {
            *rest = before;
            return Ok((text, signed_bytes));
        }
        if line.starts_with(b"-----") {
            return Err(Error::damaged("armor stands in its text"));
        }
        let (content, end) = parted(line.strip_prefix(b"- ").unwrap_or(line));
        text.extend_from_slice(content);
        signed_bytes = text.len();
        text.extend_from_slice(end);
    }
}

fn bounded(input: &mut dyn Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = input.take(BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(Error::io("reading the text"))?;
    if bytes.len() as u64 > BYTES_MAX {
        let what = "a cleartext message is at most 64 MiB; sign the file apart from it instead";
        return Err(Error::Unsupported(what.to_owned()));
    }
    Ok(bytes)
}
