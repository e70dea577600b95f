//! What a plan is made of, and the walk over a record that says of what class each of its bytes is.
//!
//! Invariants:
//! 1. How often a table of varying length is there, its record says. Where that cannot be read, or
//!    is not within the table's bounds, the walk goes on with the fewest occurrences and says so: a
//!    caller who does not refuse such a record keeps what is behind as it is.

use codec::transcode::{Class, Direction};
use codec::zoned::{self, Alphabet};
use codec::{binary, packed};

use crate::entry::SignClause;
use crate::record::Kind;

/// The longest record that is converted.
pub(crate) const PLAN_BYTES_MAX: usize = 1 << 20;
/// A number of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    /// Its place among the names.
    pub(crate) name: usize,
    pub(crate) len: usize,
    pub(crate) sign: Option<SignClause>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Bytes of one class.
    Run {
        class: Class,
        len: usize,
    },
    Zoned(Number),
    /// What stands here says how often a table is there.
    Count {
        slot: usize,
        kind: Kind,
        len: usize,
    },
    Repeat {
        times: usize,
        slot: Option<(usize, usize)>,
        steps: Vec<Step>,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Walked {
    pub(crate) classes: Vec<Class>,
    /// The numbers with their places.
    pub(crate) numbers: Vec<(usize, Number)>,
    /// What does not say how often a table is there (1).
    pub(crate) uncounted: Vec<Counter>,
}

/// An item that says how often tables are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counter {
    /// Its number among them.
    pub(crate) slot: usize,
    /// Its place.
    pub(crate) at: usize,
    pub(crate) len: usize,
    /// What it says.
    count: Option<usize>,
}

pub(crate) fn alphabet_of(direction: Direction) -> Alphabet {
    match direction {
        Direction::FromEbcdic => Alphabet::Ebcdic,
        Direction::ToEbcdic => Alphabet::Ascii,
    }
}

/// The classes of steps as far as they are the same in every record.
pub(crate) fn walk_fixed(steps: &[Step]) -> Walked {
    let mut walked = Walked::default();
    let mut walk = Walk { source: &[], counters: Vec::new(), alphabet: None, out: &mut walked };
    walk.steps(steps);
    walked
}

/// The classes of a record.
pub(crate) fn walk_record(steps: &[Step], way: Direction, source: &[u8]) -> Walked {
    let (mut walked, alphabet) = (Walked::default(), Some(alphabet_of(way)));
    Walk { source, counters: Vec::new(), alphabet, out: &mut walked }.steps(steps);
    walked
}

struct Walk<'a> {
    source: &'a [u8],
    /// The newest of each slot.
    counters: Vec<Counter>,
    /// `None` where no data is: it ends at the first table of varying length.
    alphabet: Option<Alphabet>,
    out: &'a mut Walked,
}

impl Walk<'_> {
    /// `false` once it is at its end.
    fn steps(&mut self, steps: &[Step]) -> bool {
        for step in steps {
            let at = self.out.classes.len();
            match step {
                Step::Run { class, len } => {
                    let end = self.out.classes.len() + len;
                    self.out.classes.resize(end, *class);
                }
                Step::Zoned(number) => {
                    self.out.numbers.push((at, number.clone()));
                    let classes = (0..number.len).map(|place| class_in(number, place));
                    self.out.classes.extend(classes);
                }
                Step::Count { slot, kind, len } => {
                    if let Some(alphabet) = self.alphabet {
                        self.counters.retain(|one| one.slot != *slot);
                        let bytes = self.source.get(at..at + len);
                        let value = bytes.and_then(|bytes| number_of(*kind, alphabet, bytes));
                        let count = value.and_then(|value| usize::try_from(value).ok());
                        self.counters.push(Counter { slot: *slot, at, len: *len, count });
                    }
                }
                Step::Repeat { times, slot, steps } => {
                    let times = match (slot, self.alphabet) {
                        (Some(_), None) => return false,
                        (Some((slot, min)), _) => self.occurrences(*slot, *min, *times),
                        (None, _) => *times,
                    };
                    for _ in 0..times {
                        if !self.steps(steps) {
                            return false;
                        }
                    }
                }
            }
        }
        true
    }

    /// How often a table is there (1).
    fn occurrences(&mut self, slot: usize, min: usize, max: usize) -> usize {
        let Some(counter) = self.counters.iter().find(|one| one.slot == slot).copied() else {
            return min;
        };
        if let Some(count) = counter.count.filter(|count| (min..=max).contains(count)) {
            return count;
        }
        // One that a record ends in front of says nothing, and there is nothing to be said. All
        // X'00' and all X'FF' are what programs move to whole groups, and whatever is there stays.
        let rest = self.source.get(counter.at..).unwrap_or_default();
        let is_filled = [0, 0xff].iter().any(|all| rest.iter().all(|byte| byte == all));
        if !is_filled && !self.out.uncounted.contains(&counter) {
            self.out.uncounted.push(counter);
        }
        min
    }
}

fn class_in(number: &Number, place: usize) -> Class {
    let last = place + 1 == number.len;
    match number.sign {
        None if last => Class::Unsigned,
        Some(SignClause { separate: false, leading: true }) if place == 0 => Class::Signed,
        Some(SignClause { separate: false, leading: false }) if last => Class::Signed,
        _ => Class::Text,
    }
}

/// The number that an item holds.
pub(crate) fn number_of(kind: Kind, alphabet: Alphabet, bytes: &[u8]) -> Option<i128> {
    match kind {
        Kind::Zoned { sign: Some(SignClause { separate: true, leading }) } => {
            let (sign, digits) = match leading {
                true => bytes.split_first()?,
                false => bytes.split_last()?,
            };
            let value = zoned::decode(alphabet, digits).ok()?;
            Some(if matches!(sign, b'-' | 0x60) { -value } else { value })
        }
        Kind::Zoned { sign: Some(SignClause { leading: true, .. }) } => {
            // The first digit has the sign: it is read by itself, as the last one of a number.
            let (first, digits) = bytes.split_first()?;
            let first = zoned::decode(alphabet, &[*first]).ok().map(|value| (value, *first))?;
            let zero = if alphabet == Alphabet::Ebcdic { 0xf0 } else { b'0' };
            let leading = zero | u8::try_from(first.0.unsigned_abs()).ok()?;
            let value = zoned::decode(alphabet, &[&[leading], digits].concat()).ok()?;
            Some(if is_minus(alphabet, first.1) { -value } else { value })
        }
        Kind::Zoned { .. } => zoned::decode(alphabet, bytes).ok(),
        Kind::Packed { .. } => packed::decode(bytes).ok(),
        Kind::Binary { signed: true } => binary::decode_signed(bytes).ok(),
        Kind::Binary { signed: false } => {
            binary::decode_unsigned(bytes).ok().and_then(|value| i128::try_from(value).ok())
        }
        Kind::Native { signed } => {
            let reversed: Vec<u8> = match alphabet {
                Alphabet::Ebcdic => bytes.to_vec(),
                Alphabet::Ascii => bytes.iter().rev().copied().collect(),
            };
            number_of(Kind::Binary { signed }, alphabet, &reversed)
        }
        _ => None,
    }
}

/// Whether a digit that holds a sign is one of a number below zero.
fn is_minus(alphabet: Alphabet, digit: u8) -> bool {
    match alphabet {
        Alphabet::Ebcdic => matches!(digit >> 4, 0x0b | 0x0d),
        Alphabet::Ascii => matches!(digit, b'p'..=b'y' | b'}' | b'J'..=b'R'),
    }
}
