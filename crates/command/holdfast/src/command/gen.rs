//! `holdfast gen`: compiles DBDs and PSBs, fits them together, and stores them in a system.

mod data;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use base::Coded as _;
use clap::Args;
use definitions::resolve::{Definitions as _, Overlay};
use definitions::{
    CompiledMember, DbdName, Diagnostic, Finding, Member, MemberKind, MemberName, PsbName,
    Severity, Spot, compile,
};
use hierarchy::is_kept;
use hierarchy::repository::{Difference, Repository, name_of};
use macros::{Folders, Sources};
use operations::Databases;
use serde::{Serialize, Serializer};
use store::Store;

use self::data::Verdict;
use super::DONE;
use crate::advice::typed;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operate::{SystemArgs, with};
use crate::output::{Output, warn};
use crate::text::harmless;

/// Compile DBD and PSB macro source and store the definitions
///
/// What a file holds its statements say, not its name: DBDs, PSBs, several of both, or neither;
/// then it is skipped if it was found in a folder, and an error if it was named. All members are
/// fitted to each other and to what the system has already. If there is an error, nothing is
/// stored.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: holdfast gen -s /srv/bank dbdlib psblib -I copylib
         holdfast gen -s /srv/bank --remove CITYIX customers.dbd")]
pub(crate) struct GenArgs {
    #[command(flatten)]
    system: SystemArgs,
    /// Sources: files, and folders with all that is in them but hidden files and folders
    #[arg(required_unless_present = "remove", value_name = "FILE|FOLDER")]
    sources: Vec<PathBuf>,
    /// Take a DBD or PSB out of the system, together with what is compiled; may be repeated. Where
    /// both have the name, write DBD:NAME or PSB:NAME. A database must be empty
    #[arg(long, value_name = "NAME")]
    remove: Vec<String>,
    /// A folder with the members that COPY names, and with macros; may be repeated
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// Store nothing; only say what would be made
    #[arg(long)]
    check: bool,
}

/// What became of everything.
#[derive(Serialize)]
struct Report {
    members: Vec<Item>,
    #[serde(serialize_with = "as_texts")]
    removed: Vec<MemberName>,
    skipped: Vec<Skipped>,
    diagnostics: Vec<Remark>,
    errors: usize,
    warnings: usize,
    check: bool,
    stored: bool,
}

/// A member of a source.
#[derive(Serialize)]
struct Item {
    kind: &'static str,
    name: String,
    path: PathBuf,
    card: u32,
    state: State,
    #[serde(skip)]
    compiled: CompiledMember,
}

/// What becomes of a member.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Made,
    Changed,
    LeftAlone,
    Wrong,
    HeldBack,
}

/// A file without a DBD or a PSB.
#[derive(Serialize)]
struct Skipped {
    path: PathBuf,
    reason: String,
}

/// Something that there is to say about a source.
#[derive(Serialize)]
struct Remark {
    #[serde(serialize_with = "as_text")]
    severity: Severity,
    code: &'static str,
    /// The member, where it is known.
    member: Option<String>,
    /// Of a member that was stored before, there are no cards.
    path: Option<PathBuf>,
    card: Option<u32>,
    column: Option<u16>,
    message: String,
    help: Option<String>,
    #[serde(skip)]
    shown: String,
}

fn as_text<S: Serializer>(
    value: &impl fmt::Display,
    to: S,
) -> std::result::Result<S::Ok, S::Error> {
    to.collect_str(value)
}

fn as_texts<S: Serializer>(names: &[MemberName], to: S) -> std::result::Result<S::Ok, S::Error> {
    to.collect_seq(names.iter().map(MemberName::to_string))
}

