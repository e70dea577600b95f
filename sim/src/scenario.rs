//! Scripted scenarios, each short enough to crash it at every write.

use std::sync::Arc;

use base::CiNumber;
use base::hash::avalanche;
use btree::TreeError;
use seam::sim::{Fault, FaultKind};
use uow::{PoolPlan, UowError};

use crate::history::{LEDGER, Records};
use crate::machine::Make;
use crate::world::{Commit, World};

/// A scenario.
#[derive(Clone, Copy)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// What it is about.
    pub about: &'static str,
    /// The machine.
    pub make: fn() -> Make,
    /// Whether the system crashes at some late write of the setup; it is stopped in order
    /// otherwise.
    pub crashed: bool,
    /// What happens before the sweep begins.
    pub setup: fn(&World) -> Result<(), TreeError>,
    /// What is swept.
    pub script: fn(&World) -> Result<(), TreeError>,
}

/// The key of record `n`.
#[must_use]
pub fn key(n: u64) -> Vec<u8> {
    format!("record{n:06}").into_bytes()
}

/// A value that tells who wrote it, `len` bytes long.
#[must_use]
pub fn value(n: u64, by: u64, len: usize) -> Vec<u8> {
    let mut value = format!("{n} by {by}: ").into_bytes();
    let mut word = avalanche(n ^ by << 32);
    while value.len() < len {
        value.extend_from_slice(&word.to_le_bytes());
        word = avalanche(word);
    }
    value.truncate(len);
    value
}

/// Sorted records `from..to` with values of `len` bytes.
#[must_use]
pub fn records(from: u64, to: u64, len: usize) -> Records {
    (from..to).map(|n| (key(n), value(n, 0, len))).collect()
}

/// Makes the ledger and a data set `one` with records `0..count`.
pub(crate) fn filled(world: &World, count: u64, len: usize) -> Result<(), TreeError> {
    world.make_set(LEDGER)?;
    let one = world.make_set("one")?;
    world.commit(|work| work.load(&one, &records(0, count, len)))
}

/// A machine that writes pages all the time.
fn busy() -> Make {
    Make { redo_bytes_max: 6 << 10, checkpoint_bytes: 12 << 10, ..Make::small() }
}

/// Units of work before, across and behind checkpoints.
pub const CHECKPOINT: Scenario = Scenario {
    name: "checkpoint",
    about: "units of work before, across and behind checkpoints",
    make: busy,
    crashed: false,
    setup: |world| filled(world, 60, 60),
    script: |world| {
        let one = world.set("one");
        world.commit(|work| work.put(&one, &key(1), &value(1, 1, 80)))?;
        let mut across = world.begin()?;
        across.put(&one, &key(2), &value(2, 2, 80))?;
        world.kernel.checkpoint_now(false)?;
        across.remove(&one, &key(3))?;
        world.commit(|work| work.put(&one, &key(4), &value(4, 4, 90)))?;
        let mut lost = world.begin()?;
        lost.put(&one, &key(5), &value(5, 5, 90))?;
        world.kernel.checkpoint_now(false)?;
        across.commit(Commit::Wait)?;
        lost.put(&one, &key(6), &value(6, 6, 90))?;
        world.commit(|work| work.remove(&one, &key(7)).map(|_| ()))?;
        lost.back_out()?;
        for n in 10..40 {
            world.commit(|work| work.put(&one, &key(n * 7 % 60), &value(n, n, 400)))?;
        }
        world.kernel.checkpoint_now(false)?;
        world.commit(|work| work.put(&one, &key(8), &value(8, 8, 90)))
    },
};

