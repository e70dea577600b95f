//! Files that are wrong, and what is said about them: every code of the crate.

use std::io::{Error, Read, Result};

use base::Coded;
use holdfast_unload::{Form, Name, Reader, UnloadError};

use crate::support::{GENUINE, offsets, read};

/// The genuine file, changed.
fn changed(change: impl FnOnce(&mut Vec<u8>, &[usize])) -> UnloadError {
    let mut file = GENUINE.to_vec();
    change(&mut file, &offsets(GENUINE));
    read(&file).expect_err("the change makes it wrong")
}

fn check(error: &UnloadError, code: &str, printed: &str) {
    assert_eq!(error.code().0, code, "{error}");
    assert!(error.to_string().contains(printed), "{error} does not say {printed}");
    assert!(!error.remedy().is_empty());
}

#[test]
fn other_files_are_recognized() {
    for (file, printed) in [
        (&b""[..], "found the end of the file"),
        (b"\x00\x58\0", "found the end of the file"),
        (b"IDENTIFICATION DIVISION.", "found x'4944454e'"),
        (&GENUINE[4..], "expected the descriptor word of a header"),
        (&GENUINE[88..], "expected a header with 0080 at offset 4, found x'0180'"),
    ] {
        check(&read(file).expect_err(printed), "HFF002", printed);
    }
    check(&changed(|file, _| file[7] = 0x28), "HFF002", "found 40 in a record of 88");
    check(&changed(|file, _| file[8] = 0), "HFF002", "expected the name of the root");
}

#[test]
fn the_table_of_types_is_checked() {
    check(&changed(|file, _| file[44] = 0), "HFF003", "the code of PAUTSUM0, 0");
    check(&changed(|file, _| file[85] = 3), "HFF003", "PAUTDTL1 is on level 3");
    check(&changed(|file, _| file[48] = 0), "HFF003", "name 2 is x'00c1");
}

#[test]
fn damage_is_said_with_its_place() {
    let cases: [(usize, u8, &str); 9] = [
        (0, 0x01, "expected 240 bytes for 200 bytes of data, found 496"),
        (2, 0x01, "expected a descriptor word"),
        (4, 0x09, "expected the code of a segment type of the header, found 9"),
        (4, 0x01, "expected the name PAUTSUM0, as the header has it for this code"),
        (5, 0x90, "expected a segment code and flags 80"),
        (5, 0x84, "expected a segment code and flags 80 to 83"),
        (7, 0x24, "expected 0023 at offset 6, found 0024"),
        (9, 0xc6, "expected 238 bytes for 198 bytes of data, found 240"),
        (10, 0x00, "expected the name PAUTDTL1"),
    ];
    for (at, byte, printed) in cases {
        let error = changed(|file, offsets| file[offsets[7] + at] = byte);
        check(&error, "HFF004", printed);
        check(&error, "HFF004", "record 8 at offset 1428: ");
    }
}

#[test]
fn order_is_checked() {
    let error = changed(|file, offsets| drop(file.drain(offsets[1]..offsets[2])));
    check(&error, "HFF005", "record 2 at offset 88: PAUTDTL1 cannot stand here: no PAUTSUM0");
}

#[test]
fn a_file_that_was_cut_off_is_noticed() {
    let offsets = offsets(GENUINE);
    for end in [offsets[1], offsets[5], offsets[5] + 1, offsets[6] - 1, GENUINE.len() - 1] {
        let error = read(&GENUINE[..end]).expect_err("it is cut off");
        check(&error, "HFF006", "the file ends before its trailer, with record ");
    }
}

#[test]
fn the_trailer_is_checked() {
    let error = changed(|file, offsets| drop(file.drain(offsets[7]..offsets[8])));
    check(&error, "HFF007", "counts 202 segments PAUTDTL1, the file has 201");
    let error = changed(|file, offsets| file[offsets[225] + 84] = 7);
    check(&error, "HFF004", "expected the header's segment type");
    let error = changed(|file, offsets| file[offsets[225] + 7] = 0);
    check(&error, "HFF004", "expected a trailer with 80 bytes");
    let error = changed(|file, offsets| file[offsets[225] + 8] = 0);
    check(&error, "HFF004", "expected a trailer, found this is no HD unload file");
    check(&changed(|file, _| file.push(0)), "HFF008", "with record 227 at offset 51736");
}

#[test]
fn lengths_are_checked() {
    let error = changed(|file, offsets| file[offsets[7] + 8] = 1);
    check(&error, "HFF009", "record 8 at offset 1428: PAUTDTL1 cannot have a length of 456");
    let mut reader = Reader::new(GENUINE).expect("it is one");
    let error = reader.declare(3, Form::Fixed(1)).expect_err("no type 3");
    check(&error, "HFF010", "3");
}

#[test]
fn reading_on_gives_the_same_error() {
    let mut file = GENUINE.to_vec();
    file[88 + 4] = 3;
    let mut reader = Reader::new(&file[..]).expect("it is one");
    let first = reader.next_record().expect_err("it is damaged").to_string();
    assert_eq!(reader.next_record().expect_err("it still is").to_string(), first);
}

struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> Result<usize> {
        Err(Error::other("the disk is gone"))
    }
}

#[test]
fn a_source_that_fails_is_said() {
    let mut reader = Reader::new(GENUINE[..100].chain(Broken)).expect("the header is there");
    check(&reader.next_record().expect_err("it fails"), "HFF001", "the disk is gone");
    let many = UnloadError::TooMany { segment: Name::new("A").expect("a name") };
    check(&many, "HFF011", "more than 4294967295 segments A");
}
