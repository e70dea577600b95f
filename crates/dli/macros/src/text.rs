//! Characters that know where they stand, and the rules of apostrophes and parentheses.
//!
//! Invariants:
//!
//! 1. Every character of a statement, also one that came from a variable, has a card and column.
//! 2. [`Scan`] is the only judge of whether an apostrophe opens a text or belongs to an attribute
//!    reference such as `L'FIELD` or `T'&X`.

use crate::statement::{Place, SourceId};

/// A character and where it stands; 8 bytes, since a source has many of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) ch: char,
    /// Which card of the statement, from 0.
    pub(crate) card: u16,
    pub(crate) column: u8,
    /// Columns taken: more than one only for what stands for a whole reference.
    pub(crate) width: u8,
}

/// The cells of a label, an operation, or operands.
pub(crate) type Text = Vec<Cell>;

/// The characters alone.
pub(crate) fn string(cells: &[Cell]) -> String {
    cells.iter().map(|cell| cell.ch).collect()
}

/// The characters for a message, which need not be all of them.
pub(crate) fn shown(cells: &[Cell]) -> String {
    const MOST: usize = 40;
    let dots = if cells.len() > MOST { "..." } else { "" };
    string(&cells[..cells.len().min(MOST)]) + dots
}

/// Letters, digits, and what counts as letters.
pub(crate) fn is_symbol(ch: char) -> bool {
    ch.is_ascii_digit() || is_letter(ch)
}

/// What a symbol may begin with.
pub(crate) fn is_letter(ch: char) -> bool {
    ch.is_ascii_alphabetic() || matches!(ch, '@' | '#' | '$' | '_')
}

/// Where the cells of a statement belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) source: SourceId,
    /// The statement's first card.
    pub(crate) card: u32,
    /// Where everything stands instead, if a macro made it.
    pub(crate) anchor: Option<Place>,
}

impl Origin {
    /// The place of the cells from `start` up to `end`; if there are none, of the next one, or of
    /// the column behind the last.
    pub(crate) fn place(&self, cells: &[Cell], start: usize, end: usize) -> Place {
        if let Some(anchor) = self.anchor {
            return anchor;
        }
        let behind = |cell: &Cell| u16::from(cell.column) + u16::from(cell.width);
        let Some(first) = cells.get(start) else {
            let last = cells.last();
            let (card, column) = last.map_or((0, 1), |last| (last.card, behind(last)));
            return self.at(card, column, 1);
        };
        let part = cells.get(start..end).unwrap_or_default();
        let on_card = part.iter().take_while(|cell| cell.card == first.card);
        let stop = on_card.map(behind).max().unwrap_or_default();
        let column = u16::from(first.column);
        self.at(first.card, column, stop.saturating_sub(column).max(1))
    }

    fn at(&self, card: u16, column: u16, len: u16) -> Place {
        Place { source: self.source, card: self.card.saturating_add(card.into()), column, len }
    }
}

/// Goes through text and knows whether it is between apostrophes, and how many parentheses are
/// open.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scan {
    pub(crate) quoted: bool,
    pub(crate) depth: u32,
    last: Option<char>,
    before: Option<char>,
}

