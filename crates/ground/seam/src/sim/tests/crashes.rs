//! What survives a crash and what may not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};

use super::super::*;
use super::*;
use crate::disk::{Create, Disk as _, Open};
use crate::sync::Mutex;

#[test]
fn an_unsynced_write_survives_or_not_and_a_synced_one_does() {
    let disk = SimDisk::new();
    let file = make(&disk, "/data", Open::DATA);
    file.write_at(&page(1), 0).unwrap();
    file.sync().unwrap();
    file.write_at(&page(2), 0).unwrap();
    assert_eq!(first_byte(&disk, "/data", 0), 2, "promise 1");
    let mut rng = Rng::new(1);
    let after = |rng: &mut Rng, style| disk.crash_image(rng, style);
    assert_eq!(first_byte(&after(&mut rng, CrashStyle::DropAll), "/data", 0), 1);
    assert_eq!(first_byte(&after(&mut rng, CrashStyle::KeepAll), "/data", 0), 2);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..300 {
        let image = after(&mut rng, CrashStyle::Random);
        let file = image.open("/data".as_ref(), Open::READ).unwrap();
        let mut bytes = [0; 4096];
        file.read_at(&mut bytes, 0).unwrap();
        let old = bytes.iter().filter(|byte| **byte == 1).count();
        let new = bytes.iter().filter(|byte| **byte == 2).count();
        seen.insert(match (old, new) {
            (4096, _) => "dropped",
            (_, 4096) => "kept",
            _ if old + new == 4096 => "mixed",
            _ => "garbage",
        });
        assert_eq!(file.len().unwrap(), 4096);
    }
    assert_eq!(seen.len(), 4, "{seen:?}");
}

#[test]
fn the_parts_of_a_long_write_survive_one_without_another() {
    let disk = SimDisk::new();
    let file = make(&disk, "/data", Open::DATA);
    let mut pages = AlignedBuf::zeroed(32 * 4096);
    file.write_at(&pages, 0).unwrap();
    file.sync().unwrap();
    pages.fill(9);
    file.write_at(&pages, 0).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..50 {
        let after = disk.crash_image(&mut Rng::new(seed), CrashStyle::Random);
        let bytes = after.read_raw("/data", 0, 32 * 4096);
        let new = |page: &[u8]| page.iter().filter(|byte| **byte == 9).count();
        let kept = bytes.chunks(4096).filter(|page| new(page) == 4096).count();
        let dropped = bytes.chunks(4096).filter(|page| new(page) == 0).count();
        assert!(kept < 32 || dropped == 0);
        seen.insert((kept > 0, dropped > 0, kept + dropped < 32));
    }
    assert!(seen.contains(&(true, true, true)) && seen.len() > 1, "{seen:?}");
}

#[test]
fn a_durable_write_needs_no_sync_once_it_returned() {
    let disk = SimDisk::new();
    let file = make(&disk, "/log", Open::DURABLE);
    file.write_at(&page(5), 4096).unwrap();
    let after = disk.crash_image(&mut Rng::new(1), CrashStyle::DropAll);
    assert_eq!(first_byte(&after, "/log", 4096), 5);
    assert_eq!(first_byte(&after, "/log", 0), 0);
}

#[test]
fn names_survive_only_a_sync_of_their_folder() {
    let disk = SimDisk::new();
    let exists = |style, path: &str| {
        disk.crash_image(&mut Rng::new(1), style).exists(path.as_ref()).unwrap()
    };
    disk.create_dir("/a/b".as_ref()).unwrap();
    let file = disk.open("/a/b/one".as_ref(), Open::DATA.create(Create::New)).unwrap();
    file.sync().unwrap();
    disk.sync_dir("/a/b".as_ref()).unwrap();
    assert!(!exists(CrashStyle::DropAll, "/a/b/one"), "its folders are not durable");
    assert!(exists(CrashStyle::KeepAll, "/a/b/one"));
    disk.sync_dir("/".as_ref()).unwrap();
    disk.sync_dir("/a".as_ref()).unwrap();
    assert!(exists(CrashStyle::DropAll, "/a/b/one"));
    disk.rename("/a/b/one".as_ref(), "/a/b/two".as_ref()).unwrap();
    assert!(exists(CrashStyle::DropAll, "/a/b/one") && !exists(CrashStyle::DropAll, "/a/b/two"));
    assert!(exists(CrashStyle::KeepAll, "/a/b/two") && !exists(CrashStyle::KeepAll, "/a/b/one"));
    disk.sync_dir("/a/b".as_ref()).unwrap();
    disk.remove("/a/b/two".as_ref()).unwrap();
    assert!(!disk.exists("/a/b/two".as_ref()).unwrap());
    assert!(exists(CrashStyle::DropAll, "/a/b/two"));
    assert!(!exists(CrashStyle::KeepAll, "/a/b/two"));
}

