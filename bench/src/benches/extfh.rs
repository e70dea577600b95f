//! Indexed files of a COBOL program: sealed clusters by our file handler, beside the run time's own
//! files (Berkeley DB).

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::cobol::{complete, find_compiler, find_holdfast, write};
use super::{Benchmark, Context, PlotBuilder};
use crate::cpu;
use crate::document::{Check, Document, Figure, Shape};
use crate::error::{BenchError, Result};
use crate::harness::Spread;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "extfh",
    title: "Indexed files of a COBOL program",
    about: "A GnuCOBOL program loads 1,000,000 records of 100 bytes, reads 300,000 of them by key, \
            reads and rewrites as many, and reads all in sequence; it writes records into a file \
            without and with an alternate key that may be there twice. Under `holdfast batch` its \
            files are clusters, sealed, two copies of the log, durable at the end of the step; \
            compiled alone they are the run time's own, which nobody syncs. In turns; what the \
            program costs that opens and closes its file is taken off.",
    takes: "6 minutes",
    run,
};

const PEER: &str = "GnuCOBOL's own files";
const PSB: &str = "EXTFH";
const PASSPHRASE: &str = "benchmarks have no secrets";
const POOL_BYTES: u64 = 768 << 20;
const STRIDE: u64 = 7_919;

/// What the program does: the letter on its card, in words, and for a CPU second of the peer's.
const KINDS: [(char, &str, Option<f64>); 6] = [
    ('L', "load", Some(1.0)),
    ('R', "random read", Some(1.0)),
    ('U', "read and rewrite", Some(2.0)),
    ('B', "browse", Some(1.0)),
    ('W', "write", None),
    ('A', "write, one alternate key", None),
];

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let mut sums = None;
    match Bench::prepare(context) {
        Ok(bench) => {
            document.describe_peer(PEER, &bench.version, "libcob with Berkeley DB, not synced");
            sums = Some(bench.rounds(context.settings.rounds.min(context.settings.pick(5, 1)))?);
        }
        Err(error @ BenchError::Missing { .. }) => {
            eprintln!("  {error}");
            document.notes.push(format!("Nothing was measured: {error}."));
        }
        Err(error) => return Err(error),
    }
    let mut plot = PlotBuilder::new("CPU for a record", "us", Shape::Bars, "");
    for (at, (_, words, limit)) in KINDS.into_iter().enumerate() {
        let sum = sums.as_ref().map(|sums| &sums[at]);
        if let Some(sum) = sum {
            let figure = words.replace(", ", "_").replace(' ', "_");
            let [ours, theirs] = [&sum.ours, &sum.theirs].map(|of| Spread::of(of.clone()));
            plot.column(words);
            plot.value("Holdfast", ours.median, Some([ours.first_quartile, ours.third_quartile]));
            let quartiles = [theirs.first_quartile, theirs.third_quartile];
            plot.value(PEER, theirs.median, Some(quartiles));
            document.figures.insert(format!("cpu_{figure}"), Figure::new(&ours, "us"));
            let peer = document.peers.entry(PEER.into()).or_default();
            peer.figures.insert(format!("cpu_{figure}"), Figure::new(&theirs, "us"));
            let ratio = Spread::of(sum.ratios());
            document.figures.insert(format!("{figure}_for_a_cpu_second"), Figure::new(&ratio, "x"));
            eprintln!("    {words:26} {:>9.3} us CPU, {:.3} theirs", ours.median, theirs.median);
        }
        if let Some(limit) = limit {
            let ratio = sum.map(|sum| Spread::of(sum.ratios()).median);
            let name = format!("{words}, records for a CPU second beside the run time's own files");
            document.checks.push(Check::at_least(&name, ratio, limit, "x"));
        }
    }
    plot.finish(document);
    Ok(())
}

/// Microseconds of CPU for a record, round by round.
#[derive(Default)]
struct Costs {
    ours: Vec<f64>,
    theirs: Vec<f64>,
}

