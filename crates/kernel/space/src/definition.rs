//! What a data set is, as the log, the checkpoint and the header interval carry it.
//!
//! | bytes | field |
//! |---|---|
//! | 2 | layout version: 3; 2 without the permit; 1 without the conversion, too |
//! | 4 | data set number |
//! | 4 | control interval size as the user gave it |
//! | 1 | format: 1 plain, 2 sealed |
//! | 4 | key generation |
//! | 4 | intervals in one file, 0 for all in one |
//! | 2 + n | name, key label, pool, attributes of the layers above |
//! | 2, then 2 + n each | folders in which its files lie, relative to the system's |
//! | 1 | 0; while it is being converted to its form: 1, or 2 if that pauses. Then: |
//! | 1 + 4 | format and key generation before |
//! | 4 | the interval before which all have the new form |
//! | 8 | most bytes to convert in a second, 0 for no limit |
//! | 1, then 20 | 1 and its permit, if it is plain or was before its conversion; otherwise 0 |

use base::bytes::{Reader, push_string16};
use base::{CiNumber, DataSetId, KeyGeneration, SystemId};
use seal::{Accept, Converting, Form, Format, KeyProvider, PermitFor, PlainPermit, SealError};

use crate::SpaceError;

/// The definition of a data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its number.
    pub id: DataSetId,
    /// Its name, unique within the system.
    pub name: String,
    /// The control interval size that was asked for, 512 to 32768.
    pub ci_bytes: u32,
    /// Plain or sealed.
    pub format: Format,
    /// The label of its data key.
    pub label: String,
    /// The generation of that key.
    pub generation: KeyGeneration,
    /// The pool that holds its intervals.
    pub pool: String,
    /// How many intervals one file holds; 0: all.
    pub file_intervals: u32,
    /// Where its files lie, in turn; relative to the system's folder.
    pub folders: Vec<String>,
    /// What the layers above keep with it.
    pub attributes: Vec<u8>,
    /// The conversion to that format and generation, while it is under way.
    pub conversion: Option<Conversion>,
    /// What proves that it may be plain, if it is or was before its conversion; another one has
    /// none.
    pub permit: Option<PlainPermit>,
}

/// A conversion under way (K4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// The form before.
    pub from: Form,
    /// Every interval before this one has the new form on disk.
    pub next: CiNumber,
    /// The most bytes to convert in a second; 0: no limit.
    pub bytes_per_second: u64,
    /// It waits until somebody resumes it.
    pub paused: bool,
}

const VERSION: u16 = 3;
/// The version before permits.
const VERSION_WITHOUT_PERMIT: u16 = 2;
/// The version before conversions.
const VERSION_WITHOUT_CONVERSION: u16 = 1;
/// The longest name of a data set, in bytes.
pub const NAME_BYTES_MAX: usize = 64;

impl Definition {
    /// The unit of sealing and of input and output: the interval rounded up to 4 KiB (K19).
    #[must_use]
    pub fn unit_bytes(&self) -> usize {
        unit_of(self.ci_bytes)
    }

    /// The file that holds the intervals from `number * file_intervals` on.
    #[must_use]
    pub fn file_name(&self, number: u32) -> String {
        let folder = &self.folders[number as usize % self.folders.len()];
        format!("{folder}/{}.{:06}.{number:03}", file_safe(&self.name), self.id.0)
    }

    /// The form that its intervals have, or are converted to.
    #[must_use]
    pub fn form(&self) -> Form {
        match self.format {
            Format::Plain => Form::PLAIN,
            Format::Sealed => Form::sealed(self.generation),
        }
    }

    /// What forms its intervals may have.
    #[must_use]
    pub fn accept(&self) -> Accept {
        let converting = self.conversion.map(|conversion| Converting {
            from: conversion.from,
            left: conversion.next..CiNumber(u32::MAX),
        });
        Accept { form: self.form(), converting }
    }

