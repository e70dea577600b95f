//! A transaction manager in memory that keeps the contract: outputs belong to who took them.
//!
//! | transaction | does |
//! |---|---|
//! | ECHO | sends back what it got |
//! | TWICE | sends it back twice |
//! | NONE | sends nothing |
//! | LATE | sends nothing until [`Memory::finish_late`] |
//! | FAIL | is backed out |
//! | TALK | sends it back, and the conversation goes on |
//! | STUCK | waits in the call, until [`Memory::release`]; a fetch from a tpipe of that name, too |
//! | /DISPLAY | is a command |

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use otma::{
    Answer, CommitMode, Event, Identity, Input, Manager, Name, Outcome, Output, OutputId, Partner,
    Reason, Refusal, Segments, Settlement, SyncLevel, Ticket,
};
use parking_lot::{Condvar, Mutex};

struct Queued {
    output: Output,
    of: Ticket,
    taken: bool,
}

#[derive(Default)]
struct State {
    next: u64,
    tpipes: BTreeMap<Name, VecDeque<Queued>>,
    watchers: BTreeMap<Name, Arc<dyn Partner>>,
    /// Inputs whose outputs are confirmed, and how many outputs are still to come.
    confirming: BTreeMap<Ticket, (Input, usize, Arc<dyn Partner>)>,
    late: Vec<(Ticket, Input, Arc<dyn Partner>)>,
    received: Vec<String>,
    /// Calls that wait.
    stuck: usize,
    released: bool,
}

/// The manager.
#[derive(Default)]
pub(crate) struct Memory {
    state: Mutex<State>,
    changed: Condvar,
    /// Users with their passwords; without any, everybody is let in.
    pub(crate) users: BTreeMap<Name, Vec<u8>>,
    /// Calls may wait.
    pub(crate) waits: bool,
    /// Of all users.
    pub(crate) mark: AtomicU64,
}

fn refusal(reason: Reason, text: &str) -> Refusal {
    Refusal::new(reason, text)
}

impl State {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn output(&mut self, input: &Input) -> Output {
        Output {
            id: OutputId(self.number()),
            segments: input.segments.clone(),
            mod_name: input.mod_name,
            encoding: input.encoding,
            in_conversation: input.transaction.text() == "TALK",
            wants_answer: input.sync_level == SyncLevel::Confirm,
            more_queued: false,
            correlator: input.correlator.clone(),
        }
    }
}

impl Memory {
    /// What the manager was told, in words.
    pub(crate) fn received(&self) -> Vec<String> {
        self.state.lock().received.clone()
    }

    /// How many calls wait.
    pub(crate) fn stuck(&self) -> usize {
        self.state.lock().stuck
    }

    /// Lets calls that wait go on.
    pub(crate) fn release(&self) {
        self.state.lock().released = true;
        self.changed.notify_all();
    }

    /// Waits to be released.
    fn wait(&self) {
        let mut state = self.state.lock();
        state.stuck += 1;
        while !state.released {
            self.changed.wait(&mut state);
        }
    }

    /// Lets transactions that are late end.
    pub(crate) fn finish_late(&self) {
        let late = std::mem::take(&mut self.state.lock().late);
        for (ticket, input, partner) in late {
            self.run(ticket, &input, &partner, 1);
        }
    }

    /// Puts an output on a tpipe.
    pub(crate) fn queue(&self, tpipe: &str, text: &[u8]) {
        let tpipe = Name::new(tpipe).expect("a name");
        let mut segments = Segments::new();
        segments.push([0, 0], text).expect("short");
        let mut state = self.state.lock();
        let output = Output {
            id: OutputId(state.number()),
            segments,
            mod_name: Name::BLANK,
            encoding: otma::Encoding::Ascii,
            in_conversation: false,
            wants_answer: true,
            more_queued: false,
            correlator: None,
        };
        let queued = Queued { output, of: Ticket(0), taken: false };
        state.tpipes.entry(tpipe).or_default().push_back(queued);
        let watcher = state.watchers.get(&tpipe).cloned();
        drop(state);
        if let Some(watcher) = watcher {
            watcher.arrived(tpipe);
        }
    }

    fn run(&self, ticket: Ticket, input: &Input, partner: &Arc<dyn Partner>, times: usize) {
        for left in (0..times).rev() {
            let mut state = self.state.lock();
            let output = state.output(input);
            if input.mode == CommitMode::CommitThenSend {
                let queued = Queued { output, of: ticket, taken: false };
                state.tpipes.entry(input.tpipe).or_default().push_back(queued);
                let watcher = state.watchers.get(&input.tpipe).cloned();
                drop(state);
                if let Some(watcher) = watcher.filter(|_| !input.options.send_only) {
                    watcher.arrived(input.tpipe);
                }
            } else {
                let waits = output.wants_answer;
                if waits {
                    let waiting = (input.clone(), left, Arc::clone(partner));
                    state.confirming.insert(ticket, waiting);
                }
                drop(state);
                partner.event(ticket, Event::Output(output));
                if waits {
                    return;
                }
            }
        }
        partner.event(ticket, Event::Ended(Outcome::Committed));
    }

    fn first(&self, tpipe: Name, of: Option<Ticket>) -> Option<Output> {
        let mut state = self.state.lock();
        let queue = state.tpipes.get_mut(&tpipe)?;
        let fits = |queued: &Queued| !queued.taken && of.is_none_or(|of| of == queued.of);
        let at = queue.iter().position(fits)?;
        let more = queue.iter().filter(|queued| !queued.taken).count() > 1;
        let queued = &mut queue[at];
        queued.taken = true;
        Some(Output { more_queued: more, ..queued.output.clone() })
    }
}

