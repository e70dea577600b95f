//! How two ends meet: one says who it is and what it wants, the other what it agrees to and where
//! it stands.

use std::io;
use std::time::Duration;

use base::Coded as _;
use queue_manager::channel::{
    BatchNumber, ChannelError, Decision, Instance, Receiver, ReceiverState, Sender, SenderOptions,
    Sequence,
};
use queue_manager::objects::Object;
use store::Store;

use crate::frame::{CONTROL_BYTES_MAX, Frame, Role, Terms, VERSION};
use crate::link::Link;
use crate::shared::Shared;

/// Bytes of a frame around a message.
const AROUND: usize = 64;
/// How long an answer may take.
pub(crate) const ANSWER: Duration = Duration::from_secs(60);

/// What one end proposes by its definition.
pub(crate) fn proposal(object: &Object) -> Terms {
    let number = |name: &str| u32::try_from(object.number_of(name)).unwrap_or(u32::MAX);
    Terms {
        batch_size: number("BATCHSZ").max(1),
        heartbeat_s: number("HBINT"),
        // The header travels with the message.
        length_max: number("MAXMSGL").saturating_add(4_096),
        sequence_max: u64::from(number("SEQWRAP")),
        fast: object.is("NPMSPEED", "FAST"),
    }
}

/// What both ends can do; `None` if their numbers begin again at different points.
pub(crate) fn agreed(one: &Terms, other: &Terms) -> Option<Terms> {
    let heartbeat_s = match (one.heartbeat_s, other.heartbeat_s) {
        (0, _) | (_, 0) => 0,
        (one, other) => one.max(other),
    };
    (one.sequence_max == other.sequence_max).then_some(Terms {
        batch_size: one.batch_size.min(other.batch_size).max(1),
        heartbeat_s,
        length_max: one.length_max.min(other.length_max),
        sequence_max: one.sequence_max,
        fast: one.fast && other.fast,
    })
}

/// Bytes of the longest body.
pub(crate) fn body_max(terms: &Terms) -> usize {
    (terms.length_max as usize).saturating_add(AROUND).max(CONTROL_BYTES_MAX)
}

/// How long an end may be silent.
pub(crate) fn silence(terms: &Terms) -> Duration {
    match terms.heartbeat_s {
        0 => Duration::from_secs(3_600),
        seconds => Duration::from_secs((u64::from(seconds) * 2).max(60)),
    }
}

/// What the other end, or the way to it, says.
pub(crate) fn partner(channel: &str, why: impl Into<String>) -> ChannelError {
    ChannelError::Partner { channel: channel.to_owned(), why: why.into() }
}

pub(crate) fn lost(channel: &str) -> impl Fn(io::Error) -> ChannelError + '_ {
    move |error| {
        let why = match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe => "the connection was lost".to_owned(),
            io::ErrorKind::TimedOut => "nothing was heard of the other end in time".to_owned(),
            _ => format!("the connection failed: {error}"),
        };
        partner(channel, why)
    }
}

/// Waits for an answer; one that refuses is an error.
pub(crate) fn answer(
    link: &mut Link,
    channel: &str,
    time: Duration,
) -> Result<Frame, ChannelError> {
    match link.receive(CONTROL_BYTES_MAX, time, &|| false).map_err(lost(channel))? {
        Some(Frame::Refused { code, text }) => {
            Err(partner(channel, format!("the other end says: {text} ({code})")))
        }
        Some(Frame::Close { .. }) => Err(partner(channel, "the other end has closed the channel")),
        Some(frame) => Ok(frame),
        None => Err(partner(channel, "the wait was ended")),
    }
}

pub(crate) fn unexpected(channel: &str) -> ChannelError {
    partner(channel, "the other end said something that does not belong there")
}

/// Tells the other end why nothing comes of it.
pub(crate) fn refuse(link: &mut Link, error: &ChannelError) {
    let (code, text) = (error.code().0.to_owned(), error.to_string());
    // A partner that has gone does not need to know.
    let _ = link.send(&Frame::Refused { code, text });
}

