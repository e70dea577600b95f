//! Requests of programs that use clusters as VSAM has them, as bytes: an ACB is opened, an RPL says
//! what is wanted.
//!
//! Integers have their least byte first.
//!
//! | offset | bytes | of a request |
//! |---|---|---|
//! | 0 | 1 | 32 open, 33 close, 34 request |
//! | | | open: mode 1 (0 input, 1 output, 2 both, 3 extend), 1 to reset, strings 2, name |
//! | 1 | 4 | otherwise: the number of the ACB |
//! | 5 | 2 | of a request: the string |
//! | 7 | 1 | 0 get, 1 put, 2 point, 3 erase, 4 end |
//! | 8 | 4 | options ([`Options`]) |
//! | 12 | 4 | bytes of the area |
//! | 16 | | the argument, behind its length in 2 bytes; the record |
//!
//! | offset | bytes | of an answer |
//! |---|---|---|
//! | 0 | 3 | return code, component, reason |
//! | 3 | 1 | zero |
//! | 4 | 8 | the number of the ACB, the record's address or number |
//! | 12 | 4 | bytes of the record; with reason 44 of the one that has no room |
//! | 16 | | the record; of an open: organization 1, key's offset 4 and bytes 4, longest record 4 |
//!
//! Invariants:
//! 1. Both sides treat what arrives as bytes from outside.

use base::bytes::{Reader, push_string16};

/// The first kind of these requests.
pub const FIRST: u8 = 32;

/// Whether a request is one of these, by its first byte.
#[must_use]
pub fn is_request(request: &[u8]) -> bool {
    request.first().is_some_and(|kind| *kind >= FIRST)
}
const OPEN: u8 = 32;
const CLOSE: u8 = 33;
const REQUEST: u8 = 34;
/// What an answer has in front of its record.
pub(crate) const ANSWER: usize = 16;

/// What is asked of an RPL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Reads.
    Get,
    /// Writes, or rewrites what was read for update.
    Put,
    /// Takes a place.
    Point,
    /// Erases what was read for update.
    Erase,
    /// Forgets the place.
    End,
}

const VERBS: [Verb; 5] = [Verb::Get, Verb::Put, Verb::Point, Verb::Erase, Verb::End];

/// Options of an RPL: bits as `holdfast_vsam.h` has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options(pub u32);

impl Options {
    /// By key or number.
    pub const KEYED: u32 = 0x001;
    /// By address.
    pub const ADDRESSED: u32 = 0x002;
    /// The record that the argument names.
    pub const DIRECT: u32 = 0x004;
    /// The same, in ascending order.
    pub const SKIP: u32 = 0x008;
    /// The argument is the begin of a key.
    pub const GENERIC: u32 = 0x010;
    /// The first record that is not less.
    pub const GREATER_OR_EQUAL: u32 = 0x020;
    /// In descending order.
    pub const BACKWARD: u32 = 0x040;
    /// To be rewritten or erased.
    pub const UPDATE: u32 = 0x080;
    /// The place is kept after a direct request.
    pub const KEEP_PLACE: u32 = 0x100;
    /// The last record.
    pub const LAST: u32 = 0x200;
    /// All of them.
    const ALL: u32 = 0x3FF;

    /// Whether one is set.
    #[must_use]
    pub fn has(self, option: u32) -> bool {
        self.0 & option != 0
    }

    /// Whether they go together.
    #[must_use]
    pub fn is_sound(self) -> bool {
        let both = |one: u32| self.0 & one == one;
        self.0 & !Options::ALL == 0
            && !both(Options::KEYED | Options::ADDRESSED)
            && !both(Options::DIRECT | Options::SKIP)
            && !both(Options::GENERIC | Options::ADDRESSED)
            && !both(Options::GREATER_OR_EQUAL | Options::ADDRESSED)
            && !both(Options::GREATER_OR_EQUAL | Options::BACKWARD)
            && !both(Options::GENERIC | Options::BACKWARD)
    }
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcbRequest<'a> {
    /// Opens a cluster or path.
    Open {
        /// What for.
        mode: vsam::OpenMode,
        /// Whether it is emptied.
        reset: bool,
        /// Positions at once; 0: any number.
        strings: u16,
        /// Its name.
        name: &'a [u8],
    },
    /// Closes an ACB.
    Close(u32),
    /// What an RPL asks for.
    Do(Rpl<'a>),
}

/// What an RPL asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rpl<'a> {
    /// The ACB.
    pub acb: u32,
    /// The string: each has a place of its own.
    pub string: u16,
    /// What is asked.
    pub verb: Verb,
    /// How.
    pub options: Options,
    /// Bytes of the area for records.
    pub area: u32,
    /// A key, number or address.
    pub argument: &'a [u8],
    /// The record that is written.
    pub record: &'a [u8],
}

const MODES: [vsam::OpenMode; 4] = [
    vsam::OpenMode::Input,
    vsam::OpenMode::Output,
    vsam::OpenMode::InputOutput,
    vsam::OpenMode::Extend,
];

/// A mode by its number.
#[must_use]
pub fn mode_of(number: u32) -> Option<vsam::OpenMode> {
    MODES.get(number as usize).copied()
}