impl Costs {
    fn ratios(&self) -> Vec<f64> {
        self.ours.iter().zip(&self.theirs).map(|(ours, theirs)| theirs / ours).collect()
    }
}

/// A system with the clusters, and the program for both sides.
struct Bench {
    holdfast: PathBuf,
    version: String,
    folder: PathBuf,
    records: u64,
    some: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Ours,
    Theirs,
}

impl Bench {
    fn prepare(context: &Context) -> Result<Bench> {
        let holdfast = find_holdfast()?;
        find_compiler()?;
        let answer = Command::new("cobc").arg("--version").output();
        let answer = answer.map(|answer| String::from_utf8_lossy(&answer.stdout).into_owned());
        let version = answer.unwrap_or_default().lines().next().unwrap_or_default().to_owned();
        let (records, some) = context.settings.pick((1_000_000, 300_000), (50_000, 20_000));
        let folder = std::fs::canonicalize(&context.folder);
        let folder = folder.map_err(BenchError::system("find", &context.folder))?;
        let bench = Bench { holdfast, version, folder, records, some };
        for (name, alternate) in [("PLAIN", ""), ("ALTERN", ALTERNATE)] {
            write(&bench.folder.join(format!("{name}.cbl")), &source(name, alternate, true))?;
            let alone = bench.folder.join(format!("{name}X.cbl"));
            write(&alone, &source(name, alternate, false))?;
            let mut compile = Command::new("cobc");
            compile.args(["-x", "-O2", "-std=ibm", "-o"]).arg(bench.folder.join(name)).arg(&alone);
            complete(&mut compile)?;
        }
        let mut init = bench.command("init");
        let pool = POOL_BYTES.to_string();
        init.args(["--pool-bytes", &pool, "--guess-memory", "8 MiB", "--guess-passes", "1"]);
        complete(init.arg(bench.system()))?;
        let definitions = bench.folder.join("definitions");
        write(&definitions, DEFINITIONS)?;
        complete(bench.on_system("gen").arg(&definitions))?;
        let control = bench.folder.join("control");
        write(&control, CONTROL)?;
        complete(bench.on_system("idcams").stdin(opened(&control)?))?;
        Ok(bench)
    }

    fn system(&self) -> PathBuf {
        self.folder.join("system")
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(&self.holdfast);
        command.arg(name).env("HOLDFAST_PASSPHRASE", PASSPHRASE).stdin(Stdio::null());
        command
    }

    fn on_system(&self, name: &str) -> Command {
        let mut command = self.command(name);
        command.arg("-s").arg(self.system());
        command
    }

    /// Seconds of CPU that a run of the program takes.
    fn takes(&self, side: Side, name: &str, letter: char, count: u64) -> Result<f64> {
        let card = self.folder.join("card");
        write(&card, &format!("{letter}{count:08}{:08}\n", self.records))?;
        let file = self.folder.join(format!("{name}.file"));
        let mut command = match side {
            Side::Ours => {
                let mut command = self.on_system("batch");
                command.args(["--psb", PSB, "--program"]);
                command.arg(self.folder.join(format!("{name}.cbl")));
                command.arg("--dd").arg(format!("RECS=//BENCH.{name}"));
                command.arg("--dd").arg(format!("SYSIN={}", card.display()));
                command
            }
            Side::Theirs => {
                let mut command = Command::new(self.folder.join(name));
                command.env("DD_RECS", &file).stdin(opened(&card)?);
                command
            }
        };
        let before = cpu::ended_children_seconds(std::process::id());
        complete(&mut command)?;
        Ok(cpu::ended_children_seconds(std::process::id()) - before)
    }

