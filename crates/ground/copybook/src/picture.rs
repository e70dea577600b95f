//! PICTURE character strings: what they describe and how many characters it has.
//!
//! Invariants:
//! 1. Repetitions are counted, never written out: `X(999999)` costs no memory.
//! 2. Time grows with the string's length.

/// The category of what a picture describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// Letters and blanks: `A`.
    Alphabetic,
    /// Any characters: `X`, or mixed with `A` and `9`.
    Alphanumeric,
    /// Characters with insertions.
    AlphanumericEdited,
    /// A number.
    Numeric,
    /// A number as it is printed.
    NumericEdited,
    /// A number with an exponent, as characters.
    ExternalFloat,
    /// UTF-16: `N`.
    National,
    /// Double-byte characters: `G`.
    Dbcs,
}

/// A picture, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    /// What it describes.
    pub category: Category,
    /// Characters that it has in storage, a sign of its own not among them.
    pub characters: usize,
    /// Digits of a number that are stored.
    pub digits: usize,
    /// Digits behind the decimal point; negative if zeros are left out in front of it.
    pub scale: i32,
    /// Whether a number has a sign (`S`).
    pub signed: bool,
}

/// No item is longer.
const CHARACTERS_MAX: usize = 1 << 27;

impl Picture {
    /// Takes a picture apart.
    ///
    /// # Errors
    /// What is wrong with it, for people.
    pub fn parse(text: &str) -> Result<Picture, String> {
        let symbols = symbols(text)?;
        let count = |wanted: &[char]| -> usize {
            let those = symbols.iter().filter(|(symbol, _)| wanted.contains(symbol));
            those.map(|(_, count)| *count).fold(0, usize::saturating_add)
        };
        let all = symbols.iter().map(|(_, count)| *count).fold(0, usize::saturating_add);
        if all > CHARACTERS_MAX {
            return Err(format!("the picture {text} has more than {CHARACTERS_MAX} characters"));
        }
        let (letters, insertions) = (count(&['A', 'X']), count(&['B', '0', '/']));
        let nines = count(&['9']);
        let has = |wanted: &[char]| count(wanted) > 0;
        let edits = ['Z', '*', '+', '-', ',', '.', '$', 'c', 'd', 'B', '0', '/'];
        let wrong = || Err(format!("the picture {text} mixes what does not go together"));
        let category = if has(&['N', 'G']) {
            let both = has(&['N']) && has(&['G']);
            if both || all != count(&['N', 'G', 'B', '0', '/']) {
                return wrong();
            }
            if has(&['N']) { Category::National } else { Category::Dbcs }
        } else if letters > 0 {
            if all != letters + nines + insertions {
                return wrong();
            }
            match (insertions > 0, nines > 0 || has(&['X'])) {
                (true, true) => Category::AlphanumericEdited,
                (_, false) if !has(&['0', '/']) => Category::Alphabetic,
                (true, false) => Category::AlphanumericEdited,
                (false, _) => Category::Alphanumeric,
            }
        } else if has(&['E']) {
            Category::ExternalFloat
        } else if has(&edits) {
            Category::NumericEdited
        } else if nines > 0 && all == nines + count(&['S', 'V', 'P']) {
            Category::Numeric
        } else {
            return Err(format!("the picture {text} describes nothing"));
        };
        if count(&['S']) > 1 || count(&['V']) > 1 || count(&['S']) == 1 && symbols[0].0 != 'S' {
            return Err(format!("the picture {text} has S or V where none can stand"));
        }
        // CR and DB have two characters.
        let twice = count(&['c', 'd']);
        let characters = all - count(&['S', 'V', 'P']) + twice;
        Ok(Picture {
            category,
            characters,
            digits: nines,
            scale: scale_of(&symbols),
            signed: has(&['S']),
        })
    }
}

