//! Tests of the keyset against files in memory.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicU32,
    Ordering::{Relaxed, SeqCst},
};

use base::Coded;
use zeroize::Zeroizing;

use super::*;
use crate::key_file::{LABEL_BYTES_MAX, checksum};
use crate::testing::{MemoryDisk, NOW_US, NoEntropy, hex, outside, unhex};
use crate::{Tag, Token, TokenFault, WorkingKey};

const SYSTEM: SystemId = SystemId([0x5a; 16]);

struct Bench {
    seam: Seam,
    disk: Arc<MemoryDisk>,
    path: PathBuf,
}

impl Bench {
    fn new() -> Bench {
        let (seam, disk) = outside(7);
        Bench { seam, disk, path: PathBuf::from("/keys/ring") }
    }

    fn create(&self) -> Keyset {
        let passphrase = Passphrase::from("first");
        Keyset::create(&self.seam, &self.path, SYSTEM, &passphrase, KdfCost::TEST).unwrap()
    }

    fn open(&self, passphrase: &str) -> Result<Keyset, SealError> {
        Keyset::open(&self.seam, &self.path, SYSTEM, &Passphrase::from(passphrase))
    }

    fn bytes(&self) -> Vec<u8> {
        self.disk.bytes(&self.path)
    }
}

fn key(keyset: &Keyset, label: &str, generation: u32) -> [u8; 32] {
    *keyset.key(label, KeyGeneration(generation)).unwrap().bytes()
}

fn open_bytes(bytes: &[u8]) -> Result<State, SealError> {
    State::open(bytes, Path::new("ring"), SYSTEM, &Passphrase::from("first"))
}

/// Puts right the checksum of bytes that were changed, as a forger would.
fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    let at = bytes.len() - 16;
    let sum = checksum(&bytes[..at]);
    bytes[at..].copy_from_slice(&sum);
    bytes
}

fn code(error: &SealError) -> &'static str {
    assert!(!error.remedy().is_empty() && !error.to_string().is_empty());
    error.code().0
}

#[test]
fn keys_come_back_from_the_file() {
    let bench = Bench::new();
    let keyset = bench.create();
    assert_eq!(keyset.add_label("PAYROLL").unwrap(), KeyGeneration(1));
    assert_eq!(keyset.add_label("LOG").unwrap(), KeyGeneration(1));
    assert_eq!(keyset.new_generation("PAYROLL").unwrap(), KeyGeneration(2));
    let again = bench.open("first").unwrap();
    assert_eq!(again.current("PAYROLL").unwrap(), KeyGeneration(2));
    for (label, generation) in [("PAYROLL", 1), ("PAYROLL", 2), ("LOG", 1)] {
        assert_eq!(key(&keyset, label, generation), key(&again, label, generation));
    }
    assert_ne!(key(&keyset, "PAYROLL", 1), key(&keyset, "PAYROLL", 2));
    assert_ne!(key(&keyset, "PAYROLL", 1), key(&keyset, "LOG", 1));
    assert_eq!(again.list(), keyset.list());
    let info = |label: &str, generation, current| KeyInfo {
        label: label.to_owned(),
        generation: KeyGeneration(generation),
        created_us: NOW_US,
        current,
    };
    let expected = [info("LOG", 1, true), info("PAYROLL", 1, false), info("PAYROLL", 2, true)];
    assert_eq!(keyset.list(), expected);
    let seen = Keyset::inspect(bench.disk.as_ref(), &bench.path).unwrap();
    assert_eq!((seen.system, seen.edition, seen.keys), (SYSTEM, 4, 3));
    assert_eq!((seen.version, seen.protection), (1, Protection::Passphrase(KdfCost::TEST)));
}

/// The next key of a running system brought back the passphrase that was changed beside it.
#[test]
fn what_another_process_has_written_is_not_undone() {
    let bench = Bench::new();
    let keyset = bench.create();
    keyset.add_label("A").unwrap();
    let other = bench.open("first").unwrap();
    other.change_passphrase(&Passphrase::from("second"), KdfCost::TEST).unwrap();
    let before = bench.bytes();
    for refused in [keyset.new_generation("A").map(drop), keyset.add_label("B").map(drop)] {
        assert_eq!(code(&refused.unwrap_err()), "HFS031");
    }
    assert_eq!(bench.bytes(), before);
    assert_eq!(keyset.current("A").unwrap(), KeyGeneration(1));
    assert!(bench.open("first").is_err());
    bench.open("second").unwrap().new_generation("A").unwrap();
}