/// A pool that grows and shrinks between changes and checkpoints.
pub const RESIZE: Scenario = Scenario {
    name: "resize",
    about: "a pool that grows and shrinks between changes and checkpoints",
    // No page is written before its time: what was changed stays in its frame.
    make: || Make {
        frames: 24,
        checkpoint_bytes: 1 << 20,
        redo_bytes_max: 1 << 20,
        ..Make::small()
    },
    crashed: false,
    setup: |world| filled(world, 120, 300),
    script: |world| {
        let one = world.set("one");
        let mut across = world.begin()?;
        across.put(&one, &key(119), &value(119, 1, 80))?;
        for (round, frames) in [60, 24, 80, 20].into_iter().enumerate() {
            world.kernel.resize_pool("default", frames)?;
            world.kernel.checkpoint_now(false)?;
            let (by, first) = (round as u64 + 2, round as u64 * 25);
            for n in (first..first + 25).step_by(4) {
                world.commit(|work| work.put(&one, &key(n), &value(n, by, 300)))?;
            }
        }
        across.commit(Commit::Wait)?;
        world.commit(|work| work.remove(&one, &key(7)).map(|_| ()))
    },
};

/// A data set that moves to another pool and back while a program works on it.
pub const ASSIGN: Scenario = Scenario {
    name: "assign",
    about: "a data set that moves to another pool and back while a program works on it",
    make: || Make {
        frames: 40,
        checkpoint_bytes: 1 << 20,
        redo_bytes_max: 1 << 20,
        ..Make::small()
    },
    crashed: false,
    setup: |world| filled(world, 60, 300),
    script: |world| {
        let one = world.set("one");
        let unit_bytes = one.unit_bytes();
        for round in 0..2_u64 {
            let plan = PoolPlan { name: "other".into(), unit_bytes, frames: 30 };
            world.kernel.add_pool(&plan)?;
            let put = |n: u64| world.commit(|work| work.put(&one, &key(n), &value(n, round, 300)));
            (0..60).step_by(5).try_for_each(put)?;
            for pool in ["other", "default"] {
                let kernel = Arc::clone(&world.kernel);
                let assign = move || drop(kernel.assign_set("one", pool));
                // What somebody has stays where it is, and is found there.
                let here = (4..one.intervals()).filter_map(|ci| one.pin(CiNumber(ci)).ok());
                let pins: Vec<_> = here.take(12).collect();
                let mover = seam::thread::spawn("assign", assign);
                (1..60).step_by(7).try_for_each(put)?;
                drop(pins);
                mover.map_err(UowError::from)?.join();
                world.kernel.assign_set("one", pool)?;
                world.kernel.checkpoint_now(false)?;
            }
            world.kernel.delete_pool("other")?;
        }
        world.commit(|work| work.remove(&one, &key(7)).map(|_| ()))
    },
};

/// The log goes from segment to segment and around.
pub const SEGMENTS: Scenario = Scenario {
    name: "segments",
    about: "a striped log that goes from segment to segment and around",
    make: || Make {
        stripes: 2,
        segment_bytes: 24 << 10,
        segments_max: 16,
        group_bytes_max: 8 << 10,
        ..busy()
    },
    crashed: false,
    setup: |world| filled(world, 20, 60),
    script: |world| {
        let one = world.set("one");
        let mut long = world.begin()?;
        long.put(&one, &key(0), b"long")?;
        for n in 1..40 {
            world.commit(|work| {
                work.put(&one, &key(n % 20 + 1), &value(n, n, 900))?;
                work.put(&one, &key(n % 20 + 100), &value(n, n, 900))
            })?;
            if n == 20 {
                long.put(&one, &key(50), b"longer")?;
            }
            if n == 30 {
                break;
            }
        }
        long.back_out()?;
        world.commit(|work| work.remove(&one, &key(3)).map(|_| ()))
    },
};

