//! Batches of writes through `io_uring`, up to [`DEPTH`] at once, where the kernel allows it.
//!
//! Random writes of 4 KiB gain two to four times over one call after the other. A kernel or a
//! container that refuses it is asked once, and batches are then written call by call (K22).
//!
//! Invariants:
//! 1. [`Urings::write`] returns only when no write that it sent is under way any more: the buffers
//!    belong to its caller.
//! 2. An instance goes back to the idle ones only when its queues are empty.

use std::io::{self, IoSlice};
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use io_uring::{IoUring, Probe, opcode, squeue, types::Fd};
use rustix::io::Errno;

/// Writes under way at once.
const DEPTH: usize = 32;

/// Completions to wait for before more writes are sent: fewer calls than one for each.
const WAIT: usize = 8;

/// Linux takes so many buffers in one entry.
const BUFFERS_MAX: usize = 1024;

/// One of the writes to be made: buffers that go one behind the other.
pub(crate) struct Write<'a> {
    pub(crate) fd: BorrowedFd<'a>,
    pub(crate) offset: u64,
    pub(crate) bufs: &'a [&'a [u8]],
}

impl<'a> Write<'a> {
    fn len(&self) -> usize {
        self.bufs.iter().map(|buf| buf.len()).sum()
    }

    /// What is left of the buffer in which the first `done` bytes end.
    fn rest(&self, mut done: usize) -> &'a [u8] {
        for buf in self.bufs {
            if done < buf.len() {
                return &buf[done..];
            }
            done -= buf.len();
        }
        &[]
    }
}

/// Marks an entry that writes nothing.
const NOTHING: u64 = u64::MAX;

/// Instances that are not in use; there are as many as threads ever wrote batches at once.
#[derive(Default)]
pub(crate) struct Urings {
    idle: parking_lot::Mutex<Vec<IoUring>>,
    refused: AtomicBool,
}

impl Urings {
    /// Writes all of `writes`, in any order, each with its own outcome. `None` if there is no
    /// `io_uring` here.
    pub(crate) fn write(&self, writes: &[Write<'_>]) -> Option<Vec<io::Result<()>>> {
        let idle = self.idle.lock().pop();
        let mut uring = idle.or_else(|| self.new_uring())?;
        let mut batch = Batch::new(writes);
        if batch.drive(&mut uring) {
            self.idle.lock().push(uring);
        }
        Some(batch.results)
    }

    fn new_uring(&self) -> Option<IoUring> {
        if self.refused.load(Relaxed) {
            return None;
        }
        let usable = |uring: &IoUring| {
            let mut probe = Probe::new();
            let asked = uring.submitter().register_probe(&mut probe);
            let known = |code| probe.is_supported(code);
            asked.is_ok() && known(opcode::Write::CODE) && known(opcode::Writev::CODE)
        };
        let uring = IoUring::new(DEPTH as u32).ok().filter(usable);
        self.refused.store(uring.is_none(), Relaxed);
        uring
    }
}

/// One call's writes on their way.
struct Batch<'a> {
    writes: &'a [Write<'a>],
    /// The buffers of those that have several, as Linux wants them.
    slices: Vec<Vec<IoSlice<'a>>>,
    /// Bytes of each, and written of each.
    lens: Vec<usize>,
    done: Vec<usize>,
    /// Those to be sent, again or for the first time.
    waiting: Vec<usize>,
    underway: usize,
    /// How each ended, as far as it has.
    results: Vec<io::Result<()>>,
}

