//! The program's own memory, as far as the addresses of a call reach.
//!
//! Addresses from a program are checked against a list of what is mapped before anything is copied,
//! so that a bad address becomes a message and not a fault in the middle of the call engine.
//!
//! Invariants:
//! 1. Bytes are copied in and out; no code gets a reference into a program's memory.
//! 2. Where less is listed than is asked for, the list is read again; what then is still too short
//!    is remembered to be so, since an area that ends near the end of a mapping is normal. What a
//!    program unmaps may still be listed: reading it ends the program with a signal, as reading it
//!    itself would have done.
//! 3. To read the list takes long, and programs show us the same numbers that are no addresses at
//!    every call: the bytes of a function code, say. Where nothing was mapped the kernel is asked
//!    for that one page, and only if something is there now the list is read again.

use std::ffi::c_void;

use rustix::fs::{Mode, OFlags};
use rustix::mm::{MsyncFlags, msync};

/// A piece of memory that is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: usize,
    end: usize,
    write: bool,
}

/// What was asked for, and could not be reached whole.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Question {
    at: usize,
    want: usize,
    write: bool,
}

/// How many short areas are remembered.
const SHORT_MAX: usize = 64;
/// How many empty places are remembered.
const EMPTY_MAX: usize = 64;
/// No program has anything here: numbers that are taken for addresses are.
const LOWEST: usize = 4096;
/// Nor here: no address of a process is that long.
const HIGHEST: usize = 1 << 56;
const PAGE_BYTES: usize = 4096;

/// What of this process's memory can be read and written.
pub(crate) struct ProgramMemory {
    spans: Vec<Span>,
    last: usize,
    short: Vec<Question>,
    /// Pages where nothing was mapped when it was last looked.
    empty: Vec<usize>,
    /// How often the list was read.
    reads: u64,
}

impl ProgramMemory {
    /// Knows nothing yet.
    pub(crate) fn new() -> ProgramMemory {
        ProgramMemory { spans: Vec::new(), last: 0, short: Vec::new(), empty: Vec::new(), reads: 0 }
    }

    /// How many of the `want` bytes from `at` on can be read.
    pub(crate) fn readable(&mut self, at: usize, want: usize) -> usize {
        self.extent(at, want, false)
    }

    /// How many of the `want` bytes from `at` on can be written.
    pub(crate) fn writable(&mut self, at: usize, want: usize) -> usize {
        self.extent(at, want, true)
    }

    /// Appends up to `want` bytes from `at` on; says how many there were.
    pub(crate) fn read(&mut self, at: usize, want: usize, out: &mut Vec<u8>) -> usize {
        let len = self.readable(at, want);
        let from = out.len();
        out.resize(from + len, 0);
        copy_in(at, &mut out[from..]);
        len
    }

    /// The `N` bytes from `at` on, if all of them can be read.
    pub(crate) fn array<const N: usize>(&mut self, at: usize) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        if self.readable(at, N) < N {
            return None;
        }
        copy_in(at, &mut bytes);
        Some(bytes)
    }

    /// Writes bytes to `at` if all of them can be written there.
    pub(crate) fn write(&mut self, at: usize, bytes: &[u8]) -> bool {
        if self.writable(at, bytes.len()) < bytes.len() {
            return false;
        }
        if !bytes.is_empty() {
            // SAFETY: the whole range is mapped for writing, the program named it in a call as its
            // own, and `bytes` is a buffer of ours that it does not know.
            unsafe {
                std::ptr::copy(bytes.as_ptr(), at as *mut c_void as *mut u8, bytes.len());
            }
        }
        true
    }

    fn extent(&mut self, at: usize, want: usize, write: bool) -> usize {
        if !(LOWEST..HIGHEST).contains(&at) || want == 0 {
            return 0;
        }
        let found = self.known(at, want, write);
        let question = Question { at, want, write };
        if found == want || (found > 0 && self.short.contains(&question)) {
            return found;
        }
        let page = at / PAGE_BYTES * PAGE_BYTES;
        if found == 0 && self.empty.contains(&page) && !is_mapped(page) {
            return 0;
        }
        self.reload();
        let found = self.known(at, want, write);
        if found == 0 && !is_mapped(page) {
            if self.empty.len() == EMPTY_MAX {
                self.empty.clear();
            }
            self.empty.push(page);
        } else if found < want {
            if self.short.len() == SHORT_MAX {
                self.short.clear();
            }
            self.short.push(question);
        }
        found
    }

    fn known(&mut self, at: usize, want: usize, write: bool) -> usize {
        let fits = |span: &Span| span.start <= at && at < span.end;
        let mut index = self.last;
        if !self.spans.get(index).is_some_and(fits) {
            index = self.spans.partition_point(|span| span.end <= at);
            if !self.spans.get(index).is_some_and(fits) {
                return 0;
            }
            self.last = index;
        }
        let mut end = at;
        let limit = at.saturating_add(want);
        while let Some(span) = self.spans.get(index) {
            if span.start > end || (write && !span.write) {
                break;
            }
            end = span.end;
            if end >= limit {
                return want;
            }
            index += 1;
        }
        end - at
    }

    fn reload(&mut self) {
        self.reads += 1;
        self.empty.clear();
        self.spans = read_maps().map(|text| parse(&text)).unwrap_or_default();
        self.last = 0;
    }
}