#[test]
fn a_crash_in_a_write_leaves_any_part_of_it() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..100 {
        let disk = SimDisk::new();
        make(&disk, "/log", Open::DURABLE);
        disk.crash_after(2);
        let acknowledged = AtomicU32::new(0);
        let outcome = run(SimConfig::new(seed), disk.clone(), |seam| {
            let file = seam.disk.open("/log".as_ref(), Open::DURABLE).unwrap();
            for number in 0..4 {
                file.write_at(&page(7), number * 4096).unwrap();
                acknowledged.fetch_add(1, SeqCst);
            }
        });
        assert_eq!(outcome.end, End::Crashed);
        assert_eq!(acknowledged.load(SeqCst), 1);
        assert_eq!(disk.counts().writes, 2);
        let after = disk.crash_image(&mut Rng::new(seed), CrashStyle::Random);
        let file = after.open("/log".as_ref(), Open::READ).unwrap();
        let mut bytes = vec![0; file.len().unwrap() as usize];
        file.read_at(&mut bytes, 0).unwrap();
        assert!(bytes[..4096].iter().all(|byte| *byte == 7), "acknowledged and lost");
        seen.insert(bytes[4096..].iter().filter(|byte| **byte == 7).count());
    }
    assert!(seen.contains(&0) && seen.contains(&4096) && seen.len() > 5, "{seen:?}");
}

#[test]
fn an_observer_sees_each_write_under_way() {
    let disk = SimDisk::new();
    make(&disk, "/log", Open::DURABLE);
    let moments = Arc::new(Mutex::new(Vec::new()));
    let acknowledged = Arc::new(AtomicU64::new(0));
    let (sink, count) = (Arc::clone(&moments), Arc::clone(&acknowledged));
    disk.observe(move |disk, event| {
        if event.kind == EventKind::Write {
            sink.lock().push((event.writes, count.load(SeqCst), disk.snapshot()));
        }
    });
    run(SimConfig::new(1), disk.clone(), |seam| {
        let file = seam.disk.open("/log".as_ref(), Open::DURABLE).unwrap();
        for number in 0..2_000 {
            file.write_at(&page(number as u8 | 1), number * 4096).unwrap();
            acknowledged.fetch_add(1, SeqCst);
        }
    })
    .expect_completed();
    disk.stop_observing();
    let moments = std::mem::take(&mut *moments.lock());
    assert_eq!(moments.len(), 2_000);
    for (writes, acknowledged, snapshot) in moments {
        assert_eq!(acknowledged + 1, writes);
        let mut rng = Rng::new(writes);
        let lost = snapshot.crash_image(&mut rng, CrashStyle::DropAll);
        let kept = snapshot.crash_image(&mut rng, CrashStyle::KeepAll);
        let len = |disk: &SimDisk| disk.open("/log".as_ref(), Open::READ).unwrap().len().unwrap();
        assert_eq!((len(&lost), len(&kept)), (acknowledged * 4096, writes * 4096));
    }
}

#[test]
fn a_lock_is_held_once_and_by_one_life_only() {
    let disk = SimDisk::new();
    for life in 0..2 {
        let outcome = run(SimConfig::new(life), disk.clone(), |seam| {
            let lock = seam.disk.lock("/lock".as_ref()).unwrap();
            let second = seam.disk.lock("/lock".as_ref()).map(|_| ()).unwrap_err();
            assert_eq!(second.kind(), std::io::ErrorKind::WouldBlock);
            drop(lock);
            std::mem::forget(seam.disk.lock("/lock".as_ref()).unwrap());
            crash();
        });
        assert_eq!(outcome.end, End::Crashed, "{outcome}");
    }
}

#[test]
fn an_unaligned_direct_write_fails_as_on_the_real_machine() {
    let outcome = run(SimConfig::new(1), SimDisk::new(), |seam| {
        let how = Open::DATA.create(Create::New);
        let file = seam.disk.open("/file".as_ref(), how).unwrap();
        let _ = file.write_at(&page(1)[..512], 0);
    });
    assert!(matches!(outcome.end, End::Panicked { .. }), "{outcome}");
}

