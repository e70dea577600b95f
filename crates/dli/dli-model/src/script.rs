//! Calls as text: cases with what is expected, and differences that were found.
//!
//! | line | meaning |
//! |---|---|
//! | `* text` | a comment |
//! | `sources NAME` | the sources of that name in the library of cases |
//! | `sources` ... `end` | macro source: DBDs and one PSB |
//! | `online` | a path insert needs P (DLI-12.28) |
//! | `given` | the steps that follow come before each case; all must end with blanks |
//! | `case TITLE` | a case begins, in an empty database with what was given |
//! | `PCB FUNCTION [<"AREA"] [SSA]...` | a call; PCBs count from 0 |
//! | `= STATUS [LEVEL [SEGMENT [KEY [AREA]]]]` | what the call before must give back |
//! | `checkpoint`, `rollback` | a commit, a backout |
//!
//! An SSA is quoted as the program passes it, or short: `NAME*CODES(FIELD>=VALUE&FIELD=VALUE)`,
//! padded as DL/I wants it. In quotes `\xHH` is a byte. In what is expected `OK` is a blank
//! status, `-` a blank name, an empty key or an untouched area, `?` anything.
//!
//! Invariants:
//! 1. A script that is shown and parsed again is the same.

use std::fmt;

use base::{Code, Coded};

use crate::Feedback;

/// A call or a sync point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A call.
    Call(Call),
    /// A commit.
    Checkpoint,
    /// A backout.
    Rollback,
}

/// A call, and what it must give back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The database PCB, from 0.
    pub pcb: usize,
    /// The function.
    pub function: String,
    /// The input of ISRT, REPL and DLET.
    pub area: Vec<u8>,
    /// The SSAs.
    pub ssas: Vec<Vec<u8>>,
    /// What is expected, if anything.
    pub expected: Option<Expected>,
}

/// What a call must give back; what is `None` may be anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// The status code.
    pub status: [u8; 2],
    /// The level.
    pub level: Option<u8>,
    /// The segment name, padded.
    pub segment: Option<[u8; 8]>,
    /// The key feedback.
    pub key: Option<Vec<u8>>,
    /// The area; `Some(None)` if it must be untouched.
    pub area: Option<Option<Vec<u8>>>,
}

impl Expected {
    /// Whether a feedback is as expected.
    #[must_use]
    pub fn is_met_by(&self, feedback: &Feedback) -> bool {
        self.status == feedback.status
            && self.level.is_none_or(|level| level == feedback.level)
            && self.segment.is_none_or(|segment| segment == feedback.segment)
            && self.key.as_ref().is_none_or(|key| *key == feedback.key)
            && self.area.as_ref().is_none_or(|area| *area == feedback.area)
    }

    /// All of a feedback.
    #[must_use]
    pub fn of(feedback: &Feedback) -> Expected {
        Expected {
            status: feedback.status,
            level: Some(feedback.level),
            segment: Some(feedback.segment),
            key: Some(feedback.key.clone()),
            area: Some(feedback.area.clone()),
        }
    }
}

/// One case of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// What it shows, with the name of its rule.
    pub title: String,
    /// Its calls.
    pub steps: Vec<Step>,
}

/// Sources, what is given, and cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The macro source, or the name of one in the library of cases.
    pub sources: Sources,
    /// Whether the program runs online.
    pub online: bool,
    /// What comes before each case.
    pub given: Vec<Step>,
    /// The cases.
    pub cases: Vec<Case>,
}

/// Where DBDs and PSB come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sources {
    /// The library of cases.
    Named(String),
    /// These lines.
    Text(String),
}

impl Default for Sources {
    fn default() -> Sources {
        Sources::Text(String::new())
    }
}

/// A line that is no part of a script.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line}: {what}: {text}")]
pub struct ScriptError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: &'static str,
    /// The line's text.
    pub text: String,
}

impl Coded for ScriptError {
    fn code(&self) -> Code {
        Code("HFI904")
    }

