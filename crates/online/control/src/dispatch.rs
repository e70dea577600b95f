//! Who is scheduled next: transactions that have work, regions that look for some.
//!
//! | rule | |
//! |---|---|
//! | a region's classes count in their order, within a class the priority, within that who waits longest | |
//! | LCT inputs raise a transaction to its limit priority, until none wait | priority 0 is not scheduled |
//! | SCHDTYPE(SERIAL), SERIAL(Y), PARLIM(65535): one region at a time | MAXRGN: at most so many |
//! | PARLIM(n): another region for more than n inputs for each that it has | |
//!
//! Invariants:
//! 1. A transaction is among the ready ones if and only if it has waiting inputs, is not stopped,
//!    nor is its program, that is no batch message program, its priority is not 0, and no database
//!    of its program is known to be missing.
//! 2. The regions that a transaction, or a program, has are counted exactly.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use otma::Name;
use resources::{Mode, Program, ScheduleType, Transaction};

/// One region at a time.
const LONE: u16 = 65_535;

/// A region that takes message programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegionId(pub u32);

type Ready = (u16, u8, u64, Name);

/// What is known of a transaction while the system runs.
#[derive(Clone, Debug)]
pub(crate) struct TransactionState {
    pub(crate) definition: Transaction,
    pub(crate) regions: u16,
    /// Nothing is queued any more.
    pub(crate) no_queuing: bool,
    /// Nothing is scheduled any more.
    pub(crate) no_scheduling: bool,
    /// The database without which its program is not scheduled.
    pub(crate) missing: Option<String>,
    pub(crate) failures: u32,
    pub(crate) enqueued: u64,
    /// Its priority is that of the limit.
    limit: bool,
    ready: Option<Ready>,
}

/// What is known of a program while the system runs.
#[derive(Clone, Debug)]
pub(crate) struct ProgramState {
    pub(crate) definition: Program,
    pub(crate) regions: u16,
    pub(crate) stopped: bool,
    pub(crate) failures: u32,
    /// How often it, or one of its transactions, has changed: who waits for input with an older
    /// one ends.
    pub(crate) generation: u64,
}

/// What a region takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Programs of transactions, by class.
    #[default]
    Classes,
    /// Nothing: a batch message program runs in it.
    Batch,
    /// Expedited inputs of one program.
    Expedited(Name),
}

/// A region, and what it does.
#[derive(Clone, Debug, Default)]
pub(crate) struct RegionState {
    pub(crate) takes: Takes,
    pub(crate) classes: Vec<u16>,
    pub(crate) job: String,
    /// The transaction and program that it runs.
    pub(crate) runs: Option<(Name, Name)>,
    /// Its program waits for input.
    pub(crate) waits: bool,
    pub(crate) since_us: u64,
    pub(crate) stopped: bool,
    /// The program gets no further input; the region stays.
    pub(crate) releases: bool,
    /// A batch message program is to end at its next call.
    pub(crate) is_ended: Arc<AtomicBool>,
}

/// Who is scheduled next.
#[derive(Debug, Default)]
pub(crate) struct Dispatch {
    pub(crate) transactions: BTreeMap<Name, TransactionState>,
    pub(crate) programs: BTreeMap<Name, ProgramState>,
    pub(crate) regions: BTreeMap<RegionId, RegionState>,
    /// The program of each routing code.
    pub(crate) routing_codes: BTreeMap<Name, Name>,
    ready: BTreeSet<Ready>,
    turn: u64,
    next_region: u32,
}

impl Dispatch {
    /// A transaction is defined, or is defined otherwise.
    pub(crate) fn define(&mut self, mut definition: Transaction) {
        let name = definition.name;
        if definition.conversation {
            // Earlier releases let it be defined otherwise.
            definition.mode = Mode::Single;
        }
        match self.transactions.get_mut(&name) {
            Some(state) => state.definition = definition,
            None => {
                let state = TransactionState {
                    definition,
                    regions: 0,
                    no_queuing: false,
                    no_scheduling: false,
                    missing: None,
                    failures: 0,
                    enqueued: 0,
                    limit: false,
                    ready: None,
                };
                self.transactions.insert(name, state);
            }
        }
    }

    /// A transaction is defined no more.
    pub(crate) fn undefine(&mut self, name: Name) {
        if let Some(TransactionState { ready: Some(ready), .. }) = self.transactions.remove(&name) {
            self.ready.remove(&ready);
        }
    }

    pub(crate) fn define_program(&mut self, definition: Program) {
        let name = definition.name;
        match self.programs.get_mut(&name) {
            Some(state) => state.definition = definition,
            None => {
                let state = ProgramState {
                    definition,
                    regions: 0,
                    stopped: false,
                    failures: 0,
                    generation: 0,
                };
                self.programs.insert(name, state);
            }
        }
    }

