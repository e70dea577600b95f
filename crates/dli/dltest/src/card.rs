//! Bytes to cards of 80 columns.
//!
//! Invariants:
//!
//! 1. Any bytes become cards: lines with LF or CRLF, or, without any line end, pieces of 80.
//! 2. In a line, a tab in front of the text leads to the next column of 9, 17, ...; within the text
//!    of a card it is a byte as any other, and so it is in cards without line ends. Columns behind
//!    80 are left away.
//! 3. Cards are numbered from 1, blank ones too.

/// The columns of a card.
pub(crate) const COLUMNS: usize = 80;
/// The last column that is read.
pub(crate) const LAST: usize = 71;
/// The column that continues a card.
pub(crate) const MARK: usize = 72;
/// Where tabs lead.
const TAB: usize = 8;
/// What stands in front of a card's text.
const TEXT: usize = 15;

/// A card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Card {
    pub(crate) number: u32,
    columns: [u8; COLUMNS],
}

impl Card {
    /// The card of a line, in which somebody may have typed tabs.
    pub(crate) fn of_line(number: usize, line: &[u8]) -> Self {
        let mut typed = Vec::with_capacity(COLUMNS);
        for byte in line {
            match byte {
                b'\t' if typed.len() < TEXT => typed.resize((typed.len() / TAB + 1) * TAB, b' '),
                byte => typed.push(*byte),
            }
        }
        Card::new(number, &typed)
    }

    pub(crate) fn new(number: usize, bytes: &[u8]) -> Self {
        let mut columns = [b' '; COLUMNS];
        let len = bytes.len().min(COLUMNS);
        columns[..len].copy_from_slice(&bytes[..len]);
        Card { number: u32::try_from(number).unwrap_or(u32::MAX), columns }
    }

    /// What stands in a column, from 1.
    pub(crate) fn column(&self, column: usize) -> u8 {
        self.columns[column - 1]
    }

    /// What stands in columns, both included.
    pub(crate) fn columns(&self, from: usize, to: usize) -> &[u8] {
        &self.columns[from - 1..to]
    }

    /// What stands in columns without blanks around it.
    pub(crate) fn trimmed(&self, from: usize, to: usize) -> &[u8] {
        self.columns(from, to).trim_ascii()
    }

    /// The text of a card: SSA or data.
    pub(crate) fn text(&self) -> &[u8] {
        self.columns(16, LAST)
    }

    /// Columns 73 to 80 of a merge: group and number; `None` where they are blank.
    pub(crate) fn place(&self) -> Option<(&[u8], &[u8])> {
        let is_there = self.columns(MARK + 1, COLUMNS).iter().any(|byte| *byte != b' ');
        is_there.then(|| (self.columns(73, 74), self.columns(75, COLUMNS)))
    }

    /// The same card with another number.
    pub(crate) fn numbered(&self, number: usize) -> Card {
        Card { number: u32::try_from(number).unwrap_or(u32::MAX), ..*self }
    }

    /// Columns 10 to 13.
    pub(crate) fn function(&self) -> [u8; 4] {
        let mut function = [0; 4];
        function.copy_from_slice(self.columns(10, 13));
        function
    }

    pub(crate) fn is_continued(&self) -> bool {
        self.column(MARK) != b' '
    }

    /// Whether there is nothing on it, no mark either.
    pub(crate) fn is_blank(&self) -> bool {
        self.columns(1, MARK).iter().all(|byte| *byte == b' ')
    }
}

/// The cards of a deck.
pub(crate) fn cards(bytes: &[u8]) -> Vec<Card> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if !bytes.contains(&b'\n') {
        let number = |(index, card): (usize, &[u8])| Card::new(index + 1, card);
        return bytes.chunks(COLUMNS).enumerate().map(number).collect();
    }
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let number = |(index, line): (usize, &[u8])| Card::of_line(index + 1, line);
    let lines = bytes.split(|byte| *byte == b'\n');
    lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line)).enumerate().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(bytes: &[u8]) -> Vec<String> {
        let text = |card: &Card| String::from_utf8_lossy(card.columns(1, 80)).into_owned();
        cards(bytes).iter().map(|card| text(card).trim_end().to_owned()).collect()
    }

    #[test]
    fn lines_and_fixed_cards_are_cards() {
        assert_eq!(texts(b""), [""; 0]);
        assert_eq!(texts(b"L"), ["L"]);
        assert_eq!(texts(b"L\n\nU\n"), ["L", "", "U"]);
        assert_eq!(texts(b"L\r\nU\r\n"), ["L", "U"]);
        assert_eq!(texts(b"\xef\xbb\xbfL"), ["L"]);
        let fixed = format!("{:80}{:80}U", "L        GU", "E");
        assert_eq!(texts(fixed.as_bytes()), ["L        GU", "E", "U"]);
    }

    #[test]
    fn tabs_lead_to_the_next_stop() {
        assert_eq!(texts(b"L\tGU\tX\n"), ["L       GU      X"]);
    }

    #[test]
    fn a_tab_within_the_text_is_a_byte() {
        let card = "L        DATA  \t1\t2";
        assert_eq!(texts(format!("{card}\n").as_bytes()), [card]);
        let fixed = format!("{:80}{:80}", "L\tGU", card);
        assert_eq!(texts(fixed.as_bytes()), ["L\tGU", card]);
    }

    #[test]
    fn columns_behind_the_last_are_left_away() {
        let long = "x".repeat(300);
        assert_eq!(texts(long.as_bytes()).len(), 4);
        assert_eq!(texts(format!("{long}\n").as_bytes()), ["x".repeat(80)]);
    }
}
