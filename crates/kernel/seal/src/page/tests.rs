//! Tests of sealing and opening pages.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::TestKeys;
use crate::testing::{NoEntropy, SeededEntropy, hex, unhex};

const SYSTEM: SystemId = SystemId([0x5a; 16]);
const SET: DataSetId = DataSetId(3);
const CI: CiNumber = CiNumber(7);
const UNIT_BYTES: usize = 4096;
const FIRST: Form = Form { format: Format::Sealed, generation: KeyGeneration(1) };
const SECOND: Form = Form { format: Format::Sealed, generation: KeyGeneration(2) };

/// One system's keys, from which data sets are opened again and again with fresh entropy.
struct Bench {
    keys: Arc<TestKeys>,
    opens: AtomicU64,
}

impl Bench {
    fn new() -> Bench {
        Bench { keys: Arc::new(TestKeys::new(1)), opens: AtomicU64::new(0) }
    }

    fn entropy(&self) -> Arc<dyn Entropy> {
        Arc::new(SeededEntropy::new(self.opens.fetch_add(1, Ordering::SeqCst)))
    }

    fn open_set(&self, form: Form) -> PageSealer {
        self.open_other(SYSTEM, SET, &Accept::only(form))
    }

    fn open_other(&self, system: SystemId, set: DataSetId, accept: &Accept) -> PageSealer {
        let keys = Arc::clone(&self.keys) as Arc<dyn KeyProvider>;
        PageSealer::accepting(keys, self.entropy(), system, set, "LABEL", accept)
    }
}

/// A page with some content and room for a trailer.
fn page() -> Vec<u8> {
    (0..UNIT_BYTES).map(|at| (at * 7) as u8).collect()
}

fn body(page: &[u8]) -> &[u8] {
    &page[..page.len() - TRAILER_BYTES]
}

fn fault(answer: Result<TagPrefix, SealError>) -> PageFault {
    match answer.unwrap_err() {
        SealError::Page { fault, .. } => fault,
        error => panic!("not about a page: {error}"),
    }
}

fn sealed_by(sealer: &PageSealer) -> Vec<u8> {
    let mut sealed = page();
    sealer.seal(CI, &mut sealed).unwrap();
    sealed
}

proptest! {
    #[test]
    fn what_was_sealed_opens(
        content in prop::collection::vec(any::<u8>(), TRAILER_BYTES + 1..9000),
        ci in any::<u32>(),
        plain in any::<bool>(),
    ) {
        let sealer = Bench::new().open_set(if plain { Form::PLAIN } else { FIRST });
        let mut page = content.clone();
        let prefix = sealer.seal(CiNumber(ci), &mut page).unwrap();
        prop_assert_eq!(body(&page) == body(&content), plain);
        prop_assert_eq!(PageSealer::trailer(&page).unwrap().tag.prefix(), prefix);
        prop_assert_eq!(sealer.open(CiNumber(ci), &mut page).unwrap(), prefix);
        prop_assert_eq!(body(&page), body(&content));
    }

    #[test]
    fn no_bytes_make_the_decoder_panic_or_the_opener_believe(
        mut bytes in prop::collection::vec(any::<u8>(), 0..200),
        format in 0_u8..4,
        version in 0_u8..3,
    ) {
        if let Some(trailer) = bytes.last_chunk_mut::<TRAILER_BYTES>() {
            trailer[..4].copy_from_slice(&[format, version, 0, 0]);
        }
        let _ = Trailer::decode(&bytes);
        for form in [Form::PLAIN, FIRST] {
            prop_assert!(Bench::new().open_set(form).open(CI, &mut bytes.clone()).is_err());
        }
    }
}

#[test]
fn every_flipped_bit_is_refused() {
    for form in [Form::PLAIN, FIRST] {
        let sealer = Bench::new().open_set(form);
        let sealed = sealed_by(&sealer);
        for bit in 0..UNIT_BYTES * 8 {
            let mut spoilt = sealed.clone();
            spoilt[bit / 8] ^= 1 << (bit % 8);
            let fault = fault(sealer.open(CI, &mut spoilt));
            let in_body = bit / 8 < UNIT_BYTES - TRAILER_BYTES;
            assert!(!in_body || fault == PageFault::BadTag, "{form:?}, bit {bit}: {fault}");
        }
        sealer.open(CI, &mut sealed.clone()).unwrap();
        assert_eq!(sealer.stats().refused, UNIT_BYTES as u64 * 8);
    }
}

