//! OWNER=REDIR: the table has the records, and programs see no difference.

use proptest::prelude::*;
use store::{Store, Unit};
use vsam::{
    Catalog, ClusterAttributes, Failure, File, Intent, Match, OpenMode, OpenOptions, Organization,
    Position, RecordNumber, RecordOwner, Search, Target,
};

use crate::clusters::{begin, catalog, define, name, open, within};
use crate::place::{account, keyed, redirected, there};
use crate::server::Server;

/// A request: what, of which record, with what.
type Ask = (u8, u8, i64);

struct Side<S: Store> {
    position: Position<S>,
    file: File<S>,
    record: Vec<u8>,
}

impl<S: Store> Side<S> {
    fn new(catalog: &Catalog<S>, named: &str) -> Side<S> {
        let file = open(catalog, named, OpenMode::InputOutput);
        Side { position: file.position().unwrap(), file, record: Vec::new() }
    }

    fn ask(&mut self, unit: &mut S::Unit, (what, which, with): Ask) -> String {
        match self.request(unit, what, which, with) {
            Ok(feedback) => format!("{feedback:?} {:?}", self.record),
            Err(failure) => {
                self.record.clear();
                failure.to_string()
            }
        }
    }

    fn request(
        &mut self,
        unit: &mut S::Unit,
        what: u8,
        which: u8,
        with: i64,
    ) -> Result<vsam::Feedback, Failure> {
        let Side { position, file, record } = self;
        let key = format!("K{:03}", which % 8);
        let number = RecordNumber(u32::from(which % 8));
        let mut new = account(&key, ["Eva", "Bo", "Ü", ""][usize::from(which % 4)], with);
        if with % 5 == 0 {
            // What is none of its kind, and what no field says, comes back, too.
            let at = usize::try_from(with.unsigned_abs() % 20).unwrap();
            new[at + 10] = which;
        }
        let is_keyed = file.organization() == Organization::Keyed;
        let is_relative = file.organization().is_relative();
        let target = match (is_keyed, is_relative) {
            (true, _) => Target::Key(key.as_bytes()),
            (_, true) => Target::Number(number),
            _ => Target::First,
        };
        let by = [Match::Equal, Match::GreaterOrEqual, Match::Greater, Match::LessOrEqual]
            [usize::from(which / 8 % 4)];
        match what {
            0 | 1 if is_relative => file.put_number(unit, position, number, &new),
            0 | 1 => file.put(unit, position, &new),
            2 => file.get(unit, position, &Search::by(target, by), Intent::Update, record),
            3 => file.point(unit, position, &Search::by(target, by)),
            4 | 5 => file.get_next(unit, position, Intent::Look, record),
            6 => file.get_previous(unit, position, Intent::Look, record),
            7 => file.get_next(unit, position, Intent::Update, record),
            8 => {
                let (front, back) = (record.get(..4).unwrap_or_default().to_vec(), &new[4..]);
                file.rewrite(unit, position, &[&front, back].concat())
            }
            _ => file.erase(unit, position),
        }
    }
}

fn compare(attributes: &ClusterAttributes, asks: &[Ask]) -> Result<(), TestCaseError> {
    let catalog = catalog();
    define(&catalog, "A.HERE", ClusterAttributes { record_map: None, ..attributes.clone() });
    let url = Server::shared().url();
    let owner = RecordOwner::Handler;
    let (entry, _) = redirected(&catalog, "A.THERE", attributes.clone(), (owner, &url));
    let mut here = Side::new(&catalog, "A.HERE");
    let mut remote = Side::new(&catalog, "A.THERE");
    for ask in asks {
        let mut unit = begin(&catalog);
        let wanted = here.ask(&mut unit, *ask);
        let got = remote.ask(&mut unit, *ask);
        unit.commit().unwrap();
        prop_assert_eq!(got, wanted, "{:?}", ask);
    }
    let mut all = Vec::new();
    let first = Search::equal(Target::First);
    within(&catalog, |unit| {
        let found = here.file.point(unit, &mut here.position, &first).is_ok();
        while found
            && here.file.get_next(unit, &mut here.position, Intent::Look, &mut here.record).is_ok()
        {
            all.push(here.record.clone());
        }
    });
    prop_assert_eq!(there(&entry), all);
    Ok(())
}

