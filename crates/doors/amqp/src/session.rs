//! A session: its windows, its links, what it has delivered, what it has still to send.
//!
//! 1. No more frames go than the peer's window lets through; the others wait here, and the bytes
//!    that they are of are counted until the last of them is gone.
//! 2. What waits of a link goes with the link: nothing is sent for a link that is not there.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use crate::link::Link;
use crate::value::Value;
use crate::work::Room;

/// The performative that brings a message, or a part of it.
pub(crate) const TRANSFER: u64 = 0x14;

/// A delivery that the peer has not settled.
pub(crate) struct Unsettled {
    pub(crate) token: u64,
    /// The number of its link.
    link: u64,
}

/// A frame that waits for the window.
struct Waiting {
    handle: u32,
    body: Value,
    message: Arc<Vec<u8>>,
    part: Range<usize>,
    /// Of the last frame of a message: the room that it takes.
    _room: Room,
}

/// A message that is to be sent.
pub(crate) struct Outgoing {
    pub(crate) handle: u32,
    /// The number of the link.
    pub(crate) link: u64,
    pub(crate) token: Option<u64>,
    pub(crate) tag: u64,
    pub(crate) message: Vec<u8>,
    pub(crate) room: Room,
}

/// A session.
#[derive(Default)]
pub(crate) struct Session {
    pub(crate) next_incoming: u32,
    pub(crate) next_outgoing: u32,
    pub(crate) remote_window: u32,
    pub(crate) links: BTreeMap<u32, Link>,
    next_delivery: u32,
    /// Deliveries to the peer that it has not settled.
    unsettled: BTreeMap<u32, Unsettled>,
    waiting: VecDeque<Waiting>,
}

impl Session {
    pub(crate) fn new(next_incoming: u32, remote_window: u32) -> Session {
        Session { next_incoming, remote_window, ..Session::default() }
    }

    /// Takes a message that is to be sent, in frames of which each has `room` bytes of it.
    pub(crate) fn take(&mut self, outgoing: Outgoing, room: usize) {
        let Outgoing { handle, link, token, tag, message, room: taken } = outgoing;
        let delivery = self.next_delivery;
        self.next_delivery = delivery.wrapping_add(1);
        self.unsettled.extend(token.map(|token| (delivery, Unsettled { token, link })));
        let message = Arc::new(message);
        let mut taken = Some(taken);
        let mut at = 0;
        loop {
            let (first, end) = (at == 0, message.len().min(at + room));
            let more = end < message.len();
            let body = vec![
                Value::Uint(handle),
                if first { Value::Uint(delivery) } else { Value::Null },
                if first { Value::Binary(tag.to_be_bytes().to_vec()) } else { Value::Null },
                if first { Value::Uint(0) } else { Value::Null },
                Value::Bool(token.is_none()),
                Value::Bool(more),
            ];
            self.waiting.push_back(Waiting {
                handle,
                body: Value::composite(TRANSFER, body),
                message: Arc::clone(&message),
                part: at..end,
                _room: if more { Room::default() } else { taken.take().unwrap_or_default() },
            });
            at = end;
            if !more {
                return;
            }
        }
    }

    /// Has the next frame sent that the window lets through; `false` if there is none.
    pub(crate) fn send_next(&mut self, send: impl FnOnce(&Value, &[u8])) -> bool {
        if self.remote_window == 0 {
            return false;
        }
        let Some(next) = self.waiting.pop_front() else { return false };
        self.remote_window -= 1;
        self.next_outgoing = self.next_outgoing.wrapping_add(1);
        send(&next.body, next.message.get(next.part).unwrap_or_default());
        true
    }

    /// The deliveries of a range that the peer settles, with their tokens.
    pub(crate) fn settled(&mut self, first: u32, last: u32) -> Vec<(u32, u64)> {
        let ended: Vec<u32> = self.unsettled.range(first..=last).map(|(id, _)| *id).collect();
        let token = |id: u32| self.unsettled.remove(&id).map(|one| (id, one.token));
        ended.into_iter().filter_map(token).collect()
    }

    /// Ends a link; answers it, and the tokens of what it had delivered.
    pub(crate) fn end_link(&mut self, handle: u32) -> Option<(Link, Vec<u64>)> {
        let link = self.links.remove(&handle)?;
        self.waiting.retain(|waiting| waiting.handle != handle);
        let number = link.key.number;
        let mut tokens = Vec::new();
        self.unsettled.retain(|_, one| {
            let stays = one.link != number;
            if !stays {
                tokens.push(one.token);
            }
            stays
        });
        Some((link, tokens))
    }

    /// The tokens of everything that is not settled.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = u64> {
        self.unsettled.values().map(|one| one.token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outgoing(message: &[u8], token: u64) -> Outgoing {
        let (message, token) = (message.to_vec(), Some(token));
        Outgoing { handle: 1, link: 7, token, tag: 1, message, room: Room::default() }
    }

    #[test]
    fn a_message_goes_in_frames_as_the_window_opens() {
        let mut session = Session::new(0, 2);
        session.take(outgoing(b"abcde", 9), 2);
        let mut sent = Vec::new();
        while session.send_next(|_, part| sent.push(part.to_vec())) {}
        assert_eq!(sent, [b"ab".to_vec(), b"cd".to_vec()]);
        session.remote_window = 5;
        while session.send_next(|_, part| sent.push(part.to_vec())) {}
        assert_eq!(sent.concat(), b"abcde");
        assert_eq!(session.settled(0, 5), [(0, 9)]);
        assert_eq!(session.settled(0, 5), []);
    }

    #[test]
    fn an_empty_message_is_one_frame() {
        let mut session = Session::new(0, 10);
        session.take(outgoing(b"", 9), 2);
        assert!(session.send_next(|_, part| assert!(part.is_empty())));
        assert!(!session.send_next(|_, _| {}));
    }
}
