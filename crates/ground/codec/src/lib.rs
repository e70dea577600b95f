//! Characters and numbers as a mainframe writes them: code pages, packed, zoned and binary
//! decimal numbers.
//!
//! Stands on the ground beside the kernel and knows nothing of it. What it owns:
//!
//! * [`CodePage`]: single-byte code pages, EBCDIC and ASCII, to Unicode and back;
//! * [`packed`]: two digits a byte, the sign in the last half byte;
//! * [`zoned`]: one digit a byte, the sign in the last byte's zone;
//! * [`binary`]: big-endian integers of 1 to 16 bytes;
//! * [`transcode`]: the bytes of EBCDIC fields as programs have them here, and back.
//!
//! Invariants:
//!
//! 1. No bytes and no text make anything here panic; what cannot be read or written is an error
//!    that names the place and what stands there.
//! 2. What was encoded decodes to the same value. What decodes encodes to a field of the same
//!    length with the same value, if perhaps with the preferred sign.
//! 3. Nothing is rounded or cut: a number that does not fit is an error.

pub mod binary;
pub mod packed;
pub mod transcode;
pub mod zoned;

mod number;
mod page;
mod tables;

pub use number::NumberError;
pub use page::{CodePage, Unmappable};
