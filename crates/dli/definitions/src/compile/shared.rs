//! Index DBDs of several names: `NAME=(a,b)`, where several indexes share their data sets.
//!
//! What they share is a matter of storage, and each index has a set of its own here. So such a
//! DBD is compiled once for each name, with the statements that belong to it.
//!
//! | statements | belong to |
//! |---|---|
//! | DBD, DATASET, DBDGEN | every name |
//! | the nth LCHILD | the nth name |
//! | SEGM and FIELD | the names of the LCHILDs behind them |
//!
//! Invariants:
//! 1. No statement is left out: a SEGM without LCHILD counts as if it had one.

use macros::{Statement, Value};

use super::sink::Sink;
use super::values::{items, place_of, words};
use crate::codes;

/// How many indexes can share their data sets.
const MOST: usize = 16;
/// What belongs to the segment before it.
const OF_SEGMENT: &[&str] = &["FIELD", "LCHILD", "XDFLD", "DFSMARSH", "DFSMAP", "DFSCASE"];

/// The statements of each name; all of them once if it is an ordinary DBD.
pub(super) fn split<'a>(statements: &[&'a Statement], sink: &mut Sink) -> Vec<Vec<&'a Statement>> {
    let all = || vec![statements.to_vec()];
    let Some(names) = statements.first().and_then(|first| names(first)) else { return all() };
    let count = items(names).len();
    let parts = parts(statements);
    if count > MOST {
        let message = format!("NAME= has {count} names, and {MOST} indexes can share data sets");
        sink.error(codes::TOO_MANY_VALUES, place_of(names), message);
        return all();
    }
    if count != parts.len() {
        let message = format!("NAME= has {count} names, and the DBD has {} LCHILD", parts.len());
        sink.error(codes::INDEX_PAIR, place_of(names), message);
        sink.help("give each index its LCHILD, in the order of the names");
        return all();
    }
    parts
}

/// `NAME=` of an index DBD, if it has several names.
fn names(dbd: &Statement) -> Option<&Value> {
    let access = &dbd.operand("ACCESS")?.value;
    let is_index = words(access).first().is_some_and(|word| word.text == "INDEX");
    let names = &dbd.operand("NAME")?.value;
    (is_index && items(names).len() > 1).then_some(names)
}

/// What belongs to the first LCHILD, to the second, and so on.
fn parts<'a>(statements: &[&'a Statement]) -> Vec<Vec<&'a Statement>> {
    let is = |statement: &Statement, op: &str| statement.op.text == op;
    let mut owners: Vec<(usize, Option<usize>)> = Vec::new();
    let mut segment = None;
    for (at, statement) in statements.iter().enumerate() {
        if is(statement, "SEGM") {
            segment = Some(at);
            owners.push((at, None));
        } else if is(statement, "LCHILD")
            && let Some(segment) = segment
        {
            owners.retain(|owner| *owner != (segment, None));
            owners.push((segment, Some(at)));
        }
    }
    let part = |(owner, child): (usize, Option<usize>)| {
        let mut segment = None;
        let mut part = Vec::new();
        for (at, &statement) in statements.iter().enumerate() {
            if is(statement, "SEGM") {
                segment = Some(at);
            }
            let is_common = !is(statement, "SEGM")
                && (segment.is_none() || !OF_SEGMENT.contains(&statement.op.text.as_str()));
            let is_own = segment == Some(owner) && (!is(statement, "LCHILD") || child == Some(at));
            if is_common || is_own {
                part.push(statement);
            }
        }
        part
    };
    owners.into_iter().map(part).collect()
}
