//! Programs in message regions: what they answer, what ends them, and how soon the region goes on.

#[allow(dead_code, reason = "the tests of other files need more of it")]
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use crate::support::Shop;
use crate::support::memory_messages::{MemoryMessages, MessageQueues, Sent, message};
use holdfast_schedule::{Options, RegionKind};
use queue_manager::QueueManager;
use region::host::{Ended, Report};
use region::program::{Library, ProgramCache};
use region::{Abend, Dd, Files, Limit, MessageRegion, Preprocessor, ProgramToRun, Reserve, worker};
use seam::Seam;
use seam::family::Process;
use seam::sync::Mutex;
use store_suite::model::ModelStore;

const TELLER: &str = "
         PCB   TYPE=TP,LTERM=PRINTER
         PCB   TYPE=TP,MODIFY=YES
         PCB   TYPE=DB,DBDNAME=SHOPDB,PROCOPT=AP,KEYLEN=6
         SENSEG NAME=CUSTOMER,PARENT=0
         SENSEG NAME=ORDER,PARENT=CUSTOMER
         PSBGEN LANG=COBOL,PSBNAME=TELLER
";

/// Longer than anything takes on any machine.
const LONG: Duration = Duration::from_secs(600);
const REGION: &str = "HOLDFAST_TEST_REGION";

/// Not a test: what the processes of regions do.
#[test]
fn region_process() {
    if std::env::var_os(REGION).is_some() {
        worker::run();
    }
}

pub(crate) struct Hall {
    pub(crate) shop: Shop,
    pub(crate) message_queues: Arc<Mutex<MessageQueues>>,
    /// Its programs' queues, if they have any.
    pub(crate) manager: Option<QueueManager<ModelStore>>,
    region: MessageRegion,
    /// How long the last program had the region.
    took: Duration,
    /// The processes of the region.
    processes: Arc<Mutex<Vec<Process>>>,
}

pub(crate) fn have(compiler: &str) -> bool {
    let found = seam::process::output(Command::new(compiler).arg("--version"), LONG).is_ok();
    if !found {
        eprintln!("skipped: {compiler} is not installed");
    }
    found
}

impl Hall {
    pub(crate) fn new(test: &str, dds: &[Dd]) -> Hall {
        let shop = Shop::new(test);
        let make = || {
            let mut command = Command::new(std::env::current_exe().expect("this executable"));
            command.args([
                "message_regions::region_process",
                "--exact",
                "--nocapture",
                "--test-threads=1",
            ]);
            command.env(REGION, "yes").stdout(Stdio::null());
            command
        };
        let processes: Arc<Mutex<Vec<Process>>> = Arc::default();
        let seen = Arc::clone(&processes);
        let admit = move |number| -> Box<dyn Send> {
            seen.lock().push(Process::of(number).expect("a process"));
            Box::new(())
        };
        let reserve = Reserve::start(1, Box::new(make), Box::new(admit));
        let reserve = Arc::new(reserve.expect("a reserve"));
        let seam = Seam::real();
        let library = Library::default();
        let files = Files::prepare(&*seam.disk, dds, &[], &library, &shop.folder);
        let files = files.expect("files");
        let region = MessageRegion::start(&reserve, &seam.clock, &files).expect("a region");
        let (message_queues, manager, took) = (Arc::default(), None, Duration::ZERO);
        Hall { shop, message_queues, manager, region, took, processes }
    }

    pub(crate) fn send(&self, texts: &[&str]) {
        self.message_queues.lock().inputs.push_back(message(texts));
    }

