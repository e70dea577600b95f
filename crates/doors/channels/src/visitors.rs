//! How many connections have come in, and from where.
//!
//! 1. Whoever has not said yet what it is for has a place for greetings, and none of the places of
//!    partners: who says nothing keeps nobody out who is let in.
//! 2. One address has a part of either kind alone. Of an address of IPv6 its network counts, of
//!    which whoever has one has all.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use store::Store;

use crate::shared::Shared;

/// Connections that have not said what they are for: at once, and of one address.
const GREETINGS_MAX: usize = 200;
const GREETINGS_OF_ONE_MAX: usize = 50;
/// Connections that have: at once, and of one address.
const PARTNERS_MAX: usize = 2_000;
const PARTNERS_OF_ONE_MAX: usize = 1_000;

/// Places of a kind that are taken.
#[derive(Default)]
struct Taken {
    all: usize,
    of: BTreeMap<IpAddr, usize>,
}

impl Taken {
    fn take(&mut self, from: IpAddr, (most, most_of_one): (usize, usize)) -> bool {
        let own = self.of.get(&from).copied().unwrap_or(0);
        if self.all >= most || own >= most_of_one {
            return false;
        }
        self.all += 1;
        self.of.insert(from, own + 1);
        true
    }

    fn give(&mut self, from: IpAddr) {
        let Some(own) = self.of.get_mut(&from) else { return };
        *own -= 1;
        self.all -= 1;
        if *own == 0 {
            self.of.remove(&from);
        }
    }
}

/// Connections that are here.
#[derive(Default)]
pub(crate) struct Visitors {
    greeting: Taken,
    partners: Taken,
}

impl Visitors {
    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.greeting.all + self.partners.all
    }

    /// Takes a place for a greeting, if there is one.
    pub(crate) fn greet(&mut self, from: IpAddr) -> bool {
        self.greeting.take(from, (GREETINGS_MAX, GREETINGS_OF_ONE_MAX))
    }

    /// Gives one back for which there is no [`Place`].
    pub(crate) fn leave(&mut self, from: IpAddr) {
        self.greeting.give(from);
    }
}

/// Whose places an address shares.
pub(crate) fn origin(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address => address,
    }
}

/// A place that a connection has until this is dropped.
pub(crate) struct Place<S: Store> {
    shared: Arc<Shared<S>>,
    from: IpAddr,
    greeted: bool,
}

impl<S: Store> Place<S> {
    /// One for a greeting, that was taken.
    pub(crate) fn of(shared: &Arc<Shared<S>>, from: IpAddr) -> Place<S> {
        Place { shared: Arc::clone(shared), from, greeted: false }
    }

    /// It has said what it is for: it takes a place of partners; `false`: there is none.
    pub(crate) fn greeted(&mut self) -> bool {
        let visitors = &mut self.shared.state.lock().visitors;
        let has = visitors.partners.take(self.from, (PARTNERS_MAX, PARTNERS_OF_ONE_MAX));
        if has {
            visitors.greeting.give(self.from);
            self.greeted = true;
        }
        has
    }
}

impl<S: Store> Drop for Place<S> {
    fn drop(&mut self) {
        let visitors = &mut self.shared.state.lock().visitors;
        match self.greeted {
            true => visitors.partners.give(self.from),
            false => visitors.greeting.give(self.from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_takes_not_all_places_and_gives_back_what_it_took() {
        let mut visitors = Visitors::default();
        let address = |text: &str| origin(text.parse().unwrap());
        let greets =
            |visitors: &mut Visitors, from| (0..500).filter(|_| visitors.greet(from)).count();
        let one = address("192.0.2.1");
        assert_eq!(greets(&mut visitors, one), GREETINGS_OF_ONE_MAX);
        assert_eq!(greets(&mut visitors, address("::ffff:192.0.2.1")), 0);
        assert_eq!(greets(&mut visitors, address("2001:db8::1")), GREETINGS_OF_ONE_MAX);
        // Another address of the same network.
        assert_eq!(greets(&mut visitors, address("2001:db8::2")), 0);
        assert_eq!(greets(&mut visitors, address("192.0.2.2")), GREETINGS_OF_ONE_MAX);
        assert_eq!(greets(&mut visitors, address("192.0.2.3")), GREETINGS_OF_ONE_MAX);
        assert_eq!(greets(&mut visitors, address("192.0.2.4")), 0);
        assert_eq!(visitors.count(), GREETINGS_MAX);
        visitors.greeting.give(one);
        assert!(visitors.greet(address("192.0.2.4")) && !visitors.greet(one));
    }
}
