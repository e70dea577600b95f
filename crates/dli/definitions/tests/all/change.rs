//! What a new version of a database definition means for its data.

use holdfast_definitions as definitions;

use definitions::DbdName;
use definitions::change::{Effect, compare, effect};

use crate::samples::{BOOKDB, HISTDB, MEMBDB, MEMBLOG, NAMEIX, OTHERS};
use crate::support::dbd;

/// The effect of replacing a text in a sample, and all that is said about it.
fn change(text: &str, old: &str, new: &str) -> (Effect, String) {
    assert!(text.contains(old), "no {old}");
    let changes = compare(&dbd(text), &dbd(&text.replace(old, new)));
    let printed: Vec<_> = changes.iter().map(|one| one.what.as_str()).collect();
    (effect(&changes), printed.join("; "))
}

#[test]
fn nothing_changes_nothing() {
    for text in [MEMBDB, BOOKDB, HISTDB, NAMEIX, MEMBLOG] {
        assert!(compare(&dbd(text), &dbd(text)).is_empty());
    }
}

#[test]
fn each_change_has_its_effect() {
    use Effect::{Harmless, LosesData, Moves, Reload};
    let build = |name| Effect::BuildIndex(DbdName::new(name).expect("a name"));
    let cases = [
        (MEMBDB, "MAY 2024", "JUNE 2024", Harmless),
        (MEMBDB, "(PLV,HERE)", "(LLL,LAST)", Harmless),
        (MEMBDB, "DUE,START=11,BYTES=4", "DUE,START=15,BYTES=4", Harmless),
        (MEMBDB, "BYTES=(60,12)", "BYTES=(80,12)", Harmless),
        (MEMBDB, "BYTES=(60,12)", "BYTES=(60,16)", Reload),
        (MEMBDB, "BYTES=(60,12)", "BYTES=(50,12)", LosesData),
        (MEMBDB, "BYTES=(60,12)", "BYTES=60", Reload),
        (MEMBDB, "BYTES=80", "BYTES=90", Reload),
        (MEMBDB, "BYTES=80", "BYTES=70", LosesData),
        (MEMBDB, "NAME=FINE,PARENT=LOAN", "NAME=FINE,PARENT=MEMBER", LosesData),
        (MEMBDB, "NAME=FINE,", "NAME=FEE,", LosesData),
        (MEMBDB, "(FINENO,SEQ,M)", "(FINENO,SEQ,U)", Reload),
        (MEMBDB, "(LOANKEY,SEQ,U),START=1", "(LOANKEY,SEQ,U),START=2", Reload),
        (MEMBDB, "(TWINBWD,LTWIN,LPARNT)", "(NOTWIN,LTWIN,LPARNT)", Reload),
        (MEMBDB, "(BOOK,PHYSICAL,BOOKDB)", "(COPY,PHYSICAL,BOOKDB)", Reload),
        (MEMBDB, "SRCH=(SURNAME),SUBSEQ=/SX1", "SRCH=(SURNAME,JOINED)", build("NAMEIX")),
        (MEMBDB, "SURNAME,START=7", "SURNAME,START=8", build("NAMEIX")),
        (MEMBDB, "NULLVAL=BLANK", "NULLVAL=ZERO", build("NAMEIX")),
        (MEMBDB, "(NAMEKEY,NAMEIX)", "(NAMEKEY,OTHERIX)", build("OTHERIX")),
        (MEMBDB, "ACCESS=(HIDAM,VSAM)", "ACCESS=(PHIDAM,VSAM)", Reload),
        (BOOKDB, "DFSHDC40,3,500", "DFSHDC40,3,900", Moves),
        (BOOKDB, "COMPRTN=(PACKIT,DATA,INIT)", "COMPRTN=(OTHER,DATA)", Reload),
        (BOOKDB, "NAME=COPY,PARENT=BOOK", "NAME=COPY,PARENT=LENT", LosesData),
        (HISTDB, "PSNAME=PICKPART", "PSNAME=OTHERS", Moves),
        (NAMEIX, "BYTES=24", "BYTES=25", build("NAMEIX")),
        (NAMEIX, "ACCESS=INDEX", "ACCESS=PSINDEX", build("NAMEIX")),
        (MEMBLOG, "NAME=COPY,", "NAME=ITEM,", Harmless),
    ];
    for (text, old, new, expected) in cases {
        let (found, printed) = change(text, old, new);
        assert_eq!(found, expected, "{old} -> {new}: {printed}");
    }
}

#[test]
fn an_index_that_goes_is_harmless() {
    let old = dbd(MEMBDB);
    let mut new = old.clone();
    new.segments[0].children.truncate(1);
    let changes = compare(&old, &new);
    assert_eq!(changes.len(), 1);
    assert_eq!(effect(&changes), Effect::Harmless);
    assert!(changes[0].what.contains("NAMEIX"), "{}", changes[0].what);
}

#[test]
fn a_segment_in_the_middle_moves_the_codes_of_those_behind() {
    let new = "         SEGM  NAME=NOTE,PARENT=BOOK,BYTES=9\n         SEGM  NAME=COPY";
    let (found, printed) = change(BOOKDB, "         SEGM  NAME=COPY", new);
    assert_eq!(found, Effect::Reload, "{printed}");
    assert!(
        printed.contains("NOTE is new") && printed.contains("COPY gets the code 4 for 3"),
        "{printed}"
    );
}

#[test]
fn what_cannot_be_carried_over_is_refused() {
    let member = |name: &str| {
        let start = OTHERS.find(&format!("         DBD   NAME={name}")).unwrap();
        let len = OTHERS[start..].find("DBDGEN").unwrap() + "DBDGEN\n".len();
        dbd(&OTHERS[start..start + len])
    };
    let mut list = member("LISTDB");
    let zip = member("ZIPDB");
    list.name = zip.name;
    assert_eq!(effect(&compare(&zip, &list)), Effect::LosesData);
    let mut longer = list.clone();
    longer.data_sets[0].record.first = Some(100);
    assert_eq!(effect(&compare(&list, &longer)), Effect::Harmless);
    let logical = dbd(MEMBLOG);
    assert_eq!(effect(&compare(&logical, &zip)), Effect::Harmless);
}
