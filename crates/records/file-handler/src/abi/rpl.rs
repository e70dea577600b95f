//! The C interface: what `holdfast_vsam.h` declares.
//!
//! Invariants:
//! 1. What is read and written behind an address is no more than the RPL states for it.
//! 2. A null where an address has to be is reason 104, and no panic leaves.

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

use base::bytes::Reader;
use seam::sync::Mutex;
use vsam::{DataSetName, LogicalReason};

use crate::acb_wire::{AcbAnswer, AcbRequest, Options, Rpl, Verb, mode_of};
use crate::name::{DATA_SET, Environment, Target, is_virtual, target};
use crate::remote::{Way, Ways};

const LOGICAL: u8 = 8;
const PHYSICAL: u8 = 12;
/// OPEN: there is no such entry.
const NO_ENTRY: u8 = 148;
/// In the mode of OPEN: the cluster is emptied.
const RESET: u32 = 0x100;

static WAYS: Mutex<Option<Box<dyn Ways>>> = Mutex::new(None);

/// Sets how this process reaches whoever has its data sets.
pub fn install(ways: Box<dyn Ways>) {
    *WAYS.lock() = Some(ways);
}

/// Whether that was set.
#[must_use]
pub fn is_installed() -> bool {
    WAYS.lock().is_some()
}

/// An open ACB.
pub struct Acb {
    way: Arc<dyn Way>,
    number: u32,
    request: Vec<u8>,
    answer: Vec<u8>,
}

/// `holdfast_acb_info`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct AcbInfo {
    return_code: u32,
    reason: u32,
    organization: u32,
    key_offset: u32,
    key_bytes: u32,
    record_bytes_max: u32,
}

/// `holdfast_rpl`.
#[repr(C)]
#[derive(Debug)]
pub struct RplBlock {
    acb: *mut Acb,
    area: *mut c_void,
    argument: *const c_void,
    number: u64,
    area_bytes: u32,
    record_bytes: u32,
    argument_bytes: u32,
    options: u32,
    string: u32,
    return_code: u8,
    component: u8,
    reason: u8,
    reserved: u8,
}

fn refused(reason: LogicalReason) -> AcbAnswer<'static> {
    AcbAnswer { return_code: LOGICAL, reason: reason.number(), ..AcbAnswer::default() }
}

fn failed() -> AcbAnswer<'static> {
    AcbAnswer { return_code: PHYSICAL, reason: 4, ..AcbAnswer::default() }
}

/// The data set that a program means.
fn data_set(name: &CStr) -> Option<String> {
    let text = name.to_str().ok()?.trim();
    if let Target::DataSet(name) = target(&Environment, name.to_bytes()) {
        return Some(name);
    }
    let plain = text.strip_prefix(DATA_SET).unwrap_or(text);
    let is_name = is_virtual(plain) || DataSetName::parse(plain).is_ok();
    is_name.then(|| plain.to_ascii_uppercase())
}

/// `holdfast_vsam_open`.
///
/// # Safety
/// Addresses are null or lead to what the header says.
pub unsafe fn open(
    name: *const c_char,
    mode: u32,
    strings: u32,
    acb: *mut *mut Acb,
    info: *mut AcbInfo,
) -> c_int {
    let done = seam::thread::catch(|| {
        if name.is_null() || acb.is_null() {
            return Err(refused(LogicalReason::BadOptions));
        }
        // SAFETY: as this function's callers promise.
        let name = unsafe { CStr::from_ptr(name) };
        connect(name, mode, strings)
    });
    let (opened, about) = match done {
        Ok(Ok((opened, about))) => (Some(opened), about),
        Ok(Err(AcbAnswer { return_code, reason, .. })) => {
            let (return_code, reason) = (u32::from(return_code), u32::from(reason));
            (None, AcbInfo { return_code, reason, ..AcbInfo::default() })
        }
        Err(_) => {
            (None, AcbInfo { return_code: u32::from(PHYSICAL), reason: 4, ..AcbInfo::default() })
        }
    };
    // SAFETY: as this function's callers promise.
    unsafe {
        if !acb.is_null() {
            acb.write(opened.map_or(std::ptr::null_mut(), |acb| Box::into_raw(Box::new(acb))));
        }
        if !info.is_null() {
            info.write(about);
        }
    }
    about.return_code as c_int
}

