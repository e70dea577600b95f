//! DL/I calls of a GnuCOBOL program, as type dli and as type bmp, beside the same calls of an
//! embedded program.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use ::dli::SessionOptions;

use super::dli::setup;
use super::{Benchmark, Context, PlotBuilder};
use crate::cpu;
use crate::customers::{self, BY_KEY, SSA_VALUE, qualified};
use crate::databases::Program;
use crate::document::{Check, Document, Figure, Shape};
use crate::error::{BenchError, Result};
use crate::harness::Spread;
use crate::kernel::failed;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "cobol",
    title: "DL/I calls of a COBOL program",
    about: "A GnuCOBOL program under `holdfast batch`, on a database in memory: GU of a root \
            qualified by its key, and unqualified GN. What a call costs is the difference between \
            a long and a short run, in CPU of all processes, without what the program's own loop \
            costs. Type dli is compared with the same calls of an embedded program in the same \
            round; for type bmp the started system's CPU counts, too. A C program makes the GN \
            calls as well, without and with a count of its parameters. An empty step is that \
            program with one call: with the passphrase, and in a session that holds what opens \
            the system.",
    takes: "4 minutes",
    run,
};

const CUSTOMERS: u64 = 20_000;
const POOL_BYTES: u64 = 256 << 20;
/// From key to key; prime to the number of customers.
const STRIDE: u64 = 7_919;
const OVERHEAD_US_LIMIT: f64 = 0.6;
const BMP_US_LIMIT: f64 = 3.0;
/// What a count in front of a call's parameters may add.
const COUNT_US_LIMIT: f64 = 0.5;
/// What a step may take that does nothing, in a session that holds what opens the system.
const STEP_MS_LIMIT: f64 = 50.0;
const PASSPHRASE: &str = "benchmarks have no secrets";

/// What the program does in its loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loop {
    /// Steps to the next key, and calls nothing.
    Empty,
    Unique,
    Next,
    /// The same with a count of the parameters in front.
    Counted,
}

const CALLS: [(Loop, &str, &str); 2] =
    [(Loop::Unique, "GU of a root", "gu_root"), (Loop::Next, "GN", "gn")];

impl Loop {
    fn letter(self) -> char {
        match self {
            Loop::Empty => 'E',
            Loop::Unique => 'U',
            Loop::Next => 'N',
            Loop::Counted => 'C',
        }
    }
}

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let (mut twin, mut steps) = (None, None);
    let costs = match Bench::prepare(context) {
        Ok(bench) => {
            let rounds = context.settings.pick(5, 1);
            steps = bench.steps(4 * rounds)?;
            twin = Some(bench.twin(rounds)?);
            Some(bench.rounds(rounds)?)
        }
        Err(error @ BenchError::Missing { .. }) => {
            eprintln!("  {error}");
            document.notes.push(format!("Nothing was measured: {error}."));
            None
        }
        Err(error) => return Err(error),
    };
    let mut plot = PlotBuilder::new("CPU for a call", "us", Shape::Bars, "call");
    for (at, (_, words, figure)) in CALLS.into_iter().enumerate() {
        let costs = costs.as_ref().map(|costs| &costs[at]);
        if let Some(costs) = costs {
            plot.column(words);
            for (name, spread) in costs.all() {
                plot.value(name, spread.median, None);
                let name = format!("cpu_{figure}_{}", name.replace([' ', ','], "_"));
                document.figures.insert(name, Figure::new(&spread, "us"));
            }
        }
        let over = costs.map(|costs| Spread::of(costs.over.clone()).median);
        let name = format!("{words}, type dli, CPU over the embedded call");
        document.checks.push(Check::at_most(&name, over, OVERHEAD_US_LIMIT, "us"));
        let bmp = costs.map(|costs| Spread::of(costs.bmp.clone()).median);
        let name = format!("{words}, type bmp, CPU of both sides");
        document.checks.push(Check::at_most(&name, bmp, BMP_US_LIMIT, "us"));
    }
    plot.finish(document);
    for (name, spread) in twin.iter().flat_map(Twin::all) {
        let name = format!("cpu_gn_c_{name}");
        document.figures.insert(name, Figure::new(&spread, "us"));
    }
    for (name, spread) in steps.iter().flat_map(Steps::all) {
        document.figures.insert(format!("empty_step_{name}"), Figure::new(&spread, "ms"));
    }
    let unlocked = steps.map(|steps| Spread::of(steps.unlocked).median);
    let name = "an empty step of an unlocked session, elapsed";
    document.checks.push(Check::at_most(name, unlocked, STEP_MS_LIMIT, "ms"));
    let added = twin.map(|twin| Spread::of(twin.added).median);
    let name = "GN of a C program, CPU that a count adds";
    document.checks.push(Check::at_most(name, added, COUNT_US_LIMIT, "us"));
    Ok(())
}

