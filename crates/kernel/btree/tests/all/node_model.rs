//! Nodes against a BTreeMap: a row of siblings takes random inserts, replaces, removes, splits
//! and merges, and every node proves itself after every step.

use std::collections::BTreeMap;

use base::CiNumber;
use holdfast_btree::node::{
    self, Kind, NodeCursor, NodeMut, NodeView, OVERFLOW_REFERENCE_BYTES, Place, Value,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// The most that an entry takes beside key and value: slot and cell header.
const ENTRY_BYTES_MAX: usize = node::SLOT_BYTES + 6;

#[derive(Clone, Debug)]
enum Step {
    Put { key: Vec<u8>, value_len: usize, overflow: bool, byte: u8 },
    Remove { nth: usize },
    RemoveRun { nth: usize, from: usize, to: usize },
    Compact { nth: usize },
    Merge { nth: usize },
    Image { nth: usize },
}

/// Keys of many shapes: short, deep under one prefix, ascending, and as long as is allowed.
fn key(usable_bytes: usize) -> impl Strategy<Value = Vec<u8>> {
    let longest = node::key_bytes_max(usable_bytes);
    prop_oneof![
        2 => vec(0_u8..4, 0..6),
        3 => (0_u16..500).prop_map(|n| format!("customer/0000{n:05}/order").into_bytes()),
        2 => (0_usize..longest, vec(0_u8..3, 0..3)).prop_map(move |(depth, tail)| {
            let mut key = vec![b'p'; depth];
            key.extend_from_slice(&tail);
            key.truncate(longest);
            key
        }),
        1 => (0_u8..6).prop_map(move |byte| vec![byte; longest]),
        1 => (0_u8..6, 0_u8..6).prop_map(move |(last, other)| {
            let mut key = vec![b'p'; longest];
            key[longest - 1] = last;
            key[longest - 2] = other;
            key
        }),
    ]
}

fn step(usable_bytes: usize) -> impl Strategy<Value = Step> {
    let inline = node::inline_value_bytes_max(usable_bytes);
    let value_len = prop_oneof![5 => 0_usize..40, 3 => 100..300.min(inline), 1 => 0..=inline];
    prop_oneof![
        12 => (key(usable_bytes), value_len, prop::bool::weighted(0.1), any::<u8>())
            .prop_map(|(key, len, overflow, byte)| {
                Step::Put { key, value_len: len, overflow, byte }
            }),
        4 => any::<usize>().prop_map(|nth| Step::Remove { nth }),
        1 => any::<(usize, usize, usize)>()
            .prop_map(|(nth, from, to)| Step::RemoveRun { nth, from, to }),
        1 => any::<usize>().prop_map(|nth| Step::Compact { nth }),
        3 => any::<usize>().prop_map(|nth| Step::Merge { nth }),
        1 => any::<usize>().prop_map(|nth| Step::Image { nth }),
    ]
}

/// One level of a tree: siblings from the empty key to infinity.
struct Row {
    kind: Kind,
    usable_bytes: usize,
    nodes: Vec<Vec<u8>>,
    next_number: u32,
    model: BTreeMap<Vec<u8>, (Vec<u8>, bool)>,
}

impl Row {
    fn new(kind: Kind, usable_bytes: usize) -> Row {
        let mut bytes = vec![0; usable_bytes];
        let level = u8::from(kind == Kind::Inner);
        let mut node = NodeMut::format(&mut bytes, kind, level, CiNumber(1), b"", None);
        let mut model = BTreeMap::new();
        if kind == Kind::Inner {
            assert_eq!(node.insert(0, b"", Value::inline(&[1, 0, 0, 0])), Ok(()));
            model.insert(Vec::new(), (vec![1, 0, 0, 0], false));
        }
        Row { kind, usable_bytes, nodes: vec![bytes], next_number: 2, model }
    }

    fn prove(&self, nth: usize) {
        let proof = NodeView::checked(&self.nodes[nth]).map(|_| ());
        assert_eq!(proof, Ok(()), "node {nth}");
    }

    /// The node that has the key, by its fences.
    fn node_of(&self, key: &[u8]) -> (usize, Place) {
        let mut home = None;
        for (nth, bytes) in self.nodes.iter().enumerate() {
            let place = NodeView::new(bytes).find(key);
            if matches!(place, Place::Found(_) | Place::Gap(_)) {
                assert!(home.is_none(), "two nodes claim one key");
                home = Some((nth, place));
            } else {
                let before = home.is_none();
                assert_eq!(place, if before { Place::AboveHigh } else { Place::BelowLow });
            }
        }
        home.expect("the fences leave no gap")
    }

    fn put(&mut self, key: &[u8], value: &[u8], overflow: bool) {
        if key.len() + value.len() > node::record_bytes_max(self.usable_bytes) {
            return;
        }
        let value_to_put = Value { bytes: value, overflow };
        for _ in 0..40 {
            let (nth, place) = self.node_of(key);
            let before = self.nodes[nth].clone();
            let view = NodeView::new(&before);
            let fits = match place {
                Place::Found(index) => view.can_replace(index, value_to_put),
                Place::Gap(index) => view.can_insert(index, key, value_to_put),
                _ => unreachable!("the key lies within the fences"),
            };
            let mut node = NodeMut::new(&mut self.nodes[nth]);
            let (done, index) = match place {
                Place::Found(index) => (node.replace_value(index, value_to_put), index),
                Place::Gap(index) => (node.insert(index, key, value_to_put), index),
                _ => unreachable!("the key lies within the fences"),
            };
            self.prove(nth);
            assert!(done.is_ok() || !fits, "what fits is not refused");
            if fits {
                self.model.insert(key.to_vec(), (value.to_vec(), overflow));
                return;
            }
            if done.is_ok() {
                // Tighter coding alone made room, which the tree does not look for.
                let whole = ENTRY_BYTES_MAX + key.len() + value.len();
                assert!(view.free_bytes() < whole, "a split is for a full node");
                self.nodes[nth].clone_from(&before);
            }
            assert_eq!(self.nodes[nth], before, "what is refused changes nothing");
            if let (Place::Found(_), 1) = (place, view.count()) {
                panic!("a record alone in its node can take any value");
            }
            let split = match place {
                Place::Found(index) => view.plan_growth_split(index),
                _ => view.plan_split(index, key, value.len()),
            };
            self.split(nth, &split);
        }
        panic!("a record within the limits finds room after some splits");
    }

    fn split(&mut self, nth: usize, split: &node::Split) {
        let number = CiNumber(self.next_number);
        self.next_number += 1;
        let mut right = vec![0; self.usable_bytes];
        NodeMut::new(&mut self.nodes[nth]).split_into(&mut right, number, split);
        assert_eq!(NodeView::new(&self.nodes[nth]).count(), split.left_count);
        self.nodes.insert(nth + 1, right);
        self.prove(nth);
        self.prove(nth + 1);
    }

    fn remove(&mut self, nth: usize) {
        let Some(key) = self.model.keys().nth(nth % self.model.len().max(1)).cloned() else {
            return;
        };
        let (nth, place) = self.node_of(&key);
        let Place::Found(index) = place else { panic!("a key of the model is missing") };
        if self.kind == Kind::Inner && index == 0 {
            return;
        }
        NodeMut::new(&mut self.nodes[nth]).remove(index);
        self.prove(nth);
        self.model.remove(&key);
    }

    fn remove_run(&mut self, nth: usize, from: usize, to: usize) {
        let nth = nth % self.nodes.len();
        let view = NodeView::new(&self.nodes[nth]);
        let kept = usize::from(self.kind == Kind::Inner);
        let count = view.count().max(kept);
        let from = kept + from % (count + 1 - kept);
        let to = from + to % (count + 1 - from);
        let mut key = Vec::new();
        for index in from..to {
            view.key_at(index, &mut key);
            self.model.remove(&key);
        }
        NodeMut::new(&mut self.nodes[nth]).remove_run(from..to);
        self.prove(nth);
    }

    fn merge(&mut self, nth: usize) {
        if self.nodes.len() < 2 {
            return;
        }
        let nth = nth % (self.nodes.len() - 1);
        let right = self.nodes[nth + 1].clone();
        let before = self.nodes[nth].clone();
        let promised = NodeView::new(&before).would_fit_merged(NodeView::new(&right));
        let done = NodeMut::new(&mut self.nodes[nth]).merge_from(NodeView::new(&right));
        assert!(done.is_ok() || !promised);
        if done.is_ok() {
            self.nodes.remove(nth + 1);
        } else {
            assert_eq!(self.nodes[nth], before);
        }
        self.prove(nth);
    }

    fn image(&mut self, nth: usize) {
        let nth = nth % self.nodes.len();
        let mut image = Vec::new();
        NodeView::new(&self.nodes[nth]).write_image(&mut image);
        let mut copy = vec![0xee; self.usable_bytes];
        assert!(NodeMut::load_image(&mut copy, &image).is_ok());
        self.nodes[nth] = copy;
        image.pop();
        let mut copy = vec![0; self.usable_bytes];
        assert!(NodeMut::load_image(&mut copy, &image).is_err());
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::Put { key, value_len, overflow, byte } => {
                let (len, overflow) = match (self.kind, overflow) {
                    (Kind::Inner, _) => (4, false),
                    (Kind::Leaf, true) => (OVERFLOW_REFERENCE_BYTES, true),
                    (Kind::Leaf, false) => (*value_len, false),
                };
                self.put(key, &vec![*byte; len], overflow);
            }
            Step::Remove { nth } => self.remove(*nth),
            Step::RemoveRun { nth, from, to } => self.remove_run(*nth, *from, *to),
            Step::Compact { nth } => {
                let nth = nth % self.nodes.len();
                NodeMut::new(&mut self.nodes[nth]).compact();
                self.prove(nth);
            }
            Step::Merge { nth } => self.merge(*nth),
            Step::Image { nth } => self.image(*nth),
        }
    }

    /// Every node, both ways, against the model; links and fences join.
    fn compare(&self) {
        let mut expected = self.model.iter();
        let mut cursor = NodeCursor::new();
        let mut low = Vec::new();
        for (nth, bytes) in self.nodes.iter().enumerate() {
            let view = NodeView::new(bytes);
            assert_eq!(view.low_fence(), low, "fences join");
            let next = self.nodes.get(nth + 1).map(|next| NodeView::new(next).number());
            assert_eq!(view.right(), next, "links join");
            assert_eq!(view.high_fence(&mut low), next.is_some());
            cursor.load(view);
            let mut keys = Vec::new();
            let mut key = Vec::new();
            while cursor.next_entry() {
                let (wanted, (value, overflow)) = expected.next().expect("no entry too many");
                assert_eq!(cursor.key(), wanted);
                assert_eq!(cursor.value(), Value { bytes: value, overflow: *overflow });
                view.key_at(keys.len(), &mut key);
                assert_eq!(&key, wanted);
                assert_eq!(view.key_len(keys.len()), wanted.len());
                keys.push(wanted);
            }
            while cursor.previous_entry() {
                assert_eq!(Some(cursor.key()), keys.pop().map(Vec::as_slice));
            }
            assert!(keys.is_empty());
        }
        assert!(expected.next().is_none(), "no entry too few");
    }
}

