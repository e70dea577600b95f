//! A token of SoftHSM's in place of a device, for the tests of every crate that uses tokens: they
//! include this file by its path. Without SoftHSM they say so and prove nothing
//! (`scripts/setup.sh token` installs it).
//!
//! The environment names the tokens, so what needs them runs in a process of its own.

#![allow(dead_code)] // each test uses a part
#![allow(clippy::disallowed_methods)] // makes a token by a program and files of its own
#![allow(clippy::unwrap_used)] // an unwrap is an assertion here

use std::path::{Path, PathBuf};
use std::process::Command;

/// The PIN of every token that is made here.
/// Longer than any process of a test takes on any machine.
const LONG: std::time::Duration = std::time::Duration::from_secs(600);
pub(crate) const PIN: &str = "4711-user";

/// Where Debian and others put the library.
const MODULES: [&str; 3] = [
    "/usr/lib/softhsm/libsofthsm2.so",
    "/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so",
    "/usr/lib64/pkcs11/libsofthsm2.so",
];
/// The variable that tells a process which folder has the token.
const WORKER: &str = "HOLDFAST_TOKEN_TEST";

/// A folder with a token BANK; only a process that is started with its environment sees it.
pub(crate) struct SoftHsm {
    pub(crate) folder: PathBuf,
    pub(crate) module: PathBuf,
}

impl SoftHsm {
    /// Makes a token in the folder, if SoftHSM is installed.
    pub(crate) fn new(folder: &Path) -> Option<SoftHsm> {
        let made = SoftHsm::at(folder)?;
        std::fs::create_dir_all(made.tokens()).unwrap();
        let tokens = made.tokens();
        let text = format!("directories.tokendir = {}\nlog.level = ERROR\n", tokens.display());
        std::fs::write(made.conf(), text).unwrap();
        let words = ["--init-token", "--free", "--label", "BANK", "--so-pin", "so-pin"];
        let mut tool = Command::new("softhsm2-util");
        let tool = tool.env("SOFTHSM2_CONF", made.conf()).args(words).args(["--pin", PIN]);
        let done = seam::process::output(tool, LONG).unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        Some(made)
    }

    /// The token that is in the folder already.
    fn at(folder: &Path) -> Option<SoftHsm> {
        let module = MODULES.map(PathBuf::from).into_iter().find(|path| path.exists());
        if module.is_none() {
            eprintln!("SKIPPED: SoftHSM is not installed (scripts/setup.sh token)");
        }
        Some(SoftHsm { folder: folder.to_owned(), module: module? })
    }

    pub(crate) fn tokens(&self) -> PathBuf {
        self.folder.join("tokens")
    }

    /// What SOFTHSM2_CONF has to name.
    pub(crate) fn conf(&self) -> PathBuf {
        self.folder.join("softhsm2.conf")
    }

    /// Runs this work with a token, in a process of its own: the test of that name once more.
    pub(crate) fn work(test: &str, work: impl FnOnce(&SoftHsm)) {
        if let Some(folder) = std::env::var_os(WORKER) {
            work(&SoftHsm::at(Path::new(&folder)).unwrap());
            return;
        }
        let folder = std::env::temp_dir().join(format!("holdfast-{test}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        if let Some(made) = SoftHsm::new(&folder) {
            let mut again = Command::new(std::env::current_exe().unwrap());
            again.env(WORKER, &folder).env("SOFTHSM2_CONF", made.conf());
            again.args(["--exact", test, "--nocapture"]);
            let done = seam::process::output(&mut again, LONG).unwrap();
            let answer = String::from_utf8_lossy(&done.stderr);
            assert!(done.status.success(), "{}{answer}", String::from_utf8_lossy(&done.stdout));
        }
        let _ = std::fs::remove_dir_all(&folder);
    }
}
