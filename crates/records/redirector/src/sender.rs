//! Who sends changes on: a thread beside the programs, and a caller that asks for it.
//!
//! ```text
//!  look --a batch--> on its way --the handler has it--> settled --> look
//!                        |
//!                        +--lost--> wait, then the same batch again
//! ```
//!
//! Invariants:
//! 1. A batch is sent until the handler has it, and settled only then; the next one comes after it.
//! 2. A handler that cannot be reached is tried again, later each time, and keeps no other waiting
//!    for longer than it takes to find out.
//! 3. Where nothing is redirected the thread looks at one name of the store a second.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use base::{Code, Coded};
use seam::sync::{Condvar, Mutex};
use seam::thread::JoinHandle;
use store::Store;
use thiserror::Error;
use vsam::handler::{Described, Handler, HandlerError};
use vsam::{Catalog, CatalogError, Entry, ObjectNumber, RecordOwner};

/// How often the thread looks for changes.
const PERIOD: Duration = Duration::from_millis(200);
/// The same while nothing is redirected.
const IDLE: Duration = Duration::from_secs(1);
/// How many periods pass, at most, until a handler that failed is tried again.
const PATIENCE_MAX: u32 = 150;

/// Why changes were not sent on. They stay where they are.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SendError {
    /// The handler.
    #[error("changes of {name} were not sent on: {error}")]
    Handler {
        /// The cluster.
        name: String,
        /// Why not.
        error: HandlerError,
    },
    /// No handlers are known here, or the cluster is not redirected.
    #[error("{0} is not redirected to a handler that is known here")]
    NotRedirected(String),
    /// The catalog.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
}

impl Coded for SendError {
    fn code(&self) -> Code {
        match self {
            SendError::Handler { .. } => Code("HFRD001"),
            SendError::NotRedirected(_) => Code("HFRD002"),
            SendError::Catalog(error) => error.code(),
        }
    }

    fn remedy(&self) -> String {
        match self {
            SendError::Handler { error: HandlerError::Gap { .. }, .. } => {
                "What it has is older than what was sent: redirect it anew, and resend all.".into()
            }
            SendError::Handler { name, .. } => format!(
                "See that it can be reached; `holdfast redirect resend {name}` sends them then."
            ),
            SendError::NotRedirected(_) => "`holdfast redirect list` says which are.".into(),
            SendError::Catalog(error) => error.remedy(),
        }
    }
}

/// What was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Batches.
    pub batches: u64,
    /// Changes in them.
    pub changes: u64,
}

/// Sends what there is to send of one cluster. `goes_on` hears what was sent, and says whether
/// more is to be.
///
/// # Errors
/// Why it was not sent.
pub fn send<S: Store>(
    catalog: &Catalog<S>,
    entry: &Entry,
    goes_on: &mut dyn FnMut(Sent) -> bool,
) -> Result<Sent, SendError> {
    let none = || SendError::NotRedirected(entry.name.to_string());
    let described = Described::of(entry).ok_or_else(none)?;
    let handlers = catalog.handlers().ok_or_else(none)?;
    let (unsent, mut sent, mut link) = (catalog.unsent()?, Sent::default(), None);
    // The thread that has it sends what there is.
    let Some(_turn) = unsent.turn(entry.number)? else { return Ok(sent) };
    let failed = |error: HandlerError| {
        // A caller that asks finds out whether it can be reached. What it says then is kept for
        // them.
        if !matches!(error, HandlerError::Lost(_)) {
            // The error is told in any case.
            let _ = unsent.note_failure(entry.number, &error.to_string());
        }
        SendError::Handler { name: entry.name.to_string(), error }
    };
    while let Some(batch) = unsent.next_batch(entry.number)? {
        let link: &mut Box<dyn Handler> = match &mut link {
            Some(link) => link,
            none => none.insert(handlers.connect(&described).map_err(failed)?),
        };
        let source = described.redirection.source;
        link.apply(source, batch.number, &batch.changes).map_err(failed)?;
        unsent.settle(entry.number, &batch)?;
        sent.batches += 1;
        sent.changes += batch.changes.len() as u64;
        if !goes_on(sent) {
            break;
        }
    }
    Ok(sent)
}

