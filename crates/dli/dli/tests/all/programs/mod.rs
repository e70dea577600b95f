//! Programs that run at once over one store in memory, each a thread of a simulated machine.
//!
//! Invariants:
//! 1. Who goes first follows from the seed; a test holds for every seed it is tried with.
#![allow(clippy::unwrap_used)] // in tests an unwrap is an assertion
#![allow(unreachable_pub)] // shared by tests

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use definitions::resolve::Definitions;
use definitions::{Dbd, DbdName, Function, MemberName, Psb, PsbName};
use dli_model::Setup;
use dli_model::script::{Call, Script, Step};
use hierarchy::Database;
use holdfast_dli::{Failure, Session, SessionOptions};
use placement::{Placement, Settings};
use seam::Seam;
use seam::sim::{self, SimConfig, SimDisk};
use store_suite::model::ModelStore;

/// The DBDs of a setup.
struct Members(Vec<Arc<Dbd>>);

impl Definitions for Members {
    fn dbd(&self, name: DbdName) -> Option<Arc<Dbd>> {
        self.0.iter().find(|dbd| dbd.name == name).cloned()
    }

    fn psb(&self, _name: PsbName) -> Option<Arc<Psb>> {
        None
    }

    fn referring(&self, _dbd: DbdName) -> Vec<MemberName> {
        Vec::new()
    }
}

/// Databases in a store, and the PSB that all programs use.
pub struct Yard {
    pub seam: Seam,
    pub store: ModelStore,
    setup: Setup,
    databases: BTreeMap<DbdName, Arc<Database>>,
}

/// Runs a test under many schedules, each with databases of its own. A seed that fails is named.
pub fn under_every_schedule(source: &str, given: &str, test: impl Fn(&Arc<Yard>)) {
    let seeds = std::env::var("HOLDFAST_SEEDS").ok().and_then(|text| text.parse().ok());
    for seed in 0..seeds.unwrap_or(24) {
        let run = |seam: Seam| {
            let yard = Arc::new(Yard::new(&seam, source));
            let mut first = yard.program();
            given.lines().filter(|line| !line.trim().is_empty()).for_each(|line| {
                first.done(line);
            });
            first.commit();
            drop(first);
            test(&yard);
            yard.expect_sound();
        };
        sim::run(SimConfig::new(seed), SimDisk::new(), run).expect_completed();
    }
}

impl Yard {
    fn new(seam: &Seam, source: &str) -> Yard {
        let setup = Setup::from_source(source).unwrap();
        let store = ModelStore::with(ModelStore::CAPABILITIES, Arc::clone(&seam.clock));
        let members = Members(setup.dbds.clone());
        let databases = setup.dbds.iter().filter(|dbd| hierarchy::is_kept(dbd.organization));
        let databases = databases
            .map(|dbd| {
                let opened = Database::open(&store, dbd.name, &members, &mut |dbd| {
                    let mut none = |_: &str| Err(std::io::Error::other("no files here"));
                    let placement = Placement::new(dbd, &Settings::default(), &mut none);
                    placement.map_err(|error| Arc::new(error).into())
                });
                (dbd.name, Arc::new(opened.unwrap()))
            })
            .collect();
        Yard { seam: seam.clone(), store, setup, databases }
    }

    /// A program that shares the databases with all the others.
    pub fn program(&self) -> Program {
        let members = Members(self.setup.dbds.clone());
        let options = SessionOptions { shared: true, ..SessionOptions::default() };
        let mut open = |name: DbdName| Ok(Arc::clone(&self.databases[&name]));
        let session =
            Session::open(&self.store, &self.setup.psb, &members, &mut open, options).unwrap();
        Program { session }
    }

    /// Starts another program.
    pub fn beside(
        self: &Arc<Self>,
        name: &str,
        body: impl FnOnce(&Yard, &mut Program) + Send + 'static,
    ) -> Other {
        let (yard, finished) = (Arc::clone(self), Arc::new(AtomicBool::new(false)));
        let answer = Arc::clone(&finished);
        let run = move || {
            body(&yard, &mut yard.program());
            answer.store(true, SeqCst);
        };
        Other { thread: seam::thread::spawn(name, run).unwrap(), finished }
    }

    /// Lets every other program go on until it ends or waits for a lock.
    pub fn let_others_run(&self) {
        self.seam.clock.sleep(Duration::from_secs(1));
    }

    /// Hierarchy, indexes and relationships agree.
    pub fn expect_sound(&self) {
        for database in self.databases.values() {
            let others = &mut |name: DbdName| Ok(Arc::clone(&self.databases[&name]));
            let report = database.verify(&self.store, others, |_| ()).unwrap();
            assert!(report.findings.is_empty(), "{:?}", report.findings);
        }
    }
}

/// A program that runs beside the test.
pub struct Other {
    thread: seam::thread::JoinHandle,
    finished: Arc<AtomicBool>,
}

impl Other {
    /// Whether it waits, or has not been there yet.
    pub fn waits(&self) -> bool {
        !self.finished.load(SeqCst)
    }

    /// Waits for its end.
    pub fn end(self) {
        self.thread.join();
    }
}

/// A program.
pub struct Program {
    pub session: Session<ModelStore>,
}

impl Program {
    /// A call, written as in a script: what it answers, and what it put into the area.
    pub fn call(&mut self, line: &str) -> Result<(String, Vec<u8>), Failure> {
        let script = Script::parse(line).unwrap();
        let [Step::Call(Call { pcb, function, area, ssas, .. })] = &script.given[..] else {
            panic!("{line} is no call");
        };
        let mut name = [b' '; 4];
        name[..function.len()].copy_from_slice(function.as_bytes());
        let mut given = area.clone();
        if function.starts_with('G') {
            given = vec![0; self.session.area_max(*pcb)];
        }
        let ssas: Vec<&[u8]> = ssas.iter().map(Vec::as_slice).collect();
        let reply = self.session.call(*pcb, Function::of(name), Some(&mut given), &ssas)?;
        given.truncate(reply.filled);
        Ok((reply.status.to_string(), given))
    }

    /// A call that does not end the program.
    pub fn tried(&mut self, line: &str) -> (String, Vec<u8>) {
        self.call(line).unwrap_or_else(|failure| panic!("{line}: {failure}"))
    }

    /// The status of a call.
    pub fn status(&mut self, line: &str) -> String {
        self.tried(line).0
    }

    /// What a call reads, which has to succeed.
    pub fn done(&mut self, line: &str) -> String {
        let (status, area) = self.tried(line);
        assert!(matches!(&status[..], "  " | "GA" | "GK"), "{line}: {status}");
        String::from_utf8(area).unwrap()
    }

    /// A sync point.
    pub fn commit(&mut self) {
        self.session.commit().unwrap();
    }

    /// The end of a unit of work that counts for nothing.
    pub fn back_out(&mut self) {
        self.session.backout().unwrap();
    }

    /// Runs a unit of work, again whenever it is chosen to end a deadlock. Answers how often that
    /// was.
    pub fn work(&mut self, body: impl Fn(&mut Program) -> Result<(), Failure>) -> usize {
        for chosen in 0.. {
            match body(self) {
                Ok(()) => {
                    self.commit();
                    return chosen;
                }
                Err(failure) => {
                    assert_eq!(failure.abend, "U0777", "{failure}");
                    self.back_out();
                }
            }
        }
        0
    }
}
