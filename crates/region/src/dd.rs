//! DD names: which file a program means by a name.
//!
//! | name | becomes |
//! |---|---|
//! | `SYSIN` | standard input of the program: ACCEPT, with and without FROM SYSIN |
//! | `SYSOUT` | its standard output: DISPLAY |
//! | `STEPLIB` | folders, with `:` between, where CALL looks for programs: sources or objects |
//! | any other | the file that COBOL programs assign to the name; of GSAM, the server's business |
//!
//! With `,text` a file of lines is given to a COBOL program as records: each line is padded with
//! blanks to the record's length. A file that such a program writes becomes lines again; one that
//! it writes with ADVANCING consists of lines already.
//!
//! Invariants:
//! 1. A line that is longer than the record is an error; nothing is cut off.
//! 2. The user's file is written only after the program has ended, and only if it wrote to it.
//! 3. A name without a DD is no file: it cannot be opened, whatever lies in the current folder.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use seam::disk::{Create, Disk, Open, read_small};

use crate::error::RegionError;
use crate::program::{CobolFile, Library};

/// The longest file of lines.
const TEXT_BYTES_MAX: usize = 1 << 31;

/// A folder that is never made: where a name without a DD is sought.
const NOWHERE: &str = "no-dd";

/// One DD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dd {
    /// Its name, in upper case.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// Whether the file holds lines that are to be records.
    pub text: bool,
}

impl Dd {
    /// Reads `NAME=PATH` or `NAME=PATH,text`.
    ///
    /// # Errors
    /// If it is neither.
    pub fn parse(operand: &str) -> Result<Dd, RegionError> {
        let wrong = || RegionError::Dd(operand.to_owned());
        let (name, path) = operand.split_once('=').ok_or_else(wrong)?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || "@#$-_".contains(c);
        if name.is_empty() || name.len() > 30 || !name.chars().all(is_name) {
            return Err(wrong());
        }
        let (path, text) = match path.strip_suffix(",text") {
            Some(path) => (path, true),
            None => (path, false),
        };
        if path.is_empty() {
            return Err(wrong());
        }
        Ok(Dd { name: name.to_ascii_uppercase(), path: PathBuf::from(path), text })
    }

    /// The folders that the DD names, with `:` between them.
    #[must_use]
    pub fn folders(&self) -> Vec<PathBuf> {
        let folders = std::env::split_paths(&self.path);
        folders.map(|one| std::path::absolute(&one).unwrap_or(one)).collect()
    }
}

/// A program's DDs, made ready for its process.
#[derive(Debug, Default)]
pub struct Files {
    /// Standard input.
    pub(crate) input: Option<PathBuf>,
    /// Standard output.
    pub(crate) output: Option<PathBuf>,
    /// What goes into the environment.
    pub(crate) environment: Vec<(String, OsString)>,
    /// Converted files to remove, and outputs to convert back.
    converted: Vec<Converted>,
}

#[derive(Debug)]
struct Converted {
    records: PathBuf,
    lines: PathBuf,
    record_bytes: usize,
    /// What the program was given; `None` if there was no such file.
    given: Option<u64>,
}

impl Files {
    /// Makes the DDs of a program ready. `files` are those of the program and of its library, with
    /// their records; converted ones are kept in `scratch`.
    ///
    /// # Errors
    /// If a file of lines cannot be converted, or the program has no such file.
    pub fn prepare(
        disk: &dyn Disk,
        dds: &[Dd],
        files: &[CobolFile],
        library: &Library,
        scratch: &Path,
    ) -> Result<Files, RegionError> {
        let mut ready = Files::default();
        let mut folders: Vec<PathBuf> = library.folder.iter().cloned().collect();
        for dd in dds {
            let path = std::path::absolute(&dd.path).map_err(RegionError::file(&dd.path))?;
            match (dd.name.as_str(), dd.text) {
                ("SYSIN", _) => ready.input = Some(path),
                ("SYSOUT", _) => ready.output = Some(path),
                ("STEPLIB", _) => folders.extend(dd.folders()),
                (name, false) => ready.assign(name, path),
                (name, true) => {
                    let file = files.iter().find(|file| file.name.eq_ignore_ascii_case(name));
                    let file = file.ok_or_else(|| RegionError::Lines {
                        dd: name.to_owned(),
                        text: "the program has no file that is assigned to it".to_owned(),
                    })?;
                    let records = ready.convert(disk, name, path, file.record_bytes, scratch)?;
                    ready.assign(name, records);
                }
            }
        }
        if !folders.is_empty() {
            let path = std::env::join_paths(&folders).unwrap_or_default();
            ready.environment.push(("COB_LIBRARY_PATH".to_owned(), path));
        }
        ready.environment.push(("COB_FILE_PATH".to_owned(), scratch.join(NOWHERE).into()));
        Ok(ready)
    }

    fn assign(&mut self, name: &str, path: PathBuf) {
        self.environment.push((format!("DD_{name}"), path.into_os_string()));
    }

