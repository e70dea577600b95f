//! A queue manager in this process for the benchmarks of messages, and its clients.
//!
//! 1. Its store is the kernel's, with two copies of the log; each side says what is sealed and
//!    whether the log is archived.
//! 2. Programs come in as they always do: by the socket of the message queue interface, or by
//!    AMQP. Their CPU and that of the queue manager are both this process's.
//! 3. A put is durable when the call, or the commit behind it, has returned; so is a get.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use ::archive::{ArchiveCatalog, ArchiveConfig, ArchiveEnv, Archiver, NoRegistry};
use amqp::Authenticator;
use mqi::client::Client;
use mqi::server::{LocalUsers, Server};
use mqi::structures::{Gmo, Md, Od, Pmo};
use mqi::table::Structure as _;
use mqi::wire::{Connecting, Object, Posting, Request, Wanted};
use queue_manager::objects::{Kind, Value};
use queue_manager::options::value::{get, open, put};
use queue_manager::{Completion, ObjectName, Options, Outcome, QueueManager, Reason};
use seal::{Format, TestKeys};
use seam::Seam;
use store_kernel::KernelStore;

use crate::cpu::CpuScope;
use crate::error::{BenchError, Result};
use crate::kernel::{self, failed};
use crate::ours::Form;
use crate::peers::brokers::{Broker, Consumer, Producer, amqp10};

/// The queue of programs, and that of AMQP's clients: these ask for messages ahead.
pub(super) const QUEUE: &str = "BENCH";
const AMQP_QUEUE: &str = "BENCH.AMQP";
const MANAGER: &str = "QM1";
const NAME: &str = "Holdfast";
/// More messages than any benchmark has.
const DEPTH_MAX: i64 = 999_999_999;
const PERSISTENT: i32 = 1;
/// How long clients that have gone may take to be gone at the door, too.
const GONE_LIMIT: Duration = Duration::from_secs(20);

/// How the queue manager's data are kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keeping {
    /// The data sets, which are the page sets.
    pub(super) form: Form,
    pub(super) log: Form,
    /// Its archive in two folders, if there is one.
    pub(super) archive: Option<Form>,
    pub(super) pool_bytes: u64,
}

impl Keeping {
    /// Everything sealed, not archived.
    pub(super) fn sealed(pool_bytes: u64) -> Keeping {
        Keeping { form: Form::Sealed, log: Form::Sealed, archive: None, pool_bytes }
    }
}

/// A queue manager with two queues.
pub(super) struct Site {
    pub(super) store: KernelStore,
    pub(super) manager: QueueManager<KernelStore>,
    folder: PathBuf,
    sockets: PathBuf,
    programs: Option<Server>,
    door: amqp::Server,
    archiver: Option<Archiver>,
}

/// Everybody may come in.
struct Anybody;

impl Authenticator for Anybody {
    fn plain(&self, user: &str, _password: &[u8]) -> Option<String> {
        Some(user.to_owned())
    }

    fn anonymous(&self, _local: bool) -> Option<String> {
        Some("bench".into())
    }
}

fn format(form: Form) -> Format {
    match form {
        Form::Sealed => Format::Sealed,
        Form::Plain => Format::Plain,
    }
}

impl Site {
    /// A new one in an empty folder.
    pub(super) fn create(folder: &Path, keeping: Keeping) -> Result<Site> {
        std::fs::create_dir_all(folder).map_err(BenchError::system("create", folder))?;
        let Keeping { form, log, pool_bytes, .. } = keeping;
        let archive = keeping.archive.map(|form| catalog(folder, form)).transpose()?;
        let store = kernel::create_kept(folder, (log, form), pool_bytes, |config| {
            if archive.is_some() {
                config.archived = base::GroupNumber(1);
            }
        })?;
        let log = Arc::clone(store.kernel().log());
        let archiver = archive.map(|catalog| Archiver::start(catalog, log, Arc::new(NoRegistry)));
        let archiver = archiver.transpose().map_err(failed)?;
        let manager = QueueManager::open(&store, Options::new(MANAGER)).map_err(failed)?;
        let depth = [("MAXDEPTH", Value::from(DEPTH_MAX))];
        for queue in [QUEUE, AMQP_QUEUE] {
            let defined = manager.define(Kind::QueueLocal, queue, &depth, false, None);
            defined.map_err(failed)?;
        }
        // A socket's path has at most 107 bytes, so it cannot lie in just any folder.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Relaxed);
        let sockets =
            std::env::temp_dir().join(format!("holdfast-mq-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&sockets).map_err(BenchError::system("create", &sockets))?;
        let (served, users) = (Arc::new(manager.clone()), Arc::new(LocalUsers));
        let programs = Server::start(&sockets.join("mq"), served, users);
        let programs = programs.map_err(BenchError::system("listen at", &sockets))?;
        let options = amqp::Options {
            addresses: vec![([127, 0, 0, 1], 0).into()],
            tls_addresses: Vec::new(),
            tls: None,
            passwords_without_tls: true,
            connections_max: 100,
            threads: 1,
        };
        let door = amqp::Server::start(&manager, &options, Arc::new(Anybody)).map_err(failed)?;
        let (folder, programs) = (folder.to_owned(), Some(programs));
        Ok(Site { store, manager, folder, sockets, programs, door, archiver })
    }

    /// Its programs over the message queue interface.
    pub(super) fn bindings(&self) -> Side<'_> {
        Side { site: self, door: Door::Bindings, name: format!("{NAME}, MQI") }
    }

    /// Its clients over AMQP 1.0.
    pub(super) fn amqp(&self) -> Side<'_> {
        Side { site: self, door: Door::Amqp, name: format!("{NAME}, AMQP") }
    }

