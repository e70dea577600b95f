//! PostgreSQL as the handler of redirected clusters: a table for each, with a column for each field
//! of its record map.
//!
//! | column | type | has |
//! |---|---|---|
//! | `hf_key` | `bytea`, primary key | the key: rows are in the cluster's order |
//! | one for each field | `numeric`, `text`, `real`, `double precision`, `bytea` | its value, exactly |
//! | `hf_record` | `bytea` | the record, where the values do not say all of it; of a cluster without a record map always |
//!
//! Beside the table, in its schema, stands `holdfast_received`: the number of the last batch of
//! each source.
//!
//! Invariants:
//! 1. A request is one statement, or one transaction: done whole or not at all, and durable when it
//!    is answered.
//! 2. The number of a batch is written in its transaction; whoever sends it again waits for that
//!    row, and finds the batch done.
//! 3. Values go as text, so that no digit depends on a type of this side.

mod sql;
mod table;

use std::collections::BTreeMap;
use std::time::Duration;

use redirector::columns::{Columns, Values};
use store_postgres::{Session, SessionError};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row as Answer, Statement};
use vsam::SourceId;
use vsam::handler::{Change, Changed, Described, Edge, Handler, HandlerError, Handlers, Row};

use crate::sql::Spelled;
use crate::table::Table;

/// What addresses begin with.
pub const SCHEME: &str = "postgres://";

/// How long one exchange may take.
pub const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// Databases of PostgreSQL.
pub struct Databases {
    answer_within: Duration,
}

impl Default for Databases {
    fn default() -> Databases {
        Databases { answer_within: ANSWER_WITHIN }
    }
}

impl Databases {
    /// With another patience.
    #[must_use]
    pub fn within(answer_within: Duration) -> Databases {
        Databases { answer_within }
    }
}

/// What the server answers, as a handler's error.
fn failure(error: SessionError) -> HandlerError {
    match error {
        SessionError::Lost(why) => HandlerError::Lost(why),
        SessionError::Refused { state, message } => match state.as_str() {
            "55P03" | "57014" | "40P01" | "40001" => HandlerError::Held(message),
            "53100" | "53200" => HandlerError::NoSpace(message),
            "08001" | "53300" | "57P03" => HandlerError::Lost(message),
            _ => HandlerError::Refused(format!("{message} (SQLSTATE {state})")),
        },
    }
}

impl Handlers for Databases {
    fn connect(&self, file: &Described) -> Result<Box<dyn Handler>, HandlerError> {
        let (columns, table) = (Columns::of(file)?, Table::parse(&file.redirection.object)?);
        let session = Session::open(&file.redirection.to, self.answer_within).map_err(failure)?;
        let mut rows = Rows { session, table, columns, statements: BTreeMap::new() };
        // Whether the table is there, with these columns.
        let probe = rows.table.read(&rows.columns, Edge::End, false);
        rows.prepared(probe)?;
        Ok(Box::new(rows))
    }

    fn prepare(&self, file: &Described) -> Result<(), HandlerError> {
        // Who made the tables beforehand may have kept the right to make any.
        let there = self.connect(file);
        if there.is_ok_and(|mut rows| rows.received(file.redirection.source).is_ok()) {
            return Ok(());
        }
        let (columns, table) = (Columns::of(file)?, Table::parse(&file.redirection.object)?);
        let mut session =
            Session::open(&file.redirection.to, self.answer_within).map_err(failure)?;
        let key = file.attributes.key.map(|key| (key.offset as usize, key.bytes as usize));
        let made = table.create(&columns, key, &file.name.to_string());
        session.run(async |client| client.batch_execute(&made).await).map_err(failure)
    }
}

/// The rows of a table.
struct Rows {
    session: Session,
    table: Table,
    columns: Columns,
    statements: BTreeMap<String, Statement>,
}

impl Rows {
    fn prepared(&mut self, (text, types): Spelled) -> Result<Statement, HandlerError> {
        if let Some(known) = self.statements.get(&text) {
            return Ok(known.clone());
        }
        let made = self.session.run(async |client| client.prepare_typed(&text, &types).await);
        let made = made.map_err(failure)?;
        self.statements.insert(text, made.clone());
        Ok(made)
    }

    fn execute(
        &mut self,
        spelled: Spelled,
        given: &[&(dyn ToSql + Sync)],
    ) -> Result<u64, HandlerError> {
        let statement = self.prepared(spelled)?;
        let done = self.session.run(async |client| client.execute(&statement, given).await);
        done.map_err(failure)
    }

