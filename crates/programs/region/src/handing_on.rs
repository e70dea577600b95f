//! How a process that was to run a program becomes an executable, and what it leaves for that: the
//! way to the system, and the ledger.
//!
//! | variable | says |
//! |---|---|
//! | `HOLDFAST_CALLS` | the numbers of open files, with commas between them: the mailbox, the layouts of the PCBs, and the connection to the system if there is one |
//! | `HOLDFAST_LEDGER` | the number of the ledger |
//!
//! Invariants:
//! 1. The process stays the same, so a process that knows it by its number, or has fenced it in,
//!    need not hear of the change.
//! 2. What was taken up is not inherited by what the executable starts.

use std::io::{Read as _, Seek as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;

use rustix::fs::MemfdFlags;
use rustix::io::{Errno, FdFlags};

use crate::error::RegionError;
use crate::layout::{self, PcbLayout};
use crate::ledger::{LEDGER, Ledger};
use crate::link::Handed;
use crate::memory::{inherited, inherited_socket};

/// The environment variable that tells an executable where its way to the system is.
const CALLS: &str = "HOLDFAST_CALLS";
const LAYOUTS_BYTES_MAX: u64 = 64 << 20;

/// Makes this process an executable. Comes back only if it cannot.
pub(crate) fn become_executable(
    program: &Path,
    parm: Option<&str>,
    (handed, layouts): (&Handed, &[PcbLayout]),
    ledger: &Ledger,
) -> RegionError {
    let failed =
        |what: String| RegionError::Process(format!("{} cannot be run: {what}", program.display()));
    let layouts = match written(&layout::encode(layouts)) {
        Ok(layouts) => layouts,
        Err(error) => return failed(error.to_string()),
    };
    let mut numbers = vec![handed.mailbox.as_raw_fd(), layouts.as_raw_fd()];
    numbers.extend(handed.connection.as_ref().map(|connection| connection.as_raw_fd()));
    let connection = handed.connection.iter().map(|connection| connection.as_fd());
    let files = [handed.mailbox.as_fd(), layouts.as_fd(), ledger.fd()];
    for file in files.into_iter().chain(connection) {
        if let Err(errno) = rustix::io::fcntl_setfd(file, FdFlags::empty()) {
            return failed(errno.to_string());
        }
    }
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    let mut command = seam::process::command(program);
    command.args(parm).env(CALLS, numbers.join(",")).env(LEDGER, ledger.handle());
    failed(command.exec().to_string())
}

/// Bytes as a file in memory, from its first byte on.
fn written(bytes: &[u8]) -> std::io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = std::fs::File::from(rustix::fs::memfd_create("holdfast-pcbs", flags)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}

/// What was left to this process when it became an executable.
pub(crate) struct HandedOn {
    pub(crate) way: Handed,
    pub(crate) layouts: Vec<PcbLayout>,
    pub(crate) ledger: Ledger,
}

/// Takes up what was left to this process.
pub(crate) fn take_up() -> Result<HandedOn, RegionError> {
    let text = std::env::var(CALLS).map_err(|_| RegionError::NoProgramOfOurs)?;
    let numbers: Option<Vec<i32>> = text.split(',').map(|number| number.parse().ok()).collect();
    let gone = |_: Errno| RegionError::NoProgramOfOurs;
    let (mailbox, layouts, connection) = match numbers.as_deref() {
        Some([mailbox, layouts]) => (*mailbox, *layouts, None),
        Some([mailbox, layouts, connection]) => (*mailbox, *layouts, Some(*connection)),
        _ => return Err(RegionError::NoProgramOfOurs),
    };
    let (mailbox, layouts) = (inherited(mailbox).map_err(gone)?, inherited(layouts).map_err(gone)?);
    let connection = connection.map(inherited_socket).transpose().map_err(gone)?;
    let ledger = Ledger::inherited()?;
    let files = [mailbox.as_fd(), ledger.fd()].into_iter();
    for file in files.chain(connection.iter().map(|connection| connection.as_fd())) {
        rustix::io::fcntl_setfd(file, FdFlags::CLOEXEC).map_err(gone)?;
    }
    let layouts = read(layouts).ok_or(RegionError::Protocol("the PCBs of an executable"))?;
    Ok(HandedOn { way: Handed { mailbox, connection }, layouts, ledger })
}

fn read(file: OwnedFd) -> Option<Vec<PcbLayout>> {
    let mut bytes = Vec::new();
    std::fs::File::from(file).take(LAYOUTS_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    layout::decode(&bytes)
}
