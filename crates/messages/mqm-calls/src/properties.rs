//! Message handles and properties: MQCRTMH, MQDLTMH, MQSETMP, MQINQMP, MQDLTMP, MQBUFMH, MQMHBUF.
//!
//! Invariants:
//! 1. A value that does not fit stays what it is: the caller is told how long it is, and the
//!    property is still the one under the cursor.

use std::ffi::c_void;
use std::sync::Arc;

use mqi::client::Client;
use mqi::structures::{Bmho, Cmho, Dmho, Dmpo, Impo, Md, Mhbo, Pd, Smpo};
use mqi::table::{CharV, Structure as _, Value as _};
use mqi::wire::frame::DATA_BYTES_MAX;
use mqi::wire::{Request, property, property_parts};
use queue_manager::properties::{InquireOptions, PropertyValue};
use queue_manager::{Completion, Outcome, Reason};

use crate::finish::finish;
use crate::memory::{self, Lent, optional};
use crate::message_handles::{self, StandIn, UNASSOCIATED};
use crate::messages::optional_descriptor;
use crate::state::{self, Connection};

/// The handle that stands for no message any more.
const UNUSABLE: i64 = -1;
const BMHO_ERROR: Reason = Reason(2489);
const MHBO_ERROR: Reason = Reason(2501);
/// Which property is inquired.
const INQUIRE_NEXT: i32 = 8;
const INQUIRE_UNDER_CURSOR: i32 = 16;
/// The value is wanted in another type.
const CONVERT_TYPE: i32 = 2;
/// Only the length is wanted.
const QUERY_LENGTH: i32 = 4;
/// The types of properties that have one length only.
const STRING: i32 = 1024;
const BYTE_STRING: i32 = 8;

/// Makes a message handle.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
pub unsafe fn crtmh(
    hconn: i32,
    options: *mut c_void,
    hmsg: *mut i64,
    completion: *mut i32,
    reason: *mut i32,
) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe {
        finish(completion, reason, || {
            let connection = connection_of(hconn)?;
            optional::<Cmho>(options, Reason::CMHO_ERROR)?;
            if hmsg.is_null() {
                return Err(Reason::HMSG_ERROR);
            }
            let Some(connection) = connection.filter(|one| !one.reconnects) else {
                memory::set(hmsg, message_handles::create(hconn));
                return Ok(Outcome::OK);
            };
            let (outcome, handle) = connection.client()?.create_handle();
            memory::set(hmsg, handle);
            Ok(outcome)
        });
    }
}

/// Deletes a message handle.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
pub unsafe fn dltmh(
    hconn: i32,
    hmsg: *mut i64,
    options: *mut c_void,
    completion: *mut i32,
    reason: *mut i32,
) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe {
        finish(completion, reason, || {
            let connection = connection_of(hconn)?;
            optional::<Dmho>(options, Reason::DMHO_ERROR)?;
            let handle = memory::get(hmsg).ok_or(Reason::HMSG_ERROR)?;
            let outcome = match connection {
                Some(connection) if !message_handles::is_own(handle) => {
                    connection.client()?.plain(&Request::DeleteHandle { handle })
                }
                _ => message_handles::delete(handle)?,
            };
            if outcome.completion != Completion::Failed {
                memory::set(hmsg, UNUSABLE);
            }
            Ok(outcome)
        });
    }
}

/// The connection of a handle; none for what belongs to none.
fn connection_of(hconn: i32) -> Result<Option<Arc<Connection>>, Reason> {
    match hconn {
        UNASSOCIATED => Ok(None),
        hconn => state::find(hconn).map(Some),
    }
}

/// The name of a property: a string of variable length.
///
/// # Safety
/// It is null, or such a string.
unsafe fn name_of(at: *mut c_void) -> Result<String, Reason> {
    let reason = Reason::PROPERTY_NAME_ERROR;
    // SAFETY: as promised to this function; such a string is 24 bytes.
    let bytes = unsafe { memory::input(at, 24, reason, reason) }?;
    let of = CharV::read(bytes).ok_or(reason)?;
    // SAFETY: as promised to this function.
    unsafe { memory::string(&of, at.cast(), reason) }
}

