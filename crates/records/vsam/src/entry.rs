//! Entries of a catalog: what each object is, and how an entry stands in the catalog's set.
//!
//! | key | value |
//! |---|---|
//! | `E`, number of the catalog (4 bytes, big-endian), name | version 1, then the entry as JSON |
//! | `S`, number of the object (4 bytes, big-endian) | version 1, then its statistics as JSON |
//!
//! 1. A number is given once and never again; it survives a change of name.
//! 2. Fields that a later release adds have defaults; a version that is not known is refused.
//! 3. An entry that is being changed says so in its state before anything else happens to the
//!    object's data, so that an interrupted change is finished or taken back when the catalog
//!    opens.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::attributes::{
    AlternateIndexAttributes, ClusterAttributes, GenerationGroupAttributes, NonVsamAttributes,
    PathAttributes,
};
use crate::name::DataSetName;
use crate::redirection::Redirection;

const VERSION: u8 = 1;

/// The number of an object. 0 stands for the master catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectNumber(pub u32);

impl ObjectNumber {
    /// The master catalog.
    pub const MASTER: ObjectNumber = ObjectNumber(0);
}

/// What an object is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Definition {
    /// A cluster.
    Cluster(ClusterAttributes),
    /// An alternate index.
    AlternateIndex(AlternateIndexAttributes),
    /// A path.
    Path(PathAttributes),
    /// A file that is not VSAM's.
    NonVsam(NonVsamAttributes),
    /// A generation data group.
    GenerationGroup(GenerationGroupAttributes),
    /// A user catalog. It stands in the master catalog.
    UserCatalog,
    /// Another name: of a user catalog for the names that begin with it, or of a data set.
    Alias(DataSetName),
    /// The data or index component of the named object: its name is taken.
    Component(DataSetName),
}

/// The kinds of objects, as operators call them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// `CLUSTER`.
    Cluster,
    /// `AIX`.
    AlternateIndex,
    /// `PATH`.
    Path,
    /// `NONVSAM`.
    NonVsam,
    /// `GDG BASE`.
    GenerationGroup,
    /// `USERCATALOG`.
    UserCatalog,
    /// `ALIAS`.
    Alias,
    /// `DATA` or `INDEX`.
    Component,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Cluster => "cluster",
            Kind::AlternateIndex => "alternate index",
            Kind::Path => "path",
            Kind::NonVsam => "non-VSAM file",
            Kind::GenerationGroup => "generation data group",
            Kind::UserCatalog => "user catalog",
            Kind::Alias => "alias",
            Kind::Component => "component",
        })
    }
}

impl Definition {
    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Definition::Cluster(_) => Kind::Cluster,
            Definition::AlternateIndex(_) => Kind::AlternateIndex,
            Definition::Path(_) => Kind::Path,
            Definition::NonVsam(_) => Kind::NonVsam,
            Definition::GenerationGroup(_) => Kind::GenerationGroup,
            Definition::UserCatalog => Kind::UserCatalog,
            Definition::Alias(_) => Kind::Alias,
            Definition::Component(_) => Kind::Component,
        }
    }
}

/// What may be done with an object's data now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// Everything.
    #[default]
    Ready,
    /// It is an alternate index over records that it does not know yet.
    Unbuilt,
    /// It is being defined: taken back when the catalog opens.
    Defining,
    /// It is being emptied: finished when the catalog opens.
    Emptying,
    /// It is being deleted: finished when the catalog opens.
    Deleting,
}

/// The set of the store that keeps an object's data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataSet {
    /// Its name in the store: that of the object when it was defined, if that was free there.
    pub set: String,
    /// Its number in the store, once it is made.
    pub id: Option<u32>,
}

/// An entry of a catalog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The object's name.
    pub name: DataSetName,
    /// The user catalog that it stands in; `None` is the master catalog.
    pub catalog: Option<DataSetName>,
    /// Its number.
    pub number: ObjectNumber,
    /// When it was defined: microseconds since 1970, UTC.
    pub created_us: u64,
    /// What it is.
    pub definition: Definition,
    /// Its data, if it has some of its own.
    pub data: Option<DataSet>,
    /// What may be done with it.
    #[serde(default)]
    pub state: State,
    /// A cluster's alternate indexes and paths; an index's paths; a group's generations, from the
    /// oldest. In the order in which they were defined.
    #[serde(default)]
    pub related: Vec<DataSetName>,
    /// A step that has not ended has made it: a generation that is no member of its group yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub joins_later: bool,
    /// Where a cluster's records, or changes, go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirection: Option<Redirection>,
}

