//! The scheduled PSB itself: which call goes where, and how the program's end is met.
//!
//! | PCB | functions | answered in |
//! |---|---|---|
//! | database | gets, ISRT, REPL, DLET | `database` |
//! | GSAM | OPEN, CLSE, GN, GU, ISRT | `file` |
//! | I/O | CHKP, XRST, SYNC, ROLB, ROLL | `sync` |
//! | I/O | SETS, SETU, ROLS | `points` |
//! | I/O, or none with an AIB | INIT, INQY, LOG, DEQ, GSCD | `service` |
//! | I/O, alternate | GU, GN, ISRT, PURG, CHNG, SETO, AUTH | `terminal`; without messages `service` |
//! | I/O or database | STAT | `statistics` |
//! | none | data sets; the message queue interface | `records`; `queues` |
//!
//! Invariants:
//! 1. PCB number n of the program is slot n - 1 of the call engine's session.
//! 2. A program that was given a checkpoint from outside gets nothing done before its XRST.
//! 3. The end of a program is met once; a schedule that is dropped without it is backed out.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;

use base::Coded as _;
use definitions::resolve::{Definitions, ResolvedKind, ResolvedPsb};
use definitions::{DbdName, Function, PsbName};
use dli::{Session, SessionOptions};
use file_handler::FileStatus;
use gsam::{FileSpec, Gsam};
use hierarchy::Database;
use mqi::server::Carried;
use placement::BatchLog;
use region::shape::{Name, PcbShape};
use region::{Abend, Ending, Failure, Feedback, Reply, Request, Server};
use seam::Seam;
use seam::clock::Clock;
use store::Store;

use crate::checkpoint::Records;
use crate::error::{ScheduleError, abend};
use crate::file::FilePcb;
use crate::haldb;
use crate::intents::{Claimed, Intents, updates_of};
use crate::limits::Limits;
use crate::load::Loads;
use crate::messages::Messages;
use crate::moment::Moment;
use crate::points::Points;
use crate::records::{self, Catalogs};
use crate::shapes;
use crate::statistics::Pools;
use crate::sync::{Restart, step_name, wanted_checkpoint};
use crate::tally::Tally;
use crate::terminals::{Terminals, io_of};
use crate::userlog::UserLog;

/// Who runs a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The user's name.
    pub name: String,
    /// The user's group.
    pub group: String,
}

/// The kind of region that a program runs in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RegionKind {
    /// Alone with its databases: types DLI and DBB.
    #[default]
    Batch,
    /// Beside other programs, started by somebody.
    Bmp,
    /// Beside other programs, started for messages.
    Mpp,
    /// The same, for messages of Fast Path.
    Ifp,
}

impl RegionKind {
    /// Beside other programs, with locks, and always with an I/O PCB.
    #[must_use]
    pub fn is_online(self) -> bool {
        self != RegionKind::Batch
    }

    /// Started for messages.
    #[must_use]
    pub fn is_for_messages(self) -> bool {
        matches!(self, RegionKind::Mpp | RegionKind::Ifp)
    }

    /// As programs see it.
    pub(crate) fn name(self) -> Name {
        match self {
            RegionKind::Batch => *b"BATCH   ",
            RegionKind::Bmp => *b"BMP     ",
            RegionKind::Mpp => *b"MPP     ",
            RegionKind::Ifp => *b"IFP     ",
        }
    }
}

/// When a program that reads messages commits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// MODE=SNGL: at every GU of the I/O PCB.
    #[default]
    Single,
    /// MODE=MULT: at checkpoints and at its end.
    Multiple,
}

/// How a PSB is scheduled.
#[derive(Clone, Debug)]
pub struct Options {
    /// The kind of region.
    pub kind: RegionKind,
    /// The transaction whose messages the program reads; empty if there is none.
    pub transaction: String,
    /// When it commits if it reads messages.
    pub mode: Mode,
    /// Whom to name in messages about locks.
    pub owner: u64,
    /// The program's name, for INQY.
    pub program: String,
    /// The step's name: with the PSB's it tells whose checkpoints are whose.
    pub step: String,
    /// Whom the I/O PCB names; the PSB itself if nobody is given.
    pub user: Option<User>,
    /// The checkpoint to restart from, given from outside: it wins over the program's (DLI-12.52).
    pub checkpoint: Option<String>,
    /// Whether ROLB, SETS and ROLS work in batch (DLI-12.56).
    pub batch_log: BatchLog,
    /// After how many inserts a load is committed by itself.
    pub load_commit: u32,
    /// Whether each change of a cluster is a unit of work of its own: the program has no sync
    /// points.
    pub files_apart: bool,
    /// Tells the operator what a status code does not tell the program.
    pub tell: fn(&str),
}

