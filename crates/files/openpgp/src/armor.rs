//! Armor: binary as lines of text that survive mail (RFC 9580, 6).
//!
//! 1. What is written has lines of 64 characters and the kind in its first and last line. There is
//!    a checksum, because older readers warn without one.
//! 2. Whether what is read is armored shows in its first byte, because the first byte of a packet
//!    has its highest bit set.

use std::io::{self, BufRead, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pgp::types::Tag;

use crate::error::{Error, Result};
use crate::packet::{is_noise, next_header, skip};

/// Bytes that make a line of 64 characters.
const LINE: usize = 48;
/// What text with its signature below it begins with.
pub(crate) const CLEARTEXT: &[u8] = b"-----BEGIN PGP SIGNED MESSAGE-----";

/// What is armored, as its first line calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// An encrypted or signed message.
    Message,
    /// Detached signatures.
    Signature,
    /// Certificates.
    PublicKey,
    /// Secret keys.
    PrivateKey,
}

impl Label {
    /// What these packets are, by the first of them; signatures that nothing else follows are
    /// detached ones.
    ///
    /// # Errors
    /// If they are no OpenPGP.
    pub fn of(mut packets: &[u8]) -> Result<Label> {
        let none = || Error::NotOpenPgp("it does not begin with a packet".to_owned());
        let mut signatures = 0;
        loop {
            let next = match signatures {
                0 => next_header(&mut packets).map_err(|_| none())?,
                _ => next_header(&mut packets)?,
            };
            match next {
                Some((Tag::PublicKey, _)) if signatures == 0 => return Ok(Label::PublicKey),
                Some((Tag::SecretKey, _)) if signatures == 0 => return Ok(Label::PrivateKey),
                Some((Tag::Signature, length)) => {
                    signatures += 1;
                    skip(&mut packets, length)?;
                }
                Some((tag, length)) if is_noise(tag) => skip(&mut packets, length)?,
                Some((tag, _)) if signatures > 0 || begins_message(tag) => {
                    return Ok(Label::Message);
                }
                None if signatures > 0 => return Ok(Label::Signature),
                Some(_) | None => return Err(none()),
            }
        }
    }

    fn text(self) -> &'static str {
        match self {
            Label::Message => "MESSAGE",
            Label::Signature => "SIGNATURE",
            Label::PublicKey => "PUBLIC KEY BLOCK",
            Label::PrivateKey => "PRIVATE KEY BLOCK",
        }
    }
}

fn begins_message(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::PublicKeyEncryptedSessionKey
            | Tag::SymKeyEncryptedSessionKey
            | Tag::SymEncryptedProtectedData
            | Tag::SymEncryptedData
            | Tag::CompressedData
            | Tag::OnePassSignature
            | Tag::LiteralData
    )
}

/// Armors what is written to it; [`Armorer::finish`] writes the end.
pub struct Armorer<W: Write> {
    out: W,
    label: Label,
    rest: Vec<u8>,
    text: String,
    sum: Crc24,
    begun: bool,
}

impl<W: Write> Armorer<W> {
    /// Armor around bytes of this kind.
    pub fn new(out: W, label: Label) -> Armorer<W> {
        let (rest, text) = (Vec::with_capacity(LINE), String::new());
        Armorer { out, label, rest, text, sum: Crc24::new(), begun: false }
    }

    fn begin(&mut self) -> io::Result<()> {
        if !self.begun {
            self.begun = true;
            write!(self.out, "-----BEGIN PGP {}-----\n\n", self.label.text())?;
        }
        Ok(())
    }

    /// Writes the last line and gives the writer back.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.begin()?;
        self.text.clear();
        if !self.rest.is_empty() {
            STANDARD.encode_string(&self.rest, &mut self.text);
            self.text.push('\n');
        }
        self.text.push('=');
        STANDARD.encode_string(&self.sum.value().to_be_bytes()[1..], &mut self.text);
        let label = self.label.text();
        write!(self.out, "{}\n-----END PGP {label}-----\n", self.text)?;
        Ok(self.out)
    }
}

impl<W: Write> Write for Armorer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begin()?;
        self.sum.add(bytes);
        let mut bytes_left = bytes;
        self.text.clear();
        if !self.rest.is_empty() {
            let (head, tail) = bytes.split_at(bytes.len().min(LINE - self.rest.len()));
            self.rest.extend_from_slice(head);
            bytes_left = tail;
            if self.rest.len() < LINE {
                return Ok(bytes.len());
            }
            STANDARD.encode_string(&self.rest, &mut self.text);
            self.text.push('\n');
            self.rest.clear();
        }
        let lines = bytes_left.chunks_exact(LINE);
        self.rest.extend_from_slice(lines.remainder());
        for line in lines {
            STANDARD.encode_string(line, &mut self.text);
            self.text.push('\n');
        }
        self.out.write_all(self.text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The checksum of armor.
struct Crc24 {
    value: u32,
    table: Box<[u32; 256]>,
}

impl Crc24 {
    fn new() -> Crc24 {
        let mut table = Box::new([0; 256]);
        for (byte, slot) in table.iter_mut().enumerate() {
            let mut value = (byte as u32) << 16;
            for _ in 0..8 {
                value = (value << 1) ^ if value & 0x80_0000 == 0 { 0 } else { 0x186_4cfb };
            }
            *slot = value & 0xff_ffff;
        }
        Crc24 { value: 0xb7_04ce, table }
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let index = (self.value >> 16) as u8 ^ byte;
            self.value = ((self.value << 8) & 0xff_ffff) ^ self.table[usize::from(index)];
        }
    }

    fn value(&self) -> u32 {
        self.value
    }
}

/// Whether these bytes, of which there may be more, begin text with its signature, or a letter with
/// such text in it.
#[must_use]
pub fn is_cleartext(bytes: &[u8]) -> bool {
    let armor = |line: &&[u8]| line.starts_with(b"-----BEGIN PGP ");
    bytes.split(|byte| *byte == b'\n').find(armor).is_some_and(|line| is_line(line, CLEARTEXT))
}

/// Whether this is that line of armor; blanks may stand behind it.
pub(crate) fn is_line(line: &[u8], mark: &[u8]) -> bool {
    line.trim_ascii_end() == mark
}

/// Whether what follows is armored, or text anyhow (2); text that is followed by its signature is
/// an error that says so.
pub(crate) fn is_armored(source: &mut impl BufRead) -> Result<bool> {
    let begin = source.fill_buf().map_err(Error::io("reading the input"))?;
    let is_text = begin.first().is_some_and(|byte| byte & 0x80 == 0);
    if is_text && is_cleartext(begin) {
        return Err(Error::Cleartext);
    }
    Ok(is_text)
}
