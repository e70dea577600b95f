//! Topics: their strings, wildcards, subscriptions, and which retained publications there are.
//!
//! 1. Levels of a topic string stand between slashes; an empty level is a level.
//! 2. In the topic scheme, `+` stands for one level and `#` for any number; each only where it is
//!    a whole level. In the character scheme, `*` stands for any characters and `?` for one; `%`
//!    in front takes their meaning.
//! 3. A subscription without wildcards is found by its string, however many there are.
//! 4. One handle at a time has a subscription; a change of its definition changes nothing about who
//!    has it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{AcqRel, Relaxed, Release},
};

use base::wildcard;

use crate::descriptor::Identifier;
use crate::name::ObjectName;
use crate::pattern::Piece;
use crate::queue::Place;
use crate::selector::Selector;

/// How wildcards are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Topic,
    Characters,
}

/// A subscription.
#[derive(Debug)]
pub(crate) struct Subscription {
    pub(crate) id: Identifier,
    pub(crate) name: String,
    pub(crate) topic: String,
    pub(crate) scheme: Scheme,
    pub(crate) selector: Option<Selector>,
    pub(crate) durable: bool,
    /// The queue belongs to it and goes with it.
    pub(crate) managed: bool,
    pub(crate) on_request: bool,
    pub(crate) level: i32,
    /// Milliseconds since 1970 UTC; 0: never.
    pub(crate) expires_ms: u64,
    pub(crate) delivery: Delivery,
    pub(crate) holder: Holder,
}

/// Where publications of a subscription go, and what they are given on their way.
#[derive(Debug)]
pub(crate) struct Delivery {
    pub(crate) queue: ObjectName,
    pub(crate) manager: ObjectName,
    pub(crate) correl_id: Identifier,
    pub(crate) user_data: String,
    /// -3: as published, -1: as the queue has it.
    pub(crate) priority: i32,
    pub(crate) accounting_token: [u8; 32],
    pub(crate) identity_data: [u8; 32],
}

/// Who has a subscription, and what they received.
#[derive(Debug)]
pub(crate) struct Holder {
    pub(crate) user: String,
    /// Only its user takes it up.
    pub(crate) fixed_user: bool,
    /// The connection that has it, so that it can leave its own publications out.
    connection: AtomicU64,
    /// Of the subscription, however often its definition changes meanwhile.
    in_use: Arc<AtomicBool>,
    messages: AtomicU64,
}

impl Holder {
    /// Of a new subscription, or of one whose definition changes.
    pub(crate) fn new(user: &str, fixed_user: bool, before: Option<&Holder>) -> Holder {
        let counted = |of: fn(&Holder) -> u64| AtomicU64::new(before.map_or(0, of));
        Holder {
            user: user.to_owned(),
            fixed_user,
            connection: counted(Holder::connection),
            in_use: before.map_or_else(Arc::default, |one| Arc::clone(&one.in_use)),
            messages: counted(Holder::messages),
        }
    }

    /// Takes the subscription up; `false` if a handle has it.
    #[must_use]
    pub(crate) fn take(&self) -> bool {
        !self.in_use.swap(true, AcqRel)
    }

    /// Lets others take it up.
    pub(crate) fn give_back(&self) {
        self.in_use.store(false, Release);
    }

    /// The connection that has it, or had it last.
    pub(crate) fn connection(&self) -> u64 {
        self.connection.load(Relaxed)
    }

    pub(crate) fn set_connection(&self, number: u64) {
        self.connection.store(number, Relaxed);
    }

    /// Publications that were received.
    pub(crate) fn messages(&self) -> u64 {
        self.messages.load(Relaxed)
    }

    pub(crate) fn count(&self) {
        self.messages.fetch_add(1, Relaxed);
    }
}

/// The subscriptions and retained publications of a queue manager.
#[derive(Default)]
pub(crate) struct Topics {
    all: BTreeMap<Identifier, Arc<Subscription>>,
    names: BTreeMap<String, Identifier>,
    exact: BTreeMap<String, Vec<Identifier>>,
    wild: Vec<Identifier>,
    retained: BTreeMap<String, Place>,
}

impl Topics {
    pub(crate) fn insert(&mut self, one: Arc<Subscription>) {
        self.remove(&one.id);
        if has_wildcards(&one.topic, one.scheme) {
            self.wild.push(one.id);
        } else {
            let topic = plain(&one.topic, one.scheme);
            self.exact.entry(topic).or_default().push(one.id);
        }
        if !one.name.is_empty() {
            self.names.insert(one.name.clone(), one.id);
        }
        self.all.insert(one.id, one);
    }

    pub(crate) fn remove(&mut self, id: &Identifier) -> Option<Arc<Subscription>> {
        let one = self.all.remove(id)?;
        self.names.remove(&one.name);
        self.wild.retain(|known| known != id);
        let topic = plain(&one.topic, one.scheme);
        if let Some(same) = self.exact.get_mut(&topic) {
            same.retain(|known| known != id);
            if same.is_empty() {
                self.exact.remove(&topic);
            }
        }
        Some(one)
    }

