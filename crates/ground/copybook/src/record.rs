//! Records: items with their places, lengths and kinds.
//!
//! Lengths and places are those of the compiler that programs are compiled with here: binary
//! items have 2, 4, 8 or 16 bytes, an index 4, a pointer 8; SYNCHRONIZED puts binary items on
//! multiples of their length. Where that compiler is not at one with the language (COMP-5 of one or
//! two digits, slack bytes at the end of a table's occurrences), the language counts, for data
//! comes from hosts, and a note says so.
//!
//! Invariants:
//! 1. A record has at most [`RECORD_BYTES_MAX`] bytes and an item's place plus length stays within
//!    it, so that no sum here overflows.
//! 2. Items stand in the order of the text. What redefines an item begins where that one does.

use crate::copy::{Members, expanded};
use crate::entry::{Entry, Occurs, SignClause, Usage, Value, entries};
use crate::error::{CopybookError, Place};
use crate::picture::{Category, Picture};

/// The longest record.
pub const RECORD_BYTES_MAX: usize = 1 << 27;

/// What an item holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Other items.
    Group,
    /// Characters, edited ones and external floating point among them.
    Text,
    /// UTF-16.
    National,
    /// Double-byte characters.
    Dbcs,
    /// A number, a digit a byte.
    Zoned {
        /// Whether it has a sign, and where.
        sign: Option<SignClause>,
    },
    /// Packed decimal.
    Packed {
        /// Whether it has a sign.
        signed: bool,
    },
    /// Binary, the most significant byte first.
    Binary {
        /// Whether it has a sign.
        signed: bool,
    },
    /// COMP-5: binary as the machine has it.
    Native {
        /// Whether it has a sign.
        signed: bool,
    },
    /// COMP-1.
    Single,
    /// COMP-2.
    Double,
    /// An address.
    Pointer,
    /// An index.
    Index,
}

/// A condition name, level 88.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Its name, in upper case.
    pub name: String,
    /// When it is true.
    pub values: Vec<Value>,
}

/// An item of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its level, 1 to 49 or 77.
    pub level: u8,
    /// Its name, in upper case; `None` for FILLER.
    pub name: Option<String>,
    /// Where it is described.
    pub place: Place,
    /// Its place in the record, from 0; in a table that of the first occurrence; every table in
    /// front of it at its longest.
    pub offset: usize,
    /// The bytes of one occurrence.
    pub bytes: usize,
    /// How often it is there, if OCCURS says so.
    pub occurs: Option<Occurs>,
    /// The item that it redefines.
    pub redefines: Option<String>,
    /// What it holds.
    pub kind: Kind,
    /// Its picture, if it has one.
    pub picture: Option<Picture>,
    /// SYNCHRONIZED.
    pub synchronized: bool,
    /// JUSTIFIED RIGHT.
    pub justified: bool,
    /// BLANK WHEN ZERO.
    pub blank_when_zero: bool,
    /// VALUE.
    pub values: Vec<Value>,
    /// The condition names beneath it.
    pub conditions: Vec<Condition>,
    /// The items beneath it.
    pub children: Vec<Item>,
}

impl Item {
    /// How often it is there at most.
    #[must_use]
    pub fn times_max(&self) -> usize {
        self.occurs.as_ref().map_or(1, |occurs| occurs.max)
    }

    /// The bytes of all its occurrences, at most.
    #[must_use]
    pub fn bytes_max(&self) -> usize {
        self.bytes.saturating_mul(self.times_max())
    }

    /// Its name for people.
    #[must_use]
    pub fn title(&self) -> String {
        self.name.clone().unwrap_or_else(|| format!("the FILLER of {}", self.place))
    }

    /// Whether it or an item beneath it occurs as often as data says.
    #[must_use]
    pub fn is_variable(&self) -> bool {
        let own = self.occurs.as_ref().is_some_and(|occurs| occurs.depending.is_some());
        own || self.children.iter().any(Item::is_variable)
    }

    /// Calls `each` for this item and all beneath it, in the order of the text.
    pub fn visit<'a>(&'a self, each: &mut impl FnMut(&'a Item)) {
        each(self);
        for child in &self.children {
            child.visit(each);
        }
    }

    /// The first item of that name, this one or one beneath it.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Item> {
        let mut found = None;
        self.visit(&mut |item| {
            let is = item.name.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(name));
            if is && found.is_none() {
                found = Some(item);
            }
        });
        found
    }
}

/// The records of a description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copybook {
    /// Those of level 01 and 77; one without a name if the text begins with another level.
    pub records: Vec<Item>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

impl Copybook {
    /// Reads a description. `name` is what it is called in errors, `members` finds what it copies.
    ///
    /// # Errors
    /// If it is wrong, or not supported.
    pub fn parse(name: &str, text: &[u8], members: Members<'_>) -> Result<Copybook, CopybookError> {
        let tokens = expanded(name, text, members)?;
        let all = entries(&tokens)?;
        let mut notes = all.notes;
        let records = build(all.entries, &mut notes)?;
        if records.is_empty() {
            let place = Place { member: name.into(), line: 1 };
            return Err(CopybookError::Syntax { place, what: "it describes no item".into() });
        }
        Ok(Copybook { records, notes })
    }

