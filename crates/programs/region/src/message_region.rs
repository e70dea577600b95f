//! Message regions: processes of the system that run its programs, one after the other.
//!
//! ```text
//!  Reserve --a process that is ready--> MessageRegion --program--> process (worker)
//!                                             \------calls, by mailbox------/
//! ```
//!
//! | the program ends | the process | the region's next program |
//! |---|---|---|
//! | by GOBACK | stays, with what is loaded | goes to it |
//! | by STOP RUN, an abend, a signal; an executable in any way | ends | goes to the next one of the reserve |
//! | because of its limit, or from outside | is killed, with all below it | the same |
//!
//! Invariants:
//! 1. A program's server is told its end once, and called no more after it.
//! 2. A process that did not say that its program had ended well gets no other.
//! 3. A process serves programs of one library folder: libcob reads where to look once.

use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use definitions::Function;
use rustix::fs::{Mode, OFlags};
use seam::clock::Clock;
use seam::family::Process;
use seam::sync::Mutex;

use crate::assignment::{Assignment, DONE, Surroundings, assign, receive_signal};
use crate::dd::Files;
use crate::error::RegionError;
use crate::host::{Ended, Report, copies, report};
use crate::ledger::Ledger;
use crate::mailbox::Mailbox;
use crate::masks::Order;
use crate::program::{Language, Library, Prepared};
use crate::reserve::{Reserve, Spare};
use crate::server::{Abend, Ending, Server};
use crate::wire::{Served, Work, last_call, serve};
use crate::worker::LIBRARY_PATH;

/// How often a region looks whether its program still lives, while it computes.
const NAP: Duration = Duration::from_millis(4);
/// How long a process may take to end, or to say that it is ready again, when its program is over.
const LAST_WORD: Duration = Duration::from_secs(10);
/// How many programs a process runs: whatever they leave behind goes with it.
const PROGRAMS_MAX: u32 = 10_000;

/// How long a program may take for one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// By the clock, from when it got the message. Looked at while it computes, and when a call of
    /// it has been answered.
    Elapsed(Duration),
    /// In processor time.
    Processor(Duration),
}

/// A program as a region runs it.
#[derive(Clone, Debug)]
pub struct ProgramToRun {
    /// The program.
    pub program: Prepared,
    /// What it calls.
    pub library: Library,
    /// The entry, if not the usual one.
    pub entry: Option<String>,
    /// The order of bytes in PCBs, if not the usual one of its language.
    pub order: Option<Order>,
    /// Its PSB.
    pub psb: String,
    /// How long it may take for a message.
    pub limit: Option<Limit>,
}

/// A region: programs run in it one after the other.
pub struct MessageRegion {
    reserve: Arc<Reserve>,
    clock: Arc<dyn Clock>,
    surroundings: Surroundings,
    /// Folders of the region in which CALL looks.
    folders: Vec<PathBuf>,
    own: Option<RegionProcess>,
    control: Arc<Control>,
}

/// The process that a region has.
struct RegionProcess {
    spare: Spare,
    mailbox: Mailbox,
    ledger: Ledger,
    /// Where its programs' CALL looks.
    folders: Vec<PathBuf>,
    programs: u32,
}

/// Ends what runs in a region, from outside.
#[derive(Clone)]
pub struct Stopper(Arc<Control>);

#[derive(Default)]
struct Control {
    present: Mutex<Option<Process>>,
    /// Why the program is ended from outside.
    why: Mutex<Option<Abend>>,
    is_ended: AtomicBool,
}

impl Stopper {
    /// Ends the program that runs in the region at once, by this abend; `false` if none runs. A
    /// program that waits in its server is ended when the server answers.
    pub fn end_program(&self, why: Abend) -> bool {
        let present = self.0.present.lock();
        let Some(process) = &*present else { return false };
        self.0.why.lock().get_or_insert(why);
        self.0.is_ended.store(true, SeqCst);
        process.end_with_all_below(Duration::ZERO);
        true
    }
}

/// How a program's calls came to an end.
enum Attended {
    /// It has told its end.
    Over,
    /// Its process has died, or was killed, and this is why.
    Dead(Option<Abend>),
}