#[test]
fn a_page_that_stands_elsewhere_is_refused() {
    for form in [Form::PLAIN, FIRST] {
        let bench = Bench::new();
        let sealer = bench.open_set(form);
        let sealed = sealed_by(&sealer);
        let only = Accept::only(form);
        let elsewhere = |sealer: &PageSealer, ci: u32| {
            let refused = fault(sealer.open(CiNumber(ci), &mut sealed.clone()));
            assert_eq!(refused, PageFault::BadTag, "{sealer:?}, {ci}");
        };
        (0..32).for_each(|bit| elsewhere(&sealer, CI.0 ^ (1 << bit)));
        elsewhere(&bench.open_other(SYSTEM, DataSetId(4), &only), CI.0);
        elsewhere(&bench.open_other(SystemId([0x5b; 16]), SET, &only), CI.0);
        bench.open_set(form).open(CI, &mut sealed.clone()).unwrap();
    }
}

#[test]
fn a_page_of_another_length_is_refused() {
    for form in [Form::PLAIN, FIRST] {
        let sealer = Bench::new().open_set(form);
        let sealed = sealed_by(&sealer);
        let (body, trailer) = sealed.split_at(UNIT_BYTES - TRAILER_BYTES);
        let mut shorter = [&body[1..], trailer].concat();
        let mut longer = [body, &[0], trailer].concat();
        assert_eq!(fault(sealer.open(CI, &mut shorter)), PageFault::BadTag);
        assert_eq!(fault(sealer.open(CI, &mut longer)), PageFault::BadTag);
        for len in 0..TRAILER_BYTES {
            let refused = fault(sealer.open(CI, &mut sealed[..len].to_vec()));
            assert_eq!(refused, PageFault::NotATrailer);
        }
    }
}

#[test]
fn blank_future_and_foreign_pages_are_told_apart() {
    let sealer = Bench::new().open_set(FIRST);
    assert_eq!(fault(sealer.open(CI, &mut vec![0; UNIT_BYTES])), PageFault::NeverWritten);
    let mut torn = vec![0; UNIT_BYTES];
    torn[0] = 1;
    assert_eq!(fault(sealer.open(CI, &mut torn)), PageFault::NotATrailer);
    assert_eq!(fault(sealer.open(CI, &mut vec![0xff; UNIT_BYTES])), future(0xff));
    let mut later = sealed_by(&sealer);
    later[UNIT_BYTES - TRAILER_BYTES + 1] = 2;
    assert_eq!(fault(sealer.open(CI, &mut later)), future(2));
}

fn future(version: u8) -> PageFault {
    PageFault::FutureVersion { version }
}

#[test]
fn the_page_does_not_decide_its_own_form() {
    let bench = Bench::new();
    bench.keys.new_generation();
    let plain = sealed_by(&bench.open_set(Form::PLAIN));
    let first = sealed_by(&bench.open_set(FIRST));
    let second = sealed_by(&bench.open_set(SECOND));
    let refused = |form, page: &[u8]| fault(bench.open_set(form).open(CI, &mut page.to_vec()));
    let (found, expected) = (Format::Plain, Format::Sealed);
    assert_eq!(refused(FIRST, &plain), PageFault::WrongFormat { found, expected });
    let (found, expected) = (Format::Sealed, Format::Plain);
    assert_eq!(refused(Form::PLAIN, &first), PageFault::WrongFormat { found, expected });
    let (found, expected) = (KeyGeneration(1), KeyGeneration(2));
    assert_eq!(refused(SECOND, &first), PageFault::WrongGeneration { found, expected });
    let (found, expected) = (KeyGeneration(2), KeyGeneration(1));
    assert_eq!(refused(FIRST, &second), PageFault::WrongGeneration { found, expected });
}

