//! The door to a process with all that it has started: waiting for its end, and bringing it about.
//!
//! Invariants:
//! 1. A signal goes to the process that was meant, never to another one that got its number.
//! 2. Who does not end when asked to is killed; what it started goes with it.

#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

impl From<Process> for OwnedFd {
    fn from(process: Process) -> OwnedFd {
        process.handle
    }
}

/// How often those are looked for who are started while others are killed.
const SWEEPS: usize = 50;

/// A process, for as long as somebody may speak of it.
pub struct Process {
    number: u32,
    handle: OwnedFd,
}

impl Process {
    /// The process of a number.
    ///
    /// # Errors
    /// If there is none, or the kernel knows no handles of processes.
    pub fn of(number: u32) -> io::Result<Process> {
        let pid = i32::try_from(number).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or(ErrorKind::NotFound)?;
        let handle = pidfd_open(pid, PidfdFlags::empty())?;
        Ok(Process { number, handle })
    }

    /// A process whose handle the caller has.
    pub(crate) fn with(number: u32, handle: OwnedFd) -> Process {
        Process { number, handle }
    }

    /// Waits until it has ended; `false` if something can be read from `other` first, or its other
    /// end has gone.
    #[must_use]
    pub fn ends_before(&self, other: impl AsFd) -> bool {
        let other = other.as_fd().as_raw_fd();
        let mut wanted = [poll_of(self.handle.as_raw_fd()), poll_of(other)];
        while !poll(&mut wanted, -1) {}
        wanted[0].revents != 0
    }

    /// The same, but for so long; `None` if neither happens.
    #[must_use]
    pub fn ends_before_within(&self, other: impl AsFd, limit: Duration) -> Option<bool> {
        let other = other.as_fd().as_raw_fd();
        let mut wanted = [poll_of(self.handle.as_raw_fd()), poll_of(other)];
        let timeout = c_int::try_from(limit.as_millis()).unwrap_or(c_int::MAX);
        poll(&mut wanted, timeout).then_some(wanted[1].revents == 0)
    }

    /// The processor time that it has used; none when it has ended.
    #[must_use]
    pub fn processor_time(&self) -> Duration {
        let number = libc::pid_t::try_from(self.number).unwrap_or(-1);
        let mut clock = 0;
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: both calls write the one value that they are given, which lives here.
        let failed = unsafe {
            libc::clock_getcpuclockid(number, &raw mut clock) != 0
                || libc::clock_gettime(clock, &raw mut time) != 0
        };
        if failed {
            return Duration::ZERO;
        }
        let (seconds, nanoseconds) = (time.tv_sec.max(0), time.tv_nsec.max(0));
        Duration::new(seconds.unsigned_abs(), nanoseconds.unsigned_abs() as u32)
    }

    /// Waits for its end for so long; whether it has come.
    #[must_use]
    pub fn ends_within(&self, limit: Duration) -> bool {
        all_end_within(std::slice::from_ref(self), limit)
    }

    /// Asks it and all below it to end, and kills those that have not after so long.
    pub fn end_with_all_below(&self, limit: Duration) {
        let mut family = self.below();
        self.signal(Signal::TERM);
        family.iter().for_each(|one| one.signal(Signal::TERM));
        if all_end_within(std::slice::from_ref(self), limit) && all_end_within(&family, limit) {
            return;
        }
        // While it stands still it starts no process, and those below it stay there.
        self.signal(Signal::STOP);
        for _ in 0..SWEEPS {
            family.extend(self.below());
            family.retain(|one| !one.ends_within(Duration::ZERO));
            if family.is_empty() {
                break;
            }
            family.iter().for_each(|one| one.signal(Signal::KILL));
            let _ = all_end_within(&family, Duration::from_millis(20));
        }
        self.signal(Signal::KILL);
    }

    /// Those who are below it and have not ended.
    fn below(&self) -> Vec<Process> {
        let family = below(self.number);
        // If it has ended meanwhile, these may be another one's that got its number (1).
        if has_ended(&self.handle) { Vec::new() } else { family }
    }

    /// Sends it a signal, unless it has ended.
    ///
    /// # Errors
    /// If this process may not, or it has ended.
    pub fn send(&self, signal: Signal) -> io::Result<()> {
        Ok(pidfd_send_signal(&self.handle, signal)?)
    }

    fn signal(&self, signal: Signal) {
        // It may have ended meanwhile.
        let _ = self.send(signal);
    }
}

#[allow(clippy::disallowed_methods)] // this is the seam
fn all_end_within(processes: &[Process], limit: Duration) -> bool {
    let begun = Instant::now();
    processes.iter().all(|process| {
        let mut wanted = [poll_of(process.handle.as_raw_fd())];
        loop {
            let left = limit.saturating_sub(begun.elapsed());
            let timeout = c_int::try_from(left.as_millis()).unwrap_or(c_int::MAX);
            if poll(&mut wanted, timeout) || left.is_zero() {
                return wanted[0].revents != 0;
            }
        }
    })
}

