//! Maps: which record description the segments of a database have, and when.
//!
//! ```toml
//! codepage = "037"                 # the page of the EBCDIC side
//! copy = ["copybooks"]             # folders of members, besides that of this file
//!
//! [segment.CUSTOMER]               # or [file.NAME], the DBD of a GSAM file
//! copybook = "CUSTSEG.cpy"
//! record = "CUST-SEG"              # which record or group of it; left out: the only one
//! redefines = ["CUST-PERSON"]      # which of items that redefine each other counts
//! binary = ["CUST-FLAGS"]          # items that are not converted, whatever their picture
//! text = ["CUST-NOTE"]             # items that are converted as text
//!
//! [[segment.ORDER.record]]         # several kinds of records: the first whose condition is true
//! when = "ORD-KIND = 'A', 'B'"     # FIELD = value.., FIELD <> value.., or a condition name
//! copybook = "ORDERA.cpy"
//! [[segment.ORDER.record]]         # without a condition: all others
//! copybook = "ORDERB.cpy"
//! ```
//!
//! | bytes | of a bundle, as it is kept in a system |
//! |---|---|
//! | 4, 1 | `HFMP`, version 1 |
//! | 4 + n | the map file |
//! | 4 | how many members |
//! | 2 + n, 4 + n | for each: its name, its text |
//!
//! Invariants:
//! 1. A bundle holds everything that a map needs: it means the same wherever it is read.
//! 2. A setting that is not known is an error.

use std::collections::BTreeMap;

use codec::CodePage;
use codec::transcode::{Class, Direction, Transcoder};
use codec::zoned::Alphabet;
use serde::Deserialize;

use crate::entry::{Literal, Value, is_number};
use crate::error::CopybookError;
use crate::maker::Choices;
use crate::plan::{Findings, Plan, Subject, Trouble, What};
use crate::record::{Copybook, Item, Kind};
use crate::steps::number_of;

const MAGIC: &[u8; 5] = b"HFMP\x01";
/// The most members of a bundle, and the longest text in one.
const MEMBERS_MAX: usize = 10_000;
const TEXT_BYTES_MAX: usize = 16 << 20;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    codepage: Option<String>,
    copy: Vec<String>,
    segment: BTreeMap<String, Section>,
    file: BTreeMap<String, Section>,
}

/// A section: one kind of record, or several.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Section {
    copybook: Option<String>,
    record: Option<Record>,
    redefines: Vec<String>,
    binary: Vec<String>,
    text: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Record {
    Name(String),
    Kinds(Vec<OneKind>),
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OneKind {
    when: Option<String>,
    copybook: String,
    record: Option<String>,
    redefines: Vec<String>,
    binary: Vec<String>,
    text: Vec<String>,
}

impl Section {
    fn kinds(self, of: &str) -> Result<Vec<OneKind>, CopybookError> {
        let Section { copybook, record, redefines, binary, text } = self;
        let wrong = |what: &str| Err(CopybookError::Map(format!("[segment.{of}]: {what}")));
        match (copybook, record) {
            (Some(copybook), record) => {
                let record = match record {
                    None => None,
                    Some(Record::Name(name)) => Some(name),
                    Some(Record::Kinds(_)) => {
                        return wrong("`copybook` stands beside several kinds of records");
                    }
                };
                Ok(vec![OneKind { when: None, copybook, record, redefines, binary, text }])
            }
            (None, Some(Record::Kinds(kinds))) if !kinds.is_empty() => {
                if !(redefines.is_empty() && binary.is_empty() && text.is_empty()) {
                    return wrong("write redefines, binary and text in each [[segment..record]]");
                }
                Ok(kinds)
            }
            _ => wrong("`copybook` is missing"),
        }
    }
}

/// A map file with every member that it uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundle {
    text: String,
    members: BTreeMap<String, Vec<u8>>,
}

fn parse_file(text: &str) -> Result<File, CopybookError> {
    toml::from_str(text).map_err(|error| CopybookError::Map(error.to_string()))
}

impl Bundle {
    /// The folders of members that a map file names.
    ///
    /// # Errors
    /// If it is no map file.
    pub fn folders(text: &str) -> Result<Vec<String>, CopybookError> {
        Ok(parse_file(text)?.copy)
    }

