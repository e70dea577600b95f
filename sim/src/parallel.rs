//! Several machine threads that share a pile of work: each simulated machine runs on one of them.
//!
//! `HOLDFAST_SEEDS=FROM..TO` runs other seeds than the usual ones; a failure says
//! with which command its seed alone runs again.

use std::ops::Range;
use std::path::Path;
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
    judged(&seeds(usual), run)
}

fn judged<T: Send>(seeds: &[u64], run: impl Fn(u64) -> Result<T, String> + Sync) -> Vec<T> {
    let (mut fine, mut failures) = (Vec::new(), Vec::new());
    for (seed, outcome) in seeds.iter().zip(all(seeds, |seed| run(*seed))) {
        match outcome {
            Ok(one) => fine.push(one),
            Err(why) => failures.push(format!("seed {seed}: {why}\n  {}", repeats(*seed))),
        }
    }
    assert!(failures.is_empty(), "{} seeds failed:\n{}", failures.len(), failures.join("\n"));
    fine
}

/// The command that runs this seed alone in the test that calls.
fn repeats(seed: u64) -> String {
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_else(|_| "holdfast-sim".to_owned());
    let binary = std::env::current_exe().unwrap_or_default();
    let thread = std::thread::current();
    command(seed, &package, &binary, thread.name().filter(|name| *name != "main"))
}

/// `binary` is named as Cargo names tests: the file of the test, `-`, and a hash.
fn command(seed: u64, package: &str, binary: &Path, test: Option<&str>) -> String {
    let stem = binary.file_stem().unwrap_or_default().to_string_lossy();
    let file = stem.rsplit_once('-').map_or(&*stem, |(file, _)| file);
    let which = match file.replace('_', "-") == package {
        true => "--lib".to_owned(),
        false => format!("--test {file}"),
    };
    let only = test.map(|name| format!(" -- --exact {name}")).unwrap_or_default();
    format!(
        "run it again: HOLDFAST_SEEDS={seed}..{} cargo test -p {package} {which}{only}",
        seed + 1
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn a_failing_seed_says_how_it_is_run_again() {
        let of = |binary, test| super::command(7, "holdfast-sim", Path::new(binary), test);
        assert_eq!(
            of("target/debug/deps/all-0123456789abcdef", Some("whole::all_is_kept")),
            "run it again: HOLDFAST_SEEDS=7..8 cargo test -p holdfast-sim --test all \
             -- --exact whole::all_is_kept"
        );
        let lib = of("target/debug/deps/holdfast_sim-0123456789abcdef", None);
        assert!(lib.ends_with("-p holdfast-sim --lib"), "{lib}");
    }

    #[test]
    #[should_panic(expected = "run it again: HOLDFAST_SEEDS=2..3 cargo test -p holdfast-sim")]
    fn every_failing_seed_is_told() {
        super::judged(&[1, 2, 3], |seed| {
            if seed == 2 { Err("lost") } else { Ok(()) }.map_err(str::to_owned)
        });
    }

    #[test]
    fn results_stand_in_the_order_of_the_jobs() {
        let jobs: Vec<u64> = (0..100).collect();
        assert_eq!(super::all(&jobs, |job| job * 2), (0..200).step_by(2).collect::<Vec<_>>());
    }
}
