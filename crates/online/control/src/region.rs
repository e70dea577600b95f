//! A region as the transaction manager sees it: something that takes one program after another.
//!
//! Invariants:
//! 1. What a region was given and has not ended is given back when the region goes.

use std::sync::Arc;

use otma::Name;
use queues::{Held, QueueName};
use resources::{Program, Transaction};
use seam::sync::Mutex;
use store::Store;

use crate::dispatch::{RegionId, Takes};
use crate::failed_input::Ending;
use crate::inner::{Inner, State};
use crate::outputs::AlternatePcb;
use crate::program::{Inputs, ProgramMessages};
use crate::run::{Run, give_all_back, take_all};

/// A region that takes message programs.
pub struct Region<S: Store> {
    inner: Arc<Inner<S>>,
    id: RegionId,
    takes: Takes,
    classes: Vec<u16>,
    pseudo_wait: bool,
}

/// A program that is to run, with an input that waits for it.
pub struct Scheduled<S: Store> {
    /// The transaction.
    pub transaction: Transaction,
    /// The program.
    pub program: Program,
    /// The PSB; it has the program's name.
    pub psb: Name,
    inner: Arc<Inner<S>>,
    run: Arc<Mutex<Run>>,
    region: RegionId,
    ended: bool,
}

/// An input, and what is scheduled for it.
type Found = (Held, Transaction, Program);

impl<S: Store> Region<S> {
    pub(crate) fn new(
        inner: &Arc<Inner<S>>,
        (takes, classes): (Takes, &[u16]),
        job: &str,
        pseudo_wait: bool,
    ) -> Region<S> {
        let now = inner.now_us();
        let classes = classes.to_vec();
        let of = (takes, classes.clone());
        let id = inner.state.lock().dispatch.add_region(of, job.to_owned(), now);
        Region { inner: Arc::clone(inner), id, takes, classes, pseudo_wait }
    }

    /// Its number.
    #[must_use]
    pub fn id(&self) -> RegionId {
        self.id
    }

    /// Waits until there is a program to run; `None` when the region is to end.
    #[must_use]
    pub fn next(&self) -> Option<Scheduled<S>> {
        let inner = &self.inner;
        let mut state = inner.state.lock();
        loop {
            let stopped = state.dispatch.regions.get(&self.id).is_none_or(|one| one.stopped);
            if stopped || state.shutting_down {
                return None;
            }
            let found = match self.takes {
                Takes::Expedited(program) => self.expedited(&mut state, program),
                _ => self.picked(&mut state),
            };
            let Some((held, transaction, program)) = found else {
                inner.work.wait(&mut state);
                continue;
            };
            state.statistics.schedules += 1;
            let generation = state.dispatch.programs.get(&program.name).map(|one| one.generation);
            let pseudo_wait = self.pseudo_wait;
            let run = Run { first: Some(held), generation, pseudo_wait, ..Run::default() };
            return Some(Scheduled {
                psb: program.name,
                transaction,
                program,
                inner: Arc::clone(inner),
                run: Arc::new(Mutex::new(run)),
                region: self.id,
                ended: false,
            });
        }
    }

    /// What is scheduled next by class.
    fn picked(&self, state: &mut State) -> Option<Found> {
        let inner = &self.inner;
        loop {
            let name = state.dispatch.pick(&self.classes, |name| inner.waiting(name))?;
            if inner.lacks_database(state, name) {
                continue;
            }
            let held = inner.queues.take(QueueName::input(name));
            inner.touch(state, name);
            let Some(held) = held else { continue };
            let definition = state.dispatch.transactions.get(&name);
            let definition = definition.map(|one| one.definition.clone());
            let now = inner.now_us();
            let program = state.dispatch.begin(self.id, name, now);
            let program = program.and_then(|name| state.dispatch.programs.get(&name));
            let program = program.map(|one| one.definition.clone());
            if let (Some(transaction), Some(program)) = (definition, program) {
                return Some((held, transaction, program));
            }
            // It was deleted in this moment; nothing else removes a ready one.
            inner.queues.put_back(held);
            state.dispatch.undefine(name);
        }
    }