#[test]
fn a_generation_that_the_ring_has_lost_is_named() {
    let bench = Bench::new();
    let sealed = sealed_by(&bench.open_set(FIRST));
    bench.keys.new_generation();
    bench.keys.forget_below(KeyGeneration(2));
    let generation = KeyGeneration(1);
    let lost = PageFault::UnknownGeneration { generation };
    assert_eq!(fault(bench.open_set(FIRST).open(CI, &mut sealed.clone())), lost);
    let error = bench.open_set(FIRST).seal(CI, &mut page()).unwrap_err();
    assert!(matches!(error, SealError::UnknownGeneration { .. }), "{error}");
}

#[test]
fn copies_of_a_disk_never_share_a_nonce() {
    let bench = Bench::new();
    let origin = bench.open_set(FIRST);
    let clone = bench.open_set(FIRST);
    let mut nonces = BTreeSet::new();
    let mut bodies = BTreeSet::new();
    for _ in 0..100 {
        for sealer in [&origin, &clone] {
            let sealed = sealed_by(sealer);
            let trailer = PageSealer::trailer(&sealed).unwrap();
            assert!(nonces.insert((trailer.salt, trailer.counter)));
            assert!(bodies.insert(body(&sealed).to_vec()));
        }
    }
    assert_eq!((nonces.len(), origin.stats().sealed), (200, 100));
    // Same counters, other salts: each reads what the other wrote.
    origin.open(CI, &mut sealed_by(&clone)).unwrap();
}

#[test]
fn only_a_write_draws_a_salt() {
    let bench = Bench::new();
    let sealed = sealed_by(&bench.open_set(FIRST));
    let keys = Arc::clone(&bench.keys) as Arc<dyn KeyProvider>;
    let dry = Arc::new(NoEntropy);
    let reader = PageSealer::accepting(keys, dry, SYSTEM, SET, "LABEL", &Accept::only(FIRST));
    let mut opened = sealed.clone();
    reader.open(CI, &mut opened).unwrap();
    assert_eq!(body(&opened), body(&page()));
    let mut untouched = page();
    let error = reader.seal(CI, &mut untouched).unwrap_err();
    assert!(matches!(error, SealError::Entropy(_)), "{error}");
    assert_eq!(untouched, page());
}

#[test]
fn keys_of_earlier_opens_are_derived_once_each() {
    let bench = Bench::new();
    let pages: Vec<Vec<u8>> = (0..32).map(|_| sealed_by(&bench.open_set(FIRST))).collect();
    let reader = bench.open_set(FIRST);
    for _ in 0..3 {
        for sealed in &pages {
            reader.open(CI, &mut sealed.clone()).unwrap();
        }
    }
    assert_eq!(reader.stats().keys_derived, 32);
    // One more than are kept: still right, only slower.
    let more: Vec<Vec<u8>> = (0..8).map(|_| sealed_by(&bench.open_set(FIRST))).collect();
    for sealed in pages.iter().chain(&more) {
        reader.open(CI, &mut sealed.clone()).unwrap();
    }
}

#[test]
fn forged_salts_do_not_push_out_good_keys() {
    let bench = Bench::new();
    let sealed = sealed_by(&bench.open_set(FIRST));
    let reader = bench.open_set(FIRST);
    for salt in 0..100 {
        let mut forged = sealed.clone();
        forged[UNIT_BYTES - TRAILER_BYTES + 8] = salt;
        forged[UNIT_BYTES - TRAILER_BYTES + 9] ^= 1;
        assert_eq!(fault(reader.open(CI, &mut forged)), PageFault::BadTag);
    }
    let derived = reader.stats().keys_derived;
    for _ in 0..10 {
        reader.open(CI, &mut sealed.clone()).unwrap();
    }
    assert_eq!((derived, reader.stats().keys_derived), (100, 101));
}

