//! The bridge of a started system: which queues it serves, and its threads.
//!
//! | thread | |
//! |---|---|
//! | one | looks which queues are bridge queues |
//! | one a queue | takes its messages |
//! | one | makes replies of outputs |
//!
//! A local queue is a bridge queue if its storage class names a group (`XCFGNAME`) and a member
//! (`XCFMNAME`): the member is the data store that clients of IMS Connect know this system by.
//!
//! Invariants:
//! 1. A queue has at most one thread that takes from it.
//! 2. Outputs that waited when the bridge ended go out when it is there again, also those of
//!    queues that are no bridge queues any more.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use control::Control;
use queue_manager::QueueManager;
use queues::Kind;
use seam::sync::Mutex;
use seam::thread::{JoinHandle, spawn};
use store::Store;

use crate::common::{Common, Options, Served, TPIPE};
use crate::intake::Intake;
use crate::outbound::{Arrivals, Outbound, watch};

/// How often bridge queues are looked for.
const LOOK: Duration = Duration::from_secs(1);

/// The bridge, at work. It ends when it is [closed](Bridge::close) or dropped.
pub struct Bridge<S: Store> {
    common: Arc<Common<S>>,
    arrivals: Arc<Arrivals>,
    threads: Vec<JoinHandle>,
}

impl<S: Store> Bridge<S> {
    /// Starts the bridge between two managers of one store.
    ///
    /// # Errors
    /// If there is no thread for it.
    pub fn start(
        manager: QueueManager<S>,
        control: Control<S>,
        options: Options,
    ) -> io::Result<Bridge<S>> {
        let common = Arc::new(Common::new(manager, control, options));
        let arrivals = Arc::new(Arrivals::default());
        let mut bridge = Bridge { common, arrivals, threads: Vec::new() };
        bridge.watch_what_waits();
        let outgo = Outbound::new(&bridge.common, &bridge.arrivals);
        bridge.threads.push(spawn("ims-bridge-out", move || outgo.run())?);
        let own = Supervisor {
            common: Arc::clone(&bridge.common),
            arrivals: Arc::clone(&bridge.arrivals),
            queues: Vec::new(),
        };
        bridge.threads.push(spawn("ims-bridge", move || own.run())?);
        Ok(bridge)
    }

    /// Has the outputs go out that waited at the start.
    fn watch_what_waits(&self) {
        let waiting = self.common.control.queues(Kind::Output);
        let own = waiting.into_iter().filter(|(queue, _)| queue.name.0.starts_with(&TPIPE));
        own.for_each(|(queue, _)| watch(&self.common, &self.arrivals, queue.name));
    }

    /// What operators should know.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.common.notes()
    }

    /// Ends it: a batch that is under way ends, nothing more is taken.
    pub fn close(self) {}
}

impl<S: Store> Drop for Bridge<S> {
    fn drop(&mut self) {
        self.common.end();
        self.arrivals.wake();
        self.threads.drain(..).for_each(JoinHandle::join);
    }
}

/// Looks which queues are bridge queues.
struct Supervisor<S: Store> {
    common: Arc<Common<S>>,
    arrivals: Arc<Arrivals>,
    queues: Vec<(Served, Arc<Mutex<bool>>, JoinHandle)>,
}

impl<S: Store> Supervisor<S> {
    fn run(mut self) {
        loop {
            self.look();
            if !self.common.gate.wait(LOOK) {
                break;
            }
        }
        self.queues.drain(..).for_each(|(_, _, thread)| thread.join());
    }

    fn look(&mut self) {
        let (ended, going): (Vec<_>, Vec<_>) =
            self.queues.drain(..).partition(|(_, is_over, _)| *is_over.lock());
        ended.into_iter().for_each(|(_, _, thread)| thread.join());
        self.queues = going;
        for served in self.common.all_served() {
            if !self.queues.iter().any(|(known, _, _)| known.queue == served.queue) {
                self.serve(served);
            }
        }
    }

    fn serve(&mut self, served: Served) {
        watch(&self.common, &self.arrivals, served.tpipe);
        let intake = Intake::new(&self.common, served.clone());
        let is_over = Arc::new(Mutex::new(false));
        let own = Arc::clone(&is_over);
        let thread = spawn("ims-bridge-in", move || {
            intake.run();
            *own.lock() = true;
        });
        match thread {
            Ok(thread) => self.queues.push((served, is_over, thread)),
            Err(error) => self.common.note(&served.queue, Some(format!("no thread: {error}"))),
        }
    }
}
