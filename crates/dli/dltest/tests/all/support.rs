//! What several tests need: cards by columns, and a program that answers as it is told.

use std::collections::VecDeque;
use std::convert::Infallible;

use holdfast_dltest::{
    AibCodes, Call, CardError, Deck, Event, Feedback, Item, Observer, PcbChoice, Program, Request,
    parse,
};

/// A card: words, each with the column where it begins.
pub(crate) fn card(words: &[(usize, &str)]) -> String {
    let mut card = " ".repeat(80);
    for (column, word) in words {
        card.replace_range(column - 1..column - 1 + word.len(), word);
    }
    card + "\n"
}

pub(crate) fn deck(cards: &[&str]) -> Deck {
    parse(cards.join("\n").as_bytes())
}

pub(crate) fn calls(deck: &Deck) -> Vec<&Call> {
    let items = deck.items.iter();
    items
        .filter_map(|item| if let Item::Call(call) = item { Some(&**call) } else { None })
        .collect()
}

pub(crate) fn errors(deck: &Deck) -> Vec<&CardError> {
    let items = deck.items.iter();
    items
        .filter_map(|item| if let Item::Wrong(error) = item { Some(error) } else { None })
        .collect()
}

/// The SSAs of a call as text.
pub(crate) fn ssas(call: &Call) -> Vec<String> {
    call.ssas.iter().map(|ssa| String::from_utf8_lossy(ssa).into_owned()).collect()
}

/// An answer: status, level, segment, key, and what is put into the I/O area.
pub(crate) type Answer = (&'static str, u8, &'static str, &'static str, &'static [u8]);

pub(crate) const FINE: Answer = ("  ", 1, "ROOT", "A1", b"A1 DATA");

/// A program that gives answers in their order, and writes down what it was asked.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) answers: VecDeque<Answer>,
    /// Each call: function, SSAs, lengths of data, and the first bytes of the I/O area.
    pub(crate) asked: Vec<(String, Vec<String>, Vec<usize>, String)>,
    pub(crate) chosen: Vec<String>,
    /// What the AIB of each call says, if it uses one.
    pub(crate) codes: AibCodes,
}

impl Script {
    pub(crate) fn new(answers: &[Answer]) -> Self {
        Script { answers: answers.iter().copied().collect(), ..Script::default() }
    }
}

impl Program for Script {
    type Error = Infallible;

    fn choose(&mut self, pcb: &PcbChoice) -> Result<bool, Infallible> {
        self.chosen.push(format!("{pcb:?}"));
        Ok(*pcb != PcbChoice::Name("NOWHERE".to_owned()))
    }

    fn pcbs(&self) -> Vec<String> {
        vec!["IOPCB".into(), "CUSTDB".into()]
    }

    fn call(&mut self, request: &Request<'_>, area: &mut [u8]) -> Result<Feedback, Infallible> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let ssas = request.ssas.iter().map(|ssa| text(ssa)).collect();
        let data = request.data.to_vec();
        self.asked.push((text(&request.function.bytes()), ssas, data, text(&area[..120])));
        let (status, level, name, key, data) = self.answers.pop_front().unwrap_or(FINE);
        area[..data.len()].copy_from_slice(data);
        let mut segment = [b' '; 8];
        segment[..name.len()].copy_from_slice(name.as_bytes());
        let status = [status.as_bytes()[0], status.as_bytes()[1]];
        let aib = request.uses_aib.then_some(self.codes);
        let given = request.data.iter().sum();
        Ok(Feedback { level, status, segment, key: key.into(), filled: data.len(), given, aib })
    }
}

/// Writes down what is compared and what is wrong.
#[derive(Default)]
pub(crate) struct Notes(pub(crate) Vec<String>);

impl Observer for Notes {
    fn notice(&mut self, event: &Event<'_>) -> std::io::Result<()> {
        match event {
            Event::Compared(compared) => {
                self.0.push(format!("{}: {}", compared.card, compared.differences.join("; ")));
            }
            Event::Wrong(error) => self.0.push(format!("{} {error}", error.code)),
            _ => {}
        }
        Ok(())
    }
}
