//! Who may have a file, and what else may stand in its place.

use std::time::Duration;

use indexed_files::{Definition, Key, Kind, Purpose, Refusal, kind_of};

use crate::common::{Folder, accounts, open};

#[test]
fn several_may_read_and_one_may_write() {
    let folder = Folder::new("sharing");
    let mut file = folder.open(Purpose::Create).unwrap();
    file.write(b"000100name", false).unwrap();
    for purpose in [Purpose::Read, Purpose::Change, Purpose::Create] {
        assert!(matches!(folder.open(purpose), Err(Refusal::InUse)), "{purpose:?}");
    }
    file.close().unwrap();
    let (mut one, mut two) =
        (folder.open(Purpose::Read).unwrap(), folder.open(Purpose::Read).unwrap());
    let mut record = Vec::new();
    one.next(false, &mut record).unwrap();
    two.next(false, &mut record).unwrap();
    assert_eq!(record, b"000100name");
    assert!(matches!(folder.open(Purpose::Change), Err(Refusal::InUse)));
    assert!(matches!(folder.open(Purpose::Create), Err(Refusal::InUse)));
    assert!(matches!(indexed_files::remove(&folder.path()), Err(Refusal::InUse)));
    drop((one, two));
    indexed_files::remove(&folder.path()).unwrap();
    assert!(matches!(folder.open(Purpose::Read), Err(Refusal::Missing)));
}

#[test]
fn a_file_that_somebody_has_made_meanwhile_is_not_emptied() {
    let folder = Folder::new("meanwhile");
    let mut file = folder.open(Purpose::CreateIfMissing).unwrap();
    file.write(b"000100name", false).unwrap();
    assert!(matches!(folder.open(Purpose::CreateIfMissing), Err(Refusal::InUse)));
    file.close().unwrap();
    let mut record = Vec::new();
    let mut file = folder.open(Purpose::CreateIfMissing).unwrap();
    file.next(false, &mut record).unwrap();
    assert_eq!(record, b"000100name");
    file.rewrite(b"000100more", false).unwrap();
    file.close().unwrap();
}

#[test]
fn a_file_with_other_keys_or_lengths_is_refused() {
    let folder = Folder::new("attributes");
    folder.open(Purpose::Create).unwrap().close().unwrap();
    let with = |keys: Vec<Key>, most| Definition { least: 10, most, keys };
    let wrong = [
        with(vec![Key::new(0, 5)], 300),
        with(vec![Key::new(0, 4)], 299),
        with(vec![Key::new(0, 4), Key::new(4, 2)], 300),
        with(vec![Key::new(0, 4), Key::new(10, 2)], 300),
    ];
    for definition in wrong {
        for purpose in [Purpose::Read, Purpose::Change] {
            let opened = open(&folder.path(), &definition, purpose);
            assert!(matches!(opened, Err(Refusal::Attributes)), "{definition:?}");
        }
    }
    let fewer = with(vec![Key::new(0, 4), Key::new(6, 4)], 300);
    let mut file = open(&folder.path(), &fewer, Purpose::Change).unwrap();
    // The keys that the program does not know are kept too.
    file.write(b"000177name", false).unwrap();
    file.close().unwrap();
    let mut record = Vec::new();
    folder.open(Purpose::Read).unwrap().read(1, b"77", &mut record).unwrap();
    assert_eq!(record, b"000177name");
}

#[test]
#[allow(clippy::disallowed_methods)] // files that people own
fn files_of_others_are_never_written() {
    let folder = Folder::new("foreign");
    let texts: [&[u8]; 3] = [b"some text of somebody", b"short", &[0; 40]];
    for text in texts {
        std::fs::write(folder.path(), text).unwrap();
        assert_eq!(kind_of(&folder.path()).unwrap(), Kind::Foreign);
        for purpose in [Purpose::Read, Purpose::Change, Purpose::Create] {
            assert!(matches!(folder.open(purpose), Err(Refusal::Foreign)), "{purpose:?}");
        }
        assert_eq!(std::fs::read(folder.path()).unwrap(), text);
    }
    std::fs::write(folder.path(), b"").unwrap();
    assert!(matches!(folder.open(Purpose::Read), Err(Refusal::Missing)));
    folder.open(Purpose::Create).unwrap().close().unwrap();
    assert_eq!(kind_of(&folder.path()).unwrap(), Kind::Indexed);
}

#[test]
#[allow(clippy::disallowed_methods)] // a copy of the file
fn what_was_changed_is_durable_without_another_request() {
    let folder = Folder::new("keeper");
    let mut file = folder.open(Purpose::Create).unwrap();
    file.write(b"000100name", false).unwrap();
    let copy = folder.path().with_extension("copy");
    let mut record = Vec::new();
    let clock = seam::clock::RealClock::new();
    loop {
        std::fs::copy(folder.path(), &copy).unwrap();
        let mut other = open(&copy, &accounts(), Purpose::Change).unwrap();
        if other.next(false, &mut record).is_ok() {
            break;
        }
        other.close().unwrap();
        seam::clock::Clock::sleep(&clock, Duration::from_millis(20));
    }
    assert_eq!(record, b"000100name");
    // As a kill leaves it: the copy was made while the file was open.
    drop(file);
}