fn scale_of(symbols: &[(char, usize)]) -> i32 {
    let half = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    let point = symbols.iter().position(|(symbol, _)| *symbol == 'V');
    let first_nine = symbols.iter().position(|(symbol, _)| *symbol == '9');
    let scaled = symbols.iter().position(|(symbol, _)| *symbol == 'P');
    let sum = |part: &[(char, usize)]| {
        let digits = part.iter().filter(|(symbol, _)| matches!(symbol, '9' | 'P'));
        digits.map(|(_, count)| half(*count)).fold(0, i32::saturating_add)
    };
    match (point, scaled, first_nine) {
        (_, Some(scaled), Some(nine)) if scaled < nine => sum(&symbols[scaled..]),
        (_, Some(scaled), _) => half(symbols[scaled].1).saturating_neg(),
        (Some(point), _, _) => sum(&symbols[point..]),
        _ => 0,
    }
}

/// The symbols with how often each stands there; `c` for CR and `d` for DB.
fn symbols(text: &str) -> Result<Vec<(char, usize)>, String> {
    let chars: Vec<char> = text.to_ascii_uppercase().chars().collect();
    let mut out: Vec<(char, usize)> = Vec::new();
    let mut at = 0;
    while let Some(&one) = chars.get(at) {
        at += 1;
        let symbol = match one {
            'C' | 'D' => {
                let second = if one == 'C' { 'R' } else { 'B' };
                if chars.get(at) != Some(&second) {
                    return Err(format!("the picture {text} has {one} without {second}"));
                }
                at += 1;
                one.to_ascii_lowercase()
            }
            'A' | 'B' | 'E' | 'G' | 'N' | 'P' | 'S' | 'V' | 'X' | 'Z' | '9' | '0' | '/' | ','
            | '.' | '+' | '-' | '*' | '$' => one,
            // Other currency signs than the dollar's.
            '\u{a3}' | '\u{a5}' | '\u{20ac}' => '$',
            other => return Err(format!("the picture {text} has the symbol {other}")),
        };
        let mut count = 1;
        if chars.get(at) == Some(&'(') {
            let end = chars[at..].iter().position(|one| *one == ')');
            let end =
                end.ok_or_else(|| format!("the picture {text} has no closing parenthesis"))?;
            let digits: String = chars[at + 1..at + end].iter().collect();
            count = match digits.trim().parse::<usize>() {
                Ok(count) if count > 0 => count,
                _ => return Err(format!("the picture {text} repeats a symbol ({digits}) times")),
            };
            at += end + 1;
        }
        match out.last_mut() {
            Some((last, times)) if *last == symbol => *times = times.saturating_add(count),
            _ => out.push((symbol, count)),
        }
    }
    if out.is_empty() {
        return Err("the picture is empty".into());
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_have_the_category_and_size_that_the_language_gives_them() {
        use Category::{
            Alphabetic, Alphanumeric, AlphanumericEdited, Dbcs, ExternalFloat, National, Numeric,
            NumericEdited,
        };
        for (text, category, characters, digits, scale, signed) in [
            ("X(10)", Alphanumeric, 10, 0, 0, false),
            ("A(3)", Alphabetic, 3, 0, 0, false),
            ("AABAA", Alphabetic, 5, 0, 0, false),
            ("99X", Alphanumeric, 3, 2, 0, false),
            ("XXBXX/XX", AlphanumericEdited, 8, 0, 0, false),
            ("S9(13)V99", Numeric, 15, 15, 2, true),
            ("99PPP", Numeric, 2, 2, -3, false),
            ("PP99", Numeric, 2, 2, 4, false),
            ("-(12)9.99", NumericEdited, 16, 3, 0, false),
            ("$$,$$9.99CR", NumericEdited, 11, 3, 0, false),
            ("ZZ9DB", NumericEdited, 5, 1, 0, false),
            ("+9.9(4)E+99", ExternalFloat, 11, 7, 0, false),
            ("N(4)", National, 4, 0, 0, false),
            ("G(4)", Dbcs, 4, 0, 0, false),
        ] {
            let picture = Picture::parse(text).expect(text);
            let known = Picture { category, characters, digits, scale, signed };
            assert_eq!(picture, known, "{text}");
        }
        for wrong in ["", "Q", "9(", "9(0)", "XS9", "9S9", "C9", "N9", "V", "9(99999999999999)"] {
            assert!(Picture::parse(wrong).is_err(), "{wrong}");
        }
    }
}
