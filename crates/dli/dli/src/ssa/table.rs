//! What a PCB's SSAs may name, laid out to be found fast: built once, when the PCB is opened.
//!
//! Invariants:
//! 1. Names are numbers in the program's alphabet. Segments are sorted by name; the fields of a
//!    segment stand together, sorted by name, so both are found by bisection.
//! 2. What the program must not name is not in the table: fields that are no SENFLDs, and indexes
//!    that are neither PROCSEQ nor INDICES. The sequence field is there for gets (DLI-12.47).
//! 3. Nothing here refers to the view it was built from.

use std::cmp::Ordering;

use definitions::resolve::{Index, View, ViewField, ViewSegment};
use definitions::{FieldName, FieldType, Organization, SegmentName};

use crate::ssa::alphabet::Alphabet;
use crate::ssa::argument::Operand;

/// The segments and fields that SSAs for one PCB may name.
#[derive(Clone, Debug)]
pub struct Table {
    pub(super) alphabet: Alphabet,
    pub(super) is_dedb: bool,
    collation: Option<Box<[u8; 256]>>,
    sequence: Option<Vec<Part>>,
    names: Vec<(u64, u16)>,
    segments: Vec<Segment>,
    field_names: Vec<u64>,
    fields: Vec<Field>,
}

#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub(super) name: SegmentName,
    pub(super) level: u8,
    pub(super) subset_pointers: u8,
    pub(super) key_at: u32,
    pub(super) key_len: u32,
    /// Offset and length of the sequence field.
    pub(super) key: Option<(u16, u16)>,
    parent: Option<u16>,
    /// Where its fields begin and end.
    fields: (usize, usize),
    /// What code O may look at.
    spans: Vec<Span>,
    /// Where the destination parent begins in the area.
    destination_at: Option<u16>,
    indices: Vec<Vec<Part>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) operand: Operand,
    /// The length of its values.
    pub(super) len: u16,
    /// Only gets may name it: the sequence field that is no SENFLD.
    pub(super) gets_only: bool,
    name: FieldName,
}

/// Bytes that the program sees.
#[derive(Clone, Copy, Debug)]
struct Span {
    of_destination: bool,
    start: u32,
    end: u32,
}

/// A search field of an index.
#[derive(Clone, Copy, Debug)]
struct Part {
    len: usize,
    collated: bool,
}

impl Table {
    /// The table of a view.
    ///
    /// `collation` is the place of each byte in the order of character fields (rules, H4), a
    /// permutation; without it all fields compare as unsigned bytes.
    #[must_use]
    pub fn new(view: &View, alphabet: Alphabet, collation: Option<&[u8; 256]>) -> Table {
        let is_collated = collation.is_some();
        let mut table = Table {
            alphabet,
            is_dedb: view.organization == Organization::Dedb,
            collation: collation.map(|table| Box::new(*table)),
            sequence: view.sequence.as_ref().map(|index| parts(index, is_collated)),
            names: Vec::with_capacity(view.segments.len()),
            segments: Vec::with_capacity(view.segments.len()),
            field_names: Vec::new(),
            fields: Vec::new(),
        };
        for (place, segment) in (0..=u16::MAX).zip(&view.segments) {
            table.names.push((alphabet.name(segment.name.bytes()), place));
            let sequence = view.sequence.as_ref().filter(|_| place == 0);
            table.add(segment, sequence);
        }
        table.names.sort_unstable();
        table
    }

