//! What the bytes of a system must prove, bound in its sealed control file (K4, K6).
//!
//! The configuration is a file that anybody can change who can write to the system's folder. If it
//! decided alone whether plain groups of the log are believed, a log could be forged without a key.
//! So the control file says it, too, and only a process that holds the system's key can write that.
//!
//! Invariants:
//! 1. A configuration that asks for less than what is bound opens nothing, until an operator who
//!    holds the keys has bound what it asks for ([`bind`]).
//! 2. One that asks for more is bound by the next start, once that has succeeded.
//! 3. Both slots of the control file have what is bound: a damaged slot brings back nothing older.
//! 4. Plain groups of a sealed log are believed before `plain_until` and nowhere else: the log was
//!    plain until then.
//!
//! In the control block, behind what restart needs:
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | form of the log and its archives: 1 plain, 2 sealed |
//! | 1 | 1 | form of new data sets |
//! | 2 | 1 | copies of the log |
//! | 3 | 1 | folders of the archive; 0: it is not archived |
//! | 4 | 4 | zero |
//! | 8 | 8 | position before which plain groups are believed |
//! | 16 | 2 + n | the anchor's path, relative to the system's folder if it lies there; empty: none |
//! | | 2 | number of names that follow |
//! | | 2 + n | each: a database whose new data sets have the other form |

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use base::Lsn;
use base::bytes::{Reader, push_string16};
use seal::Format;
use seam::Seam;

use crate::control::{ControlFile, ControlKeys};
use crate::{KernelConfig, UowError};

/// What the bytes of a system must prove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protection {
    /// The form of the log, and of its archives.
    pub log: Format,
    /// Plain groups before this position are believed although the log is sealed.
    pub plain_until: Lsn,
    /// Copies of the log.
    pub log_copies: u8,
    /// Folders of the archive; 0: the log is not archived.
    pub archive_folders: u8,
    /// The form of new data sets.
    pub new_sets: Format,
    /// Databases whose new data sets have the other form.
    pub exceptions: BTreeSet<String>,
    /// The anchor's file, if the system has one.
    pub anchor: Option<PathBuf>,
}

/// What layers above the kernel ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedAbove {
    /// The form of new data sets.
    pub new_sets: Format,
    /// Databases whose new data sets have the other form.
    pub exceptions: BTreeSet<String>,
    /// Folders of the archive.
    pub archive_folders: u8,
}

impl Default for AskedAbove {
    fn default() -> AskedAbove {
        AskedAbove { new_sets: Format::Sealed, exceptions: BTreeSet::new(), archive_folders: 0 }
    }
}

/// A setting by which a configuration asks for less than what is bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// The setting, as the configuration names it.
    pub setting: String,
    /// What is bound.
    pub bound: String,
    /// What the configuration asks for.
    pub asked: String,
}

impl fmt::Display for Lowered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Lowered { setting, bound, asked } = self;
        write!(f, "{setting} asks for {asked} where {bound} is bound")
    }
}

impl Protection {
    /// What a system must prove whose control file is of a release that bound nothing: whatever it
    /// has of the weaker form an operator has to bind.
    pub const UNBOUND: Protection = Protection {
        log: Format::Sealed,
        plain_until: Lsn::NONE,
        log_copies: 1,
        archive_folders: 0,
        new_sets: Format::Sealed,
        exceptions: BTreeSet::new(),
        anchor: None,
    };

    /// What a configuration asks for, of a system in `home`.
    #[must_use]
    pub fn asked(config: &KernelConfig, home: &Path) -> Protection {
        let AskedAbove { new_sets, exceptions, archive_folders } = config.asked.clone();
        let anchor = config.anchor.as_ref().map(|plan| {
            plan.path.strip_prefix(home).map_or_else(|_| plan.path.clone(), Path::to_path_buf)
        });
        Protection {
            log: config.log.format,
            plain_until: config.log.plain_until,
            log_copies: u8::try_from(config.log.copies.len()).unwrap_or(u8::MAX),
            archive_folders,
            new_sets,
            exceptions,
            anchor,
        }
    }

