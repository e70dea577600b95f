//! Every source that was read, with its cards, so that a diagnostic can show what it is about.
//!
//! Invariants:
//!
//! 1. A source is never removed, so a [`SourceId`] stays good as long as its [`Sources`].
//! 2. Cards are kept as they were read: decoded, tabs expanded. Columns count these characters.
//! 3. What a macro made is a source of its own: its places have the card of the call in them, and
//!    it knows the macro's card. So each diagnostic can point at both.
//! 4. Showing never fails: a place that lies nowhere is shown without its card.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::statement::{Place, SourceId};

/// Every source of a run.
#[derive(Debug, Default)]
pub struct Sources {
    entries: Vec<Entry>,
    made: BTreeMap<(Place, Place), SourceId>,
}

#[derive(Debug)]
enum Entry {
    File(File),
    Made(Made),
}

#[derive(Debug)]
struct File {
    path: PathBuf,
    cards: Arc<[String]>,
    /// The member's name and the place of the COPY that asked for it.
    copied: Option<(String, Place)>,
}

/// A card of a macro, during one call of it.
#[derive(Debug)]
struct Made {
    call: Place,
    body: Place,
    name: String,
}

impl Sources {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The path of a source; of what a macro made, that of its call.
    #[must_use]
    pub fn path(&self, source: SourceId) -> &Path {
        self.file(source).map_or(Path::new("?"), |file| &file.path)
    }

    /// The card at a place.
    #[must_use]
    pub fn card(&self, place: Place) -> Option<&str> {
        let index = usize::try_from(place.card).ok()?.checked_sub(1)?;
        self.file(place.source)?.cards.get(index).map(String::as_str)
    }

    /// Adds a file; `copied` says which COPY asked for which member, if one did.
    pub(crate) fn add(
        &mut self,
        path: &Path,
        cards: Vec<String>,
        copied: Option<(String, Place)>,
    ) -> SourceId {
        self.push(Entry::File(File { path: path.to_owned(), cards: cards.into(), copied }))
    }

    /// The source of what the card at `body` makes for the call at `call` of the macro `name`.
    pub(crate) fn made_by(&mut self, call: Place, body: Place, name: &str) -> SourceId {
        if let Some(known) = self.made.get(&(call, body)) {
            return *known;
        }
        let id = self.push(Entry::Made(Made { call, body, name: name.to_owned() }));
        self.made.insert((call, body), id);
        id
    }

    fn push(&mut self, entry: Entry) -> SourceId {
        let id = SourceId(u32::try_from(self.entries.len()).unwrap_or(u32::MAX));
        self.entries.push(entry);
        id
    }

    fn entry(&self, source: SourceId) -> Option<&Entry> {
        self.entries.get(usize::try_from(source.0).ok()?)
    }

    fn file(&self, source: SourceId) -> Option<&File> {
        match self.entry(source)? {
            Entry::File(file) => Some(file),
            // A call's own place always lies in a file.
            Entry::Made(made) => match self.entry(made.call.source)? {
                Entry::File(file) => Some(file),
                Entry::Made(_) => None,
            },
        }
    }

    /// The cards of a file.
    pub(crate) fn cards(&self, source: SourceId) -> Arc<[String]> {
        self.file(source).map(|file| Arc::clone(&file.cards)).unwrap_or_default()
    }

    /// The COPY members that a source lies in, innermost first.
    pub(crate) fn members(&self, source: SourceId) -> impl Iterator<Item = (&str, Place)> {
        let mut next = Some(source);
        std::iter::from_fn(move || {
            let (name, place) = self.file(next?)?.copied.as_ref()?;
            next = Some(place.source);
            Some((name.as_str(), *place))
        })
    }

    /// Where a place lies in the file that was read first: that of the call, and of the COPY.
    pub(crate) fn outermost(&self, place: Place) -> Place {
        let call = match self.entry(place.source) {
            Some(Entry::Made(made)) => made.call,
            _ => place,
        };
        self.members(call.source).last().map_or(call, |(_, copy)| copy)
    }