    fn rounds(&self, rounds: usize) -> Result<[Costs; KINDS.len()]> {
        let mut costs: [Costs; KINDS.len()] = Default::default();
        // Compiles the programs, and makes the files that are opened for nothing.
        for name in ["PLAIN", "ALTERN"] {
            for side in [Side::Ours, Side::Theirs] {
                self.takes(side, name, 'L', 1_000)?;
            }
        }
        for _ in 0..rounds {
            let idle = |side| self.takes(side, "PLAIN", 'E', 0);
            let own = [idle(Side::Ours)?, idle(Side::Theirs)?];
            // What is written goes into a file of the same size on both sides.
            self.takes(Side::Ours, "ALTERN", 'L', self.some)?;
            self.takes(Side::Theirs, "ALTERN", 'L', self.some)?;
            for (costs, (letter, ..)) in costs.iter_mut().zip(KINDS) {
                let (name, letter, count) = match letter {
                    'L' | 'B' => ("PLAIN", letter, self.records),
                    'A' => ("ALTERN", 'W', self.some),
                    _ => ("PLAIN", letter, self.some),
                };
                for (side, own) in [Side::Ours, Side::Theirs].into_iter().zip(own) {
                    let taken = self.takes(side, name, letter, count)? - own;
                    let each = taken.max(0.005) * 1e6 / count as f64;
                    match side {
                        Side::Ours => costs.ours.push(each),
                        Side::Theirs => costs.theirs.push(each),
                    }
                }
            }
        }
        Ok(costs)
    }
}

fn opened(path: &Path) -> Result<File> {
    File::open(path).map_err(BenchError::system("open", path))
}

/// The program; with the parameters that a step passes, or alone.
fn source(name: &str, alternate: &str, in_step: bool) -> String {
    let (linkage, using) = match in_step {
        true => ("       LINKAGE SECTION.\n       01  IO-PCB PIC X(10).\n", " USING IO-PCB"),
        false => ("", ""),
    };
    SOURCE
        .replace("_NAME_", name)
        .replace("_ALTERNATE_\n", alternate)
        .replace("_LOADALT_\n", &alternate.replace("REC-OTHER", "LOAD-OTHER"))
        .replace("_LINKAGE_\n", linkage)
        .replace("_USING_", using)
        .replace("_STRIDE_", &STRIDE.to_string())
}

const ALTERNATE: &str = "               ALTERNATE RECORD KEY REC-OTHER DUPLICATES\n";

const DEFINITIONS: &str = "         PSBGEN LANG=COBOL,PSBNAME=EXTFH,CMPAT=YES\n         END\n";

const CONTROL: &str = " DEFINE CLUSTER (NAME(BENCH.PLAIN) INDEXED REUSE -
        KEYS(8 0) RECORDSIZE(100 100))
 DEFINE CLUSTER (NAME(BENCH.ALTERN) INDEXED REUSE -
        KEYS(8 0) RECORDSIZE(100 100))
 DEFINE ALTERNATEINDEX (NAME(BENCH.ALTERN.OTHER) REUSE -
        RELATE(BENCH.ALTERN) KEYS(8 8) NONUNIQUEKEY UPGRADE)
 DEFINE PATH (NAME(BENCH.BYOTHER) PATHENTRY(BENCH.ALTERN.OTHER))
";

/// Its card has a letter, how many records, and how many there are in all, in 8 digits each. Keys
/// of loaded records are even, those of written ones odd.
const SOURCE: &str = "       IDENTIFICATION DIVISION.
       PROGRAM-ID.    _NAME_.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT RECS ASSIGN TO RECS
               ORGANIZATION INDEXED ACCESS DYNAMIC
               RECORD KEY REC-KEY
_ALTERNATE_
               FILE STATUS REC-STATUS.
           SELECT LOADS ASSIGN TO RECS
               ORGANIZATION INDEXED ACCESS SEQUENTIAL
               RECORD KEY LOAD-KEY
