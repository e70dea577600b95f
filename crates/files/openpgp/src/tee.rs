//! Bytes that are read are also given to something else, as they are.

use std::io::{self, BufRead, Read};

/// Reads from a source, and shows what was read.
pub(crate) struct Tee<S, F> {
    pub(crate) source: S,
    pub(crate) take: F,
}

impl<S: BufRead, F: FnMut(&[u8])> BufRead for Tee<S, F> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.source.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        // What is consumed has been seen before, so it is there still.
        if bytes > 0
            && let Ok(seen) = self.source.fill_buf()
        {
            (self.take)(&seen[..bytes.min(seen.len())]);
        }
        self.source.consume(bytes);
    }
}

impl<S: Read, F: FnMut(&[u8])> Read for Tee<S, F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(out)?;
        (self.take)(&out[..read]);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_read_is_shown_and_nothing_else() {
        let mut seen: Vec<u8> = Vec::new();
        let mut tap = Tee { source: &b"one two three"[..], take: |some: &[u8]| seen.extend(some) };
        tap.fill_buf().unwrap();
        tap.consume(4);
        tap.consume(0);
        let mut two = [0; 3];
        tap.read_exact(&mut two).unwrap();
        assert_eq!(&two, b"two");
        assert_eq!(seen, b"one two");
    }
}
