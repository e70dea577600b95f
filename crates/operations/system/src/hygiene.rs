//! What a process that holds keys does for them (K22), and what an operator should know about the
//! machine it runs on.

use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::process::{DumpableBehavior, Resource, Rlimit};
use rustix::process::{getrlimit, set_dumpable_behavior, setrlimit};
use seal::CipherCheck;
use seam::Seam;
use seam::disk::{Disk, HeldLock, LockPlace};

use crate::{SystemConfig, SystemError};

type Result<T> = std::result::Result<T, SystemError>;

/// Keeps keys out of core dumps, and the memory of this process from other processes of the user.
/// What the operating system refuses is said in a sentence.
#[must_use]
pub fn protect_process() -> Vec<String> {
    let mut notes = Vec::new();
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        notes.push(format!("the process cannot be kept from being dumped: {error}"));
    }
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    if let Err(error) = setrlimit(Resource::Core, none) {
        notes.push(format!("core dumps cannot be switched off: {error}"));
    }
    notes
}

/// The process that traces this one, and so reads all of its memory; `None` if nobody does. From
/// [`protect_process`] on nobody can begin to but root.
#[must_use]
pub fn tracer() -> Option<u32> {
    // A file of the kernel's, not of a system.
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"))?;
    tracer.trim().parse().ok().filter(|process| *process != 0)
}

/// What a process needs besides what it works on: libraries, threads, the stretching of a
/// passphrase, sockets.
const ADDRESSES: u64 = 512 << 20;
const DESCRIPTORS: u64 = 64;

/// Whether the operating system lets this process have as many open files and as much memory as a
/// system needs. It takes as many open files as it can get first.
pub(crate) fn has_room(disk: &dyn Disk, dir: &Path, config: &SystemConfig) -> Result<()> {
    let files = |folder: &PathBuf| disk.list(folder).map_or(0, |names| names.len() as u64);
    let mut folders = config.all_log_folders(dir);
    folders.extend(config.data.folders.iter().map(|folder| dir.join(folder)));
    let needed = DESCRIPTORS + folders.iter().map(files).sum::<u64>();
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some() && limit.current != limit.maximum {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    }
    let may_have = |resource| getrlimit(resource).current.unwrap_or(u64::MAX);
    let (has, what, option) = (may_have(Resource::Nofile), "open files", 'n');
    if has < needed {
        return Err(SystemError::Limited { what, has, needed, option });
    }
    let pools = config.pools.values().map(|pool| pool.bytes.0).sum::<u64>();
    let needed = (ADDRESSES + pools + config.log.ring_bytes.0) >> 10;
    let (has, what, option) = (may_have(Resource::As) >> 10, "KiB of addresses", 'v');
    match has < needed {
        true => Err(SystemError::Limited { what, has, needed, option }),
        false => Ok(()),
    }
}

/// What an operator should know about cipher and disk, a sentence each; and the cipher's rate.
#[must_use]
pub fn look_at_machine(seam: &Seam, dir: &Path) -> (CipherCheck, Vec<String>) {
    let cipher = CipherCheck::run(seam.clock.as_ref());
    let mut notes = Vec::new();
    if !cipher.instructions {
        notes.push(cipher.to_string());
    }
    if !has_direct_io(dir) {
        notes.push(format!(
            "{} lies on a file system without direct I/O: pages also take room in the operating \
             system's cache",
            dir.display()
        ));
    }
    (cipher, notes)
}

/// Whether files of that folder can be read and written past the cache. A folder of the simulator
/// is not on this machine, and counts as one that can.
fn has_direct_io(dir: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC;
    let probe = rustix::fs::open(dir.join("control"), flags, Mode::empty());
    !matches!(probe, Err(rustix::io::Errno::INVAL))
}

/// What the machine is called, for displays.
pub(crate) fn machine_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// Bytes of memory that this process has resident; 0 if the operating system does not say.
#[must_use]
pub fn resident_bytes() -> u64 {
    // A file of the kernel's, not of a system: it is not on any disk that the seam could simulate.
    let Ok(text) = std::fs::read_to_string("/proc/self/status") else { return 0 };
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kib.and_then(|kib| kib.trim().parse::<u64>().ok()).unwrap_or(0) << 10
}

/// That the lock's file is not where others look for it.
pub(crate) fn lock_note(lock: &dyn HeldLock) -> Option<String> {
    (lock.place() != LockPlace::InPlace).then(|| {
        "the file `lock` was removed or replaced while the system is open; only the lock of its \
         folder keeps others out now: stop the system, and start it again"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_protected_process_has_no_core_dumps() {
        assert_eq!(protect_process(), Vec::<String>::new());
        let limit = getrlimit(Resource::Core);
        assert_eq!(limit.current, Some(0));
        let dumpable = rustix::process::dumpable_behavior().unwrap();
        assert_eq!(dumpable, DumpableBehavior::NotDumpable);
    }

    #[test]
    fn nobody_traces_a_test() {
        assert_eq!(tracer(), None);
    }

    #[test]
    fn a_process_has_memory() {
        assert!(resident_bytes() > 100_000);
    }
}
