//! Holdfast and its peers on one file: what each is called with, and what a run of it costs.
//!
//! 1. Every program is a process of its own, measured from its start to its end: elapsed time, CPU
//!    time of all its threads, and the most memory that it had.
//! 2. The data lie in a file system in memory if there is one with room, so that no disk is
//!    measured; the output goes to a file there, which each run begins anew.
//! 3. All have the same key, of Curve25519; what that costs is nothing beside the data.

use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Context;
use crate::cpu;
use crate::error::{BenchError, Result};
use crate::harness::{Sample, Track, Work};
use crate::machine;
use crate::workload::Random;

/// The seed's file.
pub(crate) const BYTES: u64 = 1_506_431_796;
/// A file for trying.
const BYTES_QUICK: u64 = 100_000_000;
/// How often a process at work is looked at.
const LOOK: Duration = Duration::from_millis(2);

/// A place with the input, keys, and the programs that are here.
pub(crate) struct Tools {
    folder: PathBuf,
    holdfast: PathBuf,
    pub(crate) bytes: u64,
    pub(crate) present: Vec<Peer>,
    pub(crate) missing: Vec<(&'static str, &'static str)>,
}

/// A program beside Holdfast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    GnuPg,
    Sequoia,
    Rnp,
}

/// All peers: the name in results, the program, the package that brings it.
pub(crate) const PEERS: [(Peer, &str, &str, &str); 3] = [
    (Peer::GnuPg, "GnuPG", "gpg", "gnupg"),
    (Peer::Sequoia, "Sequoia", "sq", "sq"),
    (Peer::Rnp, "RNP", "rnp", "rnp"),
];

impl Peer {
    /// Its name in results.
    pub(crate) fn name(self) -> &'static str {
        PEERS.iter().find(|(peer, ..)| *peer == self).map_or("", |(_, name, ..)| name)
    }
}

/// One run of a program.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    pub(crate) sample: Sample,
    /// The most memory that it had, in mebibytes.
    pub(crate) memory_mib: f64,
}

/// A contestant: its name, and the command.
pub(crate) struct Runner {
    pub(crate) name: String,
    pub(crate) command: Vec<String>,
    /// Variables of its environment.
    pub(crate) variables: Vec<(&'static str, String)>,
}

impl Runner {
    /// A program with these words.
    pub(crate) fn new(name: impl Into<String>, words: &[&str]) -> Runner {
        let command = words.iter().map(|word| (*word).to_owned()).collect();
        Runner { name: name.into(), command, variables: Vec::new() }
    }

    /// The same on one CPU.
    pub(crate) fn on_one_cpu(mut self) -> Runner {
        self.command.splice(0..0, ["taskset", "-c", "0"].map(str::to_owned));
        self
    }

    /// The same with a variable of the environment.
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Runner {
        self.variables.push((name, value.to_owned()));
        self
    }
}

impl Tools {
    /// Writes the input, makes the key, and looks who is here.
    pub(crate) fn new(context: &Context) -> Result<Tools> {
        let bytes = context.settings.pick(BYTES, BYTES_QUICK);
        let folder = match has_room(Path::new("/dev/shm"), 5 * bytes) {
            true => PathBuf::from(format!("/dev/shm/holdfast-bench-{}", std::process::id())),
            false => context.folder.clone(),
        };
        fs::create_dir_all(&folder).map_err(BenchError::system("create", &folder))?;
        let holdfast = super::cobol::find_holdfast()?;
        let mut tools = Tools { folder, holdfast, bytes, present: Vec::new(), missing: Vec::new() };
        tools.write_input()?;
        tools.make_key()?;
        for (peer, name, program, package) in PEERS {
            let is_there = || Command::new(program).arg("--version").output().is_ok();
            match !context.settings.alone && is_there() && tools.set_up(peer).is_ok() {
                true => tools.present.push(peer),
                false => tools.missing.push((name, package)),
            }
        }
        Ok(tools)
    }

    /// The home folder of a peer; one that found another's keys would not know what to do.
    fn home(&self, peer: Peer) -> String {
        self.path(&format!("home-{}", peer.name()))
    }

    /// The path of a file in the place, as a word of a command.
    pub(crate) fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// Holdfast with these words behind `pgp`.
    pub(crate) fn ours(&self, name: &str, words: &[&str]) -> Runner {
        let program = self.holdfast.display().to_string();
        let mut all = vec![program.as_str(), "pgp"];
        all.extend(words);
        Runner::new(name, &all).with("HOLDFAST_PGP_HOME", &self.path("ring"))
    }

    /// This system, encrypting the input to a key with AES-128, level 1; `more` goes in between.
    pub(crate) fn ours_encrypting(
        &self,
        name: &str,
        form: &str,
        (compress, out): (&str, &str),
        more: &[&str],
    ) -> Runner {
        let (input, out) = (self.path("input"), self.path(out));
        let first = ["encrypt", "--yes", "-r", "ada", "--form", form, "--cipher", "aes128"];
        let level = ["--compress", compress, "--level", "1"];
        self.ours(name, &[&first[..], &level, more, &["-o", &out, &input]].concat())
    }

