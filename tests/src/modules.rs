//! Which modules of a crate name which others, and which of them do so in a circle.
//!
//! A module here is a file or a folder right below `src`. What counts is a path that begins with
//! `crate`, `super` or `self`, in a `use` or anywhere else in code. What the root only re-exports
//! stands for the module that it comes from; what the root defines itself belongs to [`ROOT`].
//!
//! 1. Code that is compiled for tests alone does not count: it may look at everything.
//! 2. Calls of methods do not count, for no path says where they lead.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::code_lines;

/// The name of the root itself, `lib.rs` or `main.rs`.
pub const ROOT: &str = "lib";

/// For each module those that it names.
pub type Graph = BTreeMap<String, BTreeSet<String>>;

/// The graph of a crate whose source files are given with their paths below `src`.
#[must_use]
pub fn graph(files: &[(String, String)]) -> Graph {
    let mut sources: Vec<Source> = files.iter().filter_map(Source::read).collect();
    let tests: BTreeSet<Path> = sources.iter().flat_map(Source::test_modules).collect();
    let is_test = |path: &Path| (0..=path.len()).any(|len| tests.contains(&path[..len]));
    sources.retain(|source| !source.tests_alone && !is_test(&source.path));
    let modules = sources.iter().filter_map(|source| source.path.first().cloned());
    let mut names = Names { modules: modules.collect(), exports: BTreeMap::new() };
    for root in sources.iter().filter(|source| source.path.is_empty()) {
        root.note_exports(&mut names);
    }
    let mut graph = Graph::new();
    for source in &sources {
        let from = source.path.first().map_or(ROOT, String::as_str);
        let to = graph.entry(from.to_owned()).or_default();
        to.extend(source.named(&names).into_iter().filter(|to| to != from));
    }
    graph
}

/// The largest set of modules that all lead to each other; empty if no two do.
#[must_use]
pub fn largest_cycle(graph: &Graph) -> Vec<String> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|from| (from.as_str(), reach(graph, from))).collect();
    let circle = |from: &&str| -> Vec<String> {
        let back = |to: &&&str| reached.get(**to).is_some_and(|there| there.contains(from));
        reached[*from].iter().filter(back).map(|name| (*name).to_owned()).collect()
    };
    reached.keys().map(circle).max_by_key(Vec::len).filter(|all| all.len() > 1).unwrap_or_default()
}

/// Everything that can be reached from a module, itself only over others.
fn reach<'g>(graph: &'g Graph, from: &str) -> BTreeSet<&'g str> {
    let (mut found, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(next) = open.pop() {
        for to in graph.get(next).into_iter().flatten() {
            if found.insert(to.as_str()) {
                open.push(to);
            }
        }
    }
    found
}

type Path = Vec<String>;

/// What paths that begin at the root lead to.
struct Names {
    modules: BTreeSet<String>,
    /// What the root re-exports or brings in: the module that it comes from, if it is not another
    /// crate.
    exports: BTreeMap<String, Option<String>>,
}

impl Names {
    fn module_of(&self, path: &[String]) -> Option<String> {
        let Some(first) = path.first() else { return Some(ROOT.to_owned()) };
        if self.modules.contains(first) {
            return Some(first.clone());
        }
        self.exports.get(first).cloned().unwrap_or_else(|| Some(ROOT.to_owned()))
    }
}

/// A source file in words and signs.
struct Source {
    /// Its module.
    path: Path,
    tokens: Vec<String>,
    /// All of it is compiled for tests alone.
    tests_alone: bool,
}

impl Source {
    fn read((file, text): &(String, String)) -> Option<Source> {
        let mut path: Path = file.strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
        if path[0] == "bin" {
            return None;
        }
        if path.last().is_some_and(|last| last == "mod") || path == ["lib"] || path == ["main"] {
            path.pop();
        }
        let tokens = tokens(&code_lines(text).join("\n"));
        let tests_alone = tokens.join("").starts_with("#![cfg(test)]");
        Some(Source { path, tokens, tests_alone })
    }

    /// The files that are modules for tests alone.
    fn test_modules(&self) -> Vec<Path> {
        let mut found = Vec::new();
        for at in (0..self.tokens.len()).filter(|at| self.is_for_tests(*at)) {
            let item = &self.tokens[at..self.end_of_item(at)];
            let name = item.windows(3).find(|three| three[0] == "mod" && three[2] == ";");
            found.extend(name.map(|three| [&self.path[..], &three[1..2]].concat()));
        }
        found
    }