impl Manager for Memory {
    fn data_store(&self, name: Name) -> Result<(), Refusal> {
        match name.text().as_str() {
            "HFST" => Ok(()),
            "STOPPED" => Err(refusal(Reason::DataStoreStopped, "it is stopped")),
            _ => Err(refusal(Reason::UnknownDataStore, "no such data store")),
        }
    }

    fn authenticate(&self, user: Name, group: Name, password: &[u8]) -> Result<Identity, Refusal> {
        let fits = self.users.get(&user).is_some_and(|known| known == password);
        if fits || self.users.is_empty() {
            Ok(Identity { user, group })
        } else {
            Err(refusal(Reason::NotAuthenticated, "no"))
        }
    }

    fn knows(&self, user: Name) -> bool {
        self.users.is_empty() || self.users.contains_key(&user)
    }

    fn user_mark(&self, user: Name) -> Option<u64> {
        self.users.contains_key(&user).then(|| self.mark.load(Ordering::SeqCst))
    }

    fn allows_anonymous(&self) -> bool {
        self.users.is_empty()
    }

    fn submit(&self, input: Input, partner: Arc<dyn Partner>) -> Result<Ticket, Refusal> {
        let ticket = Ticket(self.state.lock().number());
        let name = input.transaction.text();
        let known = ["ECHO", "TWICE", "NONE", "LATE", "FAIL", "TALK", "STUCK", "/DISPLAY", "/EXIT"];
        if !known.contains(&name.as_str()) {
            let text = "DFS064 DESTINATION CANNOT BE FOUND OR CREATED";
            return Err(refusal(Reason::UnknownTransaction, text));
        }
        if name == "STUCK" {
            self.wait();
        }
        partner.event(ticket, Event::Accepted);
        match name.as_str() {
            "ECHO" | "TALK" | "STUCK" => self.run(ticket, &input, &partner, 1),
            "TWICE" => self.run(ticket, &input, &partner, 2),
            "LATE" => self.state.lock().late.push((ticket, input, partner)),
            "FAIL" => {
                let why = refusal(Reason::ProgramFailed, "DFS555I TRAN FAIL ABEND U0778");
                partner.event(ticket, Event::Ended(Outcome::BackedOut(why)));
            }
            "/DISPLAY" => {
                let mut output = self.state.lock().output(&input);
                output.wants_answer = false;
                partner.event(ticket, Event::Output(output));
                partner.event(ticket, Event::Ended(Outcome::Answered));
            }
            "/EXIT" => partner.event(ticket, Event::Ended(Outcome::Answered)),
            _ => partner.event(ticket, Event::Ended(Outcome::Committed)),
        }
        Ok(ticket)
    }

    fn answer(&self, ticket: Ticket, answer: Answer) {
        let mut state = self.state.lock();
        state.received.push(format!("{answer:?}"));
        let Some((input, left, partner)) = state.confirming.remove(&ticket) else { return };
        drop(state);
        let outcome = match answer {
            Answer::Ack if left > 0 => return self.run(ticket, &input, &partner, left),
            Answer::Ack => Outcome::Committed,
            Answer::Nak { .. } => Outcome::BackedOut(refusal(Reason::OutputRefused, "DFS555I")),
        };
        partner.event(ticket, Event::Ended(outcome));
    }

    fn abandon(&self, ticket: Ticket) {
        let mut state = self.state.lock();
        state.received.push("abandoned".into());
        state.confirming.remove(&ticket);
        // An input of mode 0 goes on.
        let goes_on = |input: &Input| input.mode == CommitMode::CommitThenSend;
        state.late.retain(|(other, input, _)| *other != ticket || goes_on(input));
    }

    fn queued(&self, tpipe: Name) -> u64 {
        self.state.lock().tpipes.get(&tpipe).map_or(0, VecDeque::len) as u64
    }

    fn take(&self, tpipe: Name) -> Result<Option<Output>, Refusal> {
        Ok(self.first(tpipe, None))
    }

    fn fetch(&self, tpipe: Name, _: Identity) -> Result<Option<Output>, Refusal> {
        if tpipe.text() == "STUCK" {
            self.wait();
        }
        self.take(tpipe)
    }

    fn take_reply(&self, tpipe: Name, ticket: Ticket) -> Result<Option<Output>, Refusal> {
        Ok(self.first(tpipe, Some(ticket)))
    }

    fn settle(
        &self,
        tpipe: Name,
        output: OutputId,
        settlement: Settlement,
        done: Box<dyn FnOnce(Result<(), Refusal>) + Send>,
    ) -> Result<(), Refusal> {
        let mut state = self.state.lock();
        state.received.push(format!("{settlement:?}"));
        let nothing = || refusal(Reason::NothingWaiting, "nobody has taken that");
        let queue = state.tpipes.get_mut(&tpipe).ok_or_else(nothing)?;
        let owned = |queued: &Queued| queued.taken && queued.output.id == output;
        let at = queue.iter().position(owned).ok_or_else(nothing)?;
        if settlement == Settlement::Kept {
            queue[at].taken = false;
        } else {
            queue.remove(at);
        }
        drop(state);
        done(Ok(()));
        Ok(())
    }

    fn watch(&self, tpipe: Name, _: Name, partner: &Arc<dyn Partner>) {
        self.state.lock().watchers.insert(tpipe, Arc::clone(partner));
        if self.queued(tpipe) > 0 {
            partner.arrived(tpipe);
        }
    }

    fn unwatch(&self, tpipe: Name, partner: &Arc<dyn Partner>) {
        let mut state = self.state.lock();
        if state.watchers.get(&tpipe).is_some_and(|known| Arc::ptr_eq(known, partner)) {
            state.watchers.remove(&tpipe);
        }
    }

    fn may_wait(&self) -> bool {
        self.waits
    }
}
