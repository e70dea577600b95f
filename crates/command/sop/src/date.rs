//! Dates as the specification writes them: ISO 8601, in UTC.
//!
//! | text                        | means                                    |
//! |-----------------------------|------------------------------------------|
//! | `-`                         | no bound                                 |
//! | `now`                       | the time at which the command started    |
//! | `2026-03-01`                | the first, or the last, second of the day |
//! | `2026-03-01T12:00:00Z`      | that second; `-` and `:` may be left out, and an offset stand for `Z` |
//!
//! 1. What is no date is an error, never a bound that means nothing.

use std::str::FromStr;

use base::calendar::{Date, days_of_month};

/// Seconds of a day.
const DAY_S: i64 = 86_400;

/// A moment, or none; what a date without a time means is said when it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Unbounded,
    Now,
    Day(i64),
    Second(i64),
}

impl Moment {
    /// The earliest second that is meant.
    pub(crate) fn earliest(self, now: i64) -> i64 {
        match self {
            Moment::Unbounded => i64::MIN,
            Moment::Now => now,
            Moment::Day(second) | Moment::Second(second) => second,
        }
    }

    /// The latest second that is meant.
    pub(crate) fn latest(self, now: i64) -> i64 {
        match self {
            Moment::Unbounded => i64::MAX,
            Moment::Now => now,
            Moment::Day(second) => second + DAY_S - 1,
            Moment::Second(second) => second,
        }
    }
}

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Moment, String> {
        match text {
            "-" => return Ok(Moment::Unbounded),
            "now" => return Ok(Moment::Now),
            _ => {}
        }
        let found = match text.split_once(['T', 't']) {
            None => day(text).map(|day| Moment::Day(day * DAY_S)),
            Some((date, time)) => day(date)
                .and_then(|day| second_of_day(time).map(|second| day * DAY_S + second))
                .map(Moment::Second),
        };
        let wrong = "a date is written as 2026-03-01T12:00:00Z or 2026-03-01";
        found.ok_or_else(|| wrong.to_owned())
    }
}

/// Two, or four, digits.
fn number(text: &str, digits: usize, from: i64, to: i64) -> Option<i64> {
    let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    let value = text.parse().ok().filter(|_| is_number)?;
    (from..=to).contains(&value).then_some(value)
}

/// Days since 1970-01-01.
fn day(text: &str) -> Option<i64> {
    if !text.is_ascii() {
        return None;
    }
    let digits = match text.len() {
        10 if &text[4..5] == "-" && &text[7..8] == "-" => text.replace('-', ""),
        8 => text.to_owned(),
        _ => return None,
    };
    let year = number(digits.get(..4)?, 4, 1970, 9999)?;
    let month = number(digits.get(4..6)?, 2, 1, 12)?;
    let day = number(digits.get(6..8)?, 2, 1, days_of_month(year, month))?;
    Some(Date { year, month, day }.to_day())
}

/// A time of the day, with the distance from UTC taken off.
fn second_of_day(text: &str) -> Option<i64> {
    let (clock, offset) = match text.find(['Z', 'z', '+', '-']) {
        None => (text, 0),
        Some(at) => {
            let (clock, zone) = text.split_at(at);
            let sign = if zone.starts_with('-') { -1 } else { 1 };
            let zone = zone[1..].replace(':', "");
            let offset = match zone.len() {
                0 => 0,
                2 => number(&zone, 2, 0, 23)? * 3600,
                4 => number(zone.get(..2)?, 2, 0, 23)? * 3600 + number(&zone[2..], 2, 0, 59)? * 60,
                _ => return None,
            };
            let is_utc = text[at..].starts_with(['Z', 'z']);
            if is_utc != zone.is_empty() {
                return None;
            }
            (clock, sign * offset)
        }
    };
    let digits = clock.replace(':', "");
    let part = |at: usize, to: i64| match digits.get(at..at + 2) {
        Some(text) => number(text, 2, 0, to),
        None => (digits.len() == at).then_some(0),
    };
    if digits.len() > 6 || digits.len() < 2 || !digits.is_ascii() {
        return None;
    }
    let second = if digits.len() == 6 { part(4, 60)? } else { 0 };
    let minute = if digits.len() >= 4 { part(2, 59)? } else { part(2, 0)? };
    Some(part(0, 23)? * 3600 + minute * 60 + second - offset)
}

/// A moment as the specification writes it.
pub(crate) fn written(second: i64) -> String {
    let (days, second) = (second.div_euclid(DAY_S), second.rem_euclid(DAY_S));
    let Date { year, month, day } = Date::of_day(days);
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}Z", second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_every_form_and_written_in_one() {
        let second = |text: &str| text.parse::<Moment>().unwrap().earliest(0);
        for text in [
            "2024-02-29T23:30:05Z",
            "20240229T233005Z",
            "2024-02-29T23:30:05",
            "2024-03-01T01:00:05+01:30",
            "20240229T183005-0500",
        ] {
            assert_eq!(written(second(text)), "2024-02-29T23:30:05Z", "{text}");
        }
        assert_eq!(second("1970-01-01"), 0);
        assert_eq!("1970-01-01".parse::<Moment>().unwrap().latest(0), 86_399);
        assert_eq!(second("2024-01-01T10"), second("2024-01-01T10:00:00Z"));
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "yesterday",
            "2024",
            "2023-02-29",
            "2024-13-01",
            "2024-1-1",
            "2024-01-01T",
            "2024-01-01T25:00:00Z",
            "2024-01-01T10:00:00X",
            "2024-01-01T10:00:00+",
            "é",
            "2024-01-01T10:00:00Z1",
            "2024-01-01T1",
            "2024-01-01T100",
            "99999-01-01",
        ] {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
    }
}
