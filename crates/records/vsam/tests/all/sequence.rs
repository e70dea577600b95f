//! Clusters by arrival, by number, and by block.

use store::{Store, Unit};
use vsam::{Intent, LogicalReason, OpenMode, Organization, Rba, RecordNumber, Search, Target};

use crate::common::{Folder, all, begin, catalog, fill, name, open, other, run_in, within};

#[test]
fn an_address_belongs_to_its_record_for_ever() {
    let folder = Folder::new("addresses");
    let first = run_in(&folder);
    other(&first.catalog, "E", Organization::EntrySequenced);
    let file = open(&first.catalog, "E", OpenMode::Extend);
    let mut position = file.position().unwrap();
    let mut put =
        |unit: &mut _, record: &[u8]| file.put(unit, &mut position, record).unwrap().rba.unwrap();
    let mut unit = begin(&first.catalog);
    assert_eq!(put(&mut unit, b"five5"), Rba(0));
    // Nobody waits for who has added a record before, and an address is not given twice.
    let mut other = begin(&first.catalog);
    assert_eq!(put(&mut other, b"seven77"), Rba(5));
    other.commit().unwrap();
    assert_eq!(put(&mut unit, b"x"), Rba(12));
    unit.backout().unwrap();
    within(&first.catalog, |unit| assert_eq!(put(unit, b"four"), Rba(13)));
    drop((position, file));
    drop(first);

    let second = run_in(&folder);
    fill(&second.catalog, "E", &[b"last".to_vec()]);
    let file = open(&second.catalog, "E", OpenMode::Input);
    let mut position = file.position().unwrap();
    let (mut read, mut seen) = (Vec::new(), Vec::new());
    within(&second.catalog, |unit| {
        while let Ok(got) = file.get_next(unit, &mut position, Intent::Look, &mut read) {
            seen.push((got.rba.unwrap().0, read.clone()));
        }
    });
    let wanted = [(5, &b"seven77"[..]), (13, b"four"), (17, b"last")];
    assert!(seen.iter().map(|(rba, record)| (*rba, &record[..])).eq(wanted));
}

#[test]
fn slots_are_empty_or_full() {
    let catalog = catalog();
    other(&catalog, "R", Organization::VariableRelative);
    let file = open(&catalog, "R", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    let mut read = Vec::new();
    within(&catalog, |unit| {
        for number in [7, 3, 300] {
            let number = RecordNumber(number);
            file.put_number(unit, &mut position, number, b"slot").unwrap();
        }
        let again = file.put_number(unit, &mut position, RecordNumber(3), b"slot");
        assert_eq!(again.unwrap_err().reason(), Some(LogicalReason::Duplicate));
        let mut numbers = Vec::new();
        while let Ok(got) = file.get_next(unit, &mut position, Intent::Look, &mut read) {
            numbers.push(got.number.unwrap().0);
        }
        assert_eq!(numbers, [3, 7, 300]);
        file.erase_number(unit, &mut position, RecordNumber(7)).unwrap();
        let search = Search::equal(Target::Number(RecordNumber(7)));
        let got = file.get(unit, &mut position, &search, Intent::Look, &mut read);
        assert_eq!(got.unwrap_err().reason(), Some(LogicalReason::NotFound));
        file.rewrite_number(unit, &mut position, RecordNumber(3), b"of another length").unwrap();
    });
    drop((position, file));
    assert_eq!(all(&catalog, "R"), ["of another l", "slot"]);
    // An extension goes on behind the highest number.
    let file = open(&catalog, "R", OpenMode::Extend);
    let mut position = file.position().unwrap();
    within(&catalog, |unit| {
        let next = file.put(unit, &mut position, b"new").unwrap();
        assert_eq!(next.number, Some(RecordNumber(301)));
    });
}

#[test]
fn a_point_that_finds_nothing_leaves_no_place_to_write_behind() {
    let catalog = catalog();
    other(&catalog, "R", Organization::Relative);
    let file = open(&catalog, "R", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    within(&catalog, |unit| {
        file.put_number(unit, &mut position, RecordNumber(2), &[7; 80]).unwrap();
        let search = Search::equal(Target::Number(RecordNumber(9))).backward();
        let found = file.point(unit, &mut position, &search);
        assert_eq!(found.unwrap_err().reason(), Some(LogicalReason::NotFound));
        // It looked at record 2 on the way.
        let mut other = file.position().unwrap();
        let found = file.point(unit, &mut other, &search);
        assert_eq!(found.unwrap_err().reason(), Some(LogicalReason::NotFound));
        let next = file.put(unit, &mut other, &[8; 80]).unwrap();
        assert_eq!(next.number, Some(RecordNumber(1)));
    });
}

#[test]
fn blocks_of_a_linear_cluster_are_read_and_written_by_address() {
    let catalog = catalog();
    other(&catalog, "L", Organization::Linear);
    let file = open(&catalog, "L", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    let mut block = Vec::new();
    within(&catalog, |unit| {
        let behind = file.get_block(unit, &mut position, Rba(0), Intent::Look, &mut block);
        assert_eq!(behind.unwrap_err().reason(), Some(LogicalReason::EndOfData));
        file.put_block(unit, &mut position, Rba(8192), &[7; 4096]).unwrap();
        file.get_block(unit, &mut position, Rba(4096), Intent::Look, &mut block).unwrap();
        assert!(block == [0; 4096]);
        file.get_block(unit, &mut position, Rba(8192), Intent::Update, &mut block).unwrap();
        assert!(block == [7; 4096]);
        assert_eq!(file.end_of_blocks(unit).unwrap(), 12_288);
        let odd = file.put_block(unit, &mut position, Rba(100), &[7; 4096]);
        assert_eq!(odd.unwrap_err().reason(), Some(LogicalReason::BadAddress));
        let short = file.put_block(unit, &mut position, Rba(0), &[7; 4095]);
        assert_eq!(short.unwrap_err().reason(), Some(LogicalReason::BadLength));
    });
    assert_eq!(catalog.get(&name("L")).unwrap().unwrap().cluster().unwrap().record_bytes_max, 4096);
    assert!(catalog.store().set("L").unwrap().is_some());
}
