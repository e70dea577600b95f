//! A transaction manager that has a queue manager and PostgreSQL commit together: it gets an order
//! from a queue and inserts it into a table, dies anywhere, and finds out afterwards what it has to
//! decide on both sides. Its log says what it has decided; what is not there is backed out.

#![allow(clippy::unwrap_used)] // a test that fails says where

use queue_manager::objects::Kind;
use queue_manager::options::value::{open, put};
use queue_manager::options::{ConnectOptions, ObjectDescriptor, PutOptions};
use queue_manager::{MessageDescriptor, Options, QueueManager};
use store_suite::model::ModelStore;

use crate::place::{HEAD, LONG, Place, run};
use crate::server::Server;
use crate::transaction_managers_decide::{COMMON, XA};

/// The database's client library, as much of it as the program needs: found while it runs, so that
/// nothing but the library itself has to be installed.
const DATABASE: &str = r#"
#include <dlfcn.h>
#include <fcntl.h>
static const void *(*db_connect)(const char *), *(*db_exec)(const void *, const char *);
static int (*db_status)(const void *), (*db_result)(const void *), (*db_rows)(const void *);
static char *(*db_value)(const void *, int, int), *(*db_error)(const void *);
static const void *db;
static void *entry(void *library, const char *name) {
  void *at = dlsym(library, name);
  HOLDS(at != NULL);
  return at;
}
static void open_database(const char *where) {
  void *library = dlopen("libpq.so.5", RTLD_NOW);
  HOLDS(library != NULL);
  *(void **)&db_connect = entry(library, "PQconnectdb");
  *(void **)&db_exec = entry(library, "PQexec");
  *(void **)&db_status = entry(library, "PQstatus");
  *(void **)&db_result = entry(library, "PQresultStatus");
  *(void **)&db_rows = entry(library, "PQntuples");
  *(void **)&db_value = entry(library, "PQgetvalue");
  *(void **)&db_error = entry(library, "PQerrorMessage");
  db = db_connect(where);
  if (db_status(db) != 0) { printf("%s\n", db_error(db)); exit(1); }
}
static const void *sql(const char *statement) {
  const void *result = db_exec(db, statement);
  int status = db_result(result);
  if (status != 1 && status != 2) { printf("%s: %s\n", statement, db_error(db)); exit(1); }
  return result;
}
"#;

