//! The switch of a resource manager (X/Open XA): by it another transaction manager has what a
//! program puts and gets committed together with what it does elsewhere.
//!
//! | entry | what it does |
//! |---|---|
//! | `xa_open`, `xa_close` | connects this thread to the queue manager that `xa_info` names; ends that |
//! | `xa_start`, `xa_end` | calls under syncpoint belong to a branch; to it no longer |
//! | `xa_prepare`, `xa_commit`, `xa_rollback` | what becomes of a branch |
//! | `xa_recover`, `xa_forget` | which are prepared; what an operator has decided is known |
//!
//! `xa_info` is the name of a queue manager, or a list such as `qmname=QM1,tpm=x`, of which the
//! name counts.
//!
//! The switch that registers dynamically has no need of `xa_start`: see `registration`.
//!
//! Invariants:
//! 1. A connection that a transaction manager has opened is found by MQCONN of the same thread, and
//!    MQDISC leaves it to the transaction manager.
//! 2. A branch that may still be committed is never reported as rolled back: what cannot be done
//!    now is to be tried again.

use std::ffi::{CStr, c_char, c_int, c_long};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use queue_manager::Reason;
use queue_manager::branch::{BranchAnswer, BranchCall, BranchError, BranchId, WorkEnd};

use crate::registration::{self, Opened, Registered, with_opened};
pub use crate::xid::Xid;
use crate::{connect, state};

/// Codes of the specification.
mod code {
    use std::ffi::c_int;

    pub(super) const OK: c_int = 0;
    pub(super) const READ_ONLY: c_int = 3;
    pub(super) const RETRY: c_int = 4;
    pub(super) const DECIDED_BACK_OUT: c_int = 6;
    pub(super) const DECIDED_COMMIT: c_int = 7;
    pub(super) const BACKED_OUT: c_int = 100;
    pub(super) const NO_ASYNC: c_int = -2;
    pub(super) const ERROR: c_int = -3;
    pub(super) const UNKNOWN: c_int = -4;
    pub(super) const INVALID: c_int = -5;
    pub(super) const PROTOCOL: c_int = -6;
    pub(super) const FAILED: c_int = -7;
    pub(super) const EXISTS: c_int = -8;
    pub(super) const OUTSIDE: c_int = -9;
}

/// Flags of the specification.
mod flag {
    use std::ffi::c_long;

    pub(super) const REGISTERS: c_long = 1;
    pub(super) const JOIN: c_long = 0x0020_0000;
    pub(super) const END_SCAN: c_long = 0x0080_0000;
    pub(super) const START_SCAN: c_long = 0x0100_0000;
    pub(super) const SUSPEND: c_long = 0x0200_0000;
    pub(super) const RESUME: c_long = 0x0800_0000;
    pub(super) const FAIL: c_long = 0x2000_0000;
    pub(super) const ONE_PHASE: c_long = 0x4000_0000;
    pub(super) const ASYNC: c_long = 0x8000_0000;
}

type Entry = unsafe extern "C" fn(*mut Xid, c_int, c_long) -> c_int;
type Opening = unsafe extern "C" fn(*mut c_char, c_int, c_long) -> c_int;

/// The switch, as the specification has it.
#[repr(C)]
#[allow(missing_docs)] // the specification's own
pub struct Switch {
    pub name: [u8; 32],
    pub flags: c_long,
    pub version: c_long,
    pub open: Opening,
    pub close: Opening,
    pub start: Entry,
    pub end: Entry,
    pub rollback: Entry,
    pub prepare: Entry,
    pub commit: Entry,
    pub recover: unsafe extern "C" fn(*mut Xid, c_long, c_int, c_long) -> c_int,
    pub forget: Entry,
    pub complete: unsafe extern "C" fn(*mut c_int, *mut c_int, c_int, c_long) -> c_int,
}

