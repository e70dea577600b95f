//! What a system says of a database: the verbs `db status` and `db verify`.
//!
//! Invariants:
//! 1. A status is counted beside programs that go on, and is as exact as that can be.
//! 2. What is verified is under a write freeze: no program changes the database, its indexes and
//!    its relatives while they are compared.

use std::collections::BTreeSet;
use std::time::Duration;

use definitions::DbdName;
use hierarchy::count::{Count, IndexCount};
use hierarchy::state::{self, State};
use hierarchy::verify::Report;
use hierarchy::{Database, HierarchyError};
use serde::{Deserialize, Serialize};
use store::Store;
use store_any::AnyStore;
use system::operator::Talk;
use system::{Home, System, SystemError};

use crate::{Databases, Result};

/// Which database is meant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DatabaseRequest {
    /// Its name.
    pub database: String,
    /// How many seconds to wait for programs that change it.
    #[serde(default)]
    pub wait_seconds: u64,
}

/// How a database is.
#[derive(Debug, Serialize, Deserialize)]
pub struct Status {
    /// Its name.
    pub database: String,
    /// Its access method.
    pub organization: String,
    /// Its state, in a word.
    pub state: String,
    /// Each segment type.
    pub segments: Vec<SegmentStatus>,
    /// Each partition, if it has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<PartitionStatus>,
    /// Each index.
    pub indexes: Vec<IndexStatus>,
    /// Its data sets.
    pub data_sets: Vec<Space>,
}

/// How the segments of a type are.
#[derive(Debug, Serialize, Deserialize)]
pub struct SegmentStatus {
    /// The name of the segment type.
    pub segment: String,
    /// Its level; roots stand at 1.
    pub level: u8,
    /// How many segments there are.
    pub segments: u64,
    /// Their length.
    pub bytes: u64,
    /// The length of their keys.
    pub key_bytes: u64,
}

/// How an index is.
#[derive(Debug, Serialize, Deserialize)]
pub struct IndexStatus {
    /// The name of the index.
    pub index: String,
    /// How many entries it has.
    pub entries: u64,
    /// Its state, in a word.
    pub state: String,
}

/// How much room a data set takes.
#[derive(Debug, Serialize, Deserialize)]
pub struct Space {
    /// The name of the data set.
    pub data_set: String,
    /// Whether it is sealed or plain.
    pub format: String,
    /// The length of a control interval.
    pub interval_bytes: u32,
    /// How many control intervals it has.
    pub intervals: u32,
    /// Their length.
    pub bytes: u64,
}

/// How a partition is.
#[derive(Debug, Serialize, Deserialize)]
pub struct PartitionStatus {
    /// Its name.
    pub partition: String,
    /// Its state, in a word.
    pub state: String,
}

/// What a verification found.
#[derive(Debug, Serialize, Deserialize)]
pub struct Verified {
    /// Its name.
    pub database: String,
    /// How many segments there are.
    pub segments: u64,
    /// How many entries of indexes there are.
    pub index_entries: u64,
    /// How many logical children there are.
    pub logical_children: u64,
    /// What is wrong.
    pub findings: Vec<Wrong>,
    /// How much more is wrong that is not listed.
    pub unlisted: u64,
}

/// One thing that is wrong.
#[derive(Debug, Serialize, Deserialize)]
pub struct Wrong {
    /// Its name.
    pub database: String,
    /// The segment type, if one is at fault.
    pub segment: Option<String>,
    /// The key of the database record.
    pub key: String,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

/// Counts a database.
///
/// # Errors
/// If there is none, or it cannot be read.
pub fn status(
    home: &impl Home,
    request: &DatabaseRequest,
    talk: &mut Talk<'_>,
    data_sets: impl FnOnce(&AnyStore, &Database) -> Result<Vec<Space>>,
) -> Result<Status> {
    let databases = Databases::of(home)?;
    let database = databases.open_to_read(databases.named(&request.database)?)?;
    let (store, name) = (&databases.store, database.name());
    let segments = database.count(store, progress(name, talk))?;
    let is_empty = segments.iter().all(|count| count.segments == 0);
    let state = match state::state_of(store, name)?.map(|record| record.state) {
        Some(State::Loading) => "loading",
        _ if database.waits_for(store)?.is_some() => "waiting",
        _ if is_empty => "empty",
        _ => "ready",
    };
    let indexes = database.count_indexes(store)?.into_iter();
    let indexes = indexes.map(|one| {
        let due = state::state_of(store, one.index)?;
        Ok(index_status(&one, due.is_some_and(|record| record.state == State::Due)))
    });
    Ok(Status {
        database: name.text().into(),
        organization: database.schema.organization().to_string(),
        state: state.into(),
        segments: segments.iter().map(segment_status).collect(),
        partitions: partitions(store, &database)?,
        indexes: indexes.collect::<std::result::Result<_, HierarchyError>>()?,
        data_sets: data_sets(store, &database)?,
    })
}

/// Tells the caller that waits how many segments were seen.
fn progress<'t>(name: DbdName, talk: &'t mut Talk<'_>) -> impl FnMut(u64) + 't {
    move |seen| {
        if seen.is_multiple_of(4096) {
            let _ = talk.progress(name.text(), seen, 0, "segments");
        }
    }
}

fn segment_status(count: &Count) -> SegmentStatus {
    SegmentStatus {
        segment: count.segment.text().into(),
        level: count.level,
        segments: count.segments,
        bytes: count.bytes,
        key_bytes: count.key_bytes,
    }
}

fn index_status(count: &IndexCount, is_due: bool) -> IndexStatus {
    IndexStatus {
        index: count.index.text().into(),
        entries: count.entries,
        state: if is_due { "to be built" } else { "ready" }.into(),
    }
}

/// How the partitions of a database are; none if it has none.
fn partitions(store: &AnyStore, database: &Database) -> Result<Vec<PartitionStatus>> {
    if !database.schema.is_partitioned() {
        return Ok(Vec::new());
    }
    let offline = state::offline(store, database)?;
    let partitions = (0_u16..).zip(database.schema.placement.partitions());
    Ok(partitions
        .map(|(number, partition)| PartitionStatus {
            partition: partition.name.clone(),
            state: partition_state(offline.contains(&number)).into(),
        })
        .collect())
}

/// What a partition's state is called.
#[must_use]
pub fn partition_state(offline: bool) -> &'static str {
    if offline { "offline" } else { "online" }
}

