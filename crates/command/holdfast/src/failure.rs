//! What ends a command before its time, and how it is told.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use base::{Code, Coded};
use hierarchy::HierarchyError;
use hierarchy::repository::RepositoryError;
use jobs::JobsError;
use operations::OperationsError;
use region::RegionError;
use seal::SealError;
use store::StoreError;
use system::SystemError;
use system::operator::Refusal;
use unload::UnloadError;

use crate::advice::typed;
use crate::text::{harmless, on_one_line};

/// Why a command ends.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error of the layers below, with code and remedy.
    Error(Box<dyn Coded>),
    /// What the process that has a system open says, or a verb that was run here.
    Refused(Refusal),
    /// The command was asked for something that makes no sense.
    Usage {
        /// What is wrong.
        what: String,
        /// How it would be right.
        remedy: String,
    },
    /// The command itself could not do something.
    Other {
        /// What, and with which object.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// Something about a file at rest, with an exit code that says what sort of thing.
    Pgp(openpgp::Error),
    /// The Encryption Facility's command line, configuration or cards, in the file of that name.
    Facility(Option<String>, facility::Error),
    /// The reader of the output is gone.
    ReaderGone,
}

/// An error of a layer below, with the file in front.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {error}")]
struct InFile {
    file: String,
    error: Box<dyn Coded>,
}

impl Coded for InFile {
    fn code(&self) -> Code {
        self.error.code()
    }

    fn remedy(&self) -> String {
        self.error.remedy()
    }
}

/// An answer or the reason why there is none.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// What the command's own failures say in place of a layer's code.
const OWN: Code = operations::FAILED;
const USAGE: Code = Code(system::operator::USAGE);

impl Failure {
    pub(crate) fn usage(what: impl Display, remedy: impl Display) -> Failure {
        Failure::Usage { what: what.to_string(), remedy: remedy.to_string() }
    }

    pub(crate) fn other(what: impl Display, remedy: impl Display) -> Failure {
        Failure::Other { what: what.to_string(), remedy: remedy.to_string() }
    }

    /// The same, with what was going on.
    pub(crate) fn within(&self, what: &str) -> Failure {
        let (code, text, remedy) = self.parts();
        Failure::other(format!("{what}: {text} ({code})"), remedy)
    }

    /// The same, of a file that the layer below was given open and does not know by name.
    pub(crate) fn about(self, file: impl Display) -> Failure {
        match self {
            Failure::Error(error) => {
                Failure::Error(Box::new(InFile { file: file.to_string(), error }))
            }
            Failure::Facility(None, error) => Failure::Facility(Some(file.to_string()), error),
            other => other,
        }
    }

    /// The one place that turns failures into exit codes.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Usage { .. } | Failure::Facility(..) => ExitCode::from(2),
            Failure::Refused(refusal) if refusal.code == USAGE.0 => ExitCode::from(2),
            Failure::Error(_) | Failure::Refused(_) | Failure::Other { .. } => ExitCode::FAILURE,
            Failure::Pgp(error) => match error.kind() {
                openpgp::Kind::Failed => ExitCode::FAILURE,
                openpgp::Kind::Usage => ExitCode::from(2),
                openpgp::Kind::Damaged => ExitCode::from(3),
                openpgp::Kind::NoKey => ExitCode::from(4),
                openpgp::Kind::Signature => ExitCode::from(5),
                openpgp::Kind::Input => ExitCode::from(6),
            },
            Failure::ReaderGone => ExitCode::SUCCESS,
        }
    }

    /// Its code as this process knows it: what another one says is told word by word, in `parts`.
    pub(crate) fn code(&self) -> Code {
        match self {
            Failure::Error(error) => error.code(),
            Failure::Pgp(error) => error.code(),
            Failure::Facility(_, error) => error.code(),
            Failure::Usage { .. } => USAGE,
            Failure::Refused(_) | Failure::Other { .. } | Failure::ReaderGone => OWN,
        }
    }

    /// Its code, what happened, and what to do.
    pub(crate) fn parts(&self) -> (String, String, String) {
        let (code, what, remedy) = match self {
            Failure::Refused(Refusal { code, message, advice }) => {
                return (code.clone(), message.clone(), advice.clone());
            }
            Failure::Error(error) => (error.code(), error.to_string(), error.remedy()),
            // Names of files and the like may have line ends.
            Failure::Pgp(error) => {
                (error.code(), on_one_line(&error.to_string()).into_owned(), error.remedy())
            }
            Failure::Facility(file, error) => {
                let file = file.as_ref().map(|file| format!("{file}: ")).unwrap_or_default();
                (error.code(), format!("{file}{error}"), error.remedy())
            }
            Failure::Usage { what, remedy } => (USAGE, what.clone(), remedy.clone()),
            Failure::Other { what, remedy } => (OWN, what.clone(), remedy.clone()),
            Failure::ReaderGone => (OWN, "the reader is gone".into(), String::new()),
        };
        (code.to_string(), what, remedy)
    }

    /// Tells it with the file that it is about.
    pub(crate) fn tell_of(&self, file: &Path, json: bool) {
        let (code, what, advice) = self.parts();
        let message = format!("{}: {what}", on_one_line(&file.to_string_lossy()));
        Failure::Refused(Refusal { code, message, advice }).tell(json);
    }

    /// What happened, as people may see it: names in it that strangers have chosen begin no line.
    pub(crate) fn shown(&self) -> String {
        let (code, what, _) = self.parts();
        let what = typed(&what);
        let has_own_lines = match self {
            Failure::Usage { .. } | Failure::Other { .. } | Failure::Facility(..) => true,
            _ => code == OWN.0 || code == region::DOES_NOT_COMPILE.0,
        };
        if has_own_lines { harmless(&what).into_owned() } else { on_one_line(&what).into_owned() }
    }

    /// Tells it on standard error, as text or as one line of JSON.
    pub(crate) fn tell(&self, json: bool) {
        let (code, what, remedy) = self.parts();
        let (what, remedy) = (typed(&what), typed(&remedy));
        let text = if json {
            let error = serde_json::json!({ "code": code, "what": what, "remedy": remedy });
            serde_json::json!({ "error": error }).to_string()
        } else if remedy.is_empty() {
            format!("error: {} ({code})", self.shown())
        } else {
            format!("error: {} ({code})\n  {}", self.shown(), harmless(&remedy))
        };
        // If even that cannot be written, the exit code says it.
        let _ = writeln!(io::stderr(), "{text}");
    }
}

