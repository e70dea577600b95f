//! From a record's items to its bytes: which of them are text, which hold a sign, which stay.
//!
//! A plan is a list of steps, made once; a record without tables of varying length has its classes
//! made once, too, so that converting it is one look into a table for each byte.
//!
//! Invariants:
//! 1. No conversion guesses: items that redefine each other and would be converted differently need
//!    a choice, and double-byte characters need to be named as binary.
//! 2. A plan converts any bytes; whether they hold what the description says, `Plan::check` says.
//! 3. What is converted as characters in place of a number comes back, or is refused.

use std::borrow::Cow;

use codec::transcode::{Class, Transcoder};

pub use codec::transcode::Direction;

use crate::entry::SignClause;
use crate::error::CopybookError;
use crate::maker::{Choices, Made, steps_of};
use crate::record::Item;
use crate::steps::{Number, Step, Walked, walk_fixed, walk_record};

/// How many troubles are kept with their places.
const TROUBLES_MAX: usize = 10;

/// How a record is converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    steps: Vec<Step>,
    names: Vec<String>,
    /// The items that say how often tables are there.
    slots: Vec<String>,
    bytes_max: usize,
    /// The classes and numbers of every record, or of its part before the first table of varying
    /// length.
    fixed: Walked,
    is_variable: bool,
    /// Items of COMP-1, COMP-2 and COMP-5, which hosts write otherwise.
    native: Vec<String>,
}

/// What is wrong with some bytes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A zoned number holds something else.
    NoNumber,
    /// A zoned number's sign is one that comes back as another of the same meaning.
    Sign,
    /// Bytes behind what is described.
    Undescribed,
    /// None of the segment's conditions is true.
    NoRecord,
    /// A byte that would come back as another.
    NoReturn,
    /// An item does not say how often a table is there.
    Count,
    /// Bytes behind the occurrences that a record says it has.
    Unused,
}

/// Bytes that cannot be converted, with their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What is wrong.
    pub what: What,
    /// The record's number, from 1, as the caller counts.
    pub record: u64,
    /// The segment or file.
    pub segment: String,
    /// The item; empty where it is the whole record.
    pub item: String,
    /// The place of the first byte in the record, from 0.
    pub offset: usize,
    /// The first bytes.
    pub bytes: Vec<u8>,
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Trouble { what, record, segment, item, offset, bytes } = self;
        write!(f, "segment {record}, {segment}")?;
        if !item.is_empty() {
            write!(f, ", {item}")?;
        }
        write!(f, " at offset {offset}: X'")?;
        f.write_str(&base::hex::upper(bytes))?;
        f.write_str(match what {
            What::NoNumber => "' is no number",
            What::Sign => "' has a sign that comes back as another of the same meaning",
            What::Undescribed => "' is behind what the map describes",
            What::NoRecord => "' is of none of the kinds that the map describes",
            What::NoReturn => "' would not come back as it is",
            What::Count => "' does not say how often the table behind it is there",
            What::Unused => "' is behind the occurrences that the record says it has",
        })
    }
}

/// What was found in many records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// How many places cannot be converted.
    pub wrong: u64,
    /// How many numbers hold something else and are characters, if that is what is done.
    pub texts: u64,
    /// How many signs come back as another of the same meaning.
    pub signs: u64,
    /// How many records have bytes behind the occurrences of their tables: no item describes
    /// them, and they stay as they are.
    pub unused: u64,
    /// The first of those that cannot.
    pub first: Vec<Trouble>,
    /// The first of those that are characters.
    pub first_text: Option<Trouble>,
    has_texts: bool,
}

impl Findings {
    /// Nothing yet, where numbers that hold something else are converted as characters.
    #[must_use]
    pub fn with_texts() -> Findings {
        Findings { has_texts: true, ..Findings::default() }
    }

    /// What cannot be converted, if anything is.
    ///
    /// # Errors
    /// How many places, and the first of them.
    pub fn refuse(&self) -> Result<(), CopybookError> {
        if self.wrong == 0 {
            return Ok(());
        }
        let first: Vec<String> = self.first.iter().map(Trouble::to_string).collect();
        Err(CopybookError::Unconvertible { count: self.wrong, first: first.join("; ") })
    }

    pub(crate) fn add(&mut self, trouble: Trouble) {
        match trouble.what {
            What::Sign => return self.signs += 1,
            What::Unused => return self.unused += 1,
            What::NoNumber if self.has_texts => {
                self.texts += 1;
                self.first_text.get_or_insert(trouble);
                return;
            }
            _ => self.wrong += 1,
        }
        if self.first.len() < TROUBLES_MAX {
            self.first.push(trouble);
        }
    }
}

/// Whose record is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) segment: &'a str,
    pub(crate) record: u64,
}

