//! DELETE: entries with what they stand for.
//!
//! | | |
//! |---|---|
//! | a mask: `A.*`, `A.**`, `A%` | every entry that it stands for, of the kind that is named |
//! | no kind | whatever stands under the name |
//! | PURGE | before its retention period is over |
//! | FORCE | catalogs and groups with what is in them |
//! | NOSCRATCH | of a file that is not VSAM's only the entry: the file stays |
//! | SCRATCH | the file goes, too |
//! | IGNORERROR | what is not there is no error |
//! | ERASE | what is sealed cannot be read once it is gone: nothing has to be overwritten |
//!
//! Invariants:
//! 1. Each entry is deleted or not by itself; one that fails has condition code 8, and the others
//!    go on.
//! 2. The file of an entry goes after the entry, so that a failure leaves no entry without a file.

use store::Store;
use vsam::{DataSetName, DeleteOptions, Entry, Kind};

use crate::keywords::KIND_NAMES;
use crate::names::{catalog_of, filter_of, itself_in, resolved};
use crate::refusal::{ERROR, Refusal, WARNING};
use crate::session::{Done, Session};
use crate::syntax::{Command, Parameters, Value};

pub(crate) fn run<S: Store>(session: &mut Session<'_, S>, command: &Command) -> Done {
    let parameters = &command.parameters;
    let kind = kind_of(parameters);
    if parameters.has("SPACE") {
        session.say("IDC0001I", "SPACE NEEDS NO DELETION: data sets give it back by themselves");
        return Ok(0);
    }
    let catalog = catalog_of(parameters)?;
    let options = DeleteOptions { purge: parameters.has("PURGE"), force: parameters.has("FORCE") };
    let how = How { options, scratches: !parameters.has("NOSCRATCH") };
    let ignores = parameters.has("IGNORERROR");
    let mut worst = 0;
    for value in &parameters.positional {
        let entries = match chosen(session, value, kind, catalog.as_ref()) {
            Ok(entries) => entries,
            Err(refusal) if ignores && refusal.is_not_found() => {
                session.refuse(&refusal);
                continue;
            }
            Err(refusal) => {
                worst = worst.max(not_deleted(session, &value.name(), &refusal));
                continue;
            }
        };
        for entry in entries {
            if let Err(refusal) = delete(session, &entry, how) {
                let name = entry.name.to_string();
                let code = not_deleted(session, &name, &refusal);
                worst = worst.max(if ignores { code.min(WARNING) } else { code });
            }
        }
    }
    Ok(worst)
}

/// How entries are deleted.
#[derive(Clone, Copy)]
struct How {
    options: DeleteOptions,
    /// The files of entries go with them.
    scratches: bool,
}

fn not_deleted<S: Store>(session: &mut Session<'_, S>, name: &str, refusal: &Refusal) -> u32 {
    let refusal = refusal.clone().with(ERROR);
    let code = session.refuse(&refusal);
    session.say("IDC0551I", format!("ENTRY {name} NOT DELETED"));
    code
}

/// The kind that was named.
fn kind_of(parameters: &Parameters) -> Option<Kind> {
    let name = KIND_NAMES.iter().find(|name| parameters.has(name))?;
    Some(match *name {
        "ALIAS" => Kind::Alias,
        "ALTERNATEINDEX" => Kind::AlternateIndex,
        "CLUSTER" => Kind::Cluster,
        "GENERATIONDATAGROUP" => Kind::GenerationGroup,
        "NONVSAM" => Kind::NonVsam,
        "PATH" => Kind::Path,
        "USERCATALOG" => Kind::UserCatalog,
        _ => return None,
    })
}

/// The entries that a value stands for.
fn chosen<S: Store>(
    session: &Session<'_, S>,
    value: &Value,
    kind: Option<Kind>,
    catalog: Option<&DataSetName>,
) -> Result<Vec<Entry>, Refusal> {
    let name = value.name();
    let found = if name.contains(['*', '%']) {
        let entries = session.catalog.list(&filter_of(value)?, catalog)?;
        let fits = |entry: &Entry| match kind {
            Some(kind) => entry.kind() == kind,
            // A mask reaches no catalog by accident, and paths and indexes go with clusters.
            None => matches!(entry.kind(), Kind::Cluster | Kind::NonVsam),
        };
        entries.into_iter().filter(fits).collect()
    } else {
        let name = resolved(&session.catalog, value)?;
        // An alias is deleted itself, not what it stands for.
        let entry = itself_in(&session.catalog, catalog, &name)?;
        if let Some(kind) = kind.filter(|kind| *kind != entry.kind()) {
            let text =
                format!("ENTRY {name} NOT FOUND AS {kind}: it is of the kind {}", entry.kind());
            return Err(Refusal::severe("IDC3012I", text));
        }
        vec![entry]
    };
    if found.is_empty() {
        return Err(Refusal::severe("IDC3012I", format!("ENTRY {name} NOT FOUND")));
    }
    Ok(found)
}

fn delete<S: Store>(session: &mut Session<'_, S>, entry: &Entry, how: How) -> Result<(), Refusal> {
    if session.catalog.get_in(entry.catalog.as_ref(), &entry.name)?.is_none() {
        // It went with another entry of the same mask.
        return Ok(());
    }
    let within = session.catalog.within(entry.catalog.as_ref())?;
    let gone = within.delete(&entry.name, how.options)?;
    for entry in &gone {
        tell(session, entry);
        if how.scratches {
            session.scratch(entry)?;
        }
    }
    Ok(())
}

/// Says what is gone.
pub(crate) fn tell<S: Store>(session: &mut Session<'_, S>, entry: &Entry) {
    let letter = match entry.kind() {
        Kind::Cluster => "C",
        Kind::AlternateIndex => "G",
        Kind::Path => "R",
        Kind::NonVsam => "A",
        Kind::GenerationGroup => "B",
        Kind::UserCatalog => "U",
        Kind::Alias => "X",
        Kind::Component => "D",
    };
    let name = &entry.name;
    session.say("IDC0550I", format!("ENTRY ({letter}) {name} DELETED"));
    for (component, letter) in entry.components().into_iter().zip(["D", "I"]) {
        session.say("IDC0550I", format!("ENTRY ({letter}) {component} DELETED"));
    }
}