/// Refuses a partner under the name of a queue manager that another certificate stands for.
pub(crate) fn is_who_it_says<S: Store>(
    shared: &Shared<S>,
    link: &Link,
    channel: &str,
    manager: &str,
) -> Result<(), ChannelError> {
    if shared.channels.is_known_as(channel, manager, link.subject())? {
        return Ok(());
    }
    let subject = link.subject().unwrap_or("nobody's certificate");
    shared.notice(format!(
        "channel {channel}: {manager} came with another certificate, {subject}, from {}; \
         RESET CHANNEL forgets the one before",
        link.peer()
    ));
    Err(partner(channel, "another certificate stands for that queue manager"))
}

/// The sending end says who it is, hears where the receiver stands, and resolves what was in
/// doubt. Answers what was agreed on.
pub(crate) fn offer<S: Store>(
    link: &mut Link,
    sender: &mut Sender<S>,
    instance: &Instance,
    (object, manager): (&Object, &str),
) -> Result<Terms, ChannelError> {
    let channel = object.name.clone();
    let own = proposal(object);
    let hello = Frame::Hello {
        version: VERSION,
        role: Role::Sends,
        terms: own,
        channel: channel.clone(),
        manager: manager.to_owned(),
    };
    link.send(&hello).map_err(lost(&channel))?;
    let Frame::Welcome { terms, last, sequence, manager } = answer(link, &channel, ANSWER)? else {
        return Err(unexpected(&channel));
    };
    let terms = agreed(&own, &terms).ok_or_else(|| differs(&channel))?;
    let state = ReceiverState { last: BatchNumber(last), sequence: Sequence(sequence), last_ms: 0 };
    instance.update(|status| status.partner.clone_from(&manager));
    if sender.meet(&state)? == Decision::Reset {
        let state = sender.state();
        let take_over = Frame::TakeOver { last: state.last.0, sequence: state.sequence.0 };
        link.send(&take_over).map_err(lost(&channel))?;
        if answer(link, &channel, ANSWER)? != Frame::Taken {
            return Err(unexpected(&channel));
        }
        sender.reset_done()?;
    }
    sender.agree(SenderOptions {
        batch_messages: terms.batch_size,
        batch_bytes: object.number_of("BATCHLIM").unsigned_abs() * 1_024,
        sequence_max: terms.sequence_max,
        length_max: terms.length_max as usize,
        fast: terms.fast,
    });
    let state = sender.state();
    instance.update(|status| {
        (status.heartbeat_s, status.batch_size) = (terms.heartbeat_s, terms.batch_size);
        status.fast = terms.fast;
        status.progress.done(state.last, state.sequence);
        status.progress.in_doubt = false;
    });
    Ok(terms)
}

pub(crate) fn differs(channel: &str) -> ChannelError {
    partner(channel, "SEQWRAP differs between the ends")
}

/// The receiving end welcomes a sender. Answers what was agreed on.
pub(crate) fn welcome<S: Store>(
    link: &mut Link,
    receiver: &mut Receiver<S>,
    instance: &Instance,
    (object, manager): (&Object, &str),
    theirs: &Terms,
) -> Result<Terms, ChannelError> {
    let channel = &object.name;
    let terms = agreed(&proposal(object), theirs).ok_or_else(|| differs(channel))?;
    receiver.agree(terms.sequence_max);
    let state = receiver.state();
    let frame = Frame::Welcome {
        terms,
        last: state.last.0,
        sequence: state.sequence.0,
        manager: manager.to_owned(),
    };
    link.send(&frame).map_err(lost(channel))?;
    instance.update(|status| {
        (status.heartbeat_s, status.batch_size) = (terms.heartbeat_s, terms.batch_size);
        status.fast = terms.fast;
        status.progress.done(state.last, state.sequence);
    });
    Ok(terms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_agreed_on_is_what_both_can_do() {
        let one = Terms {
            batch_size: 50,
            heartbeat_s: 300,
            length_max: 1_000,
            sequence_max: 999,
            fast: true,
        };
        let other = Terms { batch_size: 7, heartbeat_s: 5, fast: false, ..one };
        let both = agreed(&one, &other).unwrap();
        assert_eq!((both.batch_size, both.heartbeat_s, both.fast), (7, 300, false));
        assert_eq!(agreed(&one, &Terms { sequence_max: 100, ..one }), None);
        assert_eq!(agreed(&one, &Terms { heartbeat_s: 0, ..one }).unwrap().heartbeat_s, 0);
        assert_eq!(silence(&both), Duration::from_secs(600));
        assert_eq!(silence(&Terms { heartbeat_s: 1, ..one }), Duration::from_secs(60));
    }
}