    fn amqp_address(&self) -> Result<SocketAddr> {
        self.door.addresses().first().copied().ok_or_else(|| failed("the door is closed"))
    }

    /// A program that has connected.
    pub(super) fn program(&self) -> Result<Program> {
        Program::connect(&self.sockets.join("mq"))
    }

    /// Bytes of log so far.
    pub(super) fn logged(&self) -> u64 {
        self.store.kernel().log().next_lsn().0
    }

    /// Waits until all that was logged is archived.
    pub(super) fn settle(&self) -> Result<()> {
        let log = self.store.kernel().log();
        log.wait_durable(log.next_lsn()).map_err(failed)?;
        while self.archiver.is_some() && log.to_archive(false).is_some() {
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    /// The device is not for keeping archives that nobody reads.
    pub(super) fn forget_archives(&self) {
        let list = self.archiver.iter().flat_map(|archiver| archiver.catalog().list());
        for path in list.flat_map(|copy| copy.files) {
            let _ = std::fs::remove_file(path);
        }
    }

    /// As many messages wait as are expected, once all clients over AMQP have gone.
    pub(super) fn confirm(&self, expected: u64) -> Result<()> {
        // A client may go before the door has read the last that it said.
        let deadline = Instant::now() + GONE_LIMIT;
        while self.door.counted().connections > 0 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(2));
        }
        let depth = |queue| self.manager.queue_status(queue).map_or(u64::MAX, |found| found.depth);
        match [depth(QUEUE), depth(AMQP_QUEUE)] {
            [programs, 0] if programs == expected => Ok(()),
            found => Err(failed(format!("{expected} messages and none wait, not {found:?}"))),
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.door.close();
        self.manager.stop();
        if let Some(programs) = self.programs.take() {
            programs.close();
        }
        self.archiver.iter().for_each(Archiver::end);
        let _ = self.store.kernel().close();
        let _ = std::fs::remove_dir_all(&self.sockets);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn catalog(folder: &Path, form: Form) -> Result<Arc<ArchiveCatalog>> {
    let env = ArchiveEnv {
        seam: Seam::real(),
        keys: Arc::new(TestKeys::new(1)),
        system: kernel::SYSTEM,
        key_label: "log".into(),
        format: format(form),
        plain: wal::PlainSpan::NONE,
        dated: |_| None,
    };
    let folders = (1..=2).map(|number| folder.join(format!("archive-{number}")));
    let catalog = ArchiveCatalog::open(env, ArchiveConfig::new(folders.collect()));
    let catalog = catalog.map_err(failed)?;
    catalog.prepare().map_err(failed)?;
    Ok(Arc::new(catalog))
}

#[derive(Clone, Copy)]
enum Door {
    Bindings,
    Amqp,
}

/// The queue manager by one of its doors.
pub(super) struct Side<'s> {
    site: &'s Site,
    door: Door,
    name: String,
}

impl Broker for Side<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").into()
    }

    fn settings(&self) -> String {
        "sealed, two copies of the log".into()
    }

    fn scope(&self) -> CpuScope {
        CpuScope::Own
    }