/// Copies from a place that [`ProgramMemory`] has found to be mapped.
fn copy_in(at: usize, out: &mut [u8]) {
    if !out.is_empty() {
        // SAFETY: the caller has checked that the whole range is mapped for reading; `out` is a
        // buffer of ours. What the program writes there meanwhile can only make the bytes wrong.
        unsafe {
            std::ptr::copy(at as *const c_void as *const u8, out.as_mut_ptr(), out.len());
        }
    }
}

/// Whether anything is mapped at a page.
fn is_mapped(page: usize) -> bool {
    // SAFETY: an asynchronous msync neither reads nor changes what is there, and starts nothing; it
    // fails where nothing is mapped.
    unsafe { msync(page as *mut c_void, PAGE_BYTES, MsyncFlags::ASYNC).is_ok() }
}

/// What the system says about this process's memory.
fn read_maps() -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open("/proc/self/maps", flags, Mode::empty()).ok()?;
    let mut text = Vec::new();
    let mut piece = [0; 8192];
    loop {
        match rustix::io::read(&file, &mut piece) {
            Ok(0) => return String::from_utf8(text).ok(),
            Ok(len) => text.extend_from_slice(&piece[..len]),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

/// The mappings that can be read: lines such as `7f00-7f10 rw-p ...`.
fn parse(text: &str) -> Vec<Span> {
    let span = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let start = usize::from_str_radix(start, 16).ok()?;
        let end = usize::from_str_radix(end, 16).ok()?;
        // The kernel's own pages at the end cannot be written, whatever they say.
        let special = line.ends_with("[vvar]") || line.ends_with("[vsyscall]");
        let flags = rest.as_bytes();
        let readable = flags.first() == Some(&b'r') && !special;
        readable.then_some(Span { start, end, write: flags.get(1) == Some(&b'w') })
    };
    let mut spans: Vec<Span> = text.lines().filter_map(span).collect();
    spans.sort_unstable_by_key(|span| span.start);
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_memory_can_be_read_and_the_first_page_cannot() {
        let mut program_memory = ProgramMemory::new();
        let text = b"in reach".to_vec();
        let mut out = Vec::new();
        assert_eq!(program_memory.read(text.as_ptr() as usize, 8, &mut out), 8);
        assert_eq!(out, text);
        assert_eq!(program_memory.readable(0, 8), 0);
        assert_eq!(program_memory.readable(64, 8), 0);
        assert_eq!(program_memory.readable(usize::MAX - 3, 8), 0);
        let mut area = vec![0_u8; 4];
        assert!(program_memory.write(area.as_mut_ptr() as usize, b"done"));
        assert_eq!(area, b"done");
    }

    #[test]
    fn constants_can_be_read_and_not_written() {
        static TEXT: [u8; 9] = *b"constant!";
        let mut program_memory = ProgramMemory::new();
        assert_eq!(program_memory.array::<9>(TEXT.as_ptr() as usize), Some(TEXT));
        assert!(!program_memory.write(TEXT.as_ptr() as usize, b"x"));
    }

    /// A call with a count took 70 times as long as one without: the bytes of its function code
    /// were taken for an address, for which the list was read anew every time.
    #[test]
    fn an_empty_place_is_looked_at_without_reading_the_list_again() {
        let mut program_memory = ProgramMemory::new();
        let code = usize::from_ne_bytes(*b"GN  \0\0\0\0");
        let long = usize::from_ne_bytes(*b"GN  GHU ");
        for _ in 0..100 {
            assert_eq!(program_memory.array::<4>(code), None);
            assert_eq!(program_memory.array::<4>(long), None);
        }
        assert_eq!(program_memory.reads, 1);
    }

    #[test]
    fn what_appears_in_an_empty_place_is_found() {
        let mut program_memory = ProgramMemory::new();
        let rooms = crate::memory::Rooms::new(1).expect("a room");
        let behind = rooms.address(0) + PAGE_BYTES;
        assert_eq!(program_memory.array::<4>(behind), None, "nobody has anything there");
        assert_eq!(program_memory.array::<4>(behind), None);
        let flags = rustix::mm::MapFlags::PRIVATE | rustix::mm::MapFlags::FIXED_NOREPLACE;
        let protection = rustix::mm::ProtFlags::READ;
        // SAFETY: a new mapping that replaces none.
        let mapped = unsafe {
            rustix::mm::mmap_anonymous(behind as *mut c_void, PAGE_BYTES, protection, flags)
        };
        assert_eq!(mapped.expect("a page") as usize, behind);
        assert_eq!(program_memory.array::<4>(behind), Some([0; 4]));
    }

    #[test]
    fn neighbours_count_as_one_piece_and_gaps_end_it() {
        let text = "1000-2000 r--p x\n2000-3000 rw-p x\n4000-5000 rw-p x\n5000-6000 ---p x\n";
        let mut program_memory = ProgramMemory { spans: parse(text), ..ProgramMemory::new() };
        assert_eq!(program_memory.known(0x1800, 0x1000, false), 0x1000);
        assert_eq!(program_memory.known(0x1800, 0x9000, false), 0x1800);
        assert_eq!(program_memory.known(0x1800, 8, true), 0);
        assert_eq!(program_memory.known(0x4000, 0x9000, true), 0x1000);
        assert_eq!(program_memory.known(0x3000, 1, false), 0);
    }
}
