//! Descents over pointers that are no longer true, and over intervals that cannot be had.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use base::CiNumber;
use seam::sim::{self, Fault, FaultKind, SimConfig, SimDisk, When};

use super::*;
use crate::Cursor;
use crate::common::System;

type Meanwhile = Box<dyn FnOnce(CiNumber)>;

thread_local! {
    /// What happens before the next latch of a [`Late`] one.
    static MEANWHILE: RefCell<Option<Meanwhile>> = const { RefCell::new(None) };
}

/// A latch that comes late: between reading the number of the node and latching it, much happens.
struct Late<'k>(SharedCi<'k>);

impl<'k> Latch<'k> for Late<'k> {
    fn take(set: &'k DataSet, ci: CiNumber) -> Result<Self, PoolError> {
        if let Some(meanwhile) = MEANWHILE.take() {
            meanwhile(ci);
        }
        set.shared(ci).map(Late)
    }

    fn of_pinned(pinned: Pinned<'k>) -> Self {
        Late(pinned.shared())
    }

    fn ci(&self) -> CiNumber {
        self.0.ci()
    }

    fn hint(&self) -> FrameHint {
        self.0.hint()
    }

    fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }
}

fn key(number: u32) -> [u8; 4] {
    number.to_be_bytes()
}

fn fill(system: &System, records: u32) {
    for first in (0..records).step_by(100) {
        let mut uow = system.begin();
        for number in first..records.min(first + 100) {
            system.tree().insert(&mut uow, &key(number), &[7; 900]).unwrap();
        }
        uow.commit().unwrap();
    }
}

/// Removes everything from a key on and waits until the files no longer reach interval `ci`.
fn cut_off(system: &System, from: u32, ci: CiNumber) {
    let mut uow = system.begin();
    let (from, to) = (key(from), Bound::End);
    system.tree().remove_range(&mut uow, Bound::At(&from), to).unwrap();
    uow.commit().unwrap();
    for _ in 0..20 {
        system.kernel.write_out().unwrap();
        system.kernel.checkpoint_now(false).unwrap();
        system.kernel.seam().clock.sleep(Duration::from_millis(50));
    }
    assert!(system.set.intervals() <= ci.0, "{} intervals are left", system.set.intervals());
    assert!(system.set.shared(ci).is_err(), "whoever comes too late cannot have it");
}

/// A reader had read the number of a leaf; then the leaf was emptied, freed, and cut off with the
/// file's tail. The reader was told that the leaf is damaged.
#[test]
fn a_pointer_to_an_interval_that_was_cut_off_is_no_damage() {
    sim::run(SimConfig::new(1), SimDisk::new(), |seam| {
        let system = Arc::new(System::create(&seam, 4096, 256));
        fill(&system, 1_200);
        let other = Arc::clone(&system);
        MEANWHILE.set(Some(Box::new(move |ci| cut_off(&other, 40, ci))));
        let tree = system.tree();
        let leaf = tree.reach::<Late<'_>>(&key(1_199), 0).unwrap();
        assert!(MEANWHILE.take().is_none(), "the leaf was cut off before it was latched");
        assert!(matches!(leaf.place, Place::Gap(_)));
        drop(leaf);
        assert_eq!(system.prove().records, 40);
        system.kernel.close().unwrap();
    })
    .expect_completed();
}

fn at_lookup_hint<'k>(tree: &Tree<'k>, key: &[u8]) -> Option<Reached<SharedCi<'k>>> {
    tree.reach_lookup_hint(tree.set.lookup_key(key).expect("keys are as long as prefixes"), key)
}

