//! Bytes to cards: the encoding is found out, lines are cut, tabs expanded.
//!
//! Invariants:
//!
//! 1. Any bytes become cards. What is strange about them becomes a [`Remark`], one of a kind.
//! 2. Columns 73 and up cause no remark but the one about cards of more than 80 columns: they
//!    hold sequence numbers, or anything else.
//! 3. In columns 1 to 72 of a card there is neither a tab nor another control character.
//! 4. A card keeps at most [`KEPT`] columns, so that a file without line ends stays showable.

use codec::CodePage;

use crate::diagnostic::code;

/// The last column that is read, the continuation mark.
const MARK: usize = 72;
/// A card of a host's file.
const CARD: usize = 80;
/// How many columns are kept for showing.
const KEPT: usize = 255;
/// The largest source; the largest real ones have a few hundred kilobytes.
const BYTES_MAX: usize = 64 << 20;

const NEL: u8 = 0x15;
const EBCDIC_LF: u8 = 0x25;
const END_OF_FILE: u8 = 0x1a;

/// Something to say about a file as a whole.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Remark {
    pub(crate) code: &'static str,
    pub(crate) is_error: bool,
    pub(crate) card: u32,
    pub(crate) column: u16,
    pub(crate) message: &'static str,
    pub(crate) help: &'static str,
}

