//! Random scripts of requests that do not wait, against a model that knows only the two tables of
//! modes and a list of who holds what.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{DataSetId, UowId};
use holdfast_lock::{
    Acquired, LockConfig, LockError, LockManager, LockName, Mark, Mode, Owner, Wait,
};
use proptest::prelude::*;
use seam::clock::RealClock;

const OWNERS: usize = 4;
const PER_OWNER_MAX: usize = 12;
const TOTAL_MAX: usize = 30;
const SET: DataSetId = DataSetId(3);

#[derive(Clone, Debug)]
enum Step {
    Acquire(usize, u8, Mode),
    Instant(usize, u8, Mode),
    Release(usize, u8),
    Downgrade(usize, u8, Mode),
    Mark(usize),
    ReleaseSince(usize),
    ReleaseAll(usize),
    Escalate(usize, Mode),
    Retire(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let owner = 0..OWNERS;
    let key = 0_u8..20;
    let mode = prop::sample::select(Mode::ALL.to_vec());
    // Mostly modes that leave room for others, or nobody would hold much.
    let weak = prop::sample::select(vec![
        Mode::IntentShared,
        Mode::IntentShared,
        Mode::IntentExclusive,
        Mode::Shared,
        Mode::Shared,
        Mode::Update,
        Mode::Exclusive,
    ]);
    let asked = (owner.clone(), key.clone(), mode.clone());
    prop_oneof![
        12 => (owner.clone(), key.clone(), weak).prop_map(|(o, k, m)| Step::Acquire(o, k, m)),
        4 => asked.clone().prop_map(|(o, k, m)| Step::Acquire(o, k, m)),
        2 => asked.clone().prop_map(|(o, k, m)| Step::Instant(o, k, m)),
        4 => (owner.clone(), key).prop_map(|(o, k)| Step::Release(o, k)),
        2 => asked.prop_map(|(o, k, m)| Step::Downgrade(o, k, m)),
        1 => owner.clone().prop_map(Step::Mark),
        1 => owner.clone().prop_map(Step::ReleaseSince),
        1 => owner.clone().prop_map(Step::ReleaseAll),
        1 => (owner.clone(), mode).prop_map(|(o, m)| Step::Escalate(o, m)),
        1 => owner.prop_map(Step::Retire),
    ]
}

/// Key 0 is the whole set, 1 its end.
fn name_of(key: u8) -> LockName {
    match key {
        0 => LockName::set(SET),
        1 => LockName::end(SET),
        _ => LockName::key(SET, &[key]),
    }
}

/// What an owner holds: the mode and when it was taken.
type Holds = BTreeMap<u8, (Mode, u32)>;

#[derive(Default)]
struct Model {
    holds: [Holds; OWNERS],
    taken: [u32; OWNERS],
    marks: [u32; OWNERS],
}

impl Model {
    fn others_allow(&self, owner: usize, key: u8, mode: Mode) -> bool {
        (0..OWNERS)
            .filter(|other| *other != owner)
            .all(|other| self.holds[other].get(&key).is_none_or(|(held, _)| mode.compatible(*held)))
    }

    /// Whether a request can go on at once.
    fn is_free(&self, owner: usize, key: u8, mode: Mode) -> bool {
        match self.holds[owner].get(&key) {
            None => self.others_allow(owner, key, mode),
            Some((held, _)) => held.covers(mode) || self.others_allow(owner, key, held.join(mode)),
        }
    }

    fn total(&self) -> usize {
        self.holds.iter().map(BTreeMap::len).sum()
    }

    /// What `acquire` must say; changes the model if it succeeds.
    fn acquire(
        &mut self,
        owner: usize,
        key: u8,
        mode: Mode,
        per_owner_max: usize,
    ) -> Result<Acquired, &'static str> {
        if let Some((held, _)) = self.holds[owner].get(&key).copied() {
            if held.join(mode) == held {
                return Ok(Acquired::AlreadyHeld);
            }
            if !self.others_allow(owner, key, held.join(mode)) {
                return Err("blocked");
            }
            let taken = self.holds[owner].get_mut(&key).map(|entry| &mut entry.0);
            *taken.expect("it is there") = held.join(mode);
            return Ok(Acquired::Converted);
        }
        if self.holds[owner].len() >= per_owner_max || self.total() >= TOTAL_MAX {
            return Err("budget");
        }
        if !self.others_allow(owner, key, mode) {
            return Err("blocked");
        }
        self.holds[owner].insert(key, (mode, self.taken[owner]));
        self.taken[owner] += 1;
        Ok(Acquired::New)
    }
}

