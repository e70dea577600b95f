//! A message as it stands in a queue: whom it concerns, and its segments.
//!
//! | bytes | |
//! |---|---|
//! | 1 | version, 1 |
//! | 8 each | transaction, client, tpipe, terminal, MOD, user, group, reroute |
//! | 2 | flags |
//! | 8 | the input that it belongs to; 0: none |
//! | 2 + n | correlator; a length of 65535 is none |
//! | 4 + n | scratch pad area |
//! | 2 + n | why it is a dead letter |
//! | rest | segments |
//!
//! Invariants:
//! 1. What was encoded decodes to the same; other bytes are refused, and never make this panic.

use otma::{
    CommitMode, Correlator, Encoding, Identity, Input, InputOptions, Name, Segments, SyncLevel,
};

const VERSION: u8 = 1;
const NAMES: usize = 8;
/// Where the user stands.
const USER_AT: usize = 1 + 5 * 8;

const CONFIRM: u16 = 1;
const SEND_THEN_COMMIT: u16 = 2;
const EBCDIC: u16 = 4;
const SEND_ONLY: u16 = 8;
const ORDERED: u16 = 16;
const IGNORE_PURGE: u16 = 32;
const TELL: u16 = 64;
const PURGE: u16 = 128;
const CONVERSATION: u16 = 256;

/// The user of an encoded envelope, or of the first part of one; nobody, if it is none.
pub(crate) fn user_of(bytes: &[u8]) -> Name {
    let user = bytes.get(USER_AT..).and_then(|rest| rest.first_chunk::<8>());
    user.filter(|_| bytes[0] == VERSION).map_or(Name::BLANK, |user| Name(*user))
}

/// A message and whom it concerns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Envelope {
    pub(crate) transaction: Name,
    pub(crate) client: Name,
    pub(crate) tpipe: Name,
    pub(crate) terminal: Name,
    pub(crate) mod_name: Name,
    pub(crate) identity: Identity,
    pub(crate) send_then_commit: bool,
    pub(crate) sync_level: SyncLevel,
    pub(crate) encoding: Encoding,
    pub(crate) options: InputOptions,
    /// Of an output: the conversation goes on.
    pub(crate) in_conversation: bool,
    /// Of an output: the input that it answers.
    pub(crate) answers: u64,
    pub(crate) correlator: Option<Correlator>,
    /// Of an input that a conversation has handed on: its scratch pad area.
    pub(crate) spa: Vec<u8>,
    /// Of a dead letter.
    pub(crate) reason: String,
    pub(crate) segments: Segments,
}

impl Envelope {
    pub(crate) fn of_input(input: Input) -> Envelope {
        let or = |name: Name, other: Name| if name.is_blank() { other } else { name };
        let tpipe = or(input.tpipe, input.client);
        Envelope {
            transaction: input.transaction,
            client: input.client,
            tpipe,
            terminal: or(input.terminal, tpipe),
            mod_name: input.mod_name,
            identity: input.identity,
            send_then_commit: input.mode == CommitMode::SendThenCommit,
            sync_level: input.sync_level,
            encoding: input.encoding,
            options: input.options,
            correlator: input.correlator,
            segments: input.segments,
            ..Envelope::default()
        }
    }