pub(super) fn run(context: &mut Context, args: &GenArgs) -> Result<ExitCode> {
    if let Some(lost) = args.include.iter().find(|folder| !folder.is_dir()) {
        let what = format!("{} is no folder to find COPY members in", lost.display());
        return Err(Failure::usage(what, "Correct the path behind -I."));
    }
    let files = if args.sources.is_empty() { Vec::new() } else { files(&args.sources)? };
    let copies = Folders::new(args.include.clone());
    let report = with(context, &args.system, |_, _, databases| {
        let removed = to_remove(&databases.repository, &args.remove)?;
        generate(databases, (&files, &removed), &copies, args.check)
    })?;
    if context.output.is_json() {
        context.output.document(&report)?;
        return if report.errors == 0 { DONE } else { Ok(ExitCode::FAILURE) };
    }
    tell(&mut context.output, &report)?;
    match report.errors {
        0 => DONE,
        errors => {
            let many = if errors == 1 { "1 error".into() } else { format!("{errors} errors") };
            let what = format!("{many} in the sources: nothing was stored");
            Err(Failure::other(what, "Correct what is shown above, then compile all of it again."))
        }
    }
}

fn tell(output: &mut Output, report: &Report) -> Result<()> {
    for remark in &report.diagnostics {
        let _ = write!(io::stderr(), "{}", harmless(&typed(&remark.shown)));
    }
    for item in &report.members {
        let state = match (item.state, report.check) {
            (State::Made, false) => "made",
            (State::Made, true) => "would be made",
            (State::Changed, false) => "changed",
            (State::Changed, true) => "would be changed",
            (State::LeftAlone, _) => "left alone, it is there already",
            (State::Wrong, _) => "has errors",
            (State::HeldBack, _) => "not stored, because of errors elsewhere",
        };
        output.line(format!("{}: {state}", item.title()))?;
    }
    for name in &report.removed {
        let state = match (report.errors, report.check) {
            (0, false) => "removed",
            (0, true) => "would be removed",
            _ => "not removed, because of errors",
        };
        output.line(format!("{name}: {state}"))?;
    }
    for skipped in &report.skipped {
        output.line(format!("{}: skipped, {}", skipped.path.display(), skipped.reason))?;
    }
    Ok(())
}

/// The members that are to be taken out, by what was written.
fn to_remove(repository: &Repository, names: &[String]) -> Result<Vec<MemberName>> {
    names.iter().map(|written| named(repository, written)).collect()
}

fn named(repository: &Repository, written: &str) -> Result<MemberName> {
    let upper = written.to_ascii_uppercase();
    let (kind, name) = upper.split_once(':').unwrap_or(("", &upper));
    let dbd = DbdName::new(name).filter(|name| repository.dbd(*name).is_some());
    let psb = PsbName::new(name).filter(|name| repository.psb(*name).is_some());
    match (kind, dbd, psb) {
        ("" | "DBD", Some(name), None) | ("DBD", Some(name), _) => Ok(MemberName::Dbd(name)),
        ("" | "PSB", None, Some(name)) | ("PSB", _, Some(name)) => Ok(MemberName::Psb(name)),
        ("", Some(_), Some(_)) => {
            let what = format!("there is a DBD {name} and a PSB {name}");
            let help = format!("Write --remove DBD:{name} or --remove PSB:{name}.");
            Err(Failure::usage(what, &help))
        }
        _ => {
            let what = format!("the system has no DBD or PSB {upper} to remove");
            Err(Failure::other(what, "Check the name."))
        }
    }
}

/// Compiles everything, fits it together, and stores what is new if nothing is wrong.
fn generate<S: Store>(
    databases: &Databases<S>,
    (files, removed): (&[Source], &[MemberName]),
    copies: &Folders,
    check: bool,
) -> Result<Report> {
    let repository = &databases.repository;
    let mut work = Work { removed: removed.to_vec(), ..Work::default() };
    for source in files {
        work.compile(source, copies);
    }
    work.refuse_doubles();
    work.refuse_removed();
    // What does not compile is missing elsewhere, too; to say so would only hide the cause.
    if work.errors() == 0 {
        work.fit(repository);
    }
    let mut verdict = Verdict::default();
    if work.errors() == 0 {
        verdict = data::judge(databases, &work.overlay(repository))?;
        work.say_of_data(&verdict);
        work.say_of_places(databases);
    }
    let errors = work.errors();
    let changed = work.settle(repository, errors > 0);
    let stored = errors == 0 && !check;
    if stored {
        verdict.record_due(&databases.store)?;
        hierarchy::repository::put(&databases.store, &changed, removed)?;
        verdict.drop_gone(&databases.store)?;
    }
    warn_of_damage(repository, &changed, stored);
    if errors == 0 {
        databases.without_database(&work.databases()).iter().for_each(warn);
    }
    let warnings =
        work.remarks.iter().filter(|remark| remark.severity == Severity::Warning).count();
    let Work { items: members, removed, skipped, remarks: diagnostics, .. } = work;
    Ok(Report { members, removed, skipped, diagnostics, errors, warnings, check, stored })
}

