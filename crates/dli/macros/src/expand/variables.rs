//! Variable symbols: their kinds, values and scopes.
//!
//! Invariants:
//!
//! 1. A variable has one kind for life; elements that were never set hold its kind's null value.
//! 2. A name means a parameter of the macro first, then what the scope declared, then what the
//!    system provides.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::definition::Macro;
use crate::statement::Place;
use crate::text::Scan;

/// How many branches a macro, or open code, may take unless ACTR says otherwise.
const BRANCHES: u32 = 4096;

/// What a variable holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Number,
    Truth,
    Text,
}

impl Kind {
    /// The kind that the last letter of GBLx, LCLx and SETx names.
    pub(crate) fn of(op: &str) -> Self {
        match op.as_bytes().last() {
            Some(b'A') => Self::Number,
            Some(b'B') => Self::Truth,
            _ => Self::Text,
        }
    }

    /// The operation that sets such a variable.
    pub(crate) fn setter(self) -> &'static str {
        match self {
            Self::Number => "SETA",
            Self::Truth => "SETB",
            Self::Text => "SETC",
        }
    }
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Datum {
    Number(i32),
    Truth(bool),
    Text(String),
}

impl Datum {
    fn null(kind: Kind) -> Self {
        match kind {
            Kind::Number => Self::Number(0),
            Kind::Truth => Self::Truth(false),
            Kind::Text => Self::Text(String::new()),
        }
    }

    /// What the assembler puts in the place of a variable: of numbers the magnitude alone.
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Number(number) => number.unsigned_abs().to_string(),
            Self::Truth(truth) => u8::from(truth).to_string(),
            Self::Text(text) => text,
        }
    }
}

/// A variable with its elements; one without subscript has element 0.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) kind: Kind,
    elements: BTreeMap<u32, Datum>,
}

impl Variable {
    /// One that was not set yet.
    pub(crate) fn new(kind: Kind) -> Self {
        Self { kind, elements: BTreeMap::new() }
    }

    /// The value of an element.
    pub(crate) fn get(&self, index: u32) -> Datum {
        self.elements.get(&index).cloned().unwrap_or_else(|| Datum::null(self.kind))
    }

    /// Sets an element.
    pub(crate) fn set(&mut self, index: u32, datum: Datum) {
        self.elements.insert(index, datum);
    }

    /// The highest element that was set.
    pub(crate) fn highest(&self) -> u32 {
        self.elements.keys().next_back().copied().unwrap_or_default()
    }
}

/// The global variables.
pub(crate) type Globals = BTreeMap<String, Variable>;

/// What is known while a macro runs, or in open code.
#[derive(Debug)]
pub(crate) struct Scope {
    locals: BTreeMap<String, Variable>,
    declared_global: BTreeSet<String>,
    /// The call, unless this is open code.
    pub(crate) call: Option<Call>,
    /// How many branches may still be taken.
    pub(crate) branches: u32,
}

/// A call of a macro.
#[derive(Debug)]
pub(crate) struct Call {
    /// Where it stands in open code.
    pub(crate) place: Place,
    pub(crate) definition: Rc<Macro>,
    /// The label parameter, the positional ones that have names, and the keyword ones.
    pub(crate) parameters: BTreeMap<String, String>,
    pub(crate) label: String,
    /// All positional ones.
    pub(crate) positional: Vec<String>,
    /// The how many-th call this is, for &SYSNDX.
    pub(crate) number: u32,
    /// How many calls it lies in, itself included.
    pub(crate) depth: usize,
}

impl Scope {
    /// That of open code, or of a call.
    pub(crate) fn new(call: Option<Call>) -> Self {
        Self { locals: BTreeMap::new(), declared_global: BTreeSet::new(), call, branches: BRANCHES }
    }

    /// Whether a name is a parameter.
    pub(crate) fn is_parameter(&self, name: &str) -> bool {
        self.call.as_ref().is_some_and(|call| call.parameters.contains_key(name))
    }