    /// A map file with its members, which `member` finds by the names that are written.
    ///
    /// # Errors
    /// If the file or a description is wrong.
    pub fn gather(
        text: &str,
        member: &dyn Fn(&str) -> Option<Vec<u8>>,
    ) -> Result<Bundle, CopybookError> {
        let found = std::cell::RefCell::new(BTreeMap::new());
        let recorded = |name: &str| {
            let text = member(name)?;
            found.borrow_mut().insert(name.to_owned(), text.clone());
            Some(text)
        };
        Map::read(text, &recorded)?;
        Ok(Bundle { text: text.to_owned(), members: found.into_inner() })
    }

    /// The map file as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The map.
    ///
    /// # Errors
    /// If a description is wrong.
    pub fn map(&self) -> Result<Map, CopybookError> {
        Map::read(&self.text, &|name| self.members.get(name).cloned())
    }

    /// As bytes that a system keeps.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        let len = |len: usize| u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes();
        out.extend_from_slice(&len(self.text.len()));
        out.extend_from_slice(self.text.as_bytes());
        out.extend_from_slice(&len(self.members.len()));
        for (name, text) in &self.members {
            base::bytes::push_string16(&mut out, name.as_bytes());
            out.extend_from_slice(&len(text.len()));
            out.extend_from_slice(text);
        }
        out
    }

    /// From such bytes.
    ///
    /// # Errors
    /// If they are damaged, or of a later version.
    pub fn decode(bytes: &[u8]) -> Result<Bundle, CopybookError> {
        if bytes.starts_with(&MAGIC[..4]) && bytes.get(4) != MAGIC.get(4) {
            let what = "it was stored by a later version of Holdfast";
            return Err(CopybookError::Map(what.into()));
        }
        let read = || {
            let mut reader = base::bytes::Reader::new(bytes.strip_prefix(MAGIC)?);
            let len = usize::try_from(reader.u32()?).ok()?;
            let text = String::from_utf8(reader.take(len)?.to_vec()).ok()?;
            let count = usize::try_from(reader.u32()?).ok()?;
            let mut members = BTreeMap::new();
            for _ in 0..count.min(MEMBERS_MAX) {
                let name = String::from_utf8(reader.string16()?.to_vec()).ok()?;
                let len = usize::try_from(reader.u32()?).ok()?;
                members.insert(name, reader.take(len)?.to_vec());
            }
            reader.is_empty().then_some(Bundle { text, members })
        };
        read().ok_or_else(|| CopybookError::Map("its bytes are damaged".into()))
    }
}

/// A map: how each segment is converted.
#[derive(Clone, Debug)]
pub struct Map {
    page: Option<CodePage>,
    segments: BTreeMap<String, Mapped>,
}

impl Map {
    fn read(text: &str, member: &dyn Fn(&str) -> Option<Vec<u8>>) -> Result<Map, CopybookError> {
        let file = parse_file(text)?;
        let page = file.codepage.map(|name| page_named(&name)).transpose()?;
        let mut segments = BTreeMap::new();
        for (name, section) in file.segment.into_iter().chain(file.file) {
            let name = name.to_ascii_uppercase();
            let mut kinds = Vec::new();
            for kind in section.kinds(&name)? {
                kinds.push(RecordKind::new(&name, kind, member)?);
            }
            let ends = kinds.iter().position(|kind| kind.when.is_none());
            if ends.is_some_and(|at| at + 1 < kinds.len()) {
                let what = "a kind without a condition stands in front of others".into();
                return Err(CopybookError::Misfit { subject: name, what });
            }
            let mapped = Mapped { name: name.clone(), kinds };
            if segments.insert(name.clone(), mapped).is_some() {
                return Err(CopybookError::Map(format!("there are two sections of {name}")));
            }
        }
        Ok(Map { page, segments })
    }

    /// The page that the file names.
    #[must_use]
    pub fn page(&self) -> Option<CodePage> {
        self.page
    }

    /// How a segment is converted, or a GSAM file by its DBD.
    #[must_use]
    pub fn segment(&self, name: &str) -> Option<&Mapped> {
        self.segments.get(name)
    }

    /// The names of all segments that it has.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.segments.keys().map(String::as_str)
    }
}

/// An EBCDIC page by its name.
fn page_named(name: &str) -> Result<CodePage, CopybookError> {
    CodePage::named(name).filter(|page| page.is_ebcdic()).ok_or_else(|| {
        CopybookError::Map(format!(
            "{name} is no EBCDIC code page; there are 037, 1047, 273, 500, 1140 and 1141"
        ))
    })
}

