//! Handlers: whoever has the records of a redirected cluster, or is told of its changes.
//!
//! A handler is a keyed table, no more: rows by key in the order of bytes. What requests mean,
//! which reason they end with, lengths, sequence and locks among programs, all that is done here,
//! the same for every handler.
//!
//! | cluster | the key of a row |
//! |---|---|
//! | keyed | the prime key; it stands in the record, too |
//! | entry-sequenced | the relative byte address, 8 bytes, the greatest first |
//! | relative | the record number, 4 bytes, the greatest first |
//!
//! Invariants:
//! 1. A call that fails has changed nothing at the handler, or all that it was to change: nothing
//!    is ever written in part.
//! 2. What a handler answers is bytes from outside: rows are checked before a program sees them.
//! 3. A batch of changes is applied once, however often it is sent: the handler keeps the number
//!    of the last batch of each source beside its rows, in the same unit of work.

use thiserror::Error;

use crate::attributes::ClusterAttributes;
use crate::name::DataSetName;
use crate::redirection::{Redirection, SourceId};

/// A record and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The key.
    pub key: Vec<u8>,
    /// The whole record.
    pub record: Vec<u8>,
}

/// Where rows are read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge<'k> {
    /// The first row, or backward the last one.
    End,
    /// The row of this key and those beyond it.
    With(&'k [u8]),
    /// Those beyond this key.
    Beyond(&'k [u8]),
}

impl Edge<'_> {
    /// Whether a key is among the rows from here on in a direction.
    ///
    /// ```
    /// use vsam::handler::Edge;
    /// assert!(Edge::With(b"b").admits(b"b", false) && !Edge::Beyond(b"b").admits(b"b", false));
    /// assert!(Edge::Beyond(b"b").admits(b"a", true) && Edge::End.admits(b"a", true));
    /// ```
    #[must_use]
    pub fn admits(&self, key: &[u8], backward: bool) -> bool {
        match (self, backward) {
            (Edge::End, _) => true,
            (Edge::With(edge), false) => key >= *edge,
            (Edge::With(edge), true) => key <= *edge,
            (Edge::Beyond(edge), false) => key > *edge,
            (Edge::Beyond(edge), true) => key < *edge,
        }
    }
}

/// What a change of one row came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// It was made.
    Done,
    /// There is such a row already.
    Exists,
    /// There is no such row.
    Absent,
}

/// A change that was made here and is sent on. Applying one to what has it already changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The record of this key is this now, whether it is new or not.
    Put(Row),
    /// There is no record of this key any more.
    Delete(Vec<u8>),
    /// There are no records any more.
    Clear,
}

/// Why a handler did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HandlerError {
    /// The way to it is lost, or it does not answer. What was asked may have been done.
    #[error("the handler cannot be reached: {0}")]
    Lost(String),
    /// It refuses: the table is missing or another one, a right is missing.
    #[error("the handler refuses: {0}")]
    Refused(String),
    /// Somebody else has the row, for longer than one waits.
    #[error("the handler has the row locked: {0}")]
    Held(String),
    /// It has no room.
    #[error("the handler has no space left: {0}")]
    NoSpace(String),
    /// It answers what cannot be.
    #[error("the handler answers what cannot be: {0}")]
    Nonsense(String),
    /// Batches that were sent before are missing there.
    #[error("the handler has batch {has} of this source, and batch {sent} cannot follow it")]
    Gap {
        /// The last one that it has.
        has: u64,
        /// The one that was sent.
        sent: u64,
    },
}

/// What a handler is told of the cluster.
#[derive(Clone, Debug)]
pub struct Described {
    /// Its name.
    pub name: DataSetName,
    /// Its organization, key, lengths and record map.
    pub attributes: ClusterAttributes,
    /// Where its records go.
    pub redirection: Redirection,
}

