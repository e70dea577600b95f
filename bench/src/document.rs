//! The result of one benchmark, as `target/bench/NAME.json` holds it.
//!
//! | member | what |
//! |---|---|
//! | `bench`, `title`, `about` | its name and what it does, in words |
//! | `figures` | name to figure, for Holdfast |
//! | `peers` | peer to its version, settings and figures, or why it is missing |
//! | `checks` | one for each figure that was promised |
//! | `plots` | series ready to be drawn |
//! | `notes` | what a reader must know before quoting a figure |
//! | `machine`, `commit`, `run` | where, of what, how long and how often it was measured |
//!
//! A figure that could not be measured has a check with `value` null that does not hold.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{BenchError, Result};
use crate::machine::Machine;
use crate::spread::Spread;

/// Everything one benchmark has to say.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Document {
    pub(crate) bench: String,
    pub(crate) title: String,
    pub(crate) about: String,
    pub(crate) figures: BTreeMap<String, Figure>,
    pub(crate) peers: BTreeMap<String, Peer>,
    pub(crate) checks: Vec<Check>,
    pub(crate) plots: Vec<Plot>,
    pub(crate) notes: Vec<String>,
    pub(crate) machine: Machine,
    pub(crate) commit: String,
    pub(crate) run: Run,
}

/// A measured number with its spread over the repetitions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figure {
    /// The median.
    pub(crate) value: f64,
    pub(crate) unit: String,
    /// First and third quartile.
    pub(crate) quartiles: [f64; 2],
    pub(crate) samples: usize,
}

/// What a peer did in the same run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Peer {
    pub(crate) version: String,
    /// The settings that matter for the comparison.
    pub(crate) settings: String,
    pub(crate) figures: BTreeMap<String, Figure>,
    /// Why there are no figures, if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) missing: Option<String>,
}

/// A promise and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Check {
    pub(crate) name: String,
    /// Null if it could not be measured.
    pub(crate) value: Option<f64>,
    pub(crate) limit: f64,
    pub(crate) sense: Sense,
    pub(crate) unit: String,
    pub(crate) holds: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

/// Which side of the limit is the good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Sense {
    #[serde(rename = "at least")]
    AtLeast,
    #[serde(rename = "at most")]
    AtMost,
}

impl Sense {
    /// In words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Sense::AtLeast => "at least",
            Sense::AtMost => "at most",
        }
    }
}

/// A picture of the report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Plot {
    pub(crate) title: String,
    pub(crate) unit: String,
    pub(crate) shape: Shape,
    /// What the x axis counts.
    pub(crate) across: String,
    pub(crate) x: Vec<String>,
    pub(crate) series: Vec<Series>,
}

/// How a plot is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Shape {
    /// A panel of horizontal bars for each x.
    Bars,
    /// A line for each series.
    Lines,
}

/// One contestant's values, one for each x; null where it did not take part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) values: Vec<Option<f64>>,
    /// Quartiles, as long as `values` or empty.
    pub(crate) quartiles: Vec<Option<[f64; 2]>>,
}

/// How it was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) quick: bool,
    pub(crate) rounds: usize,
    pub(crate) slice_seconds: f64,
    pub(crate) started_unix_seconds: u64,
    pub(crate) took_seconds: f64,
}

impl Figure {
    /// From repeated measurements.
    pub(crate) fn new(spread: &Spread, unit: &str) -> Figure {
        Figure {
            value: spread.median,
            unit: unit.into(),
            quartiles: [spread.first_quartile, spread.third_quartile],
            samples: spread.count,
        }
    }

    /// From a single measurement.
    pub(crate) fn single(value: f64, unit: &str) -> Figure {
        Figure { value, unit: unit.into(), quartiles: [value, value], samples: 1 }
    }
}

impl Check {
    /// A promise to stay at or above `limit`.
    pub(crate) fn at_least(name: &str, value: Option<f64>, limit: f64, unit: &str) -> Check {
        Check::new(name, value, limit, unit, Sense::AtLeast)
    }