    /// The next expedited input of a program.
    fn expedited(&self, state: &mut State, program: Name) -> Option<Found> {
        let inner = &self.inner;
        let known = state.dispatch.programs.get(&program).filter(|one| !one.stopped)?;
        let definition = known.definition.clone();
        let held = inner.queues.take(QueueName::expedited(program))?;
        let transaction = inner.expedited_as(state, program);
        let now = inner.now_us();
        state.dispatch.begin_program(self.id, (transaction.name, program), now);
        Some((held, transaction, definition))
    }

    /// Whether it takes expedited inputs.
    #[must_use]
    pub fn is_expedited(&self) -> bool {
        matches!(self.takes, Takes::Expedited(_))
    }

    /// The messages of a program that was scheduled, whose PSB has those alternate PCBs.
    #[must_use]
    pub fn messages(
        &self,
        scheduled: &Scheduled<S>,
        alternates: &[AlternatePcb],
    ) -> ProgramMessages<S> {
        let transaction = Some(scheduled.transaction.clone());
        let inputs = Inputs { region: Some(self.id), transaction, waits_for_commits: false };
        let (run, program) = (Arc::clone(&scheduled.run), scheduled.program.name);
        ProgramMessages::new(&self.inner, run, inputs, program, alternates)
    }

    /// The program has ended, and its last unit of work is committed or backed out. Decides what
    /// becomes of inputs that it did not get through.
    pub fn ended(&self, mut scheduled: Scheduled<S>, ending: &Ending) {
        scheduled.end(ending);
    }

    /// A handle that has the region end from another thread.
    #[must_use]
    pub fn stopper(&self) -> Box<dyn Fn() + Send + Sync> {
        let (inner, id) = (Arc::clone(&self.inner), self.id);
        Box::new(move || {
            if let Some(region) = inner.state.lock().dispatch.regions.get_mut(&id) {
                region.stopped = true;
            }
            inner.work.notify_all();
        })
    }
}

impl<S: Store> Drop for Region<S> {
    fn drop(&mut self) {
        let now = self.inner.now_us();
        let mut state = self.inner.state.lock();
        state.dispatch.end(self.id, now);
        state.dispatch.regions.remove(&self.id);
        if let Takes::Expedited(program) = self.takes
            && !state.dispatch.is_expedited(program)
        {
            drop(state);
            self.inner.refuse_expedited(program);
        }
    }
}

impl<S: Store> Scheduled<S> {
    fn end(&mut self, ending: &Ending) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let (first, inputs) = take_all(&self.run);
        let failed = matches!(ending, Ending::Abend { .. });
        let inner = &self.inner;
        match first {
            // It ended before it asked for its input: by an abend, that input is to blame as any.
            Some(held) if failed && inputs.is_empty() => match inner.open(&held) {
                Ok(envelope) => {
                    let ticket = inner.ticket_of(&held);
                    let own = vec![crate::inner::InHand { held, envelope, ticket }];
                    inner.decide(self.transaction.name, self.program.name, own, ending);
                }
                Err(error) => {
                    inner.notice(error.to_string());
                    inner.give_back(vec![held]);
                }
            },
            first => {
                inner.give_back(first.into_iter().collect());
                inner.decide(self.transaction.name, self.program.name, inputs, ending);
            }
        }
        let now = inner.now_us();
        let mut state = inner.state.lock();
        let took = state.dispatch.end(self.region, now);
        state.statistics.occupied_us = state.statistics.occupied_us.saturating_add(took);
        inner.touch(&mut state, self.transaction.name);
        drop(state);
        inner.work.notify_all();
    }
}

impl<S: Store> Drop for Scheduled<S> {
    fn drop(&mut self) {
        if !self.ended {
            give_all_back(&self.inner, &self.run);
            self.end(&Ending::Lost);
        }
    }
}
