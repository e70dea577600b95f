//! Authority records: which users may do what, by profiles of names.
//!
//! | in a profile | stands for |
//! |---|---|
//! | `?` | one character of a qualifier |
//! | `*` | any characters of a qualifier |
//! | `**` | any qualifiers |
//!
//! 1. While there is no authority record, everybody may do everything. From the first on, only
//!    administrators may, and whom records name.
//! 2. Of a user's records, and of each of its groups', the one with the most particular profile
//!    counts; what the user or any group has of those, the user may do.
//! 3. Who comes from elsewhere puts nothing where what is put is carried out, whatever records say:
//!    not by a handle either that was there before a queue became such a one.
//! 4. A topic is decided by the topic objects at it and above it.
//! 5. What no handle was opened for, publications and reports, goes nowhere where it is
//!    carried out, whichever user asked for it.
//! 6. Records of an object alone go with it, unless they are the last ones that there are.
//! 7. A user who comes by a door says that another has put a message only if a record lets him.

use std::sync::Arc;

use base::wildcard;
use store::Store;

use super::{Core, Permission, Resolved, Target, Work};
use crate::message::Message;
use crate::name::ObjectName;
use crate::objects::{Kind, Object, Value};
use crate::queue::Place;
use crate::reason::{Answer, Reason, require};

/// As whom a partner works whom neither its channel nor a record gives a user. No machine has a
/// user of that name; what it may do is granted to it as to others.
pub const UNNAMED_USER: &str = "@channel";
/// The queues from which the system itself carries out what programs put there.
const CARRIED_OUT: [&str; 3] =
    ["SYSTEM.ADMIN.COMMAND.QUEUE", "SYSTEM.CHANNEL.INITQ", "SYSTEM.DEFAULT.INITIATION.QUEUE"];

impl<S: Store> Core<S> {
    /// Whether what is put there is carried out: it is one of those queues, or some queue names it
    /// as its initiation queue, or has since the start.
    pub(crate) fn is_carried_out(&self, to: &Resolved) -> bool {
        matches!(&to.target, Target::Local(queue) if self.carries_out(queue.name))
    }

    /// Whether what is put on a queue of that name is carried out, or would be.
    pub(crate) fn carries_out(&self, queue: ObjectName) -> bool {
        let is_named = |name: &&str| name.as_bytes() == queue.trimmed();
        CARRIED_OUT.iter().any(is_named) || self.definitions.registry().initiates(queue)
    }

    /// Whether it counts there who has put a message: inputs of transactions are made of it, or
    /// subscriptions may have it sent where that is so.
    pub(crate) fn is_believed(&self, to: &Resolved) -> bool {
        match &to.target {
            Target::Local(queue) => {
                let class = self.object(Kind::StorageClass, &queue.settings().storage_class);
                class.is_some_and(|class| {
                    let named = |name| !class.text_of(name).trim().is_empty();
                    named("XCFGNAME") && named("XCFMNAME")
                })
            }
            Target::Topic(_) => true,
            Target::Remote { .. } | Target::Model(_) => false,
        }
    }

    /// Puts a report where the message that it is about has asked for it: it says whose it is only
    /// as that message did, and is no input.
    pub(super) fn send_report(
        &self,
        work: &mut Work<S>,
        to: &Resolved,
        message: Message,
    ) -> Answer<Place> {
        require(!self.is_believed(to), Reason::NOT_AUTHORIZED)?;
        self.send_unasked(work, to, message)
    }

    /// Puts a message that another user has made where no queue was opened for it.
    pub(super) fn send_unasked(
        &self,
        work: &mut Work<S>,
        to: &Resolved,
        message: Message,
    ) -> Answer<Place> {
        require(!self.is_carried_out(to), Reason::NOT_AUTHORIZED)?;
        self.send(work, to, message)
    }
}

/// What the records are told of users.
pub trait Users: Send + Sync {
    /// Whether a user may do everything.
    fn is_administrator(&self, user: &str) -> bool;

    /// The groups that a user is in.
    fn groups(&self, user: &str) -> Vec<String>;
}

/// The word of authority records.
fn word(permission: Permission) -> &'static str {
    match permission {
        Permission::Connect => "CONNECT",
        Permission::Input => "GET",
        Permission::Browse => "BROWSE",
        Permission::Output => "PUT",
        Permission::Inquire => "INQ",
        Permission::Set => "SET",
        Permission::PassIdentity => "PASSID",
        Permission::PassAll => "PASSALL",
        Permission::SetIdentity => "SETID",
        Permission::SetAll => "SETALL",
        Permission::AlternateUser => "ALTUSR",
        Permission::Publish => "PUB",
        Permission::Subscribe => "SUB",
        Permission::Resume => "RESUME",
        Permission::Delete => "DLT",
    }
}

fn object_type(kind: Kind) -> &'static str {
    match kind {
        Kind::QueueManager => "QMGR",
        Kind::Channel => "CHANNEL",
        Kind::ClientChannel => "CLNTCONN",
        Kind::AuthenticationInformation => "AUTHINFO",
        kind if kind.is_queue() => "QUEUE",
        kind => kind.keyword(),
    }
}

/// Whether a profile stands for a name.
fn stands_for(profile: &str, name: &str) -> bool {
    let split = |text| -> Vec<&str> { str::split(text, '.').collect() };
    let qualifier =
        |part: &&str, own: &&str| wildcard::text_fits(part.as_bytes(), own.as_bytes(), Some(b'?'));
    wildcard::fits(&split(profile), &split(name), |part| *part == "**", qualifier)
}

