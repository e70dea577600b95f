//! Armor, taken off while it is read (RFC 9580, 6.2).
//!
//! 1. Other text may stand before and behind it, blanks at the ends of its lines and within them;
//!    its headers and its checksum say nothing that counts.
//! 2. Once it has begun, whatever does not belong there is damage, and so is an end that does not
//!    come. Another block behind it is damage, too, unless blocks are joined.
//! 3. Nothing is held but a piece of it, however long its lines are.

use std::io::{self, BufRead, Read};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use crate::error::{Error, Result};

const BEGIN: &[u8] = b"-----BEGIN PGP ";
const END: &[u8] = b"-----END PGP ";
const DASHES: &[u8] = b"-----";
/// More of a line is not looked at.
const LINE_MAX: usize = 1024;
/// Letters that make whole bytes.
const QUANTUM: usize = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Before,
    Body,
    Over,
}

/// Takes the armor off what is read through it; broken armor is an error of this crate's.
pub struct Dearmorer<R: BufRead> {
    source: R,
    part: Part,
    /// What the first line calls it, and the last one has to.
    label: Vec<u8>,
    joins: bool,
    letters: Zeroizing<Vec<u8>>,
    /// Whether the letters have come to their end.
    is_padded: bool,
    at_line_start: bool,
    data: Zeroizing<Vec<u8>>,
    /// How much of the data has been given.
    given: usize,
}

impl<R: BufRead> Dearmorer<R> {
    /// What is inside of the armor that comes from here.
    pub fn new(source: R) -> Dearmorer<R> {
        Dearmorer {
            source,
            part: Part::Before,
            label: Vec::new(),
            joins: false,
            letters: Zeroizing::default(),
            is_padded: false,
            at_line_start: true,
            data: Zeroizing::default(),
            given: 0,
        }
    }

    /// The same, with what is inside of further blocks of that kind.
    #[must_use]
    pub fn joining(source: R) -> Dearmorer<R> {
        Dearmorer { joins: true, ..Dearmorer::new(source) }
    }

    /// The beginning of the next line, without its end.
    fn line(&mut self) -> Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let mut any = false;
        loop {
            let bytes = self.source.fill_buf().map_err(Error::io("reading armor"))?;
            if bytes.is_empty() {
                return Ok(any.then_some(line));
            }
            any = true;
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let piece = &bytes[..end.unwrap_or(bytes.len())];
            line.extend_from_slice(&piece[..piece.len().min(LINE_MAX - line.len())]);
            let used = piece.len() + usize::from(end.is_some());
            self.source.consume(used);
            if end.is_some() {
                return Ok(Some(line));
            }
        }
    }

    /// What stands before the letters (1).
    fn begin(&mut self) -> Result<()> {
        let none = || Error::NotOpenPgp("it is neither binary nor armored".to_owned());
        loop {
            let line = self.line()?.ok_or_else(none)?;
            if let Some(label) = label_of(&line, BEGIN) {
                return self.headers(label.to_vec());
            }
        }
    }

    fn headers(&mut self, label: Vec<u8>) -> Result<()> {
        if label == b"SIGNED MESSAGE" {
            return Err(Error::Cleartext);
        }
        self.label = label;
        loop {
            let line = self.line()?.ok_or_else(cut)?;
            if line.trim_ascii().is_empty() {
                break;
            }
            if !line.contains(&b':') {
                return Err(broken("a line that is no armor header stands above it"));
            }
        }
        self.part = Part::Body;
        (self.at_line_start, self.is_padded) = (true, false);
        Ok(())
    }

    /// The next piece of the letters.
    fn body(&mut self) -> Result<()> {
        let bytes = self.source.fill_buf().map_err(Error::io("reading armor"))?;
        if bytes.is_empty() {
            return Err(cut());
        }
        let mut used = 0;
        let mut is_end = false;
        for byte in bytes {
            let is_whole = self.letters.len().is_multiple_of(QUANTUM);
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' if !self.is_padded => {
                    self.letters.push(*byte);
                    self.at_line_start = false;
                }
                b'\n' => self.at_line_start = true,
                b' ' | b'\t' | b'\r' => {}
                b'-' | b'=' if self.at_line_start && is_whole => {
                    is_end = true;
                    break;
                }
                b'=' => {
                    self.letters.push(*byte);
                    (self.is_padded, self.at_line_start) = (true, false);
                }
                _ => return Err(broken("there is a letter that does not belong in it")),
            }
            used += 1;
        }
        self.source.consume(used);
        self.decode()?;
        if is_end { self.end() } else { Ok(()) }
    }

    /// Takes the letters that make whole bytes.
    fn decode(&mut self) -> Result<()> {
        self.data.clear();
        self.given = 0;
        let whole = self.letters.len() / QUANTUM * QUANTUM;
        let decoded = STANDARD.decode_vec(&self.letters[..whole], &mut self.data);
        decoded.map_err(|_| broken("its letters make no bytes"))?;
        self.letters.drain(..whole);
        Ok(())
    }

    /// The checksum, which may be there, the last line, and what follows (2).
    fn end(&mut self) -> Result<()> {
        let mut line = self.line()?.ok_or_else(cut)?;
        if line.trim_ascii_start().starts_with(b"=") {
            line.clear();
        }
        while line.trim_ascii().is_empty() {
            line = self.line()?.ok_or_else(cut)?;
        }
        if label_of(line.trim_ascii_start(), END) != Some(&self.label) {
            return Err(broken("its last line does not fit to its first one"));
        }
        while let Some(line) = self.line()? {
            match label_of(&line, BEGIN) {
                Some(label) if self.joins && *label == *self.label => {
                    return self.headers(label.to_vec());
                }
                Some(_) => return Err(Error::damaged("more armor follows where it should end")),
                None => {}
            }
        }
        self.part = Part::Over;
        Ok(())
    }
}

