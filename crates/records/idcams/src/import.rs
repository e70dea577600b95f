//! IMPORT: makes a cluster again from a portable copy, with its alternate indexes and paths.
//!
//! | | |
//! |---|---|
//! | OBJECTS((OLD NEWNAME(NEW) VOLUMES(V)) ...) | objects get other names; what rests on them follows |
//! | INTOEMPTY | into a cluster that is there and has no records |
//!
//! Invariants:
//! 1. A cluster counts when its copy is read to the end. If it cannot be, the cluster is deleted
//!    again, unless it was there before.
//! 2. Until then nobody else opens it.
//! 3. An index or path that cannot be made is told (condition code 8), and the cluster stays.

use std::io;

use store::Store;
use vsam::{DataSetName, Definition, RecordNumber};

use crate::awaited::{Awaited, Loaded, purge};
use crate::define::{Wanted, wanted_of};
use crate::lexis::lines_without_margins;
use crate::load::fill;
use crate::locate::Located;
use crate::names::{name_of, shown_moment};
use crate::portable::{Frame, Reader};
use crate::portable_cluster;
use crate::refusal::{ERROR, Refusal};
use crate::session::{Done, Session};
use crate::syntax::{Command, Parameters, Value, command_of};
use crate::target::is_empty;

pub(crate) type FileReader = Reader<Box<dyn io::Read>>;

pub(crate) fn run<S: Store>(session: &mut Session<'_, S>, command: &Command) -> Done {
    let parameters = &command.parameters;
    let input = session.locate(parameters, "INFILE", "INDATASET")?;
    let mut reader = open(session, &input)?;
    let names = Names::of(parameters)?;
    let into = match parameters.has("INTOEMPTY") {
        true => Into::Empty,
        false => Into::New,
    };
    let mut awaited = Awaited::new();
    let read = objects(session, (&mut reader, &input), &names, into, &mut awaited);
    let count = match read.and_then(|()| awaited.finish(session)) {
        Ok(count) => count,
        Err(refusal) => {
            awaited.take_back(session);
            return Err(refusal);
        }
    };
    let mut worst = 0;
    for statement in awaited.all.iter().flat_map(|loaded| &loaded.above) {
        worst = worst.max(above(session, statement, &names));
    }
    session.say("IDC0005I", format!("NUMBER OF RECORDS PROCESSED WAS {count}"));
    let moment = shown_moment(reader.made_us);
    session.say("IDC0604I", format!("DATA SET BEING IMPORTED WAS EXPORTED ON {moment}"));
    Ok(worst)
}

/// Reads a copy to its end.
fn objects<S: Store>(
    session: &mut Session<'_, S>,
    (reader, input): (&mut FileReader, &Located),
    names: &Names,
    into: Into,
    awaited: &mut Awaited<S>,
) -> Result<(), Refusal> {
    let mut data = Vec::new();
    while let Some(frame) = frame(reader, input, &mut data)? {
        match frame {
            Frame::Cluster(text) => {
                let wanted = object_of(session, &text, names)?;
                let records = &mut Records::of(reader, input);
                awaited.all.push(cluster(session, records, wanted, into)?);
            }
            Frame::Above(text) => awaited.keep(text)?,
            _ => return Err(out_of_place(input)),
        }
    }
    Ok(())
}

/// Opens a copy.
pub(crate) fn open<S: Store>(
    session: &mut Session<'_, S>,
    located: &Located,
) -> Result<FileReader, Refusal> {
    let failed = |error: io::Error| Refusal::of_file(located.name(), &error);
    let input = match located {
        Located::File { path, .. } => session.machine.read(path).map_err(failed)?,
        Located::Entry(entry) => portable_cluster::read(session, entry)?,
    };
    Reader::new(input).map_err(failed)
}

/// The next frame of a copy.
pub(crate) fn frame(
    reader: &mut FileReader,
    located: &Located,
    data: &mut Vec<u8>,
) -> Result<Option<Frame>, Refusal> {
    reader.next_frame(data).map_err(|error| {
        Refusal::severe("IDC3302I", format!("ACTION ERROR ON {}: {error}", located.name()))
    })
}

fn out_of_place(located: &Located) -> Refusal {
    let text = format!("ACTION ERROR ON {}: a frame stands where it cannot", located.name());
    Refusal::severe("IDC3302I", text)
}

/// Which names objects get.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// Whole names.
    objects: Vec<(DataSetName, DataSetName)>,
    /// Leading qualifiers.
    levels: Vec<(DataSetName, DataSetName)>,
    volumes: Vec<(DataSetName, Vec<String>)>,
}

