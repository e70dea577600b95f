//! How many connections have come in, and from where.
//!
//! 1. A visitor that has not said yet what it is for has a place for greetings, and none of the
//!    places of partners: who says nothing keeps nobody out who is let in.
//! 2. One address has a part of either kind alone. Of an address of IPv6 its network counts, of
//!    which whoever has one has all.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};

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

    /// Exchanges it for a place of partners; `false`: there is none.
    pub(crate) fn greeted(&mut self, from: IpAddr) -> bool {
        let has = self.partners.take(from, (PARTNERS_MAX, PARTNERS_OF_ONE_MAX));
        if has {
            self.greeting.give(from);
        }
        has
    }

    /// Gives a place back: of a partner, or of a greeting.
    pub(crate) fn leave(&mut self, from: IpAddr, greeted: bool) {
        match greeted {
            true => self.partners.give(from),
            false => self.greeting.give(from),
        }
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
        // Who is a partner has a place of another kind.
        assert!(visitors.greeted(one));
        assert_eq!(visitors.count(), GREETINGS_MAX);
        assert!(visitors.greet(address("192.0.2.4")) && !visitors.greet(one));
        visitors.leave(one, true);
        visitors.leave(one, false);
        assert!(visitors.greet(one));
    }
}