#[test]
fn a_conversion_narrows_what_may_still_be_plain() {
    let bench = Bench::new();
    let sealer = bench.open_set(Form::PLAIN);
    let plain = |ci: u32| {
        let mut page = page();
        bench.open_set(Form::PLAIN).seal(CiNumber(ci), &mut page).unwrap();
        page
    };
    let takes = |ci: u32| sealer.open(CiNumber(ci), &mut plain(ci)).is_ok();
    assert!(takes(0) && takes(9));
    let left = |from: u32| {
        let left = CiNumber(from)..CiNumber(10);
        Accept { form: FIRST, converting: Some(Converting { from: Form::PLAIN, left }) }
    };
    sealer.set_accept(&left(0)).unwrap();
    assert_eq!(sealer.accept(), left(0));
    assert!(takes(0) && takes(9) && !takes(10));
    let salt = |page: &[u8]| PageSealer::trailer(page).unwrap().salt;
    let first = sealed_by(&sealer);
    assert_eq!(PageSealer::trailer(&first).unwrap().form, FIRST);
    sealer.set_accept(&left(5)).unwrap();
    assert!(!takes(4) && takes(5) && takes(9));
    sealer.set_accept(&Accept::only(FIRST)).unwrap();
    assert_eq!(sealer.accept(), Accept::only(FIRST));
    assert!(!takes(5) && !takes(9));
    // Moving the cursor needs no new salt.
    assert_eq!(salt(&first), salt(&sealed_by(&sealer)));
    sealer.open(CI, &mut first.clone()).unwrap();
}

#[test]
fn a_new_generation_is_used_at_once_and_the_old_one_is_read_until_it_is_converted() {
    let bench = Bench::new();
    let sealer = bench.open_set(FIRST);
    let old = sealed_by(&sealer);
    bench.keys.new_generation();
    let left = CiNumber(0)..CiNumber(10);
    let converting = Some(Converting { from: FIRST, left });
    sealer.set_accept(&Accept { form: SECOND, converting }).unwrap();
    let new = sealed_by(&sealer);
    assert_eq!(PageSealer::trailer(&new).unwrap().form, SECOND);
    sealer.open(CI, &mut old.clone()).unwrap();
    sealer.open(CI, &mut new.clone()).unwrap();
    sealer.set_accept(&Accept::only(SECOND)).unwrap();
    let (found, expected) = (KeyGeneration(1), KeyGeneration(2));
    let refused = fault(sealer.open(CI, &mut old.clone()));
    assert_eq!(refused, PageFault::WrongGeneration { found, expected });
    assert_eq!(sealer.stats().sealed, 2);
}

#[test]
fn many_threads_share_one_counter() {
    let sealer = Arc::new(Bench::new().open_set(FIRST));
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let start = |number: u32| {
        let (sealer, seen) = (Arc::clone(&sealer), Arc::clone(&seen));
        let body = move || {
            for ci in 0..200 {
                let ci = CiNumber(number * 1000 + ci);
                let mut page = page();
                sealer.seal(ci, &mut page).unwrap();
                let trailer = PageSealer::trailer(&page).unwrap();
                sealer.open(ci, &mut page).unwrap();
                assert!(seen.lock().insert((trailer.salt, trailer.counter)));
            }
        };
        seam::thread::spawn("sealing", body).unwrap()
    };
    let threads: Vec<_> = (0..4).map(start).collect();
    threads.into_iter().for_each(seam::thread::JoinHandle::join);
    let seen = seen.lock();
    assert_eq!(seen.len(), 800);
    assert_eq!(seen.iter().map(|(salt, _)| salt).collect::<BTreeSet<_>>().len(), 1);
}

#[test]
fn a_page_sealed_on_its_way_is_the_one_that_is_sealed_where_it_stands() {
    for form in [Form::PLAIN, FIRST] {
        // Each draws the salt that the other draws, and both begin with the same counter.
        let (there, here) = (Bench::new().open_set(form), Bench::new().open_set(form));
        there.prepare().unwrap();
        let (clear, mut sealed) = (page(), vec![0xEE; UNIT_BYTES]);
        let prefix = there.seal_into(CI, &clear, &mut sealed).unwrap();
        assert_eq!(sealed, sealed_by(&here));
        assert_eq!(clear, page(), "it stays in clear");
        assert_eq!(there.open(CI, &mut sealed).unwrap(), prefix);
    }
}

