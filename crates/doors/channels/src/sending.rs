//! The sending end of a connection: batches, as long as there is something to send.

use std::sync::Arc;
use std::time::Duration;

use queue_manager::channel::{BatchNumber, ChannelError, ChannelState, Instance, Sender};
use queue_manager::objects::Object;
use seam::clock::Clock;
use store::Store;

use crate::frame::{CONTROL_BYTES_MAX, Frame, Terms};
use crate::handshake::{answer, lost, partner, silence, unexpected};
use crate::link::Link;

/// How long the queue is waited at before the connection is looked after.
const SLICE: Duration = Duration::from_millis(500);

/// Why it ended in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// There was nothing to send for long.
    Idle,
    /// It was told to.
    Stopped,
}

/// A connection over which a channel sends.
pub(crate) struct Sending<'s, S: Store> {
    pub(crate) link: &'s mut Link,
    pub(crate) sender: &'s mut Sender<S>,
    pub(crate) instance: &'s Instance,
    pub(crate) terms: Terms,
    pub(crate) clock: Arc<dyn Clock>,
}

impl<S: Store> Sending<'_, S> {
    /// Sends until it is told to stop, or has had nothing to send for long.
    pub(crate) fn run(&mut self, object: &Object) -> Result<End, ChannelError> {
        let channel = object.name.as_str();
        let seconds = |name: &str| Duration::from_secs(object.number_of(name).unsigned_abs());
        let batch_interval = Duration::from_millis(object.number_of("BATCHINT").unsigned_abs());
        let (idle_max, heartbeat) =
            (seconds("DISCINT"), Duration::from_secs(u64::from(self.terms.heartbeat_s)));
        let (mut moved, mut last_received) = (self.now(), self.now());
        let mut began: Option<Duration> = None;
        loop {
            let wait = match began {
                None => SLICE,
                Some(began) => SLICE.min((began + batch_interval).saturating_sub(self.now())),
            };
            let came = self.next(channel, wait)?;
            let stops = self.instance.stops().is_some();
            if came {
                moved = self.now();
                began = began.or(Some(moved));
            }
            let over = began.is_some_and(|began| self.now() >= began + batch_interval);
            if self.sender.batch_messages() == 0 {
                began = None;
            } else if self.sender.is_full() || stops || (!came && over) {
                self.end_batch(channel)?;
                (began, last_received) = (None, self.now());
                continue;
            }
            if came || began.is_some() {
                continue;
            }
            if stops {
                return self.close(End::Stopped);
            }
            if !idle_max.is_zero() && self.now().saturating_sub(moved) >= idle_max {
                return self.close(End::Idle);
            }
            self.listen(channel)?;
            if !heartbeat.is_zero() && self.now().saturating_sub(last_received) >= heartbeat {
                self.link.send(&Frame::Heartbeat).map_err(lost(channel))?;
                let alive = answer(self.link, channel, silence(&self.terms))?;
                if alive != Frame::Alive {
                    return Err(unexpected(channel));
                }
                last_received = self.now();
            }
            self.count();
        }
    }

    fn now(&self) -> Duration {
        self.clock.monotonic()
    }

    /// Sends the next message, if one comes in time.
    fn next(&mut self, channel: &str, wait: Duration) -> Result<bool, ChannelError> {
        let instance = self.instance;
        let over = || instance.stops().is_some();
        let mut next = self.sender.next(Duration::ZERO, &over)?;
        if next.is_none() && !wait.is_zero() {
            // What waits to be written is not to wait for what may come.
            self.link.flush().map_err(lost(channel))?;
            next = self.sender.next(wait, &over)?;
        }
        let Some(message) = next else { return Ok(false) };
        let sequence = message.sequence.map_or(0, |sequence| sequence.0);
        let written = self.link.queue(&Frame::Message { sequence, data: message.data });
        if let Err(error) = written {
            // The other end may have said why it does not listen.
            return Err(self.farewell(channel).unwrap_or_else(|| lost(channel)(error)));
        }
        let batch = self.sender.batch_messages() as u64;
        self.instance.update(|status| {
            status.traffic.messages += 1;
            status.progress.batch_messages = batch;
            if let Some(sequence) = message.sequence {
                status.progress.sequence = sequence;
            }
        });
        Ok(true)
    }

    /// Why the other end has gone, if it said so.
    fn farewell(&mut self, channel: &str) -> Option<ChannelError> {
        match self.link.poll(CONTROL_BYTES_MAX).ok()?? {
            Frame::Refused { code, text } => {
                Some(partner(channel, format!("the other end says: {text} ({code})")))
            }
            Frame::Close { .. } => Some(partner(channel, "the other end has closed the channel")),
            _ => None,
        }
    }

    /// Looks whether the other end has something to say while nothing is asked of it.
    fn listen(&mut self, channel: &str) -> Result<(), ChannelError> {
        match self.link.poll(CONTROL_BYTES_MAX).map_err(lost(channel))? {
            None | Some(Frame::Alive) => Ok(()),
            Some(Frame::Refused { code, text }) => {
                Err(partner(channel, format!("the other end says: {text} ({code})")))
            }
            Some(Frame::Close { .. }) => {
                Err(partner(channel, "the other end has closed the channel"))
            }
            Some(_) => Err(unexpected(channel)),
        }
    }

    /// Ends the batch, and waits until the other end has committed it.
    fn end_batch(&mut self, channel: &str) -> Result<(), ChannelError> {
        let ended = self.sender.end_batch()?;
        self.instance.update(|status| {
            (status.progress.batch, status.progress.in_doubt) = (ended.batch, true);
        });
        let (batch, sequence) = (ended.batch.0, ended.sequence.0);
        let sent = self.link.send(&Frame::EndOfBatch { batch, sequence });
        if let Err(error) = sent {
            return Err(self.farewell(channel).unwrap_or_else(|| lost(channel)(error)));
        }
        match answer(self.link, channel, silence(&self.terms))? {
            Frame::Confirmed { batch: confirmed } if confirmed == batch => {}
            _ => return Err(unexpected(channel)),
        }
        self.sender.confirmed()?;
        let state = self.sender.state();
        self.instance.update(|status| {
            (status.progress.batch, status.progress.in_doubt, status.progress.batch_messages) =
                (BatchNumber::NONE, false, 0);
            status.progress.done(state.last, state.sequence);
            status.progress.last_message_ms = Some(state.last_ms);
            status.traffic.batches += 1;
        });
        self.count();
        Ok(())
    }

    fn count(&self) {
        let (sent, received) = self.link.bytes();
        self.instance.update(|status| {
            (status.traffic.bytes_sent, status.traffic.bytes_received) = (sent, received);
        });
    }

    fn close(&mut self, end: End) -> Result<End, ChannelError> {
        self.instance.update(|status| status.state = ChannelState::Stopping);
        let stopped = end == End::Stopped;
        // Everything is done: whether the other end hears it makes no difference.
        let _ = self.link.send(&Frame::Close { stopped });
        Ok(end)
    }
}
