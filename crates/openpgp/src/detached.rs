//! Signatures apart from what they sign, and text that stays readable with its signature.
//!
//! 1. What is signed is read as a stream, once, whatever its size; cleartext messages are text for
//!    people and are bounded ([`CLEARTEXT_MAX`]).
//! 2. Of a cleartext message only the text that was signed is given back.

use std::io::{BufRead, BufReader, Read};

use pgp::composed::CleartextSignedMessage;
use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{Packet, Signature};
use pgp::types::Tag;
use rpgpie::certificate::Certificate;

use crate::armor::{Armorer, Dearmorer, Label, is_armored};
use crate::error::{Error, Result};
use crate::packet::{is_noise, next_header, read_small, skip, to_bytes};
use crate::sign::{Signer, Signing, Verified, Verifying};
use crate::stats::Stats;

/// No cleartext message is longer.
const CLEARTEXT_MAX: u64 = 64 << 20;
const STEP: usize = 256 << 10;

/// Feeds all of the input to something.
fn pour(input: &mut dyn Read, stats: &Stats, mut take: impl FnMut(&[u8])) -> Result<()> {
    let mut input = BufReader::with_capacity(STEP, input);
    loop {
        let bytes = input.fill_buf().map_err(Error::io("reading what is signed"))?;
        if bytes.is_empty() {
            return Ok(());
        }
        take(bytes);
        stats.count_in(bytes.len());
        let used = bytes.len();
        input.consume(used);
    }
}

/// Signs what is read; gives the signatures, armored if asked.
///
/// # Errors
/// If the input cannot be read, or a key cannot sign.
pub fn sign_detached(
    input: &mut dyn Read,
    signers: &[Signer],
    is_text: bool,
    hash: Option<HashAlgorithm>,
    armor: bool,
    stats: &Stats,
) -> Result<Vec<u8>> {
    let mut signing = Signing::begin(signers, is_text, hash)?;
    pour(input, stats, |bytes| signing.update(bytes))?;
    let mut packets = Vec::new();
    for signature in signing.finish()? {
        packets.extend(to_bytes(&signature)?);
    }
    if !armor {
        return Ok(packets);
    }
    let mut armorer = Armorer::new(Vec::new(), Label::Signature);
    let done = std::io::Write::write_all(&mut armorer, &packets).and_then(|()| armorer.finish());
    done.map_err(Error::io("writing the signature"))
}

/// The signatures in these bytes, armored or not.
///
/// # Errors
/// If there are none, or something else is among them.
pub fn signatures(bytes: &[u8]) -> Result<Vec<Signature>> {
    let mut source: Box<dyn BufRead + '_> = Box::new(bytes);
    if is_armored(&mut source)? {
        source = Box::new(BufReader::new(Dearmorer::new(source)));
    }
    let mut found = Vec::new();
    while let Some((tag, length)) = next_header(&mut source)? {
        match tag {
            Tag::Signature => match read_small(&mut source, tag, length)? {
                Packet::Signature(packet) => found.push(packet),
                _ => return Err(Error::damaged("a signature is none")),
            },
            tag if is_noise(tag) => skip(&mut source, length)?,
            other => {
                let what = format!("there is {other:?} where only signatures belong");
                return Err(Error::NotOpenPgp(what));
            }
        }
    }
    if found.is_empty() {
        return Err(Error::NotOpenPgp("there is no signature in it".to_owned()));
    }
    Ok(found)
}

/// Those signatures over the input that are good.
///
/// # Errors
/// If the input cannot be read, or the signature is none.
pub fn verify_detached(
    input: &mut dyn Read,
    signature: &[u8],
    certificates: &[Certificate],
    stats: &Stats,
) -> Result<Vec<Verified>> {
    let mut verifying = Verifying::default();
    for signature in signatures(signature)? {
        verifying.know(signature)?;
    }
    pour(input, stats, |bytes| verifying.update(bytes))?;
    Ok(verifying.finish(certificates))
}