#[test]
fn a_tag_that_would_mean_never_written_is_drawn_again() {
    for form in [Form::PLAIN, FIRST] {
        let sealer = Bench::new().open_set(form);
        let mut sealed = page();
        let rejections = AtomicU64::new(0);
        let acceptable = |_: &Tag| rejections.fetch_add(1, Ordering::SeqCst) == 2;
        let prefix = sealer.seal_until(CI, &mut sealed, WorkingKey::seal, acceptable).unwrap();
        assert_eq!(PageSealer::trailer(&sealed).unwrap().counter, 3);
        assert_eq!(sealer.open(CI, &mut sealed).unwrap(), prefix);
        assert_eq!(body(&sealed), body(&page()));
    }
}

#[test]
fn a_salt_that_has_sealed_enough_is_replaced() {
    let mut sealer = Bench::new().open_set(FIRST);
    sealer.writes_per_salt_max = 3;
    let pages: Vec<Vec<u8>> = (0..8).map(|_| sealed_by(&sealer)).collect();
    let trailers = pages.iter().map(|page| PageSealer::trailer(page).unwrap());
    let counters: Vec<u64> = trailers.clone().map(|trailer| trailer.counter).collect();
    assert_eq!(counters, [1, 2, 3, 1, 2, 3, 1, 2]);
    assert_eq!(sealer.stats().sealed, 8);
    assert_eq!(trailers.map(|trailer| trailer.salt).collect::<BTreeSet<_>>().len(), 3);
    for sealed in &pages {
        sealer.open(CI, &mut sealed.clone()).unwrap();
    }
}

/// The trailers of version 1, so that a change of the format is noticed: the first write under
/// `Bench`'s first entropy of a unit of 512 bytes that counts upward, plain and sealed, and the
/// sealed body's first 32 bytes.
const GOLDEN_PLAIN: &str = "
    000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
    0101000000000000d0e0c0e061b079411b56888ec558cb680100000000000000
    50542dfbdc54b212b180c8016178faf4";
const GOLDEN_SEALED: &str = "
    a744cd6538b241f791338eb68319dd68536421479d34037fc692a0284f74e2fd
    0201000001000000d0e0c0e061b079411b56888ec558cb680100000000000000
    e15e3ba7e26a62624e8dbd0154bd2a99";

#[test]
fn the_format_of_version_1_is_as_it_was_released() {
    let content: Vec<u8> = (0..512).map(|at| at as u8).collect();
    for (form, golden) in [(Form::PLAIN, GOLDEN_PLAIN), (FIRST, GOLDEN_SEALED)] {
        let sealer = Bench::new().open_set(form);
        let mut page = content.clone();
        sealer.seal(CI, &mut page).unwrap();
        let shown = [&page[..32], &page[512 - TRAILER_BYTES..]].concat();
        assert_eq!(hex(&shown), hex(&unhex(golden)), "{form:?}");
        sealer.open(CI, &mut page).unwrap();
        assert_eq!(body(&page), body(&content));
    }
}

#[cfg(feature = "failpoints")]
mod planted_bugs {
    use super::*;
    use seam::failpoint::arm;

    #[test]
    fn a_stuck_counter_shows_in_the_trailers() {
        let sealer = Bench::new().open_set(FIRST);
        let counters =
            || [(); 2].map(|()| PageSealer::trailer(&sealed_by(&sealer)).unwrap().counter);
        arm(Some(Failpoint::NonceReused));
        let stuck = counters();
        arm(None);
        let moving = counters();
        assert_eq!((stuck[0] == stuck[1], moving[0] == moving[1]), (true, false));
    }

    #[test]
    fn a_plain_page_slips_into_a_sealed_data_set() {
        let bench = Bench::new();
        let plain = sealed_by(&bench.open_set(Form::PLAIN));
        let sealer = bench.open_set(FIRST);
        arm(Some(Failpoint::PlainAccepted));
        let slipped = sealer.open(CI, &mut plain.clone());
        arm(None);
        slipped.unwrap();
        sealer.open(CI, &mut plain.clone()).unwrap_err();
    }
}
