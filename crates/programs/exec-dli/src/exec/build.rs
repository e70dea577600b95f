//! Makes a command of its options, and gathers the program's items that go with it.
//!
//! Invariants:
//!
//! 1. An item of the program is passed once, however often the command names it.
//! 2. Every length that is not given is the length of its item, taken when the command is executed.
//! 3. The areas of a command that stores form one path: behind the first segment with an area, all
//!    have one.

use super::items::{Group, Item, Parts, find, parts};
use crate::code;
use crate::command::{
    Area, Command, Condition, Join, Number, Operator, Segment, Subset, Text, Verb,
};
use crate::diagnostic::{Checked, Diagnostic};
use crate::source::file::File;
use crate::source::words::{Kind, Token};

/// The most parameters and the most numbers of a command. With what stands in front of them, fewer
/// addresses than an entry of the region takes (128).
pub(crate) const MOST: usize = 120;

/// The most segments: a database has no more levels.
const LEVELS: usize = 15;

/// What is computed right before the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Computed {
    /// The length of this item.
    LengthOf(Vec<u8>),
    /// The value of this expression.
    Value(Vec<u8>),
}

/// A command with the items of the program that go with it, as COBOL text.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) command: Command,
    pub(crate) parameters: Vec<Vec<u8>>,
    pub(crate) numbers: Vec<Computed>,
}

/// Understands the command between EXEC DLI and END-EXEC.
pub(crate) fn statement(file: &File, tokens: &[Token], end: &Token) -> Checked<Statement> {
    let parts = parts(file, tokens, end)?;
    let command = Command::new(parts.verb);
    let statement = Statement { command, parameters: Vec::new(), numbers: Vec::new() };
    let mut builder = Builder { file, statement };
    builder.command(&parts)?;
    let too_many = [builder.statement.parameters.len(), builder.statement.numbers.len()];
    if too_many.iter().any(|count| *count > MOST) || parts.segments.len() > LEVELS {
        let message = format!("{} is too long a command", parts.verb_token.shown());
        let help = format!("Name at most {LEVELS} segments and {MOST} items of the program.");
        return Err(file.wrong(code::TOO_MUCH, parts.verb_token, message, &help));
    }
    Ok(builder.statement)
}

struct Builder<'f> {
    file: &'f File,
    statement: Statement,
}

