//! How many programs there may be, and how much memory their requests may take.
//!
//! | what | at most |
//! |---|---|
//! | connections of the door | as it is opened with |
//! | of one user | all but a tenth of them |
//! | of one channel, and of one address by it | MAXINST and MAXINSTC of the channel |
//! | that have not said who they are, of one address | [`GREETINGS_MAX`] |
//! | bytes of requests that come in, of the door and of one user | [`DOOR_BYTES`], [`USER_BYTES`] |
//!
//! 1. Who finds no room for a request waits, and nothing more of it is read meanwhile.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use seam::sync::{Condvar, Mutex};

/// Connections of one address that have not said who they are.
pub(crate) const GREETINGS_MAX: usize = 64;
/// Bytes of requests of all programs.
pub(crate) const DOOR_BYTES: usize = 512 << 20;
/// Of those of one user.
pub(crate) const USER_BYTES: usize = 128 << 20;
/// Requests of fewer bytes do not count.
const SMALL_BYTES: usize = 64 << 10;
/// How long a request waits for room.
const ROOM: Duration = Duration::from_secs(60);
/// Passwords that are checked at a time: each takes memory.
const CHECKS_MAX: usize = 4;

/// What is counted.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum What {
    Door,
    Greeting(IpAddr),
    User(String),
    Channel(String),
    ChannelOf(String, IpAddr),
    DoorBytes,
    UserBytes(String),
    Check,
}

/// What there is, by what is counted.
#[derive(Default)]
pub(crate) struct Places {
    taken: Mutex<BTreeMap<What, usize>>,
    freed: Condvar,
}

/// Some of it, until this is dropped.
pub(crate) struct Held {
    places: Arc<Places>,
    what: Vec<(What, usize)>,
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock();
        for (what, count) in &self.what {
            if let Some(known) = taken.get_mut(what) {
                *known = known.saturating_sub(*count);
                if *known == 0 {
                    taken.remove(what);
                }
            }
        }
        drop(taken);
        self.places.freed.notify_all();
    }
}

/// A program that is to have a place.
pub(crate) struct Client<'c> {
    pub(crate) user: &'c str,
    pub(crate) channel: &'c str,
    pub(crate) address: IpAddr,
}

/// How many connections there may be: of the door, of the channel, and of one address by it.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) door: usize,
    pub(crate) instances: usize,
    pub(crate) of_address: usize,
}

/// All but a tenth.
fn most_of(all: usize) -> usize {
    (all - all / 10).max(1)
}

impl Places {
    /// Takes all of it, or nothing.
    fn take(self: &Arc<Self>, wanted: &[(What, usize, usize)]) -> Option<Held> {
        let mut taken = self.taken.lock();
        self.take_from(&mut taken, wanted)
    }

    fn take_from(
        self: &Arc<Self>,
        taken: &mut BTreeMap<What, usize>,
        wanted: &[(What, usize, usize)],
    ) -> Option<Held> {
        let fits = wanted.iter().all(|(what, count, most)| {
            taken.get(what).copied().unwrap_or_default().saturating_add(*count) <= *most
        });
        if !fits {
            return None;
        }
        for (what, count, _) in wanted {
            *taken.entry(what.clone()).or_default() += count;
        }
        let what = wanted.iter().map(|(what, count, _)| (what.clone(), *count)).collect();
        Some(Held { places: Arc::clone(self), what })
    }

    /// The same; waits until it is there.
    fn wait(self: &Arc<Self>, wanted: &[(What, usize, usize)], time: Duration) -> Option<Held> {
        let mut taken = self.taken.lock();
        let mut left = time;
        loop {
            if let Some(held) = self.take_from(&mut taken, wanted) {
                return Some(held);
            }
            if left.is_zero() {
                return None;
            }
            // In pieces, as whatever is freed wakes everybody.
            let piece = left.min(Duration::from_millis(250));
            self.freed.wait_for(&mut taken, piece);
            left = left.saturating_sub(piece);
        }
    }

    /// A place for a connection.
    pub(crate) fn connection(self: &Arc<Self>, most: usize) -> Option<Held> {
        self.take(&[(What::Door, 1, most.max(1))])
    }

    /// A place for one that has not said who it is.
    pub(crate) fn greeting(self: &Arc<Self>, address: IpAddr) -> Option<Held> {
        self.take(&[(What::Greeting(address), 1, GREETINGS_MAX)])
    }

    /// A turn to check a password.
    pub(crate) fn check(self: &Arc<Self>, time: Duration) -> Option<Held> {
        self.wait(&[(What::Check, 1, CHECKS_MAX)], time)
    }

    /// A place of a channel, and of a user.
    pub(crate) fn program(self: &Arc<Self>, client: &Client<'_>, limits: Limits) -> Option<Held> {
        let Client { user, channel, address } = *client;
        self.take(&[
            (What::User(user.to_owned()), 1, most_of(limits.door)),
            (What::Channel(channel.to_owned()), 1, limits.instances),
            (What::ChannelOf(channel.to_owned(), address), 1, limits.of_address),
        ])
    }

    /// Room for the data of a request.
    ///
    /// # Errors
    /// `TimedOut`, if there is none.
    pub(crate) fn room(self: &Arc<Self>, user: &str, bytes: usize) -> io::Result<Option<Held>> {
        if bytes < SMALL_BYTES {
            return Ok(None);
        }
        let own = (What::UserBytes(user.to_owned()), bytes, USER_BYTES);
        let held = self.wait(&[own, (What::DoorBytes, bytes, DOOR_BYTES)], ROOM);
        held.map(Some).ok_or_else(|| io::ErrorKind::TimedOut.into())
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const THERE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));

    #[test]
    fn a_channel_has_so_many_instances_and_an_address_so_many_of_them() {
        let places = Arc::new(Places::default());
        let program = |address| {
            let limits = Limits { door: 1_000, instances: 3, of_address: 2 };
            places.program(&Client { user: "u", channel: "C", address }, limits)
        };
        let held: Vec<_> = [HERE, HERE, THERE].into_iter().map(program).collect();
        assert!(held.iter().all(Option::is_some));
        assert!(program(THERE).is_none(), "a fourth instance");
        drop(held);
        let _two = (program(HERE).unwrap(), program(HERE).unwrap());
        assert!(program(HERE).is_none(), "a third of one address");
        assert!(program(THERE).is_some());
    }

    #[test]
    fn no_user_has_all_connections() {
        let places = Arc::new(Places::default());
        let program = |user: &str| {
            let limits = Limits { door: 10, instances: 100, of_address: 100 };
            places.program(&Client { user, channel: "C", address: HERE }, limits)
        };
        let _held: Vec<_> = (0..9).map(|_| program("greedy").unwrap()).collect();
        assert!(program("greedy").is_none());
        assert!(program("modest").is_some());
    }

    #[test]
    fn what_is_given_back_can_be_taken_by_whoever_waits() {
        let places = Arc::new(Places::default());
        let first = places.room("u", USER_BYTES).unwrap();
        assert!(places.room("u", 1).unwrap().is_none(), "small ones do not count");
        let other = places.room("v", USER_BYTES).unwrap();
        assert!(first.is_some() && other.is_some());
        let own = Arc::clone(&places);
        let waits = seam::thread::spawn("waits", move || {
            assert!(own.room("u", USER_BYTES).unwrap().is_some());
        });
        drop(first);
        waits.unwrap().join();
    }
}
