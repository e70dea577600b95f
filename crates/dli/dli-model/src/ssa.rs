//! Segment search arguments, read for clarity (DLI-3 and DLI-12.17 to DLI-12.26).
//!
//! | bytes | meaning |
//! |---|---|
//! | 8 | segment name |
//! | `*` and letters | command codes, up to `(` or blank |
//! | `(` field 8, operator 2, value, [boolean, field, operator, value]..., `)` | qualification |
//!
//! Invariants:
//! 1. A value has the length of its field: what follows stands at that very place, or it is AJ.

use definitions::resolve::{View, ViewSegment};

use crate::bytes::to_usize;

/// The kinds of call that take SSAs of different form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Get,
    Insert,
    Load,
    Replace,
    Delete,
}

/// What is wrong with an SSA, and which of the call it is, from 1 (DLI-2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) status: [u8; 2],
    pub(crate) ordinal: u8,
}

impl Fault {
    /// The SSA in place `at` of the call, from 0, is wrong.
    pub(crate) fn of(status: &[u8; 2], at: usize) -> Fault {
        Fault { status: *status, ordinal: u8::try_from(at + 1).unwrap_or(u8::MAX) }
    }
}

/// An SSA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ssa {
    /// The place of its segment in the view.
    pub(crate) seg: usize,
    pub(crate) codes: Vec<u8>,
    /// Sets that OR joins; each holds groups that `#` joins, each of conditions that AND joins.
    pub(crate) sets: Vec<Vec<Vec<Condition>>>,
    /// The value of a C: the concatenated key.
    pub(crate) concatenated: Option<Vec<u8>>,
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    pub(crate) field: Field,
    pub(crate) operator: Operator,
    pub(crate) value: Vec<u8>,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// Bytes of the segment.
    Segment { offset: usize, len: usize, is_key: bool },
    /// Bytes of its destination parent.
    Destination { offset: usize, len: usize },
    /// The search fields of an index: its place among those of the type, whether it is PROCSEQ's.
    Indexed { index: usize, len: usize, sequence: bool },
}

impl Field {
    fn len(self) -> usize {
        match self {
            Field::Segment { len, .. }
            | Field::Destination { len, .. }
            | Field::Indexed { len, .. } => len,
        }
    }
}

/// A relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Eq,
    Ne,
    Gt,
    Ge,
    Lt,
    Le,
}

impl Operator {
    /// DLI-12.19 has the letters.
    fn of(text: &[u8]) -> Option<Operator> {
        Some(match text {
            b"= " | b" =" | b"EQ" => Operator::Eq,
            b"> " | b" >" | b"GT" => Operator::Gt,
            b"< " | b" <" | b"LT" => Operator::Lt,
            b">=" | b"=>" | b"GE" => Operator::Ge,
            b"<=" | b"=<" | b"LE" => Operator::Le,
            b"^=" | b"=^" | b"!=" | b"=!" | b"<>" | b"NE" => Operator::Ne,
            _ => return None,
        })
    }

    pub(crate) fn holds(self, left: &[u8], right: &[u8]) -> bool {
        match self {
            Operator::Eq => left == right,
            Operator::Ne => left != right,
            Operator::Gt => left > right,
            Operator::Ge => left >= right,
            Operator::Lt => left < right,
            Operator::Le => left <= right,
        }
    }
}

impl Ssa {
    pub(crate) fn has(&self, code: u8) -> bool {
        self.codes.contains(&code)
    }

    pub(crate) fn is_qualified(&self) -> bool {
        !self.sets.is_empty() || self.concatenated.is_some()
    }
}