impl Default for Options {
    fn default() -> Options {
        Options {
            kind: RegionKind::Batch,
            transaction: String::new(),
            mode: Mode::Single,
            owner: 0,
            program: String::new(),
            step: String::new(),
            user: None,
            checkpoint: None,
            batch_log: BatchLog::Disk,
            load_commit: 10_000,
            files_apart: false,
            tell: |text| {
                // Whom nobody hears has nobody to tell.
                let _ = writeln!(std::io::stderr(), "{text}");
            },
        }
    }
}

/// What a schedule is built from.
pub struct Environment<'a, S: Store> {
    /// Where databases are.
    pub store: &'a S,
    /// Disk and clock.
    pub seam: &'a Seam,
    /// The PSB.
    pub psb: &'a ResolvedPsb,
    /// The definitions that it was resolved with.
    pub definitions: &'a dyn Definitions,
    /// Opens a database, the same one every time.
    pub open: &'a mut dyn FnMut(DbdName) -> hierarchy::Result<Arc<Database>>,
    /// The file that a DD names, if there is one.
    pub files: &'a dyn Fn(&str) -> Option<FileSpec>,
    /// What STAT tells of.
    pub pools: Arc<dyn Pools>,
    /// What the other programs of the system have claimed.
    pub intents: &'a Arc<Intents>,
    /// The catalog that they share.
    pub catalogs: &'a Arc<Catalogs<S>>,
}

/// One PCB of the program.
pub(crate) enum Pcb {
    Io,
    Alternate,
    /// A database; the one that is loaded, if it is a load.
    Database(Option<Arc<Database>>),
    File(Box<FilePcb>),
}

/// Which status group the program has asked for (INIT).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Group {
    None,
    A,
    B,
}

/// A PSB that is scheduled for one program.
pub struct Schedule<S: Store> {
    pub(crate) store: S,
    pub(crate) session: Session<S>,
    pub(crate) psb: PsbName,
    pub(crate) options: Options,
    pub(crate) program: Name,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) pools: Arc<dyn Pools>,
    pub(crate) pcbs: Vec<Pcb>,
    pub(crate) shapes: Vec<PcbShape>,
    pub(crate) points: Points,
    pub(crate) loads: Loads,
    pub(crate) restart: Restart,
    pub(crate) records: Records,
    /// Its clusters and paths.
    pub(crate) data_sets: records::Records<S>,
    pub(crate) user_log: UserLog,
    pub(crate) group: Group,
    /// Which database PCBs had BA or BB: ROLS on them ends the program (DLI-12.55).
    pub(crate) had_none: Vec<bool>,
    pub(crate) limits: Limits,
    /// The databases that it updates.
    pub(crate) updates: Vec<DbdName>,
    /// Its messages, if it has any.
    pub(crate) messages: Option<Box<dyn Messages<S>>>,
    pub(crate) terminals: Terminals,
    /// Its message queues, if it has a queue manager.
    pub(crate) queues: Option<Carried<S>>,
    /// The subpool that the next STAT of a function and form tells of.
    pub(crate) subpools: BTreeMap<([u8; 4], u8), usize>,
    tally: Tally,
    pub(crate) claimed: Claimed,
    pub(crate) is_over: bool,
}

