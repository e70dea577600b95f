//! Files at rest: encrypted and decrypted by Holdfast, GnuPG, Sequoia and RNP.

use super::openpgp_tools::{PEERS, Peer, Runner, Tools, megabytes_per_cpu_second, version};
use super::{Benchmark, Context, PlotBuilder};
use crate::document::{Check, Document, Figure, Shape};
use crate::error::Result;
use crate::harness::{Sample, Track, ratio};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "openpgp",
    title: "Files at rest",
    about: "A file of the seed's size and compressibility, in memory: encrypted to a public key \
            with AES-128, compressed (ZIP, level 1) and not, and decrypted again, by programs as \
            people call them. CPU time is that of whole processes. Sequoia chooses cipher and \
            level itself: AES-256 and 6.",
    takes: "25 minutes",
    run,
};

const V2: &str = "Holdfast, version 2";
const V1: &str = "Holdfast, version 1";
/// The most memory of our processes.
const MEMORY_MIB: f64 = 64.0;
/// Our output at level 1, of zlib's at level 1, which GnuPG writes.
const SIZE: f64 = 1.03;

/// A task: how it is called, and what was promised of each of our forms against GnuPG, for a CPU
/// second and for elapsed time.
struct Task {
    name: &'static str,
    key: &'static str,
    promised: [(&'static str, Option<f64>, Option<f64>); 2],
}

const TASKS: [Task; 3] = [
    Task {
        name: "encrypt, ZIP level 1",
        key: "zip",
        promised: [(V2, Some(4.0), Some(6.0)), (V1, Some(3.0), Some(4.0))],
    },
    Task {
        name: "encrypt, not compressed",
        key: "plain",
        promised: [(V2, Some(4.0), None), (V1, Some(2.0), None)],
    },
    Task {
        name: "decrypt, ZIP level 1",
        key: "decrypt",
        promised: [(V2, Some(2.0), Some(3.0)), (V1, None, None)],
    },
];

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let tools = Tools::new(context)?;
    for (peer, name, program, _) in PEERS {
        if tools.present.contains(&peer) {
            document.describe_peer(name, &version(program), "as Debian packages it");
        }
    }
    for (name, package) in &tools.missing {
        document.add_missing(name, &format!("not here, or not run: apt-get install {package}"));
    }
    let rounds = context.settings.rounds.min(context.settings.pick(5, 2));
    let mut rates = PlotBuilder::new("Input for a CPU second", "MB", Shape::Bars, "");
    let mut elapsed = PlotBuilder::new("Elapsed", "s", Shape::Bars, "");
    for task in &TASKS {
        eprintln!("  {}", task.name);
        let results = tools.interleave(rounds, &runners(&tools, task.key)?)?;
        let tracks: Vec<Track> = results.iter().map(|(track, _)| track.clone()).collect();
        rates.column(task.name);
        rates.tracks(&tracks, megabytes_per_cpu_second);
        elapsed.column(task.name);
        elapsed.tracks(&tracks, |sample| sample.seconds);
        file(document, task, &results);
        judge(document, task, &results);
    }
    sizes(&tools, document)?;
    rates.finish(document);
    elapsed.finish(document);
    Ok(())
}

/// Who runs in a task. Encryption leaves what decryption begins with.
fn runners(tools: &Tools, key: &str) -> Result<Vec<Runner>> {
    let out = tools.path("out");
    let mut all = Vec::new();
    for (name, form) in [(V2, "v2"), (V1, "v1")] {
        all.push(match key {
            "decrypt" => tools.ours(name, &["decrypt", "--yes", "-o", &out, &tools.path(form)]),
            "zip" => tools.ours_encrypting(name, form, ("zip", form), &[]),
            _ => tools.ours_encrypting(name, form, ("none", "out"), &[]),
        });
    }
    for peer in &tools.present {
        all.push(match key {
            // All read what GnuPG wrote, or we did, which is the same form.
            "decrypt" => tools.decrypting(*peer, gnupg_message(tools)),
            "zip" => tools.encrypting(*peer, true, peer.name()),
            _ => tools.encrypting(*peer, false, "out"),
        });
    }
    Ok(all)
}

fn gnupg_message(tools: &Tools) -> &'static str {
    if tools.present.contains(&Peer::GnuPg) { Peer::GnuPg.name() } else { "v1" }
}

fn file(document: &mut Document, task: &Task, results: &[(Track, f64)]) {
    for (track, memory) in results {
        let suffix = format!("_{}", task.key);
        let cpu = Figure::new(&track.spread(megabytes_per_cpu_second), "MB per CPU s");
        let seconds = Figure::new(&track.spread(|sample| sample.seconds), "s");
        let neighbours = Figure::new(&track.spread(|sample| sample.neighbours * 100.0), "%");
        let memory = Figure::single(*memory, "MiB");
        let figures = match track.name.strip_prefix("Holdfast, version ") {
            None => &mut document.peers.entry(track.name.clone()).or_default().figures,
            Some(_) => &mut document.figures,
        };
        let form = track.name.strip_prefix("Holdfast, version ");
        let form = form.map_or(String::new(), |form| format!("_v{form}"));
        for (name, figure) in [
            ("rate_per_cpu_second", cpu),
            ("elapsed", seconds),
            ("neighbours", neighbours),
            ("memory", memory),
        ] {
            figures.insert(format!("{name}{suffix}{form}"), figure);
        }
    }
}

fn judge(document: &mut Document, task: &Task, results: &[(Track, f64)]) {
    let find = |name: &str| results.iter().find(|(track, _)| track.name == name);
    let gnupg = find(Peer::GnuPg.name()).map(|(track, _)| track);
    for (form, per_cpu, in_time) in task.promised {
        let ours = find(form);
        let against = |of: &dyn Fn(&Sample) -> f64| {
            let (ours, _) = ours?;
            Some(ratio(ours, gnupg?, of).median)
        };
        let checks = &mut document.checks;
        if let Some(limit) = per_cpu {
            let value = against(&megabytes_per_cpu_second);
            let name = format!("{}: {form} against GnuPG, input for a CPU second", task.name);
            checks.push(Check::at_least(&name, value, limit, "x"));
        }
        if let Some(limit) = in_time {
            let value = against(&|sample: &Sample| 1.0 / sample.seconds);
            let name = format!("{}: {form} against GnuPG, elapsed, all CPUs", task.name);
            checks.push(Check::at_least(&name, value, limit, "x"));
        }
        let memory = ours.map(|(_, memory)| *memory);
        let name = format!("{}: {form}, memory", task.name);
        checks.push(Check::at_most(&name, memory, MEMORY_MIB, "MiB"));
    }
}

/// What level 1 makes of the input.
fn sizes(tools: &Tools, document: &mut Document) -> Result<()> {
    let ours = tools.size("v2")? as f64;
    document.figures.insert("output_zip_v2".to_owned(), Figure::single(ours / 1e6, "MB"));
    let theirs = match tools.present.contains(&Peer::GnuPg) {
        true => Some(tools.size(Peer::GnuPg.name())? as f64),
        false => None,
    };
    if let Some(theirs) = theirs {
        let figures = &mut document.peers.entry(Peer::GnuPg.name().into()).or_default().figures;
        figures.insert("output_zip".to_owned(), Figure::single(theirs / 1e6, "MB"));
    }
    let value = theirs.map(|theirs| ours / theirs);
    let name = "output at level 1 of zlib's, which GnuPG writes";
    document.checks.push(Check::at_most(name, value, SIZE, "x"));
    Ok(())
}
