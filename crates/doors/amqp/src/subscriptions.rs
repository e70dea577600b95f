//! Subscriptions that have names: those that live longer than their links, or have several.
//!
//! 1. A subscription that is not shared has one link at a time, whoever's.
//! 2. A durable subscription is one of the queue manager, with a queue of its own; links take
//!    from that queue as from their user's subscription, without a right to queues. It ends when a
//!    link of it is closed for good, and no other is there.
//! 3. One that is shared and not durable lives as long as links take from it.
//! 4. A subscription is of the user who made it: nobody else takes from it, ends it, or has it
//!    made anew.
//! 5. Asked for with another topic or selector, a subscription that nobody uses is made anew.
//! 6. Clients close a connection without waiting for the answer, and ask for their subscription
//!    in the next one at once: who finds it in use in another conversation is refused only when
//!    it is still in use after a while.

use std::collections::BTreeMap;
use std::time::Duration;

use queue_manager::objects::Kind;
use queue_manager::options::value::{close, subscribe};
use queue_manager::options::{ConnectOptions, SubscriptionDescriptor};
use queue_manager::{Connection, QueueManager};
use seam::sync::{Condvar, Mutex};
use store::Store;
use tokio::time::Instant;

use crate::error_condition::trouble_of;
use crate::work::{Subscribing, Trouble, trouble};

/// How long the conversation that has a subscription may take to let it go.
const GRACE: Duration = Duration::from_secs(4);

/// Who asks for a subscription.
pub(crate) struct Asker<'a, S: Store> {
    pub(crate) manager: &'a QueueManager<S>,
    pub(crate) client: &'a ConnectOptions,
    /// The number of the conversation.
    pub(crate) conversation: u64,
}

/// What a subscription is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) topic: String,
    pub(crate) selector: String,
}

/// A subscription that links take from.
struct Use<S: Store> {
    /// Of each link, the number of its conversation.
    links: Vec<u64>,
    user: String,
    shared: bool,
    wanted: Wanted,
    /// Has one that is not durable, as long as it is there.
    _holder: Option<Connection<S>>,
}

/// Which subscriptions are in use.
pub(crate) struct Subscriptions<S: Store> {
    used: Mutex<BTreeMap<String, Use<S>>>,
    /// A subscription is in use no longer.
    left: Condvar,
    grace: Duration,
}

impl<S: Store> Default for Subscriptions<S> {
    fn default() -> Subscriptions<S> {
        Subscriptions { used: Mutex::new(BTreeMap::new()), left: Condvar::new(), grace: GRACE }
    }
}

