//! What a system does for operators that takes knowledge of databases: verbs besides those of every
//! system ([`system::operator`]).

use std::path::Path;

use base::Coded as _;
use definitions::DbdName;
use hierarchy::HierarchyError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use system::operator::forms::{self, Conversion};
use system::operator::{self, Merge, OperatorError, Refusal, Request, Talk, Verb, done};
use system::{
    AccumulationStatus, AnyOptions, EngineSystem, EngineVerb, Finding, OpenOptions, Repair, System,
    SystemError, VerifyReport, VerifyRequest,
};

use crate::backout::{BackoutRequest, ListRequest};
use crate::clusters::{self, IdcamsRequest};
use crate::database_report::DatabaseRequest;
use crate::image_copy::CopyRequest;
use crate::messages::{self, MqscRequest};
use crate::moving::{self, SendRequest};
use crate::pset::{self, PsetRequest};
use crate::recon_report::ChangeRequest;
use crate::record_maps::{self, RecordMapRequest};
use crate::recover::RecoverRequest;
use crate::redirections::{self, RedirectRequest};
use crate::selection::expand;
use crate::transactions::{CommandRequest, DefineRequest, UserRequest};
use crate::{
    Databases, Result, backout, database_report, image_copy, recon_report, recover, transactions,
};

/// What an operator asks of an open system, with what each verb is given.
///
/// As JSON it is a request: `{"verb": "image-copy", "arguments": {...}}`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "verb", content = "arguments")]
pub enum Operation {
    /// Proves the system.
    #[serde(rename = "verify")]
    Verify(VerifyRequest),
    /// Merges archived changes.
    #[serde(rename = "archive accumulate")]
    Accumulate(Merge),
    /// Seals data sets, or makes them plain.
    #[serde(rename = "convert")]
    Convert(Conversion),
    /// Gives data sets, or the log, new keys.
    #[serde(rename = "rekey")]
    Rekey(Conversion),
    /// Counts a database.
    #[serde(rename = "db status")]
    DatabaseStatus(DatabaseRequest),
    /// Compares a database with its indexes and relatives.
    #[serde(rename = "db verify")]
    DatabaseVerify(DatabaseRequest),
    /// Sends a database to another system.
    #[serde(rename = "db send")]
    Send(SendRequest),
    /// Copies data sets.
    #[serde(rename = "image-copy")]
    ImageCopy(CopyRequest),
    /// Recovers data sets.
    #[serde(rename = "recover")]
    Recover(RecoverRequest),
    /// Takes units of work back.
    #[serde(rename = "backout")]
    Backout(BackoutRequest),
    /// Lists units of work that could be taken back.
    #[serde(rename = "backout list")]
    BackoutList(ListRequest),
    /// Says what RECON says.
    #[serde(rename = "recon list")]
    ReconList {},
    /// Changes what RECON says of an image copy.
    #[serde(rename = "recon change")]
    ReconChange(ChangeRequest),
    /// Carries out a command of the transaction manager.
    #[serde(rename = "cmd")]
    Command(CommandRequest),
    /// Takes in definitions of transactions and programs.
    #[serde(rename = "define")]
    Define(DefineRequest),
    /// Defines or removes a user.
    #[serde(rename = "user")]
    User(UserRequest),
    /// Carries out a command of the queue manager.
    #[serde(rename = "mqsc")]
    Mqsc(MqscRequest),
    /// Executes control statements of access method services.
    #[serde(rename = "idcams")]
    Idcams(IdcamsRequest),
    /// Keeps or shows what fields records have.
    #[serde(rename = "recmap")]
    RecordMap(RecordMapRequest),
    /// Redirects clusters, or says how that goes.
    #[serde(rename = "redirect")]
    Redirect(RedirectRequest),
    /// Says what page sets of the queue manager have had read and written.
    #[serde(rename = "mq pset")]
    Pset(PsetRequest),
}