    /// Where `asked` is less than this.
    #[must_use]
    pub fn lowered_by(&self, asked: &Protection) -> Vec<Lowered> {
        let mut lowered = Vec::new();
        let mut note = |setting: &str, bound: String, asked: String| {
            lowered.push(Lowered { setting: setting.to_owned(), bound, asked });
        };
        if is_less(self.log, asked.log) {
            note("[log] format", self.log.to_string(), asked.log.to_string());
        }
        if asked.log_copies < self.log_copies {
            note("[log] copies", count(self.log_copies), count(asked.log_copies));
        }
        if asked.archive_folders < self.archive_folders {
            note("[archive] folders", count(self.archive_folders), count(asked.archive_folders));
        }
        if self.anchor.is_some() && self.anchor != asked.anchor {
            note("[anchor] file", shown(self.anchor.as_deref()), shown(asked.anchor.as_deref()));
        }
        if is_less(self.new_sets, asked.new_sets) {
            note("[data] format", self.new_sets.to_string(), asked.new_sets.to_string());
        }
        for name in self.exceptions.union(&asked.exceptions) {
            let (bound, asked) = (self.form_of(name), asked.form_of(name));
            if is_less(bound, asked) {
                note(&format!("[database.{name}] plain"), bound.to_string(), asked.to_string());
            }
        }
        lowered
    }

    /// The form of new data sets of a database.
    #[must_use]
    pub fn form_of(&self, database: &str) -> Format {
        match (self.new_sets, self.exceptions.contains(database)) {
            (Format::Sealed, false) | (Format::Plain, true) => Format::Sealed,
            (Format::Plain, false) | (Format::Sealed, true) => Format::Plain,
        }
    }

    /// Refuses what asks for less.
    ///
    /// # Errors
    /// [`UowError::Protection`] with every setting that does.
    pub fn check(&self, asked: &Protection, home: &Path) -> Result<(), UowError> {
        let lowered = self.lowered_by(asked);
        match lowered.is_empty() {
            true => Ok(()),
            false => Err(UowError::Protection { home: home.to_owned(), lowered }),
        }
    }

    /// What is bound once a start has succeeded that asked for `asked`, and for nothing less.
    pub(crate) fn raised_to(&self, asked: &Protection) -> Protection {
        Protection { plain_until: self.plain_until, log: self.log, ..asked.clone() }
    }

    /// Its bytes in a control block; `None` if they are more than `bytes_max`.
    pub(crate) fn encode(&self, bytes_max: usize) -> Option<Vec<u8>> {
        let mut out = vec![0; 16];
        out[0] = self.log as u8;
        out[1] = self.new_sets as u8;
        out[2] = self.log_copies;
        out[3] = self.archive_folders;
        out[8..16].copy_from_slice(&self.plain_until.0.to_le_bytes());
        let anchor =
            self.anchor.as_ref().map_or(&b""[..], |path| path.as_os_str().as_encoded_bytes());
        if anchor.len() > bytes_max {
            return None;
        }
        push_string16(&mut out, anchor);
        out.extend_from_slice(&u16::try_from(self.exceptions.len()).ok()?.to_le_bytes());
        for name in &self.exceptions {
            if name.len() > bytes_max {
                return None;
            }
            push_string16(&mut out, name.as_bytes());
        }
        (out.len() <= bytes_max).then_some(out)
    }

    /// Reads it back; `None` if it makes no sense.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Protection> {
        let mut reader = Reader::new(bytes);
        let log = Format::from_byte(reader.u8()?)?;
        let new_sets = Format::from_byte(reader.u8()?)?;
        let (log_copies, archive_folders) = (reader.u8()?, reader.u8()?);
        let _zero = reader.u32()?;
        let plain_until = Lsn(reader.u64()?);
        let anchor = str::from_utf8(reader.string16()?).ok()?;
        let anchor = (!anchor.is_empty()).then(|| PathBuf::from(anchor));
        let mut exceptions = BTreeSet::new();
        for _ in 0..reader.u16()? {
            exceptions.insert(str::from_utf8(reader.string16()?).ok()?.to_owned());
        }
        Some(Protection {
            log,
            plain_until,
            log_copies,
            archive_folders,
            new_sets,
            exceptions,
            anchor,
        })
    }
}