#[test]
fn no_key_stands_in_the_file_in_clear() {
    let bench = Bench::new();
    let keyset = bench.create();
    keyset.add_label("A").unwrap();
    let bytes = bench.bytes();
    for secret in [key(&keyset, "A", 1), *keyset.state.lock().master.bytes()] {
        assert!(!bytes.windows(8).any(|window| window == &secret[..8]));
    }
    assert!(!format!("{keyset:?}").contains("DataKey"));
}

#[test]
fn labels_and_generations_that_do_not_exist_are_named() {
    let bench = Bench::new();
    let keyset = bench.create();
    assert_eq!(code(&keyset.current("A").unwrap_err()), "HFS010");
    assert_eq!(code(&keyset.key("A", KeyGeneration(1)).unwrap_err()), "HFS010");
    assert_eq!(code(&keyset.new_generation("A").unwrap_err()), "HFS010");
    keyset.add_label("A").unwrap();
    assert_eq!(code(&keyset.key("A", KeyGeneration(2)).unwrap_err()), "HFS011");
    assert_eq!(code(&keyset.add_label("A").unwrap_err()), "HFS044");
    for bad in ["", "A B", "Ä", &"A".repeat(LABEL_BYTES_MAX + 1), "A/B", "A\n"] {
        assert_eq!(code(&keyset.add_label(bad).unwrap_err()), "HFS043", "{bad:?}");
    }
    keyset.add_label(&"A".repeat(LABEL_BYTES_MAX)).unwrap();
}

#[test]
fn a_deleted_generation_is_gone_and_the_current_one_cannot_be_deleted() {
    let bench = Bench::new();
    let keyset = bench.create();
    keyset.add_label("A").unwrap();
    keyset.new_generation("A").unwrap();
    assert_eq!(code(&keyset.delete_generation("A", KeyGeneration(2)).unwrap_err()), "HFS045");
    keyset.delete_generation("A", KeyGeneration(1)).unwrap();
    assert_eq!(code(&keyset.delete_generation("A", KeyGeneration(1)).unwrap_err()), "HFS011");
    let again = bench.open("first").unwrap();
    assert_eq!(code(&again.key("A", KeyGeneration(1)).unwrap_err()), "HFS011");
    assert_eq!(again.new_generation("A").unwrap(), KeyGeneration(3));
}

#[test]
fn a_changed_passphrase_opens_the_same_keys_and_the_old_one_opens_nothing() {
    let bench = Bench::new();
    let keyset = bench.create();
    keyset.add_label("A").unwrap();
    let cost = KdfCost { memory_kib: 32, passes: 2, lanes: 2 };
    keyset.change_passphrase(&Passphrase::from("second"), cost).unwrap();
    assert_eq!(code(&bench.open("first").unwrap_err()), "HFS027");
    let again = bench.open("second").unwrap();
    assert_eq!(key(&again, "A", 1), key(&keyset, "A", 1));
    let empty = Passphrase::from("");
    assert_eq!(code(&keyset.change_passphrase(&empty, cost).unwrap_err()), "HFS040");
    let greedy = KdfCost { memory_kib: 2 << 20, ..cost };
    let refused = keyset.change_passphrase(&Passphrase::from("x"), greedy).unwrap_err();
    assert_eq!(code(&refused), "HFS041");
    bench.open("second").unwrap();
}

#[test]
fn a_changed_master_key_wraps_the_same_data_keys() {
    let bench = Bench::new();
    let keyset = bench.create();
    keyset.add_label("A").unwrap();
    keyset.new_generation("A").unwrap();
    let before = *keyset.state.lock().master.bytes();
    assert_eq!(code(&keyset.change_master(&Passphrase::from("typo")).unwrap_err()), "HFS027");
    keyset.change_master(&Passphrase::from("first")).unwrap();
    let again = bench.open("first").unwrap();
    assert_ne!(before, *again.state.lock().master.bytes());
    for generation in [1, 2] {
        assert_eq!(key(&again, "A", generation), key(&keyset, "A", generation));
    }
}