    pub(crate) fn run(&mut self, program: &ProgramToRun) -> Report {
        let options =
            Options { kind: RegionKind::Mpp, transaction: "TELL".to_owned(), ..Options::default() };
        let mut schedule = self.shop.schedule(TELLER, options).expect("a schedule");
        if let Some(manager) = &self.manager {
            schedule = schedule.with_queues(Arc::new(manager.clone()), "anna");
        }
        let clerk = MemoryMessages::new(&self.message_queues, &[(1, "PRINTER")]);
        let clock = Seam::real().clock;
        let begun = clock.monotonic();
        let server = Box::new(schedule.with_messages(Box::new(clerk)));
        let report = self.region.run(program, server);
        self.took = clock.monotonic() - begun;
        report
    }

    /// The processor time that this process and the region's have used.
    fn processor_time(&self) -> Duration {
        let own = Process::of(std::process::id()).expect("this process").processor_time();
        let processes = self.processes.lock();
        own + processes.iter().map(Process::processor_time).sum::<Duration>()
    }

    /// All programs ran in one process; another one is ready, or becomes so.
    #[track_caller]
    pub(crate) fn has_kept_its_process(&self) {
        assert!(self.processes.lock().len() <= 2);
    }

    /// What was sent since this was asked last.
    fn sent(&self) -> Vec<Sent> {
        std::mem::take(&mut self.message_queues.lock().sent)
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        self.sent().into_iter().map(|(_, _, segments)| segments.concat()).collect()
    }
}

pub(crate) fn program(name: &str) -> ProgramToRun {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("schedule-programs");
    let headers = folder.join("../../../../messages/mqm/include");
    let include = vec![headers.join("cobol"), headers];
    let program_cache = ProgramCache::new(&Seam::real().disk, vec![folder], include, cache);
    let translate = Preprocessor::default();
    let found = program_cache.find(&translate, name).unwrap_or_else(|error| panic!("{error}"));
    let again = program_cache.find(&translate, name).expect("it was found");
    assert!(again.warnings.is_empty(), "said once: {:?}", again.warnings);
    assert!(program_cache.find(&translate, "NOBODY").is_err());
    let (program, library) = (found.program, found.library);
    let (entry, order, psb) = (None, None, "TELLER".to_owned());
    ProgramToRun { program, library, entry, order, psb, limit: None }
}

pub(crate) fn normal() -> Ended {
    Ended::Normal { return_code: 0 }
}

