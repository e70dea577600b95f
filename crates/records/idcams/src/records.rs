//! Sequential files of the machine as records.
//!
//! | form | the file |
//! |---|---|
//! | fixed | records of one length, one behind the other |
//! | variable | length (2, big-endian, counts these 4 bytes), segment (1), zero (1), data |
//! | blocked | length of the block (2, or 4 with the first bit set; counts these 4 bytes), zero (2), then variable |
//! | lines | a record each, ended by a line feed; blanks at its end are left out |
//!
//! | segment | of a spanned record: |
//! |---|---|
//! | 0, 1, 2, 3 | the whole, the first part, the last, one between |
//!
//! Invariants:
//! 1. What does not have the form that was said is an error with its record and offset: no record
//!    is guessed, cut or filled up silently. Lines alone are filled up with blanks, to the length
//!    that records have at least.
//! 2. What was written reads back as the same records; of lines without the blanks at their ends.
//! 3. A record has at most [`RECORD_BYTES_MAX`] bytes, whatever a file says.

use std::io::{self, BufRead as _, BufReader, BufWriter, Read, Write as _};

use crate::form::{Form, RECORD_BYTES_MAX};
use crate::machine::Output;

/// The bytes of a descriptor word.
const WORD: usize = 4;
/// The longest block, its word among them.
const BLOCK_BYTES_MAX: usize = 32_760;
/// How long blocks become: half a track.
const BLOCK_BYTES: usize = 27_998;
/// Bytes of data behind one record descriptor word.
const PART_BYTES_MAX: usize = 32_756;
const BUFFER_BYTES: usize = 1 << 20;

/// Reads records.
pub(crate) struct RecordReader {
    input: BufReader<Box<dyn Read>>,
    form: Form,
    /// What lines are filled up to.
    least: usize,
    /// How many records were read.
    number: u64,
    offset: u64,
    /// Bytes of the block that were not read yet.
    block_left: usize,
    /// Whether the last line had an end.
    is_ended: bool,
}

/// Reads a file that records are written behind: it has to end with one. Answers whether what is
/// written can begin there, or has to end a line first.
pub(crate) fn prove(input: Box<dyn Read>, form: Form) -> io::Result<bool> {
    let mut reader = RecordReader::new(input, form, 0);
    let mut record = Vec::new();
    while reader.next_record(&mut record)? {}
    Ok(reader.is_ended)
}

fn wrong(number: u64, offset: u64, what: &str) -> io::Error {
    let text = format!("record {number}, at offset {offset}: {what}");
    io::Error::new(io::ErrorKind::InvalidData, text)
}

impl RecordReader {
    pub(crate) fn new(input: Box<dyn Read>, form: Form, least: usize) -> RecordReader {
        let input = BufReader::with_capacity(BUFFER_BYTES, input);
        let (number, offset, block_left, is_ended) = (0, 0, 0, true);
        RecordReader { input, form, least, number, offset, block_left, is_ended }
    }

    /// Reads the next record into `record`; `false` at the end.
    pub(crate) fn next_record(&mut self, record: &mut Vec<u8>) -> io::Result<bool> {
        record.clear();
        self.number += 1;
        match self.form {
            Form::Fixed(bytes) => self.fixed(bytes, record),
            Form::Variable | Form::Blocked => self.variable(record),
            Form::Lines => self.a_line(record),
        }
    }

    /// Reads on to a block that has something; `false` at the end.
    fn is_in_block(&mut self) -> io::Result<bool> {
        let mut word = Vec::with_capacity(WORD);
        while self.block_left == 0 {
            word.clear();
            let begin = self.offset;
            let bytes = match (self.take(WORD, &mut word)?, &word[..]) {
                (0, _) => return Ok(false),
                (_, [a, b, c, d]) if a & 0x80 != 0 => {
                    u32::from_be_bytes([a & 0x7f, *b, *c, *d]) as usize
                }
                (_, [high, low, 0, 0]) => usize::from(u16::from_be_bytes([*high, *low])),
                _ => 0,
            };
            let left = bytes.checked_sub(WORD);
            let none = || wrong(self.number, begin, "here is no block descriptor word");
            self.block_left = left.ok_or_else(none)?;
        }
        Ok(true)
    }

    /// Reads so many bytes; fewer at the end of the file.
    fn take(&mut self, bytes: usize, into: &mut Vec<u8>) -> io::Result<usize> {
        let got = (&mut self.input).take(bytes as u64).read_to_end(into)?;
        self.offset += got as u64;
        Ok(got)
    }

    fn fixed(&mut self, bytes: u32, record: &mut Vec<u8>) -> io::Result<bool> {
        let bytes = bytes as usize;
        match self.take(bytes, record)? {
            0 => Ok(false),
            got if got == bytes => Ok(true),
            got => {
                let what = format!("{got} bytes are left, and a record has {bytes}");
                Err(wrong(self.number, self.offset - got as u64, &what))
            }
        }
    }

