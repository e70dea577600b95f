//! Patterns with wildcards, compared in bounded time.
//!
//! 1. A comparison takes time that grows with the product of both lengths, whatever the pattern:
//!    only the last wildcard for any number of parts is tried again, since what those before it
//!    stand for need never grow.

/// Whether a pattern stands for a sequence: `is_any` says which of its parts stand for any number
/// of elements, none included, and `stands_for` whether one of the others stands for an element.
#[must_use]
pub fn fits<P, T>(
    pattern: &[P],
    of: &[T],
    is_any: impl Fn(&P) -> bool,
    stands_for: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut at, mut next) = (0, 0);
    // Where the last wildcard for any number stands, and where what it stands for ends so far.
    let mut back: Option<(usize, usize)> = None;
    while at < of.len() {
        match pattern.get(next) {
            Some(part) if is_any(part) => {
                back = Some((next, at));
                next += 1;
            }
            Some(part) if stands_for(part, &of[at]) => (at, next) = (at + 1, next + 1),
            _ => {
                let Some((any, end)) = back else { return false };
                back = Some((any, end + 1));
                (at, next) = (end + 1, any + 1);
            }
        }
    }
    pattern[next..].iter().all(is_any)
}

/// Whether a pattern stands for a text: `*` for any characters, `any_one`, if there is such a
/// character, for one. Characters are bytes.
#[must_use]
pub fn text_fits(pattern: &[u8], text: &[u8], any_one: Option<u8>) -> bool {
    let stands_for = |part: &u8, own: &u8| Some(*part) == any_one || part == own;
    fits(pattern, text, |part| *part == b'*', stands_for)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(pattern: &str, text: &str) -> bool {
        text_fits(pattern.as_bytes(), text.as_bytes(), Some(b'?'))
    }

    #[test]
    fn wildcards_stand_for_characters() {
        for good in ["", "*", "**"] {
            assert!(text(good, ""), "{good}");
        }
        for good in ["abc", "*", "a*", "*c", "a*c", "a?c", "???", "*b*", "**a**c", "?*", "abc*"] {
            assert!(text(good, "abc"), "{good}");
        }
        for bad in ["", "ab", "abcd", "??", "????", "*b", "b*", "a*b", "????*", "*d*"] {
            assert!(!text(bad, "abc"), "{bad}");
        }
        assert!(!text("a*a", "a") && text("a*ab", "aaab") && text("*aab", "aaab"));
        assert!(!text_fits(b"a?c", b"abc", None) && text_fits(b"a?*", b"a?c", None));
    }

    /// As the words say it: recursion, for short texts alone.
    fn plainly(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern.split_first(), text.split_first()) {
            (None, None) => true,
            (Some((b'*', rest)), _) => (0..=text.len()).any(|end| plainly(rest, &text[end..])),
            (Some((b'?', rest)), Some((_, others))) => plainly(rest, others),
            (Some((first, rest)), Some((own, others))) => first == own && plainly(rest, others),
            _ => false,
        }
    }

    #[test]
    fn every_short_pattern_stands_for_what_it_says() {
        let words = |letters: &[u8], len: u32| -> Vec<Vec<u8>> {
            let count = letters.len();
            let word = |mut number: usize| {
                (0..len)
                    .map(|_| {
                        let letter = letters[number % count];
                        number /= count;
                        letter
                    })
                    .collect()
            };
            (0..count.pow(len)).map(word).collect()
        };
        let texts: Vec<_> = (0..=4).flat_map(|len| words(b"ab", len)).collect();
        for pattern in (0..=4).flat_map(|len| words(b"ab*?", len)) {
            for text in &texts {
                let wanted = plainly(&pattern, text);
                assert_eq!(text_fits(&pattern, text, Some(b'?')), wanted, "{pattern:?} {text:?}");
            }
        }
    }

    #[test]
    fn many_wildcards_against_a_long_text_end_soon() {
        let pattern = "*a".repeat(16) + "*b";
        assert!(!text(&pattern, &"a".repeat(48)));
        assert!(text(&pattern, &("a".repeat(48) + "b")));
        let parts = vec!["**"; 20];
        let steps = std::cell::Cell::new(0_u32);
        let pattern: Vec<&str> = parts.iter().flat_map(|any| [*any, "a"]).chain(["b"]).collect();
        let stands_for = |part: &&str, own: &&str| {
            steps.set(steps.get() + 1);
            part == own
        };
        assert!(!fits(&pattern, &["a"; 48], |part| *part == "**", stands_for));
        assert!(steps.get() <= 41 * 48, "{} comparisons", steps.get());
    }
}
