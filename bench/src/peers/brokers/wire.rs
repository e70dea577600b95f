//! A connection that bytes are read from and written to in the order of their protocol.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::error::{BenchError, Result};

/// How long a broker may take for an answer.
const LIMIT: Duration = Duration::from_secs(60);
/// Bytes that are asked for at once.
const PIECE_BYTES: usize = 128 << 10;

/// A connection with what has come and was not read yet.
pub(crate) struct Wire {
    peer: &'static str,
    stream: TcpStream,
    ahead: Vec<u8>,
    at: usize,
    out: Vec<u8>,
}

impl Wire {
    /// Connects.
    pub(crate) fn connect(peer: &'static str, address: SocketAddr) -> Result<Wire> {
        let failed = |error: io::Error| BenchError::subject(peer, "connect", error.to_string());
        let stream = TcpStream::connect(address).map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        stream.set_write_timeout(Some(LIMIT)).map_err(failed)?;
        Ok(Wire { peer, stream, ahead: Vec::new(), at: 0, out: Vec::new() })
    }

    /// Something that should not have come.
    pub(crate) fn unexpected(&self, what: impl Into<String>) -> BenchError {
        BenchError::subject(self.peer, "answer as its protocol says", what)
    }

    fn failed(&self, error: &io::Error) -> BenchError {
        BenchError::subject(self.peer, "go on", error.to_string())
    }

    /// What is to be sent with the next [`Wire::send`].
    pub(crate) fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Sends what was written.
    pub(crate) fn send(&mut self) -> Result<()> {
        if self.out.is_empty() {
            return Ok(());
        }
        let sent = self.stream.write_all(&self.out);
        self.out.clear();
        sent.map_err(|error| self.failed(&error))
    }

    /// The bytes that have come.
    pub(crate) fn ready(&self) -> &[u8] {
        self.ahead.get(self.at..).unwrap_or_default()
    }

    /// So many of them have been read.
    pub(crate) fn consume(&mut self, bytes: usize) {
        self.at += bytes;
        if self.at >= self.ahead.len() {
            self.ahead.clear();
            self.at = 0;
        }
    }

    /// Waits until so many bytes are there; `false` if the time is over first.
    pub(crate) fn need(&mut self, bytes: usize, patience: Option<Duration>) -> Result<bool> {
        let until = Instant::now() + patience.unwrap_or(LIMIT);
        while self.ready().len() < bytes {
            if self.at > PIECE_BYTES {
                self.ahead.drain(..self.at);
                self.at = 0;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return match patience {
                    Some(_) => Ok(false),
                    None => Err(self.unexpected("nothing comes")),
                };
            }
            let set = self.stream.set_read_timeout(Some(left));
            set.map_err(|error| self.failed(&error))?;
            let (have, missing) = (self.ahead.len(), bytes - self.ready().len());
            self.ahead.resize(have + missing.max(PIECE_BYTES), 0);
            let got = self.stream.read(&mut self.ahead[have..]);
            self.ahead.truncate(have + *got.as_ref().unwrap_or(&0));
            match got {
                Ok(0) => return Err(self.unexpected("the connection was closed")),
                Ok(_) => {}
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) => {}
                Err(error) => return Err(self.failed(&error)),
            }
        }
        Ok(true)
    }

    /// So many bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Result<Vec<u8>> {
        self.need(count, None)?;
        let bytes = self.ready()[..count].to_vec();
        self.consume(count);
        Ok(bytes)
    }
}

/// The number in the first bytes, the most significant one first.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
}
