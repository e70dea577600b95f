//! What DEFINE says of an object, and the rules that it must keep.
//!
//! 1. A keyed cluster has a key that lies within every record it may have.
//! 2. A record fits into a control interval, with the 7 bytes that VSAM keeps for one record there,
//!    unless the cluster is spanned. Only keyed and entry-sequenced clusters can be.
//! 3. Records of a relative cluster have one length; those of a linear one are blocks of 4096.
//! 4. Interval sizes are multiples of 512 up to 8192, of 2048 up to 32768; others are rounded up.

use serde::{Deserialize, Serialize};

use crate::name::DataSetName;

/// Bytes of a block of a linear cluster.
pub const BLOCK_BYTES: usize = 4096;
/// Bytes of the longest record that is not spanned.
pub const RECORD_BYTES_MAX: u32 = 32_761;
/// Bytes of the longest spanned record.
pub const SPANNED_BYTES_MAX: u32 = 16 << 20;
/// Bytes of the longest key.
pub const KEY_BYTES_MAX: u32 = 255;
/// What an interval keeps beside one record: its own control field and one of the record.
pub const INTERVAL_OVERHEAD: u32 = 7;
const INTERVAL_BYTES_MAX: u32 = 32_768;

/// What is wrong with attributes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{operand}: {what}")]
pub struct AttributeError {
    /// The operand of DEFINE that is wrong, such as `KEYS`.
    pub operand: &'static str,
    /// What is wrong with it.
    pub what: &'static str,
}

/// How a cluster orders its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Organization {
    /// By a unique key in the record: KSDS, `INDEXED`.
    Keyed,
    /// As they arrived: ESDS, `NONINDEXED`.
    EntrySequenced,
    /// By number, in slots of one length: RRDS, `NUMBERED`.
    Relative,
    /// By number, of any length: VRRDS.
    VariableRelative,
    /// No records, only blocks: LDS, `LINEAR`.
    Linear,
}

impl Organization {
    /// Whether records have numbers.
    #[must_use]
    pub fn is_relative(self) -> bool {
        matches!(self, Organization::Relative | Organization::VariableRelative)
    }

    /// Whether alternate indexes may stand over it.
    #[must_use]
    pub fn takes_indexes(self) -> bool {
        matches!(self, Organization::Keyed | Organization::EntrySequenced)
    }
}

/// Where a key lies in a record: `KEYS(bytes offset)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyField {
    /// Where it begins.
    pub offset: u32,
    /// How long it is.
    pub bytes: u32,
}

impl KeyField {
    /// Where it ends.
    #[must_use]
    pub fn end(self) -> usize {
        self.offset as usize + self.bytes as usize
    }

    /// Its place in a record.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        self.offset as usize..self.end()
    }

    /// The key of a record, if that is long enough.
    #[must_use]
    #[inline]
    pub fn of(self, record: &[u8]) -> Option<&[u8]> {
        record.get(self.range())
    }

    fn check(self) -> Result<(), AttributeError> {
        let wrong = |what| Err(AttributeError { operand: "KEYS", what });
        if self.bytes == 0 || self.bytes > KEY_BYTES_MAX {
            return wrong("a key has 1 to 255 bytes");
        }
        if self.offset > SPANNED_BYTES_MAX {
            return wrong("the key lies behind the end of every record");
        }
        Ok(())
    }
}

/// `FREESPACE(interval area)`: percent that a load leaves free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FreeSpace {
    /// Of each control interval.
    pub interval_percent: u8,
    /// Of each control area. Kept and shown; the store's trees have no areas.
    pub area_percent: u8,
}

/// Who may have a cluster open at the same time: `SHAREOPTIONS`, its first number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Share {
    /// 1: many who read, or one who writes.
    ReadersOrWriter,
    /// 2: one who writes beside many who read.
    WriterAndReaders,
    /// 3: everybody; users see to the rest.
    Anybody,
    /// 4: everybody, with help. Here records are locked for 3, too.
    AnybodyLocked,
}

impl Share {
    /// By its number.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Share> {
        Some(match number {
            1 => Share::ReadersOrWriter,
            2 => Share::WriterAndReaders,
            3 => Share::Anybody,
            4 => Share::AnybodyLocked,
            _ => return None,
        })
    }

    /// Its number.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Share::ReadersOrWriter => 1,
            Share::WriterAndReaders => 2,
            Share::Anybody => 3,
            Share::AnybodyLocked => 4,
        }
    }
}

/// `SHAREOPTIONS(regions systems)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareOptions {
    /// Among the programs of this system.
    pub regions: Share,
    /// Among systems, 3 or 4. Kept and shown: data belongs to one system, whose port others use.
    pub systems: Share,
}

