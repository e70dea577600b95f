//! Text that stays readable with its signature below it (RFC 9580, 7).
//!
//! 1. Text is bytes, in whatever code page: only ends of lines, blanks before these and dashes at
//!    beginnings of lines mean something. It has no zero bytes.
//! 2. What is signed are the lines without blanks at their ends, and without the end of the last
//!    one; only that is given back. What stands around the message, as a letter may, is not.
//! 3. A message may be of any length; what of it is in memory is a line ([`LINE_MAX`]) and the
//!    signatures ([`ARMOR_MAX`]). These stand behind the text and say how it has to be hashed, so
//!    the text waits where it goes to, unseen, and is read again there.

use std::io::{BufRead, BufReader, Read, Write};

use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::Signature;
use rpgpie::certificate::Certificate;

use crate::armor::{Armorer, CLEARTEXT, Label, is_line};
use crate::detached::signatures;
use crate::error::{Error, Result};
use crate::judge::Judged;
use crate::packet::to_bytes;
use crate::readings::Lone;
use crate::sign::{Signer, Signing, Verifying};

/// No line of a cleartext message is longer.
const LINE_MAX: u64 = 16 << 20;
/// Nor are its signatures.
const ARMOR_MAX: usize = 1 << 20;
/// What is read and hashed at once.
const READ: usize = 64 << 10;

const SIGNATURE: &[u8] = b"-----BEGIN PGP SIGNATURE-----";
const END: &[u8] = b"-----END PGP SIGNATURE-----";

/// Writes a cleartext message: the text, and its signatures. Blanks and tabs at the ends of lines
/// are left out, because no signature of this kind covers them, nor the end of the last line, which
/// stands before the signature in any case.
///
/// # Errors
/// If the input is no text, or has a line of more than 16 MiB, or a key cannot sign, or the output
/// fails.
pub fn sign_cleartext(
    input: &mut dyn Read,
    signers: &[Signer],
    hash: Option<HashAlgorithm>,
    output: &mut dyn Write,
) -> Result<()> {
    let failed = || Error::io("writing the text");
    let mut input = BufReader::with_capacity(READ, input);
    let mut signing = Signing::begin(signers, Some(Lone::Blank), hash)?;
    output.write_all(&head(&signing.hashes())).map_err(failed())?;
    let (mut line, mut lines, mut is_empty) = (Vec::new(), Signed::default(), true);
    while next_line(&mut input, &mut line)? {
        if line.contains(&0) {
            let what = "it has zero bytes, and only text stays readable with its signature; sign \
                        the file apart";
            return Err(Error::NotOpenPgp(what.to_owned()));
        }
        let (content, end) = parted(&line);
        lines.next(content, |bytes| signing.update(bytes));
        let dash: &[u8] = if content.starts_with(b"-") { b"- " } else { b"" };
        let end: &[u8] = if end.is_empty() { b"\n" } else { end };
        [dash, content, end].iter().try_for_each(|part| output.write_all(part)).map_err(failed())?;
        is_empty = false;
    }
    if is_empty {
        output.write_all(b"\n").map_err(failed())?;
    }
    let mut packets = Vec::new();
    for signature in signing.finish()? {
        packets.extend(to_bytes(&signature)?);
    }
    let mut armorer = Armorer::new(output, Label::Signature);
    let done = armorer.write_all(&packets).and_then(|()| armorer.finish().map(drop));
    done.map_err(Error::io("writing the signature"))
}

/// What stands above the text.
fn head(hashes: &[HashAlgorithm]) -> Vec<u8> {
    let mut names: Vec<String> = Vec::new();
    for name in hashes.iter().map(ToString::to_string) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let lines = names.iter().map(|name| format!("Hash: {name}\n")).collect::<String>();
    [CLEARTEXT, b"\n", lines.as_bytes(), b"\n"].concat()
}

/// A cleartext message that was read.
pub struct Cleartext {
    end: Vec<u8>,
    signatures: Vec<Signature>,
    stands_in_letter: bool,
}

