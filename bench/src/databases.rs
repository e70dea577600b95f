//! Hierarchic databases of Holdfast as an embedded caller has them: sources compiled, databases
//! opened over a kernel of their own, sessions that make calls.
//!
//! 1. Nothing here is done during a measurement but the calls of a [`Program`], which add to the
//!    call itself the proof that it ended as expected.
//! 2. Sources are compiled as `holdfast gen` compiles them; a diagnostic is an error.
//! 3. A [`Site`] closes its kernel when it is dropped.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use definitions::resolve::{Nothing, Overlay, ResolvedPsb};
use definitions::{Dbd, DbdName, Function};
use dli::{Failure, Session, SessionOptions, Status};
use hierarchy::{Database, HierarchyError};
use macros::{NoMembers, Sources};
use placement::{PartitionSettings, Placement, Settings};
use store::CommitSink;
use store_kernel::KernelStore;

use crate::error::Result;
use crate::kernel::{self, failed};
use crate::ours::StoreSetup;

/// Compiled definitions.
pub(crate) struct Library {
    members: Overlay<'static>,
    psbs: Vec<ResolvedPsb>,
}

impl Library {
    /// Compiles the members of a source.
    pub(crate) fn compile(source: &str) -> Result<Library> {
        let mut sources = Sources::new();
        let path = Path::new("benchmark");
        let program = macros::read(&mut sources, path, source.as_bytes(), &NoMembers);
        let compiled = definitions::compile(&program);
        if let Some(first) = compiled.diagnostics.first() {
            return Err(failed(sources.show(first)));
        }
        let mut members = Overlay::new(&Nothing);
        for member in compiled.members.into_iter().filter_map(|one| one.member) {
            members.add(member);
        }
        let outcome = members.resolve();
        match outcome.findings.first() {
            Some(finding) => Err(failed(format!("{finding:?}"))),
            None => Ok(Library { psbs: outcome.psbs, members }),
        }
    }

    fn psb(&self, name: &str) -> Result<&ResolvedPsb> {
        let found = self.psbs.iter().find(|psb| psb.name.text() == name);
        found.ok_or_else(|| failed(format!("there is no PSB {name}")))
    }
}

/// A partition that takes root keys up to `high_key`.
pub(crate) fn partition(name: &str, high_key: Option<String>) -> PartitionSettings {
    PartitionSettings { name: name.into(), high_key, ..PartitionSettings::default() }
}

/// Databases in a store of their own.
pub(crate) struct Site {
    pub(crate) store: KernelStore,
    compiled: Library,
    databases: BTreeMap<DbdName, Arc<Database>>,
}

impl Site {
    /// New, empty databases: those of the library that are named.
    pub(crate) fn create(
        setup: &StoreSetup,
        library: Library,
        settings: &Settings,
        names: &[&str],
    ) -> Result<Site> {
        let store = kernel::create(setup)?;
        let mut site = Site { store, compiled: library, databases: BTreeMap::new() };
        for name in names {
            let name = dbd_name(name)?;
            let mut placements = |dbd: &Dbd| place(dbd, settings);
            let members = &site.compiled.members;
            let opened = Database::open(&site.store, name, members, &mut placements);
            let database = opened.map_err(failed)?;
            hierarchy::state::admit(&site.store, &database).map_err(failed)?;
            site.databases.insert(name, Arc::new(database));
        }
        Ok(site)
    }

    /// A database by its name.
    pub(crate) fn database(&self, name: &str) -> Result<&Arc<Database>> {
        let found = self.databases.get(&dbd_name(name)?);
        found.ok_or_else(|| failed(format!("there is no database {name}")))
    }

    /// A program with the PCBs of a PSB.
    pub(crate) fn program(&self, psb: &str, options: SessionOptions) -> Result<Program> {
        let mut open = |name: DbdName| {
            let found = self.databases.get(&name).cloned();
            found.ok_or(HierarchyError::NoDefinition(name))
        };
        let psb = self.compiled.psb(psb)?;
        let session = Session::open(&self.store, psb, &self.compiled.members, &mut open, options);
        let session = session.map_err(failed)?;
        let room = (0..psb.pcbs.len()).map(|pcb| session.area_max(pcb)).max().unwrap_or(0);
        Ok(Program { session, area: vec![0; room], calls: 0 })
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.store.kernel().close();
    }
}

