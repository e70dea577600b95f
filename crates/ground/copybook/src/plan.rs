//! From a record's items to its bytes: which of them are text, which hold a sign, which stay.
//!
//! A plan is a list of steps, made once; a record without tables of varying length has its classes
//! made once, too, so that converting it is one look into a table for each byte.
//!
//! Invariants:
//! 1. No conversion guesses: items that redefine each other and would be converted differently need
//!    a choice, and double-byte characters need to be named as binary.
//! 2. A plan converts any bytes; whether they hold what the description says, `Plan::check` says.
//! 3. Steps and classes are at most [`PLAN_BYTES_MAX`] each.

use codec::transcode::{Class, Transcoder};
use codec::zoned::{self, Alphabet};
use codec::{binary, packed};

pub use codec::transcode::Direction;

use crate::entry::SignClause;
use crate::error::CopybookError;
use crate::record::{Item, Kind};

/// The longest record that is converted.
pub(crate) const PLAN_BYTES_MAX: usize = 1 << 20;
/// How many troubles are kept with their places.
const TROUBLES_MAX: usize = 10;

/// A number of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Number {
    /// Its place among the names.
    name: usize,
    len: usize,
    sign: Option<SignClause>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
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

/// How a record is converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    steps: Vec<Step>,
    names: Vec<String>,
    slots: usize,
    bytes_max: usize,
    /// The classes and numbers of every record, or of its part before the first table of varying
    /// length.
    fixed: Walked,
    is_variable: bool,
    /// Items of COMP-1, COMP-2 and COMP-5, which hosts write otherwise.
    native: Vec<String>,
}

/// What is decided about a record besides its description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choices {
    /// Which of items that redefine each other count.
    pub(crate) redefinitions: Vec<String>,
    /// Items that are not converted.
    pub(crate) binary: Vec<String>,
    /// Items that are converted as text.
    pub(crate) text: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Walked {
    classes: Vec<Class>,
    /// The numbers with their places.
    numbers: Vec<(usize, Number)>,
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
        bytes.iter().try_for_each(|byte| write!(f, "{byte:02X}"))?;
        f.write_str(match what {
            What::NoNumber => "' is no number",
            What::Sign => "' has a sign that comes back as another of the same meaning",
            What::Undescribed => "' is behind what the map describes",
            What::NoRecord => "' is of none of the kinds that the map describes",
            What::NoReturn => "' would not come back as it is",
        })
    }
}

/// What was found in many records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// How many places cannot be converted.
    pub wrong: u64,
    /// How many signs come back as another of the same meaning.
    pub signs: u64,
    /// The first of those that cannot.
    pub first: Vec<Trouble>,
}

impl Findings {
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
        if trouble.what == What::Sign {
            self.signs += 1;
            return;
        }
        self.wrong += 1;
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

impl Plan {
    /// The plan of a record.
    pub(crate) fn new(
        subject: &str,
        record: &Item,
        choices: &Choices,
    ) -> Result<Plan, CopybookError> {
        let mut maker = Maker {
            subject,
            choices,
            names: Vec::new(),
            slots: Vec::new(),
            known: 0,
            native: Vec::new(),
            record,
            made: 0,
        };
        maker.check_names()?;
        if record.bytes > PLAN_BYTES_MAX {
            return Err(maker.misfit(format!("it describes more than {PLAN_BYTES_MAX} bytes")));
        }
        let steps = maker.item(record)?;
        let Maker { names, slots, native, .. } = maker;
        let is_variable = !slots.is_empty();
        let mut plan = Plan {
            steps,
            names,
            slots: slots.len(),
            bytes_max: record.bytes,
            fixed: Walked::default(),
            is_variable,
            native,
        };
        plan.fixed = plan.walk_fixed();
        Ok(plan)
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

    fn walk_fixed(&self) -> Walked {
        let mut walked = Walked::default();
        let mut walk = Walk { source: &[], counts: Vec::new(), alphabet: None, out: &mut walked };
        walk.steps(&self.steps);
        walked
    }

    fn walk(&self, direction: Direction, source: &[u8]) -> std::borrow::Cow<'_, Walked> {
        if !self.is_variable {
            return std::borrow::Cow::Borrowed(&self.fixed);
        }
        let mut walked = Walked::default();
        let counts = vec![0; self.slots];
        let alphabet = Some(alphabet_of(direction));
        Walk { source, counts, alphabet, out: &mut walked }.steps(&self.steps);
        std::borrow::Cow::Owned(walked)
    }

    /// Converts a record in its place.
    pub fn convert(&self, page: &Transcoder, direction: Direction, bytes: &mut [u8]) {
        if self.is_variable {
            let walked = self.walk(direction, bytes).into_owned();
            page.convert(direction, &walked.classes, bytes);
        } else {
            page.convert(direction, &self.fixed.classes, bytes);
        }
    }

