//! Message regions: threads that take scheduled programs from the transaction manager and have
//! them run, each in its process.
//!
//! Invariants:
//! 1. Whatever becomes of a program, its region hears of it once and goes on.
//! 2. What a program has claimed it gives back before its region takes the next one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use control::{Ending, Region, RegionId, Scheduled};
use definitions::resolve::ResolvedPsb;
use operations::Databases;
use operations::transactions::TransactionManager;
use otma::Name;
use region::host::{Ended, Report};
use region::program::ProgramCache;
use region::{
    Abend, Files, Limit, MakeCommand, MessageRegion, Preprocessor, ProgramToRun, Reserve, Server,
    Stopper,
};
use resources::Mode as CommitMode;
use schedule::{Mode, Options, RegionKind};
use seam::Seam;
use seam::sync::{Condvar, Mutex};
use seam::thread::JoinHandle;
use store_any::AnyStore;
use system::{Authorised, Guests, OnlineSettings, RegionSettings, System};
use uow::Kernel;

use crate::error::{JobsError, Result};
use crate::job::PROGRAMS;
use crate::scheduling::{KernelPools, Place, alternates, authorised, psb_of};
use crate::terms::Terms;

/// The most regions.
const REGIONS_MAX: usize = 999;
/// Processes that are started ahead.
const RESERVE: usize = 2;
/// How long programs have for their present message when the system stops.
const LAST_MESSAGE: Duration = Duration::from_secs(5);
/// PROCLIM's time if none is given.
const HUNDREDTHS_UNLIMITED: u32 = 6_553_500;
/// Programs that call the system have numbers from here on, so that messages about locks tell them
/// from programs that were started by a user.
const OWNERS_FROM: u64 = 1 << 32;

/// What all regions share.
pub(crate) struct RegionContext {
    seam: Seam,
    kernel: Arc<Kernel>,
    databases: Arc<Databases<AnyStore>>,
    terms: Terms,
    manager: TransactionManager,
    programs: ProgramCache,
    guests: Arc<Guests>,
    last_owner: AtomicU64,
    /// What RECON was told of PSBs that were scheduled; it stays told until the system stops.
    authorised: Mutex<BTreeMap<String, Option<Authorised>>>,
}

/// The programs of a system's transactions: compiled when they are first scheduled, and again when
/// their source has changed.
fn programs_of(seam: &Seam, system: &System) -> ProgramCache {
    let (dir, settings) = (system.dir(), &system.config().online);
    let folders = |names| OnlineSettings::folders(dir, names);
    let cache = dir.join(PROGRAMS);
    ProgramCache::new(&seam.disk, folders(&settings.programs), folders(&settings.include), cache)
}

impl RegionContext {
    pub(crate) fn new(
        seam: &Seam,
        system: &System,
        databases: Arc<Databases<AnyStore>>,
        terms: Terms,
        manager: TransactionManager,
    ) -> RegionContext {
        RegionContext {
            seam: seam.clone(),
            kernel: Arc::clone(system.kernel()),
            databases,
            terms,
            manager,
            programs: programs_of(seam, system),
            guests: Arc::clone(system.guests()),
            last_owner: AtomicU64::new(OWNERS_FROM),
            authorised: Mutex::default(),
        }
    }