impl MessageRegion {
    /// A region whose programs have these files and this environment.
    ///
    /// # Errors
    /// If what its programs display cannot be written.
    pub fn start(
        reserve: &Arc<Reserve>,
        clock: &Arc<dyn Clock>,
        files: &Files,
    ) -> Result<MessageRegion, RegionError> {
        let mut surroundings = Surroundings {
            environment: Vec::new(),
            input: files.input.clone(),
            output: files.output.clone(),
        };
        let mut folders = Vec::new();
        for (name, value) in &files.environment {
            match name.as_str() {
                LIBRARY_PATH => folders = std::env::split_paths(value).collect(),
                _ => surroundings.environment.push((name.clone(), PathBuf::from(value))),
            }
        }
        if let Some(path) = &files.output {
            // Each process of the region adds to it.
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
            rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)
                .map_err(|errno| RegionError::file(path)(errno.into()))?;
        }
        let (reserve, clock) = (Arc::clone(reserve), Arc::clone(clock));
        let control = Arc::default();
        Ok(MessageRegion { reserve, clock, surroundings, folders, own: None, control })
    }

    /// What ends its programs from other threads.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.control))
    }

    /// Runs a program until it ends, in whatever way; the server has been told then.
    pub fn run(&mut self, program: &ProgramToRun, mut server: Box<dyn Server>) -> Report {
        match self.begin(program, &*server) {
            Ok(own) => self.attend(program, own, &mut *server),
            Err(error) => {
                let _ = server.end(Ending::Abend);
                not_started(&error)
            }
        }
    }

    /// Hands a program to a process: the one that there is, if it can be.
    fn begin(
        &mut self,
        program: &ProgramToRun,
        server: &dyn Server,
    ) -> Result<RegionProcess, RegionError> {
        let mut assignment = assignment_of(program);
        assignment.folders.extend(self.folders.iter().cloned());
        let present = self.own.take().filter(|own| own.folders == assignment.folders);
        if let Some(own) = present {
            own.ledger.reset();
            // It may have died while it waited.
            if assign(&own.spare.socket, &assignment, server.pcbs(), &[]).is_ok() {
                return Ok(own);
            }
        }
        let spare = self.reserve.take()?;
        let (mailbox, ledger) = (Mailbox::create_with(NAP)?, Ledger::unshared()?);
        let files = [mailbox.fd(), ledger.fd()];
        assignment.surroundings = Some(self.surroundings.clone());
        assign(&spare.socket, &assignment, server.pcbs(), &files)?;
        Ok(RegionProcess { spare, mailbox, ledger, folders: assignment.folders, programs: 0 })
    }

    fn attend(
        &mut self,
        program: &ProgramToRun,
        mut own: RegionProcess,
        server: &mut dyn Server,
    ) -> Report {
        self.control.is_ended.store(false, SeqCst);
        *self.control.why.lock() = None;
        *self.control.present.lock() = Process::of(own.spare.child.id()).ok();
        let attended = seam::thread::catch(|| self.serve(program, &own, server));
        *self.control.present.lock() = None;
        let attended = attended.unwrap_or_else(|panic| Err(RegionError::Broken(panic)));
        own.programs += 1;
        if matches!(attended, Ok(Attended::Over)) {
            let last_word =
                own.spare.process.ends_before_within(own.spare.socket.as_fd(), LAST_WORD);
            if last_word == Some(false) && receive_signal(&own.spare.socket) == Some(DONE) {
                let answered = whole_report(&own.ledger, Some(ExitStatus::from_raw(0)));
                if own.programs < PROGRAMS_MAX {
                    self.own = Some(own);
                }
                return answered;
            }
            // It is over, whatever its process does now.
            return whole_report(&own.ledger, end_of(&mut own.spare));
        }
        if attended.is_err() {
            // No program answers it any more.
            own.spare.process.end_with_all_below(Duration::ZERO);
        }
        let status = end_of(&mut own.spare);
        let _ = server.end(Ending::Abend);
        let mut answered = whole_report(&own.ledger, status);
        let why = match attended {
            Ok(Attended::Dead(why)) => why,
            Ok(Attended::Over) => None,
            Err(error) => Some(abend_of(&error)),
        };
        if let Some(why) = why.or_else(|| self.control.why.lock().take()) {
            answered.ended = Ended::Abend(why);
        }
        answered
    }

    /// Answers a program's calls until its end.
    fn serve(
        &self,
        program: &ProgramToRun,
        own: &RegionProcess,
        server: &mut dyn Server,
    ) -> Result<Attended, RegionError> {
        let process = &own.spare.process;
        let mut work = Work::default();
        let (mut message, mut answer) = (Vec::new(), Vec::new());
        let mut watch = Watch::begin(program.limit, &*self.clock, process);
        loop {
            let mut over = None;
            let lives = || {
                over = watch.is_exceeded();
                over.is_none() && !process.ends_within(Duration::ZERO)
            };
            if !own.mailbox.receive(&mut message, lives)? {
                if over.is_some() {
                    process.end_with_all_below(Duration::ZERO);
                }
                return Ok(Attended::Dead(over));
            }
            if self.control.is_ended.load(SeqCst) {
                return Ok(Attended::Dead(None));
            }
            let served = serve(&message, &mut work, server, &mut answer);
            let served = served.map_err(|_| RegionError::Protocol("a call"))?;
            own.mailbox.send(&answer)?;
            match served {
                Served::End => return Ok(Attended::Over),
                Served::Call if gets_message(&message) => {
                    watch = Watch::begin(program.limit, &*self.clock, process);
                }
                Served::Call => {
                    if let Some(over) = watch.is_exceeded() {
                        process.end_with_all_below(Duration::ZERO);
                        return Ok(Attended::Dead(Some(over)));
                    }
                }
            }
        }
    }
}

