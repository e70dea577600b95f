//! The compression library ISA-L, if the machine has it (`libisal.so.2`, in Debian `libisal2`).
//!
//! It deflates at about five times the rate of zlib's level 1, at the same ratio. It is found at
//! run time, so nothing is built for it; `make setup` installs it. Without it zlib's algorithms do
//! the work.
//!
//! The structures below are those of its interface version 2; only the fields that are used are
//! named, and the rest is room. A library that does not bring a sample there and back is not used.
//!
//! 1. Each state belongs to one thread at a time and points to buffers only during a call.
//! 2. The memory of a state is at least what the library's own headers say; see `tests`.

use std::ffi::c_int;
use std::mem::{offset_of, zeroed};
use std::sync::OnceLock;

use libloading::Library;

/// The start of `struct isal_zstream`, and room for the rest of it.
#[repr(C, align(64))]
struct ZStream {
    next_in: *const u8,
    avail_in: u32,
    total_in: u32,
    next_out: *mut u8,
    avail_out: u32,
    total_out: u32,
    tables: *mut u8,
    level: u32,
    level_buf_size: u32,
    level_buf: *mut u8,
    end_of_stream: u16,
    flush: u16,
    wrapper: u16,
    history: u16,
    room: [u64; 16 << 10],
}

/// The start of `struct inflate_state`, its state and the end mark, and room for the rest.
#[repr(C, align(64))]
struct InflateState {
    next_out: *mut u8,
    avail_out: u32,
    total_out: u32,
    next_in: *const u8,
    read_in: u64,
    avail_in: u32,
    read_in_length: i32,
    codes: [u8; 21_120],
    block_state: u32,
    room: [u64; 16 << 10],
}

const FULL_FLUSH: u16 = 2;
/// `ISAL_DEF_LVL1_DEFAULT` of the library's header.
const LEVEL_MEMORY: usize = 282_624;
const BLOCK_FINISH: u32 = 5;
const DECOMPRESSED: c_int = 0;
const END_OF_INPUT: c_int = 1;
const OUT_OF_ROOM: c_int = 2;
const _: () = assert!(offset_of!(InflateState, block_state) == 21_160);

type OnStream = unsafe extern "C" fn(*mut ZStream);
type Deflate = unsafe extern "C" fn(*mut ZStream) -> c_int;
type OnState = unsafe extern "C" fn(*mut InflateState);
type Inflate = unsafe extern "C" fn(*mut InflateState) -> c_int;

/// The functions of the library, which stays loaded.
struct Isal {
    deflate_init: OnStream,
    deflate: Deflate,
    inflate_init: OnState,
    inflate: Inflate,
    _library: Library,
}

/// The library, if there is one that works.
fn isal() -> Option<&'static Isal> {
    static ISAL: OnceLock<Option<Isal>> = OnceLock::new();
    ISAL.get_or_init(|| load().filter(works)).as_ref()
}

#[allow(unsafe_code)] // a foreign library, see invariant 2
fn load() -> Option<Isal> {
    // SAFETY: the library has no initializers that matter to others; the symbols have the types
    // that its header gives them, and live as long as the library, which is kept beside them.
    unsafe {
        let library = Library::new("libisal.so.2").ok()?;
        Some(Isal {
            deflate_init: *library.get::<OnStream>(b"isal_deflate_stateless_init\0").ok()?,
            deflate: *library.get::<Deflate>(b"isal_deflate_stateless\0").ok()?,
            inflate_init: *library.get::<OnState>(b"isal_inflate_init\0").ok()?,
            inflate: *library.get::<Inflate>(b"isal_inflate\0").ok()?,
            _library: library,
        })
    }
}

/// Whether a sample comes back through this library.
fn works(isal: &Isal) -> bool {
    let sample: Vec<u8> = (0..70_000_u32).map(|i| (i.wrapping_mul(i) >> 9) as u8).collect();
    let mut packed = Vec::new();
    let (head, tail) = sample.split_at(30_000);
    let mut deflater = Deflater::with(isal);
    if !deflater.block(head, false, &mut packed) || !deflater.block(tail, true, &mut packed) {
        return false;
    }
    let mut out = vec![0; sample.len() + 1];
    let mut inflater = Inflater::with(isal);
    let step = inflater.next(&packed, &mut out);
    step.is_some_and(|step| step.ended && step.made == sample.len() && out.starts_with(&sample))
}

/// Deflates blocks at level 1, each on its own.
pub(crate) struct Deflater<'a> {
    isal: &'a Isal,
    stream: Box<ZStream>,
    memory: Vec<u8>,
}

impl Deflater<'static> {
    /// A deflater, if there is the library.
    pub(crate) fn new() -> Option<Deflater<'static>> {
        isal().map(Deflater::with)
    }
}