/// What an operation answers. As JSON it is the answer alone: who asked knows which it is.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// Of [`Operation::Verify`].
    Verify(VerifyReport),
    /// Of [`Operation::Accumulate`].
    Accumulate(Vec<AccumulationStatus>),
    /// Of [`Operation::Convert`] and [`Operation::Rekey`].
    Convert(forms::Converted),
    /// Of [`Operation::DatabaseStatus`].
    DatabaseStatus(database_report::Status),
    /// Of [`Operation::DatabaseVerify`].
    DatabaseVerify(database_report::Verified),
    /// Of [`Operation::Send`].
    Send(moving::Counted),
    /// Of [`Operation::ImageCopy`].
    ImageCopy(image_copy::Copied),
    /// Of [`Operation::Recover`].
    Recover(recover::Recovered),
    /// Of [`Operation::Backout`].
    Backout(backout::BackedOut),
    /// Of [`Operation::BackoutList`].
    BackoutList(Vec<backout::UnitRow>),
    /// Of [`Operation::ReconList`]: a document for people and programs.
    ReconList(Value),
    /// Of [`Operation::ReconChange`].
    ReconChange(recon_report::Changed),
    /// Of [`Operation::Command`].
    Command(transactions::Commanded),
    /// Of [`Operation::Define`].
    Define(transactions::Defined),
    /// Of [`Operation::User`]: whether anything was changed.
    User(bool),
    /// Of [`Operation::Mqsc`].
    Mqsc(mqsc::session::Answer),
    /// Of [`Operation::Idcams`].
    Idcams(clusters::Executed),
    /// Of [`Operation::RecordMap`].
    RecordMap(Vec<record_maps::RecordMap>),
    /// Of [`Operation::Redirect`].
    Redirect(redirections::Redirected),
    /// Of [`Operation::Pset`].
    Pset(pset::Pset),
}

impl Operation {
    /// Does what is asked for in an open system.
    ///
    /// # Errors
    /// What the verb refuses.
    pub fn perform(&self, system: &System, talk: &mut Talk<'_>) -> Result<Answer> {
        Ok(match self {
            Operation::Verify(asked) => Answer::Verify(verify(system, asked, talk)?),
            Operation::Accumulate(asked) => Answer::Accumulate(accumulate(system, asked, talk)?),
            Operation::Convert(asked) => Answer::Convert(convert(system, asked, talk)?),
            Operation::Rekey(asked) => Answer::Convert(rekey(system, asked, talk)?),
            Operation::DatabaseStatus(asked) => {
                let space =
                    |store: &_, database: &_| database_report::space(system, store, database);
                Answer::DatabaseStatus(database_report::status(system, asked, talk, space)?)
            }
            Operation::DatabaseVerify(asked) => {
                let freeze = |sets: &[String], wait| system.freeze_writes(sets, wait);
                Answer::DatabaseVerify(database_report::verify(system, asked, talk, freeze)?)
            }
            Operation::Send(asked) => {
                let freeze = |_, sets: &[String], wait| system.freeze_writes(sets, wait);
                Answer::Send(moving::send(system, asked, talk, freeze)?)
            }
            Operation::ImageCopy(asked) => {
                Answer::ImageCopy(image_copy::image_copy(system, asked, talk)?)
            }
            Operation::Recover(asked) => Answer::Recover(recover::recover(system, asked, talk)?),
            Operation::Backout(asked) => Answer::Backout(backout::backout(system, asked, talk)?),
            Operation::BackoutList(asked) => {
                Answer::BackoutList(backout::list(system, asked, talk)?)
            }
            Operation::ReconList {} => Answer::ReconList(recon_report::list(system)?),
            Operation::ReconChange(asked) => {
                Answer::ReconChange(recon_report::change(system, asked, talk)?)
            }
            Operation::Command(asked) => Answer::Command(transactions::command(system, asked)?),
            Operation::Define(asked) => Answer::Define(transactions::define(system, asked)?),
            Operation::User(asked) => Answer::User(transactions::user(system, asked)?),
            Operation::Mqsc(asked) => Answer::Mqsc(messages::mqsc(system, asked)?),
            Operation::Idcams(asked) => Answer::Idcams(clusters::idcams(system, asked, talk)?),
            Operation::RecordMap(asked) => Answer::RecordMap(record_maps::perform(system, asked)?),
            Operation::Redirect(asked) => {
                Answer::Redirect(redirections::perform(system, asked, talk)?)
            }
            Operation::Pset(_) => Answer::Pset(pset::report(system)?),
        })
    }

