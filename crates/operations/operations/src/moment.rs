//! Moments as people write them, in UTC.

/// A moment, given in microseconds since 1970-01-01 UTC, as people write it.
#[must_use]
pub fn utc(us: u64) -> String {
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
#[must_use]
pub fn moment_of(text: &str) -> Option<u64> {
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
