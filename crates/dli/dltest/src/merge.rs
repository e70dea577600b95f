//! A second stream of cards, `SYSIN2`, merged into the first by what stands in columns 73 to 80.
//!
//! | columns | hold |
//! |---|---|
//! | 73-74 | the control group |
//! | 75-80 | the number within the group |
//!
//! Groups need not ascend, but have one order in both streams; numbers ascend within a group. A
//! card of the second stream stands in front of the card with the next higher number of its group,
//! behind the last one if there is none, and in place of a card with its own number. What is left
//! of the second stream at the end of the first goes on behind it.
//!
//! Invariants:
//!
//! 1. A card with blanks in columns 73 to 80 takes no part: it is left out, and said.
//! 2. The merged cards are numbered anew, from 1, in the order in which they are issued.

use std::iter::Peekable;
use std::vec::IntoIter;

use crate::card::{Card, cards};
use crate::fault::{self, CardError};

/// The cards of a deck, up to the end card.
pub(crate) fn deck(bytes: &[u8]) -> Vec<Card> {
    let mut all = cards(bytes);
    let end = all.iter().position(|card| card.columns(1, 2) == b"/*").unwrap_or(all.len());
    all.truncate(end);
    all
}

/// Merges a second stream into the first. Answers the cards, and what was left out.
pub(crate) fn merge(first: &[u8], second: &[u8]) -> (Vec<Card>, Vec<CardError>) {
    let mut left_out = Vec::new();
    let first = placed(deck(first), "SYSIN", &mut left_out);
    let mut second = placed(deck(second), "SYSIN2", &mut left_out).into_iter().peekable();
    let mut merged = Vec::with_capacity(first.len() + second.len());
    let mut group: Option<[u8; 2]> = None;
    for card in first {
        let Some((of, number)) = card.place() else { continue };
        if group.is_some_and(|group| group[..] != *of) {
            take_while(&mut second, &mut merged, |other| is_of(other, group));
        }
        group = of.first_chunk().copied();
        let is_before = |other: &Card| other.place().is_some_and(|(_, one)| one < number);
        take_while(&mut second, &mut merged, |other| is_of(other, group) && is_before(other));
        let is_same = |other: &Card| is_of(other, group) && other.place() == card.place();
        if !take_while(&mut second, &mut merged, is_same) {
            merged.push(card);
        }
    }
    merged.extend(second);
    let numbered = merged.iter().enumerate().map(|(at, card)| card.numbered(at + 1));
    (numbered.collect(), left_out)
}

fn is_of(card: &Card, group: Option<[u8; 2]>) -> bool {
    let Some((of, _)) = card.place() else { return false };
    group.is_some_and(|group| group[..] == *of)
}

/// Takes the next cards as long as they are wanted; whether there was any.
fn take_while(
    from: &mut Peekable<IntoIter<Card>>,
    to: &mut Vec<Card>,
    is_wanted: impl Fn(&Card) -> bool,
) -> bool {
    let before = to.len();
    while let Some(card) = from.next_if(|card| is_wanted(card)) {
        to.push(card);
    }
    to.len() > before
}

/// The cards that have a place; the others are said, but for those with nothing on them.
fn placed(cards: Vec<Card>, stream: &str, left_out: &mut Vec<CardError>) -> Vec<Card> {
    let (placed, others): (Vec<Card>, Vec<Card>) =
        cards.into_iter().partition(|card| card.place().is_some());
    let unplaced = others.into_iter().filter(|card| !card.is_blank());
    left_out.extend(unplaced.map(|card| CardError {
        card: card.number,
        column: 73,
        code: fault::UNPLACED,
        message: format!("a card of {stream} has nothing here, and takes no part in the merge"),
    }));
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(cards: &[(&str, &str)]) -> Vec<u8> {
        let card = |(text, place): &(&str, &str)| format!("{text:72}{place}\n");
        cards.iter().map(card).collect::<String>().into_bytes()
    }

    fn merged(first: &[(&str, &str)], second: &[(&str, &str)]) -> (Vec<String>, usize) {
        let (cards, left_out) = merge(&stream(first), &stream(second));
        assert!(cards.iter().enumerate().all(|(at, card)| card.number as usize == at + 1));
        let text = |card: &Card| String::from_utf8_lossy(card.columns(1, 71)).trim_end().to_owned();
        (cards.iter().map(text).collect(), left_out.len())
    }

    #[test]
    fn cards_stand_where_their_numbers_say_and_replace_those_of_the_same_number() {
        let first = [("U A1", "AA000010"), ("U A2", "AA000020"), ("U B1", "BB000010")];
        let (cards, left_out) = merged(
            &first,
            &[
                ("U BEFORE", "AA000005"),
                ("U FOR A2", "AA000020"),
                ("U BEHIND", "AA000030"),
                ("U FOR B1", "BB000010"),
                ("U LAST", "CC000001"),
            ],
        );
        assert_eq!(cards, ["U BEFORE", "U A1", "U FOR A2", "U BEHIND", "U FOR B1", "U LAST"]);
        assert_eq!(left_out, 0);
        assert_eq!(merged(&first, &[]).0, ["U A1", "U A2", "U B1"]);
    }

    #[test]
    fn groups_have_the_order_of_the_first_stream_whatever_their_names() {
        let first = [("U Z", "ZZ000010"), ("U A", "AA000010")];
        let second = [("U Z2", "ZZ000020"), ("U A0", "AA000001")];
        assert_eq!(merged(&first, &second).0, ["U Z", "U Z2", "U A0", "U A"]);
        // A group that the first stream lacks comes at the end, with all behind it.
        let second = [("U M", "MM000001"), ("U A0", "AA000001")];
        assert_eq!(merged(&first, &second).0, ["U Z", "U A", "U M", "U A0"]);
    }

    #[test]
    fn a_card_without_a_place_is_left_out_and_said() {
        let (cards, left_out) = merged(
            &[("U A1", "AA000010"), ("U NOWHERE", ""), ("", "")],
            &[("U TOO", ""), ("U A2", "AA000020")],
        );
        assert_eq!((cards, left_out), (vec!["U A1".to_owned(), "U A2".to_owned()], 2));
    }
}