impl Default for ShareOptions {
    fn default() -> ShareOptions {
        ShareOptions { regions: Share::ReadersOrWriter, systems: Share::Anybody }
    }
}

/// What a definition asks of space: kept and shown. Data sets grow by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SpaceUnit {
    /// `RECORDS`.
    Records,
    /// `TRACKS`.
    Tracks,
    /// `CYLINDERS`.
    Cylinders,
    /// `KILOBYTES`.
    Kilobytes,
    /// `MEGABYTES`.
    Megabytes,
    /// `BLOCKS`.
    Blocks,
}

/// A space request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Space {
    /// What is counted.
    pub unit: SpaceUnit,
    /// At first.
    pub primary: u32,
    /// Each time more is needed.
    pub secondary: u32,
}

/// What is said of every object that has data, and only kept and shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Remarks {
    /// `VOLUMES`.
    pub volumes: Vec<String>,
    /// A space request.
    pub space: Option<Space>,
    /// `OWNER`.
    pub owner: Option<String>,
    /// `TO` or `FOR`, as a day `yyyyddd`. Whoever deletes the object before says so (`PURGE`).
    pub expires: Option<u32>,
}

/// `DEFINE CLUSTER`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterAttributes {
    /// How records are ordered.
    pub organization: Organization,
    /// Where the key is; keyed clusters only.
    pub key: Option<KeyField>,
    /// `RECORDSIZE`, the average.
    pub average_bytes: u32,
    /// `RECORDSIZE`, the longest.
    pub record_bytes_max: u32,
    /// `CONTROLINTERVALSIZE`; `None`: chosen by the longest record.
    pub interval_bytes: Option<u32>,
    /// `FREESPACE`.
    pub free_space: FreeSpace,
    /// `SHAREOPTIONS`.
    pub share: ShareOptions,
    /// `REUSE`: it can be opened as if it were empty.
    pub reuse: bool,
    /// `SPANNED`.
    pub spanned: bool,
    /// `SPEED` instead of `RECOVERY`: kept and shown.
    pub speed: bool,
    /// `ERASE`: kept and shown. What is sealed is gone with its key.
    pub erase: bool,
    /// The data component's name; `None`: the cluster's and `.DATA`.
    pub data_name: Option<DataSetName>,
    /// The index component's name; `None`: the cluster's and `.INDEX`.
    pub index_name: Option<DataSetName>,
    /// The description of its records, as COBOL source text.
    pub record_map: Option<String>,
    /// The rest.
    pub remarks: Remarks,
}

impl ClusterAttributes {
    /// A cluster with the defaults of DEFINE: keys of 64 bytes at the front, records of 4089.
    #[must_use]
    pub fn new(organization: Organization) -> ClusterAttributes {
        let keyed = organization == Organization::Keyed;
        let linear = organization == Organization::Linear;
        let record_bytes = if linear { BLOCK_BYTES as u32 } else { 4089 };
        ClusterAttributes {
            organization,
            key: keyed.then_some(KeyField { offset: 0, bytes: 64 }),
            average_bytes: record_bytes,
            record_bytes_max: record_bytes,
            interval_bytes: linear.then_some(BLOCK_BYTES as u32),
            free_space: FreeSpace::default(),
            share: ShareOptions::default(),
            reuse: false,
            spanned: false,
            speed: false,
            erase: false,
            data_name: None,
            index_name: None,
            record_map: None,
            remarks: Remarks::default(),
        }
    }

    /// A keyed cluster of records up to so many bytes.
    #[must_use]
    pub fn keyed(key: KeyField, record_bytes_max: u32) -> ClusterAttributes {
        ClusterAttributes { key: Some(key), ..ClusterAttributes::new(Organization::Keyed) }
            .with_records(record_bytes_max)
    }

    /// The same with records up to so many bytes.
    #[must_use]
    pub fn with_records(mut self, record_bytes_max: u32) -> ClusterAttributes {
        (self.average_bytes, self.record_bytes_max) = (record_bytes_max, record_bytes_max);
        self
    }

    /// Checks the rules, and rounds and chooses what DEFINE leaves open.
    ///
    /// # Errors
    /// Which operand breaks which rule.
    pub fn settle(&mut self) -> Result<(), AttributeError> {
        let wrong = |operand, what| Err(AttributeError { operand, what });
        self.settle_records()?;
        match (self.organization, self.key) {
            (Organization::Keyed, None) => return wrong("KEYS", "an indexed cluster has a key"),
            (Organization::Keyed, Some(key)) => {
                key.check()?;
                if key.end() > self.record_bytes_max as usize {
                    return wrong("KEYS", "the key does not lie within the records");
                }
            }
            (_, Some(_)) => return wrong("KEYS", "only an indexed cluster has a key"),
            (_, None) => {}
        }
        if self.free_space.interval_percent > 100 || self.free_space.area_percent > 100 {
            return wrong("FREESPACE", "it is given in percent");
        }
        if self.share.systems < Share::Anybody {
            return wrong("SHAREOPTIONS", "the second number is 3 or 4");
        }
        Ok(())
    }

