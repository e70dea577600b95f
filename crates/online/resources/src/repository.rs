//! Where definitions are kept: a set of the store, and all of them in memory.
//!
//! | bytes of a key | of each definition |
//! |---|---|
//! | 1 | kind: `D`, `P`, `R`, `T` |
//! | 8 | name |
//!
//! | bytes of a value | |
//! |---|---|
//! | 1 | version, 1 |
//! | rest | what differs from the defaults, as `SET` takes it |
//!
//! A resource that is stopped has another entry, whose kind is in lower case. Its value is the
//! version alone, or the version and `S` if it is only not scheduled.
//!
//! Invariants:
//! 1. Memory and store say the same whenever nobody is inside [`Repository::apply`].
//! 2. Who changes something holds the name of the whole set; nobody else locks anything here.
//! 3. What is not defined is not stopped.

use std::collections::BTreeMap;
use std::sync::Arc;

use otma::Name;
use seam::sync::Mutex;
use store::{
    Cursor, KeyRange, LockMode, LockName, Locking, Pairs, Read, SetAttributes, SetId, Store,
    StoreError, Unit, UnitOptions, Wait, run,
};

use crate::check::{Change, Known, apply, fits, set_all};
use crate::error::ResourceError;
use crate::model::{Database, Definition, Kind, Program, RoutingCode, Transaction};

/// The set's name.
pub const SET: &str = "HOLDFAST.RESOURCES";

const VERSION: u8 = 1;

/// The definitions of a system.
pub struct Repository<S: Store> {
    store: S,
    set: SetId,
    known: Mutex<Arc<Known>>,
    /// What is stopped, and how. Locked behind `known`, where both are.
    stopped: Mutex<BTreeMap<(Kind, Name), Stop>>,
}

/// How a resource is stopped. What the words mean for a database its system says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// By an operator: nothing is queued for it, or scheduled.
    Whole,
    /// It is not scheduled, because it has failed too often.
    Scheduling,
}

/// What says in an entry that scheduling alone is stopped.
const SCHEDULING: u8 = b'S';

impl Stop {
    fn value(self) -> &'static [u8] {
        match self {
            Stop::Whole => &[VERSION],
            Stop::Scheduling => &[VERSION, SCHEDULING],
        }
    }

    fn of_value(value: &[u8]) -> Stop {
        match value {
            [_, SCHEDULING, ..] => Stop::Scheduling,
            _ => Stop::Whole,
        }
    }
}

fn letter(kind: Kind) -> u8 {
    match kind {
        Kind::Database => b'D',
        Kind::Program => b'P',
        Kind::RoutingCode => b'R',
        Kind::Transaction => b'T',
    }
}

fn key_of((kind, name): (Kind, Name)) -> [u8; 9] {
    let mut key = [letter(kind); 9];
    key[1..].copy_from_slice(&name.0);
    key
}

/// The key of the entry that says that a resource is stopped.
fn stop_key_of(resource: (Kind, Name)) -> [u8; 9] {
    let mut key = key_of(resource);
    key[0].make_ascii_lowercase();
    key
}

/// The resource that such an entry stops.
fn stopped_by(key: &[u8]) -> Option<(Kind, Name)> {
    let (first, name) = key.split_first()?;
    let kind = Kind::ALL.into_iter().find(|kind| letter(*kind).to_ascii_lowercase() == *first)?;
    Some((kind, Name(name.try_into().ok()?)))
}

fn value_of(definition: &Definition) -> Vec<u8> {
    let mut value = vec![VERSION];
    value.extend_from_slice(definition.settings().as_bytes());
    value
}

fn decode(key: &[u8], value: &[u8]) -> Result<Definition, ResourceError> {
    let unreadable = |what: &str| ResourceError::Unreadable {
        name: String::from_utf8_lossy(key).trim_end().to_owned(),
        what: what.to_owned(),
    };
    let (first, name) = key.split_first().ok_or_else(|| unreadable("its key is empty"))?;
    let kind = Kind::ALL.into_iter().find(|kind| letter(*kind) == *first);
    let kind = kind.ok_or_else(|| unreadable("its kind is unknown"))?;
    let name = Name(name.try_into().map_err(|_| unreadable("its name has not 8 bytes"))?);
    let (version, text) = value.split_first().ok_or_else(|| unreadable("it is empty"))?;
    if *version != VERSION {
        return Err(unreadable(&format!("its version is {version}")));
    }
    let text = std::str::from_utf8(text).map_err(|_| unreadable("it is no text"))?;
    let settings = crate::command::settings(text).ok_or_else(|| unreadable("it is no list"))?;
    let mut one = Definition::new(kind, name);
    set_all(&mut one, &settings)?;
    Ok(one)
}

