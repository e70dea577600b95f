//! The running program's calls, and its end: what exported functions come to.
//!
//! A copy of the process that makes a call ends there; what it is told from the program by is kept
//! here.
//!
//! Invariants:
//! 1. The server hears of the end once, and never while a call is being made.
//! 2. What the ledger says last is true: "return code" stands there only after the commit.
//! 3. A panic in the call interface ends the program like an abend.
//! 4. What a copy of the process does reaches neither the server nor the outcome; the report says
//!    that one made calls.

use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Arc, OnceLock};

use base::Coded;
use seam::sync::Mutex;

use crate::abends::abend;
use crate::abi::{self, Cobol};
use crate::compose::Counts;
use crate::error::RegionError;
use crate::exec::{Commands, DESCRIPTOR_BYTES_MAX, Program};
use crate::interface::{Interface, points};
use crate::ledger::{Outcome, State};
use crate::masks::Order;
use crate::memory::Mark;
use crate::parameters::MAX;
use crate::server::{Abend, Ending};

/// The running program's way to its server.
pub(crate) struct Caller {
    pub(crate) interface: Interface,
    pub(crate) cobol: Option<Cobol>,
    pub(crate) commands: Option<Box<dyn Commands>>,
}

/// How a program ended, as its process sees it.
pub(crate) enum End {
    Normal(i32),
    Abend(Abend),
}

static CALLER: Mutex<Option<Caller>> = Mutex::new(None);

/// A file that the program has left open, and that could not all be written.
static UNFINISHED: Mutex<Option<file_handler::Unfinished>> = Mutex::new(None);

/// Requests of the C interface for records, which go beside those of COBOL's files.
static CARRIED: AtomicU64 = AtomicU64::new(0);

static RUNTIME_ERROR: Mutex<Option<String>> = Mutex::new(None);

/// The process whose program has been entered; 0 before that. A copy of it that a program makes by
/// `fork` is not the program, and its exit means nothing.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Tells the process from its copies without asking the system, which a call has no time for.
static MARK: OnceLock<Option<Mark>> = OnceLock::new();

/// The program is an executable, which this process has become.
static IS_EXECUTABLE: AtomicBool = AtomicBool::new(false);

/// Whether an executable's calls were taken, be it over or not.
pub(crate) fn is_adopted() -> bool {
    IS_EXECUTABLE.load(SeqCst)
}

/// Does something with an executable's calls; `None` if there are none, or no more.
pub(crate) fn with_interface<T>(
    work: impl FnOnce(&mut Interface) -> Result<T, Abend>,
) -> Option<T> {
    let mut done = None;
    during_a_call(|caller| {
        done = Some(work(&mut caller.interface)?);
        Ok(())
    });
    done
}

/// An executable says that its work is over. An error says why there was no commit.
pub(crate) fn end_adopted(commit: bool) -> Result<(), Abend> {
    let caller = if is_program_itself() { CALLER.lock().take() } else { None };
    let Some(mut caller) = caller else {
        return Err(abend("HFR031", "there is no program whose work could end"));
    };
    if !commit {
        let why = abend("U4038", "the program says that its work is not to count");
        conclude(&mut caller, &End::Abend(why));
        return Ok(());
    }
    conclude(&mut caller, &End::Normal(0));
    match caller.interface.ledger().outcome() {
        Outcome::Abend { code, text } => Err(Abend { code, text }),
        _ => Ok(()),
    }
}

pub(crate) fn text_and_remedy(error: &dyn Coded) -> String {
    let (text, remedy) = (error.to_string(), error.remedy());
    if remedy.is_empty() { text } else { format!("{text}\n{remedy}") }
}

/// Why a program that has ended well has not: its standard output, a file, lacks some of what it
/// has displayed. Whoever reads a pipe may stop when he has enough.
fn lost_output() -> Option<RegionError> {
    let output = std::io::stdout();
    let stat = rustix::fs::fstat(&output).ok()?;
    let is_pipe = matches!(
        rustix::fs::FileType::from_raw_mode(stat.st_mode),
        rustix::fs::FileType::Fifo | rustix::fs::FileType::Socket
    );
    let path = rustix::fs::readlink("/proc/self/fd/1", Vec::new()).ok();
    let path = path.map(|path| path.to_string_lossy().into_owned());
    (!is_pipe).then(|| RegionError::Displayed(path.unwrap_or_else(|| "standard output".into())))
}

