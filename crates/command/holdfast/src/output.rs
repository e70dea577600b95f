//! Results on standard output: text for people or JSON for programs.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write as _};
use std::sync::OnceLock;

use serde::Serialize;

use crate::advice::{typed, typed_json};
use crate::failure::Result;

/// Standard output.
pub(crate) struct Output {
    json: bool,
    /// Nothing, if nobody shall hear.
    stdout: Option<BufWriter<Stdout>>,
}

impl Output {
    pub(crate) fn new(json: bool) -> Output {
        Output { json, stdout: Some(BufWriter::new(io::stdout())) }
    }

    /// For a command that is run by another one.
    pub(crate) fn silent() -> Output {
        Output { json: false, stdout: None }
    }

    /// Whether a program reads it.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// A line of text; commands in it can be typed as they stand.
    pub(crate) fn line(&mut self, text: impl Display) -> Result<()> {
        self.raw(&harmless(&typed(&text.to_string())))
    }

    /// Text of this program's own, as it is.
    pub(crate) fn raw(&mut self, text: &str) -> Result<()> {
        match &mut self.stdout {
            Some(stdout) => Ok(writeln!(stdout, "{text}")?),
            None => Ok(()),
        }
    }

    /// A value as one line of JSON.
    pub(crate) fn value(&mut self, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string(value).map_err(io::Error::from)?;
        self.raw(&typed_json(text))
    }

    /// A value as JSON that people can read, too.
    pub(crate) fn document(&mut self, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
        self.raw(&typed_json(text))
    }

    /// A table: columns as wide as their widest cell, numbers to the right.
    pub(crate) fn table(&mut self, head: &[&str], rows: &[Vec<String>]) -> Result<()> {
        let cells = |column: usize| rows.iter().map(move |row| row[column].as_str());
        let widths: Vec<usize> = (0..head.len())
            .map(|column| {
                let widest = cells(column).map(|cell| cell.chars().count()).max().unwrap_or(0);
                widest.max(head[column].len())
            })
            .collect();
        let is_number = |cell: &str| cell.starts_with(|c: char| c.is_ascii_digit());
        let right: Vec<bool> = (0..head.len())
            .map(|column| !rows.is_empty() && cells(column).all(|c| c == "-" || is_number(c)))
            .collect();
        let line = |row: &mut dyn Iterator<Item = &str>| {
            let mut text = String::new();
            for (column, cell) in row.enumerate() {
                let width = widths[column];
                match right[column] {
                    true => text += &format!("  {cell:>width$}"),
                    false => text += &format!("  {cell:<width$}"),
                }
            }
            text.trim_end().to_owned()
        };
        self.line(line(&mut head.iter().copied()))?;
        for row in rows {
            self.line(line(&mut row.iter().map(String::as_str)))?;
        }
        Ok(())
    }

    /// Writes what has gathered.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.stdout.as_mut().map_or(Ok(()), |stdout| Ok(stdout.flush()?))
    }
}

/// Whether a person sees standard error.
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// A warning on standard error.
pub(crate) fn warn(text: impl Display) {
    say(format_args!("warning: {text}"));
}

/// A line on standard error; one that takes nothing is nobody's fault.
pub(crate) fn say(text: impl Display) {
    let _ = writeln!(io::stderr(), "{}", harmless(&typed(&text.to_string())));
}

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

/// A count for people, with signs between thousands.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Microseconds for people.
pub(crate) fn microseconds(us: u64) -> String {
    match us {
        0..10_000 => format!("{us} us"),
        10_000..10_000_000 => format!("{:.1} ms", us as f64 / 1e3),
        _ => format!("{:.1} s", us as f64 / 1e6),
    }
}

/// A moment, given in microseconds since 1970-01-01 UTC, as people write it.
pub(crate) fn utc(us: u64) -> String {
    let (days, second) = (us / 86_400_000_000, us / 1_000_000 % 86_400);
    // Days of the civil calendar, counted in years that begin in March.
    let z = days + 719_468;
    let (era, day_of_era) = (z / 146_097, z % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{:02} UTC", second % 60)
}

/// The moment that people write as `2026-03-01 12:00:00`, in UTC, in microseconds since 1970. A `T`
/// may stand between, a `Z` or `UTC` behind, and a fraction of the second.
pub(crate) fn moment_of(text: &str) -> Option<u64> {
    let text = text.trim().trim_end_matches("UTC").trim_end_matches('Z').trim_end();
    let (date, time) = text.split_once(['T', ' '])?;
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if digits { text.parse::<u64>().ok() } else { None }
    };
    let mut parts = date.split('-').map(number);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let (time, fraction) = time.trim().split_once('.').unwrap_or((time.trim(), ""));
    let mut clock = time.split(':').map(number);
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next().unwrap_or(Some(0))?);
    let sound = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_of(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60
        && fraction.len() <= 6
        && parts.next().is_none()
        && clock.next().is_none();
    if !sound {
        return None;
    }
    let micros = if fraction.is_empty() { 0 } else { number(&format!("{fraction:0<6}"))? };
    // Days of the civil calendar, counted in years that begin in March.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year / 400, year % 400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let days =
        era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = days.checked_sub(719_468)?;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000_000 + micros)
}

/// How many days a month has.
fn days_of(year: u64, month: u64) -> u64 {
    let is_leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    match month {
        2 => 28 + u64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
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

    #[test]
    fn what_people_write_is_the_moment_that_is_shown() {
        for us in [0, 951_827_696_000_000, 1_798_761_599_000_000, 4_102_444_800_000_000] {
            assert_eq!(moment_of(&utc(us)), Some(us), "{}", utc(us));
        }
        assert_eq!(moment_of("1970-01-01T00:00:01.5Z"), Some(1_500_000));
        assert!(moment_of("2024-02-29 00:00:00").is_some(), "a leap year");
        let no_days = ["2026-02-30 00:00:00", "2026-02-29 00:00:00", "2100-02-29 00:00:00"];
        let others = ["", "now", "2026-13-01 00:00:00", "2026-01-01", "2026-01-01 24:00:00"];
        for wrong in no_days.into_iter().chain(others) {
            assert_eq!(moment_of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn moments_are_dates() {
        assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(951_827_696_000_000), "2000-02-29 12:34:56 UTC");
        assert_eq!(utc(1_798_761_599_999_999), "2026-12-31 23:59:59 UTC");
    }
}
