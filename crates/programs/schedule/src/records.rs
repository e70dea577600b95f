//! Data sets of a program: clusters and paths of the catalog.
//!
//! | program | unit of work of a change |
//! |---|---|
//! | has sync points | that of its calls: CHKP, SYNC and the normal end commit, all else backs out |
//! | has none | its own ([`file_handler::own_units`]): durable at CLOSE, and after a second at the latest |
//!
//! Invariants:
//! 1. What a program with sync points changes in a data set is committed and backed out with what
//!    its calls change.
//! 2. The programs of a system share one catalog: who has what open, it knows. It is opened when
//!    the first of them opens a data set; no other program pays for it.
//! 3. New generations are members of their groups from the commit of a normal end on; at any other
//!    end they go.

use std::sync::Arc;
use std::time::Duration;

use dli::Session;
use file_handler::Clusters;
use file_handler::own_units::{self, Apart};
use file_handler::request_kind::nature;
use file_handler::{FileStatus, wire};
use region::Abend;
use seam::clock::Clock;
use seam::sync::{Condvar, Mutex};
use seam::thread::JoinHandle;
use store::Store;
use vsam::handler::Handlers;
use vsam::{Catalog, CatalogError};

use crate::error::{because, ended, refused};

/// How often writes of loads are committed; a program never waits for that.
const TICK: Duration = Duration::from_millis(500);

/// The catalog of a system, once a program needs it.
pub struct Catalogs<S: Store> {
    known: Mutex<Option<Catalog<S>>>,
    /// By whom the handlers of redirected clusters are reached.
    handlers: Option<Arc<dyn Handlers>>,
}

impl<S: Store> Default for Catalogs<S> {
    fn default() -> Catalogs<S> {
        Catalogs { known: Mutex::new(None), handlers: None }
    }
}

impl<S: Store> Catalogs<S> {
    /// The same for programs whose clusters may be redirected.
    #[must_use]
    pub fn with(handlers: Arc<dyn Handlers>) -> Catalogs<S> {
        Catalogs { known: Mutex::new(None), handlers: Some(handlers) }
    }

    /// The catalog, the same one every time.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn get(&self, store: &S, clock: &Arc<dyn Clock>) -> Result<Catalog<S>, CatalogError> {
        let mut known = self.known.lock();
        if let Some(catalog) = &*known {
            return Ok(catalog.clone());
        }
        let catalog = Catalog::open(store.clone(), Arc::clone(clock))?;
        if let Some(handlers) = &self.handlers {
            catalog.set_handlers(Arc::clone(handlers));
        }
        Ok(known.insert(catalog).clone())
    }
}

/// Files whose changes are units of work of their own, and who commits what loads leave open.
struct Lone<S: Store> {
    ticking: Arc<Ticking<S>>,
    ticker: Option<JoinHandle>,
}

struct Ticking<S: Store> {
    apart: Mutex<Apart<S>>,
    is_over: Mutex<bool>,
    changed: Condvar,
}

impl<S: Store> Lone<S> {
    fn begin(apart: Apart<S>) -> std::io::Result<Lone<S>> {
        let (apart, is_over, changed) = (Mutex::new(apart), Mutex::new(false), Condvar::new());
        let ticking = Arc::new(Ticking { apart, is_over, changed });
        let its = Arc::clone(&ticking);
        let ticker = seam::thread::spawn("file-commits", move || its.tick())?;
        Ok(Lone { ticking, ticker: Some(ticker) })
    }
}

impl<S: Store> Ticking<S> {
    fn tick(&self) {
        let mut is_over = self.is_over.lock();
        while !*is_over {
            self.changed.wait_for(&mut is_over, TICK);
            self.apart.lock().tick();
        }
    }
}

impl<S: Store> Drop for Lone<S> {
    fn drop(&mut self) {
        *self.ticking.is_over.lock() = true;
        self.ticking.changed.notify_all();
        if let Some(ticker) = self.ticker.take() {
            ticker.join();
        }
    }
}