    fn variable(&mut self, record: &mut Vec<u8>) -> io::Result<bool> {
        let mut word = Vec::with_capacity(4);
        let mut first = true;
        loop {
            word.clear();
            if self.form == Form::Blocked && !self.is_in_block()? && first {
                return Ok(false);
            }
            let begin = self.offset;
            match self.take(WORD, &mut word)? {
                0 if first && self.block_left == 0 => return Ok(false),
                4 => {}
                _ => return Err(wrong(self.number, begin, "the file ends within a record")),
            }
            let [high, low, segment, zero] = word[..] else { return Ok(false) };
            let len = usize::from(u16::from_be_bytes([high, low]));
            let expected = if first { segment <= 1 } else { matches!(segment, 2 | 3) };
            if len < 4 || zero != 0 || !expected {
                let what = "here is no record descriptor word";
                return Err(wrong(self.number, begin, what));
            }
            if self.form == Form::Blocked {
                let left = self.block_left.checked_sub(len);
                let beyond = || wrong(self.number, begin, "the record is longer than its block");
                self.block_left = left.ok_or_else(beyond)?;
            }
            if self.take(len - 4, record)? != len - 4 {
                return Err(wrong(self.number, begin, "the file ends within a record"));
            }
            if record.len() > RECORD_BYTES_MAX {
                return Err(wrong(self.number, begin, "the record is too long"));
            }
            if matches!(segment, 0 | 2) {
                return Ok(true);
            }
            first = false;
        }
    }

    fn a_line(&mut self, record: &mut Vec<u8>) -> io::Result<bool> {
        let begin = self.offset;
        let got = (&mut self.input).take(RECORD_BYTES_MAX as u64 + 1).read_until(b'\n', record)?;
        self.offset += got as u64;
        if got == 0 {
            return Ok(false);
        }
        self.is_ended = record.last() == Some(&b'\n');
        if self.is_ended {
            record.pop();
            if record.last() == Some(&b'\r') {
                record.pop();
            }
        }
        if record.len() > RECORD_BYTES_MAX {
            return Err(wrong(self.number, begin, "the line is too long"));
        }
        if record.len() < self.least {
            record.resize(self.least, b' ');
        }
        Ok(true)
    }
}

/// Writes records.
pub(crate) struct RecordWriter {
    output: BufWriter<Box<dyn Output>>,
    form: Form,
    number: u64,
    /// The block that becomes full, with room for its word.
    block: Vec<u8>,
}

impl RecordWriter {
    pub(crate) fn new(output: Box<dyn Output>, form: Form) -> RecordWriter {
        let output = BufWriter::with_capacity(BUFFER_BYTES, output);
        RecordWriter { output, form, number: 0, block: Vec::new() }
    }

    /// Ends the line that stands in front of what is written.
    pub(crate) fn end_line(&mut self) -> io::Result<()> {
        self.output.write_all(b"\n")
    }

    pub(crate) fn put(&mut self, record: &[u8]) -> io::Result<()> {
        self.number += 1;
        let refuse = |what: String| {
            let text = format!("record {}: {what}", self.number);
            Err(io::Error::new(io::ErrorKind::InvalidInput, text))
        };
        match self.form {
            Form::Fixed(bytes) => {
                if record.len() != bytes as usize {
                    let len = record.len();
                    return refuse(format!("it has {len} bytes, and the file's have {bytes}"));
                }
                self.output.write_all(record)
            }
            Form::Variable | Form::Blocked => self.parts(record),
            Form::Lines => {
                if record.contains(&b'\n') {
                    return refuse("it holds the end of a line".into());
                }
                let blank = |byte: &u8| *byte == b' ';
                let blanks = record.iter().rev().take_while(|byte| blank(byte)).count();
                self.output.write_all(&record[..record.len() - blanks])?;
                self.output.write_all(b"\n")
            }
        }
    }

    fn parts(&mut self, record: &[u8]) -> io::Result<()> {
        let is_blocked = self.form == Form::Blocked;
        let most = if is_blocked { BLOCK_BYTES_MAX - 2 * WORD } else { PART_BYTES_MAX };
        let count = record.len().div_ceil(most).max(1);
        for at in 0..count {
            let from = at * most;
            let part = &record[from..record.len().min(from + most)];
            let segment = match (count, at) {
                (1, _) => 0,
                (_, 0) => 1,
                (count, at) if at + 1 == count => 2,
                _ => 3,
            };
            let [high, low] = u16::try_from(part.len() + 4).unwrap_or(u16::MAX).to_be_bytes();
            if is_blocked {
                if self.block.len() + WORD + part.len() > BLOCK_BYTES {
                    self.end_block()?;
                }
                if self.block.is_empty() {
                    self.block.resize(WORD, 0);
                }
                self.block.extend_from_slice(&[high, low, segment, 0]);
                self.block.extend_from_slice(part);
            } else {
                self.output.write_all(&[high, low, segment, 0])?;
                self.output.write_all(part)?;
            }
        }
        Ok(())
    }

    /// Writes the block, if there is one.
    fn end_block(&mut self) -> io::Result<()> {
        let bytes = u16::try_from(self.block.len()).map_err(io::Error::other)?;
        let Some(word) = self.block.first_chunk_mut() else { return Ok(()) };
        *word = bytes.to_be_bytes();
        self.output.write_all(&self.block)?;
        self.block.clear();
        Ok(())
    }

