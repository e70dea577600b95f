//! EXPORT: a portable copy of a cluster with its alternate indexes and paths.
//!
//! Of alternate indexes the definition is copied, and they are built again where they are read.
//! PERMANENT, which EXPORT is without TEMPORARY, deletes the object when the copy is durable.
//!
//! Invariants:
//! 1. Nothing is deleted before the copy is durable, and nobody has the object open from before its
//!    first record is copied until it is gone: no change is in neither.
//! 2. The records of what stays are those of one moment, whoever changes them meanwhile; nobody is
//!    held up for longer than it takes to read a few.

use std::io::{self, BufWriter};

use store::Store;
use vsam::{Claimed, DataSetName, DeleteOptions, Entry, Feedback, Frozen, Kind};

use crate::delete::tell;
use crate::fault::Fault;
use crate::generate::statement_of;
use crate::load::{Each, each};
use crate::locate::Located;
use crate::machine::Output;
use crate::names::{catalog_of, entry_in, resolved, shown_moment};
use crate::portable::Writer;
use crate::portable_cluster;
use crate::refusal::Refusal;
use crate::session::{Done, Session};
use crate::syntax::Command;

/// How often progress is told.
const PROGRESS_RECORDS: u64 = 1000;

pub(crate) type FileWriter = Writer<BufWriter<Box<dyn Output>>>;

pub(crate) fn run<S: Store>(session: &mut Session<'_, S>, command: &Command) -> Done {
    let parameters = &command.parameters;
    for name in ["INHIBITSOURCE", "INHIBITTARGET"] {
        if let Some(given) = parameters.get(name) {
            let text = format!("{name} is not possible: open it with a mode that only reads");
            return Err(Fault::new("IDC3211I", given.place, text).into());
        }
    }
    let Some(value) = parameters.positional.first() else {
        return Err(Refusal::severe("IDC3213I", "EXPORT needs the name of an entry"));
    };
    let name = resolved(&session.catalog, value)?;
    let entry = entry_in(&session.catalog, catalog_of(parameters)?.as_ref(), &name)?;
    let cluster = sphere_of(&entry)?;
    let output = session.locate(parameters, "OUTFILE", "OUTDATASET")?;
    let records = match parameters.has("TEMPORARY") {
        true => Origin::that_stays(session, std::slice::from_ref(cluster))?,
        false => {
            let purge = parameters.has("PURGE");
            let options = DeleteOptions { purge, ..DeleteOptions::default() };
            let catalog = session.catalog.within(cluster.catalog.as_ref())?;
            Origin::Claimed(catalog.claim(&cluster.name, options)?)
        }
    };
    // Its indexes and paths are those of now.
    let cluster = match &records {
        Origin::Claimed(claimed) => claimed.entries().first().unwrap_or(cluster),
        Origin::Open | Origin::Frozen(_) => cluster,
    };
    let (mut writer, now_us) = create(session, &output, std::slice::from_ref(cluster))?;
    let count = object(session, &mut writer, cluster, &records)?;
    let goes = matches!(records, Origin::Claimed(_));
    finish(writer, &output, if goes { Kept::Alone } else { Kept::Beside })?;
    session.say("IDC0005I", format!("NUMBER OF RECORDS PROCESSED WAS {count}"));
    let moment = shown_moment(now_us);
    session.say("IDC0594I", format!("PORTABLE DATA SET CREATED SUCCESSFULLY ON {moment}"));
    if let Origin::Claimed(claimed) = records {
        for gone in claimed.delete()? {
            tell(session, &gone);
        }
    }
    Ok(0)
}

/// Where the records of a copy come from.
pub(crate) enum Origin<S: Store> {
    /// Clusters that nobody else can be at work on.
    Open,
    /// Clusters at one moment, where somebody may be.
    Frozen(Frozen<S>),
    /// A cluster that is deleted when it is copied.
    Claimed(Claimed<S>),
}

impl<S: Store> Origin<S> {
    /// Of clusters that stay.
    pub(crate) fn that_stays(
        session: &Session<'_, S>,
        clusters: &[Entry],
    ) -> Result<Origin<S>, Refusal> {
        if session.machine.is_alone() {
            return Ok(Origin::Open);
        }
        let names: Vec<DataSetName> = clusters.iter().map(|entry| entry.name.clone()).collect();
        Ok(Origin::Frozen(session.catalog.freeze(&names)?))
    }