impl Entry {
    /// What kind of object it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.definition.kind()
    }

    /// The attributes of a cluster.
    #[must_use]
    pub fn cluster(&self) -> Option<&ClusterAttributes> {
        match &self.definition {
            Definition::Cluster(attributes) => Some(attributes),
            _ => None,
        }
    }

    /// The attributes of an alternate index.
    #[must_use]
    pub fn alternate_index(&self) -> Option<&AlternateIndexAttributes> {
        match &self.definition {
            Definition::AlternateIndex(attributes) => Some(attributes),
            _ => None,
        }
    }

    /// Its name, and those of its components.
    #[must_use]
    pub fn names(&self) -> Vec<DataSetName> {
        let mut names = vec![self.name.clone()];
        names.extend(self.components());
        names
    }

    /// The names of its data and index components, if it has some.
    #[must_use]
    pub fn components(&self) -> Vec<DataSetName> {
        let (data, index, has_index) = match &self.definition {
            Definition::Cluster(a) => (&a.data_name, &a.index_name, a.key.is_some()),
            Definition::AlternateIndex(a) => (&a.data_name, &a.index_name, true),
            _ => return Vec::new(),
        };
        // A name so long that nothing can be appended has components without names.
        let named =
            |given: &Option<DataSetName>, last| given.clone().or_else(|| self.name.with(last).ok());
        let mut names: Vec<DataSetName> = named(data, "DATA").into_iter().collect();
        if has_index {
            names.extend(named(index, "INDEX"));
        }
        names
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        encode(self)
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Entry, String> {
        decode(bytes)
    }
}

/// What was done with an object's records since it was defined. Requests that were backed out
/// later count, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Statistics {
    /// Records in it when it was counted last, and what came and went since.
    pub records: u64,
    /// Records inserted.
    pub inserted: u64,
    /// Records deleted.
    pub deleted: u64,
    /// Records updated.
    pub updated: u64,
    /// Records retrieved.
    pub retrieved: u64,
}

impl Statistics {
    pub(crate) fn encode(&self) -> Vec<u8> {
        encode(self)
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Statistics, String> {
        decode(bytes)
    }
}

fn encode(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = vec![VERSION];
    // Strings, numbers and lists: nothing that JSON could refuse.
    serde_json::to_writer(&mut bytes, value).unwrap_or_default();
    bytes
}

fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    match bytes.split_first() {
        Some((&VERSION, json)) => serde_json::from_slice(json).map_err(|error| error.to_string()),
        Some((version, _)) => Err(format!("version {version} is of a newer release")),
        None => Err("it is empty".into()),
    }
}

/// The key of an entry.
pub(crate) fn entry_key(catalog: ObjectNumber, name: &DataSetName) -> Vec<u8> {
    let mut key = vec![b'E'];
    key.extend_from_slice(&catalog.0.to_be_bytes());
    key.extend_from_slice(name.as_str().as_bytes());
    key
}

/// What the keys of all entries of a catalog begin with.
pub(crate) fn catalog_prefix(catalog: ObjectNumber) -> [u8; 5] {
    let [a, b, c, d] = catalog.0.to_be_bytes();
    [b'E', a, b, c, d]
}

/// What the keys of all entries of all catalogs begin with.
pub(crate) const ENTRIES: &[u8] = b"E";

/// The key of an object's statistics.
pub(crate) fn statistics_key(number: ObjectNumber) -> [u8; 5] {
    let [a, b, c, d] = number.0.to_be_bytes();
    [b'S', a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attributes::Organization;

    #[test]
    fn an_entry_comes_back_as_it_was() {
        let entry = Entry {
            name: DataSetName::parse("BANK.ACCOUNT").unwrap(),
            catalog: None,
            number: ObjectNumber(7),
            created_us: 1,
            definition: Definition::Cluster(ClusterAttributes::new(Organization::Keyed)),
            data: Some(DataSet { set: "BANK.ACCOUNT".into(), id: Some(3) }),
            state: State::Ready,
            related: vec![DataSetName::parse("BANK.PATH").unwrap()],
            joins_later: false,
            redirection: None,
        };
        assert_eq!(Entry::decode(&entry.encode()), Ok(entry.clone()));
        let names: Vec<String> = entry.components().iter().map(ToString::to_string).collect();
        assert_eq!(names, ["BANK.ACCOUNT.DATA", "BANK.ACCOUNT.INDEX"]);
        let mut newer = entry.encode();
        newer[0] = 2;
        assert!(Entry::decode(&newer).unwrap_err().contains("newer release"));
        assert!(Entry::decode(&[]).is_err() && Entry::decode(b"\x01{").is_err());
    }
}