/// Names what is stored but cannot be read, unless it was replaced just now.
fn warn_of_damage(repository: &Repository, changed: &[Member], stored: bool) {
    let replaced = |name: &MemberName| stored && changed.iter().any(|one| name_of(one) == *name);
    for (name, error) in repository.damaged().iter().filter(|(name, _)| !replaced(name)) {
        let (code, remedy) = (error.code(), error.remedy());
        warn(format!("{name} of the system is as good as absent: {error} ({code}); {remedy}"));
    }
}

/// The sources on their way.
#[derive(Default)]
struct Work {
    sources: Sources,
    items: Vec<Item>,
    removed: Vec<MemberName>,
    skipped: Vec<Skipped>,
    remarks: Vec<Remark>,
}

impl Work {
    fn errors(&self) -> usize {
        self.remarks.iter().filter(|remark| remark.severity == Severity::Error).count()
    }

    fn compile(&mut self, source: &Source, copies: &Folders) {
        let Source { path, bytes, is_named } = source;
        let program = macros::read(&mut self.sources, path, bytes, copies);
        let compiled = compile(&program);
        let is_error = |one: &&Diagnostic| one.severity == Severity::Error;
        let is_wrong = compiled.diagnostics.iter().any(|one| is_error(&one));
        if compiled.is_part(&program) || compiled.members.is_empty() && !is_wrong {
            // Whatever it is, it is no macro source that a user would want to correct; but a
            // member that is only a COPY of one that is not there must not go unnoticed.
            let mut reason = "it is neither DBD nor PSB".to_owned();
            let mut all = program.diagnostics.iter().chain(&compiled.diagnostics);
            if let Some(first) = all.find(is_error) {
                let (code, card) = (first.code, first.place.card);
                reason += &format!(" (card {card}: {}, {code})", first.message);
            }
            if *is_named {
                self.refuse_named(path, &reason);
            }
            self.skipped.push(Skipped { path: path.to_owned(), reason });
            return;
        }
        let mut diagnostics = program.diagnostics;
        diagnostics.extend(compiled.diagnostics);
        diagnostics.sort_by_key(|one| one.place);
        for one in &diagnostics {
            self.say(one, None);
        }
        for member in compiled.members {
            let kind = match member.kind {
                MemberKind::Dbd => "DBD",
                MemberKind::Psb => "PSB",
            };
            self.items.push(Item {
                kind,
                name: member.name.clone(),
                path: path.to_owned(),
                card: member.place.card,
                state: if member.member.is_some() { State::LeftAlone } else { State::Wrong },
                compiled: member,
            });
        }
    }

    /// The databases among the members.
    fn databases(&self) -> Vec<DbdName> {
        let members = self.items.iter().filter_map(|item| item.compiled.member.as_ref());
        let names = members.filter_map(|member| match name_of(member) {
            MemberName::Dbd(name) => Some(name),
            MemberName::Psb(_) => None,
        });
        names.collect()
    }

    /// A file that was named, and not only found in a folder, is meant to be a source.
    fn refuse_named(&mut self, path: &Path, reason: &str) {
        let (severity, code) = (Severity::Error, "HFG118");
        let message = format!("{} is named as a source, but {reason}", path.display());
        let help = "leave it out; members that others copy are found by -I FOLDER".to_owned();
        let shown = format!("{severity} {code}: {message}\n  = help: {help}\n");
        self.remarks.push(Remark {
            severity,
            code,
            member: None,
            path: Some(path.to_owned()),
            card: None,
            column: None,
            message,
            help: Some(help),
            shown,
        });
    }

