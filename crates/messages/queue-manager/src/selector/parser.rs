//! From the words of a selector to what it means.
//!
//! 1. Conditions within conditions are limited in depth, so that no text exhausts the stack.

use super::BadSelector;
use super::lexer::{Token, TokenKind, tokens};
use crate::pattern::Piece;

const DEPTH_MAX: usize = 64;
/// Words of the longest selector: what is built from them leans to one side and is walked by
/// recursion where it is dropped.
const TOKENS_MAX: usize = 2_000;

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compare {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// What a selector means. Conditions and values are one type, as properties may be conditions.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Condition {
    Or(Box<Condition>, Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
    Compare(Compare, Box<Condition>, Box<Condition>),
    Between(Box<Condition>, Box<Condition>, Box<Condition>),
    In(Box<Condition>, Vec<String>),
    Like(Box<Condition>, Vec<Piece>),
    IsNull(Box<Condition>),
    Arithmetic(Arithmetic, Box<Condition>, Box<Condition>),
    Negative(Box<Condition>),
    Name(String),
    Text(String),
    Integer(i64),
    Real(f64),
    Boolean(bool),
}

pub(super) fn parse(text: &str) -> Result<Condition, BadSelector> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0 };
    if let Some(first) = parser.tokens.get(TOKENS_MAX) {
        return Err(BadSelector { at: first.at, why: "the selector has too many words" });
    }
    let condition = parser.condition()?;
    match parser.peek() {
        TokenKind::End => Ok(condition),
        _ => parser.bad("the condition should end here"),
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

type Parsed = Result<Condition, BadSelector>;

impl Parser {
    fn peek(&self) -> &TokenKind {
        &self.tokens[self.at].kind
    }

    fn bad<T>(&self, why: &'static str) -> Result<T, BadSelector> {
        Err(BadSelector { at: self.tokens[self.at].at, why })
    }

    fn step(&mut self) -> TokenKind {
        let kind = self.tokens[self.at].kind.clone();
        // The end stays where it is.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        kind
    }

    fn keyword(&mut self, keyword: &str) -> bool {
        let found = matches!(self.peek(), TokenKind::Keyword(word) if *word == keyword);
        if found {
            self.step();
        }
        found
    }

    fn sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), TokenKind::Sign(known) if *known == sign);
        if found {
            self.step();
        }
        found
    }

    fn condition(&mut self) -> Parsed {
        let mut left = self.and()?;
        while self.keyword("OR") {
            left = Condition::Or(Box::new(left), Box::new(self.and()?));
        }
        Ok(left)
    }

    fn and(&mut self) -> Parsed {
        let mut left = self.not()?;
        while self.keyword("AND") {
            left = Condition::And(Box::new(left), Box::new(self.not()?));
        }
        Ok(left)
    }

    fn not(&mut self) -> Parsed {
        let mut negated = false;
        while self.keyword("NOT") {
            negated = !negated;
        }
        let inner = self.predicate()?;
        Ok(if negated { Condition::Not(Box::new(inner)) } else { inner })
    }

    fn predicate(&mut self) -> Parsed {
        let left = self.sum()?;
        if let Some(compare) = self.compare() {
            return Ok(Condition::Compare(compare, Box::new(left), Box::new(self.sum()?)));
        }
        if self.keyword("IS") {
            let negated = self.keyword("NOT");
            if !self.keyword("NULL") {
                return self.bad("NULL should stand here");
            }
            return Ok(negate(negated, Condition::IsNull(Box::new(left))));
        }
        let negated = self.keyword("NOT");
        if self.keyword("BETWEEN") {
            let low = self.sum()?;
            if !self.keyword("AND") {
                return self.bad("AND should stand here");
            }
            let (low, high) = (Box::new(low), Box::new(self.sum()?));
            return Ok(negate(negated, Condition::Between(Box::new(left), low, high)));
        }
        if self.keyword("IN") {
            let list = self.list()?;
            return Ok(negate(negated, Condition::In(Box::new(left), list)));
        }
        if self.keyword("LIKE") {
            let pattern = self.pattern()?;
            return Ok(negate(negated, Condition::Like(Box::new(left), pattern)));
        }
        if negated { self.bad("BETWEEN, IN or LIKE should stand here") } else { Ok(left) }
    }

    fn compare(&mut self) -> Option<Compare> {
        let TokenKind::Sign(sign) = self.peek() else { return None };
        let compare = match *sign {
            "=" => Compare::Equal,
            "<>" => Compare::Unequal,
            "<" => Compare::Less,
            "<=" => Compare::LessOrEqual,
            ">" => Compare::Greater,
            ">=" => Compare::GreaterOrEqual,
            _ => return None,
        };
        self.step();
        Some(compare)
    }

    fn text(&mut self) -> Result<String, BadSelector> {
        match self.peek() {
            TokenKind::Text(text) => {
                let text = text.clone();
                self.step();
                Ok(text)
            }
            _ => self.bad("a text should stand here"),
        }
    }

    fn list(&mut self) -> Result<Vec<String>, BadSelector> {
        if !self.sign("(") {
            return self.bad("a list should stand here");
        }
        let mut list = vec![self.text()?];
        while self.sign(",") {
            list.push(self.text()?);
        }
        if self.sign(")") { Ok(list) } else { self.bad("the list should end here") }
    }

    fn pattern(&mut self) -> Result<Vec<Piece>, BadSelector> {
        let text = self.text()?;
        let mut escape = None;
        if self.keyword("ESCAPE") {
            let at = self.at;
            let text = self.text()?;
            let mut chars = text.chars();
            escape = chars.next();
            if escape.is_none() || chars.next().is_some() {
                self.at = at;
                return self.bad("one character should stand here");
            }
        }
        let mut pieces = Vec::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            pieces.push(match c {
                _ if Some(c) == escape => Piece::One(chars.next().unwrap_or(c)),
                '_' => Piece::AnyOne,
                '%' => Piece::Any,
                _ => Piece::One(c),
            });
        }
        Ok(pieces)
    }

    fn sum(&mut self) -> Parsed {
        let mut left = self.product()?;
        loop {
            let arithmetic = match self.peek() {
                TokenKind::Sign("+") => Arithmetic::Add,
                TokenKind::Sign("-") => Arithmetic::Subtract,
                _ => return Ok(left),
            };
            self.step();
            left = Condition::Arithmetic(arithmetic, Box::new(left), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Parsed {
        let mut left = self.factor()?;
        loop {
            let arithmetic = match self.peek() {
                TokenKind::Sign("*") => Arithmetic::Multiply,
                TokenKind::Sign("/") => Arithmetic::Divide,
                _ => return Ok(left),
            };
            self.step();
            left = Condition::Arithmetic(arithmetic, Box::new(left), Box::new(self.factor()?));
        }
    }

    fn factor(&mut self) -> Parsed {
        let mut negative = false;
        let mut signs = 0;
        while matches!(self.peek(), TokenKind::Sign("+" | "-")) {
            negative ^= self.step() == TokenKind::Sign("-");
            signs += 1;
            if signs > DEPTH_MAX {
                return self.bad("there are too many signs");
            }
        }
        let value = self.primary()?;
        Ok(if negative { Condition::Negative(Box::new(value)) } else { value })
    }

    fn primary(&mut self) -> Parsed {
        let value = match self.peek() {
            TokenKind::Name(name) => Condition::Name(name.clone()),
            TokenKind::Text(text) => Condition::Text(text.clone()),
            TokenKind::Integer(number) => Condition::Integer(*number),
            TokenKind::Real(number) => Condition::Real(*number),
            TokenKind::Keyword("TRUE") => Condition::Boolean(true),
            TokenKind::Keyword("FALSE") => Condition::Boolean(false),
            TokenKind::Sign("(") => return self.within(),
            _ => return self.bad("a value should stand here"),
        };
        self.step();
        Ok(value)
    }

    fn within(&mut self) -> Parsed {
        if self.depth == DEPTH_MAX {
            return self.bad("there are too many conditions within each other");
        }
        self.step();
        self.depth += 1;
        let inner = self.condition()?;
        self.depth -= 1;
        if self.sign(")") { Ok(inner) } else { self.bad("a parenthesis should end here") }
    }
}

fn negate(negated: bool, condition: Condition) -> Condition {
    if negated { Condition::Not(Box::new(condition)) } else { condition }
}
