//! Logs that are nearly full: whoever needs room gets it, also where nobody else asks for it, and
//! where the disk has no more.

use std::sync::Arc;

use base::KeyGeneration;
use btree::TreeError;
use seal::Form;
use seam::sim::{Fault, FaultKind, SimDisk};
use space::DataSet;

use crate::history::History;
use crate::machine::Make;
use crate::scenario::{filled, key, value};
use crate::verify::{self, Wrong};
use crate::world::World;

/// A machine on which nothing is written and no checkpoint is due until somebody asks for room.
fn lazy() -> Make {
    Make { frames: 512, redo_bytes_max: 1 << 30, checkpoint_bytes: 1 << 30, ..Make::small() }
}

/// A commit in a group of its own, of which a log has only so many.
fn step(world: &World, set: &Arc<DataSet>, by: u64) -> Result<(), TreeError> {
    world.commit(|work| work.put(set, &key(3), &value(3, by, 100)))
}

/// A conversion that lacks room asks for it itself: there may be nobody else to do so.
///
/// # Errors
/// If it waits for ever.
pub fn a_conversion_makes_itself_room(seed: u64) -> Result<(), Wrong> {
    verify::run(seed, &SimDisk::new(), |seam| {
        lazy().create(seam)?;
        let world = World::new(lazy().open(seam)?, History::default(), lazy());
        filled(&world, 40, 200)?;
        let (kernel, one) = (&world.kernel, world.set("one"));
        // So much is kept from whoever can wait.
        let kept = kernel.log().capacity_bytes() / 8;
        let mut by = 0;
        while kernel.log().room() > kept + (32 << 10) {
            by += 1;
            step(&world, &one, by)?;
        }
        // The kernel itself goes on without asking.
        while kernel.log().room() >= kept {
            let end = kernel.redefine_set(&one, |_| Ok(()))?;
            kernel.log().wait_durable(end).map_err(uow::UowError::from)?;
        }
        kernel.convert(&one, Form::sealed(KeyGeneration(2)), 0)?;
        verify::wait_for_conversions(kernel)
    })
}

/// The disk has no room for more segments than the first ones: the log goes on in those.
///
/// # Errors
/// If somebody is told that the log is full.
pub fn a_log_lives_in_what_its_disk_has(seed: u64) -> Result<(), Wrong> {
    let disk = SimDisk::new();
    let medium = disk.clone();
    verify::run(seed, &disk, move |seam| {
        let mut config = lazy().config();
        (config.log.segments_min, config.log.segments_max) = (4, 40);
        let parts = lazy().parts(seam.clone());
        uow::Kernel::create(&parts, &config)?;
        for slot in 4..100 {
            let path = format!("/log1/segment-{slot:03}.stripe-0*");
            medium.inject(Fault::new(FaultKind::NoSpace, path));
        }
        let kernel = uow::Kernel::open(parts, config)?;
        let world = World::new(Arc::clone(&kernel), History::default(), lazy());
        filled(&world, 40, 200)?;
        let one = world.set("one");
        // Several times what the log holds.
        (0..200).try_for_each(|by| step(&world, &one, by))?;
        Ok(kernel.close()?)
    })
}
