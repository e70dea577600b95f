//! The bytes of requests and responses; pure functions of them.
//!
//! Everything is big-endian. A request:
//!
//! | bytes | what |
//! |---|---|
//! | 4 | LLLL: the length of all of it, these four bytes included |
//! | IRM_LEN | the request's header ([`Irm`]) with its extensions |
//! | LL each | data segments: LL, ZZ, data |
//! | 4 | `00 04 00 00`, the end |
//!
//! A response is LLLL, where the exit has it, and segments: `*REQMOD*`, `*GENCID*`, `*CORTKN*`,
//! data, and at the end `*CSMOKY*`; or `*REQSTS*` alone ([`Response`]).
//!
//! Invariants:
//! 1. No bytes make anything here panic, or take more memory than a small multiple of theirs.
//! 2. What was decoded encodes to a message that decodes to the same.
//! 3. Names, codes of functions and identifiers have the code page of the message's exit id,
//!    lengths and flags are binary. Data segments are not touched here.

mod codes;
mod irm;
mod pages;
mod request;
mod response;
mod timer;

pub use codes::{Meaning, RACF_REFUSED, Reason, ReturnCode, Sense};
pub use irm::{
    CorrelationToken, Extension, Function, Irm, LEVEL_MAX, SocketType, f0, f1, f2, f3, f5,
};
pub use pages::{Pages, Rule};
pub use request::{
    EXIT_AT, HEAD_BYTES, MESSAGE_BYTES_MIN, Rejection, Request, exit_id, is_ping, ping, word,
};
pub use response::{
    Csm, PING_RESPONSE, Response, ResponseError, Rsm, Status, csm_flag, response_length,
};
pub use timer::Timer;
