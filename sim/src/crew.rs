//! Several machine threads that share a pile of work: each simulated machine runs on one of them.
//!
//! `HOLDFAST_SEEDS=FROM..TO` runs other seeds than the usual ones; a failure names its seed.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use parking_lot::Mutex;

/// Applies `body` to every job on all processors; the results stand in the order of the jobs.
///
/// # Panics
/// If `body` does.
pub fn all<J: Sync, R: Send>(jobs: &[J], body: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, R)>> = Mutex::default();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(jobs.len()) {
            scope.spawn(|| {
                while let Some((number, job)) = {
                    let number = next.fetch_add(1, Relaxed);
                    jobs.get(number).map(|job| (number, job))
                } {
                    let result = body(job);
                    results.lock().push((number, result));
                }
            });
        }
    });
    let mut results = results.into_inner();
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

/// The seeds of a test: those of `HOLDFAST_SEEDS`, or the usual ones.
///
/// # Panics
/// If the variable is no range.
#[must_use]
pub fn seeds(usual: Range<u64>) -> Vec<u64> {
    let Ok(text) = std::env::var("HOLDFAST_SEEDS") else { return usual.collect() };
    let bounds = text.split_once("..").map(|(from, to)| (from.parse(), to.parse()));
    match bounds {
        Some((Ok(from), Ok(to))) => (from..to).collect(),
        _ => panic!("HOLDFAST_SEEDS={text} is no range such as 1..100"),
    }
}

/// What each seed came to, in their order.
///
/// # Panics
/// With every seed that found something.
pub fn each<T: Send>(usual: Range<u64>, run: impl Fn(u64) -> Result<T, String> + Sync) -> Vec<T> {
    let seeds = seeds(usual);
    let (mut fine, mut failures) = (Vec::new(), Vec::new());
    for (seed, outcome) in seeds.iter().zip(all(&seeds, |seed| run(*seed))) {
        match outcome {
            Ok(one) => fine.push(one),
            Err(why) => failures.push(format!("seed {seed}: {why}")),
        }
    }
    assert!(failures.is_empty(), "{} seeds failed:\n{}", failures.len(), failures.join("\n"));
    fine
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_stand_in_the_order_of_the_jobs() {
        let jobs: Vec<u64> = (0..100).collect();
        assert_eq!(super::all(&jobs, |job| job * 2), (0..200).step_by(2).collect::<Vec<_>>());
    }
}
