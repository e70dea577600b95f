//! What a record did to keys, and the way back: for whoever takes committed changes back by the
//! log, and looks first whether everything is as they left it.

use base::CiNumber;

use crate::TreeError;
use crate::node::{NodeView, OVERFLOW_REFERENCE_BYTES, Place, Value};
use crate::overflow::Reference;
use crate::records::{Record, Replace};
use crate::tree::Tree;
use pool::SharedCi;
use uow::RecordDamage;

/// A value as a leaf has it: the value itself, or the reference to where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredValue {
    /// The value, or the reference.
    pub bytes: Vec<u8>,
    /// Whether it is a reference.
    pub overflow: bool,
}

/// What a record did to one key.
#[derive(Clone, Copy, Debug)]
pub enum Effect<'a> {
    /// It came, with this value.
    Came(Value<'a>),
    /// It went; it had this value.
    Went(Value<'a>),
    /// It has another value.
    Became(Replace<'a>),
}

impl StoredValue {
    fn of(value: Value<'_>) -> StoredValue {
        StoredValue { bytes: value.bytes.to_vec(), overflow: value.overflow }
    }

    /// How long the value is that it refers to, and the first of the intervals that hold it; `None`
    /// if it is the value itself.
    #[must_use]
    pub fn chain(&self) -> Option<(usize, CiNumber)> {
        let refers = self.overflow && self.bytes.len() == OVERFLOW_REFERENCE_BYTES;
        let reference = refers.then(|| Reference::decode(&self.bytes))?;
        Some((reference.len as usize, reference.first))
    }
}

impl<'a> Record<'a> {
    /// What it did to which keys; nothing if it changed the structure of a tree only.
    #[must_use]
    pub fn effects(&self) -> Vec<(&'a [u8], Effect<'a>)> {
        match self {
            Record::Insert(entry) => vec![(entry.key, Effect::Came(entry.value))],
            Record::Remove(entry) => vec![(entry.key, Effect::Went(entry.value))],
            Record::Replace(replace) => vec![(replace.key, Effect::Became(*replace))],
            Record::RemoveRun { entries, .. } => {
                entries.iter().map(|(key, value)| (*key, Effect::Went(*value))).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl Effect<'_> {
    /// What the key had before, given what it had behind the change; `None` is no such key.
    ///
    /// # Errors
    /// If the change did not leave the key as `now` says.
    pub fn before(&self, now: Option<StoredValue>) -> Result<Option<StoredValue>, RecordDamage> {
        let misfit = || RecordDamage("the record is not as the change left it".into());
        match (self, now) {
            (Effect::Came(value), Some(now)) if StoredValue::of(*value) == now => Ok(None),
            (Effect::Went(value), None) => Ok(Some(StoredValue::of(*value))),
            (Effect::Became(replace), Some(now)) if now.overflow == replace.is_overflow => {
                let bytes = replace.apply(&now.bytes, true)?;
                Ok(Some(StoredValue { bytes, overflow: replace.was_overflow }))
            }
            _ => Err(misfit()),
        }
    }
}

impl Tree<'_> {
    /// What a key has, as its leaf has it; `None` if there is no such key.
    ///
    /// # Errors
    /// See [`TreeError`].
    pub fn stored(&self, key: &[u8]) -> Result<Option<StoredValue>, TreeError> {
        let leaf = self.reach_leaf::<SharedCi<'_>>(key)?;
        let Place::Found(slot) = leaf.place else { return Ok(None) };
        Ok(Some(StoredValue::of(NodeView::new(leaf.guard.bytes()).value_at(slot))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Entry;

    #[test]
    fn the_way_back_leads_to_what_was_there_and_refuses_anything_else() {
        let value = |bytes| Value::inline(bytes);
        let entry = Entry { ci: CiNumber(9), slot: 0, key: b"k", value: value(b"one") };
        let stored = |bytes: &[u8]| StoredValue { bytes: bytes.to_vec(), overflow: false };
        let (came, went) = (Record::Insert(entry), Record::Remove(entry));
        let (came, went) = (came.effects()[0].1, went.effects()[0].1);
        assert_eq!(came.before(Some(stored(b"one"))), Ok(None));
        assert_eq!(went.before(None), Ok(Some(stored(b"one"))));
        for wrong in [None, Some(stored(b"two"))] {
            assert!(came.before(wrong).is_err());
        }
        assert!(went.before(Some(stored(b"one"))).is_err());
        let replace = Replace {
            ci: CiNumber(9),
            slot: 0,
            key: b"k",
            prefix: 1,
            before: b"a",
            after: b"bc",
            was_overflow: false,
            is_overflow: false,
        };
        let became = Effect::Became(replace);
        assert_eq!(became.before(Some(stored(b"xbcx"))), Ok(Some(stored(b"xax"))));
        assert!(became.before(Some(stored(b"xabx"))).is_err());
        assert!(became.before(None).is_err());
    }

    #[test]
    fn only_a_reference_leads_to_a_chain() {
        let reference = Reference { len: 9_000, first: CiNumber(7) };
        let bytes = reference.encode().to_vec();
        let long = StoredValue { bytes: bytes.clone(), overflow: true };
        assert_eq!(long.chain(), Some((9_000, CiNumber(7))));
        assert_eq!(StoredValue { bytes, overflow: false }.chain(), None);
        assert_eq!(StoredValue { bytes: vec![1], overflow: true }.chain(), None);
    }
}
