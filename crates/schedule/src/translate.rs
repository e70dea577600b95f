//! EXEC DLI in sources, on their way to the compiler.
//!
//! Invariants:
//! 1. A source with a command that is not understood is not compiled; each is shown with its line.

use std::path::Path;

use exec_dli::{CONFIGURATION, Members, Options};
use region::program::{Translate, Translated};

/// Translates EXEC DLI commands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Translator {
    /// Sources begin in free format.
    pub is_free: bool,
}

struct Finder<'a>(&'a dyn Fn(&str) -> Option<Vec<u8>>);

impl Members for Finder<'_> {
    fn member(&self, name: &str) -> Option<Vec<u8>> {
        (self.0)(name)
    }
}

impl Translate for Translator {
    fn translate(
        &self,
        file: &Path,
        source: &[u8],
        member: &dyn Fn(&str) -> Option<Vec<u8>>,
    ) -> Result<Translated, String> {
        let name = file.display().to_string();
        let options = Options { file: &name, is_free: self.is_free };
        let made = exec_dli::translate(source, &options, &Finder(member));
        if !made.diagnostics.is_empty() {
            let shown: Vec<String> = made.diagnostics.iter().map(ToString::to_string).collect();
            return Err(shown.join("\n"));
        }
        let members = made.members.into_iter().map(|member| (member.name, member.text));
        Ok(Translated { text: made.text, members: members.collect() })
    }

    fn configuration(&self) -> &str {
        CONFIGURATION
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_command_is_shown_and_a_right_source_is_left_alone() {
        let plain = b"       IDENTIFICATION DIVISION.\n       PROGRAM-ID. PLAIN.\n";
        let file = Path::new("plain.cbl");
        let translator = Translator::default();
        let made = translator.translate(file, plain, &|_| None).expect("a translation");
        assert_eq!((made.text, made.members.len()), (plain.to_vec(), 0));
        let wrong = b"       IDENTIFICATION DIVISION.\n       PROGRAM-ID. WRONG.\n       \
            PROCEDURE DIVISION.\n           EXEC DLI FETCH END-EXEC.\n";
        let error = translator.translate(Path::new("w.cbl"), wrong, &|_| None).unwrap_err();
        assert!(error.contains("w.cbl") && error.contains("HFX020"), "{error}");
    }
}
