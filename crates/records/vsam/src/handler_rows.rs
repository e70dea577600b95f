//! The rows of a cluster that a handler has, over a connection that is made anew when it is lost.
//!
//! Invariants:
//! 1. A row is given to a program only if its key is one of the cluster's and in order, and its
//!    record is one that could have been written.
//! 2. A connection that is lost is made anew by the next request. A read is then asked for once
//!    more; a change is not: whether it was made, the program finds out by reading.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use seam::sync::Mutex;
use store::Position as At;

use crate::attributes::Organization;
use crate::feedback::{Failure, LogicalReason};
use crate::handler::{Changed, Described, Edge, Handler, HandlerError, Handlers, Row};
use crate::layout::Shape;

/// A cluster whose records a handler has.
pub(crate) struct HandlerRows {
    handlers: Arc<dyn Handlers>,
    file: Described,
    link: Mutex<Option<Box<dyn Handler>>>,
    /// Changes that were made through this file.
    count: AtomicU64,
}

fn failure(error: HandlerError) -> Failure {
    match error {
        HandlerError::Held(_) => Failure::logical(LogicalReason::HeldByAnother),
        HandlerError::NoSpace(_) => Failure::logical(LogicalReason::NoSpace),
        other => Failure::Handler(other),
    }
}

impl HandlerRows {
    /// Connects.
    pub(crate) fn open(
        handlers: &Arc<dyn Handlers>,
        file: Described,
    ) -> Result<HandlerRows, HandlerError> {
        let link = handlers.connect(&file)?;
        let handlers = Arc::clone(handlers);
        Ok(HandlerRows { handlers, file, link: Mutex::new(Some(link)), count: AtomicU64::new(0) })
    }

    fn ask<T>(
        &self,
        again: bool,
        mut work: impl FnMut(&mut dyn Handler) -> Result<T, HandlerError>,
    ) -> Result<T, HandlerError> {
        let mut link = self.link.lock();
        let is_old = link.is_some();
        let answer = self.once(&mut link, &mut work);
        match answer {
            Err(HandlerError::Lost(_)) if again && is_old => self.once(&mut link, &mut work),
            answer => answer,
        }
    }

    fn once<T>(
        &self,
        link: &mut Option<Box<dyn Handler>>,
        work: &mut impl FnMut(&mut dyn Handler) -> Result<T, HandlerError>,
    ) -> Result<T, HandlerError> {
        let connected = match link {
            Some(link) => link,
            None => link.insert(self.handlers.connect(&self.file)?),
        };
        let answer = work(connected.as_mut());
        if matches!(answer, Err(HandlerError::Lost(_) | HandlerError::Nonsense(_))) {
            *link = None;
        }
        answer
    }

    /// Changes a row.
    pub(crate) fn change(&self, key: &[u8], change: Change<'_>) -> Result<Changed, Failure> {
        self.count.fetch_add(1, Relaxed);
        let answer = self.ask(false, |link| match change {
            Change::Insert(record) => link.insert(key, record),
            Change::Replace(record) => link.replace(key, record),
            Change::Delete => link.delete(key),
        });
        answer.map_err(failure)
    }

    /// How many changes were made through this file.
    pub(crate) fn changes(&self) -> u64 {
        self.count.load(Relaxed)
    }

    /// Rows from a place on, checked.
    pub(crate) fn rows(
        &self,
        at: At<'_>,
        backward: bool,
        most: u32,
    ) -> Result<VecDeque<Row>, Failure> {
        let from = match (at, backward) {
            (At::Front, false) | (At::Back, true) => Edge::End,
            (At::Front, true) | (At::Back, false) => return Ok(VecDeque::new()),
            (At::Before(key), false) | (At::After(key), true) => Edge::With(key),
            (At::On(key) | At::After(key), false) => Edge::Beyond(key),
            (At::On(key) | At::Before(key), true) => Edge::Beyond(key),
        };
        let read = self.ask(true, |link| {
            let mut rows = Vec::new();
            link.read(from, backward, most, &mut rows)?;
            self.check(from, backward, most, &rows)?;
            Ok(rows)
        });
        Ok(read.map_err(failure)?.into())
    }

    fn check(
        &self,
        from: Edge<'_>,
        backward: bool,
        most: u32,
        rows: &[Row],
    ) -> Result<(), HandlerError> {
        let nonsense = |what: &str| Err(HandlerError::Nonsense(what.into()));
        if rows.len() > most as usize {
            return nonsense("more rows than were asked for");
        }
        let (attributes, shape) = (&self.file.attributes, Shape::of(&self.file.attributes));
        let mut before: Option<&Row> = None;
        for row in rows {
            let edge = before.map_or(from, |before| Edge::Beyond(&before.key));
            if row.key.len() != shape.key_bytes() || !edge.admits(&row.key, backward) {
                return nonsense("a key that is none, or out of order");
            }
            if attributes.key.is_some_and(|field| field.of(&row.record) != Some(&row.key)) {
                return nonsense("a record with another key than its row");
            }
            let (least, most) = match attributes.organization {
                Organization::Relative => {
                    (attributes.record_bytes_max as usize, attributes.record_bytes_max)
                }
                _ => (1, attributes.record_bytes_max),
            };
            let is_number = attributes.organization.is_relative();
            if row.record.len() < least
                || row.record.len() > most as usize
                || is_number && row.key == [0; 4]
                || shape == Shape::Entries && row.key.first().is_some_and(|first| *first > 0x7f)
            {
                return nonsense("a record or a number that the cluster cannot have");
            }
            before = Some(row);
        }
        Ok(())
    }

    /// Whether there is no row.
    pub(crate) fn is_empty(&self) -> Result<bool, HandlerError> {
        self.ask(true, |link| {
            let mut rows = Vec::new();
            link.read(Edge::End, false, 1, &mut rows)?;
            Ok(rows.is_empty())
        })
    }

    /// Removes all rows.
    pub(crate) fn clear(&self) -> Result<(), HandlerError> {
        self.count.fetch_add(1, Relaxed);
        self.ask(true, |link| link.clear())
    }
}

/// A change of one row.
#[derive(Clone, Copy)]
pub(crate) enum Change<'r> {
    Insert(&'r [u8]),
    Replace(&'r [u8]),
    Delete,
}
