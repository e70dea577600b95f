//! How the PSB of a job, or of a transaction, is scheduled in a system.
//!
//! Invariants:
//! 1. RECON knows what a program has open before it makes its first call.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use control::{AlternatePcb, BatchProgram, Ending as Fate};
use definitions::resolve::{Definitions as _, ResolvedKind, ResolvedPsb, resolve_psb};
use definitions::{DbdName, PsbName};
use gsam::FileSpec;
use operations::encoding::{USUAL_PAGE, kept, page_of};
use operations::{Databases, OperationsError};
use otma::Name;
use placement::{Compat, Encoding, FileUnit, ProgramUser, WithoutMap};
use region::encoding::{Converted, PcbMap};
use region::layout::PcbLayout;
use region::{Abend, Ending, Reply, Request, Server};
use resources::Mode as CommitMode;
use schedule::encoding::Kept;
use schedule::{
    Environment, Mode, Options, PoolFigures, Pools, RegionKind, Schedule, User, claims_of,
};
use seam::Seam;
use store::Store;
use store_any::AnyStore;
use system::{Authorised, InUse};
use uow::Kernel;

use crate::error::{JobsError, Result};
use crate::job::{Job, Kind, check_files};
use crate::terms::Terms;

/// A PSB of the system, fitted to its databases.
///
/// # Errors
/// If there is none, or it does not fit.
pub fn psb_of(databases: &Databases<AnyStore>, text: &str) -> Result<ResolvedPsb> {
    let shown = text.to_ascii_uppercase();
    let psb = PsbName::new(&shown).and_then(|name| databases.repository.psb(name));
    let psb = psb.ok_or_else(|| JobsError::NoPsb { name: shown.clone() })?;
    let (resolved, findings) = resolve_psb(&psb, &databases.repository);
    resolved.ok_or_else(|| {
        let why = findings.iter().map(|finding| finding.message.clone());
        let why = why.collect::<Vec<_>>().join("; ");
        JobsError::Misfit { name: shown, why }
    })
}

/// A PSB that is scheduled, and what RECON or the engine was told of it. The program comes to its
/// end before they hear of that.
pub struct Scheduled {
    schedule: Converted<Schedule<AnyStore>>,
    _authorised: Option<Authorised>,
    in_use: Option<InUse>,
    /// As the transaction manager knows it; until its messages are settled.
    batch: Option<BatchProgram<AnyStore>>,
    /// The end that a call has put to the program.
    abend: Option<Abend>,
}

impl Scheduled {
    /// The same with the right to be at work on the databases of an engine.
    #[must_use]
    pub fn by_right_of(self, in_use: Option<InUse>) -> Scheduled {
        Scheduled { in_use, ..self }
    }

    /// How the program has ended, as the transaction manager hears it.
    fn fate(&self, ending: Ending, ended: &std::result::Result<(), region::Failure>) -> Fate {
        let abend = |code: &str, text: &str| Fate::Abend { code: code.into(), text: text.into() };
        match (ending, ended, &self.abend) {
            (Ending::Normal, Ok(()), _) => Fate::Normal,
            // An operator may have stopped it; it is not known to be to blame.
            (Ending::Gone, ..) => Fate::Lost,
            (_, _, Some(Abend { code, text })) => abend(code, text),
            (Ending::Normal, Err(failure), None) => abend(&failure.code, &failure.text),
            (Ending::Abend, _, None) => abend("ABEND", "its process says why"),
        }
    }

    /// What was called so far.
    pub(crate) fn tally(&self) -> &schedule::Tally {
        self.schedule.inner().tally()
    }
}

impl Server for Scheduled {
    fn pcbs(&self) -> &[PcbLayout] {
        self.schedule.pcbs()
    }

    fn call(&mut self, request: Request<'_>, reply: &mut Reply) {
        // Without its right another process may have the databases alone by now.
        if self.in_use.as_ref().is_some_and(|right| !right.lasts()) {
            let text = "the system has lost its connection to the engine, and the program its \
                        right to the databases; start it again from its last checkpoint";
            return reply.abend("U0844", text);
        }
        if self.batch.as_ref().is_some_and(BatchProgram::is_ended) {
            return reply.abend("U0474", "an operator has ended the program (/STOP REGION)");
        }
        self.schedule.call(request, reply);
        if let Some(abend) = reply.ends() {
            self.abend = Some(abend.clone());
        }
    }

    fn file(&mut self, request: &[u8], answer: &mut Vec<u8>) -> std::result::Result<(), Abend> {
        if self.in_use.as_ref().is_some_and(|right| !right.lasts()) {
            let text = "the system has lost its connection to the engine, and the program its \
                        right to the files; start it again from its last checkpoint";
            return Err(Abend { code: "U0844".to_owned(), text: text.to_owned() });
        }
        self.schedule.file(request, answer)
    }

