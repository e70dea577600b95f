//! What a stopped system is said to have is what a restart would find.

use std::sync::Arc;

use base::DataSetId;
use btree::format_empty;
use seal::KdfCost;
use space::DataSet;
use store::{SetAttributes, Store as _};
use uow::Source;

use super::*;
use crate::{Bytes, InitOptions, OpenOptions, System};

/// A system in a folder that goes away with the test.
struct Place {
    seam: Seam,
    dir: PathBuf,
}

/// Data sets by number, with their names.
type Named = Vec<(DataSetId, String)>;

impl Place {
    fn new(name: &str) -> Place {
        let name = format!("holdfast-survey-{name}-{}", std::process::id());
        let place = Place { seam: Seam::real(), dir: std::env::temp_dir().join(name) };
        let mut config = SystemConfig::new(base::SystemId::default());
        config.log.segment_bytes = Bytes(1 << 20);
        config.log.ring_bytes = Bytes(1 << 20);
        config.pools.values_mut().for_each(|pool| pool.bytes = Bytes(1 << 20));
        let cost = KdfCost { memory_kib: 64, passes: 1, lanes: 1 };
        let options = InitOptions { config, cost, ..InitOptions::default() };
        System::init(&place.seam, &place.dir, &phrase(), &options).unwrap();
        place
    }

    fn open(&self, offline: &[String]) -> System {
        let options = OpenOptions { serve: false, ..OpenOptions::default() };
        System::open_without(&self.seam, &self.dir, &phrase(), options, offline).unwrap()
    }

    /// What a look at the stopped system finds: numbers and names of the data sets that are in use,
    /// and of those that wait for their recovery.
    fn found(&self) -> (Named, Named) {
        let survey = Stopped::look(&self.seam, &self.dir, &phrase()).unwrap();
        let survey = survey.survey(&mut |_| ()).unwrap();
        let of = |set: &Definition| (set.id, set.name.clone());
        let online = survey.catalog.open().map(|(_, set)| of(set)).collect();
        (online, survey.catalog.offline().map(of).collect())
    }
}

impl Drop for Place {
    #[allow(clippy::disallowed_methods)] // the test's own folder
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

fn phrase() -> Passphrase {
    Passphrase::from("correct horse battery staple")
}

/// The process is killed: nothing more is written.
fn kill(system: System) {
    system.kernel().abandon();
    drop(system);
}

fn make(system: &System, name: &str) -> Arc<DataSet> {
    system.store().create_set(name, &SetAttributes::default()).unwrap();
    system.kernel().set_named(name).unwrap()
}

/// Begins to build what is to take the place of a data set.
fn build(system: &System, old: &DataSet) -> Arc<DataSet> {
    let sources = vec![Source { set: old.id(), until: Lsn(u64::MAX) }];
    let definition = Definition::clone(&old.definition());
    let made = Checkpoint::initial();
    let rebuild = system.kernel().rebuild(definition, sources, &made, &format_empty).unwrap();
    let (built, _) = rebuild.finish().unwrap();
    built
}

fn listed(set: &DataSet) -> (DataSetId, String) {
    (set.id(), set.name().to_owned())
}

/// A data set was recovered while the system ran, and the process was killed before the next
/// checkpoint: a stopped system then listed the old one, whose files were gone.
#[test]
fn what_was_recovered_before_a_kill_is_listed_in_its_new_place() {
    let place = Place::new("recovered");
    let system = place.open(&[]);
    let (old, other) = (make(&system, "OLD"), make(&system, "OTHER"));
    let new = build(&system, &old);
    system.kernel().put_in_place(&[(old.id(), Arc::clone(&new))], Lsn(u64::MAX)).unwrap();
    let (other, new) = (listed(&other), listed(&new));
    drop(old);
    kill(system);
    assert_eq!(place.found(), (vec![other, new.clone()], vec![]));
    let survey = place.open(&[]);
    assert_eq!(survey.kernel().set_named("OLD").map(|set| set.id()), Some(new.0));
    survey.close().unwrap();
}

/// The same where a checkpoint was taken while the successor was being built.
#[test]
fn what_is_being_built_is_not_listed_until_it_is_in_place() {
    let place = Place::new("building");
    let system = place.open(&[]);
    let old = make(&system, "OLD");
    let new = build(&system, &old);
    system.kernel().checkpoint_now(false).unwrap();
    let before = listed(&old);
    kill(system);
    assert_eq!(place.found(), (vec![before.clone()], vec![]));
    drop(new);

    let system = place.open(&[]);
    let old = system.kernel().set_named("OLD").unwrap();
    let new = build(&system, &old);
    system.kernel().checkpoint_now(false).unwrap();
    system.kernel().put_in_place(&[(old.id(), Arc::clone(&new))], Lsn(u64::MAX)).unwrap();
    let after = listed(&new);
    kill(system);
    assert_eq!(place.found(), (vec![after], vec![]));
}

/// What waited for its recovery, and was recovered, waits no longer.
#[test]
fn what_was_offline_and_recovered_before_a_kill_is_in_use() {
    let place = Place::new("offline");
    let system = place.open(&[]);
    let old = listed(&make(&system, "OLD"));
    system.close().unwrap();
    let system = place.open(&["OLD".into()]);
    assert_eq!(system.kernel().offline_sets().len(), 1);
    let definition = system.kernel().offline_sets().remove(0);
    let sources = vec![Source { set: old.0, until: Lsn(u64::MAX) }];
    let made = Checkpoint::initial();
    let rebuild = system.kernel().rebuild(definition, sources, &made, &format_empty).unwrap();
    let (new, _) = rebuild.finish().unwrap();
    system.kernel().put_in_place(&[(old.0, Arc::clone(&new))], Lsn(u64::MAX)).unwrap();
    let new = listed(&new);
    kill(system);
    assert_eq!(place.found(), (vec![new], vec![]));
}
