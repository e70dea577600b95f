//! Days and dates of the Gregorian calendar, as it would have been always.
//!
//! 1. Days are counted from 1970-01-01, which is day 0; those before it are negative.
//! 2. Inside, years begin in March, so that a leap day is the last of its year: 400 such years, an
//!    era, have 146,097 days, and day 0 is day 719,468 of them.

/// How many seconds a day has: leap seconds are not counted.
pub const DAY_S: u64 = 86_400;

const ERA_DAYS: i64 = 146_097;
const DAYS_TO_1970: i64 = 719_468;

/// A date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    /// The year.
    pub year: i64,
    /// The month, from 1.
    pub month: i64,
    /// The day of the month, from 1.
    pub day: i64,
}

impl Date {
    /// The date of a day, counted from 1970-01-01.
    #[must_use]
    pub fn of_day(days: i64) -> Date {
        let shifted = days.saturating_add(DAYS_TO_1970);
        let (era, of_era) = (shifted.div_euclid(ERA_DAYS), shifted.rem_euclid(ERA_DAYS));
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        Date { year: year_of_era + era * 400 + i64::from(month <= 2), month, day }
    }

    /// The date of a moment, in seconds since 1970.
    #[must_use]
    pub fn of_second(seconds: u64) -> Date {
        Date::of_day((seconds / DAY_S).cast_signed())
    }

    /// The day of this date, counted from 1970-01-01. A day behind the end of its month is that
    /// many days into the next.
    #[must_use]
    pub fn to_day(self) -> i64 {
        let Date { year, month, day } = self;
        let (from_march, year) = if month > 2 { (month - 3, year) } else { (month + 9, year - 1) };
        let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let of_year = (153 * from_march + 2) / 5 + day - 1;
        let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
        era * ERA_DAYS + of_era - DAYS_TO_1970
    }

    /// The day of the year, from 1.
    #[must_use]
    pub fn day_of_year(self) -> i64 {
        self.to_day() - Date { year: self.year, month: 1, day: 1 }.to_day() + 1
    }
}

/// Whether a year has a 29th of February.
#[must_use]
pub fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// How many days a month has.
#[must_use]
pub fn days_of_month(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_follows_the_one_before_it() {
        let mut date = Date { year: 1599, month: 12, day: 31 };
        let mut of_year = 365;
        let last = Date { year: 2401, month: 1, day: 1 };
        for days in date.to_day()..=last.to_day() {
            assert_eq!(Date::of_day(days), date);
            assert_eq!((date.to_day(), date.day_of_year()), (days, of_year), "{date:?}");
            date.day += 1;
            of_year += 1;
            if date.day > days_of_month(date.year, date.month) {
                (date.day, date.month) = (1, date.month + 1);
            }
            if date.month > 12 {
                assert_eq!(of_year, if is_leap(date.year) { 367 } else { 366 });
                (date.month, date.year, of_year) = (1, date.year + 1, 1);
            }
        }
    }

    #[test]
    fn known_days_have_their_dates() {
        let date = |year, month, day| Date { year, month, day };
        for (days, wanted) in [
            (0, date(1970, 1, 1)),
            (-1, date(1969, 12, 31)),
            (-719_528, date(0, 1, 1)),
            (11_016, date(2000, 2, 29)),
            (20_453, date(2025, 12, 31)),
            (2_932_896, date(9999, 12, 31)),
        ] {
            assert_eq!((Date::of_day(days), wanted.to_day()), (wanted, days));
        }
        assert_eq!(Date::of_second(951_827_696), date(2000, 2, 29));
        assert_eq!([1900, 2000, 2023, 2024].map(is_leap), [false, true, false, true]);
        // No moment is too far away for a date.
        assert!(Date::of_second(u64::MAX).year > 500_000_000_000);
    }
}
