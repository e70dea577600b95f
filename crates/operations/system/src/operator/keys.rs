//! Keys of a system that is open: the end of a generation.
//!
//! 1. A generation is deleted only when nothing is known that needs it (K18): no data set, no group
//!    or segment of the log that is on disk, no archive, no image copy.
//! 2. What seals the system's own files is not deleted: they are written anew with each start, but
//!    nobody keeps account of what stands in them.

use base::KeyGeneration;
use seal::Format;
use serde::{Deserialize, Serialize};

use super::Refusal;
use crate::{LABELS, System, SystemError};

/// A generation of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generation {
    /// The label.
    pub label: String,
    /// Its number.
    pub generation: u32,
}

/// Deletes a generation for good.
pub(super) fn delete(system: &System, asked: &Generation) -> Result<Generation, Refusal> {
    let users = users(system, asked)?;
    if !users.is_empty() {
        let Generation { label, generation } = asked.clone();
        return Err(SystemError::KeyInUse { label, generation, users }.into());
    }
    system.keys().delete_generation(&asked.label, KeyGeneration(asked.generation))?;
    Ok(asked.clone())
}

/// What needs a generation, in words.
fn users(system: &System, asked: &Generation) -> Result<Vec<String>, Refusal> {
    let generation = KeyGeneration(asked.generation);
    let mut users = Vec::new();
    for set in system.kernel().all_sets() {
        let definition = set.definition();
        let before = definition.conversion.map(|conversion| conversion.from);
        let forms = [Some(definition.form()), before];
        let uses =
            |form: &seal::Form| form.format == Format::Sealed && form.generation == generation;
        if definition.label == asked.label && forms.iter().flatten().any(uses) {
            users.push(format!("data set {}", set.name()));
        }
    }
    if asked.label == LABELS[0] {
        users.push("the system's own files".into());
    }
    let log = system.kernel().log();
    if asked.label == log.key_label() && log.generations_on_disk()?.contains(&generation) {
        users.push("the log".into());
    }
    let kept = system.recon().state().users_of(&asked.label, generation);
    // What the kernel says of data sets is newer.
    users.extend(kept.into_iter().filter(|by| !by.starts_with("data set ")));
    Ok(users)
}