/// Milliseconds that an empty step takes, step by step.
#[derive(Default)]
struct Steps {
    /// Elapsed, with the passphrase.
    passphrase: Vec<f64>,
    /// Elapsed, in a session that holds what opens the system.
    unlocked: Vec<f64>,
    /// The same in CPU of all processes.
    unlocked_cpu: Vec<f64>,
}

impl Steps {
    fn all(&self) -> [(&'static str, Spread); 3] {
        [
            ("passphrase", &self.passphrase),
            ("unlocked", &self.unlocked),
            ("unlocked_cpu", &self.unlocked_cpu),
        ]
        .map(|(name, values)| (name, Spread::of(values.clone())))
    }
}

/// Microseconds of CPU for a GN of the C program, round by round.
#[derive(Default)]
struct Twin {
    plain: Vec<f64>,
    counted: Vec<f64>,
    added: Vec<f64>,
}

impl Twin {
    fn all(&self) -> [(&'static str, Spread); 3] {
        [("plain", &self.plain), ("counted", &self.counted), ("count", &self.added)]
            .map(|(name, values)| (name, Spread::of(values.clone())))
    }
}

/// Microseconds of CPU for a call, round by round.
#[derive(Default)]
struct Costs {
    embedded: Vec<f64>,
    dli: Vec<f64>,
    bmp: Vec<f64>,
    /// What type dli takes over the embedded call.
    over: Vec<f64>,
    /// A turn of the program's loop without a call.
    own: Vec<f64>,
}

impl Costs {
    fn all(&self) -> [(&'static str, Spread); 5] {
        [
            ("embedded", &self.embedded),
            ("type dli", &self.dli),
            ("type bmp", &self.bmp),
            ("over embedded", &self.over),
            ("the loop alone", &self.own),
        ]
        .map(|(name, values)| (name, Spread::of(values.clone())))
    }
}

/// A system with the database and the program, and the same database in this process.
struct Bench {
    holdfast: PathBuf,
    system: PathBuf,
    program: PathBuf,
    /// The same in C.
    twin: PathBuf,
    embedded: Embedded,
    /// Calls of the short run and of the long one.
    calls: [u64; 2],
}

impl Bench {
    fn prepare(context: &Context) -> Result<Bench> {
        let holdfast = find_holdfast()?;
        find_compiler()?;
        let embedded = Embedded::new(context)?;
        let (system, program) = (context.folder.join("system"), context.folder.join("CALLER.cbl"));
        let definitions = context.folder.join("definitions");
        let twin = context.folder.join("TWIN.c");
        write(&program, &source())?;
        write(&twin, TWIN)?;
        write(&definitions, customers::SOURCE)?;
        let calls = context.settings.pick([200_000, 1_200_000], [50_000, 550_000]);
        let bench = Bench { holdfast, system, program, twin, embedded, calls };
        eprintln!("  a system of {CUSTOMERS} customers");
        let data = context.folder.join("generated");
        let pool = POOL_BYTES.to_string();
        let mut init = bench.command("init");
        init.args(["--pool-bytes", &pool, "--guess-memory", "8 MiB", "--guess-passes", "1"]);
        complete(init.arg(&bench.system))?;
        complete(bench.on_system("gen").arg(&definitions))?;
        complete(bench.on_system("load").arg(customers::DATABASE).arg(&data))?;
        // Compiles them.
        bench.batch("dli", &bench.program, Loop::Unique, 1)?;
        bench.batch("dli", &bench.twin, Loop::Next, 1)?;
        Ok(bench)
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(&self.holdfast);
        command.arg(name).env("HOLDFAST_PASSPHRASE", PASSPHRASE).stdin(Stdio::null());
        command
    }

    fn on_system(&self, name: &str) -> Command {
        let mut command = self.command(name);
        command.arg("-s").arg(&self.system);
        command
    }

    fn batch(&self, kind: &str, program: &Path, what: Loop, calls: u64) -> Result<()> {
        let card = self.program.with_file_name("card");
        write(&card, &format!("{}{calls:09}\n", what.letter()))?;
        let mut command = self.on_system("batch");
        command.args(["--psb", customers::PSB, "--type", kind, "--program"]).arg(program);
        complete(command.arg("--dd").arg(format!("SYSIN={}", card.display())))
    }

