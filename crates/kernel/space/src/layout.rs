//! Where the maps of a data set lie, by arithmetic alone.

use base::CiNumber;

use crate::header::HEADER_BYTES;

/// The root of the tree in every data set.
pub const ROOT: CiNumber = CiNumber(4);

/// Entries of a map begin here.
pub(crate) const ENTRIES_AT: usize = HEADER_BYTES + 16;

/// How many intervals one map describes, and what follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapLayout {
    /// K: a multiple of 8.
    per_map: u32,
}

/// The map entry that holds an interval's freshness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guardian {
    /// The map interval.
    pub map: CiNumber,
    /// The entry within it.
    pub index: u32,
}

impl MapLayout {
    /// The layout for intervals with that many usable bytes: eight bytes of freshness and one bit
    /// of use for each interval described.
    #[must_use]
    pub fn new(usable_bytes: usize) -> MapLayout {
        let per_map = (usable_bytes - ENTRIES_AT) * 8 / 65 / 8 * 8;
        MapLayout { per_map: per_map as u32 }
    }

    /// K.
    #[must_use]
    pub fn per_map(self) -> u32 {
        self.per_map
    }

    /// How many intervals a data set can have.
    #[must_use]
    pub fn intervals_max(self) -> u32 {
        u32::try_from(u64::from(self.per_map).pow(3)).unwrap_or(u32::MAX)
    }

    /// The level of the map that lies there; `None` for every other interval.
    #[must_use]
    pub fn map_level(self, ci: CiNumber) -> Option<u8> {
        let (block, place) = (ci.0 / self.per_map, ci.0 % self.per_map);
        match place {
            1 => Some(1),
            2 if block.is_multiple_of(self.per_map) => Some(2),
            3 if block == 0 => Some(3),
            _ => None,
        }
    }

    /// Whether the interval belongs to the data set itself and is never given to its user.
    #[must_use]
    pub fn is_reserved(self, ci: CiNumber) -> bool {
        ci.0 == 0 || ci == ROOT || self.map_level(ci).is_some()
    }

    /// Where an interval's freshness stands; `None` for the top, which the checkpoint holds.
    #[must_use]
    pub fn guardian(self, ci: CiNumber) -> Option<Guardian> {
        let (block, place) = (ci.0 / self.per_map, ci.0 % self.per_map);
        match self.map_level(ci) {
            Some(3) => None,
            Some(2) => Some(Guardian { map: CiNumber(3), index: block / self.per_map }),
            Some(1) => {
                let map = block / self.per_map * self.per_map * self.per_map + 2;
                Some(Guardian { map: CiNumber(map), index: block % self.per_map })
            }
            _ => Some(Guardian { map: self.map1_of(ci), index: place }),
        }
    }

    /// The level-1 map of an interval's block.
    #[must_use]
    pub fn map1_of(self, ci: CiNumber) -> CiNumber {
        CiNumber(ci.0 / self.per_map * self.per_map + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chain_of_guardians_ends_at_the_top() {
        for usable in [4048, 8144, 32_720] {
            let layout = MapLayout::new(usable);
            assert_eq!(layout.per_map() % 8, 0);
            let k = layout.per_map() as usize;
            assert!(ENTRIES_AT + k * 8 + k / 8 <= usable);
            let probes = (0..3 * layout.per_map()).chain([k as u32 * k as u32 + 2, 9_999_999]);
            for ci in probes.map(CiNumber) {
                let mut at = ci;
                let mut steps = 0;
                while let Some(guardian) = layout.guardian(at) {
                    assert!(guardian.index < layout.per_map());
                    let level = layout.map_level(guardian.map).unwrap();
                    assert!(level > layout.map_level(at).unwrap_or(0), "{ci}: upwards only");
                    at = guardian.map;
                    steps += 1;
                }
                assert_eq!(at, CiNumber(3));
                assert!(steps <= 3);
            }
        }
    }

    #[test]
    fn no_two_intervals_share_an_entry() {
        let layout = MapLayout::new(4048);
        let mut seen = std::collections::BTreeSet::new();
        for ci in (0..3 * layout.per_map()).map(CiNumber) {
            if let Some(guardian) = layout.guardian(ci) {
                assert!(seen.insert((guardian.map.0, guardian.index)), "{ci}");
            }
        }
    }
}
