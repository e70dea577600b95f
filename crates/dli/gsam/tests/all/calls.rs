//! The statuses of calls (DLI-12.59, DLI-12.60 and DLI-12.62).

use base::Coded as _;
use holdfast_gsam::{Rsa, Status};
use seam::disk::Disk as _;
use seam::sim::SimDisk;

use crate::{contents, holding, pcb, variable};

#[test]
fn the_end_closes_and_the_next_record_is_the_first_again() {
    let disk = holding(b"ONE TWO ");
    let mut gsam = pcb(&disk, "G", "FB", 4, false);
    let mut area = *b"----";
    for round in 0..2 {
        assert_eq!(gsam.get_next(&mut area).status, Status::Done, "round {round}");
        assert_eq!(&area, b"ONE ");
        assert_eq!(gsam.get_next(&mut area).status, Status::Done);
        assert_eq!(gsam.get_next(&mut area).status, Status::Gb);
        assert_eq!(&area, b"TWO ", "the area stays as it is");
    }
}

#[test]
fn a_record_is_got_again_by_its_rsa_and_reading_goes_on_behind_it() {
    let disk = holding(b"ONE TWO FOUR");
    let mut gsam = pcb(&disk, "GS", "F", 4, false);
    let mut area = *b"----";
    let first = gsam.get_next(&mut area).rsa.unwrap();
    let second = gsam.get_next(&mut area).rsa.unwrap();
    gsam.get_next(&mut area);
    for bytes in [&second.basic()[..], &second.large()[..]] {
        let again = gsam.get_unique(Some(bytes), &mut area);
        assert_eq!((again.status, again.rsa), (Status::Done, Some(second)));
        assert_eq!(&area, b"TWO ");
    }
    gsam.get_next(&mut area);
    assert_eq!(&area, b"FOUR");
    assert_eq!(first.basic(), [0, 0, 0, 1, 0, 0, 0, 0]);
    assert_eq!(gsam.close(), Status::Done);
    assert_eq!(gsam.get_unique(Some(&first.basic()), &mut area).status, Status::Done, "it opens");
    assert_eq!(&area, b"ONE ");
}

#[test]
fn without_rsa_it_is_ah_and_with_a_bad_one_aj() {
    let disk = holding(b"ONE TWO FOUR");
    let mut gsam = pcb(&disk, "G", "F", 4, false);
    let mut area = *b"----";
    assert_eq!(gsam.get_unique(None, &mut area).status, Status::Ah);
    assert_eq!(gsam.get_next(&mut area).status, Status::Done);
    let inside = [0, 0, 0, 1, 0, 0, 0, 2];
    let behind = [0, 0, 0, 1, 0, 0, 0, 12];
    for bad in [&[0; 8][..], &[0x40; 8], b"        ", &[0xff; 12], b"123", b"", &inside, &behind] {
        assert_eq!(gsam.get_unique(Some(bad), &mut area).status, Status::Aj, "{bad:?}");
    }
    assert_eq!(gsam.get_next(&mut area).status, Status::Done);
    assert_eq!(&area, b"TWO ", "the place has not moved");
}

#[test]
fn an_rsa_must_lead_to_a_record_of_any_form() {
    let mut area = [0; 32];
    let lines = holding(b"one\ntwo\n");
    let mut gsam = pcb(&lines, "G", "F", 8, true);
    assert_eq!(gsam.get_unique(Some(&[0, 0, 0, 1, 0, 0, 0, 4]), &mut area).status, Status::Done);
    assert_eq!(&area[..8], b"two     ");
    assert_eq!(gsam.get_unique(Some(&[0, 0, 0, 1, 0, 0, 0, 5]), &mut area).status, Status::Aj);
    let records = holding(b"\0\x05\0\0A\0\x06\0\0BC");
    let mut gsam = pcb(&records, "G", "V", 32, false);
    assert_eq!(gsam.get_unique(Some(&[0, 0, 0, 1, 0, 0, 0, 5]), &mut area).status, Status::Done);
    assert_eq!(area[..4], *b"\0\x04BC");
    assert_eq!(gsam.get_unique(Some(&[0, 0, 0, 1, 0, 0, 0, 6]), &mut area).status, Status::Aj);
}

#[test]
fn each_direction_has_its_own_calls() {
    let disk = holding(b"ONE ");
    let mut area = *b"----";
    let mut input = pcb(&disk, "G", "F", 4, false);
    assert_eq!(input.insert(b"TWO ", 0).status, Status::Am);
    assert_eq!(input.open(b"OUT "), Status::Am);
    let mut output = pcb(&disk, "L", "F", 4, false);
    assert_eq!(output.get_next(&mut area).status, Status::Am);
    assert_eq!(output.get_unique(None, &mut area).status, Status::Am);
    assert_eq!(output.open(b"INP "), Status::Am);
    assert_eq!(output.open(b"NEW "), Status::Am);
    assert_eq!(contents(&disk), b"ONE ", "nobody touched it");
}

