//! Sessions that the peer has ended and that are not answered yet: what they had is given back.
//!
//! 1. What comes on the channel of such a session is for the next one: it waits for the answer.

use std::collections::BTreeMap;

use crate::frame::Frame;

/// Frames that wait on a channel; one more is told that there is no session.
const FRAMES_MAX: usize = 64;

/// Sessions that end.
#[derive(Default)]
pub(crate) struct Ending {
    waiting: BTreeMap<u16, Vec<Frame>>,
}

impl Ending {
    /// The session of a channel ends.
    pub(crate) fn begin(&mut self, channel: u16) {
        self.waiting.entry(channel).or_default();
    }

    /// Keeps a frame that is for the next session of its channel; the others come back.
    pub(crate) fn pass(&mut self, frame: Frame) -> Option<Frame> {
        match self.waiting.get_mut(&frame.channel) {
            Some(waiting) if waiting.len() < FRAMES_MAX => {
                waiting.push(frame);
                None
            }
            _ => Some(frame),
        }
    }

    /// The session has ended: what has come for the next one.
    pub(crate) fn end(&mut self, channel: u16) -> Vec<Frame> {
        self.waiting.remove(&channel).unwrap_or_default()
    }
}
