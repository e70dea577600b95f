//! The configuration as text: every setting with its meaning, those with their default as comments.
//!
//! A line that begins with `#: ` is a setting in its default; take the sign away to change it.

use std::fmt::Write as _;

use super::{
    AnchorSettings, ArchiveSettings, CheckpointSettings, DataSettings, KeySettings, LockSettings,
    LogSettings, ReadAheadSettings, ReconSettings, SystemConfig, UnitSettings, WarnSettings, amqp,
    channels, databases, online,
};

pub(super) struct Text(pub(super) String);

impl Text {
    pub(super) fn line(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }

    /// A setting: as a comment if it has its default.
    pub(super) fn set<T: PartialEq>(
        &mut self,
        name: &str,
        (value, default): (&T, &T),
        shown: impl Fn(&T) -> String,
        meaning: &str,
    ) {
        let sign = if value == default { "#: " } else { "" };
        let setting = format!("{sign}{name} = {}", shown(value));
        let _ = writeln!(self.0, "{setting:<34} # {meaning}");
    }
}

pub(super) fn write(config: &SystemConfig) -> String {
    let mut text = Text(String::new());
    text.line(
        "# A Holdfast system. Lines that begin with \"#: \" are settings in their default: take",
    );
    text.line(
        "# that sign away to change one. Changes take effect at the next start; `holdfast pool`",
    );
    text.line("# changes pools at once, here and in a system in use.");
    let _ = writeln!(text.0, "version = {}", config.version);
    let _ = writeln!(text.0, "system = \"{}\"  # its identity; never change it\n", config.system);
    if let Some(engine) = &config.engine {
        super::engine::write(&mut text, engine);
        keys(&mut text, config);
        online::write(&mut text, &config.online);
        databases::write(&mut text, config);
        return text.0;
    }
    log(&mut text, &config.log);
    anchor(&mut text, &config.anchor);
    archive(&mut text, &config.archive);
    text.line("# Buffer pools: one for each unit size that data sets use, more if you name them.");
    for (name, pool) in &config.pools {
        let _ = writeln!(text.0, "[pool.{}]", key(name));
        let _ = writeln!(text.0, "unit = {}", amount(&pool.unit));
        let _ = writeln!(text.0, "bytes = {}", amount(&pool.bytes));
        if !pool.data_sets.is_empty() {
            let names: Vec<String> = pool.data_sets.iter().map(|name| quoted(name)).collect();
            let _ = writeln!(text.0, "data_sets = [{}]", names.join(", "));
        }
        text.line("");
    }
    data(&mut text, &config.data);
    warn(&mut text, &config.warn);
    rest(&mut text, config);
    online::write(&mut text, &config.online);
    channels::write(&mut text, &config.channels);
    amqp::write(&mut text, &config.amqp);
    super::mqi::write(&mut text, &config.mqi);
    super::rest::write(&mut text, &config.rest);
    databases::write(&mut text, config);
    text.0
}

fn log(text: &mut Text, log: &LogSettings) {
    let usual = LogSettings::default();
    text.line("[log]");
    let copies: Vec<String> =
        log.copies.iter().map(|copy| quoted(&copy.display().to_string())).collect();
    let _ =
        writeln!(text.0, "copies = [{}]  # one folder, or two on two devices", copies.join(", "));
    text.line("# `holdfast log stripes` changes stripes, also in use: new segments have so many.");
    text.set("stripes", (&log.stripes, &usual.stripes), plain, "files side by side, 1 to 8");
    let own = (&log.stripe_folders, &usual.stripe_folders);
    text.set("stripe_folders", own, |all| stripes(all), "from the second one on");
    text.line("# The length of segments stays as it was when the log was made.");
    let segment = (&log.segment_bytes, &usual.segment_bytes);
    text.set("segment_bytes", segment, amount, "length of a segment's file");
    let most = (&log.segments_max, &usual.segments_max);
    text.set(
        "segments_min",
        (&log.segments_min, &usual.segments_min),
        plain,
        "made at once, three or four at least",
    );
    text.set("segments_max", most, plain, "at most; restart must fit in them");
    text.set("ring_bytes", (&log.ring_bytes, &usual.ring_bytes), amount, "memory for records");
    let group = (&log.group_bytes_max, &usual.group_bytes_max);
    text.set("group_bytes_max", group, amount, "the largest single write");
    text.set("format", (&log.format, &usual.format), named, "\"sealed\" or \"plain\"");
    let ahead = (&log.write_ahead, &usual.write_ahead);
    text.set(
        "write_ahead",
        ahead,
        |all| folders(all),
        "where commits may be durable before the log; up to two",
    );
    let bytes = (&log.write_ahead_bytes, &usual.write_ahead_bytes);
    text.set("write_ahead_bytes", bytes, amount, "length of each of its files");
    text.line("");
}

/// Folders by stripe, one for each copy.
pub(super) fn stripes(all: &[Vec<std::path::PathBuf>]) -> String {
    format!("[{}]", all.iter().map(|one| folders(one)).collect::<Vec<_>>().join(", "))
}

pub(super) fn folders(folders: &[std::path::PathBuf]) -> String {
    let names = folders.iter().map(|folder| quoted(&folder.display().to_string()));
    format!("[{}]", names.collect::<Vec<_>>().join(", "))
}

fn anchor(text: &mut Text, anchor: &AnchorSettings) {
    text.line(
        "# A file elsewhere that shows when all of the system was put back to an older state.",
    );
    text.line("[anchor]");
    let shown = |file: &std::path::PathBuf| quoted(&file.display().to_string());
    let file = (&anchor.file, &AnchorSettings::default().file);
    text.set("file", file, shown, "on another machine, or in other hands");
    text.line("");
}

