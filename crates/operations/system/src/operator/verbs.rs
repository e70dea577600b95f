//! The verbs of a system.

use serde_json::Value;

use super::operation::SystemOperation;
use super::{OperatorError, Refusal, Verb, done};

/// A verb of [`SystemOperation`] by its name: what is asked is decoded here, and what is answered
/// is encoded here.
const fn verb(name: &'static str) -> Verb {
    Verb { name, run: |on, asked, talk| done(&SystemOperation::of(asked)?.perform(on, talk)?) }
}

/// What every system does.
const VERBS: &[Verb] = &[
    verb("status"),
    verb("verify"),
    verb("repair"),
    verb("repair give-up"),
    verb("pool list"),
    verb("archive now"),
    verb("archive list"),
    verb("archive verify"),
    verb("archive begin"),
    verb("archive delete"),
    verb("log resync"),
    verb("log stripes"),
    verb("rekey status"),
    verb("rekey pause"),
    verb("rekey resume"),
    verb("keys delete"),
    verb("pool resize"),
    verb("pool add"),
    verb("pool delete"),
    verb("pool assign"),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Request, Stripes};
    use super::*;
    use crate::verify::repair::RepairRequest;

    #[test]
    fn each_verb_is_that_of_an_operation_and_says_what_it_is_not_given() {
        for verb in VERBS {
            let wrong = Request { verb: verb.name.into(), arguments: json!(1) };
            let refusal = SystemOperation::of(&wrong).unwrap_err();
            assert_eq!(refusal.code, "HFY022", "{refusal:?}");
            assert!(!refusal.message.contains("unknown variant"), "{refusal:?}");
        }
    }

    #[test]
    fn an_operation_is_a_request_of_a_verb_that_there_is() {
        let stripes = Stripes { stripes: 3, folders: vec!["/a".into()] };
        for operation in [
            SystemOperation::Status {},
            SystemOperation::Repair(RepairRequest::Control),
            SystemOperation::Repair(RepairRequest::Copy { number: 7 }),
            SystemOperation::LogStripes(stripes),
        ] {
            let request = operation.request().unwrap();
            assert!(VERBS.iter().any(|verb| verb.name == request.verb), "{request:?}");
            let again = SystemOperation::of(&request).unwrap();
            assert_eq!(format!("{again:?}"), format!("{operation:?}"));
        }
        let nothing = Request::new("status");
        assert!(matches!(SystemOperation::of(&nothing), Ok(SystemOperation::Status {})));
    }
}
