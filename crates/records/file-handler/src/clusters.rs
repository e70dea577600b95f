//! Whoever has the catalog: requests of programs become those of VSAM, its feedback statuses.
//!
//! Invariants:
//! 1. The unit of work is the caller's: a file's changes are committed and backed out with
//!    whatever else it has changed.
//! 2. A file of a program is the cluster and, for each alternate key, a path. Changes go to the
//!    cluster, which keeps the indexes of its upgrade set.
//! 3. OPEN OUTPUT and DELETE FILE of a cluster that the program's own unit of work has changed
//!    belong to that, and are backed out with it. Others stand outside of units of work.

use store::{Store, StoreError};
use vsam::{
    Catalog, CatalogError, ClusterAttributes, DataSetName, Definition, File, KeyField,
    ObjectNumber, OpenError, OpenOptions,
};

use crate::acb_wire;
use crate::acbs::Acbs;
use crate::ahead::Marks;
use crate::body::Done;
use crate::cluster::{Cluster, Outcome, Refusal, Way, outcome_of};
use crate::data_set::Opening;
use crate::fcd::{Access, KeyDefinition, OpenMode, Organization};
use crate::feedback::{feedback_of, of_failure, of_open};
use crate::generations::Generations;
use crate::request_kind::Holder;
use crate::status::FileStatus;
use crate::wire::{Request, answer, put_feedback, refuse};

/// The most files that a program has open at once.
const FILES_MAX: usize = 4096;

/// The files of a program.
pub struct Clusters<S: Store> {
    catalog: Catalog<S>,
    files: Vec<Option<Cluster<S>>>,
    acbs: Acbs<S>,
    record_level: bool,
    /// The unit of work of an OPEN or DELETE FILE ends with it, and keeps nothing.
    opens_apart: bool,
    generations: Generations<S>,
    /// What VSAM has said to a request that it refused.
    feedback: [u8; 3],
}

/// Shorthand: statuses go to the program, what dooms goes to the caller.
macro_rules! done {
    ($outcome:expr) => {
        match $outcome {
            Ok(value) => value,
            Err(status) => return Ok(Err(status)),
        }
    };
}

impl<S: Store> Clusters<S> {
    /// Over a catalog.
    #[must_use]
    pub fn new(catalog: Catalog<S>) -> Clusters<S> {
        let acbs = Acbs::new(catalog.clone(), false);
        let generations = Generations::new(false);
        Clusters {
            catalog,
            files: Vec::new(),
            acbs,
            record_level: false,
            opens_apart: false,
            generations,
            feedback: [0; 3],
        }
    }

    /// The same for a step, which says when it ends: new generations join their groups then.
    #[must_use]
    pub fn of_step(catalog: Catalog<S>) -> Clusters<S> {
        Clusters { generations: Generations::new(true), ..Clusters::new(catalog) }
    }

    /// Whether the step has made generations.
    #[must_use]
    pub fn has_made_generations(&self) -> bool {
        !self.generations.is_empty()
    }

    /// The step ends well: in this unit of work its new generations become members of their
    /// groups.
    ///
    /// # Errors
    /// What the catalog says; the unit of work is to be backed out.
    pub fn join_generations(&mut self, unit: &mut S::Unit) -> Result<(), CatalogError> {
        self.generations.join(unit)
    }

    /// That unit of work is committed: those that had to leave for them go.
    ///
    /// # Errors
    /// What the catalog says.
    pub fn generations_joined(&mut self) -> Result<(), CatalogError> {
        self.generations.joined()
    }

    /// The step has failed: its new generations go.
    ///
    /// # Errors
    /// What the catalog says.
    pub fn give_up_generations(&mut self) -> Result<(), CatalogError> {
        self.generations.give_up(&self.catalog)
    }

    /// The same for programs that share by record locks with all others who do, whatever the share
    /// options of clusters say.
    #[must_use]
    pub fn sharing_records(catalog: Catalog<S>) -> Clusters<S> {
        let acbs = Acbs::new(catalog.clone(), true);
        Clusters { acbs, record_level: true, ..Clusters::new(catalog) }
    }

    /// Whether a record that was read for update is to stay locked until the next request.
    #[must_use]
    pub fn holds(&self, holder: Holder) -> bool {
        match holder {
            Holder::String(acb, string) => self.acbs.holds(acb, string),
            Holder::File(file) => {
                let slot = (file as usize).checked_sub(1).and_then(|at| self.files.get(at));
                slot.and_then(Option::as_ref).is_some_and(|cluster| {
                    cluster.mode == OpenMode::InputOutput && cluster.current.is_some()
                })
            }
        }
    }

