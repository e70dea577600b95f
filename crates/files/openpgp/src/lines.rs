//! The ends of lines: messages carry text with CR LF, files here have LF.
//!
//! 1. Only a CR that stands right before an LF goes; everything else stays as it is.
//! 2. Blocks may end anywhere, between the two as well.

/// Takes the CR from the ends of lines of what passes by.
#[derive(Default)]
pub(crate) struct Lines {
    held: bool,
    out: Vec<u8>,
}

impl Lines {
    /// What comes next of the text, with the lines ended as they are here.
    pub(crate) fn native(&mut self, bytes: &[u8]) -> &[u8] {
        self.out.clear();
        let mut rest = bytes;
        if self.held && !rest.is_empty() {
            self.held = false;
            if rest[0] != b'\n' {
                self.out.push(b'\r');
            }
        }
        while let Some(at) = rest.iter().position(|byte| *byte == b'\r') {
            self.out.extend_from_slice(&rest[..at]);
            rest = &rest[at + 1..];
            match rest.first() {
                None => self.held = true,
                Some(b'\n') => {}
                Some(_) => self.out.push(b'\r'),
            }
        }
        self.out.extend_from_slice(rest);
        &self.out
    }

    /// What was held back and turns out to be the end (2).
    pub(crate) fn rest(&self) -> &'static [u8] {
        if self.held { b"\r" } else { b"" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_ends_of_lines_change_wherever_blocks_end() {
        let text = b"one\r\ntwo\rthree\n\r\r\nfour\r";
        for size in 1..text.len() {
            let (mut lines, mut found) = (Lines::default(), Vec::new());
            for block in text.chunks(size) {
                found.extend_from_slice(lines.native(block));
            }
            found.extend_from_slice(lines.rest());
            assert_eq!(found, b"one\ntwo\rthree\n\r\nfour\r", "blocks of {size}");
        }
    }
}
