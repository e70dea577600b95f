//! Dates and times as displays show them: UTC, `2026-01-31` and `23.59.59`.

use base::calendar::{DAY_S, Date};

/// The date and the time of a moment, milliseconds since 1970.
pub fn date_and_time(ms: u64) -> (String, String) {
    let seconds = ms / 1000;
    let (Date { year, month, day }, of_day) = (Date::of_second(seconds), seconds % DAY_S);
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
