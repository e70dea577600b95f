//! `docs/codes.md` lists every reason code with what it means and what to do, made from the code.
//!
//! `HOLDFAST_WRITE=1 cargo test -p holdfast-tests --test every_reason_code_is_written_down` writes
//! it again. Where the code fills something in, the list has it in braces, as the source does.
#![allow(clippy::disallowed_methods)] // reads and writes the sources of the repository

use std::collections::BTreeMap;
use std::fmt::Write as _;

use holdfast_tests::{TextFile, files, root};

const HEAD: &str = "\
# Reason codes

Every error and every diagnostic has a code that does not change: `HF`, one letter or two for the
part, three digits. What stands in braces is filled in when the message is made. This list is made
from the code:

```sh
HOLDFAST_WRITE=1 cargo test -p holdfast-tests --test every_reason_code_is_written_down
```

| Code | Meaning | What to do |
|---|---|---|
";

#[test]
fn every_reason_code_is_written_down() {
    let sources: Vec<TextFile> = files(&[".rs"])
        .into_iter()
        .filter(|file| file.path.starts_with("crates/") && file.path.contains("/src/"))
        .collect();
    let mut codes = BTreeMap::new();
    for file in &sources {
        diagnostics(file, &mut codes);
        errors(file, &sources, &mut codes);
    }
    let without: Vec<&String> =
        codes.iter().filter(|(_, (meaning, _))| meaning.is_empty()).map(|(code, _)| code).collect();
    assert!(without.is_empty(), "codes whose meaning is not found: {without:?}");
    assert!(codes.len() > 300, "the search for reason codes finds them: {}", codes.len());
    let mut made = HEAD.to_owned();
    for (code, (meaning, remedy)) in &codes {
        let _ = writeln!(made, "| `{code}` | {} | {} |", cell(meaning), cell(remedy));
    }
    let path = root().join("docs/codes.md");
    if std::env::var_os("HOLDFAST_WRITE").is_some() {
        std::fs::write(&path, &made).expect("the list can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == made, "docs/codes.md is not what the code says; write it again:\n{HEAD}");
}

type Codes = BTreeMap<String, (String, String)>;

/// Text for a cell of a table; what leads to other documentation of the code leads nowhere here.
fn cell(text: &str) -> String {
    let mut pieces = text.split("](");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        plain.push_str(piece.split_once(')').map_or(piece, |(_, behind)| behind));
    }
    plain.replace("[`", "`").replace("`]", "`").replace('|', "\\|").replace('<', "&lt;")
}

/// The lines `NAME = "HFX000", "meaning";` of tables of diagnostics.
fn diagnostics(file: &TextFile, codes: &mut Codes) {
    for (at, _) in file.text.match_indices(" = \"HF") {
        let strings = strings(file.text[at..].split(';').next().unwrap_or_default());
        if let [code, meaning] = &strings[..] {
            codes.insert(code.clone(), (meaning.clone(), String::new()));
        }
    }
}

/// The arms `Error::Variant { .. } => Code("HFX000")` of a file.
fn errors(file: &TextFile, sources: &[TextFile], codes: &mut Codes) {
    let text = &file.text;
    let folder = file.path.split("/src/").next().unwrap_or_default();
    for gives in ["=> Code(\"HF", "=> \"HF"] {
        for (at, _) in text.match_indices(gives) {
            let code = strings(text[at..].lines().next().unwrap_or_default()).remove(0);
            let variants = variants(pattern(&text[..at]));
            let of_crate = sources.iter().filter(|other| other.path.starts_with(folder));
            let (mut meaning, mut remedy) = (Vec::new(), Vec::new());
            for other in of_crate {
                for (kind, variant) in &variants {
                    push(&mut meaning, documented(&other.text, kind, variant));
                }
            }
            for (kind, variant) in &variants {
                remedies(text, &format!("{kind}::{variant}"), &mut remedy);
            }
            codes.insert(code, (meaning.join(" "), remedy.join(" Or: ")));
        }
    }
}

fn push(all: &mut Vec<String>, one: Option<String>) {
    all.extend(one.filter(|one| !all.contains(one)));
}

/// The pattern of the arm whose arrow comes next: the lines that belong to it.
fn pattern(before: &str) -> &str {
    let mut from = before.rfind('\n').map_or(0, |at| at + 1);
    let ends = |line: &str| line.is_empty() || line.ends_with([',', '{', ';']);
    while let Some(above) = before[..from].trim_end().lines().next_back() {
        if ends(above.trim()) && !above.trim_start().starts_with('|') {
            break;
        }
        from = before[..from].trim_end().rfind('\n').map_or(0, |at| at + 1);
    }
    &before[from..]
}

/// Each `Enum::Variant` of a pattern.
fn variants(pattern: &str) -> Vec<(String, String)> {
    let is_other = |c: char| !(c.is_alphanumeric() || c == '_');
    let mut found = Vec::new();
    for (at, _) in pattern.match_indices("::") {
        let kind = pattern[..at].rsplit(is_other).next().unwrap_or_default();
        let variant = pattern[at + 2..].split(is_other).next().unwrap_or_default();
        if [kind, variant].iter().all(|word| word.starts_with(|c: char| c.is_uppercase())) {
            found.push((kind.to_owned(), variant.to_owned()));
        }
    }
    found
}

/// The documentation of a variant: the lines above it that begin with `///`.
fn documented(text: &str, kind: &str, variant: &str) -> Option<String> {
    let body = text.split(&format!("enum {kind} {{")).nth(1)?.split("\n}").next()?;
    let lines: Vec<&str> = body.lines().collect();
    let is_it = |line: &str| {
        let rest = line.strip_prefix("    ").and_then(|line| line.strip_prefix(variant));
        rest.is_some_and(|rest| rest.starts_with([',', '(']) || rest.starts_with(" {"))
    };
    let all = (0..lines.len()).filter(|at| is_it(lines[*at]));
    all.map(|at| above(&lines[..at])).find(|printed| !printed.is_empty())
}

/// What the comment at the end of `lines` says, attributes aside.
fn above(lines: &[&str]) -> String {
    let (mut printed, mut in_attribute) = (Vec::new(), false);
    for line in lines.iter().rev().map(|line| line.trim_start()) {
        in_attribute |= line.ends_with(")]");
        if in_attribute {
            in_attribute = !line.starts_with("#[");
        } else if let Some(text) = line.strip_prefix("///") {
            printed.push(text.trim());
        } else {
            break;
        }
    }
    printed.reverse();
    printed.join(" ")
}

/// What the arms of `fn remedy` for a variant say.
fn remedies(text: &str, variant: &str, found: &mut Vec<String>) {
    for body in text.split("fn remedy(").skip(1) {
        let body = body.split("\n    }\n").next().unwrap_or_default();
        for (at, _) in body.match_indices(variant) {
            let named = body[at + variant.len()..].starts_with(|c: char| c.is_alphanumeric());
            let Some(arrow) = body[at..].find("=>").filter(|_| !named) else { continue };
            for printed in strings(arm(&body[at + arrow + 2..])) {
                push(found, (printed.len() > 12).then_some(printed));
            }
        }
    }
}

/// The expression of an arm: up to the comma, or the brace, that ends it.
fn arm(text: &str) -> &str {
    let (mut depth, mut quoted, mut escaped) = (0_i32, false, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' if depth == 0 => return &text[..at],
            ')' | ']' => depth -= 1,
            '}' => {
                depth -= 1;
                if depth == 0 && text.trim_start().starts_with('{') {
                    return &text[..at];
                }
            }
            ',' if depth == 0 => return &text[..at],
            _ => {}
        }
    }
    text
}

/// The string literals of a piece of source, as they are read.
fn strings(source: &str) -> Vec<String> {
    let (mut found, mut letters) = (Vec::new(), source.chars().peekable());
    while letters.any(|letter| letter == '"') {
        let mut text = String::new();
        while let Some(letter) = letters.next().filter(|letter| *letter != '"') {
            match letter {
                '\\' => match letters.next() {
                    Some('\n') => while letters.next_if(|next| next.is_whitespace()).is_some() {},
                    Some('n') => text.push(' '),
                    Some(other) => text.push(other),
                    None => {}
                },
                '\n' => text.push(' '),
                other => text.push(other),
            }
        }
        found.push(text);
    }
    found
}