    /// Whether an attribute begins here that leaves the item behind it to tests.
    fn is_for_tests(&self, at: usize) -> bool {
        let begins = |sign: &[&str]| {
            let here = self.tokens.get(at..at + sign.len());
            here.is_some_and(|here| here.iter().eq(sign))
        };
        begins(&["#", "[", "cfg", "(", "test", ")", "]"])
            || begins(&["#", "[", "cfg", "(", "all", "(", "test"])
    }

    /// Where the item ends whose first attribute begins at `at`.
    fn end_of_item(&self, mut at: usize) -> usize {
        while self.sign(at) == "#" {
            at = self.behind(at + 1);
        }
        let is_field = self.sign(at + 1) == ":";
        while at < self.tokens.len() {
            match self.sign(at) {
                "{" => return self.behind(at),
                "(" | "[" => at = self.behind(at),
                ";" => return at + 1,
                "," if is_field => return at + 1,
                "}" => return at,
                _ => at += 1,
            }
        }
        at
    }

    /// Behind the bracket that closes the one at `at`.
    fn behind(&self, mut at: usize) -> usize {
        let mut depth = 0;
        while at < self.tokens.len() {
            match self.sign(at) {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth -= 1,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                break;
            }
        }
        at
    }

    fn sign(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", String::as_str)
    }

    /// Notes what the root re-exports, or brings in for everybody below it.
    fn note_exports(&self, names: &mut Names) {
        for at in (0..self.tokens.len()).filter(|at| self.sign(*at) == "use") {
            let mut leaves = Vec::new();
            self.tree(at + 1, &Path::new(), &mut leaves);
            for leaf in leaves {
                let from_root = ["crate", "self"].contains(&leaf.path[0].as_str());
                let path = &leaf.path[usize::from(from_root)..];
                let module = path.first().filter(|first| names.modules.contains(*first));
                names.exports.insert(leaf.name, module.cloned());
            }
        }
    }

    /// The modules that are named here.
    fn named(&self, names: &Names) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        // The modules inside of the file, and at which depth each ends.
        let (mut path, mut inside, mut depth) = (self.path.clone(), Vec::new(), 0);
        let mut at = 0;
        while at < self.tokens.len() {
            if self.is_for_tests(at) {
                at = self.end_of_item(at);
                continue;
            }
            match self.sign(at) {
                "mod" if self.sign(at + 2) == "{" => {
                    path.push(self.sign(at + 1).to_owned());
                    inside.push(depth);
                    (depth, at) = (depth + 1, at + 3);
                    continue;
                }
                "mod" if self.sign(at + 2) == ";" => at += 1,
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    if inside.last() == Some(&depth) {
                        inside.pop();
                        path.pop();
                    }
                }
                "use" if path.is_empty() => {
                    at = self.tree(at + 1, &Path::new(), &mut Vec::new());
                    continue;
                }
                "crate" | "super" | "self" if self.begins_path(at) => {
                    let mut leaves = Vec::new();
                    at = self.tree(at, &Path::new(), &mut leaves);
                    let absolute = leaves.iter().filter_map(|leaf| absolute(&path, &leaf.path));
                    found.extend(absolute.filter_map(|path| names.module_of(&path)));
                    continue;
                }
                word if path.is_empty() && self.sign(at.wrapping_sub(1)) != "::" => {
                    let is_module = names.modules.contains(word) && self.sign(at + 1) == "::";
                    found.extend(is_module.then(|| word.to_owned()));
                    found.extend(names.exports.get(word).cloned().flatten());
                }
                _ => {}
            }
            at += 1;
        }
        found
    }

    fn begins_path(&self, at: usize) -> bool {
        self.sign(at + 1) == "::" && self.sign(at.wrapping_sub(1)) != "::"
    }

    /// Reads a path with all its branches from `at`; returns where it ends.
    fn tree(&self, mut at: usize, before: &Path, leaves: &mut Vec<Leaf>) -> usize {
        let mut path = before.clone();
        if self.sign(at) == "::" {
            at += 1;
        }
        loop {
            match self.sign(at) {
                "{" => {
                    let end = self.behind(at);
                    at += 1;
                    while at + 1 < end {
                        at = self.tree(at, &path, leaves).max(at + 1);
                        at += usize::from(self.sign(at) == ",");
                    }
                    return end;
                }
                "*" => {
                    leaves.push(Leaf { name: "*".into(), path });
                    return at + 1;
                }
                word if is_word(word) => path.push(word.to_owned()),
                _ => break,
            }
            at += 1;
            if self.sign(at) != "::" {
                break;
            }
            at += 1;
        }
        if path.len() == before.len() {
            return at;
        }
        let mut name = path.last().cloned().unwrap_or_default();
        if self.sign(at) == "as" {
            name = self.sign(at + 1).to_owned();
            at += 2;
        }
        leaves.push(Leaf { name, path });
        at
    }
}

