//! What a system does for operators that takes knowledge of databases: verbs besides those of every
//! system ([`system::operator`]).

use serde_json::Value;
use system::operator::forms::{self, Conversion};
use system::operator::{Refusal, Request, Talk, Verb, done};
use system::{OpenOptions, System};

use crate::databases::Databases;
use crate::failure::{Failure, Result};
use crate::recovery;

/// The verbs.
const VERBS: &[Verb] = &[
    Verb { name: "convert", run: convert },
    Verb { name: "rekey", run: rekey },
    Verb { name: "image-copy", run: recovery::image_copy },
    Verb { name: "recover", run: recovery::recover },
    Verb { name: "recon list", run: recovery::list },
];

/// How the command opens a system: with all verbs.
pub(crate) fn options() -> OpenOptions {
    OpenOptions { verbs: VERBS, ..OpenOptions::default() }
}

type Answer<T> = std::result::Result<T, Refusal>;

fn convert(system: &System, request: &Request, talk: &mut Talk<'_>) -> Answer<Value> {
    done(&forms::convert(system, &wanted(system, request)?, talk)?)
}

fn rekey(system: &System, request: &Request, talk: &mut Talk<'_>) -> Answer<Value> {
    done(&forms::rekey(system, &wanted(system, request)?, talk)?)
}

/// What is asked for, with the data sets of the databases.
fn wanted(system: &System, request: &Request) -> Answer<Conversion> {
    let mut asked: Conversion = request.arguments()?;
    for database in std::mem::take(&mut asked.databases) {
        asked.sets.extend(sets_of(system, &database).map_err(|failure| refusal(&failure))?);
    }
    Ok(asked)
}

/// The data sets of a database and of everything that is kept together with it.
pub(crate) fn sets_of(system: &System, database: &str) -> Result<Vec<String>> {
    let databases = Databases::of(system.kernel().seam(), system)?;
    databases.sets_of(databases.named(database)?)
}

pub(crate) fn refusal(failure: &Failure) -> Refusal {
    let (code, message, advice) = failure.parts();
    Refusal { code: code.to_string(), message, advice }
}
