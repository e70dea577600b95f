//! Commits that are durable in the write-ahead data set before the log has them (K11).

use seam::sim::{Rng, SimDisk};

use crate::machine::Make;
use crate::media::{self, Met};
use crate::scenario::{self, Scenario, filled, key, value};

/// A system whose only write-ahead data set was overwritten as a whole after a crash says so: by
/// zeros, by noise, by the file of another life.
///
/// # Errors
/// If it starts, or does not name what is wrong.
pub fn overwritten_is_named(seed: u64) -> Result<(), String> {
    let make = Make { copies: 2, ahead: 1, ..Make::small() };
    let rested = media::crashed(&make, seed);
    let of_ahead =
        |disk: &SimDisk| media::files(disk).into_iter().find(|path| path.starts_with("/ahead1"));
    let path = of_ahead(&rested.disk).ok_or("nothing was written ahead")?;
    let len = rested.disk.len_raw(&path) as usize;
    let other = media::crashed(&make, seed + 1_000).disk;
    let mut noise = vec![0; len];
    Rng::new(seed).fill(&mut noise);
    for bytes in [vec![0; len], noise, other.read_raw(&path, 0, len)] {
        let disk = rested.disk.snapshot();
        disk.write_raw(&path, 0, &bytes);
        match media::meet(&rested, &disk, seed)? {
            Met::Named(why) if why.contains("write-ahead") => {}
            met => return Err(format!("{} was overwritten: {met:?}", path.display())),
        }
    }
    Ok(())
}

fn ahead() -> Make {
    Make { ahead: 2, ..Make::dual() }
}

/// Small commits, pages written behind them, checkpoints.
pub const COMMITS: Scenario = Scenario {
    name: "ahead",
    about: "small commits go ahead of the log, pages and checkpoints follow them",
    make: || Make { frames: 16, redo_bytes_max: 6 << 10, checkpoint_bytes: 12 << 10, ..ahead() },
    crashed: false,
    setup: |world| filled(world, 80, 500),
    script: |world| {
        let one = world.set("one");
        for n in 0..16 {
            world.commit(|work| work.put(&one, &key(n * 53 % 80), &value(n, 1, 300)))?;
        }
        world.commit(|work| work.put(&one, &key(1), &value(1, 2, 500)))
    },
};

/// Backouts that read what only the write-ahead data set has.
pub const BACKOUT: Scenario = Scenario {
    name: "ahead-backout",
    make: || Make { undo_bytes_max: 0, ..ahead() },
    ..scenario::BACKOUT
};

/// Segments are used again while commits go ahead.
pub const SEGMENTS: Scenario = Scenario {
    name: "ahead-segments",
    make: || Make { ahead: 1, ..(scenario::SEGMENTS.make)() },
    ..scenario::SEGMENTS
};

/// A restart after a crash that left everything ahead of the log.
pub const RESTART: Scenario = Scenario {
    name: "ahead-restart",
    make: || Make { ahead: 2, ..(scenario::RESTART.make)() },
    ..scenario::RESTART
};
