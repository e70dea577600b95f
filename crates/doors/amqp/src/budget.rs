//! What the conversations of a door may have together, and those of one user.
//!
//! | bytes of messages | of a user | of the door | who finds no room |
//! |---|---|---|---|
//! | on their way to clients | 128 MiB | 512 MiB | waits, and has not read its message |
//! | that wait to be put | 128 MiB | 512 MiB | waits, and nothing more of it is read |
//! | of which not all has come | 256 MiB | 1 GiB | is told so, and its conversation ends |
//!
//! 1. No user has the last tenth of places, or of links that take messages: others come in.
//! 2. Room of the user is taken before that of the door: who has much waits for itself.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use seam::sync::Mutex;
use tokio::sync::Semaphore;

use crate::work::Room;

/// Kibibytes of a user and of the door, on their way in one direction.
const USER_KIB: usize = 128 << 10;
const DOOR_KIB: usize = 512 << 10;
/// How much more may be of messages that are not whole.
const PARTIAL: usize = 2;

/// Room for messages in each direction, and for those that are not whole.
struct Rooms {
    outgoing: Arc<Semaphore>,
    incoming: Arc<Semaphore>,
    partial: Arc<Semaphore>,
}

impl Rooms {
    fn of(kib: usize) -> Rooms {
        let room = |kib| Arc::new(Semaphore::new(kib));
        Rooms { outgoing: room(kib), incoming: room(kib), partial: room(kib * PARTIAL) }
    }
}

/// A user of whom somebody is here.
struct User {
    connections: usize,
    consumers: Arc<AtomicUsize>,
    rooms: Arc<Rooms>,
}

/// What all conversations of a door have together.
pub(crate) struct Budgets {
    connections_max: usize,
    door: Rooms,
    users: Mutex<BTreeMap<String, User>>,
}

/// All but a tenth.
pub(crate) fn most_of(all: usize) -> usize {
    (all - all / 10).max(1)
}

impl Budgets {
    /// For a door of so many places.
    pub(crate) fn new(connections: usize) -> Arc<Budgets> {
        Arc::new(Budgets {
            connections_max: most_of(connections),
            door: Rooms::of(DOOR_KIB),
            users: Mutex::new(BTreeMap::new()),
        })
    }

    /// Takes a conversation of a user in; `None`: it would be one too many.
    pub(crate) fn enter(self: &Arc<Budgets>, user: &str) -> Option<Arc<Member>> {
        let mut users = self.users.lock();
        let one = users.entry(user.to_owned()).or_insert_with(|| User {
            connections: 0,
            consumers: Arc::default(),
            rooms: Arc::new(Rooms::of(USER_KIB)),
        });
        if one.connections >= self.connections_max {
            return None;
        }
        one.connections += 1;
        Some(Arc::new(Member {
            user: user.to_owned(),
            consumers: Arc::clone(&one.consumers),
            rooms: Arc::clone(&one.rooms),
            budgets: Arc::clone(self),
        }))
    }
}

/// A conversation of a user, until this is dropped.
pub(crate) struct Member {
    user: String,
    /// Links of the user that take messages.
    pub(crate) consumers: Arc<AtomicUsize>,
    rooms: Arc<Rooms>,
    budgets: Arc<Budgets>,
}

impl Member {
    /// Room for a message to a client; it waits, behind those who came before.
    pub(crate) async fn outgoing(&self, bytes: usize) -> Room {
        let mut room = Room::default();
        for all in [&self.rooms.outgoing, &self.budgets.door.outgoing] {
            room.add(Arc::clone(all).acquire_many_owned(kib_of(bytes)).await.ok());
        }
        room
    }

    /// Room for a message that is to be put; it waits.
    pub(crate) async fn incoming(&self, bytes: usize) -> Room {
        let mut room = Room::default();
        for all in [&self.rooms.incoming, &self.budgets.door.incoming] {
            room.add(Arc::clone(all).acquire_many_owned(kib_of(bytes)).await.ok());
        }
        room
    }

    /// More room for a message of which not all has come; `false`: there is none.
    pub(crate) fn partial(&self, bytes: usize, room: &mut Room) -> bool {
        let all = [&self.rooms.partial, &self.budgets.door.partial];
        let permits = all.map(|all| Arc::clone(all).try_acquire_many_owned(kib_of(bytes)).ok());
        let there = permits.iter().all(Option::is_some);
        if there {
            permits.into_iter().for_each(|permit| room.add(permit));
        }
        there
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut users = self.budgets.users.lock();
        if let Some(one) = users.get_mut(&self.user) {
            one.connections -= 1;
            if one.connections == 0 && self.consumers.load(Ordering::Acquire) == 0 {
                users.remove(&self.user);
            }
        }
    }
}

/// What a message counts for; the longest one has room alone.
fn kib_of(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(1_024).clamp(1, USER_KIB)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_leaves_places_and_room_to_others() {
        let budgets = Budgets::new(20);
        let mut anna: Vec<_> = (0..18).map(|_| budgets.enter("ANNA").unwrap()).collect();
        assert!(budgets.enter("ANNA").is_none());
        let bob = budgets.enter("BOB").unwrap();
        let (mut all, mut other) = (Room::default(), Room::default());
        // Whichever conversation of hers it is.
        assert!(anna[0].partial(100 << 20, &mut all) && anna[1].partial(100 << 20, &mut all));
        assert!(!anna[2].partial(100 << 20, &mut all) && bob.partial(100 << 20, &mut other));
        drop(all);
        assert!(anna[2].partial(100 << 20, &mut other));
        drop(anna.pop());
        assert!(budgets.enter("ANNA").is_some());
        drop((anna, bob));
        assert!(budgets.users.lock().is_empty());
    }

    #[test]
    fn the_door_has_room_for_so_many_bytes_whoever_has_them() {
        let budgets = Budgets::new(100);
        let mut all = Room::default();
        let had = (0..20).filter(|at| {
            let one = budgets.enter(&format!("U{at}")).unwrap();
            one.partial(100 << 20, &mut all)
        });
        assert_eq!(had.count(), 10);
    }
}
