//! What the figures were measured on: without it no rate means anything.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::cpu;

/// The machine and its state when a benchmark started.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) cpu_model: String,
    pub(crate) cores: usize,
    /// The instruction sets that decide the price of sealing.
    pub(crate) cpu_flags: String,
    pub(crate) memory_mib: u64,
    pub(crate) kernel: String,
    /// Type, device and mount options of the file system that held the data.
    pub(crate) file_system: String,
    /// One, five and fifteen minutes, as `/proc/loadavg` has them.
    pub(crate) load_average_at_start: [f64; 3],
    /// `SCHED_OTHER nice 0`, `SCHED_FIFO priority 10` and so on.
    pub(crate) scheduling: String,
}

impl Machine {
    /// Looks at this machine; `data` is the folder whose file system counts.
    pub(crate) fn look(data: &Path) -> Machine {
        let cpu_info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Machine {
            cpu_model: value_after(&cpu_info, "model name"),
            cores: cores(),
            cpu_flags: flags(&value_after(&cpu_info, "flags")),
            memory_mib: memory_mib(),
            kernel: read_line("/proc/sys/kernel/osrelease"),
            file_system: file_system(data),
            load_average_at_start: load_average(),
            scheduling: scheduling(),
        }
    }
}

/// CPUs that this process may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The commit that was built, `-dirty` behind it if the tree had changes; "unknown" outside git.
pub(crate) fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "HEAD"]) else { return "unknown".into() };
    let changes = git(&["status", "--porcelain", "--untracked-files=no"]).unwrap_or_default();
    if changes.is_empty() { commit } else { format!("{commit}-dirty") }
}

fn value_after(text: &str, name: &str) -> String {
    text.lines()
        .find(|line| line.starts_with(name))
        .and_then(|line| line.split_once(':'))
        .map_or_else(|| "unknown".into(), |(_, value)| value.trim().to_owned())
}

fn flags(all: &str) -> String {
    let wanted = ["aes", "vaes", "vpclmulqdq", "avx2", "avx512f", "sha_ni"];
    all.split_whitespace().filter(|flag| wanted.contains(flag)).collect::<Vec<_>>().join(" ")
}

fn memory_mib() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = value_after(&text, "MemTotal");
    kib.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) / 1024
}

fn read_line(path: &str) -> String {
    fs::read_to_string(path).map_or_else(|_| "unknown".into(), |text| text.trim().to_owned())
}

/// The mount whose mount point is the longest prefix of `data`, from `/proc/self/mounts`.
fn file_system(data: &Path) -> String {
    let folder = fs::canonicalize(data).unwrap_or_else(|_| data.to_path_buf());
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mut best = (0, "unknown".to_owned());
    for line in mounts.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [device, point, kind, options, ..] = fields[..] else { continue };
        if folder.starts_with(point) && point.len() >= best.0 {
            best = (point.len(), format!("{kind} on {device} ({options})"));
        }
    }
    best.1
}

fn load_average() -> [f64; 3] {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let mut numbers = text.split_whitespace().filter_map(|field| field.parse().ok());
    [(); 3].map(|()| numbers.next().unwrap_or(0.0))
}

fn scheduling() -> String {
    // Fields 19 (nice), 40 (real-time priority) and 41 (policy) of proc(5); field 3 has index 0.
    let fields = cpu::stat_fields("self");
    let field = |number: usize| fields.get(number - 3).map_or("?", String::as_str);
    match field(41) {
        "0" => format!("SCHED_OTHER nice {}", field(19)),
        "1" => format!("SCHED_FIFO priority {}", field(40)),
        "2" => format!("SCHED_RR priority {}", field(40)),
        "3" => "SCHED_BATCH".into(),
        "5" => "SCHED_IDLE".into(),
        other => format!("policy {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_knows_its_cpu_and_its_scheduling_class() {
        let machine = Machine::look(Path::new("."));
        assert!(machine.cores >= 1 && machine.memory_mib > 0);
        assert!(machine.scheduling.starts_with("SCHED_"), "{}", machine.scheduling);
        assert!(machine.file_system.contains(" on "), "{}", machine.file_system);
    }
}