impl Names {
    /// What OBJECTS and SYNONYM say.
    pub(crate) fn of(parameters: &Parameters) -> Result<Names, Refusal> {
        let mut names = Names::default();
        for row in parameters.get("OBJECTS").map(|one| one.rows.as_slice()).unwrap_or_default() {
            // What keeps its name may be a mask of many.
            if !row.has("NEWNAME") && !row.has("VOLUMES") {
                continue;
            }
            let Some(old) = row.positional.first().map(name_of).transpose()? else { continue };
            if let Some(new) = row.value("NEWNAME") {
                names.objects.push((old.clone(), name_of(new)?));
            }
            if row.has("VOLUMES") {
                let volumes = row.values("VOLUMES").iter().map(Value::name).collect();
                names.volumes.push((old, volumes));
            }
        }
        for row in parameters.get("SYNONYM").map(|one| one.rows.as_slice()).unwrap_or_default() {
            let [old, new] = row.positional.as_slice() else { continue };
            names.levels.push((name_of(old)?, name_of(new)?));
        }
        Ok(names)
    }

    /// The name that an object gets, if it gets another.
    pub(crate) fn new_name(&self, name: &DataSetName) -> Option<DataSetName> {
        let whole = self.objects.iter().find(|(old, _)| old == name).map(|(_, new)| new.clone());
        whole.or_else(|| self.levels.iter().find_map(|(old, new)| name.renamed(old, new)))
    }

    /// The leading qualifiers that change.
    pub(crate) fn levels(&self) -> Vec<(DataSetName, DataSetName)> {
        self.levels.clone()
    }

    fn renamed(&self, name: &DataSetName) -> DataSetName {
        self.new_name(name).unwrap_or_else(|| name.clone())
    }

    /// Gives an object, and what it rests on, their names.
    pub(crate) fn apply(&self, wanted: &mut Wanted) {
        let renames = self.new_name(&wanted.name).is_some();
        let component = |given: &mut Option<DataSetName>| {
            let new = given.as_ref().and_then(|name| self.new_name(name));
            // A component of an object with another name is named anew, too.
            *given = if new.is_some() || renames { new } else { given.take() };
        };
        let volumes = self.volumes.iter().find(|(name, _)| *name == wanted.name);
        let volumes = volumes.map(|(_, volumes)| volumes.clone());
        match &mut wanted.definition {
            Definition::Cluster(cluster) => {
                component(&mut cluster.data_name);
                component(&mut cluster.index_name);
                cluster.remarks.volumes = volumes.unwrap_or(cluster.remarks.volumes.clone());
            }
            Definition::AlternateIndex(index) => {
                index.base = self.renamed(&index.base);
                component(&mut index.data_name);
                component(&mut index.index_name);
                index.remarks.volumes = volumes.unwrap_or(index.remarks.volumes.clone());
            }
            Definition::Path(path) => path.entry = self.renamed(&path.entry),
            _ => {}
        }
        wanted.name = self.renamed(&wanted.name);
    }
}

/// The object that a statement of a copy defines, under its new name.
pub(crate) fn object_of<S: Store>(
    session: &mut Session<'_, S>,
    text: &str,
    names: &Names,
) -> Result<Wanted, Refusal> {
    let lines = lines_without_margins(text);
    let [line] = lines.as_slice() else {
        return Err(Refusal::severe("IDC3302I", "a definition in the copy is no statement"));
    };
    let command = command_of(&line.tokens)?;
    if command.kind.is_none_or(|kind| !["CLUSTER", "ALTERNATEINDEX", "PATH"].contains(&kind)) {
        return Err(Refusal::severe("IDC3302I", "a definition in the copy is none of an object"));
    }
    let mut wanted = wanted_of(session, &command)?;
    names.apply(&mut wanted);
    Ok(wanted)
}

/// Where the records of a copy go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Into {
    /// Into a cluster that is not there yet.
    New,
    /// Into one that is there and empty, or not there.
    Empty,
}

/// The records of a cluster in a copy, up to its `End`.
pub(crate) struct Records<'r> {
    reader: &'r mut FileReader,
    located: &'r Located,
    /// A frame that was read in advance, and what it has.
    first: Option<Frame>,
    data: Vec<u8>,
    is_over: bool,
    /// The copy cannot be read on.
    pub(crate) is_broken: bool,
}

