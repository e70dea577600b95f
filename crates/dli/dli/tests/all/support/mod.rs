//! An engine over a store in memory as a subject of the model's cases.

#![allow(clippy::unwrap_used)] // in tests an unwrap is an assertion

use std::collections::BTreeMap;
use std::sync::Arc;

use definitions::DbdName;
use definitions::resolve::{Definitions, ResolvedKind};
use definitions::{Dbd, Function, MemberName, Psb, PsbName};
use dli_model::{Feedback, Setup, Subject};
use hierarchy::load::{Given, Input, InputError, Others};
use hierarchy::{Database, Deleted, Stored, TypeAt};
use holdfast_dli::{Session, SessionOptions};
use placement::{Placement, Settings};
use store::{Read, Store, Unit, UnitOptions};
use store_suite::model::ModelStore;

/// The DBDs of a setup.
struct Members(Vec<Arc<Dbd>>);

impl Definitions for Members {
    fn dbd(&self, name: DbdName) -> Option<Arc<Dbd>> {
        self.0.iter().find(|dbd| dbd.name == name).cloned()
    }

    fn psb(&self, _name: PsbName) -> Option<Arc<Psb>> {
        None
    }

    fn referring(&self, _dbd: DbdName) -> Vec<MemberName> {
        Vec::new()
    }
}

/// Where roots go without any settings.
pub(crate) fn placement(dbd: &Dbd) -> hierarchy::Result<Placement> {
    placement_by(dbd, &Settings::default())
}

fn placement_by(dbd: &Dbd, settings: &Settings) -> hierarchy::Result<Placement> {
    let mut none = |_: &str| Err(std::io::Error::other("no files here"));
    let placement = Placement::new(dbd, settings, &mut none);
    placement.map_err(|error| Arc::new(error).into())
}

/// An engine.
pub(crate) struct Engine {
    session: Session<ModelStore>,
    store: ModelStore,
    databases: BTreeMap<DbdName, Arc<Database>>,
    /// The numbers of the database PCBs.
    numbers: Vec<usize>,
}

/// The engine for a setup, with empty databases.
pub(crate) fn subject(setup: &Setup) -> Engine {
    subject_by(setup, &Settings::default())
}

/// The same with settings.
pub(crate) fn subject_by(setup: &Setup, settings: &Settings) -> Engine {
    let store = ModelStore::new();
    let members = Members(setup.dbds.clone());
    let mut open: BTreeMap<DbdName, Arc<Database>> = BTreeMap::new();
    let mut opener = |name: DbdName| {
        if let Some(database) = open.get(&name) {
            return Ok(Arc::clone(database));
        }
        let mut by = |dbd: &Dbd| placement_by(dbd, settings);
        let database = Database::open(&store, name, &members, &mut by)?;
        let database = Arc::new(database);
        open.insert(name, Arc::clone(&database));
        Ok(database)
    };
    let options = SessionOptions { online: setup.online, ..SessionOptions::default() };
    let session = Session::open(&store, &setup.psb, &members, &mut opener, options).unwrap();
    let pcbs = setup.psb.pcbs.iter().enumerate();
    let numbers = pcbs
        .filter(|(_, pcb)| matches!(pcb.kind, ResolvedKind::Database(_)))
        .map(|(number, _)| number)
        .collect();
    Engine { session, store, databases: open, numbers }
}

impl Engine {
    /// What is wrong with the databases, segments, indexes and relations against each other.
    pub(crate) fn verify(&mut self) -> Vec<String> {
        self.session.commit().unwrap();
        let databases = &self.databases;
        let mut others = |name: DbdName| Ok(Arc::clone(&databases[&name]));
        let mut found = Vec::new();
        for database in databases.values() {
            let report = database.verify(&self.store, &mut others, |_| ()).unwrap();
            found.extend(report.findings.iter().map(|finding| format!("{finding:?}")));
            found.extend(self.leftovers(database));
        }
        found
    }

