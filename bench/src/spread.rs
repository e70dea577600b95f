//! The median of samples and its surroundings.
//!
//! 1. There is none without a value.

/// The median and its surroundings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) first_quartile: f64,
    pub(crate) third_quartile: f64,
    pub(crate) count: usize,
}

impl Spread {
    /// Of at least one value; quartiles are interpolated between neighbours.
    pub(crate) fn of(mut values: Vec<f64>) -> Spread {
        assert!(!values.is_empty(), "a spread needs a value");
        values.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = share * (values.len() - 1) as f64;
            let (low, high) = (place.floor() as usize, place.ceil() as usize);
            values[low] + (values[high] - values[low]) * (place - low as f64)
        };
        Spread {
            median: at(0.5),
            first_quartile: at(0.25),
            third_quartile: at(0.75),
            count: values.len(),
        }
    }
}
