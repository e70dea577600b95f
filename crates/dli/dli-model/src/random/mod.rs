//! Random databases, programs and calls, with shrinking: strategies for proptest.
//!
//! Invariants:
//! 1. A [`Trial`] is its numbers; sources and calls follow from them, so that proptest shrinks
//!    calls away and numbers to zero, and what is left still compiles.

mod calls;
mod ends;
mod related;
mod shape;

pub use calls::{Numbers, script};
pub use related::{Related, related};
pub use shape::{Kind, Seen, Shape, World};

use proptest::collection::vec;
use proptest::prelude::*;

use crate::compare::compare;
use crate::script::Script;
use crate::{Model, RootOrder, Setup, SetupError, Subject};

/// A database, a program and calls, as numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The database and the program.
    pub shape: Shape,
    /// The inserts at the beginning.
    pub inserts: Vec<Numbers>,
    /// The calls behind them.
    pub calls: Vec<Numbers>,
}

impl Trial {
    /// The setup, and the script of its calls.
    ///
    /// # Errors
    /// Never, as long as the shapes compile.
    pub fn make(&self, order: RootOrder) -> Result<(Setup, Script), SetupError> {
        let world = self.shape.world();
        let setup = Setup::from_source(&world.source)?;
        let steps = (self.inserts.as_slice(), self.calls.as_slice());
        let script = script(&world, &setup, order, steps, self.shape.load);
        Ok((setup, script))
    }
}

/// Runs a trial through the model and what `make` makes.
///
/// # Errors
/// With the first difference, as a script that can be kept in the folder `scripts`.
pub fn check(
    trial: &Trial,
    order: &RootOrder,
    make: impl FnOnce(&Setup) -> Box<dyn Subject>,
) -> Result<(), String> {
    let (setup, script) = trial.make(order.clone()).map_err(|error| error.to_string())?;
    let mut model = Model::new(&setup, order.clone());
    compare(&mut model, make(&setup).as_mut(), &script).map_err(|difference| {
        let sources = Script { cases: Vec::new(), ..script };
        format!("{sources}case found\n{difference}")
    })
}

/// Databases with one to seven types and programs with one to three PCBs.
pub fn shapes() -> impl Strategy<Value = Shape> {
    let segments = vec(any::<[u8; 4]>(), 1..=7);
    let pcbs = vec(any::<[u8; 5]>(), 0..=2);
    (any::<u8>(), segments, pcbs, any::<u8>()).prop_map(|(organization, segments, pcbs, index)| {
        Shape { organization, segments, pcbs, index, load: false }
    })
}

/// Trials with at most that many calls.
pub fn trials(calls: usize) -> impl Strategy<Value = Trial> {
    let inserts = vec(any::<Numbers>(), 0..40);
    let calls = vec(any::<Numbers>(), 1..=calls);
    (shapes(), inserts, calls).prop_map(|(shape, inserts, calls)| Trial { shape, inserts, calls })
}

