//! Conversion and re-key while units of work go on, and the looks at the disk that show whether
//! they did what they say (K4).

use std::sync::Arc;
use std::time::Duration;

use base::{CiNumber, DataSetId, KeyGeneration};
use btree::{Tree, TreeError};
use seal::{Form, KeyProvider, PageSealer, TestKeys};
use seam::sim::SimDisk;
use space::DataSet;
use uow::UowOptions;

use crate::machine::Make;
use crate::media;
use crate::scenario::{Scenario, filled, key, value};
use crate::verify::{self, Wrong};
use crate::world::World;

/// The form of a data set under a new key.
const REKEYED: Form = Form { format: seal::Format::Sealed, generation: KeyGeneration(2) };

fn busy() -> Make {
    Make { redo_bytes_max: 6 << 10, checkpoint_bytes: 12 << 10, frames: 32, ..Make::small() }
}

/// Plain, and sealed again.
pub const CONVERT: Scenario = Scenario {
    name: "convert",
    about: "a data set becomes plain and sealed again while units of work go on",
    make: busy,
    crashed: false,
    setup: with_free_intervals,
    script: |world| {
        let one = world.set("one");
        convert(world, &one, Form::PLAIN, 2)?;
        // Batches wider than those of a conversion: each leaves its end behind in its slot.
        for by in [7, 8] {
            world.commit(|work| {
                (0..20).try_for_each(|n| work.put(&one, &key(n * 2), &value(n, by, 400)))
            })?;
            world.kernel.write_out()?;
        }
        convert(world, &one, REKEYED, 3)
    },
};

/// A new key, with pauses, and a data set that goes meanwhile.
pub const REKEY: Scenario = Scenario {
    name: "rekey",
    about: "data sets go over to a new key, with a pause and a limit; one of them is dropped",
    make: || Make { frames: 16, ..busy() },
    crashed: false,
    setup: |world| {
        with_free_intervals(world)?;
        let two = world.make_set("two")?;
        world.commit(|work| work.load(&two, &crate::scenario::records(0, 30, 500)))?;
        Ok(world.kernel.write_out()?)
    },
    script: |world| {
        let (one, two) = (world.set("one"), world.set("two"));
        world.kernel.convert(&two, REKEYED, 400 << 10)?;
        world.kernel.convert(&one, REKEYED, 0)?;
        world.commit(|work| work.put(&one, &key(3), &value(3, 5, 300)))?;
        world.kernel.steer_conversion(&one, true, None)?;
        world.commit(|work| work.put(&one, &key(300), &value(4, 5, 900)))?;
        world.kernel.log().renew_key().map_err(uow::UowError::from)?;
        world.kernel.checkpoint_now(false)?;
        world.drop_set(&two)?;
        drop(two);
        world.kernel.steer_conversion(&one, false, Some(2 << 20))?;
        go_on_until_converted(world, &one, 6)?;
        world.kernel.log().renew_key().map_err(uow::UowError::from)?;
        world.commit(|work| work.put(&one, &key(5), &value(5, 7, 300)))?;
        look(world, &one, Form::sealed(KeyGeneration(1)));
        Ok(())
    },
};

/// A data set `one` with intervals that were in use and are free.
fn with_free_intervals(world: &World) -> Result<(), TreeError> {
    filled(world, 40, 200)?;
    let one = world.set("one");
    world.commit(|work| work.put(&one, &key(50), &value(50, 1, 9_000)))?;
    world.commit(|work| work.put(&one, &key(51), &value(51, 1, 9_000)))?;
    world.kernel.write_out()?;
    world.commit(|work| work.remove(&one, &key(50)).map(|_| ()))?;
    world.kernel.settle_frees(one.id())?;
    Ok(world.kernel.write_out()?)
}

/// Converts a data set while units of work change it, and looks what is left of the old form.
fn convert(world: &World, set: &Arc<DataSet>, to: Form, by: u64) -> Result<(), TreeError> {
    let from = set.definition().form();
    world.kernel.convert(set, to, 0)?;
    go_on_until_converted(world, set, by)?;
    look(world, set, from);
    Ok(())
}

fn go_on_until_converted(world: &World, set: &Arc<DataSet>, by: u64) -> Result<(), TreeError> {
    for n in 0..ROUNDS_MAX {
        if n < 6 {
            world.commit(|work| {
                work.put(set, &key(n * 7 % 40), &value(n, by, 250))?;
                work.put(set, &key(100 + n), &value(n, by, 700))
            })?;
        }
        if world.kernel.conversions().is_empty() {
            return Ok(());
        }
        world.kernel.seam().clock.sleep(Duration::from_millis(2));
    }
    panic!("it never ends: {:?}", world.kernel.conversions());
}

const ROUNDS_MAX: u64 = 5_000;

