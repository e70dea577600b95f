//! A socket whose reads and writes have limits: each of them, and all of a greeting together.
//!
//! 1. While there is a deadline, everything has to be read and written by then, however often the
//!    other end sends a little: TLS reads on and on until it has a record.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use seam::clock::Clock;

/// How long the other end may take none of what is written.
const WRITE: Duration = Duration::from_secs(60);
/// How long a read may take that has no limit of its own.
const WAIT: Duration = Duration::from_secs(60);

/// A socket with limits.
pub(crate) struct Timed {
    pub(crate) socket: TcpStream,
    clock: Arc<dyn Clock>,
    /// A moment of the clock.
    deadline: Option<Duration>,
    /// How long one read may take.
    read: Duration,
}

impl Timed {
    /// A socket on which everything has to be done at a moment of the clock.
    pub(crate) fn until(socket: TcpStream, clock: &Arc<dyn Clock>, deadline: Duration) -> Timed {
        let clock = Arc::clone(clock);
        Timed { socket, clock, deadline: Some(deadline), read: WAIT }
    }

    /// What had to be done by a deadline is done.
    pub(crate) fn lift_deadline(&mut self) -> io::Result<()> {
        self.deadline = None;
        self.socket.set_write_timeout(Some(WRITE))
    }

    /// Limits each read that follows.
    pub(crate) fn limit_reads(&mut self, time: Duration) {
        self.read = time.max(Duration::from_millis(1));
    }

    /// The time that an operation has, which may take that long by itself.
    fn left(&self, own: Duration) -> io::Result<Duration> {
        let Some(deadline) = self.deadline else { return Ok(own) };
        let left = deadline.saturating_sub(self.clock.monotonic());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left.min(own)) }
    }
}

impl Read for Timed {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.socket.set_read_timeout(Some(self.left(self.read)?))?;
        self.socket.read(bytes)
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Without a deadline the limit is that which was set when it was lifted.
        if self.deadline.is_some() {
            self.socket.set_write_timeout(Some(self.left(WRITE)?))?;
        }
        self.socket.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seam::sync::Mutex;

    /// A clock that goes on by four seconds each time it is looked at.
    struct Hurried(Mutex<u64>);

    impl Clock for Hurried {
        fn monotonic(&self) -> Duration {
            let mut now = self.0.lock();
            *now += 4;
            Duration::from_secs(*now)
        }

        fn utc_us(&self) -> u64 {
            0
        }

        fn sleep(&self, _: Duration) {}
    }

    #[test]
    fn whoever_sends_a_little_now_and_then_is_out_of_time_all_the_same() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut slow = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (socket, _) = listener.accept().unwrap();
        slow.write_all(&[0x16; 8]).unwrap();
        let clock: Arc<dyn Clock> = Arc::new(Hurried(Mutex::new(0)));
        let mut timed = Timed::until(socket, &clock, Duration::from_secs(10));
        let mut byte = [0];
        assert!(timed.read(&mut byte).is_ok() && timed.read(&mut byte).is_ok());
        assert_eq!(timed.read(&mut byte).unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(timed.write(&byte).unwrap_err().kind(), io::ErrorKind::TimedOut);
        timed.lift_deadline().unwrap();
        timed.limit_reads(Duration::from_secs(60));
        assert!(timed.read(&mut byte).is_ok());
    }
}
