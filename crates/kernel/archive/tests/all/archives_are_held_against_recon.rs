//! What no single file shows: an archive that RECON does not know or knows otherwise, one that is
//! in no folder, groups that none holds, and image copies that need more than there is.

#![allow(clippy::unwrap_used)] // also in helpers, which are not tests by name

use std::sync::Arc;

use crate::common::{Bench, body};
use base::{DataSetId, GroupNumber, KeyGeneration, Lsn, UowId};
use holdfast_archive::{ArchiveCatalog, CatalogEntry, Cure, Discord, LogBegins, audit};
use recon::{
    ArchiveFile, CopyKind, DataSetEntry, ImageCopy, Protection, Record, Restored, SetExtent, State,
};

/// Three archives and more log behind them.
fn three_archives(bench: &Bench) -> Vec<CatalogEntry> {
    for round in 0..3 {
        for index in 0..4 {
            let uow = UowId(round * 100 + index);
            let place = bench.log().append(1, 0, uow, Lsn::NONE, &[&body(uow.0, 300)]).unwrap();
            bench.log().wait_durable(place.end).unwrap();
        }
        bench.archiver().archive_now().unwrap();
    }
    let list = bench.archiver().catalog().list();
    assert_eq!(list.len(), 3, "no segment was full: {list:?}");
    list
}

/// What RECON writes of archives, and of one data set.
fn records_of(list: &[CatalogEntry]) -> Vec<Record> {
    let mut records = vec![Record::Set(DataSetEntry {
        set: DataSetId(1),
        name: "ACCOUNTS".into(),
        protection: Protection::Sealed,
        label: "data".into(),
        generations: vec![KeyGeneration(1)],
        made: Lsn(1),
    })];
    let numbered = (1..).zip(list);
    records.extend(
        numbered.map(|(number, copy)| Record::Archive(copy.info.entry(number, &copy.files, "log"))),
    );
    records
}

/// A full image copy that needs the log from `start` on.
fn copied(start: Lsn) -> Record {
    let extent = SetExtent {
        set: DataSetId(1),
        name: "ACCOUNTS".into(),
        intervals: 1,
        label: "data".into(),
        generations: vec![KeyGeneration(1)],
    };
    Record::ImageCopy(ImageCopy {
        number: 99,
        kind: CopyKind::Full,
        base: 0,
        files: vec![ArchiveFile { path: "/copies/99".into(), lost: false }],
        sets: vec![extent],
        start,
        end: start.plus(1),
        from_us: 1,
        to_us: 1,
        label: "system".into(),
        generation: KeyGeneration(1),
        bytes: 1,
        tag: [0; 16],
    })
}

fn begins(bench: &Bench) -> Option<LogBegins> {
    let segments = bench.log().segments();
    segments.first().map(|first| LogBegins { group: first.first_group, lsn: first.first })
}

fn look(catalog: &Arc<ArchiveCatalog>, records: &[Record], log: Option<LogBegins>) -> Vec<Discord> {
    audit(catalog, &State::of(records), log)
}

#[test]
fn archives_that_are_as_recon_says_are_told_nothing_of() {
    let bench = Bench::new(2, |_| {});
    let list = three_archives(&bench);
    let catalog = bench.archiver().catalog();
    assert_eq!(look(catalog, &records_of(&list), begins(&bench)), []);
    let mut copied_too = records_of(&list);
    copied_too.push(copied(list[1].info.first));
    assert_eq!(look(catalog, &copied_too, begins(&bench)), []);
    bench.end();
}

#[test]
fn an_archive_that_recon_does_not_know_or_knows_otherwise_is_named() {
    let bench = Bench::new(1, |_| {});
    let list = three_archives(&bench);
    let catalog = bench.archiver().catalog();
    let (path, from) = (list[1].files[0].clone(), list[1].info.from);

    let mut unknown = records_of(&list);
    unknown.remove(2);
    let found = look(catalog, &unknown, begins(&bench));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].from, found[0].cure), (from, Cure::Record));
    assert_eq!(found[0].path.as_ref(), Some(&path));

    type Change = fn(&mut recon::Archive);
    let changes: [(Change, &str); 5] = [
        (|one| one.tag[3] ^= 1, "another seal"),
        (|one| one.bytes += 4096, "length"),
        (|one| one.end = one.end.plus(1), "end"),
        (|one| one.first = one.first.plus(1), "first position"),
        (|one| one.last_group = GroupNumber(one.last_group.0 + 1), "last group"),
    ];
    for (change, word) in changes {
        let mut other = records_of(&list);
        let Record::Archive(one) = &mut other[2] else { panic!("an archive") };
        change(one);
        let found = look(catalog, &other, begins(&bench));
        assert_eq!(found.len(), 1, "{word}: {found:?}");
        assert_eq!((found[0].from, found[0].cure), (from, Cure::Copies), "{word}");
        assert!(found[0].why.contains(word), "{word}: {found:?}");
        // An image copy behind it makes all of that harmless.
        other.push(copied(list[2].info.end));
        let found = look(catalog, &other, begins(&bench));
        assert!(found.iter().all(|one| one.cure == Cure::Unneeded), "{word}: {found:?}");
    }
    bench.end();
}