/// A segment's kinds of records.
#[derive(Clone, Debug)]
pub struct Mapped {
    name: String,
    kinds: Vec<RecordKind>,
}

#[derive(Clone, Debug)]
struct RecordKind {
    when: Option<When>,
    plan: Plan,
    notes: Vec<String>,
}

impl RecordKind {
    fn new(
        segment: &str,
        kind: OneKind,
        member: &dyn Fn(&str) -> Option<Vec<u8>>,
    ) -> Result<RecordKind, CopybookError> {
        let misfit = |what| CopybookError::Misfit { subject: segment.to_owned(), what };
        let text = member(&kind.copybook).filter(|text| text.len() <= TEXT_BYTES_MAX);
        let text = text.ok_or_else(|| misfit(format!("there is no copybook {}", kind.copybook)))?;
        let book = Copybook::parse(&kind.copybook, &text, member)?;
        let record = book.record(kind.record.as_deref()).ok_or_else(|| {
            misfit(match &kind.record {
                Some(name) => format!("{} has no item {name}", kind.copybook),
                None => format!(
                    "{} has {} records: say which in `record`",
                    kind.copybook,
                    book.records.len()
                ),
            })
        })?;
        let mut record = record.clone();
        // A group within a record is a record by itself.
        let front = record.offset;
        shift(&mut record, front);
        let choices =
            Choices { redefinitions: kind.redefines, binary: kind.binary, text: kind.text };
        let plan = Plan::new(segment, &record, &choices)?;
        let when = kind.when.map(|text| When::parse(segment, &text, &record)).transpose()?;
        Ok(RecordKind { when, plan, notes: book.notes })
    }
}

fn shift(item: &mut Item, by: usize) {
    item.offset = item.offset.saturating_sub(by);
    item.children.iter_mut().for_each(|child| shift(child, by));
}

impl Mapped {
    /// Whether the descriptions fit a segment of that length.
    ///
    /// # Errors
    /// Which one does not, and why.
    pub fn fits(&self, bytes_max: usize, variable: bool) -> Result<(), CopybookError> {
        for kind in &self.kinds {
            let own = kind.plan.bytes_max();
            if own > bytes_max || own < bytes_max && !variable {
                let what = format!("its description has {own} bytes, the segment {bytes_max}");
                return Err(CopybookError::Misfit { subject: self.name.clone(), what });
            }
        }
        Ok(())
    }

    /// Items that hosts write in another form than programs here, and that are left as they are.
    #[must_use]
    pub fn native(&self) -> Vec<&str> {
        self.kinds.iter().flat_map(|kind| kind.plan.native()).map(String::as_str).collect()
    }

