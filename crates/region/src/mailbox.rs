//! The memory in which a program's process and a running system exchange messages.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 4 | whose turn it is |
//! | 8 | 8 | length of the message |
//! | 64 | | the message |
//!
//! | turn | means |
//! |---|---|
//! | 0 | the program's |
//! | 1 | the system's |
//! | 2 | the program's, and the system sleeps until it changes |
//! | 3 | the system's, and the program sleeps until it changes |
//!
//! Invariants:
//! 1. Whose turn it is alone writes; the turn is handed over after the last byte.
//! 2. Both sides copy a message out before they look at it: what is checked cannot change.
//! 3. Who waits looks for a moment, because answers are fast, and then sleeps; from time to time it
//!    looks whether the other side still lives.

use std::time::Duration;

use crate::error::RegionError;
use crate::memory::Shared;
use crate::wire::AREA_BYTES_MAX;

const TURN: usize = 0;
const LENGTH: usize = 8;
const MESSAGE: usize = 64;

/// Room for the longest call: area, further parameters, search arguments, what rides with it.
const BYTES: usize = 4 * AREA_BYTES_MAX;

/// How often the turn is looked at before others are let run: an answer may be almost there.
const LOOKS: u32 = 50;
/// How often others are let run before going to sleep: where both sides have one processor, the
/// other side goes on at once, and waking it would cost several times as much.
const YIELDS: u32 = 100;
/// How long to sleep before looking whether the other side still lives.
const NAP: Duration = Duration::from_millis(50);

/// A side of a mailbox.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Program,
    System,
}

impl Side {
    fn turn(self) -> u32 {
        match self {
            Side::Program => 0,
            Side::System => 1,
        }
    }

    fn other(self) -> Side {
        match self {
            Side::Program => Side::System,
            Side::System => Side::Program,
        }
    }

    /// It is this side's turn, and the other one sleeps.
    fn watched_turn(self) -> u32 {
        self.turn() + 2
    }
}

/// The mailbox, from one side.
pub(crate) struct Mailbox {
    shared: Shared,
    side: Side,
}

impl Mailbox {
    /// The system's side of a new one: the program begins.
    pub(crate) fn create() -> Result<Mailbox, RegionError> {
        let shared = Shared::create("holdfast-calls", BYTES, false).map_err(no_memory)?;
        Ok(Mailbox { shared, side: Side::System })
    }

    /// The program's side of one that a system has made.
    pub(crate) fn join(fd: std::os::fd::OwnedFd) -> Result<Mailbox, RegionError> {
        let shared = Shared::map(fd).map_err(no_memory)?;
        if shared.len() < BYTES {
            return Err(RegionError::Protocol("the shared memory is too short"));
        }
        Ok(Mailbox { shared, side: Side::Program })
    }

    pub(crate) fn fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.shared.fd()
    }

    /// Puts a message in and hands over the turn.
    pub(crate) fn send(&self, message: &[u8]) -> Result<(), RegionError> {
        if message.len() > self.shared.len() - MESSAGE {
            return Err(RegionError::Protocol("a message is too long"));
        }
        self.shared.put(MESSAGE, message);
        self.shared.put(LENGTH, &(message.len() as u64).to_le_bytes());
        let turn = self.shared.turn(TURN);
        if turn.swap(self.side.other().turn()) == self.side.watched_turn() {
            turn.wake();
        }
        Ok(())
    }

    /// Waits for the turn and replaces `message` by what has come; `false` if the other side has
    /// gone, which `lives` tells.
    pub(crate) fn receive(
        &self,
        message: &mut Vec<u8>,
        mut lives: impl FnMut() -> bool,
    ) -> Result<bool, RegionError> {
        if !self.wait(&mut lives) {
            return Ok(false);
        }
        self.shared.get(LENGTH, 8, message);
        let length = message.first_chunk::<8>().map_or(u64::MAX, |len| u64::from_le_bytes(*len));
        if length > (self.shared.len() - MESSAGE) as u64 {
            return Err(RegionError::Protocol("the length of a message"));
        }
        self.shared.get(MESSAGE, length as usize, message);
        Ok(true)
    }

    fn wait(&self, lives: &mut impl FnMut() -> bool) -> bool {
        let turn = self.shared.turn(TURN);
        let others = self.side.other();
        let theirs = |value| value == others.turn() || value == others.watched_turn();
        for look in 0..LOOKS + YIELDS {
            if !theirs(turn.load()) {
                return true;
            }
            if look < LOOKS {
                std::hint::spin_loop();
            } else {
                rustix::thread::sched_yield();
            }
        }
        while theirs(turn.load()) {
            let watched = others.watched_turn();
            let _ = turn.exchange(others.turn(), watched);
            turn.sleep(watched, NAP);
            if theirs(turn.load()) && !lives() {
                return false;
            }
        }
        true
    }
}

fn no_memory(errno: rustix::io::Errno) -> RegionError {
    RegionError::Memory { what: "calls to the system", text: errno.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_go_to_and_fro_and_a_silent_side_is_noticed() {
        let system = Mailbox::create().expect("memory");
        let fd = system.fd().try_clone_to_owned().expect("a second handle");
        let program = Mailbox::join(fd).expect("the same memory");
        let echo = seam::thread::spawn("echo", move || {
            let mut message = Vec::new();
            for _ in 0..1000 {
                assert!(system.receive(&mut message, || true).expect("a message"));
                message.reverse();
                system.send(&message).expect("room");
            }
        });
        let mut answer = Vec::new();
        for number in 0..1000_u32 {
            program.send(&number.to_le_bytes()).expect("room");
            assert!(program.receive(&mut answer, || true).expect("an answer"));
            assert_eq!(answer, number.to_be_bytes());
        }
        echo.expect("a thread").join();
        program.send(b"anybody there?").expect("room");
        assert!(!program.receive(&mut answer, || false).expect("nothing"));
        assert!(program.send(&vec![0; BYTES]).is_err());
    }
}
