//! What a request is to whoever has units of work for those that bring none.
//!
//! Invariants:
//! 1. Bytes that are a request of [`crate::wire`] or [`crate::acb_wire`] have a nature.

use base::bytes::Reader;

use crate::acb_wire::{self, AcbRequest, Verb};
use crate::wire::{AHEAD, EMPTY};

/// What a request is to whoever has a unit of work for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// It opens or closes; a record that was read through this is not held any more.
    Opens(Holder),
    /// It reads.
    Looks(Holder),
    /// It changes records.
    Changes(Holder),
}

/// What holds a record that was read for update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder {
    /// A file of a program.
    File(u32),
    /// A string of an access control block.
    String(u32, u16),
}

/// What a request is; `None` if the bytes are none.
#[must_use]
pub fn nature(bytes: &[u8]) -> Option<Nature> {
    let mut reader = Reader::new(bytes);
    match reader.u8()? {
        1 | EMPTY => Some(Nature::Opens(Holder::File(0))),
        2 => Some(Nature::Opens(Holder::File(reader.u32()?))),
        3 | 4 | 5 | AHEAD => Some(Nature::Looks(Holder::File(reader.u32()?))),
        6..=8 => Some(Nature::Changes(Holder::File(reader.u32()?))),
        kind if kind >= acb_wire::FIRST => nature_of_acb(bytes),
        _ => None,
    }
}

fn nature_of_acb(bytes: &[u8]) -> Option<Nature> {
    Some(match AcbRequest::read(bytes)? {
        AcbRequest::Open { .. } => Nature::Opens(Holder::String(0, 0)),
        AcbRequest::Close(acb) => Nature::Opens(Holder::String(acb, 0)),
        AcbRequest::Do(rpl) => {
            let holder = Holder::String(rpl.acb, rpl.string);
            match rpl.verb {
                Verb::Get | Verb::Point | Verb::End => Nature::Looks(holder),
                Verb::Put | Verb::Erase => Nature::Changes(holder),
            }
        }
    })
}
