//! Frames: what goes between both sides.
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 4 | bytes that follow, the least first |
//! | 4 | | the request or answer |
//!
//! Invariants:
//! 1. A frame that is longer than the limit is refused; one that only says so takes no memory.
//! 2. What has come of a frame is kept when the wait for the rest ends.

use std::io::{self, Read, Write};

/// The longest frame: the longest record, and what stands around it.
pub const FRAME_BYTES_MAX: usize = (64 << 20) + (64 << 10);
/// Bytes that are read at once.
const READ_BYTES: usize = 64 << 10;
/// Memory that is kept between frames.
const KEPT_BYTES: usize = 256 << 10;

/// Frames over a stream.
#[derive(Debug)]
pub struct Frames<T> {
    stream: T,
    /// What has come and was not taken: so many bytes of it.
    input: Vec<u8>,
    filled: usize,
    output: Vec<u8>,
}

impl<T: Read + Write> Frames<T> {
    /// Over this one.
    pub fn new(stream: T) -> Frames<T> {
        Frames { stream, input: Vec::new(), filled: 0, output: Vec::new() }
    }

    /// The stream.
    pub fn stream(&self) -> &T {
        &self.stream
    }

    /// The stream, to be changed.
    pub fn stream_mut(&mut self) -> &mut T {
        &mut self.stream
    }

    /// Replaces `body` by what the next frame has; `false` at the end of the stream.
    ///
    /// # Errors
    /// A frame that is longer than `most`, one that breaks off; what the stream says.
    pub fn receive(&mut self, most: usize, body: &mut Vec<u8>) -> io::Result<bool> {
        let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
        while self.filled < 4 {
            if self.read()? == 0 {
                return match self.filled == 0 {
                    true => Ok(false),
                    false => Err(io::ErrorKind::UnexpectedEof.into()),
                };
            }
        }
        let len = self.input.first_chunk().map_or(0, |front| u32::from_le_bytes(*front)) as usize;
        if len > most {
            return Err(invalid(format!("a frame of {len} bytes is longer than {most}")));
        }
        while self.filled < len + 4 {
            if self.read()? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        body.clear();
        body.extend_from_slice(&self.input[4..len + 4]);
        self.input.copy_within(len + 4..self.filled, 0);
        self.filled -= len + 4;
        if self.filled == 0 && self.input.len() > KEPT_BYTES {
            self.input = Vec::new();
        }
        Ok(true)
    }

    fn read(&mut self) -> io::Result<usize> {
        let begin = self.filled;
        if self.input.len() < begin + READ_BYTES / 4 {
            self.input.resize(begin + READ_BYTES, 0);
        }
        let got = loop {
            match self.stream.read(&mut self.input[begin..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.filled += *got.as_ref().unwrap_or(&0);
        got
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// A body that is too long; what the stream says.
    pub fn send(&mut self, body: &[u8]) -> io::Result<()> {
        let len = u32::try_from(body.len()).ok().filter(|_| body.len() <= FRAME_BYTES_MAX);
        let len = len.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        self.output.clear();
        self.output.extend_from_slice(&len.to_le_bytes());
        self.output.extend_from_slice(body);
        self.stream.write_all(&self.output)?;
        if self.output.capacity() > KEPT_BYTES {
            self.output = Vec::new();
        }
        self.stream.flush()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that fails says where
mod tests {
    use super::*;

    /// A stream that gives a few bytes at a time.
    struct Slow(Vec<u8>, usize);

    impl Read for Slow {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            let left = (self.0.len() - self.1).min(3).min(bytes.len());
            bytes[..left].copy_from_slice(&self.0[self.1..self.1 + left]);
            self.1 += left;
            Ok(left)
        }
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn frames_come_as_they_were_sent() {
        let mut frames = Frames::new(Slow(Vec::new(), 0));
        for body in [&b"one"[..], b"", b"three and more"] {
            frames.send(body).unwrap();
        }
        let mut body = Vec::new();
        for expected in [&b"one"[..], b"", b"three and more"] {
            assert!(frames.receive(100, &mut body).unwrap());
            assert_eq!(body, expected);
        }
        assert!(!frames.receive(100, &mut body).unwrap());
    }

    #[test]
    fn what_is_too_long_or_breaks_off_is_an_error() {
        let mut body = Vec::new();
        let mut long = Frames::new(Slow(vec![0xff; 4], 0));
        let error = long.receive(FRAME_BYTES_MAX, &mut body).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        for bytes in [vec![1], vec![2, 0, 0, 0, 9]] {
            let error = Frames::new(Slow(bytes, 0)).receive(9, &mut body).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        }
    }
}
