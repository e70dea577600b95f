//! A broker's process: started in a folder of its own, and gone with this process.
#![allow(unsafe_code)] // one pre_exec, which says why it is sound

use std::fs::File;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};

use crate::cpu::CpuScope;
use crate::error::{BenchError, Result};

/// How long a broker may take to start.
const START: Duration = Duration::from_secs(120);
/// How long it may take to end before it is killed.
const END: Duration = Duration::from_secs(20);

/// A running broker.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
}

/// A port of this machine that nobody has.
pub(crate) fn free_port() -> Result<u16> {
    let place = Path::new("127.0.0.1");
    let listener =
        TcpListener::bind(("127.0.0.1", 0)).map_err(BenchError::system("bind", place))?;
    Ok(listener.local_addr().map_err(BenchError::system("bind", place))?.port())
}

/// The first program of that name in these folders and in the path.
pub(crate) fn find(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = folders.iter().cloned().chain(std::env::split_paths(&path));
    all.map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Where `bench/setup.sh` puts what is no package of Debian: beside the build's output.
pub(crate) fn tools() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    let target = own.ancestors().find(|place| place.join("tools").is_dir());
    target.unwrap_or(Path::new("target")).join("tools")
}

impl Process {
    /// Starts a command and waits until it listens at a port; its output goes to a file.
    pub(crate) fn start(
        peer: &'static str,
        mut command: Command,
        port: u16,
        log: &Path,
    ) -> Result<Process> {
        let output = File::create(log).map_err(BenchError::system("create", log))?;
        let errors = output.try_clone().map_err(BenchError::system("open", log))?;
        command.stdin(Stdio::null()).stdout(output).stderr(errors);
        // SAFETY: prctl is async-signal-safe and touches no memory of the parent.
        unsafe {
            command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
        }
        let program = PathBuf::from(command.get_program());
        let child = command.spawn().map_err(BenchError::system("start", &program))?;
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let mut process = Process { child, address };
        let begun = Instant::now();
        loop {
            if TcpStream::connect_timeout(&address, Duration::from_millis(200)).is_ok() {
                return Ok(process);
            }
            if begun.elapsed() > START || !matches!(process.child.try_wait(), Ok(None)) {
                let answer = std::fs::read_to_string(log).unwrap_or_default();
                let last: Vec<&str> = answer.lines().rev().take(3).collect();
                return Err(BenchError::subject(peer, "start", last.join(" | ")));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Whose CPU counts: its own, with all its children, and that of the clients in this process.
    pub(crate) fn scope(&self) -> CpuScope {
        CpuScope::WithServer(self.child.id())
    }

    /// Ends it in an orderly way, or kills it.
    pub(crate) fn end(&mut self) {
        if !matches!(self.child.try_wait(), Ok(None)) {
            return;
        }
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let begun = Instant::now();
        while begun.elapsed() < END {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(20)),
                _ => return,
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}