impl<'a> Batch<'a> {
    fn new(writes: &'a [Write<'a>]) -> Batch<'a> {
        let lens: Vec<usize> = writes.iter().map(Write::len).collect();
        let waiting = (0..writes.len()).rev().filter(|place| lens[*place] > 0).collect();
        let slices = if writes.iter().all(|write| write.bufs.len() == 1) {
            Vec::new()
        } else {
            let of = |write: &Write<'a>| {
                let bufs = write.bufs.iter().take(BUFFERS_MAX);
                bufs.map(|buf| IoSlice::new(buf)).collect()
            };
            writes.iter().map(of).collect()
        };
        let done = vec![0; writes.len()];
        let results = writes.iter().map(|_| Ok(())).collect();
        Batch { writes, slices, lens, done, waiting, underway: 0, results }
    }

    /// The entry that sends a write, or what is left of it. If it ended early, it goes on buffer
    /// by buffer.
    fn entry(&self, place: usize) -> squeue::Entry {
        let (Write { fd, offset, .. }, done) = (&self.writes[place], self.done[place]);
        let fd = Fd(fd.as_raw_fd());
        let entry = match self.slices.get(place).filter(|slices| done == 0 && slices.len() > 1) {
            // An `IoSlice` is what Linux calls an `iovec`, by its own promise.
            Some(slices) => opcode::Writev::new(fd, slices.as_ptr().cast(), slices.len() as u32)
                .offset(*offset)
                .build(),
            None => {
                let rest = self.writes[place].rest(done);
                let len = u32::try_from(rest.len()).unwrap_or(1 << 30);
                let write = opcode::Write::new(fd, rest.as_ptr(), len);
                write.offset(*offset + done as u64).build()
            }
        };
        entry.user_data(place as u64)
    }

    /// Sends and awaits all; `false` if the instance may not be used again.
    fn drive(&mut self, uring: &mut IoUring) -> bool {
        loop {
            self.send(uring);
            if self.underway == 0 {
                return true;
            }
            match uring.submit_and_wait(self.underway.min(WAIT)) {
                Ok(_) => {}
                Err(error) if is_passing(&error) => {}
                Err(error) => {
                    self.abandon(uring, &error);
                    return false;
                }
            }
            self.reap(uring);
        }
    }

    /// Fills the queue.
    #[allow(unsafe_code)]
    fn send(&mut self, uring: &mut IoUring) {
        // With more than two entries Linux collects what is sent and calls the device once for all
        // of it; an empty one makes three of two.
        if self.waiting.len() == 2 && self.underway == 0 {
            let nothing = opcode::Nop::new().build().user_data(NOTHING);
            // SAFETY: it names no memory.
            let pushed = unsafe { uring.submission().push(&nothing) };
            self.underway += usize::from(pushed.is_ok());
        }
        while self.underway < DEPTH
            && let Some(place) = self.waiting.pop()
        {
            // SAFETY: `drive` returns only when all that was sent has completed; the buffers and
            // the descriptors are borrowed for longer than that, and the slices stay as they are.
            let pushed = unsafe { uring.submission().push(&self.entry(place)) };
            assert!(pushed.is_ok(), "the queue holds {DEPTH}, and no more are under way");
            self.underway += 1;
        }
    }

    /// Takes what has completed.
    fn reap(&mut self, uring: &mut IoUring) {
        for completion in uring.completion() {
            self.underway -= 1;
            if completion.user_data() == NOTHING {
                continue;
            }
            let place = completion.user_data() as usize;
            match completion.result() {
                0 => self.results[place] = Err(io::ErrorKind::WriteZero.into()),
                written if written > 0 => {
                    self.done[place] += written as usize;
                    if self.done[place] < self.lens[place] {
                        self.waiting.push(place);
                    }
                }
                errno => {
                    let error = io::Error::from_raw_os_error(-errno);
                    if is_passing(&error) {
                        self.waiting.push(place);
                    } else {
                        self.results[place] = Err(error);
                    }
                }
            }
        }
    }

    /// The kernel takes nothing more, as `error` says: awaits what it took before.
    #[allow(clippy::disallowed_methods)] // this is the seam
    fn abandon(&mut self, uring: &mut IoUring, error: &io::Error) {
        self.underway -= uring.submission().len();
        while self.underway > 0 {
            self.reap(uring);
            std::thread::yield_now();
        }
        for (place, result) in self.results.iter_mut().enumerate() {
            if result.is_ok() && self.done[place] < self.lens[place] {
                *result = Err(io::Error::new(error.kind(), error.to_string()));
            }
        }
    }
}

/// Whether to try again.
fn is_passing(error: &io::Error) -> bool {
    let passing = [Errno::INTR, Errno::AGAIN, Errno::BUSY];
    error.raw_os_error().is_some_and(|raw| passing.iter().any(|errno| errno.raw_os_error() == raw))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd as _;

    fn read_only() -> std::os::fd::OwnedFd {
        use rustix::fs::{Mode, OFlags, open};
        open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).unwrap()
    }

    #[test]
    fn each_write_has_its_own_error_and_the_ring_stays_usable() {
        let urings = Urings::default();
        let reader = read_only();
        let blocks = vec![[7_u8; 512]; 100];
        let blocks: Vec<[&[u8]; 2]> = blocks.iter().map(|block| block.split_at(9).into()).collect();
        let one = |bufs| Write { fd: reader.as_fd(), offset: 0, bufs };
        let ones = blocks.iter().map(|block| one(&block[..1]));
        let writes: Vec<_> = ones.chain(blocks.iter().map(|block| one(&block[..]))).collect();
        // A machine without `io_uring` has nothing to show here.
        let Some(results) = urings.write(&writes) else { return };
        for result in results {
            assert_eq!(result.unwrap_err().raw_os_error(), Some(Errno::BADF.raw_os_error()));
        }
        assert!(urings.write(&[]).unwrap().is_empty());
        assert_eq!(urings.idle.lock().len(), 1);
    }

    #[test]
    fn without_rings_there_is_no_answer() {
        let urings = Urings { refused: AtomicBool::new(true), ..Urings::default() };
        let reader = read_only();
        assert!(urings.write(&[Write { fd: reader.as_fd(), offset: 0, bufs: &[&[1]] }]).is_none());
    }
}
