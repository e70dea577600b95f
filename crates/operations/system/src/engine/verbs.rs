//! What a system on an engine does for operators.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Read, Store as _, StoreError, Unit as _, UnitOptions};

use super::EngineSystem;
use crate::operator::{OperatorError, Refusal, Request, Talk, done, is_verb};
use crate::{SystemError, VerifyRequest};

/// What a verb is: works on an open system and gives its result.
pub type EngineRun = fn(&EngineSystem, &Request, &mut Talk<'_>) -> Result<Value, Refusal>;

/// A verb by its name.
#[derive(Clone, Copy, Debug)]
pub struct EngineVerb {
    /// Its name in requests.
    pub name: &'static str,
    /// What it does.
    pub run: EngineRun,
}

const VERBS: &[EngineVerb] =
    &[EngineVerb { name: "status", run: status }, EngineVerb { name: "verify", run: verify }];

/// The verb of that name. One that only a system with a kernel has is told as that.
pub(crate) fn find(system: &EngineSystem, name: &str) -> Result<EngineVerb, Refusal> {
    let all = system.inner.verbs.iter().chain(VERBS);
    if let Some(verb) = all.clone().find(|verb| verb.name == name) {
        return Ok(*verb);
    }
    if is_verb(name) {
        return Err(SystemError::OnEngine { dir: system.dir().to_owned() }.into());
    }
    let known: Vec<&str> = all.map(|verb| verb.name).collect();
    let (verb, known) = (name.to_owned(), known.join(", "));
    Err(OperatorError::UnknownVerb { verb, known }.into())
}

fn status(system: &EngineSystem, _: &Request, _: &mut Talk<'_>) -> Result<Value, Refusal> {
    done(&system.status(true)?)
}

/// What a verification of a system on an engine found.
#[derive(Debug, Serialize, Deserialize)]
pub struct EngineVerified {
    /// Its identity.
    pub system: String,
    /// Each data set.
    pub data_sets: Vec<VerifiedSet>,
    /// What does not open, a sentence each.
    pub findings: Vec<String>,
}

/// A data set that was read from end to end.
#[derive(Debug, Serialize, Deserialize)]
pub struct VerifiedSet {
    /// Its name.
    pub name: String,
    /// How many entries opened.
    pub entries: u64,
}

/// Reads every entry: each proves that it was sealed by this system for this place.
fn verify(system: &EngineSystem, asked: &Request, talk: &mut Talk<'_>) -> Result<Value, Refusal> {
    let asked: VerifyRequest = asked.arguments()?;
    let store = system.store();
    let sets = store.sets().map_err(SystemError::from)?;
    let is_meant = |name: &String| asked.sets.is_empty() || asked.sets.contains(name);
    let (mut data_sets, mut findings) = (Vec::new(), Vec::new());
    for set in sets.into_iter().filter(|set| is_meant(&set.name)) {
        let mut entries = 0;
        let mut read = || -> Result<(), Refusal> {
            let failed = |error: StoreError| Refusal::from(SystemError::from(error));
            let mut cursor = store.cursor(set.id).map_err(failed)?;
            let mut unit = store.begin(UnitOptions::READ_ONLY).map_err(failed)?;
            loop {
                match unit.next(&mut cursor, Read::Unlocked) {
                    Ok(Some(_)) => entries += 1,
                    Ok(None) => return Ok(()),
                    Err(StoreError::Damaged(damage)) => {
                        findings.push(format!("{}: {}", set.name, StoreError::Damaged(damage)));
                        return Ok(());
                    }
                    Err(StoreError::NoSuchSet(_) | StoreError::Unsupported(_)) => return Ok(()),
                    Err(error) => return Err(failed(error)),
                }
                talk.progress(&set.name, entries, 0, "entries")?;
            }
        };
        read()?;
        data_sets.push(VerifiedSet { name: set.name, entries });
    }
    done(&EngineVerified { system: system.config().system.to_string(), data_sets, findings })
}
