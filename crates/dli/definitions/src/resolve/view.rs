//! What each PCB of a PSB sees: the tree that the call engine works with.
//!
//! Invariants:
//! 1. Segments of a view stand in hierarchic order, parents in front of their children; the first
//!    is the root, and every other one has a parent in the view.
//! 2. `key_at` of a segment is where its key begins in the concatenated key of its path, so the
//!    key feedback of a level is `key_at + key.len`.
//! 3. A segment without sensitive fields is seen whole: `seen_len` is 0 then.

use std::sync::Arc;

use super::databases::need_dbd;
use super::entries::{IndexUse, index_use};
use super::index::Index;
use super::options::reduce;
use super::segments::{add_sensitivity, index_of, of_node};
use super::set::Definitions;
use super::structure::{Node, inverted, of_logical, of_physical};
use crate::codes;
use crate::finding::{Findings, Spot, nth};
use crate::model::{
    Compression, DatabasePcb, Dbd, DbdName, DdName, FieldName, FieldType, GsamPcb, Organization,
    Pair, PcbKind, PcbName, ProcessingOptions, Psb, PsbName, Rules, SegmentName, SegmentPart,
    Sensitive, SubsetUse, TerminalPcb,
};

/// A PSB that fits its databases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedPsb {
    /// Its name.
    pub name: PsbName,
    /// Whether batch programs get the I/O PCB.
    pub compatible: bool,
    /// Its PCBs in the order of the program's parameters.
    pub pcbs: Vec<ResolvedPcb>,
}

/// A PCB of a resolved PSB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedPcb {
    /// Its name.
    pub name: Option<PcbName>,
    /// Whether it is among the program's parameters.
    pub listed: bool,
    /// What it is for.
    pub kind: ResolvedKind,
}

/// The three types of PCB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolvedKind {
    /// An alternate PCB.
    Terminal(TerminalPcb),
    /// A database.
    Database(Box<View>),
    /// A sequential file.
    Gsam(GsamView),
}

/// What a PCB sees of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The DBD that the PCB names.
    pub dbd: DbdName,
    /// Its organization.
    pub organization: Organization,
    /// The PCB's options, reduced.
    pub options: ProcessingOptions,
    /// `POS=MULTIPLE`.
    pub multiple_positions: bool,
    /// Bytes of key feedback: the larger of KEYLEN and the longest concatenated key.
    pub key_len: u32,
    /// The index whose order is used.
    pub sequence: Option<Index>,
    /// The index whose entries are the segments: a secondary index used as a database.
    pub entries: Option<Index>,
    /// The sensitive segments in hierarchic order.
    pub segments: Vec<ViewSegment>,
    /// The physical databases beneath, indexes not among them, sorted.
    pub databases: Vec<DbdName>,
}

/// A sensitive segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewSegment {
    /// Its name in the DBD that the PCB names.
    pub name: SegmentName,
    /// Its level in this view, from 1.
    pub level: u8,
    /// The place of its parent in the view.
    pub parent: Option<u16>,
    /// The physical segment that it is on the path that is used.
    pub home: Home,
    /// The physical segment that holds the data: of a virtual logical child its source.
    pub stored: Home,
    /// Whether gets return its data or its key alone (`SOURCE=`).
    pub part: SegmentPart,
    /// The destination parent that is joined to it.
    pub destination: Option<Destination>,
    /// Its sequence field.
    pub key: Option<ViewKey>,
    /// Where its key begins in the concatenated key.
    pub key_at: u32,
    /// The fields that SSAs may name.
    pub fields: Vec<ViewField>,
    /// The indexes whose XDFLDs SSAs may name.
    pub indices: Vec<Index>,
    /// What its DBD says of it.
    pub form: SegmentForm,
    /// What the PSB lets the program do with it and see of it.
    pub access: SegmentAccess,
}

/// What the DBD says of a segment, whoever looks at it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentForm {
    /// The longest length, without the destination parent.
    pub max: u16,
    /// The shortest length.
    pub min: u16,
    /// Whether it begins with LL.
    pub variable: bool,
    /// How it is compressed.
    pub compression: Option<Compression>,
    /// `NOTWIN`: at most one under each parent.
    pub single: bool,
    /// A sequential dependent of a DEDB.
    pub sequential: bool,
    /// How many subset pointers it has.
    pub subset_pointers: u8,
    /// Insert, delete and replace rules, and where twins go.
    pub rules: Rules,
}

