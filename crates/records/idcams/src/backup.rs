//! BACKUP and RESTORE: portable copies of many clusters in one file.
//!
//! | | |
//! |---|---|
//! | `BACKUP (A.** B) EXCLUDE(A.TMP.**) OUTFILE(DD)` | all clusters that the masks stand for |
//! | `RESTORE INFILE(DD)` | all of them |
//! | `OBJECTS((A NEWNAME(B)) C.**)` | these alone |
//! | `SYNONYM((A B.C) ...)` | names that begin with A begin with B.C: a copy beside its original |
//! | `REPLACE` | a cluster that is there gives way once the copy is read to its end |
//!
//! Invariants:
//! 1. Each object is restored whole or not at all; one that fails has condition code 8, and the
//!    others go on.
//! 2. If the copy itself cannot be read to its end, or the system has failed, none is restored.
//! 3. With REPLACE a cluster keeps its records, its indexes and its paths until then.

use store::Store;
use vsam::{DataSetName, Entry, Filter, Kind};

use crate::awaited::{Awaited, Loaded, purge};
use crate::define::Wanted;
use crate::export::{Kept, Origin, create, finish, object};
use crate::import::{FileReader, Into, Names, Records, above, cluster, frame, object_of, open};
use crate::locate::Located;
use crate::names::{catalog_of, filter_of, shown_moment};
use crate::portable::Frame;
use crate::refusal::{ERROR, Refusal, SEVERE, TERMINATE};
use crate::session::{Done, Session};
use crate::syntax::{Command, Parameters, Value};

pub(crate) fn run<S: Store>(session: &mut Session<'_, S>, command: &Command) -> Done {
    let parameters = &command.parameters;
    let entries = clusters_of(session, &parameters.positional, parameters)?;
    let worst = hidden(session, parameters)?;
    let output = session.locate(parameters, "OUTFILE", "OUTDATASET")?;
    let (origin, mut count) = (Origin::that_stays(session, &entries)?, 0);
    let (mut writer, now_us) = create(session, &output, &entries)?;
    for entry in &entries {
        let records = object(session, &mut writer, entry, &origin)?;
        session.say("IDC0005I", format!("{} BACKED UP: {records} RECORDS", entry.name));
        count += records;
    }
    finish(writer, &output, Kept::Beside)?;
    session.say("IDC0005I", format!("NUMBER OF RECORDS PROCESSED WAS {count}"));
    let moment = shown_moment(now_us);
    session.say("IDC0594I", format!("{} OBJECTS BACKED UP ON {moment}", entries.len()));
    Ok(worst)
}

/// Says which clusters the masks stand for, too, that no name leads to: they are in no copy.
fn hidden<S: Store>(session: &mut Session<'_, S>, parameters: &Parameters) -> Done {
    let excluded = filters(parameters.values("EXCLUDE"))?;
    let mut worst = 0;
    if catalog_of(parameters)?.is_some() {
        return Ok(worst);
    }
    for value in &parameters.positional {
        let filter = match value.name().as_str() {
            "*" => Filter::all(),
            name if name.contains(['*', '%']) => filter_of(value)?,
            _ => continue,
        };
        for entry in session.catalog.hidden(&filter)? {
            let name = &entry.name;
            if entry.kind() == Kind::Cluster && !excluded.iter().any(|one| one.matches(name)) {
                let within = entry.catalog.as_ref().map_or("THE MASTER CATALOG", |of| of.as_str());
                let text = format!(
                    "{name} OF {within} NOT BACKED UP: its first qualifiers pick another catalog"
                );
                worst = worst.max(session.refuse(&Refusal::severe("IDC3012I", text).with(ERROR)));
            }
        }
    }
    Ok(worst)
}

/// The clusters that values stand for, without those of EXCLUDE.
pub(crate) fn clusters_of<S: Store>(
    session: &Session<'_, S>,
    values: &[Value],
    parameters: &Parameters,
) -> Result<Vec<Entry>, Refusal> {
    let excluded = filters(parameters.values("EXCLUDE"))?;
    let catalog = catalog_of(parameters)?;
    let mut all: Vec<Entry> = Vec::new();
    for value in values {
        let filter = match value.name().as_str() {
            "*" => Filter::all(),
            _ => filter_of(value)?,
        };
        let listed = session.catalog.list(&filter, catalog.as_ref())?;
        let fits = |entry: &Entry| {
            entry.kind() == Kind::Cluster && !excluded.iter().any(|one| one.matches(&entry.name))
        };
        let found: Vec<Entry> = listed.into_iter().filter(fits).collect();
        if found.is_empty() {
            let text = format!("ENTRY {} NOT FOUND", value.name());
            return Err(Refusal::severe("IDC3012I", text));
        }
        for entry in &found {
            // Copies are made by name.
            if session.catalog.get(&entry.name)?.map(|known| known.number) != Some(entry.number) {
                let name = &entry.name;
                let text = format!("ENTRY {name} NOT FOUND: its name picks another catalog");
                return Err(Refusal::severe("IDC3012I", text));
            }
        }
        let new = found.into_iter().filter(|one| all.iter().all(|known| known.name != one.name));
        let new: Vec<Entry> = new.collect();
        all.extend(new);
    }
    Ok(all)
}

