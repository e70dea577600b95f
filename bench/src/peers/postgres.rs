//! PostgreSQL: Debian's server in a private folder, over a Unix socket, through Debian's libpq.
//!
//! 1. The server runs as an unprivileged user (it refuses root), listens on no network address,
//!    and is stopped when [`Server`] is dropped or this process dies.
//! 2. Its CPU time is that of its whole tree of processes, and the clients' comes on top.
//! 3. Autovacuum and checkpoints do not run while measuring: kinder than production.
//!
//! Declarations follow libpq-fe.h of PostgreSQL 15. A connection is used by one thread at a time.
#![allow(unsafe_code)] // a C library and one pre_exec: each says why it is sound
#![allow(non_snake_case)] // libpq's own names

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use base::stats::Histogram;
use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};

use crate::cpu::CpuScope;
use crate::dynamic::{c_functions, text_of};
use crate::error::{BenchError, Result};
use crate::harness::Work;
use crate::workload::{self, Deadline, Random, timed_until};

pub(crate) const NAME: &str = "PostgreSQL";

c_functions! {
    /// The functions used.
    Api for "PostgreSQL" in ["libpq.so.5"] {
        fn PQconnectdb(parameters: *const c_char) -> *mut c_void;
        fn PQfinish(connection: *mut c_void);
        fn PQstatus(connection: *const c_void) -> c_int;
        fn PQerrorMessage(connection: *const c_void) -> *const c_char;
        fn PQparameterStatus(connection: *const c_void, name: *const c_char) -> *const c_char;
        fn PQexec(connection: *mut c_void, sql: *const c_char) -> *mut c_void;
        fn PQprepare(
            connection: *mut c_void, name: *const c_char, sql: *const c_char, parameters: c_int,
            types: *const c_uint
        ) -> *mut c_void;
        fn PQexecPrepared(
            connection: *mut c_void, name: *const c_char, parameters: c_int,
            values: *const *const c_char, lengths: *const c_int, formats: *const c_int,
            result_format: c_int
        ) -> *mut c_void;
        fn PQresultStatus(result: *const c_void) -> c_int;
        fn PQntuples(result: *const c_void) -> c_int;
        fn PQgetvalue(result: *const c_void, row: c_int, column: c_int) -> *const c_char;
        fn PQclear(result: *mut c_void);
    }
}

const CONNECTION_OK: c_int = 0;
const COMMAND_OK: c_int = 1;
const TUPLES_OK: c_int = 2;
const BINARY: c_int = 1;
const START_LIMIT: Duration = Duration::from_secs(120);

/// Settings of the server that differ from what Debian ships.
const SERVER_SETTINGS: &[&str] = &[
    "listen_addresses=",
    "shared_buffers=512MB",
    "max_connections=80",
    "max_wal_size=64GB",
    "min_wal_size=2GB",
    "checkpoint_timeout=1d",
    "autovacuum=off",
    "jit=off",
];

/// How a read + update is put to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// BEGIN, SELECT, UPDATE, COMMIT, each prepared and waited for.
    FourStatements,
    /// One prepared UPDATE ... RETURNING, which is its own transaction.
    OneStatement,
}

impl Variant {
    /// The contestant's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Variant::FourStatements => "PostgreSQL, 4 statements",
            Variant::OneStatement => "PostgreSQL, 1 statement",
        }
    }
}

/// A running server in a folder of its own.
pub(crate) struct Server {
    api: Api,
    binaries: PathBuf,
    folder: PathBuf,
    sockets: PathBuf,
    user: Option<(u32, u32)>,
    child: Option<Child>,
    /// Size of the table.
    records: u64,
}

