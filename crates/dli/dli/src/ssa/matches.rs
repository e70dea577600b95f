//! Tries a qualification on a segment.
//!
//! Invariants:
//! 1. A field that a short segment does not have satisfies nothing but NE (DLI-12.43); an entry
//!    that an index does not have satisfies nothing.
//! 2. Conditions on one index that are joined by AND are tried on the same entry; `#` lets another
//!    entry satisfy what follows it (DLI-12.18).
//! 3. `=` and NE compare bytes, for a collation is a permutation; the others ask the collation.

use crate::ssa::argument::{Condition, Joined, Operand, Operator, Qualification, Ssa};
use crate::ssa::table::Table;

/// A segment occurrence on which an SSA is tried. All bytes are data as the program sees them,
/// not keys as a tree may hold them.
pub trait Subject {
    /// Why an index could not be read.
    type Error;

    /// Bytes of the stored segment, exactly `len` of them; `None` if they lie beyond LL.
    fn bytes(&self, offset: u16, len: u16, of_destination: bool) -> Option<&[u8]>;

    /// Whether the search fields of one of these index entries pass the test. Entries without
    /// search fields, and segments without entries, pass none.
    ///
    /// # Errors
    ///
    /// If the index cannot be read.
    fn any_entry(
        &self,
        entries: Entries,
        test: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<bool, Self::Error>;
}

/// Which entries of an index lead to a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entries {
    /// The one entry of the PROCSEQ index over which the segment was reached.
    Current,
    /// All entries of the PROCSEQ index whose target the segment is.
    Sequence,
    /// All entries whose target the segment is, of the index at this place of its `indices`.
    Listed(u16),
}

impl Ssa<'_> {
    /// Whether the occurrence is one that the SSA means. Command codes have no say in it, but
    /// for C, which demands the segment's own part of the concatenated key.
    ///
    /// # Errors
    ///
    /// If the subject's index cannot be read.
    pub fn matches<S: Subject>(&self, table: &Table, subject: &S) -> Result<bool, S::Error> {
        match &self.qualification {
            Qualification::None => Ok(true),
            Qualification::ConcatenatedKey(key) => self.has_key(table, subject, key),
            Qualification::Sets(sets) => {
                for set in sets.sets() {
                    if self.satisfies(set, table, subject)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    fn has_key<S: Subject>(
        &self,
        table: &Table,
        subject: &S,
        concatenated: &[u8],
    ) -> Result<bool, S::Error> {
        let Some(own) = table.key_in(self.segment, concatenated) else { return Ok(false) };
        if table.is_sequenced(self.segment) {
            return subject.any_entry(Entries::Current, &mut |entry| entry == own);
        }
        let key = table.segment(self.segment).and_then(|segment| segment.key);
        // Without a sequence field there is nothing to compare.
        Ok(key.is_none_or(|(offset, len)| subject.bytes(offset, len, false) == Some(own)))
    }

    /// Whether all conditions of a set are satisfied.
    fn satisfies<S: Subject>(
        &self,
        set: &[Condition<'_>],
        table: &Table,
        subject: &S,
    ) -> Result<bool, S::Error> {
        let mut is_first = true;
        for group in set.chunk_by(|_, next| next.joined != Joined::Independent) {
            for (at, condition) in group.iter().enumerate() {
                let entries = match condition.operand {
                    Operand::Field { offset, len, of_destination, .. }
                    | Operand::Bytes { offset, len, of_destination } => {
                        let bytes = subject.bytes(offset, len, of_destination);
                        if !self.holds(condition, table, bytes) {
                            return Ok(false);
                        }
                        continue;
                    }
                    Operand::Sequence if is_first => Entries::Current,
                    Operand::Sequence => Entries::Sequence,
                    Operand::Index { at } => Entries::Listed(at),
                };
                let same = |one: &&Condition<'_>| one.operand == condition.operand;
                if group[..at].iter().any(|one| same(&one)) {
                    continue;
                }
                let mut test = |entry: &[u8]| {
                    group[at..].iter().filter(same).all(|one| self.holds(one, table, Some(entry)))
                };
                if !subject.any_entry(entries, &mut test)? {
                    return Ok(false);
                }
            }
            is_first = false;
        }
        Ok(true)
    }

    fn holds(&self, condition: &Condition<'_>, table: &Table, bytes: Option<&[u8]>) -> bool {
        let operator = condition.operator;
        let Some(bytes) = bytes else { return operator == Operator::Ne };
        let order = || table.order(self.segment, condition.operand, bytes, condition.value);
        match operator {
            Operator::Eq => bytes == condition.value,
            Operator::Ne => bytes != condition.value,
            Operator::Gt => order().is_gt(),
            Operator::Ge => order().is_ge(),
            Operator::Lt => order().is_lt(),
            Operator::Le => order().is_le(),
        }
    }
}
