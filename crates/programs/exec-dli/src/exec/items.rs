//! The words of a command as options, each with the tokens of its arguments.
//!
//! Invariants:
//!
//! 1. An item's arguments lie within its parentheses, and these are closed.
//! 2. Every group stands for the command (the first) or for one segment, in their order.
//! 3. No option stands twice in a group; every option is one that the verb has.
//! 4. An option of a segment stands behind its SEGMENT: in front of the first it would be lost.

use super::verbs;
use crate::code;
use crate::command::Verb;
use crate::diagnostic::Checked;
use crate::source::file::File;
use crate::source::words::{Kind, Token};

/// One option.
#[derive(Clone, Debug)]
pub(crate) struct Item<'a> {
    /// The name under which it is listed.
    pub(crate) keyword: &'static str,
    /// The word itself.
    pub(crate) token: &'a Token,
    /// Its arguments, as commas part them.
    pub(crate) arguments: Vec<&'a [Token]>,
}

/// The options of the command itself, or of one segment.
pub(crate) type Group<'a> = Vec<Item<'a>>;

/// A command taken apart.
pub(crate) struct Parts<'a> {
    pub(crate) verb: Verb,
    pub(crate) verb_token: &'a Token,
    pub(crate) command: Group<'a>,
    pub(crate) segments: Vec<Group<'a>>,
}

/// The item of that name in a group.
pub(crate) fn find<'g, 'a>(group: &'g [Item<'a>], keyword: &str) -> Option<&'g Item<'a>> {
    group.iter().find(|item| item.keyword == keyword)
}

/// Takes a command apart; `tokens` are those between EXEC DLI and END-EXEC, `end` is END-EXEC.
pub(crate) fn parts<'a>(file: &File, tokens: &'a [Token], end: &'a Token) -> Checked<Parts<'a>> {
    let (verb, length) = verb(file, tokens, end)?;
    let mut reader = Reader { file, verb, tokens, at: length };
    let mut parts =
        Parts { verb, verb_token: &tokens[0], command: Group::new(), segments: Vec::new() };
    // Whether the last group has its SEGMENT, so that a prefix begins the next one.
    let mut complete = true;
    while let Some(item) = reader.item()? {
        let keyword = item.keyword;
        let of_command = verbs::OF_THE_COMMAND.contains(&keyword)
            || verb == Verb::Position && matches!(keyword, "INTO" | "LENGTH");
        if verbs::PREFIXES.contains(&keyword) && complete {
            parts.segments.push(Group::new());
            complete = false;
        }
        complete |= keyword == "SEGMENT";
        let group = match parts.segments.last_mut() {
            Some(last) if !of_command => last,
            _ => &mut parts.command,
        };
        let numbered = |known: &&Item<'_>| known.token.text.eq_ignore_ascii_case(&item.token.text);
        if let Some(known) = group.iter().find(|known| known.keyword == keyword)
            && (!keyword.ends_with('#') || group.iter().any(|known| numbered(&known)))
        {
            let message = format!("{} stands twice", known.token.shown());
            return Err(file.wrong(code::TWICE, item.token, message, "Leave one of them out."));
        }
        group.push(item);
    }
    check(file, &parts)?;
    Ok(parts)
}

fn verb(file: &File, tokens: &[Token], end: &Token) -> Checked<(Verb, usize)> {
    for (spelling, verb) in verbs::VERBS {
        let words = spelling.split(' ').count();
        let is_it =
            |words: &[Token]| spelling.split(' ').zip(words).all(|(word, token)| token.is(word));
        if tokens.get(..words).is_some_and(is_it) {
            return Ok((*verb, words));
        }
    }
    let first = tokens.first();
    let shown = first.map_or("nothing".to_owned(), Token::shown);
    let message = format!("{shown} is no command of DL/I");
    let help = "Write GU, GN, GNP, ISRT, REPL, DLET, LOAD, CHKP, SYMCHKP, XRST or another.";
    Err(file.wrong(code::NO_VERB, first.unwrap_or(end), message, help))
}

