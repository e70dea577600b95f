//! The table of a cluster, and the statements over it.
//!
//! Invariants:
//! 1. Names are letters, digits and underscores, and are quoted: nothing that an operator or a
//!    copybook says becomes another statement.

use copybook::ValueKind;
use redirector::columns::Columns;
use tokio_postgres::types::Type;
use vsam::handler::{Edge, HandlerError};

use crate::sql::{Spelled, cast, column_type, quoted};

/// The longest name that the server keeps.
const NAME_BYTES_MAX: usize = 63;

/// A table.
pub(crate) struct Table {
    schema: Option<String>,
    name: String,
}

impl Table {
    /// Reads `table` or `schema.table`.
    pub(crate) fn parse(text: &str) -> Result<Table, HandlerError> {
        let wrong = || {
            let what = format!("{text:?} is no table: letters, digits and _, perhaps SCHEMA.TABLE");
            HandlerError::Refused(what)
        };
        let is_name = |name: &str| {
            let mut letters = name.bytes();
            let front = letters.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
            front
                && name.len() <= NAME_BYTES_MAX
                && letters.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        let (schema, name) = match text.split_once('.') {
            Some((schema, name)) => (Some(schema), name),
            None => (None, text),
        };
        match is_name(name) && schema.is_none_or(is_name) {
            true => Ok(Table { schema: schema.map(str::to_owned), name: name.to_owned() }),
            false => Err(wrong()),
        }
    }

    fn in_schema(&self, name: &str) -> String {
        match &self.schema {
            Some(schema) => format!("{}.{}", quoted(schema), quoted(name)),
            None => quoted(name),
        }
    }

    fn full(&self) -> String {
        self.in_schema(&self.name)
    }

    fn batches(&self) -> String {
        self.in_schema("holdfast_received")
    }

    /// Makes the table, and that of batches, where they are not there.
    pub(crate) fn create(
        &self,
        columns: &Columns,
        key: Option<(usize, usize)>,
        cluster: &str,
    ) -> String {
        let table = self.full();
        let fields: Vec<String> = columns
            .all()
            .map(|(name, kind)| format!(", {} {}", quoted(name), column_type(kind)))
            .collect();
        // Two who make a table at once would both find that it is not there: one after the other.
        let mut text = format!(
            "BEGIN; SELECT pg_advisory_xact_lock(hashtext('holdfast_received')); \
             CREATE TABLE IF NOT EXISTS {table} \
             (hf_key bytea PRIMARY KEY{}, hf_record bytea); \
             CREATE TABLE IF NOT EXISTS {} \
             (source bytea PRIMARY KEY, number bigint NOT NULL); ",
            fields.concat(),
            self.batches()
        );
        let of_key = key.map(|(offset, bytes)| columns.within(offset, bytes)).unwrap_or_default();
        if !of_key.is_empty() {
            // Not unique: bytes of different keys may be the same number.
            let names: Vec<String> = of_key.iter().map(|name| quoted(name)).collect();
            let index = quoted(&short(&self.name));
            text +=
                &format!("CREATE INDEX IF NOT EXISTS {index} ON {table} ({}); ", names.join(", "));
        }
        // Names of data sets have no quotes.
        text += &format!("COMMENT ON TABLE {table} IS 'records of {cluster}'; COMMIT");
        text
    }

    pub(crate) fn read(&self, columns: &Columns, from: Edge<'_>, backward: bool) -> Spelled {
        let fields: Vec<String> =
            columns.all().map(|(name, _)| format!(", {}::text", quoted(name))).collect();
        let (compare, types) = match (from, backward) {
            (Edge::End, _) => ("", vec![Type::INT8]),
            (Edge::With(_), false) => ("WHERE hf_key >= $2 ", vec![Type::INT8, Type::BYTEA]),
            (Edge::Beyond(_), false) => ("WHERE hf_key > $2 ", vec![Type::INT8, Type::BYTEA]),
            (Edge::With(_), true) => ("WHERE hf_key <= $2 ", vec![Type::INT8, Type::BYTEA]),
            (Edge::Beyond(_), true) => ("WHERE hf_key < $2 ", vec![Type::INT8, Type::BYTEA]),
        };
        let order = if backward { " DESC" } else { "" };
        let text = format!(
            "SELECT hf_key, hf_record{} FROM {} {compare}ORDER BY hf_key{order} LIMIT $1",
            fields.concat(),
            self.full()
        );
        (text, types)
    }

    pub(crate) fn insert(&self, columns: &Columns) -> Spelled {
        let text = format!(
            "INSERT INTO {} (hf_key, hf_record{}) VALUES ($1, $2{}) \
             ON CONFLICT (hf_key) DO NOTHING",
            self.full(),
            names(columns),
            each(columns, |at, _, kind| format!(", {}", cast(&format!("${}", at + 3), kind)))
        );
        (text, types_of_one(columns))
    }

    pub(crate) fn replace(&self, columns: &Columns) -> Spelled {
        let fields = each(columns, |at, name, kind| {
            format!(", {} = {}", quoted(name), cast(&format!("${}", at + 3), kind))
        });
        let text = format!("UPDATE {} SET hf_record = $2{fields} WHERE hf_key = $1", self.full());
        (text, types_of_one(columns))
    }

    pub(crate) fn delete(&self) -> Spelled {
        (format!("DELETE FROM {} WHERE hf_key = $1", self.full()), vec![Type::BYTEA])
    }

    pub(crate) fn delete_all(&self) -> Spelled {
        let text = format!("DELETE FROM {} WHERE hf_key = ANY($1)", self.full());
        (text, vec![Type::BYTEA_ARRAY])
    }

    pub(crate) fn count_of(&self) -> Spelled {
        let text = format!("SELECT count(*) FROM {} WHERE hf_key = ANY($1)", self.full());
        (text, vec![Type::BYTEA_ARRAY])
    }

    pub(crate) fn count_all(&self) -> Spelled {
        // One is as bad as all of them.
        let text = format!("SELECT count(*) FROM (SELECT 1 FROM {} LIMIT 1) AS one", self.full());
        (text, Vec::new())
    }

    pub(crate) fn clear(&self) -> Spelled {
        (format!("DELETE FROM {}", self.full()), Vec::new())
    }

    pub(crate) fn put_all(&self, columns: &Columns) -> Spelled {
        let arrays = each(columns, |at, _, _| format!(", ${}", at + 3));
        let taken = each(columns, |at, _, _| format!(", c{at}"));
        let values = each(columns, |at, _, kind| format!(", {}", cast(&format!("c{at}"), kind)));
        let fields =
            each(columns, |_, name, _| format!(", {} = EXCLUDED.{}", quoted(name), quoted(name)));
        let text = format!(
            "INSERT INTO {} (hf_key, hf_record{}) SELECT k, r{values} \
             FROM unnest($1, $2{arrays}) AS given (k, r{taken}) \
             ON CONFLICT (hf_key) DO UPDATE SET hf_record = EXCLUDED.hf_record{fields}",
            self.full(),
            names(columns),
        );
        let mut types = vec![Type::BYTEA_ARRAY, Type::BYTEA_ARRAY];
        types.resize(columns.count() + 2, Type::TEXT_ARRAY);
        (text, types)
    }

    pub(crate) fn received(&self) -> Spelled {
        let text = format!("SELECT number FROM {} WHERE source = $1", self.batches());
        (text, vec![Type::BYTEA])
    }

    pub(crate) fn first_batch(&self) -> Spelled {
        let text = format!(
            "INSERT INTO {} (source, number) VALUES ($1, 0) ON CONFLICT (source) DO NOTHING",
            self.batches()
        );
        (text, vec![Type::BYTEA])
    }

    pub(crate) fn next_batch(&self) -> Spelled {
        let text = format!(
            "UPDATE {} SET number = $2 WHERE source = $1 AND number = $2 - 1",
            self.batches()
        );
        (text, vec![Type::BYTEA, Type::INT8])
    }
}

/// The name of the index over a table's key.
fn short(table: &str) -> String {
    let kept = table.len().min(NAME_BYTES_MAX - 5);
    format!("{}_hfix", &table[..kept])
}

fn names(columns: &Columns) -> String {
    each(columns, |_, name, _| format!(", {}", quoted(name)))
}

fn each(columns: &Columns, text: impl Fn(usize, &str, ValueKind) -> String) -> String {
    columns.all().enumerate().map(|(at, (name, kind))| text(at, name, kind)).collect()
}

fn types_of_one(columns: &Columns) -> Vec<Type> {
    let mut types = vec![Type::BYTEA, Type::BYTEA];
    types.resize(columns.count() + 2, Type::TEXT);
    types
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_a_plain_name() {
        let full = |text| Table::parse(text).map(|table| table.full());
        assert_eq!(full("accounts").ok().as_deref(), Some("\"accounts\""));
        assert_eq!(full("bank.accounts").ok().as_deref(), Some("\"bank\".\"accounts\""));
        for bad in ["", "1st", "a b", "a\"b", "a;b", "a.b.c", ".a", &"a".repeat(64)] {
            assert!(Table::parse(bad).is_err(), "{bad}");
        }
    }
}
