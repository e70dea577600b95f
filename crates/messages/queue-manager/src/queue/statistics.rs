//! What changes the counters of a queue.
//!
//! 1. Times on the queue are moving averages: the short one over about 8 messages, the long one
//!    over about 256.

use crate::message::Message;
use crate::status::QueueStatistics;

impl QueueStatistics {
    pub(crate) fn new(now_ms: u64) -> QueueStatistics {
        QueueStatistics { reset_ms: now_ms, ..QueueStatistics::default() }
    }

    /// The counters begin again; moments and averages stay.
    pub(crate) fn reset(&mut self, now_ms: u64, depth: u64) {
        *self = QueueStatistics {
            reset_ms: now_ms,
            high_depth: depth,
            last_put_ms: self.last_put_ms,
            last_get_ms: self.last_get_ms,
            time_short_us: self.time_short_us,
            time_long_us: self.time_long_us,
            ..QueueStatistics::default()
        };
    }

    pub(crate) fn put(&mut self, bytes: usize, depth: u64, now_ms: u64) {
        self.puts += 1;
        self.put_bytes += bytes as u64;
        self.high_depth = self.high_depth.max(depth);
        self.last_put_ms = Some(now_ms);
    }

    pub(crate) fn got(&mut self, message: &Message, now_ms: u64) {
        self.got_of(message.data.len(), message.put_ms, now_ms);
    }

    /// A message of so many bytes that was put then is got.
    pub(crate) fn got_of(&mut self, bytes: usize, put_ms: u64, now_ms: u64) {
        self.gets += 1;
        self.get_bytes += bytes as u64;
        self.last_get_ms = Some(now_ms);
        let time_us = now_ms.saturating_sub(put_ms) * 1_000;
        let towards = |average: u64, part: u64| match average {
            0 => time_us,
            average => average - average / part + time_us / part,
        };
        self.time_short_us = towards(self.time_short_us, 8);
        self.time_long_us = towards(self.time_long_us, 256);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptor::MessageDescriptor;

    #[test]
    fn a_reset_keeps_moments_and_averages() {
        let descriptor = MessageDescriptor::default();
        let message = Message { descriptor, put_ms: 10, expires_ms: 0, data: vec![0; 5] };
        let mut counted = QueueStatistics::new(0);
        counted.put(5, 3, 10);
        counted.got(&message, 30);
        assert_eq!((counted.puts, counted.get_bytes, counted.high_depth), (1, 5, 3));
        counted.reset(40, 2);
        assert_eq!((counted.puts, counted.high_depth, counted.reset_ms), (0, 2, 40));
        assert_eq!((counted.last_get_ms, counted.time_short_us), (Some(30), 20_000));
    }
}
