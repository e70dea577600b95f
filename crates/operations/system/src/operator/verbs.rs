//! The verbs of a system.

use serde_json::Value;

use super::{OperatorError, Refusal, Request, Talk, Verb};
use super::{archive, done, forms, keys, logs, pools, stripes};
use crate::verify::repair::{give_up, repair};
use crate::{System, SystemStatus};

/// What every system does.
const VERBS: &[Verb] = &[
    Verb { name: "status", run: status },
    Verb { name: "verify", run: verify },
    Verb { name: "repair", run: repair },
    Verb { name: "repair give-up", run: give_up },
    Verb { name: "pool list", run: pools::list },
    Verb { name: "archive now", run: archive::now },
    Verb { name: "archive list", run: archive::list },
    Verb { name: "archive verify", run: archive::verify },
    Verb { name: "archive begin", run: archive::begin },
    Verb { name: "archive delete", run: archive::delete },
    Verb { name: "log resync", run: logs::resync },
    Verb { name: "log stripes", run: stripes::change },
    Verb { name: "rekey status", run: forms::status },
    Verb { name: "rekey pause", run: forms::pause },
    Verb { name: "rekey resume", run: forms::resume },
    Verb { name: "keys delete", run: keys::delete },
    Verb { name: "pool resize", run: pools::resize },
    Verb { name: "pool add", run: pools::add },
    Verb { name: "pool delete", run: pools::delete },
    Verb { name: "pool assign", run: pools::assign },
];

/// What needs no proof: it only looks, makes one more copy of what there is, or repairs. Everything
/// else changes how or what the system keeps, or names keys of records, as the verification of a
/// database does, and is for whoever knows the passphrase.
const FREE: &[&str] = &[
    "status",
    "verify",
    "repair",
    "pool list",
    "archive now",
    "archive list",
    "archive verify",
    "archive accumulate",
    "log resync",
    "rekey status",
    "rekey resume",
    "db status",
    "image-copy",
    "backout list",
    "recon list",
    #[cfg(test)]
    "number",
    #[cfg(test)]
    "panic",
    #[cfg(test)]
    "work",
];

/// Whether a verb, with its arguments, is only for whoever proves that he knows the keys: one that
/// moves something to a folder that he names is, whatever it does otherwise.
pub(crate) fn needs_proof(name: &str, arguments: &Value) -> bool {
    let moves = name == "log resync" && arguments.get("folder").is_some_and(|at| !at.is_null());
    moves || !FREE.contains(&name)
}

/// The verb of that name, among those of layers above, which come first, and of every system.
pub(super) fn find(name: &str, more: &[Verb]) -> Result<Verb, Refusal> {
    let mut all = more.iter().chain(VERBS);
    all.clone().find(|verb| verb.name == name).copied().ok_or_else(|| {
        let first = all.next().map_or("", |verb| verb.name).to_owned();
        let known = all.fold(first, |known, verb| known + ", " + verb.name);
        OperatorError::UnknownVerb { verb: name.to_owned(), known }.into()
    })
}

/// Whether systems with a kernel know a verb, apart from those that whoever opens them adds.
pub(crate) fn is_verb(name: &str) -> bool {
    VERBS.iter().any(|verb| verb.name == name) || OF_LAYERS_ABOVE.contains(&name)
}

/// Verbs of layers above that take a kernel.
const OF_LAYERS_ABOVE: &[&str] = &[
    "archive accumulate",
    "convert",
    "rekey",
    "image-copy",
    "recover",
    "backout",
    "backout list",
    "recon list",
    "recon change",
];

fn status(system: &System, _: &Request, _: &mut Talk<'_>) -> Result<Value, Refusal> {
    done(&SystemStatus::Running(Box::new(system.status())))
}

/// Proves the system while it is in use.
fn verify(system: &System, request: &Request, talk: &mut Talk<'_>) -> Result<Value, Refusal> {
    done(&system.verify(&request.arguments()?, talk)?)
}
