//! Moments as people write them, in UTC.

use base::calendar::{DAY_S, Date, days_of_month};

/// A moment, given in microseconds since 1970-01-01 UTC, as people write it.
#[must_use]
pub fn utc(us: u64) -> String {
    let Date { year, month, day } = Date::of_second(us / 1_000_000);
    let second = us / 1_000_000 % DAY_S;
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{:02} UTC", second % 60)
}

/// The moment that people write as `2026-03-01 12:00:00`, in UTC, in microseconds since 1970. A `T`
/// may stand between, a `Z` or `UTC` behind, and a fraction of the second.
#[must_use]
pub fn moment_of(text: &str) -> Option<u64> {
    let text = text.trim().trim_end_matches("UTC").trim_end_matches('Z').trim_end();
    let (date, time) = text.split_once(['T', ' '])?;
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if digits { text.parse::<u64>().ok() } else { None }
    };
    let mut parts = date.split('-').map(number);
    let mut part = || parts.next()??.try_into().ok();
    let (year, month, day): (i64, i64, i64) = (part()?, part()?, part()?);
    let (time, fraction) = time.trim().split_once('.').unwrap_or((time.trim(), ""));
    let mut clock = time.split(':').map(number);
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next().unwrap_or(Some(0))?);
    let sound = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_of_month(year, month)).contains(&day)
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
    let days = u64::try_from(Date { year, month, day }.to_day()).ok()?;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000_000 + micros)
}

#[cfg(test)]
mod tests {
    use super::*;

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