fn connect(name: &CStr, mode: u32, strings: u32) -> Result<(Acb, AcbInfo), AcbAnswer<'static>> {
    let unknown = AcbAnswer { return_code: LOGICAL, reason: NO_ENTRY, ..AcbAnswer::default() };
    let bad = refused(LogicalReason::BadOptions);
    let name = data_set(name).ok_or(unknown)?;
    let (reset, mode) = (mode & RESET != 0, mode_of(mode & !RESET).ok_or(bad)?);
    let strings = u16::try_from(strings).map_err(|_| bad)?;
    let way = {
        let mut ways = WAYS.lock();
        let ways = ways.as_mut().ok_or_else(failed)?;
        ways.way(&name).ok_or_else(failed)?
    };
    let mut acb = Acb { way, number: 0, request: Vec::new(), answer: Vec::new() };
    let request = AcbRequest::Open { mode, reset, strings, name: OsStr::new(&name).as_bytes() };
    let answer = acb.ask(&request);
    if answer.return_code != 0 {
        return Err(AcbAnswer { record: &[], ..answer });
    }
    let mut reader = Reader::new(answer.record);
    let mut about = || {
        Some(AcbInfo {
            organization: u32::from(reader.u8()?),
            key_offset: reader.u32()?,
            key_bytes: reader.u32()?,
            record_bytes_max: reader.u32()?,
            ..AcbInfo::default()
        })
    };
    let about = about().ok_or_else(failed)?;
    let number = u32::try_from(answer.number).map_err(|_| failed())?;
    acb.number = number;
    Ok((acb, about))
}

impl Acb {
    /// Asks whoever has the data set.
    fn ask(&mut self, request: &AcbRequest<'_>) -> AcbAnswer<'_> {
        request.write(&mut self.request);
        if !self.way.carry(&self.request, &mut self.answer) {
            return failed();
        }
        match AcbAnswer::read(&self.answer) {
            Some(answer) => answer,
            None => failed(),
        }
    }

    /// Asks something of the unit of work; the answer is that of a file.
    fn unit(&mut self, code: u8) -> u8 {
        match self.way.carry(&[code], &mut self.answer) {
            false => PHYSICAL,
            true if self.answer.first() == Some(&b'0') => 0,
            true => LOGICAL,
        }
    }
}

/// `holdfast_vsam_close`.
///
/// # Safety
/// The address is null or that of an ACB that is open.
pub unsafe fn close(acb: *mut Acb) -> c_int {
    if acb.is_null() {
        return c_int::from(LOGICAL);
    }
    // SAFETY: it came from `open`, and is closed once.
    let mut acb = unsafe { Box::from_raw(acb) };
    let request = AcbRequest::Close(acb.number);
    let done = seam::thread::catch(|| acb.ask(&request).return_code);
    c_int::from(done.unwrap_or(PHYSICAL))
}

/// What an RPL asks for.
///
/// # Safety
/// The address is null or that of an RPL whose addresses lead to what it states.
pub unsafe fn request(rpl: *mut RplBlock, verb: Verb) -> c_int {
    if rpl.is_null() {
        return c_int::from(LOGICAL);
    }
    // SAFETY: as this function's callers promise.
    let rpl = unsafe { &mut *rpl };
    // SAFETY: as this function's callers promise.
    let done = seam::thread::catch(|| unsafe { carry_out(rpl, verb) });
    let answer = done.unwrap_or_else(|_| failed());
    (rpl.return_code, rpl.component) = (answer.return_code, answer.component);
    rpl.reason = answer.reason;
    c_int::from(answer.return_code)
}

/// # Safety
/// As for [`request`].
unsafe fn carry_out(block: &mut RplBlock, verb: Verb) -> AcbAnswer<'static> {
    let bad = refused(LogicalReason::BadOptions);
    let is_missing = |address: *const c_void, bytes: u32| address.is_null() && bytes > 0;
    let Ok(string) = u16::try_from(block.string) else { return bad };
    if block.acb.is_null()
        || is_missing(block.argument, block.argument_bytes)
        || block.argument_bytes > u32::from(u16::MAX)
    {
        return bad;
    }
    let record_bytes = if verb == Verb::Put { block.record_bytes } else { 0 };
    let area_bytes = if block.area.is_null() { 0 } else { block.area_bytes };
    if is_missing(block.area, record_bytes) || record_bytes > block.area_bytes {
        return refused(LogicalReason::BadLength);
    }
    // SAFETY: as this function's callers promise; a slice of nothing has an address of its own.
    let (acb, argument, record) = unsafe {
        let slice = |address: *const u8, bytes: u32| match bytes {
            0 => &[][..],
            bytes => std::slice::from_raw_parts(address, bytes as usize),
        };
        let argument = slice(block.argument.cast(), block.argument_bytes);
        (&mut *block.acb, argument, slice(block.area.cast::<u8>(), record_bytes))
    };
    let options = Options(block.options);
    let acb_number = acb.number;
    let rpl = Rpl { acb: acb_number, string, verb, options, area: area_bytes, argument, record };
    let answer = acb.ask(&AcbRequest::Do(rpl));
    if answer.return_code == 0 {
        block.number = answer.number;
    }
    if verb == Verb::Get {
        block.record_bytes = answer.bytes;
        let len = answer.record.len().min(area_bytes as usize);
        if len > 0 {
            // SAFETY: the area has room for so many bytes, and is none of ours.
            unsafe {
                std::ptr::copy_nonoverlapping(answer.record.as_ptr(), block.area.cast(), len);
            }
        }
    }
    AcbAnswer { record: &[], ..answer }
}

