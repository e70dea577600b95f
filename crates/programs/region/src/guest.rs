//! A program's process from the inside: entering the program, its calls, and its end.
//!
//! A process runs one program. It ends in one of these ways:
//!
//! | the program | the unit of work |
//! |---|---|
//! | returns (GOBACK), or calls `exit` outside of a call (STOP RUN) | is committed |
//! | does so, but what it displayed, or wrote to a file that it left open, could not be written | backed out |
//! | is ended by a call (ROLL, a bad parameter), or by an error of the COBOL run time | backed out |
//! | calls `exit` inside a call, dies of a signal | backed out when the process is gone |
//!
//! A copy that the program makes of its process by `fork` or `vfork` is not the program: its end
//! means nothing, and a call of it, or a request for a file, ends it. Before the program is entered
//! its process is fenced in ([`seam::fence`]).
//!
//! Invariants:
//! 1. A program is entered once it can make every call, and its process is fenced in.

use std::path::Path;

use base::Coded;

use crate::abi::{self, Cobol, Module, PCBS_MAX};
use crate::caller::{
    self, Caller, End, close_files, conclude, finish, handle_files, is_program_itself,
    text_and_remedy,
};
use crate::error::RegionError;
use crate::exec::Commands;
use crate::interface::Interface;
use crate::ledger::{Ledger, STARTER, State};
use crate::link::Link;
use crate::masks::{Masks, Order};
use crate::program::{Language, Prepared};
use crate::server::Ending;
use crate::trace::Trace;
use crate::{exports, handing_on};

/// What a program's process is to do.
pub struct Job {
    /// The program.
    pub program: Prepared,
    /// The entry, if not the usual one.
    pub entry: Option<String>,
    /// The order of bytes in PCBs, if not the usual one of the program's language.
    pub order: Option<Order>,
    /// What the program gets as its command line.
    pub parm: Option<String>,
    /// Where to trace calls.
    pub trace: Option<Trace>,
    /// Who carries out EXEC DLI commands.
    pub commands: Option<Box<dyn Commands>>,
}

/// Runs a program in this process, whose only task this is, and never returns: the process ends
/// with the program, and the one that started it reads in the ledger what came of it
/// ([`crate::host::run`]).
pub fn run(link: Box<dyn Link>, job: Job) -> ! {
    // The engine was opened; a program needs no password for it.
    seam::process::ENGINE_SECRETS.iter().for_each(|name| abi::forget_variable(name));
    fence_in(link.is_far());
    let Job { program, entry, order, parm, trace, commands } = job;
    if program.language() == Language::Executable {
        let ledger = Ledger::inherited().unwrap_or_else(|error| refuse(&error));
        become_executable(&*link, program.object(), parm.as_deref(), &ledger);
    }
    let order = order.unwrap_or(program.usual_order());
    let (masks, ledger) = match (Masks::new(link.layouts(), order), Ledger::inherited()) {
        (Ok(masks), Ok(ledger)) => (masks, ledger),
        (Err(error), _) | (_, Err(error)) => refuse(&error),
    };
    let mut interface = Interface::new(link, masks, order, ledger, trace);
    match start(&interface, &program, entry.as_deref(), parm.as_deref()) {
        Ok((entry, cobol, pcbs)) => {
            handle_files();
            mqm_calls::region::program_is_cobol(cobol.is_some());
            interface.ledger().set_state(State::Running);
            caller::begin(Caller { interface, cobol, commands });
            let return_code = entry.enter(&pcbs);
            returned(return_code)
        }
        Err(error) => give_up(&mut interface, &error),
    }
}

/// Makes this process an executable. If it cannot be, says why and ends the process.
pub(crate) fn become_executable(
    link: &dyn Link,
    program: &Path,
    parm: Option<&str>,
    ledger: &Ledger,
) -> ! {
    let error = match link.hand_on() {
        Ok(Some(way)) => {
            handing_on::become_executable(program, parm, (&way, link.layouts()), ledger)
        }
        Ok(None) => RegionError::Executable(program.to_owned()),
        Err(error) => error,
    };
    not_started(ledger, &error);
    abi::leave(1)
}

/// Takes the calls of an executable, which this process is.
pub(crate) fn adopt(interface: Interface) -> Result<(), RegionError> {
    exports::watch_exits().map_err(RegionError::Runtime)?;
    interface.ledger().set_state(State::Running);
    caller::begin_executable(interface);
    Ok(())
}

