//! Which partition a root belongs to.
//!
//! The partition with the lowest high key that is not below the root key (DLI-12.75).
//! A key above all of them has no partition, and the program sees FM.
//!
//! | written | means |
//! |---|---|
//! | `high_key = "M"` | text in the database's code page, then the highest value up to the length of the root key: every key that begins with `M` is below |
//! | `high_key = "x'C1FF'"` | codes of the order that keys have, so with `collation = "ebcdic"` those of the host, as a listing from there shows them; filled up in the same way |
//! | neither `high_key` nor `key_string` | the highest value: what is above the others |
//! | `key_string = "M"` | chosen as if it were a high key, which is what selection by comparing with the root key comes to; but programs are promised key order within a partition only |
//!
//! Invariants:
//! 1. Ends ascend strictly in the order that root keys have; the number of a partition is its
//!    place among them. It changes when partitions are added, a name does not: what is kept on
//!    disk uses names.
//! 2. A database that is not partitioned has one partition, without a name, that takes every key.

use std::cmp::Ordering;

use crate::amount::Bytes;
use crate::collation::Collation;
use crate::error::PlacementError;
use crate::literal::{Literal, shown};
use crate::settings::{DatabaseSettings, PartitionSettings, interval_of};

/// A partition of a database, or the whole of one that is not partitioned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Its name; empty if the database is not partitioned.
    pub name: String,
    /// The control interval of its data sets, if the settings say one: rounded up to a size that
    /// there is, 4 KiB at least.
    pub interval_bytes: Option<u32>,
}

impl Partition {
    pub(crate) fn new(name: &str, bytes: Option<Bytes>) -> Partition {
        Partition { name: name.to_owned(), interval_bytes: bytes.map(interval_of) }
    }
}

/// Where partitions end.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    /// The order of root keys.
    collation: Collation,
    /// The ends, each `width` bytes, transformed by the collation; empty if there is one
    /// partition that takes every key.
    ends: Vec<u8>,
    width: usize,
}

impl Selection {
    /// One partition that takes every key.
    pub(crate) fn everything() -> Selection {
        Selection { collation: Collation::Binary, ends: Vec::new(), width: 0 }
    }

