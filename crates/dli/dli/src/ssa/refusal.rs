//! Why an SSA is refused: a status code for the program, a sentence for whoever reads a trace.
//!
//! Invariants:
//! 1. The status follows from the reason alone.

use std::fmt;

use thiserror::Error;

/// The status codes that SSAs can lead to (DLI-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// The segment is not in the view, or not in hierarchic order.
    Ac,
    /// Malformed, or not valid for the call.
    Aj,
    /// The field is not known.
    Ak,
    /// Q without a class letter.
    Gl,
}

impl Status {
    /// The two characters, in ASCII.
    #[must_use]
    pub const fn bytes(self) -> [u8; 2] {
        match self {
            Status::Ac => *b"AC",
            Status::Aj => *b"AJ",
            Status::Ak => *b"AK",
            Status::Gl => *b"GL",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.bytes().map(char::from);
        write!(f, "{first}{second}")
    }
}

macro_rules! reasons {
    ($($name:ident $status:ident $text:literal;)*) => {
        /// What is wrong with an SSA.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
        pub enum Reason {
            $(#[doc = concat!("\"", $text, "\"")] #[error($text)] $name,)*
        }

        impl Reason {
            /// The status code that the program gets.
            #[must_use]
            pub const fn status(self) -> Status {
                match self { $(Reason::$name => Status::$status,)* }
            }
        }
    };
}

reasons! {
    UnknownSegment Ac "the PCB has no such segment; name one of its SENSEGs";
    NotBelow Ac "the segment is not below that of the SSA before it; keep hierarchic order";
    TooMany Ac "a call takes at most 15 SSAs, one for each level";
    Short Aj "the storage ends before the SSA does";
    AfterName Aj "a blank, * or ( must follow the eight bytes of the segment name";
    UnknownCode Aj "there is no such command code";
    CodeOfOtherCall Aj "the command code is not valid for this call";
    SubsetNumber Aj "the segment has no subset pointer of that number, or is not in a DEDB";
    KeyBelow Aj "with code C no other SSA may stand above";
    KeyMissing Aj "code C needs a concatenated key in parentheses";
    KeyAndPosition Aj "codes C and O exclude each other";
    InsertQualified Aj "the segments that ISRT inserts cannot be qualified";
    ReplaceQualified Aj "on REPL only an SSA with code N may be qualified";
    DeleteQualified Aj "the SSA of a DLET cannot be qualified";
    DeleteSecond Aj "DLET takes one SSA at most";
    BadOperator Aj "there is no such operator";
    AfterValue Aj "a boolean or ) must follow the value at the field's length";
    IndependentAnd Aj "# joins conditions on indexed fields (XDFLD) only";
    TooManyConditions Aj "a call takes at most 1,024 conditions";
    UnknownField Ak "the segment has no such field for this PCB; name one of its SENFLDs";
    KeyUnseen Ak "the sequence field is no SENFLD, so only gets may name it";
    Outside Ak "position and length lead out of what the PCB sees of the segment";
    LockClass Gl "a class letter from A to J must follow command code Q";
}

/// Why a call's SSAs are refused: the first thing that is wrong, from left to right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{status}: SSA {}, byte {}: {reason}", u16::from(*.ssa) + 1, u32::from(*.at) + 1)]
pub struct Refusal {
    /// The status code for the program.
    pub status: Status,
    /// Which SSA, from 0: the level that the PCB shows is one more (DLI-2.5).
    pub ssa: u8,
    /// The level of its segment, 0 if its name is unknown.
    pub level: u8,
    /// How many bytes of the SSA stand in front of what is wrong.
    pub at: u16,
    /// What is wrong.
    pub reason: Reason,
}