impl<S: Store> Subscriptions<S> {
    /// Lets a link in; makes the subscription if need be. With nothing wanted it has to be there.
    /// Answers what it is to.
    pub(crate) fn enter(
        &self,
        asker: &Asker<'_, S>,
        which: &Subscribing,
        wanted: Option<Wanted>,
    ) -> Result<String, Trouble> {
        let mut used = self.used.lock();
        let until = Instant::now() + self.grace;
        while let Some(one) = used.get_mut(&which.name) {
            is_of(&one.user, asker.client, which)?;
            let same = wanted.as_ref().is_some_and(|wanted| *wanted == one.wanted);
            if one.shared && which.shared && same {
                one.links.push(asker.conversation);
                return Ok(one.wanted.topic.clone());
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || one.links.contains(&asker.conversation) {
                let words = format!("subscription {} is in use", which.name);
                return trouble("amqp:resource-locked", words);
            }
            self.left.wait_for(&mut used, left);
        }
        let one = match which.durable {
            true => durable(asker, which, wanted)?,
            false => volatile(asker, which, wanted)?,
        };
        let topic = one.wanted.topic.clone();
        used.insert(which.name.clone(), one);
        Ok(topic)
    }

    /// Lets a link go; for good: the subscription ends with the last of them.
    pub(crate) fn leave(&self, asker: &Asker<'_, S>, which: &Subscribing, for_good: bool) {
        let mut used = self.used.lock();
        let Some(one) = used.get_mut(&which.name) else { return };
        let at = one.links.iter().position(|link| *link == asker.conversation);
        at.map(|at| one.links.swap_remove(at));
        if !one.links.is_empty() {
            return;
        }
        let gone = used.remove(&which.name);
        if for_good && which.durable {
            // What stays because somebody has messages of it is there at the next attempt.
            let _ = asker.manager.delete(Kind::Subscription, &which.name, true);
        }
        // What was not durable goes with who had it, before anybody makes it anew.
        drop(gone);
        drop(used);
        self.left.notify_all();
    }
}

/// Refuses a subscription that somebody else has made.
fn is_of(user: &str, client: &ConnectOptions, which: &Subscribing) -> Result<(), Trouble> {
    if user == client.user {
        return Ok(());
    }
    let words = format!("subscription {} is of another user; take another name", which.name);
    trouble("amqp:unauthorized-access", words)
}

fn durable<S: Store>(
    &Asker { manager, client, conversation }: &Asker<'_, S>,
    which: &Subscribing,
    wanted: Option<Wanted>,
) -> Result<Use<S>, Trouble> {
    let name = &which.name;
    let object = manager.object(Kind::Subscription, name);
    if let Some(object) = &object {
        is_of(object.text_of("SUBUSER"), client, which)?;
    }
    let there = object.map(|object| Wanted {
        topic: object.text_of("TOPICSTR").to_owned(),
        selector: object.text_of("SELECTOR").to_owned(),
    });
    let wanted = match (wanted, there) {
        (None, None) => {
            return trouble("amqp:not-found", format!("there is no subscription {name}"));
        }
        (None, Some(there)) => there,
        (Some(wanted), Some(there)) if wanted == there => there,
        (Some(wanted), there) => {
            if there.is_some() {
                manager.delete(Kind::Subscription, name, true).map_err(|error| Trouble {
                    condition: "amqp:resource-locked",
                    words: format!("subscription {name} cannot be made anew: {error}"),
                })?;
            }
            let mut connection = manager
                .connect(client.clone())
                .map_err(|failed| trouble_of(failed, "a subscription"))?;
            subscribed(&mut connection, which, &wanted, subscribe::DURABLE)?;
            let _ = connection.disconnect();
            wanted
        }
    };
    let user = client.user.clone();
    Ok(Use { links: vec![conversation], user, shared: which.shared, wanted, _holder: None })
}

fn volatile<S: Store>(
    &Asker { manager, client, conversation }: &Asker<'_, S>,
    which: &Subscribing,
    wanted: Option<Wanted>,
) -> Result<Use<S>, Trouble> {
    let Some(wanted) = wanted else {
        return trouble("amqp:not-found", format!("there is no subscription {}", which.name));
    };
    let mut connection =
        manager.connect(client.clone()).map_err(|failed| trouble_of(failed, "a subscription"))?;
    subscribed(&mut connection, which, &wanted, 0)?;
    let user = client.user.clone();
    let holder = Some(connection);
    Ok(Use { links: vec![conversation], user, shared: true, wanted, _holder: holder })
}

/// Makes a subscription; what is durable stays without its handle.
fn subscribed<S: Store>(
    connection: &mut Connection<S>,
    which: &Subscribing,
    wanted: &Wanted,
    more: i32,
) -> Result<(), Trouble> {
    let mut what = SubscriptionDescriptor {
        // Nobody else takes it up, by whatever door.
        options: subscribe::CREATE | subscribe::MANAGED | subscribe::FIXED_USERID | more,
        object_string: wanted.topic.clone(),
        sub_name: which.name.clone(),
        selection_string: wanted.selector.clone(),
        ..SubscriptionDescriptor::default()
    };
    let words = format!("a subscription to {}", wanted.topic);
    let made = connection.subscribe(&mut what, None);
    let (_, handle, _) = made.map_err(|failed| trouble_of(failed, &words))?;
    if which.durable {
        let kept = connection.close(handle, close::KEEP_SUB);
        kept.map_err(|failed| trouble_of(failed, &words))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use queue_manager::Options;
    use seam::clock::RealClock;
    use seam::entropy::OsEntropy;
    use store_suite::model::ModelStore;

    use super::*;

    fn manager() -> QueueManager<ModelStore> {
        let options = Options {
            name: "QM1".into(),
            clock: Arc::new(RealClock::new()),
            entropy: Arc::new(OsEntropy),
            authority: None,
            users: None,
            storage: None,
            connections_max: 100,
            memory_bytes_max: queue_manager::MEMORY_BYTES_MAX,
        };
        QueueManager::open(&ModelStore::new(), options).expect("it opens")
    }

    fn user(name: &str) -> ConnectOptions {
        ConnectOptions { user: name.into(), ..ConnectOptions::default() }
    }

    fn wanted(topic: &str) -> Option<Wanted> {
        Some(Wanted { topic: topic.into(), selector: String::new() })
    }

    #[test]
    fn nobody_takes_from_a_subscription_of_somebody_else_or_ends_it() {
        let (manager, all) = (manager(), Subscriptions::default());
        let (anna, bob) = (user("ANNA"), user("BOB"));
        fn asker<'a>(
            manager: &'a QueueManager<ModelStore>,
            client: &'a ConnectOptions,
        ) -> Asker<'a, ModelStore> {
            Asker { manager, client, conversation: 1 }
        }
        let condition = |user: &ConnectOptions, which: &Subscribing, wanted| {
            let entered = all.enter(&asker(&manager, user), which, wanted);
            entered.err().map(|trouble| trouble.condition)
        };
        let name = "AMQP/client/c/sub".to_owned();
        let there = || manager.subscriptions(&name).len();
        let refused = Some("amqp:unauthorized-access");
        for shared in [false, true] {
            let which = Subscribing { name: name.clone(), durable: true, shared };
            all.enter(&asker(&manager, &anna), &which, wanted("news/today")).unwrap();
            let try_all = || {
                assert_eq!(condition(&bob, &which, wanted("news/today")), refused);
                assert_eq!(condition(&bob, &which, wanted("other")), refused);
                assert_eq!(condition(&bob, &which, None), refused);
            };
            try_all();
            all.leave(&asker(&manager, &anna), &which, false);
            try_all();
            assert_eq!(there(), 1);
            assert_eq!(condition(&anna, &which, None), None);
            all.leave(&asker(&manager, &anna), &which, true);
            assert_eq!(there(), 0);
        }
        let which = Subscribing { name: "AMQP/volatile-c".into(), durable: false, shared: true };
        assert_eq!(condition(&anna, &which, wanted("news/today")), None);
        assert_eq!(condition(&bob, &which, wanted("news/today")), refused);
        assert_eq!(condition(&anna, &which, wanted("news/today")), None);
    }

    #[test]
    fn a_subscription_that_stays_in_use_is_refused_to_others() {
        let manager = manager();
        let mut all = Subscriptions::default();
        let anna = user("ANNA");
        let asker = |conversation| Asker { manager: &manager, client: &anna, conversation };
        let name = "AMQP/client/c/sub".to_owned();
        let which = Subscribing { name, durable: true, shared: false };
        let condition = |entered: Result<String, Trouble>| entered.err().map(|it| it.condition);
        assert_eq!(condition(all.enter(&asker(1), &which, wanted("news"))), None);
        // Nothing of its own conversation is let go while that waits.
        let locked = Some("amqp:resource-locked");
        assert_eq!(condition(all.enter(&asker(1), &which, wanted("news"))), locked);
        all.grace = Duration::ZERO;
        assert_eq!(condition(all.enter(&asker(2), &which, wanted("news"))), locked);
        all.leave(&asker(1), &which, false);
        assert_eq!(condition(all.enter(&asker(2), &which, wanted("news"))), None);
    }
}
