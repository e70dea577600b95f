//! What the bytes of a system must prove, bound in its sealed control file (K4, K6).
//!
//! The configuration is a file that anybody can change who can write to the system's folder. If it
//! decided alone whether plain groups of the log are believed, a log could be forged without a key.
//! So the control file says it, too, and only a process that holds the system's key can write that.
//!
//! Invariants:
//! 1. A configuration that asks for less than what is bound opens nothing, until an operator who
//!    holds the keys has bound what it asks for ([`crate::control::accept`]).
//! 2. One that asks for more is bound by the next start, once that has succeeded.
//! 3. Both slots of the control file have what is bound: a damaged slot brings back nothing older.
//! 4. Plain groups of the log are believed within the one span in which it was plain, and nowhere
//!    else.
//! 5. What of the system is open to others is bound as digests, which the layers above make. One
//!    that is not bound is more than is bound; they compare, and name what it is.
//! 6. Each change has its edition, which goes into the log and into RECON. A control file of an
//!    older edition was put back and opens nothing.
//!
//! In the control block, behind what restart needs:
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | form of the log and its archives: 1 plain, 2 sealed |
//! | 1 | 1 | form of new data sets |
//! | 2 | 1 | copies of the log |
//! | 3 | 1 | folders of the archive; 0: it is not archived |
//! | 4 | 4 | edition |
//! | 8 | 8 | position from which plain groups are believed |
//! | 16 | 8 | position up to which they are |
//! | 24 | 2 + n | the anchor's path, relative to the system's folder if it lies there; empty: none |
//! | | 2 | number of names that follow |
//! | | 2 + n | each: a database whose new data sets have the other form |
//! | | 2 | 0: what is open to others was never bound; otherwise the number of digests, and one |
//! | | 16 | each: the digest of something that is open to others |

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use base::Lsn;
use base::bytes::{Reader, push_string16};
use seal::Format;
use wal::PlainSpan;

use crate::{Lowered, UowError};

/// The file in the system's folder that binds it.
pub(crate) const CONTROL: &str = "control";
/// The edition of a system that was just made.
pub(crate) const FIRST_EDITION: u32 = 1;

/// The digest of something that a configuration opens to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Opening(pub [u8; 16]);

/// What the bytes of a system must prove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protection {
    /// Counts the changes, from 1.
    pub edition: u32,
    /// The form of the log, and of its archives.
    pub log: Format,
    /// Where plain groups of it are believed.
    pub plain: PlainSpan,
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
    /// What may be open to others; none: that was never bound.
    pub openings: Option<BTreeSet<Opening>>,
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

impl Protection {
    /// Nothing is plain. It also stands for a control file of a release that bound nothing: what
    /// such a system has of the weaker form an operator has to bind.
    pub const SEALED: Protection = Protection {
        log: Format::Sealed,
        edition: 0,
        plain: PlainSpan::NONE,
        log_copies: 1,
        archive_folders: 0,
        new_sets: Format::Sealed,
        exceptions: BTreeSet::new(),
        anchor: None,
        openings: None,
    };

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

    /// Refuses a control file that was put back: one of a newer edition is known to be.
    ///
    /// # Errors
    /// [`UowError::Control`].
    pub fn refuse_older(&self, known: u32, home: &Path) -> Result<(), UowError> {
        if self.edition >= known {
            return Ok(());
        }
        let why = format!(
            "it was put back: what it binds is of edition {}, and edition {known} is known",
            self.edition
        );
        Err(UowError::Control { path: home.join(CONTROL), why, remedy: NEWEST })
    }

    /// What is bound once a start has succeeded that asked for `asked`, and for nothing less.
    pub(crate) fn raised_to(&self, asked: &Protection) -> Protection {
        Protection {
            edition: self.edition,
            plain: self.plain,
            log: self.log,
            openings: self.openings.clone(),
            ..asked.clone()
        }
    }

    /// What is bound once an operator has accepted what `asked` lowers. The log has reached
    /// `proven`: from there on it may become plain.
    pub(crate) fn lowered_to(&self, asked: &Protection, proven: Lsn) -> Protection {
        let mut lowered = self.clone();
        lowered.log_copies = self.log_copies.min(asked.log_copies);
        lowered.archive_folders = self.archive_folders.min(asked.archive_folders);
        if self.anchor.is_some() {
            lowered.anchor.clone_from(&asked.anchor);
        }
        if is_less(self.log, asked.log) {
            lowered.log = asked.log;
            if self.plain == PlainSpan::NONE {
                lowered.plain.from = proven;
            }
        }
        let opens_no_more = match (&self.openings, &asked.openings) {
            (Some(bound), Some(asked)) => asked.is_subset(bound),
            (None, Some(_)) => false,
            (_, None) => true,
        };
        if !opens_no_more {
            lowered.openings.clone_from(&asked.openings);
        }
        let of_sets = |one: &Lowered| one.setting.starts_with("[data");
        if self.lowered_by(asked).iter().any(of_sets) {
            lowered.new_sets = asked.new_sets;
            lowered.exceptions.clone_from(&asked.exceptions);
        }
        lowered
    }

