//! Enough of Rust's lexical rules to tell code from comments and strings, line by line.
//!
//! It is no parser. It knows line and block comments, plain, byte and raw strings and character
//! literals, which is what a check of words needs so as not to stumble over a text that only
//! talks about them.

/// The lines of a Rust source with comments and the contents of strings blanked out.
#[must_use]
pub fn code_lines(text: &str) -> Vec<String> {
    let mut state = State::Code;
    text.lines().map(|line| blank(line, &mut state)).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Code,
    /// Inside so many block comments.
    Comment(u32),
    Text,
    /// Inside a raw string that ends with so many `#`.
    Raw(usize),
}

fn blank(line: &str, state: &mut State) -> String {
    let chars: Vec<char> = line.chars().collect();
    let mut out = String::with_capacity(line.len());
    let mut at = 0;
    while at < chars.len() {
        let (keep, step) = match *state {
            State::Code => code(&chars, at, state),
            State::Comment(depth) => (false, comment(&chars, at, depth, state)),
            State::Text => (false, text(&chars, at, state)),
            State::Raw(hashes) => (false, raw(&chars, at, hashes, state)),
        };
        if step == 0 {
            break;
        }
        for offset in 0..step {
            out.push(if keep { chars.get(at + offset).copied().unwrap_or(' ') } else { ' ' });
        }
        at += step;
    }
    out
}

/// One step through code: whether it is kept and how far it goes; 0 ends the line.
fn code(chars: &[char], at: usize, state: &mut State) -> (bool, usize) {
    let starts = |word: &str| word.chars().enumerate().all(|(i, c)| chars.get(at + i) == Some(&c));
    if starts("//") {
        return (false, 0);
    }
    if starts("/*") {
        *state = State::Comment(1);
        return (false, 2);
    }
    let in_name = at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_');
    if chars[at] == 'r' && (!in_name || chars[at - 1] == 'b') {
        let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
        if chars.get(at + 1 + hashes) == Some(&'"') {
            *state = State::Raw(hashes);
            return (false, 2 + hashes);
        }
    }
    match chars[at] {
        '"' => {
            *state = State::Text;
            (false, 1)
        }
        // A character, not a lifetime: `'\...'` or `'x'`.
        '\'' if chars.get(at + 1) == Some(&'\\') => {
            let rest = chars[at + 3..].iter().position(|c| *c == '\'');
            (false, rest.map_or(1, |len| len + 4))
        }
        '\'' if chars.get(at + 2) == Some(&'\'') => (false, 3),
        _ => (true, 1),
    }
}

fn comment(chars: &[char], at: usize, depth: u32, state: &mut State) -> usize {
    match (chars[at], chars.get(at + 1)) {
        ('*', Some('/')) => {
            *state = if depth == 1 { State::Code } else { State::Comment(depth - 1) };
            2
        }
        ('/', Some('*')) => {
            *state = State::Comment(depth + 1);
            2
        }
        _ => 1,
    }
}

fn text(chars: &[char], at: usize, state: &mut State) -> usize {
    match chars[at] {
        '\\' => 2,
        '"' => {
            *state = State::Code;
            1
        }
        _ => 1,
    }
}

fn raw(chars: &[char], at: usize, hashes: usize, state: &mut State) -> usize {
    let ends = chars[at] == '"' && (1..=hashes).all(|i| chars.get(at + i) == Some(&'#'));
    if ends {
        *state = State::Code;
        return 1 + hashes;
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> Vec<String> {
        code_lines(source)
            .iter()
            .flat_map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
            .collect()
    }

    #[test]
    fn comments_and_strings_are_not_code() {
        assert_eq!(words("a // b\nc /* d\n e /* f */ g */ h"), ["a", "c", "h"]);
        assert_eq!(words(r#"a "b \" c" d"#), ["a", "d"]);
        assert_eq!(words("a r#\"b \" c\"# d\nbr\"x y\" z"), ["a", "d", "b", "z"]);
        assert_eq!(words("a \"b\n c\" d"), ["a", "d"]);
    }

    #[test]
    fn characters_are_not_lifetimes() {
        assert_eq!(words(r#"'"' a '\'' b '\u{7f}' c"#), ["a", "b", "c"]);
        assert_eq!(words("fn f<'a>(x: &'a str) {}"), ["fn", "f<'a>(x:", "&'a", "str)", "{}"]);
    }
}