    /// Makes a program ready that was scheduled: what runs, and what answers its calls.
    fn prepare(
        &self,
        region: &Region<AnyStore>,
        scheduled: &Scheduled<AnyStore>,
    ) -> Result<(ProgramToRun, Box<dyn Server>)> {
        let (name, psb) = (scheduled.program.name.text(), scheduled.psb.text());
        let found = self.programs.find(&Preprocessor { is_free: false }, &name)?;
        self.terms.notices.warn_all(&found.warnings);
        let (program, library) = (found.program, found.library);
        let resolved = psb_of(&self.databases, &psb)?;
        let terms = Terms {
            owner: self.last_owner.fetch_add(1, Ordering::Relaxed) + 1,
            ..self.terms.clone()
        };
        let place = Place {
            seam: &self.seam,
            pools: Arc::new(KernelPools(Arc::clone(&self.kernel))),
            databases: &self.databases,
            terms: &terms,
        };
        let options = Options {
            kind: if region.is_expedited() { RegionKind::Ifp } else { RegionKind::Mpp },
            transaction: scheduled.transaction.name.text(),
            mode: match scheduled.transaction.mode {
                CommitMode::Single => Mode::Single,
                CommitMode::Multiple => Mode::Multiple,
            },
            owner: terms.owner,
            program: name,
            tell: terms.notices.say,
            ..Options::default()
        };
        let messages = region.messages(scheduled, &alternates(&resolved));
        let schedule = place.schedule(&resolved, &|_| None, options)?;
        let schedule = schedule.with_messages(Box::new(messages));
        let server = place.converted(&resolved, schedule)?;
        self.authorise(&resolved);
        let limit = limit_of(scheduled.transaction.process_time);
        let to_run = ProgramToRun { program, library, entry: None, order: None, psb, limit };
        Ok((to_run, Box::new(server)))
    }

    fn authorise(&self, psb: &ResolvedPsb) {
        let mut known = self.authorised.lock();
        let name = psb.name.text().to_owned();
        known.entry(name).or_insert_with(|| authorised(psb, &self.terms));
    }

    /// Runs what is scheduled in a region until the system stops.
    fn serve(&self, region: &Region<AnyStore>, process: &mut MessageRegion) {
        while let Some(scheduled) = region.next() {
            let ending = match self.prepare(region, &scheduled) {
                Ok((program, server)) => self.ending_of(&scheduled, &process.run(&program, server)),
                Err(failure) => {
                    let (code, remedy) = (failure.code(), failure.remedy());
                    let (name, text) = (scheduled.program.name, failure.to_string());
                    let note = format!("program {name} cannot run: {text} ({code}). {remedy}");
                    (self.terms.notices.warn)(&note);
                    Ending::Abend { code: "U0456".to_owned(), text }
                }
            };
            region.ended(scheduled, &ending);
        }
    }

    /// How a program ended, as the transaction manager hears it; people hear of abends.
    fn ending_of(&self, scheduled: &Scheduled<AnyStore>, report: &Report) -> Ending {
        self.terms.notices.warn_all(&report.notes);
        match &report.ended {
            Ended::Normal { .. } => Ending::Normal,
            Ended::Abend(Abend { code, text })
            | Ended::InDoubt(Abend { code, text })
            | Ended::NotStarted(Abend { code, text }) => {
                let (program, transaction) = (scheduled.program.name, scheduled.transaction.name);
                (self.terms.notices.warn)(&format!(
                    "program {program} of transaction {transaction} ended with abend {code}: {text}"
                ));
                Ending::Abend { code: code.clone(), text: text.clone() }
            }
        }
    }
}

/// How long a program may take for an input, by hundredths of a second; the usual amount is none.
fn limit_of(hundredths: u32) -> Option<Limit> {
    let is_limit = (1..HUNDREDTHS_UNLIMITED).contains(&hundredths);
    is_limit.then(|| Limit::Processor(Duration::from_millis(u64::from(hundredths) * 10)))
}

/// The message regions of a started system.
pub(crate) struct Regions {
    shared: Arc<RegionContext>,
    reserve: Arc<Reserve>,
    settings: Vec<RegionSettings>,
    running: Mutex<Running>,
    /// One of them has ended.
    ended: Condvar,
}

#[derive(Default)]
struct Running {
    /// How many are at work.
    count: usize,
    threads: Vec<JoinHandle>,
    stoppers: BTreeMap<RegionId, Stopper>,
    /// The last number of jobs of each name.
    numbers: BTreeMap<String, usize>,
    is_closing: bool,
}

