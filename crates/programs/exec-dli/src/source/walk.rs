//! Goes through a source and the members that it copies; finds programs and commands.
//!
//! Invariants:
//!
//! 1. A member is read once for each spelling of its name, and walked as often as it is copied:
//!    each time its commands may belong to another program.
//! 2. Walking ends: a member that copies itself, also through others, is an error that names the
//!    ring, and is not followed; nesting and COPY statements have limits.
//! 3. What stands in comments, literals, pseudo-text and the IDENTIFICATION DIVISION is no command.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::file::File;
use super::lines::Format;
use super::obsolete::{Obsolete, obsolete};
use super::words::{Kind, Token};
use crate::code;
use crate::diagnostic::Diagnostic;
use crate::facts::ProgramFacts;
use crate::surroundings::{Foreign, Members};

/// How deep members may copy members: far deeper than people do, and no burden for the stack.
const DEPTH: usize = 50;
/// How many COPY statements are followed.
const COPIES: usize = 20_000;

/// The most diagnostics of one source.
pub(crate) const MOST: usize = 200;

/// The most tokens of a division's header.
const HEADER: usize = 4_000;

/// A command: which file, and its tokens from EXEC to END-EXEC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Site {
    pub(crate) file: usize,
    pub(crate) first: usize,
    pub(crate) last: usize,
}

/// Where a program's WORKING-STORAGE can be given more items: two words that a COPY replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Anchor {
    pub(crate) file: usize,
    /// The first of the two words.
    pub(crate) token: usize,
    /// Whether the program has a DATA DIVISION.
    pub(crate) has_data: bool,
}

/// A program within the source.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) facts: ProgramFacts,
    pub(crate) declares_dib: bool,
    /// Registers of old that are names of its own, or functions.
    own_registers: bool,
    pub(crate) anchor: Option<Anchor>,
    has_data: bool,
}

/// Everything that was found.
pub(crate) struct Found {
    /// The source itself is the first; the others are members.
    pub(crate) files: Vec<File>,
    /// The members by their names, as each COPY writes them.
    pub(crate) member_names: BTreeMap<String, usize>,
    pub(crate) programs: Vec<Program>,
    /// Every command once.
    pub(crate) sites: BTreeSet<Site>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Commands of another system; of several systems the first.
    pub(crate) foreign: Option<Foreign>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Division {
    Identification,
    Environment,
    Data,
    Procedure,
}

struct Walker<'a> {
    members: &'a dyn Members,
    format: Format,
    found: Found,
    /// The programs that are open, the innermost last.
    open: Vec<usize>,
    division: Option<Division>,
    /// The source, and the members that have led here.
    way: Vec<usize>,
    copies: usize,
}

/// Walks a source.
pub(crate) fn walk(name: &str, source: &[u8], format: Format, members: &dyn Members) -> Found {
    let files = vec![File::new(name, source.to_owned(), format)];
    let found = Found {
        files,
        member_names: BTreeMap::new(),
        programs: Vec::new(),
        sites: BTreeSet::new(),
        diagnostics: Vec::new(),
        foreign: None,
    };
    let (open, way) = (Vec::new(), Vec::new());
    let mut walker = Walker { members, format, found, open, division: None, way, copies: 0 };
    walker.file(0);
    walker.found
}