    /// What a request asks for that came as JSON.
    ///
    /// # Errors
    /// If its arguments are others than those of its verb.
    pub fn of(request: &Request) -> std::result::Result<Operation, Refusal> {
        let arguments: Value = request.arguments()?;
        let whole = json!({ "verb": request.verb, "arguments": arguments });
        serde_json::from_value(whole)
            .map_err(|error| OperatorError::Arguments { verb: request.verb.clone(), error }.into())
    }

    /// The same as a request, to be asked for over a socket.
    ///
    /// # Errors
    /// If a path in it is no text.
    pub fn request(&self) -> std::result::Result<Request, Refusal> {
        let failed = |error| OperatorError::Result { error };
        let whole = serde_json::to_value(self).map_err(failed)?;
        Ok(serde_json::from_value(whole).map_err(failed)?)
    }
}

/// A verb of [`Operation`] by its name: what is asked is decoded here, and what is answered is
/// encoded here.
const fn verb(name: &'static str) -> Verb {
    Verb { name, run: |on, asked, talk| done(&Operation::of(asked)?.perform(on, talk)?) }
}

/// The verbs.
const VERBS: &[Verb] = &[
    verb("verify"),
    verb("archive accumulate"),
    verb("convert"),
    verb("rekey"),
    verb("db status"),
    verb("db verify"),
    verb("db send"),
    verb("image-copy"),
    verb("recover"),
    verb("backout"),
    verb("backout list"),
    verb("recon list"),
    verb("recon change"),
    verb("cmd"),
    verb("define"),
    verb("user"),
    verb("mqsc"),
    verb("idcams"),
    verb("recmap"),
    verb("redirect"),
    verb("mq pset"),
];

/// The verbs that work on databases alone, in a system on an engine.
const ENGINE_VERBS: &[EngineVerb] = &[
    EngineVerb { name: "db status", run: engine_status },
    EngineVerb { name: "db verify", run: engine_verify },
    EngineVerb { name: "db send", run: engine_send },
];

fn engine_status(
    system: &EngineSystem,
    asked: &Request,
    talk: &mut Talk<'_>,
) -> std::result::Result<Value, Refusal> {
    let asked = asked.arguments()?;
    done(&database_report::status(system, &asked, talk, database_report::space_on_engine)?)
}

/// What is compared stays as it is: no program is at work on the databases, in no system.
fn engine_verify(
    system: &EngineSystem,
    asked: &Request,
    talk: &mut Talk<'_>,
) -> std::result::Result<Value, Refusal> {
    let asked = asked.arguments()?;
    done(&database_report::verify(system, &asked, talk, |_, wait| system.alone(wait))?)
}

/// Programs that read the database go on, in all systems.
fn engine_send(
    system: &EngineSystem,
    asked: &Request,
    talk: &mut Talk<'_>,
) -> std::result::Result<Value, Refusal> {
    let asked = asked.arguments()?;
    let freeze = |name: DbdName, _: &[String], wait| {
        let mut beside = system.beside()?;
        beside.freeze(name.text(), wait)?;
        Ok(beside)
    };
    done(&moving::send(system, &asked, talk, freeze)?)
}

/// How a system is opened with all verbs; `notice` hears what is to be known of their work.
#[must_use]
pub fn options(notice: fn(&str)) -> OpenOptions {
    OpenOptions { verbs: VERBS, notice, ..OpenOptions::default() }
}

/// How a system is opened with all verbs, whichever it is.
#[must_use]
pub fn any_options(notice: fn(&str)) -> AnyOptions {
    AnyOptions { options: options(notice), engine_verbs: ENGINE_VERBS }
}

/// An answer that came as JSON, as the caller wants it.
///
/// # Errors
/// If it is something else.
pub fn answer_of<A: DeserializeOwned>(dir: &Path, answer: Value) -> Result<A> {
    serde_json::from_value(answer).map_err(|error| {
        let (dir, why) = (dir.to_owned(), format!("its answer is not understood: {error}"));
        SystemError::NoAnswer { dir, why }.into()
    })
}

/// Seals data sets, or makes them plain.
///
/// # Errors
/// As [`forms::convert`]; databases that there are not.
pub fn convert(
    system: &System,
    asked: &Conversion,
    talk: &mut Talk<'_>,
) -> Result<forms::Converted> {
    Ok(forms::convert(system, &expanded(system, asked)?, talk)?)
}

