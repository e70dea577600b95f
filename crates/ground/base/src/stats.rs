//! Counters and histograms that many threads feed without a lock.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A count that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds one.
    #[inline]
    pub fn one(&self) {
        self.0.fetch_add(1, Relaxed);
    }

    /// Adds `amount`.
    #[inline]
    pub fn add(&self, amount: u64) {
        self.0.fetch_add(amount, Relaxed);
    }

    /// The count now.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// A count that threads feed without sharing a cache line.
#[derive(Debug, Default)]
pub struct Striped {
    cells: [Cell; STRIPES],
}

#[derive(Debug, Default)]
#[repr(align(64))]
struct Cell(AtomicU64);

const STRIPES: usize = 8;

impl Striped {
    /// Adds one; `slot` is the thread's small number.
    #[inline]
    pub fn one(&self, slot: usize) {
        self.cells[slot % STRIPES].0.fetch_add(1, Relaxed);
    }

    /// The count now.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.cells.iter().map(|cell| cell.0.load(Relaxed)).sum()
    }
}

/// Four buckets for each power of two: a quantile is right to within a quarter.
const BUCKETS: usize = 4 * 64;

/// A histogram of non-negative values (microseconds, bytes), readable while it is fed.
pub struct Histogram {
    buckets: Box<[AtomicU64; BUCKETS]>,
    count: AtomicU64,
    sum: AtomicU64,
    max: AtomicU64,
}

/// A histogram at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantiles {
    /// How many values.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
    /// Their median, to within a quarter.
    pub p50: u64,
    /// The value that 99 of 100 do not exceed.
    pub p99: u64,
    /// The largest value.
    pub max: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram {
            buckets: Box::new([const { AtomicU64::new(0) }; BUCKETS]),
            count: AtomicU64::new(0),
            sum: AtomicU64::new(0),
            max: AtomicU64::new(0),
        }
    }
}

fn bucket_of(value: u64) -> usize {
    if value < 4 {
        return value as usize;
    }
    let power = 63 - value.leading_zeros() as usize;
    let quarter = (value >> (power - 2)) as usize & 3;
    4 * (power - 1) + quarter
}

fn upper_bound(bucket: usize) -> u64 {
    if bucket < 4 {
        return bucket as u64;
    }
    let power = bucket / 4 + 1;
    let quarter = (bucket % 4) as u64;
    ((4 + quarter) << (power - 2)) + ((1 << (power - 2)) - 1)
}

impl Histogram {
    /// Adds a value.
    #[inline]
    pub fn record(&self, value: u64) {
        self.buckets[bucket_of(value)].fetch_add(1, Relaxed);
        self.count.fetch_add(1, Relaxed);
        self.sum.fetch_add(value, Relaxed);
        self.max.fetch_max(value, Relaxed);
    }

    /// Adds all values of another histogram: threads that each feed their own never contend.
    pub fn absorb(&self, other: &Histogram) {
        for (own, added) in self.buckets.iter().zip(other.buckets.iter()) {
            own.fetch_add(added.load(Relaxed), Relaxed);
        }
        self.count.fetch_add(other.count.load(Relaxed), Relaxed);
        self.sum.fetch_add(other.sum.load(Relaxed), Relaxed);
        self.max.fetch_max(other.max.load(Relaxed), Relaxed);
    }

    /// The median, the tail and the totals so far.
    #[must_use]
    pub fn quantiles(&self) -> Quantiles {
        let counts: Vec<u64> = self.buckets.iter().map(|bucket| bucket.load(Relaxed)).collect();
        let total: u64 = counts.iter().sum();
        let max = self.max.load(Relaxed);
        let at = |share: f64| {
            let wanted = (total as f64 * share).ceil() as u64;
            let mut seen = 0;
            for (bucket, count) in counts.iter().enumerate() {
                seen += count;
                if seen >= wanted && *count > 0 {
                    return upper_bound(bucket).min(max);
                }
            }
            0
        };
        let (p50, p99) = (at(0.50), at(0.99));
        Quantiles { count: total, sum: self.sum.load(Relaxed), p50, p99, max }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_its_bucket() {
        for value in (0..5_000).chain([u64::MAX, u64::MAX / 2, 1 << 40]) {
            let bucket = bucket_of(value);
            assert!(upper_bound(bucket) >= value, "{value}");
            assert!(bucket == 0 || upper_bound(bucket - 1) < value, "{value}");
        }
    }

    #[test]
    fn quantiles_are_right_to_a_quarter() {
        let histogram = Histogram::default();
        (1..=1_000).for_each(|value| histogram.record(value));
        let seen = histogram.quantiles();
        assert_eq!((seen.count, seen.sum, seen.max), (1_000, 500_500, 1_000));
        assert!((500..=640).contains(&seen.p50), "{seen:?}");
        assert!((990..=1_000).contains(&seen.p99), "{seen:?}");
    }

    #[test]
    fn two_histograms_together_are_one() {
        let (all, even, odd) = (Histogram::default(), Histogram::default(), Histogram::default());
        for value in 0..1_000 {
            all.record(value);
            if value % 2 == 0 { &even } else { &odd }.record(value);
        }
        even.absorb(&odd);
        assert_eq!(even.quantiles(), all.quantiles());
    }
}