    /// A variable that this scope declared or set.
    pub(crate) fn variable<'v>(&'v self, globals: &'v Globals, name: &str) -> Option<&'v Variable> {
        if self.declared_global.contains(name) {
            return globals.get(name);
        }
        self.locals.get(name)
    }

    /// The same to be set; made as a local one if it is not there.
    pub(crate) fn variable_mut<'v>(
        &'v mut self,
        globals: &'v mut Globals,
        name: &str,
        kind: Kind,
    ) -> &'v mut Variable {
        let home = if self.declared_global.contains(name) { globals } else { &mut self.locals };
        home.entry(name.to_owned()).or_insert_with(|| Variable::new(kind))
    }

    /// Declares a variable; the kind it has already, if it is another.
    pub(crate) fn declare(
        &mut self,
        globals: &mut Globals,
        name: &str,
        kind: Kind,
        is_global: bool,
    ) -> Result<(), Kind> {
        if is_global && !self.locals.contains_key(name) {
            self.declared_global.insert(name.to_owned());
        }
        let known = self.variable_mut(globals, name, kind).kind;
        if known == kind { Ok(()) } else { Err(known) }
    }
}

/// The elements of a sublist `(A,B)`; `None` if the text is none.
pub(crate) fn elements(text: &str) -> Option<Vec<String>> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    let mut elements = vec![String::new()];
    let mut scan = Scan::default();
    let mut chars = inner.chars().peekable();
    while let Some(ch) = chars.next() {
        if scan.depth == 0 && !scan.quoted {
            match ch {
                ',' => {
                    scan.step(ch, chars.peek().copied());
                    elements.push(String::new());
                    continue;
                }
                // The parenthesis at the front closes here already: two lists, or worse.
                ')' => return None,
                _ => {}
            }
        }
        scan.step(ch, chars.peek().copied());
        elements.last_mut()?.push(ch);
    }
    Some(elements)
}

/// The n-th element of a sublist, from 1; what is no list is its own only element.
pub(crate) fn element(text: &str, index: u32) -> String {
    match elements(text) {
        Some(elements) => {
            let index = usize::try_from(index).unwrap_or(usize::MAX);
            elements.into_iter().nth(index.saturating_sub(1)).unwrap_or_default()
        }
        None if index == 1 => text.to_owned(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sublists_have_elements() {
        let list = "(A,(B,C),'D,E',,F)";
        for (index, expected) in [(1, "A"), (2, "(B,C)"), (3, "'D,E'"), (4, ""), (5, "F"), (6, "")]
        {
            assert_eq!(element(list, index), expected, "{index}");
        }
        assert_eq!(element("A", 1), "A");
        assert_eq!(element("A", 2), "");
        assert_eq!(elements("(A)(B)"), None);
        assert_eq!(elements("()"), Some(vec![String::new()]));
        assert_eq!(elements(""), None);
        assert_eq!(elements("("), None);
    }

    #[test]
    fn variables_have_scopes_and_kinds() {
        let mut globals = Globals::new();
        let mut first = Scope::new(None);
        let mut second = Scope::new(None);
        first.declare(&mut globals, "G", Kind::Number, true).unwrap();
        first.declare(&mut globals, "L", Kind::Text, false).unwrap();
        first.variable_mut(&mut globals, "G", Kind::Number).set(0, Datum::Number(-5));
        assert!(second.variable(&globals, "G").is_none());
        assert_eq!(second.declare(&mut globals, "G", Kind::Text, true), Err(Kind::Number));
        assert_eq!(second.variable(&globals, "G").unwrap().get(0), Datum::Number(-5));
        assert_eq!(first.variable(&globals, "L").unwrap().get(3), Datum::Text(String::new()));
        assert_eq!(Datum::Number(-5).into_text(), "5");
        assert_eq!(Datum::Truth(true).into_text(), "1");
    }
}
