//! The transaction manager, opened on a store.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use otma::{Name, Refusal};
use queues::{Figures, Kind, QueueName, Queues};
use resources::{Change, Definition, Kind as ResourceKind, Repository};
use seam::Seam;
use seam::sync::{Condvar, Mutex};
use store::{Store, Unit, UnitOptions};

use crate::batch::{BatchProgram, BatchStart};
use crate::commands::Answered;
use crate::commits::Commits;
use crate::conversation::Conversation;
use crate::dispatch::{RegionState, Takes};
use crate::envelope::Envelope;
use crate::error::ControlError;
use crate::inner::{Inner, State};
use crate::options::{Options, System};
use crate::profiles::{Profile, Profiles};
use crate::region::Region;
use crate::statistics::Statistics;
use crate::users;

/// The transaction manager of a system. A value is a handle: clones stand for the same.
pub struct Control<S: Store> {
    pub(crate) inner: Arc<Inner<S>>,
}

impl<S: Store> Clone for Control<S> {
    fn clone(&self) -> Control<S> {
        Control { inner: Arc::clone(&self.inner) }
    }
}

/// A message that could not be processed or delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// Its number.
    pub arrival: u64,
    /// The transaction or tpipe that it was for.
    pub queue: Name,
    /// When it became a dead letter, in milliseconds since 1970 UTC.
    pub put_at_ms: u64,
    /// Why.
    pub reason: String,
    /// Where it came from.
    pub client: Name,
    /// What it says.
    pub segments: otma::Segments,
}

impl<S: Store> Control<S> {
    /// Opens the transaction manager of a store: with everything that waits there.
    ///
    /// # Errors
    /// If the store fails, or holds what this release cannot read.
    pub fn open(
        store: &S,
        seam: &Seam,
        system: Arc<dyn System>,
        options: Options,
    ) -> Result<Control<S>, ControlError> {
        if options.cold_start {
            Queues::erase(store)?;
        }
        let clock = Arc::clone(&seam.clock);
        let queues = Queues::open(store, clock, options.limits, crate::envelope::user_of)?;
        let repository = Repository::open(store)?;
        let mut state = State::default();
        for (name, record) in queues.records(Kind::Conversation)? {
            match Conversation::decode(&record) {
                Some(one) => drop(state.conversations.insert(name, one)),
                None => {
                    let queue = format!("CONV {name}");
                    let what = "the record is wrong";
                    return Err(ControlError::Unreadable { queue, arrival: 0, what });
                }
            }
        }
        state.terminals.extend(queues.records(Kind::Terminal)?.into_iter().map(|(name, _)| name));
        let touched: Vec<(ResourceKind, Name)> = repository.all().keys().copied().collect();
        let users = users::set_of(store)?;
        let inner = Inner {
            store: store.clone(),
            queues,
            repository,
            users,
            profiles: Profiles::open(store)?,
            has_users: AtomicBool::new(users::are_there(store, users)?),
            clock: Arc::clone(&seam.clock),
            entropy: Arc::clone(&seam.entropy),
            options,
            system,
            commits: Arc::new(Commits::default()),
            state: Mutex::new(state),
            work: Condvar::new(),
            answers: Condvar::new(),
        };
        inner.refresh(&touched);
        inner.stop_again();
        inner.resume_conversations()?;
        Ok(Control { inner: Arc::new(inner) })
    }

    /// Changes resources, all of them or none; durable on return. Answers how many it touched.
    ///
    /// # Errors
    /// The first change that cannot be made, or a failure of the store.
    pub fn apply(&self, changes: &[Change]) -> Result<usize, ControlError> {
        self.inner.apply(changes)
    }

    /// Resources of a kind whose names fit a mask (`*` any characters, `%` one), by name.
    #[must_use]
    pub fn resources(&self, kind: ResourceKind, mask: &str) -> Vec<Definition> {
        self.inner.repository.list(kind, mask)
    }