    fn rounds(mut self, rounds: usize) -> Result<[Costs; 2]> {
        let mut costs = [Costs::default(), Costs::default()];
        for _ in 0..rounds {
            let program = self.program.clone();
            let own = self.difference(("dli", &program), Loop::Empty, None)?;
            for (costs, (what, ..)) in costs.iter_mut().zip(CALLS) {
                let embedded = self.embedded.cost(what, self.calls[1])?;
                let dli = self.difference(("dli", &program), what, None)? - own;
                costs.own.push(own);
                costs.embedded.push(embedded);
                costs.dli.push(dli);
                costs.over.push(dli - embedded);
            }
            let started = Started::new(&self)?;
            for (costs, (what, ..)) in costs.iter_mut().zip(CALLS) {
                let taken = self.difference(("bmp", &program), what, Some(&started))?;
                costs.bmp.push(taken - own);
            }
            started.stop(&self)?;
        }
        for ((_, words, _), costs) in CALLS.iter().zip(&costs) {
            let all = costs.all().map(|(name, spread)| format!("{name} {:.3}", spread.median));
            eprintln!("    {words}, us CPU: {}", all.join(", "));
        }
        Ok(costs)
    }

    /// What a step costs that does nothing; `None` where a session may hold nothing. The system is
    /// one whose passphrase costs what it usually does.
    fn steps(&self, count: usize) -> Result<Option<Steps>> {
        let system = self.system.with_file_name("steps");
        complete(self.command("init").args(["--segment-bytes", "4 MiB"]).arg(&system))?;
        let definitions = self.system.with_file_name("definitions");
        complete(self.command("gen").arg("-s").arg(&system).arg(&definitions))?;
        let card = self.program.with_file_name("card");
        write(&card, &format!("{}{:09}\n", Loop::Next.letter(), 1))?;
        let mut step = self.command("batch");
        step.arg("-s").arg(&system).args(["--psb", customers::PSB, "--program"]).arg(&self.twin);
        step.arg("--dd").arg(format!("SYSIN={}", card.display()));
        // Compiles the program.
        complete(&mut step)?;
        let mut steps = Steps::default();
        for _ in 0..count {
            steps.passphrase.push(taken_ms(&mut step)?.0);
        }
        let unlock = self.command("keys").arg("unlock").arg(&system).output();
        if !unlock.is_ok_and(|ended| ended.status.success()) {
            return Ok(None);
        }
        step.env_remove("HOLDFAST_PASSPHRASE");
        for _ in 0..count {
            let (elapsed, cpu) = taken_ms(&mut step)?;
            steps.unlocked.push(elapsed);
            steps.unlocked_cpu.push(cpu);
        }
        complete(self.command("keys").arg("lock").arg(&system))?;
        let all = steps.all().map(|(name, spread)| format!("{name} {:.1}", spread.median));
        eprintln!("    an empty step, ms: {}", all.join(", "));
        Ok(Some(steps))
    }

    /// What the C program's calls cost, with and without counts.
    fn twin(&self, rounds: usize) -> Result<Twin> {
        let mut twin = Twin::default();
        for _ in 0..rounds {
            let cost = |what| self.difference(("dli", &self.twin), what, None);
            let own = cost(Loop::Empty)?;
            let (plain, counted) = (cost(Loop::Next)? - own, cost(Loop::Counted)? - own);
            twin.plain.push(plain);
            twin.counted.push(counted);
            twin.added.push(counted - plain);
        }
        let all = twin.all().map(|(name, spread)| format!("{name} {:.3}", spread.median));
        eprintln!("    GN of a C program, us CPU: {}", all.join(", "));
        Ok(twin)
    }