    /// Whether a file is being loaded in sequence: nobody else has it open before it is closed. One
    /// that is loaded in any order is open as others have it, too.
    #[must_use]
    pub fn loads(&self, holder: Holder) -> bool {
        let Holder::File(file) = holder else { return false };
        let slot = (file as usize).checked_sub(1).and_then(|at| self.files.get(at));
        slot.and_then(Option::as_ref)
            .is_some_and(|cluster| cluster.base.file.mode() == vsam::OpenMode::Output)
    }

    /// The cluster through which a holder has its records.
    #[must_use]
    pub fn cluster_of(&self, holder: Holder) -> Option<ObjectNumber> {
        match holder {
            Holder::String(acb, _) => self.acbs.cluster_of(acb),
            Holder::File(file) => {
                let slot = (file as usize).checked_sub(1).and_then(|at| self.files.get(at))?;
                slot.as_ref().map(|cluster| cluster.base.file.base().number)
            }
        }
    }

    /// Carries out a request in a unit of work, and replaces `out` by the answer.
    ///
    /// # Errors
    /// What dooms the unit of work: it has to be backed out.
    pub fn serve(
        &mut self,
        unit: &mut S::Unit,
        request: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        self.opens_apart = false;
        self.carry_out(unit, request, out)
    }

    /// The same for an OPEN, CLOSE or DELETE FILE whose unit of work is backed out behind it: what
    /// would have to be in that is refused.
    ///
    /// # Errors
    /// As [`serve`](Clusters::serve).
    pub(crate) fn serve_apart(
        &mut self,
        unit: &mut S::Unit,
        request: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        self.opens_apart = true;
        self.carry_out(unit, request, out)
    }

    fn carry_out(
        &mut self,
        unit: &mut S::Unit,
        request: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        out.clear();
        if acb_wire::is_request(request) {
            return self.acbs.serve((unit, self.opens_apart), request, out);
        }
        self.feedback = [0; 3];
        let outcome = match Request::read(request) {
            None => Err(FileStatus::LOGIC),
            Some(Request::Open(opening)) => self.open(unit, &opening)?,
            Some(Request::Close(file)) => self.close(file),
            Some(Request::Empty(name)) => self.empty(unit, name)?,
            Some(Request::Ahead(file, batch)) => match self.cluster(file) {
                Ok(cluster) => return cluster.ahead(unit, &batch, out),
                Err(status) => Err(status),
            },
            Some(request) => self.on_file(unit, &request, out)?,
        };
        match outcome {
            Ok((status, number)) => answer(status, number, out),
            Err(status) => {
                refuse(request, status, out);
                put_feedback(self.feedback, out);
            }
        }
        Ok(())
    }

    /// Closes all files.
    pub fn close_all(&mut self) {
        self.files.clear();
        self.acbs.close_all();
    }

    fn cluster(&mut self, file: u32) -> Done<&mut Cluster<S>> {
        let slot = (file as usize).checked_sub(1).and_then(|at| self.files.get_mut(at));
        slot.and_then(Option::as_mut).ok_or(FileStatus::NOT_OPEN)
    }

    fn close(&mut self, file: u32) -> Done<(FileStatus, u64)> {
        let slot = (file as usize).checked_sub(1).and_then(|at| self.files.get_mut(at));
        let cluster = slot.and_then(Option::take).ok_or(FileStatus::NOT_OPEN)?;
        let Cluster { base, paths, writer, .. } = cluster;
        drop(writer);
        for Way { file, position } in paths.into_iter().flatten().chain([base]) {
            drop(position);
            file.close().map_err(|error| of_open(&error))?;
        }
        Ok((FileStatus::DONE, 0))
    }

    /// DELETE FILE: the records go, the definition stays, whether it has REUSE or not.
    fn empty(&self, unit: &mut S::Unit, name: &str) -> Outcome<(FileStatus, u64)> {
        let name = done!(DataSetName::parse(name).map_err(|_| FileStatus::NO_FILE));
        let unit = (!self.opens_apart).then_some(unit);
        done!(opened(self.catalog.empty_cluster(&name, unit))?);
        Ok(Ok((FileStatus::DONE, 0)))
    }

    fn open(&mut self, unit: &mut S::Unit, opening: &Opening) -> Outcome<(FileStatus, u64)> {
        let free = self.files.iter().position(Option::is_none);
        if free.is_none() && self.files.len() >= FILES_MAX {
            return Ok(Err(FileStatus::RESOURCE));
        }
        let (cluster, status) = match self.connect(unit, opening)? {
            Ok(opened) => opened,
            Err(FileStatus::NO_FILE)
                if opening.shape.optional && opening.mode == OpenMode::Input =>
            {
                return Ok(Ok((FileStatus::OPTIONAL, 0)));
            }
            Err(status) => return Ok(Err(status)),
        };
        let at = free.unwrap_or_else(|| {
            self.files.push(None);
            self.files.len() - 1
        });
        self.files[at] = Some(cluster);
        Ok(Ok((status, at as u64 + 1)))
    }