#[test]
fn a_folder_made_durably_survives_with_all_above_it() {
    let disk = SimDisk::new();
    crate::disk::make_dir(&disk, "/a/b/c".as_ref()).unwrap();
    let after = disk.crash_image(&mut Rng::new(1), CrashStyle::DropAll);
    assert!(after.exists("/a/b/c".as_ref()).unwrap());
    crate::disk::make_dir(&disk, "/a/b/c".as_ref()).unwrap();
    assert_eq!(disk.counts().dir_syncs, 3);
}

#[test]
fn a_small_file_is_replaced_whole_or_not_at_all() {
    let disk = SimDisk::new();
    crate::fresh::replace_small(&disk, "/small".as_ref(), &[1; 700]).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    let replace = || crate::fresh::replace_small(&disk, "/small".as_ref(), &[2; 900]).unwrap();
    for after in crashed_while(&disk, replace) {
        let bytes = crate::disk::read_small(&after, "/small".as_ref(), 1_000).unwrap();
        assert!(bytes == [1; 700] || bytes == [2; 900]);
        seen.insert(bytes.len());
    }
    assert_eq!(seen.len(), 2);
    let bytes = crate::disk::read_small(&disk, "/small".as_ref(), 1_000).unwrap();
    assert_eq!(bytes, [2; 900]);
}

#[test]
fn what_others_have_put_beside_a_small_file_stays() {
    let disk = SimDisk::new();
    let how = Open { direct: false, ..Open::DATA };
    for name in ["/small.new", "/small.tmp", "/small.part"] {
        make(&disk, name, how).write_at(b"foreign", 0).unwrap();
    }
    // One that a crash has left goes; a folder never does.
    make(&disk, "/.small.holdfast.part", how).write_at(b"left", 0).unwrap();
    disk.create_dir("/.other.holdfast.part".as_ref()).unwrap();
    for name in ["/small", "/other"] {
        crate::fresh::replace_small(&disk, name.as_ref(), b"new").unwrap();
        assert_eq!(crate::disk::read_small(&disk, name.as_ref(), 9).unwrap(), b"new");
    }
    for name in ["/small.new", "/small.tmp", "/small.part"] {
        assert_eq!(crate::disk::read_small(&disk, name.as_ref(), 9).unwrap(), b"foreign");
    }
    let mut names = disk.list("/".as_ref()).unwrap();
    names.sort();
    let left = [".other.holdfast.part", "other", "small", "small.new", "small.part", "small.tmp"];
    assert_eq!(names, left.map(std::path::PathBuf::from));
}

#[test]
fn random_histories_are_durable_up_to_their_syncs() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let disk = SimDisk::new();
        let how = Open { direct: false, ..Open::DATA };
        let file = make(&disk, "/data", how);
        let durable = disk.open("/data".as_ref(), Open { dsync: true, ..how }).unwrap();
        let (mut model, mut saved) = (Vec::new(), Vec::new());
        for step in 0..60_u8 {
            let offset = rng.index(20_000);
            let bytes = vec![step + 1; 1 + rng.index(9_000)];
            match rng.below(6) {
                0 => {
                    file.sync().unwrap();
                    saved.clone_from(&model);
                }
                1 => {
                    file.set_len(offset as u64).unwrap();
                    model.resize(offset, 0);
                }
                2 => {
                    // All is synced before, or else the order of two states would matter.
                    file.sync().unwrap();
                    durable.write_at(&bytes, offset as u64).unwrap();
                    put(&mut model, offset, &bytes);
                    saved.clone_from(&model);
                }
                _ => {
                    file.write_at(&bytes, offset as u64).unwrap();
                    put(&mut model, offset, &bytes);
                }
            }
            let content = |disk: &SimDisk| {
                let len = disk.len_raw("/data") as usize;
                disk.read_raw("/data", 0, len)
            };
            assert!(content(&disk) == model, "seed {seed}, step {step}: what programs see");
            let lost = disk.snapshot().crash_image(&mut rng, CrashStyle::DropAll);
            assert!(content(&lost) == saved, "seed {seed}, step {step}: what is durable");
            let kept = disk.crash_image(&mut rng, CrashStyle::KeepAll);
            assert!(content(&kept) == model, "seed {seed}, step {step}: what may be kept");
        }
    }
}

fn put(model: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    model.resize(model.len().max(offset + bytes.len()), 0);
    model[offset..offset + bytes.len()].copy_from_slice(bytes);
}