    /// Gives every record of a cluster in its order; answers how many there were.
    fn each(
        &self,
        session: &mut Session<'_, S>,
        name: &DataSetName,
        take: Each<'_>,
    ) -> Result<u64, Refusal> {
        let (machine, mut count) = (&mut *session.machine, 0_u64);
        let mut reported = |record: &[u8], feedback: &Feedback| {
            count += 1;
            if count.is_multiple_of(PROGRESS_RECORDS) {
                let reported = machine.progress(name.as_str(), count);
                reported.map_err(|error| Refusal::of_end(&error))?;
            }
            take(record, feedback)
        };
        match self {
            Origin::Open => each(session, name, take),
            Origin::Frozen(frozen) => frozen.each(name, &mut reported),
            Origin::Claimed(claimed) => claimed.each(&mut reported),
        }
    }
}

/// The cluster that is copied.
fn sphere_of(entry: &Entry) -> Result<&Entry, Refusal> {
    match entry.kind() {
        Kind::Cluster => Ok(entry),
        kind => {
            let name = &entry.name;
            let text = format!(
                "{name} is of the kind {kind}: copy the cluster, its indexes and paths come with it"
            );
            Err(Refusal::severe("IDC3019I", text))
        }
    }
}

/// Begins a copy of clusters in a file of the machine, or in another cluster.
pub(crate) fn create<S: Store>(
    session: &mut Session<'_, S>,
    located: &Located,
    objects: &[Entry],
) -> Result<(FileWriter, u64), Refusal> {
    let failed = |error: io::Error| Refusal::of_file(located.name(), &error);
    let now_us = session.machine.now_us();
    let output = match located {
        Located::File { path, .. } => session.machine.write(path, false).map_err(failed)?,
        Located::Entry(entry) => portable_cluster::write(session, entry, objects)?,
    };
    let output = BufWriter::with_capacity(1 << 20, output);
    Ok((Writer::new(output, now_us).map_err(failed)?, now_us))
}

/// What a copy is when it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// All that there is: the object is deleted.
    Alone,
    /// One beside the object.
    Beside,
}

/// Ends a copy: it is durable then.
pub(crate) fn finish(writer: FileWriter, located: &Located, kept: Kept) -> Result<(), Refusal> {
    let ended = writer.finish().and_then(|mut output| match kept {
        Kept::Alone => output.get_mut().finish_for_good(),
        Kept::Beside => output.get_mut().finish(),
    });
    ended.map_err(|error| Refusal::of_file(located.name(), &error))
}

/// Copies a cluster with what stands over it; answers how many records there were.
pub(crate) fn object<S: Store>(
    session: &mut Session<'_, S>,
    writer: &mut FileWriter,
    entry: &Entry,
    records: &Origin<S>,
) -> Result<u64, Refusal> {
    let failed = |error: io::Error| {
        Refusal::severe("IDC3302I", format!("ACTION ERROR ON THE COPY: {error}"))
    };
    let Some(cluster) = entry.cluster() else { return Ok(0) };
    let statement = statement_of(&entry.name, &entry.definition).unwrap_or_default();
    writer.cluster(&statement, cluster.record_map.as_deref()).map_err(failed)?;
    records.each(session, &entry.name, &mut |record, feedback| {
        writer.record(feedback.number.map(|number| number.0), record).map_err(failed)
    })?;
    let count = writer.end_records().map_err(failed)?;
    for above in above(session, entry)? {
        if let Some(statement) = statement_of(&above.name, &above.definition) {
            writer.above(&statement).map_err(failed)?;
        }
    }
    Ok(count)
}

/// The alternate indexes and paths of a cluster, each behind what it needs.
pub(crate) fn above<S: Store>(
    session: &Session<'_, S>,
    entry: &Entry,
) -> Result<Vec<Entry>, Refusal> {
    let mut all = Vec::new();
    let get = |name: &DataSetName| session.catalog.get(name);
    for name in &entry.related {
        let Some(one) = get(name)? else { continue };
        let related = one.related.clone();
        all.push(one);
        for name in &related {
            all.extend(get(name)?);
        }
    }
    Ok(all)
}