/// The names of the data sets of a database.
fn set_names(store: &AnyStore, database: &Database) -> Result<Vec<String>> {
    let indexes = database.indexes.iter().map(|tree| tree.set);
    let relations = database.as_child.iter().map(|relation| relation.set);
    let own: Vec<_> = database.sets.iter().copied().chain(indexes).chain(relations).collect();
    let sets = store.sets()?;
    Ok(sets.into_iter().filter(|set| own.contains(&set.id)).map(|set| set.name).collect())
}

/// The data sets of a database with their space.
///
/// # Errors
/// What the store says.
pub fn space(system: &System, store: &AnyStore, database: &Database) -> Result<Vec<Space>> {
    let names = set_names(store, database)?;
    let known = system.status().data_sets.into_iter();
    let own = known.filter(|set| names.contains(&set.name));
    Ok(own
        .map(|set| Space {
            bytes: u64::from(set.intervals) * u64::from(set.interval_bytes),
            data_set: set.name,
            format: set.format,
            interval_bytes: set.interval_bytes,
            intervals: set.intervals,
        })
        .collect())
}

/// The data sets of a database on an engine, which has no control intervals.
///
/// # Errors
/// What the store says.
pub fn space_on_engine(store: &AnyStore, database: &Database) -> Result<Vec<Space>> {
    let one = |data_set| {
        let format = "sealed".to_owned();
        Space { data_set, format, interval_bytes: 0, intervals: 0, bytes: 0 }
    };
    Ok(set_names(store, database)?.into_iter().map(one).collect())
}

/// Compares a database with its indexes and its relatives.
///
/// # Errors
/// If there is none, it cannot be read, or programs change it for too long.
pub fn verify<F>(
    home: &impl Home,
    request: &DatabaseRequest,
    talk: &mut Talk<'_>,
    freeze: impl FnOnce(&[String], Duration) -> std::result::Result<F, SystemError>,
) -> Result<Verified> {
    let databases = Databases::of(home)?;
    let database = databases.open_to_read(databases.named(&request.database)?)?;
    let name = database.name();
    let parents = database.as_child.iter().map(|relation| relation.parent_dbd);
    let children = database.as_parent.iter().map(|relation| relation.child_dbd);
    let relatives: BTreeSet<DbdName> = parents.chain(children).chain([name]).collect();
    let mut sets = Vec::new();
    for relative in relatives {
        sets.extend(databases.sets_of(relative)?);
    }
    let _frozen = freeze(&sets, Duration::from_secs(request.wait_seconds))?;
    let mut others = |name| databases.open_to_read(name);
    let report = database.verify(&databases.store, &mut others, progress(name, talk))?;
    Ok(Verified::of(name, report))
}

impl Verified {
    /// What was found, in words.
    #[must_use]
    pub fn of(name: DbdName, report: Report) -> Verified {
        let wrong = |one: hierarchy::verify::Finding| Wrong {
            database: one.database.text().into(),
            segment: one.segment.map(|name| name.text().to_owned()),
            key: one.key,
            what: one.what,
            remedy: one.remedy,
        };
        Verified {
            database: name.text().into(),
            segments: report.segments,
            index_entries: report.entries,
            logical_children: report.relations,
            findings: report.findings.into_iter().map(wrong).collect(),
            unlisted: report.unlisted,
        }
    }
}
