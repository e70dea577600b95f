//! Takes SSAs apart, from left to right, each in the order name, codes, fields, values; the first
//! thing that is wrong decides.
//!
//! ```text
//! SEGNAME(8) [ '*' codes ] ( ' ' | '(' FIELD(8) OP(2) VALUE(n) [ BOOL FIELD OP VALUE ].. ')' )
//! ```
//!
//! | code | in place of `FIELD OP VALUE ..` |
//! |---|---|
//! | C | the concatenated key of the path down to the segment |
//! | O | as without, but each `FIELD` is a position from 1 and a length, 4 bytes each, big-endian |
//!
//! Invariants:
//! 1. Bytes behind the end of the syntax are never looked at, so slices may be longer than SSAs.
//! 2. Time grows with the bytes read: names are found by bisection, a path has 15 levels at most,
//!    and a call has 1,024 conditions at most (DLI-12.18).
//! 3. Nothing is taken from the heap for up to four SSAs with up to four conditions each: they
//!    stand within [`Ssas`], values stay where the program has them, and a refusal is a few bytes.

use crate::ssa::argument::{Condition, Joined, Operand, Operator, Qualification, Sets, Ssa, Ssas};
use crate::ssa::code::{Calling, Code};
use crate::ssa::refusal::{Reason, Refusal};
use crate::ssa::table::{Segment, Table};

/// The most SSAs of a call: one for each level.
pub const SSAS_MAX: usize = 15;
/// The most conditions of a call (DLI-12.18).
pub const CONDITIONS_MAX: usize = 1_024;

const NAME_LEN: usize = 8;

/// Takes the SSAs of a call apart.
///
/// Each slice begins with an SSA and may be longer than it.
///
/// # Errors
///
/// The first thing that is wrong, with the status code for the program.
pub fn parse<'a>(table: &Table, calling: Calling, ssas: &[&'a [u8]]) -> Result<Ssas<'a>, Refusal> {
    let mut list = Ssas::default();
    parse_into(table, calling, ssas, &mut list)?;
    Ok(list)
}

/// As [`parse`], but what was taken apart stays where it was written: moving it would cost as
/// much as taking it apart.
///
/// # Errors
///
/// As [`parse`]; the list is then empty.
pub fn parse_into<'a>(
    table: &Table,
    calling: Calling,
    ssas: &[&'a [u8]],
    list: &mut Ssas<'a>,
) -> Result<(), Refusal> {
    list.0.clear();
    let mut call = Call { calling, conditions: 0, inserting: false };
    let syntax = table.alphabet.syntax();
    for (at, bytes) in ssas.iter().enumerate() {
        call.inserting |= calling == Calling::Insert && at + 1 == ssas.len();
        let mut reader = Reader { table, call: &mut call, syntax, bytes, at: 0, level: 0 };
        if let Err(reason) = reader.ssa(list) {
            list.0.clear();
            return Err(reader.refusal(at, reason));
        }
    }
    Ok(())
}

/// What the SSAs of one call have in common.
struct Call {
    calling: Calling,
    conditions: usize,
    /// Whether this SSA and those behind it name segments that are to be inserted.
    inserting: bool,
}

struct Reader<'t, 'a> {
    table: &'t Table,
    call: &'t mut Call,
    syntax: &'static [u8; 256],
    bytes: &'a [u8],
    /// The first byte that was not accepted yet.
    at: usize,
    /// The level of the segment, once its name is known.
    level: u8,
}

