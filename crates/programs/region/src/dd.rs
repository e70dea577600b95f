//! DD names: which file a program means by a name.
//!
//! | name | becomes |
//! |---|---|
//! | `SYSIN` | standard input of the program: ACCEPT, with and without FROM SYSIN |
//! | `SYSOUT` | its standard output: DISPLAY |
//! | `SYSPUNCH` | what DISPLAY UPON SYSPUNCH writes, in lines |
//! | `STEPLIB` | folders, with `:` between, where CALL looks for programs: sources or objects |
//! | any other | the file that COBOL programs assign to the name; of GSAM, the server's business |
//!
//! `NAME=//DSN` names a data set of the system's catalog: a cluster or a path, or a generation by
//! its relative number, `//GROUP(-1)`. With `,rdw` records of different lengths have a record
//! descriptor word in front, with `,bdw` blocks of them a block descriptor word, too.
//! `NAME=/ONE:/TWO` is a concatenation: files or data sets that are read one after the other.
//!
//! With `,disp=` at its end a DD says what has to be there before and what becomes of it
//! ([`crate::disposition`]).
//!
//! With `,text` a file of lines is given to a COBOL program as records ([`crate::lines`]). A file
//! that such a program writes becomes lines again.
//!
//! Invariants:
//! 1. The user's file is written only after the program has ended, and only if it wrote to it. If
//!    that fails, the records are kept, and the error says where. They are kept before the file is
//!    touched, until it is durable: a kill in between loses nothing.
//! 2. What can be known to fail then fails before the program begins: a folder that is not there.
//! 3. Records are for no other user to read, and go with their job: those of one that was killed go
//!    when the next one begins, or the system is started or verified.
//! 4. A name without a DD is no file: it cannot be opened, whatever lies in the current folder and
//!    stands in the environment.
//! 5. What a program names otherwise, by a literal, is never written if it is a file of a system
//!    ([`seam::system_files`]).

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use seam::disk::{Create, Disk, File, Open, read_small};

use crate::disposition::{Disposed, Disposition, Status};
use crate::error::RegionError;
use crate::lines::{lines_of, records_of};
use crate::program::{CobolFile, Library};
use crate::scratch::{KEPT, clear};

/// The longest file of lines.
const TEXT_BYTES_MAX: usize = 1 << 31;

/// A folder that is never made: where a name without a DD is sought.
const NOWHERE: &str = "no-dd";

/// Words in front of records of different lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// A record descriptor word in front of each.
    Record,
    /// The same, and a block descriptor word in front of each block of them.
    Block,
}

impl Words {
    /// What says so behind a path.
    fn suffix(self) -> &'static str {
        match self {
            Words::Record => ",rdw",
            Words::Block => ",bdw",
        }
    }
}

/// One DD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dd {
    /// Its name, in upper case.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// Whether the file holds lines that are to be records.
    pub text: bool,
    /// What stands in front of records of different lengths.
    pub words: Option<Words>,
    /// What has to be there, and what becomes of it.
    pub disposition: Option<Disposition>,
}

impl Dd {
    /// Reads `NAME=PATH`, `NAME=PATH,text`, `NAME=PATH,rdw`, `NAME=PATH,bdw` or
    /// `NAME=//DSN`.
    ///
    /// # Errors
    /// If it is neither.
    pub fn parse(operand: &str) -> Result<Dd, RegionError> {
        let wrong = || RegionError::Dd(operand.to_owned());
        let (operand, disposition) = Disposition::split(operand).ok_or_else(wrong)?;
        let (name, path) = operand.split_once('=').ok_or_else(wrong)?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || "@#$-_".contains(c);
        if name.is_empty() || name.len() > 30 || !name.chars().all(is_name) {
            return Err(wrong());
        }
        let plain = path.strip_suffix(",text");
        let (path, text) = plain.map_or((path, false), |path| (path, true));
        let words = [Words::Record, Words::Block];
        let words = words.into_iter().filter(|_| !text).find(|one| path.ends_with(one.suffix()));
        let path = words.and_then(|one| path.strip_suffix(one.suffix())).unwrap_or(path);
        // Lines of several files are not joined.
        let is_chain = file_handler::name::parts(path.as_bytes()).len() > 1;
        if path.is_empty() || is_chain && (text || disposition.is_some()) {
            return Err(wrong());
        }
        let (name, path) = (name.to_ascii_uppercase(), PathBuf::from(path));
        let dd = Dd { name, path, text, words, disposition };
        let fits = match (dd.data_set(), disposition) {
            (_, None) => true,
            (Some(data_set), Some(disposition)) => {
                let generation = file_handler::name::relative(data_set);
                disposition.fits_data_set(generation.is_some_and(|(_, number)| number > 0))
            }
            (None, Some(disposition)) => disposition.status != Status::Modify || !text,
        };
        if fits { Ok(dd) } else { Err(wrong()) }
    }

