//! The proof of the call engine over the kernel: random programs against the model of DL/I, with
//! crashes in between, and several programs at once.
//!
//! | part | what it owns |
//! |---|---|
//! | this | databases on a simulated machine, and programs that call them |
//! | [`tale`] | one program, its calls and sync points, from a seed or from a script |
//! | [`life`] | a program that is crashed, restarted and goes on, judged by the model |
//! | [`numbered`] | an index that is built over data which must be numbered for it |
//! | [`tellers`] | programs at once on the same records |
//! | [`taken_back`] | a backout in an index beside programs |
//!
//! Invariants:
//! 1. Every program's databases are verified after every restart: hierarchy and indexes agree.

pub mod life;
pub mod numbered;
pub mod taken_back;
pub mod tale;
pub mod tellers;

use std::collections::BTreeMap;
use std::sync::Arc;

use definitions::resolve::{Definitions, ResolvedKind};
use definitions::{Dbd, DbdName, Function, MemberName, Psb, PsbName};
use dli_model::script::Call;
use dli_model::{Feedback, Setup};
use hierarchy::{Database, is_kept};
use placement::{Placement, Settings};
use seal::Format;
use store_kernel::{KernelStore, StoreDefaults};
use uow::Kernel;

use crate::machine::Make;
use crate::verify::Wrong;

/// The DBDs of a setup.
struct Members<'s>(&'s [Arc<Dbd>]);

impl Definitions for Members<'_> {
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
fn placement(dbd: &Dbd) -> hierarchy::Result<Placement> {
    let mut none = |_: &str| Err(std::io::Error::other("no files here"));
    let placement = Placement::new(dbd, &Settings::default(), &mut none);
    placement.map_err(|error| Arc::new(error).into())
}

/// Open databases of a running system.
pub struct Site {
    store: KernelStore,
    setup: Arc<Setup>,
    databases: BTreeMap<DbdName, Arc<Database>>,
}

impl Site {
    /// Opens the databases; makes those that are not there.
    ///
    /// # Errors
    /// If the store or a database cannot be opened.
    pub fn open(kernel: &Arc<Kernel>, make: &Make, setup: &Arc<Setup>) -> Result<Site, Wrong> {
        let defaults = StoreDefaults {
            interval_bytes: make.ci_bytes,
            format: if make.sealed { Format::Sealed } else { Format::Plain },
            ..StoreDefaults::default()
        };
        let store = KernelStore::new(kernel, defaults).map_err(|error| Wrong::refused(&error))?;
        let mut databases = BTreeMap::new();
        for dbd in setup.dbds.iter().filter(|dbd| is_kept(dbd.organization)) {
            let members = Members(&setup.dbds);
            let opened = Database::open(&store, dbd.name, &members, &mut |dbd| placement(dbd));
            let database = opened.map_err(|error| Wrong::refused(&error))?;
            databases.insert(dbd.name, Arc::new(database));
        }
        Ok(Site { store, setup: Arc::clone(setup), databases })
    }

    /// A program with the setup's PSB.
    ///
    /// # Errors
    /// If a database that its PCBs name is not there.
    pub fn program(&self, options: dli::SessionOptions) -> Result<Program, Wrong> {
        let mut open = |name: DbdName| Ok(Arc::clone(&self.databases[&name]));
        let (psb, members) = (&self.setup.psb, Members(&self.setup.dbds));
        let session = dli::Session::open(&self.store, psb, &members, &mut open, options);
        let pcbs = psb.pcbs.iter().enumerate();
        let numbers = pcbs
            .filter(|(_, pcb)| matches!(pcb.kind, ResolvedKind::Database(_)))
            .map(|(number, _)| number)
            .collect();
        Ok(Program { session: session.map_err(|error| Wrong::refused(&error))?, numbers })
    }

    /// Verifies every database.
    ///
    /// # Errors
    /// The first findings.
    pub fn verify(&self) -> Result<(), Wrong> {
        for database in self.databases.values() {
            let mut others = |name: DbdName| Ok(Arc::clone(&self.databases[&name]));
            let report = database.verify(&self.store, &mut others, |_| ());
            let report = report.map_err(|error| Wrong::refused(&error))?;
            if !report.findings.is_empty() {
                return Err(Wrong::Broken(format!("verification finds {:?}", report.findings)));
            }
        }
        Ok(())
    }
}

/// A program that calls.
pub struct Program {
    session: dli::Session<KernelStore>,
    /// The numbers of the database PCBs.
    numbers: Vec<usize>,
}

impl Program {
    /// A call.
    ///
    /// # Errors
    /// If it ends the program.
    pub fn call(&mut self, call: &Call) -> Result<Feedback, dli::Failure> {
        let Call { pcb, function, area, ssas, .. } = call;
        let number = self.numbers[*pcb];
        let mut name = [b' '; 4];
        for (place, byte) in name.iter_mut().zip(function.bytes()) {
            *place = byte;
        }
        let ssas: Vec<&[u8]> = ssas.iter().map(Vec::as_slice).collect();
        let gets = function.starts_with('G');
        let mut given = match gets {
            true => vec![0; self.session.area_max(number)],
            false => area.clone(),
        };
        let reply = self.session.call(number, Function::of(name), Some(&mut given), &ssas)?;
        let (level, segment, key) = match self.session.mask(number) {
            Some(mask) => (mask.level, mask.segment, mask.key().to_vec()),
            None => (0, [b' '; 8], Vec::new()),
        };
        let area = (gets && reply.filled > 0).then(|| given[..reply.filled].to_vec());
        Ok(Feedback { status: reply.status.0, level, segment, key, area })
    }

    /// A sync point.
    ///
    /// # Errors
    /// If the store has stopped.
    pub fn commit(&mut self) -> Result<(), dli::Failure> {
        self.session.commit()
    }

    /// Back to the last sync point.
    ///
    /// # Errors
    /// If the store has stopped.
    pub fn back_out(&mut self) -> Result<(), dli::Failure> {
        self.session.backout()
    }
}
