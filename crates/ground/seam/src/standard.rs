//! Standard output for what must not get lost.
//!
//! Invariants:
//! 1. A process whose standard output was closed when it began writes nothing there and is told so.
//!    Rust's own handle leads to `/dev/null` then, and calls it written.
//! 2. That is seen before `main`: later nothing tells it from an output that was sent there.

#![allow(unsafe_code)] // what runs before `main` is named in a section of the executable

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

static CLOSED: AtomicBool = AtomicBool::new(false);

extern "C" fn look() {
    // SAFETY: asks for a descriptor's flags, and takes no pointer.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    CLOSED.store(flags < 0, SeqCst);
}

// SAFETY: functions in this section are called once, by the loader, before `main`; this one takes
// what arguments it gets without looking at them, uses nothing that Rust sets up, and never panics.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

/// Standard output: an error where it was closed when the process began (1).
pub struct StandardOutput(io::Stdout);

/// Standard output, for data that a reader waits for.
#[must_use]
pub fn output() -> StandardOutput {
    StandardOutput(io::stdout())
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        check()?;
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        check()?;
        self.0.flush()
    }
}

fn check() -> io::Result<()> {
    match CLOSED.load(SeqCst) {
        false => Ok(()),
        true => Err(io::Error::other("standard output was closed when the command began")),
    }
}
