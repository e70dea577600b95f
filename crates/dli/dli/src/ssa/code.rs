//! Command codes: what follows `*` behind a segment name, and which call takes which
//! (DLI-3 and DLI-12.22 to DLI-12.26).
//!
//! | codes | calls |
//! |---|---|
//! | A G O Q | gets |
//! | C D F L P U V | gets, ISRT |
//! | N | REPL; elsewhere it is accepted without effect (DLI-12.25) |
//! | R | DEDB only: gets, ISRT |
//! | M S W | DEDB only: gets, ISRT, REPL |
//! | Z | DEDB only: all calls |
//! | - | all calls, without effect |
//!
//! Invariants:
//! 1. [`Codes`] holds no code without effect: no null codes, and N only for REPL.

/// A command code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Code {
    /// Forget position: search from the front of the database.
    A,
    /// The value in parentheses is a concatenated key.
    C,
    /// Path call: this level is returned or inserted too.
    D,
    /// The first occurrence under the parent.
    F,
    /// Search in sequence, without the randomizer.
    G,
    /// The last occurrence under the parent.
    L,
    /// Move a subset pointer to the next segment.
    M,
    /// REPL leaves this level as it is.
    N,
    /// The qualification has position and length in place of a field name.
    O,
    /// Parentage is set here.
    P,
    /// Keep the segment locked in a class.
    Q,
    /// Start with the first segment of a subset.
    R,
    /// Set a subset pointer to this segment.
    S,
    /// Stay at the present occurrence of this level.
    U,
    /// Stay at the present occurrence of this level and of all above.
    V,
    /// Set a subset pointer if it is not set.
    W,
    /// Clear a subset pointer.
    Z,
}

/// The kind of a call, which decides what its SSAs may say. Holding a segment or not is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calling {
    /// GU, GN, GNP, GHU, GHN, GHNP.
    Get,
    /// ISRT.
    Insert,
    /// REPL.
    Replace,
    /// DLET.
    Delete,
}

impl Code {
    /// All codes in the order of their letters.
    pub const ALL: [Code; 17] = [
        Code::A,
        Code::C,
        Code::D,
        Code::F,
        Code::G,
        Code::L,
        Code::M,
        Code::N,
        Code::O,
        Code::P,
        Code::Q,
        Code::R,
        Code::S,
        Code::U,
        Code::V,
        Code::W,
        Code::Z,
    ];

    /// The code of a letter; none for `-`, which is null.
    #[must_use]
    pub const fn of(letter: u8) -> Option<Code> {
        Some(match letter {
            b'A' => Code::A,
            b'C' => Code::C,
            b'D' => Code::D,
            b'F' => Code::F,
            b'G' => Code::G,
            b'L' => Code::L,
            b'M' => Code::M,
            b'N' => Code::N,
            b'O' => Code::O,
            b'P' => Code::P,
            b'Q' => Code::Q,
            b'R' => Code::R,
            b'S' => Code::S,
            b'U' => Code::U,
            b'V' => Code::V,
            b'W' => Code::W,
            b'Z' => Code::Z,
            _ => return None,
        })
    }

    /// Its letter.
    #[must_use]
    pub const fn letter(self) -> char {
        b"ACDFGLMNOPQRSUVWZ"[self as usize] as char
    }

    /// Whether a call of that kind takes it.
    #[must_use]
    pub const fn goes_with(self, calling: Calling) -> bool {
        use Calling::{Delete, Get, Insert, Replace};
        match self {
            Code::N | Code::Z => true,
            Code::A | Code::G | Code::O | Code::Q => matches!(calling, Get),
            Code::M | Code::S | Code::W => matches!(calling, Get | Insert | Replace),
            Code::C | Code::D | Code::F | Code::L | Code::P | Code::R | Code::U | Code::V => {
                !matches!(calling, Replace | Delete)
            }
        }
    }

    /// Its place among the five codes that are followed by the number of a subset pointer.
    pub(super) const fn subset(self) -> Option<usize> {
        match self {
            Code::M => Some(0),
            Code::R => Some(1),
            Code::S => Some(2),
            Code::W => Some(3),
            Code::Z => Some(4),
            _ => None,
        }
    }
}

/// A set of command codes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Codes(u32);

impl Codes {
    /// Whether the code is among them.
    #[must_use]
    pub const fn has(self, code: Code) -> bool {
        self.0 & (1 << code as u32) != 0
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The codes in the order of their letters.
    pub fn iter(self) -> impl Iterator<Item = Code> {
        Code::ALL.into_iter().filter(move |code| self.has(*code))
    }

    pub(super) fn add(&mut self, code: Code) {
        self.0 |= 1 << code as u32;
    }

    pub(super) fn remove(&mut self, code: Code) {
        self.0 &= !(1 << code as u32);
    }
}

/// The subset pointers that the codes M, R, S, W and Z name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Subsets([u8; 5]);

impl Subsets {
    /// The numbers, 1 to 8, that stand behind a code.
    pub fn of(self, code: Code) -> impl Iterator<Item = u8> {
        let bits = code.subset().map_or(0, |at| self.0[at]);
        (1..=8).filter(move |number| bits & (1 << (number - 1)) != 0)
    }

    /// Adds a number of 1 to 8; `false` for any other number.
    pub(super) fn add(&mut self, at: usize, number: u8) -> bool {
        let known = (1..=8).contains(&number);
        if let Some(bits) = self.0.get_mut(at).filter(|_| known) {
            *bits |= 1 << (number - 1);
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_lead_to_codes_and_back() {
        for (place, code) in Code::ALL.into_iter().enumerate() {
            assert_eq!(code as usize, place);
            assert_eq!(u8::try_from(code.letter()).ok().and_then(Code::of), Some(code));
        }
        for letter in [b'-', b'B', b'a', b' ', b'(', 0, 0xFF] {
            assert_eq!(Code::of(letter), None);
        }
    }

    #[test]
    fn a_set_of_codes_and_of_subset_pointers() {
        let mut codes = Codes::default();
        assert!(codes.is_empty());
        codes.add(Code::Z);
        codes.add(Code::A);
        assert_eq!(codes.iter().collect::<Vec<_>>(), [Code::A, Code::Z]);
        codes.remove(Code::A);
        assert!(codes.has(Code::Z) && !codes.has(Code::A));
        let mut subsets = Subsets::default();
        assert!(subsets.add(2, 8) && subsets.add(2, 1) && !subsets.add(2, 9));
        assert!(!subsets.add(2, 0));
        assert_eq!(subsets.of(Code::S).collect::<Vec<_>>(), [1, 8]);
        assert_eq!(subsets.of(Code::D).count() + subsets.of(Code::R).count(), 0);
    }
}
