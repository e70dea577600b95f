//! Libraries that are loaded while running: programs, and libcob, which runs COBOL programs.
//!
//! Invariants:
//! 1. A program's library is loaded with local names only: every COBOL program may export the name
//!    `DLITCBL`, and none may see another's.
//! 2. Libraries whose exit handlers are to run at the end of the process are never unloaded; those
//!    of programs that are no COBOL programs are, where a process runs one program after the other:
//!    their static storage begins anew.

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

/// The most PCBs that an entry can be given; compilers take fewer parameters than this.
pub(crate) const PCBS_MAX: usize = 255;

/// The names under which the COBOL run-time library is known, newest first.
const LIBCOB: &[&str] = &["libcob.so.4", "libcob.so.5", "libcob.so"];
/// Not to load a library that is not loaded yet; the same value on every Linux.
const RTLD_NOLOAD: c_int = 4;

/// What libcob calls when it ends a program with an error of its own.
pub(crate) type Reporter = extern "C" fn(*const c_char) -> c_int;

/// A program's library.
pub(crate) struct Module(Library, PathBuf);

/// A place in it where the program can be entered.
#[derive(Clone, Copy)]
pub(crate) struct Entry(*const c_void);

impl Module {
    /// Loads it, and whatever libraries it needs.
    pub(crate) fn open(path: &Path) -> Result<Module, String> {
        // SAFETY: loading runs the library's own initialisers. It is a program that a user who
        // may run programs asks us to run; whatever it does, it does as this process.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
        // What the loader said, such as the symbol that is missing, is the error's source.
        let cause = |error: libloading::Error| match std::error::Error::source(&error) {
            Some(source) => source.to_string(),
            None => error.to_string(),
        };
        library.map(|library| Module(library, path.to_owned())).map_err(cause)
    }

    /// The entry of a name. Libraries that this one needs are searched, too, when a name is asked
    /// for: a program `time.c` must not become the C library's function. So the entry has to stand
    /// in the library itself; if `elsewhere`, in one that only it has brought.
    pub(crate) fn entry(&self, name: &str, elsewhere: bool) -> Option<Entry> {
        let found = address(&self.0, name)?;
        let is_own = file_of(found).as_deref() == Some(self.1.as_path());
        let is_brought = || elsewhere && exported_at(name) != Some(found);
        (is_own || is_brought()).then_some(Entry(found))
    }

    /// Whether it is a COBOL program, or has brought one: whether it needs the run-time library.
    pub(crate) fn needs_cobol(&self) -> bool {
        address(&self.0, "cob_init").is_some()
    }

    /// Keeps the library until the process ends.
    pub(crate) fn keep(self) {
        std::mem::forget(self);
    }
}

/// The file that something was loaded from, by the name that it was loaded by.
fn file_of(address: *const c_void) -> Option<PathBuf> {
    #[repr(C)]
    struct Found {
        file: *const c_char,
        base: *const c_void,
        symbol: *const c_char,
        address: *const c_void,
    }
    type Dladdr = unsafe extern "C" fn(*const c_void, *mut Found) -> c_int;
    let null = std::ptr::null();
    let mut found = Found { file: null, base: null.cast(), symbol: null, address: null.cast() };
    // SAFETY: the C library's `dladdr`, with the structure that it is declared with; the name that
    // it gives lives as long as the library, which is never unloaded.
    unsafe {
        let dladdr = Library::this().get::<Dladdr>(b"dladdr").ok()?;
        if dladdr(address, &raw mut found) == 0 || found.file.is_null() {
            return None;
        }
        Some(PathBuf::from(OsStr::from_bytes(CStr::from_ptr(found.file).to_bytes())))
    }
}

fn address(library: &Library, name: &str) -> Option<*const c_void> {
    // SAFETY: only the symbol's address is taken.
    let symbol = unsafe { library.get::<*const c_void>(name.as_bytes()) }.ok()?;
    let address = symbol.as_raw_ptr().cast_const();
    (!address.is_null()).then_some(address)
}

/// The address under which the whole process knows a name.
pub(crate) fn exported_at(name: &str) -> Option<*const c_void> {
    address(&Library::this(), name)
}

macro_rules! usize_at {
    ($index:literal) => {
        usize
    };
}

macro_rules! enter {
    ($address:expr, $list:expr, $($index:literal)*) => {{
        type Program = unsafe extern "C" fn($(usize_at!($index)),*) -> c_int;
        // SAFETY: the address is that of a function that was compiled for the C calling
        // convention, in which a caller may pass more arguments than are taken: the caller cleans
        // up. What the program does with its PCBs is its own affair; they are mapped for good.
        unsafe {
            let program = std::mem::transmute::<*const c_void, Program>($address);
            program($($list[$index]),*)
        }
    }};
}

