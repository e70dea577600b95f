//! Pools and log in the configuration's text, changed where they stand: what people have written
//! around them stays.
//!
//! What comes out is read again and compared with what is meant. A file that is written in a way
//! that this does not understand is left alone, and its owner told what to change.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use seam::disk::{Disk, read_small};
use seam::fresh::replace_small;

use super::template::{amount, folders, key, list, stripes};
use super::{CONFIG_FILE, FILE_BYTES_MAX, LogSettings, PoolSettings, SystemConfig};
use crate::SystemError;

/// A configuration that is to replace the one that stands.
pub(crate) struct ChangedConfig {
    path: PathBuf,
    text: String,
}

impl ChangedConfig {
    /// Replaces the file, whole or not at all.
    pub(crate) fn write(&self, disk: &dyn Disk) -> Result<(), SystemError> {
        replace_small(disk, &self.path, self.text.as_bytes())
            .map_err(|error| SystemError::io("write", &self.path, error))
    }
}

impl SystemConfig {
    /// The file with other pools than it has, and everything else as it is written; and what
    /// remains to be done: writing it.
    pub(crate) fn change_pools(
        disk: &dyn Disk,
        dir: &Path,
        change: impl FnOnce(&mut BTreeMap<String, PoolSettings>),
    ) -> Result<ChangedConfig, SystemError> {
        SystemConfig::change(disk, dir, |config| change(&mut config.pools))
    }

    /// The same with other settings of the log.
    pub(crate) fn change_log(
        disk: &dyn Disk,
        dir: &Path,
        change: impl FnOnce(&mut LogSettings),
    ) -> Result<ChangedConfig, SystemError> {
        SystemConfig::change(disk, dir, |config| change(&mut config.log))
    }

    fn change(
        disk: &dyn Disk,
        dir: &Path,
        change: impl FnOnce(&mut SystemConfig),
    ) -> Result<ChangedConfig, SystemError> {
        let path = dir.join(CONFIG_FILE);
        let bytes = read_small(disk, &path, FILE_BYTES_MAX)
            .map_err(|error| SystemError::io("read", &path, error))?;
        let before = SystemConfig::parse(&bytes, &path)?;
        let mut config = before.clone();
        change(&mut config);
        config.check().map_err(|(_, why)| SystemError::Unusable { why })?;
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if config.pools != before.pools {
            text = with_pools(&text, &config.pools);
        }
        if config.log != before.log {
            text = with_log(&text, &before.log, &config.log);
        }
        match SystemConfig::parse(text.as_bytes(), &path) {
            Ok(changed) if changed == config => Ok(ChangedConfig { path, text }),
            Ok(_) => {
                Err(SystemError::NotEdited { path, why: "it would say something else".into() })
            }
            Err(error) => Err(SystemError::NotEdited { path, why: error.to_string() }),
        }
    }
}

/// The text with these pools, and no others.
fn with_pools(text: &str, pools: &BTreeMap<String, PoolSettings>) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut missing: Vec<&String> = pools.keys().collect();
    let mut at = 0;
    while at < lines.len() {
        let Some(name) = pool_named_by(&lines[at]) else {
            at += 1;
            continue;
        };
        let end = section_end(&lines, at);
        match pools.get(&name) {
            Some(pool) => {
                set_pool(&mut lines, at, end, pool);
                missing.retain(|other| **other != name);
                at += 1;
            }
            None => remove_section(&mut lines, at, end),
        }
    }
    let mut text = lines.join("\n");
    text.push('\n');
    for name in missing {
        let pool = &pools[name];
        let _ = write!(text, "\n[pool.{}]\nunit = {}\n", key(name), amount(&pool.unit));
        let _ = writeln!(text, "bytes = {}", amount(&pool.bytes));
        if !pool.data_sets.is_empty() {
            let _ = writeln!(text, "data_sets = {}", list(&pool.data_sets));
        }
    }
    text
}

