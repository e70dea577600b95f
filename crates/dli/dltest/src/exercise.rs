//! What a fuzzer does with this crate.

use codec::CodePage;

use crate::parse::{parse, parse_merged};
use crate::run::{AibCodes, Both, Feedback, Program, Request, RunError, run};
use crate::statement::{Deck, Item, PcbChoice};
use crate::{JsonLines, Punch, Report};

/// After how many calls all that follow end a repetition, and after how many the run ends, for
/// the time it takes.
const CALLS: u32 = 40;
const CALLS_MAX: u32 = 400;

/// There were too many calls.
#[derive(Debug, thiserror::Error)]
#[error("these are enough calls")]
struct Enough;

/// A program whose answers follow from the calls.
#[derive(Default)]
struct Echo {
    calls: u32,
}

impl Program for Echo {
    type Error = Enough;

    fn choose(&mut self, pcb: &PcbChoice) -> Result<bool, Enough> {
        Ok(!matches!(pcb, PcbChoice::Number(0)))
    }

    fn pcbs(&self) -> Vec<String> {
        vec!["ECHO".to_owned()]
    }

    fn call(&mut self, request: &Request<'_>, area: &mut [u8]) -> Result<Feedback, Enough> {
        if self.calls == CALLS_MAX {
            return Err(Enough);
        }
        self.calls += 1;
        let key = request.ssas.last().cloned().unwrap_or_default();
        let filled = request.data.iter().sum::<usize>().max(key.len()).min(area.len());
        let status = if self.calls > CALLS { *b"GB" } else { *b"  " };
        let level = request.ssas.len() as u8;
        let return_code = if status == *b"  " { 0 } else { 0x900 };
        let aib = request.uses_aib.then_some(AibCodes { return_code, reason: 0 });
        let given = request.data.iter().sum();
        Ok(Feedback { level, status, segment: *b"SEGMENT ", key, filled, given, aib })
    }
}

/// Reads bytes as a deck, and as one that is merged of two parts, issues its calls to a program
/// that echoes, writes both reports and punches. What was punched issues no more calls than there
/// were.
///
/// # Panics
/// If that does not end well: that is the bug that is looked for.
pub fn exercise(bytes: &[u8]) {
    let (first, second) = bytes.split_at(bytes.len() / 2);
    issue(&parse(bytes));
    issue(&parse_merged(first, second));
}

fn issue(deck: &Deck) {
    let (mut lines, mut notes, mut text, mut cards) = <(Vec<_>, Vec<_>, Vec<_>, Vec<_>)>::default();
    let mut json = JsonLines::new(&mut lines, &mut notes);
    let mut report = Report::new(&mut text, CodePage::Ascii);
    let mut punch = Punch::new(&mut cards, deck);
    let mut reports = Both(&mut json, &mut report);
    let mut echo = Echo::default();
    match run(deck, &mut echo, &mut Both(&mut reports, &mut punch)) {
        Ok(summary) => {
            assert_eq!(summary.calls, u64::from(echo.calls));
            assert!(summary.different <= summary.compared);
        }
        Err(RunError::Report(error)) => panic!("nothing can fail: {error}"),
        Err(RunError::Program { .. } | RunError::Abend(_)) => {}
    }
    let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    assert_eq!(lines.count(), echo.calls as usize, "a line a call");
    assert!(String::from_utf8(text).is_ok());
    let is_call = |item: &&Item| matches!(item, Item::Call(_));
    assert!(parse(&cards).items.iter().filter(is_call).count() <= echo.calls as usize);
}
