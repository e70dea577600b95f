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

use std::collections::BTreeMap;
use std::sync::Arc;

use seam::family::parent;
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

    /// The program that a process is, or that has started it or one of its parents.
    #[must_use]
    pub fn above(&self, process: u32) -> Option<u32> {
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
    let mut at = process;
    for _ in 0..PARENTS_MAX {
        match at {
            0 | 1 => return Found::Nobody,
            at if served.contains_key(&at) => return Found::Above(at),
            _ => (),
        }
        let Some(next) = parent(at) else { return Found::Broken };
        at = next;
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
        assert_eq!(guests.above(own), Some(own));
        drop(served);
        assert_eq!(guests.above(own), None);
        assert_eq!(guests.above(u32::MAX), Some(u32::MAX), "it has ended");
    }
}
