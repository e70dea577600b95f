//! What a system does for copies and recoveries: the verbs of `image-copy`, `recover` and `recon`.
//!
//! Invariants:
//! 1. A verb works on an open system, whoever has opened it.
//! 2. A database is copied and recovered with its indexes and its relations.

use std::path::{Path, PathBuf};

use base::Lsn;
use recon::{ArchiveFile, CopyKind, ImageCopy, Recon, Record, State};
use recovery::{
    Births, CopyFiles, CopyKeys, CopyOptions, CopySink, Look, Past, Plan, Progress, RecoverOptions,
    RecoveryError, Target, copy_sets, look_at_copies, lsn_of,
};
use seam::Seam;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use system::operator::{Refusal, Request, Talk, done};
use system::{System, SystemError};
use uow::UowError;

use crate::as_of::AsOf;
use crate::output::utc;
use crate::pipe::PipeSink;
use crate::verbs::refusal;
use crate::which::{Which, left_out, names, tell_recon};

/// What `image-copy` is given.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CopyWish {
    pub(crate) which: Which,
    /// A file goes into each.
    pub(crate) folders: Vec<PathBuf>,
    /// Or all of it into this pipe.
    #[serde(default)]
    pub(crate) pipe: Option<PathBuf>,
    /// Only what has changed since the newest copy of the same data sets.
    pub(crate) incremental: bool,
    /// Bytes read in a second at most; 0: no limit.
    pub(crate) rate: u64,
}

/// What `image-copy` did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Copied {
    pub(crate) number: u32,
    pub(crate) base: u32,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) sets: Vec<String>,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) bytes: u64,
    pub(crate) intervals: u64,
    pub(crate) looked_at: u64,
    pub(crate) from_pool: u64,
    /// What was asked for by `--all`, and waits for its recovery: the copy has nothing of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) offline: Vec<String>,
}

/// Where to.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Point {
    /// The end of the log.
    Now,
    /// A position in the log.
    Lsn(u64),
    /// A moment: UTC in microseconds.
    Time(u64),
}

/// What `recover` is given.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RecoverWish {
    pub(crate) which: Which,
    pub(crate) to: Point,
    /// Only say what would be done.
    pub(crate) check: bool,
    /// Also read the image copies for that, to the end.
    #[serde(default)]
    pub(crate) prove: bool,
    /// Some data sets of a database may go to another time than its others.
    #[serde(default)]
    pub(crate) apart: bool,
    /// How many seconds to wait for programs.
    pub(crate) wait_seconds: u64,
}

/// What `recover` would do, or did.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Recovered {
    pub(crate) done: bool,
    pub(crate) to: u64,
    pub(crate) log_from: u64,
    pub(crate) log_bytes: u64,
    pub(crate) copy_bytes: u64,
    /// About how long it takes, in seconds.
    pub(crate) seconds: u64,
    pub(crate) sets: Vec<RecoveredSet>,
    /// Units of work in flight at the point that had changed other data sets, too.
    pub(crate) spanning: Vec<u64>,
    /// What is to be known of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
}

/// One data set of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RecoveredSet {
    pub(crate) name: String,
    pub(crate) copies: Vec<u32>,
    pub(crate) intervals: u64,
    pub(crate) redone: u64,
    pub(crate) backed_out: u64,
}

/// What a recovery reads in a second, for an estimate: copies, and log.
const COPY_RATE: u64 = 200 << 20;
const LOG_RATE: u64 = 100 << 20;

