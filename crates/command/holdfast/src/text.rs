//! Text for people: figures, and names of strangers in messages.
//!
//! Invariants:
//! 1. A name that a stranger has chosen begins no line, drives no terminal, and turns no letters.

use std::borrow::Cow;
use std::ffi::OsString;
use std::sync::OnceLock;

pub(crate) use operations::figures::count;

/// Text of strangers, such as a user id, as part of a line: with nothing in it that would begin
/// another one, drive a terminal, or turn the order of letters.
pub(crate) fn on_one_line(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| letter.is_control() || turns(letter))
}

/// A message, whatever strangers have put into it; its own lines stay, those of names that were
/// given on the command line do not.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    match STRANGE.get() {
        Some(names) => Cow::Owned(with_names(text, names)),
        None => with_lines(text),
    }
}

fn with_lines(text: &str) -> Cow<'_, str> {
    let is_own = |letter| matches!(letter, '\n' | '\t');
    escaped(text, |letter| !is_own(letter) && (letter.is_control() || turns(letter)))
}

fn with_names(text: &str, names: &[String]) -> String {
    let put = |text: String, name: &String| text.replace(name.as_str(), &on_one_line(name));
    with_lines(&names.iter().fold(text.to_owned(), put)).into_owned()
}

/// Names of the command line that have line ends in them, the longest first.
static STRANGE: OnceLock<Vec<String>> = OnceLock::new();

/// Remembers the names that a command line gives, if any would begin a line in a message.
pub(crate) fn remember_names(words: &[OsString]) {
    let names = strange_names(words.iter().map(|word| word.to_string_lossy()));
    if !names.is_empty() {
        let _ = STRANGE.set(names);
    }
}

/// Whether the command line gives any such name.
pub(crate) fn has_strange_names() -> bool {
    STRANGE.get().is_some()
}

/// The pieces of words that have line ends: a word may be a path, an option with its value, or a
/// name that a message shows in upper case.
fn strange_names<'w>(words: impl Iterator<Item = Cow<'w, str>>) -> Vec<String> {
    let ends_lines = |piece: &&str| piece.chars().any(char::is_control) && !piece.trim().is_empty();
    let mut names = Vec::new();
    for word in words {
        for piece in word.split(['/', '=', ',', '.']).filter(ends_lines) {
            names.extend([piece.to_owned(), piece.to_uppercase()]);
        }
    }
    names.sort_by(|one, other| (other.len(), one).cmp(&(one.len(), other)));
    names.dedup();
    names
}

/// Whether a character changes the direction of what follows.
fn turns(letter: char) -> bool {
    matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn escaped(text: &str, is_bad: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_bad) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match is_bad(letter) {
            true => shown.extend(letter.escape_unicode()),
            false => shown.push(letter),
        }
    }
    shown.into()
}

/// An amount of bytes for people, to three digits.
pub(crate) fn bytes(amount: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = amount as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    match unit {
        0 => format!("{amount} B"),
        _ if value.fract() == 0.0 => format!("{value:.0} {}", UNITS[unit]),
        _ if value < 9.995 => format!("{value:.2} {}", UNITS[unit]),
        _ if value < 99.95 => format!("{value:.1} {}", UNITS[unit]),
        _ => format!("{value:.0} {}", UNITS[unit]),
    }
}

/// Microseconds for people.
pub(crate) fn microseconds(us: u64) -> String {
    match us {
        0..10_000 => format!("{us} us"),
        10_000..10_000_000 => format!("{:.1} ms", us as f64 / 1e3),
        _ => format!("{:.1} s", us as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_strangers_neither_drives_a_terminal_nor_begins_a_line() {
        assert_eq!(on_one_line("Ada O'Hara \"A\" <a@b>"), "Ada O'Hara \"A\" <a@b>");
        assert_eq!(on_one_line("x\n done\x1b[2J"), "x\\u{a} done\\u{1b}[2J");
        assert_eq!(on_one_line("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(harmless("one\n\ttwo\x1b[m\u{9b}"), "one\n\ttwo\\u{1b}[m\\u{9b}");
    }

    #[test]
    fn names_of_the_command_line_begin_no_line() {
        let words = ["--dd", "IN=/a/x\n done.dat,text", "ACC\tX", "plain"].map(Cow::from);
        let names = strange_names(words.into_iter());
        let shown = with_names("DD IN: /a/x\n done.dat: gone\n  ACC\tX, own line", &names);
        assert_eq!(shown, "DD IN: /a/x\\u{a} done.dat: gone\n  ACC\\u{9}X, own line");
        assert_eq!(strange_names([Cow::from("\n"), Cow::from("a b")].into_iter()), [""; 0]);
    }

    #[test]
    fn figures_are_written_for_people() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [12, 1_536, 64 << 20, 3 << 40].map(bytes),
            ["12 B", "1.50 KiB", "64 MiB", "3 TiB"]
        );
        assert_eq!([7, 12_345, 98_765_432].map(microseconds), ["7 us", "12.3 ms", "98.8 s"]);
    }
}
