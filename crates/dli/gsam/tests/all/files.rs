//! How records look in files (DLI-12.61 and DLI-12.63).

use std::sync::Arc;

use base::Coded as _;
use holdfast_gsam::{FileSpec, Form, Gsam, Place, Status};
use seam::sim::SimDisk;

use crate::{contents, holding, pcb, read_all, variable, view, write_all};

fn records(of: &[&[u8]]) -> Vec<Vec<u8>> {
    of.iter().map(|one| one.to_vec()).collect()
}

#[test]
fn fixed_records_stand_without_delimiters() {
    let disk = SimDisk::new();
    let given = records(&[b"ONE ", b"\0\x0a\xff ", b"    "]);
    write_all(&mut pcb(&disk, "L", "FBA", 4, false), &given);
    assert_eq!(contents(&disk), b"ONE \0\x0a\xff     ");
    assert_eq!(read_all(&mut pcb(&disk, "G", "FBA", 4, false)), given);
}

#[test]
fn variable_records_have_descriptors_of_two_more() {
    let disk = SimDisk::new();
    let given = vec![variable(b"ONE"), variable(b"\n"), variable(b"LONGER ONE")];
    write_all(&mut pcb(&disk, "L", "VB", 12, false), &given);
    assert_eq!(contents(&disk), b"\0\x07\0\0ONE\0\x05\0\0\n\0\x0e\0\0LONGER ONE");
    assert_eq!(read_all(&mut pcb(&disk, "G", "VB", 12, false)), given);
}

#[test]
fn undefined_records_have_their_length_in_the_pcb() {
    let disk = SimDisk::new();
    let given = records(&[b"A", b"LONGER"]);
    write_all(&mut pcb(&disk, "L", "U", 6, false), &given);
    assert_eq!(contents(&disk), b"\0\x05\0\0A\0\x0a\0\0LONGER");
    assert_eq!(read_all(&mut pcb(&disk, "G", "U", 6, false)), given);
}

#[test]
fn lines_become_records_filled_with_blanks() {
    let disk = holding(b"one\r\n\n  two  \nlast one");
    let fixed = read_all(&mut pcb(&disk, "G", "F", 8, true));
    assert_eq!(fixed, records(&[b"one     ", b"        ", b"  two   ", b"last one"]));
    let undefined = read_all(&mut pcb(&disk, "G", "U", 8, true));
    assert_eq!(undefined, records(&[b"one", b"", b"  two  ", b"last one"]));
    let ll = read_all(&mut pcb(&disk, "G", "V", 10, true));
    assert_eq!(ll[0], variable(b"one"));
    assert_eq!(ll[1], variable(b" "), "no record is shorter");
}

#[test]
fn records_become_lines_without_the_blanks_at_their_ends() {
    let disk = SimDisk::new();
    let given = records(&[b"one     ", b"        ", b"  two   "]);
    write_all(&mut pcb(&disk, "L", "F", 8, true), &given);
    assert_eq!(contents(&disk), b"one\n\n  two\n");
    write_all(&mut pcb(&disk, "L", "V", 10, true), &[variable(b"two  "), variable(b"x")]);
    assert_eq!(contents(&disk), b"two  \nx\n");
}

#[test]
fn output_begins_at_the_front_of_an_old_file() {
    let disk = holding(b"much that was there before");
    write_all(&mut pcb(&disk, "L", "F", 4, false), &records(&[b"NEW "]));
    assert_eq!(contents(&disk), b"NEW ");
}

#[test]
fn what_is_no_record_is_af_and_named() {
    for (bytes, format, most, text, good, words) in [
        (&b"ONE TW"[..], "F", 4, false, 1, "the file ends after 2 of its 4 bytes"),
        (b"\0\x05\0\0A\0\x05\0", "V", 9, false, 1, "is no descriptor"),
        (b"\0\x05\0\x01A", "V", 9, false, 0, "is no descriptor"),
        (b"\0\x03\0\0", "V", 9, false, 0, "says 3 bytes, not 4 to 11"),
        (b"\0\x0c\0\x0012345678", "V", 9, false, 0, "says 12 bytes"),
        (b"\0\x0b\0\x00123", "V", 9, false, 0, "the file ends after 7 of its 11 bytes"),
        (b"\0\x0e\0\x001234567890", "U", 9, false, 0, "says 14 bytes, not 4 to 13"),
        (b"a line\nlonger than that\n", "F", 6, true, 1, "longer than 6 bytes"),
        (b"1234567", "F", 6, true, 0, "longer than 6 bytes"),
    ] {
        let disk = holding(bytes);
        let mut gsam = pcb(&disk, "G", format, most, text);
        let mut area = [0; 16];
        for _ in 0..good {
            assert_eq!(gsam.get_next(&mut area).status, Status::Done, "{words}");
        }
        for _ in 0..2 {
            assert_eq!(gsam.get_next(&mut area).status, Status::Af, "{words}");
        }
        let fault = gsam.fault().unwrap();
        assert_eq!(fault.code().0, "HFQ004");
        assert!(fault.to_string().contains(words), "{fault}");
        assert!(fault.to_string().contains(&format!("record {} of /file", good + 1)), "{fault}");
    }
}

