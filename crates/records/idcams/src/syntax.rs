//! From the words of a statement to a command with its parameters, as the tables allow them.
//!
//! Invariants:
//! 1. A command that is answered has every parameter that its table asks for, none twice, none
//!    that excludes another, and each with as many values as it may have.
//! 2. Parentheses nest at most [`DEPTH_MAX`] deep, so that no text exhausts the stack.

use crate::fault::{Fault, Place};
use crate::keywords::{COMMANDS, Verb, define_table};
use crate::lexis::{Lexeme, Token};
use crate::table::{Keyword, Shape, Table};

/// How deep parentheses may nest.
pub(crate) const DEPTH_MAX: usize = 16;

/// A value as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// What it says.
    pub text: Text,
    /// Where it begins.
    pub place: Place,
}

/// The text of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// Without apostrophes.
    Word(String),
    /// In apostrophes.
    Quoted(String),
    /// `X'..'`.
    Hex(Vec<u8>),
}

impl Value {
    /// Its characters: those of a word in upper case, bytes in hexadecimal digits.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.text {
            Text::Word(word) => word.to_ascii_uppercase(),
            Text::Quoted(text) => text.clone(),
            Text::Hex(bytes) => base::hex::upper(bytes),
        }
    }

    /// Its characters as they were written: names of files.
    #[must_use]
    pub fn literal(&self) -> String {
        match &self.text {
            Text::Word(text) | Text::Quoted(text) => text.clone(),
            Text::Hex(_) => self.name(),
        }
    }

    /// Its bytes: those of keys.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        match &self.text {
            Text::Word(text) | Text::Quoted(text) => text.clone().into_bytes(),
            Text::Hex(bytes) => bytes.clone(),
        }
    }

    /// The number that it is: decimal, or `X'..'`.
    ///
    /// # Errors
    /// If it is none, or one above 2^63.
    pub fn number(&self) -> Result<u64, Fault> {
        let number = match &self.text {
            Text::Word(word) | Text::Quoted(word) => word.parse::<u64>().ok(),
            Text::Hex(bytes) if bytes.len() <= 8 => {
                Some(bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
            }
            Text::Hex(_) => None,
        };
        number.filter(|number| *number <= i64::MAX as u64).ok_or_else(|| {
            Fault::new("IDC3208I", self.place, format!("'{}' is no number", self.name()))
        })
    }
}

/// A piece of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Value(Value),
    List { name: Option<Value>, nodes: Vec<Node>, place: Place },
}

/// Parameters with their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// What stands without a keyword, in its order.
    pub positional: Vec<Value>,
    /// What stands with one.
    given: Vec<Parameter>,
    /// Where they begin.
    pub place: Place,
}

/// One parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The keyword, in full.
    pub name: &'static str,
    /// Where it stands.
    pub place: Place,
    /// Its values.
    pub values: Vec<Value>,
    /// Its sub-parameters; of a list of objects one for each.
    pub rows: Vec<Parameters>,
}

impl Parameters {
    /// The parameter of that keyword.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Parameter> {
        self.given.iter().find(|one| one.name == name)
    }

    /// Whether it was given.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// All that were given.
    pub fn iter(&self) -> impl Iterator<Item = &Parameter> {
        self.given.iter()
    }

    /// The first value of a parameter.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.get(name)?.values.first()
    }

    /// All values of a parameter.
    #[must_use]
    pub fn values(&self, name: &str) -> &[Value] {
        self.get(name).map(|one| one.values.as_slice()).unwrap_or_default()
    }

    /// The sub-parameters of a parameter that has some.
    #[must_use]
    pub fn sub(&self, name: &str) -> Option<&Parameters> {
        self.get(name)?.rows.first()
    }

    /// The number that a parameter is given.
    ///
    /// # Errors
    /// If it is no number.
    pub fn number(&self, name: &str) -> Result<Option<u64>, Fault> {
        self.value(name).map(Value::number).transpose()
    }

    /// The same, of 32 bits.
    ///
    /// # Errors
    /// If it is no number, or too large.
    pub fn small(&self, name: &str) -> Result<Option<u32>, Fault> {
        self.value(name).map(small).transpose()
    }

    /// The numbers that a parameter is given.
    ///
    /// # Errors
    /// If one is no number, or too large.
    pub fn numbers(&self, name: &str) -> Result<Vec<u32>, Fault> {
        self.values(name).iter().map(small).collect()
    }
}