#[test]
fn what_is_in_no_folder_is_named_once_and_as_needed_or_not() {
    let bench = Bench::new(1, |_| {});
    let list = three_archives(&bench);
    bench.remove(&list[1].files[0]);
    let catalog = Arc::new(ArchiveCatalog::open(bench.env(), bench.config.clone()).unwrap());

    let found = look(&catalog, &records_of(&list), begins(&bench));
    assert_eq!(found.len(), 1, "the gap is that of the archive: {found:?}");
    assert_eq!((found[0].from, found[0].cure), (list[1].info.from, Cure::Log));
    assert_eq!(found[0].path.as_ref(), Some(&list[1].files[0]));
    // Once the log was used again it has them no more.
    let later = LogBegins { group: list[2].info.from, lsn: list[2].info.first };
    let found = look(&catalog, &records_of(&list), Some(later));
    assert_eq!((found[0].from, found[0].cure), (list[1].info.from, Cure::Copies));

    let mut behind = records_of(&list);
    behind.push(copied(list[2].info.first));
    let found = look(&catalog, &behind, begins(&bench));
    assert_eq!(found.iter().map(|one| one.cure).collect::<Vec<_>>(), [Cure::Unneeded]);

    // RECON never heard of it: only the chain shows that something is missing.
    let mut unknown = records_of(&list);
    unknown.remove(2);
    let found = look(&catalog, &unknown, begins(&bench));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].from, found[0].cure), (list[1].info.from, Cure::Log));
    assert!(found[0].why.contains("no archive holds"), "{found:?}");
    // What a restore has lost nobody asks for.
    let (end, began) = (list[0].info.end, list[2].info.first);
    unknown.push(Record::Restored(Restored { end, began }));
    assert_eq!(look(&catalog, &unknown, begins(&bench)), []);
    bench.end();
}

#[test]
fn the_log_goes_on_from_the_newest_archive_and_copies_need_no_more_than_there_is() {
    let bench = Bench::new(1, |_| {});
    let list = three_archives(&bench);
    let catalog = bench.archiver().catalog();
    let newest = &list[2].info;
    let later = LogBegins { group: GroupNumber(newest.to.0 + 3), lsn: newest.end.plus(500) };
    let found = look(catalog, &records_of(&list), Some(later));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].from, found[0].cure), (newest.to, Cure::Copies));

    // The oldest archive was taken away, and RECON was told so; an image copy needs it.
    bench.remove(&list[0].files[0]);
    let catalog = Arc::new(ArchiveCatalog::open(bench.env(), bench.config.clone()).unwrap());
    let mut needed = records_of(&list);
    needed.remove(1);
    needed.push(copied(list[0].info.first));
    let from = LogBegins { group: list[1].info.from, lsn: list[1].info.first };
    let found = look(&catalog, &needed, Some(from));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].from, found[0].cure), (list[1].info.from, Cure::Copies));
    assert!(found[0].why.contains("image copies need"), "{found:?}");
    bench.end();
}

#[test]
fn an_archive_of_another_past_breaks_the_chain() {
    let bench = Bench::new(1, |_| {});
    let list = three_archives(&bench);
    // Another life of the same system: its groups have the same numbers, and other seals.
    let other = Bench::new(1, |_| {});
    let others = three_archives(&other);
    assert_eq!(others[1].info.from, list[1].info.from);
    bench.copy(&others[1].files[0], &list[1].files[0]);
    let catalog = Arc::new(ArchiveCatalog::open(bench.env(), bench.config.clone()).unwrap());
    let found = look(&catalog, &records_of(&list), begins(&bench));
    let whys: Vec<&str> = found.iter().map(|one| &one.why[..]).collect();
    assert!(found.iter().all(|one| one.cure == Cure::Copies), "{found:?}");
    assert!(whys.iter().any(|why| why.contains("another seal")), "{whys:?}");
    assert!(whys.iter().any(|why| why.contains("does not go on from")), "{whys:?}");
    bench.end();
    other.end();
}
