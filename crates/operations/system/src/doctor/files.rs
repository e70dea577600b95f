//! What a file says that it is, in its first bytes and in clear: no key is needed, and nothing is
//! proven.
//!
//! | first bytes | what it is | version at | system at |
//! |---|---|---|---|
//! | `HOLDKEYS` | key file | 8 | 16 |
//! | `HFCONTRL` | control file, slot 0 | 8 | 16 |
//! | `HFDOUBLE` | double-write area, slot 0 | 8 | 16 |
//! | `HFRECON` and a zero | copy of RECON | 8 | 16 |
//! | `HFCOPY` and two zeros | image copy | 8 | 16 |
//! | `HFLS` | segment of the log | 4 | 16 |
//! | `HFLA` | archive of the log | 4 | 8 |
//! | `HFLC` | accumulation | 4 | 8 |
//! | `HFLW` | write-ahead data set | 4 | 8 |
//!
//! A data set begins with an interval, whose form stands at its end: it is known by its name.

use std::path::{Path, PathBuf};

use base::SystemId;
use base::bytes::get_u16;
use seam::disk::{Disk, Open};
use seam::owner::MARK;
use serde::{Deserialize, Serialize};

use crate::places::RESTORING;

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundFile {
    /// Where it is.
    pub path: PathBuf,
    /// What it says that it is, or is by its name.
    pub what: String,
    /// The version of its layout.
    pub version: Option<u16>,
    /// The system that it says it is of.
    pub system: Option<String>,
    /// Its length in bytes.
    pub bytes: u64,
}

/// First bytes, what they mean, and where version and system stand.
const KINDS: [(&[u8], &str, usize, usize); 9] = [
    (b"HOLDKEYS", "key file", 8, 16),
    (b"HFCONTRL", "control file", 8, 16),
    (b"HFDOUBLE", "double-write area", 8, 16),
    (b"HFRECON\0", "copy of RECON", 8, 16),
    (b"HFCOPY\0\0", "image copy", 8, 16),
    (b"HFLS", "segment of the log", 4, 16),
    (b"HFLA", "archive of the log", 4, 8),
    (b"HFLC", "accumulation", 4, 8),
    (b"HFLW", "write-ahead data set", 4, 8),
];

/// Bytes of a file that are looked at.
const HEAD: usize = 64;
/// Folders deeper than this hold nothing of a system.
const DEPTH_MAX: u32 = 4;
/// More files are not listed one by one.
pub(super) const FILES_MAX: usize = 10_000;