    /// A region that takes programs of transactions of these classes, in their order. With
    /// `pseudo_wait` its programs stay for more input as long as nobody else needs the region.
    #[must_use]
    pub fn region(&self, classes: &[u16], job: &str, pseudo_wait: bool) -> Region<S> {
        Region::new(&self.inner, (Takes::Classes, classes), job, pseudo_wait)
    }

    /// A region that takes the expedited inputs of one program, which stays for more.
    #[must_use]
    pub fn expedited_region(&self, program: Name, job: &str) -> Region<S> {
        Region::new(&self.inner, (Takes::Expedited(program), &[]), job, false)
    }

    /// A batch message program begins, which somebody has started as a job of that name. It is over
    /// when what this answers is dropped, behind its messages.
    ///
    /// # Errors
    /// If there is no such transaction, or it is stopped, or the system shuts down.
    pub fn batch_program(
        &self,
        program: Name,
        job: &str,
        start: BatchStart,
    ) -> Result<BatchProgram<S>, Refusal> {
        BatchProgram::begin(&self.inner, program, job, start)
    }

    /// The programs that wait for input now, in some region.
    #[must_use]
    pub fn waiting_programs(&self) -> Vec<Name> {
        let state = self.inner.state.lock();
        let waits = |region: &&RegionState| region.waits;
        let waiting = state.dispatch.regions.values().filter(waits);
        let mut programs: Vec<Name> = waiting.filter_map(|one| Some(one.runs?.1)).collect();
        programs.sort_unstable();
        programs.dedup();
        programs
    }

    /// A program has changed: where it waits for input it ends, and is scheduled again as it is
    /// now.
    pub fn renew(&self, program: Name) {
        self.inner.state.lock().dispatch.renew(program);
        self.inner.work.notify_all();
    }

    /// Defines a user, or gives one another password.
    ///
    /// # Errors
    /// If the store fails.
    pub fn put_user(&self, user: Name, password: &[u8]) -> Result<(), ControlError> {
        self.inner.put_user(user, password)
    }

    /// Removes a user; answers whether there was one.
    ///
    /// # Errors
    /// If the store fails.
    pub fn remove_user(&self, user: Name) -> Result<bool, ControlError> {
        self.inner.remove_user(user)
    }

    /// Protects a resource, or says anew who may use it; durable on return.
    ///
    /// # Errors
    /// If the store fails.
    pub fn protect(&self, profile: &Profile) -> Result<(), ControlError> {
        self.inner.profiles.put(&self.inner.store, profile)
    }

    /// Protects a resource no more; answers whether it was protected.
    ///
    /// # Errors
    /// If the store fails.
    pub fn unprotect(&self, class: Name, resource: Name) -> Result<bool, ControlError> {
        self.inner.profiles.remove(&self.inner.store, class, resource)
    }

    /// What is protected, by class and resource.
    #[must_use]
    pub fn profiles(&self) -> Vec<Profile> {
        self.inner.profiles.all()
    }

    /// What changes with a user's password, and with nothing else: by it a session that was begun
    /// with the password is known to be over. `None`: there is no such user.
    #[must_use]
    pub fn user_mark(&self, user: Name) -> Option<u64> {
        self.inner.user_mark(user)
    }

    /// Whether there was any user since the start: nobody needs a name before.
    #[must_use]
    pub fn has_users(&self) -> bool {
        self.inner.has_users.load(std::sync::atomic::Ordering::SeqCst)
    }

    /// Makes a terminal known, so that programs can send to it.
    pub fn terminal(&self, name: Name) {
        self.inner.state.lock().terminals.insert(name);
    }

    /// Carries out an operator's command of type 1, such as `/DIS TRAN PART`; `terminal` is where
    /// it comes from, blank if from nowhere.
    #[must_use]
    pub fn command(&self, text: &str, terminal: Name) -> Answered {
        self.inner.command(text, terminal)
    }

    /// What is known of a queue.
    #[must_use]
    pub fn queue(&self, queue: QueueName) -> Figures {
        self.inner.queues.figures(queue)
    }

    /// The queues of a kind that have something.
    #[must_use]
    pub fn queues(&self, kind: Kind) -> Vec<(QueueName, Figures)> {
        self.inner.queues.all(kind)
    }