/// The open files of a program.
enum Open<S: Store> {
    None,
    /// In the unit of work of its calls.
    OfCalls(Box<Clusters<S>>),
    Lone(Lone<S>),
}

/// A program's data sets.
pub(crate) struct Records<S: Store> {
    catalogs: Arc<Catalogs<S>>,
    /// Whether the program has no sync points.
    is_apart: bool,
    open: Open<S>,
}

impl<S: Store> Records<S> {
    pub(crate) fn new(catalogs: &Arc<Catalogs<S>>, is_apart: bool) -> Records<S> {
        Records { catalogs: Arc::clone(catalogs), is_apart, open: Open::None }
    }

    /// Answers a request for records.
    ///
    /// # Errors
    /// The abend of a program whose unit of work cannot go on.
    pub(crate) fn serve(
        &mut self,
        session: &mut Session<S>,
        (store, clock): (&S, &Arc<dyn Clock>),
        request: &[u8],
        answer: &mut Vec<u8>,
    ) -> Result<(), Abend> {
        if matches!(self.open, Open::None) {
            let catalog = self.catalogs.get(store, clock);
            let catalog = catalog.map_err(|error| because("U0844", &error))?;
            let clusters = Clusters::of_step(catalog);
            self.open = match self.is_apart {
                false => Open::OfCalls(Box::new(clusters)),
                true => {
                    let lone = Lone::begin(Apart::new(store.clone(), clusters));
                    Open::Lone(lone.map_err(|error| {
                        crate::error::abend(
                            "U0844",
                            format!("there is no thread for the commits of files: {error}"),
                        )
                    })?)
                }
            };
        }
        match &mut self.open {
            Open::None => Ok(()),
            Open::OfCalls(clusters) => {
                let unit = session.unit().map_err(ended)?;
                clusters.serve(unit, request, answer).map_err(|error| refused(&error))
            }
            Open::Lone(lone) => {
                let Some(nature) = nature(request) else {
                    wire::refuse(request, FileStatus::LOGIC, answer);
                    return Ok(());
                };
                let mut files = lone.ticking.apart.lock();
                if let Err(error) = files.serve(nature, request, answer) {
                    own_units::refuse(request, &error, answer);
                }
                Ok(())
            }
        }
    }

    /// Does something with all files.
    fn with<T>(&mut self, work: impl FnOnce(&mut Clusters<S>) -> T) -> Option<T> {
        match &mut self.open {
            Open::None => None,
            Open::OfCalls(clusters) => Some(work(clusters)),
            Open::Lone(lone) => Some(work(lone.ticking.apart.lock().clusters())),
        }
    }

    /// Closes all; what they have changed stays with the unit of work, or is durable if it was its
    /// own.
    pub(crate) fn close(&mut self) -> Result<(), Abend> {
        match &mut self.open {
            Open::None => Ok(()),
            Open::OfCalls(clusters) => {
                clusters.close_all();
                Ok(())
            }
            Open::Lone(lone) => lone.ticking.apart.lock().finish().map_err(|error| refused(&error)),
        }
    }

    /// The program ends well: its new generations join their groups in the unit of work that is
    /// committed next.
    pub(crate) fn join(&mut self, session: &mut Session<S>) -> Result<(), Abend> {
        let joined = self.with(|clusters| -> Result<(), Abend> {
            if !clusters.has_made_generations() {
                return Ok(());
            }
            let unit = session.unit().map_err(ended)?;
            clusters.join_generations(unit).map_err(|error| because("U0844", &error))
        });
        joined.unwrap_or(Ok(()))
    }

    /// That is committed.
    pub(crate) fn joined(&mut self, tell: fn(&str)) {
        if let Some(Err(error)) = self.with(Clusters::generations_joined) {
            tell(&format!("a generation that has left its group is not deleted: {error}"));
        }
        self.open = Open::None;
    }

    /// The program has failed: what it has made goes.
    pub(crate) fn give_up(&mut self, tell: fn(&str)) {
        if let Some(Err(error)) = self.with(Clusters::give_up_generations) {
            tell(&format!("a new generation of a step that has failed is left: {error}"));
        }
        self.open = Open::None;
    }
}
