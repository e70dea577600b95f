//! Relative files, and indexed ones by a program of its own.

use crate::stage::{Stage, With};

#[test]
fn relative_files_number_their_records() {
    let stage = Stage::new("relative");
    let printed = stage.play("relative", With::Library, &[]);
    let numbers: String = (1..=12).map(|at| format!("NUMBER {at:04} 00\n")).collect();
    let rest = printed.strip_prefix(&numbers).unwrap_or_else(|| panic!("{printed}"));
    let expected = "\
open             00
read 5           00
05
next             00
00006 06
delete 3         00
delete again     23
read 3           23
no position      46
write 4          22
write 3          00
write 20         00
write 0          24
start > 12       00
00020 NEW 20
end              10
behind it        46
start = 15       23
start >= 15      00
00020 NEW 20
rewrite 11       00
rewrite 14       23
00 REW 11
23
48
49
43
00
00
43
00 1 FIRST
00 3 NEW 3
00 4 04
00 5 05
00 6 06
00 7 07
00 8 08
00 9 09
";
    let (all, last) = rest.rsplit_once("14").unwrap_or_else(|| panic!("{printed}"));
    assert_eq!(all, expected);
    assert!(last.starts_with(" "), "the key has no room for 10: {printed}");
}

#[test]
fn relative_files_are_read_by_programs_without_the_library() {
    let stage = Stage::new("relative-both");
    let ours = stage.play("relative", With::Library, &[]);
    let bytes = stage.bytes("RFILE");
    let theirs = Stage::new("relative-theirs");
    theirs.play("relative", With::RunTime, &[]);
    assert_eq!(bytes.len(), theirs.bytes("RFILE").len());
    assert!(ours.contains("NUMBER 0012 00"), "{ours}");
}

#[test]
fn indexed_files_of_the_machine_start_by_part_of_a_key() {
    let stage = Stage::new("indexed");
    let printed = stage.play("indexed", With::Library, &[]);
    let expected = "\
missing          35
output           00
write            00
duplicate        22
close            00
open             00
generic          00
BB0001BLUEtwo
BB0002RED three
BB0001BLUEtwo
CC0001BLUEfour
not there        23
delete           00
close twice      42
";
    assert_eq!(printed, expected);
}