impl<'a> Reader<'_, 'a> {
    #[cold]
    fn refusal(&self, ssa: usize, reason: Reason) -> Refusal {
        Refusal {
            status: reason.status(),
            ssa: u8::try_from(ssa).unwrap_or(u8::MAX),
            level: self.level,
            at: u16::try_from(self.at).unwrap_or(u16::MAX),
            reason,
        }
    }

    /// The next character of the syntax, which is not accepted yet.
    fn sign(&self) -> Result<u8, Reason> {
        let byte = self.bytes.get(self.at).ok_or(Reason::Short)?;
        Ok(self.syntax[usize::from(*byte)])
    }

    /// The next `N` bytes, which are not accepted yet.
    fn next<const N: usize>(&self) -> Result<[u8; N], Reason> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        rest.first_chunk().copied().ok_or(Reason::Short)
    }

    /// Accepts a value.
    fn value(&mut self, len: usize) -> Result<&'a [u8], Reason> {
        let end = self.at.checked_add(len).ok_or(Reason::Short)?;
        let value = self.bytes.get(self.at..end).ok_or(Reason::Short)?;
        self.at = end;
        Ok(value)
    }

    /// Adds an SSA to the list.
    fn ssa(&mut self, list: &mut Ssas<'a>) -> Result<(), Reason> {
        if list.len() >= SSAS_MAX {
            return Err(Reason::TooMany);
        }
        let table = self.table;
        let name = u64::from_be_bytes(self.next()?);
        let (place, segment) = table.named(name).ok_or(Reason::UnknownSegment)?;
        self.level = segment.level;
        let above = list.last().map(|last| last.segment);
        if above.is_some_and(|above| !table.is_above(above, segment)) {
            return Err(Reason::NotBelow);
        }
        if self.call.calling == Calling::Delete && above.is_some() {
            return Err(Reason::DeleteSecond);
        }
        self.at = NAME_LEN;
        let ssa = list.add(place, segment.level);
        if self.bytes.len() == NAME_LEN {
            return Ok(());
        }
        match self.sign()? {
            b' ' => return Ok(()),
            b'(' => {}
            b'*' => {
                self.at += 1;
                self.codes(ssa, segment, above.is_none())?;
            }
            _ => return Err(Reason::AfterName),
        }
        if self.sign()? == b'(' {
            self.qualification(ssa, segment)?;
        } else if ssa.codes.has(Code::C) {
            return Err(Reason::KeyMissing);
        }
        Ok(())
    }

    /// Accepts the codes up to the blank or parenthesis behind them.
    fn codes(
        &mut self,
        ssa: &mut Ssa<'a>,
        segment: &Segment,
        is_first: bool,
    ) -> Result<(), Reason> {
        loop {
            let sign = self.sign()?;
            match sign {
                b' ' | b'(' => break,
                b'-' => {
                    self.at += 1;
                    continue;
                }
                _ => {}
            }
            let code = Code::of(sign).ok_or(Reason::UnknownCode)?;
            if !code.goes_with(self.call.calling) {
                return Err(Reason::CodeOfOtherCall);
            }
            if code == Code::C && !is_first {
                return Err(Reason::KeyBelow);
            }
            self.at += 1;
            if code == Code::Q {
                let class = self.sign()?;
                if !class.is_ascii_uppercase() || class > b'J' {
                    return Err(Reason::LockClass);
                }
                ssa.lock_class = Some(class);
                self.at += 1;
            } else if let Some(place) = code.subset() {
                self.subset(ssa, segment, place)?;
            }
            // DLI-12.25: N without effect on any call but REPL.
            if code != Code::N || self.call.calling == Calling::Replace {
                ssa.codes.add(code);
            }
        }
        if ssa.codes.has(Code::C) && ssa.codes.has(Code::O) {
            return Err(Reason::KeyAndPosition);
        }
        // DLI-12.28: from the first D on, the SSAs of an ISRT name new segments.
        self.call.inserting |= self.call.calling == Calling::Insert && ssa.codes.has(Code::D);
        Ok(())
    }

    /// Accepts the number of a subset pointer.
    fn subset(&mut self, ssa: &mut Ssa<'a>, segment: &Segment, place: usize) -> Result<(), Reason> {
        let number = self.sign()?.wrapping_sub(b'0');
        let known = self.table.is_dedb && number <= segment.subset_pointers;
        if !known || !ssa.subsets.add(place, number) {
            return Err(Reason::SubsetNumber);
        }
        self.at += 1;
        Ok(())
    }

    /// Accepts what stands in parentheses, if the call may have it.
    fn qualification(&mut self, ssa: &mut Ssa<'a>, segment: &Segment) -> Result<(), Reason> {
        match self.call.calling {
            Calling::Delete => return Err(Reason::DeleteQualified),
            // DLI-12.34: beside N a qualification is accepted and ignored.
            Calling::Replace if ssa.codes.has(Code::N) => return Ok(()),
            Calling::Replace => return Err(Reason::ReplaceQualified),
            Calling::Insert if self.call.inserting => return Err(Reason::InsertQualified),
            Calling::Insert | Calling::Get => {}
        }
        self.at += 1;
        ssa.codes.remove(Code::U);
        ssa.codes.remove(Code::V);
        if ssa.codes.has(Code::C) {
            let len = segment.key_at.saturating_add(segment.key_len);
            let key = self.value(usize::try_from(len).unwrap_or(usize::MAX))?;
            if self.sign()? != b')' {
                return Err(Reason::AfterValue);
            }
            ssa.qualification = Qualification::ConcatenatedKey(key);
            return Ok(());
        }
        let by_position = ssa.codes.has(Code::O);
        ssa.qualification = Qualification::Sets(Sets::default());
        if let Qualification::Sets(sets) = &mut ssa.qualification {
            self.sets(segment, by_position, sets)?;
        }
        Ok(())
    }

    fn sets(
        &mut self,
        segment: &Segment,
        by_position: bool,
        sets: &mut Sets<'a>,
    ) -> Result<(), Reason> {
        let mut joined = Joined::Or;
        let mut before: Option<Operand> = None;
        loop {
            if self.call.conditions >= CONDITIONS_MAX {
                return Err(Reason::TooManyConditions);
            }
            self.call.conditions += 1;
            let (operand, len) = match by_position {
                true => self.position(segment)?,
                false => self.field(segment)?,
            };
            let both = operand.is_indexed() && before.is_some_and(Operand::is_indexed);
            if joined == Joined::Independent && !both {
                return Err(Reason::IndependentAnd);
            }
            self.at += NAME_LEN;
            let spelling = self.next::<2>()?.map(|byte| self.syntax[usize::from(byte)]);
            let operator = Operator::of(spelling).ok_or(Reason::BadOperator)?;
            self.at += spelling.len();
            let value = self.value(usize::from(len))?;
            sets.0.push(Condition { operand, operator, joined, value });
            joined = match self.sign()? {
                b')' => return Ok(()),
                b'*' | b'&' => Joined::And,
                b'+' | b'|' => Joined::Or,
                b'#' => Joined::Independent,
                _ => return Err(Reason::AfterValue),
            };
            self.at += 1;
            before = Some(operand);
        }
    }

    /// The operand and the value's length of the field that is named next.
    fn field(&self, segment: &Segment) -> Result<(Operand, u16), Reason> {
        let name = u64::from_be_bytes(self.next()?);
        let field = self.table.field(segment, name).ok_or(Reason::UnknownField)?;
        if field.gets_only && self.call.calling != Calling::Get {
            return Err(Reason::KeyUnseen);
        }
        Ok((field.operand, field.len))
    }

    /// The operand and the value's length of the position and length that stand next.
    fn position(&self, segment: &Segment) -> Result<(Operand, u16), Reason> {
        let both = u64::from_be_bytes(self.next()?);
        let (position, len) = ((both >> 32) as u32, both as u32);
        let operand = segment.range(position, len).ok_or(Reason::Outside)?;
        let len = u16::try_from(len).map_err(|_| Reason::Outside)?;
        Ok((operand, len))
    }
}
