//! The sections `[randomizer.NAME]`, `[database.NAME]` and `[compat]`: what they mean is the
//! business of `placement`; how they fit the rest of the configuration stands here.
//!
//! Invariants:
//! 1. A database's pool exists, and its intervals have a pool whose unit fits.
//! 2. What is written here is read back as the same settings.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use placement::{Bytes, DatabaseSettings, PartitionSettings, PlacementError, Settings};
use seam::disk::{Disk, read_small};

use super::SystemConfig;
use super::template::{Text, amount, key, plain, quoted};

/// How people begin: every line a comment.
const EXAMPLE: &str = r#"# Databases have sections of their own, by the names of their DBDs:
# [database.HISTORY]
# collation = "binary"             # "ebcdic": ASCII data in the order of the host
# encoding = "ascii"               # "ebcdic": kept as it is; programs need a map (db map)
# interval_bytes = "8 KiB"         # pool, plain: for new data sets, in place of [data]
# partition = [                    # as HALDB has them; the last takes what is above the others
#   { name = "HIST01", high_key = "4999" },
#   { name = "HIST02", block_bytes = "4 KiB" },
# ]
# [database.BRANCH]
# randomizer = "AS-BEFORE"         # in place of the module that RMNAME= names
# [randomizer.AS-BEFORE]
# kind = "list"                    # the sequence of a file, one root key a line
# file = "branches.txt"
# [randomizer.BANKRAND]
# kind = "hash"                    # "key": roots in key order
"#;

/// No list of root keys is longer.
const LIST_BYTES_MAX: usize = 1 << 30;

/// The contents of a file that a randomizer's `file` names, for [`placement::Placement::new`].
///
/// # Errors
/// Whatever the disk says; `InvalidData` if the file is longer than 1 GiB.
pub fn read_root_list(disk: &dyn Disk, dir: &Path, file: &str) -> io::Result<Vec<u8>> {
    read_small(disk, &dir.join(file), LIST_BYTES_MAX)
}

impl SystemConfig {
    /// What these sections say, for [`placement::Placement::new`].
    #[must_use]
    pub fn placement_settings(&self) -> Settings {
        Settings {
            randomizers: self.randomizers.clone(),
            databases: self.databases.clone(),
            compat: self.compat.clone(),
        }
    }

    /// What is wrong with these sections: which one, and why.
    pub(super) fn check_databases(&self) -> Result<(), (String, String)> {
        let section_and_why = |error: PlacementError| {
            let section = error.section().unwrap_or_else(|| "database".into());
            (section, error.to_string())
        };
        self.placement_settings().check().map_err(section_and_why)?;
        for (name, database) in &self.databases {
            let checked = self.check_pool(database);
            checked.map_err(|why| (format!("database.{name}"), format!("{name}: {why}")))?;
        }
        Ok(())
    }

    fn check_pool(&self, database: &DatabaseSettings) -> Result<(), String> {
        let pool = match &database.pool {
            None => None,
            Some(name) => Some(self.pools.get(name).ok_or_else(|| {
                let known: Vec<&str> = self.pools.keys().map(String::as_str).collect();
                format!("there is no pool \"{name}\", but {}", known.join(", "))
            })?),
        };
        for interval in database.intervals() {
            let unit = Bytes(space::definition::unit_of(interval) as u64);
            let fits = match pool {
                Some(pool) => pool.unit == unit,
                None => self.pools.values().any(|pool| pool.unit == unit),
            };
            if !fits {
                let which = if pool.is_some() { "its pool has no" } else { "no pool has" };
                return Err(format!(
                    "intervals of {interval} bytes: {which} units of {unit}; make one that has"
                ));
            }
        }
        Ok(())
    }
}

/// The sections as text, with an example where there is none.
pub(super) fn write(text: &mut Text, config: &SystemConfig) {
    text.line("");
    if config.databases.is_empty() && config.randomizers.is_empty() {
        text.0.push_str(EXAMPLE);
        text.line("");
    }
    for (name, randomizer) in &config.randomizers {
        let _ = writeln!(text.0, "[randomizer.{}]", key(name));
        let _ = writeln!(text.0, "kind = {}", quoted(randomizer.kind.name()));
        given(text, "blocks", randomizer.blocks.map(|blocks| plain(&blocks)));
        given(text, "anchors", randomizer.anchors.map(|anchors| plain(&anchors)));
        given(text, "file", randomizer.file.as_deref().map(quoted));
        given(text, "unlisted", randomizer.unlisted.map(|one| quoted(one.name())));
        text.line("");
    }
    for (name, database) in &config.databases {
        let _ = writeln!(text.0, "[database.{}]", key(name));
        given(text, "randomizer", database.randomizer.as_deref().map(quoted));
        given(text, "collation", Some(quoted(database.collation.name())));
        given(text, "encoding", Some(quoted(database.encoding.name())));
        given(text, "plain", database.plain.map(|plain| plain.to_string()));
        given(text, "pool", database.pool.as_deref().map(quoted));
        given(text, "interval_bytes", database.interval_bytes.as_ref().map(amount));
        if !database.partitions.is_empty() {
            text.line("partition = [");
            for partition in &database.partitions {
                text.line(&format!("  {},", partition_text(partition)));
            }
            text.line("]");
        }
        text.line("");
    }
    text.line("# Rules of the host that a program could notice.");
    text.line("[compat]");
    let usual = placement::BatchLog::default();
    let shown = |log: &placement::BatchLog| quoted(log.name());
    let meaning = "\"none\": ROLB, SETS and ROLS are AL in batch";
    text.set("batch_log", (&config.compat.batch_log, &usual), shown, meaning);
    let usual = placement::ProgramUser::default();
    let shown = |user: &placement::ProgramUser| quoted(user.name());
    let meaning = "\"psb\": the I/O PCB names the PSB as the user of a batch program";
    text.set("program_user", (&config.compat.program_user, &usual), shown, meaning);
    let usual = placement::WithoutMap::default();
    let shown = |without: &placement::WithoutMap| quoted(without.name());
    let meaning = "\"refuse\": no program over EBCDIC data without a map";
    text.set("ebcdic_without_map", (&config.compat.ebcdic_without_map, &usual), shown, meaning);
    let usual = placement::FileUnit::default();
    let shown = |unit: &placement::FileUnit| quoted(unit.name());
    let meaning = "\"step\": without sync points all clusters are committed at the end";
    text.set("file_unit", (&config.compat.file_unit, &usual), shown, meaning);
}

