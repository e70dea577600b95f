//! Comparison cards.
//!
//! Invariant: a comparison without a call before it, or with a wrong column, changes nothing.

use super::{Open, Parser, number, piece};
use crate::card::{Card, LAST};
use crate::fault;
use crate::statement::{AibCheck, DataCheck, PcbCheck, StatusCheck};

impl Parser {
    pub(super) fn compare(&mut self, card: &Card) {
        if self.is_left_out {
            return self.leave_open(card, Open::LeftOut);
        }
        let open = if self.checks().is_none() {
            let message = "this compares a call, but there is no call before it".to_owned();
            self.wrong(card, 1, fault::NO_CALL, message);
            None
        } else if card.function() == *b"DATA" {
            self.data_check(card)
        } else if card.columns(4, 6) == b"AIB" {
            self.aib_check(card)
        } else {
            self.pcb_check(card)
        };
        self.leave_open(card, open.unwrap_or(Open::LeftOut));
    }

    /// Goes on with the key or the data of a comparison.
    pub(super) fn more_of_check(&mut self, card: &Card, open: Open) {
        let (text, Some(checks)) = (card.text(), self.checks()) else { return };
        let more = match open {
            Open::Key => checks.pcb.last_mut().and_then(|check| check.key.as_mut()),
            _ => checks.data.last_mut().map(|check| &mut check.piece.text),
        };
        if let Some(more) = more {
            more.extend_from_slice(text);
        }
    }

    fn data_check(&mut self, card: &Card) -> Option<Open> {
        let compares_length = card.column(3) == b'L';
        let typed = piece(card).filter(|piece| !compares_length || piece.length.is_some());
        let Some(piece) = typed else {
            self.no_number(card, 5, 8);
            return None;
        };
        let ends_at_difference = ends(card);
        self.checks()?.data.push(DataCheck { piece, ends_at_difference, compares_length });
        Some(Open::DataCheck)
    }

    fn aib_check(&mut self, card: &Card) -> Option<Open> {
        let Some(return_code) = digits(card, 8) else { return self.no_code(card, 8) };
        let Some(reason) = digits(card, 13) else { return self.no_code(card, 13) };
        let is_held = card.column(2) == b'H';
        let check = AibCheck { card: card.number, is_held, return_code, reason };
        self.checks()?.aib.push(check);
        // Nothing of it can be continued.
        None
    }

    fn pcb_check(&mut self, card: &Card) -> Option<Open> {
        let level = match number(card, 5, 6) {
            Some(level) => level.and_then(|level| u8::try_from(level).ok()),
            None => {
                let typed = card.trimmed(5, 6).escape_ascii();
                self.wrong(card, 5, fault::LEVEL, format!("'{typed}' is no level"));
                return None;
            }
        };
        let Some(key_length) = number(card, 20, 23) else {
            self.no_number(card, 20, 23);
            return None;
        };
        let status = match card.columns(8, 9) {
            b"OK" => StatusCheck::Good,
            b"XX" => StatusCheck::Any,
            _ => StatusCheck::Code([card.column(8), card.column(9)]),
        };
        let typed = |from, to| {
            let columns = card.columns(from, to);
            columns.iter().any(|byte| *byte != b' ').then_some(columns)
        };
        let check = PcbCheck {
            card: card.number,
            is_held: card.column(2) == b'H',
            ends_at_difference: ends(card),
            level,
            status,
            segment: typed(11, 18).map(|name| name.trim_ascii().to_vec()),
            key_length: key_length.map(|length| length as usize),
            key: typed(24, LAST).map(<[u8]>::to_vec),
        };
        self.checks()?.pcb.push(check);
        Some(Open::Key)
    }

    fn no_number(&mut self, card: &Card, from: usize, to: usize) {
        let typed = card.trimmed(from, to).escape_ascii().to_string();
        let message = format!("'{typed}' is no length");
        self.wrong(card, from as u8, fault::NUMBER, message);
    }

    fn no_code(&mut self, card: &Card, column: u8) -> Option<Open> {
        let from = usize::from(column);
        let typed = card.trimmed(from, from + 3).escape_ascii().to_string();
        self.wrong(card, column, fault::CODE, format!("'{typed}' is no code of an AIB"));
        None
    }

    /// Cuts the keys of comparisons to their lengths, now that all their cards were read.
    pub(super) fn finish_checks(&mut self) {
        let checks = self.checks().map(|checks| checks.pcb.as_mut_slice());
        for check in checks.unwrap_or_default() {
            let Some(key) = &mut check.key else { continue };
            let used = key.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
            key.truncate(check.key_length.unwrap_or(used));
        }
    }
}

/// Whether a difference ends the run: column 3 is a sum of options, of which 8 says so.
fn ends(card: &Card) -> bool {
    let digit = char::from(card.column(3)).to_digit(16);
    digit.is_some_and(|options| options & 8 != 0)
}

/// Up to four hexadecimal digits from a column on: outer `None` if something else stands there,
/// inner if nothing does.
fn digits(card: &Card, from: usize) -> Option<Option<u32>> {
    let word = std::str::from_utf8(card.trimmed(from, from + 3)).ok()?;
    if word.is_empty() {
        return Some(None);
    }
    u32::from_str_radix(word, 16).ok().filter(|_| !word.starts_with('+')).map(Some)
}
