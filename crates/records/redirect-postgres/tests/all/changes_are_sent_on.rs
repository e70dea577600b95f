//! OWNER=VSAM: what was committed comes there in order, once, whatever is cut in between.

use redirector::{SendError, resending, send};
use store::{Store, Unit};
use vsam::handler::HandlerError;
use vsam::{Catalog, Entry, Intent, OpenMode, RecordOwner, Search, Target};

use crate::clusters::{Folder, begin, catalog, open, run_in, within};
use crate::place::{account, keyed, redirected, there};
use crate::proxy::{Cut, Proxy};
use crate::server::Server;

/// Puts accounts, each alone in its unit of work; a negative one is erased.
fn change<S: Store>(catalog: &Catalog<S>, named: &str, changes: &[(u32, i64)]) {
    let file = open(catalog, named, OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    for (number, cents) in changes {
        within(catalog, |unit| {
            let (key, mut old) = (format!("{number:04}"), Vec::new());
            let search = Search::equal(Target::Key(key.as_bytes()));
            let is_there = file.get(unit, &mut position, &search, Intent::Update, &mut old).is_ok();
            let new = account(&key, "Eva", *cents);
            match (is_there, *cents < 0) {
                (true, true) => file.erase(unit, &mut position).map(drop).unwrap(),
                (true, false) => file.rewrite(unit, &mut position, &new).map(drop).unwrap(),
                (false, true) => {}
                (false, false) => file.put(unit, &mut position, &new).map(drop).unwrap(),
            }
        });
    }
}

fn here<S: Store>(catalog: &Catalog<S>, named: &str) -> Vec<Vec<u8>> {
    let file = open(catalog, named, OpenMode::Input);
    let (mut position, mut all, mut record) = (file.position().unwrap(), Vec::new(), Vec::new());
    within(catalog, |unit| {
        while file.get_next(unit, &mut position, Intent::Look, &mut record).is_ok() {
            all.push(record.clone());
        }
    });
    all
}

fn left<S: Store>(catalog: &Catalog<S>, entry: &Entry) -> u64 {
    catalog.unsent().unwrap().count(entry.number).unwrap()
}

#[test]
fn a_cut_at_any_place_of_a_batch_neither_loses_nor_repeats_it() {
    let server = Server::shared();
    let (catalog, proxy) = (catalog(), Proxy::new(server.socket()));
    let owner = (RecordOwner::Vsam, &*proxy.url());
    let (entry, table) = redirected(&catalog, "A.HERE", keyed(true), owner);
    // A trigger counts what is written: nothing may be written twice.
    server.psql(&format!(
        "CREATE TABLE {table}_seen (hf_key bytea); \
         CREATE FUNCTION {table}_note() RETURNS trigger LANGUAGE plpgsql AS \
         'BEGIN INSERT INTO {table}_seen VALUES (NEW.hf_key); RETURN NEW; END'; \
         CREATE TRIGGER note AFTER INSERT OR UPDATE ON {table} \
         FOR EACH ROW EXECUTE FUNCTION {table}_note()"
    ));
    for (round, cut) in [Cut::Before, Cut::Within, Cut::After].into_iter().enumerate() {
        let first = round as u32 * 10;
        let changes: Vec<(u32, i64)> = (first..first + 10).map(|number| (number, 7)).collect();
        change(&catalog, "A.HERE", &changes);
        proxy.cut(cut);
        let error = send(&catalog, &entry, &mut |_| true).unwrap_err();
        let is_lost = matches!(error, SendError::Handler { error: HandlerError::Lost(_), .. });
        assert!(is_lost, "{cut:?}: {error}");
        assert_eq!(left(&catalog, &entry), 10, "{cut:?}");
        send(&catalog, &entry, &mut |_| true).unwrap();
        assert_eq!(left(&catalog, &entry), 0, "{cut:?}");
        assert_eq!(there(&entry), here(&catalog, "A.HERE"), "{cut:?}");
    }
    assert_eq!(proxy.cuts(), 3);
    assert_eq!(server.psql(&format!("SELECT count(*) FROM {table}_seen")), "30");
}

#[test]
fn a_system_that_is_killed_before_it_sends_sends_afterwards() {
    let (server, folder) = (Server::shared(), Folder::new("sent-on"));
    let url = server.url();
    let system = run_in(&folder);
    let (entry, _) = redirected(&system.catalog, "A.HERE", keyed(true), (RecordOwner::Vsam, &url));
    change(&system.catalog, "A.HERE", &[(1, 10), (2, 20), (1, 11), (3, 30), (2, -1)]);
    let file = open(&system.catalog, "A.HERE", OpenMode::InputOutput);
    let mut position = file.position().unwrap();
    // Backed out, and neither committed nor backed out when the system is gone.
    let mut unit = begin(&system.catalog);
    file.put(&mut unit, &mut position, &account("0007", "Eva", 1)).unwrap();
    unit.backout().unwrap();
    let mut unit = begin(&system.catalog);
    file.put(&mut unit, &mut position, &account("0008", "Eva", 1)).unwrap();
    system.crash();
    drop((unit, position, file));
    drop(system);
    let system = run_in(&folder);
    system.catalog.set_handlers(crate::place::handlers());
    assert!(there(&entry).is_empty());
    send(&system.catalog, &entry, &mut |_| true).unwrap();
    assert_eq!(there(&entry), [account("0001", "Eva", 11), account("0003", "Eva", 30)]);
    // Killed between the batch and its settlement: it is sent again, and changes nothing.
    change(&system.catalog, "A.HERE", &[(4, 40)]);
    let unsent = system.catalog.unsent().unwrap();
    let batch = unsent.next_batch(entry.number).unwrap().unwrap();
    let described = vsam::handler::Described::of(&entry).unwrap();
    let mut link = crate::place::handlers().connect(&described).unwrap();
    link.apply(described.redirection.source, batch.number, &batch.changes).unwrap();
    system.crash();
    drop(unsent);
    drop(system);
    let system = run_in(&folder);
    system.catalog.set_handlers(crate::place::handlers());
    send(&system.catalog, &entry, &mut |_| true).unwrap();
    assert_eq!(left(&system.catalog, &entry), 0);
    assert_eq!(there(&entry), here(&system.catalog, "A.HERE"));
    assert_eq!(link.received(described.redirection.source), Ok(batch.number));
}

#[test]
fn a_file_is_sent_anew_and_what_lacks_batches_is_told() {
    let server = Server::shared();
    let (catalog, url) = (catalog(), server.url());
    let (entry, table) = redirected(&catalog, "A.HERE", keyed(true), (RecordOwner::Vsam, &url));
    let changes: Vec<(u32, i64)> = (0..3000).map(|number| (number, i64::from(number))).collect();
    change(&catalog, "A.HERE", &changes);
    send(&catalog, &entry, &mut |_| true).unwrap();
    assert_eq!(there(&entry).len(), 3000);
    // Somebody has spoiled the table.
    server.psql(&format!("DELETE FROM {table} WHERE acct_no < '1000'"));
    server.psql(&format!("UPDATE {table} SET balance = 1"));
    assert_eq!(resending::send_all(&catalog, &entry, &mut |_| true).unwrap(), 3000);
    assert_eq!(there(&entry), here(&catalog, "A.HERE"));
    // Its memory of batches is older than what was sent.
    let source = entry.redirection.as_ref().unwrap().source;
    server.psql(&format!("UPDATE holdfast_received SET number = 0 WHERE source = '\\x{source}'"));
    change(&catalog, "A.HERE", &[(1, 1)]);
    let error = send(&catalog, &entry, &mut |_| true).unwrap_err();
    let is_gap = matches!(error, SendError::Handler { error: HandlerError::Gap { .. }, .. });
    assert!(is_gap, "{error}");
    assert_eq!(left(&catalog, &entry), 1);
}

#[test]
fn what_a_table_silently_does_not_take_is_not_taken_for_sent() {
    let server = Server::shared();
    let (catalog, url) = (catalog(), server.url());
    let (entry, table) = redirected(&catalog, "A.HERE", keyed(true), (RecordOwner::Vsam, &url));
    change(&catalog, "A.HERE", &[(1, 1), (2, 2)]);
    send(&catalog, &entry, &mut |_| true).unwrap();
    // A trigger that leaves out what it does not like, without an error.
    server.psql(&format!(
        "CREATE FUNCTION {table}_no() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"
    ));
    let refuses = |on: &str| {
        let what = format!("FOR EACH ROW EXECUTE FUNCTION {table}_no()");
        server.psql(&format!("CREATE TRIGGER no BEFORE {on} ON {table} {what}"));
    };
    let cases: [(&str, &[(u32, i64)]); 3] =
        [("INSERT", &[(3, 3)]), ("UPDATE", &[(2, 9)]), ("DELETE", &[(1, -1)])];
    for (on, changes) in cases {
        let before = there(&entry);
        refuses(on);
        change(&catalog, "A.HERE", changes);
        let error = send(&catalog, &entry, &mut |_| true).unwrap_err();
        let refused = matches!(error, SendError::Handler { error: HandlerError::Refused(_), .. });
        assert!(refused, "{on}: {error}");
        assert_eq!((left(&catalog, &entry), there(&entry)), (1, before), "{on}");
        server.psql(&format!("DROP TRIGGER no ON {table}"));
        send(&catalog, &entry, &mut |_| true).unwrap();
        assert_eq!(there(&entry), here(&catalog, "A.HERE"), "{on}");
    }
    refuses("DELETE");
    assert!(resending::send_all(&catalog, &entry, &mut |_| true).is_err());
    server.psql(&format!("DROP TRIGGER no ON {table}"));
    send(&catalog, &entry, &mut |_| true).unwrap();
    assert_eq!(resending::send_all(&catalog, &entry, &mut |_| true).unwrap(), 2);
    assert_eq!(there(&entry), here(&catalog, "A.HERE"));
}