    fn producer(&self, window: usize) -> Result<Box<dyn Producer>> {
        Ok(match self.door {
            Door::Bindings => Box::new(Puts { program: self.site.program()?, window, open: 0 }),
            Door::Amqp => {
                Box::new(amqp10::Puts::open(NAME, self.site.amqp_address()?, AMQP_QUEUE, window)?)
            }
        })
    }

    fn consumer(&self, window: usize) -> Result<Box<dyn Consumer>> {
        Ok(match self.door {
            Door::Bindings => Box::new(Takes { program: self.site.program()?, window }),
            Door::Amqp => {
                Box::new(amqp10::Takes::open(NAME, self.site.amqp_address()?, AMQP_QUEUE, window)?)
            }
        })
    }
}

/// A program over the message queue interface, with the queue open for input and output.
pub(super) struct Program {
    client: Client,
    handle: i32,
    room: Vec<u8>,
}

fn checked(outcome: Outcome) -> Result<()> {
    match outcome.completion {
        Completion::Ok => Ok(()),
        _ => Err(failed(format!("a call ended with reason {}", outcome.reason.0))),
    }
}

impl Program {
    fn connect(socket: &Path) -> Result<Program> {
        let connected = Client::connect(socket, Connecting::new(ObjectName::BLANK, [b' '; 28]));
        let mut client = connected.map_err(|outcome| {
            failed(format!("a program is not let in: reason {}", outcome.reason.0))
        })?;
        let mut object =
            Object::new(Od { object_name: ObjectName::from(QUEUE).0, ..Od::initial() });
        let options = open::INPUT_SHARED | open::OUTPUT;
        let (outcome, handle, ..) = client.open(&mut object, options);
        checked(outcome)?;
        Ok(Program { client, handle, room: vec![0; 2 << 20] })
    }

    pub(super) fn put(&mut self, message: &[u8], in_unit: bool) -> Result<()> {
        let options = if in_unit { put::SYNCPOINT } else { put::NO_SYNCPOINT };
        let mut posting = Posting {
            md: Md { persistence: PERSISTENT, ..Md::initial() },
            pmo: Pmo { options, ..Pmo::initial() },
            records: Vec::new(),
            wants_responses: false,
        };
        let (outcome, _) = self.client.put(self.handle, &mut posting, message);
        checked(outcome)
    }

    /// Gets a message, waiting for it at most so long; the length of its data.
    pub(super) fn get(&mut self, in_unit: bool, wait: Duration) -> Result<Option<u64>> {
        let unit = if in_unit { get::SYNCPOINT } else { get::NO_SYNCPOINT };
        let wait_ms = i32::try_from(wait.as_millis()).unwrap_or(i32::MAX);
        let options = if wait_ms > 0 { unit | get::WAIT } else { unit };
        let mut wanted = Wanted {
            md: Md::initial(),
            gmo: Gmo { options, wait_interval: wait_ms, match_options: 0, ..Gmo::initial() },
            room: i32::try_from(self.room.len()).unwrap_or(i32::MAX),
        };
        let (outcome, length) = self.client.get(self.handle, &mut wanted, &mut self.room);
        if outcome.reason == Reason::NO_MSG_AVAILABLE {
            return Ok(None);
        }
        checked(outcome)?;
        Ok(Some(length as u64))
    }

    pub(super) fn commit(&mut self) -> Result<()> {
        checked(self.client.plain(&Request::Commit))
    }
}

/// Puts, as many in a unit of work as the window says.
struct Puts {
    program: Program,
    window: usize,
    open: usize,
}

impl Producer for Puts {
    fn put(&mut self, message: &[u8]) -> Result<()> {
        if self.window == 1 {
            return self.program.put(message, false);
        }
        self.program.put(message, true)?;
        self.open += 1;
        if self.open < self.window { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<()> {
        match std::mem::take(&mut self.open) {
            0 => Ok(()),
            _ => self.program.commit(),
        }
    }
}

/// Gets, as many in a unit of work as there are, up to the window.
struct Takes {
    program: Program,
    window: usize,
}

impl Consumer for Takes {
    fn take(&mut self, patience: Duration) -> Result<(u64, u64)> {
        let in_unit = self.window > 1;
        let (mut messages, mut bytes, mut wait) = (0, 0, patience);
        while messages < self.window as u64 {
            let Some(length) = self.program.get(in_unit, wait)? else { break };
            messages += 1;
            bytes += length;
            wait = Duration::ZERO;
        }
        if in_unit && messages > 0 {
            self.program.commit()?;
        }
        Ok((messages, bytes))
    }
}
