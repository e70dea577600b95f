//! What a unit of work has read in sets that the store keeps apart, to be read again when it
//! commits: ranges of keys that do not overlap, each with how many entries it held and the sum of
//! their stamps.
//!
//! A key that was looked up is the range that holds only it.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included, Unbounded};

use tokio_postgres::types::ToSql;

/// Ranges that were read.
#[derive(Default)]
pub(crate) struct ReadSet {
    ranges: BTreeMap<Vec<u8>, Stretch>,
}

struct Stretch {
    to: Vec<u8>,
    count: i64,
    sum: i128,
}

/// The smallest key above `key`.
pub(crate) fn successor(key: &[u8]) -> Vec<u8> {
    let mut next = Vec::with_capacity(key.len() + 1);
    next.extend_from_slice(key);
    next.push(0);
    next
}

impl ReadSet {
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// From `from` up to but without `to` there were these entries, each a key and a stamp, in the
    /// order of their keys, and no others.
    pub(crate) fn add<'a>(
        &mut self,
        from: &[u8],
        to: &[u8],
        entries: impl Iterator<Item = (&'a [u8], i64)>,
    ) {
        let mut entries = entries.peekable();
        let mut at = from.to_vec();
        while at[..] < *to {
            // What is known already is left as it was read first.
            let before =
                self.ranges.range_mut::<[u8], _>((Unbounded, Included(&at[..]))).next_back();
            if let Some((_, known)) = before
                && known.to > at
            {
                at.clone_from(&known.to);
                while entries.next_if(|(key, _)| *key < &at[..]).is_some() {}
                continue;
            }
            let next = self.ranges.range::<[u8], _>((Included(&at[..]), Unbounded)).next();
            let end = next.map_or(to, |(from, _)| (&from[..]).min(to)).to_vec();
            let (mut count, mut sum) = (0, 0);
            while let Some((_, stamp)) = entries.next_if(|(key, _)| *key < &end[..]) {
                count += 1;
                sum += i128::from(stamp);
            }
            self.join(&at, &end, count, sum);
            at = end;
        }
    }

    /// A range that overlaps none, together with the one that ends where it begins.
    fn join(&mut self, from: &[u8], to: &[u8], count: i64, sum: i128) {
        let before = self.ranges.range_mut::<[u8], _>((Unbounded, Excluded(from))).next_back();
        if let Some((_, known)) = before
            && known.to == from
        {
            known.to = to.to_vec();
            known.count += count;
            known.sum += sum;
            return;
        }
        self.ranges.insert(from.to_vec(), Stretch { to: to.to_vec(), count, sum });
    }

    /// The ranges as the engine's functions take them.
    pub(crate) fn columns(&self) -> Columns<'_> {
        let mut columns = Columns::default();
        for (from, stretch) in &self.ranges {
            columns.from.push(from);
            columns.to.push(&stretch.to);
            columns.count.push(stretch.count);
            columns.sum.push(stretch.sum.to_string());
        }
        columns
    }
}

/// One array for each property of a range.
#[derive(Default)]
pub(crate) struct Columns<'a> {
    pub(crate) from: Vec<&'a [u8]>,
    pub(crate) to: Vec<&'a [u8]>,
    pub(crate) count: Vec<i64>,
    pub(crate) sum: Vec<String>,
}

impl Columns<'_> {
    pub(crate) fn parameters(&self) -> [&(dyn ToSql + Sync); 4] {
        [&self.from, &self.to, &self.count, &self.sum]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(seen: &mut ReadSet, from: &str, to: &str, entries: &[(&str, i64)]) {
        let entries = entries.iter().map(|(key, stamp)| (key.as_bytes(), *stamp));
        seen.add(from.as_bytes(), to.as_bytes(), entries);
    }

    fn text(seen: &ReadSet) -> String {
        let columns = seen.columns();
        let one = |at: usize| {
            let key = |key: &[u8]| String::from_utf8_lossy(key).into_owned();
            let (from, to) = (key(columns.from[at]), key(columns.to[at]));
            format!("{from}-{to}:{}/{}", columns.count[at], columns.sum[at])
        };
        (0..columns.from.len()).map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ranges_that_touch_become_one_and_none_is_counted_twice() {
        let mut seen = ReadSet::default();
        add(&mut seen, "d", "f", &[("d", 1), ("e", 2)]);
        add(&mut seen, "f", "h", &[("g", 4)]);
        assert_eq!(text(&seen), "d-h:3/7");
        add(&mut seen, "m", "o", &[("n", 8)]);
        add(&mut seen, "a", "z", &[("b", 16), ("e", 2), ("k", 32), ("n", 8), ("y", 64)]);
        assert_eq!(text(&seen), "a-d:1/16 d-m:4/39 m-z:2/72");
        add(&mut seen, "a", "z", &[("b", 16)]);
        assert_eq!(text(&seen), "a-d:1/16 d-m:4/39 m-z:2/72");
        add(&mut seen, "q", "q", &[]);
        assert_eq!(text(&seen), "a-d:1/16 d-m:4/39 m-z:2/72");
    }

    #[test]
    fn stamps_of_any_size_add_up() {
        let mut seen = ReadSet::default();
        add(&mut seen, "a", "c", &[("a", i64::MAX), ("b", i64::MAX)]);
        add(&mut seen, "c", "d", &[("c", i64::MIN)]);
        let expected = i128::from(i64::MAX) * 2 + i128::from(i64::MIN);
        assert_eq!(text(&seen), format!("a-d:3/{expected}"));
    }
}