#[test]
fn records_longer_than_any_buffer_boundary_are_read_back() {
    let disk = SimDisk::new();
    let given: Vec<Vec<u8>> =
        (0..40_u8).map(|n| variable(&vec![n; 32_000 - 37 * usize::from(n)])).collect();
    write_all(&mut pcb(&disk, "LS", "VB", 32_767, false), &given);
    assert!(contents(&disk).len() > 4 * 256 * 1024);
    assert_eq!(read_all(&mut pcb(&disk, "GS", "VB", 32_767, false)), given);
}

#[test]
fn what_another_program_appends_is_seen() {
    let disk = SimDisk::new();
    let mut writer = pcb(&disk, "L", "F", 4, false);
    let mut reader = pcb(&disk, "G", "F", 4, false);
    let mut area = *b"----";
    for record in [b"ONE ", b"TWO "] {
        assert_eq!(writer.insert(record, 0).status, Status::Done);
        writer.sync().unwrap();
        assert_eq!(reader.get_next(&mut area).status, Status::Done);
        assert_eq!(&area, record);
    }
}

#[test]
fn a_dummy_is_at_its_end_and_takes_everything() {
    let make = |options: &str| {
        let file = FileSpec { path: "/dev/null".into(), text: false };
        Gsam::new(Arc::new(SimDisk::new()), &view(options, "F", 4, 0), file).unwrap()
    };
    let mut area = *b"----";
    assert_eq!(make("G").get_next(&mut area).status, Status::Gb);
    let mut output = make("L");
    for _ in 0..100_000 {
        assert_eq!(output.insert(b"GONE", 0).status, Status::Done);
    }
    output.sync().unwrap();
    let place = output.place();
    assert!(matches!(place, Place::Output { offset: 400_000, records: 100_000, .. }), "{place:?}");
    let mut again = make("L");
    again.reposition(&place).unwrap();
    assert_eq!(again.place(), place);
    assert_eq!(again.close(), Status::Done);
}

#[test]
fn a_definition_must_say_how_records_look() {
    let form = |format: Option<&str>, most, least| {
        let mut view = view("G", "F", most, least);
        view.record_format = format.map(str::to_owned);
        let file = FileSpec { path: "/file".into(), text: false };
        Gsam::new(Arc::new(SimDisk::new()), &view, file).map(|gsam| gsam.form())
    };
    for (format, most, least, expected) in [
        (Some("FBA"), 80, 0, Form::Fixed { len: 80 }),
        (Some("F"), 80, 80, Form::Fixed { len: 80 }),
        (Some("V"), 80, 0, Form::Variable { most: 80, least: 3 }),
        (Some("VB"), 80, 20, Form::Variable { most: 80, least: 20 }),
        (Some("VB"), 80, 80, Form::Variable { most: 80, least: 3 }),
        (Some("U"), 80, 0, Form::Undefined { most: 80 }),
        (Some("U"), 0, 0, Form::Undefined { most: 32_752 }),
        (None, 80, 0, Form::Fixed { len: 80 }),
        (None, 80, 10, Form::Variable { most: 80, least: 10 }),
        (None, 0, 0, Form::Undefined { most: 32_752 }),
    ] {
        let found = form(format, most, least).unwrap();
        assert_eq!(found, expected, "{format:?} {most} {least}");
    }
    for (format, most, words) in [
        (Some("FB"), 0, "RECFM=FB needs RECORD="),
        (Some("V"), 2, "no room behind LL"),
        (Some("X"), 80, "none of F, V and U"),
        (Some(""), 80, "none of F, V and U"),
        (Some("F"), 32_768, "32767 is the most"),
    ] {
        let error = form(format, most, 0).unwrap_err();
        assert_eq!(error.code().0, "HFQ001");
        assert!(error.to_string().contains(words), "{error}");
        assert!(error.remedy().ends_with('.'));
    }
}
