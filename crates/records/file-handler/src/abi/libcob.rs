//! The COBOL run time: its own files, and its own structure of a file behind a control block.
//!
//! libcob 3.1.2 tells a program neither the length of a record nor its relative number when an
//! outside handler has read it. Both belong into items that only its own structure of the file
//! knows. That structure is found by asking libcob for a DELETE: it looks the file up, sees that it
//! has not opened it, and notes it as the file of the last error.
//!
//! Invariants:
//! 1. A structure is believed only if it says of the file what the block says.
//! 2. libcob is asked only for files that it has not open: whatever we close, it has closed too.

use std::ffi::{OsStr, c_int, c_uint, c_void};
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_NOW};

use crate::fcd::{Fcd, Organization};
use crate::opcode::Relation;
use crate::status::FileStatus;

/// The names under which the library is known.
const LIBCOB: [&str; 2] = ["libcob.so.4", "libcob.so"];
/// Not to load a library that is not loaded yet; the same value on every Linux.
const RTLD_NOLOAD: c_int = 4;
/// DELETE, which a file that is not open refuses.
const REFUSED: [u8; 2] = [0xfa, 0xf7];
const COMPONENTS: usize = 8;
const CLOSED: u8 = 0;
const CLOSED_WITH_LOCK: u8 = 5;
const VERSION: u8 = 1;
const LINAGE: u8 = 4;
const STANDARD_INPUT: u8 = 16;
const STANDARD_OUTPUT: u8 = 32;

#[repr(C)]
struct Field {
    size: usize,
    data: *mut u8,
    attributes: *const c_void,
}

#[repr(C)]
struct Key {
    field: *mut Field,
    flag: c_int,
    duplicates: c_int,
    ascending: c_int,
    suppress: c_int,
    suppressed: c_int,
    offset: c_uint,
    components: c_int,
    component: [*mut Field; COMPONENTS],
}

#[repr(C)]
struct Structure {
    select_name: *const u8,
    file_status: *mut u8,
    assign: *mut Field,
    record: *mut Field,
    variable_record: *mut Field,
    keys: *mut Key,
    file: *mut c_void,
    linage_or_key: *mut c_void,
    collating: *const u8,
    extfh: *mut c_void,
    record_min: usize,
    record_max: usize,
    key_count: usize,
    descriptor: c_int,
    organization: u8,
    access_mode: u8,
    lock_mode: u8,
    open_mode: u8,
    optional: u8,
    last_open_mode: u8,
    operation: u8,
    nonexistent: u8,
    end_of_file: u8,
    begin_of_file: u8,
    first_read: u8,
    read_done: u8,
    features: u8,
    needs_line: u8,
    needs_top: u8,
    version: u8,
}

type Extfh = unsafe extern "C" fn(*mut u8, *mut u8) -> c_int;
type SetInt = unsafe extern "C" fn(*mut Field, c_int);
type GetInt = unsafe extern "C" fn(*mut Field) -> c_int;
type Global = unsafe extern "C" fn() -> *mut *mut Structure;
type Start = unsafe extern "C" fn(*mut Structure, c_int, *mut Field, *mut Field, *mut Field);

/// The run time's library, or what else this process has.
pub(super) fn library() -> Library {
    let open = |name: &&str| {
        // SAFETY: the library is loaded already, or it is not loaded now.
        unsafe { Library::open(Some(OsStr::new(name)), RTLD_NOW | RTLD_NOLOAD) }.ok()
    };
    LIBCOB.iter().find_map(open).unwrap_or_else(Library::this)
}

/// Functions of the run time.
pub(super) struct Runtime {
    extfh: Extfh,
    set_int: SetInt,
    get_int: GetInt,
    global: Global,
    start: Start,
}

impl Runtime {
    /// The one of this process, if it has one.
    pub(super) fn get() -> Option<&'static Runtime> {
        static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();
        RUNTIME.get_or_init(Runtime::find).as_ref()
    }

    fn find() -> Option<Runtime> {
        let library = library();
        // SAFETY: the functions have these types in libcob 3; the library stays loaded, because
        // its handle is never closed.
        let found = unsafe {
            Some(Runtime {
                extfh: *library.get::<Extfh>(b"EXTFH").ok()?,
                set_int: *library.get::<SetInt>(b"cob_set_int").ok()?,
                get_int: *library.get::<GetInt>(b"cob_get_int").ok()?,
                global: *library.get::<Global>(b"cob_get_global_ptr").ok()?,
                start: *library.get::<Start>(b"cob_start").ok()?,
            })
        };
        std::mem::forget(library);
        found
    }

    /// Hands a request to the run time's own handler.
    pub(super) fn request(&self, mut code: [u8; 2], block: *mut u8) {
        // SAFETY: the block is one that a program passes; libcob reads and writes it as we do.
        unsafe { (self.extfh)(code.as_mut_ptr(), block) };
    }

    /// The run time's structure of the file that a block is of.
    pub(super) fn file_of(&self, block: *mut u8) -> Option<File> {
        self.request(REFUSED, block);
        // SAFETY: libcob's global structure begins with the address of the last file.
        let structure = unsafe {
            let global = (self.global)();
            if global.is_null() { return None } else { *global }
        };
        (!structure.is_null()).then_some(File(structure))
    }
}

/// The run time's structure of a file.
#[derive(Clone, Copy)]
pub(super) struct File(*mut Structure);

impl File {
    /// The one at an address that [`File::address`] gave.
    pub(super) fn at(address: u64) -> File {
        File(address as *mut Structure)
    }

    pub(super) fn address(&self) -> u64 {
        self.0 as u64
    }