/// What the PSB lets a program do with a segment and see of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentAccess {
    /// What the program may do with it, reduced.
    pub options: ProcessingOptions,
    /// `PROCOPT=K` (DLI-12.39).
    pub key_only: bool,
    /// The subset pointers that the program uses.
    pub subsets: Vec<SubsetUse>,
    /// The sensitive fields in the order of their places; empty if the whole segment is seen.
    pub seen: Vec<SeenField>,
    /// The length of the segment that the program sees, if it has sensitive fields.
    pub seen_len: u32,
}

/// A physical segment type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// Its database.
    pub dbd: DbdName,
    /// Its name there.
    pub segment: SegmentName,
    /// Its code there.
    pub code: u8,
}

/// The destination parent of a concatenated segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// The physical segment.
    pub home: Home,
    /// Whether gets return its data or its key alone.
    pub part: SegmentPart,
    /// Where its data begins in the area.
    pub offset: u16,
    /// Its longest length.
    pub max: u16,
    /// Its sequence field.
    pub key: Option<ViewKey>,
    /// Its rules, which decide what an insert and a delete do to it (DLI-12.72 to DLI-12.74).
    pub rules: Rules,
}

/// A sequence field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewKey {
    /// Its name.
    pub name: FieldName,
    /// Where it begins in the segment, from 0.
    pub offset: u16,
    /// Its length.
    pub len: u16,
    /// Whether twins must differ in it.
    pub unique: bool,
}

/// A field that SSAs may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewField {
    /// Its name.
    pub name: FieldName,
    /// Where it begins in its segment, from 0.
    pub offset: u16,
    /// Its length.
    pub len: u16,
    /// Its type.
    pub kind_of_data: FieldType,
    /// Whether it is the sequence field.
    pub is_key: bool,
    /// Whether it belongs to the destination parent.
    pub of_destination: bool,
}

/// A sensitive field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenField {
    /// The field.
    pub field: ViewField,
    /// Where the program sees it, from 0.
    pub offset: u16,
    /// Whether it may be replaced.
    pub replace: bool,
}

/// What a PCB sees of a sequential file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GsamView {
    /// The DBD.
    pub dbd: DbdName,
    /// Reading or writing.
    pub options: ProcessingOptions,
    /// The DD that is used: DD1 to read, DD2 to write, or the only one (DLI-12.62).
    pub dd: Option<DdName>,
    /// `RECFM=`.
    pub record_format: Option<String>,
    /// `RECORD=`.
    pub record: Pair,
    /// `BLOCK=`.
    pub block: Pair,
}

pub(super) fn psb(psb: &Psb, all: &dyn Definitions, found: &mut Findings) -> Option<ResolvedPsb> {
    let mut pcbs = Vec::with_capacity(psb.pcbs.len());
    for (at, pcb) in psb.pcbs.iter().enumerate() {
        let kind = match &pcb.kind {
            PcbKind::Terminal(terminal) => Some(ResolvedKind::Terminal(terminal.clone())),
            PcbKind::Gsam(gsam) => gsam_view(gsam, at, all, found).map(ResolvedKind::Gsam),
            PcbKind::Database(database) => {
                let view = view(database, at, all, found);
                view.map(|view| ResolvedKind::Database(Box::new(view)))
            }
        };
        pcbs.extend(kind.map(|kind| ResolvedPcb { name: pcb.name, listed: pcb.listed, kind }));
    }
    // A PCB that does not fit was told; the others are checked all the same.
    let complete = pcbs.len() == psb.pcbs.len();
    complete.then_some(ResolvedPsb { name: psb.name, compatible: psb.compatible, pcbs })
}

