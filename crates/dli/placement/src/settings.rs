//! The sections `[randomizer.NAME]`, `[database.NAME]` and `[compat]` of `holdfast.toml`.
//!
//! ```toml
//! [randomizer.BANKRAND]
//! kind = "hash"                 # or "key", or "list"
//!
//! [randomizer.AS-ON-THE-HOST]
//! kind = "list"
//! file = "roots/branch.txt"     # one root key a line
//!
//! [database.BRANCH]
//! randomizer = "AS-ON-THE-HOST" # in place of the module of RMNAME=
//! collation = "ebcdic"
//!
//! [database.HISTORY]
//! partition = [
//!   { name = "HIST01", high_key = "4999999999" },
//!   { name = "HIST02", block_bytes = "8 KiB" },
//! ]
//! ```
//!
//! Invariants:
//! 1. A setting that this release does not know is an error, as everywhere in the configuration.
//! 2. What [`Settings::check`] passes can fail later only for what the DBD or a list's file says.

use std::collections::BTreeMap;

use codec::CodePage;
use definitions::DbdName;
use serde::Deserialize;

use crate::amount::Bytes;
use crate::collation::Collation;
use crate::error::PlacementError;
use crate::hash::{ANCHORS_MAX, BLOCKS_MAX};

/// The largest control interval.
const INTERVAL_BYTES_MAX: u32 = 32_768;
/// Hierarchical databases have no smaller intervals (H2).
const INTERVAL_BYTES_MIN: u32 = 4096;
/// Partitions at most, as HALDB has it.
const PARTITIONS_MAX: usize = 1001;

/// All settings about databases.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The sections `[randomizer.NAME]` by name.
    #[serde(rename = "randomizer")]
    pub randomizers: BTreeMap<String, RandomizerSettings>,
    /// The sections `[database.NAME]` by the DBD's name.
    #[serde(rename = "database")]
    pub databases: BTreeMap<String, DatabaseSettings>,
    /// The section `[compat]`.
    pub compat: Compat,
}

/// A section `[randomizer.NAME]`: what the module of that name does here.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomizerSettings {
    /// How it places roots.
    pub kind: RandomizerKind,
    /// `hash`: blocks, in place of RMNAME's.
    pub blocks: Option<u32>,
    /// `hash`: anchor points of a block, in place of RMNAME's.
    pub anchors: Option<u32>,
    /// `list`: the file of root keys.
    pub file: Option<String>,
    /// `list`: what becomes of roots that are not in the file.
    pub unlisted: Option<Unlisted>,
}

/// How a randomizer places roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RandomizerKind {
    /// By a hash of the root key.
    Hash,
    /// In key order.
    Key,
    /// In the sequence of a file.
    List,
}

/// What becomes of a root that a list does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unlisted {
    /// It goes behind all that are listed, in key order.
    #[default]
    Behind,
    /// It is refused: the program sees FM.
    Refuse,
}

/// A section `[database.NAME]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DatabaseSettings {
    /// The randomizer, in place of RMNAME's module.
    pub randomizer: Option<String>,
    /// How character fields compare.
    pub collation: Collation,
    /// The code page of character data: fills, blanks, keys in this file.
    pub encoding: Encoding,
    /// The partitions of a PHDAM, PHIDAM or PSINDEX.
    #[serde(rename = "partition")]
    pub partitions: Vec<PartitionSettings>,
    /// Whether new data sets are plain or sealed; as `[data] format` says if left out.
    pub plain: Option<bool>,
    /// The pool of new data sets; the system's choice if left out.
    pub pool: Option<String>,
    /// The control interval of new data sets; the system's choice if left out.
    pub interval_bytes: Option<Bytes>,
}

/// A partition, in HALDB's terms.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartitionSettings {
    /// Its name.
    pub name: String,
    /// The highest root key that it takes; left out: whatever is above the others.
    pub high_key: Option<String>,
    /// In place of it, the string by which a partition selection exit would choose.
    pub key_string: Option<String>,
    /// PHDAM: its randomizer, in place of the database's.
    pub randomizer: Option<String>,
    /// PHDAM: anchor points of a block, in place of RMNAME's.
    pub anchors: Option<u32>,
    /// PHDAM: blocks, in place of RMNAME's.
    pub blocks: Option<u32>,
    /// Its control interval, in place of the database's.
    pub block_bytes: Option<Bytes>,
}

