//! Several machine threads that share a pile of work: each simulated machine runs on one of them.

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

#[cfg(test)]
mod tests {
    #[test]
    fn results_stand_in_the_order_of_the_jobs() {
        let jobs: Vec<u64> = (0..100).collect();
        assert_eq!(super::all(&jobs, |job| job * 2), (0..200).step_by(2).collect::<Vec<_>>());
    }
}
