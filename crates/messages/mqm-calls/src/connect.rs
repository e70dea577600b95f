//! MQCONN, MQCONNX, MQDISC.

use std::ffi::c_void;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use mqi::client::Client;
use mqi::place::Places;
use mqi::structures::{Cno, Csp};
use mqi::wire::{Connecting, Credentials, Request};
use queue_manager::name::{padded, unpadded};
use queue_manager::{Completion, ObjectName, Outcome, Reason};
use seam::clock::RealClock;

use crate::callbacks;
use crate::finish::finish;
use crate::memory::{self, Lent, optional};
use crate::network::reconnection::Configuration;
use crate::network::{self, Binding, Settings, definition};
use crate::reconnect::Reconnector;
use crate::state::{self, Connection, Sharing};
use crate::{message_handles, region, registration};

const HANDLE_SHARE_NONE: i32 = 0x20;
const HANDLE_SHARE_BLOCK: i32 = 0x40;
const HANDLE_SHARE_NO_BLOCK: i32 = 0x80;
/// The options that there are.
const KNOWN_OPTIONS: i32 = 0x1f3d_ffff;
/// The letters of security parameters are wrong, or their version.
const CSP_ERROR: Reason = Reason(2595);
/// The type of authentication: by user and password.
const USER_ID_AND_PASSWORD: i32 = 1;

/// Connects to a queue manager.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
pub unsafe fn conn(name: *mut c_void, hconn: *mut i32, completion: *mut i32, reason: *mut i32) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe { finish(completion, reason, || connect(name, None, hconn).map(|it| it.0)) };
}

/// Connects with options.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
pub unsafe fn connx(
    name: *mut c_void,
    options: *mut c_void,
    hconn: *mut i32,
    completion: *mut i32,
    reason: *mut i32,
) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe {
        finish(completion, reason, || {
            let Some(mut cno) = optional::<Cno>(options, Reason::CNO_ERROR)? else {
                return connect(name, None, hconn).map(|done| done.0);
            };
            let (outcome, manager, number) = connect(name, Some(&cno), hconn)?;
            let mut identifier = [0; 24];
            identifier[..4].copy_from_slice(b"AMQC");
            identifier[4..16].copy_from_slice(&padded::<12>(&manager));
            identifier[16..].copy_from_slice(&number.to_be_bytes());
            cno.now.connection_id = identifier;
            cno.give();
            Ok(outcome)
        });
    }
}

/// Who connects, if the options say so.
///
/// # Safety
/// The options lead to security parameters, if they lead to any.
unsafe fn credentials(cno: &Lent<Cno>) -> Result<Option<Credentials>, Reason> {
    let (pointer, offset) = (cno.now.security_parms_ptr, cno.now.security_parms_offset);
    let Some(at) = memory::place(pointer, offset, cno.base()) else { return Ok(None) };
    // SAFETY: as promised to this function.
    let csp = unsafe { Lent::<Csp>::take(at.cast(), CSP_ERROR) }?;
    match csp.now.authentication_type {
        0 => return Ok(None),
        USER_ID_AND_PASSWORD => {}
        _ => return Err(Reason::NOT_AUTHORIZED),
    }
    let part = |pointer, offset, len: i32| {
        let at = memory::place(pointer, offset, csp.base());
        let at = at.map_or(std::ptr::null(), |at| at.cast::<c_void>().cast_const());
        // SAFETY: as promised to this function.
        unsafe { memory::input(at, len, CSP_ERROR, CSP_ERROR) }.map(<[u8]>::to_vec)
    };
    let now = &csp.now;
    let user = part(now.user_id_ptr, now.user_id_offset, now.user_id_length)?;
    let password = part(now.password_ptr, now.password_offset, now.password_length)?;
    Ok(Some(Credentials { user: memory::text(&user).trim_end().to_owned(), password }))
}

