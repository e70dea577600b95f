//! What fitting together makes of good definitions: views for the call engine.

use std::sync::Arc;

use holdfast_definitions as definitions;

use definitions::resolve::{
    Definitions, Nothing, Overlay, PartSource, ResolvedKind, View, resolve_dbd, resolve_psb,
};
use definitions::{
    Dbd, DbdName, FieldName, Member, MemberName, Psb, PsbName, SegmentName, SegmentPart, Severity,
};

use crate::samples::{BOOKDB, DATABASES, FINEIX, LENDING, MEMBDB, MEMBPX, NAMEIX};
use crate::support::{codes, members, psb, resolved, shared};

/// All databases of the library.
fn library() -> Overlay<'static> {
    let mut overlay = Overlay::new(&Nothing);
    for text in DATABASES {
        for member in members(text) {
            overlay.add(member);
        }
    }
    overlay
}

/// The view of the first PCB of a program with one.
fn view(text: &str) -> View {
    let psb = psb(&format!("{text}         PSBGEN PSBNAME=ONE\n"));
    let (resolved, findings) = resolve_psb(&psb, &library());
    let kind = resolved.unwrap_or_else(|| panic!("{findings:#?}")).pcbs.remove(0).kind;
    match kind {
        ResolvedKind::Database(view) => *view,
        other => panic!("{other:?}"),
    }
}

fn shape(view: &View) -> Vec<(&str, u8, Option<u16>, u32)> {
    let segments = view.segments.iter();
    segments.map(|one| (one.name.text(), one.level, one.parent, one.key_at)).collect()
}

#[test]
fn the_library_fits_together() {
    let mut texts = DATABASES.to_vec();
    texts.push(LENDING);
    let outcome = resolved(&texts);
    assert!(outcome.findings.is_empty(), "{:#?}", outcome.findings);
    assert_eq!(outcome.psbs.len(), 1);
    let pcbs = &outcome.psbs[0].pcbs;
    assert_eq!(pcbs.len(), 5);
    let ResolvedKind::Gsam(gsam) = &pcbs[4].kind else { panic!("a GSAM PCB") };
    assert_eq!(gsam.dd.unwrap().text(), "LISTOUT", "L and LS write DD2");
    let ResolvedKind::Database(view) = &pcbs[2].kind else { panic!("a database PCB") };
    assert_eq!(
        shape(view),
        [("MEMBER", 1, None, 0), ("LOAN", 2, Some(0), 6), ("FINE", 3, Some(1), 16)]
    );
    assert_eq!(view.key_len, 18);
    let root = &view.segments[0];
    assert_eq!(root.indices[0].dbd, DbdName::new("NAMEIX").unwrap());
    assert_eq!((root.access.seen.len(), root.access.seen_len), (2, 26));
    assert!(!root.access.seen[1].replace);
    assert_eq!(view.segments[1].access.options.in_effect(), "GRP");
    assert_eq!(view.segments[2].access.options.in_effect(), "AP");
    assert!(view.segments[2].form.variable);
}

#[test]
fn an_index_is_described() {
    let (indexes, findings) = resolve_dbd(&shared(MEMBDB), &library());
    assert!(findings.is_empty(), "{findings:#?}");
    let fine = &indexes[1];
    assert_eq!((fine.target_code, fine.source_code), (3, 3));
    assert_eq!((fine.search_len(), fine.key_len(), fine.entry_len()), (5, 12, 12));
    assert_eq!(fine.search[0].from, PartSource::Segment(4));
    assert_eq!(fine.subsequence[0].from, PartSource::ConcatenatedKey(0));
    assert!(fine.unique && !fine.protected);
    let name = &indexes[0];
    assert_eq!(name.subsequence[0].from, PartSource::Unique);
    assert_eq!(name.name, FieldName::new("XNAME").unwrap());
}