    fn messages(&mut self, request: &[u8], answer: &mut Vec<u8>) -> std::result::Result<(), Abend> {
        self.schedule.messages(request, answer)
    }

    fn end(&mut self, ending: Ending) -> std::result::Result<(), region::Failure> {
        // A normal end is a commit, which needs the right too.
        let lasts = self.in_use.as_ref().is_none_or(InUse::lasts);
        let ended = self.schedule.end(if lasts { ending } else { Ending::Abend });
        if let Some(batch) = &self.batch {
            batch.ended(&self.fate(ending, &ended));
        }
        ended
    }
}

/// A job that is to be scheduled.
pub struct Step<'a> {
    /// The job.
    pub job: &'a Job,
    /// How the transaction manager knows its program, if there is one.
    pub batch: Option<BatchProgram<AnyStore>>,
}

/// Schedules the PSB of a job.
///
/// # Errors
/// If its PSB is not there, or cannot be scheduled now; files of it that are something else.
pub fn schedule(
    seam: &Seam,
    pools: Arc<dyn Pools>,
    databases: &Databases<AnyStore>,
    step: Step<'_>,
    terms: &Terms,
) -> Result<Scheduled> {
    let Step { job, batch } = step;
    let psb = psb_of(databases, &job.psb)?;
    check_files(seam.disk.as_ref(), &psb, job, terms.places.as_deref())?;
    let asked = RefCell::new(BTreeSet::new());
    let files = |dd: &str| {
        asked.borrow_mut().insert(dd.to_owned());
        job.file(dd)
    };
    let options = Options {
        kind: match job.kind {
            Kind::Dli | Kind::Dbb => RegionKind::Batch,
            Kind::Bmp => RegionKind::Bmp,
        },
        owner: terms.owner,
        program: job.program_name(),
        step: job.step_name(),
        checkpoint: job.checkpoint.clone(),
        user: user_of(&terms.compat),
        batch_log: terms.compat.batch_log,
        files_apart: job.makes_no_calls && terms.compat.file_unit == FileUnit::Request,
        tell: terms.notices.say,
        transaction: job.input.clone().unwrap_or_default(),
        // Without inputs a GU ends no unit of work.
        mode: match batch.as_ref().and_then(BatchProgram::mode) {
            Some(CommitMode::Single) => Mode::Single,
            _ => Mode::Multiple,
        },
        ..Options::default()
    };
    let place = Place { seam, pools, databases, terms };
    let mut schedule = place.schedule(&psb, &files, options)?;
    let alternates = alternates(&psb);
    let has_messages = job.input.is_some() || job.output.is_some() || !alternates.is_empty();
    if let Some(batch) = batch.as_ref().filter(|_| has_messages) {
        schedule = schedule.with_messages(Box::new(batch.messages(&alternates)));
    }
    // What a started system would say, no one who runs a program hears.
    if job.kind != Kind::Bmp {
        terms.notices.warn_all(job.unused(&asked.borrow(), &databases.dd_names()));
    }
    let schedule = place.converted(&psb, schedule)?;
    let _authorised = authorised(&psb, terms);
    Ok(Scheduled { schedule, _authorised, in_use: None, batch, abend: None })
}

/// The alternate PCBs of a PSB, by their numbers.
#[must_use]
pub fn alternates(psb: &ResolvedPsb) -> Vec<AlternatePcb> {
    let all = psb.pcbs.iter().enumerate().filter_map(|(slot, pcb)| match &pcb.kind {
        ResolvedKind::Terminal(terminal) => Some(AlternatePcb {
            number: slot + 1,
            destination: terminal
                .destination
                .and_then(|name| Name::new(name.text()))
                .unwrap_or_default(),
            modifiable: terminal.modifiable,
            express: terminal.express,
            response: terminal.alternate_response,
            same_terminal: terminal.same_terminal,
        }),
        _ => None,
    });
    all.collect()
}

/// Where PSBs are scheduled.
pub struct Place<'a> {
    /// Disk, clock.
    pub seam: &'a Seam,
    /// The buffer pools, for STAT.
    pub pools: Arc<dyn Pools>,
    /// The databases.
    pub databases: &'a Databases<AnyStore>,
    /// On what terms.
    pub terms: &'a Terms,
}

