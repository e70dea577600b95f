//! What the engine and its operator can see and do: values are sealed, bound to their place, and
//! keys can stand as tokens.

use std::sync::Arc;

use crate::common::Server;
use holdfast_store_postgres::{EngineOptions, EngineStore, Sealing};
use seal::TestKeys;
use seam::Seam;
use store::{
    Outcome, Read, Result, SetAttributes, SetId, Store, StoreError, Unit, UnitOptions, run,
};
use store_suite::conformance::{Subject, run_all};

fn sealed(options: &mut EngineOptions) {
    let keys = Arc::new(TestKeys::new(5));
    options.sealing = Some(Sealing { keys, label: "engine".into(), identity: None });
}

struct Sealed {
    store: EngineStore,
    set: SetId,
    schema: String,
}

impl Sealed {
    fn new(entries: &[(&[u8], &[u8])]) -> Sealed {
        let server = Server::shared();
        let options = server.new_schema(sealed);
        let schema = options.schema.clone();
        let store = EngineStore::open(&server.url(), options, &Seam::real()).unwrap();
        let set = store.create_set("SECRETS", &SetAttributes::default()).unwrap();
        let made = Sealed { store, set, schema };
        made.put(entries).unwrap();
        made
    }

    fn put(&self, entries: &[(&[u8], &[u8])]) -> Result<()> {
        run(&self.store, UnitOptions::default(), |unit| {
            entries.iter().try_for_each(|(key, value)| unit.put(self.set, key, value))
        })
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut value = Vec::new();
        let mut unit = self.store.begin(UnitOptions::READ_ONLY)?;
        Ok(unit.get(self.set, key, Read::Shared, &mut value)?.then_some(value))
    }

    fn sql(&self, statement: &str) -> String {
        Server::shared().psql(&format!("SET search_path TO {}; {statement}", self.schema))
    }

    /// A stored key in SQL.
    fn key(&self, key: &[u8]) -> String {
        let bytes = [&self.set.0.to_be_bytes()[..], key].concat();
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("'\\x{digits}'::bytea")
    }
}

fn is_damage<T>(result: Result<T>) -> bool {
    matches!(result, Err(StoreError::Damaged(_)))
}

#[test]
fn a_sealed_store_conforms() {
    let subject = Subject::new(Server::shared().store_with(sealed)).with_effort(8, 3);
    for finding in run_all(&subject) {
        assert_eq!(finding.result, Ok(()), "{} {}", finding.part, finding.name);
    }
}

#[test]
fn no_value_is_readable_in_the_engine_and_keys_are() {
    let sealed = Sealed::new(&[(b"CUSTOMER 1", b"owes much"), (b"CUSTOMER 2", b"owes much")]);
    let dump = sealed.sql("SELECT encode(k, 'escape') || ' ' || encode(v, 'escape') FROM entries");
    assert!(dump.contains("CUSTOMER 1"), "keys stay in order: {dump}");
    assert!(!dump.contains("owes"), "{dump}");
    let different = sealed.sql("SELECT count(DISTINCT v) FROM entries");
    assert_eq!(different, "2", "equal values do not look equal");
}

#[test]
fn what_was_altered_swapped_or_written_in_the_clear_is_damage() {
    let sealed = Sealed::new(&[(b"a", b"1"), (b"b", b"2"), (b"c", b"3"), (b"d", b"4")]);
    let (a, b, c, d) = (sealed.key(b"a"), sealed.key(b"b"), sealed.key(b"c"), sealed.key(b"d"));
    sealed.sql(&format!(
        "CREATE TEMP TABLE kept AS SELECT k, v FROM entries; \
         UPDATE entries SET v = (SELECT v FROM kept WHERE k = {b}) WHERE k = {a}; \
         UPDATE entries SET v = (SELECT v FROM kept WHERE k = {a}) WHERE k = {b}; \
         UPDATE entries SET v = set_byte(v, length(v) - 1, get_byte(v, length(v) - 1) # 1) \
         WHERE k = {c}; \
         UPDATE entries SET v = '\\x0034' WHERE k = {d};"
    ));
    for key in [&b"a"[..], b"b", b"c", b"d"] {
        assert!(is_damage(sealed.get(key)), "{}", key.escape_ascii());
    }
    let mut unit = sealed.store.begin(UnitOptions::default()).unwrap();
    let mut cursor = sealed.store.cursor(sealed.set).unwrap();
    assert!(is_damage(unit.next(&mut cursor, Read::Unlocked).map(|entry| entry.is_some())));
    assert!(unit.failure().is_some(), "nothing is built on what is damaged");
}