    /// What its descriptions leave out, or what programs here have otherwise.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.kinds.iter().flat_map(|kind| &kind.notes).map(String::as_str)
    }

    fn kind_of(&self, page: &Transcoder, way: Direction, bytes: &[u8]) -> Option<&Plan> {
        let is = |kind: &&RecordKind| {
            kind.when.as_ref().is_none_or(|when| when.is_true(page, way, bytes))
        };
        self.kinds.iter().find(is).map(|kind| &kind.plan)
    }

    /// Converts a record in its place; `false` if it is of none of the kinds, and unchanged.
    #[must_use]
    pub fn convert(&self, page: &Transcoder, way: Direction, bytes: &mut [u8]) -> bool {
        let plan = self.kind_of(page, way, bytes);
        plan.inspect(|plan| plan.convert(page, way, bytes)).is_some()
    }

    /// The same with characters where a number holds something else. What would not come back is
    /// noted.
    pub fn convert_as_text(
        &self,
        page: &Transcoder,
        way: Direction,
        bytes: &mut [u8],
        record: u64,
        findings: &mut Findings,
    ) {
        let subject = Subject { segment: &self.name, record };
        if let Some(plan) = self.kind_of(page, way, bytes) {
            plan.convert_as_text(page, way, bytes, subject, findings);
        }
    }

    /// The most bytes that it describes.
    #[must_use]
    pub fn bytes_max(&self) -> usize {
        self.kinds.iter().map(|kind| kind.plan.bytes_max()).max().unwrap_or_default()
    }

    fn kind_of_whole(&self, page: &Transcoder, way: Direction, bytes: &[u8]) -> Option<&Plan> {
        let plan = self.kind_of(page, way, bytes);
        plan.filter(|plan| bytes.len() <= plan.bytes_max() && plan.is_counted(way, bytes))
    }

    /// Converts a record of which everything is described; `false`, and nothing is changed, if it
    /// is of none of the kinds, or longer, or does not say how often its tables are there.
    #[must_use]
    pub fn convert_whole(&self, page: &Transcoder, way: Direction, bytes: &mut [u8]) -> bool {
        let plan = self.kind_of_whole(page, way, bytes);
        plan.inspect(|plan| plan.convert(page, way, bytes)).is_some()
    }

    /// The same to EBCDIC; numbers that are as in `old` get the bytes that they had there.
    #[must_use]
    pub fn convert_keeping(&self, page: &Transcoder, old: &[u8], bytes: &mut [u8]) -> bool {
        let plan = self.kind_of_whole(page, Direction::ToEbcdic, bytes);
        plan.inspect(|plan| plan.convert_keeping(page, old, bytes)).is_some()
    }

    /// Notes what of a record cannot be converted.
    pub fn check(
        &self,
        page: &Transcoder,
        way: Direction,
        bytes: &[u8],
        record: u64,
        findings: &mut Findings,
    ) {
        let subject = Subject { segment: &self.name, record };
        match self.kind_of(page, way, bytes) {
            Some(plan) => plan.check(page, way, bytes, subject, findings),
            None => findings.add(Trouble {
                what: What::NoRecord,
                record,
                segment: self.name.clone(),
                item: String::new(),
                offset: 0,
                bytes: bytes[..bytes.len().min(16)].to_vec(),
            }),
        }
    }

    /// The classes of bytes that are the same in every kind of record; `None` if they are not.
    #[must_use]
    pub fn classes(&self, offset: usize, len: usize) -> Option<&[Class]> {
        let (first, others) = self.kinds.split_first()?;
        let classes = first.plan.classes(offset, len)?;
        let same = others.iter().all(|kind| kind.plan.classes(offset, len) == Some(classes));
        same.then_some(classes)
    }
}

/// When a record is of a kind.
#[derive(Clone, Debug)]
struct When {
    offset: usize,
    len: usize,
    kind: Kind,
    values: Vec<Value>,
    /// `<>`.
    is_not: bool,
}

impl When {
    fn parse(segment: &str, text: &str, record: &Item) -> Result<When, CopybookError> {
        let misfit = |what: String| CopybookError::Misfit {
            subject: segment.to_owned(),
            what: format!("the condition \"{text}\" {what}"),
        };
        let operator = text.find("<>").map(|at| (at, 2)).or(text.find('=').map(|at| (at, 1)));
        let (name, values, is_not) = match operator {
            Some((at, len)) => {
                let name = text[..at].trim().trim_end_matches(" NOT");
                let values = literals(&text[at + len..]).ok_or_else(|| {
                    misfit("has no value that can be read behind the sign".into())
                })?;
                (name.to_owned(), Some(values), len == 2)
            }
            None => (text.trim().to_owned(), None, false),
        };
        let (item, values) = match values {
            Some(values) => (record.find(&name), values),
            None => named_condition(record, &name),
        };
        let Some(item) = item else {
            return Err(misfit(format!("names {name}, which is not there")));
        };
        let fixed = place_is_fixed(record, item);
        if !fixed || item.bytes > 4_096 {
            return Err(misfit(format!("asks for {name}, which has no place of its own")));
        }
        Ok(When { offset: item.offset, len: item.bytes, kind: item.kind, values, is_not })
    }

    fn is_true(&self, page: &Transcoder, way: Direction, record: &[u8]) -> bool {
        let Some(bytes) = record.get(self.offset..self.offset + self.len) else { return false };
        let found = self.values.iter().any(|value| self.holds(page, way, bytes, value));
        found != self.is_not
    }