    /// Converts a record to EBCDIC in its place; numbers that are as they were in `old` get the
    /// bytes that they had there.
    pub fn convert_keeping(&self, page: &Transcoder, old: &[u8], bytes: &mut [u8]) {
        let given = bytes.to_vec();
        let walked = self.walk(Direction::ToEbcdic, &given).into_owned();
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
        let Subject { segment, record } = subject;
        let mut told = |what, item: &str, offset: usize, bytes: &[u8]| {
            let bytes = bytes[..bytes.len().min(16)].to_vec();
            let (segment, item) = (segment.to_owned(), item.to_owned());
            findings.add(Trouble { what, record, segment, item, offset, bytes });
        };
        if source.len() > walked.classes.len() && !self.is_variable {
            let at = walked.classes.len();
            told(What::Undescribed, "", at, &source[at..]);
        }
        let mut wrong: Vec<(usize, usize)> = Vec::new();
        for (at, number) in &walked.numbers {
            let end = (at + number.len).min(source.len());
            let Some(bytes) = source.get(*at..end).filter(|bytes| !bytes.is_empty()) else {
                continue;
            };
            let is_whole = bytes.len() == number.len;
            let what = number_trouble(direction, number, bytes, is_whole);
            if let Some(what) = what {
                told(what, &self.names[number.name], *at, bytes);
                wrong.push((*at, end));
            }
        }
        let back = match direction {
            Direction::FromEbcdic => Direction::ToEbcdic,
            Direction::ToEbcdic => Direction::FromEbcdic,
        };
        for (at, (byte, class)) in source.iter().zip(&walked.classes).enumerate() {
            let there = page.byte(direction, *class, *byte);
            if page.byte(back, *class, there) != *byte
                && !wrong.iter().any(|(from, to)| (*from..*to).contains(&at))
            {
                told(What::NoReturn, "", at, &[*byte]);
            }
        }
    }
}

/// Converts some bytes whose classes are known.
pub fn convert_bytes(page: &Transcoder, way: Direction, classes: &[Class], bytes: &mut [u8]) {
    page.convert(way, classes, bytes);
}

fn alphabet_of(direction: Direction) -> Alphabet {
    match direction {
        Direction::FromEbcdic => Alphabet::Ebcdic,
        Direction::ToEbcdic => Alphabet::Ascii,
    }
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

struct Walk<'a> {
    source: &'a [u8],
    counts: Vec<usize>,
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
                        let bytes = self.source.get(at..at + len);
                        let value = bytes.and_then(|bytes| number_of(*kind, alphabet, bytes));
                        let value = value.and_then(|value| usize::try_from(value).ok());
                        if let Some(place) = self.counts.get_mut(*slot) {
                            *place = value.unwrap_or(0);
                        }
                    }
                }
                Step::Repeat { times, slot, steps } => {
                    let times = match (slot, self.alphabet) {
                        (Some(_), None) => return false,
                        (Some((slot, min)), _) => {
                            let count = self.counts.get(*slot).copied().unwrap_or(0);
                            count.clamp(*min, *times)
                        }
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
        Kind::Zoned { sign: Some(SignClause { leading: true, .. }) } => None,
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

struct Maker<'a> {
    subject: &'a str,
    choices: &'a Choices,
    record: &'a Item,
    names: Vec<String>,
    /// The items that say how often tables are there.
    slots: Vec<String>,
    /// How many of them stand in front of the place that is looked at, as bits.
    known: u64,
    native: Vec<String>,
    /// How many steps were made.
    made: usize,
}

impl Maker<'_> {
    fn misfit(&self, what: String) -> CopybookError {
        CopybookError::Misfit { subject: self.subject.to_owned(), what }
    }

    /// Every name that the choices use is there, and finds the counters.
    fn check_names(&mut self) -> Result<(), CopybookError> {
        let Choices { redefinitions, binary, text } = self.choices;
        for name in redefinitions.iter().chain(binary).chain(text) {
            if self.record.find(name).is_none() {
                return Err(self.misfit(format!("there is no item {name}")));
            }
        }
        let mut names: Vec<String> = Vec::new();
        self.record.visit(&mut |item| {
            let name = item.occurs.as_ref().and_then(|occurs| occurs.depending.clone());
            names.extend(name);
        });
        names.sort();
        names.dedup();
        if names.len() > 60 {
            return Err(self.misfit("more than 60 items say how often tables are there".into()));
        }
        self.slots = names;
        Ok(())
    }

    fn item(&mut self, item: &Item) -> Result<Vec<Step>, CopybookError> {
        self.made += 1;
        if self.made > PLAN_BYTES_MAX {
            return Err(self.misfit("it has too many items".into()));
        }
        let listed = |names: &[String]| {
            let own = item.name.as_deref();
            own.is_some_and(|own| names.iter().any(|name| name.eq_ignore_ascii_case(own)))
        };
        let forced = match (listed(&self.choices.binary), listed(&self.choices.text)) {
            (true, _) => Some(Class::Raw),
            (_, true) => Some(Class::Text),
            _ => None,
        };
        let mut steps = match forced {
            Some(class) if !item.children.iter().any(Item::is_variable) => {
                vec![Step::Run { class, len: item.bytes }]
            }
            _ if item.kind == Kind::Group => self.group(item)?,
            _ => vec![self.elementary(item)?],
        };
        let slot =
            item.name.as_ref().and_then(|name| self.slots.iter().position(|slot| slot == name));
        if let Some(slot) = slot {
            steps.insert(0, Step::Count { slot, kind: item.kind, len: item.bytes });
            self.known |= 1 << slot;
        }
        let Some(occurs) = &item.occurs else { return Ok(steps) };
        let mut varying = None;
        if let Some(name) = &occurs.depending {
            let slot = self.slots.iter().position(|slot| slot == name);
            let slot = slot.filter(|slot| self.known & 1 << slot != 0).ok_or_else(|| {
                self.misfit(format!(
                    "{} is there as often as {name} says, which does not stand in front of it",
                    item.title()
                ))
            })?;
            varying = Some((slot, occurs.min));
        }
        Ok(vec![Step::Repeat { times: occurs.max, slot: varying, steps }])
    }

    fn elementary(&mut self, item: &Item) -> Result<Step, CopybookError> {
        let run = |class| Step::Run { class, len: item.bytes };
        Ok(match item.kind {
            Kind::Text => run(Class::Text),
            Kind::Zoned { sign } => {
                self.names.push(item.title());
                Step::Zoned(Number { name: self.names.len() - 1, len: item.bytes, sign })
            }
            Kind::Dbcs => {
                return Err(self.misfit(format!(
                    "{} holds double-byte characters, which are not converted: name it in \
                     `binary` to keep them as they are",
                    item.title()
                )));
            }
            Kind::Single | Kind::Double | Kind::Native { .. } => {
                self.native.push(item.title());
                run(Class::Raw)
            }
            _ => run(Class::Raw),
        })
    }

    /// The items of a group, those that redefine each other as one.
    fn group(&mut self, group: &Item) -> Result<Vec<Step>, CopybookError> {
        let mut steps = Vec::new();
        let mut at = group.offset;
        let mut rest = &group.children[..];
        while let Some(first) = rest.first() {
            let others = rest[1..].iter().take_while(|item| item.redefines.is_some()).count();
            let (same, behind) = rest.split_at(others + 1);
            rest = behind;
            if first.offset > at {
                steps.push(Step::Run { class: Class::Raw, len: first.offset - at });
            }
            let len = same.iter().map(Item::bytes_max).max().unwrap_or_default();
            let (own, mut chosen) = self.chosen(same)?;
            steps.append(&mut chosen);
            if own < len {
                steps.push(Step::Run { class: Class::Text, len: len - own });
            }
            at = first.offset + len;
        }
        let end = group.offset + group.bytes;
        if end > at {
            steps.push(Step::Run { class: Class::Raw, len: end - at });
        }
        Ok(steps)
    }

    /// The steps of that one of items that redefine each other which counts, and its length.
    fn chosen(&mut self, same: &[Item]) -> Result<(usize, Vec<Step>), CopybookError> {
        if let [only] = same {
            return Ok((only.bytes_max(), self.item(only)?));
        }
        let is_named = |item: &&Item| {
            let names = &self.choices.redefinitions;
            names.iter().any(|name| item.find(name).is_some())
        };
        let named: Vec<&Item> = same.iter().filter(is_named).collect();
        let titles = || same.iter().map(Item::title).collect::<Vec<_>>().join(", ");
        match named[..] {
            [one] => return Ok((one.bytes_max(), self.item(one)?)),
            [] => {}
            _ => return Err(self.misfit(format!("`redefines` names several of {}", titles()))),
        }
        // Each is looked at once, whatever stands beneath it: its steps are made here.
        let (known, native) = (self.known, self.native.clone());
        let mut best: Option<(usize, Vec<Step>, u64, Vec<String>)> = None;
        let mut flat: Vec<Vec<Class>> = Vec::new();
        for item in same.iter().filter(|_| !same.iter().any(Item::is_variable)) {
            (self.known, self.native) = (known, native.clone());
            let steps = self.item(item)?;
            let mut walked = Walked::default();
            let mut walk =
                Walk { source: &[], counts: Vec::new(), alphabet: None, out: &mut walked };
            walk.steps(&steps);
            flat.push(walked.classes);
            let len = item.bytes_max();
            if best.as_ref().is_none_or(|(best, ..)| len > *best) {
                best = Some((len, steps, self.known, std::mem::take(&mut self.native)));
            }
        }
        let alike = |one: &Class, other: &Class| {
            let text = |class: &Class| matches!(class, Class::Text | Class::Unsigned);
            one == other || text(one) && text(other)
        };
        let longest = flat.iter().max_by_key(|classes| classes.len());
        let agree = flat
            .iter()
            .zip(longest.into_iter().cycle())
            .all(|(one, longest)| one.iter().zip(longest).all(|(one, other)| alike(one, other)));
        // What only one of them describes is as that one has it: the longest describes everything.
        match best.filter(|_| agree) {
            Some((len, steps, known, native)) => {
                (self.known, self.native) = (known, native);
                Ok((len, steps))
            }
            None => Err(self.misfit(format!(
                "{} redefine each other and are converted differently: say in `redefines` which \
                 of them counts, with `when` if that depends on the record",
                titles()
            ))),
        }
    }
}
