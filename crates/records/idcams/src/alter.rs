//! ALTER: changes what an entry says, and its name.
//!
//! Invariants:
//! 1. What is given is changed or refused; nothing is changed if a part of it is refused.
//! 2. A new name comes last: what fails before it leaves the old one.

use store::Store;
use vsam::{DataSetName, Definition, Entry, Remarks};

use crate::define::{Parts, attributes, check_remarks, index_attributes, tell_rolled_off};
use crate::fault::Fault;
use crate::names::{catalog_of, entry_in, name_of, resolved};
use crate::refusal::Refusal;
use crate::session::{Done, Session};
use crate::syntax::{Command, Parameters, Value};

pub(crate) fn run<S: Store>(session: &mut Session<'_, S>, command: &Command) -> Done {
    let parameters = &command.parameters;
    let Some(value) = parameters.positional.first() else {
        return Err(Refusal::severe("IDC3213I", "ALTER needs the name of an entry"));
    };
    for name in ["INHIBIT", "UNINHIBIT"] {
        if let Some(given) = parameters.get(name) {
            let text = format!("{name} is not possible: share options and modes of OPEN do that");
            return Err(Fault::new("IDC3211I", given.place, text).into());
        }
    }
    if value.name().contains(['*', '%']) {
        return all(session, parameters, value);
    }
    let name = resolved(&session.catalog, value)?;
    let entry = entry_in(&session.catalog, catalog_of(parameters)?.as_ref(), &name)?;
    let to = parameters.value("NEWNAME").map(name_of).transpose()?;
    one(session, parameters, &entry, to.as_ref())
}

/// New names for all entries of a level: `ALTER A.* NEWNAME(B.*)`.
fn all<S: Store>(session: &mut Session<'_, S>, parameters: &Parameters, mask: &Value) -> Done {
    let wrong = || {
        let text = "with a mask, both names end in .*: ALTER A.B.* NEWNAME(C.D.*)";
        Refusal::from(Fault::new("IDC3203I", mask.place, text))
    };
    let new = parameters.value("NEWNAME").map(Value::name).ok_or_else(wrong)?;
    let old = mask.name();
    let (Some(from), Some(to)) = (old.strip_suffix(".*"), new.strip_suffix(".*")) else {
        return Err(wrong());
    };
    let (from, to) = (DataSetName::parse(from)?, DataSetName::parse(to)?);
    let filter = crate::names::filter_of(mask)?;
    let entries = session.catalog.list(&filter, catalog_of(parameters)?.as_ref())?;
    if entries.is_empty() {
        return Err(Refusal::severe("IDC3012I", format!("ENTRY {old} NOT FOUND")));
    }
    let mut worst = 0;
    for entry in entries {
        let Some(name) = entry.name.renamed(&from, &to) else {
            let text = format!("{} becomes too long", entry.name);
            worst = worst.max(session.refuse(&Refusal::severe("IDC3203I", text)));
            continue;
        };
        let done = one(session, parameters, &entry, Some(&name));
        worst = worst.max(done.unwrap_or_else(|refusal| session.refuse(&refusal)));
    }
    Ok(worst)
}

fn one<S: Store>(
    session: &mut Session<'_, S>,
    parameters: &Parameters,
    entry: &Entry,
    to: Option<&DataSetName>,
) -> Done {
    if let Definition::Component(of) = &entry.definition {
        let text = format!("{} is a component: name {of}, which it belongs to", entry.name);
        return Err(Refusal::severe("IDC3019I", text));
    }
    let mut changed = entry.definition.clone();
    check_remarks(parameters)?;
    change(session, parameters, &mut changed, &entry.name)?;
    let to = to.filter(|to| **to != entry.name);
    // A name that cannot be given is known before anything is changed.
    if let Some(to) = to.filter(|to| !entry.components().contains(to))
        && session.catalog.is_taken(to)?
    {
        let text = format!("DUPLICATE DATA SET NAME: {to}; nothing was changed");
        return Err(Refusal::severe("IDC3013I", text));
    }
    let mut worst = 0;
    let said = format!("ENTRY {} ALTERED", entry.name);
    let is_changed = changed != entry.definition;
    if is_changed {
        let catalog = &session.catalog;
        let altered =
            catalog.alter(&entry.name, &mut |definition| *definition = changed.clone())?;
        worst = tell_rolled_off(session, &altered);
        session.say("IDC0531I", said.clone());
    }
    if let Some(to) = to {
        session.catalog.rename(&entry.name, to)?;
    }
    if !is_changed {
        session.say("IDC0531I", said);
    }
    if let Some(to) = to {
        session.say("IDC0531I", format!("ENTRY {} HAS THE NAME {to}", entry.name));
    }
    Ok(worst)
}

