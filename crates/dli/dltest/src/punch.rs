//! Punching: cards that issue the same calls and expect what came back.
//!
//! | columns | of a punched comparison |
//! |---|---|
//! | 5-6, 8-9, 11-18, 20-23, 24-71 | level, status, segment, key length and key of a PCB |
//! | 8-11, 13-16 | the codes of an AIB |
//! | 5-8, 16-71 | length and bytes of data, in pieces of up to 3,808 |
//! | 72 | `X` if it goes on |
//! | 73-80 | the number, if one was given to begin with |
//!
//! Invariants:
//!
//! 1. A card that is punched reads as it was meant: bytes that end lines or are tabs stand on
//!    none. A key with one is compared by its length alone, data up to the first of them.
//! 2. Each repetition of a call is punched as a call of its own, for each has its own outcome.

use std::io::{self, Write};

use crate::card::{COLUMNS, MARK};
use crate::run::{AibCodes, Event, Feedback, Observer};
use crate::statement::{Call, Deck, Extent, Punching};

/// The bytes of data on a card.
const TEXT: usize = 56;
/// The bytes of a key on its first card.
const KEY: usize = 48;
/// The bytes of data that are compared in one piece.
const PIECE: usize = 68 * TEXT;
/// The last number of a card.
const LAST_NUMBER: u32 = 99_999_999;

/// Writes punched cards.
#[derive(Debug)]
pub struct Punch<'a, W> {
    out: W,
    deck: &'a Deck,
    what: Punching,
    /// The number of the next card.
    number: Option<u32>,
}

impl<'a, W: Write> Punch<'a, W> {
    /// Writes to `out` what the deck's `CTL` cards ask for.
    pub fn new(out: W, deck: &'a Deck) -> Self {
        Punch { out, deck, what: Punching::default(), number: None }
    }

    /// Writes a card: words, each with the column where it begins.
    fn card(&mut self, words: &[(usize, &[u8])]) -> io::Result<()> {
        let mut columns = [b' '; COLUMNS];
        for (column, word) in words {
            columns[column - 1..column - 1 + word.len()].copy_from_slice(word);
        }
        if let Some(number) = &mut self.number {
            columns[MARK..].copy_from_slice(format!("{number:08}").as_bytes());
            *number = number.saturating_add(self.what.step).min(LAST_NUMBER);
        }
        let end = columns.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
        self.out.write_all(&columns[..end])?;
        self.out.write_all(b"\n")
    }

    /// Writes a card of the deck, with words of ours over it.
    fn copy(&mut self, number: u32, words: &[(usize, &[u8])]) -> io::Result<()> {
        let deck = self.deck;
        let Some(card) = deck.card(number).filter(|_| self.what.others) else { return Ok(()) };
        self.card(&[&[(1, card.columns(1, MARK))], words].concat())
    }

    /// A comment or the like; what a blank type stands for is said, since other cards come between.
    fn copy_as(&mut self, number: u32, kind: u8) -> io::Result<()> {
        let is_blank = self.deck.card(number).is_some_and(|card| card.column(1) == b' ');
        let kind = [(1, &[kind][..])];
        self.copy(number, if is_blank { &kind } else { &[] })
    }

    fn call(&mut self, call: &Call, feedback: &Feedback, data: &[u8]) -> io::Result<()> {
        self.copy(call.card, &[(1, b"L"), (5, b"    "), (10, &call.function.bytes())])?;
        for number in call.cards.iter().skip(1) {
            self.copy(*number, &[])?;
        }
        self.pcb(feedback)?;
        if let Some(AibCodes { return_code, reason }) = feedback.aib.filter(|_| self.what.aib) {
            let [return_code, reason] = [return_code, reason].map(|code| format!("{code:04X}"));
            // Codes have four digits; one that had more would not fit its columns.
            let fits = return_code.len() == 4 && reason.len() == 4;
            if fits {
                let codes = [(8, return_code.as_bytes()), (13, reason.as_bytes())];
                self.card(&[&[(1, &b"E"[..]), (4, b"AIB")], &codes[..]].concat())?;
            }
        }
        match self.what.data {
            Extent::Nothing => Ok(()),
            Extent::Short => self.data(&data[..data.len().min(TEXT)]),
            Extent::Full => self.data(data),
        }
    }

    fn pcb(&mut self, feedback: &Feedback) -> io::Result<()> {
        let key = if is_writable(&feedback.key) { &feedback.key[..] } else { &[] };
        let key = match self.what.pcb {
            Extent::Nothing => return Ok(()),
            Extent::Short => &key[..key.len().min(KEY)],
            Extent::Full => key,
        };
        let level = format!("{:02}", feedback.level.min(99));
        let length = format!("{:04}", feedback.key.len().min(9999));
        let (first, rest) = key.split_at(key.len().min(KEY));
        let words = [
            (1, &b"E"[..]),
            (5, level.as_bytes()),
            (8, &feedback.status),
            (11, &feedback.segment),
            (20, length.as_bytes()),
            (24, first),
        ];
        self.continued(&words, rest)
    }

    fn data(&mut self, data: &[u8]) -> io::Result<()> {
        let end = data.iter().position(|byte| !is_writable(&[*byte])).unwrap_or(data.len());
        for piece in data[..end].chunks(PIECE) {
            let length = format!("{:04}", piece.len());
            let (first, rest) = piece.split_at(piece.len().min(TEXT));
            let words = [(1, &b"E"[..]), (5, length.as_bytes()), (10, b"DATA"), (16, first)];
            self.continued(&words, rest)?;
        }
        Ok(())
    }

    /// Writes a card and what goes on behind it.
    fn continued(&mut self, words: &[(usize, &[u8])], rest: &[u8]) -> io::Result<()> {
        let mark = |is_last: bool| (MARK, if is_last { &b""[..] } else { &b"X"[..] });
        self.card(&[words, &[mark(rest.is_empty())]].concat())?;
        let mut rest = rest.chunks(TEXT).peekable();
        while let Some(text) = rest.next() {
            let is_last = rest.peek().is_none();
            self.card(&[(16, text), mark(is_last)])?;
        }
        Ok(())
    }
}

impl<W: Write> Observer for Punch<'_, W> {
    fn notice(&mut self, event: &Event<'_>) -> io::Result<()> {
        if let Event::Punch(punching) = event {
            self.what = **punching;
            self.number = if punching.is_on { punching.first.or(self.number) } else { None };
            return Ok(());
        }
        if !self.what.is_on {
            return Ok(());
        }
        match event {
            Event::Comment { card, .. } => self.copy_as(*card, b'U'),
            Event::Options(card) => self.copy_as(*card, b'O'),
            Event::Status(status) => self.copy_as(status.card, b'S'),
            Event::Called { call, feedback, data, .. } => self.call(call, feedback, data),
            Event::Pcb { .. }
            | Event::Punch(_)
            | Event::Compared(_)
            | Event::Wrong(_)
            | Event::Ended => Ok(()),
        }
    }
}

/// Whether bytes can stand on a card of a line.
fn is_writable(bytes: &[u8]) -> bool {
    !bytes.iter().any(|byte| matches!(byte, b'\n' | b'\r' | b'\t'))
}
