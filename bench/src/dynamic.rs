//! C libraries bound at run time, so that building needs none of them and a missing one is a
//! message and not a failed build.
//!
//! 1. A library stays loaded to the end of the process; its functions' addresses never dangle.
//! 2. A function's type is what its public header says; nothing can check that at run time. Each
//!    declaration stands beside the only code that calls it, and names the header it follows.
#![allow(unsafe_code)] // dlopen and dlsym are the door to the peers that are C libraries

use std::ffi::{CStr, CString, c_char, c_int, c_void};

use crate::error::{BenchError, Result};

unsafe extern "C" {
    fn dlopen(file: *const c_char, mode: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
}

const RTLD_NOW: c_int = 2;

/// A loaded shared library.
pub(crate) struct Library {
    peer: &'static str,
    handle: *mut c_void,
}

impl Library {
    /// Loads the first of `files` that is there.
    pub(crate) fn open(peer: &'static str, files: &[&str]) -> Result<Library> {
        let mut reason = String::new();
        for file in files {
            let name = CString::new(*file).expect("a library's name has no zero byte");
            // SAFETY: the name is a C string that outlives the call; loading runs the library's
            // constructors, which is what loading Debian's own libraries means.
            let handle = unsafe { dlopen(name.as_ptr(), RTLD_NOW) };
            if !handle.is_null() {
                return Ok(Library { peer, handle });
            }
            let refused = last_error();
            if reason.is_empty() {
                reason = refused;
            }
        }
        Err(BenchError::Missing { peer, reason })
    }

    /// The address of a function, as the pointer type `F`.
    ///
    /// # Safety
    ///
    /// `F` must be the function pointer type of `name` as the library's header declares it.
    pub(crate) unsafe fn function<F: Copy>(&self, name: &str) -> Result<F> {
        assert_eq!(size_of::<F>(), size_of::<*mut c_void>(), "F is a function pointer");
        let symbol = CString::new(name).expect("a function's name has no zero byte");
        // SAFETY: the handle came from dlopen and is never closed.
        let address = unsafe { dlsym(self.handle, symbol.as_ptr()) };
        if address.is_null() {
            return Err(BenchError::Missing { peer: self.peer, reason: last_error() });
        }
        // SAFETY: the caller promises that F is the type of this function; sizes were compared.
        Ok(unsafe { std::mem::transmute_copy::<*mut c_void, F>(&address) })
    }
}

/// The text of a C string; empty for a null pointer.
///
/// # Safety
///
/// `text` is null or points to a string that ends with a zero byte and stays for this call.
pub(crate) unsafe fn text_of(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, and the caller promises the rest.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().trim().to_owned()
}

fn last_error() -> String {
    // SAFETY: dlerror returns null or a string valid until the next call on this thread.
    unsafe { text_of(dlerror()) }
}

/// Declares a table of functions of one library and how to load it.
macro_rules! c_functions {
    (
        $(#[$about:meta])*
        $table:ident for $peer:literal in [$($file:literal),+] {
            $(fn $name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?;)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy)]
        pub(crate) struct $table {
            $($name: unsafe extern "C" fn($($kind),*) $(-> $result)?,)+
        }

        impl $table {
            /// Loads the library and finds every function.
            pub(crate) fn load() -> $crate::error::Result<$table> {
                let library = $crate::dynamic::Library::open($peer, &[$($file),+])?;
                Ok($table {
                    $(
                        // SAFETY: the type follows the library's header.
                        $name: unsafe { library.function(stringify!($name))? },
                    )+
                })
            }

            $(
                /// # Safety
                ///
                /// As the library's manual says of the C function.
                #[inline]
                #[allow(clippy::too_many_arguments)] // as many as the C function has
                unsafe fn $name(&self, $($argument: $kind),*) $(-> $result)? {
                    // SAFETY: the caller keeps the promises of the C function.
                    unsafe { (self.$name)($($argument),*) }
                }
            )+
        }
    };
}
pub(crate) use c_functions;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_named() {
        let Err(error) = Library::open("nothing", &["libholdfast-no-such.so.1"]) else {
            panic!("there is no such library");
        };
        assert!(error.to_string().contains("libholdfast-no-such"), "{error}");
    }

    #[test]
    fn a_function_of_the_c_library_can_be_called() {
        let library = Library::open("libc", &["libc.so.6"]).unwrap();
        // SAFETY: `int abs(int)` of stdlib.h.
        let abs: unsafe extern "C" fn(c_int) -> c_int = unsafe { library.function("abs") }.unwrap();
        // SAFETY: abs takes any value but the smallest.
        assert_eq!(unsafe { abs(-3) }, 3);
    }
}
