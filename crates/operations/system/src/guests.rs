//! Which processes are programs that the system serves, and who has been started by one.
//!
//! A program runs as the system's own user, so permissions alone do not keep it from what operators
//! do. Whoever comes is therefore looked up: a program, or a process below one, is sent away. A
//! program's process takes in what its children leave behind, so a child cannot leave it by ending
//! its parent, and neither can take that back. All of them are branded besides ([`seam::fence`]):
//! what outlives the program, or its connection, is known by that.
//!
//! Invariants:
//! 1. A process is listed from before its program is loaded until its connection has ended.
//! 2. Who cannot be looked up because it has ended is sent away.
//! 3. A process that was branded is a program's for ever.
//! 4. What is found by a number is believed only of a process that still has it when it has
//!    been found.

use std::collections::BTreeMap;
use std::sync::Arc;

use seam::family::parent;
use seam::socket::Peer;
use seam::sync::Mutex;

/// No chain of parents is longer.
const PARENTS_MAX: usize = 10_000;

/// The programs that are being served, by the numbers of their processes.
#[derive(Default)]
pub struct Guests {
    served: Mutex<BTreeMap<u32, u32>>,
}

/// A program that is being served, for as long as this value is there.
pub struct Guest {
    guests: Arc<Guests>,
    process: u32,
}

impl Guests {
    /// A program has come. One whose process is not to be seen from here has the number 0, and is
    /// not looked for.
    #[must_use]
    pub fn enter(self: &Arc<Guests>, process: u32) -> Guest {
        *self.served.lock().entry(process).or_default() += 1;
        Guest { guests: Arc::clone(self), process }
    }

    /// The program that whoever has connected is, or that has started it or one of its parents.
    /// One that has ended is taken for a program: its number may be another one's by now.
    #[must_use]
    pub fn above(&self, peer: &Peer) -> Option<u32> {
        // One that is not to be seen from here was not looked up by a number.
        let is_sure = || peer.process == 0 || peer.lives();
        // The order matters: who lives now had the number while it was looked up (4).
        self.above_number(peer.process).or_else(|| (!is_sure()).then_some(peer.process))
    }

    fn above_number(&self, process: u32) -> Option<u32> {
        self.above_by(process, parent).or_else(|| is_left_behind(process).then_some(process))
    }

    fn above_by(&self, process: u32, parent: impl Fn(u32) -> Option<u32>) -> Option<u32> {
        let served = self.served.lock().clone();
        if served.is_empty() || process == 0 {
            return None;
        }
        // A parent that ends meanwhile breaks the chain; it is another one then.
        let looks = (0..LOOKS).map(|_| look(&served, process, &parent));
        let mut found = looks.skip_while(|found| *found == Found::Broken);
        match found.next() {
            Some(Found::Above(guest)) => Some(guest),
            Some(Found::Nobody) => None,
            // It has ended: whose it was, nobody can say (2).
            Some(Found::Broken) | None => Some(process),
        }
    }
}

/// What a look at the parents of a process finds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Above(u32),
    Nobody,
    Broken,
}

/// How often a chain that breaks is looked at.
const LOOKS: usize = 3;

fn look(served: &BTreeMap<u32, u32>, process: u32, parent: impl Fn(u32) -> Option<u32>) -> Found {
    let mut chain = vec![process];
    while let Some(&at) = chain.last().filter(|_| chain.len() <= PARENTS_MAX) {
        if served.contains_key(&at) {
            return Found::Above(at);
        }
        if at <= 1 {
            // A parent that has ended meanwhile has left its children to others, and its number to
            // whomever. From the top down: who is still a child at the end had its parent all the
            // time (4).
            let holds = |link: &[u32]| parent(link[0]) == Some(link[1]);
            let is_whole = chain.windows(2).rev().all(holds);
            return if is_whole { Found::Nobody } else { Found::Broken };
        }
        let Some(next) = parent(at) else { return Found::Broken };
        chain.push(next);
    }
    Found::Broken
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut served = self.guests.served.lock();
        if let Some(count) = served.get_mut(&self.process) {
            *count -= 1;
            if *count == 0 {
                served.remove(&self.process);
            }
        }
    }
}

/// Whether a process is one that a program has left behind, or has ended (2, 3). Of what is not
/// to be seen from here nobody knows.
fn is_left_behind(process: u32) -> bool {
    match seam::fence::is_branded(process) {
        Ok(is_branded) => is_branded,
        Err(error) => process != 0 && error.kind() == std::io::ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_a_program_has_started_is_known_as_its_own() {
        let guests = Arc::new(Guests::default());
        let tree = |process| match process {
            30 => Some(20),
            20 => Some(10),
            10 => Some(1),
            40 => Some(1),
            _ => None,
        };
        assert_eq!(guests.above_by(30, tree), None, "nobody is served");
        let guest = guests.enter(20);
        assert_eq!(guests.above_by(20, tree), Some(20));
        assert_eq!(guests.above_by(30, tree), Some(20));
        assert_eq!(guests.above_by(10, tree), None);
        assert_eq!(guests.above_by(40, tree), None);
        assert_eq!(guests.above_by(0, tree), None, "it is not to be seen from here");
        assert!(guests.above_by(50, tree).is_some(), "it has ended");
        let again = guests.enter(20);
        drop(guest);
        assert_eq!(guests.above_by(30, tree), Some(20), "it is served twice");
        drop(again);
        assert_eq!(guests.above_by(30, tree), None);
    }

    #[test]
    fn a_process_is_a_guest_while_it_is_served() {
        let own = std::process::id();
        let guests = Arc::new(Guests::default());
        let served = guests.enter(own);
        let (ours, _theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let peer = Peer::of(&ours).unwrap();
        assert_eq!(guests.above(&peer), Some(own));
        drop(served);
        assert_eq!(guests.above(&peer), None);
        assert_eq!(guests.above_number(u32::MAX), Some(u32::MAX), "it has ended");
    }

    #[test]
    fn a_parent_whose_number_is_taken_meanwhile_hides_nobody() {
        let guests = Arc::new(Guests::default());
        let _guest = guests.enter(20);
        // 30 ends after it was found above 40, which is the guest's then; its number is a
        // stranger's.
        let looks = std::cell::Cell::new(0);
        let tree = |process| match process {
            40 => {
                looks.set(looks.get() + 1);
                Some(if looks.get() == 1 { 30 } else { 20 })
            }
            30 => Some(1),
            _ => None,
        };
        assert_eq!(guests.above_by(40, tree), Some(20));
    }
}
