//! Sources and targets: where links lead, what they select, which subscriptions they are for.
//!
//! | address | leads to |
//! |---|---|
//! | `queue://NAME`, or a name with the capability `queue` | the queue |
//! | `topic://STRING`, or a name with the capability `topic` | the topic |
//! | any other name | the queue; where there is none, the topic object; with a `/`, the topic |
//! | none, with `dynamic` | a queue, or topic, that is made for the link |
//! | none of a target | where each message says |
//! | no source at all | the subscription that the link's name is of |
//!
//! | subscription | its name in the queue manager |
//! |---|---|
//! | durable, of a client | `AMQP/client/CLIENT/NAME` |
//! | durable and shared, of all clients | `AMQP/global/NAME` |
//! | shared while there are links | the same with `AMQP/volatile-client`, `AMQP/volatile-global` |
//!
//! 1. Of a link's name, what stands behind `|` tells links of a shared subscription apart.

use crate::value::{Value, field};
use crate::work::{Consumer, Place, Subscribing, Trouble, trouble};

const SOURCE: u64 = 0x28;
const TARGET: u64 = 0x29;

/// What a link that takes messages is called, and by whom.
pub(crate) struct Named<'a> {
    pub(crate) link: &'a str,
    pub(crate) container: &'a str,
    /// Capabilities that the link itself asks for.
    pub(crate) desired: &'a Value,
}

/// Where an address leads.
fn place(address: Option<&str>, capabilities: &[&str], dynamic: bool) -> Place {
    let is = |word: &str| capabilities.contains(&word);
    let topic = is("topic") || is("temporary-topic");
    let queue = is("queue") || is("temporary-queue");
    match address {
        _ if dynamic && topic => Place::DynamicTopic,
        _ if dynamic => Place::DynamicQueue,
        None | Some("") => Place::Anonymous,
        Some(address) => addressed(address, topic, queue),
    }
}

/// Where a name leads, if it is known of what it is.
pub(crate) fn addressed(address: &str, topic: bool, queue: bool) -> Place {
    match (address.split_once("://"), topic, queue) {
        (Some(("topic", name)), ..) => Place::Topic(name.to_owned()),
        (Some(("queue", name)), ..) => Place::Queue(name.to_owned()),
        (_, true, _) => Place::Topic(address.to_owned()),
        (_, false, true) => Place::Queue(address.to_owned()),
        _ => Place::Named(address.to_owned()),
    }
}

/// Where a link leads that brings messages.
pub(crate) fn target(value: &Value) -> Place {
    match value.as_composite() {
        Some((TARGET, fields)) => {
            let capabilities = field(fields, 6).symbols();
            place(field(fields, 0).text(), &capabilities, field(fields, 4).is_true())
        }
        _ => Place::Anonymous,
    }
}

/// What a link wants that takes messages.
pub(crate) fn consumer(
    value: &Value,
    named: &Named<'_>,
    settled: bool,
) -> Result<Consumer, Trouble> {
    if *value == Value::Null {
        return Ok(recovered(named, settled));
    }
    let Some((SOURCE, fields)) = value.as_composite() else {
        return trouble("amqp:invalid-field", "a link that takes messages has no source");
    };
    let capabilities = field(fields, 10).symbols();
    let place = place(field(fields, 0).text(), &capabilities, field(fields, 4).is_true());
    if place == Place::Anonymous {
        return trouble("amqp:invalid-field", "a source has no address");
    }
    let (selector, no_local) = filters(field(fields, 7))?;
    Ok(Consumer {
        place,
        browse: field(fields, 6).text() == Some("copy"),
        settled,
        selector,
        no_local,
        subscription: subscription(fields, &capabilities, named),
    })
}

/// Nothing but a name: the subscription that has it, to be ended or gone on with.
fn recovered(named: &Named<'_>, settled: bool) -> Consumer {
    let desired = named.desired.symbols();
    let global = desired.contains(&"global") || named.link.split_once('|').is_some_and(of_all);
    let name = name_of(named.link, named, true, global, true);
    Consumer {
        place: Place::Subscription,
        browse: false,
        settled,
        selector: String::new(),
        no_local: false,
        subscription: Some(Subscribing { name, durable: true, shared: false }),
    }
}

fn of_all((_, behind): (&str, &str)) -> bool {
    behind.starts_with("global")
}

fn subscription(fields: &[Value], capabilities: &[&str], named: &Named<'_>) -> Option<Subscribing> {
    let durability = field(fields, 1).number().unwrap_or(0);
    let durable = durability > 0 || field(fields, 2).text() == Some("never");
    let shared = capabilities.contains(&"shared");
    let global = shared && capabilities.contains(&"global");
    let name = name_of(named.link, named, shared, global, durable);
    (durable || shared).then_some(Subscribing { name, durable, shared })
}