#[test]
fn indexes_that_share_data_sets_are_indexes_of_their_own() {
    let both = "         DBD   NAME=(NAMEIX,FINEIX),ACCESS=(INDEX,VSAM,PROT)
         DATASET DD1=BOTHDD
         SEGM  NAME=NAMEKEY,PARENT=0,BYTES=24
         FIELD NAME=(KEY,SEQ,U),START=1,BYTES=24
         LCHILD NAME=(MEMBER,MEMBDB),INDEX=XNAME
         SEGM  NAME=FINEKEY,PARENT=0,BYTES=12
         FIELD NAME=(KEY,SEQ,U),START=1,BYTES=12
         LCHILD NAME=(FINE,MEMBDB),INDEX=XFINE
         DBDGEN
";
    let mut texts: Vec<&str> =
        DATABASES.iter().copied().filter(|text| ![NAMEIX, FINEIX].contains(text)).collect();
    texts.extend([both, LENDING]);
    let outcome = resolved(&texts);
    assert!(outcome.findings.is_empty(), "{:#?}", outcome.findings);
    let dbds = members(both).into_iter().map(|member| match member {
        Member::Dbd(dbd) => *dbd,
        Member::Psb(psb) => panic!("{psb:?}"),
    });
    let [names, fines] = &dbds.collect::<Vec<_>>()[..] else { panic!("there are two indexes") };
    assert_eq!((names.name.text(), fines.name.text()), ("NAMEIX", "FINEIX"));
    assert!(fines.protection.is_some() && fines.data_sets == names.data_sets);
    let [segment] = &fines.segments[..] else { panic!("it has a segment") };
    assert_eq!((segment.name.text(), segment.code, segment.level), ("FINEKEY", 1, 1));
    assert_eq!(segment.children[0].index, Some(FieldName::new("XFINE").unwrap()));
}

#[test]
fn indexes_can_share_a_segment_too() {
    let both = members(
        "         DBD   NAME=(IXA,IXB),ACCESS=INDEX
         DATASET DD1=BOTHDD
         SEGM  NAME=KEYSEG,PARENT=0,BYTES=12
         FIELD NAME=(KEY,SEQ,M),START=1,BYTES=12
         LCHILD NAME=(ONE,ADB),INDEX=XA
         LCHILD NAME=(TWO,BDB),INDEX=XB
         DBDGEN
",
    );
    let described = both.iter().map(|member| {
        let Member::Dbd(dbd) = member else { panic!("{member:?}") };
        let [segment] = &dbd.segments[..] else { panic!("it has a segment") };
        assert!(segment.key().is_some() && segment.children.len() == 1);
        (dbd.name.text(), segment.children[0].dbd.text())
    });
    assert_eq!(described.collect::<Vec<_>>(), [("IXA", "ADB"), ("IXB", "BDB")]);
}

#[test]
fn a_sequence_by_an_index_on_the_root_keeps_the_tree() {
    let view = view(
        "         PCB   TYPE=DB,DBDNAME=MEMBDB,PROCOPT=G,PROCSEQ=NAMEIX
         SENSEG NAME=MEMBER
         SENSEG NAME=LOAN,PARENT=MEMBER
",
    );
    // The search fields stand for the root's key in the feedback.
    assert_eq!(shape(&view), [("MEMBER", 1, None, 0), ("LOAN", 2, Some(0), 20)]);
    assert_eq!(view.key_len, 30);
    assert_eq!(view.sequence.unwrap().search_len(), 20);
}

#[test]
fn a_target_below_the_root_turns_the_tree_over() {
    let view = view(
        "         PCB   TYPE=DB,DBDNAME=MEMBDB,PROCOPT=G,PROCSEQ=FINEIX
         SENSEG NAME=FINE
         SENSEG NAME=LOAN,PARENT=FINE
         SENSEG NAME=MEMBER,PARENT=LOAN
",
    );
    assert_eq!(
        shape(&view),
        [("FINE", 1, None, 0), ("LOAN", 2, Some(0), 5), ("MEMBER", 3, Some(1), 15)]
    );
    let codes: Vec<_> = view.segments.iter().map(|one| one.home.code).collect();
    assert_eq!(codes, [3, 2, 1]);
}