impl Switch {
    /// That of this library.
    #[must_use]
    pub const fn new() -> Switch {
        let mut name = [0; 32];
        let text = b"Holdfast queue manager";
        let mut at = 0;
        while at < text.len() {
            name[at] = text[at];
            at += 1;
        }
        Switch {
            name,
            flags: 0,
            version: 0,
            open,
            close,
            start,
            end,
            rollback,
            prepare,
            commit,
            recover,
            forget,
            complete,
        }
    }

    /// The one that tells the transaction manager by itself when there is work.
    #[must_use]
    pub const fn dynamic() -> Switch {
        Switch { flags: flag::REGISTERS, open: open_dynamic, ..Switch::new() }
    }
}

impl Default for Switch {
    fn default() -> Switch {
        Switch::new()
    }
}

/// Makes a call; a panic is an error of the resource manager.
fn guarded(call: impl FnOnce() -> c_int) -> c_int {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(code::FAILED)
}

/// The queue manager that an opening string names.
fn name_of(info: &str) -> String {
    if !info.contains('=') {
        return info.trim().to_owned();
    }
    let mut parts = info.split(',').filter_map(|part| part.split_once('='));
    let named = parts.find(|(key, _)| key.trim().eq_ignore_ascii_case("qmname"));
    named.map_or_else(String::new, |(_, name)| name.trim().to_owned())
}

unsafe extern "C" fn open(info: *mut c_char, rmid: c_int, flags: c_long) -> c_int {
    // SAFETY: the arguments are the caller's, as the specification says.
    unsafe { open_as(info, rmid, flags, None) }
}

unsafe extern "C" fn open_dynamic(info: *mut c_char, rmid: c_int, flags: c_long) -> c_int {
    if !registration::can_register() {
        // The transaction manager could not be told of any work.
        return code::ERROR;
    }
    // SAFETY: the arguments are the caller's, as the specification says.
    unsafe { open_as(info, rmid, flags, Some(Registered::No)) }
}

/// Opens the switch.
///
/// # Safety
/// The information is null, or characters with a zero byte behind them.
unsafe fn open_as(
    info: *mut c_char,
    rmid: c_int,
    flags: c_long,
    registered: Option<Registered>,
) -> c_int {
    guarded(|| {
        if flags & flag::ASYNC != 0 {
            return code::NO_ASYNC;
        }
        if with_opened(|all| all.contains_key(&rmid)) {
            return code::OK;
        }
        let info = match info.is_null() {
            true => String::new(),
            // SAFETY: the specification says that a zero byte ends the string.
            false => unsafe { CStr::from_ptr(info) }.to_string_lossy().into_owned(),
        };
        let (handle, is_new) = match connect::for_switch(&name_of(&info)) {
            Ok(connected) => connected,
            Err(Reason::Q_MGR_NAME_ERROR) => return code::INVALID,
            Err(_) => return code::ERROR,
        };
        let Ok(connection) = state::find(handle) else { return code::ERROR };
        connection.managed.fetch_add(1, Ordering::AcqRel);
        if is_new {
            connection.claimed.store(false, Ordering::Release);
        }
        with_opened(|all| all.insert(rmid, Opened { handle, scan: None, registered }));
        code::OK
    })
}

unsafe extern "C" fn close(_info: *mut c_char, rmid: c_int, flags: c_long) -> c_int {
    guarded(|| {
        if flags & flag::ASYNC != 0 {
            return code::NO_ASYNC;
        }
        let Some(opened) = with_opened(|all| all.remove(&rmid)) else {
            return code::OK;
        };
        let Ok(connection) = state::find(opened.handle) else { return code::OK };
        let last = connection.managed.fetch_sub(1, Ordering::AcqRel) == 1;
        if last && !connection.claimed.load(Ordering::Acquire) {
            if let Ok(mut client) = connection.client() {
                // What is not prepared is backed out; nothing else can be said here.
                let _ = client.disconnect();
            }
            state::forget(opened.handle);
        }
        code::OK
    })
}

