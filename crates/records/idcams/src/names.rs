//! Names of data sets in statements: masks, generations, catalogs, days.

use base::calendar::Date;
use store::Store;
use vsam::{Catalog, DataSetName, Entry, Filter};

use crate::fault::Fault;
use crate::refusal::Refusal;
use crate::syntax::{Parameters, Value};

/// A name of a data set; a password behind `/` counts for nothing.
pub(crate) fn name_of(value: &Value) -> Result<DataSetName, Refusal> {
    let text = value.name();
    let name = text.split_once('/').map_or(text.as_str(), |(name, _)| name);
    DataSetName::parse(name)
        .map_err(|error| Refusal::from(Fault::new("IDC3203I", value.place, error.to_string())))
}

/// A filter of names: one name, or a mask.
pub(crate) fn filter_of(value: &Value) -> Result<Filter, Refusal> {
    let text = value.name();
    let name = text.split_once('/').map_or(text.as_str(), |(name, _)| name);
    Filter::parse(name)
        .map_err(|error| Refusal::from(Fault::new("IDC3203I", value.place, error.to_string())))
}

/// All names of a level: what begins with it, the level itself not.
pub(crate) fn level_of(value: &Value) -> Result<Filter, Refusal> {
    let text = value.name();
    Filter::parse(&format!("{text}.**"))
        .map_err(|error| Refusal::from(Fault::new("IDC3203I", value.place, error.to_string())))
}

/// The catalog that a command names.
pub(crate) fn catalog_of(parameters: &Parameters) -> Result<Option<DataSetName>, Refusal> {
    parameters.value("CATALOG").map(name_of).transpose()
}

/// What stands behind a name: `GROUP(+1)`, `GROUP(0)`, `GROUP(-2)`.
fn relative(text: &str) -> Option<(&str, i32)> {
    let (group, rest) = text.split_once('(')?;
    let number = rest.strip_suffix(')')?;
    number.parse::<i32>().ok().map(|number| (group, number))
}

/// The name that a value stands for: of a generation that of its data set.
pub(crate) fn resolved<S: Store>(
    catalog: &Catalog<S>,
    value: &Value,
) -> Result<DataSetName, Refusal> {
    match relative(&value.name()) {
        Some((group, number)) => Ok(catalog.generation(&DataSetName::parse(group)?, number)?),
        None => name_of(value),
    }
}

/// The entry of that name: in the catalog that is given, or in that which its name picks.
pub(crate) fn entry_in<S: Store>(
    catalog: &Catalog<S>,
    given: Option<&DataSetName>,
    name: &DataSetName,
) -> Result<Entry, Refusal> {
    let found = match given {
        Some(_) => catalog.get_in(given, name)?,
        None => catalog.get(name)?,
    };
    found.ok_or_else(|| Refusal::severe("IDC3012I", format!("ENTRY {name} NOT FOUND")))
}

/// The same without following an alias.
pub(crate) fn itself_in<S: Store>(
    catalog: &Catalog<S>,
    given: Option<&DataSetName>,
    name: &DataSetName,
) -> Result<Entry, Refusal> {
    let mut all = catalog.list(&Filter::one(name), given)?;
    let followed = catalog.get(name)?;
    let picked = followed.as_ref().and_then(|entry| entry.catalog.clone());
    let at = all.iter().position(|entry| entry.catalog == picked).unwrap_or(0);
    match (all.is_empty(), followed) {
        (false, _) => Ok(all.swap_remove(at)),
        // A component.
        (true, Some(entry)) if given.is_none() => Ok(entry),
        (true, _) => Err(Refusal::severe("IDC3012I", format!("ENTRY {name} NOT FOUND"))),
    }
}

/// A day as `yyyyddd`, which `TO(yyddd)`, `TO(yyyyddd)` or `FOR(days)` say.
pub(crate) fn expiry_of(parameters: &Parameters, now_us: u64) -> Result<Option<u32>, Refusal> {
    if let Some(value) = parameters.value("TO") {
        let text = value.name().replace(['.', '/'], "");
        let wrong = || {
            let text = format!("TO is a day: yyddd or yyyyddd, not {text}");
            Refusal::from(Fault::new("IDC3203I", value.place, text))
        };
        let number: u32 = text.parse().map_err(|_| wrong())?;
        let day = match text.len() {
            5 if number / 1000 < 50 => 2_000_000 + number,
            5 => 1_900_000 + number,
            7 => number,
            _ => return Err(wrong()),
        };
        if !(1..=366).contains(&(day % 1000)) {
            return Err(wrong());
        }
        return Ok(Some(day));
    }
    let days = parameters.small("FOR")?;
    Ok(days.map(|days| day_of(now_us.saturating_add(u64::from(days) * DAY_US))))
}

const DAY_US: u64 = 86_400_000_000;
/// The last day that `yyyyddd` has room for.
const LAST_DATE: Date = Date { year: 9999, month: 12, day: 31 };

/// The day of a moment, `yyyyddd`, UTC.
pub(crate) fn day_of(us: u64) -> u32 {
    let date = Date::of_second(us / 1_000_000).min(LAST_DATE);
    u32::try_from(date.year * 1000 + date.day_of_year()).unwrap_or(u32::MAX)
}

/// A day as LISTCAT shows it.
pub(crate) fn shown_day(day: u32) -> String {
    format!("{:04}.{:03}", day / 1000, day % 1000)
}

/// A moment, for people: day and time of day, UTC.
pub(crate) fn shown_moment(us: u64) -> String {
    let seconds = us % DAY_US / 1_000_000;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{} AT {hour:02}:{minute:02}:{second:02} UTC", shown_day(day_of(us)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_from_the_years_begin() {
        assert_eq!(day_of(0), 1_970_001);
        assert_eq!(day_of(951_782_400_000_000), 2_000_060);
        assert_eq!(day_of(1_735_603_200_000_000), 2_024_366);
        assert_eq!(day_of(u64::MAX), day_of(u64::MAX));
        assert_eq!(shown_moment(951_782_461_000_000), "2000.060 AT 00:01:01 UTC");
        assert_eq!(relative("A.B(+1)"), Some(("A.B", 1)));
        assert_eq!(relative("A.B(-2)"), Some(("A.B", -2)));
        assert_eq!(relative("A.B"), None);
    }
}
