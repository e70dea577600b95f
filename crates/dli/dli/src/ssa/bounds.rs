//! What a qualification says about the key alone: where a search begins and where it may end.
//!
//! The key is the sequence field or, for the root under PROCSEQ, the index's search fields.
//!
//! Invariants:
//! 1. Every occurrence that matches lies within the bounds. Of several sets they are the hull, so
//!    more may lie within; [`Bounds::decides`] tells whether everything within matches.
//! 2. Bounds may exclude each other (`KEY > 5 AND KEY < 3`): then nothing matches.

use std::cmp::Ordering;

use crate::ssa::argument::{Condition, Joined, Operand, Operator, Qualification, Ssa};
use crate::ssa::table::Table;

/// One end of a range of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound<'a> {
    /// The key, as the program gave it.
    pub value: &'a [u8],
    /// Whether the key itself lies within.
    pub inclusive: bool,
}

/// A range of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds<'a> {
    /// The low end, if there is one.
    pub lower: Option<Bound<'a>>,
    /// The high end, if there is one: then `=`, `<` or `<=` on the key stands in every set, which
    /// is the limit of DLI-12.6 and DLI-12.15.
    pub upper: Option<Bound<'a>>,
    /// Whether each key within the bounds satisfies the whole qualification.
    pub decides: bool,
}

impl<'a> Bounds<'a> {
    const OPEN: Bounds<'static> = Bounds { lower: None, upper: None, decides: true };

    fn equal(value: &'a [u8]) -> Bounds<'a> {
        let bound = Some(Bound { value, inclusive: true });
        Bounds { lower: bound, upper: bound, decides: true }
    }

    /// The only key within the bounds, if there is only one.
    #[must_use]
    pub fn exact(&self) -> Option<&'a [u8]> {
        let (lower, upper) = (self.lower?, self.upper?);
        let one = lower.inclusive && upper.inclusive && lower.value == upper.value;
        one.then_some(lower.value)
    }

    /// Whether the search is limited upward: GN that finds nothing gives GE, not GB (DLI-12.15).
    #[must_use]
    pub const fn is_limited(&self) -> bool {
        self.upper.is_some()
    }
}

impl<'a> Ssa<'a> {
    /// What the qualification says about the key.
    #[must_use]
    pub fn key_bounds(&self, table: &Table) -> Bounds<'a> {
        let sets = match &self.qualification {
            Qualification::None => return Bounds::OPEN,
            Qualification::ConcatenatedKey(key) => {
                let own = table.key_in(self.segment, key).filter(|own| !own.is_empty());
                return own.map_or(Bounds::OPEN, Bounds::equal);
            }
            Qualification::Sets(sets) => sets,
        };
        let mut sets = sets.sets().map(|set| self.bounds_of(set, table));
        let Some(first) = sets.next() else { return Bounds::OPEN };
        sets.fold(first, |hull, next| {
            let order = |a: &Bound<'_>, b: &Bound<'_>| self.key_order(table, a.value, b.value);
            Bounds {
                lower: wider(hull.lower, next.lower, order),
                upper: wider(hull.upper, next.upper, |a, b| order(b, a)),
                // What lies between the sets is within the hull.
                decides: false,
            }
        })
    }

    fn key_order(&self, table: &Table, a: &[u8], b: &[u8]) -> Ordering {
        let Qualification::Sets(sets) = &self.qualification else { return a.cmp(b) };
        let key = sets.conditions().iter().find(|one| one.operand.is_key());
        key.map_or_else(|| a.cmp(b), |key| table.order(self.segment, key.operand, a, b))
    }

    fn bounds_of(&self, set: &[Condition<'a>], table: &Table) -> Bounds<'a> {
        let order = |a: &Bound<'_>, b: &Bound<'_>| self.key_order(table, a.value, b.value);
        let mut bounds = Bounds::OPEN;
        let mut other_entry = false;
        for condition in set {
            // Behind # another entry than the current one may be meant.
            other_entry |= condition.joined == Joined::Independent;
            let of_other = other_entry && condition.operand == Operand::Sequence;
            if !condition.operand.is_key() || condition.operator == Operator::Ne || of_other {
                bounds.decides = false;
                continue;
            }
            let value = condition.value;
            let inclusive = !matches!(condition.operator, Operator::Gt | Operator::Lt);
            let bound = Some(Bound { value, inclusive });
            if matches!(condition.operator, Operator::Eq | Operator::Gt | Operator::Ge) {
                bounds.lower = narrower(bounds.lower, bound, order);
            }
            if matches!(condition.operator, Operator::Eq | Operator::Lt | Operator::Le) {
                bounds.upper = narrower(bounds.upper, bound, |a, b| order(b, a));
            }
        }
        bounds
    }
}

/// The lower bound that admits more; `order` turned round, the upper one.
fn wider<'a>(
    a: Option<Bound<'a>>,
    b: Option<Bound<'a>>,
    order: impl Fn(&Bound<'a>, &Bound<'a>) -> Ordering,
) -> Option<Bound<'a>> {
    let (a, b) = (a?, b?);
    Some(match order(&a, &b) {
        Ordering::Less => a,
        Ordering::Greater => b,
        Ordering::Equal => Bound { value: a.value, inclusive: a.inclusive || b.inclusive },
    })
}

/// The lower bound that admits less; `order` turned round, the upper one.
fn narrower<'a>(
    a: Option<Bound<'a>>,
    b: Option<Bound<'a>>,
    order: impl Fn(&Bound<'a>, &Bound<'a>) -> Ordering,
) -> Option<Bound<'a>> {
    let (Some(one), Some(other)) = (a, b) else { return a.or(b) };
    Some(match order(&one, &other) {
        Ordering::Less => other,
        Ordering::Greater => one,
        Ordering::Equal => Bound { value: one.value, inclusive: one.inclusive && other.inclusive },
    })
}