impl<S: Store> Schedule<S> {
    /// Schedules a PSB: opens its databases, and knows its files.
    ///
    /// # Errors
    /// If a database cannot be used, or a file's definition does not say how its records look.
    pub fn new(
        environment: Environment<'_, S>,
        options: Options,
    ) -> Result<Schedule<S>, ScheduleError> {
        let Environment { store, seam, psb, definitions, open, files, pools, intents, catalogs } =
            environment;
        let restart = wanted_checkpoint(options.checkpoint.as_deref())?;
        let claimed = intents.claim(psb).map_err(|conflict| conflict.keeps_away(psb.name))?;
        let loads = Loads::of(store, psb, open)?;
        let online = options.kind.is_online();
        if let (true, Some(dbd)) = (online, loads.first()) {
            return Err(ScheduleError::LoadOnline { psb: psb.name, dbd });
        }
        let engine = SessionOptions { shared: online, online, owner: options.owner };
        let seen = haldb::limits(&*seam.disk, files(haldb::DD), psb, open)?;
        let mut session = Session::open(store, psb, definitions, open, engine)?;
        for (slot, partitions) in seen {
            session.limit(slot, partitions);
        }
        let mut pcbs = vec![Pcb::Io];
        let io = shapes::io_feedback(psb, &options, Moment::now(&*seam.clock));
        let mut shapes = vec![shapes::of_io(psb, online, io)];
        for (slot, pcb) in psb.pcbs.iter().enumerate() {
            let ours = match &pcb.kind {
                ResolvedKind::Terminal(_) => Pcb::Alternate,
                ResolvedKind::Database(_) => Pcb::Database(loads.database_of(slot)),
                ResolvedKind::Gsam(view) => {
                    let file = FilePcb::new(Arc::clone(&seam.disk), view, files)?;
                    Pcb::File(Box::new(file))
                }
            };
            let file = if let Pcb::File(file) = &ours { Some(file.gsam()) } else { None };
            shapes.push(shapes::of_pcb(pcb, session.area_max(slot), file));
            pcbs.push(ours);
        }
        let has_files = pcbs.iter().any(|pcb| matches!(pcb, Pcb::File(_)));
        let source = definitions.psb(psb.name);
        Ok(Schedule {
            store: store.clone(),
            session,
            psb: psb.name,
            program: shapes::named(&options.program),
            clock: Arc::clone(&seam.clock),
            pools,
            had_none: vec![false; pcbs.len()],
            pcbs,
            shapes,
            points: Points::of(psb),
            loads,
            restart,
            updates: updates_of(psb),
            records: Records::new(psb.name, step_name(&options.step)?),
            data_sets: records::Records::new(catalogs, options.files_apart),
            user_log: UserLog::new(psb.name),
            group: Group::None,
            limits: Limits::of(source.as_deref(), online, has_files),
            messages: None,
            terminals: Terminals::of(psb),
            queues: None,
            subpools: BTreeMap::new(),
            tally: Tally::default(),
            claimed,
            is_over: false,
            options,
        })
    }

    /// How many calls there were.
    #[must_use]
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Whether it runs as real batch without what a log makes possible (DLI-12.56).
    pub(crate) fn is_without_log(&self) -> bool {
        !self.options.kind.is_online() && self.options.batch_log == BatchLog::None
    }

    /// The files of the GSAM PCBs.
    pub(crate) fn files(&mut self) -> impl Iterator<Item = &mut Gsam> {
        self.pcbs.iter_mut().filter_map(|pcb| match pcb {
            Pcb::File(file) => Some(file.gsam_mut()),
            _ => None,
        })
    }

    fn route(&mut self, request: Request<'_>, reply: &mut Reply) -> Result<(), Abend> {
        if self.is_over {
            return Err(abend("U0476", "a call after the end of the program"));
        }
        if request.function == Function::Inqy {
            return self.inquire(request, reply);
        }
        let number = request.pcb.unwrap_or_default();
        let kind = request.pcb.map(|number| self.pcbs.get(number));
        match kind {
            None => self.without_pcb(&request, reply),
            Some(None) => return Err(abend("U0476", format!("there is no PCB {number}"))),
            Some(Some(Pcb::Io)) => return self.service(request, reply),
            Some(Some(Pcb::Alternate)) if self.messages.is_some() => {
                return self.terminal(number, request, reply);
            }
            Some(Some(Pcb::Alternate)) => {
                let status = self.alternate(request.function);
                reply.pcb(number, Feedback::status(status));
            }
            Some(Some(Pcb::Database(_))) => {
                self.need_restart()?;
                return self.database(number, request, reply);
            }
            Some(Some(Pcb::File(_))) => {
                self.need_restart()?;
                let tell = self.options.tell;
                if let Some(Pcb::File(file)) = self.pcbs.get_mut(number) {
                    file.call(number, request, reply, tell);
                }
            }
        }
        Ok(())
    }

