//! What can go wrong with a program as a guest, outside of its calls.
//!
//! Invariants:
//! 1. A code keeps its meaning.
//! 2. What a call answers is no error here: statuses and abends belong to the program.

use std::path::{Path, PathBuf};

use base::{Code, Coded};

/// Why a program could not be prepared, started or served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegionError {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The program's file is not there.
    #[error("there is no program {}", .0.display())]
    NoProgram(PathBuf),
    /// None of the folders of a system's programs holds the program.
    #[error("program {name} is {}", nowhere(folders))]
    InNoFolder {
        /// Its name.
        name: String,
        /// The folders.
        folders: Vec<PathBuf>,
    },
    /// A compiler could not be started.
    #[error("{compiler}, which compiles {}, could not be started: {text}", path.display())]
    NoCompiler {
        /// Its command.
        compiler: String,
        /// What was to be compiled.
        path: PathBuf,
        /// What the system says.
        text: String,
    },
    /// A source has errors.
    #[error("{} does not compile\n{messages}", path.display())]
    Source {
        /// The source.
        path: PathBuf,
        /// The compiler's messages with the lines that they mean.
        messages: String,
    },
    /// A program is written in a language that is not run here.
    #[error(
        "{} is written in {language}: programs here are COBOL or C sources, or shared objects",
        path.display()
    )]
    Foreign {
        /// The program.
        path: PathBuf,
        /// The language.
        language: &'static str,
    },
    /// A program needs a system that is not here, such as CICS.
    #[error("{} is a program for {system}, which is not here: {text}", path.display())]
    Elsewhere {
        /// The program.
        path: PathBuf,
        /// The system.
        system: String,
        /// What tells it.
        text: String,
    },
    /// A copy of a program's process, made by `fork`, has made a DL/I call.
    #[error(
        "process {0}, a copy that the program has made of itself by fork, made a DL/I call: it is \
         ended, and nothing was changed"
    )]
    Copy(u32),
    /// A shared object could not be loaded.
    #[error("{} cannot be loaded: {text}", path.display())]
    Load {
        /// Which one.
        path: PathBuf,
        /// What the loader says.
        text: String,
    },
    /// A program has no entry that could be called.
    #[error("{} has no entry {}", path.display(), names.join(" or "))]
    NoEntry {
        /// The program.
        path: PathBuf,
        /// The entries that were looked for.
        names: Vec<String>,
    },
    /// The COBOL run-time library is missing or strange.
    #[error("the COBOL run-time library cannot be used: {0}")]
    Runtime(String),
    /// A PSB has more PCBs than can be passed.
    #[error("the PSB passes {count} PCBs; a program can be given {max}")]
    TooManyPcbs {
        /// How many it has.
        count: usize,
        /// How many can be given.
        max: usize,
    },
    /// The executable does not export the call interface.
    #[error("this executable does not export {0}, so no program could call it")]
    NotExported(&'static str),
    /// Memory that is needed could not be had.
    #[error("no memory for {what}: {text}")]
    Memory {
        /// What it was for.
        what: &'static str,
        /// What the system says.
        text: String,
    },
    /// A DD operand is not of the form NAME=PATH.
    #[error(
        "\"{0}\" is no DD: NAME=PATH, NAME=PATH,text, NAME=PATH,rdw, NAME=PATH,bdw or \
         NAME=//DSN is expected, \
         perhaps with ,disp=STATUS:NORMAL:ABNORMAL behind it, as far as that goes with such a file"
    )]
    Dd(String),
    /// A file is not what its DISP says.
    #[error("DD {dd}: {} {text}", path.display())]
    Disposition {
        /// The DD's name.
        dd: String,
        /// The file.
        path: PathBuf,
        /// What is wrong.
        text: String,
    },
    /// A file of lines cannot become records.
    #[error("DD {dd}: {text}")]
    Lines {
        /// The DD's name.
        dd: String,
        /// What is wrong.
        text: String,
    },
    /// What a program wrote cannot become lines.
    #[error("DD {dd}: what the program wrote is not in its file: {text}")]
    NotWritten {
        /// The DD's name.
        dd: String,
        /// Why.
        text: String,
        /// Where its records are kept.
        records: PathBuf,
    },
    /// The program has ended, but its output is not whole.
    #[error("what the program displayed (SYSOUT) could not all be written to {0}")]
    Displayed(String),
    /// The program has ended, but a file that it left open is not whole.
    #[error(
        "the program left {file} open, and not all that it wrote there could be written: \
         status {status}"
    )]
    NotClosed {
        /// The file, by the name that it is assigned to.
        file: String,
        /// What came of its CLOSE.
        status: String,
    },
    /// No control region answers.
    #[error("no system answers at {}: {text}", path.display())]
    NoSystem {
        /// Its socket.
        path: PathBuf,
        /// What the operating system says.
        text: String,
    },
    /// The control region speaks another version.
    #[error("the running system speaks version {theirs} of the call interface, this one {ours}")]
    Version {
        /// What it speaks.
        theirs: u32,
        /// What we speak.
        ours: u32,
    },
    /// The control region refused the program.
    #[error("{}", .0.text)]
    Refused(crate::server::Failure),
    /// The control region is gone.
    #[error("the system has stopped, or sent this program away")]
    Gone,
    /// What came over the connection makes no sense.
    #[error("the other side of the call interface said something that makes no sense: {0}")]
    Protocol(&'static str),
    /// The program's process could not be started.
    #[error("the program's process could not be started: {0}")]
    Process(String),
    /// The kernel does not keep a program's process from what it is to be kept from.
    #[error(
        "the program's process could not be fenced in, which programs of a started system are: \
         {0}"
    )]
    NoFence(std::io::Error),
    /// The system has gone, and the program went on without it.
    #[error(
        "the system has stopped or died while the program computed, and the program had not ended \
         {seconds} s later: its process and what it had started were ended. What it had not \
         committed is backed out: by the system that stopped, or by the next start of one that died"
    )]
    Outlived {
        /// How long it was waited for.
        seconds: u64,
    },
    /// An executable cannot call a server in the process that was to start it.
    #[error("{} is an executable, which only a started system runs", .0.display())]
    Executable(PathBuf),
    /// This process makes calls, but is no program.
    #[error("this process was not started as a program of a system, or is a copy of one")]
    NoProgramOfOurs,
    /// The call interface itself failed.
    #[error("the call interface failed: {0}")]
    Broken(String),
}

