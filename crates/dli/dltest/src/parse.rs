//! Cards to statements.
//!
//! Invariants:
//!
//! 1. A call is finished only when a card comes that belongs to no call before it, for data and
//!    comparisons follow it. Comments and errors in between come behind it.
//! 2. A call with a wrong card of its own or of its data is left out, with everything that
//!    belongs to it. A wrong comparison leaves out only itself; a wrong print option leaves the
//!    choice of the PCB in force.
//! 3. A card that is ignored (`N`, `.`) may stand between a card and its continuation.
//! 4. A stack that is not ended, or holds another one, is left out, but for what is wrong in it.

mod compare;
mod control;

use definitions::Function;

use crate::card::{Card, LAST};
use crate::fault::{self, CardError};
use crate::merge::{deck, merge};
use crate::piece::{Form, Piece};
use crate::statement::{Call, Checks, Deck, Item};

use control::Opened;

/// How often a call can be repeated.
const REPEAT_MAX: u32 = 9999;

/// What a continuation goes on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    /// Nothing: the card before was not continued.
    Closed,
    /// The SSAs of the call.
    Ssas,
    /// The data of the call.
    Data,
    /// The key that a PCB is compared with.
    Key,
    /// The data that the I/O area is compared with.
    DataCheck,
    /// A call that is left out.
    LostCall,
    /// Another statement that is left out.
    LeftOut,
}

#[derive(Default)]
struct Parser {
    deck: Deck,
    /// The call that data and comparisons belong to.
    call: Option<Box<Call>>,
    /// What comes behind it.
    behind: Vec<Item>,
    /// Whether that call was wrong, so that what belongs to it is left out.
    is_left_out: bool,
    /// What the card before begins with.
    previous: Option<u8>,
    /// The function of the call before.
    function: Option<Function>,
    open: Option<(Open, u32)>,
    /// The stack that later items go into.
    stack: Option<Opened>,
    /// Whether a stack has just ended, so that comparisons are with its last call.
    is_behind_stack: bool,
    /// Whether cards are passed over, up to START.
    is_skipping: bool,
}

/// Reads a deck.
#[must_use]
pub fn parse(bytes: &[u8]) -> Deck {
    parse_cards(deck(bytes), Vec::new())
}

/// Reads a deck into which a second one is merged: SYSIN and SYSIN2.
#[must_use]
pub fn parse_merged(first: &[u8], second: &[u8]) -> Deck {
    let (cards, left_out) = merge(first, second);
    parse_cards(cards, left_out)
}

fn parse_cards(all: Vec<Card>, left_out: Vec<CardError>) -> Deck {
    let mut parser = Parser::default();
    left_out.into_iter().for_each(|one| parser.emit(Item::Wrong(one)));
    for card in all.iter().filter(|card| !card.is_blank()) {
        parser.card(card);
    }
    parser.close();
    parser.flush();
    parser.forget_stack();
    parser.deck.cards = all;
    parser.deck
}

impl Parser {
    fn card(&mut self, card: &Card) {
        if self.is_skipping {
            self.is_skipping = !control::starts(card);
            return;
        }
        let begin = card.column(1);
        if self.open() != Open::Closed {
            if matches!(begin, b'N' | b'.') {
                return;
            }
            if self.continues(card) {
                return self.continuation(card);
            }
            if !self.is_more_data(card) {
                self.close();
            }
        }
        self.open = None;
        let kind = if begin == b' ' { self.previous } else { Some(begin) };
        self.previous = kind;
        match kind {
            Some(b'W') if card.columns(1, 4) == b"WTOR" => self.comment(card, 5),
            Some(b'W') if begin == b' ' || card.columns(1, 3) == b"WTO" => self.comment(card, 4),
            Some(b'C') if begin == b' ' || card.columns(1, 3) == b"CTL" => self.punch(card),
            Some(b'A') if card.columns(1, 5) == b"ABEND" => self.abend(card),
            Some(b'U' | b'T') => self.comment(card, 2),
            Some(b'N' | b'.') => {}
            Some(b'O') => self.options(card),
            Some(b'S') => self.status(card),
            Some(b'L') => self.call(card),
            Some(b'E') => self.compare(card),
            kind => {
                let message = match kind {
                    None => "the first card needs a type".to_owned(),
                    Some(kind) => format!("'{}' is no type of card", kind.escape_ascii()),
                };
                self.wrong(card, 1, fault::TYPE, message);
                self.leave_open(card, Open::LeftOut);
            }
        }
    }