impl Subject<'_> {
    pub(crate) fn trouble(self, what: What, item: &str, offset: usize, bytes: &[u8]) -> Trouble {
        let (segment, item) = (self.segment.to_owned(), item.to_owned());
        let bytes = bytes[..bytes.len().min(16)].to_vec();
        Trouble { what, record: self.record, segment, item, offset, bytes }
    }
}

impl Plan {
    /// The plan of a record.
    pub(crate) fn new(
        subject: &str,
        record: &Item,
        choices: &Choices,
    ) -> Result<Plan, CopybookError> {
        let Made { steps, names, slots, native } = steps_of(subject, record, choices)?;
        let (fixed, is_variable) = (walk_fixed(&steps), !slots.is_empty());
        let bytes_max = record.bytes;
        Ok(Plan { steps, names, slots, bytes_max, fixed, is_variable, native })
    }

    /// The most bytes that it describes.
    #[must_use]
    pub fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// Items of COMP-1, COMP-2 and COMP-5, which are not converted, and which hosts write in
    /// another form than programs here.
    #[must_use]
    pub fn native(&self) -> &[String] {
        &self.native
    }

    /// The classes of some bytes; `None` if they are not at the same place in every record, or not
    /// described.
    #[must_use]
    pub fn classes(&self, offset: usize, len: usize) -> Option<&[Class]> {
        self.fixed.classes.get(offset..offset.checked_add(len)?)
    }

    fn walk(&self, direction: Direction, source: &[u8]) -> Cow<'_, Walked> {
        match self.is_variable {
            true => Cow::Owned(walk_record(&self.steps, direction, source)),
            false => Cow::Borrowed(&self.fixed),
        }
    }

    /// Converts a record in its place.
    pub fn convert(&self, page: &Transcoder, direction: Direction, bytes: &mut [u8]) {
        let walked = self.walk(direction, bytes);
        page.convert(direction, &walked.classes, bytes);
    }

    /// Whether a record says how often its tables are there.
    pub(crate) fn is_counted(&self, direction: Direction, bytes: &[u8]) -> bool {
        !self.is_variable || self.walk(direction, bytes).uncounted.is_empty()
    }

    /// Converts a record in its place, with characters where a number holds something else.
    /// Characters that would be a number when they come back are noted.
    pub(crate) fn convert_as_text(
        &self,
        page: &Transcoder,
        way: Direction,
        bytes: &mut [u8],
        subject: Subject<'_>,
        refused: &mut Findings,
    ) {
        let mut walked = self.walk(way, bytes).into_owned();
        let back = other_way(way);
        for (at, number) in &walked.numbers {
            let end = (at + number.len).min(bytes.len());
            let Some(own) = bytes.get(*at..end) else { continue };
            if trouble_of(way, number, own) != Some(What::NoNumber) {
                continue;
            }
            let there: Vec<u8> =
                own.iter().map(|byte| page.byte(way, Class::Text, *byte)).collect();
            if trouble_of(back, number, &there) != Some(What::NoNumber) {
                let item = &self.names[number.name];
                refused.add(subject.trouble(What::NoReturn, item, *at, own));
            }
            walked.classes[*at..end].fill(Class::Text);
        }
        page.convert(way, &walked.classes, bytes);
    }

    /// Converts a record to EBCDIC in its place; numbers that are as they were in `old` get the
    /// bytes that they had there.
    pub fn convert_keeping(&self, page: &Transcoder, old: &[u8], bytes: &mut [u8]) {
        let given = bytes.to_vec();
        let walked = self.walk(Direction::ToEbcdic, &given);
        page.convert(Direction::ToEbcdic, &walked.classes, bytes);
        for (at, number) in &walked.numbers {
            let end = at + number.len;
            let (Some(old), Some(classes)) = (old.get(*at..end), walked.classes.get(*at..end))
            else {
                continue;
            };
            let mut shown = old.to_vec();
            page.convert(Direction::FromEbcdic, classes, &mut shown);
            if given.get(*at..end) == Some(&shown[..])
                && let Some(place) = bytes.get_mut(*at..end)
            {
                place.copy_from_slice(old);
            }
        }
    }

    /// Looks whether a record holds what the description says, and comes back as it is.
    pub(crate) fn check(
        &self,
        page: &Transcoder,
        direction: Direction,
        source: &[u8],
        subject: Subject<'_>,
        findings: &mut Findings,
    ) {
        let walked = self.walk(direction, source);
        let mut report = |what, item: &str, offset: usize, bytes: &[u8]| {
            findings.add(subject.trouble(what, item, offset, bytes));
        };
        for counter in &walked.uncounted {
            let end = (counter.at + counter.len).min(source.len());
            report(What::Count, &self.slots[counter.slot], counter.at, &source[counter.at..end]);
        }
        let described = if self.is_variable { self.bytes_max } else { walked.classes.len() };
        if let Some(behind) = source.get(described..).filter(|behind| !behind.is_empty()) {
            report(What::Undescribed, "", described, behind);
        }
        // A segment of fixed length has room for tables that are not there now.
        let unused = source.get(walked.classes.len()..described.min(source.len()));
        let unused = unused.unwrap_or_default();
        let is_filled = |all: &u8| unused.iter().all(|byte| byte == all);
        if walked.uncounted.is_empty() && ![0, 0x40, b' ', 0xff].iter().any(is_filled) {
            report(What::Unused, "", walked.classes.len(), unused);
        }
        let mut wrong: Vec<(usize, usize)> = Vec::new();
        for (at, number) in &walked.numbers {
            let end = (at + number.len).min(source.len());
            let Some(bytes) = source.get(*at..end).filter(|bytes| !bytes.is_empty()) else {
                continue;
            };
            if let Some(what) = trouble_of(direction, number, bytes) {
                report(what, &self.names[number.name], *at, bytes);
                wrong.push((*at, end));
            }
        }
        let back = other_way(direction);
        for (at, (byte, class)) in source.iter().zip(&walked.classes).enumerate() {
            let there = page.byte(direction, *class, *byte);
            if page.byte(back, *class, there) != *byte
                && !wrong.iter().any(|(from, to)| (*from..*to).contains(&at))
            {
                report(What::NoReturn, "", at, &[*byte]);
            }
        }
    }
}

