//! Intervals that lie near to each other are read in one piece, with what lies between them.

use base::CiNumber;

/// How far the next interval of a run may be: what lies between is read for nothing.
const GAP_MAX: u32 = 8;

/// Cuts ascending intervals into runs of at most `intervals_max`: the first interval of each, and
/// how many it has.
pub(crate) fn runs(
    intervals: impl Iterator<Item = CiNumber>,
    intervals_max: u32,
) -> impl Iterator<Item = (CiNumber, u32)> {
    let mut intervals = intervals.peekable();
    std::iter::from_fn(move || {
        let first = intervals.next()?;
        let mut last = first;
        let fits = |last: CiNumber, next: &CiNumber| {
            next.0 - last.0 <= GAP_MAX && next.0 - first.0 < intervals_max
        };
        while let Some(next) = intervals.next_if(|next| fits(last, next)) {
            last = next;
        }
        Some((first, last.0 - first.0 + 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_at_a_gap_and_at_its_bound() {
        let intervals = [5, 7, 12, 30, 31, 33, 34].map(CiNumber);
        let found: Vec<(u32, u32)> =
            runs(intervals.into_iter(), 4).map(|(first, count)| (first.0, count)).collect();
        assert_eq!(found, [(5, 3), (12, 1), (30, 4), (34, 1)]);
    }
}