/// Changes a definition as the parameters say.
fn change<S: Store>(
    session: &mut Session<'_, S>,
    parameters: &Parameters,
    definition: &mut Definition,
    name: &DataSetName,
) -> Result<(), Refusal> {
    let now_us = session.machine.now_us();
    let parts = Parts::of(parameters);
    let mut taken: Vec<&str> = COMMON.to_vec();
    match definition {
        Definition::Cluster(cluster) => {
            taken.extend(DATA);
            taken.extend(["RECORDMAP", "SPANNED", "NONSPANNED", "SPEED", "RECOVERY", "ERASE"]);
            taken.push("NOERASE");
            attributes(&parts, cluster, now_us)?;
            if let Some(value) = parameters.value("RECORDMAP") {
                cluster.record_map = Some(session.source_of(value)?);
            }
            if let Some(nothing) = parameters.sub("NULLIFY") {
                if nothing.has("RECORDMAP") {
                    cluster.record_map = None;
                }
                nullify(&mut cluster.remarks, nothing);
            }
            volumes(&mut cluster.remarks, parameters);
        }
        Definition::AlternateIndex(index) => {
            taken.extend(DATA);
            taken.extend(["UNIQUEKEY", "NONUNIQUEKEY", "UPGRADE", "NOUPGRADE"]);
            index_attributes(&parts, index, now_us)?;
            if let Some(nothing) = parameters.sub("NULLIFY") {
                nullify(&mut index.remarks, nothing);
            }
            volumes(&mut index.remarks, parameters);
        }
        Definition::Path(path) => {
            taken.extend(["UPDATE", "NOUPDATE"]);
            path.update = !parameters.has("NOUPDATE") && (path.update || parameters.has("UPDATE"));
        }
        Definition::GenerationGroup(group) => {
            taken.extend(["LIMIT", "EMPTY", "NOEMPTY", "SCRATCH", "NOSCRATCH"]);
            if let Some(limit) = parameters.small("LIMIT")? {
                group.limit = u16::try_from(limit).unwrap_or(0);
            }
            group.empty = !parameters.has("NOEMPTY") && (group.empty || parameters.has("EMPTY"));
            group.scratch =
                !parameters.has("NOSCRATCH") && (group.scratch || parameters.has("SCRATCH"));
        }
        Definition::NonVsam(attributes) => volumes(&mut attributes.remarks, parameters),
        _ => {}
    }
    let other = parameters
        .iter()
        .find(|given| REFUSED_ELSEWHERE.contains(&given.name) && !taken.contains(&given.name));
    match other {
        None => Ok(()),
        Some(given) => {
            let text = format!("{} is not possible for {name}", given.name);
            Err(Fault::new("IDC3210I", given.place, text).into())
        }
    }
}

/// What every entry takes.
const COMMON: [&str; 3] = ["NEWNAME", "NULLIFY", "OWNER"];
/// What objects with records take.
const DATA: [&str; 7] =
    ["KEYS", "RECORDSIZE", "CONTROLINTERVALSIZE", "FREESPACE", "SHAREOPTIONS", "REUSE", "NOREUSE"];
/// What is refused where it is not taken.
const REFUSED_ELSEWHERE: [&str; 25] = [
    "KEYS",
    "RECORDSIZE",
    "CONTROLINTERVALSIZE",
    "FREESPACE",
    "SHAREOPTIONS",
    "REUSE",
    "NOREUSE",
    "SPANNED",
    "NONSPANNED",
    "SPEED",
    "RECOVERY",
    "ERASE",
    "NOERASE",
    "UNIQUEKEY",
    "NONUNIQUEKEY",
    "UPGRADE",
    "NOUPGRADE",
    "UPDATE",
    "NOUPDATE",
    "LIMIT",
    "EMPTY",
    "NOEMPTY",
    "RECORDMAP",
    "RELATE",
    "MODEL",
];

fn nullify(remarks: &mut Remarks, nothing: &Parameters) {
    if nothing.has("OWNER") {
        remarks.owner = None;
    }
    if nothing.has("RETENTION") {
        remarks.expires = None;
    }
}

fn volumes(remarks: &mut Remarks, parameters: &Parameters) {
    let gone: Vec<String> = parameters.values("REMOVEVOLUMES").iter().map(Value::name).collect();
    remarks.volumes.retain(|volume| !gone.contains(volume));
    for volume in parameters.values("ADDVOLUMES").iter().map(Value::name) {
        if !remarks.volumes.contains(&volume) {
            remarks.volumes.push(volume);
        }
    }
}