/// The text with other copies and stripes of the log.
fn with_log(text: &str, before: &LogSettings, log: &LogSettings) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let is_log = |line: &String| line.split('#').next().is_some_and(|line| line.trim() == "[log]");
    let at = lines.iter().position(is_log).unwrap_or_else(|| {
        lines.extend([String::new(), "[log]".to_owned()]);
        lines.len() - 1
    });
    let own = (!log.stripe_folders.is_empty()).then(|| stripes(&log.stripe_folders));
    let settings = [
        ("copies", Some(folders(&log.copies)), log.copies != before.copies),
        ("stripe_folders", own, log.stripe_folders != before.stripe_folders),
        ("stripes", Some(log.stripes.to_string()), log.stripes != before.stripes),
    ];
    for (setting, value, _) in settings.into_iter().filter(|(.., changed)| *changed) {
        let end = section_end(&lines, at);
        set(&mut lines, at, end, setting, value);
    }
    lines.join("\n") + "\n"
}

/// The pool whose section begins with this line.
fn pool_named_by(line: &str) -> Option<String> {
    let name = line.trim_start().strip_prefix("[pool.")?;
    let name = name[..name.rfind(']')?].trim();
    match name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
        Some(quoted) if !quoted.contains('\\') => Some(quoted.to_owned()),
        Some(_) => None,
        None => Some(name.to_owned()),
    }
}

/// Behind the last line of the section that begins at `at`.
fn section_end(lines: &[String], at: usize) -> usize {
    let next = lines[at + 1..].iter().position(|line| line.trim_start().starts_with('['));
    next.map_or(lines.len(), |next| at + 1 + next)
}

/// Whether the line sets this.
fn sets(line: &str, setting: &str) -> bool {
    let rest = line.trim_start().strip_prefix(setting);
    rest.is_some_and(|rest| rest.trim_start().starts_with('='))
}

fn set_pool(lines: &mut Vec<String>, at: usize, end: usize, pool: &PoolSettings) {
    let assigned = (!pool.data_sets.is_empty()).then(|| list(&pool.data_sets));
    set(lines, at, end, "data_sets", assigned);
    let end = section_end(lines, at);
    set(lines, at, end, "bytes", Some(amount(&pool.bytes)));
    let end = section_end(lines, at);
    set(lines, at, end, "unit", Some(amount(&pool.unit)));
}

/// Sets or removes one setting of a section. A value that means the same stays as it is written.
fn set(lines: &mut Vec<String>, at: usize, end: usize, setting: &str, value: Option<String>) {
    let place = (at + 1..end).find(|line| sets(&lines[*line], setting));
    match (place, value) {
        (Some(place), Some(value)) => {
            let line = &lines[place];
            let comment = comment(line);
            let gap = if comment.is_empty() { "" } else { "  " };
            lines[place] = format!("{setting} = {value}{gap}{comment}");
        }
        (Some(place), None) => drop(lines.remove(place)),
        (None, Some(value)) => lines.insert(at + 1, format!("{setting} = {value}")),
        (None, None) => {}
    }
}

/// What is said about a setting behind it: from the first `#` on that stands in no string.
fn comment(line: &str) -> &str {
    let (mut within, mut escaped) = (None, false);
    for (at, c) in line.char_indices() {
        match within {
            Some(_) if escaped => escaped = false,
            Some('"') if c == '\\' => escaped = true,
            Some(quote) if c == quote => within = None,
            Some(_) => {}
            None if c == '#' => return &line[at..],
            None if c == '"' || c == '\'' => within = Some(c),
            None => {}
        }
    }
    ""
}

/// Removes a section's head and settings; a comment before the next section belongs to that.
fn remove_section(lines: &mut Vec<String>, at: usize, end: usize) {
    let has_content =
        |line: &String| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let last = (at..end).rev().find(|line| has_content(&lines[*line])).unwrap_or(at);
    let blank = lines.get(last + 1).is_some_and(|line| line.trim().is_empty());
    lines.drain(at..last + 1 + usize::from(blank));
}

#[cfg(test)]
mod tests {
    use super::super::Bytes;
    use super::*;

