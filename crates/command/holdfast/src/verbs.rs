//! What a system does for operators that takes knowledge of databases: verbs besides those of every
//! system ([`system::operator`]).

use base::Coded as _;
use hierarchy::HierarchyError;
use serde_json::Value;
use system::operator::forms::{self, Conversion};
use system::operator::{self, Merge, Refusal, Request, Talk, Verb, done};
use system::{Finding, OpenOptions, Repair, System, VerifyWish};

use crate::backout;
use crate::databases::Databases;
use crate::failure::Failure;
use crate::which::spell_out;
use crate::{look, recovery};

/// The verbs.
const VERBS: &[Verb] = &[
    Verb { name: "verify", run: verify },
    Verb { name: "archive accumulate", run: accumulate },
    Verb { name: "convert", run: convert },
    Verb { name: "rekey", run: rekey },
    Verb { name: "db status", run: look::db_status },
    Verb { name: "db verify", run: look::db_verify },
    Verb { name: "image-copy", run: recovery::image_copy },
    Verb { name: "recover", run: recovery::recover },
    Verb { name: "backout", run: backout::backout },
    Verb { name: "backout list", run: backout::list },
    Verb { name: "recon list", run: recovery::list },
    Verb { name: "recon change", run: recovery::change },
];

/// How the command opens a system: with all verbs.
pub(crate) fn options() -> OpenOptions {
    OpenOptions { verbs: VERBS, ..OpenOptions::default() }
}

type Answer<T> = Result<T, Refusal>;

fn convert(system: &System, request: &Request, talk: &mut Talk<'_>) -> Answer<Value> {
    done(&forms::convert(system, &wanted(system, request)?, talk)?)
}

fn rekey(system: &System, request: &Request, talk: &mut Talk<'_>) -> Answer<Value> {
    done(&forms::rekey(system, &wanted(system, request)?, talk)?)
}

fn verify(system: &System, request: &Request, talk: &mut Talk<'_>) -> Answer<Value> {
    let mut asked: VerifyWish = request.arguments()?;
    spell_out(system, &mut asked.sets, &mut asked.databases)?;
    let mut report = system.verify(&asked, talk)?;
    let hopeless =
        |finding: &&mut Finding| finding.repair.is_empty() && finding.object.starts_with(DATA_SET);
    for finding in report.findings.iter_mut().filter(hopeless) {
        build_instead(system, finding);
    }
    if asked.sets.is_empty() {
        report.findings.extend(settings_that_differ(system));
    }
    done(&report)
}

/// Partitions, and whatever else of the configuration says where roots go, that are not those the
/// data was stored with: it proves itself, and programs do not find it.
pub(crate) fn settings_that_differ(system: &System) -> Vec<Finding> {
    let Ok(databases) = Databases::of(system.kernel().seam(), system) else { return Vec::new() };
    let finding = |error: HierarchyError| Finding {
        object: "configuration".into(),
        file: Some(system.dir().join("holdfast.toml")),
        offset: None,
        interval: None,
        what: format!("{error} ({})", error.code()),
        remedy: error.remedy(),
        repair: Vec::new(),
    };
    databases.misfits().into_iter().map(finding).collect()
}

/// How a finding names a data set.
const DATA_SET: &str = "data set ";

/// An index can be built from its database where there is no image copy of it.
fn build_instead(system: &System, finding: &mut Finding) {
    let Ok(databases) = Databases::of(system.kernel().seam(), system) else { return };
    let name = &finding.object[DATA_SET.len()..];
    if let Some((database, index)) = databases.index_of(name) {
        let words = [database.text(), index.text()];
        finding.repair = vec![Repair::of("index build", system.dir(), &words)];
        finding.remedy = format!("Stop the system, and build index {index} of {database} anew.");
    }
}

/// What is asked for, with the data sets of the databases.
fn wanted(system: &System, request: &Request) -> Answer<Conversion> {
    let mut asked: Conversion = request.arguments()?;
    spell_out(system, &mut asked.sets, &mut asked.databases)?;
    Ok(asked)
}

/// Merges archived changes.
fn accumulate(system: &System, request: &Request, talk: &mut Talk<'_>) -> Answer<Value> {
    let mut asked: Merge = request.arguments()?;
    spell_out(system, &mut asked.sets, &mut asked.databases)?;
    done(&operator::accumulate(system, &asked, talk)?)
}

pub(crate) fn refusal(failure: &Failure) -> Refusal {
    let (code, message, advice) = failure.parts();
    Refusal { code: code.to_string(), message, advice }
}