/// Nodes split, up to the root, for units of work that commit and that do not.
pub const SPLIT: Scenario = Scenario {
    name: "split",
    about: "nodes split, up to the root, for units of work that commit and that do not",
    make: busy,
    crashed: false,
    setup: |world| filled(world, 2, 100),
    script: |world| {
        let one = world.set("one");
        for n in 0..12 {
            world.commit(|work| {
                (0..4).try_for_each(|m| {
                    let n = (n * 4 + m) * 37 % 101 + 2;
                    work.put(&one, &key(n), &value(n, 1, 300))
                })
            })?;
        }
        let mut lost = world.begin()?;
        for n in 0..24 {
            lost.put(&one, &key(500 + n * 5 % 24), &value(n, 2, 500))?;
        }
        world.commit(|work| work.put(&one, &key(600), &value(600, 3, 500)))?;
        lost.back_out()?;
        let mut unfinished = world.begin()?;
        for n in 0..16 {
            unfinished.put(&one, &key(300 + n), &value(n, 4, 500))?;
        }
        world.commit(|work| work.put(&one, &key(299), &value(299, 5, 500)))
    },
};

/// Ranges go, nodes merge, their space is used again.
pub const RANGE_DELETE: Scenario = Scenario {
    name: "range-delete",
    about: "ranges go, nodes merge, their space is used again",
    make: busy,
    crashed: false,
    setup: |world| filled(world, 150, 200),
    script: |world| {
        let one = world.set("one");
        world.commit(|work| work.remove_range(&one, &key(20), &key(70)).map(|_| ()))?;
        for n in 20..30 {
            world.commit(|work| work.put(&one, &key(n), &value(n, 1, 300)))?;
        }
        let mut lost = world.begin()?;
        lost.remove_range(&one, &key(60), &key(140))?;
        lost.put(&one, &key(100), &value(100, 2, 300))?;
        lost.back_out()?;
        for n in (70..100).rev() {
            world.commit(|work| work.remove(&one, &key(n)).map(|_| ()))?;
        }
        world.commit(|work| work.remove_range(&one, &key(0), &key(1_000)).map(|_| ()))?;
        let mut unfinished = world.begin()?;
        for n in 0..20 {
            unfinished.put(&one, &key(n), &value(n, 3, 300))?;
        }
        world.commit(|work| work.sign())
    },
};

/// Savepoints, rollbacks, backouts; undo that reads the log.
pub const BACKOUT: Scenario = Scenario {
    name: "backout",
    about: "savepoints, rollbacks, backouts, and undo that has to read the log",
    make: || Make { undo_bytes_max: 600, ..busy() },
    crashed: false,
    setup: |world| filled(world, 60, 150),
    script: |world| {
        let one = world.set("one");
        let mut work = world.begin()?;
        work.put(&one, &key(1), &value(1, 1, 150))?;
        let first = work.savepoint();
        for n in 2..8 {
            work.put(&one, &key(n), &value(n, 1, 200))?;
        }
        let second = work.savepoint();
        work.remove_range(&one, &key(10), &key(30))?;
        work.roll_back(second)?;
        work.put(&one, &key(12), &value(12, 1, 100))?;
        work.roll_back(first)?;
        work.put(&one, &key(13), &value(13, 1, 100))?;
        work.commit(Commit::Wait)?;
        let mut lost = world.begin()?;
        for n in 20..40 {
            lost.put(&one, &key(n * 3), &value(n, 2, 250))?;
            if n == 30 {
                lost.sign()?;
            }
        }
        let point = lost.savepoint();
        (40..45).try_for_each(|n| lost.remove(&one, &key(n)).map(|_| ()))?;
        lost.roll_back(point)?;
        world.commit(|work| work.put(&one, &key(14), &value(14, 3, 100)))?;
        lost.back_out()?;
        let mut unfinished = world.begin()?;
        unfinished.put(&one, &key(15), b"short")?;
        let point = unfinished.savepoint();
        unfinished.put(&one, &key(16), b"short")?;
        unfinished.roll_back(point)?;
        unfinished.put(&one, &key(17), b"short")?;
        world.commit(|work| work.put(&one, &key(18), &value(18, 4, 100)))
    },
};