    fn open(&self) -> Open {
        self.open.map_or(Open::Closed, |(open, _)| open)
    }

    /// Says that what the card continues is this, if it is continued.
    fn leave_open(&mut self, card: &Card, open: Open) {
        self.open = card.is_continued().then_some((open, card.number));
    }

    /// Whether a card behind a continued one is its continuation. Of a call it is one with an `L`
    /// as well, whatever its function: column 72 of the card before decides first.
    fn continues(&self, card: &Card) -> bool {
        let is_call = matches!(self.open(), Open::Ssas | Open::Data | Open::LostCall);
        card.column(1) == b' ' || (is_call && card.column(1) == b'L')
    }

    /// Whether a card with a type brings data that a continued comparison announced.
    fn is_more_data(&self, card: &Card) -> bool {
        let is_open = self.open() == Open::DataCheck;
        is_open && card.column(1) == b'E' && card.function() == *b"DATA"
    }

    fn continuation(&mut self, card: &Card) {
        let open = self.open();
        match open {
            Open::Ssas | Open::Data if card.function() == *b"DATA" => return self.data(card),
            Open::Ssas | Open::Data => self.more_of_call(card, open),
            Open::DataCheck if card.function() == *b"DATA" => return self.compare(card),
            Open::Key | Open::DataCheck => self.more_of_check(card, open),
            Open::Closed | Open::LostCall | Open::LeftOut => {}
        }
        self.leave_open(card, open);
    }

    fn more_of_call(&mut self, card: &Card, open: Open) {
        let (text, Some(call)) = (card.text(), &mut self.call) else { return };
        call.cards.push(card.number);
        match (open, &card.function()) {
            (Open::Data, _) => {
                if let Some(piece) = call.data.last_mut() {
                    piece.text.extend_from_slice(text);
                }
            }
            (_, b"CONT") => match call.ssas.last_mut() {
                Some(ssa) => ssa.extend_from_slice(text),
                None => call.ssas.push(text.to_vec()),
            },
            _ if text.iter().any(|byte| *byte != b' ') => call.ssas.push(text.to_vec()),
            _ => {}
        }
    }

    /// Says so if a card was continued and no continuation came.
    fn close(&mut self) {
        if let Some((open, card)) = self.open.take()
            && !matches!(open, Open::LostCall | Open::LeftOut)
        {
            let message = "the card is continued, but the next one is no continuation".to_owned();
            self.emit(Item::Wrong(CardError { card, column: 72, code: fault::BROKEN, message }));
        }
    }

    /// Finishes the call.
    fn flush(&mut self) {
        self.is_left_out = false;
        self.finish_checks();
        self.is_behind_stack = false;
        if let Some(mut call) = self.call.take() {
            call.ssas.iter_mut().for_each(finish_ssa);
            self.deck.items.push(Item::Call(call));
        }
        self.deck.items.append(&mut self.behind);
    }

    /// What the comparisons that are read now belong to: a call, or the stack that ended.
    fn checks(&mut self) -> Option<&mut Checks> {
        if let Some(call) = &mut self.call {
            return Some(&mut call.checks);
        }
        let is_stack = |item: &&mut Item| matches!(item, Item::Stack(_));
        let mut items = self.deck.items.iter_mut().rev();
        match items.find(is_stack).filter(|_| self.is_behind_stack) {
            Some(Item::Stack(stack)) => Some(&mut stack.checks),
            _ => None,
        }
    }

    /// Puts an item behind the call that is not finished yet, or else at the end.
    fn emit(&mut self, item: Item) {
        let items = if self.call.is_some() { &mut self.behind } else { &mut self.deck.items };
        items.push(item);
    }

    fn wrong(&mut self, card: &Card, column: u8, code: &'static str, message: String) {
        self.emit(Item::Wrong(CardError { card: card.number, column, code, message }));
    }

