//! Processing options: what a program may do with a database or a segment (`PROCOPT=`).
//!
//! Invariants:
//! 1. The text is what the source says, for the PCB shows it (DLI-12.37); what a
//!    program may really do is the set, which resolving may reduce.
//! 2. A parsed value has letters of the alphabet only, and each at most once.

use std::fmt;

/// All letters, in the order of their bits.
const LETTERS: &[u8; 13] = b"GIRDAPONTELSK";
/// `H` is for DEDBs: high speed sequential processing.
const HSSP: u16 = 1 << 13;

/// `PROCOPT=`: up to four letters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ProcessingOptions {
    text: [u8; 4],
    bits: u16,
}

/// Why letters are no processing options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionError {
    /// None, or more than four.
    Length,
    /// This is none of the letters.
    Letter(char),
    /// This letter stands twice.
    Twice(char),
    /// These do not go together; the reason.
    Combination(&'static str),
}

impl ProcessingOptions {
    /// The options of that text, checked by letter and combination (DLI-12.38).
    ///
    /// # Errors
    /// If a letter is unknown or stands twice, or letters exclude each other.
    pub fn parse(text: &str) -> Result<ProcessingOptions, OptionError> {
        let options = ProcessingOptions::of_letters(text)?;
        options.combination().map_or(Ok(options), |why| Err(OptionError::Combination(why)))
    }

    fn of_letters(text: &str) -> Result<ProcessingOptions, OptionError> {
        if text.is_empty() || text.len() > 4 {
            return Err(OptionError::Length);
        }
        let mut options = ProcessingOptions { text: *b"    ", bits: 0 };
        for (at, letter) in text.chars().enumerate() {
            let bit = bit_of(letter).ok_or(OptionError::Letter(letter))?;
            if options.bits & bit != 0 {
                return Err(OptionError::Twice(letter));
            }
            options.bits |= bit;
            // A letter of the alphabet is one byte.
            options.text[at] = letter as u8;
        }
        Ok(options)
    }

    fn combination(self) -> Option<&'static str> {
        let only = |allowed: &str| {
            let mask = allowed.chars().filter_map(bit_of).fold(0, |all, bit| all | bit);
            self.bits & !mask == 0
        };
        if self.has('L') && !only("LS") {
            return Some("L (load) stands alone or as LS");
        }
        if self.has('S') && !only("LS") && !only("GSP") {
            return Some("S stands behind L or G only");
        }
        if self.has('K') && !only("K") {
            return Some("K (key only) stands alone");
        }
        if (self.has('N') || self.has('T')) && !self.has('O') {
            return Some("N and T say how O handles inconsistent data, so they need O");
        }
        if self.has('N') && self.has('T') {
            return Some("N and T exclude each other");
        }
        if self.has('O') && !only("GONTP") {
            return Some("O (no locks) goes with G only, for it may not change data");
        }
        if !['G', 'I', 'R', 'D', 'A', 'L', 'K'].into_iter().any(|letter| self.has(letter)) {
            return Some("none of G, I, R, D, A, L, K says what may be done");
        }
        None
    }

    /// Whether the letter is there, A standing for G, I, R and D as well.
    #[must_use]
    pub fn allows(self, letter: char) -> bool {
        match letter {
            // R and D include reading, I does not (DLI-12.37).
            'G' => ['G', 'R', 'D', 'A'].into_iter().any(|one| self.has(one)),
            'I' | 'R' | 'D' => self.has('A') || self.has(letter),
            _ => self.has(letter),
        }
    }

    /// Whether the letter itself is there.
    #[must_use]
    pub fn has(self, letter: char) -> bool {
        bit_of(letter).is_some_and(|bit| self.bits & bit != 0)
    }

    /// Whether it is for loading: L or LS.
    #[must_use]
    pub fn is_load(self) -> bool {
        self.has('L')
    }

    /// The four characters that the PCB shows.
    #[must_use]
    pub fn shown(&self) -> &[u8; 4] {
        &self.text
    }

    /// The letters without blanks.
    #[must_use]
    pub fn text(&self) -> &str {
        let len = self.text.iter().position(|byte| *byte == b' ').unwrap_or(4);
        std::str::from_utf8(&self.text[..len]).unwrap_or("")
    }

    /// The same text with other letters in effect: how resolving reduces options.
    #[must_use]
    pub fn reduced_to(self, letters: &str) -> ProcessingOptions {
        let bits = letters.chars().filter_map(bit_of).fold(0, |all, bit| all | bit);
        ProcessingOptions { text: self.text, bits }
    }

    /// The letters in effect, in the order G I R D A P O N T E L S K H.
    #[must_use]
    pub fn in_effect(self) -> String {
        let letters = LETTERS.iter().map(|letter| char::from(*letter)).chain(['H']);
        letters.filter(|letter| self.has(*letter)).collect()
    }
}

impl Default for ProcessingOptions {
    /// `PROCOPT=A`.
    fn default() -> ProcessingOptions {
        ProcessingOptions { text: *b"A   ", bits: 1 << 4 }
    }
}

impl fmt::Display for ProcessingOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

impl fmt::Debug for ProcessingOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.text(), self.in_effect())
    }
}

fn bit_of(letter: char) -> Option<u16> {
    if letter == 'H' {
        return Some(HSSP);
    }
    LETTERS.iter().position(|one| char::from(*one) == letter).map(|at| 1 << at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_combinations() {
        for text in ["A", "G", "GO", "GOT", "GON", "GOTP", "GONP", "AP", "GRP", "L", "LS", "K"] {
            assert_eq!(ProcessingOptions::parse(text).unwrap().text(), text);
        }
        for text in ["GS", "GIRD", "AE", "GH", "I", "R", "DP"] {
            assert!(ProcessingOptions::parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn bad_ones() {
        use OptionError::{Combination, Length, Letter, Twice};
        assert_eq!(ProcessingOptions::parse(""), Err(Length));
        assert_eq!(ProcessingOptions::parse("GIRDP"), Err(Length));
        assert_eq!(ProcessingOptions::parse("GX"), Err(Letter('X')));
        assert_eq!(ProcessingOptions::parse("GG"), Err(Twice('G')));
        for text in ["LG", "AS", "GK", "GN", "GONT", "AO", "P", "E", "LP"] {
            let found = ProcessingOptions::parse(text);
            assert!(matches!(found, Err(Combination(_))), "{text}: {found:?}");
        }
    }

    #[test]
    fn a_letter_may_include_others() {
        let all = ProcessingOptions::default();
        assert!(all.allows('G') && all.allows('D') && !all.allows('P'));
        let insert = ProcessingOptions::parse("I").unwrap();
        assert!(!insert.allows('G') && insert.allows('I'));
        let reduced = all.reduced_to("GRD");
        assert_eq!((reduced.text(), reduced.in_effect()), ("A", "GRD".to_owned()));
        assert!(!reduced.allows('I'));
    }
}
