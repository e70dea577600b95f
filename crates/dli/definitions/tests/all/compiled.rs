//! What compiling makes of good sources.

#![allow(clippy::unwrap_used)] // in tests an unwrap is an assertion

use holdfast_definitions as definitions;

use definitions::{
    AccessMethod, ChildPointer, DbdName, DeleteRule, FieldKind, FieldName, FieldType, KeyStorage,
    LchildPointer, Member, MemberKind, ModuleName, NullValue, Organization, PcbKind, PcbName,
    ProgramLanguage, Protection, Rule, SegmentName, SegmentPart, Severity, TwinPlace,
};

use crate::samples::{BOOKDB, DATABASES, HISTDB, LENDING, MEMBDB, MEMBLOG, MEMBPX, OTHERS};
use crate::support::{dbd, members, psb, source, unreadable};

fn segment(name: &str) -> SegmentName {
    SegmentName::new(name).unwrap()
}

fn field(name: &str) -> FieldName {
    FieldName::new(name).unwrap()
}

#[test]
fn a_hidam_database() {
    let dbd = dbd(MEMBDB);
    assert_eq!((dbd.name.text(), dbd.organization), ("MEMBDB", Organization::Hidam));
    assert_eq!(dbd.access_method, Some(AccessMethod::Vsam));
    assert_eq!(dbd.version.as_deref(), Some("MAY 2024"));
    let set = &dbd.data_sets[0];
    assert_eq!(set.dd1.unwrap().text(), "MEMBDD");
    assert_eq!((set.free_space.first, set.free_space.second), (Some(8), Some(20)));
    let shape: Vec<_> = dbd
        .segments
        .iter()
        .map(|one| (one.name.text(), one.level, one.code, one.parent, one.max, one.min))
        .collect();
    assert_eq!(
        shape,
        [
            ("MEMBER", 1, 1, None, 80, 80),
            ("LOAN", 2, 2, Some(0), 40, 40),
            ("FINE", 3, 3, Some(1), 60, 12),
        ]
    );
    assert!(dbd.is_sound());
    assert_eq!(dbd.concatenated_key_len(2), 18);
}

#[test]
fn fields_and_their_metadata() {
    let dbd = dbd(MEMBDB);
    let root = &dbd.segments[0];
    let key = root.key().unwrap();
    assert_eq!((key.name, key.start, key.len), (Some(field("MEMBNO")), 1, 6));
    assert!(root.has_unique_key() && !dbd.segments[2].has_unique_key());
    let joined = root.field(field("JOINED")).unwrap();
    assert_eq!(joined.kind_of_data, FieldType::Packed);
    assert_eq!(joined.metadata[0].value, "JOINED_ON");
    let marshal = joined.marshal.as_ref().unwrap();
    assert_eq!(marshal.statement, "DFSMARSH");
    assert_eq!(marshal.attributes[2].value, "'yyyy-MM-dd'");
    let unique = root.field(field("/SX1")).unwrap();
    assert_eq!((unique.kind, unique.len), (FieldKind::Unique, 4));
    let part = dbd.segments[2].field(field("/CKMB")).unwrap();
    assert_eq!((part.kind, part.start, part.len), (FieldKind::ConcatenatedKey, 1, 6));
}

#[test]
fn metadata_keeps_its_small_letters() {
    let text = MEMBDB
        .replace("JOINED_ON", "joinedOn")
        .replace("CP1047,INTERNAL", "Cp1047,INTERNAL")
        .replace("NAME=SURNAME", "name=surname");
    let dbd = dbd(&text);
    let root = &dbd.segments[0];
    assert!(root.field(field("SURNAME")).is_some());
    let joined = root.field(field("JOINED")).unwrap();
    assert_eq!(joined.metadata[0].value, "joinedOn");
    assert_eq!(joined.marshal.as_ref().unwrap().attributes[0].value, "Cp1047");
}

#[test]
fn indexes_and_logical_children() {
    let dbd = dbd(MEMBDB);
    let root = &dbd.segments[0];
    assert_eq!(root.children[0].pointer, Some(LchildPointer::Indx));
    assert!(root.children[0].indexed.is_none());
    let by_name = root.children[1].indexed.as_ref().unwrap();
    assert_eq!(by_name.source, Some(segment("MEMBER")));
    assert_eq!(by_name.search, [field("SURNAME")]);
    assert_eq!(by_name.subsequence, [field("/SX1")]);
    assert_eq!(by_name.null, Some(NullValue::Blank));
    let loan = &dbd.segments[1];
    assert_eq!(loan.parent_pointer, Some(ChildPointer::Dble));
    let logical = loan.logical_parent.as_ref().unwrap();
    assert_eq!((logical.segment, logical.storage), (segment("BOOK"), KeyStorage::Physical));
    assert_eq!(loan.rules.insert, Rule::Physical);
    assert_eq!(loan.rules.delete, DeleteRule::Logical);
    assert_eq!((loan.rules.replace, loan.rules.place), (Rule::Virtual, TwinPlace::Here));
    assert!(loan.pointers.has("LPARNT") && loan.pointers.has("TWINBWD"));
    let fine = &dbd.segments[2].children[0].indexed;
    assert_eq!(fine.as_ref().unwrap().constant, Some(1));
}