impl<'a> Deflater<'a> {
    #[allow(unsafe_code)] // a foreign structure
    fn with(isal: &'a Isal) -> Deflater<'a> {
        // SAFETY: the structure is numbers and pointers, for which zeros are values.
        let stream = unsafe { Box::new(zeroed::<ZStream>()) };
        Deflater { isal, stream, memory: vec![0; LEVEL_MEMORY] }
    }

    /// Appends `block`, deflated; it ends at a byte, and ends the stream if it is the last.
    /// Whether it worked.
    #[allow(unsafe_code)] // a foreign function
    pub(crate) fn block(&mut self, block: &[u8], last: bool, out: &mut Vec<u8>) -> bool {
        let Ok(length) = u32::try_from(block.len()) else { return false };
        let begin = out.len();
        let room = block.len() + block.len() / 8 + 512;
        out.reserve(room);
        let stream = &mut *self.stream;
        // SAFETY: the structure is as large as the library's (2). All pointers are to buffers of
        // the lengths that stand beside them, and are not used after the call (1). What the library
        // says that it has written stands in `out`, within its room.
        let done = unsafe {
            (self.isal.deflate_init)(stream);
            stream.level = 1;
            stream.level_buf = self.memory.as_mut_ptr();
            stream.level_buf_size = LEVEL_MEMORY as u32;
            stream.end_of_stream = u16::from(last);
            stream.flush = FULL_FLUSH;
            stream.next_in = block.as_ptr();
            stream.avail_in = length;
            stream.next_out = out.spare_capacity_mut().as_mut_ptr().cast();
            stream.avail_out = u32::try_from(room).unwrap_or(u32::MAX);
            let done = (self.isal.deflate)(stream);
            out.set_len(begin + room.min(stream.total_out as usize));
            done
        };
        done == 0 && stream.avail_in == 0
    }
}

#[allow(unsafe_code)] // moves between threads, see SAFETY
// SAFETY: the pointers inside are only used during a call, and a call takes the deflater (1).
unsafe impl Send for Deflater<'_> {}

/// Inflates a stream.
pub(crate) struct Inflater<'a> {
    isal: &'a Isal,
    state: Box<InflateState>,
}

/// What a step of inflating did.
pub(crate) struct Step {
    pub(crate) taken: usize,
    pub(crate) made: usize,
    pub(crate) ended: bool,
}

impl Inflater<'static> {
    /// An inflater, if there is the library.
    pub(crate) fn new() -> Option<Inflater<'static>> {
        isal().map(Inflater::with)
    }
}

impl<'a> Inflater<'a> {
    #[allow(unsafe_code)] // a foreign function
    fn with(isal: &'a Isal) -> Inflater<'a> {
        // SAFETY: the structure is numbers and pointers, for which zeros are values, and as large
        // as the library's (2).
        let state = unsafe {
            let mut state = Box::new(zeroed::<InflateState>());
            (isal.inflate_init)(&raw mut *state);
            state
        };
        Inflater { isal, state }
    }

    /// Inflates from `input` into `out`; `None` if the stream is damaged.
    #[allow(unsafe_code)] // a foreign function
    pub(crate) fn next(&mut self, input: &[u8], out: &mut [u8]) -> Option<Step> {
        let state = &mut *self.state;
        state.next_in = input.as_ptr();
        state.avail_in = u32::try_from(input.len()).ok()?;
        state.next_out = out.as_mut_ptr();
        state.avail_out = u32::try_from(out.len()).ok()?;
        // SAFETY: the structure is as large as the library's (2); both buffers have the lengths
        // that stand beside their pointers, which are not used after the call (1).
        let done = unsafe { (self.isal.inflate)(state) };
        if !matches!(done, DECOMPRESSED | END_OF_INPUT | OUT_OF_ROOM) {
            return None;
        }
        let ended = state.block_state == BLOCK_FINISH;
        // Whole bytes that were read ahead of the end belong to what follows.
        let ahead = if ended { state.read_in_length.max(0) as usize / 8 } else { 0 };
        let taken = (input.len() - state.avail_in as usize).saturating_sub(ahead);
        Some(Step { taken, made: out.len() - state.avail_out as usize, ended })
    }
}

#[allow(unsafe_code)] // moves between threads, see SAFETY
// SAFETY: the pointers inside are only used during a call, and a call takes the inflater (1).
unsafe impl Send for Inflater<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structures_are_at_least_as_large_as_those_of_the_library() {
        // Version 2.30: 82,384 and 87,368 bytes.
        assert!(size_of::<ZStream>() >= 82_384 + 32_768);
        assert!(size_of::<InflateState>() >= 87_368 + 32_768);
        assert_eq!(offset_of!(ZStream, end_of_stream), 56);
        assert_eq!(offset_of!(ZStream, level_buf), 48);
    }
}