impl Cleartext {
    /// Reads a message; other text may stand around it. Exactly what was signed, the text without
    /// the end of its last line, goes to `output`, where no reader may see it before it is
    /// verified.
    ///
    /// # Errors
    /// If there is no such message in it, or more than one, or it is not complete, or has a line of
    /// more than 16 MiB.
    pub fn read(input: &mut dyn Read, output: &mut dyn Write) -> Result<Cleartext> {
        let mut input = BufReader::with_capacity(READ, input);
        let mut line = Vec::new();
        let mut stands_in_letter = false;
        loop {
            if !next_line(&mut input, &mut line)? {
                return Err(Error::NotOpenPgp("there is no text with its signature in it".into()));
            }
            if is_line(&line, CLEARTEXT) {
                break;
            }
            stands_in_letter |= !line.trim_ascii().is_empty();
        }
        header(&mut input, &mut line)?;
        let end = body(&mut input, &mut line, output)?;
        let signatures = signatures(&armor(&mut input, &mut line)?)?;
        while next_line(&mut input, &mut line)? {
            if is_line(&line, CLEARTEXT) {
                let what =
                    "there are several texts with signatures in it; put each into its own file";
                return Err(Error::Unsupported(what.to_owned()));
            }
            stands_in_letter |= !line.trim_ascii().is_empty();
        }
        Ok(Cleartext { end, signatures, stands_in_letter })
    }

    /// The end of the last line, which stands in the message, and which is not signed.
    #[must_use]
    pub fn end(&self) -> &[u8] {
        &self.end
    }

    /// The signatures, good or not.
    #[must_use]
    pub fn signatures(&self) -> &[Signature] {
        &self.signatures
    }

    /// Whether there was other text around the message, which is not signed.
    #[must_use]
    pub fn stands_in_letter(&self) -> bool {
        self.stands_in_letter
    }

    /// Those signatures that are good, and why others are not; old and weak ones count if
    /// `allow_old`. `signed` gives again what [`Cleartext::read`] gave out.
    ///
    /// # Errors
    /// If there are too many signatures, or `signed` cannot be read.
    pub fn verify(
        &self,
        signed: &mut dyn Read,
        certificates: &[Certificate],
        allow_old: bool,
    ) -> Result<Judged> {
        let mut verifying = Verifying::default();
        for signature in &self.signatures {
            verifying.know(signature.clone())?;
        }
        let mut signed = BufReader::with_capacity(READ, signed);
        let (mut line, mut lines) = (Vec::new(), Signed::default());
        let mut has_end = false;
        while next_line(&mut signed, &mut line)? {
            let (content, end) = parted(&line);
            lines.next(content, |bytes| verifying.update(bytes));
            has_end = !end.is_empty();
        }
        // The last line of the text is empty then.
        if has_end {
            lines.next(b"", |bytes| verifying.update(bytes));
        }
        Ok(verifying.finish(certificates, allow_old))
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

fn cut() -> Error {
    Error::damaged("it ends before its signature does")
}

/// The next line, with its end; whether there was one.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> Result<bool> {
    line.clear();
    let read = input.take(LINE_MAX + 1).read_until(b'\n', line);
    let read = read.map_err(Error::io("reading the text"))?;
    if read as u64 > LINE_MAX {
        let what = "a line of it is longer than 16 MiB; sign the file apart from it instead";
        return Err(Error::Unsupported(what.to_owned()));
    }
    Ok(read > 0)
}

/// The next line of what has to go on.
fn more(input: &mut impl BufRead, line: &mut Vec<u8>) -> Result<()> {
    next_line(input, line)?.then_some(()).ok_or_else(cut)
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
fn header(input: &mut impl BufRead, line: &mut Vec<u8>) -> Result<()> {
    loop {
        more(input, line)?;
        let line = line.trim_ascii();
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

/// Gives the text out up to the end of its last line, and that end back; the first line of the
/// signatures' armor is left in `line`.
fn body(input: &mut impl BufRead, line: &mut Vec<u8>, output: &mut dyn Write) -> Result<Vec<u8>> {
    let mut last_end: Vec<u8> = Vec::new();
    loop {
        more(input, line)?;
        if is_line(line, SIGNATURE) {
            return Ok(last_end);
        }
        if line.starts_with(b"-----") {
            return Err(Error::damaged("armor stands in its text"));
        }
        let text = line.as_slice();
        let (content, end) = parted(text.strip_prefix(b"- ").unwrap_or(text));
        let done = output.write_all(&last_end).and_then(|()| output.write_all(content));
        done.map_err(Error::io("writing the text"))?;
        last_end.clear();
        last_end.extend_from_slice(end);
    }
}

/// The armor of the signatures, whose first line has been read.
fn armor(input: &mut impl BufRead, line: &mut Vec<u8>) -> Result<Vec<u8>> {
    let mut armor = line.clone();
    while !is_line(line, END) {
        more(input, line)?;
        armor.extend_from_slice(line);
        if armor.len() > ARMOR_MAX {
            return Err(Error::damaged("its signatures are longer than any are"));
        }
    }
    Ok(armor)
}
