//! The door to other processes: starting them, waiting for them, and what signals mean to this one.
//!
//! Invariants:
//! 1. No process that is started here finds a passphrase, a PIN or the password of an engine in its
//!    environment (K22); but for this executable itself where it needs the last ([`ourselves`]).
//! 2. A signal that the parent of this process has made it ignore, as `nohup` does, stays
//!    ignored.
//! 3. Nobody waits for a process without an end: what has not come in time is an error that names
//!    the process.

#![allow(unsafe_code)]

use std::ffi::{OsStr, c_int};
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, AsRawFd as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Output};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// How variables of the environment end that hold a secret of ours.
const SECRETS: [&str; 2] = ["PASSPHRASE", "PIN"];
/// Variables of PostgreSQL's that hold a password, or say where passwords stand.
pub const ENGINE_SECRETS: [&str; 2] = ["PGPASSWORD", "PGPASSFILE"];
/// How they begin.
const OURS: &str = "HOLDFAST_";

/// A command that is about to be started, and that sees no secret of this process's environment.
#[must_use]
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = ourselves(program);
    for name in ENGINE_SECRETS {
        command.env_remove(name);
    }
    command
}

/// The same for a process that opens a system itself, and takes the password of its engine away
/// before anything else runs there.
#[must_use]
pub fn ourselves(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let is_secret = name.to_str().is_some_and(|name| {
            name.starts_with(OURS) && SECRETS.iter().any(|secret| name.ends_with(secret))
        });
        if is_secret {
            command.env_remove(name);
        }
    }
    command
}

/// Gives signals the meaning that this process relies on, whatever the one that has started it made
/// of them: the end of a process is kept until its parent asks for it, and a file that may not grow
/// further is an error of the write, and no end of the process in the middle of a commit.
pub fn rely_on_signals() {
    for (signal, meaning) in [(libc::SIGCHLD, libc::SIG_DFL), (libc::SIGXFSZ, libc::SIG_IGN)] {
        // SAFETY: no handler of ours is set or taken away.
        unsafe { libc::signal(signal, meaning) };
    }
}

/// Whether an error of waiting says that another thread has taken the status of the process, or the
/// system has thrown it away.
#[must_use]
pub fn is_taken(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ECHILD)
}

/// Those of some signals that this process was not made to ignore: the ones to listen for.
#[must_use]
pub fn not_ignored(signals: &[c_int]) -> Vec<c_int> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    signals.iter().copied().filter(|signal| mask & (1 << (signal - 1)) == 0).collect()
}

