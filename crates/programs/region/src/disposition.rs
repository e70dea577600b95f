//! DISP of a DD: what has to be there when a step begins, and what becomes of it at its end.
//!
//! | `,disp=` | the file has to be | at the end, if nothing else is said |
//! |---|---|---|
//! | `new` | missing | it is deleted |
//! | `old`, `shr` | there | it is kept |
//! | `mod` | either; OPEN OUTPUT writes behind what it has | kept if it was there, else deleted |
//!
//! Behind it stands, each after a `:`, what becomes of it at a normal end and at any other one:
//! `keep`, `catlg`, `pass` keep it, `delete` and `uncatlg` do not. As JCL has it,
//! `(NEW,CATLG,DELETE)` is understood, too.
//!
//! Invariants:
//! 1. What was there before a step of DISP NEW is never touched: the step does not begin.
//! 2. A DD without DISP has no rules: whatever is there is used, and stays.

use std::path::{Path, PathBuf};

use seam::disk::Disk;

use crate::error::RegionError;

/// What is to be there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nothing.
    New,
    /// The file.
    Old,
    /// The file, which others may read, too.
    Share,
    /// Either; it is written at its end.
    Modify,
}

/// What becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Keep,
    Delete,
}

/// A disposition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disposition {
    /// What is to be there before.
    pub status: Status,
    normal: Option<Fate>,
    abnormal: Option<Fate>,
}

impl Disposition {
    /// Splits `...,disp=...` off an operand; `None` if it has none or it is none.
    #[must_use]
    pub fn split(operand: &str) -> Option<(&str, Option<Disposition>)> {
        const MARK: &str = ",disp=";
        let lower = operand.to_ascii_lowercase();
        let Some(at) = lower.rfind(MARK) else { return Some((operand, None)) };
        let disposition = Disposition::parse(&lower[at + MARK.len()..])?;
        Some((&operand[..at], Some(disposition)))
    }

    fn parse(text: &str) -> Option<Disposition> {
        let (text, separator) = match text.strip_prefix('(') {
            Some(rest) => (rest.strip_suffix(')')?, ','),
            None => (text, ':'),
        };
        let words: Vec<&str> = text.split(separator).collect();
        if words.len() > 3 {
            return None;
        }
        let status = match words[0] {
            "" | "new" => Status::New,
            "old" => Status::Old,
            "shr" => Status::Share,
            "mod" => Status::Modify,
            _ => return None,
        };
        let fate = |at: usize| match words.get(at).copied().unwrap_or_default() {
            "" => Some(None),
            "keep" | "catlg" | "pass" => Some(Some(Fate::Keep)),
            "delete" | "uncatlg" => Some(Some(Fate::Delete)),
            _ => None,
        };
        let (normal, abnormal) = (fate(1)?, fate(2)?);
        Some(Disposition { status, normal, abnormal: abnormal.or(normal) })
    }

    /// Whether a new file stays if the step fails.
    #[must_use]
    pub fn keeps_when_failed(&self) -> bool {
        self.abnormal == Some(Fate::Keep)
    }

    /// Whether it says what a data set of the catalog can be told: that it is kept, and what
    /// becomes of a new generation if the step fails.
    #[must_use]
    pub fn fits_data_set(&self, is_new_generation: bool) -> bool {
        match (self.status, is_new_generation) {
            (Status::New, true) => self.normal == Some(Fate::Keep),
            (Status::New | Status::Modify, _) => false,
            (Status::Old | Status::Share, _) => {
                !matches!(self.normal, Some(Fate::Delete))
                    && !matches!(self.abnormal, Some(Fate::Delete))
            }
        }
    }
}

/// A file of a step with its disposition, while the step runs.
#[derive(Debug)]
pub(crate) struct Disposed {
    path: PathBuf,
    disposition: Disposition,
    was_there: bool,
}