    /// A peer that encrypts the input to `out`: compressed at level 1 as ZIP, or not at all.
    pub(crate) fn encrypting(&self, peer: Peer, zip: bool, out: &str) -> Runner {
        let (input, out, home) = (self.path("input"), self.path(out), self.home(peer));
        let (certificate, name) = (self.path("ada.cert"), peer.name());
        match peer {
            Peer::GnuPg => {
                let compress = if zip { "zip" } else { "none" };
                let words = [
                    "gpg",
                    "--homedir",
                    &home,
                    "--batch",
                    "--yes",
                    "--quiet",
                    "--trust-model",
                    "always",
                    "--cipher-algo",
                    "AES128",
                    "--compress-algo",
                    compress,
                    "--compress-level",
                    "1",
                    "-r",
                    "ada",
                    "-o",
                    &out,
                    "-e",
                    &input,
                ];
                Runner::new(name, &words)
            }
            Peer::Sequoia => {
                let compress = if zip { "zip" } else { "none" };
                let words = [
                    "sq",
                    "--force",
                    "encrypt",
                    "--binary",
                    "--compression",
                    compress,
                    "--recipient-cert",
                    &certificate,
                    "-o",
                    &out,
                    &input,
                ];
                Runner::new(name, &words)
            }
            Peer::Rnp => {
                let level = if zip { "1" } else { "0" };
                let words = [
                    "rnp",
                    "--homedir",
                    &home,
                    "--overwrite",
                    "--cipher",
                    "AES128",
                    "--zip",
                    "-z",
                    level,
                    "-r",
                    "ada",
                    "--output",
                    &out,
                    "--encrypt",
                    &input,
                ];
                Runner::new(name, &words)
            }
        }
    }

    /// A peer that decrypts `from`.
    pub(crate) fn decrypting(&self, peer: Peer, from: &str) -> Runner {
        let (from, out, home) = (self.path(from), self.path("out"), self.home(peer));
        let (key, name) = (self.path("ada.key"), peer.name());
        match peer {
            Peer::GnuPg => {
                let words = [
                    "gpg",
                    "--homedir",
                    &home,
                    "--batch",
                    "--yes",
                    "--quiet",
                    "-o",
                    &out,
                    "-d",
                    &from,
                ];
                Runner::new(name, &words)
            }
            Peer::Sequoia => {
                let words =
                    ["sq", "--force", "decrypt", "--recipient-key", &key, "-o", &out, &from];
                Runner::new(name, &words)
            }
            Peer::Rnp => {
                let words = [
                    "rnp",
                    "--homedir",
                    &home,
                    "--overwrite",
                    "--password",
                    "",
                    "--output",
                    &out,
                    "--decrypt",
                    &from,
                ];
                Runner::new(name, &words)
            }
        }
    }

    /// Runs a program once, and drops what it wrote to `out`.
    pub(crate) fn run(&self, runner: &Runner) -> Result<Ran> {
        let _ = fs::remove_file(self.folder.join("out"));
        let busy = cpu::machine_busy_seconds();
        let before = cpu::ended_children_seconds(std::process::id());
        let start = Instant::now();
        let memory_mib = self.complete(runner)?;
        let seconds = start.elapsed().as_secs_f64();
        let cpu_seconds = cpu::ended_children_seconds(std::process::id()) - before;
        let others = cpu::machine_busy_seconds() - busy - cpu_seconds;
        let neighbours = (others / (seconds * machine::cores() as f64)).clamp(0.0, 1.0);
        let work = Work { operations: 1, bytes: self.bytes, latency: None };
        // A process is counted in hundredths; one that took less took half of one.
        let cpu_seconds = cpu_seconds.max(0.005);
        Ok(Ran { sample: Sample { work, seconds, cpu_seconds, neighbours }, memory_mib })
    }

    /// Runs a program to its end; gives the most memory that was seen.
    fn complete(&self, runner: &Runner) -> Result<f64> {
        let program = PathBuf::from(&runner.command[0]);
        let mut command = Command::new(&program);
        command.args(&runner.command[1..]).envs(runner.variables.iter().cloned());
        let printed = self.folder.join("said");
        let stderr = fs::File::create(&printed).map_err(BenchError::system("create", &printed))?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
        let mut child = command.spawn().map_err(BenchError::system("run", &program))?;
        let mut most = 0.0_f64;
        let status = loop {
            most = most.max(resident_mib(child.id()));
            match child.try_wait().map_err(BenchError::system("wait for", &program))? {
                Some(status) => break status,
                None => std::thread::sleep(LOOK),
            }
        };
        if !status.success() {
            let printed = fs::read_to_string(&printed).unwrap_or_default();
            let printed = format!("{status}: {}: {}", runner.command.join(" "), printed.trim());
            return Err(BenchError::subject("a program", "encrypt or decrypt", printed));
        }
        Ok(most)
    }

