//! Relative links of the documents name files and headings that exist, and so do the rules that
//! comments cite.

use std::collections::BTreeSet;

use holdfast_tests::{TextFile, files, markdown, none_of, root};

#[test]
fn every_link_in_the_documents_leads_somewhere() {
    let documents = files(&[".md"]);
    let mut dead = Vec::new();
    for document in &documents {
        for link in markdown::links(&document.text) {
            let target = link.target.as_str();
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path =
                if file.is_empty() { document.path.clone() } else { resolve(&document.path, file) };
            let exists = root().join(&path).exists();
            let known = documents.iter().find(|other| other.path == path);
            let heading = anchor.is_empty()
                || known
                    .is_none_or(|other| markdown::anchors(&other.text).iter().any(|a| a == anchor));
            if !exists || !heading {
                dead.push(format!("{} leads to {target}", document.at(link.line)));
            }
        }
    }
    none_of("dead links", &dead);
}

/// The path of `target` as seen from the document `from`, both below the root.
fn resolve(from: &str, target: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[test]
fn every_place_to_look_at_is_there() {
    let documents = files(&["ARCHITECTURE.md"]);
    let table = documents[0].lines().skip_while(|(_, line)| *line != "### Where to look").skip(1);
    let table = table.take_while(|(_, line)| !line.starts_with("### ") && !line.starts_with("## "));
    let (mut count, mut missing) = (0, Vec::new());
    for (line, content) in table.filter(|(_, line)| line.starts_with("| ")) {
        for path in content.split('`').skip(1).step_by(2) {
            let is_path = path.contains('/') || path.ends_with(".rs");
            count += usize::from(is_path);
            if is_path && !root().join(path).exists() {
                missing.push(format!("{} names {path}", documents[0].at(line)));
            }
        }
    }
    none_of("places to look at that are not there", &missing);
    assert!(count > 100, "the table is found: {count}");
}

/// Documents whose lines are as long as they are: one is made by a program, two grow at their ends.
const OF_ANY_WIDTH: [&str; 3] = ["CHANGELOG.md", "docs/benchmarks.md", "docs/plan.md"];

#[test]
fn lines_of_documents_have_120_columns() {
    let mut long = Vec::new();
    for document in files(&[".md"]) {
        if OF_ANY_WIDTH.contains(&&*document.path) {
            continue;
        }
        let lines = document.lines().filter(|(_, line)| !line.trim_start().starts_with('|'));
        long.extend(
            lines
                .filter(|(_, line)| line.chars().count() > 120)
                .map(|(number, _)| document.at(number)),
        );
    }
    none_of("lines over 120 columns outside of tables", &long);
}

#[test]
fn every_rule_that_is_cited_is_written_down() {
    let documents = files(&["docs/rules.md"]);
    let rules: Vec<&str> = documents[0]
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("### ")?.split(' ').next())
        .collect();
    let mut unknown = Vec::new();
    for file in files(&[".rs"]) {
        for (line, content) in file.lines() {
            for rule in cited(content).filter(|rule| !rules.contains(rule)) {
                unknown.push(format!("{} cites {rule}", file.at(line)));
            }
        }
    }
    none_of("rules that docs/rules.md does not have", &unknown);
}

/// The rules that stand in brackets in a line: "(K7)", "(K1, K22)".
fn cited(line: &str) -> impl Iterator<Item = &str> {
    let brackets = line.split('(').skip(1).filter_map(|part| part.split(')').next());
    let words = brackets.flat_map(|inside| inside.split(", "));
    words.filter(|word| {
        let number = word.strip_prefix(['K', 'H']);
        number.is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// What the names of the rules in `docs/spec` begin with.
const SPECIFIED: [&str; 2] = ["DLI-", "PGP-"];

#[test]
fn every_rule_of_a_specification_that_is_cited_is_written_down() {
    let written: BTreeSet<String> = files(&[".md"])
        .iter()
        .filter(|file| is_specification(&file.path))
        .flat_map(rules)
        .collect();
    assert!(written.contains("DLI-12.36") && written.contains("DLI-1.II"), "{written:?}");
    let (mut count, mut unknown) = (0, Vec::new());
    for file in files(&[".rs", ".md", ".txt"]) {
        for (line, content) in file.lines() {
            for rule in SPECIFIED.iter().flat_map(|prefix| names(content, prefix)) {
                count += 1;
                if !written.contains(&rule) {
                    unknown.push(format!("{} cites {rule}", file.at(line)));
                }
            }
            if content.contains(concat!("(fac", "ts,")) {
                unknown.push(format!("{} cites what nobody can open", file.at(line)));
            }
        }
    }
    none_of("rules that docs/spec does not have", &unknown);
    assert!(count > 300, "citations are found: {count}");
}

fn is_specification(path: &str) -> bool {
    path.starts_with("docs/spec/") && !path.ends_with("README.md")
}

/// The rules that a specification writes down: sections ("## DLI-3 ..."), rules ("**DLI-12.36**
/// ..."), and the rows of the tables of codes in a section ("| II | ..." is DLI-1.II).
fn rules(file: &TextFile) -> Vec<String> {
    let (mut found, mut section) = (Vec::new(), String::new());
    for line in file.text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            section = heading.split(' ').next().unwrap_or_default().to_owned();
            found.push(section.clone());
        } else if let Some(rule) = line.strip_prefix("**") {
            found.extend(rule.split("**").next().map(str::to_owned));
        } else if let Some(row) = line.strip_prefix("| ") {
            let codes = row.split(" |").next().unwrap_or_default().split(' ');
            let codes = codes.filter(|code| code.len() == 2 && code.bytes().all(is_of_a_name));
            found.extend(codes.map(|code| format!("{section}.{code}")));
        }
    }
    found
}

/// The names in a line that begin with `prefix`: "DLI-12", "DLI-12.36", "DLI-1.II".
fn names<'a>(line: &'a str, prefix: &'a str) -> impl Iterator<Item = String> + 'a {
    line.match_indices(prefix).filter_map(move |(at, _)| {
        let before = line[..at].bytes().next_back();
        if before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return None;
        }
        let rest = &line[at + prefix.len()..];
        let number = rest.bytes().take_while(u8::is_ascii_digit).count();
        let behind = rest[number..].strip_prefix('.').unwrap_or_default();
        let code = behind.bytes().take_while(|byte| is_of_a_name(*byte)).count();
        let is_a_rule = code == 2 || behind[..code].bytes().all(|byte| byte.is_ascii_digit());
        let len = if code > 0 && is_a_rule { number + 1 + code } else { number };
        (number > 0).then(|| format!("{prefix}{}", &rest[..len]))
    })
}

fn is_of_a_name(byte: u8) -> bool {
    byte.is_ascii_digit() || byte.is_ascii_uppercase()
}
