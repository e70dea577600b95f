//! Relative links of the documents name files and headings that exist, and so do the rules that
//! comments cite.

use holdfast_tests::{files, markdown, none_of, root};

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
