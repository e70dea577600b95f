//! Files that were written here: counts, order, lengths, names in ASCII, and size.

use std::io::{Read, Result};

use holdfast_unload::{Counts, Deleted, Encoding, Form, Reader, SegmentType, UnloadError, Writer};

use crate::support::{offsets, read, segment_type, write};

/// A: B: C, D; E. With prefixes a segment has at most 40 bytes.
fn types() -> Vec<SegmentType> {
    [(1, 1, "A"), (2, 2, "B"), (3, 3, "C"), (4, 3, "D"), (5, 2, "E")]
        .map(|(code, level, name)| segment_type(code, level, name, 40))
        .to_vec()
}

fn counts(words: [u32; 5]) -> Counts {
    let [segments, max_twins, twins, max_children, children] = words;
    Counts { segments, max_twins, twins, max_children, children }
}

#[test]
fn twins_and_children_are_counted_by_parent() {
    let codes = [1, 2, 3, 3, 4, 2, 3, 5, 5, 5, 1, 1, 2, 4, 4];
    let segments: Vec<(u8, &[u8])> = codes.iter().map(|code| (*code, &b"x"[..])).collect();
    let file = write(&types(), &segments).expect("it is in order");
    let (read, trailer) = read(&file).expect("it is good");
    assert_eq!(read.iter().map(|segment| segment.0).collect::<Vec<_>>(), codes);
    let expected = [
        counts([3, 1, 3, 5, 6]),
        counts([3, 2, 3, 3, 6]),
        counts([3, 2, 3, 0, 0]),
        counts([3, 2, 3, 0, 0]),
        counts([3, 3, 3, 0, 0]),
    ];
    assert_eq!(trailer, expected);
}

#[test]
fn what_is_out_of_order_is_refused_and_leaves_no_trace() {
    // Segments that stand, the one that cannot follow, and why.
    let cases: [(&[u8], u8, &str); 6] = [
        (&[], 2, "no A came before it"),
        (&[1], 3, "no B came before it"),
        (&[1, 2, 4], 3, "a D came before it"),
        (&[1, 2, 3, 5], 2, "a E came before it"),
        (&[1, 2, 5], 4, "no B came before it"),
        (&[1, 2, 1], 3, "no B came before it"),
    ];
    for (before, code, reason) in cases {
        let mut writer = Writer::new(Vec::new(), &types()).expect("the types are good");
        for code in before {
            writer.segment(*code, b"x").expect("it is in order");
        }
        let counted = writer.counts().to_vec();
        let error = writer.segment(code, b"x").expect_err(reason);
        assert!(error.to_string().contains(reason), "{error}");
        assert!(matches!(error, UnloadError::Order { .. }));
        assert_eq!(writer.counts(), counted);
        let file = writer.finish().expect("memory takes everything");
        assert_eq!(read(&file).expect("it is good").0.len(), before.len());
    }
}

#[test]
fn lengths_are_checked_when_writing() {
    let mut writer = Writer::new(Vec::new(), &types()).expect("the types are good");
    writer.declare(2, Form::Fixed(3)).expect("there is one");
    writer.declare(3, Form::Variable { min: 4, max: 6 }).expect("there is one");
    writer.segment(1, &[7; 40]).expect("it is as long as can be");
    let wrong: [(u8, &[u8]); 8] = [
        (1, &[]),
        (1, &[7; 41]),
        (1, &[7; 70_000]),
        (2, b"four"),
        (3, b"1"),
        (3, b"\0\x05four"),
        (3, b"\0\x03x"),
        (3, b"\0\x07sevnn"),
    ];
    writer.segment(2, b"two").expect("it has its length");
    for (code, data) in wrong {
        let error = writer.segment(code, data).expect_err("it has a wrong length");
        assert!(matches!(error, UnloadError::Length { .. }), "{error}");
        assert!(error.to_string().starts_with("record 4 at offset "), "{error}");
    }
    writer.segment(3, b"\0\x06four").expect("it has its length");
    let error = writer.segment(9, b"x").expect_err("there is no such type");
    assert_eq!(error.to_string(), "no segment type has the code 9");
    assert!(writer.declare(9, Form::Fixed(1)).is_err());
    let file = writer.finish().expect("memory takes everything");
    assert_eq!(read(&file).expect("it is good").0[2].2, b"\0\x06four");
}

