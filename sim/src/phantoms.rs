//! Phantoms: whoever has looked through a range and looks again finds nothing new in it (K14).

use std::sync::Arc;

use seam::sim::{Rng, SimConfig, SimDisk};
use store::{Cursor, KeyRange, Read, SetAttributes, SetId, Store, Unit, UnitOptions};
use store_kernel::{KernelStore, StoreDefaults};

use crate::machine::Make;
use crate::scenario::{key, value};
use crate::verify;

const READERS: usize = 2;
const WRITERS: usize = 2;

/// Readers look twice through ranges while writers insert into them.
///
/// # Errors
/// If something appears.
pub fn nothing_appears() -> Result<(), String> {
    for seed in 1..=40 {
        let make = Make { frames: 64, ..Make::small() };
        let disk = SimDisk::new();
        let (outcome, result) = verify::run_to_end(SimConfig::new(seed), &disk, move |seam| {
            make.create(seam).map_err(|error| error.to_string())?;
            let kernel = make.open(seam).map_err(|error| error.to_string())?;
            let defaults = StoreDefaults { interval_bytes: 4096, ..StoreDefaults::default() };
            let store = KernelStore::new(&kernel, defaults).map_err(|error| error.to_string())?;
            work(&store, seed).map_err(|error| error.to_string())
        });
        match result {
            Some(result) => result?,
            None => return Err(outcome.to_string()),
        }
    }
    Ok(())
}

fn work(store: &KernelStore, seed: u64) -> store::Result<()> {
    let set = store.create_set("RANGE", &SetAttributes::default())?;
    let mut unit = store.begin(UnitOptions::default())?;
    for n in 0..12 {
        unit.put(set, &key(n * 4), &value(n, 0, 100))?;
    }
    unit.commit()?;
    let store = Arc::new(store.clone());
    let tasks: Vec<_> = (0..READERS + WRITERS)
        .map(|task| {
            let store = Arc::clone(&store);
            let mut rng = Rng::stream(seed, &format!("task {task}"));
            let body = move || {
                for _ in 0..8 {
                    let done = if task < READERS {
                        look_twice(&store, set, &mut rng)
                    } else {
                        insert(&store, set, &mut rng)
                    };
                    if let Err(error) = done {
                        assert!(error.is_retryable(), "a call failed oddly: {error}");
                    }
                }
            };
            seam::thread::spawn("range", body).expect("simulated threads start")
        })
        .collect();
    tasks.into_iter().for_each(seam::thread::JoinHandle::join);
    Ok(())
}

fn look_twice(store: &KernelStore, set: SetId, rng: &mut Rng) -> store::Result<()> {
    let mut unit = store.begin(UnitOptions::default())?;
    let low = rng.below(40);
    let (from, to) = (key(low), key(low + rng.between(2, 20)));
    let mut first = None;
    for _ in 0..2 {
        let mut keys = Vec::new();
        let mut cursor = store.cursor(set)?;
        cursor.limit(KeyRange::between(&from, &to));
        loop {
            match unit.next(&mut cursor, Read::Shared) {
                Ok(Some(entry)) => keys.push(entry.key.to_vec()),
                Ok(None) => break,
                Err(error) => {
                    unit.backout()?;
                    return Err(error);
                }
            }
        }
        let before = first.get_or_insert_with(|| keys.clone());
        assert_eq!(*before, keys, "something appeared in a range");
        seam::thread::yield_now();
    }
    unit.commit().map(|_| ())
}

fn insert(store: &KernelStore, set: SetId, rng: &mut Rng) -> store::Result<()> {
    let mut unit = store.begin(UnitOptions::default())?;
    for _ in 0..rng.between(1, 3) {
        let n = rng.below(60);
        let done = match rng.one_in(3) {
            true => unit.delete(set, &key(n)).map(|_| ()),
            false => unit.insert(set, &key(n), &value(n, 1, 100)).map(|_| ()),
        };
        if let Err(error) = done {
            unit.backout()?;
            return Err(error);
        }
    }
    unit.commit().map(|_| ())
}