    /// The definition as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(128);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&self.id.0.to_le_bytes());
        out.extend_from_slice(&self.ci_bytes.to_le_bytes());
        out.push(self.format as u8);
        out.extend_from_slice(&self.generation.0.to_le_bytes());
        out.extend_from_slice(&self.file_intervals.to_le_bytes());
        push_string16(&mut out, self.name.as_bytes());
        push_string16(&mut out, self.label.as_bytes());
        push_string16(&mut out, self.pool.as_bytes());
        push_string16(&mut out, &self.attributes);
        out.extend_from_slice(&(self.folders.len() as u16).to_le_bytes());
        self.folders.iter().for_each(|folder| push_string16(&mut out, folder.as_bytes()));
        match &self.conversion {
            None => out.push(0),
            Some(conversion) => conversion.encode(&mut out),
        }
        out.push(u8::from(self.permit.is_some()));
        self.permit.iter().for_each(|permit| permit.encode(&mut out));
        out
    }

    /// Whom its permit has to be for.
    fn permit_for(&self, system: SystemId) -> PermitFor<'_> {
        PermitFor { system, set: self.id, name: &self.name }
    }

    /// Gives it what proves that it may be plain, if it needs that: whoever calls this has decided
    /// that it is to be. `label` is that of the system's key.
    ///
    /// # Errors
    /// Whatever the key provider says.
    pub fn permit_plain(
        &mut self,
        keys: &dyn KeyProvider,
        label: &str,
        system: SystemId,
    ) -> Result<(), SealError> {
        self.permit = match self.may_be_plain() {
            false => None,
            true => Some(PlainPermit::issue(keys, label, &self.permit_for(system))?),
        };
        Ok(())
    }

    /// Whether nothing of it is, was or becomes sealed, as far as it says.
    #[must_use]
    pub fn is_all_plain(&self) -> bool {
        self.format == Format::Plain && self.conversion.is_none()
    }

    /// Takes the permit away that it needs no longer.
    pub fn drop_permit(&mut self) {
        self.permit = self.permit.filter(|_| self.may_be_plain());
    }

    /// Whether intervals of it may be plain: it is, or was before its conversion.
    fn may_be_plain(&self) -> bool {
        let from = self.conversion.map(|conversion| conversion.from.format);
        self.format == Format::Plain || from == Some(Format::Plain)
    }

    /// Whether its intervals may have the forms that it says: plain ones have to be permitted.
    ///
    /// # Errors
    /// Whatever the key provider says.
    pub fn is_permitted(
        &self,
        keys: &dyn KeyProvider,
        label: &str,
        system: SystemId,
    ) -> Result<bool, SealError> {
        match (self.may_be_plain(), &self.permit) {
            (false, _) => Ok(true),
            (true, None) => Ok(false),
            (true, Some(permit)) => permit.is_genuine(keys, label, &self.permit_for(system)),
        }
    }

    /// The definition from bytes.
    ///
    /// # Errors
    /// [`SpaceError::Decode`] if they are none, or of a newer release.
    pub fn decode(bytes: &[u8]) -> Result<Definition, SpaceError> {
        let bad = |why: String| SpaceError::Decode { what: "a data set's definition".into(), why };
        let mut reader = Reader::new(bytes);
        let version = match reader.u16() {
            Some(version @ VERSION_WITHOUT_CONVERSION..=VERSION) => version,
            Some(found) => return Err(bad(format!("it has layout version {found}"))),
            None => return Err(bad("it is cut short".into())),
        };
        let decoded =
            decode_fields(&mut reader, version).ok_or_else(|| bad("a field is bad".into()))?;
        decoded.check().map_err(bad)?;
        Ok(decoded)
    }

    /// # Errors
    /// What is wrong with it, in words.
    pub fn check(&self) -> Result<(), String> {
        if self.id.0 == 0 {
            return Err("a data set's number is not 0".into());
        }
        if self.name.is_empty() || self.name.len() > NAME_BYTES_MAX {
            return Err(format!("a name has 1 to {NAME_BYTES_MAX} bytes"));
        }
        if !is_ci_size(self.ci_bytes) {
            return Err(format!(
                "{} is no control interval size: multiples of 512 up to 8192, of 2048 up to 32768",
                self.ci_bytes
            ));
        }
        if self.folders.is_empty() || self.folders.len() > 64 {
            return Err("a data set lies in 1 to 64 folders".into());
        }
        Ok(())
    }
}

