//! The same work as hand-written SQL through the same driver: what the benchmark `engine` stands
//! beside. For measuring only.
//!
//! Each statement is prepared and waited for, as a program with embedded SQL does it; rows that
//! will be changed are locked by their reading.

use std::sync::Arc;

use seam::Seam;
use store::Result;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Statement};

use crate::connection::{Connection, Counters};
use crate::error::Fault;
use crate::history::History;
use crate::options::{Address, EngineOptions};

/// A session with statements of its own, and a table of its own in the store's schema.
pub struct Twin {
    connection: Connection,
    counters: Arc<Counters>,
    get: Statement,
    scan: Statement,
    lock: Statement,
    update: Statement,
}

impl Twin {
    /// Connects and, for the first of them, makes the table and fills it with keys and values.
    ///
    /// # Errors
    /// What the engine answers.
    pub fn open(
        url: &str,
        options: &EngineOptions,
        fill: Option<&[(Vec<u8>, Vec<u8>)]>,
        _seam: &Seam,
    ) -> Result<Twin> {
        let (address, counters) = (Address::read(url)?, Arc::new(Counters::default()));
        let (schema, within) = (&options.schema, options.answer_within);
        let mut connection =
            Connection::open(&address, schema, within, &counters, &History::default())
                .map_err(Fault::into_error)?;
        if let Some(entries) = fill {
            connection.ask(&counters, async |client| {
                client.batch_execute("CREATE TABLE twin (k bytea PRIMARY KEY, v bytea)").await?;
                let sql = "INSERT INTO twin SELECT * FROM unnest($1::bytea[], $2::bytea[])";
                let insert = client.prepare(sql).await?;
                for some in entries.chunks(1_000) {
                    let keys: Vec<&[u8]> = some.iter().map(|(key, _)| &key[..]).collect();
                    let values: Vec<&[u8]> = some.iter().map(|(_, value)| &value[..]).collect();
                    client.execute(&insert, &[&keys, &values]).await?;
                }
                Ok(())
            })?;
        }
        let prepare = async |client: &Client| {
            Ok::<_, tokio_postgres::Error>((
                client.prepare("SELECT v FROM twin WHERE k = $1").await?,
                client.prepare("SELECT k, v FROM twin WHERE k > $1 ORDER BY k LIMIT 1000").await?,
                client
                    .prepare("SELECT k, v FROM twin WHERE k >= $1 AND k < $2 ORDER BY k FOR UPDATE")
                    .await?,
                client.prepare("UPDATE twin SET v = $2 WHERE k = $1").await?,
            ))
        };
        let (get, scan, lock, update) = connection.ask(&counters, prepare)?;
        Ok(Twin { connection, counters, get, scan, lock, update })
    }

    /// The value of a key.
    ///
    /// # Errors
    /// What the engine answers.
    pub fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let get = self.get.clone();
        let row = self
            .connection
            .ask(&self.counters, async |client| client.query_opt(&get, &[&key]).await)?;
        Ok(row.map(|row| row.get(0)))
    }

    /// How many of the thousand entries behind a key there are, and the last of them.
    ///
    /// # Errors
    /// What the engine answers.
    pub fn scan(&mut self, after: &[u8]) -> Result<(usize, Option<Vec<u8>>)> {
        let scan = self.scan.clone();
        let rows = self
            .connection
            .ask(&self.counters, async |client| client.query(&scan, &[&after]).await)?;
        Ok((rows.len(), rows.last().map(|row| row.get(0))))
    }

    /// One transaction: for each record read and lock its entries, and change the first.
    ///
    /// # Errors
    /// What the engine answers.
    pub fn transaction(&mut self, records: &[(Vec<u8>, Vec<u8>)], value: &[u8]) -> Result<()> {
        let (lock, update) = (self.lock.clone(), self.update.clone());
        self.connection.ask(&self.counters, async |client| {
            client.batch_execute("BEGIN").await?;
            for (from, to) in records {
                let rows = client.query(&lock, &[from, to]).await?;
                let key: Vec<u8> = rows.first().map(|row| row.get(0)).unwrap_or_default();
                client.execute(&update, &[&key, &value]).await?;
            }
            client.batch_execute("COMMIT").await
        })
    }

    /// What the server says it is.
    ///
    /// # Errors
    /// What the engine answers.
    pub fn version(&mut self) -> Result<String> {
        let rows = self.connection.ask(&self.counters, async |client| {
            client.query_typed("SELECT $1 || version()", &[(&"", Type::TEXT)]).await
        })?;
        Ok(rows.first().map(|row| row.get(0)).unwrap_or_default())
    }
}