    /// Microseconds of CPU for a turn of the loop: a long run less a short one.
    fn difference(
        &self,
        (kind, program): (&str, &Path),
        what: Loop,
        started: Option<&Started>,
    ) -> Result<f64> {
        let mut taken = [0.0; 2];
        for (taken, calls) in taken.iter_mut().zip(self.calls) {
            let before = seconds(started);
            self.batch(kind, program, what, calls)?;
            *taken = seconds(started) - before;
        }
        Ok((taken[1] - taken[0]) * 1e6 / (self.calls[1] - self.calls[0]) as f64)
    }
}

/// Milliseconds that a command takes: elapsed, and CPU of all its processes.
fn taken_ms(command: &mut Command) -> Result<(f64, f64)> {
    let (begun, before) = (Instant::now(), seconds(None));
    complete(command)?;
    Ok((begun.elapsed().as_secs_f64() * 1e3, (seconds(None) - before) * 1e3))
}

/// CPU of the commands that have ended, and of the started system.
fn seconds(started: Option<&Started>) -> f64 {
    let system = started.map_or(0.0, |started| cpu::process_seconds(started.process.id()));
    cpu::ended_children_seconds(std::process::id()) + system
}

/// A started system; killed if something fails.
struct Started {
    process: Child,
}

impl Started {
    fn new(bench: &Bench) -> Result<Started> {
        let mut command = bench.on_system("start");
        let spawned = command.stdout(Stdio::piped()).spawn();
        let mut process = spawned.map_err(BenchError::system("start", &bench.holdfast))?;
        let mut printed = String::new();
        if let Some(output) = process.stdout.take() {
            let read = BufReader::new(output).read_line(&mut printed);
            read.map_err(BenchError::system("listen to", &bench.holdfast))?;
        }
        let started = Started { process };
        match printed.contains("started") {
            true => Ok(started),
            false => Err(failed("the system did not start")),
        }
    }