    pub(crate) fn named(&self, name: &str) -> Option<&Arc<Subscription>> {
        self.all.get(self.names.get(name)?)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Subscription>> {
        self.all.values()
    }

    /// The subscriptions that a publication is for.
    pub(crate) fn matching(&self, topic: &str) -> Vec<Arc<Subscription>> {
        let exact = self.exact.get(topic).into_iter().flatten();
        let found = |id: &Identifier| self.all.get(id).cloned();
        let mut all: Vec<_> = exact.filter_map(found).collect();
        let wild = self.wild.iter().filter_map(found);
        all.extend(wild.filter(|one| matches(&one.topic, one.scheme, topic)));
        all
    }

    /// Notes a retained publication; answers the one that it replaces.
    pub(crate) fn retain(&mut self, topic: String, at: Place) -> Option<Place> {
        self.retained.insert(topic, at)
    }

    pub(crate) fn retained(&self, topic: &str) -> Option<Place> {
        self.retained.get(topic).copied()
    }

    /// Forgets a retained publication, unless another one has replaced it.
    pub(crate) fn forget_retained(&mut self, topic: &str, at: Place) {
        if self.retained(topic) == Some(at) {
            self.retained.remove(topic);
        }
    }

    /// The retained publications that a subscription is for.
    pub(crate) fn retained_for(&self, topic: &str, scheme: Scheme) -> Vec<(String, Place)> {
        let all = self.retained.iter();
        let matching = all.filter(|(string, _)| matches(topic, scheme, string));
        matching.map(|(string, at)| (string.clone(), *at)).collect()
    }
}

/// Whether a string has wildcards of the scheme.
pub(crate) fn has_wildcards(topic: &str, scheme: Scheme) -> bool {
    match scheme {
        Scheme::Topic => topic.split('/').any(|level| level == "+" || level == "#"),
        Scheme::Characters => {
            let mut escaped = false;
            topic.chars().any(|c| {
                let wild = !escaped && matches!(c, '*' | '?');
                escaped = !escaped && c == '%';
                wild
            })
        }
    }
}

/// A string without wildcards as it is compared: without what takes their meaning.
fn plain(topic: &str, scheme: Scheme) -> String {
    if scheme == Scheme::Topic {
        return topic.to_owned();
    }
    let mut out = String::with_capacity(topic.len());
    let mut chars = topic.chars();
    while let Some(c) = chars.next() {
        out.push(if c == '%' { chars.next().unwrap_or(c) } else { c });
    }
    out
}

/// Whether a string with wildcards stands for a topic.
pub(crate) fn matches(pattern: &str, scheme: Scheme, topic: &str) -> bool {
    match scheme {
        Scheme::Topic => {
            let pattern: Vec<&str> = pattern.split('/').collect();
            let topic: Vec<&str> = topic.split('/').collect();
            let stands_for = |part: &&str, level: &&str| *part == "+" || part == level;
            wildcard::fits(&pattern, &topic, |part| *part == "#", stands_for)
        }
        Scheme::Characters => {
            let mut pieces = Vec::with_capacity(pattern.len());
            let mut chars = pattern.chars();
            while let Some(c) = chars.next() {
                pieces.push(match c {
                    '%' => Piece::One(chars.next().unwrap_or(c)),
                    '*' => Piece::Any,
                    '?' => Piece::AnyOne,
                    _ => Piece::One(c),
                });
            }
            Piece::fit(&pieces, topic)
        }
    }
}

/// The strings above a topic string, itself first, the empty string last.
pub(crate) fn upward(topic: &str) -> impl Iterator<Item = &str> {
    fn above(topic: &str) -> Option<&str> {
        match topic.rfind('/') {
            Some(slash) => Some(&topic[..slash]),
            None => (!topic.is_empty()).then_some(""),
        }
    }
    std::iter::successors(Some(topic), |topic| above(topic))
}

/// A topic string behind that of a topic object.
pub(crate) fn joined(object: &str, string: &str) -> String {
    match (object.is_empty(), string.is_empty()) {
        (true, _) => string.to_owned(),
        (_, true) => object.to_owned(),
        _ if string.starts_with('/') => format!("{object}{string}"),
        _ => format!("{object}/{string}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_of_levels_stand_for_levels() {
        for (pattern, topic, expected) in [
            ("a/b", "a/b", true),
            ("a/b", "a/b/", false),
            ("a/+", "a/b", true),
            ("a/+", "a/b/c", false),
            ("a/+", "a", false),
            ("a/+", "a/", true),
            ("a/#", "a", true),
            ("a/#", "a/b/c", true),
            ("#", "", true),
            ("#", "a/b", true),
            ("a/#/z", "a/z", true),
            ("a/#/z", "a/b/c/z", true),
            ("a/#/z", "a/b/c", false),
            ("a+/b", "a+/b", true),
            ("a+/b", "ax/b", false),
            ("a/*", "a/b", false),
        ] {
            assert_eq!(matches(pattern, Scheme::Topic, topic), expected, "{pattern} {topic}");
        }
    }

    #[test]
    fn wildcards_of_characters_stand_for_characters() {
        for (pattern, topic, expected) in [
            ("a/*", "a/b/c", true),
            ("a*", "a", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("a%*", "a*", true),
            ("a%*", "ab", false),
            ("100%%", "100%", true),
            ("a/+", "a/b", false),
        ] {
            assert_eq!(matches(pattern, Scheme::Characters, topic), expected, "{pattern} {topic}");
        }
        assert!(
            has_wildcards("a*", Scheme::Characters) && !has_wildcards("a%*", Scheme::Characters)
        );
        assert!(has_wildcards("a/#", Scheme::Topic) && !has_wildcards("a#", Scheme::Topic));
    }

    #[test]
    fn a_topic_lies_below_others() {
        assert_eq!(upward("a/b/c").collect::<Vec<_>>(), ["a/b/c", "a/b", "a", ""]);
        assert_eq!(upward("/a").collect::<Vec<_>>(), ["/a", ""]);
        assert_eq!(joined("a", "b"), "a/b");
        assert_eq!(joined("a", "/b"), "a/b");
        assert_eq!(joined("", "b"), "b");
        assert_eq!(joined("a", ""), "a");
    }
}
