//! Segments, their paths and their index entries, as the sets of databases hold them: whoever can
//! forge a plain data set chooses these bytes.

use std::sync::{Arc, LazyLock};

use definitions::resolve::resolve_dbd;
use hierarchy::{IndexTree, Levels, Schema, Stored, TypeAt, behind, twin};
use store::SetId;

use crate::input::Input;
use crate::shop;

/// The schemas of the shop's databases, and the indexes of the first.
struct Databases {
    schemas: Vec<Schema>,
    indexes: Vec<IndexTree>,
}

static DATABASES: LazyLock<Databases> = LazyLock::new(|| {
    let definitions = shop::definitions();
    let (mut schemas, mut indexes) = (Vec::new(), Vec::new());
    for dbd in definitions.dbds().filter(|dbd| hierarchy::is_kept(dbd.organization)) {
        let placement = Arc::new(shop::placement(dbd));
        schemas.push(Schema::new(dbd, placement, |at| at == TypeAt(1), |_| false));
        indexes.extend(resolve_dbd(dbd, &definitions).0.into_iter().map(|index| IndexTree {
            index,
            set: SetId(0),
            source: TypeAt::ROOT,
            target: TypeAt::ROOT,
            target_level: 1,
            placement: None,
        }));
    }
    Databases { schemas, indexes }
});

/// The first byte is how many of the rest are a path; what stands behind it is a segment. All of
/// the rest is an index entry's value, too.
///
/// # Panics
/// If a path's parts do not add up to it, or a segment is written in another way than it was read.
pub fn fuzz(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let len = usize::from(input.byte());
    let all = input.rest();
    let (path, value) = (input.take(len), input.rest());
    for schema in &DATABASES.schemas {
        take_path_apart(schema, path);
        for kind in &schema.types {
            let Ok(stored) = Stored::read(kind, value) else { continue };
            let mut expanded = Vec::new();
            let Ok(data) = stored.data(&mut expanded) else { continue };
            assert!(data.len() <= value.len().max(hierarchy::SEGMENT_BYTES_MAX));
            let mut written = Stored::new(data);
            written.is_deleted = stored.is_deleted;
            written.identity = stored.identity;
            written.orders = stored.orders;
            written.logical_parent = stored.logical_parent;
            let (mut again, mut expanded) = (Vec::new(), Vec::new());
            written.write(kind, &mut again);
            let again = Stored::read(kind, &again).expect("it was written");
            assert_eq!(again.is_deleted, stored.is_deleted, "{}", kind.name);
            assert_eq!(again.identity, stored.identity, "{}", kind.name);
            assert_eq!(again.orders, stored.orders, "{}", kind.name);
            assert_eq!(again.logical_parent, stored.logical_parent, "{}", kind.name);
            assert_eq!(again.data(&mut expanded).as_deref(), Ok(data), "{}", kind.name);
        }
    }
    for index in &DATABASES.indexes {
        let Some((path, data)) = index.source_of(all) else { continue };
        assert_eq!(2 + path.len() + data.len(), all.len());
        assert!(data.ends_with(index.user_data(all)));
    }
    positions(path, value);
}

fn take_path_apart(schema: &Schema, path: &[u8]) {
    let mut levels = Levels::NONE;
    if !schema.parse(path, &mut levels) {
        return;
    }
    assert_eq!(levels.end(levels.len()), path.len());
    let mut keys = Vec::new();
    for level in 1..=levels.len() {
        let (above, end, of) = (levels.end(level - 1), levels.end(level), levels.type_at(level));
        assert!(above < end);
        let before = keys.len();
        schema.key_of(of, &path[..end], above, &mut keys);
        let mut key = Vec::new();
        schema.put_key(of, &keys[before..], &mut key);
        let from = if level == 1 { schema.front() } else { above + 1 };
        assert!(path[from..end].starts_with(&key), "a key comes back");
        // From here on it is the same path without knowing what stands below.
        let mut known = levels;
        known.truncate(level);
        assert!(schema.parse(path, &mut known) && known == levels);
    }
    let mut next = Vec::new();
    assert!(!behind(path, &mut next) || next[..] > *path);
}

/// Positions next to any two, of which the first is the lower one.
fn positions(low: &[u8], high: &[u8]) {
    let (Some(low_len), Some(high_len)) = (twin::len(low), twin::len(high)) else { return };
    let mut made = Vec::new();
    twin::behind(&low[..low_len], &mut made);
    assert_eq!(twin::len(&made), Some(made.len()));
    made.clear();
    twin::in_front(&high[..high_len], &mut made);
    assert_eq!(twin::len(&made), Some(made.len()));
    made.clear();
    twin::between(&low[..low_len], &high[..high_len], &mut made);
    assert_eq!(twin::len(&made), Some(made.len()));
}

/// Paths and segments of each database.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let seed = |path: &[u8], value: &[u8]| [&[path.len() as u8], path, value].concat();
    let (shop, visit) = (b"\0\x01\x02\x010042", b"\x02\x01\x02\x81\x05\0");
    let mut header = vec![0];
    header.extend_from_slice(&7_u64.to_be_bytes());
    let mut logical = vec![0, 0, 7];
    logical.extend_from_slice(b"\0\0\x01\x01A12");
    logical.extend_from_slice(b"A12\x01\x2C ");
    vec![
        seed(shop, b"0042PARIS \0\0\x0C       "),
        seed(&[&shop[..], visit].concat(), &[&header[..], b"\0\x0C\x01\x02ABCDtext"].concat()),
        seed(&[&shop[..], visit, b"\x03\x80\0"].concat(), b"QUIET   "),
        seed(&[&shop[..], b"\x04A12"].concat(), &logical),
        seed(b"\0\0\x01\x01A12", b"\0\x0A\0A12PEAR"),
        seed(b"\0\x011999", b"1999 PAST"),
        seed(b"\0\x011999\x02\x7E\xFE\0", b"ENTRY"),
        [&[0, 0, 8][..], shop, b"\x01\x02"].concat(),
        seed(b"\x81\x01\x80\0", b"\x81\x02\0"),
    ]
}