/// Connects; answers the queue manager's name and the connection's number there.
///
/// # Safety
/// The name is null or 48 characters, the handle is null or the caller's, and the options lead to
/// what they say that they lead to.
unsafe fn connect(
    name: *mut c_void,
    cno: Option<&Lent<Cno>>,
    hconn: *mut i32,
) -> Result<(Outcome, String, i64), Reason> {
    if hconn.is_null() {
        return Err(Reason::HCONN_ERROR);
    }
    // SAFETY: as promised to this function.
    let name = unsafe { memory::field::<48>(name.cast()) }.unwrap_or([b' '; 48]);
    let options = cno.map_or(0, |cno| cno.now.options);
    if options & !KNOWN_OPTIONS != 0 {
        return Err(Reason::OPTIONS_ERROR);
    }
    let sharing = sharing(options)?;
    let settings = Settings::of_process(trusts_environment());
    let binding = Binding::of(options, &settings)?;
    let name = unpadded(&name);
    let wanted = name.trim_start_matches('*');
    let known = (sharing == Sharing::None).then(|| state::own(wanted)).flatten();
    if let Some(known) = known.filter(|known| is_there(known)) {
        // SAFETY: as promised to this function.
        unsafe { memory::set(hconn, known.handle) };
        let number = known.client().map(|client| client.number()).unwrap_or_default();
        // A connection that only a transaction manager has had is new to the program.
        let outcome = match known.claimed.swap(true, Ordering::AcqRel) {
            true => Outcome::warning(Reason::ALREADY_CONNECTED),
            false => Outcome::OK,
        };
        return Ok((outcome, known.manager.clone(), number));
    }
    let given = cno.map(|cno| unpadded(&cno.now.appl_name)).unwrap_or_default();
    let mut connecting = Connecting {
        manager: ObjectName::from(wanted),
        program: padded(&given),
        thread: state::this_thread(),
        // SAFETY: as promised to this function.
        proof: cno.map(|cno| unsafe { credentials(cno) }).transpose()?.flatten(),
    };
    let in_region = match binding {
        Binding::Local => in_region(&connecting)?,
        Binding::Client => None,
    };
    if given.is_empty() {
        connecting.program = program_name();
    }
    let (client, reconnector) = match (in_region, binding) {
        (Some(client), _) => (client, None),
        (None, Binding::Local) => (find(wanted, &connecting)?, None),
        // SAFETY: as promised to this function.
        (None, Binding::Client) => unsafe { over_network(cno, &name, &settings, connecting) }?,
    };
    let number = client.number();
    let kept = state::keep(client, sharing, reconnector.is_some())?;
    if let Some(reconnector) = reconnector {
        let same_manager = reconnector.identifier.is_some();
        let connection = Arc::downgrade(&kept);
        let reconnector = Box::new(Reconnector { connection, ..reconnector });
        kept.client()?.recovers(reconnector, same_manager);
    }
    // SAFETY: as promised to this function.
    unsafe { memory::set(hconn, kept.handle) };
    Ok((Outcome::OK, kept.manager.clone(), number))
}

/// Connects over the network; answers also how that is done again, if it is to be.
///
/// # Safety
/// As for [`connect`].
unsafe fn over_network(
    cno: Option<&Lent<Cno>>,
    name: &str,
    settings: &Settings,
    connecting: Connecting,
) -> Result<(Client, Option<Reconnector>), Reason> {
    // SAFETY: as promised to this function.
    let definitions = unsafe { definition::definitions(cno, name, settings) }?;
    // SAFETY: as promised to this function.
    let keys = unsafe { definition::keys(cno, settings) }?;
    let configuration = Configuration::read(settings.configuration.as_deref())?;
    let options = cno.map_or(0, |cno| cno.now.options);
    // What cannot be is refused before anything is done.
    configuration.reconnects(options, None)?;
    let (client, by) = network::connect(&definitions, &keys, &connecting)?;
    let Some(same_manager) = configuration.reconnects(options, by.reconnects)? else {
        return Ok((client, None));
    };
    let reconnector = Reconnector {
        keys,
        connecting,
        patience: configuration.patience,
        identifier: same_manager.then(|| client.identifier().to_owned()),
        connection: Weak::<Connection>::new(),
        clock: RealClock::new(),
        definitions,
    };
    Ok((client, Some(reconnector)))
}

/// Connects this thread for a transaction manager; answers the handle, and whether it is new.
pub(crate) fn for_switch(name: &str) -> Result<(i32, bool), Reason> {
    let mut field = padded::<48>(name);
    if let Some(known) = state::own(name).filter(|known| is_there(known)) {
        return Ok((known.handle, false));
    }
    let mut handle = state::UNUSABLE;
    // SAFETY: the name and the handle stand here.
    unsafe { connect(field.as_mut_ptr().cast(), None, &raw mut handle) }?;
    Ok((handle, true))
}

fn sharing(options: i32) -> Result<Sharing, Reason> {
    match options & (HANDLE_SHARE_NONE | HANDLE_SHARE_BLOCK | HANDLE_SHARE_NO_BLOCK) {
        0 | HANDLE_SHARE_NONE => Ok(Sharing::None),
        HANDLE_SHARE_BLOCK => Ok(Sharing::Block),
        HANDLE_SHARE_NO_BLOCK => Ok(Sharing::NoBlock),
        _ => Err(Reason::OPTIONS_ERROR),
    }
}