impl Server {
    /// Creates a cluster in `folder` and starts it.
    pub(crate) fn create(folder: &Path) -> Result<Server> {
        let api = Api::load()?;
        let binaries = binaries()?;
        let user = unprivileged_user()?;
        fs::create_dir_all(folder).map_err(BenchError::system("create", folder))?;
        let folder = fs::canonicalize(folder).map_err(BenchError::system("find", folder))?;
        if user.is_some() {
            check_reachable(&folder)?;
        }
        // A socket's path has at most 107 bytes, so it cannot lie in just any folder.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let sockets =
            std::env::temp_dir().join(format!("holdfast-bench-{}-{}", number.0, number.1));
        fs::create_dir_all(&sockets).map_err(BenchError::system("create", &sockets))?;
        if let Some((uid, gid)) = user {
            for own in [&folder, &sockets] {
                chown(own, Some(uid), Some(gid)).map_err(BenchError::system("give away", own))?;
            }
        }
        let mut server = Server { api, binaries, folder, sockets, user, child: None, records: 0 };
        server.initialize()?;
        server.start()?;
        Ok(server)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.binaries.join(program));
        if let Some((uid, gid)) = self.user {
            command.uid(uid).gid(gid);
        }
        command.current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    fn data(&self) -> PathBuf {
        self.folder.join("cluster")
    }

    fn initialize(&self) -> Result<()> {
        let output = self
            .command("initdb")
            .args(["-A", "trust", "-U", "bench", "-E", "UTF8", "--locale=C", "-N", "-D"])
            .arg(self.data())
            .output()
            .map_err(BenchError::system("run", &self.binaries.join("initdb")))?;
        if output.status.success() {
            return Ok(());
        }
        let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(BenchError::subject(NAME, "create a cluster", reason))
    }

    /// Starts the server and waits until it takes connections; returns the time that took.
    pub(crate) fn start(&mut self) -> Result<Duration> {
        let log = self.folder.join("server.log");
        let output = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&log)
            .map_err(BenchError::system("open", &log))?;
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.data()).stdout(Stdio::null()).stderr(output);
        let sockets = format!("unix_socket_directories={}", self.sockets.display());
        for setting in SERVER_SETTINGS.iter().copied().chain([sockets.as_str()]) {
            command.args(["-c", setting]);
        }
        // SAFETY: prctl is async-signal-safe and touches no memory of the parent.
        unsafe {
            command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::INT))?));
        }
        let begin = Instant::now();
        let program = self.binaries.join("postgres");
        let mut child = command.spawn().map_err(BenchError::system("start", &program))?;
        let outcome = loop {
            match Connection::open(self) {
                Ok(_) => break Ok(begin.elapsed()),
                Err(error) if begin.elapsed() > START_LIMIT => break Err(error),
                // A server that has ended will take no connection any more.
                Err(error) if !matches!(child.try_wait(), Ok(None)) => break Err(error),
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        self.child = Some(child);
        outcome
    }

    /// Stops the server as a crash would: nothing is written, restart has to recover.
    pub(crate) fn crash(&mut self) -> Result<()> {
        self.signal_and_wait(Signal::QUIT)
    }

    fn signal_and_wait(&mut self, signal: Signal) -> Result<()> {
        let Some(mut child) = self.child.take() else { return Ok(()) };
        let pid = Pid::from_child(&child);
        kill_process(pid, signal)
            .map_err(|error| BenchError::system("stop", &self.folder)(error.into()))?;
        child.wait().map_err(BenchError::system("wait for", &self.folder))?;
        Ok(())
    }

    /// Whose CPU counts: this process, which is the client, and the server.
    pub(crate) fn scope(&self) -> CpuScope {
        self.child.as_ref().map_or(CpuScope::Own, |child| CpuScope::WithServer(child.id()))
    }

    /// Where it is, for whoever brings a driver of his own.
    pub(crate) fn url(&self) -> String {
        let sockets = self.sockets.display().to_string().replace('/', "%2F");
        format!("postgres://bench@{sockets}/postgres")
    }

    /// As the server says.
    pub(crate) fn version(&self) -> Result<String> {
        let connection = Connection::open(self)?;
        let name = c_text("server_version");
        // SAFETY: the connection is open; the string stays until it is closed.
        Ok(unsafe { text_of(self.api.PQparameterStatus(connection.handle, name.as_ptr())) })
    }

    /// The settings that matter for a comparison.
    pub(crate) fn settings() -> String {
        format!("{}; synchronous_commit=on; fillfactor 70; Unix socket", SERVER_SETTINGS.join("; "))
    }

    /// Creates the table and loads records 0 .. `records`.
    pub(crate) fn load(&mut self, records: u64) -> Result<()> {
        let connection = Connection::open(self)?;
        connection.execute(
            "CREATE TABLE records (id bigint PRIMARY KEY, balance bigint NOT NULL, \
             filler bytea NOT NULL) WITH (fillfactor = 70)",
        )?;
        connection.execute(&format!(
            "INSERT INTO records SELECT i, 0, \
             substring(decode(repeat(md5(i::text), 6), 'hex') FOR 84) \
             FROM generate_series(0, {records} - 1) AS i"
        ))?;
        connection.execute("VACUUM ANALYZE records")?;
        connection.execute("CHECKPOINT")?;
        self.records = records;
        Ok(())
    }

    /// Runs statements that answer nothing.
    pub(crate) fn execute(&self, sql: &str) -> Result<()> {
        Connection::open(self)?.execute(sql)
    }

    /// The number that a query answers.
    pub(crate) fn number(&self, sql: &str) -> Result<u64> {
        Connection::open(self)?.number(sql)
    }

    /// Number of records and sum of all balances.
    pub(crate) fn total(&self) -> Result<(u64, u64)> {
        let connection = Connection::open(self)?;
        let count = connection.number("SELECT count(*) FROM records")?;
        Ok((count, connection.number("SELECT sum(balance) FROM records")?))
    }

    /// Log written since the last checkpoint began.
    pub(crate) fn log_bytes_since_checkpoint(&self) -> Result<u64> {
        Connection::open(self)?.number(
            "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::bigint \
             FROM pg_control_checkpoint()",
        )
    }

    /// Updates every record once, in one transaction.
    pub(crate) fn update_all(&self) -> Result<()> {
        Connection::open(self)?.execute("UPDATE records SET balance = balance + 1")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Err(error) = self.signal_and_wait(Signal::INT) {
            eprintln!("  {error}");
        }
        let _ = fs::remove_dir_all(&self.sockets);
    }
}