/// The code page of a database's character data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// ASCII.
    #[default]
    Ascii,
    /// EBCDIC 037.
    Ebcdic,
}

/// The section `[compat]`: rules of the host that a program could notice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Compat {
    /// Whether batch programs run as with a log on disk (DLI-12.56).
    pub batch_log: BatchLog,
    /// Whom the I/O PCB of a batch program names (DLI-4).
    pub program_user: ProgramUser,
    /// What becomes of programs over EBCDIC data of which no map says what its fields are.
    pub ebcdic_without_map: WithoutMap,
}

/// What becomes of a program over EBCDIC data that has no map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WithoutMap {
    /// It runs, with a warning, and gets the data as it is.
    #[default]
    Warn,
    /// It is not scheduled.
    Refuse,
}

impl WithoutMap {
    /// The name as people write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            WithoutMap::Warn => "warn",
            WithoutMap::Refuse => "refuse",
        }
    }
}

/// What a batch program may count on (DLI-12.56).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BatchLog {
    /// ROLB, SETS and ROLS work, as with a log on disk and BKO=Y.
    #[default]
    Disk,
    /// They are AL.
    None,
}

/// Whom the I/O PCB of a program without messages names as its user: BMPUSID= of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProgramUser {
    /// The user that runs it, with indicator U.
    #[default]
    Login,
    /// Its PSB, with indicator P.
    Psb,
}

impl ProgramUser {
    /// The name as people write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ProgramUser::Login => "login",
            ProgramUser::Psb => "psb",
        }
    }
}

impl BatchLog {
    /// The name as people write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            BatchLog::Disk => "disk",
            BatchLog::None => "none",
        }
    }
}

impl Unlisted {
    /// The name as people write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Unlisted::Behind => "behind",
            Unlisted::Refuse => "refuse",
        }
    }
}

impl RandomizerKind {
    /// The name as people write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RandomizerKind::Hash => "hash",
            RandomizerKind::Key => "key",
            RandomizerKind::List => "list",
        }
    }
}

impl Encoding {
    /// The code page.
    #[must_use]
    pub fn page(self) -> CodePage {
        match self {
            Encoding::Ascii => CodePage::Ascii,
            Encoding::Ebcdic => CodePage::Cp037,
        }
    }

    /// The byte that fills character data, and that `NULLVAL=BLANK` means.
    #[must_use]
    pub fn blank(self) -> u8 {
        self.page().blank()
    }

    /// The name as people write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Ascii => "ascii",
            Encoding::Ebcdic => "ebcdic",
        }
    }
}

impl Settings {
    /// What is wrong with the settings by themselves.
    ///
    /// # Errors
    /// The first setting that is out of range, contradicts another, or names what is not there.
    pub fn check(&self) -> Result<(), PlacementError> {
        for (name, randomizer) in &self.randomizers {
            randomizer.check().map_err(|(setting, why)| PlacementError::Randomizer {
                name: name.clone(),
                setting,
                why,
            })?;
        }
        for (name, database) in &self.databases {
            if DbdName::new(name).is_none() || name.bytes().any(|byte| byte.is_ascii_lowercase()) {
                return Err(PlacementError::DatabaseName { name: name.clone() });
            }
            self.check_database(name, database)?;
        }
        Ok(())
    }

