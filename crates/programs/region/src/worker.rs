//! The process of a message region from the inside: it runs one program after the other.
//!
//! | the program | the process |
//! |---|---|
//! | returns (GOBACK), and its unit of work is committed | waits for the next program |
//! | has left threads or processes behind, or is a library of COBOL programs | ends |
//! | ends in any other way ([`crate::guest`]) | ends |
//! | is an executable | becomes it, and ends with it |
//!
//! Before its first program it is fenced in, and has loaded what COBOL programs need.
//!
//! Invariants:
//! 1. Every program begins with storage of its own values: COBOL programs are cancelled when they
//!    have returned, other libraries are unloaded.
//! 2. The process ends when the connection to its system does.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use rustix::process::WaitOptions;
use seam::sync::Mutex;

use crate::abi::{self, Cobol, Entry, Module, Standard};
use crate::assignment::{Assignment, DONE, READY, Surroundings, assigned, send_signal};
use crate::caller::Caller;
use crate::commands::ExecDli;
use crate::error::RegionError;
use crate::exports;
use crate::guest;
use crate::interface::Interface;
use crate::layout::PcbLayout;
use crate::ledger::Ledger;
use crate::link::{Handed, Link};
use crate::mailbox::Mailbox;
use crate::masks::{Masks, Order};
use crate::memory::ProgramMemory;

/// Where CALL of COBOL programs looks.
pub(crate) const LIBRARY_PATH: &str = "COB_LIBRARY_PATH";

/// The way to the system, which one program after the other goes.
struct Way {
    mailbox: Arc<Mutex<Mailbox>>,
    layouts: Vec<PcbLayout>,
}

impl Link for Way {
    fn layouts(&self) -> &[PcbLayout] {
        &self.layouts
    }

    fn exchange(&mut self, message: &[u8], answer: &mut Vec<u8>) -> Result<(), RegionError> {
        let mailbox = self.mailbox.lock();
        mailbox.send(message)?;
        // The kernel ends this process with the one that has started it.
        mailbox.receive(answer, || true).map(drop)
    }

    fn is_far(&self) -> bool {
        true
    }

    fn hand_on(&self) -> Result<Option<Handed>, RegionError> {
        let mailbox = self.mailbox.lock().fd().try_clone_to_owned();
        let mailbox = mailbox.map_err(|error| RegionError::Process(error.to_string()))?;
        Ok(Some(Handed { mailbox, connection: None }))
    }
}

/// What is kept from program to program.
struct Worker {
    mailbox: Arc<Mutex<Mailbox>>,
    masks: Option<Masks>,
    ledger: Option<Ledger>,
    program_memory: Option<ProgramMemory>,
    /// The libraries of COBOL programs, which stay.
    loaded: BTreeMap<PathBuf, Entry>,
    watches_exits: bool,
    has_cobol: bool,
}

/// What leads into a program.
struct Ready {
    entry: Entry,
    cobol: Option<Cobol>,
    /// To be unloaded when the program has returned.
    module: Option<Module>,
    /// It is not known which programs are in it, to be cancelled.
    is_once: bool,
}

/// Runs programs for the system that has started this process, and never returns.
pub fn run() -> ! {
    guest::fence_in(true);
    let socket = connection().unwrap_or_else(|error| guest::refuse(&error));
    Cobol::load_ahead();
    let own_threads = threads();
    if send_signal(&socket, READY).is_err() {
        abi::leave(1);
    }
    let mut worker = None;
    loop {
        match assigned(&socket) {
            Ok(Some((assignment, layouts, files))) => {
                let ready = worker.take().map_or_else(|| Worker::new(&assignment, files), Ok);
                let ready = ready.unwrap_or_else(|error| guest::refuse(&error));
                worker = Some(ready.perform(&assignment, layouts));
            }
            Ok(None) => abi::leave(0),
            Err(error) => guest::refuse(&error),
        }
        if threads() > own_threads || has_children() {
            // What it says and does would be taken for the next program's.
            abi::leave(0);
        }
        if send_signal(&socket, DONE).is_err() {
            abi::leave(1);
        }
    }
}

/// The connection that this process was started with as its standard input, which then is empty.
fn connection() -> Result<UnixStream, RegionError> {
    let none = |errno: rustix::io::Errno| RegionError::Process(errno.to_string());
    let socket: OwnedFd = rustix::io::fcntl_dupfd_cloexec(std::io::stdin(), 3).map_err(none)?;
    stand_in(Path::new("/dev/null"), OFlags::RDONLY, Standard::Input)?;
    Ok(UnixStream::from(socket))
}

/// Puts a file in the place of a standard one.
fn stand_in(path: &Path, flags: OFlags, place: Standard) -> Result<(), RegionError> {
    let failed = |errno: rustix::io::Errno| RegionError::file(path)(errno.into());
    let mode = Mode::RUSR | Mode::WUSR;
    let file = rustix::fs::open(path, flags | OFlags::CLOEXEC, mode).map_err(failed)?;
    abi::stand_in(&file, place).map_err(failed)
}