fn outcome<T>(result: Result<T, LockError>) -> Result<T, &'static str> {
    result.map_err(|error| match error {
        LockError::WouldBlock { .. } => "blocked",
        LockError::Budget { .. } => "budget",
        LockError::NotHeld { .. } => "not held",
        _ => "something else",
    })
}

struct System {
    locks: LockManager,
    owners: Vec<Owner>,
    marks: [Option<Mark>; OWNERS],
    model: Model,
}

impl System {
    fn new() -> System {
        let config = LockConfig {
            locks_max: TOTAL_MAX,
            locks_per_owner_max: PER_OWNER_MAX,
            timeout: None,
            shards: 2,
        };
        let locks = LockManager::new(Arc::new(RealClock::new()), config);
        let owners = (0..OWNERS).map(|at| locks.owner(UowId(at as u64), 0)).collect();
        System { locks, owners, marks: [None; OWNERS], model: Model::default() }
    }

    fn run(&mut self, step: &Step) -> Result<(), TestCaseError> {
        let (locks, model) = (&self.locks, &mut self.model);
        match *step {
            Step::Acquire(at, key, mode) => {
                let owner = &mut self.owners[at];
                let got = outcome(locks.acquire(owner, name_of(key), mode, Wait::No));
                prop_assert_eq!(got, model.acquire(at, key, mode, PER_OWNER_MAX));
            }
            Step::Instant(at, key, mode) => {
                let free = model.is_free(at, key, mode);
                let owner = &mut self.owners[at];
                let got = outcome(locks.acquire_instant(owner, name_of(key), mode, Wait::No));
                prop_assert_eq!(got, if free { Ok(()) } else { Err("blocked") });
            }
            Step::Release(at, key) => {
                let released = locks.release(&mut self.owners[at], name_of(key));
                prop_assert_eq!(released, model.holds[at].remove(&key).is_some());
            }
            Step::Downgrade(at, key, mode) => {
                let held = model.holds[at].get_mut(&key).filter(|(held, _)| held.covers(mode));
                let got = outcome(locks.downgrade(&mut self.owners[at], name_of(key), mode));
                prop_assert_eq!(got, held.map(|held| held.0 = mode).ok_or("not held"));
            }
            Step::Mark(at) => {
                self.marks[at] = Some(locks.mark(&self.owners[at]));
                model.marks[at] = model.taken[at];
            }
            Step::ReleaseSince(at) => {
                if let Some(mark) = self.marks[at] {
                    locks.release_since(&mut self.owners[at], mark);
                    let since = model.marks[at];
                    model.holds[at].retain(|_, (_, taken)| *taken < since);
                }
            }
            Step::ReleaseAll(at) => self.release_all(at),
            Step::Retire(at) => {
                self.release_all(at);
                self.owners[at] = self.locks.owner(UowId(at as u64), 0);
            }
            Step::Escalate(at, mode) => {
                let expected = model.acquire(at, 0, mode, usize::MAX).map(|_| {
                    let whole = model.holds[at][&0].0.on_parts();
                    let before = model.holds[at].len();
                    model.holds[at].retain(|key, (held, _)| {
                        *key == 0 || !whole.is_some_and(|whole| whole.covers(*held))
                    });
                    before - model.holds[at].len()
                });
                let got = outcome(locks.escalate(&mut self.owners[at], SET, mode, Wait::No));
                prop_assert_eq!(got, expected);
            }
        }
        self.compare()
    }

    fn release_all(&mut self, at: usize) {
        self.locks.release_all(&mut self.owners[at]);
        self.model.holds[at].clear();
        (self.model.taken[at], self.marks[at]) = (0, None);
    }

    fn compare(&self) -> Result<(), TestCaseError> {
        self.locks.check();
        for (owner, holds) in self.owners.iter().zip(&self.model.holds) {
            prop_assert_eq!(owner.locks_held(), holds.len());
            for key in 0..20 {
                let expected = holds.get(&key).map(|(mode, _)| *mode);
                prop_assert_eq!(owner.mode_of(name_of(key)), expected);
            }
        }
        prop_assert_eq!(self.locks.statistics().held, self.model.total() as u64);
        prop_assert_eq!(self.locks.print().len(), self.model.total());
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn requests_that_do_not_wait_do_what_the_model_does(
        steps in prop::collection::vec(step(), 1..200)
    ) {
        let mut system = System::new();
        for step in &steps {
            system.run(step)?;
        }
        (0..OWNERS).for_each(|at| system.release_all(at));
        system.compare()?;
    }
}