/// Closes the files that the program has left open, before its run time forgets them.
pub(crate) fn close_files() {
    if let Some(file) = file_handler::abi::close_all().into_iter().next() {
        UNFINISHED.lock().get_or_insert(file);
    }
}

/// Why a program that has ended well has not: a file that it left open lacks some of what it wrote.
fn unwritten(file: file_handler::Unfinished) -> RegionError {
    RegionError::NotClosed { file: file.name, status: file.status.to_string() }
}

/// Whether this process is the program's, and not a copy of it. A call asks this.
fn is_program() -> bool {
    match MARK.get() {
        Some(Some(mark)) => mark.is_here(),
        _ => PROCESS.load(Relaxed) == std::process::id(),
    }
}

/// As [`is_program`], and not one that shares its memory either, as `clone` can make it.
pub(crate) fn is_program_itself() -> bool {
    is_program() && PROCESS.load(Relaxed) == std::process::id()
}

/// A copy of the program's process has made a call: it ends here, and nothing else happens.
fn refuse_copy() -> ! {
    if let Some(guard) = CALLER.try_lock()
        && let Some(caller) = guard.as_ref()
    {
        caller.interface.ledger().note_copy();
    }
    let error = RegionError::Copy(std::process::id());
    eprintln!("error: {error} ({}); {}", error.code(), error.remedy());
    abi::leave(1)
}

/// Something in this process has called `exit`.
pub(crate) fn left(status: i32) {
    if !is_program_itself() {
        return;
    }
    // While a call is being made its thread has the lock. Then the process ends as it is, and the
    // ledger says that it was in a call.
    let Some(mut guard) = CALLER.try_lock() else { return };
    let Some(caller) = guard.take() else { return };
    drop(guard);
    let error = RUNTIME_ERROR.try_lock().and_then(|mut error| error.take());
    let end = match error {
        Some(text) if status != 0 && text.contains(" not found") && text.contains("module ") => {
            let help = "name the folder of its source or shared object by --dd STEPLIB=";
            End::Abend(abend("U4038", &format!("{text}; {help}")))
        }
        Some(text) if status != 0 && text.contains(" not numeric: ") => {
            End::Abend(abend("S0C7", &text))
        }
        Some(text) if status != 0 && text.contains("division by zero, ") => {
            End::Abend(abend("S0CB", &text))
        }
        Some(text) if status != 0 => End::Abend(abend("U4038", &text)),
        _ if status != 0 && is_adopted() => {
            let text = format!("the program has ended with exit status {status}");
            End::Abend(abend("U4038", &text))
        }
        _ => End::Normal(status),
    };
    if is_adopted() {
        // What else the program's language does at its end, it does.
        let mut caller = caller;
        conclude(&mut caller, &end);
        return;
    }
    finish(Some(caller), &end)
}

/// The COBOL run time reports an error; it ends the program right after.
pub(crate) fn runtime_error(text: usize) {
    if let Some(mut error) = RUNTIME_ERROR.try_lock() {
        *error = Some(abi::text_at(text));
    }
}

const DESCRIPTORS: &str = "the program has closed descriptors that were not its own, those of the \
                           system's files among them";

/// Commits or backs out, says so in the ledger, and ends the process.
pub(crate) fn finish(caller: Option<Caller>, end: &End) -> ! {
    let Some(mut caller) = caller else { abi::leave(1) };
    let (status, _) = conclude(&mut caller, end);
    drop(caller);
    abi::leave(status)
}