impl Scan {
    /// Takes the next character; `next` is the one behind it.
    pub(crate) fn step(&mut self, ch: char, next: Option<char>) {
        match ch {
            '\'' if self.quoted => self.quoted = false,
            '\'' if !self.is_attribute(next) => self.quoted = true,
            '(' if !self.quoted => self.depth += 1,
            ')' if !self.quoted => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.before = self.last.replace(ch);
    }

    /// Takes the cell at `at`.
    pub(crate) fn step_cell(&mut self, cells: &[Cell], at: usize) {
        if let Some(cell) = cells.get(at) {
            self.step(cell.ch, cells.get(at + 1).map(|cell| cell.ch));
        }
    }

    /// Whether an apostrophe here follows an attribute's letter and precedes a symbol.
    fn is_attribute(&self, next: Option<char>) -> bool {
        let Some(letter) = self.last else { return false };
        let stands_alone = self.before.is_none_or(|ch| !is_symbol(ch) && ch != '&');
        let has_symbol = next.is_some_and(|ch| is_letter(ch) || ch == '&');
        let is_letter =
            matches!(letter.to_ascii_uppercase(), 'L' | 'T' | 'K' | 'N' | 'I' | 'S' | 'O' | 'D');
        is_letter
            && stands_alone
            && (has_symbol || (letter.eq_ignore_ascii_case(&'L') && next == Some('=')))
    }
}

/// Where the comma or closing parenthesis that ends a part stands, from `at`; else the end.
pub(crate) fn end_of_part(cells: &[Cell], at: usize) -> usize {
    let mut scan = Scan::default();
    for (index, cell) in cells.iter().enumerate().skip(at) {
        if !scan.quoted && scan.depth == 0 && matches!(cell.ch, ',' | ')') {
            return index;
        }
        scan.step_cell(cells, index);
    }
    cells.len()
}

/// Where the parenthesis closes that opens at `at`.
pub(crate) fn closing(cells: &[Cell], at: usize) -> Option<usize> {
    let mut scan = Scan::default();
    for (index, cell) in cells.iter().enumerate().skip(at) {
        scan.step_cell(cells, index);
        if scan.depth == 0 && !scan.quoted {
            return (cell.ch == ')').then_some(index);
        }
    }
    None
}

/// Cells in a row on one card, for tests.
#[cfg(test)]
pub(crate) fn cells(text: &str) -> Text {
    let cell = |(index, ch)| Cell { ch, card: 0, column: index as u8 + 1, width: 1 };
    text.chars().enumerate().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends_quoted(text: &str) -> bool {
        let cells = cells(text);
        let mut scan = Scan::default();
        (0..cells.len()).for_each(|at| scan.step_cell(&cells, at));
        scan.quoted
    }

    #[test]
    fn apostrophes_of_attributes_open_nothing() {
        for text in ["L'FIELD", "A+L'X", "(T'&A", "K'&B", "N'&SYSLIST", "L'=F", "(L'A,L'B)"] {
            assert!(!ends_quoted(text), "{text}");
        }
        for text in ["X'4", "C'A", "'A", "AL'X", "L'4", "&L'A", "L' "] {
            assert!(ends_quoted(text), "{text}");
        }
        for text in ["''", "'A''B'", "'L'", "'yyyy-MM-dd''T''HH:mm:ss'", "X'40'"] {
            assert!(!ends_quoted(text), "{text}");
        }
    }

    #[test]
    fn parts_end_at_commas_outside_of_everything() {
        assert_eq!(end_of_part(&cells("A,B"), 0), 1);
        assert_eq!(end_of_part(&cells("(A,B),C"), 0), 5);
        assert_eq!(end_of_part(&cells("'A,B',C"), 0), 5);
        assert_eq!(end_of_part(&cells("L'A,B"), 0), 3);
        assert_eq!(end_of_part(&cells("A"), 0), 1);
        assert_eq!(end_of_part(&cells("A"), 9), 1);
    }

    #[test]
    fn parentheses_close_where_they_were_opened() {
        assert_eq!(closing(&cells("(A(B)')')C)"), 0), Some(8));
        assert_eq!(closing(&cells("(A"), 0), None);
        assert_eq!(closing(&cells("A)"), 0), None);
        assert_eq!(closing(&cells(""), 0), None);
    }

    #[test]
    fn places_lie_on_one_card() {
        let mut text = cells("NAME=LONG");
        text[7].card = 1;
        text[8].card = 1;
        let origin = Origin { source: SourceId(3), card: 10, anchor: None };
        let place = origin.place(&text, 5, 9);
        assert_eq!((place.card, place.column, place.len), (10, 6, 2));
        let place = origin.place(&text, 9, 9);
        assert_eq!((place.card, place.column, place.len), (11, 10, 1));
        let place = origin.place(&[], 0, 0);
        assert_eq!((place.card, place.column, place.len), (10, 1, 1));
    }
}
