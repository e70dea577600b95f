//! The ledger in LMDB: one database, keyed by path.

use super::*;
use crate::ledger::{self, Segments};
use crate::peers::paths::{CALLS_PER_REPLACE, PathPeer, Row, foreign};

const FIRST: c_uint = 0;
const SET_RANGE: c_uint = 17;
/// `MDB_CURRENT`: the put replaces what the cursor is on.
const CURRENT: c_uint = 0x40;

/// An open environment with the ledger.
pub(crate) struct Paths {
    base: Lmdb,
}

impl Paths {
    /// A new environment in an empty folder.
    pub(crate) fn create(folder: &Path) -> Result<Paths> {
        Ok(Paths { base: Lmdb::create(folder)? })
    }
}

/// A cursor of a transaction, closed before it.
struct Steps<'t> {
    transaction: &'t Transaction<'t>,
    cursor: *mut c_void,
}

impl<'t> Steps<'t> {
    fn of(transaction: &'t Transaction<'t>) -> Result<Steps<'t>> {
        let (owner, mut cursor) = (transaction.owner, ptr::null_mut());
        // SAFETY: a live transaction and a place for the cursor.
        let code =
            unsafe { owner.api.mdb_cursor_open(transaction.handle, owner.database, &mut cursor) };
        owner.expect("open a cursor", code)?;
        Ok(Steps { transaction, cursor })
    }

    /// Reads what `operation` leads to; `false` behind the end. `from` is where to search.
    fn read(&self, operation: c_uint, from: &[u8], row: &mut Row) -> Result<bool> {
        let (mut key, mut data) = (Slice::of(from), Slice::empty());
        let owner = self.transaction.owner;
        // SAFETY: the cursor is open, `from` outlives the call; what comes back are slices into
        // the map, copied before anything else is called.
        let (code, is_row) = unsafe {
            let code = owner.api.mdb_cursor_get(self.cursor, &mut key, &mut data, operation);
            (code, code != 0 || row.take(key.as_bytes(), data.as_bytes()))
        };
        match code {
            NOT_FOUND => Ok(false),
            _ if !is_row => Err(foreign(NAME)),
            code => owner.expect("read", code).map(|()| true),
        }
    }

    /// Stands on the row that was read last.
    fn return_to(&self, at: &mut Row) -> Result<()> {
        let from: Vec<u8> = at.path().to_vec();
        if !from.is_empty() && !self.read(SET_RANGE, &from, at)? {
            return Err(foreign(NAME));
        }
        Ok(())
    }

    fn next(&self, at: &mut Row) -> Result<()> {
        let operation = if at.path().is_empty() { FIRST } else { NEXT };
        if self.read(operation, &[], at)? || self.read(FIRST, &[], at)? {
            return Ok(());
        }
        Err(foreign(NAME))
    }

    fn replace(&self, row: &Row) -> Result<()> {
        let (key, data) = (Slice::of(row.path()), Slice::of(row.data()));
        let owner = self.transaction.owner;
        // SAFETY: the cursor stands on that key; key and data lie in the caller's memory.
        let code = unsafe { owner.api.mdb_cursor_put(self.cursor, &key, &data, CURRENT) };
        owner.expect("replace", code)
    }
}

impl Drop for Steps<'_> {
    fn drop(&mut self) {
        // SAFETY: opened once and closed once, before its transaction ends.
        unsafe { self.transaction.owner.api.mdb_cursor_close(self.cursor) };
    }
}

impl PathPeer for Paths {
    fn name(&self) -> &'static str {
        NAME
    }

    fn version(&self) -> String {
        KeyedPeer::version(&self.base)
    }

    fn settings(&self) -> String {
        format!("{}; its cache is the system's", KeyedPeer::settings(&self.base))
    }

    fn load(&mut self, segments: &mut Segments) -> Result<()> {
        let transaction = self.base.begin(0)?;
        while let Some(row) = segments.next() {
            // SAFETY: the transaction lives; key and data outlive the call, which copies them.
            let code = unsafe {
                let (key, data) = (Slice::of(row.path), Slice::of(row.data));
                let (api, database) = (&self.base.api, self.base.database);
                api.mdb_put(transaction.handle, database, &key, &data, APPEND)
            };
            self.base.expect("load", code)?;
        }
        transaction.commit()
    }

    fn unit(&mut self, at: &mut Row, calls: u64) -> Result<()> {
        let transaction = self.base.begin(0)?;
        {
            let steps = Steps::of(&transaction)?;
            steps.return_to(at)?;
            for call in 1..=calls {
                if call % CALLS_PER_REPLACE == 0 {
                    at.change();
                    steps.replace(at)?;
                } else {
                    steps.next(at)?;
                }
            }
        }
        transaction.commit()
    }

    fn total(&mut self) -> Result<(u64, u64)> {
        let mut total = (0, 0);
        self.base.each(|data| {
            ledger::add_to_total(&mut total, data);
            true
        })?;
        Ok(total)
    }
}
