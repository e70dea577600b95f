//! The doctor says what is there, what is missing and what to do, of every kind of file, and writes
//! nothing.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // damages files on purpose

use std::fs;
use std::path::Path;

use crate::common::{DEMO, Folder, Worker, bank, data_file, files, on, patch};
use serde_json::Value;

fn doctor(dir: &Path, more: &[&str]) -> (i32, Value) {
    let before = if dir.is_dir() { files(dir) } else { Default::default() };
    let had_lock = dir.join("lock").exists();
    let mut words = vec!["doctor", "--json"];
    words.extend(more);
    words.push("-s");
    let ended = on(DEMO, &words, dir, &[]);
    if dir.is_dir() {
        assert_eq!(files(dir), before, "the doctor writes nothing");
        assert_eq!(dir.join("lock").exists(), had_lock, "and locks nothing");
    }
    (ended.code, ended.json())
}

fn health(diagnosis: &Value, name: &str) -> String {
    let parts = diagnosis["parts"].as_array().unwrap();
    let part = parts.iter().find(|part| part["name"] == name);
    part.map_or("none".into(), |part| part["health"].as_str().unwrap().to_owned())
}

/// Whether a step gives this command.
fn advises(diagnosis: &Value, command: &str) -> bool {
    let steps = diagnosis["steps"].as_array().unwrap().iter();
    let words = |step: &Value| {
        let words = step["command"].as_array().cloned().unwrap_or_default();
        words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
    };
    steps.map(words).any(|words| words.contains(command))
}

#[test]
fn each_kind_of_file_is_looked_at_by_itself() {
    let folder = Folder::new("doctor");
    let dir = bank(&folder, &[]);
    let copies = folder.join("copies");
    let to = copies.to_str().unwrap();
    on(DEMO, &["image-copy", "--all", "--to", to, "-s"], &dir, &[]).done();
    let (code, sound) = doctor(&dir, &[]);
    assert_eq!(code, 0, "{sound:#}");
    assert!(advises(&sound, "holdfast verify"), "{sound:#}");
    let known = sound["files"].as_array().unwrap();
    assert!(known.iter().all(|file| file["what"] != "unknown"), "{known:?}");
    assert!(known.iter().any(|file| file["what"] == "control file" && file["version"] == 3));

    fs::remove_file(data_file(&dir, "JOURNAL")).unwrap();
    fs::remove_file(dir.join("recon.2")).unwrap();
    patch(&data_file(&dir, "ACCOUNTS"), |bytes| bytes.truncate(5_000));
    let (code, hurt) = doctor(&dir, &[]);
    assert_eq!(code, 1);
    assert_eq!(health(&hurt, "data set JOURNAL"), "lost", "{hurt:#}");
    assert_eq!(health(&hurt, "data set ACCOUNTS"), "lost", "{hurt:#}");
    assert_eq!(health(&hurt, "RECON"), "impaired", "{hurt:#}");
    assert_eq!(health(&hurt, "log"), "sound", "{hurt:#}");
    assert!(advises(&hurt, "--set ACCOUNTS --set JOURNAL"), "{hurt:#}");
    on(DEMO, &["recover", "--set", "ACCOUNTS", "--set", "JOURNAL", "-s"], &dir, &[]).done();
    assert_eq!(doctor(&dir, &[]).0, 0);

    // One thing after another is taken away; what is left is still looked at.
    fs::remove_file(dir.join("holdfast.toml")).unwrap();
    let (_, without) = doctor(&dir, &[]);
    assert_eq!(health(&without, "configuration"), "lost", "{without:#}");
    assert_eq!(health(&without, "log"), "sound", "the folders are found: {without:#}");
    assert_eq!(without["system"], sound["system"]);
    fs::remove_file(dir.join("control")).unwrap();
    let (_, without) = doctor(&dir, &[]);
    assert_eq!(health(&without, "control file"), "lost", "{without:#}");
    assert_eq!(health(&without, "RECON"), "sound", "{without:#}");
    let (code, clear) = doctor(&dir, &["--clear"]);
    assert_eq!((code, health(&clear, "key file")), (1, "unknown".into()), "{clear:#}");
    fs::remove_file(dir.join("holdfast.keys")).unwrap();
    let (_, without) = doctor(&dir, &[]);
    assert_eq!(health(&without, "key file"), "lost", "{without:#}");
    assert_eq!(doctor(&folder.join("nowhere"), &[]).0, 1);
}