impl From<SystemError> for Failure {
    fn from(error: SystemError) -> Failure {
        Failure::Error(Box::new(error))
    }
}

impl From<openpgp::Error> for Failure {
    fn from(error: openpgp::Error) -> Failure {
        Failure::Pgp(error)
    }
}

impl From<facility::Error> for Failure {
    fn from(error: facility::Error) -> Failure {
        Failure::Facility(None, error)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        Failure::Refused(refusal)
    }
}

impl From<recon::ReconError> for Failure {
    fn from(error: recon::ReconError) -> Failure {
        Failure::Error(Box::new(error))
    }
}

impl From<recovery::RecoveryError> for Failure {
    fn from(error: recovery::RecoveryError) -> Failure {
        Failure::Error(Box::new(error))
    }
}

impl From<RegionError> for Failure {
    fn from(error: RegionError) -> Failure {
        Failure::Error(Box::new(error))
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::Error(Box::new(error))
    }
}

impl From<OperationsError> for Failure {
    fn from(error: OperationsError) -> Failure {
        match error {
            OperationsError::System(error) => error.into(),
            OperationsError::Recovery(error) => Failure::Error(Box::new(error)),
            OperationsError::Recon(error) => Failure::Error(Box::new(error)),
            OperationsError::Store(error) => error.into(),
            OperationsError::Uow(error) => Failure::Error(Box::new(error)),
            OperationsError::Hierarchy(error) => error.into(),
            OperationsError::Repository(error) => error.into(),
            OperationsError::Map { file, error } => {
                let failure = Failure::Error(Box::new(error));
                match file {
                    Some(file) => failure.about(file),
                    None => failure,
                }
            }
            OperationsError::Encoding { what, remedy } => Failure::Other { what, remedy },
            OperationsError::NoConversion { what, remedy } => Failure::Usage { what, remedy },
            // Its code is that of a refusal, or of a failure of the command itself.
            other => Failure::Refused(other.into()),
        }
    }
}

impl From<JobsError> for Failure {
    fn from(error: JobsError) -> Failure {
        match error {
            JobsError::System(error) => error.into(),
            JobsError::Region(error) => error.into(),
            JobsError::Schedule(error) => Failure::Error(Box::new(error)),
            JobsError::Operations(error) => error.into(),
            own if own.is_usage() => Failure::usage(&own, own.remedy()),
            own => Failure::other(&own, own.remedy()),
        }
    }
}

impl From<HierarchyError> for Failure {
    fn from(error: HierarchyError) -> Failure {
        Failure::Error(Box::new(error))
    }
}

impl From<UnloadError> for Failure {
    fn from(error: UnloadError) -> Failure {
        Failure::Error(Box::new(error))
    }
}

impl From<RepositoryError> for Failure {
    fn from(error: RepositoryError) -> Failure {
        Failure::Error(Box::new(error))
    }
}

impl From<SealError> for Failure {
    fn from(error: SealError) -> Failure {
        Failure::Error(Box::new(error))
    }
}

/// Errors of standard output: everything else that reads or writes has its own text.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ReaderGone,
            _ => Failure::other(
                format!("the result cannot be written: {error}"),
                "What was asked for may be done all the same: look before you ask again, and have \
                 the result written elsewhere.",
            ),
        }
    }
}
