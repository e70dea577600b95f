//! A compiler's messages, with the lines that they mean.
//!
//! Invariants:
//! 1. Every line of the compiler is kept; the names of files that we made become those of the files
//!    that they were made of.

use std::path::Path;

/// A file as the compiler knows it, as the user knows it, and what the user sees in it.
pub(super) struct Shown<'a> {
    pub(super) compiled: &'a str,
    pub(super) original: &'a Path,
    pub(super) text: &'a [u8],
}

/// The messages for people.
pub(super) fn for_people(messages: &str, files: &[Shown<'_>]) -> String {
    let mut out = String::new();
    for line in messages.lines() {
        let found = located(line).and_then(|(file, number, text)| {
            let known = |shown: &&Shown<'_>| shown.compiled == base_name(file);
            files.iter().find(known).map(|shown| (shown, number, text))
        });
        let Some((shown, number, text)) = found else {
            out.push_str(line);
            out.push('\n');
            continue;
        };
        out.push_str(&format!("{}:{number}: {}\n", shown.original.display(), text.trim()));
        let source = shown.text.split(|byte| *byte == b'\n').nth(number.saturating_sub(1));
        if let Some(source) = source {
            let source = String::from_utf8_lossy(source);
            out.push_str(&format!("{number:>6} | {}\n", source.trim_end()));
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// `file:line: text`
fn located(line: &str) -> Option<(&str, usize, &str)> {
    let (file, rest) = line.split_once(':')?;
    let (number, text) = rest.split_once(':')?;
    Some((file, number.parse().ok()?, text))
}

fn base_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_shows_the_line_of_the_original() {
        let text = b"first\n  MOVE NOSUCH TO X.\nlast\n";
        let files = [Shown { compiled: "P.cbl", original: Path::new("src/teller.cbl"), text }];
        let messages = "dir/P.cbl:2: error: 'NOSUCH' is not defined\ncobc: note\n";
        let expected = "src/teller.cbl:2: error: 'NOSUCH' is not defined\n     \
            2 |   MOVE NOSUCH TO X.\ncobc: note";
        assert_eq!(for_people(messages, &files), expected);
    }
}
