//! Comparison cards.
//!
//! Invariant: a comparison without a call before it, or with a wrong column, changes nothing.

use super::{Open, Parser, number, piece};
use crate::card::{Card, LAST};
use crate::fault;
use crate::statement::{PcbCheck, StatusCheck};

/// What column 3 says to end the run at a difference.
const END: u8 = b'8';

impl Parser {
    pub(super) fn compare(&mut self, card: &Card) {
        if self.is_left_out {
            return self.leave_open(card, Open::LeftOut);
        }
        let open = if self.call.is_none() {
            let message = "this compares a call, but there is no call before it".to_owned();
            self.wrong(card, 1, fault::NO_CALL, message);
            None
        } else if card.function() == *b"DATA" {
            self.data_check(card)
        } else if card.columns(10, 13) == b"AIB " {
            self.wrong(card, 10, fault::AIB, "AIBs are not compared".to_owned());
            None
        } else {
            self.pcb_check(card)
        };
        self.leave_open(card, open.unwrap_or(Open::LeftOut));
    }

    fn data_check(&mut self, card: &Card) -> Option<Open> {
        let Some(piece) = piece(card) else {
            self.no_number(card, 5, 8);
            return None;
        };
        let call = self.call.as_mut()?;
        call.ends_at_difference |= card.column(3) == END;
        call.data_checks.push(piece);
        Some(Open::DataCheck)
    }

    fn pcb_check(&mut self, card: &Card) -> Option<Open> {
        let level = match number(card, 5, 6) {
            Some(level) => level.and_then(|level| u8::try_from(level).ok()),
            None => {
                let said = card.trimmed(5, 6).escape_ascii();
                self.wrong(card, 5, fault::LEVEL, format!("'{said}' is no level"));
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
        let said = |from, to| {
            let columns = card.columns(from, to);
            columns.iter().any(|byte| *byte != b' ').then_some(columns)
        };
        let check = PcbCheck {
            card: card.number,
            is_held: card.column(2) == b'H',
            ends_at_difference: card.column(3) == END,
            level,
            status,
            segment: said(11, 18).map(|name| name.trim_ascii().to_vec()),
            key_length: key_length.map(|length| length as usize),
            key: said(24, LAST).map(<[u8]>::to_vec),
        };
        self.call.as_mut()?.pcb_checks.push(check);
        Some(Open::Key)
    }

    fn no_number(&mut self, card: &Card, from: usize, to: usize) {
        let said = card.trimmed(from, to).escape_ascii().to_string();
        let message = format!("'{said}' is no length");
        self.wrong(card, from as u8, fault::NUMBER, message);
    }
}

/// Cuts the key of a comparison to its length, now that all its cards were read.
pub(super) fn finish(check: &mut PcbCheck) {
    if let Some(key) = &mut check.key {
        let used = key.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
        key.resize(check.key_length.unwrap_or(used), b' ');
    }
}
