//! A segment search argument that was taken apart and checked.
//!
//! Invariants:
//! 1. An SSA refers to the view by places and offsets and to the program's storage by slices:
//!    nothing was copied, nothing needs to be looked up again.
//! 2. Every value has the length of its operand. A qualification has at least one condition.
//! 3. U and V are not among the codes of a qualified SSA, where they have no effect (DLI-2.14).

use std::ops::Deref;

use smallvec::SmallVec;

use crate::ssa::code::{Codes, Subsets};

/// The SSAs of a call in hierarchic order, at most 15, each below the one before it.
#[derive(Clone, Debug, Default)]
pub struct Ssas<'a>(pub(super) SmallVec<[Ssa<'a>; 4]>);

impl<'a> Deref for Ssas<'a> {
    type Target = [Ssa<'a>];

    fn deref(&self) -> &[Ssa<'a>] {
        &self.0
    }
}

impl<'a> Ssas<'a> {
    /// Adds an SSA that says nothing yet but its segment.
    pub(super) fn add(&mut self, segment: u16, level: u8) -> &mut Ssa<'a> {
        let at = self.0.len();
        self.0.push(Ssa {
            segment,
            level,
            codes: Codes::default(),
            lock_class: None,
            subsets: Subsets::default(),
            qualification: Qualification::None,
        });
        &mut self.0[at]
    }
}

/// One SSA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ssa<'a> {
    /// The place of its segment in the view.
    pub segment: u16,
    /// The level of its segment.
    pub level: u8,
    /// Its command codes.
    pub codes: Codes,
    /// The letter A to J behind code Q, in ASCII.
    pub lock_class: Option<u8>,
    /// The subset pointers that its codes M, R, S, W and Z name.
    pub subsets: Subsets,
    /// Which occurrences it means.
    pub qualification: Qualification<'a>,
}

/// Which occurrences of its segment an SSA means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Qualification<'a> {
    /// Any.
    None,
    /// Code C: the one with this concatenated key, in the view's layout (DLI-12.20).
    ConcatenatedKey(&'a [u8]),
    /// Those that satisfy one of the sets of conditions.
    Sets(Sets<'a>),
}

/// Conditions in disjunctive form: sets joined by OR, conditions of a set joined by AND
/// (DLI-12.18).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sets<'a>(pub(super) SmallVec<[Condition<'a>; 4]>);

impl<'a> Sets<'a> {
    /// All conditions in the order of the SSA.
    #[must_use]
    pub fn conditions(&self) -> &[Condition<'a>] {
        &self.0
    }

    /// The sets, none of them empty.
    pub fn sets(&self) -> impl Iterator<Item = &[Condition<'a>]> {
        self.0.chunk_by(|_, next| next.joined != Joined::Or)
    }
}

/// A field compared with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition<'a> {
    /// What is compared.
    pub operand: Operand,
    /// How.
    pub operator: Operator,
    /// How it is joined to the condition before it; [`Joined::Or`] for the first.
    pub joined: Joined,
    /// With what.
    pub value: &'a [u8],
}

/// How a condition is joined to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joined {
    /// It opens a set.
    Or,
    /// It belongs to the same set; on an index, the same entry must satisfy both.
    And,
    /// It belongs to the same set; another entry of the index may satisfy it.
    Independent,
}

/// What a condition compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A field of the segment.
    Field {
        /// Where it begins in its segment, from 0.
        offset: u16,
        /// Its length.
        len: u16,
        /// Whether it is the field by which the twins of this view are found: the sequence
        /// field, but not the root's under PROCSEQ.
        is_key: bool,
        /// Whether it belongs to the destination parent.
        of_destination: bool,
        /// Whether it compares in the database's collation.
        collated: bool,
    },
    /// Any bytes of the segment (code O).
    Bytes {
        /// Where they begin in their segment, from 0.
        offset: u16,
        /// How many.
        len: u16,
        /// Whether they belong to the destination parent.
        of_destination: bool,
    },
    /// The search fields of an index that the SENSEG lists in INDICES.
    Index {
        /// Its place among the segment's `indices`.
        at: u16,
    },
    /// The search fields of the index of PROCSEQ, in place of the root's key.
    Sequence,
}

impl Operand {
    /// Whether twins of this view are found by it.
    #[must_use]
    pub const fn is_key(self) -> bool {
        matches!(self, Operand::Field { is_key: true, .. } | Operand::Sequence)
    }

    /// Whether it is an indexed field.
    #[must_use]
    pub const fn is_indexed(self) -> bool {
        matches!(self, Operand::Index { .. } | Operand::Sequence)
    }
}

/// How field and value compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
}

impl Operator {
    /// The operator of two characters, in any of its spellings; the not sign is `^`.
    #[must_use]
    pub const fn of(spelling: [u8; 2]) -> Option<Operator> {
        Some(match &spelling {
            b"= " | b" =" | b"EQ" => Operator::Eq,
            b"^=" | b"=^" | b"!=" | b"=!" | b"<>" | b"NE" => Operator::Ne,
            b"> " | b" >" | b"GT" => Operator::Gt,
            b">=" | b"=>" | b"GE" => Operator::Ge,
            b"< " | b" <" | b"LT" => Operator::Lt,
            b"<=" | b"=<" | b"LE" => Operator::Le,
            _ => return None,
        })
    }

    /// Its usual spelling.
    #[must_use]
    pub const fn spelling(self) -> &'static str {
        match self {
            Operator::Eq => " =",
            Operator::Ne => "^=",
            Operator::Gt => " >",
            Operator::Ge => ">=",
            Operator::Lt => " <",
            Operator::Le => "<=",
        }
    }
}