fn cut() -> Error {
    Error::damaged("it ends before its armor does")
}

fn broken(why: &str) -> Error {
    Error::damaged(format!("its armor is broken: {why}"))
}

/// What a first or a last line calls its block.
fn label_of<'a>(line: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    line.trim_ascii_end().strip_prefix(mark)?.strip_suffix(DASHES)
}

impl<R: BufRead> Read for Dearmorer<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.given == self.data.len() && !out.is_empty() {
            match self.part {
                Part::Before => self.begin()?,
                Part::Body => self.body()?,
                Part::Over => return Ok(0),
            }
        }
        let piece = &self.data[self.given..];
        let bytes = piece.len().min(out.len());
        out[..bytes].copy_from_slice(&piece[..bytes]);
        self.given += bytes;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;
    use crate::error::Kind;

    const TEXT: &str = "Dear all,\n-----BEGIN PGP MESSAGE----- \t\r\nComment: \u{fc}\r\n \t\r\n\
                        YXQg cmVz \r\ndA==\n=abcd \n\n-----END PGP MESSAGE----- \nYours\n";

    fn read(text: &str, piece: usize, joins: bool) -> std::result::Result<String, Kind> {
        let source = BufReader::with_capacity(piece, text.as_bytes());
        let mut armor = Dearmorer { joins, ..Dearmorer::new(source) };
        let mut data = String::new();
        match armor.read_to_string(&mut data) {
            Ok(_) => Ok(data),
            Err(error) => Err(Error::io("")(error).kind()),
        }
    }

    #[test]
    fn what_means_nothing_is_passed_over_wherever_pieces_end() {
        let latin = TEXT.replace('\u{fc}', &"x".repeat(100_000));
        for piece in [1, 2, 3, 7, 64, 100_000] {
            for text in
                [TEXT, &latin, &TEXT.replace("=abcd \n", ""), &TEXT.replace("A==\n", "A\n=\n=\n")]
            {
                assert_eq!(read(text, piece, false), Ok("at rest".to_owned()), "{piece}: {text}");
            }
        }
        assert_eq!(read(&TEXT.repeat(2), 64, true), Ok("at restat rest".to_owned()));
        assert_eq!(read(TEXT.trim_end_matches("\nYours\n"), 64, false), Ok("at rest".to_owned()));
    }

    #[test]
    fn what_is_cut_or_does_not_belong_is_damage() {
        let end = TEXT.find("-----END").unwrap() + "-----END PGP MESSAGE-----".len();
        let begin = TEXT.find("-----\x20").unwrap() + 5;
        for at in begin..end {
            if TEXT.is_char_boundary(at) {
                assert_eq!(read(&TEXT[..at], 64, false), Err(Kind::Damaged), "{}", &TEXT[..at]);
            }
        }
        let other = TEXT.replace("END PGP MESSAGE", "END PGP SIGNATURE");
        for text in [
            TEXT.replace("cmVz", "cm!z"),
            TEXT.replace("cmVz", "cm=z"),
            TEXT.replace("cmVz", "cmV"),
            TEXT.replace("Comment:", "Comment"),
            TEXT.repeat(2),
            other.clone(),
        ] {
            assert_eq!(read(&text, 64, false), Err(Kind::Damaged), "{text}");
        }
        assert_eq!(read(&(TEXT.to_owned() + &other), 64, true), Err(Kind::Damaged));
        assert_eq!(read("no armor\n", 64, false), Err(Kind::Input));
    }
}