_LOADALT_
               FILE STATUS REC-STATUS.
       DATA DIVISION.
       FILE SECTION.
       FD  RECS.
       01  REC.
           05  REC-KEY               PIC 9(08).
           05  REC-OTHER             PIC 9(08).
           05  REC-REST              PIC X(84).
       FD  LOADS.
       01  LOAD.
           05  LOAD-KEY              PIC 9(08).
           05  LOAD-OTHER            PIC 9(08).
           05  LOAD-REST             PIC X(84).
       WORKING-STORAGE SECTION.
       01  REC-STATUS                PIC X(02).
       01  CARD.
           05  WHAT                  PIC X(01).
           05  HOW-MANY              PIC 9(08).
           05  ALL-RECORDS           PIC 9(08).
       01  TALLIES COMP-5.
           05  DONE                  PIC 9(09) VALUE 0.
           05  WANTED                PIC 9(09).
           05  THERE                 PIC 9(09).
           05  PLACE                 PIC 9(09) VALUE 0.
_LINKAGE_
       PROCEDURE DIVISION_USING_.
       0000-MAIN.
           MOVE 0 TO RETURN-CODE.
           ACCEPT CARD.
           MOVE HOW-MANY TO WANTED.
           MOVE ALL-RECORDS TO THERE.
           IF WHAT = 'L'
               OPEN OUTPUT LOADS
               PERFORM 9000-CHECK
               PERFORM 1000-LOAD UNTIL DONE = WANTED
               CLOSE LOADS
           ELSE
               IF WHAT = 'B'
                   OPEN INPUT RECS
               ELSE
                   OPEN I-O RECS
               END-IF
               PERFORM 9000-CHECK
               EVALUATE WHAT
                   WHEN 'R' PERFORM 2000-READ UNTIL DONE = WANTED
                   WHEN 'U' PERFORM 3000-CHANGE UNTIL DONE = WANTED
                   WHEN 'B' PERFORM 4000-NEXT UNTIL DONE = WANTED
                   WHEN 'W' PERFORM 5000-WRITE UNTIL DONE = WANTED
               END-EVALUATE
               CLOSE RECS
           END-IF.
           GOBACK.

       1000-LOAD.
           COMPUTE LOAD-KEY = DONE * 2.
           MOVE DONE TO LOAD-OTHER.
           MOVE 'A RECORD THAT WAS LOADED' TO LOAD-REST.
           WRITE LOAD.
           PERFORM 9000-CHECK.
           ADD 1 TO DONE.

       2000-READ.
           PERFORM 8000-STEP.
           COMPUTE REC-KEY = PLACE * 2.
           READ RECS.
           PERFORM 9000-CHECK.
           ADD 1 TO DONE.

       3000-CHANGE.
           PERFORM 8000-STEP.
           COMPUTE REC-KEY = PLACE * 2.
           READ RECS.
           PERFORM 9000-CHECK.
           MOVE 'A RECORD THAT WAS CHANGED' TO REC-REST.
           REWRITE REC.
           PERFORM 9000-CHECK.
           ADD 1 TO DONE.

       4000-NEXT.
           READ RECS NEXT.
           PERFORM 9000-CHECK.
           ADD 1 TO DONE.

       5000-WRITE.
           PERFORM 8000-STEP.
           COMPUTE REC-KEY = PLACE * 2 + 1.
           MOVE DONE TO REC-OTHER.
           MOVE 'A RECORD THAT WAS WRITTEN' TO REC-REST.
           WRITE REC.
           PERFORM 9000-CHECK.
           ADD 1 TO DONE.

       8000-STEP.
           ADD _STRIDE_ TO PLACE.
           IF PLACE NOT < THERE
               SUBTRACT THERE FROM PLACE
           END-IF.

       9000-CHECK.
           IF REC-STATUS NOT = '00' AND REC-STATUS NOT = '02'
               DISPLAY '_NAME_ ' WHAT ' ENDS WITH ' REC-STATUS
               MOVE 16 TO RETURN-CODE
               GOBACK
           END-IF.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_stays_within_column_72() {
        for (name, alternate) in [("PLAIN", ""), ("ALTERN", ALTERNATE)] {
            for in_step in [true, false] {
                let source = source(name, alternate, in_step);
                assert!(source.lines().all(|line| line.len() <= 72), "{source}");
                assert!(!source.contains('_'), "{source}");
            }
        }
    }
}
