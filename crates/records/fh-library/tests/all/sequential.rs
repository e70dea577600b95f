//! Sequential files.

use crate::stage::{Stage, With};

/// What `seqstat.cbl` displays, from the rules of each status.
const STATUSES: &str = "\
close            42
read             47
write            48
rewrite          49
open missing     35
read             47
extend missing   35
open output      00
open again       41
read output      47
rewrite output   49
write            00
close            00
close again      42
open i-o         00
no read          43
write i-o        48
rewrite          00
rewrite twice    43
CCCCCCCCCC
end              10
behind end       46
no rewind        07
extend           00
AAAAAAAAAA
XXXXXXXXXX
CCCCCCCCCC
DDDDDDDDDD
write input      48
lock             00
locked           38
optional         05
its end          10
behind it        46
close            00
optional         05
made             00
variable         00
too short        44
00005 11111                   <
same length      00
00020 22222222222222222222    <
other length     44
end              10
33333
";

#[test]
fn every_request_has_the_status_of_its_files_state() {
    let stage = Stage::new("seqstat");
    assert_eq!(stage.play("seqstat", With::Library, &[]), STATUSES);
    // The run time's own files agree but where they refuse to rewrite a record of the same length.
    let native = Stage::new("seqstat-n");
    let printed = native.play("seqstat", With::RunTime, &[]);
    let differ = printed.lines().zip(STATUSES.lines()).filter(|(theirs, ours)| theirs != ours);
    let differ: Vec<_> = differ.collect();
    assert_eq!(differ, [("same length      44", "same length      00"), ("11111", "33333")]);
    for name in ["AFILE", "OFILE"] {
        assert_eq!(stage.bytes(name), native.bytes(name), "{name}");
    }
    assert_eq!(stage.bytes("VFILE").len(), native.bytes("VFILE").len());
}

#[test]
fn record_descriptor_words_count_themselves() {
    let stage = Stage::new("rdw");
    let path = stage.path("words").display().to_string();
    let printed = stage.play("seqstat", With::Library, &[("VFILE", &format!("{path},rdw"))]);
    assert_eq!(printed, STATUSES);
    let bytes = stage.bytes("words");
    assert_eq!((&bytes[..9], &bytes[9..13]), (&b"\0\x09\0\x0033333"[..], &b"\0\x18\0\0"[..]));
    assert_eq!(bytes.len(), 9 + 24);
}

#[test]
fn sort_reads_and_writes_the_same_files() {
    let printed = Stage::new("sorts").play("sorts", With::Library, &[]);
    assert_eq!(printed, "ALPHA\nBRAVO\nCHARLIE\n00\n");
}

#[test]
fn a_file_that_ends_inside_a_record_is_told_and_nothing_old_is_taken_for_data() {
    let stage = Stage::new("cut");
    stage.write("AFILE", b"AAAAAAAAAABBBB");
    stage.write("VFILE", b"\0\x05\0\x0011111\0\x14\0\x002222");
    let expected = "00 AAAAAAAAAA<\n04 BBBB      <\n10 BBBB      <\n\
                    00 0005 11111               <\n30 0000 11111               <\n";
    assert_eq!(stage.play("cut", With::Library, &[]), expected);
    // Of the length itself a part.
    stage.write("VFILE", b"\0\x05\0\x0011111\0");
    assert_eq!(stage.play("cut", With::Library, &[]), expected);
    // A record that is longer than the program's, and cut.
    stage.write("VFILE", b"\0\x05\0\x0011111\0\x20\0\x002222222222222222222222");
    assert_eq!(stage.play("cut", With::Library, &[]), expected);
}

#[test]
fn files_are_concatenated() {
    let stage = Stage::new("chain");
    stage.write("one", b"AAAAAAAAAA");
    stage.write("two", b"BBBBBBBBBBCCCCCCCCCC");
    stage.write("VFILE", b"");
    let [one, two] = ["one", "two"].map(|name| stage.path(name).display().to_string());
    let printed = stage.play("cut", With::Library, &[("AFILE", &format!("{one}:{two}"))]);
    let read = "00 AAAAAAAAAA<\n00 BBBBBBBBBB<\n00 CCCCCCCCCC<\n10 CCCCCCCCCC<\n";
    assert!(printed.starts_with(read), "{printed}");
    let printed = stage.play("cut", With::Library, &[("AFILE", &format!("{one}:{two}x"))]);
    // OPEN has said 35: the program has no other file.
    assert!(!printed.contains("AAAA"), "one of them is not there: {printed}");
}
