//! Message handles of no connection (MQHC_UNASSOCIATED_HCONN), and of connections that are made
//! again when they break: their properties are kept in the program, and lent to a connection for
//! the calls that need them there.
//!
//! ```text
//!  MQCRTMH(-3) --> properties here --MQPUT--> a handle of the connection, for the call alone
//!                        ^-----------MQGET---/
//! ```
//!
//! 1. Handles of connections and those of none have different numbers.
//! 2. What a call made of a lent handle's properties is kept only if the call was done.
//! 3. No lock of this file is held during a call of the queue manager.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use mqi::client::Client;
use mqi::wire::Request;
use queue_manager::properties::{Properties, Property};
use queue_manager::reason::Answer;
use queue_manager::{Completion, Outcome, Reason};
use seam::sync::Mutex;

/// The connection of those that belong to none.
pub(crate) const UNASSOCIATED: i32 = -3;
/// Handles of connections are less.
const FIRST: i64 = 1 << 62;
/// What an inquiry asks for: the first of those that match, the next.
const THE_FIRST: i32 = 0;
const THE_NEXT: i32 = 1;
const ANY_NAME: &str = "%";

#[derive(Default)]
struct Table {
    made: i64,
    all: BTreeMap<i64, (i32, Properties)>,
}

fn table() -> &'static Mutex<Table> {
    static TABLE: OnceLock<Mutex<Table>> = OnceLock::new();
    TABLE.get_or_init(|| Mutex::new(Table::default()))
}

/// Makes a handle, for a connection that is made again when it breaks, or for none.
pub(crate) fn create(connection: i32) -> i64 {
    let mut table = table().lock();
    table.made += 1;
    let handle = FIRST + table.made;
    table.all.insert(handle, (connection, Properties::default()));
    handle
}

/// Whether it is a handle of no connection.
pub(crate) fn is_own(handle: i64) -> bool {
    handle > FIRST
}

/// Forgets a handle.
pub(crate) fn delete(handle: i64) -> Result<Outcome, Reason> {
    let known = table().lock().all.remove(&handle);
    known.map(|_| Outcome::OK).ok_or(Reason::HMSG_ERROR)
}

/// Forgets the handles of a connection.
pub(crate) fn forget_of(connection: i32) {
    table().lock().all.retain(|_, (owner, _)| *owner != connection);
}

/// Works with the properties of a handle.
pub(crate) fn with<R>(
    handle: i64,
    work: impl FnOnce(&mut Properties) -> Answer<R>,
) -> Result<R, Reason> {
    let mut table = table().lock();
    let (_, properties) = table.all.get_mut(&handle).ok_or(Reason::HMSG_ERROR)?;
    work(properties).map_err(|failed| failed.0)
}

/// A handle of a connection, in place of one of none.
pub(crate) struct StandIn {
    own: i64,
    lent: i64,
}

fn done(outcome: Outcome) -> Result<(), Reason> {
    match outcome.completion {
        Completion::Failed => Err(outcome.reason),
        _ => Ok(()),
    }
}

impl StandIn {
    /// Lends the properties of a handle to a connection, and puts the number that they have there
    /// in its place; `None` for a handle of the connection itself.
    pub(crate) fn lend(client: &mut Client, handle: &mut i64) -> Result<Option<StandIn>, Reason> {
        if !is_own(*handle) {
            return Ok(None);
        }
        let own = *handle;
        let all: Vec<Property> = with(own, |all| Ok(all.iter().cloned().collect()))?;
        let (outcome, lent) = client.create_handle();
        done(outcome)?;
        for Property { name, value } in all {
            let set = client.plain(&Request::SetProperty { handle: lent, name, value });
            if let Err(reason) = done(set) {
                let _ = client.plain(&Request::DeleteHandle { handle: lent });
                return Err(reason);
            }
        }
        *handle = lent;
        Ok(Some(StandIn { own, lent }))
    }

    /// The call is over; with `keeps`, what it has made of the properties is the own handle's.
    pub(crate) fn end(self, client: &mut Client, handle: &mut i64, keeps: bool) {
        *handle = self.own;
        if keeps {
            let mut which = THE_FIRST;
            let mut all = Properties::default();
            while let Ok((_, name, value)) = client.inquire_property(self.lent, ANY_NAME, which) {
                // A name that came from there is one.
                let _ = all.set(&name, value);
                which = THE_NEXT;
            }
            let _ = with(self.own, |own| {
                *own = all;
                Ok(())
            });
        }
        // It goes with the connection at the latest.
        let _ = client.plain(&Request::DeleteHandle { handle: self.lent });
    }
}