    fn connect(
        &mut self,
        unit: &mut S::Unit,
        opening: &Opening,
    ) -> Outcome<(Cluster<S>, FileStatus)> {
        let name = self.generations.resolve(&self.catalog, opening);
        let name = done!(name.map_err(|missing| missing.status()));
        let entry = done!(self.entry(&name));
        let Some(entry) = entry else { return Ok(Err(FileStatus::NO_FILE)) };
        if let Some(cluster) = entry.cluster() {
            // Nothing is emptied that does not fit.
            done!(fits(cluster, cluster.key, opening));
        }
        let paths = done!(self.paths_of(&name, opening));
        // Several ways to one cluster are one opener: they share by record locks.
        let record_level = self.record_level || paths.iter().any(Option::is_some);
        let base = done!(self.base_of(unit, &name, opening, record_level)?);
        let key = match base.alternate_index() {
            None => base.attributes().key,
            Some(index) => index.alternate_index().map(|index| index.key),
        };
        done!(fits(base.attributes(), key, opening));
        let mut ways = Vec::new();
        for path in paths {
            let way = path.map(|path| self.way(&path, vsam::OpenMode::Input, record_level));
            ways.push(done!(way.transpose()));
        }
        let position = done!(base.position().map_err(|failure| of_failure(&failure, false)));
        let writer = done!(base.position().map_err(|failure| of_failure(&failure, false)));
        let mut cluster = Cluster {
            base: Way { file: base, position },
            paths: ways,
            writer,
            organization: opening.shape.organization,
            mode: opening.mode,
            key: 0,
            prime: opening.keys.first().cloned(),
            current: None,
            started: false,
            marks: Marks::default(),
        };
        let mut status = FileStatus::DONE;
        if opening.mode != OpenMode::Output && cluster.never_loaded(unit, &self.catalog)? {
            // A cluster that never had a record is no file yet.
            if !opening.shape.optional {
                return Ok(Err(FileStatus::NO_FILE));
            }
            status = FileStatus::OPTIONAL;
        }
        Ok(Ok((cluster, status)))
    }

    /// Opens the cluster, or the path that a program has in place of one.
    fn base_of(
        &self,
        unit: &mut S::Unit,
        name: &DataSetName,
        opening: &Opening,
        record_level: bool,
    ) -> Outcome<File<S>> {
        let options = OpenOptions { record_level, ..OpenOptions::default() };
        let mut unit = (!self.opens_apart).then_some(unit);
        let mut open =
            |mode| opened(self.catalog.open_file_within(unit.as_deref_mut(), name, mode, &options));
        match (opening.mode, opening.access) {
            (OpenMode::Input, _) => open(vsam::OpenMode::Input),
            (OpenMode::InputOutput, _) => open(vsam::OpenMode::InputOutput),
            (OpenMode::Extend, _) => open(vsam::OpenMode::Extend),
            (OpenMode::Output, Access::Sequential) => open(vsam::OpenMode::Output),
            // In any order of keys: emptied as for a load, then written as one inserts.
            (OpenMode::Output, _) => {
                drop(done!(open(vsam::OpenMode::Output)?));
                open(vsam::OpenMode::InputOutput)
            }
        }
    }

    fn way(&self, name: &DataSetName, mode: vsam::OpenMode, record_level: bool) -> Done<Way<S>> {
        let options = OpenOptions { record_level, ..OpenOptions::default() };
        let file = self.catalog.open_file(name, mode, &options).map_err(|error| of_open(&error))?;
        let position = file.position().map_err(|failure| of_failure(&failure, false))?;
        Ok(Way { file, position })
    }

    /// The paths of a program's alternate keys; none where the file is loaded.
    fn paths_of(&self, name: &DataSetName, opening: &Opening) -> Done<Vec<Option<DataSetName>>> {
        let mut found = vec![None; opening.keys.len()];
        if opening.mode == OpenMode::Output {
            return Ok(found);
        }
        for (number, key) in opening.keys.iter().enumerate().skip(1) {
            let named = match opening.paths.get(number) {
                Some(Some(path)) => {
                    Some(DataSetName::parse(path).map_err(|_| FileStatus::NO_FILE)?)
                }
                _ => self.path_for(name, key)?,
            };
            let path = named.ok_or(FileStatus::NO_DD)?;
            let index = self.index_of(&path)?.ok_or(FileStatus::ATTRIBUTES)?;
            if (index.offset, index.bytes) != (key.offset, key.bytes)
                || index.duplicates != key.duplicates
            {
                return Err(FileStatus::ATTRIBUTES);
            }
            found[number] = Some(path);
        }
        Ok(found)
    }

