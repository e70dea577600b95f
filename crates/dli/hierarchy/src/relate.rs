//! The entry of a logical child in its relation, and how the child is seen on its logical path.

use definitions::TwinPlace;
use store::{Outcome, SetId, Unit};

use crate::change::Changed;
use crate::database::Database;
use crate::error::Result;
use crate::relation::Relation;
use crate::schema::TypeAt;
use crate::value::Stored;

impl Database {
    /// The relation of a logical child type.
    #[must_use]
    pub fn relation_of(&self, child: TypeAt) -> Option<&Relation> {
        self.as_child.iter().find(|relation| relation.child == child)
    }

    /// A logical child as it is seen on the logical path: the concatenated key of its physical
    /// parent stands in place of the logical one's (DLI-12.71).
    ///
    /// # Errors
    /// If `path` is none of this database.
    pub fn turn(
        &self,
        relation: &Relation,
        path: &[u8],
        data: &[u8],
        to: &mut Vec<u8>,
    ) -> Result<()> {
        let mut up = self.parse(path)?;
        up.truncate(up.len().saturating_sub(1));
        let mut physical = Vec::new();
        self.concatenate(&path[..up.end(up.len())], &up, &mut physical);
        relation.exchange(data, relation.parent_key_len, &physical, to);
        Ok(())
    }

    /// Adds the entry of a logical child.
    pub(crate) fn relate<U: Unit>(
        &self,
        unit: &mut U,
        child: TypeAt,
        path: &[u8],
        stored: &Stored<'_>,
        data: &[u8],
    ) -> Result<Changed> {
        let Some((set, key)) = self.relation_entry(child, path, stored, data)? else {
            return Ok(Changed::Done);
        };
        match unit.insert(set, &key, path)? {
            Outcome::Exists => Ok(Changed::Exists),
            _ => Ok(Changed::Done),
        }
    }

    /// The set and the key of a logical child's entry; none for a remnant.
    ///
    /// # Errors
    /// If `path` is none of this database.
    pub fn relation_entry(
        &self,
        child: TypeAt,
        path: &[u8],
        stored: &Stored<'_>,
        data: &[u8],
    ) -> Result<Option<(SetId, Vec<u8>)>> {
        let relation = self.relation_of(child).filter(|_| !stored.is_remnant());
        let Some(relation) = relation else { return Ok(None) };
        let mut up = self.parse(path)?;
        up.truncate(up.len().saturating_sub(1));
        let mut physical = Vec::new();
        self.concatenate(&path[..up.end(up.len())], &up, &mut physical);
        let mut key = stored.logical_parent.to_vec();
        relation.put_key(data, &physical, &mut key);
        if !relation.unique {
            let order = match relation.place {
                TwinPlace::Last => stored.identity,
                TwinPlace::First | TwinPlace::Here => !stored.identity,
            };
            key.extend_from_slice(&order.to_be_bytes());
        } else if stored.is_deleted_logically {
            key.extend_from_slice(path);
        }
        Ok(Some((relation.set, key)))
    }
}
