//! Cards that control the run: print options and PCBs, options, stacks, skipping, punching.
//!
//! Invariant: a wrong card changes nothing, but that a wrong print option leaves the choice of
//! the PCB in force.

use super::{Open, Parser, repeat};
use crate::card::{Card, LAST};
use crate::fault::{self, CardError};
use crate::statement::{
    Checks, Extent, Item, Options, PcbChoice, Print, PrintOptions, Punching, Stack, Status,
};

/// Where the print options of a status stand.
const OPTIONS: [usize; 6] = [3, 4, 5, 7, 9, 11];
/// In place of a PCB: all are listed.
const LIST_ALL: &[u8] = b"$LISTALL";
/// How much more each punched card's number is, if `INCR=` does not say.
const STEP: u32 = 10;

/// A stack that has begun.
pub(super) struct Opened {
    card: u32,
    repeat: u32,
    /// The items in front of it.
    before: Vec<Item>,
}

/// Whether the card ends the passing over of cards.
pub(super) fn starts(card: &Card) -> bool {
    matches!(card.column(1), b'L' | b' ') && card.columns(10, 14) == b"START"
}

impl Parser {
    pub(super) fn status(&mut self, card: &Card) {
        self.flush();
        if card.column(2) == b'A' {
            // It is about the output's place only.
            return;
        }
        let options = OPTIONS.map(|column| card.column(column));
        let mut print = None;
        if let Some(bad) = options.iter().position(|option| !b" 012".contains(option)) {
            let message = format!("'{}' is no print option", options[bad].escape_ascii());
            self.wrong(card, OPTIONS[bad] as u8, fault::OPTION, message);
        } else if options != [b' '; 6] {
            let [comments, aib, call, compare, pcb, segment] = options.map(|option| match option {
                b'1' => Print::Always,
                b'2' => Print::IfDifferent,
                _ => Print::Never,
            });
            print = Some(PrintOptions { comments, aib, call, compare, pcb, segment });
        }
        let lists = card.trimmed(16, 23) == LIST_ALL;
        let pcb = choice(card).filter(|_| !lists);
        let is_aib = card.columns(30, 32) == b"AIB";
        let uses_aib = (is_aib || pcb.is_some()).then_some(is_aib);
        self.emit(Item::Status(Status { card: card.number, print, pcb, uses_aib, lists }));
    }

    pub(super) fn options(&mut self, card: &Card) {
        self.flush();
        let text = String::from_utf8_lossy(card.columns(2, LAST)).into_owned();
        let mut words = text.split([' ', ',']);
        let abort = match words.find_map(|word| word.strip_prefix("ABORT=")) {
            None => None,
            Some(typed) => match typed.parse() {
                Ok(limit) => Some(limit),
                Err(_) => {
                    let message = format!("ABORT={typed} is no number of differences");
                    return self.wrong(card, 2, fault::NUMBER, message);
                }
            },
        };
        self.emit(Item::Options(Options { card: card.number, abort }));
    }

    pub(super) fn abend(&mut self, card: &Card) {
        self.flush();
        self.emit(Item::Abend { card: card.number });
    }

    /// STAK, END and SKIP.
    pub(super) fn stack(&mut self, card: &Card) {
        self.flush();
        match &card.function() {
            b"SKIP" => self.is_skipping = true,
            b"STAK" => self.begin_stack(card),
            _ => self.end_stack(card),
        }
    }

    fn begin_stack(&mut self, card: &Card) {
        self.forget_stack();
        let repeat = repeat(card).unwrap_or_else(|| {
            let typed = card.trimmed(5, 8).escape_ascii();
            let message = format!("'{typed}' is no number that says how often it is repeated");
            self.wrong(card, 5, fault::NUMBER, message);
            // Its statements are read, and none of them is issued.
            0
        });
        let before = std::mem::take(&mut self.deck.items);
        self.stack = Some(Opened { card: card.number, repeat, before });
    }

    fn end_stack(&mut self, card: &Card) {
        let Some(Opened { card: begun, repeat, before }) = self.stack.take() else {
            let message = "END ends nothing: there is no STAK before it".to_owned();
            return self.wrong(card, 10, fault::STACK, message);
        };
        let items = std::mem::replace(&mut self.deck.items, before);
        let checks = Checks::default();
        self.deck.items.push(Item::Stack(Stack { card: begun, repeat, items, checks }));
        self.is_behind_stack = true;
    }

    /// Leaves out a stack that does not end.
    pub(super) fn forget_stack(&mut self) {
        let Some(Opened { card, before, .. }) = self.stack.take() else { return };
        let items = std::mem::replace(&mut self.deck.items, before);
        let is_wrong = |item: &Item| matches!(item, Item::Wrong(_));
        self.deck.items.extend(items.into_iter().filter(is_wrong));
        let message = "the stack is left out: another one begins before END, or none comes";
        let (column, code, message) = (10, fault::STACK, message.to_owned());
        self.emit(Item::Wrong(CardError { card, column, code, message }));
    }

    pub(super) fn punch(&mut self, card: &Card) {
        self.flush();
        match punching(card) {
            Ok(punching) => self.emit(Item::Punch(punching)),
            Err((column, message)) => self.wrong(card, column, fault::PUNCH, message),
        }
        self.leave_open(card, Open::LeftOut);
    }
}

/// The PCB that a status chooses; column 15 tells what its columns are.
fn choice(card: &Card) -> Option<PcbChoice> {
    let word = String::from_utf8_lossy(card.trimmed(16, 23)).into_owned();
    if word.is_empty() {
        return None;
    }
    let number = word.parse().ok();
    Some(match (card.column(15), number) {
        (b'1', _) => PcbChoice::Own(word),
        (b'2', _) => PcbChoice::Database(word),
        (b'3', Some(number)) => PcbChoice::NthDatabase(number),
        (b'4', Some(number)) => PcbChoice::Nth(number),
        _ => PcbChoice::of(&word),
    })
}

/// What a `CTL` card says; or where it is wrong, and why.
fn punching(card: &Card) -> Result<Punching, (u8, String)> {
    let mut punching = Punching { step: STEP, ..Punching::default() };
    match &card.function() {
        b"PUNC" => punching.is_on = true,
        b"NPUN" => return Ok(punching),
        other => return Err((10, format!("'{}' is neither PUNC nor NPUN", other.escape_ascii()))),
    }
    let text = String::from_utf8_lossy(card.columns(16, LAST)).into_owned();
    for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let number = value.parse().ok().filter(|number| (1..=99_999_999).contains(number));
        match (key, number) {
            ("OTHER", _) => punching.others = true,
            ("DATAS", _) => punching.data = Extent::Short,
            ("DATAL", _) => punching.data = Extent::Full,
            ("PCBS", _) => punching.pcb = Extent::Short,
            ("PCBL", _) => punching.pcb = Extent::Full,
            ("AIB", _) => punching.aib = true,
            // They are about Fast Path calls, which commit by themselves here.
            ("SYNC" | "NOSYNC", _) => {}
            ("START", Some(_)) => punching.first = number,
            ("INCR", Some(step)) => punching.step = step,
            _ => return Err((16, format!("{word} is nothing that can be punched"))),
        }
    }
    Ok(punching)
}
