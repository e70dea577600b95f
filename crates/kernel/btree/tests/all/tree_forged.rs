//! A plain data set has a checksum that anybody can make. Whoever writes to its files can forge
//! nodes; what he gets for it are errors, never a panic and never a call that does not end.
#![allow(clippy::unwrap_used)] // a test stops where something is not as it should be

use crate::common::{System, definition};
use base::CiNumber;
use holdfast_btree::{Bound, Cursor, Tree, TreeError, format_empty, node_damage};
use pool::PoolError;
use seal::Format;
use seam::sim::{self, Rng, SimConfig, SimDisk};
use space::{Definition, ROOT};

const RECORDS: u32 = 400;

fn key(number: u32) -> Vec<u8> {
    format!("account {number:06}").into_bytes()
}

/// A system with a plain data set of some fifty nodes and a few long values.
fn plain(seam: &seam::Seam) -> System {
    let System { kernel, .. } = System::create(seam, 4096, 256);
    let plain = Definition { format: Format::Plain, ..definition("plain", 4096) };
    let set = kernel.create_set(plain, &format_empty).unwrap();
    let system = System { kernel, set };
    let mut uow = system.begin();
    for number in 0..RECORDS {
        let len = if number % 50 == 7 { 9_000 } else { 350 };
        system.tree().insert(&mut uow, &key(number), &vec![number as u8; len]).unwrap();
    }
    uow.commit().unwrap();
    system
}

/// Puts other bytes into an interval on disk, as its newest version and with the right checksum.
fn forge(system: &System, ci: CiNumber, change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut page = system.set.exclusive(ci).unwrap();
    let lsn = page.lsn();
    page.begin_change(lsn);
    change(page.bytes_mut());
    page.set_lsn(lsn);
    let forged = page.bytes().to_vec();
    drop(page);
    system.kernel.write_out().unwrap();
    forget(system);
    forged
}

/// From now on everything but the maps is read from disk again.
fn forget(system: &System) {
    system.kernel.write_out().unwrap();
    system.set.pool().forget(system.set.id(), ROOT).unwrap();
}

/// Nodes in use, the root first.
fn nodes(system: &System) -> Vec<CiNumber> {
    let is_node = |ci: &CiNumber| {
        let layout = system.set.layout();
        let used = *ci == ROOT || !layout.is_reserved(*ci) && system.set.is_used(*ci).unwrap();
        used && matches!(system.set.shared(*ci).unwrap().bytes()[8], 5 | 6)
    };
    (ROOT.0..system.set.intervals()).map(CiNumber).filter(is_node).collect()
}

/// What a forger may think of.
fn spoil(rng: &mut Rng, page: &mut [u8], nodes: &[CiNumber], other: &[u8]) {
    let node = nodes[rng.index(nodes.len())].0.to_le_bytes();
    let slots_end = 32 + 6 * usize::from(u16::from_le_bytes([page[20], page[21]]));
    match rng.index(8) {
        // Another node's content, under the own number.
        0 => {
            let number = page[12..16].to_vec();
            page.copy_from_slice(other);
            page[12..16].copy_from_slice(&number);
        }
        // Links and children that lead elsewhere: such a node is sound by itself.
        1 => page[16..20].copy_from_slice(&node),
        2 if page[8] == 6 => {
            let slot = 32 + 6 * (1 + rng.index((slots_end - 32) / 6));
            let cell = usize::from(u16::from_le_bytes([page[slot], page[slot + 1]]));
            let child = cell + 2 + usize::from(page[cell]);
            page[child..child + 4].copy_from_slice(&node);
        }
        3 => page.fill(rng.below(256) as u8),
        kind => {
            let range = match kind {
                4 => 8..32,
                5 => 32..slots_end.min(page.len()),
                _ => 8..page.len(),
            };
            for _ in 0..=rng.index(4) {
                let at = range.start + rng.index(range.len());
                page[at] = rng.below(256) as u8;
            }
        }
    }
}

/// Everything that a program can ask for. Errors are what a forged node may lead to.
fn use_it(system: &System, rng: &mut Rng) -> Result<(), TreeError> {
    let tree = system.tree();
    let mut first = Ok(());
    let mut note = |result: Result<(), TreeError>| {
        if first.is_ok() {
            first = result;
        }
    };
    let mut value = Vec::new();
    for number in (0..RECORDS).step_by(9) {
        note(tree.get(&key(number), &mut value).map(drop));
        note(tree.look(&key(number), &mut value).map(drop));
    }
    note(walk(&tree, true));
    note(walk(&tree, false));
    forget(system);
    for round in 0..60 {
        let key = [key(rng.below(u64::from(RECORDS)) as u32), vec![b'+'; rng.index(3)]].concat();
        let Ok(mut uow) = system.kernel.begin(uow::UowOptions::default()) else { break };
        let value = vec![1; if round % 20 == 0 { 6_000 } else { rng.index(900) }];
        let done = match rng.index(4) {
            0 | 1 => tree.put(&mut uow, &key, &value).map(drop),
            2 => tree.remove(&mut uow, &key).map(drop),
            _ => {
                let to = [&key[..], b"~"].concat();
                tree.remove_range(&mut uow, Bound::At(&key[..11]), Bound::At(&to)).map(drop)
            }
        };
        let good = done.is_ok();
        note(done);
        let _ = if good { uow.commit().map(drop) } else { uow.backout().map(drop) };
    }
    note(tree.compact_tail(5).map(drop));
    note(tree.check().map(drop));
    first
}

fn walk(tree: &Tree<'_>, forward: bool) -> Result<(), TreeError> {
    let mut cursor = Cursor::new();
    cursor.seek(if forward { Bound::At(b"") } else { Bound::End });
    let mut steps = 0;
    while if forward { cursor.next(tree)? } else { cursor.previous(tree)? } {
        steps += 1;
        assert!(steps <= 10 * RECORDS, "a scan ends");
    }
    Ok(())
}

fn run(seed: u64) -> bool {
    let (send, receive) = std::sync::mpsc::channel();
    sim::run(SimConfig::new(seed), SimDisk::new(), move |seam| {
        let system = plain(&seam);
        let mut rng = Rng::stream(seed, "forger");
        let nodes = nodes(&system);
        let (ci, other) = (nodes[rng.index(nodes.len())], nodes[rng.index(nodes.len())]);
        // The root is the most interesting of all.
        let ci = if seed.is_multiple_of(4) { ROOT } else { ci };
        let other = system.set.shared(other).unwrap().bytes().to_vec();
        let forged = forge(&system, ci, |page| spoil(&mut rng, page, &nodes, &other));
        let refused = matches!(
            system.set.shared(ci),
            Err(PoolError::Damaged { why, .. }) if why.starts_with("its checksum is right, but")
        );
        assert_eq!(refused, node_damage(&forged).is_some() || forged[12..16] != ci.0.to_le_bytes());
        let used = use_it(&system, &mut rng);
        assert!(!refused || used.is_err(), "nobody works with a node that is none");
        send.send(refused).unwrap();
        let _ = system.kernel.close();
    })
    .expect_completed();
    receive.recv().unwrap()
}

#[test]
fn forged_nodes_of_plain_data_sets_are_errors() {
    let refused = (0..200).filter(|seed| run(*seed)).count();
    assert!(refused > 50, "{refused} of 200 forgeries were none");
}
