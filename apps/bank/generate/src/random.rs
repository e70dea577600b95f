//! Numbers that look drawn and are the same on every machine.
//!
//! 1. Two generators of the same seed and stream give the same numbers.

/// A generator: a counter and a mixing function (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    /// The generator number `stream` of `seed`.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut random = Self { state: seed };
        random.state = random.next() ^ stream;
        // Mixed once more: else the next stream's numbers would be this one's, one step on.
        random.state = random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(Self::STEP);
        let mut value = self.state;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    /// A number from 0 to below `limit`; 0 if that is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        // The high half of the product: even enough for numbers far smaller than 2^64.
        let product = u128::from(self.next()) * u128::from(limit);
        (product >> 64) as u64
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// Whether something happens that does so in `per_thousand` of 1,000 cases.
    pub fn chance(&mut self, per_thousand: u64) -> bool {
        self.below(1_000) < per_thousand
    }

    /// One of them.
    ///
    /// # Panics
    /// If there are none.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_have_nothing_in_common() {
        let numbers = |stream| {
            let mut random = Random::new(1, stream);
            (0..100).map(|_| random.next()).collect::<Vec<_>>()
        };
        let (first, second) = (numbers(1), numbers(2));
        assert_eq!(first, numbers(1));
        assert!(first.iter().all(|number| !second.contains(number)));
    }

    #[test]
    fn numbers_stay_in_their_range() {
        let mut random = Random::new(3, 0);
        let drawn: Vec<_> = (0..1_000).map(|_| random.between(5, 7)).collect();
        assert!([5, 6, 7].iter().all(|number| drawn.contains(number)));
        assert!(drawn.iter().all(|number| (5..=7).contains(number)));
        assert_eq!(random.below(0), 0);
    }
}