    /// The ends of a database's partitions, with the partitions in their order.
    pub(crate) fn new<'a>(
        database: &str,
        settings: &'a DatabaseSettings,
        width: usize,
        collation: Collation,
    ) -> Result<(Selection, Vec<&'a PartitionSettings>), PlacementError> {
        let mut ends = Vec::with_capacity(settings.partitions.len());
        for partition in &settings.partitions {
            let end = end(partition, settings, width, collation).map_err(|(setting, why)| {
                let setting = format!("partition {}, {setting}", partition.name);
                PlacementError::Setting { database: database.to_owned(), setting, why }
            })?;
            ends.push((end, partition));
        }
        ends.sort_by(|(one, _), (other, _)| one.cmp(other));
        if let Some(twice) = ends.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let (one, other) = (twice[0].1, twice[1].1);
            let by_string = one.key_string.is_some() || other.key_string.is_some();
            return Err(PlacementError::SameEnd {
                database: database.to_owned(),
                one: one.name.clone(),
                other: other.name.clone(),
                setting: if by_string { "key_string" } else { "high_key" },
            });
        }
        let order = ends.iter().map(|(_, partition)| *partition).collect();
        let ends = ends.into_iter().flat_map(|(end, _)| end).collect();
        Ok((Selection { collation, ends, width }, order))
    }

    /// The number of the partition that takes the key.
    #[inline]
    pub(crate) fn find(&self, key: &[u8]) -> Option<u16> {
        if self.ends.is_empty() {
            return Some(0);
        }
        let (mut low, mut high) = (0, self.ends.len() / self.width);
        let count = high;
        while low < high {
            let middle = low.midpoint(high);
            if self.collation.compare_to_applied(key, self.end(middle)) == Ordering::Greater {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        // There are 1001 at most.
        (low < count).then_some(low as u16)
    }

    fn end(&self, number: usize) -> &[u8] {
        &self.ends[number * self.width..][..self.width]
    }

    /// The end of a partition as text, if there are ends.
    pub(crate) fn shown(&self, number: usize) -> Option<String> {
        (!self.ends.is_empty()).then(|| shown(self.end(number)))
    }
}

/// Where a partition ends, as bytes that compare.
fn end(
    partition: &PartitionSettings,
    settings: &DatabaseSettings,
    width: usize,
    collation: Collation,
) -> Result<Vec<u8>, (&'static str, String)> {
    let (setting, text) = match (&partition.high_key, &partition.key_string) {
        (Some(key), _) => ("high_key", key),
        (None, Some(string)) => ("key_string", string),
        (None, None) => return Ok(vec![0xff; width]),
    };
    let literal = Literal::read(text, settings.encoding.page()).map_err(|why| (setting, why))?;
    let mut bytes = literal.bytes;
    if bytes.is_empty() || bytes.len() > width {
        let found = bytes.len();
        return Err((setting, format!("it has {found} bytes, and the root key has {width}")));
    }
    if !literal.hexadecimal {
        collation.apply(&mut bytes);
    }
    bytes.resize(width, 0xff);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Encoding;

    #[test]
    fn blocks_become_intervals_that_there_are() {
        for (bytes, size) in [
            (512, 4096),
            (4096, 4096),
            (4097, 4608),
            (8192, 8192),
            (8193, 10_240),
            (24_576, 24_576),
            (32_767, 32_768),
            (u64::MAX, 32_768),
        ] {
            assert_eq!(interval_of(Bytes(bytes)), size, "{bytes}");
        }
    }

    fn settings(ends: &[(&str, Option<&str>)]) -> DatabaseSettings {
        let partition = |(name, end): &(&str, Option<&str>)| PartitionSettings {
            name: (*name).into(),
            high_key: end.map(str::to_owned),
            ..PartitionSettings::default()
        };
        DatabaseSettings {
            partitions: ends.iter().map(partition).collect(),
            ..DatabaseSettings::default()
        }
    }

    fn names(settings: &DatabaseSettings, collation: Collation, keys: &[&[u8]]) -> Vec<String> {
        let (selection, order) = Selection::new("DB", settings, 4, collation).unwrap();
        let name = |key: &&[u8]| match selection.find(key) {
            Some(number) => order[usize::from(number)].name.clone(),
            None => "none".into(),
        };
        keys.iter().map(name).collect()
    }

    #[test]
    fn a_root_goes_where_the_lowest_high_key_is_not_below_it() {
        let ends = settings(&[("LAST", Some("8")), ("ONE", Some("1000")), ("TWO", Some("2000"))]);
        let keys: [&[u8]; 7] = [b"0000", b"1000", b"1001", b"2000", b"2001", b"8999", b"9000"];
        let expected = ["ONE", "ONE", "TWO", "TWO", "LAST", "LAST", "none"];
        assert_eq!(names(&ends, Collation::Binary, &keys), expected);
    }

    #[test]
    fn without_a_high_key_a_partition_takes_what_is_above() {
        let ends = settings(&[("REST", None), ("ONE", Some("1"))]);
        let keys: [&[u8]; 3] = [b"1999", b"2000", b"\xff\xff\xff\xff"];
        assert_eq!(names(&ends, Collation::Binary, &keys), ["ONE", "REST", "REST"]);
    }

    #[test]
    fn the_hosts_order_decides_where_it_is_set() {
        // On the host letters come before digits, and X'C9' is I.
        let ends = settings(&[("A-I", Some("x'C9'")), ("J-Z", Some("Z")), ("0-9", None)]);
        let keys: [&[u8]; 5] = [b"IZZZ", b"JAAA", b"ZZZZ", b"0000", b"aaaa"];
        let expected = ["A-I", "J-Z", "J-Z", "0-9", "A-I"];
        assert_eq!(names(&ends, Collation::Ebcdic, &keys), expected);
    }

    #[test]
    fn ebcdic_data_takes_its_high_keys_in_ebcdic() {
        let mut ends = settings(&[("LOW", Some("I")), ("HIGH", None)]);
        ends.encoding = Encoding::Ebcdic;
        let keys: [&[u8]; 2] = [b"\xc9\xe9\xe9\xe9", b"\xd1\xc1\xc1\xc1"];
        assert_eq!(names(&ends, Collation::Binary, &keys), ["LOW", "HIGH"]);
    }

    #[test]
    fn ends_that_do_not_work_are_named() {
        let error = |ends: &[(&str, Option<&str>)]| {
            Selection::new("DB", &settings(ends), 4, Collation::Binary).unwrap_err().to_string()
        };
        let same = error(&[("ONE", Some("x'31FF'")), ("TWO", Some("1"))]);
        assert_eq!(same, "[database.DB] partitions ONE and TWO have the same high_key");
        let long = error(&[("ONE", Some("12345"))]);
        assert!(long.contains("partition ONE, high_key: it has 5 bytes"), "{long}");
        assert!(error(&[("ONE", Some(""))]).contains("0 bytes"));
        assert!(error(&[("ONE", Some("\u{e9}"))]).contains("U+00E9"));
    }

    proptest::proptest! {
        /// The lowest end that is not below the key, as one would look for it by eye.
        #[test]
        fn the_partition_is_found_that_a_person_would_find(
            ends in proptest::collection::btree_set("[A-Ca-c0-2]{1,3}", 1..20),
            open: bool,
            keys in proptest::collection::vec(proptest::collection::vec(0..=255_u8, 0..6), 20),
            near in proptest::collection::vec("[A-Ca-c0-2]{4}", 20),
            ebcdic: bool,
        ) {
            let collation = if ebcdic { Collation::Ebcdic } else { Collation::Binary };
            let mut given: Vec<(&str, Option<&str>)> =
                ends.iter().map(|end| (end.as_str(), Some(end.as_str()))).collect();
            if open {
                given.push(("OPEN", None));
            }
            let settings = settings(&given);
            let (selection, order) = Selection::new("DB", &settings, 4, collation).unwrap();
            let applied = |partition: &PartitionSettings| {
                let mut end = partition.high_key.clone().unwrap_or_default().into_bytes();
                collation.apply(&mut end);
                end.resize(4, 0xff);
                end
            };
            for mut key in keys.into_iter().chain(near.into_iter().map(String::into_bytes)) {
                let found = selection.find(&key).map(|number| applied(order[usize::from(number)]));
                collation.apply(&mut key);
                let fits = order.iter().map(|one| applied(one)).filter(|end| *end >= key);
                proptest::prop_assert_eq!(found, fits.min());
            }
        }
    }
}
