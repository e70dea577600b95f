//! The sets of a store: rows of a table, and what this process knows of them.
//!
//! A set that another system drops is noticed within a second; until then reads of it find nothing,
//! and a commit that changed it fails.

use std::collections::BTreeMap;
use std::sync::Arc;

use seal::KeyTokens;
use seam::sync::Mutex;
use store::error::Limit;
use store::{Locking, Result, SetAttributes, SetId, SetInfo, StoreError};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::error::strange;
use crate::read_set::successor;
use crate::shared::Shared;

/// A set as this process knows it.
pub(crate) struct Known {
    pub(crate) info: SetInfo,
    /// What its keys are turned into, where they are.
    pub(crate) tokens: Option<KeyTokens>,
}

impl Known {
    /// Whether the store keeps units of work apart in it.
    pub(crate) fn is_guarded(&self) -> bool {
        self.info.attributes.locking == Locking::Keys
    }

    /// A key as it is stored.
    pub(crate) fn stored(&self, key: &[u8]) -> Vec<u8> {
        let mut stored = front(self.info.id);
        match &self.tokens {
            None => stored.extend_from_slice(key),
            Some(tokens) => stored.extend_from_slice(&tokens.token(key)),
        }
        stored
    }

    /// The key in the set, of one that is stored.
    pub(crate) fn within(stored: &[u8]) -> &[u8] {
        stored.get(4..).unwrap_or_default()
    }

    pub(crate) fn check_ordered(&self) -> Result<()> {
        match self.tokens {
            None => Ok(()),
            Some(_) => Err(StoreError::Unsupported("ranges of keys that stand as tokens")),
        }
    }
}

/// The lowest stored key of a set.
pub(crate) fn front(set: SetId) -> Vec<u8> {
    set.0.to_be_bytes().to_vec()
}

/// The lowest stored key behind a set.
pub(crate) fn back(set: SetId) -> Vec<u8> {
    match set.0.checked_add(1) {
        Some(next) => front(SetId(next)),
        None => successor(&[0xff; 2_100]),
    }
}

#[derive(Default)]
pub(crate) struct Sets {
    known: Mutex<BTreeMap<SetId, Arc<Known>>>,
}

const COLUMNS: &str = "id, name, locking, interval_bytes, pool, key_label, plain, free_percent, \
                       prefix_bytes, tokens";

impl Sets {
    /// What is known of a set.
    pub(crate) fn find(&self, shared: &Shared, set: SetId) -> Result<Arc<Known>> {
        if shared.gone.holds(set) {
            self.forget(set);
            return Err(StoreError::NoSuchSet(set));
        }
        if let Some(known) = self.known.lock().get(&set) {
            return Ok(Arc::clone(known));
        }
        let Ok(id) = i32::try_from(set.0) else { return Err(StoreError::NoSuchSet(set)) };
        let query = format!("SELECT {COLUMNS} FROM sets WHERE id = $1");
        let rows =
            shared.ask(async |client| client.query_typed(&query, &[(&id, Type::INT4)]).await)?;
        let row = rows.first().ok_or(StoreError::NoSuchSet(set))?;
        self.keep(shared, row)
    }

    fn keep(&self, shared: &Shared, row: &Row) -> Result<Arc<Known>> {
        let info = info_of(row)?;
        let tokens: Option<i32> = row.try_get(9).map_err(strange)?;
        let tokens =
            tokens.map(|generation| shared.sealer.tokens(generation as u32)).transpose()?;
        let known = Arc::new(Known { info, tokens });
        self.known.lock().insert(known.info.id, Arc::clone(&known));
        Ok(known)
    }