/// Values that take intervals of their own come, change and go.
pub const OVERFLOW: Scenario = Scenario {
    name: "overflow",
    about: "values that take intervals of their own come, change and go",
    make: busy,
    crashed: false,
    setup: |world| filled(world, 10, 60),
    script: |world| {
        let one = world.set("one");
        for n in 0..4 {
            world.commit(|work| work.put(&one, &key(n), &value(n, 1, 9_000)))?;
        }
        world.commit(|work| work.put(&one, &key(1), &value(1, 2, 13_000)))?;
        let mut lost = world.begin()?;
        lost.put(&one, &key(2), &value(2, 3, 5_000))?;
        lost.remove(&one, &key(3))?;
        lost.put(&one, &key(50), &value(50, 3, 6_000))?;
        lost.back_out()?;
        world.commit(|work| work.remove(&one, &key(0)).map(|_| ()))?;
        world.commit(|work| work.put(&one, &key(5), &value(5, 4, 17_000)))?;
        world.commit(|work| work.remove_range(&one, &key(1), &key(4)).map(|_| ()))?;
        let mut unfinished = world.begin()?;
        unfinished.put(&one, &key(6), &value(6, 5, 9_000))?;
        unfinished.put(&one, &key(5), &value(5, 5, 40))?;
        world.commit(|work| work.put(&one, &key(7), &value(7, 6, 8_000)))
    },
};

/// Bulk loads that are committed, backed out, and cut short.
pub const LOAD: Scenario = Scenario {
    name: "load",
    about: "bulk loads that are committed, backed out, and cut short",
    make: busy,
    crashed: false,
    setup: |world| {
        filled(world, 4, 60)?;
        for name in ["two", "three", "four"] {
            world.make_set(name)?;
        }
        Ok(())
    },
    script: |world| {
        let sets = ["two", "three", "four"].map(|name| world.set(name));
        world.commit(|work| work.load(&sets[0], &records(0, 120, 200)))?;
        let mut lost = world.begin()?;
        lost.load(&sets[1], &records(0, 80, 200))?;
        lost.back_out()?;
        world.commit(|work| work.load(&sets[1], &records(0, 20, 1_500)))?;
        let mut unfinished = world.begin()?;
        unfinished.load(&sets[2], &records(0, 80, 200))?;
        world.commit(|work| work.put(&world.set("one"), &key(1), b"other"))
    },
};

/// Loads that are longer than the log: committed, backed out, and cut short.
pub const LONG_LOAD: Scenario = Scenario {
    name: "long-load",
    about: "loads longer than the log, which is used again behind their backs",
    make: || Make { segment_bytes: 24 << 10, segments_max: 5, group_bytes_max: 8 << 10, ..busy() },
    crashed: false,
    setup: |world| {
        filled(world, 4, 60)?;
        for name in ["two", "three"] {
            world.make_set(name)?;
        }
        Ok(())
    },
    script: |world| {
        let [one, two, three] = ["one", "two", "three"].map(|name| world.set(name));
        let begin = world.kernel.log().next_lsn();
        let mut lost = world.begin()?;
        lost.put(&one, &key(1), b"before it")?;
        lost.load(&two, &records(0, 90, 1_200))?;
        used_again_since(world, begin);
        let point = lost.savepoint();
        lost.put(&one, &key(2), b"behind it")?;
        lost.roll_back(point)?;
        lost.put(&one, &key(2), b"behind it again")?;
        world.kernel.checkpoint_now(false)?;
        lost.back_out()?;
        let begin = world.kernel.log().next_lsn();
        world.commit(|work| work.load(&two, &records(0, 90, 1_200)))?;
        used_again_since(world, begin);
        let begin = world.kernel.log().next_lsn();
        let mut unfinished = world.begin()?;
        unfinished.load(&three, &records(0, 90, 1_200))?;
        used_again_since(world, begin);
        world.commit(|work| work.put(&one, &key(1), b"other"))
    },
};