/// Has this process end with the one that started it, and keeps its program from what it is to be
/// kept from; `is_far`: the system is another process.
pub(crate) fn fence_in(is_far: bool) {
    // The parent of this process waits for it; it would not hear of an orphan's outcome.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    if is_orphan() {
        // It is gone already, and no signal will come: nothing may be done that nobody hears of.
        abi::leave(1);
    }
    if is_far {
        // Whatever it starts stays below it, by whatever way: the system sends all of it away.
        let _ = rustix::process::set_child_subreaper(rustix::process::Pid::from_raw(1));
        // Where a lower limit stands in its place, its parents alone tell whose it is.
        let _ = seam::fence::brand();
    }
    // What a program makes, by whatever way, is for no other user to read.
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    // Nothing that is done before the program ends needs what is refused from here on.
    match seam::fence::put_up() {
        // With the keys in its own memory, a program is kept from nothing by it.
        Err(error) if is_far => refuse(&RegionError::NoFence(error)),
        _ => (),
    }
}

/// Enters a program of a process that goes on when it has come back, and ended well. `tidy` is done
/// when it has come back, before its end is told.
pub(crate) fn enter(caller: Caller, entry: abi::Entry, tidy: impl FnOnce(&Caller)) -> Caller {
    let pcbs = caller.interface.pcb_addresses();
    handle_files();
    mqm_calls::region::program_is_cobol(caller.cobol.is_some());
    caller.interface.ledger().set_state(State::Running);
    caller::begin(caller);
    let return_code = entry.enter(&pcbs);
    if !is_program_itself() {
        abi::flush();
        abi::leave(return_code);
    }
    let Some(mut caller) = caller::take() else { abi::leave(1) };
    close_files();
    tidy(&caller);
    match conclude(&mut caller, &End::Normal(return_code)) {
        (_, true) => caller,
        (status, false) => abi::leave(status),
    }
}

/// The program was not entered: says why, and ends the process.
pub(crate) fn give_up(interface: &mut Interface, error: &RegionError) -> ! {
    let _ = interface.end(Ending::Abend);
    not_started(interface.ledger(), error);
    abi::leave(1)
}

/// Ends this process because its program cannot be run; the one that started it reads why.
pub fn refuse(error: &dyn Coded) -> ! {
    match Ledger::inherited() {
        Ok(ledger) => not_started(&ledger, error),
        Err(other) => eprintln!("{}: {error}\n{}: {other}", error.code(), other.code()),
    }
    abi::leave(1)
}

fn not_started(ledger: &Ledger, error: &dyn Coded) {
    ledger.abend(error.code().0, &text_and_remedy(error));
    ledger.set_state(State::NotStarted);
}

type Ready = (abi::Entry, Option<Cobol>, Vec<usize>);

/// Loads a program and everything that it needs.
fn start(
    interface: &Interface,
    program: &Prepared,
    entry: Option<&str>,
    parm: Option<&str>,
) -> Result<Ready, RegionError> {
    let pcbs = pcbs_to_pass(interface)?;
    let names = program.entries(entry);
    let is_object = program.language() == Language::Object;
    let (module, entry) = load(program.object(), program.source(), &names, is_object)?;
    module.keep();
    exports::watch_exits().map_err(RegionError::Runtime)?;
    let cobol = Cobol::loaded().map_err(RegionError::Runtime)?;
    if let Some(cobol) = &cobol {
        let name = program.source().to_string_lossy();
        let arguments = std::iter::once(&*name).chain(parm);
        cobol
            .init(&arguments.collect::<Vec<_>>(), exports::runtime_error)
            .map_err(RegionError::Runtime)?;
    }
    abi::die_by_signals();
    Ok((entry, cobol, pcbs))
}

/// The addresses of the PCBs that a program is given, if it can be given them, and call.
pub(crate) fn pcbs_to_pass(interface: &Interface) -> Result<Vec<usize>, RegionError> {
    for (name, address) in exports::exports() {
        if abi::exported_at(name) != Some(address) {
            return Err(RegionError::NotExported(name));
        }
    }
    let pcbs = interface.pcb_addresses();
    if pcbs.len() > PCBS_MAX {
        return Err(RegionError::TooManyPcbs { count: pcbs.len(), max: PCBS_MAX });
    }
    Ok(pcbs)
}

/// Loads a program's library; finds its entry among these names.
pub(crate) fn load(
    object: &Path,
    source: &Path,
    names: &[String],
    is_object: bool,
) -> Result<(Module, abi::Entry), RegionError> {
    let module = Module::open(object);
    let module = module.map_err(|text| RegionError::Load { path: object.to_owned(), text })?;
    let found = names.iter().find_map(|name| module.entry(name, is_object));
    let entry = found
        .ok_or_else(|| RegionError::NoEntry { path: source.to_owned(), names: names.to_vec() })?;
    Ok((module, entry))
}

/// The program has returned from its entry.
fn returned(return_code: i32) -> ! {
    if !is_program_itself() {
        abi::flush();
        abi::leave(return_code);
    }
    close_files();
    caller::tidy();
    finish(caller::take(), &End::Normal(return_code))
}

fn is_orphan() -> bool {
    let starter = std::env::var(STARTER).ok().and_then(|number| number.parse().ok());
    let parent = rustix::process::getppid().map(rustix::process::Pid::as_raw_pid);
    starter.is_some_and(|starter: i32| parent != Some(starter))
}
