//! Several threads work for one, who gets what they have done in the order in which it was asked
//! for.
//!
//! Invariants:
//! 1. Pieces of work go to the threads in turn, and come back in the same turn.
//! 2. A thread that panics takes nobody with it into an endless wait: the panic comes up where its
//!    work is taken.
//! 3. When this is dropped the threads are gone; what was not taken is lost.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::sync::{Condvar, Mutex};
use crate::thread::{JoinHandle, spawn};

type Work<J, P> = Arc<dyn Fn(J) -> P + Send + Sync>;

/// Threads that do pieces of work `J`, of which each comes to a `P`.
pub struct Ordered<J, P> {
    work: Work<J, P>,
    workers: Vec<Worker<J, P>>,
    given: usize,
    taken: usize,
    /// What was done by the caller itself, for want of threads.
    own: VecDeque<P>,
}

struct Worker<J, P> {
    lane: Arc<Lane<J, P>>,
    thread: Option<JoinHandle>,
}

struct Lane<J, P> {
    state: Mutex<State<J, P>>,
    changed: Condvar,
}

struct State<J, P> {
    wanted: VecDeque<J>,
    done: VecDeque<P>,
    /// Nothing more is wanted.
    ended: bool,
    /// The thread has left, for good or bad.
    gone: bool,
}

impl<J: Send + 'static, P: Send + 'static> Ordered<J, P> {
    /// Starts as many of `threads` as the operating system gives; with none of them the caller does
    /// the work itself when it gives it. Each calls `begin` first.
    pub fn start(
        name: &str,
        threads: usize,
        begin: fn(),
        work: impl Fn(J) -> P + Send + Sync + 'static,
    ) -> Ordered<J, P> {
        let work: Work<J, P> = Arc::new(work);
        let workers = (0..threads).map_while(|number| {
            let lane = Arc::new(Lane::default());
            let (own, work) = (Arc::clone(&lane), Arc::clone(&work));
            let run = move || {
                begin();
                Leaving(&own).run(&*work);
            };
            let thread = Some(spawn(&format!("{name}-{number}"), run).ok()?);
            Some(Worker { lane, thread })
        });
        let workers = workers.collect();
        Ordered { work, workers, given: 0, taken: 0, own: VecDeque::new() }
    }

    /// How many pieces of work were given and not taken back.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.given - self.taken
    }

    /// Gives a piece of work. Never waits.
    pub fn give(&mut self, job: J) {
        if self.workers.is_empty() {
            self.own.push_back((self.work)(job));
        } else {
            let lane = &self.workers[self.given % self.workers.len()].lane;
            lane.state.lock().wanted.push_back(job);
            lane.changed.notify_all();
        }
        self.given += 1;
    }

    /// Waits for the oldest piece of work; `None` if nothing was given that was not taken.
    pub fn take(&mut self) -> Option<P> {
        if self.waiting() == 0 {
            return None;
        }
        let number = self.taken;
        self.taken += 1;
        if self.workers.is_empty() {
            return self.own.pop_front();
        }
        let turn = number % self.workers.len();
        let done = self.workers[turn].lane.wait();
        if done.is_none()
            && let Some(thread) = self.workers[turn].thread.take()
        {
            thread.join();
        }
        done
    }
}

impl<J, P> Drop for Ordered<J, P> {
    fn drop(&mut self) {
        for worker in &self.workers {
            let mut state = worker.lane.state.lock();
            state.ended = true;
            state.wanted.clear();
            drop(state);
            worker.lane.changed.notify_all();
        }
        if std::thread::panicking() {
            return;
        }
        self.workers
            .iter_mut()
            .filter_map(|worker| worker.thread.take())
            .for_each(JoinHandle::join);
    }
}

impl<J, P> Default for Lane<J, P> {
    fn default() -> Lane<J, P> {
        let (wanted, done) = (VecDeque::new(), VecDeque::new());
        let state = State { wanted, done, ended: false, gone: false };
        Lane { state: Mutex::new(state), changed: Condvar::new() }
    }
}

impl<J, P> Lane<J, P> {
    /// Waits for what was done; `None` if no thread is there to do it.
    fn wait(&self) -> Option<P> {
        let mut state = self.state.lock();
        loop {
            let done = state.done.pop_front();
            if done.is_some() || state.gone {
                return done;
            }
            self.changed.wait(&mut state);
        }
    }
}

/// Says that a thread has left, also when it leaves in a panic.
struct Leaving<'l, J, P>(&'l Lane<J, P>);

impl<J, P> Leaving<'_, J, P> {
    fn run(self, work: &(dyn Fn(J) -> P + Send + Sync)) {
        let mut state = self.0.state.lock();
        loop {
            let Some(job) = state.wanted.pop_front() else {
                if state.ended {
                    return;
                }
                self.0.changed.wait(&mut state);
                continue;
            };
            drop(state);
            let done = work(job);
            state = self.0.state.lock();
            state.done.push_back(done);
            self.0.changed.notify_all();
        }
    }
}

impl<J, P> Drop for Leaving<'_, J, P> {
    fn drop(&mut self) {
        self.0.state.lock().gone = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_comes_in_the_order_of_what_was_asked_for() {
        for threads in [0, 1, 3] {
            let mut ordered = Ordered::start("square", threads, || (), |n: u64| n * n);
            assert_eq!(ordered.take(), None);
            let mut done = Vec::new();
            for n in 0..1_000 {
                if ordered.waiting() == 7 {
                    done.extend(ordered.take());
                }
                ordered.give(n);
            }
            done.extend(std::iter::from_fn(|| ordered.take()));
            assert_eq!(done, (0..1_000).map(|n| n * n).collect::<Vec<u64>>(), "{threads}");
        }
    }

    #[test]
    fn a_panic_comes_up_where_its_work_is_taken_and_what_is_not_taken_is_lost() {
        let mut ordered = Ordered::start("odd", 2, || (), |n: u32| assert!(n != 3, "three"));
        (0..8).for_each(|n| ordered.give(n));
        let caught = crate::thread::catch(|| while ordered.take().is_some() {});
        assert!(caught.unwrap_err().contains("three"));
    }
}
