//! Alternate indexes and paths.

use store::Unit;
use vsam::{Condition, Intent, OpenMode, Organization, Search, Target};

use crate::common::{
    BY_TOWN, all, begin, catalog, fill, index, keyed, name, open, other, record, within,
};

#[test]
fn duplicates_come_back_in_the_order_of_arrival() {
    let catalog = catalog();
    keyed(&catalog, "K");
    index(&catalog, "N", "K", |_| ());
    fill(
        &catalog,
        "K",
        &[record("9", "ANN", "A"), record("1", "ANN", "B"), record("5", "BOB", "C")],
    );
    fill(&catalog, "K", &[record("3", "ANN", "D")]);
    assert_eq!(
        all(&catalog, "N.PATH"),
        ["9   ANN A   ", "1   ANN B   ", "3   ANN D   ", "5   BOB C   "]
    );
    let file = open(&catalog, "N.PATH", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    let mut read = Vec::new();
    within(&catalog, |unit| {
        let ann = Search::equal(Target::Key(b"ANN "));
        let first = file.get(unit, &mut position, &ann, Intent::Look, &mut read).unwrap();
        assert_eq!(first.condition, Condition::DuplicateKey);
        let second = file.get_next(unit, &mut position, Intent::Update, &mut read).unwrap();
        assert_eq!((second.condition, read[0]), (Condition::DuplicateKey, b'1'));
        // A record that leaves and comes back arrives last; one that keeps its key stays.
        file.rewrite(unit, &mut position, &record("1", "CAT", "B")).unwrap();
        let third = file.get_next(unit, &mut position, Intent::Update, &mut read).unwrap();
        assert_eq!((third.condition, read[0]), (Condition::None, b'3'));
        file.rewrite(unit, &mut position, &record("3", "ANN", "X")).unwrap();
    });
    drop((position, file));
    let base = open(&catalog, "K", OpenMode::InputOutput);
    let mut position = base.position().unwrap();
    within(&catalog, |unit| {
        let back = base.rewrite_keyed(unit, &mut position, &record("1", "ANN", "B")).unwrap();
        assert_eq!(back.condition, Condition::DuplicateKey);
    });
    drop((position, base));
    assert_eq!(
        all(&catalog, "N.PATH"),
        ["9   ANN A   ", "3   ANN X   ", "1   ANN B   ", "5   BOB C   "]
    );
}

#[test]
fn a_record_too_short_for_an_alternate_key_has_no_entry() {
    let catalog = catalog();
    keyed(&catalog, "K");
    index(&catalog, "T", "K", |attributes| attributes.key = BY_TOWN);
    fill(&catalog, "K", &[b"1   ANN ROM ".to_vec(), b"2   BOB".to_vec()]);
    assert_eq!((all(&catalog, "K").len(), all(&catalog, "T.PATH").len()), (2, 1));
    let file = open(&catalog, "K", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    within(&catalog, |unit| {
        file.rewrite_keyed(unit, &mut position, b"1   ANN").unwrap();
        file.rewrite_keyed(unit, &mut position, b"2   BOB OSLO").unwrap();
    });
    drop((position, file));
    assert_eq!(all(&catalog, "T.PATH"), ["2   BOB OSLO"]);
}

#[test]
fn records_of_an_entry_sequenced_cluster_are_found_by_their_names() {
    let catalog = catalog();
    other(&catalog, "E", Organization::EntrySequenced);
    index(&catalog, "N", "E", |_| ());
    fill(&catalog, "E", &[record("2", "BOB", ""), record("1", "ANN", ""), record("3", "ANN", "")]);
    assert_eq!(all(&catalog, "N.PATH"), ["1   ANN     ", "3   ANN     ", "2   BOB     "]);
    let file = open(&catalog, "N.PATH", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    let mut read = Vec::new();
    within(&catalog, |unit| {
        file.get_next(unit, &mut position, Intent::Update, &mut read).unwrap();
        file.rewrite(unit, &mut position, &record("1", "ZOE", "")).unwrap();
    });
    drop((position, file));
    assert_eq!(all(&catalog, "N.PATH"), ["3   ANN     ", "2   BOB     ", "1   ZOE     "]);
}

#[test]
fn an_index_that_is_opened_itself_gives_pointers() {
    let catalog = catalog();
    keyed(&catalog, "K");
    index(&catalog, "N", "K", |_| ());
    fill(&catalog, "K", &[record("9", "ANN", ""), record("1", "ANN", ""), record("5", "BOB", "")]);
    let file = open(&catalog, "N", OpenMode::Input);
    let mut position = file.position().unwrap();
    let mut read = Vec::new();
    within(&catalog, |unit| {
        file.get_next(unit, &mut position, Intent::Look, &mut read).unwrap();
        assert_eq!(read, b"\x01\x04\x00\x02\x04ANN 9   1   ");
        file.get_next(unit, &mut position, Intent::Look, &mut read).unwrap();
        assert_eq!(read, b"\x01\x04\x00\x01\x04BOB 5   ");
        assert!(file.get_next(unit, &mut position, Intent::Look, &mut read).is_err());
        let ann = Search::equal(Target::Key(b"ANN "));
        file.get(unit, &mut position, &ann, Intent::Look, &mut read).unwrap();
        assert_eq!(&read[5..9], b"ANN ");
    });
    let refused = catalog.open_file(&name("N"), OpenMode::InputOutput, &Default::default());
    assert!(matches!(refused.map(drop), Err(vsam::OpenError::Mode { .. })));
}

#[test]
fn an_entry_whose_record_is_being_changed_waits_or_goes() {
    let catalog = catalog();
    keyed(&catalog, "K");
    index(&catalog, "N", "K", |_| ());
    fill(&catalog, "K", &[record("1", "ANN", ""), record("2", "BOB", "")]);
    let file = open(&catalog, "N.PATH", OpenMode::InputOutput);
    let (mut mine, mut his) = (file.position().unwrap(), file.position().unwrap());
    let mut read = Vec::new();
    let mut unit = begin(&catalog);
    file.get_next(&mut unit, &mut mine, Intent::Update, &mut read).unwrap();
    file.rewrite(&mut unit, &mut mine, &record("1", "ZOE", "")).unwrap();
    // Whoever looks sees what is not committed yet, each record once.
    let mut other = begin(&catalog);
    let mut seen = Vec::new();
    while file.get_next(&mut other, &mut his, Intent::Look, &mut read).is_ok() {
        seen.push(read[0]);
    }
    assert_eq!(seen, b"21");
    unit.backout().unwrap();
    other.commit().unwrap();
    drop((mine, his, file));
    assert_eq!(all(&catalog, "N.PATH"), ["1   ANN     ", "2   BOB     "]);
}