/// The way to the rows of one cluster. It is used by one thread at a time, and given up after
/// [`HandlerError::Lost`].
///
/// A handler is all that a table of one's own takes to be a cluster. In memory:
///
/// ```
/// use std::collections::BTreeMap;
/// use vsam::handler::{Change, Changed, Edge, Handler, HandlerError, Row};
/// use vsam::SourceId;
///
/// #[derive(Default)]
/// struct Table {
///     rows: BTreeMap<Vec<u8>, Vec<u8>>,
///     received: BTreeMap<SourceId, u64>,
/// }
///
/// impl Handler for Table {
///     fn read(
///         &mut self, from: Edge<'_>, backward: bool, most: u32, rows: &mut Vec<Row>,
///     ) -> Result<(), HandlerError> {
///         let row = |(key, record): (&Vec<u8>, &Vec<u8>)| Row {
///             key: key.clone(), record: record.clone(),
///         };
///         let those = self.rows.iter().filter(|(key, _)| from.admits(key, backward));
///         match backward {
///             false => rows.extend(those.take(most as usize).map(row)),
///             true => rows.extend(those.rev().take(most as usize).map(row)),
///         }
///         Ok(())
///     }
///     fn insert(&mut self, key: &[u8], record: &[u8]) -> Result<Changed, HandlerError> {
///         if self.rows.contains_key(key) {
///             return Ok(Changed::Exists);
///         }
///         self.rows.insert(key.to_vec(), record.to_vec());
///         Ok(Changed::Done)
///     }
///     fn replace(&mut self, key: &[u8], record: &[u8]) -> Result<Changed, HandlerError> {
///         match self.rows.get_mut(key) {
///             None => Ok(Changed::Absent),
///             Some(row) => {
///                 record.clone_into(row);
///                 Ok(Changed::Done)
///             }
///         }
///     }
///     fn delete(&mut self, key: &[u8]) -> Result<Changed, HandlerError> {
///         Ok(if self.rows.remove(key).is_some() { Changed::Done } else { Changed::Absent })
///     }
///     fn clear(&mut self) -> Result<(), HandlerError> {
///         self.rows.clear();
///         Ok(())
///     }
///     fn received(&mut self, source: SourceId) -> Result<u64, HandlerError> {
///         Ok(self.received.get(&source).copied().unwrap_or(0))
///     }
///     fn apply(
///         &mut self, source: SourceId, number: u64, changes: &[Change],
///     ) -> Result<(), HandlerError> {
///         let has = self.received(source)?;
///         if has >= number {
///             return Ok(());
///         }
///         if has + 1 != number {
///             return Err(HandlerError::Gap { has, sent: number });
///         }
///         for change in changes {
///             match change {
///                 Change::Put(row) => {
///                     self.rows.insert(row.key.clone(), row.record.clone());
///                 }
///                 Change::Delete(key) => {
///                     self.rows.remove(key);
///                 }
///                 Change::Clear => self.rows.clear(),
///             }
///         }
///         self.received.insert(source, number);
///         Ok(())
///     }
/// }
///
/// let mut table = Table::default();
/// assert_eq!(table.insert(b"k", b"k1"), Ok(Changed::Done));
/// let source = SourceId([1; 16]);
/// for _ in 0..2 {
///     // The second time it is known already.
///     table.apply(source, 1, &[Change::Clear]).unwrap();
/// }
/// assert_eq!(table.apply(source, 3, &[]), Err(HandlerError::Gap { has: 1, sent: 3 }));
/// ```
pub trait Handler: Send {
    /// Appends at most so many rows to `rows`, in ascending order of keys, backward in descending
    /// order. Fewer than `most`, but for those that are too much at once, means that there are no
    /// others; none means the end.
    ///
    /// # Errors
    /// Why it cannot.
    fn read(
        &mut self,
        from: Edge<'_>,
        backward: bool,
        most: u32,
        rows: &mut Vec<Row>,
    ) -> Result<(), HandlerError>;

    /// Adds a row: `Done`, durably, or `Exists`.
    ///
    /// # Errors
    /// Why it cannot.
    fn insert(&mut self, key: &[u8], record: &[u8]) -> Result<Changed, HandlerError>;

    /// Gives a row another record: `Done`, durably, or `Absent`.
    ///
    /// # Errors
    /// Why it cannot.
    fn replace(&mut self, key: &[u8], record: &[u8]) -> Result<Changed, HandlerError>;

    /// Removes a row: `Done`, durably, or `Absent`.
    ///
    /// # Errors
    /// Why it cannot.
    fn delete(&mut self, key: &[u8]) -> Result<Changed, HandlerError>;

    /// Removes all rows, durably.
    ///
    /// # Errors
    /// Why it cannot.
    fn clear(&mut self) -> Result<(), HandlerError>;

    /// The number of the last batch of a source that was applied; 0 if none was.
    ///
    /// # Errors
    /// Why it cannot.
    fn received(&mut self, source: SourceId) -> Result<u64, HandlerError>;

    /// Applies the changes of a batch in their order and keeps its number, all or nothing. A batch
    /// that was applied before is left out; one that does not follow the last is refused with
    /// [`HandlerError::Gap`]. [`Change::Clear`] comes alone in its batch.
    ///
    /// # Errors
    /// Why it cannot.
    fn apply(
        &mut self,
        source: SourceId,
        number: u64,
        changes: &[Change],
    ) -> Result<(), HandlerError>;
}

/// Makes ways to handlers.
pub trait Handlers: Send + Sync {
    /// Connects to the handler of a redirected cluster.
    ///
    /// # Errors
    /// Why it cannot.
    fn connect(&self, file: &Described) -> Result<Box<dyn Handler>, HandlerError>;

    /// Makes what the handler needs for the cluster, such as a table, where it is not there yet.
    ///
    /// # Errors
    /// Why it cannot.
    fn prepare(&self, file: &Described) -> Result<(), HandlerError>;
}
