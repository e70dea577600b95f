//! BLDINDEX and VERIFY.
//!
//! Invariants:
//! 1. An index is built whole or stays as it was, unbuilt.

use store::Store;
use vsam::{Definition, Entry};

use crate::locate::Located;
use crate::names::{catalog_of, entry_in, resolved};
use crate::refusal::{ERROR, Refusal, SEVERE};
use crate::session::{Done, Session};
use crate::syntax::{Command, Value};

pub(crate) fn run<S: Store>(session: &mut Session<'_, S>, command: &Command) -> Done {
    let parameters = &command.parameters;
    let base = session.locate(parameters, "INFILE", "INDATASET")?;
    let outputs: Vec<Value> = ["OUTFILE", "OUTDATASET"]
        .iter()
        .flat_map(|name| parameters.values(name).to_vec())
        .collect();
    let (mut built, mut worst) = (0, 0);
    for value in &outputs {
        let by_dd = parameters.has("OUTFILE");
        match one(session, &base, value, by_dd) {
            Ok(()) => built += 1,
            Err(refusal) => worst = worst.max(session.refuse(&refusal)),
        }
    }
    // Of several indexes the others are built.
    Ok(if built > 0 && worst == SEVERE { ERROR } else { worst })
}

fn one<S: Store>(
    session: &mut Session<'_, S>,
    base: &Located,
    value: &Value,
    by_dd: bool,
) -> Result<(), Refusal> {
    let located = if by_dd { session.dd(value, None)? } else { session.data_set(value)? };
    let index = index_of(session, &located)?;
    let own = index.alternate_index().map(|index| index.base.clone());
    let given = match base {
        Located::Entry(entry) => match &entry.definition {
            Definition::Path(path) => Some(path.entry.clone()),
            _ => Some(entry.name.clone()),
        },
        Located::File { .. } => None,
    };
    if own != given {
        let (name, base) = (&index.name, base.name());
        let text = format!("{name} is no alternate index of {base}");
        return Err(Refusal::severe("IDC3210I", text));
    }
    let entries = session.catalog.build_index(&index.name)?;
    session.say("IDC0652I", format!("{} SUCCESSFULLY BUILT", index.name));
    session.say("IDC0005I", format!("NUMBER OF RECORDS PROCESSED WAS {entries}"));
    Ok(())
}

/// The alternate index that was named, or that a path goes through.
fn index_of<S: Store>(session: &Session<'_, S>, located: &Located) -> Result<Entry, Refusal> {
    let entry = match located {
        Located::Entry(entry) => match &entry.definition {
            Definition::Path(path) => entry_in(&session.catalog, None, &path.entry)?,
            _ => Entry::clone(entry),
        },
        Located::File { .. } => {
            let text = format!("{} is no alternate index", located.name());
            return Err(Refusal::severe("IDC3019I", text));
        }
    };
    match entry.alternate_index() {
        Some(_) => Ok(entry),
        None => {
            let text = format!("{} is no alternate index", entry.name);
            Err(Refusal::severe("IDC3019I", text))
        }
    }
}

pub(crate) fn verify<S: Store>(session: &mut Session<'_, S>, command: &Command) -> Done {
    let parameters = &command.parameters;
    let entry = match parameters.value("FILE") {
        Some(dd) => match session.dd(dd, None)? {
            Located::Entry(entry) => *entry,
            located => {
                let text = format!("{} is no cluster", located.name());
                return Err(Refusal::severe("IDC3019I", text));
            }
        },
        None => {
            let Some(value) = parameters.value("DATASET") else {
                return Err(Refusal::severe("IDC3213I", "VERIFY needs FILE or DATASET"));
            };
            let name = resolved(&session.catalog, value)?;
            entry_in(&session.catalog, catalog_of(parameters)?.as_ref(), &name)?
        }
    };
    let entry = match &entry.definition {
        Definition::Component(of) => entry_in(&session.catalog, None, of)?,
        _ => entry,
    };
    let statistics = session.catalog.verify(&entry.name)?;
    session.say("IDC0005I", format!("NUMBER OF RECORDS PROCESSED WAS {}", statistics.records));
    Ok(0)
}
