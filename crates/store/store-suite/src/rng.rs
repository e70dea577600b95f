//! Seeded chance for the checks: the same seed gives the same calls.

/// Chance from a seed.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Rng {
        Rng(base::hash::avalanche(seed.wrapping_add(0x5eed)))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        base::hash::avalanche(self.0)
    }

    /// A number below `bound`, which is not zero.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// True once in `among` times.
    pub(crate) fn once_in(&mut self, among: usize) -> bool {
        self.below(among) == 0
    }
}