impl Entry {
    /// Enters the program with the addresses of its PCBs, and null for the rest; gives back what it
    /// returns, if it returns.
    pub(crate) fn enter(self, pcbs: &[usize]) -> i32 {
        let mut list = [0; PCBS_MAX];
        for (place, pcb) in list.iter_mut().zip(pcbs) {
            *place = *pcb;
        }
        enter!(self.0, list,
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
            32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60
            61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89
            90 91 92 93 94 95 96 97 98 99 100 101 102 103 104 105 106 107 108 109 110 111 112 113
            114 115 116 117 118 119 120 121 122 123 124 125 126 127 128 129 130 131 132 133 134 135
            136 137 138 139 140 141 142 143 144 145 146 147 148 149 150 151 152 153 154 155 156 157
            158 159 160 161 162 163 164 165 166 167 168 169 170 171 172 173 174 175 176 177 178 179
            180 181 182 183 184 185 186 187 188 189 190 191 192 193 194 195 196 197 198 199 200 201
            202 203 204 205 206 207 208 209 210 211 212 213 214 215 216 217 218 219 220 221 222 223
            224 225 226 227 228 229 230 231 232 233 234 235 236 237 238 239 240 241 242 243 244 245
            246 247 248 249 250 251 252 253 254)
    }
}

/// The COBOL run-time library.
pub(crate) struct Cobol {
    runtime: Library,
    count: unsafe extern "C" fn() -> c_int,
}

impl Cobol {
    /// The one that the program has brought with it; `None` if it is no COBOL program.
    pub(crate) fn loaded() -> Result<Option<Cobol>, String> {
        let open = |name: &&str| {
            // SAFETY: the library is loaded already, or it is not loaded now.
            unsafe { Library::open(Some(OsStr::new(name)), RTLD_NOW | RTLD_NOLOAD) }.ok()
        };
        let Some(library) = LIBCOB.iter().find_map(open) else { return Ok(None) };
        // SAFETY: libcob declares `int cob_get_num_params (void)`.
        let count =
            unsafe { library.get::<unsafe extern "C" fn() -> c_int>(b"cob_get_num_params") };
        let count = *count.map_err(|error| error.to_string())?;
        Ok(Some(Cobol { runtime: library, count }))
    }

    /// Initialises it with a program's command line, and has its errors reported to us.
    pub(crate) fn init(&self, arguments: &[&str], report: Reporter) -> Result<(), String> {
        type Init = unsafe extern "C" fn(c_int, *const *const c_char);
        type ErrorProc = unsafe extern "C" fn(*const c_char, *const *const c_void) -> c_int;
        let text = |text: &&str| CString::new(text.replace('\0', " ")).unwrap_or_default();
        let mut list: Vec<*const c_char> =
            arguments.iter().map(text).map(|text| text.into_raw().cast_const()).collect();
        let count = list.len() as c_int;
        list.push(std::ptr::null());
        let list: &'static [*const c_char] = list.leak();
        let report = report as *const c_void;
        // SAFETY: both functions are declared so by libcob; it keeps the command line, which is
        // never freed, and copies the handler's address from where it is given it.
        unsafe {
            let init = self.runtime.get::<Init>(b"cob_init").map_err(|error| error.to_string())?;
            let error_proc = self.runtime.get::<ErrorProc>(b"cob_sys_error_proc");
            init(count, list.as_ptr());
            let install = [0; 1];
            error_proc.map_err(|error| error.to_string())?(install.as_ptr(), &raw const report);
        }
        Ok(())
    }

    /// How many parameters the call has that is being made.
    pub(crate) fn parameters(&self) -> usize {
        // SAFETY: as declared by libcob, which is initialised before a program runs.
        usize::try_from(unsafe { (self.count)() }).unwrap_or_default()
    }

    /// Loads the run-time library, if there is one, before a program needs it.
    pub(crate) fn load_ahead() {
        // SAFETY: loading runs the library's own initialisers, as a COBOL program would have it.
        let open = |name: &&str| unsafe { Library::open(Some(OsStr::new(name)), RTLD_NOW) }.ok();
        if let Some(library) = LIBCOB.iter().find_map(open) {
            std::mem::forget(library);
        }
    }

    /// Has a program begin anew when it is entered again: its storage gets its values, its files
    /// are closed. One that was never entered stays as it is.
    pub(crate) fn cancel(&self, name: &str) {
        type Cancel = unsafe extern "C" fn(*const c_char);
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: libcob declares `void cob_cancel (const char *)`, and no program runs.
        unsafe {
            if let Ok(cancel) = self.runtime.get::<Cancel>(b"cob_cancel") {
                cancel(name.as_ptr());
            }
        }
    }

