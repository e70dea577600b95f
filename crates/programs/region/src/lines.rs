//! Files of lines as a COBOL program has its records, and back.
//!
//! | form | a line becomes | a record becomes |
//! |---|---|---|
//! | fixed | itself, padded with blanks to the record's length | itself without blanks at its end |
//! | fixed, written with ADVANCING | | the lines that it consists of |
//! | variable | 2 bytes of length, big endian, 2 of zeros, itself; padded to the least length | the same |
//!
//! The length in front of a variable record is that of its data: so GnuCOBOL writes them.
//!
//! Invariants:
//! 1. A line that is longer than the longest record is an error; nothing is cut off.
//! 2. A record becomes one line: one that has the end of a line in it is an error.

use crate::program::FileForm;

/// What stands in front of a variable record.
const PREFIX_BYTES: usize = 4;

/// The records of a file of lines. `record_bytes` is the length of the longest one.
///
/// # Errors
/// Which line is too long; or why the file has no such records.
pub(crate) fn records_of(
    text: &[u8],
    record_bytes: usize,
    form: FileForm,
) -> Result<Vec<u8>, String> {
    let least = match form {
        FileForm::Fixed => record_bytes,
        FileForm::Variable(least) => least,
        FileForm::Lines => return Ok(text.to_vec()),
        FileForm::Keyed => {
            return Err("a relative or indexed file does not consist of lines".into());
        }
    };
    let mut records = Vec::with_capacity(text.len());
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    if text.is_empty() {
        return Ok(records);
    }
    for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > record_bytes {
            let (line, len) = (index + 1, line.len());
            return Err(format!("line {line} has {len} bytes, a record {record_bytes}"));
        }
        let len = line.len().max(least);
        if form != FileForm::Fixed {
            // A record of COBOL has less than 64 KiB.
            records.extend_from_slice(&(len as u16).to_be_bytes());
            records.extend_from_slice(&[0, 0]);
        }
        let begin = records.len();
        records.extend_from_slice(line);
        records.resize(begin + len, b' ');
    }
    Ok(records)
}

/// The lines of a file of records: without the blanks at their ends.
///
/// # Errors
/// If it does not consist of such records.
pub(crate) fn lines_of(
    records: &[u8],
    record_bytes: usize,
    form: FileForm,
) -> Result<Vec<u8>, String> {
    let record_bytes = record_bytes.max(1);
    let pieces: Vec<&[u8]> = match form {
        FileForm::Lines | FileForm::Keyed => return Ok(records.to_vec()),
        FileForm::Variable(_) => variable(records)?,
        FileForm::Fixed => match advanced(records, record_bytes) {
            Some(lines) => lines,
            None => records.chunks(record_bytes).collect(),
        },
    };
    let broken = pieces.iter().position(|piece| piece.contains(&b'\n'));
    if let Some(index) = broken {
        let record = index + 1;
        return Err(format!(
            "record {record} has X'0A' in it, which ends a line: it would become two. Give the \
             file without ,text"
        ));
    }
    let mut lines = Vec::with_capacity(records.len());
    for record in pieces {
        let end = record.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
        lines.extend_from_slice(&record[..end]);
        lines.push(b'\n');
    }
    Ok(lines)
}

/// The lines of a file that was written with ADVANCING: line ends and form feeds stand between its
/// records, and none within one.
fn advanced(records: &[u8], record_bytes: usize) -> Option<Vec<&[u8]>> {
    if !records.contains(&b'\n') {
        return None;
    }
    let text = records.strip_suffix(b"\n").unwrap_or(records);
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let is_whole = |line: &&[u8]| {
        let moves = line.iter().filter(|byte| matches!(byte, b'\r' | b'\x0c')).count();
        let len = line.len();
        len.is_multiple_of(record_bytes) || (len - moves).is_multiple_of(record_bytes)
    };
    lines.iter().all(is_whole).then_some(lines)
}

/// The variable records of a file, without their lengths.
fn variable(mut rest: &[u8]) -> Result<Vec<&[u8]>, String> {
    let mut all = Vec::new();
    while !rest.is_empty() {
        let cut = || format!("record {} is cut off", all.len() + 1);
        let (front, behind) = rest.split_first_chunk::<PREFIX_BYTES>().ok_or_else(cut)?;
        let len = usize::from(u16::from_be_bytes([front[0], front[1]]));
        let (record, behind) = behind.split_at_checked(len).ok_or_else(cut)?;
        all.push(record);
        rest = behind;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_records_and_come_back() {
        let records = |text: &[u8]| records_of(text, 4, FileForm::Fixed);
        assert_eq!(records(b"ab\r\n\nabcd\n").expect("records"), b"ab      abcd");
        assert_eq!(records(b"").expect("records"), b"");
        assert_eq!(records(b"abcde"), Err("line 1 has 5 bytes, a record 4".to_owned()));
        let lines = |records: &[u8]| lines_of(records, 4, FileForm::Fixed).expect("lines");
        assert_eq!(lines(b"ab      abcd"), b"ab\n\nabcd\n");
        assert_eq!(lines(b"\n\nab  \n\nabcd"), b"\n\nab\n\nabcd\n", "AFTER ADVANCING 2");
        assert_eq!(lines(b"ab  \nabcd\n"), b"ab\nabcd\n", "BEFORE ADVANCING 1");
        assert_eq!(lines(b"\x0cab  \nabcd"), b"\x0cab\nabcd\n", "AFTER ADVANCING PAGE");
    }

    #[test]
    fn a_record_with_the_end_of_a_line_in_it_is_no_line() {
        for records in [&b"abcdef\nh"[..], b"\nbcdefgh", b"abcdefg\n", b"abcd\n\n\nh"] {
            let error = lines_of(records, 4, FileForm::Fixed).expect_err("two lines");
            assert!(error.contains("X'0A'"), "{error}");
        }
        let error = lines_of(b"\0\x01\0\0a\0\x03\0\0a\nb", 4, FileForm::Variable(1));
        assert!(error.expect_err("two lines").starts_with("record 2 has X'0A'"));
    }

    #[test]
    fn variable_records_have_the_lengths_of_their_lines() {
        let form = FileForm::Variable(2);
        let records = records_of(b"abc\n\nabcd\n", 4, form).expect("records");
        assert_eq!(records, b"\0\x03\0\0abc\0\x02\0\0  \0\x04\0\0abcd");
        assert_eq!(lines_of(&records, 4, form).expect("lines"), b"abc\n\nabcd\n");
        assert_eq!(records_of(b"abcde", 4, form).map_err(|text| text.len()), Err(30));
        assert!(lines_of(b"\0\x03\0\0ab", 4, form).is_err_and(|text| text.contains("record 1")));
    }

    #[test]
    fn a_keyed_file_is_none_of_lines() {
        assert!(records_of(b"ab\n", 4, FileForm::Keyed).is_err());
        assert_eq!(records_of(b"ab\n", 4, FileForm::Lines).expect("itself"), b"ab\n");
    }
}