/// A setting that is written only if it is there.
fn given(text: &mut Text, name: &str, value: Option<String>) {
    if let Some(value) = value {
        text.line(&format!("{name} = {value}"));
    }
}

fn partition_text(partition: &PartitionSettings) -> String {
    let parts = [
        ("name", Some(quoted(&partition.name))),
        ("high_key", partition.high_key.as_deref().map(quoted)),
        ("key_string", partition.key_string.as_deref().map(quoted)),
        ("randomizer", partition.randomizer.as_deref().map(quoted)),
        ("blocks", partition.blocks.map(|blocks| plain(&blocks))),
        ("anchors", partition.anchors.map(|anchors| plain(&anchors))),
        ("block_bytes", partition.block_bytes.as_ref().map(amount)),
    ];
    let set = parts.into_iter().filter_map(|(name, value)| Some(format!("{name} = {}", value?)));
    format!("{{ {} }}", set.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use base::SystemId;

    use super::*;
    use crate::SystemError;

    fn base() -> String {
        SystemConfig::new(SystemId([0xa7; 16])).to_text()
    }

    fn parse(text: &str) -> Result<SystemConfig, SystemError> {
        SystemConfig::parse(text.as_bytes(), Path::new("holdfast.toml"))
    }

    /// The sections of the example without their signs.
    fn example() -> String {
        let bare = EXAMPLE.lines().skip(1).filter_map(|line| line.strip_prefix("# "));
        bare.map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn the_example_means_what_it_says_and_is_written_as_it_was_read() {
        let text = base() + &example();
        assert!(base().contains(EXAMPLE));
        let config = parse(&text).unwrap();
        let settings = config.placement_settings();
        assert_eq!(settings.databases["HISTORY"].partitions.len(), 2);
        assert_eq!(settings.databases["BRANCH"].randomizer.as_deref(), Some("AS-BEFORE"));
        assert_eq!(settings.randomizers.len(), 2);
        assert_eq!(parse(&config.to_text()).unwrap(), config);
    }

    #[test]
    fn every_setting_comes_back() {
        let sections = r#"
            [randomizer."by key"]
            kind = "key"
            [randomizer.L]
            kind = "list"
            file = "a \"list\".txt"
            unlisted = "refuse"
            [randomizer.H]
            kind = "hash"
            blocks = 500
            anchors = 3
            [database.HISTORY]
            collation = "ebcdic"
            plain = true
            pool = "8k"
            interval_bytes = 8192
            partition = [
              { name = "A", high_key = "x'C1'", randomizer = "H", blocks = 9, anchors = 2 },
              { name = "B", block_bytes = "8 KiB" },
            ]
            [database.OTHER]
            encoding = "ebcdic"
            randomizer = "by key"
            partition = [{ name = "A", key_string = "M" }]
        "#;
        let pool = "\n[pool.8k]\nunit = \"8 KiB\"\nbytes = \"64 MiB\"\n";
        let none = base()
            .replace("#: batch_log = \"disk\"", "batch_log = \"none\"")
            .replace("#: program_user = \"login\"", "program_user = \"psb\"")
            .replace("#: ebcdic_without_map = \"warn\"", "ebcdic_without_map = \"refuse\"");
        let config = parse(&(none + pool + sections)).unwrap();
        assert_eq!(config.compat.batch_log, placement::BatchLog::None);
        assert_eq!(config.compat.program_user, placement::ProgramUser::Psb);
        assert_eq!(config.compat.ebcdic_without_map, placement::WithoutMap::Refuse);
        assert_eq!(parse(&config.to_text()).unwrap(), config);
    }

    #[test]
    fn mistakes_are_told_with_the_line_of_their_section() {
        for (section, rest, words) in [
            ("[database.HISTORY]", "randomizer = \"NONE\"", "\"NONE\""),
            ("[database.HISTORY]", "pool = \"none\"", "no pool \"none\", but "),
            ("[database.HISTORY]", "interval_bytes = \"7 KiB\"\npool = \"odd\"", "its pool has no"),
            ("[database.HISTORY]", "interval_bytes = \"22 KiB\"", "no pool has units of 24 KiB"),
            ("[database.history]", "", "upper case"),
            ("[randomizer.R]", "kind = \"list\"", "needs the file"),
        ] {
            let pool = "[pool.odd]\nunit = \"12 KiB\"\nbytes = \"64 MiB\"\n";
            let text = format!("{}\n{pool}{section}\n{rest}\n", base());
            match parse(&text) {
                Err(SystemError::Config { line, why, .. }) => {
                    assert_eq!(text.lines().nth(line - 1), Some(section), "{why}");
                    assert!(why.contains(words), "{why}");
                }
                other => panic!("{section} {rest}: {other:?}"),
            }
        }
    }
}
