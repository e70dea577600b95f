//! The repository: the definitions of a system, kept in a data set of that system.
//!
//! Owns the data set [`SET`] and the form of its entries; what a definition is and how it becomes
//! bytes is the business of `definitions`.
//!
//! | key | value |
//! |---|---|
//! | `D` or `P`, then the name in eight bytes with blanks | the definition, encoded |
//! | `M`, then the DBD's name likewise | the map of its segments, as `copybook` encodes it |
//! | `L` and more | lists of root keys: see [`lists`] |
//!
//! Invariants:
//! 1. Members are stored and taken out in one unit of work: all of them or none.
//! 2. One damaged entry keeps no one from reading the others, or from replacing it. One that a
//!    later version wrote does: replacing it would lose what that version knows.
//! 3. A system that never stored a definition has no such data set, and reading makes none.

pub mod lists;

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{Code, Coded};
use definitions::resolve::Definitions;
use definitions::{Dbd, DbdName, DecodeError, Member, MemberName, Psb, PsbName, decode, encode};
use store::{Cursor, Position, Read, SetAttributes, Store, StoreError, Unit, UnitOptions};

/// The data set that holds the definitions.
pub const SET: &str = "HOLDFAST.DEFINITIONS";

const DBD: u8 = b'D';
const PSB: u8 = b'P';
const MAP: u8 = b'M';

/// Why the repository could not be read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RepositoryError {
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A later version stored a definition.
    #[error("{name} in {SET} cannot be read: {error}")]
    Future {
        /// The definition.
        name: MemberName,
        /// What its bytes say.
        error: DecodeError,
    },
}

impl Coded for RepositoryError {
    fn code(&self) -> Code {
        match self {
            RepositoryError::Store(error) => error.code(),
            RepositoryError::Future { error, .. } => error.code(),
        }
    }

    fn remedy(&self) -> String {
        match self {
            RepositoryError::Store(error) => error.remedy(),
            RepositoryError::Future { error, .. } => error.remedy(),
        }
    }
}

/// What storing a member does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// There is none of that name and kind.
    New,
    /// There is another one.
    Changed,
    /// There is exactly that one.
    Same,
}

/// Every definition of a system, as it was when they were read.
#[derive(Clone, Debug, Default)]
pub struct Repository {
    dbds: BTreeMap<DbdName, Arc<Dbd>>,
    psbs: BTreeMap<PsbName, Arc<Psb>>,
    maps: BTreeMap<DbdName, Vec<u8>>,
    damaged: BTreeMap<MemberName, DecodeError>,
}

impl Repository {
    /// Reads all definitions of a system.
    ///
    /// # Errors
    /// If the store refuses, or a later version of Holdfast stored one of them.
    pub fn read<S: Store>(store: &S) -> Result<Repository, RepositoryError> {
        let mut all = Repository::default();
        let Some(set) = store.set(SET)? else { return Ok(all) };
        let mut unit = store.begin(UnitOptions::READ_ONLY)?;
        let mut cursor = store.cursor(set)?;
        while let Some(entry) = unit.next(&mut cursor, Read::Shared)? {
            if entry.key.first() == Some(&lists::LIST) {
                // Lists are read where they are needed.
                cursor.seek(Position::Before(&[lists::LIST + 1]));
                continue;
            }
            // A key of another form is no definition, and no program could ask for it.
            if let Some(name) = named(entry.key) {
                all.add(name, entry.value)?;
            } else if let Some(name) = mapped(entry.key) {
                all.maps.insert(name, entry.value.to_vec());
            }
        }
        unit.commit()?;
        Ok(all)
    }

    fn add(&mut self, name: MemberName, bytes: &[u8]) -> Result<(), RepositoryError> {
        let error = match decode(bytes) {
            Ok(member) if name_of(&member) != name => {
                DecodeError::Damaged("it has another name than its key")
            }
            Ok(Member::Dbd(dbd)) => {
                self.dbds.insert(dbd.name, Arc::new(*dbd));
                return Ok(());
            }
            Ok(Member::Psb(psb)) => {
                self.psbs.insert(psb.name, Arc::new(*psb));
                return Ok(());
            }
            Err(error @ DecodeError::Future { .. }) => {
                return Err(RepositoryError::Future { name, error });
            }
            Err(error) => error,
        };
        self.damaged.insert(name, error);
        Ok(())
    }

    /// The names of all definitions that can be read: DBDs, then PSBs.
    pub fn names(&self) -> impl Iterator<Item = MemberName> {
        let dbds = self.dbds.keys().copied().map(MemberName::Dbd);
        dbds.chain(self.psbs.keys().copied().map(MemberName::Psb))
    }

    /// The definitions whose bytes are damaged. To others they are as good as absent.
    #[must_use]
    pub fn damaged(&self) -> &BTreeMap<MemberName, DecodeError> {
        &self.damaged
    }