#[test]
fn a_logical_database_joins_child_and_parent() {
    let view = view(
        "         PCB   TYPE=DB,DBDNAME=MEMBLOG,PROCOPT=GP
         SENSEG NAME=MEMBER
         SENSEG NAME=LOANBOOK,PARENT=MEMBER
         SENSEG NAME=COPY,PARENT=LOANBOOK
         SENSEG NAME=FINE,PARENT=LOANBOOK
",
    );
    // In hierarchic order, whatever the order of the SENSEGs.
    assert_eq!(
        shape(&view),
        [
            ("MEMBER", 1, None, 0),
            ("LOANBOOK", 2, Some(0), 6),
            ("FINE", 3, Some(1), 16),
            ("COPY", 3, Some(1), 16),
        ]
    );
    let joined = &view.segments[1];
    let destination = joined.destination.as_ref().unwrap();
    assert_eq!((destination.offset, destination.max), (40, 120));
    assert_eq!(destination.home.segment, SegmentName::new("BOOK").unwrap());
    assert_eq!(destination.part, SegmentPart::Data);
    let title = joined.fields.iter().find(|one| one.name.text() == "TITLE").unwrap();
    assert!(title.of_destination && title.offset == 10);
    assert_eq!(view.databases.len(), 2);
}

#[test]
fn a_virtual_child_gets_the_length_of_its_source() {
    let view = view(
        "         PCB   TYPE=DB,DBDNAME=BOOKDB,PROCOPT=G
         SENSEG NAME=BOOK
         SENSEG NAME=LENT,PARENT=BOOK
",
    );
    let lent = &view.segments[1];
    // 40 bytes with the key of the book, 10; from there with the key of the member, 6.
    assert_eq!(lent.form.max, 36);
    assert_eq!(lent.stored.dbd, DbdName::new("MEMBDB").unwrap());
    assert_eq!(lent.home.dbd, DbdName::new("BOOKDB").unwrap());
}

#[test]
fn options_are_reduced_and_still_shown() {
    let index = view(
        "         PCB   TYPE=DB,DBDNAME=NAMEIX,PROCOPT=A
         SENSEG NAME=NAMEKEY
",
    );
    assert_eq!((index.options.text(), index.options.in_effect()), ("A", "GRD".to_owned()));
    let load = view(
        "         PCB   TYPE=DB,DBDNAME=MEMBDB,PROCOPT=L
         SENSEG NAME=MEMBER
",
    );
    assert_eq!((load.options.text(), load.options.in_effect()), ("L", "LS".to_owned()));
    let old = view(
        "         PCB   TYPE=DB,DBDNAME=OLDDB,PROCOPT=A
         SENSEG NAME=OLD
",
    );
    assert_eq!(old.options.in_effect(), "G");
    let keys = view(
        "         PCB   TYPE=DB,DBDNAME=HISTDB,PROCOPT=G
         SENSEG NAME=YEAR,PROCOPT=K
         SENSEG NAME=EVENT,PARENT=YEAR
",
    );
    assert!(keys.segments[0].access.key_only && !keys.segments[1].access.key_only);
}

/// DLI-12.70.
#[test]
fn an_index_used_as_a_database_is_its_entries() {
    let index = view(
        "         PCB   TYPE=DB,DBDNAME=NAMEIX,PROCOPT=GR
         SENSEG NAME=NAMEKEY
",
    );
    let entries = index.entries.unwrap();
    assert_eq!((entries.name.text(), entries.target.text()), ("XNAME", "MEMBER"));
    assert_eq!(entries.segment_len, index.segments[0].form.max);
    let home = index.segments[0].home;
    assert_eq!((home.dbd.text(), home.segment.text(), home.code), ("MEMBDB", "MEMBER", 1));
    assert_eq!(index.segments[0].name.text(), "NAMEKEY");
    assert_eq!(index.databases, [DbdName::new("MEMBDB").unwrap()]);
    assert_eq!(index.options.in_effect(), "GR");
}

#[test]
fn a_primary_index_used_as_a_database_is_the_keys_of_the_roots() {
    let index = view(
        "         PCB   TYPE=DB,DBDNAME=MEMBPX,PROCOPT=A
         SENSEG NAME=MEMBKEY
",
    );
    let root = &index.segments[0];
    assert_eq!((root.home.dbd.text(), root.home.segment.text()), ("MEMBDB", "MEMBER"));
    assert_eq!((root.access.seen.len(), root.access.seen_len), (1, 6));
    assert!(index.entries.is_none() && !root.access.seen[0].replace);
    assert_eq!(
        (index.options.in_effect(), root.access.options.in_effect()),
        ("G".into(), "G".into())
    );
}

