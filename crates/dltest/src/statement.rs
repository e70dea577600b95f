//! The statements that cards say.

use std::fmt;

use crate::fault::CardError;
use crate::piece::Piece;

/// What a deck of cards says, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deck {
    /// Statements, comments, and what is wrong.
    pub items: Vec<Item>,
}

/// A part of a deck.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A comment.
    Comment {
        /// Its text.
        text: String,
        /// Whether it is shown only if the status says so (`T`).
        is_conditional: bool,
    },
    /// Print options and the choice of a PCB.
    Status(Status),
    /// A call with what it is compared with.
    Call(Call),
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
}

/// What the report shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintOptions {
    /// Comments of `T` cards.
    pub comments: bool,
    /// AIBs; there are none to show.
    pub aib: bool,
    /// Calls with their SSAs.
    pub call: bool,
    /// Comparisons that came out equal; differences always show.
    pub compare: bool,
    /// The PCB.
    pub pcb: bool,
    /// The segment data.
    pub segment: bool,
}

impl Default for PrintOptions {
    fn default() -> Self {
        let (comments, aib, call, compare, pcb, segment) = (true, true, true, true, true, true);
        PrintOptions { comments, aib, call, compare, pcb, segment }
    }
}

/// How a PCB is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PcbChoice {
    /// By the name of its database, or by its own.
    Name(String),
    /// By its number, from 1.
    Number(u32),
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
            PcbChoice::Name(name) => f.write_str(name),
            PcbChoice::Number(number) => write!(f, "{number}"),
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
    /// The function, padded with blanks.
    pub function: [u8; 4],
    /// The SSAs as a program passes them.
    pub ssas: Vec<Vec<u8>>,
    /// The I/O area, if cards give one: pieces one behind the other.
    pub data: Vec<Piece>,
    /// What the PCB is compared with.
    pub pcb_checks: Vec<PcbCheck>,
    /// What the I/O area is compared with: pieces one behind the other.
    pub data_checks: Vec<Piece>,
    /// Whether a difference in the data ends the run.
    pub ends_at_difference: bool,
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