#[test]
fn a_file_that_cannot_be_opened_is_ai_and_then_ix() {
    let disk = SimDisk::new();
    let mut area = *b"----";
    let mut input = pcb(&disk, "G", "F", 4, false);
    for _ in 0..2 {
        assert_eq!(input.get_next(&mut area).status, Status::Ai);
    }
    assert_eq!(input.open(b"INP "), Status::Ai);
    let fault = input.fault().unwrap();
    assert_eq!(fault.code().0, "HFQ002");
    assert!(fault.to_string().contains("EXTRACT: /file cannot be opened"), "{fault}");
    let file = holdfast_gsam::FileSpec { path: "/no/such/folder".into(), text: false };
    let view = crate::view("L", "F", 4, 0);
    let mut output = holdfast_gsam::Gsam::new(std::sync::Arc::new(disk), &view, file).unwrap();
    assert_eq!(output.insert(b"ONE ", 0).status, Status::Ai);
    assert_eq!(output.insert(b"ONE ", 0).status, Status::Ix);
    assert_eq!(output.open(b""), Status::Ai, "it is tried again");
    assert_eq!(output.insert(b"ONE ", 0).status, Status::Ix);
}

#[test]
fn a_full_disk_is_ao_and_then_ix_and_no_commit() {
    let disk = SimDisk::new();
    disk.set_capacity(Some(1 << 20));
    let mut gsam = pcb(&disk, "LS", "F", 1000, false);
    let record = [b'x'; 1000];
    let mut calls = 0;
    let status = loop {
        calls += 1;
        let status = gsam.insert(&record, 0).status;
        if status != Status::Done {
            break status;
        }
    };
    assert_eq!(status, Status::Ao);
    assert!(calls > 1000, "{calls}");
    assert_eq!(gsam.fault().unwrap().code().0, "HFQ003");
    assert_eq!(gsam.insert(&record, 0).status, Status::Ix);
    assert!(gsam.sync().is_err(), "the checkpoint hears of it");
    // With room again nothing was lost.
    disk.set_capacity(None);
    gsam.sync().unwrap();
    assert_eq!(contents(&disk).len(), (calls - 1) * 1000);
}

#[test]
fn an_output_is_made_by_its_first_record_or_by_open() {
    let disk = SimDisk::new();
    let exists = || disk.exists("/file".as_ref()).unwrap();
    let mut gsam = pcb(&disk, "L", "V", 10, false);
    assert_eq!(gsam.insert(&variable(b"too long for it"), 0).status, Status::Af);
    gsam.sync().unwrap();
    assert_eq!(gsam.close(), Status::Done);
    assert!(!exists());
    assert_eq!(gsam.open(b"OUTM"), Status::Done);
    assert_eq!(gsam.open(b"OUT"), Status::Done, "it is open");
    assert!(exists());
    assert_eq!(gsam.close(), Status::Done);
    assert_eq!(contents(&disk), b"");
}

#[test]
fn records_with_a_bad_length_are_af_and_leave_the_file_as_it_was() {
    let disk = SimDisk::new();
    let mut gsam = pcb(&disk, "L", "VB", 10, false);
    let good = gsam.insert(&variable(b"12345678"), 0);
    assert_eq!((good.status, good.length), (Status::Done, 10));
    for bad in [&b"\0\0"[..], b"\0\x01", b"\0\x02", b"\0\x0b123456789", b"\xff\xff"] {
        assert_eq!(gsam.insert(bad, 0).status, Status::Af, "{bad:?}");
    }
    assert!(gsam.fault().unwrap().to_string().contains("record 2 of /file, at offset 12"));
    for short in [&b""[..], b"\0", b"\0\x0a1234567"] {
        assert_eq!(gsam.insert(short, 0).status, Status::Ab, "{short:?}");
    }
    gsam.close();
    assert_eq!(contents(&disk), b"\0\x0c\0\x0012345678");
    let mut gsam = pcb(&disk, "L", "U", 10, false);
    assert_eq!(gsam.insert(b"12345678901", 0).status, Status::Af);
    assert_eq!(gsam.insert(b"12345678901", 11).status, Status::Af);
    assert_eq!(gsam.insert(b"12345678901", 10).status, Status::Done);
    assert_eq!(gsam.insert(b"123", 4).status, Status::Ab);
    let mut gsam = pcb(&disk, "L", "F", 10, true);
    assert_eq!(gsam.insert(b"two\nlines.", 0).status, Status::Af);
}

#[test]
fn an_area_that_is_too_short_moves_nothing() {
    let disk = holding(b"\0\x09\0\0ABCDE");
    let mut gsam = pcb(&disk, "G", "V", 10, false);
    let mut area = *b"------";
    assert_eq!(gsam.get_next(&mut area).status, Status::Ab);
    assert_eq!(&area, b"------");
    let first = Rsa::read(&[0, 0, 0, 1, 0, 0, 0, 0]);
    let mut area = *b"-------";
    let outcome = gsam.get_next(&mut area);
    assert_eq!((outcome.status, outcome.rsa, outcome.length), (Status::Done, first, 7));
    assert_eq!(&area, b"\0\x07ABCDE");
}

#[test]
fn statuses_are_what_programs_test() {
    let codes = [
        (Status::Done, "  "),
        (Status::Ab, "AB"),
        (Status::Af, "AF"),
        (Status::Ah, "AH"),
        (Status::Ai, "AI"),
        (Status::Aj, "AJ"),
        (Status::Am, "AM"),
        (Status::Ao, "AO"),
        (Status::Gb, "GB"),
        (Status::Ix, "IX"),
    ];
    assert!(codes.iter().all(|(status, code)| status.code() == code.as_bytes()));
}