#[test]
fn a_protected_index_takes_no_deletes() {
    let mut library = Overlay::new(&Nothing);
    for text in DATABASES {
        for member in members(&text.replace("ACCESS=INDEX\n", "ACCESS=(INDEX,VSAM,PROT)\n")) {
            library.add(member);
        }
    }
    for (given, in_effect) in [("A", "GR"), ("GD", "G"), ("GO", "GO"), ("L", "G"), ("I", "G")] {
        let text = format!(
            "         PCB   TYPE=DB,DBDNAME=NAMEIX,PROCOPT={given}
         SENSEG NAME=NAMEKEY
         PSBGEN PSBNAME=READ
"
        );
        let (resolved, findings) = resolve_psb(&psb(&text), &library);
        let kind = &resolved.unwrap().pcbs[0].kind;
        let ResolvedKind::Database(view) = kind else { panic!("no database") };
        assert_eq!(view.options.in_effect(), in_effect, "{given}");
        assert_eq!(findings.iter().any(|one| one.code == "HFG215"), given != "GO", "{given}");
    }
}

#[test]
fn the_larger_key_length_is_kept() {
    let text = "         PCB   TYPE=DB,DBDNAME=MEMBDB,PROCOPT=G,KEYLEN=50
         SENSEG NAME=MEMBER
";
    assert_eq!(view(text).key_len, 50);
    assert_eq!(view(&text.replace("50", "2")).key_len, 6);
}

#[test]
fn an_error_in_one_pcb_leaves_the_findings_of_the_others() {
    let text = "         PCB   TYPE=DB,DBDNAME=NODB,PROCOPT=G
         SENSEG NAME=A
         PCB   TYPE=DB,DBDNAME=MEMBDB,PROCOPT=G
         SENSEG NAME=A
         PSBGEN PSBNAME=BAD
";
    let (resolved, findings) = resolve_psb(&psb(text), &library());
    assert!(resolved.is_none());
    let printed: Vec<_> = findings.iter().map(|one| one.code).collect();
    assert_eq!(printed, ["HFG201", "HFG202"]);
}

/// A repository that knows who refers to what.
struct Repository {
    dbds: Vec<Arc<Dbd>>,
    psb: Arc<Psb>,
}

impl Definitions for Repository {
    fn dbd(&self, name: DbdName) -> Option<Arc<Dbd>> {
        self.dbds.iter().find(|dbd| dbd.name == name).cloned()
    }

    fn psb(&self, name: PsbName) -> Option<Arc<Psb>> {
        (self.psb.name == name).then(|| Arc::clone(&self.psb))
    }

    fn referring(&self, dbd: DbdName) -> Vec<MemberName> {
        let psb = self.psb.databases().contains(&dbd).then_some(MemberName::Psb(self.psb.name));
        let index = DbdName::new("MEMBPX").filter(|_| dbd.text() == "MEMBDB");
        let index = index.map(MemberName::Dbd);
        psb.into_iter().chain(index).collect()
    }
}

#[test]
fn a_changed_database_is_fitted_to_what_refers_to_it() {
    let dbds = DATABASES
        .iter()
        .flat_map(|text| members(text))
        .filter_map(|member| match member {
            Member::Dbd(dbd) => Some(Arc::new(*dbd)),
            Member::Psb(_) => None,
        })
        .collect();
    let repository = Repository { dbds, psb: Arc::new(psb(LENDING)) };
    let mut overlay = Overlay::new(&repository);
    for member in members(&MEMBDB.replace("NAME=FINE,", "NAME=FEE,")) {
        assert!(overlay.add(member));
    }
    let outcome = overlay.resolve();
    let psb = outcome.findings.iter().find(|one| matches!(one.member, MemberName::Psb(_)));
    assert_eq!(psb.unwrap().code, "HFG202");
    assert!(outcome.psbs.is_empty());
    // The other definitions of the repository are as they were.
    let mut again = Overlay::new(&repository);
    again.add(members(MEMBPX).remove(0));
    assert!(codes(&again.resolve()).is_empty());
    again.add(members(BOOKDB).remove(0));
    assert!(again.resolve().findings.iter().all(|one| one.severity != Severity::Error));
}
