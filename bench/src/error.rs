//! What can go wrong while measuring: a benchmark that fell short is not among it.
//!
//! A figure below its promise is a check that does not hold, written to the result and the report;
//! the command still ends with 0. The errors here mean that something could not be measured.

use std::io;
use std::path::{Path, PathBuf};

use base::{Code, Coded};

pub(crate) type Result<T, E = BenchError> = std::result::Result<T, E>;

/// Why something could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum BenchError {
    /// The operating system refused an action on a file or a process.
    #[error("could not {action} {}: {source}", object.display())]
    System {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file, folder or program.
        object: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A peer is not on this machine, or cannot be started on it.
    #[error("{peer} cannot be had here: {reason}")]
    Missing {
        /// The peer's name.
        peer: &'static str,
        /// What was looked for.
        reason: String,
    },
    /// A peer, or the kernel under test, answered with an error.
    #[error("{subject} could not {action}: {reason}")]
    Subject {
        /// The peer's name, or "holdfast".
        subject: &'static str,
        /// What was asked, as a verb.
        action: &'static str,
        /// Its own words.
        reason: String,
    },
    /// A name on the command line that is no benchmark.
    #[error("there is no benchmark named {name:?}; there are: {known}")]
    UnknownBenchmark {
        /// As typed.
        name: String,
        /// Every name there is.
        known: String,
    },
    /// A result file that cannot be read back.
    #[error("{} is not a result of this program: {source}", path.display())]
    NotAResult {
        /// The file.
        path: PathBuf,
        /// Where it stopped making sense.
        source: serde_json::Error,
    },
}

impl BenchError {
    /// A closure for `map_err` that names the action and the object.
    pub(crate) fn system(action: &'static str, object: &Path) -> impl FnOnce(io::Error) -> Self {
        let object = object.to_path_buf();
        move |source| BenchError::System { action, object, source }
    }

    /// An answer of a peer or of the kernel.
    pub(crate) fn subject(
        subject: &'static str,
        action: &'static str,
        reason: impl Into<String>,
    ) -> BenchError {
        BenchError::Subject { subject, action, reason: reason.into() }
    }
}

impl Coded for BenchError {
    fn code(&self) -> Code {
        Code(match self {
            BenchError::System { .. } => "HFZ001",
            BenchError::Missing { .. } => "HFZ002",
            BenchError::Subject { .. } => "HFZ003",
            BenchError::UnknownBenchmark { .. } => "HFZ004",
            BenchError::NotAResult { .. } => "HFZ005",
        })
    }

    fn remedy(&self) -> String {
        match self {
            BenchError::System { .. } => {
                "Name a folder on a local disk that this user may write with --data.".into()
            }
            BenchError::Missing { .. } => "Run bench/setup.sh, which installs the peers.".into(),
            BenchError::Subject { .. } => "Read its log in the folder named by --data.".into(),
            BenchError::UnknownBenchmark { .. } => "See `holdfast-bench list`.".into(),
            BenchError::NotAResult { .. } => "Delete the file and run the benchmark again.".into(),
        }
    }
}

/// An answer of the product that should not have come.
pub(crate) fn failed(error: impl std::fmt::Display) -> BenchError {
    let (subject, action) = ("holdfast", "do what it was asked");
    BenchError::Subject { subject, action, reason: error.to_string() }
}
