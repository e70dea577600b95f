//! redb, the crate: a copy-on-write B-tree in Rust, one writer, every commit synced.

use std::path::Path;
use std::time::Duration;

use base::stats::Histogram;
use redb::{Database, Durability, ReadableDatabase, ReadableTable, TableDefinition};

use super::KeyedPeer;
use crate::error::{BenchError, Result};
use crate::harness::Work;
use crate::workload::{self, Deadline, Random, VALUE_BYTES, timed_until};

pub(crate) const NAME: &str = "redb";

const TABLE: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("records");
const CACHE_BYTES: usize = 512 << 20;

/// An open database.
pub(crate) struct Redb {
    database: Database,
    records: u64,
}

fn refused(action: &'static str) -> impl Fn(redb::Error) -> BenchError {
    move |error| BenchError::subject(NAME, action, error.to_string())
}

impl Redb {
    /// A new database in an empty folder.
    pub(crate) fn create(folder: &Path) -> Result<Redb> {
        let database = Database::builder()
            .set_cache_size(CACHE_BYTES)
            .create(folder.join("records.redb"))
            .map_err(|error| refused("create")(error.into()))?;
        Ok(Redb { database, records: 0 })
    }

    fn read_and_update(&self, random: &mut Random, times: usize) -> Result<(), redb::Error> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(Durability::Immediate)?;
        {
            let mut table = transaction.open_table(TABLE)?;
            for _ in 0..times {
                let id = random.below(self.records);
                let mut value = [0; VALUE_BYTES];
                if let Some(found) = table.get(id)? {
                    value.copy_from_slice(found.value());
                }
                workload::add_to_balance(&mut value, 1);
                table.insert(id, value.as_slice())?;
            }
        }
        transaction.commit()?;
        Ok(())
    }

    /// Reads all values in key order until `see` answers false.
    fn each(&self, mut see: impl FnMut(&[u8]) -> bool) -> Result<(), redb::Error> {
        let table = self.database.begin_read()?.open_table(TABLE)?;
        for record in table.iter()? {
            if !see(record?.1.value()) {
                break;
            }
        }
        Ok(())
    }

    fn write_all(&self, records: u64) -> Result<(), redb::Error> {
        let transaction = self.database.begin_write()?;
        {
            let mut table = transaction.open_table(TABLE)?;
            for id in 0..records {
                table.insert(id, workload::value(id).as_slice())?;
            }
        }
        transaction.commit()?;
        Ok(())
    }
}

impl KeyedPeer for Redb {
    fn name(&self) -> &'static str {
        NAME
    }

    fn version(&self) -> String {
        "4.4".into()
    }

    fn settings(&self) -> &'static str {
        "Durability::Immediate, 512 MiB cache"
    }

    fn grouping(&self) -> &'static str {
        "batched"
    }

    fn load(&mut self, records: u64) -> Result<()> {
        self.write_all(records).map_err(refused("load"))?;
        self.records = records;
        Ok(())
    }

    fn commit(&self, in_flight: usize, slice: Duration) -> Result<Work> {
        let mut random = Random::new(1);
        let latency = Histogram::default();
        let groups = timed_until(Deadline::after(slice), &latency, || {
            self.read_and_update(&mut random, in_flight)
        })
        .map_err(refused("commit"))?;
        let operations = groups * in_flight as u64;
        Ok(Work { operations, bytes: 0, latency: workload::quantiles(&latency) })
    }

    fn get(&self, slice: Duration) -> Result<Work> {
        let open =
            || -> Result<_, redb::Error> { Ok(self.database.begin_read()?.open_table(TABLE)?) };
        let table = open().map_err(refused("begin to read"))?;
        super::gets(self.records, slice, |id| {
            let found = table.get(id).map_err(|error| refused("get")(error.into()))?;
            Ok(found.map_or(0, |value| u64::from(value.value()[8])))
        })
    }

    fn scan(&self, slice: Duration) -> Result<Work> {
        super::scans(slice, |see| self.each(see).map_err(refused("scan")))
    }

    fn total(&self) -> Result<(u64, u64)> {
        let mut total = (0, 0);
        self.each(|value| {
            super::add_to_total(&mut total, value);
            true
        })
        .map_err(refused("scan"))?;
        Ok(total)
    }
}