    fn say(&mut self, one: &Diagnostic, member: Option<MemberName>) {
        self.remarks.push(Remark {
            severity: one.severity,
            code: one.code,
            member: member.map(|name| name.to_string()),
            path: Some(self.sources.path(one.place.source).to_owned()),
            card: Some(one.place.card),
            column: Some(one.place.column),
            message: one.message.clone(),
            help: one.help.clone(),
            shown: self.sources.show(one),
        });
    }

    /// Two members of one name and kind: it could not be said which of them is meant.
    fn refuse_doubles(&mut self) {
        let mut first: BTreeMap<(&str, String), String> = BTreeMap::new();
        let mut found = Vec::new();
        for item in self.items.iter_mut().filter(|item| !item.name.is_empty()) {
            let place = format!("{}:{}", item.path.display(), item.card);
            let Some(other) = first.get(&(item.kind, item.name.clone())) else {
                first.insert((item.kind, item.name.clone()), place);
                continue;
            };
            item.state = State::Wrong;
            found.push(Diagnostic {
                severity: Severity::Error,
                code: "HFG116",
                place: item.compiled.place,
                message: format!("{} is given twice; the first is at {other}", item.title()),
                help: Some("compile one of them only".into()),
            });
        }
        for one in &found {
            self.say(one, None);
        }
    }

    /// A member that is given and to be taken out: one of the two is a mistake.
    fn refuse_removed(&mut self) {
        let mut found = Vec::new();
        for item in &mut self.items {
            let Some(name) = item.compiled.member.as_ref().map(name_of) else { continue };
            if self.removed.contains(&name) {
                item.state = State::Wrong;
                found.push(Diagnostic {
                    severity: Severity::Error,
                    code: "HFG117",
                    place: item.compiled.place,
                    message: format!("{name} is given here, and is to be removed"),
                    help: Some("leave its source out, or leave --remove out".into()),
                });
            }
        }
        for one in &found {
            self.say(one, None);
        }
    }

    /// Fits the members to each other and to those of the system.
    fn fit(&mut self, repository: &Repository) {
        let members = self.items.iter().enumerate();
        let index: BTreeMap<MemberName, usize> = members
            .filter_map(|(at, item)| Some((name_of(item.compiled.member.as_ref()?), at)))
            .collect();
        for finding in self.overlay(repository).resolve().findings {
            match index.get(&finding.member) {
                Some(at) => {
                    let item = &mut self.items[*at];
                    if finding.severity == Severity::Error {
                        item.state = State::Wrong;
                    }
                    let one = finding.diagnostic(&item.compiled.places);
                    self.say(&one, Some(finding.member));
                }
                // Of what was stored before, only that matters which no longer fits.
                None if finding.severity == Severity::Error => {
                    let Finding { member, severity, code, message, help, .. } = finding;
                    self.say_stored(member, (severity, code), message, help);
                }
                None => {}
            }
        }
    }