/// A number of 32 bits.
fn small(value: &Value) -> Result<u32, Fault> {
    let number = value.number()?;
    u32::try_from(number)
        .map_err(|_| Fault::new("IDC3208I", value.place, format!("{number} is too large")))
}

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// What is to be done.
    pub verb: Verb,
    /// Behind DEFINE: of what kind.
    pub kind: Option<&'static str>,
    /// With what.
    pub parameters: Parameters,
    /// Where it begins.
    pub place: Place,
}

/// Reads the words of a command.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn command_of(tokens: &[Token]) -> Result<Command, Fault> {
    let Some((first, rest)) = tokens.split_first() else {
        return Err(Fault::new("IDC3217I", Place::default(), "there is no command"));
    };
    if let Some(wrong) = tokens.iter().find_map(wrong_of) {
        return Err(wrong);
    }
    let word = first.word().unwrap_or_default();
    let Some(row) = COMMANDS.iter().find(|row| row.names.contains(&word.as_str())) else {
        let text = match word.is_empty() {
            true => "a statement begins with a command".to_owned(),
            false => format!("'{word}' is no command"),
        };
        return Err(Fault::new("IDC3217I", first.place, text));
    };
    let nodes = nodes_of(rest)?;
    let (table, kind) = match row.verb {
        Verb::Define => {
            let kind = nodes.first().and_then(name_of).map(Value::name);
            let kind = kind.as_deref().and_then(define_table);
            let Some((kind, table)) = kind else {
                let text = "DEFINE is not followed by what to define: CLUSTER, ALTERNATEINDEX, \
                            PATH, NONVSAM, GENERATIONDATAGROUP, USERCATALOG, ALIAS or SPACE";
                return Err(Fault::new("IDC3213I", first.place, text));
            };
            (table, Some(kind))
        }
        _ => (row.table, None),
    };
    let parameters = bind(table, &nodes, &word, first.place)?;
    Ok(Command { verb: row.verb, kind, parameters, place: first.place })
}

fn wrong_of(token: &Token) -> Option<Fault> {
    match &token.lexeme {
        Lexeme::Wrong(fault) => Some(fault.clone()),
        _ => None,
    }
}

fn name_of(node: &Node) -> Option<&Value> {
    match node {
        Node::Value(value) => Some(value),
        Node::List { name, .. } => name.as_ref(),
    }
}

/// The tree of parentheses.
fn nodes_of(tokens: &[Token]) -> Result<Vec<Node>, Fault> {
    type Open = (Option<Value>, Place, Vec<Node>);
    let mut stack: Vec<Open> = Vec::new();
    let mut nodes: Vec<Node> = Vec::new();
    for token in tokens {
        let place = token.place;
        match &token.lexeme {
            Lexeme::Open => {
                if stack.len() >= DEPTH_MAX {
                    let text = format!("parentheses nest deeper than {DEPTH_MAX}");
                    return Err(Fault::new("IDC3205I", place, text));
                }
                let name = match nodes.pop() {
                    Some(Node::Value(value)) if matches!(value.text, Text::Word(_)) => Some(value),
                    Some(other) => {
                        nodes.push(other);
                        None
                    }
                    None => None,
                };
                stack.push((name, place, std::mem::take(&mut nodes)));
            }
            Lexeme::Close => {
                let Some((name, opened, before)) = stack.pop() else {
                    let text = "a right parenthesis has no left one";
                    return Err(Fault::new("IDC3218I", place, text));
                };
                let inner = std::mem::replace(&mut nodes, before);
                nodes.push(Node::List { name, nodes: inner, place: opened });
            }
            Lexeme::Word(word) => {
                nodes.push(Node::Value(Value { text: Text::Word(word.clone()), place }));
            }
            Lexeme::Quoted(text) => {
                nodes.push(Node::Value(Value { text: Text::Quoted(text.clone()), place }));
            }
            Lexeme::Hex(bytes) => {
                nodes.push(Node::Value(Value { text: Text::Hex(bytes.clone()), place }));
            }
            Lexeme::Compare(_) => {
                let text = "a comparison stands in IF alone";
                return Err(Fault::new("IDC3205I", place, text));
            }
            Lexeme::Wrong(fault) => return Err(fault.clone()),
        }
    }
    match stack.pop() {
        None => Ok(nodes),
        Some((_, place, _)) => {
            let text = "the right parenthesis for this left one is missing; is the line continued?";
            Err(Fault::new("IDC3209I", place, text))
        }
    }
}

