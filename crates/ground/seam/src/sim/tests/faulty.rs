//! Each fault does what it says.

use std::io::IoSliceMut;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use super::super::*;
use super::*;
use crate::disk::{Disk as _, File, Open};

/// A file of four pages, all durable, with the byte of each its number.
fn four_pages(how: Open) -> (SimDisk, Arc<dyn File>) {
    let disk = SimDisk::new();
    let file = make(&disk, "/data", how);
    (0..4).for_each(|number| file.write_at(&page(number), u64::from(number) * 4096).unwrap());
    file.sync().unwrap();
    (disk, file)
}

fn is_io_error<T>(result: std::io::Result<T>) -> bool {
    result.err().and_then(|error| error.raw_os_error())
        == Some(rustix::io::Errno::IO.raw_os_error())
}

#[test]
fn errors_come_when_they_were_scripted() {
    let (disk, file) = four_pages(Open::DATA);
    let fault = |kind, n| disk.inject(Fault::new(kind, "/data").when(When::Nth(n)));
    let (read, write) = (fault(FaultKind::ReadError, 2), fault(FaultKind::WriteError, 1));
    let mut buf = page(0);
    assert!(file.read_at(&mut buf, 0).is_ok());
    assert!(is_io_error(file.read_at(&mut buf, 0)));
    assert!(file.read_at(&mut buf, 0).is_ok());
    assert!(is_io_error(file.write_at(&page(9), 0)));
    assert!(file.write_at(&page(9), 0).is_ok());
    assert_eq!((disk.hits(read), disk.hits(write)), (1, 1));
    disk.inject(Fault::new(FaultKind::OpenError, "/"));
    assert!(is_io_error(disk.open("/data".as_ref(), Open::READ).map(|_| ())));
}

#[test]
fn a_write_that_fails_may_be_stored_and_stay() {
    let (disk, file) = four_pages(Open::DURABLE);
    let fault = Fault::new(FaultKind::StoredWriteError, "/data").when(When::Nth(1));
    let fault = disk.inject(fault);
    assert!(is_io_error(file.write_at(&page(9), 4096)));
    assert_eq!(disk.hits(fault), 1);
    assert_eq!(disk.read_raw("/data", 4096, 4096), [9; 4096]);
    let after = disk.crash_image(&mut Rng::new(1), CrashStyle::DropAll);
    assert_eq!(after.read_raw("/data", 4096, 4096), [9; 4096]);
}

#[test]
fn a_failed_write_leaves_some_first_sectors_and_never_all() {
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..100 {
        let (disk, file) = four_pages(Open::DURABLE);
        disk.with(|state| state.rng = Rng::new(seen.len() as u64 * 1_000 + state.rng.word()));
        disk.inject(Fault::new(FaultKind::WriteError, "*"));
        assert!(is_io_error(file.write_at(&page(9), 4096)));
        let bytes = disk.read_raw("/data", 4096, 4096);
        let new = bytes.iter().take_while(|byte| **byte == 9).count();
        assert!(bytes[new..].iter().all(|byte| *byte == 1));
        let after = disk.crash_image(&mut Rng::new(1), CrashStyle::DropAll);
        assert_eq!(after.read_raw("/data", 4096, 1), [1], "an error is not a promise");
        seen.insert(new);
    }
    assert!(seen.len() > 1 && !seen.contains(&4096), "{seen:?}");
}

#[test]
fn a_full_disk_refuses_what_takes_space_and_nothing_else() {
    let (disk, file) = four_pages(Open::DATA);
    disk.set_capacity(Some(5 * 4096));
    file.write_at(&page(7), 0).unwrap();
    file.write_at(&page(7), 4 * 4096).unwrap();
    let full = |result: std::io::Result<()>| {
        assert_eq!(result.unwrap_err().kind(), std::io::ErrorKind::StorageFull);
    };
    full(file.write_at(&page(7), 5 * 4096));
    full(file.allocate(5 * 4096, 4096));
    assert_eq!(file.len().unwrap(), 5 * 4096);
    file.write_at(&page(8), 4 * 4096).unwrap();
    disk.set_capacity(None);
    file.write_at(&page(7), 5 * 4096).unwrap();
    disk.inject(Fault::new(FaultKind::NoSpace, "/data").when(When::From(2)));
    file.write_at(&page(7), 0).unwrap();
    full(file.write_at(&page(7), 0));
}

#[test]
fn slow_disks_take_virtual_time() {
    let config = SimConfig { read_us: (0, 0), write_us: (0, 0), ..SimConfig::new(1) };
    let config = SimConfig { sync_us: (0, 0), ..config };
    let (disk, _) = four_pages(Open::DATA);
    disk.inject(Fault::new(FaultKind::SlowIo(Duration::from_secs(1)), "/data"));
    disk.inject(Fault::new(FaultKind::SlowSync(Duration::from_secs(10)), "/data"));
    let outcome = run(config, disk, |seam| {
        let file = seam.disk.open("/data".as_ref(), Open::DATA).unwrap();
        file.read_at(&mut page(0), 0).unwrap();
        file.write_at(&page(0), 0).unwrap();
        file.sync().unwrap();
    });
    outcome.expect_completed();
    assert_eq!(outcome.time.as_secs(), 12);
}

