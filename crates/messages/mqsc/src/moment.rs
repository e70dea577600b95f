//! Dates and times as displays show them: UTC, `2026-01-31` and `23.59.59`.

/// The date and the time of a moment, milliseconds since 1970.
pub fn date_and_time(ms: u64) -> (String, String) {
    let seconds = ms / 1000;
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March here, so that a leap day is the last of its year.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let date = format!("{year:04}-{month:02}-{day:02}");
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    (date, format!("{hour:02}.{minute:02}.{second:02}"))
}

/// The same, or blanks where there was no such moment.
pub(crate) fn if_any(ms: Option<u64>) -> (String, String) {
    ms.map_or_else(Default::default, date_and_time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        let shown = |ms| {
            let (date, time) = date_and_time(ms);
            format!("{date} {time}")
        };
        assert_eq!(shown(0), "1970-01-01 00.00.00");
        assert_eq!(shown(951_782_400_000), "2000-02-29 00.00.00");
        assert_eq!(shown(1_767_225_599_999), "2025-12-31 23.59.59");
        assert_eq!(if_any(None), (String::new(), String::new()));
    }
}