    fn settle_records(&mut self) -> Result<(), AttributeError> {
        let wrong = |operand, what| Err(AttributeError { operand, what });
        let (average, most) = (self.average_bytes, self.record_bytes_max);
        if self.organization == Organization::Linear {
            if self.spanned {
                return wrong("SPANNED", "a linear cluster has no records");
            }
            (self.average_bytes, self.record_bytes_max) = (BLOCK_BYTES as u32, BLOCK_BYTES as u32);
            self.interval_bytes = Some(BLOCK_BYTES as u32);
            return Ok(());
        }
        if average == 0 || average > most {
            return wrong("RECORDSIZE", "the average is at least 1 and at most the maximum");
        }
        if self.organization == Organization::Relative && average != most {
            return wrong("RECORDSIZE", "records of a numbered cluster have one length");
        }
        if self.spanned && self.organization.is_relative() {
            return wrong("SPANNED", "a numbered cluster cannot be spanned");
        }
        let longest = if self.spanned { SPANNED_BYTES_MAX } else { RECORD_BYTES_MAX };
        if most > longest {
            return wrong("RECORDSIZE", "records are longer than may be; SPANNED allows more");
        }
        let asked = self.interval_bytes.unwrap_or(match self.spanned {
            true => 4096.min(most + INTERVAL_OVERHEAD),
            false => 4096.max(most + INTERVAL_OVERHEAD),
        });
        let Some(interval) = interval_of(asked) else {
            return wrong("CONTROLINTERVALSIZE", "it is at least 1 and at most 32768");
        };
        if !self.spanned && most + INTERVAL_OVERHEAD > interval {
            return wrong(
                "CONTROLINTERVALSIZE",
                "the longest record does not fit into an interval; SPANNED allows that",
            );
        }
        if let Some(key) = self.key.filter(|_| self.spanned)
            && key.end() + INTERVAL_OVERHEAD as usize + 3 > interval as usize
        {
            return wrong("KEYS", "the key of a spanned record lies in its first interval");
        }
        self.interval_bytes = Some(interval);
        Ok(())
    }
}

/// The next interval size from `bytes` on.
fn interval_of(bytes: u32) -> Option<u32> {
    let step = if bytes <= 8192 { 512 } else { 2048 };
    (1..=INTERVAL_BYTES_MAX).contains(&bytes).then(|| bytes.next_multiple_of(step))
}

/// `DEFINE ALTERNATEINDEX`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlternateIndexAttributes {
    /// `RELATE`: the cluster.
    pub base: DataSetName,
    /// Where the alternate key lies in the base's records.
    pub key: KeyField,
    /// `UNIQUEKEY`: no two records share an alternate key.
    pub unique: bool,
    /// `UPGRADE`: it changes with its base.
    pub upgrade: bool,
    /// `RECORDSIZE`: kept and shown; the number of pointers is not limited by it.
    pub average_bytes: u32,
    /// `RECORDSIZE`, the longest.
    pub record_bytes_max: u32,
    /// `REUSE`.
    pub reuse: bool,
    /// `SHAREOPTIONS`: those of the base hold for all of its sphere.
    pub share: ShareOptions,
    /// `FREESPACE`.
    pub free_space: FreeSpace,
    /// `CONTROLINTERVALSIZE`.
    pub interval_bytes: Option<u32>,
    /// The data component's name; `None`: the index's and `.DATA`.
    pub data_name: Option<DataSetName>,
    /// The index component's name; `None`: the index's and `.INDEX`.
    pub index_name: Option<DataSetName>,
    /// The rest.
    pub remarks: Remarks,
}

impl AlternateIndexAttributes {
    /// An index with the defaults of DEFINE: not unique, and changed with its base.
    #[must_use]
    pub fn new(base: DataSetName, key: KeyField) -> AlternateIndexAttributes {
        AlternateIndexAttributes {
            base,
            key,
            unique: false,
            upgrade: true,
            average_bytes: 4086,
            record_bytes_max: 32_600,
            reuse: false,
            share: ShareOptions::default(),
            free_space: FreeSpace::default(),
            interval_bytes: None,
            data_name: None,
            index_name: None,
            remarks: Remarks::default(),
        }
    }