fn filters(values: &[Value]) -> Result<Vec<Filter>, Refusal> {
    values.iter().map(filter_of).collect()
}

pub(crate) fn restore<S: Store>(session: &mut Session<'_, S>, command: &Command) -> Done {
    let parameters = &command.parameters;
    let input = session.locate(parameters, "INFILE", "INDATASET")?;
    let chosen = Chosen::of(parameters)?;
    let names = Names::of(parameters)?;
    let mut reader = open(session, &input)?;
    let ways = Ways { chosen, names, replaces: parameters.has("REPLACE") };
    let mut awaited = Awaited::new();
    let read = objects(session, (&mut reader, &input), &ways, &mut awaited);
    let mut worst = match read {
        Ok(worst) => worst,
        Err(refusal) => {
            for name in awaited.take_back(session) {
                session.say("IDC0551I", format!("ENTRY {name} NOT RESTORED"));
            }
            return Err(refusal);
        }
    };
    let (mut objects, mut count) = (0_u64, 0);
    for loaded in &mut awaited.all {
        match in_place(session, loaded) {
            Ok(()) => {
                let (name, records) = (&loaded.name, loaded.records);
                (objects, count) = (objects + 1, count + records);
                session.say("IDC0005I", format!("{name} RESTORED: {records} RECORDS"));
                for statement in &loaded.above {
                    worst = worst.max(above(session, statement, &ways.names));
                }
            }
            Err(refusal) if refusal.code == TERMINATE => return Err(refusal),
            Err(refusal) => {
                worst = worst.max(session.refuse(&refusal.with(ERROR)));
                session.say("IDC0551I", format!("ENTRY {} NOT RESTORED", loaded.name));
            }
        }
    }
    session.say("IDC0005I", format!("NUMBER OF RECORDS PROCESSED WAS {count}"));
    let moment = shown_moment(reader.made_us);
    session.say("IDC0604I", format!("{objects} OBJECTS RESTORED, BACKED UP ON {moment}"));
    let missing = objects == 0 && worst == 0;
    Ok(if missing { SEVERE } else { worst })
}

/// What RESTORE is to do with the objects of a copy.
struct Ways {
    chosen: Chosen,
    names: Names,
    replaces: bool,
}

/// Reads a copy to its end; answers the condition code of what could not be read of it.
fn objects<S: Store>(
    session: &mut Session<'_, S>,
    (reader, input): (&mut FileReader, &Located),
    ways: &Ways,
    awaited: &mut Awaited<S>,
) -> Done {
    let (mut worst, mut data) = (0, Vec::new());
    // Whether what stands over the last cluster is wanted, too.
    let mut wanted_above = false;
    while let Some(next) = frame(reader, input, &mut data)? {
        match next {
            Frame::Cluster(text) => {
                wanted_above = false;
                let mut records = Records::of(reader, input);
                let mut wanted = match object_of(session, &text, &Names::default()) {
                    Ok(wanted) => wanted,
                    Err(refusal) => {
                        worst = worst.max(passed_over(session, &mut records, refusal)?);
                        continue;
                    }
                };
                if !ways.chosen.has(&wanted.name) {
                    records.pass()?;
                    continue;
                }
                ways.names.apply(&mut wanted);
                let name = wanted.name.clone();
                match one(session, &mut records, wanted, ways.replaces, awaited.all.len()) {
                    Ok(loaded) => {
                        wanted_above = true;
                        awaited.all.push(loaded);
                    }
                    Err(refusal) => {
                        worst = worst.max(passed_over(session, &mut records, refusal)?);
                        session.say("IDC0551I", format!("ENTRY {name} NOT RESTORED"));
                    }
                }
            }
            Frame::Above(text) if wanted_above => awaited.keep(text)?,
            _ => {}
        }
    }
    Ok(worst)
}

/// Which objects of a copy are wanted.
struct Chosen(Vec<Filter>);

