//! A record under construction: fields put at their places, as a DBD counts them.
//!
//! 1. A record has its full length from the start; what is never put is blank.
//! 2. A text that is too long is cut, a number that is too long loses its high digits, as a COBOL
//!    MOVE would do it.
//! 3. Amounts are in cents; a packed field has room for all the amounts that the bank makes up.

use std::io::{self, Write};

use codec::packed::{self, Sign};

/// A record of `N` bytes.
#[derive(Clone, Debug)]
pub struct Record<const N: usize> {
    bytes: [u8; N],
}

impl<const N: usize> Record<N> {
    /// A blank one.
    #[must_use]
    pub fn new() -> Self {
        Self { bytes: [b' '; N] }
    }

    /// The bytes from `start`, which counts from 1.
    fn field(&mut self, start: usize, length: usize) -> &mut [u8] {
        &mut self.bytes[start - 1..start - 1 + length]
    }

    /// `PIC X(length)` at `start`.
    #[must_use]
    pub fn text(mut self, start: usize, length: usize, text: &str) -> Self {
        let text = text.as_bytes();
        let kept = text.len().min(length);
        self.field(start, kept).copy_from_slice(&text[..kept]);
        self
    }

    /// `PIC 9(length)` at `start`.
    #[must_use]
    pub fn digits(mut self, start: usize, length: usize, value: u64) -> Self {
        let mut rest = value;
        for place in self.field(start, length).iter_mut().rev() {
            *place = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        self
    }

    /// `COMP-3` of `length` bytes at `start`.
    ///
    /// # Errors
    /// If the number has more digits than that.
    pub fn packed(mut self, start: usize, length: usize, value: i64) -> io::Result<Self> {
        packed::encode(i128::from(value), Sign::Signed, self.field(start, length))
            .map_err(io::Error::other)?;
        Ok(self)
    }

    /// Writes it.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn write_to(&self, writer: &mut impl Write) -> io::Result<()> {
        writer.write_all(&self.bytes)
    }
}

impl<const N: usize> Default for Record<N> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_where_the_layout_says() {
        let record = Record::<16>::new().text(1, 4, "ABCDEF").digits(5, 3, 1_042);
        let record = record.packed(8, 4, -1_205).expect("it fits");
        assert_eq!(record.bytes, *b"ABCD042\x00\x01\x20\x5d     ");
        assert!(Record::<2>::new().packed(1, 2, 1_000).is_err());
    }
}