/// Reads the SSAs of a call, in their order.
pub(crate) fn read(view: &View, ssas: &[Vec<u8>], purpose: Purpose) -> Result<Vec<Ssa>, Fault> {
    let mut read: Vec<Ssa> = Vec::with_capacity(ssas.len());
    for (at, bytes) in ssas.iter().enumerate() {
        let above = read.last().map(|ssa| ssa.seg);
        let wrong = |status| Fault::of(status, at);
        let seg = named(view, bytes, above, purpose).map_err(wrong)?;
        let segment = &view.segments[seg];
        let rest = bytes.get(8..).unwrap_or(&[]);
        let ssa = Reader { view, seg, segment, rest, purpose }.read();
        let ssa = ssa.map_err(wrong)?;
        // DLI-3: no SSA stands above a C.
        if ssa.concatenated.is_some() && above.is_some() {
            return Err(wrong(b"AJ"));
        }
        read.push(ssa);
    }
    Ok(read)
}

/// The type that an SSA names, which must lie beneath that of the SSA before it.
fn named(
    view: &View,
    bytes: &[u8],
    above: Option<usize>,
    purpose: Purpose,
) -> Result<usize, Status> {
    let mut name = [b' '; 8];
    for (to, from) in name.iter_mut().zip(bytes) {
        *to = *from;
    }
    let Some(seg) = view.segments.iter().position(|one| *one.name.bytes() == name) else {
        return Err(b"AC");
    };
    let up = |at: &usize| view.segments[*at].parent.map(usize::from);
    let mut parents = std::iter::successors(up(&seg), up);
    if above.is_some_and(|above| !parents.any(|parent| parent == above)) {
        // DLI-1.LE: SSAs of one ISRT out of order while loading.
        return Err(if purpose == Purpose::Load { b"LE" } else { b"AC" });
    }
    Ok(seg)
}

struct Reader<'v, 's> {
    view: &'v View,
    seg: usize,
    segment: &'v ViewSegment,
    rest: &'s [u8],
    purpose: Purpose,
}

type Status = &'static [u8; 2];

