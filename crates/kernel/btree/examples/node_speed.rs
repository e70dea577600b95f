//! Times the node's operations, in nanoseconds each: `cargo run --release --example node_speed`.

use std::hint::black_box;

use base::CiNumber;
use holdfast_btree::node::{Kind, NodeCursor, NodeMut, NodeView, Value};

const USABLE: usize = 4096 - 48;

struct Shape {
    name: &'static str,
    kind: Kind,
    value: &'static [u8],
    key: fn(u64) -> Vec<u8>,
}

fn number_key(n: u64) -> Vec<u8> {
    (n * 17).to_be_bytes().to_vec()
}

fn path_key(n: u64) -> Vec<u8> {
    format!("ROOT{:08}\x02CHILD{:06}", n / 8, n % 8 * 3).into_bytes()
}

fn main() {
    let shapes = [
        Shape { name: "leaf, 8 B + 100 B", kind: Kind::Leaf, value: &[7; 100], key: number_key },
        Shape { name: "leaf, 24 B + 80 B", kind: Kind::Leaf, value: &[7; 80], key: path_key },
        Shape { name: "inner, 8 B", kind: Kind::Inner, value: &[7; 4], key: number_key },
        Shape { name: "inner, 24 B", kind: Kind::Inner, value: &[7; 4], key: path_key },
    ];
    for shape in &shapes {
        measure(shape);
    }
}

fn fill<'a>(bytes: &'a mut [u8], shape: &Shape, order: impl Iterator<Item = u64>) -> NodeMut<'a> {
    let level = u8::from(shape.kind == Kind::Inner);
    let low = (shape.key)(0);
    let mut node = NodeMut::format(bytes, shape.kind, level, CiNumber(5), &low, None);
    let _ = node.insert(0, &low, Value::inline(shape.value));
    for n in order {
        let key = (shape.key)(n);
        let Err(index) = node.view().search(&key) else { continue };
        if node.insert(index, &key, Value::inline(shape.value)).is_err() {
            break;
        }
    }
    node
}

fn nanoseconds(times: u64, mut work: impl FnMut(u64)) -> f64 {
    let clock = seam::Seam::real().clock;
    let mut best = f64::MAX;
    for _ in 0..7 {
        let start = clock.monotonic();
        (0..times).for_each(&mut work);
        best = best.min((clock.monotonic() - start).as_nanos() as f64 / times as f64);
    }
    best
}

fn measure(shape: &Shape) {
    let mut bytes = vec![0; USABLE];
    let count = fill(&mut bytes, shape, 1..).view().count() as u64;
    // The same entries in random order: what inserts leave behind, not what a load does.
    let random = (0..count * 8).map(|n| n * 7919 % count);
    let node = fill(&mut bytes, shape, random);
    assert!(node.view().check().is_ok());
    let entries = node.view().count() as u64;
    let keys: Vec<Vec<u8>> = (0..4096_u64).map(|n| (shape.key)(n * 7919 % count)).collect();
    let view = node.view();
    let find = nanoseconds(400_000, |n| {
        black_box(view.find(black_box(&keys[n as usize % keys.len()])));
    });
    let mut cursor = NodeCursor::new();
    let forward = nanoseconds(20_000, |_| {
        cursor.load(view);
        while cursor.next_entry() {
            black_box((cursor.key(), cursor.value().bytes));
        }
    }) / entries as f64;
    let backward = nanoseconds(20_000, |_| {
        cursor.seek_end();
        while cursor.previous_entry() {
            black_box((cursor.key(), cursor.value().bytes));
        }
    }) / entries as f64;
    let check = nanoseconds(10_000, |_| {
        black_box(NodeView::new(black_box(view.bytes())).check().is_ok());
    });
    println!(
        "{:20} {entries:4} entries: find {find:5.0}  next {forward:5.1}  previous {backward:5.1}  \
         check {check:6.0}  remove+insert {:5.0}  compact {:6.0}",
        shape.name,
        change(view.bytes(), shape, &keys),
        compact(view.bytes()),
    );
}

fn change(bytes: &[u8], shape: &Shape, keys: &[Vec<u8>]) -> f64 {
    let mut copy = bytes.to_vec();
    let mut node = NodeMut::new(&mut copy);
    // Three quarters full, as nodes of a tree mostly are.
    while node.view().free_bytes() < USABLE / 4 {
        node.remove(node.view().count() / 2);
    }
    nanoseconds(200_000, |n| {
        let key = &keys[n as usize % keys.len()];
        if let Ok(index) = node.view().search(key)
            && index > 0
        {
            node.remove(index);
            let done = node.insert(index, key, Value::inline(shape.value));
            assert!(done.is_ok());
        }
    })
}

fn compact(bytes: &[u8]) -> f64 {
    let mut copy = bytes.to_vec();
    let mut node = NodeMut::new(&mut copy);
    nanoseconds(20_000, |_| node.compact())
}