/// Panics if the log still has what was logged at `begin`.
fn used_again_since(world: &World, begin: base::Lsn) {
    let oldest = world.kernel.log().segments()[0].first;
    assert!(oldest > begin, "the log still begins at {oldest}, although {begin} is long ago");
}

/// A file is cut behind its last interval in use, and grows again.
pub const REGROW: Scenario = Scenario {
    name: "regrow",
    about: "a file is cut behind its last interval in use, and grows again",
    make: || Make { segments_max: 8, ..busy() },
    crashed: false,
    setup: |world| {
        filled(world, 160, 1_800)?;
        Ok(world.kernel.write_out()?)
    },
    script: |world| {
        let one = world.set("one");
        let grown = one.intervals();
        world.commit(|work| work.remove_range(&one, &key(2), &key(1_000)).map(|_| ()))?;
        for n in 0..6 {
            world.commit(|work| work.put(&one, &key(n), &value(n, 1, 300)))?;
            world.kernel.settle_frees(one.id())?;
            world.kernel.write_out()?;
            world.kernel.checkpoint_now(false)?;
        }
        let cut = one.intervals();
        assert!(cut < grown, "the file was cut: {cut} of {grown}, peak {:?}", one.watch_peak());
        for n in 0..130 {
            world.commit(|work| work.put(&one, &key(n * 37 % 130), &value(n, 2, 1_700)))?;
        }
        assert!(one.intervals() > cut, "and grew again: {}", one.intervals());
        Ok(())
    },
};

/// Data sets are made and dropped; units of work span several.
pub const SETS: Scenario = Scenario {
    name: "sets",
    about: "data sets are made and dropped, units of work span several",
    make: || Make { file_intervals: 6, ..busy() },
    crashed: false,
    setup: |world| filled(world, 10, 60),
    script: |world| {
        let one = world.set("one");
        let two = world.make_set("two")?;
        let three = world.make_set("three")?;
        for n in 0..8 {
            world.commit(|work| {
                work.put(&one, &key(n), &value(n, 1, 300))?;
                work.put(&two, &key(n), &value(n, 2, 700))?;
                work.put(&three, &key(n), &value(n, 3, 700))
            })?;
        }
        world.drop_set(&two)?;
        drop(two);
        let four = world.make_set("four")?;
        world.commit(|work| {
            work.put(&four, &key(1), &value(1, 4, 300))?;
            work.remove(&three, &key(1)).map(|_| ())
        })?;
        let mut lost = world.begin()?;
        lost.put(&four, &key(2), &value(2, 5, 300))?;
        lost.put(&one, &key(2), &value(2, 5, 300))?;
        world.drop_set(&three)?;
        drop(three);
        lost.back_out()?;
        let two = world.make_set("two again")?;
        world.commit(|work| work.put(&two, &key(1), &value(1, 6, 300)))
    },
};

/// Far more intervals than frames: pages are written and read all the time.
pub const PAGES: Scenario = Scenario {
    name: "pages",
    about: "far more intervals than frames: pages are stolen, written and read all the time",
    make: || Make { frames: 16, redo_bytes_max: 3 << 10, ..Make::small() },
    crashed: false,
    setup: |world| filled(world, 160, 500),
    script: |world| {
        let one = world.set("one");
        for n in 0..14 {
            world.commit(|work| {
                (0..3).try_for_each(|m| {
                    let n = (n * 3 + m) * 53 % 160;
                    work.put(&one, &key(n), &value(n, 1, 500))
                })
            })?;
        }
        world.commit(|work| work.put(&one, &key(1), &value(1, 2, 500)))
    },
};

/// The first log copy dies.
pub const LOST_FIRST: Scenario = Scenario {
    name: "lost-first-copy",
    about: "the first of two log copies dies while units of work go on",
    make: || Make { copies: 2, ..busy() },
    crashed: false,
    setup: |world| filled(world, 10, 60),
    script: |world| lose(world, "/log1"),
};