    /// The record of a name; without a name the only one.
    #[must_use]
    pub fn record(&self, name: Option<&str>) -> Option<&Item> {
        match name {
            Some(name) => self.records.iter().find_map(|record| record.find(name)),
            None => self.records.first().filter(|_| self.records.len() == 1),
        }
    }
}

fn syntax(place: &Place, what: String) -> CopybookError {
    CopybookError::Syntax { place: place.clone(), what }
}

/// What groups hand down to the items beneath them.
#[derive(Clone, Copy, Default)]
struct Inherited {
    usage: Option<Usage>,
    sign: Option<SignClause>,
    synchronized: bool,
}

/// A level deeper than any: where everything ends.
const RECORD: u8 = 1;

fn build(entries: Vec<Entry>, notes: &mut Vec<String>) -> Result<Vec<Item>, CopybookError> {
    let mut rest = entries.into_iter().peekable();
    let mut records: Vec<Item> = Vec::new();
    let starts_below = rest.peek().is_some_and(|entry| !matches!(entry.level, 1 | 77));
    if starts_below {
        // A fragment that a program copies beneath a level of its own.
        let place = rest.peek().map(|entry| entry.place.clone()).unwrap_or_default();
        let children = children_of(&mut rest, 1, Inherited::default())?;
        let mut record = bare(place);
        record.children = children;
        record.kind = Kind::Group;
        records.push(record);
    }
    while let Some(entry) = rest.next() {
        let item = item_of(entry, &mut rest, Inherited::default())?;
        records.push(item);
    }
    let mut done: Vec<Item> = Vec::new();
    for mut record in records {
        let mut alignment = 1;
        Layout { notes }.item(&mut record, 0, &mut alignment)?;
        if let Some(name) = &record.redefines
            && !done.iter().any(|one| one.name.as_ref() == Some(name))
        {
            return Err(syntax(&record.place, format!("{name}, which is redefined, is not there")));
        }
        done.push(record);
    }
    Ok(done)
}

fn bare(place: Place) -> Item {
    Item {
        level: RECORD,
        name: None,
        place,
        offset: 0,
        bytes: 0,
        occurs: None,
        redefines: None,
        kind: Kind::Group,
        picture: None,
        synchronized: false,
        justified: false,
        blank_when_zero: false,
        values: Vec::new(),
        conditions: Vec::new(),
        children: Vec::new(),
    }
}

type Rest = std::iter::Peekable<std::vec::IntoIter<Entry>>;

/// The items that stand beneath a level.
fn children_of(
    rest: &mut Rest,
    level: u8,
    inherited: Inherited,
) -> Result<Vec<Item>, CopybookError> {
    let mut all: Vec<Item> = Vec::new();
    while let Some(entry) = rest.next_if(|entry| entry.level > level && entry.level != 77) {
        if entry.level == 88 {
            let Some(item) = all.last_mut() else {
                return Err(syntax(&entry.place, "level 88 has no item above it".into()));
            };
            let name = entry.name.unwrap_or_default();
            item.conditions.push(Condition { name, values: entry.values });
            continue;
        }
        all.push(item_of(entry, rest, inherited)?);
    }
    Ok(all)
}

fn item_of(entry: Entry, rest: &mut Rest, above: Inherited) -> Result<Item, CopybookError> {
    let inherited = Inherited {
        usage: entry.usage.or(above.usage),
        sign: entry.sign.or(above.sign),
        synchronized: entry.synchronized || above.synchronized,
    };
    let mut conditions = Vec::new();
    while let Some(one) = rest.next_if(|one| one.level == 88) {
        let name = one.name.unwrap_or_default();
        conditions.push(Condition { name, values: one.values });
    }
    let children =
        if entry.level == 77 { Vec::new() } else { children_of(rest, entry.level, inherited)? };
    if !children.is_empty() && entry.picture.is_some() {
        let name = entry.name.as_deref().unwrap_or("FILLER");
        return Err(syntax(&entry.place, format!("{name} has a picture and items beneath it")));
    }
    let (kind, bytes) = match children.is_empty() {
        true => elementary(&entry, inherited)?,
        false => (Kind::Group, 0),
    };
    if entry.occurs.is_some() && matches!(entry.level, 1 | 77) {
        return Err(syntax(&entry.place, "OCCURS cannot stand on level 01 or 77".into()));
    }
    Ok(Item {
        level: entry.level,
        name: entry.name,
        offset: 0,
        bytes,
        occurs: entry.occurs,
        redefines: entry.redefines,
        kind,
        picture: entry.picture,
        synchronized: inherited.synchronized && kind != Kind::Group,
        justified: entry.justified,
        blank_when_zero: entry.blank_when_zero,
        values: entry.values,
        conditions,
        children,
        place: entry.place,
    })
}