/// Every file below a folder, as far as it can be listed.
pub(super) fn below(disk: &dyn Disk, dir: &Path) -> Vec<FoundFile> {
    let mut found = Vec::new();
    gather(disk, dir, 0, &mut found);
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

fn gather(disk: &dyn Disk, dir: &Path, depth: u32, found: &mut Vec<FoundFile>) {
    for name in disk.list(dir).unwrap_or_default() {
        let path = dir.join(name);
        if found.len() >= FILES_MAX {
            return;
        }
        match disk.list(&path) {
            Ok(_) if depth < DEPTH_MAX => gather(disk, &path, depth + 1, found),
            Ok(_) => {}
            Err(_) => found.push(look(disk, &path)),
        }
    }
}

/// What one file says about itself.
pub(super) fn look(disk: &dyn Disk, path: &Path) -> FoundFile {
    let mut head = [0; HEAD];
    let file = disk.open(path, Open::READ);
    let bytes = file.as_ref().ok().and_then(|file| file.len().ok()).unwrap_or(0);
    let seen = bytes.min(HEAD as u64) as usize;
    let read = file.and_then(|file| file.read_at(&mut head[..seen], 0));
    let kind = KINDS.iter().find(|(magic, ..)| read.is_ok() && head.starts_with(magic));
    let (what, version, system) = match kind {
        Some((_, what, version, system)) => {
            let id = head[*system..].first_chunk().map(|id| SystemId(*id).to_string());
            ((*what).to_owned(), Some(get_u16(&head, *version)), id)
        }
        None => (by_name(path).to_owned(), None, None),
    };
    FoundFile { path: path.to_owned(), what, version, system, bytes }
}

/// What a file ought to be by its name.
fn by_name(path: &Path) -> &'static str {
    // C programs are compiled in folders of their own.
    let above = path.parent().into_iter().flat_map(|folder| folder.ancestors().take(2));
    if above.filter_map(Path::file_name).any(|folder| folder == "programs") {
        return "what a source was compiled to";
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match &*name {
        "holdfast.toml" => "configuration",
        "holdfast.keys" => "key file, spoilt",
        "control" => "control file, slot 0 spoilt",
        "double-write" => "double-write area, slot 0 empty or spoilt",
        "write-ahead.hfw" => "write-ahead data set, empty or spoilt",
        "holdfast.archive" => "mark of a folder of archives",
        "holdfast.copies" => "mark of a folder of image copies",
        MARK => "mark of a folder of the system",
        RESTORING => "of a restore that is not over",
        "recon.1" | "recon.2" => "copy of RECON, spoilt",
        "lock" | "operator.sock" | "regions.sock" => "of the process that has the system open",
        _ if name.starts_with("segment-") => "segment of the log, free or spoilt",
        _ if extension == "hfa" => "archive of the log, spoilt",
        _ if extension == "hfc" => "accumulation, spoilt",
        _ if extension == "copy" => "image copy, spoilt",
        _ if extension == "part" || extension == "new" => "left over from an interrupted write",
        _ if number(&extension) && name.split('.').count() >= 3 => "file of a data set",
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use seam::disk::Create;
    use seam::sim::SimDisk;

    use super::*;

    #[test]
    fn files_are_known_by_their_first_bytes_and_then_by_their_names() {
        let disk = SimDisk::new();
        let put = |path: &str, bytes: &[u8]| {
            let how = Open::DATA.create(Create::IfMissing);
            let mut block = seam::mem::AlignedBuf::zeroed(4096);
            block[..bytes.len()].copy_from_slice(bytes);
            disk.open(Path::new(path), how).unwrap().write_at(&block, 0).unwrap();
        };
        put("/a", b"HOLDKEYS\x01\0\0\0\0\0\0\0AAAAAAAAAAAAAAAA");
        put("/b", b"HFLA\x02\0\0\0BBBBBBBBBBBBBBBB");
        put("/recon.1", b"nothing");
        disk.create_dir(Path::new("/wads")).unwrap();
        put("/wads/write-ahead.hfw", b"");
        let empty = look(&disk, Path::new("/wads/write-ahead.hfw"));
        assert_eq!(empty.what, "write-ahead data set, empty or spoilt");
        put("/wads/write-ahead.hfw", b"HFLW\x01\0\0\0CCCCCCCCCCCCCCCC");
        let ahead = look(&disk, Path::new("/wads/write-ahead.hfw"));
        assert_eq!((&ahead.what[..], ahead.version), ("write-ahead data set", Some(1)));
        assert_eq!(ahead.system, Some(SystemId(*b"CCCCCCCCCCCCCCCC").to_string()));
        put("/ACCOUNTS.000002.000", b"");
        disk.create_dir(Path::new("/programs/teller.aac2")).unwrap();
        put("/programs/teller.aac2/program.so", b"\x7fELF");
        let compiled = look(&disk, Path::new("/programs/teller.aac2/program.so"));
        assert_eq!(compiled.what, "what a source was compiled to");
        put("/x", b"HF");
        let all = ["/a", "/b", "/recon.1", "/ACCOUNTS.000002.000", "/x", "/nowhere"];
        let [keys, archive, recon, data, x, none] = all.map(|path| look(&disk, Path::new(path)));
        assert_eq!((&keys.what[..], keys.version), ("key file", Some(1)));
        assert_eq!(keys.system, Some(SystemId(*b"AAAAAAAAAAAAAAAA").to_string()));
        assert_eq!((&archive.what[..], archive.version), ("archive of the log", Some(2)));
        assert_eq!(archive.system, Some(SystemId(*b"BBBBBBBBBBBBBBBB").to_string()));
        assert_eq!(recon.what, "copy of RECON, spoilt");
        assert_eq!((&data.what[..], data.bytes), ("file of a data set", 4096));
        assert_eq!((&x.what[..], &none.what[..]), ("unknown", "unknown"));
    }
}