    /// What differs after all databases were unloaded, emptied and loaded again.
    pub(crate) fn reload(&mut self) -> Vec<String> {
        self.session.commit().unwrap();
        let databases = &self.databases;
        let mut others = |name: DbdName| Ok(Arc::clone(&databases[&name]));
        let mut order: Vec<&Arc<Database>> = databases.values().collect();
        // Logical parents come before their children.
        order.sort_by_key(|database| database.as_child.len());
        let before: Vec<Unloaded> =
            order.iter().map(|database| unloaded(database, &self.store, &mut others)).collect();
        order.iter().for_each(|database| database.empty(&self.store).unwrap());
        for (database, segments) in order.iter().zip(&before) {
            let mut input = Segments(segments.iter());
            if let Err(error) = database.load(&self.store, &mut others, &mut input) {
                return vec![format!("{} cannot be loaded again: {error}", database.name())];
            }
        }
        let after = order.iter().map(|database| unloaded(database, &self.store, &mut others));
        let differs = |(was, is): (&Unloaded, Unloaded)| {
            (*was != is).then(|| format!("unloaded {was:?}\nloaded   {is:?}"))
        };
        before.iter().zip(after).filter_map(differs).collect()
    }

    /// Deleted segments that stay in the store though nothing leads to them or hangs on them.
    fn leftovers(&self, database: &Database) -> Vec<String> {
        let mut unit = self.store.begin(UnitOptions::READ_ONLY).unwrap();
        let mut parents = Vec::new();
        for relation in &database.as_parent {
            let mut cursor = self.store.cursor(relation.set).unwrap();
            while let Some(entry) = unit.next(&mut cursor, Read::Unlocked).unwrap() {
                parents.push(entry.key.to_vec());
            }
        }
        let (mut all, mut found) = (Vec::new(), Vec::new());
        let walked = database.walk(&self.store, |seen| {
            let stored = Stored::read(database.schema.of(seen.of), seen.value);
            let stored = stored.map_err(|what| database.damaged(what))?;
            let is_child = database.schema.of(seen.of).is_logical_child;
            let lives = !stored.is_deleted || (is_child && !stored.is_deleted_logically);
            all.push((seen.path.to_vec(), lives));
            Ok(())
        });
        walked.unwrap();
        for (at, (path, lives)) in all.iter().enumerate() {
            let has_dependents = all.get(at + 1).is_some_and(|(next, _)| next.starts_with(path));
            let has_children = parents.iter().any(|parent| parent.starts_with(path));
            if !lives && !has_dependents && !has_children {
                found.push(format!("{} {path:?} is left over", database.name()));
            }
        }
        found
    }
}

/// The segments of a database as a file has them.
type Unloaded = Vec<(TypeAt, Deleted, Vec<u8>)>;

fn unloaded(database: &Database, store: &ModelStore, others: Others<'_>) -> Unloaded {
    let mut all = Vec::new();
    let give = |of: TypeAt, deleted: Deleted, data: &[u8]| {
        all.push((of, deleted, data.to_vec()));
        Ok(())
    };
    database.unload(store, others, give).unwrap();
    all
}

struct Segments<'s>(std::slice::Iter<'s, (TypeAt, Deleted, Vec<u8>)>);

impl Input for Segments<'_> {
    fn next_segment(&mut self) -> Result<Option<Given<'_>>, InputError> {
        let next = self.0.next();
        Ok(next.map(|(of, deleted, data)| Given { of: *of, data, deleted: *deleted }))
    }
}

impl Subject for Engine {
    fn call(&mut self, pcb: usize, function: &str, area: &[u8], ssas: &[Vec<u8>]) -> Feedback {
        let number = self.numbers[pcb];
        let mut name = [b' '; 4];
        for (place, byte) in name.iter_mut().zip(function.bytes()) {
            *place = byte;
        }
        let ssas: Vec<&[u8]> = ssas.iter().map(Vec::as_slice).collect();
        let mut given = area.to_vec();
        let gets = function.starts_with('G');
        if gets {
            given = vec![0; self.session.area_max(number)];
        }
        let reply = self.session.call(number, Function::of(name), Some(&mut given), &ssas).unwrap();
        let mask = self.session.mask(number).unwrap();
        Feedback {
            status: reply.status.0,
            level: mask.level,
            segment: mask.segment,
            key: mask.key().to_vec(),
            area: (gets && reply.filled > 0).then(|| given[..reply.filled].to_vec()),
        }
    }

    fn checkpoint(&mut self) {
        self.session.commit().unwrap();
    }

    fn rollback(&mut self) {
        self.session.backout().unwrap();
    }
}
