//! Which files of the machine are a system's, whichever system's: no output takes their place.
//!
//! | a file is a system's if | for instance |
//! |---|---|
//! | it begins as one of Holdfast's does (`FRONTS`) | the key file, wherever and under any name |
//! | it has, or would get, the name of one in the folder of a system | `control`, `holdfast.keys` |
//! | the same in a folder that a mark gives to a system ([`MARK`]) | a data set |
//! | it has the name of a log's segment or an archive, where others of them stand | `segment-007.stripe-0` |
//! | it is another name of a file in a folder that this process spares ([`SPARED`]) | a hard link |
//!
//! Invariants:
//! 1. What is looked at is what a path leads to; links are followed, also one to a file that is not
//!    there yet.
//! 2. Files that a system does not make are not its own, also in its folders.
//! 3. Nothing is opened but regular files, and those only to be read.

#![allow(clippy::disallowed_methods)] // this is the seam: files that people name

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::owner::MARK;

/// The environment variable of a program's process that names the folders of its system.
pub const SPARED: &str = "HOLDFAST_SPARED";

/// The reason code of a command that would write to one.
pub const REFUSED: &str = "HFY036";

/// How files of a system begin, and what they are. The number of a version comes next, which no
/// text has there.
const FRONTS: [(&[u8], &str); 12] = [
    (b"HOLDKEYS", "a key file"),
    (b"HFCONTRL", "a control file"),
    (b"HFDOUBLE", "a double-write area"),
    (b"HFRECON\0", "a copy of RECON"),
    (b"HFLS", "a segment of a log"),
    (b"HFLW", "a write-ahead data set"),
    (b"HFLG", "groups of a log"),
    (b"HFLA", "an archive"),
    (b"HFLC", "an accumulation"),
    (b"HFLZ", "an archive"),
    (b"HFCOPY\0\0", "an image copy"),
    (b"HOLDFAST", "a data set"),
];
const FRONT_BYTES: usize = 9;
const VERSION_MAX: u8 = 8;
/// What stands in the folder of a system, beside the control file that shows it to be one.
const HOME: [&str; 9] = [
    "control",
    "double-write",
    "holdfast.keys",
    "holdfast.restoring",
    "holdfast.toml",
    "lock",
    "recon.1",
    "recon.2",
    MARK,
];
/// What a mark speaks of, beside data sets.
const MARKED: [&str; 3] = [MARK, "recon.2", "write-ahead.hfw"];
/// How names of the log, of archives and of accumulations begin; which folder is whose shows in
/// the files that stand there.
const ROWS: [&str; 3] = ["segment-", "archive-", "accumulation-"];
const ARCHIVES_MARK: &str = "holdfast.archive";
/// How many links are followed.
const LINKS_MAX: usize = 40;

/// What of a system a path leads to, or would lead to; `None` if that is nobody's.
#[must_use]
pub fn of_a_system(path: &Path) -> Option<&'static str> {
    let path = led_to(path);
    let (folder, name) = (path.parent()?, path.file_name()?.to_str().unwrap_or_default());
    let meta = fs::metadata(&path).ok();
    if let Some(meta) = &meta {
        if !meta.is_file() {
            return None;
        }
        if let Some(what) = by_front(&path) {
            return Some(what);
        }
    }
    if HOME.contains(&name) && by_front(&folder.join("control")).is_some() {
        return Some("a file of a system");
    }
    if (MARKED.contains(&name) || is_data_set(name)) && folder.join(MARK).exists() {
        return Some("a file of a system");
    }
    if is_of_a_row(folder, name) {
        return Some("a file of a system");
    }
    // A sealed data set has no front, and may have more than one name.
    let meta = meta.filter(|meta| meta.nlink() > 1)?;
    let folders = std::env::var_os(SPARED).unwrap_or_default();
    let is_here = |folder: PathBuf| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut metas = entries.filter(is_own).filter_map(|entry| entry.metadata().ok());
        metas.any(|other| (other.dev(), other.ino()) == (meta.dev(), meta.ino()))
    };
    std::env::split_paths(&folders).any(is_here).then_some("a file of a system")
}