pub(crate) fn image_copy(
    system: &System,
    request: &Request,
    talk: &mut Talk<'_>,
) -> Result<Value, Refusal> {
    let wish: CopyWish = request.arguments()?;
    let (names, offline) = at_hand(system, names(system, &wish.which)?, wish.which.all)?;
    tell_recon(system);
    system.update_recon()?;
    let now = system.kernel().seam().clock.utc_us();
    let name = format!("{}-{}.copy", label(&wish.which), stamp(now));
    let paths: Vec<PathBuf> = wish.folders.iter().map(|folder| folder.join(&name)).collect();
    let disk = system.kernel().seam().disk.as_ref();
    system.refuse_own_folders(&wish.folders)?;
    recovery::refuse_away(disk, &system.recon().state(), &wish.folders)?;
    let in_files = wish.pipe.is_none();
    let since = if wish.incremental { Some(base(system, &names, in_files)?) } else { None };
    let mut sink: Box<dyn CopySink> = match &wish.pipe {
        Some(pipe) => Box::new(PipeSink::open(pipe)?),
        None => Box::new(CopyFiles::begin(system.kernel().seam(), &paths)?),
    };
    let mut ended = None;
    let report = copy_sets(
        system.kernel(),
        &system.copy_keys(),
        system.recon(),
        &names,
        &mut *sink,
        &CopyOptions { since, bytes_per_second: wish.rate },
        &mut |at| {
            ended = talk.progress(at.what, at.done, at.total, "bytes").err();
            ended.is_none()
        },
    );
    if let Some(refusal) = ended {
        return Err(refusal);
    }
    let report = report?;
    let copy = report.copy;
    done(&Copied {
        number: copy.number,
        base: copy.base,
        files: copy.files.into_iter().map(|file| file.path).collect(),
        sets: names,
        start: copy.start.0,
        end: copy.end.0,
        bytes: copy.bytes,
        intervals: report.copied,
        looked_at: report.looked_at,
        from_pool: report.from_pool,
        offline,
    })
}

/// Data sets by name, apart from those that wait for their recovery: of all that there are these
/// are left out, by its name none can be copied.
fn at_hand(
    system: &System,
    names: Vec<String>,
    all: bool,
) -> Result<(Vec<String>, Vec<String>), Refusal> {
    let waiting = system.kernel().offline_sets();
    let is_offline = |name: &String| waiting.iter().any(|set| set.name == *name);
    let (offline, names): (Vec<String>, Vec<String>) = names.into_iter().partition(is_offline);
    let Some(first) = waiting.into_iter().find(|set| offline.contains(&set.name)) else {
        return Ok((names, offline));
    };
    match all && !names.is_empty() {
        true => Ok((names, offline)),
        false => Err(UowError::SetOffline { name: first.name, set: first.id }.into()),
    }
}

pub(crate) fn recover(
    system: &System,
    request: &Request,
    talk: &mut Talk<'_>,
) -> Result<Value, Refusal> {
    let wish: RecoverWish = request.arguments()?;
    let names = names(system, &wish.which)?;
    let _held = system.hold_log();
    let state = system.recon().state();
    let history = system.history();
    let to = match wish.to {
        Point::Now => Target::Now,
        Point::Lsn(lsn) => Target::Lsn(Lsn(lsn)),
        Point::Time(utc_us) if utc_us > system.kernel().seam().clock.utc_us() => {
            return Err(Refusal {
                code: "HFV003".into(),
                message: format!("{} is yet to come", utc(utc_us)),
                advice: "Say a moment in UTC that is over, or leave out --to.".into(),
            });
        }
        Point::Time(utc_us) => {
            let end = system.kernel().log().durable();
            let (from, at_least) = log_before(system, &state, &names, utc_us);
            Target::Lsn(lsn_of(&*history, (from, end), at_least, utc_us)?)
        }
    };
    let mut warnings = match to {
        Target::Lsn(_) => torn_apart(system, &wish, &names)?,
        Target::Now => Vec::new(),
    };
    let as_of = match to {
        Target::Lsn(lsn) => AsOf::find(system, &names, lsn.0),
        Target::Now => Ok(AsOf::default()),
    };
    let as_of = as_of.map_err(|error| refusal(&error.into()))?;
    let options = RecoverOptions { wait: std::time::Duration::from_secs(wish.wait_seconds) };
    let (store, keys) = (system.store(), system.copy_keys());
    let mut progress = |at: Progress<'_>| {
        let _ = talk.progress(at.what, at.done, at.total, "bytes");
    };
    let look = if wish.prove { Look::Bytes } else { Look::Files };
    let (seam, recon) = (system.kernel().seam(), system.recon());
    let mut choice = Choice::new(system, &names, to, wish.prove);
    let (plan, recovered) = loop {
        let plan = choice.plan()?;
        let tried = if wish.check {
            look_at_copies(seam, &keys, &plan, look, &mut progress).map(|()| None)
        } else {
            as_of.before(store).map_err(|error| refusal(&error.into()))?;
            recovery::recover(store, &keys, recon, &*history, &plan, options, &mut progress)
                .map(Some)
        };
        match tried {
            Ok(recovered) => break (plan, recovered),
            Err(error) => choice.leave_aside(error)?,
        }
    };
    warnings.extend(choice.left_aside.iter().map(said));
    if recovered.is_some() {
        as_of.behind(store).map_err(|error| refusal(&error.into()))?;
        system.update_recon()?;
    }
    done(&Recovered { warnings, ..told(&plan, &choice.state, recovered.as_ref()) })
}