/// The code of [`RegionError::Source`], the one error whose text has lines of its own.
pub const DOES_NOT_COMPILE: Code = Code("HFR004");

/// Where a program is not.
fn nowhere(folders: &[PathBuf]) -> String {
    if folders.is_empty() {
        return "nowhere to be found: the system knows no folder".to_owned();
    }
    let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    format!("not in {}", folders.join(", "))
}

impl RegionError {
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> RegionError + '_ {
        move |source| RegionError::File { path: path.to_owned(), source }
    }
}

impl Coded for RegionError {
    fn code(&self) -> Code {
        match self {
            RegionError::File { .. } => Code("HFR001"),
            RegionError::NoProgram(_) => Code("HFR002"),
            RegionError::InNoFolder { .. } => Code("HFR029"),
            RegionError::NoCompiler { .. } => Code("HFR003"),
            RegionError::Source { .. } => DOES_NOT_COMPILE,
            RegionError::Load { .. } => Code("HFR005"),
            RegionError::NoEntry { .. } => Code("HFR006"),
            RegionError::Runtime(_) => Code("HFR007"),
            RegionError::TooManyPcbs { .. } => Code("HFR008"),
            RegionError::NotExported(_) => Code("HFR009"),
            RegionError::Memory { .. } => Code("HFR010"),
            RegionError::Dd(_) => Code("HFR011"),
            RegionError::Lines { .. } => Code("HFR012"),
            RegionError::Disposition { .. } => Code("HFR033"),
            RegionError::NoSystem { .. } => Code("HFR013"),
            RegionError::Version { .. } => Code("HFR014"),
            RegionError::Refused(_) => Code("HFR015"),
            RegionError::Protocol(_) => Code("HFR016"),
            RegionError::Process(_) => Code("HFR017"),
            RegionError::Broken(_) => Code("HFR018"),
            RegionError::Gone => Code("HFR020"),
            RegionError::NotWritten { .. } => Code("HFR021"),
            RegionError::Foreign { .. } => Code("HFR022"),
            RegionError::Copy(_) => Code("HFR024"),
            RegionError::Elsewhere { .. } => Code("HFR023"),
            RegionError::Displayed(_) => Code("HFR025"),
            RegionError::NoFence(_) => Code("HFR026"),
            RegionError::Executable(_) => Code("HFR032"),
            RegionError::NoProgramOfOurs => Code("HFR031"),
            RegionError::Outlived { .. } => Code("HFR027"),
            RegionError::NotClosed { .. } => Code("HFR028"),
        }
    }