impl<'s> Reader<'_, 's> {
    fn read(mut self) -> Result<Ssa, Status> {
        let codes = self.codes()?;
        let mut ssa = Ssa { seg: self.seg, codes, sets: Vec::new(), concatenated: None };
        match self.rest.first() {
            None | Some(b' ') => return Ok(ssa),
            Some(b'(') => self.rest = &self.rest[1..],
            Some(_) => return Err(b"AJ"),
        }
        match self.purpose {
            // DLI-12.34: N with a qualification is accepted, and the qualification ignored.
            Purpose::Replace if ssa.has(b'N') => return Ok(ssa),
            Purpose::Replace | Purpose::Delete => return Err(b"AJ"),
            Purpose::Get | Purpose::Insert | Purpose::Load => {}
        }
        if ssa.has(b'C') {
            let value = self.take(self.concatenated_len())?.to_vec();
            ssa.concatenated = Some(value);
            return match self.rest.first() {
                Some(b')') => Ok(ssa),
                _ => Err(b"AJ"),
            };
        }
        ssa.sets = self.qualification(ssa.has(b'O'))?;
        Ok(ssa)
    }

    fn take(&mut self, len: usize) -> Result<&'s [u8], Status> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(b"AJ")?;
        self.rest = rest;
        Ok(taken)
    }

    /// DLI-2.17 and DLI-12.19: `*----` and `*` alone say nothing.
    fn codes(&mut self) -> Result<Vec<u8>, Status> {
        let mut codes = Vec::new();
        if self.rest.first() != Some(&b'*') {
            return Ok(codes);
        }
        self.rest = &self.rest[1..];
        while let Some((code, rest)) = self.rest.split_first() {
            if matches!(code, b' ' | b'(') {
                break;
            }
            self.rest = rest;
            if !self.allows(*code) {
                return Err(b"AJ");
            }
            if *code == b'Q' {
                // DLI-12.26: Q needs its class letter.
                match self.take(1) {
                    Ok([b'A'..=b'J']) => {}
                    _ => return Err(b"GL"),
                }
            }
            codes.push(*code);
        }
        Ok(codes)
    }

    /// The column "Calls" of DLI-3; N on any call but REPL is ignored (DLI-12.25).
    fn allows(&self, code: u8) -> bool {
        match code {
            b'-' | b'N' => true,
            b'A' | b'G' | b'O' | b'Q' => self.purpose == Purpose::Get,
            b'C' | b'D' | b'F' | b'L' | b'P' | b'U' | b'V' => {
                !matches!(self.purpose, Purpose::Replace | Purpose::Delete)
            }
            _ => false,
        }
    }

    /// DLI-12.20: the sum of the lengths of the keys.
    fn concatenated_len(&self) -> usize {
        let sequence = self.view.sequence.as_ref().filter(|_| self.segment.parent.is_none());
        let own = match sequence {
            Some(index) => index.search_len(),
            None => self.segment.key.map_or(0, |key| u32::from(key.len)),
        };
        to_usize(self.segment.key_at + own)
    }

    /// DLI-12.18: AND makes a set, OR opens a new one.
    fn qualification(&mut self, by_position: bool) -> Result<Vec<Vec<Vec<Condition>>>, Status> {
        let mut sets = vec![vec![Vec::new()]];
        let mut count = 0;
        loop {
            let field = if by_position { self.place()? } else { self.field()? };
            let operator = Operator::of(self.take(2)?).ok_or(b"AJ")?;
            let value = self.take(field.len())?.to_vec();
            let set = sets.iter_mut().last().ok_or(b"AJ")?;
            set.iter_mut().last().ok_or(b"AJ")?.push(Condition { field, operator, value });
            count += 1;
            match self.take(1)? {
                b")" => break,
                b"*" | b"&" => {}
                b"+" | b"|" => sets.push(vec![Vec::new()]),
                b"#" => set.push(Vec::new()),
                _ => return Err(b"AJ"),
            }
        }
        let independent = sets.iter().filter(|set| set.len() > 1).flatten().flatten();
        let fit = independent.into_iter().all(|one| matches!(one.field, Field::Indexed { .. }));
        // decision: `#` elsewhere than between XDFLDs, and more than 1,024 conditions, are AJ.
        if fit && count <= 1024 { Ok(sets) } else { Err(b"AJ") }
    }

    /// DLI-12.21: O has a position and a length in place of the name.
    fn place(&mut self) -> Result<Field, Status> {
        let position = number(self.take(4)?);
        let len = number(self.take(4)?);
        let end = u64::from(position) + u64::from(len);
        if position == 0 || len == 0 || end - 1 > u64::from(self.segment.form.max) {
            return Err(b"AK");
        }
        let offset = to_usize(position) - 1;
        Ok(Field::Segment { offset, len: to_usize(len), is_key: false })
    }

    fn field(&mut self) -> Result<Field, Status> {
        let name = self.take(8)?;
        let segment = self.segment;
        if let Some(field) = segment.fields.iter().find(|field| field.name.bytes() == name) {
            // DLI-12.47: a SENFLD, or the sequence field on gets.
            let seen = segment.access.seen.iter().any(|seen| seen.field.name == field.name);
            let key = field.is_key && self.purpose == Purpose::Get;
            if !segment.access.seen.is_empty() && !seen && !key {
                return Err(b"AK");
            }
            let (offset, len) = (usize::from(field.offset), usize::from(field.len));
            return Ok(match field.of_destination {
                true => Field::Destination { offset, len },
                false => {
                    // Under PROCSEQ the roots are in the order of the index.
                    let by_index = self.view.sequence.is_some() && segment.parent.is_none();
                    Field::Segment { offset, len, is_key: field.is_key && !by_index }
                }
            });
        }
        let sequence = self.view.sequence.iter().filter(|_| segment.parent.is_none());
        let with_sequence = sequence.clone().next().is_some();
        let mut indexes = sequence.chain(&segment.indices).enumerate();
        let (at, index) = indexes.find(|(_, one)| one.name.bytes() == name).ok_or(b"AK")?;
        let len = to_usize(index.search_len());
        Ok(Field::Indexed { index: at, len, sequence: with_sequence && at == 0 })
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |value, byte| value << 8 | u32::from(*byte))
}
