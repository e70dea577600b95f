//! COBOL sources and members as they came from the host: cards of 80 bytes without line ends, and
//! EBCDIC, become lines.
//!
//! Invariants:
//! 1. What has line ends in ASCII stays as it is, byte for byte.

use codec::CodePage;

const CARD: usize = 80;
/// EBCDIC's own line end, and what transfers make of a line feed.
const ENDS: [u8; 2] = [0x15, 0x25];

/// The lines of a source or member.
pub(super) fn lines_of(bytes: Vec<u8>) -> Vec<u8> {
    if CodePage::looks_like_ebcdic(&bytes) {
        let is_end = |byte: &u8| ENDS.contains(byte);
        let is_fixed = bytes.len().is_multiple_of(CARD) && !bytes.iter().any(is_end);
        let cards: Vec<&[u8]> = match is_fixed {
            true => bytes.chunks(CARD).collect(),
            false => bytes.split(is_end).collect(),
        };
        let cards = cards.into_iter().map(|card| CodePage::Cp037.decode(card));
        return joined(cards.map(String::into_bytes));
    }
    let is_fixed = bytes.len().is_multiple_of(CARD) && bytes.len() > CARD;
    match is_fixed && !bytes.contains(&b'\n') {
        true => joined(bytes.chunks(CARD).map(<[u8]>::to_vec)),
        false => bytes,
    }
}

fn joined(cards: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut lines = Vec::new();
    for card in cards {
        lines.extend_from_slice(card.trim_ascii_end());
        lines.push(b'\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &[u8] = b"       IDENTIFICATION DIVISION.\n       PROGRAM-ID. A1.\n";

    #[test]
    fn cards_without_line_ends_become_lines_in_either_code() {
        let text = String::from_utf8_lossy(LINES);
        let cards: String = text.lines().map(|line| format!("{line:<80}")).collect();
        assert_eq!(lines_of(cards.clone().into_bytes()), LINES);
        let ebcdic = CodePage::Cp037.encode(&cards).expect("EBCDIC");
        assert_eq!(lines_of(ebcdic), LINES);
        let with_ends = CodePage::Cp037.encode(text.trim_end()).expect("EBCDIC");
        assert_eq!(lines_of(with_ends), LINES);
    }

    #[test]
    fn lines_stay_as_they_are() {
        for text in [LINES, b"", b"one line without an end", &[b'X'; 80]] {
            assert_eq!(lines_of(text.to_vec()), text);
        }
    }
}