#[test]
fn declared_lengths_are_checked_when_reading() {
    let file = write(&types(), &[(1, b"four"), (2, b"\0\x05abc")]).expect("it is in order");
    let cases = [
        (
            1,
            Form::Fixed(5),
            "record 2 at offset 208: A cannot have a length of 4: its \
                             definition says 5",
        ),
        (2, Form::Variable { min: 6, max: 9 }, "its definition says 6 to 9"),
        (1, Form::Variable { min: 2, max: 9 }, "its length field says 26223"),
    ];
    for (code, form, printed) in cases {
        let mut reader = Reader::new(&file[..]).expect("it is one");
        reader.declare(code, form).expect("there is one");
        let error = loop {
            match reader.next_record() {
                Ok(record) => assert!(record.is_some(), "{printed}"),
                Err(error) => break error,
            }
        };
        assert!(error.to_string().contains(printed), "{error}");
    }
}

#[test]
fn types_that_are_no_hierarchy_are_refused() {
    let root = segment_type(1, 1, "A", 40);
    let wrong: [&[SegmentType]; 8] = [
        &[],
        &[segment_type(0, 1, "A", 40)],
        &[segment_type(1, 2, "A", 40)],
        &[root, segment_type(1, 2, "B", 40)],
        &[root, segment_type(2, 1, "B", 40)],
        &[root, segment_type(2, 3, "B", 40)],
        &[root, segment_type(2, 2, "A", 40)],
        &[segment_type(1, 1, "A", 0x8000)],
    ];
    for types in wrong {
        let error = Writer::new(Vec::new(), types).expect_err("it is no hierarchy");
        assert!(matches!(error, UnloadError::Types(_)), "{error}");
    }
}

#[test]
fn names_may_be_ascii() {
    let mut file = write(&types(), &[(1, b"x"), (2, b"y")]).expect("it is in order");
    for at in 0..file.len() - 8 {
        let is_name = (0xc1..=0xc5).contains(&file[at]) && file[at + 1..at + 8] == [0x40; 7];
        if is_name {
            file[at] -= 0x80;
            file[at + 1..at + 8].fill(b' ');
        }
    }
    let reader = Reader::new(&file[..]).expect("it is one");
    assert_eq!(reader.encoding(), Encoding::Ascii);
    assert_eq!(read(&file).expect("it is good").0[1].1, "B");
}

#[test]
fn a_database_may_be_empty() {
    let file = write(&types(), &[]).expect("there is nothing wrong");
    assert_eq!(read(&file).expect("it is good").0, []);
}

/// Gives a few bytes at a time, and is interrupted in between.
struct Dripping<'a>(&'a [u8], usize);

impl Read for Dripping<'_> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        self.1 += 1;
        if self.1.is_multiple_of(3) {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        let count = into.len().min(self.1 % 7 + 1);
        self.0.read(&mut into[..count])
    }
}

#[test]
fn a_segment_says_on_which_paths_it_was_deleted() {
    let all = [(false, false), (true, false), (false, true), (true, true)];
    let all = all.map(|(physically, logically)| Deleted { physically, logically });
    let mut writer = Writer::new(Vec::new(), &types()).expect("the types are good");
    for deleted in all {
        writer.marked(1, deleted, b"x").expect("a root can follow");
    }
    let file = writer.finish().expect("memory takes everything");
    let flags: Vec<u8> = offsets(&file).iter().map(|at| file[at + 5]).collect();
    assert_eq!(flags, [0x80, 0x80, 0x81, 0x82, 0x83, 0x98]);
    let mut reader = Reader::new(&file[..]).expect("it is one");
    for deleted in all {
        let record = reader.next_record().expect("it is good").expect("there are four");
        assert_eq!(record.deleted, deleted);
    }
    assert_eq!(reader.next_record().expect("it is good").map(|one| one.data.len()), None);
}

#[test]
fn many_segments_pass_through_the_buffers() {
    let mut writer = Writer::new(Vec::new(), &[segment_type(1, 1, "A", 0x7fff)]).expect("good");
    let data: Vec<u8> = (0..0x7fff_u32).map(|at| at as u8).collect();
    for length in (1..0x7fff).step_by(97) {
        writer.segment(1, &data[..length]).expect("it can be written");
    }
    let file = writer.finish().expect("memory takes everything");
    let mut reader = Reader::new(Dripping(&file, 0)).expect("it is one");
    for length in (1..0x7fff).step_by(97) {
        let record = reader.next_record().expect("it is good").expect("there are more");
        assert_eq!(record.data, &data[..length]);
    }
    assert!(reader.next_record().expect("it is good").is_none());
}