    fn remedy(&self) -> String {
        "see the table of lines in the documentation of the script module".to_owned()
    }
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// At the first line that has no meaning.
    pub fn parse(text: &str) -> Result<Script, ScriptError> {
        let mut script = Script::default();
        let mut source: Option<String> = None;
        for (at, line) in text.lines().enumerate() {
            let wrong = |what| ScriptError { line: at + 1, what, text: line.to_owned() };
            if let Some(lines) = &mut source {
                if line.trim() == "end" {
                    script.sources = Sources::Text(source.take().unwrap_or_default());
                } else {
                    lines.push_str(line);
                    lines.push('\n');
                }
                continue;
            }
            let line = line.trim();
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "" => {}
                _ if word.starts_with('*') => {}
                "sources" if rest.is_empty() => source = Some(String::new()),
                "sources" => script.sources = Sources::Named(rest.trim().to_owned()),
                "online" => script.online = true,
                "given" => script.given.clear(),
                "case" => {
                    script.cases.push(Case { title: rest.trim().to_owned(), steps: Vec::new() });
                }
                "checkpoint" => script.steps().push(Step::Checkpoint),
                "rollback" => script.steps().push(Step::Rollback),
                "=" => {
                    let expected = expected(rest).map_err(wrong)?;
                    let Some(Step::Call(call)) = script.steps().last_mut() else {
                        return Err(wrong("no call stands before it"));
                    };
                    call.expected = Some(expected);
                }
                _ => {
                    let call = call(line).map_err(wrong)?;
                    script.steps().push(Step::Call(call));
                }
            }
        }
        Ok(script)
    }

    fn steps(&mut self) -> &mut Vec<Step> {
        match self.cases.last_mut() {
            Some(case) => &mut case.steps,
            None => &mut self.given,
        }
    }
}

type Wrong = &'static str;

fn call(line: &str) -> Result<Call, Wrong> {
    let mut tokens = tokens(line)?.into_iter();
    let pcb = tokens.next().and_then(|pcb| pcb.parse().ok()).ok_or("no number of a PCB")?;
    let function = tokens.next().ok_or("no function")?;
    let function = match function.starts_with('"') {
        true => String::from_utf8(unquote(&function)?).map_err(|_| "a function is text")?,
        false => function,
    };
    let mut call = Call { pcb, function, ..Call::default() };
    for token in tokens {
        match token.strip_prefix('<') {
            Some(area) => call.area = unquote(area)?,
            None if token.starts_with('"') => call.ssas.push(unquote(&token)?),
            None => call.ssas.push(long_form(&token)?),
        }
    }
    Ok(call)
}

fn expected(text: &str) -> Result<Expected, Wrong> {
    let mut tokens = tokens(text)?.into_iter();
    let mut expected = Expected::default();
    let status = tokens.next().ok_or("no status")?;
    let status = if status == "OK" { "  ".to_owned() } else { status };
    expected.status = status.as_bytes().try_into().map_err(|_| "a status has two characters")?;
    let mut next = || tokens.next().filter(|token| token != "?");
    if let Some(level) = next() {
        expected.level = Some(level.parse().map_err(|_| "the level is no number")?);
    }
    if let Some(name) = next() {
        let name = if name == "-" { "" } else { &name };
        let padded = format!("{name:<8}");
        let bytes = padded.as_bytes().try_into().map_err(|_| "a name has eight characters")?;
        expected.segment = Some(bytes);
    }
    if let Some(key) = next() {
        expected.key = Some(if key == "-" { Vec::new() } else { unquote(&key)? });
    }
    if let Some(area) = next() {
        expected.area = Some(if area == "-" { None } else { Some(unquote(&area)?) });
    }
    Ok(expected)
}

/// Words parted by blanks; blanks in quotes stay.
fn tokens(line: &str) -> Result<Vec<String>, Wrong> {
    let mut tokens = Vec::new();
    let mut token = String::new();
    let mut quoted = false;
    for char in line.chars() {
        quoted ^= char == '"';
        if char == ' ' && !quoted {
            tokens.extend((!token.is_empty()).then(|| std::mem::take(&mut token)));
        } else {
            token.push(char);
        }
    }
    tokens.extend((!token.is_empty()).then_some(token));
    if quoted { Err("a quote is not closed") } else { Ok(tokens) }
}

fn unquote(token: &str) -> Result<Vec<u8>, Wrong> {
    let inner = token.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let mut chars = inner.ok_or("no quotes")?.chars();
    let mut bytes = Vec::new();
    while let Some(char) = chars.next() {
        if char != '\\' {
            bytes.push(u8::try_from(char).map_err(|_| "not in the first 256 characters")?);
            continue;
        }
        let hex: String = chars.by_ref().take(3).skip(1).collect();
        bytes.push(u8::from_str_radix(&hex, 16).map_err(|_| "no two hex digits behind \\x")?);
    }
    Ok(bytes)
}