impl Disposed {
    /// The step begins.
    pub(crate) fn begin(
        disk: &dyn Disk,
        dd: &str,
        path: &Path,
        disposition: Disposition,
    ) -> Result<Disposed, RegionError> {
        let was_there = disk.exists(path).map_err(RegionError::file(path))?;
        let wrong = |what: &str| RegionError::Disposition {
            dd: dd.to_owned(),
            path: path.to_owned(),
            text: what.to_owned(),
        };
        match (disposition.status, was_there) {
            (Status::New, true) => Err(wrong("is there already, and DISP says NEW")),
            (Status::Old | Status::Share, false) => {
                Err(wrong("is not there, and DISP says OLD or SHR"))
            }
            _ => Ok(Disposed { path: path.to_owned(), disposition, was_there }),
        }
    }

    /// The step has ended.
    pub(crate) fn end(&self, disk: &dyn Disk, ended_well: bool) -> Result<(), RegionError> {
        let Disposed { path, disposition, was_there } = self;
        let stated = if ended_well { disposition.normal } else { disposition.abnormal };
        let usual = match (disposition.status, was_there) {
            (Status::New, _) | (Status::Modify, false) => Fate::Delete,
            _ => Fate::Keep,
        };
        let is_there = || disk.exists(path).map_err(RegionError::file(path));
        if stated.unwrap_or(usual) == Fate::Delete && is_there()? {
            disk.remove(path).map_err(RegionError::file(path))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Disposition {
        let operand = format!("OUT=a,b,disp={text}");
        let (rest, disposition) = Disposition::split(&operand).expect("a disposition");
        assert_eq!(rest, "OUT=a,b");
        disposition.expect("a disposition")
    }

    #[test]
    fn a_disposition_is_read_as_jcl_has_it_or_with_colons() {
        let new = of("(NEW,CATLG,DELETE)");
        assert_eq!(new, of("new:catlg:delete"));
        assert_eq!((new.status, new.normal), (Status::New, Some(Fate::Keep)));
        assert_eq!(new.abnormal, Some(Fate::Delete));
        // What is said of the normal end holds for the other one, too.
        assert_eq!(of("(OLD,DELETE)").abnormal, Some(Fate::Delete));
        assert_eq!(of("(,KEEP)"), of("new:keep"));
        assert_eq!((of("shr").normal, of("mod").status), (None, Status::Modify));
        assert_eq!(Disposition::split("OUT=a"), Some(("OUT=a", None)));
        for wrong in ["often", "new:burn", "new:keep:keep:keep", "(new", "new,keep"] {
            assert!(Disposition::split(&format!("OUT=a,disp={wrong}")).is_none(), "{wrong}");
        }
    }

    #[test]
    fn files_come_and_go_as_their_dispositions_say() {
        let disk = seam::Seam::real().disk;
        let folder = std::env::temp_dir().join(format!("holdfast-disp-{}", std::process::id()));
        disk.create_dir(&folder).expect("a folder");
        let path = folder.join("file");
        let make = || {
            let how = seam::disk::Open {
                create: seam::disk::Create::IfMissing,
                write: true,
                direct: false,
                dsync: false,
            };
            disk.open(&path, how).expect("a file");
        };
        let begin = |text: &str| Disposed::begin(&*disk, "OUT", &path, of(text));
        let is_there = || disk.exists(&path).expect("a folder");
        assert!(begin("old").is_err() && begin("shr").is_err());
        for (text, ended_well, stays) in [
            ("new", true, false),
            ("new:catlg:delete", true, true),
            ("new:catlg:delete", false, false),
            ("mod", true, false),
            ("mod:keep", false, true),
        ] {
            let disposed = begin(text).expect("nothing there");
            make();
            disposed.end(&*disk, ended_well).expect("an end");
            assert_eq!(is_there(), stays, "{text}");
            if stays {
                disk.remove(&path).expect("to remove");
            }
        }
        make();
        assert!(begin("new:delete").is_err());
        for (text, ended_well, stays) in
            [("old", true, true), ("mod", false, true), ("old:keep:delete", true, true)]
        {
            begin(text).expect("it is there").end(&*disk, ended_well).expect("an end");
            assert_eq!(is_there(), stays, "{text}");
        }
        begin("old:keep:delete").expect("it is there").end(&*disk, false).expect("an end");
        assert!(!is_there());
    }
}