/// How many threads this process has, and two: a folder's links.
fn threads() -> u64 {
    rustix::fs::stat("/proc/self/task").map_or(0, |stat| stat.st_nlink)
}

/// Whether there are processes that a program has started.
fn has_children() -> bool {
    let ended = rustix::process::wait(WaitOptions::NOHANG);
    ended.err() != Some(rustix::io::Errno::CHILD)
}

impl Worker {
    fn new(assignment: &Assignment, files: Vec<OwnedFd>) -> Result<Worker, RegionError> {
        let Ok([mailbox, ledger]) = <[OwnedFd; 2]>::try_from(files) else {
            return Err(RegionError::Protocol("the files of a first assignment"));
        };
        if let Some(Surroundings { environment, input, output }) = &assignment.surroundings {
            for (name, value) in environment {
                abi::set_variable(name, value.as_os_str());
            }
            if let Some(path) = input {
                stand_in(path, OFlags::RDONLY, Standard::Input)?;
            }
            if let Some(path) = output {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND;
                stand_in(path, flags, Standard::Output)?;
            }
        }
        if !assignment.folders.is_empty() {
            let path = std::env::join_paths(&assignment.folders).unwrap_or_default();
            abi::set_variable(LIBRARY_PATH, &path);
        }
        Ok(Worker {
            mailbox: Arc::new(Mutex::new(Mailbox::join(mailbox)?)),
            masks: None,
            ledger: Some(Ledger::join(ledger)?),
            program_memory: None,
            loaded: BTreeMap::new(),
            watches_exits: false,
            has_cobol: false,
        })
    }

    /// Runs a program to its end; comes back only if it ended well.
    fn perform(mut self, assignment: &Assignment, layouts: Vec<PcbLayout>) -> Worker {
        if assignment.is_executable {
            let Some(ledger) = self.ledger.take() else { abi::leave(1) };
            let way = Way { mailbox: Arc::clone(&self.mailbox), layouts };
            guest::become_executable(&way, &assignment.object, None, &ledger);
        }
        let order = if assignment.is_native { Order::Native } else { Order::Big };
        let masks = match self.masks.take() {
            Some(masks) => masks.again(&layouts, order),
            None => Masks::new(&layouts, order),
        };
        let (Ok(masks), Some(ledger)) = (masks, self.ledger.take()) else { abi::leave(1) };
        let way = Way { mailbox: Arc::clone(&self.mailbox), layouts };
        let program_memory = self.program_memory.take().unwrap_or_else(ProgramMemory::new);
        let mut interface =
            Interface::new(Box::new(way), masks, order, ledger, None).with_reach(program_memory);
        let ready = guest::pcbs_to_pass(&interface).and_then(|_| self.load(assignment));
        let Ready { entry, cobol, module, is_once } = match ready {
            Ok(ready) => ready,
            Err(error) => guest::give_up(&mut interface, &error),
        };
        let commands = Box::new(ExecDli::new(&assignment.psb));
        let caller = Caller { interface, cobol, commands: Some(commands) };
        let caller = guest::enter(caller, entry, |caller| {
            if let Some(cobol) = &caller.cobol {
                assignment.programs.iter().for_each(|name| cobol.cancel(name));
            }
        });
        if is_once {
            abi::leave(0);
        }
        let (masks, ledger, program_memory) = caller.interface.into_parts();
        // What is unloaded is there no more.
        let program_memory = module.is_none().then_some(program_memory);
        drop(module);
        Worker { masks: Some(masks), ledger: Some(ledger), program_memory, ..self }
    }

    /// Loads a program and what it needs.
    fn load(&mut self, assignment: &Assignment) -> Result<Ready, RegionError> {
        let Assignment { object, source, entries, is_object, .. } = assignment;
        let (entry, module, needs_cobol) = match self.loaded.get(object) {
            Some(entry) => (*entry, None, true),
            None => {
                let (module, entry) = guest::load(object, source, entries, *is_object)?;
                let needs_cobol = module.needs_cobol();
                (entry, Some(module), needs_cobol)
            }
        };
        if !self.watches_exits {
            exports::watch_exits().map_err(RegionError::Runtime)?;
            self.watches_exits = true;
            abi::die_by_signals();
        }
        if !needs_cobol {
            return Ok(Ready { entry, cobol: None, module, is_once: false });
        }
        let missing = || RegionError::Runtime("it is not loaded with its program".to_owned());
        let cobol = Cobol::loaded().map_err(RegionError::Runtime)?.ok_or_else(missing)?;
        if !self.has_cobol {
            cobol
                .init(&[&source.to_string_lossy()], exports::runtime_error)
                .map_err(RegionError::Runtime)?;
            self.has_cobol = true;
            abi::die_by_signals();
        }
        if let Some(module) = module {
            module.keep();
            self.loaded.insert(object.clone(), entry);
        }
        Ok(Ready { entry, cobol: Some(cobol), module: None, is_once: *is_object })
    }
}
