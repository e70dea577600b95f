//! A place in an expression, and what all kinds of expressions share: variables, attributes,
//! substitution.
//!
//! Invariants:
//!
//! 1. Recursion goes at most [`DEPTH_MAX`] deep, through parentheses and subscripts together.
//! 2. A value has at most [`VALUE_MAX`] characters and a substituted text [`TEXT_MAX`]; all that
//!    is made is paid for from one budget, so that no source takes time without bound.
//! 3. Nothing here changes a variable.

use std::cell;

use super::failure::Failure;
use super::variables::{Datum, Globals, Scope, element, elements};
use crate::diagnostic::code;
use crate::operands::cells_at;
use crate::text::{Cell, Origin, Text, closing, end_of_part, is_letter, is_symbol, string};

const DEPTH_MAX: usize = 32;
/// The longest value; the assembler allows 1,024 characters in a variable.
pub(crate) const VALUE_MAX: usize = 4096;
/// The longest text after substitution.
const TEXT_MAX: usize = 64 << 10;
const SUBSCRIPTS_MAX: usize = 8;

/// What is left of the effort that a source may cause.
#[derive(Debug)]
pub(crate) struct Work(cell::Cell<u64>);

impl Work {
    /// So much.
    pub(crate) fn new(units: u64) -> Self {
        Self(cell::Cell::new(units))
    }

    /// More of it, for a longer source.
    pub(crate) fn grant(&self, units: usize) {
        self.0.set(self.0.get().saturating_add(units as u64));
    }

    /// Takes some; `false` if it is used up.
    pub(crate) fn spend(&self, units: usize) -> bool {
        let left = self.0.get().checked_sub(units as u64);
        self.0.set(left.unwrap_or_default());
        left.is_some()
    }
}

/// What expressions are evaluated with.
#[derive(Clone, Copy)]
pub(crate) struct Env<'e> {
    pub(crate) scope: &'e Scope,
    pub(crate) globals: &'e Globals,
    pub(crate) work: &'e Work,
    pub(crate) origin: Origin,
}

/// A variable as it is written: `&NAME` or `&NAME(1,2)`.
#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) name: String,
    pub(crate) subscripts: Vec<i32>,
    /// From the ampersand up to the end, without a dot.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl<'e> Env<'e> {
    /// An expression in these cells.
    pub(crate) fn expression(self, cells: &'e [Cell]) -> Expression<'e> {
        Expression { env: self, cells, at: 0, depth: 0 }
    }

    /// The text of cells with variables replaced. What replaces one stands where the variable
    /// stood; a doubled ampersand stays.
    pub(crate) fn substitute(self, cells: &'e [Cell]) -> Result<Text, Failure> {
        self.expression(cells).substitute()
    }

    /// The number in a text value.
    pub(crate) fn number(text: &str) -> Option<i32> {
        let based = |digits: &str, radix| i64::from_str_radix(digits, radix).ok();
        let inner = |prefix: &str| text.strip_prefix(prefix)?.strip_suffix('\'');
        let value = if !text.ends_with('\'') {
            return text.parse().ok();
        } else if let Some(digits) = inner("X'") {
            based(digits, 16)?
        } else if let Some(digits) = inner("B'") {
            based(digits, 2)?
        } else {
            let bytes = codec::CodePage::Cp037.encode(inner("C'")?).ok()?;
            i64::try_from(codec::binary::decode_unsigned(&bytes).ok()?).ok()?
        };
        // X'FFFFFFFF' is -1, as in a register.
        i32::try_from(value).ok().or_else(|| Some(u32::try_from(value).ok()?.cast_signed()))
    }
}

/// A place in an expression.
pub(crate) struct Expression<'e> {
    pub(crate) env: Env<'e>,
    pub(crate) cells: &'e [Cell],
    pub(crate) at: usize,
    pub(crate) depth: usize,
}

impl<'e> Expression<'e> {
    /// The character here.
    pub(crate) fn peek(&self) -> Option<char> {
        self.peek_at(0)
    }

    /// The character so many behind.
    pub(crate) fn peek_at(&self, ahead: usize) -> Option<char> {
        self.cells.get(self.at + ahead).map(|cell| cell.ch)
    }

    /// Goes on if this character stands here.
    pub(crate) fn take(&mut self, ch: char) -> bool {
        let is_here = self.peek() == Some(ch);
        self.at += usize::from(is_here);
        is_here
    }

    /// Goes on to what is not blank.
    pub(crate) fn skip_blanks(&mut self) {
        while self.take(' ') {}
    }

    /// An error about the cells from `start` up to `end`.
    pub(crate) fn wrong(&self, start: usize, end: usize, message: impl Into<String>) -> Failure {
        Failure {
            place: self.env.origin.place(self.cells, start, end),
            code: code::EXPRESSION,
            message: message.into(),
            help: "Compare the expression with the assembler's rules for SETA, SETB and SETC.",
        }
    }