/// Commits or backs out, and says so in the ledger. Answers the process's status, and whether all
/// was as it should be.
pub(crate) fn conclude(caller: &mut Caller, end: &End) -> (i32, bool) {
    let interface = &mut caller.interface;
    interface.ledger().set_state(State::AtEnd);
    // What the program has left open is closed as its end does it on the host.
    close_files();
    let unfinished = UNFINISHED.lock().take();
    // What the program has displayed belongs in front of what is said about its end.
    let lost = if abi::flush() { None } else { lost_output() };
    let lost = unfinished.map(unwritten).or(lost);
    if !seam::real::locks_stand() {
        // What would be written goes who knows where, and another process may have the system by
        // now: nothing is ended in order, and restart backs out.
        interface.ledger().abend("U4038", DESCRIPTORS);
        interface.ledger().set_state(State::Ended);
        abi::leave(1);
    }
    let ended = seam::thread::catch(|| match end {
        End::Normal(_) if let Some(error) = &lost => {
            interface.ledger().abend(error.code().0, &text_and_remedy(error));
            let _ = interface.end(Ending::Abend);
            (1, false)
        }
        End::Normal(return_code) => match interface.end(Ending::Normal) {
            Ok(()) => {
                interface.ledger().return_code(i64::from(*return_code));
                (i32::from(*return_code != 0), true)
            }
            Err(abend) => {
                interface.ledger().abend(&abend.code, &abend.text);
                (1, false)
            }
        },
        End::Abend(abend) => {
            // A reader who looks for the reason in what was displayed has to know that it is not
            // whole.
            let text = match &lost {
                Some(error) => format!("{}; {error}", abend.text),
                None => abend.text.clone(),
            };
            interface.ledger().abend(&abend.code, &text);
            let _ = interface.end(Ending::Abend);
            (1, false)
        }
    });
    let (status, is_clean) = ended.unwrap_or_else(|panic| {
        let error = RegionError::Broken(panic);
        interface.ledger().abend(error.code().0, &error.to_string());
        (1, false)
    });
    interface.ledger().set_state(State::Ended);
    (status, is_clean)
}

/// A DL/I call.
pub(crate) fn called(raw: &[usize; MAX]) {
    called_with(raw, Counts::Half);
}

/// A DL/I call of a PL/I program.
pub(crate) fn called_by_pli(raw: &[usize; MAX]) {
    called_with(raw, Counts::Full);
}

/// A DL/I call of so many parameters.
pub(crate) fn called_with_count(raw: &[usize; MAX], count: usize) {
    during_a_call(|caller| caller.interface.call(raw, Some(count), Counts::Half));
}

fn called_with(raw: &[usize; MAX], counts: Counts) {
    during_a_call(|caller| {
        let known = caller.cobol.as_ref().map(Cobol::parameters);
        caller.interface.call(raw, known, counts)
    });
}

/// An EXEC DLI command: a descriptor, and the data items that it speaks of.
pub(crate) fn commanded(raw: &[usize]) {
    during_a_call(|caller| {
        let Some(mut commands) = caller.commands.take() else {
            return Err(abend("U0474", "this program was not prepared for EXEC DLI commands"));
        };
        let known = caller.cobol.as_ref().map_or(1, Cobol::parameters).clamp(1, raw.len());
        let mut descriptor = Vec::new();
        caller.interface.program_memory().read(raw[0], DESCRIPTOR_BYTES_MAX, &mut descriptor);
        let interface = &mut caller.interface;
        let mut program = Program { interface, items: &raw[1..known] };
        let done = commands.command(&descriptor, &mut program);
        caller.commands = Some(commands);
        done
    });
}

/// The program ends itself with a user code: a halfword, or a fullword that is not larger.
pub(crate) fn abended(raw: &[usize; 2]) {
    during_a_call(|caller| {
        let order = caller.interface.order();
        let bytes = caller.interface.program_memory().array(raw[0]).unwrap_or_default();
        let code = user_code(&order, bytes);
        Err(abend(&format!("U{code:04}"), "the program has ended itself"))
    });
}

/// The code that a program ends itself with: a halfword or a fullword, and if that makes no code,
/// one in the machine's own order: on the host COMP-5 has the same bytes as COMP.
fn user_code(order: &Order, bytes: [u8; 4]) -> u32 {
    let half = [bytes[0], bytes[1]];
    let readings = [
        u32::from(order.half(half)),
        order.number(bytes),
        u32::from_ne_bytes(bytes),
        u32::from(u16::from_ne_bytes(half)),
    ];
    let is_code = |code: &u32| (1..=USER_CODE_MASK).contains(code);
    readings.into_iter().find(is_code).unwrap_or(readings[1] & USER_CODE_MASK)
}

/// User codes have 12 bits.
const USER_CODE_MASK: u32 = 0xFFF;

/// The way of a program's requests for data sets: to its server, like its calls.
struct ToServer;

