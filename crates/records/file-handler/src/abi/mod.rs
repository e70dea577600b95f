//! Memory of the program: the one place that follows addresses.
//!
//! Invariants:
//! 1. What is read and written behind an address is no more than the control block states for it.
//! 2. While a request is carried out, the block is a copy; it goes back at the end, whole.
//! 3. No panic leaves [`serve`].
//! 4. A copy of the program's process has no files: what it asks for is refused, what is buffered
//!    is its parent's, and no CLOSE of it writes anything ([`only_for`]).

#![allow(unsafe_code)]

mod libcob;
pub mod routines;
pub mod rpl;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use seam::sync::Mutex;

use self::libcob::{File, Runtime};
use crate::caller::{Caller, Native};
use crate::fcd::{FCD_BYTES, Fcd};
use crate::handler::{Handler, Unfinished};
use crate::name::Environment;
use crate::opcode::{Operation, Relation};
use crate::status::FileStatus;

/// The longest name.
const NAME_BYTES_MAX: usize = 4096;
/// Marks a file that is known by its record's address, and not by the run time's own structure.
const BY_RECORD: u64 = 1;

static HANDLER: Mutex<Option<Handler>> = Mutex::new(None);

/// Sets who handles this process's files from now on.
pub fn install(handler: Handler) {
    *HANDLER.lock() = Some(handler);
}

/// Who may ask: whether this process is the program's, and what is done if it is not.
static ONLY_FOR: OnceLock<Guard> = OnceLock::new();

/// Whether this process is the program itself, and what ends one that is not.
type Guard = (fn() -> bool, fn() -> !);

/// Has requests carried out only where `is_program` says so; others `refuse` (4).
pub fn only_for(is_program: fn() -> bool, refuse: fn() -> !) {
    ONLY_FOR.get_or_init(|| (is_program, refuse));
}

/// Whether this process is a copy of the program's; who refuses it then.
fn copy() -> Option<fn() -> !> {
    ONLY_FOR.get().filter(|(is_program, _)| !is_program()).map(|(_, refuse)| *refuse)
}

/// Whether programs count the lines of their pages themselves.
static COUNTS_LINES: AtomicBool = AtomicBool::new(false);

/// From now on programs count the lines of pages (LINAGE) in their own code, as `batch` has them
/// do.
pub fn programs_count_lines() {
    COUNTS_LINES.store(true, Relaxed);
}

/// Closes all files that are open still; none where a request is being carried out, which ends
/// the program, and none in a copy of it.
pub fn close_all() -> Vec<Unfinished> {
    if copy().is_some() {
        return Vec::new();
    }
    let Some(mut handler) = HANDLER.try_lock() else { return Vec::new() };
    handler.as_mut().map(Handler::close_all).unwrap_or_default()
}

/// Begins or ends a unit of work over all data sets of this process: 0, or the file status that
/// says why not.
pub fn unit(code: u8) -> std::ffi::c_int {
    let done = seam::thread::catch(|| HANDLER.lock().as_mut().map(|handler| handler.unit(code)));
    let status = done.ok().flatten().unwrap_or(FileStatus::LOGIC);
    if status.is_done() {
        return 0;
    }
    let digits = status.0.map(|digit| std::ffi::c_int::from(digit.wrapping_sub(b'0')));
    digits[0] * 10 + digits[1]
}

/// Ends the process at once with a status, whatever it had said before.
pub fn leave(status: i32) -> ! {
    use libloading::os::unix::Library;
    type Exit = unsafe extern "C" fn(std::ffi::c_int) -> !;
    // SAFETY: the C library's `_exit`.
    unsafe {
        match Library::this().get::<Exit>(b"_exit") {
            Ok(exit) => exit(status),
            Err(_) => std::process::abort(),
        }
    }
}

/// Brings what VSAM has said to the last request: return code, function, feedback, 2 bytes each.
///
/// # Safety
/// `item` is null or leads to 6 bytes.
pub unsafe fn tell_feedback(item: *mut u8) {
    let last = HANDLER.lock().as_ref().map_or([0; 3], Handler::feedback);
    let [return_code, function, feedback] = last;
    if !item.is_null() {
        let bytes = [0, return_code, 0, function, 0, feedback];
        // SAFETY: as this function's callers promise.
        unsafe { item.cast::<[u8; 6]>().write_unaligned(bytes) };
    }
}

/// Carries out a request of a program: what `HOLDFASTFH` does.
///
/// # Safety
/// `opcode` is null or leads to 2 bytes, `fcd` is null or leads to a control block, and what its
/// addresses lead to is as long as it says.
pub unsafe fn serve(opcode: *mut u8, fcd: *mut u8) {
    if opcode.is_null() || fcd.is_null() {
        return;
    }
    // SAFETY: as this function's callers promise. The copies are made before anything is written.
    let (code, mut block) = unsafe {
        let code = opcode.cast::<[u8; 2]>().read_unaligned();
        (code, Fcd(fcd.cast::<[u8; FCD_BYTES]>().read_unaligned()))
    };
    if let Some(refuse) = copy() {
        if !matches!(Operation::of(code), Some(Operation::Close(_))) {
            refuse();
        }
        block.set_status(FileStatus::DONE.0);
        // SAFETY: as this function's callers promise.
        unsafe { fcd.cast::<[u8; FCD_BYTES]>().write_unaligned(block.0) };
        return;
    }
    let mut caller = Program { block: fcd, file: None };
    let done = seam::thread::catch(|| {
        let mut handler = HANDLER.lock();
        let handler = handler.get_or_insert_with(|| Handler::new(Box::new(Environment), None));
        handler.call(code, fcd as u64, &mut block, &mut caller);
    });
    if done.is_err() {
        block.set_status(FileStatus::LOGIC.0);
    }
    if let Some(file) = &caller.file {
        file.set_status(block.status());
    }
    // SAFETY: as this function's callers promise.
    unsafe { fcd.cast::<[u8; FCD_BYTES]>().write_unaligned(block.0) };
}

