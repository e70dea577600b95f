//! Operands in every form that sources have, as cards with marks and sequence numbers.

use std::path::Path;

use holdfast_definitions as definitions;

use definitions::{Dbd, Member, SegmentName, compile};
use macros::Sources;

use crate::support::NoCopies;

/// Null operands, null values in lists, one to four parentheses, breaks behind any comma, comments
/// on continued cards, and anything in column 72 and behind it.
const FORMS: &str = "\
* HDAM WITH EVERY FORM                                                  00010000
         DBD   NAME=((FORMDB)),ACCESS=((((HDAM,OSAM)))),               XSEQ?=,((
               RMNAME=(SHOPRND,,100,),PASSWD=,VERSION=  COMMENT, WITH (
GRP1     DATASET DD1=(FORMDD),DEVICE=3390,SCAN=5,SIZE=(,4096),         *
               FRSPC=(),BLOCK=
         SEGM  NAME=ROOT,    THE ROOT, OF COURSE                       +99999999
               PARENT=((0)),  MORE COMMENT (                           1
               BYTES=((((60)))),FREQ=10,   NOTE                        -
               PTR=(TB),COMPRTN=,RULES=(LLL,                           C
               FIRST),EXIT=()
         FIELD NAME=((((KEY,SEQ,U)))),START=(1),BYTES=((4)),TYPE=
         FIELD NAME=(AMT,                                              X
               ),                                                      X
               START=25,                                               X
               TYPE=P,                                                 X
               BYTES=4
         SEGM  NAME=KID,PARENT=((ROOT,DBLE),()),BYTES=(30,10)
         FIELD NAME=(KKEY,SEQ,),START=3,BYTES=4
         SEGM  NAME=KID2,PARENT=(((ROOT,SNGL))),BYTES=30,PTR=(,TWIN,,)
         DBDGEN  THAT'S ALL
         END
";

/// Compiles bytes as they are; answers the definition and the codes of what was said.
fn compiled(bytes: &[u8]) -> (Dbd, Vec<&'static str>) {
    let mut sources = Sources::new();
    let program = macros::read(&mut sources, Path::new("FORMS"), bytes, &NoCopies);
    let mut printed: Vec<_> = program.diagnostics.iter().map(|one| one.code).collect();
    let mut compiled = compile(&program);
    printed.extend(compiled.diagnostics.iter().map(|one| one.code));
    match compiled.members.remove(0).member {
        Some(Member::Dbd(dbd)) => (*dbd, printed),
        other => panic!("{other:?} {printed:?}"),
    }
}

#[test]
fn every_form_of_an_operand_is_read() {
    let (dbd, printed) = compiled(FORMS.as_bytes());
    assert_eq!(printed, ["HFG108"; 3], "DEVICE, SCAN and FREQ have no effect");
    let randomizer = dbd.randomizer.as_ref().expect("it has one");
    let numbers = (randomizer.anchors, randomizer.blocks, randomizer.bytes);
    assert_eq!((dbd.name.text(), numbers), ("FORMDB", (None, Some(100), None)));
    assert_eq!((dbd.data_sets[0].size.first, dbd.data_sets[0].size.second), (None, Some(4096)));
    let shapes = dbd.segments.iter().map(|one| {
        let fields = one.fields.iter().map(|field| (field.start, field.len));
        (one.name.text(), one.parent, (one.max, one.min), fields.collect::<Vec<_>>())
    });
    assert_eq!(
        shapes.collect::<Vec<_>>(),
        [
            ("ROOT", None, (60, 60), vec![(1, 4), (25, 4)]),
            ("KID", Some(0), (30, 10), vec![(3, 4)]),
            ("KID2", Some(0), (30, 30), vec![]),
        ]
    );
    let root = dbd.segment(SegmentName::new("ROOT").expect("a name")).expect("the root");
    assert!(root.has_unique_key() && root.rules.place == definitions::TwinPlace::First);
}

#[test]
fn line_ends_and_fixed_cards_make_no_difference() {
    let (dbd, printed) = compiled(FORMS.as_bytes());
    let crlf = FORMS.replace('\n', "\r\n");
    assert_eq!(compiled(crlf.as_bytes()), (dbd.clone(), printed.clone()));
    let fixed: String = FORMS.lines().map(|line| format!("{line:80}")).collect();
    assert_eq!(compiled(fixed.as_bytes()), (dbd.clone(), printed.clone()));
    let host: Vec<u8> = fixed.chars().filter_map(|one| codec::CodePage::Cp037.byte(one)).collect();
    assert_eq!(host.len(), fixed.len());
    assert_eq!(compiled(&host), (dbd, printed));
}