    pub(crate) fn create(
        &self,
        shared: &Shared,
        name: &str,
        wanted: &SetAttributes,
        tokens: bool,
    ) -> Result<SetId> {
        if shared.sealer.seals() && wanted.plain == Some(true) {
            return Err(StoreError::Unsupported("sets in the clear where values are sealed"));
        }
        let tokens = match tokens {
            false => None,
            true => Some(shared.sealer.generation().ok_or(StoreError::Unsupported(
                "tokens in place of keys where values are not sealed",
            ))? as i32),
        };
        let locking = i16::from(wanted.locking == Locking::Caller);
        let interval = wanted.interval_bytes.map(|bytes| bytes as i32);
        let (free, prefix) = (i16::from(wanted.free_percent), i32::from(wanted.prefix_bytes));
        let query = format!(
            "INSERT INTO sets ({COLUMNS}) \
             SELECT nextval('set_ids'), $1, $2, $3, $4, $5, $6, $7, $8, $9 \
             FROM nextval('set_changes') ON CONFLICT (name) DO NOTHING RETURNING {COLUMNS}"
        );
        let rows = shared.change(
            &query,
            &[
                (&name, Type::TEXT),
                (&locking, Type::INT2),
                (&interval, Type::INT4),
                (&wanted.pool, Type::TEXT),
                (&wanted.key_label, Type::TEXT),
                (&wanted.plain, Type::BOOL),
                (&free, Type::INT2),
                (&prefix, Type::INT4),
                (&tokens, Type::INT4),
            ],
        )?;
        let row = rows.first().ok_or_else(|| StoreError::SetExists(name.into()))?;
        Ok(self.keep(shared, row)?.info.id)
    }

    pub(crate) fn named(&self, shared: &Shared, name: &str) -> Result<Option<SetId>> {
        let rows = shared.ask(async |client| {
            client.query_typed("SELECT id FROM sets WHERE name = $1", &[(&name, Type::TEXT)]).await
        })?;
        let id = rows.first().map(|row| row.try_get::<_, i32>(0)).transpose().map_err(strange)?;
        Ok(id.map(|id| SetId(id as u32)))
    }

    pub(crate) fn list(&self, shared: &Shared) -> Result<Vec<SetInfo>> {
        let query = format!("SELECT {COLUMNS} FROM sets");
        let rows = shared.ask(async |client| client.query_typed(&query, &[]).await)?;
        let mut sets = rows.iter().map(info_of).collect::<Result<Vec<_>>>()?;
        sets.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(sets)
    }

    pub(crate) fn forget(&self, set: SetId) {
        self.known.lock().remove(&set);
    }
}

/// Whether key and value are no longer than a store takes.
pub(crate) fn check_entry(most: &store::Capabilities, key: &[u8], value: &[u8]) -> Result<()> {
    if key.len() > most.key_bytes_max {
        return Err(StoreError::too_large(Limit::KeyBytes, key.len(), most.key_bytes_max));
    }
    if value.len() > most.value_bytes_max {
        return Err(StoreError::too_large(Limit::ValueBytes, value.len(), most.value_bytes_max));
    }
    Ok(())
}

/// The value of a key that stands as a token: with the key itself in front.
pub(crate) fn tokened(key: &[u8], value: &[u8]) -> Vec<u8> {
    [&(key.len() as u16).to_be_bytes()[..], key, value].concat()
}

fn info_of(row: &Row) -> Result<SetInfo> {
    let read = || -> std::result::Result<SetInfo, tokio_postgres::Error> {
        let interval: Option<i32> = row.try_get(3)?;
        let locking = if row.try_get::<_, i16>(2)? == 0 { Locking::Keys } else { Locking::Caller };
        let attributes = SetAttributes {
            locking,
            interval_bytes: interval.map(|bytes| bytes as u32),
            pool: row.try_get(4)?,
            key_label: row.try_get(5)?,
            plain: row.try_get(6)?,
            free_percent: row.try_get::<_, i16>(7)? as u8,
            prefix_bytes: row.try_get::<_, i32>(8)? as u16,
        };
        Ok(SetInfo {
            id: SetId(row.try_get::<_, i32>(0)? as u32),
            name: row.try_get(1)?,
            attributes,
        })
    };
    read().map_err(strange)
}