/// What the control file of a system in `home` says; nothing is compared or changed.
///
/// # Errors
/// If the control file cannot be read.
pub fn bound(seam: &Seam, home: &Path, keys: &ControlKeys) -> Result<Protection, UowError> {
    Ok(ControlFile::open(seam, &home.join(crate::restart::CONTROL), keys)?.0.protection())
}

/// Binds what an operator who holds the keys has decided. The system is stopped and locked.
///
/// # Errors
/// If the control file cannot be read or written, or has no room for so many names.
pub fn bind(
    seam: &Seam,
    home: &Path,
    keys: &ControlKeys,
    protection: &Protection,
) -> Result<(), UowError> {
    let (control, _) = ControlFile::open(seam, &home.join(crate::restart::CONTROL), keys)?;
    control.bind(protection)
}

fn is_less(bound: Format, asked: Format) -> bool {
    bound == Format::Sealed && asked == Format::Plain
}

fn count(number: u8) -> String {
    match number {
        0 => "none".into(),
        number => number.to_string(),
    }
}

fn shown(path: Option<&Path>) -> String {
    path.map_or_else(|| "none".into(), |path| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Protection {
        Protection {
            log: Format::Sealed,
            plain_until: Lsn(77),
            log_copies: 2,
            archive_folders: 2,
            new_sets: Format::Sealed,
            exceptions: ["HISTORY".to_owned(), "SCRATCH".to_owned()].into(),
            anchor: Some("/mnt/other/bank.anchor".into()),
        }
    }

    #[test]
    fn what_is_bound_is_read_back_as_it_was() {
        for one in [full(), Protection::UNBOUND] {
            let bytes = one.encode(512).unwrap();
            assert_eq!(Protection::decode(&bytes), Some(one));
            for len in 0..bytes.len() {
                assert_eq!(Protection::decode(&bytes[..len]), None);
            }
        }
        assert_eq!(full().encode(40), None, "more names than there is room for");
    }

    #[test]
    fn whatever_asks_for_less_is_named_and_what_asks_for_more_is_not() {
        type Change = fn(&mut Protection);
        let less: [(&str, Change); 8] = [
            ("[log] format", |p| p.log = Format::Plain),
            ("[log] copies", |p| p.log_copies = 1),
            ("[archive] folders", |p| p.archive_folders = 1),
            ("[archive] folders", |p| p.archive_folders = 0),
            ("[data] format", |p| p.new_sets = Format::Plain),
            ("[anchor] file", |p| p.anchor = None),
            ("[anchor] file", |p| p.anchor = Some("elsewhere".into())),
            ("[database.LEDGER] plain", |p| _ = p.exceptions.insert("LEDGER".into())),
        ];
        for (setting, change) in less {
            let mut asked = full();
            change(&mut asked);
            let settings: Vec<String> =
                full().lowered_by(&asked).into_iter().map(|one| one.setting).collect();
            assert!(settings.contains(&setting.to_owned()), "{setting}: {settings:?}");
        }
        assert!(full().lowered_by(&full()).is_empty());
        let more = Protection { exceptions: BTreeSet::new(), ..full() };
        assert!(Protection::UNBOUND.lowered_by(&more).is_empty());
        assert!(full().lowered_by(&more).is_empty());
    }

    #[test]
    fn an_exception_is_judged_by_what_it_comes_to() {
        let plain = Protection {
            new_sets: Format::Plain,
            exceptions: ["SECRET".to_owned()].into(),
            ..Protection::UNBOUND
        };
        // Everything is plain but one; without the exception that one would be plain, too.
        let without = Protection { exceptions: BTreeSet::new(), ..plain.clone() };
        assert_eq!(plain.lowered_by(&without).len(), 1);
        assert!(without.lowered_by(&plain).is_empty());
        // Sealed by default with the same name as an exception: that one only becomes plain.
        let turned = Protection { new_sets: Format::Sealed, ..plain.clone() };
        let lowered = plain.lowered_by(&turned);
        assert_eq!(lowered.len(), 1);
        assert_eq!(lowered[0].setting, "[database.SECRET] plain");
    }
}