#[test]
fn a_lookup_hint_that_lies_left_of_its_prefix_is_moved_by_whoever_follows_it() {
    sim::run(SimConfig::new(4), SimDisk::new(), |seam| {
        let system = System::create(&seam, 4096, 256);
        fill(&system, 1_200);
        // The first key of its prefix; what is inserted belongs to the prefix before.
        let (tree, wanted) = (system.tree(), key(0x100));
        assert!(tree.contains(&wanted).unwrap());
        let mut leaves = std::collections::BTreeSet::new();
        for number in 0..200_u8 {
            // In front of it, and ever nearer: splits of its leaf move it to the right.
            let [a, b, c, d] = key(0xff);
            let mut uow = system.begin();
            tree.insert(&mut uow, &[a, b, c, d, number ^ 1], &[7; 100]).unwrap();
            uow.commit().unwrap();
            let leaf = at_lookup_hint(&tree, &wanted).expect("no descent is needed");
            assert!(matches!(leaf.place, Place::Found(_)));
            leaves.insert(leaf.guard.ci());
        }
        assert!(leaves.len() > 2, "its leaf was split again and again: {leaves:?}");
        system.kernel.close().unwrap();
    })
    .expect_completed();
}

#[test]
fn a_prefix_has_a_lookup_hint_once_a_key_of_it_was_sought() {
    sim::run(SimConfig::new(3), SimDisk::new(), |seam| {
        let system = System::create(&seam, 4096, 256);
        fill(&system, 1_200);
        let tree = system.tree();
        let unknown = key(70_000);
        assert!(at_lookup_hint(&tree, &unknown).is_none(), "nobody sought it");
        for (wanted, there) in [(key(700), true), (unknown, false)] {
            assert_eq!(tree.contains(&wanted).unwrap(), there);
            let leaf = at_lookup_hint(&tree, &wanted).unwrap();
            assert_eq!(matches!(leaf.place, Place::Found(_)), there);
            let descended = tree.reach::<SharedCi<'_>>(&wanted, 0).unwrap();
            assert_eq!(leaf.guard.ci(), descended.guard.ci());
        }
        system.kernel.close().unwrap();
    })
    .expect_completed();
}

#[test]
fn a_node_is_damaged_once_a_second_descent_cannot_have_it() {
    let disk = SimDisk::new();
    sim::run(SimConfig::new(2), disk.clone(), move |seam| {
        let system = System::create(&seam, 4096, 256);
        fill(&system, 200);
        system.kernel.close().unwrap();
        drop(system);
        let system = System::open(&seam, 4096, 256);
        let tree = system.tree();
        let leaf = tree.reach::<SharedCi<'_>>(&key(100), 0).unwrap().guard.ci();
        let mut value = Vec::new();
        assert!(tree.get(&key(0), &mut value).unwrap());
        system.set.pool().forget(system.set.id(), leaf).unwrap();

        let place = u64::from(leaf.0) * 4096..u64::from(leaf.0 + 1) * 4096;
        let fault = |when| {
            Fault::new(FaultKind::ReadError, "/system/data").within(place.clone()).when(when)
        };
        let once = disk.inject(fault(When::Nth(1)));
        assert!(tree.get(&key(100), &mut value).unwrap(), "the second descent gets it");
        assert_eq!(disk.hits(once), 1);
        disk.heal(once);

        system.set.pool().forget(system.set.id(), leaf).unwrap();
        let always = disk.inject(fault(When::Always));
        let error = tree.get(&key(100), &mut value).unwrap_err();
        assert!(matches!(error, TreeError::Pool(PoolError::Read { ci, .. }) if ci == leaf));
        assert_eq!(disk.hits(always), 2, "a third descent would be one too many");
        disk.heal(always);
        system.kernel.close().unwrap();
    })
    .expect_completed();
}

#[test]
fn a_cursor_searches_when_it_cannot_have_the_right_sibling() {
    let disk = SimDisk::new();
    sim::run(SimConfig::new(3), disk.clone(), move |seam| {
        let system = System::create(&seam, 4096, 256);
        fill(&system, 200);
        system.kernel.close().unwrap();
        drop(system);
        let fault = Fault::new(FaultKind::ReadError, "/system/data");
        for nth in [3, 5, 7] {
            let system = System::open(&seam, 4096, 256);
            let once = disk.inject(fault.clone().when(When::Nth(nth)));
            let (tree, mut cursor, mut seen) = (system.tree(), Cursor::new(), 0);
            while cursor.next(&tree).unwrap() {
                assert_eq!(cursor.key(), key(seen));
                seen += 1;
            }
            assert_eq!((seen, disk.hits(once)), (200, 1));
            disk.heal(once);
            system.kernel.close().unwrap();
        }
    })
    .expect_completed();
}
