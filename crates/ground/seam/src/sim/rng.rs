//! The simulator's dice: a small generator that gives the same numbers for the same seed forever.
//!
//! xoshiro256++ seeded through splitmix64. Not for keys: the kernel's own randomness comes from
//! [`crate::entropy::Entropy`], which the simulator serves from a stream of its own.

/// A seeded stream of numbers.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

/// One step of splitmix64: advances `state` and returns a well-mixed word.
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *state;
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

impl Rng {
    /// The stream of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Rng {
        let mut mix = seed;
        Rng { state: std::array::from_fn(|_| splitmix(&mut mix)) }
    }

    /// A stream of its own for one purpose, so that draws for one never shift those for another.
    #[must_use]
    pub fn stream(seed: u64, purpose: &str) -> Rng {
        Rng::new(seed ^ base::hash::bytes(purpose.as_bytes()))
    }

    /// The next word.
    #[inline]
    pub fn word(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let word = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        word
    }

    /// A number below `bound`, which is not zero.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0);
        ((u128::from(self.word()) * u128::from(bound)) >> 64) as u64
    }

    /// An index into something of `len` elements, which is not empty.
    #[inline]
    pub fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// A number of a range, both ends included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True once in `times` on average.
    #[inline]
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// True `per_mille` times in a thousand on average.
    #[inline]
    pub fn chance(&mut self, per_mille: u32) -> bool {
        self.below(1_000) < u64::from(per_mille)
    }

    /// Fills `bytes`.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.word().to_le_bytes()[..chunk.len()]);
        }
    }

    /// Puts the elements into a random order.
    pub fn shuffle<T>(&mut self, elements: &mut [T]) {
        for last in (1..elements.len()).rev() {
            elements.swap(last, self.index(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers_and_another_seed_others() {
        let (mut one, mut two, mut other) = (Rng::new(7), Rng::new(7), Rng::new(8));
        let words: Vec<u64> = (0..64).map(|_| one.word()).collect();
        assert!(words.iter().all(|word| *word == two.word()));
        assert!(words.iter().any(|word| *word != other.word()));
    }

    #[test]
    fn numbers_below_a_bound_reach_every_value() {
        let mut rng = Rng::new(1);
        let mut seen = [false; 6];
        (0..200).for_each(|_| seen[rng.index(6)] = true);
        assert_eq!(seen, [true; 6]);
        assert!((0..200).all(|_| (3..=5).contains(&rng.between(3, 5))));
    }
}