/// Whether a connection can be used again; one that has ended is forgotten.
fn is_there(known: &Connection) -> bool {
    let there = known.client().is_ok_and(|client| client.is_there());
    if !there {
        state::forget(known.handle);
    }
    there
}

/// Connects to the queue manager of the region that the program is in; none if it is in none, or
/// wants another one.
fn in_region(connecting: &Connecting) -> Result<Option<Client>, Reason> {
    let Some(carrier) = region::carrier() else { return Ok(None) };
    match Client::carried(carrier, connecting.clone()) {
        Ok(client) => Ok(Some(client)),
        Err(outcome) => match outcome.reason {
            Reason::Q_MGR_NAME_ERROR | Reason::Q_MGR_NOT_AVAILABLE => Ok(None),
            reason => Err(reason),
        },
    }
}

/// Connects to the first queue manager of that name that listens.
fn find(name: &str, connecting: &Connecting) -> Result<Client, Reason> {
    let mut why = Reason::Q_MGR_NAME_ERROR;
    for socket in Places::of_process(trusts_environment()).sockets(name) {
        match Client::connect(&socket, connecting.clone()) {
            Ok(client) => return Ok(client),
            // Another system's queue manager: the one that is asked for may be further on.
            Err(outcome) if outcome.reason == Reason::Q_MGR_NAME_ERROR => {}
            Err(outcome) => why = outcome.reason,
        }
    }
    if name.is_empty() && why == Reason::Q_MGR_NAME_ERROR {
        return Err(Reason::Q_MGR_NOT_AVAILABLE);
    }
    Err(why)
}

/// Whether this process runs with the rights of the user who started it.
fn trusts_environment() -> bool {
    // SAFETY: this only reads what the kernel has told the process.
    unsafe { libc::getauxval(libc::AT_SECURE) == 0 }
}

/// The name of this program: the last characters of its file's name.
fn program_name() -> [u8; 28] {
    let file = std::env::current_exe().unwrap_or_default();
    let name = file.to_string_lossy();
    let bytes = name.as_bytes();
    let last = bytes.get(bytes.len().saturating_sub(28)..).unwrap_or_default();
    let mut field = [b' '; 28];
    field.iter_mut().zip(last).for_each(|(to, from)| *to = *from);
    field
}

/// Commits what a program has done in no branch; what it did in one is the transaction manager's.
fn commit_own(connection: &Connection) -> Result<Outcome, Reason> {
    let outcome = connection.client()?.plain(&Request::Commit);
    if outcome.reason == Reason::ENVIRONMENT_ERROR {
        return Ok(Outcome::OK);
    }
    registration::after_own_work(connection);
    let is_done = outcome.completion != Completion::Failed;
    Ok(if is_done { outcome } else { Outcome::warning(outcome.reason) })
}

/// Disconnects: commits.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
pub unsafe fn disc(hconn: *mut i32, completion: *mut i32, reason: *mut i32) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe {
        finish(completion, reason, || {
            let handle = memory::get(hconn).ok_or(Reason::HCONN_ERROR)?;
            let connection = state::find(handle)?;
            let is_own = connection.consuming.load(Ordering::SeqCst) == state::this_thread();
            if is_own {
                // A program that is called back cannot end what calls it.
                return Err(Reason::OPERATION_NOT_ALLOWED);
            }
            callbacks::stop(&connection);
            if connection.managed.load(Ordering::Acquire) > 0 {
                // The transaction manager ends it, and what the program did in a branch.
                let outcome = commit_own(&connection)?;
                connection.claimed.store(false, Ordering::Release);
                memory::set(hconn, state::UNUSABLE);
                return Ok(outcome);
            }
            let outcome = connection.client()?.disconnect();
            state::forget(handle);
            message_handles::forget_of(handle);
            memory::set(hconn, state::UNUSABLE);
            let is_gone = [
                Reason::CONNECTION_BROKEN,
                Reason::RECONNECT_FAILED,
                Reason::RECONNECT_QMID_MISMATCH,
            ];
            if is_gone.contains(&outcome.reason) {
                return Ok(outcome);
            }
            let is_done = outcome.completion != Completion::Failed;
            Ok(if is_done { outcome } else { Outcome::warning(outcome.reason) })
        });
    }
}