    /// Its bytes in a control block; `None` if they are more than `bytes_max`.
    pub(crate) fn encode(&self, bytes_max: usize) -> Option<Vec<u8>> {
        let mut out = vec![0; 24];
        out[0] = self.log as u8;
        out[1] = self.new_sets as u8;
        out[2] = self.log_copies;
        out[3] = self.archive_folders;
        out[4..8].copy_from_slice(&self.edition.to_le_bytes());
        out[8..16].copy_from_slice(&self.plain.from.0.to_le_bytes());
        out[16..24].copy_from_slice(&self.plain.until.0.to_le_bytes());
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
        let count = self.openings.as_ref().map_or(0, |all| all.len() + 1);
        out.extend_from_slice(&u16::try_from(count).ok()?.to_le_bytes());
        self.openings.iter().flatten().for_each(|one| out.extend_from_slice(&one.0));
        (out.len() <= bytes_max).then_some(out)
    }

    /// Reads it back; `None` if it makes no sense.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Protection> {
        let mut reader = Reader::new(bytes);
        let log = Format::from_byte(reader.u8()?)?;
        let new_sets = Format::from_byte(reader.u8()?)?;
        let (log_copies, archive_folders) = (reader.u8()?, reader.u8()?);
        let edition = reader.u32()?;
        let (from, until) = (Lsn(reader.u64()?), Lsn(reader.u64()?));
        let anchor = str::from_utf8(reader.string16()?).ok()?;
        let anchor = (!anchor.is_empty()).then(|| PathBuf::from(anchor));
        let mut exceptions = BTreeSet::new();
        for _ in 0..reader.u16()? {
            exceptions.insert(str::from_utf8(reader.string16()?).ok()?.to_owned());
        }
        let mut openings = None;
        if let Some(count) = reader.u16()?.checked_sub(1) {
            let one = |_| Some(Opening(reader.array()?));
            openings = Some((0..count).map(one).collect::<Option<BTreeSet<_>>>()?);
        }
        Some(Protection {
            edition,
            log,
            plain: PlainSpan { from, until },
            log_copies,
            archive_folders,
            new_sets,
            exceptions,
            anchor,
            openings,
        })
    }
}

const NEWEST: &str = "Put the newest control file back. If there is none, restore the system in a \
                      new folder from its archives and image copies.";

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
            edition: 3,
            plain: PlainSpan { from: Lsn(7), until: Lsn(77) },
            log_copies: 2,
            archive_folders: 2,
            new_sets: Format::Sealed,
            exceptions: ["HISTORY".to_owned(), "SCRATCH".to_owned()].into(),
            anchor: Some("/mnt/other/bank.anchor".into()),
            openings: Some([Opening([1; 16]), Opening([2; 16])].into()),
        }
    }

    #[test]
    fn what_is_bound_is_read_back_as_it_was() {
        for one in [full(), Protection::SEALED] {
            let bytes = one.encode(512).unwrap();
            assert_eq!(Protection::decode(&bytes), Some(one));
            for len in 0..bytes.len() {
                assert_eq!(Protection::decode(&bytes[..len]), None);
            }
        }
        let none_open = Protection { openings: Some(BTreeSet::new()), ..full() };
        let bytes = none_open.encode(512).unwrap();
        assert_eq!(Protection::decode(&bytes), Some(none_open));
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
        assert!(Protection::SEALED.lowered_by(&more).is_empty());
        assert!(full().lowered_by(&more).is_empty());
    }

    #[test]
    fn openings_are_kept_by_starts_and_bound_by_operators() {
        let asked = |openings| Protection { openings, ..full() };
        // A start asks for none, and takes none away.
        assert_eq!(full().raised_to(&asked(None)), full());
        assert_eq!(full().lowered_to(&asked(None), Lsn(9)), full());
        let more: BTreeSet<_> = [1, 2, 3].map(|one| Opening([one; 16])).into();
        let accepted = full().lowered_to(&asked(Some(more.clone())), Lsn(9));
        assert_eq!(accepted.openings, Some(more.clone()));
        let fewer: BTreeSet<_> = [Opening([1; 16])].into();
        assert_eq!(full().lowered_to(&asked(Some(fewer)), Lsn(9)), full());
        let never = Protection { openings: None, ..full() };
        assert_eq!(never.lowered_to(&asked(Some(more.clone())), Lsn(9)).openings, Some(more));
    }

    #[test]
    fn an_exception_is_judged_by_what_it_comes_to() {
        let plain = Protection {
            new_sets: Format::Plain,
            exceptions: ["SECRET".to_owned()].into(),
            ..Protection::SEALED
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