/// Gives data sets, or the log, new keys.
///
/// # Errors
/// As [`forms::rekey`]; databases that there are not.
pub fn rekey(system: &System, asked: &Conversion, talk: &mut Talk<'_>) -> Result<forms::Converted> {
    Ok(forms::rekey(system, &expanded(system, asked)?, talk)?)
}

/// Proves an open system, with what its settings say of databases.
///
/// # Errors
/// As [`System::verify`]; databases that there are not.
pub fn verify(system: &System, asked: &VerifyRequest, talk: &mut Talk<'_>) -> Result<VerifyReport> {
    let mut asked = asked.clone();
    expand(system, &mut asked.sets, &mut asked.databases)?;
    let mut report = system.verify(&asked, talk)?;
    let hopeless =
        |finding: &&mut Finding| finding.repair.is_empty() && finding.object.starts_with(DATA_SET);
    for finding in report.findings.iter_mut().filter(hopeless) {
        build_instead(system, finding);
    }
    if asked.sets.is_empty() {
        report.findings.extend(settings_that_differ(system));
    }
    Ok(report)
}

/// Partitions, and whatever else of the configuration says where roots go, that are not those the
/// data was stored with: it proves itself, and programs do not find it.
#[must_use]
pub fn settings_that_differ(system: &System) -> Vec<Finding> {
    let Ok(databases) = Databases::of(system) else { return Vec::new() };
    let finding = |error: HierarchyError| Finding {
        object: "configuration".into(),
        file: Some(system.dir().join("holdfast.toml")),
        offset: None,
        interval: None,
        what: error.with_code(),
        remedy: error.remedy(),
        repair: Vec::new(),
    };
    databases.misfits().into_iter().map(finding).collect()
}

/// How a finding names a data set.
const DATA_SET: &str = "data set ";

/// An index can be built from its database where there is no image copy of it.
fn build_instead(system: &System, finding: &mut Finding) {
    let Ok(databases) = Databases::of(system) else { return };
    let name = &finding.object[DATA_SET.len()..];
    if let Some((database, index)) = databases.index_of(name) {
        let words = [database.text(), index.text()];
        finding.repair = vec![Repair::of("index build", system.dir(), &words)];
        finding.remedy = format!("Stop the system, and build index {index} of {database} anew.");
    }
}

/// What is asked for, with the data sets of the databases.
fn expanded(system: &System, asked: &Conversion) -> Result<Conversion> {
    let mut asked = asked.clone();
    expand(system, &mut asked.sets, &mut asked.databases)?;
    Ok(asked)
}

/// Merges archived changes.
///
/// # Errors
/// As [`operator::accumulate`]; databases that there are not.
pub fn accumulate(
    system: &System,
    asked: &Merge,
    talk: &mut Talk<'_>,
) -> Result<Vec<AccumulationStatus>> {
    let mut asked = asked.clone();
    expand(system, &mut asked.sets, &mut asked.databases)?;
    Ok(operator::accumulate(system, &asked, talk)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_a_request_of_a_verb_that_there_is() {
        let which = crate::Selection { all: true, ..crate::Selection::default() };
        let request = CopyRequest {
            which,
            folders: vec!["/copies".into()],
            pipe: None,
            incremental: false,
            rate: 7,
        };
        let database = DatabaseRequest { database: "BANK".into(), wait_seconds: 3 };
        for operation in [
            Operation::ImageCopy(request),
            Operation::DatabaseVerify(database),
            Operation::ReconList {},
        ] {
            let request = operation.request().expect("it is text");
            assert!(VERBS.iter().any(|verb| verb.name == request.verb), "{request:?}");
            let again = Operation::of(&request).expect("it is what was asked");
            assert_eq!(format!("{again:?}"), format!("{operation:?}"));
        }
    }

    #[test]
    fn each_verb_is_that_of_an_operation_and_says_what_it_is_not_given() {
        for verb in VERBS {
            let wrong = Request { verb: verb.name.into(), arguments: json!([1]) };
            let refusal = Operation::of(&wrong).expect_err("these are no arguments");
            assert_eq!(refusal.code, "HFY022", "{refusal:?}");
            assert!(!refusal.message.contains("unknown variant"), "{refusal:?}");
        }
    }
}