/// `NAME*CODES(FIELD>=VALUE&...)` as the program passes it.
fn long_form(token: &str) -> Result<Vec<u8>, Wrong> {
    let (head, qualification) = match token.split_once('(') {
        Some((head, rest)) => (head, Some(rest.strip_suffix(')').ok_or("no ) at the end")?)),
        None => (token, None),
    };
    let (name, codes) = match head.split_once('*') {
        Some((name, codes)) => (name, format!("*{codes}")),
        None => (head, String::new()),
    };
    let mut ssa = format!("{name:<8}{codes}");
    match qualification {
        None => ssa.push(' '),
        Some(value) if codes.contains('C') => ssa.push_str(&format!("({value})")),
        Some(conditions) => {
            ssa.push('(');
            let is_boolean = |char: char| matches!(char, '&' | '|' | '#');
            let mut rest = conditions;
            loop {
                let end = rest.find(is_boolean).unwrap_or(rest.len());
                ssa.push_str(&condition(&rest[..end])?);
                let Some(boolean) = rest[end..].chars().next() else { break };
                ssa.push(boolean);
                rest = &rest[end + 1..];
            }
            ssa.push(')');
        }
    }
    Ok(ssa.into_bytes())
}

fn condition(text: &str) -> Result<String, Wrong> {
    let is_operator = |char: char| matches!(char, '=' | '<' | '>' | '^');
    let from = text.find(is_operator).ok_or("no operator")?;
    let len = text[from..].chars().take_while(|char| is_operator(*char)).count();
    let (field, operator) = (&text[..from], &text[from..from + len]);
    Ok(format!("{field:<8}{operator:<2}{}", &text[from + len..]))
}

/// Bytes in quotes.
struct Quoted<'a>(&'a [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for byte in self.0 {
            match byte {
                b'"' | b'\\' => write!(f, "\\x{byte:02x}")?,
                b' '..=b'~' => write!(f, "{}", char::from(*byte))?,
                _ => write!(f, "\\x{byte:02x}")?,
            }
        }
        f.write_str("\"")
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = !self.function.is_empty() && !self.function.contains([' ', '"', '<']);
        match plain {
            true => write!(f, "{} {}", self.pcb, self.function)?,
            false => write!(f, "{} {}", self.pcb, Quoted(self.function.as_bytes()))?,
        }
        if !self.area.is_empty() {
            write!(f, " <{}", Quoted(&self.area))?;
        }
        self.ssas.iter().try_for_each(|ssa| write!(f, " {}", Quoted(ssa)))?;
        self.expected.iter().try_for_each(|expected| write!(f, "\n= {expected}"))
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.status {
            b"  " => f.write_str("OK")?,
            status => write!(f, "{}", String::from_utf8_lossy(status))?,
        }
        match self.level {
            Some(level) => write!(f, " {level:02}")?,
            None => f.write_str(" ?")?,
        }
        match &self.segment {
            Some([b' ', ..]) => f.write_str(" -")?,
            Some(name) => write!(f, " {}", String::from_utf8_lossy(name).trim_end())?,
            None => f.write_str(" ?")?,
        }
        match &self.key {
            Some(key) if key.is_empty() => f.write_str(" -")?,
            Some(key) => write!(f, " {}", Quoted(key))?,
            None => f.write_str(" ?")?,
        }
        match &self.area {
            Some(Some(area)) => write!(f, " {}", Quoted(area)),
            Some(None) => f.write_str(" -"),
            None => f.write_str(" ?"),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Call(call) => write!(f, "{call}"),
            Step::Checkpoint => f.write_str("checkpoint"),
            Step::Rollback => f.write_str("rollback"),
        }
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.sources {
            Sources::Named(name) => writeln!(f, "sources {name}")?,
            Sources::Text(text) => writeln!(f, "sources\n{}\nend", text.trim_end_matches('\n'))?,
        }
        if self.online {
            writeln!(f, "online")?;
        }
        writeln!(f, "given")?;
        self.given.iter().try_for_each(|step| writeln!(f, "{step}"))?;
        for case in &self.cases {
            writeln!(f, "case {}", case.title)?;
            case.steps.iter().try_for_each(|step| writeln!(f, "{step}"))?;
        }
        Ok(())
    }
}