    /// A diagnostic for people: what is the matter, where, the card, and a line of carets below
    /// the word; then what to do, and which macro or COPY the card came from.
    #[must_use]
    pub fn show(&self, diagnostic: &Diagnostic) -> String {
        let place = diagnostic.place;
        let mut out =
            format!("{} {}: {}\n", diagnostic.severity, diagnostic.code, diagnostic.message);
        self.show_place(&mut out, place);
        if let Some(help) = &diagnostic.help {
            let _ = writeln!(out, "  = help: {help}");
        }
        let mut inside = place.source;
        if let Some(Entry::Made(made)) = self.entry(place.source) {
            let _ = writeln!(out, "  = note: made by this card of the macro {}", made.name);
            self.show_place(&mut out, made.body);
            inside = made.body.source;
        }
        for (name, place) in self.members(inside).take(8) {
            let path = self.path(place.source).display();
            let _ = writeln!(out, "  = note: {name} is copied at {path}:{}", place.card);
        }
        out
    }

    fn show_place(&self, out: &mut String, place: Place) {
        let path = self.path(place.source).display();
        let _ = writeln!(out, "  --> {path}:{}:{}", place.card, place.column);
        let Some(card) = self.card(place) else { return };
        let visible = |c: char| if c.is_control() { '.' } else { c };
        let card: String = card.chars().map(visible).collect();
        let number = place.card.to_string();
        let margin = " ".repeat(number.len());
        let before = " ".repeat(usize::from(place.column.saturating_sub(1)));
        let carets = "^".repeat(usize::from(place.len.max(1)));
        let _ = writeln!(out, " {margin} |");
        let _ = writeln!(out, " {number} | {}", card.trim_end());
        let _ = writeln!(out, " {margin} | {before}{carets}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Severity;

    fn wrong(place: Place) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code: "HFA000",
            place,
            message: "NAME is wrong".into(),
            help: Some("Write another.".into()),
        }
    }

    #[test]
    fn a_diagnostic_shows_its_card_with_carets_below_the_word() {
        let mut sources = Sources::new();
        let cards = vec![String::new(), "         SEGM  NAME=A".into()];
        let source = sources.add(Path::new("bank.dbd"), cards, None);
        let shown = sources.show(&wrong(Place { source, card: 2, column: 16, len: 4 }));
        let expected = "error HFA000: NAME is wrong\n  --> bank.dbd:2:16\n   |\n\
                        \x202 |          SEGM  NAME=A\n   |                ^^^^\n\
                        \x20 = help: Write another.\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_a_macro_made_shows_the_call_and_the_macros_card() {
        let mut sources = Sources::new();
        let text = |text: &str| vec![text.to_owned()];
        let file = sources.add(Path::new("bank.dbd"), text("         TWIN X"), None);
        let call = Place { source: file, card: 1, column: 10, len: 4 };
        let member = Some(("TWINS".to_owned(), call));
        let copied = sources.add(Path::new("twins.mac"), text("         SEGM NAME=&N"), member);
        let body = Place { source: copied, card: 1, column: 10, len: 4 };
        let source = sources.made_by(call, body, "TWIN");
        assert_eq!(source, sources.made_by(call, body, "TWIN"));
        let shown = sources.show(&wrong(Place { source, ..call }));
        for part in ["bank.dbd:1:10", "         TWIN X", "macro TWIN", "twins.mac:1:10", "SEGM"] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
        assert!(shown.contains("TWINS is copied at bank.dbd:1"), "{shown}");
    }

    #[test]
    fn places_that_lie_nowhere_are_shown_too() {
        let sources = Sources::new();
        let place = Place { source: SourceId(7), card: 9, column: 80, len: 3 };
        assert!(sources.show(&wrong(place)).contains("?:9:80"));
    }
}
