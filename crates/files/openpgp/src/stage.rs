//! Stages of the pipeline: iterators that threads of their own drive.
//!
//! A stage takes an iterator and gives one. Switched off, it works in the thread of the caller that
//! asks for the next item; switched on, a feeder pulls the items and deals them to workers in turn,
//! and the results are collected in the same turn. So their order is that of the items without a
//! number on any of them, and at most [`DEPTH`] items wait at each end of each worker.
//!
//! 1. The first error ends a stage; it comes out at its place among the results.
//! 2. Who stops pulling ends the threads: their next hand-over fails, and they go.
//! 3. The scope of the threads joins them; a panic in one is a panic of the scope, so nothing is
//!    taken for complete that a dead thread did not finish.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Scope;

use crate::error::Result;

/// How many items wait between two threads.
const DEPTH: usize = 2;

/// Items that come one after the other.
pub(crate) type Feed<'s, T> = Box<dyn Iterator<Item = Result<T>> + Send + 's>;

/// Applies a function of each of `workers` to the items, in order. Without workers the caller of
/// the iterator does the work, with what `make` gives.
pub(crate) fn ordered<'s, 'e, T, U, F>(
    scope: &'s Scope<'s, 'e>,
    input: Feed<'s, T>,
    workers: usize,
    make: impl Fn() -> F,
) -> Feed<'s, U>
where
    T: Send + 's,
    U: Send + 's,
    F: FnMut(T) -> Result<U> + Send + 's,
{
    if workers == 0 {
        let mut work = make();
        return Box::new(input.map(move |item| item.and_then(&mut work)));
    }
    let mut doors = Vec::with_capacity(workers);
    let mut results = Vec::with_capacity(workers);
    for _ in 0..workers {
        let (door, items) = sync_channel(DEPTH);
        let (out, result) = sync_channel(DEPTH);
        let work = make();
        scope.spawn(move || drive(&items, &out, work));
        doors.push(door);
        results.push(result);
    }
    scope.spawn(move || deal(input, &doors));
    Box::new(InTurn { results, next: 0 })
}

/// Lets a thread of its own pull the items, if `apart`.
pub(crate) fn ahead<'s, 'e, T: Send + 's>(
    scope: &'s Scope<'s, 'e>,
    input: Feed<'s, T>,
    apart: bool,
) -> Feed<'s, T> {
    if !apart {
        return input;
    }
    let (door, items) = sync_channel(DEPTH);
    scope.spawn(move || deal(input, &[door]));
    Box::new(InTurn { results: vec![items], next: 0 })
}

/// A worker: everything that comes, until an error or until its reader is gone (1, 2).
fn drive<T, U>(
    items: &Receiver<Result<T>>,
    out: &SyncSender<Result<U>>,
    mut work: impl FnMut(T) -> Result<U>,
) {
    for item in items {
        let result = item.and_then(&mut work);
        let is_end = result.is_err();
        if out.send(result).is_err() || is_end {
            return;
        }
    }
}

/// The feeder: deals the items to the doors in turn.
fn deal<T>(input: impl Iterator<Item = Result<T>>, doors: &[SyncSender<Result<T>>]) {
    for (item, door) in input.zip(doors.iter().cycle()) {
        let is_end = item.is_err();
        if door.send(item).is_err() || is_end {
            return;
        }
    }
}

/// Results, collected in the turn in which the items were dealt.
struct InTurn<T> {
    results: Vec<Receiver<T>>,
    next: usize,
}

impl<T> Iterator for InTurn<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let item = self.results[self.next].recv().ok();
        self.next = (self.next + 1) % self.results.len();
        item
    }
}