    /// Dead letters of a transaction or tpipe, at most `most`, the oldest first.
    ///
    /// # Errors
    /// If the store fails.
    pub fn dead_letters(&self, of: Name, most: usize) -> Result<Vec<DeadLetter>, ControlError> {
        let mut letters = Vec::new();
        self.inner.queues.browse(
            QueueName::dead_letter(of),
            most,
            |arrival, put_at_ms, bytes| {
                letters.extend(Envelope::decode(&bytes).map(|envelope| {
                    let Envelope { reason, client, segments, .. } = envelope;
                    DeadLetter { arrival, queue: of, put_at_ms, reason, client, segments }
                }));
            },
        )?;
        Ok(letters)
    }

    /// Removes a dead letter; answers whether it was there.
    ///
    /// # Errors
    /// If the store fails.
    pub fn discard(&self, of: Name, arrival: u64) -> Result<bool, ControlError> {
        let queues = &self.inner.queues;
        let Some(held) = queues.take_arrival(QueueName::dead_letter(of), arrival) else {
            return Ok(false);
        };
        let removed = self.inner.store.begin(UnitOptions::default()).map_err(ControlError::from);
        let removed = removed.and_then(|mut unit| {
            queues.remove(&mut unit, &held)?;
            unit.commit()?;
            Ok(())
        });
        match removed {
            Ok(()) => queues.gone(held),
            Err(error) => {
                queues.put_back(held);
                return Err(error);
            }
        }
        Ok(true)
    }

    /// Looks for what has expired. To be called every second or so.
    pub fn tick(&self) {
        for held in self.inner.queues.take_expired(1_000) {
            self.inner.expire(held);
        }
    }

    /// What operators are to be told, since this was last asked.
    #[must_use]
    pub fn take_notices(&self) -> Vec<String> {
        let mut notices = std::mem::take(&mut self.inner.state.lock().notices);
        notices.extend(self.inner.queues.take_warnings());
        notices
    }

    /// No more inputs are taken in, and regions end after their present messages.
    pub fn shut_down(&self) {
        self.inner.state.lock().shutting_down = true;
        self.inner.work.notify_all();
    }

    /// Whether no region runs a program, and no commit is on its way.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.inner.state.lock().dispatch.regions.values().all(|region| region.runs.is_none())
    }

    /// Figures for metrics.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let state = self.inner.state.lock();
        let mut figures = state.statistics.clone();
        figures.regions = state.dispatch.regions.len() as u64;
        let runs = |region: &&RegionState| region.runs.is_some() && !region.waits;
        figures.occupied = state.dispatch.regions.values().filter(runs).count() as u64;
        figures.conversations = state.conversations.len() as u64;
        drop(state);
        figures.queues = self.inner.queues.totals();
        let inputs = self.inner.queues.all(Kind::Input);
        let oldest = inputs.iter().filter_map(|(_, figures)| figures.oldest_ms).min();
        let now = self.inner.now_ms();
        figures.oldest_input_ms = oldest.map_or(0, |oldest| now.saturating_sub(oldest));
        figures
    }
}

impl<S: Store> Inner<S> {
    /// Conversations whose input waits have the turn of their program.
    fn resume_conversations(&self) -> Result<(), ControlError> {
        let transactions: Vec<Name> = {
            let state = self.state.lock();
            let of = state.dispatch.transactions.values().map(|one| &one.definition);
            of.filter(|one| one.conversation).map(|one| one.name).collect()
        };
        for transaction in transactions {
            let queue = QueueName::input(transaction);
            self.queues.browse(queue, usize::MAX, |_, _, bytes| {
                let Some(envelope) = Envelope::decode(&bytes) else { return };
                let mut state = self.state.lock();
                let user = envelope.identity.user;
                let new = Conversation::new(transaction, user);
                let one = state.conversations.entry(envelope.terminal).or_insert(new);
                if one.owner.is_none() {
                    one.is_now_of(user);
                }
                one.busy = true;
            })?;
        }
        Ok(())
    }
}