    /// A promise to stay at or below `limit`.
    pub(crate) fn at_most(name: &str, value: Option<f64>, limit: f64, unit: &str) -> Check {
        Check::new(name, value, limit, unit, Sense::AtMost)
    }

    fn new(name: &str, value: Option<f64>, limit: f64, unit: &str, sense: Sense) -> Check {
        let value = value.filter(|value| value.is_finite());
        let holds = value.is_some_and(|value| match sense {
            Sense::AtLeast => value >= limit,
            Sense::AtMost => value <= limit,
        });
        let note = value.is_none().then(|| "not measured".to_owned());
        Check { name: name.into(), value, limit, sense, unit: unit.into(), holds, note }
    }

    /// Adds a remark.
    pub(crate) fn noted(mut self, note: impl Into<String>) -> Check {
        self.note = Some(note.into());
        self
    }
}

impl Document {
    /// The file of a benchmark's result.
    pub(crate) fn path(results: &Path, bench: &str) -> PathBuf {
        results.join(format!("{bench}.json"))
    }

    /// Writes the result; an older one of the same name is replaced whole.
    pub(crate) fn write(&self, results: &Path) -> Result<PathBuf> {
        fs::create_dir_all(results).map_err(BenchError::system("create", results))?;
        let path = Document::path(results, &self.bench);
        let text = serde_json::to_string_pretty(self)
            .map_err(|source| BenchError::NotAResult { path: path.clone(), source })?;
        let partial = path.with_extension("json.partial");
        fs::write(&partial, text + "\n").map_err(BenchError::system("write", &partial))?;
        fs::rename(&partial, &path).map_err(BenchError::system("rename", &partial))?;
        Ok(path)
    }

    /// Reads a result back.
    pub(crate) fn read(path: &Path) -> Result<Document> {
        let text = fs::read_to_string(path).map_err(BenchError::system("read", path))?;
        serde_json::from_str(&text)
            .map_err(|source| BenchError::NotAResult { path: path.to_path_buf(), source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_without_a_value_does_not_hold() {
        let check = Check::at_most("seal", None, 1.25, "x");
        assert!(!check.holds && check.value.is_none());
        assert!(!Check::at_least("log", Some(f64::NAN), 0.9, "x").holds);
    }

    #[test]
    fn a_check_at_its_limit_holds_and_beyond_it_does_not() {
        assert!(Check::at_most("seal", Some(1.25), 1.25, "x").holds);
        assert!(!Check::at_most("seal", Some(1.26), 1.25, "x").holds);
        assert!(Check::at_least("log", Some(0.9), 0.9, "x").holds);
        assert!(!Check::at_least("log", Some(0.89), 0.9, "x").holds);
    }

    #[test]
    fn a_result_that_was_written_reads_back_the_same() {
        let folder = std::env::temp_dir().join(format!("holdfast-document-{}", std::process::id()));
        let document = Document {
            bench: "seal".into(),
            title: "Sealing".into(),
            about: "about".into(),
            figures: BTreeMap::from([("a".into(), Figure::single(1.5, "us"))]),
            peers: BTreeMap::from([("p".into(), Peer::default())]),
            checks: vec![Check::at_most("seal", Some(1.0), 1.25, "x").noted("fine")],
            plots: Vec::new(),
            notes: vec!["note".into()],
            machine: Machine::look(Path::new(".")),
            commit: "unknown".into(),
            run: Run {
                quick: true,
                rounds: 3,
                slice_seconds: 0.1,
                started_unix_seconds: 1,
                took_seconds: 2.0,
            },
        };
        let path = document.write(&folder).unwrap();
        let back = Document::read(&path).unwrap();
        assert_eq!(serde_json::to_value(&back).unwrap(), serde_json::to_value(&document).unwrap());
        fs::remove_dir_all(&folder).unwrap();
    }
}
