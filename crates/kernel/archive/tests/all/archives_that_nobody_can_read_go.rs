//! An archive that is damaged on all copies goes when no recovery needs what it held, and not
//! before; one of which a copy may be read yet stays.

#![allow(clippy::unwrap_used)] // also in helpers, which are not tests by name

use crate::common::{Bench, body, bytes, put, spoil};
use base::{GroupNumber, Lsn, UowId};
use holdfast_archive::{ArchiveCatalog, ArchiveError, ArchiveInfo, CatalogEntry, Registry};
use seam::sync::Mutex;

/// Says what is needed and where archives end, and is told what goes.
struct Word {
    needed: Lsn,
    ends: Vec<(GroupNumber, Lsn)>,
    gone: Mutex<Vec<GroupNumber>>,
}

impl Word {
    fn new(needed: Lsn, known: &[CatalogEntry]) -> Word {
        let ends = known.iter().map(|copy| (copy.info.from, copy.info.end)).collect();
        Word { needed, ends, gone: Mutex::new(Vec::new()) }
    }
}

impl Registry for Word {
    fn archived(&self, _: &ArchiveInfo, _: &[std::path::PathBuf]) -> Result<(), String> {
        Ok(())
    }

    fn deleting(&self, _: &ArchiveInfo) -> Result<(), String> {
        Ok(())
    }

    fn deleting_unread(&self, from: GroupNumber) -> Result<(), String> {
        self.gone.lock().push(from);
        Ok(())
    }

    fn end_of(&self, from: GroupNumber) -> Option<Lsn> {
        self.ends.iter().find(|(known, _)| *known == from).map(|(_, end)| *end)
    }

    fn needed_from(&self) -> Result<Lsn, String> {
        Ok(self.needed)
    }
}

fn archives(bench: &Bench, count: u64) -> Vec<CatalogEntry> {
    for round in 0..count {
        let uow = UowId(round);
        let place = bench.log().append(1, 0, uow, Lsn::NONE, &[&body(round, 300)]).unwrap();
        bench.log().wait_durable(place.end).unwrap();
        bench.archiver().archive_now().unwrap();
    }
    bench.archiver().catalog().list()
}

fn look(bench: &Bench) -> ArchiveCatalog {
    ArchiveCatalog::open(bench.env(), bench.config.clone()).unwrap()
}

#[test]
fn the_newest_one_goes_when_copies_behind_it_are_there() {
    let bench = Bench::new(2, |_| {});
    let list = archives(&bench, 3);
    bench.end();
    let newest = &list[2];
    newest.files.iter().for_each(|file| spoil(file, 50, &[0x5a]));
    let catalog = look(&bench);
    assert_eq!(catalog.unread_archives().len(), 1);
    assert_eq!(catalog.unread().len(), 2, "a restore is refused");

    let needed = Word::new(newest.info.first, &list);
    assert!(catalog.expired_unread(&needed).unwrap().is_empty());
    let refused = catalog.delete_unread(newest.info.from, &needed);
    assert!(matches!(refused, Err(ArchiveError::Needed { .. })), "{refused:?}");
    // Nobody says where it ended: it may reach as far as anything.
    let unknown = Word::new(Lsn(u64::MAX), &[]);
    assert!(catalog.expired_unread(&unknown).unwrap().is_empty());
    assert!(catalog.delete_unread(newest.info.from, &unknown).is_err());

    let word = Word::new(newest.info.end, &list);
    assert_eq!(catalog.expired_unread(&word).unwrap(), catalog.unread_archives());
    let gone = catalog.delete_unread(newest.info.from, &word).unwrap();
    assert_eq!((gone.from, gone.files.len()), (newest.info.from, 2));
    assert_eq!(*word.gone.lock(), [newest.info.from]);
    assert!(newest.files.iter().all(|file| !bench.exists(file)));
    assert_eq!((catalog.unread().len(), catalog.faults().len(), catalog.list().len()), (0, 0, 2));
}

#[test]
fn where_one_ended_the_archive_behind_it_says() {
    let bench = Bench::new(1, |_| {});
    let list = archives(&bench, 3);
    bench.end();
    spoil(&list[0].files[0], 50, &[0x5a]);
    let catalog = look(&bench);
    let short = Word::new(Lsn(list[1].info.first.0 - 1), &[]);
    assert!(catalog.delete_unread(list[0].info.from, &short).is_err());
    let word = Word::new(list[1].info.first, &[]);
    catalog.delete_unread(list[0].info.from, &word).unwrap();
    assert!(!bench.exists(&list[0].files[0]));
}

#[test]
fn what_another_release_may_read_or_one_copy_still_holds_stays() {
    let bench = Bench::new(2, |_| {});
    let list = archives(&bench, 2);
    bench.end();
    let (word, from) = (Word::new(Lsn(u64::MAX), &list), list[0].info.from);
    let [one, other] = [0, 1].map(|copy| (&list[0].files[copy], bytes(&list[0].files[copy])));
    spoil(one.0, 50, &[0x5a]);
    assert!(look(&bench).unread_archives().is_empty(), "the other copy is whole");
    // Bytes 4 and 5 are the version: a newer release may have written this one.
    spoil(other.0, 4, &[0xff, 0]);
    let catalog = look(&bench);
    assert!(catalog.unread_archives().is_empty());
    let refused = catalog.delete_unread(from, &word);
    assert!(matches!(refused, Err(ArchiveError::NoSuch { .. })), "{refused:?}");
    assert!(list[0].files.iter().all(|file| bench.exists(file)));
    put(one.0, &one.1);
    assert_eq!(look(&bench).list().len(), 2);
}