    /// An error about what stands here, where something else should.
    pub(crate) fn expected(&self, what: &str) -> Failure {
        let word = self.cells.get(self.at..).unwrap_or_default();
        let len = word.iter().take_while(|cell| cell.ch != ' ').count();
        let found = match len {
            0 => "nothing".to_owned(),
            _ => string(&word[..len.min(40)]),
        };
        self.wrong(self.at, self.at + len.max(1), format!("{what} is expected, found {found}"))
    }

    /// Nothing may follow.
    pub(crate) fn end(&mut self) -> Result<(), Failure> {
        self.skip_blanks();
        if self.at < self.cells.len() {
            Err(self.expected("the end of the expression"))
        } else {
            Ok(())
        }
    }

    /// One level deeper.
    pub(crate) fn deeper<T>(
        &mut self,
        inside: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if self.depth >= DEPTH_MAX {
            let mut failure = self.expected("a simpler expression");
            failure.code = code::TOO_DEEP;
            return Err(failure);
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    /// The expression between here and `end`.
    pub(crate) fn inner(&self, end: usize) -> Expression<'e> {
        let cells = &self.cells[..end.min(self.cells.len())];
        Expression { env: self.env, cells, at: self.at, depth: self.depth }
    }

    /// Pays for work.
    pub(crate) fn pay(&self, units: usize) -> Result<(), Failure> {
        if self.env.work.spend(units) {
            return Ok(());
        }
        let mut failure = self.expected("less work");
        failure.code = code::LOOP;
        failure.message = "expanding the source takes too long".to_owned();
        Err(failure)
    }

    /// The symbol here, in upper case; empty if there is none.
    pub(crate) fn symbol(&mut self) -> String {
        let rest = self.cells.get(self.at..).unwrap_or_default();
        if !rest.first().is_some_and(|cell| is_letter(cell.ch)) {
            return String::new();
        }
        let len = rest.iter().take_while(|cell| is_symbol(cell.ch)).count();
        self.at += len;
        string(&rest[..len]).to_ascii_uppercase()
    }

    /// The variable here.
    pub(crate) fn reference(&mut self) -> Result<Reference, Failure> {
        let start = self.at;
        if !self.take('&') {
            return Err(self.expected("a variable"));
        }
        if self.peek() == Some('(') {
            let place = self.env.origin.place(self.cells, start, start + 2);
            return Err(Failure::unsupported(place, "a variable with a made-up name, &(...),"));
        }
        let name = self.symbol();
        if name.is_empty() {
            let mut failure = self.wrong(start, start + 1, "this & is not followed by a name");
            failure.help = "Write && for an ampersand in a text.";
            return Err(failure);
        }
        let mut subscripts = Vec::new();
        if self.peek() == Some('(') {
            let close = closing(self.cells, self.at).ok_or_else(|| {
                self.wrong(self.at, self.at + 1, "this parenthesis is not closed")
            })?;
            self.at += 1;
            while self.at <= close && subscripts.len() < SUBSCRIPTS_MAX {
                let end = end_of_part(self.cells, self.at).min(close);
                let mut inner = self.inner(end);
                subscripts.push(inner.deeper(|inner| {
                    let number = inner.arithmetic()?;
                    inner.end()?;
                    Ok(number)
                })?);
                self.at = end + 1;
            }
            self.at = close + 1;
        }
        Ok(Reference { name, subscripts, start, end: self.at })
    }

    /// The value of a variable.
    pub(crate) fn value(&self, reference: &Reference) -> Result<Datum, Failure> {
        let scope = self.env.scope;
        let name = reference.name.as_str();
        if let Some(call) = &scope.call {
            if let Some(text) = call.parameters.get(name) {
                return self.sublist(text, &reference.subscripts, reference);
            }
            match (name, reference.subscripts.split_first()) {
                ("SYSLIST", Some((0, []))) => return Ok(Datum::Text(call.label.clone())),
                ("SYSLIST", Some((index, rest))) => {
                    let index = usize::try_from(*index).unwrap_or_default();
                    let text = index.checked_sub(1).and_then(|at| call.positional.get(at));
                    return self.sublist(text.map_or("", String::as_str), rest, reference);
                }
                ("SYSNDX", None) => return Ok(Datum::Text(format!("{:04}", call.number))),
                ("SYSMAC", None) => return Ok(Datum::Text(call.definition.name.clone())),
                ("SYSNEST", None) => return Ok(Datum::Number(call.depth as i32)),
                _ => {}
            }
        }
        if let Some(variable) = scope.variable(self.env.globals, name) {
            let datum = variable.get(self.index(reference)?);
            self.pay(1)?;
            return Ok(datum);
        }
        if name == "SYSPARM" {
            return Ok(Datum::Text(String::new()));
        }
        Err(self.undefined(reference))
    }

    /// Which element of a variable is meant: 0 for one without subscript.
    pub(crate) fn index(&self, reference: &Reference) -> Result<u32, Failure> {
        let one = |index: i32| u32::try_from(index).ok().filter(|index| *index > 0);
        let index = match reference.subscripts.as_slice() {
            [] => Some(0),
            [index] => one(*index),
            _ => None,
        };
        index.ok_or_else(|| {
            let message = format!("&{} needs one subscript, at least 1", reference.name);
            self.wrong(reference.start, reference.end, message)
        })
    }

    fn sublist(
        &self,
        text: &str,
        subscripts: &[i32],
        reference: &Reference,
    ) -> Result<Datum, Failure> {
        self.pay(1 + text.len() * subscripts.len())?;
        let mut text = text.to_owned();
        for subscript in subscripts {
            let index = u32::try_from(*subscript).ok().filter(|index| *index > 0);
            let index = index.ok_or_else(|| {
                let message = format!("&{} needs a subscript of at least 1", reference.name);
                self.wrong(reference.start, reference.end, message)
            })?;
            text = element(&text, index);
        }
        Ok(Datum::Text(text))
    }

    fn undefined(&self, reference: &Reference) -> Failure {
        let name = &reference.name;
        let place = self.env.origin.place(self.cells, reference.start, reference.end);
        if name.starts_with("SYS") {
            return Failure::unsupported(place, format!("&{name} here"));
        }
        Failure {
            place,
            code: code::UNDEFINED,
            message: format!("the variable &{name} is not defined"),
            help: "Declare it with LCLx or GBLx, set it first, or write && for an ampersand in a \
                   text.",
        }
    }

    /// K', N' or T' of the variable behind the apostrophe here, after its letter.
    pub(crate) fn attribute(&mut self) -> Result<Datum, Failure> {
        let start = self.at;
        let letter = self.peek().unwrap_or(' ').to_ascii_uppercase();
        self.at += 2;
        let is_variable = self.peek() == Some('&');
        if !is_variable || !matches!(letter, 'K' | 'N' | 'T') {
            let place = self.env.origin.place(self.cells, start, start + 2);
            return Err(Failure::unsupported(place, format!("the attribute {letter}' here")));
        }
        let reference = self.reference()?;
        // A dot may end the variable's name.
        self.take('.');
        let scope = self.env.scope;
        let is_list = reference.name == "SYSLIST" && reference.subscripts.is_empty();
        if letter == 'N' {
            let count = match (&scope.call, scope.variable(self.env.globals, &reference.name)) {
                (Some(call), _) if is_list => call.positional.len(),
                (_, Some(variable)) if !scope.is_parameter(&reference.name) => {
                    variable.highest() as usize
                }
                _ => {
                    let text = self.value(&reference)?.into_text();
                    self.pay(text.len())?;
                    count(&text)
                }
            };
            return Ok(Datum::Number(i32::try_from(count).unwrap_or(i32::MAX)));
        }
        let text = self.value(&reference)?.into_text();
        self.pay(text.len())?;
        if letter == 'K' {
            return Ok(Datum::Number(text.chars().count() as i32));
        }
        let kind = match Env::number(&text) {
            _ if text.is_empty() => "O",
            Some(_) => "N",
            None => "U",
        };
        Ok(Datum::Text(kind.to_owned()))
    }

    /// See [`Env::substitute`].
    pub(crate) fn substitute(&mut self) -> Result<Text, Failure> {
        let mut out = Text::new();
        while let Some(&here) = self.cells.get(self.at) {
            match (here.ch, self.peek_at(1)) {
                ('&', Some('&')) => {
                    out.extend([here, here]);
                    self.at += 2;
                }
                ('&', _) => {
                    let reference = self.reference()?;
                    let text = self.value(&reference)?.into_text();
                    self.take('.');
                    self.pay(text.len())?;
                    let behind = self.cells.get(reference.end - 1).map_or(here.column, |cell| {
                        if cell.card == here.card { cell.column } else { here.column }
                    });
                    let width = behind.saturating_sub(here.column).saturating_add(1);
                    out.extend(cells_at(&text, Cell { width, ..here }));
                }
                _ => {
                    out.push(here);
                    self.at += 1;
                }
            }
            if out.len() > TEXT_MAX {
                return Err(self.too_long(self.at.saturating_sub(1), self.at));
            }
        }
        Ok(out)
    }

    /// An error about a value that is too long.
    pub(crate) fn too_long(&self, start: usize, end: usize) -> Failure {
        Failure {
            place: self.env.origin.place(self.cells, start, end),
            code: code::VALUE_SIZE,
            message: format!("a text becomes longer than {VALUE_MAX} characters here"),
            help: "Check whether a loop adds to a variable without end.",
        }
    }
}

/// How many elements a parameter has.
fn count(text: &str) -> usize {
    match elements(text) {
        Some(elements) => elements.len(),
        None => usize::from(!text.is_empty()),
    }
}
