//! The descriptor: a command as bytes, which the translation passes as a literal.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 1 | version, [`VERSION`] |
//! | 1 | 1 | verb |
//! | 2 | 2 | length of the whole descriptor |
//! | 4 | 1 | how many parameters are passed behind the numbers |
//! | 5 | 1 | how many numbers there are |
//! | 6 | ... | fields: a tag, then what the tag says |
//!
//! | tag | field | tag | field | tag | field |
//! |---|---|---|---|---|---|
//! | 1 | PCB: number | 6 | saved area: area | 16 | offset: number |
//! | 2 | name: text | 10 | segment: flags, name text | 17 | lock: text |
//! | 3 | area: area | 15 | segment's area: area | 18 | subset: code, text |
//! | 4 | MAXLENGTH: number | | | 19 | keys: text |
//! | 5 | key feedback: area | | | 20 | condition: join, operator, field text, text |
//!
//! A number is `0` and four bytes, or `1` and an index. An area is the index of a parameter and a
//! number. A text is `0`, two bytes of length and the bytes, or `1` and an area. Tags from 15 on
//! belong to the segment before them. Numbers of several bytes are big-endian.
//!
//! Invariants:
//!
//! 1. Decoding what was encoded gives the same command.
//! 2. No bytes make decoding panic. What it accepts refers to no parameter and no number that the
//!    header does not count, and has no flag that is not known here.
//! 3. Tags, verbs and flags keep their meaning within a version.

use base::{Code, Coded};

use crate::command::{
    Area, Command, Condition, Join, Number, Operator, Segment, Subset, Text, Verb,
};

/// The version of the layout.
pub const VERSION: u8 = 1;

/// The length of the header.
pub const HEADER: usize = 6;

const PCB: u8 = 1;
const NAME: u8 = 2;
const AREA: u8 = 3;
const MOST: u8 = 4;
const FEEDBACK: u8 = 5;
const SAVED: u8 = 6;
const SEGMENT: u8 = 10;
const SEGMENT_AREA: u8 = 15;
const OFFSET: u8 = 16;
const LOCK: u8 = 17;
const SUBSET: u8 = 18;
const KEYS: u8 = 19;
const CONDITION: u8 = 20;

const VARIABLE: u8 = 1;
const FIRST: u8 = 2;
const LAST: u8 = 4;
const CURRENT: u8 = 8;
const SETPARENT: u8 = 16;
const FLAGS: u8 = VARIABLE | FIRST | LAST | CURRENT | SETPARENT;

/// A descriptor that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescriptorError {
    /// The program was translated by a later Holdfast.
    #[error("the program's EXEC DLI commands were translated in form {0}, which is not known here")]
    Version(u8),
    /// Not what a translation writes.
    #[error("the descriptor of an EXEC DLI command is damaged at byte {0}")]
    Damaged(usize),
}

impl Coded for DescriptorError {
    fn code(&self) -> Code {
        match self {
            DescriptorError::Version(_) => Code("HFX101"),
            DescriptorError::Damaged(_) => Code("HFX102"),
        }
    }

    fn remedy(&self) -> String {
        "Compile the program again from its source.".to_owned()
    }
}

/// What the header says, so that the rest can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The length of the whole descriptor.
    pub length: usize,
    /// How many parameters are passed.
    pub parameters: u8,
    /// How many numbers were computed.
    pub numbers: u8,
}

/// Reads the header alone.
///
/// # Errors
///
/// If the version is unknown or the length impossible.
pub fn header(bytes: &[u8; HEADER]) -> Result<Header, DescriptorError> {
    let [version, _, high, low, parameters, numbers] = *bytes;
    if version != VERSION {
        return Err(DescriptorError::Version(version));
    }
    let length = usize::from(u16::from_be_bytes([high, low]));
    if length < HEADER {
        return Err(DescriptorError::Damaged(2));
    }
    Ok(Header { length, parameters, numbers })
}

/// A command as bytes; nothing if it does not fit the layout's counts.
#[must_use]
pub fn encode(command: &Command, parameters: u8, numbers: u8) -> Option<Vec<u8>> {
    let mut out =
        Writer { bytes: vec![VERSION, command.verb as u8, 0, 0, parameters, numbers], fits: true };
    out.number(PCB, command.pcb);
    if let Some(name) = &command.name {
        out.bytes.push(NAME);
        out.text(name);
    }
    out.area(AREA, command.area);
    out.number(MOST, command.most);
    out.area(FEEDBACK, command.feedback);
    command.saved.iter().for_each(|area| out.area(SAVED, Some(*area)));
    command.segments.iter().for_each(|segment| out.segment(segment));
    let length = u16::try_from(out.bytes.len()).ok().filter(|_| out.fits)?;
    out.bytes[2..4].copy_from_slice(&length.to_be_bytes());
    Some(out.bytes)
}

struct Writer {
    bytes: Vec<u8>,
    fits: bool,
}

impl Writer {
    fn number(&mut self, tag: u8, number: Option<Number>) {
        if let Some(number) = number {
            self.bytes.push(tag);
            self.bare_number(number);
        }
    }

    fn bare_number(&mut self, number: Number) {
        match number {
            Number::Literal(value) => {
                self.bytes.push(0);
                self.bytes.extend_from_slice(&value.to_be_bytes());
            }
            Number::Slot(index) => self.bytes.extend_from_slice(&[1, index]),
        }
    }

    fn area(&mut self, tag: u8, area: Option<Area>) {
        if let Some(area) = area {
            self.bytes.push(tag);
            self.bare_area(area);
        }
    }

    fn bare_area(&mut self, area: Area) {
        self.bytes.push(area.parameter);
        self.bare_number(area.length);
    }

