//! The scheduled PSB itself: what it is built from, who owns what of it, and its sync points.
//!
//! | owns | part |
//! |---|---|
//! | PCBs and what they look like | [`Pcbs`] |
//! | databases, data sets, queues and messages of the unit of work | [`UnitOfWork`] |
//! | points to roll back to | [`Points`] |
//! | loads, and how many inserts are not committed | [`Loads`] |
//! | what to restart from, the step's records | [`Restart`] |
//! | what PSBGEN limits, and what was used of it | [`Limits`] |
//! | the status group, PCBs that met data which is offline | [`Offline`] |
//! | the user log; which pool STAT shows next | [`UserLog`]; [`Statistics`] |
//!
//! Invariants:
//! 1. PCB number n of the program is slot n - 1 of the call engine's session.
//! 2. At a sync point all parts hear of it: here, and nowhere else.

use std::sync::Arc;

use definitions::resolve::{Definitions, ResolvedKind, ResolvedPsb};
use definitions::{DbdName, PsbName};
use dli::{Session, SessionOptions};
use gsam::FileSpec;
use hierarchy::Database;
use mqi::server::Managed;
use region::layout::Name;
use region::{Abend, Feedback, Reply};
use seam::Seam;
use seam::clock::Clock;
use store::Store;

use crate::error::ScheduleError;
use crate::file::FilePcb;
use crate::haldb;
use crate::intents::{Claimed, Intents, updates_of};
use crate::layouts;
use crate::limits::Limits;
use crate::load::Loads;
use crate::messages::Messages;
use crate::moment::Moment;
use crate::offline::Offline;
use crate::options::Options;
use crate::pcbs::{Pcb, Pcbs};
use crate::points::Points;
use crate::queues::Queues;
use crate::records::{Catalogs, Records};
use crate::restart::Restart;
use crate::statistics::{Pools, Statistics};
use crate::tally::Tally;
use crate::terminal::Terminals;
use crate::unit::UnitOfWork;
use crate::userlog::UserLog;

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

/// Which program it is.
pub(crate) struct Program {
    pub(crate) psb: PsbName,
    /// Its name, as programs see it.
    pub(crate) name: Name,
    pub(crate) options: Options,
}

/// A PSB that is scheduled for one program.
pub struct Schedule<S: Store> {
    pub(crate) store: S,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) program: Program,
    pub(crate) pcbs: Pcbs,
    pub(crate) unit: UnitOfWork<S>,
    pub(crate) points: Points,
    pub(crate) loads: Loads,
    pub(crate) restart: Restart,
    pub(crate) limits: Limits,
    pub(crate) offline: Offline,
    pub(crate) user_log: UserLog,
    pub(crate) statistics: Statistics,
    pub(crate) tally: Tally,
    /// The program has met its end.
    pub(crate) is_over: bool,
    pub(crate) claimed: Claimed,
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
        let step = (options.step.as_str(), options.checkpoint.as_deref());
        let restart = Restart::of(psb.name, step, updates_of(psb))?;
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
        let io = layouts::io_feedback(psb, &options, Moment::now(&*seam.clock));
        let mut pcbs = Pcbs::new(layouts::of_io(psb, online, io));
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
            let layout = layouts::of_pcb(pcb, session.area_max(slot), file);
            pcbs.push(ours, layout);
        }
        let source = definitions.psb(psb.name);
        let unit = UnitOfWork {
            session,
            data_sets: Records::new(catalogs, options.files_apart),
            queues: Queues::none(),
            terminals: Terminals::of(psb),
        };
        Ok(Schedule {
            store: store.clone(),
            clock: Arc::clone(&seam.clock),
            limits: Limits::of(source.as_deref(), online, pcbs.has_files()),
            offline: Offline::new(pcbs.len()),
            pcbs,
            unit,
            points: Points::of(psb),
            loads,
            restart,
            user_log: UserLog::new(psb.name),
            statistics: Statistics::new(pools),
            tally: Tally::default(),
            is_over: false,
            program: Program { psb: psb.name, name: layouts::named(&options.program), options },
            claimed,
        })
    }

    /// Has a program get and send messages.
    #[must_use]
    pub fn with_messages(mut self, messages: Box<dyn Messages<S>>) -> Schedule<S> {
        self.unit.terminals.connect(messages);
        self
    }

    /// Has a program use the queues of a queue manager in the store of its databases; it works as
    /// that user.
    #[must_use]
    pub fn with_queues(mut self, manager: Arc<dyn Managed<S>>, user: &str) -> Schedule<S> {
        let program = (&self.program.name, self.program.options.kind);
        self.unit.queues = Queues::of(manager, program, user);
        self
    }

    /// How many calls there were.
    #[must_use]
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Whether its input comes as messages: then SYNC is not for it, and CHKP gets the next one.
    pub(crate) fn is_message_driven(&self) -> bool {
        self.unit.terminals.are_there() && self.program.options.has_input()
    }

    /// The time, as checkpoints have it.
    pub(crate) fn stamp(&self) -> [u8; 14] {
        Moment::new(self.clock.utc_us(), 0).checkpoint()
    }

    /// Commits; points, limits and loads begin anew.
    pub(crate) fn commit(&mut self) -> Result<(), Abend> {
        self.unit.commit()?;
        if self.is_message_driven() {
            self.unit.queues.disconnect();
        }
        self.points.clear();
        self.limits.sync();
        self.loads.committed();
        Ok(())
    }

    /// Goes back to the last sync point; files stay as they are.
    pub(crate) fn back_out(&mut self) -> Result<(), Abend> {
        self.unit.back_out()?;
        self.unit.terminals.backed_out(true);
        self.points.clear();
        self.limits.sync();
        Ok(())
    }

    /// Shows a database PCB with this status: level, segment and key as the engine has them.
    pub(crate) fn show(&self, number: usize, status: [u8; 2], reply: &mut Reply) {
        let Some(mask) = number.checked_sub(1).and_then(|slot| self.unit.session.mask(slot)) else {
            return match self.pcbs.get(number) {
                Some(Pcb::Io) => reply.pcb(number, self.unit.terminals.io_feedback(status)),
                Some(Pcb::Alternate) => {
                    let segment = self.unit.terminals.destination(number);
                    reply.pcb(number, Feedback { segment, ..Feedback::status(status) });
                }
                _ => reply.pcb(number, Feedback::status(status)),
            };
        };
        let (level, segment, key) = (mask.level, mask.segment, mask.key());
        reply.pcb(number, Feedback { status, level, segment, key, io: None });
    }
}
