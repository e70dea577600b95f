//! Segment search arguments: what programs pass to say which segment they mean.

use std::convert::Infallible;
use std::sync::LazyLock;

use definitions::resolve::{View, ViewSegment};
use dli::ssa::{Alphabet, Bounds, Calling, Entries, Ssa, Subject, Table, parse};
use placement::Collation;

use crate::shop;

/// A view, and its tables: of programs in ASCII, with the order of EBCDIC, in EBCDIC.
struct Seen {
    view: View,
    tables: [Table; 3],
}

static SEEN: LazyLock<Vec<Seen>> = LazyLock::new(|| {
    let seen = |view: View| {
        let order: [u8; 256] = std::array::from_fn(|byte| {
            let mut place = [byte as u8];
            Collation::Ebcdic.apply(&mut place);
            place[0]
        });
        let tables = [
            Table::new(&view, Alphabet::Ascii, None),
            Table::new(&view, Alphabet::Ascii, Some(&order)),
            Table::new(&view, Alphabet::Ebcdic, None),
        ];
        Seen { view, tables }
    };
    shop::views().into_iter().map(seen).collect()
});

/// A segment of any bytes; each index has one entry for it, which begins like the segment.
struct Occurrence<'a> {
    bytes: &'a [u8],
    view: &'a View,
    segment: &'a ViewSegment,
}

impl Subject for Occurrence<'_> {
    type Error = Infallible;

    fn bytes(&self, offset: u16, len: u16, _of_destination: bool) -> Option<&[u8]> {
        self.bytes.get(usize::from(offset)..)?.get(..usize::from(len))
    }

    fn any_entry(
        &self,
        entries: Entries,
        test: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<bool, Infallible> {
        let index = match entries {
            Entries::Current | Entries::Sequence => self.view.sequence.as_ref(),
            Entries::Listed(at) => self.segment.indices.get(usize::from(at)),
        };
        let index = index.expect("only an index that the view has is asked for");
        Ok(self.bytes.get(..index.search_len() as usize).is_some_and(test))
    }
}

/// The first byte says which call it is, then each line is an SSA, for every view and alphabet.
/// What is accepted is printed and read again to the same, whatever stands behind it, and what
/// matches lies within its bounds.
///
/// # Panics
/// If not.
pub fn fuzz(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let calls = [Calling::Get, Calling::Insert, Calling::Replace, Calling::Delete];
    let calling = calls[usize::from(first % 4)];
    let ssas: Vec<&[u8]> = rest.split(|byte| *byte == b'\n').collect();
    for seen in SEEN.iter() {
        for (at, table) in seen.tables.iter().enumerate() {
            let Ok(parsed) = parse(table, calling, &ssas) else { continue };
            let printed = parsed.iter().map(|one| [&one.to_bytes(table), rest].concat());
            let printed: Vec<Vec<u8>> = printed.collect();
            let again: Vec<&[u8]> = printed.iter().map(Vec::as_slice).collect();
            let again = parse(table, calling, &again).map(|again| format!("{:?}", &again[..]));
            assert_eq!(
                Ok(format!("{:?}", &parsed[..])),
                again,
                "{calling:?} of {:?}",
                seen.view.dbd
            );
            for one in parsed.iter() {
                assert!(!one.show(table).to_string().is_empty());
                try_on(seen, table, one, rest, at == 1);
            }
        }
    }
}

fn try_on(seen: &Seen, table: &Table, ssa: &Ssa<'_>, bytes: &[u8], is_collated: bool) {
    let segment = &seen.view.segments[usize::from(ssa.segment)];
    let bounds = ssa.key_bounds(table);
    let occurrence = Occurrence { bytes, view: &seen.view, segment };
    let Ok(matches) = ssa.matches(table, &occurrence);
    let sequence = seen.view.sequence.as_ref().filter(|_| ssa.segment == 0);
    let key = match (sequence, segment.key) {
        (Some(index), _) => bytes.get(..index.search_len() as usize),
        (None, Some(key)) => occurrence.bytes(key.offset, key.len, false),
        (None, None) => return,
    };
    let (Some(key), false) = (key, is_collated) else { return };
    let within = is_within(&bounds, key);
    assert!(!matches || within, "{} matches {key:?}", ssa.show(table));
    assert!(!bounds.decides || matches == within, "{} decides {key:?}", ssa.show(table));
}

fn is_within(bounds: &Bounds<'_>, key: &[u8]) -> bool {
    let above = |low: dli::ssa::Bound<'_>| key > low.value || low.inclusive && key == low.value;
    let below = |high: dli::ssa::Bound<'_>| key < high.value || high.inclusive && key == high.value;
    bounds.lower.is_none_or(above) && bounds.upper.is_none_or(below)
}

/// Right SSAs of every kind, for each call, and in EBCDIC.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let texts: [&[u8]; 12] = [
        b"\0SHOP    ",
        b"\0SHOP    (NUMBER  = 0042)\nVISIT   *DL(DAY     >=\x01\x02&TEXT    <=ABCD)",
        b"\0SHOP    (NUMBER  >=0001*NUMBER  <=0009+TOWN    EQPARIS )\nNOTE    *F ",
        b"\0SHOP    *QA(XTOWN   > LYON  #XTEXT   = ABCD)",
        b"\0SHOP    *QAV ",
        b"\0VISIT   *C(0042\x01\x02)\nNOTE    *--P (REMARK  ^=QUIET   )",
        b"\0SHOP    *O(\0\0\0\x02\0\0\0\x03= ABC)",
        b"\0SHOP    *U \nSALE    (ITEMNO  = A12|COUNT   GT\x01\x2C)",
        b"\0SHOP    \nSOLD    *D(LABEL   <>PEAR)",
        b"\x01SHOP    (NUMBER  = 0042)\nVISIT   *D \nNOTE    ",
        b"\x02SHOP    *N \nVISIT   ",
        b"\x03VISIT   ",
    ];
    let mut seeds: Vec<Vec<u8>> = texts.iter().map(|text| text.to_vec()).collect();
    let host = codec::CodePage::Cp037.encode("SHOP    *D(NUMBER  = 0042&TOWN    LEPARIS )");
    seeds.push([vec![0], host.unwrap_or_default()].concat());
    seeds
}