/// Connections with their prepared statements, one for each caller.
pub(crate) struct Clients {
    connections: Vec<Connection>,
    records: u64,
}

impl Clients {
    /// Opens `count` connections.
    pub(crate) fn open(server: &Server, count: usize) -> Result<Clients> {
        let open = |_| {
            let connection = Connection::open(server)?;
            connection.prepare_all()?;
            Ok(connection)
        };
        let connections = (0..count).map(open).collect::<Result<_>>()?;
        Ok(Clients { connections, records: server.records })
    }

    /// Durable read + update transactions by `in_flight` callers.
    pub(crate) fn commit(
        &mut self,
        in_flight: usize,
        variant: Variant,
        slice: Duration,
    ) -> Result<Work> {
        let latency = Histogram::default();
        let deadline = Deadline::after(slice);
        let records = self.records;
        let operations: Result<u64> = std::thread::scope(|scope| {
            let latency = &latency;
            let callers: Vec<_> = self.connections[..in_flight]
                .iter_mut()
                .enumerate()
                .map(|(number, connection)| {
                    scope.spawn(move || {
                        let mut random = Random::new(number as u64);
                        timed_until(deadline, latency, || {
                            connection.transact(variant, random.below(records))
                        })
                    })
                })
                .collect();
            callers.into_iter().map(|caller| caller.join().expect("no caller panics")).sum()
        });
        Ok(Work { operations: operations?, bytes: 0, latency: workload::quantiles(&latency) })
    }
}

/// A prepared statement: its name, its text, and how many numbers it takes.
pub(crate) type Statement = (&'static CStr, &'static CStr, c_int);

/// Connections that call prepared statements, each transaction one of them.
pub(crate) struct Callers {
    connections: Vec<(Connection, Random)>,
}

impl Callers {
    /// Opens `count` connections.
    pub(crate) fn open(server: &Server, count: usize, all: &[Statement]) -> Result<Callers> {
        let open = |number| {
            let connection = Connection::open(server)?;
            for (name, sql, parameters) in all {
                connection.prepare(name, sql, *parameters)?;
            }
            Ok((connection, Random::new(number as u64)))
        };
        Ok(Callers { connections: (0..count).map(open).collect::<Result<_>>()? })
    }