/// A value of a type, of so many bytes.
///
/// # Safety
/// It is null, or leads to as many bytes, or to bytes that a zero byte ends.
unsafe fn value_of(kind: i32, length: i32, at: *mut c_void) -> Result<PropertyValue, Reason> {
    if kind == STRING && length == memory::NULL_TERMINATED {
        if at.is_null() {
            return Err(Reason::BUFFER_ERROR);
        }
        // SAFETY: as promised to this function.
        let bytes = unsafe { memory::terminated(at.cast(), DATA_BYTES_MAX) };
        return bytes
            .map(|bytes| PropertyValue::String(memory::text(&bytes)))
            .ok_or(Reason::PROPERTY_VALUE_TOO_BIG);
    }
    let (bad_length, bad_value) = (Reason::BUFFER_LENGTH_ERROR, Reason::BUFFER_ERROR);
    // SAFETY: as promised to this function.
    let bytes = unsafe { memory::input(at, length, bad_length, bad_value) }?;
    match kind {
        STRING => Ok(PropertyValue::String(memory::text(bytes))),
        _ => property(kind, bytes).ok_or(Reason::PROPERTY_TYPE_ERROR),
    }
}

/// Sets a property.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
#[allow(clippy::too_many_arguments)] // the interface's own
pub unsafe fn setmp(
    hconn: i32,
    hmsg: i64,
    options: *mut c_void,
    name: *mut c_void,
    pd: *mut c_void,
    kind: i32,
    length: i32,
    value: *mut c_void,
    completion: *mut i32,
    reason: *mut i32,
) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe {
        finish(completion, reason, || {
            let connection = connection_of(hconn)?;
            optional::<Smpo>(options, Reason::SMPO_ERROR)?;
            optional::<Pd>(pd, Reason::PD_ERROR)?;
            let name = name_of(name)?;
            let value = value_of(kind, length, value)?;
            let Some(connection) = connection.filter(|_| !message_handles::is_own(hmsg)) else {
                message_handles::with(hmsg, |all| all.set(&name, value))?;
                return Ok(Outcome::OK);
            };
            let request = Request::SetProperty { handle: hmsg, name, value };
            Ok(connection.client()?.plain(&request))
        });
    }
}

/// Deletes a property.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
pub unsafe fn dltmp(
    hconn: i32,
    hmsg: i64,
    options: *mut c_void,
    name: *mut c_void,
    completion: *mut i32,
    reason: *mut i32,
) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe {
        finish(completion, reason, || {
            let connection = connection_of(hconn)?;
            optional::<Dmpo>(options, Reason::DMPO_ERROR)?;
            let Some(connection) = connection.filter(|_| !message_handles::is_own(hmsg)) else {
                let name = name_of(name)?;
                message_handles::with(hmsg, |all| all.delete(&name))?;
                return Ok(Outcome::OK);
            };
            let request = Request::DeleteProperty { handle: hmsg, name: name_of(name)? };
            Ok(connection.client()?.plain(&request))
        });
    }
}