/// From which copies data sets are recovered: of those that cannot be read older ones do.
struct Choice<'c> {
    system: &'c System,
    names: &'c [String],
    to: Target,
    /// Whether all of the log is read that a plan needs.
    prove: bool,
    state: State,
    /// What was wrong with those that were left aside.
    left_aside: Vec<RecoveryError>,
}

impl<'c> Choice<'c> {
    fn new(system: &'c System, names: &'c [String], to: Target, prove: bool) -> Choice<'c> {
        let state = (*system.recon().state()).clone();
        Choice { system, names, to, prove, state, left_aside: Vec::new() }
    }

    /// By the newest copies that are not left aside. If there is no plan without those, the first
    /// of them is what is wrong.
    fn plan(&mut self) -> Result<Plan, RecoveryError> {
        let planned = plan(self.system, &self.state, self.names, self.to)
            .and_then(|plan| log_is_there(self.system, &plan, self.prove).map(|()| plan));
        match planned {
            Err(_) if !self.left_aside.is_empty() => Err(self.left_aside.remove(0)),
            planned => planned,
        }
    }

    /// Leaves the copy aside that could not be read; any other error ends the recovery.
    fn leave_aside(&mut self, error: RecoveryError) -> Result<(), RecoveryError> {
        let RecoveryError::Unreadable { number, names, .. } = &error else { return Err(error) };
        recovery::leave_aside(&mut self.state, *number, names);
        self.left_aside.push(error);
        Ok(())
    }
}

/// Says of a copy why it was left aside.
fn said(error: &RecoveryError) -> String {
    match error {
        RecoveryError::Unreadable { number, names, error } => {
            let names = names.join(", ");
            format!(
                "image copy {number} is left aside for {names}, in favour of older ones: {error}"
            )
        }
        other => other.to_string(),
    }
}

/// Whether the log is there that a plan needs, which is said before anything is done; to prove it,
/// all of it is read.
fn log_is_there(system: &System, plan: &Plan, prove: bool) -> Result<(), RecoveryError> {
    let (history, spans) = (system.history(), plan.spans());
    for (from, to) in plan.pieces() {
        if prove {
            history.each_of(&spans, from, to, &mut |_| Ok(true))?;
            continue;
        }
        let logged = history.each(from, to, &mut |_| Ok(false));
        // What no archive has any more an accumulation may have.
        logged.or_else(|_| history.each_of(&spans, from, plan.log_to, &mut |_| Ok(false)))?;
    }
    Ok(())
}

/// Says which databases would have some of their data sets at another time than the others: then
/// indexes and relations lead to what is not there. That is done only if it is meant.
fn torn_apart(
    system: &System,
    wish: &RecoverWish,
    names: &[String],
) -> Result<Vec<String>, Refusal> {
    let left = left_out(system, &wish.which, names);
    let say = |(database, sets): (&String, &Vec<String>)| {
        format!(
            "of database {database} the data sets {} stay as they are, and will not agree with \
             what goes back",
            sets.join(", ")
        )
    };
    let warnings: Vec<String> = left.iter().map(say).collect();
    if warnings.is_empty() || wish.apart || wish.check {
        return Ok(warnings);
    }
    let whole: Vec<String> = left.keys().map(|name| format!("--db {name}")).collect();
    Err(Refusal {
        code: "HFV014".into(),
        message: warnings.join("; "),
        advice: format!(
            "`holdfast recover {}` with the same --to takes all of it back. If a part is meant, \
             add --yes, and verify the database afterwards.",
            whole.join(" ")
        ),
    })
}