impl file_handler::Carrier for ToServer {
    fn carry(&mut self, request: &[u8], answer: &mut Vec<u8>) -> bool {
        let mut carried = None;
        during_a_call(|caller| {
            carried = Some(caller.interface.file(request, answer)?);
            Ok(())
        });
        // A program that is over has a server that closes its files.
        carried.unwrap_or_else(|| {
            file_handler::wire::plain_answer(file_handler::FileStatus::DONE, 0, answer);
            true
        })
    }

    fn others(&self) -> u64 {
        CARRIED.load(Relaxed) + points()
    }
}

impl file_handler::Way for ToServer {
    fn carry(&self, request: &[u8], answer: &mut Vec<u8>) -> bool {
        CARRIED.fetch_add(1, Relaxed);
        file_handler::Carrier::carry(&mut ToServer, request, answer)
    }
}

/// Carries a request of the message queue interface to the program's server; `false` if no program
/// runs here, or it is over.
pub(crate) fn messages(request: &[u8], answer: &mut Vec<u8>) -> bool {
    if PROCESS.load(SeqCst) == 0 {
        return false;
    }
    let mut carried = false;
    during_a_call(|caller| {
        carried = caller.interface.messages(request, answer)?;
        Ok(())
    });
    carried
}

/// Has the program's files handled: those of the machine here, data sets by its server.
pub(crate) fn handle_files() {
    file_handler::abi::only_for(is_program, refuse_copy);
    file_handler::abi::programs_count_lines();
    let own = Box::new(file_handler::Remote::new(Box::new(ToServer)));
    // Files of other systems are those systems', in units of work of their own.
    let complain = |text: &str| eprintln!("holdfast: {text}");
    let data_sets = Box::new(owner::Owners::new(Some(own), owner::Places::of_process(), complain));
    let names = Box::new(file_handler::name::Assigned);
    file_handler::abi::install(file_handler::Handler::new(names, Some(data_sets)));
    let own: Arc<dyn file_handler::Way> = Arc::new(ToServer);
    let ways = owner::OwnerWays::new(Some(own), owner::Places::of_process(), complain);
    file_handler::abi::rpl::install(Box::new(ways));
}

/// Does what a program asks for; an abend, or a panic of ours, ends it.
fn during_a_call(body: impl FnOnce(&mut Caller) -> Result<(), Abend>) {
    if !is_program() {
        refuse_copy();
    }
    // A signal handler of the program that makes a call in the middle of another, or a thread of
    // it: there is one program, and its calls come one after the other.
    let Some(mut guard) = CALLER.try_lock() else {
        eprintln!("a DL/I call was made while another one was going on");
        abi::leave(1);
    };
    let Some(caller) = guard.as_mut() else { return };
    let done = seam::thread::catch(|| body(caller));
    let ended = match done {
        Ok(Ok(())) => return,
        Ok(Err(abend)) => abend,
        Err(panic) => {
            let error = RegionError::Broken(panic);
            abend(error.code().0, &error.to_string())
        }
    };
    let caller = guard.take();
    drop(guard);
    finish(caller, &End::Abend(ended))
}

/// From now on this process is the program's, whose calls these are.
pub(crate) fn begin(caller: Caller) {
    *CALLER.lock() = Some(caller);
    PROCESS.store(std::process::id(), SeqCst);
    MARK.get_or_init(Mark::new);
}

/// From now on this process is an executable, whose calls these are.
pub(crate) fn begin_executable(interface: Interface) {
    IS_EXECUTABLE.store(true, SeqCst);
    begin(Caller { interface, cobol: None, commands: None });
}

/// The program has come back: it makes no call any more.
pub(crate) fn take() -> Option<Caller> {
    CALLER.lock().take()
}

/// Has the run time of COBOL forget what the program has left open there.
pub(crate) fn tidy() {
    if let Some(cobol) = CALLER.lock().as_ref().and_then(|caller| caller.cobol.as_ref()) {
        cobol.tidy();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_code_is_read_as_comp_or_comp_5() {
        let codes = [
            ([0, 0, 0, 77], 77),
            ([0, 77, 0x40, 0x40], 77),
            ([77, 0, 0, 0], 77),
            ([0xD2, 0x04, 0, 0], 1234),
            ([0, 0, 0, 0], 0),
        ];
        for (bytes, code) in codes {
            assert_eq!(user_code(&Order::Big, bytes), code, "{bytes:?}");
        }
    }
}