/// Fits nodes to a table.
fn bind(table: &Table, nodes: &[Node], owner: &str, place: Place) -> Result<Parameters, Fault> {
    let mut bound = Parameters { place, ..Parameters::default() };
    let (least, most) = table.positional;
    for node in nodes {
        let keyword = name_of(node).filter(|value| matches!(value.text, Text::Word(_)));
        let keyword = keyword.filter(|_| bound.positional.len() >= usize::from(least.min(1)));
        let keyword = keyword.and_then(|value| Some((table.find(&value.name())?, value.place)));
        match keyword {
            Some((keyword, at)) => {
                if bound.has(keyword.name) {
                    let text = format!("'{}' is given twice", keyword.name);
                    return Err(Fault::new("IDC3210I", at, text));
                }
                let inner = match node {
                    Node::Value(_) => None,
                    Node::List { nodes, .. } => Some(nodes.as_slice()),
                };
                bound.given.push(parameter_of(keyword, inner, at)?);
            }
            None if bound.positional.len() < usize::from(most) => {
                bound.positional.extend(values_of(std::slice::from_ref(node))?);
            }
            None => return Err(improper(node, owner)),
        }
    }
    bound.fit(table, owner)?;
    Ok(bound)
}

fn improper(node: &Node, owner: &str) -> Fault {
    match (node, name_of(node)) {
        (_, Some(value)) => {
            let name = value.name();
            let text = format!("'{name}' is no keyword of {owner}, or too many values stand here");
            Fault::new("IDC3211I", value.place, text)
        }
        (Node::List { place, .. }, None) => {
            let text = format!("a list without a keyword stands in {owner}");
            Fault::new("IDC3205I", *place, text)
        }
        (Node::Value(value), None) => Fault::new("IDC3211I", value.place, "an improper value"),
    }
}

impl Parameters {
    /// Whether all that is needed is there, and nothing that excludes each other.
    fn fit(&self, table: &Table, owner: &str) -> Result<(), Fault> {
        let (least, most) = table.positional;
        if self.positional.len() < usize::from(least) {
            let text = format!("{owner} needs a name");
            return Err(Fault::new("IDC3213I", self.place, text));
        }
        if let Some(extra) = self.positional.get(usize::from(most)) {
            let text = format!("{owner} takes {most} names at most");
            return Err(Fault::new("IDC3207I", extra.place, text));
        }
        for group in table.exclusive {
            let mut of_group = self.given.iter().filter(|one| group.contains(&one.name));
            if let (Some(one), Some(other)) = (of_group.next(), of_group.next()) {
                let text = format!("'{}' and '{}' exclude each other", one.name, other.name);
                return Err(Fault::new("IDC3210I", other.place, text));
            }
        }
        for group in table.required {
            if !self.given.iter().any(|one| group.contains(&one.name)) {
                let text = format!("{owner} needs {}", group.join(" or "));
                return Err(Fault::new("IDC3213I", self.place, text));
            }
        }
        Ok(())
    }
}

fn parameter_of(
    keyword: &'static Keyword,
    inner: Option<&[Node]>,
    place: Place,
) -> Result<Parameter, Fault> {
    let name = keyword.name;
    let mut made = Parameter { name, place, values: Vec::new(), rows: Vec::new() };
    let missing = || {
        let text = format!("'{name}' needs values in parentheses");
        Fault::new("IDC3212I", place, text)
    };
    match &keyword.shape {
        Shape::Flag => {
            if inner.is_some_and(|nodes| !nodes.is_empty()) {
                let text = format!("'{name}' takes no values");
                return Err(Fault::new("IDC3211I", place, text));
            }
        }
        Shape::Values(least, most) => {
            made.values = values_of(inner.ok_or_else(missing)?)?;
            let count = made.values.len();
            if count < usize::from(*least) {
                return Err(missing());
            }
            if count > usize::from(*most) {
                let text = format!("'{name}' takes {most} values at most, not {count}");
                return Err(Fault::new("IDC3207I", place, text));
            }
        }
        Shape::Sub(table) => {
            made.rows.push(bind(table, inner.ok_or_else(missing)?, name, place)?);
        }
        Shape::Rows(table) => {
            for node in inner.ok_or_else(missing)? {
                let row = match node {
                    Node::List { name: None, nodes, .. } => nodes.as_slice(),
                    other => std::slice::from_ref(other),
                };
                made.rows.push(bind(table, row, name, place)?);
            }
            if made.rows.is_empty() {
                return Err(missing());
            }
        }
    }
    Ok(made)
}