    /// The contestants in turns, so many rounds, after one that does not count.
    pub(crate) fn interleave(
        &self,
        rounds: usize,
        runners: &[Runner],
    ) -> Result<Vec<(Track, f64)>> {
        let mut tracks: Vec<(Track, f64)> = runners
            .iter()
            .map(|runner| (Track { name: runner.name.clone(), samples: Vec::new() }, 0.0))
            .collect();
        for round in 0..=rounds {
            for (runner, (track, memory)) in runners.iter().zip(&mut tracks) {
                let ran = self.run(runner)?;
                *memory = memory.max(ran.memory_mib);
                if round > 0 {
                    track.samples.push(ran.sample);
                }
            }
        }
        for (track, memory) in &tracks {
            let rate = track.spread(megabytes_per_cpu_second).median;
            let elapsed = track.spread(|sample| sample.seconds).median;
            let name = &track.name;
            eprintln!(
                "    {name:34} {rate:8.0} MB per CPU second {elapsed:7.2} s {memory:5.0} MiB"
            );
        }
        Ok(tracks)
    }

    /// The size of a file of the place.
    pub(crate) fn size(&self, name: &str) -> Result<u64> {
        let path = self.folder.join(name);
        Ok(fs::metadata(&path).map_err(BenchError::system("look at", &path))?.len())
    }

    /// Records that compress at level 1 as the seed's file did: to 23 % of their size.
    fn write_input(&self) -> Result<()> {
        const WORDS: [&str; 16] = [
            "customer",
            "order",
            "item",
            "north",
            "south",
            "east",
            "west",
            "account",
            "balance",
            "transfer",
            "branch",
            "manager",
            "region",
            "invoice",
            "delivery",
            "warehouse",
        ];
        let path = self.folder.join("input");
        let file = fs::File::create(&path).map_err(BenchError::system("create", &path))?;
        let mut out = BufWriter::with_capacity(1 << 20, file);
        let (mut random, mut written, mut number) = (Random::new(5), 0, 0_u64);
        while written < self.bytes {
            let word = |random: &mut Random| WORDS[random.below(16) as usize];
            let (first, second) = (word(&mut random), word(&mut random));
            let digits = random.below(100_000_000_000_000_000);
            let (month, day) = (random.below(12) + 1, random.below(28) + 1);
            let mut line = format!(
                "{number:010} {first:<12} {second:<12} {digits:017} 1996-{month:02}-{day:02} \
                 EUR OPEN   ACTIVE  0000000000\n"
            );
            line.truncate(
                usize::try_from(self.bytes - written).unwrap_or(usize::MAX).min(line.len()),
            );
            out.write_all(line.as_bytes()).map_err(BenchError::system("write", &path))?;
            written += line.len() as u64;
            number += 1;
        }
        out.flush().map_err(BenchError::system("write", &path))
    }

    fn make_key(&self) -> Result<()> {
        let (key, certificate) = (self.path("ada.key"), self.path("ada.cert"));
        for words in [
            &["generate", "--alias", "ada", "--no-passphrase", "ada <ada@example.org>"][..],
            &["export", "ada", "--secret", "-o", &key],
            &["export", "ada", "-o", &certificate],
        ] {
            self.complete(&self.ours("Holdfast", words))?;
        }
        Ok(())
    }

    fn set_up(&self, peer: Peer) -> Result<()> {
        let (key, home) = (self.path("ada.key"), self.home(peer));
        fs::create_dir_all(&home).map_err(BenchError::system("create", Path::new(&home)))?;
        let import = match peer {
            Peer::GnuPg => vec!["gpg", "--homedir", &home, "--batch", "--quiet", "--import", &key],
            Peer::Rnp => vec!["rnpkeys", "--homedir", &home, "--import", &key],
            Peer::Sequoia => return Ok(()),
        };
        let private = Runner::new("chmod", &["chmod", "700", &home]);
        self.complete(&private)?;
        self.complete(&Runner::new(peer.name(), &import)).map(drop)
    }
}

impl Drop for Tools {
    fn drop(&mut self) {
        let home = self.home(Peer::GnuPg);
        let _ = Command::new("gpgconf").args(["--homedir", &home, "--kill", "all"]).output();
        // It may be outside of the benchmark's own folder, which is removed anyway.
        if self.folder.starts_with("/dev/shm") {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// Megabytes (10^6) of input for a second of CPU time.
pub(crate) fn megabytes_per_cpu_second(sample: &Sample) -> f64 {
    sample.work.bytes as f64 / 1e6 / sample.cpu_seconds
}

/// The version that a program says it is.
pub(crate) fn version(program: &str) -> String {
    let output = Command::new(program).arg("--version").output().ok();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.and_then(|text| text.lines().next().map(str::to_owned)).unwrap_or_default()
}

fn has_room(folder: &Path, bytes: u64) -> bool {
    rustix::fs::statvfs(folder).is_ok_and(|about| about.f_bavail * about.f_frsize >= bytes)
}

/// The most memory that a process had so far, its own and not what it maps of files.
fn resident_mib(pid: u32) -> f64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}