/// The more a profile says itself, the greater.
fn particular(profile: &str) -> (bool, usize, usize) {
    let generic = profile.bytes().filter(|byte| b"*?".contains(byte)).count();
    let fixed = profile.find(['*', '?']).unwrap_or(profile.len());
    (generic == 0, fixed, profile.len() - generic)
}

/// What the records give an entity for an object.
fn given<'r>(
    records: &'r [Arc<Object>],
    (entity, entity_type): (&str, &str),
    object: (&str, &str),
) -> &'r [String] {
    let (of_type, name) = object;
    let of = records.iter().filter(|record| {
        record.is("OBJTYPE", of_type)
            && record.is("ENTTYPE", entity_type)
            && record.text_of("ENTITY") == entity
            && (of_type == "QMGR" || stands_for(record.text_of("PROFILE"), name))
    });
    let best = of.max_by_key(|record| particular(record.text_of("PROFILE")));
    match best.and_then(|record| record.get("AUTHLIST")) {
        Some(Value::List(list)) => list,
        _ => &[],
    }
}

impl<S: Store> Core<S> {
    /// Whether a user may do everything.
    pub(crate) fn is_administrator(&self, user: &str) -> bool {
        self.options.users.as_ref().is_none_or(|users| users.is_administrator(user))
    }

    /// Whether a user is named as one who may do everything.
    pub(crate) fn administers(&self, user: &str) -> bool {
        self.options.users.as_ref().is_some_and(|users| users.is_administrator(user))
    }

    /// Whether a user may administer: everybody may while there is no record, but for partners.
    pub(crate) fn may_administer(&self, user: &str) -> bool {
        let any = self.definitions.registry().of_space(Kind::AuthorityRecord).next().is_some();
        user != UNNAMED_USER && (!any || self.is_administrator(user))
    }

    /// The records whose profile is the name of one object and nothing else; empty if no other
    /// record would be left: without any, everybody may do everything.
    pub(crate) fn records_of(&self, kind: Kind, name: &str) -> Vec<Arc<Object>> {
        let registry = self.definitions.registry();
        let (own, others): (Vec<_>, Vec<_>) =
            registry.of_space(Kind::AuthorityRecord).partition(|record| {
                record.is("OBJTYPE", object_type(kind)) && record.text_of("PROFILE") == name
            });
        if others.is_empty() { Vec::new() } else { own.into_iter().cloned().collect() }
    }

    /// Whether the records let a user do that.
    pub(super) fn is_recorded(
        &self,
        user: &str,
        kind: Kind,
        name: &str,
        permission: Permission,
    ) -> bool {
        self.recorded(user, kind, name, permission).unwrap_or(true)
    }

    /// Whether a record gives a user that: without records none does.
    pub(crate) fn is_given(
        &self,
        user: &str,
        kind: Kind,
        name: &str,
        permission: Permission,
    ) -> bool {
        self.recorded(user, kind, name, permission).unwrap_or(false)
    }

    /// What the records say; `None`: there are none.
    fn recorded(&self, user: &str, kind: Kind, name: &str, permission: Permission) -> Option<bool> {
        let users = self.options.users.as_ref()?;
        if users.is_administrator(user) {
            return Some(true);
        }
        let records: Vec<Arc<Object>> =
            self.definitions.registry().of_space(Kind::AuthorityRecord).cloned().collect();
        if records.is_empty() {
            return None;
        }
        let groups = users.groups(user);
        let may = |object: (&str, &str)| {
            let has = |entity: (&str, &str)| {
                given(&records, entity, object).iter().any(|one| one == word(permission))
            };
            has((user, "PRINCIPAL")) || groups.iter().any(|group| has((group, "GROUP")))
        };
        Some(match (kind, permission) {
            (_, Permission::AlternateUser) => may(("QMGR", "SELF")),
            (Kind::Topic, _) => self.topics_above(name).iter().any(|topic| may(("TOPIC", topic))),
            _ => may((object_type(kind), name)),
        })
    }

    /// The topic objects at a topic and above it.
    fn topics_above(&self, topic: &str) -> Vec<String> {
        let registry = self.definitions.registry();
        let above = registry.of_space(Kind::Topic).filter(|object| {
            let own = object.text_of("TOPICSTR");
            let below = topic.strip_prefix(own).is_some_and(|rest| rest.starts_with('/'));
            let root = own.is_empty() && object.name == "SYSTEM.BASE.TOPIC";
            root || (!own.is_empty() && (topic == own || below))
        });
        above.map(|object| object.name.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_stand_for_names_qualifier_by_qualifier() {
        assert!(stands_for("APP.*", "APP.ORDERS") && !stands_for("APP.*", "APP.ORDERS.IN"));
        assert!(stands_for("APP.**", "APP.ORDERS.IN") && stands_for("**", "ANY.THING"));
        assert!(stands_for("A?P.OR*S", "ABP.ORDERS") && !stands_for("A?P.OR*S", "AP.ORDERS"));
        assert!(stands_for("**.IN", "APP.ORDERS.IN") && !stands_for("**.IN", "APP.OUT"));
        assert!(stands_for("**", "") && stands_for("**.A.**.B", "A.A.B.B"));
        assert!(!stands_for("**.A.**.B", "A.C") && !stands_for("A.**.*", "A"));
        assert!(particular("A.B") > particular("A.*") && particular("A.B*") > particular("A.*"));
    }

    #[test]
    fn a_profile_of_many_wildcards_is_decided_soon() {
        let letters = "*a".repeat(16) + "*b";
        assert!(!stands_for(&letters, &"a".repeat(48)));
        assert!(stands_for(&letters, &("a".repeat(47) + "b")));
        let qualifiers = "**.a.".repeat(9) + "b";
        assert!(!stands_for(&qualifiers, &["a"; 24].join(".")));
    }
}