    /// The data set that it names, if it names one.
    #[must_use]
    pub fn data_set(&self) -> Option<&str> {
        self.path.to_str().and_then(file_handler::name::data_set)
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
    disposed: Vec<Disposed>,
}

/// What becomes of the files of a step at its end.
#[derive(Debug, Default)]
pub struct Dispositions(Vec<Disposed>);

impl Dispositions {
    /// The step has ended.
    ///
    /// # Errors
    /// The first file that cannot be deleted.
    pub fn end(&self, disk: &dyn Disk, ended_well: bool) -> Result<(), RegionError> {
        let ended: Vec<_> = self.0.iter().map(|one| one.end(disk, ended_well)).collect();
        ended.into_iter().collect()
    }
}

#[derive(Debug)]
struct Converted {
    records: PathBuf,
    lines: PathBuf,
    dd: String,
    file: CobolFile,
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
            if let Some(name) = dd.data_set() {
                let is_kept = dd
                    .disposition
                    .is_some_and(|one| one.status == Status::New && one.keeps_when_failed());
                let end = if is_kept { file_handler::name::KEEP } else { "" };
                let name = format!("{}{name}{end}", file_handler::name::DATA_SET);
                ready.assign(&dd.name, PathBuf::from(name));
                continue;
            }
            let is_chain = file_handler::name::parts(dd.path.as_os_str().as_bytes()).len() > 1;
            let mut path = match is_chain && dd.name != "STEPLIB" {
                true => dd.path.clone(),
                false => std::path::absolute(&dd.path).map_err(RegionError::file(&dd.path))?,
            };
            let status = dd.disposition.map(|disposition| disposition.status);
            if let Some(disposition) = dd.disposition {
                ready.disposed.push(Disposed::begin(disk, &dd.name, &path, disposition)?);
            }
            if let Some(words) = dd.words {
                path.as_mut_os_string().push(words.suffix());
            }
            if status == Some(Status::Modify) {
                path.as_mut_os_string().push(",mod");
            }
            match (dd.name.as_str(), dd.text) {
                ("SYSIN", _) => ready.input = Some(path),
                ("SYSOUT", _) => ready.output = Some(path),
                ("SYSPUNCH", _) => ready.set("COB_DISPLAY_PUNCH_FILE", path),
                ("STEPLIB", _) => folders.extend(dd.folders()),
                (name, false) => ready.assign(name, path),
                (name, true) => {
                    let file = files.iter().find(|file| file.name.eq_ignore_ascii_case(name));
                    let file = file.ok_or_else(|| RegionError::Lines {
                        dd: name.to_owned(),
                        text: "the program has no file that is assigned to it".to_owned(),
                    })?;
                    let records = ready.convert(disk, (name, file), path, scratch)?;
                    ready.assign(name, records);
                }
            }
        }
        if !folders.is_empty() {
            let path = std::env::join_paths(&folders).unwrap_or_default();
            ready.set("COB_LIBRARY_PATH", path);
        }
        ready.set("COB_FILE_PATH", scratch.join(NOWHERE));
        Ok(ready)
    }

    /// Hands over what becomes of the files when the step has ended.
    pub fn take_dispositions(&mut self) -> Dispositions {
        Dispositions(std::mem::take(&mut self.disposed))
    }

    fn assign(&mut self, name: &str, path: PathBuf) {
        self.set(&format!("DD_{name}"), path);
    }

    fn set(&mut self, variable: &str, value: impl Into<OsString>) {
        self.environment.push((variable.to_owned(), value.into()));
    }

    fn convert(
        &mut self,
        disk: &dyn Disk,
        (name, file): (&str, &CobolFile),
        lines: PathBuf,
        scratch: &Path,
    ) -> Result<PathBuf, RegionError> {
        let refuse = |text: String| RegionError::Lines {
            dd: name.to_owned(),
            text: format!("{}: {text}", lines.display()),
        };
        if disk.list(folder_of(&lines)).is_err() {
            return Err(refuse("its folder is not there, or cannot be read".to_owned()));
        }
        make_private(disk, scratch)?;
        let records = scratch.join(format!("{name}.{}", std::process::id()));
        let (mut given, form) = (None, file.form);
        records_of(b"", file.record_bytes, form).map_err(refuse)?;
        if disk.exists(&lines).map_err(RegionError::file(&lines))? {
            let text =
                read_small(disk, &lines, TEXT_BYTES_MAX).map_err(RegionError::file(&lines))?;
            let bytes = records_of(&text, file.record_bytes, form).map_err(refuse)?;
            put(disk, &records, &bytes)?;
            given = Some(base::hash::bytes(&bytes));
        }
        let (dd, file) = (name.to_owned(), file.clone());
        self.converted.push(Converted { records: records.clone(), lines, dd, file, given });
        Ok(records)
    }

    /// Turns what the program has written back into lines, and removes what was converted.
    ///
    /// # Errors
    /// The first file that cannot be written; its records are kept. All others are written.
    pub fn finish(self, disk: &dyn Disk) -> Result<(), RegionError> {
        let done: Vec<Result<(), RegionError>> =
            self.converted.iter().map(|one| one.finish(disk)).collect();
        done.into_iter().collect()
    }
}