impl<S: Store> Repository<S> {
    /// The repository of a store; an empty one if there is none yet.
    ///
    /// # Errors
    /// If the store fails, or holds what this release cannot read.
    pub fn open(store: &S) -> Result<Repository<S>, ResourceError> {
        let set = match store.set(SET)? {
            Some(set) => set,
            None => {
                let attributes =
                    SetAttributes { locking: Locking::Caller, ..SetAttributes::default() };
                store.create_set(SET, &attributes)?
            }
        };
        let (mut known, mut stopped) = (Known::new(), BTreeMap::new());
        let mut unit = store.begin(UnitOptions::READ_ONLY)?;
        let mut cursor = store.cursor(set)?;
        cursor.limit(KeyRange::ALL);
        while let Some(entry) = unit.next(&mut cursor, Read::Unlocked)? {
            if let Some(resource) = stopped_by(entry.key) {
                stopped.insert(resource, Stop::of_value(entry.value));
                continue;
            }
            let one = decode(entry.key, entry.value)?;
            known.insert((one.kind(), one.name()), one);
        }
        unit.commit()?;
        let (known, stopped) = (Mutex::new(Arc::new(known)), Mutex::new(stopped));
        Ok(Repository { store: store.clone(), set, known, stopped })
    }

    /// All definitions as they are now.
    #[must_use]
    pub fn all(&self) -> Arc<Known> {
        Arc::clone(&self.known.lock())
    }

    /// Makes changes, all of them or none; they are durable on return. Answers which resources
    /// they touched.
    ///
    /// # Errors
    /// The first change that cannot be made, or a failure of the store.
    pub fn apply(&self, changes: &[Change]) -> Result<Vec<(Kind, Name)>, ResourceError> {
        let mut held = self.known.lock();
        let was_empty = held.is_empty();
        let mut next = Known::clone(&held);
        let touched = apply(&mut next, changes)?;
        if was_empty && next.len() > 1_000 {
            self.load(&next)?;
        } else {
            self.write(&next, &touched)?;
            self.stopped.lock().retain(|resource, _| next.contains_key(resource));
        }
        *held = Arc::new(next);
        Ok(touched)
    }

    fn load(&self, next: &Known) -> Result<(), ResourceError> {
        let pairs = next.iter().map(|(key, one)| (key_of(*key), value_of(one)));
        self.store.load_sorted(self.set, &mut Pairs::new(pairs))?;
        Ok(())
    }

    fn write(&self, next: &Known, touched: &[(Kind, Name)]) -> Result<(), ResourceError> {
        run(&self.store, UnitOptions::default(), |unit| {
            let whole = LockName { space: self.set.0, name: b"*" };
            let _ = unit.lock(whole, LockMode::Exclusive, Wait::Forever)?;
            for key in touched {
                match next.get(key) {
                    Some(one) => unit.put(self.set, &key_of(*key), &value_of(one))?,
                    None => {
                        let _ = unit.delete(self.set, &key_of(*key))?;
                        let _ = unit.delete(self.set, &stop_key_of(*key))?;
                    }
                }
            }
            Ok(())
        })
    }

    /// What is stopped, and how, by kind and name.
    #[must_use]
    pub fn stopped(&self) -> Vec<((Kind, Name), Stop)> {
        self.stopped.lock().iter().map(|(resource, stop)| (*resource, *stop)).collect()
    }