    fn add(&mut self, segment: &ViewSegment, sequence: Option<&Index>) {
        let is_collated = self.collation.is_some();
        let mut fields = fields(segment, sequence, is_collated);
        fields.sort_by_key(|field| self.alphabet.name(field.name.bytes()));
        fields.dedup_by_key(|field| field.name);
        let first = self.fields.len();
        self.field_names.extend(fields.iter().map(|one| self.alphabet.name(one.name.bytes())));
        self.fields.append(&mut fields);
        let own_key = segment.key.map_or(0, |key| u32::from(key.len));
        self.segments.push(Segment {
            name: segment.name,
            level: segment.level,
            subset_pointers: segment.form.subset_pointers,
            key_at: segment.key_at,
            key_len: sequence.map_or(own_key, Index::search_len),
            key: segment.key.map(|key| (key.offset, key.len)),
            parent: segment.parent,
            fields: (first, self.fields.len()),
            spans: spans(segment),
            destination_at: segment.destination.as_ref().map(|one| one.offset),
            indices: segment.indices.iter().map(|one| parts(one, is_collated)).collect(),
        });
    }

    /// The name of the segment at that place of the view.
    #[must_use]
    pub fn name(&self, segment: u16) -> Option<SegmentName> {
        self.segment(segment).map(|segment| segment.name)
    }

    /// The piece of a concatenated key that is the key of the segment at that place: what command
    /// code C says about the segments above its own.
    #[must_use]
    pub fn key_in<'a>(&self, segment: u16, concatenated: &'a [u8]) -> Option<&'a [u8]> {
        let segment = self.segment(segment)?;
        let start = usize::try_from(segment.key_at).ok()?;
        let len = usize::try_from(segment.key_len).ok()?;
        concatenated.get(start..start.checked_add(len)?)
    }

    pub(super) fn segment(&self, place: u16) -> Option<&Segment> {
        self.segments.get(usize::from(place))
    }

    pub(super) fn named(&self, name: u64) -> Option<(u16, &Segment)> {
        let at = self.names.binary_search_by_key(&name, |(name, _)| *name).ok()?;
        let place = self.names.get(at)?.1;
        Some((place, self.segment(place)?))
    }

    /// Whether the segment at `above` is on the path from the root to `below`, and not `below`.
    pub(super) fn is_above(&self, above: u16, below: &Segment) -> bool {
        // A parent stands in front of its children, so the walk ends when it has passed `above`.
        let mut parent = below.parent;
        while let Some(place) = parent.filter(|place| *place > above) {
            parent = self.segment(place).and_then(|one| one.parent).filter(|next| *next < place);
        }
        parent == Some(above)
    }

    pub(super) fn field(&self, segment: &Segment, name: u64) -> Option<&Field> {
        let (first, end) = segment.fields;
        let at = self.field_names.get(first..end)?.binary_search(&name).ok()?;
        self.fields.get(first + at)
    }

    /// The name of the field that is meant; positions (code O) have none.
    pub(super) fn field_name(&self, segment: u16, operand: Operand) -> Option<FieldName> {
        let (first, end) = self.segment(segment)?.fields;
        let mut fields = self.fields.get(first..end)?.iter();
        fields.find(|field| field.operand == operand).map(|field| field.name)
    }

    /// Whether the root stands in the order of a secondary index.
    pub(super) fn is_sequenced(&self, segment: u16) -> bool {
        segment == 0 && self.sequence.is_some()
    }

    /// The order of two values of an operand.
    pub(super) fn order(&self, segment: u16, operand: Operand, a: &[u8], b: &[u8]) -> Ordering {
        let Some(places) = self.collation.as_deref() else { return a.cmp(b) };
        let parts = match operand {
            Operand::Field { collated: true, .. } => return collated(places, a, b),
            Operand::Field { .. } | Operand::Bytes { .. } => return a.cmp(b),
            Operand::Sequence => self.sequence.as_ref(),
            Operand::Index { at } => {
                self.segment(segment).and_then(|one| one.indices.get(usize::from(at)))
            }
        };
        let (mut a, mut b) = (a, b);
        for part in parts.into_iter().flatten() {
            let (front_a, rest_a) = a.split_at(part.len.min(a.len()));
            let (front_b, rest_b) = b.split_at(part.len.min(b.len()));
            let order = match part.collated {
                true => collated(places, front_a, front_b),
                false => front_a.cmp(front_b),
            };
            if order.is_ne() {
                return order;
            }
            (a, b) = (rest_a, rest_b);
        }
        a.cmp(b)
    }
}