    fn stop(mut self, bench: &Bench) -> Result<()> {
        complete(&mut bench.on_system("stop"))?;
        let ended = self.process.wait();
        ended.map(drop).map_err(BenchError::system("wait for", &bench.holdfast))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // Nothing is left to kill after a stop.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The same calls from within this process.
struct Embedded {
    // The program ends before its databases are closed.
    program: Program,
    _site: crate::databases::Site,
    ssa: Vec<u8>,
}

impl Embedded {
    fn new(context: &Context) -> Result<Embedded> {
        let site = customers::create(&setup(context, "embedded", POOL_BYTES)?)?;
        let data = context.folder.join("generated");
        customers::generate(site.database(customers::DATABASE)?, &data, CUSTOMERS)?;
        customers::load(&site, &data)?;
        let program = site.program(customers::PSB, SessionOptions::default())?;
        Ok(Embedded { program, _site: site, ssa: qualified("CUSTOMER", "CUSTNO", 8) })
    }

    /// Microseconds of CPU for a call. The first hundred thousand are thrown away.
    fn cost(&mut self, what: Loop, calls: u64) -> Result<f64> {
        self.calls(what, calls.min(100_000))?;
        let before = cpu::own_seconds();
        self.calls(what, calls)?;
        let taken = cpu::own_seconds() - before;
        Ok(taken * 1e6 / calls as f64)
    }

    fn calls(&mut self, what: Loop, calls: u64) -> Result<()> {
        let mut key = 0;
        for _ in 0..calls {
            key = (key + STRIDE) % CUSTOMERS;
            customers::digits(key, &mut self.ssa[SSA_VALUE..][..8]);
            match what {
                Loop::Empty => {}
                Loop::Unique => {
                    if self.program.get(BY_KEY, b"GU  ", &[&self.ssa])? == 0 {
                        return Err(failed("a customer was not found"));
                    }
                }
                // At the end it finds nothing, and begins again.
                Loop::Next | Loop::Counted => drop(self.program.get(BY_KEY, b"GN  ", &[])?),
            }
        }
        self.program.commit()
    }
}

/// The command that was built beside this one, or the one that `HOLDFAST` names.
pub(super) fn find_holdfast() -> Result<PathBuf> {
    let beside = || Some(std::env::current_exe().ok()?.with_file_name("holdfast"));
    let found = std::env::var_os("HOLDFAST").map(PathBuf::from).or_else(beside);
    found.filter(|path| path.is_file()).ok_or_else(|| BenchError::Missing {
        peer: "the command holdfast",
        reason: "it is not beside this program; build it: cargo build --release -p holdfast".into(),
    })
}

pub(super) fn find_compiler() -> Result<()> {
    let answer = Command::new("cobc").arg("--version").output();
    match answer.is_ok_and(|answer| answer.status.success()) {
        true => Ok(()),
        false => Err(BenchError::Missing {
            peer: "GnuCOBOL",
            reason: "`cobc --version` does not answer".into(),
        }),
    }
}

pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(BenchError::system("write", path))
}

/// Runs a command to its end.
pub(super) fn complete(command: &mut Command) -> Result<()> {
    let program = PathBuf::from(command.get_program());
    let output = command.output().map_err(BenchError::system("run", &program))?;
    if output.status.success() {
        return Ok(());
    }
    let arguments: Vec<_> = command.get_args().map(|one| one.to_string_lossy()).collect();
    let (printed, complained) = (&output.stdout, &output.stderr);
    let printed =
        format!("{}{}", String::from_utf8_lossy(printed), String::from_utf8_lossy(complained));
    Err(failed(format!("holdfast {}: {}", arguments.join(" "), printed.trim_end())))
}

/// The program. Its card has the letter of a loop, and how many turns it takes, in 9 digits.
fn source() -> String {
    SOURCE.replace("_STRIDE_", &STRIDE.to_string()).replace("_CUSTOMERS_", &CUSTOMERS.to_string())
}

const SOURCE: &str = "      * CALLS AS OFTEN AS IT IS TOLD TO.
       IDENTIFICATION DIVISION.
       PROGRAM-ID.    CALLER.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  CONTROL-CARD.
           05  LOOP-LETTER       PIC X(01).
           05  TURN-DIGITS       PIC 9(09).
           05  FILLER            PIC X(70).
       01  TURNS-LEFT            PIC S9(09) COMP-5.
       01  NEXT-KEY              PIC S9(09) COMP-5 VALUE 0.
       01  GET-UNIQUE            PIC X(04) VALUE 'GU  '.
       01  GET-NEXT              PIC X(04) VALUE 'GN  '.
       01  CUSTOMER-SSA.
           05  FILLER            PIC X(19) VALUE 'CUSTOMER(CUSTNO   ='.
           05  SSA-KEY           PIC 9(08).
           05  FILLER            PIC X(01) VALUE ')'.
       01  SEGMENT-AREA          PIC X(100).
       LINKAGE SECTION.
       01  IO-PCB                PIC X(44).
       01  KEY-PCB.
           05  FILLER            PIC X(10).
           05  KEY-STATUS        PIC X(02).
       01  NAME-PCB              PIC X(44).
       PROCEDURE DIVISION USING IO-PCB KEY-PCB NAME-PCB.
       MAIN-PART.
           ACCEPT CONTROL-CARD.
           MOVE TURN-DIGITS TO TURNS-LEFT.
           PERFORM ONE-TURN UNTIL TURNS-LEFT = 0.
           MOVE 0 TO RETURN-CODE.
           GOBACK.
       ONE-TURN.
           SUBTRACT 1 FROM TURNS-LEFT.
           ADD _STRIDE_ TO NEXT-KEY.
           IF NEXT-KEY NOT < _CUSTOMERS_
               SUBTRACT _CUSTOMERS_ FROM NEXT-KEY
           END-IF.
           MOVE NEXT-KEY TO SSA-KEY.
           EVALUATE LOOP-LETTER
               WHEN 'U'
                   CALL 'CBLTDLI' USING GET-UNIQUE KEY-PCB SEGMENT-AREA
                                        CUSTOMER-SSA
                   IF KEY-STATUS NOT = SPACES
                       PERFORM GIVE-UP
                   END-IF
               WHEN 'N'
                   CALL 'CBLTDLI' USING GET-NEXT KEY-PCB SEGMENT-AREA
                   IF KEY-STATUS NOT = SPACES AND NOT = 'GA'
                           AND NOT = 'GK' AND NOT = 'GB'
                       PERFORM GIVE-UP
                   END-IF
           END-EVALUATE.
       GIVE-UP.
           DISPLAY 'CALLER STATUS ' KEY-STATUS.
           MOVE 16 TO RETURN-CODE.
           GOBACK.
";

/// The same in C, without GU.
const TWIN: &str = r#"
#include <stdio.h>

int CTDLI();

struct pcb {
    char dbd[8], level[2], status[2];
};

int DLITCBL(void *io, struct pcb *key, struct pcb *name)
{
    static char next[8] = "GN  ";
    static char area[100];
    char letter = 'E';
    int three = 3;
    long turns = 0;

    if (scanf("%c%9ld", &letter, &turns) != 2)
        return 12;
    while (turns-- > 0) {
        if (letter == 'N')
            CTDLI(next, key, area, (char *)0);
        else if (letter == 'C')
            CTDLI(&three, next, key, area);
        else
            continue;
        if (key->status[0] != ' ' && key->status[0] != 'G')
            return 16;
    }
    return 0;
}
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_stays_within_column_72() {
        let source = source();
        assert!(source.lines().all(|line| line.len() <= 72 && line.starts_with("      ")));
        assert!(source.contains("ADD 7919 TO NEXT-KEY") && !source.contains("_CUSTOMERS_"));
    }

    #[test]
    fn the_stride_leads_to_every_customer() {
        let mut seen = vec![false; CUSTOMERS as usize];
        let mut key = 0;
        for _ in 0..CUSTOMERS {
            key = (key + STRIDE) % CUSTOMERS;
            seen[key as usize] = true;
        }
        assert!(seen.iter().all(|seen| *seen));
    }
}
