//! Checkpoints and restarts (DLI-12.54, DLI-12.55 and DLI-12.63).

use base::Coded as _;
use holdfast_gsam::{Place, Status};
use seam::sim::{CrashStyle, Rng, SimDisk};

use crate::{contents, holding, pcb, read_all};

fn record(number: usize) -> [u8; 80] {
    let mut record = [b' '; 80];
    record[..12].copy_from_slice(format!("RECORD{number:06}").as_bytes());
    record
}

#[test]
fn input_goes_on_behind_the_last_record_that_was_read() {
    let file: Vec<u8> = (0..10).flat_map(record).collect();
    let disk = holding(&file);
    let mut gsam = pcb(&disk, "GS", "FB", 80, false);
    let mut area = [0; 80];
    for _ in 0..4 {
        gsam.get_next(&mut area);
    }
    let place = gsam.place();
    assert_eq!(place, Place::Input { offset: 320, records: 4 });
    gsam.get_next(&mut area);
    let kept = Place::decode(&place.encode()).unwrap();
    let mut again = pcb(&disk, "GS", "FB", 80, false);
    again.reposition(&kept).unwrap();
    assert_eq!(again.place(), place);
    let rest = read_all(&mut again);
    assert_eq!(rest.len(), 6);
    assert_eq!(rest[0], record(4));
}

#[test]
fn a_file_that_was_not_open_is_opened_as_at_a_normal_start() {
    let disk = holding(&record(1));
    let mut gsam = pcb(&disk, "G", "F", 80, false);
    assert_eq!(gsam.place(), Place::Closed);
    assert_eq!(read_all(&mut gsam).len(), 1);
    assert_eq!(gsam.place(), Place::Closed, "at its end");
    gsam.reposition(&Place::Closed).unwrap();
    assert_eq!(read_all(&mut gsam).len(), 1);
}

/// After any crash the file is as it was at the checkpoint, and what is written then stands
/// behind it; also where the file ends within a block that a torn write spoils.
#[test]
fn output_is_cut_back_to_the_checkpoint_after_any_crash() {
    const STYLES: [CrashStyle; 4] =
        [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::Random, CrashStyle::TearAll];
    let whole: Vec<u8> = (0..200).flat_map(record).collect();
    for (before, after) in [(0, 3), (51, 0), (60, 100), (1, 3300), (52, 3300), (100, 3300)] {
        for style in STYLES {
            for seed in 0..24 {
                let disk = SimDisk::new();
                let mut gsam = pcb(&disk, "LS", "FB", 80, false);
                assert_eq!(gsam.open(b"OUT "), Status::Done);
                (0..before).for_each(|n| {
                    gsam.insert(&record(n), 0);
                });
                gsam.sync().unwrap();
                let place = gsam.place().encode();
                (0..after).for_each(|n| {
                    gsam.insert(&record(900 + n), 0);
                });
                if seed % 2 == 0 {
                    // A second checkpoint that did not commit.
                    let _ = gsam.sync();
                    (0..7).for_each(|n| {
                        gsam.insert(&record(990 + n), 0);
                    });
                }
                let disk = disk.crash_image(&mut Rng::new(seed), style);
                let mut again = pcb(&disk, "LS", "FB", 80, false);
                again.reposition(&Place::decode(&place).unwrap()).unwrap();
                (before..200).for_each(|n| {
                    assert_eq!(again.insert(&record(n), 0).status, Status::Done);
                });
                assert_eq!(again.close(), Status::Done);
                assert!(contents(&disk) == whole, "{before} {after} {style:?} {seed}");
            }
        }
    }
}

/// What is in the buffer, but not synced, is in no file that a crash leaves behind for sure; the
/// checkpoint's sync is what makes it so.
#[test]
fn sync_makes_everything_durable_the_name_of_the_file_too() {
    let disk = SimDisk::new();
    let mut gsam = pcb(&disk, "L", "F", 80, false);
    gsam.insert(&record(1), 0);
    let before = disk.crash_image(&mut Rng::new(1), CrashStyle::DropAll);
    assert!(!seam::disk::Disk::exists(&before, "/file".as_ref()).unwrap());
    gsam.sync().unwrap();
    let after = disk.crash_image(&mut Rng::new(1), CrashStyle::DropAll);
    assert_eq!(contents(&after), record(1));
}

#[test]
fn a_sync_that_failed_is_never_repeated_with_success() {
    use seam::sim::{Fault, FaultKind};
    let disk = SimDisk::new();
    let mut gsam = pcb(&disk, "L", "F", 80, false);
    gsam.insert(&record(1), 0);
    let fault = disk.inject(Fault::new(FaultKind::SyncError, "/file"));
    assert_eq!(gsam.sync().unwrap_err().code().0, "HFQ003");
    disk.heal(fault);
    assert!(gsam.sync().is_err());
    assert_eq!(gsam.close(), Status::Ao);
}

#[test]
fn a_restart_refuses_a_file_that_cannot_be_the_same() {
    let place = Place::Output { offset: 160, records: 2, tail: vec![b'x'; 160] };
    let short = holding(&record(1));
    let error = pcb(&short, "L", "F", 80, false).reposition(&place).unwrap_err();
    assert_eq!(error.code().0, "HFQ005");
    assert!(error.to_string().contains("has 80 bytes, and at the checkpoint it had 160"));
    let error = pcb(&SimDisk::new(), "L", "F", 80, false).reposition(&place).unwrap_err();
    assert_eq!(error.code().0, "HFQ002");
    let error = pcb(&short, "G", "F", 80, false).reposition(&place).unwrap_err();
    assert_eq!(error.code().0, "HFQ006");
    let input = Place::Input { offset: 81, records: 1 };
    let mut reader = pcb(&short, "G", "F", 80, false);
    assert_eq!(reader.reposition(&input).unwrap_err().code().0, "HFQ005");
    assert_eq!(reader.place(), Place::Closed);
}