    /// Each caller calls what `next` chooses, with its numbers, until the slice is over.
    pub(crate) fn call(
        &mut self,
        slice: Duration,
        next: &(dyn Fn(&mut Random) -> (&'static CStr, [u64; 4]) + Sync),
    ) -> Result<Work> {
        let (latency, deadline) = (Histogram::default(), Deadline::after(slice));
        let operations: Result<u64> = std::thread::scope(|scope| {
            let latency = &latency;
            let callers: Vec<_> = self
                .connections
                .iter_mut()
                .map(|(connection, random)| {
                    scope.spawn(move || {
                        timed_until(deadline, latency, || {
                            let (name, numbers) = next(random);
                            connection.run(name, &numbers).map(drop)
                        })
                    })
                })
                .collect();
            callers.into_iter().map(|caller| caller.join().expect("no caller panics")).sum()
        });
        Ok(Work { operations: operations?, bytes: 0, latency: workload::quantiles(&latency) })
    }
}

struct Connection {
    api: Api,
    handle: *mut c_void,
}

// SAFETY: libpq allows a connection to move between threads; &mut keeps it to one at a time.
unsafe impl Send for Connection {}

const STATEMENTS: &[Statement] = &[
    (c"begin", c"BEGIN", 0),
    (c"commit", c"COMMIT", 0),
    (c"select", c"SELECT balance, filler FROM records WHERE id = $1::bigint", 1),
    (c"update", c"UPDATE records SET balance = balance + 1 WHERE id = $1::bigint", 1),
    (
        c"both",
        c"UPDATE records SET balance = balance + 1 WHERE id = $1::bigint \
          RETURNING balance, filler",
        1,
    ),
];

impl Connection {
    fn open(server: &Server) -> Result<Connection> {
        let parameters =
            c_text(&format!("host={} user=bench dbname=postgres", server.sockets.display()));
        // SAFETY: the text outlives the call; the result is never null but when memory is out.
        let handle = unsafe { server.api.PQconnectdb(parameters.as_ptr()) };
        let connection = Connection { api: server.api, handle };
        // SAFETY: the handle is live; a failed connection may be asked too.
        if unsafe { server.api.PQstatus(handle) } == CONNECTION_OK {
            return Ok(connection);
        }
        Err(connection.refused("connect"))
    }

    fn refused(&self, action: &'static str) -> BenchError {
        // SAFETY: the handle is live; the message stays until the next call.
        let reason = unsafe { text_of(self.api.PQerrorMessage(self.handle)) };
        BenchError::subject(NAME, action, reason)
    }

    fn prepare_all(&self) -> Result<()> {
        STATEMENTS
            .iter()
            .try_for_each(|(name, sql, parameters)| self.prepare(name, sql, *parameters))
    }

    fn prepare(&self, name: &CStr, sql: &CStr, parameters: c_int) -> Result<()> {
        // SAFETY: texts outlive the call; a null type array leaves the types to the server.
        let result = unsafe {
            let (name, sql) = (name.as_ptr(), sql.as_ptr());
            self.api.PQprepare(self.handle, name, sql, parameters, ptr::null())
        };
        self.finish("prepare", result).map(drop)
    }

    fn execute(&self, sql: &str) -> Result<()> {
        let sql = c_text(sql);
        // SAFETY: the handle is live and the text outlives the call.
        let result = unsafe { self.api.PQexec(self.handle, sql.as_ptr()) };
        self.finish("execute", result).map(drop)
    }

    /// The first column of the only row of a query.
    fn number(&self, sql: &str) -> Result<u64> {
        let sql = c_text(sql);
        // SAFETY: the handle is live, the text outlives the call; the value is copied before its
        // result is cleared.
        let text = unsafe {
            let result = self.api.PQexec(self.handle, sql.as_ptr());
            if self.api.PQresultStatus(result) != TUPLES_OK {
                self.api.PQclear(result);
                return Err(self.refused("query"));
            }
            let text = text_of(self.api.PQgetvalue(result, 0, 0));
            self.api.PQclear(result);
            text
        };
        text.parse().map_err(|_| BenchError::subject(NAME, "query a number", text.clone()))
    }

    /// Checks and clears a result; gives its number of rows.
    fn finish(&self, action: &'static str, result: *mut c_void) -> Result<c_int> {
        // SAFETY: a result (null included) may be asked and is cleared once, here.
        let (status, rows) = unsafe {
            let asked = (self.api.PQresultStatus(result), self.api.PQntuples(result));
            self.api.PQclear(result);
            asked
        };
        if status == COMMAND_OK || status == TUPLES_OK {
            return Ok(rows);
        }
        Err(self.refused(action))
    }

    /// Runs a prepared statement with the numbers that it takes, four at most.
    fn run(&self, name: &CStr, numbers: &[u64]) -> Result<c_int> {
        let mut bytes = [[0_u8; 8]; 4];
        bytes.iter_mut().zip(numbers).for_each(|(to, number)| *to = number.to_be_bytes());
        let values: [*const c_char; 4] = std::array::from_fn(|at| bytes[at].as_ptr().cast());
        let (lengths, formats) = ([8; 4], [BINARY; 4]);
        // SAFETY: the arrays and the numbers outlive the call and have at least as many entries as
        // it is told.
        let result = unsafe {
            self.api.PQexecPrepared(
                self.handle,
                name.as_ptr(),
                numbers.len().min(4) as c_int,
                values.as_ptr(),
                lengths.as_ptr(),
                formats.as_ptr(),
                BINARY,
            )
        };
        self.finish("run a statement", result)
    }

    fn transact(&mut self, variant: Variant, id: u64) -> Result<()> {
        let rows = match variant {
            Variant::OneStatement => self.run(c"both", &[id])?,
            Variant::FourStatements => {
                self.run(c"begin", &[])?;
                let rows = self.run(c"select", &[id])?;
                self.run(c"update", &[id])?;
                self.run(c"commit", &[])?;
                rows
            }
        };
        assert_eq!(rows, 1, "every key of the workload has its record");
        Ok(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: opened once, closed once.
        unsafe { self.api.PQfinish(self.handle) };
    }
}

/// The newest installed server's folder of programs.
fn binaries() -> Result<PathBuf> {
    let root = Path::new("/usr/lib/postgresql");
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin")))
        })
        .filter(|(_, folder): &(u32, PathBuf)| folder.join("postgres").exists())
        .collect();
    versions.sort();
    let reason = "there is no server below /usr/lib/postgresql".to_owned();
    let newest = versions.pop().ok_or(BenchError::Missing { peer: NAME, reason })?;
    Ok(newest.1)
}

/// The user to run the server as, if this process is root's: postgres, or else nobody.
fn unprivileged_user() -> Result<Option<(u32, u32)>> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let passwords = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let ids = |name: &str| {
        let line = passwords.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    let reason = "neither the user postgres nor nobody exists".to_owned();
    let user = ids("postgres").or_else(|| ids("nobody"));
    user.map(Some).ok_or(BenchError::Missing { peer: NAME, reason })
}

/// Another user needs search permission on every folder above its own.
fn check_reachable(folder: &Path) -> Result<()> {
    for above in folder.ancestors().skip(1) {
        let mode = fs::metadata(above).map_err(BenchError::system("look at", above))?;
        if mode.permissions().mode() & 0o001 == 0 {
            let reason = format!(
                "its user may not pass through {}; name another folder with --data",
                above.display()
            );
            return Err(BenchError::Missing { peer: NAME, reason });
        }
    }
    Ok(())
}

fn c_text(text: &str) -> CString {
    CString::new(text).expect("no statement and no path here has a zero byte")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways of asking count every update once, and a crash loses none of them. Passed over
    /// where PostgreSQL is not installed, as the benchmark does.
    #[test]
    fn no_update_is_lost_in_a_crash() {
        let folder = std::env::temp_dir().join(format!("holdfast-postgres-{}", std::process::id()));
        let mut server = match Server::create(&folder) {
            Err(BenchError::Missing { .. }) => return,
            other => other.unwrap(),
        };
        server.load(1_000).unwrap();
        let mut clients = Clients::open(&server, 4).unwrap();
        let slice = Duration::from_millis(50);
        let one = clients.commit(4, Variant::OneStatement, slice).unwrap().operations;
        let four = clients.commit(2, Variant::FourStatements, slice).unwrap().operations;
        assert!(one > 0 && four > 0);
        drop(clients);
        server.crash().unwrap();
        server.start().unwrap();
        assert_eq!(server.total().unwrap(), (1_000, one + four));
        drop(server);
        fs::remove_dir_all(&folder).unwrap();
    }
}