/// One of the things that a path with branches names, and the name that it is given.
struct Leaf {
    path: Path,
    name: String,
}

/// A path from the root, for one that is written in module `here`.
fn absolute(here: &[String], written: &[String]) -> Option<Path> {
    let mut base = here.to_vec();
    let mut rest = written;
    loop {
        match rest.first().map(String::as_str) {
            Some("crate") => base.clear(),
            Some("super") => drop(base.pop()?),
            Some("self") => {}
            _ => return Some([&base[..], rest].concat()),
        }
        rest = &rest[1..];
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

fn tokens(code: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut chars = code.chars().peekable();
    while let Some(first) = chars.next() {
        let mut token = first.to_string();
        if first.is_alphanumeric() || first == '_' {
            while let Some(next) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                token.push(next);
            }
        } else if first.is_whitespace() {
            continue;
        } else if first == ':' {
            token.extend(chars.next_if_eq(&':'));
        }
        tokens.push(token);
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<_> =
            files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
        let graph = graph(&files);
        let pairs = graph.iter().flat_map(|(from, to)| to.iter().map(move |to| (from, to)));
        pairs.map(|(from, to)| format!("{from}>{to}")).collect()
    }

    #[test]
    fn paths_in_all_their_forms_count() {
        let root = ("lib.rs", "mod a; mod b; mod c; pub use b::{B, inner::C as D};");
        let named = |text| edges(&[root, ("a.rs", text), ("b.rs", ""), ("c.rs", "")]);
        assert_eq!(named("use crate::{b::{self, X}, c::Y};"), ["a>b", "a>c"]);
        assert_eq!(named("fn f() -> u8 { super::c::f(crate::B { x: 1 }) }"), ["a>b", "a>c"]);
        assert_eq!(named("use crate::D;"), ["a>b"]);
        assert_eq!(named("use crate::Own; use std::c::X;"), ["a>lib"]);
        assert_eq!(named("mod inside { use super::X; fn f() { super::super::c::f() } }"), ["a>c"]);
        assert_eq!(named("// crate::b\nfn f() { g(\"crate::c\") }"), Vec::<String>::new());
    }

    #[test]
    fn a_folder_is_one_module() {
        let files = [("lib.rs", ""), ("a/mod.rs", "use self::x::Y;"), ("b.rs", "")];
        let below = ("a/x.rs", "use super::Z; use super::super::b::C;");
        assert_eq!(edges(&[&files[..], &[below]].concat()), ["a>b"]);
    }

    #[test]
    fn what_is_for_tests_alone_does_not_count() {
        let text = "#[cfg(test)] mod tests; #[cfg(test)] use crate::b::X;\n\
                    #[cfg(test)] fn f(x: [u8; 2]) { crate::b::g() } struct S { x: crate::c::T }\n\
                    #[cfg(test)] mod more { use crate::b::X; }";
        let files = [("lib.rs", ""), ("a.rs", text), ("b.rs", ""), ("c.rs", "")];
        let below = ("a/tests.rs", "use crate::b::X;");
        assert_eq!(edges(&[&files[..], &[below]].concat()), ["a>c"]);
    }

    #[test]
    fn the_root_has_its_own_code() {
        let root = (
            "lib.rs",
            "mod a; mod b; mod c; use a::A; pub use std::c::X; pub use c::c;\n\
                     pub struct R(A); fn f() { b::f() }",
        );
        let all = [root, ("a.rs", "use crate::R;"), ("b.rs", "use crate::X;"), ("c.rs", "")];
        assert_eq!(edges(&all), ["a>lib", "lib>a", "lib>b"]);
    }

    #[test]
    fn the_largest_circle_is_found() {
        let edge = |from: &str, to: &[&str]| {
            (from.to_owned(), to.iter().map(|to| (*to).to_owned()).collect())
        };
        let circles =
            [edge("a", &["b"]), edge("b", &["a", "c"]), edge("c", &["d"]), edge("d", &["c", "e"])];
        let more = [edge("e", &["c"]), edge("f", &["a"])];
        let graph: Graph = circles.into_iter().chain(more).collect();
        assert_eq!(largest_cycle(&graph), ["c", "d", "e"]);
        let straight: Graph = [edge("a", &["b"]), edge("b", &[])].into_iter().collect();
        assert!(largest_cycle(&straight).is_empty());
    }
}
