//! What transaction managers have opened in a thread, and how a resource manager tells them that
//! it takes part in their transaction (dynamic registration of X/Open XA).
//!
//! ```text
//!             first work: ax_reg --> a branch --> xa_end ----+
//!  opened --<                                                +--> opened
//!             first work: ax_reg --> none: its own unit of --+
//!                                    work, ends: ax_unreg
//! ```
//!
//! | entry of the transaction manager | returns |
//! |---|---|
//! | `ax_reg(rmid, xid, flags)` | 0: a new branch, or none (format -1); 1: goes on with a suspended one; 2: joins one; less: not done |
//! | `ax_unreg(rmid, flags)` | 0 |
//!
//! 1. Without `ax_reg` in the program a switch of this kind cannot be opened.
//! 2. Work that the transaction manager cannot be told of is not done.
//! 3. No lock of this crate is held while the transaction manager is called: it makes calls of its
//!    own.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_int, c_long};
use std::sync::atomic::Ordering;

use queue_manager::Reason;
use queue_manager::branch::{BranchCall, BranchId};

use crate::state::Connection;
use crate::xid::Xid;

/// What the transaction manager answers.
const NEW: c_int = 0;
const RESUME: c_int = 1;
const JOIN: c_int = 2;

/// Whether a transaction manager knows that work is done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Registered {
    /// It has to be told before there is any.
    No,
    /// The work is a branch's.
    Branch,
    /// The work is no branch's; it is to be told when that has ended.
    Own,
}

/// What a thread has opened as a resource manager of some number.
pub(crate) struct Opened {
    pub(crate) handle: i32,
    /// Identifiers of a scan that were not given yet.
    pub(crate) scan: Option<Vec<BranchId>>,
    /// For a switch that registers by itself.
    pub(crate) registered: Option<Registered>,
}

thread_local! {
    static OPENED: RefCell<BTreeMap<c_int, Opened>> = const { RefCell::new(BTreeMap::new()) };
}

/// Looks at what this thread has opened.
pub(crate) fn with_opened<R>(look: impl FnOnce(&mut BTreeMap<c_int, Opened>) -> R) -> R {
    OPENED.with_borrow_mut(look)
}

type Register = unsafe extern "C" fn(c_int, *mut Xid, c_long) -> c_int;
type Unregister = unsafe extern "C" fn(c_int, c_long) -> c_int;

fn entry(name: &CStr) -> Option<*mut std::ffi::c_void> {
    // SAFETY: the name ends with a zero byte.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

fn register() -> Option<Register> {
    // SAFETY: the specification says what is behind this name.
    entry(c"ax_reg").map(|at| unsafe { std::mem::transmute::<*mut std::ffi::c_void, Register>(at) })
}

fn unregister() -> Option<Unregister> {
    let entry = entry(c"ax_unreg");
    // SAFETY: the specification says what is behind this name.
    entry.map(|at| unsafe { std::mem::transmute::<*mut std::ffi::c_void, Unregister>(at) })
}

/// Whether there is a transaction manager that can be told.
pub(crate) fn can_register() -> bool {
    register().is_some() && unregister().is_some()
}

/// Notes where the work of a resource manager that registers by itself stands.
pub(crate) fn note(rmid: c_int, registered: Registered) {
    with_opened(|all| {
        if let Some(known) = all.get_mut(&rmid).and_then(|opened| opened.registered.as_mut()) {
            *known = registered;
        }
    });
}

/// The number under which work of a connection stands like that, in this thread.
fn number_of(handle: i32, standing: Registered) -> Option<c_int> {
    with_opened(|all| {
        let mut own = all.iter().filter(|(_, opened)| opened.handle == handle);
        let found = own.clone().find(|(_, opened)| opened.registered == Some(standing));
        let is_known = own.any(|(_, opened)| {
            matches!(opened.registered, Some(Registered::Branch | Registered::Own))
        });
        let found = found.filter(|_| standing != Registered::No || !is_known);
        found.map(|(rmid, _)| *rmid)
    })
}

/// Work in a unit of work is to come: the transaction manager says of which.
pub(crate) fn before_work(connection: &Connection) -> Result<(), Reason> {
    if connection.managed.load(Ordering::Acquire) == 0 {
        return Ok(());
    }
    let Some(rmid) = number_of(connection.handle, Registered::No) else { return Ok(()) };
    let register = register().ok_or(Reason::UOW_NOT_AVAILABLE)?;
    let mut xid = Xid::NONE;
    // SAFETY: the transaction manager writes an identifier to where there is room for it.
    let answer = unsafe { register(rmid, &raw mut xid, 0) };
    if answer == NEW && xid.is_none() {
        note(rmid, Registered::Own);
        return Ok(());
    }
    let branch = xid.branch().ok_or(Reason::UOW_NOT_AVAILABLE)?;
    let call = match answer {
        NEW => BranchCall::Start(branch),
        RESUME => BranchCall::Resume(branch),
        JOIN => BranchCall::Join(branch),
        _ => return Err(Reason::UOW_NOT_AVAILABLE),
    };
    connection.client()?.branch(&call).map_err(|_| Reason::UOW_NOT_AVAILABLE)?;
    note(rmid, Registered::Branch);
    Ok(())
}

/// A unit of work that is no branch's has ended.
pub(crate) fn after_own_work(connection: &Connection) {
    if connection.managed.load(Ordering::Acquire) == 0 {
        return;
    }
    let Some(rmid) = number_of(connection.handle, Registered::Own) else { return };
    note(rmid, Registered::No);
    if let Some(unregister) = unregister() {
        // SAFETY: the specification says what the arguments are. Whatever it answers, the work is
        // over.
        let _ = unsafe { unregister(rmid, 0) };
    }
}
