//! The seed's tables of asynchronous stages and of hardware: each stage on and off, one CPU and
//! all, AES instructions used and not.

use super::openpgp_tools::{Peer, Runner, Tools, megabytes_per_cpu_second};
use super::{Benchmark, Context, PlotBuilder};
use crate::document::{Check, Document, Figure, Shape};
use crate::error::Result;
use crate::harness::{Sample, Track, ratio};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "openpgp-async",
    title: "Files at rest: stages, CPUs and hardware",
    about: "The file of `openpgp`, encrypted with AES-128 and ZIP at level 1 as the seed's \
            tables 1 to 10 do it: threads of their own for reading and writing, for the cipher, \
            for compression, all and none; on one CPU (taskset) and on all; and without the \
            processor's AES instructions, GnuPG on one CPU beside it.",
    takes: "15 minutes",
    run,
};

const NONE: &str = "none";
const ALL: &str = "all";
/// The stages that have threads of their own: I/O, cipher, compression.
const STAGES: [(&str, [&str; 3]); 5] = [
    (NONE, ["off", "off", "off"]),
    ("I/O", ["on", "off", "off"]),
    ("cipher", ["off", "on", "off"]),
    ("compression", ["off", "off", "on"]),
    (ALL, ["on", "on", "on"]),
];
/// What all stages may cost on one CPU, of what none costs. The seed's cost 1.24.
const ON_ONE_CPU: f64 = 1.02;
/// Tells the cipher library to leave the processor's AES instructions alone.
const WITHOUT_AES: (&str, &str) = ("OPENSSL_ia32cap", "~0x200000200000000:~0x60000000000");

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let tools = Tools::new(context)?;
    let rounds = context.settings.rounds.min(context.settings.pick(5, 2));
    let mut runners = Vec::new();
    for (name, stages) in STAGES {
        runners.push(encrypting(&tools, &format!("{name}, all CPUs"), stages, "v2"));
        let alone = encrypting(&tools, &format!("{name}, 1 CPU"), stages, "v2");
        runners.push(alone.on_one_cpu());
    }
    if tools.present.contains(&Peer::GnuPg) {
        let gnupg = tools.encrypting(Peer::GnuPg, true, "out").on_one_cpu();
        runners.push(Runner { name: Peer::GnuPg.name().to_owned(), ..gnupg });
    }
    eprintln!("  stages");
    let stages = tools.interleave(rounds, &runners)?;
    let mut plot = PlotBuilder::new("Elapsed, by stages", "s", Shape::Bars, "stages with threads");
    show(document, &mut plot, &stages);
    plot.finish(document);
    let find = |name: &str| stages.iter().map(|(track, _)| track).find(|track| track.name == name);
    if let (Some(all), Some(none)) = (find("all, 1 CPU"), find("none, 1 CPU")) {
        let cost = ratio(all, none, |sample: &Sample| sample.cpu_seconds).median;
        let name = "CPU time of all stages on one CPU, of none";
        document.checks.push(Check::at_most(name, Some(cost), ON_ONE_CPU, "x"));
    }
    if let (Some(all), Some(none)) = (find("all, all CPUs"), find("none, 1 CPU")) {
        let gain = ratio(none, all, |sample: &Sample| sample.seconds).median;
        let figure = Figure::single(gain, "x");
        document.figures.insert("gain_of_all_stages_and_cpus".to_owned(), figure);
    }
    hardware(&tools, rounds, document)
}

/// The forms whose cipher the library does, with the processor's help and without.
fn hardware(tools: &Tools, rounds: usize, document: &mut Document) -> Result<()> {
    eprintln!("  hardware");
    let mut runners = Vec::new();
    for (form, name) in [("v1", "version 1"), ("v2-gcm", "version 2, GCM")] {
        runners.push(encrypting(tools, &format!("{name}, AES instructions"), ["on"; 3], form));
        let (variable, value) = WITHOUT_AES;
        let without = encrypting(tools, &format!("{name}, without"), ["on"; 3], form);
        runners.push(without.with(variable, value));
    }
    let results = tools.interleave(rounds, &runners)?;
    let mut plot = PlotBuilder::new("Input for a CPU second", "MB", Shape::Bars, "cipher by");
    for (track, _) in &results {
        plot.column(track.name.clone());
        plot.tracks(std::slice::from_ref(track), megabytes_per_cpu_second);
    }
    file(document, &results);
    plot.finish(document);
    Ok(())
}

fn encrypting(tools: &Tools, name: &str, stages: [&str; 3], form: &str) -> Runner {
    let [io, cipher, compress] = stages;
    let stages = ["--async-io", io, "--async-cipher", cipher, "--async-compress", compress];
    tools.ours_encrypting(name, form, ("zip", "out"), &stages)
}

fn show(document: &mut Document, plot: &mut PlotBuilder, results: &[(Track, f64)]) {
    for (name, _) in STAGES {
        plot.column(name);
        for cpus in ["all CPUs", "1 CPU"] {
            let wanted = format!("{name}, {cpus}");
            let found = results.iter().find(|(track, _)| track.name == wanted);
            if let Some((track, _)) = found {
                plot.value(cpus, track.spread(|sample| sample.seconds).median, None);
            }
        }
    }
    file(document, results);
}

fn file(document: &mut Document, results: &[(Track, f64)]) {
    for (track, memory) in results {
        let key = track.name.to_lowercase().replace([' ', ',', '/'], "_").replace("__", "_");
        let is_peer = track.name == Peer::GnuPg.name();
        let figures = match is_peer {
            true => &mut document.peers.entry(track.name.clone()).or_default().figures,
            false => &mut document.figures,
        };
        let elapsed = Figure::new(&track.spread(|sample| sample.seconds), "s");
        let rate = Figure::new(&track.spread(Sample::megabytes_per_second), "MB/s");
        let cpu = Figure::new(&track.spread(megabytes_per_cpu_second), "MB per CPU s");
        let busy = track.spread(|sample| sample.cpu_seconds / sample.seconds * 100.0);
        figures.insert(format!("elapsed_{key}"), elapsed);
        figures.insert(format!("rate_{key}"), rate);
        figures.insert(format!("rate_per_cpu_second_{key}"), cpu);
        figures.insert(format!("cpu_busy_{key}"), Figure::new(&busy, "%"));
        figures.insert(format!("memory_{key}"), Figure::single(*memory, "MiB"));
    }
}