    /// The map of a database's segments, encoded, if there is one.
    #[must_use]
    pub fn map(&self, name: DbdName) -> Option<&[u8]> {
        self.maps.get(&name).map(Vec::as_slice)
    }

    /// What storing this member would do.
    #[must_use]
    pub fn difference(&self, member: &Member) -> Difference {
        let same = match member {
            Member::Dbd(dbd) => self.dbds.get(&dbd.name).map(|old| **old == **dbd),
            Member::Psb(psb) => self.psbs.get(&psb.name).map(|old| **old == **psb),
        };
        match same {
            Some(true) => Difference::Same,
            Some(false) => Difference::Changed,
            None if self.damaged.contains_key(&name_of(member)) => Difference::Changed,
            None => Difference::New,
        }
    }
}

impl Definitions for Repository {
    fn dbd(&self, name: DbdName) -> Option<Arc<Dbd>> {
        self.dbds.get(&name).cloned()
    }

    fn psb(&self, name: PsbName) -> Option<Arc<Psb>> {
        self.psbs.get(&name).cloned()
    }

    fn referring(&self, dbd: DbdName) -> Vec<MemberName> {
        let dbds = self.dbds.values().filter(|one| one.name != dbd && refers(one, dbd));
        let psbs = self.psbs.values().filter(|one| one.databases().contains(&dbd));
        let dbds = dbds.map(|one| MemberName::Dbd(one.name));
        dbds.chain(psbs.map(|one| MemberName::Psb(one.name))).collect()
    }
}

/// Whether a DBD names another one: as an index or its target, logical parent, child or source.
fn refers(dbd: &Dbd, other: DbdName) -> bool {
    dbd.segments.iter().any(|segment| {
        segment.logical_parent.as_ref().is_some_and(|parent| parent.dbd == other)
            || segment.sources.iter().any(|source| source.dbd == other)
            || segment.children.iter().any(|child| child.dbd == other)
    })
}

/// Stores members, new or instead of old ones, and takes others out, in one unit of work, durably.
///
/// # Errors
/// If the store refuses; then nothing is changed.
pub fn put<S: Store>(
    store: &S,
    members: &[Member],
    removed: &[MemberName],
) -> Result<(), RepositoryError> {
    if members.is_empty() && removed.is_empty() {
        return Ok(());
    }
    let set = match store.set(SET)? {
        Some(set) => set,
        None => store.create_set(SET, &SetAttributes::default())?,
    };
    let entries: Vec<([u8; 9], Vec<u8>)> =
        members.iter().map(|member| (key(name_of(member)), encode(member))).collect();
    let removed: Vec<[u8; 9]> = removed.iter().map(|name| key(*name)).collect();
    store::run(store, UnitOptions::default(), |unit| {
        for key in &removed {
            let _ = unit.delete(set, key)?;
        }
        entries.iter().try_for_each(|(key, value)| unit.put(set, key, value))
    })?;
    Ok(())
}

/// Stores the map of a database's segments, encoded, or takes it out, durably.
///
/// # Errors
/// If the store refuses; then nothing is changed.
pub fn put_map<S: Store>(
    store: &S,
    name: DbdName,
    map: Option<&[u8]>,
) -> Result<(), RepositoryError> {
    let set = match store.set(SET)? {
        Some(set) => set,
        None => store.create_set(SET, &SetAttributes::default())?,
    };
    let mut key = [MAP; 9];
    key[1..].copy_from_slice(name.bytes());
    store::run(store, UnitOptions::default(), |unit| match map {
        Some(map) => unit.put(set, &key, map),
        None => unit.delete(set, &key).map(|_| ()),
    })?;
    Ok(())
}

/// The name of a member, with its kind.
#[must_use]
pub fn name_of(member: &Member) -> MemberName {
    match member {
        Member::Dbd(dbd) => MemberName::Dbd(dbd.name),
        Member::Psb(psb) => MemberName::Psb(psb.name),
    }
}

fn key(name: MemberName) -> [u8; 9] {
    let (kind, name) = match &name {
        MemberName::Dbd(name) => (DBD, *name.bytes()),
        MemberName::Psb(name) => (PSB, *name.bytes()),
    };
    let mut key = [kind; 9];
    key[1..].copy_from_slice(&name);
    key
}

fn named(key: &[u8]) -> Option<MemberName> {
    let (kind, name) = key.split_first()?;
    let name: [u8; 8] = name.try_into().ok()?;
    match *kind {
        DBD => DbdName::from_bytes(name).map(MemberName::Dbd),
        PSB => PsbName::from_bytes(name).map(MemberName::Psb),
        _ => None,
    }
}

fn mapped(key: &[u8]) -> Option<DbdName> {
    let (kind, name) = key.split_first()?;
    DbdName::from_bytes(name.try_into().ok()?).filter(|_| *kind == MAP)
}

#[cfg(test)]
mod tests;