impl<'r> Records<'r> {
    /// Those behind the frame that was read last.
    pub(crate) fn of(reader: &'r mut FileReader, located: &'r Located) -> Records<'r> {
        let (first, data) = (None, Vec::new());
        Records { reader, located, first, data, is_over: false, is_broken: false }
    }

    /// The record map, which stands in front of the records, if there is one.
    fn map(&mut self) -> Result<Option<String>, Refusal> {
        match self.take()? {
            Some(Frame::Map(text)) => Ok(Some(text)),
            other => {
                self.first = other;
                Ok(None)
            }
        }
    }

    fn take(&mut self) -> Result<Option<Frame>, Refusal> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        let read = frame(self.reader, self.located, &mut self.data);
        self.is_broken |= read.is_err();
        read
    }

    /// The next record's number, if it has one; `None` behind the last.
    fn next(&mut self, record: &mut Vec<u8>) -> Result<Option<Option<RecordNumber>>, Refusal> {
        match self.take()? {
            Some(Frame::Record(number)) => {
                std::mem::swap(record, &mut self.data);
                Ok(Some(number.map(RecordNumber)))
            }
            Some(Frame::End(_)) => {
                self.is_over = true;
                Ok(None)
            }
            _ => {
                self.is_broken = true;
                Err(out_of_place(self.located))
            }
        }
    }

    /// Passes over those that were not read.
    pub(crate) fn pass(&mut self) -> Result<(), Refusal> {
        while !self.is_over {
            self.is_over = matches!(self.take()?, None | Some(Frame::End(_)));
        }
        Ok(())
    }
}

/// Reads a cluster with its records. Nobody else opens it until it is finished.
pub(crate) fn cluster<S: Store>(
    session: &mut Session<'_, S>,
    records: &mut Records<'_>,
    mut wanted: Wanted,
    into: Into,
) -> Result<Loaded<S>, Refusal> {
    if let Some(text) = records.map()?
        && let Definition::Cluster(cluster) = &mut wanted.definition
    {
        cluster.record_map = Some(text);
    }
    let name = wanted.name.clone();
    let there = session.catalog.get(&name)?;
    let (new, deferred) = match there {
        Some(entry) if into == Into::Empty => {
            if let Some(what) = misfit(&entry.definition, &wanted.definition) {
                let text = format!("{name} cannot hold the copy: {what}");
                return Err(Refusal::severe("IDC3302I", text));
            }
            if !is_empty(session, &Located::Entry(Box::new(entry)))? {
                let text = format!("{name} IS NOT EMPTY");
                return Err(Refusal::severe("IDC3300I", text));
            }
            (None, None)
        }
        _ => {
            let catalog = wanted.catalog.as_ref();
            // Nothing leaves a group for what is not proven.
            let (entry, deferred) =
                session.catalog.define_unproven(&name, wanted.definition, catalog)?;
            session.note_defined(&entry);
            (Some(entry.number), deferred)
        }
    };
    match fill(session, &name, &mut |record| records.next(record)) {
        Ok(filled) => {
            let (records, above) = (filled.count, Vec::new());
            let (at, filled) = (name.clone(), Some(filled));
            Ok(Loaded { name, at, new, deferred, filled, records, above })
        }
        Err(refusal) => {
            if new.is_some() {
                // What could not be read whole does not stay; the first error counts.
                let _ = session.catalog.delete(&name, purge());
            }
            Err(refusal)
        }
    }
}

/// Why the records of a copy do not belong into a cluster that is there.
fn misfit(there: &Definition, copied: &Definition) -> Option<&'static str> {
    let (Definition::Cluster(there), Definition::Cluster(copied)) = (there, copied) else {
        return Some("it is no cluster");
    };
    let (own, other) = (there.organization, copied.organization);
    if own != other && !(own.is_relative() && other.is_relative()) {
        return Some("it has another organization");
    }
    (there.key != copied.key).then_some("its keys are others")
}

/// Makes an index or a path; answers the condition code.
pub(crate) fn above<S: Store>(session: &mut Session<'_, S>, text: &str, names: &Names) -> u32 {
    let made = object_of(session, text, names).and_then(|wanted| stand(session, wanted));
    made.map_or_else(|refusal| session.refuse(&refusal.with(ERROR)), |()| 0)
}

/// Defines an index or a path, and builds the index.
fn stand<S: Store>(session: &mut Session<'_, S>, wanted: Wanted) -> Result<(), Refusal> {
    let name = wanted.name.clone();
    let is_index = matches!(wanted.definition, Definition::AlternateIndex(_));
    let defined = session.catalog.define(&name, wanted.definition, wanted.catalog.as_ref())?;
    session.note_defined(&defined.entry);
    if is_index {
        session.catalog.build_index(&name)?;
        session.say("IDC0652I", format!("{name} SUCCESSFULLY BUILT"));
    }
    Ok(())
}