#[test]
fn a_failed_sync_may_lose_what_it_was_to_save_even_if_the_next_one_works() {
    let mut lost = 0;
    for seed in 0..50 {
        let (disk, file) = four_pages(Open::DATA);
        disk.with(|state| state.rng = Rng::new(seed));
        disk.inject(Fault::new(FaultKind::SyncError, "/data").when(When::Nth(1)));
        file.write_at(&page(9), 0).unwrap();
        assert!(is_io_error(file.sync()));
        file.sync().unwrap();
        let after = disk.crash_image(&mut Rng::new(seed), CrashStyle::DropAll);
        lost += u32::from(first_byte(&after, "/data", 0) == 0);
    }
    assert!((10..40).contains(&lost), "{lost}");
}

#[test]
fn a_dead_folder_answers_nothing_until_it_is_healed() {
    let disk = SimDisk::new();
    disk.create_dir("/copy2".as_ref()).unwrap();
    let file = make(&disk, "/copy2/log", Open::DURABLE);
    let other = make(&disk, "/copy1", Open::DURABLE);
    let dead = disk.inject(Fault::new(FaultKind::Dead, "/copy2"));
    assert!(is_io_error(file.write_at(&page(1), 0)));
    assert!(is_io_error(file.read_at(&mut page(1), 0)));
    assert!(is_io_error(file.sync()) && is_io_error(file.len()) && is_io_error(file.set_len(1)));
    assert!(is_io_error(disk.open("/copy2/log".as_ref(), Open::READ).map(|_| ())));
    assert!(is_io_error(disk.list("/copy2".as_ref())));
    assert!(is_io_error(disk.sync_dir("/copy2".as_ref())));
    other.write_at(&page(1), 0).unwrap();
    disk.heal(dead);
    file.write_at(&page(1), 0).unwrap();
    assert!(disk.hits(dead) >= 8);
}

#[test]
fn lost_and_misdirected_writes_are_reported_done() {
    let (disk, file) = four_pages(Open::DURABLE);
    let lost = disk.inject(Fault::new(FaultKind::LostWrite, "/data"));
    file.write_at(&page(9), 4096).unwrap();
    assert_eq!(disk.find_bytes(&[9; 8]), []);
    disk.heal(lost);
    disk.inject(Fault::new(FaultKind::MisdirectedWrite, "/data"));
    file.write_at(&page(9), 4096).unwrap();
    assert_eq!(first_byte(&disk, "/data", 4096), 1, "its own place is untouched");
    let places = disk.find_bytes(&[9; 4096]);
    assert_eq!(places.len(), 1);
    assert!(places[0].1.is_multiple_of(4096) && places[0].1 != 4096);
    assert_eq!(file.len().unwrap(), 4 * 4096);
    let after = disk.crash_image(&mut Rng::new(1), CrashStyle::DropAll);
    assert_eq!(after.find_bytes(&[9; 4096]), places);
}

#[test]
fn a_part_of_a_long_write_is_lost_alone() {
    let (disk, file) = four_pages(Open::DATA);
    let mut pages = AlignedBuf::zeroed(32 * 4096);
    pages.fill(9);
    disk.inject(Fault::new(FaultKind::LostWrite, "/data").when(When::Nth(2)));
    file.write_at(&pages, 0).unwrap();
    let bytes = disk.read_raw("/data", 0, disk.len_raw("/data") as usize);
    let lost = bytes.iter().filter(|byte| **byte != 9).count() + pages.len() - bytes.len();
    assert!((4096..=8 * 4096).contains(&lost) && lost.is_multiple_of(4096), "{lost}");
}

#[test]
fn a_read_into_several_buffers_is_one_read_with_one_fate() {
    let (disk, file) = four_pages(Open::DATA);
    let mut bufs = [page(7), AlignedBuf::zeroed(2 * 4096), page(7)];
    let read = |bufs: &mut [AlignedBuf], offset| {
        let mut slices: Vec<_> = bufs.iter_mut().map(|buf| IoSliceMut::new(buf)).collect();
        file.read_vectored_at(&mut slices, offset)
    };
    let reads = disk.counts().reads;
    read(&mut bufs, 0).unwrap();
    assert_eq!(disk.counts().reads, reads + 1);
    let firsts: Vec<u8> = bufs.iter().flat_map(|buf| buf.chunks(4096)).map(|p| p[0]).collect();
    assert_eq!(firsts, [0, 1, 2, 3]);
    let end = read(&mut bufs, 4096).unwrap_err();
    assert_eq!(end.kind(), std::io::ErrorKind::UnexpectedEof);
    disk.inject(Fault::new(FaultKind::FlipOnRead, "/data"));
    read(&mut bufs, 0).unwrap();
    let right =
        |(number, page): (usize, &[u8])| page.iter().filter(|b| **b != number as u8).count();
    let pages = bufs.iter().flat_map(|buf| buf.chunks(4096)).enumerate();
    assert_eq!(pages.map(right).sum::<usize>(), 1, "one byte is wrong");
}