/// Whether a name is one of those that the log or archives in a folder have.
fn is_of_a_row(folder: &Path, name: &str) -> bool {
    let rows: &[&str] = match ROWS.iter().position(|row| name.starts_with(row)) {
        Some(at) => &ROWS[at..=at],
        None if name == ARCHIVES_MARK => &ROWS[1..],
        None => return false,
    };
    let mut entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.any(|entry| {
        let name = entry.file_name();
        let name = name.to_str().unwrap_or_default();
        rows.iter().any(|row| name.starts_with(row)) && by_front(&entry.path()).is_some()
    })
}

/// The file that a path leads to at last (1).
fn led_to(path: &Path) -> PathBuf {
    let mut path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for _ in 0..LINKS_MAX {
        if let Ok(found) = path.canonicalize() {
            return found;
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { break };
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let here = folder.join(name);
        match fs::read_link(&here) {
            Ok(target) => path = folder.join(target),
            Err(_) => return here,
        }
    }
    path
}

fn by_front(path: &Path) -> Option<&'static str> {
    if !fs::metadata(path).is_ok_and(|meta| meta.is_file()) {
        return None;
    }
    let mut front = Vec::with_capacity(FRONT_BYTES);
    File::open(path).ok()?.take(FRONT_BYTES as u64).read_to_end(&mut front).ok()?;
    let is_it = |begin: &[u8]| {
        let version = front.strip_prefix(begin).and_then(|rest| rest.first());
        version.is_some_and(|version| (1..=VERSION_MAX).contains(version))
    };
    FRONTS.iter().find(|(begin, _)| is_it(begin)).map(|(_, what)| *what)
}

/// Whether a file has the name of a system's.
fn is_own(entry: &fs::DirEntry) -> bool {
    let name = entry.file_name();
    let name = name.to_str().unwrap_or_default();
    HOME.contains(&name) || MARKED.contains(&name) || is_data_set(name)
}

/// Names of data sets end with two numbers: `CUST.000002.000`.
fn is_data_set(name: &str) -> bool {
    let is_number = |text: Option<&str>, digits: usize| {
        text.is_some_and(|text| {
            text.len() >= digits && text.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    let mut parts = name.rsplit('.');
    is_number(parts.next(), 3) && is_number(parts.next(), 6) && parts.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_any_system_is_known_by_its_front_its_place_and_its_links() {
        let folder = std::env::temp_dir().join(format!("holdfast-spared-{}", std::process::id()));
        let (home, data) = (folder.join("home"), folder.join("data"));
        fs::create_dir_all(&home).unwrap();
        fs::create_dir_all(&data).unwrap();
        fs::write(home.join("control"), b"HFCONTRL\x01 and more").unwrap();
        fs::write(home.join("out.dat"), b"HOLDFAST REPORT").unwrap();
        fs::write(folder.join("backup"), b"HOLDKEYS\x01 and more").unwrap();
        fs::write(data.join("CUST.000002.000"), b"sealed").unwrap();
        let log = folder.join("log");
        fs::create_dir_all(&log).unwrap();
        assert_eq!(of_a_system(&log.join("segment-001.stripe-0")), None, "nobody's folder");
        fs::write(log.join("segment-000.stripe-0"), b"HFLS\x01 and more").unwrap();
        assert!(of_a_system(&log.join("segment-001.stripe-0")).is_some());
        assert_eq!(of_a_system(&log.join("archive-0000000000000040.hfa")), None);
        fs::write(data.join("short"), b"HF").unwrap();
        std::os::unix::fs::symlink(home.join("holdfast.keys"), folder.join("link")).unwrap();
        assert_eq!(of_a_system(&folder.join("backup")), Some("a key file"));
        // Neither of them is there.
        assert!(of_a_system(&home.join("holdfast.keys")).is_some());
        assert!(of_a_system(&folder.join("link")).is_some());
        assert!(of_a_system(&folder.join("data/../home/recon.1")).is_some());
        assert_eq!(of_a_system(&data.join("CUST.000002.000")), None, "nobody's folder");
        fs::write(data.join(MARK), b"a system").unwrap();
        assert!(of_a_system(&data.join("CUST.000002.000")).is_some());
        assert!(of_a_system(&data.join("CUST.000003.000")).is_some());
        for free in [home.join("out.dat"), data.join("short"), data.join("none"), data.clone()] {
            assert_eq!(of_a_system(&free), None, "{}", free.display());
        }
        assert_eq!(of_a_system(Path::new("/dev/null")), None);
        fs::remove_dir_all(&folder).unwrap();
    }
}