    /// Keeps that resources of a kind are stopped in some way, or that they are not; durable on
    /// return. Those that are not defined are left out, but databases: they need not be.
    ///
    /// # Errors
    /// If the store fails.
    pub fn set_stopped(
        &self,
        kind: Kind,
        names: &[Name],
        stop: Option<Stop>,
    ) -> Result<(), ResourceError> {
        let known = self.known.lock();
        let mut held = self.stopped.lock();
        let changed = |resource: &(Kind, Name)| {
            let is_known = resource.0 == Kind::Database || known.contains_key(resource);
            is_known && held.get(resource).copied() != stop
        };
        let all = names.iter().map(|name| (kind, *name));
        let changes: Vec<(Kind, Name)> = all.filter(changed).collect();
        if changes.is_empty() {
            return Ok(());
        }
        run(&self.store, UnitOptions::default(), |unit| {
            let whole = LockName { space: self.set.0, name: b"*" };
            let _ = unit.lock(whole, LockMode::Exclusive, Wait::Forever)?;
            for resource in &changes {
                let key = stop_key_of(*resource);
                match stop {
                    Some(stop) => unit.put(self.set, &key, stop.value())?,
                    None => drop(unit.delete(self.set, &key)?),
                }
            }
            Ok::<(), StoreError>(())
        })?;
        for resource in changes {
            match stop {
                Some(stop) => held.insert(resource, stop),
                None => held.remove(&resource),
            };
        }
        Ok(())
    }

    /// Resources of a kind whose names fit a mask (`*` any characters, `%` one), by name.
    #[must_use]
    pub fn list(&self, kind: Kind, mask: &str) -> Vec<Definition> {
        let known = self.all();
        let range = known.range((kind, Name([0; 8]))..=(kind, Name([0xff; 8])));
        range
            .filter(|((_, name), _)| fits(mask, &name.text()))
            .map(|(_, one)| one.clone())
            .collect()
    }

    /// A transaction.
    #[must_use]
    pub fn transaction(&self, name: Name) -> Option<Transaction> {
        match self.known.lock().get(&(Kind::Transaction, name)) {
            Some(Definition::Transaction(one)) => Some(Transaction::clone(one)),
            _ => None,
        }
    }

    /// A program.
    #[must_use]
    pub fn program(&self, name: Name) -> Option<Program> {
        match self.known.lock().get(&(Kind::Program, name)) {
            Some(Definition::Program(one)) => Some(one.clone()),
            _ => None,
        }
    }

    /// A database.
    #[must_use]
    pub fn database(&self, name: Name) -> Option<Database> {
        match self.known.lock().get(&(Kind::Database, name)) {
            Some(Definition::Database(one)) => Some(one.clone()),
            _ => None,
        }
    }

    /// A routing code.
    #[must_use]
    pub fn routing_code(&self, name: Name) -> Option<RoutingCode> {
        match self.known.lock().get(&(Kind::RoutingCode, name)) {
            Some(Definition::RoutingCode(one)) => Some(one.clone()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use store_suite::model::ModelStore;

    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text).expect("a name")
    }

    fn pair(number: usize) -> Vec<Change> {
        let program = name(&format!("P{number}"));
        let mut one = Definition::new(Kind::Transaction, name(&format!("T{number}")));
        one.set("PGM", &program.text()).expect("a name");
        one.set("CLASS", "7").expect("a class");
        vec![Change::Create(Definition::new(Kind::Program, program)), Change::Create(one)]
    }

    #[test]
    fn definitions_survive_a_crash_and_are_listed_by_mask() {
        let store = ModelStore::new();
        let repository = Repository::open(&store).expect("a store");
        for number in 0..12 {
            repository.apply(&pair(number)).expect("they fit");
        }
        let again = Repository::open(&store.crash()).expect("a store");
        assert_eq!(again.all(), repository.all());
        assert_eq!(again.list(Kind::Transaction, "T1*").len(), 3);
        assert_eq!(again.transaction(name("T3")).map(|one| one.class.0), Some(7));
    }

    #[test]
    fn changes_are_made_together_or_not_at_all() {
        let store = ModelStore::new();
        let repository = Repository::open(&store).expect("a store");
        let mut changes = pair(1);
        changes.extend(pair(1));
        assert!(matches!(repository.apply(&changes), Err(ResourceError::Exists { .. })));
        assert!(repository.all().is_empty());
        assert!(Repository::open(&store).expect("a store").all().is_empty());
    }

    #[test]
    fn many_definitions_are_loaded_at_once() {
        let store = ModelStore::new();
        let repository = Repository::open(&store).expect("a store");
        let changes: Vec<Change> = (0..2_000).flat_map(pair).collect();
        assert_eq!(repository.apply(&changes).map(|touched| touched.len()).ok(), Some(4_000));
        let again = Repository::open(&store.crash()).expect("a store");
        assert_eq!(again.all().len(), 4_000);
    }
}
