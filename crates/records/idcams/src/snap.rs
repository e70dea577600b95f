//! SNAP: copies of many clusters within a system, under other names, all of one moment.
//!
//! `SNAP SOURCE(A.** B) SYNONYM((A SNAP.A) (B SNAP.B))`: each cluster with its alternate indexes
//! and paths. REPLACE: copies that are there are deleted before the new ones are made.
//!
//! Invariants:
//! 1. All new names, of indexes, paths and components, too, are known to be free or to leave before
//!    anything is deleted or copied, and nobody has open what leaves.
//! 2. All copies are there, or none; `vsam` sees to that.

use std::collections::BTreeSet;

use store::Store;
use vsam::{Claimed, DataSetName, DeleteOptions, Entry, Kind, Synonyms};

use crate::backup::clusters_of;
use crate::import::Names;
use crate::refusal::Refusal;
use crate::session::{Done, Session};
use crate::syntax::Command;

pub(crate) fn run<S: Store>(session: &mut Session<'_, S>, command: &Command) -> Done {
    let parameters = &command.parameters;
    let sources = clusters_of(session, parameters.values("SOURCE"), parameters)?;
    let names = Names::of(parameters)?;
    let mut replaced: Vec<Claimed<S>> = Vec::new();
    for entry in &sources {
        let Some(new) = names.new_name(&entry.name) else {
            let text = format!("{} has no new name: SYNONYM has no such level", entry.name);
            return Err(Refusal::severe("IDC3203I", text));
        };
        let Some(there) = session.catalog.get(&new)? else { continue };
        let is_source = sources.iter().any(|source| source.name == new);
        if !parameters.has("REPLACE") || there.kind() != Kind::Cluster || is_source {
            return Err(Refusal::severe("IDC3013I", format!("DUPLICATE DATA SET NAME: {new}")));
        }
        let purge = DeleteOptions { purge: true, ..DeleteOptions::default() };
        replaced.push(session.catalog.claim(&new, purge)?);
    }
    let clusters: Vec<DataSetName> = sources.into_iter().map(|entry| entry.name).collect();
    let synonyms = Synonyms(names.levels());
    let leaving = replaced.iter().flat_map(Claimed::entries).flat_map(Entry::names);
    let leaving: BTreeSet<DataSetName> = leaving.collect();
    let mut new = BTreeSet::new();
    for name in session.catalog.snap_names(&clusters, &synonyms)? {
        let is_free = leaving.contains(&name) || !session.catalog.is_taken(&name)?;
        if !is_free || !new.insert(name.clone()) {
            let text = format!("DUPLICATE DATA SET NAME: {name}; nothing was replaced or copied");
            return Err(Refusal::severe("IDC3013I", text));
        }
    }
    for claimed in replaced {
        claimed.delete()?;
    }
    let mut count = 0;
    for copy in session.catalog.snap(&clusters, &synonyms, None)? {
        let (from, to, records) = (&copy.from, &copy.to, copy.records);
        session.say("IDC0005I", format!("{from} COPIED TO {to}: {records} RECORDS"));
        if copy.kind == Kind::Cluster {
            count += records;
        }
    }
    session.say("IDC0005I", format!("NUMBER OF RECORDS PROCESSED WAS {count}"));
    Ok(0)
}