impl Builder<'_> {
    fn command(&mut self, parts: &Parts<'_>) -> Checked<()> {
        let group = &parts.command;
        let name = match parts.verb {
            Verb::Statistics => Some(Text::Literal(statistics(group).into_bytes())),
            _ => self.name(group)?,
        };
        self.statement.command.name = name;
        let pcb = find(group, "PCB").map(|item| self.number(item.arguments[0]));
        self.statement.command.pcb = pcb.transpose()?;
        let most = find(group, "MAXLENGTH").map(|item| self.number(item.arguments[0]));
        self.statement.command.most = most.transpose()?;
        let area = ["INTO", "FROM", "AREA"].iter().find_map(|keyword| find(group, keyword));
        if let Some(area) = area {
            let length = find(group, "LENGTH").or_else(|| find(group, "SEGLENGTH"));
            self.statement.command.area = Some(self.area(area.arguments[0], length)?);
        }
        if let Some(item) = find(group, "KEYFEEDBACK") {
            let length = find(group, "FEEDBACKLEN");
            self.statement.command.feedback = Some(self.area(item.arguments[0], length)?);
        }
        self.saved(group)?;
        for group in &parts.segments {
            let segment = self.segment(group)?;
            self.statement.command.segments.push(segment);
        }
        self.path(parts)
    }

    /// The argument that the command itself has.
    fn name(&mut self, group: &Group<'_>) -> Checked<Option<Text>> {
        let lengths = [("ID", 8), ("TOKEN", 4), ("PSB", 8), ("LOCKCLASS", 1), ("STATUSGROUP", 1)];
        for (keyword, length) in lengths {
            let Some(item) = find(group, keyword) else { continue };
            return match keyword {
                "PSB" => self.object_name(item).map(Some),
                "LOCKCLASS" | "STATUSGROUP" => self.class(item).map(Some),
                _ => self.text(item.arguments[0], Some(Number::Literal(length))).map(Some),
            };
        }
        Ok(None)
    }

    /// AREA1 LENGTH1 to AREA7 LENGTH7.
    fn saved(&mut self, group: &Group<'_>) -> Checked<()> {
        for number in b'1'..=b'7' {
            let numbered = |keyword: &str| {
                let is_it = |item: &&Item<'_>| {
                    item.keyword == keyword && item.token.text.last() == Some(&number)
                };
                group.iter().find(is_it)
            };
            let (area, length) = (numbered("AREA#"), numbered("LENGTH#"));
            let before = usize::from(number - b'1');
            match (area, length) {
                (Some(area), _) if self.statement.command.saved.len() == before => {
                    let area = self.area(area.arguments[0], length)?;
                    self.statement.command.saved.push(area);
                }
                (None, None) => {}
                (Some(item), _) | (None, Some(item)) => {
                    let shown = item.token.shown();
                    let message = format!("{shown} does not continue AREA1, AREA2 and so on");
                    let help = "Number the areas from 1 without gaps.";
                    return Err(self.file.wrong(code::SAVED, item.token, message, help));
                }
            }
        }
        Ok(())
    }

    fn segment(&mut self, group: &Group<'_>) -> Checked<Segment> {
        let is = |keyword: &str| find(group, keyword).is_some();
        let mut segment = Segment {
            is_variable: is("VARIABLE"),
            is_first: is("FIRST"),
            is_last: is("LAST"),
            is_current: is("CURRENT"),
            sets_parent: is("SETPARENT"),
            ..Segment::default()
        };
        if let Some(item) = find(group, "SEGMENT") {
            segment.name = self.object_name(item)?;
        }
        if let Some(item) = find(group, "INTO").or_else(|| find(group, "FROM")) {
            segment.area = Some(self.area(item.arguments[0], find(group, "SEGLENGTH"))?);
        }
        if let Some(item) = find(group, "OFFSET") {
            segment.offset = Some(self.number(item.arguments[0])?);
        }
        if is("LOCKED") {
            segment.lock = Some(Text::Literal(b"A".to_vec()));
        }
        if let Some(item) = find(group, "LOCKCLASS") {
            segment.lock = Some(self.class(item)?);
        }
        let subsets = [
            ("MOVENEXT", b'M'),
            ("GETFIRST", b'R'),
            ("SET", b'S'),
            ("SETCOND", b'W'),
            ("SETZERO", b'Z'),
        ];
        for (keyword, code) in subsets {
            let Some(item) = find(group, keyword) else { continue };
            let pointers = self.text(item.arguments[0], None)?;
            segment.subsets.push(Subset { code, pointers });
        }
        if let Some(item) = find(group, "KEYS") {
            let length = self.length(find(group, "KEYLENGTH"))?;
            segment.keys = Some(self.text(item.arguments[0], length)?);
        }
        if let Some(item) = find(group, "WHERE") {
            segment.conditions = self.conditions(item, find(group, "FIELDLENGTH"))?;
        }
        Ok(segment)
    }

    /// Which segments need areas, and whether those that have one form a path.
    fn path(&self, parts: &Parts<'_>) -> Checked<()> {
        let verb = parts.verb;
        let segments = &self.statement.command.segments;
        let stores = matches!(verb, Verb::Insert | Verb::Replace | Verb::Delete | Verb::Load);
        if !stores {
            return Ok(());
        }
        if let (Verb::Delete, Some(second)) = (verb, parts.segments.get(1))
            && let Some(item) = find(second, "SEGMENT")
        {
            let message = "DLET names one segment; what stands below it goes with it";
            let help = "Leave the other segments out.";
            return Err(self.file.wrong(code::PATH, item.token, message, help));
        }
        let first = segments.iter().position(|segment| segment.area.is_some());
        let Some(first) = first else {
            let message = format!("{} has no SEGMENT with FROM", parts.verb_token.shown());
            let help = "Write SEGMENT(name) FROM(area).";
            return Err(self.file.wrong(code::MISSING, parts.verb_token, message, help));
        };
        let gap = segments[first..].iter().position(|segment| segment.area.is_none());
        let at =
            if verb == Verb::Replace && first > 0 { Some(0) } else { gap.map(|gap| first + gap) };
        if let Some(item) = at.and_then(|at| find(&parts.segments[at], "SEGMENT")) {
            let message = "this segment needs a FROM, since others of its path have one";
            let help = "Write FROM(area) behind the segment, or leave the segment out.";
            return Err(self.file.wrong(code::PATH, item.token, message, help));
        }
        Ok(())
    }

    /// The conditions of a WHERE.
    fn conditions(
        &mut self,
        item: &Item<'_>,
        lengths: Option<&Item<'_>>,
    ) -> Checked<Vec<Condition>> {
        let mut out: Vec<Condition> = Vec::new();
        let mut lengths = lengths.map(|item| item.arguments.as_slice()).unwrap_or_default().iter();
        for argument in &item.arguments {
            let mut rest: &[Token] = argument;
            let mut join = Join::And;
            while !rest.is_empty() {
                let operator = rest.get(1).and_then(operator);
                let (Some(operator), true) = (operator, rest.len() > 2) else {
                    return Err(self.bad_condition(&rest[0]));
                };
                let field = self.plain_name(&rest[0])?;
                let behind = &rest[2..];
                let end = value_end(behind);
                if end == 0 {
                    return Err(self.bad_condition(&rest[1]));
                }
                let length = lengths.next().map(|length| self.number(length)).transpose()?;
                let value = self.text(&behind[..end], length)?;
                out.push(Condition { join, field, operator, value });
                let Some(mark) = behind.get(end) else { break };
                join = joined(mark).unwrap_or(Join::And);
                rest = &behind[end + 1..];
                if rest.is_empty() {
                    return Err(self.bad_condition(mark));
                }
            }
        }
        if let Some(argument) = lengths.next() {
            let help = "Give one length for each value of the WHERE, in their order.";
            let message = "FIELDLENGTH has more lengths than WHERE has values";
            return Err(self.file.wrong(code::LENGTHS, &argument[0], message, help));
        }
        Ok(out)
    }

    fn bad_condition(&self, token: &Token) -> Box<Diagnostic> {
        let message = format!("the condition cannot be understood at {}", token.shown());
        let help = "Write WHERE(field = area), with AND or OR between conditions.";
        self.file.wrong(code::CONDITION, token, message, help)
    }

    /// A name, or the item in inner parentheses that holds one.
    fn object_name(&mut self, item: &Item<'_>) -> Checked<Text> {
        match item.arguments[0] {
            [token] => self.plain_name(token).map(Text::Literal),
            [open, inner @ .., close] if open.is_mark("(") && close.is_mark(")") => {
                if inner.is_empty() {
                    return Err(self.bad_name(open));
                }
                self.text(inner, Some(Number::Literal(8)))
            }
            tokens => Err(self.bad_name(&tokens[0])),
        }
    }

    fn plain_name(&self, token: &Token) -> Checked<Vec<u8>> {
        let name = literal(token).unwrap_or_else(|| token.text.clone()).to_ascii_uppercase();
        let is_first = |b: &u8| b.is_ascii_uppercase() || b"#@$".contains(b);
        let fits = (1..=8).contains(&name.len())
            && name.first().is_some_and(is_first)
            && name.iter().all(|b| is_first(b) || b.is_ascii_digit());
        if fits { Ok(name) } else { Err(self.bad_name(token)) }
    }

    fn bad_name(&self, token: &Token) -> Box<Diagnostic> {
        let help = "Write a name of one to eight letters and digits, or an item as ((item)).";
        let message = format!("{} is no name", token.shown());
        self.file.wrong(code::NAME, token, message, help)
    }

    /// A class of one letter: a literal, the letter itself, or an item that holds it.
    fn class(&mut self, item: &Item<'_>) -> Checked<Text> {
        if let [token] = item.arguments[0]
            && token.kind == Kind::Word
            && token.text.len() == 1
            && token.text[0].is_ascii_alphabetic()
        {
            return Ok(Text::Literal(token.text.to_ascii_uppercase()));
        }
        self.text(item.arguments[0], Some(Number::Literal(1)))
    }

    /// A literal, or an item; its own length if none is given.
    fn text(&mut self, tokens: &[Token], length: Option<Number>) -> Checked<Text> {
        if let [token] = tokens {
            if let Some(value) = literal(token) {
                return Ok(Text::Literal(value));
            }
            if token.kind == Kind::Word && token.text.iter().all(u8::is_ascii_digit) {
                return Ok(Text::Literal(token.text.clone()));
            }
        }
        let area = self.area_of(tokens, length)?;
        Ok(Text::Area(area))
    }

    fn area(&mut self, tokens: &[Token], length: Option<&Item<'_>>) -> Checked<Area> {
        let length = self.length(length)?;
        self.area_of(tokens, length)
    }

    fn length(&mut self, item: Option<&Item<'_>>) -> Checked<Option<Number>> {
        item.map(|item| self.number(item.arguments[0])).transpose()
    }

    fn area_of(&mut self, tokens: &[Token], length: Option<Number>) -> Checked<Area> {
        let is_item = |token: &Token| match token.kind {
            Kind::Word => !token.text.iter().all(u8::is_ascii_digit),
            // A placeholder such as `:PREFIX:` in a member that is copied with REPLACING.
            Kind::Mark => token.is_mark(":"),
            Kind::Literal | Kind::Period => false,
        };
        if !is_item(&tokens[0]) {
            let message = format!("{} is no item of the program", tokens[0].shown());
            let help = "Write the name of an item of the DATA DIVISION.";
            return Err(self.file.wrong(code::ARGUMENT, &tokens[0], message, help));
        }
        let text = join(tokens);
        let parameter = index(&mut self.statement.parameters, text.clone());
        let length = match length {
            Some(length) => length,
            None => self.slot(Computed::LengthOf(text)),
        };
        Ok(Area { parameter, length })
    }

    fn number(&mut self, tokens: &[Token]) -> Checked<Number> {
        let digits = |token: &Token| std::str::from_utf8(&token.text).ok()?.parse::<i32>().ok();
        match tokens {
            [token] if token.kind == Kind::Word && digits(token).is_some() => {
                Ok(Number::Literal(digits(token).unwrap_or(0)))
            }
            [length, of, item @ ..] if length.is("LENGTH") && of.is("OF") && !item.is_empty() => {
                Ok(self.slot(Computed::LengthOf(join(item))))
            }
            [length, item @ ..] if length.is("LENGTH") && !item.is_empty() => {
                Ok(self.slot(Computed::LengthOf(join(item))))
            }
            [first, ..] if first.kind == Kind::Literal => {
                let message = format!("{} is no number", first.shown());
                let help = "Write a number, or a numeric item of the program.";
                Err(self.file.wrong(code::ARGUMENT, first, message, help))
            }
            _ => Ok(self.slot(Computed::Value(join(tokens)))),
        }
    }

    fn slot(&mut self, computed: Computed) -> Number {
        Number::Slot(index(&mut self.statement.numbers, computed))
    }
}