    /// Ends the file.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.end_block()?;
        self.output.flush()?;
        self.output.get_mut().finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;
    use std::sync::Arc;

    #[derive(Clone, Default)]
    #[allow(clippy::disallowed_types)] // the file of a test
    struct Shared(Arc<std::sync::Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Output for Shared {
        fn finish(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn written(form: Form, records: &[Vec<u8>]) -> io::Result<Vec<u8>> {
        let file = Shared::default();
        let mut writer = RecordWriter::new(Box::new(file.clone()), form);
        records.iter().try_for_each(|record| writer.put(record))?;
        writer.finish()?;
        let bytes = file.0.lock().unwrap().clone();
        Ok(bytes)
    }

    fn read(form: Form, bytes: Vec<u8>, least: usize) -> io::Result<Vec<Vec<u8>>> {
        let mut reader = RecordReader::new(Box::new(io::Cursor::new(bytes)), form, least);
        let (mut all, mut record) = (Vec::new(), Vec::new());
        while reader.next_record(&mut record)? {
            all.push(record.clone());
        }
        Ok(all)
    }

    proptest! {
        #[test]
        fn records_come_back(
            records in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..20),
        ) {
            for form in [Form::Variable, Form::Blocked] {
                let file = written(form, &records).unwrap();
                prop_assert_eq!(&read(form, file, 0).unwrap(), &records);
            }
        }

        #[test]
        fn any_bytes_are_records_or_an_error(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            fixed in 1_u32..50,
        ) {
            for form in [Form::Variable, Form::Blocked, Form::Lines, Form::Fixed(fixed)] {
                let _ = read(form, bytes.clone(), 0);
            }
        }
    }

    #[test]
    fn a_long_record_is_spanned() {
        let records = vec![vec![7; 100_000], vec![8; PART_BYTES_MAX], vec![], vec![9]];
        let file = written(Form::Variable, &records).unwrap();
        assert_eq!(&file[..4], [0x7F, 0xF8, 1, 0]);
        assert_eq!(read(Form::Variable, file, 0).unwrap(), records);
    }

    #[test]
    fn blocks_have_words_of_their_own() {
        let records = vec![b"one".to_vec(), vec![7; 20_000], vec![8; 20_000], vec![9; 70_000]];
        let file = written(Form::Blocked, &records).unwrap();
        let first = (WORD + (WORD + 3) + (WORD + 20_000)) as u16;
        assert_eq!(file[..2], first.to_be_bytes());
        assert_eq!(file[2..11], [0, 0, 0, 7, 0, 0, b'o', b'n', b'e']);
        assert_eq!(read(Form::Blocked, file.clone(), 0).unwrap(), records);
        let refused = |bytes: &[u8]| read(Form::Blocked, bytes.to_vec(), 0).unwrap_err();
        let cut = refused(&file[..file.len() - 1]).to_string();
        assert!(cut.contains("record 4") && cut.contains("ends within"), "{cut}");
        let none = refused(&[0, 3, 0, 0]).to_string();
        assert!(none.contains("no block descriptor word"), "{none}");
        let beyond = refused(&[0, 9, 0, 0, 0, 6, 0, 0, 1, 2]).to_string();
        assert!(beyond.contains("longer than its block"), "{beyond}");
        // What a large block has, and a block without anything.
        let large = [&[0, 4, 0, 0, 0x80, 0, 0, 9, 0, 5, 0, 0, b'x'][..]].concat();
        assert_eq!(read(Form::Blocked, large, 0).unwrap(), [b"x".to_vec()]);
    }

    #[test]
    fn lines_lose_only_the_blanks_at_their_ends() {
        let file = written(Form::Lines, &[b"a b  ".to_vec(), b"  ".to_vec()]).unwrap();
        assert_eq!(file, b"a b\n\n");
        assert_eq!(read(Form::Lines, file, 4).unwrap(), [b"a b ".to_vec(), b"    ".to_vec()]);
        let last = read(Form::Lines, b"x\r\ny".to_vec(), 0).unwrap();
        assert_eq!(last, [b"x".to_vec(), b"y".to_vec()]);
        assert!(written(Form::Lines, &[b"a\nb".to_vec()]).is_err());
    }

    #[test]
    fn what_has_another_form_is_refused_with_its_place() {
        let text = |result: io::Result<Vec<Vec<u8>>>| result.unwrap_err().to_string();
        let half = text(read(Form::Fixed(4), b"aaaabb".to_vec(), 0));
        assert!(half.contains("record 2, at offset 4"), "{half}");
        let zero = text(read(Form::Variable, vec![0, 5, 0, 0, 1, 0, 3, 0, 0], 0));
        assert!(zero.contains("record 2, at offset 5"), "{zero}");
        assert!(read(Form::Variable, vec![0, 9, 0, 0, 1], 0).is_err());
        assert!(written(Form::Fixed(3), &[b"ab".to_vec()]).is_err());
    }
}
