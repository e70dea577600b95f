//! Whether a condition holds for a message.

use super::parser::{Arithmetic, Compare, Condition};
use crate::message::Message;
use crate::name::unpadded;
use crate::pattern::Piece;
use crate::properties::{PropertyValue, Split, split};

/// A value; unknown where there is none.
#[derive(Clone, Debug, PartialEq)]
enum Known {
    Unknown,
    Boolean(bool),
    Integer(i64),
    Real(f64),
    Text(String),
}

struct Source<'m> {
    message: &'m Message,
    split: Option<Split>,
}

pub(super) fn selects(condition: &Condition, message: &Message) -> bool {
    let split = split(&message.descriptor, &message.data).ok().flatten();
    let source = Source { message, split };
    truth(&value(condition, &source)) == Some(true)
}

fn truth(of: &Known) -> Option<bool> {
    if let Known::Boolean(truth) = of { Some(*truth) } else { None }
}

fn known(truth: Option<bool>) -> Known {
    truth.map_or(Known::Unknown, Known::Boolean)
}

fn value(condition: &Condition, source: &Source<'_>) -> Known {
    match condition {
        Condition::Or(..) | Condition::And(..) => connective(condition, source),
        Condition::Not(inner) => known(truth(&value(inner, source)).map(|truth| !truth)),
        Condition::Compare(how, left, right) => {
            known(compare(*how, &value(left, source), &value(right, source)))
        }
        Condition::Between(it, low, high) => {
            let it = value(it, source);
            let above = compare(Compare::GreaterOrEqual, &it, &value(low, source));
            let below = compare(Compare::LessOrEqual, &it, &value(high, source));
            known(and(above, || below))
        }
        Condition::In(it, list) => match value(it, source) {
            Known::Text(text) => Known::Boolean(list.iter().any(|one| is_same(one, &text))),
            _ => Known::Unknown,
        },
        Condition::Like(it, pattern) => match value(it, source) {
            Known::Text(text) => Known::Boolean(Piece::fit(pattern, &text)),
            _ => Known::Unknown,
        },
        Condition::IsNull(it) => Known::Boolean(value(it, source) == Known::Unknown),
        Condition::Arithmetic(how, left, right) => {
            calculate(*how, &value(left, source), &value(right, source))
        }
        Condition::Negative(inner) => match value(inner, source) {
            Known::Integer(number) => number.checked_neg().map_or(Known::Unknown, Known::Integer),
            Known::Real(number) => Known::Real(-number),
            _ => Known::Unknown,
        },
        Condition::Name(name) => source.lookup(name),
        Condition::Text(text) => Known::Text(text.clone()),
        Condition::Integer(number) => Known::Integer(*number),
        Condition::Real(number) => Known::Real(*number),
        Condition::Boolean(truth) => Known::Boolean(*truth),
    }
}

/// AND and OR. A chain of them leans to the left and may be long: it is walked, not recursed.
fn connective(condition: &Condition, source: &Source<'_>) -> Known {
    let mut rights = Vec::new();
    let mut left = condition;
    loop {
        left = match left {
            Condition::Or(next, right) => {
                rights.push((true, right));
                next
            }
            Condition::And(next, right) => {
                rights.push((false, right));
                next
            }
            _ => break,
        };
    }
    let mut so_far = truth(&value(left, source));
    for (either, right) in rights.into_iter().rev() {
        let other = || truth(&value(right, source));
        so_far = if either { or(so_far, other) } else { and(so_far, other) };
    }
    known(so_far)
}

fn and(left: Option<bool>, right: impl FnOnce() -> Option<bool>) -> Option<bool> {
    match left {
        Some(false) => Some(false),
        Some(true) => right(),
        None => {
            if right() == Some(false) {
                Some(false)
            } else {
                None
            }
        }
    }
}

fn or(left: Option<bool>, right: impl FnOnce() -> Option<bool>) -> Option<bool> {
    match left {
        Some(true) => Some(true),
        Some(false) => right(),
        None => {
            if right() == Some(true) {
                Some(true)
            } else {
                None
            }
        }
    }
}

fn compare(how: Compare, left: &Known, right: &Known) -> Option<bool> {
    use std::cmp::Ordering;
    let order = match (left, right) {
        (Known::Integer(left), Known::Integer(right)) => Some(left.cmp(right)),
        (Known::Integer(left), Known::Real(right)) => (*left as f64).partial_cmp(right),
        (Known::Real(left), Known::Integer(right)) => left.partial_cmp(&(*right as f64)),
        (Known::Real(left), Known::Real(right)) => left.partial_cmp(right),
        // Texts and truths are equal or not; they have no order.
        (Known::Text(left), Known::Text(right)) => return equality(how, is_same(left, right)),
        (Known::Boolean(left), Known::Boolean(right)) => return equality(how, left == right),
        _ => None,
    }?;
    Some(match how {
        Compare::Equal => order == Ordering::Equal,
        Compare::Unequal => order != Ordering::Equal,
        Compare::Less => order == Ordering::Less,
        Compare::LessOrEqual => order != Ordering::Greater,
        Compare::Greater => order == Ordering::Greater,
        Compare::GreaterOrEqual => order != Ordering::Less,
    })
}

fn equality(how: Compare, same: bool) -> Option<bool> {
    match how {
        Compare::Equal => Some(same),
        Compare::Unequal => Some(!same),
        _ => None,
    }
}

