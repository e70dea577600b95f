//! C sources become shared objects.
//!
//! Invariants:
//! 1. What counts as the source is what the preprocessor makes of it, headers and all.

use std::path::Path;

use super::facts::Facts;
use super::{Digest, Language, OBJECT, Prepared, Workshop};
use crate::error::RegionError;

const COMPILER: &str = "cc";
const FLAGS: [&str; 3] = ["-O2", "-g", "-fPIC"];

impl Workshop<'_> {
    pub(super) fn prepare_c(&self, path: &Path) -> Result<Prepared, RegionError> {
        let compiler = || {
            let mut command = seam::process::command(COMPILER);
            command.args(FLAGS).args(&self.options);
            for folder in self.folders(path) {
                command.arg("-I").arg(folder);
            }
            command
        };
        let failed = |output: &std::process::Output| RegionError::Source {
            path: path.to_owned(),
            messages: String::from_utf8_lossy(&output.stderr).trim_end().to_owned(),
        };
        let preprocessed = self.run(compiler().arg("-E").arg(path), path)?;
        if !preprocessed.status.success() {
            return Err(failed(&preprocessed));
        }
        let version = self.words_of(COMPILER, "--version", path)?;
        let mut digest = Digest::default();
        FLAGS.iter().for_each(|flag| digest.add(flag.as_bytes()));
        digest.add(&version);
        digest.add(&preprocessed.stdout);
        self.options.iter().for_each(|option| digest.add(option.as_bytes()));
        let folder = self.cache.join(digest.name());
        let object = folder.join(OBJECT);
        let done = self.is_sound(&folder, &[OBJECT]);
        let mut warnings = String::new();
        if !done {
            let new = self.begin(&folder)?;
            let mut build = compiler();
            build.arg("-shared").arg("-o").arg(new.join(OBJECT)).arg(path);
            let output = self.run(&mut build, path)?;
            if !output.status.success() {
                self.discard(&new);
                return Err(failed(&output));
            }
            warnings = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
            self.publish(&new, &folder, &[OBJECT.to_owned()])?;
        }
        Ok(Prepared {
            source: path.to_owned(),
            object,
            language: Language::C,
            facts: Facts::default(),
            fresh: !done,
            warnings,
        })
    }
}