pub(crate) fn code_of(report: &Report) -> &str {
    match &report.ended {
        Ended::Abend(Abend { code, .. }) => code,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_cobol_program_answers_and_begins_anew_each_time() {
    if !have("cobc") {
        return;
    }
    let (mut hall, teller) = (Hall::new("mpp-cobol", &[]), program("TELLER"));
    for _ in 0..3 {
        for text in ["ECHO", "SUBS", "SUBS"] {
            hall.send(&[text]);
        }
        let report = hall.run(&teller);
        assert_eq!((&report.ended, report.calls), (&normal(), 7), "{report}");
        assert!(report.notes.is_empty(), "{:?}", report.notes);
        let answer = |what: &str, seen: u32| format!("{what:<8}{seen:04}ANNA    ");
        let expected = [answer("ECHO", 1), answer("SUBS", 101), answer("SUBS", 102)];
        let sent = hall.sent();
        let texts: Vec<String> = sent.iter().map(|(_, _, segments)| segments.concat()).collect();
        assert_eq!(texts, expected);
        assert!(sent.iter().all(|(to, name, _)| to == "IO" && name == "TELLOUT"), "{sent:?}");
    }
    hall.has_kept_its_process();
}

#[test]
fn segments_and_messages_for_others_go_where_they_belong() {
    if !have("cobc") {
        return;
    }
    let (mut hall, teller) = (Hall::new("mpp-many", &[]), program("TELLER"));
    hall.send(&["MANY", "second", "third"]);
    hall.send(&["SEND"]);
    hall.send(&["ROLB"]);
    assert_eq!(hall.run(&teller).ended, normal());
    let sent = hall.sent();
    assert_eq!(sent[0].2.len(), 3);
    assert!(sent[0].2[1].starts_with("second  0001") && sent[0].2[2].starts_with("third   0001"));
    assert_eq!((sent[1].0.as_str(), sent[1].1.as_str()), ("BACKEND", "TELLOUT"));
    assert_eq!(sent[1].2, ["SENT    0002BACKEND "]);
    assert_eq!(sent[2].2, ["SEND    0002ANNA    "]);
    assert_eq!(sent[3].2, ["ROLBAGAI0003ANNA    "]);
    assert_eq!(sent.len(), 4);
    assert_eq!(hall.shop.customers(), [""; 0]);
}

#[test]
fn a_program_that_ends_its_process_leaves_the_next_one_a_new_process() {
    if !have("cobc") {
        return;
    }
    let (mut hall, teller) = (Hall::new("mpp-ends", &[]), program("TELLER"));
    for (text, code) in [("S0C4", "S0C4"), ("ROLL", "U0778")] {
        hall.send(&["ECHO"]);
        hall.send(&[text]);
        hall.send(&["NEXT"]);
        let report = hall.run(&teller);
        assert_eq!(code_of(&report), code, "{report}");
        assert_eq!(hall.texts().len(), 1, "the first was committed");
        assert_eq!(hall.run(&teller).ended, normal());
        assert_eq!(hall.texts(), ["NEXT    0001ANNA    "]);
    }
    assert_eq!(hall.shop.customers(), [""; 0], "both were backed out");
    hall.send(&["STOP"]);
    hall.send(&["NEXT"]);
    assert_eq!(hall.run(&teller).ended, normal());
    assert_eq!(hall.run(&teller).ended, normal());
    assert_eq!(hall.texts(), ["STOP    0001ANNA    ", "NEXT    0001ANNA    "]);
}

#[test]
fn a_program_that_runs_away_is_ended_by_its_limit_or_from_outside() {
    if !have("cobc") {
        return;
    }
    let (mut hall, mut teller) = (Hall::new("mpp-loop", &[]), program("TELLER"));
    for limit in [Limit::Elapsed, Limit::Processor] {
        teller.limit = Some(limit(Duration::from_millis(200)));
        hall.send(&["LOOP"]);
        let report = hall.run(&teller);
        assert_eq!(code_of(&report), "U0240", "{report}");
    }
    teller.limit = None;
    hall.send(&["LOOP"]);
    let stopper = hall.region.stopper();
    assert!(!stopper.end_program(Abend { code: "S222".into(), text: "nothing runs".into() }));
    let why = Abend { code: "S222".to_owned(), text: "the operator has ended it".to_owned() };
    let expected = why.clone();
    let message_queues = Arc::clone(&hall.message_queues);
    let thread = seam::thread::spawn("operator", move || {
        let clock = Seam::real().clock;
        while !message_queues.lock().inputs.is_empty() {
            clock.sleep(Duration::from_millis(5));
        }
        clock.sleep(Duration::from_millis(20));
        assert!(stopper.end_program(why));
    });
    let report = hall.run(&teller);
    thread.expect("a thread").join();
    assert_eq!(report.ended, Ended::Abend(expected));
    hall.send(&["NEXT"]);
    assert_eq!(hall.run(&teller).ended, normal());
    assert_eq!(hall.texts(), ["NEXT    0001ANNA    "]);
    assert_eq!(hall.shop.customers(), [""; 0]);
}

#[test]
fn a_c_program_has_lengths_of_its_own_order_and_storage_of_its_own_values() {
    if !have("cc") {
        return;
    }
    let (mut hall, echo) = (Hall::new("mpp-c", &[]), program("ECHO"));
    for _ in 0..3 {
        hall.send(&["SHOW me"]);
        hall.send(&["LEAK"]);
        hall.send(&["SHOW"]);
        let report = hall.run(&echo);
        assert_eq!(report.ended, normal(), "{report}");
        let expected = ["1 as it was SHOW me", "2  LEAK", "3 written over SHOW"];
        assert_eq!(hall.texts(), expected);
    }
    hall.has_kept_its_process();
}

#[test]
fn programs_of_both_languages_share_a_process() {
    if !have("cobc") || !have("cc") {
        return;
    }
    let folder = Shop::new("mpp-shared").folder;
    let output = folder.join("sysout");
    let dds =
        [Dd { name: "SYSOUT".into(), path: output, text: false, words: None, disposition: None }];
    let mut hall = Hall::new("mpp-both", &dds);
    let (teller, echo) = (program("TELLER"), program("ECHO"));
    for _ in 0..2 {
        hall.send(&["ECHO"]);
        assert_eq!(hall.run(&teller).ended, normal());
        hall.send(&["ECHO"]);
        assert_eq!(hall.run(&echo).ended, normal());
        assert_eq!(hall.texts(), ["ECHO    0001ANNA    ", "1  ECHO"]);
    }
    hall.has_kept_its_process();
}

#[test]
fn a_process_that_never_becomes_ready_is_told() {
    if !have("cc") {
        return;
    }
    let mut hall = Hall::new("mpp-never", &[]);
    let make = || Command::new("false");
    let reserve = Reserve::start(1, Box::new(make), Box::new(|_| Box::new(())));
    let reserve = Arc::new(reserve.expect("a reserve"));
    let files = Files::default();
    let region = MessageRegion::start(&reserve, &Seam::real().clock, &files);
    hall.region = region.expect("a region");
    hall.send(&["ECHO"]);
    let report = hall.run(&program("ECHO"));
    let Ended::NotStarted(Abend { code, text }) = &report.ended else { panic!("{report}") };
    assert_eq!(code, "HFR017");
    assert!(text.contains("was not ready in time"), "{text}");
    assert_eq!(hall.message_queues.lock().events, ["backed out"]);
}

#[test]
fn a_region_goes_on_at_once_with_what_comes_next() {
    if !have("cobc") || !have("cc") {
        return;
    }
    let clock = Seam::real().clock;
    let (mut hall, teller) = (Hall::new("mpp-pace", &[]), program("TELLER"));
    let mut waits = Vec::new();
    hall.send(&["ECHO"]);
    hall.run(&teller);
    // What a program costs whose process has to be started first, on this machine as busy as it is.
    let cold = hall.took;
    for text in ["STOP", "S0C4", "STOP", "S0C4", "STOP", "S0C4"] {
        hall.send(&[text]);
        hall.send(&["NEXT"]);
        hall.run(&teller);
        hall.run(&teller);
        waits.push(hall.took);
        // Another one becomes ready meanwhile, as it does where programs have work to do.
        clock.sleep(Duration::from_millis(200));
    }
    eprintln!("from the end of a process to the end of the next program: {waits:?}");
    for (name, count) in [("ECHO", 20_000), ("TELLER", 20_000)] {
        let program = program(name);
        (0..count).for_each(|_| hall.send(&["ECHO"]));
        let before = hall.processor_time();
        assert_eq!(hall.run(&program).ended, normal());
        let each = (hall.processor_time() - before).as_nanos() / count;
        let elapsed = hall.took.as_nanos() / count;
        eprintln!("{name}: {each} ns of processor time a message, {elapsed} ns by the clock");
        hall.sent();
        let (mut elapsed, before) = (Duration::ZERO, hall.processor_time());
        for _ in 0..500 {
            hall.send(&["ECHO"]);
            hall.run(&program);
            elapsed += hall.took;
        }
        let each = (hall.processor_time() - before).as_micros() / 500;
        let elapsed = elapsed.as_micros() / 500;
        eprintln!("{name}: {each} us of processor time a scheduling, {elapsed} us by the clock");
        hall.sent();
    }
    let middle = waits.len() / 2;
    waits.sort();
    let most = cold.max(Duration::from_millis(100));
    assert!(waits[middle] < most, "{waits:?}, the first one {cold:?}");
}
