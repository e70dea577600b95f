//! The views that the tests use, built by hand, and segments to try SSAs on.
//!
//! | segment | level | bytes | fields: offset, length |
//! |---|---|---|---|
//! | CUSTOMER | 1 | 20 | key CUSTKEY 0,4; NAME 4,6; BALANCE 10,3 packed; XKIND: index of two fields |
//! | ACCOUNT | 2 | 12 | key ACCTNO 0,3; KIND 3,2 |
//! | POSTING | 3 | 6 to 14 | key DAY 2,2; TEXT 4,4 |
//! | NOTE | 2 | 8 | TEXT 0,8; no key |

#![allow(clippy::unwrap_used)] // in tests an unwrap is an assertion

use holdfast_dli::ssa;

use definitions::resolve::{
    Destination, Home, Index, IndexPart, PartSource, SeenField, SegmentAccess, SegmentForm, View,
    ViewField, ViewKey, ViewSegment,
};
use definitions::{
    DbdName, FieldName, FieldType, Organization, ProcessingOptions, Rules, SegmentName, SegmentPart,
};
use ssa::{Alphabet, Calling, Entries, Refusal, Ssas, Subject, Table, parse};

pub(crate) const CUSTOMER: u16 = 0;
pub(crate) const ACCOUNT: u16 = 1;
pub(crate) const POSTING: u16 = 2;
pub(crate) const NOTE: u16 = 3;

fn home(name: &str, code: u8) -> Home {
    let segment = SegmentName::new(name).unwrap();
    Home { dbd: DbdName::new("SHOPDB").unwrap(), segment, code }
}

pub(crate) fn field(name: &str, offset: u16, len: u16, kind_of_data: FieldType) -> ViewField {
    let name = FieldName::new(name).unwrap();
    ViewField { name, offset, len, kind_of_data, is_key: false, of_destination: false }
}

fn segment(name: &str, code: u8, parent: Option<(u16, u8, u32)>, max: u16) -> ViewSegment {
    ViewSegment {
        name: SegmentName::new(name).unwrap(),
        level: parent.map_or(1, |(_, level, _)| level + 1),
        parent: parent.map(|(place, _, _)| place),
        home: home(name, code),
        stored: home(name, code),
        part: SegmentPart::Data,
        destination: None,
        key: None,
        key_at: parent.map_or(0, |(_, _, key_at)| key_at),
        fields: Vec::new(),
        indices: Vec::new(),
        form: SegmentForm { max, min: max, ..SegmentForm::default() },
        access: SegmentAccess::default(),
    }
}

fn with(mut segment: ViewSegment, key: Option<ViewField>, others: Vec<ViewField>) -> ViewSegment {
    segment.key =
        key.map(|one| ViewKey { name: one.name, offset: one.offset, len: one.len, unique: true });
    segment.fields.extend(key.map(|one| ViewField { is_key: true, ..one }));
    segment.fields.extend(others);
    segment
}

fn index(name: &str, search: &[(u16, FieldType)]) -> Index {
    let part = |(len, kind_of_data): &(u16, FieldType)| IndexPart {
        name: FieldName::new("PART").unwrap(),
        from: PartSource::Segment(0),
        len: *len,
        kind_of_data: *kind_of_data,
    };
    Index {
        name: FieldName::new(name).unwrap(),
        dbd: DbdName::new("SHOPIX").unwrap(),
        segment: SegmentName::new("ENTRY").unwrap(),
        target_dbd: DbdName::new("SHOPDB").unwrap(),
        target: SegmentName::new("CUSTOMER").unwrap(),
        target_code: 1,
        source: SegmentName::new("ACCOUNT").unwrap(),
        source_code: 2,
        constant: None,
        search: search.iter().map(part).collect(),
        subsequence: Vec::new(),
        data: Vec::new(),
        null: None,
        exit: None,
        unique: false,
        protected: false,
        symbolic: false,
        target_key_len: 4,
        segment_len: 12,
    }
}