/// A cleartext message: the text, and its signatures. Blanks and tabs at the ends of lines are
/// left out, because no signature of this kind covers them, nor the end of the last line, which
/// stands before the signature in any case (RFC 9580, 7.1 and 7.2).
///
/// # Errors
/// If the input is no text, or a key cannot sign.
pub fn sign_cleartext(
    input: &mut dyn Read,
    signers: &[Signer],
    hash: Option<HashAlgorithm>,
) -> Result<Vec<u8>> {
    let text = without_trailing_blanks(&bounded(input)?);
    let no_text = |_| {
        let what = "only text in UTF-8 stays readable with its signature; sign the file apart";
        Error::NotOpenPgp(what.to_owned())
    };
    let whole = std::str::from_utf8(&text).map_err(no_text)?;
    let text = whole.strip_suffix('\n').unwrap_or(whole);
    let (text, has_cr) = match text.strip_suffix('\r') {
        Some(before) if text.len() < whole.len() => (before, true),
        _ => (text, false),
    };
    let sign = |signed: &str| -> Result<Vec<Signature>> {
        let mut signing = Signing::begin(signers, true, hash)?;
        signing.update(signed.as_bytes());
        signing.finish()
    };
    let sign = |signed: &str| {
        sign(signed).map_err(|error| pgp::errors::Error::from(std::io::Error::from(error)))
    };
    let message = CleartextSignedMessage::new_many(text, sign)?;
    let mut bytes = message.to_armored_bytes(pgp::composed::ArmorOptions::default())?;
    if let (true, Some(at)) = (has_cr, end_of_text(&bytes)) {
        bytes.insert(at - 1, b'\r');
    }
    Ok(bytes)
}

/// The text of a cleartext message, and its good signatures. All of its lines have ends, as they do
/// in the message: other programs give the same.
///
/// # Errors
/// If it is no such message.
pub fn verify_cleartext(
    input: &mut dyn Read,
    certificates: &[Certificate],
) -> Result<(Vec<u8>, Vec<Verified>)> {
    let bytes = bounded(input)?;
    let (message, mut text) = cleartext(&bytes)?;
    let before = end_of_text(&bytes).map_or(&[][..], |at| &bytes[..at]);
    text.extend_from_slice(if before.ends_with(b"\r\n") { b"\r\n" } else { b"\n" });
    let mut verifying = Verifying::default();
    for signature in message.signatures() {
        verifying.know(signature.clone())?;
    }
    verifying.update(message.signed_text().as_bytes());
    Ok((text, verifying.finish(certificates)))
}

/// The text of a cleartext message, and its signatures, good or not. The text is exactly what was
/// signed, without the end of its last line.
///
/// # Errors
/// If it is no such message.
pub fn split_cleartext(input: &mut dyn Read) -> Result<(Vec<u8>, Vec<Signature>)> {
    let (message, text) = cleartext(&bounded(input)?)?;
    Ok((text, message.signatures().to_vec()))
}

/// Where the signatures begin, behind the end of the last line; dashes in the text are escaped.
fn end_of_text(message: &[u8]) -> Option<usize> {
    const MARK: &[u8] = b"\n-----BEGIN PGP SIGNATURE-----";
    message.windows(MARK.len()).position(|window| window == MARK).map(|at| at + 1)
}

fn cleartext(bytes: &[u8]) -> Result<(CleartextSignedMessage, Vec<u8>)> {
    let (message, _) = CleartextSignedMessage::from_armor(bytes)?;
    let text = with_own_ends(&message.signed_text(), message.text());
    Ok((message, text.into_bytes()))
}

/// The signed lines, which end by CR LF, with the ends that they have in the message.
fn with_own_ends(signed: &str, message: &str) -> String {
    let lines = signed.split("\r\n").count();
    let ends = message.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let ends: Vec<&str> =
        ends.map(|line| if line.ends_with("\r\n") { "\r\n" } else { "\n" }).collect();
    if ends.len() + 1 != lines {
        // A lone CR makes a line, too, for some.
        return signed.replace("\r\n", "\n");
    }
    let ends = ends.into_iter().chain([""]);
    signed.split("\r\n").zip(ends).flat_map(|(line, end)| [line, end]).collect()
}

fn without_trailing_blanks(text: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        let end = &line[content.len()..];
        let last = content.iter().rposition(|byte| !matches!(byte, b' ' | b'\t'));
        kept.extend_from_slice(&content[..last.map_or(0, |at| at + 1)]);
        kept.extend_from_slice(end);
    }
    kept
}

fn bounded(input: &mut dyn Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = input.take(CLEARTEXT_MAX + 1).read_to_end(&mut bytes);
    read.map_err(Error::io("reading the text"))?;
    if bytes.len() as u64 > CLEARTEXT_MAX {
        let what = "a cleartext message is at most 64 MiB; sign the file apart from it instead";
        return Err(Error::Unsupported(what.to_owned()));
    }
    Ok(bytes)
}