    /// Shows a database PCB with this status: level, segment and key as the engine has them.
    pub(crate) fn show(&self, number: usize, status: [u8; 2], reply: &mut Reply) {
        let Some(mask) = number.checked_sub(1).and_then(|slot| self.session.mask(slot)) else {
            return match self.pcbs.get(number) {
                Some(Pcb::Io) => reply.pcb(number, io_of(status, self.terminals.io.as_ref())),
                Some(Pcb::Alternate) => {
                    let segment = self.destination(number);
                    reply.pcb(number, Feedback { segment, ..Feedback::status(status) });
                }
                _ => reply.pcb(number, Feedback::status(status)),
            };
        };
        let (level, segment, key) = (mask.level, mask.segment, mask.key());
        reply.pcb(number, Feedback { status, level, segment, key, io: None });
    }

    fn normal_end(&mut self) -> Result<(), Abend> {
        self.need_restart()?;
        for file in self.files() {
            if file.close() != gsam::Status::Done {
                let text = file.fault().map_or_else(String::new, ToString::to_string);
                return Err(abend("U0844", text));
            }
        }
        self.data_sets.close()?;
        self.data_sets.join(&mut self.session)?;
        self.put_end()?;
        self.commit_all()?;
        self.data_sets.joined(self.options.tell);
        self.disconnect_queues();
        self.loads.end(&self.store)
    }

    fn abnormal_end(&mut self, is_there: bool) -> Result<(), Abend> {
        let closed = self.data_sets.close();
        let backed_out = self.back_out_with_queues();
        self.data_sets.give_up(self.options.tell);
        self.messages_backed_out(false);
        self.disconnect_queues();
        for file in self.files() {
            match is_there {
                // What a sequential file holds beyond the checkpoint is cut at the restart
                // (DLI-12.63).
                true => drop(file.close()),
                // The restart may be over already.
                false => file.abandon(),
            }
        }
        backed_out?;
        closed?;
        self.loads.give_up(&self.store)
    }
}

impl<S: Store> Server for Schedule<S> {
    fn pcbs(&self) -> &[PcbShape] {
        &self.shapes
    }

    fn call(&mut self, request: Request<'_>, reply: &mut Reply) {
        self.tally.count(request.function);
        if let Err(abend) = self.route(request, reply) {
            if let Some(messages) = &mut self.messages {
                messages.abends(&abend);
            }
            reply.abend(&abend.code, abend.text);
        }
    }

    fn file(&mut self, request: &[u8], answer: &mut Vec<u8>) -> Result<(), Abend> {
        if self.is_over {
            file_handler::wire::plain_answer(FileStatus::NOT_OPEN, 0, answer);
            return Ok(());
        }
        let place = (&self.store, &self.clock);
        let served = self.data_sets.serve(&mut self.session, place, request, answer);
        served.inspect_err(|abend| {
            if let Some(messages) = &mut self.messages {
                messages.abends(abend);
            }
        })
    }

    fn messages(&mut self, request: &[u8], answer: &mut Vec<u8>) -> Result<(), Abend> {
        let served = self.queue_call(request, answer);
        served.inspect_err(|abend| {
            if let Some(messages) = &mut self.messages {
                messages.abends(abend);
            }
        })
    }

    fn end(&mut self, ending: Ending) -> Result<(), Failure> {
        if std::mem::replace(&mut self.is_over, true) {
            return Ok(());
        }
        let ended = match ending {
            Ending::Abend => self.abnormal_end(true),
            Ending::Gone => self.abnormal_end(false),
            Ending::Normal => self.normal_end().inspect_err(|_| {
                let _ = self.abnormal_end(true);
            }),
        };
        ended.map_err(|Abend { code, text }| Failure { code, text, remedy: String::new() })
    }
}

impl ScheduleError {
    /// As a region hands it on.
    #[must_use]
    pub fn failure(&self) -> Failure {
        Failure { code: self.code().to_string(), text: self.to_string(), remedy: self.remedy() }
    }
}
