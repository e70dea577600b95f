//! EXPORT DISCONNECT and IMPORT CONNECT: user catalogs.
//!
//! A user catalog lives in its system and cannot be carried away with a volume. CONNECT therefore
//! makes one that is not there yet; DISCONNECT takes one away that has no entries.

use store::Store;
use vsam::{Definition, DeleteOptions, Kind};

use crate::names::{entry_in, name_of};
use crate::refusal::{Refusal, WARNING};
use crate::session::{Done, Session};
use crate::syntax::Command;

pub(crate) fn disconnect<S: Store>(session: &mut Session<'_, S>, command: &Command) -> Done {
    let Some(value) = command.parameters.positional.first() else {
        return Err(Refusal::severe("IDC3213I", "EXPORT DISCONNECT needs the name of a catalog"));
    };
    let name = name_of(value)?;
    let entry = entry_in(&session.catalog, None, &name)?;
    if entry.kind() != Kind::UserCatalog {
        let text = format!("{name} is no user catalog");
        return Err(Refusal::severe("IDC3019I", text));
    }
    session.catalog.delete(&name, DeleteOptions::default())?;
    session.say("IDC0550I", format!("CATALOG {name} DISCONNECTED"));
    Ok(0)
}

pub(crate) fn connect<S: Store>(session: &mut Session<'_, S>, command: &Command) -> Done {
    let Some(objects) = command.parameters.get("OBJECTS") else {
        return Err(Refusal::severe("IDC3213I", "IMPORT CONNECT needs OBJECTS"));
    };
    let mut worst = 0;
    for row in &objects.rows {
        let Some(value) = row.positional.first() else { continue };
        let name = name_of(value)?;
        if session.catalog.get(&name)?.is_some_and(|entry| entry.kind() == Kind::UserCatalog) {
            session.say("IDC0603I", format!("CATALOG {name} IS CONNECTED ALREADY"));
            worst = worst.max(WARNING);
            continue;
        }
        session.catalog.define(&name, Definition::UserCatalog, None)?;
        session.say("IDC0603I", format!("CONNECT FOR USER CATALOG {name} SUCCESSFUL"));
    }
    Ok(worst)
}