    fn holds(&self, page: &Transcoder, way: Direction, bytes: &[u8], value: &Value) -> bool {
        let alphabet = match way {
            Direction::FromEbcdic => Alphabet::Ebcdic,
            Direction::ToEbcdic => Alphabet::Ascii,
        };
        if let Some(from) = number(&value.from) {
            if let Some(own) = number_of(self.kind, alphabet, bytes) {
                let through = value.through.as_ref().and_then(number).unwrap_or(from);
                return (from..=through).contains(&own);
            }
            if self.kind != Kind::Text && self.kind != Kind::Group {
                return false;
            }
        }
        // Characters compare as on the host.
        let mut own = bytes.to_vec();
        if way == Direction::ToEbcdic
            && matches!(self.kind, Kind::Text | Kind::Group | Kind::Zoned { .. })
        {
            for byte in &mut own {
                *byte = page.byte(way, Class::Text, *byte);
            }
        }
        let Some(from) = host_bytes(page, &value.from, own.len()) else { return false };
        match &value.through {
            None => own == from,
            Some(through) => host_bytes(page, through, own.len())
                .is_some_and(|through| (from..=through).contains(&own)),
        }
    }
}

/// Whether an item has the same place in every record, and is there once.
fn place_is_fixed(record: &Item, wanted: &Item) -> bool {
    fn walk(item: &Item, wanted: &Item, fixed: &mut bool) -> Option<bool> {
        if std::ptr::eq(item, wanted) {
            return Some(*fixed && item.occurs.is_none());
        }
        if item.occurs.is_some() && item.children.iter().any(|child| within(child, wanted)) {
            return Some(false);
        }
        for child in &item.children {
            if let Some(found) = walk(child, wanted, fixed) {
                return Some(found);
            }
        }
        if item.occurs.as_ref().is_some_and(|occurs| occurs.depending.is_some()) {
            *fixed = false;
        }
        None
    }
    fn within(item: &Item, wanted: &Item) -> bool {
        std::ptr::eq(item, wanted) || item.children.iter().any(|child| within(child, wanted))
    }
    walk(record, wanted, &mut true).unwrap_or(false)
}

/// The item of a condition name, and its values.
fn named_condition<'a>(record: &'a Item, name: &str) -> (Option<&'a Item>, Vec<Value>) {
    let (mut found, mut values) = (None, Vec::new());
    record.visit(&mut |item| {
        let named = item.conditions.iter().find(|one| one.name.eq_ignore_ascii_case(name));
        if let (Some(condition), None) = (named, found) {
            found = Some(item);
            values.clone_from(&condition.values);
        }
    });
    (found, values)
}

/// Literals behind each other, with commas or OR between them.
fn literals(text: &str) -> Option<Vec<Value>> {
    let mut all = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (literal, behind) = match rest.chars().next()? {
            quote @ ('\'' | '"') => {
                let end = rest[1..].find(quote)? + 1;
                (Literal::Text(rest[1..end].to_owned()), &rest[end + 1..])
            }
            _ => {
                let end = rest.find([',', ' ']).unwrap_or(rest.len());
                let word = &rest[..end];
                if word.eq_ignore_ascii_case("OR") {
                    rest = rest[end..].trim_start();
                    continue;
                }
                let upper = word.to_ascii_uppercase();
                let known = ["ZERO", "SPACE", "LOW-VALUE", "HIGH-VALUE"];
                match is_number(word) {
                    true => (Literal::Number(word.to_owned()), &rest[end..]),
                    false if known.iter().any(|name| upper.starts_with(name)) => {
                        (Literal::Figurative(upper), &rest[end..])
                    }
                    false => return None,
                }
            }
        };
        all.push(Value { from: literal, through: None });
        rest = behind.trim_start().trim_start_matches(',').trim_start();
    }
    (!all.is_empty()).then_some(all)
}

/// A literal as a whole number.
fn number(literal: &Literal) -> Option<i128> {
    match literal {
        Literal::Number(text) => text.trim_start_matches('+').parse().ok(),
        Literal::Figurative(word) if word.starts_with("ZERO") => Some(0),
        _ => None,
    }
}

/// The bytes that a literal has in a character field on the host.
fn host_bytes(page: &Transcoder, literal: &Literal, len: usize) -> Option<Vec<u8>> {
    let text = |text: &str, fill: u8| {
        let mut bytes = page.page().encode(text).ok()?;
        if bytes.len() > len {
            return None;
        }
        bytes.resize(len, fill);
        Some(bytes)
    };
    match literal {
        Literal::Text(own) | Literal::Number(own) => text(own, 0x40),
        Literal::Figurative(word) => {
            let byte = match word.get(..4)? {
                "SPAC" => 0x40,
                "ZERO" => 0xf0,
                "LOW-" | "NULL" => 0,
                "HIGH" => 0xff,
                _ => return None,
            };
            Some(vec![byte; len])
        }
        Literal::Other(_) => None,
    }
}