/// Inquires a property.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
#[allow(clippy::too_many_arguments)] // the interface's own
pub unsafe fn inqmp(
    hconn: i32,
    hmsg: i64,
    options: *mut c_void,
    name: *mut c_void,
    pd: *mut c_void,
    kind: *mut i32,
    length: i32,
    value: *mut c_void,
    data_length: *mut i32,
    completion: *mut i32,
    reason: *mut i32,
) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe {
        finish(completion, reason, || {
            let connection = connection_of(hconn)?;
            let mut impo = Lent::<Impo>::take(options, Reason::IMPO_ERROR)?;
            optional::<Pd>(pd, Reason::PD_ERROR)?;
            let name = name_of(name)?;
            let asked = memory::get(kind).ok_or(Reason::PROPERTY_TYPE_ERROR)?;
            let (bad_length, bad_value) = (Reason::BUFFER_LENGTH_ERROR, Reason::BUFFER_ERROR);
            let into = memory::output(value, length, bad_length, bad_value)?;
            let which = match impo.now.options {
                options if options & INQUIRE_NEXT != 0 => 1,
                options if options & INQUIRE_UNDER_CURSOR != 0 => 2,
                _ => 0,
            };
            let found = match connection.filter(|_| !message_handles::is_own(hmsg)) {
                Some(connection) => connection.client()?.inquire_property(hmsg, &name, which),
                None => inquire_here(hmsg, &name, which),
            };
            let (outcome, found_name, found) = match found {
                Ok(found) => found,
                Err(outcome) => return Ok(outcome),
            };
            let base = impo.base();
            let all = memory::set_string(&mut impo.now.returned_name, base, &found_name);
            impo.now.returned_encoding = 546;
            impo.now.returned_ccsid = 1208;
            impo.give();
            let converts = impo.now.options & CONVERT_TYPE != 0;
            let shown = if converts { as_type(found, asked)? } else { found };
            let (found_kind, bytes) = property_parts(&shown);
            memory::set(kind, found_kind);
            memory::set(data_length, i32::try_from(bytes.len()).unwrap_or(i32::MAX));
            if impo.now.options & QUERY_LENGTH != 0 {
                return Ok(outcome);
            }
            if bytes.len() > into.len() {
                return Ok(Outcome::failed(Reason::PROPERTY_VALUE_TOO_BIG));
            }
            into.iter_mut().zip(&bytes).for_each(|(to, from)| *to = *from);
            let cut = Outcome::warning(Reason::PROPERTY_NAME_TOO_BIG);
            Ok(if all { outcome } else { cut })
        });
    }
}

/// The property that an inquiry asks for, of a handle of no connection.
fn inquire_here(
    handle: i64,
    name: &str,
    which: i32,
) -> Result<(Outcome, String, PropertyValue), Outcome> {
    let options = match which {
        1 => InquireOptions::Next,
        2 => InquireOptions::UnderCursor,
        _ => InquireOptions::First,
    };
    let found = message_handles::with(handle, |all| all.inquire(name, options));
    found.map(|one| (Outcome::OK, one.name, one.value)).map_err(Outcome::failed)
}

/// A value in another type, where numbers and text say the same.
fn as_type(value: PropertyValue, kind: i32) -> Result<PropertyValue, Reason> {
    let (own, _) = property_parts(&value);
    if kind == 0 || kind == own {
        return Ok(value);
    }
    let refused = Reason::PROP_CONV_NOT_SUPPORTED;
    let text = match &value {
        PropertyValue::Boolean(value) => String::from(if *value { "TRUE" } else { "FALSE" }),
        PropertyValue::Int8(value) => value.to_string(),
        PropertyValue::Int16(value) => value.to_string(),
        PropertyValue::Int32(value) => value.to_string(),
        PropertyValue::Int64(value) => value.to_string(),
        PropertyValue::Float32(value) => value.to_string(),
        PropertyValue::Float64(value) => value.to_string(),
        PropertyValue::String(value) => value.clone(),
        PropertyValue::Bytes(value) if kind == STRING => base::hex::upper(value),
        _ => return Err(refused),
    };
    let number = Reason::PROP_NUMBER_FORMAT_ERROR;
    Ok(match kind {
        STRING => PropertyValue::String(text),
        4 => match text.as_str() {
            "TRUE" | "true" | "1" => PropertyValue::Boolean(true),
            "FALSE" | "false" | "0" => PropertyValue::Boolean(false),
            _ => return Err(number),
        },
        16 => PropertyValue::Int8(text.parse().map_err(|_| number)?),
        32 => PropertyValue::Int16(text.parse().map_err(|_| number)?),
        64 => PropertyValue::Int32(text.parse().map_err(|_| number)?),
        128 => PropertyValue::Int64(text.parse().map_err(|_| number)?),
        256 => PropertyValue::Float32(text.parse().map_err(|_| number)?),
        512 => PropertyValue::Float64(text.parse().map_err(|_| number)?),
        BYTE_STRING => return Err(refused),
        _ => return Err(Reason::PROPERTY_TYPE_ERROR),
    })
}

