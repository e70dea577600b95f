//! Links and headings of the repository's documents.

/// A link or picture in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The line it stands in, from 1.
    pub line: usize,
    /// Where it leads, as written.
    pub target: String,
}

/// All inline links of a document, those in code blocks left out.
#[must_use]
pub fn links(text: &str) -> Vec<Link> {
    let mut found = Vec::new();
    for (line, content) in prose(text) {
        for part in without_code(content).split("](").skip(1) {
            if let Some(end) = part.find(')') {
                found.push(Link { line, target: part[..end].to_owned() });
            }
        }
    }
    found
}

/// The anchors of a document's headings, as web pages make them.
#[must_use]
pub fn anchors(text: &str) -> Vec<String> {
    let headings = prose(text).filter_map(|(_, line)| {
        let title = line.trim_start_matches('#');
        (line.starts_with('#') && title.starts_with(' ')).then(|| title.trim())
    });
    headings.map(anchor).collect()
}

fn anchor(title: &str) -> String {
    let kept = title.to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Lines outside fenced blocks, numbered.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((index + 1, line))
    })
}

/// The line without what stands between backquotes.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_code() {
        let text = "see [a](b.md#c) and `[x](y)`\n```\n[no](no)\n```\n[d](e)";
        let found: Vec<(usize, String)> =
            links(text).into_iter().map(|link| (link.line, link.target)).collect();
        assert_eq!(found, [(1, "b.md#c".into()), (5, "e".into())]);
    }

    #[test]
    fn headings_become_anchors() {
        let text = "# On disk: the log\n```\n# no\n```\n#hash\n## K6, K7";
        assert_eq!(anchors(text), ["on-disk-the-log", "k6-k7"]);
    }
}
