//! An engine over a store in memory as a subject of the model's cases.

use std::collections::BTreeMap;
use std::sync::Arc;

use definitions::DbdName;
use definitions::resolve::{Definitions, ResolvedKind};
use definitions::{Dbd, MemberName, Psb, PsbName};
use dli_model::{Feedback, Setup, Subject};
use hierarchy::Database;
use holdfast_dli::{Session, SessionOptions};
use placement::{Placement, Settings};
use store::model::ModelStore;

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
    let mut none = |_: &str| Err(std::io::Error::other("no files here"));
    let placement = Placement::new(dbd, &Settings::default(), &mut none);
    placement.map_err(|error| Arc::new(error).into())
}

/// An engine.
pub(crate) struct Engine {
    session: Session<ModelStore>,
    /// The numbers of the database PCBs.
    numbers: Vec<usize>,
}

/// The engine for a setup, with empty databases.
pub(crate) fn subject(setup: &Setup) -> Engine {
    let store = ModelStore::new();
    let members = Members(setup.dbds.clone());
    let mut open: BTreeMap<DbdName, Arc<Database>> = BTreeMap::new();
    let mut opener = |name: DbdName| {
        if let Some(database) = open.get(&name) {
            return Ok(Arc::clone(database));
        }
        let database = Database::open(&store, name, &members, &mut |dbd| placement(dbd))?;
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
    Engine { session, numbers }
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
        let reply = self.session.call(number, name, Some(&mut given), &ssas).unwrap();
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