/// The index of a value in a list, to which it is added if it is not there. Past what a command can
/// have it is of no meaning: the command is then refused by the list's length.
fn index<T: PartialEq>(list: &mut Vec<T>, value: T) -> u8 {
    if list.len() > MOST {
        return u8::MAX;
    }
    let known = list.iter().position(|known| *known == value);
    let at = known.unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    });
    u8::try_from(at).unwrap_or(u8::MAX)
}

/// The function of a STAT call: access method, kind.
fn statistics(group: &Group<'_>) -> String {
    let method = if find(group, "NONVSAM").is_some() { "DBAS" } else { "VBAS" };
    let kind = match (find(group, "UNFORMATTED"), find(group, "SUMMARY")) {
        (Some(_), _) => 'U',
        (_, Some(_)) => 'S',
        _ => 'F',
    };
    format!("{method}{kind}")
}

/// Tokens as COBOL text, with blanks only where the source has some: what a COPY is to replace
/// must look as it did.
fn join(tokens: &[Token]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut end = tokens.first().map_or(0, |token| token.start);
    for token in tokens {
        if token.start != end {
            out.push(b' ');
        }
        out.extend_from_slice(&token.text);
        end = token.end;
    }
    out
}

/// What a literal stands for; nothing if the token is none.
fn literal(token: &Token) -> Option<Vec<u8>> {
    let quote = token.text.iter().position(|b| matches!(b, b'\'' | b'"'))?;
    if token.kind != Kind::Literal {
        return None;
    }
    let mark = token.text[quote];
    let inner = token.text.get(quote + 1..)?;
    let inner = inner.strip_suffix(&[mark]).unwrap_or(inner);
    if token.text[..quote].eq_ignore_ascii_case(b"X") {
        return base::hex::read(std::str::from_utf8(inner).ok()?);
    }
    let mut out = Vec::with_capacity(inner.len());
    let mut bytes = inner.iter().peekable();
    while let Some(byte) = bytes.next() {
        out.push(*byte);
        if *byte == mark && bytes.peek() == Some(&&mark) {
            bytes.next();
        }
    }
    Some(out)
}

fn operator(token: &Token) -> Option<Operator> {
    let text = token.text.to_ascii_uppercase();
    Some(match text.as_slice() {
        b"=" | b"EQ" => Operator::Equal,
        b">" | b"GT" => Operator::Greater,
        b">=" | b"=>" | b"GE" => Operator::GreaterOrEqual,
        b"<" | b"LT" => Operator::Less,
        b"<=" | b"=<" | b"LE" => Operator::LessOrEqual,
        b"^=" | b"=^" | b"!=" | b"<>" | b"NE" => Operator::NotEqual,
        _ => return None,
    })
}

fn joined(token: &Token) -> Option<Join> {
    let text = token.text.to_ascii_uppercase();
    Some(match text.as_slice() {
        b"AND" | b"&" | b"&&" | b"*" => Join::And,
        b"OR" | b"|" | b"||" | b"+" => Join::Or,
        b"#" => Join::Independent,
        _ => return None,
    })
}

/// Where a value ends: at the next word that joins, outside of parentheses.
fn value_end(tokens: &[Token]) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        depth += usize::from(token.is_mark("("));
        depth = depth.saturating_sub(usize::from(token.is_mark(")")));
        if depth == 0 && joined(token).is_some() {
            return at;
        }
    }
    tokens.len()
}
