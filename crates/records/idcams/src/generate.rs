//! The DEFINE statement that makes an object again: what portable copies keep of it.
//!
//! Invariants:
//! 1. Read and executed, the statement defines what it was made of; only the record description is
//!    kept apart, for it is a text of its own.
//! 2. Records of a relative cluster are of any length where their average is below the maximum. So
//!    is what is written, whatever the average was altered to; records of at most one byte have
//!    that one length in either kind.

use std::fmt::Write as _;

use vsam::{
    AlternateIndexAttributes, ClusterAttributes, DataSetName, Definition, FreeSpace, Organization,
    Remarks, ShareOptions, SpaceUnit,
};

/// The statement, to be read without margins; `None` for what has none.
pub(crate) fn statement_of(name: &DataSetName, definition: &Definition) -> Option<String> {
    let mut words = Words::default();
    match definition {
        Definition::Cluster(cluster) => {
            words.open(&format!("DEFINE CLUSTER (NAME({name})"));
            of_cluster(&mut words, cluster);
            words.close();
            component(&mut words, "DATA", cluster.data_name.as_ref());
            component(&mut words, "INDEX", cluster.index_name.as_ref());
        }
        Definition::AlternateIndex(index) => {
            words.open(&format!("DEFINE ALTERNATEINDEX (NAME({name})"));
            of_index(&mut words, index);
            words.close();
            component(&mut words, "DATA", index.data_name.as_ref());
            component(&mut words, "INDEX", index.index_name.as_ref());
        }
        Definition::Path(path) => {
            words.open(&format!("DEFINE PATH (NAME({name})"));
            words.add(&format!("PATHENTRY({})", path.entry));
            words.add(if path.update { "UPDATE" } else { "NOUPDATE" });
            words.close();
        }
        _ => return None,
    }
    Some(words.text())
}

#[derive(Default)]
struct Words(Vec<String>);

impl Words {
    fn open(&mut self, word: &str) {
        self.0.push(word.to_owned());
    }

    fn add(&mut self, word: &str) {
        self.0.push(format!("  {word}"));
    }

    fn close(&mut self) {
        if let Some(last) = self.0.last_mut() {
            last.push(')');
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (at, word) in self.0.iter().enumerate() {
            let mark = if at + 1 < self.0.len() { " -" } else { "" };
            let _ = writeln!(text, " {word}{mark}");
        }
        text
    }
}

fn component(words: &mut Words, list: &str, name: Option<&DataSetName>) {
    if let Some(name) = name {
        words.add(&format!("{list} (NAME({name}))"));
    }
}

fn of_cluster(words: &mut Words, cluster: &ClusterAttributes) {
    words.add(match cluster.organization {
        Organization::Keyed => "INDEXED",
        Organization::EntrySequenced => "NONINDEXED",
        Organization::Relative | Organization::VariableRelative => "NUMBERED",
        Organization::Linear => "LINEAR",
    });
    if let Some(key) = cluster.key {
        words.add(&format!("KEYS({} {})", key.bytes, key.offset));
    }
    if cluster.organization != Organization::Linear {
        let most = cluster.record_bytes_max;
        let average = match cluster.organization {
            Organization::VariableRelative => {
                cluster.average_bytes.min(most.saturating_sub(1)).max(1)
            }
            _ => cluster.average_bytes,
        };
        words.add(&format!("RECORDSIZE({average} {most})"));
    }
    intervals(words, cluster.interval_bytes, cluster.free_space, cluster.share);
    for (yes, word) in [
        (cluster.reuse, "REUSE"),
        (cluster.spanned, "SPANNED"),
        (cluster.speed, "SPEED"),
        (cluster.erase, "ERASE"),
    ] {
        if yes {
            words.add(word);
        }
    }
    of_remarks(words, &cluster.remarks);
}

fn of_index(words: &mut Words, index: &AlternateIndexAttributes) {
    words.add(&format!("RELATE({})", index.base));
    words.add(&format!("KEYS({} {})", index.key.bytes, index.key.offset));
    words.add(&format!("RECORDSIZE({} {})", index.average_bytes, index.record_bytes_max));
    intervals(words, index.interval_bytes, index.free_space, index.share);
    words.add(if index.unique { "UNIQUEKEY" } else { "NONUNIQUEKEY" });
    words.add(if index.upgrade { "UPGRADE" } else { "NOUPGRADE" });
    if index.reuse {
        words.add("REUSE");
    }
    of_remarks(words, &index.remarks);
}

fn intervals(words: &mut Words, bytes: Option<u32>, free: FreeSpace, share: ShareOptions) {
    if let Some(bytes) = bytes {
        words.add(&format!("CONTROLINTERVALSIZE({bytes})"));
    }
    if free != FreeSpace::default() {
        words.add(&format!("FREESPACE({} {})", free.interval_percent, free.area_percent));
    }
    let (regions, systems) = (share.regions.number(), share.systems.number());
    words.add(&format!("SHAREOPTIONS({regions} {systems})"));
}

/// The keyword of a unit of space.
pub(crate) fn unit_name(unit: SpaceUnit) -> &'static str {
    match unit {
        SpaceUnit::Records => "RECORDS",
        SpaceUnit::Tracks => "TRACKS",
        SpaceUnit::Cylinders => "CYLINDERS",
        SpaceUnit::Kilobytes => "KILOBYTES",
        SpaceUnit::Megabytes => "MEGABYTES",
        SpaceUnit::Blocks => "BLOCKS",
    }
}

fn of_remarks(words: &mut Words, remarks: &Remarks) {
    let mut volumes = remarks.volumes.iter().peekable();
    if volumes.peek().is_some() {
        words.add("VOLUMES(");
        volumes.for_each(|volume| words.add(&quoted(volume)));
        words.close();
    }
    if let Some(space) = remarks.space.filter(|space| space.unit != SpaceUnit::Blocks) {
        let unit = unit_name(space.unit);
        words.add(&format!("{unit}({} {})", space.primary, space.secondary));
    }
    if let Some(owner) = &remarks.owner {
        words.add(&format!("OWNER({})", quoted(owner)));
    }
    if let Some(day) = remarks.expires {
        words.add(&format!("TO({day:07})"));
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