/// Nodes that are values. `NAME(+1)`, a generation or a member, is one.
fn values_of(nodes: &[Node]) -> Result<Vec<Value>, Fault> {
    let mut values = Vec::with_capacity(nodes.len());
    for node in nodes {
        match node {
            Node::Value(value) => values.push(value.clone()),
            Node::List { name: Some(name), nodes, place } => match nodes.as_slice() {
                [Node::Value(inner)] => {
                    let text = format!("{}({})", name.name(), inner.name());
                    values.push(Value { text: Text::Word(text), place: name.place });
                }
                _ => {
                    let text = format!("'{}' is no keyword here", name.name());
                    return Err(Fault::new("IDC3211I", *place, text));
                }
            },
            Node::List { name: None, nodes, place } => {
                let flat = nodes.iter().all(|node| matches!(node, Node::Value(_)));
                if !flat {
                    let text = "a list stands in a list of values";
                    return Err(Fault::new("IDC3205I", *place, text));
                }
                values.extend(values_of(nodes)?);
            }
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexis::lines_of;

    fn read(text: &str) -> Result<Command, Fault> {
        command_of(&lines_of(text)[0].tokens)
    }

    #[test]
    fn a_cluster_is_defined_with_abbreviations() {
        let text = " DEF CL (NAME(BANK.ACCT) IXD KEYS(8 0) RECSZ(100,200) SHR(2 3) -\n \
                    VOL(A B)) DATA (NAME(BANK.ACCT.DATA) CISZ(4096)) -\n \
                    INDEX(NAME(BANK.ACCT.INDEX))\n";
        let command = read(text).expect("a command");
        assert_eq!((command.verb, command.kind), (Verb::Define, Some("CLUSTER")));
        let cluster = command.parameters.sub("CLUSTER").expect("CLUSTER");
        assert!(cluster.has("INDEXED"));
        assert_eq!(cluster.numbers("RECORDSIZE"), Ok(vec![100, 200]));
        assert_eq!(cluster.values("VOLUMES").len(), 2);
        let data = command.parameters.sub("DATA").expect("DATA");
        assert_eq!(data.small("CONTROLINTERVALSIZE"), Ok(Some(4096)));
    }

    #[test]
    fn values_stay_as_they_are_written_and_generations_are_names() {
        let command =
            read(" REPRO IFILE(IN) ODS(A.B(+1)) FKEY(X'00FF') TOKEY('ab c')\n").expect("a command");
        let parameters = &command.parameters;
        assert_eq!(parameters.value("OUTDATASET").map(Value::name), Some("A.B(+1)".into()));
        assert_eq!(parameters.value("FROMKEY").map(Value::bytes), Some(vec![0, 255]));
        assert_eq!(parameters.value("TOKEY").map(Value::bytes), Some(b"ab c".to_vec()));
    }

    #[test]
    fn what_is_wrong_is_said_by_its_id_and_place() {
        let cases = [
            (" FROB A\n", "IDC3217I", 2),
            (" DEFINE\n", "IDC3213I", 2),
            (" REPRO INFILE(A) OUTFILE(B\n", "IDC3209I", 25),
            (" REPRO INFILE(A) OUTFILE(B))\n", "IDC3218I", 28),
            (" REPRO INFILE(A) INDATASET(B) OUTFILE(C)\n", "IDC3210I", 18),
            (" REPRO INFILE(A)\n", "IDC3213I", 2),
            (" REPRO INFILE(A) OUTFILE(B) FROB(3)\n", "IDC3211I", 29),
            (" REPRO INFILE(A) OUTFILE(B) COUNT\n", "IDC3212I", 29),
            (" REPRO INFILE(A) OUTFILE(B) COUNT(1 2)\n", "IDC3207I", 29),
            (" REPRO INFILE(A) OUTFILE(B) COUNT(1) COUNT(2)\n", "IDC3210I", 38),
            (" VERIFY DATASET(X'C')\n", "IDC3208I", 17),
        ];
        for (text, id, column) in cases {
            let fault = read(text).expect_err(text);
            assert_eq!((fault.id, fault.place.column), (id, column), "{text}: {fault}");
        }
    }

    #[test]
    fn objects_are_rows_with_parameters_of_their_own() {
        let command =
            read(" IMPORT IFILE(IN) OBJECTS((A.B NEWNAME(C.D) VOL(X)) (E.F NEWNAME(G.H)))\n")
                .expect("a command");
        let rows = &command.parameters.get("OBJECTS").expect("OBJECTS").rows;
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[1].positional[0].name(), "E.F");
        assert_eq!(rows[1].value("NEWNAME").map(Value::name), Some("G.H".into()));
    }
}
