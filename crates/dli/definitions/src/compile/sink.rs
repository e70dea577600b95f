//! Where the compiler puts what it has to say.

use macros::{Diagnostic, Place, Severity};

/// Gathers diagnostics and counts those that spoil a member.
#[derive(Default)]
pub(super) struct Sink {
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl Sink {
    pub(super) fn error(&mut self, code: &'static str, place: Place, message: impl Into<String>) {
        self.put(Severity::Error, code, place, message.into(), None);
    }

    pub(super) fn warning(&mut self, code: &'static str, place: Place, message: impl Into<String>) {
        self.put(Severity::Warning, code, place, message.into(), None);
    }

    pub(super) fn note(&mut self, code: &'static str, place: Place, message: impl Into<String>) {
        self.put(Severity::Note, code, place, message.into(), None);
    }

    /// Adds what to do to the diagnostic that was put last.
    pub(super) fn help(&mut self, help: impl Into<String>) {
        if let Some(last) = self.diagnostics.last_mut() {
            last.help = Some(help.into());
        }
    }

    fn put(
        &mut self,
        severity: Severity,
        code: &'static str,
        place: Place,
        message: String,
        help: Option<String>,
    ) {
        self.diagnostics.push(Diagnostic { severity, code, place, message, help });
    }

    /// In the order of the source, each once: statements that members share were read for each.
    pub(super) fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        self.diagnostics.sort_by_key(|one| one.place);
        let mut unique: Vec<Diagnostic> = Vec::with_capacity(self.diagnostics.len());
        for one in self.diagnostics {
            let mut here = unique.iter().rev().take_while(|other| other.place == one.place);
            if here.all(|other| *other != one) {
                unique.push(one);
            }
        }
        unique
    }

    /// How many diagnostics of that severity were put since there were `from`.
    pub(super) fn count(&self, from: usize, severity: Severity) -> usize {
        let new = self.diagnostics.iter().skip(from);
        new.filter(|one| one.severity == severity).count()
    }
}