#[test]
fn a_failed_replacement_leaves_ring_and_file_as_they_were() {
    let bench = Bench::new();
    let keyset = bench.create();
    keyset.add_label("A").unwrap();
    let (bytes, list) = (bench.bytes(), keyset.list());
    bench.disk.refuse_renames.store(true, SeqCst);
    assert_eq!(code(&keyset.new_generation("A").unwrap_err()), "HFS030");
    assert_eq!((bench.bytes(), keyset.list()), (bytes, list));
    bench.disk.refuse_renames.store(false, SeqCst);
    assert_eq!(keyset.new_generation("A").unwrap(), KeyGeneration(2));
    assert_eq!(bench.open("first").unwrap().list(), keyset.list());
}

#[test]
fn without_entropy_nothing_is_made() {
    let bench = Bench::new();
    let keyset = bench.create();
    let dry = Seam { entropy: Arc::new(NoEntropy), ..bench.seam.clone() };
    let keyset = Keyset { seam: dry, ..keyset };
    assert_eq!(code(&keyset.add_label("A").unwrap_err()), "HFS012");
    assert!(keyset.list().is_empty());
}

#[test]
fn each_way_of_not_opening_has_its_own_error() {
    let bench = Bench::new();
    assert_eq!(code(&bench.open("first").unwrap_err()), "HFS020");
    bench.create().add_label("A").unwrap();
    let passphrase = Passphrase::from("first");
    let again = Keyset::create(&bench.seam, &bench.path, SYSTEM, &passphrase, KdfCost::TEST);
    assert_eq!(code(&again.unwrap_err()), "HFS021");
    assert_eq!(code(&bench.open("wrong").unwrap_err()), "HFS027");
    let other = Keyset::open(&bench.seam, &bench.path, SystemId([1; 16]), &passphrase);
    assert_eq!(code(&other.unwrap_err()), "HFS026");

    let good = bench.bytes();
    let opened = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        bench.disk.put(&bench.path, &bytes);
        bench.open("first").unwrap_err()
    };
    assert_eq!(code(&opened(0, b'X')), "HFS022");
    assert_eq!(code(&opened(8, 2)), "HFS023");
    assert_eq!(code(&opened(10, 3)), "HFS024");
    assert_eq!(code(&opened(140, good[140] ^ 1)), "HFS025");
    bench.disk.put(&bench.path, b"");
    assert_eq!(code(&bench.open("first").unwrap_err()), "HFS022");
    bench.disk.put(&bench.path, &vec![b'H'; FILE_BYTES_MAX + 1]);
    assert_eq!(code(&bench.open("first").unwrap_err()), "HFS022");
}

#[test]
fn every_flipped_bit_is_found_by_accident_or_by_design() {
    let bench = Bench::new();
    bench.create().add_label("A").unwrap();
    let good = bench.bytes();
    open_bytes(&good).unwrap();
    for bit in 0..good.len() * 8 {
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let error = open_bytes(&bytes).map(|_| ()).unwrap_err();
        assert!(["HFS022", "HFS023", "HFS024", "HFS025"].contains(&code(&error)), "{bit}: {error}");
        let _ = fuzz_key_file(&bytes);
        // Somebody who puts the checksum right meets the passphrase's proof, or the master key's.
        // (Costs that would take 64 MiB and more are left out: they are only slow.)
        let memory_kib = base::bytes::get_u32(&bytes, 32);
        if bit / 8 < good.len() - 16 && memory_kib < 64 << 10 {
            let error = open_bytes(&with_checksum(bytes)).map(|_| ()).unwrap_err();
            assert!(code(&error) != "HFS029", "{bit}: {error}");
        }
    }
}

#[test]
fn every_truncation_and_every_addition_is_found() {
    let bench = Bench::new();
    bench.create().add_label("A").unwrap();
    let good = bench.bytes();
    for len in 0..good.len() {
        assert!(open_bytes(&good[..len]).is_err(), "{len}");
        if len >= 16 {
            assert!(open_bytes(&with_checksum(good[..len].to_vec())).is_err(), "{len}");
        }
        let _ = fuzz_key_file(&good[..len]);
    }
    let longer = with_checksum([&good[..], &[0; 16]].concat());
    assert_eq!(code(&open_bytes(&longer).map(|_| ()).unwrap_err()), "HFS025");
    assert!(fuzz_key_file(&good));
}

