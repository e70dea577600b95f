//! BACKUP and RESTORE: portable copies of many clusters in one file.
//!
//! | | |
//! |---|---|
//! | `BACKUP (A.** B) EXCLUDE(A.TMP.**) OUTFILE(DD)` | all clusters that the masks stand for |
//! | `RESTORE INFILE(DD)` | all of them |
//! | `OBJECTS((A NEWNAME(B)) C.**)` | these alone |
//! | `SYNONYM((A B.C) ...)` | names that begin with A begin with B.C: a copy beside its original |
//! | `REPLACE` | a cluster that is there gives way once its copy is read whole |
//!
//! Invariants:
//! 1. Each object is restored whole or not at all; one that fails has condition code 8, and the
//!    others go on, unless the copy itself cannot be read or the system has failed.
//! 2. With REPLACE a cluster keeps its records until those of its copy are all there.

use store::Store;
use vsam::{DataSetName, DeleteOptions, Entry, Filter, Kind};

use crate::define::Wanted;
use crate::export::{Origin, create, finish, object};
use crate::import::{Into, Names, Records, above, cluster, frame, object_of, open};
use crate::names::{catalog_of, filter_of, shown_moment};
use crate::portable::Frame;
use crate::refusal::{ERROR, Refusal, SEVERE, TERMINATE};
use crate::session::{Done, Session};
use crate::syntax::{Command, Parameters, Value};

pub(crate) fn run<S: Store>(session: &mut Session<'_, S>, command: &Command) -> Done {
    let parameters = &command.parameters;
    let entries = clusters_of(session, &parameters.positional, parameters)?;
    let output = session.locate(parameters, "OUTFILE", "OUTDATASET")?;
    let (origin, mut count) = (Origin::that_stays(session, &entries)?, 0);
    let (mut writer, now_us) = create(session, &output, &entries)?;
    for entry in &entries {
        let records = object(session, &mut writer, entry, &origin)?;
        session.say("IDC0005I", format!("{} BACKED UP: {records} RECORDS", entry.name));
        count += records;
    }
    finish(writer, &output)?;
    session.say("IDC0005I", format!("NUMBER OF RECORDS PROCESSED WAS {count}"));
    let moment = shown_moment(now_us);
    session.say("IDC0594I", format!("{} OBJECTS BACKED UP ON {moment}", entries.len()));
    Ok(0)
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
    let replaces = parameters.has("REPLACE");
    let (mut worst, mut objects, mut count) = (0, 0_u64, 0);
    let mut data = Vec::new();
    // Whether what stands over the last cluster is wanted, too.
    let mut wanted_above = false;
    while let Some(next) = frame(&mut reader, &input, &mut data)? {
        match next {
            Frame::Cluster(text) => {
                wanted_above = false;
                let mut records = Records::of(&mut reader, &input);
                let mut wanted = match object_of(session, &text, &Names::default()) {
                    Ok(wanted) => wanted,
                    Err(refusal) => {
                        worst = worst.max(passed_over(session, &mut records, refusal)?);
                        continue;
                    }
                };
                if !chosen.has(&wanted.name) {
                    records.pass()?;
                    continue;
                }
                names.apply(&mut wanted);
                let name = wanted.name.clone();
                match one(session, &mut records, wanted, replaces) {
                    Ok(restored) => {
                        wanted_above = true;
                        (objects, count) = (objects + 1, count + restored);
                        session.say("IDC0005I", format!("{name} RESTORED: {restored} RECORDS"));
                    }
                    Err(refusal) => {
                        worst = worst.max(passed_over(session, &mut records, refusal)?);
                        session.say("IDC0551I", format!("ENTRY {name} NOT RESTORED"));
                    }
                }
            }
            Frame::Above(text) if wanted_above => {
                worst = worst.max(above(session, &text, &names));
            }
            _ => {}
        }
    }
    session.say("IDC0005I", format!("NUMBER OF RECORDS PROCESSED WAS {count}"));
    let moment = shown_moment(reader.made_us);
    session.say("IDC0604I", format!("{objects} OBJECTS RESTORED, BACKED UP ON {moment}"));
    let missing = objects == 0 && worst == 0;
    Ok(if missing { SEVERE } else { worst })
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

fn one<S: Store>(
    session: &mut Session<'_, S>,
    records: &mut Records<'_>,
    mut wanted: Wanted,
    replaces: bool,
) -> Result<u64, Refusal> {
    let name = wanted.name.clone();
    let Some(there) = session.catalog.get(&name)? else {
        return cluster(session, records, wanted, Into::New);
    };
    if !replaces || there.kind() != Kind::Cluster {
        let text =
            format!("DUPLICATE DATA SET NAME: {name} is in the catalog; REPLACE restores it");
        return Err(Refusal::severe("IDC3013I", text));
    }
    let aside = aside(session, &name)?;
    wanted.name = aside.clone();
    if let vsam::Definition::Cluster(cluster) = &mut wanted.definition {
        (cluster.data_name, cluster.index_name) = (None, None);
    }
    let count = cluster(session, records, wanted, Into::New)?;
    let purge = DeleteOptions { purge: true, ..DeleteOptions::default() };
    let replaced = session.catalog.delete(&name, purge).map_err(Refusal::from);
    let replaced = replaced.and_then(|_| Ok(session.catalog.rename(&aside, &name)?));
    replaced.map_err(|refusal| {
        let text = format!("{}; the restored records are in {aside}", refusal.text);
        Refusal { text, ..refusal }
    })?;
    Ok(count)
}

/// A name beside that of a cluster that is replaced.
fn aside<S: Store>(session: &Session<'_, S>, name: &DataSetName) -> Result<DataSetName, Refusal> {
    for number in 0..1000 {
        let first = name.first_qualifier();
        let candidate = DataSetName::parse(&format!("{first}.RESTORED.R{number}"))?;
        if session.catalog.get(&candidate)?.is_none() {
            return Ok(candidate);
        }
    }
    Err(Refusal::severe("IDC3013I", format!("no name is free beside {name}")))
}