/// Plans a recovery. Only where a copy is missing is the log asked where data sets came to be: for
/// that all of it has to be read.
fn plan(
    system: &System,
    state: &State,
    names: &[String],
    to: Target,
) -> Result<Plan, RecoveryError> {
    let kernel = system.kernel();
    let planned = recovery::plan(kernel, state, names, to, &Births::new());
    if !matches!(planned, Err(RecoveryError::NoCopy { .. })) {
        return planned;
    }
    let history = system.log_source();
    let births = Past::read_around(&history, history.oldest(), &mut |_| ())?.0.births;
    // Whatever the log does not reach back to, the first refusal names best.
    if births.is_empty() { planned } else { recovery::plan(kernel, state, names, to, &births) }
}

pub(crate) fn list(system: &System, _: &Request, _: &mut Talk<'_>) -> Result<Value, Refusal> {
    system.update_recon()?;
    Ok(document(&system.recon().state()))
}

/// What RECON is to say of an image copy from now on.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeWish {
    /// The number of the image copy.
    pub(crate) copy: u32,
    /// Its files stand in this folder now.
    pub(crate) moved_to: Option<PathBuf>,
    /// It stands in this file now. If neither is named, its files are gone for good.
    pub(crate) file: Option<PathBuf>,
}

pub(crate) fn change(
    system: &System,
    request: &Request,
    talk: &mut Talk<'_>,
) -> Result<Value, Refusal> {
    let wish: ChangeWish = request.arguments()?;
    let seam = system.kernel().seam();
    let changed = change_recon(seam, &system.copy_keys(), system.recon(), &wish, &mut |at| {
        let _ = talk.progress(at.what, at.done, at.total, "bytes");
    })?;
    done(&changed)
}

/// What RECON says of an image copy from now on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Changed {
    pub(crate) image_copy: u32,
    /// Where it stands.
    pub(crate) files: Vec<PathBuf>,
    /// What is to be known of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
}

