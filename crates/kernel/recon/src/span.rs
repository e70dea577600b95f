//! In which pieces of the log the records of data sets count.

use base::{DataSetId, Lsn};

/// A data set, and the piece of the log in which its records count: before it was built in a
/// recovery there are none, and behind the point of a recovery that replaced it they are void.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The data set.
    pub set: DataSetId,
    /// Its records count from here on.
    pub from: Lsn,
    /// And before this.
    pub until: Lsn,
}

impl Span {
    /// A data set of which all that the log has counts.
    #[must_use]
    pub fn whole(set: DataSetId) -> Span {
        Span { set, from: Lsn(0), until: Lsn(u64::MAX) }
    }

    /// Whether its records count anywhere between two positions.
    #[must_use]
    pub fn meets(&self, from: Lsn, end: Lsn) -> bool {
        self.from.max(from) < self.until.min(end)
    }
}

/// The pieces of the log between two positions in which anything of these counts, in order, and
/// apart from each other.
#[must_use]
pub fn pieces(spans: &[Span], from: Lsn, end: Lsn) -> Vec<(Lsn, Lsn)> {
    let meeting = spans.iter().filter(|span| span.meets(from, end));
    let mut all: Vec<(Lsn, Lsn)> =
        meeting.map(|span| (span.from.max(from), span.until.min(end))).collect();
    all.sort_unstable();
    let mut pieces: Vec<(Lsn, Lsn)> = Vec::new();
    for (from, end) in all {
        match pieces.last_mut() {
            Some((_, last)) if from <= *last => *last = end.max(*last),
            _ => pieces.push((from, end)),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(set: u32, from: u64, until: u64) -> Span {
        Span { set: DataSetId(set), from: Lsn(from), until: Lsn(until) }
    }

    #[test]
    fn what_counts_for_nobody_is_in_no_piece() {
        let spans = [span(1, 0, 150), span(2, 290, u64::MAX), span(3, 100, 160), span(4, 200, 200)];
        let numbers = |from, end| -> Vec<(u64, u64)> {
            let all = pieces(&spans, Lsn(from), Lsn(end));
            all.into_iter().map(|(from, end)| (from.0, end.0)).collect()
        };
        assert_eq!(numbers(90, 400), [(90, 160), (290, 400)]);
        assert_eq!(numbers(160, 290), []);
        assert_eq!(numbers(155, 291), [(155, 160), (290, 291)]);
    }
}