/// The identifier at an address.
///
/// # Safety
/// The address is null, or leads to an identifier.
unsafe fn branch_at(xid: *const Xid) -> Option<BranchId> {
    // SAFETY: as promised to this function.
    (!xid.is_null()).then(|| unsafe { xid.read_unaligned() })?.branch()
}

fn code_of(error: BranchError, otherwise: c_int) -> c_int {
    match error {
        BranchError::Unknown => code::UNKNOWN,
        BranchError::Exists => code::EXISTS,
        BranchError::Protocol => code::PROTOCOL,
        BranchError::Outside => code::OUTSIDE,
        BranchError::BackedOut => code::BACKED_OUT,
        BranchError::DecidedCommit => code::DECIDED_COMMIT,
        BranchError::DecidedBackOut => code::DECIDED_BACK_OUT,
        BranchError::Failed => otherwise,
        BranchError::Stopping => code::FAILED,
    }
}

/// Asks the queue manager of a resource manager's number.
fn ask(rmid: c_int, call: &BranchCall) -> Result<Result<BranchAnswer, BranchError>, c_int> {
    let handle = with_opened(|all| all.get(&rmid).map(|opened| opened.handle));
    let handle = handle.ok_or(code::PROTOCOL)?;
    let connection = state::find(handle).map_err(|_| code::FAILED)?;
    let mut client = connection.client().map_err(|_| code::FAILED)?;
    Ok(client.branch(call))
}

/// What every call about a branch says: which one, of which resource manager, and how.
struct XaCall {
    xid: *const Xid,
    rmid: c_int,
    flags: c_long,
}

/// Asks about one branch; `otherwise` says that it could not be done now.
///
/// # Safety
/// The address is null, or leads to an identifier.
unsafe fn ask_about(
    XaCall { xid, rmid, flags }: XaCall,
    otherwise: c_int,
    call: impl FnOnce(BranchId) -> BranchCall,
) -> c_int {
    guarded(|| {
        if flags & flag::ASYNC != 0 {
            return code::NO_ASYNC;
        }
        // SAFETY: as promised to this function.
        let Some(branch) = (unsafe { branch_at(xid) }) else { return code::INVALID };
        match ask(rmid, &call(branch)) {
            Ok(Ok(BranchAnswer::ReadOnly)) => code::READ_ONLY,
            Ok(Ok(_)) => code::OK,
            Ok(Err(error)) => code_of(error, otherwise),
            Err(code) => code,
        }
    })
}

unsafe extern "C" fn start(xid: *mut Xid, rmid: c_int, flags: c_long) -> c_int {
    // SAFETY: the specification says what the arguments are.
    let done = unsafe {
        ask_about(XaCall { xid, rmid, flags }, code::ERROR, |branch| match flags {
            _ if flags & flag::RESUME != 0 => BranchCall::Resume(branch),
            _ if flags & flag::JOIN != 0 => BranchCall::Join(branch),
            _ => BranchCall::Start(branch),
        })
    };
    if done == code::OK {
        registration::note(rmid, Registered::Branch);
    }
    done
}

unsafe extern "C" fn end(xid: *mut Xid, rmid: c_int, flags: c_long) -> c_int {
    let how = match flags {
        _ if flags & flag::SUSPEND != 0 => WorkEnd::Suspended,
        _ if flags & flag::FAIL != 0 => WorkEnd::Failed,
        _ => WorkEnd::Done,
    };
    let call = |branch| BranchCall::End(branch, how);
    // SAFETY: the specification says what the arguments are.
    let done = unsafe { ask_about(XaCall { xid, rmid, flags }, code::ERROR, call) };
    if done == code::OK || done == code::BACKED_OUT {
        // What comes now is another branch's, or this one's again: the transaction manager says.
        registration::note(rmid, Registered::No);
    }
    done
}