/// Panics if the old form of a data set that is converted is found on the disk.
fn look(world: &World, set: &DataSet, old: Form) {
    let disk = world.disk.as_ref().expect("scripts are given their disk");
    let mut places = vec![format!("/system/{}", set.definition().file_name(0))];
    if old == Form::PLAIN {
        // Other data sets are sealed as this one was; none is plain.
        places.push("/system/double-write".into());
    }
    for place in places {
        if let Some(block) = find(disk, &place, old) {
            panic!("{place} has the old form at block {block}");
        }
    }
}

fn find(disk: &SimDisk, path: &str, form: Form) -> Option<u64> {
    let blocks = 0..disk.len_raw(path) / 4096;
    blocks.into_iter().find(|block| {
        let page = disk.read_raw(path, block * 4096, 4096);
        PageSealer::trailer(&page).is_ok_and(|trailer| trailer.form == form)
    })
}

/// A genuine interval in the form before is none in a data set that is converted (K4).
///
/// # Errors
/// If it is accepted.
pub fn old_form_is_refused() -> Result<(), String> {
    let rested = media::stopped(&Make { segments_max: 32, ..busy() }, 1);
    let (claim, disk) = (rested.claim, rested.disk);
    let medium = disk.clone();
    let accepted = verify::run(1, &disk, move |seam| {
        let kernel = claim.make.open(seam)?;
        let one = kernel.set(DataSetId(2)).ok_or_else(|| "there is no second set".to_owned())?;
        let path = format!("/system/{}", one.definition().file_name(0));
        let ci = CiNumber(5);
        let unit = one.unit_bytes();
        let old = medium.read_raw(&path, u64::from(ci.0) * unit as u64, unit);
        kernel.convert(&one, REKEYED, 0)?;
        while !kernel.conversions().is_empty() {
            seam.clock.sleep(Duration::from_millis(2));
        }
        medium.write_raw(&path, u64::from(ci.0) * unit as u64, &old);
        let mut page = seam::mem::AlignedBuf::zeroed(unit);
        Ok(one.read_past_pool(ci, &mut page).is_ok())
    });
    match accepted {
        Ok(false) => Ok(()),
        Ok(true) => Err("an interval in the old form was accepted".into()),
        Err(why) => Err(why.to_string()),
    }
}

/// A key that is gone takes nothing along once everything uses the next one.
///
/// # Errors
/// If something still needs it.
pub fn old_key_is_not_needed() -> Result<(), Wrong> {
    let rested = media::stopped(&Make { segments_max: 32, ..busy() }, 2);
    let claim = rested.claim.clone();
    verify::run(2, &rested.disk, move |seam| {
        let kernel = claim.make.open(seam)?;
        for set in kernel.all_sets() {
            kernel.convert(&set, REKEYED, 0)?;
        }
        while !kernel.conversions().is_empty() {
            seam.clock.sleep(Duration::from_millis(2));
        }
        Ok(kernel.close()?)
    })?;
    let claim = rested.claim.clone();
    verify::run(3, &rested.disk, move |seam| {
        let keys = TestKeys::new(7);
        let generation = keys.new_generation();
        keys.forget_below(generation);
        let keys: Arc<dyn KeyProvider> = Arc::new(keys);
        let parts = uow::Parts { keys, ..claim.make.parts(seam.clone()) };
        let kernel = uow::Kernel::open(parts, claim.make.config())?;
        verify::prove(&claim, &kernel).map(drop)
    })
}

/// While a conversion wipes what is free, the proof of the tree takes that for what is in transit,
/// and counts nothing as lost. Returns how often it saw any.
///
/// # Errors
/// What is wrong.
pub fn what_is_wiped_is_not_lost(seed: u64) -> Result<u64, String> {
    let proven = verify::run(seed, &SimDisk::new(), |seam| {
        let make = busy();
        make.create(seam)?;
        let kernel = make.open(seam)?;
        let one = make.create_set(&kernel, "one")?;
        let tree = Tree::new(&kernel, &one);
        let mut unit = kernel.begin(UowOptions::default())?;
        (0..5).try_for_each(|n| tree.put(&mut unit, &key(n), &value(n, 1, 9_000)).map(|_| ()))?;
        unit.commit()?;
        kernel.write_out()?;
        let mut unit = kernel.begin(UowOptions::default())?;
        (1..5).try_for_each(|n| tree.remove(&mut unit, &key(n)).map(|_| ()))?;
        unit.commit()?;
        kernel.settle_frees(one.id())?;
        kernel.convert(&one, REKEYED, 0)?;
        let mut seen = 0;
        while !kernel.conversions().is_empty() {
            let report = tree.check()?;
            if report.unreachable != 0 {
                return Err(format!("{} intervals count as lost", report.unreachable).into());
            }
            seen += u64::from(report.in_transit > 0);
            seam.clock.sleep(Duration::from_micros(20));
        }
        let report = tree.check()?;
        if (report.unreachable, report.in_transit) != (0, 0) {
            return Err(format!("the conversion has left intervals: {report:?}").into());
        }
        kernel.close()?;
        Ok(seen)
    });
    proven.map_err(|why| why.to_string())
}