/// Whether texts are the same. The digits of identifiers are those of numbers: clients write them
/// in capitals or not.
fn is_same(left: &str, right: &str) -> bool {
    left == right || (is_identifier(left) && left.eq_ignore_ascii_case(right))
}

fn is_identifier(text: &str) -> bool {
    text.strip_prefix("ID:").is_some_and(|digits| base::hex::array::<24>(digits).is_some())
}

fn calculate(how: Arithmetic, left: &Known, right: &Known) -> Known {
    if let (Known::Integer(left), Known::Integer(right)) = (left, right) {
        let whole = match how {
            Arithmetic::Add => left.checked_add(*right),
            Arithmetic::Subtract => left.checked_sub(*right),
            Arithmetic::Multiply => left.checked_mul(*right),
            Arithmetic::Divide => left.checked_div(*right),
        };
        return whole.map_or(Known::Unknown, Known::Integer);
    }
    let real = |value: &Known| match value {
        Known::Integer(number) => Some(*number as f64),
        Known::Real(number) => Some(*number),
        _ => None,
    };
    let (Some(left), Some(right)) = (real(left), real(right)) else { return Known::Unknown };
    Known::Real(match how {
        Arithmetic::Add => left + right,
        Arithmetic::Subtract => left - right,
        Arithmetic::Multiply => left * right,
        Arithmetic::Divide => left / right,
    })
}

impl Source<'_> {
    fn lookup(&self, name: &str) -> Known {
        if let Some(field) = name.strip_prefix("Root.MQMD.") {
            return self.field(field);
        }
        if let Some(known) = self.jms(name) {
            return known;
        }
        let property = self.split.as_ref().and_then(|split| split.properties.get(name));
        property.map_or(Known::Unknown, of_property)
    }

    fn field(&self, name: &str) -> Known {
        let of = &self.message.descriptor;
        let integer = |number: i32| Known::Integer(i64::from(number));
        match name {
            "Report" => integer(of.report),
            "MsgType" => integer(of.msg_type),
            "Expiry" => integer(of.expiry),
            "Feedback" => integer(of.feedback),
            "Encoding" => integer(of.encoding),
            "CodedCharSetId" => integer(of.ccsid),
            "Format" => Known::Text(unpadded(&of.format)),
            "Priority" => integer(of.priority),
            "Persistence" => integer(of.persistence),
            "MsgId" => Known::Text(base::hex::lower(&of.msg_id)),
            "CorrelId" => Known::Text(base::hex::lower(&of.correl_id)),
            "BackoutCount" => integer(of.backout_count),
            "ReplyToQ" => Known::Text(of.reply_to_q.text()),
            "ReplyToQMgr" => Known::Text(of.reply_to_q_mgr.text()),
            "UserIdentifier" => Known::Text(unpadded(&of.user_identifier)),
            "PutApplType" => integer(of.put_appl_type),
            "PutApplName" => Known::Text(unpadded(&of.put_appl_name)),
            "GroupId" => Known::Text(base::hex::lower(&of.group_id)),
            "MsgSeqNumber" => integer(of.msg_seq_number),
            "Offset" => integer(of.offset),
            "MsgFlags" => integer(of.msg_flags),
            _ => Known::Unknown,
        }
    }

    fn jms(&self, name: &str) -> Option<Known> {
        let of = &self.message.descriptor;
        let id = |kept: &str, id: &[u8; 24]| {
            // Clients of AMQP may have identified it otherwise: a text stands behind its kind.
            match self.split.as_ref().and_then(|split| split.properties.get(kept)) {
                Some(PropertyValue::String(text)) => match text.split_once(':') {
                    Some(("s" | "u", rest)) => Known::Text(rest.to_owned()),
                    _ => Known::Unknown,
                },
                _ if *id == [0; 24] => Known::Unknown,
                _ => Known::Text(format!("ID:{}", base::hex::lower(id))),
            }
        };
        let property = |name: &str| {
            let found = self.split.as_ref().and_then(|split| split.properties.get(name));
            found.map(of_property)
        };
        Some(match name {
            "JMSPriority" => Known::Integer(i64::from(of.priority)),
            "JMSMessageID" => id("amqp_message_id", &of.msg_id),
            "JMSCorrelationID" => id("amqp_correlation_id", &of.correl_id),
            "JMSTimestamp" => {
                property("amqp_creation_time").unwrap_or(Known::Integer(self.message.put_ms as i64))
            }
            "JMSDeliveryMode" => {
                let mode = if of.is_persistent() { "PERSISTENT" } else { "NON_PERSISTENT" };
                Known::Text(mode.to_owned())
            }
            "JMSType" => return property("mcd.Type").or_else(|| property("amqp_subject")),
            "JMSXGroupID" => return property("amqp_group_id"),
            "JMSXGroupSeq" => return property("amqp_group_sequence"),
            _ => return None,
        })
    }
}

fn of_property(value: &PropertyValue) -> Known {
    match value {
        PropertyValue::Null | PropertyValue::Bytes(_) => Known::Unknown,
        PropertyValue::Boolean(truth) => Known::Boolean(*truth),
        PropertyValue::Int8(number) => Known::Integer(i64::from(*number)),
        PropertyValue::Int16(number) => Known::Integer(i64::from(*number)),
        PropertyValue::Int32(number) => Known::Integer(i64::from(*number)),
        PropertyValue::Int64(number) => Known::Integer(*number),
        PropertyValue::Float32(number) => Known::Real(f64::from(*number)),
        PropertyValue::Float64(number) => Known::Real(*number),
        PropertyValue::String(text) => Known::Text(text.clone()),
    }
}
