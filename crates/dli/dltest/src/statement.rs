//! The statements that cards say.

use std::fmt;

use definitions::Function;

use crate::card::Card;
use crate::fault::CardError;
use crate::piece::Piece;

/// What a deck of cards says, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deck {
    /// Statements, comments, and what is wrong.
    pub items: Vec<Item>,
    /// The cards, for punching them.
    pub(crate) cards: Vec<Card>,
}

impl Deck {
    /// Whether something on it asks for cards to be punched.
    #[must_use]
    pub fn punches(&self) -> bool {
        fn any(items: &[Item]) -> bool {
            items.iter().any(|item| match item {
                Item::Punch(punch) => punch.is_on,
                Item::Stack(stack) => any(&stack.items),
                _ => false,
            })
        }
        any(&self.items)
    }

    /// A card by its number.
    pub(crate) fn card(&self, number: u32) -> Option<&Card> {
        self.cards.get((number as usize).checked_sub(1)?)
    }
}

/// A part of a deck.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A comment.
    Comment {
        /// Its card.
        card: u32,
        /// Its text.
        text: String,
        /// Whether it is shown only if the status says so (`T`).
        is_conditional: bool,
    },
    /// Print options and the choice of a PCB.
    Status(Status),
    /// Options of the run.
    Options(Options),
    /// Whether and what is punched from now on.
    Punch(Punching),
    /// A call with what it is compared with.
    Call(Box<Call>),
    /// Items that are gone through several times.
    Stack(Stack),
    /// The run ends as an abend does.
    Abend {
        /// Its card.
        card: u32,
    },
    /// A wrong card. The statement that it belongs to is left out.
    Wrong(CardError),
}

/// What an `S` card says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The card.
    pub card: u32,
    /// What is printed from now on; nothing changes if the card says nothing.
    pub print: Option<PrintOptions>,
    /// The PCB of the calls from now on; the same as before if the card says nothing.
    pub pcb: Option<PcbChoice>,
    /// Whether calls name their PCB in an AIB from now on; as before if the card says nothing.
    pub uses_aib: Option<bool>,
    /// Whether all PCBs of the PSB are listed (`$LISTALL`).
    pub lists: bool,
}

/// What an `O` card says; what it says beyond that has no meaning here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The card.
    pub card: u32,
    /// After how many differences the run ends; 0 is never.
    pub abort: Option<u64>,
}

/// What lies between `STAK` and `END`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The `STAK` card.
    pub card: u32,
    /// How often it is gone through; it ends early at a GB that ends no call's own repetition.
    pub repeat: u32,
    /// What is in it; no further stack.
    pub items: Vec<Item>,
    /// What the last call is compared with, once the stack is done.
    pub checks: Checks,
}

/// What a `CTL` card says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Punching {
    /// Whether cards are punched (`PUNC`) or not (`NPUN`).
    pub is_on: bool,
    /// `OTHER`: the cards themselves, comparisons left out.
    pub others: bool,
    /// `DATAS`, `DATAL`: a comparison with the data that came back.
    pub data: Extent,
    /// `PCBS`, `PCBL`: a comparison with the PCB.
    pub pcb: Extent,
    /// `AIB`: a comparison with the AIB's codes.
    pub aib: bool,
    /// `START=`: what stands in columns 73 to 80 of the first card; nothing does without it.
    pub first: Option<u32>,
    /// `INCR=`: how much more on each following one.
    pub step: u32,
}

/// How much is punched to compare with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// Nothing.
    #[default]
    Nothing,
    /// As much as one card holds.
    Short,
    /// Everything.
    Full,
}

/// What the report shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrintOptions {
    /// Comments of `T` cards.
    pub comments: Print,
    /// The codes of AIBs.
    pub aib: Print,
    /// Calls with their SSAs.
    pub call: Print,
    /// Comparisons that came out equal; differences always show.
    pub compare: Print,
    /// The PCB.
    pub pcb: Print,
    /// The segment data.
    pub segment: Print,
}

