//! Type-2 commands: `CREATE TRAN NAME(PART) SET(PGM(DFSSAM02),CLASS(4))`.
//!
//! A command goes on over lines until the next verb or a semicolon. `/* */` encloses comments; a
//! line that begins with `*` or `--` is one.
//!
//! Invariants:
//! 1. A command that has an error yields no change.

use std::path::Path;

use macros::Severity;
use otma::Name;

use crate::attribute::Attribute;
use crate::check::Change;
use crate::codes;
use crate::diagnostic::{Diagnostic, Parsed};
use crate::model::{Definition, Kind, SetError};

/// The most that is said about a file.
const DIAGNOSTICS_MAX: usize = 500;

/// A piece of a command: a word, or one of `(`, `)`, `,` and `;`.
#[derive(Clone, Copy, Debug)]
struct Token<'t> {
    text: &'t str,
    at: usize,
}

/// Whether a word is the verb of a command that defines something.
pub(crate) fn is_verb(word: &str) -> bool {
    verb(word).is_some()
}

fn verb(word: &str) -> Option<&'static str> {
    match word {
        "CREATE" | "CRE" => Some("CREATE"),
        "UPDATE" | "UPD" => Some("UPDATE"),
        "DELETE" | "DEL" => Some("DELETE"),
        _ => None,
    }
}

/// The words of a text, without comments.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    tokens(text).map(|token| token.text)
}

fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = &text[at..];
            let first = rest.chars().next()?;
            let fresh = at == 0 || text[..at].ends_with('\n');
            if rest.starts_with("/*") {
                at += rest.find("*/").map_or(rest.len(), |end| end + 2);
            } else if fresh && (first == '*' || rest.starts_with("--")) {
                at += rest.find('\n').unwrap_or(rest.len());
            } else if first.is_whitespace() {
                at += first.len_utf8();
            } else if matches!(first, '(' | ')' | ',' | ';') {
                at += 1;
                return Some(Token { text: &rest[..1], at: at - 1 });
            } else {
                let ends = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | ';');
                let len = rest.find(ends).unwrap_or(rest.len());
                at += len;
                return Some(Token { text: &rest[..len], at: at - len });
            }
        }
    })
}

/// A word and what stands in parentheses behind it.
#[derive(Debug)]
struct Item<'t> {
    word: Token<'t>,
    inside: Option<Vec<Item<'t>>>,
}

/// Reads a file of commands.
pub(crate) fn read(path: &Path, text: &str) -> Parsed {
    let all: Vec<Token<'_>> = tokens(text).collect();
    let mut reader = Reader { path, text, tokens: &all, at: 0, parsed: Parsed::default() };
    while reader.at < all.len() {
        reader.command();
    }
    reader.parsed
}

/// Reads `NAME(VALUE),..`, as the repository keeps it.
pub(crate) fn settings(text: &str) -> Option<Vec<(String, String)>> {
    let all: Vec<Token<'_>> = tokens(text).collect();
    let path = Path::new("");
    let mut reader = Reader { path, text, tokens: &all, at: 0, parsed: Parsed::default() };
    let items = reader.items(0);
    let pairs = items.iter().map(|item| {
        let values = item.inside.as_ref()?;
        let value = values.first().map_or("", |value| value.word.text);
        (values.len() <= 1).then(|| (item.word.text.to_owned(), value.to_owned()))
    });
    let pairs: Option<Vec<_>> = pairs.collect();
    pairs.filter(|_| reader.at == all.len() && reader.parsed.diagnostics.is_empty())
}

struct Reader<'t> {
    path: &'t Path,
    text: &'t str,
    tokens: &'t [Token<'t>],
    at: usize,
    parsed: Parsed,
}

