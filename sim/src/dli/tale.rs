//! A tale: databases, one program, and everything that it does, whatever happens meanwhile.
//!
//! Invariants:
//! 1. The calls behind a sync point depend on nothing but what was committed: positions are lost
//!    there, so that a program that is started again at its last sync point gets the same answers.
//! 2. A key that was deleted is inserted again only behind a sync point: to the engine the place of
//!    a key is the same for ever, to the model the new segment is another one (DLI-2).

use std::collections::BTreeMap;
use std::sync::Arc;

use definitions::DbdName;
use definitions::resolve::ResolvedKind;
use dli_model::random::{Numbers, Shape, script};
use dli_model::script::{Call, Script, Step};
use dli_model::{Feedback, Model, RootOrder, Setup, SetupError, Subject};
use placement::Placement;
use seam::sim::Rng;

/// Calls between two sync points, at most.
const STRETCH_MAX: u64 = 12;

/// Databases, a program, and what it does.
pub struct Tale {
    /// The databases and the PSB.
    pub setup: Arc<Setup>,
    /// The macro source, to be shown with what was found.
    pub source: String,
    /// Calls and sync points.
    pub steps: Vec<Step>,
    order: RootOrder,
}

/// A segment met on a walk through a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Met {
    /// Through which PCB.
    pub pcb: usize,
    /// Level, type and concatenated key.
    pub at: (u8, String, Vec<u8>),
    /// The data; nothing where the PCB sees only keys.
    pub data: Vec<u8>,
}

impl Tale {
    /// The tale of a seed.
    ///
    /// # Errors
    /// If the sources do not compile, which is a mistake of their maker.
    pub fn drawn(seed: u64) -> Result<Tale, SetupError> {
        let mut rng = Rng::stream(seed, "tale");
        let world = shape(&mut rng).world();
        let setup = Setup::from_source(&world.source)?;
        let order = order(&setup);
        let inserts: Vec<Numbers> = (0..rng.below(40)).map(|_| numbers(&mut rng)).collect();
        let calls: Vec<Numbers> = (0..=rng.below(80)).map(|_| numbers(&mut rng)).collect();
        let made = script(&world, &setup, Arc::clone(&order), (&inserts, &calls), false);
        let steps = made.cases.into_iter().flat_map(|case| case.steps).collect();
        let steps = with_sync_points(steps, &mut rng);
        Ok(Tale { setup: Arc::new(setup), source: world.source, steps, order })
    }

    /// The tale that a script tells.
    ///
    /// # Errors
    /// If the source does not compile.
    pub fn of_script(source: &str, script: &Script) -> Result<Tale, SetupError> {
        let setup = Setup::from_source(source)?;
        let steps = script.given.iter();
        let steps = steps.chain(script.cases.iter().flat_map(|case| &case.steps));
        let (steps, order) = (steps.cloned().collect(), order(&setup));
        Ok(Tale { setup: Arc::new(setup), source: source.to_owned(), steps, order })
    }

    /// How many database PCBs there are.
    #[must_use]
    pub fn pcbs(&self) -> usize {
        let is_database = |kind: &ResolvedKind| matches!(kind, ResolvedKind::Database(_));
        self.setup.psb.pcbs.iter().filter(|pcb| is_database(&pcb.kind)).count()
    }

    /// The model as it is behind so many steps.
    #[must_use]
    pub fn model_behind(&self, steps: usize) -> Model {
        let mut model = Model::new(&self.setup, Arc::clone(&self.order));
        for step in &self.steps[..steps] {
            match step {
                Step::Call(call) => {
                    model.call(call.pcb, &call.function, &call.area, &call.ssas);
                }
                Step::Checkpoint => model.checkpoint(),
                Step::Rollback => model.rollback(),
            }
        }
        model
    }
}

/// Everything that GN meets through a PCB. Its position is where the walk ended.
///
/// # Errors
/// What `call` says.
pub fn walk<E>(
    pcb: usize,
    mut call: impl FnMut(&Call) -> Result<Feedback, E>,
) -> Result<Vec<Met>, E> {
    let next = Call { pcb, function: "GN".to_owned(), ..Call::default() };
    let mut met = Vec::new();
    loop {
        let Feedback { status, level, segment, key, area } = call(&next)?;
        if !matches!(&status, b"  " | b"GA" | b"GK") {
            return Ok(met);
        }
        let name = String::from_utf8_lossy(&segment).into_owned();
        met.push(Met { pcb, at: (level, name, key), data: area.unwrap_or_default() });
    }
}

fn numbers(rng: &mut Rng) -> Numbers {
    let mut numbers = Numbers::default();
    rng.fill(&mut numbers);
    numbers
}

fn shape(rng: &mut Rng) -> Shape {
    fn bytes<const N: usize>(rng: &mut Rng) -> [u8; N] {
        let mut bytes = [0; N];
        rng.fill(&mut bytes);
        bytes
    }
    let [organization, index] = bytes(rng);
    let segments = (0..=rng.below(6)).map(|_| bytes(rng)).collect();
    let pcbs = (0..rng.below(3)).map(|_| bytes(rng)).collect();
    // Every second database that can have a secondary index has one.
    let index = if rng.one_in(2) { 3 } else { index };
    Shape { organization, segments, pcbs, index, load: false }
}

/// Roots of hashed databases stand where the randomizer puts them.
fn order(setup: &Setup) -> RootOrder {
    let placements: BTreeMap<DbdName, Placement> =
        setup.dbds.iter().filter_map(|dbd| Some((dbd.name, super::placement(dbd).ok()?))).collect();
    Arc::new(move |dbd, key: &[u8]| {
        let anchor = placements.get(&dbd).and_then(|placement| placement.anchor(0, key));
        [anchor.unwrap_or_default().as_slice(), key].concat()
    })
}

/// Adds sync points: now and then, and in front of what inserts a deleted key again.
fn with_sync_points(steps: Vec<Step>, rng: &mut Rng) -> Vec<Step> {
    let mut all = Vec::with_capacity(steps.len() * 2);
    let (mut deleted, mut left): (Vec<[u8; 2]>, u64) = (Vec::new(), rng.below(STRETCH_MAX));
    for step in steps {
        let mut sync = left == 0;
        if let Step::Call(call) = &step {
            let pairs = call.area.windows(2).filter_map(|two| two.try_into().ok());
            let keys: Vec<[u8; 2]> = pairs.collect();
            match call.function.as_str() {
                "DLET" => deleted.extend(keys),
                "ISRT" => sync |= keys.iter().any(|key| deleted.contains(key)),
                _ => {}
            }
        }
        if sync && !matches!(step, Step::Checkpoint | Step::Rollback) {
            all.push(Step::Checkpoint);
            deleted.clear();
            left = rng.below(STRETCH_MAX);
        }
        left = left.saturating_sub(1);
        all.push(step);
    }
    all.push(Step::Checkpoint);
    all
}
