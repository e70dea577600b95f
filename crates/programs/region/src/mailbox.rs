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
//! 3. Who waits looks for a moment, lets others run for a moment, and then sleeps; from time to
//!    time it looks whether the other side still lives.
//! 4. What never pays is not kept up: looking is useless where both sides share a processor, and
//!    both are where answers take long. Each side learns that from its own waits alone.
//!
//! What the ways cost, measured with two processes in a virtual machine: looking, as much as the
//! other side works, and 0.2 us until the turn is seen; giving way, 0.9 us, where the other side is
//! on the same processor; sleeping and being woken, 1.4 us on one processor and many times that
//! from one to another.

use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use crate::error::RegionError;
use crate::memory::Shared;
use crate::wire::AREA_BYTES_MAX;

const TURN: usize = 0;
const LENGTH: usize = 8;
const MESSAGE: usize = 64;

/// Room for the longest call: area, further parameters, search arguments, what rides with it.
const BYTES: usize = 4 * AREA_BYTES_MAX;

/// How often the turn is looked at before others are let run: an answer may be almost there. This
/// takes longer than to wake the other side; otherwise a single sleep would make each side find the
/// other one asleep from then on, and both learn never to look. More would be lost processor time
/// where more programs run than there are processors: the other side may not be running at all.
const LOOKS: u32 = 2 * 1024;
/// How often others are let run before going to sleep: where both sides have one processor, the
/// other side goes on at once. It takes about as long as sleeping and being woken costs.
const YIELDS: u32 = 24;
/// After how many waits a way that did not pay is tried in full again: the other side may have come
/// to another processor.
const AGAIN: u32 = 1024;
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

/// How long a side waits in which way, as the waits before have shown.
struct Patience {
    looks: Cell<u32>,
    yields: Cell<u32>,
    /// Waits until both are tried in full again.
    left: Cell<u32>,
}

impl Patience {
    fn new() -> Patience {
        let (looks, yields) = (Cell::new(LOOKS), Cell::new(YIELDS));
        Patience { looks, yields, left: Cell::new(AGAIN) }
    }

    /// How often to look, and how often to let others run.
    fn limits(&self) -> (u32, u32) {
        self.left.set(self.left.get() - 1);
        if self.left.get() == 0 {
            self.left.set(AGAIN);
            return (LOOKS, YIELDS);
        }
        (self.looks.get(), self.yields.get())
    }

    /// Looking has brought the turn.
    fn looking_paid(&self) {
        self.looks.set(LOOKS);
    }

    /// Letting others run has.
    fn yielding_paid(&self) {
        self.looks.set(self.looks.get() / 2);
        self.yields.set(YIELDS);
    }

    /// Neither has.
    fn slept(&self) {
        self.looks.set(self.looks.get() / 2);
        self.yields.set(self.yields.get() / 2);
    }
}

/// The mailbox, from one side.
pub(crate) struct Mailbox {
    shared: Shared,
    side: Side,
    patience: Patience,
    nap: Duration,
}

impl Mailbox {
    /// The system's side of a new one: the program begins.
    pub(crate) fn create() -> Result<Mailbox, RegionError> {
        Mailbox::create_with(NAP)
    }

    /// The same; while it sleeps, the system looks this often whether the program still lives.
    pub(crate) fn create_with(nap: Duration) -> Result<Mailbox, RegionError> {
        let shared = Shared::create("holdfast-calls", BYTES, false).map_err(no_memory)?;
        Ok(Mailbox { shared, side: Side::System, patience: Patience::new(), nap })
    }

    /// The program's side of one that a system has made.
    pub(crate) fn join(fd: std::os::fd::OwnedFd) -> Result<Mailbox, RegionError> {
        let shared = Shared::map(fd).map_err(no_memory)?;
        if shared.len() < BYTES {
            return Err(RegionError::Protocol("the shared memory is too short"));
        }
        Ok(Mailbox { shared, side: Side::Program, patience: Patience::new(), nap: NAP })
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
        self.shared.word(LENGTH).store(message.len() as u64, Relaxed);
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
        let length = self.shared.word(LENGTH).load(Relaxed);
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
        if !theirs(turn.load()) {
            return true;
        }
        let (looks, yields) = self.patience.limits();
        for _ in 0..looks {
            std::hint::spin_loop();
            if !theirs(turn.load()) {
                self.patience.looking_paid();
                return true;
            }
        }
        for _ in 0..yields {
            rustix::thread::sched_yield();
            if !theirs(turn.load()) {
                self.patience.yielding_paid();
                return true;
            }
        }
        self.patience.slept();
        while theirs(turn.load()) {
            let watched = others.watched_turn();
            let _ = turn.exchange(others.turn(), watched);
            turn.sleep(watched, self.nap);
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
    fn what_does_not_pay_is_given_up_and_tried_again() {
        let patience = Patience::new();
        assert_eq!(patience.limits(), (LOOKS, YIELDS));
        for _ in 0..15 {
            patience.yielding_paid();
        }
        assert_eq!(patience.limits(), (0, YIELDS));
        for _ in 0..5 {
            patience.slept();
        }
        let waits: Vec<_> = (0..AGAIN - 2).map(|_| patience.limits()).collect();
        let (last, others) = waits.split_last().expect("waits");
        assert_eq!(*last, (LOOKS, YIELDS));
        assert!(others.iter().all(|limits| *limits == (0, 0)), "{others:?}");
        patience.looking_paid();
        assert_eq!(patience.limits(), (LOOKS, 0));
    }

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