    pub(crate) fn add_region(
        &mut self,
        (takes, classes): (Takes, Vec<u16>),
        job: String,
        now_us: u64,
    ) -> RegionId {
        self.next_region += 1;
        let id = RegionId(self.next_region);
        let state = RegionState { takes, classes, job, since_us: now_us, ..RegionState::default() };
        self.regions.insert(id, state);
        id
    }

    /// A transaction has so many waiting inputs now, or something else about it has changed.
    pub(crate) fn touch(&mut self, name: Name, waiting: u64) {
        let Some(state) = self.transactions.get_mut(&name) else { return };
        let of = &state.definition;
        if waiting == 0 {
            state.limit = false;
        } else if waiting >= u64::from(of.limit_count) && of.limit_count != LONE {
            state.limit = true;
        }
        let priority = if state.limit { of.limit_priority } else { of.normal_priority };
        // Nobody schedules a batch message program but whoever starts it.
        let cannot = |one: &ProgramState| one.stopped || one.definition.batch;
        let program_stopped = self.programs.get(&of.program).is_none_or(cannot);
        let may_run = !state.no_scheduling && !program_stopped && state.missing.is_none();
        let is_ready = waiting > 0 && may_run && priority.0 > 0;
        let (class, rank) = (of.class.0, u8::MAX - priority.0);
        let next = is_ready.then(|| match state.ready {
            Some(old) if (old.0, old.1) == (class, rank) => old,
            _ => {
                self.turn += 1;
                (class, rank, self.turn, name)
            }
        });
        if next != state.ready {
            if let Some(old) = state.ready.take() {
                self.ready.remove(&old);
            }
            self.ready.extend(next);
            state.ready = next;
        }
    }

    /// A program was stopped or started: its transactions have to be touched.
    pub(crate) fn transactions_of(&self, program: Name) -> Vec<Name> {
        let of = self.transactions.iter();
        of.filter(|(_, one)| one.definition.program == program).map(|(name, _)| *name).collect()
    }

    /// The transaction that a region with those classes is to be given.
    pub(crate) fn pick(&self, classes: &[u16], waiting: impl Fn(Name) -> u64) -> Option<Name> {
        classes.iter().find_map(|class| {
            let from = (*class, 0, 0, Name([0; 8]));
            let to = (class.saturating_add(1), 0, 0, Name([0; 8]));
            let mut of_class = self.ready.range(from..to).map(|ready| ready.3);
            of_class.find(|name| self.may_have_a_region(*name, waiting(*name)))
        })
    }

    fn may_have_a_region(&self, name: Name, waiting: u64) -> bool {
        let Some(state) = self.transactions.get(&name) else { return false };
        let of = &state.definition;
        let Some(program) = self.programs.get(&of.program) else { return false };
        let serial = program.definition.schedule_type == ScheduleType::Serial;
        if waiting == 0 || (serial && program.regions > 0) {
            return false;
        }
        if state.regions == 0 {
            return true;
        }
        let lone = of.serial || serial || of.parallel_limit == LONE;
        let full = of.regions_max > 0 && state.regions >= of.regions_max;
        !lone && !full && waiting > u64::from(of.parallel_limit) * u64::from(state.regions)
    }

    /// A region is given a transaction.
    pub(crate) fn begin(&mut self, region: RegionId, name: Name, now_us: u64) -> Option<Name> {
        let state = self.transactions.get_mut(&name)?;
        state.regions += 1;
        // The next of the same priority has its turn first.
        if let Some(old) = state.ready.take() {
            self.ready.remove(&old);
            self.turn += 1;
            let next = (old.0, old.1, self.turn, name);
            self.ready.insert(next);
            state.ready = Some(next);
        }
        let program = state.definition.program;
        if let Some(program) = self.programs.get_mut(&program) {
            program.regions += 1;
        }
        if let Some(region) = self.regions.get_mut(&region) {
            region.runs = Some((name, program));
            region.since_us = now_us;
        }
        Some(program)
    }

    /// A region begins with a program that no transaction was picked for.
    pub(crate) fn begin_program(
        &mut self,
        region: RegionId,
        (transaction, program): (Name, Name),
        now_us: u64,
    ) {
        if let Some(transaction) = self.transactions.get_mut(&transaction) {
            transaction.regions += 1;
        }
        if let Some(program) = self.programs.get_mut(&program) {
            program.regions += 1;
        }
        if let Some(region) = self.regions.get_mut(&region) {
            region.runs = Some((transaction, program));
            region.since_us = now_us;
        }
    }

    /// Whether a region waits for expedited inputs of a program, or processes one.
    pub(crate) fn is_expedited(&self, program: Name) -> bool {
        let serves = |region: &RegionState| region.takes == Takes::Expedited(program);
        self.regions.values().any(|region| serves(region) && !region.stopped)
    }