    fn text(&mut self, text: &Text) {
        match text {
            Text::Literal(bytes) => {
                let length = u16::try_from(bytes.len());
                self.fits &= length.is_ok();
                self.bytes.push(0);
                self.bytes.extend_from_slice(&length.unwrap_or(0).to_be_bytes());
                self.bytes.extend_from_slice(bytes);
            }
            Text::Area(area) => {
                self.bytes.push(1);
                self.bare_area(*area);
            }
        }
    }

    fn segment(&mut self, segment: &Segment) {
        let flags = [
            (segment.is_variable, VARIABLE),
            (segment.is_first, FIRST),
            (segment.is_last, LAST),
            (segment.is_current, CURRENT),
            (segment.sets_parent, SETPARENT),
        ];
        let flags = flags.iter().filter(|(set, _)| *set).fold(0, |all, (_, flag)| all | flag);
        self.bytes.extend_from_slice(&[SEGMENT, flags]);
        self.text(&segment.name);
        self.area(SEGMENT_AREA, segment.area);
        self.number(OFFSET, segment.offset);
        for (tag, text) in [(LOCK, &segment.lock), (KEYS, &segment.keys)] {
            if let Some(text) = text {
                self.bytes.push(tag);
                self.text(text);
            }
        }
        for subset in &segment.subsets {
            self.bytes.extend_from_slice(&[SUBSET, subset.code]);
            self.text(&subset.pointers);
        }
        for condition in &segment.conditions {
            let join = condition.join as u8;
            self.bytes.extend_from_slice(&[CONDITION, join, condition.operator as u8]);
            self.text(&Text::Literal(condition.field.clone()));
            self.text(&condition.value);
        }
    }
}

/// Reads a descriptor; bytes behind its length are not looked at.
///
/// # Errors
///
/// If it is none of this version, or damaged.
pub fn decode(bytes: &[u8]) -> Result<Command, DescriptorError> {
    let first = bytes.first_chunk().ok_or(DescriptorError::Damaged(bytes.len()))?;
    let header = header(first)?;
    let bytes = bytes.get(..header.length).ok_or(DescriptorError::Damaged(bytes.len()))?;
    let mut reader = Reader { bytes, at: HEADER, header };
    let verb = Verb::ALL.into_iter().find(|verb| *verb as u8 == bytes[1]);
    let mut command = Command::new(verb.ok_or(DescriptorError::Damaged(1))?);
    while reader.at < bytes.len() {
        reader.field(&mut command).ok_or(DescriptorError::Damaged(reader.at))?;
    }
    Ok(command)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    header: Header,
}

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn take(&mut self, len: usize) -> Option<&[u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(len)?)?;
        self.at += len;
        Some(taken)
    }

    fn number(&mut self) -> Option<Number> {
        match self.byte()? {
            0 => Some(Number::Literal(i32::from_be_bytes(self.take(4)?.try_into().ok()?))),
            1 => self.byte().filter(|slot| *slot < self.header.numbers).map(Number::Slot),
            _ => None,
        }
    }

    fn area(&mut self) -> Option<Area> {
        let parameter = self.byte().filter(|index| *index < self.header.parameters)?;
        Some(Area { parameter, length: self.number()? })
    }

    fn text(&mut self) -> Option<Text> {
        match self.byte()? {
            0 => {
                let len = u16::from_be_bytes(self.take(2)?.try_into().ok()?);
                Some(Text::Literal(self.take(usize::from(len))?.to_vec()))
            }
            1 => self.area().map(Text::Area),
            _ => None,
        }
    }

    /// One field; nothing if it is none.
    fn field(&mut self, command: &mut Command) -> Option<()> {
        match self.byte()? {
            PCB => command.pcb = Some(self.number()?),
            NAME => command.name = Some(self.text()?),
            AREA => command.area = Some(self.area()?),
            MOST => command.most = Some(self.number()?),
            FEEDBACK => command.feedback = Some(self.area()?),
            SAVED => command.saved.push(self.area()?),
            SEGMENT => {
                let segment = self.segment()?;
                command.segments.push(segment);
            }
            tag => self.segment_field(tag, command.segments.last_mut()?)?,
        }
        Some(())
    }

    fn segment(&mut self) -> Option<Segment> {
        let flags = self.byte().filter(|flags| flags & !FLAGS == 0)?;
        let is = |flag: u8| flags & flag != 0;
        Some(Segment {
            name: self.text()?,
            is_variable: is(VARIABLE),
            is_first: is(FIRST),
            is_last: is(LAST),
            is_current: is(CURRENT),
            sets_parent: is(SETPARENT),
            ..Segment::default()
        })
    }

    fn segment_field(&mut self, tag: u8, segment: &mut Segment) -> Option<()> {
        match tag {
            SEGMENT_AREA => segment.area = Some(self.area()?),
            OFFSET => segment.offset = Some(self.number()?),
            LOCK => segment.lock = Some(self.text()?),
            KEYS => segment.keys = Some(self.text()?),
            SUBSET => {
                let code = self.byte().filter(|code| b"MRSWZ".contains(code))?;
                segment.subsets.push(Subset { code, pointers: self.text()? });
            }
            CONDITION => {
                let (join, operator) = (self.byte()?, self.byte()?);
                let join = Join::ALL.into_iter().find(|known| *known as u8 == join)?;
                let known = Operator::ALL.into_iter().find(|known| *known as u8 == operator);
                let Text::Literal(field) = self.text()? else { return None };
                let condition = Condition { join, field, operator: known?, value: self.text()? };
                segment.conditions.push(condition);
            }
            _ => return None,
        }
        Some(())
    }
}