/// `tm DATABASE LOG work NUMBER DIES-AT`, and `tm DATABASE LOG recover`.
const MAIN: &str = r#"
static int dies_at;
static void reach(int point) { if (point == dies_at) _exit(9); }
/* The decision is made when it stands in the log. */
static void decide(const char *file, int number) {
  int log = open(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
  HOLDS(log >= 0);
  HOLDS(write(log, &number, sizeof number) == sizeof number);
  HOLDS(fsync(log) == 0);
  close(log);
}
static int is_decided(const char *file, int number) {
  int log = open(file, O_RDONLY), one, found = 0;
  if (log < 0) return 0;
  while (read(log, &one, sizeof one) == sizeof one) found |= one == number;
  close(log);
  return found;
}
static void work(const char *log, int number) {
  char text[33] = "", statement[200];
  MQHCONN h = connect_to("QM1");
  IS(0, 0);
  MQHOBJ q = open_queue(h, "APP.Q", MQOO_INPUT_SHARED);
  IS(0, 0);
  XID branch = xid(number, "mq");
  XA(xa_start_entry(&branch, 1, 0), 0);
  sql("BEGIN");
  MQMD md = {MQMD_DEFAULT};
  MQGMO gmo = {MQGMO_DEFAULT};
  MQLONG length;
  gmo.Options = MQGMO_SYNCPOINT;
  MQGET(h, q, &md, &gmo, 32, text, &length, &cc, &rc);
  IS(0, 0);
  snprintf(statement, sizeof statement, "INSERT INTO orders VALUES ('%.*s')", length, text);
  sql(statement);
  XA(xa_end_entry(&branch, 1, 0x04000000), 0);
  reach(1);
  XA(xa_prepare_entry(&branch, 1, 0), 0);
  reach(2);
  snprintf(statement, sizeof statement, "PREPARE TRANSACTION '%d'", number);
  sql(statement);
  reach(3);
  decide(log, number);
  reach(4);
  XA(xa_commit_entry(&branch, 1, 0), 0);
  reach(5);
  snprintf(statement, sizeof statement, "COMMIT PREPARED '%d'", number);
  sql(statement);
  reach(6);
}
static void recover(const char *log) {
  XID found[10];
  int number, count = SWITCH.xa_recover_entry(found, 10, 1, 0x01000000 | 0x00800000);
  HOLDS(count >= 0);
  for (int at = 0; at < count; at++) {
    memcpy(&number, found[at].data, sizeof number);
    if (is_decided(log, number)) XA(xa_commit_entry(&found[at], 1, 0), 0);
    else XA(xa_rollback_entry(&found[at], 1, 0), 0);
  }
  const void *prepared = sql("SELECT gid FROM pg_prepared_xacts");
  for (int row = 0; row < db_rows(prepared); row++) {
    char statement[200], *gid = db_value(prepared, row, 0);
    const char *what = is_decided(log, atoi(gid)) ? "COMMIT" : "ROLLBACK";
    snprintf(statement, sizeof statement, "%s PREPARED '%s'", what, gid);
    sql(statement);
  }
}
int main(int count, char **words) {
  HOLDS(count >= 4);
  open_database(words[1]);
  XA(xa_open_entry("QM1", 1, 0), 0);
  if (strcmp(words[3], "recover") == 0) {
    recover(words[2]);
  } else {
    dies_at = atoi(words[5]);
    work(words[2], atoi(words[4]));
  }
  XA(xa_close_entry("", 1, 0), 0);
  return 0;
}
"#;

/// Where a transaction manager can die; at 0 it does not.
const POINTS: i32 = 7;

/// A queue manager and a database, both of which can crash.
struct Both {
    store: ModelStore,
    manager: Option<QueueManager<ModelStore>>,
    place: Option<Place>,
    database: Server,
}

impl Both {
    fn new() -> Both {
        let database = Server::start();
        database.psql("ALTER SYSTEM SET max_prepared_transactions = 10");
        database.crash();
        database.restart();
        database.psql("CREATE TABLE orders (number text PRIMARY KEY)");
        let store = ModelStore::new();
        let manager = QueueManager::open(&store, Options::new("QM1")).unwrap();
        manager.define(Kind::QueueLocal, "APP.Q", &[], false, None).unwrap();
        let place = Place::new(manager.clone());
        Both { store, manager: Some(manager), place: Some(place), database }
    }

    fn place(&self) -> &Place {
        self.place.as_ref().unwrap()
    }

    fn manager(&self) -> &QueueManager<ModelStore> {
        self.manager.as_ref().unwrap()
    }

    /// Both end without having been asked, and are started again.
    fn crash(&mut self) {
        self.database.crash();
        let mut place = self.place.take().unwrap();
        place.server = None;
        self.manager = None;
        let manager = QueueManager::open(&self.store, Options::new("QM1")).unwrap();
        place.serve(manager.clone());
        (self.place, self.manager) = (Some(place), Some(manager));
        self.database.restart();
    }

    fn put(&self, number: i32) {
        let mut client = self.manager().connect(ConnectOptions::default()).unwrap();
        let mut queue = ObjectDescriptor::queue("APP.Q");
        let (queue, _) = client.open(&mut queue, open::OUTPUT).unwrap();
        let mut md = MessageDescriptor { persistence: 1, ..MessageDescriptor::default() };
        let mut options = PutOptions::new(put::NO_SYNCPOINT);
        client.put(queue, &mut md, &mut options, number.to_string().as_bytes()).unwrap();
    }

    /// Orders that wait, and those in the table.
    fn orders(&self) -> (u64, String) {
        let depth = self.manager().queue_status("APP.Q").unwrap().depth;
        (depth, self.database.psql("SELECT count(*) FROM orders"))
    }
}

#[test]
fn a_queue_manager_and_postgresql_commit_together_wherever_anything_dies() {
    let mut both = Both::new();
    let source = format!("{HEAD}{XA}{COMMON}{DATABASE}{MAIN}");
    let program = both.place().c("tm", &source);
    let log = both.place().folder.join("decisions");
    let command = |both: &Both, words: &[String]| {
        let mut command = both.place().program(&program);
        let home = both.database.home.display();
        command.arg(format!("host={home} user=holdfast dbname=postgres")).arg(&log).args(words);
        command
    };
    let (mut waiting, mut inserted) = (0, 0);
    for crashes in [false, true] {
        for point in 0..POINTS {
            let number = point + if crashes { 100 } else { 0 };
            both.put(number);
            let words = ["work".into(), number.to_string(), point.to_string()];
            let done = seam::process::output(&mut command(&both, &words), LONG).unwrap();
            let printed = String::from_utf8_lossy(&done.stdout);
            let wanted = if point == 0 { 0 } else { 9 };
            assert_eq!(done.status.code(), Some(wanted), "{point}: {printed}");
            if crashes {
                both.crash();
            }
            run(&mut command(&both, &["recover".into()]));
            // Orders come in the order in which they were put: an older one may have been done.
            match point {
                1..=3 => waiting += 1,
                _ => inserted += 1,
            }
            settle(&both);
            assert_eq!(both.orders(), (waiting, inserted.to_string()), "{point} {crashes}");
            assert_eq!(both.database.psql("SELECT count(*) FROM pg_prepared_xacts"), "0");
        }
    }
    // What was backed out is still to be had, each once.
    for number in 0..waiting {
        let words = ["work".into(), (1_000 + number).to_string(), "0".into()];
        run(&mut command(&both, &words));
    }
    assert_eq!(both.orders(), (0, (2 * POINTS).to_string()));
}

/// Waits until the queue manager has seen that a program has gone.
fn settle(both: &Both) {
    let clock = seam::clock::RealClock::new();
    while !both.manager().branches().is_empty() || !both.manager().connections().is_empty() {
        seam::clock::Clock::sleep(&clock, std::time::Duration::from_millis(1));
    }
}
