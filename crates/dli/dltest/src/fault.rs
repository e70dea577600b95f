//! What can be wrong with a card.
//!
//! Invariants:
//! 1. A code keeps its meaning; scripts and documentation rely on it.
//! 2. Every code is in [`CODES`], and a test provokes every one of them.

use base::{Code, Coded};
use thiserror::Error;

/// Something wrong with a card.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("card {card}, column {column}: {message}")]
pub struct CardError {
    /// The card, from 1.
    pub card: u32,
    /// The column where the wrong word begins, from 1.
    pub column: u8,
    /// The stable code.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
}

impl Coded for CardError {
    fn code(&self) -> Code {
        Code(self.code)
    }

    fn remedy(&self) -> String {
        remedy(self.code)
    }
}

/// What to do about a code.
pub(crate) fn remedy(code: &str) -> String {
    let known = CODES.iter().find(|known| known.code == code);
    known.map(|known| known.remedy.to_owned()).unwrap_or_default()
}

/// A code, what it stands for and what to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeMeaning {
    /// Such as `HFC001`.
    pub code: &'static str,
    /// What it stands for, in a few words.
    pub meaning: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

macro_rules! codes {
    ($($name:ident = $code:literal, $meaning:literal, $remedy:literal;)*) => {
        $(pub(crate) const $name: &str = $code;)*
        /// Every code with its meaning.
        pub const CODES: &[CodeMeaning] =
            &[$(CodeMeaning { code: $code, meaning: $meaning, remedy: $remedy }),*];
    };
}

codes! {
    TYPE = "HFC001", "column 1 does not say what the card is",
        "Begin the card with S, L, E, U, T, N, O, CTL, WTO, ABEND or a point.";
    NO_CALL = "HFC002", "data or a comparison has no call before it",
        "Place DATA and E cards behind the call that they belong to.";
    NO_FUNCTION = "HFC003", "a call has no function, and neither has one before it",
        "Give the function in columns 10 to 13.";
    NUMBER = "HFC004", "this is no number, or one that cannot be",
        "Give a number, right in its columns.";
    OPTION = "HFC005", "a print option is none of 0, 1 and 2",
        "Give 1 to print, 0 to leave out, or 2, in columns 3, 4, 5, 7, 9 and 11.";
    BROKEN = "HFC006", "a continued card is not followed by its continuation",
        "Leave column 72 blank, or column 1 of the next card.";
    LEVEL = "HFC007", "the level of a comparison is no level",
        "Give two digits in columns 5 and 6, or leave them blank.";
    AIB = "HFC008", "an AIB is compared, but the call used none",
        "Write AIB in columns 30 to 32 of the S card before it.";
    TOO_LONG = "HFC009", "the data does not fit into the I/O area",
        "Give less data; no path of segments is that long.";
    PCB = "HFC010", "the program has no such PCB",
        "Give the name of a database, of a PCB, or a number in columns 16 to 23.";
    NOT_ISSUED = "HFC011", "a call is left out since its PCB is not known",
        "Correct the S card before it.";
    ORPHAN = "HFC012", "CONT stands behind a card that is not continued",
        "Put any character into column 72 of the card before.";
    STACK = "HFC013", "a stack does not end, holds another one, or was not begun",
        "Place one END behind each STAK, and no STAK between them.";
    PUNCH = "HFC014", "a CTL card does not say what to punch",
        "Give PUNC or NPUN in columns 10 to 13 and from 16 OTHER, DATAS, DATAL, PCBS, PCBL, AIB.";
    CODE = "HFC015", "a code of an AIB is not hexadecimal",
        "Give up to four hexadecimal digits in columns 8 to 11 and 13 to 16.";
    ABEND = "HFC016", "an ABEND card ended the run",
        "What was done since the last commit is backed out; take the card away to go on.";
    UNPLACED = "HFC017", "a card has no number by which two streams could be merged",
        "Number all cards of SYSIN and SYSIN2: the group in columns 73 and 74, the number behind it.";
    REPORT = "HFC020", "the report cannot be written",
        "Check where the output goes.";
}
