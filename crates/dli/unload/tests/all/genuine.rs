//! The genuine file, read and written again.

use holdfast_unload::{Counts, Encoding, Form, Reader, Writer};

use crate::support::{GENUINE, offsets, read, segment_type};

#[test]
fn the_header_names_the_segments() {
    let reader = Reader::new(GENUINE).expect("it is one");
    let root = segment_type(1, 1, "PAUTSUM0", 114);
    let dependent = segment_type(2, 2, "PAUTDTL1", 206);
    assert_eq!(reader.segments(), [root, dependent]);
    assert_eq!(reader.encoding(), Encoding::Ebcdic);
    assert!(reader.trailer().is_none());
}

#[test]
fn the_trailer_counts_what_there_is() {
    let (segments, trailer) = read(GENUINE).expect("it is good");
    let root = Counts { segments: 22, max_twins: 1, twins: 22, max_children: 58, children: 202 };
    let dependent =
        Counts { segments: 202, max_twins: 58, twins: 202, max_children: 0, children: 0 };
    assert_eq!(trailer, [root, dependent]);
    assert_eq!(segments.len(), 224);
    for (code, name, data) in &segments {
        let expected = if *code == 1 { ("PAUTSUM0", 100) } else { ("PAUTDTL1", 200) };
        assert_eq!((name.as_str(), data.len()), expected);
    }
    assert_eq!(segments[0].2[..6], [0, 0, 0, 0, 0, 0x1c]);
    assert_eq!(segments[223].2[..6], [0x40; 6], "the last root's key is no packed number");
}

#[test]
fn lengths_can_be_declared() {
    let mut reader = Reader::new(GENUINE).expect("it is one");
    reader.declare(1, Form::Fixed(100)).expect("there is a root");
    reader.declare(2, Form::Fixed(200)).expect("there is a dependent");
    while reader.next_record().expect("it is good").is_some() {}
    assert_eq!(reader.counts(), reader.trailer().expect("it was read"));
}

#[test]
fn records_say_where_they_stand() {
    let mut reader = Reader::new(GENUINE).expect("it is one");
    let offsets = offsets(GENUINE);
    for (index, offset) in offsets[1..225].iter().enumerate() {
        let record = reader.next_record().expect("it is good").expect("there are more");
        assert_eq!(record.place.record, index as u64 + 2);
        assert_eq!(record.place.offset, *offset as u64);
    }
    assert!(reader.next_record().expect("it is good").is_none());
    assert!(reader.next_record().expect("it stays at its end").is_none());
}

#[test]
fn written_again_it_differs_in_prefix_copies_only() {
    let mut reader = Reader::new(GENUINE).expect("it is one");
    let mut writer = Writer::new(Vec::new(), reader.segments()).expect("the types are good");
    while let Some(record) = reader.next_record().expect("it is good") {
        writer.segment(record.segment.code, record.data).expect("it can be written");
    }
    let written = writer.finish().expect("memory takes everything");
    let mut expected = GENUINE.to_vec();
    let offsets = offsets(GENUINE);
    for offset in &offsets[1..225] {
        expected[offset + 18..offset + 39].fill(0);
    }
    assert!(written == expected, "only the copies of prefixes may differ");
    assert_eq!(read(&written).expect("it is good"), read(GENUINE).expect("it is good"));
}