/// The whole shop.
pub(crate) fn shop() -> View {
    use FieldType::{Character, Hexadecimal, Packed};
    let mut customer = with(
        segment("CUSTOMER", 1, None, 20),
        Some(field("CUSTKEY", 0, 4, Character)),
        vec![field("NAME", 4, 6, Character), field("BALANCE", 10, 3, Packed)],
    );
    customer.indices.push(index("XKIND", &[(2, Character), (1, Hexadecimal)]));
    let account = with(
        segment("ACCOUNT", 2, Some((CUSTOMER, 1, 4)), 12),
        Some(field("ACCTNO", 0, 3, Character)),
        vec![field("KIND", 3, 2, Character)],
    );
    let posting = with(
        segment("POSTING", 3, Some((ACCOUNT, 2, 7)), 14),
        Some(field("DAY", 2, 2, Hexadecimal)),
        vec![field("TEXT", 4, 4, Character)],
    );
    let note = segment("NOTE", 4, Some((CUSTOMER, 1, 4)), 8);
    let note = with(note, None, vec![field("TEXT", 0, 8, Character)]);
    View {
        dbd: DbdName::new("SHOPDB").unwrap(),
        organization: Organization::Hidam,
        options: ProcessingOptions::default(),
        multiple_positions: false,
        key_len: 9,
        sequence: None,
        entries: None,
        segments: vec![customer, account, posting, note],
        databases: Vec::new(),
    }
}

/// One segment below the other, `LEVELA` the first; more than a DBD may have.
pub(crate) fn deep(levels: u8) -> View {
    let names = (b'A'..).take(usize::from(levels)).map(|letter| format!("LEVEL{}", letter as char));
    let below = |at: u8| at.checked_sub(1).map(|above| (u16::from(above), at, 0));
    let segments = (0..).zip(names).map(|(at, name)| segment(&name, at + 1, below(at), 4));
    View { segments: segments.collect(), ..shop() }
}

/// The shop with the index XNAME as its order.
pub(crate) fn by_name() -> View {
    let mut view = shop();
    view.sequence = Some(index("XNAME", &[(6, FieldType::Character)]));
    for segment in &mut view.segments[1..] {
        segment.key_at += 2;
    }
    view
}

/// The shop where of a customer the name alone is seen.
pub(crate) fn names_only() -> View {
    let mut view = shop();
    let name = view.segments[0].fields[1];
    view.segments[0].access.seen.push(SeenField { field: name, offset: 0, replace: false });
    view
}

/// The shop where an account is joined to a destination parent, field BRANCH 0,4 of 10 bytes.
pub(crate) fn joined() -> View {
    let mut view = shop();
    let account = &mut view.segments[1];
    account.destination = Some(Destination {
        home: home("BRANCH", 1),
        part: SegmentPart::Data,
        offset: 12,
        max: 10,
        key: None,
        rules: Rules::default(),
    });
    let branch = field("BRANCH", 0, 4, FieldType::Character);
    account.fields.push(ViewField { of_destination: true, is_key: true, ..branch });
    view
}

/// The shop as a DEDB whose accounts have three subset pointers.
pub(crate) fn fast() -> View {
    let mut view = shop();
    view.organization = Organization::Dedb;
    view.segments[1].form.subset_pointers = 3;
    view
}

pub(crate) fn table(view: &View) -> Table {
    Table::new(view, Alphabet::Ascii, None)
}

/// An order in which letters come before digits, as in EBCDIC.
pub(crate) fn letters_first() -> [u8; 256] {
    let mut places: [u8; 256] = std::array::from_fn(|byte| byte as u8);
    for digit in b'0'..=b'9' {
        places[usize::from(digit)] = digit + 43;
    }
    for (place, later) in (b'0'..).zip(b':'..=b'd') {
        places[usize::from(later)] = place;
    }
    places
}

pub(crate) fn get<'a>(table: &Table, ssas: &[&'a str]) -> Result<Ssas<'a>, Refusal> {
    let ssas: Vec<&[u8]> = ssas.iter().map(|one| one.as_bytes()).collect();
    parse(table, Calling::Get, &ssas)
}

/// A segment with its index entries.
#[derive(Default)]
pub(crate) struct Occurrence {
    pub(crate) bytes: Vec<u8>,
    pub(crate) destination: Vec<u8>,
    pub(crate) current: Vec<u8>,
    pub(crate) entries: Vec<Vec<u8>>,
    pub(crate) broken: bool,
}

impl Occurrence {
    pub(crate) fn of(bytes: impl AsRef<[u8]>) -> Occurrence {
        Occurrence { bytes: bytes.as_ref().to_vec(), ..Occurrence::default() }
    }
}

impl Subject for Occurrence {
    type Error = &'static str;

    fn bytes(&self, offset: u16, len: u16, of_destination: bool) -> Option<&[u8]> {
        let bytes = if of_destination { &self.destination } else { &self.bytes };
        bytes.get(usize::from(offset)..)?.get(..usize::from(len))
    }

    fn any_entry(
        &self,
        entries: Entries,
        test: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<bool, &'static str> {
        match entries {
            _ if self.broken => Err("the index is broken"),
            Entries::Current => Ok(test(&self.current)),
            Entries::Sequence | Entries::Listed(_) => {
                Ok(self.entries.iter().any(|entry| test(entry)))
            }
        }
    }
}