    /// Whether it is the structure that we know, of the file that the block is of.
    pub(super) fn fits(&self, fcd: &Fcd) -> bool {
        let organization = match fcd.organization() {
            Some(Organization::Sequential) => 0,
            Some(Organization::LineSequential) => 1,
            Some(Organization::Relative) => 2,
            Some(Organization::Indexed) => 3,
            None => return false,
        };
        // SAFETY: the run time's structures of all versions are longer than ours; what is read of
        // another version's is numbers, and no address of it is followed before they fit.
        unsafe {
            let file = &*self.0;
            file.version == VERSION
                && file.organization == organization
                && file.record_max == fcd.record_most() as usize
                && !file.record.is_null()
                && !file.file_status.is_null()
                && (*file.record).data as u64 == fcd.record_address()
        }
    }

    /// Says what came of a request where the run time looks for it.
    pub(super) fn set_status(&self, status: [u8; 2]) {
        // SAFETY: it was checked to be a structure of a file, which has two characters of status.
        unsafe { (*self.0).file_status.cast::<[u8; 2]>().write_unaligned(status) };
    }

    /// Whether it has what a control block does not tell of: the terminal, and ends of pages
    /// (LINAGE) where the program's own code does not count lines.
    pub(super) fn is_run_times(&self, counts_lines: bool) -> bool {
        let linage = if counts_lines { 0 } else { LINAGE };
        // SAFETY: it was checked to be a structure of a file.
        unsafe { (*self.0).features & (linage | STANDARD_INPUT | STANDARD_OUTPUT) != 0 }
    }

    /// The run time believes files to be open whose OPEN has failed: this one is closed.
    pub(super) fn is_closed(&self) {
        // SAFETY: it was checked to be a structure of a file.
        unsafe {
            if (*self.0).open_mode != CLOSED_WITH_LOCK {
                (*self.0).open_mode = CLOSED;
            }
        }
    }

    /// What the item of DEPENDING ON says.
    pub(super) fn depending(&self, runtime: &Runtime) -> Option<u32> {
        // SAFETY: it was checked to be a structure of a file; a field of it is null or a field.
        unsafe {
            let field = (*self.0).variable_record;
            if field.is_null() {
                return None;
            }
            u32::try_from((runtime.get_int)(field)).ok()
        }
    }

    /// Says how long a record is: to moves from it, and to the item of DEPENDING ON.
    pub(super) fn tell_length(&self, runtime: &Runtime, length: u32) {
        // SAFETY: as in `depending`.
        unsafe {
            (*(*self.0).record).size = length as usize;
            let field = (*self.0).variable_record;
            if !field.is_null() {
                (runtime.set_int)(field, c_int::try_from(length).unwrap_or(c_int::MAX));
            }
        }
    }

    /// The item of RELATIVE KEY, unless it has no address yet: it may be BASED, or of LINKAGE.
    fn number_item(&self) -> Option<*mut Field> {
        // SAFETY: as in `depending`; a file that has keys has the first of them.
        let field = unsafe {
            let keys = (*self.0).keys;
            if keys.is_null() { return None } else { (*keys).field }
        };
        // SAFETY: as above; it is looked at only if it is not null.
        let has_address = !field.is_null() && unsafe { !(*field).data.is_null() };
        has_address.then_some(field)
    }

    /// The greatest number that the item of RELATIVE KEY has room for. It stays as it is.
    pub(super) fn number_most(&self, runtime: &Runtime) -> u64 {
        let Some(field) = self.number_item() else { return u64::MAX };
        // SAFETY: as in `depending`; a field has as many bytes as it says, and is written by
        // whoever writes items of its kind.
        unsafe {
            let before = std::slice::from_raw_parts((*field).data, (*field).size).to_vec();
            let (mut holds, mut lacks) = (0, i64::from(c_int::MAX) + 1);
            while lacks - holds > 1 {
                let between = holds + (lacks - holds) / 2;
                let number = c_int::try_from(between).unwrap_or(c_int::MAX);
                (runtime.set_int)(field, number);
                if (runtime.get_int)(field) == number { holds = between } else { lacks = between }
            }
            std::ptr::copy_nonoverlapping(before.as_ptr(), (*field).data, before.len());
            u64::try_from(holds).unwrap_or(u64::MAX)
        }
    }

    /// Says a record's number to the item of RELATIVE KEY; `false` if it has no room for it.
    pub(super) fn tell_number(&self, runtime: &Runtime, number: u64) -> bool {
        let Ok(number) = c_int::try_from(number) else { return false };
        let Some(field) = self.number_item() else { return true };
        // SAFETY: as in `depending`.
        unsafe {
            (runtime.set_int)(field, number);
            (runtime.get_int)(field) == number
        }
    }

    /// START on a file of the run time's, by the first bytes of a key.
    pub(super) fn start(
        &self,
        runtime: &Runtime,
        relation: Relation,
        key: usize,
        bytes: usize,
    ) -> Option<FileStatus> {
        let condition = match relation {
            Relation::Equal => 1,
            Relation::Less => 2,
            Relation::LessOrEqual => 3,
            Relation::Greater => 4,
            Relation::GreaterOrEqual => 5,
            Relation::First => 7,
            Relation::Last => 8,
        };
        // SAFETY: as in `depending`; there are as many keys as the structure says.
        unsafe {
            let file = &*self.0;
            if file.keys.is_null() || key >= file.key_count {
                return None;
            }
            let field = (*file.keys.add(key)).field;
            if field.is_null() {
                return None;
            }
            let Field { size, data, attributes } = *field;
            let mut part = Field { size: bytes.clamp(1, size), data, attributes };
            let null = std::ptr::null_mut();
            (runtime.start)(self.0, condition, &raw mut part, null, null);
            Some(FileStatus(file.file_status.cast::<[u8; 2]>().read_unaligned()))
        }
    }
}