    /// Checks the rules against those of the base.
    ///
    /// # Errors
    /// Which operand breaks which rule.
    pub fn settle(&mut self, base: &ClusterAttributes) -> Result<(), AttributeError> {
        let wrong = |operand, what| Err(AttributeError { operand, what });
        if !base.organization.takes_indexes() {
            return wrong("RELATE", "an alternate index needs an indexed or nonindexed cluster");
        }
        self.key.check()?;
        if self.key.end() > base.record_bytes_max as usize {
            return wrong("KEYS", "the key does not lie within the base's records");
        }
        if self.free_space.interval_percent > 100 || self.free_space.area_percent > 100 {
            return wrong("FREESPACE", "it is given in percent");
        }
        self.interval_bytes = match self.interval_bytes {
            None => Some(4096),
            Some(asked) => interval_of(asked),
        };
        if self.interval_bytes.is_none() {
            return wrong("CONTROLINTERVALSIZE", "it is at least 1 and at most 32768");
        }
        Ok(())
    }
}

/// `DEFINE PATH`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathAttributes {
    /// `PATHENTRY`: an alternate index, or a cluster that gets another name by it.
    pub entry: DataSetName,
    /// `UPDATE`: changes through it change the upgrade set. Otherwise they do not.
    pub update: bool,
}

/// `DEFINE NONVSAM`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NonVsamAttributes {
    /// The file of the machine that it stands for.
    pub file: Option<String>,
    /// `DEVICETYPES`: kept and shown.
    pub devices: Vec<String>,
    /// The rest.
    pub remarks: Remarks,
}

/// `DEFINE GENERATIONDATAGROUP`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GenerationGroupAttributes {
    /// `LIMIT`: how many generations there may be, 1 to 999.
    pub limit: u16,
    /// `EMPTY`: past the limit all generations leave; otherwise the oldest does.
    pub empty: bool,
    /// `SCRATCH`: a generation that leaves is deleted; otherwise only its entry is.
    pub scratch: bool,
    /// The rest.
    pub remarks: Remarks,
}

impl GenerationGroupAttributes {
    /// Checks the rules.
    ///
    /// # Errors
    /// Which operand breaks which rule.
    pub fn settle(&self) -> Result<(), AttributeError> {
        if (1..=999).contains(&self.limit) {
            return Ok(());
        }
        Err(AttributeError { operand: "LIMIT", what: "a group has 1 to 999 generations" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(change: impl FnOnce(&mut ClusterAttributes)) -> Result<ClusterAttributes, String> {
        let mut attributes = ClusterAttributes::keyed(KeyField { offset: 0, bytes: 8 }, 100);
        change(&mut attributes);
        attributes.settle().map(|()| attributes.clone()).map_err(|error| error.operand.into())
    }

    #[test]
    fn a_record_longer_than_its_interval_needs_spanned() {
        let long =
            |a: &mut ClusterAttributes| (a.record_bytes_max, a.interval_bytes) = (4000, Some(2048));
        assert_eq!(settled(long), Err("CONTROLINTERVALSIZE".into()));
        let spanned = settled(|a| {
            long(a);
            a.spanned = true;
        });
        assert_eq!(spanned.unwrap().interval_bytes, Some(2048));
        assert_eq!(settled(|a| a.record_bytes_max = 32_762), Err("RECORDSIZE".into()));
        assert_eq!(settled(|a| a.record_bytes_max = 32_761).unwrap().interval_bytes, Some(32_768));
    }

    #[test]
    fn intervals_are_rounded_up() {
        for (asked, given) in [(1, 512), (4097, 4608), (8193, 10240), (32_768, 32_768)] {
            assert_eq!(interval_of(asked), Some(given));
        }
        assert_eq!(interval_of(32_769), None);
        assert_eq!(interval_of(0), None);
        assert_eq!(settled(|_| ()).unwrap().interval_bytes, Some(4096));
    }

    #[test]
    fn a_key_lies_within_the_records() {
        assert_eq!(settled(|a| a.key = None), Err("KEYS".into()));
        assert_eq!(
            settled(|a| a.key = Some(KeyField { offset: 93, bytes: 8 })),
            Err("KEYS".into())
        );
        assert!(settled(|a| a.key = Some(KeyField { offset: 92, bytes: 8 })).is_ok());
        assert_eq!(settled(|a| a.key = Some(KeyField { offset: 0, bytes: 0 })), Err("KEYS".into()));
        let relative = |a: &mut ClusterAttributes| a.organization = Organization::Relative;
        assert_eq!(settled(relative), Err("KEYS".into()));
    }
}