/// Trials of load mode, with at most that many inserts; then a walk through what was loaded.
pub fn loads(inserts: usize) -> impl Strategy<Value = Trial> {
    let shape = shapes().prop_map(|shape| Shape { load: true, pcbs: Vec::new(), ..shape });
    let inserts = vec(any::<Numbers>(), 1..=inserts);
    let calls = vec(any::<Numbers>(), 0..40);
    (shape, inserts, calls).prop_map(|(shape, inserts, calls)| Trial { shape, inserts, calls })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use proptest::strategy::ValueTree;
    use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

    use super::*;
    use crate::Feedback;
    use crate::script::Step;

    fn order() -> RootOrder {
        Arc::new(|_, key: &[u8]| key.iter().rev().copied().collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 300,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn trials_compile_and_models_agree(trial in trials(60)) {
            let twin = |setup: &Setup| Box::new(Model::new(setup, order())) as Box<dyn Subject>;
            prop_assert_eq!(check(&trial, &order(), twin), Ok(()));
            let (_, script) = trial.make(order()).map_err(|error| {
                TestCaseError::fail(format!("{error}\n{}", trial.shape.world().source))
            })?;
            let text = script.to_string();
            prop_assert_eq!(Script::parse(&text).map(|one| one.to_string()), Ok(text));
        }
    }

    /// What GN without SSA goes through from the front.
    fn walk(model: &mut Model) -> Vec<(u8, Vec<u8>)> {
        model.checkpoint();
        let mut met = Vec::new();
        loop {
            let feedback = model.call(0, "GN", &[], &[]);
            if feedback.status == *b"GB" {
                return met;
            }
            met.push((feedback.level, feedback.key));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 100,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn a_walk_meets_every_segment_once(trial in trials(40)) {
            let (setup, script) = trial.make(order()).map_err(|error| {
                TestCaseError::fail(error.to_string())
            })?;
            let mut model = Model::new(&setup, order());
            for step in &script.cases[0].steps {
                if let Step::Call(call) = step {
                    model.call(call.pcb, &call.function, &call.area, &call.ssas);
                }
            }
            let main = setup.dbds.iter().find(|dbd| dbd.name.text() == "RANDDB");
            let main = main.ok_or_else(|| TestCaseError::fail("no database"))?;
            let count: usize =
                main.segments.iter().map(|one| model.count(main.name, one.code)).sum();
            let met = walk(&mut model);
            prop_assert_eq!(met.len(), count);
            let roots: Vec<Vec<u8>> =
                met.iter().filter(|one| one.0 == 1).map(|one| one.1.clone()).collect();
            let rank = |key: &Vec<u8>| match main.organization.is_hashed() {
                true => order()(main.name, key),
                false => key.clone(),
            };
            prop_assert!(roots.is_sorted_by_key(rank), "{:?}", roots);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 200,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// Calls are changed a little: bytes of SSAs and areas replaced, or cut off.
        #[test]
        fn no_bytes_make_the_model_panic(
            trial in trials(40),
            changes in vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 40),
        ) {
            let (setup, script) = trial.make(order()).map_err(|error| {
                TestCaseError::fail(error.to_string())
            })?;
            let mut model = Model::new(&setup, order());
            let change = |bytes: &mut Vec<u8>, (at, byte, cut): &(prop::sample::Index, u8, bool)| {
                if !bytes.is_empty() {
                    let at = at.index(bytes.len());
                    bytes[at] = *byte;
                    bytes.truncate(if *cut { at } else { usize::MAX });
                }
            };
            for (step, how) in script.cases[0].steps.iter().zip(changes.iter().cycle()) {
                if let Step::Call(call) = step {
                    let mut call = call.clone();
                    call.ssas.iter_mut().for_each(|ssa| change(ssa, how));
                    change(&mut call.area, how);
                    model.call(call.pcb, &call.function, &call.area, &call.ssas);
                }
            }
        }
    }

    /// An engine that forgets to hold on GHN.
    struct Forgetful(Model);

    impl Subject for Forgetful {
        fn call(&mut self, pcb: usize, name: &str, area: &[u8], ssas: &[Vec<u8>]) -> Feedback {
            let name = if name == "GHN" { "GN" } else { name };
            self.0.call(pcb, name, area, ssas)
        }

        fn checkpoint(&mut self) {
            self.0.checkpoint();
        }

        fn rollback(&mut self) {
            self.0.rollback();
        }
    }

    #[test]
    fn a_wrong_engine_is_found_and_its_trial_shrunk() {
        let config = Config { failure_persistence: None, ..Config::default() };
        let mut runner =
            TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
        let make =
            |setup: &Setup| -> Box<dyn Subject> { Box::new(Forgetful(Model::new(setup, order()))) };
        let run = |trial| check(&trial, &order(), make).map_err(TestCaseError::fail);
        let Err(TestError::Fail(reason, trial)) = runner.run(&trials(60), run) else {
            panic!("an engine that does not hold passes");
        };
        assert!(trial.calls.len() <= 4 && trial.shape.pcbs.is_empty(), "{reason}");
        let script = Script::parse(reason.message()).unwrap();
        assert_eq!(script.cases.len(), 1, "{reason}");
    }

    /// How often each status is met.
    fn statuses<T: Strategy<Value = Trial>>(trials: &T) -> BTreeMap<[u8; 2], usize> {
        let mut runner = TestRunner::deterministic();
        let mut met: BTreeMap<[u8; 2], usize> = BTreeMap::new();
        for _ in 0..200 {
            let trial = trials.new_tree(&mut runner).unwrap().current();
            let (setup, script) = trial.make(order()).unwrap();
            let mut model = Model::new(&setup, order());
            for step in &script.cases[0].steps {
                if let Step::Call(call) = step {
                    let feedback = model.call(call.pcb, &call.function, &call.area, &call.ssas);
                    *met.entry(feedback.status).or_default() += 1;
                }
            }
        }
        met
    }

    #[test]
    fn random_loads_meet_many_statuses() {
        let met = statuses(&loads(60));
        for status in [b"  ", b"LB", b"LC", b"LD", b"LE"] {
            assert!(met.contains_key(status), "{met:?}");
        }
        assert!(met[b"  "] * 2 > met.values().sum(), "half of all calls succeed: {met:?}");
    }

    #[test]
    fn random_calls_meet_many_statuses() {
        let met = statuses(&trials(60));
        let shown: Vec<String> = met
            .iter()
            .map(|(status, count)| format!("{} {count}", String::from_utf8_lossy(status)))
            .collect();
        for status in [b"  ", b"GE", b"GB", b"GA", b"GK", b"GP", b"II", b"DJ", b"DA", b"AM"] {
            assert!(met.contains_key(status), "{shown:?}");
        }
        let calls: usize = met.values().sum();
        let done: usize = [b"  ", b"GA", b"GK"].iter().map(|status| met[*status]).sum();
        assert!(done * 2 > calls, "half of all calls succeed: {shown:?}");
    }
}