    /// Leaves out the call and everything that belongs to it.
    fn drop_call(&mut self, card: &Card) {
        self.call = None;
        self.is_left_out = true;
        self.deck.items.append(&mut self.behind);
        self.leave_open(card, Open::LostCall);
    }

    fn comment(&mut self, card: &Card, from: usize) {
        let is_conditional = self.previous == Some(b'T');
        let text = String::from_utf8_lossy(card.columns(from, LAST)).trim_end().to_owned();
        self.emit(Item::Comment { card: card.number, text, is_conditional });
    }

    fn call(&mut self, card: &Card) {
        let function = match &card.function() {
            b"DATA" => return self.data(card),
            b"CONT" => {
                let message = "CONT continues nothing: column 72 before it is blank".to_owned();
                return self.wrong(card, 10, fault::ORPHAN, message);
            }
            b"    " => self.function,
            b"STAK" | b"END " | b"SKIP" => return self.stack(card),
            b"STAR" if card.column(14) == b'T' => return,
            function => Some(Function::of(*function)),
        };
        self.flush();
        self.function = function;
        let Some(function) = function else {
            let message = "the call has no function, nor has one before it".to_owned();
            self.wrong(card, 10, fault::NO_FUNCTION, message);
            return self.drop_call(card);
        };
        let Some(repeat) = repeat(card) else {
            return self.bad_number(card, "how often the call is repeated");
        };
        let text = card.text();
        let has_ssa = text.iter().any(|byte| *byte != b' ');
        self.call = Some(Box::new(Call {
            card: card.number,
            repeat,
            function,
            ssas: if has_ssa { vec![text.to_vec()] } else { Vec::new() },
            data: Vec::new(),
            checks: Checks::default(),
            cards: vec![card.number],
        }));
        self.leave_open(card, Open::Ssas);
    }

    fn bad_number(&mut self, card: &Card, what: &str) {
        let typed = card.trimmed(5, 8).escape_ascii().to_string();
        self.wrong(card, 5, fault::NUMBER, format!("'{typed}' is no number that says {what}"));
        self.drop_call(card);
    }

    fn data(&mut self, card: &Card) {
        if self.is_left_out {
            return self.leave_open(card, Open::LostCall);
        }
        if self.call.is_none() {
            let message = "this is data of a call, but there is no call before it".to_owned();
            self.wrong(card, 10, fault::NO_CALL, message);
            return self.leave_open(card, Open::LeftOut);
        }
        match (piece(card), &mut self.call) {
            (Some(piece), Some(call)) => {
                call.data.push(piece.grown(card.column(2), card.column(3)));
                call.cards.push(card.number);
            }
            _ => return self.bad_number(card, "how long the data is"),
        }
        self.leave_open(card, Open::Data);
    }
}

/// A number that stands in columns: outer `None` if something else stands there, inner if
/// nothing does.
fn number(card: &Card, from: usize, to: usize) -> Option<Option<u32>> {
    match card.trimmed(from, to) {
        [] => Some(None),
        word if word.iter().all(u8::is_ascii_digit) => {
            std::str::from_utf8(word).ok()?.parse().ok().map(Some)
        }
        _ => None,
    }
}

/// How often a call or a stack is repeated, if that is said rightly.
fn repeat(card: &Card) -> Option<u32> {
    let repeat = number(card, 5, 8)?.unwrap_or(1);
    (1..=REPEAT_MAX).contains(&repeat).then_some(repeat)
}

/// The data of a `DATA` card, if its length is right.
fn piece(card: &Card) -> Option<Piece> {
    let length = number(card, 5, 8)?.map(|length| length as usize);
    let form = Form::of(card.column(4));
    Some(Piece { card: card.number, form, length, text: card.text().to_vec() })
}

/// Makes the columns of an SSA what a program passes: the name in 8 characters, and a blank
/// behind it if no parenthesis closes it.
fn finish_ssa(ssa: &mut Vec<u8>) {
    const NAME: usize = 8;
    let end = ssa.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    ssa.resize(end.max(NAME), b' ');
    ssa.truncate(end.max(NAME));
    if ssa.last() != Some(&b')') || ssa.len() == NAME {
        ssa.push(b' ');
    }
}