impl Chosen {
    fn of(parameters: &Parameters) -> Result<Chosen, Refusal> {
        let rows = parameters.get("OBJECTS").map(|one| one.rows.as_slice()).unwrap_or_default();
        let values: Vec<Value> =
            rows.iter().filter_map(|row| row.positional.first().cloned()).collect();
        Ok(Chosen(filters(&values)?))
    }

    fn has(&self, name: &DataSetName) -> bool {
        self.0.is_empty() || self.0.iter().any(|filter| filter.matches(name))
    }
}

/// Tells why an object is not restored, and passes over its records; answers the condition code.
/// Nothing is passed over where the copy cannot be read on, or the system has failed.
fn passed_over<S: Store>(
    session: &mut Session<'_, S>,
    records: &mut Records<'_>,
    refusal: Refusal,
) -> Result<u32, Refusal> {
    if records.is_broken || refusal.code == TERMINATE {
        return Err(refusal);
    }
    let code = session.refuse(&refusal.with(ERROR));
    records.pass()?;
    Ok(code)
}

/// Reads a cluster: beside the one that it is to replace, if there is one. So many were read before
/// it.
fn one<S: Store>(
    session: &mut Session<'_, S>,
    records: &mut Records<'_>,
    mut wanted: Wanted,
    replaces: bool,
    before: usize,
) -> Result<Loaded<S>, Refusal> {
    let name = wanted.name.clone();
    if let Some(there) = session.catalog.get(&name)? {
        if !replaces || there.kind() != Kind::Cluster {
            let text =
                format!("DUPLICATE DATA SET NAME: {name} is in the catalog; REPLACE restores it");
            return Err(Refusal::severe("IDC3013I", text));
        }
        wanted.name = aside(session, &name, before)?;
        if let vsam::Definition::Cluster(cluster) = &mut wanted.definition {
            (cluster.data_name, cluster.index_name) = (None, None);
        }
    }
    let mut loaded = cluster(session, records, wanted, Into::New)?;
    loaded.name = name;
    // A generation joins its group when the copy is proven.
    if loaded.deferred.is_none() {
        loaded.finish(session)?;
    }
    Ok(loaded)
}

/// Puts a cluster in the place of the one that it replaces.
fn in_place<S: Store>(session: &mut Session<'_, S>, loaded: &mut Loaded<S>) -> Result<(), Refusal> {
    loaded.finish(session)?;
    let (name, at) = (&loaded.name, &loaded.at);
    if name == at {
        return Ok(());
    }
    replace(session, name, at).map_err(|refusal| {
        let text = format!("{}; the restored records are in {at}", refusal.text);
        Refusal { text, ..refusal }
    })
}

/// Deletes a cluster and gives its name to another, if nothing is against that.
fn replace<S: Store>(
    session: &Session<'_, S>,
    name: &DataSetName,
    at: &DataSetName,
) -> Result<(), Refusal> {
    let claimed = session.catalog.claim(name, purge())?;
    let refused = |text: String| Refusal::severe("IDC3013I", text);
    let restored = session.catalog.get(at)?;
    let restored = restored.ok_or_else(|| refused(format!("ENTRY {at} NOT FOUND")))?;
    let goes = claimed.entries();
    if goes.iter().any(|entry| entry.catalog != restored.catalog) {
        return Err(refused(format!("{at} is in another catalog than {name}")));
    }
    // Those of the restored one are called after it, and those that go are free then.
    let renamed = Entry { name: name.clone(), ..restored };
    for component in renamed.components() {
        let is_free = goes
            .iter()
            .any(|entry| entry.name == component || entry.components().contains(&component));
        if !is_free && session.catalog.get(&component)?.is_some() {
            return Err(refused(format!("DUPLICATE DATA SET NAME: {component} is in the catalog")));
        }
    }
    claimed.delete()?;
    session.catalog.rename(at, name)?;
    Ok(())
}

/// How many names are tried.
const ASIDE_MAX: usize = 1000;

/// A name beside that of a cluster that is to be replaced, where so many others may be.
fn aside<S: Store>(
    session: &Session<'_, S>,
    name: &DataSetName,
    before: usize,
) -> Result<DataSetName, Refusal> {
    for number in before..before.saturating_add(ASIDE_MAX) {
        let first = name.first_qualifier();
        let candidate = DataSetName::parse(&format!("{first}.RESTORED.R{number}"))?;
        if session.catalog.get(&candidate)?.is_none() {
            return Ok(candidate);
        }
    }
    Err(Refusal::severe("IDC3013I", format!("no name is free beside {name}")))
}