/// Turns the properties in front of a buffer into a message handle's.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
#[allow(clippy::too_many_arguments)] // the interface's own
pub unsafe fn bufmh(
    hconn: i32,
    hmsg: i64,
    options: *mut c_void,
    md: *mut c_void,
    length: i32,
    buffer: *mut c_void,
    data_length: *mut i32,
    completion: *mut i32,
    reason: *mut i32,
) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe {
        finish(completion, reason, || {
            let connection = state::find(hconn)?;
            let options = optional::<Bmho>(options, BMHO_ERROR)?;
            let options = options.map_or_else(|| Bmho::initial().options, |it| it.now.options);
            let (lent, before) = optional_descriptor(md)?;
            let (bad_length, bad_buffer) = (Reason::BUFFER_LENGTH_ERROR, Reason::BUFFER_ERROR);
            let into = memory::output(buffer, length, bad_length, bad_buffer)?;
            let delete = options & 1 != 0;
            let mut client = connection.client()?;
            let (mut handle, mut rest) = (hmsg, Vec::new());
            let stand_in = StandIn::lend(&mut client, &mut handle)?;
            let request = Request::BufferToHandle { handle, md: before, delete };
            let (outcome, after) = client.turn(&request, into, &mut rest);
            if let Some(stand_in) = stand_in {
                let is_done = outcome.completion != Completion::Failed;
                stand_in.end(&mut client, &mut handle, is_done);
            }
            if outcome.completion == Completion::Failed {
                return Ok(outcome);
            }
            into.iter_mut().zip(&rest).for_each(|(to, from)| *to = *from);
            memory::set(data_length, i32::try_from(rest.len()).unwrap_or(i32::MAX));
            if let Some(mut lent) = lent {
                lent.now = after;
                lent.give();
            }
            Ok(outcome)
        });
    }
}

/// The buffer that the properties of a handle become, if there is room for it; only then are they
/// deleted.
fn written(
    client: &mut Client,
    handle: i64,
    name: &str,
    md: &Md,
    delete: bool,
    room: usize,
) -> (Outcome, Md, Vec<u8>) {
    let request = |delete| {
        let (name, md) = (name.to_owned(), md.clone());
        Request::HandleToBuffer { handle, name, md, delete }
    };
    let mut made = Vec::new();
    let (outcome, after) = client.turn(&request(false), &[], &mut made);
    if outcome.completion == Completion::Failed {
        return (outcome, after, Vec::new());
    }
    if made.len() > room {
        return (Outcome::failed(Reason::PROPERTY_VALUE_TOO_BIG), after, made);
    }
    if delete {
        // Only now is it sure that they are not lost.
        let _ = client.turn(&request(true), &[], &mut Vec::new());
    }
    (outcome, after, made)
}

/// Turns a message handle's properties into a buffer.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
#[allow(clippy::too_many_arguments)] // the interface's own
pub unsafe fn mhbuf(
    hconn: i32,
    hmsg: i64,
    options: *mut c_void,
    name: *mut c_void,
    md: *mut c_void,
    length: i32,
    buffer: *mut c_void,
    data_length: *mut i32,
    completion: *mut i32,
    reason: *mut i32,
) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe {
        finish(completion, reason, || {
            let connection = state::find(hconn)?;
            let options = optional::<Mhbo>(options, MHBO_ERROR)?;
            let delete = options.is_some_and(|it| it.now.options & 2 != 0);
            let name = name_of(name)?;
            let (lent, before) = optional_descriptor(md)?;
            let (bad_length, bad_buffer) = (Reason::BUFFER_LENGTH_ERROR, Reason::BUFFER_ERROR);
            let into = memory::output(buffer, length, bad_length, bad_buffer)?;
            let mut client = connection.client()?;
            let mut handle = hmsg;
            let stand_in = StandIn::lend(&mut client, &mut handle)?;
            let (outcome, after, made) =
                written(&mut client, handle, &name, &before, delete, into.len());
            let is_done = outcome.completion != Completion::Failed;
            if let Some(stand_in) = stand_in {
                stand_in.end(&mut client, &mut handle, is_done);
            }
            if !made.is_empty() {
                memory::set(data_length, i32::try_from(made.len()).unwrap_or(i32::MAX));
            }
            if !is_done {
                return Ok(outcome);
            }
            into.iter_mut().zip(&made).for_each(|(to, from)| *to = *from);
            if let Some(mut lent) = lent {
                lent.now = after;
                lent.give();
            }
            Ok(outcome)
        });
    }
}