fn name_of(link: &str, named: &Named<'_>, shared: bool, global: bool, durable: bool) -> String {
    let name = match link.split_once('|') {
        Some((name, _)) if shared => name,
        _ => link,
    };
    let life = if durable { "" } else { "volatile-" };
    match global {
        true => format!("AMQP/{life}global/{name}"),
        false => {
            let container = named.container.replace('%', "%25").replace('/', "%2F");
            format!("AMQP/{life}client/{container}/{name}")
        }
    }
}

/// The selector, and whether a client's own publications stay away.
fn filters(value: &Value) -> Result<(String, bool), Trouble> {
    let (mut selector, mut no_local) = (String::new(), false);
    let Value::Map(filters) = value else { return Ok((selector, no_local)) };
    for (name, filter) in filters {
        let text = match filter {
            Value::Described(parts) => parts.1.text(),
            other => other.text(),
        };
        let named = name.text().unwrap_or_default();
        let means = |known: &str| named.contains(known) || is_described(filter, known);
        match (text, means("selector"), means("no-local")) {
            (Some(text), true, _) => text.clone_into(&mut selector),
            (_, _, true) => no_local = true,
            _ => return trouble("amqp:not-implemented", format!("no filter {named} is known")),
        }
    }
    Ok((selector, no_local))
}

/// Whether the descriptor of a filter says what it is.
fn is_described(filter: &Value, known: &str) -> bool {
    let Value::Described(parts) = filter else { return false };
    let numbers = [("selector", 0x0000_468C_0000_0004), ("no-local", 0x0000_468C_0000_0003)];
    let number = numbers.iter().find(|(name, _)| *name == known).map(|(_, number)| *number);
    parts.0.text().is_some_and(|text| text.contains(known)) || parts.0.number() == number
}

/// The source of a subscription that was made before.
pub(crate) fn source_of(address: &str) -> Value {
    let capabilities = ["topic"].map(Value::symbol).to_vec();
    let fields = vec![
        Value::Text(address.to_owned()),
        Value::Uint(2),
        Value::symbol("never"),
        Value::Uint(0),
        Value::Bool(false),
        Value::Null,
        Value::symbol("copy"),
        Value::Null,
        Value::Null,
        Value::Null,
        Value::Array(capabilities),
    ];
    Value::composite(SOURCE, fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named<'a>(link: &'a str, desired: &'a Value) -> Named<'a> {
        Named { link, container: "a/b", desired }
    }

    fn source(address: &str, durable: u32, capabilities: &[&str]) -> Value {
        let mut fields = vec![Value::Null; 11];
        fields[0] = Value::Text(address.to_owned());
        fields[1] = Value::Uint(durable);
        fields[10] = Value::Array(capabilities.iter().map(|one| Value::symbol(one)).collect());
        Value::composite(SOURCE, fields)
    }

    #[test]
    fn links_of_a_subscription_have_its_name() {
        let cases = [
            (2, vec!["topic"], "sub|x", "AMQP/client/a%2Fb/sub|x"),
            (2, vec!["topic", "shared"], "sub|2", "AMQP/client/a%2Fb/sub"),
            (2, vec!["topic", "shared", "global"], "sub|global", "AMQP/global/sub"),
            (0, vec!["topic", "shared"], "sub|volatile1", "AMQP/volatile-client/a%2Fb/sub"),
        ];
        for (durable, capabilities, link, name) in cases {
            let source = source("news", durable, &capabilities);
            let wanted = consumer(&source, &named(link, &Value::Null), false).unwrap();
            assert_eq!(wanted.subscription.map(|one| one.name).as_deref(), Some(name));
        }
        let plain = consumer(&source("news", 0, &["topic"]), &named("l", &Value::Null), false);
        assert_eq!(plain.unwrap().subscription, None);
        let known = consumer(&Value::Null, &named("sub|global", &Value::Null), false).unwrap();
        assert_eq!(known.subscription.unwrap().name, "AMQP/global/sub");
    }

    #[test]
    fn capabilities_and_prefixes_say_what_a_name_is_of() {
        assert_eq!(place(Some("A"), &["queue"], false), Place::Queue("A".into()));
        assert_eq!(place(Some("A"), &["topic"], false), Place::Topic("A".into()));
        assert_eq!(place(Some("topic://A"), &["queue"], false), Place::Topic("A".into()));
        assert_eq!(place(Some("A"), &[], false), Place::Named("A".into()));
        assert_eq!(place(None, &["temporary-topic"], true), Place::DynamicTopic);
        assert_eq!(place(None, &[], true), Place::DynamicQueue);
        assert_eq!(place(Some(""), &[], false), Place::Anonymous);
    }
}
