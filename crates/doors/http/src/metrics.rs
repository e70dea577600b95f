//! Metrics as text, in the exposition format of Prometheus (version 0.0.4).
//!
//! Invariants:
//! 1. All samples of a family stand together, behind its one `HELP` and `TYPE`.
//! 2. Whatever a label's value is, it stands on its line: backslash, quote, line end are escaped.

use std::fmt::Write as _;

/// What kind of figures a family has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows, until the system starts anew.
    Counter,
    /// Goes up and down.
    Gauge,
    /// How many were below each bound, their sum and their number, as samples of three names.
    Histogram,
}

/// Metrics in the making.
#[derive(Debug, Default)]
pub struct Metrics {
    text: String,
}

impl Metrics {
    /// Begins a family: its name (with its unit last), its kind, and what it says in one sentence.
    pub fn family(&mut self, name: &str, kind: Kind, help: &str) {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        self.text.push_str("# HELP ");
        self.text.push_str(name);
        self.text.push(' ');
        escape(&mut self.text, help, false);
        let _ = write!(self.text, "\n# TYPE {name} {kind}\n");
    }

    /// A sample of the family that was begun last.
    pub fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        self.text.push_str(name);
        for (at, (label, text)) in labels.iter().enumerate() {
            self.text.push(if at == 0 { '{' } else { ',' });
            self.text.push_str(label);
            self.text.push_str("=\"");
            escape(&mut self.text, text, true);
            self.text.push('"');
        }
        if !labels.is_empty() {
            self.text.push('}');
        }
        let _ = writeln!(self.text, " {value}");
    }

    /// A family with one sample.
    pub fn single(&mut self, name: &str, kind: Kind, help: &str, value: f64) {
        self.family(name, kind, help);
        self.sample(name, &[], value);
    }

    /// The text.
    #[must_use]
    pub fn into_text(self) -> String {
        self.text
    }
}

fn escape(to: &mut String, text: &str, quotes: bool) {
    for c in text.chars() {
        match c {
            '\\' => to.push_str("\\\\"),
            '\n' => to.push_str("\\n"),
            '"' if quotes => to.push_str("\\\""),
            c => to.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_stands_with_its_help_and_odd_labels_stay_on_their_line() {
        let mut metrics = Metrics::default();
        metrics.family("holdfast_queue_depth", Kind::Gauge, "Messages that wait.");
        metrics.sample("holdfast_queue_depth", &[("queue", "A\"\n\\B"), ("kind", "tran")], 3.0);
        metrics.single("holdfast_commits_total", Kind::Counter, "Commits.", 1.5e9);
        assert_eq!(
            metrics.into_text(),
            "# HELP holdfast_queue_depth Messages that wait.\n\
             # TYPE holdfast_queue_depth gauge\n\
             holdfast_queue_depth{queue=\"A\\\"\\n\\\\B\",kind=\"tran\"} 3\n\
             # HELP holdfast_commits_total Commits.\n\
             # TYPE holdfast_commits_total counter\n\
             holdfast_commits_total 1500000000\n"
        );
    }
}
