//! A folder with a key ring, for tests of `holdfast pgp`.
#![allow(dead_code)] // each test uses some of it
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at files from outside

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::in_time::RunInTime as _;

/// A folder with a key ring, gone with the test.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new(name: &str) -> Place {
        let folder = std::env::temp_dir().join(format!("hf-pgp-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Place(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn run(&self, words: &[&str]) -> Output {
        self.command(words).output_in_time().unwrap()
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_holdfast"));
        seam::process::heed_signals(&mut command);
        command.current_dir(&self.0).arg("pgp").args(words);
        command.env("HOLDFAST_PGP_HOME", self.path("ring"));
        command.env("HOLDFAST_PGP_KEY_PASSPHRASE", "the secret of a key");
        command.env("HOLDFAST_PGP_PASSPHRASE", "the secret of a file");
        // Of tokens only those of the test are there.
        command.env("SOFTHSM2_CONF", self.path("softhsm2.conf"));
        command
    }

    pub(crate) fn works(&self, words: &[&str]) -> String {
        let output = self.run(words);
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{words:?}: {printed}");
        assert!(!printed.contains("the secret of"), "a passphrase shows");
        printed + &String::from_utf8_lossy(&output.stdout)
    }

    pub(crate) fn fails(&self, words: &[&str], code: i32) -> String {
        let output = self.run(words);
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{words:?}: {printed}");
        assert!(!printed.contains("the secret of"), "a passphrase shows");
        printed
    }

    /// Everything in the folder but the key ring.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name != "ring").collect();
        names.sort();
        names
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn put(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
}