    /// A program has changed: those who wait for its input end.
    pub(crate) fn renew(&mut self, program: Name) {
        if let Some(program) = self.programs.get_mut(&program) {
            program.generation += 1;
        }
    }

    /// A region has ended what it was given; answers how long it was occupied.
    pub(crate) fn end(&mut self, region: RegionId, now_us: u64) -> u64 {
        let Some(state) = self.regions.get_mut(&region) else { return 0 };
        let Some((transaction, program)) = state.runs.take() else { return 0 };
        let took = now_us.saturating_sub(state.since_us);
        state.since_us = now_us;
        (state.waits, state.releases) = (false, false);
        if let Some(transaction) = self.transactions.get_mut(&transaction) {
            transaction.regions = transaction.regions.saturating_sub(1);
        }
        if let Some(program) = self.programs.get_mut(&program) {
            program.regions = program.regions.saturating_sub(1);
        }
        took
    }
}

#[cfg(test)]
mod tests {
    use resources::{Class, Priority};

    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text).expect("a name")
    }

    fn dispatch(of: &[(&str, u16, u8)]) -> Dispatch {
        let mut dispatch = Dispatch::default();
        for (text, class, priority) in of {
            let mut one = Transaction::new(name(text));
            one.program = name(&format!("P{text}"));
            one.class = Class(*class);
            one.normal_priority = Priority(*priority);
            one.limit_priority = Priority(14);
            dispatch.define_program(Program::new(one.program));
            dispatch.define(one);
        }
        dispatch
    }

    #[test]
    fn classes_come_in_their_order_then_priority_then_who_waits_longest() {
        let mut dispatch = dispatch(&[("A", 1, 5), ("B", 1, 9), ("C", 2, 14), ("D", 1, 5)]);
        for one in ["D", "A", "B", "C"] {
            dispatch.touch(name(one), 1);
        }
        assert_eq!(dispatch.pick(&[1, 2], |_| 1), Some(name("B")));
        assert_eq!(dispatch.pick(&[2, 1], |_| 1), Some(name("C")));
        assert_eq!(dispatch.pick(&[3], |_| 1), None);
        dispatch.touch(name("B"), 0);
        assert_eq!(dispatch.pick(&[1], |_| 1), Some(name("D")));
        let region = dispatch.add_region((Takes::Classes, vec![1]), "R".into(), 0);
        dispatch.begin(region, name("D"), 0);
        assert_eq!(dispatch.pick(&[1], |_| 1), Some(name("A")), "D has its region");
        dispatch.end(region, 0);
        assert_eq!(dispatch.pick(&[1], |_| 1), Some(name("A")), "A has waited longer");
    }

    #[test]
    fn limits_raise_the_priority_until_nothing_waits() {
        let mut dispatch = dispatch(&[("A", 1, 0), ("B", 1, 9)]);
        if let Some(state) = dispatch.transactions.get_mut(&name("A")) {
            state.definition.limit_count = 3;
        }
        dispatch.touch(name("A"), 2);
        assert_eq!(dispatch.pick(&[1], |_| 2), None, "priority 0 is not scheduled");
        dispatch.touch(name("B"), 1);
        dispatch.touch(name("A"), 3);
        assert_eq!(dispatch.pick(&[1], |_| 3), Some(name("A")));
        dispatch.touch(name("A"), 1);
        assert_eq!(dispatch.pick(&[1], |_| 1), Some(name("A")), "the limit holds");
        dispatch.touch(name("A"), 0);
        dispatch.touch(name("A"), 1);
        assert_eq!(dispatch.pick(&[1], |_| 1), Some(name("B")));
    }

    #[test]
    fn parallel_limits_decide_how_many_regions_there_are() {
        let mut dispatch = dispatch(&[("A", 1, 5)]);
        let first = dispatch.add_region((Takes::Classes, vec![1]), "R".into(), 0);
        dispatch.touch(name("A"), 9);
        dispatch.begin(first, name("A"), 0);
        assert_eq!(dispatch.pick(&[1], |_| 9), None, "PARLIM(65535)");
        if let Some(state) = dispatch.transactions.get_mut(&name("A")) {
            state.definition.parallel_limit = 2;
        }
        assert_eq!(dispatch.pick(&[1], |_| 2), None);
        assert_eq!(dispatch.pick(&[1], |_| 3), Some(name("A")));
        if let Some(state) = dispatch.transactions.get_mut(&name("A")) {
            state.definition.regions_max = 1;
        }
        assert_eq!(dispatch.pick(&[1], |_| 9), None, "MAXRGN(1)");
        assert_eq!(dispatch.transactions_of(name("PA")), [name("A")]);
    }
}
