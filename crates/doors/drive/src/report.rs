//! Rates and response times.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

/// The longest time that is told apart: an hour, in microseconds.
const LONGEST: u64 = 3_600_000_000;

/// Times in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Times {
    /// How many.
    pub count: u64,
    /// On average.
    pub mean: f64,
    /// Half of them are no longer.
    pub p50: u64,
    /// 90 of 100.
    pub p90: u64,
    /// 99 of 100.
    pub p99: u64,
    /// 999 of 1,000.
    pub p999: u64,
    /// The longest.
    pub max: u64,
}

/// What terminals saw.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Terminals.
    pub terminals: u32,
    /// Seconds that are reported: those behind the warm-up.
    pub seconds: f64,
    /// Transactions confirmed in that time.
    pub transactions: u64,
    /// Of them in a second.
    pub rate: f64,
    /// Response times; at a fixed rate from when transactions were due.
    pub response: Times,
    /// Times from sending to the reply.
    pub service: Times,
    /// Response times of each kind.
    pub kinds: BTreeMap<String, Times>,
    /// Replies that were wrong, over the whole run.
    pub wrong: u64,
    /// What was wrong with the first of them.
    pub wrong_first: Vec<String>,
    /// Status messages instead of replies, by return code and reason code.
    pub refused: BTreeMap<String, u64>,
    /// Connections that broke or could not be made.
    pub broken: u64,
    /// Why the first of them did.
    pub broken_first: String,
    /// Transactions of which it is not known.
    pub unknown: u64,
    /// How much of the machine's processors was in use, 0 to 1.
    pub busy: f64,
    /// Internal throughput rate: the rate if all of it were in use.
    pub internal_rate: f64,
    /// Processor seconds of this process.
    pub driver_seconds: f64,
}

/// What a terminal saw.
pub(crate) struct Seen {
    pub(crate) response: Histogram<u64>,
    pub(crate) service: Histogram<u64>,
    pub(crate) kinds: Vec<Histogram<u64>>,
    pub(crate) wrong: u64,
    pub(crate) wrong_first: Vec<String>,
    pub(crate) refused: BTreeMap<String, u64>,
    pub(crate) broken: u64,
    pub(crate) broken_first: String,
}

/// How many wrong replies are told of.
const LISTED: usize = 10;

fn histogram() -> Histogram<u64> {
    // Two digits: it stays small. It grows as longer times come.
    let mut histogram = Histogram::new(2).unwrap_or_else(|_| unreachable!("two digits are few"));
    histogram.auto(true);
    histogram
}

impl Seen {
    pub(crate) fn new(kinds: usize) -> Seen {
        Seen {
            response: histogram(),
            service: histogram(),
            kinds: (0..kinds).map(|_| histogram()).collect(),
            wrong: 0,
            wrong_first: Vec::new(),
            refused: BTreeMap::new(),
            broken: 0,
            broken_first: String::new(),
        }
    }

    /// A connection broke, or could not be made.
    pub(crate) fn broke(&mut self, why: &dyn std::fmt::Display) {
        self.broken += 1;
        if self.broken_first.is_empty() {
            self.broken_first = why.to_string();
        }
    }

    pub(crate) fn time(&mut self, kind: usize, response: Duration, service: Duration) {
        let micros =
            |time: Duration| u64::try_from(time.as_micros()).unwrap_or(LONGEST).clamp(1, LONGEST);
        // A saturating record would not grow.
        let _ = self.response.record(micros(response));
        let _ = self.service.record(micros(service));
        if let Some(histogram) = self.kinds.get_mut(kind) {
            let _ = histogram.record(micros(response));
        }
    }

    pub(crate) fn wrong(&mut self, what: String) {
        self.wrong += 1;
        if self.wrong_first.len() < LISTED {
            self.wrong_first.push(what);
        }
    }

    pub(crate) fn add(&mut self, other: Seen) {
        // All of them grow: none is too small for the others.
        let _ = self.response.add(&other.response);
        let _ = self.service.add(&other.service);
        for (own, other) in self.kinds.iter_mut().zip(&other.kinds) {
            let _ = own.add(other);
        }
        self.wrong += other.wrong;
        let room = LISTED - self.wrong_first.len().min(LISTED);
        self.wrong_first.extend(other.wrong_first.into_iter().take(room));
        for (status, count) in other.refused {
            *self.refused.entry(status).or_default() += count;
        }
        if self.broken_first.is_empty() {
            self.broken_first = other.broken_first;
        }
        self.broken += other.broken;
    }
}

pub(crate) fn times(histogram: &Histogram<u64>) -> Times {
    Times {
        count: histogram.len(),
        mean: histogram.mean(),
        p50: histogram.value_at_quantile(0.5),
        p90: histogram.value_at_quantile(0.9),
        p99: histogram.value_at_quantile(0.99),
        p999: histogram.value_at_quantile(0.999),
        max: histogram.max(),
    }
}