/// Converts some bytes whose classes are known.
pub fn convert_bytes(page: &Transcoder, way: Direction, classes: &[Class], bytes: &mut [u8]) {
    page.convert(way, classes, bytes);
}

fn other_way(way: Direction) -> Direction {
    match way {
        Direction::FromEbcdic => Direction::ToEbcdic,
        Direction::ToEbcdic => Direction::FromEbcdic,
    }
}

/// What is wrong with the bytes of a number of which the record may have a part.
fn trouble_of(direction: Direction, number: &Number, bytes: &[u8]) -> Option<What> {
    let is_whole = bytes.len() == number.len;
    (!bytes.is_empty()).then(|| number_trouble(direction, number, bytes, is_whole)).flatten()
}

/// What is wrong with a number's bytes. All blanks, all X'00', all X'FF' are what programs move to
/// whole groups, and are kept as that.
fn number_trouble(
    direction: Direction,
    number: &Number,
    bytes: &[u8],
    is_whole: bool,
) -> Option<What> {
    let (zone, blank, plus, minus) = match direction {
        Direction::FromEbcdic => (0xf0, 0x40, 0x4e, 0x60),
        Direction::ToEbcdic => (0x30, b' ', b'+', b'-'),
    };
    if [blank, 0, 0xff].iter().any(|all| bytes.iter().all(|byte| byte == all)) {
        return None;
    }
    let is_digit = |byte: u8| byte & 0xf0 == zone && byte & 0x0f <= 9;
    let sign_at = match number.sign {
        Some(SignClause { leading: true, .. }) => Some(0),
        _ if is_whole => Some(bytes.len() - 1),
        _ => None,
    };
    for (at, byte) in bytes.iter().enumerate() {
        if Some(at) != sign_at {
            if !is_digit(*byte) {
                return Some(What::NoNumber);
            }
            continue;
        }
        let low = byte & 0x0f <= 9;
        let what = match (number.sign, direction) {
            (Some(SignClause { separate: true, .. }), _) => {
                if *byte == plus || *byte == minus {
                    None
                } else {
                    Some(What::NoNumber)
                }
            }
            (Some(_), Direction::FromEbcdic) => match byte >> 4 {
                0x0c | 0x0d if low => None,
                0x0a | 0x0b | 0x0e | 0x0f if low => Some(What::Sign),
                _ => Some(What::NoNumber),
            },
            (None, Direction::FromEbcdic) => match byte >> 4 {
                0x0f if low => None,
                0x0a | 0x0c | 0x0e if low => Some(What::Sign),
                _ => Some(What::NoNumber),
            },
            (Some(_), Direction::ToEbcdic) if matches!(*byte, b'p'..=b'y') => None,
            (_, Direction::ToEbcdic) if is_digit(*byte) => None,
            (_, Direction::ToEbcdic) => Some(What::NoNumber),
        };
        if what.is_some() {
            // The digits decide first.
            let others = bytes.iter().enumerate().filter(|(other, _)| *other != at);
            let digits = others.into_iter().all(|(_, byte)| is_digit(*byte));
            return if digits { what } else { Some(What::NoNumber) };
        }
    }
    None
}