unsafe extern "C" fn rollback(xid: *mut Xid, rmid: c_int, flags: c_long) -> c_int {
    // SAFETY: the specification says what the arguments are.
    unsafe { ask_about(XaCall { xid, rmid, flags }, code::FAILED, BranchCall::BackOut) }
}

unsafe extern "C" fn prepare(xid: *mut Xid, rmid: c_int, flags: c_long) -> c_int {
    // SAFETY: the specification says what the arguments are.
    unsafe { ask_about(XaCall { xid, rmid, flags }, code::ERROR, BranchCall::Prepare) }
}

unsafe extern "C" fn commit(xid: *mut Xid, rmid: c_int, flags: c_long) -> c_int {
    let one_phase = flags & flag::ONE_PHASE != 0;
    let otherwise = if one_phase { code::FAILED } else { code::RETRY };
    // SAFETY: the specification says what the arguments are.
    unsafe {
        ask_about(XaCall { xid, rmid, flags }, otherwise, |branch| BranchCall::Commit {
            branch,
            one_phase,
        })
    }
}

unsafe extern "C" fn forget(xid: *mut Xid, rmid: c_int, flags: c_long) -> c_int {
    // SAFETY: the specification says what the arguments are.
    unsafe { ask_about(XaCall { xid, rmid, flags }, code::FAILED, BranchCall::Forget) }
}

/// All branches in doubt, list by list.
fn in_doubt(rmid: c_int) -> Result<Vec<BranchId>, c_int> {
    let mut all = Vec::new();
    let mut next = BranchCall::Recover;
    loop {
        let more = match ask(rmid, &next)? {
            Ok(BranchAnswer::Listed(more)) => more,
            Ok(_) => return Err(code::ERROR),
            Err(error) => return Err(code_of(error, code::ERROR)),
        };
        let Some(last) = more.last().cloned() else { return Ok(all) };
        next = BranchCall::RecoverAfter(last);
        all.extend(more);
    }
}

unsafe extern "C" fn recover(xids: *mut Xid, count: c_long, rmid: c_int, flags: c_long) -> c_int {
    guarded(|| {
        let Ok(count) = usize::try_from(count) else { return code::INVALID };
        if xids.is_null() && count > 0 {
            return code::INVALID;
        }
        if flags & flag::START_SCAN != 0 {
            let found = match in_doubt(rmid) {
                Ok(found) => found,
                Err(code) => return code,
            };
            with_opened(|all| {
                if let Some(opened) = all.get_mut(&rmid) {
                    opened.scan = Some(found);
                }
            });
        }
        let given = with_opened(|all| {
            let opened = all.get_mut(&rmid)?;
            let scan = opened.scan.as_mut()?;
            let given: Vec<BranchId> = scan.drain(..count.min(scan.len())).collect();
            if flags & flag::END_SCAN != 0 {
                opened.scan = None;
            }
            Some(given)
        });
        let Some(given) = given else { return code::PROTOCOL };
        for (at, branch) in given.iter().enumerate() {
            // SAFETY: the specification says that there is room for `count` of them.
            unsafe { xids.add(at).write_unaligned(Xid::of(branch)) };
        }
        c_int::try_from(given.len()).unwrap_or(code::ERROR)
    })
}

unsafe extern "C" fn complete(_: *mut c_int, _: *mut c_int, _: c_int, _: c_long) -> c_int {
    // Nothing is done asynchronously that could be waited for.
    code::INVALID
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_switch_stands_as_the_specification_has_them() {
        assert_eq!(std::mem::offset_of!(Switch, open), 48);
        assert_eq!(size_of::<Switch>(), 48 + 10 * 8);
    }

    #[test]
    fn an_opening_string_names_a_queue_manager() {
        assert_eq!(name_of("QM1"), "QM1");
        assert_eq!(name_of(" axlib=x, qmname=QM1 ,tpm=y"), "QM1");
        assert_eq!(name_of("tpm=y"), "");
        assert_eq!(name_of(""), "");
    }
}