/// Whether the process of a handle has ended.
pub(crate) fn has_ended(handle: &OwnedFd) -> bool {
    let mut wanted = [poll_of(handle.as_raw_fd())];
    poll(&mut wanted, 0) || wanted[0].revents != 0
}

fn poll_of(fd: c_int) -> libc::pollfd {
    libc::pollfd { fd, events: libc::POLLIN, revents: 0 }
}

/// Whether something has happened to one of these.
fn poll(wanted: &mut [libc::pollfd], timeout: c_int) -> bool {
    let count = libc::nfds_t::try_from(wanted.len()).unwrap_or(0);
    // SAFETY: the entries are ours, and as many as is said.
    unsafe { libc::poll(wanted.as_mut_ptr(), count, timeout) > 0 }
}

/// Those who are below a process and have not ended.
#[allow(clippy::disallowed_methods)] // a folder of the kernel's
fn below(process: u32) -> Vec<Process> {
    let names = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = names.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let parents: BTreeMap<u32, u32> =
        numbers.filter_map(|number| Some((number, parent(number)?))).collect();
    let is_below = |number: u32| {
        let chain = std::iter::successors(parents.get(&number).copied(), |at| {
            parents.get(at).copied().filter(|next| *next != 0)
        });
        // A number that was given again could close the chain to a circle.
        chain.take(parents.len()).any(|above| above == process)
    };
    let found = parents.keys().copied().filter(|number| is_below(*number));
    let found = found.filter_map(|number| {
        let one = Process::of(number).ok()?;
        // It is still the one that was looked at.
        (parent(number) == parents.get(&number).copied()).then_some(one)
    });
    found.filter(|one| !one.ends_within(Duration::ZERO)).collect()
}

/// The parent of a process; `None` if there is no such process.
#[must_use]
pub fn parent(process: u32) -> Option<u32> {
    of_stat(process, PARENT)
}

/// When a process began, in the kernel's ticks since the machine did; `None` if there is no such
/// process.
pub(crate) fn began(process: u32) -> Option<u64> {
    of_stat(process, BEGAN)
}

/// Places of numbers in what the kernel says of a process, behind its name.
const PARENT: usize = 1;
const BEGAN: usize = 19;

#[allow(clippy::disallowed_methods)] // a file of the kernel's
fn of_stat<N: std::str::FromStr>(process: u32, place: usize) -> Option<N> {
    let stat = std::fs::read(format!("/proc/{process}/stat")).ok()?;
    // The name stands in parentheses and may hold anything.
    let end = stat.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(&stat[end + 1..]).ok()?;
    rest.split_ascii_whitespace().nth(place)?.parse().ok()
}

#[cfg(test)]
#[cfg(not(miri))] // it asks the operating system
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;
    use crate::process::{line, wait};
    use std::process::{Child, Command, Stdio};

    const LONG: Duration = Duration::from_secs(60);

    fn shell(script: &str) -> (Child, Process) {
        let mut command = Command::new("sh");
        let mut child = command.args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
        assert_eq!(line(child.stdout.as_mut().unwrap(), LONG).unwrap(), "in");
        let process = Process::of(child.id()).unwrap();
        (child, process)
    }

    #[test]
    fn who_does_not_end_when_asked_goes_with_all_below() {
        let deaf = "trap '' TERM; (trap '' TERM; sleep 600; :) & sleep 0.1; echo in; sleep 600; :";
        let (mut child, process) = shell(deaf);
        let family = below(child.id());
        assert!(family.len() >= 2, "{}", family.len());
        process.end_with_all_below(Duration::from_millis(100));
        assert!(!wait(&mut child, LONG).unwrap().success());
        assert!(all_end_within(&family, LONG));
        assert!(Process::of(u32::MAX).is_err());
    }

    #[test]
    fn processor_time_is_that_of_its_process_and_none_behind_its_end() {
        let own = Process::of(std::process::id()).unwrap();
        let (mut child, process) =
            shell("i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; echo in");
        assert!(process.ends_within(LONG));
        assert!(process.processor_time() > Duration::from_millis(1), "it has worked");
        let before = own.processor_time();
        while own.processor_time() - before < Duration::from_millis(5) {}
        wait(&mut child, LONG).unwrap();
        assert_eq!(process.processor_time(), Duration::ZERO);
    }

    #[test]
    fn an_end_and_a_word_are_told_apart() {
        let (mut child, process) = shell("echo in; sleep 600; :");
        assert!(!process.ends_within(Duration::from_millis(20)));
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        drop(theirs);
        assert!(!process.ends_before(&ours));
        process.end_with_all_below(LONG);
        let (ours, _theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        assert!(process.ends_before(&ours));
        wait(&mut child, LONG).unwrap();
    }

    #[test]
    fn parents_are_those_that_the_kernel_names() {
        let parent_of_own = rustix::process::getppid().map(Pid::as_raw_pid);
        assert_eq!(parent(std::process::id()).map(u32::cast_signed), parent_of_own);
        assert_eq!(parent(u32::MAX), None);
    }
}