#[test]
fn nobody_drops_or_adds_a_key_unseen() {
    let bench = Bench::new();
    let keyset = bench.create();
    keyset.add_label("A").unwrap();
    keyset.add_label("B").unwrap();
    let refused = |file: &KeyFile| {
        let error = open_bytes(&file.encode()).map(|_| ()).unwrap_err();
        assert_eq!(code(&error), "HFS028");
    };
    let mut dropped = KeyFile::decode(&bench.bytes()).unwrap();
    let mut last = dropped.keys.pop().unwrap();
    refused(&dropped);
    last.label = "C".to_owned();
    dropped.keys.push(last);
    refused(&dropped);
}

#[test]
fn a_key_under_another_name_is_refused_even_in_a_proven_list() {
    let bench = Bench::new();
    let keyset = bench.create();
    keyset.add_label("A").unwrap();
    let mut file = KeyFile::decode(&bench.bytes()).unwrap();
    let master = keyset.state.lock().master.clone();
    file.keys[0].label = "B".to_owned();
    let (wrapping, salt) = (file.wrapping.clone(), Salt([9; 16]));
    let proven = KeyFile::new(SYSTEM, wrapping, 9, file.keys, &master, salt);
    assert!(proven.is_proven(&master));
    let error = State::prove(proven, master).map(|_| ()).unwrap_err();
    assert_eq!(error, "a key is not the one that was written");
}

#[test]
fn keys_out_of_order_twice_or_of_generation_zero_are_refused() {
    let bench = Bench::new();
    let keyset = bench.create();
    keyset.add_label("A").unwrap();
    keyset.add_label("B").unwrap();
    let spoilt = |spoil: &dyn Fn(&mut Vec<WrappedKey>)| {
        let mut file = KeyFile::decode(&bench.bytes()).unwrap();
        spoil(&mut file.keys);
        KeyFile::decode(&file.encode()).map(|_| ()).unwrap_err()
    };
    let what = "its keys are out of order";
    let twice = |keys: &mut Vec<WrappedKey>| keys[1].label = "A".to_owned();
    assert_eq!(spoilt(&|keys| keys.swap(0, 1)), FileFault::Damaged { what });
    assert_eq!(spoilt(&twice), FileFault::Damaged { what });
    assert_eq!(spoilt(&|keys| keys[0].generation.0 = 0), FileFault::Damaged { what });
}

#[test]
fn every_write_draws_new_salts() {
    let bench = Bench::new();
    let keyset = bench.create();
    keyset.add_label("A").unwrap();
    let first = KeyFile::decode(&bench.bytes()).unwrap();
    keyset.add_label("B").unwrap();
    let second = KeyFile::decode(&bench.bytes()).unwrap();
    let text = |file: &KeyFile| format!("{:?}", file.keys[0]);
    assert_ne!(text(&first), text(&second));
    assert_eq!(first.keys[0].label, second.keys[0].label);
}

/// The bytes of version 1, so that a change of the format is noticed: a file with the labels LOG
/// (one generation) and A (two), made from the entropy of seed 7 under the passphrase "first".
const GOLDEN: &str = "
    484f4c444b455953010001004c0000005a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a
    080000000100000001000000aa02f43b76c3209e0e9320ab9b5ac334497f9b9c
    3c1e7ae86d845275801a50b564b1bc0b6914e877a5e1ea5eb4ca90d870f37e52
    b81bc15707c68724c3993ad70400000000000000030000000100410100000000
    401e18240a0600fffb69a7555135347476356d08f4559032f8055848d7984fa5
    4ddfd61c174ba894af9d871a5605bf6e437227cffc17a625507ce223b18950a9
    d12afdb889b2de0100410200000000401e18240a06005de9b4befd80bda2f769
    412f0329293cf00c3822856cb4ad37cf0a17e133a1ed0b679351edaab03e87a9
    7b50e6eaa7924e286b6b559b9776e65e28d98c5420f903004c4f470100000000
    401e18240a0600e444b8c04c5de9e6b15489b3cfb4304c0560010bbc58c04b62
    ec07fb7c464c6b63c5096bb484e0ca6662f0e713bf11f754d9adc2384d993d4a
    a9fb34df9d01a65f2185d74c731e79dcf26fac20f34cdd1253fdb23537d57f05
    6bc5f8eb537a3f0b3e976de3eabb528831de36d5348c22";