    /// The members over those that are stored.
    fn overlay<'r>(&self, repository: &'r Repository) -> Overlay<'r> {
        let mut overlay = Overlay::new(repository);
        self.removed.iter().for_each(|name| overlay.remove(*name));
        for member in self.items.iter().filter_map(|item| item.compiled.member.as_ref()) {
            overlay.add(member.clone());
        }
        overlay
    }

    /// Says what the members mean for the data that is stored.
    fn say_of_data(&mut self, verdict: &Verdict) {
        for one in &verdict.remarks {
            let name = MemberName::Dbd(one.database);
            let mut items = self.items.iter_mut();
            let member = |item: &&mut Item| {
                item.compiled.member.as_ref().is_some_and(|member| name_of(member) == name)
            };
            let place = items.find(member).map(|item| {
                if one.severity == Severity::Error {
                    item.state = State::Wrong;
                }
                item.compiled.place
            });
            let (severity, code, message) = (one.severity, one.code, one.message.clone());
            let help = Some(one.help.clone());
            match place {
                Some(place) => {
                    let one = Diagnostic { severity, code, place, message, help };
                    self.say(&one, Some(name));
                }
                None => self.say_stored(name, (severity, code), message, help),
            }
        }
    }

    /// Says what the settings make of the members: randomizers that are not known, partitions.
    /// What is wrong with the settings themselves, the command that opens the database tells.
    fn say_of_places<S: Store>(&mut self, databases: &Databases<S>) {
        let mut found = Vec::new();
        for item in &self.items {
            let Some(Member::Dbd(dbd)) = &item.compiled.member else { continue };
            let is_placed = is_kept(dbd.organization) || dbd.organization.is_index();
            let Some(Ok(placement)) = is_placed.then(|| databases.placement(dbd)) else { continue };
            for note in placement.notes() {
                let one = Diagnostic {
                    severity: Severity::Warning,
                    code: note.code.0,
                    place: item.compiled.places.find(Spot::Member, note.operand()),
                    message: note.text.clone(),
                    help: Some("set it in holdfast.toml before there is data, if need be".into()),
                };
                found.push((one, MemberName::Dbd(dbd.name)));
            }
        }
        for (one, member) in found {
            self.say(&one, Some(member));
        }
    }

    /// Says something of a member that was stored before.
    fn say_stored(
        &mut self,
        member: MemberName,
        (severity, code): (Severity, &'static str),
        message: String,
        help: Option<String>,
    ) {
        let member = member.to_string();
        let mut shown = format!(
            "{severity} {code}: {message}\n  --> {member}, which is stored in the system\n"
        );
        if let Some(help) = &help {
            shown += &format!("  = help: {help}\n");
        }
        self.remarks.push(Remark {
            severity,
            code,
            member: Some(member),
            path: None,
            card: None,
            column: None,
            message,
            help,
            shown,
        });
    }

    /// Settles what becomes of each member, and answers those that are to be stored.
    fn settle(&mut self, repository: &Repository, failed: bool) -> Vec<Member> {
        let mut changed = Vec::new();
        for item in self.items.iter_mut().filter(|item| item.state != State::Wrong) {
            let Some(member) = &item.compiled.member else { continue };
            item.state = match repository.difference(member) {
                Difference::Same => continue,
                _ if failed => State::HeldBack,
                Difference::New => State::Made,
                Difference::Changed => State::Changed,
            };
            changed.push(member.clone());
        }
        changed
    }
}

impl Item {
    fn title(&self) -> String {
        match self.name.as_str() {
            "" => format!("{} without a name at {}:{}", self.kind, self.path.display(), self.card),
            name => format!("{} {name}", self.kind),
        }
    }
}

/// A file that is to be compiled.
struct Source {
    path: PathBuf,
    bytes: Vec<u8>,
    /// Whether it was named itself, and not only its folder.
    is_named: bool,
}

/// Every file that is meant, once, with its bytes.
#[allow(clippy::disallowed_methods)] // sources are people's files, no part of a system
fn files(sources: &[PathBuf]) -> Result<Vec<Source>> {
    let mut paths = Vec::new();
    let mut named = BTreeSet::new();
    for source in sources {
        match source.is_dir() {
            true => gather(source, &mut paths)?,
            false => {
                named.insert(source.clone());
                paths.push(source.clone());
            }
        }
    }
    let mut known = BTreeSet::new();
    let mut files = Vec::with_capacity(paths.len());
    for path in paths {
        let real = path.canonicalize().map_err(|error| unreadable(&path, &error))?;
        if known.insert(real) {
            let bytes = std::fs::read(&path).map_err(|error| unreadable(&path, &error))?;
            files.push(Source { is_named: named.contains(&path), path, bytes });
        }
    }
    if files.is_empty() {
        let what = "there is no file in these folders";
        return Err(Failure::other(what, "Name the files or folders that hold DBDs and PSBs."));
    }
    Ok(files)
}

/// The files of a folder and of the folders in it, in the order of their names.
#[allow(clippy::disallowed_methods)] // as above
fn gather(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    let failed = |error: io::Error| unreadable(folder, &error);
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if !entry.file_name().as_encoded_bytes().starts_with(b".") {
            // A link to a folder is not followed, so there is no circle to run in.
            entries.push((entry.path(), entry.file_type().map_err(failed)?.is_dir()));
        }
    }
    entries.sort();
    for (path, is_folder) in entries {
        if is_folder {
            gather(&path, paths)?;
        } else if path.is_file() {
            paths.push(path);
        }
    }
    Ok(())
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let what = format!("{} cannot be read: {error}", path.display());
    Failure::other(what, "Check the path and the permissions.")
}
