//! The receiving end of a connection: messages are put as they come, batches committed as they end.

use std::time::Duration;

use queue_manager::channel::{
    BatchNumber, ChannelError, ChannelState, Instance, Receiver, Sequence, StopMode,
};
use store::Store;

use crate::frame::{Frame, Terms};
use crate::handshake::{body_max, lost, partner, silence, unexpected};
use crate::link::Link;
use crate::sending::End;

/// A connection over which a channel receives.
pub(crate) struct Receiving<'r, S: Store> {
    pub(crate) link: &'r mut Link,
    pub(crate) receiver: &'r mut Receiver<S>,
    pub(crate) instance: &'r Instance,
    pub(crate) terms: Terms,
    /// Waits; `false` if it is over.
    pub(crate) pause: &'r dyn Fn(Duration) -> bool,
    /// The moment, milliseconds since 1970 UTC.
    pub(crate) now_ms: &'r dyn Fn() -> u64,
    /// Tells operators.
    pub(crate) notice: &'r dyn Fn(String),
}

impl<S: Store> Receiving<'_, S> {
    /// Receives until the other end closes, or it is told to stop.
    pub(crate) fn run(&mut self, channel: &str) -> Result<End, ChannelError> {
        let (most, silence) = (body_max(&self.terms), silence(&self.terms));
        let mut under_way = 0_u64;
        // Only a sender that has just been told where this end stands has it take over.
        let mut fresh = true;
        loop {
            let instance = self.instance;
            // A batch that is under way is ended first, unless there is no time.
            let over = || match instance.stops() {
                Some(StopMode::Quiesce) => under_way == 0,
                stops => stops.is_some(),
            };
            let frame = self.link.receive(most, silence, &over).map_err(lost(channel))?;
            let first = std::mem::replace(&mut fresh, false);
            match frame {
                None => {
                    let _ = self.link.send(&Frame::Close { stopped: true });
                    return Ok(End::Stopped);
                }
                Some(Frame::Message { sequence, data }) => {
                    under_way += u64::from(sequence != 0);
                    self.put(sequence, &data)?;
                    self.instance.update(|status| status.progress.batch_messages = under_way);
                }
                Some(Frame::EndOfBatch { batch, sequence }) => {
                    self.commit(channel, batch, sequence)?;
                    under_way = 0;
                }
                Some(Frame::Heartbeat) => {
                    self.link.send(&Frame::Alive).map_err(lost(channel))?;
                }
                Some(Frame::TakeOver { last, sequence }) if first => {
                    let known = self.receiver.state().sequence;
                    (self.notice)(format!(
                        "channel {channel}: the sender was reset; message {sequence} counts as the \
                         last, not {}",
                        known.0
                    ));
                    self.receiver.take_over(BatchNumber(last), Sequence(sequence))?;
                    self.link.send(&Frame::Taken).map_err(lost(channel))?;
                }
                Some(Frame::Close { .. }) => return Ok(End::Idle),
                Some(Frame::Refused { code, text }) => {
                    return Err(partner(channel, format!("the other end says: {text} ({code})")));
                }
                Some(_) => return Err(unexpected(channel)),
            }
        }
    }

    fn put(&mut self, sequence: u64, data: &[u8]) -> Result<(), ChannelError> {
        let (pause, instance) = (self.pause, self.instance);
        let number = (sequence != 0).then_some(Sequence(sequence));
        let mut waited = false;
        self.receiver.put(number, data, &mut |time| {
            waited = true;
            instance.update(|status| status.state = ChannelState::Paused);
            pause(time)
        })?;
        instance.update(|status| {
            status.traffic.messages += 1;
            if let Some(sequence) = number {
                status.progress.sequence = sequence;
            }
            if waited && status.state == ChannelState::Paused {
                status.state = ChannelState::Running;
            }
        });
        Ok(())
    }

    fn commit(&mut self, channel: &str, batch: u64, sequence: u64) -> Result<(), ChannelError> {
        self.receiver.commit(BatchNumber(batch), Sequence(sequence))?;
        let (sent, received) = self.link.bytes();
        let now = (self.now_ms)();
        self.instance.update(|status| {
            status.progress.done(BatchNumber(batch), Sequence(sequence));
            (status.progress.batch_messages, status.progress.last_message_ms) = (0, Some(now));
            status.traffic.batches += 1;
            (status.traffic.bytes_sent, status.traffic.bytes_received) = (sent, received);
        });
        self.link.send(&Frame::Confirmed { batch }).map_err(lost(channel))
    }
}