    fn check_database(
        &self,
        name: &str,
        database: &DatabaseSettings,
    ) -> Result<(), PlacementError> {
        let partitions = &database.partitions;
        let of_partitions = partitions.iter().filter_map(|one| one.randomizer.as_ref());
        for randomizer in database.randomizer.iter().chain(of_partitions) {
            if !self.randomizers.contains_key(randomizer) {
                return Err(PlacementError::NoRandomizer {
                    database: name.into(),
                    name: randomizer.clone(),
                });
            }
        }
        if database.collation == Collation::Ebcdic && database.encoding == Encoding::Ebcdic {
            return Err(PlacementError::Collation { database: name.into() });
        }
        if partitions.len() > PARTITIONS_MAX {
            let count = partitions.len();
            return Err(PlacementError::TooMany { database: name.into(), count });
        }
        let mixed = partitions.iter().any(|one| one.high_key.is_some())
            && partitions.iter().any(|one| one.key_string.is_some());
        if mixed {
            return Err(PlacementError::Mixed { database: name.into() });
        }
        for (at, partition) in partitions.iter().enumerate() {
            let bad = |why| PlacementError::PartitionName {
                database: name.into(),
                name: partition.name.clone(),
                why,
            };
            if !is_partition_name(&partition.name) {
                return Err(bad("1 to 7 capital letters, digits, $, # or @, no digit in front"));
            }
            if partitions[..at].iter().any(|other| other.name == partition.name) {
                return Err(bad("there are two of that name"));
            }
            let in_range = numbers(partition.blocks, partition.anchors)
                .and_then(|()| interval("block_bytes", partition.block_bytes));
            in_range.map_err(|(setting, why)| PlacementError::Setting {
                database: name.into(),
                setting: format!("partition {}, {setting}", partition.name),
                why,
            })?;
        }
        interval("interval_bytes", database.interval_bytes).map_err(|(setting, why)| {
            PlacementError::Setting { database: name.into(), setting: setting.into(), why }
        })
    }
}

impl DatabaseSettings {
    /// The control intervals that the settings ask for, each a size that there is.
    pub fn intervals(&self) -> impl Iterator<Item = u32> {
        let of_partitions = self.partitions.iter().filter_map(|partition| partition.block_bytes);
        self.interval_bytes.into_iter().chain(of_partitions).map(interval_of)
    }
}

impl RandomizerSettings {
    /// A randomizer of that kind with nothing else set.
    #[must_use]
    pub fn new(kind: RandomizerKind) -> RandomizerSettings {
        RandomizerSettings { kind, blocks: None, anchors: None, file: None, unlisted: None }
    }

    fn check(&self) -> Result<(), (&'static str, String)> {
        let kind = self.kind;
        let only = |setting, owner: RandomizerKind, is_set: bool| {
            if is_set && kind != owner {
                let (owner, kind) = (owner.name(), kind.name());
                return Err((
                    setting,
                    format!("it is for kind \"{owner}\", and this is \"{kind}\""),
                ));
            }
            Ok(())
        };
        only("blocks", RandomizerKind::Hash, self.blocks.is_some())?;
        only("anchors", RandomizerKind::Hash, self.anchors.is_some())?;
        only("file", RandomizerKind::List, self.file.is_some())?;
        only("unlisted", RandomizerKind::List, self.unlisted.is_some())?;
        if kind == RandomizerKind::List && self.file.as_ref().is_none_or(String::is_empty) {
            return Err(("file", "kind \"list\" needs the file that has the root keys".into()));
        }
        numbers(self.blocks, self.anchors)
    }
}

/// RMNAME's numbers in their ranges.
fn numbers(blocks: Option<u32>, anchors: Option<u32>) -> Result<(), (&'static str, String)> {
    let in_range = |setting, value: Option<u32>, most: u32| match value {
        Some(value) if value == 0 || value > most => {
            Err((setting, format!("{value} is not 1 to {most}")))
        }
        _ => Ok(()),
    };
    in_range("blocks", blocks, BLOCKS_MAX)?;
    in_range("anchors", anchors, ANCHORS_MAX)
}

/// The control interval that holds a block of so many bytes: multiples of 512 up to 8 KiB, of
/// 2 KiB above.
pub(crate) fn interval_of(Bytes(bytes): Bytes) -> u32 {
    let bytes = u32::try_from(bytes).unwrap_or(INTERVAL_BYTES_MAX);
    let step = if bytes <= 8192 { 512 } else { 2048 };
    bytes.next_multiple_of(step).clamp(INTERVAL_BYTES_MIN, INTERVAL_BYTES_MAX)
}

fn interval(setting: &'static str, bytes: Option<Bytes>) -> Result<(), (&'static str, String)> {
    match bytes {
        Some(Bytes(bytes)) if !(512..=u64::from(INTERVAL_BYTES_MAX)).contains(&bytes) => {
            Err((setting, format!("{bytes} bytes are no control interval; 512 to 32768")))
        }
        _ => Ok(()),
    }
}

fn is_partition_name(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_uppercase() || matches!(byte, b'$' | b'#' | b'@');
    (1..=7).contains(&name.len())
        && name.bytes().all(|byte| letter(byte) || byte.is_ascii_digit())
        && name.bytes().next().is_some_and(letter)
}