/// Whether the options of each group fit each other, and none is missing.
fn check(file: &File, parts: &Parts<'_>) -> Checked<()> {
    for group in std::iter::once(&parts.command).chain(&parts.segments) {
        for (one, other) in verbs::EXCLUSIVE {
            if let (Some(_), Some(item)) = (find(group, one), find(group, other)) {
                let message = format!("{one} and {other} exclude each other");
                let help = "Leave one of them out.";
                return Err(file.wrong(code::CONFLICT, item.token, message, help));
            }
        }
        for (one, other) in verbs::NEEDS {
            if let (Some(item), None) = (find(group, one), find(group, other)) {
                let message = format!("{one} means nothing without {other}");
                let help = format!("Write {other} too, or leave {one} out.");
                return Err(file.wrong(code::MISSING, item.token, message, &help));
            }
        }
    }
    if let Some(first) = parts.segments.iter().find(|group| find(group, "SEGMENT").is_none())
        && let Some(item) = first.first()
    {
        let message = format!("no SEGMENT follows {}", item.token.shown());
        let help = "Write SEGMENT(name) behind it.";
        return Err(file.wrong(code::MISSING, item.token, message, help));
    }
    let misplaced = match (parts.segments.is_empty(), parts.verb) {
        // Where it stands is the area of the command itself.
        (_, Verb::Position) => &[],
        (true, _) => verbs::OF_A_SEGMENT,
        (false, _) => verbs::BEHIND_A_SEGMENT,
    };
    if let Some(item) = parts.command.iter().find(|item| misplaced.contains(&item.keyword)) {
        let message = format!("{} stands in front of its SEGMENT", item.token.shown());
        let help = "Write it behind the SEGMENT(name) that it speaks of.";
        return Err(file.wrong(code::BEFORE, item.token, message, help));
    }
    for needed in verbs::required(parts.verb) {
        if find(&parts.command, needed).is_none() {
            let option = if *needed == "PCB" { "USING PCB" } else { needed };
            let message = format!("{} needs {option}", parts.verb_token.shown());
            let help = format!("Write {option} with its argument.");
            return Err(file.wrong(code::MISSING, parts.verb_token, message, &help));
        }
    }
    Ok(())
}

struct Reader<'f, 'a> {
    file: &'f File,
    verb: Verb,
    tokens: &'a [Token],
    at: usize,
}

impl<'a> Reader<'_, 'a> {
    fn item(&mut self) -> Checked<Option<Item<'a>>> {
        while self.tokens.get(self.at).is_some_and(|token| token.is_mark(",") || token.is("USING"))
        {
            self.at += 1;
        }
        let Some(token) = self.tokens.get(self.at) else { return Ok(None) };
        self.at += 1;
        let keyword = token.upper().and_then(|word| verbs::keyword(&word));
        let Some(keyword) = keyword else {
            let help = "Correct the word, or put END-EXEC in front of it.";
            let message = format!("{} is no option of EXEC DLI", token.shown());
            return Err(self.file.wrong(code::UNKNOWN_OPTION, token, message, help));
        };
        if !verbs::options(self.verb).contains(&keyword) {
            let message = format!("this command has no {}", token.shown());
            return Err(self.file.wrong(code::NOT_HERE, token, message, "Leave it out."));
        }
        let arguments = self.arguments()?;
        let empty = arguments.iter().any(|argument| argument.is_empty());
        let many = arguments.len() > 1 && keyword != "FIELDLENGTH" && keyword != "WHERE";
        if verbs::is_flag(keyword) != arguments.is_empty() || empty || many {
            let message = match arguments.is_empty() {
                true => format!("{} has no argument", token.shown()),
                false => format!("{} has a wrong argument", token.shown()),
            };
            let help = match verbs::is_flag(keyword) {
                true => "Leave the parentheses out.",
                false => "Write one argument in parentheses.",
            };
            return Err(self.file.wrong(code::ARGUMENT, token, message, help));
        }
        Ok(Some(Item { keyword, token, arguments }))
    }

    /// What stands in the parentheses that follow, parted by the commas outside of inner ones.
    fn arguments(&mut self) -> Checked<Vec<&'a [Token]>> {
        let mut out = Vec::new();
        let Some(open) = self.tokens.get(self.at).filter(|token| token.is_mark("(")) else {
            return Ok(out);
        };
        self.at += 1;
        let mut start = self.at;
        let mut depth = 0_usize;
        while let Some(token) = self.tokens.get(self.at) {
            let is_end = token.is_mark(")") && depth == 0;
            if is_end || token.is_mark(",") && depth == 0 {
                out.push(&self.tokens[start..self.at]);
                start = self.at + 1;
            }
            depth += usize::from(token.is_mark("("));
            depth = depth.saturating_sub(usize::from(token.is_mark(")")));
            self.at += 1;
            if is_end {
                return Ok(out);
            }
            if token.kind == Kind::Period {
                break;
            }
        }
        let help = "Write the closing parenthesis.";
        Err(self.file.wrong(code::PARENTHESIS, open, "the parenthesis is not closed", help))
    }
}
