//! Control statements of the DL/I test program: cards are read, the calls on them are issued,
//! and a report, or lines of JSON, say what came back.
//!
//! A card has 80 columns; columns 1 to 71 are read, a character in 72 continues the card.
//!
//! | column 1 | card | columns |
//! |---|---|---|
//! | `U`, `T`, `WTO`, `WTOR` | comment; `T` is shown if comments are | 2-71 text |
//! | `N`, `.` | ignored | |
//! | `O` | options | 2-71 `ABORT=` differences that end the run |
//! | `S` | status | 3 comments, 4 AIB, 5 call, 7 compare, 9 PCB, 11 segment; 15-23 PCB, or `$LISTALL`: all are listed; 30-32 `AIB` |
//! | `L` | call | 5-8 repeat, 10-13 function, 16-23 segment, from 24 the rest of the SSA |
//! | `L` | data of the call | 2 `K`, 3 `P`, 4 form, 5-8 length, 10-13 `DATA`, 16-71 data |
//! | `L` | a stack begins, ends | 5-8 repeat, 10-13 `STAK`, `END` |
//! | `L` | cards are passed over up to | 10-14 `SKIP`, `START` |
//! | `E` | compare the PCB | 2 `H`, 3 `8`, 5-6 level, 8-9 status, 11-18 segment, 20-23, 24-71 key |
//! | `E` | compare the AIB | 2 `H`, 4-6 `AIB`, 8-11 return code, 13-16 reason code |
//! | `E` | compare the data | 3 `8`, `L`, 4 form, 5-8 length, 10-13 `DATA`, 16-71 data |
//! | `CTL` | punch | 10-13 `PUNC`, `NPUN`, 16-71 what, separated by commas: see [`Punching`] |
//! | `ABEND` | the run ends as an abend | |
//! | blank | as the card before; behind a continued card, more of it | 10-13, 16-71 |
//! | `L` | behind a continued call, more of it | 10-13 `DATA` or `CONT`, 16-71 |
//! | `/*` | the end | |
//!
//! Columns 73 to 80 count where a second stream is merged into the first (`merge`).
//!
//! Comparisons behind `END` are with the last call of the stack. Punched cards are a deck that
//! expects what came back.
//!
//! Invariants:
//!
//! 1. Any bytes are a deck. A wrong card is said with its number and column, the statement that
//!    it belongs to is left out, and what follows is read on.
//! 2. An SSA and data are passed on byte by byte as the columns have them. No function, name or
//!    SSA is checked here: a wrong one gets its status code from DL/I.
//! 3. The I/O area is one for the whole run. Only `DATA` cards and calls change it.
//! 4. A call is never issued with another PCB than the cards chose.

mod card;
mod exercise;
mod fault;
mod json;
mod merge;
mod parse;
mod piece;
mod punch;
mod report;
mod run;
mod ssa;
mod statement;

pub use exercise::exercise;
pub use fault::{CODES, CardError, CodeMeaning};
pub use json::JsonLines;
pub use parse::{parse, parse_merged};
pub use piece::{Form, Piece};
pub use punch::Punch;
pub use report::Report;
pub use run::{
    AREA_BYTES, AibCodes, Both, Compared, Event, Feedback, Observer, Program, Request, RunError,
    Summary, run,
};
pub use ssa::{Condition, Parts, take_apart};
pub use statement::{
    AibCheck, Call, Checks, DataCheck, Deck, Extent, Item, Options, PcbCheck, PcbChoice, Print,
    PrintOptions, Punching, Stack, Status, StatusCheck,
};