impl<'t> Reader<'t> {
    fn peek(&self) -> Option<Token<'t>> {
        self.tokens.get(self.at).copied()
    }

    fn error(&mut self, code: &'static str, token: Token<'_>, message: String, help: &str) {
        if self.parsed.diagnostics.len() >= DIAGNOSTICS_MAX {
            // A file that is no such thing at all has no end of them.
            self.at = self.tokens.len();
            return;
        }
        let before = &self.text[..token.at.min(self.text.len())];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let card = u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX);
        let column = u16::try_from(before[start..].chars().count() + 1).unwrap_or(u16::MAX);
        let line = self.text[start..].lines().next().unwrap_or_default();
        let caret = "^".repeat(token.text.chars().count().max(1));
        let shown = format!(
            "error {code}: {message}\n  {}:{card}:{column}\n  {line}\n  {:pad$}{caret}\n  {help}\n",
            self.path.display(),
            "",
            pad = usize::from(column) - 1
        );
        self.parsed.diagnostics.push(Diagnostic {
            severity: Severity::Error,
            code,
            card,
            column,
            message,
            help: help.to_owned(),
            shown,
        });
    }

    /// Items separated by commas, up to what closes them.
    fn items(&mut self, depth: usize) -> Vec<Item<'t>> {
        let mut items = Vec::new();
        while let Some(token) = self.peek() {
            match token.text {
                ")" | ";" => break,
                "," => self.at += 1,
                "(" => {
                    self.at += 1;
                    let help = "Put a keyword before the parenthesis.";
                    self.error(codes::SYNTAX, token, "a parenthesis follows nothing".into(), help);
                }
                _ => {
                    if depth == 0 && is_verb(&token.text.to_ascii_uppercase()) && self.starts() {
                        break;
                    }
                    self.at += 1;
                    let inside = self.inside(depth);
                    items.push(Item { word: token, inside });
                }
            }
        }
        items
    }

    /// Whether a command starts here: a verb and a kind of resource.
    fn starts(&self) -> bool {
        let next = self.tokens.get(self.at + 1);
        next.is_some_and(|next| !matches!(next.text, "(" | ")" | ","))
    }

    fn inside(&mut self, depth: usize) -> Option<Vec<Item<'t>>> {
        let open = self.peek().filter(|token| token.text == "(")?;
        self.at += 1;
        if depth > 4 {
            let help = "Remove parentheses.";
            self.error(codes::SYNTAX, open, "parentheses nest too deep".into(), help);
            return None;
        }
        let items = self.items(depth + 1);
        if self.peek().is_some_and(|token| token.text == ")") {
            self.at += 1;
        } else {
            self.error(codes::NO_END, open, "this parenthesis is not closed".into(), "Close it.");
        }
        Some(items)
    }

    fn command(&mut self) {
        let Some(first) = self.peek() else { return };
        self.at += 1;
        if first.text == ";" {
            return;
        }
        let known = self.parsed.diagnostics.len();
        let Some(verb) = verb(&first.text.to_ascii_uppercase()) else {
            let help = "Write CREATE, UPDATE or DELETE.";
            self.error(codes::VERB, first, format!("{} defines nothing", first.text), help);
            self.skip();
            return;
        };
        let of = self.peek().unwrap_or(first);
        let Some(kind) = Kind::of_word(&of.text.to_ascii_uppercase()) else {
            let help = "Write DB, PGM, RTC or TRAN.";
            self.error(codes::KIND, of, format!("{} is no kind of resource", of.text), help);
            self.skip();
            return;
        };
        self.at += 1;
        let items = self.items(0);
        if self.peek().is_some_and(|token| token.text == ")") {
            let stray = self.tokens[self.at];
            self.at += 1;
            self.error(codes::SYNTAX, stray, "nothing is open here".into(), "Remove it.");
        }
        let changes = self.changes(verb, kind, of, &items);
        if self.parsed.diagnostics.len() == known {
            self.parsed.changes.extend(changes);
        }
    }

    fn skip(&mut self) {
        while let Some(token) = self.peek() {
            if token.text == ";" || (is_verb(&token.text.to_ascii_uppercase()) && self.starts()) {
                return;
            }
            self.at += 1;
        }
    }

    fn changes(
        &mut self,
        verb: &str,
        kind: Kind,
        of: Token<'t>,
        items: &[Item<'t>],
    ) -> Vec<Change> {
        let (mut names, mut settings) = (Vec::new(), Vec::new());
        for item in items {
            match (item.word.text.to_ascii_uppercase().as_str(), &item.inside) {
                ("NAME", Some(inside)) => names.extend(inside.iter().map(|name| name.word)),
                ("SET", Some(inside)) if verb != "DELETE" => settings.extend(inside.iter()),
                (other, _) => {
                    let help = "A command has NAME(..), and SET(..) unless it deletes.";
                    self.error(codes::KEYWORD, item.word, format!("{other} is unknown"), help);
                }
            }
        }
        if names.is_empty() {
            let help = "Add NAME(..).";
            self.error(codes::NO_NAME, of, "the command names nothing".into(), help);
        }
        let settings = self.settings(kind, &settings);
        let mut changes = Vec::new();
        for token in names {
            let name = token.text.to_ascii_uppercase();
            match verb {
                "CREATE" => changes.extend(self.create(kind, token, &name, &settings)),
                "UPDATE" => {
                    changes.push(Change::Update { kind, name, settings: settings.clone() });
                }
                _ => changes.push(Change::Delete { kind, name }),
            }
        }
        changes
    }

    fn create(
        &mut self,
        kind: Kind,
        token: Token<'t>,
        name: &str,
        settings: &[(String, String)],
    ) -> Option<Change> {
        let usable = |name: &Name| !name.is_blank() && !name.text().contains(['*', '%']);
        let Some(name) = Name::read(name).filter(usable) else {
            let help = "Give it at most 8 letters, digits, @, # and $.";
            self.error(codes::NO_NAME, token, format!("{name} is no name"), help);
            return None;
        };
        let mut one = Definition::new(kind, name);
        let set = settings.iter().try_for_each(|(attribute, value)| one.set(attribute, value));
        set.ok().map(|()| Change::Create(one))
    }

    /// The settings whose attributes and values are good.
    fn settings(&mut self, kind: Kind, items: &[&Item<'t>]) -> Vec<(String, String)> {
        let mut probe = Definition::new(kind, Name::BLANK);
        let mut settings = Vec::new();
        for item in items {
            let attribute = item.word.text.to_ascii_uppercase();
            let values = item.inside.as_deref().unwrap_or_default();
            let value = values
                .first()
                .map_or_else(String::new, |value| value.word.text.to_ascii_uppercase());
            let at = values.first().map_or(item.word, |value| value.word);
            let outcome = if values.len() > 1 {
                Err(SetError::Value("one value"))
            } else {
                probe.set(&attribute, &value)
            };
            match outcome {
                Ok(()) => settings.push((attribute, value)),
                Err(SetError::Unknown) => {
                    let text = format!("{} has no attribute {attribute}", kind.word());
                    self.error(codes::ATTRIBUTE, item.word, text, "Correct or remove it.");
                }
                Err(SetError::Value(expected)) => {
                    let text = format!("{attribute} takes {expected}");
                    self.error(codes::VALUE, at, text, "Correct the value.");
                }
            }
        }
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_become_changes() {
        let text = "/* ours */\nCREATE PGM NAME(DFSSAM02)\nCRE TRAN NAME(PART,dspinv)\n  \
                    SET(PGM(DFSSAM02),CLASS(4),\n      RESP(Y));\n* old\nDEL DB NAME(X*)";
        let parsed = read(Path::new("f"), text);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        assert_eq!(parsed.changes.len(), 4);
        let Change::Create(one) = &parsed.changes[2] else { panic!("{:?}", parsed.changes) };
        let expected = "CREATE TRAN NAME(DSPINV) SET(PGM(DFSSAM02),CLASS(4),RESP(Y))";
        assert_eq!(one.command(), expected);
    }

    #[test]
    fn mistakes_are_shown_where_they_stand() {
        let parsed = read(Path::new("f"), "CREATE TRAN NAME(A)\n SET(CLASS(0),COLOUR(RED))");
        let places: Vec<_> =
            parsed.diagnostics.iter().map(|one| (one.code, one.card, one.column)).collect();
        assert_eq!(places, [("HFG803", 2, 12), ("HFG810", 2, 15)]);
        assert!(parsed.changes.is_empty());
        for text in [
            "CREATE",
            "CREATE TRAN",
            "CREATE TRAN NAME(",
            "DROP X",
            "CREATE X NAME(A)",
            "CREATE TRAN NAME(A) )",
            "(",
            "CREATE TRAN NAME(TOOLONGNAME)",
            "/* open",
        ] {
            let parsed = read(Path::new("f"), text);
            assert!(parsed.has_errors() || text == "/* open", "{text}");
            assert!(parsed.changes.is_empty(), "{text}");
        }
    }
}