impl Place<'_> {
    /// A PSB, scheduled.
    ///
    /// # Errors
    /// If it cannot be, now.
    pub fn schedule(
        &self,
        psb: &ResolvedPsb,
        files: &dyn Fn(&str) -> Option<FileSpec>,
        options: Options,
    ) -> Result<Schedule<AnyStore>> {
        let environment = Environment {
            store: &self.databases.store,
            seam: self.seam,
            psb,
            definitions: &self.databases.repository,
            open: &mut |name| self.databases.open(name),
            files,
            pools: Arc::clone(&self.pools),
            intents: &self.terms.intents,
            catalogs: &self.terms.catalogs,
        };
        let schedule = Schedule::new(environment, options)?;
        Ok(match &self.terms.messages {
            Some(messages) => {
                let messages = Arc::clone(messages);
                schedule.with_queues(messages, &seam::user::own().name)
            }
            None => schedule,
        })
    }

    /// The same with its data converted where databases are in another code page.
    ///
    /// # Errors
    /// If data cannot be converted that has to be.
    pub fn converted(
        &self,
        psb: &ResolvedPsb,
        schedule: Schedule<AnyStore>,
    ) -> Result<Converted<Schedule<AnyStore>>> {
        let without_map = self.terms.compat.ebcdic_without_map;
        let (pcbs, notes) = conversions(self.databases, psb, without_map)?;
        self.terms.notices.warn_all(notes);
        Ok(Converted::new(schedule, pcbs))
    }
}

/// What is converted for the programs of a PSB, and what is to be known of what is not; or that is
/// refused.
fn conversions<S: Store>(
    databases: &Databases<S>,
    psb: &ResolvedPsb,
    without: WithoutMap,
) -> Result<(Vec<Option<PcbMap>>, Vec<String>)> {
    let mut known: BTreeMap<DbdName, Kept> = BTreeMap::new();
    let mut failed = None;
    let mut of = |name: DbdName| -> Kept {
        if let Some(known) = known.get(&name) {
            return known.clone();
        }
        let found = kept_as(databases, name).unwrap_or_else(|failure| {
            failed.get_or_insert(failure);
            Kept::Unknown
        });
        known.entry(name).or_insert(found).clone()
    };
    let all = schedule::encoding::conversions(psb, &databases.repository, &mut of);
    if let Some(failure) = failed {
        return Err(failure.into());
    }
    let mut notes = Vec::new();
    for (dbd, why) in &all.unconverted {
        let what = format!(
            "PSB {}: {dbd} keeps EBCDIC data ([database.{dbd}] encoding = \"ebcdic\"), and {why}",
            psb.name
        );
        let remedy = format!(
            "Keep a map with `holdfast db map {dbd} MAPFILE`, or load {dbd} with --from-ebcdic and \
             take the setting out."
        );
        if without == WithoutMap::Refuse {
            return Err(JobsError::Unconverted { what, remedy });
        }
        notes.push(format!(
            "{what}: the program gets it as it is, and its own characters are ASCII. {remedy}"
        ));
    }
    Ok((all.pcbs, notes))
}

/// What is known of a database's data.
fn kept_as<S: Store>(
    databases: &Databases<S>,
    name: DbdName,
) -> std::result::Result<Kept, OperationsError> {
    if databases.encoding(name) == Encoding::Ascii {
        return Ok(Kept::AsPrograms);
    }
    let Some(map) = kept(databases, name)? else { return Ok(Kept::Unknown) };
    let page = page_of(USUAL_PAGE, map.page())?;
    Ok(Kept::Ebcdic(Arc::new(map), Arc::new(page)))
}

/// Tells RECON what a program has open, before it makes its first call.
#[must_use]
pub fn authorised(psb: &ResolvedPsb, terms: &Terms) -> Option<Authorised> {
    let claims = claims_of(psb);
    let open = claims.iter().map(|(dbd, access)| (dbd.text(), *access));
    match terms.authoriser.as_ref()?.authorise(psb.name.text(), open) {
        Ok(authorised) => Some(authorised),
        Err(error) => {
            (terms.notices.warn)(&format!("RECON does not know of {}: {error}", psb.name));
            None
        }
    }
}

/// Whom a program's I/O PCB names. A started system lets in its own user alone, so that is who runs
/// programs of type BMP, too.
fn user_of(compat: &Compat) -> Option<User> {
    let seam::user::User { name, group } = seam::user::own();
    (compat.program_user == ProgramUser::Login).then_some(User { name, group })
}

/// The buffer pools of a system, for STAT.
pub struct KernelPools(pub Arc<Kernel>);

impl Pools for KernelPools {
    fn figures(&self) -> Vec<PoolFigures> {
        let pools = self.0.statistics().pools;
        pools
            .into_iter()
            .map(|stats| PoolFigures {
                name: stats.name,
                buffer_bytes: stats.unit_bytes as u64,
                buffers: stats.frames as u64,
                free: stats.free as u64,
                found: stats.hits,
                reads: stats.reads,
                writes: stats.writes,
                steals: stats.steals,
                waits: stats.waits,
                sequential_reads: stats.multi_block_reads,
                sequential_blocks: stats.multi_block_intervals,
            })
            .collect()
    }
}