#[test]
fn a_hdam_database_with_a_virtual_child() {
    let dbd = dbd(BOOKDB);
    let randomizer = dbd.randomizer.as_ref().unwrap();
    assert_eq!(randomizer.module, ModuleName::new("DFSHDC40").unwrap());
    let numbers = (randomizer.anchors, randomizer.blocks, randomizer.bytes);
    assert_eq!(numbers, (Some(3), Some(500), Some(824)));
    let compression = dbd.segments[0].compression.as_ref().unwrap();
    assert_eq!((compression.part, compression.initialize), (SegmentPart::Data, true));
    let lent = &dbd.segments[1];
    assert!(lent.is_virtual() && lent.max == 0 && lent.pointers.has("PAIRED"));
    assert_eq!(lent.sources[0].dbd, DbdName::new("MEMBDB").unwrap());
    assert_eq!(dbd.segments[0].children[0].pair, Some(segment("LENT")));
}

#[test]
fn other_organizations() {
    let found = members(OTHERS);
    let organizations: Vec<_> = found
        .iter()
        .map(|member| match member {
            Member::Dbd(dbd) => dbd.organization.word(),
            Member::Psb(_) => "PSB",
        })
        .collect();
    assert_eq!(organizations, ["PHDAM", "HISAM", "SHISAM", "HSAM", "GSAM", "DEDB"]);
    let Member::Dbd(desk) = &found[5] else { panic!("a DBD") };
    assert_eq!(desk.areas[0].dd1.text(), "DESK1");
    assert_eq!(desk.areas[0].unit_of_work.first, Some(15));
    assert!(desk.segments[1].sequential && desk.segments[2].subset_pointers == 3);
    let Member::Dbd(list) = &found[4] else { panic!("a DBD") };
    assert_eq!(list.data_sets[0].record_format.as_deref(), Some("FB"));
    assert_eq!(list.data_sets[0].record.first, Some(80));
    assert_eq!(dbd(MEMBPX).protection, Some(Protection::Prot));
    let history = dbd(HISTDB);
    assert_eq!(history.segments[1].group, Some('B'));
    assert_eq!(history.segments[1].field(field("/SX9")).unwrap().len, 8);
    let logical = dbd(MEMBLOG);
    assert_eq!(logical.segments[1].sources.len(), 2);
    assert_eq!(logical.segments[3].parent, Some(1));
}

#[test]
fn a_psb() {
    let psb = psb(LENDING);
    assert_eq!(psb.name.text(), "LENDING");
    assert_eq!(psb.language, Some(ProgramLanguage::Cobol));
    assert!(psb.compatible && !psb.online_image_copy);
    assert_eq!(psb.max_q, Some(10));
    let io_error = psb.io_error.unwrap();
    assert_eq!((io_error.code, io_error.ask), (8, true));
    let names: Vec<_> = psb.pcbs.iter().map(|pcb| pcb.name).collect();
    let name = PcbName::new;
    assert_eq!(names, [name("PRINTER"), None, name("MEMBERS"), name("BYNAME"), None]);
    assert!(psb.pcbs[2].listed && !psb.pcbs[3].listed);
    let PcbKind::Terminal(printer) = &psb.pcbs[0].kind else { panic!("an alternate PCB") };
    assert_eq!(printer.destination.unwrap().text(), "LPT1");
    assert!(printer.express && !printer.modifiable);
    let PcbKind::Database(members) = &psb.pcbs[2].kind else { panic!("a database PCB") };
    assert!(members.multiple_positions);
    assert_eq!((members.options.text(), members.key_len), ("AP", Some(18)));
    let parents: Vec<_> = members.segments.iter().map(|one| one.parent).collect();
    assert_eq!(parents, [None, Some(0), Some(1)]);
    let fields = &members.segments[0].fields;
    assert_eq!((fields[0].replace, fields[1].replace, fields[1].start), (true, false, 7));
    assert_eq!(members.segments[1].options.unwrap().text(), "GRP");
    let PcbKind::Database(by_name) = &psb.pcbs[3].kind else { panic!("a database PCB") };
    assert_eq!(by_name.sequence, DbdName::new("NAMEIX"));
    assert!(matches!(psb.pcbs[4].kind, PcbKind::Gsam(_)));
    assert_eq!(psb.databases().len(), 3);
}

