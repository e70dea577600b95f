//! What a fuzzer does with this crate.

use std::convert::Infallible;

use codec::CodePage;

use crate::parse::parse;
use crate::run::{Event, Feedback, Observer, Program, Request, run};
use crate::statement::PcbChoice;
use crate::{JsonLines, Report};

/// The most calls that a deck is let issue, for the time it takes.
const CALLS: u32 = 40;

/// A program whose answers follow from the calls.
#[derive(Default)]
struct Echo {
    calls: u32,
}

impl Program for Echo {
    type Error = Infallible;

    fn choose(&mut self, pcb: &PcbChoice) -> Result<bool, Infallible> {
        Ok(!matches!(pcb, PcbChoice::Number(0)))
    }

    fn call(&mut self, request: &Request<'_>, area: &mut [u8]) -> Result<Feedback, Infallible> {
        self.calls += 1;
        let key = request.ssas.last().cloned().unwrap_or_default();
        let filled = request.data.iter().sum::<usize>().max(key.len()).min(area.len());
        let status = if self.calls > CALLS { *b"GB" } else { *b"  " };
        let level = request.ssas.len() as u8;
        Ok(Feedback { level, status, segment: *b"SEGMENT ", key, filled })
    }
}

/// An observer that is told by both.
struct Both<'a>(&'a mut dyn Observer, &'a mut dyn Observer);

impl Observer for Both<'_> {
    fn notice(&mut self, event: &Event<'_>) -> std::io::Result<()> {
        self.0.notice(event)?;
        self.1.notice(event)
    }
}

/// Reads bytes as a deck, issues its calls to a program that echoes, and writes both reports.
///
/// # Panics
/// If that does not end well: that is the bug that is looked for.
pub fn exercise(bytes: &[u8]) {
    let deck = parse(bytes);
    let (mut lines, mut notes, mut text) = (Vec::new(), Vec::new(), Vec::new());
    let mut json = JsonLines::new(&mut lines, &mut notes);
    let mut report = Report::new(&mut text, CodePage::Ascii);
    let mut both = Both(&mut json, &mut report);
    let summary = run(&deck, &mut Echo::default(), &mut both).expect("nothing can fail");
    let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    assert_eq!(lines.count() as u64, summary.calls, "a line a call");
    assert!(summary.different <= summary.compared);
    assert!(String::from_utf8(text).is_ok());
}
