//! Running the programs of the tests: the test's own executable, started again, is their process.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use holdfast_region::bmp::{Connection, Door, Schedule};
use holdfast_region::layout::PcbLayout;
use holdfast_region::program::{Library, Prepared, Workshop};
use holdfast_region::{
    Dd, Embedded, Ending, ExecDli, Failure, Files, Link, Order, Preprocessor, RegionError, Reply,
    Request, Server, Trace, guest, host,
};
use seam::disk::{Disk, read_small};
use seam::real::RealDisk;
use seam::sync::Mutex;

use crate::shop::server::Shop;

/// How a program is run.
#[derive(Clone, Copy, Default)]
pub(crate) struct Play<'a> {
    pub(crate) program: &'a str,
    pub(crate) dds: &'a [&'a str],
    pub(crate) entry: &'a str,
    pub(crate) order: &'a str,
    /// What it reads from standard input.
    pub(crate) input: &'a str,
    pub(crate) trace: bool,
    pub(crate) far: bool,
}

/// What came of it.
pub(crate) struct Outcome {
    pub(crate) report: host::Report,
    pub(crate) output: String,
    pub(crate) log: Vec<String>,
    pub(crate) trace: String,
}

/// Longer than any program of a test takes on any machine.
const LONG: std::time::Duration = std::time::Duration::from_secs(600);

const STAGE: &str = "HOLDFAST_TEST_STAGE";

pub(crate) fn have(compiler: &str) -> bool {
    let found = seam::process::output(Command::new(compiler).arg("--version"), LONG).is_ok();
    if !found {
        eprintln!("skipped: {compiler} is not installed");
    }
    found
}

/// A folder of this test's own, empty.
pub(crate) fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("region-{test}"));
    let disk = RealDisk::new();
    disk.create_dir(&folder).expect("a folder");
    for entry in disk.list(&folder).expect("a list") {
        let _ = disk.remove(&folder.join(entry));
    }
    folder
}

pub(crate) fn read(path: &Path) -> String {
    let bytes = read_small(&RealDisk::new(), path, 1 << 24).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

pub(crate) fn guests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guests")
}

pub(crate) fn prepare(program: &Path) -> Result<Prepared, RegionError> {
    let disk = RealDisk::new();
    let workshop = Workshop {
        disk: &disk,
        cache: Path::new(env!("CARGO_TARGET_TMPDIR")).join("region-programs"),
        copy_folders: vec![guests().join("copy")],
        translate: &Preprocessor::default(),
        options: Vec::new(),
    };
    disk.create_dir(&workshop.cache).expect("a cache");
    workshop.prepare(program)
}

struct Shops(PathBuf);

impl Schedule for Shops {
    fn schedule(&self, job: &[u8]) -> Result<Box<dyn Server>, Failure> {
        if job != b"the shop" {
            let text = "there is no such job".to_owned();
            return Err(Failure { code: "HFY999".into(), text, remedy: "name another".into() });
        }
        Ok(Box::new(Shop::new(&self.0)))
    }
}

/// A server whose end takes as long as a thread holds the gate.
struct Slow(Shop, Arc<Mutex<()>>);

impl Server for Slow {
    fn pcbs(&self) -> &[PcbLayout] {
        self.0.pcbs()
    }

    fn call(&mut self, request: Request<'_>, reply: &mut Reply) {
        self.0.call(request, reply);
    }

    fn end(&mut self, ending: Ending) -> Result<(), Failure> {
        drop(self.1.lock());
        self.0.end(ending)
    }
}

struct SlowShops(PathBuf, Arc<Mutex<()>>);

impl Schedule for SlowShops {
    fn schedule(&self, _job: &[u8]) -> Result<Box<dyn Server>, Failure> {
        Ok(Box::new(Slow(Shop::new(&self.0), self.1.clone())))
    }

    fn step(&self, job: &[u8]) -> Vec<u8> {
        job.to_vec()
    }
}

pub(crate) fn slow_door(folder: &Path, gate: &Arc<Mutex<()>>) -> Door {
    let shops = Arc::new(SlowShops(folder.join("log"), gate.clone()));
    Door::open(&folder.join("socket"), shops).expect("a socket")
}

pub(crate) fn door(folder: &Path) -> Door {
    let shops = Arc::new(Shops(folder.join("log")));
    Door::open(&folder.join("socket"), shops).expect("a socket")
}

/// Runs a program for a test.
pub(crate) fn play(test: &str, play: Play<'_>) -> Outcome {
    let folder = folder(test);
    let door = play.far.then(|| door(&folder));
    let program = guests().join(play.program);
    let prepared = prepare(&program).unwrap_or_else(|error| panic!("{error}"));
    let output = folder.join("output");
    let mut dds: Vec<Dd> = play.dds.iter().map(|dd| Dd::parse(dd).expect("a DD")).collect();
    dds.push(Dd {
        name: "SYSOUT".into(),
        path: output.clone(),
        text: false,
        words: None,
        disposition: None,
    });
    let disk = RealDisk::new();
    if !play.input.is_empty() {
        let sysin = folder.join("sysin");
        seam::fresh::replace_small(&disk, &sysin, play.input.as_bytes()).expect("a file");
        dds.push(Dd {
            name: "SYSIN".into(),
            path: sysin,
            text: false,
            words: None,
            disposition: None,
        });
    }
    let files = Files::prepare(&disk, &dds, prepared.files(), &Library::default(), &folder)
        .unwrap_or_else(|e| panic!("{e}"));
    let mut command = Command::new(std::env::current_exe().expect("this executable"));
    command.args(["guest", "--exact", "--nocapture", "--test-threads=1"]);
    command.env(STAGE, &folder).env("STAGE_PROGRAM", &program);
    command.env("STAGE_ENTRY", play.entry).env("STAGE_ORDER", play.order);
    command.env("STAGE_TRACE", if play.trace { "yes" } else { "" });
    command.env("STAGE_FAR", if play.far { "yes" } else { "" });
    let mut watch = None;
    let begun = |process| watch = Some(seam::process::Watch::over(process, LONG));
    let report = host::run(&mut command, &files, begun).expect("a process");
    drop(watch);
    files.finish(&disk).expect("files");
    if let Some(door) = door {
        door.close();
    }
    Outcome {
        report,
        output: read(&output),
        log: read(&folder.join("log")).lines().map(str::to_owned).collect(),
        trace: read(&folder.join("trace.jsonl")),
    }
}

/// What a program's process does.
pub(crate) fn perform() {
    let Ok(folder) = std::env::var(STAGE) else { return };
    let folder = PathBuf::from(folder);
    let printed = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let link: Box<dyn Link> = match printed("STAGE_FAR") {
        Some(_) => {
            let connection = Connection::open(&folder.join("socket"), b"the shop");
            Box::new(connection.expect("a connection"))
        }
        None => Box::new(Embedded::new(Box::new(Shop::new(&folder.join("log"))))),
    };
    let program = PathBuf::from(printed("STAGE_PROGRAM").expect("a program"));
    let trace = printed("STAGE_TRACE")
        .map(|_| Trace::create(&RealDisk::new(), &folder.join("trace.jsonl")).expect("a trace"));
    let job = guest::Job {
        program: prepare(&program).expect("a program"),
        entry: printed("STAGE_ENTRY"),
        order: printed("STAGE_ORDER").map(|_| Order::Native),
        parm: Some("the parm".to_owned()),
        trace,
        commands: Some(Box::new(ExecDli::new("SHOPPSB"))),
    };
    guest::run(link, job)
}