/// The cards of a file, and what is strange about them.
pub(crate) fn read(bytes: &[u8]) -> (Vec<String>, Vec<Remark>) {
    let mut reader = Reader::default();
    if bytes.len() > BYTES_MAX {
        reader.remark(
            code::TOO_LARGE,
            0,
            "the file has more than 64 MiB; it is not read",
            "Give the sources, one file or several, each smaller than that.",
        );
        return (Vec::new(), reader.remarks);
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if CodePage::looks_like_ebcdic(bytes) {
        reader.ebcdic(bytes);
    } else {
        reader.ascii(bytes);
    }
    (reader.cards, reader.remarks)
}

#[derive(Default)]
struct Reader {
    cards: Vec<String>,
    remarks: Vec<Remark>,
}

impl Reader {
    fn ebcdic(&mut self, bytes: &[u8]) {
        let is_end = |byte: u8| byte == NEL || byte == EBCDIC_LF;
        let ends_inside = bytes.chunks(CARD).any(|card| {
            let read = &card[..card.len().min(MARK)];
            read.iter().any(|byte| is_end(*byte))
        });
        let has_ends = bytes.iter().any(|byte| is_end(*byte));
        if has_ends && (ends_inside || !bytes.len().is_multiple_of(CARD)) {
            let bytes = bytes.strip_suffix(&[NEL]).unwrap_or(bytes);
            let bytes = bytes.strip_suffix(&[EBCDIC_LF]).unwrap_or(bytes);
            for line in bytes.split(|byte| is_end(*byte)) {
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                self.card(CodePage::Cp037.decode(line).chars());
            }
            return;
        }
        for card in bytes.chunks(CARD) {
            self.card(CodePage::Cp037.decode(card).chars());
        }
        if !bytes.len().is_multiple_of(CARD) {
            self.remark(
                code::SHORT_LAST_CARD,
                1,
                "the file is EBCDIC without line ends, but its length is no multiple of 80",
                "Check how the file was transferred; records of other lengths cannot be read.",
            );
        }
    }

    fn ascii(&mut self, bytes: &[u8]) {
        let kept = bytes.iter().rposition(|byte| *byte != END_OF_FILE).map_or(0, |last| last + 1);
        let bytes = &bytes[..kept];
        if bytes.is_empty() {
            return;
        }
        let end = if bytes.contains(&b'\n') { b'\n' } else { b'\r' };
        let is_fixed = !bytes.contains(&end) && bytes.len().is_multiple_of(CARD);
        if is_fixed {
            bytes.chunks(CARD).for_each(|card| self.ascii_card(card));
            return;
        }
        let bytes = bytes.strip_suffix(&[end]).unwrap_or(bytes);
        for line in bytes.split(|byte| *byte == end) {
            self.ascii_card(line.strip_suffix(b"\r").unwrap_or(line));
        }
    }

    fn ascii_card(&mut self, bytes: &[u8]) {
        if let Ok(text) = std::str::from_utf8(bytes) {
            self.card(text.chars());
            return;
        }
        self.card(bytes.iter().map(|byte| char::from(*byte)));
        let read = &bytes[..bytes.len().min(MARK)];
        if let Some(column) = read.iter().position(|byte| !byte.is_ascii()) {
            self.remark(
                code::NOT_UTF8,
                column + 1,
                "the file is neither ASCII nor UTF-8; it is read as ISO 8859-1",
                "Convert the file to UTF-8 if texts in apostrophes come out wrong.",
            );
        }
    }

    fn card(&mut self, chars: impl Iterator<Item = char>) {
        let mut card = String::with_capacity(CARD);
        let mut columns = 0;
        let mut strange = [None; 3];
        let [tab, control, long] = &mut strange;
        for c in chars {
            // Behind column 72 a tab is whatever a sequence area holds.
            let is_read = columns < MARK;
            if c == '\t' && is_read {
                let width = 8 - columns % 8;
                card.extend(std::iter::repeat_n(' ', width));
                tab.get_or_insert(columns + 1);
                columns += width;
            } else {
                if c.is_control() && is_read {
                    control.get_or_insert(columns + 1);
                    card.push(' ');
                } else {
                    card.push(c);
                }
                if columns >= CARD && !c.is_whitespace() {
                    long.get_or_insert(columns + 1);
                }
                columns += 1;
            }
            if columns >= KEPT {
                break;
            }
        }
        card.truncate(card.trim_end_matches(' ').len());
        self.cards.push(card);
        self.remarks_on_card(strange);
    }

    /// The first columns of a tab, of a control character, of text behind column 80.
    fn remarks_on_card(&mut self, [tab, control, long]: [Option<usize>; 3]) {
        if let Some(column) = tab {
            self.remark(
                code::TABS,
                column,
                "the file has tabs; they are taken to lead to every eighth column (9, 17, ...)",
                "Replace tabs by blanks, so that columns 16 and 72 stay where they are.",
            );
        }
        if let Some(column) = control {
            self.remark(
                code::CONTROL_CHARACTERS,
                column,
                "the file has control characters; they are read as blanks",
                "Check how the file was transferred.",
            );
        }
        if let Some(column) = long {
            self.remark(
                code::LONG_CARD,
                column,
                "the card has more than 80 columns; what stands behind column 72 is not read",
                "Break it behind a comma, put a mark into column 72, go on in column 16.",
            );
        }
    }

    /// Says something about the last card, unless it was said of another.
    fn remark(
        &mut self,
        code: &'static str,
        column: usize,
        message: &'static str,
        help: &'static str,
    ) {
        if self.remarks.iter().all(|known| known.code != code) {
            let card = u32::try_from(self.cards.len()).unwrap_or(u32::MAX);
            let column = u16::try_from(column).unwrap_or(u16::MAX);
            let is_error = code == code::TOO_LARGE;
            self.remarks.push(Remark { code, is_error, card, column, message, help });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cards(bytes: &[u8]) -> Vec<String> {
        read(bytes).0
    }

    fn codes(bytes: &[u8]) -> Vec<&'static str> {
        read(bytes).1.iter().map(|remark| remark.code).collect()
    }

    fn fixed(lines: &[&str]) -> Vec<u8> {
        let text: String = lines.iter().map(|line| format!("{line:<80}")).collect();
        CodePage::Cp037.encode(&text).unwrap()
    }

    #[test]
    fn lines_end_as_they_like() {
        for text in ["A\nB\n", "A\r\nB\r\n", "A\nB", "A\rB\r", "\u{feff}A\nB\n\u{1a}"] {
            assert_eq!(cards(text.as_bytes()), ["A", "B"], "{text:?}");
            assert!(codes(text.as_bytes()).is_empty(), "{text:?}");
        }
        assert_eq!(cards(b"\nA\n\n"), ["", "A", ""]);
        assert!(cards(b"").is_empty());
    }

    #[test]
    fn ebcdic_in_fixed_cards_is_found_out() {
        let bytes = fixed(&["         DBD   NAME=A#$@", "         END"]);
        assert_eq!(cards(&bytes), ["         DBD   NAME=A#$@", "         END"]);
        assert!(codes(&bytes).is_empty());
        assert_eq!(codes(&bytes[..100]), [code::SHORT_LAST_CARD]);
    }

    #[test]
    fn junk_in_the_sequence_area_is_nobodys_business() {
        let mut bytes = fixed(&["         DBD   NAME=A", "         END"]);
        bytes[73..80].copy_from_slice(&[NEL, EBCDIC_LF, 0, 0xff, 0x0d, 0x05, 0x0a]);
        let (cards, remarks) = read(&bytes);
        assert_eq!((cards.len(), remarks.len()), (2, 0));
        assert!(cards[1].starts_with("         END"));

        let mut line = format!("{:<72}", "         END").into_bytes();
        line.extend(b"\xff\x00\x80\t\x01ABC\n");
        assert!(codes(&line).is_empty(), "{:?}", codes(&line));
    }

    #[test]
    fn ebcdic_with_line_ends_is_read_too() {
        let mut bytes = CodePage::Cp037.encode("         DBD   NAME=LEDGER").unwrap();
        bytes.push(NEL);
        bytes.extend(CodePage::Cp037.encode("         END").unwrap());
        bytes.push(EBCDIC_LF);
        assert_eq!(cards(&bytes), ["         DBD   NAME=LEDGER", "         END"]);
    }

    #[test]
    fn ascii_in_fixed_cards_is_cut() {
        let text = format!("{:<80}{:<80}", " DBD NAME=A", " END");
        assert_eq!(cards(text.as_bytes()), [" DBD NAME=A", " END"]);
    }

    #[test]
    fn tabs_lead_to_every_eighth_column() {
        assert_eq!(cards(b"A\tB\n\tC\n1234567\tD"), ["A       B", "        C", "1234567 D"]);
        let (_, remarks) = read(b"A\n\tB\n\tC\n");
        assert_eq!(remarks.len(), 1);
        assert_eq!((remarks[0].code, remarks[0].card, remarks[0].column), (code::TABS, 2, 1));
    }

    #[test]
    fn what_is_strange_is_said_once() {
        assert_eq!(codes(b" A \xe4\n B \xe4\n"), [code::NOT_UTF8]);
        assert_eq!(cards(b" A \xe4\n"), [" A \u{e4}"]);
        assert_eq!(cards(" A \u{e4}\n".as_bytes()), [" A \u{e4}"]);
        assert_eq!(codes(b" A\0B\n\x0c\n"), [code::CONTROL_CHARACTERS]);
        assert_eq!(codes(format!("{:<90}X\n", " A").as_bytes()), [code::LONG_CARD]);
        assert!(cards(&vec![b'A'; 1001]).iter().all(|card| card.len() == KEPT));
    }
}