impl Conversion {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(if self.paused { PAUSED } else { AT_WORK });
        out.push(self.from.format as u8);
        out.extend_from_slice(&self.from.generation.0.to_le_bytes());
        out.extend_from_slice(&self.next.0.to_le_bytes());
        out.extend_from_slice(&self.bytes_per_second.to_le_bytes());
    }
}

/// What says that a conversion is under way, or pauses.
const AT_WORK: u8 = 1;
const PAUSED: u8 = 2;

fn decode_fields(reader: &mut Reader<'_>, version: u16) -> Option<Definition> {
    let id = DataSetId(reader.u32()?);
    let ci_bytes = reader.u32()?;
    let format = Format::from_byte(reader.u8()?)?;
    let generation = KeyGeneration(reader.u32()?);
    let file_intervals = reader.u32()?;
    let name = text(reader)?;
    let label = text(reader)?;
    let pool = text(reader)?;
    let attributes = reader.string16()?.to_vec();
    let count = reader.u16()?;
    let folders = (0..count).map(|_| text(reader)).collect::<Option<Vec<_>>>()?;
    let conversion = match version {
        VERSION_WITHOUT_CONVERSION => None,
        _ => decode_conversion(reader)?,
    };
    let permit = match version {
        ..=VERSION_WITHOUT_PERMIT => None,
        _ => decode_permit(reader)?,
    };
    Some(Definition {
        id,
        name,
        ci_bytes,
        format,
        label,
        generation,
        pool,
        file_intervals,
        folders,
        attributes,
        conversion,
        permit,
    })
}

fn decode_permit(reader: &mut Reader<'_>) -> Option<Option<PlainPermit>> {
    match reader.u8()? {
        0 => Some(None),
        1 => Some(Some(PlainPermit::decode(reader)?)),
        _ => None,
    }
}

fn decode_conversion(reader: &mut Reader<'_>) -> Option<Option<Conversion>> {
    let paused = match reader.u8()? {
        0 => return Some(None),
        state @ (AT_WORK | PAUSED) => state == PAUSED,
        _ => return None,
    };
    let format = Format::from_byte(reader.u8()?)?;
    let from = Form { format, generation: KeyGeneration(reader.u32()?) };
    let (next, bytes_per_second) = (CiNumber(reader.u32()?), reader.u64()?);
    Some(Some(Conversion { from, next, bytes_per_second, paused }))
}

fn text(reader: &mut Reader<'_>) -> Option<String> {
    String::from_utf8(reader.string16()?.to_vec()).ok()
}

/// Whether VSAM and OSAM know this size.
#[must_use]
pub fn is_ci_size(bytes: u32) -> bool {
    let step = if bytes <= 8192 { 512 } else { 2048 };
    (512..=32_768).contains(&bytes) && bytes.is_multiple_of(step)
}

/// The unit in which intervals of this size are sealed, read and written.
#[must_use]
pub fn unit_of(ci_bytes: u32) -> usize {
    (ci_bytes as usize).div_ceil(4096) * 4096
}

fn file_safe(name: &str) -> String {
    let safe =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '#' | '@' | '$');
    name.chars().map(|c| if safe(c) { c } else { '_' }).collect()
}

/// Whether a file is called like one of a data set: `NAME.000012.000`.
#[must_use]
pub fn is_file_name(name: &str) -> bool {
    let mut parts = name.rsplitn(3, '.');
    let is_number = |part: Option<&str>, digits: usize| {
        part.is_some_and(|part| part.len() >= digits && part.bytes().all(|b| b.is_ascii_digit()))
    };
    is_number(parts.next(), 3) && is_number(parts.next(), 6) && parts.next().is_some()
}

#[cfg(test)]
mod tests {
    use seal::TestKeys;

    use super::*;