/// The second log copy dies.
pub const LOST_SECOND: Scenario = Scenario {
    name: "lost-second-copy",
    about: "the second of two striped log copies dies while units of work go on",
    make: || Make { copies: 2, stripes: 2, ..busy() },
    crashed: false,
    setup: |world| filled(world, 10, 60),
    script: |world| lose(world, "/log2"),
};

fn lose(world: &World, folder: &str) -> Result<(), TreeError> {
    let one = world.set("one");
    for n in 0..4 {
        world.commit(|work| work.put(&one, &key(n), &value(n, 1, 200)))?;
    }
    if let Some(disk) = &world.disk {
        disk.inject(Fault::new(FaultKind::Dead, folder));
    }
    for n in 0..20 {
        world.commit(|work| work.put(&one, &key(n), &value(n, 2, 500)))?;
    }
    Ok(())
}

/// Readers who see what is committed and not durable yet.
pub const READERS: Scenario = Scenario {
    name: "readers",
    about: "readers who see what is committed and not durable yet",
    make: busy,
    crashed: false,
    setup: |world| filled(world, 30, 60),
    script: |world| {
        let one = world.set("one");
        for n in 0..20 {
            let mut writer = world.begin()?;
            writer.put(&one, &key(n), &value(n, 1, 300))?;
            writer.commit(Commit::Queued)?;
            let mut reader = world.begin()?;
            reader.read(&one, &key(n))?;
            reader.read(&one, &key(n + 1))?;
            reader.commit([Commit::Wait, Commit::Early, Commit::Queued][n as usize % 3])?;
        }
        let mut reader = world.begin()?;
        reader.read_all(&one)?;
        reader.commit(Commit::Wait)
    },
};

/// An orderly stop with work behind commits.
pub const ORDERLY_STOP: Scenario = Scenario {
    name: "orderly-stop",
    about: "an orderly stop with dirty pages and intervals to free",
    make: || Make { redo_bytes_max: 1 << 20, checkpoint_bytes: 1 << 20, ..Make::small() },
    crashed: false,
    setup: |world| filled(world, 30, 60),
    script: |world| {
        let one = world.set("one");
        world.commit(|work| work.put(&one, &key(1), &value(1, 1, 9_000)))?;
        for n in 0..20 {
            world.commit(|work| work.put(&one, &key(n * 2), &value(n, 2, 400)))?;
        }
        world.commit(|work| work.remove(&one, &key(0)).map(|_| ()))?;
        Ok(world.kernel.close()?)
    },
};

/// Restart itself, with units of work to back out and a batch of pages that was cut short.
pub const RESTART: Scenario = Scenario {
    name: "restart",
    about: "restart itself, with much to redo, to back out and to repair",
    make: || Make {
        redo_bytes_max: 24 << 10,
        checkpoint_bytes: 1 << 20,
        segments_max: 24,
        ..Make::dual()
    },
    crashed: true,
    setup: |world| {
        filled(world, 100, 200)?;
        let one = world.set("one");
        let mut first = world.begin()?;
        first.put(&one, &key(1), &value(1, 1, 200))?;
        world.kernel.checkpoint_now(false)?;
        let mut second = world.begin()?;
        for n in 2..12 {
            first.put(&one, &key(n * 8), &value(n, 1, 250))?;
            second.put(&one, &key(n * 8 + 1), &value(n, 2, 250))?;
            world.commit(|work| work.put(&one, &key(n * 8 + 2), &value(n, 3, 400)))?;
        }
        first.remove(&one, &key(5))?;
        second.put(&one, &key(200), &value(200, 2, 9_000))?;
        for n in 0..60 {
            world.commit(|work| work.put(&one, &key(100 + n), &value(n, 4, 400)))?;
        }
        drop((first, second));
        Ok(())
    },
    script: |_| Ok(()),
};