    fn pool(bytes: u64, data_sets: &[&str]) -> PoolSettings {
        let data_sets = data_sets.iter().map(|name| (*name).to_owned()).collect();
        PoolSettings { unit: Bytes(8192), bytes: Bytes(bytes), data_sets }
    }

    #[test]
    fn another_folder_of_the_log_stands_where_the_old_one_stood() {
        let text = "version = 1\n[log]  # on two devices\ncopies = [\"log\", \"/b\"] # mirrored\n";
        let copies = vec![PathBuf::from("log"), PathBuf::from("/mnt/c d")];
        let changed = "version = 1\n[log]  # on two devices\n\
                       copies = [\"log\", \"/mnt/c d\"]  # mirrored\n";
        let (usual, log) = (LogSettings::default(), LogSettings { copies, ..Default::default() });
        assert_eq!(with_log(text, &usual, &log), changed);
        let absent = with_log("version = 1\n", &log, &usual);
        assert_eq!(absent, "version = 1\n\n[log]\ncopies = [\"log\"]\n");
    }

    #[test]
    fn stripes_stand_where_they_stood() {
        let text = "[log]  # ours\nstripes = 2 # two devices\n\n[locks]\n";
        let own = vec![vec!["/b".into()], vec!["/c d".into()]];
        let log = LogSettings { stripes: 3, stripe_folders: own, ..LogSettings::default() };
        let changed = "[log]  # ours\nstripe_folders = [[\"/b\"], [\"/c d\"]]\n\
                       stripes = 3  # two devices\n\n[locks]\n";
        let usual = LogSettings::default();
        assert_eq!(with_log(text, &usual, &log), changed);
        assert_eq!(with_log(changed, &usual, &log), changed, "once is enough");
        let few = LogSettings { stripes: 2, ..LogSettings::default() };
        let added = "version = 1\n\n[log]\nstripes = 2\n";
        assert_eq!(with_log("version = 1\n", &usual, &few), added);
    }

    #[test]
    fn a_number_sign_in_a_name_begins_no_comment() {
        assert_eq!(comment(r##"data_sets = ["$JDB.#JP2", "a\"#"] # ours"##), "# ours");
        assert_eq!(comment("folders = ['/mnt/#1\\', '#']"), "");
        let text = "[pool.default]\ndata_sets = [\"$JDB.#JP2\"]  # of J\nunit = \"8 KiB\"\n\
                    bytes = \"1 MiB\"\n";
        let pools: BTreeMap<_, _> =
            [("default".to_owned(), pool(1 << 20, &["$JDB.#JP2", "#ADBY"]))].into();
        let changed = with_pools(text, &pools);
        assert!(
            changed.contains("\ndata_sets = [\"$JDB.#JP2\", \"#ADBY\"]  # of J\n"),
            "{changed}"
        );
        assert_eq!(with_pools(&changed, &pools), changed, "once is enough");
    }

    #[test]
    fn comments_and_everything_else_stay_where_they_are() {
        let text = "version = 1\n# ours\n[pool.default] # the large one\nunit = 8192\n\
                    bytes = \"1 MiB\"   # ask Anna\n\n# of old times\n[pool.\"old one\"]\n\
                    unit = \"8 KiB\"\nbytes = \"2 MiB\"\n\n# locks\n[locks]\nlocks_max = 5\n";
        let pools = [("default", pool(4 << 20, &["A", "B"])), ("new", pool(1 << 20, &[]))];
        let pools: BTreeMap<_, _> = pools.map(|(name, pool)| (name.to_owned(), pool)).into();
        let changed = "version = 1\n# ours\n[pool.default] # the large one\n\
                       data_sets = [\"A\", \"B\"]\nunit = \"8 KiB\"\n\
                       bytes = \"4 MiB\"  # ask Anna\n\n# of old times\n\
                       # locks\n[locks]\nlocks_max = 5\n\n\
                       [pool.new]\nunit = \"8 KiB\"\nbytes = \"1 MiB\"\n";
        assert_eq!(with_pools(text, &pools), changed);
        assert_eq!(with_pools(changed, &pools), changed, "once is enough");
    }
}