impl Converted {
    fn finish(&self, disk: &dyn Disk) -> Result<(), RegionError> {
        let Converted { records, lines, dd, file, given } = self;
        if !disk.exists(records).map_err(RegionError::file(records))? {
            return Ok(());
        }
        let bytes =
            read_small(disk, records, TEXT_BYTES_MAX).map_err(RegionError::file(records))?;
        if *given == Some(base::hash::bytes(&bytes)) {
            return disk.remove(records).map_err(RegionError::file(records));
        }
        let failed = |text: String, records: &Path| RegionError::NotWritten {
            dd: dd.clone(),
            text,
            records: records.to_owned(),
        };
        let kept = keep(disk, records).map_err(|error| failed(error.to_string(), records))?;
        let text = lines_of(&bytes, file.record_bytes, file.form);
        let text = text.map_err(|text| failed(text, &kept))?;
        put_durably(disk, lines, &text).map_err(|error| failed(error.to_string(), &kept))?;
        disk.remove(&kept).map_err(RegionError::file(&kept))
    }
}

/// Keeps records whatever happens from here on: under a name that is not cleared. Answers it.
fn keep(disk: &dyn Disk, records: &Path) -> std::io::Result<PathBuf> {
    let name = |again: u32| {
        let mut name = records.as_os_str().to_owned();
        if again > 0 {
            name.push(format!("-{again}"));
        }
        name.push(KEPT);
        PathBuf::from(name)
    };
    // An earlier process may have had the same number, and its records are still there.
    let mut again = 0;
    while disk.exists(&name(again))? {
        again += 1;
    }
    let kept = name(again);
    disk.open(records, Open { direct: false, ..Open::DATA })?.sync()?;
    disk.rename(records, &kept)?;
    disk.sync_dir(folder_of(&kept))?;
    Ok(kept)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

/// Makes the folder of records, where no other user may look, and clears it of those whose job was
/// killed.
fn make_private(disk: &dyn Disk, scratch: &Path) -> Result<(), RegionError> {
    let failed = |source| RegionError::file(scratch)(source);
    disk.create_dir(scratch).map_err(failed)?;
    let private = std::fs::Permissions::from_mode(0o700);
    #[allow(clippy::disallowed_methods)] // the seam knows no permissions
    std::fs::set_permissions(scratch, private).map_err(failed)?;
    clear(disk, scratch).map(drop)
}

fn put(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<Arc<dyn File>, RegionError> {
    let how = Open { create: Create::IfMissing, write: true, direct: false, dsync: false };
    let file = disk.open(path, how).map_err(RegionError::file(path))?;
    file.set_len(0).and_then(|()| file.write_at(bytes, 0)).map_err(RegionError::file(path))?;
    Ok(file)
}

fn put_durably(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<(), RegionError> {
    let file = put(disk, path, bytes)?;
    match file.sync().and_then(|()| disk.sync_dir(folder_of(path))) {
        // A file system that cannot be told to.
        Err(error) if !matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            Err(RegionError::file(path)(error))
        }
        _ => Ok(()),
    }
}

/// The names of a program's files that have no DD.
#[must_use]
pub fn without_dd<'f>(files: &'f [CobolFile], dds: &[Dd]) -> Vec<&'f str> {
    let is_named = |name: &str| dds.iter().any(|dd| dd.name.eq_ignore_ascii_case(name));
    files.iter().map(|file| file.name.as_str()).filter(|name| !is_named(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::kept;

    #[test]
    fn an_operand_is_a_name_a_path_and_perhaps_text() {
        let dd = |name: &str, path: &str, text| {
            let (name, path, words, disposition) = (name.into(), path.into(), None, None);
            Dd { name, path, text, words, disposition }
        };
        assert_eq!(Dd::parse("infile=a=b.dat").expect("a DD"), dd("INFILE", "a=b.dat", false));
        assert_eq!(Dd::parse("IN=x,text").expect("a DD"), dd("IN", "x", true));
        for (operand, words) in [
            ("IN=x,rdw", Some(Words::Record)),
            ("IN=x,bdw", Some(Words::Block)),
            ("IN=x", None),
            ("IN=x,text", None),
        ] {
            let dd = Dd::parse(operand).expect("a DD");
            assert_eq!((dd.words, dd.path), (words, PathBuf::from("x")), "{operand}");
        }
        let account = Dd::parse("IN=//bank.account").expect("a DD");
        assert_eq!(account.data_set(), Some("bank.account"));
        assert_eq!(Dd::parse("IN=//bank/account").expect("a DD").data_set(), None);
        let daily = Dd::parse("IN=//bank.daily(-1)").expect("a DD");
        assert_eq!(daily.data_set(), Some("bank.daily(-1)"));
        let new = Dd::parse("OUT=//bank.daily(+1),disp=(new,catlg,delete)").expect("a DD");
        assert!(new.disposition.is_some() && new.data_set() == Some("bank.daily(+1)"));
        let dd = Dd::parse("OUT=out,rdw,disp=mod").expect("a DD");
        assert_eq!(dd.words, Some(Words::Record));
        for wrong in [
            "OUT=out,text,disp=mod",
            "OUT=//bank.account,disp=new:catlg",
            "OUT=//bank.account,disp=(old,delete)",
            "OUT=/a:/b,disp=shr",
            "OUT=out,disp=burn",
        ] {
            assert!(Dd::parse(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "IN", "=x", "IN=", "IN=,text", "I N=x", "IN=/a:/b,text"] {
            assert!(Dd::parse(wrong).is_err(), "{wrong}");
        }
    }

    /// A disk that looks what is kept whenever a file is to be written.
    struct Watched {
        disk: Arc<dyn Disk>,
        lines: PathBuf,
        records: PathBuf,
        kept: seam::sync::Mutex<Vec<Vec<u8>>>,
    }

    impl Disk for Watched {
        fn open(&self, path: &Path, how: Open) -> std::io::Result<Arc<dyn File>> {
            if how.write && path == self.lines {
                for name in kept(&*self.disk, &self.records).expect("a folder") {
                    let bytes = read_small(&*self.disk, &name, 100).expect("records");
                    self.kept.lock().push(bytes);
                }
            }
            self.disk.open(path, how)
        }
        fn exists(&self, path: &Path) -> std::io::Result<bool> {
            self.disk.exists(path)
        }
        fn list(&self, dir: &Path) -> std::io::Result<Vec<PathBuf>> {
            self.disk.list(dir)
        }
        fn create_dir(&self, path: &Path) -> std::io::Result<()> {
            self.disk.create_dir(path)
        }
        fn remove(&self, path: &Path) -> std::io::Result<()> {
            self.disk.remove(path)
        }
        fn rename(&self, from: &Path, to: &Path) -> std::io::Result<()> {
            self.disk.rename(from, to)
        }
        fn sync_dir(&self, dir: &Path) -> std::io::Result<()> {
            self.disk.sync_dir(dir)
        }
        fn lock(&self, path: &Path) -> std::io::Result<Box<dyn seam::disk::HeldLock>> {
            self.disk.lock(path)
        }
    }

    #[test]
    fn records_are_kept_before_the_file_of_lines_is_touched() {
        let disk = seam::Seam::real().disk;
        let folder = std::env::temp_dir().join(format!("holdfast-lines-{}", std::process::id()));
        let (lines, records) = (folder.join("out.txt"), folder.join("records"));
        disk.create_dir(&records).expect("a folder");
        put(&*disk, &lines, b"old\n").expect("lines");
        // Of an earlier process of the same number.
        put(&*disk, &records.join("OUT.1.kept"), b"kept").expect("records");
        put(&*disk, &records.join("OUT.1"), b"ab  cd  ").expect("records");
        let form = crate::program::FileForm::Fixed;
        let file = CobolFile { name: "OUT".to_owned(), record_bytes: 4, form };
        let one = Converted {
            records: records.join("OUT.1"),
            lines: lines.clone(),
            dd: "OUT".to_owned(),
            file,
            given: None,
        };
        let kept = seam::sync::Mutex::new(Vec::new());
        let watched = Watched { disk, lines, records, kept };
        one.finish(&watched).expect("lines");
        let found = std::mem::take(&mut *watched.kept.lock());
        assert_eq!(found, [b"ab  cd  ".to_vec(), b"kept".to_vec()]);
        let text = read_small(&watched, &watched.lines, 100).expect("lines");
        assert_eq!(text, b"ab\ncd\n");
        let left = watched.list(&watched.records).expect("a folder");
        assert_eq!(left, [Path::new("OUT.1.kept")]);
        watched.remove(&watched.records.join("OUT.1.kept")).expect("to remove");
        watched.remove(&watched.lines).expect("to remove");
    }

    #[test]
    fn a_file_without_a_dd_is_named() {
        let file = |name: &str| CobolFile {
            name: name.to_owned(),
            record_bytes: 80,
            form: crate::program::FileForm::Fixed,
        };
        let dds = [Dd::parse("infile=a").expect("a DD")];
        assert_eq!(without_dd(&[file("INFILE"), file("OUTFILE")], &dds), ["OUTFILE"]);
    }
}