#[test]
fn good_sources_say_little() {
    let quiet = [MEMBDB, MEMBPX, BOOKDB, MEMBLOG, HISTDB, LENDING];
    for text in quiet {
        let printed = source(text).diagnostics;
        assert!(printed.is_empty(), "{printed:#?}");
    }
    let printed: Vec<_> = source(OTHERS).diagnostics.into_iter().map(|one| one.message).collect();
    assert_eq!(printed.len(), 2, "DEVICE and FREQ: {printed:#?}");
}

#[test]
fn kinds_come_from_content_and_foreign_statements_are_named() {
    let text = format!("         START 0\n         USING *,15\n{LENDING}{MEMBPX}");
    let compiled = source(&text);
    let kinds: Vec<_> = compiled.members.iter().map(|one| (one.kind, one.name.as_str())).collect();
    assert_eq!(kinds, [(MemberKind::Psb, "LENDING"), (MemberKind::Dbd, "MEMBPX")]);
    let note = &compiled.diagnostics[0];
    assert_eq!(note.severity, Severity::Note);
    assert!(note.message.starts_with("2 statements beginning with START"), "{}", note.message);
}

#[test]
fn a_bad_member_does_not_spoil_its_neighbours() {
    let text = format!("{MEMBPX}         DBD   NAME=BAD,ACCESS=HDAM\n         DBDGEN\n{LENDING}");
    let compiled = source(&text);
    let good: Vec<_> = compiled.members.iter().map(|one| one.member.is_some()).collect();
    assert_eq!(good, [true, false, true]);
    // No RMNAME and no segment: both are told.
    assert_eq!(compiled.members[1].errors, 2);
}

#[test]
fn redundant_parentheses_and_empty_operands_mean_nothing() {
    let text = "         DBD   NAME=((ODDDB)),ACCESS=((HDAM,VSAM)),RMNAME=((RANDOM)),
               PASSWD=,EXIT=
         DATASET DD1=((ODDDD)),SIZE=(((4096,))),BLOCK=(,)
         SEGM  NAME=(ODD),PARENT=((0)),BYTES=((20)),POINTER=((HIER)),
               RULES=(,FIRST)
         FIELD NAME=(((KEY,SEQ))),START=(1),BYTES=4
         SEGM  NAME=EVEN,PARENT=(((ODD,SNGL))),BYTES=(20,),
               RULES=((LLB))
         DBDGEN
";
    let compiled = source(text);
    assert!(compiled.members[0].member.is_none(), "LLB has B in the third place");
    let dbd = dbd(&text.replace("LLB", "LBL"));
    assert_eq!(dbd.segments[0].rules.place, TwinPlace::First);
    assert_eq!(dbd.segments[1].rules.delete, DeleteRule::Bidirectional);
    assert_eq!(dbd.segments[1].parent_pointer, Some(ChildPointer::Sngl));
    assert!(!dbd.segments[1].variable && !dbd.password);
    assert!(dbd.segments[0].has_unique_key(), "U is the default");
}

#[test]
fn a_label_that_comes_again_goes_on_with_its_data_set() {
    let text = "         DBD   NAME=MANYDB,ACCESS=(HDAM,OSAM),RMNAME=RANDOM
ONE      DATASET DD1=DDONE
         SEGM  NAME=TOP,PARENT=0,BYTES=20
TWO      DATASET DD1=DDTWO
         SEGM  NAME=LEFT,PARENT=TOP,BYTES=20
ONE      DATASET
         SEGM  NAME=RIGHT,PARENT=TOP,BYTES=20
         DBDGEN
";
    let sets: Vec<_> = dbd(text).segments.iter().map(|one| one.data_set).collect();
    assert_eq!(sets, [0, 1, 0]);
}

#[test]
fn all_samples_are_sound() {
    for text in DATABASES {
        for member in members(text) {
            let Member::Dbd(dbd) = member else { panic!("a DBD") };
            assert!(dbd.is_sound(), "{}", dbd.name);
        }
    }
}

#[test]
fn a_diagnostic_points_at_the_word() {
    let compiled = source(&MEMBPX.replace("BYTES=6\n", "BYTES=SIX\n"));
    let first = &compiled.diagnostics[0];
    assert_eq!((first.place.card, first.place.len), (3, 3), "{first:?}");
    assert!(first.message.contains("SIX"), "{}", first.message);
}

#[test]
fn cards_that_cannot_be_read_spoil_their_member_alone() {
    let text = format!("{MEMBPX}{MEMBLOG}{LENDING}").replace("((FINE,,MEMBDB))", "((FINE,,MEMBDB)");
    let compiled = unreadable(&text);
    let good: Vec<_> = compiled.members.iter().map(|one| one.member.is_some()).collect();
    assert_eq!(good, [true, false, true]);
    assert!(compiled.members[1].errors > 0);
}