fn place(dbd: &Dbd, settings: &Settings) -> hierarchy::Result<Placement> {
    let mut none = |_: &str| Err(std::io::Error::other("a benchmark has no lists of roots"));
    Placement::new(dbd, settings, &mut none).map_err(|error| Arc::new(error).into())
}

fn dbd_name(name: &str) -> Result<DbdName> {
    DbdName::new(name).ok_or_else(|| failed(format!("{name} is no name of a DBD")))
}

/// A program's session and its I/O area.
pub(crate) struct Program {
    session: Session<KernelStore>,
    /// The I/O area, as long as the longest segment or path.
    pub(crate) area: Vec<u8>,
    /// Calls of [`Program::look`] and [`Program::change`].
    calls: u64,
}

impl Program {
    /// A get into the area; how much of it was filled, 0 if nothing was found.
    pub(crate) fn get(&mut self, pcb: usize, function: &[u8; 4], ssas: &[&[u8]]) -> Result<usize> {
        let area = Some(&mut self.area[..]);
        let reply = self.session.call(pcb, Function::of(*function), area, ssas).map_err(failed)?;
        match reply.status {
            Status::OK | Status::GA | Status::GK => Ok(reply.filled),
            Status::GE | Status::GB => Ok(0),
            status => Err(unexpected(function, status)),
        }
    }

    /// An insert or a replace from the first `bytes` of the area.
    pub(crate) fn put(
        &mut self,
        pcb: usize,
        function: &[u8; 4],
        bytes: usize,
        ssas: &[&[u8]],
    ) -> Result<()> {
        let area = Some(&mut self.area[..bytes]);
        let reply = self.session.call(pcb, Function::of(*function), area, ssas).map_err(failed)?;
        match reply.status {
            Status::OK => Ok(()),
            status => Err(unexpected(function, status)),
        }
    }

    /// A get into the area, whatever its status is; with what ends a program.
    pub(crate) fn look(
        &mut self,
        pcb: usize,
        function: &[u8; 4],
        ssas: &[&[u8]],
    ) -> std::result::Result<Status, Failure> {
        self.calls += 1;
        let area = Some(&mut self.area[..]);
        Ok(self.session.call(pcb, Function::of(*function), area, ssas)?.status)
    }

    /// A change from the first `bytes` of the area, whatever its status is.
    pub(crate) fn change(
        &mut self,
        pcb: usize,
        function: &[u8; 4],
        bytes: usize,
        ssas: &[&[u8]],
    ) -> std::result::Result<Status, Failure> {
        self.calls += 1;
        let area = Some(&mut self.area[..bytes]);
        Ok(self.session.call(pcb, Function::of(*function), area, ssas)?.status)
    }

    /// How many gets and changes there were since this was last asked.
    pub(crate) fn take_calls(&mut self) -> u64 {
        std::mem::take(&mut self.calls)
    }

    /// The level and the concatenated key of the segment that the last call found.
    pub(crate) fn place(&self, pcb: usize) -> (usize, &[u8]) {
        let mask = self.session.mask(pcb);
        mask.map_or((0, &[]), |mask| (usize::from(mask.level), mask.key()))
    }

    /// Commits, durably.
    pub(crate) fn commit(&mut self) -> Result<()> {
        self.session.commit().map_err(failed)
    }

    /// Commits without waiting: locks are free, and `sink` hears when it is durable.
    pub(crate) fn commit_queued(&mut self, sink: &Arc<dyn CommitSink>) -> Result<()> {
        self.session.commit_queued(sink, 0).map_err(failed)
    }

    /// Backs out to the last commit.
    pub(crate) fn backout(&mut self) -> Result<()> {
        self.session.backout().map_err(failed)
    }
}

fn unexpected(function: &[u8; 4], status: Status) -> crate::error::BenchError {
    failed(format!("{} ended with status {status:?}", String::from_utf8_lossy(function)))
}
