//! Pools that change their size under load: how long it takes, and what the load notices of it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::{Benchmark, Context, PlotBuilder};
use crate::document::{Check, Document, Figure, Shape};
use crate::error::{BenchError, Result};
use crate::harness::Spread;
use crate::ours::{Checkpoints, Form, Store, StoreSetup};
use crate::workload::{self, Random};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "pool",
    title: "Pools under load",
    about: "A program reads records of a working set of fewer than 400 frames, as fast as it can, \
            while its pool goes from 1,000 frames to 4,000 and to 400, and another pool of 4,000 \
            is deleted. Each must take at most 50 ms, and the program's rate may fall by at most \
            1 % more than it does by itself from one slice to the next. Then the same with a \
            program that changes what it reads.",
    takes: "2 minutes",
    run,
};

const CHANGE_MS: f64 = 50.0;
const DIP_PERCENT: f64 = 1.0;
const FRAMES: [usize; 3] = [1_000, 4_000, 400];
/// About 200 intervals with what leads to them.
const RECORDS: u64 = 14_000;

/// What a program does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Reads,
    Changes,
}

/// What was measured with one of them.
struct Measured {
    /// Milliseconds to 4,000, to 400, deleted.
    took: [Spread; 3],
    /// By how many percent the rate was lower in the slice with the changes.
    dip: Spread,
    /// The same for a slice without.
    noise: Spread,
}

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let names = ["1,000 to 4,000 frames", "4,000 to 400 frames", "a pool of 4,000 deleted"];
    let dip_name = "rate lost to the changes, beyond noise";
    let Some(kernel) = context.kernel else {
        for name in names {
            document.checks.push(Check::at_most(name, None, CHANGE_MS, "ms"));
        }
        document.checks.push(Check::at_most(dip_name, None, DIP_PERCENT, "%"));
        return Ok(());
    };
    let folder = context.folder.join("store");
    std::fs::create_dir_all(&folder).map_err(BenchError::system("create", &folder))?;
    let store = kernel.create_store(&StoreSetup {
        folder,
        form: Form::Sealed,
        copies: 1,
        pool_bytes: 8 << 20,
        checkpoints: Checkpoints::Default,
        buffered: true,
    })?;
    let mut records = (0..RECORDS).map(|number| (workload::key(number), workload::value(number)));
    store.load(&mut records)?;
    let mut plot = PlotBuilder::new("Changing a pool under load", "ms", Shape::Bars, "");
    for (does, load) in [(Does::Reads, "reads"), (Does::Changes, "changes")] {
        let measured = measure(context, &*store, does)?;
        plot.column(load);
        for (name, took) in names.iter().zip(&measured.took) {
            plot.value(name, took.median, Some([took.first_quartile, took.third_quartile]));
            let figure = format!("{load}: {name}");
            document.figures.insert(figure, Figure::new(took, "ms"));
            if does == Does::Reads {
                document.checks.push(Check::at_most(name, Some(took.median), CHANGE_MS, "ms"));
            }
        }
        document.figures.insert(format!("{load}: dip"), Figure::new(&measured.dip, "%"));
        document.figures.insert(format!("{load}: noise"), Figure::new(&measured.noise, "%"));
        let noise = (measured.noise.third_quartile - measured.noise.first_quartile) / 2.0;
        let beyond = measured.dip.median - measured.noise.median.max(0.0) - noise;
        if does == Does::Reads {
            document.checks.push(Check::at_most(dip_name, Some(beyond), DIP_PERCENT, "%"));
        }
    }
    plot.finish(document);
    Ok(())
}

fn measure(context: &Context, store: &dyn Store, does: Does) -> Result<Measured> {
    let rounds = context.settings.pick(21, 5);
    let slice = context.settings.pick(Duration::from_millis(700), Duration::from_millis(200));
    let (done, ended) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let program = scope.spawn(|| work(store, does, &done, &ended));
        let observed = observe(store, rounds, slice, &done);
        ended.store(true, Relaxed);
        let worked = program.join();
        worked.map_err(|_| BenchError::subject("holdfast", "work", "the program panicked"))??;
        observed
    })
}

/// A program: what it does, and how often it has.
fn work(store: &dyn Store, does: Does, done: &AtomicU64, ended: &AtomicBool) -> Result<()> {
    let (mut random, mut session) = (Random::new(1), store.session()?);
    while !ended.load(Relaxed) {
        let key = workload::key(random.below(RECORDS));
        match does {
            Does::Reads => {
                session.get(&key, &mut |value| _ = std::hint::black_box(value))?;
            }
            Does::Changes => {
                let change = &mut |value: &mut [u8]| workload::add_to_balance(value, 1);
                let _position = session.update_queued(&key, change)?;
            }
        }
        done.fetch_add(1, Relaxed);
    }
    Ok(())
}

fn observe(
    store: &dyn Store,
    rounds: usize,
    slice: Duration,
    done: &AtomicU64,
) -> Result<Measured> {
    let (mut took, mut dips, mut noises) = (<[Vec<f64>; 3]>::default(), Vec::new(), Vec::new());
    for round in 0..=rounds {
        store.resize_pool(FRAMES[0])?;
        store.add_pool(FRAMES[1])?;
        let before = rate(slice, done, || Ok(()))?;
        let changed = rate(slice, done, || {
            for (at, took) in took.iter_mut().enumerate() {
                let begin = Instant::now();
                match at {
                    0 | 1 => store.resize_pool(FRAMES[at + 1])?,
                    _ => store.delete_pool()?,
                }
                if round > 0 {
                    took.push(begin.elapsed().as_secs_f64() * 1e3);
                }
            }
            Ok(())
        })?;
        let after = rate(slice, done, || Ok(()))?;
        if round > 0 {
            let usual = f64::midpoint(before, after);
            dips.push(100.0 * (1.0 - changed / usual));
            noises.push(100.0 * (1.0 - after / before));
        }
    }
    Ok(Measured { took: took.map(Spread::of), dip: Spread::of(dips), noise: Spread::of(noises) })
}

/// What the program does in a second while something else happens.
fn rate(slice: Duration, done: &AtomicU64, meanwhile: impl FnOnce() -> Result<()>) -> Result<f64> {
    let (begin, first) = (Instant::now(), done.load(Relaxed));
    meanwhile()?;
    std::thread::sleep(slice.saturating_sub(begin.elapsed()));
    Ok((done.load(Relaxed) - first) as f64 / begin.elapsed().as_secs_f64())
}