    fn flags(&self) -> u16 {
        let options = &self.options;
        let flags = [
            (self.sync_level == SyncLevel::Confirm, CONFIRM),
            (self.send_then_commit, SEND_THEN_COMMIT),
            (self.encoding == Encoding::Ebcdic, EBCDIC),
            (options.send_only, SEND_ONLY),
            (options.ordered, ORDERED),
            (options.ignore_purge, IGNORE_PURGE),
            (options.tell_if_no_reply, TELL),
            (options.purge_undeliverable, PURGE),
            (self.in_conversation, CONVERSATION),
        ];
        flags.into_iter().filter(|(is, _)| *is).map(|(_, bit)| bit).sum()
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(128 + self.segments.as_bytes().len());
        bytes.push(VERSION);
        let Identity { user, group } = self.identity;
        let names = [
            self.transaction,
            self.client,
            self.tpipe,
            self.terminal,
            self.mod_name,
            user,
            group,
            self.options.reroute,
        ];
        names.iter().for_each(|name| bytes.extend_from_slice(&name.0));
        bytes.extend_from_slice(&self.flags().to_le_bytes());
        bytes.extend_from_slice(&self.answers.to_le_bytes());
        match &self.correlator {
            None => bytes.extend_from_slice(&u16::MAX.to_le_bytes()),
            Some(Correlator(correlator)) => {
                let length = correlator.len().min(usize::from(u16::MAX) - 1);
                bytes.extend_from_slice(&(length as u16).to_le_bytes());
                bytes.extend_from_slice(&correlator[..length]);
            }
        }
        bytes.extend_from_slice(&(self.spa.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&self.spa);
        let length = self.reason.len().min(usize::from(u16::MAX));
        bytes.extend_from_slice(&(length as u16).to_le_bytes());
        bytes.extend_from_slice(&self.reason.as_bytes()[..length]);
        bytes.extend_from_slice(self.segments.as_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Envelope> {
        let mut rest = bytes;
        let mut take = |count: usize| -> Option<&[u8]> {
            let (taken, behind) = rest.split_at_checked(count)?;
            rest = behind;
            Some(taken)
        };
        if take(1)? != [VERSION] {
            return None;
        }
        let mut names = [Name::BLANK; NAMES];
        for name in &mut names {
            *name = Name(take(8)?.try_into().ok()?);
        }
        let [transaction, client, tpipe, terminal, mod_name, user, group, reroute] = names;
        let flags = u16::from_le_bytes(take(2)?.try_into().ok()?);
        let answers = u64::from_le_bytes(take(8)?.try_into().ok()?);
        let correlator = match u16::from_le_bytes(take(2)?.try_into().ok()?) {
            u16::MAX => None,
            length => Some(Correlator(take(usize::from(length))?.to_vec())),
        };
        let length = u32::from_le_bytes(take(4)?.try_into().ok()?);
        let spa = take(length as usize)?.to_vec();
        let length = u16::from_le_bytes(take(2)?.try_into().ok()?);
        let reason = String::from_utf8_lossy(take(usize::from(length))?).into_owned();
        let is = |bit: u16| flags & bit != 0;
        Some(Envelope {
            transaction,
            client,
            tpipe,
            terminal,
            mod_name,
            identity: Identity { user, group },
            send_then_commit: is(SEND_THEN_COMMIT),
            sync_level: if is(CONFIRM) { SyncLevel::Confirm } else { SyncLevel::None },
            encoding: if is(EBCDIC) { Encoding::Ebcdic } else { Encoding::Ascii },
            options: InputOptions {
                send_only: is(SEND_ONLY),
                ordered: is(ORDERED),
                ignore_purge: is(IGNORE_PURGE),
                tell_if_no_reply: is(TELL),
                purge_undeliverable: is(PURGE),
                reroute,
                expires_in: None,
            },
            in_conversation: is(CONVERSATION),
            answers,
            correlator,
            spa,
            reason,
            segments: Segments::from_bytes(rest.to_vec()).ok()?,
        })
    }

    /// An output that answers this input.
    pub(crate) fn reply(&self, answers: u64, mod_name: Name, segments: Segments) -> Envelope {
        Envelope { answers, mod_name, segments, spa: Vec::new(), ..self.clone() }
    }

    /// What the system itself says to whoever sent this input: in ASCII, whatever its programs
    /// have.
    pub(crate) fn system_reply(&self, answers: u64, lines: &[String]) -> Envelope {
        let usual = self.reply(answers, Name::BLANK, crate::text::message(lines));
        Envelope { encoding: Encoding::Ascii, ..usual }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envelopes_come_back_and_damaged_ones_are_refused() {
        let mut segments = Segments::new();
        segments.push([0; 2], b"PART 1").expect("short");
        let one = Envelope {
            transaction: Name(*b"PART    "),
            tpipe: Name(*b"CLIENT1 "),
            correlator: Some(Correlator(vec![1, 2])),
            sync_level: SyncLevel::Confirm,
            spa: vec![7; 20],
            reason: "why".into(),
            answers: 9,
            identity: Identity { user: Name(*b"ANNA    "), group: Name(*b"GROUP   ") },
            options: InputOptions { tell_if_no_reply: true, ..InputOptions::default() },
            segments,
            ..Envelope::default()
        };
        let bytes = one.encode();
        assert_eq!(Envelope::decode(&bytes), Some(one));
        assert_eq!(user_of(&bytes[..49]), Name(*b"ANNA    "));
        assert_eq!((user_of(&bytes[..48]), user_of(&[0; 99])), (Name::BLANK, Name::BLANK));
        for length in 0..bytes.len() {
            if length != bytes.len() - 10 {
                assert_eq!(Envelope::decode(&bytes[..length]), None, "{length}");
            }
        }
    }
}