fn archive(text: &mut Text, archive: &ArchiveSettings) {
    let usual = ArchiveSettings::default();
    text.line(
        "# Segments of the log are used again only when they are archived, if there is a folder.",
    );
    text.line("[archive]");
    text.set(
        "folders",
        (&archive.folders, &usual.folders),
        |f| folders(f),
        "one, or two on two devices",
    );
    text.set("compress", (&archive.compress, &usual.compress), plain, "1 to 19; 0: as it is");
    let rate = (&archive.bytes_per_second, &usual.bytes_per_second);
    text.set("bytes_per_second", rate, amount, "at most; 0: as fast as the log");
    text.line("# An archive may be deleted when no recovery needs it and neither rule keeps it.");
    text.line("# With both 0, only by hand.");
    text.set("keep_days", (&archive.keep_days, &usual.keep_days), plain, "kept so long");
    text.set("keep_files", (&archive.keep_files, &usual.keep_files), plain, "of the newest");
    text.line("");
}

fn warn(text: &mut Text, warn: &WarnSettings) {
    let usual = WarnSettings::default();
    text.line("# When `holdfast status` warns; 0: never.");
    text.line("[warn]");
    let free = (&warn.device_free_percent, &usual.device_free_percent);
    text.set("device_free_percent", free, plain, "less than so much of a device is free");
    let used = (&warn.log_used_percent, &usual.log_used_percent);
    text.set("log_used_percent", used, plain, "so much of the log is in use");
    text.line("");
}

fn data(text: &mut Text, data: &DataSettings) {
    let usual = DataSettings::default();
    text.line("# What a new data set is given unless its maker says otherwise.");
    text.line("[data]");
    text.set("format", (&data.format, &usual.format), named, "\"sealed\" or \"plain\"");
    let interval = (&data.interval_bytes, &usual.interval_bytes);
    text.set("interval_bytes", interval, amount, "a control interval, 512 B to 32 KiB");
    text.set("folders", (&data.folders, &usual.folders), list, "where files lie, in turn");
    let file = (&data.file_bytes, &usual.file_bytes);
    text.set("file_bytes", file, amount, "of one file; 0: one file for all");
    text.line("");
}

fn rest(text: &mut Text, config: &SystemConfig) {
    let (locks, usual) = (&config.locks, LockSettings::default());
    text.line("[locks]");
    text.set("locks_max", (&locks.locks_max, &usual.locks_max), plain, "about 150 bytes each");
    let per_unit = (&locks.locks_per_unit_max, &usual.locks_per_unit_max);
    text.set("locks_per_unit_max", per_unit, plain, "of one unit of work");
    let timeout = (&locks.timeout_seconds, &usual.timeout_seconds);
    text.set("timeout_seconds", timeout, plain, "0: deadlocks alone end waits");
    text.line("");
    let (units, usual) = (&config.units, UnitSettings::default());
    text.line("[units]");
    let span = (&units.log_bytes_max, &usual.log_bytes_max);
    text.set("log_bytes_max", span, amount, "log that a unit of work may span");
    let undo = (&units.undo_bytes_max, &usual.undo_bytes_max);
    text.set("undo_bytes_max", undo, amount, "its undo kept in memory");
    text.line("");
    let (checkpoint, usual) = (&config.checkpoint, CheckpointSettings::default());
    text.line("[checkpoint]");
    text.set(
        "log_bytes",
        (&checkpoint.log_bytes, &usual.log_bytes),
        amount,
        "one each so much; log / 8 at most",
    );
    let interval = (&checkpoint.interval_seconds, &usual.interval_seconds);
    text.set("interval_seconds", interval, plain, "and one each so many seconds");
    let redo = (&checkpoint.redo_bytes_max, &usual.redo_bytes_max);
    text.set("redo_bytes_max", redo, amount, "to redo at restart; log / 4 at most");
    let changed = (&checkpoint.changed_percent_max, &usual.changed_percent_max);
    text.set("changed_percent_max", changed, plain, "of a pool, then pages are written");
    text.line("");
    let usual = ReadAheadSettings::default();
    text.line("[read_ahead]");
    let threads = (&config.read_ahead.threads, &usual.threads);
    text.set("threads", threads, plain, "ahead of scans; 0: no sequential buffering");
    text.line("");
    keys(text, config);
    let usual = ReconSettings::default();
    text.line("[recon]");
    let second = (&config.recon.second, &usual.second);
    text.set("second", second, path, "folder of recon.2, on another device if you can");
}

fn keys(text: &mut Text, config: &SystemConfig) {
    let usual = KeySettings::default();
    text.line("[keys]");
    text.set("file", (&config.keys.file, &usual.file), path, "under a passphrase");
    text.line("");
}

pub(super) fn plain<T: ToString>(value: &T) -> String {
    value.to_string()
}

pub(super) fn amount(value: &super::Bytes) -> String {
    quoted(&value.to_string())
}

fn named(format: &seal::Format) -> String {
    quoted(&format.to_string())
}

pub(super) fn list(all: &impl AsRef<[String]>) -> String {
    let all: Vec<String> = all.as_ref().iter().map(|one| quoted(one)).collect();
    format!("[{}]", all.join(", "))
}

pub(super) fn path(path: &impl AsRef<std::path::Path>) -> String {
    quoted(&path.as_ref().display().to_string())
}

pub(super) fn quoted(text: &str) -> String {
    let escaped: String = text.chars().flat_map(escape).collect();
    format!("\"{escaped}\"")
}

fn escape(c: char) -> Vec<char> {
    match c {
        '"' | '\\' => vec!['\\', c],
        c if c.is_control() => format!("\\u{:04X}", c as u32).chars().collect(),
        c => vec![c],
    }
}

/// A name as a key: bare if it can be.
pub(super) fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(bare) { name.into() } else { quoted(name) }
}