/// A program, as its control block shows it.
struct Program {
    block: *mut u8,
    file: Option<File>,
}

impl Program {
    /// Brings the block up to date, lets the run time see it, and looks at what it became.
    fn lend(&self, fcd: &mut Fcd, use_it: impl FnOnce(*mut u8)) {
        let place = self.block.cast::<[u8; FCD_BYTES]>();
        // SAFETY: the block is the caller's, as `serve` was promised.
        unsafe {
            place.write_unaligned(fcd.0);
            use_it(self.block);
            fcd.0 = place.read_unaligned();
        }
    }
}

fn bytes_at(address: u64, len: usize, out: &mut Vec<u8>) {
    if address == 0 || len == 0 {
        return;
    }
    // SAFETY: `serve` was promised that so many bytes stand there.
    let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, len) };
    out.extend_from_slice(bytes);
}

impl Caller for Program {
    fn identity(&mut self, fcd: &mut Fcd) -> u64 {
        if let Some(runtime) = Runtime::get()
            && fcd.is_of_gnucobol()
        {
            let mut found = None;
            let status = fcd.status();
            self.lend(fcd, |block| found = runtime.file_of(block));
            fcd.set_status(status);
            if let Some(file) = found.filter(|file| file.fits(fcd)) {
                self.file = Some(file);
                return file.address();
            }
        }
        fcd.record_address() << 1 | BY_RECORD
    }

    fn recall(&mut self, identity: u64) {
        self.file = (identity & BY_RECORD == 0).then(|| File::at(identity));
    }

    fn name(&mut self, fcd: &Fcd) -> Vec<u8> {
        let mut name = Vec::new();
        bytes_at(fcd.name_address(), fcd.name_bytes().min(NAME_BYTES_MAX), &mut name);
        name
    }

    fn keys(&mut self, fcd: &Fcd) -> Vec<u8> {
        let mut keys = Vec::new();
        bytes_at(fcd.keys_address(), 2, &mut keys);
        if let Some(len) = keys.first_chunk().copied().map(u16::from_be_bytes) {
            keys.clear();
            bytes_at(fcd.keys_address(), usize::from(len), &mut keys);
        }
        keys
    }

    fn get(&mut self, fcd: &Fcd, offset: usize, len: usize, out: &mut Vec<u8>) {
        let most = fcd.record_most() as usize;
        let (offset, end) = (offset.min(most), offset.saturating_add(len).min(most));
        if fcd.record_address() != 0 {
            bytes_at(fcd.record_address() + offset as u64, end - offset, out);
        }
    }

    fn put(&mut self, fcd: &Fcd, record: &[u8], fill: usize) {
        let (address, most) = (fcd.record_address(), fcd.record_most() as usize);
        if address == 0 {
            return;
        }
        let record = &record[..record.len().min(most)];
        let rest = fill.min(most).saturating_sub(record.len());
        let area = address as *mut u8;
        // SAFETY: `serve` was promised that the area has room for the longest record, and it is
        // not memory of ours that `record` could be.
        unsafe {
            std::ptr::copy_nonoverlapping(record.as_ptr(), area, record.len());
            std::ptr::write_bytes(area.add(record.len()), b' ', rest);
        }
    }

    fn depending(&mut self) -> Option<u32> {
        self.file.and_then(|file| file.depending(Runtime::get()?))
    }

    fn tell_length(&mut self, length: u32) {
        if let (Some(file), Some(runtime)) = (self.file, Runtime::get()) {
            file.tell_length(runtime, length);
        }
    }

    fn number_most(&mut self) -> u64 {
        match (self.file, Runtime::get()) {
            (Some(file), Some(runtime)) => file.number_most(runtime),
            _ => u64::MAX,
        }
    }

    fn tell_number(&mut self, number: u64) -> bool {
        match (self.file, Runtime::get()) {
            (Some(file), Some(runtime)) => file.tell_number(runtime, number),
            _ => true,
        }
    }

    fn is_run_times(&mut self) -> bool {
        self.file.is_some_and(|file| file.is_run_times(COUNTS_LINES.load(Relaxed)))
    }

    fn closed(&mut self) {
        if let Some(file) = &self.file {
            file.is_closed();
        }
    }

    fn native(&mut self, request: Native, fcd: &mut Fcd) -> Option<FileStatus> {
        let runtime = Runtime::get()?;
        match request {
            Native::Request(code) => {
                if let (Some(file), [0xfa, 0..=8]) = (self.file, code) {
                    file.is_closed();
                }
                self.lend(fcd, |block| runtime.request(code, block));
            }
            Native::Start(relation) => match self.file {
                Some(file) => {
                    let key = fcd.key_of_reference();
                    let status = file.start(runtime, relation, key, fcd.key_bytes());
                    return Some(status.unwrap_or(FileStatus::LOGIC));
                }
                None => self.lend(fcd, |block| runtime.request(start_code(relation), block)),
            },
        }
        Some(FileStatus(fcd.status()))
    }
}

fn start_code(relation: Relation) -> [u8; 2] {
    let code = match relation {
        Relation::Equal => 0xe8,
        Relation::Greater => 0xea,
        Relation::GreaterOrEqual => 0xeb,
        Relation::Less => 0xfe,
        Relation::LessOrEqual => 0xff,
        Relation::First => 0xed,
        Relation::Last => 0xec,
    };
    [0xfa, code]
}