    /// Closes the files of a program that has returned.
    pub(crate) fn tidy(&self) {
        type Tidy = unsafe extern "C" fn() -> c_int;
        // SAFETY: libcob declares `int cob_tidy (void)`, and the program is over.
        unsafe {
            if let Ok(tidy) = self.runtime.get::<Tidy>(b"cob_tidy") {
                tidy();
            }
        }
    }
}

/// A file that every process has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standard {
    Input = 0,
    Output = 1,
}

/// Puts an open file in the place of a standard one.
pub(crate) fn stand_in(file: &OwnedFd, place: Standard) -> rustix::io::Result<()> {
    // SAFETY: the number stays open, as whatever stands there, for as long as the process lives,
    // and this owner of it is never dropped.
    let mut standard = ManuallyDrop::new(unsafe { OwnedFd::from_raw_fd(place as i32) });
    rustix::io::dup2(file, &mut standard)
}

/// Sets a variable of this process's environment, which has one thread.
pub(crate) fn set_variable(name: &str, value: &OsStr) {
    // SAFETY: a region's process calls this before it enters a program, and has no other thread.
    unsafe { std::env::set_var(name, value) };
}

/// Takes a variable out of this process's environment.
pub(crate) fn forget_variable(name: &str) {
    // SAFETY: called before a program is entered; other threads are ours, and ask the standard
    // library alone, which locks.
    unsafe { std::env::remove_var(name) };
}

/// Has every fatal signal end the process as the system does it. libcob, and perhaps a program's
/// other libraries, would call `exit` instead, which looks like a program that stops by itself.
/// Has whole lines written when they are displayed, so that such an end does not lose them.
pub(crate) fn die_by_signals() {
    type Signal = unsafe extern "C" fn(c_int, usize) -> usize;
    type Buffer = unsafe extern "C" fn(*mut c_void, *mut c_char, c_int, usize) -> c_int;
    const SIG_DFL: usize = 0;
    const LINES: c_int = 1;
    // Hangup, interrupt, quit, illegal instruction, abort, bus error, division, address, pipe,
    // terminate, CPU limit: the same numbers on every Linux that we support.
    const FATAL: [c_int; 11] = [1, 2, 3, 4, 6, 7, 8, 11, 13, 15, 24];
    // Those that `nohup`, or a shell for its background jobs, has had ignored.
    const OUTSIDE: [c_int; 4] = [1, 2, 3, 15];
    let heeded = seam::process::not_ignored(&OUTSIDE);
    let fatal = FATAL.into_iter().filter(|one| !OUTSIDE.contains(one) || heeded.contains(one));
    let this = Library::this();
    // SAFETY: the C library's `signal` and `setvbuf`, and its variable `stdout`; nothing has been
    // written to it yet, and the handlers that are replaced were those of libraries.
    unsafe {
        if let Ok(signal) = this.get::<Signal>(b"signal") {
            for number in fatal {
                signal(number, SIG_DFL);
            }
        }
        let output = this.get::<*mut *mut c_void>(b"stdout");
        if let (Ok(buffer), Ok(output)) = (this.get::<Buffer>(b"setvbuf"), output) {
            buffer(**output, std::ptr::null_mut(), LINES, 4096);
        }
    }
}

/// Writes out what the C library buffers: a program's DISPLAYs. Says whether all that was ever
/// written to standard output has arrived: the library forgets what it could not write, and
/// programs do not ask.
pub(crate) fn flush() -> bool {
    type OfStream = unsafe extern "C" fn(*mut c_void) -> c_int;
    let this = Library::this();
    // SAFETY: the C library's `fflush`, which takes null for all streams, its `ferror`, and its
    // variable `stdout`.
    unsafe {
        if let Ok(flush) = this.get::<OfStream>(b"fflush") {
            flush(std::ptr::null_mut());
        }
        let output = this.get::<*mut *mut c_void>(b"stdout");
        match (this.get::<OfStream>(b"ferror"), output) {
            (Ok(error), Ok(output)) => error(**output) == 0,
            _ => true,
        }
    }
}

/// Ends the process without running exit handlers, of which this may be one.
pub(crate) fn leave(status: i32) -> ! {
    type Exit = unsafe extern "C" fn(c_int) -> !;
    // SAFETY: the C library's `_exit`.
    unsafe {
        match Library::this().get::<Exit>(b"_exit") {
            Ok(exit) => exit(status),
            Err(_) => std::process::abort(),
        }
    }
}

/// The text that libcob hands to a [`Reporter`].
pub(crate) fn text_at(address: usize) -> String {
    if address == 0 {
        return String::new();
    }
    // SAFETY: libcob passes a C string that lives during the call.
    let text = unsafe { CStr::from_ptr(address as *const c_char) };
    text.to_string_lossy().into_owned()
}