/// Kind and length of an item without items beneath it.
fn elementary(entry: &Entry, inherited: Inherited) -> Result<(Kind, usize), CopybookError> {
    let named = entry.name.as_deref().unwrap_or("FILLER");
    match (inherited.usage, entry.picture) {
        (Some(Usage::Single), _) => return Ok((Kind::Single, 4)),
        (Some(Usage::Double), _) => return Ok((Kind::Double, 8)),
        (Some(Usage::Pointer), _) => return Ok((Kind::Pointer, 8)),
        (Some(Usage::Index), _) => return Ok((Kind::Index, 4)),
        _ => {}
    }
    let Some(picture) = entry.picture else {
        return Err(syntax(&entry.place, format!("{named} has neither a picture nor items")));
    };
    let usage = inherited.usage.unwrap_or(Usage::Display);
    let (signed, digits) = (picture.signed, picture.digits);
    let is_number = picture.category == Category::Numeric;
    if is_number && !(1..=38).contains(&digits) {
        return Err(syntax(&entry.place, format!("{named} has {digits} digits; 38 are possible")));
    }
    Ok(match usage {
        Usage::Binary | Usage::Native | Usage::Packed if !is_number => {
            return Err(syntax(&entry.place, format!("{named} is no number, as its usage wants")));
        }
        Usage::Binary => (Kind::Binary { signed }, binary_bytes(digits)),
        Usage::Native => (Kind::Native { signed }, binary_bytes(digits)),
        Usage::Packed => (Kind::Packed { signed }, digits / 2 + 1),
        Usage::Dbcs => (Kind::Dbcs, picture.characters * 2),
        _ if picture.category == Category::Dbcs => (Kind::Dbcs, picture.characters * 2),
        Usage::National => (Kind::National, picture.characters * 2),
        _ if picture.category == Category::National => (Kind::National, picture.characters * 2),
        _ if is_number => {
            let sign = signed.then(|| inherited.sign.unwrap_or_default());
            let own = usize::from(sign.is_some_and(|sign| sign.separate));
            (Kind::Zoned { sign }, digits + own)
        }
        _ => (Kind::Text, picture.characters),
    })
}

fn binary_bytes(digits: usize) -> usize {
    match digits {
        0..=4 => 2,
        5..=9 => 4,
        10..=18 => 8,
        _ => 16,
    }
}

/// The multiple on which SYNCHRONIZED puts an item.
fn alignment_of(item: &Item) -> usize {
    match item.kind {
        _ if !item.synchronized => 1,
        Kind::Binary { .. } | Kind::Native { .. } if item.bytes <= 8 => item.bytes,
        Kind::Single | Kind::Double | Kind::Pointer | Kind::Index => item.bytes,
        _ => 1,
    }
}

/// Gives items their places.
struct Layout<'n> {
    notes: &'n mut Vec<String>,
}

impl Layout<'_> {
    /// An item and all beneath it; `widest` becomes the widest alignment within.
    fn item(
        &mut self,
        item: &mut Item,
        offset: usize,
        widest: &mut usize,
    ) -> Result<(), CopybookError> {
        item.offset = offset;
        if item.kind != Kind::Group {
            let digits = item.picture.map_or(0, |picture| picture.digits);
            if matches!(item.kind, Kind::Native { .. }) && digits <= 2 {
                self.notes.push(format!(
                    "{}: {} has two bytes; programs compiled here give COMP-5 of one or two \
                     digits one byte",
                    item.place,
                    item.title()
                ));
            }
            *widest = (*widest).max(alignment_of(item));
        } else {
            let mut within = 1;
            self.children(item, offset, &mut within)?;
            let bytes = item.bytes.next_multiple_of(within);
            if item.occurs.is_some() && bytes > item.bytes {
                self.notes.push(format!(
                    "{}: each {} ends with {} slack bytes; programs compiled here have them in \
                     front of its last item",
                    item.place,
                    item.title(),
                    bytes - item.bytes
                ));
                item.bytes = bytes;
            }
            *widest = (*widest).max(within);
        }
        let end = offset.saturating_add(item.bytes.saturating_mul(item.times_max()));
        if end > RECORD_BYTES_MAX {
            let what = format!("{} ends behind byte {RECORD_BYTES_MAX}", item.title());
            return Err(CopybookError::TooLarge { place: item.place.clone(), what });
        }
        Ok(())
    }

    fn children(
        &mut self,
        item: &mut Item,
        offset: usize,
        within: &mut usize,
    ) -> Result<(), CopybookError> {
        let mut furthest = offset;
        for at in 0..item.children.len() {
            let (before, behind) = item.children.split_at_mut(at);
            let child = &mut behind[0];
            if let Some(name) = &child.redefines {
                let target = before.iter().rev().find(|one| one.name.as_ref() == Some(name));
                let Some(target) = target else {
                    let what = format!("{name}, which is redefined, is not there");
                    return Err(syntax(&child.place, what));
                };
                self.item(child, target.offset, within)?;
            } else {
                let begin = match child.kind {
                    Kind::Group => furthest,
                    _ => furthest.next_multiple_of(alignment_of(child)),
                };
                self.item(child, begin, within)?;
            }
            furthest = furthest.max(child.offset + child.bytes_max());
        }
        item.bytes = furthest - offset;
        Ok(())
    }
}
