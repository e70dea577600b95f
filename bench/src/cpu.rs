//! CPU time of this process, of a server with all its children, and of the whole machine.
//!
//! 1. This process is read from the process clock, in nanoseconds, all threads together.
//! 2. A server is its whole tree of processes: each live thread's run time in nanoseconds from
//!    `/proc/PID/task/TID/schedstat`, and the time of children that have ended from the `cutime`
//!    and `cstime` fields of `/proc/PID/stat` (hundredths of a second).
//!    A process alone is read from `utime` and `stime` there.
//! 3. Threads that ended inside a live server process are lost; no peer here has such threads.
//! 4. A process that ends between listing and reading counts as zero, never as an error.

use std::collections::BTreeMap;
use std::fs;

use rustix::time::{ClockId, clock_gettime};

/// Whose CPU time counts for a contestant.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CpuScope {
    /// The library runs inside this process.
    Own,
    /// This process is the client; the server is the tree below this process id.
    WithServer(u32),
    /// The server alone: the tree below this process id. This process only asks.
    Server(u32),
}

/// CPU seconds used so far by everything in `scope`.
pub(crate) fn seconds(scope: CpuScope) -> f64 {
    match scope {
        CpuScope::Own => own_seconds(),
        CpuScope::WithServer(pid) => own_seconds() + tree_seconds(pid),
        CpuScope::Server(pid) => tree_seconds(pid),
    }
}

/// CPU seconds of this process so far, all its threads.
pub(crate) fn own_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// CPU seconds of a process and all its descendants so far.
pub(crate) fn tree_seconds(root: u32) -> f64 {
    let parents = parents();
    let mut members = vec![root];
    let mut next = 0;
    while next < members.len() {
        let parent = members[next];
        members.extend(parents.iter().filter(|(_, of)| **of == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    members.iter().map(|pid| live_seconds(*pid) + ended_children_seconds(*pid)).sum()
}

/// Seconds that the machine's CPUs were busy since boot, all of them added.
pub(crate) fn machine_busy_seconds() -> f64 {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let fields: Vec<f64> = text
        .lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .skip(1)
        .filter_map(|field| field.parse().ok())
        .collect();
    // user nice system idle iowait irq softirq steal: all but the two kinds of idleness.
    let idle: f64 = fields.iter().skip(3).take(2).sum();
    (fields.iter().take(8).sum::<f64>() - idle) / TICKS_PER_SECOND
}

/// Fields of `/proc/PID/stat` after the command name, which may itself hold blanks and brackets;
/// index 0 is the state (field 3 of proc(5)).
pub(crate) fn stat_fields(pid: &str) -> Vec<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after_name = text.rfind(')').map_or("", |end| &text[end + 1..]);
    after_name.split_whitespace().map(str::to_owned).collect()
}

fn parents() -> BTreeMap<u32, u32> {
    let mut parents = BTreeMap::new();
    let Ok(entries) = fs::read_dir("/proc") else { return parents };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        if let Some(parent) =
            stat_fields(&pid.to_string()).get(1).and_then(|ppid| ppid.parse().ok())
        {
            parents.insert(pid, parent);
        }
    }
    parents
}

fn live_seconds(pid: u32) -> f64 {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return 0.0 };
    let nanoseconds: u64 = threads
        .flatten()
        .filter_map(|thread| fs::read_to_string(thread.path().join("schedstat")).ok())
        .filter_map(|text| text.split_whitespace().next()?.parse::<u64>().ok())
        .sum();
    nanoseconds as f64 / 1e9
}

/// CPU seconds of a process's children that have ended, and of theirs.
pub(crate) fn ended_children_seconds(pid: u32) -> f64 {
    stat_seconds(pid, 13)
}

/// CPU seconds of a process with all its threads, those that have ended among them.
pub(crate) fn process_seconds(pid: u32) -> f64 {
    stat_seconds(pid, 11)
}

/// Two times of a process, for its own code and for the system's, which stand side by side.
fn stat_seconds(pid: u32, first: usize) -> f64 {
    let fields = stat_fields(&pid.to_string());
    let times = fields.iter().skip(first).take(2);
    times.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / TICKS_PER_SECOND
}

/// The unit of `/proc` times on every Linux of the last twenty years (`USER_HZ`).
const TICKS_PER_SECOND: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn burn(time: Duration) {
        let start = Instant::now();
        while start.elapsed() < time {
            std::hint::black_box(own_seconds());
        }
    }

    #[test]
    fn the_own_clock_counts_work() {
        let before = own_seconds();
        burn(Duration::from_millis(20));
        assert!(own_seconds() > before + 0.001);
    }

    #[test]
    fn the_tree_of_this_process_contains_a_child_and_its_end() {
        // Threads of tests beside this one end meanwhile, and their time goes with them.
        let counts = || {
            let before = tree_seconds(std::process::id());
            let status = std::process::Command::new("sh")
                .args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"])
                .status();
            assert!(status.is_ok_and(|status| status.success()));
            tree_seconds(std::process::id()) > before + 0.01
        };
        assert!((0..50).any(|_| counts()));
    }

    #[test]
    fn the_machine_is_at_least_as_busy_as_this_process() {
        let before = machine_busy_seconds();
        burn(Duration::from_millis(300));
        assert!(machine_busy_seconds() > before);
    }
}
