//! What is said about a COBOL source, with the line and carets below the word.
//!
//! Invariants:
//!
//! 1. Lines and columns count from 1; columns count bytes, as the compiler's columns do.
//! 2. Showing never fails, whatever bytes the line has.

use std::fmt;

/// Something in a source that cannot be translated. The translation is then not to be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// A stable code such as `HFX021`; see [`CODES`](crate::CODES).
    pub code: &'static str,
    /// The file as its caller named it, or the COPY member.
    pub file: String,
    /// Which line of that file.
    pub line: usize,
    /// Where in the line the word begins.
    pub column: usize,
    /// How long the word is.
    pub len: usize,
    /// What is the matter, and with which word.
    pub message: String,
    /// What to do, as an imperative sentence.
    pub help: String,
    /// The line as it was read; empty if it is too long to be shown.
    pub card: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Diagnostic { code, file, line, column, message, .. } = self;
        writeln!(f, "error {code}: {message}")?;
        writeln!(f, "  --> {file}:{line}:{column}")?;
        if !self.card.is_empty() {
            self.show_card(f)?;
        }
        if self.help.is_empty() { Ok(()) } else { writeln!(f, "  = help: {}", self.help) }
    }
}

impl Diagnostic {
    fn show_card(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let visible = |c: char| if c.is_control() { '.' } else { c };
        let card: String = self.card.chars().map(visible).collect();
        let before = " ".repeat(self.column.saturating_sub(1));
        let room = card.chars().count().saturating_sub(before.len());
        let carets = "^".repeat(self.len.min(room).max(1));
        writeln!(f, " {margin} |")?;
        writeln!(f, " {number} | {}", card.trim_end())?;
        writeln!(f, " {margin} | {before}{carets}")
    }
}

impl std::error::Error for Diagnostic {}

/// What a step of the translation answers.
pub(crate) type Checked<T> = Result<T, Box<Diagnostic>>;

impl base::Coded for Diagnostic {
    fn code(&self) -> base::Code {
        base::Code(self.code)
    }

    fn remedy(&self) -> String {
        self.help.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_carets_stand_below_the_word() {
        let wrong = Diagnostic {
            code: "HFX021",
            file: "teller.cbl".into(),
            line: 12,
            column: 12,
            len: 3,
            message: "XYZ is no option".into(),
            help: "Leave it out.".into(),
            card: "           XYZ\t".into(),
        };
        let expected = "error HFX021: XYZ is no option\n  --> teller.cbl:12:12\n    |\n\
                        \x2012 |            XYZ.\n    |            ^^^\n\
                        \x20 = help: Leave it out.\n";
        assert_eq!(wrong.to_string(), expected);
    }
}