fn gsam_view(
    gsam: &GsamPcb,
    at: usize,
    all: &dyn Definitions,
    found: &mut Findings,
) -> Option<GsamView> {
    let spot = (Spot::Pcb(nth(at)), "NAME");
    let dbd = need_dbd(gsam.dbd, spot, all, found)?;
    if dbd.organization != Organization::Gsam {
        let message = format!("{} is {}, and the PCB is for GSAM", dbd.name, dbd.organization);
        found.error(codes::GSAM_ONLY, spot, message);
        return None;
    }
    let set = dbd.data_sets.first().cloned().unwrap_or_default();
    let dd = if gsam.options.is_load() { set.dd2.or(set.dd1) } else { set.dd1.or(set.dd2) };
    Some(GsamView {
        dbd: gsam.dbd,
        options: gsam.options,
        dd,
        record_format: set.record_format,
        record: set.record,
        block: set.block,
    })
}

fn view(pcb: &DatabasePcb, at: usize, all: &dyn Definitions, found: &mut Findings) -> Option<View> {
    let spot = Spot::Pcb(nth(at));
    let dbd = need_dbd(pcb.dbd, (spot, "NAME"), all, found)?;
    let mut nodes = match dbd.organization {
        Organization::Gsam => {
            let message = format!("{} is GSAM, and the PCB has TYPE=DB", dbd.name);
            found.error(codes::GSAM_ONLY, (spot, "NAME"), message);
            return None;
        }
        Organization::Logical => {
            // What is wrong with the logical database is told about that, not about each PCB.
            let mut elsewhere = Findings::new(found.member);
            let nodes = of_logical(&dbd, all, &mut elsewhere);
            if nodes.is_none() {
                let message = format!("the logical database {} does not fit its sources", dbd.name);
                found.error(codes::LOGICAL_PATH, (spot, "NAME"), message);
            }
            nodes?
        }
        _ => of_physical(&dbd),
    };
    let sequence = match pcb.sequence {
        None => None,
        Some(name) => {
            let (target, index) = sequence(&nodes, name, pcb, spot, &dbd, all, found)?;
            if target > 0 {
                nodes = inverted(&nodes, target);
            }
            Some(index)
        }
    };
    let index = match dbd.organization.is_index() {
        true => Some(index_use(&dbd, spot, all, found)?),
        false => None,
    };
    let mut view = View {
        dbd: pcb.dbd,
        organization: dbd.organization,
        options: pcb.options,
        multiple_positions: pcb.multiple_positions,
        key_len: 0,
        sequence,
        entries: None,
        segments: Vec::new(),
        databases: Vec::new(),
    };
    let chosen = choose(&nodes, pcb, at, found)?;
    view.options = reduce(pcb.options, &view, &index, (spot, "PROCOPT"), found);
    let parts = Parts { nodes: &nodes, index: &index, chosen: &chosen };
    fill(&mut view, &parts, pcb, at, all, found);
    if let Some(IndexUse::Entries(index)) = index {
        view.entries = Some(index);
    }
    key_lengths(&mut view, pcb, spot, found);
    Some(view)
}

/// The target node and the index of PROCSEQ.
fn sequence(
    nodes: &[Node],
    name: DbdName,
    pcb: &DatabasePcb,
    spot: Spot,
    dbd: &Arc<Dbd>,
    all: &dyn Definitions,
    found: &mut Findings,
) -> Option<(usize, Index)> {
    let keyword = if pcb.sequence_of_dedb { "PROCSEQD" } else { "PROCSEQ" };
    if pcb.sequence_of_dedb != (dbd.organization == Organization::Dedb) {
        let message = format!(
            "{keyword}= is {} for DEDB; it is taken as the other one",
            if pcb.sequence_of_dedb { "only" } else { "not" }
        );
        found.warning(codes::WRONG_SEQUENCE, (spot, keyword), message);
    }
    let index = nodes
        .iter()
        .enumerate()
        .find_map(|(at, node)| index_of(node, name, all).map(|index| (at, index)));
    if index.is_none() {
        let message = format!("{keyword}={name} is no secondary index of {}", dbd.name);
        found.error(codes::NOT_ITS_INDEX, (spot, keyword), message);
    }
    index
}

