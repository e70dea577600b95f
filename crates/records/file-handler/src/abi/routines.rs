//! The run time's routines for whole files and bytes of files, in place of its own.
//!
//! | routine | symbol | does |
//! |---|---|---|
//! | `CBL_COPY_FILE`, `C$COPY` | `cob_sys_copy_file`, `cob_sys_copyfile` | copies a file |
//! | `CBL_DELETE_FILE`, `C$DELETE` | `cob_sys_delete_file`, `cob_sys_file_delete` | deletes one |
//! | `CBL_RENAME_FILE` | `cob_sys_rename_file` | gives one another name |
//! | `CBL_OPEN_FILE`, `CBL_CREATE_FILE` | `cob_sys_open_file`, `cob_sys_create_file` | opens one |
//!
//! libcob reads, writes and closes by the handle, which is a descriptor, as after its own open.
//! Whoever exports these symbols from the executable has them found before libcob's, by programs
//! and by the table in which libcob looks for a routine whose name is in a data item.
//!
//! Invariants:
//! 1. A file of a system is never written, made, renamed or deleted ([`seam::system_files`]).
//! 2. Names are those of SELECT: only DDs lead elsewhere. A data set is none of these files.
//! 3. What is made is for nobody else to read.
//! 4. A file that is copied to itself stays as it is.

use std::ffi::{c_int, c_void};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::IntoRawFd as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::libcob;
use crate::handler::is_spared;
use crate::name::{Assigned, Target, target};

const DONE: c_int = 0;
/// What libcob says where a file cannot be copied, or a request makes no sense.
const WRONG: c_int = -1;
/// Where one cannot be deleted or renamed.
const REFUSED: c_int = 128;
/// Where one cannot be opened.
const NOT_OPENED: c_int = 35;
/// A handle of no file.
const NO_HANDLE: c_int = -1;
/// Which bits of the access mode say how a file is used.
const ACCESS: u8 = 0x3f;
const OWNER_ALONE: u32 = 0o600;
const NAME_BYTES_MAX: usize = 4096;

type Data = unsafe extern "C" fn(c_int) -> *mut c_void;
type Size = unsafe extern "C" fn(c_int) -> c_int;

/// The file that a parameter names (2).
fn named(parameter: c_int) -> Option<PathBuf> {
    let library = libcob::library();
    // SAFETY: the functions have these types in libcob 3; a parameter's data is as long as its size
    // says, and stays where it is during the call.
    let name = unsafe {
        let data = library.get::<Data>(b"cob_get_param_data").ok()?;
        let size = library.get::<Size>(b"cob_get_param_size").ok()?;
        let (data, size) = (data(parameter), usize::try_from(size(parameter)).ok()?);
        if data.is_null() || size > NAME_BYTES_MAX {
            return None;
        }
        std::slice::from_raw_parts(data.cast::<u8>().cast_const(), size).to_vec()
    };
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    let name = name[..end].trim_ascii_end();
    match target(&Assigned, name) {
        Target::Path(path, _) if !name.is_empty() => Some(path),
        _ => None,
    }
}

fn guarded(otherwise: c_int, body: impl FnOnce() -> c_int) -> c_int {
    if let Some(refuse) = super::copy() {
        refuse();
    }
    seam::thread::catch(body).unwrap_or(otherwise)
}

/// Copies the file of the first parameter to that of the second; answers `failed` if it cannot.
#[must_use]
pub fn copy(failed: c_int) -> c_int {
    guarded(failed, || {
        let (Some(from), Some(to)) = (named(1), named(2)) else { return failed };
        match !is_spared(&to) && copied(&from, &to).is_ok() {
            true => DONE,
            false => failed,
        }
    })
}

/// What `CBL_COPY_FILE` answers.
pub const NOT_COPIED: c_int = WRONG;
/// What `C$COPY` answers.
pub const NOT_COPIED_BY_NAME: c_int = REFUSED;

#[allow(clippy::disallowed_methods)] // programs' files are no part of a system
fn copied(from: &Path, to: &Path) -> io::Result<()> {
    let mut input = File::open(from)?;
    let input_is = input.metadata()?;
    if !input_is.is_dir()
        && fs::metadata(to).is_ok_and(|to| (to.dev(), to.ino()) == (input_is.dev(), input_is.ino()))
    {
        return Ok(());
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(OWNER_ALONE);
    io::copy(&mut input, &mut options.open(to)?).map(drop)
}

/// Deletes the file of the first parameter.
#[allow(clippy::disallowed_methods)] // programs' files are no part of a system
#[must_use]
pub fn delete() -> c_int {
    guarded(REFUSED, || {
        let Some(path) = named(1) else { return REFUSED };
        match !is_spared(&path) && fs::remove_file(path).is_ok() {
            true => DONE,
            false => REFUSED,
        }
    })
}

/// Gives the file of the first parameter the name of the second.
#[allow(clippy::disallowed_methods)] // programs' files are no part of a system
#[must_use]
pub fn rename() -> c_int {
    guarded(REFUSED, || {
        let (Some(from), Some(to)) = (named(1), named(2)) else { return REFUSED };
        match !is_spared(&from) && !is_spared(&to) && fs::rename(from, to).is_ok() {
            true => DONE,
            false => REFUSED,
        }
    })
}

/// Opens the file of the first parameter; with `creates` it is made, or emptied.
///
/// # Safety
/// `access` is null or leads to a byte, `handle` is null or leads to 4.
#[allow(clippy::disallowed_methods)] // programs' files are no part of a system
pub unsafe fn open(access: *const u8, handle: *mut u8, creates: bool) -> c_int {
    if access.is_null() || handle.is_null() {
        return WRONG;
    }
    // SAFETY: as this function's callers promise.
    let access = unsafe { access.read() } & ACCESS;
    let mut descriptor = NO_HANDLE;
    let status = guarded(NOT_OPENED, || {
        let mut options = OpenOptions::new();
        options.mode(OWNER_ALONE);
        let writes = match access {
            1 => options.read(true),
            2 => options.write(true).create(true).truncate(true),
            3 => options.read(true).write(true),
            _ => return WRONG,
        };
        if creates {
            // What is made to be read only is empty.
            writes.write(true).create(true).truncate(true);
        }
        let Some(path) = named(1) else { return NOT_OPENED };
        if (creates || access != 1) && is_spared(&path) {
            return NOT_OPENED;
        }
        match options.open(path) {
            Ok(file) => {
                descriptor = file.into_raw_fd();
                DONE
            }
            Err(_) => NOT_OPENED,
        }
    });
    // SAFETY: as this function's callers promise.
    unsafe { handle.cast::<c_int>().write_unaligned(descriptor) };
    status
}