    fn example() -> Definition {
        Definition {
            id: DataSetId(7),
            name: "BANK.CUSTOMER".into(),
            ci_bytes: 2048,
            format: Format::Sealed,
            label: "DATA".into(),
            generation: KeyGeneration(3),
            pool: "default".into(),
            file_intervals: 1000,
            folders: vec!["data".into(), "data2".into()],
            attributes: vec![1, 2, 3],
            conversion: None,
            permit: None,
        }
    }

    #[test]
    fn files_of_data_sets_are_known_by_their_names() {
        for name in ["ACCOUNTS.000012.000", "A.B.1234567.1000", "x.000000.001"] {
            assert!(is_file_name(name), "{name}");
        }
        for name in ["ACCOUNTS.00012.000", "000012.000", "report.2024.txt", "a.000012.00", "data"] {
            assert!(!is_file_name(name), "{name}");
        }
    }

    #[test]
    fn a_conversion_is_part_of_the_definition_and_an_older_layout_has_none() {
        let from = Form::PLAIN;
        let conversion =
            Conversion { from, next: CiNumber(9), bytes_per_second: 1 << 40, paused: true };
        let converting = Definition { conversion: Some(conversion), ..example() };
        let bytes = converting.encode();
        assert_eq!(Definition::decode(&bytes).unwrap(), converting);
        for len in 0..bytes.len() {
            assert!(Definition::decode(&bytes[..len]).is_err(), "{len}");
        }
        let mut older = example().encode();
        for version in [2, 1] {
            older.pop();
            older[0] = version;
            assert_eq!(Definition::decode(&older).unwrap(), example());
        }
    }

    #[test]
    fn a_plain_data_set_has_to_prove_that_it_may_be() {
        let (keys, system) = (TestKeys::new(1), SystemId([3; 16]));
        let is = |one: &Definition| one.is_permitted(&keys, "system", system).unwrap();
        assert!(is(&example()));
        let mut plain = Definition { format: Format::Plain, ..example() };
        assert!(!is(&plain));
        plain.permit_plain(&keys, "system", system).unwrap();
        assert!(is(&plain));
        let bytes = plain.encode();
        assert_eq!(Definition::decode(&bytes).unwrap(), plain);
        for len in 0..bytes.len() {
            assert!(Definition::decode(&bytes[..len]).is_err(), "{len}");
        }
        assert!(!is(&Definition { id: DataSetId(8), ..plain.clone() }));
        // So has one that says it was plain until now; once it is sealed there is nothing to prove.
        let from =
            Conversion { from: Form::PLAIN, next: CiNumber(0), bytes_per_second: 0, paused: true };
        let mut converting = Definition { conversion: Some(from), ..example() };
        assert!(!is(&converting));
        converting.permit_plain(&keys, "system", system).unwrap();
        assert!(is(&converting));
        converting.drop_permit();
        assert!(converting.permit.is_some());
        converting.conversion = None;
        converting.drop_permit();
        assert_eq!(converting, example());
        assert!(!is(&Definition { name: "BANK.LEDGER".into(), ..plain }));
    }

    #[test]
    fn a_definition_comes_back_and_every_cut_is_refused() {
        let bytes = example().encode();
        assert_eq!(Definition::decode(&bytes).unwrap(), example());
        for len in 0..bytes.len() {
            assert!(Definition::decode(&bytes[..len]).is_err(), "{len}");
        }
    }

    #[test]
    fn units_are_intervals_rounded_up_to_four_kib() {
        assert_eq!([512, 4096, 4608, 24_576].map(unit_of), [4096, 4096, 8192, 24_576]);
        assert!(is_ci_size(24_576) && is_ci_size(512) && is_ci_size(10_240));
        assert!(!is_ci_size(9_216) && !is_ci_size(0) && !is_ci_size(65_536) && !is_ci_size(513));
    }

    #[test]
    fn files_lie_in_the_folders_in_turn() {
        assert_eq!(example().file_name(0), "data/BANK.CUSTOMER.000007.000");
        assert_eq!(example().file_name(1), "data2/BANK.CUSTOMER.000007.001");
    }
}