impl Regions {
    /// Starts regions as they are configured; `command` leads to the process of one.
    pub(crate) fn start(
        shared: Arc<RegionContext>,
        settings: &[RegionSettings],
        command: Box<MakeCommand>,
    ) -> Result<Arc<Regions>> {
        let guests = Arc::clone(&shared.guests);
        let reserve = Reserve::start(
            RESERVE,
            command,
            Box::new(move |process| Box::new(guests.enter(process))),
        )?;
        let (reserve, settings) = (Arc::new(reserve), settings.to_vec());
        let (running, ended) = (Mutex::default(), Condvar::new());
        let regions = Arc::new(Regions { shared, reserve, settings, running, ended });
        for settings in &regions.settings {
            for _ in 0..settings.count {
                regions.add(settings)?;
            }
        }
        Ok(regions)
    }

    /// Starts one more region of a name; of the first kind if there is none. Answers its job.
    pub(crate) fn add_named(self: &Arc<Regions>, name: &str) -> Result<String> {
        let found = self.settings.iter().find(|one| name.is_empty() || one.job() == name);
        let settings = found.ok_or_else(|| {
            let all: Vec<&str> = self.settings.iter().map(RegionSettings::job).collect();
            JobsError::NoRegion { name: name.to_owned(), all: all.join(", ") }
        })?;
        self.add(settings)
    }

    /// Ends the program that runs in a region now; whether there is one.
    pub(crate) fn end_program(&self, region: RegionId) -> bool {
        let stopper = self.running.lock().stoppers.get(&region).cloned();
        let text = "an operator has ended it (/STOP REGION)".to_owned();
        stopper.is_some_and(|stopper| stopper.end_program(Abend { code: "U0474".to_owned(), text }))
    }

    fn add(self: &Arc<Regions>, settings: &RegionSettings) -> Result<String> {
        let mut running = self.running.lock();
        if running.is_closing {
            return Err(JobsError::ShuttingDown);
        }
        if running.count >= REGIONS_MAX {
            return Err(JobsError::TooManyRegions { max: REGIONS_MAX });
        }
        let shared = &self.shared;
        let mut process =
            MessageRegion::start(&self.reserve, &shared.seam.clock, &Files::default())?;
        let number = running.numbers.entry(settings.job().to_owned()).or_default();
        *number += 1;
        let job = format!("{}{number}", settings.job());
        let region = match Name::new(&settings.program).filter(|name| !name.is_blank()) {
            Some(program) => shared.manager.expedited_region(program, &job),
            None => shared.manager.region(&settings.classes, &job, true),
        };
        let id = region.id();
        running.stoppers.insert(id, process.stopper());
        running.count += 1;
        let regions = Arc::clone(self);
        let thread = seam::thread::spawn("region", move || {
            // A failure concerns the program that had it; the others go on.
            while seam::thread::catch(|| regions.shared.serve(&region, &mut process)).is_err() {}
            drop((region, process));
            let mut running = regions.running.lock();
            running.count -= 1;
            running.stoppers.remove(&id);
            drop(running);
            regions.ended.notify_all();
        });
        match thread {
            Ok(thread) => running.threads.push(thread),
            Err(error) => {
                running.count -= 1;
                running.stoppers.remove(&id);
                return Err(error.into());
            }
        }
        Ok(job)
    }

    /// Has programs that wait for input end whose files have changed, so that they are scheduled
    /// again as they are now.
    pub(crate) fn renew(&self) {
        let others = self.shared.programs.library_has_changed();
        for program in self.shared.manager.waiting_programs() {
            if others || self.shared.programs.has_changed(&program.text()) {
                self.shared.manager.renew(program);
            }
        }
    }

    /// Waits until all programs have ended their messages, and ends those that do not. The
    /// transaction manager is shutting down by then. Answers how many were ended.
    pub(crate) fn close(&self) -> usize {
        let mut running = self.running.lock();
        running.is_closing = true;
        // As long as one after the other comes to its end.
        while running.count > 0 && self.ended.wait_for(&mut running, LAST_MESSAGE) {}
        let why = || Abend { code: "U0474".to_owned(), text: "the system stops".to_owned() };
        let stoppers: Vec<Stopper> = running.stoppers.values().cloned().collect();
        let threads = std::mem::take(&mut running.threads);
        drop(running);
        let ended = stoppers.iter().filter(|stopper| stopper.end_program(why())).count();
        threads.into_iter().for_each(JoinHandle::join);
        ended
    }
}
