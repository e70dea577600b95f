//! A folder with a program that is compiled with the library, and without it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

/// Longer than any program of a test takes on any machine.
pub(crate) const LONG: Duration = Duration::from_secs(600);

/// A folder of its own for one test.
pub(crate) struct Stage {
    folder: PathBuf,
}

/// Whether a program goes through the library, or through the run time alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum With {
    Library,
    RunTime,
}

impl Stage {
    pub(crate) fn new(name: &str) -> Stage {
        let folder =
            std::env::temp_dir().join(format!("holdfast-fh-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder for the test");
        Stage { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).expect("a file of the test");
    }

    /// Compiles a program of `tests/programs`; gives back its executable.
    pub(crate) fn compile(&self, name: &str, with: With) -> PathBuf {
        let source =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/programs/{name}.cbl"));
        let program = self.path(&format!("{name}-{with:?}"));
        let mut cobc = Command::new("cobc");
        cobc.current_dir(&self.folder).args(["-x", "-std=ibm", "-o"]).arg(&program).arg(source);
        if with == With::Library {
            cobc.arg("-fcallfh=HOLDFASTFH").arg("-L").arg(library()).arg("-lholdfast_fh");
        }
        let output = seam::process::output(&mut cobc, LONG).expect("cobc is installed");
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name} does not compile: {printed}");
        program
    }

    /// Runs a program with DDs for files of this folder.
    pub(crate) fn run(&self, program: &Path, dds: &[(&str, &str)]) -> Output {
        let mut command = Command::new(program);
        command.current_dir(&self.folder).env("LD_LIBRARY_PATH", library());
        for (name, value) in dds {
            command.env(format!("DD_{name}"), value);
        }
        seam::process::output(&mut command, LONG).expect("a program that was compiled")
    }

    /// Compiles and runs; gives back what the program displays.
    pub(crate) fn play(&self, name: &str, with: With, dds: &[(&str, &str)]) -> String {
        let program = self.compile(name, with);
        let output = self.run(&program, dds);
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name} with {with:?}: {} {printed}", output.status);
        lines_of(&output.stdout)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// What was displayed, without the blanks behind each line.
fn lines_of(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The folder of the library, which is built with the tests.
pub(crate) fn library() -> PathBuf {
    let tests = std::env::current_exe().expect("this test's file");
    let folder = tests.parent().expect("it lies in a folder");
    let beside = [folder, folder.parent().unwrap_or(folder)];
    let found = beside.iter().find(|folder| folder.join("libholdfast_fh.so").exists());
    found.unwrap_or_else(|| panic!("no library in {}", folder.display())).to_path_buf()
}
