//! Files whose medium crashes, is full, or fails.

#![allow(clippy::unwrap_used)] // a test that fails says where

use std::fmt;
use std::sync::Arc;

use redb::StorageBackend;
use seam::clock::RealClock;
use seam::sync::Mutex;

use crate::core::{Change, Core, Source};
use crate::keeper::Kept as _;
use crate::{Definition, IndexedFile, Key, Refusal};

/// A file in memory that knows what is durable of it.
#[derive(Default)]
struct Medium {
    now: Vec<u8>,
    durable: Vec<u8>,
    /// What is written and not durable: where and what, or a length.
    pending: Vec<(u64, Result<Vec<u8>, u64>)>,
    /// How many writes still work.
    left: Option<usize>,
    /// After how many writes one fails, and those behind it work again.
    once: Option<usize>,
    /// How long it may become by writes; beyond that the device is full.
    most: Option<u64>,
    /// Bytes that were ever written, as a file system that is asked for room counts them.
    used: u64,
}

#[derive(Clone)]
struct Shared(Arc<Mutex<Medium>>);

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a medium of a test")
    }
}

fn failed() -> std::io::Error {
    std::io::Error::other("the power is off")
}

impl Medium {
    fn works(&mut self) -> std::io::Result<()> {
        match &mut self.once {
            Some(0) => {
                self.once = None;
                return Err(failed());
            }
            Some(left) => *left -= 1,
            None => (),
        }
        match &mut self.left {
            Some(0) => Err(failed()),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// What is there after a power cut: of what was not durable, some is.
    fn crash(&mut self, mut seed: u64) {
        let mut image = self.durable.clone();
        for (at, what) in self.pending.drain(..) {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
            let (fate, cut) = (seed >> 33 & 3, (seed >> 40) as usize);
            match what {
                Err(len) if fate > 0 => image.resize(len as usize, 0),
                Ok(bytes) if fate > 0 => {
                    // Sectors reach the medium or not, each for itself.
                    let keep =
                        if fate == 1 { (cut % (bytes.len() + 1)) & !511 } else { bytes.len() };
                    let (begin, end) = (at as usize, at as usize + keep);
                    if image.len() < end {
                        image.resize(end, 0);
                    }
                    image[begin..end].copy_from_slice(&bytes[..keep]);
                }
                _ => (),
            }
        }
        (self.now, self.durable, self.left) = (image.clone(), image, None);
    }
}

impl StorageBackend for Shared {
    fn len(&self) -> std::io::Result<u64> {
        Ok(self.0.lock().now.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
        let medium = self.0.lock();
        let begin = offset as usize;
        let bytes = medium.now.get(begin..begin + out.len()).ok_or_else(failed)?;
        out.copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&self, len: u64) -> std::io::Result<()> {
        let mut medium = self.0.lock();
        medium.works()?;
        medium.now.resize(len as usize, 0);
        medium.pending.push((0, Err(len)));
        Ok(())
    }

    fn sync_data(&self) -> std::io::Result<()> {
        let mut medium = self.0.lock();
        medium.works()?;
        medium.durable = medium.now.clone();
        medium.pending.clear();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> std::io::Result<()> {
        let mut medium = self.0.lock();
        medium.works()?;
        let end = offset + data.len() as u64;
        // What has room already is written in place.
        if medium.most.is_some_and(|most| end > most.max(medium.used)) {
            return Err(rustix::io::Errno::NOSPC.into());
        }
        medium.used = medium.used.max(end);
        let (begin, end) = (offset as usize, end as usize);
        medium.now.get_mut(begin..end).ok_or_else(failed)?.copy_from_slice(data);
        medium.pending.push((offset, Ok(data.to_vec())));
        Ok(())
    }
}

fn definition() -> Definition {
    let keys = vec![Key::new(0, 4), Key::new(4, 2).with_duplicates(), Key::new(6, 4)];
    Definition { least: 10, most: 300, keys }
}

impl Shared {
    fn new() -> Shared {
        Shared(Arc::new(Mutex::new(Medium::default())))
    }

    fn source(&self) -> Result<Source, Refusal> {
        let theirs = self.clone();
        let open = move || {
            let opened = redb::Builder::new().create_with_backend(theirs.clone());
            opened.map_err(Refusal::of_store)
        };
        let (store, medium) = (Some(open()?), self.clone());
        let room = move || {
            let medium = medium.0.lock();
            medium.most.map_or(u64::MAX, |most| most.saturating_sub(medium.used))
        };
        Ok(Source::Writer { store, open: Box::new(open), room: Box::new(room) })
    }

    fn create(&self) -> IndexedFile {
        let source = self.source().unwrap();
        if let Source::Writer { store: Some(store), .. } = &source {
            Core::create(store, &definition()).unwrap();
        }
        drop(source);
        self.open().unwrap()
    }

    fn open(&self) -> Result<IndexedFile, Refusal> {
        let core = Core::open(self.source()?, Arc::new(RealClock::new()))?;
        IndexedFile::over(core, &definition())
    }
}

/// Everything along every key.
fn dump(file: &mut IndexedFile) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let mut record = Vec::new();
    for key in 0..3 {
        if file.start(key, crate::Relation::First, b"").is_err() {
            continue;
        }
        loop {
            match file.next(false, &mut record) {
                Ok(_) => all.push(record.clone()),
                Err(Refusal::End) => break,
                Err(refusal) => panic!("{refusal}"),
            }
        }
    }
    all
}

/// The same requests for the same numbers.
fn request(file: &mut IndexedFile, number: u64) -> Result<(), Refusal> {
    let mut mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^= mixed >> 29;
    let (key, group, unique) = (mixed >> 8 & 63, mixed >> 16 & 3, mixed >> 24 & 127);
    let fill = "f".repeat((mixed >> 32 & 255) as usize);
    let record = format!("{key:04}{group:02}{unique:04}{fill}");
    match mixed & 7 {
        0 => file.delete(Some(format!("{key:04}").as_bytes())),
        1 | 2 => file.rewrite(record.as_bytes(), false).map(drop),
        _ => file.write(record.as_bytes(), false).map(drop),
    }
}

fn is_fault(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Device(_) | Refusal::NoRoom | Refusal::Damaged(_))
}

#[test]
fn after_a_power_cut_at_any_write_the_file_is_that_of_a_whole_request() {
    const REQUESTS: u64 = 120;
    const EACH: u64 = 12;
    let mut states = vec![];
    let mut twin = Shared::new().create();
    for number in 0..REQUESTS {
        if number % EACH == 0 {
            states.push(dump(&mut twin));
        }
        let _ = request(&mut twin, number);
    }
    states.push(dump(&mut twin));
    let mut cuts = 0;
    for left in (0..2000).step_by(3) {
        let medium = Shared::new();
        let mut file = medium.create();
        medium.0.lock().left = Some(left);
        let mut durable = 0;
        for number in 0..REQUESTS {
            if number % EACH == 0 && number > 0 {
                match file.commit() {
                    Ok(()) => durable = (number / EACH) as usize,
                    Err(_) => break,
                }
            }
            if request(&mut file, number).is_err_and(|refusal| is_fault(&refusal)) {
                break;
            }
        }
        let is_cut = medium.0.lock().left == Some(0);
        std::mem::forget(file);
        medium.0.lock().crash(left as u64);
        let mut file = medium.open().unwrap_or_else(|refusal| panic!("{left}: {refusal}"));
        let found = dump(&mut file);
        let at = states.iter().position(|state| *state == found);
        let at = at.unwrap_or_else(|| panic!("{left}: no state of a whole request"));
        assert!(at >= durable, "{left}: {durable} was durable, and it is {at}");
        if !is_cut {
            break;
        }
        cuts += 1;
    }
    assert!(cuts > 20, "{cuts}");
}

#[test]
fn a_full_device_refuses_a_request_and_loses_none_before_it() {
    for most in [1_100_000_u64, 1_400_000, 2_000_000] {
        let (medium, twin) = (Shared::new(), Shared::new());
        let (mut file, mut twin) = (medium.create(), twin.create());
        medium.0.lock().most = Some(most);
        let mut refused = 0;
        for number in 0..40_000_u64 {
            let record = format!("{number:04}00{number:04}{}", "f".repeat(250));
            match file.write(record.as_bytes(), false) {
                Ok(_) => drop(twin.write(record.as_bytes(), false).unwrap()),
                Err(Refusal::NoRoom) => refused += 1,
                Err(refusal) => panic!("{number}: {refusal}"),
            }
            if refused == 3 {
                break;
            }
        }
        assert_eq!(refused, 3);
        assert!(dump(&mut file) == dump(&mut twin), "{most}");
        file.close().unwrap();
        drop(file);
        assert!(dump(&mut medium.open().unwrap()) == dump(&mut twin), "{most}");
    }
}

#[test]
fn a_request_that_is_taken_back_leaves_those_before_it_that_wait_for_their_commit() {
    let medium = Shared::new();
    let mut file = medium.create();
    let fill = "f".repeat(200);
    let record = |number: u32| format!("{number:04}00{number:04}{fill}");
    for number in (0..800).step_by(10) {
        file.write(record(number).as_bytes(), false).unwrap();
    }
    // The device is full in between: each request would split a block, and is taken back.
    medium.0.lock().most = Some(0);
    for number in 1..1000 {
        if number % 10 > 0 {
            let written = file.write(record(number).as_bytes(), false);
            if written.is_ok() {
                // What has room within the file.
                continue;
            }
            let mut found = Vec::new();
            for number in (0..800).step_by(10) {
                file.read(0, format!("{number:04}").as_bytes(), &mut found).unwrap();
                assert_eq!(found, record(number).as_bytes());
            }
            assert!(file.read(0, format!("{number:04}").as_bytes(), &mut found).is_err());
        }
    }
    medium.0.lock().most = None;
    let expected = dump(&mut file);
    file.close().unwrap();
    assert!(dump(&mut medium.open().unwrap()) == expected);
}

#[test]
fn what_could_not_be_committed_is_committed_when_there_is_room_again() {
    let medium = Shared::new();
    let mut file = medium.create();
    let fill = "f".repeat(250);
    for number in 0..8000 {
        file.write(format!("{number:04}00{number:04}{fill}").as_bytes(), true).unwrap();
    }
    medium.0.lock().most = Some(0);
    assert!(matches!(file.commit(), Err(Refusal::NoRoom)));
    let expected = dump(&mut file);
    assert!(matches!(file.write(b"zzzz00zzzz", false), Err(Refusal::NoRoom)));
    assert!(dump(&mut file) == expected);
    medium.0.lock().most = None;
    file.close().unwrap();
    assert!(dump(&mut medium.open().unwrap()) == expected);
}

#[test]
fn a_commit_that_fails_with_the_file_lost_is_due_later_and_not_at_once() {
    let medium = Shared::new();
    drop(medium.create());
    let mut core = Core::open(medium.source().unwrap(), Arc::new(RealClock::new())).unwrap();
    let put = Change::Put { tree: 0, key: b"0001".to_vec(), value: b"000100name".to_vec() };
    core.change(&[put]).unwrap();
    // The commit fails, and then the file cannot be opened again.
    medium.0.lock().left = Some(0);
    for _ in 0..3 {
        assert!(core.commit().is_err());
        assert!(core.left().unwrap() > std::time::Duration::ZERO);
    }
    medium.0.lock().left = None;
    core.commit().unwrap();
    assert_eq!(core.left(), None);
    drop(core);
    let mut core = Core::open(medium.source().unwrap(), Arc::new(RealClock::new())).unwrap();
    assert_eq!(core.record(b"0001").unwrap(), Some(&b"000100name"[..]));
}

#[test]
fn an_old_commit_is_not_taken_for_the_one_that_has_failed() {
    let (mut before, mut failures) = (0, 0);
    for left in 0..60 {
        let medium = Shared::new();
        let mut file = medium.create();
        file.write(b"000100name", false).unwrap();
        medium.0.lock().left = Some(left);
        let is_done = file.commit().is_ok();
        let image = Shared::new();
        image.0.lock().now = medium.0.lock().now.clone();
        let is_taken = image.open().is_ok_and(|mut file| !dump(&mut file).is_empty());
        std::mem::forget(file);
        if is_done {
            break;
        }
        if !is_taken {
            continue;
        }
        // It was taken, and that could not be found out.
        before += 1;
        for once in 0..40 {
            let medium = Shared::new();
            let mut file = medium.create();
            file.write(b"000100name", false).unwrap();
            medium.0.lock().left = Some(left);
            assert!(file.commit().is_err());
            medium.0.lock().left = None;
            file.write(b"000200next", false).unwrap();
            medium.0.lock().once = Some(once);
            let committed = file.commit();
            std::mem::forget(file);
            failures += u32::from(committed.is_err());
            if committed.is_ok() {
                medium.0.lock().once = None;
                let found = dump(&mut medium.open().unwrap());
                assert!(found.contains(&b"000200next".to_vec()), "{left} {once}");
            }
        }
    }
    assert!(before > 0 && failures > 0, "{before} {failures}");
}

#[test]
fn what_is_locked_is_what_the_path_leads_to() {
    let path = std::env::temp_dir().join(format!("holdfast-place-{}", std::process::id()));
    let open = || {
        let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::CREATE;
        rustix::fs::open(&path, flags, rustix::fs::Mode::from_raw_mode(0o600)).unwrap()
    };
    let old = open();
    assert!(crate::device::is_at(&old, &path));
    rustix::fs::unlink(&path).unwrap();
    assert!(!crate::device::is_at(&old, &path));
    let new = open();
    assert!(crate::device::is_at(&new, &path) && !crate::device::is_at(&old, &path));
    rustix::fs::unlink(&path).unwrap();
}

#[test]
fn a_changed_byte_is_an_error_and_never_another_record() {
    let medium = Shared::new();
    let mut file = medium.create();
    let text = "ABCDEFGHIJ".repeat(20);
    for number in 0..200 {
        file.write(format!("{number:04}00{number:04}{text}").as_bytes(), true).unwrap();
    }
    file.close().unwrap();
    drop(file);
    let at = {
        let medium = medium.0.lock();
        medium.now.windows(10).rposition(|window| window == b"ABCDEFGHIJ").unwrap()
    };
    medium.0.lock().now[at] = b'X';
    let mut file = medium.open().unwrap();
    let (mut record, mut damaged) = (Vec::new(), 0);
    for number in 0..200 {
        match file.read(0, format!("{number:04}").as_bytes(), &mut record) {
            Ok(_) => assert_eq!(&record[10..], text.as_bytes()),
            Err(Refusal::Damaged(_)) => damaged += 1,
            Err(refusal) => panic!("{refusal}"),
        }
    }
    assert!(damaged > 0);
}
