//! SNAP: copies of many clusters within a system, under other names.
//!
//! `SNAP SOURCE(A.** B) SYNONYM((A SNAP.A) (B SNAP.B))`: each cluster with its alternate indexes
//! and paths. REPLACE: a copy that is there is deleted before the new one is made.
//!
//! Invariants:
//! 1. All new names are known to be free, or to be replaced, before anything is copied.
//! 2. A copy is there whole or not at all.

use store::Store;
use vsam::{DataSetName, DeleteOptions, Entry, Kind};

use crate::backup::clusters_of;
use crate::define::Wanted;
use crate::export::above;
use crate::import::{Names, stand};
use crate::load::load;
use crate::refusal::{ERROR, Refusal};
use crate::session::{Done, Session};
use crate::source::Source;
use crate::syntax::Command;
use crate::{form::Form, locate::Located};

pub(crate) fn run<S: Store>(session: &mut Session<'_, S>, command: &Command) -> Done {
    let parameters = &command.parameters;
    let sources = clusters_of(session, parameters.values("SOURCE"), parameters)?;
    let names = Names::of(parameters)?;
    let mut pairs: Vec<(Entry, DataSetName)> = Vec::new();
    for entry in sources {
        let Some(new) = names.new_name(&entry.name) else {
            let text = format!("{} has no new name: SYNONYM has no such level", entry.name);
            return Err(Refusal::severe("IDC3203I", text));
        };
        if let Some(there) = session.catalog.get(&new)?
            && !(parameters.has("REPLACE") && there.kind() == Kind::Cluster)
        {
            return Err(Refusal::severe("IDC3013I", format!("DUPLICATE DATA SET NAME: {new}")));
        }
        pairs.push((entry, new));
    }
    let (mut worst, mut count) = (0, 0);
    for (entry, new) in &pairs {
        let records = cluster(session, entry, new, &names)?;
        session.say("IDC0005I", format!("{} COPIED TO {new}: {records} RECORDS", entry.name));
        count += records;
        for over in above(session, entry)? {
            let mut wanted = wanted_of(&over);
            names.apply(&mut wanted);
            if let Err(refusal) = stand(session, wanted) {
                worst = worst.max(session.refuse(&refusal.with(ERROR)));
            }
        }
    }
    session.say("IDC0005I", format!("NUMBER OF RECORDS PROCESSED WAS {count}"));
    Ok(worst)
}

fn wanted_of(entry: &Entry) -> Wanted {
    let Entry { name, definition, .. } = entry.clone();
    Wanted { name, definition, catalog: None }
}

/// Copies the records of a cluster; what it replaces goes first, with indexes that are in the way.
fn cluster<S: Store>(
    session: &mut Session<'_, S>,
    entry: &Entry,
    new: &DataSetName,
    names: &Names,
) -> Result<u64, Refusal> {
    let purge = DeleteOptions { purge: true, ..DeleteOptions::default() };
    if session.catalog.get(new)?.is_some() {
        session.catalog.delete(new, purge)?;
    }
    let mut wanted = wanted_of(entry);
    names.apply(&mut wanted);
    let defined = session.catalog.define(new, wanted.definition, None)?;
    session.note_defined(&defined.entry);
    let located = Located::Entry(Box::new(entry.clone()));
    let mut source = Source::open(session, &located, Form::Lines, 0)?;
    let mut unit = session.catalog.store().begin(store::UnitOptions::READ_ONLY)?;
    let loaded = load(session, new, &mut |record| {
        let feedback = source.next_record(&mut unit, record)?;
        Ok(feedback.map(|feedback| feedback.number))
    });
    let closed = store::Unit::backout(unit).map_err(Refusal::from).and(source.close());
    let done = loaded.and_then(|count| closed.map(|()| count));
    if done.is_err() {
        // A copy in part does not stay; the first error counts.
        let _ = session.catalog.delete(new, purge);
    }
    done
}