/// How long a program takes for its message.
struct Watch<'a> {
    limit: Option<Limit>,
    clock: &'a dyn Clock,
    process: &'a Process,
    /// By the clock, and in processor time.
    begun: (Duration, Duration),
}

impl<'a> Watch<'a> {
    fn begin(limit: Option<Limit>, clock: &'a dyn Clock, process: &'a Process) -> Watch<'a> {
        let begun = match limit {
            Some(Limit::Elapsed(_)) => (clock.monotonic(), Duration::ZERO),
            Some(Limit::Processor(_)) => (clock.monotonic(), process.processor_time()),
            None => Default::default(),
        };
        Watch { limit, clock, process, begun }
    }

    /// The abend of a program that has taken too long.
    fn is_exceeded(&self) -> Option<Abend> {
        let limit = self.limit?;
        let elapsed = self.clock.monotonic().saturating_sub(self.begun.0);
        let (taken, limit, what) = match limit {
            Limit::Elapsed(limit) => (elapsed, limit, "seconds"),
            // To ask for it takes longer than a call does.
            Limit::Processor(limit) if elapsed <= limit => return None,
            Limit::Processor(limit) => {
                let used = self.process.processor_time().saturating_sub(self.begun.1);
                (used, limit, "seconds of processor time")
            }
        };
        (taken > limit).then(|| Abend {
            code: "U0240".to_owned(),
            text: format!(
                "the program took more than the {} {what} that it has for a message",
                limit.as_secs_f32()
            ),
        })
    }
}

/// Whether a program has got its next message by this: its time begins anew.
fn gets_message(message: &[u8]) -> bool {
    let call = last_call(message);
    matches!(call, Some((Function::Gu | Function::Chkp, Some(0))))
}

/// Ends a process, and says how it has ended by itself if it has.
fn end_of(spare: &mut Spare) -> Option<ExitStatus> {
    if !spare.process.ends_within(LAST_WORD) {
        spare.process.end_with_all_below(Duration::ZERO);
    }
    // Whatever keeps the status from being had: that is no status of success.
    spare.child.wait().ok()
}

fn whole_report(ledger: &Ledger, status: Option<ExitStatus>) -> Report {
    let mut report = report(ledger, status);
    report.notes = copies(ledger);
    report
}

fn abend_of(error: &RegionError) -> Abend {
    use base::Coded as _;
    Abend { code: error.code().to_string(), text: error.to_string() }
}

fn not_started(error: &RegionError) -> Report {
    let ended = Ended::NotStarted(abend_of(error));
    Report { ended, calls: 0, last_calls: Vec::new(), notes: Vec::new() }
}

fn assignment_of(to_run: &ProgramToRun) -> Assignment {
    let ProgramToRun { program, library, entry, order, psb, .. } = to_run;
    Assignment {
        object: program.object().to_owned(),
        source: program.source().to_owned(),
        entries: program.entries(entry.as_deref()),
        is_object: program.language() == Language::Object,
        is_executable: program.language() == Language::Executable,
        is_native: order.unwrap_or(program.usual_order()) == Order::Native,
        psb: psb.clone(),
        programs: [program.programs(), library.programs.clone()].concat(),
        folders: library.folder.iter().cloned().collect(),
        surroundings: None,
    }
}