/// Begins or ends a unit of work.
///
/// # Safety
/// The address is null or that of an ACB that is open.
pub unsafe fn unit(acb: *mut Acb, code: u8) -> c_int {
    if acb.is_null() {
        return c_int::from(LOGICAL);
    }
    // SAFETY: as this function's callers promise.
    let acb = unsafe { &mut *acb };
    c_int::from(seam::thread::catch(|| acb.unit(code)).unwrap_or(PHYSICAL))
}

/// Exports the functions of `holdfast_vsam.h` from the library or executable that uses this.
#[macro_export]
macro_rules! export_vsam {
    ($ready:path) => {
        $crate::export_vsam! { @requests
            holdfast_vsam_get => Get, holdfast_vsam_put => Put, holdfast_vsam_point => Point,
            holdfast_vsam_erase => Erase, holdfast_vsam_endreq => End,
        }
        $crate::export_vsam! { @units
            holdfast_vsam_begin => 10, holdfast_vsam_commit => 11, holdfast_vsam_backout => 12,
        }

        /// Opens an ACB.
        ///
        /// # Safety
        /// As `holdfast_vsam.h` says.
        // SAFETY: no other symbol of this name exists.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn holdfast_vsam_open(
            name: *const ::std::ffi::c_char,
            mode: u32,
            strings: u32,
            acb: *mut *mut $crate::abi::rpl::Acb,
            info: *mut $crate::abi::rpl::AcbInfo,
        ) -> ::std::ffi::c_int {
            $ready();
            // SAFETY: as this function's callers promise.
            unsafe { $crate::abi::rpl::open(name, mode, strings, acb, info) }
        }

        /// Closes an ACB.
        ///
        /// # Safety
        /// As `holdfast_vsam.h` says.
        // SAFETY: no other symbol of this name exists.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn holdfast_vsam_close(
            acb: *mut $crate::abi::rpl::Acb,
        ) -> ::std::ffi::c_int {
            // SAFETY: as this function's callers promise.
            unsafe { $crate::abi::rpl::close(acb) }
        }
    };
    (@requests $($name:ident => $verb:ident,)*) => {$(
        /// What an RPL asks for.
        ///
        /// # Safety
        /// As `holdfast_vsam.h` says.
        // SAFETY: no other symbol of this name exists.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            rpl: *mut $crate::abi::rpl::RplBlock,
        ) -> ::std::ffi::c_int {
            // SAFETY: as this function's callers promise.
            unsafe { $crate::abi::rpl::request(rpl, $crate::acb_wire::Verb::$verb) }
        }
    )*};
    (@units $($name:ident => $code:literal,)*) => {$(
        /// Begins or ends a unit of work.
        ///
        /// # Safety
        /// As `holdfast_vsam.h` says.
        // SAFETY: no other symbol of this name exists.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            acb: *mut $crate::abi::rpl::Acb,
        ) -> ::std::ffi::c_int {
            // SAFETY: as this function's callers promise.
            unsafe { $crate::abi::rpl::unit(acb, $code) }
        }
    )*};
}