#[test]
fn a_data_set_with_a_flipped_byte_is_not_called_sound() {
    let folder = Folder::new("flipped");
    let dir = bank(&folder, &[]);
    assert_eq!(health(&doctor(&dir, &[]).1, "data set ACCOUNTS"), "sound");
    patch(&data_file(&dir, "ACCOUNTS"), |bytes| {
        let middle = bytes.len() / 2 / 8_192 * 8_192;
        // One that was written, from there on.
        let at = (middle..bytes.len()).find(|at| bytes[*at] != 0).unwrap();
        bytes[at] ^= 1;
    });
    let (code, hurt) = doctor(&dir, &[]);
    assert_eq!((code, health(&hurt, "data set ACCOUNTS")), (1, "impaired".into()), "{hurt:#}");
    assert_eq!(health(&hurt, "data set JOURNAL"), "sound", "{hurt:#}");
}

/// After a crash the newest commits stand there alone.
#[test]
fn a_write_ahead_data_set_that_left_the_settings_is_to_be_put_back() {
    let folder = Folder::new("ahead");
    let dir = bank(&folder, &[]);
    let (settings, ahead) = (dir.join("holdfast.toml"), folder.join("ahead"));
    let without = fs::read_to_string(&settings).unwrap();
    fs::create_dir(&ahead).unwrap();
    let line = format!("[log]\nwrite_ahead = [{:?}]", ahead.to_str().unwrap());
    let with = without.replacen("[log]", &line, 1);
    fs::write(&settings, &with).unwrap();
    Worker::start(&dir, 60).kill();

    // One that was overwritten is no empty one.
    let file = ahead.join("write-ahead.hfw");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, vec![0; whole.len()]).unwrap();
    let expected_text = ["no entry of the last start", "--accept-loss-with-stale-log-copy"];
    on(DEMO, &["restart"], &dir, &[]).failed("HFL023", &expected_text);
    let (code, hurt) = doctor(&dir, &[]);
    assert_eq!((code, health(&hurt, "write-ahead data set")), (1, "lost".into()), "{hurt:#}");
    let text = hurt.to_string();
    assert!(expected_text.iter().all(|word| text.contains(word)), "{hurt:#}");
    fs::write(&file, whole).unwrap();

    fs::write(&settings, without).unwrap();
    let expected_text = ["log.write_ahead in holdfast.toml names the folders that it had"];
    on(DEMO, &["restart"], &dir, &[]).failed("HFL023", &expected_text);
    let (code, hurt) = doctor(&dir, &[]);
    assert_eq!((code, health(&hurt, "write-ahead data set")), (1, "lost".into()), "{hurt:#}");
    let text = hurt.to_string();
    assert!(text.contains(expected_text[0]) && text.contains("names no folder"), "{hurt:#}");
    fs::write(&settings, with).unwrap();
    on(DEMO, &["restart"], &dir, &[]).done();
    assert_eq!(doctor(&dir, &[]).0, 0);

    // In the system's folder its file is one of those that are known.
    let within = dir.join("wads");
    fs::create_dir(&within).unwrap();
    let text = fs::read_to_string(&settings).unwrap();
    let text = text.replace(ahead.to_str().unwrap(), within.to_str().unwrap());
    fs::write(&settings, text).unwrap();
    on(DEMO, &["restart"], &dir, &[]).done();
    assert!(within.join("write-ahead.hfw").exists());
    let (code, sound) = doctor(&dir, &[]);
    assert!(code == 0 && !sound.to_string().contains("unknown"), "{sound:#}");
}
