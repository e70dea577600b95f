//! A system's folder with a server in it, and programs that are built and run against it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use mqi::place::SOCKET;
use mqi::server::{LocalUsers, Manager, Server};

/// How long a program may take.
pub(crate) const LONG: Duration = Duration::from_secs(120);

/// A system that programs connect to.
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    pub(crate) server: Option<Server>,
}

impl Place {
    pub(crate) fn new(manager: impl Manager + 'static) -> Place {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::SeqCst);
        let name = format!("mqm-test-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let manager = Arc::new(manager);
        let server = Server::start(&folder.join(SOCKET), manager, Arc::new(LocalUsers)).unwrap();
        Place { folder, server: Some(server) }
    }

    /// Builds a C program with our headers and a library of ours, and returns its path.
    pub(crate) fn c(&self, name: &str, source: &str) -> PathBuf {
        let (file, binary) = (self.folder.join(format!("{name}.c")), self.folder.join(name));
        std::fs::write(&file, source).unwrap();
        let mut gcc = Command::new("gcc");
        gcc.args(["-std=c11", "-Wall", "-Werror", "-Wno-unused-function", "-D_GNU_SOURCE", "-I"])
            .arg(include());
        gcc.arg(&file).arg("-o").arg(&binary).arg("-L").arg(libraries());
        run(gcc.args(["-lmqm_r", "-lpthread"]));
        binary
    }

    /// A command for a program of this system.
    pub(crate) fn program(&self, binary: impl AsRef<Path>) -> Command {
        let mut command = Command::new(binary.as_ref());
        command.env("HOLDFAST_SYSTEM", &self.folder).env("LD_LIBRARY_PATH", libraries());
        command.current_dir(&self.folder);
        command
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.server = None;
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Where our headers are.
pub(crate) fn include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include")
}

/// Where the libraries are that were built with this test.
pub(crate) fn libraries() -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    for library in ["libmqm_r.so", "libmqm.so", "libmqmcb_r.so"] {
        assert!(folder.join(library).exists(), "{library} is not beside the test");
    }
    folder
}

/// Runs a command that must succeed, and returns what it said.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> String {
    let done = seam::process::output(command, LONG).unwrap();
    let (said, wrong) = (
        String::from_utf8_lossy(&done.stdout).into_owned(),
        String::from_utf8_lossy(&done.stderr).into_owned(),
    );
    assert!(done.status.success(), "{command:?}: {}\n{said}\n{wrong}", done.status);
    said
}