    fn query(
        &mut self,
        spelled: Spelled,
        given: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Answer>, HandlerError> {
        let statement = self.prepared(spelled)?;
        let answer = self.session.run(async |client| client.query(&statement, given).await);
        answer.map_err(failure)
    }

    /// A row as it stands in an answer: key, record, fields.
    fn row(&self, answer: &Answer) -> Result<Row, HandlerError> {
        let strange = |error: Error| HandlerError::Nonsense(error.to_string());
        let key: Vec<u8> = answer.try_get(0).map_err(strange)?;
        let record: Option<Vec<u8>> = answer.try_get(1).map_err(strange)?;
        let fields: Result<Vec<Option<String>>, Error> =
            (0..self.columns.count()).map(|at| answer.try_get(at + 2)).collect();
        let values = Values { fields: fields.map_err(strange)?, record };
        Ok(Row { key, record: self.columns.join(&values)? })
    }

    fn one(&mut self, spelled: Spelled, key: &[u8], record: &[u8]) -> Result<u64, HandlerError> {
        let Values { fields, record } = self.columns.split(record);
        let mut given: Vec<&(dyn ToSql + Sync)> = vec![&key, &record];
        given.extend(fields.iter().map(|field| field as &(dyn ToSql + Sync)));
        self.execute(spelled, &given)
    }

    /// What a batch needs, ready to be sent within its transaction.
    fn batch_statements(&mut self) -> Result<Batch, HandlerError> {
        Ok(Batch {
            first: self.prepared(self.table.first_batch())?,
            next: self.prepared(self.table.next_batch())?,
            put: self.prepared(self.table.put_all(&self.columns))?,
            delete: self.prepared(self.table.delete_all())?,
            left: self.prepared(self.table.count_of())?,
            rest: self.prepared(self.table.count_all())?,
            clear: self.prepared(self.table.clear())?,
        })
    }
}

struct Batch {
    first: Statement,
    next: Statement,
    put: Statement,
    delete: Statement,
    clear: Statement,
    /// How many rows of these keys there are.
    left: Statement,
    /// Whether there is any row.
    rest: Statement,
}

/// What came of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Batched {
    /// It is done.
    Done,
    /// Its number was not the next one.
    Other,
    /// The table has not taken it, without an error: a trigger, a rule or a policy has its way.
    NotTaken { put: u64, of: usize, left: i64 },
}

/// What is left of the changes of a batch when each record is changed once.
#[derive(Default)]
struct Net {
    clears: bool,
    keys: Vec<Vec<u8>>,
    records: Vec<Option<Vec<u8>>>,
    fields: Vec<Vec<Option<String>>>,
    deleted: Vec<Vec<u8>>,
}

impl Net {
    fn of(columns: &Columns, changes: &[Change]) -> Net {
        let (mut last, mut clears) = (BTreeMap::new(), false);
        for change in changes {
            match change {
                Change::Put(row) => {
                    last.insert(&row.key, Some(&row.record));
                }
                Change::Delete(key) => {
                    last.insert(key, None);
                }
                Change::Clear => {
                    last.clear();
                    clears = true;
                }
            }
        }
        let mut net = Net { clears, fields: vec![Vec::new(); columns.count()], ..Net::default() };
        for (key, record) in last {
            let Some(record) = record else {
                net.deleted.push(key.clone());
                continue;
            };
            let values = columns.split(record);
            net.keys.push(key.clone());
            net.records.push(values.record);
            for (column, value) in net.fields.iter_mut().zip(values.fields) {
                column.push(value);
            }
        }
        net
    }
}