#[test]
fn a_stale_read_shows_what_was_before_the_last_write() {
    let (disk, file) = four_pages(Open::DATA);
    let stale = disk.inject(Fault::new(FaultKind::StaleRead, "/data"));
    file.write_at(&page(8), 4096).unwrap();
    file.write_at(&page(9), 4096).unwrap();
    assert_eq!(first_byte(&disk, "/data", 4096), 8);
    assert_eq!(first_byte(&disk, "/data", 0), 0, "never written since");
    disk.heal(stale);
    assert_eq!(first_byte(&disk, "/data", 4096), 9);
}

#[test]
fn bits_flip_for_one_read_or_for_good() {
    let (disk, file) = four_pages(Open::DURABLE);
    let ones = |bytes: &[u8]| bytes.iter().map(|byte| byte.count_ones()).sum::<u32>();
    let flip = disk.inject(Fault::new(FaultKind::FlipOnRead, "/data").when(When::Nth(1)));
    let mut buf = page(5);
    file.read_at(&mut buf, 0).unwrap();
    assert_eq!(ones(&buf), 1);
    file.read_at(&mut buf, 0).unwrap();
    assert_eq!(ones(&buf), 0);
    disk.heal(flip);
    disk.inject(Fault::new(FaultKind::FlipAtRest, "/data").when(When::Nth(1)));
    file.write_at(&page(0), 0).unwrap();
    file.read_at(&mut buf, 0).unwrap();
    assert_eq!(ones(&buf), 1);
    let after = disk.crash_image(&mut Rng::new(1), CrashStyle::DropAll);
    assert_eq!(ones(&after.read_raw("/data", 0, 4096)), 1);
}

#[test]
fn a_disk_at_rest_can_be_spoiled_and_searched() {
    let (disk, _) = four_pages(Open::DATA);
    let before = disk.snapshot();
    disk.corrupt("/data", 4097, &[0x80]);
    assert_eq!(disk.read_raw("/data", 4096, 3), [1, 0x81, 1]);
    disk.swap_blocks("/data", 0, 3);
    assert_eq!(first_byte(&disk, "/data", 0), 3);
    disk.write_raw("/data", 4095, b"needle");
    assert_eq!(disk.find_bytes(b"needle"), [("/data".into(), 4095)]);
    disk.truncate("/data", 4097);
    assert_eq!((disk.len_raw("/data"), disk.find_bytes(b"needle")), (4097, vec![]));
    assert!(!disk.same_content(&before));
    disk.take_from(&before, "/data");
    assert!(disk.same_content(&before));
    let after = disk.crash_image(&mut Rng::new(1), CrashStyle::DropAll);
    assert!(after.same_content(&before), "what the tools do is durable");
    disk.lose("/data");
    assert_eq!(disk.paths(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn bytes_on_their_way_are_found_too() {
    let disk = SimDisk::new();
    make(&disk, "/data", Open::DATA);
    let seen = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&seen);
    disk.observe(move |disk, event| {
        if event.kind == EventKind::Write {
            count.fetch_add(disk.find_bytes(b"secret").len() as u32, SeqCst);
        }
    });
    let file = disk.open("/data".as_ref(), Open { direct: false, ..Open::DATA }).unwrap();
    file.write_at(b"a secret of the house", 100).unwrap();
    assert_eq!(seen.load(SeqCst), 1);
    disk.remove("/data".as_ref()).unwrap();
    assert_eq!(disk.find_bytes(b"secret"), [("/data".into(), 102)], "its name is durable");
    disk.sync_dir("/".as_ref()).unwrap();
    assert_eq!(disk.find_bytes(b"secret"), [("/(unnamed)".into(), 102)]);
}

#[test]
fn a_bad_sector_spoils_only_reads_that_touch_it() {
    let (disk, file) = four_pages(Open::DATA);
    let bad = disk.inject(Fault::new(FaultKind::ReadError, "/data").within(5_000..5_512));
    let mut two = AlignedBuf::zeroed(8192);
    assert!(file.read_at(&mut two, 8192).is_ok());
    assert!(is_io_error(file.read_at(&mut two, 0)));
    assert!(file.read_at(&mut two[..4096], 0).is_ok());
    assert!(is_io_error(file.read_at(&mut two[..4096], 4096)));
    assert!(file.sync().is_ok());
    assert_eq!(disk.hits(bad), 2);
}

#[test]
fn a_crash_can_tear_every_write() {
    let (disk, file) = four_pages(Open::DATA);
    (0..4).for_each(|number| file.write_at(&page(9), number * 4096).unwrap());
    for seed in 0..100 {
        let after = disk.crash_image(&mut Rng::new(seed), CrashStyle::TearAll);
        for number in 0..4_u8 {
            let bytes = after.read_raw("/data", u64::from(number) * 4096, 4096);
            assert!(bytes.iter().any(|byte| *byte != 9), "seed {seed}: page {number} is whole");
        }
        assert_eq!(after.len_raw("/data"), 4 * 4096);
    }
}