    fn entry(&self, name: &DataSetName) -> Done<Option<vsam::Entry>> {
        self.catalog.get(name).map_err(|error| of_open(&OpenError::from(error)))
    }

    /// The key of a path's index.
    fn index_of(&self, path: &DataSetName) -> Done<Option<KeyDefinition>> {
        let Some(entry) = self.entry(path)? else { return Err(FileStatus::NO_FILE) };
        let Definition::Path(attributes) = &entry.definition else { return Ok(None) };
        let Some(index) = self.entry(&attributes.entry)? else { return Ok(None) };
        let key = index.alternate_index().map(|index| KeyDefinition {
            offset: index.key.offset,
            bytes: index.key.bytes,
            duplicates: !index.unique,
            sparse: None,
            rest: Vec::new(),
        });
        Ok(key)
    }

    /// A path over an index of the cluster with this key.
    fn path_for(&self, base: &DataSetName, key: &KeyDefinition) -> Done<Option<DataSetName>> {
        let Some(cluster) = self.entry(base)? else { return Ok(None) };
        for related in &cluster.related {
            let Some(index) = self.entry(related)? else { continue };
            let Some(attributes) = index.alternate_index() else { continue };
            if (attributes.key.offset, attributes.key.bytes) == (key.offset, key.bytes)
                && let Some(path) = index.related.first()
            {
                return Ok(Some(path.clone()));
            }
        }
        Ok(None)
    }

    fn on_file(
        &mut self,
        unit: &mut S::Unit,
        request: &Request<'_>,
        out: &mut Vec<u8>,
    ) -> Outcome<(FileStatus, u64)> {
        let number = match request {
            Request::Start(file, ..)
            | Request::Next(file, _)
            | Request::Read(file, _)
            | Request::Write { file, .. }
            | Request::Rewrite(file, ..)
            | Request::Delete(file, _)
            | Request::Ahead(file, _)
            | Request::Close(file) => *file,
            Request::Open(_) | Request::Empty(_) => 0,
        };
        let cluster = done!(self.cluster(number));
        cluster.marks.clear();
        let found = match request {
            Request::Start(_, relation, which) => cluster.start(unit, *relation, *which),
            Request::Next(_, previous) => cluster.next(unit, *previous, out),
            Request::Read(_, which) => cluster.read(unit, *which, out),
            Request::Write { in_sequence, number, record, .. } => {
                cluster.write(unit, *in_sequence, *number, record)
            }
            Request::Rewrite(_, which, record) => cluster.rewrite(unit, *which, record),
            Request::Delete(_, which) => cluster.delete(unit, *which),
            Request::Open(_) | Request::Close(_) | Request::Ahead(..) | Request::Empty(_) => {
                return Ok(Err(FileStatus::LOGIC));
            }
        };
        let keyed = cluster.organization != Organization::Sequential;
        let is_write = matches!(request, Request::Write { .. });
        if let Err(Refusal::Failure(failure)) = &found {
            self.feedback = feedback_of(failure);
        }
        outcome_of(found, is_write && keyed)
    }
}

/// What came of an open: the program's status, or that its unit of work is doomed.
fn opened<T>(result: Result<T, OpenError>) -> Outcome<T> {
    match result {
        Err(OpenError::Catalog(CatalogError::Store(error))) if error.dooms_unit() => Err(error),
        other => Ok(other.map_err(|error| of_open(&error))),
    }
}

/// Whether a cluster is what a program says that it is, with this key.
fn fits(attributes: &ClusterAttributes, key: Option<KeyField>, opening: &Opening) -> Done<()> {
    let organization = attributes.organization;
    let same = match opening.shape.organization {
        Organization::Indexed => organization == vsam::Organization::Keyed,
        Organization::Relative => organization.is_relative(),
        Organization::Sequential => organization == vsam::Organization::EntrySequenced,
        Organization::LineSequential => false,
    };
    let prime = opening.keys.first().map(|key| (key.offset, key.bytes));
    let same_key = prime.is_none() || key.map(|key| (key.offset, key.bytes)) == prime;
    let same_length = opening.shape.most == attributes.record_bytes_max as usize;
    if same && same_key && same_length { Ok(()) } else { Err(FileStatus::ATTRIBUTES) }
}