fn run(kind: Kind, usable_bytes: usize, steps: &[Step]) {
    let mut row = Row::new(kind, usable_bytes);
    for step in steps {
        row.apply(step);
    }
    row.compare();
    for bytes in &row.nodes {
        node::fuzz_check(bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn small_leaves_do_what_a_map_does(steps in vec(step(1040), 1..250)) {
        run(Kind::Leaf, 1040, &steps);
    }

    #[test]
    fn leaves_do_what_a_map_does(steps in vec(step(4048), 1..400)) {
        run(Kind::Leaf, 4048, &steps);
    }

    #[test]
    fn the_largest_leaves_do_what_a_map_does(steps in vec(step(32_720), 1..200)) {
        run(Kind::Leaf, 32_720, &steps);
    }

    #[test]
    fn inner_nodes_do_what_a_map_does(steps in vec(step(4048), 1..500)) {
        run(Kind::Inner, 4048, &steps);
    }

    #[test]
    fn spoiled_nodes_are_refused_or_work(
        steps in vec(step(1040), 1..60),
        spoils in vec((0_usize..1040, any::<u8>()), 1..4),
        in_front in any::<bool>(),
    ) {
        let mut row = Row::new(Kind::Leaf, 1040);
        steps.iter().for_each(|step| row.apply(step));
        for bytes in &mut row.nodes {
            for (at, byte) in &spoils {
                // Mostly header and slots: there a wrong byte means most.
                bytes[if in_front { at % 120 } else { *at }] = *byte;
            }
            node::fuzz_check(bytes);
        }
    }

    #[test]
    fn arbitrary_bytes_are_refused_or_work(bytes in vec(any::<u8>(), 0..2_000)) {
        node::fuzz_check(&bytes);
    }
}

#[test]
fn appended_entries_leave_full_nodes_and_random_ones_half_full() {
    for (stride, at_least) in [(1, 85), (7919, 55)] {
        let mut row = Row::new(Kind::Leaf, 4048);
        for n in 0..3_000_u64 {
            let key = (n * stride % 10_007).to_be_bytes();
            row.put(&key, &[5; 90], false);
        }
        let live: usize = row.nodes.iter().map(|node| NodeView::new(node).live_bytes()).sum();
        let percent = live * 100 / (row.nodes.len() * 4_016);
        assert!(percent >= at_least, "{percent} % after inserts with stride {stride}");
    }
}

#[test]
fn a_run_of_inserts_in_the_middle_fills_its_nodes() {
    let mut row = Row::new(Kind::Leaf, 4048);
    for n in 0..20_u8 {
        row.put(&[b'a' + n], &[1; 100], false);
    }
    for n in 0..2_000_u32 {
        row.put(&[&b"c"[..], &n.to_be_bytes()].concat(), &[5; 90], false);
    }
    let live: usize = row.nodes.iter().map(|node| NodeView::new(node).live_bytes()).sum();
    let percent = live * 100 / (row.nodes.len() * 4_016);
    assert!(percent >= 80, "{percent} %");
}

#[test]
fn descending_inserts_do_not_keep_their_loose_coding() {
    let mut row = Row::new(Kind::Leaf, 4048);
    for n in (0..10_000_u32).rev() {
        row.put(format!("customer/{n:08}/orders/and/more").as_bytes(), b"value", false);
    }
    // Whole keys take 44 bytes a record, well coded ones 29; the nodes are half full.
    assert!(row.nodes.len() < 2 * 10_000 * 33 / 4_016, "{} nodes", row.nodes.len());
}
