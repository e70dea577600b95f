//! What a system says of a database: the verbs `db status` and `db verify`.
//!
//! Invariants:
//! 1. A status is counted beside programs that go on, and is as exact as that can be.
//! 2. What is verified stands still: nobody changes the database, its indexes and its relatives
//!    while they are compared.

use std::collections::BTreeSet;
use std::time::Duration;

use definitions::DbdName;
use hierarchy::count::{Count, IndexCount};
use hierarchy::state::{self, State};
use hierarchy::verify::Report;
use hierarchy::{Database, HierarchyError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::Store;
use store_kernel::KernelStore;
use system::System;
use system::operator::{Refusal, Request, Talk, done};

use crate::databases::Databases;
use crate::failure::Result;
use crate::verbs::refusal;

/// Which database is meant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Named {
    pub(crate) database: String,
    /// How many seconds to wait for programs that change it.
    #[serde(default)]
    pub(crate) wait_seconds: u64,
}

/// How a database is.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Status {
    pub(crate) database: String,
    pub(crate) organization: String,
    pub(crate) state: String,
    pub(crate) segments: Vec<SegmentStatus>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) partitions: Vec<PartitionStatus>,
    pub(crate) indexes: Vec<IndexStatus>,
    pub(crate) data_sets: Vec<Space>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SegmentStatus {
    pub(crate) segment: String,
    pub(crate) level: u8,
    pub(crate) segments: u64,
    pub(crate) bytes: u64,
    pub(crate) key_bytes: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct IndexStatus {
    pub(crate) index: String,
    pub(crate) entries: u64,
    pub(crate) state: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Space {
    pub(crate) data_set: String,
    pub(crate) format: String,
    pub(crate) interval_bytes: u32,
    pub(crate) intervals: u32,
    pub(crate) bytes: u64,
}

/// How a partition is.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PartitionStatus {
    pub(crate) partition: String,
    pub(crate) state: String,
}

/// What a verification found.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Verified {
    pub(crate) database: String,
    pub(crate) segments: u64,
    pub(crate) index_entries: u64,
    pub(crate) logical_children: u64,
    pub(crate) findings: Vec<Wrong>,
    pub(crate) unlisted: u64,
}

/// One thing that is wrong.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Wrong {
    pub(crate) database: String,
    pub(crate) segment: Option<String>,
    pub(crate) key: String,
    pub(crate) what: String,
    pub(crate) remedy: String,
}

pub(crate) fn db_status(
    system: &System,
    request: &Request,
    talk: &mut Talk<'_>,
) -> std::result::Result<Value, Refusal> {
    let wish: Named = request.arguments()?;
    done(&status_of(system, &wish, talk).map_err(|failure| refusal(&failure))?)
}

pub(crate) fn db_verify(
    system: &System,
    request: &Request,
    talk: &mut Talk<'_>,
) -> std::result::Result<Value, Refusal> {
    let wish: Named = request.arguments()?;
    done(&verified(system, &wish, talk).map_err(|failure| refusal(&failure))?)
}

fn status_of(system: &System, wish: &Named, talk: &mut Talk<'_>) -> Result<Status> {
    let databases = Databases::of(system.kernel().seam(), system)?;
    let database = databases.open_to_read(databases.named(&wish.database)?)?;
    let (store, name) = (&databases.store, database.name());
    let segments = database.count(store, told(name, talk))?;
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
        data_sets: space(system, store, &database)?,
    })
}

/// Tells whoever waits how many segments were seen.
fn told<'t>(name: DbdName, talk: &'t mut Talk<'_>) -> impl FnMut(u64) + 't {
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
fn partitions(store: &KernelStore, database: &Database) -> Result<Vec<PartitionStatus>> {
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
pub(crate) fn partition_state(offline: bool) -> &'static str {
    if offline { "offline" } else { "online" }
}

/// The data sets of a database with their space.
fn space(system: &System, store: &KernelStore, database: &Database) -> Result<Vec<Space>> {
    let indexes = database.indexes.iter().map(|tree| tree.set);
    let relations = database.as_child.iter().map(|relation| relation.set);
    let own: Vec<_> = database.sets.iter().copied().chain(indexes).chain(relations).collect();
    let sets = store.sets()?;
    let names: Vec<_> =
        sets.iter().filter(|set| own.contains(&set.id)).map(|set| &set.name).collect();
    let known = system.status().data_sets.into_iter();
    let own = known.filter(|set| names.contains(&&set.name));
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

fn verified(system: &System, wish: &Named, talk: &mut Talk<'_>) -> Result<Verified> {
    let databases = Databases::of(system.kernel().seam(), system)?;
    let database = databases.open_to_read(databases.named(&wish.database)?)?;
    let name = database.name();
    let parents = database.as_child.iter().map(|relation| relation.parent_dbd);
    let children = database.as_parent.iter().map(|relation| relation.child_dbd);
    let relatives: BTreeSet<DbdName> = parents.chain(children).chain([name]).collect();
    let mut sets = Vec::new();
    for relative in relatives {
        sets.extend(databases.sets_of(relative)?);
    }
    let _still = system.keep_still(&sets, Duration::from_secs(wish.wait_seconds))?;
    let mut others = |name| databases.open_to_read(name);
    let report = database.verify(&databases.store, &mut others, told(name, talk))?;
    Ok(Verified::of(name, report))
}

impl Verified {
    /// What was found, in words.
    pub(crate) fn of(name: DbdName, report: Report) -> Verified {
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
