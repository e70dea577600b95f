//! Unload files as a whole: a genuine one, wrong ones, and any bytes.

mod any_bytes;
mod genuine;
mod support;
mod written;
mod wrong;
