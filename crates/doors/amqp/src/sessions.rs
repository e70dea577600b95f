//! The sessions of a conversation, their links, and the messages that have begun to come.
//!
//! 1. Sessions, links of a session, and bytes of messages that are not whole are bounded.
//! 2. `partial_bytes` counts what all links have of messages that are not whole; they go with
//!    their link.
//! 3. The number of a link is its own: another link of the same handle has another.

use std::collections::BTreeMap;

use crate::budget::Member;
use crate::link::{self, Link, Partial, Role};
use crate::session::Session;
use crate::value::{Value, field};
use crate::work::{LinkKey, MESSAGE_BYTES_MAX, Room, Step, Trouble, trouble};

/// Frames that a session may bring at a time.
pub(crate) const WINDOW: u32 = 2_048;
pub(crate) const SESSIONS_MAX: usize = 256;
pub(crate) const LINKS_MAX: usize = 1_024;
/// Bytes of messages that have begun to come and are not whole.
const PARTIAL_BYTES_MAX: usize = 256 << 20;

/// The sessions of a conversation.
#[derive(Default)]
pub(crate) struct Sessions {
    sessions: BTreeMap<u16, Session>,
    partial_bytes: usize,
    links_made: u64,
}

/// What a transfer brought.
pub(crate) struct Brought {
    pub(crate) key: LinkKey,
    /// The message, if it is whole now and was not aborted.
    pub(crate) whole: Option<Partial>,
    /// Whether it is for the coordinator of transactions.
    pub(crate) coordinates: bool,
    /// Whether half of the session's window is used: the peer is to hear of a new one.
    pub(crate) renew: bool,
}

impl Sessions {
    pub(crate) fn contains(&self, channel: u16) -> bool {
        self.sessions.contains_key(&channel)
    }

    pub(crate) fn begin(&mut self, channel: u16, session: Session) -> Step {
        if self.contains(channel) || self.sessions.len() == SESSIONS_MAX {
            return trouble("amqp:resource-limit-exceeded", "there are too many sessions");
        }
        self.sessions.insert(channel, session);
        Ok(())
    }

    /// Ends a session with all its links.
    pub(crate) fn end(&mut self, channel: u16) -> Option<Session> {
        let session = self.sessions.remove(&channel)?;
        self.partial_bytes -= session.links.values().map(Link::partial_bytes).sum::<usize>();
        Some(session)
    }

    pub(crate) fn find(&mut self, channel: u16) -> Option<&mut Session> {
        self.sessions.get_mut(&channel)
    }

    /// The session of a channel on which the peer says something.
    pub(crate) fn session(&mut self, channel: u16) -> Result<&mut Session, Trouble> {
        match self.sessions.get_mut(&channel) {
            Some(session) => Ok(session),
            None => trouble("amqp:not-allowed", "there is no session on that channel"),
        }
    }

    /// Adds a link that `make` makes under its key, beside what comes of it.
    pub(crate) fn attach<T>(
        &mut self,
        channel: u16,
        handle: u32,
        make: impl FnOnce(LinkKey) -> (Link, T),
    ) -> Result<(LinkKey, T), Trouble> {
        let number = self.links_made;
        let session = self.session(channel)?;
        if session.links.contains_key(&handle) || session.links.len() == LINKS_MAX {
            return trouble("amqp:session:handle-in-use", "the handle is in use");
        }
        let key = LinkKey { channel, handle, number };
        let (link, made) = make(key);
        session.links.insert(handle, link);
        self.links_made += 1;
        Ok((key, made))
    }

    pub(crate) fn link(&mut self, key: LinkKey) -> Option<&mut Link> {
        let link = self.sessions.get_mut(&key.channel)?.links.get_mut(&key.handle)?;
        (link.key == key).then_some(link)
    }

    /// Ends a link; answers it, and the tokens of what it had delivered.
    pub(crate) fn end_link(&mut self, channel: u16, handle: u32) -> Option<(Link, Vec<u64>)> {
        let (link, tokens) = self.sessions.get_mut(&channel)?.end_link(handle)?;
        self.partial_bytes -= link.partial_bytes();
        Some((link, tokens))
    }

    /// Takes a message, or a part of one.
    pub(crate) fn transfer(
        &mut self,
        channel: u16,
        fields: &[Value],
        payload: &[u8],
        member: Option<&Member>,
    ) -> Result<Brought, Trouble> {
        let handle = field(fields, 0).uint().unwrap_or(u32::MAX);
        let more = field(fields, 5).is_true();
        let aborted = field(fields, 9).is_true();
        let bytes_before = self.partial_bytes;
        let session = self.session(channel)?;
        session.next_incoming = session.next_incoming.wrapping_add(1);
        let renew = session.next_incoming % (WINDOW / 2) == 0;
        let Some(link) = session.links.get_mut(&handle) else {
            return trouble("amqp:session:unattached-handle", "a transfer is for no link");
        };
        let key = link.key;
        let (partial, coordinates) = match &mut link.role {
            Role::Producer { partial, .. } => (partial, false),
            Role::Coordinator { partial } => (partial, true),
            Role::Consumer { .. } => {
                return trouble("amqp:not-allowed", "a link that takes messages brought one");
            }
        };
        if partial.is_none() {
            *partial = Some(begun(fields, link.credit)?);
        }
        if let Some(partial) = partial.as_mut() {
            partial.settled |= field(fields, 4).is_true();
            if partial.message.len() + payload.len() > MESSAGE_BYTES_MAX {
                let words = "a message is longer than any may be";
                return trouble("amqp:link:message-size-exceeded", words);
            }
            let comes = more || !partial.message.is_empty();
            let room = !comes || partial.has_room(payload.len(), member);
            if bytes_before + payload.len() > PARTIAL_BYTES_MAX || !room {
                let words = "too many bytes of messages have come that are not whole";
                return trouble("amqp:resource-limit-exceeded", words);
            }
            partial.message.extend_from_slice(payload);
        }
        let whole = if aborted || !more { partial.take() } else { None };
        if whole.is_some() {
            link.delivery_count = link.delivery_count.wrapping_add(1);
            link.credit = link.credit.saturating_sub(1);
        }
        let gone = whole.as_ref().map_or(0, |whole| whole.message.len());
        self.partial_bytes = bytes_before + payload.len() - gone;
        Ok(Brought { key, whole: whole.filter(|_| !aborted), coordinates, renew })
    }
}

/// The message that a transfer begins.
fn begun(fields: &[Value], credit: u32) -> Result<Partial, Trouble> {
    let Some(delivery) = field(fields, 1).uint() else {
        return trouble("amqp:decode-error", "a transfer has no delivery-id");
    };
    if credit == 0 {
        let words = "a message came without credit";
        return trouble("amqp:link:transfer-limit-exceeded", words);
    }
    let transaction = link::transaction_of(field(fields, 7));
    let settled = field(fields, 4).is_true();
    let (message, room) = (Vec::new(), (Room::default(), 0));
    Ok(Partial { delivery, settled, transaction, message, room })
}