    fn convert(
        &mut self,
        disk: &dyn Disk,
        name: &str,
        lines: PathBuf,
        record_bytes: usize,
        scratch: &Path,
    ) -> Result<PathBuf, RegionError> {
        disk.create_dir(scratch).map_err(RegionError::file(scratch))?;
        let records = scratch.join(format!("{name}.{}", std::process::id()));
        let mut given = None;
        if disk.exists(&lines).map_err(RegionError::file(&lines))? {
            let text =
                read_small(disk, &lines, TEXT_BYTES_MAX).map_err(RegionError::file(&lines))?;
            let bytes = records_of(&text, record_bytes).map_err(|problem| RegionError::Lines {
                dd: name.to_owned(),
                text: format!("{}: {problem}", lines.display()),
            })?;
            put(disk, &records, &bytes)?;
            given = Some(base::hash::bytes(&bytes));
        }
        self.converted.push(Converted { records: records.clone(), lines, record_bytes, given });
        Ok(records)
    }

    /// Turns what the program has written back into lines, and removes what was converted.
    ///
    /// # Errors
    /// If a file cannot be written; the converted one is kept then.
    pub fn finish(self, disk: &dyn Disk) -> Result<(), RegionError> {
        for file in self.converted {
            if !disk.exists(&file.records).map_err(RegionError::file(&file.records))? {
                continue;
            }
            let records = read_small(disk, &file.records, TEXT_BYTES_MAX)
                .map_err(RegionError::file(&file.records))?;
            if file.given != Some(base::hash::bytes(&records)) {
                put(disk, &file.lines, &lines_of(&records, file.record_bytes))?;
            }
            disk.remove(&file.records).map_err(RegionError::file(&file.records))?;
        }
        Ok(())
    }
}

fn put(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<(), RegionError> {
    let how = Open { create: Create::IfMissing, write: true, direct: false, dsync: false };
    let file = disk.open(path, how).map_err(RegionError::file(path))?;
    file.set_len(0).and_then(|()| file.write_at(bytes, 0)).map_err(RegionError::file(path))
}

/// The records of a file of lines: every line padded with blanks.
///
/// # Errors
/// Which line is too long.
pub fn records_of(text: &[u8], record_bytes: usize) -> Result<Vec<u8>, String> {
    let mut records = Vec::new();
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    if text.is_empty() {
        return Ok(records);
    }
    for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > record_bytes {
            let (line, len) = (index + 1, line.len());
            return Err(format!("line {line} has {len} bytes, a record {record_bytes}"));
        }
        records.extend_from_slice(line);
        records.resize((index + 1) * record_bytes, b' ');
    }
    Ok(records)
}

/// The names of a program's files that have neither a DD nor an environment variable of GnuCOBOL's.
#[must_use]
pub fn without_dd<'f>(files: &'f [CobolFile], dds: &[Dd]) -> Vec<&'f str> {
    let is_named = |name: &str| {
        let forms = [format!("DD_{name}"), format!("dd_{name}"), name.to_owned()];
        dds.iter().any(|dd| dd.name.eq_ignore_ascii_case(name))
            || forms.iter().any(|form| std::env::var_os(form).is_some())
    };
    files.iter().map(|file| file.name.as_str()).filter(|name| !is_named(name)).collect()
}

/// The lines of a file of records: without the blanks at their ends.
fn lines_of(records: &[u8], record_bytes: usize) -> Vec<u8> {
    // Text has no line ends within its records; where some are, ADVANCING has written them.
    let has_lines = records.contains(&b'\n');
    let pieces: Vec<&[u8]> = match has_lines {
        true => {
            records.strip_suffix(b"\n").unwrap_or(records).split(|byte| *byte == b'\n').collect()
        }
        false => records.chunks(record_bytes.max(1)).collect(),
    };
    let mut lines = Vec::with_capacity(records.len());
    for record in pieces {
        let end = record.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
        lines.extend_from_slice(&record[..end]);
        lines.push(b'\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operand_is_a_name_a_path_and_perhaps_text() {
        let dd = |name: &str, path: &str, text| Dd { name: name.into(), path: path.into(), text };
        assert_eq!(Dd::parse("infile=a=b.dat").expect("a DD"), dd("INFILE", "a=b.dat", false));
        assert_eq!(Dd::parse("IN=x,text").expect("a DD"), dd("IN", "x", true));
        for wrong in ["", "IN", "=x", "IN=", "IN=,text", "I N=x"] {
            assert!(Dd::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn lines_become_records_and_come_back() {
        assert_eq!(records_of(b"ab\r\n\nabcd\n", 4).expect("records"), b"ab      abcd");
        assert_eq!(records_of(b"", 4).expect("records"), b"");
        assert_eq!(records_of(b"abcde", 4), Err("line 1 has 5 bytes, a record 4".to_owned()));
        assert_eq!(lines_of(b"ab      abcd", 4), b"ab\n\nabcd\n");
        assert_eq!(lines_of(b"\n\nab  \n\nabcd", 4), b"\n\nab\n\nabcd\n", "AFTER ADVANCING 2");
        assert_eq!(lines_of(b"ab  \nabcd\n", 4), b"ab\nabcd\n", "BEFORE ADVANCING 1");
    }

    #[test]
    fn a_file_without_a_dd_is_named() {
        let file = |name: &str| CobolFile { name: name.to_owned(), record_bytes: 80 };
        let dds = [Dd::parse("infile=a").expect("a DD")];
        assert_eq!(without_dd(&[file("INFILE"), file("OUTFILE")], &dds), ["OUTFILE"]);
    }
}