fn asks() -> impl Strategy<Value = Vec<Ask>> {
    prop::collection::vec((0_u8..10, any::<u8>(), -99_999_i64..99_999), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_keyed_cluster_in_a_table_answers_as_one_that_is_here(asks in asks()) {
        compare(&keyed(true), &asks)?;
    }

    #[test]
    fn other_clusters_in_a_table_answer_as_those_that_are_here(
        asks in asks(),
        which in 0_usize..4,
    ) {
        let organization = [
            Organization::EntrySequenced,
            Organization::Relative,
            Organization::VariableRelative,
            Organization::Keyed,
        ][which];
        let attributes = match organization {
            Organization::Keyed => keyed(false),
            other => ClusterAttributes::new(other).with_records(30),
        };
        compare(&attributes, &asks)?;
    }
}

#[test]
fn fields_are_columns_and_their_values_exact() {
    let (server, catalog) = (Server::shared(), catalog());
    let owner = (RecordOwner::Handler, &*server.url());
    let (_, table) = redirected(&catalog, "A.THERE", keyed(true), owner);
    let mut side = Side::new(&catalog, "A.THERE");
    let mut odd = account("0002", "Odd", 1);
    odd[10] = 0xff;
    let mut unit = begin(&catalog);
    for record in [account("0001", "Eva", -123_456_789), odd.clone()] {
        side.file.put(&mut unit, &mut side.position, &record).unwrap();
    }
    let columns = "acct_no, owner_name, balance, \"limit\", rate, hf_record IS NULL";
    let rows = server.psql(&format!("SELECT {columns} FROM {table} ORDER BY hf_key"));
    assert_eq!(rows, "0001|Eva|-1234567.89|-5|1.250|t\n0002|Odd||-5|1.250|f");
    // What others change counts, and what no column says stays.
    server.psql(&format!("UPDATE {table} SET balance = 0.07, owner_name = 'New'"));
    let mut record = Vec::new();
    for key in ["0001", "0002"] {
        let search = Search::equal(Target::Key(key.as_bytes()));
        let (file, position) = (&side.file, &mut side.position);
        file.get(&mut unit, position, &search, Intent::Look, &mut record).unwrap();
        assert_eq!(record, account(key, "New", 7));
    }
    // A value that has no room is a failure, and no record.
    server.psql(&format!("UPDATE {table} SET owner_name = 'much too long' WHERE acct_no = '0001'"));
    let search = Search::equal(Target::Key(b"0001"));
    let (file, position) = (&side.file, &mut side.position);
    let failure = file.get(&mut unit, position, &search, Intent::Look, &mut record).unwrap_err();
    assert!(failure.to_string().contains("OWNER-NAME"), "{failure}");
    unit.commit().unwrap();
}

#[test]
fn a_server_that_is_gone_is_a_status_and_is_connected_again() {
    let (server, catalog) = (Server::start(), catalog());
    let owner = (RecordOwner::Handler, &*server.url());
    let (entry, _) = redirected(&catalog, "A.THERE", keyed(true), owner);
    let mut side = Side::new(&catalog, "A.THERE");
    let mut unit = begin(&catalog);
    side.file.put(&mut unit, &mut side.position, &account("0001", "Eva", 5)).unwrap();
    server.crash();
    let (file, position) = (&side.file, &mut side.position);
    let lost = file.put(&mut unit, position, &account("0002", "Bo", 5)).unwrap_err();
    assert!(matches!(lost, Failure::Handler(_)), "{lost}");
    let lost = file.get_next(&mut unit, position, Intent::Look, &mut side.record).unwrap_err();
    assert!(matches!(lost, Failure::Handler(_)), "{lost}");
    server.restart();
    file.get_next(&mut unit, position, Intent::Look, &mut side.record).unwrap();
    assert_eq!(side.record, account("0001", "Eva", 5));
    file.put(&mut unit, position, &account("0002", "Bo", 5)).unwrap();
    unit.commit().unwrap();
    assert_eq!(there(&entry), [account("0001", "Eva", 5), account("0002", "Bo", 5)]);
}

#[test]
fn a_load_empties_the_table_and_a_missing_table_is_told() {
    let (server, catalog) = (Server::shared(), catalog());
    let owner = (RecordOwner::Handler, &*server.url());
    let (entry, table) = redirected(&catalog, "A.THERE", keyed(true), owner);
    for round in 0..2 {
        let file = open(&catalog, "A.THERE", OpenMode::Output);
        let mut position = file.position().unwrap();
        within(&catalog, |unit| {
            for key in ["0001", "0002"] {
                file.put(unit, &mut position, &account(key, "Eva", round)).unwrap();
            }
            file.put(unit, &mut position, &account("0001", "Late", round)).unwrap_err();
        });
    }
    assert_eq!(there(&entry), [account("0001", "Eva", 1), account("0002", "Eva", 1)]);
    server.psql(&format!("DROP TABLE {table}"));
    let refused = catalog.open_file(&name("A.THERE"), OpenMode::Input, &OpenOptions::default());
    let error = refused.err().unwrap().to_string();
    assert!(error.contains(&table) && error.contains("does not exist"), "{error}");
}