/// The node of each SENSEG.
fn choose(
    nodes: &[Node],
    pcb: &DatabasePcb,
    at: usize,
    found: &mut Findings,
) -> Option<Vec<usize>> {
    let mut chosen = Vec::with_capacity(pcb.segments.len());
    let mut all_fit = true;
    for (n, sensitive) in pcb.segments.iter().enumerate() {
        let spot = Spot::Sensitive(nth(at), nth(n));
        let Some(node) = nodes.iter().position(|node| node.name == sensitive.name) else {
            let message = format!("{} has no segment {}", pcb.dbd, sensitive.name);
            found.error(codes::NO_SUCH_SEGMENT, (spot, "NAME"), message);
            // Keeps the places of those behind it; its own view is never built.
            chosen.push(usize::MAX);
            all_fit = false;
            continue;
        };
        let given = sensitive.parent.and_then(|parent| chosen.get(usize::from(parent)).copied());
        let known = nodes[node].parent;
        if given != known && given != Some(usize::MAX) {
            let message = match known {
                Some(known) => format!(
                    "the parent of {} in {} is {}",
                    sensitive.name, pcb.dbd, nodes[known].name
                ),
                None => format!("{} is the root of {}", sensitive.name, pcb.dbd),
            };
            found.error(codes::OTHER_PARENT, (spot, "PARENT"), message);
            all_fit = false;
        }
        chosen.push(node);
    }
    all_fit.then_some(chosen)
}

/// What a view is built from.
struct Parts<'p> {
    /// What is stored, as the view sees it.
    nodes: &'p [Node],
    index: &'p Option<IndexUse>,
    /// For each sensitive segment the number of its node.
    chosen: &'p [usize],
}

/// Builds the segments of the view in hierarchic order.
fn fill(
    view: &mut View,
    parts: &Parts<'_>,
    pcb: &DatabasePcb,
    at: usize,
    all: &dyn Definitions,
    found: &mut Findings,
) {
    let Parts { nodes, index, chosen } = *parts;
    let mut order: Vec<(usize, usize)> =
        chosen.iter().enumerate().map(|(n, node)| (*node, n)).collect();
    order.sort_unstable();
    for (position, (node, n)) in order.iter().enumerate() {
        let sensitive: &Sensitive = &pcb.segments[*n];
        let node = &nodes[*node];
        let mut segment = of_node(node, all);
        if let Some(index) = index {
            index.settle(&mut segment);
        }
        let parent = node.parent.and_then(|up| order[..position].iter().position(|o| o.0 == up));
        segment.parent = parent.map(nth);
        if let Some(up) = parent.and_then(|up| view.segments.get(up)) {
            segment.level = up.level.saturating_add(1);
            segment.key_at = up.key_at + key_len(up, view.sequence.as_ref());
        }
        let spot = Spot::Sensitive(nth(at), nth(*n));
        segment.access.options = match sensitive.options {
            Some(own) => reduce(own, view, index, (spot, "PROCOPT"), found),
            None => view.options,
        };
        segment.access.key_only = segment.access.options.has('K');
        add_sensitivity(&mut segment, node, sensitive, at, *n, all, found);
        if let Some(index) = index {
            index.narrow(&mut segment);
        }
        view.databases.push(segment.stored.dbd);
        view.databases.extend(segment.destination.as_ref().map(|one| one.home.dbd));
        view.databases.push(segment.home.dbd);
        view.segments.push(segment);
    }
    view.databases.sort_unstable();
    view.databases.dedup();
}

/// The bytes that a segment adds to the key feedback: under PROCSEQ the search fields stand for
/// the root's key (DLI-12.64).
fn key_len(segment: &ViewSegment, sequence: Option<&Index>) -> u32 {
    match sequence {
        Some(index) if segment.parent.is_none() => index.search_len(),
        _ => segment.key.map_or(0, |key| u32::from(key.len)),
    }
}

/// Compares KEYLEN with the longest concatenated key, and takes the larger (DLI-12.42).
fn key_lengths(view: &mut View, pcb: &DatabasePcb, spot: Spot, found: &mut Findings) {
    let ends = view
        .segments
        .iter()
        .map(|segment| segment.key_at + key_len(segment, view.sequence.as_ref()));
    let longest = ends.max().unwrap_or(0);
    view.key_len = longest.max(pcb.key_len.unwrap_or(0));
    if let Some(given) = pcb.key_len.filter(|given| *given != longest) {
        let message = format!(
            "KEYLEN={given}, and the longest concatenated key has {longest} bytes; {} are kept",
            view.key_len
        );
        found.warning(codes::KEYLEN, (spot, "KEYLEN"), message);
    }
}
