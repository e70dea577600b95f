//! The message that a program has: its segments, how many of them were given, and from whom it is.
//!
//! Invariants:
//! 1. `place` is never behind the last segment.
//! 2. Without an input there are no segments; an input has one at least, if one without data.
//! 3. What was known of the last input stays until the next one is laid out.

use otma::{Encoding, Identity, Name};
use region::IoFeedback;
use resources::Transaction;
use schedule::Moment;
use schedule::messages::Segment;

use crate::conversation::spa_for;
use crate::run::Next;

/// The present message of a program.
#[derive(Default)]
pub(crate) struct PresentInput {
    parts: Vec<Vec<u8>>,
    /// How many segments were given.
    place: usize,
    io: IoFeedback,
    /// It was given before, and came back.
    is_old: bool,
    terminal: Name,
    identity: Identity,
    /// The code page that the program has its characters in.
    encoding: Encoding,
    ignore_purge: bool,
}

impl PresentInput {
    /// Lays the next message out for the program. In a conversation its scratch pad area stands in
    /// front: what came with the input, or what was `kept`.
    pub(crate) fn lay_out(
        &mut self,
        next: Next,
        conversation: Option<&Transaction>,
        kept: Vec<u8>,
        moment: Moment,
    ) {
        let Next { envelope, arrival, is_old, .. } = next;
        self.parts = envelope.segments.iter().map(<[u8]>::to_vec).collect();
        if let Some(of) = conversation {
            let old = if envelope.spa.is_empty() { kept } else { envelope.spa };
            self.parts.insert(0, spa_for(of.name, of.spa_bytes, &old, envelope.encoding));
        }
        if self.parts.is_empty() {
            // A message has a first segment, if one without data.
            self.parts.push(vec![0, 4, 0, 0]);
        }
        self.place = 0;
        self.is_old = is_old;
        self.terminal = envelope.terminal;
        self.encoding = envelope.encoding;
        self.identity = envelope.identity;
        self.ignore_purge = envelope.options.ignore_purge;
        let user = envelope.identity.user;
        self.io = IoFeedback {
            terminal: envelope.terminal.0,
            sequence: arrival as u32,
            mod_name: envelope.mod_name.0,
            user: if user.is_blank() { envelope.terminal.0 } else { user.0 },
            group: envelope.identity.group.0,
            indicator: if user.is_blank() { b'L' } else { b'U' },
            ..IoFeedback::default()
        };
        moment.show(&mut self.io);
    }

    /// There is no input any more.
    pub(crate) fn end(&mut self) {
        self.parts.clear();
        self.place = 0;
    }

    /// The unit of work was backed out; the program gets the input `again`, or has none.
    pub(crate) fn backed_out(&mut self, again: bool) {
        if !again {
            self.parts.clear();
        }
        self.place = self.parts.len().min(1);
    }

    /// Whether the program has one.
    pub(crate) fn is_there(&self) -> bool {
        !self.parts.is_empty()
    }

    /// The first segment.
    pub(crate) fn first_segment(&mut self) -> Result<Segment<'_>, [u8; 2]> {
        if self.is_there() { Ok(self.give(0)) } else { Err(*b"QE") }
    }

    /// The next one.
    pub(crate) fn next_segment(&mut self) -> Result<Segment<'_>, [u8; 2]> {
        if !self.is_there() {
            return Err(*b"QE");
        }
        let place = self.place;
        if place < self.parts.len() { Ok(self.give(place)) } else { Err(*b"QD") }
    }

    fn give(&mut self, number: usize) -> Segment<'_> {
        self.place = number + 1;
        let first = number == 0;
        Segment {
            bytes: &self.parts[number],
            io: first.then_some(&self.io),
            status: if first && self.is_old { *b"CF" } else { *b"  " },
        }
    }

    /// Where it came from.
    pub(crate) fn terminal(&self) -> Name {
        self.terminal
    }

    pub(crate) fn identity(&self) -> Identity {
        self.identity
    }

    pub(crate) fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// PURG of the I/O PCB does not end a message.
    pub(crate) fn ignores_purge(&self) -> bool {
        self.ignore_purge
    }
}
