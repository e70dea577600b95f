//! Patterns of characters: of topic strings in the character scheme, and of LIKE in selectors.

use base::wildcard;

/// A part of a pattern of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    One(char),
    AnyOne,
    Any,
}

impl Piece {
    /// Whether a pattern stands for a text.
    pub(crate) fn fit(pattern: &[Piece], text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let stands_for = |piece: &Piece, own: &char| match piece {
            Piece::One(one) => one == own,
            Piece::AnyOne | Piece::Any => true,
        };
        wildcard::fits(pattern, &text, |piece| *piece == Piece::Any, stands_for)
    }
}