impl Segment {
    /// Where the destination parent begins, from 0.
    pub(super) fn destination_start(&self) -> u32 {
        self.destination_at.map_or(0, u32::from)
    }

    /// What a position, from 1, and a length mean (DLI-12.21); `None` if the PCB does not see it.
    ///
    /// Positions count through the joined destination parent, but a range lies on one side. With
    /// SENFLDs a range lies within one of them, so that O shows no more than names do.
    pub(super) fn range(&self, position: u32, len: u32) -> Option<Operand> {
        let joined = position.checked_sub(1)?;
        let destination = self.destination_at.map(u32::from).filter(|at| joined >= *at);
        let start = joined - destination.unwrap_or(0);
        let end = start.checked_add(len)?;
        let of_destination = destination.is_some();
        let sees = |span: &Span| {
            span.of_destination == of_destination && span.start <= start && end <= span.end
        };
        if len == 0 || !self.spans.iter().any(sees) {
            return None;
        }
        let (offset, len) = (u16::try_from(start).ok()?, u16::try_from(len).ok()?);
        Some(Operand::Bytes { offset, len, of_destination })
    }
}

fn collated(places: &[u8; 256], a: &[u8], b: &[u8]) -> Ordering {
    let place = |byte: &u8| places[usize::from(*byte)];
    a.iter().map(place).cmp(b.iter().map(place))
}

fn parts(index: &Index, is_collated: bool) -> Vec<Part> {
    let part = |one: &definitions::resolve::IndexPart| Part {
        len: usize::from(one.len),
        collated: is_collated && one.kind_of_data == FieldType::Character,
    };
    index.search.iter().map(part).collect()
}

/// The fields that SSAs may name, with their operands; of equal names the first counts.
fn fields(segment: &ViewSegment, sequence: Option<&Index>, is_collated: bool) -> Vec<Field> {
    let is_key = |field: &ViewField| {
        !field.of_destination && segment.key.is_some_and(|key| key.name == field.name)
    };
    let is_seen = |field: &ViewField| {
        segment.access.seen.is_empty()
            || segment.access.seen.iter().any(|seen| seen.field.name == field.name)
    };
    let own = segment.fields.iter().filter(|field| is_seen(field) || is_key(field));
    let own = own.map(|field| Field {
        operand: Operand::Field {
            offset: field.offset,
            len: field.len,
            is_key: is_key(field) && sequence.is_none(),
            of_destination: field.of_destination,
            collated: is_collated && field.kind_of_data == FieldType::Character,
        },
        len: field.len,
        gets_only: !is_seen(field),
        name: field.name,
    });
    let of_index = |index: &Index, operand| Field {
        operand,
        len: u16::try_from(index.search_len()).unwrap_or(u16::MAX),
        gets_only: false,
        name: index.name,
    };
    let sequence = sequence.map(|index| of_index(index, Operand::Sequence));
    let indices = (0..=u16::MAX).zip(&segment.indices);
    let indices = indices.map(|(at, index)| of_index(index, Operand::Index { at }));
    own.chain(sequence).chain(indices).collect()
}

fn spans(segment: &ViewSegment) -> Vec<Span> {
    let span = |of_destination, start: u16, len: u16| {
        let start = u32::from(start);
        Span { of_destination, start, end: start + u32::from(len) }
    };
    if segment.access.seen.is_empty() {
        let destination = segment.destination.as_ref().map(|one| span(true, 0, one.max));
        return [Some(span(false, 0, segment.form.max)), destination]
            .into_iter()
            .flatten()
            .collect();
    }
    let key = segment.key.map(|key| span(false, key.offset, key.len));
    let seen = segment.access.seen.iter().map(|seen| seen.field);
    seen.map(|field| span(field.of_destination, field.offset, field.len)).chain(key).collect()
}