impl Walker<'_> {
    fn file(&mut self, file: usize) {
        self.way.push(file);
        let tokens = Rc::clone(&self.found.files[file].tokens);
        let mut at = 0;
        while at < tokens.len() && self.copies <= COPIES {
            at = self.step(file, &tokens, at).max(at + 1);
        }
        self.way.pop();
    }

    /// Looks at one token; answers where to go on.
    fn step(&mut self, file: usize, tokens: &[Token], at: usize) -> usize {
        let Some(word) = tokens[at].upper() else { return at + 1 };
        let next = |word: &str| tokens.get(at + 1).is_some_and(|token| token.is(word));
        match word.as_str() {
            "COPY" => return self.copy(file, tokens, at),
            "REPLACE" if is_replace(tokens, at) => return sentence_end(tokens, at),
            "IDENTIFICATION" | "ID" if next("DIVISION") => {
                self.division = Some(Division::Identification);
            }
            "ENVIRONMENT" if next("DIVISION") => self.division = Some(Division::Environment),
            "DATA" if next("DIVISION") => {
                self.division = Some(Division::Data);
                self.program().has_data = true;
            }
            "PROCEDURE" if next("DIVISION") => return self.procedure(file, tokens, at),
            "PROGRAM-ID" => self.begin_program(tokens, at),
            "END" if next("PROGRAM") => {
                self.open.pop();
                self.division = Some(Division::Procedure);
            }
            "EXEC" | "EXECUTE" => return self.exec(file, tokens, at),
            _ => self.other(&word, file, tokens, at),
        }
        at + 1
    }

    fn other(&mut self, word: &str, file: usize, tokens: &[Token], at: usize) {
        match (self.division, word) {
            (Some(Division::Data), "DIBVER") => self.program().declares_dib = true,
            (Some(Division::Data), "CURRENT-DATE" | "TIME-OF-DAY")
            | (Some(Division::Environment), "INTRINSIC") => self.program().own_registers = true,
            (Some(Division::Procedure), "EXAMINE" | "NOTE") => self.old(file, tokens, at),
            (Some(Division::Procedure), "CURRENT-DATE" | "TIME-OF-DAY")
                if !self.found.programs.iter().any(|program| program.own_registers) =>
            {
                self.old(file, tokens, at);
            }
            (
                Some(Division::Data),
                "WORKING-STORAGE" | "LOCAL-STORAGE" | "LINKAGE" | "COMMUNICATION" | "REPORT"
                | "SCREEN",
            ) if tokens.get(at + 1).is_some_and(|token| token.is("SECTION")) => {
                let anchor = Anchor { file, token: at, has_data: true };
                self.program().anchor.get_or_insert(anchor);
            }
            (Some(Division::Procedure), "ENTRY") => {
                let name = tokens.get(at + 1).filter(|token| token.kind == Kind::Literal);
                let inner = name.map(|token| token.text.trim_ascii()).unwrap_or_default();
                if inner.len() > 2 && inner[1..inner.len() - 1].eq_ignore_ascii_case(b"DLITCBL") {
                    self.program().facts.has_entry_dlitcbl = true;
                }
            }
            _ => {}
        }
    }

    /// Says so if a word is of OS/VS COBOL.
    fn old(&mut self, file: usize, tokens: &[Token], at: usize) {
        let Some(Obsolete { what, help }) = obsolete(tokens, at) else { return };
        let message = format!("{what} of OS/VS COBOL, which the compiler does not know");
        let wrong = self.found.files[file].wrong(code::OLD, &tokens[at], message, help);
        self.say(*wrong);
    }

    /// The innermost program; a source without PROGRAM-ID is one without a name.
    fn program(&mut self) -> &mut Program {
        let last = match self.open.last() {
            Some(last) => *last,
            None => {
                self.found.programs.push(Program::default());
                self.open.push(self.found.programs.len() - 1);
                self.found.programs.len() - 1
            }
        };
        &mut self.found.programs[last]
    }

    fn begin_program(&mut self, tokens: &[Token], at: usize) {
        let mut behind = tokens[at + 1..].iter().filter(|token| token.kind != Kind::Period);
        let name = behind.next().map(Token::shown).unwrap_or_default();
        let program_id = name.trim_matches(['\'', '"']).to_ascii_uppercase();
        let facts = ProgramFacts { program_id, ..ProgramFacts::default() };
        self.found.programs.push(Program { facts, ..Program::default() });
        self.open.push(self.found.programs.len() - 1);
        self.division = Some(Division::Identification);
    }

    fn procedure(&mut self, file: usize, tokens: &[Token], at: usize) -> usize {
        self.division = Some(Division::Procedure);
        let end = sentence_end(&tokens[..tokens.len().min(at + HEADER)], at);
        let header = &tokens[(at + 2).min(end)..end];
        let using = header.iter().position(|token| token.is("USING"));
        let program = self.program();
        let has_data = program.has_data;
        program.anchor.get_or_insert(Anchor { file, token: at, has_data });
        if let Some(using) = using {
            let is_end = |token: &&Token| !(token.is("RETURNING") || token.is("GIVING"));
            let names = header[using + 1..].iter().take_while(is_end);
            program.facts.has_using = true;
            program.facts.using_count = names.filter(|token| is_parameter(token)).count();
        }
        // Without a period everything behind would be header.
        if using.is_some() { end } else { at + 2 }
    }

    fn exec(&mut self, file: usize, tokens: &[Token], at: usize) -> usize {
        let kind = tokens.get(at + 1).and_then(Token::upper).unwrap_or_default();
        let is_text = matches!(self.division, None | Some(Division::Identification));
        let is_foreign = kind != "DLI";
        if is_text || kind.is_empty() {
            return at + 1;
        }
        let in_procedure = self.division == Some(Division::Procedure);
        if is_foreign && !in_procedure && !matches!(kind.as_str(), "SQL" | "CICS" | "SQLIMS") {
            return at + 1;
        }
        let rest = &tokens[at + 1..];
        let is_bound = |token: &Token| token.is("END-EXEC") || token.is("EXEC");
        let bound = rest.iter().position(is_bound).map(|offset| at + 1 + offset);
        let last = bound.filter(|last| tokens[*last].is("END-EXEC"));
        let begin = &self.found.files[file];
        let Some(last) = last else {
            let help = "Write END-EXEC behind the command.";
            let message = format!("EXEC {kind} has no END-EXEC");
            let wrong = begin.wrong(code::UNCLOSED, &tokens[at], message, help);
            self.say(*wrong);
            return bound.unwrap_or(tokens.len());
        };
        if is_foreign {
            let help = "Take the command out, or translate it with its own preprocessor first.";
            let message = format!("EXEC {kind} is no command of DL/I");
            let wrong = begin.wrong(code::FOREIGN, &tokens[at + 1], message, help);
            let line = wrong.line;
            self.say(*wrong);
            let first = Foreign { system: kind.clone(), line, count: 0 };
            let foreign = self.found.foreign.get_or_insert(first);
            foreign.count += usize::from(foreign.system == kind);
        } else if !in_procedure {
            let help = "Put the command into the PROCEDURE DIVISION.";
            let message = "EXEC DLI stands outside of a PROCEDURE DIVISION";
            let wrong = begin.wrong(code::MISPLACED, &tokens[at], message, help);
            self.say(*wrong);
        } else {
            let site = Site { file, first: at, last };
            self.program().facts.uses_exec_dli = true;
            self.found.sites.insert(site);
        }
        last + 1
    }

    fn copy(&mut self, file: usize, tokens: &[Token], at: usize) -> usize {
        let end = sentence_end(tokens, at);
        let Some(token) = tokens.get(at + 1).filter(|token| token.kind != Kind::Period) else {
            return at + 1;
        };
        let shown = token.shown();
        let name = shown.trim_matches(['\'', '"']);
        let known = self.found.member_names.get(name).copied();
        let member = known.or_else(|| self.read_member(name));
        // A member that is not there is the compiler's to complain about.
        let Some(member) = member else { return end };
        self.copies += 1;
        let (code, message, help) = if let Some(closed) = self.closed(name) {
            (code::COPY_CYCLE, closed, "Let no member copy itself, not even through others.")
        } else if self.way.len() > DEPTH {
            let message = format!("the COPY of {name} is the {DEPTH}th within another");
            (code::COPY_LIMIT, message, "Copy the member from a place that is less deep.")
        } else if self.copies > COPIES {
            let message = format!("the source copies members more than {COPIES} times");
            (code::COPY_LIMIT, message, "Put members that are copied together into one.")
        } else {
            self.file(member);
            return end;
        };
        let wrong = self.found.files[file].wrong(code, token, message, help);
        self.say(*wrong);
        end
    }

    /// What is wrong with copying a member that has itself led here.
    fn closed(&self, name: &str) -> Option<String> {
        let names = || self.way[1..].iter().map(|file| &self.found.files[*file].name[..]);
        let begin = names().position(|other| other.eq_ignore_ascii_case(name))?;
        let between: Vec<&str> = names().skip(begin + 1).collect();
        let through = if between.is_empty() { "" } else { " through " };
        Some(format!("member {name} copies itself{through}{}", between.join(", ")))
    }

    fn read_member(&mut self, name: &str) -> Option<usize> {
        let text = self.members.member(name)?;
        self.found.files.push(File::new(name, text, self.format));
        let member = self.found.files.len() - 1;
        self.found.member_names.insert(name.to_owned(), member);
        Some(member)
    }

    fn say(&mut self, wrong: Diagnostic) {
        let earlier = &self.found.diagnostics;
        if earlier.len() < MOST && !earlier.contains(&wrong) {
            self.found.diagnostics.push(wrong);
        }
    }
}

fn is_replace(tokens: &[Token], at: usize) -> bool {
    let words = ["OFF", "ALSO", "LEADING", "TRAILING"];
    let is = |token: &Token| token.is_mark("==") || words.iter().any(|word| token.is(word));
    tokens.get(at + 1).is_some_and(is)
}

/// Behind the period that ends this sentence; periods in pseudo-text do not.
fn sentence_end(tokens: &[Token], at: usize) -> usize {
    let mut pseudo = false;
    for (offset, token) in tokens[at..].iter().enumerate() {
        pseudo ^= token.is_mark("==");
        if token.kind == Kind::Period && !pseudo {
            return at + offset + 1;
        }
    }
    tokens.len()
}

/// Whether a word behind USING is the name of a parameter.
fn is_parameter(token: &Token) -> bool {
    let others = ["BY", "REFERENCE", "VALUE", "OPTIONAL", "SIZE", "DEFAULT", "AUTO", "UNSIGNED"];
    token.kind == Kind::Word && !others.iter().any(|word| token.is(word))
}