#[test]
fn an_older_value_of_the_same_key_is_not_told_from_the_newest() {
    // This is what SECURITY.md says is not found out; should it be one day, it must say so.
    let sealed = Sealed::new(&[(b"balance", b"100")]);
    let kept = sealed.sql("SELECT encode(v, 'hex') FROM entries");
    sealed.put(&[(b"balance", b"0")]).unwrap();
    sealed.sql(&format!("UPDATE entries SET v = '\\x{kept}'"));
    assert_eq!(sealed.get(b"balance").unwrap().as_deref(), Some(&b"100"[..]));
}

#[test]
fn another_store_is_refused_where_the_identity_is_known() {
    let server = Server::shared();
    let options = server.new_schema(sealed);
    let open = |identity| {
        let mut options = options.clone();
        if let Some(sealing) = &mut options.sealing {
            sealing.identity = identity;
        }
        EngineStore::open(&server.url(), options, &Seam::real())
    };
    let identity = open(None).unwrap().identity();
    assert!(open(Some(identity)).is_ok());
    assert!(open(Some([9; 16])).is_err());
}

#[test]
fn keys_can_stand_as_tokens_that_say_nothing() {
    let sealed = Sealed::new(&[]);
    let store = &sealed.store;
    let set = store.create_set_of_tokens("PATIENTS", &SetAttributes::default()).unwrap();
    let mut unit = store.begin(UnitOptions::default()).unwrap();
    for number in 0..50_u32 {
        let key = format!("PATIENT {number:04}");
        assert_eq!(unit.insert(set, key.as_bytes(), b"ill").unwrap(), Outcome::Done);
    }
    assert_eq!(unit.insert(set, b"PATIENT 0007", b"").unwrap(), Outcome::Exists);
    unit.commit().unwrap();
    let mut unit = store.begin(UnitOptions::default()).unwrap();
    let mut value = Vec::new();
    assert!(unit.get(set, b"PATIENT 0007", Read::Shared, &mut value).unwrap());
    assert_eq!(value, b"ill");
    assert_eq!(unit.replace(set, b"PATIENT 0007", b"well").unwrap(), Outcome::Done);
    assert!(unit.get(set, b"PATIENT 0007", Read::Shared, &mut value).unwrap());
    assert_eq!(value, b"well", "its own change");
    assert_eq!(unit.delete(set, b"PATIENT 0008").unwrap(), Outcome::Done);
    assert!(!unit.get(set, b"PATIENT 0008", Read::Shared, &mut value).unwrap());
    let mut cursor = store.cursor(set).unwrap();
    let step = unit.next(&mut cursor, Read::Shared).map(|entry| entry.is_some());
    assert!(matches!(step, Err(StoreError::Unsupported(_))), "there is no order to step in");
    assert!(unit.failure().is_none());
    unit.commit().unwrap();
    let dump = sealed.sql("SELECT encode(k, 'escape') || ' ' || encode(v, 'escape') FROM entries");
    assert!(!dump.contains("PATIENT"), "{dump}");
    // Opened anew, by another system, the same keys find the same entries.
    let mut options = EngineOptions { schema: sealed.schema.clone(), ..EngineOptions::default() };
    self::sealed(&mut options);
    let again = EngineStore::open(&Server::shared().url(), options, &Seam::real()).unwrap();
    let mut unit = again.begin(UnitOptions::READ_ONLY).unwrap();
    assert!(unit.get(set, b"PATIENT 0007", Read::Shared, &mut value).unwrap());
    assert_eq!(value, b"well");
}
