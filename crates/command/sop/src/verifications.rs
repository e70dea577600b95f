//! Good signatures, as the specification writes them: a line for each.
//!
//! ```text
//! 2026-03-01T12:00:00Z SIGNING-KEY CERTIFICATE mode:binary {"signers":["ada.cert"]}
//! ```
//!
//! 1. A signature outside of the asked-for time is no good one.

use clap::Args;
use openpgp::pgp::types::Timestamp;
use openpgp::{Certificate, Verified};
use serde_json::json;

use crate::date::{Moment, written};
use crate::failure::{Failure, Reason, say};

/// The time in which signatures have to have been made.
#[derive(Args, Clone, Copy)]
pub(crate) struct Span {
    /// Signatures from before that time do not count
    #[arg(long, value_name = "DATE")]
    pub(crate) not_before: Option<Moment>,
    /// Signatures from after that time do not count; now if it is left out
    #[arg(long, value_name = "DATE")]
    pub(crate) not_after: Option<Moment>,
}

impl Span {
    /// Those that were made in time (1).
    pub(crate) fn keep(self, verified: Vec<Verified>) -> Vec<Verified> {
        let now = i64::from(Timestamp::now().as_secs());
        let earliest = self.not_before.map_or(i64::MIN, |moment| moment.earliest(now));
        let latest = self.not_after.map_or(i64::MAX, |moment| moment.latest(now));
        let is_in = |one: &Verified| (earliest..=latest).contains(&i64::from(one.made));
        verified.into_iter().filter(is_in).collect()
    }
}

/// Why signatures do not count: why each of them does not, and how many good ones are from outside
/// of the asked-for time.
pub(crate) fn why_not(doubts: &[&str], outside: usize) -> String {
    let outside = match outside {
        0 => None,
        1 => Some("a good signature is from outside of the asked-for time".to_owned()),
        many => Some(format!("{many} good signatures are from outside of the asked-for time")),
    };
    let why: Vec<String> = doubts.iter().map(|doubt| (*doubt).to_owned()).chain(outside).collect();
    why.join("; ")
}

/// What to say if no signature is good.
pub(crate) fn none_is_good(doubts: &[&str], outside: usize) -> Failure {
    let why = why_not(doubts, outside);
    let why = if why.is_empty() { "there is none".to_owned() } else { why };
    Reason::NoSignature.because(format!("no signature is good: {why}"))
}

/// Says which signatures do not count beside those that do.
pub(crate) fn tell_others(doubts: &[&str], outside: usize) {
    let why = why_not(doubts, outside);
    if !why.is_empty() {
        say(format_args!("not counted: {why}"));
    }
}

/// The lines for these signatures; `sources` are the certificates with where they came from.
pub(crate) fn lines(verified: &[Verified], sources: &[(String, Certificate)]) -> String {
    let line = |one: &Verified| {
        let from = sources.iter().filter(|(_, known)| known.fingerprint() == one.certificate);
        let mut signers: Vec<&str> = from.map(|(source, _)| source.as_str()).collect();
        signers.dedup();
        format!(
            "{} {} {} mode:{} {}\n",
            written(i64::from(one.made)),
            one.key.to_string().to_uppercase(),
            one.certificate.to_string().to_uppercase(),
            if one.is_text { "text" } else { "binary" },
            json!({ "signers": signers }),
        )
    };
    verified.iter().map(line).collect()
}
