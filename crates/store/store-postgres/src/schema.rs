//! The schema that holds a store: made, recognized, dropped.

use seam::Seam;
use store::{Result, StoreError};
use tokio_postgres::types::Type;

use crate::connection::{Connection, Counters, commit_replicated};
use crate::error::{EngineError, Fault, strange};
use crate::history::History;
use crate::options::{Address, EngineOptions, checked_schema};

const SCHEMA: &str = concat!(include_str!("schema.sql"), include_str!("ahead.sql"));
/// What a store of version 1 lacks.
const SINCE_1: &str = include_str!("ahead.sql");
/// The version of tables and functions that this release makes and takes. It makes it of older
/// ones; releases that know only those do not open the store after that.
const VERSION: i32 = 2;

/// What a store says of itself.
pub(crate) struct Meta {
    pub(crate) identity: [u8; 16],
    pub(crate) class: i32,
}

fn connect(url: &str, options: &EngineOptions) -> Result<(Connection, Counters)> {
    let counters = Counters::default();
    let (address, schema) = (Address::read(url)?, checked_schema(&options.schema)?);
    let history = History::default();
    let connection = Connection::open(&address, schema, options.answer_within, &counters, &history);
    Ok((connection.map_err(Fault::into_error)?, counters))
}

fn foreign(schema: &str, why: &str) -> StoreError {
    StoreError::beneath(EngineError::Foreign { schema: schema.into(), why: why.into() })
}

pub(crate) fn create(url: &str, options: &EngineOptions, seam: &Seam) -> Result<()> {
    let schema = checked_schema(&options.schema)?;
    let (mut connection, counters) = connect(url, options)?;
    let mut identity = [0; 16];
    seam.entropy
        .fill(&mut identity)
        .map_err(|error| StoreError::Unavailable(format!("no randomness: {error}").into()))?;
    let class = i32::from_le_bytes([identity[0], identity[1], identity[2], identity[3]]);
    if exists(&mut connection, schema, &counters)? {
        return Err(foreign(schema, "a schema of that name is there already"));
    }
    let script = format!("BEGIN; CREATE SCHEMA {schema};\n{SCHEMA}");
    let identity = &identity[..];
    connection.ask(&counters, async |client| {
        client.batch_execute(&script).await?;
        client
            .execute_typed(
                "INSERT INTO meta VALUES ($1, $2, $3)",
                &[(&VERSION, Type::INT4), (&identity, Type::BYTEA), (&class, Type::INT4)],
            )
            .await?;
        commit_replicated(client).await
    })
}

fn exists(connection: &mut Connection, schema: &str, counters: &Counters) -> Result<bool> {
    let rows = connection.ask(counters, async |client| {
        client
            .query_typed(
                "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1",
                &[(&schema, Type::TEXT)],
            )
            .await
    })?;
    Ok(!rows.is_empty())
}

/// What the store in a schema says of itself.
pub(crate) fn read(connection: &mut Connection, schema: &str, counters: &Counters) -> Result<Meta> {
    if !exists(connection, schema, counters)? {
        return Err(foreign(schema, "there is no such schema"));
    }
    let query = format!("SELECT version, identity, class FROM {schema}.meta");
    let rows = connection
        .exchange(counters, async |client| client.query_typed(&query, &[]).await)
        .and_then(|answer| Ok(answer?));
    let rows = match rows {
        Err(Fault::Refused { state, .. }) if state == "42P01" || state == "42703" => {
            return Err(foreign(schema, "it holds something else"));
        }
        other => other.map_err(Fault::into_error)?,
    };
    let row = rows.first().ok_or_else(|| foreign(schema, "it was not finished"))?;
    let read = || {
        let identity: Vec<u8> = row.try_get(1)?;
        Ok::<_, tokio_postgres::Error>((row.try_get::<_, i32>(0)?, identity, row.try_get(2)?))
    };
    let (version, identity, class) =
        read().map_err(|_| foreign(schema, "its table is another's"))?;
    if version == 1 {
        renew(connection, counters)?;
    } else if version != VERSION {
        return Err(foreign(schema, &format!("it is of version {version}, not of {VERSION}")));
    }
    let identity = identity.try_into().map_err(|_| foreign(schema, "it has no identity"))?;
    Ok(Meta { identity, class })
}

/// Brings a store of version 1 up to date, unless another system has meanwhile.
fn renew(connection: &mut Connection, counters: &Counters) -> Result<()> {
    connection.ask(counters, async |client| {
        client.batch_execute("BEGIN; SELECT version FROM meta FOR UPDATE").await?;
        client.batch_execute(SINCE_1).await?;
        client.execute_typed("UPDATE meta SET version = $1", &[(&VERSION, Type::INT4)]).await?;
        commit_replicated(client).await
    })?;
    match connection.was_alone() {
        true => Err(crate::shared::alone()),
        false => Ok(()),
    }
}

pub(crate) fn destroy(url: &str, options: &EngineOptions, _seam: &Seam) -> Result<()> {
    let schema = checked_schema(&options.schema)?;
    let (mut connection, counters) = connect(url, options)?;
    read(&mut connection, schema, &counters)?;
    let rows = connection.ask(&counters, async |client| {
        client
            .query_typed(
                "SELECT c.relname FROM pg_catalog.pg_class c \
                 JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
                 WHERE n.nspname = $1 AND c.relkind NOT IN ('i', 'S', 't') AND c.relname \
                 NOT IN ('meta', 'sets', 'entries', 'lanes', 'alive', 'held', 'waiting') LIMIT 1",
                &[(&schema, Type::TEXT)],
            )
            .await
    })?;
    if let Some(row) = rows.first() {
        let name: String = row.try_get(0).map_err(strange)?;
        return Err(foreign(schema, &format!("it also holds {name}, which is not the store's")));
    }
    let script = format!("DROP SCHEMA {schema} CASCADE");
    connection.ask(&counters, async |client| client.batch_execute(&script).await)
}