#[test]
fn the_format_of_version_1_is_as_it_was_released() {
    let bench = Bench::new();
    let keyset = bench.create();
    keyset.add_label("LOG").unwrap();
    keyset.add_label("A").unwrap();
    keyset.new_generation("A").unwrap();
    assert_eq!(hex(&bench.bytes()), hex(&unhex(GOLDEN)), "written as before");
    let state = open_bytes(&unhex(GOLDEN)).unwrap();
    let opened = |label: &str, generation| *state.labels[label][&generation].key.bytes();
    assert_eq!(opened("LOG", KeyGeneration(1)), key(&keyset, "LOG", 1));
    assert_eq!(opened("A", KeyGeneration(2)), key(&keyset, "A", 2));
}

/// A token that keeps one key, and fails as it is told.
#[derive(Default)]
struct Fake {
    calls: AtomicU32,
    /// From which call on, and how.
    fails: Option<(u32, TokenFault)>,
    forgets: bool,
}

impl Fake {
    fn call(&self) -> Result<(), TokenFault> {
        let number = self.calls.fetch_add(1, Relaxed);
        match &self.fails {
            Some((from, fault)) if number >= *from => Err(fault.clone()),
            _ => Ok(()),
        }
    }

    fn key() -> WorkingKey {
        WorkingKey::derive(&DataKey::from_bytes([3; 32]), &Salt::default(), b"token")
    }
}

impl Token for Fake {
    fn make_key(&self, _: &[u8], _: &TokenPlace) -> Result<(), TokenFault> {
        self.call()
    }

    fn wrap(
        &self,
        _: &[u8],
        _: &TokenPlace,
        nonce: &[u8; 12],
        associated: &[u8],
        clear: &[u8],
    ) -> Result<Vec<u8>, TokenFault> {
        self.call()?;
        let mut out = clear.to_vec();
        let covers = [associated, nonce].concat();
        let tag = Fake::key().seal(1, &covers, &mut out);
        out.extend_from_slice(&tag.0);
        Ok(out)
    }

    fn unwrap(
        &self,
        _: &[u8],
        _: &TokenPlace,
        nonce: &[u8; 12],
        associated: &[u8],
        wrapped: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, TokenFault> {
        self.call()?;
        let (body, tag) = wrapped.split_at(wrapped.len() - 16);
        let mut clear = body.to_vec();
        let covers = [associated, nonce].concat();
        let opened = Fake::key().open(1, &covers, &mut clear, &Tag(tag.try_into().unwrap()));
        opened.map_err(|_| TokenFault::Altered)?;
        clear[0] ^= u8::from(self.forgets);
        Ok(Zeroizing::new(clear))
    }
}

fn in_token() -> TokenPlace {
    TokenPlace { token: "BANK".into(), key: "holdfast".into() }
}

#[test]
fn a_token_that_fails_in_the_middle_leaves_ring_and_file_as_they_were() {
    let bench = Bench::new();
    let keyset = bench.create();
    keyset.add_label("data").unwrap();
    let before = bench.bytes();
    let locked = TokenFault::Locked;
    for from in 0..3 {
        let fails = Some((from, locked.clone()));
        let pin = Passphrase::from("1").with_token(Arc::new(Fake { fails, ..Fake::default() }));
        assert_eq!(code(&keyset.move_to_token(&pin, &in_token()).unwrap_err()), "HFS054");
        assert_eq!(bench.bytes(), before, "the token failed at its call {from}");
    }
    let pin = Passphrase::from("1").with_token(Arc::new(Fake { forgets: true, ..Fake::default() }));
    assert_eq!(code(&keyset.move_to_token(&pin, &in_token()).unwrap_err()), "HFS057");
    assert_eq!(bench.bytes(), before, "what does not come back is not relied on");
    assert!(bench.open("first").is_ok());
}

#[test]
fn every_flipped_bit_of_a_token_s_key_file_is_found() {
    let bench = Bench::new();
    let pin = Passphrase::from("1").with_token(Arc::new(Fake::default()));
    let keyset =
        Keyset::create_in_token(&bench.seam, &bench.path, SYSTEM, &pin, &in_token()).unwrap();
    keyset.add_label("data").unwrap();
    let good = bench.bytes();
    let open = || Keyset::open(&bench.seam, &bench.path, SYSTEM, &pin);
    assert_eq!(open().unwrap().protection(), Protection::Token(in_token()));
    for at in 0..good.len() - 16 {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        let end = bytes.len() - 16;
        let sum = checksum(&bytes[..end]);
        bytes[end..].copy_from_slice(&sum);
        bench.disk.put(&bench.path, &bytes);
        assert!(open().is_err(), "byte {at}");
    }
}