/// Changes what RECON says of an image copy.
pub(crate) fn change_recon(
    seam: &Seam,
    keys: &CopyKeys,
    recon: &Recon,
    wish: &ChangeWish,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Changed, SystemError> {
    let state = recon.state();
    let copy = state.image_copies.get(&wish.copy);
    let copy = copy.ok_or(SystemError::NoSuchCopy { number: wish.copy })?;
    let mut warnings = Vec::new();
    let mut prove = |file: &Path| {
        warnings.extend(proven(seam, keys, copy, file, progress)?);
        Ok::<(), SystemError>(())
    };
    let files = match (&wish.file, &wish.moved_to) {
        (Some(file), _) => {
            prove(file)?;
            vec![file.clone()]
        }
        (None, Some(folder)) => moved(seam, copy, folder, &mut prove)?,
        (None, None) => {
            recon.add(vec![Record::ImageCopyGone(wish.copy)])?;
            return Ok(Changed { image_copy: wish.copy, files: Vec::new(), warnings });
        }
    };
    let known = files.iter().map(|path| ArchiveFile { path: path.clone(), lost: false }).collect();
    recon.add(vec![Record::ImageCopy(ImageCopy { files: known, ..copy.clone() })])?;
    Ok(Changed { image_copy: wish.copy, files, warnings })
}

/// Whether a copy stands in this file, which is read whole to know that. One that is damaged serves
/// as far as it proves itself, if there is none that is whole; what is wrong is returned then.
fn proven(
    seam: &Seam,
    keys: &CopyKeys,
    copy: &ImageCopy,
    file: &Path,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Option<String>, SystemError> {
    let what = file.display().to_string();
    let tell = &mut |done, total| progress(Progress { what: &what, done, total });
    let Some(error) = CopyFiles::is_of(seam, file, copy, keys, tell)? else { return Ok(None) };
    let others = copy.files.iter().filter(|other| other.path != file);
    for other in others {
        if matches!(CopyFiles::is_of(seam, &other.path, copy, keys, tell), Ok(None)) {
            return Err(error.into());
        }
    }
    Ok(Some(format!(
        "{error}; what of it proves itself serves recoveries, together with other files of the \
         copy; `holdfast verify` says what mends it"
    )))
}

/// The files of a copy of which one stands in a folder now, where it is looked for and proven. The
/// other one, which has the same name, keeps its place.
fn moved(
    seam: &Seam,
    copy: &ImageCopy,
    folder: &Path,
    prove: &mut dyn FnMut(&Path) -> Result<(), SystemError>,
) -> Result<Vec<PathBuf>, SystemError> {
    let refuse = |why: String| RecoveryError::NotMoved { number: copy.number, why };
    let is_there = |path: &PathBuf| seam.disk.exists(path).unwrap_or(false);
    let places = copy.files.iter().filter_map(|file| Some(folder.join(file.path.file_name()?)));
    let place = places.clone().find(is_there).or_else(|| places.clone().next());
    let place = place.ok_or_else(|| refuse("it went to standard output".into()))?;
    let mut files: Vec<PathBuf> = copy.files.iter().map(|file| file.path.clone()).collect();
    let standing = files.iter().filter(|path| is_there(path)).count();
    if standing == 2 && !files.contains(&place) {
        let where_to = files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
        return Err(refuse(format!("it still stands in {}", where_to.join(" and "))).into());
    }
    if !is_there(&place) {
        return Err(refuse(format!("{} is not there", place.display())).into());
    }
    prove(&place)?;
    match files.iter().position(|path| !is_there(path)) {
        _ if files.contains(&place) => {}
        Some(missing) => files[missing] = place,
        None => files.push(place),
    }
    Ok(files)
}

/// What a recovery would do, or did.
fn told(plan: &Plan, state: &State, recovered: Option<&recovery::Recovery>) -> Recovered {
    let pieces = plan.pieces().into_iter();
    let log_bytes = pieces.map(|(from, to)| state.log_bytes(from, to)).sum::<u64>();
    let set = |(at, set): (usize, &recovery::SetPlan)| {
        let counts = recovered.and_then(|recovered| recovered.sets.get(at)).map(|set| &set.counts);
        RecoveredSet {
            name: set.definition.name.clone(),
            copies: set.copies.iter().map(|copy| copy.number).collect(),
            intervals: counts.map_or(0, |counts| counts.intervals),
            redone: counts.map_or(0, |counts| counts.redone),
            backed_out: counts.map_or(0, |counts| counts.backed_out.len() as u64),
        }
    };
    let spanning = recovered.map(|recovered| recovered.spanning.iter().map(|uow| uow.0).collect());
    Recovered {
        done: recovered.is_some(),
        to: recovered.map_or(plan.log_to, |recovered| recovered.to).0,
        log_from: plan.log_from.0,
        log_bytes,
        copy_bytes: plan.copy_bytes,
        seconds: plan.copy_bytes.div_ceil(COPY_RATE) + log_bytes.div_ceil(LOG_RATE),
        sets: plan.sets.iter().enumerate().map(set).collect(),
        spanning: spanning.unwrap_or_default(),
        warnings: Vec::new(),
    }
}

/// The newest copy that holds all of these data sets as they are. One in files goes on from what is
/// in files, too: else it would be of no use by itself.
fn base(system: &System, names: &[String], in_files: bool) -> Result<u32, Refusal> {
    let state = system.recon().state();
    let id = |name: &String| system.kernel().set_named(name).map(|set| set.id());
    let holds = |copy: &&ImageCopy| {
        let mut each = names.iter();
        each.all(|name| copy.sets.iter().any(|set| set.name == *name && Some(set.set) == id(name)))
    };
    let usable = |copy: &&ImageCopy| !in_files || state.chain_at_hand(copy.number).is_some();
    let found = state.image_copies.values().rev().filter(usable).find(holds);
    found.map(|copy| copy.number).ok_or_else(|| Refusal {
        code: "HFV002".into(),
        message: "there is no image copy of these data sets that another one could go on from"
            .into(),
        advice: "Make a full copy first: leave out --incremental.".into(),
    })
}

/// Where in the log a moment is looked for: from the newest copies on that were complete by then,
/// and not before their ends, nor before what was recovered by then; from where the log begins, if
/// something has no copy.
fn log_before(system: &System, state: &State, names: &[String], utc_us: u64) -> (Lsn, Lsn) {
    let recovered = state.recoveries.values().filter(|recovery| recovery.utc_us <= utc_us);
    let mut at_least = recovered.map(|recovery| recovery.void_to).max().unwrap_or(Lsn::NONE);
    let mut from = Lsn(u64::MAX);
    for name in names {
        let copies = state.copies_of(name);
        let copy = copies.iter().find(|copy| copy.to_us <= utc_us);
        from = from.min(copy.map_or_else(|| system.log_source().oldest(), |copy| copy.start));
        at_least = at_least.max(copy.map_or(Lsn::NONE, |copy| copy.end));
    }
    (from, at_least)
}

/// What a copy's file is called.
fn label(which: &Which) -> String {
    let one = which.databases.iter().chain(&which.sets).next();
    match (which.all, one) {
        (false, Some(name)) => {
            let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
            name.chars().map(|c| if safe(c) { c } else { '_' }).collect()
        }
        _ => "all".into(),
    }
}

/// A moment as part of a file's name, to the microsecond.
fn stamp(utc_us: u64) -> String {
    let digits: String = utc(utc_us).chars().filter(char::is_ascii_digit).collect();
    format!("{digits}{:06}", utc_us % 1_000_000)
}

/// What RECON says, as JSON.
pub(crate) fn document(state: &State) -> Value {
    let files = |files: &[ArchiveFile]| -> Vec<Value> {
        files.iter().map(|file| json!({ "path": file.path, "lost": file.lost })).collect()
    };
    let sets = state.sets.values().map(|set| {
        let generations: Vec<u32> = set.generations.iter().map(|one| one.0).collect();
        let sealed = set.protection == recon::Protection::Sealed;
        json!({
            "number": set.set.0, "name": set.name, "sealed": sealed, "label": set.label,
            "generations": generations, "made": set.made.0,
        })
    });
    let databases =
        state.databases.values().map(|one| json!({ "name": one.name, "sets": one.sets }));
    let archives = state.archives.values().map(|one| {
        json!({
            "number": one.number, "files": files(&one.files), "first": one.first.0,
            "end": one.end.0, "from_us": one.from_us, "to_us": one.to_us, "bytes": one.bytes,
        })
    });
    let accumulations = state.accumulations.values().map(|one| {
        json!({
            "number": one.number, "files": files(&one.files), "first": one.first.0,
            "end": one.end.0, "bytes": one.bytes,
        })
    });
    let copies = state.image_copies.values().map(|one| {
        let sets: Vec<&str> = one.sets.iter().map(|set| set.name.as_str()).collect();
        let kind = if one.kind == CopyKind::Full { "full" } else { "incremental" };
        json!({
            "number": one.number, "kind": kind, "base": one.base, "files": files(&one.files),
            "sets": sets, "start": one.start.0, "end": one.end.0, "from_us": one.from_us,
            "to_us": one.to_us, "bytes": one.bytes,
        })
    });
    let recoveries = state.recoveries.values().map(|one| {
        let number = |set: &base::DataSetId| set.0;
        json!({
            "number": one.number, "sets": one.sets.iter().map(number).collect::<Vec<_>>(),
            "became": one.became.iter().map(number).collect::<Vec<_>>(),
            "copies": one.copies, "to": one.to.0, "void_to": one.void_to.0,
            "utc_us": one.utc_us, "to_point": one.to_point,
        })
    });
    let open = state.authorised.iter().map(|one| {
        json!({
            "process": one.process, "psb": one.psb, "database": one.database,
            "access": one.access, "since_us": one.since_us,
        })
    });
    json!({
        "authorisations": open.collect::<Vec<_>>(),
        "reached": state.reached.lsn.0,
        "archived": state.archived.0,
        "data_sets": sets.collect::<Vec<_>>(),
        "databases": databases.collect::<Vec<_>>(),
        "archives": archives.collect::<Vec<_>>(),
        "accumulations": accumulations.collect::<Vec<_>>(),
        "image_copies": copies.collect::<Vec<_>>(),
        "recoveries": recoveries.collect::<Vec<_>>(),
    })
}