/// Sends what there is to send of all clusters, at the end of the work of a process; `complain`
/// hears what stays behind.
pub fn send_rest<S: Store>(
    store: &S,
    catalog: &dyn Fn() -> Option<Catalog<S>>,
    complain: impl Fn(&str),
) {
    let Ok(Some(_)) = store.set(vsam::UNSENT_SET) else { return };
    let Some(catalog) = catalog() else { return };
    let redirected = match catalog.redirected() {
        Ok(redirected) => redirected,
        Err(error) => return complain(&error.to_string()),
    };
    for entry in redirected.iter().filter(|entry| is_sent_on(entry)) {
        if let Err(error) = send(&catalog, entry, &mut |_| true) {
            complain(&format!("{error}; they are kept, and sent later"));
        }
    }
}

/// Whether changes of a cluster are sent on.
fn is_sent_on(entry: &Entry) -> bool {
    entry.redirection.as_ref().is_some_and(|redirection| redirection.owner == RecordOwner::Vsam)
}

/// Hears what goes wrong, once until it goes well again.
pub type Complain = fn(&str);

#[derive(Default)]
struct State {
    stops: bool,
}

#[derive(Default)]
struct Signal {
    state: Mutex<State>,
    changed: Condvar,
}

impl Signal {
    fn stops(&self) -> bool {
        self.state.lock().stops
    }

    /// Waits; `true` if it is time to stop.
    fn wait(&self, time: Duration) -> bool {
        let mut state = self.state.lock();
        if !state.stops {
            self.changed.wait_for(&mut state, time);
        }
        state.stops
    }
}

/// A thread that sends changes on.
pub struct Sender {
    signal: Arc<Signal>,
    thread: Option<JoinHandle>,
}

impl Sender {
    /// Starts it. The catalog is opened when something was redirected.
    ///
    /// # Errors
    /// If there is no other thread.
    pub fn start<S: Store>(
        store: S,
        catalog: Box<dyn Fn() -> Option<Catalog<S>> + Send>,
        complain: Complain,
    ) -> io::Result<Sender> {
        let signal = Arc::new(Signal::default());
        let its = Arc::clone(&signal);
        let body = move || {
            let mut rounds = Rounds { store, catalog, complain, waits: BTreeMap::new() };
            loop {
                let time = if rounds.round(&its) { PERIOD } else { IDLE };
                if its.wait(time) {
                    break;
                }
            }
        };
        let thread = seam::thread::spawn("redirector", body)?;
        Ok(Sender { signal, thread: Some(thread) })
    }

    /// Ends it, behind the batch that is on its way.
    pub fn close(mut self) {
        self.stop();
    }

    fn stop(&mut self) {
        self.signal.state.lock().stops = true;
        self.signal.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            thread.join();
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A cluster whose handler failed.
struct Waits {
    rounds: u32,
    left: u32,
    warned: bool,
}

struct Rounds<S: Store> {
    store: S,
    catalog: Box<dyn Fn() -> Option<Catalog<S>> + Send>,
    complain: Complain,
    waits: BTreeMap<ObjectNumber, Waits>,
}

impl<S: Store> Rounds<S> {
    /// Sends what there is; whether anything is redirected.
    fn round(&mut self, signal: &Signal) -> bool {
        let Ok(Some(_)) = self.store.set(vsam::UNSENT_SET) else { return false };
        let Some(catalog) = (self.catalog)() else { return false };
        let Ok(redirected) = catalog.redirected() else { return true };
        for entry in &redirected {
            if !is_sent_on(entry) || self.is_waiting(entry.number) {
                continue;
            }
            match send(&catalog, entry, &mut |_| !signal.stops()) {
                Ok(_) => {
                    self.waits.remove(&entry.number);
                }
                Err(error) => self.note(entry.number, &error),
            }
            if signal.stops() {
                break;
            }
        }
        !redirected.is_empty()
    }

    fn is_waiting(&mut self, number: ObjectNumber) -> bool {
        let Some(waits) = self.waits.get_mut(&number) else { return false };
        waits.left = waits.left.saturating_sub(1);
        waits.left > 0
    }

    fn note(&mut self, number: ObjectNumber, error: &SendError) {
        let fresh = Waits { rounds: 1, left: 0, warned: false };
        let waits = self.waits.entry(number).or_insert(fresh);
        waits.rounds = (waits.rounds * 2).min(PATIENCE_MAX);
        waits.left = waits.rounds;
        if !std::mem::replace(&mut waits.warned, true) {
            (self.complain)(&error.to_string());
        }
    }
}