/// Whether something is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Print {
    /// It is not (blank or 0).
    Never,
    /// It is (1).
    #[default]
    Always,
    /// It is if a comparison with the call finds a difference (2).
    IfDifferent,
}

/// How a PCB is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PcbChoice {
    /// By the name of its database, or by its own.
    Name(String),
    /// By its number among those of the PSB, from 1.
    Number(u32),
    /// By its own name.
    Own(String),
    /// By the name of its database.
    Database(String),
    /// By its number among those of databases, from 1.
    NthDatabase(u32),
    /// By its number in the list that begins with the I/O PCB, from 1.
    Nth(u32),
}

impl PcbChoice {
    /// From a word: digits are a number, anything else a name.
    #[must_use]
    pub fn of(word: &str) -> Self {
        word.parse().map_or_else(|_| PcbChoice::Name(word.to_owned()), PcbChoice::Number)
    }
}

impl fmt::Display for PcbChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PcbChoice::Name(name) | PcbChoice::Own(name) => f.write_str(name),
            PcbChoice::Database(name) => write!(f, "of database {name}"),
            PcbChoice::Number(number) => write!(f, "{number}"),
            PcbChoice::NthDatabase(number) => write!(f, "{number} of databases"),
            PcbChoice::Nth(number) => write!(f, "{number} behind the I/O PCB, which is 1"),
        }
    }
}

/// A call, and what is expected of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its first card.
    pub card: u32,
    /// How often it is issued; it ends early at GB.
    pub repeat: u32,
    /// The function.
    pub function: Function,
    /// The SSAs as a program passes them.
    pub ssas: Vec<Vec<u8>>,
    /// The I/O area, if cards give one: pieces one behind the other.
    pub data: Vec<Piece>,
    /// What it is compared with.
    pub checks: Checks,
    /// Its cards, without those of comparisons.
    pub cards: Vec<u32>,
}

/// What a call is compared with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// The PCB.
    pub pcb: Vec<PcbCheck>,
    /// The AIB.
    pub aib: Vec<AibCheck>,
    /// The I/O area: pieces one behind the other.
    pub data: Vec<DataCheck>,
}

/// What an AIB is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AibCheck {
    /// Its card.
    pub card: u32,
    /// Whether calls without a comparison of their own are compared with it from now on.
    pub is_held: bool,
    /// The return code, if one is expected.
    pub return_code: Option<u32>,
    /// The reason code, if one is expected.
    pub reason: Option<u32>,
}

/// What a part of the I/O area is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataCheck {
    /// The data.
    pub piece: Piece,
    /// Whether a difference ends the run.
    pub ends_at_difference: bool,
    /// Whether the length that stands in front of the segment is compared too (`L`).
    pub compares_length: bool,
}

/// What a PCB is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PcbCheck {
    /// Its card.
    pub card: u32,
    /// Whether calls without a comparison of their own are compared with it from now on.
    pub is_held: bool,
    /// Whether a difference ends the run.
    pub ends_at_difference: bool,
    /// The level.
    pub level: Option<u8>,
    /// The status.
    pub status: StatusCheck,
    /// The segment name, without padding.
    pub segment: Option<Vec<u8>>,
    /// The length of the key feedback.
    pub key_length: Option<usize>,
    /// The key feedback; as much as its length says, or up to the last character that is there.
    pub key: Option<Vec<u8>>,
}

/// What a status code is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusCheck {
    /// Nothing: `XX`.
    Any,
    /// Blank, GA or GK: `OK`.
    Good,
    /// That one; blank if the columns are.
    Code([u8; 2]),
}

impl StatusCheck {
    /// Whether a status code is the one.
    #[must_use]
    pub fn accepts(self, status: [u8; 2]) -> bool {
        match self {
            StatusCheck::Any => true,
            StatusCheck::Good => matches!(&status, b"  " | b"GA" | b"GK"),
            StatusCheck::Code(code) => code == status,
        }
    }
}

impl fmt::Display for StatusCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StatusCheck::Any => f.write_str("any"),
            StatusCheck::Good => f.write_str("OK"),
            StatusCheck::Code(code) => write!(f, "'{}'", code.escape_ascii()),
        }
    }
}