    fn remedy(&self) -> String {
        match self {
            RegionError::File { .. } => "make the file accessible",
            RegionError::NoProgram(_) => {
                "give the path of a COBOL or C source, a shared object or an executable"
            }
            RegionError::InNoFolder { .. } => {
                "name its folder in `programs` of the section [online] of holdfast.toml; its file \
                 is NAME.cbl, NAME.c or NAME.so, or an executable of the name"
            }
            RegionError::NoCompiler { .. } => "install it (Debian: gnucobol, gcc)",
            RegionError::Source { .. } => "correct the source, or give its copy folders with -I",
            RegionError::Copy(_) => "make calls from the process that holdfast has started",
            RegionError::Foreign { .. } => {
                "have its compiler make a shared object for this machine, which calls CTDLI or the \
                 entry of its language, and give that"
            }
            RegionError::Elsewhere { .. } => {
                "run programs that work with databases and files alone: batch, DBB and BMP programs"
            }
            RegionError::Load { .. } => "build the shared object for this machine",
            RegionError::NoEntry { .. } => "name the program's entry with --entry",
            RegionError::Runtime(_) => "install GnuCOBOL 3 (Debian: gnucobol)",
            RegionError::TooManyPcbs { .. } => "give PCBs that only AIB calls use LIST=NO",
            RegionError::NotExported(_) => "link it with exports.list of the region crate",
            RegionError::Memory { .. } => "give the process more memory",
            RegionError::Dd(_) => "write it as in --dd INFILE=input.dat",
            RegionError::Disposition { .. } => {
                "name another file, or correct what stands behind disp="
            }
            RegionError::Lines { .. } => "convert the file, or give it without \",text\"",
            RegionError::NotWritten { records, .. } => {
                return format!(
                    "the program has run: do not run it again for this. Its records are kept in {}",
                    records.display()
                );
            }
            RegionError::Displayed(_) | RegionError::NotClosed { .. } => {
                "free space on its device, or name a file elsewhere, and run the program again, from \
                 its last checkpoint if it takes any"
            }
            RegionError::NoSystem { .. } => "start it with: holdfast start -s SYSTEM",
            RegionError::Version { .. } => "stop the system and start it with this release",
            RegionError::Refused(failure) => return failure.remedy.clone(),
            RegionError::Gone | RegionError::Outlived { .. } => {
                "start the system, and the program from its last checkpoint"
            }
            RegionError::NoFence(_) => {
                "use a kernel that filters system calls (seccomp), on x86-64 or aarch64, or run the \
                 program in a system that is stopped, as type dli or dbb"
            }
            RegionError::Executable(_) => {
                "start the system, and run it with `holdfast batch --type bmp`, or as the program \
                 of a transaction"
            }
            RegionError::NoProgramOfOurs => {
                "have it run by `holdfast batch --type bmp`, or as the program of a transaction"
            }
            RegionError::Protocol(_) => "restart the program; if it comes again, report it",
            RegionError::Broken(_) => "keep the trace of the calls and report it",
            RegionError::Process(_) => "see what the operating system says",
        }
        .to_owned()
    }
}