impl<'a> AcbRequest<'a> {
    /// Puts it in place of what `out` has.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        match self {
            AcbRequest::Open { mode, reset, strings, name } => {
                let mode = MODES.iter().position(|known| known == mode).unwrap_or_default();
                out.extend_from_slice(&[OPEN, mode as u8, u8::from(*reset)]);
                out.extend_from_slice(&strings.to_le_bytes());
                push_string16(out, name);
            }
            AcbRequest::Close(acb) => {
                out.push(CLOSE);
                out.extend_from_slice(&acb.to_le_bytes());
            }
            AcbRequest::Do(rpl) => {
                out.push(REQUEST);
                out.extend_from_slice(&rpl.acb.to_le_bytes());
                out.extend_from_slice(&rpl.string.to_le_bytes());
                let verb = VERBS.iter().position(|known| *known == rpl.verb).unwrap_or_default();
                out.push(verb as u8);
                out.extend_from_slice(&rpl.options.0.to_le_bytes());
                out.extend_from_slice(&rpl.area.to_le_bytes());
                push_string16(out, rpl.argument);
                out.extend_from_slice(rpl.record);
            }
        }
    }

    /// Reads one; `None` if the bytes are none.
    #[must_use]
    pub fn read(bytes: &'a [u8]) -> Option<AcbRequest<'a>> {
        let mut reader = Reader::new(bytes);
        match reader.u8()? {
            OPEN => {
                let mode = mode_of(u32::from(reader.u8()?))?;
                let reset = reader.u8()? != 0;
                let strings = reader.u16()?;
                Some(AcbRequest::Open { mode, reset, strings, name: reader.string16()? })
            }
            CLOSE => Some(AcbRequest::Close(reader.u32()?)),
            REQUEST => Some(AcbRequest::Do(Rpl {
                acb: reader.u32()?,
                string: reader.u16()?,
                verb: *VERBS.get(usize::from(reader.u8()?))?,
                options: Options(reader.u32()?),
                area: reader.u32()?,
                argument: reader.string16()?,
                record: reader.rest(),
            })),
            _ => None,
        }
    }
}

/// An answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AcbAnswer<'a> {
    /// 0, 8 or 12.
    pub return_code: u8,
    /// Which part of the sphere it is about.
    pub component: u8,
    /// The feedback.
    pub reason: u8,
    /// The ACB's number, the record's address or number.
    pub number: u64,
    /// Bytes of the record.
    pub bytes: u32,
    /// The record.
    pub record: &'a [u8],
}

impl<'a> AcbAnswer<'a> {
    /// Reads one; `None` if the bytes are none.
    #[must_use]
    pub fn read(bytes: &'a [u8]) -> Option<AcbAnswer<'a>> {
        let mut reader = Reader::new(bytes);
        let [return_code, component, reason, _] = reader.array()?;
        let (number, bytes) = (reader.u64()?, reader.u32()?);
        Some(AcbAnswer { return_code, component, reason, number, bytes, record: reader.rest() })
    }

    /// Writes its front in place: the record stands behind it, or is not there.
    pub(crate) fn front(&self, out: &mut Vec<u8>) {
        if out.len() < ANSWER {
            out.resize(ANSWER, 0);
        }
        out[..4].copy_from_slice(&[self.return_code, self.component, self.reason, 0]);
        out[4..12].copy_from_slice(&self.number.to_le_bytes());
        out[12..ANSWER].copy_from_slice(&self.bytes.to_le_bytes());
    }
}

/// Refuses a request for a reason, with return code 8.
pub fn refuse(reason: u8, out: &mut Vec<u8>) {
    out.clear();
    AcbAnswer { return_code: 8, reason, ..AcbAnswer::default() }.front(out);
}

/// Answers that something has failed beneath, with return code 12.
pub fn fail(out: &mut Vec<u8>) {
    out.clear();
    AcbAnswer { return_code: 12, reason: 4, ..AcbAnswer::default() }.front(out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_of_an_rpl_is_read_as_it_was_written() {
        let mode = vsam::OpenMode::Extend;
        let rpl = Rpl {
            acb: 7,
            string: 3,
            verb: Verb::Erase,
            options: Options(Options::DIRECT | Options::UPDATE),
            area: 80,
            argument: b"KEY",
            record: b"",
        };
        let requests = [
            AcbRequest::Open { mode, reset: true, strings: 2, name: b"BANK.ACCT" },
            AcbRequest::Close(9),
            AcbRequest::Do(rpl),
        ];
        let mut bytes = Vec::new();
        for request in requests {
            request.write(&mut bytes);
            assert_eq!(AcbRequest::read(&bytes), Some(request));
            for len in 0..bytes.len() {
                assert_eq!(AcbRequest::read(&bytes[..len]), None, "{request:?} {len}");
            }
        }
    }

    #[test]
    fn options_that_contradict_each_other_are_told_from_others() {
        let all = [
            (Options::KEYED | Options::DIRECT | Options::GENERIC, true),
            (Options::GREATER_OR_EQUAL | Options::UPDATE, true),
            (Options::BACKWARD | Options::LAST, true),
            (Options::KEYED | Options::ADDRESSED, false),
            (Options::DIRECT | Options::SKIP, false),
            (Options::BACKWARD | Options::GENERIC, false),
            (0x400, false),
        ];
        for (options, sound) in all {
            assert_eq!(Options(options).is_sound(), sound, "{options:x}");
        }
    }
}