/// Does a batch in its transaction, if its number is the next one, and looks whether it is done.
async fn transact(
    client: &Client,
    batch: &Batch,
    (source, number): (&[u8], i64),
    net: &Net,
) -> Result<Batched, Error> {
    let first: [&(dyn ToSql + Sync); 1] = [&source];
    let next: [&(dyn ToSql + Sync); 2] = [&source, &number];
    let (begun, _, noted) = futures_util::join!(
        client.batch_execute("BEGIN"),
        client.execute(&batch.first, &first),
        client.execute(&batch.next, &next),
    );
    begun?;
    if noted? == 0 {
        client.batch_execute("ROLLBACK").await?;
        return Ok(Batched::Other);
    }
    let mut left = 0;
    if net.clears {
        client.execute(&batch.clear, &[]).await?;
        left += client.query_one(&batch.rest, &[]).await?.try_get::<_, i64>(0)?;
    }
    let (keys, records, deleted) = (&net.keys, &net.records, &net.deleted);
    let mut put: Vec<&(dyn ToSql + Sync)> = vec![keys, records];
    put.extend(net.fields.iter().map(|column| column as &(dyn ToSql + Sync)));
    let delete: [&(dyn ToSql + Sync); 1] = [deleted];
    let puts = async {
        match keys.is_empty() {
            true => Ok(0),
            false => client.execute(&batch.put, &put).await,
        }
    };
    let deletes = async {
        match deleted.is_empty() {
            true => Ok(0),
            false => client.execute(&batch.delete, &delete).await,
        }
    };
    let (puts, deletes) = futures_util::join!(puts, deletes);
    let put = puts?;
    // Those that were not there count as deleted; those that are still there do not.
    if deletes? < deleted.len() as u64 {
        left += client.query_one(&batch.left, &delete).await?.try_get::<_, i64>(0)?;
    }
    if put != keys.len() as u64 || left != 0 {
        client.batch_execute("ROLLBACK").await?;
        return Ok(Batched::NotTaken { put, of: keys.len(), left });
    }
    client.batch_execute("COMMIT").await?;
    Ok(Batched::Done)
}

impl Handler for Rows {
    fn read(
        &mut self,
        from: Edge<'_>,
        backward: bool,
        most: u32,
        rows: &mut Vec<Row>,
    ) -> Result<(), HandlerError> {
        let spelled = self.table.read(&self.columns, from, backward);
        let most = i64::from(most);
        let answers = match from {
            Edge::End => self.query(spelled, &[&most])?,
            Edge::With(key) | Edge::Beyond(key) => self.query(spelled, &[&most, &key])?,
        };
        for answer in &answers {
            rows.push(self.row(answer)?);
        }
        Ok(())
    }

    fn insert(&mut self, key: &[u8], record: &[u8]) -> Result<Changed, HandlerError> {
        let done = self.one(self.table.insert(&self.columns), key, record)?;
        Ok(if done == 0 { Changed::Exists } else { Changed::Done })
    }

    fn replace(&mut self, key: &[u8], record: &[u8]) -> Result<Changed, HandlerError> {
        let done = self.one(self.table.replace(&self.columns), key, record)?;
        Ok(if done == 0 { Changed::Absent } else { Changed::Done })
    }

    fn delete(&mut self, key: &[u8]) -> Result<Changed, HandlerError> {
        let done = self.execute(self.table.delete(), &[&key])?;
        Ok(if done == 0 { Changed::Absent } else { Changed::Done })
    }

    fn clear(&mut self) -> Result<(), HandlerError> {
        self.execute(self.table.clear(), &[]).map(drop)
    }

    fn received(&mut self, source: SourceId) -> Result<u64, HandlerError> {
        let source = &source.0[..];
        let answers = self.query(self.table.received(), &[&source])?;
        let number = answers.first().map(|answer| answer.try_get::<_, i64>(0));
        let number = number.transpose();
        let number = number.map_err(|error| HandlerError::Nonsense(error.to_string()))?;
        let negative = |_| HandlerError::Nonsense("the number of a batch is negative".into());
        u64::try_from(number.unwrap_or(0)).map_err(negative)
    }

    fn apply(
        &mut self,
        source: SourceId,
        number: u64,
        changes: &[Change],
    ) -> Result<(), HandlerError> {
        let too_many = |_| HandlerError::Refused("the number of a batch is too great".into());
        let wanted = i64::try_from(number).map_err(too_many)?;
        let batch = self.batch_statements()?;
        let net = Net::of(&self.columns, changes);
        let id = &source.0[..];
        let done = self
            .session
            .run(async |client| transact(client, &batch, (id, wanted), &net).await)
            .map_err(failure);
        match done {
            Ok(Batched::Done) => Ok(()),
            Ok(Batched::NotTaken { put, of, left }) => Err(HandlerError::Refused(format!(
                "of {of} rows that were written the table has taken {put}, and {left} that were \
                 deleted are there still: look at its triggers, rules and policies"
            ))),
            Ok(Batched::Other) => {
                let has = self.received(source)?;
                if has >= number { Ok(()) } else { Err(HandlerError::Gap { has, sent: number }) }
            }
            Err(error) => {
                if !matches!(error, HandlerError::Lost(_)) {
                    let back =
                        self.session.run(async |client| client.batch_execute("ROLLBACK").await);
                    back.map_err(failure)?;
                }
                Err(error)
            }
        }
    }
}