/// Has a process begin with the usual meaning of the signals that end it, whatever this one was
/// made to ignore: for a process that signals are going to be sent to.
pub fn heed_signals(command: &mut Command) -> &mut Command {
    let reset = || {
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM] {
            // SAFETY: `signal` may be called between fork and exec, and no handler is set.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: the closure allocates nothing and takes no lock.
    unsafe { command.pre_exec(reset) }
}

/// Runs a command to its end.
///
/// # Errors
/// If it cannot be started, or is not over in time ([`finish`]).
pub fn output(command: &mut Command, limit: Duration) -> io::Result<Output> {
    command.stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    finish(command.spawn()?, limit)
}

/// Waits for the end of a process and takes what it says until then. One that is late is killed.
///
/// # Errors
/// `TimedOut`, naming the process, if it is late, or a process that it has started keeps its
/// output.
#[allow(clippy::disallowed_methods)] // this is the seam
pub fn finish(child: Child, limit: Duration) -> io::Result<Output> {
    let id = child.id();
    let handle = pidfd_open(Pid::from_child(&child), PidfdFlags::empty());
    let (sender, receiver) = mpsc::channel();
    // A late process leaves this thread behind; it ends with the process.
    let waiting = move || drop(sender.send(child.wait_with_output()));
    std::thread::Builder::new().name("waiting".to_owned()).spawn(waiting)?;
    receiver.recv_timeout(limit).unwrap_or_else(|_| {
        let named = late(&name_of(id), "its end", limit);
        if let Ok(handle) = handle {
            let _ = pidfd_send_signal(handle, Signal::KILL);
        }
        Err(named)
    })
}

/// Waits for the end of a process. One that is late is killed.
///
/// # Errors
/// `TimedOut`, naming the process, if it is late.
#[allow(clippy::disallowed_methods)] // this is the seam
pub fn wait(child: &mut Child, limit: Duration) -> io::Result<ExitStatus> {
    let (begun, mut pause) = (Instant::now(), Duration::from_millis(1));
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if begun.elapsed() > limit {
            let error = late(&name_of(child.id()), "its end", limit);
            let _ = child.kill();
            let _ = child.wait();
            return Err(error);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// The next line that a process says, without its end; an empty one if it says no more. Nothing
/// behind it is taken.
///
/// # Errors
/// `TimedOut` if there is none in time, with what was said so far.
#[allow(clippy::disallowed_methods)] // this is the seam
pub fn line(from: &mut (impl Read + AsFd), limit: Duration) -> io::Result<String> {
    let (begun, mut line) = (Instant::now(), Vec::new());
    loop {
        let left = limit.saturating_sub(begun.elapsed());
        let timeout = c_int::try_from(left.as_millis()).unwrap_or(c_int::MAX);
        let mut wanted =
            libc::pollfd { fd: from.as_fd().as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry, which is ours.
        match unsafe { libc::poll(&raw mut wanted, 1, timeout) } {
            0 => {
                let so_far = String::from_utf8_lossy(&line);
                return Err(late("a process", &format!("a line (so far: \"{so_far}\")"), limit));
            }
            failed if failed < 0 => {
                let error = io::Error::last_os_error();
                if error.kind() != ErrorKind::Interrupted {
                    return Err(error);
                }
                continue;
            }
            _ => (),
        }
        let mut byte = [0];
        if from.read(&mut byte)? == 0 || byte == *b"\n" {
            return Ok(String::from_utf8_lossy(&line).into_owned());
        }
        line.push(byte[0]);
    }
}

/// Ends a process that goes on for too long, for as long as another thread waits for it.
pub struct Watch(#[allow(dead_code)] mpsc::Sender<()>);

impl Watch {
    /// Begins to watch the process of that number. If it is late, standard error names it.
    ///
    /// # Panics
    /// If there can be no thread to watch it.
    #[must_use]
    #[allow(clippy::disallowed_methods)] // this is the seam
    pub fn over(process: u32, limit: Duration) -> Watch {
        let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
        let handle = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let (sender, receiver) = mpsc::channel();
        let watch = move || {
            if receiver.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
                eprintln!("{}", late(&name_of(process), "its end", limit));
                let _ = handle.map(|handle| pidfd_send_signal(handle, Signal::KILL));
            }
        };
        let thread = std::thread::Builder::new().name("watch".to_owned()).spawn(watch);
        assert!(thread.is_ok(), "there is no thread to watch {}", name_of(process));
        Watch(sender)
    }
}

fn late(who: &str, what: &str, limit: Duration) -> io::Error {
    let text = format!("{who}: {what} has not come within {} s", limit.as_secs_f32());
    io::Error::new(ErrorKind::TimedOut, text)
}

/// A process as its command line names it.
#[allow(clippy::disallowed_methods)] // a file of the kernel's
fn name_of(id: u32) -> String {
    const CHARACTERS_MAX: usize = 300;
    let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&line).replace('\0', " ");
    let words: String = words.trim_end().chars().take(CHARACTERS_MAX).collect();
    format!("process {id} ({words})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    const SOON: Duration = Duration::from_millis(200);
    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn who_is_waited_for_in_vain_is_named() {
        let sleeper = || Command::new("sleep").arg("600").stdout(Stdio::piped()).spawn().unwrap();
        let error = finish(sleeper(), SOON).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert!(error.to_string().contains("sleep 600"), "{error}");
        let mut child = sleeper();
        let error = wait(&mut child, SOON).unwrap_err();
        assert!(error.to_string().contains("sleep 600"), "{error}");
        let mut child = sleeper();
        let error = line(child.stdout.as_mut().unwrap(), SOON).unwrap_err();
        assert!(error.to_string().contains("a line"), "{error}");
        child.kill().unwrap();
        let watch = Watch::over(child.id(), LONG);
        assert!(!wait(&mut child, LONG).unwrap().success());
        drop(watch);
        let mut child = sleeper();
        let _watch = Watch::over(child.id(), SOON);
        assert!(!wait(&mut child, LONG).unwrap().success());
        // Another process may keep the output of a process that has ended.
        let mut shell = Command::new("sh");
        shell.args(["-c", "sleep 5 & echo said"]).stdout(Stdio::piped());
        let error = finish(shell.spawn().unwrap(), SOON).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }

    #[test]
    fn no_process_finds_a_secret_in_its_environment() {
        let removed = |command: &Command| -> Vec<String> {
            let all = command.get_envs().filter(|(_, value)| value.is_none());
            all.map(|(name, _)| name.to_string_lossy().into_owned()).collect()
        };
        assert_eq!(removed(&command("true")), ["PGPASSFILE", "PGPASSWORD"]);
        assert!(removed(&ourselves("true")).is_empty());
        assert!(is_taken(&io::Error::from_raw_os_error(libc::ECHILD)));
    }

    #[test]
    fn lines_come_one_by_one() {
        let mut command = Command::new("printf");
        let mut child = command.arg("one\\ntwo\\nrest").stdout(Stdio::piped()).spawn().unwrap();
        let mut so_far = || line(child.stdout.as_mut().unwrap(), LONG).unwrap();
        assert_eq!([so_far(), so_far(), so_far(), so_far()], ["one", "two", "rest", ""]);
        assert!(wait(&mut child, LONG).unwrap().success());
    }

    #[test]
    fn a_process_that_signals_are_for_heeds_them_whatever_its_parent_ignores() {
        let ignores = |program: &mut Command| {
            let output = output(program.arg("/proc/self/status"), LONG).unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let mask = text.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
            u64::from_str_radix(mask.trim(), 16).unwrap() & (1 << (libc::SIGQUIT - 1)) != 0
        };
        // SAFETY: no other test of this process speaks of this signal.
        unsafe { libc::signal(libc::SIGQUIT, libc::SIG_IGN) };
        assert!(not_ignored(&[libc::SIGQUIT]).is_empty());
        assert!(ignores(&mut Command::new("cat")));
        assert!(!ignores(heed_signals(&mut Command::new("cat"))));
        // SAFETY: as above.
        unsafe { libc::signal(libc::SIGQUIT, libc::SIG_DFL) };
    }

    #[test]
    fn signals_that_are_not_ignored_are_listened_for() {
        // Rust itself ignores broken pipes.
        assert_eq!(not_ignored(&[libc::SIGUSR1, libc::SIGPIPE]), [libc::SIGUSR1]);
    }
}
