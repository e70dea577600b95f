//! Files that a user names for output: standard output, which with `--json` is for one reader
//! alone, and files of the system, which are for no other use.
//!
//! Invariants:
//! 1. A program's files and traces never share standard output with a report in JSON.
//! 2. What this process has open, devices and pipes are never replaced by a file.
//! 3. No output of a command is one of the system's own files.

use std::io;
use std::path::Path;

use rustix::fs::{FileType, Stat, fstat, stat};
use seam::Seam;
use seam::disk::Disk;
use system::{Places, SystemConfig};

pub(crate) use jobs::special_files::is_special;
use jobs::special_files::leads;

use crate::failure::{Failure, Result};

/// Whether what is written to a path comes out at this process's standard output.
pub(crate) fn is_standard_output(path: &Path) -> bool {
    let own = format!("/proc/{}/fd/1", std::process::id());
    let names = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1", &own];
    // A terminal and `/dev/null` may have several users; a file or a pipe has one.
    let is_one_place = |about: &Stat| {
        matches!(
            FileType::from_raw_mode(about.st_mode),
            FileType::RegularFile | FileType::Fifo | FileType::Socket
        )
    };
    let is_same = || {
        let (Ok(file), Ok(own)) = (stat(path), fstat(io::stdout())) else { return false };
        is_one_place(&own) && (file.st_dev, file.st_ino) == (own.st_dev, own.st_ino)
    };
    leads(path, |at| names.iter().any(|name| at == Path::new(name))) || is_same()
}

/// Refuses a file to be written that is `-`, which is no name of standard output here, or that is
/// standard output while a report in JSON goes there. `what` is the option, such as `--dd SYSOUT`.
fn check_written(what: &str, path: &Path, json: bool) -> Result<()> {
    if path == Path::new("-") {
        return Err(Failure::usage(
            format!("{what}=- would be a file of the name -"),
            "Write /dev/stdout for standard output, ./- if a file of that name is meant.",
        ));
    }
    if json && is_standard_output(path) {
        let remedy = match what {
            "--dd SYSOUT" => {
                "Leave it out: with --json what the program displays goes to standard error. Or \
                 name a file."
            }
            _ => "Name a file, or /dev/stderr.",
        };
        let path = path.display();
        return Err(Failure::usage(
            format!("{what}={path} is standard output, where --json has its report alone"),
            remedy,
        ));
    }
    Ok(())
}

/// What files of a command may not be.
pub(crate) struct Guarded<'a> {
    pub(crate) disk: &'a dyn Disk,
    /// Whose files they are not.
    pub(crate) places: Places,
    /// Standard output is for a report.
    pub(crate) json: bool,
}

impl Guarded<'_> {
    /// For commands on the system in `dir`.
    pub(crate) fn of<'a>(seam: &'a Seam, dir: &Path, json: bool) -> Result<Guarded<'a>> {
        let disk = seam.disk.as_ref();
        let places = Places::of(&SystemConfig::read_any(disk, dir)?, dir);
        Ok(Guarded { disk, places, json })
    }

    /// Refuses what [`check_written`] refuses, and a file of the system itself.
    pub(crate) fn check(&self, what: &str, path: &Path) -> Result<()> {
        check_written(what, path, self.json)?;
        Ok(self.places.refuse_own(self.disk, what, path)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_output_is_known_by_all_of_its_names() {
        let own = format!("/proc/{}/fd/1", std::process::id());
        for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", &own] {
            assert!(is_standard_output(Path::new(name)) && is_special(Path::new(name)), "{name}");
            assert!(check_written("--dd SYSOUT", Path::new(name), true).is_err(), "{name}");
            assert!(check_written("--dd SYSOUT", Path::new(name), false).is_ok(), "{name}");
        }
        assert!(check_written("--trace", Path::new("-"), false).is_err());
        for name in ["/dev/stderr.none", "./-", "/dev/null", "Cargo.toml"] {
            assert!(!is_standard_output(Path::new(name)), "{name}");
        }
    }

    /// Options and places by which files are only read, of whichever command; and of some.
    const READ: [&str; 14] = [
        "--ca",
        "--certificate",
        "--config",
        "--file",
        "--key",
        "--key-passphrase-file",
        "--keys",
        "--keystore",
        "--keystore-passphrase-file",
        "--map",
        "--new-passphrase-file",
        "--passphrase-file",
        "--pin-file",
        "--token-module",
    ];
    const READ_HERE: [&str; 12] = [
        "batch --program",
        "db map MAPFILE",
        "define FILE",
        "gen FILE|FOLDER",
        "load FILE",
        "pgp compress FILE",
        "pgp decrypt FILE",
        "pgp encrypt FILE",
        "pgp import FILE",
        "pgp sign FILE",
        "pgp verify --signature",
        "pgp verify FILE",
    ];
    /// Those by which files are written. The scenarios of `a_system_keeps_to_its_own_places` see
    /// that each of them spares the files of systems.
    const WRITTEN: [&str; 18] = [
        "batch --dd",
        "batch --trace",
        "copy --sysprint",
        "dltest --dd",
        "drive --html",
        "drive --ledger",
        "idcams --dd",
        "pgp compress --output",
        "pgp csdfilde --dd",
        "pgp csdfilen --dd",
        "pgp decrypt --output",
        "pgp delete --keystore",
        "pgp encrypt --output",
        "pgp export --output",
        "pgp generate --keystore",
        "pgp sign --output",
        "pgp verify --output",
        "unload FILE",
    ];

    /// The options and places of a command, and of those below it, that name files.
    fn files(command: &clap::Command, name: &str, all: &mut Vec<String>) {
        for argument in command.get_arguments() {
            let values = argument.get_value_names().unwrap_or_default().iter();
            let values = values.map(ToString::to_string).collect::<Vec<_>>().join(" ");
            if !values.contains("FILE") && !values.contains("PATH") {
                continue;
            }
            let option = argument.get_long().map(|long| format!("--{long}"));
            let option = option.unwrap_or(values);
            let words = format!("{name} {option}").trim_start().to_owned();
            let is_read = READ.contains(&&*option) || READ_HERE.contains(&&*words);
            if !is_read || WRITTEN.contains(&&*words) {
                all.push(words);
            }
        }
        for below in command.get_subcommands() {
            let name = format!("{name} {}", below.get_name());
            files(below, name.trim_start(), all);
        }
    }

    /// The story: `pgp` and `drive` wrote over key files, because nobody had thought of them.
    #[test]
    fn every_option_that_names_a_file_is_known_to_be_read_or_to_be_written() {
        use clap::CommandFactory as _;
        let mut all = Vec::new();
        files(&crate::command::Cli::command(), "", &mut all);
        all.sort();
        assert_eq!(all, WRITTEN, "whoever adds one says what becomes of a system's file there");
    }
}
