//! What can go wrong with a system as a whole, with the code and the remedy of each.

use std::path::{Component, Path, PathBuf};

use archive::ArchiveError;
use base::{Code, Coded, SystemId};
use pool::PoolError;
use pool::double_write::DoubleWriteError;
use recon::ReconError;
use recovery::RecoveryError;
use rustix::io::Errno;
use seal::SealError;
use space::SpaceError;
use space::definition::is_file_name;
use store::StoreError;
use uow::UowError;
use wal::LogError;

/// Why a system cannot be made, opened, looked at or closed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SystemError {
    /// A data set has no key to be changed.
    #[error("data set {name} is plain: it has no key")]
    PlainSet {
        /// Its name.
        name: String,
    },
    /// A conversion cannot go on.
    #[error("the conversion of data set {name} cannot go on: {why}")]
    ConversionStuck {
        /// The data set.
        name: String,
        /// What stands in its way.
        why: String,
    },
    /// A key generation is still needed.
    #[error("generation {generation} of label {label} is needed by {}", users.join(", "))]
    KeyInUse {
        /// The label.
        label: String,
        /// The generation.
        generation: u32,
        /// What needs it.
        users: Vec<String>,
    },
    /// No good version of an interval is left in the system.
    #[error("{why}")]
    NotRepairable {
        /// What is not to be had.
        why: String,
        /// The data set.
        name: String,
    },
    /// A data set is being changed, and would not come to rest.
    #[error("data set {name} is being changed by a unit of work that does not end")]
    SetInUse {
        /// The data set.
        name: String,
    },
    /// RECON knows no image copy of that number.
    #[error("RECON knows no image copy {number}")]
    NoSuchCopy {
        /// The number.
        number: u32,
    },
    /// Every file of an image copy is damaged or missing.
    #[error("no file of image copy {number} is whole")]
    NoWholeFile {
        /// The number.
        number: u32,
    },
    /// Something was asked for that only a system with a kernel has.
    #[error("the databases of the system in {} are on an engine, which has this of its own", dir.display())]
    OnEngine {
        /// The folder.
        dir: PathBuf,
    },
    /// Something was asked for that only a system on an engine has.
    #[error("the databases of the system in {} are in its folder, not on an engine", dir.display())]
    NotOnEngine {
        /// The folder.
        dir: PathBuf,
    },
    /// Programs or commands of systems on the same engine are at work.
    #[error("{what}, in {}", systems.join(", "))]
    Sharing {
        /// What cannot be.
        what: String,
        /// The systems in which they are.
        systems: Vec<String>,
    },
    /// The folder holds no system.
    #[error("{} is no system: it has no holdfast.toml", dir.display())]
    NotASystem {
        /// The folder.
        dir: PathBuf,
    },
    /// Something is where a system was to be made.
    #[error("no system can be made in {}: there is {found} already", dir.display())]
    Occupied {
        /// The folder.
        dir: PathBuf,
        /// What stands in the way.
        found: String,
    },
    /// The configuration cannot be read as one.
    #[error("{}, line {line}: {why}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        why: String,
    },
    /// The configuration is written in a way that cannot be changed but by its owner.
    #[error("{} cannot be changed as it is written: {why}", path.display())]
    NotEdited {
        /// The file.
        path: PathBuf,
        /// What is in the way.
        why: String,
    },
    /// A change that no system could be started with.
    #[error("that cannot be: {why}")]
    Unusable {
        /// What would be wrong.
        why: String,
    },
    /// A change was made in the running system, and could not be kept.
    #[error("{what} is changed until the system is stopped, and no longer: {why}")]
    ChangedInUseOnly {
        /// What was changed.
        what: String,
        /// Why it will be as before.
        why: String,
    },
    /// The configuration was written for a later Holdfast (K21).
    #[error("{} has version {found}, which this Holdfast does not know", path.display())]
    FutureConfig {
        /// The file.
        path: PathBuf,
        /// What it says.
        found: u64,
    },
    /// Another process has the system open.
    #[error("the system in {} is open in {holder}", dir.display())]
    InUse {
        /// The folder.
        dir: PathBuf,
        /// Which process, as far as it is known.
        holder: String,
    },
    /// A process has the system open and does not say how it is.
    #[error("a process has the system in {} open, but gives no status: {why}", dir.display())]
    NoAnswer {
        /// The folder.
        dir: PathBuf,
        /// What was met.
        why: String,
    },
    /// Groups of the log are in no copy and in no archive.
    #[error("{done}; {groups} groups of the log are nowhere, the first is {first}: {why}")]
    LogLost {
        /// What was done for the others.
        done: String,
        /// How many there are.
        groups: u64,
        /// The first of them.
        first: base::GroupNumber,
        /// Where it was looked for, and what it means.
        why: String,
        /// What to do.
        remedy: String,
    },
    /// Image copies were to go where the system itself has its files.
    #[error("{} is no folder for image copies: it holds {holds}", folder.display())]
    OwnFolder {
        /// The folder.
        folder: PathBuf,
        /// What stands there, in words.
        holds: &'static str,
    },
    /// Something from outside was to be written where the system itself has a file.
    #[error("{what}: {} is {holds} of {owner}", path.display())]
    OwnFile {
        /// Who would have written there: an option, or a setting.
        what: String,
        /// The file.
        path: PathBuf,
        /// What it is, in words.
        holds: &'static str,
        /// Whose it is.
        owner: String,
    },
    /// A folder of the configuration is one of another system.
    #[error("{}, the folder for {holds}, belongs to the system {system}", folder.display())]
    OthersFolder {
        /// The folder.
        folder: PathBuf,
        /// What was to stand there, in words.
        holds: &'static str,
        /// Whose it is.
        system: SystemId,
    },
    /// Somebody reads the memory of this process.
    #[error("process {tracer} traces this one: no keys are taken out")]
    Traced {
        /// The process.
        tracer: u32,
    },
    /// The operating system lets this process have too little.
    #[error("this process may have {has} {what}, and {needed} are needed at least")]
    Limited {
        /// Of what.
        what: &'static str,
        /// How much it may have.
        has: u64,
        /// How much it needs.
        needed: u64,
        /// The option of the shell's `ulimit`.
        option: char,
    },
    /// Both copies of RECON are gone.
    #[error("RECON of {} is missing: there is neither {} nor {}",
        dir.display(), copies[0].display(), copies[1].display())]
    NoRecon {
        /// The system's folder.
        dir: PathBuf,
        /// Where its copies should be.
        copies: [PathBuf; 2],
    },
    /// The operating system.
    #[error("cannot {verb} {}: {source}", path.display())]
    Io {
        /// What was tried.
        verb: &'static str,
        /// With which file or folder.
        path: PathBuf,
        /// What it said.
        source: std::io::Error,
    },
    /// The kernel.
    #[error(transparent)]
    Kernel(#[from] UowError),
    /// Keys.
    #[error(transparent)]
    Keys(#[from] SealError),
    /// The log.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The archive.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// Data sets.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// Intervals.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// The double-write area.
    #[error(transparent)]
    DoubleWrite(#[from] DoubleWriteError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// RECON.
    #[error(transparent)]
    Recon(#[from] ReconError),
    /// Image copies, and what recoveries read.
    #[error(transparent)]
    Recovery(#[from] RecoveryError),
}

impl SystemError {
    /// The data set that a start failed because of: its file is not there, or damaged. What fails
    /// for want of room or of rights fails for other data sets, too.
    #[must_use]
    pub fn data_set(&self) -> Option<&String> {
        let SystemError::Kernel(error) = self else { return None };
        error.data_set()
    }

    pub(crate) fn io(verb: &'static str, path: &Path, source: std::io::Error) -> SystemError {
        SystemError::Io { verb, path: path.to_owned(), source }
    }
}

/// What to do about what stands in the way of a new system.
fn without(dir: &Path, found: &str) -> String {
    let found = Path::new(found);
    let goes_up = found.components().any(|part| part == Component::ParentDir);
    let name = found.file_name().unwrap_or_default().to_string_lossy();
    if is_file_name(&name) {
        return "Move it away if nobody needs it: data sets come back to the folders that they had, \
                and data.folders of the configuration says where new ones go."
            .into();
    }
    match goes_up || (found.is_absolute() && !found.starts_with(dir)) {
        true => {
            "Move it away if nobody needs it, or let log.copies, log.stripe_folders, \
             log.write_ahead, data.folders, recon.second and keys.file of the configuration name \
             places where nothing stands."
        }
        false => "Name a folder that is empty or does not exist.",
    }
    .into()
}

/// What to do about a folder of another system.
fn others(folder: &Path) -> String {
    format!(
        "Name a folder in holdfast.toml that is this system's alone, and move its own files there \
         if it has some. If the other system is no more, look what is left of it in {folder}, and \
         remove {mark}.",
        folder = folder.display(),
        mark = folder.join(seam::owner::MARK).display()
    )
}

/// What has to be done before a generation of a key can be deleted that others need.
fn without_key(users: &[String]) -> String {
    let numbers = |what: &'static str| users.iter().filter_map(move |by| by.strip_prefix(what));
    let mut steps = Vec::new();
    if users.iter().any(|by| by.starts_with("data set ") || by == "the log") {
        steps.push(
            "Have data sets and log go over to a new key: `holdfast rekey --all`; segments of the \
             log keep the old one until they are used again."
                .to_owned(),
        );
    }
    if let Some(number) = numbers("image copy ").next() {
        steps.push(format!(
            "Make new image copies, then have RECON forget each of these: `holdfast recon change \
             --copy {number} --gone`."
        ));
    }
    if numbers("archive ").chain(numbers("accumulation ")).next().is_some() {
        steps.push("Archives go, once no recovery needs them: `holdfast archive delete`.".into());
    }
    match steps.is_empty() {
        true => "What the system itself is sealed with stays.".into(),
        false => steps.join(" "),
    }
}

impl Coded for SystemError {
    fn code(&self) -> Code {
        match self {
            SystemError::NotASystem { .. } => Code("HFY001"),
            SystemError::Occupied { .. } => Code("HFY002"),
            SystemError::Config { .. } => Code("HFY003"),
            SystemError::FutureConfig { .. } => Code("HFY004"),
            SystemError::InUse { .. } => Code("HFY005"),
            SystemError::NoAnswer { .. } => Code("HFY006"),
            SystemError::Io { .. } => Code("HFY007"),
            SystemError::PlainSet { .. } => Code("HFY010"),
            SystemError::ConversionStuck { .. } => Code("HFY011"),
            SystemError::KeyInUse { .. } => Code("HFY012"),
            SystemError::NotEdited { .. } => Code("HFY008"),
            SystemError::ChangedInUseOnly { .. } => Code("HFY009"),
            SystemError::Unusable { .. } => Code("HFY013"),
            SystemError::Recovery(error) => error.code(),
            SystemError::NotRepairable { .. } => Code("HFY014"),
            SystemError::NoSuchCopy { .. } => Code("HFY015"),
            SystemError::NoWholeFile { .. } => Code("HFY016"),
            SystemError::SetInUse { .. } => Code("HFY017"),
            SystemError::LogLost { .. } => Code("HFY018"),
            SystemError::OwnFolder { .. } => Code("HFY019"),
            SystemError::Traced { .. } => Code("HFY031"),
            SystemError::Limited { .. } => Code("HFY032"),
            SystemError::NoRecon { .. } => Code("HFY033"),
            SystemError::OnEngine { .. } => Code("HFY034"),
            SystemError::NotOnEngine { .. } => Code("HFY035"),
            SystemError::Sharing { .. } => Code("HFY038"),
            SystemError::OwnFile { .. } => Code(seam::system_files::REFUSED),
            SystemError::OthersFolder { .. } => Code("HFY037"),
            SystemError::Kernel(error) => error.code(),
            SystemError::Keys(error) => error.code(),
            SystemError::Log(error) => error.code(),
            SystemError::Archive(error) => error.code(),
            SystemError::Space(error) => error.code(),
            SystemError::Pool(error) => error.code(),
            SystemError::DoubleWrite(error) => error.code(),
            SystemError::Store(error) => error.code(),
            SystemError::Recon(error) => error.code(),
        }
    }

    fn remedy(&self) -> String {
        match self {
            SystemError::NotASystem { dir } => {
                format!("Name the folder of a system, or make one: holdfast init {}", dir.display())
            }
            SystemError::Occupied { dir, found } => without(dir, found),
            SystemError::OwnFolder { .. } => OWN_FOLDER.into(),
            SystemError::OwnFile { what, .. } => {
                format!("Name another file for {what}: this one would be lost.")
            }
            SystemError::OthersFolder { folder, .. } => others(folder),
            SystemError::Traced { .. } => TRACED.into(),
            SystemError::Limited { option, .. } => format!("Raise it: `ulimit -{option}`."),
            SystemError::NoRecon { dir, .. } => without_recon(dir),
            SystemError::Config { path, .. } => {
                format!("Correct that line of {}; its comments name every setting.", path.display())
            }
            SystemError::NotEdited { path, .. } => format!(
                "Give [log] and each [pool.NAME] a section of its own in {}, one setting a line.",
                path.display()
            ),
            SystemError::LogLost { remedy, .. } => remedy.clone(),
            SystemError::Unusable { .. } => {
                "Ask for something else; comments in holdfast.toml name the bounds.".into()
            }
            SystemError::ChangedInUseOnly { .. } => BY_HAND.into(),
            SystemError::FutureConfig { .. } => "Use the Holdfast that wrote it.".into(),
            SystemError::InUse { dir, .. } => format!(
                "Wait for that process to end, or stop it; `holdfast status {}` shows its work.",
                dir.display()
            ),
            SystemError::NoAnswer { .. } => NO_ANSWER.into(),
            SystemError::Io { source, .. } => remedy_of(source).into(),
            SystemError::PlainSet { name } => {
                format!("Seal it first: `holdfast convert --set {name} --to sealed`.")
            }
            SystemError::ConversionStuck { .. } => {
                "What is converted stays so. Repair what is named, then `holdfast rekey resume`."
                    .into()
            }
            SystemError::KeyInUse { users, .. } => without_key(users),
            SystemError::Recovery(error) => error.remedy(),
            SystemError::NotRepairable { name, .. } => {
                format!("Recover the data set: `holdfast recover --set {name}`.")
            }
            SystemError::SetInUse { .. } => {
                "Wait for the program that changes it, or give it more time with --wait.".into()
            }
            SystemError::NoSuchCopy { .. } => "`holdfast recon list` shows those it knows.".into(),
            SystemError::NoWholeFile { number } => format!(
                "Have RECON forget it (`holdfast recon change -s DIR --copy {number} --gone`), and \
                 make a new one."
            ),
            SystemError::OnEngine { .. } => ON_ENGINE.into(),
            SystemError::NotOnEngine { .. } => NOT_ON_ENGINE.into(),
            SystemError::Sharing { .. } => SHARING.into(),
            SystemError::Kernel(error) => error.remedy(),
            SystemError::Keys(error) => error.remedy(),
            SystemError::Log(error) => error.remedy(),
            SystemError::Archive(error) => error.remedy(),
            SystemError::Space(error) => error.remedy(),
            SystemError::Pool(error) => error.remedy(),
            SystemError::DoubleWrite(error) => error.remedy(),
            SystemError::Store(error) => error.remedy(),
            SystemError::Recon(error) => error.remedy(),
        }
    }
}

/// What to do where RECON is missing.
fn without_recon(dir: &Path) -> String {
    format!(
        "Put a copy back if there is one. If both are lost, make RECON anew, which takes the \
         passphrase and shows what the system is bound to: `holdfast recon rebuild -s {} \
         --from FOLDER` with each FOLDER that holds image copies.",
        dir.display()
    )
}

const ON_ENGINE: &str = "Log, archive, copies, recovery, pools and forms at rest are the engine's: \
                         use its own backups (pg_basebackup with archiving of its log, or \
                         pgBackRest) and its own failover (Patroni); docs/scale.md says which for \
                         what. `holdfast unload` copies a database out.";

const NOT_ON_ENGINE: &str =
    "Name the folder of a system on an engine: `holdfast init --engine URL DIR` makes one.";

const SHARING: &str = "Try again when it has ended; `holdfast status DIR` shows the systems.";

const OWN_FOLDER: &str = "Name a folder for image copies alone, best on a device that holds \
                          neither log nor data.";

const TRACED: &str = "Run the command without a debugger, and without strace; if nobody has been \
                      asked to trace it, find out whose process that is before the passphrase is \
                      given again.";

fn remedy_of(error: &std::io::Error) -> &'static str {
    if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) {
        return "Links that lead to each other stand where a file belongs: remove them, and put the \
                file back.";
    }
    match error.kind() {
        std::io::ErrorKind::IsADirectory => {
            "A folder stands where a file belongs: move it away, and put the file back."
        }
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            "Free space on the device, then try again."
        }
        std::io::ErrorKind::PermissionDenied => "Run as the owner of the system's folder.",
        std::io::ErrorKind::NotFound => "Check the path.",
        _ => "Check the device and the permissions of the file.",
    }
}

/// What to do about a configuration that could not be written.
const BY_HAND: &str =
    "Change holdfast.toml by hand, or give the command again when it can be written.";
/// What to do about a system that does not answer.
const NO_ANSWER: &str = "It may be starting or stopping: try again; if it hangs, end it: the next \
                         start recovers what was acknowledged.";

/// A line for people that says what went wrong, and one that says what to do.
#[must_use]
pub fn explain(error: &dyn Coded) -> String {
    let remedy = error.remedy();
    let separator = if remedy.is_empty() { "" } else { "\n" };
    error.with_code() + separator + &remedy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_elsewhere_is_not_repaired_by_another_folder() {
        let occupied = |found: &str| {
            SystemError::Occupied { dir: "/srv/bank".into(), found: found.into() }.remedy()
        };
        assert!(occupied("/mnt/b/log/segment-000.stripe-1").contains("log.stripe_folders"));
        assert!(occupied("/srv/bank/log/segment-000").contains("Name a folder"));
        assert!(occupied("data").contains("Name a folder"));
    }

    #[test]
    fn what_keeps_a_key_is_let_go_by_the_command_for_it() {
        let advice = |users: &[&str]| {
            without_key(&users.iter().map(|user| (*user).to_owned()).collect::<Vec<_>>())
        };
        let copies = advice(&["image copy 7", "image copy 9"]);
        assert!(copies.contains("recon change --copy 7 --gone") && !copies.contains("rekey"));
        assert!(advice(&["archive 3"]).contains("`holdfast archive delete`"));
        assert!(advice(&["the log"]).contains("`holdfast rekey --all`"));
    }
}
